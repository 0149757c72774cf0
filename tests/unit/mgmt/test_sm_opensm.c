/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sm_opensm.c - the manager against OpenSM: the same subnets, the same options, and the same
 * LIDs, forwarding tables, P_Keys and ports.
 *
 * tests/data/opensm has what OpenSM 3.3.23 set in subnets of ibsim, made by its make.py. Ports of
 * ibsim's have an MTU of 2048 and 8 lanes, so those here have the same. What ibsim's agents make
 * up themselves is not compared: MTU and lanes of a switch's own port, and the P_Keys of ports
 * between switches, which are all there from the start.
 */
#include "opensm.h"

/* The agent and port of a line: of an adapter by its port's GUID. */
static const struct wf_sma *agent_of(const struct net *net, uint64_t guid, unsigned number,
                                     unsigned *port_p)
{
	uint32_t id = wf_subnet_find(net->topo, guid), index;

	*port_p = number;
	if (id != WF_SUBNET_NONE && wf_subnet_is_switch(net->topo, id))
		return net->nodes[id].sma;
	index = wf_subnet_find_port(net->topo, guid);
	assert_int_not_equal(index, WF_SUBNET_NONE);
	id = net->topo->ports[index].node;
	*port_p = wf_subnet_number(net->topo, &net->topo->ports[index]);
	return net->nodes[id].sma;
}

/* The next number, behind a blank. */
static unsigned long take(const char **at, int base)
{
	char *end;
	unsigned long n = strtoul(*at, &end, base);

	assert_true(end != *at);
	*at = end;
	return n;
}

/* "a=b", the second in base; false at the end of the line. */
static bool take_pair(const char **at, int base, unsigned long *a, unsigned long *b)
{
	if (strchr(*at, '=') == NULL)
		return false;
	*a = take(at, 10);
	assert_int_equal(**at, '=');
	++*at;
	*b = take(at, base);
	return true;
}

static void check_lft(const struct net *net, uint64_t guid, const char *at)
{
	unsigned port;
	const struct wf_sma *sma = agent_of(net, guid, 0, &port);
	unsigned long lid, out;

	while (take_pair(&at, 10, &lid, &out))
		assert_int_equal(wf_sma_lft(sma, (uint16_t)lid), out);
}

static void check_pkeys(const struct net *net, uint64_t guid, unsigned number, const char *at)
{
	unsigned long index, pkey, next = 0;
	unsigned port;
	const struct wf_sma *sma = agent_of(net, guid, number, &port);
	uint32_t id = wf_subnet_find(net->topo, guid);

	/* Between switches nobody sets any. */
	if (number != 0 && id != WF_SUBNET_NONE && wf_subnet_is_switch(net->topo, id) &&
	    wf_subnet_is_switch(net->topo, wf_subnet_port(net->topo, id, number)->peer))
		return;
	while (take_pair(&at, 16, &index, &pkey)) {
		for (; next < index; next++)
			assert_int_equal(wf_sma_pkey(sma, port, (unsigned)next), 0);
		assert_int_equal(wf_sma_pkey(sma, port, (unsigned)next++), pkey);
	}
	for (; next < 16; next++)
		assert_int_equal(wf_sma_pkey(sma, port, (unsigned)next), 0);
}

static long value(const char *line, const char *name)
{
	const char *at = strstr(line, name);

	assert_non_null(at);
	return strtol(at + strlen(name), NULL, 0);
}

static void check_port(const struct net *net, uint64_t guid, unsigned number, const char *line)
{
	unsigned port;
	const struct wf_sma *sma = agent_of(net, guid, number, &port);
	const struct wf_port_info *info = wf_sma_port(sma, port);
	bool is_switch = wf_sma_node(sma)->node_type == WF_NODE_SWITCH;

	assert_non_null(strstr(line, "LinkState=Active"));
	assert_int_equal(info->port_state, WF_PORT_ACTIVE);
	if (!is_switch || port == 0) {
		assert_non_null(strstr(line, "GidPrefix=0xfe80000000000000"));
		assert_int_equal(info->gid_prefix, UINT64_C(0xfe80000000000000));
		assert_int_equal(info->master_sm_lid, value(line, "SMLid="));
		assert_int_equal(info->lmc, value(line, "LMC="));
	}
	if (is_switch && port != 0) {
		assert_int_equal(info->hoq_life, value(line, "HoqLife="));
		assert_int_equal(info->vl_stall_count, value(line, "VLStallCount="));
	}
	if (!is_switch || port != 0) {
		assert_int_equal(256 << (info->neighbor_mtu - 1), value(line, "NeighborMTU="));
		assert_non_null(strstr(line, "OperVLs=VL0-7"));
		assert_int_equal(info->operational_vls, 4);
	}
}

