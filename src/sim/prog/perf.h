/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf.h - latency and bandwidth between two hosts, measured as perftest measures them.
 *
 * Two programs for the adapters of a simulation (sim/prog/app.h). Latency: one message at a time.
 *
 *	write                 both sides poll memory: ping, pong; half the round trip
 *	send, write-imm       both sides poll for receives: ping, pong; half the round trip
 *	read, cas, fadd       post to completion: the whole round trip
 *
 * Bandwidth: depth messages of each queue pair are outstanding; each completion posts the next.
 * Programs take no time of their own: a CPU that polls without end and posts at once.
 */
#ifndef WF_SIM_PROG_PERF_H
#define WF_SIM_PROG_PERF_H

#include "sim/prog/app.h"
#include "sim/prog/cc_choice.h"

#define WF_PERF_MAX_QPS 1024
#define WF_PERF_MAX_DEPTH 16384
#define WF_PERF_MAX_OUT 262144 /* outstanding messages of all queue pairs */
#define WF_PERF_MAX_ITERS 10000000
#define WF_PERF_PEAK_ITERS 20000 /* with more messages there is no peak, as in perftest */

enum wf_perf_op {
	WF_PERF_WRITE,
	WF_PERF_WRITE_IMM,
	WF_PERF_SEND,
	WF_PERF_READ,
	WF_PERF_CAS,
	WF_PERF_FADD,
	WF_PERF_OPS
};

/* "write", "write-imm", "send", "read", "cas", "fadd"; static. */
const char *wf_perf_op_name(enum wf_perf_op op);

/* Atomics are always of 8 bytes. */
static inline bool wf_perf_op_is_atomic(enum wf_perf_op op)
{
	return op == WF_PERF_CAS || op == WF_PERF_FADD;
}

struct wf_perf_cfg {
	enum wf_perf_op op;
	bool bandwidth;                /* false: latency */
	bool both_ways;                /* bandwidth: the server does the same to the client */
	uint32_t client, server;       /* host indices, different */
	uint32_t size;                 /* bytes of a message, 1 to WF_MSG_MAX; atomics: 8 */
	uint32_t iters;                /* messages of each requester, all queue pairs together */
	uint32_t qps;                  /* bandwidth: queue pairs of each requester */
	uint32_t depth;                /* bandwidth: outstanding messages of each queue pair */
	uint8_t cls;                   /* priority or service level */
	const struct wf_cc_choice *cc; /* NULL: none; borrowed while the simulation lives */
};

struct wf_perf;

/* Plans a measurement. Returns 0, -ENOMEM, or -EINVAL with err filled. */
int wf_perf_create(const struct wf_perf_cfg *cfg, struct wf_perf **perf_p,
                   struct wf_err *err) WF_MUST_USE;

/* Frees it, after its simulation. NULL is allowed. */
void wf_perf_destroy(struct wf_perf *perf);

/* The measurement as an application; perf must outlive the simulation. */
void wf_perf_app(struct wf_perf *perf, struct wf_sim_app *app);

/* Times in ps, over n iterations. */
struct wf_perf_latency {
	uint64_t n;
	wf_time min, max;
	wf_time typical; /* median */
	wf_time mean, stdev;
	wf_time p99, p999; /* 99 % and 99.9 %, nearest rank */
};

struct wf_perf_bandwidth {
	uint64_t messages, bytes; /* of all requesters */
	wf_time time;             /* first post to last completion */
	uint64_t average;         /* bits/s */
	uint64_t peak;            /* bits/s; best of any run of messages, post to completion */
	uint64_t rate;            /* messages/s */
};

/*
 * What was measured, after the run. Returns 0, or -EIO with err filled when it did not come to its
 * end: a queue pair failed, or virtual time ran out.
 */
int wf_perf_latency(const struct wf_perf *perf, struct wf_perf_latency *result,
                    struct wf_err *err) WF_MUST_USE;
int wf_perf_bandwidth(const struct wf_perf *perf, struct wf_perf_bandwidth *result,
                      struct wf_err *err) WF_MUST_USE;

#endif
