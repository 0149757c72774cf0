/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tap.c - from an adapter to a capture: what is missed, how packets look on the wire, in which
 * order they come, and sides that do not play by the rules.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/rng.h"
#include "check.h"
#include "live/sniffer.h"
#include "live/tap.h"
#include "rig_nic.h"
#include "wire/opcode.h"
#include "wire/packet_codec.h"

static const uint8_t v4_group[16] = { [10] = 0xff, 0xff, 239, 1, 2, 3 };
static const uint8_t v6_group[16] = { 0xff, 0x12, 0x40, 1, [13] = 7, 8, 9 };

static struct wf_live_table *make_table(enum wf_live_layer layer)
{
	struct wf_live_table *t = calloc(1, wf_live_table_bytes(2));

	assert_non_null(t);
	t->n_hosts = 2;
	t->layer = layer;
	t->prefix = UINT64_C(0xfe80000000000000);
	for (uint32_t i = 0; i < 2; i++) {
		t->host[i].guid = i + 1;
		t->host[i].ipv4 = 0x7f4d0001 + i;
		t->host[i].lid = (uint16_t)(i + 2);
		t->host[i].mac[5] = (uint8_t)(i + 1);
	}
	return t;
}

/* Encodes an entry and reads it back with the codec, which finds its checksums right. */
static struct wf_headers check_encode(const struct wf_live_table *t, const struct wf_tap_entry *e)
{
	uint8_t buf[WF_PACKET_BYTES_MAX];
	struct wf_wire_conf conf;
	enum wf_reason reason;
	struct wf_headers h;
	struct wf_packet p;
	size_t have, len;

	wf_wire_conf_init(&conf, t->layer == WF_LIVE_IB ? WF_ENCAP_IB : WF_ENCAP_ROCE2_IPV4);
	assert_int_equal(wf_tap_encode(t, 0, e, buf, &have, &len), 0);
	assert_int_equal(have, len);
	assert_int_equal(wf_packet_decode(buf, len, &conf, &p, &h, &reason), 0);
	assert_int_equal((p.flags ^ e->pkt.flags) & WF_PACKET_BAD, 0);
	assert_int_equal(p.psn, e->pkt.psn);
	assert_memory_equal(buf + h.payload_at, e->payload, h.payload_len);
	return h;
}

static void test_encode(void **state)
{
	static const char payload[] = "what is sent";
	struct wf_live_table *roce = make_table(WF_LIVE_ROCE), *ib = make_table(WF_LIVE_IB);
	struct wf_tap_entry e = {
		.pkt = { .opcode = WF_OP_UD_SEND_ONLY,
		         .dst = 1,
		         .psn = 9,
		         .pkey = 0xffff,
		         .length = sizeof(payload),
		         .entropy = 0xc001 },
		.note = { .sent = 1 },
		.payload = payload,
		.bytes = sizeof(payload),
	};
	struct wf_headers h;

	(void)state;
	h = check_encode(roce, &e);
	assert_int_equal(h.ipv4.src, 0x7f4d0001);
	assert_int_equal(h.ipv4.dst, 0x7f4d0002);
	assert_int_equal(h.eth.src[5], 1);
	assert_int_equal(h.eth.dst[5], 2);
	e.pkt.flags = WF_PACKET_BAD;
	h = check_encode(ib, &e);
	e.pkt.flags = 0;
	assert_int_equal(h.lrh.slid, 2);
	assert_int_equal(h.lrh.dlid, 3);
	/* From somebody outside; the host is the one whose tap it is, whatever the packet says. */
	e.note =
		(struct wf_tap_note){ .outside = 1, .group = { [10] = 0xff, 0xff, 0xc0, 0, 2, 1 } };
	h = check_encode(roce, &e);
	assert_int_equal(h.ipv4.src, 0xc0000201);
	assert_int_equal(h.ipv4.dst, 0x7f4d0001);
	/* To groups. */
	e.note = (struct wf_tap_note){ .multicast = 1, .sent = 1 };
	e.pkt.dst = WF_LIVE_GROUP | 5;
	e.pkt.qpn = WF_QPN_MULTICAST;
	memcpy(e.note.group, v4_group, 16);
	h = check_encode(roce, &e);
	assert_int_equal(h.ipv4.dst, 0xef010203);
	assert_memory_equal(h.eth.dst, "\x01\x00\x5e\x01\x02\x03", 6);
	memcpy(e.note.group, v6_group, 16);
	h = check_encode(roce, &e);
	assert_int_equal(h.encap, WF_ENCAP_ROCE2_IPV6);
	assert_memory_equal(h.ipv6.dst, v6_group, 16);
	assert_memory_equal(h.eth.dst, "\x33\x33\x00\x07\x08\x09", 6);
	e.note.sent = 0;
	e.pkt.src = 1;
	h = check_encode(ib, &e);
	assert_int_equal(h.encap, WF_ENCAP_IB_GRH);
	assert_int_equal(h.lrh.dlid, 0xc005);
	assert_int_equal(h.lrh.slid, 3);
	free(roce);
	free(ib);
}

