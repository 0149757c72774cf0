/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_perf.c - weft perf: latency and bandwidth between two hosts, in the columns of perftest.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/sets.h"
#include "scenario/paths.h"
#include "study/perf.h"
#include "text/suggest.h"

static const char help_text[] =
	"usage: weft perf [OPTIONS]\n"
	"\n"
	"Measures latency and bandwidth between two hosts of each fabric, in virtual time, as\n"
	"perftest does on real ones, and prints the columns of perftest.\n"
	"\n"
	"      --op OP                  write (the default), write-imm, send, read, cas or fadd\n"
	"      --size LIST              bytes: 2..8M (the default; each twice the one before),\n"
	"                               2,64,4K, or both; K, M and G are powers of 1024;\n"
	"                               cas and fadd: 8\n"
	"  -f, --fabric NAME[,NAME...]  profiles to measure (ib-ndr,roce-400g)\n"
	"      --test lat|bw|both       what to measure (both)\n"
	"  -n, --iters N                messages of each size (up to 1000 and 5000)\n"
	"      --qps N                  bw: queue pairs, which share the messages (1)\n"
	"      --depth N                bw: outstanding messages of each queue pair (128)\n"
	"      --bidirectional          bw: both hosts send; the sum is printed\n"
	"      --hops 1|3|5             switches between the hosts (1)\n"
	"      --topology KIND          the same: single, leaf-spine or fat-tree\n"
	"      --mtu N                  256, 512, 1024, 2048 or 4096; --set fabric.mtu=N\n"
	"      --inline N               bytes that need no fetch; --set fabric.nic.inline=N\n"
	"      --class N                priority or service level (3)\n"
	"  -s, --set PARAMETER=VALUE    change a parameter: fabric.nic.rx=200ns,\n"
	"                               topology.cable.host=20m, topology.host_rate=200Gbps\n"
	"  -j, --json                   print JSON instead of tables\n"
	"      --profiles DIR           look for profiles in DIR first\n"
	"  -h, --help                   this text\n"
	"\n"
	"write, write-imm and send: half of the round trip of a ping-pong. read, cas and fadd: "
	"the\n"
	"whole operation. The same command prints the same bytes every time.\n"
	"\n"
	"  weft perf\n"
	"  weft perf --op send --size 64,4K --hops 3 --test lat\n"
	"  weft perf --fabric ib-hdr --set topology.host_rate=200Gbps --test bw --qps 4\n";

enum {
	OPT_OP = 256,
	OPT_SIZE,
	OPT_TEST,
	OPT_QPS,
	OPT_DEPTH,
	OPT_BIDIRECTIONAL,
	OPT_HOPS,
	OPT_TOPOLOGY,
	OPT_MTU,
	OPT_INLINE,
	OPT_CLASS,
	OPT_PROFILES
};

