/* SPDX-License-Identifier: Apache-2.0 */
/*
 * groups.c - multicast groups, their LIDs and members, and the groups that partitions have.
 *
 * A group has a LID of its own. It comes with the first who joins it as a full member (or was a
 * partition's before) and goes with the last one, whoever else is in it.
 */
#include <errno.h>
#include <string.h>

#include "mgmt/sa/sa_priv.h"
#include "subnet/part.h"

#define FULL (WF_MC_FULL_MEMBER | WF_MC_SEND_ONLY_FULL_MEMBER)

static uint8_t *mlid_of(const struct wf_sa *sa, uint16_t mlid)
{
	assert(mlid >= WF_LID_MULTICAST && mlid < WF_LID_PERMISSIVE);
	return &sa->mlids[mlid - WF_LID_MULTICAST];
}

static void note_change(struct wf_sa *sa, const struct wf_sa_group *group)
{
	*mlid_of(sa, group->record.mlid) |= WF_SA_MLID_CHANGED;
	sa->groups_changed = true;
}

/* ---- finding ---- */

static struct wf_sa_group **place_of(struct wf_sa *sa, const uint8_t *mgid)
{
	struct wf_sa_group **at = &sa->groups;

	while (*at != NULL && memcmp((*at)->record.mgid, mgid, WF_SA_GID_LEN) < 0)
		at = &(*at)->next;
	return at;
}

struct wf_sa_group *wf_sa_group_find(const struct wf_sa *sa, const uint8_t *mgid)
{
	for (struct wf_sa_group *g = sa->groups; g != NULL; g = g->next) {
		if (memcmp(g->record.mgid, mgid, WF_SA_GID_LEN) == 0)
			return g;
	}
	return NULL;
}

struct wf_sa_member *wf_sa_member_find(const struct wf_sa_group *group, uint64_t guid)
{
	for (struct wf_sa_member *m = group->members; m != NULL; m = m->next) {
		if (m->guid == guid)
			return m;
	}
	return NULL;
}

/* ---- LIDs ---- */

/* As many as all switches have entries for. */
static uint32_t mlids_there_are(const struct wf_sa *sa)
{
	const struct wf_sm_view *view = wf_sm_view(sa->sm);
	uint32_t n = WF_SA_MLIDS;

	for (uint32_t sw = 0; sw < view->subnet->n_switches; sw++) {
		uint32_t cap = view->switches[sw].info.multicast_fdb_cap;

		if (cap != 0 && cap < n)
			n = cap;
	}
	return n;
}

/* The one that was asked for, if it is free, or the lowest; 0: there is none. */
static uint16_t free_mlid(const struct wf_sa *sa, uint16_t wanted)
{
	uint32_t n = mlids_there_are(sa), at = (uint32_t)wanted - WF_LID_MULTICAST;

	if (wanted >= WF_LID_MULTICAST && at < n && (sa->mlids[at] & WF_SA_MLID_USED) == 0)
		return wanted;
	for (uint32_t i = 0; i < n; i++) {
		if ((sa->mlids[i] & WF_SA_MLID_USED) == 0)
			return (uint16_t)(WF_LID_MULTICAST + i);
	}
	return 0;
}

/* ---- coming and going ---- */

uint16_t wf_sa_group_create(struct wf_sa *sa, const struct wf_mc_member_record *record,
                            struct wf_sa_group **group_p)
{
	struct wf_sa_group **at = place_of(sa, record->mgid), *group;
	uint16_t mlid = free_mlid(sa, record->mlid);

	group = mlid == 0 ? NULL : sa->mem->alloc(sa->mem, sizeof(*group));
	if (group == NULL)
		return WF_SA_NO_RESOURCES;
	group->record = *record;
	group->record.mlid = mlid;
	group->record.mtu_selector = WF_SA_EXACTLY;
	group->record.rate_selector = WF_SA_EXACTLY;
	group->record.life_selector = WF_SA_EXACTLY;
	group->next = *at;
	*at = group;
	*mlid_of(sa, mlid) |= WF_SA_MLID_USED;
	*group_p = group;
	return 0;
}

static void free_members(struct wf_sa *sa, struct wf_sa_group *group)
{
	while (group->members != NULL) {
		struct wf_sa_member *m = group->members;

		group->members = m->next;
		sa->mem->free(sa->mem, m);
	}
	group->n_members = 0;
}

static void drop(struct wf_sa *sa, struct wf_sa_group *group)
{
	struct wf_sa_group **at = place_of(sa, group->record.mgid);

	assert(*at == group);
	*at = group->next;
	*mlid_of(sa, group->record.mlid) &= (uint8_t)~WF_SA_MLID_USED;
	free_members(sa, group);
	sa->mem->free(sa->mem, group);
}

void wf_sa_group_cleanup(struct wf_sa *sa, struct wf_sa_group *group)
{
	if (group->full_members != 0)
		return;
	if (group->n_members != 0)
		note_change(sa, group);
	free_members(sa, group);
	if (!group->well_known)
		drop(sa, group);
}

void wf_sa_groups_drop(struct wf_sa *sa)
{
	while (sa->groups != NULL) {
		if (sa->groups->n_members != 0)
			note_change(sa, sa->groups);
		drop(sa, sa->groups);
	}
}

/* ---- members ---- */

static struct wf_sa_member *add_member(struct wf_sa *sa, struct wf_sa_group *group, uint64_t guid,
                                       bool proxy, const struct wf_mc_member_record *record)
{
	struct wf_sa_member *m = sa->mem->alloc(sa->mem, sizeof(*m)), **at = &group->members;

	if (m == NULL)
		return NULL;
	while (*at != NULL && (*at)->guid < guid)
		at = &(*at)->next;
	m->guid = guid;
	memcpy(m->port_gid, record->port_gid, sizeof(m->port_gid));
	m->scope = record->scope;
	m->proxy = proxy;
	m->next = *at;
	*at = m;
	group->n_members++;
	note_change(sa, group);
	return m;
}

