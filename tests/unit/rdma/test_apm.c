/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of automatic path migration (apm.c): each transition of its states, asked for by the
 * driver, by the peer and by retries, and what is dropped.
 *
 * Two hosts with two ports each: port 1 of hosts 0 and 1 has address 0 and 1, port 2 has 2 and 3.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rdma/rig_pair.h"

#define HOSTS 2
#define RETRIES 3
#define TIMEOUT 5     /* 4.096 us * 2^5 */
#define ALT_TIMEOUT 7 /* 4.096 us * 2^7 */
#define WAIT (4096 * WF_NS << TIMEOUT)
#define ALT_WAIT (4096 * WF_NS << ALT_TIMEOUT)

/* What the filter does: the ports whose packets are lost, and the bits M that were seen. */
struct seen {
	uint32_t cut;          /* bit per port */
	uint32_t m[HOSTS][2];  /* by sender and bit: packets */
	uint32_t by[HOSTS][2]; /* by sender and port */
	struct wf_packet last[HOSTS];
	wf_time at[HOSTS];
};

static bool look(struct rig *rig, struct wf_packet *pkt)
{
	struct seen *s = rig->ctx;
	uint32_t host = pkt->src % HOSTS, port = pkt->src / HOSTS;

	s->m[host][(pkt->flags & WF_PACKET_MIGRATED) != 0]++;
	s->by[host][port]++;
	s->last[host] = *pkt;
	s->at[host] = rig->now;
	return (s->cut >> port & 1) == 0;
}

static void hca_attr(struct wf_hca_attr *attr)
{
	wf_hca_attr_defaults(attr);
	attr->max_qp = 64;
	attr->max_mr = 256;
	attr->ports = 2;
	attr->lag = WF_LAG_OWN;
	attr->port_step = HOSTS;
}

/* Connected by ports 1, with PSNs from psn on; nobody has an alternate path. */
static void make(struct pair *p, struct seen *seen, uint32_t psn)
{
	struct wf_hca_attr hca;
	struct wf_qp_attr attr;

	hca_attr(&hca);
	rig_attr_defaults(&attr);
	attr.timeout = TIMEOUT;
	attr.retry_cnt = RETRIES;
	memset(p, 0, sizeof(*p));
	memset(seen, 0, sizeof(*seen));
	pair_init_with(p, &hca, NULL, &attr, psn);
	p->rig.filter = look;
	p->rig.ctx = seen;
}

/* What the alternate path of a host is: the other port, to the other port. */
static struct wf_qp_attr alternate(uint32_t host, uint32_t port)
{
	return (struct wf_qp_attr){
		.alt_ah_attr = { .dest = 1 - host + (port - 1) * HOSTS, .port_num = (uint8_t)port },
		.alt_port_num = (uint8_t)port,
		.alt_timeout = ALT_TIMEOUT,
		.path_mig_state = WF_MIG_REARM,
	};
}

static int rearm(struct pair *p, uint32_t host, uint32_t port)
{
	struct wf_qp_attr attr = alternate(host, port);

	return wf_qp_modify(p->qp[host], &attr, WF_QP_ALT_PATH | WF_QP_PATH_MIG_STATE);
}

static int ask(struct pair *p, uint32_t host, enum wf_mig_state state)
{
	struct wf_qp_attr attr = { .path_mig_state = state };

	return wf_qp_modify(p->qp[host], &attr, WF_QP_PATH_MIG_STATE);
}

static struct wf_qp_attr query(const struct pair *p, uint32_t host)
{
	struct wf_qp_attr attr;

	wf_qp_query(p->qp[host], &attr, NULL);
	return attr;
}

static enum wf_mig_state state_of(const struct pair *p, uint32_t host)
{
	return query(p, host).path_mig_state;
}

static uint64_t count(const struct pair *p, uint32_t host, enum wf_counter counter)
{
	return wf_hca_counter(p->rig.host[host].hca, counter);
}

/* The host has this event of its queue pair, and no other. */
static void expect_event(struct pair *p, uint32_t host, enum wf_event_type type)
{
	struct wf_event event;

	assert_true(wf_hca_next_event(p->rig.host[host].hca, &event));
	assert_int_equal(event.type, type);
	assert_ptr_equal(event.qp, p->qp[host]);
	assert_false(wf_hca_next_event(p->rig.host[host].hca, &event));
}

