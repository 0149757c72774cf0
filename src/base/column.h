/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column.h - where a counter is shown: a column of a table for people, a metric of Prometheus'. The
 * rows of counters' tables (rdma/counter.h, fabric/counter.h, live/stats.h) are made of them.
 */
#ifndef WF_BASE_COLUMN_H
#define WF_BASE_COLUMN_H

#include <stdint.h>

/* A column of a table. What several counters have in the same place is added up. */
struct wf_column {
	uint8_t at; /* its place, from 1; 0: none */
	uint8_t width;
	const char *title;
};

/* A family of metrics. What several counters of a host have under the same name is added up. */
struct wf_prom_family {
	const char *name; /* NULL: none */
	const char *help; /* NULL: the counter's own */
};

#endif
