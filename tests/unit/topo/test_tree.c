/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of topo/tree.c and the kinds it builds (leaf-spine, fat-tree, rail), and of single.c.
 */
#include "topo/topo_test.h"

/* Exact sizes: hosts, switches of tiers 1 to 3, links. */
static const struct size_case {
	const char *text;
	uint32_t hosts, tier1, tier2, tier3, links;
} size_cases[] = {
	{ "kind=single hosts=1", 1, 1, 0, 0, 1 },
	{ "kind=single hosts=16 radix=16", 16, 1, 0, 0, 16 },
	{ "kind=single hosts=1024", 1024, 1, 0, 0, 1024 },

	/* Leaves of k/2 hosts, k/2 uplinks; as few spines as close. */
	{ "kind=leaf-spine hosts=2", 2, 2, 1, 0, 4 },
	{ "kind=leaf-spine hosts=32", 32, 8, 4, 0, 64 },
	{ "kind=leaf-spine hosts=128 radix=32", 128, 8, 4, 0, 256 },
	{ "kind=leaf-spine hosts=512 radix=32", 512, 32, 16, 0, 1024 },
	{ "kind=leaf-spine hosts=96 radix=32", 96, 6, 4, 0, 192 },
	{ "kind=leaf-spine hosts=100 radix=32", 100, 7, 4, 0, 212 },
	{ "kind=leaf-spine hosts=2048 radix=64", 2048, 64, 32, 0, 4096 },
	/* What fits one switch is parted in two. */
	{ "kind=leaf-spine hosts=16 radix=64", 16, 2, 1, 0, 32 },
	{ "kind=leaf-spine hosts=17 radix=64", 17, 2, 1, 0, 35 },
	/* Blocking 3: 24 hosts and 8 uplinks of 32 ports. */
	{ "kind=leaf-spine hosts=768 radix=32 blocking=3", 768, 32, 8, 0, 1024 },
	{ "kind=leaf-spine hosts=48 radix=32 blocking=3", 48, 2, 1, 0, 64 },
	/* Uplinks twice as fast: 42 hosts and 21 uplinks of 64 ports. */
	{ "kind=leaf-spine hosts=84 radix=64 fabric_rate=800G", 84, 2, 1, 0, 126 },
	/* Uplinks half as fast: 21 hosts and 42 uplinks. */
	{ "kind=leaf-spine hosts=42 radix=64 fabric_rate=200G", 42, 2, 2, 0, 126 },

	/* k-ary fat trees: k^3/4 hosts, k^2/2 leaves and aggs, k^2/4 cores, 3k^3/4 links. */
	{ "kind=fat-tree hosts=2", 2, 2, 2, 1, 6 },
	{ "kind=fat-tree hosts=16", 16, 8, 8, 4, 48 },
	{ "kind=fat-tree hosts=54", 54, 18, 18, 9, 162 },
	{ "kind=fat-tree hosts=128", 128, 32, 32, 16, 384 },
	{ "kind=fat-tree hosts=128 radix=8", 128, 32, 32, 16, 384 },
	{ "kind=fat-tree hosts=1024", 1024, 128, 128, 64, 3072 },
	{ "kind=fat-tree hosts=8192", 8192, 512, 512, 256, 24576 },
	/* Fewer pods: as many cores as they need. */
	{ "kind=fat-tree hosts=64 radix=8", 64, 16, 16, 8, 192 },
	{ "kind=fat-tree hosts=32 radix=8", 32, 8, 8, 4, 96 },
	{ "kind=fat-tree hosts=48 radix=8", 48, 12, 12, 8, 144 },
	{ "kind=fat-tree hosts=16384 radix=64", 16384, 512, 512, 256, 49152 },
	/* Less than two pods' worth is parted in two: 4 leaves, 2 aggs a pod, 2 cores. */
	{ "kind=fat-tree hosts=128 radix=64", 128, 4, 4, 2, 384 },
	/* Blocking 3 of k = 8: 6 hosts and 2 uplinks; 4 leaves and 2 aggs a pod. */
	{ "kind=fat-tree hosts=192 radix=8 blocking=3", 192, 32, 16, 8, 320 },

	/* 4 groups of 32 servers: 8 rails each, 32 hosts and 32 uplinks on a switch of 64. */
	{ "kind=rail hosts=1024 radix=64", 1024, 32, 16, 0, 2048 },
	{ "kind=rail hosts=2048 radix=64", 2048, 64, 32, 0, 4096 },
	/* One group: all servers of a rail on one switch, and spines all the same. */
	{ "kind=rail hosts=256 radix=64", 256, 8, 4, 0, 512 },
	{ "kind=rail hosts=64 radix=64", 64, 8, 1, 0, 128 },
	{ "kind=rail hosts=16 gpus=4 radix=16", 16, 4, 1, 0, 32 },
	{ "kind=rail hosts=64 gpus=1 radix=64", 64, 2, 1, 0, 128 },
	/* More rail switches than a spine has ports: three tiers. */
	{ "kind=rail hosts=4096 radix=64", 4096, 128, 128, 64, 12288 },
	/* Rails that share leaves: 16 servers' 2, 4 or 8 NICs, and as few spines as close. */
	{ "kind=rail hosts=128 radix=64 leaf_rails=2", 128, 4, 2, 0, 256 },
	{ "kind=rail hosts=128 radix=64 leaf_rails=4", 128, 4, 2, 0, 256 },
	{ "kind=rail hosts=128 radix=64 leaf_rails=8", 128, 4, 2, 0, 256 },
	{ "kind=rail hosts=128 radix=64 leaf_rails=auto", 128, 4, 2, 0, 256 },
	{ "kind=rail hosts=128 gpus=64 radix=128 leaf_rails=64", 128, 2, 1, 0, 256 },
	{ "kind=rail hosts=16 radix=64 leaf_rails=auto", 16, 2, 1, 0, 32 },
	/* The fewest ports that do, and a rail a leaf. */
	{ "kind=rail hosts=64 radix=0 leaf_rails=auto", 64, 8, 4, 0, 128 },

	/*
	 * What NVIDIA builds from 64-port QM9700: DGX SuperPOD H100 reference architecture, table 4
	 * (leaf and spine switches, leaf-spine cables, of 1 to 4 scalable units less a server), and
	 * the B200's (512 to 16384 GPUs).
	 */
	{ "kind=auto hosts=248 radix=64", 248, 8, 4, 0, 248 + 256 },
	{ "kind=auto hosts=504 radix=64", 504, 16, 8, 0, 504 + 512 },
	{ "kind=auto hosts=760 radix=64", 760, 24, 16, 0, 760 + 768 },
	{ "kind=auto hosts=1016 radix=64", 1016, 32, 16, 0, 1016 + 1024 },
	{ "kind=auto hosts=512 radix=64", 512, 16, 8, 0, 2 * 512 },
	{ "kind=auto hosts=1024 radix=64", 1024, 32, 16, 0, 2 * 1024 },
	{ "kind=auto hosts=2048 radix=64", 2048, 64, 32, 0, 2 * 2048 },
	{ "kind=auto hosts=4096 radix=64", 4096, 128, 128, 64, 3 * 4096 },
	{ "kind=auto hosts=8192 radix=64", 8192, 256, 256, 128, 3 * 8192 },
	{ "kind=auto hosts=16384 radix=64", 16384, 512, 512, 256, 3 * 16384 },
	/* Its B300 with 144-port Q3400 (XDR): leaves of 72; 4 and 8 units have spare spines. */
	{ "kind=auto hosts=576 radix=144", 576, 8, 4, 0, 2 * 576 },
	{ "kind=auto hosts=1152 radix=144", 1152, 16, 8, 0, 2 * 1152 },
	{ "kind=auto hosts=2304 radix=144", 2304, 32, 18, 0, 2 * 2304 },
	{ "kind=auto hosts=4608 radix=144", 4608, 64, 36, 0, 2 * 4608 },
	{ "kind=auto hosts=10368 radix=144", 10368, 144, 72, 0, 2 * 10368 },
	/*
	 * By hand: what fits is one switch; 16 servers fill 4 leaves of 64 ports with two rails
	 * each.
	 */
	{ "kind=auto hosts=64 radix=64", 64, 1, 0, 0, 64 },
	{ "kind=auto hosts=128 radix=64", 128, 4, 2, 0, 256 },
	{ "kind=auto hosts=128 radix=128", 128, 1, 0, 0, 128 },
	{ "kind=auto hosts=256 radix=64", 256, 8, 4, 0, 512 },
	{ "kind=auto hosts=256 radix=128", 256, 4, 2, 0, 512 },
	{ "kind=auto hosts=2048 radix=128", 2048, 32, 16, 0, 4096 },
	{ "kind=auto hosts=8192 radix=128", 8192, 128, 64, 0, 16384 },
	/* One server more: 17 groups in 3 pods of 6, 64 aggs each, with 48 links up as down. */
	{ "kind=auto hosts=8200 radix=128", 8200, 136, 192, 128, 8200 + 136 * 64 + 192 * 48 },
	/* Servers of one NIC: leaves and spines, then three tiers. */
	{ "kind=auto hosts=256 gpus=1 radix=64", 256, 8, 4, 0, 512 },
	{ "kind=auto hosts=4096 gpus=1 radix=64", 4096, 128, 128, 64, 12288 },
};

