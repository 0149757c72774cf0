/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_json.c - the same figures as the table, for programs; schemas/weft.run.1.schema.json says
 * what each key is.
 */
#include <string.h>

#include "text/json.h"
#include "run/report.h"

static void put_net(struct wf_json *j, const struct wf_scenario_net *net)
{
	wf_json_u64(j, "switches", net->topo->n_nodes - net->topo->n_hosts);
	wf_json_u64(j, "links", net->topo->n_links);
}

static void put_scenario(struct wf_json *j, const struct wf_scenario *s)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < s->flows.n; i++)
		bytes += s->flows.flow[i].bytes;
	wf_json_open(j, "scenario", '{');
	wf_json_text(j, "file", s->file);
	wf_json_text(j, "name", s->cfg.name);
	wf_json_u64(j, "seed", s->cfg.seed);
	wf_json_text(j, "topology", s->topo_cfg.kind);
	wf_json_u64(j, "hosts", s->n_hosts);
	if (s->n_nets == 1)
		put_net(j, &s->nets[0]);
	wf_json_u64(j, "host_rate_bps", s->host_rate);
	wf_json_u64(j, "receivers", s->receivers);
	wf_json_u64(j, "flows", s->flows.n);
	wf_json_u64(j, "bytes", bytes);
	wf_json_u64(j, "until_ps", (uint64_t)s->cfg.until);
	wf_json_close(j, '{');
}

static void put_hist(struct wf_json *j, const char *key, const struct wf_hist *h)
{
	wf_json_open(j, key, '{');
	wf_json_u64(j, "n", h->n);
	wf_json_u64(j, "min", h->n > 0 ? h->min : 0);
	wf_json_u64(j, "mean", wf_hist_mean(h));
	wf_json_u64(j, "p50", wf_hist_quantile(h, 500));
	wf_json_u64(j, "p99", wf_hist_quantile(h, 990));
	wf_json_u64(j, "max", h->max);
	wf_json_close(j, '{');
}

static void put_counts(struct wf_json *j, const struct wf_sim_counts *c)
{
	for (size_t i = 0; i < WF_PORT_COUNTERS_N; i++) {
		const struct wf_port_counter *row = &wf_port_counters[i];

		if (row->run != NULL)
			wf_json_u64(j, row->run, wf_counts_get(c, row));
	}
}

static void put_classes(struct wf_json *j, const struct wf_run *run)
{
	const struct wf_classes *classes = &run->fabric->classes;

	wf_json_open(j, "classes", '[');
	for (unsigned q = 0; q < run->result.n_queues; q++) {
		wf_json_open(j, NULL, '{');
		wf_json_u64(j, "id", run->result.queue_id[q]);
		wf_json_bool(j, "lossless", q < classes->n && classes->queue[q].lossless);
		put_counts(j, &run->result.queue[q]);
		wf_json_close(j, '{');
	}
	wf_json_close(j, '[');
}

static void put_notes(struct wf_json *j, const struct wf_run *run)
{
	wf_json_open(j, "notes", '[');
	for (unsigned i = 0; i < run->notes.n; i++) {
		wf_json_open(j, NULL, '{');
		wf_json_text(j, "rule", run->notes.note[i].rule);
		wf_json_text(j, "text", run->notes.note[i].text);
		wf_json_close(j, '{');
	}
	wf_json_close(j, '[');
}

/* A port, or with port WF_TOPO_NONE a whole device. */
static void put_place(struct wf_json *j, const struct wf_topo *topo, uint32_t node, uint32_t port)
{
	wf_json_text(j, "node", topo->nodes[node].name);
	if (port == WF_TOPO_NONE) {
		wf_json_null(j, "port");
		wf_json_null(j, "to");
		return;
	}
	wf_json_u64(j, "port", port);
	wf_json_text(j, "to",
	             topo->nodes[topo->ports[topo->nodes[node].first_port + port].peer].name);
}

static void put_host(struct wf_json *j, const char *key, const struct wf_topo *topo, uint32_t host)
{
	wf_json_text(j, key, topo->nodes[topo->host_node[host]].name);
}

