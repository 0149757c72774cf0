/* SPDX-License-Identifier: Apache-2.0 */
/* test_sm_part.c - P_Keys that are set by partitions.conf and changed. */
#include "smnet.h"

#include <errno.h>

static void check_keys(const struct net *net, uint32_t id, unsigned port, const char *want)
{
	char text[128] = "";

	for (unsigned i = 0; i < 8; i++) {
		uint16_t key = wf_sma_pkey(net->nodes[id].sma, port, i);

		if (key != 0)
			(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%u=%04x ",
			               i, key);
	}
	assert_string_equal(text, want);
}

/* Two tenants; then one is another's, and keys stay where they are. */
static void test_change(void **state)
{
	struct net *net = net_new_of(net_fat_tree(2, 2, 1));
	struct wf_sm_cfg cfg = net_cfg();
	struct wf_err err = { "" };
	struct net_manager *m;
	const uint32_t leaf0 = 4;

	(void)state;
	/* Ports' GUIDs are 0x0002c90100000011, ...21, ...31, ...41. */
	cfg.partitions = "red=1,defmember=full:0x0002c90100000011,0x0002c90100000021;"
			 "blue=2,defmember=full:0x0002c90100000021,0x0002c90100000031;";
	m = net_manage(net, 0, &cfg);
	assert_true(net_run_up(net, m, WF_S));
	check_keys(net, 0, 1, "0=ffff 1=8001 ");
	check_keys(net, 1, 1, "0=7fff 1=8001 2=8002 ");
	check_keys(net, 2, 1, "0=7fff 1=8002 ");
	check_keys(net, 3, 1, "0=7fff ");
	check_keys(net, leaf0, 1, "0=ffff 1=8001 ");
	check_keys(net, leaf0, 2, "0=7fff 1=8001 2=8002 ");
	check_keys(net, leaf0, 0, "0=7fff ");
	assert_true(wf_sma_port(net->nodes[leaf0].sma, 2)->partition_enforcement_inbound);

	assert_int_equal(wf_sm_set_parts(m->sm,
	                                 "red=1:0x0002c90100000011=fu;"
	                                 "blue=2:0x0002c90100000021,0x0002c90100000041;",
	                                 "p.conf", &err),
	                 0);
	wf_sm_resweep(m->sm, true, net->now);
	net_pump(net, m);
	assert_true(net_run_up(net, m, WF_S));
	check_keys(net, 0, 1, "0=ffff 1=8001 ");
	check_keys(net, 1, 1, "0=7fff 2=0002 "); /* where it was */
	check_keys(net, 2, 1, "0=7fff ");
	check_keys(net, 3, 1, "0=7fff 1=0002 ");
	check_keys(net, leaf0, 2, "0=7fff 1=0002 "); /* without gaps */
	/* A file that is wrong changes nothing. */
	assert_int_equal(wf_sm_set_parts(m->sm, "red", "p.conf", &err), -EINVAL);
	assert_int_equal(wf_sm_parts(m->sm)->n, 3);
	net_free(net);
}

static void test_enforcement(void **state)
{
	static const char *const how[] = { "both", "in", "out", "off" };

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct net *net = net_new_of(net_fat_tree(2, 2, 1));
		struct wf_sm_cfg cfg = net_cfg();
		const struct wf_port_info *info;
		struct net_manager *m;

		(void)snprintf(cfg.part_enforce, sizeof(cfg.part_enforce), "%s", how[i]);
		m = net_manage(net, 0, &cfg);
		assert_true(net_run_up(net, m, WF_S));
		info = wf_sma_port(net->nodes[5].sma, 1);
		assert_int_equal(info->partition_enforcement_inbound, i == 0 || i == 1);
		assert_int_equal(info->partition_enforcement_outbound, i == 0 || i == 2);
		net_free(net);
	}
}

/* More partitions than a table has room for: what fits is set, and it is said. */
static void test_too_many(void **state)
{
	struct net *net = net_new_of(net_fat_tree(1, 2, 0));
	struct wf_sm_cfg cfg = net_cfg();
	char *text = malloc(1 << 16);
	struct net_manager *m;
	size_t len = 0;

	(void)state;
	for (unsigned i = 1; i <= 300; i++)
		len += (size_t)snprintf(text + len, (1 << 16) - len, "p%u=%u:ALL=full;", i, i);
	cfg.partitions = text;
	m = net_manage(net, 0, &cfg);
	net_run(net, WF_S);
	assert_int_equal(m->ups, 0);
	assert_true(m->notes > 0);
	assert_non_null(strstr(m->note, "P_Key"));
	assert_int_equal(wf_sma_pkey(net->nodes[1].sma, 1, 0), 0x7fff);
	assert_true(wf_sma_pkey(net->nodes[1].sma, 1, 1) != 0);
	assert_int_equal(net_unreached(net, 1), 0);
	net_free(net);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_change),
		cmocka_unit_test(test_enforcement),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
