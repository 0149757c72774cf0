/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump.h - a rank's operations as text, for comparing:
 *
 *	calc 100us on 0; send 10 to 1 tag 7 via 2 after 0 1s;
 *
 * Times are in ns; "on" is the unit, left out where there is none, "via" the channel unless it is
 * 0, "after" the numbers waited for, with an s where their start is enough.
 */
#ifndef WF_TESTS_JOB_DUMP_H
#define WF_TESTS_JOB_DUMP_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "job/schedule.h"

#define DUMP_SIZE 4096

static inline void dump_add(char *buf, const char *fmt, ...) WF_PRINTF(2, 3);

static inline void dump_add(char *buf, const char *fmt, ...)
{
	size_t len = strlen(buf);
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(buf + len, DUMP_SIZE - len, fmt, args);
	va_end(args);
}

static inline void dump_op(char *buf, const struct wf_op *op)
{
	if (op->kind == WF_OP_CALC)
		dump_add(buf, "calc %" PRId64, op->time / WF_NS);
	else
		dump_add(buf, "%s %" PRIu64 " %s %" PRIu32 " tag %" PRIu32,
		         op->kind == WF_OP_SEND ? "send" : "recv", op->bytes,
		         op->kind == WF_OP_SEND ? "to" : "from", op->peer, op->tag);
	if (op->unit != WF_UNIT_NONE)
		dump_add(buf, " on %u", (unsigned)op->unit);
	if (op->channel != 0)
		dump_add(buf, " via %u", (unsigned)op->channel);
	for (unsigned i = 0; i < op->n_deps; i++)
		dump_add(buf, "%s %" PRIu32 "%s", i == 0 ? " after" : "", op->dep[i].number,
		         op->dep[i].on == WF_ON_START ? "s" : "");
	dump_add(buf, "; ");
}

/* The operations of a rank with one stream. */
static inline const char *dump_rank(const struct wf_schedule *schedule, uint32_t rank, char *buf)
{
	void *cursor = calloc(1, schedule->ops->cursor);
	struct wf_op op;

	assert_non_null(cursor);
	buf[0] = '\0';
	assert_int_equal(schedule->ops->streams(schedule, rank), 1);
	schedule->ops->start(schedule, rank, 0, cursor);
	for (;;) {
		op = (struct wf_op){ .unit = WF_UNIT_NONE, .group = WF_GROUP_NONE };
		if (!schedule->ops->next(schedule, cursor, &op))
			break;
		dump_op(buf, &op);
	}
	free(cursor);
	return buf;
}

#define assert_rank(schedule, rank, want)                                                          \
	do {                                                                                       \
		char dump_buf[DUMP_SIZE];                                                          \
		assert_string_equal(dump_rank(schedule, rank, dump_buf), want);                    \
	} while (0)

#endif
