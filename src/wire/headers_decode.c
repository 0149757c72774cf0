/* SPDX-License-Identifier: Apache-2.0 */
/*
 * headers_decode.c - from bytes to struct wf_headers.
 *
 * Each step takes a piece of the packet, says what is wrong with it, and leaves in the struct what
 * the next one needs:
 *
 *	Ethernet -> [VLAN] -> PFC
 *	                   -> IPv4 -> UDP -> BTH, extended headers, payload, pad, ICRC
 *	                   -> IPv6 -> UDP -> BTH …
 *	                   -> GRH ---------> BTH …
 *	InfiniBand -> LRH -> [GRH] --------> BTH … VCRC
 *	           -> flow control packet
 */
#include "wire/headers.h"

#include <errno.h>
#include <string.h>

#include "wire/byte.h"
#include "wire/headers_priv.h"

/* The packet, and how far it reaches: each length field that is read may bring end closer. */
struct cursor {
	const uint8_t *bytes;
	size_t at;
	size_t end;
};

static size_t cursor_left(const struct cursor *c)
{
	return c->end - c->at;
}

/* The next len bytes, or NULL if there are not as many. */
static const uint8_t *cursor_take(struct cursor *c, size_t len)
{
	const uint8_t *p = c->bytes + c->at;

	if (cursor_left(c) < len)
		return NULL;
	c->at += len;
	return p;
}

static void decode_xh(const uint8_t *p, enum wf_xh xh, struct wf_headers *h)
{
	switch (xh) {
	case WF_XH_RDETH:
		wf_rdeth_decode(p, &h->rdeth);
		break;
	case WF_XH_XRCETH:
		wf_xrceth_decode(p, &h->xrceth);
		break;
	case WF_XH_DETH:
		wf_deth_decode(p, &h->deth);
		break;
	case WF_XH_RETH:
		wf_reth_decode(p, &h->reth);
		break;
	case WF_XH_ATOMICETH:
		wf_atomiceth_decode(p, &h->atomiceth);
		break;
	case WF_XH_AETH:
		wf_aeth_decode(p, &h->aeth);
		break;
	case WF_XH_ATOMICACKETH:
		h->atomic_orig = wf_atomicacketh_decode(p);
		break;
	case WF_XH_IMMDT:
		h->imm = wf_immdt_decode(p);
		break;
	case WF_XH_IETH:
		h->inv_rkey = wf_ieth_decode(p);
		break;
	case WF_XH_CNP:
		memcpy(h->cnp, p, WF_CNP_LEN);
		break;
	case WF_XHS:
		break;
	}
}

/* Payload and pad: all that is left between the headers and the ICRC. */
static enum wf_reason decode_payload(struct cursor *c, struct wf_headers *h)
{
	size_t left = cursor_left(c);

	if (!wf_op_has_payload(h->bth.opcode) && left > 0)
		return WF_REASON_LENGTH;
	if (left % 4 != 0 || h->bth.pad > left)
		return WF_REASON_PAD;
	if (left - h->bth.pad > WF_MTU_MAX)
		return WF_REASON_LENGTH;
	h->payload_at = (uint16_t)c->at;
	h->payload_len = (uint16_t)(left - h->bth.pad);
	c->at += h->payload_len;
	memcpy(h->pad, c->bytes + c->at, h->bth.pad);
	c->at = c->end;
	return WF_REASON_NONE;
}

/* From the BTH to the ICRC, which ends where the cursor does. */
static enum wf_reason decode_transport(struct cursor *c, struct wf_headers *h)
{
	const uint8_t *p;

	if (cursor_left(c) < WF_BTH_LEN + WF_SIZE_ICRC)
		return WF_REASON_SHORT;
	c->end -= WF_SIZE_ICRC;
	h->icrc = wf_le32_get(c->bytes + c->end);
	h->bth_at = (uint16_t)c->at;
	wf_bth_decode(cursor_take(c, WF_BTH_LEN), &h->bth);
	if (h->bth.tver != 0)
		return WF_REASON_BTH_VERSION;
	if (!wf_op_is_known(h->bth.opcode))
		return WF_REASON_OPCODE;
	for (enum wf_xh xh = 0; xh < WF_XHS; xh++) {
		if (!wf_op_has(h->bth.opcode, xh))
			continue;
		p = cursor_take(c, wf_xh_len(xh));
		if (p == NULL)
			return WF_REASON_SHORT;
		decode_xh(p, xh, h);
	}
	return decode_payload(c, h);
}

static enum wf_reason decode_udp(struct cursor *c, struct wf_headers *h)
{
	size_t left = cursor_left(c);
	const uint8_t *p = cursor_take(c, WF_UDP_LEN);

	if (p == NULL)
		return WF_REASON_SHORT;
	wf_udp_decode(p, &h->udp);
	if (h->udp.dst != WF_UDP_PORT_ROCE)
		return WF_REASON_UDP_PORT;
	if (h->udp.length != left)
		return WF_REASON_UDP_LENGTH;
	return decode_transport(c, h);
}

/* Ends the packet len bytes from here; what follows is Ethernet's trailer. */
static bool cursor_trim(struct cursor *c, size_t len, struct wf_headers *h)
{
	if (len > cursor_left(c))
		return false;
	h->trailer_len = cursor_left(c) - len;
	c->end = c->at + len;
	return true;
}

static enum wf_reason decode_ipv4(struct cursor *c, struct wf_headers *h)
{
	const uint8_t *p = cursor_take(c, WF_IPV4_LEN);

