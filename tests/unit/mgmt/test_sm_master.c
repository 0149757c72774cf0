/* SPDX-License-Identifier: Apache-2.0 */
/* test_sm_master.c - several subnet managers: who is master, and how that changes. */
#include "smnet.h"

static struct wf_sm_cfg with_priority(unsigned priority)
{
	struct wf_sm_cfg cfg = net_cfg();

	cfg.priority = priority;
	return cfg;
}

static void check_master(const struct net *net, const struct net_manager *m)
{
	for (unsigned i = 0; i < net->n_sms; i++) {
		if (net->sms[i].sm == NULL || net->nodes[net->sms[i].node].dead)
			continue;
		assert_int_equal(wf_sm_state(net->sms[i].sm),
		                 &net->sms[i] == m ? WF_SM_MASTER : WF_SM_STANDBY);
	}
	for (uint32_t i = 0; i < net->topo->n_nodes; i++) {
		if (!net->nodes[i].dead && net->topo->nodes[i].kind == WF_SUBNET_ADAPTER)
			assert_int_equal(wf_sma_port(net->nodes[i].sma, 1)->master_sm_lid,
			                 wf_sm_lid(m->sm));
	}
	assert_int_equal(net_unreached(net, 1), 0);
}

/* Both discover at the same time: the higher priority wins, with equal ones the lower GUID. */
static void test_together(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct net *net = net_new_of(net_fat_tree(2, 3, 2));
		struct wf_sm_cfg one = with_priority(i == 0 ? 3 : 5);
		struct wf_sm_cfg two = with_priority(i == 1 ? 3 : 5);
		struct net_manager *a = net_manage(net, 4, &one);
		struct net_manager *b = net_manage(net, 1, &two);
		struct net_manager *master = i == 1 ? a : b; /* host 1 has the lower GUID */

		assert_true(net_run_up(net, master, 2 * WF_S));
		net_run(net, net->now + 25 * WF_S);
		check_master(net, master);
		assert_int_equal((master == a ? b : a)->ups, 0);
		net_free(net);
	}
}

/*
 * The master dies. Its last answer came at a look; the standby looks every 10 s, and gives up at
 * the look after 5 in vain: 4 retries and the first.
 */
static void test_takeover(void **state)
{
	struct net *net = net_new_of(net_fat_tree(2, 3, 2));
	struct wf_sm_cfg one = with_priority(5), two = with_priority(2);
	struct net_manager *a = net_manage(net, 0, &one);
	struct net_manager *b = net_manage(net, 4, &two);
	wf_time died;
	uint16_t lids[16] = { 0 };

	(void)state;
	assert_true(net_run_up(net, a, 2 * WF_S));
	net_run(net, 33 * WF_S);
	check_master(net, a);
	for (uint32_t i = 0; i < net->topo->n_nodes; i++)
		lids[i] = net_lid(net, i);
	died = net->now;
	net_kill(net, 0, true);
	assert_true(net_run_up(net, b, 100 * WF_S));
	check_master(net, b);
	/* Looks were at 0, 10, 20, 30 s and a bit; in vain at 40 to 80, and at 90 s it is over. */
	assert_true(b->state_at > died + 56 * WF_S && b->state_at < died + 59 * WF_S);
	for (uint32_t i = 1; i < net->topo->n_nodes; i++)
		assert_int_equal(net_lid(net, i), lids[i]);

	/* The first comes back, without memory: it is higher, so it gets the subnet again. */
	wf_sm_destroy(a->sm);
	a->sm = NULL;
	net_kill(net, 0, false);
	net_run(net, net->now + 15 * WF_S);
	a = net_manage(net, 0, &one);
	assert_true(net_run_up(net, a, 15 * WF_S));
	check_master(net, a);
	net_free(net);
}

