/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_up.c - weft up: a live fabric begins. */
#include <errno.h>

#include "cli/cli.h"
#include "cli/live/live.h"
#include "cli/live/options.h"

/* What the command line asks for. */
struct request {
	struct wf_live_plan plan;
	bool foreground;
};

static int take_wire(const struct wf_opt_call *call)
{
	struct request *req = call->request;

	if (req->plan.n_wires == WF_LIVE_WIRES)
		return wf_cli_usage("up", "--wire is there more than %d times", WF_LIVE_WIRES);
	req->plan.wires[req->plan.n_wires++] = call->arg;
	return 0;
}

static int run_up(int argc, char **argv)
{
	struct request req = { .foreground = false };
	struct wf_live_plan *plan = &req.plan;
	static char path[WF_PATH_MAX];
	struct wf_err err = { "" };
	int rc = wf_opt_parse(&wf_cmd_up, argc, argv, &req);

	if (rc >= 0)
		return rc;
	if (optind < argc)
		plan->file = argv[optind++];
	if (optind != argc)
		return wf_cli_usage("up", "'%.40s' is not expected: there is one file",
		                    argv[optind]);
	if (plan->hosts != 0 && plan->file != NULL)
		return wf_cli_usage("up", "--hosts: the file says how many there are");
	if (plan->hosts == 0)
		plan->hosts = 2;
	rc = wf_live_path(plan->name, true, path, &err);
	if (rc == 0)
		rc = req.foreground ? wf_live_run(plan, path, &err)
		                    : wf_live_start(plan, path, false, &err);
	return rc != 0 ? wf_cli_fail(rc, &err) : WF_EXIT_OK;
}

static const char *const pace_words[] = { "wall", "none", "direct", NULL };
static const struct wf_values *const operands[] = { &wf_values_yaml, NULL };

static const struct wf_opt_row options[] = {
	{ .is = &wf_opt_fabric,
	  .take = wf_opt_take_text,
	  .at = offsetof(struct request, plan.fabric),
	  .more = "A live fabric is one; `roce-400g` if neither this nor a file says." },
	{
		.is =
			&(const struct wf_opt){
				.name = "hosts",
				.arg = "N",
				.help = "So many hosts, h1 to hN, without a file; 2 if not given.",
			},
		.take = wf_opt_take_param,
		.at = offsetof(struct request, plan.hosts),
		.param = &(const struct wf_param){ .name = "hosts",
	                                           .kind = WF_PARAM_U32,
	                                           .size = sizeof(uint32_t),
	                                           .min = 1,
	                                           .max = WF_LIVE_MAX_HOSTS },
	},
	{ .is = &wf_opt_name, .take = wf_opt_take_text, .at = offsetof(struct request, plan.name) },
	{
		.is =
			&(const struct wf_opt){
				.name = "pace",
				.arg = "wall|none|direct",
				.help = "How packets go from host to host, as `live.pace` in the "
					"file "
					"says:\n"
					":wall\tthrough the modelled fabric by the clock, with its "
					"rates "
					"and delays, switches, buffers, flow control and losses "
					"(the "
					"default with a file); where the machine cannot keep up, "
					"the model "
					"falls behind, and `weft status` shows the slip, and how "
					"late "
					"programs took in what came\n"
					":none\tthe same as fast as it can be calculated\n"
					":direct\tfrom program to program, and nothing is modelled "
					"(the "
					"default without a file)\n",
				.values = &(const struct wf_values){ .words = pace_words },
			},
		.take = wf_opt_take_text,
		.at = offsetof(struct request, plan.pace),
	},
	{
		.is =
			&(const struct wf_opt){
				.name = "wire",
				.arg = "HOST=ADDRESS",
				.help = "The host is at this address of this machine, too "
					"(0.0.0.0: its "
					"first), and speaks RoCE v2 there, UDP port 4791, to other "
					"fabrics, to Linux and to NICs: data, connections "
					"(rdma_cm) and "
					"multicast. For a host one IPv4 address (its GID 1), one "
					"IPv6 "
					"address (GID 2) and one that is link-local (GID 0; "
					"fe80::1%eth0), "
					"and for several hosts. In a file the same is `hosts: {h1: "
					"{wire: "
					"192.0.2.1:4791}}`.",
			},
		.take = take_wire,
		.many = true,
	},
	{
		.is =
			&(const struct wf_opt){
				.name = "metrics",
				.arg = "ADDRESS:PORT",
				.help = "The daemon tells what hosts have counted, over HTTP at "
					"that "
					"address, in Prometheus' text format.",
			},
		.take = wf_opt_take_text,
		.at = offsetof(struct request, plan.metrics),
	},
	{
		.is =
			&(const struct wf_opt){
				.name = "foreground",
				.help = "Stays until it is interrupted, or the fabric ends.",
			},
		.take = wf_opt_take_flag,
		.at = offsetof(struct request, foreground),
	},
	{ .is = &wf_opt_profiles,
	  .take = wf_opt_take_text,
	  .at = offsetof(struct request, plan.profiles) },
	{ .is = NULL },
};

static const struct wf_cmd_section sections[] = {
	WF_LIVE_ENVIRONMENT,
	{ "Exit status", "As of all commands; see weft(1).\n" },
	{ "Examples", "  weft up\n"
	              "  weft exec --host h1 -- ibv_rc_pingpong -g 0 &\n"
	              "  weft exec --host h2 -- ibv_rc_pingpong -g 0 localhost\n"
	              "  weft down\n" },
	{ NULL, NULL },
};

const struct wf_cmd wf_cmd_up = {
	.name = "up",
	.summary = "start a live fabric for unmodified RDMA programs",
	.operands = "[CLUSTER.yaml]",
	.values = operands,
	.options = options,
	.text = "Starts a fabric on this machine: a daemon, in the background unless --foreground "
		"is given, to which programs attach that `weft exec` runs. Without a file it has "
		"two hosts, h1 and h2, on one switch, and is RoCE v2; `--fabric ib-ndr` makes it "
		"InfiniBand. A file is a scenario as `weft run` takes it, without traffic: a "
		"topology and a fabric. Packets then cross that fabric, modelled. One of "
		"InfiniBand is managed, as `sm` in the file says: by weft's own subnet manager, "
		"or with `sm: none` by nobody until one comes.\n",
	.sections = sections,
	.see = "weft(1), weft-exec(1), weft-status(1), weft-capture(1), weft-fault(1), "
	       "weft-down(1), weft-scenario(5)",
	.run = run_up,
};
