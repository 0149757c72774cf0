/* SPDX-License-Identifier: Apache-2.0 */
/*
 * members.h - who may talk to whom: the partitions (subnet/part.h) of a subnet's ports.
 *
 * A port is a full or a limited member of a partition; two ports may talk where they share one in
 * which at least one of them is full.
 */
#ifndef WF_SUBNET_MEMBERS_H
#define WF_SUBNET_MEMBERS_H

#include "subnet/check.h"
#include "subnet/part.h"
#include "subnet/read.h"

struct wf_members {
	struct wf_mem *mem;
	const struct wf_parts *parts;
	uint16_t *keys; /* of one port after the other: P_Keys as in its table, by partition */
	uint32_t *end;  /* by port: behind its keys */
	uint32_t n_keys, max_keys;
};

/*
 * Finds the P_Keys that each end port of the subnet has; borrows parts. sm: the port that SELF is
 * (index), or WF_SUBNET_NONE. What parts says of ports that are not there is told the ear, if there
 * is one, with the file's name. On success m goes to wf_members_fini(). Returns 0 or -ENOMEM.
 */
int wf_members_init(struct wf_members *m, const struct wf_subnet *subnet, uint32_t sm,
                    const struct wf_parts *parts, const char *name,
                    const struct wf_subnet_ear *ear) WF_MUST_USE;
void wf_members_fini(struct wf_members *m);

/* Whether two ports may talk. */
bool wf_members_meet(const struct wf_members *m, uint32_t a, uint32_t b);

/*
 * Which adapters' ports may not talk to all others: ports of the same memberships are told of
 * together. Returns 0 or -ENOMEM.
 */
int wf_members_check(const struct wf_subnet *subnet, const struct wf_members *members,
                     const struct wf_check_ear *ear) WF_MUST_USE;

#endif
