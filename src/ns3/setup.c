/* SPDX-License-Identifier: Apache-2.0 */
/*
 * setup.c - from the input of the HPCC simulator to a simulation.
 *
 * Each pair of hosts has a base RTT (twice the delays, and the time of a full payload on every link
 * there) and a bandwidth (the least on the way), from which follow windows and the completion time
 * that a flow would have alone. Paths are shortest by links; hosts forward nothing.
 */
#include "ns3/setup.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cc/algs.h"

#define HEADER 48 /* bytes around a payload, without telemetry */
#define ACK_HEADER 46
#define MIN_ACK 60
#define INT_HPCC 42 /* bytes of telemetry in a packet */
#define INT_TIMELY 8
#define INT_PINT 2
#define NACK_INTERVAL (500 * WF_US)
#define ALPHA_ONE 1024
#define HALF_OF_ALPHA 11 /* rpg_gd: a decrease takes alpha / 2 */
#define NS_PER_S UINT64_C(1000000000)

/* ---- pairs ---- */

/* What a search from one host knows of a node. */
struct reach {
	uint64_t delay, tx; /* ns */
	uint64_t bw;
	uint32_t from; /* the node before it */
	bool seen;
};

/* Searches from node from, over links; queue has room for every node. */
static void search(const struct wf_ns3_input *in, uint32_t from, struct reach *reach,
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
			assert(reach[port->peer].seen || n < topo->n_nodes);
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

static struct wf_ns3_pair pair_of(const struct reach *r)
{
	struct wf_ns3_pair p = { .rtt = 2 * r->delay + r->tx, .bw = r->bw };

	assert(r->seen); /* a topology is connected */
	p.bdp = (uint64_t)((unsigned __int128)p.rtt * p.bw / NS_PER_S / 8);
	return p;
}

/* Fills in the pairs of all flows, and the largest RTT and BDP of any two hosts. */
static int find_pairs(struct wf_ns3_setup *s)
{
	const struct wf_topo *topo = s->in->topo;
	struct wf_mem *mem = wf_mem_heap();
	struct reach *reach = mem->alloc(mem, topo->n_nodes * sizeof(*reach));
	uint32_t *queue = mem->alloc(mem, topo->n_nodes * sizeof(*queue));
	int ret = reach == NULL || queue == NULL ? -ENOMEM : 0;

	for (uint32_t h = 0; h < topo->n_hosts && ret == 0; h++) {
		uint32_t dst = topo->host_node[h];

		search(s->in, dst, reach, queue);
		for (uint32_t k = 0; k < topo->n_hosts; k++) {
			struct wf_ns3_pair p = pair_of(&reach[topo->host_node[k]]);

			if (k == h)
				continue;
			s->max_rtt = wf_max_u64(s->max_rtt, p.rtt);
			s->max_bdp = wf_max_u64(s->max_bdp, p.bdp);
		}
		for (uint32_t i = 0; i < s->in->n_lines; i++) {
			if (s->in->lines[i].dst == dst)
				s->pairs[i] = pair_of(&reach[s->in->lines[i].src]);
		}
	}
	mem->free(mem, reach);
	mem->free(mem, queue);
	return ret;
}

/* ---- congestion control ---- */

static bool has_telemetry(const struct wf_ns3_config *c)
{
	return c->cc_mode == WF_NS3_HPCC || c->cc_mode == WF_NS3_PINT;
}

static void set_dcqcn(const struct wf_ns3_config *c, uint64_t window, struct wf_cc_dcqcn_param *p)
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

static void set_hpcc(const struct wf_ns3_config *c, uint64_t window, uint64_t rtt_ns, uint64_t seed,
                     struct wf_cc_hpcc_ns3_param *p)
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
	p->pint = c->cc_mode == WF_NS3_PINT;
	p->pint_prob = c->pint_prob;
	p->pint_seed = seed;
}

static void set_timely(const struct wf_ns3_config *c, uint64_t window, struct wf_cc_timely_param *p)
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

static void set_dctcp(const struct wf_ns3_config *c, uint64_t window, struct wf_cc_dctcp_param *p)
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

static int set_param(const struct wf_ns3_setup *s, const struct wf_ns3_pair *pair, void *param,
                     struct wf_err *err)
{
	const struct wf_ns3_config *c = &s->in->config;
	uint64_t window = c->global_t ? s->max_bdp : pair->bdp;
	uint64_t rtt = c->global_t ? s->max_rtt : pair->rtt;
	int ret = wf_param_defaults(s->cc->params, s->cc->n_params, param, err);

	if (ret != 0)
		return ret;
	if (!c->has_win)
		window = 0;
	switch (c->cc_mode) {
	case WF_NS3_HPCC:
	case WF_NS3_PINT:
		set_hpcc(c, window, rtt, s->seed, param);
		break;
	case WF_NS3_TIMELY:
		set_timely(c, window, param);
		break;
	case WF_NS3_DCTCP:
		set_dctcp(c, window, param);
		break;
	default:
		set_dcqcn(c, window, param);
	}
	return 0;
}

