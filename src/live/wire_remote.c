/* SPDX-License-Identifier: Apache-2.0 */
/* wire_remote.c - who is outside: a hash table whose places go round. */
#include "live/wire_remote.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t most[WF_WIRE_KINDS] = {
	[WF_WIRE_IS_FREE] = WF_LIVE_REMOTES,
	[WF_WIRE_IS_STRANGER] = WF_WIRE_STRANGERS,
	[WF_WIRE_IS_ANSWERED] = WF_WIRE_ANSWERED,
	[WF_WIRE_IS_FIRM] = WF_WIRE_FIRM,
};

/* What holds between calls, as far as it is seen at a glance. */
static void assert_remotes(const struct wf_wire_remotes *t)
{
	uint32_t n = 0;

	for (unsigned kind = 0; kind < WF_WIRE_KINDS; kind++) {
		assert(t->n[kind] <= most[kind]);
		n += t->n[kind];
	}
	assert(n == t->used && t->used <= WF_LIVE_REMOTES);
	assert((t->n[WF_WIRE_IS_FREE] == 0) == (t->free == 0));
	(void)n;
}

int wf_wire_remotes_init(struct wf_wire_remotes *t, const uint8_t key[WF_SIPHASH_KEY])
{
	*t = (struct wf_wire_remotes){ .free = 0 };
	memcpy(t->key, key, sizeof(t->key));
	t->at = calloc(WF_LIVE_REMOTES, sizeof(*t->at));
	t->bucket = calloc(WF_LIVE_REMOTES, sizeof(*t->bucket));
	return t->at == NULL || t->bucket == NULL ? -ENOMEM : 0;
}

void wf_wire_remotes_fini(struct wf_wire_remotes *t)
{
	free(t->at);
	free(t->bucket);
}

static uint32_t number_of(const struct wf_wire_remotes *t, uint32_t place)
{
	return WF_LIVE_REMOTE | (uint32_t)t->at[place - 1].turn << WF_LIVE_REMOTE_BITS |
	       (place - 1);
}

static uint32_t *bucket(const struct wf_wire_remotes *t, const uint8_t gid[16])
{
	return &t->bucket[wf_siphash(t->key, gid, 16) & (WF_LIVE_REMOTES - 1)];
}

static uint32_t find(const struct wf_wire_remotes *t, const uint8_t gid[16])
{
	uint32_t place = *bucket(t, gid);

	while (place != 0 && memcmp(t->at[place - 1].gid, gid, 16) != 0)
		place = t->at[place - 1].chain;
	return place;
}

static bool is_ordered(enum wf_wire_kind kind)
{
	return kind == WF_WIRE_IS_STRANGER || kind == WF_WIRE_IS_ANSWERED;
}

/* Takes one out of its kind. */
static void leave(struct wf_wire_remotes *t, uint32_t place)
{
	struct wf_wire_remote *r = &t->at[place - 1];

	assert(t->n[r->kind] > 0);
	t->n[r->kind]--;
	if (!is_ordered(r->kind))
		return;
	*(r->older != 0 ? &t->at[r->older - 1].newer : &t->order[r->kind].oldest) = r->newer;
	*(r->newer != 0 ? &t->at[r->newer - 1].older : &t->order[r->kind].newest) = r->older;
	r->older = r->newer = 0;
}

/* Makes it one of a kind, the newest. */
static void enter(struct wf_wire_remotes *t, uint32_t place, enum wf_wire_kind kind)
{
	struct wf_wire_remote *r = &t->at[place - 1];

	assert(t->n[kind] < most[kind]);
	t->n[kind]++;
	r->kind = (uint8_t)kind;
	if (!is_ordered(kind))
		return;
	r->older = t->order[kind].newest;
	*(r->older != 0 ? &t->at[r->older - 1].newer : &t->order[kind].oldest) = place;
	t->order[kind].newest = place;
}

/* Nobody knows it any more, and its number is never right again, or not for long. */
static void forget(struct wf_wire_remotes *t, uint32_t place)
{
	struct wf_wire_remote *r = &t->at[place - 1];
	uint32_t *link = bucket(t, r->gid);

	assert(is_ordered(r->kind) && r->holders == 0);
	while (*link != place) {
		assert(*link != 0);
		link = &t->at[*link - 1].chain;
	}
	*link = r->chain;
	leave(t, place);
	r->turn = (uint16_t)((r->turn + 1) & ((1u << WF_LIVE_TURN_BITS) - 1));
	enter(t, place, WF_WIRE_IS_FREE);
	r->chain = t->free;
	t->free = place;
}

/* Makes room for one more of a kind. Returns false when there is none. */
static bool make_room(struct wf_wire_remotes *t, enum wf_wire_kind kind)
{
	if (t->n[kind] < most[kind])
		return true;
	if (!is_ordered(kind))
		return false;
	forget(t, t->order[kind].oldest);
	return true;
}

static void move(struct wf_wire_remotes *t, uint32_t place, enum wf_wire_kind kind)
{
	leave(t, place);
	enter(t, place, kind);
}