static void expect_no_event(struct pair *p)
{
	struct wf_event event;

	assert_false(wf_hca_next_event(p->rig.host[0].hca, &event));
	assert_false(wf_hca_next_event(p->rig.host[1].hca, &event));
}

/* Both are armed: a WRITE and its acknowledgement have told them. */
static void arm(struct pair *p)
{
	assert_int_equal(rearm(p, 0, 2), 0);
	assert_int_equal(rearm(p, 1, 2), 0);
	pair_check_alive(p);
	assert_int_equal(state_of(p, 0), WF_MIG_ARMED);
	assert_int_equal(state_of(p, 1), WF_MIG_ARMED);
	expect_no_event(p);
}

static void check_moved(struct pair *p, uint32_t host)
{
	struct wf_qp_attr attr = query(p, host);

	assert_int_equal(attr.path_mig_state, WF_MIG_MIGRATED);
	assert_int_equal(attr.port_num, 2);
	assert_int_equal(attr.ah_attr.dest, 1 - host + HOSTS);
	assert_int_equal(attr.timeout, ALT_TIMEOUT);
	assert_int_equal(count(p, host, WF_CTR_PATH_MIGRATIONS), 1);
}

/* Without alternate path M is 1 in all packets, both ways, and all leave by the first port. */
static void test_migrated(void **state)
{
	struct seen seen;
	struct pair p;

	(void)state;
	make(&p, &seen, 0);
	assert_int_equal(state_of(&p, 0), WF_MIG_MIGRATED);
	pair_check_alive(&p);
	for (uint32_t host = 0; host < HOSTS; host++) {
		assert_int_equal(seen.m[host][0], 0);
		assert_true(seen.m[host][1] > 0);
		assert_int_equal(seen.by[host][1], 0);
	}
	pair_fini(&p);
}

/* One end alone is ready: it says so with M = 0, and stays as it is; so does the other. */
static void test_one_ready(void **state)
{
	struct seen seen;
	struct pair p;

	(void)state;
	make(&p, &seen, 0);
	assert_int_equal(rearm(&p, 0, 2), 0);
	pair_check_alive(&p);
	assert_int_equal(state_of(&p, 0), WF_MIG_REARM);
	assert_int_equal(state_of(&p, 1), WF_MIG_MIGRATED);
	assert_int_equal(seen.m[0][1], 0);
	assert_int_equal(seen.m[1][0], 0);
	/* A queue pair that is not armed does not escape. */
	seen.cut = 1;
	pair_post_write(&p, 1, 100);
	rig_run(&p.rig);
	assert_int_equal(wf_qp_state(p.qp[0]), WF_QPS_ERR);
	assert_int_equal(count(&p, 0, WF_CTR_PATH_MIGRATIONS), 0);
	pair_fini(&p);
}

/* Both ready: the responder is armed by the first request, the requester by its answer. */
static void test_armed(void **state)
{
	struct seen seen;
	struct pair p;

	(void)state;
	make(&p, &seen, 0);
	assert_int_equal(rearm(&p, 0, 2), 0);
	assert_int_equal(rearm(&p, 1, 2), 0);
	pair_post_write(&p, 1, 10);
	while (state_of(&p, 1) != WF_MIG_ARMED)
		assert_true(rig_step(&p.rig, WF_TIME_NEVER - 1));
	assert_int_equal(state_of(&p, 0), WF_MIG_REARM);
	rig_run(&p.rig);
	expect_wc(&p, 0, 1, WF_WC_RDMA_WRITE, 0);
	assert_int_equal(state_of(&p, 0), WF_MIG_ARMED);
	for (uint32_t host = 0; host < HOSTS; host++)
		assert_int_equal(seen.m[host][1], 0);
	expect_no_event(&p);
	pair_fini(&p);
}

