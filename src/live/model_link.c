/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_link.c - links of the modelled fabric: what is wrong with them, and what their ports count.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "live/model_priv.h"
#include "sim/look/state.h"

uint32_t wf_model_links(const struct wf_daemon *d)
{
	return d->model->topo->n_links;
}

uint32_t wf_model_host_link(const struct wf_daemon *d, uint32_t host)
{
	const struct wf_topo *t = d->model->topo;

	return t->ports[t->nodes[t->host_node[host]].first_port].link;
}

uint32_t wf_model_link_host(const struct wf_daemon *d, uint32_t link)
{
	const struct wf_topo *t = d->model->topo;
	const uint32_t ends[2] = { t->links[link].a, t->links[link].b };

	for (int i = 0; i < 2; i++) {
		if (t->nodes[ends[i]].kind == WF_TOPO_HOST)
			return t->nodes[ends[i]].host;
	}
	return WF_LIVE_ALL;
}

int wf_model_fault(struct wf_daemon *d, uint32_t link, enum wf_live_fault what, uint64_t value)
{
	struct wf_dmodel *m = d->model;
	struct wf_gated_fault fault;

	if (link >= m->topo->n_links)
		return -ENOENT;
	wf_gated_fault(m->sim, link, &fault);
	switch (what) {
	case WF_LIVE_FAULT_DOWN:
		fault.down = value != 0;
		break;
	case WF_LIVE_FAULT_LOSS:
		fault.loss = value;
		break;
	case WF_LIVE_FAULT_CORRUPT:
		fault.corrupt = value;
		break;
	case WF_LIVE_FAULT_DELAY:
		fault.delay = (wf_time)value;
		break;
	case WF_LIVE_FAULT_CLEAR:
		fault = (struct wf_gated_fault){ .down = false };
		break;
	case WF_LIVE_FAULT_PAUSE:
	case WF_LIVE_FAULT_KILL:
		return -EINVAL;
	}
	return wf_gated_set_link(m->sim, link, &fault);
}

void wf_model_storm(struct wf_daemon *d, uint32_t host, bool on)
{
	wf_gated_storm(d->model->sim, host, on);
}

void wf_model_host_state(const struct wf_daemon *d, uint32_t host, struct wf_live_host *h)
{
	struct wf_sim *sim = d->model->sim;
	uint32_t link = wf_model_host_link(d, host), down = h->down & ~WF_LIVE_DOWN_LINK;
	struct wf_gated_fault fault;

	wf_gated_fault(sim, link, &fault);
	/* A dead host's link is down for that reason; what else it has stays as it was. */
	if (down != 0)
		down = h->down;
	else if (wf_gated_is_down(sim, link))
		down = WF_LIVE_DOWN_LINK;
	h->down = down;
	h->paused = wf_gated_storms(sim, host);
	h->loss = fault.loss;
	h->corrupt = fault.corrupt;
	h->delay = fault.delay;
}

/* ---- faults in words ---- */

int wf_model_words(struct wf_daemon *d, const char *text, bool clear, struct wf_err *err)
{
	struct wf_dmodel *m = d->model;

	if (m == NULL || m->words == NULL)
		return wf_err_say(err,
		                  "nothing is modelled in this fabric, so links of hosts can be "
		                  "faulty, and no more; weft up FILE models one");
	return clear ? m->words->clear(m->words_arg, m->sim, text, err)
	             : m->words->add(m->words_arg, m->sim, text, err);
}

int wf_model_words_list(const struct wf_daemon *d)
{
	const struct wf_dmodel *m = d->model;
	struct wf_live_words line;
	int fd = memfd_create("weft-words", MFD_CLOEXEC);
	ssize_t n = 1;

	if (fd < 0)
		return -errno;
	if (m == NULL || m->words == NULL)
		return fd;
	for (unsigned i = 0; n > 0 && m->words->line(m->words_arg, m->sim, i, &line); i++)
		n = write(fd, &line, sizeof(line));
	if (n > 0)
		return fd;
	close(fd);
	return -ENOSPC;
}