/* A higher manager comes to a subnet that is up: standby first, then it is handed over to it. */
static void test_handover(void **state)
{
	struct net *net = net_new_of(net_fat_tree(2, 3, 2));
	struct wf_sm_cfg one = with_priority(1), two = with_priority(7);
	struct net_manager *a, *b;
	wf_time came;

	(void)state;
	/* Its node has said long ago that there is a manager: that is no news now. */
	wf_sma_set_capability(net->nodes[4].sma, 1, WF_CAP_SM, 0, 0);
	a = net_manage(net, 0, &one);
	assert_true(net_run_up(net, a, 2 * WF_S));
	net_run(net, 12 * WF_S);
	came = net->now;
	b = net_manage(net, 4, &two);
	assert_true(net_run_up(net, b, 5 * WF_S));
	check_master(net, b);
	/* By trap 144, and not with the next sweep. */
	assert_true(b->up_at < came + 2 * WF_S);
	assert_int_equal(b->n_states, 2);
	assert_int_equal(b->states[0], WF_SM_STANDBY);
	assert_int_equal(b->states[1], WF_SM_MASTER);
	assert_int_equal(a->states[a->n_states - 1], WF_SM_STANDBY);
	/* Nobody's LID changes, and it stays so. */
	net_run(net, net->now + 60 * WF_S);
	check_master(net, b);
	assert_int_equal(a->n_states, 2);
	net_free(net);
}

/* Nothing is said by trap: the master finds the other one when something makes it sweep. */
static void test_lower_comes(void **state)
{
	struct net *net = net_new_of(net_fat_tree(2, 3, 2));
	struct wf_sm_cfg one = with_priority(7), two = with_priority(1);
	struct net_manager *a = net_manage(net, 0, &one), *b;

	(void)state;
	assert_true(net_run_up(net, a, 2 * WF_S));
	b = net_manage(net, 4, &two);
	net_run(net, net->now + 30 * WF_S);
	check_master(net, a);
	assert_int_equal(b->n_states, 1);
	assert_int_equal(b->states[0], WF_SM_STANDBY);
	assert_int_equal(a->n_states, 1);
	net_free(net);
}

/* Two subnets that are up, with the same LIDs, become one. */
static void test_merge(void **state)
{
	struct net *net = net_new_of(net_ring(6, 1));
	struct wf_sm_cfg one = with_priority(4), two = with_priority(6);
	struct net_manager *a, *b;

	(void)state;
	/* Links 2-3 and 5-0 are cut: switches 6 to 8 with hosts 0 to 2, and 9 to 11 with 3 to 5. */
	net_cut(net, 8, 2, true);
	net_cut(net, 11, 2, true);
	a = net_manage(net, 0, &one);
	b = net_manage(net, 3, &two);
	assert_true(net_run_up(net, a, WF_S));
	net_run(net, 5 * WF_S);
	assert_int_equal(b->ups, 1);
	assert_int_equal(net_lid(net, 0), net_lid(net, 3));
	assert_int_equal(net_lid(net, 0), 1);

	net_cut(net, 8, 2, false);
	net_cut(net, 11, 2, false);
	assert_true(net_run_up(net, b, 60 * WF_S));
	net_run(net, net->now + 30 * WF_S);
	check_master(net, b);
	for (uint32_t i = 0; i < net->topo->n_nodes; i++) {
		assert_true(net_lid(net, i) != 0);
		for (uint32_t j = 0; j < i; j++)
			assert_int_not_equal(net_lid(net, i), net_lid(net, j));
	}
	assert_int_equal(net_lid(net, 3), 1); /* its own */
	net_free(net);
}

/* Managers with different SM_Keys do not believe each other. */
static void test_sm_key(void **state)
{
	struct net *net = net_new_of(net_fat_tree(1, 3, 0));
	struct wf_sm_cfg one = with_priority(1), two = with_priority(7);
	struct net_manager *a = net_manage(net, 0, &one), *b;

	(void)state;
	assert_true(net_run_up(net, a, WF_S));
	(void)snprintf(two.sm_key, sizeof(two.sm_key), "0x99");
	b = net_manage(net, 2, &two);
	net_run(net, net->now + 5 * WF_S);
	/* Each thinks it is alone. */
	assert_int_equal(wf_sm_state(a->sm), WF_SM_MASTER);
	assert_int_equal(wf_sm_state(b->sm), WF_SM_MASTER);
	net_free(net);
}

/* ---- Get and Set of SMInfo ---- */

struct asked {
	uint16_t status;
	struct wf_sm_info info;
};

