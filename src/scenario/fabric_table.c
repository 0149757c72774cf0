/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fabric_table.c - one table out of five.
 */
#include "scenario/fabric_table.h"

#include <errno.h>
#include <string.h>

#include "job/net.h"

/* Rows of the fabric's own table describe the first member. */
_Static_assert(offsetof(struct wf_fabric_values, cfg) == 0, "the fabric comes first");

#define FIELD(f) WF_PARAM_FIELD(struct wf_fabric_values, use.f)

/*
 * Local repair: a switch takes a link that lost its light out of its bundle, in 1 to 50 ms. BFD:
 * three hellos of 50 or 300 ms that do not come. BGP by its hold timer alone: 9 s, or up to 180.
 */
const struct wf_convergence wf_convergences[] = {
	{ "auto", 0 },
	{ "local-repair", 10 * WF_MS },
	{ "bfd-50ms", 150 * WF_MS },
	{ "bfd-300ms", 900 * WF_MS },
	{ "bgp-hold", 9 * WF_S },
	{ NULL, 0 },
};

static const char *const convergence_names[] = { "auto",      "local-repair", "bfd-50ms",
	                                         "bfd-300ms", "bgp-hold",     NULL };

_Static_assert(WF_ARRAY_SIZE(wf_convergences) == WF_ARRAY_SIZE(convergence_names), "name all");

wf_time wf_fabric_convergence(const struct wf_fabric_values *values, wf_time reconverge)
{
	const struct wf_convergence *c = wf_convergences;

	while (strcmp(c->name, values->use.convergence) != 0)
		c++;
	return c->time != 0 ? c->time : reconverge;
}

static const struct wf_param use_params[] = {
	{ .name = "convergence",
	  .kind = WF_PARAM_NAME,
	  FIELD(convergence),
	  .names = convergence_names,
	  .def = "auto",
	  .help = "what switches go by when a link changes: local-repair (10ms), bfd-50ms (150ms), "
	          "bfd-300ms (900ms), bgp-hold (9s) until they have new routes; auto: "
	          "run.reconverge" },
	{ .name = "state",
	  .kind = WF_PARAM_TEXT,
	  FIELD(state),
	  .def = "",
	  .help = "weft compare: how operators have it: best, default (as it comes), neglected, or "
	          "several of them; it is compared with the others in the same state" },
	{ .name = "nic.qps_per_connection",
	  .kind = WF_PARAM_U32,
	  FIELD(job_qps),
	  .min = 1,
	  .max = WF_JOB_MAX_QPS,
	  .def = "1",
	  .help = "queue pairs, or sockets, over which jobs split a message where "
	          "job.qps_per_connection is 0 (1 is NCCL's default)" },
};

int wf_fabric_table(struct wf_arena *arena, const struct wf_param **rows_p, size_t *n_p)
{
	struct wf_param *cc, *rows, *drive, *manage;
	size_t n_cc, n_manage, n;

	if (wf_cc_choice_rows(&arena->mem, offsetof(struct wf_fabric_values, cc), &cc, &n_cc) !=
	            0 ||
	    wf_manage_rows(&arena->mem, offsetof(struct wf_fabric_values, manage), &manage,
	                   &n_manage) != 0)
		return -ENOMEM;
	n = wf_fabric_n_params + n_cc + WF_ARRAY_SIZE(use_params) + n_manage + wf_drive_n_params;
	rows = wf_arena_alloc(arena, n * sizeof(*rows), WF_CACHE_LINE);
	if (rows == NULL)
		return -ENOMEM;
	memcpy(rows, wf_fabric_params, wf_fabric_n_params * sizeof(*rows));
	memcpy(rows + wf_fabric_n_params, cc, n_cc * sizeof(*rows));
	memcpy(rows + wf_fabric_n_params + n_cc, use_params, sizeof(use_params));
	memcpy(rows + n - wf_drive_n_params - n_manage, manage, n_manage * sizeof(*rows));
	drive = rows + n - wf_drive_n_params;
	memcpy(drive, wf_drive_params, wf_drive_n_params * sizeof(*drive));
	for (size_t i = 0; i < wf_drive_n_params; i++)
		drive[i].offset += offsetof(struct wf_fabric_values, cfg.drive);
	*rows_p = rows;
	*n_p = n;
	return 0;
}
