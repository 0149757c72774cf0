/* SPDX-License-Identifier: Apache-2.0 */
/* job_trace.c - a job that is read from other programs' files. */
#include "scenario/job_trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job/flows.h"
#include "job/read.h"
#include "job/trace.h"
#include "text/file.h"
#include "scenario/yaml.h"
#include "ns3/config.h"

#define MAX_GROUPS 100000

/* Messages of readers have the place in the file; this adds the parameter that named it. */
static int say_why(const char *parameter, const struct wf_err *why, struct wf_err *err)
{
	return wf_err_say(err, "%s: %s", parameter, why->text);
}

static int read_named(const struct wf_job_cfg *cfg, const char *name, size_t limit,
                      char path[WF_PATH_MAX], char **text_p, size_t *len_p, struct wf_err *err)
{
	if (wf_file_beside(cfg->from, name, path) != 0)
		return wf_err_say(err, "the name is too long");
	return wf_infiles_again(cfg->inputs, path, limit, wf_mem_heap(), text_p, len_p, err);
}

/* ---- the HPCC simulator's flows ---- */

/* Node n is rank n, and the first flow starts at 0. */
static int add_flows(const struct wf_ns3_input *in, const char *path,
                     struct wf_schedule **schedule_p, struct wf_err *err)
{
	struct wf_mem *mem = wf_mem_heap();
	struct wf_job_flow *flows = calloc(in->n_lines + (size_t)1, sizeof(*flows));
	struct wf_trace *trace = NULL;
	uint32_t n_ranks = 1;
	int ret = flows == NULL ? -ENOMEM : 0;

	for (uint32_t i = 0; ret == 0 && i < in->n_lines; i++) {
		const struct wf_ns3_line *l = &in->lines[i];

		flows[i] = (struct wf_job_flow){
			.bytes = l->size,
			.start = (wf_time)(l->start_ns - in->lines[0].start_ns) * WF_NS,
			.src = l->src,
			.dst = l->dst,
		};
		n_ranks = (uint32_t)wf_max_u64(n_ranks, wf_max_u64(l->src, l->dst) + 1);
	}
	if (ret == 0)
		ret = wf_trace_create(n_ranks, mem, &trace);
	if (ret == 0)
		ret = wf_flows_add(trace, flows, in->n_lines, mem);
	if (ret == 0)
		ret = wf_trace_finish(trace, path, schedule_p, err);
	if (ret == -E2BIG)
		ret = wf_err_at(err, path, 0, 0, "there are too many flows");
	if (ret != 0)
		wf_trace_destroy(trace);
	free(flows);
	return ret;
}

static int read_hpcc(const char *text, size_t len, const char *path,
                     struct wf_schedule **schedule_p, struct wf_err *err)
{
	struct wf_ns3_input in = { .max_nodes = WF_TRACE_MAX_RANKS };
	int ret = wf_ns3_flows_parse(&in, text, len, path, err);

	if (ret == 0)
		ret = add_flows(&in, path, schedule_p, err);
	wf_ns3_input_fini(&in);
	return ret;
}

/* ---- one file ---- */

static int read_one(const struct wf_job_cfg *cfg, const struct wf_cluster *cluster,
                    struct wf_schedule **schedule_p, struct wf_plan **plan_p, struct wf_err *why)
{
	struct wf_mem *mem = wf_mem_heap();
	char path[WF_PATH_MAX], *text = NULL;
	size_t len = 0;
	int ret = read_named(cfg, cfg->file, WF_FILE_MAX, path, &text, &len, why);

	if (ret != 0)
		return ret;
	if (strcmp(cfg->kind, "goal") == 0)
		ret = wf_read_goal(text, len, path, mem, schedule_p, why);
	else if (strcmp(cfg->kind, "htsim") == 0)
		ret = wf_read_htsim(text, len, path, mem, schedule_p, why);
	else if (strcmp(cfg->kind, "hpcc") == 0)
		ret = read_hpcc(text, len, path, schedule_p, why);
	else
		ret = wf_read_simai(text, len, path, cluster, cfg->train.scale, mem, plan_p, why);
	mem->free(mem, text);
	return ret;
}

/* ---- Chakra ---- */

static int read_group(const struct wf_ynode *node, uint32_t n_ranks, struct wf_arena *arena,
                      struct wf_read_group *group, struct wf_err *err)
{
	static const struct wf_param row = { .kind = WF_PARAM_U32,
		                             .size = sizeof(uint32_t),
		                             .max = INT32_MAX };
	uint32_t *ranks = wf_arena_alloc(arena, (node->n + 1) * sizeof(*ranks), sizeof(*ranks));

