/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_nic_memory.c - every allocation of programs and of a capture fails in turn, and every one
 * from some point on: while they attach, make queue pairs and what belongs to them, send, connect
 * and join groups. They are told or packets are lost; nothing is left when they have gone, and the
 * fabric is as it was.
 *
 * ctest: oom checked
 */
#define _GNU_SOURCE
#include <sched.h>
#include <string.h>

#include "check.h"
#include "live/nic_priv.h"
#include "live/sniffer.h"
#include "oom.h"
#include "rdma/cq.h"
#include "rdma/mr.h"
#include "rig_daemon.h"

#define BYTES 4096
#define QKEY 0x1234
#define SERVICE wf_cm_service(WF_CM_PS_TCP, 7)
#define IN_VAIN 100 /* rounds that are waited for what a failure may have taken */

struct program {
	struct wf_nic *nic;
	struct wf_pd *pd;
	struct wf_cq *cq;
	struct wf_mr *mr;
	struct wf_qp *ud;
	struct wf_ah *ah;
	struct wf_cm *cm;
	bool answered; /* it was connected, or refused */
	char memory[BYTES];
};

static const uint8_t group[16] = { 0xff, 0x0e, [15] = 9 };

static void on_completion(void *arg, struct wf_cq *cq)
{
	(void)arg;
	(void)cq;
}

static void on_event(void *arg, const struct wf_event *event)
{
	(void)arg;
	(void)event;
}

static int on_cm(void *arg, const struct wf_cm_event *event)
{
	struct program *p = arg;

	if (event->type == WF_CM_EV_REQ)
		return -ECONNREFUSED;
	p->answered = true;
	return 0;
}

static int start_ud(struct program *p)
{
	struct wf_qp_attr a = { .qp_state = WF_QPS_INIT, .port_num = 1, .qkey = QKEY };
	int ret = wf_qp_modify(p->ud, &a, WF_QP_STATE | WF_QP_PKEY_INDEX | WF_QP_PORT | WF_QP_QKEY);

	a.qp_state = WF_QPS_RTR;
	if (ret == 0)
		ret = wf_qp_modify(p->ud, &a, WF_QP_STATE);
	a.qp_state = WF_QPS_RTS;
	return ret != 0 ? ret : wf_qp_modify(p->ud, &a, WF_QP_STATE | WF_QP_SQ_PSN);
}

/* All that a program makes; what there is of it goes with the adapter. Under the lock. */
static int make(struct program *p)
{
	struct wf_mr_attr mr = { .host = p->memory,
		                 .iova = (uintptr_t)p->memory,
		                 .length = BYTES,
		                 .access = WF_ACCESS_LOCAL_WRITE };
	struct wf_qp_init init = { .type = WF_QPT_UD, .cap = { 16, 16, 1, 1, 0 } };
	int ret = wf_pd_create(p->nic->hca, &p->pd);

	if (ret == 0)
		ret = wf_cq_create(p->nic->hca, 64, &p->cq);
	if (ret == 0)
		ret = wf_mr_reg(p->pd, &mr, &p->mr);
	init.send_cq = init.recv_cq = p->cq;
	if (ret == 0)
		ret = wf_qp_create(p->pd, &init, &p->ud);
	if (ret == 0)
		ret = wf_nic_add_qp(p->nic, p->ud);
	if (ret == 0)
		ret = start_ud(p);
	return ret != 0 ? ret : wf_nic_cm(p->nic, &p->cm);
}

/* Returns whether the program is there, whole. */
static bool begin(struct program *p, const struct rig_fabric *f, const char *host)
{
	struct wf_nic_cfg cfg = { .path = f->path,
		                  .host = host,
		                  .completion = on_completion,
		                  .event = on_event,
		                  .cm_event = on_cm,
		                  .arg = p };
	int ret;

	memset(p, 0, sizeof(*p));
	ret = wf_nic_open(&cfg, &p->nic);
	assert_true(ret <= 0 && (ret == 0) == (p->nic != NULL));
	if (ret != 0)
		return false;
	wf_nic_lock(p->nic);
	ret = make(p);
	wf_nic_unlock(p->nic);
	assert_true(ret <= 0);
	return ret == 0;
}

