/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.c - requests: what waits, what is under way, what is sent again, and what is given up.
 *
 * A transaction ID is the number of a slot and of how often it was used, so an answer finds its
 * request at once, and one that comes too late finds none. All requests wait equally long, so the
 * slots are listed in the order of their deadlines by adding at the end.
 */
#include <errno.h>
#include <string.h>

#include "mgmt/route_dr.h"
#include "mgmt/sm/steps_priv.h"

#define TID_SLOT 0xffff
#define MORE_SLOTS 8 /* for asides */

int wf_sm_wire_init(struct wf_sm *sm)
{
	uint32_t n = sm->cfg.max_wire_smps > sm->cfg.max_wire_smps2 ? sm->cfg.max_wire_smps
	                                                            : sm->cfg.max_wire_smps2;

	sm->n_slots = n + MORE_SLOTS;
	sm->slots = sm->mem->alloc(sm->mem, sm->n_slots * sizeof(*sm->slots));
	sm->slot_asides = sm->mem->alloc(sm->mem, sm->n_slots * sizeof(*sm->slot_asides));
	if (sm->slots == NULL || sm->slot_asides == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < sm->n_slots; i++)
		sm->slots[i].next = i + 1 < sm->n_slots ? (uint16_t)(i + 1) : WF_SM_NO_SLOT;
	sm->free = 0;
	sm->first_due = WF_SM_NO_SLOT;
	sm->last_due = WF_SM_NO_SLOT;
	return 0;
}

void wf_sm_wire_fini(struct wf_sm *sm)
{
	sm->mem->free(sm->mem, sm->queue.at);
	sm->mem->free(sm->mem, sm->slot_asides);
	sm->mem->free(sm->mem, sm->slots);
}

/* ---- what waits ---- */

static int grow(struct wf_sm *sm)
{
	struct wf_sm_queue *q = &sm->queue;
	uint32_t size = q->size == 0 ? 256 : 2 * q->size;
	struct wf_sm_work *at = sm->mem->alloc(sm->mem, size * sizeof(*at));

	if (at == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < q->n; i++)
		at[i] = q->at[(q->head + i) & (q->size - 1)];
	sm->mem->free(sm->mem, q->at);
	q->at = at;
	q->size = size;
	q->head = 0;
	return 0;
}

void wf_sm_push(struct wf_sm *sm, enum wf_sm_kind kind, uint32_t node, unsigned port, unsigned arg)
{
	struct wf_sm_queue *q = &sm->queue;

	if (q->n == q->size && grow(sm) != 0) {
		sm->sweep.errors++;
		return;
	}
	q->at[(q->head + q->n++) & (q->size - 1)] = (struct wf_sm_work){
		.node = node,
		.arg = (uint16_t)arg,
		.port = (uint8_t)port,
		.kind = (uint8_t)kind,
	};
}

void wf_sm_push_aside(struct wf_sm *sm, const struct wf_sm_aside *aside)
{
	if (sm->n_asides < WF_SM_ASIDES)
		sm->asides[sm->n_asides++] = *aside;
}

uint8_t *wf_sm_reply(struct wf_sm *sm, const struct wf_sm_addr *to)
{
	struct wf_sm_reply *reply;

	if (sm->n_replies == WF_SM_REPLIES)
		return NULL;
	reply = &sm->replies[(sm->first_reply + sm->n_replies++) % WF_SM_REPLIES];
	reply->to = *to;
	memset(reply->mad, 0, sizeof(reply->mad));
	return reply->mad;
}

/* ---- slots ---- */

static void due_remove(struct wf_sm *sm, uint16_t i)
{
	struct wf_sm_slot *slot = &sm->slots[i];

	if (slot->prev == WF_SM_NO_SLOT)
		sm->first_due = slot->next;
	else
		sm->slots[slot->prev].next = slot->next;
	if (slot->next == WF_SM_NO_SLOT)
		sm->last_due = slot->prev;
	else
		sm->slots[slot->next].prev = slot->prev;
}

static void due_append(struct wf_sm *sm, uint16_t i)
{
	struct wf_sm_slot *slot = &sm->slots[i];

	slot->deadline = sm->now + sm->cfg.transaction_timeout;
	slot->next = WF_SM_NO_SLOT;
	slot->prev = sm->last_due;
	if (sm->last_due == WF_SM_NO_SLOT)
		sm->first_due = i;
	else
		sm->slots[sm->last_due].next = i;
	sm->last_due = i;
}

/* A slot that is sent when its turn comes, at the end of the list. */
static uint16_t slot_take(struct wf_sm *sm, const struct wf_sm_work *work, bool is_aside)
{
	uint16_t i = sm->free;
	struct wf_sm_slot *slot = &sm->slots[i];

	sm->free = slot->next;
	if (++sm->round == 0)
		sm->round = 1;
	*slot = (struct wf_sm_slot){
		.work = *work,
		.tid = (uint32_t)sm->round << 16 | i,
		.is_aside = is_aside,
	};
	if (is_aside)
		sm->asides_way++;
	else
		sm->under_way++;
	due_append(sm, i);
	return i;
}

