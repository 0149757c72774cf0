/* SPDX-License-Identifier: Apache-2.0 */
/*
 * train.h - one step of training a transformer, as a plan.
 *
 * Ranks are ordered as Megatron-LM does by default: tensor parallel first, then data parallel, then
 * pipeline: rank = t + tp * (d + dp * p). Experts are spread over data-parallel neighbours.
 *
 *	step	gather parameters (sharded optimizer), behind the first forward passes
 *		micro-batches through the pipeline, one forward and one backward in turn (1F1B)
 *		reduce gradients bucket by bucket, behind the last backward passes
 *		optimizer
 *
 * docs/training.md has the model in full, with what it leaves out.
 */
#ifndef WF_JOB_TRAIN_H
#define WF_JOB_TRAIN_H

#include "job/model.h"
#include "job/plan.h"

struct wf_train_cfg {
	uint32_t tp, pp, dp, ep; /* dp 0: what the ranks leave */
	uint32_t interleave;     /* chunks of layers that a stage has; 1: plain 1F1B */
	uint32_t micro_batch;    /* sequences */
	uint32_t micro_batches;  /* per replica; 0: from global_batch */
	uint32_t global_batch;   /* sequences; 0: from micro_batches */
	bool sequence_parallel;
	bool recompute;           /* forward again before backward */
	bool sharded;             /* optimizer state over data-parallel ranks (ZeRO-1) */
	bool overlap;             /* gradients are reduced, parameters gathered, while computing */
	uint32_t precision;       /* bytes of a weight and of an activation */
	uint32_t gradient;        /* bytes of a gradient when it is reduced */
	uint64_t bucket;          /* bytes of gradients that are reduced together */
	uint32_t optimizer_bytes; /* moved through the GPU's memory for each parameter it updates */
	bool memory_check;        /* refuse what does not fit the GPU's memory */
	uint64_t scale;       /* units of 2^-16: all bytes and all times of computing times this */
	uint64_t scale_error; /* units of 2^-16: most that delays of the fabric may add */
};

extern const struct wf_param wf_train_params[];
extern const size_t wf_train_n_params;

/* What the items of a training plan are: the kinds of its groups, in this order. */
enum wf_train_kind {
	WF_TRAIN_FORWARD,
	WF_TRAIN_BACKWARD,
	WF_TRAIN_OPTIMIZER,
	WF_TRAIN_TP,
	WF_TRAIN_PP,
	WF_TRAIN_EP,
	WF_TRAIN_DP,
	WF_TRAIN_KINDS
};

/* "forward", ..., "tp", ...: a group's kind is this very pointer's text. */
const char *wf_train_kind_name(enum wf_train_kind kind);

static inline bool wf_train_is_compute(enum wf_train_kind kind)
{
	return kind <= WF_TRAIN_OPTIMIZER;
}

/* Bytes of a GPU's memory, at least; not scaled. */
struct wf_train_memory {
	uint64_t weights, state, activations, total; /* weights: and gradients */
	uint32_t stage;                              /* whose GPUs need most */
};

/* What is known of a step before it runs; times and bytes are scaled, counts are not. */
struct wf_train_info {
	uint32_t ranks, dp, micro_batches;
	uint64_t tokens;          /* of a step, all replicas */
	double flops;             /* of a step, all ranks, that MFU counts; scaled */
	wf_time compute;          /* the busiest stage computes, with its optimizer */
	wf_time ideal;            /* the step if no communication took any time */
	wf_time bubble;           /* of it: the busiest stage waits for others */
	wf_time idle;             /* of it: a rank on average waits for others */
	uint64_t rank_parameters; /* the most that a rank holds */
	uint64_t dp_bytes; /* gradients that such a rank reduces, and parameters it gathers */
	struct wf_train_memory memory;
	uint64_t scale_excess; /* units of 2^-16: most that the scale lengthens computing */
};

/*
 * The plan of a step for all ranks of the cluster. Returns 0, -ENOMEM, or -EINVAL with err filled
 * ("<parameter>: ...", of train's, or with the model's checks of the model's).
 */
int wf_train_plan(const struct wf_train_cfg *cfg, const struct wf_model_cfg *model,
                  const struct wf_gpu_cfg *gpu, const struct wf_cluster *cluster,
                  struct wf_mem *mem, struct wf_plan **plan_p, struct wf_train_info *info,
                  struct wf_err *err) WF_MUST_USE;

/* The share of the peak of all GPUs that a step of that length makes of the model's operations. */
double wf_train_mfu(const struct wf_train_info *info, const struct wf_gpu_cfg *gpu, wf_time step);

#endif
