/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eta.h - how fast something goes, how far it is and how long it will still take, in words.
 */
#ifndef WF_RUN_ETA_H
#define WF_RUN_ETA_H

#include "base/base.h"

#define WF_ETA_TEXT 96

/*
 * After spent ns, share of all (which is not 0) is done, and hops packet-hops were simulated:
 * "1.2 million packet-hops/s, 34 %, 5 min left". What is not known yet is left out.
 */
void wf_eta_text(uint64_t spent, double share, uint64_t hops, char *buf, size_t size);

#endif
