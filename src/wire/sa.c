/* SPDX-License-Identifier: Apache-2.0 */
/* sa.c - where the members of subnet administration's records are, and their bits in masks. */
#include "wire/sa.h"

#define F WF_FIELD
#define FC WF_FIELD_C
#define SUB WF_FIELD_SUB_C

static const struct wf_field node_record_fields[] = {
	FC(node_record, lid, 0, 16, 0),
	SUB(node_record, info, node_info, 32, 320, 2),
	SUB(node_record, description, node_description, 352, 512, 14),
};

static const struct wf_field port_info_record_fields[] = {
	FC(port_info_record, lid, 0, 16, 0),
	FC(port_info_record, port, 16, 8, 1),
	FC(port_info_record, options, 24, 8, 2),
	SUB(port_info_record, info, port_info, 32, 512, 3),
};

static const struct wf_field sl_to_vl_record_fields[] = {
	FC(sl_to_vl_record, lid, 0, 16, 0),
	FC(sl_to_vl_record, in_port, 16, 8, 1),
	FC(sl_to_vl_record, out_port, 24, 8, 2),
	WF_FIELD_SUB(sl_to_vl_record, table, sl_to_vl, 64, 64),
};

static const struct wf_field switch_info_record_fields[] = {
	FC(switch_info_record, lid, 0, 16, 0),
	SUB(switch_info_record, info, switch_info, 32, 160, 2),
};

static const struct wf_field linear_ft_record_fields[] = {
	FC(linear_ft_record, lid, 0, 16, 0),
	FC(linear_ft_record, block, 16, 16, 1),
	WF_FIELD_SUB(linear_ft_record, table, linear_ft, 64, 512),
};

static const struct wf_field multicast_ft_record_fields[] = {
	FC(multicast_ft_record, lid, 0, 16, 0),
	FC(multicast_ft_record, position, 16, 4, 1),
	FC(multicast_ft_record, block, 23, 9, 3),
	WF_FIELD_SUB(multicast_ft_record, table, multicast_ft, 64, 512),
};

static const struct wf_field sm_info_record_fields[] = {
	FC(sm_info_record, lid, 0, 16, 0),
	SUB(sm_info_record, info, sm_info, 32, 168, 2),
};

static const struct wf_field link_record_fields[] = {
	FC(link_record, from_lid, 0, 16, 0),
	FC(link_record, from_port, 16, 8, 1),
	FC(link_record, to_port, 24, 8, 2),
	FC(link_record, to_lid, 32, 16, 3),
};

static const struct wf_field guid_info_record_fields[] = {
	FC(guid_info_record, lid, 0, 16, 0),
	FC(guid_info_record, block, 16, 8, 1),
	SUB(guid_info_record, info, guid_info, 64, 512, 4),
};

static const struct wf_field service_record_fields[] = {
	FC(service_record, service_id, 0, 64, 0),
	FC(service_record, gid, 64, 128, 1),
	FC(service_record, pkey, 192, 16, 2),
	FC(service_record, lease, 224, 32, 4),
	FC(service_record, key, 256, 128, 5),
	FC(service_record, name, 384, 512, 6),
	WF_FIELD_ARRAY_C(service_record, data8, 896, 8, 8, 7),
	WF_FIELD_ARRAY_C(service_record, data16, 1024, 16, 16, 23),
	WF_FIELD_ARRAY_C(service_record, data32, 1152, 32, 32, 31),
	WF_FIELD_ARRAY_C(service_record, data64, 1280, 64, 64, 35),
};

static const struct wf_field pkey_table_record_fields[] = {
	FC(pkey_table_record, lid, 0, 16, 0),
	FC(pkey_table_record, block, 16, 16, 1),
	FC(pkey_table_record, port, 32, 8, 2),
	WF_FIELD_SUB(pkey_table_record, table, pkey_table, 64, 512),
};

