/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon_fault.c - faults on demand: written into the table that programs read, and told to them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/param.h"
#include "live/join.h"
#include "live/model.h"

/* A host loses its power: its programs end where they stand. */
static void kill_programs(struct wf_daemon *d, uint32_t host)
{
	for (struct wf_dclient *c = d->clients; c != NULL; c = c->next) {
		if (c->host != host ||
		    (!c->attached && c->umad == NULL && !c->is_sm && !c->awaits_sm))
			continue;
		/* By descriptor: a number may be another's by now. */
		if (c->pidfd >= 0)
			(void)syscall(SYS_pidfd_send_signal, c->pidfd, SIGKILL, NULL, 0);
		c->doomed = true;
	}
}

static void set(struct wf_daemon *d, uint32_t i, enum wf_live_fault what, uint64_t value)
{
	struct wf_live_host *h = &d->table->host[i];
	bool up = h->down == 0;

	switch (what) {
	case WF_LIVE_FAULT_DOWN:
		h->down = (h->down & ~WF_LIVE_DOWN_LINK) | (value != 0 ? WF_LIVE_DOWN_LINK : 0);
		break;
	case WF_LIVE_FAULT_LOSS:
		h->loss = value;
		break;
	case WF_LIVE_FAULT_CORRUPT:
		h->corrupt = value;
		break;
	case WF_LIVE_FAULT_DELAY:
		h->delay = (int64_t)value;
		break;
	case WF_LIVE_FAULT_PAUSE:
		h->paused = value != 0;
		break;
	case WF_LIVE_FAULT_KILL:
		h->down |= WF_LIVE_DOWN_DEAD;
		kill_programs(d, i);
		break;
	case WF_LIVE_FAULT_CLEAR:
		h->down = h->paused = 0;
		h->loss = h->corrupt = 0;
		h->delay = 0;
		break;
	}
	if (up && h->down != 0)
		d->gone[i].count[WF_LIVE_LINK_DOWNED]++;
}

/* Whether receivers have to look at anything but their port. */
static void note_faulty(struct wf_live_table *t)
{
	uint32_t faulty = 0;

	for (uint32_t i = 0; i < t->n_hosts; i++) {
		const struct wf_live_host *h = &t->host[i];

		faulty |= h->paused != 0 || h->loss != 0 || h->corrupt != 0 || h->delay != 0;
	}
	t->faulty = faulty;
}

/* The same in the modelled fabric: of the host's link, or its adapter. */
static int set_model(struct wf_daemon *d, uint32_t i, enum wf_live_fault what, uint64_t value)
{
	uint32_t link = wf_model_host_link(d, i);

	if (what == WF_LIVE_FAULT_PAUSE || what == WF_LIVE_FAULT_CLEAR)
		wf_model_storm(d, i, what == WF_LIVE_FAULT_PAUSE && value != 0);
	if (what == WF_LIVE_FAULT_PAUSE)
		return 0;
	/* A dead host's adapter has no power. */
	if (what == WF_LIVE_FAULT_KILL)
		return wf_model_fault(d, link, WF_LIVE_FAULT_DOWN, 1);
	if (what == WF_LIVE_FAULT_DOWN && (d->table->host[i].down & WF_LIVE_DOWN_DEAD) != 0)
		value = 1;
	return wf_model_fault(d, link, what, value);
}

static int fault_hosts(struct wf_daemon *d, uint32_t host, enum wf_live_fault what, uint64_t value)
{
	int ret = 0;

	for (uint32_t i = 0; i < d->table->n_hosts && ret == 0; i++) {
		if (i != host && host != WF_LIVE_ALL)
			continue;
		if (d->model != NULL)
			ret = set_model(d, i, what, value);
		if (ret == 0)
			set(d, i, what, value);
	}
	return ret;
}

