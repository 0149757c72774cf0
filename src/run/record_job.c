/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_job.c - timelines, collectives and messages of a job.
 */
#include "run/record_job.h"

#include <stdlib.h>
#include <string.h>

#define COLLECTIVE_ROWS                                                                            \
	200000             /* of ranks in collectives; with more, only of ranks with timelines */
#define MESSAGE_ROWS 20000 /* of all ranks together, about */
#define MIN_MESSAGES 8     /* of a rank */
#define MAX_STREAMS 64     /* of communication */
#define MAX_SIZES 64       /* kinds and sizes of collectives with a bandwidth of their own */

/* Something a rank did. */
struct span {
	wf_time begin, end; /* end: WF_TIME_NEVER = not over */
	uint32_t group;     /* or WF_GROUP_NONE */
	uint32_t stream;    /* 0: compute */
};

struct message {
	wf_time posted, done;
	uint64_t bytes;
	uint32_t src;
	bool net;
};

/* Of one rank; only the thread that runs it touches this. */
struct rank {
	struct span *spans; /* in the order of their beginning, but for compute: of their end */
	size_t n, room;
	size_t written;   /* all before are in the file */
	uint64_t streams; /* bit per stream of communication that is taken */
	struct message *messages;
	uint32_t n_messages;
	uint32_t one_of; /* every so manieth is kept */
	uint64_t seen;
	bool no_memory;
};

struct wf_record_job {
	const struct wf_schedule *schedule;
	const struct wf_cluster *cluster;
	struct wf_job_observer observer;
	uint32_t stride;       /* every so manieth rank has a timeline */
	uint32_t max_messages; /* that a rank keeps */
	bool all_ranks;        /* all take part in collective_rank */
	struct rank *ranks;
};

static bool has_timeline(const struct wf_record_job *rj, uint32_t rank)
{
	return rank % rj->stride == 0;
}

static struct span *add_span(struct rank *r)
{
	if (r->n == r->room) {
		size_t room = r->room == 0 ? 16 : 2 * r->room;
		struct span *more = realloc(r->spans, room * sizeof(*more));

		if (more == NULL) {
			r->no_memory = true;
			return NULL;
		}
		r->spans = more;
		r->room = room;
	}
	return &r->spans[r->n++];
}

static void on_op(void *arg, uint32_t rank, uint32_t stream, const struct wf_op *op, wf_time start,
                  wf_time end)
{
	struct wf_record_job *rj = arg;
	struct span *s;

	(void)stream;
	(void)start;
	if (op->kind != WF_OP_CALC || op->unit != WF_UNIT_COMPUTE || op->time == 0 ||
	    !has_timeline(rj, rank))
		return;
	s = add_span(&rj->ranks[rank]);
	/* It may have waited for the GPU: what it did is its time, up to its end. */
	if (s != NULL)
		*s = (struct span){ .begin = end - op->time, .end = end, .group = op->group };
}

/* What is a matter of communication: collectives, and what else moves bytes. */
static bool moves_bytes(const struct wf_record_job *rj, uint32_t group)
{
	struct wf_group g;

	rj->schedule->ops->group(rj->schedule, group, &g);
	return g.bytes != 0 || g.algorithm != NULL;
}

static void on_begin(void *arg, uint32_t rank, uint32_t group, wf_time now)
{
	struct wf_record_job *rj = arg;
	struct rank *r = &rj->ranks[rank];
	unsigned stream;
	struct span *s;

	if ((!rj->all_ranks && !has_timeline(rj, rank)) || !moves_bytes(rj, group))
		return;
	s = add_span(r);
	if (s == NULL)
		return;
	/* Those that overlap are on streams of their own. */
	stream =
		r->streams == UINT64_MAX ? MAX_STREAMS - 1 : (unsigned)__builtin_ctzll(~r->streams);
	r->streams |= UINT64_C(1) << stream;
	*s = (struct span){
		.begin = now, .end = WF_TIME_NEVER, .group = group, .stream = stream + 1
	};
}

