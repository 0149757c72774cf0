/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.h - what hosts count, for Prometheus: text over HTTP at a local TCP port, under the names
 * that node_exporter gives the same counters of real adapters.
 */
#ifndef WF_LIVE_METRICS_H
#define WF_LIVE_METRICS_H

#include "live/daemon_priv.h"

/* Listens. Returns 0 or -errno; wf_metrics_close() in any case. */
int wf_metrics_open(struct wf_daemon *d, uint32_t ipv4, uint16_t port) WF_MUST_USE;
void wf_metrics_close(struct wf_daemon *d);

/* Whether what, from epoll, is of the metrics; then it has been served. */
bool wf_metrics_serve(struct wf_daemon *d, const void *what);

#endif
