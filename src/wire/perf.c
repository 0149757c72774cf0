/* SPDX-License-Identifier: Apache-2.0 */
/* perf.c - where the members of performance management's attributes are. */
#include "wire/perf.h"

#include <string.h>

#include "wire/byte.h"

#define F WF_FIELD

static const struct wf_field class_port_info_fields[] = {
	F(class_port_info, base_version, 0, 8),      F(class_port_info, class_version, 8, 8),
	F(class_port_info, capability_mask, 16, 16), F(class_port_info, capability_mask2, 32, 27),
	F(class_port_info, resp_time_value, 59, 5),  F(class_port_info, redirect_gid, 64, 128),
	F(class_port_info, redirect_tc, 192, 8),     F(class_port_info, redirect_sl, 200, 4),
	F(class_port_info, redirect_fl, 204, 20),    F(class_port_info, redirect_lid, 224, 16),
	F(class_port_info, redirect_pkey, 240, 16),  F(class_port_info, redirect_qp, 264, 24),
	F(class_port_info, redirect_qkey, 288, 32),  F(class_port_info, trap_gid, 320, 128),
	F(class_port_info, trap_tc, 448, 8),         F(class_port_info, trap_sl, 456, 4),
	F(class_port_info, trap_fl, 460, 20),        F(class_port_info, trap_lid, 480, 16),
	F(class_port_info, trap_pkey, 496, 16),      F(class_port_info, trap_hl, 512, 8),
	F(class_port_info, trap_qp, 520, 24),        F(class_port_info, trap_qkey, 544, 32),
};

static const struct wf_field samples_control_fields[] = {
	F(samples_control, op_code, 0, 8),
	F(samples_control, port_select, 8, 8),
	F(samples_control, tick, 16, 8),
	F(samples_control, counter_width, 29, 3),
	F(samples_control, counter_mask0, 34, 3),
	F(samples_control, counter_masks1to9, 37, 27),
	F(samples_control, counter_masks10to14, 65, 15),
	F(samples_control, sample_mechanisms, 80, 8),
	F(samples_control, sample_status, 94, 2),
	F(samples_control, option_mask, 96, 64),
	F(samples_control, vendor_mask, 160, 64),
	F(samples_control, sample_start, 224, 32),
	F(samples_control, sample_interval, 256, 32),
	F(samples_control, tag, 288, 16),
	WF_FIELD_ARRAY(samples_control, counter_select, 304, 16, 16),
	F(samples_control, samples_only_option_mask, 576, 64),
};

static const struct wf_field samples_result_fields[] = {
	F(samples_result, tag, 0, 16),
	F(samples_result, sample_status, 30, 2),
	WF_FIELD_ARRAY(samples_result, counter, 32, 32, 32),
};

static const struct wf_field port_counters_fields[] = {
	F(port_counters, port_select, 8, 8),
	F(port_counters, counter_select, 16, 16),
	F(port_counters, symbol_errors, 32, 16),
	F(port_counters, link_error_recovery, 48, 8),
	F(port_counters, link_downed, 56, 8),
	F(port_counters, rcv_errors, 64, 16),
	F(port_counters, rcv_remote_physical_errors, 80, 16),
	F(port_counters, rcv_switch_relay_errors, 96, 16),
	F(port_counters, xmit_discards, 112, 16),
	F(port_counters, xmit_constraint_errors, 128, 8),
	F(port_counters, rcv_constraint_errors, 136, 8),
	F(port_counters, counter_select2, 144, 8),
	F(port_counters, local_link_integrity_errors, 152, 4),
	F(port_counters, excessive_buffer_overruns, 156, 4),
	F(port_counters, qp1_dropped, 160, 16),
	F(port_counters, vl15_dropped, 176, 16),
	F(port_counters, xmit_data, 192, 32),
	F(port_counters, rcv_data, 224, 32),
	F(port_counters, xmit_pkts, 256, 32),
	F(port_counters, rcv_pkts, 288, 32),
	F(port_counters, xmit_wait, 320, 32),
};

static const struct wf_field port_counters_ext_fields[] = {
	F(port_counters_ext, port_select, 8, 8),
	F(port_counters_ext, counter_select, 16, 16),
	F(port_counters_ext, counter_select2, 32, 32),
	F(port_counters_ext, xmit_data, 64, 64),
	F(port_counters_ext, rcv_data, 128, 64),
	F(port_counters_ext, xmit_pkts, 192, 64),
	F(port_counters_ext, rcv_pkts, 256, 64),
	F(port_counters_ext, unicast_xmit_pkts, 320, 64),
	F(port_counters_ext, unicast_rcv_pkts, 384, 64),
	F(port_counters_ext, multicast_xmit_pkts, 448, 64),
	F(port_counters_ext, multicast_rcv_pkts, 512, 64),
	F(port_counters_ext, symbol_errors, 576, 64),
	F(port_counters_ext, link_error_recovery, 640, 64),
	F(port_counters_ext, link_downed, 704, 64),
	F(port_counters_ext, rcv_errors, 768, 64),
	F(port_counters_ext, rcv_remote_physical_errors, 832, 64),
	F(port_counters_ext, rcv_switch_relay_errors, 896, 64),
	F(port_counters_ext, xmit_discards, 960, 64),
	F(port_counters_ext, xmit_constraint_errors, 1024, 64),
	F(port_counters_ext, rcv_constraint_errors, 1088, 64),
	F(port_counters_ext, local_link_integrity_errors, 1152, 64),
	F(port_counters_ext, excessive_buffer_overruns, 1216, 64),
	F(port_counters_ext, vl15_dropped, 1280, 64),
	F(port_counters_ext, xmit_wait, 1344, 64),
	F(port_counters_ext, qp1_dropped, 1408, 64),
};

