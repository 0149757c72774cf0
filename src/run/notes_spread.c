/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notes_spread.c - rules that look at several ports together: where congestion went, and where
 * traffic did not.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/notes_priv.h"

#define NAMED 3 /* at most so many nodes are named in a note */

/* What pauses did to a node. */
struct seen {
	uint64_t sent, received;
	uint64_t stopped_ps;
	bool hot; /* a host: a queue for it was the cause */
	bool to_hot;
};

/* Totals of all queues of a port. */
static void port_total(const struct wf_note_ctx *c, uint32_t node, unsigned port,
                       uint64_t *tx_bytes, uint64_t *max_queue)
{
	*tx_bytes = *max_queue = 0;
	for (unsigned q = 0; q < c->run->result.n_queues; q++) {
		struct wf_sim_counts counts;

		if (!wf_sim_port_counts(c->sim, node, port, q, &counts))
			continue;
		*tx_bytes += counts.tx_bytes;
		*max_queue = wf_max_u64(*max_queue, counts.max_queue_bytes);
	}
}

static bool is_switch(const struct wf_topo *topo, uint32_t node)
{
	return topo->nodes[node].kind == WF_TOPO_SWITCH;
}

static bool is_root(const struct wf_topo *topo, const struct seen *seen, uint32_t node)
{
	return is_switch(topo, node) && seen[node].sent > 0 && seen[node].received == 0;
}

/*
 * Where it began: switches that paused others and were not paused. Of their ports the one with the
 * longest queue; hosts behind a queue of a quarter of that or more are hot.
 */
static bool find_roots(const struct wf_note_ctx *c, struct seen *seen, uint32_t *node_p,
                       unsigned *port_p)
{
	const struct wf_topo *topo = c->run->fabric->net->topo;
	uint64_t longest = 0, tx, queue;

	for (uint32_t n = 0; n < topo->n_nodes; n++) {
		for (unsigned p = 0; is_root(topo, seen, n) && p < topo->nodes[n].n_ports; p++) {
			port_total(c, n, p, &tx, &queue);
			if (queue <= longest)
				continue;
			longest = queue;
			*node_p = n;
			*port_p = p;
		}
	}
	for (uint32_t n = 0; longest > 0 && n < topo->n_nodes; n++) {
		for (unsigned p = 0; is_root(topo, seen, n) && p < topo->nodes[n].n_ports; p++) {
			uint32_t peer = topo->ports[topo->nodes[n].first_port + p].peer;

			port_total(c, n, p, &tx, &queue);
			seen[peer].hot |= !is_switch(topo, peer) && queue >= longest / 4;
		}
	}
	for (size_t i = 0; i < c->scenario->flows.n; i++) {
		const struct wf_flow_spec *f = &c->scenario->flows.flow[i];

		seen[topo->host_node[f->src]].to_hot |= seen[topo->host_node[f->dst]].hot;
	}
	return longest > 0;
}

/* Appends a name and a figure to a list in brackets. */
static void name_one(char *text, size_t size, unsigned *n, const char *name, const char *figure)
{
	size_t used = strlen(text);

	if (*n < NAMED)
		snprintf(text + used, size - used, "%s%s %s", *n == 0 ? "" : ", ", name, figure);
	else if (*n == NAMED)
		snprintf(text + used, size - used, ", ...");
	++*n;
}

static void say_spread(struct wf_note_ctx *c, const struct seen *seen, uint32_t root, unsigned port)
{
	const struct wf_topo *topo = c->run->fabric->net->topo;
	const struct wf_topo_node *hot = wf_note_peer(c, root, port);
	unsigned relays = 0, hosts = 0, victims = 0;
	char relay[160] = "", victim[160] = "", figure[WF_HUMAN];

	for (uint32_t n = 0; n < topo->n_nodes; n++) {
		if (seen[n].received == 0)
			continue;
		if (is_switch(topo, n) && seen[n].sent > 0) {
			wf_human_count(seen[n].sent, figure, sizeof(figure));
			name_one(relay, sizeof(relay), &relays, wf_note_name(c, n), figure);
		} else if (!is_switch(topo, n)) {
			hosts++;
			if (hot->kind != WF_TOPO_HOST || seen[n].to_hot)
				continue;
			wf_human_time(seen[n].stopped_ps, figure, sizeof(figure));
			name_one(victim, sizeof(victim), &victims, wf_note_name(c, n), figure);
		}
	}
	if (relays == 0 && victims == 0)
		return;
	wf_note_say(c,
	            "PFC pauses spread from %s, where the queue to %s is the longest: %u switch%s "
	            "passed them on%s%s%s and %u host%s stopped%s%s%s%s",
	            wf_note_name(c, root), hot->name, relays, relays == 1 ? "" : "es",
	            relays > 0 ? " (" : "", relay, relays > 0 ? " pauses)" : "", hosts,
	            hosts == 1 ? " was" : "s were",
	            victims > 0 ? ", among them hosts that send nothing to a congested one (" : "",
	            victim, victims > 0 ? ")" : "", victims > 0 ? ": victims" : "");
}

