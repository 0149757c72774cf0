/* SPDX-License-Identifier: Apache-2.0 */
/* wire_tx.c - packets from programs' rings to sockets, many to a system call. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/rng.h"
#include "live/wire_priv.h"
#include "wire/byte.h"
#include "wire/ether.h"
#include "wire/opcode.h"

#define DOMAIN 0x77697265 /* of the random numbers */

/* The socket for packets with that entropy; its port is then their source port. */
static int tx_socket(struct wf_dend *e, uint16_t entropy, uint16_t *port_p)
{
	unsigned i = entropy % WF_WIRE_TX_PORTS;

	/* Ports may be others' already. */
	for (unsigned n = 0; e->tx[i].fd < 0 && n < 64; n++) {
		uint16_t port = wf_udp_source(entropy + n * 257);

		e->tx[i].fd = wf_wire_socket(e, e->addr.gid, port);
		e->tx[i].port = port;
	}
	*port_p = e->tx[i].port;
	return e->tx[i].fd;
}

/* What faults of the host's link do to a packet that leaves; false: it is lost. */
static bool survives(struct wf_daemon *d, struct wf_dwire *w, struct wf_packet *pkt)
{
	const struct wf_live_host *h = &d->table->host[w->host];
	uint64_t draw = wf_rand64(wf_rand_key(0, DOMAIN, w->host), w->draws++);

	pkt->flags &= (uint8_t)~WF_PACKET_BAD;
	if ((uint32_t)draw < h->corrupt)
		pkt->flags |= WF_PACKET_BAD;
	return h->down == 0 && draw >> 32 >= h->loss;
}

/* What a program may send: its own datagrams, and nothing that has no form. */
static bool may_send(const struct wf_dclient *c, const struct wf_packet *pkt, const uint8_t *mad)
{
	if (wf_op_has_payload(pkt->opcode) && pkt->length != pkt->input)
		return false;
	if (!wf_op_has_payload(pkt->opcode) && pkt->input != 0)
		return false;
	if (wf_op_service(pkt->opcode) != WF_SERVICE_UD)
		return true;
	if (pkt->u.deth.src_qpn == WF_QPN_GSI || pkt->qpn == WF_QPN_GSI)
		return mad != NULL && wf_wire_may_send_mad(c, pkt, mad);
	return wf_live_slot(pkt->u.deth.src_qpn) == c->slot;
}

void wf_wire_flush(struct wf_daemon *d)
{
	struct wf_wire_io *io = &d->wires->tx;

	assert(io->next <= io->n && io->n <= WF_WIRE_BATCH);
	while (io->next < io->n) {
		int sent = sendmmsg(io->fd, io->msg + io->next, io->n - io->next, MSG_NOSIGNAL);

		if (sent > 0) {
			io->next += (unsigned)sent;
			d->gone[io->host].count[WF_LIVE_WIRE_TX_PACKETS] += (uint64_t)sent;
		} else if (errno == EAGAIN || errno == ENOBUFS) {
			d->wires->waits = true;
			return;
		} else {
			/* Nobody there, too long for the way, not allowed: it is lost. */
			wf_wire_count(d, io->host, WF_LIVE_WIRE_TX_ERRORS);
			io->next++;
		}
	}
	io->next = io->n = 0;
}

/* The traffic class goes beside a message. */
static void put_class(struct msghdr *msg, char *control, uint8_t traffic_class, bool v6)
{
	struct cmsghdr *c = (struct cmsghdr *)(void *)control;
	int value = traffic_class;

	_Static_assert(CMSG_SPACE(sizeof(value)) <= WF_WIRE_CONTROL, "it fits");
	msg->msg_control = NULL;
	msg->msg_controllen = 0;
	if (traffic_class == 0)
		return;
	c->cmsg_level = v6 ? IPPROTO_IPV6 : IPPROTO_IP;
	c->cmsg_type = v6 ? IPV6_TCLASS : IP_TOS;
	c->cmsg_len = CMSG_LEN(sizeof(value));
	memcpy(CMSG_DATA(c), &value, sizeof(value));
	msg->msg_control = control;
	msg->msg_controllen = CMSG_SPACE(sizeof(value));
}

/* The address of a packet's destination; NULL: it has none that the host can reach. */
static const uint8_t *destination(struct wf_daemon *d, struct wf_dwire *w,
                                  const struct wf_packet *pkt, struct wf_dend **e_p)
{
	const struct wf_wire_remote *r = wf_wire_remotes_get(&d->wires->remotes, pkt->dst);
	const struct wf_dgroup *g = d->groups;
	const uint8_t *gid = NULL;

	if ((pkt->dst & WF_LIVE_GROUP) != 0) {
		while (g != NULL && g->number != pkt->dst)
			g = g->next;
		gid = g != NULL ? g->gid : NULL;
	} else if (r != NULL) {
		gid = r->gid;
	}
	if (gid == NULL)
		return NULL;
	*e_p = &w->end[wf_live_source(gid)];
	return (*e_p)->is_open ? gid : NULL;
}

