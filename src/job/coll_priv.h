/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coll_priv.h - what the algorithms share.
 *
 * An algorithm is a generator: for one rank and one channel of one collective it yields operations.
 * Their dependencies are numbers of earlier operations of the same generator; an operation without
 * any waits for the collective's beginning. The plan (plan.c) puts them into streams.
 */
#ifndef WF_JOB_COLL_PRIV_H
#define WF_JOB_COLL_PRIV_H

#include <assert.h>

#include "job/coll.h"
#include "job/nvlink.h"
#include "job/tune.h"

#define WF_UNIT_CHANNEL 1 /* threads that reduce for this channel; the plan knows the number */
#define WF_UNIT_BACK 2    /* and others, that pass on what comes back from a tree's root */
#define WF_TAG_RELAY 1    /* a message on its way to the NIC of another GPU */
#define WF_TAG_TREE 2     /* two */
#define WF_TAG_HALVING 4  /* two */
#define WF_TAG_NVLS 6     /* three */
#define WF_TAG_BLOCKS 9   /* behind these: tags of all-to-all, by round */
#define WF_PAIR_DEPTH 8
#define WF_REDUCE_DEPTH 16 /* reductions of a group that may be under way in the network */

/* One rank's and channel's part in a collective. */
struct wf_part {
	const struct wf_cluster *cluster;
	const struct wf_coll_cfg *cfg;
	const struct wf_nvlink *nvlink; /* what is inside servers is calculated; NULL: executed */
	struct wf_coll coll;            /* alg and proto are chosen */
	uint32_t pos;                   /* of the rank in coll.comm */
	uint32_t channel;               /* 0..active - 1 */
	uint32_t active;                /* channels that take part */
	uint32_t searched;              /* channels that NCCL's search found; the rest are copies */
	uint32_t depth;                 /* messages of a connection that may be under way */
	uint64_t chunk;                 /* bytes of data at most in one step of a pipeline */
	uint32_t slices;                /* messages of a full chunk */
	uint64_t slice;                 /* bytes of data of a message at most */
	uint64_t bytes;                 /* this channel's share of coll.bytes */
	uint64_t grain;                 /* data of a whole packet that data is split by; 0: bytes */
	uint64_t whole;                 /* where a part has this much at least */
	wf_time step_nvlink, step_net;
	wf_time late;         /* that the first step begins after the launch */
	uint64_t work_q16;    /* ps of 2^16 that a channel takes for a byte it received */
	uint64_t pace_q16;    /* and for a byte of its share, whatever the links do */
	uint32_t heads;       /* of a server, NVLS */
	uint32_t reducer;     /* its first group in the network, counted from 1; 0: calculated */
	uint64_t inside_q16;  /* as pace, of what a server's switch reduces for the network */
	struct wf_coll asked; /* what it was made for, so that the same need not be chosen again */
	struct wf_tune_choice choice;
};

/* The positions that are in one server: [first, end). */
struct wf_run {
	uint32_t first, end;
};

union wf_gen_state {
	struct {
		uint32_t loops, loop, step, slice, phase;
		uint32_t slices, n_steps;
		uint32_t next, prev;      /* ranks to send to and to receive from */
		uint32_t relay, relay_to; /* whose messages to pass on, and where to; UINT32_MAX */
		uint32_t relay_pos;
		uint32_t block, relay_block; /* that are sent in this step */
		uint32_t bundle;             /* operations of a step and slice */
		uint32_t size;               /* a line: GPUs of it */
		bool relayed;                /* next passes it on */
	} ring;
	struct {
		uint32_t slices, slice, phase;
		uint32_t next, prev, relay, relay_to; /* ranks; UINT32_MAX: none */
		uint32_t bundle;
		bool relayed;
	} chain;
	struct {
		uint32_t chunks, chunk, place;
		uint32_t up; /* rank; UINT32_MAX: this one is the root */
		uint32_t down[3], n_down;
		uint32_t n_ops; /* of a chunk */
	} tree;
	struct {
		uint32_t number, end; /* of the next operation, and of what is behind the last */
		uint32_t size, first,
			index; /* GPUs of the server, the first's position, this one's */
		uint32_t rounds, net_rounds; /* in which GPUs of a server, and servers, meet */
		uint32_t servers, server;
		uint32_t head;                /* which of its server's this rank is; UINT32_MAX */
		uint32_t body, chunks, n_ops; /* where data begins; operations of each chunk */
		uint64_t bytes;               /* of data that this rank is the head of */
		uint32_t up, down[2], n_down; /* ranks; UINT32_MAX: none */
	} nvls;
	struct {
		uint32_t number, step, n_steps;
		uint32_t half;  /* ranks that take part in halving: a power of two */
		uint32_t lo, n; /* blocks that this rank is to reduce */
		bool received;
	} halving;
	struct {
		uint32_t round, piece, pieces, phase,
			from; /* from: which of the server's is next */
		uint32_t number;
		uint32_t sends, recvs, relays;
		uint32_t sent[WF_PAIR_DEPTH], received[WF_PAIR_DEPTH], relayed[WF_PAIR_DEPTH];
		uint32_t relay_recv;
	} pair;
};

struct wf_gen_ops {
	/* Sets state, zeroed, to the beginning. */
	void (*start)(const struct wf_part *part, union wf_gen_state *state);
	/* The next operation; op comes as from wf_schedule_ops.next(). False: there is none. */
	bool (*next)(const struct wf_part *part, union wf_gen_state *state, struct wf_op *op);
	/* Calls fn for every rank that this one sends to; channel is added by the plan. */
	void (*peers)(const struct wf_part *part, void (*fn)(void *arg, uint32_t peer), void *arg);
	/* Operations in flight that it needs to keep its pipeline full. */
	uint32_t (*window)(const struct wf_part *part);
};

