/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of topo/hpcc.c and of topo/locality.c, which it uses. */
#include "topo/topo_test.h"

static struct wf_topo *read_file(const char *name)
{
	struct wf_err err = { { 0 } };
	struct wf_topo *topo = NULL;
	size_t len;
	char *bytes = test_file(name, &len);

	if (test_read("hpcc", bytes, len, wf_mem_heap(), &topo, &err) != 0)
		fail_msg("%s: %s", name, err.text);
	free(bytes);
	return topo;
}

static void test_samples(void **state)
{
	static const struct {
		const char *name;
		uint32_t hosts, tier1, tier2, tier3, links, groups;
	} row[] = {
		{ "hpcc/topo_star3.txt", 3, 1, 0, 0, 3, 1 },
		{ "hpcc/topo_star17.txt", 17, 1, 0, 0, 17, 1 },
		{ "hpcc/topo_ls16_100G.txt", 16, 2, 2, 0, 20, 2 },
		{ "hpcc/topo_ls32_400G.txt", 32, 2, 2, 0, 36, 2 },
		{ "hpcc/topo_fattree128_k8.txt", 128, 32, 32, 16, 384, 8 },
		{ "hpcc/topo_fat320.txt", 320, 20, 20, 16, 480, 5 },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		struct wf_topo *topo = read_file(row[i].name);
		struct wf_routes *routes = NULL;
		uint32_t groups = 0;

		for (uint32_t n = 0; n < topo->n_nodes; n++) {
			if (topo->nodes[n].group >= groups)
				groups = topo->nodes[n].group + 1;
		}
		if (topo->n_hosts != row[i].hosts || test_count(topo, 1) != row[i].tier1 ||
		    test_count(topo, 2) != row[i].tier2 || test_count(topo, 3) != row[i].tier3 ||
		    topo->n_links != row[i].links || groups != row[i].groups)
			fail_msg("%s: %u hosts, %u %u %u switches, %u links, %u groups",
			         row[i].name, topo->n_hosts, test_count(topo, 1),
			         test_count(topo, 2), test_count(topo, 3), topo->n_links, groups);
		assert_int_equal(wf_routes_create(topo, NULL, wf_mem_heap(), &routes), 0);
		assert_int_equal(routes->n_leaves, row[i].tier1);
		wf_routes_destroy(routes);
		wf_topo_destroy(topo);
	}
}

