/* SPDX-License-Identifier: Apache-2.0 */
/* packet_codec.c - struct wf_packet to headers and bytes, and back. */
#include "wire/packet_codec.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "wire/aeth.h"
#include "wire/byte.h"
#include "wire/headers_priv.h"
#include "wire/opcode.h"
#include "wire/tcp.h"

#define AGG_QPN 0x800000u /* with the number of a reduction's group: 0 and 1 are management's */

#define PAUSE_MAX 7 /* priorities that struct wf_packet has room for */

static bool encap_is_roce2(enum wf_encap encap)
{
	return encap == WF_ENCAP_ROCE2_IPV4 || encap == WF_ENCAP_ROCE2_IPV6;
}

/*
 * The packet as the wire shows it: the simple sender's looks like RC, and so does a reduction's
 * data, whose own header is not public; all others stay as they are.
 */
static struct wf_packet packet_dressed(const struct wf_packet *p)
{
	struct wf_packet rc = *p;
	bool agg = p->type == WF_PACKET_AGG;

	if (!agg && p->type != WF_PACKET_DATA && p->type != WF_PACKET_ACK &&
	    p->type != WF_PACKET_NAK)
		return rc;
	rc.type = WF_PACKET_RDMA;
	rc.psn &= WF_PSN_MASK;
	rc.qpn &= WF_QPN_MASK;
	if (agg)
		rc.qpn |= AGG_QPN;
	if (agg || p->type == WF_PACKET_DATA) {
		rc.opcode = WF_OP_RC_SEND_ONLY;
		return rc;
	}
	rc.opcode = WF_OP_RC_ACK;
	rc.length = 0;
	memset(&rc.u, 0, sizeof(rc.u));
	rc.u.aeth.syndrome = p->type == WF_PACKET_ACK
	                             ? wf_syndrome_make(WF_SYNDROME_ACK, WF_CREDITS_INVALID)
	                             : WF_NAK_PSN_SEQUENCE;
	return rc;
}

static uint8_t packet_ecn(const struct wf_packet *p)
{
	if ((p->flags & WF_PACKET_CE) != 0)
		return WF_ECN_CE;
	return (p->flags & WF_PACKET_ECT) != 0 ? WF_ECN_ECT0 : WF_ECN_NOT;
}

static void put_link(const struct wf_packet *p, const struct wf_wire_conf *conf,
                     const struct wf_wire_addr *src, const struct wf_wire_addr *dst,
                     struct wf_headers *h)
{
	bool roce2 = encap_is_roce2(conf->encap);
	uint8_t cls = p->cls & (WF_WIRE_CLASSES - 1);
	bool trimmed = p->type == WF_PACKET_TRIMMED;

	memcpy(h->eth.src, src->mac, WF_MAC_LEN);
	memcpy(h->eth.dst, dst->mac, WF_MAC_LEN);
	h->has_vlan = conf->vlan && wf_encap_is_eth(conf->encap);
	h->vlan.pcp = cls & 7;
	h->vlan.vid = conf->vid;
	h->ipv4.dscp = trimmed        ? conf->dscp_trim[cls]
	               : p->mark != 0 ? conf->dscp_mark[p->mark]
	                              : conf->dscp[cls];
	h->ipv4.ecn = roce2 ? packet_ecn(p) : WF_ECN_NOT;
	h->ipv4.frag = WF_IPV4_DF;
	h->ipv4.ttl = conf->hop_limit;
	h->ipv4.src = src->ipv4;
	h->ipv4.dst = dst->ipv4;
	h->ipv6.dscp = h->ipv4.dscp;
	h->ipv6.ecn = h->ipv4.ecn;
	h->ipv6.hops = h->ipv4.ttl;
	h->ipv6.flow = p->entropy;
	memcpy(h->ipv6.src, src->gid, WF_GID_LEN);
	memcpy(h->ipv6.dst, dst->gid, WF_GID_LEN);
	h->udp.src = p->entropy;
	h->lrh.sl = cls;
	h->lrh.vl = p->vl & 0xf;
	h->lrh.slid = src->lid;
	h->lrh.dlid = dst->lid;
	h->bth.fecn = !roce2 && (p->flags & WF_PACKET_CE) != 0;
}

