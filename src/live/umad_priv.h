/* SPDX-License-Identifier: Apache-2.0 */
/* umad_priv.h - hosts, files and agents of management programs. */
#ifndef WF_LIVE_UMAD_PRIV_H
#define WF_LIVE_UMAD_PRIV_H

#include "live/model_priv.h"
#include "live/umad.h"
#include "live/umad_proto.h"
#include "mgmt/mux.h"

/* What wf_umad_queue() takes of MADs that have come, and an agent of its room. */
#define WF_UMAD_QUEUE (2 * WF_UMAD_MAX)
#define WF_UMAD_ROOM (2 * WF_UMAD_MAX)

/* An agent of a file. */
struct wf_umad_agent {
	struct wf_dumad *file;
	struct wf_mux_agent *agent; /* NULL: there is none */
	uint32_t id;
};

/* A MAD that has come, or has not been answered, and waits to be read. */
struct wf_umad_mad {
	struct wf_umad_mad *next;
	uint32_t total, sent; /* bytes of data; so many are in the socket */
	uint8_t data[];       /* header and MAD */
};

/* A file that a program has open. */
struct wf_dumad {
	struct wf_daemon *daemon;
	struct wf_dclient *client;
	uint32_t host;
	int sock; /* of what comes */
	struct wf_watch room;
	struct wf_umad_agent agent[WF_UMAD_AGENTS];
	struct wf_umad_mad *mads, **tail; /* for which the socket has no room */
	size_t queued;                    /* bytes of them */
	uint64_t dropped;                 /* MADs that came and were too much */
	uint8_t *parts;                   /* of a MAD that is sent in several; NULL: none */
	size_t n_parts;                   /* bytes that have come */
};

/* Of the whole fabric. */
struct wf_dumads {
	struct wf_managed_users users;
	struct wf_umad_host {
		struct wf_mux *mux; /* NULL: none of its programs has managed anything, and nobody
		                       asked */
		struct wf_dclient *sm; /* is its manager */
	} * host;
	uint32_t *active; /* hosts with a mux */
	uint32_t n_active;
	bool blocked; /* there was no room for all that was to be sent */
};

/* umad.c: makes the mux of a host, if it has none yet. Returns it; NULL: no memory. */
struct wf_mux *wf_umad_mux(struct wf_daemon *d, uint32_t host);

/*
 * Sends what a program has written: header and MAD, length bytes in all. Returns 0 or -errno, as
 * Linux would say.
 */
int wf_umad_send(struct wf_dumad *f, const uint8_t *data, size_t length);

/* Makes an agent, or ends one. Returns 0 or -errno. */
int wf_umad_register(struct wf_daemon *d, struct wf_dumad *f, const struct wf_umad_ask *ask,
                     uint32_t *id_p) WF_MUST_USE;
int wf_umad_unregister(struct wf_dumad *f, uint32_t id) WF_MUST_USE;

/* umad_file.c: has a file read that. came: by itself, so that it may be dropped. */
void wf_umad_queue(struct wf_dumad *f, const uint8_t hdr[WF_UMAD_HDR], const uint8_t *mad,
                   size_t length, bool came);

#endif
