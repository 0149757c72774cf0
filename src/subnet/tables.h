/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.h - the forwarding tables of a subnet's switches: linear ones (LFT), the service level of
 * each path where a routing needs several virtual lanes, and multicast ones (MFT).
 */
#ifndef WF_SUBNET_TABLES_H
#define WF_SUBNET_TABLES_H

#include "subnet/subnet.h"

#define WF_LFT_NONE 255 /* no port leads to a LID */
#define WF_TABLES_NOTE 200

/*
 * Entries are by switch (struct wf_subnet_node's sw) and LID. Service levels are those of what is
 * connected to a switch, hosts and the switch itself: all take the same way from there on.
 */
struct wf_tables {
	struct wf_mem *mem;
	uint32_t n_switches;
	uint32_t n_lids;           /* LIDs 0 to n_lids - 1 */
	uint8_t *lft;              /* [sw * n_lids + lid]: port, or WF_LFT_NONE */
	uint8_t *sl;               /* [sw * n_lids + lid]; NULL: 0 for all */
	uint32_t *rank;            /* by switch, 0 highest: ways go up, then down; NULL: any way */
	unsigned n_vls;            /* virtual lanes that are used; SL i goes by VL i */
	const char *engine;        /* whose they are: "ftree"; "" where a file had them */
	bool no_credit_loop;       /* that engine promises there is none */
	char note[WF_TABLES_NOTE]; /* what else is to be said: why another was taken; "": nothing */
};

/* Tables without an entry, for all LIDs of the subnet. *tables_p is owned. Returns 0 or -ENOMEM. */
int wf_tables_create(const struct wf_subnet *subnet, struct wf_tables **tables_p) WF_MUST_USE;

/* Frees them. NULL is allowed. */
void wf_tables_destroy(struct wf_tables *tables);

/* Makes room for service levels, all 0. Returns 0 or -ENOMEM. */
int wf_tables_want_sl(struct wf_tables *tables) WF_MUST_USE;

static inline uint8_t *wf_tables_row(const struct wf_tables *tables, uint32_t sw)
{
	return tables->lft + (size_t)sw * tables->n_lids;
}

/* The port by which a switch sends to a LID: 0 is itself, WF_LFT_NONE none. */
static inline uint8_t wf_tables_port(const struct wf_tables *tables, uint32_t sw, unsigned lid)
{
	return lid >= tables->n_lids ? WF_LFT_NONE : wf_tables_row(tables, sw)[lid];
}

/* The service level from what is connected to a switch to a LID. */
static inline uint8_t wf_tables_sl(const struct wf_tables *tables, uint32_t sw, unsigned lid)
{
	return tables->sl == NULL || lid >= tables->n_lids
	               ? 0
	               : tables->sl[(size_t)sw * tables->n_lids + lid];
}

#endif
