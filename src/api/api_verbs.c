/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_verbs.c - the public interface: memory, completions, queue pairs and work.
 */
#include <errno.h>
#include <stdlib.h>

#include "api/api_priv.h"
#include "sim/prog/conn.h"

#define CLASS 3 /* of packets, if nothing else is said: the one that profiles keep lossless */

/* The public numbers are the transport's. */
_Static_assert((int)WEFT_GENERAL_ERR == (int)WF_WC_GENERAL_ERR &&
                       (int)WEFT_RNR_RETRY_EXC_ERR == (int)WF_WC_RNR_RETRY_EXC_ERR &&
                       (int)WEFT_REM_ACCESS_ERR == (int)WF_WC_REM_ACCESS_ERR &&
                       (int)WEFT_WR_FLUSH_ERR == (int)WF_WC_WR_FLUSH_ERR,
               "statuses");
_Static_assert((int)WEFT_WC_FETCH_ADD == (int)WF_WC_FETCH_ADD &&
                       (int)WEFT_WC_RECV == (int)WF_WC_RECV &&
                       (int)WEFT_WC_RECV_WRITE_IMM == (int)WF_WC_RECV_RDMA_WITH_IMM,
               "what completed");
_Static_assert((int)WEFT_SEND == (int)WF_WR_SEND && (int)WEFT_READ == (int)WF_WR_RDMA_READ &&
                       (int)WEFT_FETCH_ADD == (int)WF_WR_ATOMIC_FETCH_AND_ADD,
               "operations");
_Static_assert((int)WEFT_QPS_RTS == (int)WF_QPS_RTS && (int)WEFT_QPS_ERR == (int)WF_QPS_ERR &&
                       (int)WEFT_RC == (int)WF_QPT_RC && (int)WEFT_UD == (int)WF_QPT_UD,
               "queue pairs");
_Static_assert(WEFT_REMOTE_ATOMIC == WF_ACCESS_REMOTE_ATOMIC, "rights");
_Static_assert(WEFT_FENCE == WF_SEND_FENCE, "bits of a work request");
_Static_assert(WEFT_INLINE == WF_SEND_INLINE, "bits of a work request");
_Static_assert(WEFT_UNSIGNALED == WF_SEND_SIGNALED, "bits of a work request");

static struct wf_qp *qp_of(struct weft_qp *qp)
{
	return (struct wf_qp *)(void *)qp;
}

static const struct wf_qp *cqp_of(const struct weft_qp *qp)
{
	return (const struct wf_qp *)(const void *)qp;
}

static struct wf_srq *srq_of(struct weft_srq *srq)
{
	return (struct wf_srq *)(void *)srq;
}

/* ---- memory ---- */

int weft_mr_create(struct weft_adapter *a, void *addr, size_t length, unsigned access,
                   struct weft_mr **mr_p)
{
	const struct wf_mr_attr attr = {
		.host = addr,
		.iova = (uint64_t)(uintptr_t)addr,
		.length = length,
		.access = access,
	};
	struct wf_mr *mr;
	int ret;

	if (addr == NULL || (access & ~WEFT_ALL_ACCESS) != 0)
		return -EINVAL;
	ret = wf_mr_reg(a->pd, &attr, &mr);
	if (ret == 0)
		*mr_p = (struct weft_mr *)(void *)mr;
	return ret;
}

void weft_mr_destroy(struct weft_mr *mr)
{
	/* It has no windows, which alone could keep it. */
	if (mr != NULL)
		(void)!wf_mr_dereg((struct wf_mr *)(void *)mr);
}

uint32_t weft_mr_lkey(const struct weft_mr *mr)
{
	return wf_mr_lkey((const struct wf_mr *)(const void *)mr);
}

uint32_t weft_mr_rkey(const struct weft_mr *mr)
{
	return wf_mr_rkey((const struct wf_mr *)(const void *)mr);
}

/* ---- completions ---- */

const char *weft_status_name(enum weft_status status)
{
	return wf_wc_status_name((enum wf_wc_status)status);
}

