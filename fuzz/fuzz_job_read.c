/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_job_read.c - any bytes as a workload of another program. The first byte says in which
 * format; what is accepted can be walked through: dependencies point backwards, ranks are there.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "job/read.h"

#define RANKS 4
#define MAX_WALKED 64 /* ranks: a file of 20 bytes may have a million */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk_rank(const struct wf_schedule *s, uint32_t rank, void *cursor)
{
	uint32_t number = 0;

	assert(s->ops->streams(s, rank) == 1);
	memset(cursor, 0, s->ops->cursor);
	s->ops->start(s, rank, 0, cursor);
	for (;; number++) {
		struct wf_op op = { .unit = WF_UNIT_NONE, .group = WF_GROUP_NONE };

		if (!s->ops->next(s, cursor, &op))
			break;
		assert(op.n_deps <= WF_OP_DEPS && op.time >= 0);
		assert(op.kind == WF_OP_CALC || (op.peer < s->n_ranks && op.peer != rank));
		for (unsigned i = 0; i < op.n_deps; i++)
			assert(op.dep[i].stream == 0 && op.dep[i].number < number);
	}
}

static void walk_schedule(struct wf_schedule *s)
{
	void *cursor = malloc(s->ops->cursor);

	for (uint32_t r = 0; cursor != NULL && r < s->n_ranks && r < MAX_WALKED; r++)
		walk_rank(s, r, cursor);
	free(cursor);
	wf_schedule_destroy(s);
}

static void walk_lane(const struct wf_plan *p, uint32_t rank, uint32_t lane, void *cursor)
{
	memset(cursor, 0, p->ops->cursor);
	p->ops->start(p, rank, lane, cursor);
	for (uint32_t number = 0;; number++) {
		struct wf_item item = { .group = WF_GROUP_NONE };

		if (!p->ops->next(p, cursor, &item))
			break;
		assert(item.n_deps <= WF_ITEM_DEPS && item.time >= 0);
		for (uint32_t i = 0; i < item.n_deps; i++)
			assert(item.dep[i].lane < p->n_lanes &&
			       (item.dep[i].lane != lane || item.dep[i].number < number));
		if (item.kind == WF_ITEM_COLL)
			assert(wf_comm_pos(&item.coll.comm, rank) != UINT32_MAX &&
			       item.coll.root < item.coll.comm.n);
		if (item.kind == WF_ITEM_SEND || item.kind == WF_ITEM_RECV)
			assert(item.peer < p->cluster.n_ranks && item.peer != rank);
	}
}

static void walk_plan(struct wf_plan *p)
{
	void *cursor = malloc(p->ops->cursor);

	for (uint32_t r = 0; cursor != NULL && r < p->cluster.n_ranks; r++) {
		for (uint32_t lane = 0; lane < p->n_lanes; lane++)
			walk_lane(p, r, lane, cursor);
	}
	free(cursor);
	p->ops->destroy(p);
}

/* The bytes are shared out among the ranks: each rank's length is two bytes before it. */
static int read_chakra(const uint8_t *data, size_t size, struct wf_plan **plan_p,
                       struct wf_err *err)
{
	static const uint32_t pair[] = { 1, 3 };
	static const struct wf_read_group groups[] = { { "pair", pair, 2 } };
	static const struct wf_gpu_cfg gpu = { .tflops = 1, .efficiency = 1, .memory = 1000000 };
	struct wf_read_file files[RANKS] = { { NULL, 0, NULL } };
	struct wf_chakra_cfg cfg = { .cluster = { .n_ranks = RANKS, .gpus = 2, .nics = 2 },
		                     .files = files,
		                     .groups = groups,
		                     .n_groups = 1,
		                     .gpu = &gpu };

	for (unsigned r = 0; r < RANKS; r++) {
		size_t len = size < 2 ? 0 : (size_t)data[0] | (size_t)data[1] << 8;

		data += size < 2 ? size : 2;
		size -= size < 2 ? size : 2;
		len = len < size ? len : size;
		files[r] = (struct wf_read_file){ data, len, "fuzz.et" };
		data += len;
		size -= len;
	}
	return wf_read_chakra(&cfg, wf_mem_heap(), plan_p, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct wf_cluster cluster = { .n_ranks = 2 * RANKS, .gpus = 2, .nics = 1 };
	struct wf_schedule *schedule = NULL;
	struct wf_plan *plan = NULL;
	struct wf_err err = { "" };
	const char *text = (const char *)data + 1;
	int ret;

	if (size == 0)
		return 0;
	size--;
	switch (data[0] % 4) {
	case 0:
		ret = wf_read_goal(text, size, "fuzz", wf_mem_heap(), &schedule, &err);
		break;
	case 1:
		ret = wf_read_htsim(text, size, "fuzz", wf_mem_heap(), &schedule, &err);
		break;
	case 2:
		ret = wf_read_simai(text, size, "fuzz", &cluster, WF_RATIO_ONE, wf_mem_heap(),
		                    &plan, &err);
		break;
	default:
		ret = read_chakra(data + 1, size, &plan, &err);
		break;
	}
	assert((ret == 0) == (schedule != NULL || plan != NULL));
	assert(ret == 0 || err.text[0] != '\0');
	if (schedule != NULL)
		walk_schedule(schedule);
	if (plan != NULL)
		walk_plan(plan);
	return 0;
}
