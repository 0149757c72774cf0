/* SPDX-License-Identifier: Apache-2.0 */
/* headers.c - encoding, completing and checking packets; headers_decode.c is the other way. */
#include "wire/headers.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "wire/byte.h"
#include "wire/crc.h"
#include "wire/headers_priv.h"

#define ETH_MIN (WF_SIZE_ETH_MIN - WF_SIZE_FCS)

/* ICRC: the longest run of headers with masked fields: dummy LRH, IPv6, UDP, BTH. */
#define MASKED_MAX (WF_LRH_LEN + WF_IPV6_LEN + WF_UDP_LEN + WF_BTH_LEN)

const char *wf_reason_text(enum wf_reason reason)
{
	static const char *const text[] = {
		[WF_REASON_NONE] = "nothing wrong",
		[WF_REASON_SHORT] = "ends inside a header",
		[WF_REASON_ETHERTYPE] = "ethertype is neither IP, RoCE v1 nor PFC",
		[WF_REASON_IP_VERSION] = "wrong IP version",
		[WF_REASON_IP_OPTIONS] = "IPv4 header with options",
		[WF_REASON_IP_FRAGMENT] = "IP fragment",
		[WF_REASON_IP_LENGTH] = "wrong IP length",
		[WF_REASON_IP_PROTOCOL] = "IP does not carry UDP, or the GRH no BTH",
		[WF_REASON_IP_CHECKSUM] = "wrong IPv4 checksum",
		[WF_REASON_UDP_PORT] = "UDP port is not 4791",
		[WF_REASON_UDP_LENGTH] = "wrong UDP length",
		[WF_REASON_PFC] = "MAC control frame, but not PFC",
		[WF_REASON_LRH_VERSION] = "wrong link version",
		[WF_REASON_LRH_NEXT] = "raw packet",
		[WF_REASON_LRH_LENGTH] = "wrong packet length in LRH",
		[WF_REASON_FCP] = "unknown flow control operation",
		[WF_REASON_BTH_VERSION] = "wrong transport version",
		[WF_REASON_OPCODE] = "unknown opcode",
		[WF_REASON_LENGTH] = "opcode cannot carry this payload",
		[WF_REASON_PAD] = "wrong pad count",
		[WF_REASON_ICRC] = "wrong ICRC",
		[WF_REASON_VCRC] = "wrong VCRC",
		[WF_REASON_LPCRC] = "wrong LPCRC",
	};

	_Static_assert(WF_ARRAY_SIZE(text) == WF_REASONS, "a text for every reason");
	assert(reason < WF_REASONS);
	return text[reason];
}

/* The bytes of the packet without Ethernet's trailer. */
static size_t headers_packet_len(const struct wf_headers *h)
{
	switch (h->encap) {
	case WF_ENCAP_PFC:
		return WF_ETH_LEN + WF_PFC_LEN;
	case WF_ENCAP_FCP:
		return WF_FCP_LEN;
	case WF_ENCAP_IB:
	case WF_ENCAP_IB_GRH:
		return wf_headers_icrc_at(h) + WF_SIZE_ICRC + WF_SIZE_VCRC;
	case WF_ENCAP_ROCE2_IPV4:
	case WF_ENCAP_ROCE2_IPV6:
	case WF_ENCAP_ROCE1:
	case WF_ENCAPS:
		break;
	}
	return wf_headers_icrc_at(h) + WF_SIZE_ICRC;
}

size_t wf_headers_len(const struct wf_headers *h)
{
	return headers_packet_len(h) + h->trailer_len;
}

