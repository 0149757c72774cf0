/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule.h - a workload: per rank (GPU) a graph of calculations, sends and receives.
 *
 * Each rank has one or more streams, each a sequence of operations that is generated when it is
 * needed: a ring all-reduce of 16,384 ranks never lies in memory. An operation starts when the
 * operations it depends on have ended (or started); nothing else orders it, not even its place in
 * its stream. It ends when its calculation is over, its message has left, or its message is there.
 *
 *	rank 3:  stream 0   calc --> send ...
 *	                      \
 *	         stream 1      --> recv --> calc ...
 *
 * A send matches the receive with the same (source, destination, tag), in the order in which each
 * side starts them. A message leaves when its receive has started, as with NCCL, where the receiver
 * says which buffer is free: whoever wants messages to wait in buffers starts receives early, and
 * says by dependencies how many (NCCL: 8 steps).
 *
 * What must hold, so that no run gets stuck: there is one order of all operations of all ranks in
 * which every dependency points backwards, every receive comes after its send in it or could be
 * started before it, and every stream yields its operations in that order. The executor holds a
 * window of unfinished operations of each stream (see window()), and asks for the next one when the
 * oldest has ended. A run that gets stuck all the same is reported with what waits for what.
 */
#ifndef WF_JOB_SCHEDULE_H
#define WF_JOB_SCHEDULE_H

#include <stdbool.h>

#include "base/base.h"

#define WF_OP_DEPS 4
#define WF_OP_BEGINS 1          /* flags: with its start, its group has begun on this rank */
#define WF_OP_ENDS 2            /* with its end, its group is over on this rank */
#define WF_OP_REDUCES 4         /* RECV: is added to what is there instead of replacing it */
#define WF_OP_PASSES 8          /* SEND, RECV: data of another rank that is passed on */
#define WF_UNIT_NONE UINT16_MAX /* occupies nothing: a pure delay */
#define WF_UNIT_COMPUTE 0       /* the GPU's own work: its busy time is reported */
#define WF_GROUP_NONE UINT32_MAX
#define WF_WINDOW_ALL UINT32_MAX
#define WF_SCHEDULE_MAX_STREAMS 4096 /* of a rank */

/*
 * MEET: ranks of one server do something together that is calculated, not executed. It ends on all
 * of them a time after the last has started it. Those meet that have the same peer (the first of
 * them), tag, channel and blocks (how many they are); each has one such operation under way at
 * most.
 *
 * REDUCE: contributes bytes to the next reduction of a group of the network's (peer: its number in
 * the schedule's reductions), and ends when the result is there. All members have the same ones in
 * the same order.
 */
enum wf_op_kind { WF_OP_CALC, WF_OP_SEND, WF_OP_RECV, WF_OP_MEET, WF_OP_REDUCE };

/* What of an operation another waits for. */
enum wf_dep_on {
	WF_ON_END,
	WF_ON_START, /* GOAL's irequires */
	/*
	 * number counts marks instead of operations: the operation that makes that many and one
	 * more (see struct wf_op.marks) and all before it in the stream have ended.
	 */
	WF_ON_MARK,
};

/* An operation of the same rank that another waits for. */
struct wf_op_dep {
	uint32_t number; /* in its stream, from 0 */
	uint16_t stream;
	uint8_t on; /* enum wf_dep_on */
};

/*
 * time: CALC, MEET: how long it takes. SEND, REDUCE: work before the message can leave (reducing,
 * copying, the proxy's delay). RECV: work after it arrived until it has ended. The unit is occupied
 * meanwhile; work on one unit is done one after the other, in the order in which it became ready.
 *
 * stages: CALC, SEND: before that it passes a line of units, from line on, one after the other:
 * each is occupied for busy and passed after pass. The chain of GPUs that a message goes through
 * inside a server is such a line.
 */
