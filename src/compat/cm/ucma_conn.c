/* SPDX-License-Identifier: Apache-2.0 */
/* ucma_conn.c - commands about connections, and what their queue pairs are to be set to. */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "compat/cm/ucma_priv.h"
#include "compat/verbs/verbs_priv.h"
#include "wire/transport.h"

/* As the RDMA CM of Linux has them: 4.3 s for an answer, which is asked for 16 times at most. */
#define RESPONSE_TIMEOUT 20
#define MAX_RETRIES 15
#define ACK_DELAY 0
#define NO_FAILOVER 1

static uint8_t at_most(uint8_t value, uint8_t max)
{
	return value < max ? value : max;
}

static int put_private(const struct wv_ucma_id *id, const struct rdma_ucm_conn_param *p,
                       uint8_t data[RDMA_MAX_PRIVATE_DATA + WF_CM_IP_LEN], unsigned *length_p)
{
	struct wf_cm_ip ip;
	int ret = wv_ucma_to_ip(id, &ip);

	if (ret != 0)
		return ret;
	wf_cm_ip_encode(&ip, data);
	_Static_assert(UINT8_MAX < RDMA_MAX_PRIVATE_DATA, "whatever it says, it is there");
	memcpy(data + WF_CM_IP_LEN, p->private_data, p->private_data_len);
	*length_p = WF_CM_IP_LEN + p->private_data_len;
	return 0;
}

static void fill_req(const struct wv_ucma_id *id, const struct rdma_ucm_conn_param *p,
                     struct wf_cm_req *req)
{
	bool xrc = id->qp_type == IBV_QPT_XRC_SEND;
	uint32_t index;

	*req = (struct wf_cm_req){
		.service = wf_cm_service(id->space, wv_ucma_port(&id->dst)),
		.qpn = p->qp_num,
		.responder_resources = p->responder_resources,
		.initiator_depth = p->initiator_depth,
		.remote_timeout = RESPONSE_TIMEOUT,
		.transport = xrc                         ? WF_CM_EXTENDED
		             : id->qp_type == IBV_QPT_UC ? WF_CM_UC
		                                         : WF_CM_RC,
		.flow_control = p->flow_control != 0,
		.psn = id->psn,
		.local_timeout = RESPONSE_TIMEOUT,
		.retry_count = at_most(p->retry_count, 7),
		.pkey = wv_ucma_pkey(id, &index),
		.mtu = wv_ucma_mtu(id->channel->nic),
		.rnr_retry = at_most(p->rnr_retry_count, 7),
		.max_retries = MAX_RETRIES,
		.srq = p->srq != 0,
		.ext_transport = xrc ? 1 : 0,
	};
	wv_ucma_path(id, &req->path);
}

int wv_ucma_connect(struct wv_ucma_channel *ch, const void *in, size_t out)
{
	const struct rdma_ucm_connect *cmd = in;
	struct wv_ucma_id *id;
	uint8_t data[RDMA_MAX_PRIVATE_DATA + WF_CM_IP_LEN];
	wf_time now = wf_nic_now(ch->nic);
	struct wf_cm_req req;
	struct wf_cm *cm;
	unsigned length;
	int ret;

	(void)out;
	if (!cmd->conn_param.valid)
		return -EINVAL;
	ret = wv_ucma_get(ch, cmd->id, &id);
	if (ret != 0)
		return ret;
	if (id->state != WV_UCMA_ROUTE)
		return -EINVAL;
	ret = put_private(id, &cmd->conn_param, data, &length);
	if (ret == 0)
		ret = wf_nic_cm(ch->nic, &cm);
	if (ret != 0)
		return ret;
	if (id->conn != NULL) /* of a try that failed */
		wf_cm_release(id->conn, now);
	id->conn = NULL;
	fill_req(id, &cmd->conn_param, &req);
	if (id->qp_type == IBV_QPT_UD)
		ret = wf_cm_resolve(cm, id->host, req.service, WF_PKEY_DEFAULT, data, length, id,
		                    now, &id->conn);
	else
		ret = wf_cm_connect(cm, id->host, &req, data, length, id, now, &id->conn);
	assert((ret == 0) == (id->conn != NULL));
	if (ret == 0)
		id->state = WV_UCMA_CONNECT;
	return ret;
}

int wv_ucma_accept(struct wv_ucma_channel *ch, const void *in, size_t out)
{
	const struct rdma_ucm_accept *cmd = in;
	const struct rdma_ucm_conn_param *p = &cmd->conn_param;
	struct wv_ucma_id *id;
	struct wf_cm_rep rep;
	int ret = wv_ucma_get(ch, cmd->id, &id);

	(void)out;
	if (ret != 0)
		return ret;
	if (id->conn == NULL)
		return -EINVAL;
	if (!p->valid) /* the active side's queue pair is ready */
		return wf_cm_establish(id->conn);
	if (id->qp_type == IBV_QPT_UD) {
		ret = wf_cm_resolved(id->conn, WF_CM_SIDR_OK, p->qp_num, WV_UCMA_QKEY,
		                     p->private_data, p->private_data_len);
	} else {
		rep = (struct wf_cm_rep){
			.qpn = p->qp_num,
			.psn = id->psn,
			.responder_resources = p->responder_resources,
			.initiator_depth = p->initiator_depth,
			.ack_delay = ACK_DELAY,
			.failover = NO_FAILOVER,
			.flow_control = p->flow_control != 0,
			.rnr_retry = at_most(p->rnr_retry_count, 7),
			.srq = p->srq != 0,
		};
		ret = wf_cm_accept(id->conn, &rep, p->private_data, p->private_data_len,
		                   wf_nic_now(ch->nic));
	}
	if (ret == 0)
		id->uid = cmd->uid;
	return ret;
}

