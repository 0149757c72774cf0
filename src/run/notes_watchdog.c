/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notes_watchdog.c - the rule that says what PFC watchdogs did: what they drop is no congestion,
 * but a lossless class loses it all the same; and at which times they did it, where those are not
 * the real ones.
 */
#include <stdio.h>
#include <string.h>

#include "run/notes_priv.h"

/* What watchdogs of switches, or of adapters, did in all. */
struct deeds {
	unsigned queues, to_switches;
	uint64_t acted, restored, dropped, from_there;
	const struct wf_run_port *worst; /* that dropped most, else acted most */
};

static bool is_worse(const struct wf_sim_counts *a, const struct wf_sim_counts *b)
{
	if (a->drops_watchdog != b->drops_watchdog)
		return a->drops_watchdog > b->drops_watchdog;
	return a->watchdog_acted > b->watchdog_acted;
}

static void add_up(const struct wf_note_ctx *c, enum wf_topo_kind of, struct deeds *d)
{
	const struct wf_topo *topo = c->run->fabric->net->topo;

	for (size_t i = 0; i < c->run->n_ports; i++) {
		const struct wf_run_port *p = &c->run->ports[i];

		if (topo->nodes[p->node].kind != of || p->counts.watchdog_acted == 0)
			continue;
		d->queues++;
		d->to_switches += wf_note_peer(c, p->node, p->port)->kind == WF_TOPO_SWITCH;
		d->acted += p->counts.watchdog_acted;
		d->restored += p->counts.watchdog_restored;
		d->dropped += p->counts.drops_watchdog;
		d->from_there += p->counts.rx_watchdog;
		if (d->worst == NULL || is_worse(&p->counts, &d->worst->counts))
			d->worst = p;
	}
}

/* What the worst queue is, and for how long it was held: "class 3 of leaf1 to h5 (for 1 ms)". */
static void name_worst(const struct wf_note_ctx *c, const struct deeds *d,
                       struct wf_sim_watchdog *state, char *buf, size_t size)
{
	char held[WF_HUMAN];

	(void)wf_sim_watchdog(c->sim, d->worst->node, d->worst->port, d->worst->queue, state);
	wf_human_time((uint64_t)state->acted, held, sizeof(held));
	snprintf(buf, size, "class %u of %s to %s (for %s)",
	         c->run->result.queue_id[d->worst->queue], wf_note_name(c, d->worst->node),
	         wf_note_peer(c, d->worst->node, d->worst->port)->name, held);
}

/* What came of it. */
static void tell_effect(const struct deeds *d, enum wf_watchdog_action action, char *buf,
                        size_t size)
{
	char dropped[WF_HUMAN], there[WF_HUMAN];

	switch (action) {
	case WF_WATCHDOG_DROP:
		wf_human_count(d->dropped, dropped, sizeof(dropped));
		wf_human_count(d->from_there, there, sizeof(there));
		snprintf(buf, size,
		         "it, not congestion, dropped %s packets of lossless classes, %s of them "
		         "because they had come in by such a port",
		         dropped, there);
		break;
	case WF_WATCHDOG_FORWARD:
		snprintf(buf, size, "what was there was sent in spite of pauses");
		break;
	case WF_WATCHDOG_ALERT:
		snprintf(buf, size, "it only says so (watchdog.action: alert)");
		break;
	}
}

