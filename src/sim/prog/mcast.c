/* SPDX-License-Identifier: Apache-2.0 */
/* mcast.c - the senders and the members of a multicast group. */
#include "sim/prog/mcast.h"

#include <errno.h>
#include <string.h>

#include "rdma/cq.h"
#include "rdma/mr.h"
#include "wire/ib.h"
#include "wire/transport.h"

#define QKEY 0x11111111
#define POLL 16
#define NONE UINT32_MAX

/* What runs on one host; only that host touches it during the run. */
struct host {
	struct wf_mcast *all;
	struct wf_adapter *adapter;
	struct wf_qp *qp;
	struct wf_cq *cq;
	struct wf_mr *mr;
	struct wf_ah *ah;
	uint8_t *memory;         /* what it sends, then what it receives; NULL: no contents */
	uint32_t sender, member; /* its place in the lists; NONE: it is in none */
	uint32_t sent, got;
	uint64_t spoilt;
	uint8_t *times; /* by sender and number: how often it came, 255 at the most */
} WF_ALIGNED(WF_CACHE_LINE);

struct wf_mcast {
	struct wf_mcast_cfg cfg;
	uint32_t n_hosts;
	uint32_t *member; /* hosts */
	struct host *hosts;
};

static uint32_t all_datagrams(const struct wf_mcast *m)
{
	return m->cfg.n_senders * m->cfg.datagrams;
}

/* Where a datagram lies: those that a host sends, and behind them those that it receives. */
static size_t place_out(uint32_t i)
{
	return (size_t)i * WF_MTU_MAX;
}

static size_t place_in(const struct wf_mcast *m, uint32_t i)
{
	return place_out(m->cfg.datagrams) + (size_t)i * (WF_MTU_MAX + WF_GRH_LEN);
}

static size_t memory_size(const struct wf_mcast *m)
{
	return place_in(m, all_datagrams(m));
}

int wf_mcast_create(const struct wf_mcast_cfg *cfg, uint32_t n_hosts, struct wf_mcast **mcast_p)
{
	struct wf_mem *mem = wf_mem_heap();
	struct wf_mcast *m = mem->alloc(mem, sizeof(*m));
	int ret = 0;

	if (m == NULL)
		return -ENOMEM;
	m->cfg = *cfg;
	m->n_hosts = n_hosts;
	m->member = mem->alloc(mem, cfg->n_members * sizeof(*m->member));
	m->hosts = mem->alloc(mem, n_hosts * sizeof(*m->hosts));
	if (m->member == NULL || m->hosts == NULL) {
		wf_mcast_destroy(m);
		return -ENOMEM;
	}
	for (uint32_t h = 0; h < n_hosts; h++)
		m->hosts[h].all = m, m->hosts[h].sender = m->hosts[h].member = NONE;
	for (uint32_t i = 0; i < cfg->n_senders; i++)
		m->hosts[cfg->senders[i]].sender = i;
	for (uint32_t i = 0; i < cfg->n_members; i++) {
		struct host *h = &m->hosts[cfg->members[i]];

		m->member[i] = cfg->members[i];
		h->member = i;
		h->times = mem->alloc(mem, all_datagrams(m));
		if (h->times == NULL)
			ret = -ENOMEM;
	}
	for (uint32_t h = 0; h < n_hosts && cfg->data && ret == 0; h++) {
		m->hosts[h].memory = mem->alloc(mem, memory_size(m));
		if (m->hosts[h].memory == NULL)
			ret = -ENOMEM;
	}
	if (ret != 0) {
		wf_mcast_destroy(m);
		return ret;
	}
	*mcast_p = m;
	return 0;
}

void wf_mcast_destroy(struct wf_mcast *m)
{
	struct wf_mem *mem = wf_mem_heap();

	if (m == NULL)
		return;
	for (uint32_t h = 0; m->hosts != NULL && h < m->n_hosts; h++) {
		mem->free(mem, m->hosts[h].times);
		mem->free(mem, m->hosts[h].memory);
	}
	mem->free(mem, m->hosts);
	mem->free(mem, m->member);
	mem->free(mem, m);
}

/* ---- sending ---- */

/* The contents of a datagram are its number, over and over. */
static void fill(struct host *h, uint32_t number)
{
	for (uint32_t i = 0; h->memory != NULL && i < h->all->cfg.size; i++)
		h->memory[place_out(h->sent) + i] = (uint8_t)(number >> i % 4 * 8);
}

