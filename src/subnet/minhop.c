/* SPDX-License-Identifier: Apache-2.0 */
/* minhop.c - shortest ways, each switch for itself: OpenSM's engine when none is asked for. */
#include "subnet/route_priv.h"

static int minhop_route(const struct wf_subnet *subnet, const struct wf_sm_route_cfg *cfg,
                        struct wf_tables *tables, struct wf_err *err)
{
	struct wf_sm_net net;
	struct wf_sm_ways ways;
	int ret = wf_sm_net_init(&net, subnet);

	(void)cfg;
	(void)err;
	if (ret != 0)
		return ret;
	ret = wf_sm_ways_init(&ways, &net);
	if (ret == 0) {
		ret = wf_sm_spread(&ways, tables);
		wf_sm_ways_fini(&ways);
	}
	wf_sm_net_fini(&net);
	return ret;
}

const struct wf_sm_route_ops wf_sm_route_minhop = {
	.name = "minhop",
	.help = "the fewest hops, spread over equal ports; credit loops may be",
	.route = minhop_route,
};