/* What the driver may ask for, from each state. */
static void test_modify(void **state)
{
	struct wf_qp_attr attr = { .path_mig_state = WF_MIG_REARM, .qp_state = WF_QPS_SQD };
	struct wf_qp_attr wrong;
	struct seen seen;
	struct pair p;

	(void)state;
	make(&p, &seen, 0);
	/* MIGRATED, and no alternate path was ever loaded. */
	assert_int_equal(ask(&p, 0, WF_MIG_REARM), -EINVAL);
	assert_int_equal(ask(&p, 0, WF_MIG_ARMED), -EINVAL);
	assert_int_equal(ask(&p, 0, WF_MIG_MIGRATED), 0);
	wrong = alternate(0, 3);
	assert_int_equal(wf_qp_modify(p.qp[0], &wrong, WF_QP_ALT_PATH), -EINVAL);
	wrong = alternate(0, 0);
	assert_int_equal(wf_qp_modify(p.qp[0], &wrong, WF_QP_ALT_PATH), -EINVAL);
	wrong = alternate(0, 2);
	wrong.alt_timeout = 32;
	assert_int_equal(wf_qp_modify(p.qp[0], &wrong, WF_QP_ALT_PATH), -EINVAL);
	wrong = alternate(0, 2);
	wrong.alt_pkey_index = 64;
	assert_int_equal(wf_qp_modify(p.qp[0], &wrong, WF_QP_ALT_PATH), -EINVAL);
	/* REARM: it stays so until the peer says something. */
	assert_int_equal(rearm(&p, 0, 2), 0);
	assert_int_equal(ask(&p, 0, WF_MIG_MIGRATED), -EINVAL);
	assert_int_equal(ask(&p, 0, WF_MIG_ARMED), -EINVAL);
	assert_int_equal(ask(&p, 0, WF_MIG_REARM), 0);
	/* ARMED: another alternate path, but not REARM again. */
	arm(&p);
	assert_int_equal(ask(&p, 0, WF_MIG_REARM), -EINVAL);
	assert_int_equal(ask(&p, 0, WF_MIG_ARMED), -EINVAL);
	/* In SQD only MIGRATED. */
	assert_int_equal(wf_qp_modify(p.qp[0], &attr, WF_QP_STATE), 0);
	assert_int_equal(wf_qp_modify(p.qp[0], &attr, WF_QP_PATH_MIG_STATE), -EINVAL);
	assert_int_equal(ask(&p, 0, WF_MIG_MIGRATED), 0);
	check_moved(&p, 0);
	assert_int_equal(wf_qp_modify(p.qp[0], &attr, WF_QP_PATH_MIG_STATE), -EINVAL);
	attr.qp_state = WF_QPS_RTS;
	assert_int_equal(wf_qp_modify(p.qp[0], &attr, WF_QP_STATE | WF_QP_PATH_MIG_STATE), 0);
	/* RESET forgets it. */
	rig_reset_qp(p.qp[0]);
	assert_int_equal(state_of(&p, 0), WF_MIG_MIGRATED);
	assert_int_equal(query(&p, 0).alt_port_num, 0);
	pair_fini(&p);
}

/* The driver of one end migrates; the other follows with the next packet, and only it is told. */
static void test_software(void **state)
{
	struct seen seen;
	struct pair p;

	(void)state;
	for (uint32_t first = 0; first < HOSTS; first++) {
		make(&p, &seen, 0);
		arm(&p);
		assert_int_equal(ask(&p, first, WF_MIG_MIGRATED), 0);
		check_moved(&p, first);
		memset(&seen, 0, sizeof(seen));
		/* Moved, the responder answers to what comes by the old path no more. */
		if (first == 1) {
			struct wf_sge sge = rig_sge(p.mem[1], 10, p.mr[1]);
			struct wf_send_wr wr = {
				.wr_id = 5,
				.opcode = WF_WR_RDMA_WRITE,
				.flags = WF_SEND_SIGNALED,
				.rdma = { .addr = (uintptr_t)p.mem[0],
				          .rkey = wf_mr_rkey(p.mr[0]) },
			};

			assert_int_equal(rig_post(p.qp[1], &wr, &sge), 0);
			rig_run(&p.rig);
			expect_wc(&p, 1, 5, WF_WC_RDMA_WRITE, 0);
		}
		pair_check_alive(&p);
		check_moved(&p, 1 - first);
		expect_event(&p, 1 - first, WF_EVENT_PATH_MIG);
		expect_no_event(&p);
		assert_int_equal(count(&p, 0, WF_CTR_LOCAL_ACK_TIMEOUT_ERR), 0);
		for (uint32_t host = 0; host < HOSTS; host++) {
			assert_int_equal(seen.by[host][0], 0);
			assert_int_equal(seen.m[host][0], 0);
		}
		pair_fini(&p);
	}
}

/*
 * The primary path dies: after the first wait and RETRIES more the requester goes over, and its
 * packet by the other path makes the responder follow. PSNs go on where they were, around their end
 * as well.
 */