extern const struct wf_gen_ops wf_gen_ring;
extern const struct wf_gen_ops wf_gen_ring_line;
extern const struct wf_gen_ops wf_gen_chain;
extern const struct wf_gen_ops wf_gen_tree;
extern const struct wf_gen_ops wf_gen_halving;
extern const struct wf_gen_ops wf_gen_pairwise;
extern const struct wf_gen_ops wf_gen_nvls;

/* How many channels a plan for a cluster has: those of a group of all ranks. */
uint32_t wf_coll_channels(const struct wf_coll_cfg *cfg, const struct wf_cluster *cluster);

/* What NCCL's model needs to know of a group. */
void wf_coll_look(const struct wf_coll_cfg *cfg, const struct wf_cluster *cluster,
                  const struct wf_comm *comm, struct wf_tune_comm *look);

/*
 * A rank's part in a collective on a channel. Returns its generator, or NULL when the rank or
 * channel has nothing to do.
 */
const struct wf_gen_ops *wf_part_init(struct wf_part *part, const struct wf_cluster *cluster,
                                      const struct wf_coll_cfg *cfg, const struct wf_nvlink *nvlink,
                                      const struct wf_coll *coll, uint32_t rank, uint32_t channel);

/* How many heads each server of a group has, and which of its gpus head number h is. */
uint32_t wf_coll_heads(const struct wf_tune *tune);

static inline uint32_t wf_coll_head(uint32_t gpus, uint32_t heads, uint32_t h)
{
	return h * gpus / heads;
}

/*
 * Whether a rank's part is calculated together with those of its server's other GPUs: the head of a
 * channel does what they do on it, and they nothing. Such ranks begin together.
 */
bool wf_part_has_line(const struct wf_part *part);

/* Part i of n of total: parts differ by one at most. */
static inline uint64_t wf_share(uint64_t total, uint32_t n, uint32_t i)
{
	return total / n + (i < total % n);
}

/*
 * The same of data. Parts that are large are whole packets: NCCL's chunks are slots of its buffer
 * then, and a last packet that is nearly empty costs far more than its bytes.
 */
uint64_t wf_part_share(const struct wf_part *part, uint64_t total, uint32_t n, uint32_t i);

/* The bytes that carry so many bytes of data. */
uint64_t wf_part_wire(const struct wf_part *part, uint64_t bytes);

/* Makes op the send of data to a rank, that came so far with earlier operations. */
void wf_part_send(const struct wf_part *part, struct wf_op *op, uint32_t rank, uint64_t bytes,
                  uint32_t block);

/* Makes op a receive; it ends when the data is reduced or copied to where it belongs. */
void wf_part_recv(const struct wf_part *part, struct wf_op *op, uint32_t rank, uint64_t bytes,
                  uint32_t block, bool reduces);

/* How long a GPU reduces or copies so many bytes of one channel. */
wf_time wf_part_time(const struct wf_part *part, uint64_t bytes);

/* What a value of a real job is in a scaled one. */
static inline uint64_t wf_coll_scaled(const struct wf_coll_cfg *cfg, uint64_t value)
{
	return cfg->scale == 0 ? value
	                       : (uint64_t)((unsigned __int128)value * cfg->scale / WF_RATIO_ONE);
}

/* How long a channel's thread blocks work on so many bytes. */
static inline wf_time wf_part_work(uint64_t per_byte_q16, uint64_t bytes)
{
	return wf_time_cap((unsigned __int128)bytes * per_byte_q16 >> 16);
}

/* The part's own rank. */
static inline uint32_t wf_part_rank(const struct wf_part *part)
{
	return wf_comm_rank(&part->coll.comm, part->pos);
}

/* The positions in the same server as pos. */
struct wf_run wf_part_run(const struct wf_part *part, uint32_t pos);

/* The member of a server by which a channel comes in and goes out. */
static inline uint32_t wf_run_head(const struct wf_run *run, uint32_t channel)
{
	return run->first + channel % (run->end - run->first);
}

/*
 * The servers around a part's in one of the two trees: ranks, each the member of its server that
 * has that number there; *up_p is UINT32_MAX at the root. Returns how many children there are, two
 * at most.
 */
uint32_t wf_tree_around(const struct wf_part *part, unsigned tree, uint32_t member, uint32_t *up_p,
                        uint32_t *down);

/* How many servers a group has, and which of them holds pos, counted from 0. */
uint32_t wf_tree_servers(const struct wf_part *part, uint32_t pos, uint32_t *index_p);

/* The rank that has a number in the group's server of that index. */
uint32_t wf_tree_member(const struct wf_part *part, uint32_t index, uint32_t member);

/* Where a rank's messages come from and go to in the ring of its channel: positions. */
struct wf_around {
	uint32_t next, prev;
	uint32_t relay, relay_to; /* UINT32_MAX: passes nothing on */
	bool relayed;             /* next is only on the way */
};

void wf_ring_look(const struct wf_part *part, struct wf_around *around);

/* The position before pos in the ring of the part's channel. */
uint32_t wf_ring_before(const struct wf_part *part, uint32_t pos);

/* Adds the generator's operation number to what op waits for. */
static inline void wf_gen_after(struct wf_op *op, uint32_t number)
{
	wf_op_after(op, 0, number);
}

#endif
