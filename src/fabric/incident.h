/* SPDX-License-Identifier: Apache-2.0 */
/*
 * incident.h - what happened where and when, for those who want to know: one record an event.
 *
 * Devices write notes on the thread of their shard, each shard into its own chunks; whoever drives
 * the simulation takes them between windows. All of what is noted is rare: pauses, losses, errors.
 */
#ifndef WF_FABRIC_INCIDENT_H
#define WF_FABRIC_INCIDENT_H

#include "base/base.h"

enum wf_incident_kind {
	WF_INCIDENT_PAUSE,      /* a queue of a port was stopped by PFC, for dur */
	WF_INCIDENT_DROP,       /* why: enum wf_drop */
	WF_INCIDENT_RETRANSMIT, /* a request packet is sent again */
	WF_INCIDENT_QP_ERROR,   /* why: the transport's completion status, or 0 */
	WF_INCIDENT_LINK_DOWN,
	WF_INCIDENT_LINK_UP,
	WF_INCIDENT_WATCHDOG, /* it acted; why: enum wf_watchdog_action, or WF_INCIDENT_MUTE */
	WF_INCIDENT_RESTORED, /* and no longer does, after dur; why: the same */
	WF_INCIDENT_DEADLOCK, /* a queue was in a circle that none can leave, for dur */
	WF_INCIDENTS
};

/* why, of a deadlock's queue: bits. */
#define WF_INCIDENT_CLOSED 1 /* it stopped last, and closed the circle */
#define WF_INCIDENT_VALLEY 2 /* by it goes on what came down from a higher tier, and up again */

#define WF_INCIDENT_NONE UINT32_MAX /* no host */
#define WF_INCIDENT_NO_QUEUE UINT8_MAX
#define WF_INCIDENT_MUTE UINT8_MAX /* why: an adapter that sends no more pauses */

struct wf_incident {
	wf_time at, dur;
	uint32_t node;
	uint32_t src, dst; /* hosts, or WF_INCIDENT_NONE */
	uint16_t port;
	uint8_t queue; /* index, not priority; or WF_INCIDENT_NO_QUEUE */
	uint8_t kind;  /* enum wf_incident_kind */
	uint8_t why;
};

#define WF_INCIDENT_CHUNK 102

struct wf_incident_chunk {
	struct wf_incident_chunk *next;
	uint32_t n;
	struct wf_incident note[WF_INCIDENT_CHUNK];
};

struct wf_fabric;
struct wf_fabric_shard;

/* Adds a note to a shard's, if its kind is wanted (wf_fabric.incidents). */
void wf_incident_add(const struct wf_fabric *fabric, struct wf_fabric_shard *shard,
                     const struct wf_incident *note);

/*
 * "pause", "drop", "retransmit", "qp_error", "link_down", "link_up", "watchdog",
 * "watchdog_restored", "deadlock".
 */
const char *wf_incident_name(enum wf_incident_kind kind);

#endif
