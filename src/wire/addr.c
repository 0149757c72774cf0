/* SPDX-License-Identifier: Apache-2.0 */
/* addr.c - addresses of hosts by their number, and what a fabric calls its classes. */
#include "wire/addr.h"

#include <assert.h>
#include <string.h>

#include "wire/byte.h"
#include "wire/ib.h"

#define MAC_PREFIX 0x0200 /* locally administered */
#define IPV4_NET 0x0a000000
#define IPV4_HOSTS 0xfffffe /* without the net's own address and broadcast */
#define UNICAST_LIDS (WF_LID_MULTICAST - 1)
#define HOP_LIMIT 64
#define DSCP_ROCE 26 /* what deployments use for class 3 */

void wf_wire_addr_init(struct wf_wire_addr *addr, uint32_t host)
{
	memset(addr, 0, sizeof(*addr));
	wf_be16_put(addr->mac, MAC_PREFIX);
	wf_be32_put(addr->mac + 2, host);
	addr->ipv4 = IPV4_NET + 1 + host % IPV4_HOSTS;
	addr->lid = (uint16_t)(1 + host % UNICAST_LIDS);
	/* EUI-64: ff:fe in the middle of the MAC, and the local bit inverted. */
	addr->gid[0] = 0xfe;
	addr->gid[1] = 0x80;
	memcpy(addr->gid + 8, addr->mac, 3);
	addr->gid[8] ^= 0x02;
	addr->gid[11] = 0xff;
	addr->gid[12] = 0xfe;
	memcpy(addr->gid + 13, addr->mac + 3, 3);
}

uint32_t wf_wire_addr_host_ipv4(uint32_t ipv4)
{
	uint32_t host = ipv4 - IPV4_NET - 1;

	return host < IPV4_HOSTS ? host : WF_WIRE_HOST_NONE;
}

uint32_t wf_wire_addr_host_gid(const uint8_t *gid)
{
	uint32_t host = (uint32_t)gid[10] << 24 | wf_be24_get(gid + 13);
	struct wf_wire_addr addr;

	wf_wire_addr_init(&addr, host);
	return memcmp(addr.gid, gid, WF_GID_LEN) == 0 ? host : WF_WIRE_HOST_NONE;
}

uint32_t wf_wire_addr_host_lid(uint16_t lid)
{
	return lid >= 1 && lid <= UNICAST_LIDS ? lid - 1u : WF_WIRE_HOST_NONE;
}

uint8_t wf_wire_dscp(unsigned cls)
{
	if (cls == 3)
		return DSCP_ROCE;
	return (uint8_t)(cls < 8 ? 8 * cls : 2 * cls + 1);
}

void wf_wire_conf_init(struct wf_wire_conf *conf, enum wf_encap encap)
{
	assert(encap < WF_ENCAPS && !wf_encap_is_control(encap));
	*conf = (struct wf_wire_conf){ .encap = encap, .hop_limit = HOP_LIMIT };
	for (uint8_t i = 0; i < WF_WIRE_CLASSES; i++) {
		conf->dscp[i] = wf_wire_dscp(i);
		conf->dscp_trim[i] = (uint8_t)(i < 8 ? 8 * i + 4 : 2 * i + 17);
		conf->vl[i] = i % 8;
	}
}

static int find_dscp(const uint8_t table[WF_WIRE_CLASSES], uint8_t dscp)
{
	for (int i = 0; i < WF_WIRE_CLASSES; i++)
		if (table[i] == dscp)
			return i;
	return -1;
}

int wf_wire_conf_class(const struct wf_wire_conf *conf, uint8_t dscp)
{
	return find_dscp(conf->dscp, dscp);
}

int wf_wire_conf_trimmed(const struct wf_wire_conf *conf, uint8_t dscp)
{
	return find_dscp(conf->dscp_trim, dscp);
}

/* An EUI-64 of weft's locally administered number, with bit 1 turned, and 24 bits of its own. */
#define GUID_OUI (((uint64_t)WF_WIRE_VENDOR ^ UINT64_C(0x020000)) << 40 | UINT64_C(0xfffe) << 24)
#define GUID_SWITCH UINT64_C(0x800000)

uint64_t wf_wire_guid_host(uint32_t host)
{
	return GUID_OUI | ((uint64_t)host + 1);
}

uint64_t wf_wire_guid_switch(uint32_t node)
{
	return GUID_OUI | GUID_SWITCH | node;
}
