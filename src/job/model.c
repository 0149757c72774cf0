/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - a transformer and a GPU as numbers. */
#include "job/model.h"

#include <assert.h>
#include <inttypes.h>

#include "job/nvlink.h"

#define FIELD(f) WF_PARAM_FIELD(struct wf_model_cfg, f)
#define COUNT(text, field, low, high, value, line)                                                 \
	{                                                                                          \
		.name = (text), .kind = WF_PARAM_U32, FIELD(field), .min = (low), .max = (high),   \
		.def = (value), .help = (line)                                                     \
	}
#define FLAG(text, field, value, line)                                                             \
	{                                                                                          \
		.name = (text), .kind = WF_PARAM_BOOL, FIELD(field), .def = (value),               \
		.help = (line)                                                                     \
	}

/* The defaults are GPT-2's; a model comes from profiles/models or sets all of them. */
const struct wf_param wf_model_params[] = {
	COUNT("layers", layers, 1, 10000, "12", "transformer layers"),
	COUNT("hidden", hidden, 1, 1 << 20, "768", "width of the residual stream"),
	COUNT("heads", heads, 1, 1 << 16, "12", "attention heads"),
	COUNT("kv_heads", kv_heads, 0, 1 << 16, "0",
	      "heads of keys and values (grouped-query attention); 0 = heads"),
	COUNT("head_dim", head_dim, 0, 1 << 16, "0", "width of a head; 0 = hidden / heads"),
	COUNT("ffn", ffn, 1, 1 << 22, "3072", "width of the feed-forward part, of each expert"),
	FLAG("gated", gated, "false", "SwiGLU: three feed-forward matrices instead of two"),
	FLAG("bias", bias, "true", "biases, and LayerNorm instead of RMSNorm"),
	FLAG("tied", tied, "true", "the output layer is the embedding"),
	COUNT("vocabulary", vocabulary, 1, 1 << 24, "50257", "tokens"),
	COUNT("positions", positions, 0, 1 << 24, "1024", "learned position embeddings; 0 = none"),
	COUNT("sequence", sequence, 1, 1 << 24, "1024", "tokens of a sequence"),
	COUNT("experts", experts, 1, 4096, "1", "experts of a layer; 1 = a dense model"),
	COUNT("top_k", top_k, 1, 4096, "1", "experts that a token goes to"),
};
const size_t wf_model_n_params = WF_ARRAY_SIZE(wf_model_params);

#undef FIELD
#define FIELD(f) WF_PARAM_FIELD(struct wf_gpu_cfg, f)

static const char *const generations[] = { "volta", "ampere", "hopper", "blackwell", NULL };

/* The defaults are the H100's (profiles/gpus/h100.yaml says where they come from). */
const struct wf_param wf_gpu_params[] = {
	{ .name = "tflops",
	  .kind = WF_PARAM_U32,
	  FIELD(tflops),
	  .min = 1,
	  .max = 10000000,
	  .def = "989",
	  .help = "peak, dense, in the precision of training: 10^12 operations per second" },
	{ .name = "efficiency",
	  .kind = WF_PARAM_RATIO,
	  FIELD(efficiency),
	  .min = 1,
	  .max = WF_RATIO_ONE,
	  .def = "50%",
	  .help = "share of the peak that computing reaches when nothing waits" },
	{ .name = "memory",
	  .kind = WF_PARAM_BYTES,
	  FIELD(memory),
	  .min = 1000000,
	  .max = INT64_C(1000000000000000),
	  .def = "3350GB",
	  .help = "memory bandwidth, per second" },
	{ .name = "capacity",
	  .kind = WF_PARAM_BYTES,
	  FIELD(capacity),
	  .max = INT64_C(1) << 50,
	  .def = "80GiB",
	  .help = "memory; 0 = not known, and nothing is checked against it" },
	{ .name = "nvlink",
	  .kind = WF_PARAM_RATE,
	  FIELD(nvlink),
	  .min = WF_NV_RATE_MIN,
	  .max = WF_NV_RATE_MAX,
	  .def = "3600Gbps",
	  .help = "NVLink bandwidth of a GPU, one direction" },
	{ .name = "generation",
	  .kind = WF_PARAM_NAME,
	  FIELD(generation),
	  .def = "hopper",
	  .names = generations,
	  .help = "what NCCL's choice of algorithms goes by" },
};
const size_t wf_gpu_n_params = WF_ARRAY_SIZE(wf_gpu_params);