uint16_t wf_sa_group_join(struct wf_sa *sa, struct wf_sa_group *group, uint64_t guid, bool proxy,
                          struct wf_mc_member_record *record)
{
	struct wf_sa_member *m = wf_sa_member_find(group, guid);
	uint8_t was;

	if (m == NULL)
		m = add_member(sa, group, guid, proxy, record);
	if (m == NULL)
		return WF_SA_NO_RESOURCES;
	was = m->join_state;
	m->join_state |= record->join_state;
	if ((was & FULL) == 0 && (m->join_state & FULL) != 0 && ++group->full_members == 1)
		wf_sa_report_gid(sa, WF_TRAP_MGID_CREATED, group->record.mgid);
	record->scope = m->scope;
	record->join_state = m->join_state;
	return 0;
}

static void remove_member(struct wf_sa *sa, struct wf_sa_group *group, struct wf_sa_member *member)
{
	struct wf_sa_member **at = &group->members;

	while (*at != member)
		at = &(*at)->next;
	*at = member->next;
	sa->mem->free(sa->mem, member);
	group->n_members--;
	note_change(sa, group);
}

uint8_t wf_sa_group_leave(struct wf_sa *sa, struct wf_sa_group *group, struct wf_sa_member *member,
                          uint8_t join_state)
{
	uint8_t was = member->join_state, left = was & (uint8_t)~join_state;
	uint32_t others = group->full_members - ((was & FULL) != 0);

	/* Who does not send and receive as a full member stays as long as somebody does. */
	if ((left & WF_MC_FULL_MEMBER) != 0 || (left != 0 && (others != 0 || (left & FULL) != 0))) {
		member->join_state = left;
	} else {
		left = 0;
		remove_member(sa, group, member);
	}
	if ((was & FULL) != 0 && (left & FULL) == 0 && --group->full_members == 0) {
		wf_sa_report_gid(sa, WF_TRAP_MGID_DESTROYED, group->record.mgid);
		wf_sa_group_cleanup(sa, group);
	}
	return left;
}

void wf_sa_groups_lose(struct wf_sa *sa, uint64_t guid)
{
	struct wf_sa_group *next;

	for (struct wf_sa_group *g = sa->groups; g != NULL; g = next) {
		struct wf_sa_member *m = wf_sa_member_find(g, guid);

		next = g->next;
		if (m != NULL)
			(void)wf_sa_group_leave(sa, g, m, 0xf);
	}
}

/* ---- the manager ---- */

static struct wf_sa_group *with_mlid(const struct wf_sa *sa, uint32_t mlid)
{
	for (struct wf_sa_group *g = sa->groups; g != NULL; g = g->next) {
		if (g->record.mlid == mlid)
			return g;
	}
	return NULL;
}

/* Without memory the tree stays as it was until the next change of the group. */
static void tell(struct wf_sa *sa, uint16_t mlid)
{
	const struct wf_sa_group *group = with_mlid(sa, mlid);
	uint32_t n = group == NULL ? 0 : group->n_members, i = 0;
	uint64_t *guids = NULL;

	if (n != 0) {
		guids = sa->mem->alloc(sa->mem, n * sizeof(*guids));
		if (guids == NULL)
			return;
		for (const struct wf_sa_member *m = group->members; m != NULL; m = m->next)
			guids[i++] = m->guid;
	}
	(void)!wf_sm_set_group(sa->sm, mlid, guids, n);
	sa->mem->free(sa->mem, guids);
}

void wf_sa_groups_tell(struct wf_sa *sa)
{
	for (uint32_t i = 0; i < WF_SA_MLIDS; i++) {
		if ((sa->mlids[i] & WF_SA_MLID_CHANGED) == 0)
			continue;
		sa->mlids[i] &= (uint8_t)~WF_SA_MLID_CHANGED;
		tell(sa, (uint16_t)(WF_LID_MULTICAST + i));
	}
	sa->groups_changed = false;
}

/* ---- partitions ---- */

/* Each with all that its group's flags say; one that is there already stays as it is. */
void wf_sa_groups_of_partitions(struct wf_sa *sa)
{
	const struct wf_parts *parts = wf_sm_parts(sa->sm);
	const struct wf_sm_cfg *cfg = wf_sm_cfg(sa->sm);

	sa->groups_wanted = false;
	for (uint32_t i = 0; i < parts->n_groups; i++) {
		const struct wf_part_group *g = &parts->group[i];
		struct wf_mc_member_record record = {
			.qkey = g->qkey,
			.mtu = g->mtu,
			.tclass = g->tclass,
			.pkey = g->pkey | WF_PKEY_FULL,
			.rate = g->rate,
			.life = (uint8_t)cfg->subnet_timeout,
			.sl = cfg->qos ? g->sl : 0,
			.flow_label = g->flow_label,
			.hop_limit = g->scope == 2 ? 0 : 0xff,
			.scope = g->scope,
			.join_state = WF_MC_FULL_MEMBER,
		};
		struct wf_sa_group *group;

		if (!wf_sa_mgid_is_valid(g->mgid))
			continue;
		memcpy(record.mgid, g->mgid, sizeof(record.mgid));
		group = wf_sa_group_find(sa, record.mgid);
		if (group == NULL && wf_sa_group_create(sa, &record, &group) != 0) {
			sa->groups_wanted = true; /* with the next request */
			return;
		}
		group->well_known = true;
	}
}
