/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_managed.c - the modelled fabric of InfiniBand between programs, managed by weft's subnet
 * manager or by nobody: packets cross it when, and only when, it is up.
 */
#include "check.h"

#include <sys/socket.h>

#include "live/join.h"
#include "live/model_priv.h"
#include "live/sock.h"
#include "mgmt/sma.h"
#include "rig_model.h"
#include "wire/byte.h"

/* The state of a host's port, as its agent has it. */
static unsigned state_of(const struct rig_model *r, uint32_t host)
{
	const struct wf_dmodel *m = r->d.model;

	return wf_sma_port(wf_managed_sma(m->managed, m->topo->host_node[host]), 1)->port_state;
}

static void serve(struct rig_model *r)
{
	wf_model_serve(&r->d);
	(void)wf_model_rest(&r->d);
}

/* Serves until a host's port is in that state: it must come to that by itself. */
static void until_state(struct rig_model *r, uint32_t host, unsigned state)
{
	while (state_of(r, host) != state)
		serve(r);
}

/* Sends a packet from the first host to the second. Returns how many come, 0 or 1. */
static unsigned one_packet(struct rig_model *r)
{
	struct wf_packet pkt = rig_model_packet(1, 512), got;
	struct wf_live_model before, after;
	const void *payload;
	unsigned n = 0;

	pkt.pkey = WF_PKEY_DEFAULT;
	pkt.entropy = r->d.table->host[1].lid;
	wf_model_look(&r->d, &before);
	assert_true(rig_model_send(r, 0, &pkt, 512));
	do {
		serve(r);
		wf_model_look(&r->d, &after);
	} while (after.delivered + after.lost == before.delivered + before.lost);
	while (wf_ring_peek(&r->far[1].rx, &got, &payload)) {
		assert_int_equal(got.length, 512);
		wf_ring_consume(&r->far[1].rx);
		n++;
	}
	(void)wf_ring_release(&r->far[1].rx);
	assert_int_equal(n, after.delivered - before.delivered);
	return n;
}

/* The subnet is up at once; a port that was down is set up anew, by management packets. */
static void test_weft(void **state)
{
	static const enum wf_live_pace paces[] = { WF_LIVE_NONE, WF_LIVE_WALL };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(paces); i++) {
		struct rig_model *r = rig_model_create_managed(paces[i], WF_MANAGE_WEFT);
		uint32_t link = wf_model_host_link(&r->d, 1);
		struct wf_managed_result result;

		assert_int_equal(state_of(r, 0), WF_PORT_ACTIVE);
		assert_int_equal(one_packet(r), 1);
		assert_int_equal(wf_model_fault(&r->d, link, WF_LIVE_FAULT_DOWN, 1), 0);
		assert_int_equal(state_of(r, 1), WF_PORT_DOWN);
		assert_int_equal(one_packet(r), 0);
		assert_int_equal(wf_model_fault(&r->d, link, WF_LIVE_FAULT_DOWN, 0), 0);
		assert_int_equal(state_of(r, 1), WF_PORT_INIT);
		until_state(r, 1, WF_PORT_ACTIVE);
		wf_managed_result(r->d.model->managed, &result);
		assert_int_equal(result.master, 0);
		assert_true(result.smps > 0);
		assert_int_equal(one_packet(r), 1);
		rig_model_destroy(r);
	}
}

/* Nobody manages it: no port becomes active, and nothing passes. */
static void test_none(void **state)
{
	struct rig_model *r = rig_model_create_managed(WF_LIVE_NONE, WF_MANAGE_NONE);
	struct wf_managed_result result;

	(void)state;
	for (int i = 0; i < 10; i++)
		serve(r);
	assert_int_equal(state_of(r, 0), WF_PORT_INIT);
	wf_managed_result(r->d.model->managed, &result);
	assert_int_equal(result.master, WF_TOPO_NONE);
	rig_model_destroy(r);
}

/* Where nothing is under way, a managed fabric's time is the clock's, with any pace. */
static void test_time_goes_on(void **state)
{
	wf_time begin = wf_model_clock();
	struct rig_model *r = rig_model_create_managed(WF_LIVE_NONE, WF_MANAGE_WEFT);
	struct wf_live_model before, after;

	(void)state;
	wf_model_look(&r->d, &before);
	do {
		serve(r);
		wf_model_look(&r->d, &after);
	} while (after.time_ps < before.time_ps + 2 * (uint64_t)WF_MS);
	assert_true(after.time_ps <= (uint64_t)(wf_model_clock() - begin));
	rig_model_destroy(r);
}

/* Serves until all that has been sent has come, or is lost. */
static void settle(struct rig_model *r)
{
	struct wf_live_model now;

	do {
		serve(r);
		wf_model_look(&r->d, &now);
	} while (now.under_way != 0 || wf_ring_ready(&r->client[0].model.rx));
}