static void end(struct program *p)
{
	if (p->nic == NULL)
		return;
	wf_nic_lock(p->nic);
	if (p->ud != NULL)
		wf_nic_remove_qp(p->nic, p->ud);
	wf_nic_unlock(p->nic);
	wf_nic_close(p->nic);
}

/* Both go on until that has happened. Returns false where it did not, since something failed. */
static bool await(struct program *a, struct program *b, bool (*happened)(struct program *))
{
	for (int in_vain = 0; in_vain < IN_VAIN; in_vain += atomic_load(&oom.failed) != 0) {
		bool is;

		wf_nic_lock(b->nic);
		wf_nic_poll(b->nic);
		is = happened(b);
		wf_nic_unlock(b->nic);
		if (is)
			return true;
		wf_nic_lock(a->nic);
		wf_nic_poll(a->nic);
		wf_nic_unlock(a->nic);
		(void)sched_yield();
	}
	return false;
}

/* A datagram is in its memory: completions of what it sent itself are passed over. */
static bool has_received(struct program *p)
{
	struct wf_wc wc;

	while (wf_cq_poll(p->cq, 1, &wc) == 1) {
		if (wc.opcode == WF_WC_RECV)
			return true;
	}
	return false;
}

static bool is_answered(struct program *p)
{
	return p->answered;
}

static int post(struct program *from, uint32_t qpn)
{
	struct wf_sge sge = { (uintptr_t)from->memory, 64, wf_mr_lkey(from->mr) };
	struct wf_send_wr wr = { .sge = &sge, .num_sge = 1, .opcode = WF_WR_SEND };
	const struct wf_send_wr *bad;
	int ret;

	wr.ud.ah = from->ah;
	wr.ud.qpn = qpn;
	wr.ud.qkey = QKEY;
	ret = wf_qp_post_send(from->ud, &wr, &bad);
	wf_nic_kick(from->nic);
	return ret;
}

/* A datagram to the other program, or to the group, is posted. Under the lock of from. */
static int send_to(struct program *from, const uint8_t gid[16], uint32_t qpn)
{
	struct wf_ah_attr attr = { .port_num = 1, .is_global = true };
	int ret;

	memcpy(attr.dgid, gid, sizeof(attr.dgid));
	ret = wf_nic_resolve(from->nic, &attr);
	if (ret == 0)
		ret = wf_ah_create(from->pd, &attr, &from->ah);
	return ret == 0 ? post(from, qpn) : ret;
}

/*
 * It arrives, but for a failure that loses it; then the next ones do: what cannot be had once is
 * asked for again.
 */
static bool send_one(struct program *from, struct program *to, const uint8_t gid[16], uint32_t qpn)
{
	struct wf_sge sge = { (uintptr_t)to->memory, BYTES, wf_mr_lkey(to->mr) };
	struct wf_recv_wr wr = { .sge = &sge, .num_sge = 1 };
	const struct wf_recv_wr *bad;
	int ret;

	wf_nic_lock(to->nic);
	ret = wf_qp_post_recv(to->ud, &wr, &bad);
	wf_nic_unlock(to->nic);
	assert_int_equal(ret, 0);
	for (bool first = true;; first = false) {
		wf_nic_lock(from->nic);
		(void)has_received(from); /* it has not: what it sent makes room for more */
		ret = send_to(from, gid, qpn);
		wf_nic_unlock(from->nic);
		if (ret == 0 && await(from, to, has_received))
			return first;
		assert_true(atomic_load(&oom.failed) != 0);
		if (oom.how == OOM_ALL)
			return false;
	}
}

static bool meet(struct program *a, struct program *b)
{
	uint8_t gid[16];

	wf_nic_lock(a->nic);
	assert_true(wf_live_gid(wf_nic_table(a->nic), wf_nic_host(b->nic), WF_LIVE_GID_IPV4, gid));
	wf_nic_unlock(a->nic);
	return send_one(a, b, gid, wf_qp_num(b->ud));
}

