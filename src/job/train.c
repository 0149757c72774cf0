/* SPDX-License-Identifier: Apache-2.0 */
/*
 * train.c - one step of training: its parameters, what it costs, what can be said of it before it
 * runs.
 */
#include "job/train.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>

#include "job/train_priv.h"

#define MAX_TAGS (UINT32_C(1) << 20)
#define MAX_STEPS 20000000 /* items of a plan, roughly; a gigabyte and a half */

#define FIELD(f) WF_PARAM_FIELD(struct wf_train_cfg, f)
#define COUNT(text, low, high, value, line)                                                        \
	{                                                                                          \
		.name = #text, .kind = WF_PARAM_U32, FIELD(text), .min = (low), .max = (high),     \
		.def = (value), .help = (line)                                                     \
	}
#define FLAG(text, value, line)                                                                    \
	{                                                                                          \
		.name = #text, .kind = WF_PARAM_BOOL, FIELD(text), .def = (value), .help = (line)  \
	}

const struct wf_param wf_train_params[] = {
	COUNT(tp, 1, 1 << 16, "1", "tensor parallel ranks"),
	COUNT(pp, 1, 1 << 16, "1", "pipeline stages"),
	COUNT(dp, 0, 1 << 20, "0", "data parallel replicas; 0 = what the GPUs leave"),
	COUNT(ep, 1, 1 << 16, "1", "data parallel ranks that share the experts"),
	COUNT(interleave, 1, 1 << 10, "1", "chunks of layers of a stage (virtual pipeline)"),
	COUNT(micro_batch, 1, 1 << 16, "1", "sequences of a micro-batch"),
	COUNT(micro_batches, 0, 1 << 16, "0", "of a replica in a step; 0 = from global_batch"),
	COUNT(global_batch, 0, 1 << 24, "0", "sequences of a step; 0 = from micro_batches"),
	FLAG(sequence_parallel, "true",
	     "tensor parallel ranks gather and reduce-scatter instead of all-reduce"),
	FLAG(recompute, "false", "compute forward again before each backward pass"),
	FLAG(sharded, "true", "shard the optimizer (ZeRO-1): reduce-scatter and all-gather"),
	FLAG(overlap, "true", "reduce gradients and gather parameters while computing"),
	COUNT(precision, 1, 8, "2", "bytes of a weight and of an activation"),
	COUNT(gradient, 1, 8, "4", "bytes of a gradient when it is reduced"),
	{ .name = "bucket",
	  .kind = WF_PARAM_BYTES,
	  FIELD(bucket),
	  .min = 1,
	  .max = INT64_C(1) << 40,
	  .def = "160MB",
	  .help = "gradients that are reduced together (Megatron-LM: 40M of 4 bytes; DDP: 25MB)" },
	COUNT(optimizer_bytes, 0, 1000, "30",
	      "bytes through the GPU's memory for each parameter updated (Adam, mixed precision: "
	      "30)"),
	FLAG(memory_check, "true",
	     "refuse a job whose weights, gradients, optimizer and activations do not fit the GPU"),
	{ .name = "scale",
	  .kind = WF_PARAM_RATIO,
	  FIELD(scale),
	  .min = 1,
	  .max = WF_RATIO_ONE,
	  .def = "1",
	  .help = "all bytes and all computing times by this factor, for a shorter simulation" },
	{ .name = "scale_error",
	  .kind = WF_PARAM_RATIO,
	  FIELD(scale_error),
	  .max = 1000 * (int64_t)WF_RATIO_ONE,
	  .def = "0.5%",
	  .help = "a scale is refused at which the fabric's delays, which are not scaled, could "
	          "lengthen computing by more than this" },
};
const size_t wf_train_n_params = WF_ARRAY_SIZE(wf_train_params);

static const char *const kind_names[] = {
	[WF_TRAIN_FORWARD] = "forward",
	[WF_TRAIN_BACKWARD] = "backward",
	[WF_TRAIN_OPTIMIZER] = "optimizer",
	[WF_TRAIN_TP] = "tp",
	[WF_TRAIN_PP] = "pp",
	[WF_TRAIN_EP] = "ep",
	[WF_TRAIN_DP] = "dp",
};
_Static_assert(WF_ARRAY_SIZE(kind_names) == WF_TRAIN_KINDS, "a name for every kind");

