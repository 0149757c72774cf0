/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_ib.c - weft ib: a real InfiniBand subnet from other tools' files: its routes, what is wrong.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/common.h"
#include "cli/ib.h"
#include "subnet/write.h"
#include "text/file.h"
#include "text/suggest.h"

#define SHOWN_NOTES 20

/* ---- what cannot be read ---- */

static void say_notes(const struct wf_ib *ib)
{
	unsigned n = 0;

	for (const struct wf_ib_note *note = ib->notes; note != NULL && n < SHOWN_NOTES;
	     note = note->next, n++)
		fprintf(stderr, "weft ib: %s:%u:%u: %s\n", note->file, note->line, note->column,
		        note->what);
	if (ib->n_notes > n)
		fprintf(stderr, "weft ib: and %u more of these; --json has all\n", ib->n_notes - n);
}

/* ---- export ---- */

static void sink_put(void *arg, const char *text, size_t len)
{
	(void)fwrite(text, 1, len, arg);
}

static int do_export(struct wf_ib *ib, FILE *file, struct wf_err *err)
{
	const struct wf_sink sink = { sink_put, file };
	int ret = wf_ib_route(ib, ib->ask->engine != NULL ? ib->ask->engine : "minhop", err);

	if (ret != 0)
		return ret;
	if (strcmp(ib->ask->form, "lfts") == 0)
		return wf_tables_write(ib->subnet, ib->tables, &sink);
	wf_subnet_write(ib->subnet, &sink);
	return 0;
}

/* ---- import ---- */

/* A profile whose adapters are as fast as most links of hosts, or nearly. */
static const char *profile_for(const struct wf_topo *topo)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < topo->n_hosts; i++)
		sum += topo->links[topo->ports[topo->nodes[topo->host_node[i]].first_port].link]
		               .rate /
		       1000000;
	return sum / (topo->n_hosts == 0 ? 1 : topo->n_hosts) < 300000 ? "ib-hdr" : "ib-ndr";
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

/* A scenario that simulates the fabric; it is meant to lie beside the file. */
static int write_scenario(const struct wf_ib *ib, FILE *file, struct wf_err *err)
{
	if (ib->text == NULL)
		return wf_err_say(err, "--form scenario: %s is one already", ib->ask->file);
	if (ib->topo == NULL)
		return wf_err_say(err, "%s", ib->no_topo.text);
	fprintf(file,
	        "# %" PRIu32 " hosts and %" PRIu32
	        " switches of a real subnet. The file lies beside this one.\n"
	        "name: %s\n"
	        "topology: {kind: ibnetdiscover, file: \"%s\"}\n"
	        "fabric: %s\n"
	        "traffic:\n"
	        "  - {kind: permutation, size: 1MB}\n"
	        "run: {until: 100ms}\n",
	        ib->topo->n_hosts, ib->topo->n_nodes - ib->topo->n_hosts, base_name(ib->ask->file),
	        base_name(ib->ask->file), profile_for(ib->topo));
	return 0;
}

static int do_import(struct wf_ib *ib, FILE *file, struct wf_err *err)
{
	int ret = wf_ib_as_topology(ib);

	if (ret != 0)
		return ret;
	return ib->ask->form != NULL && strcmp(ib->ask->form, "scenario") == 0
	               ? write_scenario(ib, file, err)
	               : wf_ib_print_import(ib, file);
}

/* ---- routes and check ---- */

static int do_routes(struct wf_ib *ib, FILE *file, struct wf_err *err)
{
	int ret = wf_ib_route(ib, ib->ask->engine != NULL ? ib->ask->engine : "minhop", err);

	return ret != 0 ? ret : wf_ib_print_routes(ib, file);
}

static int do_check(struct wf_ib *ib, FILE *file, struct wf_err *err, unsigned *errors_p)
{
	int ret = ib->ask->engine != NULL ? wf_ib_route(ib, ib->ask->engine, err) : 0;

	return ret != 0 ? ret : wf_ib_print_check(ib, file, errors_p);
}

/* ---- the command ---- */

static const char *const action_names[] = { "routes", "check", "import", "export", NULL };
static const char *const form_names[] = { "ibnetdiscover", "lfts", "scenario", NULL };

