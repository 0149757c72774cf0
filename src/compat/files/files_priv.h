/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files_priv.h - which paths are those of an RDMA device, and what is there.
 */
#ifndef WF_COMPAT_FILES_PRIV_H
#define WF_COMPAT_FILES_PRIV_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Whether the path is that of a device file. NULL is none. */
bool wx_is_device(const char *path);

/*
 * The place of path in the host's tree, in buf of PATH_MAX. Returns false when it is not one of
 * those that the tree has, or there is no tree.
 */
bool wx_translate(const char *path, char *buf);

/*
 * Opens a file that changes, as it is now; dir as openat() takes it. Returns a descriptor, or -1
 * when it is none of those, or the daemon does not answer.
 */
int wx_open_live(int dir, const char *path, int flags);

#pragma GCC visibility pop

#endif
