/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_audit.c - weft audit: the mistakes in the configurations of switches and adapters.
 */
#include <string.h>

#include "cli/cli.h"
#include "cli/common.h"
#include "study/audit.h"
#include "text/file.h"

#define EXIT_WARNINGS 3

struct ask {
	const char *out;
	bool json, sarif;
};

static int act(const struct ask *ask, char **paths, size_t n)
{
	struct wf_err err = { "" };
	struct wf_study_audit study;
	struct wf_out out;
	int status, rc = wf_out_open(&out, wf_opt_out_path(ask->out), &err);

	if (rc != 0)
		return wf_cli_fail(rc, &err);
	rc = wf_study_audit_read(&study, paths, n, &err);
	if (rc == 0) {
		if (ask->json)
			wf_study_audit_json(&study, out.file);
		else if (ask->sarif)
			wf_study_audit_sarif(&study, out.file);
		else
			wf_study_audit_print(&study, out.file);
		rc = wf_out_commit(&out, &err);
	}
	wf_out_abort(&out);
	status = study.n_errors != 0                        ? WF_EXIT_USAGE
	         : study.audit.count[WF_AUDIT_ERROR] != 0   ? WF_EXIT_FAILED
	         : study.audit.count[WF_AUDIT_WARNING] != 0 ? EXIT_WARNINGS
	                                                    : WF_EXIT_OK;
	wf_study_audit_fini(&study);
	return rc != 0 ? wf_cli_fail(rc, &err) : status;
}

static int run_audit(int argc, char **argv)
{
	struct ask ask = { NULL, false, false };
	int status = wf_opt_parse(&wf_cmd_audit, argc, argv, &ask);

	if (status >= 0)
		return status;
	if (optind == argc)
		return wf_cli_usage("audit", "name a folder with configurations, or files");
	if (ask.json && ask.sarif)
		return wf_cli_usage("audit", "--json and --sarif are two forms; one of both");
	return act(&ask, argv + optind, (size_t)(argc - optind));
}

static const struct wf_values *const operands[] = { &wf_values_any_file, NULL };

static const struct wf_opt_row options[] = {
	{ .is = &wf_opt_json, .take = wf_opt_take_flag, .at = offsetof(struct ask, json) },
	{
		.is =
			&(const struct wf_opt){
				.name = "sarif",
				.help = "Prints SARIF 2.1.0, which CI systems show beside the "
					"lines that it is about.",
			},
		.take = wf_opt_take_flag,
		.at = offsetof(struct ask, sarif),
	},
	{ .is = &wf_opt_out,
	  .take = wf_opt_take_text,
	  .at = offsetof(struct ask, out),
	  .more = "Standard output if not given. A file appears whole or not at all." },
	{ .is = NULL },
};

#define CHECK(id, name, grade, what, source, incident, cure) ":" name "\t" what "\n"

static const struct wf_cmd_section sections[] = {
	{ "Files",
	  "Which form a file has is seen from what stands in it:\n"
	  "- SONiC: config_db.json, whole or in parts, keys nested or flattened\n"
	  "- NVIDIA Cumulus: nv config show as JSON, YAML or commands; datapath.conf, "
	  "traffic.conf, qos_features.conf\n"
	  "- Arista EOS and Cisco NX-OS: running-config; of NX-OS also show class-map, "
	  "show policy-map and show run interface\n"
	  "- adapters: the output of mlnx_qos, mlxconfig, cma_roce_tos, ip link and "
	  "ethtool, values below /sys, NCCL_IB_TC\n"
	  "- cabling: lldpctl -f json, SONiC's DEVICE_NEIGHBOR, a list of links in YAML\n"
	  "\n"
	  "In a folder that is named each file is a device, which is called as the file "
	  "says itself, or as the file is up to its first dot; files called after what is "
	  "in them, as config_db.json and lldp.json, are of the folder's own device. Each "
	  "folder in it is one device, whatever lies below. What is not understood is told "
	  "of, with its place.\n" },
	{ "Checks", WF_AUDIT_ROWS(CHECK) },
	{ "Exit status", "0 nothing graver than a note; 3 there are warnings, and no errors; 1 "
	                 "there are errors, or "
	                 "it could not be done; 2 what was asked is wrong, or a file could not be "
	                 "read (the others "
	                 "are looked at all the same).\n" },
	{ "Examples", "  weft audit examples/audit/clean\n"
	              "  weft audit examples/audit/stock-map\n"
	              "  weft audit examples/audit/stock-map --json\n"
	              "  weft audit examples/audit/stock-map --sarif --out audit.sarif\n" },
	{ NULL, NULL },
};

const struct wf_cmd wf_cmd_audit = {
	.name = "audit",
	.summary = "find mistakes in the configurations of switches and adapters",
	.operands = "PATH...",
	.values = operands,
	.options = options,
	.text = "Reads the configurations that switches and adapters really have, and tells what "
		"is "
		"wrong with them before it happens: along every link and from the mark that an "
		"adapter gives a packet to the pause that stops it. Each finding says where it "
		"stands, what would be right, and to which incident it leads.\n",
	.sections = sections,
	.see = "weft(1), weft-run(1), weft-ib(1)",
	.run = run_audit,
};
