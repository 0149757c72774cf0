/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notice.h - notices (IBTA vol. 1, 13.4.8.2), and what subnet management's traps say (14.2.5.1).
 *
 * Of notice->details, which struct it is goes by the number of the trap. As in smp.h, each has
 * functions of its name: wf_notice_encode(), wf_trap_key_decode().
 */
#ifndef WF_WIRE_NOTICE_H
#define WF_WIRE_NOTICE_H

#include "wire/field.h"

enum wf_notice_type {
	WF_NOTICE_FATAL = 0,
	WF_NOTICE_URGENT = 1,
	WF_NOTICE_SECURITY = 2,
	WF_NOTICE_MANAGEMENT = 3,
	WF_NOTICE_INFO = 4,
	WF_NOTICE_EMPTY = 0x7f,
};

enum wf_trap_number {
	WF_TRAP_GID_IN_SERVICE = 64,
	WF_TRAP_GID_OUT_OF_SERVICE = 65,
	WF_TRAP_MGID_CREATED = 66,
	WF_TRAP_MGID_DESTROYED = 67,
	WF_TRAP_UNPATH = 68,
	WF_TRAP_REPATH = 69,
	WF_TRAP_LINK_STATE = 128,
	WF_TRAP_LINK_INTEGRITY = 129,
	WF_TRAP_BUFFER_OVERRUN = 130,
	WF_TRAP_FLOW_WATCHDOG = 131,
	WF_TRAP_LOCAL_CHANGE = 144,
	WF_TRAP_SYSTEM_IMAGE_GUID = 145,
	WF_TRAP_BAD_MKEY = 256,
	WF_TRAP_BAD_PKEY = 257,
	WF_TRAP_BAD_QKEY = 258,
	WF_TRAP_BAD_SWITCH_PKEY = 259,
};

#define WF_NOTICE_DETAILS_LEN 54

struct wf_notice {
	bool is_generic;
	uint8_t type;           /* enum wf_notice_type */
	uint32_t producer_type; /* enum wf_node_type, 4 for a class manager; or the vendor */
	uint16_t trap_number;   /* or the device */
	uint16_t issuer_lid;
	bool toggle;
	uint16_t count; /* 15 bits */
	uint8_t details[WF_NOTICE_DETAILS_LEN];
};

/* Outside of SMPs. */
struct wf_notice_gid {
	struct wf_notice notice;
	uint8_t issuer_gid[16];
};

struct wf_trap_gid { /* 64 to 67 */
	uint8_t gid[16];
};

struct wf_trap_lid { /* 128 */
	uint16_t lid;
};

struct wf_trap_port { /* 129 to 131 */
	uint16_t lid;
	uint8_t port;
};

/* Trap 144: ChangeFlags. */
#define WF_CHANGE_NODE_DESCRIPTION 0x0001
#define WF_CHANGE_LINK_WIDTH_ENABLED 0x0002
#define WF_CHANGE_LINK_SPEED_ENABLED 0x0004

struct wf_trap_change { /* 144 */
	uint16_t lid;
	bool other_local_changes;
	uint32_t capability_mask;
	uint16_t change_flags;
	uint16_t capability_mask2;
};

struct wf_trap_image { /* 145 */
	uint16_t lid;
	uint64_t system_image_guid;
};

struct wf_trap_mkey { /* 256 */
	uint16_t lid;
	uint16_t dr_slid;
	uint8_t method;
	uint16_t attr_id;
	uint32_t attr_mod;
	uint64_t mkey;
	bool dr_notice; /* the rest is filled in */
	bool dr_path_truncated;
	uint8_t dr_hop_count; /* 6 bits */
	uint8_t dr_return_path[30];
};

struct wf_trap_key { /* 257: the P_Key in the lower half of key; 258: the Q_Key */
	uint16_t lid1, lid2;
	uint32_t key;
	uint8_t sl;
	uint32_t qp1, qp2;
	uint8_t gid1[16], gid2[16];
};

/* Trap 259: DataValid. */
#define WF_TRAP_VALID_LID1 0x0001
#define WF_TRAP_VALID_LID2 0x0002
#define WF_TRAP_VALID_PKEY 0x0004
#define WF_TRAP_VALID_SL 0x0008
#define WF_TRAP_VALID_QP1 0x0010
#define WF_TRAP_VALID_QP2 0x0020
#define WF_TRAP_VALID_GID1 0x0040
#define WF_TRAP_VALID_GID2 0x0080

struct wf_trap_switch_key { /* 259 */
	uint16_t data_valid;
	uint16_t lid1, lid2;
	uint16_t pkey;
	uint8_t sl;
	uint32_t qp1, qp2;
	uint8_t gid1[16], gid2[16];
	uint16_t switch_lid;
	uint8_t port;
};

#define WF_NOTICE_LAYOUTS(X)                                                                       \
	X(notice)                                                                                  \
	X(notice_gid)                                                                              \
	X(trap_gid)                                                                                \
	X(trap_lid)                                                                                \
	X(trap_port)                                                                               \
	X(trap_change)                                                                             \
	X(trap_image)                                                                              \
	X(trap_mkey)                                                                               \
	X(trap_key)                                                                                \
	X(trap_switch_key)

WF_NOTICE_LAYOUTS(WF_LAYOUT_DECLARE)

#endif
