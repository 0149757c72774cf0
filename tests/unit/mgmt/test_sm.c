/* SPDX-License-Identifier: Apache-2.0 */
/* test_sm.c - the subnet manager brings a network up, and keeps it up. */
#include "smnet.h"

static void test_fat_tree(void **state)
{
	struct net *net = net_new_of(net_fat_tree(4, 4, 2));
	struct wf_sm_cfg cfg = net_cfg();
	struct net_manager *m = net_manage(net, 0, &cfg);
	struct wf_sm_stats stats;

	(void)state;
	assert_true(net_run_up(net, m, WF_S));
	wf_sm_stats(m->sm, &stats);
	printf("up at %f ms, %lu smps\n", (double)m->up_at / WF_MS, stats.last_heavy.smps);
	for (unsigned i = 0; i < WF_SM_KINDS; i++)
		printf("%s %lu %lu %lu\n", wf_sm_kind_names[i], stats.count[i].sent,
		       stats.count[i].refused, stats.count[i].lost);
	assert_int_equal(net_unreached(net, 1), 0);
	net_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fat_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
