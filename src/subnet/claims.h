/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claims.h - what a file says a port leads to, until all has been read and both ends are known.
 */
#ifndef WF_SUBNET_CLAIMS_H
#define WF_SUBNET_CLAIMS_H

#include "subnet/subnet.h"

struct wf_claim {
	uint32_t line; /* 0: nothing is said of the port */
	uint32_t node; /* where it leads */
	uint8_t port;
};

/*
 * Connects ports as claims, by index into the subnet's ports, say; where both ends do not say the
 * same, keeps a doubt. A node whose whole is not told (told[id] is 0) need not say anything.
 * Returns 0 or -ENOMEM.
 */
int wf_claims_join(struct wf_subnet *subnet, const struct wf_claim *claims,
                   const uint8_t *told) WF_MUST_USE;

#endif
