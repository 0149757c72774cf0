/* SPDX-License-Identifier: Apache-2.0 */
/*
 * train_stage.c - what the ranks of one pipeline stage do in a training step.
 *
 * The compute lane is written as if it were a program: calculations add up until something has to
 * wait for them or they have to wait for something, which makes them an item.
 */
#include <assert.h>
#include <errno.h>

#include "job/train_priv.h"

/* Gradients that have not been reduced yet, or parameters that have not been gathered. */
struct bucket {
	uint64_t bytes;
	enum train_comm comm;
};

struct stage {
	const struct train *t;
	uint32_t number;
	uint32_t chunks, layers; /* of the stage; of a chunk */
	struct train_weights weights;

	/* the calculation that is being added up */
	wf_time time;
	enum wf_train_kind kind;
	uint32_t n_needs;
	struct wf_item_dep need[WF_ITEM_DEPS];

	struct wf_item_dep last; /* the last item of the compute lane */
	bool has_last;
	struct wf_item_dep reduced; /* the last item of the data-parallel lane */
	bool has_reduced;
	struct bucket dense, experts;
	int ret; /* the first error; nothing is written after it */
};

static const char *const coll_names[WF_TRAIN_KINDS][WF_COLL_KINDS] = {
	[WF_TRAIN_TP] = { [WF_COLL_ALL_REDUCE] = "tp all-reduce",
	                  [WF_COLL_REDUCE_SCATTER] = "tp reduce-scatter",
	                  [WF_COLL_ALL_GATHER] = "tp all-gather" },
	[WF_TRAIN_EP] = { [WF_COLL_ALL_TO_ALL] = "ep all-to-all" },
	[WF_TRAIN_DP] = { [WF_COLL_ALL_REDUCE] = "dp all-reduce",
	                  [WF_COLL_REDUCE_SCATTER] = "dp reduce-scatter",
	                  [WF_COLL_ALL_GATHER] = "dp all-gather" },
	[WF_TRAIN_PP] = { [WF_COLL_ALL_REDUCE] = "tied embedding all-reduce" },
};

static void add(struct stage *s, uint32_t lane, struct wf_step *step, enum wf_train_kind kind,
                const char *name, struct wf_item_dep *dep_p)
{
	struct wf_coll coll = { 0 };

	if (s->ret != 0)
		return;
	if (step->kind == WF_ITEM_COLL) {
		coll.kind = (uint8_t)step->coll;
		coll.bytes = step->bytes;
		coll.comm.n = s->t->comm_n[step->comm];
	}
	s->ret = wf_script_group(s->t->script, name, wf_train_kind_name(kind),
	                         step->kind == WF_ITEM_COLL ? &coll : NULL, &step->group);
	if (s->ret == 0)
		s->ret = wf_script_add(s->t->script, s->number, lane, step, dep_p);
}

/* ---- computing ---- */

/* Makes an item of what was added up, if anything was. */
static void flush(struct stage *s)
{
	bool works = s->time > 0;
	struct wf_step step = { .kind = works ? WF_ITEM_CALC : WF_ITEM_WAIT,
		                .group = WF_GROUP_NONE,
		                .time = s->time,
		                .n_deps = s->n_needs };

	if (!works && s->n_needs == 0)
		return;
	for (uint32_t i = 0; i < s->n_needs; i++)
		step.dep[i] = s->need[i];
	if (works)
		add(s, LANE_COMPUTE, &step, s->kind, wf_train_kind_name(s->kind), &s->last);
	else if (s->ret == 0)
		s->ret = wf_script_add(s->t->script, s->number, LANE_COMPUTE, &step, &s->last);
	s->has_last = true;
	s->time = 0;
	s->n_needs = 0;
}

/* The next calculation waits for dep. */
static void need(struct stage *s, struct wf_item_dep dep)
{
	if (s->time > 0 || s->n_needs == WF_ITEM_DEPS)
		flush(s);
	s->need[s->n_needs++] = dep;
}

static void calc(struct stage *s, enum wf_train_kind kind, wf_time time)
{
	if (s->time > 0 && s->kind != kind)
		flush(s);
	s->kind = kind;
	s->time += time;
}

/* Makes step wait for all that was computed up to now. */
static void after_compute(struct stage *s, struct wf_step *step)
{
	flush(s);
	if (s->has_last)
		step->dep[step->n_deps++] = s->last;
}

