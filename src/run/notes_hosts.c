/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notes_hosts.c - hosts that take in too little, and what that does to others.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "run/notes_priv.h"

#define STOPPED 20 /* a host is said to have been stopped from a 20th of the time on */

/* A host whose receive buffer was filled faster than it was drained. */
struct slow {
	uint32_t host;
	struct wf_sim_intake_state state;
	uint64_t rate;    /* bits/s at which it was drained while there was something in it */
	uint64_t link;    /* and at which its link brings */
	uint64_t stopped; /* ps for which its leaf could not send to it */
};

/* "19.8 Gb/s" */
static void put_rate(uint64_t rate, char buf[WF_HUMAN])
{
	const uint64_t tenth = 100000000;

	snprintf(buf, WF_HUMAN, "%" PRIu64 ".%" PRIu64 " Gb/s", (rate + tenth / 2) / tenth / 10,
	         (rate + tenth / 2) / tenth % 10);
}

/* The most that a queue of a port had to wait for its peer's leave, ps. */
static uint64_t stopped_of(const struct wf_note_ctx *c, uint32_t node, unsigned port)
{
	struct wf_sim_counts counts;
	uint64_t most = 0;

	for (unsigned q = 0; wf_sim_port_counts(c->sim, node, port, q, &counts); q++)
		most = wf_max_u64(most, wf_max_u64(counts.paused_ps, counts.credit_wait_ps));
	return most;
}

static bool is_slow(const struct wf_note_ctx *c, uint32_t host, wf_time span, struct slow *slow)
{
	const struct wf_topo *topo = c->run->fabric->net->topo;
	const struct wf_topo_node *node = &topo->nodes[topo->host_node[host]];
	struct wf_sim_intake_state *state = &slow->state;
	struct wf_sim_lane_state lane;

	slow->host = host;
	slow->link = slow->stopped = 0;
	if (!wf_sim_intake_state(c->sim, host, state) || state->waited == 0)
		return false;
	slow->rate = (uint64_t)((unsigned __int128)state->bytes * 8 * (uint64_t)WF_S /
	                        (uint64_t)state->waited);
	for (uint32_t p = 0; p < node->n_ports; p++) {
		const struct wf_topo_port *port = &topo->ports[node->first_port + p];

		if (!wf_sim_lane_state(c->sim, port->peer, port->peer_port, 0, &lane))
			return false;
		slow->link += lane.rate;
		slow->stopped =
			wf_max_u64(slow->stopped, stopped_of(c, port->peer, port->peer_port));
	}
	return slow->rate < slow->link &&
	       (state->dropped > 0 || slow->stopped * 50 >= (uint64_t)span);
}

/* Whether a host has something to send to another. */
static bool sends_to(const struct wf_note_ctx *c, uint32_t src, uint32_t dst)
{
	for (size_t i = 0; i < c->scenario->flows.n; i++) {
		const struct wf_flow_spec *f = &c->scenario->flows.flow[i];

		if (f->src == src && f->dst == dst)
			return true;
	}
	return false;
}

/* Hosts that were stopped, though they have nothing for the slow one. Jobs send to everybody. */
static unsigned count_victims(const struct wf_note_ctx *c, const struct slow *slow, wf_time span)
{
	const struct wf_topo *topo = c->run->fabric->net->topo;
	unsigned n = 0;

	for (uint32_t i = 0; i < topo->n_hosts && c->scenario->flows.n > 0; i++) {
		uint64_t stopped = 0;

		for (unsigned p = 0; p < topo->host_ports; p++)
			stopped = wf_max_u64(stopped, stopped_of(c, topo->host_node[i], p));
		n += stopped * STOPPED >= (uint64_t)span && i != slow->host &&
		     !sends_to(c, i, slow->host);
	}
	return n;
}

static void say_slow(struct wf_note_ctx *c, const struct slow *slow, unsigned others, wf_time span)
{
	const struct wf_topo *topo = c->run->fabric->net->topo;
	uint32_t node = topo->host_node[slow->host];
	bool credits = strcmp(c->run->fabric->cfg.flowctl, "credit") == 0;
	unsigned victims = count_victims(c, slow, span);
	char took[WF_HUMAN], link[WF_HUMAN], lost[WF_HUMAN], text[160] = "", more[80] = "";
	size_t used = 0;

	put_rate(slow->rate, took);
	put_rate(slow->link, link);
	if (slow->stopped > 0)
		used = (size_t)snprintf(text, sizeof(text), "%s %s for %" PRIu64 " %% of the time",
		                        credits ? "it gave no credits to" : "it paused",
		                        wf_note_peer(c, node, 0)->name,
		                        slow->stopped * 100 / (uint64_t)span);
	if (slow->state.dropped > 0) {
		wf_human_count(slow->state.dropped, lost, sizeof(lost));
		snprintf(text + used, sizeof(text) - used, "%sit dropped %s packets",
		         used > 0 ? ", and " : "", lost);
	}
	if (victims > 0)
		snprintf(more, sizeof(more), "; %u host%s nothing to it %s stopped, too", victims,
		         victims == 1 ? " that sends" : "s that send",
		         victims == 1 ? "was" : "were");
	wf_note_say(
		c,
		"%s's adapter took in %s of the %s that its link brings, for as long as packets "
		"waited in it (%" PRIu64 " %% of the time): %s%s%s",
		topo->nodes[node].name, took, link,
		(uint64_t)slow->state.waited * 100 / (uint64_t)span, text, more,
		others > 0 ? "; other hosts are slow as well" : "");
}

/* How many hosts are slow, and the one that stopped its leaf for longest. */
static unsigned find_slow(const struct wf_note_ctx *c, wf_time span, struct slow *worst)
{
	const struct wf_topo *topo = c->run->fabric->net->topo;
	struct slow slow;
	unsigned n = 0;

	for (uint32_t i = 0; i < topo->n_hosts && span > 0; i++) {
		if (!is_slow(c, i, span, &slow))
			continue;
		if (n++ == 0 || slow.stopped > worst->stopped)
			*worst = slow;
	}
	return n;
}

void wf_note_slow_receiver(struct wf_note_ctx *c)
{
	wf_time span = wf_note_span(c);
	struct slow worst;
	unsigned n = find_slow(c, span, &worst);

	if (n > 0)
		say_slow(c, &worst, n - 1, span);
}

bool wf_note_is_slow_receiver(const struct wf_note_ctx *c)
{
	struct slow worst;

	return find_slow(c, wf_note_span(c), &worst) > 0;
}

bool wf_note_drops_at_host(struct wf_note_ctx *c, const struct wf_run_port *p, uint64_t drops)
{
	const struct wf_topo_node *node = &c->run->fabric->net->topo->nodes[p->node];
	struct wf_sim_intake_state state;
	char n[WF_HUMAN];

	if (!wf_sim_intake_state(c->sim, node->host, &state) || !state.drops)
		return false;
	wf_human_count(drops, n, sizeof(n));
	wf_note_say(
		c,
		"class %u is lossless and lost %s packets, most at %s, whose adapter drops what "
		"finds no room; write nic.rx_full: pause",
		c->run->result.queue_id[p->queue], n, node->name);
	return true;
}