/* XRC: the queue it is for. Atomics have their key in its place; the receiver does without. */
static bool has_srqn(uint8_t op)
{
	return wf_op_has(op, WF_XH_XRCETH) && !wf_op_is_atomic(op);
}

static void put_transport(const struct wf_packet *p, struct wf_headers *h)
{
	uint8_t op = p->opcode;

	h->bth.opcode = op;
	h->bth.becn = (p->flags & WF_PACKET_BECN) != 0;
	h->bth.ack_req = (p->flags & WF_PACKET_ACK_REQ) != 0;
	h->bth.solicited = (p->flags & WF_PACKET_SOLICITED) != 0;
	h->bth.migrated = (p->flags & WF_PACKET_MIGRATED) != 0;
	h->bth.pkey = p->pkey;
	h->bth.qpn = p->qpn;
	h->bth.psn = p->psn;
	if (wf_op_has_imm(op))
		h->imm = p->imm;
	if (wf_op_has_inv(op))
		h->inv_rkey = p->imm;
	if (has_srqn(op))
		h->xrceth.srqn = p->srqn;
	if (wf_op_is_atomic(op)) {
		h->atomiceth.va = p->atomic_va;
		h->atomiceth.rkey = p->atomic_rkey;
		h->atomiceth.swap_add = p->u.atomic.swap_add;
		h->atomiceth.compare = p->u.atomic.compare;
	} else if (wf_op_has_reth(op)) {
		h->reth.va = p->u.reth.va;
		h->reth.rkey = p->u.reth.rkey;
		h->reth.dma_len = p->u.reth.dma_len;
	} else if (wf_op_has_aeth(op)) {
		h->aeth.syndrome = p->u.aeth.syndrome;
		h->aeth.msn = p->u.aeth.msn;
		h->atomic_orig = wf_op_is_atomic_ack(op) ? p->u.aeth.orig : 0;
	} else if (wf_op_has_deth(op)) {
		h->deth.qkey = p->u.deth.qkey;
		h->deth.src_qpn = p->u.deth.src_qpn;
	}
}

static int put_pause(const struct wf_packet *p, const struct wf_wire_addr *src,
                     struct wf_headers *h)
{
	uint16_t mask = p->u.pause.mask;
	unsigned n = 0;

	if (mask > 0xff || __builtin_popcount(mask) > PAUSE_MAX)
		return -EINVAL;
	h->encap = WF_ENCAP_PFC;
	memcpy(h->eth.src, src->mac, WF_MAC_LEN);
	h->pfc.enabled = mask;
	for (unsigned i = 0; i < WF_PFC_PRIORITIES; i++)
		if ((mask >> i & 1) != 0)
			h->pfc.quanta[i] = p->u.pause.quanta[n++];
	return wf_headers_complete(h, 0);
}

static int put_credit(const struct wf_packet *p, struct wf_headers *h)
{
	if (p->u.credit.vl > WF_VL_MGMT)
		return -EINVAL;
	h->encap = WF_ENCAP_FCP;
	h->fcp.op = WF_FCP_OP_NORMAL;
	h->fcp.vl = (uint8_t)p->u.credit.vl;
	h->fcp.fccl = p->u.credit.limit & WF_FCP_COUNT_MASK;
	h->fcp.fctbs = p->psn & WF_FCP_COUNT_MASK;
	return wf_headers_complete(h, 0);
}

/* RD has more headers than a packet has places. */
static bool op_fits(uint8_t op)
{
	return wf_op_is_known(op) && !wf_op_is_rd(op);
}

/* Whether the numbers that have 24 bits on the wire fit them. */
static bool numbers_fit(const struct wf_packet *p)
{
	if (p->qpn > WF_QPN_MASK || p->psn > WF_PSN_MASK)
		return false;
	if (wf_op_has_aeth(p->opcode))
		return p->u.aeth.msn <= WF_MSN_MASK;
	return !wf_op_has_deth(p->opcode) || p->u.deth.src_qpn <= WF_QPN_MASK;
}