static int act(struct wf_ib *ib, FILE *file, struct wf_err *err, unsigned *errors_p)
{
	const char *action = ib->ask->action;

	if (strcmp(action, "routes") == 0)
		return do_routes(ib, file, err);
	if (strcmp(action, "check") == 0)
		return do_check(ib, file, err, errors_p);
	if (strcmp(action, "import") == 0)
		return do_import(ib, file, err);
	return do_export(ib, file, err);
}

static int read_and_act(const struct wf_ib_ask *ask)
{
	struct wf_err err = { "" };
	struct wf_out out;
	struct wf_ib ib;
	unsigned errors = 0;
	int rc = wf_out_open(&out, wf_opt_out_path(ask->out), &err);

	if (rc != 0)
		return wf_cli_fail(rc, &err);
	rc = wf_ib_read(&ib, ask, &err);
	if (rc == 0) {
		if (!ask->json)
			say_notes(&ib);
		rc = act(&ib, out.file, &err, &errors);
	}
	if (rc == 0)
		rc = wf_out_commit(&out, &err);
	wf_out_abort(&out);
	wf_ib_fini(&ib);
	if (rc != 0)
		return wf_cli_fail(rc, &err);
	return errors != 0 ? WF_EXIT_FAILED : WF_EXIT_OK;
}

static int unknown(const char *what, const char *word, const char *const *names)
{
	struct wf_suggest suggest;

	wf_suggest_init(&suggest, word);
	for (size_t i = 0; names[i] != NULL; i++)
		wf_suggest_offer(&suggest, names[i]);
	return wf_cli_usage("ib", "%s '%.40s'%s", what, word,
	                    wf_suggest_text(&suggest, "there are"));
}

static bool is_among(const char *word, const char *const *names)
{
	for (size_t i = 0; names[i] != NULL; i++) {
		if (strcmp(names[i], word) == 0)
			return true;
	}
	return false;
}

/* Options that go with some actions only. */
static int check_ask(const struct wf_ib_ask *ask)
{
	bool export = strcmp(ask->action, "export") == 0,
	     import = strcmp(ask->action, "import") == 0;
	const char *out = wf_opt_out_path(ask->out);

	if (ask->engine != NULL && !is_among(ask->engine, wf_sm_route_names))
		return unknown("--engine: there is no engine", ask->engine, wf_sm_route_names);
	if (ask->form != NULL && !is_among(ask->form, form_names))
		return unknown("--form: there is no form", ask->form, form_names);
	if (ask->engine != NULL && ask->lfts != NULL)
		return wf_cli_usage("ib",
		                    "--engine makes tables and --lfts reads them; one of both");
	if (export && (ask->form == NULL || strcmp(ask->form, "scenario") == 0))
		return wf_cli_usage("ib", "--form: export as ibnetdiscover or as lfts");
	if (import && ask->form != NULL && strcmp(ask->form, "scenario") != 0)
		return wf_cli_usage("ib", "--form: import as scenario, or without it");
	if (!import && !export && ask->form != NULL)
		return wf_cli_usage("ib", "--form goes with import and export");
	if (ask->partitions != NULL && strcmp(ask->action, "check") != 0)
		return wf_cli_usage("ib", "--partitions goes with check");
	if (ask->json && (export || ask->form != NULL))
		return wf_cli_usage("ib", "--json: a file in another tool's form is no JSON");
	if (out != NULL && wf_file_is_same(out, ask->file))
		return wf_cli_usage("ib", "--out would replace what is read");
	return -1;
}

static int run_ib(int argc, char **argv)
{
	struct wf_ib_ask ask = { .seeds = 10 };
	int status = wf_opt_parse(&wf_cmd_ib, argc, argv, &ask);

	if (status >= 0)
		return status;
	if (optind == argc)
		return wf_cli_usage("ib", "what is to be done? routes, check, import or export");
	ask.action = argv[optind];
	if (!is_among(ask.action, action_names))
		return unknown("there is no action", ask.action, action_names);
	if (optind + 2 != argc)
		return wf_cli_usage("ib", "name one file of a subnet, or one scenario");
	ask.file = argv[optind + 1];
	status = check_ask(&ask);
	return status >= 0 ? status : read_and_act(&ask);
}

/* ---- its page ---- */

