/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_dump.h - a lane of a rank's plan as text, for comparing:
 *
 *	calc 100; all-reduce 4096 of 0+1*4 after 0:2; send 10 to 3 tag 7;
 *
 * Times are in ns; "of" is a communicator's base, stride and size, or its list; "after" is
 * lane:number.
 */
#ifndef WF_TESTS_JOB_PLAN_DUMP_H
#define WF_TESTS_JOB_PLAN_DUMP_H

#include "job/dump.h"
#include "job/plan.h"

static inline void dump_coll(char *buf, const struct wf_coll *coll)
{
	static const char *const names[WF_COLL_KINDS] = {
		[WF_COLL_ALL_REDUCE] = "all-reduce", [WF_COLL_REDUCE_SCATTER] = "reduce-scatter",
		[WF_COLL_ALL_GATHER] = "all-gather", [WF_COLL_ALL_TO_ALL] = "all-to-all",
		[WF_COLL_BROADCAST] = "broadcast",   [WF_COLL_BARRIER] = "barrier",
	};
	const struct wf_comm *comm = &coll->comm;

	dump_add(buf, "%s %" PRIu64 " of ", names[coll->kind], coll->bytes);
	if (comm->list == NULL)
		dump_add(buf, "%" PRIu32 "+%" PRIu32 "*%" PRIu32, comm->base, comm->stride,
		         comm->n);
	for (uint32_t i = 0; comm->list != NULL && i < comm->n; i++)
		dump_add(buf, "%s%" PRIu32, i > 0 ? "," : "", comm->list[i]);
	if (coll->root != 0)
		dump_add(buf, " root %" PRIu32, coll->root);
}

static inline void dump_item(char *buf, const struct wf_item *item)
{
	if (item->kind == WF_ITEM_COLL)
		dump_coll(buf, &item->coll);
	else if (item->kind == WF_ITEM_CALC || item->kind == WF_ITEM_WAIT)
		dump_add(buf, "%s %" PRId64, item->kind == WF_ITEM_CALC ? "calc" : "wait",
		         item->time / WF_NS);
	else
		dump_add(buf, "%s %" PRIu64 " %s %" PRIu32 " tag %" PRIu32,
		         item->kind == WF_ITEM_SEND ? "send" : "recv", item->bytes,
		         item->kind == WF_ITEM_SEND ? "to" : "from", item->peer, item->tag);
	for (uint32_t i = 0; i < item->n_deps; i++)
		dump_add(buf, "%s %" PRIu32 ":%" PRIu32, i == 0 ? " after" : "", item->dep[i].lane,
		         item->dep[i].number);
	dump_add(buf, "; ");
}

static inline const char *dump_lane(const struct wf_plan *plan, uint32_t rank, uint32_t lane,
                                    char *buf)
{
	void *cursor = calloc(1, plan->ops->cursor);

	assert_non_null(cursor);
	buf[0] = '\0';
	plan->ops->start(plan, rank, lane, cursor);
	for (;;) {
		struct wf_item item = { .group = WF_GROUP_NONE };

		if (!plan->ops->next(plan, cursor, &item))
			break;
		dump_item(buf, &item);
	}
	free(cursor);
	return buf;
}

#define assert_lane(plan, rank, lane, want)                                                        \
	do {                                                                                       \
		char dump_buf[DUMP_SIZE];                                                          \
		assert_string_equal(dump_lane(plan, rank, lane, dump_buf), want);                  \
	} while (0)

#endif