static void test_sizes(void **state)
{
	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(size_cases); i++) {
		const struct size_case *c = &size_cases[i];
		struct wf_topo *topo = test_topo(c->text);

		if (test_count(topo, 1) != c->tier1 || test_count(topo, 2) != c->tier2 ||
		    test_count(topo, 3) != c->tier3 || topo->n_links != c->links)
			fail_msg("%s: %u leaves, %u aggs, %u cores, %u links", c->text,
			         test_count(topo, 1), test_count(topo, 2), test_count(topo, 3),
			         topo->n_links);
		assert_int_equal(topo->n_hosts, c->hosts);
		assert_int_equal(topo->n_nodes, c->hosts + c->tier1 + c->tier2 + c->tier3);
		assert_int_equal(topo->n_ports, 2 * topo->n_links);
		wf_topo_destroy(topo);
	}
}

/* Bits/s of the ports of a switch that lead to a higher tier, or to a lower one. */
static uint64_t bandwidth(const struct wf_topo *topo, uint32_t id, bool up)
{
	const struct wf_topo_node *node = &topo->nodes[id];
	uint64_t sum = 0;

	for (uint32_t p = 0; p < node->n_ports; p++) {
		const struct wf_topo_port *port = test_port(topo, id, p);

		if ((topo->nodes[port->peer].tier > node->tier) == up)
			sum += topo->links[port->link].rate;
	}
	return sum;
}

