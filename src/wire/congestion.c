/* SPDX-License-Identifier: Apache-2.0 */
/* congestion.c - where the members of congestion control's attributes are. */
#include "wire/congestion.h"

#define F WF_FIELD

static const struct wf_field cong_info_fields[] = {
	F(cong_info, congestion_info, 0, 16),
	F(cong_info, control_table_cap, 16, 8),
};

static const struct wf_field cong_key_info_fields[] = {
	F(cong_key_info, cc_key, 0, 64),
	F(cong_key_info, protect, 64, 1),
	F(cong_key_info, lease_period, 80, 16),
	F(cong_key_info, violations, 96, 16),
};

static const struct wf_field cong_log_switch_entry_fields[] = {
	F(cong_log_switch_entry, slid, 0, 16),
	F(cong_log_switch_entry, dlid, 16, 16),
	F(cong_log_switch_entry, sl, 32, 4),
	F(cong_log_switch_entry, timestamp, 64, 32),
};

static const struct wf_field cong_log_switch_fields[] = {
	F(cong_log_switch, log_type, 0, 8),
	F(cong_log_switch, congestion_flags, 8, 8),
	F(cong_log_switch, event_counter, 16, 16),
	F(cong_log_switch, timestamp, 32, 32),
	F(cong_log_switch, port_map, 64, 256),
	WF_FIELD_SUBS(cong_log_switch, entry, cong_log_switch_entry, 320, 96),
};

static const struct wf_field cong_log_ca_entry_fields[] = {
	F(cong_log_ca_entry, local_qp, 0, 24),     F(cong_log_ca_entry, sl, 24, 4),
	F(cong_log_ca_entry, service_type, 28, 4), F(cong_log_ca_entry, remote_qp, 32, 24),
	F(cong_log_ca_entry, local_lid, 64, 16),   F(cong_log_ca_entry, remote_lid, 80, 16),
	F(cong_log_ca_entry, timestamp, 96, 32),
};

static const struct wf_field cong_log_ca_fields[] = {
	F(cong_log_ca, log_type, 0, 8),
	F(cong_log_ca, congestion_flags, 8, 8),
	F(cong_log_ca, event_counter, 16, 16),
	F(cong_log_ca, event_map, 32, 16),
	F(cong_log_ca, timestamp, 64, 32),
	WF_FIELD_SUBS(cong_log_ca, entry, cong_log_ca_entry, 96, 128),
};

static const struct wf_field cong_switch_setting_fields[] = {
	F(cong_switch_setting, control_map, 0, 32),
	F(cong_switch_setting, victim_mask, 32, 256),
	F(cong_switch_setting, credit_mask, 288, 256),
	F(cong_switch_setting, threshold, 544, 4),
	F(cong_switch_setting, packet_size, 552, 8),
	F(cong_switch_setting, cs_threshold, 560, 4),
	F(cong_switch_setting, cs_return_delay, 576, 16),
	F(cong_switch_setting, marking_rate, 592, 16),
};

static const struct wf_field cong_switch_port_fields[] = {
	F(cong_switch_port, valid, 0, 1),          F(cong_switch_port, control_type, 1, 1),
	F(cong_switch_port, threshold, 4, 4),      F(cong_switch_port, packet_size, 8, 8),
	F(cong_switch_port, marking_rate, 16, 16),
};

static const struct wf_field cong_switch_ports_fields[] = {
	WF_FIELD_SUBS(cong_switch_ports, port, cong_switch_port, 0, 32),
};

static const struct wf_field cong_ca_entry_fields[] = {
	F(cong_ca_entry, ccti_timer, 0, 16),
	F(cong_ca_entry, ccti_increase, 16, 8),
	F(cong_ca_entry, trigger_threshold, 24, 8),
	F(cong_ca_entry, ccti_min, 32, 8),
};

static const struct wf_field cong_ca_setting_fields[] = {
	F(cong_ca_setting, port_control, 0, 16),
	F(cong_ca_setting, control_map, 16, 16),
	WF_FIELD_SUBS(cong_ca_setting, entry, cong_ca_entry, 32, 64),
};

static const struct wf_field cong_cct_entry_fields[] = {
	F(cong_cct_entry, shift, 0, 2),
	F(cong_cct_entry, multiplier, 2, 14),
};

static const struct wf_field cong_table_fields[] = {
	F(cong_table, ccti_limit, 0, 16),
	WF_FIELD_SUBS(cong_table, entry, cong_cct_entry, 32, 16),
};

static const struct wf_field cong_timestamp_fields[] = {
	F(cong_timestamp, timestamp, 0, 32),
};

WF_LAYOUT(cong_info, 3);
WF_LAYOUT(cong_key_info, 14);
WF_LAYOUT(cong_log_switch_entry, 12);
WF_LAYOUT(cong_log_switch, 220);
WF_LAYOUT(cong_log_ca_entry, 16);
WF_LAYOUT(cong_log_ca, 220);
WF_LAYOUT(cong_switch_setting, 76);
WF_LAYOUT(cong_switch_port, 4);
WF_LAYOUT(cong_switch_ports, 128);
WF_LAYOUT(cong_ca_entry, 8);
WF_LAYOUT(cong_ca_setting, 132);
WF_LAYOUT(cong_cct_entry, 2);
WF_LAYOUT(cong_table, 132);
WF_LAYOUT(cong_timestamp, 4);