static const struct wf_field path_record_fields[] = {
	FC(path_record, service_id, 0, 64, 0),      FC(path_record, dgid, 64, 128, 2),
	FC(path_record, sgid, 192, 128, 3),         FC(path_record, dlid, 320, 16, 4),
	FC(path_record, slid, 336, 16, 5),          FC(path_record, raw_traffic, 352, 1, 6),
	FC(path_record, flow_label, 356, 20, 8),    FC(path_record, hop_limit, 376, 8, 9),
	FC(path_record, tclass, 384, 8, 10),        FC(path_record, reversible, 392, 1, 11),
	FC(path_record, numb_path, 393, 7, 12),     FC(path_record, pkey, 400, 16, 13),
	FC(path_record, qos_class, 416, 12, 14),    FC(path_record, sl, 428, 4, 15),
	FC(path_record, mtu_selector, 432, 2, 16),  FC(path_record, mtu, 434, 6, 17),
	FC(path_record, rate_selector, 440, 2, 18), FC(path_record, rate, 442, 6, 19),
	FC(path_record, life_selector, 448, 2, 20), FC(path_record, life, 450, 6, 21),
	F(path_record, preference, 456, 8),
};

static const struct wf_field vl_arb_record_fields[] = {
	FC(vl_arb_record, lid, 0, 16, 0),
	FC(vl_arb_record, port, 16, 8, 1),
	FC(vl_arb_record, block, 24, 8, 2),
	WF_FIELD_SUB(vl_arb_record, table, vl_arb, 64, 512),
};

static const struct wf_field mc_member_record_fields[] = {
	FC(mc_member_record, mgid, 0, 128, 0),
	FC(mc_member_record, port_gid, 128, 128, 1),
	FC(mc_member_record, qkey, 256, 32, 2),
	FC(mc_member_record, mlid, 288, 16, 3),
	FC(mc_member_record, mtu_selector, 304, 2, 4),
	FC(mc_member_record, mtu, 306, 6, 5),
	FC(mc_member_record, tclass, 312, 8, 6),
	FC(mc_member_record, pkey, 320, 16, 7),
	FC(mc_member_record, rate_selector, 336, 2, 8),
	FC(mc_member_record, rate, 338, 6, 9),
	FC(mc_member_record, life_selector, 344, 2, 10),
	FC(mc_member_record, life, 346, 6, 11),
	FC(mc_member_record, sl, 352, 4, 12),
	FC(mc_member_record, flow_label, 356, 20, 13),
	FC(mc_member_record, hop_limit, 376, 8, 14),
	FC(mc_member_record, scope, 384, 4, 15),
	FC(mc_member_record, join_state, 388, 4, 16),
	FC(mc_member_record, proxy_join, 392, 1, 17),
};

static const struct wf_field multi_path_record_fields[] = {
	FC(multi_path_record, raw_traffic, 0, 1, 0),
	FC(multi_path_record, flow_label, 4, 20, 2),
	FC(multi_path_record, hop_limit, 24, 8, 3),
	FC(multi_path_record, tclass, 32, 8, 4),
	FC(multi_path_record, reversible, 40, 1, 5),
	FC(multi_path_record, numb_path, 41, 7, 6),
	FC(multi_path_record, pkey, 48, 16, 7),
	FC(multi_path_record, qos_class, 64, 12, 8),
	FC(multi_path_record, sl, 76, 4, 9),
	FC(multi_path_record, mtu_selector, 80, 2, 10),
	FC(multi_path_record, mtu, 82, 6, 11),
	FC(multi_path_record, rate_selector, 88, 2, 12),
	FC(multi_path_record, rate, 90, 6, 13),
	FC(multi_path_record, life_selector, 96, 2, 14),
	FC(multi_path_record, life, 98, 6, 15),
	FC(multi_path_record, service_id_msb, 104, 8, 16),
	FC(multi_path_record, independence_selector, 112, 2, 17),
	FC(multi_path_record, sgid_count, 120, 8, 19),
	FC(multi_path_record, dgid_count, 128, 8, 20),
	FC(multi_path_record, service_id_lsb, 136, 56, 21),
	F(multi_path_record, gids, 192, 128 * WF_MULTI_PATH_GIDS),
};