static void on_end(void *arg, uint32_t rank, uint32_t group, wf_time now)
{
	struct wf_record_job *rj = arg;
	struct rank *r = &rj->ranks[rank];

	for (size_t i = r->n; i-- > r->written;) {
		struct span *s = &r->spans[i];

		if (s->group != group || s->end != WF_TIME_NEVER)
			continue;
		s->end = now;
		r->streams &= ~(UINT64_C(1) << (s->stream - 1));
		return;
	}
}

/* Keeps every one_of-th message; when there is no room, every second of them. */
static void on_message(void *arg, uint32_t src, uint32_t dst, uint64_t bytes, wf_time posted,
                       wf_time done, bool net)
{
	struct wf_record_job *rj = arg;
	struct rank *r = &rj->ranks[dst];

	if (r->seen++ % r->one_of != 0)
		return;
	if (r->n_messages == rj->max_messages) {
		for (uint32_t i = 0; i < r->n_messages / 2; i++)
			r->messages[i] = r->messages[2 * i];
		r->n_messages /= 2;
		r->one_of *= 2;
		if ((r->seen - 1) % r->one_of != 0)
			return;
	}
	r->messages[r->n_messages++] = (struct message){
		.posted = posted, .done = done, .bytes = bytes, .src = src, .net = net
	};
}

struct wf_record_job *wf_record_job_create(const struct wf_schedule *schedule,
                                           const struct wf_cluster *cluster)
{
	struct wf_record_job *rj = calloc(1, sizeof(*rj));
	uint32_t n = schedule->n_ranks, most = MESSAGE_ROWS / (n > 0 ? n : 1);

	if (rj == NULL)
		return NULL;
	rj->schedule = schedule;
	rj->cluster = cluster;
	rj->stride = (n + WF_RECORD_RANKS - 1) / WF_RECORD_RANKS;
	rj->stride = rj->stride == 0 ? 1 : rj->stride;
	rj->max_messages = (most < MIN_MESSAGES ? MIN_MESSAGES : most) & ~1u;
	rj->all_ranks = (uint64_t)n * schedule->n_groups <= COLLECTIVE_ROWS;
	rj->observer = (struct wf_job_observer){
		.arg = rj, .op = on_op, .message = on_message, .begin = on_begin, .end = on_end
	};
	rj->ranks = calloc(n + (size_t)1, sizeof(*rj->ranks));
	for (uint32_t i = 0; rj->ranks != NULL && i < n; i++) {
		rj->ranks[i].one_of = 1;
		rj->ranks[i].messages = malloc(rj->max_messages * sizeof(*rj->ranks[i].messages));
		if (rj->ranks[i].messages == NULL) {
			wf_record_job_destroy(rj);
			return NULL;
		}
	}
	if (rj->ranks == NULL) {
		free(rj);
		return NULL;
	}
	return rj;
}

void wf_record_job_destroy(struct wf_record_job *rj)
{
	if (rj == NULL)
		return;
	for (uint32_t i = 0; i < rj->schedule->n_ranks; i++) {
		free(rj->ranks[i].spans);
		free(rj->ranks[i].messages);
	}
	free(rj->ranks);
	free(rj);
}

const struct wf_job_observer *wf_record_job_observer(const struct wf_record_job *rj)
{
	return &rj->observer;
}

void wf_record_job_ranks(const struct wf_record_job *rj, struct wf_record_run *run,
                         const struct wf_topo *topo)
{
	for (uint32_t i = 0; i < rj->schedule->n_ranks; i++)
		wf_record_rank(run, i, topo->host_node[wf_cluster_host(rj->cluster, i)]);
}

static void put_span(const struct wf_record_job *rj, struct wf_record_run *run, uint32_t rank,
                     const struct span *s)
{
	struct wf_group g = { .name = "compute" };
	struct wf_record_span span = {
		.rank = rank,
		.stream = s->stream,
		.kind = s->stream == 0 ? "compute" : "communication",
		.begin = s->begin,
		.end = s->end,
	};

	if (s->group != WF_GROUP_NONE)
		rj->schedule->ops->group(rj->schedule, s->group, &g);
	span.name = g.name;
	if (has_timeline(rj, rank))
		wf_record_span(run, &span);
	if (s->stream != 0 && g.algorithm != NULL)
		wf_record_collective_rank(run, s->group, rank, s->begin, s->end);
}

