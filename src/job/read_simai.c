/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_simai.c - workloads of SimAI, in the text format of ASTRA-sim 1.0:
 *
 *	HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 ... all_gpus: 64
 *	2					layers
 *	name -1 fwd_ns COMM bytes ig_ns COMM bytes wg_ns COMM bytes update_ns
 *	...
 *
 * All ranks do the same: layers forwards, each calculation followed by its collective; then
 * backwards, for each layer the input's gradient with its collective, then the weights', whose
 * collective the next layer does not wait for. COMM is NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER or
 * ALLTOALL, of the tensor-parallel group (fwd, ig) or the data-parallel one (wg), or with _EP or
 * _DP_EP behind it of the experts' group or of their replicas.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "job/read.h"
#include "job/script.h"

#define SHOWN 40
#define MIN_LAYER_LINE 24 /* bytes: "a 0 1 NONE 0 1 NONE 0 1 NONE 0 1" has more */
#define NO_COMM UINT32_MAX

enum phase { FORWARD, INPUT_GRADIENT, WEIGHT_GRADIENT, PHASES };
enum comm { TP, EP, DP, DP_EP, COMMS };
enum lane { LANE_COMPUTE, LANE_BLOCKING, LANE_WEIGHTS, LANES };

struct layer {
	wf_time time[PHASES];
	uint64_t bytes[PHASES];
	uint32_t comm[PHASES]; /* enum comm, or NO_COMM */
	enum wf_coll_kind coll[PHASES];
	wf_time update;
};

struct simai {
	struct wf_text text;
	struct wf_mem *mem;
	struct wf_script *script;
	uint64_t scale;
	uint32_t n[COMMS];
	uint32_t comm[COMMS]; /* of the script */
	struct layer *layers;
	uint32_t n_layers;

	/* the calculation that is being added up */
	wf_time time;
	const char *name;
	struct wf_item_dep need;
	bool has_need;
	struct wf_item_dep last;
	bool has_last;
};

/* ---- the text ---- */

static int number(struct simai *s, const char *what, uint64_t min, uint64_t max, uint64_t *value_p)
{
	struct wf_word word;
	int ret = wf_text_expect(&s->text, what, &word);

	return ret != 0 ? ret : wf_text_number(&s->text, &word, what, min, max, value_p);
}

struct head {
	uint64_t tp, ep, pp, gpus;
	bool all_model; /* MODEL: all ranks are one tensor-parallel group */
};

static int read_policy(struct simai *s, struct head *head)
{
	static const char *const known[] = { "HYBRID_TRANSFORMER_FWD_IN_BCKWD",
		                             "HYBRID_TRANSFORMER", "DATA", "MODEL" };
	struct wf_word word;
	int ret;

	if (!wf_text_seek(&s->text))
		return wf_err_at(s->text.err, s->text.name, 0, 0,
		                 "the file is empty; its first line says how the model is split");
	ret = wf_text_expect(&s->text, "the kind of parallelism", &word);
	if (ret != 0)
		return ret;
	head->all_model = wf_word_is(&word, "MODEL");
	for (size_t i = 0; i < WF_ARRAY_SIZE(known); i++) {
		if (wf_word_is(&word, known[i]))
			return 0;
	}
	return wf_err_at(s->text.err, s->text.name, word.line, word.column,
	                 "\"%.*s\" is not supported; HYBRID_TRANSFORMER_FWD_IN_BCKWD, "
	                 "HYBRID_TRANSFORMER, DATA and MODEL are",
	                 (int)wf_min_u64(word.len, SHOWN), word.at);
}

