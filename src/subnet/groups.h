/* SPDX-License-Identifier: Apache-2.0 */
/*
 * groups.h - groups of ports for adaptive routing, beside the forwarding tables of an engine.
 *
 * A switch may send to the hosts of a leaf by any port of a group: all that lie on a shortest way
 * which the engine allows. With updn and ftree these are the ways that go up, then down by the
 * engine's ranks; with minhop all shortest ones. dfsssp's lanes go with one path each: it has no
 * groups. Whatever packets do with these groups and the tables together, links must not wait for
 * one another in a circle; where they would there are no groups, and note says so.
 */
#ifndef WF_SUBNET_GROUPS_H
#define WF_SUBNET_GROUPS_H

#include "subnet/tables.h"

#define WF_GROUP_MASK 4    /* words of 64 ports each, port 0 first */
#define WF_GROUPS_MOST 254 /* of a switch: numbers from 1 on */

struct wf_group_ports {
	uint64_t word[WF_GROUP_MASK];
};

struct wf_groups {
	struct wf_mem *mem;
	uint32_t n_switches, n_lids;
	uint8_t *of;  /* [sw * n_switches + to]: number of the group to a switch's hosts; 0: none */
	uint32_t *at; /* by LID of a host: its switch; WF_SUBNET_NONE: of no host */
	uint32_t *first; /* by switch: ports of its group i are ports[first[sw] + i - 1] */
	struct wf_group_ports *ports;
	uint32_t left_out; /* groups for which a switch has no number: their LIDs have none */
	char note[WF_TABLES_NOTE]; /* why there are none; "": nothing is to be said */
};

/*
 * The groups of a subnet's switches, of at least two ports each. On success *groups_p is owned by
 * the caller. Returns 0 or -ENOMEM.
 */
int wf_groups_create(const struct wf_subnet *subnet, const struct wf_tables *tables,
                     struct wf_groups **groups_p) WF_MUST_USE;

/* Frees them. NULL is allowed. */
void wf_groups_destroy(struct wf_groups *groups);

/* How many groups a switch has. */
static inline unsigned wf_groups_count(const struct wf_groups *groups, uint32_t sw)
{
	return groups->first[sw + 1] - groups->first[sw];
}

/* The number of the group by which a switch sends to a LID; 0: none. */
static inline uint8_t wf_groups_of(const struct wf_groups *groups, uint32_t sw, unsigned lid)
{
	if (lid >= groups->n_lids || groups->at[lid] == WF_SUBNET_NONE)
		return 0;
	return groups->of[(size_t)sw * groups->n_switches + groups->at[lid]];
}

static inline const struct wf_group_ports *wf_groups_ports(const struct wf_groups *groups,
                                                           uint32_t sw, unsigned number)
{
	return &groups->ports[groups->first[sw] + number - 1];
}

static inline bool wf_group_has(const struct wf_group_ports *ports, unsigned port)
{
	return (ports->word[port / 64] >> port % 64 & 1) != 0;
}

#endif