int wv_ucma_reject(struct wv_ucma_channel *ch, const void *in, size_t out)
{
	const struct rdma_ucm_reject *cmd = in;
	uint16_t reason = cmd->reason != 0 ? cmd->reason : WF_CM_REJ_CONSUMER;
	struct wv_ucma_id *id;
	int ret;

	(void)out;
	if (reason != WF_CM_REJ_CONSUMER && reason != WF_CM_REJ_VENDOR_OPTION)
		return -EINVAL;
	ret = wv_ucma_get(ch, cmd->id, &id);
	if (ret != 0)
		return ret;
	if (id->conn == NULL)
		return -EINVAL;
	if (id->qp_type == IBV_QPT_UD)
		return wf_cm_resolved(id->conn, WF_CM_SIDR_REJECTED, 0, 0, cmd->private_data,
		                      cmd->private_data_len);
	return wf_cm_reject(id->conn, reason, cmd->private_data, cmd->private_data_len);
}

int wv_ucma_disconnect(struct wv_ucma_channel *ch, const void *in, size_t out)
{
	const struct rdma_ucm_disconnect *cmd = in;
	struct wv_ucma_id *id;
	int ret = wv_ucma_get(ch, cmd->id, &id);

	(void)out;
	if (ret != 0)
		return ret;
	if (id->conn == NULL)
		return -EINVAL;
	/* Once it is said, it may be said again. */
	(void)!wf_cm_disconnect(id->conn, wf_nic_now(ch->nic));
	return 0;
}

int wv_ucma_notify(struct wv_ucma_channel *ch, const void *in, size_t out)
{
	const struct rdma_ucm_notify *cmd = in;
	struct wv_ucma_id *id;
	int ret = wv_ucma_get(ch, cmd->id, &id);

	(void)out;
	if (ret != 0)
		return ret;
	if (id->conn == NULL || cmd->event != IBV_EVENT_COMM_EST)
		return -EINVAL;
	if (wf_cm_info(id->conn)->state != WF_CM_REP_SENT)
		return wf_cm_info(id->conn)->state == WF_CM_ESTABLISHED ? -EISCONN : -EINVAL;
	if (wf_cm_establish(id->conn) != 0)
		return -EINVAL;
	return wv_ucma_tell(id, WV_UCMA_ESTABLISHED, 0);
}

static void attr_init(const struct wv_ucma_id *id, struct ib_uverbs_qp_attr *a)
{
	uint32_t index;

	(void)wv_ucma_pkey(id, &index);
	a->qp_attr_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	a->pkey_index = (uint16_t)index;
	a->port_num = 1;
	if (id->qp_type == IBV_QPT_UD) {
		a->qp_attr_mask |= IBV_QP_QKEY;
		a->qkey = WV_UCMA_QKEY;
		return;
	}
	a->qp_attr_mask |= IBV_QP_ACCESS_FLAGS;
	if (id->conn == NULL)
		return;
	a->qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	if (wf_cm_info(id->conn)->responder_resources != 0)
		a->qp_access_flags |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
}

static int attr_rtr(const struct wv_ucma_id *id, struct ib_uverbs_qp_attr *a)
{
	const struct wf_cm_info *i = id->conn == NULL ? NULL : wf_cm_info(id->conn);

	if (i == NULL)
		return -EINVAL;
	a->qp_attr_mask =
		IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	wv_ucma_ah(id, id->dgid, wv_ucma_dlid(id), &a->ah_attr);
	a->path_mtu = i->req.mtu;
	a->dest_qp_num = i->remote_qpn;
	a->rq_psn = id->psn;
	if (id->qp_type == IBV_QPT_RC || id->qp_type == IBV_QPT_XRC_RECV) {
		a->qp_attr_mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
		a->max_dest_rd_atomic = i->responder_resources;
	}
	return 0;
}

static int attr_rts(const struct wv_ucma_id *id, struct ib_uverbs_qp_attr *a)
{
	const struct wf_cm_info *i = id->conn == NULL ? NULL : wf_cm_info(id->conn);

	if (i == NULL)
		return -EINVAL;
	a->qp_attr_mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
	a->sq_psn = i->remote_psn;
	if (id->qp_type == IBV_QPT_RC || id->qp_type == IBV_QPT_XRC_SEND) {
		a->qp_attr_mask |= IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
		a->retry_cnt = i->retry_count;
		a->rnr_retry = i->rnr_retry;
		a->max_rd_atomic = i->initiator_depth;
	}
	if (id->qp_type != IBV_QPT_UC) {
		a->qp_attr_mask |= IBV_QP_TIMEOUT;
		a->timeout = i->req.path.ack_timeout;
	}
	return 0;
}

int wv_ucma_init_qp_attr(struct wv_ucma_channel *ch, const void *in, size_t out)
{
	const struct rdma_ucm_init_qp_attr *cmd = in;
	struct ib_uverbs_qp_attr a = { .qp_state = cmd->qp_state };
	struct wv_ucma_id *id;
	int ret;

	if (cmd->qp_state > IBV_QPS_ERR)
		return -EINVAL;
	ret = wv_ucma_get(ch, cmd->id, &id);
	if (ret != 0)
		return ret;
	if (!id->device)
		return -EINVAL;
	switch (cmd->qp_state) {
	case IBV_QPS_INIT:
		attr_init(id, &a);
		break;
	case IBV_QPS_RTR:
		ret = attr_rtr(id, &a);
		break;
	case IBV_QPS_RTS:
		ret = attr_rts(id, &a);
		break;
	default:
		ret = -EINVAL;
		break;
	}
	return ret != 0 ? ret : wv_ucma_answer(cmd->response, out, &a, sizeof(a));
}
