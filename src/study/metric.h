/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metric.h - the figures that fabrics are compared by: one table, for every way to show them.
 */
#ifndef WF_STUDY_METRIC_H
#define WF_STUDY_METRIC_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

enum wf_metric {
	WF_METRIC_SWITCHES,     /* of the fabric's network (scenario/bill.h) */
	WF_METRIC_SWITCH_PORTS, /* of one of them */
	WF_METRIC_TIERS,
	WF_METRIC_OPTICS,      /* transceivers */
	WF_METRIC_POWER,       /* of switches and transceivers */
	WF_METRIC_COST,        /* public price of switches, transceivers and cables, the middle */
	WF_METRIC_LATENCY,     /* RDMA write of 8 bytes, between the hosts farthest apart */
	WF_METRIC_COLL_SMALL,  /* the collective of compare.collective at its smallest size */
	WF_METRIC_COLL_MIDDLE, /* at 32 KiB, or the size next below */
	WF_METRIC_COLL_LARGE,  /* at its largest */
	WF_METRIC_BUSBW_LARGE, /* its bus bandwidth there */
	WF_METRIC_JOB_TIME,    /* the job, from its begin to the last rank's end */
	WF_METRIC_STEP_TIME,   /* a training step */
	WF_METRIC_EXPOSED,     /* of it: communication that nothing hides */
	WF_METRIC_MFU,         /* model FLOPs utilisation, of 1 */
	WF_METRIC_MSG_P50,     /* latency of the job's messages over the fabric */
	WF_METRIC_MSG_P99,
	WF_METRIC_MSG_P999,
	WF_METRIC_STORAGE_TIME,     /* from a checkpoint's (restore's) start to its last byte */
	WF_METRIC_STORAGE_READ_P99, /* latency of storage's I/Os */
	WF_METRIC_STORAGE_WRITE_P99,
	WF_METRIC_STORAGE_FAILED, /* I/Os */
	WF_METRIC_PAUSES,         /* PFC pause frames */
	WF_METRIC_PAUSED_TIME,    /* time queues were paused, all added up */
	WF_METRIC_ECN_MARKS,
	WF_METRIC_CNPS,
	WF_METRIC_CREDIT_WAITS,
	WF_METRIC_CREDIT_TIME,
	WF_METRIC_LOSSLESS_DROPS, /* by congestion, in classes that promise not to */
	WF_METRIC_DROPS,          /* by congestion, in all */
	WF_METRIC_LINK_ERRORS,    /* packets lost to errors on links */
	WF_METRIC_LINK_DOWN,      /* packets lost to links that were down */
	WF_METRIC_RESENT,         /* packets sent again */
	WF_METRICS
};

enum wf_metric_unit {
	WF_UNIT_TIME, /* ps */
	WF_UNIT_BYTES_S,
	WF_UNIT_SHARE, /* of 1 */
	WF_UNIT_COUNT,
	WF_UNIT_WATTS,
	WF_UNIT_DOLLARS
};

struct wf_metric_row {
	const char *key;  /* in JSON and in results files */
	const char *name; /* in tables */
	enum wf_metric_unit unit;
	int better; /* -1: less is better; 1: more; 0: it explains, it does not decide */
};

extern const struct wf_metric_row wf_metric_rows[WF_METRICS];

/* Values of one fabric; NAN: it has none. */
struct wf_metrics {
	double value[WF_METRICS];
};

static inline bool wf_metric_has(const struct wf_metrics *m, enum wf_metric which)
{
	return !isnan(m->value[which]);
}

/* All none. */
void wf_metrics_init(struct wf_metrics *m);

/* Writes a value as people read it, "-" for none. */
void wf_metric_format(enum wf_metric which, double value, char *buf, size_t size);

/* "ps", "bytes/s", "W", "USD", or "" for shares and counts: as results files call the unit. */
const char *wf_metric_unit_name(enum wf_metric_unit unit);

#endif
