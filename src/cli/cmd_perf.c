/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_perf.c - weft perf: latency and bandwidth between two hosts, in the columns of perftest.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/common.h"
#include "cli/sets.h"
#include "scenario/paths.h"
#include "study/perf.h"
#include "text/file.h"
#include "text/suggest.h"

/* What the command line asks for. */
struct request {
	struct wf_perf_plan plan;
	const char *sizes; /* NULL: the default of the operation */
	const char *profiles, *out;
	bool json, quiet;
	struct wf_cli_sets sets;
};

static int take_op(const struct wf_opt_call *call)
{
	struct request *req = call->request;
	struct wf_suggest suggest;

	req->plan.op = wf_perf_op_find(call->arg);
	if (req->plan.op != WF_PERF_OPS)
		return 0;
	wf_suggest_init(&suggest, call->arg);
	for (enum wf_perf_op op = 0; op < WF_PERF_OPS; op++)
		wf_suggest_offer(&suggest, wf_perf_op_name(op));
	return wf_cli_usage("perf", "--op: there is no operation '%.40s'%s", call->arg,
	                    wf_suggest_text(&suggest, "there are"));
}

static int take_test(const struct wf_opt_call *call)
{
	struct request *req = call->request;
	bool both = strcmp(call->arg, "both") == 0;

	req->plan.latency = both || strcmp(call->arg, "lat") == 0;
	req->plan.bandwidth = both || strcmp(call->arg, "bw") == 0;
	if (!req->plan.latency && !req->plan.bandwidth)
		return wf_cli_usage("perf", "--test: '%.40s' is none of lat, bw and both",
		                    call->arg);
	return 0;
}

static int take_hops(const struct wf_opt_call *call)
{
	static const char *const kinds[] = { "single", "leaf-spine", "fat-tree" };
	struct request *req = call->request;

	if (strlen(call->arg) != 1 || strchr("135", call->arg[0]) == NULL)
		return wf_cli_usage("perf",
		                    "--hops: '%.40s' is none of 1 (single), 3 (leaf-spine) and 5 "
		                    "(fat-tree)",
		                    call->arg);
	req->plan.topology = kinds[(call->arg[0] - '1') / 2];
	return 0;
}

static int take_mtu(const struct wf_opt_call *call)
{
	return wf_cli_sets_add(call->field, "perf", "--mtu", call->arg, "fabric.mtu", call->arg);
}

static int take_inline(const struct wf_opt_call *call)
{
	return wf_cli_sets_add(call->field, "perf", "--inline", call->arg, "fabric.nic.inline",
	                       call->arg);
}

/* What one option means for another. */
static int check_request(struct request *req)
{
	struct wf_perf_plan *plan = &req->plan;
	struct wf_err why = { "" };
	bool atomic = wf_perf_op_is_atomic(plan->op);

	if (req->sizes == NULL)
		req->sizes = atomic ? "8" : "2..8M";
	if (wf_perf_sizes_parse(req->sizes, plan, &why) != 0)
		return wf_cli_usage("perf", "--size: %s", why.text);
	for (unsigned i = 0; atomic && i < plan->n_sizes; i++) {
		if (plan->sizes[i] != 8)
			return wf_cli_usage("perf", "--size: %s is always of 8 bytes",
			                    wf_perf_op_name(plan->op));
	}
	if (plan->qps * plan->depth > WF_PERF_MAX_OUT)
		return wf_cli_usage("perf",
		                    "--depth: %u messages on each of %u queue pairs are more than "
		                    "%d; use fewer",
		                    plan->depth, plan->qps, WF_PERF_MAX_OUT);
	if (plan->both_ways && !plan->bandwidth)
		return wf_cli_usage("perf", "--bidirectional is of bandwidth, and --test is lat");
	return 0;
}

static int parse(int argc, char **argv, struct request *req)
{
	int status;

	req->plan = (struct wf_perf_plan){
		.op = WF_PERF_WRITE,
		.latency = true,
		.bandwidth = true,
		.qps = 1,
		.depth = 128,
		.cls = 3,
		.seed = WF_PERF_SEED,
		.topology = "single",
		.fabrics = "ib-ndr,roce-400g",
		.overrides = req->sets.set,
	};
	status = wf_opt_parse(&wf_cmd_perf, argc, argv, req);
	if (status >= 0)
		return status;
	req->plan.n_overrides = req->sets.n;
	if (optind != argc)
		return wf_cli_usage("perf",
		                    "'%.40s' is not expected; fabrics are named with "
		                    "--fabric",
		                    argv[optind]);
	status = check_request(req);
	return status == 0 ? -1 : status;
}

/* A line on the terminal: which fabric, and how many of its sizes are measured. */
static void say_progress(void *arg, const char *label, unsigned done)
{
	const struct wf_perf_plan *plan = arg;

	if (label == NULL)
		fputs("\r\033[K", stderr);
	else
		fprintf(stderr, "\r\033[K%s: %u of %u sizes", label, done, plan->n_sizes);
	fflush(stderr);
}