void wf_record_job_drain(struct wf_record_job *rj, struct wf_record_run *run)
{
	for (uint32_t i = 0; i < rj->schedule->n_ranks; i++) {
		struct rank *r = &rj->ranks[i];

		for (; r->written < r->n && r->spans[r->written].end != WF_TIME_NEVER; r->written++)
			put_span(rj, run, i, &r->spans[r->written]);
	}
}

/* A rank begins or ends to compute or to communicate. */
struct edge {
	wf_time at;
	int compute, communication; /* +1, -1 */
};

static int edge_order(const void *pa, const void *pb)
{
	const struct edge *a = pa, *b = pb;

	return a->at < b->at ? -1 : a->at > b->at;
}

/* The times in which a rank communicated and did not compute. False: no memory. */
static bool put_exposed(struct wf_record_run *run, uint32_t rank, const struct rank *r, wf_time end)
{
	struct edge *edge = malloc(2 * r->n * sizeof(*edge) + 1);
	struct wf_record_span span = { .rank = rank, .kind = "exposed", .name = "exposed" };
	int compute = 0, communication = 0;
	bool open = false;

	if (edge == NULL)
		return false;
	for (size_t i = 0; i < r->n; i++) {
		const struct span *s = &r->spans[i];
		bool is_compute = s->stream == 0;

		edge[2 * i] = (struct edge){ s->begin, is_compute, !is_compute };
		edge[2 * i + 1] = (struct edge){ wf_min_time(s->end, wf_max_time(end, s->begin)),
			                         -is_compute, -!is_compute };
	}
	if (r->n > 0)
		qsort(edge, 2 * r->n, sizeof(*edge), edge_order);
	for (size_t i = 0; i < 2 * r->n; i++) {
		compute += edge[i].compute;
		communication += edge[i].communication;
		/* Of those at the same time, the last says how it goes on. */
		if ((i + 1 < 2 * r->n && edge[i + 1].at == edge[i].at) ||
		    (communication > 0 && compute == 0) == open)
			continue;
		open = !open;
		if (open) {
			span.begin = edge[i].at;
		} else {
			span.end = edge[i].at;
			wf_record_span(run, &span);
		}
	}
	free(edge);
	return true;
}

static void put_collectives(struct wf_record_run *run, const struct wf_job_result *result,
                            const struct wf_job_group *groups)
{
	for (uint32_t i = 0; i < result->n_groups; i++) {
		const struct wf_job_group *g = &groups[i];
		bool over = g->time.ranks >= g->group.ranks;
		const struct wf_record_collective c = {
			.id = i,
			.name = g->group.name,
			.kind = g->group.kind,
			.algorithm = g->group.algorithm,
			.ranks = g->group.ranks,
			.bytes = g->group.bytes,
			.begin = g->time.begin,
			.end = over ? g->time.end : WF_TIME_NEVER,
			.took = g->took,
			.algbw = (double)g->algbw,
			.busbw = (double)g->busbw,
		};

		if (g->time.begin != WF_TIME_NEVER && c.algorithm != NULL)
			wf_record_collective(run, &c);
	}
}

