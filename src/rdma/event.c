/* SPDX-License-Identifier: Apache-2.0 */
/* event.c - the queue of asynchronous events. */
#include <assert.h>

#include "rdma/hca_priv.h"

/* The i-th event that waits, i < max_events. */
static struct wf_event *event_at(struct wf_hca *hca, uint32_t i)
{
	uint32_t at = hca->event_head + i;

	assert(i < hca->attr.max_events);
	return &hca->event[at >= hca->attr.max_events ? at - hca->attr.max_events : at];
}

void wf_event_add(struct wf_hca *hca, const struct wf_event *event)
{
	if (hca->events == hca->attr.max_events) {
		wf_hca_count(hca, WF_CTR_EVENTS_LOST);
		return;
	}
	*event_at(hca, hca->events) = *event;
	hca->events++;
}

static bool event_has_object(enum wf_event_type type)
{
	return type <= WF_EVENT_PATH_MIG_ERR || type == WF_EVENT_SRQ_ERR ||
	       type == WF_EVENT_SRQ_LIMIT_REACHED || type == WF_EVENT_QP_LAST_WQE_REACHED;
}

void wf_event_purge(struct wf_hca *hca, const void *object)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < hca->events; i++) {
		const struct wf_event *event = event_at(hca, i);

		if (event_has_object(event->type) && (const void *)event->qp == object)
			continue;
		*event_at(hca, kept++) = *event;
	}
	hca->events = kept;
}

bool wf_hca_next_event(struct wf_hca *hca, struct wf_event *event_p)
{
	if (hca->events == 0)
		return false;
	*event_p = *event_at(hca, 0);
	hca->events--;
	if (++hca->event_head == hca->attr.max_events)
		hca->event_head = 0;
	return true;
}

void wf_hca_port_event(struct wf_hca *hca, enum wf_event_type type)
{
	struct wf_event event = { .type = type, .port = 1 };

	assert(!event_has_object(type));
	wf_event_add(hca, &event);
}
