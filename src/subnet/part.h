/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part.h - partitions, as OpenSM's partitions.conf has them.
 *
 *	# name = P_Key, flags : members ;
 *	Default=0x7fff, ipoib, mtu=5 : ALL=limited, SELF=full ;
 *	storage=0x10, defmember=full : 0x0002c9030000000a, 0x0002c9030000000b=limited ;
 *
 * There always is the default partition 0x7fff, with all ports as limited members and the subnet
 * manager's own as a full one; without a file, all are full members. What is said later of a port
 * counts. Words may be cut short as in OpenSM ("lim"). A name without a P_Key gets the lowest
 * that is free.
 *
 * A partition with ipoib has IP's broadcast group, and among its members there may be lines for
 * other groups that are there without anybody having joined them; flags are the partition's where
 * they are not given:
 *
 *	mgid=ff12:401b::16, sl=1, mtu=5
 *
 * An IP group's P_Key is the partition's, and so are its MTU and rate.
 */
#ifndef WF_SUBNET_PART_H
#define WF_SUBNET_PART_H

#include <stdbool.h>

#include "base/err.h"
#include "base/mem.h"

#define WF_PART_DEFAULT 0x7fff
#define WF_PKEY_FULL 0x8000 /* the bit of full members */
#define WF_PART_NAME 64

enum wf_part_who {
	WF_PART_ALL,
	WF_PART_ALL_CAS,
	WF_PART_ALL_SWITCHES,
	WF_PART_ALL_ROUTERS,
	WF_PART_SELF,
	WF_PART_GUID,
};

struct wf_part_rule {
	uint64_t guid;
	uint16_t part; /* which of the partitions */
	uint8_t who;   /* enum wf_part_who */
	bool full;
	bool index0;   /* its P_Key is the first in these ports' tables */
	uint32_t line; /* of the file; 0: none says so */
	uint16_t column;
};

struct wf_part {
	char name[WF_PART_NAME];
	uint16_t pkey; /* 15 bits */
	bool ipoib;    /* it has a broadcast group, with these: */
	uint8_t rate;  /* code; 3: 10 Gbit/s */
	uint8_t mtu;   /* code; 4: 2048 */
	uint8_t sl;
	uint16_t scopes; /* a bit for each; 0: as in the group's address */
	uint32_t qkey;
	uint8_t tclass;
	uint32_t flow_label;
	uint32_t first_rule, n_rules; /* its rules */
};

/* A multicast group. */
struct wf_part_group {
	uint8_t mgid[16];
	uint16_t pkey; /* 15 bits */
	uint8_t rate, mtu, sl, tclass, scope;
	uint32_t qkey, flow_label;
};

struct wf_parts {
	struct wf_mem *mem;
	struct wf_part *part;
	struct wf_part_rule *rule;   /* by partition, then in the file's order */
	uint16_t *order;             /* partitions, in the order in which OpenSM hands out keys */
	struct wf_part_group *group; /* in the order in which OpenSM makes them; no MGID twice */
	uint32_t n, n_rules, n_groups;
	uint32_t max, max_rules, max_groups; /* room; private */
};

/*
 * Reads text; NULL: there is no file. name is the file's, for messages. On success *parts_p is
 * owned by the caller. Returns 0, -EINVAL with err filled, or -ENOMEM.
 */
int wf_parts_read(struct wf_mem *mem, const char *text, const char *name, struct wf_parts **parts_p,
                  struct wf_err *err) WF_MUST_USE;

/* Frees them. NULL is allowed. */
void wf_parts_destroy(struct wf_parts *parts);

struct wf_part_port { /* whose membership is asked */
	uint64_t guid;
	uint8_t kind; /* enum wf_subnet_kind */
	bool self;
};

/*
 * The P_Keys of a port, in the order in which OpenSM hands them out; *first_p is the one that has
 * to be at index 0. Writes at most max of them and returns how many there are.
 */
unsigned wf_parts_pkeys(const struct wf_parts *parts, const struct wf_part_port *port,
                        uint16_t *pkeys, unsigned max, uint16_t *first_p);

/* The name of a P_Key's partition, without what terminals must not see, or "0x7fff". */
void wf_parts_name(const struct wf_parts *parts, uint16_t pkey, char *text, size_t size);

#endif
