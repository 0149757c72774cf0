/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.h - the input of the HPCC simulator (ns-3), from text in memory: its configuration, flows,
 * and the paths that were taken. The reader of its topology is topo/hpcc.c.
 */
#ifndef WF_NS3_CONFIG_H
#define WF_NS3_CONFIG_H

#include "fabric/config.h"
#include "ns3/path.h"
#include "topo/topo.h"

enum wf_ns3_cc {
	WF_NS3_DCQCN = 1,
	WF_NS3_HPCC = 3,
	WF_NS3_TIMELY = 7,
	WF_NS3_DCTCP = 8,
	WF_NS3_PINT = 10
};

/* The configuration's keys, in weft's units. */
struct wf_ns3_config {
	uint32_t cc_mode; /* enum wf_ns3_cc */
	bool enable_qcn, clamp_target, has_win, global_t, var_win, fast_react, rate_bound, ack_high;
	bool back_to_zero, multi_rate, sample_feedback;
	uint32_t payload, chunk, ack_interval, recovery_times, mi_thresh, int_multi, buffer_mib;
	wf_time stop, alpha_resume, rate_decrease, rp_timer;
	uint64_t gain, u_target, loss, pint_prob; /* units of 2^-32 */
	uint64_t pint_base;                       /* units of 2^-16 */
	uint64_t rate_ai, rate_hai, min_rate, dctcp_rate_ai;
	char topology[512], flows[512];
	unsigned n_ecn;
	struct wf_ecn_rate ecn[WF_ECN_RATES]; /* KMAX_MAP, KMIN_MAP, PMAX_MAP */
};

/* A flow of the flow file, in its words. */
struct wf_ns3_line {
	uint32_t src, dst; /* node ids */
	uint32_t pg, dport, sport;
	uint32_t size;
	uint64_t start_ns;
};

struct wf_ns3_input {
	struct wf_ns3_config config;
	struct wf_topo *topo;      /* NULL: flows are read without one */
	uint32_t max_nodes;        /* without topo: any number below this may be a host's */
	struct wf_ns3_line *lines; /* in the order of the file */
	uint32_t n_lines;
	struct wf_ns3_path *paths; /* two for each flow; NULL: not pinned */
};

/* Frees what was read, topo too. */
void wf_ns3_input_fini(struct wf_ns3_input *in);

/*
 * Reads one kind of file, whose text is bytes and whose name, for errors, is name. Flows need
 * topo or max_nodes in *in, paths need the flows. Whatever these return (0, -EINVAL with err
 * filled, or -ENOMEM), the caller gives *in to wf_ns3_input_fini().
 */
int wf_ns3_config_parse(struct wf_ns3_config *config, const char *bytes, size_t len,
                        const char *name, struct wf_err *err) WF_MUST_USE;
int wf_ns3_flows_parse(struct wf_ns3_input *in, const char *bytes, size_t len, const char *name,
                       struct wf_err *err) WF_MUST_USE;
int wf_ns3_paths_parse(struct wf_ns3_input *in, const char *bytes, size_t len, const char *name,
                       struct wf_err *err) WF_MUST_USE;

#endif
