/* SPDX-License-Identifier: Apache-2.0 */
/*
 * train_priv.h - between train.c, which checks and adds up, and train_stage.c, which writes a
 * stage.
 */
#ifndef WF_JOB_TRAIN_PRIV_H
#define WF_JOB_TRAIN_PRIV_H

#include "job/script.h"
#include "job/train.h"

enum train_lane {
	LANE_COMPUTE,
	LANE_TP,
	LANE_EP,
	LANE_DP,
	LANE_PP, /* and those behind: three for activations, three for gradients */
	TRAIN_LANES = LANE_PP + 6
};

/* Communicators; a script numbers them in this order. */
enum train_comm { COMM_TP, COMM_EP, COMM_DP, COMM_EXPERT_DP, COMM_ENDS, TRAIN_COMMS };

/* How long things take on one rank and how many bytes they are; scaled. */
struct train_costs {
	wf_time attention, ffn, head; /* of a layer and the output layer, forwards */
	uint64_t activation;          /* between layers: what a tensor-parallel collective moves */
	uint64_t boundary;            /* between stages, from one rank */
	uint64_t dispatch;            /* to experts, from one rank */
};

/* A training step while it is written. */
struct train {
	const struct wf_train_cfg *cfg;
	const struct wf_model_cfg *model;
	const struct wf_gpu_cfg *gpu;
	struct wf_script *script;
	struct train_costs cost;
	struct wf_model_size size;
	uint32_t dp, m; /* replicas; micro-batches of each */
	uint32_t comm_n[TRAIN_COMMS];
};

/* What a stage holds, whole numbers of parameters on one rank. */
struct train_weights {
	uint64_t layer_dense, layer_experts; /* of a layer */
	uint64_t first, last;                /* the embedding; the last norm and the output layer */
};

struct train_weights train_weights(const struct train *t);

/* times and bytes with the scale; rounded up */
wf_time train_scale_time(const struct train *t, wf_time time);
uint64_t train_scale_bytes(const struct train *t, uint64_t bytes);

/*
 * What the GPU that needs most memory needs at least (train_memory.c). Returns 0, or -EINVAL with
 * err filled when that is more than it has and the job asks to be told.
 */
int train_check_memory(const struct train *t, const struct wf_cluster *cluster,
                       struct wf_train_memory *memory, struct wf_err *err) WF_MUST_USE;

/* Writes the items of a stage. Returns 0 or -ENOMEM. */
int train_write_stage(const struct train *t, uint32_t stage);

#endif
