/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune_priv.h - between the model's tables and its search for channels.
 */
#ifndef WF_JOB_TUNE_PRIV_H
#define WF_JOB_TUNE_PRIV_H

#include <assert.h>

#include "job/tune.h"

#define WF_TUNE_DIRECT_GPUS 8 /* of a server at most, with CollNet */

/* Finds the graphs and how many channels there are. */
void wf_tune_search(struct wf_tune *tune);

/* Bytes of data that one step of a channel's pipeline has. */
uint64_t wf_tune_chunk(const struct wf_tune *tune, enum wf_coll_kind kind,
                       const struct wf_tune_choice *choice, uint64_t bytes);

#endif
