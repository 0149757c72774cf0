/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notes_links.c - the rules that speak of what links lost: to errors, and because they were down.
 * Neither is congestion, and neither breaks the promise of a lossless class.
 */
#include <math.h>
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

/* What was asked for: " (link.ber is 1e-08, and it loses 0.1 %)". */
static void configured(const struct wf_note_ctx *c, const struct way *way, char *buf, size_t size)
{
	struct wf_sim_port_link link = { .ber = 0 };
	size_t len;

	(void)wf_sim_port_link(c->sim, way->node, way->port, &link);
	len = (size_t)snprintf(buf, size, " (link.ber is %.3g", (double)link.ber / BER_UNITS);
	if (link.raw_ber != 0 && len < size)
		len += (size_t)snprintf(buf + len, size - len, ", %.3g before the FEC",
		                        (double)link.raw_ber / BER_UNITS);
	if (link.loss != 0 && len < size)
		len += (size_t)snprintf(buf + len, size - len, ", and it loses %.3g %%",
		                        100.0 * (double)link.loss / (double)WF_PROB_ONE);
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

/* ---- what the FEC has left, and what links send again ---- */

/* "from leaf0 (port 4) to spine1 (port 0)": the direction that leads into a port. */
static void name_way(const struct wf_note_ctx *c, uint32_t node, unsigned port, char *buf,
                     size_t size)
{
	const struct wf_topo *topo = c->run->fabric->net->topo;
	const struct wf_topo_port *tp = &topo->ports[topo->nodes[node].first_port + port];

	snprintf(buf, size, "from %s (port %u) to %s (port %u)", wf_note_peer(c, node, port)->name,
	         tp->peer_port, wf_note_name(c, node), port);
}

/* Decades between a raw bit error rate and the limit of its code; negative: it is beyond. */
static double margin(const struct wf_sim_port_link *link)
{
	return log10((double)link->limit / (double)link->raw_ber);
}

static void say_margin(struct wf_note_ctx *c, uint32_t node, unsigned port,
                       const struct wf_sim_port_link *link, unsigned more)
{
	double decades = margin(link);
	char way[160], others[96] = "";

	name_way(c, node, port, way, sizeof(way));
	if (more > 0)
		snprintf(others, sizeof(others), "; so %s %u more direction%s of links",
		         more == 1 ? "has" : "have", more, more == 1 ? "" : "s");
	wf_note_say(
		c,
		"the link %s has a bit error rate of %.1e before its FEC; %s %s frames from %.1e "
		"on: %.2f decades %s%s",
		way, (double)link->raw_ber / BER_UNITS, link->fec,
		decades < 0 ? "loses" : "begins to lose", (double)link->limit / BER_UNITS,
		fabs(decades), decades < 0 ? "beyond it" : "of margin", others);
}

/* The direction with the least margin, where that is less than a decade. */
void wf_note_fec_margin(struct wf_note_ctx *c)
{
	const struct wf_topo *topo = c->run->fabric->net->topo;
	struct wf_sim_port_link worst = { .raw_ber = 0 }, link;
	uint32_t at = 0;
	unsigned port = 0, n = 0;

	for (uint32_t node = 0; node < topo->n_nodes; node++) {
		for (unsigned p = 0; p < topo->nodes[node].n_ports; p++) {
			if (!wf_sim_port_link(c->sim, node, p, &link) || link.raw_ber == 0 ||
			    margin(&link) >= 1)
				continue;
			n++;
			if (n > 1 && margin(&link) >= margin(&worst))
				continue;
			worst = link;
			at = node;
			port = p;
		}
	}
	if (n > 0)
		say_margin(c, at, port, &worst, n - 1);
}

void wf_note_link_retries(struct wf_note_ctx *c)
{
	const struct wf_topo *topo = c->run->fabric->net->topo;
	char n[WF_HUMAN], in[WF_HUMAN], most[WF_HUMAN], took[WF_HUMAN], way[160];
	struct wf_sim_port_link worst = { .again = 0 }, link;
	uint64_t all = c->run->total.link_retries;
	unsigned links = 0, port = 0;
	uint32_t at = 0;

	for (uint32_t node = 0; all != 0 && node < topo->n_nodes; node++) {
		for (unsigned p = 0; p < topo->nodes[node].n_ports; p++) {
			if (!wf_sim_port_link(c->sim, node, p, &link) || link.again == 0)
				continue;
			links++;
			if (link.again <= worst.again)
				continue;
			worst = link;
			at = node;
			port = p;
		}
	}
	if (links == 0)
		return;
	name_way(c, at, port, way, sizeof(way));
	wf_human_count(all, n, sizeof(n));
	wf_human_count((c->run->total.tx_packets + all / 2) / all, in, sizeof(in));
	wf_human_count(worst.again, most, sizeof(most));
	wf_human_time((uint64_t)worst.again_time, took, sizeof(took));
	wf_note_say(c,
	            "links sent packets again %s times, one of %s, in %u direction%s; most %s: %s "
	            "times, which took %s of its wire%s",
	            n, in, links, links == 1 ? "" : "s", way, most, took,
	            c->run->total.drops_error == 0 ? ", and nothing was lost" : "");
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