/*
 * What must hold for every tree: switches within their radix, hosts' ports before uplinks, uplinks
 * that carry the downlinks' traffic over the blocking ratio at leaves and in full above them.
 */
static void check_tree(const struct wf_topo *topo, const struct wf_topo_cfg *cfg, uint32_t radix)
{
	for (uint32_t i = 0; i < topo->n_nodes; i++) {
		const struct wf_topo_node *node = &topo->nodes[i];
		uint64_t ratio = node->tier == 1 ? cfg->blocking : WF_RATIO_ONE;
		bool up = false;

		assert_true(node->tier == 0 || node->n_ports <= radix);
		assert_int_equal(node->kind == WF_TOPO_HOST, node->tier == 0);
		for (uint32_t p = 0; p < node->n_ports; p++) {
			bool is_up = topo->nodes[test_port(topo, i, p)->peer].tier > node->tier;

			assert_true(is_up || !up);
			up = is_up;
		}
		if (up && node->tier > 0)
			assert_true(bandwidth(topo, i, true) * ratio / WF_RATIO_ONE >=
			            bandwidth(topo, i, false));
		if (i > 0)
			assert_true(topo->nodes[i - 1].tier <= node->tier);
	}
}

static void test_many_trees(void **state)
{
	static const char *const kinds[] = { "leaf-spine",           "fat-tree",
		                             "rail gpus=4",          "rail gpus=8",
		                             "rail leaf_rails=auto", "auto" };
	static const char *const rates[] = { "", "fabric_rate=800G", "fabric_rate=100G" };
	static const uint32_t radixes[] = { 0, 7, 8, 16, 24, 64 };
	static const uint32_t hosts[] = { 2, 8, 16, 24, 40, 64, 120, 128, 136, 200, 1000, 2048 };
	static const char *const ratios[] = { "1", "2", "3:2", "7" };
	static const char *const homings[] = { "", "ports=2 homing=same", "ports=2 homing=pair",
		                               "ports=2 homing=planes" };
	uint32_t built = 0, refused = 0;

	(void)state;
	/* All of one port, and every seventh of two. */
	for (size_t n = 0; n < 4 * (size_t)5184; n += n < 5184 ? 1 : 7) {
		struct wf_topo_cfg cfg;
		struct wf_err err = { { 0 } };
		struct wf_topo *topo = NULL;
		uint32_t radix = radixes[n / 12 % 6];
		char text[200];
		int ret;

		snprintf(text, sizeof(text), "kind=%s hosts=%u radix=%u blocking=%s %s %s",
		         kinds[n / 864 % 6], hosts[n % 12], radix, ratios[n / 72 % 4],
		         rates[n / 288 % 3], homings[n / 5184]);
		ret = test_build(text, wf_mem_heap(), &topo, &err);
		cfg = test_cfg(text);
		if (ret == 0) {
			assert_int_equal(topo->n_hosts, cfg.hosts);
			check_tree(topo, &cfg, radix == 0 ? WF_TOPO_MAX_PORTS : radix);
			wf_topo_destroy(topo);
			built++;
		} else {
			assert_int_equal(ret, -EINVAL);
			assert_int_equal(strncmp(err.text, "topology.", 9), 0);
			assert_non_null(strchr(err.text, ';'));
			refused++;
		}
	}
	assert_true(built > 3000 && refused > 200);
}

