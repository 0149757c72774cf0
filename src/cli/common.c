/* SPDX-License-Identifier: Apache-2.0 */
/*
 * common.c - the options that several commands have.
 */
#include "cli/common.h"

#include <string.h>

#include "cli/cli.h"
#include "cli/topics.h"

const struct wf_opt wf_opt_run = {
	.name = "run",
	.arg = "N",
	.help = "Only this run of a results file; `run.csv` of `weft export --to csv` lists them.",
};

const struct wf_values wf_values_any_file = { .files = "*" };
const struct wf_values wf_values_folder = { .files = "/" };
const struct wf_values wf_values_yaml = { .files = "*.yaml" };
const struct wf_values wf_values_results = { .files = "*.db" };

static void each_command(wf_values_fn *fn, void *arg)
{
	for (size_t i = 0; wf_cmd_all()[i] != NULL; i++)
		fn(arg, wf_cmd_all()[i]->name, wf_cmd_all()[i]->summary);
}

const struct wf_values wf_values_commands = { .each = each_command };

static void each_profile(wf_values_fn *fn, void *arg)
{
	wf_topic_each("profiles", fn, arg);
}

static void each_setting(wf_values_fn *fn, void *arg)
{
	wf_topic_each("parameters", fn, arg);
}

static const char *const event_words[] = {
	"all",      "none",      "pause",   "drop",     "retransmit",
	"qp_error", "link_down", "link_up", "watchdog", "watchdog_restored",
	"deadlock", NULL
};
static const char *const none_word[] = { "none", NULL };

static const struct wf_values profiles = { .each = each_profile, .list = true };
static const struct wf_values settings = { .each = each_setting };
static const struct wf_values events = { .words = event_words, .list = true };
static const struct wf_values samples = { .words = none_word };

const struct wf_opt wf_opt_fabric = {
	.name = "fabric",
	.letter = 'f',
	.arg = "NAME[,NAME...]",
	.help = "Which fabric, by the name of its profile (`weft list profiles`), or which ones.",
	.values = &profiles,
};

const struct wf_opt wf_opt_set = {
	.name = "set",
	.letter = 's',
	.arg = "PARAMETER=VALUE",
	.help = "Changes a parameter, after everything is read (`weft list parameters`). May be "
		"given several times.",
	.values = &settings,
};

const struct wf_opt wf_opt_seed = {
	.name = "seed",
	.arg = "N",
	.help = "The seed from which everything follows that is drawn by chance.",
};

const struct wf_opt wf_opt_seeds = {
	.name = "seeds",
	.arg = "N",
	.help = "How many seeds, 1 to 100.",
};

const struct wf_opt wf_opt_threads = {
	.name = "threads",
	.letter = 't',
	.arg = "N",
	.help = "Threads for each simulation, 1 to 64. The results do not depend on it.",
};

const struct wf_opt wf_opt_jobs = {
	.name = "jobs",
	.arg = "N",
	.help = "Simulations at once, 1 to 64; as many as there are processors if not given. The "
		"results do not depend on it.",
};

const struct wf_opt wf_opt_json = {
	.name = "json",
	.letter = 'j',
	.help = "Prints JSON instead of tables for people.",
};

const struct wf_opt wf_opt_out = {
	.name = "out",
	.letter = 'o',
	.arg = "PATH",
	.help = "Where the output goes; `-` is standard output.",
	.values = &wf_values_any_file,
};

const struct wf_opt wf_opt_record = {
	.name = "record",
	.arg = "FILE",
	.help = "Records each run to this SQLite file while it goes: parameters, results, "
		"topology, counters of every port over virtual time, events, flows, latencies.",
	.values = &wf_values_results,
};

const struct wf_opt wf_opt_sample = {
	.name = "sample",
	.arg = "TIME",
	.help = "With --record: how often counters are sampled, in virtual time; with `none` only "
		"at the end.",
	.values = &samples,
};

const struct wf_opt wf_opt_events = {
	.name = "events",
	.arg = "KIND,...",
	.help = "With --record: the kinds of events that are recorded: `pause`, `drop`, "
		"`retransmit`, `qp_error`, `link_down`, `link_up`, `watchdog`, "
		"`watchdog_restored`, `deadlock`; or `all`, or `none`.",
	.values = &events,
};

const struct wf_opt wf_opt_profiles = {
	.name = "profiles",
	.arg = "DIR",
	.help = "Looks for profiles in this folder first.",
	.values = &wf_values_folder,
};

const struct wf_opt wf_opt_quiet = {
	.name = "quiet",
	.letter = 'q',
	.help = "Does not say how far it is, nor how long it took.",
};

const struct wf_param wf_opt_param_threads = {
	.name = "threads",
	.kind = WF_PARAM_U32,
	.size = sizeof(uint32_t),
	.min = 1,
	.max = 64,
};

const struct wf_param wf_opt_param_jobs = {
	.name = "jobs",
	.kind = WF_PARAM_U32,
	.size = sizeof(uint32_t),
	.min = 1,
	.max = 64,
};

const char *wf_opt_out_path(const char *out)
{
	return out == NULL || strcmp(out, "-") == 0 ? NULL : out;
}
