/* SPDX-License-Identifier: Apache-2.0 */
/* am.c - where the members of aggregation management's attributes are. */
#include "wire/am.h"

#define F WF_FIELD

static const struct wf_field an_info_fields[] = {
	F(an_info, streaming_aggregation_supported, 0, 1),
	F(an_info, tree_table_size, 48, 16),
	F(an_info, tree_radix, 88, 8),
	F(an_info, outstanding_operation_table_size, 208, 16),
	F(an_info, num_of_jobs, 296, 24),
	F(an_info, max_num_qps, 336, 16),
};

static const struct wf_field qpc_config_fields[] = {
	F(qpc_config, state, 0, 4),
	F(qpc_config, qpn, 8, 24),
	F(qpc_config, ts, 68, 4),
	F(qpc_config, mtu, 92, 4),
	F(qpc_config, sl, 104, 4),
	F(qpc_config, rlid, 112, 16),
	F(qpc_config, port, 360, 8),
	F(qpc_config, pkey, 368, 16),
	F(qpc_config, rqpn, 392, 24),
	F(qpc_config, rnr_retry_limit, 472, 8),
	F(qpc_config, local_ack_timeout, 488, 8),
	F(qpc_config, timeout_retry_limit, 504, 8),
};

static const struct wf_field tree_config_fields[] = {
	F(tree_config, opcode, 0, 4),
	F(tree_config, tree_state, 4, 4),
	F(tree_config, tree_id, 16, 16),
	F(tree_config, tree_mode, 32, 4),
	F(tree_config, streaming_lock_mode, 36, 4),
	F(tree_config, small_data_tree_id, 48, 16),
	F(tree_config, parent_qpn, 72, 24),
	F(tree_config, record_locator, 96, 16),
	F(tree_config, num_of_children, 120, 8),
	WF_FIELD_ARRAY(tree_config, child_qp, 136, 24, 32),
};

WF_LAYOUT(an_info, 76);
WF_LAYOUT(qpc_config, 64);
WF_LAYOUT(tree_config, 192);
