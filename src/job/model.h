/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - a transformer and a GPU as numbers: parameters, floating-point operations, time.
 *
 * Operations are counted as PaLM (appendix B) and Megatron-LM count them: two for every weight of a
 * matrix product and token forwards, four backwards; attention as if every token looked at the
 * whole sequence. Per token that is
 *
 *	6 * (weights of matrix products) + 12 * layers * heads * head_dim * sequence
 *
 * Weights of matrix products are those of attention, of the feed-forward part (of the experts a
 * token goes to) and of the output layer; looking up an embedding, norms and biases count for
 * nothing. The GPU's efficiency is the share of its peak that it reaches by the same count, so that
 * a step without communication, bubble and optimizer has an MFU equal to the efficiency.
 */
#ifndef WF_JOB_MODEL_H
#define WF_JOB_MODEL_H

#include <stdbool.h>

#include "base/base.h"
#include "base/err.h"
#include "base/param.h"

struct wf_model_cfg {
	uint32_t layers;
	uint32_t hidden;
	uint32_t heads;
	uint32_t kv_heads;   /* 0: heads */
	uint32_t head_dim;   /* 0: hidden / heads */
	uint32_t ffn;        /* width of the feed-forward part, of each expert's */
	bool gated;          /* three matrices (SwiGLU) instead of two */
	bool bias;           /* linear layers have a bias, norms a second vector (LayerNorm) */
	bool tied;           /* the output layer is the embedding */
	uint32_t vocabulary; /* tokens */
	uint32_t positions;  /* learned position embeddings; 0: none */
	uint32_t sequence;   /* tokens of a sequence it is trained with */
	uint32_t experts;    /* 1: a dense model */
	uint32_t top_k;      /* experts that a token goes to */
};

extern const struct wf_param wf_model_params[];
extern const size_t wf_model_n_params;

struct wf_gpu_cfg {
	uint32_t tflops;     /* 10^12 operations per second, dense, in the precision of training */
	uint64_t efficiency; /* units of 2^-16: the share of it that matrix products reach */
	uint64_t memory;     /* bytes per second */
	uint64_t capacity;   /* bytes; 0: not known */
	uint64_t nvlink;     /* bits/s, one direction, all links of a GPU together */
	char generation[12]; /* as NCCL tells them apart: a name of enum wf_gpu_gen */
};

extern const struct wf_param wf_gpu_params[];
extern const size_t wf_gpu_n_params;

/* How many parameters each part has, whole, not a share of it. */
struct wf_model_size {
	uint64_t attention; /* of a layer, with its norm */
	uint64_t expert;    /* the feed-forward part of a layer, or one expert of it */
	uint64_t router;    /* of a layer, with its norm */
	uint64_t layer;     /* attention + experts * expert + router */
	uint64_t embedding; /* tokens and positions */
	uint64_t head;      /* the last norm, and the output layer unless tied */
	uint64_t total;
	uint64_t active; /* parameters that a token passes */
};

/*
 * Sees that the values fit each other. Returns 0, or -EINVAL with err filled ("<parameter>: ...").
 */
int wf_model_check(const struct wf_model_cfg *model, struct wf_err *err) WF_MUST_USE;

/* The sizes of a model that was checked. */
struct wf_model_size wf_model_size(const struct wf_model_cfg *model);

/*
 * Operations forwards: of a layer's attention, its feed-forward part, of the output layer; per
 * token.
 */
uint64_t wf_model_attention_flops(const struct wf_model_cfg *model);
uint64_t wf_model_ffn_flops(const struct wf_model_cfg *model);
uint64_t wf_model_head_flops(const struct wf_model_cfg *model);

/* Operations of training, forwards and backwards, per token: what MFU counts. */
uint64_t wf_model_train_flops(const struct wf_model_cfg *model);

/*
 * The time that a GPU takes for flops operations, and for moving bytes through its memory; rounded
 * up.
 */
wf_time wf_gpu_compute_time(const struct wf_gpu_cfg *gpu, unsigned __int128 flops);
wf_time wf_gpu_memory_time(const struct wf_gpu_cfg *gpu, uint64_t bytes);

#endif
