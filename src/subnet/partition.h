/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partition.h - who may talk to whom: partitions as OpenSM's partitions.conf defines them.
 *
 *	Default=0x7fff, ipoib, defmember=limited : ALL, SELF=full ;
 *	tenant1=0x8001 : 0x2c90300a0b1c1=full, 0x2c90300a0b1c5 ;
 *
 * A port is a full or a limited member of a partition; two ports may talk where they share one in
 * which at least one of them is full.
 */
#ifndef WF_SUBNET_PARTITION_H
#define WF_SUBNET_PARTITION_H

#include "subnet/check.h"
#include "subnet/read.h"

#define WF_PARTITION_NAME 64
#define WF_PARTITIONS_MAX 4096

struct wf_partition {
	char name[WF_PARTITION_NAME];
	uint16_t pkey; /* 15 bits; 0: OpenSM makes one */
	uint32_t line;
};

struct wf_member {
	uint32_t port; /* index into the subnet's ports */
	uint32_t partition;
	bool full;
};

struct wf_partitions {
	struct wf_mem *mem;
	struct wf_partition *parts;
	uint32_t n, max;
	struct wf_member *members; /* by port, then by partition; each pair once */
	uint32_t n_members, max_members;
};

/*
 * Reads the file's text. sm: the port that SELF is (index), or WF_SUBNET_NONE. GUIDs that no port
 * has are told the ear. On success parts goes to wf_partitions_fini(). Returns 0, -EINVAL with err
 * filled, or -ENOMEM.
 */
int wf_partitions_read(const struct wf_subnet *subnet, uint32_t sm, const char *text, size_t len,
                       const char *name, const struct wf_subnet_ear *ear,
                       struct wf_partitions *parts, struct wf_err *err) WF_MUST_USE;
void wf_partitions_fini(struct wf_partitions *parts);

/* Whether two ports may talk. */
bool wf_partitions_meet(const struct wf_partitions *parts, uint32_t a, uint32_t b);

/*
 * Which adapters' ports are in no partition, and which may not talk to all others: ports of the
 * same memberships are told of together. Returns 0 or -ENOMEM.
 */
int wf_partitions_check(const struct wf_subnet *subnet, const struct wf_partitions *parts,
                        const struct wf_check_ear *ear) WF_MUST_USE;

#endif