/* The last fault before a deadlock. */
static void put_fault(struct wf_json *j, const struct wf_topo *topo, const struct wf_sim_change *c)
{
	uint32_t node = c->what, port = WF_TOPO_NONE;

	if (c->kind == WF_SIM_CHANGE_NONE) {
		wf_json_null(j, "fault");
		return;
	}
	if (c->kind == WF_SIM_CHANGE_LINK_DOWN || c->kind == WF_SIM_CHANGE_LINK_UP) {
		node = topo->links[c->what].a;
		port = topo->links[c->what].a_port;
	} else if (c->kind == WF_SIM_CHANGE_PORT) {
		const struct wf_topo_port *out = &topo->ports[c->what];

		node = topo->ports[topo->nodes[out->peer].first_port + out->peer_port].peer;
		port = c->what - topo->nodes[node].first_port;
	}
	wf_json_open(j, "fault", '{');
	wf_json_text(j, "kind", wf_sim_change_name(c->kind));
	put_place(j, topo, node, port);
	wf_json_u64(j, "at_ps", (uint64_t)c->at);
	wf_json_close(j, '{');
}

/* The last time before it at which switches found new routes. */
static void put_routes(struct wf_json *j, const struct wf_topo *topo, const struct wf_sim_change *c)
{
	if (c->kind == WF_SIM_CHANGE_NONE) {
		wf_json_null(j, "routes");
		return;
	}
	wf_json_open(j, "routes", '{');
	wf_json_u64(j, "at_ps", (uint64_t)c->at);
	wf_json_u64(j, "switches", c->switches);
	wf_json_u64(j, "behind", c->behind);
	if (c->behind > 0)
		wf_json_text(j, "behind_switch", topo->nodes[c->one_behind].name);
	else
		wf_json_null(j, "behind_switch");
	wf_json_close(j, '{');
}

/* One queue of a circle, and those of its packets that hold up the one before it. */
static void put_circle_link(struct wf_json *j, const struct wf_run *run,
                            const struct wf_deadlock *d, uint32_t i)
{
	const struct wf_topo *topo = run->fabric->net->topo;
	const struct wf_deadlock_link *l = &d->link[i];

	wf_json_open(j, NULL, '{');
	put_place(j, topo, l->node, l->port);
	wf_json_u64(j, "class", l->id);
	wf_json_u64(j, "since_ps", (uint64_t)l->since);
	wf_json_u64(j, "packets", l->packets);
	wf_json_u64(j, "bytes", l->bytes);
	put_host(j, "src", topo, l->src);
	put_host(j, "dst", topo, l->dst);
	wf_json_open(j, "held", '{');
	wf_json_text(j, "from", topo->nodes[d->link[(i + d->n - 1) % d->n].node].name);
	wf_json_u64(j, "packets", l->held);
	wf_json_u64(j, "bytes", l->held_bytes);
	put_host(j, "src", topo, l->held_src);
	put_host(j, "dst", topo, l->held_dst);
	wf_json_bool(j, "valley", l->valley);
	wf_json_close(j, '{');
	wf_json_close(j, '{');
}

static void put_deadlock(struct wf_json *j, const struct wf_run *run, const struct wf_deadlock *d)
{
	const struct wf_topo *topo = run->fabric->net->topo;

	wf_json_open(j, NULL, '{');
	wf_json_bool(j, "certain", d->certain);
	wf_json_u64(j, "formed_ps", (uint64_t)d->formed);
	wf_json_u64(j, "found_ps", (uint64_t)d->found);
	if (d->ended == WF_TIME_NEVER)
		wf_json_null(j, "ended_ps");
	else
		wf_json_u64(j, "ended_ps", (uint64_t)d->ended);
	wf_json_u64(j, "times", d->times);
	wf_json_u64(j, "formed_last_ps", (uint64_t)d->formed_last);
	wf_json_u64(j, "queues", d->queues);
	wf_json_u64(j, "packets", d->packets);
	wf_json_u64(j, "hosts", d->hosts);
	put_fault(j, topo, &d->fault);
	put_routes(j, topo, &d->routes);
	wf_json_u64(j, "closed_by", d->closed);
	wf_json_open(j, "circle", '[');
	for (uint32_t i = 0; i < d->n; i++)
		put_circle_link(j, run, d, i);
	wf_json_close(j, '[');
	wf_json_close(j, '{');
}

static void put_deadlocks(struct wf_json *j, const struct wf_run *run)
{
	wf_json_open(j, "deadlocks", '[');
	for (uint32_t i = 0; i < run->n_deadlocks; i++)
		put_deadlock(j, run, &run->deadlocks[i]);
	wf_json_close(j, '[');
}

