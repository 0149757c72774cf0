/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of topo/ibnetdiscover.c and topo/subnet.c. */
#include "topo/topo_test.h"

#include "subnet/write.h"
#include "topo/subnet.h"

/* Two leaves and a spine; n1 and n2 have two adapters each, and all that is left out is there. */
static const char net[] =
	"Switch 8 \"S-0a\" # \"MF0;leafa:MQM9700/U1\" enhanced port 0 lid 1 lmc 0\n"
	"[2] \"H-01\"[1](11) # \"n1 mlx5_10\" lid 11 4xNDR\n"
	"[1] \"H-02\"[1](12) # \"n2 mlx5_0\" lid 12 4xNDR\n"
	"[5] \"S-0c\"[1] # \"spine\" lid 3 4xNDR\n"
	"[6] \"S-0a\"[7] # \"loop\" lid 1 4xNDR\n"
	"[7] \"S-0a\"[6] # \"loop\" lid 1 4xNDR\n"
	"[8] \"H-09\"[1](19) # \"Mellanox Technologies Aggregation Node\" lid 19 4xNDR\n"
	"Switch 8 \"S-0b\" # \"leaf b\" base port 0 lid 2 lmc 0\n"
	"[1] \"H-03\"[1](13) # \"n1 mlx5_2\" lid 13 4xHDR\n"
	"[3] \"H-04\"[1](14) # \"n2 mlx5_1\" lid 14 4x???\n"
	"[4] \"S-0c\"[2] # \"spine\" lid 3 4xHDR\n"
	"[6] \"R-05\"[1](15) # \"router\" lid 15 4xHDR\n"
	"Switch 8 \"S-0c\" # \"spine\" base port 0 lid 3 lmc 0\n"
	"[1] \"S-0a\"[5] # \"leafa\" lid 1 4xNDR\n"
	"[2] \"S-0b\"[4] # \"leaf b\" lid 2 4xEDR\n"
	"[3] \"S-0d\"[1] # \"dead end\" lid 4 4xNDR\n"
	"Switch 8 \"S-0d\" # \"h7\" base port 0 lid 4 lmc 0\n"
	"[1] \"S-0c\"[3] # \"spine\" lid 3 4xNDR\n"
	"Switch 8 \"S-0e\" # \"alone\" base port 0 lid 0 lmc 0\n"
	"Ca 1 \"H-06\" # \"n9 mlx5_0\"\n[1](16) \"H-07\"[1] # lid 0 lmc 0 \"n9 mlx5_1\" lid 0 "
	"4xNDR\n";

