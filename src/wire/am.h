/* SPDX-License-Identifier: Apache-2.0 */
/*
 * am.h - aggregation management's class 0x0b: how switches are told of trees for reductions (SHARP).
 *
 * It is NVIDIA's, not IBTA's; where the members are is what the public headers of ibdiagnet's
 * library ibis say. As in smp.h: structs with layouts. p is where the attribute begins: WF_AM_DATA
 * of the MAD; the AM_Key is behind the common header. Members that weft does not use are left out.
 */
#ifndef WF_WIRE_AM_H
#define WF_WIRE_AM_H

#include "wire/field.h"
#include "wire/mad.h"

#define WF_AM_CLASS_VERSION 1
#define WF_AM_KEY 24 /* offset of the AM_Key */
#define WF_AM_DATA 64
#define WF_AM_CHILDREN 44 /* of a TreeConfig */

enum wf_am_attr {
	WF_AM_AN_INFO = 0x0020,
	WF_AM_QPC_CONFIG = 0x0022,
	WF_AM_TREE_CONFIG = 0x0023,
};

/* What a switch can do as an aggregation node. */
struct wf_an_info {
	bool streaming_aggregation_supported;
	uint16_t tree_table_size; /* trees */
	uint8_t tree_radix;       /* children of one */
	uint16_t outstanding_operation_table_size;
	uint32_t num_of_jobs; /* 24 bits */
	uint16_t max_num_qps;
};

enum wf_am_qp_state { WF_AM_QP_DISABLED, WF_AM_QP_ACTIVE, WF_AM_QP_ERROR };

/* A queue pair of an aggregation node: an end of a tree's link. */
struct wf_qpc_config {
	uint8_t state; /* enum wf_am_qp_state */
	uint32_t qpn;  /* 24 bits, as rqpn */
	uint8_t mtu;   /* code */
	uint8_t ts;    /* transport; 0: RC */
	uint16_t rlid; /* whose the other end is, */
	uint8_t sl;    /* how to get there, */
	uint16_t pkey; /* and as whom */
	uint8_t port;  /* of the switch; 0: as its table leads to rlid */
	uint32_t rqpn; /* the other end */
	uint8_t rnr_retry_limit, timeout_retry_limit, local_ack_timeout;
};

enum wf_am_tree_state { WF_AM_TREE_DISABLED, WF_AM_TREE_ENABLED, WF_AM_TREE_ERROR };

enum wf_am_tree_opcode {
	WF_AM_ADD_CHILDREN,
	WF_AM_REMOVE_CHILDREN,
	WF_AM_WRITE_TREE, /* the parent, and these children alone */
	WF_AM_SET_PARENT,
};

/* A switch's place in a tree. */
struct wf_tree_config {
	uint8_t opcode;     /* enum wf_am_tree_opcode */
	uint8_t tree_state; /* enum wf_am_tree_state */
	uint16_t tree_id;
	uint8_t tree_mode;           /* 1: streaming aggregation */
	uint8_t streaming_lock_mode; /* 2: locked to the end */
	uint16_t small_data_tree_id; /* by which a streaming tree is locked */
	uint32_t parent_qpn;         /* 0: it is the root */
	uint16_t record_locator;
	uint8_t num_of_children;
	uint32_t child_qp[WF_AM_CHILDREN];
};

#define WF_AM_LAYOUTS(X)                                                                           \
	X(an_info)                                                                                 \
	X(qpc_config)                                                                              \
	X(tree_config)

WF_AM_LAYOUTS(WF_LAYOUT_DECLARE)

#endif
