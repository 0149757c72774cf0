/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_diagnose.c - weft diagnose: what is wrong, from counters of a simulation, a live fabric, or
 * real switches and adapters.
 */
#include <errno.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/common.h"
#include "cli/diagnose.h"
#include "text/file.h"

#define SHOWN_NOTES 20
#define MAX_BEFORE 64

/* What the command line asks for. */
struct request {
	const char *before[MAX_BEFORE];
	unsigned n_before;
	wf_time interval;
	uint64_t run;
	const char *out, *name;
	bool json, live;
};

/* What was found, as it is told. */
struct telling {
	struct wf_cli_diagnose c;
	const struct request *req;
	struct wf_json json;
	FILE *file;
	enum wf_severity worst;
	bool any; /* a finding */
};

static void tell(struct telling *t, const struct wf_cli_case *k)
{
	enum wf_severity worst = wf_diagnosis_worst(&k->d);

	t->any |= k->d.n > 0;
	t->worst = worst > t->worst ? worst : t->worst;
	if (t->req->json)
		wf_cli_case_json(k, &t->json);
	else
		wf_cli_case_print(k, t->file);
}

/* ---- results files ---- */

struct victims {
	struct wf_cli_case *k;
};

static bool is_hot(void *arg, const char *node)
{
	const struct victims *v = arg;
	uint32_t d = wf_evidence_find_device(v->k->ev, node, strlen(node));

	return d != WF_EV_NONE && v->k->d.hot[d];
}

static void take_victim(void *arg, uint64_t id, const char *src, const char *dst, uint64_t bytes,
                        wf_time took)
{
	struct victims *v = arg;
	struct wf_cli_victim *to = &v->k->victim[v->k->n_victims++];

	*to = (struct wf_cli_victim){ .id = id, .bytes = bytes, .took = took };
	snprintf(to->src, sizeof(to->src), "%s", src);
	snprintf(to->dst, sizeof(to->dst), "%s", dst);
}

/* One run: its evidence, the findings, and who suffers. */
static int diagnose_run(struct telling *t, const char *path, int64_t run, struct wf_cli_case *k)
{
	struct wf_export *ex = NULL;
	struct victims v = { k };
	int ret = wf_export_open(path, run, &ex, t->c.err);

	*k = (struct wf_cli_case){ .name = path, .recorded = true };
	if (ret == 0)
		ret = wf_evidence_create(wf_mem_heap(), &k->ev);
	if (ret == 0)
		ret = wf_results_evidence(ex, 0, 0, k->ev, &k->run, t->c.err);
	if (ret == 0)
		ret = wf_cli_case_diagnose(k);
	if (ret == 0 && wf_diagnosis_worst(&k->d) != WF_SEVERITY_INFO)
		ret = wf_results_victims(ex, WF_CLI_VICTIMS, is_hot, take_victim, &v, t->c.err);
	wf_export_close(ex);
	return ret;
}

/* The first of a file's runs on the same kind of fabric is what others are held against. */
static int diagnose_results(struct telling *t, const char *path)
{
	struct wf_results_run healthy[2] = { { .id = 0 }, { .id = 0 } };
	struct wf_export *ex = NULL;
	int64_t first = 0, last = 0;
	int ret = wf_export_open(path, 0, &ex, t->c.err);

	if (ret == 0)
		ret = wf_results_runs(ex, &first, &last, t->c.err);
	wf_export_close(ex);
	if (ret == 0 && last == 0)
		return wf_err_say(t->c.err, "%s: there is no run in it", path);
	if (t->req->run != 0 && ((int64_t)t->req->run < first || (int64_t)t->req->run > last))
		return wf_err_say(t->c.err, "%s: there is no run %llu; the runs are %lld to %lld",
		                  path, (unsigned long long)t->req->run, (long long)first,
		                  (long long)last);
	for (int64_t run = first; run <= last && ret == 0; run++) {
		struct wf_cli_case k;
		struct wf_results_run *h;

		/* Those before are looked at for what they cost less. */
		if (t->req->run != 0 && run > (int64_t)t->req->run)
			break;
		ret = diagnose_run(t, path, run, &k);
		if (ret == 0) {
			h = &healthy[k.run.infiniband];
			if (h->id == 0 && wf_diagnosis_worst(&k.d) == WF_SEVERITY_INFO)
				*h = k.run;
			k.healthy = *h;
			k.has_healthy = h->id != 0;
			if (t->req->run == 0 || run == (int64_t)t->req->run)
				tell(t, &k);
		}
		wf_cli_case_fini(&k);
	}
	return ret;
}

/* ---- files, folders, live fabrics ---- */

