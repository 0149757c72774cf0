/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sa.h - records of subnet administration (IBTA vol. 1, 15.2.5).
 *
 * As in smp.h: structs with layouts; a record that has an attribute of subnet management in it has
 * its struct as a member. In a table, records follow one another every attr_offset words of 8 bytes
 * (wf_sa_offset()). Bits of component masks are numbered by the enums; wf_layout_matches() knows
 * all of them, also those that no enum names.
 */
#ifndef WF_WIRE_SA_H
#define WF_WIRE_SA_H

#include "wire/notice.h"
#include "wire/perf.h"
#include "wire/sa_component.h"
#include "wire/smp.h"

#define WF_SA_CLASS_VERSION 2

enum wf_sa_attr {
	WF_SA_CLASS_PORT_INFO = 0x0001,
	WF_SA_NOTICE = 0x0002,
	WF_SA_INFORM_INFO = 0x0003,
	WF_SA_NODE = 0x0011,
	WF_SA_PORT_INFO = 0x0012,
	WF_SA_SL_TO_VL = 0x0013,
	WF_SA_SWITCH_INFO = 0x0014,
	WF_SA_LINEAR_FT = 0x0015,
	WF_SA_MULTICAST_FT = 0x0017,
	WF_SA_SM_INFO = 0x0018,
	WF_SA_LINK = 0x0020,
	WF_SA_GUID_INFO = 0x0030,
	WF_SA_SERVICE = 0x0031,
	WF_SA_PKEY_TABLE = 0x0033,
	WF_SA_PATH = 0x0035,
	WF_SA_VL_ARB = 0x0036,
	WF_SA_MC_MEMBER = 0x0038,
	WF_SA_MULTI_PATH = 0x003a,
	WF_SA_INFORM_INFO_RECORD = 0x00f3,
};

/* The class's own part of a status. */
enum wf_sa_status {
	WF_SA_NO_RESOURCES = 1 << WF_MAD_CLASS_STATUS_SHIFT,
	WF_SA_REQ_INVALID = 2 << WF_MAD_CLASS_STATUS_SHIFT,
	WF_SA_NO_RECORDS = 3 << WF_MAD_CLASS_STATUS_SHIFT,
	WF_SA_TOO_MANY_RECORDS = 4 << WF_MAD_CLASS_STATUS_SHIFT,
	WF_SA_INVALID_GID = 5 << WF_MAD_CLASS_STATUS_SHIFT,
	WF_SA_INSUFFICIENT_COMPONENTS = 6 << WF_MAD_CLASS_STATUS_SHIFT,
	WF_SA_REQ_DENIED = 7 << WF_MAD_CLASS_STATUS_SHIFT,
	WF_SA_PRIORITY_SUGGESTED = 8 << WF_MAD_CLASS_STATUS_SHIFT,
};

/* ClassPortInfo:CapabilityMask and CapabilityMask2. */
#define WF_SA_CAP_SUBNET_OPT_RECORDS 0x0100
#define WF_SA_CAP_UD_MULTICAST 0x0200
#define WF_SA_CAP_MULTI_PATH 0x0400
#define WF_SA_CAP_REINIT 0x0800
#define WF_SA_CAP_PORT_INFO_CAP_MASK_MATCH 0x2000
#define WF_SA_CAP2_QOS 0x0002
#define WF_SA_CAP2_REVERSE_PATH_PKEY 0x0004
#define WF_SA_CAP2_MULTICAST_FDB_TOP 0x0008
#define WF_SA_CAP2_FULL_PORT_INFO 0x0040
#define WF_SA_CAP2_EXTENDED_SPEEDS 0x0080

/* How mtu, rate and packet_life of a query are meant. */
enum wf_sa_selector {
	WF_SA_GREATER = 0,
	WF_SA_LESS = 1,
	WF_SA_EXACTLY = 2,
	WF_SA_BEST = 3, /* the largest MTU and rate, the shortest life */
};

struct wf_node_record {
	uint16_t lid;
	struct wf_node_info info;
	struct wf_node_description description;
};

/* In a PortInfoRecord query's attribute modifier: the capability masks' bits that must be set. */
#define WF_PORT_INFO_MATCH_CAP_MASK UINT32_C(0x80000000)

struct wf_port_info_record {
	uint16_t lid;
	uint8_t port;
	uint8_t options; /* bit 7: also what needs the M_Key */
	struct wf_port_info info;
};

struct wf_sl_to_vl_record {
	uint16_t lid;
	uint8_t in_port, out_port;
	struct wf_sl_to_vl table;
};

struct wf_switch_info_record {
	uint16_t lid;
	struct wf_switch_info info;
};

struct wf_linear_ft_record {
	uint16_t lid;
	uint16_t block;
	struct wf_linear_ft table;
};

struct wf_multicast_ft_record {
	uint16_t lid;
	uint8_t position; /* 4 bits */
	uint16_t block;   /* 9 bits */
	struct wf_multicast_ft table;
};