const char *wf_train_kind_name(enum wf_train_kind kind)
{
	return kind_names[kind];
}

/* ---- checking ---- */

static int check_ranks(struct train *t, uint32_t n_ranks, struct wf_err *err)
{
	const struct wf_train_cfg *cfg = t->cfg;
	uint64_t model = (uint64_t)cfg->tp * cfg->pp;

	if (n_ranks % model != 0)
		return wf_err_say(err,
		                  "tp: %" PRIu32 " * pp %" PRIu32 " do not divide %" PRIu32 " GPUs",
		                  cfg->tp, cfg->pp, n_ranks);
	t->dp = (uint32_t)(n_ranks / model);
	if (cfg->dp != 0 && cfg->dp != t->dp)
		return wf_err_say(err,
		                  "dp: %" PRIu32 " replicas of tp %" PRIu32 " * pp %" PRIu32
		                  " are not %" PRIu32 " GPUs; %" PRIu32 " are",
		                  cfg->dp, cfg->tp, cfg->pp, n_ranks, t->dp);
	if (t->dp % cfg->ep != 0)
		return wf_err_say(err, "ep: %" PRIu32 " does not divide dp %" PRIu32, cfg->ep,
		                  t->dp);
	if (t->model->experts % cfg->ep != 0)
		return wf_err_say(err,
		                  "ep: %" PRIu32 " does not divide the model's %" PRIu32 " experts",
		                  cfg->ep, t->model->experts);
	if (t->model->heads % cfg->tp != 0)
		return wf_err_say(err,
		                  "tp: %" PRIu32 " does not divide the model's %" PRIu32 " heads",
		                  cfg->tp, t->model->heads);
	return 0;
}

static int check_batches(struct train *t, struct wf_err *err)
{
	const struct wf_train_cfg *cfg = t->cfg;
	uint64_t of_replicas = (uint64_t)t->dp * cfg->micro_batch;

	assert(of_replicas > 0);
	if (cfg->micro_batches == 0 && cfg->global_batch % of_replicas != 0)
		return wf_err_say(err,
		                  "global_batch: %" PRIu32 " is no multiple of dp %" PRIu32
		                  " * micro_batch %" PRIu32,
		                  cfg->global_batch, t->dp, cfg->micro_batch);
	t->m = cfg->micro_batches != 0 ? cfg->micro_batches
	                               : wf_narrow_u32(cfg->global_batch / of_replicas);
	if (t->m == 0)
		t->m = cfg->pp; /* neither is set: the pipeline is full once */
	if (cfg->micro_batches != 0 && cfg->global_batch != 0 &&
	    cfg->global_batch != t->m * of_replicas)
		return wf_err_say(err,
		                  "global_batch: %" PRIu32 " is not dp %" PRIu32
		                  " * micro_batch %" PRIu32 " * micro_batches %" PRIu32
		                  "; leave one of them out",
		                  cfg->global_batch, t->dp, cfg->micro_batch, t->m);
	return 0;
}