static void test_import(void **state)
{
	static const struct {
		const char *name;
		uint32_t server;
		uint64_t gbps;
		const char *peer;
	} host[] = {
		{ "h0", 0, 200, "sw1" },   /* n1 mlx5_2, before mlx5_10 */
		{ "h1", 0, 400, "leafa" }, /* n1 mlx5_10 */
		{ "h2", 1, 400, "leafa" }, /* n2 mlx5_0 */
		{ "h3", 1, 300, "sw1" },   /* n2 mlx5_1, whose rate is not known */
	};
	struct wf_topo_cfg cfg = test_cfg("kind=ibnetdiscover host_rate=300Gbps");
	struct wf_topo *topo = NULL;
	struct wf_err err = { "" };

	(void)state;
	if (wf_topo_find("ibnetdiscover")
	            ->build(&cfg, net, strlen(net), "file", wf_mem_heap(), &topo, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(topo->n_hosts, 4);
	assert_int_equal(topo->n_nodes, 8);
	assert_int_equal(topo->n_links, 7);
	for (uint32_t i = 0; i < 4; i++) {
		const struct wf_topo_node *node = &topo->nodes[topo->host_node[i]];
		const struct wf_topo_port *port = &topo->ports[node->first_port];

		assert_string_equal(node->name, host[i].name);
		assert_int_equal(node->server, host[i].server);
		assert_int_equal(topo->links[port->link].rate, host[i].gbps * 1000000000);
		assert_string_equal(topo->nodes[port->peer].name, host[i].peer);
	}
	/* Ports of leafa in its order: 1, 2, 5. */
	assert_int_equal(wf_topo_node_by_name(topo, "leafa"), 4);
	assert_int_equal(test_port(topo, 4, 0)->peer, 2);
	assert_int_equal(test_port(topo, 4, 1)->peer, 1);
	assert_int_equal(test_port(topo, 4, 2)->peer, wf_topo_node_by_name(topo, "spine"));
	/* The lower rate of the two ends; "leaf b" and "h7" are no names here. */
	assert_int_equal(topo->links[test_port(topo, 6, 1)->link].rate, UINT64_C(100000000000));
	assert_string_equal(topo->nodes[7].name, "sw3");
	wf_topo_destroy(topo);
}

static void test_two_ports(void **state)
{
	static const char two[] =
		"Switch 8 \"S-0a\"\n[1] \"H-01\"[1]\n[2] \"H-02\"[2]\n"
		"Switch 8 \"S-0b\"\n[1] \"H-01\"[2]\n[2] \"H-02\"[1]\n"
		"[8] \"S-0c\"[8]\nSwitch 8 \"S-0c\"\n[8] \"S-0b\"[8]\n[7] \"S-0a\"[8]\n";
	struct wf_topo_cfg cfg = test_cfg("kind=ibnetdiscover ports=2");
	struct wf_topo *topo = NULL;
	struct wf_err err = { "" };

	(void)state;
	if (wf_topo_find("ibnetdiscover")
	            ->build(&cfg, two, strlen(two), "file", wf_mem_heap(), &topo, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(topo->n_hosts, 2);
	assert_int_equal(topo->host_ports, 2);
	/* Port 1 of the second adapter is at the second switch. */
	assert_int_equal(test_port(topo, 1, 0)->peer, 3);
	assert_int_equal(test_port(topo, 1, 1)->peer, 2);
	wf_topo_destroy(topo);
	topo = NULL;
	cfg = test_cfg("kind=ibnetdiscover");
	assert_int_equal(
		wf_topo_find("ibnetdiscover")
			->build(&cfg, two, strlen(two), "file", wf_mem_heap(), &topo, &err),
		0);
	assert_int_equal(topo->n_hosts, 4);
	wf_topo_destroy(topo);
}

static void test_bad(void **state)
{
	static const struct {
		const char *cfg, *text, *want;
	} row[] = {
		{ "", "", "file: there is no node in it" },
		{ "", "Switch 8 \"S-0a\"\n", "file: no adapter in it is connected to a switch" },
		{ "", "Switch 8 \"S-0a\"\n[9] \"S-0a\"[1]\n",
		  "file:2:2: the node has no such port" },
		{ " ports=2", "Switch 8 \"S-0a\"\n[1] \"H-01\"[1]\n",
		  "file:2: 'H-01' has 1 connected port, and topology.ports is 2" },
		{ "", "Switch 2 \"S-0a\"\n[1] \"H-01\"[1]\nSwitch 2 \"S-0b\"\n[1] \"H-02\"[1]\n",
		  "no path between" },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		struct test_mem mem = test_mem_make(-1);
		struct wf_topo_cfg cfg;
		struct wf_topo *topo = NULL;
		struct wf_err err = { "" };
		char text[64];

		snprintf(text, sizeof(text), "kind=ibnetdiscover%s", row[i].cfg);
		cfg = test_cfg(text);
		assert_int_equal(wf_topo_find("ibnetdiscover")
		                         ->build(&cfg, row[i].text, strlen(row[i].text), "file",
		                                 &mem.mem, &topo, &err),
		                 -EINVAL);
		if (strstr(err.text, row[i].want) == NULL)
			fail_msg("case %zu: %s", i, err.text);
		assert_int_equal(mem.live, 0);
	}
}

static void test_out_of_memory(void **state)
{
	int ret = -ENOMEM;

	(void)state;
	for (long n = 0; ret != 0; n++) {
		struct test_mem mem = test_mem_make(n);
		struct wf_topo *topo = NULL;
		struct wf_err err = { "" };

		ret = test_read("ibnetdiscover", net, strlen(net), &mem.mem, &topo, &err);
		assert_true(ret == 0 || ret == -ENOMEM);
		wf_topo_destroy(topo);
		assert_int_equal(mem.live, 0);
		assert_true(n < 200);
	}
}

struct page {
	char *text;
	size_t n, room;
};

static void put(void *arg, const char *text, size_t len)
{
	struct page *page = arg;

	assert_true(page->n + len <= page->room);
	memcpy(page->text + page->n, text, len);
	page->n += len;
}

/* Adapters and switches have the GUIDs that agents of a managed fabric answer with. */
static void same_as_agents(const struct wf_topo *topo, const struct wf_subnet *subnet)
{
	for (uint32_t i = 0; i < topo->n_nodes; i++) {
		const struct wf_topo_node *node = &topo->nodes[i];
		uint64_t guid = UINT64_C(0x00c0defffe800000) + i;

		if (node->kind == WF_TOPO_HOST)
			guid = UINT64_C(0x00c0defffe000001) + node->host;
		assert_int_equal(subnet->nodes[i].guid, guid);
		for (unsigned p = 1; node->kind == WF_TOPO_HOST && p <= node->n_ports; p++)
			assert_int_equal(wf_subnet_port(subnet, i, p)->guid,
			                 guid + (p - 1) * UINT64_C(0x400000));
	}
}

/* Each port of a host has a GUID of its own. */
static void test_port_guids(void **state)
{
	struct wf_topo *topo =
		test_topo("kind=leaf-spine hosts=16 radix=8 ports=2 homing=pair host_rate=200Gbps");
	struct wf_subnet *subnet = NULL;
	struct wf_err err = { "" };

	(void)state;
	assert_int_equal(wf_topo_to_subnet(topo, "t", wf_mem_heap(), &subnet, &err), 0);
	assert_int_equal(topo->nodes[topo->host_node[3]].n_ports, 2);
	same_as_agents(topo, subnet);
	wf_subnet_destroy(subnet);
	wf_topo_destroy(topo);
}

/*
 * A topology that becomes a subnet, is written, and read as a topology again has the same links
 * between the same ports of the same nodes, at the same rates.
 */
static void test_there_and_back(void **state)
{
	static const char *const kinds[] = {
		"kind=fat-tree hosts=128 radix=8 host_rate=200Gbps",
		"kind=dragonfly hosts=72 global_links=2 host_rate=400Gbps",
		"kind=leaf-spine hosts=32 host_rate=100Gbps fabric_rate=400Gbps",
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(kinds); i++) {
		struct wf_topo *topo = test_topo(kinds[i]), *back = NULL;
		struct page page = { .room = 1 << 20 };
		const struct wf_sink sink = { put, &page };
		struct wf_subnet *subnet = NULL;
		struct wf_err err = { "" };

		page.text = malloc(page.room);
		assert_non_null(page.text);
		assert_int_equal(wf_topo_to_subnet(topo, "t", wf_mem_heap(), &subnet, &err), 0);
		assert_int_equal(subnet->nodes[topo->host_node[5]].guid,
		                 UINT64_C(0x00c0defffe000006));
		assert_string_equal(subnet->nodes[topo->host_node[5]].desc, "h5 weft0");
		same_as_agents(topo, subnet);
		wf_subnet_write(subnet, &sink);
		assert_int_equal(
			test_read("ibnetdiscover", page.text, page.n, wf_mem_heap(), &back, &err),
			0);
		assert_int_equal(back->n_nodes, topo->n_nodes);
		assert_int_equal(back->n_links, topo->n_links);
		for (uint32_t n = 0; n < topo->n_nodes; n++) {
			assert_string_equal(back->nodes[n].name, topo->nodes[n].name);
			assert_int_equal(back->nodes[n].n_ports, topo->nodes[n].n_ports);
			for (uint32_t p = 0; p < topo->nodes[n].n_ports; p++) {
				const struct wf_topo_port *a = test_port(topo, n, p);
				const struct wf_topo_port *b = test_port(back, n, p);

				assert_int_equal(a->peer, b->peer);
				assert_int_equal(a->peer_port, b->peer_port);
				assert_int_equal(topo->links[a->link].rate,
				                 back->links[b->link].rate);
			}
		}
		free(page.text);
		wf_subnet_destroy(subnet);
		wf_topo_destroy(back);
		wf_topo_destroy(topo);
	}
}

/* A switch of more ports than InfiniBand can number. */
static void test_too_large(void **state)
{
	struct wf_topo *topo = test_topo("kind=single hosts=255");
	struct wf_subnet *subnet = NULL;
	struct wf_err err = { "" };

	(void)state;
	assert_int_equal(wf_topo_to_subnet(topo, "t", wf_mem_heap(), &subnet, &err), -EINVAL);
	assert_non_null(strstr(err.text,
	                       "has 255 ports; a switch of an InfiniBand subnet has at most "
	                       "254"));
	assert_null(subnet);
	wf_topo_destroy(topo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_import),     cmocka_unit_test(test_two_ports),
		cmocka_unit_test(test_bad),        cmocka_unit_test(test_out_of_memory),
		cmocka_unit_test(test_port_guids), cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_too_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
