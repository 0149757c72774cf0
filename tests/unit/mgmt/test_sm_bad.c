/* SPDX-License-Identifier: Apache-2.0 */
/* test_sm_bad.c - a subnet manager with too little memory, and one that is told nonsense. */
#include "smnet.h"

#include <errno.h>

#include "../mem_fail.h"

/* Memory ends after n calls, wherever that is; when there is some again, all comes up. */
static void test_no_memory(void **state)
{
	bool ended = false;

	(void)state;
	for (long n = 0; !ended; n += (long)check_step(3)) {
		struct net *net = net_new_of(net_fat_tree(2, 2, 1));
		struct mem_fail mem = mem_fail_after(n);
		struct wf_sm_cfg cfg = net_cfg();
		struct wf_err err = { "" };
		struct net_manager *m;
		struct wf_sm *sm;
		uint64_t guids[2];

		/* Nothing is left where there is not enough to begin with. */
		if (wf_sm_create(&cfg, NULL, NULL, &mem.mem, &sm, &err) != 0) {
			assert_int_equal(mem.held, 0);
			net_free(net);
			continue;
		}
		wf_sm_destroy(sm);
		assert_int_equal(mem.held, 0);
		mem.left = n;
		m = net_manage_in(net, 0, &cfg, &mem.mem);
		for (unsigned i = 0; i < 2; i++)
			guids[i] = wf_subnet_port(net->topo, i, 1)->guid;
		(void)!wf_sm_set_group(m->sm, 0xc000, guids, 2);
		ended = net_run_up(net, m, 5 * WF_S);
		if (ended) /* it says so only when it is so */
			assert_int_equal(net_unreached(net, 1), 0);
		ended = ended && mem.left > 0;
		mem.left = 1000000;
		wf_sm_resweep(m->sm, true, net->now);
		net_pump(net, m);
		assert_true(net_run_up(net, m, 30 * WF_S));
		assert_int_equal(net_unreached(net, 1), 0);
		net_free(net);
		assert_int_equal(mem.held, 0);
	}
}

/* One answer of ten is not as it was sent. When all are right again, so is the subnet. */
static void test_bent(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed += check_step(4)) {
		struct net *net = net_new_of(net_fat_tree(2, 3, 2));
		struct wf_sm_cfg cfg = net_cfg();
		struct net_manager *m;

		net->seed = seed;
		net->bend = (UINT64_C(1) << 32) / 10;
		m = net_manage(net, 0, &cfg);
		net_run(net, 100 * WF_S);
		net->bend = 0;
		/* It may look for a master that there is not. */
		net_run(net, net->now + 100 * WF_S);
		wf_sm_resweep(m->sm, true, net->now);
		net_pump(net, m);
		net_run(net, net->now + 30 * WF_S);
		assert_int_equal(wf_sm_state(m->sm), WF_SM_MASTER);
		assert_int_equal(net_unreached(net, 1), 0);
		net_free(net);
	}
}

/* Bytes of no meaning at all; what is a response finds no request. */
static void test_noise(void **state)
{
	struct net *net = net_new_of(net_fat_tree(2, 2, 1));
	struct wf_sm_cfg cfg = net_cfg();
	struct net_manager *m = net_manage(net, 0, &cfg);
	struct wf_sm_addr from = { .lid = 3 };
	uint8_t mad[WF_MAD_LEN];
	struct wf_sm_stats stats;
	uint64_t n = 0;

	(void)state;
	assert_true(net_run_up(net, m, WF_S));
	for (unsigned i = 0; i < 20000; i++) {
		static const uint8_t methods[] = { 1, 2, 5, 7, 0x81 };

		for (unsigned j = 0; j < WF_MAD_LEN; j++)
			mad[j] = (uint8_t)wf_rand64(7, n++);
		if (i % 4 != 0) { /* so that it is looked at */
			mad[0] = 1;
			mad[1] = i % 8 < 4 ? 1 : 0x81;
			mad[2] = 1;
			mad[3] = methods[i % 5];
			mad[16] = 0;
			mad[17] = i % 3 == 0 ? WF_SMP_NOTICE : WF_SMP_SM_INFO;
		}
		wf_sm_rx(m->sm, &from, mad, net->now);
		net_pump(net, m);
		net_run(net, net->now + WF_US);
	}
	wf_sm_stats(m->sm, &stats);
	assert_true(stats.ignored > 1000 && stats.stray > 1000 && stats.sm_info_asked > 1000);
	net_run(net, net->now + 30 * WF_S);
	assert_int_equal(wf_sm_state(m->sm), WF_SM_MASTER);
	assert_int_equal(net_unreached(net, 1), 0);
	net_free(net);
}

