/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_tcp.c - a job's messages over TCP, as NCCL's socket transport has them.
 *
 * A connection has several sockets. A message is divided among as many of them as its bytes are
 * worth, in turn, each part behind a header of its own; announcements of receives come back on
 * the first one. A message has been sent when its last byte is in a socket, and is there when the
 * receiver's thread has read it.
 */
#include <errno.h>

#include "run/job_app_priv.h"
#include "sim/prog/tcp_open.h"

#define HEADER_BYTES 16             /* which message, how long: NCCL's are of that order */
#define PART_LEAST (64 * 1024)      /* NCCL's MIN_CHUNKSIZE: what a socket of its own is worth */
#define KEY_JOB (UINT64_C(1) << 32) /* sockets' keys are other ones than flows' */

static void put(struct job_sock *s, const struct job_framed *message, uint64_t bytes, wf_time now)
{
	struct job_framed *f = &s->fifo[s->sent % JOB_FIFO];

	*f = *message;
	s->end += HEADER_BYTES + bytes;
	f->end = s->end;
	s->sent++;
	wf_tcp_send(s->tcp, HEADER_BYTES + bytes, now);
}

void wf_job_tcp_data(struct job_conn *c, const struct wf_post *post, uint32_t place, wf_time now)
{
	uint64_t left = post->bytes, worth = (left + PART_LEAST - 1) / PART_LEAST;
	uint8_t parts = worth < 1 ? 1 : worth < c->qps ? (uint8_t)worth : c->qps;
	struct job_framed f = { .imm = post->imm, .parts = parts, .place = (uint8_t)place };

	c->send[place].left = parts;
	for (uint8_t i = 0; i < parts; i++) {
		uint64_t part = left / (uint64_t)(parts - i);

		left -= part;
		put(&c->sock[0][c->next_sock++ % c->qps], &f, part, now);
	}
}

void wf_job_tcp_announce(struct job_conn *c, const struct wf_post *post, wf_time now)
{
	const struct job_framed f = { .imm = post->imm };

	put(&c->sock[1][0], &f, 0, now);
}

/* A message, or a part of one, has come to this end. */
static void take(struct job_sock *s, const struct job_framed *f, wf_time now)
{
	struct job_conn *c = s->conn;
	struct wf_job_app *job = s->host->job;
	uint32_t place = f->imm % WF_EXEC_RECEIVES;

	if (f->parts == 0) {
		wf_exec_announced(job->ranks[c->rank[0]].exec, c->end[0], f->imm, now);
		return;
	}
	if (++c->come[place] < f->parts)
		return;
	c->come[place] = 0;
	wf_exec_arrived(job->ranks[c->rank[1]].exec, c->end[1], f->imm, c->posted[place], true,
	                now);
}

/*
 * Once some of a message has come, what its sender noted of it is there: it was before the packet.
 */
static void sock_came(void *arg, struct wf_tcp_sock *tcp, uint64_t bytes, wf_time now)
{
	struct job_sock *s = arg;

	(void)tcp;
	while (bytes > s->known) {
		const struct job_framed *f = &s->peer->fifo[s->come % JOB_FIFO];

		if (bytes < f->end)
			break;
		s->known = f->end;
		s->come++;
		take(s, f, now);
	}
	wf_job_host_plan(s->host);
}

/* Parts whose last byte is in the socket: of a message, when all are, the memory is free again. */
static void sock_written(void *arg, struct wf_tcp_sock *tcp, uint64_t bytes, wf_time now)
{
	struct job_sock *s = arg;
	struct job_conn *c = s->conn;

	(void)tcp;
	while (s->written != s->sent && s->fifo[s->written % JOB_FIFO].end <= bytes) {
		const struct job_framed *f = &s->fifo[s->written++ % JOB_FIFO];

		if (f->parts == 0 || --c->send[f->place].left > 0)
			continue;
		c->out--;
		wf_exec_sent(s->host->job->ranks[c->rank[0]].exec, c->send[f->place].handle, now);
	}
	wf_job_host_plan(s->host);
}

static void sock_acked(void *arg, struct wf_tcp_sock *tcp, uint64_t bytes, wf_time now)
{
	(void)arg;
	(void)tcp;
	(void)bytes;
	(void)now;
}

static const struct wf_tcp_user sock_user = {
	.came = sock_came,
	.written = sock_written,
	.acked = sock_acked,
};

static int open_sock(struct wf_job_app *job, const struct wf_fabric *fabric, struct job_conn *c,
                     uint32_t i, uint64_t key)
{
	struct job_sock *from = &c->sock[0][i], *to = &c->sock[1][i];
	struct wf_tcp_pair pair = {
		.cls = (uint8_t)job->net.cls,
		.key = KEY_JOB + key,
		.user = &sock_user,
		.from_arg = from,
		.to_arg = to,
	};

	*from = (struct job_sock){ .conn = c, .host = job_host_of(job, c->rank[0]), .peer = to };
	*to = (struct job_sock){ .conn = c, .host = job_host_of(job, c->rank[1]), .peer = from };
	pair.from = from->host->adapter;
	pair.to = to->host->adapter;
	return wf_tcp_pair_open(fabric, &pair, &from->tcp, &to->tcp);
}

int wf_job_tcp_start(struct wf_job_app *job, const struct wf_fabric *fabric)
{
	struct job_sock *next;
	int ret = 0;

	job->socks = job->mem->alloc(job->mem, (2 * (size_t)job->n_qps + 1) * sizeof(*next));
	if (job->socks == NULL)
		return -ENOMEM;
	next = job->socks;
	for (uint32_t i = 0; i < job->n_conns && ret == 0; i++) {
		struct job_conn *c = &job->conns[i];

		c->sock[0] = next;
		c->sock[1] = next + c->qps;
		for (uint32_t q = 0; q < c->qps && ret == 0; q++)
			ret = open_sock(job, fabric, c, q, (uint64_t)(next - job->socks) + q);
		next += 2 * (size_t)c->qps;
	}
	return ret;
}