/* A collective after what was computed up to now; false when there is nobody to have it with. */
static bool collective(struct stage *s, uint32_t lane, enum wf_train_kind kind,
                       enum wf_coll_kind coll, enum train_comm comm, uint64_t bytes,
                       struct wf_item_dep *dep_p)
{
	struct wf_step step = {
		.kind = WF_ITEM_COLL, .coll = coll, .comm = (uint32_t)comm, .bytes = bytes
	};

	if (s->t->comm_n[comm] == 1 || bytes == 0)
		return false;
	after_compute(s, &step);
	add(s, lane, &step, kind, coll_names[kind][coll], dep_p);
	return true;
}

/* A collective that the next calculation waits for. */
static void blocking(struct stage *s, uint32_t lane, enum wf_train_kind kind,
                     enum wf_coll_kind coll, enum train_comm comm, uint64_t bytes)
{
	struct wf_item_dep dep = { 0 };

	if (collective(s, lane, kind, coll, comm, bytes, &dep))
		need(s, dep);
}

/* ---- layers ---- */

/* Half a layer between what tensor parallelism needs before and after it. */
static void half_layer(struct stage *s, enum wf_train_kind kind, wf_time time)
{
	uint64_t bytes = s->t->cost.activation;

	if (s->t->cfg->sequence_parallel)
		blocking(s, LANE_TP, WF_TRAIN_TP, WF_COLL_ALL_GATHER, COMM_TP, bytes);
	calc(s, kind, time);
	blocking(s, LANE_TP, WF_TRAIN_TP,
	         s->t->cfg->sequence_parallel ? WF_COLL_REDUCE_SCATTER : WF_COLL_ALL_REDUCE,
	         COMM_TP, bytes);
}

/* The feed-forward half, with its way to the experts and back. */
static void ffn_half(struct stage *s, enum wf_train_kind kind, wf_time time)
{
	blocking(s, LANE_EP, WF_TRAIN_EP, WF_COLL_ALL_TO_ALL, COMM_EP, s->t->cost.dispatch);
	half_layer(s, kind, time);
	blocking(s, LANE_EP, WF_TRAIN_EP, WF_COLL_ALL_TO_ALL, COMM_EP, s->t->cost.dispatch);
}

static void forward_layer(struct stage *s, enum wf_train_kind kind)
{
	half_layer(s, kind, s->t->cost.attention);
	ffn_half(s, kind, s->t->cost.ffn);
}

static void backward_layer(struct stage *s)
{
	if (s->t->cfg->recompute)
		forward_layer(s, WF_TRAIN_BACKWARD);
	ffn_half(s, WF_TRAIN_BACKWARD, 2 * s->t->cost.ffn);
	half_layer(s, WF_TRAIN_BACKWARD, 2 * s->t->cost.attention);
}

/* ---- gradients and parameters ---- */

/* Adds to a bucket and, at its limit, has the collective; whether it had. */
static bool collect(struct stage *s, enum wf_coll_kind coll, struct bucket *bucket, uint64_t bytes,
                    uint64_t limit)
{
	uint64_t all = bucket->bytes + bytes;

	bucket->bytes = all < limit ? all : 0;
	if (all < limit || !collective(s, LANE_DP, WF_TRAIN_DP, coll, bucket->comm,
	                               train_scale_bytes(s->t, all), &s->reduced))
		return false;
	s->has_reduced = true;
	return true;
}

/* Gradients of so many parameters are there; with a limit of 0, what was collected goes too. */
static void reduce(struct stage *s, uint64_t dense, uint64_t experts, uint64_t limit)
{
	enum wf_coll_kind coll = s->t->cfg->sharded ? WF_COLL_REDUCE_SCATTER : WF_COLL_ALL_REDUCE;

	(void)collect(s, coll, &s->dense, dense * s->t->cfg->gradient, limit);
	(void)collect(s, coll, &s->experts, experts * s->t->cfg->gradient, limit);
}

/*
 * Gathers parameters of the whole stage, bucket by bucket in the order of the first forward passes;
 * of_layer gets what each layer has to wait for. Of its two buckets that is the one gathered later.
 */
