/* SPDX-License-Identifier: Apache-2.0 */
/*
 * psn.h - arithmetic on 24-bit packet sequence numbers.
 */
#ifndef WF_RDMA_PSN_H
#define WF_RDMA_PSN_H

#include <stdint.h>

#include "wire/transport.h"

static inline uint32_t wf_psn_add(uint32_t psn, uint32_t n)
{
	return (psn + n) & WF_PSN_MASK;
}

/* Signed distance from b to a on the circle, in [-2^23, 2^23). Negative: a comes before b. */
static inline int32_t wf_psn_diff(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << 8) >> 8;
}

#endif
