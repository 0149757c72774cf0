/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h - which paths are those of an RDMA device, and what is there.
 *
 * Paths are a program's own pointers and may lead nowhere: then they are none of ours, and the
 * system says EFAULT.
 */
#ifndef WF_COMPAT_TREE_H
#define WF_COMPAT_TREE_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of a path in the tree, at most. Callers have it on stacks that may be small. */
#define WX_PATH_MAX 512

/* Where the tree is: "" or NULL for none. At the beginning it is as $WEFT_SYSFS says. */
void wx_tree_set(const char *dir);

/*
 * Whether a look at the first letters leaves it open that the path is one of ours; for nearly all
 * it does not.
 */
bool wx_is_candidate(const char *path);

/* Whether path is this text. */
bool wx_path_is(const char *path, const char *text);

/*
 * Copies a path of fewer than size bytes. Returns its length, or -1: it is longer, or not to be
 * read.
 */
int wx_path_copy(const char *path, char *to, size_t size);

/* Whether the path is that of a device file of the tree, and that one's numbers. */
bool wx_is_device(const char *path, unsigned *major_p, unsigned *minor_p);

/*
 * The place of path in the host's tree. Returns false when it is not one of those that the tree
 * has, or there is no tree.
 */
bool wx_translate(const char *path, char buf[WX_PATH_MAX]);

/*
 * Opens a file that changes, as it is now; dir as openat() takes it. Returns a descriptor, or -1
 * when it is none of those, or the daemon does not answer.
 */
int wx_open_live(int dir, const char *path, int flags);

#endif
