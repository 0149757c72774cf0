/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.h - answers HTTP requests for the metrics (metrics.h) in the daemon's loop.
 *
 *	        whole request          the page is sent, or nobody
 *	READS ----------------> WRITES ---------------------------> closed
 *	  |                        |       takes it
 *	  +-- no request, 10 s ----+--> closed
 *
 * Nothing here waits for anybody: a page is made and sent in pieces, one a round of the loop, as
 * the reader takes them. Where all places are taken, who has done nothing for longest loses his.
 */
#ifndef WF_LIVE_HTTP_H
#define WF_LIVE_HTTP_H

#include "live/metrics.h"
#include "live/watch.h"

#define WF_HTTP_CONNS 8
#define WF_HTTP_BYTES 16384

enum wf_http_state { WF_HTTP_FREE, WF_HTTP_READS, WF_HTTP_WRITES };

struct wf_http_conn {
	struct wf_watch watch;
	enum wf_http_state state;
	int fd;
	uint64_t since;          /* milliseconds: when it last took or gave a byte */
	bool chunked;            /* WRITES: HTTP/1.1 */
	bool last;               /* WRITES: there is no more behind what is in text */
	struct wf_metrics_at at; /* WRITES: how far the page is made */
	uint32_t have, done;     /* bytes in text, and those of them that are sent */
	char text[WF_HTTP_BYTES];
};

struct wf_http {
	struct wf_watch watch;
	int listener;
	struct wf_http_conn conn[WF_HTTP_CONNS];
};

/* Listens. Returns 0 or -errno. */
int wf_http_open(struct wf_daemon *d, uint32_t ipv4, uint16_t port) WF_MUST_USE;
void wf_http_close(struct wf_daemon *d);

/* Takes a connection, which is fd's, over. Returns 0 or -errno; then fd is closed. */
int wf_http_take(struct wf_daemon *d, int fd) WF_MUST_USE;

/* Ends connections that have done nothing for long; after wf_http_rest() ms, -1: never. */
void wf_http_age(struct wf_daemon *d);
int wf_http_rest(const struct wf_daemon *d);

#endif
