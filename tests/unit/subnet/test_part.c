/* SPDX-License-Identifier: Apache-2.0 */
/* test_part.c - partitions.conf. */
#include "subnet_test.h"

#include <errno.h>

#include "../mem_fail.h"
#include "subnet/part.h"

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
	assert_string_equal(keys_of(parts, 1, WF_SUBNET_ADAPTER, false), "ffff* ");
	assert_string_equal(keys_of(parts, 1, WF_SUBNET_SWITCH, true), "ffff* ");
	assert_int_equal(parts->n, 1);
	assert_true(parts->part[0].ipoib);
	wf_parts_destroy(parts);
	parts = read_parts("# nothing\n");
	assert_string_equal(keys_of(parts, 1, WF_SUBNET_ADAPTER, false), "7fff* ");
	assert_string_equal(keys_of(parts, 1, WF_SUBNET_ADAPTER, true), "ffff* ");
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
	assert_string_equal(keys_of(parts, 9, WF_SUBNET_ADAPTER, true), "0300 ffff* ");
	assert_string_equal(keys_of(parts, 9, WF_SUBNET_SWITCH, false), "0300 ffff* ");
	assert_string_equal(keys_of(parts, 0x123451, WF_SUBNET_ADAPTER, false), "0300 8080 7fff* ");
	assert_string_equal(keys_of(parts, 0x123453, WF_SUBNET_ADAPTER, false), "0300 0080 7fff* ");
	assert_string_equal(keys_of(parts, 0x123455, WF_SUBNET_ADAPTER, false), "0300 8080 7fff* ");
	assert_string_equal(keys_of(parts, 0x12345c, WF_SUBNET_ADAPTER, false), "0300 0080 7fff* ");
	/* The first that is free, and OpenSM's order: by the lower byte. */
	assert_string_equal(keys_of(parts, 0x123456, WF_SUBNET_ADAPTER, false), "0300 8001 7fff* ");
	assert_string_equal(keys_of(parts, 0x2134af2306, WF_SUBNET_ADAPTER, false),
	                    "0300 0001 7fff* ");
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
	assert_int_equal(parts->n_groups, 4); /* a's in two scopes, and b's */
	assert_string_equal(parts->part[3].name, "");
	assert_string_equal(keys_of(parts, 10, WF_SUBNET_ADAPTER, false), "0011 8012* 8013 7fff ");
	assert_string_equal(keys_of(parts, 11, WF_SUBNET_ROUTER, false), "0011 0013 7fff* ");
	wf_parts_destroy(parts);
}

/* "MGID key mtu rate sl scope qkey" of a group. */
static const char *group_text(const struct wf_part_group *g)
{
	static char text[128];
	char *at = text;

	for (unsigned i = 0; i < 16; i++)
		at += sprintf(at, "%02x%s", g->mgid[i], i % 2 == 1 && i < 15 ? ":" : "");
	(void)sprintf(at, " %04x %u %u %u %u %x", g->pkey, g->mtu, g->rate, g->sl, g->scope,
	              g->qkey);
	return text;
}

static void test_groups(void **state)
{
	struct wf_parts *parts = read_parts(NULL);

	(void)state;
	assert_int_equal(parts->n_groups, 1);
	assert_string_equal(group_text(&parts->group[0]),
	                    "ff12:401b:ffff:0000:0000:0000:ffff:ffff 7fff 4 3 0 2 b1b");
	wf_parts_destroy(parts);
	parts = read_parts("a=0x10,ipoib,mtu=5,rate=7,sl=1:\n"
	                   "mgid = ff1e:401b::1234:5678 , sl=2,Q_Key=0x77 # one\n"
	                   "mgid=ff12:601b:8010::16,mtu=5,rate=7\n"
	                   "mgid=ff15:1:2:3:4:5:6:7,mtu=4,scope=5,scope=14,FlowLabel=9\n"
	                   "mgid=ff12:401b:8010::ffff:ffff # again\n"
	                   "ALL;Default=0x7fff,ipoib:ALL=full;");
	assert_int_equal(parts->n_groups, 6);
	assert_string_equal(group_text(&parts->group[0]),
	                    "ff12:401b:8010:0000:0000:0000:ffff:ffff 0010 5 7 1 2 b1b");
	assert_string_equal(group_text(&parts->group[1]),
	                    "ff12:401b:8010:0000:0000:0000:1234:5678 0010 5 7 2 2 77");
	assert_string_equal(group_text(&parts->group[2]),
	                    "ff12:601b:8010:0000:0000:0000:0000:0016 0010 5 7 1 2 b1b");
	assert_string_equal(group_text(&parts->group[3]),
	                    "ff15:0001:0002:0003:0004:0005:0006:0007 0010 4 7 1 5 0");
	assert_string_equal(group_text(&parts->group[4]),
	                    "ff1e:0001:0002:0003:0004:0005:0006:0007 0010 4 7 1 14 0");
	assert_int_equal(parts->group[4].flow_label, 9);
	assert_int_equal(parts->group[5].pkey, 0x7fff);
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
		{ "a=1 :\nmgid=fe80::1\n;", "p.conf:2:5: \"=fe80::1\" is no group" },
		{ "a=1 : mgid ;", "p.conf:1:12: \"\" is no group" },
		{ "a=1 : mgid=ff12:1:2 ;", "is no group" },
		{ "a=1 : mgid=ff12::1::2 ;", "is no group" },
		{ "a=1 : mgid=ff12:1:2:3:4:5:6:7:8 ;", "is no group" },
		{ "a=1 : mgid=ff12::00001 ;", "is no group" },
		{ "a=1 : mgid=ff12::1,ipoib ;", "p.conf:1:20: \"ipoib\" is no flag of a group" },
		{ "a=1 : mgid=ff12::1,sl=16 ;", "sl has no number" },
		{ "a=1 : mgid=ff12:401b:8002::1 ;", "is an IP group that is not as" },
		{ "a=1 : mgid=ff12:401b::1,mtu=5 ;", "is an IP group that is not as" },
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

		ret = wf_parts_read(&mem.mem,
		                    "a:1,2,3,4;b:5,6,7,8,9;c:;d:;e:;f:;g:;h:;i:;j,ipoib:ALL;", NULL,
		                    &parts, &err);
		if (ret == 0)
			wf_parts_destroy(parts);
		else
			assert_int_equal(ret, -ENOMEM);
		assert_int_equal(mem.held, 0);
	} while (ret != 0);
	assert_true(n > 6);
}

static void test_names(void **state)
{
	struct wf_parts *parts = read_parts("a\033[1m=1:ALL;2:ALL;");
	char text[WF_PART_NAME];

	(void)state;
	wf_parts_name(parts, 0x8001, text, sizeof(text));
	assert_string_equal(text, "a?[1m");
	wf_parts_name(parts, 2, text, sizeof(text));
	assert_string_equal(text, "0x0002");
	wf_parts_name(parts, 0xffff, text, sizeof(text));
	assert_string_equal(text, "Default");
	wf_parts_destroy(parts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_file),   cmocka_unit_test(test_examples),
		cmocka_unit_test(test_flags),     cmocka_unit_test(test_errors),
		cmocka_unit_test(test_no_memory), cmocka_unit_test(test_names),
		cmocka_unit_test(test_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
