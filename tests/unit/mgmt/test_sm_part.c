/* SPDX-License-Identifier: Apache-2.0 */
/* test_sm_part.c - partitions.conf, and P_Keys that are set by it and changed. */
#include "smnet.h"

#include <errno.h>

#include "../mem_fail.h"

static struct wf_parts *read_parts(const char *text)
{
	struct wf_err err = { "" };
	struct wf_parts *parts;

	if (wf_parts_read(wf_mem_heap(), text, "p.conf", &parts, &err) != 0)
		fail_msg("%s", err.text);
	return parts;
}

/* P_Keys of a port, as text. */
static const char *keys_of(const struct wf_parts *parts, uint64_t guid, unsigned kind, bool self)
{
	static char text[128];
	struct wf_part_port port = { .guid = guid, .kind = (uint8_t)kind, .self = self };
	uint16_t keys[16], first;
	unsigned n = wf_parts_pkeys(parts, &port, keys, 16, &first);

	text[0] = '\0';
	for (unsigned i = 0; i < n; i++)
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%04x%s ", keys[i],
		               (keys[i] & 0x7fff) == first ? "*" : "");
	return text;
}

static void test_no_file(void **state)
{
	struct wf_parts *parts = read_parts(NULL);

	(void)state;
	assert_string_equal(keys_of(parts, 1, WF_NODE_CA, false), "ffff* ");
	assert_string_equal(keys_of(parts, 1, WF_NODE_SWITCH, true), "ffff* ");
	assert_int_equal(parts->n, 1);
	assert_true(parts->part[0].ipoib);
	wf_parts_destroy(parts);
	parts = read_parts("# nothing\n");
	assert_string_equal(keys_of(parts, 1, WF_NODE_CA, false), "7fff* ");
	assert_string_equal(keys_of(parts, 1, WF_NODE_CA, true), "ffff* ");
	wf_parts_destroy(parts);
}

/* The examples of OpenSM's partition-config.txt, and what it says of them. */
static void test_examples(void **state)
{
	struct wf_parts *parts = read_parts(
		"Default=0x7fff : ALL, ALL_SWITCHES=full, SELF=full ;\n"
		"NewPartition , ipoib : 0x123456=full, 0x3456789034=limi, 0x2134af2306 ;\n"
		"YetAnotherOne = 0x300 : SELF=full ;\n"
		"YetAnotherOne = 0x300 : ALL=limited ;\n"
		"ShareIO = 0x80 , defmember=full : 0x123451, 0x123452;\n"
		"# 0x123453, 0x123454 will be limited\n"
		"ShareIO = 0x80 : 0x123453, 0x123454, 0x123455=full;\n"
		"ShareIO = 0x80 , defmember=full : 0x12345b, 0x12345c=limited, 0x12345d;\n");

	(void)state;
	assert_int_equal(parts->n, 4);
	/* 0x300 was ALL=limited last, so the manager's own port is limited, too. */
	assert_string_equal(keys_of(parts, 9, WF_NODE_CA, true), "0300 ffff* ");
	assert_string_equal(keys_of(parts, 9, WF_NODE_SWITCH, false), "0300 ffff* ");
	assert_string_equal(keys_of(parts, 0x123451, WF_NODE_CA, false), "0300 8080 7fff* ");
	assert_string_equal(keys_of(parts, 0x123453, WF_NODE_CA, false), "0300 0080 7fff* ");
	assert_string_equal(keys_of(parts, 0x123455, WF_NODE_CA, false), "0300 8080 7fff* ");
	assert_string_equal(keys_of(parts, 0x12345c, WF_NODE_CA, false), "0300 0080 7fff* ");
	/* The first that is free, and OpenSM's order: by the lower byte. */
	assert_string_equal(keys_of(parts, 0x123456, WF_NODE_CA, false), "0300 8001 7fff* ");
	assert_string_equal(keys_of(parts, 0x2134af2306, WF_NODE_CA, false), "0300 0001 7fff* ");
	wf_parts_destroy(parts);
}

