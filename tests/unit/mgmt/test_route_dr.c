/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_route_dr.c - directed routes: there and back along a chain of switches, the paths that are
 * written on the way, parts by LID, and every pointer that no packet should have.
 */
#include "mgmt_test.h"

#include "mgmt/route_dr.h"

static const struct wf_dr_node sw = { .is_switch = true, .n_ports = 4 };
static const struct wf_dr_node ca = { .is_switch = false, .n_ports = 1 };

/* host -1-> switch (in by 2, out by 3) -> switch (in by 4, out by 1) -> host (in by 1), and back */
static void test_there_and_back(void **state)
{
	static const uint8_t path[] = { 0, 1, 3, 1 };
	uint8_t mad[WF_MAD_LEN];
	struct wf_dr_next next;

	(void)state;
	test_request(mad, WF_MAD_CLASS_SUBN_DR, 1, WF_MAD_METHOD_GET, WF_SMP_NODE_INFO, 0);
	wf_dr_request(mad, path, 3);
	assert_int_equal(wf_dr_tx(&ca, mad, &next), WF_DR_OUT);
	assert_int_equal(next.port, 1);
	assert_int_equal(wf_dr_rx(&sw, 2, mad, &next), WF_DR_OUT);
	assert_int_equal(next.port, 3);
	assert_int_equal(wf_dr_rx(&sw, 4, mad, &next), WF_DR_OUT);
	assert_int_equal(next.port, 1);
	assert_int_equal(wf_dr_rx(&ca, 1, mad, &next), WF_DR_MINE);
	assert_int_equal(mad[6], 4);
	assert_int_equal(mad[WF_SMP_RETURN_PATH + 1], 2);
	assert_int_equal(mad[WF_SMP_RETURN_PATH + 2], 4);
	assert_int_equal(mad[WF_SMP_RETURN_PATH + 3], 1);
	wf_dr_answer(mad);
	assert_int_equal(wf_dr_tx(&ca, mad, &next), WF_DR_OUT);
	assert_int_equal(next.port, 1);
	assert_int_equal(wf_dr_rx(&sw, 1, mad, &next), WF_DR_OUT);
	assert_int_equal(next.port, 4);
	assert_int_equal(wf_dr_rx(&sw, 3, mad, &next), WF_DR_OUT);
	assert_int_equal(next.port, 2);
	assert_int_equal(wf_dr_rx(&ca, 1, mad, &next), WF_DR_MINE);
	assert_int_equal(mad[6], 0);
}

/* A path that ends at a switch, and one of no hops: to oneself. */
static void test_short(void **state)
{
	static const uint8_t path[] = { 0, 1 };
	uint8_t mad[WF_MAD_LEN];
	struct wf_dr_next next;

	(void)state;
	test_request(mad, WF_MAD_CLASS_SUBN_DR, 1, WF_MAD_METHOD_GET, WF_SMP_NODE_INFO, 0);
	wf_dr_request(mad, path, 1);
	assert_int_equal(wf_dr_tx(&ca, mad, &next), WF_DR_OUT);
	assert_int_equal(wf_dr_rx(&sw, 4, mad, &next), WF_DR_MINE);
	wf_dr_answer(mad);
	assert_int_equal(wf_dr_tx(&sw, mad, &next), WF_DR_OUT);
	assert_int_equal(next.port, 4);
	assert_int_equal(wf_dr_rx(&ca, 1, mad, &next), WF_DR_MINE);
	wf_dr_request(mad, path, 0);
	assert_int_equal(wf_dr_tx(&ca, mad, &next), WF_DR_MINE);
	wf_dr_answer(mad);
	assert_int_equal(wf_dr_tx(&ca, mad, &next), WF_DR_MINE);
	assert_int_equal(mad[6], 0);
}

/* The longest path there is: 63 hops. */
static void test_longest(void **state)
{
	uint8_t mad[WF_MAD_LEN], path[64];
	struct wf_dr_next next;

	(void)state;
	memset(path, 2, sizeof(path));
	memset(mad, 0xff, sizeof(mad));
	wf_dr_request(mad, path, 63);
	assert_int_equal(mad[WF_SMP_INITIAL_PATH], 0);
	assert_int_equal(mad[WF_SMP_RETURN_PATH + 63], 0);
	assert_int_equal(wf_dr_tx(&sw, mad, &next), WF_DR_OUT);
	for (unsigned i = 1; i < 63; i++)
		assert_int_equal(wf_dr_rx(&sw, 3, mad, &next), WF_DR_OUT);
	assert_int_equal(wf_dr_rx(&sw, 4, mad, &next), WF_DR_MINE);
	wf_dr_answer(mad);
	assert_int_equal(wf_dr_tx(&sw, mad, &next), WF_DR_OUT);
	assert_int_equal(next.port, 4);
	for (unsigned i = 1; i < 63; i++)
		assert_int_equal(wf_dr_rx(&sw, 2, mad, &next), WF_DR_OUT);
	assert_int_equal(next.port, 3);
	assert_int_equal(wf_dr_rx(&ca, 1, mad, &next), WF_DR_MINE);
}

