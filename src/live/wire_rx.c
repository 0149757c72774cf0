/* SPDX-License-Identifier: Apache-2.0 */
/* wire_rx.c - packets from sockets to programs' rings. Everything in them is somebody's claim. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <assert.h>
#include <string.h>

#include "live/wire_priv.h"
#include "wire/byte.h"
#include "wire/icrc_id.h"
#include "wire/opcode.h"

/* The program whose queue pair it is. */
static struct wf_dclient *receiver(struct wf_daemon *d, struct wf_dwire *w, uint32_t qpn)
{
	struct wf_dclient *c = d->clients;

	while (c != NULL &&
	       (!c->attached || c->doomed || c->host != w->host || c->slot != wf_live_slot(qpn)))
		c = c->next;
	return c;
}

/* Whether it may be a message to queue pair 1. */
static bool is_mad(const struct wf_packet *pkt)
{
	return pkt->opcode == WF_OP_UD_SEND_ONLY && pkt->length == WF_MAD_LEN &&
	       pkt->u.deth.src_qpn == WF_QPN_GSI && pkt->u.deth.qkey == WF_QKEY_GMP;
}

void wf_wire_dress(struct wf_wire_arrival *a, const struct wf_dend *e, const uint8_t *to,
                   size_t udp)
{
	bool v6 = wf_dend_is_v6(e);
	struct wf_eth eth = { .type = v6 ? WF_ETHERTYPE_IPV6 : WF_ETHERTYPE_IPV4 };
	struct wf_udp head = { .src = a->port,
		               .dst = WF_UDP_PORT_ROCE,
		               .length = (uint16_t)(WF_UDP_LEN + udp) };
	struct wf_ipv4 ip = {
		.version = 4,
		.ihl = WF_IPV4_LEN / 4,
		.ecn = a->traffic_class & 3,
		.length = (uint16_t)(WF_IPV4_LEN + WF_UDP_LEN + udp),
		.frag = WF_IPV4_DF,
		.ttl = 64,
		.proto = WF_IP_PROTO_UDP,
		.src = wf_be32_get(a->from + 12),
		.dst = wf_be32_get(to + 12),
	};
	struct wf_ipv6 ip6 = {
		.version = 6,
		.ecn = a->traffic_class & 3,
		.length = (uint16_t)(WF_UDP_LEN + udp),
		.next = WF_IP_PROTO_UDP,
		.hops = 64,
	};

	wf_eth_encode(&eth, a->bytes);
	if (v6) {
		memcpy(ip6.src, a->from, 16);
		memcpy(ip6.dst, to, 16);
		wf_ipv6_encode(&ip6, a->bytes + WF_ETH_LEN);
	} else {
		ip.checksum = wf_ipv4_checksum(&ip);
		wf_ipv4_encode(&ip, a->bytes + WF_ETH_LEN);
	}
	wf_udp_encode(&head, a->bytes + WF_ETH_LEN + (v6 ? WF_IPV6_LEN : WF_IPV4_LEN));
}

/* To every program of the host in the group. */
static void deliver_group(struct wf_daemon *d, struct wf_dwire *w, struct wf_packet *pkt,
                          const uint8_t *payload, uint32_t bytes, uint32_t number)
{
	const struct wf_dgroup *g = d->groups;

	while (g != NULL && g->number != number)
		g = g->next;
	pkt->dst = number;
	for (const struct wf_dport *p = g == NULL ? NULL : g->ports; p != NULL; p = p->next) {
		if (p->member && p->client->host == w->host)
			wf_wire_deliver(d, w, p->client, pkt, payload, bytes);
	}
}

/* Whether the ICRC is right, of IPv4 with the identification that goes to *id_p. */
static bool is_whole(const struct wf_packet *pkt, const struct wf_headers *h, const uint8_t *bytes,
                     uint16_t *id_p)
{
	*id_p = 0;
	return (pkt->flags & WF_PACKET_BAD) == 0 ||
	       (h->encap == WF_ENCAP_ROCE2_IPV4 && wf_icrc_find_id(h, bytes, id_p));
}

/*
 * The number of the sender; WF_WIRE_NOBODY: it may not send that. Anybody may send datagrams; who
 * is connected has told where to.
 */
static uint32_t sender(struct wf_daemon *d, const uint8_t gid[16], const struct wf_packet *pkt)
{
	struct wf_wire_remotes *t = &d->wires->remotes;

	return wf_op_service(pkt->opcode) == WF_SERVICE_UD ? wf_wire_remotes_meet(t, gid)
	                                                   : wf_wire_remotes_find(t, gid);
}

/* Whether it is a sender that would put that identification there; without one, any would. */
static bool may_be_from(struct wf_daemon *d, const struct wf_dend *e, uint32_t number, uint16_t id)
{
	struct wf_wire_remote *r = wf_wire_remotes_get(&d->wires->remotes, number);

	return r == NULL || wf_dend_is_v6(e) || wf_icrc_may_send(&r->sender, id, d->wires->now);
}

