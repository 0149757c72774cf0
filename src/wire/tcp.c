/* SPDX-License-Identifier: Apache-2.0 */
/* tcp.c - segments of TCP to bytes and back, on Ethernet and on InfiniBand. */
#include "wire/tcp.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "wire/byte.h"
#include "wire/opcode.h"

#define BLOCK_LEN 8 /* of a SACK block on the wire */
#define REACH_LEN 3 /* and of each of its ends in a packet */
#define SACK_HEAD 4 /* two NOPs, kind, length */
#define OPT_END 0
#define OPT_NOP 1
#define OPT_SACK 5
#define OPT_TS 8
#define OPT_TS_BYTES 10
#define FLAG_FIN 0x01
#define FLAG_PSH 0x08
#define FLAG_ACK 0x10
#define FLAG_ECE 0x40
#define FLAG_CWR 0x80
#define CHECKSUM_AT 16 /* in the header */
#define ETH_MIN (WF_SIZE_ETH_MIN - WF_SIZE_FCS)
#define IPOIB_QPN 72 /* of every host's interface */

static uint32_t reach_get(const uint8_t *p)
{
	return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}

static void reach_put(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 16);
	p[1] = (uint8_t)(v >> 8);
	p[2] = (uint8_t)v;
}

/* Block i is one from before the acknowledgement. */
static bool is_back(const struct wf_packet *pkt, unsigned i)
{
	return i == 0 && (pkt->flags & WF_PACKET_DSACK) != 0;
}

struct wf_tcp_block wf_tcp_sack(const struct wf_packet *pkt, unsigned i)
{
	const uint8_t *p = pkt->u.tcp_ack.sack + (size_t)i * 2 * REACH_LEN;
	uint32_t from = reach_get(p), to = reach_get(p + REACH_LEN);

	assert(i < wf_tcp_blocks(pkt) && pkt->length == 0);
	if (is_back(pkt, i))
		return (struct wf_tcp_block){ pkt->imm - from, pkt->imm - to };
	return (struct wf_tcp_block){ pkt->imm + from, pkt->imm + to };
}

bool wf_tcp_add_sack(struct wf_packet *pkt, const struct wf_tcp_block *block)
{
	unsigned n = wf_tcp_blocks(pkt);
	uint8_t *p = pkt->u.tcp_ack.sack + (size_t)n * 2 * REACH_LEN;
	uint32_t from = is_back(pkt, n) ? pkt->imm - block->from : block->from - pkt->imm;
	uint32_t to = is_back(pkt, n) ? pkt->imm - block->to : block->to - pkt->imm;

	assert(pkt->length == 0);
	if (n >= WF_TCP_BLOCKS_MAX || from > WF_TCP_REACH || to > WF_TCP_REACH)
		return false;
	reach_put(p, from);
	reach_put(p + REACH_LEN, to);
	pkt->opcode = (uint8_t)((pkt->opcode & ~(unsigned)WF_SEG_BLOCKS) | (n + 1) << 6);
	return true;
}

unsigned wf_tcp_header_len(const struct wf_packet *pkt)
{
	unsigned n = wf_tcp_blocks(pkt);

	return WF_TCP_HEADER + ((pkt->opcode & WF_SEG_TS) != 0 ? WF_TCP_TS_LEN : 0u) +
	       (n > 0 ? SACK_HEAD + n * BLOCK_LEN : 0u);
}

/* IPv6 is only where RoCE uses it. */
static unsigned ip_len(enum wf_encap encap)
{
	return encap == WF_ENCAP_ROCE2_IPV6 ? WF_IPV6_LEN : WF_IPV4_LEN;
}

/* What is around an IP packet on the link. */
static unsigned around(enum wf_encap encap)
{
	if (!wf_encap_is_eth(encap))
		return wf_size_overhead(encap, false, WF_OP_UD_SEND_ONLY) + WF_TCP_IPOIB_LEN;
	return WF_ETH_LEN + (wf_encap_is_tagged(encap) ? WF_VLAN_LEN : 0) + WF_SIZE_FCS;
}

