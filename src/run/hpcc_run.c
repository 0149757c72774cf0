/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hpcc_run.c - the files of the HPCC simulator: reads its input, runs it, writes its output.
 */
#define _POSIX_C_SOURCE 200809L
#include "run/hpcc_run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "text/file.h"
#include "ns3/setup.h"

#define FIRST_IP UINT32_C(0x0b000001)
#define NS_PER_S UINT64_C(1000000000)

/* ---- input ---- */

#define FOLDERS_UP 2

/* Reads the file called name: beside from, or one or two folders further up. */
static int read_named(const char *from, const char *name, char path[WF_PATH_MAX], char **text_p,
                      size_t *len_p, struct wf_err *err)
{
	char up[sizeof(((struct wf_ns3_config *)0)->flows) + 3 * FOLDERS_UP];
	size_t n = 0;

	if (wf_file_beside(from, name, path) != 0)
		return wf_err_say(err, "%s: the name is too long", name);
	for (int i = 0; i < FOLDERS_UP && name[0] != '/' && !wf_file_exists(path); i++) {
		char other[WF_PATH_MAX];

		memcpy(up + n, "../", 3);
		n += 3;
		memcpy(up + n, name, strlen(name) + 1);
		if (wf_file_beside(from, up, other) == 0 && wf_file_exists(other))
			memcpy(path, other, WF_PATH_MAX);
	}
	return wf_file_read(path, WF_FILE_MAX, wf_mem_heap(), text_p, len_p, err);
}

static int read_topology(struct wf_ns3_input *in, const char *config, struct wf_err *err)
{
	struct wf_mem *mem = wf_mem_heap();
	char path[WF_PATH_MAX], *text = NULL;
	struct wf_topo_cfg cfg;
	size_t len = 0;
	int ret = wf_param_defaults(wf_topo_params, wf_topo_n_params, &cfg, err);

	if (ret == 0)
		ret = read_named(config, in->config.topology, path, &text, &len, err);
	if (ret != 0)
		return ret;
	ret = wf_topo_find("hpcc")->build(&cfg, text, len, path, mem, &in->topo, err);
	mem->free(mem, text);
	return ret;
}

static int read_flows(struct wf_ns3_input *in, const char *config, struct wf_err *err)
{
	struct wf_mem *mem = wf_mem_heap();
	char path[WF_PATH_MAX], *text = NULL;
	size_t len = 0;
	int ret = read_named(config, in->config.flows, path, &text, &len, err);

	if (ret != 0)
		return ret;
	ret = wf_ns3_flows_parse(in, text, len, path, err);
	mem->free(mem, text);
	return ret;
}

int wf_hpcc_input_read(struct wf_ns3_input *in, const char *config, const char *paths,
                       struct wf_err *err)
{
	struct wf_mem *mem = wf_mem_heap();
	char *text = NULL;
	size_t len = 0;
	int ret;

	memset(in, 0, sizeof(*in));
	ret = wf_file_read(config, WF_FILE_MAX, mem, &text, &len, err);
	if (ret != 0)
		return ret;
	ret = wf_ns3_config_parse(&in->config, text, len, config, err);
	mem->free(mem, text);
	if (ret == 0)
		ret = read_topology(in, config, err);
	if (ret == 0)
		ret = read_flows(in, config, err);
	if (ret == 0 && paths != NULL) {
		ret = wf_file_read(paths, WF_FILE_MAX, mem, &text, &len, err);
		if (ret == 0) {
			ret = wf_ns3_paths_parse(in, text, len, paths, err);
			mem->free(mem, text);
		}
	}
	if (ret != 0)
		wf_ns3_input_fini(in);
	return ret;
}

/* ---- output ---- */

/* A flow that ended. */
struct ended {
	wf_time at;
	uint32_t flow;
};

static int by_end(const void *a, const void *b)
{
	const struct ended *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->flow < y->flow ? -1 : x->flow > y->flow;
}

static uint32_t ip_of(uint32_t node)
{
	return FIRST_IP + ((node / 256) << 16) + ((node % 256) << 8);
}

