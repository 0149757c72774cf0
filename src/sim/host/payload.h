/* SPDX-License-Identifier: Apache-2.0 */
/*
 * payload.h - where the bytes of packets are while the fabric carries their headers.
 *
 * They are objects of a store (engine/store.h), whose number is struct wf_packet.payload; 0 is
 * none.
 */
#ifndef WF_SIM_HOST_PAYLOAD_H
#define WF_SIM_HOST_PAYLOAD_H

#include "base/base.h"
#include "wire/size.h"

struct wf_payload {
	uint32_t unused; /* the store's */
	wf_time born;    /* when the packet left its host */
	uint8_t bytes[WF_MTU_MAX] WF_ALIGNED(WF_CACHE_LINE);
};

#endif