/* Asks the manager by directed route as one next to it on a switch would; false: no answer. */
static bool ask(struct net_manager *m, uint8_t method, uint32_t control,
                const struct wf_sm_info *by, uint64_t mkey, wf_time now, struct asked *a)
{
	struct wf_mad head = { .base_version = 1,
		               .mgmt_class = WF_MAD_CLASS_SUBN_DR,
		               .class_version = 1,
		               .method = method,
		               .class_specific = 0x0302, /* two hops, at the end */
		               .tid = 0x1234567800000001,
		               .attr_id = WF_SMP_SM_INFO,
		               .attr_mod = control };
	struct wf_sm_addr from = { .lid = WF_LID_PERMISSIVE }, to;
	uint8_t mad[WF_MAD_LEN] = { 0 };

	wf_mad_encode(&head, mad);
	wf_smp_encode(&(struct wf_smp){ .mkey = mkey, .dr_slid = 0xffff, .dr_dlid = 0xffff }, mad);
	mad[WF_SMP_RETURN_PATH + 1] = 7;
	mad[WF_SMP_RETURN_PATH + 2] = 1;
	wf_sm_info_encode(by, mad + WF_SMP_DATA);
	wf_sm_rx(m->sm, &from, mad, now);
	while (wf_sm_tx(m->sm, &to, mad)) {
		wf_mad_decode(mad, &head);
		if (head.method != WF_MAD_METHOD_GET_RESP)
			continue;
		assert_true(head.tid == 0x1234567800000001);
		assert_int_equal(to.lid, WF_LID_PERMISSIVE);
		assert_int_equal(head.status & WF_SMP_DIRECTION, WF_SMP_DIRECTION);
		assert_int_equal(head.class_specific, 0x0302);
		a->status = head.status & 0x7fff;
		wf_sm_info_decode(mad + WF_SMP_DATA, &a->info);
		return true;
	}
	return false;
}

static void test_sm_info(void **state)
{
	struct net *net = net_new_of(net_fat_tree(1, 2, 0));
	struct wf_sm_cfg cfg = with_priority(3);
	struct net_manager *m;
	struct wf_sm_info by = { .guid = 0x77, .sm_key = 1, .priority = 9 };
	const uint64_t key = 0x5555;
	struct asked a;

	(void)state;
	(void)snprintf(cfg.m_key, sizeof(cfg.m_key), "0x5555");
	cfg.m_key_protection_level = 2;
	m = net_manage(net, 0, &cfg);
	assert_true(net_run_up(net, m, WF_S));
	assert_true(ask(m, WF_MAD_METHOD_GET, 0, &by, key, net->now, &a));
	assert_int_equal(a.status, 0);
	assert_int_equal(a.info.sm_state, WF_SM_MASTER);
	assert_int_equal(a.info.priority, 3);
	assert_int_equal(a.info.guid, wf_sm_guid(m->sm));
	assert_int_equal(a.info.sm_key, 1);
	assert_true(a.info.act_count > 20);
	/* Without the M_Key nothing is said. */
	assert_false(ask(m, WF_MAD_METHOD_GET, 0, &by, 0x4444, net->now, &a));
	assert_false(ask(m, WF_MAD_METHOD_SET, WF_SM_HANDOVER, &by, 0, net->now, &a));

	/* Not from somebody who is no master, nor what a master may not be told. */
	by.sm_state = WF_SM_STANDBY;
	assert_true(ask(m, WF_MAD_METHOD_SET, WF_SM_HANDOVER, &by, key, net->now, &a));
	assert_int_equal(a.status, WF_MAD_INVALID_FIELD);
	by.sm_state = WF_SM_MASTER;
	for (uint32_t c = WF_SM_DISABLE; c <= WF_SM_DISCOVER + 1; c++) {
		assert_true(ask(m, WF_MAD_METHOD_SET, c, &by, key, net->now, &a));
		assert_int_equal(a.status, WF_MAD_INVALID_FIELD);
	}
	/* Nor with another SM_Key. */
	by.sm_key = 2;
	assert_true(ask(m, WF_MAD_METHOD_SET, WF_SM_HANDOVER, &by, key, net->now, &a));
	assert_int_equal(a.status, WF_MAD_INVALID_FIELD);
	assert_int_equal(wf_sm_state(m->sm), WF_SM_MASTER);
	net_free(net);
}

