/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvmf.c - what hosts and targets do with commands, whatever carries them.
 *
 * A place in a queue's table of commands, at the host:
 *
 *	free --begin()--> under way --wf_nvmf_sent(), wf_nvmf_response_came()--> free
 *
 * and, while it is under way, at the target:
 *
 *	--wf_nvmf_command_came()--> [fetching --wf_nvmf_data_came()-->] at a drive --> replied
 *
 * A target keeps what is at its drives, and data that is not in its memory yet, in a heap by time.
 */
#include "sim/storage/nvmf.h"

#include "base/rng.h"

/* ---- the host ---- */

static struct wf_storage_result *counts_of(const struct wf_nvmf_queue *q)
{
	const struct wf_nvmf_host *h = q->host.at;

	return &h->shard->entry[q->entry - h->storage->entry];
}

/* What holds between any two events. */
static void assert_queue(const struct wf_nvmf_queue *q)
{
	assert(q->host.out <= q->depth);
	assert(!q->host.over || q->host.out == 0);
	assert(!q->host.failed || q->host.over);
	(void)q;
}

/* Whether there is a next I/O on the queue, and what it is about. */
static bool next_io(const struct wf_nvmf_queue *q, wf_time now, struct wf_nvmf_command *c)
{
	const struct wf_storage_cfg *cfg = &q->entry->cfg;
	uint64_t n = q->host.next, bits = wf_rand64(q->host.key, n), at;

	c->bytes = (uint32_t)cfg->block;
	/* Every queue begins somewhere else, so that not all are at the same drives. */
	c->block = (q->host.key >> 1) + n;
	switch (q->kind) {
	case WF_STORAGE_RANDOM:
		c->block = bits >> 16;
		/* fall through */
	case WF_STORAGE_SEQUENTIAL:
		c->write = (bits & 0xffff) >= cfg->read;
		return now - cfg->start < cfg->duration;
	case WF_STORAGE_CHECKPOINT:
	case WF_STORAGE_RESTORE:
		/* The blocks of a host take turns over its queues. */
		at = (q->host.share + n * q->host.all) * cfg->block;
		if (at >= cfg->bytes)
			return false;
		c->bytes = (uint32_t)wf_min_u64(cfg->block, cfg->bytes - at);
		c->write = q->kind == WF_STORAGE_CHECKPOINT;
		return true;
	case WF_STORAGE_KINDS:
		break;
	}
	assert(0);
	return false;
}

/* Begins an I/O at a free place, if there is one to begin. */
static bool begin(struct wf_nvmf_queue *q, uint32_t id, wf_time now)
{
	struct wf_nvmf_command *c = &q->command[id];
	struct wf_storage_result *counts = counts_of(q);

	if (!next_io(q, now, c))
		return false;
	c->begin = now;
	c->waits = q->transport->waits;
	c->asked = false;
	q->host.next++;
	q->host.out++;
	counts->begin = wf_min_time(counts->begin, now);
	wf_nvmf_put(q, &q->sent, id);
	q->transport->command(q, id, now);
	return true;
}

static void end_queue(struct wf_nvmf_queue *q)
{
	q->host.over = true;
	q->host.at->shard->over++;
}

static void fill(struct wf_nvmf_queue *q, wf_time now)
{
	uint32_t id = 0;

	while (id < q->depth && begin(q, id, now))
		id++;
	if (q->host.out == 0)
		end_queue(q);
	assert_queue(q);
}

/* What a command waits for has come; after the last of it its place takes the next. */
static void came(struct wf_nvmf_queue *q, uint32_t id, wf_time now)
{
	struct wf_nvmf_command *c = &q->command[id];
	struct wf_storage_result *counts = counts_of(q);

	if (q->host.failed || --c->waits > 0)
		return;
	counts->ios[c->write]++;
	counts->bytes[c->write] += c->bytes;
	wf_hist_add(&counts->latency[c->write], (uint64_t)(now - c->begin));
	counts->device += (uint64_t)c->device;
	counts->end = wf_max_time(counts->end, now);
	q->host.out--;
	if (!begin(q, id, now) && q->host.out == 0)
		end_queue(q);
	assert_queue(q);
}

