/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h - how messages call nodes and ports: by the description, and by the GUID as well where
 * several have the same description.
 */
#ifndef WF_SUBNET_NAMES_H
#define WF_SUBNET_NAMES_H

#include "subnet/subnet.h"

#define WF_SUBNET_NAME 112 /* bytes of such a name */

struct wf_subnet_names {
	const struct wf_subnet *subnet;
	uint32_t *order; /* node ids by description */
	uint8_t *twin;   /* by node: another has its description */
};

/*
 * Borrows the subnet, which does not change. Returns 0 or -ENOMEM; undone by
 * wf_subnet_names_fini().
 */
int wf_subnet_names_init(struct wf_subnet_names *names, const struct wf_subnet *subnet) WF_MUST_USE;
void wf_subnet_names_fini(struct wf_subnet_names *names);

/* "leaf1", "leaf1 0x2c90300a0b1c0" */
const char *wf_subnet_name(const struct wf_subnet_names *names, uint32_t id,
                           char buf[WF_SUBNET_NAME]);

/* "leaf1[3]" */
const char *wf_subnet_port_name(const struct wf_subnet_names *names, uint32_t port,
                                char buf[WF_SUBNET_NAME]);

#endif