static bool gather(struct program *a, struct program *b)
{
	int ret;

	wf_nic_lock(b->nic);
	ret = wf_nic_join(b->nic, b->ud, group);
	if (ret != 0 && oom.how == OOM_ONE)
		assert_int_equal(wf_nic_join(b->nic, b->ud, group), 0);
	wf_nic_unlock(b->nic);
	if (ret != 0 && oom.how == OOM_ALL)
		return false;
	return send_one(a, b, group, WF_QPN_MULTICAST);
}

/* B listens, and refuses A. */
static bool call(struct program *a, struct program *b)
{
	struct wf_cm_req req = { .service = SERVICE, .qpn = 5, .transport = WF_CM_RC };
	uint64_t service = SERVICE;
	struct wf_cm_conn *conn = NULL;
	int ret;

	wf_nic_lock(b->nic);
	ret = wf_cm_listen(b->cm, service, b);
	if (ret == 0)
		ret = wf_nic_service(b->nic, WF_LIVE_SERVICE_BIND, &service, 0);
	if (ret == 0)
		ret = wf_nic_service(b->nic, WF_LIVE_SERVICE_LISTEN, &service, 0);
	wf_nic_unlock(b->nic);
	if (ret != 0)
		return false;
	wf_nic_lock(a->nic);
	req.max_retries = 15;
	ret = wf_cm_connect(a->cm, wf_nic_host(b->nic), &req, NULL, 0, a, wf_nic_now(a->nic),
	                    &conn);
	wf_nic_kick(a->nic);
	wf_nic_unlock(a->nic);
	return ret == 0 && await(b, a, is_answered);
}

/* All of it. Returns whether all went well. */
static bool live(const struct rig_fabric *f)
{
	static const uint32_t hosts[] = { 0, 1 };
	struct wf_sniffer_cfg cfg = {
		.path = f->path, .hosts = hosts, .n_hosts = 2, .snaplen = 64
	};
	struct wf_sniffer *sniffer = NULL;
	struct wf_pcapng_packet packet;
	struct program a, b;
	unsigned seen = 0;
	bool well, captured;

	oom_begin();
	well = wf_sniffer_open(&cfg, &sniffer) == 0;
	captured = well;
	well = begin(&a, f, "h1") && well;
	well = begin(&b, f, "h2") && well;
	if (captured)
		well = wf_sniffer_news(sniffer) == 0 && well;
	if (a.cm != NULL && b.cm != NULL) {
		well = meet(&a, &b) && well;
		well = gather(&a, &b) && well;
		well = call(&a, &b) && well;
	}
	end(&a);
	end(&b);
	while (captured && wf_sniffer_next(sniffer, INT64_MAX, &packet))
		seen++;
	if (captured)
		wf_sniffer_close(sniffer);
	oom_end();
	return well && seen > 0;
}

static int lowest_free(void)
{
	int fd = dup(0);

	assert_true(fd >= 0);
	close(fd);
	return fd;
}

static void fail_in_turn(enum oom_how how)
{
	struct rig_fabric f;
	bool failed = true, well;
	int lowest;
	long n;

	rig_start(&f);
	assert_true(live(&f));
	lowest = lowest_free();
	for (n = 0; failed; n++) {
		oom_arm(how, n);
		well = live(&f);
		failed = oom_disarm();
		assert_true(well || failed);
		/* The fabric is as it was: what a failure has left behind is there for the next. */
		if (failed && n % 4 != 0)
			continue;
		oom_arm(OOM_ONE, INT32_MAX);
		assert_true(live(&f));
		assert_false(oom_disarm());
	}
	assert_true(n > 50); /* there were some to fail */
	/* The daemon has noticed that all have gone. */
	while (lowest_free() != lowest)
		(void)sched_yield();
	rig_stop(&f);
}

static void test_one(void **state)
{
	(void)state;
	fail_in_turn(OOM_ONE);
}

static void test_all(void **state)
{
	(void)state;
	fail_in_turn(OOM_ALL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one),
		cmocka_unit_test(test_all),
	};

	(void)alarm(1200); /* what does not go on goes on for ever */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
