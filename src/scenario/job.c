/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.c - the table of a job's parameters, and the schedule they stand for.
 */
#include "scenario/job.h"

#include <errno.h>
#include <string.h>

#include "job/plan_coll.h"
#include "scenario/job_scale.h"
#include "scenario/job_trace.h"

/* What is on its way at once may not shrink below what the fabric's delays ask for. */
#define MIN_BUFFER (UINT64_C(512) << 10)
#define MIN_P2P_CHUNK (UINT64_C(32) << 10)
#define MIN_NVLINK_LATENCY (10 * WF_NS)

#define FIELD(field) WF_PARAM_FIELD(struct wf_job_cfg, field)

/* Rows of the collectives' own table describe the first member. */
_Static_assert(offsetof(struct wf_job_cfg, coll) == 0, "the collectives' come first");

static const char *const kinds[] = {
	"all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast", "barrier", "train",
	"goal",       "htsim",          "chakra",     "simai",      "hpcc",      NULL,
};
static const char *const algorithms[] = {
	"auto", "ring",      "tree",           "halving-doubling", "pairwise",
	"nvls", "nvls-tree", "collnet-direct", "collnet-chain",    NULL,
};
static const char *const insides[] = { "calculate", "execute", "estimate", NULL };
static const char *const protocols[] = { "auto", "ll", "ll128", "simple", NULL };

