/* SPDX-License-Identifier: Apache-2.0 */
/* topo.c - the table of kinds, the parameters of all of them, and what every topology can do. */
#include "topo/topo.h"

#include <assert.h>
#include <string.h>

#include "base/rate.h"
#include "topo/topo_priv.h"

#define METRE INT64_C(1000)

#define OPS(id, text) &wf_topo_##id,
#define NAME(id, text) text,

static const struct wf_topo_ops *const all_kinds[] = { WF_TOPO_KINDS(OPS) NULL };

/* What a scenario calls them; a test compares it with what they call themselves. */
static const char *const kind_names[] = { WF_TOPO_KINDS(NAME) NULL };

const char *const wf_homing_names[] = { "same", "pair", "planes", NULL };

#define FIELD(f) WF_PARAM_FIELD(struct wf_topo_cfg, f)

const struct wf_param wf_topo_params[] = {
	{ .name = "kind",
	  .kind = WF_PARAM_NAME,
	  FIELD(kind),
	  .def = "fat-tree",
	  .names = kind_names,
	  .help = "shape of the network, or the format of file" },
	{ .name = "file",
	  .kind = WF_PARAM_TEXT,
	  FIELD(file),
	  .def = "",
	  .help = "hpcc, htsim, ibnetdiscover: the file to read, relative to the scenario" },
	{ .name = "hosts",
	  .kind = WF_PARAM_U32,
	  FIELD(hosts),
	  .min = 1,
	  .max = WF_TOPO_MAX_NODES,
	  .def = "128",
	  .help = "hosts (adapters) to connect" },
	{ .name = "ports",
	  .kind = WF_PARAM_U32,
	  FIELD(ports),
	  .min = 1,
	  .max = WF_TOPO_HOST_PORTS,
	  .def = "1",
	  .help = "ports of a host's adapter, which are one device (nic.bond)" },
	{ .name = "homing",
	  .kind = WF_PARAM_NAME,
	  FIELD(homing),
	  .def = "pair",
	  .names = wf_homing_names,
	  .help = "several ports lead to two leaves with the same hosts (pair), one, or planes" },
	{ .name = "radix",
	  .kind = WF_PARAM_U64,
	  .has_auto = true,
	  FIELD(radix),
	  .min = 0,
	  .max = WF_TOPO_MAX_PORTS,
	  .def = "auto",
	  .help = "ports of a switch; 0 = the fewest that do; auto = the fabric's switch.ports" },
	{ .name = "blocking",
	  .kind = WF_PARAM_RATIO,
	  FIELD(blocking),
	  .min = WF_RATIO_ONE,
	  .max = 64 * WF_RATIO_ONE,
	  .def = "1",
	  .help = "leaf-spine, fat-tree, rail: downlink over uplink bandwidth of a leaf; 1 = "
	          "none" },
	{ .name = "host_rate",
	  .kind = WF_PARAM_RATE,
	  FIELD(host_rate),
	  .min = WF_RATE_MIN,
	  .max = WF_RATE_MAX,
	  .def = "400Gbps",
	  .help = "rate of a host's link; of each, where it has several ports" },
	{ .name = "fabric_rate",
	  .kind = WF_PARAM_RATE,
	  .has_auto = true,
	  FIELD(fabric_rate),
	  .min = WF_RATE_MIN,
	  .max = WF_RATE_MAX,
	  .def = "auto",
	  .help = "rate of a link between switches; auto = host_rate" },
	{ .name = "cable.host",
	  .kind = WF_PARAM_LENGTH,
	  FIELD(host_cable),
	  .min = 0,
	  .max = 100000 * METRE,
	  .def = "3m",
	  .help = "cable from host to switch" },
	{ .name = "cable.fabric",
	  .kind = WF_PARAM_LENGTH,
	  FIELD(fabric_cable),
	  .min = 0,
	  .max = 100000 * METRE,
	  .def = "30m",
	  .help = "cable from leaf to spine, within a pod or a group" },
	{ .name = "cable.core",
	  .kind = WF_PARAM_LENGTH,
	  FIELD(core_cable),
	  .min = 0,
	  .max = 100000 * METRE,
	  .def = "100m",
	  .help = "cable to the core, or between dragonfly groups" },
	{ .name = "cable.delay",
	  .kind = WF_PARAM_TIME,
	  FIELD(cable_delay),
	  .min = 0,
	  .max = WF_US,
	  .def = "5ns",
	  .help = "propagation delay of one metre of cable" },
	{ .name = "gpus",
	  .kind = WF_PARAM_U32,
	  FIELD(gpus),
	  .min = 1,
	  .max = 64,
	  .def = "8",
	  .help = "rail, auto: GPUs of a server, each with a NIC" },
	{ .name = "leaf_rails",
	  .kind = WF_PARAM_U64,
	  .has_auto = true,
	  FIELD(leaf_rails),
	  .min = 1,
	  .max = 64,
	  .def = "1",
	  .help = "rail: rails that share a leaf; auto = the fewest that leave none half empty" },
	{ .name = "group_switches",
	  .kind = WF_PARAM_U32,
	  FIELD(group_switches),
	  .min = 0,
	  .max = WF_TOPO_MAX_PORTS,
	  .def = "0",
	  .help = "dragonfly: switches of a group (a); 0 = balanced, a = 2h" },
	{ .name = "switch_hosts",
	  .kind = WF_PARAM_U32,
	  FIELD(switch_hosts),
	  .min = 0,
	  .max = WF_TOPO_MAX_PORTS,
	  .def = "0",
	  .help = "dragonfly: hosts of a switch (p); 0 = balanced, p = h" },
	{ .name = "global_links",
	  .kind = WF_PARAM_U32,
	  FIELD(global_links),
	  .min = 0,
	  .max = WF_TOPO_MAX_PORTS,
	  .def = "0",
	  .help = "dragonfly: global links of a switch (h); 0 = balanced" },
};