static void test_flags(void **state)
{
	struct wf_parts *parts =
		read_parts("a=0x8011,ipoib,rate=7,mtu=5,sl=3,scope=5,scope=14,Q_Key=0xb1b,TClass=9,"
	                   "FlowLabel=0xfffff:ALL;"
	                   "b = 18 , indx0 :\n\tmgid=ff12:401b::0707,sl=1 # random IPv4 group\n"
	                   "\tmgid=ff12::1,sl=1\n\tALL_CAS=both;"
	                   "19 : 0x0a, 10=full, NONE, ALL_ROUTERS ; c=0x14:");

	(void)state;
	assert_int_equal(parts->n, 5);
	assert_string_equal(parts->part[1].name, "a");
	assert_int_equal(parts->part[1].pkey, 0x11);
	assert_true(parts->part[1].ipoib);
	assert_int_equal(parts->part[1].rate, 7);
	assert_int_equal(parts->part[1].mtu, 5);
	assert_int_equal(parts->part[1].sl, 3);
	assert_int_equal(parts->part[1].scopes, 1 << 5 | 1 << 14);
	assert_int_equal(parts->part[1].qkey, 0xb1b);
	assert_int_equal(parts->part[1].tclass, 9);
	assert_int_equal(parts->part[1].flow_label, 0xfffff);
	assert_false(parts->part[2].ipoib);
	assert_int_equal(parts->part[2].rate, 3);
	assert_int_equal(parts->part[2].mtu, 4);
	assert_int_equal(parts->skipped, 2);
	assert_string_equal(parts->part[3].name, "");
	assert_string_equal(keys_of(parts, 10, WF_NODE_CA, false), "0011 8012* 8013 7fff ");
	assert_string_equal(keys_of(parts, 11, WF_NODE_ROUTER, false), "0011 0013 7fff* ");
	wf_parts_destroy(parts);
}

static void test_errors(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "a=0x10000 : ALL;", "p.conf:1:3: \"0x10000\" is no P_Key" },
		{ "a=x : ALL;", "p.conf:1:3: \"x\" is no P_Key" },
		{ "\n  a=1", "p.conf:2:6: the file ends here; write ':'" },
		{ "a=1;", "p.conf:1:4: something else stands here; write ':'" },
		{ "a=1, mtu=6 : ALL;", "p.conf:1:6: mtu has no number" },
		{ "a=1, mtu : ALL;", "p.conf:1:6: mtu has no number" },
		{ "a=1, sl=16 : ALL;",
		  "sl has no number that it can have; write one from 0 to 15" },
		{ "a=1, colour=red : ALL;", "p.conf:1:6: \"colour\" is no flag" },
		{ "a=1, defmember=some : ALL;", "p.conf:1:16: \"some\" is no membership" },
		{ "a=1 : ALL=most;", "p.conf:1:11: \"most\" is no membership" },
		{ "a=1 :\n 0x1,\n everybody ;", "p.conf:3:2: \"everybody\" is no port" },
		{ "a=1 : 0x12345678123456781 ;", "p.conf:1:7: " },
		{ "a=1 : 0 ;", "p.conf:1:7: \"0\" is no port" },
		{ "a=1 : ALL : SELF ;", "p.conf:1:11: something else stands here; write ','" },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(cases); i++) {
		struct wf_err err = { "" };
		struct wf_parts *parts;

		assert_int_equal(
			wf_parts_read(wf_mem_heap(), cases[i].text, "p.conf", &parts, &err),
			-EINVAL);
		if (strstr(err.text, cases[i].says) == NULL)
			fail_msg("\"%s\" does not say \"%s\"", err.text, cases[i].says);
	}
}

static void test_no_memory(void **state)
{
	long n = 0;
	int ret;

	(void)state;
	do {
		struct mem_fail mem = mem_fail_after(n++);
		struct wf_err err = { "" };
		struct wf_parts *parts;

		ret = wf_parts_read(&mem.mem, "a:1,2,3,4;b:5,6,7,8,9;c:;d:;e:;f:;g:;h:;i:;j:ALL;",
		                    NULL, &parts, &err);
		if (ret == 0)
			wf_parts_destroy(parts);
		else
			assert_int_equal(ret, -ENOMEM);
		assert_int_equal(mem.held, 0);
	} while (ret != 0);
	assert_true(n > 6);
}

/* ---- set in ports ---- */

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
		cmocka_unit_test(test_no_file),     cmocka_unit_test(test_examples),
		cmocka_unit_test(test_flags),       cmocka_unit_test(test_errors),
		cmocka_unit_test(test_no_memory),   cmocka_unit_test(test_change),
		cmocka_unit_test(test_enforcement), cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