static const struct wf_param job_params[] = {
	{ .name = "kind",
	  .kind = WF_PARAM_NAME,
	  FIELD(kind),
	  .def = "all-reduce",
	  .names = kinds,
	  .help = "the collective that is run; train: a training step; or the format of file" },
	{ .name = "file",
	  .kind = WF_PARAM_TEXT,
	  FIELD(file),
	  .def = "",
	  .help = "goal, htsim, simai, hpcc: the file; chakra: what comes before .0.et, .1.et and "
	          "so "
	          "on" },
	{ .name = "groups",
	  .kind = WF_PARAM_TEXT,
	  FIELD(groups),
	  .def = "",
	  .help = "chakra: a JSON file with the ranks of each named group" },
	{ .name = "model",
	  .kind = WF_PARAM_TEXT,
	  FIELD(model_name),
	  .def = "llama3-8b",
	  .help = "train, chakra: what is trained (weft list models), or a file" },
	{ .name = "gpu",
	  .kind = WF_PARAM_TEXT,
	  FIELD(gpu_name),
	  .def = "h100",
	  .help = "the GPUs (weft list gpus), or a file" },
	{ .name = "sequence",
	  .kind = WF_PARAM_U32,
	  FIELD(sequence),
	  .max = 1 << 24,
	  .def = "0",
	  .help = "train: tokens of a sequence; 0: the model's" },
	{ .name = "layers",
	  .kind = WF_PARAM_U32,
	  FIELD(layers),
	  .max = 10000,
	  .def = "0",
	  .help = "train: a model of fewer layers; 0: the model's" },
	{ .name = "algorithm",
	  .kind = WF_PARAM_NAME,
	  FIELD(algorithm),
	  .def = "auto",
	  .names = algorithms,
	  .help = "how it is done" },
	{ .name = "protocol",
	  .kind = WF_PARAM_NAME,
	  FIELD(protocol),
	  .def = "auto",
	  .names = protocols,
	  .help = "NCCL's protocol; auto: by size" },
	{ .name = "bytes",
	  .kind = WF_PARAM_BYTES,
	  FIELD(bytes),
	  .max = INT64_C(1) << 44,
	  .def = "64MiB",
	  .help = "size as nccl-tests counts it" },
	{ .name = "iterations",
	  .kind = WF_PARAM_U32,
	  FIELD(iterations),
	  .min = 1,
	  .max = 1000000,
	  .def = "1",
	  .help = "how often, one after the other" },
	{ .name = "ranks",
	  .kind = WF_PARAM_U32,
	  FIELD(ranks),
	  .max = 1000000,
	  .def = "0",
	  .help = "GPUs that take part; 0: all that the topology's hosts have" },
	{ .name = "root",
	  .kind = WF_PARAM_U32,
	  FIELD(root),
	  .max = 1000000,
	  .def = "0",
	  .help = "broadcast: the rank that has the data" },
	{ .name = "gpus_per_server",
	  .kind = WF_PARAM_U32,
	  FIELD(gpus),
	  .min = 1,
	  .max = 1024,
	  .def = "8",
	  .help = "GPUs of a server, connected by NVLink" },
	{ .name = "nics_per_server",
	  .kind = WF_PARAM_U32,
	  FIELD(nics),
	  .max = 1024,
	  .def = "0",
	  .help = "hosts of the topology that are one server's NICs; 0: one for each GPU" },
	{ .name = "nvlink_rate",
	  .kind = WF_PARAM_RATE,
	  FIELD(net.nvlink.rate),
	  .min = WF_NV_RATE_MIN,
	  .max = WF_NV_RATE_MAX,
	  .def = "3.6Tbps",
	  .help = "NVLink of a GPU, each direction (H100: 450 GB/s)" },
	{ .name = "nvlink_efficiency",
	  .kind = WF_PARAM_RATIO,
	  FIELD(nvlink_efficiency),
	  .min = WF_RATIO_ONE / 100,
	  .max = WF_RATIO_ONE,
	  .def = "0.82",
	  .help = "share of nvlink_rate that data gets" },
	{ .name = "nvlink_latency",
	  .kind = WF_PARAM_TIME,
	  FIELD(net.nvlink.latency),
	  .min = 10 * WF_NS,
	  .max = WF_MS,
	  .def = "0.6us",
	  .help = "from one GPU's memory to another's in the server" },
	{ .name = "inside",
	  .kind = WF_PARAM_NAME,
	  FIELD(inside),
	  .def = "calculate",
	  .names = insides,
	  .help = "collectives inside a server: calculate their time once where nothing can "
	          "collide "
	          "with them; execute each chunk by chunk; or estimate rings that pass through "
	          "servers, too (up to 15 % off, a quarter of the CPU time)" },
	{ .name = "qps_per_connection",
	  .kind = WF_PARAM_U32,
	  FIELD(net.qps),
	  .max = WF_JOB_MAX_QPS,
	  .def = "0",
	  .help = "queue pairs over which each message is split (NCCL_IB_QPS_PER_CONNECTION); 0: "
	          "as "
	          "many as the fabric says (nic.qps_per_connection)" },
	{ .name = "class",
	  .kind = WF_PARAM_U32,
	  FIELD(net.cls),
	  .max = 15,
	  .def = "3",
	  .help = "priority (Ethernet, 0 to 7) or service level (InfiniBand, 0 to 15)" },
};

int wf_job_table(struct wf_arena *arena, const struct wf_param **rows_p, size_t *n_p)
{
	size_t n_own = WF_ARRAY_SIZE(job_params) + wf_coll_n_params;
	size_t n = n_own + wf_train_n_params;
	struct wf_param *rows = wf_arena_alloc(arena, n * sizeof(*rows), WF_CACHE_LINE);

	if (rows == NULL)
		return -ENOMEM;
	memcpy(rows, job_params, sizeof(job_params));
	memcpy(rows + WF_ARRAY_SIZE(job_params), wf_coll_params, wf_coll_n_params * sizeof(*rows));
	memcpy(rows + n_own, wf_train_params, wf_train_n_params * sizeof(*rows));
	for (size_t i = n_own; i < n; i++)
		rows[i].offset += offsetof(struct wf_job_cfg, train);
	*rows_p = rows;
	*n_p = n;
	return 0;
}

bool wf_job_is_train(const struct wf_job_cfg *cfg)
{
	return strcmp(cfg->kind, "train") == 0;
}