/* ---- bisection: the largest flow from one half of the hosts to the other ---- */

struct flow {
	const struct wf_topo *topo;
	int64_t *left;  /* by port: what may still leave through it, Gb/s */
	uint32_t *from; /* by node: the port number at from_node that reached it */
	uint32_t *from_node;
	uint32_t *queue;
};

/* Finds a path with room from a host below half to one above; returns its last node or NONE. */
static uint32_t find_path(struct flow *f, uint32_t half)
{
	uint32_t head = 0, tail = 0;

	for (uint32_t i = 0; i < f->topo->n_nodes; i++)
		f->from_node[i] = WF_TOPO_NONE;
	for (uint32_t i = 0; i < half; i++) {
		if (f->left[f->topo->nodes[i].first_port] > 0) {
			f->from_node[i] = i;
			f->queue[tail++] = i;
		}
	}
	while (head < tail) {
		uint32_t v = f->queue[head++];

		if (v >= half && v < f->topo->n_hosts)
			return v;
		for (uint32_t p = 0; p < f->topo->nodes[v].n_ports; p++) {
			uint32_t u = test_port(f->topo, v, p)->peer;

			if (f->from_node[u] != WF_TOPO_NONE ||
			    f->left[f->topo->nodes[v].first_port + p] <= 0 || u < half)
				continue;
			f->from_node[u] = v;
			f->from[u] = p;
			f->queue[tail++] = u;
		}
	}
	return WF_TOPO_NONE;
}

/* Gb/s from the first half of the hosts to the second. */
static int64_t bisection(const struct wf_topo *topo)
{
	struct flow f = { .topo = topo };
	int64_t total = 0;
	uint32_t end;

	f.left = calloc(topo->n_ports, sizeof(*f.left));
	f.from = calloc(topo->n_nodes, sizeof(*f.from));
	f.from_node = calloc(topo->n_nodes, sizeof(*f.from_node));
	f.queue = calloc(topo->n_nodes, sizeof(*f.queue));
	for (uint32_t i = 0; i < topo->n_ports; i++)
		f.left[i] = (int64_t)(topo->links[topo->ports[i].link].rate / 1000000000);

	while ((end = find_path(&f, topo->n_hosts / 2)) != WF_TOPO_NONE) {
		int64_t room = INT64_MAX;

		for (uint32_t u = end; f.from_node[u] != u; u = f.from_node[u]) {
			uint32_t port = topo->nodes[f.from_node[u]].first_port + f.from[u];

			room = f.left[port] < room ? f.left[port] : room;
		}
		for (uint32_t u = end; f.from_node[u] != u; u = f.from_node[u]) {
			uint32_t port = topo->nodes[f.from_node[u]].first_port + f.from[u];

			f.left[port] -= room;
			f.left[topo->nodes[u].first_port + topo->ports[port].peer_port] += room;
		}
		total += room;
	}
	free(f.left);
	free(f.from);
	free(f.from_node);
	free(f.queue);
	return total;
}

