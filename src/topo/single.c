/* SPDX-License-Identifier: Apache-2.0 */
/* single.c - all hosts on one switch, or on one switch in each plane. */
#include <inttypes.h>

#include "topo/topo_priv.h"

int wf_single_build(const struct wf_topo_cfg *cfg, uint32_t gpus, struct wf_mem *mem,
                    struct wf_topo **topo_p, struct wf_err *err)
{
	uint32_t radix = wf_topo_radix(cfg) == 0 ? WF_TOPO_MAX_PORTS : wf_topo_radix(cfg);
	struct wf_homed homed;
	struct wf_wires wires;
	struct wf_graph graph;
	uint32_t leaf;
	int ret =
		wf_homed_init(&homed, cfg, "single",
	                      WF_HOMING_BIT(WF_HOMING_SAME) | WF_HOMING_BIT(WF_HOMING_PLANES), err);

	if (ret != 0)
		return ret;
	if (cfg->hosts == 0 || cfg->hosts > radix / homed.leaf_ports)
		return wf_err_say(err,
		                  "topology.hosts: %" PRIu32 " hosts on one switch of %" PRIu32
		                  " ports; 1 to %" PRIu32 " fit, or another kind",
		                  cfg->hosts, radix, radix / homed.leaf_ports);

	wf_wires_init(&wires, cfg);
	ret = wf_graph_init(&graph, cfg->hosts + homed.planes, (uint64_t)cfg->hosts * homed.ports,
	                    WF_TOPO_SECTION, mem, err);
	if (ret != 0)
		return ret;
	graph.topo->host_ports = homed.ports;
	for (uint32_t i = 0; i < cfg->hosts; i++)
		wf_graph_add_host(&graph, i / gpus, 0);
	leaf = wf_graph_add_switch(&graph, 1, 0, "leaf", 0, NULL, 0);
	for (uint32_t i = 1; i < homed.planes; i++)
		wf_graph_add_switch(&graph, 1, 0, "leaf", i, NULL, 0);
	for (uint32_t i = 0; i < cfg->hosts; i++) {
		for (uint32_t p = 0; p < homed.ports; p++)
			wf_graph_add_link(&graph, i, leaf + p % homed.planes, &wires.host);
	}
	return wf_graph_finish(&graph, WF_TOPO_SECTION, topo_p, err);
}

static int single_build(const struct wf_topo_cfg *cfg, const char *text, size_t len,
                        const char *name, struct wf_mem *mem, struct wf_topo **topo_p,
                        struct wf_err *err)
{
	(void)text;
	(void)len;
	(void)name;
	return wf_single_build(cfg, 1, mem, topo_p, err);
}

const struct wf_topo_ops wf_topo_single = {
	.name = "single",
	.help = "all hosts on one switch",
	.build = single_build,
};