static const struct option options[] = {
	{ "op", required_argument, NULL, OPT_OP },
	{ "size", required_argument, NULL, OPT_SIZE },
	{ "fabric", required_argument, NULL, 'f' },
	{ "test", required_argument, NULL, OPT_TEST },
	{ "iters", required_argument, NULL, 'n' },
	{ "qps", required_argument, NULL, OPT_QPS },
	{ "depth", required_argument, NULL, OPT_DEPTH },
	{ "bidirectional", no_argument, NULL, OPT_BIDIRECTIONAL },
	{ "hops", required_argument, NULL, OPT_HOPS },
	{ "topology", required_argument, NULL, OPT_TOPOLOGY },
	{ "mtu", required_argument, NULL, OPT_MTU },
	{ "inline", required_argument, NULL, OPT_INLINE },
	{ "class", required_argument, NULL, OPT_CLASS },
	{ "set", required_argument, NULL, 's' },
	{ "json", no_argument, NULL, 'j' },
	{ "profiles", required_argument, NULL, OPT_PROFILES },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

/* What the command line asks for. */
struct request {
	struct wf_perf_plan plan;
	const char *sizes; /* NULL: the default of the operation */
	const char *profiles;
	bool json, help;
	struct wf_cli_sets sets;
};

static int set_number(const char *option, const char *arg, uint32_t min, uint32_t max,
                      uint32_t *value)
{
	const struct wf_param row = {
		.name = option, .kind = WF_PARAM_U32, .size = sizeof(*value), .min = min, .max = max
	};
	struct wf_err why = { "" };

	if (wf_param_set(&row, value, arg, &why) != 0)
		return wf_cli_usage("perf", "--%s: %s", option, why.text);
	return 0;
}

static int set_op(struct request *req, const char *arg)
{
	struct wf_suggest suggest;

	req->plan.op = wf_perf_op_find(arg);
	if (req->plan.op != WF_PERF_OPS)
		return 0;
	wf_suggest_init(&suggest, arg);
	for (enum wf_perf_op op = 0; op < WF_PERF_OPS; op++)
		wf_suggest_offer(&suggest, wf_perf_op_name(op));
	return wf_cli_usage("perf", "--op: there is no operation '%.40s'%s", arg,
	                    wf_suggest_text(&suggest, "there are"));
}

static int set_test(struct request *req, const char *arg)
{
	bool both = strcmp(arg, "both") == 0;

	req->plan.latency = both || strcmp(arg, "lat") == 0;
	req->plan.bandwidth = both || strcmp(arg, "bw") == 0;
	if (!req->plan.latency && !req->plan.bandwidth)
		return wf_cli_usage("perf", "--test: '%.40s' is none of lat, bw and both", arg);
	return 0;
}

static int set_hops(struct request *req, const char *arg)
{
	static const char *const kinds[] = { "single", "leaf-spine", "fat-tree" };

	if (strlen(arg) != 1 || strchr("135", arg[0]) == NULL)
		return wf_cli_usage("perf",
		                    "--hops: '%.40s' is none of 1 (single), 3 (leaf-spine) and 5 "
		                    "(fat-tree)",
		                    arg);
	req->plan.topology = kinds[(arg[0] - '1') / 2];
	return 0;
}

static int take_number(struct request *req, int c)
{
	struct wf_perf_plan *plan = &req->plan;

	if (c == 'n')
		return set_number("iters", optarg, 1, WF_PERF_MAX_ITERS, &plan->iters);
	if (c == OPT_QPS)
		return set_number("qps", optarg, 1, WF_PERF_MAX_QPS, &plan->qps);
	if (c == OPT_DEPTH)
		return set_number("depth", optarg, 1, WF_PERF_MAX_DEPTH, &plan->depth);
	return set_number("class", optarg, 0, WF_MAX_CLASSES - 1, &plan->cls);
}

static int take_option(struct request *req, int c)
{
	switch (c) {
	case OPT_OP:
		return set_op(req, optarg);
	case OPT_SIZE:
		req->sizes = optarg;
		return 0;
	case 'f':
		req->plan.fabrics = optarg;
		return 0;
	case OPT_TEST:
		return set_test(req, optarg);
	case 'n':
	case OPT_QPS:
	case OPT_DEPTH:
	case OPT_CLASS:
		return take_number(req, c);
	case OPT_BIDIRECTIONAL:
		req->plan.both_ways = true;
		return 0;
	case OPT_HOPS:
		return set_hops(req, optarg);
	case OPT_TOPOLOGY:
		req->plan.topology = optarg;
		return 0;
	case OPT_MTU:
		return wf_cli_sets_add(&req->sets, "perf", "--mtu", optarg, "fabric.mtu", optarg);
	case OPT_INLINE:
		return wf_cli_sets_add(&req->sets, "perf", "--inline", optarg, "fabric.nic.inline",
		                       optarg);
	case 's':
		return wf_cli_sets_parse(&req->sets, "perf", optarg);
	case 'j':
		req->json = true;
		return 0;
	case OPT_PROFILES:
		req->profiles = optarg;
		return 0;
	case 'h':
		req->help = true;
		return 0;
	default:
		return WF_EXIT_USAGE;
	}
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
	int c, status;

	req->plan = (struct wf_perf_plan){
		.op = WF_PERF_WRITE,
		.latency = true,
		.bandwidth = true,
		.qps = 1,
		.depth = 128,
		.cls = 3,
		.topology = "single",
		.fabrics = "ib-ndr,roce-400g",
		.overrides = req->sets.set,
	};
	while ((c = wf_cli_option(argc, argv, ":f:n:s:jh", options)) != -1) {
		status = take_option(req, c);
		if (status != 0)
			return status;
	}
	req->plan.n_overrides = req->sets.n;
	if (req->help)
		return 0;
	if (optind != argc)
		return wf_cli_usage("perf",
		                    "'%.40s' is not expected; fabrics are named with "
		                    "--fabric",
		                    argv[optind]);
	return check_request(req);
}

static int run_perf(int argc, char **argv)
{
	static struct request req;
	static struct wf_perf_report report;
	static struct wf_paths paths;
	struct wf_err err = { "" };
	int status = parse(argc, argv, &req);
	int rc;

	if (status != 0)
		return status;
	if (req.help)
		return wf_cli_help(&wf_cmd_perf);
	rc = wf_paths_init(&paths, req.profiles, &err);
	req.plan.paths = &paths;
	if (rc == 0)
		rc = wf_perf_measure(&req.plan, &report, &err);
	if (rc != 0)
		return wf_cli_fail(rc, &err);
	if (req.json)
		wf_perf_json(&report, stdout);
	else
		wf_perf_table(&report, stdout);
	return wf_cli_finish();
}

const struct wf_cmd wf_cmd_perf = {
	.name = "perf",
	.summary = "measure latency and bandwidth between two hosts",
	.help = help_text,
	.run = run_perf,
};