static int check_pipeline(const struct train *t, struct wf_err *err)
{
	const struct wf_train_cfg *cfg = t->cfg;
	uint64_t chunks = (uint64_t)cfg->pp * cfg->interleave;
	uint64_t steps;

	if (t->model->layers % chunks != 0)
		return wf_err_say(
			err,
			"%s: %" PRIu64 " chunks of equal size cannot have the model's %" PRIu32
			" layers",
			cfg->interleave > 1 ? "interleave" : "pp", chunks, t->model->layers);
	if (cfg->interleave > 1 && (cfg->pp == 1 || t->m % cfg->pp != 0))
		return wf_err_say(err,
		                  "interleave: it takes pp > 1 and a multiple of pp %" PRIu32
		                  " micro-batches, not %" PRIu32,
		                  cfg->pp, t->m);
	if ((uint64_t)t->m * cfg->interleave >= MAX_TAGS)
		return wf_err_say(err,
		                  "micro_batches: %" PRIu32 " of %" PRIu32
		                  " chunks are too many; less than %" PRIu32
		                  " together are allowed",
		                  t->m, cfg->interleave, MAX_TAGS);
	/* With tensor parallelism a layer is at most 16 items, forwards and backwards. */
	steps = (uint64_t)t->m * t->model->layers * (cfg->tp > 1 || cfg->ep > 1 ? 16 : 1);
	if (steps > MAX_STEPS)
		return wf_err_say(err,
		                  "micro_batches: %" PRIu32 " of %" PRIu32
		                  " layers are too much to simulate; use fewer",
		                  t->m, t->model->layers);
	return 0;
}

/* ---- costs ---- */

wf_time train_scale_time(const struct train *t, wf_time time)
{
	unsigned __int128 scaled = (unsigned __int128)(uint64_t)time * t->cfg->scale;

	return wf_time_cap((scaled + WF_RATIO_ONE - 1) / WF_RATIO_ONE);
}

uint64_t train_scale_bytes(const struct train *t, uint64_t bytes)
{
	unsigned __int128 scaled = (unsigned __int128)bytes * t->cfg->scale;

	return (uint64_t)((scaled + WF_RATIO_ONE - 1) / WF_RATIO_ONE);
}

static uint64_t share(uint64_t whole, uint64_t of)
{
	return (whole + of - 1) / of;
}

struct train_weights train_weights(const struct train *t)
{
	const struct wf_model_size *size = &t->size;
	uint32_t tp = t->cfg->tp;
	struct train_weights w = { .first = share(size->embedding, tp) };

	w.layer_dense = size->attention + size->router;
	if (t->model->experts == 1)
		w.layer_dense += size->expert;
	else
		w.layer_experts = share(t->model->experts / t->cfg->ep * size->expert, tp);
	w.layer_dense = share(w.layer_dense, tp);
	/* The last stage has its own copy of an embedding that is also the output layer. */
	w.last = size->head;
	if (t->model->tied && t->cfg->pp > 1)
		w.last += size->embedding;
	w.last = share(w.last, tp);
	return w;
}

static wf_time compute_time(const struct train *t, uint64_t flops_of_token)
{
	unsigned __int128 flops =
		(unsigned __int128)flops_of_token * t->cfg->micro_batch * t->model->sequence;

	flops = (flops + t->cfg->tp - 1) / t->cfg->tp;
	return train_scale_time(t, wf_gpu_compute_time(t->gpu, flops));
}

static void set_costs(struct train *t)
{
	const struct wf_train_cfg *cfg = t->cfg;
	uint64_t tokens = (uint64_t)cfg->micro_batch * t->model->sequence;
	uint64_t bytes = tokens * t->model->hidden * cfg->precision;
	uint32_t parts = cfg->sequence_parallel ? cfg->tp : 1;

	t->cost.attention = compute_time(t, wf_model_attention_flops(t->model));
	t->cost.ffn = compute_time(t, wf_model_ffn_flops(t->model));
	t->cost.head = compute_time(t, wf_model_head_flops(t->model));
	t->cost.activation = train_scale_bytes(t, bytes);
	t->cost.boundary = train_scale_bytes(t, share(bytes, parts));
	t->cost.dispatch =
		cfg->ep > 1 ? train_scale_bytes(t, share(bytes * t->model->top_k, parts)) : 0;
}

