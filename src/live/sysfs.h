/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sysfs.h - what a host's device looks like below /sys and /dev, for programs that look there.
 *
 * The tree is one of ordinary files in a folder beside the daemon's socket, made for a host when
 * the first program is run on it and removed with the fabric:
 *
 *	DIR/sys/class/infiniband/weft0/...     DIR/sys/class/infiniband_verbs/...
 *	DIR/dev/infiniband/uverbs0
 *
 * and where management packets go
 *
 *	DIR/sys/class/infiniband_mad/{umad0,issm0}/...   DIR/dev/infiniband/{umad0,issm0}
 *
 * What changes while the fabric runs (state, counters) is told by wf_sysfs_live(); the tree has
 * what it was when it was made.
 */
#ifndef WF_LIVE_SYSFS_H
#define WF_LIVE_SYSFS_H

#include "live/proto.h"

#define WF_SYSFS_DEVICE "weft0"
#define WF_SYSFS_UVERBS "uverbs0"
#define WF_SYSFS_UVERBS_MAJOR 231
#define WF_SYSFS_UVERBS_MINOR 192
#define WF_SYSFS_UMAD "umad0" /* in a fabric with management packets */
#define WF_SYSFS_ISSM "issm0"
#define WF_SYSFS_MAD_MAJOR 231
#define WF_SYSFS_UMAD_MINOR 0
#define WF_SYSFS_ISSM_MINOR 64
#define WF_SYSFS_MAX_TEXT 64 /* bytes of a file that changes, at most */

/* The folder of host's tree for the daemon at socket. Returns 0 or -ENAMETOOLONG. */
int wf_sysfs_dir(const char *socket, const char *host, char *dir, size_t size) WF_MUST_USE;

/*
 * Makes host's tree in dir unless there is one. Programs may do so at the same time. Returns 0 or
 * -errno.
 */
int wf_sysfs_make(const struct wf_live_table *t, uint32_t host, const char *dir) WF_MUST_USE;

/* Removes the trees of all hosts of the daemon at socket. */
void wf_sysfs_remove(const char *socket);

/* Whether that may be a file that changes; path as below. */
bool wf_sysfs_is_live(const char *path);

/*
 * What the file at path says now; path is relative to the port's folder ("state",
 * "counters/port_xmit_data"). Returns the length of the text in buf, or -ENOENT when it is not one
 * of those that change.
 */
int wf_sysfs_live(const char *path, const struct wf_live_table *t, uint32_t host,
                  const uint64_t count[WF_LIVE_COUNTS], char buf[WF_SYSFS_MAX_TEXT]) WF_MUST_USE;

#endif