/* Node ids and the order of ports are the file's. */
static void test_order(void **state)
{
	static const char text[] = "5 2 5\n1 3\n"
				   "3 0 100Gbps 1000ns 0.000000\n"
				   "1 3 40Gbps 0.001ms 0.001\n"
				   "2 1 25Gbps 1us 1e-3\n"
				   "3 1 40Gbps 0.5us 0\n"
				   "1 4 100Gbps 0 1\n";
	struct wf_err err = { { 0 } };
	struct wf_topo *topo = NULL;

	(void)state;
	if (test_read("hpcc", text, sizeof(text) - 1, wf_mem_heap(), &topo, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(topo->n_hosts, 3);
	assert_int_equal(topo->host_node[0], 0);
	assert_int_equal(topo->host_node[1], 2);
	assert_int_equal(topo->host_node[2], 4);
	assert_int_equal(topo->nodes[4].host, 2);
	assert_int_equal(topo->nodes[4].server, 2);
	assert_int_equal(topo->nodes[1].host, WF_TOPO_NONE);
	assert_int_equal(topo->nodes[1].server, WF_TOPO_NONE);
	assert_string_equal(topo->nodes[4].name, "h4");
	assert_string_equal(topo->nodes[3].name, "sw3");

	assert_int_equal(test_port(topo, 3, 0)->peer, 0);
	assert_int_equal(test_port(topo, 3, 1)->peer, 1);
	assert_int_equal(test_port(topo, 3, 1)->peer_port, 0);
	assert_int_equal(test_port(topo, 3, 2)->peer, 1);
	assert_int_equal(test_port(topo, 3, 2)->peer_port, 2);
	assert_int_equal(test_port(topo, 1, 1)->peer, 2);
	assert_int_equal(test_port(topo, 1, 3)->peer, 4);

	assert_int_equal(topo->links[0].line, 3);
	assert_int_equal(topo->links[0].a, 3);
	assert_int_equal(topo->links[0].rate, UINT64_C(100000000000));
	assert_int_equal(topo->links[0].delay, WF_US);
	assert_int_equal(topo->links[0].loss, 0);
	assert_int_equal(topo->links[1].delay, WF_US);
	assert_int_equal(topo->links[1].loss, 4294967);
	assert_int_equal(topo->links[2].loss, 4294967);
	assert_int_equal(topo->links[3].delay, WF_US / 2);
	assert_int_equal(topo->links[4].loss, WF_PROB_ONE);
	assert_int_equal(topo->links[4].delay, 0);
	wf_topo_destroy(topo);
}

/* Comments, blank lines, carriage returns, ids over several lines, no last newline. */
static void test_tolerance(void **state)
{
	static const char good[] =
		"# a star\r\n\r\n 4 2 3 # nodes switches links\r\n2\r\n\t3\r\n#\r\n"
		"0 2 100Gbps 1us 0\r\n\r\n2 3 100Gbps 1us 0 # up\r\n3 1 100Gbps 1us 0";
	struct wf_err err = { { 0 } };
	struct wf_topo *topo = NULL;

	(void)state;
	if (test_read("hpcc", good, sizeof(good) - 1, wf_mem_heap(), &topo, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(topo->n_links, 3);
	assert_int_equal(topo->links[2].line, 10);
	wf_topo_destroy(topo);
}

#define LINK0 "0 2 100Gbps 1us 0\n"
#define LINK1 "1 2 100Gbps 1us 0\n"

static const struct {
	const char *text;
	const char *want; /* the message begins with it */
} bad[] = {
	{ "", "file:1: the file is empty; its first line has" },
	{ "\n# nothing\n\n", "file:4: the file is empty; " },
	{ "3\n", "file:1:2: the number of switches is missing; " },
	{ "3 1", "file:1:4: the number of links is missing; " },
	{ "3 1 2 8 9 A100\n", "file:1:7: \"8\" is too much; " },
	{ "x 1 2\n", "file:1:1: the number of nodes is \"x\"; a whole number from 2 to 1048576" },
	{ "-3 1 2\n", "file:1:1: the number of nodes is \"-3\"; " },
	{ "1000000000000000000 1 2\n",
	  "file:1:1: the number of nodes is \"1000000000000000000\"; " },
	{ "18446744073709551616 1 2\n", "file:1:1: the number of nodes is" },
	{ "3 0 2\n\n" LINK0 LINK1, "file:1:3: the number of switches is \"0\"; " },
	{ "3 3 2\n0 1 2\n" LINK0 LINK1, "file:1:3: the number of switches is \"3\"; " },
	{ "3 1 0\n2\n", "file:1:5: the number of links is \"0\"; " },
	{ "3 1 5000000\n2\n", "file:1:5: the number of links is \"5000000\"; " },
	{ "3 1 4000000\n2\n" LINK0 LINK1,
	  "file:1: 4000000 links are announced, but the file is too " },
	{ "1000000 1 3\n2\n" LINK0 LINK1 LINK1,
	  "file:1: 3 links cannot join 1000000 nodes; 999999 " },
	{ "3 1 2\n3\n" LINK0 LINK1, "file:2:1: a switch id is \"3\"; a whole number from 0 to 2" },
	{ "3 1 2\n2 1\n" LINK0 LINK1, "file:2:3: \"1\" is too much; " },
	{ "4 2 3\n2 2\n" LINK0 LINK1 LINK1, "file:2:3: switch id 2 is there twice; " },
	{ "3 1 2\n2\n" LINK0 "          ", "file:4: the file ends after 1 of 2 links; " },
	{ "4 2 3\n2               \n                  \n               ",
	  "file:4: the file ends after 1 of 2 switch ids; " },
	{ "3 1 2\n2\n" LINK0 LINK1 LINK1, "file:5: there is more than the 2 links" },
	{ "3 1 2\n2\n" LINK0 "1 3 100Gbps 1us 0\n", "file:4:3: the second node is \"3\"; " },
	{ "3 1 2\n2\n" LINK0 "9 2 100Gbps 1us 0\n", "file:4:1: the first node is \"9\"; " },
	{ "3 1 2\n2\n" LINK0 "2 2 100Gbps 1us 0\n",
	  "file:4: the link connects node 2 with itself; " },
	{ "3 1 2\n2\n" LINK0 "0 2 100Gbps 1us 0\n", "file:4:1: host h0 has a second link; " },
	{ "3 1 2\n2\n" LINK0 "1 0 100Gbps 1us 0\n", "file:4:3: host h0 has a second link; " },
	{ "4 1 3\n2\n" LINK0 "1 3 100Gbps 1us 0\n2 2 1G 1s 0",
	  "file:5: the link connects node 2 with" },
	{ "5 2 4\n2 4\n" LINK0 "1 3 100Gbps 1us 0\n2 4 1Gbps 1s 0\n4 2 1Gbps 1s 0",
	  "file:4: link 1 connects the hosts h1 and h3; one end must be a switch" },
	{ "3 1 2\n2\n" LINK0 "1 2 100Gbps 1us\n", "file:4:16: the error rate is missing; " },
	{ "3 1 2\n2\n" LINK0 "1 2 100Gbps 1us 0 0\n", "file:4:19: \"0\" is too much; " },
	{ "3 1 2\n2\n" LINK0 "1 2 100 1us 0.000\n", "file:4:5: the rate: " },
	{ "3 1 2\n2\n" LINK0 "1 2 0Gbps 1us 0.0\n", "file:4:5: the rate: " },
	{ "3 1 2\n2\n" LINK0 "1 2 -1Gbps 1us 0\n", "file:4:5: the rate: " },
	{ "3 1 2\n2\n" LINK0 "1 2 100Gbps 1 0\n", "file:4:13: the delay: " },
	{ "3 1 2\n2\n" LINK0 "1 2 100Gbps 2s 0\n", "file:4:13: the delay: " },
	{ "3 1 2\n2\n" LINK0 "1 2 100Gbps -1us 0\n", "file:4:13: the delay: " },
	{ "3 1 2\n2\n" LINK0 "1 2 100Gbps 1us 1.5\n", "file:4:17: the error rate: " },
	{ "3 1 2\n2\n" LINK0 "1 2 100Gbps 1us nan\n", "file:4:17: the error rate: " },
	{ "3 1 2\n2\n" LINK0
	  "1 2 1000000000000000000000000000000000000000000000000000000000000000000Gbps 1us 0\n",
	  "file:4:5: the rate is \"1000000000000000000000000000000000000000\"; " },
};

static void test_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(bad); i++) {
		struct test_mem mem = test_mem_make(-1);
		struct wf_err err = { { 0 } };
		struct wf_topo *topo = NULL;

		assert_int_equal(
			test_read("hpcc", bad[i].text, strlen(bad[i].text), &mem.mem, &topo, &err),
			-EINVAL);
		if (strncmp(err.text, bad[i].want, strlen(bad[i].want)) != 0 ||
		    strchr(err.text, ';') == NULL)
			fail_msg("case %zu: %s", i, err.text);
		assert_null(topo);
		assert_int_equal(mem.live, 0);
		assert_true(mem.bytes < 10000);
	}
}

static void test_nul_bytes(void **state)
{
	static const char text[] = "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100\0bps 1us 0\n";
	static const char text2[] = "3 1 2\n2\n\0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n";
	struct wf_err err = { { 0 } };
	struct wf_topo *topo = NULL;

	(void)state;
	assert_int_equal(test_read("hpcc", text, sizeof(text) - 1, wf_mem_heap(), &topo, &err),
	                 -EINVAL);
	assert_int_equal(strncmp(err.text, "file:4:5: the rate is", 21), 0);
	memset(&err, 0, sizeof(err));
	assert_int_equal(test_read("hpcc", text2, sizeof(text2) - 1, wf_mem_heap(), &topo, &err),
	                 -EINVAL);
	assert_int_equal(strncmp(err.text, "file:3:1: the first node is", 27), 0);
}

/* A switch has at most 1,024 ports. */
static void test_too_many_ports(void **state)
{
	static char text[1026 * 24];
	struct wf_err err = { { 0 } };
	struct wf_topo *topo = NULL;
	size_t len = 0;

	(void)state;
	len += (size_t)snprintf(text, sizeof(text), "1026 1 1025\n1025\n");
	for (uint32_t i = 0; i < 1025; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%u 1025 100Gbps 1us 0\n",
		                        i);
	assert_int_equal(test_read("hpcc", text, len, wf_mem_heap(), &topo, &err), -EINVAL);
	assert_string_equal(err.text,
	                    "file:1027:6: sw1025 has more than 1024 links; that many are allowed");
}

static void test_truncations(void **state)
{
	size_t len;
	char *bytes = test_file("hpcc/topo_ls16_100G.txt", &len);
	uint32_t good = 0;

	(void)state;
	for (size_t n = 0; n <= len; n++) {
		struct test_mem mem = test_mem_make(-1);
		struct wf_err err = { { 0 } };
		struct wf_topo *topo = NULL;
		int ret = test_read("hpcc", bytes, n, &mem.mem, &topo, &err);

		assert_true(ret == 0 || ret == -EINVAL);
		assert_int_equal(ret == 0, err.text[0] == '\0');
		good += ret == 0;
		wf_topo_destroy(topo);
		assert_int_equal(mem.live, 0);
	}
	/* All of it, all but the newline, and the last error rate 0.000000 cut short. */
	assert_int_equal(good, 9);
	free(bytes);
}

/* Every byte replaced by others: refused or read, never worse. */
static void test_mutations(void **state)
{
	static const char other[] = { '\0', ' ', '\n', '-', '9', 'z', '#', (char)0xff };
	size_t len;
	char *bytes = test_file("hpcc/topo_star3.txt", &len);

	(void)state;
	for (size_t n = 0; n < len * sizeof(other); n++) {
		struct test_mem mem = test_mem_make(-1);
		struct wf_err err = { { 0 } };
		struct wf_topo *topo = NULL;
		char kept = bytes[n / sizeof(other)];
		int ret;

		bytes[n / sizeof(other)] = other[n % sizeof(other)];
		ret = test_read("hpcc", bytes, len, &mem.mem, &topo, &err);
		assert_true(ret == 0 || ret == -EINVAL);
		bytes[n / sizeof(other)] = kept;
		wf_topo_destroy(topo);
		assert_int_equal(mem.live, 0);
	}
	free(bytes);
}

static void test_out_of_memory(void **state)
{
	size_t len;
	char *bytes = test_file("hpcc/topo_ls16_100G.txt", &len);
	int ret = -ENOMEM;

	(void)state;
	for (long n = 0; ret != 0; n++) {
		struct test_mem mem = test_mem_make(n);
		struct wf_err err = { { 0 } };
		struct wf_topo *topo = NULL;

		ret = test_read("hpcc", bytes, len, &mem.mem, &topo, &err);
		assert_true(ret == 0 || ret == -ENOMEM);
		wf_topo_destroy(topo);
		assert_int_equal(mem.live, 0);
		assert_true(n < 20);
	}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),       cmocka_unit_test(test_order),
		cmocka_unit_test(test_tolerance),     cmocka_unit_test(test_bad),
		cmocka_unit_test(test_nul_bytes),     cmocka_unit_test(test_too_many_ports),
		cmocka_unit_test(test_truncations),   cmocka_unit_test(test_mutations),
		cmocka_unit_test(test_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