static void write_flow(const struct wf_ns3_setup *s, const struct ended *e, FILE *out)
{
	const struct wf_ns3_line *l = &s->in->lines[e->flow];

	fprintf(out,
	        "%08" PRIx32 " %08" PRIx32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu64
	        " %" PRIu64 " %" PRIu64 "\n",
	        ip_of(l->src), ip_of(l->dst), l->sport, l->dport, l->size, l->start_ns,
	        (uint64_t)e->at / WF_NS - l->start_ns, wf_ns3_setup_alone(s, e->flow));
}

static int write_fct(const struct wf_ns3_setup *s, const struct wf_ns3_sim *sim,
                     struct wf_hpcc_run *run, FILE *out)
{
	uint32_t n = s->in->n_lines, done = 0;
	struct ended *ends = calloc(n + (size_t)1, sizeof(*ends));

	if (ends == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		wf_time at = wf_ns3_sim_end(sim, i);

		if (at != WF_TIME_NEVER)
			ends[done++] = (struct ended){ .at = at, .flow = i };
	}
	qsort(ends, done, sizeof(*ends), by_end);
	for (uint32_t i = 0; i < done; i++)
		write_flow(s, &ends[i], out);
	run->flows = n;
	run->flows_done = done;
	free(ends);
	return 0;
}

static int write_pfc(const struct wf_ns3_setup *s, const struct wf_ns3_sim *sim,
                     struct wf_hpcc_run *run, FILE *out)
{
	struct wf_mem *mem = wf_mem_heap();
	struct wf_ns3_pause *notes;
	int ret = wf_ns3_sim_pauses(sim, &notes, &run->pauses);

	if (ret != 0)
		return ret;
	for (size_t i = 0; i < run->pauses; i++)
		fprintf(out, "%" PRId64 " %" PRIu32 " %d %d %d\n", notes[i].at / WF_NS,
		        notes[i].node, s->in->topo->nodes[notes[i].node].kind == WF_TOPO_SWITCH,
		        notes[i].port + 1, notes[i].stop);
	mem->free(mem, notes);
	return 0;
}

static int open_out(struct wf_out *out, const char *dir, const char *name, struct wf_err *err)
{
	char path[WF_PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
		return wf_err_say(err, "%s: the name is too long", dir);
	return wf_out_open(out, path, err);
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

static int simulate(const struct wf_ns3_setup *s, struct wf_hpcc_run *run,
                    struct wf_ns3_sim **sim_p, struct wf_err *err)
{
	int ret;

	run->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	run->wall_ns = clock_ns(CLOCK_MONOTONIC);
	ret = wf_ns3_sim_create(&s->sim, sim_p, err);
	if (ret == 0)
		ret = wf_ns3_sim_run(*sim_p);
	run->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - run->cpu_ns;
	run->wall_ns = clock_ns(CLOCK_MONOTONIC) - run->wall_ns;
	return ret;
}

int wf_hpcc_run(const struct wf_ns3_input *in, const struct wf_hpcc_run_opts *opts,
                struct wf_hpcc_run *run, struct wf_err *err)
{
	struct wf_ns3_sim *sim = NULL;
	struct wf_out fct = { 0 }, pfc = { 0 };
	struct wf_ns3_setup setup;
	int ret;

	memset(run, 0, sizeof(*run));
	if (mkdir(opts->out, 0777) != 0 && errno != EEXIST) {
		(void)wf_err_say(err, "%s: %s", opts->out, strerror(errno));
		return -EIO;
	}
	ret = open_out(&fct, opts->out, "fct.txt", err);
	if (ret != 0)
		return ret;
	ret = open_out(&pfc, opts->out, "pfc.txt", err);
	if (ret != 0) {
		wf_out_abort(&fct);
		return ret;
	}
	ret = wf_ns3_setup_init(&setup, in, opts->seed, err);
	if (ret == 0)
		ret = simulate(&setup, run, &sim, err);
	if (ret == 0)
		ret = write_fct(&setup, sim, run, fct.file);
	if (ret == 0)
		ret = write_pfc(&setup, sim, run, pfc.file);
	if (ret == 0)
		wf_ns3_sim_counts(sim, &run->counts);
	if (ret == 0)
		ret = wf_out_commit(&fct, err);
	if (ret == 0)
		ret = wf_out_commit(&pfc, err);
	wf_out_abort(&fct);
	wf_out_abort(&pfc);
	wf_ns3_sim_destroy(sim);
	wf_ns3_setup_fini(&setup);
	return ret;
}