static int take_lmc(const struct wf_opt_call *call)
{
	struct wf_ib_ask *ask = call->request;

	ask->lmc_given = true;
	return wf_opt_take_param(call);
}

static void each_action(wf_values_fn *fn, void *arg)
{
	fn(arg, "routes", "hops, and load of links");
	fn(arg, "check", "what is wrong");
	fn(arg, "import", "what is in a file, and as a scenario");
	fn(arg, "export", "in the form of another tool");
}

static void each_engine(wf_values_fn *fn, void *arg)
{
	for (size_t i = 0; wf_sm_route_all()[i] != NULL; i++)
		fn(arg, wf_sm_route_all()[i]->name, wf_sm_route_all()[i]->help);
}

static const struct wf_values actions = { .each = each_action };
static const struct wf_values engines = { .each = each_engine };
static const struct wf_values forms = { .words = form_names };
static const struct wf_values *const operands[] = { &actions, &wf_values_any_file, NULL };

#define NUMBER(what, low, high)                                                                    \
	&(const struct wf_param)                                                                   \
	{                                                                                          \
		.name = (what), .kind = WF_PARAM_U32, .size = sizeof(uint32_t), .min = (low),      \
		.max = (high)                                                                      \
	}

static const struct wf_opt_row options[] = {
	{
		.is =
			&(const struct wf_opt){
				.name = "engine",
				.arg = "NAME",
				.help = "The routing that makes the forwarding tables, as OpenSM's "
					"of "
					"that name does:\n"
					":minhop\tthe fewest hops, spread over equal ports\n"
					":updn\tthe fewest hops that never go up after having gone "
					"down\n"
					":ftree\tfat trees: as many ways down each link as any "
					"other\n"
					":dfsssp\tany graph, kept free of credit loops by virtual "
					"lanes\n"
					"\n"
					"Where it cannot route the subnet, minhop does, and it is "
					"said "
					"why.",
				.values = &engines,
			},
		.take = wf_opt_take_text,
		.at = offsetof(struct wf_ib_ask, engine),
	},
	{
		.is =
			&(const struct wf_opt){
				.name = "roots",
				.arg = "NODE[,NODE...]",
				.help = "updn, ftree: the highest switches, by GUID or "
					"description; "
					"found if not given.",
			},
		.take = wf_opt_take_text,
		.at = offsetof(struct wf_ib_ask, roots),
	},
	{
		.is =
			&(const struct wf_opt){
				.name = "vls",
				.arg = "N",
				.help = "dfsssp: virtual lanes that there are, 1 to 15; 8 if not "
					"given.",
			},
		.take = wf_opt_take_param,
		.at = offsetof(struct wf_ib_ask, vls),
		.param = NUMBER("vls", 1, WF_SM_MAX_VLS),
	},
	{
		.is =
			&(const struct wf_opt){
				.name = "lmc",
				.arg = "N",
				.help = "Gives every port 2^N LIDs, 0 to 7, in OpenSM's order. If "
					"not "
					"given, ports keep theirs, and only those without get one.",
			},
		.take = take_lmc,
		.at = offsetof(struct wf_ib_ask, lmc),
		.param = NUMBER("lmc", 0, WF_SUBNET_MAX_LMC),
	},
	{
		.is =
			&(const struct wf_opt){
				.name = "lfts",
				.arg = "FILE",
				.help = "The forwarding tables that there are: opensm-lfts.dump, "
					"the "
					"output of dump_lfts.sh, dump_fts or ibroute, opensm.fdbs, "
					"ibdiagnet2.fdbs.",
				.values = &wf_values_any_file,
			},
		.take = wf_opt_take_text,
		.at = offsetof(struct wf_ib_ask, lfts),
	},
	{
		.is =
			&(const struct wf_opt){
				.name = "counters",
				.arg = "FILE",
				.help = "What ports have counted: a db_csv with PM_INFO, or output "
					"of "
					"perfquery. The file that is looked at may have them "
					"itself.",
				.values = &wf_values_any_file,
			},
		.take = wf_opt_take_text,
		.at = offsetof(struct wf_ib_ask, counters),
	},
	{
		.is =
			&(const struct wf_opt){
				.name = "partitions",
				.arg = "FILE",
				.help = "check: OpenSM's partitions.conf; which ports may not talk "
					"to "
					"which.",
				.values = &wf_values_any_file,
			},
		.take = wf_opt_take_text,
		.at = offsetof(struct wf_ib_ask, partitions),
	},
	{ .is = &wf_opt_seeds,
	  .take = wf_opt_take_param,
	  .at = offsetof(struct wf_ib_ask, seeds),
	  .param = NUMBER("seeds", 1, WF_IB_MAX_SEEDS),
	  .more = "routes: a random permutation is drawn for each; 10 if not given." },
	{
		.is =
			&(const struct wf_opt){
				.name = "form",
				.arg = "NAME",
				.help = "In which form:\n"
					":ibnetdiscover\texport: the subnet, as that tool prints "
					"it; "
					"ibsim reads it\n"
					":lfts\texport: the tables, as OpenSM's opensm-lfts.dump\n"
					":scenario\timport: a scenario that simulates the subnet\n",
				.values = &forms,
			},
		.take = wf_opt_take_text,
		.at = offsetof(struct wf_ib_ask, form),
	},
	{ .is = &wf_opt_profiles,
	  .take = wf_opt_take_text,
	  .at = offsetof(struct wf_ib_ask, profiles) },
	{ .is = &wf_opt_json, .take = wf_opt_take_flag, .at = offsetof(struct wf_ib_ask, json) },
	{ .is = &wf_opt_out,
	  .take = wf_opt_take_text,
	  .at = offsetof(struct wf_ib_ask, out),
	  .more = "Standard output if not given. A file appears whole or not at all." },
	{ .is = NULL },
};