/* NOTACTIVE -> STANDBY -> NOTACTIVE -> STANDBY -> DISCOVERING -> MASTER, as it is told. */
static void test_told(void **state)
{
	struct net *net = net_new_of(net_fat_tree(1, 2, 0));
	struct wf_sm_cfg cfg = with_priority(3);
	struct wf_sm_info by = { .guid = 0x77, .sm_key = 1, .sm_state = WF_SM_MASTER };
	static const struct {
		uint32_t control;
		enum wf_sm_state state;
	} steps[] = {
		{ WF_SM_STANDBY_CONTROL, WF_SM_STANDBY },
		{ WF_SM_DISABLE, WF_SM_NOT_ACTIVE },
		{ WF_SM_STANDBY_CONTROL, WF_SM_STANDBY },
		{ WF_SM_DISCOVER, WF_SM_DISCOVERING },
	};
	struct net_manager *m;
	struct asked a;

	(void)state;
	cfg.inactive = true;
	m = net_manage(net, 0, &cfg);
	net_run(net, 100 * WF_S);
	assert_int_equal(m->sweeps, 0);
	assert_int_equal(wf_sm_state(m->sm), WF_SM_NOT_ACTIVE);
	for (unsigned i = 0; i < WF_ARRAY_SIZE(steps); i++) {
		assert_true(ask(m, WF_MAD_METHOD_SET, steps[i].control, &by, 0, net->now, &a));
		assert_int_equal(a.status, 0);
		assert_int_equal(wf_sm_state(m->sm), steps[i].state);
	}
	net_pump(net, m);
	net_run(net, net->now + 20 * WF_S);
	assert_int_equal(wf_sm_state(m->sm), WF_SM_MASTER);
	assert_true(m->ups > 0);
	net_free(net);
}

/* A standby that is handed the subnet is master at once, and says so. */
static void test_acknowledges(void **state)
{
	struct net *net = net_new_of(net_fat_tree(1, 2, 0));
	struct wf_sm_cfg cfg = with_priority(3);
	struct wf_sm_info by = { .guid = 0x77, .sm_key = 1, .sm_state = WF_SM_MASTER }, info;
	struct net_manager *m;
	struct wf_sm_addr to;
	uint8_t mad[WF_MAD_LEN];
	struct wf_mad head;
	struct asked a;

	(void)state;
	cfg.inactive = true;
	m = net_manage(net, 0, &cfg);
	assert_true(ask(m, WF_MAD_METHOD_SET, WF_SM_STANDBY_CONTROL, &by, 0, net->now, &a));
	assert_true(ask(m, WF_MAD_METHOD_SET, WF_SM_HANDOVER, &by, 0, net->now, &a));
	assert_int_equal(wf_sm_state(m->sm), WF_SM_MASTER);
	assert_true(wf_sm_tx(m->sm, &to, mad));
	wf_mad_decode(mad, &head);
	assert_int_equal(head.method, WF_MAD_METHOD_SET);
	assert_int_equal(head.attr_id, WF_SMP_SM_INFO);
	assert_int_equal(head.attr_mod, WF_SM_ACKNOWLEDGE);
	assert_int_equal(head.class_specific, 2);
	assert_int_equal(mad[WF_SMP_INITIAL_PATH + 1], 1); /* back along the way it came */
	assert_int_equal(mad[WF_SMP_INITIAL_PATH + 2], 7);
	wf_sm_info_decode(mad + WF_SMP_DATA, &info);
	assert_int_equal(info.sm_state, WF_SM_MASTER);
	net_run(net, net->now + 5 * WF_S);
	assert_int_equal(m->ups, 1);
	net_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_together),     cmocka_unit_test(test_takeover),
		cmocka_unit_test(test_handover),     cmocka_unit_test(test_lower_comes),
		cmocka_unit_test(test_merge),        cmocka_unit_test(test_sm_key),
		cmocka_unit_test(test_sm_info),      cmocka_unit_test(test_told),
		cmocka_unit_test(test_acknowledges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
