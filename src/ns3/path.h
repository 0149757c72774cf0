/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path.h - paths that somebody else has chosen, for each flow and its acknowledgements.
 */
#ifndef WF_NS3_PATH_H
#define WF_NS3_PATH_H

#include "base/base.h"

#define WF_NS3_HOPS 8 /* switches on a path */

/* One direction of one flow: by which port it leaves each switch; node WF_TOPO_NONE ends it. */
struct wf_ns3_path {
	struct {
		uint32_t node;
		uint32_t port;
	} hop[WF_NS3_HOPS];
};

/* Flow n (qpn of its packets) goes by path 2 * n, its acknowledgements by 2 * n + 1. */
struct wf_ns3_paths {
	const struct wf_ns3_path *path;
	uint32_t n_flows;
};

#endif