static bool is_coll(const struct wf_job_cfg *cfg)
{
	return wf_coll_kind_find(cfg->kind) != WF_COLL_KINDS;
}

static void make_coll(const struct wf_job_cfg *cfg, uint32_t ranks, struct wf_coll *coll)
{
	*coll = (struct wf_coll){
		.kind = (uint8_t)wf_coll_kind_find(cfg->kind),
		.alg = (uint8_t)wf_coll_alg_find(cfg->algorithm),
		.proto = (uint8_t)wf_proto_find(cfg->protocol),
		.bytes = cfg->bytes,
		.root = cfg->root,
		.comm = { .n = ranks, .stride = 1 },
	};
}

int wf_job_check(const struct wf_job_cfg *cfg, struct wf_err *err)
{
	struct wf_coll coll;

	if (cfg->nics > cfg->gpus)
		return wf_err_say(
			err, "nics_per_server: %u NICs for %u GPUs; write at most one for each",
			cfg->nics, cfg->gpus);
	if (cfg->coll.chunk_steps > cfg->coll.steps ||
	    cfg->coll.slice_steps > cfg->coll.chunk_steps ||
	    cfg->coll.chunk_steps % cfg->coll.slice_steps != 0)
		return wf_err_say(
			err,
			"slice_steps: %u of chunk_steps %u of steps %u; each must divide the "
			"next",
			cfg->coll.slice_steps, cfg->coll.chunk_steps, cfg->coll.steps);
	if (!is_coll(cfg) && !wf_job_is_train(cfg) && cfg->file[0] == '\0')
		return wf_err_say(err, "kind: %s is read from a file; name it as file", cfg->kind);
	if (!is_coll(cfg))
		return 0;
	make_coll(cfg, 2, &coll);
	return wf_coll_check(&coll, err);
}

int wf_job_cluster(const struct wf_job_cfg *cfg, uint32_t n_hosts, struct wf_cluster *cluster,
                   struct wf_err *err)
{
	uint32_t nics = cfg->nics == 0 ? cfg->gpus : cfg->nics;
	uint32_t most = n_hosts / nics * cfg->gpus;

	if (most == 0)
		return wf_err_say(
			err,
			"gpus_per_server: a server has %u NICs and the topology only %u "
			"hosts; write fewer GPUs, or fewer NICs for them (nics_per_server)",
			nics, n_hosts);
	if (cfg->ranks > most)
		return wf_err_say(err, "ranks: %u are too many; %u hosts have %u GPUs", cfg->ranks,
		                  n_hosts, most);
	*cluster = (struct wf_cluster){ .n_ranks = cfg->ranks == 0 ? most : cfg->ranks,
		                        .gpus = cfg->gpus,
		                        .nics = nics };
	if (cfg->root >= cluster->n_ranks)
		return wf_err_say(err, "root: there is no rank %u; write 0 to %u", cfg->root,
		                  cluster->n_ranks - 1);
	return 0;
}

/*
 * A scaled job's own costs are scaled too, and the sizes at which it does things differently: what
 * stays as it is, is the fabric.
 */
static uint64_t scaled(const struct wf_job_cfg *cfg, uint64_t value, uint64_t least)
{
	bool scales = wf_job_is_train(cfg) || strcmp(cfg->kind, "simai") == 0;
	unsigned __int128 product = (unsigned __int128)value * cfg->train.scale;

	return scales ? wf_max_u64((uint64_t)(product / WF_RATIO_ONE), least) : value;
}

uint64_t wf_job_scaled(const struct wf_job_cfg *cfg, uint64_t bytes)
{
	return scaled(cfg, bytes, 0);
}