/* Components are those of an InformInfoRecord behind its own three. */
static const struct wf_field inform_info_fields[] = {
	FC(inform_info, gid, 0, 128, 0),
	FC(inform_info, lid_range_begin, 128, 16, 1),
	FC(inform_info, lid_range_end, 144, 16, 2),
	FC(inform_info, is_generic, 176, 8, 4),
	FC(inform_info, subscribe, 184, 8, 5),
	FC(inform_info, type, 192, 16, 6),
	FC(inform_info, trap_number, 208, 16, 7),
	FC(inform_info, qpn, 224, 24, 8),
	FC(inform_info, resp_time_value, 251, 5, 10),
	FC(inform_info, producer_type, 264, 24, 12),
};

static const struct wf_field inform_info_record_fields[] = {
	FC(inform_info_record, subscriber_gid, 0, 128, 0),
	FC(inform_info_record, number, 128, 16, 1),
	SUB(inform_info_record, info, inform_info, 192, 288, 3),
};

WF_LAYOUT(node_record, 108);
WF_LAYOUT(port_info_record, 68);
WF_LAYOUT(sl_to_vl_record, 16);
WF_LAYOUT(switch_info_record, 24);
WF_LAYOUT(linear_ft_record, 72);
WF_LAYOUT(multicast_ft_record, 72);
WF_LAYOUT(sm_info_record, 25);
WF_LAYOUT(link_record, 6);
WF_LAYOUT(guid_info_record, 72);
WF_LAYOUT(service_record, 176);
WF_LAYOUT(pkey_table_record, 72);
WF_LAYOUT(path_record, 64);
WF_LAYOUT(vl_arb_record, 72);
WF_LAYOUT(mc_member_record, 52);
WF_LAYOUT(multi_path_record, 200);
WF_LAYOUT(inform_info, 36);
WF_LAYOUT(inform_info_record, 60);

const struct wf_layout *wf_sa_layout(uint16_t attr_id)
{
	static const struct {
		uint16_t attr_id;
		const struct wf_layout *layout;
	} rows[] = {
		{ WF_SA_CLASS_PORT_INFO, &wf_class_port_info_layout },
		{ WF_SA_NOTICE, &wf_notice_gid_layout },
		{ WF_SA_INFORM_INFO, &wf_inform_info_layout },
		{ WF_SA_NODE, &wf_node_record_layout },
		{ WF_SA_PORT_INFO, &wf_port_info_record_layout },
		{ WF_SA_SL_TO_VL, &wf_sl_to_vl_record_layout },
		{ WF_SA_SWITCH_INFO, &wf_switch_info_record_layout },
		{ WF_SA_LINEAR_FT, &wf_linear_ft_record_layout },
		{ WF_SA_MULTICAST_FT, &wf_multicast_ft_record_layout },
		{ WF_SA_SM_INFO, &wf_sm_info_record_layout },
		{ WF_SA_LINK, &wf_link_record_layout },
		{ WF_SA_GUID_INFO, &wf_guid_info_record_layout },
		{ WF_SA_SERVICE, &wf_service_record_layout },
		{ WF_SA_PKEY_TABLE, &wf_pkey_table_record_layout },
		{ WF_SA_PATH, &wf_path_record_layout },
		{ WF_SA_VL_ARB, &wf_vl_arb_record_layout },
		{ WF_SA_MC_MEMBER, &wf_mc_member_record_layout },
		{ WF_SA_MULTI_PATH, &wf_multi_path_record_layout },
		{ WF_SA_INFORM_INFO_RECORD, &wf_inform_info_record_layout },
	};

	for (unsigned i = 0; i < WF_ARRAY_SIZE(rows); i++)
		if (rows[i].attr_id == attr_id)
			return rows[i].layout;
	return NULL;
}
