/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ana.h - the aggregation agent of a switch: wire/am.h.
 *
 * It keeps the queue pairs and trees that an aggregation manager sets, and says of each tree to the
 * hardware by which ports it goes. A queue pair is an end of a tree's link, at a port. What a MAD
 * asks for and cannot be is refused, and changes nothing.
 */
#ifndef WF_MGMT_ANA_H
#define WF_MGMT_ANA_H

#include "base/base.h"
#include "base/mem.h"
#include "wire/am.h"

struct wf_ana;

#define WF_ANA_NO_PORT 0

/* A tree as it is set now. */
struct wf_ana_tree {
	uint16_t id;
	bool enabled, streams;
	uint8_t up;       /* port to the parent; WF_ANA_NO_PORT: this is the root */
	uint8_t down[32]; /* a bit for each port with a child: port p is bit p % 8 of byte p / 8 */
	uint16_t n_down;
};

struct wf_ana_cfg {
	uint8_t n_ports;
	bool streams;
	uint16_t trees; /* ids from 0 to below this one */
	uint16_t operations;
	/* It is so from now on. */
	void (*tree)(void *arg, const struct wf_ana_tree *tree);
	void *arg;
};

/* Returns 0 or -ENOMEM. arg is borrowed for as long as the agent lives. */
int wf_ana_create(const struct wf_ana_cfg *cfg, struct wf_mem *mem,
                  struct wf_ana **ana_p) WF_MUST_USE;
void wf_ana_destroy(struct wf_ana *ana); /* NULL is allowed */

/* A MAD of class AM. True: its answer stands in its place; false: there is none. */
bool wf_ana_rx(struct wf_ana *ana, uint8_t *mad);

/* A tree as it is set; NULL: it never was. Borrowed, good until the agent is called again. */
const struct wf_ana_tree *wf_ana_tree(const struct wf_ana *ana, uint16_t id);

#endif
