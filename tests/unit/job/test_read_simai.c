/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of job/read_simai.c. */
#include "job/plan_dump.h"
#include "job/read.h"

static int read_text(const char *text, uint32_t ranks, struct wf_plan **plan_p, struct wf_err *err)
{
	struct wf_cluster cluster = { .n_ranks = ranks, .gpus = 8, .nics = 8 };

	memset(err, 0, sizeof(*err));
	return wf_read_simai(text, strlen(text), "file", &cluster, WF_RATIO_ONE, wf_mem_heap(),
	                     plan_p, err);
}

static struct wf_plan *read_good(const char *text, uint32_t ranks)
{
	struct wf_plan *plan = NULL;
	struct wf_err err;

	if (read_text(text, ranks, &plan, &err) != 0)
		fail_msg("%s", err.text);
	return plan;
}

/* 16 GPUs: tensor parallel 2, 8 replicas of which 4 share experts. */
static void test_groups(void **state)
{
	struct wf_plan *plan = read_good(
		"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 4 pp: 1 vpp: 1 "
		"ga: 1 "
		"all_gpus: 16 checkpoints: 0 checkpoint_initiates: 0\n2\n"
		"first\t-1\t10\tALLREDUCE\t100\t20\tNONE\t5\t30\tREDUCESCATTER\t200\t7\n"
		"second -1 11 ALLTOALL_EP 300 21 ALLGATHER 400 31 ALLGATHER_DP_EP 500 8\n",
		16);

	(void)state;
	assert_lane(plan, 13, 0,
	            "calc 10; calc 11 after 1:0; calc 21 after 1:1; calc 31 after 1:2; "
	            "calc 50; ");
	assert_lane(plan, 13, 1,
	            "all-reduce 100 of 12+1*2 after 0:0; "
	            "all-to-all 300 of 9+2*4 after 0:1; "
	            "all-gather 400 of 12+1*2 after 0:2; ");
	assert_lane(plan, 13, 2,
	            "all-gather 500 of 5+8*2 after 0:3; wait 8; "
	            "reduce-scatter 200 of 1+2*8 after 0:4; wait 7; ");
	plan->ops->destroy(plan);
}

/* Pure data parallelism: nothing to wait for but the end. */
static void test_data(void **state)
{
	struct wf_plan *plan =
		read_good("DATA\n1\nx -1 1 ALLREDUCE 9 2 NONE 0 3 ALLREDUCE 64 0\n", 4);

	(void)state;
	assert_lane(plan, 3, 0, "calc 1; calc 5; ");
	assert_lane(plan, 3, 1, "");
	assert_lane(plan, 3, 2, "all-reduce 64 of 0+1*4 after 0:1; wait 0; ");
	plan->ops->destroy(plan);
}

#define H "HYBRID_TRANSFORMER model_parallel_NPU_group: 2\n"
#define L "a -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n"

static const struct {
	const char *text;
	const char *want;
} bad[] = {
	{ "", "the file is empty" },
	{ "PIPELINE\n", "file:1:1: \"PIPELINE\" is not supported" },
	{ "HYBRID_TRANSFORMER model_parallel_NPU_group: x\n", "model_parallel_NPU_group is \"x\"" },
	{ "HYBRID_TRANSFORMER model_parallel_NPU_group: 3\n1\n" L,
	  "model_parallel_NPU_group 3 * pp 1 do not divide 4 GPUs" },
	{ "HYBRID_TRANSFORMER all_gpus: 8\n", "the workload is for 8 GPUs; the cluster has 4" },
	{ "HYBRID_TRANSFORMER ep: 3\n", "ep 3 does not divide the 4 data-parallel replicas" },
	{ "HYBRID_TRANSFORMER checkpoints: 2 1 2\n", "file:1:20: checkpoints are not supported" },
	{ "HYBRID_TRANSFORMER pp: 4294967295 model_parallel_NPU_group: 4294967295\n",
	  "do not divide 4 GPUs" },
	{ H, "file:2: the file ends here" },
	{ H "1000000\n" L, "the number of layers is \"1000000\"" },
	{ H "0\n", "the number of layers is \"0\"" },
	{ H "2\n" L, "the file ends after 1 of 2 layers" },
	{ H "1\n" L L, "file:4: there are more layers than the 1" },
	{ H "1\na -1 1 NONE 0 1 NONE 0 1 NONE 0\n", "the time of the update is missing" },
	{ H "1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1 2\n", "\"2\" is too much" },
	{ H "1\na -1 1 ALLSUM 0 1 NONE 0 1 NONE 0 1\n", "file:3:8: \"ALLSUM\" is not supported" },
	{ H "1\na -1 1 ALLREDUCE_PP 0 1 NONE 0 1 NONE 0 1\n", "\"ALLREDUCE_PP\" is not supported" },
	{ H "1\na -1 1 ALLREDUCEALLTOALL 0 1 NONE 0 1 NONE 0 1\n", "is not supported" },
	{ H "1\na -1 -1 NONE 0 1 NONE 0 1 NONE 0 1\n", "file:3:6: the forward time is \"-1\"" },
};

static void test_bad(void **state)
{
	struct wf_plan *plan;
	struct wf_err err;

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(bad); i++) {
		assert_int_equal(read_text(bad[i].text, 4, &plan, &err), -22);
		if (strstr(err.text, bad[i].want) == NULL)
			fail_msg("%s\nhas the message\n%s\nnot\n%s", bad[i].text, err.text,
			         bad[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_data),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