/* "name: value" and so on, up to the end of the first line. */
static int read_head(struct simai *s, struct head *head)
{
	struct wf_word word;
	uint64_t value = 0;
	int ret = read_policy(s, head);

	while (ret == 0 && wf_text_word(&s->text, &word)) {
		if (wf_word_is(&word, "model_parallel_NPU_group:"))
			ret = number(s, "model_parallel_NPU_group", 1, UINT32_MAX, &head->tp);
		else if (wf_word_is(&word, "ep:"))
			ret = number(s, "ep", 1, UINT32_MAX, &head->ep);
		else if (wf_word_is(&word, "pp:"))
			ret = number(s, "pp", 1, UINT32_MAX, &head->pp);
		else if (wf_word_is(&word, "all_gpus:"))
			ret = number(s, "all_gpus", 1, UINT32_MAX, &head->gpus);
		else if (wf_word_is(&word, "checkpoints:")) {
			ret = number(s, "checkpoints", 0, UINT32_MAX, &value);
			if (ret == 0 && value != 0)
				ret = wf_err_at(
					s->text.err, s->text.name, word.line, word.column,
					"checkpoints are not supported; write \"checkpoints: 0\"");
		}
	}
	return ret;
}

static int set_groups(struct simai *s, const struct head *head, uint32_t n_ranks)
{
	uint64_t tp = head->all_model ? n_ranks / head->pp : head->tp;
	uint64_t dp;

	if (head->gpus != 0 && head->gpus != n_ranks)
		return wf_err_at(s->text.err, s->text.name, 1, 0,
		                 "the workload is for %" PRIu64 " GPUs; the cluster has %" PRIu32,
		                 head->gpus, n_ranks);
	if (tp == 0 || head->pp > n_ranks || tp > n_ranks || n_ranks % (tp * head->pp) != 0)
		return wf_err_at(s->text.err, s->text.name, 1, 0,
		                 "model_parallel_NPU_group %" PRIu64 " * pp %" PRIu64
		                 " do not divide %" PRIu32 " GPUs",
		                 tp, head->pp, n_ranks);
	dp = n_ranks / (tp * head->pp);
	if (dp % head->ep != 0)
		return wf_err_at(s->text.err, s->text.name, 1, 0,
		                 "ep %" PRIu64 " does not divide the %" PRIu64
		                 " data-parallel replicas",
		                 head->ep, dp);
	s->n[TP] = (uint32_t)tp;
	s->n[EP] = (uint32_t)head->ep;
	s->n[DP] = (uint32_t)dp;
	s->n[DP_EP] = (uint32_t)(dp / head->ep);
	return 0;
}

/* "ALLREDUCE_EP" */
static int read_comm(struct simai *s, enum phase phase, struct layer *layer)
{
	static const struct {
		const char *name;
		enum wf_coll_kind kind;
	} kinds[] = {
		{ "ALLREDUCE", WF_COLL_ALL_REDUCE },
		{ "ALLGATHER", WF_COLL_ALL_GATHER },
		{ "REDUCESCATTER", WF_COLL_REDUCE_SCATTER },
		{ "ALLTOALL", WF_COLL_ALL_TO_ALL },
	};
	static const struct {
		const char *name;
		uint32_t comm;
	} groups[] = { { "", NO_COMM }, { "_EP", EP }, { "_DP_EP", DP_EP } };
	struct wf_word word;
	int ret = wf_text_expect(&s->text, "the collective", &word);

	if (ret != 0)
		return ret;
	layer->comm[phase] = NO_COMM;
	if (wf_word_is(&word, "NONE"))
		return 0;
	for (size_t k = 0; k < WF_ARRAY_SIZE(kinds); k++) {
		size_t len = strlen(kinds[k].name);
		struct wf_word name = word, rest = word;

		name.len = wf_min_u64(len, word.len);
		rest.at += name.len;
		rest.len -= name.len;
		for (size_t g = 0; wf_word_is(&name, kinds[k].name) && g < WF_ARRAY_SIZE(groups);
		     g++) {
			if (!wf_word_is(&rest, groups[g].name))
				continue;
			layer->coll[phase] = kinds[k].kind;
			layer->comm[phase] = groups[g].comm != NO_COMM  ? groups[g].comm
			                     : phase == WEIGHT_GRADIENT ? DP
			                                                : TP;
			return 0;
		}
	}
	return wf_err_at(s->text.err, s->text.name, word.line, word.column,
	                 "\"%.*s\" is not supported; NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER and "
	                 "ALLTOALL are, with nothing, _EP or _DP_EP behind them",
	                 (int)wf_min_u64(word.len, SHOWN), word.at);
}

