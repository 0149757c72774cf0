/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon_capture.c - captures: the daemon makes a tap for each program and each capture that wants
 * its host, and hands it to both.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "live/daemon_priv.h"
#include "live/tap.h"

#define AT_ONCE 32 /* taps with one question: what tells of them has to fit its socket */

static uint32_t bit_of(const struct wf_dclient *capture)
{
	_Static_assert(WF_LIVE_CAPTURES <= 32, "each has a bit");
	assert(capture->capture->number < WF_LIVE_CAPTURES);
	return UINT32_C(1) << capture->capture->number;
}

static bool wants(const struct wf_dclient *capture, const struct wf_dclient *c)
{
	return c->attached && !c->doomed && !capture->doomed && capture->capture->host[c->host] &&
	       (c->taps & bit_of(capture)) == 0;
}

/* Program c feeds the capture from now on. Without memory for that it does not. */
static void make_tap(struct wf_dclient *capture, struct wf_dclient *c)
{
	struct wf_live_event event = {
		.type = WF_LIVE_EV_TAP,
		.n_fds = 1,
		.tap = { .host = c->host,
		         .slot = c->slot,
		         .capture = capture->capture->number,
		         .snaplen = capture->capture->snaplen },
	};
	int memory = wf_tap_memory();

	assert(c != capture && c->attached && (c->taps & bit_of(capture)) == 0);
	c->taps |= bit_of(capture);
	if (memory < 0)
		return;
	wf_daemon_tell(capture, &event, &memory);
	wf_daemon_tell(c, &event, &memory);
	close(memory);
}

/* The first question of a capture. */
static int begin(struct wf_daemon *d, struct wf_dclient *c, uint32_t snaplen,
                 struct wf_live_reply *reply, int fds[WF_LIVE_MAX_FDS])
{
	uint32_t number = 0;
	int pair[2];

	while (number < WF_LIVE_CAPTURES && d->captures[number] != NULL)
		number++;
	if (number == WF_LIVE_CAPTURES)
		return -EUSERS;
	c->capture = calloc(1, sizeof(*c->capture) + d->table->n_hosts * sizeof(bool));
	if (c->capture == NULL)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
		free(c->capture);
		c->capture = NULL;
		return -EMFILE;
	}
	c->capture->number = number;
	c->capture->snaplen = snaplen;
	d->captures[number] = c;
	c->events = pair[0];
	fds[0] = pair[1];
	fds[1] = fcntl(d->table_fd, F_DUPFD_CLOEXEC, 0);
	reply->n_fds = 2;
	return 0;
}

int wf_daemon_capture(struct wf_daemon *d, struct wf_dclient *c, const struct wf_live_req *req,
                      struct wf_live_reply *reply, int fds[WF_LIVE_MAX_FDS])
{
	uint32_t host = req->capture.host, n = 0;
	int ret = 0;

	if (c->attached || (host != WF_LIVE_ALL && host >= d->table->n_hosts))
		return -EINVAL;
	if (c->capture == NULL)
		ret = begin(d, c, req->capture.snaplen, reply, fds);
	if (ret != 0)
		return ret;
	for (uint32_t i = 0; i < d->table->n_hosts; i++) {
		if (i == host || host == WF_LIVE_ALL)
			c->capture->host[i] = true;
	}
	for (struct wf_dclient *o = d->clients; o != NULL; o = o->next) {
		if (!wants(c, o))
			continue;
		if (n == AT_ONCE) {
			reply->capture.more = 1;
			break;
		}
		make_tap(c, o);
		n++;
	}
	return 0;
}

void wf_daemon_tap(struct wf_daemon *d, struct wf_dclient *c)
{
	for (uint32_t i = 0; i < WF_LIVE_CAPTURES; i++) {
		if (d->captures[i] != NULL && wants(d->captures[i], c))
			make_tap(d->captures[i], c);
	}
}

void wf_daemon_untap(struct wf_daemon *d, struct wf_dclient *c, const struct wf_live_event *gone)
{
	struct wf_live_event end = { .type = WF_LIVE_EV_TAP_END };

	for (uint32_t i = 0; c->taps != 0 && i < WF_LIVE_CAPTURES; i++) {
		assert((c->taps & UINT32_C(1) << i) == 0 || d->captures[i] != NULL);
		if ((c->taps & UINT32_C(1) << i) != 0)
			wf_daemon_tell(d->captures[i], gone, NULL);
	}
	if (c->capture == NULL)
		return;
	end.tap.capture = c->capture->number;
	for (struct wf_dclient *o = d->clients; o != NULL; o = o->next) {
		if ((o->taps & bit_of(c)) == 0)
			continue;
		o->taps &= ~bit_of(c);
		wf_daemon_tell(o, &end, NULL);
	}
	assert(d->captures[c->capture->number] == c);
	d->captures[c->capture->number] = NULL;
	free(c->capture);
	c->capture = NULL;
}
