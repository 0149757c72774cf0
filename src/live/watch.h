/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.h - what a daemon's loop waits for: a descriptor, and who is called when it is ready.
 */
#ifndef WF_LIVE_WATCH_H
#define WF_LIVE_WATCH_H

#include <errno.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "base/base.h"

struct wf_daemon;
struct wf_watch;

/* Something is ready: events are those of epoll. It does not wait for anybody. */
typedef void wf_ready_fn(struct wf_daemon *d, struct wf_watch *w, uint32_t events);

/*
 * Lies in what the descriptor belongs to, which stays where it is until the loop's round is over.
 * ready NULL: the loop goes round, and that is all.
 */
struct wf_watch {
	wf_ready_fn *ready;
};

/* Waits for these events at fd, which is not waited for yet. Returns 0 or -errno. */
static inline int WF_MUST_USE wf_watch_add(int epoll, int fd, uint32_t events, struct wf_watch *w)
{
	struct epoll_event event = { .events = events, .data = { .ptr = w } };

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0 ? -errno : 0;
}

/* Waits for other events there. Returns 0 or -errno. */
static inline int wf_watch_change(int epoll, int fd, uint32_t events, struct wf_watch *w)
{
	struct epoll_event event = { .events = events, .data = { .ptr = w } };

	return epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event) != 0 ? -errno : 0;
}

#endif