/* Half of the hosts can send to the other half at full rate, divided by the blocking ratio. */
static void test_bisection(void **state)
{
	static const struct {
		const char *text;
		int64_t gbps;
	} row[] = {
		{ "kind=single hosts=16", 8 * 400 },
		{ "kind=leaf-spine hosts=32", 16 * 400 },
		{ "kind=leaf-spine hosts=64 radix=32", 32 * 400 },
		{ "kind=leaf-spine hosts=48 radix=16 blocking=3", 24 * 400 / 3 },
		{ "kind=leaf-spine hosts=64 radix=48 fabric_rate=800G", 32 * 400 },
		{ "kind=leaf-spine hosts=64 radix=48 fabric_rate=200G", 32 * 400 },
		{ "kind=fat-tree hosts=16", 8 * 400 },
		{ "kind=fat-tree hosts=54", 27 * 400 },
		{ "kind=fat-tree hosts=128", 64 * 400 },
		{ "kind=fat-tree hosts=64 radix=8", 32 * 400 },
		{ "kind=fat-tree hosts=72 radix=12", 36 * 400 },
		{ "kind=fat-tree hosts=100 radix=16", 50 * 400 },
		{ "kind=fat-tree hosts=192 radix=8 blocking=3", 96 * 400 / 3 },
		{ "kind=rail hosts=64 gpus=4 radix=16", 32 * 400 },
		{ "kind=rail hosts=128 gpus=4 radix=8", 64 * 400 },
		{ "kind=rail hosts=64 gpus=4 radix=12 blocking=2", 32 * 400 / 2 },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		struct wf_topo *topo = test_topo(row[i].text);
		int64_t got = bisection(topo);

		if (got < row[i].gbps || got > row[i].gbps + row[i].gbps / 4)
			fail_msg("%s: %lld Gb/s, not %lld", row[i].text, (long long)got,
			         (long long)row[i].gbps);
		wf_topo_destroy(topo);
	}
}

/* ---- what is where ---- */

static void test_wires(void **state)
{
	struct wf_topo *topo = test_topo("kind=fat-tree hosts=16 host_rate=100G fabric_rate=200G "
	                                 "radix=8 cable.host=2m cable.fabric=20m cable.core=1km");

	(void)state;
	for (uint32_t i = 0; i < topo->n_links; i++) {
		const struct wf_topo_link *link = &topo->links[i];
		uint8_t tier = topo->nodes[link->b].tier;

		assert_int_equal(topo->nodes[link->a].tier + 1, tier);
		assert_int_equal(link->rate,
		                 tier == 1 ? UINT64_C(100000000000) : UINT64_C(200000000000));
		assert_int_equal(link->delay, tier == 1   ? 10 * WF_NS
		                              : tier == 2 ? 100 * WF_NS
		                                          : 5 * WF_US);
		assert_int_equal(link->loss, 0);
		assert_int_equal(link->line, 0);
	}
	wf_topo_destroy(topo);
}

static void check_name(const struct wf_topo *topo, const char *name, uint32_t id, uint32_t group)
{
	assert_int_equal(wf_topo_node_by_name(topo, name), id);
	assert_int_equal(topo->nodes[id].group, group);
}

static void test_names_and_groups(void **state)
{
	struct wf_topo *topo = test_topo("kind=fat-tree hosts=16");

	(void)state;
	check_name(topo, "h0", 0, 0);
	check_name(topo, "h15", 15, 3);
	check_name(topo, "leaf0", 16, 0);
	check_name(topo, "leaf7", 23, 3);
	check_name(topo, "pod0-agg0", 24, 0);
	check_name(topo, "pod3-agg1", 31, 3);
	check_name(topo, "core0", 32, 0);
	check_name(topo, "core3", 35, 3);
	/* Agg i is below the cores i, 2 + i. */
	assert_int_equal(test_port(topo, 25, 2)->peer, 33);
	assert_int_equal(test_port(topo, 25, 3)->peer, 35);
	wf_topo_destroy(topo);

	topo = test_topo("kind=leaf-spine hosts=32 radix=8");
	check_name(topo, "h31", 31, 7);
	check_name(topo, "leaf7", 39, 7);
	check_name(topo, "spine3", 43, 6);
	wf_topo_destroy(topo);
}

/* NIC r of every server is on rail r of the server's group. */
static void test_rails(void **state)
{
	struct wf_topo *topo = test_topo("kind=rail hosts=48 gpus=4 radix=8");
	char name[WF_TOPO_NAME];

	(void)state;
	for (uint32_t i = 0; i < topo->n_hosts; i++) {
		const struct wf_topo_node *host = &topo->nodes[i];
		uint32_t group = i / 4 / 4;

		assert_int_equal(host->host, i);
		assert_int_equal(host->server, i / 4);
		assert_int_equal(host->group, group);
		snprintf(name, sizeof(name), "group%u-rail%u", group, i % 4);
		assert_int_equal(test_port(topo, i, 0)->peer, wf_topo_node_by_name(topo, name));
		assert_int_equal(test_port(topo, i, 0)->peer_port, i / 4 % 4);
	}
	wf_topo_destroy(topo);
}

