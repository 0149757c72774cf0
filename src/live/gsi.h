/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gsi.h - whose a message to queue pair 1 of a host is. A host has one, but an adapter for each of
 * its programs: a communication ID begins with the slot of the program that chose it, and requests
 * name a service that somebody listens for.
 */
#ifndef WF_LIVE_GSI_H
#define WF_LIVE_GSI_H

#include <stdbool.h>

#include "live/proto.h"
#include "mgmt/cm.h"
#include "wire/byte.h"

_Static_assert(WF_LIVE_SLOTS <= UINT32_C(1) << (32 - WF_CM_ID_SHIFT), "an ID begins with a slot");

static inline uint16_t wf_gsi_attr(const uint8_t *mad)
{
	return wf_be16_get(mad + 16);
}

/* Whether it is for who listens for its service. */
static inline bool wf_gsi_is_request(const uint8_t *mad)
{
	return wf_gsi_attr(mad) == WF_CM_REQ || wf_gsi_attr(mad) == WF_CM_SIDR_REQ;
}

static inline uint64_t wf_gsi_service(const uint8_t *mad)
{
	return wf_be64_get(mad + WF_CM_DATA + 8);
}

/* The program that any other message is for. */
static inline uint32_t wf_gsi_slot(const uint8_t *mad)
{
	return (wf_gsi_attr(mad) == WF_CM_SIDR_REP ? wf_cm_local_id(mad) : wf_cm_remote_id(mad)) >>
	       WF_CM_ID_SHIFT;
}

/*
 * Nobody speaks in another's name. Who rejects a REQ, or has nothing to disconnect, has none yet.
 */
static inline bool wf_gsi_is_from(const uint8_t *mad, uint32_t slot)
{
	uint16_t attr = wf_gsi_attr(mad);

	return attr == WF_CM_SIDR_REP || wf_cm_local_id(mad) >> WF_CM_ID_SHIFT == slot ||
	       (attr == WF_CM_REJ && wf_cm_local_id(mad) == 0);
}

#endif