static int diagnose_files(struct telling *t, char **paths, int n)
{
	struct wf_cli_case k = { .name = n == 1 ? paths[0] : "these files" };
	int ret = wf_evidence_create(wf_mem_heap(), &k.ev);

	for (unsigned i = 0; i < t->req->n_before && ret == 0; i++)
		ret = wf_cli_diagnose_read(&t->c, k.ev, t->req->before[i], 0);
	for (int i = 0; i < n && ret == 0; i++)
		ret = wf_cli_diagnose_read(&t->c, k.ev, paths[i], t->req->n_before > 0);
	if (ret == 0) {
		k.ev->interval = t->req->interval;
		ret = wf_cli_case_diagnose(&k);
	}
	if (ret == 0)
		tell(t, &k);
	wf_cli_case_fini(&k);
	return ret;
}

static int diagnose_live(struct telling *t)
{
#ifdef WEFT_LIVE
	struct wf_cli_case k = { .name = t->req->name != NULL ? t->req->name : "the live fabric" };
	int ret = wf_evidence_create(wf_mem_heap(), &k.ev);

	if (ret == 0)
		ret = wf_live_evidence(t->req->name, k.ev, t->c.err);
	if (ret == 0)
		ret = wf_cli_case_diagnose(&k);
	if (ret == 0)
		tell(t, &k);
	wf_cli_case_fini(&k);
	return ret;
#else
	return wf_err_say(t->c.err, "--live: live fabrics need Linux, and this weft has none");
#endif
}

static void say_notes(const struct wf_cli_diagnose *c)
{
	unsigned n = 0;

	for (const struct wf_cli_note *note = c->notes; note != NULL && n < SHOWN_NOTES;
	     note = note->next, n++)
		fprintf(stderr, "weft diagnose: %s:%u:%u: %s\n", note->file, note->line,
		        note->column, note->what);
	if (c->n_notes > n)
		fprintf(stderr, "weft diagnose: and %u more of these; --json has all\n",
		        c->n_notes - n);
}

static void json_end(struct telling *t)
{
	wf_json_close(&t->json, '[');
	wf_json_open(&t->json, "not_understood", '[');
	for (const struct wf_cli_note *note = t->c.notes; note != NULL; note = note->next) {
		wf_json_open(&t->json, NULL, '{');
		wf_json_text(&t->json, "file", note->file);
		wf_json_u64(&t->json, "line", note->line);
		wf_json_u64(&t->json, "column", note->column);
		wf_json_text(&t->json, "text", note->what);
		wf_json_close(&t->json, '{');
	}
	wf_json_close(&t->json, '[');
	wf_json_close(&t->json, '{');
}

static int look(struct telling *t, char **paths, int n)
{
	int ret = 0, files = 0;

	if (t->req->json) {
		wf_json_init(&t->json, t->file);
		wf_json_document(&t->json, "weft.diagnose", 1);
		wf_json_open(&t->json, "cases", '[');
	}
	if (t->req->live)
		ret = diagnose_live(t);
	/* Results files are each for itself, all others together. */
	for (int i = 0; i < n && ret == 0; i++) {
		if (wf_cli_is_results(paths[i]))
			ret = diagnose_results(t, paths[i]);
		else
			paths[files++] = paths[i];
	}
	if (ret == 0 && files > 0)
		ret = diagnose_files(t, paths, files);
	if (ret == 0 && !t->req->json)
		say_notes(&t->c);
	if (ret == 0 && t->req->json)
		json_end(t);
	return ret;
}

static int run_diagnose(int argc, char **argv)
{
	struct request req = { .run = 0 };
	struct wf_err err = { "" };
	struct telling t = { .req = &req };
	struct wf_out out;
	int rc = wf_opt_parse(&wf_cmd_diagnose, argc, argv, &req);

	if (rc >= 0)
		return rc;
	if (req.live != (optind == argc))
		return wf_cli_usage("diagnose", "name files, folders or a results file, or --live");
	if (req.name != NULL && !req.live)
		return wf_cli_usage("diagnose", "--name goes with --live");
	if (req.live && req.n_before > 0)
		return wf_cli_usage("diagnose", "--before goes with files");
	rc = wf_out_open(&out, wf_opt_out_path(req.out), &err);
	if (rc != 0)
		return wf_cli_fail(rc, &err);
	wf_cli_diagnose_init(&t.c, &err);
	t.file = out.file;
	rc = look(&t, argv + optind, argc - optind);
	if (rc == 0)
		rc = wf_out_commit(&out, &err);
	wf_out_abort(&out);
	wf_cli_diagnose_fini(&t.c);
	if (rc != 0)
		return wf_cli_fail(rc, &err);
	return t.worst == WF_SEVERITY_ERROR     ? WF_EXIT_FAILED
	       : t.worst == WF_SEVERITY_WARNING ? WF_EXIT_WARNING
	                                        : WF_EXIT_OK;
}

/* ---- its page ---- */