/* Takes what has come for a program. Returns how many there were; the last is in *pkt. */
static unsigned take(struct rig_model *r, uint32_t host, struct wf_packet *pkt)
{
	const void *payload;
	unsigned n = 0;

	for (; wf_ring_peek(&r->far[host].rx, pkt, &payload); n++) {
		assert_int_equal(((const uint8_t *)payload)[pkt->length - 1], 0x5a);
		wf_ring_consume(&r->far[host].rx);
	}
	(void)wf_ring_release(&r->far[host].rx);
	return n;
}

static struct wf_packet datagram(uint16_t mlid)
{
	return (struct wf_packet){
		.opcode = WF_OP_UD_SEND_ONLY,
		.dst = WF_LIVE_GROUP | 3,
		.qpn = WF_QPN_MULTICAST,
		.length = 64,
		.pkey = WF_PKEY_DEFAULT,
		.entropy = mlid,
		.u.deth = { .qkey = 1, .src_qpn = RIG_SLOT << WF_LIVE_QPN_BITS | 5 },
	};
}

/*
 * Datagrams for a group go by its LID: to the hosts that the tables have, and there to the programs
 * that are in the group.
 */
static void test_group(void **state)
{
	struct rig_model *r = rig_model_create_managed(WF_LIVE_NONE, WF_MANAGE_WEFT);
	struct wf_managed *m = r->d.model->managed;
	struct wf_dport ports[2] = { { &ports[1], &r->client[1], true, false },
		                     { NULL, &r->client[2], true, false } };
	struct wf_dgroup group = { .number = WF_LIVE_GROUP | 3, .ports = ports };
	static const uint32_t hosts[] = { 1, 2 };
	struct wf_packet pkt = datagram(0xc005), got;
	struct wf_live_model look;

	(void)state;
	r->d.groups = &group;
	/* No tree yet: it gets no further than the switch. */
	assert_true(rig_model_send(r, 0, &pkt, 64));
	settle(r);
	assert_int_equal(take(r, 1, &got) + take(r, 2, &got), 0);
	wf_model_look(&r->d, &look);
	assert_int_equal(look.lost, 1);

	assert_int_equal(wf_managed_set_group(m, 0xc005, hosts, 2, wf_sim_now(r->d.model->sim)), 0);
	for (int i = 0; i < 100; i++)
		serve(r);
	for (int i = 0; i < 10; i++)
		assert_true(rig_model_send(r, 0, &pkt, 64));
	settle(r);
	for (uint32_t host = 1; host < 3; host++) {
		assert_int_equal(take(r, host, &got), 10);
		assert_int_equal(got.dst, WF_LIVE_GROUP | 3);
		assert_int_equal(got.src, wf_live_program(0, RIG_SLOT));
		assert_int_equal(got.entropy, 0xc005);
	}
	assert_int_equal(take(r, 0, &got), 0);
	/* The host is in the group, and its program is not. */
	ports[0].member = false;
	assert_true(rig_model_send(r, 0, &pkt, 64));
	settle(r);
	assert_int_equal(take(r, 1, &got), 0);
	assert_int_equal(take(r, 2, &got), 1);
	/* What is for a group has a multicast LID, and nothing else has. */
	wf_model_look(&r->d, &look);
	assert_int_equal(look.refused, 0);
	pkt.entropy = r->d.table->host[1].lid;
	assert_true(rig_model_send(r, 0, &pkt, 64));
	pkt.entropy = WF_LID_PERMISSIVE;
	assert_true(rig_model_send(r, 0, &pkt, 64));
	pkt = rig_model_packet(1, 64);
	assert_true(rig_model_send(r, 0, &pkt, 64));
	settle(r);
	wf_model_look(&r->d, &look);
	assert_int_equal(look.refused, 3);
	assert_int_equal(take(r, 1, &got) + take(r, 2, &got), 0);
	rig_model_destroy(r);
}

/* A program that does not read for a while: its copies wait, others' do not. */
static void test_group_full(void **state)
{
	struct rig_model *r = rig_model_create_managed(WF_LIVE_NONE, WF_MANAGE_WEFT);
	struct wf_dport ports[2] = { { &ports[1], &r->client[1], true, false },
		                     { NULL, &r->client[2], true, false } };
	struct wf_dgroup group = { .number = WF_LIVE_GROUP | 3, .ports = ports };
	static const uint32_t hosts[] = { 1, 2 };
	struct wf_packet pkt = datagram(0xc005), got;
	unsigned sent = 0, one = 0, two = 0;

	(void)state;
	r->d.groups = &group;
	assert_int_equal(wf_managed_set_group(r->d.model->managed, 0xc005, hosts, 2,
	                                      wf_sim_now(r->d.model->sim)),
	                 0);
	for (int i = 0; i < 100; i++)
		serve(r);
	pkt.length = 4096;
	while (r->d.model->backlogs == 0) {
		if (rig_model_send(r, 0, &pkt, 4096))
			sent++;
		serve(r);
		two += take(r, 2, &got);
	}
	do {
		one += take(r, 1, &got);
		serve(r);
		two += take(r, 2, &got);
	} while (one < sent || two < sent);
	settle(r);
	assert_int_equal(one + take(r, 1, &got), sent);
	assert_int_equal(two + take(r, 2, &got), sent);
	assert_int_equal(r->client[0].under_way, 0);
	rig_model_destroy(r);
}

