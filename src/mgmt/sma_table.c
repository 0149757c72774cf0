/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sma_table.c - the tables that a subnet manager sets: SwitchInfo, forwarding, partition keys,
 * lanes of service levels, arbitration, GUIDs.
 */
#include "mgmt/sma_priv.h"

#include <string.h>

#include "wire/byte.h"
#include "wire/ib.h"

#define LFT_STEP 4096 /* bytes by which a forwarding table grows */
#define LIFE_TIME_MAX 31

#define SL_TO_VL_ALL_OUT UINT32_C(0x10000) /* modifier: each output port, each input port */
#define SL_TO_VL_ALL_IN UINT32_C(0x20000)

static bool is_multicast_port(const struct wf_sma *sma, uint8_t port)
{
	return port <= sma->n_ports || port == WF_SMA_LFT_NONE;
}

unsigned wf_sma_switch_info(struct wf_sma *sma, unsigned end, uint32_t modifier, bool set,
                            uint8_t *data, wf_time now)
{
	struct wf_switch_info *sw = &sma->sw, asked;
	uint32_t top;

	(void)end, (void)now;
	if (modifier != 0)
		return WF_MAD_INVALID_FIELD;
	if (set) {
		wf_switch_info_decode(data, &asked);
		top = asked.multicast_fdb_top;
		/* 0xbfff: there is none; 0: nobody has set one */
		if (asked.linear_fdb_top >= sw->linear_fdb_cap ||
		    !is_multicast_port(sma, asked.default_multicast_primary_port) ||
		    !is_multicast_port(sma, asked.default_multicast_not_primary_port) ||
		    (top != 0 && (top < WF_LID_MULTICAST - 1U ||
		                  top >= WF_LID_MULTICAST + (uint32_t)sw->multicast_fdb_cap)))
			return WF_MAD_INVALID_FIELD;
		sw->linear_fdb_top = asked.linear_fdb_top;
		sw->default_port = asked.default_port;
		sw->default_multicast_primary_port = asked.default_multicast_primary_port;
		sw->default_multicast_not_primary_port = asked.default_multicast_not_primary_port;
		sw->life_time_value = asked.life_time_value;
		sw->multicast_fdb_top = asked.multicast_fdb_top;
		if (asked.port_state_change) /* written 1, it is cleared */
			sw->port_state_change = false;
		wf_sma_changed(sma, 0, WF_SMA_SWITCH);
	}
	wf_switch_info_encode(sw, data);
	return WF_MAD_OK;
}

/* Room for LIDs below n. Without memory it stays as it was, and returns false. */
static bool lft_grow(struct wf_sma *sma, uint32_t n)
{
	uint32_t size = (n + LFT_STEP - 1) / LFT_STEP * LFT_STEP;
	uint8_t *lft;

	if (n <= sma->lft_size)
		return true;
	lft = sma->mem->alloc(sma->mem, size);
	if (lft == NULL)
		return false;
	memset(lft + sma->lft_size, WF_SMA_LFT_NONE, size - sma->lft_size);
	if (sma->lft_size > 0)
		memcpy(lft, sma->lft, sma->lft_size);
	sma->mem->free(sma->mem, sma->lft);
	sma->lft = lft;
	sma->lft_size = size;
	return true;
}

unsigned wf_sma_linear_ft(struct wf_sma *sma, unsigned end, uint32_t modifier, bool set,
                          uint8_t *data, wf_time now)
{
	uint32_t first = modifier * WF_LFT_PER_BLOCK;

	(void)end, (void)now;
	if (modifier > UINT16_MAX || first >= sma->sw.linear_fdb_cap)
		return WF_MAD_INVALID_FIELD;
	if (set) {
		if (!lft_grow(sma, first + WF_LFT_PER_BLOCK))
			return WF_MAD_BUSY;
		memcpy(sma->lft + first, data, WF_LFT_PER_BLOCK);
		wf_sma_changed(sma, 0, WF_SMA_LFT);
	} else if (first < sma->lft_size) {
		memcpy(data, sma->lft + first, WF_LFT_PER_BLOCK);
	} else {
		memset(data, WF_SMA_LFT_NONE, WF_LFT_PER_BLOCK);
	}
	return WF_MAD_OK;
}

const uint8_t *wf_sma_lft_table(const struct wf_sma *sma, uint32_t *n_p)
{
	*n_p = sma->lft_size;
	return sma->lft;
}

uint8_t wf_sma_lft(const struct wf_sma *sma, uint16_t lid)
{
	return lid <= sma->sw.linear_fdb_top && lid < sma->lft_size ? sma->lft[lid]
	                                                            : WF_SMA_LFT_NONE;
}

