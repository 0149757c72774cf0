/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence.h - what was counted, by whom, and where that is said: one form for all sources.
 *
 * A device has ports, a port has counters, some of them by queue (a priority, queue or virtual
 * lane). There are one or two snapshots; with two, what counts is the difference. A sample knows
 * its place in a file. What is connected to what is known where a source says so.
 *
 *	wf_evidence_create ── readers (read.h): device, port, put, link … ── finish ── questions
 */
#ifndef WF_EVIDENCE_EVIDENCE_H
#define WF_EVIDENCE_EVIDENCE_H

#include "base/mem.h"
#include "evidence/counter.h"

#define WF_EV_NONE UINT32_MAX
#define WF_EV_NO_QUEUE (-1)

enum wf_ev_kind { WF_EV_ANY, WF_EV_HOST, WF_EV_SWITCH };

struct wf_ev_device {
	const char *name;
	const char *title;              /* what it is called besides, where name is a GUID; NULL */
	enum wf_ev_kind kind;           /* WF_EV_ANY: not known */
	uint32_t first_port, last_port; /* one after the other by their next; WF_EV_NONE: none */
	uint32_t n_ports;
	uint32_t tier; /* of a switch: 1 is next to hosts; 0: not known */
};

struct wf_ev_port {
	uint32_t device;
	uint32_t next;       /* of the device; WF_EV_NONE: the last */
	uint32_t peer;       /* the port at the other end; WF_EV_NONE: not known */
	uint32_t first, end; /* its samples, once finished */
	const char *name;
	uint64_t rate; /* bit/s; 0: not known */
};

struct wf_ev_sample {
	uint32_t port;
	int16_t queue; /* WF_EV_NO_QUEUE: of the whole port */
	uint16_t counter;
	uint32_t file; /* WF_EV_NONE: no file */
	uint32_t line;
	uint8_t when; /* 0, or 1 in the later of two snapshots */
	bool full;    /* the tool's counter has stopped: it was this, or more */
	uint64_t value;
};

struct wf_evidence {
	struct wf_mem *mem;
	struct wf_ev_device *devices;
	struct wf_ev_port *ports;
	struct wf_ev_sample *samples;
	const char **files;
	uint32_t n_devices, n_ports, n_samples, n_files;
	bool whole;       /* what is not there is 0, not unknown */
	bool later;       /* there is a second snapshot */
	wf_time interval; /* between the two, or of the run; 0: not known */
	uint32_t max_devices, max_ports, max_samples, max_files, *table, table_size; /* private */
};

/* Without anything. On success *ev_p is owned by the caller. Returns 0 or -ENOMEM. */
int wf_evidence_create(struct wf_mem *mem, struct wf_evidence **ev_p) WF_MUST_USE;

/* Frees it. NULL is allowed. */
void wf_evidence_destroy(struct wf_evidence *ev);

/* The number of a file, a device or a device's port; made if it is not there. 0 or -ENOMEM. */
int wf_evidence_file(struct wf_evidence *ev, const char *name, uint32_t *id_p) WF_MUST_USE;
int wf_evidence_device(struct wf_evidence *ev, const char *name, size_t len,
                       uint32_t *id_p) WF_MUST_USE;
int wf_evidence_port(struct wf_evidence *ev, uint32_t device, const char *name, size_t len,
                     uint32_t *id_p) WF_MUST_USE;

/* What a device is called besides. The first that is told stays. Returns 0 or -ENOMEM. */
int wf_evidence_title(struct wf_evidence *ev, uint32_t device, const char *title,
                      size_t len) WF_MUST_USE;

/* The device of that name, or a device's port; WF_EV_NONE: there is none. */
uint32_t wf_evidence_find_device(const struct wf_evidence *ev, const char *name, size_t len);
uint32_t wf_evidence_find_port(const struct wf_evidence *ev, uint32_t device, const char *name,
                               size_t len);

/* Adds a sample. Returns 0 or -ENOMEM. */
int wf_evidence_put(struct wf_evidence *ev, const struct wf_ev_sample *sample) WF_MUST_USE;

/* Connects two ports. What is connected elsewhere already stays so. */
void wf_evidence_link(struct wf_evidence *ev, uint32_t a, uint32_t b);

/*
 * Brings samples in order. Of several of one counter in one snapshot the largest stays, which is
 * the latest. Kinds of devices that no source tells are told from what they have. Returns 0 or
 * -ENOMEM.
 */
int wf_evidence_finish(struct wf_evidence *ev) WF_MUST_USE;

/* ---- questions, of what is finished ---- */

/*
 * How much a counter of a queue grew, or is where there is one snapshot; NULL where nobody says.
 * value_p may be NULL. The sample that is returned is the later's.
 */
const struct wf_ev_sample *wf_evidence_get(const struct wf_evidence *ev, uint32_t port, int queue,
                                           enum wf_ev_counter counter, uint64_t *value_p);

/*
 * The same of a whole port: what it says of itself or, where it does not, the sum over its queues
 * (of gauges the largest). false: nobody says anything.
 */
bool wf_evidence_sum(const struct wf_evidence *ev, uint32_t port, enum wf_ev_counter counter,
                     uint64_t *value_p);

/* And of all ports of a device. */
bool wf_evidence_total(const struct wf_evidence *ev, uint32_t device, enum wf_ev_counter counter,
                       uint64_t *value_p);

/* Of what a sample grew since the snapshot before it. */
uint64_t wf_evidence_growth(const struct wf_evidence *ev, const struct wf_ev_sample *sample);

#endif