static void say_switches(struct wf_note_ctx *c, const struct deeds *d)
{
	char worst[200], effect[200], acted[WF_HUMAN], restored[WF_HUMAN], passed[120] = "";
	char queues[60] = "";
	struct wf_sim_watchdog state = { .action = WF_WATCHDOG_DROP };

	name_worst(c, d, &state, worst, sizeof(worst));
	tell_effect(d, state.action, effect, sizeof(effect));
	wf_human_count(d->acted, acted, sizeof(acted));
	wf_human_count(d->restored, restored, sizeof(restored));
	if (d->queues > 1)
		snprintf(queues, sizeof(queues), "%u queues, most on ", d->queues);
	if (d->to_switches > 0)
		snprintf(
			passed, sizeof(passed),
			"; %u of these queues lead%s to a switch, which only passed on that it was "
			"stopped itself",
			d->to_switches, d->to_switches == 1 ? "s" : "");
	wf_note_say(c, "the PFC watchdog (%s) acted %s time%s on %s%s, and restored %s: %s%s",
	            state.rules, acted, d->acted == 1 ? "" : "s", queues, worst, restored, effect,
	            passed);
}

static void say_adapters(struct wf_note_ctx *c, const struct deeds *d)
{
	struct wf_sim_watchdog state = { .acted = 0 };
	char worst[200];

	name_worst(c, d, &state, worst, sizeof(worst));
	wf_note_say(c,
	            "%u adapter%s sent pauses for too long and w%s made to send no more: %s by the "
	            "rules %s; what came in between was taken all the same",
	            d->queues, d->queues == 1 ? "" : "s", d->queues == 1 ? "as" : "ere", worst,
	            state.rules);
}

/* Some queue that has a watchdog; false: none has. */
static bool find_one(const struct wf_note_ctx *c, enum wf_topo_kind of,
                     struct wf_sim_watchdog *state)
{
	const struct wf_topo *topo = c->run->fabric->net->topo;

	for (uint32_t id = 0; id < topo->n_nodes; id++) {
		for (unsigned p = 0; topo->nodes[id].kind == of && p < topo->nodes[id].n_ports;
		     p++) {
			if (wf_sim_watchdog(c->sim, id, p, 0, state))
				return true;
		}
	}
	return false;
}

static void say_times(struct wf_note_ctx *c, enum wf_topo_kind of, bool acted)
{
	struct wf_sim_watchdog s;
	char poll[WF_HUMAN], detect[WF_HUMAN], restore[WF_HUMAN], again[WF_HUMAN], blind[200] = "";

	if (c->run->fabric->cfg.watchdog_speedup == 1 || !find_one(c, of, &s))
		return;
	wf_human_time((uint64_t)s.times.poll, poll, sizeof(poll));
	wf_human_time((uint64_t)s.times.detect, detect, sizeof(detect));
	wf_human_time((uint64_t)s.times.restore, restore, sizeof(restore));
	wf_human_time((uint64_t)s.repeat, again, sizeof(again));
	if (of == WF_TOPO_HOST) {
		wf_note_say(c, "times of adapters' watchdogs are at 1/%u of those of %s: %s%s",
		            (unsigned)c->run->fabric->cfg.watchdog_speedup, s.rules, detect,
		            acted ? "" : "; it did not come to that");
		return;
	}
	if (s.times.poll < s.repeat)
		snprintf(blind, sizeof(blind),
		         "; a pause is said again every %s (pfc.quanta), which polls do not see "
		         "each "
		         "time: take a smaller watchdog.speedup",
		         again);
	wf_note_say(
		c,
		"watchdog times are at 1/%u of those of %s: a poll every %s, detection after %s, "
		"restoration after %s%s%s",
		(unsigned)c->run->fabric->cfg.watchdog_speedup, s.rules, poll, detect, restore,
		acted ? "" : "; it did not act", blind);
}

void wf_note_watchdog(struct wf_note_ctx *c)
{
	struct deeds switches = { 0 }, adapters = { 0 };

	add_up(c, WF_TOPO_SWITCH, &switches);
	add_up(c, WF_TOPO_HOST, &adapters);
	if (switches.acted > 0)
		say_switches(c, &switches);
	if (adapters.acted > 0)
		say_adapters(c, &adapters);
	say_times(c, WF_TOPO_SWITCH, switches.acted > 0);
	say_times(c, WF_TOPO_HOST, adapters.acted > 0);
}