/* The place of a block; NULL when there is no memory. */
static uint16_t *mft_block(struct wf_sma *sma, unsigned position, unsigned block)
{
	unsigned n = wf_sma_mft_blocks(sma), at = position * n + block;

	if (sma->mft == NULL)
		sma->mft = sma->mem->alloc(sma->mem,
		                           wf_sma_mft_positions(sma) * n * sizeof(sma->mft[0]));
	if (sma->mft == NULL)
		return NULL;
	if (sma->mft[at] == NULL)
		sma->mft[at] = sma->mem->alloc(sma->mem, sizeof(struct wf_multicast_ft));
	return sma->mft[at];
}

unsigned wf_sma_multicast_ft(struct wf_sma *sma, unsigned end, uint32_t modifier, bool set,
                             uint8_t *data, wf_time now)
{
	unsigned block = modifier & 0x1ff, position = modifier >> 28;
	struct wf_multicast_ft table;
	uint16_t *ports;

	(void)end, (void)now;
	if ((modifier & UINT32_C(0x0ffffe00)) != 0 || block >= wf_sma_mft_blocks(sma) ||
	    position >= wf_sma_mft_positions(sma))
		return WF_MAD_INVALID_FIELD;
	if (set) {
		ports = mft_block(sma, position, block);
		if (ports == NULL)
			return WF_MAD_BUSY;
		wf_multicast_ft_decode(data, &table);
		memcpy(ports, table.ports, sizeof(table.ports));
		wf_sma_changed(sma, 0, WF_SMA_MFT);
		return WF_MAD_OK;
	}
	ports = sma->mft == NULL ? NULL : sma->mft[position * wf_sma_mft_blocks(sma) + block];
	memset(&table, 0, sizeof(table));
	if (ports != NULL)
		memcpy(table.ports, ports, sizeof(table.ports));
	wf_multicast_ft_encode(&table, data);
	return WF_MAD_OK;
}

bool wf_sma_mft(const struct wf_sma *sma, uint16_t mlid, unsigned port)
{
	unsigned n = wf_sma_mft_blocks(sma), number = mlid - WF_LID_MULTICAST;
	const uint16_t *ports;

	if (sma->mft == NULL || mlid < WF_LID_MULTICAST || number >= sma->sw.multicast_fdb_cap ||
	    (sma->sw.multicast_fdb_top != 0 && mlid > sma->sw.multicast_fdb_top))
		return false;
	ports = sma->mft[port / WF_MFT_PORTS_PER_POSITION * n + number / WF_MFT_PER_BLOCK];
	return ports != NULL &&
	       (ports[number % WF_MFT_PER_BLOCK] >> port % WF_MFT_PORTS_PER_POSITION & 1) != 0;
}

void wf_sma_mft_ports(const struct wf_sma *sma, uint16_t mlid, uint64_t ports[4])
{
	unsigned n = wf_sma_mft_blocks(sma), number = mlid - WF_LID_MULTICAST;

	memset(ports, 0, 4 * sizeof(ports[0]));
	if (sma->mft == NULL || mlid < WF_LID_MULTICAST || number >= sma->sw.multicast_fdb_cap ||
	    (sma->sw.multicast_fdb_top != 0 && mlid > sma->sw.multicast_fdb_top))
		return;
	for (unsigned p = 0; p < wf_sma_mft_positions(sma); p++) {
		const uint16_t *row = sma->mft[p * n + number / WF_MFT_PER_BLOCK];

		if (row != NULL)
			ports[p / 4] |= (uint64_t)row[number % WF_MFT_PER_BLOCK] << (p % 4 * 16);
	}
}

uint16_t wf_sma_pkey(const struct wf_sma *sma, unsigned port, unsigned index)
{
	if (index >= wf_sma_pkey_cap(sma, port))
		return 0;
	if (sma->port[port].pkeys != NULL)
		return sma->port[port].pkeys[index];
	return index == 0 && wf_sma_is_end(sma, port) ? 0xffff : 0;
}

bool wf_sma_pkey_ok(const struct wf_sma *sma, unsigned port, uint16_t pkey)
{
	unsigned n = sma->port[port].pkeys == NULL ? 1 : wf_sma_pkey_cap(sma, port);

	if ((pkey & 0x7fff) == 0)
		return false;
	for (unsigned i = 0; i < n; i++) {
		uint16_t own = wf_sma_pkey(sma, port, i);

		if (((own ^ pkey) & 0x7fff) == 0 && ((own | pkey) & 0x8000) != 0)
			return true;
	}
	return false;
}