/* A link of the model: a host's is the host's. */
static int fault_link(struct wf_daemon *d, uint32_t link, enum wf_live_fault what, uint64_t value)
{
	if (d->model == NULL || link >= wf_model_links(d))
		return -ENOENT;
	if (wf_model_link_host(d, link) != WF_LIVE_ALL)
		return fault_hosts(d, wf_model_link_host(d, link), what, value);
	return wf_model_fault(d, link, what, value);
}

/* Tells the programs of a host, or of all. */
static void tell_ports(struct wf_daemon *d, uint32_t host, uint32_t what)
{
	struct wf_live_event event = { .type = WF_LIVE_EV_PORT, .port.what = what };

	for (struct wf_dclient *c = d->clients; c != NULL; c = c->next) {
		if (host != WF_LIVE_ALL && (!c->attached || c->host != host))
			continue;
		event.port.state = WF_LIVE_PORT_ACTIVE;
		if (c->attached)
			event.port.state = wf_live_port_state(d->table, c->host);
		wf_daemon_tell(c, &event, NULL);
	}
}

/* The model's settings of ports, into the table; who is on a host is told what is new. */
static void take_ports(struct wf_daemon *d)
{
	for (uint32_t i = 0; i < d->table->n_hosts; i++) {
		uint32_t what = wf_model_host_port(d, i, &d->table->host[i]);

		if (what == 0)
			continue;
		tell_ports(d, i, what);
		wf_join_port(d, i, what);
	}
}

int wf_daemon_fault(struct wf_daemon *d, const struct wf_live_req *req)
{
	uint32_t host = req->fault.host, what = req->fault.what;
	uint64_t value = req->fault.value;
	int ret = 0;

	if (what < WF_LIVE_FAULT_DOWN || what > WF_LIVE_FAULT_CLEAR ||
	    (what == WF_LIVE_FAULT_DELAY ? value > WF_LIVE_DELAY_MAX : value > WF_PROB_ONE))
		return -EINVAL;
	if (host == WF_LIVE_MODEL)
		ret = fault_link(d, req->fault.link, what, value);
	else if (host != WF_LIVE_ALL && host >= d->table->n_hosts)
		return -ENOENT;
	else
		ret = fault_hosts(d, host, what, value);
	/* Everything is well again: between switches, too. */
	for (uint32_t i = 0; ret == 0 && d->model != NULL && host == WF_LIVE_ALL &&
	                     what == WF_LIVE_FAULT_CLEAR && i < wf_model_links(d);
	     i++)
		ret = wf_model_fault(d, i, what, 0);
	if (d->model == NULL)
		note_faulty(d->table);
	else
		take_ports(d);
	tell_ports(d, WF_LIVE_ALL, 0);
	return ret;
}

void wf_daemon_links_changed(struct wf_daemon *d)
{
	bool news = false;

	for (uint32_t i = 0; i < d->table->n_hosts; i++) {
		struct wf_live_host *h = &d->table->host[i];
		uint32_t down = h->down, paused = h->paused;

		wf_model_host_state(d, i, h);
		if (down == 0 && h->down != 0)
			d->gone[i].count[WF_LIVE_LINK_DOWNED]++;
		news |= down != h->down || paused != h->paused;
	}
	take_ports(d);
	if (news)
		tell_ports(d, WF_LIVE_ALL, 0);
}

int wf_daemon_words(struct wf_daemon *d, const struct wf_live_req *req, struct wf_live_reply *reply,
                    int fds[WF_LIVE_MAX_FDS])
{
	struct wf_err err = { "" };
	int ret;

	if (req->op == WF_LIVE_WORDS_LIST) {
		fds[0] = wf_model_words_list(d);
		reply->n_fds = fds[0] >= 0;
		return fds[0] < 0 ? fds[0] : 0;
	}
	ret = wf_model_words(d, req->text, req->op == WF_LIVE_WORDS_CLEAR, &err);
	if (d->model != NULL)
		wf_daemon_links_changed(d);
	snprintf(reply->text, sizeof(reply->text), "%s", err.text);
	return ret;
}