/* The mean of a job that is one collective again and again, as nccl-tests reports it. */
static void put_bandwidth(struct wf_record_run *run, const struct wf_job_result *result,
                          const struct wf_job_group *groups)
{
	const struct wf_group *g = result->n_groups > 0 ? &groups[0].group : NULL;
	uint64_t time = 0;
	double algbw;

	for (uint32_t i = 0; i < result->n_groups; i++) {
		const struct wf_job_group *other = &groups[i];

		if (other->algbw == 0 || other->group.bytes != g->bytes ||
		    other->group.ranks != g->ranks || strcmp(other->group.kind, g->kind) != 0)
			return;
		time += (uint64_t)other->took;
	}
	if (g == NULL || g->busbw[1] == 0 || g->algorithm == NULL)
		return;
	algbw = (double)g->bytes * result->n_groups * 1e12 / (double)time;
	wf_record_bandwidth(run, &(struct wf_record_bandwidth){
					 .collective = g->kind,
					 .algorithm = g->algorithm,
					 .ranks = g->ranks,
					 .bytes = g->bytes,
					 .time = (wf_time)(time / result->n_groups),
					 .algbw = algbw,
					 .busbw = algbw * g->busbw[0] / g->busbw[1],
				 });
}

static void put_messages(const struct wf_record_job *rj, struct wf_record_run *run)
{
	uint32_t one_of = 1;

	for (uint32_t i = 0; i < rj->schedule->n_ranks; i++) {
		const struct rank *r = &rj->ranks[i];

		one_of = r->one_of > one_of ? r->one_of : one_of;
		for (uint32_t k = 0; k < r->n_messages; k++) {
			const struct message *m = &r->messages[k];

			wf_record_message(run, m->src, i, m->bytes, m->posted, m->done, m->net);
		}
	}
	wf_record_value(run, "messages_sampled_1_of", one_of, "");
}

static void put_values(struct wf_record_run *run, const struct wf_job_result *r)
{
	const struct {
		const char *name, *unit;
		uint64_t value;
	} row[] = {
		{ "job_finished", "", r->finished },
		{ "job_end", "ps", (uint64_t)r->end },
		{ "job_messages", "", r->messages[1] },
		{ "job_messages_nvlink", "", r->messages[0] },
		{ "job_bytes", "bytes", r->bytes[1] },
		{ "job_bytes_nvlink", "bytes", r->bytes[0] },
		{ "job_busy_mean", "ps", (uint64_t)r->busy_mean },
		{ "job_exposed_mean", "ps", (uint64_t)r->exposed_mean },
		{ "job_exposed_max", "ps", (uint64_t)r->exposed_max },
		{ "job_errors", "", r->errors },
		{ "job_connections", "", r->n_connections },
		{ "job_queue_pairs", "", r->n_queue_pairs },
	};

	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++)
		wf_record_value(run, row[i].name, row[i].value, row[i].unit);
	for (int net = 0; net < 2; net++) {
		if (r->latency[net].n > 0)
			wf_record_hist(run, net ? "message" : "nvlink message", &r->latency[net]);
	}
	if (r->latency[1].n > 0) {
		wf_record_value(run, "message_latency_p50", wf_hist_quantile(&r->latency[1], 500),
		                "ps");
		wf_record_value(run, "message_latency_p99", wf_hist_quantile(&r->latency[1], 990),
		                "ps");
		wf_record_value(run, "message_latency_p999", wf_hist_quantile(&r->latency[1], 999),
		                "ps");
		wf_record_value(run, "message_latency_max", r->latency[1].max, "ps");
	}
}

void wf_record_job_end(struct wf_record_job *rj, struct wf_record_run *run,
                       const struct wf_job_result *result, const struct wf_job_group *groups,
                       bool curve)
{
	bool no_memory = false;

	for (uint32_t i = 0; i < rj->schedule->n_ranks; i++) {
		struct rank *r = &rj->ranks[i];

		/* What did not end goes as far as the run did. */
		for (; r->written < r->n; r->written++) {
			struct span s = r->spans[r->written];

			s.end = wf_min_time(s.end, wf_max_time(result->end, s.begin));
			put_span(rj, run, i, &s);
		}
		no_memory |= r->no_memory;
		if (has_timeline(rj, i))
			no_memory |= !put_exposed(run, i, r, result->end);
	}
	if (no_memory)
		wf_record_note(run, "warning", NULL,
		               "there was no memory for all of the timelines");
	put_collectives(run, result, groups);
	if (curve)
		put_bandwidth(run, result, groups);
	put_messages(rj, run);
	put_values(run, result);
}
