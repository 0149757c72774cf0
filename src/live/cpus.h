/* SPDX-License-Identifier: Apache-2.0 */
/* cpus.h - the CPUs that this process may use, and how a thread asks for short turns on one. */
#ifndef WF_LIVE_CPUS_H
#define WF_LIVE_CPUS_H

#include <stdbool.h>

/*
 * Asks for short turns. On kernels that know of that (6.12 and later), a thread with short turns
 * that is woken does not wait for the end of another's long one. Where it is refused, nothing is
 * lost.
 */
void wf_ask_for_short_turns(void);

/* How many this process may use, as far as the system tells; 1 at least. */
unsigned wf_cpus(void);

/*
 * Whether all that this process may use have a cache in common, so that what one writes another
 * finds there. False where the system does not tell.
 */
bool wf_cpus_share_cache(void);

#endif
