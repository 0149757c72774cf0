/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_sharp.h - reduction in switches (SHARP): parameters sharp.*, whose rows say what each is
 * (config.c).
 */
#ifndef WF_FABRIC_CONFIG_SHARP_H
#define WF_FABRIC_CONFIG_SHARP_H

#include <stdbool.h>

#include "base/err.h"
#include "base/param.h"

struct wf_fabric_cfg;

struct wf_sharp_cfg {
	uint64_t trees;      /* of each kind; or auto: the generation's */
	wf_time latency;     /* last contribution in to result out, besides the switch's */
	uint64_t rate;       /* bits/s that a switch takes in; or auto: any */
	uint64_t payload;    /* bytes of an operation of a low-latency tree; or auto */
	uint64_t streaming;  /* bytes from which a reduction takes a streaming tree; auto: never */
	uint64_t buffer;     /* bytes of a communicator under way in one */
	wf_time fragment;    /* the host's, for each further operation of a reduction */
	uint32_t operations; /* of a communicator under way in a low-latency tree */
	uint32_t tree_jobs;  /* that share such a tree in a switch */
	uint32_t jobs;       /* of one adapter; 0: any number */
	uint32_t mads;       /* under way when a manager sets trees up */
	char generation[19]; /* "switch-ib-2", "quantum" or "quantum-2" */
	bool enabled;
};

extern const char *const wf_sharp_generations[]; /* their names; ends with NULL */

/* What kinds of switches differ in. */
struct wf_sharp_generation {
	const char *name;
	uint32_t trees;   /* of each kind, in a subnet */
	uint64_t payload; /* bytes of an operation of a low-latency tree */
	bool streams;     /* it has streaming trees, */
	bool by_port;     /* one at a port; else one in a switch */
};

/* The one that is set. */
const struct wf_sharp_generation *wf_sharp_generation(const struct wf_sharp_cfg *cfg);

/* Bytes of data in a packet of a low-latency tree at most, and trees of each kind. */
uint64_t wf_sharp_payload(const struct wf_sharp_cfg *cfg);
uint32_t wf_sharp_trees(const struct wf_sharp_cfg *cfg);

/*
 * Checks that a fabric can have it. Returns 0, or -EINVAL with a message in err of the form
 * "<parameter>: <what is wrong>; <what would be right>".
 */
int wf_sharp_check(const struct wf_fabric_cfg *cfg, struct wf_err *err) WF_MUST_USE;

#endif