void wf_wire_take(struct wf_daemon *d, struct wf_dwire *w, const struct wf_dend *e,
                  const struct wf_dmc *group, struct wf_wire_arrival *a)
{
	enum wf_live_gid_index index = (enum wf_live_gid_index)(e - w->end);
	struct wf_headers h;
	struct wf_packet pkt;
	struct wf_dclient *c;
	enum wf_reason reason;
	uint16_t id;

	assert(index < WF_LIVE_GIDS && e->is_open && a->len <= WF_PACKET_BYTES_MAX);
	wf_wire_count(d, w->host, WF_LIVE_WIRE_RX_PACKETS);
	if (wf_packet_decode(a->bytes, a->len, &d->wires->conf[wf_dend_is_v6(e)], &pkt, &h,
	                     &reason) != 0) {
		wf_wire_count(d, w->host, WF_LIVE_WIRE_RX_MALFORMED);
		return;
	}
	if (!is_whole(&pkt, &h, a->bytes, &id)) {
		wf_wire_count(d, w->host, WF_LIVE_ICRC_ERRORS);
		return;
	}
	pkt.src = sender(d, a->from, &pkt);
	if (!may_be_from(d, e, pkt.src, id)) {
		wf_wire_count(d, w->host, WF_LIVE_ICRC_ERRORS);
		return;
	}
	pkt.flags &= (uint8_t)~WF_PACKET_BAD;
	a->payload = a->bytes + h.payload_at;
	if (pkt.src == WF_WIRE_NOBODY || (pkt.qpn == WF_QPN_MULTICAST) != (group != NULL)) {
		wf_wire_count(d, w->host, WF_LIVE_WIRE_RX_REFUSED);
		return;
	}
	assert(a->payload + h.payload_len <= a->bytes + a->len);
	if (group != NULL) {
		deliver_group(d, w, &pkt, a->payload, h.payload_len, group->number);
		return;
	}
	pkt.dst = wf_live_ip_info(a->traffic_class, index);
	c = pkt.qpn == WF_QPN_GSI ? NULL : receiver(d, w, pkt.qpn);
	if (c != NULL)
		wf_wire_deliver(d, w, c, &pkt, a->payload, h.payload_len);
	else if (pkt.qpn == WF_QPN_GSI && is_mad(&pkt))
		wf_wire_mad(d, w, &pkt, a->payload);
	else
		wf_wire_count(d, w->host, WF_LIVE_WIRE_RX_REFUSED);
}

static void get_sender(struct wf_wire_arrival *a, const struct sockaddr_in6 *from)
{
	const struct sockaddr_in *in = (const void *)from;

	memset(a->from, 0, sizeof(a->from));
	if (from->sin6_family == AF_INET) {
		a->from[10] = a->from[11] = 0xff;
		memcpy(a->from + 12, &in->sin_addr, 4);
	} else {
		memcpy(a->from, &from->sin6_addr, 16);
	}
	a->port = ntohs(from->sin6_port); /* at the same place in both */
}

static uint8_t get_class(struct msghdr *msg)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c != NULL; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS)
			return *CMSG_DATA(c);
		if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS) {
			int value;

			memcpy(&value, CMSG_DATA(c), sizeof(value));
			return (uint8_t)value;
		}
	}
	return 0;
}

/*
 * Whether the sender is a host of this fabric: what it sends to a group, others here have got
 * already.
 */
static bool is_own(const struct wf_daemon *d, const uint8_t gid[16])
{
	return wf_live_host_of_gid(d->table, gid) >= 0;
}

static int receive_batch(struct wf_wire_io *io, int fd, size_t head)
{
	for (unsigned i = 0; i < WF_WIRE_BATCH; i++) {
		io->iov[i].iov_base = io->bytes[i] + head;
		io->iov[i].iov_len = WF_PACKET_BYTES_MAX - head;
		io->msg[i].msg_hdr = (struct msghdr){
			.msg_name = &io->addr[i],
			.msg_namelen = sizeof(io->addr[i]),
			.msg_iov = &io->iov[i],
			.msg_iovlen = 1,
			.msg_control = io->control[i],
			.msg_controllen = WF_WIRE_CONTROL,
		};
	}
	return recvmmsg(fd, io->msg, WF_WIRE_BATCH, MSG_DONTWAIT, NULL);
}

void wf_wire_receive(struct wf_daemon *d, struct wf_dwire *w, struct wf_dend *e,
                     const struct wf_dmc *group)
{
	struct wf_wire_io *io = &d->wires->rx;
	size_t head =
		(size_t)WF_ETH_LEN + (wf_dend_is_v6(e) ? WF_IPV6_LEN : WF_IPV4_LEN) + WF_UDP_LEN;
	const uint8_t *to = e->addr.gid;
	int n = receive_batch(io, group != NULL ? group->rx : e->rx, head);

	for (const struct wf_dgroup *g = d->groups; g != NULL && group != NULL; g = g->next) {
		if (g->number == group->number)
			to = g->gid;
	}
	assert(n <= WF_WIRE_BATCH);
	for (int i = 0; i < n; i++) {
		struct wf_wire_arrival a = { .bytes = io->bytes[i],
			                     .len = head + io->msg[i].msg_len };

		get_sender(&a, &io->addr[i]);
		a.traffic_class = get_class(&io->msg[i].msg_hdr);
		if (d->table->host[w->host].down != 0 || (group != NULL && is_own(d, a.from)))
			continue;
		if ((io->msg[i].msg_hdr.msg_flags & MSG_TRUNC) != 0) {
			wf_wire_count(d, w->host, WF_LIVE_WIRE_RX_MALFORMED);
			continue;
		}
		wf_wire_dress(&a, e, to, io->msg[i].msg_len);
		wf_wire_take(d, w, e, group, &a);
	}
	d->wires->more = d->wires->more || n == WF_WIRE_BATCH;
}
