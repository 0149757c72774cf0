/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hpcc_run.c - from the input of the HPCC simulator to its output.
 *
 * Each pair of hosts has a base RTT (twice the delays, and the time of a full payload on every link
 * there) and a bandwidth (the least on the way), from which follow windows and the completion time
 * that a flow would have alone. Paths are shortest by links; hosts forward nothing.
 */
#define _POSIX_C_SOURCE 200809L
#include "lab/hpcc_run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cc/algs.h"

#define HEADER 48 /* bytes around a payload, without telemetry */
#define ACK_HEADER 46
#define MIN_ACK 60
#define INT_HPCC 42 /* bytes of telemetry in a packet */
#define INT_TIMELY 8
#define INT_PINT 2
#define NACK_INTERVAL (500 * WF_US)
#define FIRST_IP UINT32_C(0x0b000001)
#define ALPHA_ONE 1024
#define HALF_OF_ALPHA 11 /* rpg_gd: a decrease takes alpha / 2 */
#define NS_PER_S UINT64_C(1000000000)

/* What lies between two hosts. */
struct pair {
	uint64_t rtt; /* ns */
	uint64_t bw;  /* bits/s */
	uint64_t bdp; /* bytes */
};

/* A run being prepared. */
struct job {
	const struct wf_hpcc_input *in;
	struct wf_fabric_cfg fabric;
	struct wf_hpcc_flow *flows;
	struct pair *pairs; /* by flow */
	uint64_t max_rtt, max_bdp;
	const struct wf_cc_ops *cc;
	uint64_t seed;
	char *params; /* of cc: one for all, or one for each flow */
	struct wf_pins pins;
};

/* ---- pairs ---- */

/* What a search from one host knows of a node. */
struct reach {
	uint64_t delay, tx; /* ns */
	uint64_t bw;
	uint32_t from; /* the node before it */
	bool seen;
};

/* Searches from node from, over links; queue has room for every node. */
static void search(const struct wf_hpcc_input *in, uint32_t from, struct reach *reach,
                   uint32_t *queue)
{
	const struct wf_topo *topo = in->topo;
	uint32_t n = 0;

	memset(reach, 0, topo->n_nodes * sizeof(*reach));
	reach[from] = (struct reach){ .bw = UINT64_MAX, .from = WF_TOPO_NONE, .seen = true };
	queue[n++] = from;
	for (uint32_t i = 0; i < n; i++) {
		const struct wf_topo_node *node = &topo->nodes[queue[i]];
		const struct reach *r = &reach[queue[i]];

		if (node->kind == WF_TOPO_HOST && queue[i] != from)
			continue;
		for (uint32_t p = 0; p < node->n_ports; p++) {
			const struct wf_topo_port *port = &topo->ports[node->first_port + p];
			const struct wf_topo_link *l = &topo->links[port->link];

			/* Of several links between two nodes the last counts. */
			if (reach[port->peer].seen && reach[port->peer].from != queue[i])
				continue;
			if (!reach[port->peer].seen)
				queue[n++] = port->peer;
			reach[port->peer] = (struct reach){
				.delay = r->delay + (uint64_t)(l->delay / WF_NS),
				.tx = r->tx + in->config.payload * NS_PER_S * 8 / l->rate,
				.bw = wf_min_u64(r->bw, l->rate),
				.from = queue[i],
				.seen = true,
			};
		}
	}
}

static struct pair pair_of(const struct reach *r)
{
	struct pair p = { .rtt = 2 * r->delay + r->tx, .bw = r->bw };

	p.bdp = (uint64_t)((unsigned __int128)p.rtt * p.bw / NS_PER_S / 8);
	return p;
}

/* Fills in the pairs of all flows, and the largest RTT and BDP of any two hosts. */
static int find_pairs(struct job *job)
{
	const struct wf_topo *topo = job->in->topo;
	struct reach *reach = calloc(topo->n_nodes, sizeof(*reach));
	uint32_t *queue = calloc(topo->n_nodes, sizeof(*queue));
	int ret = reach == NULL || queue == NULL ? -ENOMEM : 0;

	for (uint32_t h = 0; h < topo->n_hosts && ret == 0; h++) {
		uint32_t dst = topo->host_node[h];

		search(job->in, dst, reach, queue);
		for (uint32_t k = 0; k < topo->n_hosts; k++) {
			struct pair p = pair_of(&reach[topo->host_node[k]]);

			if (k == h)
				continue;
			job->max_rtt = wf_max_u64(job->max_rtt, p.rtt);
			job->max_bdp = wf_max_u64(job->max_bdp, p.bdp);
		}
		for (uint32_t i = 0; i < job->in->n_lines; i++) {
			if (job->in->lines[i].dst == dst)
				job->pairs[i] = pair_of(&reach[job->in->lines[i].src]);
		}
	}
	free(reach);
	free(queue);
	return ret;
}