/* An IP packet of so many bytes on the link. */
static uint16_t size_on(enum wf_encap encap, uint32_t bytes)
{
	uint32_t size = around(encap) + bytes;

	if (!wf_encap_is_eth(encap))
		size += wf_size_pad(bytes);
	else if (size < WF_SIZE_ETH_MIN)
		size = WF_SIZE_ETH_MIN;
	return (uint16_t)size;
}

uint16_t wf_tcp_size(const struct wf_packet *pkt, enum wf_encap encap)
{
	return size_on(encap, ip_len(encap) + wf_tcp_header_len(pkt) + pkt->length);
}

uint16_t wf_tcp_mss(uint32_t mtu, enum wf_encap encap, bool timestamps)
{
	unsigned headers = ip_len(encap) + WF_TCP_HEADER + (timestamps ? WF_TCP_TS_LEN : 0);

	assert(mtu > headers);
	return (uint16_t)(mtu - headers);
}

uint32_t wf_tcp_mtu_as_rdma(uint32_t rdma_mtu, enum wf_encap encap)
{
	if (!wf_encap_is_eth(encap))
		return rdma_mtu - WF_TCP_IPOIB_LEN;
	return rdma_mtu + wf_size_overhead(encap, wf_encap_is_tagged(encap), WF_OP_RC_SEND_ONLY) -
	       around(encap);
}

uint32_t wf_tcp_largest(uint32_t mtu, enum wf_encap encap)
{
	return size_on(encap, mtu);
}

/* ---- to bytes ---- */

/* The Internet checksum's sum, of bytes at an even offset. */
static uint32_t sum_of(uint32_t sum, const uint8_t *p, size_t len)
{
	for (; len > 1; p += 2, len -= 2) {
		sum += wf_be16_get(p);
		sum = (sum & 0xffff) + (sum >> 16);
	}
	if (len == 1)
		sum += (uint32_t)*p << 8;
	return (sum & 0xffff) + (sum >> 16);
}

