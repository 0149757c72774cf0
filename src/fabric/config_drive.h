/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_drive.h - the drives of a host that is a storage target: parameters drive.*.
 *
 * They are no part of what the packet path reads. They stand with the fabric's values so that a
 * device may have its own, and so that they may change while a fabric runs: a drive that wears out.
 */
#ifndef WF_FABRIC_CONFIG_DRIVE_H
#define WF_FABRIC_CONFIG_DRIVE_H

#include "base/param.h"

#define WF_DRIVES_MAX 64 /* of a target */

struct wf_drive_cfg {
	uint32_t count;
	uint32_t read_iops, write_iops; /* commands/s of one at most */
	wf_time read, write;            /* latency of a command, besides what its bytes take */
	uint64_t read_rate, write_rate; /* bits/s of one */
	wf_time software;               /* of the target, from a command to its drive */
};

/* The rows for a struct wf_drive_cfg: "drive.count" ... */
extern const struct wf_param wf_drive_params[];
extern const size_t wf_drive_n_params;

#endif
