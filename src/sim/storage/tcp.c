/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp.c - NVMe over Fabrics over TCP (NVMe TCP Transport Specification): a connection for each I/O
 * queue, and PDUs in its two streams.
 *
 *	command           CapsuleCmd from the host, with the data of a small write behind it
 *	data of a read    C2HData from the target, one PDU; CapsuleResp follows, or SUCCESS is in it
 *	data of a write   R2T from the target, for all of it; then H2CData from the host, some PDUs
 *	response          CapsuleResp from the target
 *
 * It does what Linux' does: at most one R2T is under way for a command, and what is sent lies in
 * the sender's memory until it is acknowledged (no copy), while what comes is copied. Connections
 * are there before the run.
 *
 * A stream has PDUs that belong together one after the other: what the lists of a queue have, in
 * that order. Since a command is under way in one direction at a time, the one who reads knows how
 * long the next of them are: the command says it, and what has been done with it.
 */
#include "sim/storage/nvmf.h"

#include "sim/prog/tcp_open.h"
#include "sim/storage/pdu.h"

#define KEY_STORAGE (UINT64_C(1) << 33) /* connections' keys are others than flows' and jobs' */

/* ---- the host ---- */

static uint64_t command_bytes(const struct wf_nvmf_queue *q, uint32_t id)
{
	const struct wf_nvmf_command *c = &q->command[id];

	return wf_pdu_bytes(&q->entry->cfg, WF_PDU_COMMAND,
	                    wf_nvmf_in_capsule(q, c) ? c->bytes : 0);
}

static void tcp_command(struct wf_nvmf_queue *q, uint32_t id, wf_time now)
{
	wf_tcp_send(q->host.sock, command_bytes(q, id), now);
}

/* Whether the target is to ask for the data of a command, and has not yet. */
static bool awaits_r2t(const struct wf_nvmf_queue *q, const struct wf_nvmf_command *c)
{
	return c->write && !wf_nvmf_in_capsule(q, c) && !c->asked;
}

static uint64_t answer_bytes(const struct wf_nvmf_queue *q, uint32_t id)
{
	const struct wf_storage_cfg *cfg = &q->entry->cfg;
	const struct wf_nvmf_command *c = &q->command[id];

	if (awaits_r2t(q, c))
		return wf_pdu_bytes(cfg, WF_PDU_R2T, 0);
	return c->write ? wf_pdu_bytes(cfg, WF_PDU_RESPONSE, 0) : wf_pdu_c2h_bytes(cfg, c->bytes);
}

static void host_take(struct wf_nvmf_queue *q, uint32_t id, wf_time now)
{
	struct wf_nvmf_command *c = &q->command[id];

	if (!awaits_r2t(q, c)) {
		wf_nvmf_response_came(q, id, now);
		return;
	}
	c->asked = true;
	wf_nvmf_put(q, &q->sent, id);
	wf_tcp_send(q->host.sock, wf_pdu_h2c_bytes(&q->entry->cfg, c->bytes), now);
}

/*
 * The host has read more. Once some of a PDU has come, what the target noted of it is there: it did
 * that before the packet.
 */
static void host_came(struct wf_nvmf_queue *q, uint64_t bytes, wf_time now)
{
	while (bytes > q->host.read) {
		uint64_t end = q->host.read + answer_bytes(q, wf_nvmf_first(q, &q->answered));

		if (bytes < end)
			break;
		q->host.read = end;
		host_take(q, wf_nvmf_take(q, &q->answered), now);
	}
	wf_nvmf_host_run(q->host.at, now);
}

/* ---- the target ---- */

static void tcp_fetch(struct wf_nvmf_queue *q, uint32_t id, wf_time now)
{
	wf_nvmf_put(q, &q->answered, id);
	wf_tcp_send(q->target.sock, wf_pdu_bytes(&q->entry->cfg, WF_PDU_R2T, 0), now);
}

