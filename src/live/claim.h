/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim.h - whose a daemon's path is: his who has locked PATH.lock. The system lets the lock go
 * when its last holder ends, however it ends; the file itself is removed only by who has it locked.
 */
#ifndef WF_LIVE_CLAIM_H
#define WF_LIVE_CLAIM_H

#include <stdbool.h>

#include "base/base.h"

/*
 * Claims path. Returns a descriptor or -errno: -EEXIST: another has it. Processes that are forked
 * have the claim together.
 */
int wf_claim_take(const char *path) WF_MUST_USE;

/* Whether somebody has it, or had it when he was killed. */
bool wf_claim_is_made(const char *path);

/* Removes the lock file, too, and closes claim. */
void wf_claim_end(const char *path, int claim);

/*
 * Removes what the daemon at path left behind when it was killed: its socket, its files. Returns 0,
 * -EEXIST: a daemon is there, -ENOENT: nothing was left, or -errno.
 */
int wf_claim_clean(const char *path) WF_MUST_USE;

#endif
