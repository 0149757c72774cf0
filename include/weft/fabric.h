/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fabric.h - a simulated fabric, its adapters and virtual time; weft.h says how they are used.
 */
#ifndef WEFT_FABRIC_H
#define WEFT_FABRIC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int64_t weft_time; /* picoseconds */

#define WEFT_NS INT64_C(1000)
#define WEFT_US INT64_C(1000000)
#define WEFT_MS INT64_C(1000000000)
#define WEFT_FOREVER INT64_MAX

struct weft_fabric;
struct weft_adapter;
struct weft_mr;
struct weft_cq;
struct weft_srq;
struct weft_qp;

/* ---- fabrics ---- */

/* All zero, with a profile and hosts set, is a good fabric. Everything is copied. */
struct weft_fabric_attr {
	const char *profile;  /* "ib-ndr", "roce-400g": see weft list profiles */
	const char *topology; /* "single", "leaf-spine": see weft list topologies; NULL: "single" */
	uint32_t hosts;       /* how many; some kinds of topology take what comes nearest */
	const char *const
		*set; /* "fabric.link.ber=1e-9", "topology.radix=32"; NULL ends; or NULL */
	/*
	 * The text of a scenario instead of the four above: its topology, first fabric, faults and
	 * seed are used, its traffic is not.
	 */
	const char *scenario;
	const char *profiles; /* a folder to look for profiles in first, or NULL */
	uint64_t seed;
	unsigned threads; /* to run on, 1 to 64; 0: 1 */
	uint32_t max_qp;  /* queue pairs of an adapter; 0: 1024 */
	uint32_t max_mr;  /* regions of an adapter; 0: 1024 */
};

/*
 * Builds a fabric at virtual time 0. On failure, error, which has room for size bytes, says in one
 * line what is wrong (size 0: not wanted). Returns 0, -EINVAL or -ENOMEM.
 */
int weft_fabric_create(const struct weft_fabric_attr *attr, char *error, size_t size,
                       struct weft_fabric **fabric_p);

/* Frees it and everything on it. Not in a callback. NULL is allowed. */
void weft_fabric_destroy(struct weft_fabric *fabric);

/* Hosts are numbered from 0. */
uint32_t weft_fabric_hosts(const struct weft_fabric *fabric);

/*
 * Runs until virtual time until, until nothing is left to happen, or until weft_stop(). It can be
 * called again, with more work posted. Returns 0, -ENOMEM, or -EAGAIN when threads cannot be
 * started.
 */
int weft_run(struct weft_fabric *fabric, weft_time until);

/* In a callback: ends the run soon (other hosts may run a little further). */
void weft_stop(struct weft_fabric *fabric);

/* Between runs: the virtual time. */
weft_time weft_fabric_now(const struct weft_fabric *fabric);

struct weft_stats {
	uint64_t packets_sent; /* by all adapters, acknowledgements too */
	uint64_t packets_delivered;
	uint64_t packets_dropped;  /* all reasons: the next three, or no route */
	uint64_t drops_congestion; /* no room, or too long at the head of a queue */
	uint64_t drops_error;      /* bit errors and random loss of links */
	uint64_t drops_down;       /* links that were down */
	uint64_t payload_held; /* packets' payloads that are on their way or were lost track of */
};

/* Between runs: what was counted so far. */
void weft_fabric_stats(const struct weft_fabric *fabric, struct weft_stats *stats);

/* ---- adapters ---- */

/* The adapter of a host, always the same; NULL when there is no such host. */
struct weft_adapter *weft_adapter_open(struct weft_fabric *fabric, uint32_t host);

/* The virtual time on it: in its callbacks exact, else weft_fabric_now(). */
weft_time weft_adapter_now(const struct weft_adapter *adapter);

typedef void weft_call_fn(void *arg);

/*
 * Calls fn on the host at virtual time at, once. Calls for the same time are made in the order in
 * which they were asked for. Returns 0, -EINVAL (a time that is over) or -ENOMEM.
 */
int weft_call_at(struct weft_adapter *adapter, weft_time at, weft_call_fn *fn, void *arg);

#ifdef __cplusplus
}
#endif

#endif
