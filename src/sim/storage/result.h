/* SPDX-License-Identifier: Apache-2.0 */
/*
 * result.h - what storage came to, and the table of figures that are shown of it.
 */
#ifndef WF_SIM_STORAGE_RESULT_H
#define WF_SIM_STORAGE_RESULT_H

#include <stdbool.h>

#include "base/hist.h"

enum { WF_STORAGE_READ, WF_STORAGE_WRITE, WF_STORAGE_OPS };

/* Of an entry of a scenario's storage, or of all together. */
struct wf_storage_result {
	char name[24];     /* "" of all together */
	char kind[12];     /* the same */
	char transport[8]; /* "rdma" or "tcp"; "" of all together */
	uint32_t hosts, targets;
	uint32_t queues;                /* queue pairs of the hosts */
	uint64_t ios[WF_STORAGE_OPS];   /* done */
	uint64_t bytes[WF_STORAGE_OPS]; /* of them */
	uint64_t failed;                /* I/Os whose queue pair went into error; TCP has none */
	uint64_t open;                  /* neither done nor failed when the run ended */
	uint64_t wanted;                /* checkpoint, restore: bytes to be written or read */
	wf_time begin, end;             /* first I/O's beginning, or never; last one's end */
	wf_time longest; /* checkpoint, restore: end - begin; of several the longest */
	struct wf_hist latency[WF_STORAGE_OPS]; /* ps: from its command to its response */
	uint64_t device;                        /* ps of all latencies together: of the drives */
};

/* Nothing has been done. */
void wf_storage_result_init(struct wf_storage_result *r);

/* Adds b to a: as if one storage had done both. */
void wf_storage_result_add(struct wf_storage_result *a, const struct wf_storage_result *b);

/* A figure, in whole numbers of its unit, or as the ratio of two. */
struct wf_storage_figure {
	const char *name;  /* "read_latency_p99" */
	const char *title; /* in tables; NULL: not there */
	const char *key;   /* in JSON; NULL: it is there in other words */
	const char *unit;  /* "ps", "bit/s", "1/s", ""; as in results files */
	uint64_t (*get)(const struct wf_storage_result *r);
	uint64_t (*of)(const struct wf_storage_result *r); /* what it is a part of; NULL: nothing */
	bool (*has)(const struct wf_storage_result *r);    /* whether there is one */
};

#define WF_STORAGE_FIGURES 18
extern const struct wf_storage_figure wf_storage_figures[WF_STORAGE_FIGURES];

#endif
