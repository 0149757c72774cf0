/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults_live.h - faults of a fabric that runs: in the words of a scenario's `faults:`, added one
 * by one.
 *
 * What an entry leads to are events from now on. Settings are found anew for all devices, as a
 * fault may overlap others: their events replace those of before. Every entry lives in memory of
 * its own, so that one which is refused leaves nothing behind.
 */
#ifndef WF_SCENARIO_FAULTS_LIVE_H
#define WF_SCENARIO_FAULTS_LIVE_H

#include "scenario/scenario.h"
#include "sim/host/gated.h"

struct wf_faults_live {
	struct wf_scenario *s;
	struct wf_scenario_fabric *f;
	struct wf_faults_entry *entries; /* those that were added, the last first */
	struct wf_device_table devices;  /* as it began */
};

/* One entry, for people. */
struct wf_faults_line {
	const char *on;      /* a name, or of a link its ends: */
	const char *ends[2]; /* NULL: it has a name */
	const char *word;    /* "down"; "set" */
	wf_time at, until;   /* until: WF_PARAM_AUTO = for good */
	wf_time every, lasts;
	char settings[160]; /* of set: "nic.pcie=32Gbps, ..."; of slow-receiver: "rate=32Gbps" */
};

/* f is one of s's fabrics, which is built. Both are borrowed, and changed. */
void wf_faults_live_init(struct wf_faults_live *live, struct wf_scenario *s,
                         struct wf_scenario_fabric *f);
void wf_faults_live_fini(struct wf_faults_live *live);

/*
 * Adds an entry, as it would stand in a file, to what happens in sim; its times count from now.
 * Returns
 * 0, -ENOMEM, or -EINVAL with err filled, and then nothing has changed; name is that of the text in
 * messages.
 */
int wf_faults_live_add(struct wf_faults_live *live, struct wf_sim *sim, const char *text,
                       const char *name, struct wf_err *err) WF_MUST_USE;

/*
 * Mends what on names: its links and adapters work, and entries that are written for it end now.
 * "": all is as it was at the beginning, and nothing that was planned happens. Returns as above.
 */
int wf_faults_live_clear(struct wf_faults_live *live, struct wf_sim *sim, const char *on,
                         struct wf_err *err) WF_MUST_USE;

/* The i-th entry that is not over now; false: there is none. */
bool wf_faults_live_line(const struct wf_faults_live *live, unsigned i, wf_time now,
                         struct wf_faults_line *line);

#endif
