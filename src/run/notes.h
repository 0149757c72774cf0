/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notes.h - what a run's counters and its configuration say together, in words.
 *
 * Each rule is a function of one run; a note names what was seen, what it follows from, and what
 * would change it. Nothing is guessed: every number in a note is a parameter or a counter.
 */
#ifndef WF_RUN_NOTES_H
#define WF_RUN_NOTES_H

#include <stdbool.h>
#include <stddef.h>

#define WF_NOTE_TEXT 600
#define WF_NOTES_MAX 24
#define WF_NOTE_DEADLOCKS 3 /* that have a note of their own, in their order */

struct wf_note {
	const char *rule; /* "ecn-above-xoff" */
	char text[WF_NOTE_TEXT];
};

struct wf_notes {
	struct wf_note note[WF_NOTES_MAX];
	unsigned n;
};

/* One rule: its name, and when it speaks. */
struct wf_note_rule {
	const char *name;
	const char *help;
};

struct wf_scenario;
struct wf_sim;
struct wf_run;

/* Fills run->notes from the rest of run and the simulation, which has ended. */
void wf_notes_make(const struct wf_scenario *scenario, const struct wf_sim *sim,
                   struct wf_run *run);

struct wf_deadlock;

/* A line about the i-th queue of a deadlock of run: who waits there, for whom, and since when. */
void wf_note_deadlock_link(const struct wf_run *run, const struct wf_deadlock *d, unsigned i,
                           char *text, size_t size);

/* The i-th rule, false after the last. */
bool wf_notes_rule(size_t i, struct wf_note_rule *rule);

#endif