/* Two rails on a leaf: NICs 2r and 2r + 1 of a group's servers on its switch 2r. */
static void test_shared_rails(void **state)
{
	struct wf_topo *topo = test_topo("kind=rail hosts=48 gpus=4 radix=16 leaf_rails=2");
	char name[WF_TOPO_NAME];

	(void)state;
	assert_int_equal(test_count(topo, 1), 6);
	for (uint32_t i = 0; i < topo->n_hosts; i++) {
		uint32_t group = i / 4 / 4;

		assert_int_equal(topo->nodes[i].server, i / 4);
		assert_int_equal(topo->nodes[i].group, group);
		snprintf(name, sizeof(name), "group%u-rail%u", group, i % 4 / 2 * 2);
		assert_int_equal(test_port(topo, i, 0)->peer, wf_topo_node_by_name(topo, name));
	}
	wf_topo_destroy(topo);
}

/* One switch of servers with several NICs knows them. */
static void test_auto_servers(void **state)
{
	struct wf_topo *topo = test_topo("kind=auto hosts=16 radix=16");

	(void)state;
	for (uint32_t i = 0; i < topo->n_hosts; i++)
		assert_int_equal(topo->nodes[i].server, i / 8);
	wf_topo_destroy(topo);
}

static void test_refusals(void **state)
{
	static const struct {
		const char *text;
		const char *want; /* part of the message */
	} row[] = {
		{ "kind=single hosts=17 radix=16", "topology.hosts: 17 hosts on one switch of 16" },
		{ "kind=leaf-spine hosts=1", "at least 2" },
		{ "kind=fat-tree hosts=1", "at least 2" },
		{ "kind=leaf-spine hosts=513 radix=32", "holds at most 512 hosts" },
		{ "kind=leaf-spine hosts=513 radix=32", "radix 34 or more would do" },
		{ "kind=fat-tree hosts=129 radix=8", "topology.radix: a fat-tree of 8-port" },
		{ "kind=fat-tree hosts=129 radix=8", "radix 10 or more would do" },
		{ "kind=fat-tree hosts=129 radix=1", "holds at most 0 hosts" },
		{ "kind=leaf-spine hosts=4 host_rate=1600G fabric_rate=1G", "no radix up to 1024" },
		{ "kind=rail hosts=100", "104 would be" },
		{ "kind=rail hosts=2056 radix=8 gpus=8", "holds at most 32 hosts" },
		{ "kind=rail hosts=128 radix=6 gpus=8", "radix 16 or more would do" },
		{ "kind=fat-tree hosts=1048576", "at most 1048576" },
		{ "kind=rail hosts=64 radix=64 leaf_rails=3", "topology.leaf_rails: 3 of 8 rails" },
		{ "kind=rail hosts=64 radix=64 leaf_rails=64",
		  "topology.leaf_rails: 64 of 8 rails" },
		{ "kind=auto hosts=64", "topology.radix: kind auto must know the ports" },
		{ "kind=auto hosts=100 radix=64", "104 would be" },
		{ "kind=auto hosts=70000 radix=64", "holds at most 65536 hosts" },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		struct test_mem mem = test_mem_make(-1);
		struct wf_err err = { { 0 } };
		struct wf_topo *topo = NULL;

		assert_int_equal(test_build(row[i].text, &mem.mem, &topo, &err), -EINVAL);
		if (strstr(err.text, row[i].want) == NULL)
			fail_msg("%s: %s", row[i].text, err.text);
		assert_null(topo);
		assert_int_equal(mem.calls, 0);
	}
}

/* Each allocation failed in turn: no leak, and the output untouched. */
static void test_out_of_memory(void **state)
{
	static const char *const text[] = { "kind=single hosts=4", "kind=leaf-spine hosts=8",
		                            "kind=fat-tree hosts=16", "kind=rail hosts=16",
		                            "kind=auto hosts=16 radix=16" };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(text); i++) {
		int ret = -ENOMEM;

		for (long n = 0; ret != 0; n++) {
			struct test_mem mem = test_mem_make(n);
			struct wf_err err = { { 0 } };
			struct wf_topo *topo = NULL;

			ret = test_build(text[i], &mem.mem, &topo, &err);
			if (ret != 0) {
				assert_int_equal(ret, -ENOMEM);
				assert_null(topo);
			}
			wf_topo_destroy(topo);
			assert_int_equal(mem.live, 0);
			assert_true(n < 20);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_many_trees),
		cmocka_unit_test(test_bisection),
		cmocka_unit_test(test_wires),
		cmocka_unit_test(test_names_and_groups),
		cmocka_unit_test(test_rails),
		cmocka_unit_test(test_shared_rails),
		cmocka_unit_test(test_auto_servers),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
