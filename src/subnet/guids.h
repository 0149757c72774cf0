/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guids.h - tables from numbers of 64 bits, but 0, to those of 32, and arrays that grow: for the
 * files of subnet.
 */
#ifndef WF_SUBNET_GUIDS_H
#define WF_SUBNET_GUIDS_H

#include "subnet/subnet.h"

/* The first who comes with a GUID has it; GUID 0 is nobody's. Returns 0 or -ENOMEM. */
int wf_guids_add(struct wf_subnet_guids *t, struct wf_mem *mem, uint64_t guid,
                 uint32_t value) WF_MUST_USE;

/* What a GUID stands for, or WF_SUBNET_NONE. */
uint32_t wf_guids_find(const struct wf_subnet_guids *t, uint64_t guid);

void wf_guids_fini(struct wf_subnet_guids *t, struct wf_mem *mem);

/*
 * Makes room for want items of size bytes in *items, of which n are used and for *max_p there is
 * room. Returns 0 or -ENOMEM.
 */
int wf_make_room(struct wf_mem *mem, void **items, uint32_t n, uint32_t want, uint32_t *max_p,
                 size_t size) WF_MUST_USE;

#endif