static void gather(struct stage *s, struct wf_item_dep *of_layer)
{
	const struct wf_train_cfg *cfg = s->t->cfg;
	uint64_t limit = cfg->bucket * cfg->precision / cfg->gradient;
	uint32_t n = s->chunks * s->layers, first_dense = 0, first_experts = 0;

	for (uint32_t l = 0; l < n; l++) {
		uint64_t dense = s->weights.layer_dense + (l == 0 ? s->weights.first : 0) +
		                 (l == n - 1 ? s->weights.last : 0);
		uint64_t now = l == n - 1 ? 0 : limit;

		if (collect(s, WF_COLL_ALL_GATHER, &s->dense, dense * cfg->precision, now)) {
			while (first_dense <= l)
				of_layer[first_dense++] = s->reduced;
		}
		if (collect(s, WF_COLL_ALL_GATHER, &s->experts,
		            s->weights.layer_experts * cfg->precision, now)) {
			while (first_experts <= l)
				of_layer[first_experts++] = s->reduced;
		}
	}
}

/* ---- passes ---- */

/*
 * Colours of stages: neighbours in the ring of stages differ, so nobody sends and receives on a
 * lane.
 */
static uint32_t colour(const struct stage *s, uint32_t stage)
{
	uint32_t pp = s->t->cfg->pp;

	return pp % 2 == 1 && stage == pp - 1 ? 2 : stage % 2;
}

/* A message with the stage before (step -1) or after (+1) this one in the ring of stages. */
static void message(struct stage *s, enum wf_item_kind kind, int step, bool gradient, uint32_t tag,
                    struct wf_item_dep *dep_p)
{
	uint32_t pp = s->t->cfg->pp;
	uint32_t other = (s->number + pp + (uint32_t)step) % pp;
	uint32_t from = kind == WF_ITEM_SEND ? s->number : other;
	struct wf_step item = { .kind = kind,
		                .bytes = s->t->cost.boundary,
		                .delta = ((int64_t)other - s->number) * s->t->cfg->tp * s->t->dp,
		                .tag = tag };

	if (kind == WF_ITEM_SEND)
		after_compute(s, &item);
	add(s, LANE_PP + (gradient ? 3 : 0) + colour(s, from), &item, WF_TRAIN_PP,
	    gradient ? "gradients" : "activations", dep_p);
}

/* Which chunk and micro-batch the k-th forward or backward pass is. */
static void pass_of(const struct stage *s, uint32_t k, bool backward, uint32_t *chunk_p,
                    uint32_t *batch_p)
{
	uint32_t pp = s->t->cfg->pp;
	uint32_t in_round = k % (pp * s->chunks);
	uint32_t chunk = in_round / pp;

	if (s->chunks == 1) {
		*chunk_p = 0;
		*batch_p = k;
		return;
	}
	*chunk_p = backward ? s->chunks - 1 - chunk : chunk;
	*batch_p = k / (pp * s->chunks) * pp + in_round % pp;
}

static void forward_pass(struct stage *s, uint32_t k, const struct wf_item_dep *gathered)
{
	uint32_t pp = s->t->cfg->pp, chunk, batch;
	struct wf_item_dep dep = { 0 };
	bool first, last;

	pass_of(s, k, false, &chunk, &batch);
	first = s->number == 0 && chunk == 0;
	last = s->number == pp - 1 && chunk == s->chunks - 1;
	if (!first) {
		message(s, WF_ITEM_RECV, -1, false, batch * s->chunks + chunk, &dep);
		need(s, dep);
	}
	for (uint32_t l = 0; l < s->layers; l++) {
		const struct wf_item_dep *of =
			batch == 0 && gathered != NULL ? &gathered[chunk * s->layers + l] : NULL;

		if (of != NULL && (l == 0 || of[0].number != of[-1].number))
			need(s, *of);
		forward_layer(s, WF_TRAIN_FORWARD);
	}
	if (last)
		calc(s, WF_TRAIN_FORWARD, s->t->cost.head);
	else
		message(s, WF_ITEM_SEND, 1, false,
		        batch * s->chunks + chunk + (s->number == pp - 1), NULL);
}

