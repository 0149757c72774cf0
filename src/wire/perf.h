/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf.h - attributes of performance management (IBTA vol. 1, 16.1.3 and 16.1.4), and ClassPortInfo
 * (13.4.8.1), which all classes of queue pair 1 have.
 *
 * As in smp.h: structs with layouts. p is where the attribute begins, WF_PERF_DATA of the MAD.
 * Counters of data are in words of 4 bytes. The many attributes that are no more than a port, which
 * counters are meant, and some counters of one width, are one struct (wf_perf_simple).
 */
#ifndef WF_WIRE_PERF_H
#define WF_WIRE_PERF_H

#include "wire/field.h"
#include "wire/mad.h"

enum wf_perf_attr {
	WF_PERF_SAMPLES_CONTROL = 0x0010,
	WF_PERF_SAMPLES_RESULT = 0x0011,
	WF_PERF_COUNTERS = 0x0012,
	WF_PERF_RCV_ERROR_DETAILS = 0x0015,
	WF_PERF_XMIT_DISCARD_DETAILS = 0x0016,
	WF_PERF_OP_RCV_COUNTERS = 0x0017,
	WF_PERF_FLOW_CTL_COUNTERS = 0x0018,
	WF_PERF_VL_OP_PACKETS = 0x0019,
	WF_PERF_VL_OP_DATA = 0x001a,
	WF_PERF_VL_XMIT_FLOW_CTL_ERRORS = 0x001b,
	WF_PERF_VL_XMIT_WAIT = 0x001c,
	WF_PERF_COUNTERS_EXT = 0x001d,
	WF_PERF_EXT_SPEEDS_COUNTERS = 0x001f,
	WF_PERF_SW_VL_CONGESTION = 0x0030,
	WF_PERF_RCV_CON_CTRL = 0x0031,
	WF_PERF_SL_RCV_FECN = 0x0032,
	WF_PERF_SL_RCV_BECN = 0x0033,
	WF_PERF_XMIT_CON_CTRL = 0x0034,
	WF_PERF_VL_XMIT_TIME_CONG = 0x0035,
	WF_PERF_XMIT_DATA_SL = 0x0036,
	WF_PERF_RCV_DATA_SL = 0x0037,
};

#define WF_PERF_ALL_PORTS 255 /* of port_select */

/* ClassPortInfo:CapabilityMask: the lower bits are all classes', the others of this one. */
#define WF_CLASS_CAP_TRAPS 0x0001
#define WF_CLASS_CAP_NOTICES 0x0002
#define WF_PERF_CAP_ALL_PORT_SELECT 0x0100
#define WF_PERF_CAP_EXTENDED_WIDTH 0x0200
#define WF_PERF_CAP_EXTENDED_WIDTH_NO_IETF 0x0400
#define WF_PERF_CAP_SAMPLES_ONLY 0x0800
#define WF_PERF_CAP_XMIT_WAIT 0x1000
#define WF_PERF_CAP_QP1_DROPPED 0x8000
#define WF_PERF_CAP2_PM_KEY 0x1
#define WF_PERF_CAP2_ADDITIONAL_EXTENDED 0x2 /* PortCountersExtended: the errors, too */

struct wf_class_port_info {
	uint8_t base_version, class_version;
	uint16_t capability_mask;
	uint32_t capability_mask2; /* 27 bits */
	uint8_t resp_time_value;   /* 5 bits: 4.096 us * 2^n */
	uint8_t redirect_gid[16];
	uint8_t redirect_tc, redirect_sl;
	uint32_t redirect_fl; /* 20 bits */
	uint16_t redirect_lid, redirect_pkey;
	uint32_t redirect_qp, redirect_qkey;
	uint8_t trap_gid[16];
	uint8_t trap_tc, trap_sl;
	uint32_t trap_fl;
	uint16_t trap_lid, trap_pkey;
	uint8_t trap_hl;
	uint32_t trap_qp, trap_qkey;
};

#define WF_PERF_SAMPLE_COUNTERS 15

