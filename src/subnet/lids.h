/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lids.h - giving LIDs to the ports of a subnet, as OpenSM does: the lowest that are free, in the
 * order in which they are asked for.
 */
#ifndef WF_SUBNET_LIDS_H
#define WF_SUBNET_LIDS_H

#include "subnet/subnet.h"

#define WF_LIDS_WORDS ((WF_LID_MAX + 64) / 64)

/* Who has which LID is in the subnet; private. */
struct wf_lids {
	struct wf_subnet *subnet;
	unsigned from[WF_SUBNET_MAX_LMC + 1]; /* by LMC: there is no room below */
	uint64_t away[WF_LIDS_WORDS];         /* LIDs that are not given, though no port has them */
};

/* Starts to give LIDs; borrows subnet. */
void wf_lids_init(struct wf_lids *lids, struct wf_subnet *subnet);

/* 2^lmc LIDs from lid on, all up to WF_LID_MAX, are not to be given. */
void wf_lids_keep(struct wf_lids *lids, unsigned lid, unsigned lmc);

/* Whether 2^lmc LIDs from lid on are free, and lid is one that a port with that LMC may have. */
bool wf_lids_fit(const struct wf_lids *lids, unsigned lid, unsigned lmc);

/*
 * Gives the port, an index, the first 2^lmc that are free. Returns 0, or -ENOSPC when there are
 * none.
 */
int wf_lids_give(struct wf_lids *lids, uint32_t index, unsigned lmc) WF_MUST_USE;

#endif