/* Of a segment and its pseudo header; ip is the IP header. */
static uint16_t checksum(const uint8_t *ip, const uint8_t *tcp, size_t len)
{
	bool v6 = ip[0] >> 4 == 6;
	uint32_t sum = sum_of(0, v6 ? ip + 8 : ip + 12, v6 ? 2 * WF_GID_LEN : 8);

	sum += WF_IP_PROTO_TCP + (uint32_t)len;
	sum = sum_of(sum, tcp, len);
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static uint8_t *put_options(const struct wf_packet *p, uint8_t *o)
{
	unsigned n = wf_tcp_blocks(p);

	if ((p->opcode & WF_SEG_TS) != 0) {
		o[0] = o[1] = OPT_NOP;
		o[2] = OPT_TS;
		o[3] = OPT_TS_BYTES;
		wf_be32_put(o + 4, p->payload);
		wf_be32_put(o + 8, p->u.tcp_ack.ts_echo);
		o += WF_TCP_TS_LEN;
	}
	if (n == 0)
		return o;
	o[0] = o[1] = OPT_NOP;
	o[2] = OPT_SACK;
	o[3] = (uint8_t)(2 + n * BLOCK_LEN);
	o += SACK_HEAD;
	for (unsigned i = 0; i < n; i++, o += BLOCK_LEN) {
		struct wf_tcp_block b = wf_tcp_sack(p, i);

		wf_be32_put(o, b.from);
		wf_be32_put(o + 4, b.to);
	}
	return o;
}

static uint8_t flags_of(const struct wf_packet *p)
{
	return (uint8_t)(FLAG_ACK | ((p->opcode & WF_SEG_FIN) != 0 ? FLAG_FIN : 0) |
	                 ((p->opcode & WF_SEG_PSH) != 0 ? FLAG_PSH : 0) |
	                 ((p->opcode & WF_SEG_ECE) != 0 ? FLAG_ECE : 0) |
	                 ((p->opcode & WF_SEG_CWR) != 0 ? FLAG_CWR : 0));
}

/* Header, options and payload; the IP header is there already. */
static void put_segment(const struct wf_packet *p, const void *payload, const uint8_t *ip,
                        uint8_t *tcp)
{
	bool back = (p->opcode & WF_SEG_BACK) != 0;
	unsigned head = wf_tcp_header_len(p);

	memset(tcp, 0, head);
	wf_be16_put(tcp, back ? p->pkey : p->entropy);
	wf_be16_put(tcp + 2, back ? p->entropy : p->pkey);
	wf_be32_put(tcp + 4, p->psn);
	wf_be32_put(tcp + 8, p->imm);
	tcp[12] = (uint8_t)(head / 4 << 4);
	tcp[WF_TCP_FLAGS_AT] = flags_of(p);
	wf_be16_put(tcp + 14, p->srqn);
	(void)put_options(p, tcp + WF_TCP_HEADER);
	if (payload != NULL)
		memcpy(tcp + head, payload, p->length);
	else
		memset(tcp + head, 0, p->length);
	wf_be16_put(tcp + CHECKSUM_AT, checksum(ip, tcp, (size_t)head + p->length));
	if ((p->flags & WF_PACKET_BAD) != 0)
		tcp[CHECKSUM_AT] ^= 1;
}

static uint8_t ecn_of(const struct wf_packet *p)
{
	if ((p->flags & WF_PACKET_CE) != 0)
		return WF_ECN_CE;
	return (p->flags & WF_PACKET_ECT) != 0 ? WF_ECN_ECT0 : WF_ECN_NOT;
}

/* The IP packet; returns its length. */
static size_t put_ip(const struct wf_packet *p, const struct wf_wire_conf *conf,
                     const struct wf_wire_addr *src, const struct wf_wire_addr *dst,
                     const void *payload, uint8_t *ip)
{
	uint16_t segment = (uint16_t)(wf_tcp_header_len(p) + p->length);
	uint8_t dscp = p->mark != 0 ? conf->dscp_mark[p->mark]
	                            : conf->dscp[p->cls & (WF_WIRE_CLASSES - 1)];
	struct wf_ipv4 v4 = {
		.version = 4,
		.ihl = WF_IPV4_LEN / 4,
		.dscp = dscp,
		.ecn = wf_encap_is_eth(conf->encap) ? ecn_of(p) : WF_ECN_NOT,
		.length = (uint16_t)(WF_IPV4_LEN + segment),
		.frag = WF_IPV4_DF,
		.ttl = conf->hop_limit,
		.proto = WF_IP_PROTO_TCP,
		.src = src->ipv4,
		.dst = dst->ipv4,
	};
	struct wf_ipv6 v6 = {
		.version = 6,
		.dscp = dscp,
		.ecn = v4.ecn,
		.length = segment,
		.next = WF_IP_PROTO_TCP,
		.hops = conf->hop_limit,
	};

	if (ip_len(conf->encap) == WF_IPV4_LEN) {
		v4.checksum = wf_ipv4_checksum(&v4);
		wf_ipv4_encode(&v4, ip);
	} else {
		memcpy(v6.src, src->gid, WF_GID_LEN);
		memcpy(v6.dst, dst->gid, WF_GID_LEN);
		wf_ipv6_encode(&v6, ip);
	}
	put_segment(p, payload, ip, ip + ip_len(conf->encap));
	return ip_len(conf->encap) + (size_t)segment;
}

static size_t put_ethernet(const struct wf_packet *p, const struct wf_wire_conf *conf,
                           const struct wf_wire_addr *src, const struct wf_wire_addr *dst,
                           const void *payload, uint8_t *buf)
{
	uint16_t type = ip_len(conf->encap) == WF_IPV4_LEN ? WF_ETHERTYPE_IPV4 : WF_ETHERTYPE_IPV6;
	struct wf_eth eth = { .type = conf->vlan ? WF_ETHERTYPE_VLAN : type };
	size_t at = WF_ETH_LEN, len;

	memcpy(eth.src, src->mac, WF_MAC_LEN);
	memcpy(eth.dst, dst->mac, WF_MAC_LEN);
	wf_eth_encode(&eth, buf);
	if (conf->vlan) {
		struct wf_vlan vlan = { .pcp = p->cls & 7, .vid = conf->vid, .type = type };

		wf_vlan_encode(&vlan, buf + at);
		at += WF_VLAN_LEN;
	}
	len = at + put_ip(p, conf, src, dst, payload, buf + at);
	if (len < ETH_MIN) {
		memset(buf + len, 0, ETH_MIN - len);
		len = ETH_MIN;
	}
	return len;
}

static int put_infiniband(const struct wf_packet *p, const struct wf_wire_conf *conf,
                          const struct wf_wire_addr *src, const struct wf_wire_addr *dst,
                          const void *payload, uint8_t *buf, size_t size, size_t *len_p)
{
	uint8_t datagram[WF_SEGMENT_BYTES_MAX] = { WF_ETHERTYPE_IPV4 >> 8,
		                                   WF_ETHERTYPE_IPV4 & 0xff };
	struct wf_headers h = { .encap = conf->encap };
	size_t len;
	int ret;

	len = WF_TCP_IPOIB_LEN + put_ip(p, conf, src, dst, payload, datagram + WF_TCP_IPOIB_LEN);
	h.lrh.sl = p->cls & (WF_WIRE_CLASSES - 1);
	h.lrh.vl = p->vl & 0xf;
	h.lrh.slid = src->lid;
	h.lrh.dlid = dst->lid;
	memcpy(h.ipv6.src, src->gid, WF_GID_LEN);
	memcpy(h.ipv6.dst, dst->gid, WF_GID_LEN);
	h.bth.opcode = WF_OP_UD_SEND_ONLY;
	h.bth.fecn = (p->flags & WF_PACKET_CE) != 0;
	h.bth.pkey = 0xffff;
	h.bth.qpn = IPOIB_QPN;
	h.bth.psn = p->psn & WF_TCP_QPN_MASK;
	h.deth.qkey = WF_TCP_IPOIB_QKEY;
	h.deth.src_qpn = IPOIB_QPN;
	ret = wf_headers_complete(&h, len);
	if (ret == 0)
		ret = wf_headers_encode(&h, datagram, buf, size, len_p);
	if (ret == 0)
		wf_headers_sign(&h, buf, *len_p);
	return ret;
}

int wf_tcp_encode(const struct wf_packet *p, const struct wf_wire_conf *conf,
                  const struct wf_wire_addr *src, const struct wf_wire_addr *dst,
                  const void *payload, uint8_t *buf, size_t size, size_t *len_p)
{
	assert(p->type == WF_PACKET_TCP);
	if ((uint32_t)wf_tcp_size(p, conf->encap) + WF_VLAN_LEN > WF_SEGMENT_BYTES_MAX ||
	    wf_tcp_blocks(p) > WF_TCP_BLOCKS_MAX || (p->length != 0 && wf_tcp_blocks(p) != 0))
		return -EINVAL;
	if (!wf_encap_is_eth(conf->encap))
		return put_infiniband(p, conf, src, dst, payload, buf, size, len_p);
	if (size < (size_t)wf_tcp_size(p, conf->encap) + WF_VLAN_LEN)
		return -ENOSPC;
	*len_p = put_ethernet(p, conf, src, dst, payload, buf);
	return 0;
}

/* ---- from bytes ---- */

/* Where the IP packet begins on Ethernet; 0: it is none. */
static size_t ip_at(const uint8_t *bytes, size_t len, struct wf_vlan *vlan_p)
{
	struct wf_eth eth;
	uint16_t type;
	size_t at = WF_ETH_LEN;

	*vlan_p = (struct wf_vlan){ 0 };
	if (len < WF_ETH_LEN + WF_VLAN_LEN)
		return 0;
	wf_eth_decode(bytes, &eth);
	type = eth.type;
	if (type == WF_ETHERTYPE_VLAN) {
		wf_vlan_decode(bytes + at, vlan_p);
		type = vlan_p->type;
		at += WF_VLAN_LEN;
	}
	return type == WF_ETHERTYPE_IPV4 || type == WF_ETHERTYPE_IPV6 ? at : 0;
}

/* Whether an IP packet carries TCP. */
static bool ip_is_tcp(const uint8_t *ip, size_t len)
{
	if (len < WF_IPV4_LEN)
		return false;
	if (ip[0] >> 4 == 4)
		return ip[9] == WF_IP_PROTO_TCP;
	return len >= WF_IPV6_LEN && ip[0] >> 4 == 6 && ip[6] == WF_IP_PROTO_TCP;
}

bool wf_tcp_is(const uint8_t *bytes, size_t len, const struct wf_wire_conf *conf)
{
	enum wf_reason reason;
	struct wf_headers h;
	struct wf_vlan vlan;
	size_t at;

	if (wf_encap_is_eth(conf->encap)) {
		at = ip_at(bytes, len, &vlan);
		return at != 0 && ip_is_tcp(bytes + at, len - at);
	}
	if (wf_headers_decode(bytes, len, WF_LINK_INFINIBAND, &h, &reason) != 0 ||
	    h.encap == WF_ENCAP_FCP || h.bth.opcode != WF_OP_UD_SEND_ONLY ||
	    h.deth.qkey != WF_TCP_IPOIB_QKEY || h.payload_len < WF_TCP_IPOIB_LEN)
		return false;
	at = h.payload_at;
	return wf_be16_get(bytes + at) == WF_ETHERTYPE_IPV4 &&
	       ip_is_tcp(bytes + at + WF_TCP_IPOIB_LEN, h.payload_len - (size_t)WF_TCP_IPOIB_LEN);
}

static bool get_sack(const uint8_t *o, unsigned len, struct wf_packet *p)
{
	for (unsigned i = 2; i + BLOCK_LEN <= len; i += BLOCK_LEN) {
		struct wf_tcp_block b = { wf_be32_get(o + i), wf_be32_get(o + i + 4) };

		if (i == 2 && (int32_t)(b.from - p->imm) < 0)
			p->flags |= WF_PACKET_DSACK;
		if (!wf_tcp_add_sack(p, &b))
			return false;
	}
	return true;
}

static bool get_options(const uint8_t *o, const uint8_t *end, struct wf_packet *p)
{
	while (o < end && *o != OPT_END) {
		unsigned len = *o == OPT_NOP ? 1 : end - o > 1 ? o[1] : 0;

		if (len == 0 || len > end - o)
			return false;
		if (*o == OPT_TS && len == OPT_TS_BYTES) {
			p->opcode |= WF_SEG_TS;
			p->payload = wf_be32_get(o + 2);
			p->u.tcp_ack.ts_echo = wf_be32_get(o + 6);
		} else if (*o == OPT_SACK && (p->length != 0 || !get_sack(o, len, p))) {
			return false;
		}
		o += len;
	}
	return true;
}

/* Header and options of a segment of len bytes. The side that waits has the lower port. */
static enum wf_reason get_segment(const uint8_t *ip, const uint8_t *tcp, size_t len,
                                  struct wf_packet *p)
{
	uint16_t from = wf_be16_get(tcp), to = wf_be16_get(tcp + 2);
	unsigned head = (tcp[12] >> 4) * 4u;
	uint8_t flags = tcp[WF_TCP_FLAGS_AT];

	if (head < WF_TCP_HEADER || head > len)
		return WF_REASON_SHORT;
	p->type = WF_PACKET_TCP;
	p->opcode = (uint8_t)((from < to ? WF_SEG_BACK : 0) |
	                      ((flags & FLAG_FIN) != 0 ? WF_SEG_FIN : 0) |
	                      ((flags & FLAG_PSH) != 0 ? WF_SEG_PSH : 0) |
	                      ((flags & FLAG_ECE) != 0 ? WF_SEG_ECE : 0) |
	                      ((flags & FLAG_CWR) != 0 ? WF_SEG_CWR : 0));
	p->entropy = from < to ? to : from;
	p->pkey = from < to ? from : to;
	p->psn = wf_be32_get(tcp + 4);
	p->imm = wf_be32_get(tcp + 8);
	p->srqn = wf_be16_get(tcp + 14);
	p->length = (uint16_t)(len - head);
	if (!get_options(tcp + WF_TCP_HEADER, tcp + head, p))
		return WF_REASON_LENGTH;
	if (checksum(ip, tcp, len) != 0)
		p->flags |= WF_PACKET_BAD;
	return WF_REASON_NONE;
}

static void get_ecn(uint8_t ecn, struct wf_packet *p)
{
	if (ecn != WF_ECN_NOT)
		p->flags |= WF_PACKET_ECT;
	if (ecn == WF_ECN_CE)
		p->flags |= WF_PACKET_CE;
}

/* From the IP header on; pcp stands for classes that no DSCP tells. */
static enum wf_reason get_ip(const uint8_t *ip, size_t len, const struct wf_wire_conf *conf,
                             uint8_t pcp, struct wf_packet *p)
{
	size_t head = ip[0] >> 4 == 4 ? WF_IPV4_LEN : WF_IPV6_LEN, all;
	struct wf_ipv4 v4 = { 0 };
	struct wf_ipv6 v6 = { 0 };
	uint8_t dscp;
	int cls;

	if (head == WF_IPV4_LEN) {
		wf_ipv4_decode(ip, &v4);
		if (v4.ihl != WF_IPV4_LEN / 4)
			return WF_REASON_IP_OPTIONS;
		all = v4.length;
		p->src = wf_wire_addr_host_ipv4(v4.src);
		p->dst = wf_wire_addr_host_ipv4(v4.dst);
		if (v4.checksum != wf_ipv4_checksum(&v4))
			p->flags |= WF_PACKET_BAD;
		get_ecn(v4.ecn, p);
		dscp = v4.dscp;
	} else {
		wf_ipv6_decode(ip, &v6);
		all = WF_IPV6_LEN + (size_t)v6.length;
		p->src = wf_wire_addr_host_gid(v6.src);
		p->dst = wf_wire_addr_host_gid(v6.dst);
		get_ecn(v6.ecn, p);
		dscp = v6.dscp;
	}
	cls = wf_wire_conf_class(conf, dscp);
	p->cls = (cls >= 0 ? (uint8_t)cls : pcp) & WF_PACKET_CLASS;
	if (all > len || all < head + WF_TCP_HEADER)
		return WF_REASON_IP_LENGTH;
	return get_segment(ip, ip + head, all - head, p);
}

static enum wf_reason get_infiniband(const uint8_t *bytes, size_t len,
                                     const struct wf_wire_conf *conf, struct wf_packet *p)
{
	enum wf_reason reason;
	struct wf_headers h;
	size_t at;

	if (wf_headers_decode(bytes, len, WF_LINK_INFINIBAND, &h, &reason) != 0)
		return reason;
	at = (size_t)h.payload_at + WF_TCP_IPOIB_LEN;
	reason = get_ip(bytes + at, h.payload_len - (size_t)WF_TCP_IPOIB_LEN, conf, h.lrh.sl, p);
	p->cls = h.lrh.sl & WF_PACKET_CLASS;
	p->vl = h.lrh.vl & 0xfu;
	if (h.bth.fecn)
		p->flags |= WF_PACKET_CE;
	if (reason == WF_REASON_NONE && wf_headers_verify(&h, bytes, len, &reason) != 0) {
		p->flags |= WF_PACKET_BAD;
		reason = WF_REASON_NONE;
	}
	return reason;
}

int wf_tcp_decode(const uint8_t *bytes, size_t len, const struct wf_wire_conf *conf,
                  struct wf_packet *p_p, enum wf_reason *reason_p)
{
	struct wf_vlan vlan;
	size_t at;

	assert(wf_tcp_is(bytes, len, conf));
	memset(p_p, 0, sizeof(*p_p));
	if (wf_encap_is_eth(conf->encap)) {
		at = ip_at(bytes, len, &vlan);
		*reason_p = get_ip(bytes + at, len - at, conf, vlan.pcp, p_p);
	} else {
		*reason_p = get_infiniband(bytes, len, conf, p_p);
	}
	if (*reason_p != WF_REASON_NONE)
		return -EBADMSG;
	p_p->size = wf_tcp_size(p_p, conf->encap);
	return 0;
}