struct wf_samples_control {
	uint8_t op_code, port_select, tick;
	uint8_t counter_width;        /* 3 bits */
	uint8_t counter_mask0;        /* 3 bits, as each of those below */
	uint32_t counter_masks1to9;   /* 27 bits */
	uint16_t counter_masks10to14; /* 15 bits */
	uint8_t sample_mechanisms;
	uint8_t sample_status; /* 2 bits; 0: done */
	uint64_t option_mask, vendor_mask;
	uint32_t sample_start, sample_interval;
	uint16_t tag;
	uint16_t counter_select[WF_PERF_SAMPLE_COUNTERS];
	uint64_t samples_only_option_mask;
};

struct wf_samples_result {
	uint16_t tag;
	uint8_t sample_status;
	uint32_t counter[WF_PERF_SAMPLE_COUNTERS];
};

/* PortCounters: all that do not fit say their greatest value. Bit n of counter_select is row n. */
struct wf_port_counters {
	uint8_t port_select;
	uint16_t counter_select;
	uint16_t symbol_errors;
	uint8_t link_error_recovery, link_downed;
	uint16_t rcv_errors, rcv_remote_physical_errors, rcv_switch_relay_errors;
	uint16_t xmit_discards;
	uint8_t xmit_constraint_errors, rcv_constraint_errors;
	uint8_t counter_select2; /* bit 0: xmit_wait, 1: qp1_dropped */
	uint8_t local_link_integrity_errors, excessive_buffer_overruns; /* 4 bits */
	uint16_t qp1_dropped, vl15_dropped;
	uint32_t xmit_data, rcv_data, xmit_pkts, rcv_pkts;
	uint32_t xmit_wait;
};

/* PortCountersExtended. Bit n of counter_select is row n to multicast, of counter_select2 below. */
struct wf_port_counters_ext {
	uint8_t port_select;
	uint16_t counter_select;
	uint32_t counter_select2;
	uint64_t xmit_data, rcv_data, xmit_pkts, rcv_pkts;
	uint64_t unicast_xmit_pkts, unicast_rcv_pkts, multicast_xmit_pkts, multicast_rcv_pkts;
	uint64_t symbol_errors, link_error_recovery, link_downed;
	uint64_t rcv_errors, rcv_remote_physical_errors, rcv_switch_relay_errors;
	uint64_t xmit_discards, xmit_constraint_errors, rcv_constraint_errors;
	uint64_t local_link_integrity_errors, excessive_buffer_overruns;
	uint64_t vl15_dropped, xmit_wait, qp1_dropped;
};

#define WF_PERF_LANES 12

/* PortExtendedSpeedsCounters, as without FEC of Reed and Solomon. */
struct wf_ext_speeds_counters {
	uint8_t port_select;
	uint64_t counter_select;
	uint16_t sync_header_errors, unknown_blocks;
	uint16_t error_detection[WF_PERF_LANES];
	uint32_t fec_correctable_blocks[WF_PERF_LANES];
	uint32_t fec_uncorrectable_blocks[WF_PERF_LANES];
};

#define WF_PERF_SIMPLE_MAX 16

/* All other attributes of counters. */
struct wf_perf_simple {
	uint8_t op_code, port_select;
	uint16_t counter_select; /* bit n: counter[n] */
	uint32_t counter[WF_PERF_SIMPLE_MAX];
};

/* What an attribute of that kind has: n counters of so many bits; 0 of one that is none. */
unsigned wf_perf_simple_shape(uint16_t attr_id, unsigned *bits_p);

/* 4 + WF_PERF_SIMPLE_MAX * 4 bytes are enough; nothing is done where the shape is none. */
#define WF_PERF_SIMPLE_LEN 68
void wf_perf_simple_encode(uint16_t attr_id, const struct wf_perf_simple *attr, uint8_t *p);
void wf_perf_simple_decode(uint16_t attr_id, const uint8_t *p, struct wf_perf_simple *attr_p);

#define WF_PERF_LAYOUTS(X)                                                                         \
	X(class_port_info)                                                                         \
	X(samples_control)                                                                         \
	X(samples_result)                                                                          \
	X(port_counters)                                                                           \
	X(port_counters_ext)                                                                       \
	X(ext_speeds_counters)

WF_PERF_LAYOUTS(WF_LAYOUT_DECLARE)

#endif
