/* SPDX-License-Identifier: Apache-2.0 */
/*
 * am.h - an aggregation manager: sets trees for reductions up in switches, by management packets.
 *
 * What trees there are is decided elsewhere; it is given each switch's place in each, and does, one
 * step after the other, each over before the next begins:
 *
 *	Get(Node)        of each switch: what it can do
 *	Set(QueuePair)   an end of each link of each tree
 *	Set(Tree)        of each place: parent and children (WF_AM_ADD: more of them)
 *
 * A queue pair's number has the tree's in its upper 16 bits and the port's in its lower 8: weft's
 * choice. What is not answered is sent again; what is given up, or refused, is the end of its
 * tree. Sans I/O: MADs in and out, and when it is to be called again.
 */
#ifndef WF_MGMT_AM_H
#define WF_MGMT_AM_H

#include "base/base.h"
#include "base/mem.h"
#include "wire/mad.h"

struct wf_am;

/* The other end of a tree's link, at a port of a switch. */
struct wf_am_link {
	uint16_t lid;
	uint8_t port, peer_port;
};

/* A switch's place in a tree. */
struct wf_am_place {
	uint16_t tree;
	uint16_t lid; /* the switch's */
	bool streams;
	bool root;         /* it has no parent; else the first link leads there */
	uint32_t first, n; /* its links */
	bool again;        /* an earlier place is in the same switch */
	bool failed;       /* out: it could not be set up */
	uint16_t written;  /* private: children that the switch knows of */
};

struct wf_am_cfg {
	unsigned max_wire; /* requests under way, 1 or more */
	wf_time timeout;
	unsigned retries;
};

struct wf_am_stats {
	uint64_t sent, again, answered, refused, lost; /* refused: with a status; lost: given up */
};

/* Returns 0 or -ENOMEM. */
int wf_am_create(const struct wf_am_cfg *cfg, struct wf_mem *mem, struct wf_am **am_p) WF_MUST_USE;
void wf_am_destroy(struct wf_am *am); /* NULL is allowed */

/* Sets all places up; borrows both arrays until it is over, or the manager is destroyed. */
void wf_am_begin(struct wf_am *am, struct wf_am_place *places, uint32_t n,
                 const struct wf_am_link *links);

/* Whether it has begun and nothing is left to do. */
bool wf_am_is_over(const struct wf_am *am);

/* The next MAD to be sent, to queue pair 1 of *lid_p. Call until it returns false. */
bool wf_am_tx(struct wf_am *am, uint16_t *lid_p, uint8_t *mad, wf_time now);

/* A response of class AM came; any bytes are allowed. */
void wf_am_rx(struct wf_am *am, const uint8_t *mad);

/* When wf_am_tick() is due; WF_TIME_NEVER: not by itself. */
wf_time wf_am_deadline(const struct wf_am *am);
void wf_am_tick(struct wf_am *am, wf_time now);

void wf_am_stats(const struct wf_am *am, struct wf_am_stats *stats_p);

#endif
