/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.h - what the commands of live fabrics share: what fabric is meant, and asking its daemon.
 */
#ifndef WF_CLI_LIVE_LIVE_H
#define WF_CLI_LIVE_LIVE_H

#include "base/err.h"
#include "text/file.h"
#include "live/daemon.h"
#include "live/model_state.h"
#include "live/proto.h"

#define WF_LIVE_WIRES 16
#define WF_LIVE_DEFAULT_FABRIC "roce-400g"

/* Writes what is wrong into err and returns rc. */
int wf_live_err(struct wf_err *err, int rc, const char *fmt, ...) WF_PRINTF(3, 4);

/*
 * The socket of the fabric called name (NULL: the default). make: also makes its folder. Returns 0,
 * or a negative error with err filled.
 */
int wf_live_path(const char *name, bool make, char path[WF_PATH_MAX],
                 struct wf_err *err) WF_MUST_USE;

/*
 * Asks the daemon at path one question. On success the caller owns reply->n_fds descriptors in fds.
 * Returns 0, or a negative error with err filled: what the daemon answered, also in reply->error,
 * or with that 0: -ENOENT: there is no fabric, -ECONNREFUSED: its daemon is dead, …
 */
int wf_live_ask(const char *path, struct wf_live_req *req, struct wf_live_reply *reply,
                int fds[WF_LIVE_MAX_FDS], struct wf_err *err) WF_MUST_USE;

/* A fabric as its daemon tells of it. */
struct wf_live_picture {
	const struct wf_live_table *table; /* this is the daemon's own, and follows what happens */
	const struct wf_live_status *status; /* this is how it was */
	uint32_t n;                          /* hosts and programs in status */
	const struct wf_live_model *model;   /* NULL: packets go directly */
	size_t status_bytes, model_bytes;
};

/* Asks the daemon at path for it. Returns 0, or a negative error with err filled. */
int wf_live_look(const char *path, struct wf_live_picture *picture, struct wf_err *err) WF_MUST_USE;
void wf_live_picture_fini(struct wf_live_picture *picture);

/*
 * Finds the host that text means: its name, or its link's (h1-s1). Returns 0, or says that there is
 * none in the name of the command cmd and returns WF_EXIT_USAGE.
 */
int wf_live_find_host(const char *cmd, const struct wf_live_table *table, const char *text,
                      uint32_t *host_p) WF_MUST_USE;

/* What has been counted of a host. Returns 0, or a negative error with err filled. */
int wf_live_counts(const char *path, const char *host, uint64_t count[WF_LIVE_COUNTS],
                   struct wf_err *err) WF_MUST_USE;

/* What a fabric to be started is like. */
struct wf_live_plan {
	const char *name;                 /* NULL: the default */
	const char *file;                 /* cluster file; NULL: hosts on one switch */
	const char *fabric;               /* profile; NULL: the file's, or RoCE at 400 Gb/s */
	const char *profiles;             /* folder; NULL */
	uint32_t hosts;                   /* without a file */
	const char *wires[WF_LIVE_WIRES]; /* "h2=192.0.2.1:4791": hosts at real addresses */
	uint32_t n_wires;
	const char *metrics; /* "127.0.0.1:9100"; NULL */
	const char *pace;    /* "wall", "none", "direct"; NULL: the file's; without one direct */
};

/*
 * Starts the fabric of plan at path in a process of its own, which lives until somebody stops it
 * or, with tied, until this process has ended and no program is left on it. Programs can attach
 * when it returns. Returns 0, or a negative error with err filled.
 */
int wf_live_start(const struct wf_live_plan *plan, const char *path, bool tied,
                  struct wf_err *err) WF_MUST_USE;

/* The same in this process, until it is stopped or interrupted. */
int wf_live_run(const struct wf_live_plan *plan, const char *path, struct wf_err *err) WF_MUST_USE;

#endif
