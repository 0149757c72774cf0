/* SPDX-License-Identifier: Apache-2.0 */
/* size.c - packet sizes, from one row per encapsulation. */
#include "wire/size.h"

#include <assert.h>

#include "wire/opcode.h"

#define ROCE2(ip_len) (WF_ETH_LEN + (ip_len) + WF_UDP_LEN)
#define ETH_END (WF_SIZE_ICRC + WF_SIZE_FCS)
#define IB_END (WF_SIZE_ICRC + WF_SIZE_VCRC)

/* Bytes before the BTH without VLAN tag, bytes after the pad. */
static const struct {
	uint8_t before;
	uint8_t after;
} encap_table[] = {
	[WF_ENCAP_ROCE2_IPV4] = { ROCE2(WF_IPV4_LEN), ETH_END },
	[WF_ENCAP_ROCE2_IPV6] = { ROCE2(WF_IPV6_LEN), ETH_END },
	[WF_ENCAP_ROCE1] = { WF_ETH_LEN + WF_GRH_LEN, ETH_END },
	[WF_ENCAP_IB] = { WF_LRH_LEN, IB_END },
	[WF_ENCAP_IB_GRH] = { WF_LRH_LEN + WF_GRH_LEN, IB_END },
	[WF_ENCAP_PFC] = { WF_SIZE_PFC - WF_SIZE_FCS, WF_SIZE_FCS },
	[WF_ENCAP_FCP] = { WF_FCP_LEN, 0 },
};

_Static_assert(WF_ARRAY_SIZE(encap_table) == WF_ENCAPS, "a row for every encapsulation");

uint16_t wf_size_link_header(enum wf_encap encap, bool vlan)
{
	bool tag = vlan && wf_encap_is_eth(encap) && !wf_encap_is_control(encap);

	assert(encap < WF_ENCAPS);
	return (uint16_t)(encap_table[encap].before + (tag ? WF_VLAN_LEN : 0));
}

uint16_t wf_size_around(enum wf_encap encap, bool vlan)
{
	return (uint16_t)(wf_size_link_header(encap, vlan) + encap_table[encap].after);
}

uint16_t wf_size_overhead(enum wf_encap encap, bool vlan, uint8_t opcode)
{
	uint8_t transport = wf_encap_is_control(encap) ? 0 : wf_op_header_len(opcode);

	return (uint16_t)(wf_size_around(encap, vlan) + transport);
}

uint16_t wf_size_overhead_max(enum wf_encap encap, bool vlan)
{
	uint8_t most = 0;

	for (unsigned i = 0; i < WF_OPCODES; i++) {
		uint8_t op = (uint8_t)i;

		if (wf_op_has_payload(op) && !wf_op_is_rd(op) && wf_op_header_len(op) > most)
			most = wf_op_header_len(op);
	}
	if (wf_encap_is_control(encap))
		most = 0;
	return (uint16_t)(wf_size_around(encap, vlan) + most);
}

uint16_t wf_size_packet(enum wf_encap encap, bool vlan, uint8_t opcode, uint16_t length)
{
	uint32_t size = wf_size_overhead(encap, vlan, opcode);

	if (wf_encap_is_control(encap))
		return (uint16_t)size;
	size += length + wf_size_pad(length);
	if (wf_encap_is_eth(encap) && size < WF_SIZE_ETH_MIN)
		size = WF_SIZE_ETH_MIN;
	assert(size <= UINT16_MAX);
	return (uint16_t)size;
}
