/* SPDX-License-Identifier: Apache-2.0 */
/* read_priv.h - what the readers of evidence share. */
#ifndef WF_EVIDENCE_READ_PRIV_H
#define WF_EVIDENCE_READ_PRIV_H

#include "evidence/json_walk.h"
#include "evidence/read.h"
#include "subnet/scan.h"

#define WF_READ_TOLD 512 /* names that nobody knows, told of once */
#define WF_READ_TITLE 96
#define WF_READ_NAME 128

/* A text that is being read. */
struct wf_read {
	struct wf_evidence *ev;
	const struct wf_ev_source *source;
	struct wf_scan scan;
	uint32_t file;
	uint32_t device;           /* whose lines these are; WF_EV_NONE: nobody knows yet */
	char port[WF_READ_NAME];   /* of it; "": not known */
	char title[WF_READ_TITLE]; /* the line before a table */
	uint32_t told[WF_READ_TOLD];
	unsigned n_told;
};

/* A number: digits, perhaps with commas, or 1.5e9; all of the slice is one. */
bool wf_read_number(struct wf_slice text, uint64_t *value_p);

/* value times by, or the most that there is. */
uint64_t wf_read_times(uint64_t value, uint64_t by);

/* The device of the source, where the text has told of none. Returns 0 or -ENOMEM. */
int wf_read_device(struct wf_read *r, uint32_t *id_p);

/* A port of it by name. */
int wf_read_port(struct wf_read *r, struct wf_slice name, uint32_t *id_p);

/* Keeps what a counter of a port says, in the words of a tool. queue: where its name has none. */
int wf_read_put(struct wf_read *r, uint32_t port, int queue, const struct wf_ev_name *is,
                uint64_t value);

/* Tells of a name that nobody knows, once for each. */
void wf_read_unknown(struct wf_read *r, const char *kind, struct wf_slice name);

/* Whether a line is a prompt, perhaps with a command: "root@leaf1:~# ...". */
bool wf_read_is_prompt(struct wf_scan s);

/* Whether the line that the scan is at heads a table, and reads all of it. -EAGAIN: it does not. */
int wf_read_table(struct wf_read *r);

/* The whole of a text. */
int wf_read_json(struct wf_read *r, const char *text, size_t len);
int wf_read_csv(struct wf_read *r);

/* A line of Prometheus' text format. -EAGAIN: it is none. */
int wf_read_metric(struct wf_read *r);

#endif
