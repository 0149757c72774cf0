/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rail.c - rail-optimised: a group has one switch per rail, and NIC r of each of its servers is on
 * switch r, so NICs of the same rail meet after one hop; or leaf_rails of the rails share one. All
 * these switches meet in spines, or, when there are more of them than a spine has ports, in pods of
 * aggregation switches below cores.
 */
#include "topo/topo_priv.h"

static int rail_build(const struct wf_topo_cfg *cfg, const char *text, size_t len, const char *name,
                      struct wf_mem *mem, struct wf_topo **topo_p, struct wf_err *err)
{
	const struct wf_tree_ask ask = {
		.what = "rail network",
		.rails = cfg->gpus,
		.leaf_rails = cfg->leaf_rails == WF_PARAM_AUTO ? 0 : wf_narrow_u32(cfg->leaf_rails),
	};
	struct wf_tree tree;
	int ret;

	(void)text;
	(void)len;
	(void)name;
	ret = wf_tree_plan(&tree, cfg, &ask, err);
	if (ret != 0)
		return ret;
	return wf_tree_build(&tree, WF_TOPO_SECTION, mem, topo_p, err);
}

const struct wf_topo_ops wf_topo_rail = {
	.name = "rail",
	.help = "rail-optimised: NIC r of each server of a group on the group's switch r, then "
		"spines",
	.build = rail_build,
};