int wf_packet_to_headers(const struct wf_packet *p, const struct wf_wire_conf *conf,
                         const struct wf_wire_addr *src, const struct wf_wire_addr *dst,
                         struct wf_headers *h_p)
{
	struct wf_packet shown = packet_dressed(p);
	bool eth = wf_encap_is_eth(conf->encap);
	struct wf_wire_addr from, to;

	assert(!wf_encap_is_control(conf->encap));
	memset(h_p, 0, sizeof(*h_p));
	wf_wire_addr_init(&from, p->src);
	wf_wire_addr_init(&to, p->dst);
	if (shown.type == WF_PACKET_PAUSE)
		return eth ? put_pause(p, src != NULL ? src : &from, h_p) : -EINVAL;
	if (shown.type == WF_PACKET_CREDIT)
		return eth ? -EINVAL : put_credit(p, h_p);
	if (shown.type == WF_PACKET_TRIMMED && !encap_is_roce2(conf->encap))
		return -EINVAL;
	if (shown.type != WF_PACKET_TRIMMED && shown.type != WF_PACKET_RDMA)
		return -EINVAL;
	if (!op_fits(shown.opcode))
		return -EINVAL;
	if (!numbers_fit(&shown))
		return -EINVAL;
	h_p->encap = conf->encap;
	put_link(&shown, conf, src != NULL ? src : &from, dst != NULL ? dst : &to, h_p);
	put_transport(&shown, h_p);
	if (shown.type == WF_PACKET_TRIMMED || !wf_op_has_payload(shown.opcode))
		return wf_headers_complete(h_p, 0);
	return wf_headers_complete(h_p, shown.length);
}

/* What noise on the link does: the checksums no longer fit. PFC frames have none but the FCS. */
static void bytes_spoil(struct wf_headers *h, uint8_t *buf)
{
	if (h->encap == WF_ENCAP_FCP)
		buf[4] ^= 1;
	else if (h->encap != WF_ENCAP_PFC)
		buf[wf_headers_icrc_at(h)] ^= 1;
}

int wf_packet_encode(const struct wf_packet *p, const struct wf_wire_conf *conf,
                     const struct wf_wire_addr *src, const struct wf_wire_addr *dst,
                     const void *payload, uint8_t *buf, size_t size, size_t *len_p)
{
	struct wf_wire_addr from, to;
	struct wf_headers h;
	int ret;

	if (p->type == WF_PACKET_TCP) {
		wf_wire_addr_init(&from, p->src);
		wf_wire_addr_init(&to, p->dst);
		return wf_tcp_encode(p, conf, src != NULL ? src : &from, dst != NULL ? dst : &to,
		                     payload, buf, size, len_p);
	}
	ret = wf_packet_to_headers(p, conf, src, dst, &h);
	if (ret != 0)
		return ret;
	ret = wf_headers_encode(&h, payload, buf, size, len_p);
	if (ret != 0)
		return ret;
	wf_headers_sign(&h, buf, *len_p);
	if ((p->flags & WF_PACKET_BAD) != 0)
		bytes_spoil(&h, buf);
	return 0;
}

static int get_pause(const struct wf_headers *h, struct wf_packet *p)
{
	unsigned n = 0;

	if (h->pfc.enabled > 0xff || __builtin_popcount(h->pfc.enabled) > PAUSE_MAX)
		return -EBADMSG;
	p->type = WF_PACKET_PAUSE;
	p->size = WF_SIZE_PFC;
	p->u.pause.mask = h->pfc.enabled;
	for (unsigned i = 0; i < WF_PFC_PRIORITIES; i++)
		if ((h->pfc.enabled >> i & 1) != 0)
			p->u.pause.quanta[n++] = h->pfc.quanta[i];
	return 0;
}

