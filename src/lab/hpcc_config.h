/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hpcc_config.h - reads the input files of the HPCC simulator (ns-3): configuration, topology, flows,
 * and the paths that were taken.
 */
#ifndef WF_LAB_HPCC_CONFIG_H
#define WF_LAB_HPCC_CONFIG_H

#include "fabric/config.h"
#include "lab/file.h"
#include "sim/hpcc_host.h"
#include "topo/topo.h"

enum wf_hpcc_cc {
	WF_HPCC_DCQCN = 1,
	WF_HPCC_HPCC = 3,
	WF_HPCC_TIMELY = 7,
	WF_HPCC_DCTCP = 8,
	WF_HPCC_PINT = 10
};

/* The configuration's keys, in weft's units. */
struct wf_hpcc_config {
	uint32_t cc_mode; /* enum wf_hpcc_cc */
	bool enable_qcn, clamp_target, has_win, global_t, var_win, fast_react, rate_bound, ack_high;
	bool back_to_zero, multi_rate, sample_feedback;
	uint32_t payload, chunk, ack_interval, recovery_times, mi_thresh, int_multi, buffer_mib;
	wf_time stop, alpha_resume, rate_decrease, rp_timer;
	uint64_t gain, u_target, loss, pint_prob; /* of 2^32 */
	uint64_t pint_base;                       /* of 2^16 */
	uint64_t rate_ai, rate_hai, min_rate, dctcp_rate_ai;
	char topology[512], flows[512];
	unsigned n_ecn;
	struct wf_ecn_rate ecn[WF_ECN_RATES]; /* KMAX_MAP, KMIN_MAP, PMAX_MAP */
};

/* A flow of the flow file, in its words. */
struct wf_hpcc_line {
	uint32_t src, dst; /* node ids */
	uint32_t pg, dport, sport;
	uint32_t size;
	uint64_t start_ns;
};

struct wf_hpcc_input {
	struct wf_hpcc_config config;
	struct wf_topo *topo;
	struct wf_hpcc_line *lines; /* in the order of the file */
	uint32_t n_lines;
	struct wf_pin_path *paths; /* two for each flow; NULL: not pinned */
};

/*
 * Reads config and what it names (looked for beside it, then one and two folders further up), and paths unless
 * that is NULL. On success the caller gives *in to wf_hpcc_input_fini(). Returns 0, -EINVAL with err
 * filled, or -ENOMEM.
 */
int wf_hpcc_input_read(struct wf_hpcc_input *in, const char *config, const char *paths,
                       struct wf_err *err) WF_MUST_USE;

/* Frees what was read. */
void wf_hpcc_input_fini(struct wf_hpcc_input *in);

/*
 * The pieces of the above, on text in memory; name is that of the file. Flows may be read without a
 * topology (NULL): then any number may be a host's.
 */
int wf_hpcc_config_parse(struct wf_hpcc_config *config, const char *bytes, size_t len,
                         const char *name, struct wf_err *err) WF_MUST_USE;
int wf_hpcc_flows_parse(struct wf_hpcc_input *in, const char *bytes, size_t len, const char *name,
                        struct wf_err *err) WF_MUST_USE;
int wf_hpcc_paths_parse(struct wf_hpcc_input *in, const char *bytes, size_t len, const char *name,
                        struct wf_err *err) WF_MUST_USE;

#endif
