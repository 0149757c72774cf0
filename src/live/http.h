/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.h - answers HTTP requests for the metrics (metrics.h) in the daemon's loop. What HTTP is,
 * libmicrohttpd knows; it has no thread here: its epoll descriptor is one of those that the loop
 * waits for, and wf_http_serve() does what there is to do.
 *
 * Nothing here waits for anybody: a page is made and sent in pieces, one a round of the loop, as
 * the reader takes them. Connections that are still for PATIENCE seconds end. Where all places are
 * taken, or all that one address may have, who has been served nothing for longest loses his.
 */
#ifndef WF_LIVE_HTTP_H
#define WF_LIVE_HTTP_H

#include <sys/socket.h>

#include "live/daemon_priv.h"

#define WF_HTTP_CONNS 32   /* connections at once, */
#define WF_HTTP_PER_IP 8   /* those of one address, */
#define WF_HTTP_BYTES 8192 /* and the memory of each: no request is longer */

struct MHD_Connection;
struct MHD_Daemon;

/* A place for a connection. */
struct wf_http_conn {
	struct MHD_Connection *mhd; /* NULL: nobody's */
	uint8_t from[16];           /* its address; IPv4: mapped */
	int fd;
	uint64_t since; /* when it was last given something: rounds of wf_http.round */
};

struct wf_http {
	struct wf_watch knocks; /* at the listener */
	struct wf_watch moves;  /* at the library's connections */
	struct MHD_Daemon *mhd;
	int listener;
	bool due; /* something moves */
	uint32_t n_conns;
	uint64_t round; /* of those in which somebody was given something */
	struct wf_http_conn conn[WF_HTTP_CONNS];
};

/* Listens at an IPv4 or IPv6 address; port 0: at any. Returns 0 or -errno. */
int wf_http_open(struct wf_daemon *d, const struct sockaddr_storage *at) WF_MUST_USE;
void wf_http_close(struct wf_daemon *d);

/*
 * Takes a connection, which is fd's, over; it comes from there (NULL: from nowhere in particular).
 * Returns 0 or -errno; then fd is closed.
 */
int wf_http_take(struct wf_daemon *d, int fd, const struct sockaddr *from,
                 socklen_t len) WF_MUST_USE;

/* Does what there is to do by now; after wf_http_rest() ms there is more, -1: not by itself. */
void wf_http_serve(struct wf_daemon *d);
int wf_http_rest(const struct wf_daemon *d);

#endif