static void scale_coll(const struct wf_job_cfg *cfg, struct wf_coll_cfg *coll)
{
	uint64_t *sizes[] = { &coll->buffer, &coll->p2p_chunk };
	wf_time *times[] = {
		&coll->launch,
		&coll->nvlink_ll,
		&coll->nvlink_ll128,
		&coll->nvlink_simple,
		&coll->net_ll,
		&coll->net_ll128,
		&coll->net_simple,
		&coll->tree_nvlink_ll,
		&coll->tree_nvlink_ll128,
		&coll->tree_nvlink_simple,
		&coll->tree_net_ll,
		&coll->tree_net_ll128,
		&coll->tree_net_simple,
		&coll->nvls,
		&coll->nvls_net,
		&coll->collnet_net,
	};

	*coll = cfg->coll;
	coll->scale = scaled(cfg, WF_RATIO_ONE, 1);
	coll->nvlink = cfg->net.nvlink.rate;
	for (size_t i = 0; i < WF_ARRAY_SIZE(sizes); i++)
		*sizes[i] = scaled(cfg, *sizes[i], 1);
	for (size_t i = 0; i < WF_ARRAY_SIZE(times); i++)
		*times[i] = *times[i] == WF_PARAM_AUTO
		                    ? WF_PARAM_AUTO
		                    : (wf_time)scaled(cfg, (uint64_t)*times[i], 0);
	coll->buffer = wf_max_u64(coll->buffer, wf_min_u64(cfg->coll.buffer, MIN_BUFFER));
	coll->p2p_chunk =
		wf_max_u64(coll->p2p_chunk, wf_min_u64(cfg->coll.p2p_chunk, MIN_P2P_CHUNK));
}

void wf_job_net(const struct wf_job_cfg *cfg, struct wf_job_net *net)
{
	*net = cfg->net;
	net->nvlink.latency =
		(wf_time)scaled(cfg, (uint64_t)net->nvlink.latency, (uint64_t)MIN_NVLINK_LATENCY);
	net->nvlink.rate = (uint64_t)((unsigned __int128)net->nvlink.rate * cfg->nvlink_efficiency /
	                              WF_RATIO_ONE);
}

/* Reading what a job's values name. */
struct loader {
	struct wf_job_cfg *cfg;
	const struct wf_settings *s; /* of cfg */
	const struct wf_place *place;
	const struct wf_paths *paths;
	struct wf_infiles *inputs;
	struct wf_arena *arena;
	struct wf_err *err;
};

/* Reads a profile of a kind into a configuration. */
static int load_profile(const struct loader *l, enum wf_profile_kind kind, const char *name,
                        const char *parameter, const struct wf_param *table, size_t n, void *config)
{
	struct wf_place at = wf_settings_place(l->s, parameter, l->place);
	struct wf_settings of;
	int ret = wf_settings_init(&of, parameter, table, n, config, l->arena, l->err);

	return ret != 0 ? ret
	                : wf_profile_apply(l->paths, kind, name, l->cfg->from, &at, l->inputs,
	                                   l->arena, &of, l->err);
}

/* The GPU; its NVLink and generation, unless somebody says otherwise. */
static int load_gpu(const struct loader *l)
{
	const struct wf_place none = { 0 };
	struct wf_job_cfg *cfg = l->cfg;
	int ret = load_profile(l, WF_PROFILE_GPU, cfg->gpu_name, "gpu", wf_gpu_params,
	                       wf_gpu_n_params, &cfg->gpu);

	if (ret != 0)
		return ret;
	if (wf_settings_place(l->s, "nvlink_rate", &none).file == NULL)
		cfg->net.nvlink.rate = cfg->gpu.nvlink;
	if (wf_settings_place(l->s, "generation", &none).file == NULL)
		memcpy(cfg->coll.generation, cfg->gpu.generation, sizeof(cfg->coll.generation));
	return 0;
}

static int load_model(const struct loader *l)
{
	struct wf_job_cfg *cfg = l->cfg;
	int ret = load_profile(l, WF_PROFILE_MODEL, cfg->model_name, "model", wf_model_params,
	                       wf_model_n_params, &cfg->model);

	if (ret != 0)
		return ret;
	if (cfg->sequence != 0)
		cfg->model.sequence = cfg->sequence;
	if (cfg->layers != 0)
		cfg->model.layers = cfg->layers;
	return 0;
}