static void backward_pass(struct stage *s, uint32_t k)
{
	uint32_t pp = s->t->cfg->pp, chunk, batch;
	struct wf_item_dep dep = { 0 };
	bool first, last, reduces;

	pass_of(s, k, true, &chunk, &batch);
	first = s->number == 0 && chunk == 0;
	last = s->number == pp - 1 && chunk == s->chunks - 1;
	reduces = batch == s->t->m - 1 && s->t->cfg->overlap;
	if (!last) {
		message(s, WF_ITEM_RECV, 1, true, batch * s->chunks + chunk, &dep);
		need(s, dep);
	} else {
		calc(s, WF_TRAIN_BACKWARD, 2 * s->t->cost.head);
		if (reduces)
			reduce(s, s->weights.last, 0, s->t->cfg->bucket);
	}
	for (uint32_t l = 0; l < s->layers; l++) {
		backward_layer(s);
		if (reduces)
			reduce(s, s->weights.layer_dense, s->weights.layer_experts,
			       s->t->cfg->bucket);
	}
	if (!first)
		message(s, WF_ITEM_SEND, -1, true, batch * s->chunks + chunk - (s->number == 0),
		        NULL);
}

/*
 * All passes, one forward and one backward in turn, after some forward ones that fill the pipeline.
 */
static void passes(struct stage *s, const struct wf_item_dep *gathered)
{
	uint32_t pp = s->t->cfg->pp, total = s->t->m * s->chunks;
	uint32_t behind = pp - 1 - s->number;
	uint32_t fill = s->chunks == 1 ? behind : 2 * behind + (s->chunks - 1) * pp;

	/* Megatron-LM: with as many micro-batches as stages, all forward passes come first. */
	if (fill > total || (s->chunks > 1 && s->t->m == pp))
		fill = total;
	for (uint32_t k = 0; k < fill; k++)
		forward_pass(s, k, gathered);
	for (uint32_t k = fill; k < total; k++) {
		forward_pass(s, k, gathered);
		backward_pass(s, k - fill);
	}
	for (uint32_t k = total - fill; k < total; k++)
		backward_pass(s, k);
}

/*
 * What is left of the gradients, the embedding that first and last stage share, and the optimizer.
 */
static void finish(struct stage *s)
{
	const struct wf_train_cfg *cfg = s->t->cfg;
	uint64_t layers = (uint64_t)s->chunks * s->layers;
	uint64_t dense = layers * s->weights.layer_dense + s->weights.first + s->weights.last;
	uint64_t experts = layers * s->weights.layer_experts;
	uint64_t shared = s->t->model->tied && (s->number == 0 || s->number == cfg->pp - 1)
	                          ? s->t->size.embedding / cfg->tp * cfg->gradient
	                          : 0;

	if (cfg->overlap)
		reduce(s, s->weights.first, 0, 0);
	else
		reduce(s, dense, experts, 0);
	if (collective(s, LANE_DP, WF_TRAIN_PP, WF_COLL_ALL_REDUCE, COMM_ENDS,
	               train_scale_bytes(s->t, shared), &s->reduced))
		s->has_reduced = true;
	if (s->has_reduced)
		need(s, s->reduced);
	if (cfg->sharded) {
		dense = (dense + s->t->dp - 1) / s->t->dp;
		experts = (experts + s->t->dp / cfg->ep - 1) / (s->t->dp / cfg->ep);
	}
	calc(s, WF_TRAIN_OPTIMIZER,
	     train_scale_time(s->t, wf_gpu_memory_time(s->t->gpu,
	                                               (dense + experts) * cfg->optimizer_bytes)));
	flush(s);
}

int train_write_stage(const struct train *t, uint32_t stage)
{
	struct stage s = { .t = t,
		           .number = stage,
		           .chunks = t->cfg->interleave,
		           .layers = t->model->layers / t->cfg->pp / t->cfg->interleave,
		           .weights = train_weights(t),
		           .dense = { .comm = COMM_DP },
		           .experts = { .comm = COMM_EXPERT_DP } };
	struct wf_item_dep *gathered = NULL;

	if (stage != 0)
		s.weights.first = 0;
	if (stage != t->cfg->pp - 1)
		s.weights.last = 0;
	if (t->cfg->sharded && t->dp > 1) {
		uint32_t n = s.chunks * s.layers;

		gathered = wf_script_keep(t->script, n * sizeof(*gathered));
		if (gathered == NULL)
			return -ENOMEM;
		gather(&s, gathered);
		for (uint32_t l = 0; !t->cfg->overlap && l < n; l++)
			gathered[l] = s.reduced;
		s.has_reduced = false;
	}
	passes(&s, gathered);
	finish(&s);
	return s.ret;
}
