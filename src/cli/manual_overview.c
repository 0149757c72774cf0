/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manual_overview.c - the page of the whole program: its commands, and what holds for all.
 */
#include "cli/manual_priv.h"

#define EXIT_STATUS                                                                                \
	":0\tIt worked.\n"                                                                         \
	":1\tIt could not be done: no memory, no space on the disk.\n"                             \
	":2\tWhat was asked is wrong: the command line, or a file, with a message "                \
	"`FILE:LINE:COLUMN: "                                                                      \
	"what is wrong; what would be right`.\n"                                                   \
	":130, 143\tIt was interrupted (SIGINT, SIGTERM); what had finished is reported.\n"

static const struct wf_opt version = {
	.name = "version",
	.letter = 'V',
	.help = "Says which version it is.",
};

static const struct wf_opt_row rows[] = { { .is = &version }, { .is = NULL } };

static const char *const forms[] = { "COMMAND [ARGUMENTS]", "help COMMAND", NULL };

static const struct wf_cmd_section sections[] = {
	{ "Grammar",
	  "An option means the same in every command that has it, its letter too. Where a command "
	  "has --out, that is where its output goes, and `-` is standard output; where it prints "
	  "a table, --json prints the same for programs. --threads are those of one simulation, "
	  "--jobs are simulations at once. `--` ends the options.\n" },
	{ "Exit status", EXIT_STATUS },
	{ "Environment",
	  ":WEFT_PROFILES\tA folder that is searched for profiles and distributions of flow sizes, "
	  "after that of --profiles and before those that come with weft.\n"
	  ":WEFT_RUNTIME_DIR\tThe folder of live fabrics' sockets; otherwise "
	  "`$XDG_RUNTIME_DIR/weft` "
	  "or `/tmp/weft-UID`.\n"
	  ":WEFT_FABRIC\tThe live fabric that is meant where --name is not given.\n" },
	{ "Files", ":PREFIX/share/weft/profiles/NAME.yaml\tProfiles.\n"
	           ":PREFIX/share/weft/profiles/sizes/NAME.txt\tDistributions of flow sizes.\n" },
	{ "Examples", "  weft run examples/incast.yaml\n"
	              "  weft compare examples/train-64.yaml --record step.db\n"
	              "  weft report step.db\n" },
	{ NULL, NULL },
};

#define SEE(name) ", weft-" #name "(1)"

void wf_manual_overview(struct wf_cmd *cmd, char text[WF_MANUAL_OVERVIEW])
{
	int at = snprintf(text, WF_MANUAL_OVERVIEW,
	                  "An RDMA fabric in software: InfiniBand and RoCE, packet by packet, in "
	                  "virtual time; and live, for unmodified RDMA programs. A scenario, one "
	                  "YAML file, says what to simulate; the results of several fabrics are "
	                  "printed side by side.\n");

	for (size_t i = 0; wf_cmd_all()[i] != NULL; i++)
		at += snprintf(text + at, (size_t)(WF_MANUAL_OVERVIEW - at), ":weft %s\t%s\n",
		               wf_cmd_all()[i]->name, wf_cmd_all()[i]->summary);
	*cmd = (struct wf_cmd){
		.name = "",
		.summary = "an RDMA fabric in software",
		.operands = "COMMAND",
		.options = rows,
		.forms = forms,
		.text = text,
		.sections = sections,
		.see = "weft-scenario(5), weft-results(5)" WF_CLI_COMMANDS(SEE),
	};
}