	if (ranks == NULL)
		return -ENOMEM;
	if (node->kind != WF_YNODE_SEQUENCE || node->n == 0)
		return wf_ynode_err(node, err, "a group is a list of ranks, e.g. [0, 1]");
	*group = (struct wf_read_group){ .name = node->key->text, .ranks = ranks };
	for (const struct wf_ynode *v = node->child; v != NULL; v = v->next) {
		struct wf_err why = { "" };
		uint32_t i = group->n++;

		if (v->kind != WF_YNODE_SCALAR ||
		    wf_param_set(&row, &ranks[i], v->text, &why) != 0 || ranks[i] >= n_ranks ||
		    (i > 0 && ranks[i] <= ranks[i - 1]))
			return wf_ynode_err(
				v, err,
				"the ranks of a group are numbers below %u, each larger "
				"than the one before",
				(unsigned)n_ranks);
	}
	return 0;
}

/* {"name": [0, 1], ...} */
static int read_groups(const struct wf_job_cfg *cfg, struct wf_arena *arena,
                       struct wf_chakra_cfg *chakra, struct wf_err *err)
{
	struct wf_ynode *root = NULL;
	struct wf_read_group *groups;
	char path[WF_PATH_MAX], *text = NULL;
	size_t len = 0;
	int ret;

	if (cfg->groups[0] == '\0')
		return 0;
	ret = read_named(cfg, cfg->groups, WF_YAML_MAX_BYTES, path, &text, &len, err);
	if (ret == 0)
		ret = wf_yaml_parse(text, len, path, arena, &root, err);
	wf_mem_heap()->free(wf_mem_heap(), text);
	if (ret != 0)
		return ret;
	if (root->kind != WF_YNODE_MAPPING || root->n > MAX_GROUPS)
		return wf_ynode_err(root, err, "groups are a mapping of names to lists of ranks");
	groups = wf_arena_alloc(arena, (root->n + 1) * sizeof(*groups), sizeof(void *));
	if (groups == NULL)
		return -ENOMEM;
	for (const struct wf_ynode *v = root->child; ret == 0 && v != NULL; v = v->next)
		ret = read_group(v, chakra->cluster.n_ranks, arena, &groups[chakra->n_groups++],
		                 err);
	chakra->groups = groups;
	return ret;
}

#define RANK_NAME (sizeof(((struct wf_job_cfg *)0)->file) + 20)

/* "name.3.et" as seen from the scenario. */
static int file_of_rank(const struct wf_job_cfg *cfg, uint32_t rank, char name[RANK_NAME],
                        char path[WF_PATH_MAX])
{
	snprintf(name, RANK_NAME, "%s.%u.et", cfg->file, (unsigned)rank);
	return wf_file_beside(cfg->from, name, path);
}

/* How many ranks have a file, from 0 on. */
static uint32_t count_files(const struct wf_job_cfg *cfg, uint32_t most)
{
	char name[RANK_NAME], path[WF_PATH_MAX];
	uint32_t n = 0;

	while (n < most && file_of_rank(cfg, n, name, path) == 0 && wf_file_exists(path))
		n++;
	return n;
}

static int read_files(const struct wf_job_cfg *cfg, uint32_t n, struct wf_arena *arena,
                      struct wf_read_file *files, struct wf_err *err)
{
	int ret = 0;

	for (uint32_t r = 0; ret == 0 && r < n; r++) {
		char name[RANK_NAME], path[WF_PATH_MAX], *text = NULL;

		ret = 0;
		if (file_of_rank(cfg, r, name, path) != 0)
			ret = wf_err_say(err, "the name is too long");
		if (ret == 0)
			ret = wf_infiles_again(cfg->inputs, path, WF_FILE_MAX, wf_mem_heap(), &text,
			                       &files[r].len, err);
		files[r].bytes = text;
		files[r].name = wf_arena_strdup(arena, path, strlen(path));
		if (ret == 0 && files[r].name == NULL)
			ret = -ENOMEM;
	}
	return ret;
}

static int read_chakra(const struct wf_job_cfg *cfg, const struct wf_coll_cfg *coll,
                       const struct wf_nvlink *nvlink, const struct wf_net_reducer *reducer,
                       struct wf_cluster *cluster, struct wf_schedule **schedule_p,
                       struct wf_err *err)
{
	struct wf_chakra_cfg chakra = { .gpu = &cfg->gpu };
	struct wf_plan *plan = NULL;
	struct wf_read_file *files = NULL;
	struct wf_err why = { "" };
	struct wf_arena arena;
	uint32_t n = count_files(cfg, cluster->n_ranks);
	int ret;