void wf_note_pauses_spread(struct wf_note_ctx *c)
{
	struct seen *seen;
	uint32_t root = 0;
	unsigned port = 0;

	if (c->run->total.pause_tx == 0)
		return;
	seen = calloc(c->run->fabric->net->topo->n_nodes, sizeof(*seen));
	if (seen == NULL)
		return;
	for (size_t i = 0; i < c->run->n_ports; i++) {
		const struct wf_run_port *p = &c->run->ports[i];

		seen[p->node].sent += p->counts.pause_tx;
		seen[p->node].received += p->counts.pause_rx;
		seen[p->node].stopped_ps += p->counts.paused_ps;
	}
	if (find_roots(c, seen, &root, &port))
		say_spread(c, seen, root, port);
	free(seen);
}

/* ---- paths ---- */

/*
 * Links that carry the same traffic between them: the uplinks of a switch, or those that come down
 * to it from the tier above. A packet could have taken any of them as far as the routes go.
 */
struct bundle {
	unsigned n, hot; /* links, and those with more than their share and a queue */
	uint64_t sum;    /* bytes */
	uint64_t most;   /* of one link */
	uint64_t queue;  /* there, at its longest */
	uint32_t node;   /* that sends on it */
	unsigned port;
};

/* Whether port p of a switch is in the bundle, up or down; and which port sends on the link. */
static bool in_bundle(const struct wf_note_ctx *c, uint32_t node, unsigned p, bool up,
                      uint32_t *from, unsigned *from_port)
{
	const struct wf_topo *topo = c->run->fabric->net->topo;
	const struct wf_topo_port *port = &topo->ports[topo->nodes[node].first_port + p];

	if (topo->nodes[port->peer].tier <= topo->nodes[node].tier)
		return false;
	*from = up ? node : port->peer;
	*from_port = up ? p : port->peer_port;
	return true;
}

static bool is_hot(const struct bundle *b, uint64_t tx, uint64_t queue, uint64_t mtu)
{
	return 2 * tx * b->n >= 3 * b->sum && queue >= 16 * mtu;
}

static void look_at(const struct wf_note_ctx *c, uint32_t node, bool up, struct bundle *b)
{
	unsigned ports = c->run->fabric->net->topo->nodes[node].n_ports, port;
	uint64_t tx, queue;
	uint32_t from;

	memset(b, 0, sizeof(*b));
	for (unsigned p = 0; p < ports; p++) {
		if (!in_bundle(c, node, p, up, &from, &port))
			continue;
		port_total(c, from, port, &tx, &queue);
		b->n++;
		b->sum += tx;
		if (tx > b->most) {
			b->most = tx;
			b->queue = queue;
			b->node = from;
			b->port = port;
		}
	}
	for (unsigned p = 0; b->sum > 0 && p < ports; p++) {
		if (!in_bundle(c, node, p, up, &from, &port))
			continue;
		port_total(c, from, port, &tx, &queue);
		b->hot += is_hot(b, tx, queue, c->run->fabric->cfg.mtu);
	}
}

/* What the host that sent most has sent. */
static uint64_t most_of_host(const struct wf_note_ctx *c)
{
	const struct wf_topo *topo = c->run->fabric->net->topo;
	uint64_t most = 1, tx, queue;

	for (uint32_t i = 0; i < topo->n_hosts; i++) {
		uint64_t sum = 0;

		for (unsigned p = 0; p < topo->host_ports; p++) {
			port_total(c, topo->host_node[i], p, &tx, &queue);
			sum += tx;
		}
		most = wf_max_u64(most, sum);
	}
	return most;
}

