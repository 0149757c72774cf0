/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.h - a client of a fabric's daemon: connects, makes sure whose daemon it is, asks, and maps
 * the table of hosts.
 *
 * A daemon of another user is not believed: what it says and the memory that it hands out would be
 * his. The kernel knows who listens at a socket (SO_PEERCRED); a daemon must be this user's or
 * root's.
 */
#ifndef WF_LIVE_CLIENT_H
#define WF_LIVE_CLIENT_H

#include <sys/types.h>

#include "live/proto.h"

/*
 * How long to wait for the daemon, in milliseconds. People are told that it does not answer:
 * at once if it is stopped (SIGSTOP), else after a time that no machine is too busy for. Programs
 * wait as they would for a device.
 */
#define WF_CLIENT_PATIENCE 60000
#define WF_CLIENT_FOR_EVER (-1)

/*
 * Connects to the daemon at path. Returns the socket or -errno: -ENOENT: there is none,
 * -ECONNREFUSED: it is dead and left its socket behind, -EPERM: it is another user's, -ETIMEDOUT:
 * it does not take anybody in.
 */
int wf_client_connect(const char *path, int patience) WF_MUST_USE;

/*
 * Asks one question; fills in req->version. On success the caller owns reply->n_fds descriptors in
 * fds, which are as many as came; the others are -1. Returns 0 or -errno: the daemon's answer, then
 * reply->error is the same, or why there is none, then reply->error is 0: -ECONNRESET: the
 * connection has ended, -EPERM: the daemon is another user's, -ETIMEDOUT: it does not answer,
 * -EPROTO: that was no answer.
 */
int wf_client_ask(int sock, struct wf_live_req *req, struct wf_live_reply *reply,
                  int fds[WF_LIVE_MAX_FDS], int patience) WF_MUST_USE;

/* The same over a connection for this question alone. */
int wf_client_ask_at(const char *path, struct wf_live_req *req, struct wf_live_reply *reply,
                     int fds[WF_LIVE_MAX_FDS], int patience) WF_MUST_USE;

/*
 * Maps the table that the file fd is, which it closes in any case. Returns 0 or -errno; -EPROTO: it
 * is no table, or does not have the hosts that it says.
 */
int wf_client_table(int fd, const struct wf_live_table **table_p) WF_MUST_USE;
void wf_client_free_table(const struct wf_live_table *table);

/* Who is at the other end of a socket. Returns 0, or -EPERM: neither this user nor root. */
int wf_client_peer(int sock, pid_t *pid_p) WF_MUST_USE;

/* Whether the process is stopped, by a signal or a debugger. */
bool wf_client_is_stopped(pid_t pid);

#endif