static void test_retries(void **state)
{
	static const uint32_t psn[] = { 100, 0xfffffe, 0xfffffb };
	struct seen seen;
	struct pair p;

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(psn); i++) {
		wf_time began;

		make(&p, &seen, psn[i]);
		arm(&p);
		seen.cut = 1;
		memset(seen.by, 0, sizeof(seen.by));
		memset(p.mem[1] + PAIR_BYTES / 2, 0, 5000);
		pair_post_write(&p, 1, 5000);
		began = p.rig.now;
		while (seen.by[0][1] == 0)
			assert_true(rig_step(&p.rig, WF_TIME_NEVER - 1));
		/* The timer starts with the first packet, and with each time it is due. */
		assert_int_equal(p.rig.now - began, (RETRIES + 1) * WAIT);
		assert_int_equal(seen.by[0][0], (RETRIES + 1) * 5);
		check_moved(&p, 0);
		expect_event(&p, 0, WF_EVENT_PATH_MIG);
		rig_run(&p.rig);
		expect_wc(&p, 0, 1, WF_WC_RDMA_WRITE, 0);
		assert_memory_equal(p.mem[0], p.mem[1] + PAIR_BYTES / 2, 5000);
		check_moved(&p, 1);
		expect_event(&p, 1, WF_EVENT_PATH_MIG);
		assert_int_equal(seen.by[1][0], 0);
		pair_check_alive(&p);
		pair_fini(&p);
	}
}

/* When the alternate path is dead as well, there are as many retries on it, with its timeout. */
static void test_both_dead(void **state)
{
	struct seen seen;
	struct pair p;
	struct wf_wc wc;
	wf_time began;

	(void)state;
	make(&p, &seen, 0);
	arm(&p);
	seen.cut = 3;
	memset(seen.by, 0, sizeof(seen.by));
	pair_post_write(&p, 1, 10);
	began = p.rig.now;
	rig_run(&p.rig);
	assert_true(rig_poll(&p.rig, 0, &wc));
	assert_int_equal(wc.status, WF_WC_RETRY_EXC_ERR);
	assert_int_equal(wc.time - began, (RETRIES + 1) * (WAIT + ALT_WAIT));
	assert_int_equal(seen.by[0][0], RETRIES + 1);
	assert_int_equal(seen.by[0][1], RETRIES + 1);
	assert_int_equal(count(&p, 0, WF_CTR_PATH_MIGRATIONS), 1);
	pair_fini(&p);
}

/* Both send, and the path dies under both: each may go first, and all arrives once. */
static void test_both_send(void **state)
{
	struct seen seen;
	struct pair p;

	(void)state;
	make(&p, &seen, 0xfffff8);
	arm(&p);
	for (uint64_t i = 0; i < 20; i++) {
		for (uint32_t host = 0; host < HOSTS; host++) {
			struct wf_sge sge = rig_sge(p.mem[host] + 100 * i, 100, p.mr[host]);
			struct wf_send_wr wr = { .wr_id = i,
				                 .opcode = WF_WR_ATOMIC_FETCH_AND_ADD,
				                 .flags = WF_SEND_SIGNALED };

			sge.length = 8;
			wr.atomic.addr = ((uintptr_t)p.mem[1 - host] + 10007) & ~(uintptr_t)7;
			wr.atomic.rkey = wf_mr_rkey(p.mr[1 - host]);
			wr.atomic.compare_add = 1;
			assert_int_equal(rig_post(p.qp[host], &wr, &sge), 0);
		}
		if (i == 5)
			for (uint32_t k = 0; k < 12; k++)
				(void)rig_step(&p.rig, WF_TIME_NEVER - 1);
	}
	seen.cut = 1;
	rig_run(&p.rig);
	for (uint32_t host = 0; host < HOSTS; host++) {
		uint64_t first, last;

		for (uint64_t i = 0; i < 20; i++)
			expect_wc(&p, host, i, WF_WC_FETCH_ADD, 8);
		memcpy(&first, p.mem[host], 8);
		memcpy(&last, p.mem[host] + 1900, 8);
		assert_int_equal(last - first, 19);
		check_moved(&p, host);
		expect_event(&p, host, WF_EVENT_PATH_MIG);
	}
	pair_fini(&p);
}

