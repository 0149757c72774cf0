/* SPDX-License-Identifier: Apache-2.0 */
/* cq.c - completion queues, polled the plain and the extended way. */
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "compat/verbs/verbs_priv.h"

#define BATCH 16
#define SKIPS 8 /* polls that find something without moving the adapter on, at most */

/* Completions keep their numbers on the way to the program. */
_Static_assert((int)WF_WC_GENERAL_ERR == (int)IBV_WC_GENERAL_ERR, "status");
_Static_assert((int)WF_WC_RNR_RETRY_EXC_ERR == (int)IBV_WC_RNR_RETRY_EXC_ERR, "status");
_Static_assert((int)WF_WC_LOCAL_INV == (int)IBV_WC_LOCAL_INV, "opcode");
_Static_assert((int)WF_WC_RECV_RDMA_WITH_IMM == (int)IBV_WC_RECV_RDMA_WITH_IMM, "opcode");
_Static_assert((int)WF_WC_GRH == (int)IBV_WC_GRH && (int)WF_WC_WITH_INV == (int)IBV_WC_WITH_INV,
               "flags");
_Static_assert(offsetof(struct ibv_cq, channel) == offsetof(struct ibv_cq_ex, channel) &&
                       offsetof(struct ibv_cq, mutex) == offsetof(struct ibv_cq_ex, mutex) &&
                       offsetof(struct ibv_cq, async_events_completed) ==
                               offsetof(struct ibv_cq_ex, async_events_completed),
               "an extended queue begins as a plain one");

/* The LID that a datagram came from; 0 where there are none. */
static uint16_t lid_of(const struct wv_cq *cq, const struct wf_wc *wc)
{
	const struct wf_live_table *t = wf_nic_table(wv_nic(cq->ex.context));

	return wc->src < t->n_hosts ? t->host[wc->src].lid : 0;
}

/*
 * The service level of what came. For datagrams over RoCE adapters say here which IP header is in
 * front of them (ConnectX: 2 for version 4), and UCX before 1.15 takes it from there.
 */
static uint8_t sl_of(const struct wv_cq *cq, const struct wf_wc *wc)
{
	const struct wf_live_table *t = wf_nic_table(wv_nic(cq->ex.context));

	return t->layer == WF_LIVE_ROCE && (wc->flags & WF_WC_GRH) != 0 ? 2 : wc->sl;
}

static __be32 imm_of(const struct wf_wc *wc)
{
	return (wc->flags & WF_WC_WITH_INV) != 0 ? (__be32)wc->imm : htobe32(wc->imm);
}

static void convert(const struct wv_cq *cq, const struct wf_wc *from, struct ibv_wc *to)
{
	to->wr_id = from->wr_id;
	to->status = (enum ibv_wc_status)from->status;
	to->opcode = (enum ibv_wc_opcode)from->opcode;
	to->vendor_err = from->vendor_err;
	to->byte_len = from->byte_len;
	to->imm_data = imm_of(from);
	to->qp_num = from->qp_num;
	to->src_qp = from->src_qp;
	to->wc_flags = from->flags;
	to->pkey_index = from->pkey_index;
	to->slid = lid_of(cq, from);
	to->sl = sl_of(cq, from);
	to->dlid_path_bits = 0;
}

/* Under the lock: takes up to n completions, and moves the adapter on where there are none. */
static int take(struct wv_cq *cq, uint32_t n, struct wf_wc *wc)
{
	struct wf_nic *nic = wv_nic(cq->ex.context);
	int got = wf_cq_poll(cq->cq, n, wc);

	assert(wf_nic_is_locked(nic) && cq->skips < SKIPS);
	if (got <= 0 || ++cq->skips >= SKIPS) {
		cq->skips = 0;
		wf_nic_poll(nic);
		if (got == 0)
			got = wf_cq_poll(cq->cq, n, wc);
	}
	if (got > 0 && wf_cq_waiting(cq->cq) == 0)
		wf_nic_linger(nic);
	return got;
}

int wv_poll_cq(struct ibv_cq *ibv, int n, struct ibv_wc *wc)
{
	struct wv_cq *cq = wv_cq(ibv);
	struct wf_wc some[BATCH];
	int total = 0;

	if (n <= 0)
		return n < 0 ? -EINVAL : 0;
	if (wf_unlikely(!wv_lock(ibv->context)))
		return -EIO;
	while (total < n) {
		int want = n - total < BATCH ? n - total : BATCH;
		int got = total == 0 ? take(cq, (uint32_t)want, some)
		                     : wf_cq_poll(cq->cq, (uint32_t)want, some);

		if (got < 0 && total == 0)
			total = got;
		if (got <= 0)
			break;
		for (int i = 0; i < got; i++)
			convert(cq, &some[i], &wc[total + i]);
		total += got;
		if (got < want)
			break;
	}
	wv_unlock(ibv->context);
	return total;
}