static void send_one(struct host *h, wf_time now)
{
	const struct wf_mcast_cfg *cfg = &h->all->cfg;
	uint32_t number = h->sender * cfg->datagrams + h->sent;
	struct wf_sge sge = { .addr = place_out(h->sent),
		              .length = cfg->size,
		              .lkey = wf_mr_lkey(h->mr) };
	struct wf_send_wr wr = {
		.sge = &sge,
		.num_sge = 1,
		.opcode = WF_WR_SEND_WITH_IMM,
		.flags = WF_SEND_SIGNALED,
		.imm = number,
		.ud = { .ah = h->ah, .qpn = WF_QPN_MULTICAST, .qkey = QKEY },
	};
	const struct wf_send_wr *bad;
	int ret;

	fill(h, number);
	h->sent++;
	ret = wf_adapter_post(h->adapter, h->qp, &wr, &bad, now);
	assert(ret == 0); /* the queue has room for all */
	(void)ret;
}

static void host_run(void *arg, struct wf_adapter *adapter, wf_time now)
{
	struct host *h = arg;
	const struct wf_mcast_cfg *cfg = &h->all->cfg;
	wf_time next = cfg->start + h->sent * cfg->every;

	if (h->sender == NONE || h->sent == cfg->datagrams)
		return;
	if (now < next) {
		wf_adapter_call_at(adapter, next);
		return;
	}
	do
		send_one(h, now);
	while (cfg->every == 0 && h->sent < cfg->datagrams);
	if (h->sent < cfg->datagrams)
		wf_adapter_call_at(adapter, cfg->start + h->sent * cfg->every);
}

/* ---- receiving ---- */

static int post_receive(struct host *h, uint32_t i)
{
	struct wf_sge sge = { .addr = place_in(h->all, i),
		              .length = WF_MTU_MAX + WF_GRH_LEN,
		              .lkey = wf_mr_lkey(h->mr) };
	struct wf_recv_wr wr = { .wr_id = i, .sge = &sge, .num_sge = 1 };
	const struct wf_recv_wr *bad;

	return wf_qp_post_recv(h->qp, &wr, &bad);
}

static void take(struct host *h, const struct wf_wc *wc)
{
	const struct wf_mcast_cfg *cfg = &h->all->cfg;
	const uint8_t *at = h->memory;
	bool good = wc->byte_len == cfg->size + WF_GRH_LEN;

	if (h->times == NULL || wc->imm >= all_datagrams(h->all))
		return;
	h->got++;
	if (h->times[wc->imm] < UINT8_MAX)
		h->times[wc->imm]++;
	if (at != NULL)
		at += place_in(h->all, (uint32_t)wc->wr_id) + WF_GRH_LEN;
	for (uint32_t i = 0; at != NULL && good && i < cfg->size; i++)
		good = at[i] == (uint8_t)(wc->imm >> i % 4 * 8);
	h->spoilt += !good;
}

static void host_complete(void *arg, struct wf_adapter *adapter, struct wf_cq *cq, wf_time now)
{
	struct host *h = arg;
	struct wf_wc wc[POLL];
	int n;

	(void)adapter;
	(void)now;
	wf_cq_arm(cq, false);
	while ((n = wf_cq_poll_seen(cq, POLL, wc)) > 0) {
		for (int i = 0; i < n; i++) {
			if (wc[i].status == WF_WC_SUCCESS && wc[i].opcode >= WF_WC_RECV)
				take(h, &wc[i]);
		}
	}
}

static bool host_owns(void *arg, const struct wf_cq *cq)
{
	return cq == ((const struct host *)arg)->cq;
}

static const struct wf_program program = {
	.run = host_run,
	.complete = host_complete,
	.owns = host_owns,
};

/* ---- being there ---- */

static void mcast_attr(void *arg, uint32_t host, struct wf_hca_attr *attr)
{
	const struct wf_mcast *m = arg;

	(void)host;
	attr->max_qp = 2;
	attr->max_mr = 1;
	attr->max_cqe = all_datagrams(m) + m->cfg.datagrams + 1;
	attr->max_events = 4;
}