/* A NodeInfo that cannot be, once for each way: the link is left out. */
static void test_node_info(void **state)
{
	(void)state;
	for (unsigned way = 0; way < 5; way++) {
		struct wf_node_info info = { .node_type = WF_NODE_CA,
			                     .num_ports = 1,
			                     .node_guid = 0x77,
			                     .port_guid = 0x78,
			                     .local_port_num = 1 };
		struct wf_sm_cfg cfg = net_cfg();
		struct wf_err err = { "" };
		struct wf_sm_addr to;
		struct wf_sm_stats stats;
		struct wf_sm *sm;
		struct wf_mad head;
		uint8_t mad[WF_MAD_LEN];

		if (way == 0)
			info.node_type = 0;
		else if (way == 1)
			info.node_type = 4;
		else if (way == 2)
			info.num_ports = 255;
		else if (way == 3)
			info.local_port_num = 2;
		else
			info.node_guid = 0;
		assert_int_equal(wf_sm_create(&cfg, NULL, NULL, wf_mem_heap(), &sm, &err), 0);
		wf_sm_tick(sm, 0);
		assert_true(wf_sm_tx(sm, &to, mad));
		wf_mad_decode(mad, &head);
		assert_int_equal(head.attr_id, WF_SMP_NODE_INFO);
		head.method = WF_MAD_METHOD_GET_RESP;
		head.status = WF_SMP_DIRECTION;
		wf_mad_encode(&head, mad);
		wf_node_info_encode(&info, mad + WF_SMP_DATA);
		wf_sm_rx(sm, &to, mad, 1);
		wf_sm_stats(sm, &stats);
		assert_int_equal(stats.count[WF_SM_GET_NODE_INFO].answered, 1);
		assert_false(wf_sm_tx(sm, &to, mad));
		assert_int_equal(wf_sm_guid(sm), 0);
		wf_sm_destroy(sm);
	}
}

/* ---- the configuration ---- */

static void test_parameters(void **state)
{
	struct wf_sm_cfg cfg = net_cfg();
	struct wf_err err;

	(void)state;
	assert_true(cfg.sweep_interval == 10 * WF_S);
	assert_true(cfg.transaction_timeout == 200 * WF_MS);
	assert_int_equal(cfg.transaction_retries, 3);
	assert_int_equal(cfg.max_wire_smps, 4);
	assert_int_equal(cfg.subnet_timeout, 18);
	assert_int_equal(cfg.polling_retry_number, 4);
	for (size_t i = 0; i < wf_sm_n_params; i++) {
		const struct wf_param *row = &wf_sm_params[i];
		char text[64];

		err = (struct wf_err){ "" };
		if (row->kind != WF_PARAM_U32)
			continue;
		(void)snprintf(text, sizeof(text), "%lld", (long long)row->max);
		assert_int_equal(wf_param_set(row, &cfg, text, &err), 0);
		(void)snprintf(text, sizeof(text), "%lld", (long long)row->max + 1);
		assert_int_equal(wf_param_set(row, &cfg, text, &err), -EINVAL);
		(void)snprintf(text, sizeof(text), "%lld", (long long)row->min);
		assert_int_equal(wf_param_set(row, &cfg, text, &err), 0);
	}
}

static void bad(const char *name, const char *text, const char *says)
{
	struct wf_sm_cfg cfg = net_cfg();
	const struct wf_param *row = wf_param_find(wf_sm_params, wf_sm_n_params, name);
	struct wf_err err = { "" };

	assert_non_null(row);
	assert_int_equal(wf_param_set(row, &cfg, text, &err), -EINVAL);
	if (strstr(err.text, says) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", err.text, says);
}

static void test_bad_lists(void **state)
{
	(void)state;
	bad("routing_engine", "minhop, nue", "no routing engine nue");
	bad("routing_engine", "ftree,ftree,ftree,ftree,ftree,ftree,ftree,ftree,ftree",
	    "more than 8");
	bad("root_guids", "0x1 oops", "oops is no GUID");
	bad("root_guids", "0x00000000000000001", "is no GUID");
	bad("m_key", "", "is no key");
	bad("m_key", "0x12g", "0x12g is no key");
	bad("qos_vlarb_low", "0:4,15:1", "15:1 is no lane and weight");
	bad("qos_vlarb_low", "0:256", "0:256 is no lane");
	bad("qos_vlarb_high", "0", "0 is no lane");
	bad("qos_sl2vl", "0,1,2", "not sixteen lanes");
	bad("qos_sl2vl", "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,16", "not sixteen lanes");
	bad("qos_sl2vl", "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,0", "not sixteen lanes");
	bad("part_enforce", "sometimes", "both");
}

/* What a program puts there itself is looked at as well. */
static void test_bad_create(void **state)
{
	struct wf_sm_cfg cfg = net_cfg();
	struct wf_err err = { "" };
	struct wf_sm *sm;

	(void)state;
	(void)snprintf(cfg.m_key, sizeof(cfg.m_key), "x");
	assert_int_equal(wf_sm_create(&cfg, NULL, NULL, wf_mem_heap(), &sm, &err), -EINVAL);
	assert_non_null(strstr(err.text, "x is no key"));
	cfg = net_cfg();
	err = (struct wf_err){ "" };
	cfg.partitions = "Default=0x7fff : ALL=ful\nred : nobody ;";
	cfg.partitions_name = "p.conf";
	assert_int_equal(wf_sm_create(&cfg, NULL, NULL, wf_mem_heap(), &sm, &err), -EINVAL);
	assert_non_null(strstr(err.text, "p.conf:2:1: "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_memory),  cmocka_unit_test(test_bent),
		cmocka_unit_test(test_noise),      cmocka_unit_test(test_node_info),
		cmocka_unit_test(test_parameters), cmocka_unit_test(test_bad_lists),
		cmocka_unit_test(test_bad_create),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