static int add_comms(struct train *t)
{
	const struct wf_train_cfg *cfg = t->cfg;
	const struct {
		uint32_t n, stride;
	} comms[TRAIN_COMMS] = {
		[COMM_TP] = { cfg->tp, 1 },
		[COMM_EP] = { cfg->ep, cfg->tp },
		[COMM_DP] = { t->dp, cfg->tp },
		[COMM_EXPERT_DP] = { t->dp / cfg->ep, cfg->tp * cfg->ep },
		/* The first and the last stage; others do not use it. */
		[COMM_ENDS] = { cfg->pp > 1 ? 2 : 1,
		                cfg->pp > 1 ? (cfg->pp - 1) * cfg->tp * t->dp : 1 },
	};
	uint32_t number = 0;
	int ret = 0;

	for (unsigned i = 0; ret == 0 && i < TRAIN_COMMS; i++) {
		t->comm_n[i] = comms[i].n;
		ret = wf_script_comm(t->script, comms[i].n, comms[i].stride, NULL, &number);
		assert(ret != 0 || number == i);
	}
	return ret;
}

/* ---- the step without a network ---- */

/* When each item of each lane of each stage ends if communication takes no time. */
struct ideal {
	const struct train *t;
	wf_time **end;  /* [stage * TRAIN_LANES + lane][item] */
	uint32_t *done; /* items of each lane */
};

/* The other side of a message: its lane and place have the same number, its stage is delta away. */
static bool peer_ready(const struct ideal *ideal, uint32_t stage, uint32_t lane, uint32_t i,
                       const struct wf_step *step, wf_time *at)
{
	int64_t ranks = (int64_t)ideal->t->cfg->tp * ideal->t->dp;
	uint32_t other = (uint32_t)((int64_t)stage + step->delta / ranks);
	uint32_t peer = other * TRAIN_LANES + lane;

	if (step->kind != WF_ITEM_RECV)
		return true;
	/* Sends on a lane are received in their order, so the i-th belongs to the i-th. */
	if (ideal->done[peer] <= i)
		return false;
	*at = wf_max_time(*at, ideal->end[peer][i]);
	return true;
}

/* Ends as many items of a lane as can end; whether any did. */
static bool run_lane(struct ideal *ideal, uint32_t stage, uint32_t lane)
{
	uint32_t index = stage * TRAIN_LANES + lane, n;
	const struct wf_step *steps = wf_script_lane(ideal->t->script, stage, lane, &n);
	uint32_t before = ideal->done[index];

	for (uint32_t i = before; i < n; i++) {
		wf_time at = i > 0 ? ideal->end[index][i - 1] : 0;

		for (uint32_t d = 0; d < steps[i].n_deps; d++) {
			uint32_t of = stage * TRAIN_LANES + steps[i].dep[d].lane;

			if (ideal->done[of] <= steps[i].dep[d].number)
				return i > before;
			at = wf_max_time(at, ideal->end[of][steps[i].dep[d].number]);
		}
		if (!peer_ready(ideal, stage, lane, i, &steps[i], &at))
			return i > before;
		ideal->end[index][i] = at + (steps[i].kind == WF_ITEM_CALC ? steps[i].time : 0);
		ideal->done[index] = i + 1;
	}
	return n > before;
}

static int run_ideal(const struct train *t, struct wf_train_info *info)
{
	uint32_t n_lanes = t->cfg->pp * TRAIN_LANES;
	struct ideal ideal = { .t = t };
	struct wf_arena arena;
	bool moved = true;
	int ret = -ENOMEM;

	wf_arena_init(&arena);
	ideal.end = wf_arena_alloc(&arena, n_lanes * sizeof(*ideal.end), sizeof(void *));
	ideal.done = wf_arena_alloc(&arena, n_lanes * sizeof(*ideal.done), sizeof(*ideal.done));
	if (ideal.end == NULL || ideal.done == NULL)
		goto out;
	for (uint32_t i = 0; i < n_lanes; i++) {
		uint32_t n;

		(void)wf_script_lane(t->script, i / TRAIN_LANES, i % TRAIN_LANES, &n);
		ideal.end[i] = wf_arena_alloc(&arena, (n + 1) * sizeof(wf_time), sizeof(wf_time));
		if (ideal.end[i] == NULL)
			goto out;
	}
	while (moved) {
		moved = false;
		for (uint32_t i = 0; i < n_lanes; i++)
			moved |= run_lane(&ideal, i / TRAIN_LANES, i % TRAIN_LANES);
	}
	for (uint32_t i = 0; i < n_lanes; i++) {
		uint32_t n;

		(void)wf_script_lane(t->script, i / TRAIN_LANES, i % TRAIN_LANES, &n);
		assert(ideal.done[i] == n);
		if (n > 0)
			info->ideal = wf_max_time(info->ideal, ideal.end[i][n - 1]);
	}
	ret = 0;
out:
	wf_arena_fini(&arena);
	return ret;
}