static int bring_up(struct host *h, struct wf_pd *pd)
{
	const struct wf_mcast_cfg *cfg = &h->all->cfg;
	struct wf_qp_init init = {
		.type = WF_QPT_UD,
		.send_cq = h->cq,
		.recv_cq = h->cq,
		.cap = { .max_send_wr = cfg->datagrams,
		         .max_recv_wr = all_datagrams(h->all),
		         .max_send_sge = 1,
		         .max_recv_sge = 1 },
	};
	struct wf_qp_attr attr = { .qp_state = WF_QPS_INIT, .port_num = 1, .qkey = QKEY };
	int ret = wf_qp_create(pd, &init, &h->qp);

	if (ret == 0)
		ret = wf_qp_modify(h->qp, &attr,
		                   WF_QP_STATE | WF_QP_PKEY_INDEX | WF_QP_PORT | WF_QP_QKEY);
	attr.qp_state = WF_QPS_RTR;
	if (ret == 0)
		ret = wf_qp_modify(h->qp, &attr, WF_QP_STATE);
	attr.qp_state = WF_QPS_RTS;
	return ret == 0 ? wf_qp_modify(h->qp, &attr, WF_QP_STATE | WF_QP_SQ_PSN) : ret;
}

static int open_host(struct host *h, struct wf_adapter *adapter)
{
	const struct wf_mcast_cfg *cfg = &h->all->cfg;
	struct wf_mr_attr region = { .host = h->memory,
		                     .length = memory_size(h->all),
		                     .access = WF_ACCESS_LOCAL_WRITE };
	struct wf_ah_attr to = { .dest = cfg->group, .sl = cfg->cls, .port_num = 1 };
	struct wf_hca *hca = wf_adapter_hca(adapter);
	struct wf_pd *pd;
	int ret;

	h->adapter = adapter;
	wf_adapter_add_program(adapter, &program, h);
	ret = wf_pd_create(hca, &pd);
	if (ret == 0)
		ret = wf_mr_reg(pd, &region, &h->mr);
	if (ret == 0)
		ret = wf_cq_create(hca, all_datagrams(h->all) + cfg->datagrams + 1, &h->cq);
	if (ret == 0)
		ret = bring_up(h, pd);
	if (ret == 0)
		ret = wf_ah_create(pd, &to, &h->ah);
	if (ret == 0 && h->member != NONE)
		ret = wf_qp_attach_mcast(h->qp, cfg->group);
	for (uint32_t i = 0; h->member != NONE && ret == 0 && i < all_datagrams(h->all); i++)
		ret = post_receive(h, i);
	if (ret == 0)
		wf_cq_arm(h->cq, false);
	return ret;
}

static int mcast_start(void *arg, const struct wf_fabric *fabric, struct wf_adapter **adapters,
                       struct wf_err *err)
{
	struct wf_mcast *m = arg;
	int ret = 0;

	if (m->cfg.size > fabric->cfg.mtu)
		return wf_err_say(err, "mcast: a datagram of %u bytes is longer than the MTU",
		                  m->cfg.size);
	for (uint32_t h = 0; h < m->n_hosts && ret == 0; h++)
		ret = open_host(&m->hosts[h], adapters[h]);
	if (ret == -EINVAL)
		return wf_err_say(err, "mcast: more datagrams than a queue pair holds");
	return ret;
}

/* All members have as many as the others sent. */
static bool mcast_done(void *arg, wf_time now)
{
	const struct wf_mcast *m = arg;

	(void)now;
	for (uint32_t i = 0; i < m->cfg.n_members; i++) {
		const struct host *h = &m->hosts[m->member[i]];

		if (h->got < (m->cfg.n_senders - (h->sender != NONE)) * m->cfg.datagrams)
			return false;
	}
	return true;
}

void wf_mcast_app(struct wf_mcast *m, struct wf_sim_app *app)
{
	*app = (struct wf_sim_app){
		.arg = m,
		.data = m->cfg.data,
		.attr = mcast_attr,
		.start = mcast_start,
		.done = mcast_done,
	};
}

uint32_t wf_mcast_got(const struct wf_mcast *m, uint32_t member, uint32_t sender, uint32_t number)
{
	return m->hosts[m->member[member]].times[sender * m->cfg.datagrams + number];
}

uint64_t wf_mcast_spoilt(const struct wf_mcast *m)
{
	uint64_t n = 0;

	for (uint32_t h = 0; h < m->n_hosts; h++)
		n += m->hosts[h].spoilt;
	return n;
}
