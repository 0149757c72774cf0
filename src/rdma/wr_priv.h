/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wr_priv.h - what kind of work an opcode of a work request asks for, for src/rdma only.
 */
#ifndef WF_RDMA_WR_PRIV_H
#define WF_RDMA_WR_PRIV_H

#include <stdbool.h>

#include "rdma/verbs.h"

static inline bool wf_wr_is_local(uint8_t opcode)
{
	return opcode == WF_WR_LOCAL_INV || opcode == WF_WR_BIND_MW;
}

/* READ and atomics: done when answered, not when acknowledged. */
static inline bool wf_wr_is_answered(uint8_t opcode)
{
	return (opcode >= WF_WR_RDMA_READ && opcode <= WF_WR_ATOMIC_FETCH_AND_ADD) ||
	       opcode == WF_WR_ATOMIC_WRITE;
}

/* Answered by READ responses; that of an ATOMIC WRITE has no bytes. */
static inline bool wf_wr_is_read(uint8_t opcode)
{
	return opcode == WF_WR_RDMA_READ || opcode == WF_WR_ATOMIC_WRITE;
}

#endif