static void test_encode_cut(void **state)
{
	struct wf_live_table *t = make_table(WF_LIVE_ROCE);
	uint8_t buf[WF_PACKET_BYTES_MAX], whole[WF_PACKET_BYTES_MAX], payload[1000];
	struct wf_tap_entry e = {
		.pkt = { .opcode = WF_OP_RC_SEND_ONLY,
		         .dst = 1,
		         .length = sizeof(payload),
		         .entropy = 0xc001 },
		.note = { .sent = 1 },
		.payload = payload,
		.bytes = sizeof(payload),
	};
	size_t have, len, size;

	(void)state;
	memset(payload, 0x77, sizeof(payload));
	assert_int_equal(wf_tap_encode(t, 0, &e, whole, &have, &size), 0);
	e.bytes = 10;
	assert_int_equal(wf_tap_encode(t, 0, &e, buf, &have, &len), 0);
	assert_int_equal(len, size);
	assert_int_equal(have, 14 + 20 + 8 + 12 + 10);
	assert_memory_equal(buf, whole, have);
	/* What is no packet of this fabric. */
	e.pkt.dst = 2;
	assert_int_equal(wf_tap_encode(t, 0, &e, buf, &have, &len), -EINVAL);
	e.pkt.dst = 1;
	e.pkt.opcode = 0xff;
	assert_int_equal(wf_tap_encode(t, 0, &e, buf, &have, &len), -EINVAL);
	e.pkt.opcode = WF_OP_RC_SEND_ONLY;
	e.pkt.length = 4097;
	assert_int_equal(wf_tap_encode(t, 0, &e, buf, &have, &len), -EINVAL);
	free(t);
}

/* A capture of two hosts, with a tap of each, of which the test holds the other side. */
struct pair {
	struct wf_live_table *table;
	struct wf_sniffer *sniffer;
	struct wf_tap tap[2];
};

static int setup(void **state)
{
	static const uint32_t hosts[] = { 0, 1 };
	static struct pair p;
	const struct wf_sniffer_cfg cfg = { .hosts = hosts, .n_hosts = 2, .snaplen = 65535 };

	p.table = make_table(WF_LIVE_ROCE);
	assert_int_equal(wf_sniffer_create(&cfg, p.table, &p.sniffer), 0);
	for (uint32_t i = 0; i < 2; i++) {
		int fd = wf_tap_memory();

		assert_true(fd >= 0);
		assert_int_equal(wf_tap_open(&p.tap[i], fd), 0);
		assert_int_equal(wf_sniffer_add(p.sniffer, i, 1, fd), 0);
		assert_int_equal(wf_sniffer_add(p.sniffer, 2, 1, fd), -EINVAL);
		close(fd);
	}
	*state = &p;
	return 0;
}

static int teardown(void **state)
{
	struct pair *p = *state;

	wf_sniffer_close(p->sniffer);
	wf_tap_close(&p->tap[0]);
	wf_tap_close(&p->tap[1]);
	free(p->table);
	return 0;
}

static void put(struct pair *p, unsigned host, uint32_t psn, int64_t at, uint32_t bytes)
{
	static const char payload[4096];
	struct wf_packet pkt = {
		.opcode = WF_OP_RC_SEND_ONLY,
		.psn = psn,
		.dst = 1 - host,
		.length = (uint16_t)bytes,
		.entropy = 0xc000,
	};
	struct wf_tap_note note = { .at = at, .sent = 1 };

	wf_tap_put(&p->tap[host], &pkt, &note, payload, bytes);
}