/* The port of a modifier that has it in the upper half, which adapters do not look at. */
static unsigned upper_port(const struct wf_sma *sma, unsigned end, uint32_t modifier)
{
	return sma->is_switch ? modifier >> 16 : end;
}

unsigned wf_sma_pkey_table(struct wf_sma *sma, unsigned end, uint32_t modifier, bool set,
                           uint8_t *data, wf_time now)
{
	unsigned port = upper_port(sma, end, modifier);
	unsigned first = (modifier & 0xffff) * WF_PKEYS_PER_BLOCK, cap;
	struct wf_pkey_table table = { .pkey = { 0 } };

	(void)now;
	if (!wf_sma_has_port(sma, port) || first >= wf_sma_pkey_cap(sma, port))
		return WF_MAD_INVALID_FIELD;
	cap = wf_sma_pkey_cap(sma, port);
	if (set) {
		struct wf_sma_port *p = &sma->port[port];

		if (p->pkeys == NULL) {
			uint16_t *pkeys = sma->mem->alloc(sma->mem, cap * sizeof(*pkeys));

			if (pkeys == NULL)
				return WF_MAD_BUSY;
			pkeys[0] = wf_sma_pkey(sma, port, 0);
			p->pkeys = pkeys;
		}
		wf_pkey_table_decode(data, &table);
		for (unsigned i = 0; i < WF_PKEYS_PER_BLOCK && first + i < cap; i++)
			p->pkeys[first + i] = table.pkey[i];
		wf_sma_changed(sma, port, WF_SMA_PKEYS);
		memset(&table, 0, sizeof(table));
	}
	for (unsigned i = 0; i < WF_PKEYS_PER_BLOCK && first + i < cap; i++)
		table.pkey[i] = wf_sma_pkey(sma, port, first + i);
	wf_pkey_table_encode(&table, data);
	return WF_MAD_OK;
}

static const uint8_t *sl_to_vl(const struct wf_sma *sma, unsigned in, unsigned out)
{
	const struct wf_sma_port *port = &sma->port[out];

	return port->sl_to_vl_in == NULL ? port->sl_to_vl
	                                 : port->sl_to_vl_in + in * WF_SMA_SL_BYTES;
}

uint8_t wf_sma_vl(const struct wf_sma *sma, unsigned in_port, unsigned out_port, uint8_t sl)
{
	uint8_t byte = sl_to_vl(sma, in_port, out_port)[sl / 2 % WF_SMA_SL_BYTES];

	return sl % 2 == 0 ? byte >> 4 : byte & 0xf;
}

/* Lanes of what comes in by one port, or by all, and leaves by another. */
static bool sl_to_vl_put(struct wf_sma *sma, unsigned in, bool all_in, unsigned out,
                         const uint8_t *data)
{
	struct wf_sma_port *port = &sma->port[out];

	if (all_in) {
		sma->mem->free(sma->mem, port->sl_to_vl_in);
		port->sl_to_vl_in = NULL;
		memcpy(port->sl_to_vl, data, WF_SMA_SL_BYTES);
	} else if (memcmp(sl_to_vl(sma, in, out), data, WF_SMA_SL_BYTES) != 0) {
		if (port->sl_to_vl_in == NULL) {
			port->sl_to_vl_in =
				sma->mem->alloc(sma->mem, (sma->n_ports + 1U) * WF_SMA_SL_BYTES);
			if (port->sl_to_vl_in == NULL)
				return false;
			for (unsigned i = 0; i <= sma->n_ports; i++)
				memcpy(port->sl_to_vl_in + i * WF_SMA_SL_BYTES, port->sl_to_vl,
				       WF_SMA_SL_BYTES);
		}
		memcpy(port->sl_to_vl_in + in * WF_SMA_SL_BYTES, data, WF_SMA_SL_BYTES);
	}
	wf_sma_changed(sma, out, WF_SMA_SL_TO_VL);
	return true;
}

