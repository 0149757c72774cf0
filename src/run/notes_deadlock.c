/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notes_deadlock.c - queues that stand still: in a circle, or behind a host that lets nobody send
 * to it; and what happened before.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "run/notes_priv.h"
#include "sim/look/deadlock.h"

#define SHOWN 3 /* of several */
#define STILL (100 * WF_US)

static const char *kind_of_class(const struct wf_run *run)
{
	return strcmp(run->fabric->cfg.flowctl, "credit") == 0 ? "VL" : "class";
}

/* Appends to text. */
static void add(char *text, size_t size, const char *fmt, ...) WF_PRINTF(3, 4);
static void add(char *text, size_t size, const char *fmt, ...)
{
	size_t used = strlen(text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + used, size - used, fmt, ap);
	va_end(ap);
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* The other end of a port. */
static const char *peer_of(const struct wf_topo *topo, uint32_t node, unsigned port)
{
	return topo->nodes[topo->ports[topo->nodes[node].first_port + port].peer].name;
}

static const char *host_name(const struct wf_topo *topo, uint32_t host)
{
	return topo->nodes[topo->host_node[host]].name;
}

void wf_note_deadlock_link(const struct wf_run *run, const struct wf_deadlock *d, unsigned i,
                           char *text, size_t size)
{
	const struct wf_topo *topo = run->fabric->net->topo;
	const struct wf_deadlock_link *l = &d->link[i], *before = &d->link[(i + d->n - 1) % d->n];
	char packets[WF_HUMAN], bytes[WF_HUMAN], held[WF_HUMAN], since[WF_HUMAN];

	wf_human_count(l->packets, packets, sizeof(packets));
	wf_human_bytes(l->bytes, bytes, sizeof(bytes));
	wf_human_count(l->held, held, sizeof(held));
	wf_human_time((uint64_t)l->since, since, sizeof(since));
	snprintf(text, size,
	         "%s:%u -> %s, %s %u: %s packet%s (%s), first %s -> %s; %s of them from %s%s",
	         topo->nodes[l->node].name, l->port, peer_of(topo, l->node, l->port),
	         kind_of_class(run), l->id, packets, plural(l->packets), bytes,
	         host_name(topo, l->src), host_name(topo, l->dst), held,
	         topo->nodes[before->node].name, l->valley ? ", down and up again" : "");
	add(text, size, "; stopped since %s%s", since, i == d->closed ? ", the last" : "");
}

/* "the link from leaf0 (port 4) to spine0 (port 0) went down" */
static void say_change(const struct wf_topo *topo, const struct wf_sim_change *c, char *text,
                       size_t size)
{
	const struct wf_topo_link *l;
	const struct wf_topo_port *port;

	switch (c->kind) {
	case WF_SIM_CHANGE_LINK_DOWN:
	case WF_SIM_CHANGE_LINK_UP:
		l = &topo->links[c->what];
		add(text, size, "the link from %s (port %u) to %s (port %u) %s",
		    topo->nodes[l->a].name, l->a_port, topo->nodes[l->b].name, l->b_port,
		    c->kind == WF_SIM_CHANGE_LINK_UP ? "came up" : "went down");
		break;
	case WF_SIM_CHANGE_STORM:
	case WF_SIM_CHANGE_STORM_OVER:
		add(text, size, "%s %s", topo->nodes[c->what].name,
		    c->kind == WF_SIM_CHANGE_STORM ? "began to let nobody send to it"
		                                   : "let others send to it again");
		break;
	case WF_SIM_CHANGE_NODE:
		add(text, size, "%s was set to something else", topo->nodes[c->what].name);
		break;
	case WF_SIM_CHANGE_PORT:
		port = &topo->ports[c->what];
		l = &topo->links[port->link];
		add(text, size, "port %u of %s was set to something else",
		    l->a == port->peer ? l->b_port : l->a_port,
		    topo->nodes[l->a == port->peer ? l->b : l->a].name);
		break;
	case WF_SIM_CHANGE_NONE:
	case WF_SIM_CHANGE_ROUTES:
	case WF_SIM_CHANGES:
		break;
	}
}

static void say_cause(const struct wf_topo *topo, const struct wf_deadlock *d, char *text,
                      size_t size)
{
	char at[WF_HUMAN];

	if (d->fault.kind != WF_SIM_CHANGE_NONE) {
		wf_human_time((uint64_t)d->fault.at, at, sizeof(at));
		add(text, size, ". Before it, ");
		say_change(topo, &d->fault, text, size);
		add(text, size, " at %s", at);
	}
	if (d->routes.kind != WF_SIM_CHANGE_NONE) {
		wf_human_time((uint64_t)d->routes.at, at, sizeof(at));
		add(text, size, "%s, and %u switch%s had new routes by %s",
		    d->fault.kind == WF_SIM_CHANGE_NONE ? ". Before it" : "", d->routes.switches,
		    d->routes.switches == 1 ? "" : "es", at);
		if (d->routes.behind > 0)
			add(text, size, ", but %s%s not", topo->nodes[d->routes.one_behind].name,
			    d->routes.behind == 1 ? " had" : " and others had");
	}
}

/* Packets that came down and go up again: no route of a tree that is whole does that. */
static void say_valley(const struct wf_topo *topo, const struct wf_deadlock *d, char *text,
                       size_t size)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < d->n; i++) {
		const struct wf_deadlock_link *l = &d->link[i];
		const struct wf_deadlock_link *before = &d->link[(i + d->n - 1) % d->n];

		if (!l->valley || ++n > SHOWN)
			continue;
		add(text, size, "%s %s -> %s at %s (from %s, to %s)",
		    n == 1 ? ". Packets came down and go up again, a valley:" : ",",
		    host_name(topo, l->held_src), host_name(topo, l->held_dst),
		    topo->nodes[l->node].name, topo->nodes[before->node].name,
		    peer_of(topo, l->node, l->port));
	}
}

