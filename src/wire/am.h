/* SPDX-License-Identifier: Apache-2.0 */
/*
 * am.h - aggregation management: how switches are told of trees for reductions.
 *
 * NVIDIA's protocol for it is not public. This is weft's own, in one of the classes that IBTA
 * leaves to vendors (0x09 to 0x0f), with as many requests of the same kinds: what a switch can do,
 * a queue pair at each end of a tree's links, and each switch's place in a tree. As in smp.h:
 * structs with layouts. p is where the attribute begins: WF_AM_DATA of the MAD.
 */
#ifndef WF_WIRE_AM_H
#define WF_WIRE_AM_H

#include "wire/field.h"
#include "wire/mad.h"

#define WF_AM_CLASS_VERSION 1
#define WF_AM_DATA 64
#define WF_AM_CHILDREN 44 /* of a tree, in one MAD */

enum wf_am_attr {
	WF_AM_NODE = 0xff10,
	WF_AM_QUEUE_PAIR = 0xff11,
	WF_AM_TREE = 0xff12,
};

/* What a switch can do; it can only be read. */
struct wf_am_node {
	bool streams;     /* it has streaming trees */
	uint8_t radix;    /* children of a tree */
	uint16_t trees;   /* there are, from 0 on */
	uint16_t jobs;    /* that share them */
	uint16_t pending; /* operations under way in one */
	uint16_t queue_pairs;
};

/* An end of a tree's link, at a switch. */
struct wf_am_queue_pair {
	uint32_t qpn; /* 24 bits, as peer_qpn */
	bool active;
	uint8_t port; /* of the switch */
	uint8_t mtu;  /* code */
	uint8_t sl;
	uint16_t pkey;
	uint16_t peer_lid;
	uint32_t peer_qpn;
};

/* What becomes of a tree. */
enum wf_am_does {
	WF_AM_WRITE, /* it has this parent and these children, and no others */
	WF_AM_ADD,   /* and these children */
	WF_AM_REMOVE,
	WF_AM_PARENT, /* another one */
};

/* A switch's place in a tree. */
struct wf_am_tree {
	uint16_t tree;
	uint8_t does; /* enum wf_am_does */
	bool enabled;
	bool streams;
	uint16_t locked_by; /* of a streaming tree: the other one of its pair */
	uint32_t parent;    /* number of the queue pair; 0: it is the root */
	uint8_t n;
	uint32_t child[WF_AM_CHILDREN]; /* the same of each child */
};

#define WF_AM_LAYOUTS(X)                                                                           \
	X(am_node)                                                                                 \
	X(am_queue_pair)                                                                           \
	X(am_tree)

WF_AM_LAYOUTS(WF_LAYOUT_DECLARE)

#endif