/* ---- all together ---- */

static void fill_info(const struct train *t, uint32_t n_ranks, struct wf_train_info *info)
{
	struct train_weights w = train_weights(t);
	uint64_t layers = t->model->layers / t->cfg->pp;
	wf_time all = 0;

	info->ranks = n_ranks;
	info->dp = t->dp;
	info->micro_batches = t->m;
	info->tokens = (uint64_t)t->dp * t->m * t->cfg->micro_batch * t->model->sequence;
	info->flops = (double)wf_model_train_flops(t->model) * (double)info->tokens *
	              (double)t->cfg->scale / (double)WF_RATIO_ONE;
	for (uint32_t s = 0; s < t->cfg->pp; s++) {
		uint64_t dp_bytes = 0, parameters = layers * (w.layer_dense + w.layer_experts);
		wf_time compute = 0;
		uint32_t n;
		const struct wf_step *steps = wf_script_lane(t->script, s, LANE_COMPUTE, &n);

		for (uint32_t i = 0; i < n; i++)
			compute += steps[i].time;
		steps = wf_script_lane(t->script, s, LANE_DP, &n);
		for (uint32_t i = 0; i < n; i++)
			dp_bytes += steps[i].comm == COMM_ENDS ? 0 : steps[i].bytes;
		parameters += s == 0 ? w.first : 0;
		parameters += s == t->cfg->pp - 1 ? w.last : 0;
		all += compute;
		info->compute = wf_max_time(info->compute, compute);
		info->rank_parameters = wf_max_u64(info->rank_parameters, parameters);
		info->dp_bytes = wf_max_u64(info->dp_bytes, dp_bytes);
	}
	info->bubble = info->ideal - info->compute;
	info->idle = info->ideal - all / t->cfg->pp;
}

int wf_train_plan(const struct wf_train_cfg *cfg, const struct wf_model_cfg *model,
                  const struct wf_gpu_cfg *gpu, const struct wf_cluster *cluster,
                  struct wf_mem *mem, struct wf_plan **plan_p, struct wf_train_info *info,
                  struct wf_err *err)
{
	struct train t = { .cfg = cfg, .model = model, .gpu = gpu };
	int ret = wf_model_check(model, err);

	if (ret == 0)
		ret = check_ranks(&t, cluster->n_ranks, err);
	if (ret == 0)
		ret = check_batches(&t, err);
	if (ret == 0)
		ret = check_pipeline(&t, err);
	if (ret != 0)
		return ret;
	t.size = wf_model_size(model);
	set_costs(&t);
	*info = (struct wf_train_info){ 0 };
	ret = train_check_memory(&t, cluster, &info->memory, err);
	if (ret != 0)
		return ret;
	ret = wf_script_create(cluster, TRAIN_LANES, cfg->pp, cfg->tp * t.dp, mem, &t.script);
	if (ret != 0)
		return ret;
	ret = add_comms(&t);
	for (uint32_t s = 0; ret == 0 && s < cfg->pp; s++)
		ret = train_write_stage(&t, s);
	if (ret == 0)
		ret = run_ideal(&t, info);
	if (ret != 0) {
		wf_script_destroy(t.script);
		return ret;
	}
	fill_info(&t, cluster->n_ranks, info);
	*plan_p = wf_script_plan(t.script);
	return 0;
}

double wf_train_mfu(const struct wf_train_info *info, const struct wf_gpu_cfg *gpu, wf_time step)
{
	/* tflops operations take a picosecond at the peak. */
	double peak = (double)info->ranks * (double)gpu->tflops * (double)step;

	return peak > 0 ? info->flops / peak : 0;
}
