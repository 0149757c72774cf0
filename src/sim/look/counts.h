/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counts.h - what ports have counted, and the table that says what each of it is.
 *
 * Whoever shows counters, adds them up or writes them walks the table (fabric/counter.h has its
 * rows); nobody else lists them.
 */
#ifndef WF_SIM_LOOK_COUNTS_H
#define WF_SIM_LOOK_COUNTS_H

#include <string.h>

#include "base/base.h"
#include "fabric/counter.h"

struct wf_sim;

#define WF_COUNTS_FIELD(field, ...) uint64_t field;

/*
 * Counters of one queue of one port, of a port, or of one queue (class or VL) over the whole
 * fabric. What is of whole ports is 0 in those of queues.
 */
struct wf_sim_counts {
	WF_PORT_COUNTERS(WF_COUNTS_FIELD, WF_COUNTS_FIELD)
};

#define WF_PORT_COUNTERS_N (sizeof(struct wf_sim_counts) / sizeof(uint64_t))

/* A row for each field, in the order of the fields. */
extern const struct wf_port_counter wf_port_counters[WF_PORT_COUNTERS_N];

/* "counter", "gauge" or "maximum". */
const char *wf_counter_kind_name(enum wf_counter_kind kind);

/* Whether a fabric with that flow control (fabric.flowctl) can have what is counted. */
bool wf_counter_is_of(enum wf_counter_of of, const char *flowctl);

/* What a row says is so much. */
static inline uint64_t wf_counts_get(const struct wf_sim_counts *counts,
                                     const struct wf_port_counter *row)
{
	uint64_t v;

	memcpy(&v, (const char *)counts + row->offset, sizeof(v));
	return v;
}

/* What two of what a row says come to, of several queues or ports. */
static inline uint64_t wf_counts_sum(const struct wf_port_counter *row, uint64_t a, uint64_t b)
{
	return row->kind == WF_MAXIMUM ? wf_max_u64(a, b) : a + b;
}

/* Adds up counters of several queues or ports; of what is largest the larger stays. */
void wf_counts_add(struct wf_sim_counts *sum, const struct wf_sim_counts *counts);

/* Counters of one port of a node, per queue; false when there is no such port. */
bool wf_sim_port_counts(const struct wf_sim *sim, uint32_t node, unsigned port, unsigned queue,
                        struct wf_sim_counts *counts);

/* What is counted of a port that there is as a whole, and of no queue; rx_packets is left out. */
void wf_sim_port_whole(const struct wf_sim *sim, uint32_t node, unsigned port,
                       struct wf_sim_counts *counts);

/* Those of a port that there is: its queues together, and what is of the whole port. */
void wf_sim_port_total(const struct wf_sim *sim, uint32_t node, unsigned port,
                       struct wf_sim_counts *counts);

/* A table for people: where its columns are in a row of wf_port_counters. */
#define WF_COUNTS_PORTS offsetof(struct wf_port_counter, ports)
#define WF_COUNTS_STATUS offsetof(struct wf_port_counter, status)

struct wf_counts_cell {
	const char *title, *unit;
	int width;
	uint64_t value;
};

/*
 * The cell of the column at place at, from 1; counts may be NULL for the title alone. False: there
 * are no more.
 */
bool wf_counts_cell(const struct wf_sim_counts *counts, size_t table, unsigned at,
                    struct wf_counts_cell *cell);

#endif
