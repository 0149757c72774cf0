/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_wire_rx.c - packets from outside, at the daemon: only whole ones of those who may send them
 * come to a program, and the peers of one that is gone hear of it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "live/gsi.h"
#include "live/wire_priv.h"
#include "wire/byte.h"
#include "wire/headers.h"
#include "wire/opcode.h"

#define SLOT 1
#define PAYLOAD 64
#define LEARNT 8 /* packets after which it is known how a sender numbers them */

struct rig {
	struct wf_daemon d;
	struct wf_dwires wires;
	struct wf_dwire host;
	struct wf_dclient program;
	struct wf_dgone gone;
	struct wf_pipe far;
	int nowhere; /* where the daemon's packets go */
};

static int refuse(void *arg, const struct wf_cm_event *event)
{
	(void)arg;
	(void)event;
	return -1;
}

static void open_end(struct rig *r, enum wf_live_gid_index index)
{
	struct wf_dend *e = &r->host.end[index];

	e->is_open = true;
	e->rx = r->nowhere;
	for (unsigned i = 0; i < WF_WIRE_TX_PORTS; i++)
		e->tx[i].fd = r->nowhere;
	if (index == WF_LIVE_GID_IPV4)
		e->addr.gid[10] = e->addr.gid[11] = 0xff;
	else
		e->addr.gid[0] = 0x20;
}

static void make_program(struct rig *r)
{
	int memory = wf_pipe_memory();

	assert_true(memory >= 0);
	assert_int_equal(wf_pipe_open(&r->program.wire, memory, 1, -1), 0);
	assert_int_equal(wf_pipe_open(&r->far, memory, 0, -1), 0);
	close(memory);
	r->program.attached = r->program.on_wire = true;
	r->program.slot = SLOT;
	r->program.own = calloc(1, sizeof(*r->program.own));
	assert_non_null(r->program.own);
	r->d.clients = &r->program;
}

static int setup(void **state)
{
	static const uint8_t key[WF_SIPHASH_KEY];
	struct wf_cm_cfg nobody = { .event = refuse };
	struct rig *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	r->nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
	r->d.table = calloc(1, wf_live_table_bytes(1));
	r->wires.tx.msg = calloc(WF_WIRE_BATCH, sizeof(*r->wires.tx.msg));
	assert_int_equal(wf_wire_remotes_init(&r->wires.remotes, key), 0);
	assert_true(r->nowhere >= 0 && r->d.table != NULL && r->wires.tx.msg != NULL);
	r->d.table->n_hosts = 1;
	r->d.table->layer = WF_LIVE_ROCE;
	r->d.gone = &r->gone;
	r->d.wires = &r->wires;
	r->wires.wire = &r->host;
	r->wires.n = 1;
	wf_wire_conf_init(&r->wires.conf[0], WF_ENCAP_ROCE2_IPV4);
	wf_wire_conf_init(&r->wires.conf[1], WF_ENCAP_ROCE2_IPV6);
	assert_int_equal(wf_cm_create(&nobody, wf_mem_heap(), &r->wires.nobody), 0);
	open_end(r, WF_LIVE_GID_IPV4);
	open_end(r, WF_LIVE_GID_IPV6);
	make_program(r);
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct rig *r = *state;

	wf_wire_leave(&r->d, &r->program);
	wf_wire_drop_ghosts(&r->wires);
	wf_wire_remotes_check(&r->wires.remotes);
	wf_wire_remotes_fini(&r->wires.remotes);
	wf_pipe_close(&r->far);
	wf_cm_destroy(r->wires.nobody);
	close(r->nowhere);
	free(r->wires.tx.msg);
	free(r->d.table);
	free(r);
	return 0;
}

static const uint8_t *sender(bool v6, uint8_t number)
{
	static uint8_t gid[16];

	memset(gid, 0, sizeof(gid));
	if (v6)
		gid[0] = 0x20;
	else
		gid[10] = gid[11] = 0xff;
	gid[15] = number;
	return gid;
}

static uint32_t hold(struct rig *r, bool v6, uint8_t number)
{
	uint32_t remote;

	assert_int_equal(wf_wire_remotes_hold(&r->wires.remotes, &r->program.own->held,
	                                      sender(v6, number), &remote),
	                 0);
	return remote;
}

/*
 * A packet of a sender for the program. Its ICRC is as the sender made it with that identification
 * of IPv4, which a socket does not tell, but for the bits of flip.
 */