static void tcp_reply(struct wf_nvmf_queue *q, uint32_t id, wf_time now)
{
	const struct wf_storage_cfg *cfg = &q->entry->cfg;
	const struct wf_nvmf_command *c = &q->command[id];

	wf_nvmf_put(q, &q->answered, id);
	wf_tcp_send(q->target.sock,
	            c->write ? wf_pdu_bytes(cfg, WF_PDU_RESPONSE, 0)
	                     : wf_pdu_c2h_bytes(cfg, c->bytes),
	            now);
}

/* The target has read more: a command, or the data that it asked for. */
static void target_came(struct wf_nvmf_queue *q, uint64_t bytes, wf_time now)
{
	while (bytes > q->target.read) {
		uint32_t id = wf_nvmf_first(q, &q->sent);
		struct wf_nvmf_command *c = &q->command[id];
		bool data = c->stage == WF_NVMF_FETCH;
		uint64_t end = q->target.read + (data ? wf_pdu_h2c_bytes(&q->entry->cfg, c->bytes)
		                                      : command_bytes(q, id));

		if (bytes < end)
			break;
		q->target.read = end;
		wf_nvmf_take(q, &q->sent);
		if (data)
			wf_nvmf_data_came(q, id, now);
		else
			wf_nvmf_command_came(q, id, now);
	}
	wf_nvmf_host_run(q->target.at, now);
}

/* ---- setting up ---- */

static void nothing(void *arg, struct wf_tcp_sock *sock, uint64_t bytes, wf_time now)
{
	(void)arg;
	(void)sock;
	(void)bytes;
	(void)now;
}

static void sock_came(void *arg, struct wf_tcp_sock *sock, uint64_t bytes, wf_time now)
{
	struct wf_nvmf_queue *q = arg;

	if (sock == q->host.sock)
		host_came(q, bytes, now);
	else
		target_came(q, bytes, now);
}

static const struct wf_tcp_user sock_user = {
	.came = sock_came,
	.written = nothing,
	.acked = nothing,
};

static void host_run(void *arg, struct wf_adapter *adapter, wf_time now)
{
	(void)adapter;
	wf_nvmf_host_run(arg, now);
}

static void host_complete(void *arg, struct wf_adapter *adapter, struct wf_cq *cq, wf_time now)
{
	(void)arg;
	(void)adapter;
	(void)cq;
	(void)now;
}

static bool host_owns(void *arg, const struct wf_cq *cq)
{
	(void)arg;
	(void)cq;
	return false;
}

static const struct wf_program program = {
	.run = host_run,
	.complete = host_complete,
	.owns = host_owns,
};

/* The transport's adapter has nothing to do with it. */
static void tcp_attr(const struct wf_nvmf_host *h, struct wf_hca_attr *attr)
{
	(void)h;
	(void)attr;
}

/* A host that has queues over RDMA, too, has a program already, which runs what is due on any. */
static int tcp_open(struct wf_nvmf_host *h)
{
	if (h->cq == NULL)
		wf_adapter_add_program(h->adapter, &program, h);
	return 0;
}

static int tcp_connect(struct wf_nvmf_queue *q, const struct wf_fabric *fabric, struct wf_err *err)
{
	const struct wf_storage_cfg *cfg = &q->entry->cfg;
	const struct wf_tcp_pair pair = {
		.from = q->host.at->adapter,
		.to = q->target.at->adapter,
		.cls = wf_narrow_u8(cfg->cls),
		.key = KEY_STORAGE + (uint64_t)(q - q->host.at->storage->queue),
		.user = &sock_user,
		.from_arg = q,
		.to_arg = q,
	};
	int ret = wf_tcp_pair_open(fabric, &pair, &q->host.sock, &q->target.sock);

	(void)err;
	if (ret != 0)
		return ret;
	wf_tcp_sock_set(q->host.sock, true, cfg->data_digest);
	wf_tcp_sock_set(q->target.sock, true, cfg->data_digest);
	return 0;
}

const struct wf_nvmf_transport wf_nvmf_tcp = {
	.name = "tcp",
	.waits = 1,
	.attr = tcp_attr,
	.open = tcp_open,
	.connect = tcp_connect,
	.command = tcp_command,
	.fetch = tcp_fetch,
	.reply = tcp_reply,
};