int wv_req_notify_cq(struct ibv_cq *ibv, int solicited_only)
{
	struct wv_cq *cq = wv_cq(ibv);

	if (!wv_lock(ibv->context))
		return EIO;
	wf_cq_arm(cq->cq, solicited_only != 0);
	wf_nic_wait(wv_nic(ibv->context));
	wv_unlock(ibv->context);
	return 0;
}

/* The extended interface: one completion at a time lies in cq->wc. */
static int next_poll(struct ibv_cq_ex *ex)
{
	struct wv_cq *cq = (struct wv_cq *)(void *)ex;
	int got;

	if (wf_unlikely(!wv_lock(ex->context)))
		return EIO;
	got = take(cq, 1, &cq->wc);
	wv_unlock(ex->context);
	if (got <= 0)
		return got == 0 ? ENOENT : -got;
	ex->wr_id = cq->wc.wr_id;
	ex->status = (enum ibv_wc_status)cq->wc.status;
	return 0;
}

static int start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
	return attr->comp_mask != 0 ? EINVAL : next_poll(ex);
}

static void end_poll(struct ibv_cq_ex *ex)
{
	(void)ex;
}

static const struct wf_wc *current(struct ibv_cq_ex *ex)
{
	return &((struct wv_cq *)(void *)ex)->wc;
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *ex)
{
	return (enum ibv_wc_opcode)current(ex)->opcode;
}

static uint32_t read_vendor_err(struct ibv_cq_ex *ex)
{
	return current(ex)->vendor_err;
}

static uint32_t read_byte_len(struct ibv_cq_ex *ex)
{
	return current(ex)->byte_len;
}

static __be32 read_imm_data(struct ibv_cq_ex *ex)
{
	return imm_of(current(ex));
}

static uint32_t read_qp_num(struct ibv_cq_ex *ex)
{
	return current(ex)->qp_num;
}

static uint32_t read_src_qp(struct ibv_cq_ex *ex)
{
	return current(ex)->src_qp;
}

static unsigned int read_wc_flags(struct ibv_cq_ex *ex)
{
	return current(ex)->flags;
}

static uint32_t read_slid(struct ibv_cq_ex *ex)
{
	return lid_of((struct wv_cq *)(void *)ex, current(ex));
}

static uint8_t read_sl(struct ibv_cq_ex *ex)
{
	return sl_of((struct wv_cq *)(void *)ex, current(ex));
}

static uint8_t read_dlid_path_bits(struct ibv_cq_ex *ex)
{
	(void)ex;
	return 0;
}

static uint64_t read_completion_ts(struct ibv_cq_ex *ex)
{
	return (uint64_t)(current(ex)->time / WF_NS);
}

static uint64_t read_wallclock_ns(struct ibv_cq_ex *ex)
{
	struct timespec ts;
	wf_time ago = wf_nic_now(wv_nic(ex->context)) - current(ex)->time;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec - (uint64_t)(ago / WF_NS);
}

static void set_reader(struct ibv_cq_ex *ex)
{
	ex->start_poll = start_poll;
	ex->next_poll = next_poll;
	ex->end_poll = end_poll;
	ex->read_opcode = read_opcode;
	ex->read_vendor_err = read_vendor_err;
	ex->read_byte_len = read_byte_len;
	ex->read_imm_data = read_imm_data;
	ex->read_qp_num = read_qp_num;
	ex->read_src_qp = read_src_qp;
	ex->read_wc_flags = read_wc_flags;
	ex->read_slid = read_slid;
	ex->read_sl = read_sl;
	ex->read_dlid_path_bits = read_dlid_path_bits;
	ex->read_completion_ts = read_completion_ts;
	ex->read_completion_wallclock_ns = read_wallclock_ns;
}

static struct wv_cq *create(struct ibv_context *c, uint32_t cqe, void *user,
                            struct ibv_comp_channel *channel)
{
	struct wv_cq *cq = wv_handle_make(sizeof(*cq), WV_CQ);
	int ret;

