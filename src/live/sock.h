/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sock.h - messages with file descriptors over a SOCK_SEQPACKET socket, and where the daemon's is.
 */
#ifndef WF_LIVE_SOCK_H
#define WF_LIVE_SOCK_H

#include <stdbool.h>

#include "live/proto.h"

/*
 * Sends one message with n_fds descriptors, which stay the caller's. Waits only if wait is true.
 * Returns 0 or -errno.
 */
int wf_sock_send(int sock, const void *msg, size_t size, const int *fds, unsigned n_fds,
                 bool wait) WF_MUST_USE;

/*
 * Receives one message of at most size bytes; the rest of *msg is zeroed. Up to WF_LIVE_MAX_FDS
 * descriptors are stored in fds, which the caller then owns; *n_fds_p says how many. Returns the
 * number of bytes, 0 when the other end is closed, or -errno (-EAGAIN: none is there, -EMSGSIZE:
 * too long).
 */
int wf_sock_recv(int sock, void *msg, size_t size, int fds[WF_LIVE_MAX_FDS], unsigned *n_fds_p,
                 bool wait) WF_MUST_USE;

/*
 * The path of the socket of the fabric called name (NULL: $WEFT_FABRIC, else "default"): in
 * $WEFT_RUNTIME_DIR, else $XDG_RUNTIME_DIR/weft, else /tmp/weft-UID. With make, makes the folder,
 * for this user alone. Returns 0 (also where there is no folder yet), -ENAMETOOLONG, -EINVAL (a
 * name with a slash, or an empty one), or -EACCES when the folder is somebody else's, or others may
 * write into it.
 */
int wf_sock_path(const char *name, bool make, char *path, size_t size) WF_MUST_USE;

/* The folder of these sockets, as above. */
int wf_sock_dir(bool make, char *path, size_t size) WF_MUST_USE;

/* /tmp/weft-UID, whatever the environment says; it is made. */
int wf_sock_tmp_dir(char *path, size_t size) WF_MUST_USE;

/*
 * Connects to whoever listens at path (client.h asks who that is), and waits for patience ms at
 * most until it has room, -1: for ever. Returns the socket or -errno; -ENOENT or -ECONNREFUSED:
 * nobody, -ETIMEDOUT: no room.
 */
int wf_sock_connect(const char *path, int patience) WF_MUST_USE;

#endif
