/* SPDX-License-Identifier: Apache-2.0 */
/*
 * smp.h - attributes of subnet management (IBTA vol. 1, 14.2.5).
 *
 * Each is a struct with a layout (field.h): wf_port_info_encode(), wf_port_info_decode() and so on.
 * p is where the attribute begins: WF_SMP_DATA in an SMP. Members are called as in IBTA.
 */
#ifndef WF_WIRE_SMP_H
#define WF_WIRE_SMP_H

#include "wire/field.h"
#include "wire/mad.h"

enum wf_smp_attr {
	WF_SMP_NOTICE = 0x0002,
	WF_SMP_NODE_DESCRIPTION = 0x0010,
	WF_SMP_NODE_INFO = 0x0011,
	WF_SMP_SWITCH_INFO = 0x0012,
	WF_SMP_GUID_INFO = 0x0014,
	WF_SMP_PORT_INFO = 0x0015,
	WF_SMP_PKEY_TABLE = 0x0016,
	WF_SMP_SL_TO_VL = 0x0017,
	WF_SMP_VL_ARB = 0x0018,
	WF_SMP_LINEAR_FT = 0x0019,
	WF_SMP_RANDOM_FT = 0x001a,
	WF_SMP_MULTICAST_FT = 0x001b,
	WF_SMP_SM_INFO = 0x0020,
	WF_SMP_VENDOR_DIAG = 0x0030,
	WF_SMP_LED_INFO = 0x0031,
	WF_SMP_PORT_INFO_EXTENDED = 0x0033,
	/* weft's own, of switches of WF_WIRE_VENDOR: 0xff00 to 0xffff are vendors'. */
	WF_SMP_ADAPTIVE_INFO = 0xff10,
	WF_SMP_ADAPTIVE_GROUPS = 0xff11,
	WF_SMP_ADAPTIVE_LIDS = 0xff12,
};

#define WF_NODE_DESCRIPTION_LEN 64
#define WF_GUIDS_PER_BLOCK 8
#define WF_PKEYS_PER_BLOCK 32
#define WF_LFT_PER_BLOCK 64
#define WF_MFT_PER_BLOCK 32
#define WF_MFT_PORTS_PER_POSITION 16
#define WF_VL_ARB_PER_BLOCK 32
#define WF_SLS 16

struct wf_node_description {
	uint8_t text[WF_NODE_DESCRIPTION_LEN]; /* UTF-8, zeros behind it */
};

enum wf_node_type {
	WF_NODE_CA = 1,
	WF_NODE_SWITCH = 2,
	WF_NODE_ROUTER = 3,
};

struct wf_node_info {
	uint8_t base_version, class_version;
	uint8_t node_type; /* enum wf_node_type */
	uint8_t num_ports; /* without a switch's port 0 */
	uint64_t system_image_guid;
	uint64_t node_guid;
	uint64_t port_guid;
	uint16_t partition_cap; /* keys in a port's table; of a switch, in port 0's */
	uint16_t device_id;
	uint32_t revision;
	uint8_t local_port_num; /* the one that the request came in by */
	uint32_t vendor_id;     /* 24 bits */
};

struct wf_switch_info {
	uint16_t linear_fdb_cap, random_fdb_cap, multicast_fdb_cap;
	uint16_t linear_fdb_top;
	uint8_t default_port;
	uint8_t default_multicast_primary_port, default_multicast_not_primary_port;
	uint8_t life_time_value; /* 5 bits: 4.096 us * 2^n; above 19 none */
	bool port_state_change;
	uint8_t optimized_sl_to_vl; /* 2 bits; 0: not supported */
	uint16_t lids_per_port;
	uint16_t partition_enforcement_cap;
	bool inbound_enforcement_cap, outbound_enforcement_cap;
	bool filter_raw_inbound_cap, filter_raw_outbound_cap;
	bool enhanced_port0;
	uint16_t multicast_fdb_top;
};

struct wf_guid_info {
	uint64_t guid[WF_GUIDS_PER_BLOCK];
};

enum wf_port_state {
	WF_PORT_NOP = 0, /* in a Set: no change */
	WF_PORT_DOWN = 1,
	WF_PORT_INIT = 2,
	WF_PORT_ARMED = 3,
	WF_PORT_ACTIVE = 4,
};

enum wf_port_phys {
	WF_PHYS_NOP = 0,
	WF_PHYS_SLEEP = 1,
	WF_PHYS_POLLING = 2,
	WF_PHYS_DISABLED = 3,
	WF_PHYS_TRAINING = 4,
	WF_PHYS_LINK_UP = 5,
	WF_PHYS_RECOVERY = 6,
	WF_PHYS_TEST = 7,
};