static void put_ports(struct wf_json *j, const struct wf_topo *topo, const struct wf_run *run)
{
	wf_json_open(j, "ports", '[');
	for (size_t i = 0; i < run->n_ports; i++) {
		const struct wf_run_port *p = &run->ports[i];
		const struct wf_topo_node *node = &topo->nodes[p->node];

		wf_json_open(j, NULL, '{');
		wf_json_text(j, "node", node->name);
		wf_json_u64(j, "port", p->port);
		wf_json_text(j, "to",
		             topo->nodes[topo->ports[node->first_port + p->port].peer].name);
		wf_json_u64(j, "class", run->result.queue_id[p->queue]);
		put_counts(j, &p->counts);
		wf_json_close(j, '{');
	}
	wf_json_close(j, '[');
}

/* Cores are shares of the run's time in which they worked, added up. */
static void put_tcp(struct wf_json *j, const struct wf_sim_result *r)
{
	const struct wf_sim_tcp *t = &r->tcp;
	uint64_t end = (uint64_t)r->end;

	if (t->hosts == 0)
		return;
	wf_json_open(j, "tcp", '{');
	wf_json_u64(j, "hosts", t->hosts);
	wf_json_ratio(j, "cores_mean", t->busy, end * t->hosts);
	wf_json_ratio(j, "load_mean", t->busy, end * t->cores);
	wf_json_ratio(j, "cores_max", t->host_busy, end);
	wf_json_ratio(j, "load_max", t->host_busy, end * t->host_cores);
	wf_json_ratio(j, "core_max", t->core_busy, end);
	for (size_t i = 0; i < WF_TCP_CTRS; i++)
		wf_json_u64(j, wf_tcp_counters[i].name + strlen("tcp_"), t->counter[i]);
	wf_json_close(j, '{');
}

static void put_figures(struct wf_json *j, const struct wf_scenario *s, const struct wf_run *run)
{
	const struct wf_sim_result *r = &run->result;

	wf_json_bool(j, "finished", r->finished);
	wf_json_u64(j, "flows", r->flows);
	wf_json_u64(j, "flows_done", r->flows_done);
	if (run->completion < 0)
		wf_json_null(j, "completion_ps");
	else
		wf_json_u64(j, "completion_ps", (uint64_t)run->completion);
	wf_json_u64(j, "goodput_bps", run->goodput);
	wf_json_ratio(j, "goodput_of_line", run->goodput, s->host_rate * s->receivers);
	wf_json_u64(j, "bytes_delivered", r->bytes_delivered);
	wf_json_u64(j, "packets_sent", r->packets_sent);
	wf_json_u64(j, "packets_delivered", r->packets_delivered);
	wf_json_u64(j, "packets_dropped", r->packets_dropped);
	wf_json_u64(j, "packets_inside", r->packets_inside);
	wf_json_u64(j, "packets_resent", r->resent);
	wf_json_u64(j, "paths_migrated", r->adapters[WF_CTR_PATH_MIGRATIONS]);
	wf_json_u64(j, "lossless_drops", run->lossless_drops);
	wf_json_open(j, "total", '{');
	put_counts(j, &run->total);
	wf_json_close(j, '{');
	put_hist(j, "packet_latency_ps", &r->packet_latency);
	put_hist(j, "flow_completion_ps", &r->flow_time);
	wf_json_u64(j, "max_switch_bytes", r->max_switch_bytes);
	if (run->headroom_needed > 0) {
		wf_json_u64(j, "headroom_bytes", run->headroom);
		wf_json_u64(j, "headroom_needed_bytes", run->headroom_needed);
	}
	put_tcp(j, r);
	wf_json_u64(j, "hops", r->hops);
	wf_json_u64(j, "end_ps", (uint64_t)r->end);
}

/*
 * nccl-tests' figures of a group; algbw and busbw in bytes/s. NCCL's estimate is what it chooses
 * by.
 */
static void put_group(struct wf_json *j, const struct wf_job_group *g)
{
	wf_json_open(j, NULL, '{');
	wf_json_text(j, "name", g->group.name);
	wf_json_text(j, "kind", g->group.kind);
	wf_json_u64(j, "bytes", g->group.bytes);
	wf_json_u64(j, "ranks", g->group.ranks);
	if (g->group.algorithm != NULL) {
		wf_json_text(j, "algorithm", g->group.algorithm);
		wf_json_text(j, "protocol", g->group.protocol);
		wf_json_u64(j, "channels", g->group.channels);
	}
	if (g->group.estimate > 0)
		wf_json_u64(j, "nccl_estimate_ps", (uint64_t)g->group.estimate);
	wf_json_u64(j, "ranks_done", g->time.ranks);
	if (g->time.ranks > 0) {
		wf_json_u64(j, "begin_ps", (uint64_t)g->time.begin);
		wf_json_u64(j, "end_ps", (uint64_t)g->time.end);
	}
	wf_json_u64(j, "algbw", g->algbw);
	wf_json_u64(j, "busbw", g->busbw);
	wf_json_close(j, '{');
}

