/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of job/train_watch.c: a rank's time is laid to what it waited for, and adds up. */
#include <string.h>

#include "check.h"
#include "job/train_watch.h"

/* Two ranks; one group for each kind. */
static void fake_group(const struct wf_schedule *schedule, uint32_t group, struct wf_group *group_p)
{
	(void)schedule;
	memset(group_p, 0, sizeof(*group_p));
	group_p->name = group_p->kind = wf_train_kind_name((enum wf_train_kind)group);
}

static const struct wf_schedule_ops fake_ops = { .group = fake_group };
static const struct wf_schedule fake = { .ops = &fake_ops,
	                                 .n_ranks = 2,
	                                 .n_groups = WF_TRAIN_KINDS };
static const struct wf_gpu_cfg gpu = { .tflops = 1 };

struct span {
	enum wf_train_kind kind;
	wf_time begin, end;
};

/* Tells an observer of spans in the order of time. */
static void play(const struct wf_job_observer *o, uint32_t rank, const struct span *spans, size_t n)
{
	for (wf_time now = 0; now <= 1000; now++) {
		for (size_t i = 0; i < n; i++) {
			if (spans[i].end == now)
				o->end(o->arg, rank, spans[i].kind, now);
		}
		for (size_t i = 0; i < n; i++) {
			if (spans[i].begin == now)
				o->begin(o->arg, rank, spans[i].kind, now);
		}
	}
}

static void test_gaps(void **state)
{
	/*
	 * The last gap: a message awaited since 0, then a collective; a bucket goes on meanwhile.
	 */
	static const struct span first[] = {
		{ WF_TRAIN_DP, 0, 50 },           { WF_TRAIN_FORWARD, 60, 100 },
		{ WF_TRAIN_TP, 100, 130 },        { WF_TRAIN_FORWARD, 130, 200 },
		{ WF_TRAIN_PP, 1, 290 },          { WF_TRAIN_DP, 150, 260 },
		{ WF_TRAIN_TP, 290, 310 },        { WF_TRAIN_BACKWARD, 310, 400 },
		{ WF_TRAIN_EP, 400, 440 },        { WF_TRAIN_TP, 440, 450 },
		{ WF_TRAIN_OPTIMIZER, 450, 500 },
	};
	static const struct span second[] = { { WF_TRAIN_FORWARD, 0, 300 } };
	struct wf_train_info info = { .ranks = 2, .flops = 400, .idle = 30 };
	struct wf_train_watch *watch = NULL;
	struct wf_train_result r;
	struct wf_job_observer o;
	wf_time sum;

	(void)state;
	assert_int_equal(wf_train_watch_create(&fake, wf_mem_heap(), &watch), 0);
	wf_train_watch_observer(watch, &o);
	play(&o, 0, first, WF_ARRAY_SIZE(first));
	play(&o, 1, second, WF_ARRAY_SIZE(second));
	wf_train_watch_result(watch, &info, &gpu, 600, &r);
	assert_int_equal(r.step, 600);
	assert_int_equal(r.busy, (40 + 70 + 90 + 50 + 300) / 2);
	/* Until 60: the collective that ended at 50, and the launch after it. */
	assert_int_equal(r.exposed[WF_TRAIN_DP], 60 / 2);
	assert_int_equal(r.exposed[WF_TRAIN_TP], (30 + 20 + 10) / 2);
	assert_int_equal(r.exposed[WF_TRAIN_EP], 40 / 2);
	/* The message, and what is left at the end of both ranks; 30 of it are the bubble's. */
	assert_int_equal(r.exposed[WF_TRAIN_PP] + r.bubble, (90 + 100 + 300) / 2);
	assert_int_equal(r.bubble, 30);
	assert_int_equal(r.other, 0);
	sum = r.busy + r.bubble + r.other;
	for (unsigned k = 0; k < WF_TRAIN_KINDS; k++)
		sum += r.exposed[k];
	assert_int_equal(sum, r.step);
	assert_true(r.mfu > 0.333 && r.mfu < 0.334);
	wf_train_watch_destroy(watch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