/* Versions, types and lengths before the BTH; after is the number of bytes from BTH to ICRC. */
static void headers_complete_link(struct wf_headers *h, size_t after)
{
	uint16_t type = h->encap == WF_ENCAP_ROCE2_IPV4   ? WF_ETHERTYPE_IPV4
	                : h->encap == WF_ENCAP_ROCE2_IPV6 ? WF_ETHERTYPE_IPV6
	                                                  : WF_ETHERTYPE_ROCE1;

	h->eth.type = h->has_vlan ? WF_ETHERTYPE_VLAN : type;
	h->vlan.type = type;
	h->ipv6.version = 6;
	h->ipv6.length = (uint16_t)after;
	h->ipv6.next = WF_IP_PROTO_IBA;
	if (h->encap == WF_ENCAP_ROCE2_IPV6) {
		h->ipv6.length = (uint16_t)(WF_UDP_LEN + after);
		h->ipv6.next = WF_IP_PROTO_UDP;
	}
	h->udp.dst = WF_UDP_PORT_ROCE;
	h->udp.length = (uint16_t)(WF_UDP_LEN + after);
	if (h->encap == WF_ENCAP_ROCE2_IPV4) {
		h->ipv4.version = 4;
		h->ipv4.ihl = WF_IPV4_LEN / 4;
		h->ipv4.length = (uint16_t)(WF_IPV4_LEN + WF_UDP_LEN + after);
		h->ipv4.proto = WF_IP_PROTO_UDP;
		h->ipv4.checksum = wf_ipv4_checksum(&h->ipv4);
	}
	h->lrh.lnh = h->encap == WF_ENCAP_IB_GRH ? WF_LNH_GLOBAL : WF_LNH_LOCAL;
	h->lrh.length = (uint16_t)((wf_size_link_header(h->encap, false) + after) / 4) & 0x7ff;
}

int wf_headers_complete(struct wf_headers *h, size_t payload_len)
{
	uint8_t op = h->bth.opcode;
	size_t len;

	assert(h->encap < WF_ENCAPS);
	h->trailer_len = 0;
	if (h->encap == WF_ENCAP_PFC) {
		memcpy(h->eth.dst, wf_pfc_dst, WF_MAC_LEN);
		h->eth.type = WF_ETHERTYPE_CONTROL;
		h->pfc.opcode = WF_PFC_OPCODE;
		return payload_len == 0 ? 0 : -EINVAL;
	}
	if (h->encap == WF_ENCAP_FCP) {
		h->fcp.lpcrc = wf_fcp_lpcrc(&h->fcp);
		return payload_len == 0 ? 0 : -EINVAL;
	}
	if (!wf_op_is_known(op) || payload_len > WF_MTU_MAX ||
	    (payload_len > 0 && !wf_op_has_payload(op)))
		return -EINVAL;

	h->bth.pad = wf_size_pad((uint32_t)payload_len);
	memset(h->pad, 0, sizeof(h->pad));
	h->bth_at = wf_size_link_header(h->encap, h->has_vlan);
	h->payload_at = (uint16_t)(h->bth_at + wf_op_header_len(op));
	h->payload_len = (uint16_t)payload_len;
	headers_complete_link(h, wf_headers_icrc_at(h) + WF_SIZE_ICRC - h->bth_at);
	len = headers_packet_len(h);
	if (wf_encap_is_eth(h->encap) && len < ETH_MIN)
		h->trailer_len = ETH_MIN - len;
	return 0;
}

/* What comes before the BTH. */
static void headers_encode_link(const struct wf_headers *h, uint8_t *buf)
{
	uint8_t *ip = buf + wf_headers_ip_at(h);

	if (wf_encap_is_eth(h->encap)) {
		wf_eth_encode(&h->eth, buf);
		if (h->has_vlan)
			wf_vlan_encode(&h->vlan, buf + WF_ETH_LEN);
	} else {
		wf_lrh_encode(&h->lrh, buf);
	}
	switch (h->encap) {
	case WF_ENCAP_ROCE2_IPV4:
		wf_ipv4_encode(&h->ipv4, ip);
		wf_udp_encode(&h->udp, ip + WF_IPV4_LEN);
		break;
	case WF_ENCAP_ROCE2_IPV6:
		wf_ipv6_encode(&h->ipv6, ip);
		wf_udp_encode(&h->udp, ip + WF_IPV6_LEN);
		break;
	case WF_ENCAP_ROCE1:
	case WF_ENCAP_IB_GRH:
		wf_ipv6_encode(&h->ipv6, ip);
		break;
	case WF_ENCAP_IB:
	case WF_ENCAP_PFC:
	case WF_ENCAP_FCP:
	case WF_ENCAPS:
		break;
	}
}