const size_t wf_topo_n_params = WF_ARRAY_SIZE(wf_topo_params);

int wf_homed_init(struct wf_homed *homed, const struct wf_topo_cfg *cfg, const char *kind,
                  unsigned can, struct wf_err *err)
{
	unsigned i = 0;

	*homed = (struct wf_homed){ WF_HOMING_SAME, 1, 1, 1, 1 };
	if (cfg->ports <= 1)
		return 0;
	if (can == 0)
		return wf_err_say(err,
		                  "topology.ports: hosts of kind %s have one port; 1, or kind "
		                  "single, leaf-spine, fat-tree, rail or auto",
		                  kind);
	/* The row of the parameter takes no other name. */
	while (wf_homing_names[i] != NULL && strcmp(wf_homing_names[i], cfg->homing) != 0)
		i++;
	assert(wf_homing_names[i] != NULL);
	homed->homing = (enum wf_homing)i;
	homed->ports = cfg->ports;
	switch (homed->homing) {
	case WF_HOMING_SAME:
		homed->leaf_ports = cfg->ports;
		break;
	case WF_HOMING_PAIR:
		homed->twins = cfg->ports;
		break;
	case WF_HOMING_PLANES:
		homed->planes = cfg->ports;
		break;
	}
	if (can & WF_HOMING_BIT(homed->homing))
		return 0;
	assert(homed->homing == WF_HOMING_PAIR);
	return wf_err_say(
		err,
		"topology.homing: pair needs leaves that meet above, and kind %s has none; "
		"write same or planes, or another kind",
		kind);
}

const struct wf_topo_ops *const *wf_topo_kinds(void)
{
	return all_kinds;
}

const struct wf_topo_ops *wf_topo_find(const char *name)
{
	for (size_t i = 0; all_kinds[i] != NULL; i++) {
		if (strcmp(all_kinds[i]->name, name) == 0)
			return all_kinds[i];
	}
	return NULL;
}

void wf_topo_destroy(struct wf_topo *topo)
{
	struct wf_mem *mem;

	if (topo == NULL)
		return;

	mem = topo->mem;
	mem->free(mem, topo->host_node);
	mem->free(mem, topo->ports);
	mem->free(mem, topo->links);
	mem->free(mem, topo->nodes);
	mem->free(mem, topo);
}

uint32_t wf_topo_node_by_name(const struct wf_topo *topo, const char *name)
{
	for (uint32_t i = 0; i < topo->n_nodes; i++) {
		if (strcmp(topo->nodes[i].name, name) == 0)
			return i;
	}
	return WF_TOPO_NONE;
}
