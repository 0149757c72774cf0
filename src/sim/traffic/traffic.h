/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traffic.h - synthetic traffic: who sends how much to whom, from when.
 *
 * A pattern is one row of a table with a function that lists its flows. All randomness comes from
 * the seed and the pattern's number in the scenario.
 */
#ifndef WF_SIM_TRAFFIC_TRAFFIC_H
#define WF_SIM_TRAFFIC_TRAFFIC_H

#include "base/base.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/param.h"

#define WF_CDF_MAX 256
#define WF_TRAFFIC_MAX_FLOWS 50000000 /* of one pattern */

/* Distribution of flow sizes: P(size <= point[i].size) = point[i].prob, linear in between. */
struct wf_cdf {
	unsigned n;
	struct {
		uint64_t size; /* bytes */
		uint64_t prob; /* units of 2^-32, ascending, the last is 2^32 */
	} point[WF_CDF_MAX];
};

/* How a flow is carried. */
enum wf_flow_op {
	WF_FLOW_WINDOW, /* the simple windowed sender: no transport */
	WF_FLOW_WRITE,  /* RDMA WRITE on a reliable connection */
	WF_FLOW_SEND,
	WF_FLOW_READ, /* the receiver reads */
	WF_FLOW_TCP,  /* a byte stream of TCP */
	WF_FLOW_OPS
};

struct wf_traffic_cfg {
	char kind[16];     /* a name of wf_traffic_kinds() */
	char op[12];       /* a name of enum wf_flow_op */
	uint64_t size;     /* bytes of each flow; random: without a distribution */
	uint32_t cls;      /* priority or service level */
	uint32_t fanin;    /* incast: senders; 0 = all other hosts */
	uint32_t target;   /* incast: receiving host; others follow it in a ring */
	uint32_t distance; /* shift: host i sends to host i + distance; 0 = half of the hosts */
	uint32_t repeat;   /* rounds; each starts when the one before could be over at line rate */
	uint64_t load;     /* random: of 2^16, share of the host link */
	wf_time duration;  /* random: flows start during this time */
	wf_time start;     /* of the first flow */
	char sizes[256];   /* random: a distribution's name or file */
	struct wf_cdf cdf; /* random: filled in by whoever reads sizes; n = 0: none */
};

extern const struct wf_param wf_traffic_params[];
extern const size_t wf_traffic_n_params;

struct wf_flow_spec {
	uint32_t src, dst; /* host indices */
	uint64_t bytes;
	wf_time start;
	uint8_t cls;
	uint8_t op; /* enum wf_flow_op */
	/*
	 * One of a host's turns, which follow each other: starts when the one before is completed
	 * and as many turns of others as there were have come. Only SENDs.
	 */
	bool turn;
};

/* A growing array of flows. */
struct wf_flow_list {
	struct wf_mem *mem;
	struct wf_flow_spec *flow;
	size_t n, room;
};

extern const struct wf_traffic_ops wf_traffic_permutation;
extern const struct wf_traffic_ops wf_traffic_shift;
extern const struct wf_traffic_ops wf_traffic_pairs;
extern const struct wf_traffic_ops wf_traffic_incast;
extern const struct wf_traffic_ops wf_traffic_all_to_all;
extern const struct wf_traffic_ops wf_traffic_random;

/* Appends a flow. Returns 0 or -ENOMEM. */
int wf_flow_list_add(struct wf_flow_list *list, const struct wf_flow_spec *spec) WF_MUST_USE;

/* Gives the array back; the list is empty and usable again. */
void wf_flow_list_fini(struct wf_flow_list *list);

struct wf_traffic_ops {
	const char *name; /* "permutation" */
	const char *help; /* one line */
	/*
	 * Appends the flows of cfg among n_hosts hosts to list. host_rate: bits/s of a host's link.
	 * Returns 0, -ENOMEM, or -EINVAL with a message in err of the form "<name of the
	 * parameter>: <what is wrong>; <what would be right>".
	 */
	int (*list)(const struct wf_traffic_cfg *cfg, uint32_t n_hosts, uint64_t host_rate,
	            uint64_t key, struct wf_flow_list *list, struct wf_err *err);
};

/* The operation called name ("window", "write", "send", "read", "tcp"), or WF_FLOW_OPS. */
enum wf_flow_op wf_flow_op_find(const char *name);

/* The table of all kinds; ends with NULL. */
const struct wf_traffic_ops *const *wf_traffic_kinds(void);

/* The kind called name, or NULL. */
const struct wf_traffic_ops *wf_traffic_find(const char *name);

/*
 * Reads a distribution from text: a line a point, "<bytes> <percent>", ascending, from 0 to 100 %;
 * '#' starts a comment. Returns 0 or -EINVAL with err filled (name is the file's).
 */
int wf_cdf_parse(const char *text, size_t len, const char *name, struct wf_cdf *cdf,
                 struct wf_err *err) WF_MUST_USE;

/* Mean of a distribution, bytes. */
uint64_t wf_cdf_mean(const struct wf_cdf *cdf);

/* A size drawn with 64 random bits; at least 1. */
uint64_t wf_cdf_draw(const struct wf_cdf *cdf, uint64_t bits);

#endif