static uint64_t head_dim(const struct wf_model_cfg *m)
{
	return m->head_dim != 0 ? m->head_dim : m->hidden / m->heads;
}

static uint64_t kv_heads(const struct wf_model_cfg *m)
{
	return m->kv_heads != 0 ? m->kv_heads : m->heads;
}

int wf_model_check(const struct wf_model_cfg *m, struct wf_err *err)
{
	if (m->head_dim == 0 && m->hidden % m->heads != 0)
		return wf_err_say(err,
		                  "heads: %" PRIu32 " do not divide hidden %" PRIu32
		                  "; set head_dim, or a number of heads that does",
		                  m->heads, m->hidden);
	if (m->heads % kv_heads(m) != 0)
		return wf_err_say(err,
		                  "kv_heads: %" PRIu32 " do not divide heads %" PRIu32
		                  "; each serves the same number of heads",
		                  m->kv_heads, m->heads);
	if (m->top_k > m->experts)
		return wf_err_say(err,
		                  "top_k: a token cannot go to %" PRIu32 " of %" PRIu32 " experts",
		                  m->top_k, m->experts);
	return 0;
}

/* Weights of the matrix products of attention in a layer: queries, keys and values, output. */
static uint64_t attention_weights(const struct wf_model_cfg *m)
{
	return m->hidden * head_dim(m) * (2 * (uint64_t)m->heads + 2 * kv_heads(m));
}

static uint64_t expert_weights(const struct wf_model_cfg *m)
{
	return (m->gated ? 3 : 2) * (uint64_t)m->hidden * m->ffn;
}

struct wf_model_size wf_model_size(const struct wf_model_cfg *m)
{
	struct wf_model_size s = { 0 };
	uint64_t norm = m->bias ? 2 * (uint64_t)m->hidden : m->hidden;

	s.attention = attention_weights(m) + norm;
	s.expert = expert_weights(m);
	s.router = norm + (m->experts > 1 ? (uint64_t)m->hidden * m->experts : 0);
	if (m->bias) {
		s.attention += head_dim(m) * (m->heads + 2 * kv_heads(m)) + m->hidden;
		s.expert += m->ffn + m->hidden;
	}
	s.layer = s.attention + m->experts * s.expert + s.router;
	s.embedding = ((uint64_t)m->vocabulary + m->positions) * m->hidden;
	s.head = norm + (m->tied ? 0 : (uint64_t)m->vocabulary * m->hidden);
	s.total = m->layers * s.layer + s.embedding + s.head;
	s.active = s.total - m->layers * (m->experts - m->top_k) * s.expert;
	return s;
}

uint64_t wf_model_attention_flops(const struct wf_model_cfg *m)
{
	return 2 * attention_weights(m) + 4 * m->heads * head_dim(m) * m->sequence;
}

uint64_t wf_model_ffn_flops(const struct wf_model_cfg *m)
{
	uint64_t router = m->experts > 1 ? (uint64_t)m->hidden * m->experts : 0;

	return 2 * (m->top_k * expert_weights(m) + router);
}

uint64_t wf_model_head_flops(const struct wf_model_cfg *m)
{
	return 2 * (uint64_t)m->vocabulary * m->hidden;
}

uint64_t wf_model_train_flops(const struct wf_model_cfg *m)
{
	return 3 * (m->layers * (wf_model_attention_flops(m) + wf_model_ffn_flops(m)) +
	            wf_model_head_flops(m));
}

wf_time wf_gpu_compute_time(const struct wf_gpu_cfg *gpu, unsigned __int128 flops)
{
	/* tflops operations take a picosecond at the peak. */
	unsigned __int128 rate = (unsigned __int128)gpu->tflops * gpu->efficiency;

	assert(rate != 0);
	return wf_time_cap((flops * WF_RATIO_ONE + rate - 1) / rate);
}

wf_time wf_gpu_memory_time(const struct wf_gpu_cfg *gpu, uint64_t bytes)
{
	assert(gpu->memory != 0);
	return wf_time_cap(((unsigned __int128)bytes * (uint64_t)WF_S + gpu->memory - 1) /
	                   gpu->memory);
}