static int get_credit(const struct wf_headers *h, struct wf_packet *p)
{
	p->type = WF_PACKET_CREDIT;
	p->size = WF_FCP_LEN;
	p->psn = h->fcp.fctbs;
	p->u.credit.vl = h->fcp.vl;
	p->u.credit.limit = h->fcp.fccl;
	return 0;
}

static uint8_t class_of(const struct wf_headers *h, const struct wf_wire_conf *conf, uint8_t dscp)
{
	int cls = wf_wire_conf_class(conf, dscp);

	if (cls >= 0)
		return (uint8_t)cls;
	return h->has_vlan ? h->vlan.pcp : 0;
}

static void get_ip(const struct wf_headers *h, const struct wf_wire_conf *conf, uint8_t dscp,
                   uint8_t ecn, struct wf_packet *p)
{
	int trimmed = wf_wire_conf_trimmed(conf, dscp);

	p->cls = (trimmed >= 0 ? (uint8_t)trimmed : class_of(h, conf, dscp)) & WF_PACKET_CLASS;
	if (trimmed >= 0)
		p->type = WF_PACKET_TRIMMED;
	p->entropy = h->udp.src;
	if (ecn != WF_ECN_NOT)
		p->flags |= WF_PACKET_ECT;
	if (ecn == WF_ECN_CE)
		p->flags |= WF_PACKET_CE;
}

static void get_link(const struct wf_headers *h, const struct wf_wire_conf *conf,
                     struct wf_packet *p)
{
	p->src = wf_wire_addr_host_gid(h->ipv6.src);
	p->dst = wf_wire_addr_host_gid(h->ipv6.dst);
	p->entropy = (uint16_t)h->ipv6.flow;
	switch (h->encap) {
	case WF_ENCAP_ROCE2_IPV4:
		p->src = wf_wire_addr_host_ipv4(h->ipv4.src);
		p->dst = wf_wire_addr_host_ipv4(h->ipv4.dst);
		get_ip(h, conf, h->ipv4.dscp, h->ipv4.ecn, p);
		return;
	case WF_ENCAP_ROCE2_IPV6:
		get_ip(h, conf, h->ipv6.dscp, h->ipv6.ecn, p);
		return;
	case WF_ENCAP_ROCE1:
		p->cls = class_of(h, conf, h->ipv6.dscp) & WF_PACKET_CLASS;
		break;
	case WF_ENCAP_IB:
		p->src = wf_wire_addr_host_lid(h->lrh.slid);
		p->dst = wf_wire_addr_host_lid(h->lrh.dlid);
		p->cls = h->lrh.sl & WF_PACKET_CLASS;
		break;
	case WF_ENCAP_IB_GRH:
		p->cls = h->lrh.sl & WF_PACKET_CLASS;
		break;
	case WF_ENCAP_PFC:
	case WF_ENCAP_FCP:
	case WF_ENCAPS:
		break;
	}
	if (h->bth.fecn)
		p->flags |= WF_PACKET_CE;
	p->vl = h->lrh.vl & 0xfu;
}

static uint8_t flags_of(const struct wf_bth *bth)
{
	return (uint8_t)((bth->becn ? WF_PACKET_BECN : 0) | (bth->ack_req ? WF_PACKET_ACK_REQ : 0) |
	                 (bth->solicited ? WF_PACKET_SOLICITED : 0) |
	                 (bth->migrated ? WF_PACKET_MIGRATED : 0));
}