/* A packet with M = 1 that is not of the alternate path: dropped, and said once. */
static void test_bad_request(void **state)
{
	struct wf_hca *hca;
	struct wf_packet pkt;
	struct seen seen;
	struct pair p;
	uint64_t before;

	(void)state;
	make(&p, &seen, 0);
	arm(&p);
	hca = p.rig.host[1].hca;
	pkt = seen.last[0];
	before = count(&p, 1, WF_CTR_RX_DISCARDS);
	for (int i = 0; i < 3; i++) {
		static const uint32_t path[3][2] = { { 0, 1 }, { 2, 1 }, { 0, 3 } };

		pkt.flags |= WF_PACKET_MIGRATED;
		pkt.src = path[i][0];
		pkt.dst = path[i][1];
		wf_hca_rx(hca, &pkt, NULL, p.rig.now);
	}
	assert_int_equal(count(&p, 1, WF_CTR_RX_DISCARDS), before + 3);
	assert_int_equal(state_of(&p, 1), WF_MIG_ARMED);
	expect_event(&p, 1, WF_EVENT_PATH_MIG_ERR);
	/* By the alternate path, but with M = 0: dropped, and nothing to say. */
	pkt.flags &= (uint8_t)~WF_PACKET_MIGRATED;
	pkt.src = 2;
	pkt.dst = 3;
	wf_hca_rx(hca, &pkt, NULL, p.rig.now);
	/* With a wrong P_Key it is no request to migrate. */
	pkt.flags |= WF_PACKET_MIGRATED;
	pkt.pkey = 0x7123;
	wf_hca_rx(hca, &pkt, NULL, p.rig.now);
	assert_int_equal(count(&p, 1, WF_CTR_PKEY_VIOLATIONS), 1);
	assert_int_equal(count(&p, 1, WF_CTR_RX_DISCARDS), before + 5);
	assert_int_equal(state_of(&p, 1), WF_MIG_ARMED);
	expect_no_event(&p);
	pair_check_alive(&p);
	pair_fini(&p);
}

/* The last request comes again by both paths while one end has moved: never is it done twice. */
static void test_duplicates(void **state)
{
	struct wf_packet old;
	struct seen seen;
	struct pair p;
	uint64_t acks, duplicates;

	(void)state;
	make(&p, &seen, 0xffffff);
	arm(&p);
	old = seen.last[0];
	/* A duplicate by the primary path is acknowledged, and by the primary path. */
	wf_hca_rx(p.rig.host[1].hca, &old, NULL, p.rig.now);
	memset(seen.by, 0, sizeof(seen.by));
	rig_run(&p.rig);
	assert_int_equal(seen.by[1][0], 1);
	assert_int_equal(state_of(&p, 1), WF_MIG_ARMED);
	/* The same by the alternate one, with M: it is the peer's, which has migrated. */
	old.flags |= WF_PACKET_MIGRATED;
	old.src = 2;
	old.dst = 3;
	duplicates = count(&p, 1, WF_CTR_DUPLICATE_REQUEST);
	wf_hca_rx(p.rig.host[1].hca, &old, NULL, p.rig.now);
	assert_int_equal(count(&p, 1, WF_CTR_DUPLICATE_REQUEST), duplicates + 1);
	check_moved(&p, 1);
	expect_event(&p, 1, WF_EVENT_PATH_MIG);
	/* Its answer takes the first end along. */
	rig_run(&p.rig);
	check_moved(&p, 0);
	expect_event(&p, 0, WF_EVENT_PATH_MIG);
	/* And again by the first path: that is nobody's any more. */
	acks = count(&p, 1, WF_CTR_TX_ACKS);
	old.src = 0;
	old.dst = 1;
	wf_hca_rx(p.rig.host[1].hca, &old, NULL, p.rig.now);
	rig_run(&p.rig);
	assert_int_equal(count(&p, 1, WF_CTR_TX_ACKS), acks);
	pair_check_alive(&p);
	pair_fini(&p);
}

/* Back again: the old path is loaded as the new alternate one, and the driver asks for it. */
static void test_return(void **state)
{
	struct seen seen;
	struct pair p;

	(void)state;
	make(&p, &seen, 0);
	arm(&p);
	assert_int_equal(ask(&p, 0, WF_MIG_MIGRATED), 0);
	pair_check_alive(&p);
	expect_event(&p, 1, WF_EVENT_PATH_MIG);
	for (uint32_t host = 0; host < HOSTS; host++)
		assert_int_equal(rearm(&p, host, 1), 0);
	pair_check_alive(&p);
	for (uint32_t host = 0; host < HOSTS; host++)
		assert_int_equal(state_of(&p, host), WF_MIG_ARMED);
	seen.cut = 2;
	memset(seen.by, 0, sizeof(seen.by));
	pair_check_alive(&p);
	for (uint32_t host = 0; host < HOSTS; host++) {
		assert_int_equal(query(&p, host).port_num, 1);
		assert_int_equal(query(&p, host).ah_attr.dest, 1 - host);
		assert_int_equal(count(&p, host, WF_CTR_PATH_MIGRATIONS), 2);
		expect_event(&p, host, WF_EVENT_PATH_MIG);
	}
	pair_fini(&p);
}

