/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec.h - runs one rank of a schedule, without I/O.
 *
 *	time      wf_exec_run()        ->  +---------+  ->  driver->call_at()
 *	announced wf_exec_announced()  ->  | wf_exec |  ->  driver->post()     announcement or data
 *	arrived   wf_exec_arrived()    ->  +---------+  ->  driver->finished()
 *	sent      wf_exec_sent()       ->                    driver->meet()
 *	met       wf_exec_met()        ->                    driver->reduce()
 *	reduced   wf_exec_reduced()    ->
 *
 * Messages go over connections, one for each (source rank, destination rank, channel). As in NCCL's
 * network layer, the receiver announces each receive that has started to the sender, with its tag;
 * the sender posts a message when it is ready and a receive with its tag is announced. At most
 * WF_EXEC_RECEIVES are announced and not filled on a connection, or fewer if the driver says so. An
 * announcement carries the tag, a message the number of the announcement that it answers: both fit
 * an immediate value, and both are RDMA WRITE with immediate to whoever has a network.
 *
 * The driver adds the connections before the run, tells what comes, in the order in which it was
 * posted on each connection and direction, and calls wf_exec_run() at the time asked for. It may
 * not call into the executor from its own callbacks. Time never goes back.
 */
#ifndef WF_JOB_EXEC_H
#define WF_JOB_EXEC_H

#include "base/err.h"
#include "base/hist.h"
#include "base/mem.h"
#include "job/observer.h"
#include "job/schedule.h"

#define WF_EXEC_RECEIVES 32 /* NCCL_NET_MAX_REQUESTS */

struct wf_exec;

enum wf_post_kind {
	WF_POST_ANNOUNCE, /* from the receiving end: imm is the tag */
	WF_POST_DATA,     /* from the sending end: imm is the number of the announcement */
};

/* What the executor asks of its driver. */
struct wf_post {
	enum wf_post_kind kind;
	uint32_t conn; /* the driver's number of this end of the connection */
	uint32_t imm;
	uint32_t handle; /* DATA: for wf_exec_sent() */
	uint64_t bytes;  /* DATA: 0 is possible */
};

/* Every function is set. */
struct wf_exec_driver {
	void (*post)(void *ctx, const struct wf_post *post, wf_time now);
	/* wf_exec_run() is to be called at at; an earlier time replaces a later one. */
	void (*call_at)(void *ctx, wf_time at);
	/*
	 * A MEET operation has started: wf_exec_met() is to be called when all of its op->blocks
	 * members have started theirs.
	 */
	void (*meet)(void *ctx, const struct wf_op *op, uint32_t handle, wf_time now);
	/*
	 * A REDUCE operation is ready: wf_exec_reduced() is to be called when its result is there.
	 */
	void (*reduce)(void *ctx, const struct wf_op *op, uint32_t handle, wf_time now);
	/* The last operation has ended. */
	void (*finished)(void *ctx, wf_time now);
};

/* When a group was: over the ranks that count here. */
struct wf_group_time {
	wf_time begin;   /* the first rank's; WF_TIME_NEVER: none */
	wf_time end;     /* the last rank's; -1: none */
	wf_time longest; /* from begin to end on one rank */
	uint32_t ranks;  /* for which it is over */
};

/* What executors that run on one thread count together. */
struct wf_exec_counts {
	struct wf_hist latency[2]; /* ps, of messages: [0] NVLink, [1] the fabric */
	uint64_t messages[2], bytes[2];
	uint64_t ops;
	struct wf_group_time *groups; /* of the schedule */
};

/* What one rank did. */
struct wf_exec_result {
	bool finished;
	wf_time end;  /* of its last operation */
	wf_time busy; /* time that WF_UNIT_COMPUTE was occupied */
};

struct wf_exec_cfg {
	const struct wf_schedule *schedule; /* borrowed, as all of these, while it lives */
	const struct wf_exec_driver *driver;
	void *ctx;
	const struct wf_job_observer *observer; /* NULL: nobody */
	struct wf_exec_counts *counts;
	struct wf_mem *mem; /* safe to call from its thread */
	uint32_t rank;
};

/* Returns 0, -ENOMEM, or -EINVAL when the schedule has too many streams. */
int wf_exec_create(const struct wf_exec_cfg *cfg, struct wf_exec **exec_p) WF_MUST_USE;

/* Has it count elsewhere; before it starts. */
void wf_exec_set_counts(struct wf_exec *x, struct wf_exec_counts *counts);

/*
 * Has it announce so many receives of a connection at most, 1..WF_EXEC_RECEIVES; before it starts.
 */
void wf_exec_set_receives(struct wf_exec *x, uint32_t receives);

/* NULL is allowed. */
void wf_exec_destroy(struct wf_exec *x);

/*
 * Adds this end of a connection with peer, by the driver's number for it. sends: the rank sends on
 * it; else it receives. *end_p is the executor's number for it. Returns 0, -EEXIST when it has it
 * already, or -ENOMEM.
 */
int wf_exec_connect(struct wf_exec *x, uint32_t peer, uint16_t channel, bool sends, uint32_t conn,
                    uint32_t *end_p) WF_MUST_USE;

/* Begins, at time now. */
void wf_exec_start(struct wf_exec *x, wf_time now);

/* The time asked for has come. */
void wf_exec_run(struct wf_exec *x, wf_time now);

/* A receive with that tag was announced on a connection. */
void wf_exec_announced(struct wf_exec *x, uint32_t end, uint32_t tag, wf_time now);

/*
 * The message that answers announcement number is in memory. posted is when its sender posted it;
 * net: it came over the fabric.
 */
void wf_exec_arrived(struct wf_exec *x, uint32_t end, uint32_t number, wf_time posted, bool net,
                     wf_time now);

/* The data of a post has left. */
void wf_exec_sent(struct wf_exec *x, uint32_t handle, wf_time now);

/*
 * All members have started the MEET operation handle, the last of them at last: it ends its time
 * later.
 */
void wf_exec_met(struct wf_exec *x, uint32_t handle, wf_time last, wf_time now);

/* The result of the REDUCE operation handle is in memory. */
void wf_exec_reduced(struct wf_exec *x, uint32_t handle, wf_time now);

void wf_exec_result(const struct wf_exec *x, struct wf_exec_result *result);

/* True when memory ran out: results are not to be used. */
bool wf_exec_out_of_memory(const struct wf_exec *x);

/*
 * One line on an operation of a rank that has stopped, and what it waits for: one that waits for a
 * message if there is any. Returns false when the rank has finished.
 */
bool wf_exec_stuck(const struct wf_exec *x, struct wf_err *err);

#endif