static int set_cc(struct wf_ns3_setup *s, struct wf_err *err)
{
	const struct wf_ns3_config *c = &s->in->config;
	struct wf_mem *mem = wf_mem_heap();
	uint32_t n = c->global_t ? 1 : s->in->n_lines;
	int ret = 0;

	s->cc = has_telemetry(c)              ? &wf_cc_hpcc_ns3
	        : c->cc_mode == WF_NS3_TIMELY ? &wf_cc_timely
	        : c->cc_mode == WF_NS3_DCTCP  ? &wf_cc_dctcp
	                                      : &wf_cc_dcqcn;
	s->params = mem->alloc(mem, (n + (size_t)1) * s->cc->param_size);
	if (s->params == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < n && ret == 0; i++)
		ret = set_param(s, &s->pairs[i], s->params + i * s->cc->param_size, err);
	for (uint32_t i = 0; i < s->in->n_lines; i++)
		s->flows[i].cc_param = s->params + (c->global_t ? 0 : i) * s->cc->param_size;
	return ret;
}

/* ---- fabric ---- */

static int set_fabric(struct wf_ns3_setup *s, struct wf_err *err)
{
	const struct wf_ns3_config *c = &s->in->config;
	struct wf_fabric_cfg *f = &s->fabric;
	uint32_t mask = 0;
	size_t n = 0;
	int ret;

	for (uint32_t i = 0; i < s->in->n_lines; i++)
		mask |= 1u << s->in->lines[i].pg;
	ret = wf_ns3_fabric_cfg(f, mask == 0 ? 1u << 3 : mask, err);
	if (ret != 0)
		return ret;
	f->mtu = c->payload;
	f->buffer_size = (uint64_t)c->buffer_mib << 20;
	if (c->cc_mode == WF_NS3_HPCC)
		memcpy(f->switch_int, "int", sizeof("int"));
	if (c->cc_mode == WF_NS3_PINT)
		memcpy(f->switch_int, "pint", sizeof("pint"));
	f->pint_base = c->pint_base;
	f->pint_rtt = (wf_time)s->max_rtt * WF_NS;
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

static void set_hosts(const struct wf_ns3_setup *s, struct wf_ns3_env *env)
{
	const struct wf_ns3_config *c = &s->in->config;
	uint32_t extra = c->cc_mode == WF_NS3_HPCC     ? INT_HPCC
	                 : c->cc_mode == WF_NS3_PINT   ? INT_PINT
	                 : c->cc_mode == WF_NS3_TIMELY ? INT_TIMELY
	                                               : 0;

	env->cc = s->cc;
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

/* ---- all together ---- */

static void set_flows(struct wf_ns3_setup *s)
{
	const struct wf_ns3_input *in = s->in;

	for (uint32_t i = 0; i < in->n_lines; i++) {
		const struct wf_ns3_line *l = &in->lines[i];

		assert(in->topo->nodes[l->src].kind == WF_TOPO_HOST &&
		       in->topo->nodes[l->dst].kind == WF_TOPO_HOST);
		s->flows[i] = (struct wf_ns3_flow){
			.src = in->topo->nodes[l->src].host,
			.dst = in->topo->nodes[l->dst].host,
			.size = l->size,
			.sport = (uint16_t)l->sport,
			.cls = (uint8_t)l->pg,
			.start = (wf_time)l->start_ns * WF_NS,
		};
	}
}

static void set_sim(struct wf_ns3_setup *s)
{
	const struct wf_ns3_input *in = s->in;

	s->paths = (struct wf_ns3_paths){ .path = in->paths, .n_flows = in->n_lines };
	s->sim = (struct wf_ns3_sim_cfg){
		.topo = in->topo,
		.fabric = &s->fabric,
		.flows = s->flows,
		.n_flows = in->n_lines,
		.paths = in->paths != NULL ? &s->paths : NULL,
		.loss = in->config.loss,
		.until = in->config.stop,
		.seed = s->seed,
	};
	set_hosts(s, &s->sim.host);
}

int wf_ns3_setup_init(struct wf_ns3_setup *s, const struct wf_ns3_input *in, uint64_t seed,
                      struct wf_err *err)
{
	struct wf_mem *mem = wf_mem_heap();
	int ret;

	memset(s, 0, sizeof(*s));
	s->in = in;
	s->seed = seed;
	s->flows = mem->alloc(mem, (in->n_lines + (size_t)1) * sizeof(*s->flows));
	s->pairs = mem->alloc(mem, (in->n_lines + (size_t)1) * sizeof(*s->pairs));
	if (s->flows == NULL || s->pairs == NULL)
		return -ENOMEM;
	set_flows(s);
	ret = find_pairs(s);
	if (ret == 0)
		ret = set_cc(s, err);
	if (ret == 0)
		ret = set_fabric(s, err);
	if (ret == 0)
		set_sim(s);
	return ret;
}

void wf_ns3_setup_fini(struct wf_ns3_setup *s)
{
	struct wf_mem *mem = wf_mem_heap();

	mem->free(mem, s->flows);
	mem->free(mem, s->pairs);
	mem->free(mem, s->params);
}

uint64_t wf_ns3_setup_alone(const struct wf_ns3_setup *s, uint32_t flow)
{
	const struct wf_ns3_pair *p = &s->pairs[flow];
	uint64_t size = s->in->lines[flow].size;
	uint64_t packets = (size - 1) / s->in->config.payload + 1;

	assert(flow < s->in->n_lines && p->bw > 0);
	return p->rtt + (size + packets * HEADER) * 8 * NS_PER_S / p->bw;
}