/* A new one; 0: there is no room for that kind. */
static uint32_t add(struct wf_wire_remotes *t, const uint8_t gid[16], enum wf_wire_kind kind)
{
	uint32_t place, *link;
	struct wf_wire_remote *r;

	if (!make_room(t, kind))
		return 0;
	place = t->free;
	if (place != 0) {
		t->free = t->at[place - 1].chain;
		leave(t, place);
	} else {
		/* The shares add up to all places. */
		assert(t->used < WF_LIVE_REMOTES);
		place = ++t->used;
	}
	r = &t->at[place - 1];
	memcpy(r->gid, gid, 16);
	memset(&r->sender, 0, sizeof(r->sender));
	link = bucket(t, gid);
	r->chain = *link;
	*link = place;
	enter(t, place, kind);
	return place;
}

uint32_t wf_wire_remotes_find(const struct wf_wire_remotes *t, const uint8_t gid[16])
{
	uint32_t place = find(t, gid);

	return place != 0 ? number_of(t, place) : WF_WIRE_NOBODY;
}

uint32_t wf_wire_remotes_meet(struct wf_wire_remotes *t, const uint8_t gid[16])
{
	uint32_t place = find(t, gid);

	if (place == 0)
		place = add(t, gid, WF_WIRE_IS_STRANGER);
	else if (is_ordered(t->at[place - 1].kind) &&
	         t->order[t->at[place - 1].kind].newest != place)
		move(t, place, t->at[place - 1].kind);
	assert(place != 0);
	assert_remotes(t);
	return number_of(t, place);
}

struct wf_wire_remote *wf_wire_remotes_get(const struct wf_wire_remotes *t, uint32_t number)
{
	uint32_t place = (number & (WF_LIVE_REMOTES - 1)) + 1;

	if ((number & WF_LIVE_REMOTE) == 0 || place > t->used || number_of(t, place) != number ||
	    t->at[place - 1].kind == WF_WIRE_IS_FREE)
		return NULL;
	return &t->at[place - 1];
}

void wf_wire_remotes_answer(struct wf_wire_remotes *t, uint32_t number)
{
	struct wf_wire_remote *r = wf_wire_remotes_get(t, number);

	if (r == NULL || r->kind != WF_WIRE_IS_STRANGER)
		return;
	(void)make_room(t, WF_WIRE_IS_ANSWERED);
	move(t, (uint32_t)(r - t->at) + 1, WF_WIRE_IS_ANSWERED);
	assert_remotes(t);
}

int wf_wire_remotes_hold(struct wf_wire_remotes *t, struct wf_wire_held *held,
                         const uint8_t gid[16], uint32_t *number_p)
{
	uint32_t place = find(t, gid), i;

	if (place == 0)
		place = add(t, gid, WF_WIRE_IS_FIRM);
	else if (t->at[place - 1].kind != WF_WIRE_IS_FIRM && make_room(t, WF_WIRE_IS_FIRM))
		move(t, place, WF_WIRE_IS_FIRM);
	if (place == 0 || t->at[place - 1].kind != WF_WIRE_IS_FIRM)
		return -ENOMEM;
	i = place - 1;
	if ((held->bits[i / 64] >> i % 64 & 1) == 0) {
		held->bits[i / 64] |= UINT64_C(1) << i % 64;
		held->n++;
		t->at[i].holders++;
	}
	assert(t->at[i].holders > 0 && held->n <= WF_WIRE_FIRM);
	assert_remotes(t);
	*number_p = number_of(t, place);
	return 0;
}

void wf_wire_remotes_release(struct wf_wire_remotes *t, struct wf_wire_held *held)
{
	for (uint32_t i = 0; i < WF_LIVE_REMOTES && held->n != 0; i++) {
		struct wf_wire_remote *r = &t->at[i];

		if ((held->bits[i / 64] >> i % 64 & 1) == 0)
			continue;
		held->bits[i / 64] &= ~(UINT64_C(1) << i % 64);
		held->n--;
		assert(r->kind == WF_WIRE_IS_FIRM && r->holders > 0);
		if (--r->holders != 0)
			continue;
		(void)make_room(t, WF_WIRE_IS_ANSWERED);
		move(t, i + 1, WF_WIRE_IS_ANSWERED);
	}
	assert(held->n == 0);
	assert_remotes(t);
}

void wf_wire_remotes_check(const struct wf_wire_remotes *t)
{
	uint32_t n[WF_WIRE_KINDS] = { 0 }, chained = 0, listed;

	assert_remotes(t);
	for (uint32_t i = 0; i < t->used; i++) {
		const struct wf_wire_remote *r = &t->at[i];

		n[r->kind]++;
		assert((r->kind == WF_WIRE_IS_FIRM) == (r->holders != 0));
		assert(r->kind == WF_WIRE_IS_FREE || find(t, r->gid) == i + 1);
	}
	for (uint32_t i = 0; i < WF_LIVE_REMOTES; i++) {
		for (uint32_t at = t->bucket[i]; at != 0; at = t->at[at - 1].chain)
			chained++;
	}
	assert(chained == t->used - t->n[WF_WIRE_IS_FREE]);
	for (unsigned kind = 0; kind < WF_WIRE_KINDS; kind++) {
		assert(n[kind] == t->n[kind]);
		listed = 0;
		for (uint32_t at = t->order[kind].oldest; at != 0; at = t->at[at - 1].newer) {
			assert(t->at[at - 1].kind == kind);
			listed++;
		}
		assert(listed == (is_ordered(kind) ? n[kind] : 0));
	}
	(void)chained;
	(void)listed;
	(void)n;
}