/* The PSN of the next packet; -1: there is none. */
static int next(struct pair *p, int64_t until, struct wf_pcapng_packet *packet)
{
	if (!wf_sniffer_next(p->sniffer, until, packet))
		return -1;
	return ((const uint8_t *)packet->bytes)[14 + 20 + 8 + 11];
}

static void test_order(void **state)
{
	struct pair *p = *state;
	struct wf_pcapng_packet packet;
	int64_t now = wf_sniffer_now();

	put(p, 0, 1, now + 10, 0);
	put(p, 0, 3, now + 30, 0);
	put(p, 1, 2, now + 20, 0);
	put(p, 1, 4, now + 40, 0);
	while (wf_sniffer_now() < now + 100)
		;
	assert_int_equal(next(p, now + 5, &packet), -1);
	for (int i = 1; i <= 3; i++) {
		assert_int_equal(next(p, now + 30, &packet), i);
		assert_int_equal(packet.interface, i == 2);
		assert_int_equal(packet.captured, packet.original);
	}
	assert_int_equal(next(p, now + 30, &packet), -1);
	/* Times that cannot be are made ones that can. */
	put(p, 0, 5, INT64_MAX, 0);
	put(p, 0, 6, INT64_MIN, 0);
	assert_int_equal(next(p, wf_sniffer_now(), &packet), 4);
	assert_int_equal(next(p, wf_sniffer_now(), &packet), 5);
	assert_int_equal(next(p, wf_sniffer_now(), &packet), 6);
	assert_true(packet.at == 0);
	assert_int_equal(wf_sniffer_nonsense(p->sniffer), 0);
}

static void test_missed(void **state)
{
	struct pair *p = *state;
	struct wf_pcapng_statistics st;
	struct wf_pcapng_packet packet;
	unsigned room = WF_TAP_RING_BYTES / (64 + 64 + 4096), n = 0;

	for (unsigned round = 1; round <= 3; round++) {
		for (unsigned i = 0; i < room + 10; i++)
			put(p, 1, i, 0, 4096);
		while (next(p, wf_sniffer_now(), &packet) >= 0)
			n++;
		wf_sniffer_statistics(p->sniffer, 1, wf_sniffer_now(), &st);
		assert_int_equal(st.received, round * (room + 10));
		assert_int_equal(n + st.missed, st.received);
		assert_in_range(st.missed, round * 10, round * 11);
	}
	wf_sniffer_statistics(p->sniffer, 0, wf_sniffer_now(), &st);
	assert_int_equal(st.received, 0);
}

/* A writer that goes on for ever does not keep a capture from its end. */
static void test_stop(void **state)
{
	struct pair *p = *state;
	unsigned n = 0, most = WF_TAP_RING_BYTES / 128;
	struct wf_pcapng_packet packet;

	put(p, 0, 0, 0, 0);
	wf_sniffer_stop(p->sniffer);
	do {
		put(p, 0, 0, 0, 0);
		n++;
	} while (next(p, wf_sniffer_now(), &packet) >= 0 && n <= most + 1);
	assert_in_range(n, 2, most + 1);
}

/* A reader that lies about its position harms nobody: what is written is missed. */
static void test_hostile_reader(void **state)
{
	struct pair *p = *state;

	atomic_store(&p->tap[0].shared->ring.tail, UINT64_MAX / 2);
	for (unsigned i = 0; i < 100000; i++)
		put(p, 0, i, 0, 4096);
	assert_true(p->tap[0].ring.broken);
	assert_true(atomic_load(&p->tap[0].shared->missed) > 90000);
}

