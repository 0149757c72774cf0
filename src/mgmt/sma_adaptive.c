/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sma_adaptive.c - adaptive routing, by attributes of weft's own (wire/smp.h): groups of ports, and
 * which group each LID has. A switch that cannot says that there are no such attributes.
 */
#include <string.h>

#include "mgmt/sma_priv.h"

#define LIDS_STEP 4096 /* bytes by which the table of LIDs grows */

unsigned wf_sma_adaptive_info(struct wf_sma *sma, unsigned end, uint32_t modifier, bool set,
                              uint8_t *data, wf_time now)
{
	struct wf_adaptive_info asked;

	(void)end, (void)now;
	if (sma->adaptive.group_cap == 0)
		return WF_MAD_BAD_ATTRIBUTE;
	if (modifier != 0)
		return WF_MAD_INVALID_FIELD;
	if (set) {
		wf_adaptive_info_decode(data, &asked);
		sma->adaptive.enabled = asked.enabled;
		wf_sma_changed(sma, 0, WF_SMA_ADAPTIVE);
	}
	wf_adaptive_info_encode(&sma->adaptive, data);
	return WF_MAD_OK;
}

/* Only ports that there are, without the switch's own. */
static bool are_ports(const struct wf_sma *sma, const uint64_t ports[WF_GROUP_WORDS])
{
	for (unsigned w = 0; w < WF_GROUP_WORDS; w++) {
		for (uint64_t bits = ports[w]; bits != 0; bits &= bits - 1) {
			unsigned port = w * 64 + (unsigned)__builtin_ctzll(bits);

			if (port == 0 || port > sma->n_ports)
				return false;
		}
	}
	return true;
}

/* The last block may have room for a group that there is not: it has no port. */
static bool are_groups(const struct wf_sma *sma, unsigned first,
                       const struct wf_adaptive_groups *table)
{
	for (unsigned i = 0; i < WF_GROUPS_PER_BLOCK; i++) {
		const uint64_t *ports = table->ports + (size_t)i * WF_GROUP_WORDS;
		uint64_t any = 0;

		for (unsigned w = 0; w < WF_GROUP_WORDS; w++)
			any |= ports[w];
		if (!are_ports(sma, ports) || (any != 0 && first + i >= sma->adaptive.group_cap))
			return false;
	}
	return true;
}

unsigned wf_sma_adaptive_groups(struct wf_sma *sma, unsigned end, uint32_t modifier, bool set,
                                uint8_t *data, wf_time now)
{
	unsigned cap = sma->adaptive.group_cap, first = modifier * WF_GROUPS_PER_BLOCK;
	struct wf_adaptive_groups table = { .ports = { 0 } };

	(void)end, (void)now;
	if (cap == 0)
		return WF_MAD_BAD_ATTRIBUTE;
	if (modifier > WF_GROUPS_MAX || first >= cap)
		return WF_MAD_INVALID_FIELD;
	if (set) {
		wf_adaptive_groups_decode(data, &table);
		if (!are_groups(sma, first, &table))
			return WF_MAD_INVALID_FIELD;
		if (sma->groups == NULL)
			sma->groups = sma->mem->alloc(sma->mem, cap * sizeof(*sma->groups));
		if (sma->groups == NULL)
			return WF_MAD_BUSY;
	}
	for (unsigned i = 0; i < WF_GROUPS_PER_BLOCK && first + i < cap; i++) {
		uint64_t *ports = table.ports + (size_t)i * WF_GROUP_WORDS;

		if (set)
			memcpy(sma->groups[first + i], ports, sizeof(*sma->groups));
		else if (sma->groups != NULL)
			memcpy(ports, sma->groups[first + i], sizeof(*sma->groups));
	}
	wf_adaptive_groups_encode(&table, data);
	if (set)
		wf_sma_changed(sma, 0, WF_SMA_ADAPTIVE);
	return WF_MAD_OK;
}

/* Room for LIDs below n. Without memory it stays as it was, and returns false. */
static bool lids_grow(struct wf_sma *sma, uint32_t n)
{
	uint32_t size = (n + LIDS_STEP - 1) / LIDS_STEP * LIDS_STEP;
	uint8_t *group_of;

	if (n <= sma->group_lids)
		return true;
	group_of = sma->mem->alloc(sma->mem, size);
	if (group_of == NULL)
		return false;
	if (sma->group_lids > 0)
		memcpy(group_of, sma->group_of, sma->group_lids);
	sma->mem->free(sma->mem, sma->group_of);
	sma->group_of = group_of;
	sma->group_lids = size;
	return true;
}

unsigned wf_sma_adaptive_lids(struct wf_sma *sma, unsigned end, uint32_t modifier, bool set,
                              uint8_t *data, wf_time now)
{
	uint32_t first = modifier * WF_LFT_PER_BLOCK;
	struct wf_adaptive_lids table = { .group = { 0 } };

	(void)end, (void)now;
	if (sma->adaptive.group_cap == 0)
		return WF_MAD_BAD_ATTRIBUTE;
	if (modifier > UINT16_MAX || first >= sma->sw.linear_fdb_cap)
		return WF_MAD_INVALID_FIELD;
	if (set) {
		wf_adaptive_lids_decode(data, &table);
		for (unsigned i = 0; i < WF_LFT_PER_BLOCK; i++)
			if (table.group[i] > sma->adaptive.group_cap)
				return WF_MAD_INVALID_FIELD;
		if (!lids_grow(sma, first + WF_LFT_PER_BLOCK))
			return WF_MAD_BUSY;
		memcpy(sma->group_of + first, table.group, sizeof(table.group));
		wf_sma_changed(sma, 0, WF_SMA_ADAPTIVE);
	} else if (first < sma->group_lids) {
		memcpy(table.group, sma->group_of + first, sizeof(table.group));
	}
	wf_adaptive_lids_encode(&table, data);
	return WF_MAD_OK;
}

void wf_sma_adaptive(const struct wf_sma *sma, struct wf_sma_adaptive *adaptive)
{
	*adaptive = (struct wf_sma_adaptive){
		.enabled = sma->adaptive.enabled,
		.group_of = sma->group_of,
		.n_lids = sma->group_lids,
		.ports = (const uint64_t(*)[WF_GROUP_WORDS])sma->groups,
		.n_groups = sma->groups != NULL ? sma->adaptive.group_cap : 0,
	};
}
