/* SPDX-License-Identifier: Apache-2.0 */
/* leaf_spine.c - two tiers: every leaf has the same number of links to every spine. */
#include "topo/topo_priv.h"

static int leaf_spine_build(const struct wf_topo_cfg *cfg, const char *text, size_t len,
                            const char *name, struct wf_mem *mem, struct wf_topo **topo_p,
                            struct wf_err *err)
{
	static const struct wf_tree_ask ask = { "leaf-spine", 1, 1, 2 };
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

const struct wf_topo_ops wf_topo_leaf_spine = {
	.name = "leaf-spine",
	.help = "two tiers: every leaf to every spine",
	.build = leaf_spine_build,
};