/* A training step: means over the GPUs. */
static void put_train(struct wf_json *j, const struct wf_run_train *train)
{
	const struct wf_train_result *r = &train->result;

	wf_json_open(j, "train", '{');
	wf_json_u64(j, "tokens", train->info.tokens);
	wf_json_u64(j, "mfu_ppm", (uint64_t)(1e6 * r->mfu + 0.5));
	wf_json_u64(j, "ideal_ps", (uint64_t)train->info.ideal);
	wf_json_u64(j, "computing_ps", (uint64_t)r->busy);
	wf_json_u64(j, "bubble_ps", (uint64_t)r->bubble);
	wf_json_u64(j, "exposed_tp_ps", (uint64_t)r->exposed[WF_TRAIN_TP]);
	wf_json_u64(j, "exposed_pp_ps", (uint64_t)r->exposed[WF_TRAIN_PP]);
	wf_json_u64(j, "exposed_ep_ps", (uint64_t)r->exposed[WF_TRAIN_EP]);
	wf_json_u64(j, "exposed_dp_ps", (uint64_t)r->exposed[WF_TRAIN_DP]);
	wf_json_u64(j, "exposed_other_ps", (uint64_t)r->other);
	wf_json_close(j, '{');
}

static void put_job(struct wf_json *j, const struct wf_run *run)
{
	const struct wf_job_result *job = run->job;

	wf_json_open(j, "job", '{');
	wf_json_bool(j, "finished", job->finished);
	wf_json_u64(j, "end_ps", (uint64_t)job->end);
	wf_json_u64(j, "operations", job->ops);
	wf_json_u64(j, "errors", job->errors);
	wf_json_u64(j, "connections", job->n_connections);
	wf_json_u64(j, "queue_pairs", job->n_queue_pairs);
	wf_json_u64(j, "messages", job->messages[1]);
	wf_json_u64(j, "message_bytes", job->bytes[1]);
	wf_json_u64(j, "nvlink_messages", job->messages[0]);
	wf_json_u64(j, "nvlink_bytes", job->bytes[0]);
	put_hist(j, "message_latency_ps", &job->latency[1]);
	put_hist(j, "nvlink_latency_ps", &job->latency[0]);
	wf_json_u64(j, "busy_mean_ps", (uint64_t)job->busy_mean);
	wf_json_u64(j, "busy_max_ps", (uint64_t)job->busy_max);
	wf_json_u64(j, "exposed_mean_ps", (uint64_t)job->exposed_mean);
	wf_json_u64(j, "exposed_max_ps", (uint64_t)job->exposed_max);
	if (run->train != NULL)
		put_train(j, run->train);
	wf_json_open(j, "groups", '[');
	for (uint32_t i = 0; i < job->n_groups; i++)
		put_group(j, &run->job_groups[i]);
	wf_json_close(j, '[');
	wf_json_open(j, "stuck", '[');
	for (unsigned i = 0; i < job->n_stuck && i < WF_JOB_STUCK; i++)
		wf_json_text(j, NULL, job->stuck[i].text);
	wf_json_close(j, '[');
	wf_json_close(j, '{');
}

static void put_latency(struct wf_json *j, const char *key, const char *tail,
                        const struct wf_hist *h)
{
	put_hist(j, key, h);
	wf_json_u64(j, tail, wf_hist_quantile(h, 999));
}

/* What subnet managers did. */
static void put_managed(struct wf_json *j, const struct wf_run *run)
{
	const struct wf_managed_result *m = run->managed;
	const struct wf_topo *topo = run->fabric->net->topo;

	wf_json_open(j, "sm", '{');
	if (m->master != WF_TOPO_NONE)
		wf_json_text(j, "master", topo->nodes[topo->host_node[m->master]].name);
	if (m->up != WF_TIME_NEVER)
		wf_json_u64(j, "up_ps", (uint64_t)m->up);
	wf_json_u64(j, "heavy_sweeps", m->sweeps);
	wf_json_u64(j, "reroutes", m->reroutes);
	if (m->reroutes > 0) {
		wf_json_u64(j, "reroute_last_ps", (uint64_t)m->reroute_last);
		wf_json_u64(j, "reroute_max_ps", (uint64_t)m->reroute_max);
	}
	wf_json_bool(j, "pending", m->pending);
	wf_json_u64(j, "smps", m->smps);
	wf_json_u64(j, "lost", m->lost);
	if (m->trees.sent > 0) {
		wf_json_open(j, "trees", '{');
		if (m->trees_up != WF_TIME_NEVER)
			wf_json_u64(j, "up_ps", (uint64_t)m->trees_up);
		wf_json_u64(j, "requests", m->trees.sent);
		wf_json_u64(j, "again", m->trees.again);
		wf_json_u64(j, "refused", m->trees.refused);
		wf_json_u64(j, "given_up", m->trees.lost);
		wf_json_u64(j, "groups_lost", m->trees_lost);
		if (m->trees_lost > 0)
			wf_json_u64(j, "lost_at_ps", (uint64_t)m->trees_lost_at);
		wf_json_close(j, '{');
	}
	wf_json_open(j, "requests", '{');
	for (unsigned i = 0; i < WF_SM_KINDS; i++) {
		if (m->stats.count[i].sent > 0)
			wf_json_u64(j, wf_sm_kind_names[i], m->stats.count[i].sent);
	}
	wf_json_close(j, '{');
	wf_json_close(j, '{');
}

