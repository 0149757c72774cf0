/* SPDX-License-Identifier: Apache-2.0 */
/*
 * umad.h - /dev/infiniband/umad0 and issm0, by which management programs send and receive MADs
 * (libibumad, rdma/ib_user_mad.h, version 5 of that interface).
 */
#ifndef WF_COMPAT_UMAD_H
#define WF_COMPAT_UMAD_H

/* Open them on this program's host, flags as for open(). Return a descriptor or -errno. */
int wv_umad_open(int flags);
int wv_issm_open(int flags);

#endif