static void headers_encode_xh(const struct wf_headers *h, enum wf_xh xh, uint8_t *p)
{
	switch (xh) {
	case WF_XH_RDETH:
		wf_rdeth_encode(&h->rdeth, p);
		break;
	case WF_XH_XRCETH:
		wf_xrceth_encode(&h->xrceth, p);
		break;
	case WF_XH_DETH:
		wf_deth_encode(&h->deth, p);
		break;
	case WF_XH_RETH:
		wf_reth_encode(&h->reth, p);
		break;
	case WF_XH_ATOMICETH:
		wf_atomiceth_encode(&h->atomiceth, p);
		break;
	case WF_XH_AETH:
		wf_aeth_encode(&h->aeth, p);
		break;
	case WF_XH_ATOMICACKETH:
		wf_atomicacketh_encode(h->atomic_orig, p);
		break;
	case WF_XH_IMMDT:
		wf_immdt_encode(h->imm, p);
		break;
	case WF_XH_IETH:
		wf_ieth_encode(h->inv_rkey, p);
		break;
	case WF_XH_CNP:
		memcpy(p, h->cnp, WF_CNP_LEN);
		break;
	case WF_XHS:
		break;
	}
}

/* BTH, extended headers, payload, pad, CRCs. */
static void headers_encode_transport(const struct wf_headers *h, const void *payload, uint8_t *buf)
{
	uint8_t *p = buf + h->bth_at;

	wf_bth_encode(&h->bth, p);
	p += WF_BTH_LEN;
	for (enum wf_xh xh = 0; xh < WF_XHS; xh++) {
		if (!wf_op_has(h->bth.opcode, xh))
			continue;
		headers_encode_xh(h, xh, p);
		p += wf_xh_len(xh);
	}
	assert(p == buf + h->payload_at);
	if (payload == NULL)
		memset(p, 0, h->payload_len);
	else
		memcpy(p, payload, h->payload_len);
	p += h->payload_len;
	memcpy(p, h->pad, h->bth.pad);
	p += h->bth.pad;
	wf_le32_put(p, h->icrc);
	if (!wf_encap_is_eth(h->encap))
		wf_le16_put(p + WF_SIZE_ICRC, h->vcrc);
}

int wf_headers_encode(const struct wf_headers *h, const void *payload, uint8_t *buf, size_t size,
                      size_t *len_p)
{
	size_t len = headers_packet_len(h);

	if (len + h->trailer_len > size)
		return -ENOSPC;
	if (h->encap == WF_ENCAP_PFC) {
		wf_eth_encode(&h->eth, buf);
		wf_pfc_encode(&h->pfc, buf + WF_ETH_LEN);
	} else if (h->encap == WF_ENCAP_FCP) {
		wf_fcp_encode(&h->fcp, buf);
	} else {
		headers_encode_link(h, buf);
		headers_encode_transport(h, payload, buf);
	}
	memset(buf + len, 0, h->trailer_len);
	*len_p = len + h->trailer_len;
	return 0;
}

/* Copies the IP header or GRH to p with ones for what routers change; returns its length. */
static size_t icrc_mask_ip(const struct wf_headers *h, const uint8_t *ip, uint8_t *p)
{
	if (h->encap == WF_ENCAP_ROCE2_IPV4) {
		memcpy(p, ip, WF_IPV4_LEN);
		p[1] = 0xff; /* DSCP, ECN */
		p[8] = 0xff; /* TTL */
		memset(p + 10, 0xff, 2);
		return WF_IPV4_LEN;
	}
	memcpy(p, ip, WF_IPV6_LEN);
	p[0] |= 0x0f; /* traffic class, flow label */
	memset(p + 1, 0xff, 3);
	p[7] = 0xff; /* hop limit */
	return WF_IPV6_LEN;
}

