/* SPDX-License-Identifier: Apache-2.0 */
/*
 * addr.h - what a host is called on the wire, and how a fabric's classes look there.
 *
 * A host of a modelled fabric has every kind of address, each made from its number, so that a
 * capture can be read by eye and a packet's bytes lead back to its hosts:
 *
 *	host 5     MAC 02:00:00:00:00:05   IPv4 10.0.0.6   LID 6
 *	           GID and IPv6 fe80::ff:fe00:5 (from the MAC, as EUI-64)
 *
 * IPv4 has room for 2^24 - 2 hosts, and LIDs for 49,151: above that they repeat.
 */
#ifndef WF_WIRE_ADDR_H
#define WF_WIRE_ADDR_H

#include "base/base.h"
#include "wire/ether.h"
#include "wire/size.h"

#define WF_WIRE_CLASSES 16
#define WF_WIRE_HOST_NONE UINT32_MAX

struct wf_wire_addr {
	uint8_t mac[WF_MAC_LEN];
	uint16_t lid;
	uint32_t ipv4;
	uint8_t gid[WF_GID_LEN]; /* of InfiniBand and RoCE v1; also the IPv6 address */
};

/* How a fabric wraps its packets; wf_wire_conf_init() gives one to begin with. */
struct wf_wire_conf {
	enum wf_encap encap; /* of all but control frames */
	bool vlan;           /* Ethernet: tag with vid, priority from the class */
	uint16_t vid;
	uint8_t hop_limit;                  /* RoCE v2: what the sender puts, one less per switch */
	uint8_t dscp[WF_WIRE_CLASSES];      /* RoCE: of each class; no value twice */
	uint8_t dscp_trim[WF_WIRE_CLASSES]; /* RoCE v2: of trimmed packets, by the class they had */
	uint8_t dscp_mark
		[WF_WIRE_CLASSES];   /* RoCE: of packets with a mark, which go before these */
	uint8_t vl[WF_WIRE_CLASSES]; /* InfiniBand: of each service level */
};

/* The addresses of a host by its number. */
void wf_wire_addr_init(struct wf_wire_addr *addr, uint32_t host);

/*
 * Who has made what weft models, a locally administered number that GUIDs have as well, and its
 * part's number and revision.
 */
#define WF_WIRE_VENDOR 0x02c0de
#define WF_WIRE_PART_ADAPTER 1
#define WF_WIRE_PART_SWITCH 2
#define WF_WIRE_REVISION 1

/*
 * GUIDs of InfiniBand: of a host, of its first port, too, while those of its other ports are
 * WF_WIRE_GUID_PORT apart; and of a switch by its node's number.
 */
#define WF_WIRE_GUID_PORT UINT64_C(0x400000)
uint64_t wf_wire_guid_host(uint32_t host);
uint64_t wf_wire_guid_switch(uint32_t node);

/* The host that has this address, or WF_WIRE_HOST_NONE for one that no host has. */
uint32_t wf_wire_addr_host_ipv4(uint32_t ipv4);
uint32_t wf_wire_addr_host_gid(const uint8_t *gid);
uint32_t wf_wire_addr_host_lid(uint16_t lid);

/* DSCP of a class where nobody says another one. */
uint8_t wf_wire_dscp(unsigned cls);

/*
 * A fabric with that encapsulation (not a control frame's), no VLAN, hop limit 64; class c has
 * DSCP 8c (class selector), but class 3 has 26 and classes from 8 on the odd numbers 2c + 1;
 * trimmed packets have DSCP 8c + 4, from class 8 on 2c + 17; service level s is on VL s mod 8.
 */
void wf_wire_conf_init(struct wf_wire_conf *conf, enum wf_encap encap);

/* The class that has this DSCP, or -1. */
int wf_wire_conf_class(const struct wf_wire_conf *conf, uint8_t dscp);

/* The class whose trimmed packets have this DSCP, or -1. */
int wf_wire_conf_trimmed(const struct wf_wire_conf *conf, uint8_t dscp);

#endif
