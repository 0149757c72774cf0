/* SPDX-License-Identifier: Apache-2.0 */
/*
 * congestion.h - congestion control's class 0x21 (IBTA vol. 1, annex A10).
 *
 * As in smp.h: structs with layouts. p is where the attribute begins: WF_CONG_DATA of the MAD, but
 * the log's is at WF_CONG_LOG_DATA. The key that allows it is behind the common header.
 */
#ifndef WF_WIRE_CONGESTION_H
#define WF_WIRE_CONGESTION_H

#include "wire/field.h"
#include "wire/mad.h"

#define WF_CONG_CLASS_VERSION 2
#define WF_CONG_KEY 24 /* offset of the CC_Key */
#define WF_CONG_LOG_DATA 32
#define WF_CONG_DATA 64

enum wf_cong_attr {
	WF_CONG_INFO = 0x0011,
	WF_CONG_KEY_INFO = 0x0012,
	WF_CONG_LOG = 0x0013,
	WF_CONG_SWITCH_SETTING = 0x0014,
	WF_CONG_SWITCH_PORT_SETTING = 0x0015,
	WF_CONG_CA_SETTING = 0x0016,
	WF_CONG_CONTROL_TABLE = 0x0017,
	WF_CONG_TIMESTAMP = 0x0018,
};

#define WF_CONG_PORTS_PER_BLOCK 32
#define WF_CONG_CCT_PER_BLOCK 64
#define WF_CONG_LOG_SWITCH_ENTRIES 15
#define WF_CONG_LOG_CA_ENTRIES 13

struct wf_cong_info {
	uint16_t congestion_info;  /* bit 0: credit starvation */
	uint8_t control_table_cap; /* blocks of WF_CONG_CCT_PER_BLOCK */
};

struct wf_cong_key_info {
	uint64_t cc_key;
	bool protect;
	uint16_t lease_period;
	uint16_t violations;
};

struct wf_cong_log_switch_entry {
	uint16_t slid, dlid;
	uint8_t sl;
	uint32_t timestamp;
};

/* log_type 1. */
struct wf_cong_log_switch {
	uint8_t log_type, congestion_flags;
	uint16_t event_counter;
	uint32_t timestamp; /* in units of 1.024 us, as all of these */
	uint8_t port_map[32];
	struct wf_cong_log_switch_entry entry[WF_CONG_LOG_SWITCH_ENTRIES];
};

struct wf_cong_log_ca_entry {
	uint32_t local_qp;
	uint8_t sl, service_type;
	uint32_t remote_qp;
	uint16_t local_lid, remote_lid;
	uint32_t timestamp;
};

/* log_type 2. */
struct wf_cong_log_ca {
	uint8_t log_type, congestion_flags;
	uint16_t event_counter, event_map;
	uint32_t timestamp;
	struct wf_cong_log_ca_entry entry[WF_CONG_LOG_CA_ENTRIES];
};

/* control_map of a switch: which of the others count. */
#define WF_CONG_SWITCH_VICTIM_MASK 0x01
#define WF_CONG_SWITCH_CREDIT_MASK 0x02
#define WF_CONG_SWITCH_THRESHOLD 0x04 /* with the packet size */
#define WF_CONG_SWITCH_CREDIT 0x08
#define WF_CONG_SWITCH_MARKING_RATE 0x10

struct wf_cong_switch_setting {
	uint32_t control_map;
	uint8_t victim_mask[32], credit_mask[32];
	uint8_t threshold;    /* 4 bits: 0 no marking, 15 marks most */
	uint8_t packet_size;  /* 64 bytes: smaller packets are not marked */
	uint8_t cs_threshold; /* 4 bits */
	uint16_t cs_return_delay;
	uint16_t marking_rate; /* packets between two marks */
};

struct wf_cong_switch_port {
	bool valid;
	bool control_type; /* 1: by credit starvation */
	uint8_t threshold; /* 4 bits */
	uint8_t packet_size;
	uint16_t marking_rate;
};

struct wf_cong_switch_ports {
	struct wf_cong_switch_port port[WF_CONG_PORTS_PER_BLOCK];
};

struct wf_cong_ca_entry {
	uint16_t ccti_timer; /* 1.024 us */
	uint8_t ccti_increase, trigger_threshold, ccti_min;
};

struct wf_cong_ca_setting {
	uint16_t port_control; /* bit 0: by service level, not by queue pair */
	uint16_t control_map;  /* a bit of each service level */
	struct wf_cong_ca_entry entry[16];
};

struct wf_cong_cct_entry {
	uint8_t shift;       /* 2 bits */
	uint16_t multiplier; /* 14 bits: of the packet's time, shifted right, between packets */
};

struct wf_cong_table {
	uint16_t ccti_limit;
	struct wf_cong_cct_entry entry[WF_CONG_CCT_PER_BLOCK];
};

struct wf_cong_timestamp {
	uint32_t timestamp;
};

#define WF_CONG_LAYOUTS(X)                                                                         \
	X(cong_info)                                                                               \
	X(cong_key_info)                                                                           \
	X(cong_log_switch_entry)                                                                   \
	X(cong_log_switch)                                                                         \
	X(cong_log_ca_entry)                                                                       \
	X(cong_log_ca)                                                                             \
	X(cong_switch_setting)                                                                     \
	X(cong_switch_port)                                                                        \
	X(cong_switch_ports)                                                                       \
	X(cong_ca_entry)                                                                           \
	X(cong_ca_setting)                                                                         \
	X(cong_cct_entry)                                                                          \
	X(cong_table)                                                                              \
	X(cong_timestamp)

WF_CONG_LAYOUTS(WF_LAYOUT_DECLARE)

#endif
