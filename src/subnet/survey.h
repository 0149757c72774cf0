/* SPDX-License-Identifier: Apache-2.0 */
/*
 * survey.h - what forwarding tables come to: how far it is, and what links carry when every
 * adapter's port sends to every other, or each to one.
 *
 * A path is from one port of an adapter (or router) to another's first LID; its hops are the
 * switches that it passes, 1 between two ports of one switch. Links are those between switches,
 * each direction by itself: those to adapters carry the same under any routing.
 */
#ifndef WF_SUBNET_SURVEY_H
#define WF_SUBNET_SURVEY_H

#include "subnet/tables.h"

#define WF_SURVEY_HOPS 64 /* longer paths count as such */

struct wf_survey {
	struct wf_mem *mem;
	uint32_t n_ends;                   /* adapters' ports with a LID, at a switch */
	uint64_t pairs;                    /* of different ones, in order */
	uint64_t reached;                  /* pairs with a path */
	uint64_t loops;                    /* pairs whose path comes by a switch twice */
	uint64_t hops[WF_SURVEY_HOPS + 1]; /* pairs by switches passed */
	uint64_t *load;     /* by index into the subnet's ports: paths that leave by it */
	uint64_t links;     /* directions of links between switches */
	uint64_t idle;      /* those of them that no path uses */
	uint64_t most, sum; /* of their loads */
	uint32_t busiest;   /* the first with most: index into ports; WF_SUBNET_NONE: no link */
};

/*
 * Every adapter's port to every other. On success survey is undone by wf_survey_fini(). 0 or
 * -ENOMEM.
 */
int wf_survey_all(const struct wf_subnet *subnet, const struct wf_tables *tables,
                  struct wf_survey *survey) WF_MUST_USE;
void wf_survey_fini(struct wf_survey *survey);

/*
 * A random permutation: each adapter's port sends to one, and gets from one. A flow has the share
 * of its path's busiest link, where each of n flows has 1/n.
 */
struct wf_permutation {
	uint32_t flows;     /* those that go between switches, and have a path */
	uint32_t most;      /* flows on one link */
	uint64_t share_sum; /* of all flows, also those within a switch, in units of 2^-32 */
	uint32_t all;       /* flows with a path */
	uint64_t share_min;
};

/* n_seeds of them, of seeds first, first + 1, ... Returns 0 or -ENOMEM. */
int wf_survey_permute(const struct wf_subnet *subnet, const struct wf_tables *tables,
                      uint64_t first, unsigned n_seeds,
                      struct wf_permutation *permutations) WF_MUST_USE;

/*
 * The path from one port (index) of an adapter or switch to a LID: calls step for each port by
 * which a packet leaves, the first of all included. Returns the switches passed; -1: it ends
 * before, or at something else; -2: it comes to a switch for the second time.
 */
int wf_survey_path(const struct wf_subnet *subnet, const struct wf_tables *tables, uint32_t from,
                   unsigned lid, void (*step)(void *arg, uint32_t port), void *arg);

#endif
