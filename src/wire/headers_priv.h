/* SPDX-License-Identifier: Apache-2.0 */
/*
 * headers_priv.h - what the files of struct wf_headers share: where things are in a packet.
 */
#ifndef WF_WIRE_HEADERS_PRIV_H
#define WF_WIRE_HEADERS_PRIV_H

#include "wire/headers.h"
#include "wire/opcode.h"

/* Offset of the ICRC: the end of payload and pad. */
static inline size_t wf_headers_icrc_at(const struct wf_headers *h)
{
	return (size_t)h->payload_at + h->payload_len + h->bth.pad;
}

/* Offset of the IP header or GRH. */
static inline size_t wf_headers_ip_at(const struct wf_headers *h)
{
	if (h->encap == WF_ENCAP_IB_GRH)
		return WF_LRH_LEN;
	return WF_ETH_LEN + (h->has_vlan ? WF_VLAN_LEN : 0);
}

#endif