static void slot_give(struct wf_sm *sm, uint16_t i)
{
	struct wf_sm_slot *slot = &sm->slots[i];

	due_remove(sm, i);
	if (slot->is_aside)
		sm->asides_way--;
	else
		sm->under_way--;
	sm->n_resend -= slot->resend;
	slot->resend = false;
	slot->tid = 0;
	slot->next = sm->free;
	sm->free = i;
	sm->last_room = sm->now;
}

void wf_sm_wire_drop(struct wf_sm *sm)
{
	sm->queue.n = 0;
	for (uint32_t i = 0; i < sm->n_slots; i++) {
		if (sm->slots[i].tid != 0 && !sm->slots[i].is_aside)
			slot_give(sm, (uint16_t)i);
	}
	assert(sm->under_way == 0);
}

/* ---- sending ---- */

/* Writes the request of a slot; false when there is no way to whom it is for. */
static bool write_request(struct wf_sm *sm, uint16_t i, uint8_t *mad)
{
	struct wf_sm_slot *slot = &sm->slots[i];
	const struct wf_sm_work *work = &slot->work;
	const struct wf_sm_kind_row *row = &wf_sm_kinds[work->kind];
	struct wf_mad head = {
		.base_version = WF_MAD_BASE_VERSION,
		.mgmt_class = WF_MAD_CLASS_SUBN_DR,
		.class_version = 1,
		.method = row->method,
		.tid = slot->tid,
		.attr_id = row->attr,
	};
	uint8_t path[WF_SM_PATH];
	int hops = 0;

	memset(mad, 0, WF_MAD_LEN);
	if (slot->is_aside) {
		hops = sm->slot_asides[i].hops;
		memcpy(path, sm->slot_asides[i].path, sizeof(path));
	} else if (work->node != WF_SUBNET_NONE) {
		hops = wf_sm_route_to(sm->cur, work->node, work->port, path);
		/* NodeInfo is asked of what is behind a port. */
		if (work->kind == WF_SM_GET_NODE_INFO && hops >= 0) {
			if (hops == WF_SM_PATH - 1)
				return false;
			path[++hops] = work->port;
		}
	}
	if (hops < 0)
		return false;
	if (slot->is_aside && sm->slot_asides[i].has_data)
		head.attr_mod = sm->slot_asides[i].mod;
	else if (row->mod != NULL)
		head.attr_mod = row->mod(sm, work);
	wf_mad_encode(&head, mad);
	wf_smp_encode(&(struct wf_smp){ .mkey = sm->m_key }, mad);
	wf_dr_request(mad, path, (unsigned)hops);
	if (slot->is_aside && sm->slot_asides[i].has_data)
		memcpy(mad + WF_SMP_DATA, sm->slot_asides[i].data, WF_SMP_DATA_LEN);
	else if (row->fill != NULL)
		row->fill(sm, work, mad + WF_SMP_DATA);
	return true;
}

/* The request was not answered, or badly. */
static void give_up(struct wf_sm *sm, uint16_t i, uint16_t status)
{
	struct wf_sm_work work = sm->slots[i].work;
	bool is_aside = sm->slots[i].is_aside;
	struct wf_sm_aside aside = sm->slot_asides[i];

	slot_give(sm, i);
	if (status == 0)
		sm->stats.count[work.kind].lost++;
	else
		sm->stats.count[work.kind].refused++;
	if (is_aside) {
		if (work.kind == WF_SM_GET_SM_INFO)
			wf_sm_polled(sm, &aside, NULL);
		return;
	}
	wf_sm_tell_error(sm, &work, status);
	if (sm->phase == WF_SM_PHASE_LIGHT)
		wf_sm_light_done(sm, &work, NULL);
	else if (wf_sm_kinds[work.kind].done != NULL)
		wf_sm_kinds[work.kind].done(sm, &work, NULL);
}

static bool tx_slot(struct wf_sm *sm, uint16_t i, struct wf_sm_addr *to, uint8_t *mad)
{
	struct wf_sm_slot *slot = &sm->slots[i];
	struct wf_sm_count *count = &sm->stats.count[slot->work.kind];

	if (!write_request(sm, i, mad))
		return false;
	if (slot->tries++ == 0)
		count->sent++;
	else
		count->again++;
	sm->act_count++;
	if (!slot->is_aside)
		sm->sweep.smps++;
	*to = (struct wf_sm_addr){ .lid = WF_LID_PERMISSIVE };
	return true;
}

/* Whether one more request of the sweep may be under way. */
static bool has_room(const struct wf_sm *sm)
{
	if (sm->queue.n == 0 || sm->free == WF_SM_NO_SLOT)
		return false;
	if (sm->under_way < sm->cfg.max_wire_smps)
		return true;
	return sm->under_way < sm->cfg.max_wire_smps2 &&
	       sm->now - sm->last_room >= sm->cfg.max_smps_timeout;
}