int weft_cq_create(struct weft_adapter *a, uint32_t entries, struct weft_cq **cq_p)
{
	struct weft_cq *cq = calloc(1, sizeof(*cq));
	int ret = cq == NULL ? -ENOMEM : wf_cq_create(wf_adapter_hca(a->adapter), entries, &cq->cq);

	if (ret != 0) {
		free(cq);
		return ret;
	}
	wf_cq_set_user(cq->cq, cq);
	cq->adapter = a;
	cq->next = a->cqs;
	a->cqs = cq;
	*cq_p = cq;
	return 0;
}

/* Completions that wait to be shown are forgotten with their queue. */
static void forget_waits(struct weft_adapter *a, const struct weft_cq *cq)
{
	size_t n = a->n_waits;

	a->n_waits = 0;
	for (size_t i = 0; i < n; i++) {
		struct wf_api_wait w = a->waits[i];
		size_t k;

		if (w.cq == cq)
			continue;
		for (k = a->n_waits++; k > 0; k = (k - 1) / 2) {
			const struct wf_api_wait *up = &a->waits[(k - 1) / 2];

			if (up->at < w.at || (up->at == w.at && up->number < w.number))
				break;
			a->waits[k] = *up;
		}
		a->waits[k] = w;
	}
}

int weft_cq_destroy(struct weft_cq *cq)
{
	struct weft_cq **p;
	int ret;

	if (cq == NULL)
		return 0;
	ret = wf_cq_destroy(cq->cq);
	if (ret != 0)
		return ret;
	for (p = &cq->adapter->cqs; *p != cq; p = &(*p)->next)
		;
	*p = cq->next;
	forget_waits(cq->adapter, cq);
	if (cq->gone != NULL)
		*cq->gone = true;
	free(cq);
	return 0;
}

static void to_public(const struct weft_adapter *a, const struct wf_wc *from, struct weft_wc *to)
{
	*to = (struct weft_wc){
		.wr_id = from->wr_id,
		.status = (enum weft_status)from->status,
		.opcode = (enum weft_wc_opcode)from->opcode,
		.byte_len = from->byte_len,
		.imm = from->imm,
		.has_imm = (from->flags & WF_WC_WITH_IMM) != 0,
		.qp_num = from->qp_num,
		.src_qp = from->src_qp,
		.src_host = from->src,
		.time = from->time,
	};
	if (from->status == WF_WC_SUCCESS)
		to->time = wf_adapter_seen(a->adapter, from->opcode, from->time);
}

/* One completion: shown now, or, if the program sees it later, then. */
static void show(struct weft_cq *cq, const struct wf_wc *wc, wf_time now)
{
	struct wf_api_wait wait = { .cq = cq };
	wf_time seen = now;

	to_public(cq->adapter, wc, &wait.wc);
	if (wc->status == WF_WC_SUCCESS)
		seen = wf_adapter_seen(cq->adapter->adapter, wc->opcode, now);
	seen = wf_max_time(seen, cq->last);
	cq->last = seen;
	wait.wc.time = wait.at = seen;
	if (seen <= now)
		cq->fn(cq->arg, &wait.wc);
	else if (wf_api_wait_add(cq->adapter, &wait) != 0)
		__atomic_store_n(&cq->adapter->fabric->no_memory, true, __ATOMIC_RELAXED);
}

void wf_api_show(struct weft_cq *cq, wf_time now)
{
	bool gone = false;
	struct wf_wc wc;

	/* The program may destroy the queue when it is called. */
	cq->gone = &gone;
	/* Armed first: what comes while we poll is not missed. */
	wf_cq_arm(cq->cq, false);
	while (!gone && cq->fn != NULL && wf_cq_poll_seen(cq->cq, 1, &wc) == 1)
		show(cq, &wc, now);
	if (!gone)
		cq->gone = NULL;
}

static void show_waiting(void *arg)
{
	struct weft_cq *cq = arg;

	wf_api_show(cq, wf_api_time(cq->adapter));
}

