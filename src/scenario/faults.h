/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.h - what goes wrong in a scenario, and when: its `faults:`.
 *
 *	faults:
 *	  - {on: leaf0-spine1, at: 20us, until: 50us, fault: down}
 *	  - {on: spine1, at: 20us, fault: down}           # all its links, for good
 *	  - {on: leaf0-spine1, at: 20us, until: 2ms, fault: flap, every: 100us, for: 10us}
 *	  - {on: h5, at: 20us, until: 1ms, fault: pause-storm}
 *	  - {on: h5, at: 20us, until: 1ms, fault: slow-receiver, rate: 32Gbps}
 *	  - {on: h5, at: 20us, set: {nic: {pcie: 32Gbps}}}  # any setting that may change
 *	  - {link: [leaf0, spine1, 2], down: 20us, up: 50us} # down; of several the third
 *
 * Names are those of `devices:` (scenario/device_names.h).
 */
#ifndef WF_SCENARIO_FAULTS_H
#define WF_SCENARIO_FAULTS_H

#include "scenario/settings.h"
#include "topo/topo.h"

#define WF_SCENARIO_MAX_FAULTS 1024
#define WF_SCENARIO_MAX_EVENTS 100000 /* of a fabric, that follow from them */

struct wf_scenario;
struct wf_scenario_fabric;

enum wf_scenario_fault_kind {
	WF_FAULT_DOWN,
	WF_FAULT_FLAP,
	WF_FAULT_STORM,
	WF_FAULT_SLOW,
	WF_FAULT_SET
};

struct wf_scenario_fault {
	enum wf_scenario_fault_kind kind;
	int fabric;                 /* the only one it is for; -1: for all */
	const char *on;             /* a name; NULL: ends */
	char ends[2][WF_TOPO_NAME]; /* names of nodes */
	uint32_t parallel;          /* which of several links between them */
	wf_time at, until;          /* until: WF_PARAM_AUTO = for good */
	wf_time every, lasts;       /* flap */
	uint64_t rate;              /* slow-receiver: bits/s */
	unsigned rule;              /* set: its number among the scenario's rules */
	struct wf_place place;      /* of on, or of the link */
};

/* Reads a list of faults, for a fabric or for all (-1). Returns 0, -ENOMEM, or -EINVAL with err. */
int wf_faults_read(struct wf_scenario *s, const struct wf_ynode *node, int fabric,
                   struct wf_err *err) WF_MUST_USE;

/*
 * Reads an entry for a fabric that runs: its times count from now, and without at it begins now.
 * Returns the same.
 */
int wf_faults_read_one(struct wf_scenario *s, const struct wf_ynode *node, wf_time now,
                       struct wf_err *err) WF_MUST_USE;

/* "down"; of settings "set". */
const char *wf_fault_word(enum wf_scenario_fault_kind kind);

/* Makes the events of a fabric, whose devices are built. Returns the same. */
int wf_faults_build(struct wf_scenario *s, struct wf_scenario_fabric *f,
                    struct wf_err *err) WF_MUST_USE;

/* Makes those of the last fault alone. Returns the same. */
int wf_faults_build_last(struct wf_scenario *s, struct wf_scenario_fabric *f,
                         struct wf_err *err) WF_MUST_USE;

/*
 * Adds an event to a fabric's. Returns 0, -ENOMEM, or -EINVAL with err filled when there are too
 * many.
 */
struct wf_sim_fault;
int wf_faults_add(struct wf_scenario *s, struct wf_scenario_fabric *f,
                  const struct wf_sim_fault *event, const struct wf_place *place,
                  struct wf_err *err) WF_MUST_USE;

#endif
