/* SPDX-License-Identifier: Apache-2.0 */
/*
 * train_memory.c - what a training step needs of a GPU's memory, at least.
 *
 * Weights, gradients and the optimizer's state as Megatron-LM keeps them: precision, gradient and
 * 12 bytes (a copy, two moments, 4 bytes each) for each parameter, the last over the data-parallel
 * ranks when it is sharded. Activations as Korthikanti et al. count them (arXiv 2205.05198): what
 * backward passes of a layer need, times the passes that 1F1B keeps in flight. Left out is what can
 * be made again from it at little cost (outputs of norms and of activation functions, dropout
 * masks) and attention's scores, which fused kernels never write: this is a lower bound, for
 * refusing what cannot be.
 */
#include <errno.h>
#include <inttypes.h>

#include "job/train_priv.h"

#define STATE_BYTES 12 /* of the optimizer for a parameter */
#define LOGIT_BYTES 4
#define GB 1e9

/* How a step is spread; tried out for what would fit. */
struct shape {
	uint32_t tp, pp, interleave, dp, m;
	bool sharded, recompute, sequence_parallel;
};

static uint64_t kv_width(const struct wf_model_cfg *m)
{
	uint64_t head = m->head_dim != 0 ? m->head_dim : m->hidden / m->heads;

	return head * (m->heads + 2 * (uint64_t)(m->kv_heads != 0 ? m->kv_heads : m->heads));
}

/*
 * Bytes of a token in a layer: the residual stream at both norms, and what is behind the products.
 */
static uint64_t layer_bytes(const struct train *t, const struct shape *x)
{
	const struct wf_model_cfg *m = t->model;
	uint64_t stream = 2 * (uint64_t)m->hidden;
	uint64_t split = kv_width(m) + m->hidden + (uint64_t)m->top_k * (m->gated ? 2 : 1) * m->ffn;

	return (stream / (x->sequence_parallel ? x->tp : 1) + split / x->tp) * t->cfg->precision;
}

/* Passes, each of a chunk of layers, whose activations a stage keeps at once. */
static uint64_t in_flight(const struct shape *x, uint32_t stage)
{
	uint64_t total = (uint64_t)x->m * x->interleave, behind = x->pp - 1 - stage;
	uint64_t fill =
		x->interleave == 1 ? behind : 2 * behind + (uint64_t)(x->interleave - 1) * x->pp;

	return fill + 1 < total ? fill + 1 : total;
}

static uint64_t activations(const struct train *t, const struct shape *x, uint32_t stage)
{
	uint64_t tokens = (uint64_t)t->cfg->micro_batch * t->model->sequence;
	uint64_t layers = t->model->layers / x->pp / x->interleave * in_flight(x, stage);
	uint64_t bytes = layer_bytes(t, x) * tokens;
	uint64_t input = (uint64_t)t->model->hidden * t->cfg->precision * tokens /
	                 (x->sequence_parallel ? x->tp : 1);
	uint64_t head = stage == x->pp - 1
	                        ? (uint64_t)t->model->vocabulary * LOGIT_BYTES * tokens / x->tp
	                        : 0;

	/* Recomputing keeps every layer's input, and all of the one that is being done again. */
	return (x->recompute ? layers * input + bytes : layers * bytes) + head;
}

static uint64_t parameters(const struct train *t, const struct shape *x, uint32_t stage,
                           uint64_t *experts_p)
{
	const struct wf_model_size *size = &t->size;
	uint64_t layers = t->model->layers / x->pp;
	uint64_t dense = layers * (size->attention + size->router), experts = 0;

	if (t->model->experts == 1)
		dense += layers * size->expert;
	else
		experts = layers * (t->model->experts / t->cfg->ep) * size->expert;
	dense += stage == 0 ? size->embedding : 0;
	dense += stage == x->pp - 1 ? size->head : 0;
	dense += stage == x->pp - 1 && stage != 0 && t->model->tied ? size->embedding : 0;
	*experts_p = experts / x->tp;
	return dense / x->tp;
}