static void check_line(const struct net *net, const char *line, unsigned counts[4])
{
	static const char *const words[] = { "lid ", "lft ", "pkeys ", "port " };
	const char *at;
	unsigned what = 0, number, port;
	uint64_t guid;

	while (what < 4 && strncmp(line, words[what], strlen(words[what])) != 0)
		what++;
	assert_in_range(what, 0, 3);
	counts[what]++;
	at = line + strlen(words[what]);
	guid = take(&at, 16);
	if (what == 1) {
		check_lft(net, guid, at);
		return;
	}
	number = (unsigned)take(&at, 10);
	if (what == 0) {
		const struct wf_sma *sma = agent_of(net, guid, 0, &port);

		assert_int_equal(wf_sma_port(sma, port)->lid, number);
	} else if (what == 2)
		check_pkeys(net, guid, number, at);
	else
		check_port(net, guid, number, line);
}

static void check(const char *name, const char *net_name, struct wf_sm_cfg cfg)
{
	struct net *net;
	struct net_manager *m;
	unsigned counts[4] = { 0 };
	size_t len;
	char *text = read_text(name, ".txt", &len), *line, *rest = text;

	net = net_new_of(read_net(net_name));
	m = net_manage(net, node_called(net, "host 0"), &cfg);
	assert_true(net_run_up(net, m, WF_S));
	for (line = strtok_r(rest, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
		check_line(net, line, counts);
	for (unsigned i = 0; i < 4; i++)
		assert_true(counts[i] > 0);
	net_free(net);
	free(text);
}

/* What gives LIDs to a graph without a manager does the same. */
static void check_lids(const char *name, const char *net_name, unsigned lmc)
{
	struct net *net = net_new_of(read_net(net_name));
	unsigned n = 0;
	size_t len;
	char *text = read_text(name, ".txt", &len), *line, *rest = text;

	assert_int_equal(
		wf_subnet_assign_lids(net->topo, lmc,
	                              net->topo->nodes[node_called(net, "host 0")].first_port + 1),
		0);
	for (line = strtok_r(rest, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
		const char *at = line + 4;
		uint32_t index;
		uint64_t guid;

		if (strncmp(line, "lid ", 4) != 0)
			continue;
		guid = take(&at, 16);
		index = wf_subnet_find_port(net->topo, guid);
		if (wf_subnet_find(net->topo, guid) != WF_SUBNET_NONE &&
		    wf_subnet_is_switch(net->topo, wf_subnet_find(net->topo, guid)))
			index = net->topo->nodes[wf_subnet_find(net->topo, guid)].first_port;
		assert_int_equal(net->topo->ports[index].lid, take(&at, 10));
		n++;
	}
	assert_true(n > 8);
	net_free(net);
	free(text);
}

static void test_lids_alone(void **state)
{
	(void)state;
	check_lids("fat-minhop", "fat", 0);
	check_lids("fat3-ftree", "fat3", 0);
	check_lids("ring-minhop", "ring", 0);
	check_lids("dragonfly-minhop", "dragonfly", 0);
	check_lids("fat-lmc", "fat", 1);
}

static void test_minhop(void **state)
{
	(void)state;
	check("fat-minhop", "fat", with_engine("minhop"));
	check("fat3-minhop", "fat3", with_engine("minhop"));
	check("ring-minhop", "ring", with_engine("minhop"));
	check("dragonfly-minhop", "dragonfly", with_engine("minhop"));
}

static void test_updn(void **state)
{
	(void)state;
	check("fat-updn", "fat", with_engine("updn"));
}

static void test_ftree(void **state)
{
	(void)state;
	check("fat-ftree", "fat", with_engine("ftree"));
	check("fat3-ftree", "fat3", with_engine("ftree"));
}

static void test_lmc(void **state)
{
	struct wf_sm_cfg cfg = with_engine("minhop");

	(void)state;
	cfg.lmc = 1;
	check("fat-lmc", "fat", cfg);
}

static void test_partitions(void **state)
{
	struct wf_sm_cfg cfg = with_engine("minhop");
	size_t len;
	char *text = read_text("partitions", ".conf", &len);

	(void)state;
	cfg.partitions = text;
	cfg.partitions_name = "partitions.conf";
	check("fat-partitions", "fat", cfg);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_minhop),     cmocka_unit_test(test_updn),
		cmocka_unit_test(test_ftree),      cmocka_unit_test(test_lmc),
		cmocka_unit_test(test_partitions), cmocka_unit_test(test_lids_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