void weft_cq_on_completion(struct weft_cq *cq, weft_wc_fn *fn, void *arg)
{
	const struct wf_api_wait wait = {
		.at = wf_api_time(cq->adapter),
		.fn = show_waiting,
		.arg = cq,
		.cq = cq,
	};

	cq->fn = fn;
	cq->arg = arg;
	if (fn == NULL)
		return;
	wf_cq_arm(cq->cq, false);
	if (wf_cq_waiting(cq->cq) > 0 && wf_api_wait_add(cq->adapter, &wait) != 0)
		__atomic_store_n(&cq->adapter->fabric->no_memory, true, __ATOMIC_RELAXED);
}

int weft_cq_poll(struct weft_cq *cq, unsigned n, struct weft_wc *wc)
{
	unsigned got = 0;
	bool runs = wf_adapter_runs(cq->adapter->adapter);
	struct wf_wc one;
	int ret = 0;

	/* Outside of the run there is nothing to wait for. */
	while (got < n &&
	       (ret = runs ? wf_cq_poll_seen(cq->cq, 1, &one) : wf_cq_poll(cq->cq, 1, &one)) == 1)
		to_public(cq->adapter, &one, &wc[got++]);
	return ret < 0 && got == 0 ? ret : (int)got;
}

/* ---- queue pairs ---- */

static uint32_t or_default(uint32_t value, uint32_t usual)
{
	return value != 0 ? value : usual;
}

int weft_qp_create(struct weft_adapter *a, const struct weft_qp_attr *attr, struct weft_qp **qp_p)
{
	struct weft_fabric *f = a->fabric;
	uint32_t max_sge = or_default(attr->max_sge, 4);
	struct wf_qp_init init = {
		.type = attr->type != 0 ? (enum wf_qp_type)attr->type : WF_QPT_RC,
		.srq = srq_of(attr->srq),
		.cap = { .max_send_wr = or_default(attr->max_send_wr, 128),
		         .max_recv_wr = attr->srq == NULL ? or_default(attr->max_recv_wr, 128) : 0,
		         .max_send_sge = max_sge,
		         .max_recv_sge = max_sge,
		         .max_inline_data = attr->max_inline },
	};
	struct wf_err err = { "" };
	struct wf_qp *qp;
	int ret;

	if (attr->send_cq == NULL || attr->recv_cq == NULL || attr->send_cq->adapter != a ||
	    attr->recv_cq->adapter != a)
		return -EINVAL;
	init.send_cq = attr->send_cq->cq;
	init.recv_cq = attr->recv_cq->cq;
	if (init.type == WF_QPT_RC) {
		ret = wf_conn_tune(f->fabric, a->host, &f->scenario.fabrics[0].values.cc,
		                   &init.tune, &err);
		if (ret != 0)
			return ret;
	}
	ret = wf_qp_create(a->pd, &init, &qp);
	if (ret != 0)
		return ret;
	wf_qp_set_user(qp, a);
	*qp_p = (struct weft_qp *)(void *)qp;
	return 0;
}

void weft_qp_destroy(struct weft_qp *qp)
{
	if (qp != NULL)
		wf_qp_destroy(qp_of(qp));
}

uint32_t weft_qp_num(const struct weft_qp *qp)
{
	return wf_qp_num(cqp_of(qp));
}

enum weft_qp_state weft_qp_state(const struct weft_qp *qp)
{
	return (enum weft_qp_state)wf_qp_state(cqp_of(qp));
}

void weft_conn_defaults(const struct weft_fabric *f, struct weft_conn *conn)
{
	*conn = (struct weft_conn){
		.cls = CLASS,
		.retry_count = 7,
		.rnr_retry = 7,
		.timeout = f->fabric->cfg.sender_timeout,
		.access = WEFT_REMOTE_WRITE | WEFT_REMOTE_READ | WEFT_REMOTE_ATOMIC,
	};
}