static bool tx_again(struct wf_sm *sm, struct wf_sm_addr *to, uint8_t *mad)
{
	for (uint16_t i = sm->first_due; i != WF_SM_NO_SLOT; i = sm->slots[i].next) {
		if (!sm->slots[i].resend)
			continue;
		sm->slots[i].resend = false;
		sm->n_resend--;
		return tx_slot(sm, i, to, mad);
	}
	return false;
}

bool wf_sm_tx(struct wf_sm *sm, struct wf_sm_addr *to, uint8_t *mad)
{
	if (sm->n_replies > 0) {
		const struct wf_sm_reply *reply = &sm->replies[sm->first_reply];

		*to = reply->to;
		memcpy(mad, reply->mad, WF_MAD_LEN);
		sm->first_reply = (sm->first_reply + 1) % WF_SM_REPLIES;
		sm->n_replies--;
		sm->act_count++;
		return true;
	}
	while (sm->n_resend > 0) {
		if (tx_again(sm, to, mad))
			return true;
	}
	while (sm->n_asides > 0 && sm->free != WF_SM_NO_SLOT) {
		uint16_t i = slot_take(sm, &sm->asides[0].work, true);

		sm->slot_asides[i] = sm->asides[0];
		sm->n_asides--;
		memmove(sm->asides, sm->asides + 1, sm->n_asides * sizeof(sm->asides[0]));
		if (tx_slot(sm, i, to, mad))
			return true;
	}
	while (has_room(sm)) {
		struct wf_sm_queue *q = &sm->queue;
		uint16_t i = slot_take(sm, &q->at[q->head], false);

		q->head = (q->head + 1) & (q->size - 1);
		q->n--;
		sm->last_room = sm->now;
		if (tx_slot(sm, i, to, mad))
			return true;
		/* There is no way: it ends with its deadline, as one that is not answered. */
	}
	return false;
}

/* ---- answers ---- */

bool wf_sm_answer(struct wf_sm *sm, const struct wf_mad *head, const uint8_t *mad)
{
	uint32_t tid = (uint32_t)head->tid;
	uint32_t i = tid & TID_SLOT;
	const struct wf_sm_kind_row *row;
	struct wf_sm_aside aside;
	struct wf_sm_work work;
	bool is_aside;

	if (i >= sm->n_slots || tid == 0 || sm->slots[i].tid != tid)
		return false;
	work = sm->slots[i].work;
	row = &wf_sm_kinds[work.kind];
	if (head->attr_id != row->attr || head->mgmt_class != WF_MAD_CLASS_SUBN_DR ||
	    head->method != WF_MAD_METHOD_GET_RESP)
		return false;
	if ((head->status & ~WF_SMP_DIRECTION) != 0) {
		give_up(sm, (uint16_t)i, (uint16_t)(head->status & ~WF_SMP_DIRECTION));
		return true;
	}
	is_aside = sm->slots[i].is_aside;
	aside = sm->slot_asides[i];
	slot_give(sm, (uint16_t)i);
	sm->stats.count[work.kind].answered++;
	if (is_aside && work.kind == WF_SM_GET_SM_INFO)
		wf_sm_polled(sm, &aside, mad + WF_SMP_DATA);
	else if (is_aside && work.kind == WF_SM_GET_NODE_DESCRIPTION)
		wf_sm_described(sm, &aside, mad + WF_SMP_DATA);
	else if (!is_aside && sm->phase == WF_SM_PHASE_LIGHT)
		wf_sm_light_done(sm, &work, mad + WF_SMP_DATA);
	else if (!is_aside && row->done != NULL)
		row->done(sm, &work, mad + WF_SMP_DATA);
	return true;
}

void wf_sm_time_out(struct wf_sm *sm)
{
	while (sm->first_due != WF_SM_NO_SLOT && sm->slots[sm->first_due].deadline <= sm->now) {
		uint16_t i = sm->first_due;
		struct wf_sm_slot *slot = &sm->slots[i];

		if (slot->tries == 0 || slot->tries > sm->cfg.transaction_retries) {
			give_up(sm, i, 0);
			continue;
		}
		due_remove(sm, i);
		due_append(sm, i);
		sm->n_resend += !slot->resend;
		slot->resend = true;
	}
}

wf_time wf_sm_wire_deadline(const struct wf_sm *sm)
{
	wf_time at =
		sm->first_due == WF_SM_NO_SLOT ? WF_TIME_NEVER : sm->slots[sm->first_due].deadline;

	if (sm->queue.n > 0 && sm->under_way >= sm->cfg.max_wire_smps &&
	    sm->under_way < sm->cfg.max_wire_smps2)
		at = wf_min_time(at, sm->last_room + sm->cfg.max_smps_timeout);
	return at;
}