static void say_deadlock(struct wf_note_ctx *c, const struct wf_deadlock *d)
{
	const struct wf_topo *topo = c->run->fabric->net->topo;
	const struct wf_deadlock_link *last = &d->link[d->closed];
	char text[WF_NOTE_TEXT] = "", formed[WF_HUMAN], packets[WF_HUMAN], ended[WF_HUMAN];

	wf_human_time((uint64_t)d->formed, formed, sizeof(formed));
	wf_human_count(d->packets, packets, sizeof(packets));
	add(text, sizeof(text),
	    "%s: %u queues of %s %u wait for one another in a circle, complete at %s when %s -> %s "
	    "stopped; %s packets in %u queues %s, and %u host%s cannot send",
	    d->certain ? "deadlock" : "perhaps a deadlock", d->n, kind_of_class(c->run), last->id,
	    formed, topo->nodes[last->node].name, peer_of(topo, last->node, last->port), packets,
	    d->queues,
	    d->certain ? "can never move again"
	               : "stand still, though it is not proved that none "
	                 "of them can ever move",
	    d->hosts, plural(d->hosts));
	if (d->ended != WF_TIME_NEVER) {
		wf_human_time((uint64_t)d->ended, ended, sizeof(ended));
		add(text, sizeof(text),
		    " while it stands; something from outside (a link, a setting, a drop) broke it "
		    "by %s",
		    ended);
	}
	if (d->times > 1) {
		wf_human_time((uint64_t)d->formed_last, ended, sizeof(ended));
		add(text, sizeof(text), "; it formed %u times, last at %s", d->times, ended);
	}
	say_cause(topo, d, text, sizeof(text));
	say_valley(topo, d, text, sizeof(text));
	wf_note_say(c, "%s", text);
}

void wf_note_deadlock(struct wf_note_ctx *c)
{
	const struct wf_run *run = c->run;

	for (uint32_t i = 0; i < run->n_deadlocks && i < WF_NOTE_DEADLOCKS; i++)
		say_deadlock(c, &run->deadlocks[i]);
	if (run->deadlocks_found > WF_NOTE_DEADLOCKS)
		wf_note_say(c, "%u more circles of queues wait for one another",
		            run->deadlocks_found - WF_NOTE_DEADLOCKS);
}

/* What stands still and is no deadlock: its tree ends at a host. */
void wf_note_standstill(struct wf_note_ctx *c)
{
	const struct wf_topo *topo = c->run->fabric->net->topo;
	struct wf_standstill list[SHOWN];
	uint32_t n;

	if (c->run->result.finished || c->run->result.packets_inside == 0)
		return;
	n = wf_sim_standstills(c->sim, STILL, list, SHOWN);
	for (uint32_t i = 0; i < n && i < SHOWN; i++) {
		char since[WF_HUMAN], packets[WF_HUMAN];

		wf_human_time((uint64_t)list[i].since, since, sizeof(since));
		wf_human_count(list[i].packets, packets, sizeof(packets));
		wf_note_say(c,
		            "no deadlock: %u queue%s with %s packet%s stand%s still in a tree that "
		            "hangs on the adapter of %s, which lets nobody send to it since %s",
		            list[i].queues, plural(list[i].queues), packets,
		            plural(list[i].packets), list[i].queues == 1 ? "s" : "",
		            host_name(topo, list[i].host), since);
	}
	if (n > SHOWN)
		wf_note_say(c, "no deadlock: %u more hosts let nobody send to them", n - SHOWN);
}
