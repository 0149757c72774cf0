/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fabric_table.c - one table out of two.
 */
#include "lab/fabric_table.h"

#include <errno.h>
#include <string.h>

/* Rows of the fabric's own table describe the first member. */
_Static_assert(offsetof(struct wf_fabric_values, cfg) == 0, "the fabric comes first");

int wf_fabric_table(struct wf_arena *arena, const struct wf_param **rows_p, size_t *n_p)
{
	struct wf_param *cc, *rows;
	size_t n_cc;

	if (wf_cc_choice_rows(&arena->mem, offsetof(struct wf_fabric_values, cc), &cc, &n_cc) != 0)
		return -ENOMEM;
	rows = wf_arena_alloc(arena, (wf_fabric_n_params + n_cc) * sizeof(*rows), WF_CACHE_LINE);
	if (rows == NULL)
		return -ENOMEM;
	memcpy(rows, wf_fabric_params, wf_fabric_n_params * sizeof(*rows));
	memcpy(rows + wf_fabric_n_params, cc, n_cc * sizeof(*rows));
	*rows_p = rows;
	*n_p = wf_fabric_n_params + n_cc;
	return 0;
}