/* ---- congestion control ---- */

static bool has_telemetry(const struct wf_hpcc_config *c)
{
	return c->cc_mode == WF_HPCC_HPCC || c->cc_mode == WF_HPCC_PINT;
}

static void set_dcqcn(const struct wf_hpcc_config *c, uint64_t window, struct wf_cc_dcqcn_param *p)
{
	p->rpg_time_reset = c->rp_timer;
	p->rpg_byte_reset = 0;
	p->rpg_threshold = c->recovery_times;
	p->rpg_gd = HALF_OF_ALPHA;
	p->rpg_ai_rate = c->rate_ai;
	p->rpg_hai_rate = c->rate_hai;
	p->rpg_min_rate = c->min_rate;
	p->rpg_max_rate = 0;
	p->rpg_min_dec_fac = 0;
	p->initial_alpha_value = ALPHA_ONE;
	p->dce_tcp_g = c->gain;
	p->dce_tcp_rtt = c->alpha_resume;
	p->rate_to_set_on_first_cnp = (uint64_t)WF_PARAM_AUTO;
	p->rate_reduce_monitor_period = c->rate_decrease;
	p->clamp_tgt_rate = c->clamp_target;
	p->cnp_on_ack = true;
	p->release = false;
	memcpy(p->alpha_update, "timer", sizeof("timer"));
	memcpy(p->rate_decrease, "timer", sizeof("timer"));
	p->decrease_phase = WF_NS;
	p->window = window;
	p->window_slack = 0;
	p->window_scales = c->var_win;
}

static void set_hpcc(const struct wf_hpcc_config *c, uint64_t window, uint64_t rtt_ns,
                     uint64_t seed, struct wf_cc_hpcc_ns3_param *p)
{
	p->base_rtt = (wf_time)rtt_ns * WF_NS;
	p->eta = c->u_target;
	p->max_stage = c->mi_thresh;
	p->fast_react = c->fast_react;
	p->multi_rate = c->multi_rate;
	p->sample_feedback = c->sample_feedback;
	p->rate_ai = c->rate_ai;
	p->min_rate = c->min_rate;
	p->window = window;
	p->window_slack = 0;
	p->window_scales = c->var_win;
	p->int_multi = c->int_multi;
	p->pint = c->cc_mode == WF_HPCC_PINT;
	p->pint_prob = c->pint_prob;
	p->pint_seed = seed;
}

static void set_timely(const struct wf_hpcc_config *c, uint64_t window,
                       struct wf_cc_timely_param *p)
{
	p->ewma = WF_PROB_ONE / 8 * 7;
	p->beta = WF_PROB_ONE / 10 * 8;
	p->t_low = 50 * WF_US;
	p->t_high = 500 * WF_US;
	p->min_rtt = 20 * WF_US;
	p->hai_after = 5;
	p->segment = 0;
	p->ai_rate = c->rate_ai;
	p->hai_rate = c->rate_hai;
	p->min_rate = c->min_rate;
	p->window = window;
	p->window_slack = 0;
	p->window_scales = c->var_win;
}

static void set_dctcp(const struct wf_hpcc_config *c, uint64_t window, struct wf_cc_dctcp_param *p)
{
	memcpy(p->mode, "rate", sizeof("rate"));
	p->g = c->gain;
	p->mtu = c->payload;
	p->window = window;
	p->window_slack = 0;
	p->window_scales = c->var_win;
	p->count_acks = true;
	p->loss_reacts = false;
	p->rate_ai = c->dctcp_rate_ai;
	p->min_rate = c->min_rate;
}

static int set_param(const struct job *job, const struct pair *pair, void *param,
                     struct wf_err *err)
{
	const struct wf_hpcc_config *c = &job->in->config;
	uint64_t window = c->global_t ? job->max_bdp : pair->bdp;
	uint64_t rtt = c->global_t ? job->max_rtt : pair->rtt;
	int ret = wf_param_defaults(job->cc->params, job->cc->n_params, param, err);

	if (ret != 0)
		return ret;
	if (!c->has_win)
		window = 0;
	switch (c->cc_mode) {
	case WF_HPCC_HPCC:
	case WF_HPCC_PINT:
		set_hpcc(c, window, rtt, job->seed, param);
		break;
	case WF_HPCC_TIMELY:
		set_timely(c, window, param);
		break;
	case WF_HPCC_DCTCP:
		set_dctcp(c, window, param);
		break;
	default:
		set_dcqcn(c, window, param);
	}
	return 0;
}