/* The figures of an entry of the scenario's storage. */
static void put_storage(struct wf_json *j, const struct wf_storage_result *r)
{
	uint64_t all = r->latency[WF_STORAGE_READ].sum + r->latency[WF_STORAGE_WRITE].sum;
	bool began = r->begin != WF_TIME_NEVER;

	wf_json_open(j, NULL, '{');
	wf_json_text(j, "name", r->name);
	wf_json_text(j, "kind", r->kind);
	wf_json_text(j, "transport", r->transport);
	wf_json_u64(j, "hosts", r->hosts);
	wf_json_u64(j, "targets", r->targets);
	wf_json_u64(j, "queues", r->queues);
	wf_json_u64(j, "reads", r->ios[WF_STORAGE_READ]);
	wf_json_u64(j, "writes", r->ios[WF_STORAGE_WRITE]);
	wf_json_u64(j, "failed", r->failed);
	wf_json_u64(j, "open", r->open);
	wf_json_u64(j, "bytes_read", r->bytes[WF_STORAGE_READ]);
	wf_json_u64(j, "bytes_written", r->bytes[WF_STORAGE_WRITE]);
	if (began) {
		wf_json_u64(j, "begin_ps", (uint64_t)r->begin);
		wf_json_u64(j, "end_ps", (uint64_t)r->end);
	}
	for (size_t i = 0; i < WF_STORAGE_FIGURES; i++) {
		const struct wf_storage_figure *f = &wf_storage_figures[i];
		uint64_t value = f->has(r) ? f->get(r) : 0;

		if (f->key != NULL && !f->has(r))
			wf_json_null(j, f->key);
		else if (f->key != NULL)
			wf_json_u64(j, f->key, value);
	}
	wf_json_ratio(j, "device_share", r->device, all);
	put_latency(j, "read_latency_ps", "read_latency_p999_ps", &r->latency[WF_STORAGE_READ]);
	put_latency(j, "write_latency_ps", "write_latency_p999_ps", &r->latency[WF_STORAGE_WRITE]);
	wf_json_close(j, '{');
}

void wf_report_json(const struct wf_report *report, FILE *file)
{
	struct wf_json j;

	wf_json_init(&j, file);
	wf_json_document(&j, "weft.run", 1);
	put_scenario(&j, report->scenario);
	wf_json_open(&j, "runs", '[');
	for (size_t i = 0; i < report->n; i++) {
		const struct wf_run *run = &report->runs[i];

		wf_json_open(&j, NULL, '{');
		wf_json_text(&j, "fabric", run->fabric->label);
		wf_json_text(&j, "link_layer", run->fabric->cfg.link_layer);
		wf_json_text(&j, "flowctl", run->fabric->cfg.flowctl);
		wf_json_text(&j, "routing", run->fabric->cfg.routing);
		put_net(&j, run->fabric->net);
		put_figures(&j, report->scenario, run);
		if (run->job != NULL)
			put_job(&j, run);
		if (run->n_storage > 0)
			wf_json_open(&j, "storage", '[');
		for (size_t k = 0; k < run->n_storage; k++)
			put_storage(&j, &run->storage[k]);
		if (run->n_storage > 0)
			wf_json_close(&j, '[');
		if (run->managed != NULL)
			put_managed(&j, run);
		put_classes(&j, run);
		put_notes(&j, run);
		if (run->n_deadlocks > 0)
			put_deadlocks(&j, run);
		if (report->ports)
			put_ports(&j, run->fabric->net->topo, run);
		wf_json_close(&j, '{');
	}
	wf_json_close(&j, '[');
	wf_json_close(&j, '{');
}
