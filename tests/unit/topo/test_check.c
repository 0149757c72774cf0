/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of topo/check.c: a good topology is broken in one place at a time. */
#include "topo/topo_test.h"

struct breakage {
	const char *what;
	void (*apply)(struct wf_topo *topo);
	const char *want; /* part of the message */
};

static void link_to_nowhere(struct wf_topo *topo)
{
	topo->links[3].b = topo->n_nodes;
	topo->links[3].line = 7;
}

static void link_to_itself(struct wf_topo *topo)
{
	topo->links[20].b = topo->links[20].a;
}

static void link_between_hosts(struct wf_topo *topo)
{
	topo->links[3].b = 5;
	topo->links[3].line = 12;
}

static void link_without_rate(struct wf_topo *topo)
{
	topo->links[4].rate = 0;
}

static void link_to_no_port(struct wf_topo *topo)
{
	topo->links[4].b_port = 900;
}

static void port_left_over(struct wf_topo *topo)
{
	topo->ports[topo->nodes[16].first_port + 3].link = 0;
}

static void port_of_no_link(struct wf_topo *topo)
{
	topo->ports[topo->nodes[16].first_port + 3].link = topo->n_links;
}

static void peer_differs(struct wf_topo *topo)
{
	topo->ports[topo->nodes[17].first_port].peer = 9;
}

static void node_without_link(struct wf_topo *topo)
{
	topo->nodes[topo->n_nodes++] =
		(struct wf_topo_node){ .kind = WF_TOPO_SWITCH, .name = "lonely" };
}

static void too_many_ports(struct wf_topo *topo)
{
	topo->nodes[20].n_ports = 2000;
	topo->n_ports = 4000;
}

static void ports_beyond_end(struct wf_topo *topo)
{
	topo->nodes[20].first_port = topo->n_ports;
}

static void port_without_node(struct wf_topo *topo)
{
	topo->n_ports += 1;
}

static void no_hosts(struct wf_topo *topo)
{
	topo->n_hosts = 0;
}

static const struct breakage breakages[] = {
	{ "link to nowhere", link_to_nowhere,
	  "file:7: link 3 from node 3 to node 22 leads nowhere" },
	{ "link to itself", link_to_itself, "connects leaf1 with itself" },
	{ "link between hosts", link_between_hosts,
	  "file:12: link 3 connects the hosts h3 and h5" },
	{ "link without rate", link_without_rate, "from h4 to leaf1 has a rate of 0 bits/s" },
	{ "link to no port", link_to_no_port,
	  "h4 port 0 to leaf1 port 900: there is no such port" },
	{ "port left over", port_left_over, "port 3 of leaf0 is left over" },
	{ "port of no link", port_of_no_link, "port 3 of leaf0 is left over" },
	{ "peer differs", peer_differs, "port 0 of leaf1 is left over" },
	{ "node without link", node_without_link, "lonely (node 22) has no link" },
	{ "too many ports", too_many_ports, "has 2000 ports; at most 1024" },
	{ "ports beyond end", ports_beyond_end, "ports that do not exist" },
	{ "port without node", port_without_node, "each has two ends" },
	{ "no hosts", no_hosts, "there is no host" },
};

static void test_breakages(void **state)
{
	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(breakages); i++) {
		/* The nodes get room for one more, for node_without_link. */
		struct wf_topo *good = test_topo("kind=leaf-spine hosts=16 radix=8");
		struct wf_topo broken = *good;
		struct wf_err err = { { 0 } };

		broken.nodes = calloc(good->n_nodes + 1, sizeof(*broken.nodes));
		assert_non_null(broken.nodes);
		memcpy(broken.nodes, good->nodes, good->n_nodes * sizeof(*broken.nodes));
		assert_int_equal(wf_topo_check(&broken, "file", &err), 0);
		assert_string_equal(err.text, "");
		breakages[i].apply(&broken);
		assert_int_equal(wf_topo_check(&broken, "file", &err), -EINVAL);
		if (strstr(err.text, breakages[i].want) == NULL)
			fail_msg("%s: %s", breakages[i].what, err.text);
		assert_non_null(strchr(err.text, ';'));
		free(broken.nodes);
		wf_topo_destroy(good);
	}
}

/* Too few links to join all nodes: seen before anything is allocated for them. */
static void test_too_few_links(void **state)
{
	static const char text[] = "6 2 4\n4 5\n"
				   "0 4 100Gbps 1us 0\n1 4 100Gbps 1us 0\n"
				   "2 5 100Gbps 1us 0\n3 5 100Gbps 1us 0\n";
	struct test_mem mem = test_mem_make(-1);
	struct wf_err err = { { 0 } };
	struct wf_topo *topo = NULL;

	(void)state;
	assert_int_equal(test_read("hpcc", text, sizeof(text) - 1, &mem.mem, &topo, &err), -EINVAL);
	assert_non_null(strstr(err.text, "4 links cannot join 6 nodes"));
	assert_int_equal(mem.calls, 0);
}

/* Two parts that do not meet: the message names a node of the second and one of the first. */
static void test_two_parts(void **state)
{
	static const char text[] = "7 3 6\n4 5 6\n"
				   "0 4 100Gbps 1us 0\n1 4 100Gbps 1us 0\n"
				   "2 5 100Gbps 1us 0\n3 5 100Gbps 1us 0\n"
				   "4 6 100Gbps 1us 0\n4 6 100Gbps 1us 0\n";
	struct wf_err err = { { 0 } };
	struct wf_topo *topo = NULL;

	(void)state;
	assert_int_equal(test_read("hpcc", text, sizeof(text) - 1, wf_mem_heap(), &topo, &err),
	                 -EINVAL);
	assert_string_equal(err.text, "file:5: no path between h2 (node 2, linked to sw5) and h0 "
	                              "(node 0); connect the two parts");
}

static void test_null_error(void **state)
{
	struct wf_topo *topo = test_topo("kind=single hosts=4");

	(void)state;
	topo->links[0].rate = 0;
	assert_int_equal(wf_topo_check(topo, "file", NULL), -EINVAL);
	wf_topo_destroy(topo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_breakages),
		cmocka_unit_test(test_too_few_links),
		cmocka_unit_test(test_two_parts),
		cmocka_unit_test(test_null_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