unsigned wf_sma_sl_to_vl_table(struct wf_sma *sma, unsigned end, uint32_t modifier, bool set,
                               uint8_t *data, wf_time now)
{
	bool all_in = !sma->is_switch || (modifier & SL_TO_VL_ALL_IN) != 0;
	bool all_out = sma->is_switch && (modifier & SL_TO_VL_ALL_OUT) != 0;
	unsigned in = sma->is_switch ? modifier >> 8 & 0xff : 0;
	unsigned out = sma->is_switch ? modifier & 0xff : end;

	(void)now;
	/* all at once is for setting */
	if (sma->is_switch && ((modifier >> 18) != 0 || (!set && (all_in || all_out)) ||
	                       in > sma->n_ports || out > sma->n_ports))
		return WF_MAD_INVALID_FIELD;
	if (set && all_out) {
		for (out = 0; out <= sma->n_ports; out++)
			if (!sl_to_vl_put(sma, in, all_in, out, data))
				return WF_MAD_BUSY;
		return WF_MAD_OK;
	}
	if (set && !sl_to_vl_put(sma, in, all_in, out, data))
		return WF_MAD_BUSY;
	memcpy(data, sl_to_vl(sma, in, out), WF_SMA_SL_BYTES);
	return WF_MAD_OK;
}

struct wf_vl_arb_entry wf_sma_vl_arb(const struct wf_sma *sma, unsigned port, bool high,
                                     unsigned index)
{
	const uint8_t *p = sma->port[port].vl_arb;

	if (p == NULL || index >= sma->vl_arb_cap)
		return (struct wf_vl_arb_entry){ .vl = 0 };
	p += (index + (high ? sma->vl_arb_cap : 0U)) * 2;
	return (struct wf_vl_arb_entry){ .vl = p[0], .weight = p[1] };
}

unsigned wf_sma_vl_arb_table(struct wf_sma *sma, unsigned end, uint32_t modifier, bool set,
                             uint8_t *data, wf_time now)
{
	unsigned port = sma->is_switch ? modifier & 0xffff : end, half = modifier >> 16;
	unsigned first = half % 2 == 0 ? WF_VL_ARB_PER_BLOCK : 0;
	bool high = half > 2;
	struct wf_vl_arb table;

	(void)now;
	if (!wf_sma_has_port(sma, port) || half < 1 || half > 4 || first >= sma->vl_arb_cap)
		return WF_MAD_INVALID_FIELD;
	if (set) {
		struct wf_sma_port *p = &sma->port[port];

		if (p->vl_arb == NULL)
			p->vl_arb = sma->mem->alloc(sma->mem, sma->vl_arb_cap * 4U);
		if (p->vl_arb == NULL)
			return WF_MAD_BUSY;
		wf_vl_arb_decode(data, &table);
		for (unsigned i = 0; i < WF_VL_ARB_PER_BLOCK && first + i < sma->vl_arb_cap; i++) {
			uint8_t *e = p->vl_arb + (first + i + (high ? sma->vl_arb_cap : 0U)) * 2;

			e[0] = table.entry[i].vl;
			e[1] = table.entry[i].weight;
		}
		wf_sma_changed(sma, port, WF_SMA_VL_ARB);
	}
	for (unsigned i = 0; i < WF_VL_ARB_PER_BLOCK; i++)
		table.entry[i] = wf_sma_vl_arb(sma, port, high, first + i);
	wf_vl_arb_encode(&table, data);
	return WF_MAD_OK;
}

uint64_t wf_sma_guid(const struct wf_sma *sma, unsigned port, unsigned index)
{
	if (index == 0)
		return sma->port_guid + (sma->is_switch ? 0 : (port - 1U) * sma->guid_step);
	if (index >= sma->guid_blocks * WF_GUIDS_PER_BLOCK || sma->port[port].guids == NULL)
		return 0;
	return sma->port[port].guids[index];
}

unsigned wf_sma_guid_info(struct wf_sma *sma, unsigned end, uint32_t modifier, bool set,
                          uint8_t *data, wf_time now)
{
	unsigned first = modifier * WF_GUIDS_PER_BLOCK;
	struct wf_sma_port *port = &sma->port[end];
	struct wf_guid_info info;

	(void)now;
	if (modifier >= sma->guid_blocks)
		return WF_MAD_INVALID_FIELD;
	if (set) {
		if (port->guids == NULL)
			port->guids =
				sma->mem->alloc(sma->mem, sma->guid_blocks * WF_GUIDS_PER_BLOCK *
			                                          sizeof(port->guids[0]));
		if (port->guids == NULL)
			return WF_MAD_BUSY;
		wf_guid_info_decode(data, &info);
		memcpy(port->guids + first, info.guid, sizeof(info.guid));
		wf_sma_changed(sma, end, WF_SMA_GUIDS);
	}
	for (unsigned i = 0; i < WF_GUIDS_PER_BLOCK; i++)
		info.guid[i] = wf_sma_guid(sma, end, first + i);
	wf_guid_info_encode(&info, data);
	return WF_MAD_OK;
}
