/* SPDX-License-Identifier: Apache-2.0 */
/*
 * study.c - reads the options that commands which simulate share.
 */
#include "cli/study.h"

#include "cli/cli.h"
#include "text/file.h"

const struct wf_values *const wf_cli_study_values[] = { &wf_values_yaml, NULL };

int wf_cli_study_take_seed(const struct wf_opt_call *call)
{
	struct wf_cli_study *study = call->request;

	study->seed = call->arg;
	return wf_cli_sets_add(&study->sets, call->cmd, "--seed", call->arg, "seed", call->arg);
}

int wf_cli_study_operand(struct wf_cli_study *study, const char *cmd, int argc, char **argv,
                         const char *example)
{
	const char *out;

	if (optind == argc)
		return wf_cli_usage(cmd, "which scenario? Name a file, e.g. %s", example);
	if (optind + 1 < argc)
		return wf_cli_usage(cmd, "one scenario at a time, not %s too", argv[optind + 1]);
	study->scenario = argv[optind];
	out = wf_opt_out_path(study->out);
	if (out != NULL && wf_file_is_same(out, study->scenario))
		return wf_cli_usage(cmd, "--out would replace the scenario");
	return wf_cli_record_check(&study->record, cmd);
}