static void come(struct rig *r, bool v6, uint8_t opcode, uint16_t id, uint32_t flip)
{
	const struct wf_dend *e = &r->host.end[v6 ? WF_LIVE_GID_IPV6 : WF_LIVE_GID_IPV4];
	struct wf_packet pkt = { .type = WF_PACKET_RDMA,
		                 .opcode = opcode,
		                 .entropy = 0xc001,
		                 .pkey = 0xffff,
		                 .length = PAYLOAD,
		                 .qpn = SLOT << WF_LIVE_QPN_BITS | 2 };
	struct wf_wire_addr src = { .ipv4 = 1 }, dst = { .ipv4 = 0 };
	uint8_t bytes[WF_PACKET_BYTES_MAX], payload[PAYLOAD] = { 7 };
	struct wf_wire_arrival a = { .bytes = bytes, .port = 0xc001 };
	enum wf_reason reason;
	struct wf_headers h;
	size_t head = (size_t)WF_ETH_LEN + (v6 ? WF_IPV6_LEN : WF_IPV4_LEN) + WF_UDP_LEN;

	pkt.u.deth.src_qpn = 5;
	memcpy(a.from, sender(v6, 1), 16);
	memcpy(src.gid, a.from, 16);
	memcpy(dst.gid, e->addr.gid, 16);
	assert_int_equal(wf_packet_encode(&pkt, &r->wires.conf[v6], &src, &dst, payload, bytes,
	                                  sizeof(bytes), &a.len),
	                 0);
	/* As the daemon dresses what a socket gives it. */
	wf_wire_dress(&a, e, e->addr.gid, a.len - head);
	wf_be16_put(bytes + WF_ETH_LEN + 4, v6 ? wf_be16_get(bytes + WF_ETH_LEN + 4) : id);
	assert_int_equal(wf_headers_decode(bytes, a.len, WF_LINK_ETHERNET, &h, &reason), 0);
	wf_headers_sign(&h, bytes, a.len);
	wf_wire_dress(&a, e, e->addr.gid, a.len - head);
	wf_le32_put(bytes + a.len - 4, wf_le32_get(bytes + a.len - 4) ^ flip);
	wf_wire_take(&r->d, &r->host, e, NULL, &a);
}

/* How many the program has got. */
static unsigned got(struct rig *r)
{
	struct wf_packet pkt;
	const void *payload;
	unsigned n = 0;

	while (wf_ring_peek(&r->far.rx, &pkt, &payload)) {
		assert_int_equal(pkt.qpn, SLOT << WF_LIVE_QPN_BITS | 2);
		assert_int_equal(pkt.flags & WF_PACKET_BAD, 0);
		wf_ring_consume(&r->far.rx);
		n++;
	}
	(void)wf_ring_release(&r->far.rx);
	return n;
}

/* One bit of the ICRC that is wrong, whichever it is, is one too many. */
static void check_all_bits(struct rig *r, bool v6, uint16_t id, uint16_t step)
{
	for (unsigned i = 0; i < LEARNT; i++, id = (uint16_t)(id + step))
		come(r, v6, WF_OP_RC_SEND_ONLY, id, 0);
	assert_int_equal(got(r), LEARNT);
	for (unsigned bit = 0; bit < 32; bit++, id = (uint16_t)(id + step)) {
		come(r, v6, WF_OP_RC_SEND_ONLY, id, UINT32_C(1) << bit);
		assert_int_equal(got(r), 0);
		assert_int_equal(r->gone.count[WF_LIVE_ICRC_ERRORS], bit + 1);
		come(r, v6, WF_OP_RC_SEND_ONLY, id, 0);
		assert_int_equal(got(r), 1);
	}
	/* What would be right with another identification, one that the sender would not use. */
	for (unsigned bit = step == 0 ? 0 : 9; bit < 15 && !v6; bit++, id = (uint16_t)(id + step)) {
		come(r, v6, WF_OP_RC_SEND_ONLY, (uint16_t)(id + (1u << bit)), 0);
		assert_int_equal(got(r), 0);
		come(r, v6, WF_OP_RC_SEND_ONLY, id, 0);
		assert_int_equal(got(r), 1);
	}
}

static void test_icrc_ipv6(void **state)
{
	(void)hold(*state, true, 1);
	check_all_bits(*state, true, 0, 0);
}

/* A sender whose identification is always the same, and one that counts. */
static void test_icrc_constant(void **state)
{
	(void)hold(*state, false, 1);
	check_all_bits(*state, false, 0x1234, 0);
}