/* PortInfo:CapabilityMask. */
#define WF_CAP_SM UINT32_C(0x00000002)
#define WF_CAP_NOTICE UINT32_C(0x00000004)
#define WF_CAP_TRAP UINT32_C(0x00000008)
#define WF_CAP_OPTIONAL_IPD UINT32_C(0x00000010)
#define WF_CAP_AUTO_MIGRATION UINT32_C(0x00000020)
#define WF_CAP_SL_MAPPING UINT32_C(0x00000040)
#define WF_CAP_MKEY_NVRAM UINT32_C(0x00000080)
#define WF_CAP_PKEY_NVRAM UINT32_C(0x00000100)
#define WF_CAP_LED_INFO UINT32_C(0x00000200)
#define WF_CAP_SM_DISABLED UINT32_C(0x00000400)
#define WF_CAP_SYSTEM_IMAGE_GUID UINT32_C(0x00000800)
#define WF_CAP_PKEY_SWITCH_TRAP UINT32_C(0x00001000)
#define WF_CAP_EXTENDED_SPEEDS UINT32_C(0x00004000)
#define WF_CAP_CAP_MASK2 UINT32_C(0x00008000)
#define WF_CAP_CM UINT32_C(0x00010000)
#define WF_CAP_SNMP_TUNNEL UINT32_C(0x00020000)
#define WF_CAP_REINIT UINT32_C(0x00040000)
#define WF_CAP_DEVICE_MGMT UINT32_C(0x00080000)
#define WF_CAP_VENDOR_CLASS UINT32_C(0x00100000)
#define WF_CAP_DR_NOTICE UINT32_C(0x00200000)
#define WF_CAP_CAP_MASK_NOTICE UINT32_C(0x00400000)
#define WF_CAP_BOOT_MGMT UINT32_C(0x00800000)
#define WF_CAP_LINK_ROUND_TRIP UINT32_C(0x01000000)
#define WF_CAP_CLIENT_REREGISTER UINT32_C(0x02000000)
#define WF_CAP_OTHER_LOCAL_CHANGES UINT32_C(0x04000000)
#define WF_CAP_SPEED_WIDTH_PAIRS UINT32_C(0x08000000)
#define WF_CAP_VENDOR_MADS UINT32_C(0x10000000)
#define WF_CAP_MULTICAST_PKEY_TRAP_SUPPRESSION UINT32_C(0x20000000)
#define WF_CAP_MULTICAST_FDB_TOP UINT32_C(0x40000000)
#define WF_CAP_HIERARCHY_INFO UINT32_C(0x80000000)

/* PortInfo:CapabilityMask2. */
#define WF_CAP2_SET_NODE_DESCRIPTION 0x0001
#define WF_CAP2_PORT_INFO_EXTENDED 0x0002
#define WF_CAP2_VIRTUALIZATION 0x0004
#define WF_CAP2_SWITCH_PORT_STATE_TABLE 0x0008
#define WF_CAP2_WIDTH_2X 0x0010
#define WF_CAP2_HDR 0x0020
#define WF_CAP2_NDR 0x0400
#define WF_CAP2_EXTENDED_SPEEDS2 0x0800
#define WF_CAP2_XDR 0x1000

struct wf_port_info {
	uint64_t mkey;
	uint64_t gid_prefix;
	uint16_t lid;
	uint16_t master_sm_lid;
	uint32_t capability_mask;
	uint16_t diag_code;
	uint16_t mkey_lease_period; /* seconds; 0: for ever */
	uint8_t local_port_num;
	uint8_t link_width_enabled, link_width_supported, link_width_active;
	uint8_t link_speed_supported;    /* 4 bits */
	uint8_t port_state;              /* enum wf_port_state */
	uint8_t port_physical_state;     /* enum wf_port_phys */
	uint8_t link_down_default_state; /* 0: no change, 1 sleep, 2 polling */
	uint8_t mkey_protect_bits;       /* 2 bits */
	uint8_t lmc;                     /* 3 bits */
	uint8_t link_speed_active, link_speed_enabled;
	uint8_t neighbor_mtu; /* 1 to 5: 256 to 4096 bytes */
	uint8_t master_sm_sl;
	uint8_t vl_cap; /* 1: VL0, 2: 0 and 1, 3: to 3, 4: to 7, 5: to 14 */
	uint8_t init_type;
	uint8_t vl_high_limit;
	uint8_t vl_arb_high_cap, vl_arb_low_cap;
	uint8_t init_type_reply;
	uint8_t mtu_cap;
	uint8_t vl_stall_count; /* 3 bits */
	uint8_t hoq_life;       /* 5 bits */
	uint8_t operational_vls;
	bool partition_enforcement_inbound, partition_enforcement_outbound;
	bool filter_raw_inbound, filter_raw_outbound;
	uint16_t mkey_violations, pkey_violations, qkey_violations;
	uint8_t guid_cap;
	bool client_reregister;
	uint8_t multicast_pkey_trap_suppression; /* 2 bits */
	uint8_t subnet_timeout;                  /* 5 bits: 4.096 us * 2^n */
	uint8_t resp_time_value;                 /* 5 bits */
	uint8_t local_phy_errors, overrun_errors;
	uint16_t max_credit_hint;
	uint8_t link_speed_ext_active2, link_speed_ext_supported2, link_speed_ext_enabled2;
	uint32_t link_round_trip_latency; /* 24 bits */
	uint16_t capability_mask2;
	uint8_t link_speed_ext_active, link_speed_ext_supported; /* 4 bits */
	uint8_t link_speed_ext_enabled;                          /* 5 bits */
};