/* RESET, INIT, RTR, RTS: what each step is given is told apart by service. */
static int bring_up(struct wf_qp *qp, struct wf_qp_attr *attr)
{
	enum wf_qp_type type = wf_qp_type(qp);
	uint32_t init = WF_QP_STATE | WF_QP_PKEY_INDEX | WF_QP_PORT;
	uint32_t rtr = WF_QP_STATE, rts = WF_QP_STATE | WF_QP_SQ_PSN;
	int ret;

	if (type == WF_QPT_UD) {
		init |= WF_QP_QKEY;
	} else {
		init |= WF_QP_ACCESS_FLAGS;
		rtr |= WF_QP_AV | WF_QP_PATH_MTU | WF_QP_DEST_QPN | WF_QP_RQ_PSN;
	}
	if (type == WF_QPT_RC) {
		rtr |= WF_QP_MAX_DEST_RD_ATOMIC | WF_QP_MIN_RNR_TIMER;
		rts |= WF_QP_TIMEOUT | WF_QP_RETRY_CNT | WF_QP_RNR_RETRY | WF_QP_MAX_QP_RD_ATOMIC;
	}
	attr->qp_state = WF_QPS_INIT;
	ret = wf_qp_modify(qp, attr, init);
	attr->qp_state = WF_QPS_RTR;
	if (ret == 0)
		ret = wf_qp_modify(qp, attr, rtr);
	attr->qp_state = WF_QPS_RTS;
	if (ret == 0)
		ret = wf_qp_modify(qp, attr, rts);
	return ret;
}

int weft_qp_connect(struct weft_qp *a, struct weft_qp *b, const struct weft_conn *conn)
{
	struct wf_qp *qps[2] = { qp_of(a), qp_of(b) };
	const struct weft_adapter *adapters[2] = { wf_qp_user(qps[0]), wf_qp_user(qps[1]) };
	struct wf_qp_attr attr = {
		.port_num = 1, .max_rd_atomic = 16, .max_dest_rd_atomic = 16, .min_rnr_timer = 12
	};
	struct weft_conn usual;
	int ret;

	if (adapters[0]->fabric != adapters[1]->fabric || adapters[0]->fabric->running || a == b ||
	    wf_qp_type(qps[0]) != wf_qp_type(qps[1]) || wf_qp_type(qps[0]) == WF_QPT_UD)
		return -EINVAL;
	if (conn == NULL) {
		weft_conn_defaults(adapters[0]->fabric, &usual);
		conn = &usual;
	}
	ret = wf_conn_mtu(adapters[0]->fabric->fabric, &attr.path_mtu, NULL);
	attr.qp_access_flags = conn->access & WF_ACCESS_REMOTE;
	attr.timeout = conn->timeout > 0 ? wf_conn_timeout(conn->timeout) : 0;
	attr.retry_cnt = conn->retry_count;
	attr.rnr_retry = conn->rnr_retry;
	for (int i = 0; i < 2 && ret == 0; i++) {
		attr.dest_qp_num = wf_qp_num(qps[1 - i]);
		attr.ah_attr = (struct wf_ah_attr){
			.dest = adapters[1 - i]->host,
			.sl = conn->cls,
			.roce1 = adapters[0]->fabric->fabric->roce1,
			.port_num = 1,
		};
		ret = bring_up(qps[i], &attr);
	}
	return ret;
}

int weft_qp_activate(struct weft_qp *qp, uint32_t qkey)
{
	struct wf_qp_attr attr = { .port_num = 1, .qkey = qkey };

	return wf_qp_type(qp_of(qp)) == WF_QPT_UD ? bring_up(qp_of(qp), &attr) : -EINVAL;
}

static int change_state(struct weft_qp *qp, enum wf_qp_state state)
{
	const struct wf_qp_attr attr = { .qp_state = state };
	int ret = wf_qp_modify(qp_of(qp), &attr, WF_QP_STATE);

	wf_api_touch(wf_qp_user(qp_of(qp)));
	return ret;
}

int weft_qp_reset(struct weft_qp *qp)
{
	return change_state(qp, WF_QPS_RESET);
}

int weft_qp_fail(struct weft_qp *qp)
{
	return change_state(qp, WF_QPS_ERR);
}

/* ---- work ---- */

_Static_assert(sizeof(struct weft_sge) == sizeof(struct wf_sge) &&
                       offsetof(struct weft_sge, length) == offsetof(struct wf_sge, length) &&
                       offsetof(struct weft_sge, lkey) == offsetof(struct wf_sge, lkey),
               "scatter/gather lists are the transport's");

static const struct wf_sge *sge_of(const struct weft_sge *sge)
{
	return (const struct wf_sge *)(const void *)sge;
}