static void get_transport(const struct wf_headers *h, struct wf_packet *p)
{
	uint8_t op = h->bth.opcode;

	p->opcode = op;
	p->flags |= flags_of(&h->bth);
	p->pkey = h->bth.pkey;
	p->qpn = h->bth.qpn;
	p->psn = h->bth.psn;
	if (wf_op_has_imm(op))
		p->imm = h->imm;
	if (wf_op_has_inv(op))
		p->imm = h->inv_rkey;
	if (wf_op_is_atomic(op)) {
		p->atomic_va = h->atomiceth.va;
		p->atomic_rkey = h->atomiceth.rkey;
		p->u.atomic.swap_add = h->atomiceth.swap_add;
		p->u.atomic.compare = h->atomiceth.compare;
		return;
	}
	if (has_srqn(op))
		p->srqn = (uint16_t)h->xrceth.srqn;
	p->length = p->type == WF_PACKET_TRIMMED ? 0 : h->payload_len;
	if (wf_op_has_reth(op)) {
		p->u.reth.va = h->reth.va;
		p->u.reth.rkey = h->reth.rkey;
		p->u.reth.dma_len = h->reth.dma_len;
	} else if (wf_op_has_aeth(op)) {
		p->u.aeth.syndrome = h->aeth.syndrome;
		p->u.aeth.msn = h->aeth.msn;
		p->u.aeth.orig = h->atomic_orig;
	} else if (wf_op_has_deth(op)) {
		p->u.deth.qkey = h->deth.qkey;
		p->u.deth.src_qpn = h->deth.src_qpn;
	}
}

int wf_packet_from_headers(const struct wf_headers *h, const struct wf_wire_conf *conf,
                           struct wf_packet *p_p)
{
	memset(p_p, 0, sizeof(*p_p));
	if (h->encap == WF_ENCAP_PFC)
		return get_pause(h, p_p);
	if (h->encap == WF_ENCAP_FCP)
		return get_credit(h, p_p);
	if (!op_fits(h->bth.opcode) || (has_srqn(h->bth.opcode) && h->xrceth.srqn > UINT16_MAX))
		return -EBADMSG;
	p_p->type = WF_PACKET_RDMA;
	p_p->size = wf_size_packet(h->encap, h->has_vlan, h->bth.opcode, h->payload_len);
	get_link(h, conf, p_p);
	get_transport(h, p_p);
	return 0;
}

int wf_packet_decode(const uint8_t *bytes, size_t len, const struct wf_wire_conf *conf,
                     struct wf_packet *p_p, struct wf_headers *h_p, enum wf_reason *reason_p)
{
	enum wf_link_layer link =
		wf_encap_is_eth(conf->encap) ? WF_LINK_ETHERNET : WF_LINK_INFINIBAND;
	int ret;

	if (wf_tcp_is(bytes, len, conf)) {
		memset(h_p, 0, sizeof(*h_p));
		return wf_tcp_decode(bytes, len, conf, p_p, reason_p);
	}
	ret = wf_headers_decode(bytes, len, link, h_p, reason_p);
	if (ret != 0)
		return ret;
	ret = wf_packet_from_headers(h_p, conf, p_p);
	if (ret != 0) {
		*reason_p = h_p->encap == WF_ENCAP_PFC ? WF_REASON_PFC : WF_REASON_OPCODE;
		return ret;
	}
	if (wf_headers_verify(h_p, bytes, len, reason_p) != 0)
		p_p->flags |= WF_PACKET_BAD;
	return 0;
}

/* The host as its address shows it: LIDs repeat in the largest fabrics. */
static uint32_t host_shown(uint32_t host, const struct wf_wire_conf *conf)
{
	struct wf_wire_addr addr;

	wf_wire_addr_init(&addr, host);
	if (conf->encap == WF_ENCAP_IB)
		return wf_wire_addr_host_lid(addr.lid);
	if (conf->encap == WF_ENCAP_ROCE2_IPV4)
		return wf_wire_addr_host_ipv4(addr.ipv4);
	return host;
}

static void normal_control(const struct wf_packet *p, struct wf_packet *n)
{
	if (p->type == WF_PACKET_CREDIT) {
		n->psn = p->psn & WF_FCP_COUNT_MASK;
		n->u.credit.vl = p->u.credit.vl;
		n->u.credit.limit = p->u.credit.limit & WF_FCP_COUNT_MASK;
		return;
	}
	n->flags = 0; /* a PFC frame has no checksum to spoil */
	n->u.pause.mask = p->u.pause.mask;
	for (int i = 0; i < PAUSE_MAX && i < __builtin_popcount(p->u.pause.mask); i++)
		n->u.pause.quanta[i] = p->u.pause.quanta[i];
}

