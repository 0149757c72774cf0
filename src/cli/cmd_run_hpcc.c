/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_run_hpcc.c - weft run --hpcc: the HPCC simulator's input, in its model, to its output.
 */
#include "cli/cmd_run_hpcc.h"

#include <inttypes.h>

#include "cli/cli.h"
#include "run/hpcc_run.h"
#include "text/human.h"

static void say(const struct wf_hpcc_run *run)
{
	char hops[WF_HUMAN];
	double n = run->counts.hops > 0 ? (double)run->counts.hops : 1;

	wf_human_count(run->counts.hops, hops, sizeof(hops));
	fprintf(stderr,
	        "%" PRIu32 " of %" PRIu32 " flows done, %zu PFC frames, %" PRIu64 " marks, %" PRIu64
	        " drops\n",
	        run->flows_done, run->flows, run->pauses, run->counts.marked, run->counts.dropped);
	fprintf(stderr, "%s packet-hops in %.2f s: %.2f s of CPU, %.0f ns each\n", hops,
	        (double)run->wall_ns / 1e9, (double)run->cpu_ns / 1e9, (double)run->cpu_ns / n);
}

int wf_cmd_run_hpcc(const struct wf_cmd_run_hpcc *cmd)
{
	const struct wf_hpcc_run_opts opts = {
		.seed = cmd->seed,
		.out = cmd->out,
	};
	struct wf_ns3_input input;
	struct wf_hpcc_run run;
	struct wf_err err = { "" };
	int ret = wf_hpcc_input_read(&input, cmd->config, cmd->paths, &err);

	if (ret == 0) {
		ret = wf_hpcc_run(&input, &opts, &run, &err);
		wf_ns3_input_fini(&input);
	}
	if (ret != 0)
		return wf_cli_fail(ret, &err);
	if (!cmd->quiet)
		say(&run);
	return WF_EXIT_OK;
}
