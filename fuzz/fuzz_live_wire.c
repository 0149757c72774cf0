/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_live_wire.c - datagrams from outside, at the daemon of a fabric whose host is on the wire:
 * as they are, and with an ICRC that is right, so that messages to queue pair 1 and packets for a
 * program get further. The program must get nothing but what is for its slot or for queue pair 1.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/wire_priv.h"
#include "wire/byte.h"
#include "wire/headers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SLOT 1
#define LISTENS UINT64_C(0x01061234) /* a service of the program */

#define must(x)                                                                                    \
	do {                                                                                       \
		if (!(x))                                                                          \
			abort();                                                                   \
	} while (0)

struct rig {
	struct wf_daemon d;
	struct wf_dwires wires;
	struct wf_dwire host;
	struct wf_dclient program;
	struct wf_dservice service;
	struct wf_dgone gone;
	struct wf_pipe far;
};

static int refuse(void *arg, const struct wf_cm_event *event)
{
	(void)arg;
	(void)event;
	return -1;
}

/* What the daemon would send goes nowhere. */
static void open_end(struct wf_dend *e, int nowhere)
{
	e->is_open = true;
	e->rx = nowhere;
	for (unsigned i = 0; i < WF_WIRE_TX_PORTS; i++)
		e->tx[i].fd = nowhere;
}

static void make_program(struct rig *r)
{
	int memory = wf_pipe_memory();

	must(memory >= 0 && wf_pipe_open(&r->program.wire, memory, 1, -1) == 0);
	must(wf_pipe_open(&r->far, memory, 0, -1) == 0);
	close(memory);
	r->program.attached = r->program.on_wire = true;
	r->program.slot = SLOT;
	r->program.own = calloc(1, sizeof(*r->program.own));
	must(r->program.own != NULL);
	r->service = (struct wf_dservice){ .client = &r->program, .id = LISTENS, .listens = true };
	r->d.clients = &r->program;
	r->d.services = &r->service;
}

static struct rig *rig_create(int nowhere)
{
	static const uint8_t key[WF_SIPHASH_KEY];
	struct wf_cm_cfg nobody = { .event = refuse };
	struct rig *r = calloc(1, sizeof(*r));

	must(r != NULL);
	r->d.table = calloc(1, wf_live_table_bytes(1));
	r->wires.tx.msg = calloc(WF_WIRE_BATCH, sizeof(*r->wires.tx.msg));
	must(wf_wire_remotes_init(&r->wires.remotes, key) == 0);
	must(r->d.table != NULL && r->wires.tx.msg != NULL);
	r->d.table->n_hosts = 1;
	r->d.table->layer = WF_LIVE_ROCE;
	r->d.gone = &r->gone;
	r->d.wires = &r->wires;
	r->wires.wire = &r->host;
	r->wires.n = 1;
	wf_wire_conf_init(&r->wires.conf[0], WF_ENCAP_ROCE2_IPV4);
	wf_wire_conf_init(&r->wires.conf[1], WF_ENCAP_ROCE2_IPV6);
	must(wf_cm_create(&nobody, wf_mem_heap(), &r->wires.nobody) == 0);
	open_end(&r->host.end[WF_LIVE_GID_IPV4], nowhere);
	open_end(&r->host.end[WF_LIVE_GID_IPV6], nowhere);
	r->host.end[WF_LIVE_GID_IPV4].addr.gid[10] = r->host.end[WF_LIVE_GID_IPV4].addr.gid[11] =
		0xff;
	r->host.end[WF_LIVE_GID_IPV6].addr.gid[0] = 0x20;
	make_program(r);
	return r;
}

/* The program is killed: its connections are ended, which may take a while. */
static void rig_destroy(struct rig *r)
{
	wf_wire_leave(&r->d, &r->program);
	r->d.clients = NULL;
	(void)wf_wire_haunt(&r->d);
	r->wires.now += 100000;
	(void)wf_wire_haunt(&r->d);
	wf_wire_drop_ghosts(&r->wires);
	wf_wire_remotes_check(&r->wires.remotes);
	wf_wire_remotes_fini(&r->wires.remotes);
	wf_pipe_close(&r->far);
	wf_cm_destroy(r->wires.nobody);
	free(r->wires.tx.msg);
	free(r->d.table);
	free(r);
}

/* Makes the ICRC right, if the packet has one. */
static void sign(const struct wf_wire_arrival *a)
{
	enum wf_reason reason;
	struct wf_headers h;

	if (wf_headers_decode(a->bytes, a->len, WF_LINK_ETHERNET, &h, &reason) == 0)
		wf_headers_sign(&h, a->bytes, a->len);
}

/* What the program gets is its own. */
static void drain(struct rig *r)
{
	struct wf_packet pkt;
	const void *payload;

	while (wf_ring_peek(&r->far.rx, &pkt, &payload)) {
		must(pkt.qpn == WF_QPN_GSI || wf_live_slot(pkt.qpn) == SLOT);
		must(wf_wire_remotes_get(&r->wires.remotes, pkt.src) != NULL);
		wf_ring_consume(&r->far.rx);
	}
	(void)wf_ring_release(&r->far.rx);
	must(!r->far.rx.broken);
}

/* Each datagram: how long it is, what to do with it, its bytes. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct rig *r = rig_create(nowhere);

	while (size > 4) {
		bool v6 = (data[2] & 1) != 0;
		struct wf_dend *e = &r->host.end[v6 ? WF_LIVE_GID_IPV6 : WF_LIVE_GID_IPV4];
		size_t head = (size_t)WF_ETH_LEN + (v6 ? WF_IPV6_LEN : WF_IPV4_LEN) + WF_UDP_LEN;
		size_t n = wf_be16_get(data) % 1200;
		uint8_t bytes[WF_PACKET_BYTES_MAX];
		struct wf_wire_arrival a = { .bytes = bytes, .port = 0xc000 };
		bool right = (data[2] & 2) != 0;

		if (!v6)
			a.from[10] = a.from[11] = 0xff;
		a.from[15] = data[3];
		data += 4;
		size -= 4;
		n = n < size ? n : size;
		memcpy(bytes + head, data, n);
		a.len = head + n;
		wf_wire_dress(&a, e, e->addr.gid, n);
		if (right)
			sign(&a);
		wf_wire_take(&r->d, &r->host, e, NULL, &a);
		wf_wire_flush(&r->d);
		(void)wf_wire_waits(&r->d);
		wf_wire_drain(&r->d, &r->program);
		drain(r);
		data += n;
		size -= n;
	}
	rig_destroy(r);
	close(nowhere);
	return 0;
}
