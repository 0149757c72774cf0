/* SPDX-License-Identifier: Apache-2.0 */
/* daemon_fault.c - faults on demand: written into the table that programs read, and told to them. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/param.h"
#include "live/daemon_priv.h"

/* A host loses its power: its programs end where they stand. */
static void kill_programs(struct wf_daemon *d, uint32_t host)
{
	for (struct wf_dclient *c = d->clients; c != NULL; c = c->next) {
		if (!c->attached || c->host != host)
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

int wf_daemon_fault(struct wf_daemon *d, const struct wf_live_req *req)
{
	struct wf_live_event event = { .type = WF_LIVE_EV_PORT };
	uint32_t host = req->fault.host, what = req->fault.what;
	uint64_t value = req->fault.value;

	if (what < WF_LIVE_FAULT_DOWN || what > WF_LIVE_FAULT_CLEAR ||
	    (what == WF_LIVE_FAULT_DELAY ? value > WF_LIVE_DELAY_MAX : value > WF_PROB_ONE))
		return -EINVAL;
	if (host != WF_LIVE_ALL && host >= d->table->n_hosts)
		return -ENOENT;
	for (uint32_t i = 0; i < d->table->n_hosts; i++) {
		if (i == host || host == WF_LIVE_ALL)
			set(d, i, what, value);
	}
	note_faulty(d->table);
	for (struct wf_dclient *c = d->clients; c != NULL; c = c->next)
		wf_daemon_tell(c, &event, NULL);
	return 0;
}