static int take_before(const struct wf_opt_call *call)
{
	struct request *req = call->request;

	if (req->n_before == MAX_BEFORE)
		return wf_cli_usage("diagnose", "--before: %d are enough; name a folder",
		                    MAX_BEFORE);
	req->before[req->n_before++] = call->arg;
	return 0;
}

static const struct wf_values *const operands[] = { &wf_values_any_file, NULL };

static const struct wf_opt_row options[] = {
	{
		.is =
			&(const struct wf_opt){
				.name = "before",
				.arg = "[NAME=]PATH",
				.help = "A file or folder of an earlier snapshot of the same "
					"counters: what counts is by how much they grew since.",
				.values = &wf_values_any_file,
			},
		.take = take_before,
		.at = offsetof(struct request, before),
		.many = true,
	},
	{
		.is =
			&(const struct wf_opt){
				.name = "interval",
				.arg = "TIME",
				.help = "The time between the two snapshots, `10s`. Without it no "
					"rule can say for how much of the time something was so.",
			},
		.take = wf_opt_take_param,
		.at = offsetof(struct request, interval),
		.param = &(const struct wf_param){ .name = "interval",
	                                           .kind = WF_PARAM_TIME,
	                                           .size = sizeof(wf_time),
	                                           .min = 1,
	                                           .max = WF_TIME_FAR },
	},
	{
		.is = &wf_opt_run,
		.take = wf_opt_take_param,
		.at = offsetof(struct request, run),
		.param = &(const struct wf_param){ .name = "run",
	                                           .kind = WF_PARAM_U64,
	                                           .size = sizeof(uint64_t),
	                                           .min = 1,
	                                           .max = INT64_MAX - 1 },
	},
	{
		.is =
			&(const struct wf_opt){
				.name = "live",
				.help = "Looks at a live fabric, whose name is that of --name.",
			},
		.take = wf_opt_take_flag,
		.at = offsetof(struct request, live),
	},
#ifdef WEFT_LIVE
	{ .is = &wf_opt_name, .take = wf_opt_take_text, .at = offsetof(struct request, name) },
#endif
	{ .is = &wf_opt_json, .take = wf_opt_take_flag, .at = offsetof(struct request, json) },
	{ .is = &wf_opt_out,
	  .take = wf_opt_take_text,
	  .at = offsetof(struct request, out),
	  .more = "Standard output if not given. A file appears whole or not at all." },
	{ .is = NULL },
};

static const struct wf_cmd_section sections[] = {
	{ "Files",
	  "A results file of `weft run --record` is diagnosed run by run. All others are one case; "
	  "each may have any of these, and several after one another:\n"
	  "- `ethtool -S`; files of counters/ and hw_counters/ below /sys, as they are, or as grep "
	  "and `rdma statistic` print them\n"
	  "- SONiC: show pfc counters, show priority-group drop counters, show priority-group "
	  "watermark, show pfcwd stats, show queue counters (also --json), show queue "
	  "wredcounters, show queue watermark, show interfaces counters, show interfaces status, "
	  "show lldp table; COUNTERS_DB as JSON\n"
	  "- Prometheus' text format: node_exporter (infiniband, ethtool), rdma exporters, weft's\n"
	  "- InfiniBand: perfquery, ibqueryerrors, ibdiagnet2.db_csv\n"
	  "\n"
	  "Whose they are is said by NAME=, by the prompt before a command, by the first folder "
	  "below the one that is named, or else by the file's name. What is connected is known "
	  "from "
	  "show lldp table and db_csv; pauses are then followed from switch to switch. What is not "
	  "understood is told of, with its place, on standard error.\n" },
	{ "Exit status",
	  "0 nothing graver than information; 3 there are warnings, and no errors; 1 there are "
	  "errors, or it could not be done; 2 what was asked is wrong, or a file cannot be "
	  "right.\n" },
	{ "Examples", "  weft run examples/incidents/pause-storm.yaml --record storm.db\n"
	              "  weft diagnose storm.db --run 2\n"
	              "  weft diagnose leaf3=pfc.txt leaf3=queues.json h15=ethtool.txt\n"
	              "  weft diagnose after/ --before before/ --interval 10s --json\n" },
	{ NULL, NULL },
};

const struct wf_cmd wf_cmd_diagnose = {
	.name = "diagnose",
	.summary = "find the cause of what is wrong, from counters",
	.operands = "[NAME=]PATH...",
	.values = operands,
	.options = options,
	.text = "Looks at what a simulation, a live fabric, or real switches and adapters have "
		"counted, and says what is wrong: where, from which counters, what makes it, and "
		"what to change. What makes the rest comes first.\n",
	.sections = sections,
	.see = "weft(1), weft-run(1), weft-export(1), weft-ib(1), weft-results(5)",
	.run = run_diagnose,
};