/* The address handle of a host; the transport copies it when work is posted. */
static int find_ah(struct weft_adapter *a, uint32_t host, const struct wf_ah **ah_p)
{
	const struct wf_ah_attr attr = {
		.dest = host,
		.sl = CLASS,
		.roce1 = a->fabric->fabric->roce1,
		.port_num = 1,
	};
	uint32_t n = weft_fabric_hosts(a->fabric);
	int ret = 0;

	if (host >= n)
		return -EINVAL;
	if (a->ahs == NULL)
		a->ahs = calloc(n, sizeof(struct wf_ah *));
	if (a->ahs == NULL)
		return -ENOMEM;
	if (a->ahs[host] == NULL)
		ret = wf_ah_create(a->pd, &attr, &a->ahs[host]);
	*ah_p = a->ahs[host];
	return ret;
}

/* What goes to another host besides the data. */
static int fill_remote(struct weft_adapter *a, enum wf_qp_type type, const struct weft_send *send,
                       struct wf_send_wr *wr)
{
	if (type == WF_QPT_UD) {
		wr->ud.qpn = send->dest_qp;
		wr->ud.qkey = send->qkey;
		return find_ah(a, send->dest_host, &wr->ud.ah);
	}
	if (send->opcode == WEFT_CMP_SWAP || send->opcode == WEFT_FETCH_ADD) {
		wr->atomic.addr = send->remote_addr;
		wr->atomic.rkey = send->rkey;
		wr->atomic.compare_add = send->compare_add;
		wr->atomic.swap = send->swap;
		return 0;
	}
	wr->rdma.addr = send->remote_addr;
	wr->rdma.rkey = send->rkey;
	return 0;
}

int weft_post_send(struct weft_qp *qp, const struct weft_send *send)
{
	struct weft_adapter *a = wf_qp_user(qp_of(qp));
	struct wf_send_wr wr = {
		.wr_id = send->wr_id,
		.sge = sge_of(send->sge),
		.num_sge = send->n_sge,
		.opcode = (enum wf_wr_opcode)send->opcode,
		.flags = (send->flags ^ WEFT_UNSIGNALED) & WF_SEND_FLAGS,
		.imm = send->imm,
	};
	const struct wf_send_wr *bad;
	int ret;

	if ((unsigned)send->opcode > WEFT_FETCH_ADD)
		return -EINVAL;
	ret = fill_remote(a, wf_qp_type(qp_of(qp)), send, &wr);
	if (ret == 0)
		ret = wf_adapter_post(a->adapter, qp_of(qp), &wr, &bad, wf_api_time(a));
	return ret;
}

static struct wf_recv_wr recv_of(const struct weft_recv *recv)
{
	return (struct wf_recv_wr){
		.wr_id = recv->wr_id,
		.sge = sge_of(recv->sge),
		.num_sge = recv->n_sge,
	};
}

int weft_post_recv(struct weft_qp *qp, const struct weft_recv *recv)
{
	const struct wf_recv_wr wr = recv_of(recv);
	const struct wf_recv_wr *bad;
	int ret = wf_qp_post_recv(qp_of(qp), &wr, &bad);

	wf_api_touch(wf_qp_user(qp_of(qp)));
	return ret;
}

int weft_srq_create(struct weft_adapter *a, uint32_t max_wr, uint32_t max_sge,
                    struct weft_srq **srq_p)
{
	const struct wf_srq_attr attr = { .max_wr = max_wr, .max_sge = max_sge };
	struct wf_srq *srq;
	int ret = wf_srq_create(a->pd, &attr, &srq);

	if (ret != 0)
		return ret;
	*srq_p = (struct weft_srq *)(void *)srq;
	return 0;
}

int weft_srq_destroy(struct weft_srq *srq)
{
	return srq != NULL ? wf_srq_destroy(srq_of(srq)) : 0;
}

int weft_srq_post_recv(struct weft_srq *srq, const struct weft_recv *recv)
{
	const struct wf_recv_wr wr = recv_of(recv);
	const struct wf_recv_wr *bad;

	return wf_srq_post_recv(srq_of(srq), &wr, &bad);
}
