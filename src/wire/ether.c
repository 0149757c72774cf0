/* SPDX-License-Identifier: Apache-2.0 */
/* ether.c - Ethernet, VLAN, IP, UDP and PFC, byte by byte. */
#include "wire/ether.h"

#include <assert.h>
#include <string.h>

#include "wire/byte.h"

const uint8_t wf_pfc_dst[WF_MAC_LEN] = { 0x01, 0x80, 0xc2, 0x00, 0x00, 0x01 };

void wf_eth_encode(const struct wf_eth *eth, uint8_t *p)
{
	memcpy(p, eth->dst, WF_MAC_LEN);
	memcpy(p + 6, eth->src, WF_MAC_LEN);
	wf_be16_put(p + 12, eth->type);
}

void wf_eth_decode(const uint8_t *p, struct wf_eth *eth_p)
{
	memcpy(eth_p->dst, p, WF_MAC_LEN);
	memcpy(eth_p->src, p + 6, WF_MAC_LEN);
	eth_p->type = wf_be16_get(p + 12);
}

void wf_vlan_encode(const struct wf_vlan *vlan, uint8_t *p)
{
	assert(vlan->pcp <= 7 && vlan->vid <= 0xfff);
	wf_be16_put(p, (uint16_t)(vlan->pcp << 13 | vlan->dei << 12 | (vlan->vid & 0xfff)));
	wf_be16_put(p + 2, vlan->type);
}

void wf_vlan_decode(const uint8_t *p, struct wf_vlan *vlan_p)
{
	vlan_p->pcp = p[0] >> 5;
	vlan_p->dei = p[0] >> 4 & 1;
	vlan_p->vid = wf_be16_get(p) & 0xfff;
	vlan_p->type = wf_be16_get(p + 2);
}

void wf_ipv4_encode(const struct wf_ipv4 *ip, uint8_t *p)
{
	assert(ip->version <= 0xf && ip->ihl <= 0xf && ip->dscp <= 63 && ip->ecn <= 3);
	p[0] = (uint8_t)(ip->version << 4 | (ip->ihl & 0xf));
	p[1] = (uint8_t)(ip->dscp << 2 | (ip->ecn & 3));
	wf_be16_put(p + 2, ip->length);
	wf_be16_put(p + 4, ip->id);
	wf_be16_put(p + 6, ip->frag);
	p[8] = ip->ttl;
	p[9] = ip->proto;
	wf_be16_put(p + 10, ip->checksum);
	wf_be32_put(p + 12, ip->src);
	wf_be32_put(p + 16, ip->dst);
}

void wf_ipv4_decode(const uint8_t *p, struct wf_ipv4 *ip_p)
{
	*ip_p = (struct wf_ipv4){
		.version = p[0] >> 4,
		.ihl = p[0] & 0xf,
		.dscp = p[1] >> 2,
		.ecn = p[1] & 3,
		.length = wf_be16_get(p + 2),
		.id = wf_be16_get(p + 4),
		.frag = wf_be16_get(p + 6),
		.ttl = p[8],
		.proto = p[9],
		.checksum = wf_be16_get(p + 10),
		.src = wf_be32_get(p + 12),
		.dst = wf_be32_get(p + 16),
	};
}

uint16_t wf_ipv4_checksum(const struct wf_ipv4 *ip)
{
	struct wf_ipv4 zeroed = *ip;
	uint8_t bytes[WF_IPV4_LEN];
	uint32_t sum = 0;

	zeroed.checksum = 0;
	wf_ipv4_encode(&zeroed, bytes);
	for (size_t i = 0; i < WF_IPV4_LEN; i += 2)
		sum += wf_be16_get(bytes + i);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

void wf_ipv6_encode(const struct wf_ipv6 *ip, uint8_t *p)
{
	assert(ip->version <= 0xf && ip->dscp <= 63 && ip->ecn <= 3 && ip->flow <= 0xfffff);
	wf_be32_put(p, (uint32_t)ip->version << 28 | (uint32_t)(ip->dscp & 0x3f) << 22 |
	                       (uint32_t)(ip->ecn & 3) << 20 | (ip->flow & 0xfffff));
	wf_be16_put(p + 4, ip->length);
	p[6] = ip->next;
	p[7] = ip->hops;
	memcpy(p + 8, ip->src, WF_GID_LEN);
	memcpy(p + 24, ip->dst, WF_GID_LEN);
}

void wf_ipv6_decode(const uint8_t *p, struct wf_ipv6 *ip_p)
{
	uint32_t first = wf_be32_get(p);

	ip_p->version = (uint8_t)(first >> 28);
	ip_p->dscp = first >> 22 & 0x3f;
	ip_p->ecn = first >> 20 & 3;
	ip_p->flow = first & 0xfffff;
	ip_p->length = wf_be16_get(p + 4);
	ip_p->next = p[6];
	ip_p->hops = p[7];
	memcpy(ip_p->src, p + 8, WF_GID_LEN);
	memcpy(ip_p->dst, p + 24, WF_GID_LEN);
}

void wf_udp_encode(const struct wf_udp *udp, uint8_t *p)
{
	wf_be16_put(p, udp->src);
	wf_be16_put(p + 2, udp->dst);
	wf_be16_put(p + 4, udp->length);
	wf_be16_put(p + 6, udp->checksum);
}

void wf_udp_decode(const uint8_t *p, struct wf_udp *udp_p)
{
	udp_p->src = wf_be16_get(p);
	udp_p->dst = wf_be16_get(p + 2);
	udp_p->length = wf_be16_get(p + 4);
	udp_p->checksum = wf_be16_get(p + 6);
}

void wf_pfc_encode(const struct wf_pfc *pfc, uint8_t *p)
{
	memset(p, 0, WF_PFC_LEN);
	wf_be16_put(p, pfc->opcode);
	wf_be16_put(p + 2, pfc->enabled);
	for (size_t i = 0; i < WF_PFC_PRIORITIES; i++)
		wf_be16_put(p + 4 + 2 * i, pfc->quanta[i]);
}

void wf_pfc_decode(const uint8_t *p, struct wf_pfc *pfc_p)
{
	pfc_p->opcode = wf_be16_get(p);
	pfc_p->enabled = wf_be16_get(p + 2);
	for (size_t i = 0; i < WF_PFC_PRIORITIES; i++)
		pfc_p->quanta[i] = wf_be16_get(p + 4 + 2 * i);
}
