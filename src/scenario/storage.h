/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage.h - a scenario's `storage:`, a list of who uses whose drives, and how.
 *
 *	storage:
 *	  - {targets: [h6, h7], kind: random, read: 70%, block: 4KiB, depth: 32, duration: 2ms}
 *	  - {targets: h7, hosts: 'h0, h1', kind: checkpoint, bytes: 1GB, transport: tcp, class: 0}
 */
#ifndef WF_SCENARIO_STORAGE_H
#define WF_SCENARIO_STORAGE_H

#include "scenario/settings.h"
#include "sim/storage/storage.h"

#define WF_SCENARIO_MAX_STORAGE 16

struct wf_scenario;

struct wf_scenario_storage {
	struct wf_storage_cfg cfg;
	struct wf_settings settings;
	struct wf_place place;
};

/* Reads the list. Returns 0, -ENOMEM, or -EINVAL with err filled, as all of these do. */
int wf_scenario_storage_read(struct wf_scenario *s, const struct wf_ynode *node,
                             struct wf_err *err) WF_MUST_USE;

/* Checks what was read, after what the command line says of it. */
int wf_scenario_storage_check(struct wf_scenario *s, struct wf_err *err) WF_MUST_USE;

/* Finds hosts and targets on the scenario's networks, and makes its list of entries. */
int wf_scenario_storage_build(struct wf_scenario *s, struct wf_err *err) WF_MUST_USE;

#endif