	if (cq == NULL)
		return NULL;
	cq->ex.context = c;
	cq->ex.channel = channel;
	cq->ex.cq_context = user;
	pthread_mutex_init(&cq->ex.mutex, NULL);
	pthread_cond_init(&cq->ex.cond, NULL);
	if (!wv_lock(c)) {
		wv_handle_free(cq);
		return wv_fail(EIO);
	}
	ret = wf_cq_create(wf_nic_hca(wv_nic(c)), cqe, &cq->cq);
	if (ret == 0) {
		cq->ex.cqe = (int)wf_cq_size(cq->cq);
		wf_cq_set_user(cq->cq, cq);
		if (channel != NULL)
			channel->refcnt++;
	}
	wv_unlock(c);
	if (ret != 0) {
		wv_handle_free(cq);
		return wv_fail(-ret);
	}
	return cq;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *c, int cqe, void *user,
                             struct ibv_comp_channel *channel, int comp_vector)
{
	struct wv_cq *cq;

	if (cqe <= 0 || comp_vector < 0 || comp_vector >= c->num_comp_vectors)
		return wv_fail(EINVAL);
	cq = create(c, (uint32_t)cqe, user, channel);
	return cq != NULL ? wv_ibv_cq(cq) : NULL;
}

#define WC_FLAGS                                                                                   \
	(IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |                             \
	 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)

struct ibv_cq_ex *wv_create_cq_ex(struct ibv_context *c, struct ibv_cq_init_attr_ex *attr)
{
	uint32_t known = IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD;
	struct wv_cq *cq;

	if ((attr->comp_mask & ~known) != 0 || (attr->wc_flags & ~(uint64_t)WC_FLAGS) != 0)
		return wv_fail(EOPNOTSUPP);
	if ((attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0 &&
	    (attr->flags & ~(uint32_t)IBV_CREATE_CQ_ATTR_SINGLE_THREADED) != 0)
		return wv_fail(EOPNOTSUPP);
	if (attr->comp_vector >= (uint32_t)c->num_comp_vectors || attr->cqe > INT32_MAX)
		return wv_fail(EINVAL);
	cq = create(c, attr->cqe, attr->cq_context, attr->channel);
	if (cq == NULL)
		return NULL;
	set_reader(&cq->ex);
	return &cq->ex;
}

int wv_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
	(void)cq;
	/* Every completion is told at once: moderation is a wish that need not be granted. */
	return attr->attr_mask != IBV_CQ_ATTR_MODERATE ? EINVAL : 0;
}

int ibv_resize_cq(struct ibv_cq *ibv, int cqe)
{
	struct wv_cq *cq = wv_cq(ibv);
	int ret;

	if (cqe <= 0 || !wv_handle_is(cq, WV_CQ))
		return EINVAL;
	if (!wv_lock(ibv->context))
		return EIO;
	ret = wf_cq_resize(cq->cq, (uint32_t)cqe);
	if (ret == 0)
		ibv->cqe = (int)wf_cq_size(cq->cq);
	wv_unlock(ibv->context);
	return -ret;
}

/* Whoever got an event of it must have said that he is done with it. */
static void wait_for_acks(struct wv_cq *cq, uint32_t notices, uint32_t asyncs)
{
	struct ibv_cq *ibv = wv_ibv_cq(cq);

	pthread_mutex_lock(&ibv->mutex);
	while (ibv->comp_events_completed != notices || ibv->async_events_completed != asyncs)
		pthread_cond_wait(&ibv->cond, &ibv->mutex);
	pthread_mutex_unlock(&ibv->mutex);
}

int ibv_destroy_cq(struct ibv_cq *ibv)
{
	struct wv_cq *cq = wv_cq(ibv);
	uint32_t notices, asyncs;
	int ret;

	if (!wv_handle_is(cq, WV_CQ))
		return EINVAL;
	if (!wv_lock(ibv->context))
		return EIO;
	ret = wf_cq_destroy(cq->cq);
	if (ret == 0) {
		wv_async_purge(wv_context(ibv->context), cq);
		if (ibv->channel != NULL) {
			wv_channel_purge((struct wv_channel *)(void *)ibv->channel, ibv);
			assert(ibv->channel->refcnt > 0);
			ibv->channel->refcnt--;
		}
	}
	notices = cq->notices;
	asyncs = cq->asyncs;
	wv_unlock(ibv->context);
	if (ret != 0)
		return -ret;
	wait_for_acks(cq, notices, asyncs);
	wv_handle_free(cq);
	return 0;
}