void wf_nvmf_sent(struct wf_nvmf_queue *q, uint32_t id, wf_time now)
{
	came(q, id, now);
}

void wf_nvmf_response_came(struct wf_nvmf_queue *q, uint32_t id, wf_time now)
{
	came(q, id, now);
}

void wf_nvmf_host_failed(struct wf_nvmf_queue *q)
{
	if (q->host.failed)
		return;
	q->host.failed = true;
	counts_of(q)->failed += q->host.out;
	q->host.out = 0;
	if (!q->host.over)
		end_queue(q);
}

/* ---- the target's heap ---- */

static bool before(const struct wf_nvmf_event *a, const struct wf_nvmf_event *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void push(struct wf_nvmf_queue *q, uint32_t id, bool data, wf_time at)
{
	struct wf_nvmf_host *h = q->target.at;
	const struct wf_nvmf_event e = {
		.at = at, .order = h->order++, .q = q, .id = (uint16_t)id, .data = data
	};
	uint32_t i = h->n_events++;

	assert(h->n_events <= h->depths[1]);
	while (i > 0 && before(&e, &h->event[(i - 1) / 2])) {
		h->event[i] = h->event[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	h->event[i] = e;
}

static struct wf_nvmf_event pop(struct wf_nvmf_host *h)
{
	struct wf_nvmf_event first = h->event[0], last = h->event[--h->n_events];
	uint32_t i = 0, child;

	while ((child = 2 * i + 1) < h->n_events) {
		if (child + 1 < h->n_events && before(&h->event[child + 1], &h->event[child]))
			child++;
		if (!before(&h->event[child], &last))
			break;
		h->event[i] = h->event[child];
		i = child;
	}
	h->event[i] = last;
	return first;
}

/* ---- the target ---- */

/* The target's software, then the drive. */
static void give_drive(struct wf_nvmf_queue *q, uint32_t id, wf_time now)
{
	struct wf_nvmf_host *h = q->target.at;
	const struct wf_drive_cfg *cfg = &wf_adapter_device(h->adapter)->setup->cfg.drive;
	struct wf_nvmf_command *c = &q->command[id];
	wf_time given = now + cfg->software;
	wf_time done = wf_drives_command(&h->drives, cfg, c->block, c->bytes, c->write, given);

	c->device = done - given;
	push(q, id, false, done);
}

void wf_nvmf_command_came(struct wf_nvmf_queue *q, uint32_t id, wf_time now)
{
	struct wf_nvmf_command *c = &q->command[id];

	if (q->target.failed)
		return;
	if (c->write && !wf_nvmf_in_capsule(q, c)) {
		c->stage = WF_NVMF_FETCH;
		q->transport->fetch(q, id, now);
	} else {
		give_drive(q, id, now);
	}
}

void wf_nvmf_data_came(struct wf_nvmf_queue *q, uint32_t id, wf_time at)
{
	if (!q->target.failed)
		push(q, id, true, at);
}

void wf_nvmf_target_failed(struct wf_nvmf_queue *q)
{
	if (q->target.failed)
		return;
	q->target.failed = true;
	q->target.at->shard->failed_targets++;
}

static void due(const struct wf_nvmf_event *e, wf_time now)
{
	if (e->q->target.failed)
		return;
	if (e->data) {
		give_drive(e->q, e->id, now);
		return;
	}
	e->q->command[e->id].stage = WF_NVMF_REPLY;
	e->q->transport->reply(e->q, e->id, now);
}

/* ---- both ---- */

void wf_nvmf_host_run(struct wf_nvmf_host *h, wf_time now)
{
	wf_time next = WF_TIME_NEVER;

	while (h->next < h->n_queues && h->queue[h->next]->entry->cfg.start <= now)
		fill(h->queue[h->next++], now);
	while (h->n_events > 0 && h->event[0].at <= now) {
		struct wf_nvmf_event e = pop(h);

		due(&e, now);
	}
	if (h->next < h->n_queues)
		next = h->queue[h->next]->entry->cfg.start;
	if (h->n_events > 0)
		next = wf_min_time(next, h->event[0].at);
	if (next != WF_TIME_NEVER)
		wf_adapter_call_at(h->adapter, next);
}
