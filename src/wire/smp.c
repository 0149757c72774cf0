/* SPDX-License-Identifier: Apache-2.0 */
/* smp.c - where the members of subnet management's attributes are. */
#include "wire/smp.h"

#define F WF_FIELD
#define FC WF_FIELD_C

static const struct wf_field node_description_fields[] = {
	FC(node_description, text, 0, 512, 0),
};

static const struct wf_field node_info_fields[] = {
	FC(node_info, base_version, 0, 8, 0),        FC(node_info, class_version, 8, 8, 1),
	FC(node_info, node_type, 16, 8, 2),          FC(node_info, num_ports, 24, 8, 3),
	FC(node_info, system_image_guid, 32, 64, 4), FC(node_info, node_guid, 96, 64, 5),
	FC(node_info, port_guid, 160, 64, 6),        FC(node_info, partition_cap, 224, 16, 7),
	FC(node_info, device_id, 240, 16, 8),        FC(node_info, revision, 256, 32, 9),
	FC(node_info, local_port_num, 288, 8, 10),   FC(node_info, vendor_id, 296, 24, 11),
};

static const struct wf_field switch_info_fields[] = {
	FC(switch_info, linear_fdb_cap, 0, 16, 0),
	FC(switch_info, random_fdb_cap, 16, 16, 1),
	FC(switch_info, multicast_fdb_cap, 32, 16, 2),
	FC(switch_info, linear_fdb_top, 48, 16, 3),
	FC(switch_info, default_port, 64, 8, 4),
	FC(switch_info, default_multicast_primary_port, 72, 8, 5),
	FC(switch_info, default_multicast_not_primary_port, 80, 8, 6),
	FC(switch_info, life_time_value, 88, 5, 7),
	FC(switch_info, port_state_change, 93, 1, 8),
	FC(switch_info, optimized_sl_to_vl, 94, 2, 9),
	FC(switch_info, lids_per_port, 96, 16, 10),
	FC(switch_info, partition_enforcement_cap, 112, 16, 11),
	FC(switch_info, inbound_enforcement_cap, 128, 1, 12),
	FC(switch_info, outbound_enforcement_cap, 129, 1, 13),
	FC(switch_info, filter_raw_inbound_cap, 130, 1, 14),
	FC(switch_info, filter_raw_outbound_cap, 131, 1, 15),
	FC(switch_info, enhanced_port0, 132, 1, 16),
	F(switch_info, multicast_fdb_top, 144, 16),
};

static const struct wf_field guid_info_fields[] = {
	WF_FIELD_ARRAY_C(guid_info, guid, 0, 64, 64, 0),
};

/*
 * Components are those of a PortInfoRecord behind its own three: reserved bits of the first
 * versions of IBTA are counted (16, 41, 43 and 53), which later ones have filled.
 */