static void test_icrc_counting(void **state)
{
	(void)hold(*state, false, 1);
	check_all_bits(*state, false, 0xfff0, 1);
}

/* Who is not connected to may send datagrams, and nothing else; nor is it kept for that. */
static void test_strangers(void **state)
{
	struct rig *r = *state;

	come(r, true, WF_OP_RC_SEND_ONLY, 0, 0);
	assert_int_equal(got(r), 0);
	assert_int_equal(r->gone.count[WF_LIVE_WIRE_RX_REFUSED], 1);
	assert_int_equal(wf_wire_remotes_find(&r->wires.remotes, sender(true, 1)), WF_WIRE_NOBODY);
	come(r, true, WF_OP_UD_SEND_ONLY, 0, 0);
	assert_int_equal(got(r), 1);
	/* One that is not whole makes nobody known. */
	come(r, false, WF_OP_UD_SEND_ONLY, 0, UINT32_C(0xffffffff));
	assert_int_equal(got(r), 0);
	assert_int_equal(wf_wire_remotes_find(&r->wires.remotes, sender(false, 1)), WF_WIRE_NOBODY);
}

static int connected(void *arg, const struct wf_cm_event *event)
{
	(void)arg;
	(void)event;
	return 0;
}

/* The program has a connection, as the daemon has seen it pass. */
static void make_connection(struct rig *r, uint32_t remote)
{
	struct wf_cm_cfg cfg = { .event = connected, .id_base = SLOT << WF_CM_ID_SHIFT };
	struct wf_cm_req req = { .service = 1, .qpn = 2, .max_retries = 15 };
	struct wf_cm_rep rep = { .local_id = 77, .qpn = 3 };
	struct wf_cm_conn *conn;
	uint8_t mad[WF_MAD_LEN];
	struct wf_cm *cm;
	uint32_t to;

	assert_int_equal(wf_cm_create(&cfg, wf_mem_heap(), &cm), 0);
	assert_int_equal(wf_cm_connect(cm, remote, &req, NULL, 0, NULL, 0, &conn), 0);
	assert_true(wf_cm_tx(cm, &to, mad));
	wf_wire_conns_sent(&r->program.own->conns, to, mad);
	rep.remote_id = wf_cm_info(conn)->local_id;
	memset(mad, 0, sizeof(mad));
	wf_cm_header(mad, WF_CM_REP, 1);
	wf_cm_rep_encode(&rep, mad);
	wf_cm_rx(cm, remote, mad, 0);
	wf_wire_conns_got(&r->program.own->conns, remote, mad);
	assert_int_equal(wf_cm_establish(conn), 0);
	assert_true(wf_cm_tx(cm, &to, mad));
	wf_wire_conns_sent(&r->program.own->conns, to, mad);
	assert_int_equal(r->program.own->conns.n, 1);
	wf_cm_destroy(cm);
}

/* A program that ends without a word is disconnected by the daemon, in its name. */
static void test_killed(void **state)
{
	struct rig *r = *state;
	const uint8_t *bytes = r->wires.tx.bytes[0];
	enum wf_reason reason;
	struct wf_headers h;
	size_t len = (size_t)WF_ETH_LEN + WF_IPV6_LEN + WF_UDP_LEN;

	make_connection(r, hold(r, true, 1));
	memset(r->wires.tx.bytes[0], 0, sizeof(r->wires.tx.bytes[0]));
	wf_wire_leave(&r->d, &r->program);
	r->d.clients = NULL;
	assert_non_null(r->wires.ghosts);
	assert_int_equal(r->wires.tx.n, 0); /* it has left */
	len += r->wires.tx.iov[0].iov_len;
	assert_int_equal(wf_headers_decode(bytes, len, WF_LINK_ETHERNET, &h, &reason), 0);
	assert_int_equal(h.bth.qpn, WF_QPN_GSI);
	assert_int_equal(wf_gsi_attr(bytes + h.payload_at), WF_CM_DREQ);
	/* Until nobody has answered for long. */
	assert_true(wf_wire_haunt(&r->d) > 0);
	for (unsigned i = 0; i < 100 && r->wires.ghosts != NULL; i++) {
		r->wires.now += wf_daemon_now();
		(void)wf_wire_haunt(&r->d);
	}
	assert_null(r->wires.ghosts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_icrc_ipv6, setup, teardown),
		cmocka_unit_test_setup_teardown(test_icrc_constant, setup, teardown),
		cmocka_unit_test_setup_teardown(test_icrc_counting, setup, teardown),
		cmocka_unit_test_setup_teardown(test_strangers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_killed, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
