/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.h - what hosts and switches count, for Prometheus: text under the names that
 * node_exporter gives the same counters of real adapters, made piece by piece.
 */
#ifndef WF_LIVE_METRICS_H
#define WF_LIVE_METRICS_H

#include "live/daemon_priv.h"

/* How far the text is made; all 0: not begun. */
struct wf_metrics_at {
	uint32_t family; /* the one that comes next, and its line: 0 is what it is about */
	uint32_t line;
	uint32_t ports; /* of switches, once there is a line about them */
};

/*
 * Writes as many whole lines as fit into size bytes, from *at on. Returns how many bytes; 0: that
 * was all.
 */
size_t wf_metrics_write(struct wf_daemon *d, struct wf_metrics_at *at, char *text, size_t size);

#endif
