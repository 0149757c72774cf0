/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coll.h - collectives: what can be asked for, how it is done, and what may be tuned.
 *
 * docs/jobs.md explains how each is modelled and where the defaults come from.
 */
#ifndef WF_JOB_COLL_H
#define WF_JOB_COLL_H

#include "base/param.h"
#include "job/cluster.h"
#include "job/schedule.h"

enum wf_coll_kind {
	WF_COLL_ALL_REDUCE,
	WF_COLL_REDUCE_SCATTER,
	WF_COLL_ALL_GATHER,
	WF_COLL_ALL_TO_ALL,
	WF_COLL_BROADCAST,
	WF_COLL_BARRIER,
	WF_COLL_KINDS
};

enum wf_coll_alg {
	WF_ALG_AUTO,      /* by kind and size */
	WF_ALG_RING,      /* broadcast: a chain from the root on */
	WF_ALG_TREE,      /* all-reduce: two binary trees between servers, a chain inside */
	WF_ALG_HALVING,   /* all-reduce: recursive halving and doubling */
	WF_ALG_PAIRWISE,  /* all-to-all */
	WF_ALG_NVLS,      /* the NVSwitch reduces and multicasts; between servers with CollNet */
	WF_ALG_NVLS_TREE, /* the same inside a server, two binary trees between servers */
	WF_ALG_COLLNET,   /* the fabric's switches reduce; every GPU serves its NIC (Direct) */
	WF_ALG_COLLNET_CHAIN, /* the same, a chain of GPUs to each NIC */
	WF_ALG_PAT,           /* all-gather, reduce-scatter: parallel aggregated trees */
	WF_ALGS
};

/* What NCCL's tables tell apart. */
enum wf_gpu_gen { WF_GEN_VOLTA, WF_GEN_AMPERE, WF_GEN_HOPPER, WF_GEN_BLACKWELL, WF_GPU_GENS };
enum wf_cpu { WF_CPU_INTEL, WF_CPU_AMD, WF_CPU_OTHER, WF_CPUS };

enum wf_proto { WF_PROTO_AUTO, WF_PROTO_LL, WF_PROTO_LL128, WF_PROTO_SIMPLE, WF_PROTOS };

/*
 * One collective. bytes is what nccl-tests calls size: all-reduce, broadcast: the buffer;
 * reduce-scatter, all-to-all: the send buffer of a rank; all-gather: the receive buffer of a rank.
 */
struct wf_coll {
	uint8_t kind;  /* enum wf_coll_kind */
	uint8_t alg;   /* enum wf_coll_alg */
	uint8_t proto; /* enum wf_proto */
	uint32_t root; /* broadcast: a position in comm */
	uint64_t bytes;
	struct wf_comm comm;
};

/*
 * What may be tuned; wf_coll_params describes it, but for the last, which whoever runs a job sets.
 */
struct wf_grants;

struct wf_coll_cfg {
	uint32_t channels;    /* 0: as many as NCCL takes */
	uint64_t buffer;      /* bytes of a connection's buffer, Simple (NCCL_BUFFSIZE) */
	uint32_t steps;       /* slots of it (NCCL_STEPS) */
	uint32_t chunk_steps; /* slots of a ring's chunk, Simple */
	uint32_t slice_steps; /* slots of a message, Simple */
	uint64_t p2p_chunk;   /* bytes of a message of point-to-point transfers */
	wf_time launch;       /* from an item's turn to its first step: launch of the kernel */
	wf_time nvlink_ll, nvlink_ll128, nvlink_simple; /* a step's latency, besides the link's */
	wf_time net_ll, net_ll128, net_simple;
	wf_time tree_nvlink_ll, tree_nvlink_ll128, tree_nvlink_simple; /* the same in trees */
	wf_time tree_net_ll, tree_net_ll128, tree_net_simple;
	wf_time nvls;          /* NVLS inside a server, without its bytes */
	wf_time nvls_net;      /* a step of NVLSTree over the network, besides the network */
	wf_time collnet_net;   /* a reduction in switches, the same; or auto: as NCCL's model */
	uint64_t reduce;       /* bits/s that a GPU reduces or copies, all channels together */
	bool pxn;              /* messages leave by the NIC of the rail on which they arrive */
	bool nvls_on, collnet; /* NCCL_NVLS_ENABLE, NCCL_COLLNET_ENABLE */
	uint64_t nic_rate, pcie_rate; /* bits/s; 0: what most have */
	char generation[12], cpu[8];  /* names of enum wf_gpu_gen and wf_cpu */

	uint64_t nvlink; /* bits/s of a GPU, one direction; 0: H100's */
	uint64_t scale;  /* units of 2^-16: share of the real bytes and times; 0: all */
	uint64_t packet; /* bytes: long messages between servers are whole ones; 0: any size */
	/* Who reduces in the network's switches; NULL: with collnet all do, which is calculated. */
	const struct wf_grants *grants;
};

extern const struct wf_param wf_coll_params[];
extern const size_t wf_coll_n_params;

/* "all-reduce", "ring", "ll128"; and back: KINDS, ALGS, PROTOS when there is none. */
const char *wf_coll_kind_name(enum wf_coll_kind kind);
const char *wf_coll_alg_name(enum wf_coll_alg alg);
enum wf_coll_kind wf_coll_kind_find(const char *name);
enum wf_coll_alg wf_coll_alg_find(const char *name);
enum wf_proto wf_proto_find(const char *name);

/*
 * What nccl-tests says of a collective, and how it is done: fills all of group but its name. A
 * barrier is an all-reduce of four bytes.
 */
void wf_coll_group(const struct wf_coll *coll, const struct wf_cluster *cluster,
                   const struct wf_coll_cfg *cfg, struct wf_group *group);

/*
 * Whether a collective can be done so. Returns 0, or -EINVAL with a message in err of the form
 * "<parameter>: <what is wrong>; <what would be right>".
 */
int wf_coll_check(const struct wf_coll *coll, struct wf_err *err) WF_MUST_USE;

/* The same, of what depends on where the ranks are: only some of them have switches that reduce. */
int wf_coll_check_here(const struct wf_coll *coll, const struct wf_cluster *cluster,
                       const struct wf_coll_cfg *cfg, struct wf_err *err) WF_MUST_USE;

#endif
