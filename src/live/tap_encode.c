/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tap_encode.c - from a tap's entry to the bytes of the wire.
 *
 * Hosts of a live fabric have the addresses of its table. On RoCE that is IPv4, as in the header
 * that comes with a datagram (RoCE v1: the link-local GID), and for groups what their GID is made
 * from; on InfiniBand the LID,
 * and for groups a GRH besides.
 */
#include <errno.h>

#include "live/tap.h"
#include "wire/byte.h"
#include "wire/ib.h"
#include "wire/opcode.h"
#include "wire/packet_codec.h"

static int host_addr(const struct wf_live_table *t, uint32_t host, struct wf_wire_addr *addr)
{
	/* Where ports are managed, packets may go to LIDs that are nobody's. */
	if (host == t->n_hosts && t->managed != 0) {
		*addr = (struct wf_wire_addr){ .lid = 0 };
		return 0;
	}
	if (host >= t->n_hosts)
		return -EINVAL;
	*addr = (struct wf_wire_addr){ .lid = t->host[host].lid, .ipv4 = t->host[host].ipv4 };
	memcpy(addr->mac, t->host[host].mac, sizeof(addr->mac));
	(void)wf_live_gid(t, host, 0, addr->gid);
	return 0;
}

/*
 * A multicast group: its number says its LID where nobody manages ports, its GID the rest. Returns
 * how such packets are wrapped.
 */
static enum wf_encap group_addr(const struct wf_live_table *t, uint32_t number, bool roce1,
                                const uint8_t gid[WF_GID_LEN], struct wf_wire_addr *addr)
{
	*addr = (struct wf_wire_addr){
		.lid = wf_lid_multicast(number),
		.ipv4 = wf_be32_get(gid + 12),
	};
	memcpy(addr->gid, gid, WF_GID_LEN);
	if (t->layer == WF_LIVE_IB)
		return WF_ENCAP_IB_GRH;
	if (gid[0] == 0xff || roce1) {
		wf_be16_put(addr->mac, 0x3333);
		memcpy(addr->mac + 2, gid + 12, 4);
		return roce1 ? WF_ENCAP_ROCE1 : WF_ENCAP_ROCE2_IPV6;
	}
	wf_be24_put(addr->mac, 0x01005e);
	wf_be24_put(addr->mac + 3, addr->ipv4 & 0x7fffff);
	return WF_ENCAP_ROCE2_IPV4;
}

/*
 * Whom it is from and to, and how it is wrapped. The host at this end is the one whose tap it is.
 */
static int ends(const struct wf_live_table *t, uint32_t host, const struct wf_tap_entry *e,
                struct wf_wire_addr *src, struct wf_wire_addr *dst, enum wf_encap *encap_p)
{
	struct wf_wire_addr *near = e->note.sent ? src : dst, *far = e->note.sent ? dst : src;
	uint32_t other = e->note.sent ? e->pkt.dst : e->pkt.src;
	int ret = host_addr(t, host, near);
	bool roce1 = wf_packet_is_roce1(&e->pkt) && !e->note.outside;

	*encap_p = t->layer == WF_LIVE_IB ? WF_ENCAP_IB
	           : roce1                ? WF_ENCAP_ROCE1
	                                  : WF_ENCAP_ROCE2_IPV4;
	if (e->note.outside) {
		*far = (struct wf_wire_addr){ .ipv4 = wf_be32_get(e->note.group + 12) };
		memcpy(far->gid, e->note.group, sizeof(far->gid));
		(void)wf_live_gid(t, host, wf_live_source(far->gid), near->gid);
		if (!wf_live_is_ipv4(far->gid))
			*encap_p = WF_ENCAP_ROCE2_IPV6;
	} else if (ret == 0 && !(e->note.multicast && e->note.sent)) {
		ret = host_addr(t, other, far);
	}
	if (e->note.multicast)
		*encap_p = group_addr(t, e->pkt.dst, roce1, e->note.group, dst);
	if (t->managed != 0)
		dst->lid = e->pkt.entropy;
	return ret;
}

/* Not all of the payload is there: what comes behind it is not known, and not worth a checksum. */
static int encode_cut(const struct wf_headers *h, const struct wf_tap_entry *e, uint8_t *buf,
                      size_t *have_p, size_t *len_p)
{
	uint8_t payload[WF_RING_PAYLOAD] = { 0 };

	memcpy(payload, e->payload, e->bytes);
	*have_p = h->payload_at + (size_t)e->bytes;
	return wf_headers_encode(h, payload, buf, WF_PACKET_BYTES_MAX, len_p);
}

int wf_tap_encode(const struct wf_live_table *table, uint32_t host,
                  const struct wf_tap_entry *entry, uint8_t *buf, size_t *have_p, size_t *len_p)
{
	struct wf_packet p = entry->pkt;
	struct wf_wire_addr src, dst;
	struct wf_wire_conf conf;
	struct wf_headers h;
	enum wf_encap encap;
	int ret;

	if (ends(table, host, entry, &src, &dst, &encap) != 0)
		return -EINVAL;
	wf_wire_conf_init(&conf, encap);
	conf.vlan = wf_encap_is_tagged(encap);
	if (entry->note.multicast)
		conf.hop_limit = 1;
	p.type = WF_PACKET_RDMA;
	p.vl = conf.vl[p.cls % WF_WIRE_CLASSES] & WF_PACKET_VL;
	ret = wf_packet_to_headers(&p, &conf, &src, &dst, &h);
	if (ret != 0)
		return ret;
	if (entry->bytes < h.payload_len)
		return encode_cut(&h, entry, buf, have_p, len_p);
	ret = wf_packet_encode(&p, &conf, &src, &dst, entry->payload, buf, WF_PACKET_BYTES_MAX,
	                       len_p);
	*have_p = *len_p;
	return ret;
}