static int read_layer(struct simai *s, struct layer *layer)
{
	static const char *const times[] = { "the forward time", "the time of the input's gradient",
		                             "the time of the weights' gradient" };
	struct wf_word word;
	uint64_t ns = 0;
	int ret = wf_text_expect(&s->text, "the name of the layer", &word);

	if (ret == 0)
		ret = wf_text_expect(&s->text, "what the layer depends on", &word);
	for (unsigned p = 0; ret == 0 && p < PHASES; p++) {
		ret = number(s, times[p], 0, WF_READ_MAX_NS, &ns);
		layer->time[p] = (wf_time)ns * WF_NS;
		if (ret == 0)
			ret = read_comm(s, (enum phase)p, layer);
		if (ret == 0)
			ret = number(s, "the bytes of the collective", 0, WF_READ_MAX_BYTES,
			             &layer->bytes[p]);
	}
	if (ret == 0)
		ret = number(s, "the time of the update", 0, WF_READ_MAX_NS, &ns);
	layer->update = (wf_time)ns * WF_NS;
	return ret != 0 ? ret : wf_text_end_line(&s->text, "the 12 columns of a layer");
}

static int read_layers(struct simai *s)
{
	uint64_t n = 0;
	int ret;

	if (!wf_text_seek(&s->text))
		return wf_err_at(s->text.err, s->text.name, s->text.line, 0,
		                 "the file ends here; the second line has the number of layers");
	ret = number(s, "the number of layers", 1,
	             (uint64_t)(s->text.end - s->text.at) / MIN_LAYER_LINE + 1, &n);
	if (ret == 0)
		ret = wf_text_end_line(&s->text, "the number of layers");
	if (ret != 0)
		return ret;
	s->layers = s->mem->alloc(s->mem, n * sizeof(*s->layers));
	if (s->layers == NULL)
		return -ENOMEM;
	for (s->n_layers = 0; ret == 0 && s->n_layers < n; s->n_layers++) {
		if (!wf_text_seek(&s->text))
			return wf_err_at(s->text.err, s->text.name, s->text.line, 0,
			                 "the file ends after %" PRIu32 " of %" PRIu64 " layers",
			                 s->n_layers, n);
		ret = read_layer(s, &s->layers[s->n_layers]);
	}
	if (ret == 0 && wf_text_seek(&s->text))
		ret = wf_err_at(s->text.err, s->text.name, s->text.line, 0,
		                "there are more layers than the %" PRIu64 " of the second line", n);
	return ret;
}

/* ---- the plan ---- */

static uint64_t scaled(const struct simai *s, uint64_t value)
{
	unsigned __int128 product = (unsigned __int128)value * s->scale;

	return (uint64_t)((product + WF_RATIO_ONE - 1) / WF_RATIO_ONE);
}

static int flush(struct simai *s)
{
	struct wf_step step = { .kind = WF_ITEM_CALC, .time = s->time };
	int ret;

	if (s->time == 0 && !s->has_need)
		return 0;
	if (s->has_need)
		step.dep[step.n_deps++] = s->need;
	ret = wf_script_group(s->script, s->name, s->name, NULL, &step.group);
	if (ret == 0)
		ret = wf_script_add(s->script, 0, LANE_COMPUTE, &step, &s->last);
	s->has_last = true;
	s->time = 0;
	s->has_need = false;
	return ret;
}

static int calc(struct simai *s, const char *name, wf_time time)
{
	int ret = s->time > 0 && s->name != name ? flush(s) : 0;

	s->name = name;
	s->time += (wf_time)scaled(s, (uint64_t)time);
	return ret;
}