/* A block of a port's keys: membership (full: 0x8000) and 15 bits of key; 0 is none. */
struct wf_pkey_table {
	uint16_t pkey[WF_PKEYS_PER_BLOCK];
};

struct wf_sl_to_vl {
	uint8_t vl[WF_SLS]; /* of each SL; 15: discarded */
};

struct wf_vl_arb_entry {
	uint8_t vl;
	uint8_t weight;
};

/* Half of one of the two tables: modifier 1 and 2 low priority, 3 and 4 high. */
struct wf_vl_arb {
	struct wf_vl_arb_entry entry[WF_VL_ARB_PER_BLOCK];
};

struct wf_linear_ft {
	uint8_t port[WF_LFT_PER_BLOCK]; /* 255: none */
};

/* Sixteen ports of a block of multicast LIDs. */
struct wf_multicast_ft {
	uint16_t ports[WF_MFT_PER_BLOCK];
};

enum wf_sm_state {
	WF_SM_NOT_ACTIVE = 0,
	WF_SM_DISCOVERING = 1,
	WF_SM_STANDBY = 2,
	WF_SM_MASTER = 3,
};

/* The attribute modifier of a Set(SMInfo): what the other manager is told (14.4.1). */
enum wf_sm_control {
	WF_SM_HANDOVER = 1,
	WF_SM_ACKNOWLEDGE = 2,
	WF_SM_DISABLE = 3,
	WF_SM_STANDBY_CONTROL = 4,
	WF_SM_DISCOVER = 5,
};

struct wf_sm_info {
	uint64_t guid;
	uint64_t sm_key;
	uint32_t act_count;
	uint8_t priority; /* 4 bits */
	uint8_t sm_state; /* enum wf_sm_state */
};

struct wf_led_info {
	bool led_mask; /* the beacon is lit */
};

/*
 * Adaptive routing, weft's own: a switch sends a packet by any port of its LID's group, by the
 * linear forwarding table where the LID has none.
 */
struct wf_adaptive_info {
	bool enabled; /* the one member that is set */
	uint16_t group_cap;
};

/* Modifier b: the ports of groups 2b + 1 and 2b + 2; port 64w + i is bit i of word w. */
#define WF_GROUPS_PER_BLOCK 2
#define WF_GROUP_WORDS 4
#define WF_GROUPS_MAX 254
struct wf_adaptive_groups {
	uint64_t ports[WF_GROUPS_PER_BLOCK * WF_GROUP_WORDS];
};

/* Modifier: block of LIDs, as in linear forwarding tables. */
struct wf_adaptive_lids {
	uint8_t group[WF_LFT_PER_BLOCK]; /* 0: none */
};

#define WF_SMP_LAYOUTS(X)                                                                          \
	X(node_description)                                                                        \
	X(node_info)                                                                               \
	X(switch_info)                                                                             \
	X(guid_info)                                                                               \
	X(port_info)                                                                               \
	X(pkey_table)                                                                              \
	X(sl_to_vl)                                                                                \
	X(vl_arb_entry)                                                                            \
	X(vl_arb)                                                                                  \
	X(linear_ft)                                                                               \
	X(multicast_ft)                                                                            \
	X(sm_info)                                                                                 \
	X(led_info)                                                                                \
	X(adaptive_info)                                                                           \
	X(adaptive_groups)                                                                         \
	X(adaptive_lids)

WF_SMP_LAYOUTS(WF_LAYOUT_DECLARE)

#endif
