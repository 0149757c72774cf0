/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_run_hpcc.h - weft run --hpcc.
 */
#ifndef WF_CLI_CMD_RUN_HPCC_H
#define WF_CLI_CMD_RUN_HPCC_H

#include <stdbool.h>
#include <stdint.h>

struct wf_cmd_run_hpcc {
	const char *config; /* file */
	const char *paths;  /* file; NULL: flows are hashed onto paths */
	const char *out;    /* folder */
	uint64_t seed;
	bool quiet;
};

/* Runs it and says how it went. Returns the exit status. */
int wf_cmd_run_hpcc(const struct wf_cmd_run_hpcc *cmd);

#endif