/* A writer that puts anything into the ring, headers that look like some among it. */
static void test_hostile_writer(void **state)
{
	struct pair *p = *state;
	uint64_t key = wf_rand_key(1, 2, 3), n = 0;
	struct wf_pcapng_packet packet;
	unsigned seen = 0;

	for (unsigned round = 0; round < 20000; round++) {
		struct wf_packet pkt;
		struct wf_tap_note note;
		uint8_t *bytes = (uint8_t *)&pkt;

		for (size_t i = 0; i < sizeof(pkt); i++)
			bytes[i] = (uint8_t)wf_rand64(key, n++);
		memset(&note, 0, sizeof(note));
		note.at = (int64_t)wf_rand64(key, n++);
		note.sent = round & 1;
		note.multicast = (round & 6) == 6;
		note.outside = (round & 24) == 24;
		if ((round & 1) != 0) {
			pkt.dst &= 1;
			pkt.qpn &= WF_QPN_MASK;
			pkt.psn &= WF_PSN_MASK;
			pkt.length %= 5000;
		}
		wf_tap_put(&p->tap[round % 2], &pkt, &note, bytes, (uint32_t)(round % 64));
		/* Now and then not even an entry: the ring is given up. */
		if (round == 19990)
			*(uint64_t *)(void *)wf_ring_at(&p->tap[0].ring, p->tap[0].ring.pos) =
				p->tap[0].ring.pos + 1;
		while (wf_sniffer_next(p->sniffer, INT64_MAX, &packet)) {
			assert_true(packet.captured <= packet.original);
			assert_true(packet.original <= WF_PACKET_BYTES_MAX);
			assert_true(packet.at >= 0);
			seen++;
		}
	}
	assert_true(seen > 1000);
	assert_true(wf_sniffer_nonsense(p->sniffer) > 1000);
}

/* An adapter with a tap: what it sends and takes in is there, payload and all. */
static void test_adapter(void **state)
{
	struct rig *r = rig_create();
	int fd = wf_tap_memory();
	struct wf_sge sge = { .addr = (uintptr_t)r->memory,
		              .length = 100,
		              .lkey = wf_mr_lkey(r->mr) };
	struct wf_send_wr wr = { .sge = &sge, .num_sge = 1, .opcode = WF_WR_SEND };
	struct wf_packet pkt = { .opcode = WF_OP_RC_ACK, .qpn = 99 << WF_LIVE_QPN_BITS };
	const struct wf_send_wr *bad;
	struct wf_tap_entry e;
	struct wf_tap tap;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(wf_tap_open(&tap, fd), 0);
	assert_int_equal(atomic_load(&tap.shared->ready), 0);
	wf_nic_tap_add(r->nic, 3, 60, fd); /* closes it */
	assert_int_equal(atomic_load(&tap.shared->ready), 1);
	memset(r->memory, 0x42, 100);
	assert_int_equal(wf_qp_post_send(r->rc, &wr, &bad), 0);
	(void)wf_nic_progress(r->nic);
	assert_true(wf_tap_peek(&tap, &e));
	assert_int_equal(e.pkt.opcode, WF_OP_RC_SEND_ONLY);
	assert_int_equal(e.pkt.length, 100);
	assert_int_equal(e.pkt.src, 0);
	assert_int_equal(e.pkt.dst, 1);
	assert_true(e.note.sent && !e.note.outside && !e.note.multicast);
	assert_int_equal(e.bytes, 60);
	assert_memory_equal(e.payload, r->memory, 60);
	wf_ring_consume(&tap.ring);
	assert_false(wf_tap_peek(&tap, &e));
	/* What comes in and is dropped came in. A length that is not its own is not believed. */
	pkt.opcode = WF_OP_RC_SEND_ONLY;
	pkt.length = 65535;
	assert_non_null(wf_ring_reserve(&r->far[0].tx, 5));
	wf_ring_commit(&r->far[0].tx, &pkt, 5);
	(void)wf_nic_progress(r->nic);
	assert_true(wf_tap_peek(&tap, &e));
	assert_false(e.note.sent);
	assert_int_equal(e.pkt.src, 1);
	assert_int_equal(e.bytes, 5);
	wf_ring_consume(&tap.ring);
	/* Its end. */
	wf_nic_tap_remove(r->nic, 2);
	assert_int_equal(r->nic->n_taps, 1);
	wf_nic_tap_remove(r->nic, 3);
	assert_int_equal(r->nic->n_taps, 0);
	wf_tap_close(&tap);
	rig_destroy(r);
}

static void test_memory(void **state)
{
	struct wf_tap tap;
	int fd = eventfd(0, 0);

	(void)state;
	assert_int_equal(wf_tap_open(&tap, fd), -EINVAL);
	close(fd);
	fd = wf_pipe_memory();
	assert_int_equal(wf_tap_open(&tap, fd), -EINVAL);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_encode),
		cmocka_unit_test(test_encode_cut),
		cmocka_unit_test_setup_teardown(test_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_missed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stop, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hostile_reader, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hostile_writer, setup, teardown),
		cmocka_unit_test(test_adapter),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
