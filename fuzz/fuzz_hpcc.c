/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_hpcc.c - any bytes as configuration, flows and paths of the HPCC simulator. The first byte
 * says which of them.
 */
#include <stdlib.h>
#include <string.h>

#include "ns3/config.h"

static const char topology[] =
	"6 2 5\n4 5\n0 4 100Gbps 1us 0\n1 4 100Gbps 1us 0\n2 5 100Gbps 1us 0\n"
	"3 5 100Gbps 1us 0\n4 5 400Gbps 1us 0\n";
static const char flows[] = "2\n0 2 3 100 1000 2\n1 3 3 100 5 2.002\n";

/* What was read leads over switches and ports that there are. */
static void check_paths(const struct wf_ns3_input *in)
{
	for (uint32_t i = 0; i < 2 * in->n_lines; i++) {
		for (unsigned k = 0; k < WF_NS3_HOPS; k++) {
			uint32_t node = in->paths[i].hop[k].node;

			if (node == WF_TOPO_NONE)
				break;
			if (node >= in->topo->n_nodes ||
			    in->paths[i].hop[k].port >= in->topo->nodes[node].n_ports)
				abort();
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data + 1;
	struct wf_ns3_input in;
	struct wf_topo_cfg cfg;
	struct wf_err err = { "" };

	if (size < 1)
		return 0;
	memset(&in, 0, sizeof(in));
	if (data[0] % 3 == 0) {
		(void)!wf_ns3_config_parse(&in.config, text, size - 1, "fuzz", &err);
		return 0;
	}
	if (wf_param_defaults(wf_topo_params, wf_topo_n_params, &cfg, &err) != 0 ||
	    wf_topo_find("hpcc")->build(&cfg, topology, strlen(topology), "t", wf_mem_heap(),
	                                &in.topo, &err) != 0)
		abort();
	if (data[0] % 3 == 1) {
		(void)!wf_ns3_flows_parse(&in, text, size - 1, "fuzz", &err);
	} else {
		if (wf_ns3_flows_parse(&in, flows, strlen(flows), "f", &err) != 0)
			abort();
		if (wf_ns3_paths_parse(&in, text, size - 1, "fuzz", &err) == 0)
			check_paths(&in);
	}
	wf_ns3_input_fini(&in);
	return 0;
}