	if (p == NULL)
		return WF_REASON_SHORT;
	h->encap = WF_ENCAP_ROCE2_IPV4;
	wf_ipv4_decode(p, &h->ipv4);
	if (h->ipv4.version != 4)
		return WF_REASON_IP_VERSION;
	if (h->ipv4.ihl != WF_IPV4_LEN / 4)
		return WF_REASON_IP_OPTIONS;
	if ((h->ipv4.frag & 0x3fff) != 0) /* more fragments, or an offset */
		return WF_REASON_IP_FRAGMENT;
	if (h->ipv4.length < WF_IPV4_LEN || !cursor_trim(c, h->ipv4.length - WF_IPV4_LEN, h))
		return WF_REASON_IP_LENGTH;
	if (h->ipv4.proto != WF_IP_PROTO_UDP)
		return WF_REASON_IP_PROTOCOL;
	return decode_udp(c, h);
}

/* An IPv6 header or a GRH, which must say that next follows. */
static enum wf_reason decode_ipv6(struct cursor *c, struct wf_headers *h, uint8_t next)
{
	const uint8_t *p = cursor_take(c, WF_IPV6_LEN);

	if (p == NULL)
		return WF_REASON_SHORT;
	wf_ipv6_decode(p, &h->ipv6);
	if (h->ipv6.version != 6)
		return WF_REASON_IP_VERSION;
	if (!cursor_trim(c, h->ipv6.length, h))
		return WF_REASON_IP_LENGTH;
	if (h->ipv6.next != next)
		return WF_REASON_IP_PROTOCOL;
	return WF_REASON_NONE;
}

static enum wf_reason decode_pfc(struct cursor *c, struct wf_headers *h)
{
	const uint8_t *p = cursor_take(c, WF_PFC_LEN);

	if (h->has_vlan)
		return WF_REASON_PFC;
	if (p == NULL)
		return WF_REASON_SHORT;
	h->encap = WF_ENCAP_PFC;
	wf_pfc_decode(p, &h->pfc);
	if (h->pfc.opcode != WF_PFC_OPCODE)
		return WF_REASON_PFC;
	h->trailer_len = cursor_left(c);
	return WF_REASON_NONE;
}

static enum wf_reason decode_ethernet(struct cursor *c, struct wf_headers *h)
{
	const uint8_t *p = cursor_take(c, WF_ETH_LEN);
	enum wf_reason reason;
	uint16_t type;

	if (p == NULL)
		return WF_REASON_SHORT;
	wf_eth_decode(p, &h->eth);
	type = h->eth.type;
	if (type == WF_ETHERTYPE_VLAN) {
		p = cursor_take(c, WF_VLAN_LEN);
		if (p == NULL)
			return WF_REASON_SHORT;
		h->has_vlan = true;
		wf_vlan_decode(p, &h->vlan);
		type = h->vlan.type;
	}
	if (type == WF_ETHERTYPE_IPV4)
		return decode_ipv4(c, h);
	if (type == WF_ETHERTYPE_CONTROL)
		return decode_pfc(c, h);
	if (type == WF_ETHERTYPE_IPV6) {
		h->encap = WF_ENCAP_ROCE2_IPV6;
		reason = decode_ipv6(c, h, WF_IP_PROTO_UDP);
		return reason == WF_REASON_NONE ? decode_udp(c, h) : reason;
	}
	if (type == WF_ETHERTYPE_ROCE1) {
		h->encap = WF_ENCAP_ROCE1;
		reason = decode_ipv6(c, h, WF_IP_PROTO_IBA);
		return reason == WF_REASON_NONE ? decode_transport(c, h) : reason;
	}
	return WF_REASON_ETHERTYPE;
}

static enum wf_reason decode_fcp(struct cursor *c, struct wf_headers *h)
{
	h->encap = WF_ENCAP_FCP;
	wf_fcp_decode(cursor_take(c, WF_FCP_LEN), &h->fcp);
	return h->fcp.op <= WF_FCP_OP_INIT ? WF_REASON_NONE : WF_REASON_FCP;
}

static enum wf_reason decode_infiniband(struct cursor *c, struct wf_headers *h)
{
	enum wf_reason reason;
	const uint8_t *p;

	if (cursor_left(c) == WF_FCP_LEN)
		return decode_fcp(c, h);
	if (cursor_left(c) < WF_LRH_LEN + WF_SIZE_VCRC)
		return WF_REASON_SHORT;
	c->end -= WF_SIZE_VCRC;
	h->vcrc = wf_le16_get(c->bytes + c->end);
	p = cursor_take(c, WF_LRH_LEN);
	wf_lrh_decode(p, &h->lrh);
	h->encap = WF_ENCAP_IB;
	if (h->lrh.lver != 0)
		return WF_REASON_LRH_VERSION;
	if (h->lrh.length * 4u != c->end)
		return WF_REASON_LRH_LENGTH;
	if (h->lrh.lnh == WF_LNH_LOCAL)
		return decode_transport(c, h);
	if (h->lrh.lnh != WF_LNH_GLOBAL)
		return WF_REASON_LRH_NEXT;
	h->encap = WF_ENCAP_IB_GRH;
	reason = decode_ipv6(c, h, WF_IP_PROTO_IBA);
	if (reason != WF_REASON_NONE)
		return reason;
	/* No trailer here: the LRH has said where the packet ends. */
	return h->trailer_len == 0 ? decode_transport(c, h) : WF_REASON_IP_LENGTH;
}

int wf_headers_decode(const uint8_t *bytes, size_t len, enum wf_link_layer link,
                      struct wf_headers *h_p, enum wf_reason *reason_p)
{
	struct cursor c = { .bytes = bytes, .end = len };

	memset(h_p, 0, sizeof(*h_p));
	*reason_p =
		link == WF_LINK_ETHERNET ? decode_ethernet(&c, h_p) : decode_infiniband(&c, h_p);
	return *reason_p == WF_REASON_NONE ? 0 : -EBADMSG;
}
