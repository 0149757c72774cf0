/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notes_priv.h - what the rules of the notes share.
 */
#ifndef WF_RUN_NOTES_PRIV_H
#define WF_RUN_NOTES_PRIV_H

#include "text/human.h"
#include "run/run.h"
#include "sim/look/state.h"

struct wf_note_ctx {
	const struct wf_scenario *scenario;
	const struct wf_sim *sim;
	struct wf_run *run;
	const char *rule; /* whose turn it is */
};

/* Adds a note of the rule whose turn it is. */
void wf_note_say(struct wf_note_ctx *c, const char *fmt, ...) WF_PRINTF(2, 3);

/* The name of a node, and the node at the other end of a port. */
const char *wf_note_name(const struct wf_note_ctx *c, uint32_t node);
const struct wf_topo_node *wf_note_peer(const struct wf_note_ctx *c, uint32_t node, unsigned port);

/* How long traffic ran. */
wf_time wf_note_span(const struct wf_note_ctx *c);

/* notes_deadlock.c: what stands still */
void wf_note_deadlock(struct wf_note_ctx *c);
void wf_note_standstill(struct wf_note_ctx *c);

/* notes_links.c: what links lost */
void wf_note_link_errors(struct wf_note_ctx *c);
void wf_note_fec_margin(struct wf_note_ctx *c);
void wf_note_link_retries(struct wf_note_ctx *c);
void wf_note_link_down(struct wf_note_ctx *c);

/* notes_watchdog.c: what PFC watchdogs did */
void wf_note_watchdog(struct wf_note_ctx *c);

/* notes_hosts.c: hosts that take in too little */
void wf_note_slow_receiver(struct wf_note_ctx *c);

/* Whether that speaks. */
bool wf_note_is_slow_receiver(const struct wf_note_ctx *c);

/* A lossless class lost most at a host: says so if the adapter is set to drop; returns whether. */
bool wf_note_drops_at_host(struct wf_note_ctx *c, const struct wf_run_port *p, uint64_t drops);

/* notes_sm.c: what a subnet manager does not do */
void wf_note_no_groups(struct wf_note_ctx *c);

/* notes_sharp.c: who asked for reduction in switches in vain */
void wf_note_sharp_fallback(struct wf_note_ctx *c);
void wf_note_sharp_lost(struct wf_note_ctx *c);

/* notes_spread.c: rules that look at several ports together */
void wf_note_pauses_spread(struct wf_note_ctx *c);
void wf_note_path_collision(struct wf_note_ctx *c);
void wf_note_cc_collapse(struct wf_note_ctx *c);

#endif