struct wf_sm_info_record {
	uint16_t lid;
	struct wf_sm_info info;
};

struct wf_link_record {
	uint16_t from_lid;
	uint8_t from_port, to_port;
	uint16_t to_lid;
};

struct wf_guid_info_record {
	uint16_t lid;
	uint8_t block;
	struct wf_guid_info info;
};

struct wf_service_record {
	uint64_t service_id;
	uint8_t gid[16];
	uint16_t pkey;
	uint32_t lease; /* seconds; all ones: for ever */
	uint8_t key[16];
	uint8_t name[64];
	uint8_t data8[16];
	uint16_t data16[8];
	uint32_t data32[4];
	uint64_t data64[2];
};

struct wf_pkey_table_record {
	uint16_t lid;
	uint16_t block;
	uint8_t port;
	struct wf_pkey_table table;
};

struct wf_path_record {
	uint64_t service_id;
	uint8_t dgid[16], sgid[16];
	uint16_t dlid, slid;
	bool raw_traffic;
	uint32_t flow_label; /* 20 bits */
	uint8_t hop_limit, tclass;
	bool reversible;
	uint8_t numb_path; /* 7 bits */
	uint16_t pkey;
	uint16_t qos_class; /* 12 bits */
	uint8_t sl;
	uint8_t mtu_selector, mtu;
	uint8_t rate_selector, rate; /* wf_ib_rate_encode() */
	uint8_t life_selector, life; /* 4.096 us * 2^n */
	uint8_t preference;
};

struct wf_vl_arb_record {
	uint16_t lid;
	uint8_t port;
	uint8_t block;
	struct wf_vl_arb table;
};

#define WF_MC_FULL_MEMBER 1 /* of join_state */
#define WF_MC_NON_MEMBER 2
#define WF_MC_SEND_ONLY_NON_MEMBER 4
#define WF_MC_SEND_ONLY_FULL_MEMBER 8

struct wf_mc_member_record {
	uint8_t mgid[16], port_gid[16];
	uint32_t qkey;
	uint16_t mlid;
	uint8_t mtu_selector, mtu;
	uint8_t tclass;
	uint16_t pkey;
	uint8_t rate_selector, rate;
	uint8_t life_selector, life;
	uint8_t sl;
	uint32_t flow_label;
	uint8_t hop_limit;
	uint8_t scope, join_state;
	bool proxy_join;
};

#define WF_MULTI_PATH_GIDS 11 /* as many as fit into one MAD */

/* Source GIDs first, then those of the destination. */
struct wf_multi_path_record {
	bool raw_traffic;
	uint32_t flow_label;
	uint8_t hop_limit, tclass;
	bool reversible;
	uint8_t numb_path;
	uint16_t pkey;
	uint16_t qos_class;
	uint8_t sl;
	uint8_t mtu_selector, mtu, rate_selector, rate, life_selector, life;
	uint8_t service_id_msb; /* 8 bits, and 56 */
	uint8_t independence_selector;
	uint8_t sgid_count, dgid_count;
	uint64_t service_id_lsb;
	uint8_t gids[WF_MULTI_PATH_GIDS][16];
};

struct wf_inform_info {
	uint8_t gid[16];
	uint16_t lid_range_begin, lid_range_end;
	uint8_t is_generic;
	uint8_t subscribe; /* 1: begin, 0: end */
	uint16_t type;     /* enum wf_notice_type; 0xffff: all */
	uint16_t trap_number;
	uint32_t qpn;
	uint8_t resp_time_value;
	uint32_t producer_type; /* 0xffffff: all */
};

struct wf_inform_info_record {
	uint8_t subscriber_gid[16];
	uint16_t number;
	struct wf_inform_info info;
};

/* The words of 8 bytes from a record to the next. */
static inline uint16_t wf_sa_offset(const struct wf_layout *layout)
{
	return (uint16_t)((layout->bytes + 7U) / 8);
}

/* The layout of an attribute's record, or NULL. */
const struct wf_layout *wf_sa_layout(uint16_t attr_id);

#define WF_SA_LAYOUTS(X)                                                                           \
	X(node_record)                                                                             \
	X(port_info_record)                                                                        \
	X(sl_to_vl_record)                                                                         \
	X(switch_info_record)                                                                      \
	X(linear_ft_record)                                                                        \
	X(multicast_ft_record)                                                                     \
	X(sm_info_record)                                                                          \
	X(link_record)                                                                             \
	X(guid_info_record)                                                                        \
	X(service_record)                                                                          \
	X(pkey_table_record)                                                                       \
	X(path_record)                                                                             \
	X(vl_arb_record)                                                                           \
	X(mc_member_record)                                                                        \
	X(multi_path_record)                                                                       \
	X(inform_info)                                                                             \
	X(inform_info_record)

WF_SA_LAYOUTS(WF_LAYOUT_DECLARE)

#endif