static int set_cc(struct job *job, struct wf_err *err)
{
	const struct wf_hpcc_config *c = &job->in->config;
	uint32_t n = c->global_t ? 1 : job->in->n_lines;
	int ret = 0;

	job->cc = has_telemetry(c)               ? &wf_cc_hpcc_ns3
	          : c->cc_mode == WF_HPCC_TIMELY ? &wf_cc_timely
	          : c->cc_mode == WF_HPCC_DCTCP  ? &wf_cc_dctcp
	                                         : &wf_cc_dcqcn;
	job->params = calloc(n + (size_t)1, job->cc->param_size);
	if (job->params == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < n && ret == 0; i++)
		ret = set_param(job, &job->pairs[i], job->params + i * job->cc->param_size, err);
	for (uint32_t i = 0; i < job->in->n_lines; i++)
		job->flows[i].cc_param = job->params + (c->global_t ? 0 : i) * job->cc->param_size;
	return ret;
}

/* ---- fabric ---- */

static int set_fabric(struct job *job, struct wf_err *err)
{
	const struct wf_hpcc_config *c = &job->in->config;
	struct wf_fabric_cfg *f = &job->fabric;
	uint32_t mask = 0;
	size_t n = 0;
	int ret;

	for (uint32_t i = 0; i < job->in->n_lines; i++)
		mask |= 1u << job->in->lines[i].pg;
	ret = wf_hpcc_fabric_cfg(f, mask == 0 ? 1u << 3 : mask, err);
	if (ret != 0)
		return ret;
	f->mtu = c->payload;
	f->buffer_size = (uint64_t)c->buffer_mib << 20;
	if (c->cc_mode == WF_HPCC_HPCC)
		memcpy(f->switch_int, "int", sizeof("int"));
	if (c->cc_mode == WF_HPCC_PINT)
		memcpy(f->switch_int, "pint", sizeof("pint"));
	f->pint_base = c->pint_base;
	f->pint_rtt = (wf_time)job->max_rtt * WF_NS;
	if (job->in->paths != NULL)
		memcpy(f->routing, "pinned", sizeof("pinned"));
	if (!c->enable_qcn)
		f->class_ecn[0] = '\0';
	for (unsigned i = 0; c->enable_qcn && i < c->n_ecn; i++) {
		const struct wf_ecn_rate *e = &c->ecn[i];

		n += (size_t)snprintf(f->ecn_by_rate + n, sizeof(f->ecn_by_rate) - n,
		                      "%s%" PRIu64 "bps:%" PRIu64 "B:%" PRIu64 "B:%.12f",
		                      i == 0 ? "" : ",", e->rate, e->ecn.kmin, e->ecn.kmax,
		                      (double)e->ecn.pmax / (double)WF_PROB_ONE);
		if (n >= sizeof(f->ecn_by_rate))
			return wf_err_say(err, "KMAX_MAP: too many rates");
	}
	return 0;
}

static void set_hosts(const struct job *job, struct wf_hpcc_env *env)
{
	const struct wf_hpcc_config *c = &job->in->config;
	uint32_t extra = c->cc_mode == WF_HPCC_HPCC     ? INT_HPCC
	                 : c->cc_mode == WF_HPCC_PINT   ? INT_PINT
	                 : c->cc_mode == WF_HPCC_TIMELY ? INT_TIMELY
	                                                : 0;

	env->cc = job->cc;
	env->mtu = c->payload;
	env->header = HEADER + extra;
	env->ack_size = ACK_HEADER + extra < MIN_ACK ? MIN_ACK : ACK_HEADER + extra;
	env->ack_every = c->ack_interval;
	env->chunk = c->chunk;
	env->nack_interval = NACK_INTERVAL;
	env->rate_bound = c->rate_bound;
	env->ack_first = c->ack_high;
	env->telemetry = has_telemetry(c);
	env->back_to_zero = c->back_to_zero;
}

static int prepare(struct job *job, const struct wf_hpcc_input *in, uint64_t seed,
                   struct wf_err *err)
{
	int ret;

	memset(job, 0, sizeof(*job));
	job->in = in;
	job->seed = seed;
	job->flows = calloc(in->n_lines + (size_t)1, sizeof(*job->flows));
	job->pairs = calloc(in->n_lines + (size_t)1, sizeof(*job->pairs));
	if (job->flows == NULL || job->pairs == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < in->n_lines; i++) {
		const struct wf_hpcc_line *l = &in->lines[i];

		job->flows[i] = (struct wf_hpcc_flow){
			.src = in->topo->nodes[l->src].host,
			.dst = in->topo->nodes[l->dst].host,
			.size = l->size,
			.sport = (uint16_t)l->sport,
			.cls = (uint8_t)l->pg,
			.start = (wf_time)l->start_ns * WF_NS,
		};
	}
	job->pins = (struct wf_pins){ .path = in->paths, .n_flows = in->n_lines };
	ret = find_pairs(job);
	if (ret == 0)
		ret = set_cc(job, err);
	return ret != 0 ? ret : set_fabric(job, err);
}

