/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notes_links.c - the rules that speak of what links lost: to errors, and because they were down.
 * Neither is congestion, and neither breaks the promise of a lossless class.
 */
#include <stdio.h>
#include <string.h>

#include "run/notes_priv.h"

#define SHOWN 3        /* links that were down and are named */
#define BER_UNITS 1e18 /* of link.ber */

/* ---- errors ---- */

/* A direction of a link: where it leads to, and what came out of it there. */
struct way {
	uint32_t node;
	unsigned port;
	uint64_t errors, packets;
	double bits;
};

static struct way look_at(const struct wf_note_ctx *c, uint32_t node, unsigned port)
{
	const struct wf_topo *topo = c->run->fabric->net->topo;
	const struct wf_topo_port *tp = &topo->ports[topo->nodes[node].first_port + port];
	struct way way = { .node = node, .port = port };
	struct wf_sim_counts in, out;

	wf_sim_port_total(c->sim, node, port, &in);
	wf_sim_port_total(c->sim, tp->peer, tp->peer_port, &out);
	way.errors = in.drops_error;
	/* Sent, but for those that were on the link when it went down. */
	way.packets = out.tx_packets - (in.rx_lost - in.drops_error);
	way.bits = out.tx_packets == 0 ? 0
	                               : 8.0 * (double)out.tx_bytes * (double)way.packets /
	                                         (double)out.tx_packets;
	return way;
}

/* What was asked for: " (link.ber is 1e-08, link.loss 0.1 %)". */
static void configured(const struct wf_note_ctx *c, const struct way *way, char *buf, size_t size)
{
	const struct wf_fabric_cfg *cfg = &c->run->fabric->cfg;
	const struct wf_topo *topo = c->run->fabric->net->topo;
	const struct wf_topo_port *tp = &topo->ports[topo->nodes[way->node].first_port + way->port];
	uint64_t loss = cfg->link_loss + topo->links[tp->link].loss;
	size_t len = (size_t)snprintf(buf, size, " (link.ber is %.3g",
	                              (double)cfg->link_ber / BER_UNITS);

	if (loss != 0 && len < size)
		len += (size_t)snprintf(buf + len, size - len, ", and it loses %.3g %%",
		                        100.0 * (double)loss / (double)WF_PROB_ONE);
	if (len < size)
		snprintf(buf + len, size - len, ")");
}

static double error_rate(const struct way *way)
{
	return way->bits > 0 ? (double)way->errors / way->bits : 0;
}

/* The link that lost most, when there are several. */
static void name_worst(const struct wf_note_ctx *c, const struct way *most, char *buf, size_t size)
{
	const struct wf_topo *topo = c->run->fabric->net->topo;
	uint32_t first = topo->nodes[most->node].first_port;
	char n[WF_HUMAN], of[WF_HUMAN];

	wf_human_count(most->errors, n, sizeof(n));
	wf_human_count(most->packets, of, sizeof(of));
	snprintf(buf, size, "from %s (port %u) to %s (port %u): %s of %s packets, a rate of %.2g",
	         wf_note_peer(c, most->node, most->port)->name,
	         topo->ports[first + most->port].peer_port, wf_note_name(c, most->node), most->port,
	         n, of, error_rate(most));
}

void wf_note_link_errors(struct wf_note_ctx *c)
{
	const struct wf_topo *topo = c->run->fabric->net->topo;
	struct way most = { .errors = 0 }, all = { .errors = 0 };
	char n[WF_HUMAN], in[WF_HUMAN], asked[120], worst[240];
	unsigned links = 0;

	for (uint32_t i = 0; c->run->total.drops_error != 0 && i < topo->n_links; i++) {
		const struct wf_topo_link *l = &topo->links[i];
		const struct way way[2] = { look_at(c, l->a, l->a_port),
			                    look_at(c, l->b, l->b_port) };

		links += way[0].errors + way[1].errors != 0;
		for (int k = 0; k < 2; k++) {
			all.errors += way[k].errors;
			all.packets += way[k].packets;
			all.bits += way[k].bits;
			if (way[k].errors > most.errors)
				most = way[k];
		}
	}
	if (all.errors == 0)
		return;
	wf_human_count(all.errors, n, sizeof(n));
	wf_human_count((all.packets + all.errors / 2) / all.errors, in, sizeof(in));
	configured(c, &most, asked, sizeof(asked));
	name_worst(c, &most, worst, sizeof(worst));
	wf_note_say(c,
	            "%s packet%s lost to errors on %u link%s, one in %s, as with a bit error rate "
	            "of %.2g%s; most %s. That is the links, not congestion",
	            n, all.errors == 1 ? " was" : "s were", links, links == 1 ? "" : "s", in,
	            error_rate(&all), asked, worst);
}

/* ---- links that were down ---- */

struct outage {
	uint32_t link;
	uint64_t lost;
	struct wf_sim_link_state state;
};

static void say_outage(struct wf_note_ctx *c, const struct outage *o)
{
	const struct wf_topo *topo = c->run->fabric->net->topo;
	const struct wf_topo_link *l = &topo->links[o->link];
	char lost[WF_HUMAN], time[WF_HUMAN], times[48] = "";

	wf_human_count(o->lost, lost, sizeof(lost));
	wf_human_time((uint64_t)o->state.time, time, sizeof(time));
	if (o->state.times > 1)
		snprintf(times, sizeof(times), " %u times,", o->state.times);
	wf_note_say(c,
	            "the link from %s (port %u) to %s (port %u) was down%s for %s%s%s: %s %s "
	            "lost that %s on it, waited for it, or had no other way",
	            wf_note_name(c, l->a), l->a_port, wf_note_name(c, l->b), l->b_port, times, time,
	            o->state.times > 1 ? " in all" : "",
	            o->state.down ? ", to the end of the run" : "", lost,
	            o->lost == 1 ? "packet was" : "packets were", o->lost == 1 ? "was" : "were");
}

/* Puts o in its place among the first SHOWN of list, the most lost first. */
static void keep_worst(struct outage *list, unsigned n, const struct outage *o)
{
	unsigned i = n < SHOWN ? n : SHOWN;

	for (; i > 0 && list[i - 1].lost < o->lost; i--) {
		if (i < SHOWN)
			list[i] = list[i - 1];
	}
	if (i < SHOWN)
		list[i] = *o;
}

void wf_note_link_down(struct wf_note_ctx *c)
{
	const struct wf_topo *topo = c->run->fabric->net->topo;
	uint64_t rest = c->run->total.drops_down;
	struct outage list[SHOWN];
	char lost[WF_HUMAN];
	unsigned n = 0;

	for (uint32_t i = 0; i < topo->n_links; i++) {
		const struct wf_topo_link *l = &topo->links[i];
		struct outage o = { .link = i };
		struct wf_sim_counts a, b;

		if (!wf_sim_link_state(c->sim, i, &o.state) || o.state.times == 0)
			continue;
		wf_sim_port_total(c->sim, l->a, l->a_port, &a);
		wf_sim_port_total(c->sim, l->b, l->b_port, &b);
		o.lost = a.drops_down + b.drops_down;
		keep_worst(list, n++, &o);
	}
	for (unsigned i = 0; i < n && i < SHOWN; i++) {
		say_outage(c, &list[i]);
		rest -= list[i].lost;
	}
	if (rest == 0 && n <= SHOWN)
		return;
	wf_human_count(rest, lost, sizeof(lost));
	if (n > SHOWN)
		wf_note_say(c, "%u more links were down, and took %s packets more", n - SHOWN,
		            lost);
	else
		wf_note_say(c, "%s more packets came to switches that knew no way round", lost);
}