/* What a program has heard of a join: waits for it. */
static struct wf_live_joined joined(struct rig_model *r, int events)
{
	struct wf_live_event event;
	int fds[WF_LIVE_MAX_FDS], ret;
	unsigned n;

	do {
		serve(r);
		ret = wf_sock_recv(events, &event, sizeof(event), fds, &n, false);
	} while (ret == -EAGAIN);
	assert_int_equal(ret, WF_LIVE_EVENT_SHORT);
	assert_int_equal(event.type, WF_LIVE_EV_JOINED);
	return event.joined;
}

/* Serves until the switch sends what is for a group to so many ports. */
static void until_members(struct rig_model *r, uint16_t mlid, int n)
{
	const struct wf_dmodel *m = r->d.model;
	uint64_t ports[4];
	uint32_t sw = 0;
	int has;

	while (m->topo->nodes[sw].kind != WF_TOPO_SWITCH)
		sw++;
	do {
		serve(r);
		wf_sma_mft_ports(wf_managed_sma(m->managed, sw), mlid, ports);
		has = 0;
		for (int i = 0; i < 4; i++)
			has += __builtin_popcountll(ports[i]);
	} while (has != n);
}

/* Programs join by subnet administration: a host once, until the last has left or is gone. */
static void test_join(void **state)
{
	struct rig_model *r = rig_model_create_managed(WF_LIVE_NONE, WF_MANAGE_WEFT);
	struct wf_live_req req = { .op = WF_LIVE_JOIN };
	const struct wf_dmodel *m = r->d.model;
	struct wf_live_joined got;
	int pair[2][2];

	(void)state;
	memcpy(req.join.gid, "\xff\x12\x40\x01\xff\xff\0\0\0\0\0\0\x0f\1\2\3", 16);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair[i]), 0);
		r->client[i + 1].events = pair[i][0];
		wf_be64_put(
			r->d.table->host[i + 1].link_local + 8,
			wf_sma_guid(wf_managed_sma(m->managed, m->topo->host_node[i + 1]), 1, 0));
		req.join.cookie = 7 + (uint32_t)i;
		assert_int_equal(wf_join_begin(&r->d, &r->client[i + 1], &req), 0);
		got = joined(r, pair[i][1]);
		assert_int_equal(got.status, 0);
		assert_int_equal(got.cookie, 7 + i);
		assert_int_equal(got.qkey, 0x01234567);
		assert_in_range(got.mlid, 0xc001, 0xfffe);
	}
	until_members(r, got.mlid, 2);
	/* Once more, on the same host: nobody is asked again, and it stays until both have left. */
	req.join.cookie = 9;
	assert_int_equal(wf_join_begin(&r->d, &r->client[1], &req), 0);
	assert_int_equal(joined(r, pair[0][1]).cookie, 9);
	assert_int_equal(wf_join_end(&r->d, &r->client[1], 7), 0);
	assert_int_equal(wf_join_end(&r->d, &r->client[1], 7), -ENOENT);
	assert_int_equal(wf_join_end(&r->d, &r->client[2], 9), -ENOENT);
	for (int i = 0; i < 1000; i++)
		serve(r);
	until_members(r, got.mlid, 2);
	wf_join_forget(&r->d, &r->client[2]);
	wf_join_forget(&r->d, &r->client[1]);
	until_members(r, got.mlid, 0);
	/* What no group can be is refused. */
	req.join.gid[0] = 0xfe;
	assert_int_equal(wf_join_begin(&r->d, &r->client[1], &req), -EINVAL);
	memcpy(req.join.gid, "\xff\x12\xa0\x1b", 4);
	assert_int_equal(wf_join_begin(&r->d, &r->client[1], &req), 0);
	assert_int_equal(joined(r, pair[0][1]).status, -EINVAL);
	/* One that is asked for and not answered when the daemon ends. */
	memcpy(req.join.gid, "\xff\x12\x40\x01", 4);
	assert_int_equal(wf_join_begin(&r->d, &r->client[1], &req), 0);
	wf_join_close(&r->d);
	for (int i = 0; i < 2; i++) {
		close(pair[i][0]);
		close(pair[i][1]);
	}
	rig_model_destroy(r);
}

/* Nobody manages the fabric: there is no administration to ask. */
static void test_join_none(void **state)
{
	struct rig_model *r = rig_model_create_managed(WF_LIVE_NONE, WF_MANAGE_NONE);
	struct wf_live_req req = { .op = WF_LIVE_JOIN, .join = { .gid = { 0xff, 0x12 } } };
	int pair[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	r->client[1].events = pair[0];
	assert_int_equal(wf_join_begin(&r->d, &r->client[1], &req), 0);
	assert_int_equal(joined(r, pair[1]).status, -EAGAIN);
	wf_join_close(&r->d);
	close(pair[0]);
	close(pair[1]);
	rig_model_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_weft),         cmocka_unit_test(test_none),
		cmocka_unit_test(test_time_goes_on), cmocka_unit_test(test_group),
		cmocka_unit_test(test_group_full),   cmocka_unit_test(test_join),
		cmocka_unit_test(test_join_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
