/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvlink.c - a GPU's NVLink: one queue out, one in.
 */
#include "job/nvlink.h"

#define FIRST_ROOM 8

static bool is_empty(const struct wf_nv_queue *q)
{
	return q->head == q->tail;
}

static struct wf_nv_message *first(const struct wf_nv_queue *q)
{
	return &q->ring[q->tail & (q->room - 1)];
}

static void put(struct wf_nv_port *p, struct wf_nv_queue *q, const struct wf_nv_message *m)
{
	if (q->head - q->tail == q->room) {
		uint32_t room = q->room == 0 ? FIRST_ROOM : 2 * q->room;
		struct wf_nv_message *ring = p->mem->alloc(p->mem, room * sizeof(*ring));

		if (ring == NULL) {
			p->no_memory = true;
			return;
		}
		for (uint32_t i = q->tail; i != q->head; i++)
			ring[i & (room - 1)] = q->ring[i & (q->room - 1)];
		p->mem->free(p->mem, q->ring);
		q->ring = ring;
		q->room = room;
	}
	q->ring[q->head++ & (q->room - 1)] = *m;
}

void wf_nv_init(struct wf_nv_port *p, const struct wf_nvlink *nvlink, const struct wf_nv_user *user,
                void *ctx, struct wf_mem *mem)
{
	*p = (struct wf_nv_port){ .user = user,
		                  .ctx = ctx,
		                  .mem = mem,
		                  .ps_q16 = wf_nv_ps_q16(nvlink->rate),
		                  .out_end = WF_TIME_NEVER };
}

void wf_nv_fini(struct wf_nv_port *p)
{
	if (p->mem == NULL)
		return;
	p->mem->free(p->mem, p->out.ring);
	p->mem->free(p->mem, p->in.ring);
}

/* The first of the queue leaves. */
static void begin(struct wf_nv_port *p, wf_time now)
{
	const struct wf_nv_message *m = first(&p->out);

	p->out_end = now + wf_nv_duration(p->ps_q16, m->bytes);
	p->user->leaves(p->ctx, m, now);
}

void wf_nv_send(struct wf_nv_port *p, const struct wf_nv_message *m, wf_time now)
{
	struct wf_nv_message mine = *m;

	mine.posted = now;
	put(p, &p->out, &mine);
	if (p->out_end == WF_TIME_NEVER && !is_empty(&p->out))
		begin(p, now);
}

void wf_nv_comes(struct wf_nv_port *p, const struct wf_nv_message *m, wf_time now)
{
	struct wf_nv_message mine = *m;

	p->in_end = wf_max_time(p->in_end, now) + wf_nv_duration(p->ps_q16, m->bytes);
	mine.at = p->in_end;
	put(p, &p->in, &mine);
}

void wf_nv_run(struct wf_nv_port *p, wf_time now)
{
	while (p->out_end <= now) {
		struct wf_nv_message m = *first(&p->out);

		p->out.tail++;
		p->out_end = WF_TIME_NEVER;
		if (!is_empty(&p->out))
			begin(p, now);
		p->user->left(p->ctx, &m, now);
	}
	while (!is_empty(&p->in) && first(&p->in)->at <= now) {
		struct wf_nv_message m = *first(&p->in);

		p->in.tail++;
		p->user->there(p->ctx, &m, now);
	}
}

wf_time wf_nv_due(const struct wf_nv_port *p)
{
	return is_empty(&p->in) ? p->out_end : wf_min_time(p->out_end, first(&p->in)->at);
}