/* The directed part ends at a switch, and goes on to a LID; the answer begins by LID. */
static void test_by_lid(void **state)
{
	static const uint8_t path[] = { 0, 1 };
	uint8_t mad[WF_MAD_LEN];
	struct wf_dr_next next;

	(void)state;
	test_request(mad, WF_MAD_CLASS_SUBN_DR, 1, WF_MAD_METHOD_GET, WF_SMP_NODE_INFO, 0);
	wf_dr_request(mad, path, 1);
	wf_be16_put(mad + 34, 7);
	assert_int_equal(wf_dr_tx(&ca, mad, &next), WF_DR_OUT);
	assert_int_equal(wf_dr_rx(&sw, 2, mad, &next), WF_DR_BY_LID);
	assert_int_equal(next.lid, 7);
	assert_int_equal(wf_dr_rx(&ca, 1, mad, &next), WF_DR_MINE);
	wf_dr_answer(mad);
	assert_int_equal(wf_dr_tx(&ca, mad, &next), WF_DR_BY_LID);
	assert_int_equal(next.lid, 0); /* back to where it came from */
	assert_int_equal(wf_dr_rx(&sw, 3, mad, &next), WF_DR_OUT);
	assert_int_equal(next.port, 2);
	assert_int_equal(wf_dr_rx(&ca, 1, mad, &next), WF_DR_MINE);
	/* and a part by LID before the directed one: back to DrSLID */
	wf_dr_request(mad, path, 1);
	wf_be16_put(mad + 32, 9);
	mad[6] = 1;
	wf_be16_put(mad + 4, WF_SMP_DIRECTION);
	assert_int_equal(wf_dr_rx(&sw, 3, mad, &next), WF_DR_BY_LID);
	assert_int_equal(next.lid, 9);
	assert_int_equal(mad[6], 0);
}

/* All pointers, counts and ports: what is dropped, and that nothing outside is touched. */
static void test_all_pointers(void **state)
{
	uint8_t mad[WF_MAD_LEN], before[WF_MAD_LEN];
	struct wf_dr_next next;
	unsigned verdicts[4] = { 0 };

	(void)state;
	for (unsigned i = 0; i < 256 * 256 * 4; i++) {
		unsigned pointer = i & 0xff, count = i >> 8 & 0xff;
		const struct wf_dr_node *node = (i & 0x10000) != 0 ? &sw : &ca;
		enum wf_dr verdict;

		memset(mad, (int)(1 + i % 6), sizeof(mad));
		mad[6] = (uint8_t)pointer;
		mad[7] = (uint8_t)count;
		wf_be16_put(mad + 4, (uint16_t)((i & 0x20000) != 0 ? WF_SMP_DIRECTION : 0));
		wf_be16_put(mad + 32, 0xffff);
		wf_be16_put(mad + 34, 0xffff);
		memcpy(before, mad, sizeof(mad));
		verdict = wf_dr_rx(node, 1, mad, &next);
		verdicts[verdict]++;
		assert_memory_equal(mad, before, 6);
		assert_memory_equal(mad + 8, before + 8, WF_SMP_RETURN_PATH - 8);
		if (count > 63 || pointer > count + 1)
			assert_int_equal(verdict, WF_DR_DROP);
		if (verdict == WF_DR_OUT) {
			assert_true(node->is_switch);
			assert_in_range(next.port, 1, 4);
		}
		if ((i & 0x20000) == 0 && pointer == 0)
			assert_int_equal(verdict, WF_DR_DROP);
	}
	assert_true(verdicts[WF_DR_OUT] > 1000 && verdicts[WF_DR_MINE] > 100);
	assert_int_equal(verdicts[WF_DR_BY_LID], 0);
	/* a sender's pointer is where a sender begins */
	memset(mad, 1, sizeof(mad));
	wf_be16_put(mad + 4, 0);
	assert_int_equal(wf_dr_tx(&sw, mad, &next), WF_DR_DROP);
	wf_be16_put(mad + 4, WF_SMP_DIRECTION);
	assert_int_equal(wf_dr_tx(&sw, mad, &next), WF_DR_DROP);
	mad[7] = 64;
	mad[6] = 65;
	assert_int_equal(wf_dr_tx(&sw, mad, &next), WF_DR_DROP);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back), cmocka_unit_test(test_short),
		cmocka_unit_test(test_longest),        cmocka_unit_test(test_by_lid),
		cmocka_unit_test(test_all_pointers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
