/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule.c - what every writer of schedules needs.
 */
#include "job/schedule.h"

#include <assert.h>

void wf_op_after(struct wf_op *op, uint16_t stream, uint32_t number)
{
	assert(op->n_deps < WF_OP_DEPS);
	op->dep[op->n_deps++] = (struct wf_op_dep){ .stream = stream, .number = number };
}

/* The first join takes WF_OP_DEPS, every further one the join before it and one fewer. */
uint32_t wf_op_joins(uint32_t n)
{
	return n <= WF_OP_DEPS ? 1 : 1 + (n - WF_OP_DEPS + WF_OP_DEPS - 2) / (WF_OP_DEPS - 1);
}

void wf_op_join(struct wf_op *op, uint32_t k, const struct wf_op_dep *deps, uint32_t n,
                uint16_t stream, uint32_t first)
{
	uint32_t from = k == 0 ? 0 : WF_OP_DEPS + (k - 1) * (WF_OP_DEPS - 1);

	assert(k < wf_op_joins(n));
	op->n_deps = 0;
	if (k > 0)
		wf_op_after(op, stream, first + k - 1);
	for (; op->n_deps < WF_OP_DEPS && from < n; from++)
		op->dep[op->n_deps++] = deps[from];
}
