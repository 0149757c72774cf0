/* SPDX-License-Identifier: Apache-2.0 */
/* telemetry.h - from what switches wrote into a packet to what congestion control is told. */
#ifndef WF_SIM_HOST_TELEMETRY_H
#define WF_SIM_HOST_TELEMETRY_H

#include "cc/cc.h"
#include "fabric/telemetry.h"

_Static_assert(sizeof(struct wf_int_hop) == sizeof(struct wf_cc_hop) && WF_INT_HOPS == WF_CC_HOPS,
               "the same, in two layers");

static inline void wf_telemetry_read(const struct wf_fabric *fabric, const struct wf_int_record *r,
                                     struct wf_cc_int *t)
{
	t->use = 0;
	if (fabric->telemetry == WF_TELEMETRY_PINT) {
		t->hops = 0;
		t->use = wf_pint_decode(&fabric->pint, r->code);
		return;
	}
	t->hops = r->hops < WF_INT_HOPS ? r->hops : WF_INT_HOPS;
	memcpy(t->hop, r->hop, t->hops * sizeof(t->hop[0]));
}

#endif