static const struct wf_field port_info_fields[] = {
	FC(port_info, mkey, 0, 64, 0),
	FC(port_info, gid_prefix, 64, 64, 1),
	FC(port_info, lid, 128, 16, 2),
	FC(port_info, master_sm_lid, 144, 16, 3),
	FC(port_info, capability_mask, 160, 32, 4),
	FC(port_info, diag_code, 192, 16, 5),
	FC(port_info, mkey_lease_period, 208, 16, 6),
	FC(port_info, local_port_num, 224, 8, 7),
	FC(port_info, link_width_enabled, 232, 8, 8),
	FC(port_info, link_width_supported, 240, 8, 9),
	FC(port_info, link_width_active, 248, 8, 10),
	FC(port_info, link_speed_supported, 256, 4, 11),
	FC(port_info, port_state, 260, 4, 12),
	FC(port_info, port_physical_state, 264, 4, 13),
	FC(port_info, link_down_default_state, 268, 4, 14),
	FC(port_info, mkey_protect_bits, 272, 2, 15),
	FC(port_info, lmc, 277, 3, 17),
	FC(port_info, link_speed_active, 280, 4, 18),
	FC(port_info, link_speed_enabled, 284, 4, 19),
	FC(port_info, neighbor_mtu, 288, 4, 20),
	FC(port_info, master_sm_sl, 292, 4, 21),
	FC(port_info, vl_cap, 296, 4, 22),
	FC(port_info, init_type, 300, 4, 23),
	FC(port_info, vl_high_limit, 304, 8, 24),
	FC(port_info, vl_arb_high_cap, 312, 8, 25),
	FC(port_info, vl_arb_low_cap, 320, 8, 26),
	FC(port_info, init_type_reply, 328, 4, 27),
	FC(port_info, mtu_cap, 332, 4, 28),
	FC(port_info, vl_stall_count, 336, 3, 29),
	FC(port_info, hoq_life, 339, 5, 30),
	FC(port_info, operational_vls, 344, 4, 31),
	FC(port_info, partition_enforcement_inbound, 348, 1, 32),
	FC(port_info, partition_enforcement_outbound, 349, 1, 33),
	FC(port_info, filter_raw_inbound, 350, 1, 34),
	FC(port_info, filter_raw_outbound, 351, 1, 35),
	FC(port_info, mkey_violations, 352, 16, 36),
	FC(port_info, pkey_violations, 368, 16, 37),
	FC(port_info, qkey_violations, 384, 16, 38),
	FC(port_info, guid_cap, 400, 8, 39),
	FC(port_info, client_reregister, 408, 1, 40),
	F(port_info, multicast_pkey_trap_suppression, 409, 2),
	FC(port_info, subnet_timeout, 411, 5, 42),
	FC(port_info, resp_time_value, 419, 5, 44),
	FC(port_info, local_phy_errors, 424, 4, 45),
	FC(port_info, overrun_errors, 428, 4, 46),
	FC(port_info, max_credit_hint, 432, 16, 47),
	F(port_info, link_speed_ext_active2, 448, 3),
	F(port_info, link_speed_ext_supported2, 451, 2),
	F(port_info, link_speed_ext_enabled2, 453, 3),
	FC(port_info, link_round_trip_latency, 456, 24, 49),
	FC(port_info, capability_mask2, 480, 16, 50),
	FC(port_info, link_speed_ext_active, 496, 4, 51),
	FC(port_info, link_speed_ext_supported, 500, 4, 52),
	FC(port_info, link_speed_ext_enabled, 507, 5, 54),
};

static const struct wf_field pkey_table_fields[] = {
	WF_FIELD_ARRAY(pkey_table, pkey, 0, 16, 16),
};

static const struct wf_field sl_to_vl_fields[] = {
	WF_FIELD_ARRAY(sl_to_vl, vl, 0, 4, 4),
};

static const struct wf_field vl_arb_entry_fields[] = {
	F(vl_arb_entry, vl, 4, 4),
	F(vl_arb_entry, weight, 8, 8),
};

static const struct wf_field vl_arb_fields[] = {
	WF_FIELD_SUBS(vl_arb, entry, vl_arb_entry, 0, 16),
};

static const struct wf_field linear_ft_fields[] = {
	F(linear_ft, port, 0, 512),
};

static const struct wf_field multicast_ft_fields[] = {
	WF_FIELD_ARRAY(multicast_ft, ports, 0, 16, 16),
};

static const struct wf_field sm_info_fields[] = {
	FC(sm_info, guid, 0, 64, 0),        FC(sm_info, sm_key, 64, 64, 1),
	FC(sm_info, act_count, 128, 32, 2), FC(sm_info, priority, 160, 4, 3),
	FC(sm_info, sm_state, 164, 4, 4),
};

static const struct wf_field led_info_fields[] = {
	F(led_info, led_mask, 0, 1),
};

static const struct wf_field adaptive_info_fields[] = {
	F(adaptive_info, enabled, 0, 1),
	F(adaptive_info, group_cap, 16, 16),
};

static const struct wf_field adaptive_groups_fields[] = {
	WF_FIELD_ARRAY(adaptive_groups, ports, 0, 64, 64),
};

static const struct wf_field adaptive_lids_fields[] = {
	F(adaptive_lids, group, 0, 512),
};

WF_LAYOUT(node_description, 64);
WF_LAYOUT(node_info, 40);
WF_LAYOUT(switch_info, 20);
WF_LAYOUT(guid_info, 64);
WF_LAYOUT(port_info, 64);
WF_LAYOUT(pkey_table, 64);
WF_LAYOUT(sl_to_vl, 8);
WF_LAYOUT(vl_arb_entry, 2);
WF_LAYOUT(vl_arb, 64);
WF_LAYOUT(linear_ft, 64);
WF_LAYOUT(multicast_ft, 64);
WF_LAYOUT(sm_info, 21);
WF_LAYOUT(led_info, 4);
WF_LAYOUT(adaptive_info, 4);
WF_LAYOUT(adaptive_groups, 64);
WF_LAYOUT(adaptive_lids, 64);