/* Makes room in the batch for a packet of that socket. Returns false when it has to wait. */
static bool make_room(struct wf_daemon *d, int fd)
{
	struct wf_wire_io *io = &d->wires->tx;

	if (io->n == WF_WIRE_BATCH || (io->n != 0 && io->fd != fd))
		wf_wire_flush(d);
	return io->n < WF_WIRE_BATCH && (io->n == 0 || io->fd == fd);
}

/* Writes a packet into the batch. */
static void put(struct wf_daemon *d, struct wf_dend *e, struct wf_packet *p, const uint8_t gid[16],
                const void *payload)
{
	struct wf_wire_io *io = &d->wires->tx;
	struct msghdr *msg = &io->msg[io->n].msg_hdr;
	bool v6 = wf_dend_is_v6(e);
	size_t len, head = (size_t)WF_ETH_LEN + (v6 ? WF_IPV6_LEN : WF_IPV4_LEN) + WF_UDP_LEN;
	struct wf_wire_addr dst = { .ipv4 = wf_be32_get(gid + 12) };
	uint8_t *bytes = io->bytes[io->n];
	uint8_t traffic_class = (uint8_t)p->src;

	assert(io->n < WF_WIRE_BATCH && e->is_open);
	memcpy(dst.gid, gid, sizeof(dst.gid));
	p->type = WF_PACKET_RDMA;
	if (wf_packet_encode(p, &d->wires->conf[v6], &e->addr, &dst, payload, bytes,
	                     WF_PACKET_BYTES_MAX, &len) != 0) {
		wf_wire_count(d, io->host, WF_LIVE_WIRE_TX_ERRORS);
		return;
	}
	/* The frame may end with Ethernet's padding, which is not UDP's. */
	io->iov[io->n].iov_len = wf_be16_get(bytes + head - 4) - (size_t)WF_UDP_LEN;
	io->iov[io->n].iov_base = bytes + head;
	assert(head + io->iov[io->n].iov_len <= len);
	msg->msg_iov = &io->iov[io->n];
	msg->msg_iovlen = 1;
	msg->msg_name = &io->addr[io->n];
	msg->msg_namelen = wf_wire_sockaddr(e, gid, WF_UDP_PORT_ROCE, &io->addr[io->n]);
	put_class(msg, io->control[io->n], traffic_class, v6);
	io->n++;
}

/* Sends one packet. Returns false when it has to wait for room. */
static bool send_one(struct wf_daemon *d, struct wf_dwire *w, const struct wf_packet *pkt,
                     const void *payload)
{
	struct wf_packet p = *pkt;
	struct wf_dend *e;
	const uint8_t *gid = destination(d, w, &p, &e);
	int fd = gid == NULL ? -1 : tx_socket(e, p.entropy, &p.entropy);

	if (fd < 0) {
		wf_wire_count(d, w->host, WF_LIVE_WIRE_TX_ERRORS);
		return true;
	}
	if (!make_room(d, fd))
		return false;
	d->wires->tx.fd = fd;
	d->wires->tx.host = w->host;
	if (survives(d, w, &p))
		put(d, e, &p, gid, payload);
	else
		wf_wire_count(d, w->host, WF_LIVE_LOST);
	return true;
}

void wf_wire_send_own(struct wf_daemon *d, struct wf_dwire *w, const struct wf_packet *pkt,
                      const void *payload)
{
	if (!send_one(d, w, pkt, payload))
		wf_wire_count(d, w->host, WF_LIVE_WIRE_TX_ERRORS);
}

/*
 * Sends a packet of a program. Returns false when it has to wait for room. A message to queue pair
 * 1 is copied before it is looked at: the program may still write where it is.
 */
static bool send_of(struct wf_daemon *d, struct wf_dwire *w, struct wf_dclient *c,
                    const struct wf_packet *pkt, const void *payload)
{
	bool gsi = pkt->qpn == WF_QPN_GSI && pkt->input == WF_MAD_LEN;
	uint8_t mad[WF_MAD_LEN];

	if (gsi)
		memcpy(mad, payload, sizeof(mad));
	if (!may_send(c, pkt, gsi ? mad : NULL)) {
		wf_wire_count(d, w->host, WF_LIVE_WIRE_TX_ERRORS);
		return true;
	}
	if (!send_one(d, w, pkt, gsi ? mad : payload))
		return false;
	wf_wire_remotes_answer(&d->wires->remotes, pkt->dst);
	if (gsi)
		wf_wire_conns_sent(&c->own->conns, pkt->dst, mad);
	return true;
}

void wf_wire_send(struct wf_daemon *d, struct wf_dclient *c)
{
	struct wf_dwire *w = wf_wire_find(d, c->host);
	struct wf_ring *rx = &c->wire.rx;
	struct wf_packet pkt;
	const void *payload;

	assert(w != NULL && c->on_wire && c->own != NULL);
	for (unsigned n = 0; n < WF_WIRE_BATCH && wf_ring_peek(rx, &pkt, &payload); n++) {
		if (!send_of(d, w, c, &pkt, payload))
			break;
		wf_ring_consume(rx);
	}
	if (wf_ring_release(rx))
		(void)wf_pipe_wake(&c->wire);
	if (rx->broken)
		c->doomed = true;
}
