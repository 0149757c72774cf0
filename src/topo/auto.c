/* SPDX-License-Identifier: Apache-2.0 */
/*
 * auto.c - the network that a buyer of these switches builds: one switch where all hosts fit; else,
 * for servers of several NICs, rails, as many to a leaf as fill it, and for servers of one NIC
 * leaves and spines, with a third tier where two are too small. tests/unit/topo/test_tree.c
 * compares it with NVIDIA's reference architectures.
 */
#include <string.h>

#include "topo/topo_priv.h"

/* Whether one switch, or one in each plane, is enough. Leaves in pairs are two. */
static bool fits_one(const struct wf_topo_cfg *cfg)
{
	uint32_t radix = wf_topo_radix(cfg);

	if (cfg->ports <= 1 || strcmp(cfg->homing, "planes") == 0)
		return cfg->hosts <= radix;
	return strcmp(cfg->homing, "same") == 0 && cfg->hosts <= radix / cfg->ports;
}

static int auto_build(const struct wf_topo_cfg *cfg, const char *text, size_t len, const char *name,
                      struct wf_mem *mem, struct wf_topo **topo_p, struct wf_err *err)
{
	const struct wf_tree_ask ask = {
		.what = cfg->gpus > 1 ? "rail network" : "tree",
		.rails = cfg->gpus,
	};
	struct wf_tree tree;
	int ret;

	(void)text;
	(void)len;
	(void)name;
	if (wf_topo_radix(cfg) == 0)
		return wf_err_say(err, "topology.radix: kind auto must know the ports of a switch; "
		                       "write radix, or switch.ports of the fabric");
	if (cfg->gpus > 0 && fits_one(cfg))
		return wf_single_build(cfg, cfg->gpus, mem, topo_p, err);
	ret = wf_tree_plan(&tree, cfg, &ask, err);
	if (ret != 0)
		return ret;
	return wf_tree_build(&tree, WF_TOPO_SECTION, mem, topo_p, err);
}

const struct wf_topo_ops wf_topo_auto = {
	.name = "auto",
	.help = "as it would be bought: one switch where all hosts fit, else rails, as many to a "
		"leaf as fill it, below spines or cores",
	.build = auto_build,
};