static int measure(struct request *req, struct wf_out *out, struct wf_err *err)
{
	static struct wf_perf_report report;
	static struct wf_paths paths;
	int rc = wf_paths_init(&paths, req->profiles, err);

	req->plan.paths = &paths;
	if (!req->quiet && isatty(STDERR_FILENO)) {
		req->plan.progress = say_progress;
		req->plan.arg = &req->plan;
	}
	if (rc == 0)
		rc = wf_perf_measure(&req->plan, &report, err);
	if (req->plan.progress != NULL)
		say_progress(NULL, NULL, 0);
	if (rc != 0)
		return rc;
	if (req->json)
		wf_perf_json(&report, out->file);
	else
		wf_perf_table(&report, out->file);
	return wf_out_commit(out, err);
}

static int run_perf(int argc, char **argv)
{
	static struct request req;
	struct wf_err err = { "" };
	struct wf_out out;
	int rc = parse(argc, argv, &req);

	if (rc >= 0)
		return rc;
	rc = wf_out_open(&out, wf_opt_out_path(req.out), &err);
	if (rc != 0)
		return wf_cli_fail(rc, &err);
	rc = measure(&req, &out, &err);
	wf_out_abort(&out);
	return rc == 0 ? WF_EXIT_OK : wf_cli_fail(rc, &err);
}

static void each_op(wf_values_fn *fn, void *arg)
{
	for (enum wf_perf_op op = 0; op < WF_PERF_OPS; op++)
		fn(arg, wf_perf_op_name(op), "");
}

static const char *const test_words[] = { "lat", "bw", "both", NULL };
static const char *const hops_words[] = { "1", "3", "5", NULL };
static const char *const topology_words[] = { "single", "leaf-spine", "fat-tree", NULL };
static const char *const mtu_words[] = { "256", "512", "1024", "2048", "4096", NULL };

#define NUMBER(what, least, most)                                                                  \
	&(const struct wf_param)                                                                   \
	{                                                                                          \
		.name = (what), .kind = WF_PARAM_U32, .size = sizeof(uint32_t), .min = (least),    \
		.max = (most)                                                                      \
	}

