/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sharp.h - who reduces in the switches, over which trees: what an aggregation manager decides.
 *
 * A communicator has groups, one for each of its rails: the adapters that contribute. When it is
 * created each group gets a low-latency tree, which communicators share, and a streaming tree,
 * which it has to itself until the end (SHARP_COLL_SAT_LOCK_BATCH_SIZE is infinite, and locked when
 * the communicator is created, as NCCL's plugin does). All groups of a communicator get theirs, or
 * none does. First come, first served; nothing is given back.
 *
 * Trees are numbered from 0. Number t has root t % r of the r roots, the switches of the highest
 * tier, so that groups are spread over them.
 */
#ifndef WF_FABRIC_SHARP_H
#define WF_FABRIC_SHARP_H

#include "fabric/config.h"
#include "topo/reduce.h"

enum wf_sharp_kind { WF_SHARP_LOW, WF_SHARP_STREAM, WF_SHARP_KINDS };

/* Why a communicator gets no trees. */
enum wf_sharp_no {
	WF_SHARP_YES,
	WF_SHARP_ADAPTER, /* one of its adapters serves sharp.jobs others */
	WF_SHARP_TREES,   /* every low-latency tree is full in one of its switches */
	WF_SHARP_STREAMS, /* no streaming tree is left that is nobody else's */
	WF_SHARP_FAR,     /* no root reaches all of its adapters */
	WF_SHARP_NOS
};

struct wf_sharp_group {
	uint32_t n_hosts;
	uint32_t *hosts;
	uint32_t number[WF_SHARP_KINDS];             /* of the tree */
	struct wf_reduce_tree *tree[WF_SHARP_KINDS]; /* NULL: it has none of that kind */
};

struct wf_sharp {
	const struct wf_topo *topo;
	struct wf_sharp_cfg cfg;
	uint32_t mtu; /* bytes of data in a packet of a streaming tree */
	struct wf_mem *mem;
	struct wf_sharp_group *group;
	uint32_t n_groups, room;
	uint32_t *root; /* node ids */
	uint32_t n_roots;
	uint32_t n_trees;          /* of each kind */
	uint8_t **level;           /* of each root, when it was needed */
	uint32_t *queue;           /* for wf_reduce_levels() */
	uint16_t **low_use;        /* by tree, when it was needed: groups in each switch */
	bool *taken;               /* by tree: a streaming one that somebody has */
	bool *busy;                /* by port, or by switch: it is in a streaming tree */
	uint32_t *jobs;            /* by host */
	uint32_t *last_job;        /* by host: the last communicator of it, counted from 1 */
	uint32_t n_jobs;           /* communicators that asked */
	uint32_t no[WF_SHARP_NOS]; /* how many of them were answered so */
};

/*
 * For a topology, which is borrowed, as cfg and mem are. On success *sharp_p is owned by the
 * caller. Returns 0, -ENOMEM, or -EINVAL with a message in err as wf_sharp_check().
 */
int wf_sharp_create(const struct wf_topo *topo, const struct wf_fabric_cfg *cfg, struct wf_mem *mem,
                    struct wf_sharp **sharp_p, struct wf_err *err) WF_MUST_USE;

/*
 * A communicator has n_groups groups of n hosts each, one group's after the other's in hosts.
 * *no_p says whether they have trees; if so *first_p is the first group's number, and the others
 * follow. Returns 0 or -ENOMEM.
 */
int wf_sharp_join(struct wf_sharp *sharp, const uint32_t *hosts, uint32_t n, uint32_t n_groups,
                  uint32_t *first_p, enum wf_sharp_no *no_p) WF_MUST_USE;

/* Packets of a group that may be under way in a tree of a kind. */
uint32_t wf_sharp_window(const struct wf_sharp_cfg *cfg, enum wf_sharp_kind kind, uint32_t mtu);

/* The kind of tree that a reduction of so many bytes takes. */
enum wf_sharp_kind wf_sharp_kind_of(const struct wf_sharp *sharp,
                                    const struct wf_sharp_group *group, uint64_t bytes);

/* NULL is allowed. */
void wf_sharp_destroy(struct wf_sharp *sharp);

#endif