static const struct wf_field ext_speeds_counters_fields[] = {
	F(ext_speeds_counters, port_select, 8, 8),
	F(ext_speeds_counters, counter_select, 64, 64),
	F(ext_speeds_counters, sync_header_errors, 128, 16),
	F(ext_speeds_counters, unknown_blocks, 144, 16),
	WF_FIELD_ARRAY(ext_speeds_counters, error_detection, 160, 16, 16),
	WF_FIELD_ARRAY(ext_speeds_counters, fec_correctable_blocks, 352, 32, 32),
	WF_FIELD_ARRAY(ext_speeds_counters, fec_uncorrectable_blocks, 736, 32, 32),
};

WF_LAYOUT(class_port_info, 72);
WF_LAYOUT(samples_control, 80);
WF_LAYOUT(samples_result, 64);
WF_LAYOUT(port_counters, 44);
WF_LAYOUT(port_counters_ext, 184);
WF_LAYOUT(ext_speeds_counters, 140);

unsigned wf_perf_simple_shape(uint16_t attr_id, unsigned *bits_p)
{
	static const struct {
		uint16_t attr_id;
		uint8_t n, bits;
	} rows[] = {
		{ WF_PERF_RCV_ERROR_DETAILS, 6, 16 },
		{ WF_PERF_XMIT_DISCARD_DETAILS, 4, 16 },
		{ WF_PERF_OP_RCV_COUNTERS, 2, 32 },
		{ WF_PERF_FLOW_CTL_COUNTERS, 2, 32 },
		{ WF_PERF_VL_OP_PACKETS, 16, 16 },
		{ WF_PERF_VL_OP_DATA, 16, 32 },
		{ WF_PERF_VL_XMIT_FLOW_CTL_ERRORS, 16, 2 },
		{ WF_PERF_VL_XMIT_WAIT, 16, 16 },
		{ WF_PERF_SW_VL_CONGESTION, 16, 16 },
		{ WF_PERF_RCV_CON_CTRL, 2, 32 },
		{ WF_PERF_SL_RCV_FECN, 16, 32 },
		{ WF_PERF_SL_RCV_BECN, 16, 32 },
		{ WF_PERF_XMIT_CON_CTRL, 1, 32 },
		{ WF_PERF_VL_XMIT_TIME_CONG, 15, 32 },
		{ WF_PERF_XMIT_DATA_SL, 16, 32 },
		{ WF_PERF_RCV_DATA_SL, 16, 32 },
	};

	for (unsigned i = 0; i < WF_ARRAY_SIZE(rows); i++)
		if (rows[i].attr_id == attr_id) {
			*bits_p = rows[i].bits;
			return rows[i].n;
		}
	*bits_p = 0;
	return 0;
}

void wf_perf_simple_encode(uint16_t attr_id, const struct wf_perf_simple *attr, uint8_t *p)
{
	unsigned bits, n = wf_perf_simple_shape(attr_id, &bits);

	if (n == 0)
		return;
	memset(p, 0, WF_PERF_SIMPLE_LEN);
	p[0] = attr->op_code;
	p[1] = attr->port_select;
	wf_be16_put(p + 2, attr->counter_select);
	for (unsigned i = 0; i < n; i++) {
		if (bits == 32)
			wf_be32_put(p + 4 + i * 4, attr->counter[i]);
		else if (bits == 16)
			wf_be16_put(p + 4 + i * 2, (uint16_t)attr->counter[i]);
		else
			p[4 + i / 4] |= (uint8_t)((attr->counter[i] & 3) << (6 - i % 4 * 2));
	}
}

void wf_perf_simple_decode(uint16_t attr_id, const uint8_t *p, struct wf_perf_simple *attr_p)
{
	unsigned bits, n = wf_perf_simple_shape(attr_id, &bits);

	*attr_p = (struct wf_perf_simple){ .op_code = 0 };
	if (n == 0)
		return;
	attr_p->op_code = p[0];
	attr_p->port_select = p[1];
	attr_p->counter_select = wf_be16_get(p + 2);
	for (unsigned i = 0; i < n; i++) {
		if (bits == 32)
			attr_p->counter[i] = wf_be32_get(p + 4 + i * 4);
		else if (bits == 16)
			attr_p->counter[i] = wf_be16_get(p + 4 + i * 2);
		else
			attr_p->counter[i] = p[4 + i / 4] >> (6 - i % 4 * 2) & 3U;
	}
}