#define FINDING(id, name, grade, help) ":" name "\t" help "\n"

static const struct wf_cmd_section sections[] = {
	{ "Files", "FILE may be any of these; which one it is, is seen from what stands in it:\n"
	           "- the output of ibnetdiscover, with or without -g and -f, or "
	           "ibdiagnet2.ibnetdiscover; files of ibsim\n"
	           "- the output of ibnetdiscover -p, a line for each port\n"
	           "- ibdiagnet2.db_csv: its sections NODES, PORTS, LINKS and PM_INFO\n"
	           "- a scenario (*.yaml), of which the first fabric's network is taken\n"
	           "What is not understood is told of, with its place, on standard error.\n" },
	{ "Findings", WF_FINDINGS(FINDING) },
	{ "Exit status",
	  "0 it worked; 1 it could not be done, or check has found an error; 2 what was "
	  "asked is wrong, or a file cannot be right.\n" },
	{ "Examples",
	  "  weft ib import examples/topologies/fabric.net\n"
	  "  weft ib check examples/topologies/fabric.net --engine ftree\n"
	  "  weft ib check examples/topologies/ring.net --engine dfsssp --vls 4\n"
	  "  weft ib routes examples/topologies/fabric.net --engine ftree --seeds 20\n"
	  "  weft ib export examples/topologies/ring.net --form lfts --out ring.lfts\n"
	  "  weft ib routes examples/topologies/ring.net --lfts ring.lfts\n"
	  "  weft ib import examples/topologies/fabric.net --form scenario --out fabric.yaml\n"
	  "  weft ib export examples/permutation.yaml --form ibnetdiscover --out "
	  "permutation.net\n" },
	{ NULL, NULL },
};

const struct wf_cmd wf_cmd_ib = {
	.name = "ib",
	.summary = "look at an InfiniBand subnet: its routes, and what is wrong",
	.operands = "ACTION FILE",
	.values = operands,
	.options = options,
	.text = "Reads what other tools say of an InfiniBand subnet, or makes one of a scenario's "
		"topology, and does with it what ACTION says:\n"
		":routes\thow many switches lie between all pairs of adapters' ports, what each "
		"link "
		"carries when all send to all, and what flows get when each sends to one\n"
		":check\twhat is wrong with the subnet, and with its forwarding tables where "
		"--lfts "
		"or --engine says which: among others credit loops, link by link, ports that are "
		"not "
		"reached, links that are slow or whose ends do not agree, ports with errors\n"
		":import\twhat was read, and what a simulation of it has\n"
		":export\tthe subnet, or its tables, in another tool's form\n",
	.sections = sections,
	.see = "weft(1), weft-run(1), weft-scenario(5)",
	.run = run_ib,
};