/* A segment: all of its fields but the receiver's number, and when it left. */
static void normal_tcp(const struct wf_packet *p, struct wf_packet *n)
{
	n->entropy = p->entropy;
	n->pkey = p->pkey;
	n->opcode = p->opcode;
	n->psn = p->psn;
	n->imm = p->imm;
	n->srqn = p->srqn;
	n->length = p->length;
	if ((p->opcode & WF_SEG_TS) != 0) {
		n->payload = p->payload;
		n->u.tcp.ts_echo = p->u.tcp.ts_echo;
	}
	if (p->length == 0)
		memcpy(n->u.tcp_ack.sack, p->u.tcp_ack.sack, sizeof(n->u.tcp_ack.sack));
}

/* The fields that the opcode has. */
static void normal_transport(const struct wf_packet *p, struct wf_packet *n)
{
	if (wf_op_has_imm(p->opcode) || wf_op_has_inv(p->opcode))
		n->imm = p->imm;
	if (wf_op_is_atomic(p->opcode)) {
		n->atomic_va = p->atomic_va;
		n->atomic_rkey = p->atomic_rkey;
		n->u.atomic = p->u.atomic;
		return;
	}
	if (p->type != WF_PACKET_TRIMMED && wf_op_has_payload(p->opcode))
		n->length = p->length;
	if (has_srqn(p->opcode))
		n->srqn = p->srqn;
	if (wf_op_has_reth(p->opcode)) {
		n->u.reth = p->u.reth;
	} else if (wf_op_has_aeth(p->opcode)) {
		n->u.aeth.syndrome = p->u.aeth.syndrome;
		n->u.aeth.msn = p->u.aeth.msn;
		n->u.aeth.orig = wf_op_is_atomic_ack(p->opcode) ? p->u.aeth.orig : 0;
	} else if (wf_op_has_deth(p->opcode)) {
		n->u.deth = p->u.deth;
	}
}

/*
 * The packet with nothing in it but what the wire carries, and every other byte 0. Field by field,
 * and not by way of the headers: it is what their mapping is checked against.
 */
static void packet_normal(const struct wf_packet *p, const struct wf_wire_conf *conf,
                          struct wf_packet *n)
{
	struct wf_packet shown = packet_dressed(p);

	memset(n, 0, sizeof(*n));
	n->type = shown.type;
	n->flags = shown.flags & WF_PACKET_BAD;
	if (wf_packet_is_control(shown.type)) {
		normal_control(&shown, n);
		return;
	}
	n->src = host_shown(shown.src, conf);
	n->dst = host_shown(shown.dst, conf);
	n->cls = shown.cls;
	n->flags = shown.flags;
	if (!encap_is_roce2(conf->encap))
		n->flags &= (uint8_t)~WF_PACKET_ECT;
	else if ((shown.flags & WF_PACKET_CE) != 0)
		n->flags |= WF_PACKET_ECT;
	n->vl = wf_encap_is_eth(conf->encap) ? 0 : shown.vl & 0xfu;
	if (shown.type == WF_PACKET_TCP) {
		normal_tcp(&shown, n);
		return;
	}
	n->opcode = shown.opcode;
	n->entropy = conf->encap == WF_ENCAP_IB ? 0 : shown.entropy;
	n->pkey = shown.pkey;
	n->qpn = shown.qpn;
	n->psn = shown.psn;
	normal_transport(&shown, n);
}

bool wf_packet_is_same(const struct wf_packet *a, const struct wf_packet *b,
                       const struct wf_wire_conf *conf)
{
	uint8_t x[sizeof(struct wf_packet)], y[sizeof(struct wf_packet)];
	struct wf_packet n;

	packet_normal(a, conf, &n);
	memcpy(x, &n, sizeof(n));
	packet_normal(b, conf, &n);
	memcpy(y, &n, sizeof(n));
	return memcmp(x, y, sizeof(n)) == 0;
}