static const struct wf_opt_row options[] = {
	{
		.is =
			&(const struct wf_opt){
				.name = "op",
				.arg = "OP",
				.help = "`write` (if not given), `write-imm`, `send`, `read`, "
					"`cas` or "
					"`fadd`.",
				.values = &(const struct wf_values){ .each = each_op },
			},
		.take = take_op,
	},
	{
		.is =
			&(const struct wf_opt){
				.name = "size",
				.arg = "LIST",
				.help = "Bytes of the messages: numbers and ranges, separated by "
					"commas, "
					"`2,64,4K`. In a range, `2..8M`, every size is twice the "
					"one "
					"before. K, M and G are powers of 1024. `2..8M` if not "
					"given; "
					"`cas` and `fadd` are always of 8 bytes.",
			},
		.take = wf_opt_take_text,
		.at = offsetof(struct request, sizes),
	},
	{ .is = &wf_opt_fabric,
	  .take = wf_opt_take_text,
	  .at = offsetof(struct request, plan.fabrics),
	  .more = "`ib-ndr,roce-400g` if not given." },
	{
		.is =
			&(const struct wf_opt){
				.name = "test",
				.arg = "lat|bw|both",
				.help = "What to measure, latency or bandwidth; both if not given.",
				.values = &(const struct wf_values){ .words = test_words },
			},
		.take = take_test,
	},
	{
		.is =
			&(const struct wf_opt){
				.name = "iters",
				.arg = "N",
				.help = "Messages of each size. If not given, 1000 for latency and "
					"5000 "
					"for bandwidth, and fewer of large ones: the column says "
					"how many.",
			},
		.take = wf_opt_take_param,
		.at = offsetof(struct request, plan.iters),
		.param = NUMBER("iters", 1, WF_PERF_MAX_ITERS),
		.old_letter = 'n',
	},
	{
		.is =
			&(const struct wf_opt){
				.name = "qps",
				.arg = "N",
				.help = "Queue pairs that share the messages of a bandwidth test, "
					"1 to "
					"1024; 1 if not given.",
			},
		.take = wf_opt_take_param,
		.at = offsetof(struct request, plan.qps),
		.param = NUMBER("qps", 1, WF_PERF_MAX_QPS),
	},
	{
		.is =
			&(const struct wf_opt){
				.name = "depth",
				.arg = "N",
				.help = "Outstanding messages of each queue pair in a bandwidth "
					"test; 128 "
					"if not given, as in perftest.",
			},
		.take = wf_opt_take_param,
		.at = offsetof(struct request, plan.depth),
		.param = NUMBER("depth", 1, WF_PERF_MAX_DEPTH),
	},
	{
		.is =
			&(const struct wf_opt){
				.name = "bidirectional",
				.help = "Both hosts send at the same time, on queue pairs of their "
					"own; "
					"the sum of their bandwidths is printed.",
			},
		.take = wf_opt_take_flag,
		.at = offsetof(struct request, plan.both_ways),
	},
	{
		.is =
			&(const struct wf_opt){
				.name = "hops",
				.arg = "1|3|5",
				.help = "Switches between the hosts: `single` (if not given), "
					"`leaf-spine` "
					"or `fat-tree`.",
				.values = &(const struct wf_values){ .words = hops_words },
			},
		.take = take_hops,
	},
	{
		.is =
			&(const struct wf_opt){
				.name = "topology",
				.arg = "KIND",
				.help = "The same by name.",
				.values = &(const struct wf_values){ .words = topology_words },
			},
		.take = wf_opt_take_text,
		.at = offsetof(struct request, plan.topology),
	},
	{
		.is =
			&(const struct wf_opt){
				.name = "mtu",
				.arg = "N",
				.help = "The path MTU: 256, 512, 1024, 2048 or 4096; the same as "
					"`--set "
					"fabric.mtu=N`.",
				.values = &(const struct wf_values){ .words = mtu_words },
			},
		.take = take_mtu,
		.at = offsetof(struct request, sets),
	},
	{
		.is =
			&(const struct wf_opt){
				.name = "inline",
				.arg = "N",
				.help = "Bytes that come with the doorbell and need not be "
					"fetched; the "
					"same as `--set fabric.nic.inline=N`.",
			},
		.take = take_inline,
		.at = offsetof(struct request, sets),
	},
	{
		.is =
			&(const struct wf_opt){
				.name = "class",
				.arg = "N",
				.help = "Priority (Ethernet) or service level (InfiniBand); 3 if "
					"not "
					"given.",
			},
		.take = wf_opt_take_param,
		.at = offsetof(struct request, plan.cls),
		.param = NUMBER("class", 0, WF_MAX_CLASSES - 1),
	},
	{ .is = &wf_opt_set,
	  .take = wf_cli_take_set,
	  .at = offsetof(struct request, sets),
	  .more = "Of all fabrics, `fabric.nic.rx=200ns`, or of the topology, "
	          "`topology.cable.host=20m`, `topology.host_rate=200Gbps`.",
	  .many = true },
	{ .is = &wf_opt_seed,
	  .take = wf_opt_take_param,
	  .at = offsetof(struct request, plan.seed),
	  .param = &(const struct wf_param){ .name = "seed",
	                                     .kind = WF_PARAM_U64,
	                                     .size = sizeof(uint64_t),
	                                     .max = INT64_MAX - 1 },
	  .more = "1 if not given." },
	{ .is = &wf_opt_profiles,
	  .take = wf_opt_take_text,
	  .at = offsetof(struct request, profiles) },
	{ .is = &wf_opt_json, .take = wf_opt_take_flag, .at = offsetof(struct request, json) },
	{ .is = &wf_opt_out,
	  .take = wf_opt_take_text,
	  .at = offsetof(struct request, out),
	  .more = "Standard output if not given. A file appears whole or not at all." },
	{ .is = &wf_opt_quiet, .take = wf_opt_take_flag, .at = offsetof(struct request, quiet) },
	{ .is = NULL },
};

static const struct wf_cmd_section sections[] = {
	{ "Exit status",
	  "0 when all was measured; 1 when a measurement did not come to its end (a queue pair "
	  "gave up) or could not be done; 2 when the command line is wrong.\n" },
	{ "Examples",
	  "  weft perf\n"
	  "  weft perf --op send --size 64,4K --hops 3 --test lat\n"
	  "  weft perf --fabric ib-hdr --set topology.host_rate=200Gbps --test bw --qps 4\n" },
	{ NULL, NULL },
};

const struct wf_cmd wf_cmd_perf = {
	.name = "perf",
	.summary = "measure latency and bandwidth between two hosts",
	.options = options,
	.text = "Measures messages on reliable connections between the first and the last host of "
		"a small topology, on each fabric, in virtual time, and prints the columns of "
		"perftest. Every figure is computed from the profile's parameters and the packets "
		"that were simulated. The same command prints the same bytes every time.\n"
		"Latency is measured one message at a time. `write`: both hosts poll their memory "
		"and answer each other; half of the round trip. `send` and `write-imm`: the same "
		"with receive completions. `read`, `cas` and `fadd`: from posting to completion, "
		"the whole round trip.\n"
		"Bandwidth is measured from the first post to the last completion, with --depth "
		"messages of each queue pair outstanding. The peak is the best of any run of "
		"messages, from the post of its first to the completion of its last; it is 0 with "
		"more than 20,000 messages.\n"
		"The programs that post and poll take no time of their own, and no adapter limits "
		"the number of messages a second: rates of small messages are upper bounds.\n"
		"--json prints times in ps and rates in bits/s.\n",
	.sections = sections,
	.see = "weft(1), weft-run(1), weft-show(1)",
	.run = run_perf,
};
