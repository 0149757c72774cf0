/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_deadlock.c - deadlocks of the modelled fabric, for those who ask and for the daemon's log.
 *
 * The simulation looks for them as it goes. Where all wait for credits nothing goes on in it any
 * more: then we look, once.
 */
#include <stdio.h>
#include <string.h>

#include "live/model_priv.h"

static const char *host_name(const struct wf_topo *t, uint32_t host)
{
	return t->nodes[t->host_node[host]].name;
}

static void copy_link(const struct wf_topo *t, const struct wf_deadlock_link *l,
                      struct wf_live_deadlock_link *to)
{
	*to = (struct wf_live_deadlock_link){
		.since = (uint64_t)l->since,
		.bytes = l->bytes,
		.number = l->port + 1u,
		.id = l->id,
		.packets = l->packets,
		.held = l->held,
		.valley = l->valley,
	};
	snprintf(to->node, sizeof(to->node), "%s", t->nodes[l->node].name);
	snprintf(to->peer, sizeof(to->peer), "%s",
	         t->nodes[t->ports[t->nodes[l->node].first_port + l->port].peer].name);
	snprintf(to->src, sizeof(to->src), "%s", host_name(t, l->src));
	snprintf(to->dst, sizeof(to->dst), "%s", host_name(t, l->dst));
}

static void copy_deadlock(const struct wf_topo *t, const struct wf_deadlock *d,
                          struct wf_live_deadlock *to)
{
	*to = (struct wf_live_deadlock){
		.formed = (uint64_t)d->formed,
		.found = (uint64_t)d->found,
		.ended = d->ended == WF_TIME_NEVER ? 0 : (uint64_t)d->ended,
		.packets = d->packets,
		.queues = d->queues,
		.hosts = d->hosts,
		.times = d->times,
		.n = d->n,
		.n_links = d->n < WF_LIVE_DEADLOCK_LINKS ? d->n : WF_LIVE_DEADLOCK_LINKS,
		.closed = d->closed,
	};
	for (uint32_t i = 0; i < to->n_links; i++)
		copy_link(t, &d->link[i], &to->link[i]);
}

void wf_model_deadlock(const struct wf_daemon *d, uint32_t i, struct wf_live_deadlock *deadlock)
{
	uint32_t n;
	const struct wf_deadlock *list = wf_sim_deadlocks(d->model->sim, &n);

	copy_deadlock(d->model->topo, &list[i], deadlock);
}

static void say(const struct wf_dmodel *m, const struct wf_deadlock *d, bool over)
{
	struct wf_live_deadlock live;
	char line[1024];
	size_t used;

	copy_deadlock(m->topo, d, &live);
	used = (size_t)snprintf(line, sizeof(line), "deadlock%s at %.6f s:", over ? ", over" : "",
	                        (double)(over ? live.ended : live.formed) / (double)WF_S);
	for (uint32_t i = 0; i < live.n_links && used < sizeof(line); i++)
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%s %s:%u -> %s",
		                         i == 0 ? "" : ",", live.link[i].node, live.link[i].number,
		                         live.link[i].peer);
	if (used < sizeof(line))
		snprintf(line + used, sizeof(line) - used, "%s; %u queues with %lu packets",
		         live.n_links < live.n ? ", ..." : "", live.queues, live.packets);
	m->d->say(m->d->say_arg, line);
}

void wf_model_watch(struct wf_dmodel *m)
{
	const struct wf_deadlock *list;
	uint32_t n;

	m->looked &= !m->moved;
	if (!m->looked && m->under_way != 0 && wf_model_is_quiet(m)) {
		m->looked = true;
		if (wf_sim_look_for_deadlocks(m->sim, false) != 0)
			m->d->stop = true;
	}
	list = wf_sim_deadlocks(m->sim, &n);
	for (uint32_t i = 0; m->d->say != NULL && i < n; i++) {
		bool ended = list[i].ended != WF_TIME_NEVER;

		if (m->told[i].times != list[i].times)
			say(m, &list[i], false);
		if ((m->told[i].times != list[i].times || !m->told[i].ended) && ended)
			say(m, &list[i], true);
		m->told[i].times = list[i].times;
		m->told[i].ended = ended;
	}
}