static void finish(struct job *job)
{
	free(job->flows);
	free(job->pairs);
	free(job->params);
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

static void write_flow(const struct job *job, const struct ended *e, FILE *out)
{
	const struct wf_hpcc_line *l = &job->in->lines[e->flow];
	const struct pair *p = &job->pairs[e->flow];
	uint64_t packets = (l->size - 1) / job->in->config.payload + 1;
	uint64_t alone = p->rtt + (l->size + packets * HEADER) * 8 * NS_PER_S / p->bw;

	fprintf(out,
	        "%08" PRIx32 " %08" PRIx32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu64
	        " %" PRIu64 " %" PRIu64 "\n",
	        ip_of(l->src), ip_of(l->dst), l->sport, l->dport, l->size, l->start_ns,
	        (uint64_t)e->at / WF_NS - l->start_ns, alone);
}

static int write_fct(const struct job *job, const struct wf_hpcc_sim *sim, struct wf_hpcc_run *run,
                     FILE *out)
{
	uint32_t n = job->in->n_lines, done = 0;
	struct ended *ends = calloc(n + (size_t)1, sizeof(*ends));

	if (ends == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		wf_time at = wf_hpcc_sim_end(sim, i);

		if (at != WF_TIME_NEVER)
			ends[done++] = (struct ended){ .at = at, .flow = i };
	}
	qsort(ends, done, sizeof(*ends), by_end);
	for (uint32_t i = 0; i < done; i++)
		write_flow(job, &ends[i], out);
	run->flows = n;
	run->flows_done = done;
	free(ends);
	return 0;
}

static int write_pfc(const struct job *job, const struct wf_hpcc_sim *sim, struct wf_hpcc_run *run,
                     FILE *out)
{
	struct wf_mem *mem = wf_mem_heap();
	struct wf_pause_note *notes;
	int ret = wf_hpcc_sim_pauses(sim, &notes, &run->pauses);

	if (ret != 0)
		return ret;
	for (size_t i = 0; i < run->pauses; i++)
		fprintf(out, "%" PRId64 " %" PRIu32 " %d %d %d\n", notes[i].at / WF_NS,
		        notes[i].node, job->in->topo->nodes[notes[i].node].kind == WF_TOPO_SWITCH,
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

static int simulate(struct job *job, const struct wf_hpcc_run_opts *opts, struct wf_hpcc_run *run,
                    struct wf_hpcc_sim **sim_p, struct wf_err *err)
{
	struct wf_hpcc_sim_cfg cfg = {
		.topo = job->in->topo,
		.fabric = &job->fabric,
		.flows = job->flows,
		.n_flows = job->in->n_lines,
		.pins = job->in->paths != NULL ? &job->pins : NULL,
		.loss = job->in->config.loss,
		.until = job->in->config.stop,
		.seed = opts->seed,
	};
	int ret;

	run->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	run->wall_ns = clock_ns(CLOCK_MONOTONIC);
	set_hosts(job, &cfg.host);
	ret = wf_hpcc_sim_create(&cfg, sim_p, err);
	if (ret == 0)
		ret = wf_hpcc_sim_run(*sim_p);
	run->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - run->cpu_ns;
	run->wall_ns = clock_ns(CLOCK_MONOTONIC) - run->wall_ns;
	return ret;
}

int wf_hpcc_run(const struct wf_hpcc_input *in, const struct wf_hpcc_run_opts *opts,
                struct wf_hpcc_run *run, struct wf_err *err)
{
	struct wf_hpcc_sim *sim = NULL;
	struct wf_out fct = { 0 }, pfc = { 0 };
	struct job job;
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
	ret = prepare(&job, in, opts->seed, err);
	if (ret == 0)
		ret = simulate(&job, opts, run, &sim, err);
	if (ret == 0)
		ret = write_fct(&job, sim, run, fct.file);
	if (ret == 0)
		ret = write_pfc(&job, sim, run, pfc.file);
	if (ret == 0)
		wf_hpcc_sim_counts(sim, &run->counts);
	if (ret == 0)
		ret = wf_out_commit(&fct, err);
	if (ret == 0)
		ret = wf_out_commit(&pfc, err);
	wf_out_abort(&fct);
	wf_out_abort(&pfc);
	wf_hpcc_sim_destroy(sim);
	finish(&job);
	return ret;
}
