/* SPDX-License-Identifier: Apache-2.0 */
/* am.c - where the members of aggregation management's attributes are. */
#include "wire/am.h"

#define F WF_FIELD

static const struct wf_field am_node_fields[] = {
	F(am_node, radix, 0, 8),  F(am_node, streams, 15, 1),  F(am_node, trees, 16, 16),
	F(am_node, jobs, 32, 16), F(am_node, pending, 48, 16), F(am_node, queue_pairs, 64, 16),
};

static const struct wf_field am_queue_pair_fields[] = {
	F(am_queue_pair, active, 7, 1),     F(am_queue_pair, qpn, 8, 24),
	F(am_queue_pair, port, 32, 8),      F(am_queue_pair, peer_qpn, 40, 24),
	F(am_queue_pair, peer_lid, 64, 16), F(am_queue_pair, pkey, 80, 16),
	F(am_queue_pair, mtu, 96, 4),       F(am_queue_pair, sl, 100, 4),
};

static const struct wf_field am_tree_fields[] = {
	F(am_tree, tree, 0, 16),    F(am_tree, does, 16, 4),
	F(am_tree, streams, 22, 1), F(am_tree, enabled, 23, 1),
	F(am_tree, n, 24, 8),       F(am_tree, locked_by, 32, 16),
	F(am_tree, parent, 72, 24), WF_FIELD_ARRAY(am_tree, child, 104, 24, 32),
};

WF_LAYOUT(am_node, 12);
WF_LAYOUT(am_queue_pair, 16);
WF_LAYOUT(am_tree, 192);
