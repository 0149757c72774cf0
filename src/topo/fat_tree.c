/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fat_tree.c - three tiers: pods of leaves and aggregation switches, joined by cores. With radix k,
 * blocking 1 and k^3/4 hosts it is the k-ary fat tree; with fewer hosts, as many pods as they need.
 */
#include "topo/topo_priv.h"

static int fat_tree_build(const struct wf_topo_cfg *cfg, const char *text, size_t len,
                          const char *name, struct wf_mem *mem, struct wf_topo **topo_p,
                          struct wf_err *err)
{
	static const struct wf_tree_ask ask = { "fat-tree", 1, 1, 3 };
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

const struct wf_topo_ops wf_topo_fat_tree = {
	.name = "fat-tree",
	.help = "three tiers: pods of leaves and aggregation switches, joined by cores",
	.build = fat_tree_build,
};
