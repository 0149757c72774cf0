/* SPDX-License-Identifier: Apache-2.0 */
/* turns.h - how a thread asks the system for short turns on a CPU. */
#ifndef WF_LIVE_TURNS_H
#define WF_LIVE_TURNS_H

/*
 * Asks for short turns. On kernels that know of that (6.12 and later), a thread with short turns
 * that is woken does not wait for the end of another's long one. Where it is refused, nothing is
 * lost.
 */
void wf_ask_for_short_turns(void);

#endif
