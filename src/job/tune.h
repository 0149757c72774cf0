/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune.h - how NCCL decides: algorithm, protocol, channels and chunk of a collective, and its
 * estimate.
 *
 * NCCL (2.30) searches its graphs (rings, trees, NVLS) on the server's links for the most channels
 * at the highest speed, gives every algorithm and protocol a bandwidth and a latency from a table
 * of constants, and takes the one whose latency + bytes / bandwidth is least. This is that model as
 * a function of numbers, for servers whose GPUs are joined by an NVSwitch, in integers: bandwidths
 * in bytes/s, times in ps. docs/jobs.md says where the constants come from and what is left out.
 */
#ifndef WF_JOB_TUNE_H
#define WF_JOB_TUNE_H

#include "job/coll.h"

/* What NCCL sees of a group of ranks. */
struct wf_tune_comm {
	uint32_t ranks, nodes; /* nodes: servers that have any of them */
	uint32_t gpus;         /* of a node that take part */
	uint32_t nics;         /* of a node that these GPUs use; 1 or more */
	uint64_t nic_rate;     /* bits/s */
	uint64_t pcie;         /* bits/s between a GPU and its NIC, as NCCL counts it */
	uint64_t nvlink;       /* bits/s of a GPU, one direction, as the data sheet has it */
	uint8_t gen;           /* enum wf_gpu_gen */
	uint8_t cpu;           /* enum wf_cpu */
	bool nvls;             /* the NVSwitch multicasts and reduces */
	bool collnet;          /* the network's switches reduce (SHARP) */
	bool pat;              /* NCCL_PAT_ENABLE */
};

/* One pattern's channels, found by the search. */
struct wf_tune_graph {
	uint32_t channels;
	uint64_t intra, inter; /* MB/s of a channel inside a server and between servers */
};

struct wf_tune_cell {
	uint64_t bandwidth; /* bytes/s of the collective's size; 0: not possible */
	wf_time latency;
};

/* All there is to know of a group; by enum wf_coll_kind, wf_coll_alg, wf_proto. */
struct wf_tune {
	struct wf_tune_comm comm;
	struct wf_tune_graph ring, tree, nvls, direct, chain;
	bool cross_nic;         /* rings leave a server by another NIC than they came in by */
	bool simple_tree;       /* one GPU of a server has the tree's parent and both children */
	uint32_t channels;      /* of rings and trees */
	uint32_t nvls_channels; /* of NVLS and NVLSTree */
	struct wf_tune_cell cell[WF_COLL_KINDS][WF_ALGS][WF_PROTOS];
};

struct wf_tune_choice {
	enum wf_coll_alg alg;
	enum wf_proto proto;
	uint32_t channels;
	uint64_t chunk;        /* bytes of data in one step of a channel's pipeline */
	wf_time time;          /* NCCL's estimate: a latency, */
	wf_time base, latency; /* base: before its first step */
	wf_time net;           /* of switches that reduce: the part that is the network's */
	uint64_t inside;       /* and bytes/s inside a server, were it not for the NICs */
	uint64_t bandwidth; /* and then so many bytes/s of the collective's size, at this size; */
	uint64_t link;      /* bytes/s that a ring's links would carry, whatever the protocol */
};

/* The tables for a group of two ranks or more. */
void wf_tune_init(struct wf_tune *tune, const struct wf_tune_comm *comm);

/* NCCL's estimate of a collective done so; WF_TIME_NEVER: it cannot be. */
wf_time wf_tune_time(const struct wf_tune *tune, enum wf_coll_kind kind, enum wf_coll_alg alg,
                     enum wf_proto proto, uint64_t bytes);

/*
 * What NCCL takes; alg and proto other than AUTO are wishes (NCCL_ALGO, NCCL_PROTO). Returns false
 * when nothing fits them: an algorithm that NCCL does not have, or not here.
 */
bool wf_tune_choose(const struct wf_tune *tune, enum wf_coll_kind kind, enum wf_coll_alg alg,
                    enum wf_proto proto, uint64_t bytes, struct wf_tune_choice *choice);

/* What the model has for the launch of a kernel: the base of a ring with LL. */
wf_time wf_tune_launch(void);

/* The least that a ring between servers takes for a step inside one: posting to the network. */
wf_time wf_tune_post(enum wf_cpu cpu, enum wf_proto proto);

#endif
