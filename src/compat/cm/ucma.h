/* SPDX-License-Identifier: Apache-2.0 */
/* ucma.h - /dev/infiniband/rdma_cm, to which librdmacm writes its commands. */
#ifndef WF_COMPAT_UCMA_H
#define WF_COMPAT_UCMA_H

/* Opens a channel, flags as for open(). Returns a descriptor or -errno. */
int wv_ucma_open(int flags);

/* The device is gone: every id that is somewhere on it hears of it. Under the adapter's lock. */
void wv_ucma_removed(void);

/* In a child after fork(): a command of another thread of the parent is none of the child. */
void wv_ucma_fork_child(void);

#endif