uint64_t wf_model_host_errors(const struct wf_daemon *d, uint32_t host)
{
	struct wf_sim_counts counts;

	wf_sim_port_total(d->model->sim, d->model->topo->host_node[host], 0, &counts);
	return counts.drops_error;
}

/* The port at place i of the list: those of switches come before those of hosts. */
static void find_port(const struct wf_topo *t, uint32_t i, uint32_t *node_p, unsigned *number_p)
{
	for (int hosts = 0; hosts < 2; hosts++) {
		for (uint32_t id = 0; id < t->n_nodes; id++) {
			if ((t->nodes[id].kind == WF_TOPO_HOST) != hosts)
				continue;
			if (i < t->nodes[id].n_ports) {
				*node_p = id;
				*number_p = i;
				return;
			}
			i -= t->nodes[id].n_ports;
		}
	}
}

void wf_model_port(const struct wf_daemon *d, uint32_t i, struct wf_live_port *port)
{
	const struct wf_dmodel *m = d->model;
	const struct wf_topo *t = m->topo;
	const struct wf_topo_port *tp;
	struct wf_gated_fault fault;
	uint32_t node = 0;
	unsigned number = 0;

	find_port(t, i, &node, &number);
	tp = &t->ports[t->nodes[node].first_port + number];
	wf_gated_fault(m->sim, tp->link, &fault);
	*port = (struct wf_live_port){
		.number = number + 1,
		.link = tp->link,
		.is_switch = t->nodes[node].kind != WF_TOPO_HOST,
		.both = t->nodes[node].kind != WF_TOPO_HOST &&
		        t->nodes[tp->peer].kind != WF_TOPO_HOST,
		.rate = t->links[tp->link].rate,
		.down = wf_gated_is_down(m->sim, tp->link),
		.loss = fault.loss,
		.corrupt = fault.corrupt,
		.delay = fault.delay,
	};
	snprintf(port->node, sizeof(port->node), "%s", t->nodes[node].name);
	snprintf(port->peer, sizeof(port->peer), "%s", t->nodes[tp->peer].name);
	wf_sim_port_total(m->sim, node, number, &port->counts);
	wf_model_port_managed(m, node, port);
	/* What a link corrupted goes on to its host, which finds it out and discards it. */
	if (port->is_switch == 0) {
		uint64_t counts[WF_LIVE_COUNTS];

		wf_daemon_counts(d, t->nodes[node].host, counts);
		port->counts.drops_error += counts[WF_LIVE_ICRC_ERRORS];
	}
}

void wf_model_look(const struct wf_daemon *d, struct wf_live_model *model)
{
	const struct wf_dmodel *m = d->model;

	*model = (struct wf_live_model){
		.pace = m->pace,
		.n_ports = m->topo->n_ports,
		.standing = wf_sim_deadlocks_standing(m->sim),
		.time_ps = (uint64_t)wf_sim_now(m->sim),
		.slip_ps = (uint64_t)m->slip,
		.under_way = m->under_way,
		.delivered = m->delivered,
		.lost = m->lost,
		.unclaimed = m->unclaimed,
		.refused = m->refused,
	};
	wf_model_managers(m, &model->managers);
	(void)wf_sim_deadlocks(m->sim, &model->n_deadlocks);
}

int wf_model_ports(const struct wf_daemon *d)
{
	int fd = memfd_create("weft-ports", MFD_CLOEXEC);
	struct wf_live_deadlock deadlock;
	struct wf_live_model model;
	struct wf_live_port port;
	ssize_t n;

	if (fd < 0)
		return -errno;
	/* Who asks wants to know of what is short, too. */
	if (wf_sim_look_for_deadlocks(d->model->sim, false) != 0)
		d->model->d->stop = true;
	wf_model_look(d, &model);
	n = write(fd, &model, sizeof(model));
	for (uint32_t i = 0; n > 0 && i < model.n_ports; i++) {
		wf_model_port(d, i, &port);
		n = write(fd, &port, sizeof(port));
	}
	for (uint32_t i = 0; n > 0 && i < model.n_deadlocks; i++) {
		wf_model_deadlock(d, i, &deadlock);
		n = write(fd, &deadlock, sizeof(deadlock));
	}
	if (n > 0)
		return fd;
	close(fd);
	return -ENOSPC;
}