static void say_collision(struct wf_note_ctx *c, const struct bundle *worst, unsigned hot,
                          unsigned bundles)
{
	uint64_t times = worst->most * worst->n * 10 / worst->sum;
	uint64_t nics = worst->most * 10 / most_of_host(c);
	char queue[WF_HUMAN], others[80] = "";

	wf_human_bytes(worst->queue, queue, sizeof(queue));
	if (hot > 1)
		snprintf(others, sizeof(others), "; so did %u links at %u place%s", hot, bundles,
		         bundles == 1 ? "" : "s");
	wf_note_say(c,
	            "paths collide: the link from %s (port %u) to %s carried %" PRIu64 ".%" PRIu64
	            " times the mean of that bundle of %u links, as much as %" PRIu64 ".%" PRIu64
	            " hosts send, with a queue of up to %s%s; routing %s does not look at load",
	            wf_note_name(c, worst->node), worst->port,
	            wf_note_peer(c, worst->node, worst->port)->name, times / 10, times % 10,
	            worst->n, nics / 10, nics % 10, queue, others, c->run->fabric->cfg.routing);
}

/*
 * A link with half as much again as its share, or more, and a queue that begins to be marked: flows
 * that were put together by chance or by the routes, while there was room beside them.
 */
void wf_note_path_collision(struct wf_note_ctx *c)
{
	const struct wf_topo *topo = c->run->fabric->net->topo;
	const struct wf_fabric_cfg *cfg = &c->run->fabric->cfg;
	struct bundle b, worst = { 0 };
	unsigned hot = 0, bundles = 0;

	if (strcmp(cfg->routing, "ecmp") != 0 && strcmp(cfg->routing, "lft") != 0)
		return;
	for (uint32_t node = 0; node < topo->n_nodes; node++) {
		for (int up = 0; is_switch(topo, node) && up < 2; up++) {
			look_at(c, node, up != 0, &b);
			if (b.hot == 0)
				continue;
			hot += b.hot;
			bundles++;
			if (b.most > worst.most)
				worst = b;
		}
	}
	if (hot > 0 && worst.sum > 0)
		say_collision(c, &worst, hot, bundles);
}

/* ---- congestion control ---- */

/* All flows start in the first tenth of the run: from then on there is always something to send. */
static bool is_backlogged(const struct wf_note_ctx *c, wf_time span)
{
	wf_time first = WF_TIME_NEVER, last = 0;

	for (size_t i = 0; i < c->scenario->flows.n; i++) {
		first = wf_min_time(first, c->scenario->flows.flow[i].start);
		last = wf_max_time(last, c->scenario->flows.flow[i].start);
	}
	return c->scenario->flows.n > 0 && (last - first) * 10 <= span;
}

void wf_note_cc_collapse(struct wf_note_ctx *c)
{
	const struct wf_topo *topo = c->run->fabric->net->topo;
	const char *cc = c->run->fabric->values.cc.algorithm;
	wf_time span = wf_note_span(c);
	uint64_t busiest = 0, tx, queue;
	uint32_t at = 0;
	unsigned port = 0;
	char marks[WF_HUMAN];

	/* What bounds TCP is a CPU, or its window: links are idle then without anybody's fault. */
	if (strcmp(cc, "none") == 0 || c->run->total.ecn_marked == 0 ||
	    c->run->result.tcp.hosts > 0 || c->run->result.packets_dropped > 0 || span <= 0 ||
	    !is_backlogged(c, span) || wf_note_is_slow_receiver(c))
		return;
	for (uint32_t n = 0; n < topo->n_nodes; n++) {
		for (unsigned p = 0; p < topo->nodes[n].n_ports; p++) {
			struct wf_sim_lane_state state;
			uint64_t share;

			if (!wf_sim_lane_state(c->sim, n, p, 0, &state) || state.rate == 0)
				continue;
			port_total(c, n, p, &tx, &queue);
			share = (uint64_t)((unsigned __int128)tx * 8 * WF_S * 1000 / state.rate /
			                   (uint64_t)span);
			if (share <= busiest)
				continue;
			busiest = share;
			at = n;
			port = p;
		}
	}
	if (busiest >= 500)
		return;
	wf_human_count(c->run->total.ecn_marked, marks, sizeof(marks));
	wf_note_say(c,
	            "congestion control collapses: flows had data to send all the time, yet the "
	            "busiest "
	            "link, %s to %s, was used for %" PRIu64 ".%" PRIu64
	            " %% of it; %s (%s marks) cuts rates further than the queues ask for, or "
	            "raises them "
	            "too slowly",
	            wf_note_name(c, at), wf_note_peer(c, at, port)->name, busiest / 10,
	            busiest % 10, cc, marks);
}
