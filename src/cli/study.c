/* SPDX-License-Identifier: Apache-2.0 */
/*
 * study.c - reads the options that subcommands which simulate share.
 */
#include "cli/study.h"

#include "cli/cli.h"

int wf_cli_study_option(struct wf_cli_study *study, int c)
{
	switch (c) {
	case 'f':
		study->fabrics = optarg;
		return 0;
	case 's':
		return wf_cli_sets_parse(&study->sets, study->cmd, optarg);
	case WF_CLI_SEED:
		study->seed = optarg;
		return wf_cli_sets_add(&study->sets, study->cmd, "--seed", optarg, "seed", optarg);
	case 't':
		return wf_cli_threads(study->cmd, optarg, &study->threads);
	case 'j':
		study->json = true;
		return 0;
	case 'o':
		study->out = optarg;
		return 0;
	case WF_CLI_RECORD:
		study->record.path = optarg;
		return 0;
	case WF_CLI_SAMPLE:
		study->record.sample_text = optarg;
		return 0;
	case WF_CLI_EVENTS:
		study->record.events_text = optarg;
		return 0;
	case WF_CLI_PROFILES:
		study->profiles = optarg;
		return 0;
	case 'q':
		study->quiet = true;
		return 0;
	case 'h':
		study->help = true;
		return 0;
	default:
		return WF_EXIT_USAGE;
	}
}

int wf_cli_study_operand(struct wf_cli_study *study, int argc, char **argv, const char *example)
{
	if (optind == argc)
		return wf_cli_usage(study->cmd, "which scenario? Name a file, e.g. %s", example);
	if (optind + 1 < argc)
		return wf_cli_usage(study->cmd, "one scenario at a time, not %s too",
		                    argv[optind + 1]);
	study->scenario = argv[optind];
	return wf_cli_record_check(&study->record, study->cmd);
}
