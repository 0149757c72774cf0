/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_up.c - weft up and weft down: a live fabric begins and ends. */
#include <errno.h>
#include <unistd.h>

#include "base/param.h"
#include "cli/cli.h"
#include "cli/live/live.h"
#include "live/claim.h"

static const char up_help[] =
	"usage: weft up [CLUSTER.yaml] [options]\n"
	"\n"
	"Starts a live fabric: a daemon to which programs attach that weft exec runs. Without a\n"
	"file: two hosts called h1 and h2, one switch, RoCE v2. A file is a scenario (see weft "
	"run)\n"
	"without traffic: a topology and a fabric. Packets then cross that fabric as weft run has "
	"it.\n"
	"\n"
	"  --fabric PROFILE    what it is: roce-400g (the default), ib-ndr ...; weft list "
	"profiles\n"
	"  --hosts N           so many hosts, h1 to hN (without a file)\n"
	"  --name NAME         what it is called, where several run side by side (default: "
	"default)\n"
	"  --wire HOST=ADDRESS the host is at this IPv4 or IPv6 address, too: RoCE v2 over UDP\n"
	"                      (port 4791), to other fabrics, Linux and NICs; 0.0.0.0: the\n"
	"                      machine's first address. One address of each kind for a host\n"
	"  --pace wall         packets cross the fabric of the file, modelled, in real time: its "
	"switches,\n"
	"                      buffers, flow control, rates and delays (the default with a file)\n"
	"  --pace none         the same as fast as it can be calculated\n"
	"  --pace direct       packets go from program to program, and nothing is modelled (the "
	"default\n"
	"                      without a file)\n"
	"  --metrics ADDR:PORT counters for Prometheus, over HTTP there\n"
	"  --foreground        stay until interrupted\n"
	"  --profiles DIR      more profiles\n"
	"\n"
	"Its socket is in $WEFT_RUNTIME_DIR, $XDG_RUNTIME_DIR/weft or /tmp/weft-UID.\n";

static const char down_help[] = "usage: weft down [--name NAME]\n"
				"\n"
				"Ends a live fabric. Programs on it see their port go down.\n";

enum { OPT_HOSTS = 256, OPT_WIRE, OPT_METRICS, OPT_PROFILES, OPT_FOREGROUND, OPT_PACE };

static const struct option up_options[] = {
	{ "fabric", required_argument, NULL, 'f' },
	{ "hosts", required_argument, NULL, OPT_HOSTS },
	{ "name", required_argument, NULL, 'n' },
	{ "wire", required_argument, NULL, OPT_WIRE },
	{ "pace", required_argument, NULL, OPT_PACE },
	{ "metrics", required_argument, NULL, OPT_METRICS },
	{ "foreground", no_argument, NULL, OPT_FOREGROUND },
	{ "profiles", required_argument, NULL, OPT_PROFILES },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static int set_hosts(const char *arg, uint32_t *hosts)
{
	const struct wf_param row = { .name = "hosts",
		                      .kind = WF_PARAM_U32,
		                      .size = sizeof(*hosts),
		                      .min = 1,
		                      .max = WF_LIVE_MAX_HOSTS };
	struct wf_err why = { "" };

	if (wf_param_set(&row, hosts, arg, &why) != 0)
		return wf_cli_usage("up", "--hosts: %s", why.text);
	return 0;
}

static int run_up(int argc, char **argv)
{
	struct wf_live_plan plan = { .hosts = 2 };
	bool foreground = false, hosts = false;
	static char path[WF_PATH_MAX];
	struct wf_err err = { "" };
	int c, rc;

	while ((c = wf_cli_option(argc, argv, ":f:n:h", up_options)) != -1) {
		if (c == 'f')
			plan.fabric = optarg;
		else if (c == 'n')
			plan.name = optarg;
		else if (c == OPT_PROFILES)
			plan.profiles = optarg;
		else if (c == OPT_WIRE && plan.n_wires < WF_LIVE_WIRES)
			plan.wires[plan.n_wires++] = optarg;
		else if (c == OPT_PACE)
			plan.pace = optarg;
		else if (c == OPT_METRICS)
			plan.metrics = optarg;
		else if (c == OPT_FOREGROUND)
			foreground = true;
		else if (c == 'h')
			return wf_cli_help(&wf_cmd_up);
		else if (c != OPT_HOSTS || set_hosts(optarg, &plan.hosts) != 0)
			return WF_EXIT_USAGE;
		hosts = hosts || c == OPT_HOSTS;
	}
	if (optind < argc)
		plan.file = argv[optind++];
	if (optind != argc)
		return wf_cli_usage("up", "'%.40s' is not expected: there is one file",
		                    argv[optind]);
	if (hosts && plan.file != NULL)
		return wf_cli_usage("up", "--hosts: the file says how many there are");
	rc = wf_live_path(plan.name, true, path, &err);
	if (rc == 0)
		rc = foreground ? wf_live_run(&plan, path, &err)
		                : wf_live_start(&plan, path, false, &err);
	return rc != 0 ? wf_cli_fail(rc, &err) : WF_EXIT_OK;
}

const struct wf_cmd wf_cmd_up = {
	.name = "up",
	.summary = "start a live fabric for unmodified RDMA programs",
	.help = up_help,
	.run = run_up,
};

static int run_down(int argc, char **argv)
{
	static const struct option options[] = {
		{ "name", required_argument, NULL, 'n' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct wf_live_req req = { .op = WF_LIVE_STOP };
	struct wf_live_reply reply;
	int fds[WF_LIVE_MAX_FDS];
	static char path[WF_PATH_MAX];
	const char *name = NULL;
	struct wf_err err = { "" };
	int c, rc;

	while ((c = wf_cli_option(argc, argv, ":n:h", options)) != -1) {
		if (c == 'h')
			return wf_cli_help(&wf_cmd_down);
		if (c != 'n')
			return WF_EXIT_USAGE;
		name = optarg;
	}
	if (optind != argc)
		return wf_cli_usage("down", "'%.40s' is not expected", argv[optind]);
	rc = wf_live_path(name, false, path, &err);
	if (rc == 0)
		rc = wf_live_ask(path, &req, &reply, fds, &err);
	if (rc == -ECONNREFUSED && wf_claim_clean(path) == 0) {
		fprintf(stderr,
		        "weft down: the daemon of the fabric at %s was gone: it was killed, or "
		        "crashed; what it left is removed\n",
		        path);
		return WF_EXIT_OK;
	}
	if (rc != 0)
		return wf_cli_fail(rc, &err);
	/* The next weft up finds the place free. */
	for (int i = 0; i < 1000 && wf_claim_is_made(path); i++)
		usleep(1000);
	return WF_EXIT_OK;
}

const struct wf_cmd wf_cmd_down = {
	.name = "down",
	.summary = "end a live fabric",
	.help = down_help,
	.run = run_down,
};