/* Work that waits, paced or for a port's turn, goes along to the port that its queue pair has. */
static void test_waiting_work(void **state)
{
	struct seen seen;
	struct pair p;

	(void)state;
	make(&p, &seen, 0);
	arm(&p);
	memset(seen.by, 0, sizeof(seen.by));
	for (uint64_t i = 0; i < 10; i++)
		pair_post_write(&p, i, 3000);
	for (int i = 0; i < 5; i++)
		(void)rig_step(&p.rig, WF_TIME_NEVER - 1);
	assert_int_equal(seen.by[0][1], 0);
	assert_int_equal(ask(&p, 0, WF_MIG_MIGRATED), 0);
	rig_run(&p.rig);
	assert_true(seen.by[0][1] >= 20);
	for (uint64_t i = 0; i < 10; i++)
		expect_wc(&p, 0, i, WF_WC_RDMA_WRITE, 0);
	check_moved(&p, 1);
	pair_fini(&p);
}

/* UC has no retries: it migrates when it is told, and when the peer has. */
static void test_unreliable(void **state)
{
	struct wf_hca_attr hca;
	struct wf_qp_attr attr;
	struct wf_sge sge;
	struct seen seen;
	struct pair p;

	(void)state;
	hca_attr(&hca);
	memset(&seen, 0, sizeof(seen));
	memset(&p, 0, sizeof(p));
	rig_init(&p.rig, HOSTS, &hca, 1);
	p.rig.filter = look;
	p.rig.ctx = &seen;
	rig_attr_defaults(&attr);
	for (uint32_t i = 0; i < HOSTS; i++) {
		p.mem[i] = calloc(1, PAIR_BYTES);
		p.mr[i] = rig_reg(&p.rig.host[i], p.mem[i], PAIR_BYTES, WF_ACCESS_LOCAL_WRITE);
		p.qp[i] = rig_make_qp(&p.rig, i, WF_QPT_UC, NULL);
	}
	rig_connect(p.qp[0], 0, p.qp[1], 1, &attr, 0);
	for (uint32_t i = 0; i < HOSTS; i++)
		assert_int_equal(rearm(&p, i, 2), 0);
	for (uint64_t i = 0; i < 4; i++) {
		struct wf_send_wr wr = { .wr_id = i, .opcode = WF_WR_SEND };
		uint32_t from = i == 1;

		sge = rig_sge(p.mem[1 - from], 100, p.mr[1 - from]);
		assert_int_equal(rig_recv(p.qp[1 - from], 100 + i, &sge), 0);
		if (i == 2)
			assert_int_equal(ask(&p, 0, WF_MIG_MIGRATED), 0);
		assert_int_equal(rig_post(p.qp[from], &wr, NULL), 0);
		rig_run(&p.rig);
		expect_wc(&p, 1 - from, 100 + i, WF_WC_RECV, 0);
		assert_int_equal(state_of(&p, 1), i < 2 ? WF_MIG_ARMED : WF_MIG_MIGRATED);
		assert_int_equal(seen.by[from][1] != 0, i >= 2);
	}
	expect_event(&p, 1, WF_EVENT_PATH_MIG);
	expect_no_event(&p);
	pair_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_migrated),    cmocka_unit_test(test_one_ready),
		cmocka_unit_test(test_armed),       cmocka_unit_test(test_modify),
		cmocka_unit_test(test_software),    cmocka_unit_test(test_retries),
		cmocka_unit_test(test_both_dead),   cmocka_unit_test(test_both_send),
		cmocka_unit_test(test_bad_request), cmocka_unit_test(test_duplicates),
		cmocka_unit_test(test_return),      cmocka_unit_test(test_waiting_work),
		cmocka_unit_test(test_unreliable),
	};

	return cmocka_run_group_tests_name("apm", tests, NULL, NULL);
}