int wf_job_load(struct wf_job_cfg *cfg, const struct wf_settings *s, const struct wf_place *place,
                const struct wf_paths *paths, const char *from, struct wf_infiles *inputs,
                struct wf_arena *arena, struct wf_err *err)
{
	const struct loader l = { cfg, s, place, paths, inputs, arena, err };
	struct wf_err why = { "" };
	int ret;

	cfg->from = from;
	cfg->inputs = inputs;
	ret = load_gpu(&l);
	if (ret == 0 && (wf_job_is_train(cfg) || strcmp(cfg->kind, "chakra") == 0))
		ret = load_model(&l);
	if (ret != 0 || wf_job_is_train(cfg) || is_coll(cfg))
		return ret;
	ret = wf_job_trace_note(cfg, inputs, &why);
	return ret == -EINVAL ? wf_settings_err(s, place, &why, err) : ret;
}

static int make_plan(const struct wf_job_cfg *cfg, const struct wf_coll_cfg *coll_cfg,
                     const struct wf_cluster *cluster, struct wf_plan **plan_p,
                     struct wf_train_info *info, struct wf_err *err)
{
	struct wf_mem *mem = wf_mem_heap();
	struct wf_coll coll;
	int ret;

	if (wf_job_is_train(cfg))
		return wf_train_plan(&cfg->train, &cfg->model, &cfg->gpu, cluster, mem, plan_p,
		                     info, err);
	make_coll(cfg, cluster->n_ranks, &coll);
	ret = wf_coll_check(&coll, err);
	ret = ret != 0 ? ret : wf_coll_check_here(&coll, cluster, coll_cfg, err);
	return ret != 0 ? ret : wf_plan_coll_create(cluster, &coll, cfg->iterations, mem, plan_p);
}

int wf_job_plan_schedule(const struct wf_job_cfg *cfg, struct wf_plan *plan,
                         const struct wf_coll_cfg *coll, const struct wf_nvlink *nvlink,
                         const struct wf_scale_net *net, struct wf_schedule **schedule_p,
                         uint64_t *excess_p, struct wf_err *err)
{
	int ret = cfg->train.scale == WF_RATIO_ONE
	                  ? 0
	                  : wf_job_scale_check(plan, coll, cfg->train.scale, cfg->train.scale_error,
	                                       net, excess_p, err);

	if (ret != 0) {
		plan->ops->destroy(plan);
		return ret;
	}
	return wf_plan_schedule(plan, coll, nvlink, net->reducer, wf_mem_heap(), schedule_p);
}

int wf_job_schedule(const struct wf_job_cfg *cfg, struct wf_cluster *cluster,
                    const struct wf_scale_net *net, struct wf_schedule **schedule_p,
                    struct wf_train_info *info, struct wf_err *err)
{
	const struct wf_nvlink *nvlink;
	struct wf_coll_cfg coll;
	struct wf_job_net inside;
	struct wf_plan *plan = NULL;
	int ret;

	scale_coll(cfg, &coll);
	coll.packet = net->packet;
	wf_job_net(cfg, &inside);
	inside.nvlink.lines = strcmp(cfg->inside, "estimate") == 0;
	nvlink = strcmp(cfg->inside, "execute") != 0 ? &inside.nvlink : NULL;
	if (!is_coll(cfg) && !wf_job_is_train(cfg))
		return wf_job_trace(cfg, &coll, nvlink, net, cluster, schedule_p, err);
	ret = make_plan(cfg, &coll, cluster, &plan, info, err);
	if (ret != 0)
		return ret;
	if (is_coll(cfg))
		return wf_plan_schedule(plan, &coll, nvlink, net->reducer, wf_mem_heap(),
		                        schedule_p);
	return wf_job_plan_schedule(cfg, plan, &coll, nvlink, net, schedule_p, &info->scale_excess,
	                            err);
}