struct wf_op {
	uint64_t bytes; /* SEND, RECV, REDUCE: of the message, may be 0 */
	wf_time time;
	struct wf_op_dep dep[WF_OP_DEPS];
	uint32_t peer; /* SEND, RECV: the other rank; REDUCE: the group */
	uint32_t tag;
	uint32_t group; /* number of what it belongs to, or WF_GROUP_NONE */
	uint16_t unit;
	uint16_t channel; /* which of the connections between the two ranks it takes */
	uint16_t line, stages;
	wf_time pass, busy;
	uint8_t kind; /* enum wf_op_kind */
	uint8_t n_deps;
	uint8_t flags;   /* WF_OP_* */
	uint8_t marks;   /* it makes on its stream, once it and all before it have ended */
	uint32_t block;  /* collectives: which part of the data it carries; for checking */
	uint32_t blocks; /* how many parts from block on; 0: one */
};

/*
 * What operations belong to: a collective, a phase of a training step. For recording and results.
 */
struct wf_group {
	const char *name; /* "dp all-reduce"; lives as long as the schedule */
	const char *kind; /* "all-reduce", "send", "forward" …: what it is, for adding up */
	uint64_t bytes;   /* as nccl-tests counts the size of such an operation; 0: it moves none */
	uint32_t ranks;   /* that take part in a collective */
	uint32_t busbw[2]; /* busbw = algbw * [0] / [1], as nccl-tests defines; 0/0: it has none */
	const char
		*algorithm; /* of a collective, the one that is used: "ring" …; NULL: it is none */
	const char *protocol; /* "ll128" …, and the channels that it has, of such a collective */
	uint32_t channels;
	wf_time estimate; /* that NCCL's tuning model has for it; 0: it has none */
};

struct wf_schedule;

/* Told of a connection: this rank sends to peer on that channel. */
typedef void wf_schedule_peer_fn(void *arg, uint32_t peer, uint16_t channel);

/*
 * Every function is set. Ranks are run by different threads: all but destroy() only read *schedule.
 */
struct wf_schedule_ops {
	const char *name;
	size_t cursor; /* bytes of the state of one stream; only its rank's thread touches it */
	uint32_t (*streams)(const struct wf_schedule *schedule, uint32_t rank);
	/*
	 * How many unfinished operations of a stream the executor may have to hold at once, so that
	 * the schedule does not get stuck and pipelines as it means to; WF_WINDOW_ALL: any number.
	 */
	uint32_t (*window)(const struct wf_schedule *schedule, uint32_t rank, uint32_t stream);
	/* Sets cursor, zeroed, to the stream's beginning. */
	void (*start)(const struct wf_schedule *schedule, uint32_t rank, uint32_t stream,
	              void *cursor);
	/* The next operation; *op comes zeroed, with unit and group none. False: there is none. */
	bool (*next)(const struct wf_schedule *schedule, void *cursor, struct wf_op *op);
	/*
	 * Calls fn for every (peer, channel) that rank sends to at some time; repeats are allowed.
	 * Returns 0 or -ENOMEM: then it may be some of them.
	 */
	int (*peers)(const struct wf_schedule *schedule, uint32_t rank, wf_schedule_peer_fn *fn,
	             void *arg);
	void (*group)(const struct wf_schedule *schedule, uint32_t group, struct wf_group *group_p);
	void (*destroy)(struct wf_schedule *schedule);
};

/* The first member of every kind of schedule. */
struct wf_schedule {
	const struct wf_schedule_ops *ops;
	uint32_t n_ranks;
	uint32_t n_groups;
	uint64_t max_message;  /* bytes; no send is longer */
	wf_time shortest_meet; /* no MEET takes less; 0: there is none */
};

/* Adds a dependency. There is room: at most WF_OP_DEPS; see wf_op_joins() for more. */
void wf_op_after(struct wf_op *op, uint16_t stream, uint32_t number);

/*
 * More than WF_OP_DEPS dependencies: how many operations (zero-length CALCs and the last, which
 * waits for all) it takes to wait for n.
 */
uint32_t wf_op_joins(uint32_t n);

/*
 * Number k of those wf_op_joins(n): sets op's dependencies. The operations lie one after the other
 * in stream from number first on; deps are the n to wait for.
 */
void wf_op_join(struct wf_op *op, uint32_t k, const struct wf_op_dep *deps, uint32_t n,
                uint16_t stream, uint32_t first);

/* Frees a schedule. NULL is allowed. */
static inline void wf_schedule_destroy(struct wf_schedule *schedule)
{
	if (schedule != NULL)
		schedule->ops->destroy(schedule);
}

#endif