/*
 * IBTA 7.8.1, A16, A17: over the packet from its LRH, with ones for every field that may change on
 * the way: all of the LRH when there is a GRH or IP header (and also when there is no LRH), else
 * its VL; the byte of the BTH with FECN and BECN; the UDP checksum.
 */
uint32_t wf_headers_icrc(const struct wf_headers *h, const uint8_t *bytes)
{
	uint8_t masked[MASKED_MAX];
	size_t n = WF_LRH_LEN;
	size_t rest = (size_t)h->bth_at + WF_BTH_LEN;
	uint32_t crc;

	assert(!wf_encap_is_control(h->encap));
	if (h->encap == WF_ENCAP_IB) {
		memcpy(masked, bytes, WF_LRH_LEN);
		masked[0] |= 0xf0;
	} else {
		memset(masked, 0xff, WF_LRH_LEN);
		n += icrc_mask_ip(h, bytes + wf_headers_ip_at(h), masked + n);
	}
	if (h->encap == WF_ENCAP_ROCE2_IPV4 || h->encap == WF_ENCAP_ROCE2_IPV6) {
		memcpy(masked + n, bytes + h->bth_at - WF_UDP_LEN, WF_UDP_LEN);
		memset(masked + n + 6, 0xff, 2);
		n += WF_UDP_LEN;
	}
	memcpy(masked + n, bytes + h->bth_at, WF_BTH_LEN);
	masked[n + 4] = 0xff;
	n += WF_BTH_LEN;
	assert(n <= MASKED_MAX);
	crc = wf_crc32_update(WF_CRC32_START, masked, n);
	return ~wf_crc32_update(crc, bytes + rest, wf_headers_icrc_at(h) - rest);
}

void wf_headers_sign(struct wf_headers *h, uint8_t *bytes, size_t len)
{
	size_t at = wf_headers_icrc_at(h);

	assert(len == wf_headers_len(h));
	(void)len;
	if (wf_encap_is_control(h->encap))
		return;
	h->icrc = wf_headers_icrc(h, bytes);
	wf_le32_put(bytes + at, h->icrc);
	if (wf_encap_is_eth(h->encap))
		return;
	h->vcrc = wf_crc_vcrc(bytes, at + WF_SIZE_ICRC);
	wf_le16_put(bytes + at + WF_SIZE_ICRC, h->vcrc);
}

static enum wf_reason headers_verify(const struct wf_headers *h, const uint8_t *bytes)
{
	if (h->encap == WF_ENCAP_PFC)
		return WF_REASON_NONE;
	if (h->encap == WF_ENCAP_FCP)
		return h->fcp.lpcrc == wf_fcp_lpcrc(&h->fcp) ? WF_REASON_NONE : WF_REASON_LPCRC;
	if (!wf_encap_is_eth(h->encap) &&
	    h->vcrc != wf_crc_vcrc(bytes, wf_headers_icrc_at(h) + WF_SIZE_ICRC))
		return WF_REASON_VCRC;
	if (h->encap == WF_ENCAP_ROCE2_IPV4 && h->ipv4.checksum != wf_ipv4_checksum(&h->ipv4))
		return WF_REASON_IP_CHECKSUM;
	return h->icrc == wf_headers_icrc(h, bytes) ? WF_REASON_NONE : WF_REASON_ICRC;
}

int wf_headers_verify(const struct wf_headers *h, const uint8_t *bytes, size_t len,
                      enum wf_reason *reason_p)
{
	assert(len == wf_headers_len(h));
	(void)len;
	*reason_p = headers_verify(h, bytes);
	return *reason_p == WF_REASON_NONE ? 0 : -EBADMSG;
}