	if (n == 0 || (cfg->ranks != 0 && n < cfg->ranks))
		return wf_err_say(err, "file: there is no %s.%u.et beside the scenario", cfg->file,
		                  (unsigned)n);
	wf_arena_init(&arena);
	cluster->n_ranks = n;
	chakra.cluster = *cluster;
	chakra.files = files = calloc(n, sizeof(*files));
	ret = files == NULL ? -ENOMEM : read_groups(cfg, &arena, &chakra, &why);
	if (ret == -EINVAL)
		say_why("groups", &why, err);
	if (ret == 0) {
		ret = read_files(cfg, n, &arena, files, &why);
		if (ret == 0)
			ret = wf_read_chakra(&chakra, wf_mem_heap(), &plan, &why);
		if (ret == -EINVAL)
			say_why("file", &why, err);
	}
	for (uint32_t r = 0; files != NULL && r < n; r++)
		wf_mem_heap()->free(wf_mem_heap(), (char *)(uintptr_t)files[r].bytes);
	free(files);
	wf_arena_fini(&arena);
	return ret != 0 ? ret
	                : wf_plan_schedule(plan, coll, nvlink, reducer, wf_mem_heap(), schedule_p);
}

/* ---- all of them ---- */

static int note_file(const struct wf_job_cfg *cfg, struct wf_infiles *inputs, const char *kind,
                     const char *name, struct wf_err *err)
{
	char path[WF_PATH_MAX];
	struct wf_err why = { "" };
	int ret = -EINVAL;

	if (wf_file_beside(cfg->from, name, path) != 0)
		(void)wf_err_say(&why, "the name is too long");
	else
		ret = wf_infiles_note(inputs, kind, name, path, &why);
	return ret == -EINVAL ? say_why(strcmp(kind, "groups") == 0 ? kind : "file", &why, err)
	                      : ret;
}

/* Those that there are: which of them are the job's is known when its ranks are. */
static int note_ranks(const struct wf_job_cfg *cfg, struct wf_infiles *inputs, struct wf_err *err)
{
	uint32_t n = count_files(cfg, cfg->ranks != 0 ? cfg->ranks : WF_TRACE_MAX_RANKS);
	int ret = 0;

	for (uint32_t r = 0; ret == 0 && r < n; r++) {
		char name[RANK_NAME], path[WF_PATH_MAX];

		(void)!file_of_rank(cfg, r, name, path);
		ret = note_file(cfg, inputs, "trace", name, err);
	}
	return ret;
}

int wf_job_trace_note(const struct wf_job_cfg *cfg, struct wf_infiles *inputs, struct wf_err *err)
{
	int ret = 0;

	if (strcmp(cfg->kind, "chakra") != 0)
		return note_file(cfg, inputs, "trace", cfg->file, err);
	if (cfg->groups[0] != '\0')
		ret = note_file(cfg, inputs, "groups", cfg->groups, err);
	return ret != 0 ? ret : note_ranks(cfg, inputs, err);
}

int wf_job_trace(const struct wf_job_cfg *cfg, const struct wf_coll_cfg *coll,
                 const struct wf_nvlink *nvlink, const struct wf_scale_net *net,
                 struct wf_cluster *cluster, struct wf_schedule **schedule_p, struct wf_err *err)
{
	struct wf_err why = { "" };
	struct wf_plan *plan = NULL;
	uint64_t excess;
	int ret;

	if (strcmp(cfg->kind, "chakra") == 0)
		return read_chakra(cfg, coll, nvlink, net->reducer, cluster, schedule_p, err);
	ret = read_one(cfg, cluster, schedule_p, &plan, &why);
	if (ret == -EINVAL)
		return say_why("file", &why, err);
	if (ret == 0 && plan != NULL)
		ret = wf_job_plan_schedule(cfg, plan, coll, nvlink, net, schedule_p, &excess, err);
	if (ret != 0)
		return ret;
	if ((*schedule_p)->n_ranks > cluster->n_ranks) {
		ret = wf_err_say(err, "file: %s has %u ranks; the cluster has %u GPUs", cfg->file,
		                 (unsigned)(*schedule_p)->n_ranks, (unsigned)cluster->n_ranks);
		wf_schedule_destroy(*schedule_p);
		*schedule_p = NULL;
		return ret;
	}
	cluster->n_ranks = (*schedule_p)->n_ranks;
	return 0;
}
