/* SPDX-License-Identifier: Apache-2.0 */
/*
 * incident.c - keeping note of what happens.
 */
#include "fabric/incident.h"

#include "fabric/fabric.h"

/* A chunk with room, or NULL when there is no more memory. */
static struct wf_incident_chunk *room(struct wf_fabric_shard *shard)
{
	struct wf_incident_chunk *chunk = shard->last_incident;

	if (chunk != NULL && chunk->n < WF_INCIDENT_CHUNK)
		return chunk;
	chunk = shard->free_incidents;
	if (chunk != NULL)
		shard->free_incidents = chunk->next;
	else
		chunk = wf_shard_alloc(shard->shard, sizeof(*chunk));
	if (chunk == NULL) {
		wf_shard_no_memory(shard->shard);
		return NULL;
	}
	chunk->next = NULL;
	chunk->n = 0;
	if (shard->last_incident == NULL)
		shard->first_incident = chunk;
	else
		shard->last_incident->next = chunk;
	shard->last_incident = chunk;
	return chunk;
}

/* Of which host an address is, where there is one. */
static uint32_t host_of(const struct wf_fabric *fabric, uint32_t address)
{
	return address == WF_INCIDENT_NONE ? address : wf_fabric_host(fabric, address);
}

void wf_incident_add(const struct wf_fabric *fabric, struct wf_fabric_shard *shard,
                     const struct wf_incident *note)
{
	struct wf_incident_chunk *chunk;

	if ((fabric->incidents >> note->kind & 1) == 0)
		return;
	chunk = room(shard);
	if (chunk == NULL)
		return;
	chunk->note[chunk->n] = *note;
	chunk->note[chunk->n].src = host_of(fabric, note->src);
	chunk->note[chunk->n++].dst = host_of(fabric, note->dst);
}

const char *wf_incident_name(enum wf_incident_kind kind)
{
	static const char *const name[] = {
		[WF_INCIDENT_PAUSE] = "pause",
		[WF_INCIDENT_DROP] = "drop",
		[WF_INCIDENT_RETRANSMIT] = "retransmit",
		[WF_INCIDENT_QP_ERROR] = "qp_error",
		[WF_INCIDENT_LINK_DOWN] = "link_down",
		[WF_INCIDENT_LINK_UP] = "link_up",
		[WF_INCIDENT_WATCHDOG] = "watchdog",
		[WF_INCIDENT_RESTORED] = "watchdog_restored",
		[WF_INCIDENT_DEADLOCK] = "deadlock",
	};

	_Static_assert(WF_ARRAY_SIZE(name) == WF_INCIDENTS, "name every kind");
	return (unsigned)kind < WF_INCIDENTS ? name[kind] : "?";
}