/* The collective of a phase of a layer, if it has one. */
static int collective(struct simai *s, const struct layer *layer, enum phase phase)
{
	enum lane lane = phase == WEIGHT_GRADIENT ? LANE_WEIGHTS : LANE_BLOCKING;
	struct wf_step step = { .kind = WF_ITEM_COLL,
		                .coll = layer->coll[phase],
		                .bytes = scaled(s, layer->bytes[phase]) };
	struct wf_coll coll = { .kind = (uint8_t)step.coll, .bytes = step.bytes };
	struct wf_item_dep dep = { 0 };
	const char *name;
	int ret;

	if (layer->comm[phase] == NO_COMM || s->n[layer->comm[phase]] == 1 || step.bytes == 0)
		return 0;
	ret = flush(s);
	if (s->has_last)
		step.dep[step.n_deps++] = s->last;
	step.comm = s->comm[layer->comm[phase]];
	coll.comm.n = s->n[layer->comm[phase]];
	name = wf_coll_kind_name(step.coll);
	if (ret == 0)
		ret = wf_script_group(s->script, name, name, &coll, &step.group);
	if (ret == 0)
		ret = wf_script_add(s->script, 0, lane, &step, &dep);
	if (ret != 0 || phase != WEIGHT_GRADIENT) {
		s->need = dep;
		s->has_need = true;
		return ret;
	}
	step = (struct wf_step){ .kind = WF_ITEM_WAIT,
		                 .group = WF_GROUP_NONE,
		                 .time = (wf_time)scaled(s, (uint64_t)layer->update) };
	return wf_script_add(s->script, 0, LANE_WEIGHTS, &step, NULL);
}

static int phase_of(struct simai *s, const struct layer *layer, enum phase phase)
{
	int ret = calc(s, phase == FORWARD ? "forward" : "backward", layer->time[phase]);

	return ret != 0 ? ret : collective(s, layer, phase);
}

static int write_plan(struct simai *s)
{
	uint32_t stride[COMMS] = {
		[TP] = 1, [EP] = s->n[TP], [DP] = s->n[TP], [DP_EP] = s->n[TP] * s->n[EP]
	};
	int ret = 0;

	s->name = "forward";
	for (unsigned c = 0; ret == 0 && c < COMMS; c++)
		ret = wf_script_comm(s->script, s->n[c], stride[c], NULL, &s->comm[c]);
	for (uint32_t i = 0; ret == 0 && i < s->n_layers; i++)
		ret = phase_of(s, &s->layers[i], FORWARD);
	for (uint32_t i = s->n_layers; ret == 0 && i > 0; i--) {
		ret = phase_of(s, &s->layers[i - 1], INPUT_GRADIENT);
		if (ret == 0)
			ret = phase_of(s, &s->layers[i - 1], WEIGHT_GRADIENT);
	}
	return ret != 0 ? ret : flush(s);
}

int wf_read_simai(const char *text, size_t len, const char *file, const struct wf_cluster *cluster,
                  uint64_t scale, struct wf_mem *mem, struct wf_plan **plan_p, struct wf_err *err)
{
	struct simai s = { .mem = mem, .scale = scale };
	struct head head = { .tp = 1, .ep = 1, .pp = 1 };
	int ret;

	wf_text_init(&s.text, text, len, file, err);
	ret = read_head(&s, &head);
	if (ret == 0)
		ret = set_groups(&s, &head, cluster->n_ranks);
	if (ret == 0)
		ret = read_layers(&s);
	if (ret == 0)
		ret = wf_script_create(cluster, LANES, 1, 1, mem, &s.script);
	if (ret == 0)
		ret = write_plan(&s);
	mem->free(mem, s.layers);
	if (ret != 0) {
		wf_script_destroy(s.script);
		return ret;
	}
	*plan_p = wf_script_plan(s.script);
	return 0;
}
