/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read.h - reads what operators' tools print of counters, as text in memory. What it is, is seen
 * from what stands in it; a text may have several of these after one another:
 *
 *	name: value	ethtool -S; name value; path:value, as grep prints files below /sys
 *	a number	one such file, whose path says what it is
 *	rdma statistic	link mlx5_0/1 name value name value ...
 *	tables		SONiC's show pfc counters, priority-group drop counters, watermarks,
 *			pfcwd stats, queue counters, queue wredcounters, interfaces counters
 *			(also fec-stats), interfaces status, lldp table
 *	JSON		COUNTERS_DB, also as redis-dump writes it; show queue counters --json
 *	Prometheus	node_exporter, rdma exporters, weft's own
 *	perfquery	of one port or many; ibqueryerrors
 *	db_csv		ibdiagnet2.db_csv: NODES, LINKS, PM_INFO, PM_DELTA
 *
 * What is not understood is left out, and the listener is told where it is. What cannot be right
 * (a table that breaks off, JSON that does not end) is an error with its place.
 */
#ifndef WF_EVIDENCE_READ_H
#define WF_EVIDENCE_READ_H

#include "base/err.h"
#include "evidence/evidence.h"
#include "subnet/read.h"

/* Where a text comes from. */
struct wf_ev_source {
	const char *file;   /* its path: for messages, and where it is below /sys */
	const char *device; /* whose it is, where the text does not say */
	unsigned when;      /* snapshot: 0, or 1 for the later of two */
};

/*
 * Reads a text into what is there already. ear may be NULL. Returns 0, -EINVAL with err filled, or
 * -ENOMEM.
 */
int wf_evidence_read(struct wf_evidence *ev, const char *text, size_t len,
                     const struct wf_ev_source *source, const struct wf_subnet_ear *ear,
                     struct wf_err *err) WF_MUST_USE;

#endif