static struct wf_train_memory memory_of(const struct train *t, const struct shape *x,
                                        uint32_t stage)
{
	uint64_t experts, dense = parameters(t, x, stage, &experts);
	uint64_t state = dense / (x->sharded ? x->dp : 1);
	uint64_t copies = x->dp / t->cfg->ep;
	struct wf_train_memory m = { .stage = stage };

	state += experts / (x->sharded && copies > 0 ? copies : 1);
	m.weights = (dense + experts) * (t->cfg->precision + (uint64_t)t->cfg->gradient);
	m.state = state * STATE_BYTES;
	m.activations = activations(t, x, stage);
	m.total = m.weights + m.state + m.activations;
	return m;
}

/* Of the stage that needs most: the first has most in flight, the last the output layer. */
static struct wf_train_memory most(const struct train *t, const struct shape *x)
{
	struct wf_train_memory first = memory_of(t, x, 0), last = memory_of(t, x, x->pp - 1);

	return last.total > first.total ? last : first;
}

/* Whether the ranks can be spread so, and then fit. */
static bool fits(const struct train *t, struct shape *x, uint64_t ranks)
{
	uint64_t batches = (uint64_t)t->dp * t->m;

	if (t->model->heads % x->tp != 0 || t->model->layers % x->pp != 0 ||
	    ranks % ((uint64_t)x->tp * x->pp) != 0)
		return false;
	x->dp = (uint32_t)(ranks / x->tp / x->pp);
	if (x->dp % t->cfg->ep != 0)
		return false;
	/* The same batch in all, so fewer replicas have more micro-batches each. */
	x->m = (uint32_t)(batches > x->dp ? batches / x->dp : 1);
	return most(t, x).total <= t->gpu->capacity;
}

/* Finds what would fit, nearest to what was asked for; false: nothing of that kind does. */
static bool find(const struct train *t, const struct wf_cluster *cluster, const struct shape *asked,
                 struct shape *x)
{
	for (unsigned way = 0; way < 4; way++) {
		bool recompute = asked->recompute || way % 2 == 1;

		/* First tensor parallelism inside a server, then stages. */
		for (uint32_t pp = asked->pp; pp <= t->model->layers; pp++) {
			for (uint32_t tp = asked->tp; tp <= wf_max_u64(cluster->gpus, asked->tp);
			     tp *= 2) {
				*x = (struct shape){ .tp = tp,
					             .pp = pp,
					             .interleave = 1,
					             .sharded = true,
					             .recompute = recompute,
					             .sequence_parallel = true };
				if ((way >= 2 || pp == asked->pp) && fits(t, x, cluster->n_ranks))
					return true;
			}
		}
	}
	return false;
}

int train_check_memory(const struct train *t, const struct wf_cluster *cluster,
                       struct wf_train_memory *memory, struct wf_err *err)
{
	const struct wf_train_cfg *cfg = t->cfg;
	struct shape x = { .tp = cfg->tp,
		           .pp = cfg->pp,
		           .interleave = cfg->interleave,
		           .dp = t->dp,
		           .m = t->m,
		           .sharded = cfg->sharded,
		           .recompute = cfg->recompute,
		           .sequence_parallel = cfg->sequence_parallel },
		     other;
	struct wf_err would = { "" };
	uint32_t micro = cfg->micro_batch;

	*memory = most(t, &x);
	if (!cfg->memory_check || t->gpu->capacity == 0 || memory->total <= t->gpu->capacity)
		return 0;
	if (find(t, cluster, &x, &other))
		(void)wf_err_say(&would, "tp %" PRIu32 ", pp %" PRIu32 "%s%s would fit (%.1f GB)",
		                 other.tp, other.pp, other.sharded && !x.sharded ? ", sharded" : "",
		                 other.recompute && !x.recompute ? ", recompute" : "",
		                 (double)most(t, &other).total / GB);
	else
		(void)wf_err_say(&would, "no tp and pp of these GPUs would fit");
	return wf_err_say(err,
	                  "memory_check: a GPU of stage %" PRIu32
	                  " would need %.1f GB at least (weights and gradients %.1f, optimizer "
	                  "%.1f, activations %.1f with micro_batch %" PRIu32
	                  ") and has %.1f; %s; false runs it all the same",
	                  memory->stage, (double)memory->total / GB, (double)memory->weights / GB,
	                  (double)memory->state / GB, (double)memory->activations / GB, micro,
	                  (double)t->gpu->capacity / GB, would.text);
}
