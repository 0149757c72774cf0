/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_run.c - what a scenario's run is of, and what came out of it.
 */
#include "run/record_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/run.h"

#define VALUE_TEXT 512

void wf_record_settings(struct wf_record_run *run, const char *prefix,
                        const struct wf_settings *settings)
{
	for (size_t i = 0; i < settings->n; i++) {
		const struct wf_place *place = &settings->place[i];
		char name[160], value[VALUE_TEXT], source[VALUE_TEXT];

		snprintf(name, sizeof(name), "%s%s", prefix, settings->table[i].name);
		wf_param_format(&settings->table[i], settings->config, value, sizeof(value));
		if (place->file != NULL && place->line > 0)
			snprintf(source, sizeof(source), "%s:%u", place->file, place->line);
		else if (place->file != NULL)
			snprintf(source, sizeof(source), "%s", place->file);
		wf_record_parameter(run, name, value, place->file != NULL ? source : NULL);
	}
}

static void put_parameters(struct wf_record_run *run, const struct wf_scenario *s, unsigned index)
{
	struct wf_topo_cfg cfg = s->fabrics[index].net->cfg;
	struct wf_settings topo = s->topo_settings;

	/* What the radix came to for this fabric, not auto. */
	topo.config = &cfg;
	wf_record_settings(run, "", &s->settings);
	wf_record_settings(run, "topology.", &topo);
	wf_record_settings(run, "fabric.", &s->fabrics[index].settings);
	if (s->job.given)
		wf_record_settings(run, "job.", &s->job.settings);
	for (unsigned i = 0; i < s->n_traffic; i++) {
		char prefix[32];

		snprintf(prefix, sizeof(prefix), "traffic.%u.", i);
		wf_record_settings(run, prefix, &s->traffic[i].settings);
	}
	for (unsigned i = 0; i < s->n_storage; i++) {
		char prefix[32];

		snprintf(prefix, sizeof(prefix), "storage.%u.", i);
		wf_record_settings(run, prefix, &s->storage[i].settings);
	}
}

int wf_recording_head_init(struct wf_recording_head *head, const struct wf_scenario *s,
                           unsigned index, const char *point)
{
	size_t n = 0;

	for (const struct wf_infile *in = s->inputs->first; in != NULL; in = in->next)
		n += wf_infile_is_of(in, index);
	head->inputs = calloc(n + 1, sizeof(*head->inputs));
	if (head->inputs == NULL)
		return -ENOMEM;
	wf_infiles_digest(s->inputs, index, head->digest);
	head->head = (struct wf_record_head){
		.label = s->fabrics[index].label,
		.fabric = s->fabrics[index].label,
		.place = index,
		.point = point,
		.scenario_file = s->file,
		.scenario = s->text,
		.overrides = s->overrides,
		.seed = s->cfg.seed,
		.until = s->cfg.until,
		.digest = head->digest,
		.inputs = head->inputs,
	};
	for (const struct wf_infile *in = s->inputs->first; in != NULL; in = in->next) {
		if (wf_infile_is_of(in, index))
			head->inputs[head->head.n_inputs++] =
				(struct wf_record_input){ in->kind, in->name, in->file, in->hash,
				                          in->size };
	}
	return 0;
}

void wf_recording_head_fini(struct wf_recording_head *head)
{
	free(head->inputs);
}

int wf_recording_job(struct wf_recording *rec, const struct wf_record_opts *opts,
                     const struct wf_schedule *schedule, const struct wf_cluster *cluster)
{
	if (opts->record == NULL || opts->brief)
		return 0;
	rec->job = wf_record_job_create(schedule, cluster);
	return rec->job == NULL ? -ENOMEM : 0;
}

int wf_recording_begin(struct wf_recording *rec, const struct wf_record_opts *opts,
                       const struct wf_scenario *s, unsigned index, struct wf_sim *sim)
{
	const struct wf_scenario_fabric *fabric = &s->fabrics[index];
	struct wf_recording_head of;
	const struct wf_record_sim_cfg cfg = {
		.topo = fabric->net->topo,
		.classes = &fabric->classes,
		.infiniband = strcmp(fabric->cfg.link_layer, "infiniband") == 0,
		.sample = opts->sample,
		.events = opts->events,
		.job = rec->job,
	};
	struct wf_err told_at_close = { "" };
	int ret;

	rec->opts = opts;
	rec->topo = cfg.topo;
	if (opts->record == NULL)
		return 0;
	if (wf_recording_head_init(&of, s, index, opts->point) != 0)
		return -ENOMEM;
	of.head.label = opts->label != NULL ? opts->label : of.head.label;
	of.head.sample = opts->sample;
	ret = wf_record_begin(opts->record, &of.head, &rec->run, &told_at_close);
	wf_recording_head_fini(&of);
	if (ret == 0) {
		put_parameters(rec->run, s, index);
		if (opts->brief)
			return 0;
		wf_record_topo(rec->run, cfg.topo);
		if (rec->job != NULL)
			wf_record_job_ranks(rec->job, rec->run, cfg.topo);
		ret = wf_record_sim_begin(rec->run, sim, &cfg, &rec->sim, &told_at_close);
	}
	return ret == -ENOMEM ? ret : 0;
}

void wf_recording_settle(struct wf_recording *rec, const struct wf_scenario *s,
                         const struct wf_sim *sim, wf_time end)
{
	if (rec->run == NULL || rec->opts->brief)
		return;
	wf_record_sim_end(rec->sim, end);
	rec->sim = NULL;
	for (size_t i = 0; i < s->flows.n; i++) {
		const struct wf_flow_spec *spec = &s->flows.flow[i];
		const struct wf_record_flow flow = {
			.id = i,
			.src = rec->topo->host_node[spec->src],
			.dst = rec->topo->host_node[spec->dst],
			.bytes = spec->bytes,
			.cls = spec->cls,
			.start = wf_sim_flow_start(sim, i),
			.end = wf_sim_flow_end(sim, i),
		};

		wf_record_flow(rec->run, &flow);
	}
}

static void put_counts(struct wf_record_run *run, const struct wf_sim_counts *c,
                       const char *flowctl)
{
	for (size_t i = 0; i < WF_PORT_COUNTERS_N; i++) {
		const struct wf_port_counter *row = &wf_port_counters[i];

		if (row->value == NULL)
			continue;
		if (wf_counter_is_of(row->of, flowctl))
			wf_record_value(run, row->value, wf_counts_get(c, row), row->unit);
		else
			wf_record_none(run, row->value, row->unit);
	}
}

static void put_hist(struct wf_record_run *run, const char *what, const struct wf_hist *h)
{
	static const struct {
		const char *suffix;
		unsigned per_mille;
	} row[] = { { "p50", 500 }, { "p99", 990 }, { "p999", 999 } };
	char name[64];

	if (h->n == 0)
		return;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		snprintf(name, sizeof(name), "%s_latency_%s", what, row[i].suffix);
		wf_record_value(run, name, wf_hist_quantile(h, row[i].per_mille), "ps");
	}
	snprintf(name, sizeof(name), "%s_latency_mean", what);
	wf_record_value(run, name, wf_hist_mean(h), "ps");
	snprintf(name, sizeof(name), "%s_latency_max", what);
	wf_record_value(run, name, h->max, "ps");
	wf_record_hist(run, what, h);
}

/* TCP, where there is any. */
static void put_tcp(struct wf_record_run *run, const struct wf_sim_result *r)
{
	const struct wf_sim_tcp *t = &r->tcp;
	double end = (double)r->end;

	if (t->hosts == 0 || r->end == 0)
		return;
	wf_record_real(run, "tcp_cores_mean", (double)t->busy / end / t->hosts, "cores");
	wf_record_real(run, "tcp_cores_max", (double)t->host_busy / end, "cores");
	wf_record_real(run, "tcp_load_mean", (double)t->busy / end / (double)t->cores, "");
	wf_record_real(run, "tcp_load_max", (double)t->host_busy / end / t->host_cores, "");
	wf_record_real(run, "tcp_core_max", (double)t->core_busy / end, "");
	for (size_t i = 0; i < WF_TCP_CTRS; i++)
		wf_record_value(run, wf_tcp_counters[i].name, t->counter[i], "");
}

static void put_values(struct wf_record_run *run, const struct wf_scenario *s,
                       const struct wf_run *w)
{
	const struct wf_sim_result *r = &w->result;
	uint64_t line = s->host_rate * s->receivers;
	const struct {
		const char *name, *unit;
		uint64_t value;
	} row[] = {
		{ "finished", "", r->finished },
		{ "flows", "", r->flows },
		{ "flows_done", "", r->flows_done },
		{ "flows_failed", "", r->flows_failed },
		{ "goodput", "bit/s", w->goodput },
		{ "bytes_delivered", "bytes", r->bytes_delivered },
		{ "packets_sent", "packets", r->packets_sent },
		{ "packets_delivered", "packets", r->packets_delivered },
		{ "packets_dropped", "packets", r->packets_dropped },
		{ "packets_inside", "packets", r->packets_inside },
		{ "packets_resent", "packets", r->resent },
		{ "hops", "packets", r->hops },
	};

	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++)
		wf_record_value(run, row[i].name, row[i].value, row[i].unit);
	if (w->completion >= 0)
		wf_record_value(run, "completion", (uint64_t)w->completion, "ps");
	else
		wf_record_none(run, "completion", "ps");
	if (line > 0)
		wf_record_real(run, "goodput_of_line", (double)w->goodput / (double)line, "");
	if (strcmp(w->fabric->cfg.flowctl, "none") != 0)
		wf_record_value(run, "lossless_drops", w->lossless_drops, "packets");
	else
		wf_record_none(run, "lossless_drops", "packets");
	if (strcmp(w->fabric->cfg.flowctl, "credit") != 0)
		wf_record_value(run, "max_switch", r->max_switch_bytes, "bytes");
	else
		wf_record_none(run, "max_switch", "bytes");
	put_counts(run, &w->total, w->fabric->cfg.flowctl);
	put_tcp(run, r);
	put_hist(run, "packet", &r->packet_latency);
	put_hist(run, "flow", &r->flow_time);
}

/* The figures of storage under prefix: "storage_" of all together, "storage.0." of an entry. */
static void put_storage(struct wf_record_run *run, const char *prefix,
                        const struct wf_storage_result *r)
{
	for (size_t i = 0; i < WF_STORAGE_FIGURES; i++) {
		const struct wf_storage_figure *f = &wf_storage_figures[i];
		char name[64];

		snprintf(name, sizeof(name), "%s%s", prefix, f->name);
		if (!f->has(r))
			wf_record_none(run, name, f->unit);
		else if (f->of != NULL)
			wf_record_real(run, name, (double)f->get(r) / (double)f->of(r), f->unit);
		else
			wf_record_value(run, name, f->get(r), f->unit);
	}
}

static void put_all_storage(struct wf_record_run *run, const struct wf_run *w)
{
	const struct wf_storage_result *all = &w->storage[w->n_storage];
	char prefix[32];

	put_storage(run, "storage_", all);
	for (size_t i = 0; i < w->n_storage; i++) {
		snprintf(prefix, sizeof(prefix), "storage.%zu.", i);
		put_storage(run, prefix, &w->storage[i]);
	}
	wf_record_hist(run, "storage_read", &all->latency[WF_STORAGE_READ]);
	wf_record_hist(run, "storage_write", &all->latency[WF_STORAGE_WRITE]);
}

/* A training step, in the times of the whole job. */
static void put_train(struct wf_record_run *run, const struct wf_run_train *train)
{
	const struct wf_train_result *r = &train->result;
	const struct {
		const char *name;
		wf_time time;
	} row[] = {
		{ "step_time", r->step },
		{ "step_busy", r->busy },
		{ "exposed", train->exposed },
		{ "exposed_tp", r->exposed[WF_TRAIN_TP] },
		{ "exposed_pp", r->exposed[WF_TRAIN_PP] },
		{ "exposed_ep", r->exposed[WF_TRAIN_EP] },
		{ "exposed_dp", r->exposed[WF_TRAIN_DP] },
		{ "step_bubble", r->bubble },
	};

	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++)
		wf_record_real(run, row[i].name, (double)row[i].time / train->scale, "ps");
	wf_record_real(run, "mfu", r->mfu, "");
}

void wf_recording_end(struct wf_recording *rec, const struct wf_scenario *s,
                      const struct wf_run *run)
{
	struct wf_record_tail tail = { .state = WF_RECORD_FAILED };
	struct wf_err told_at_close = { "" };

	if (rec->run == NULL)
		goto out;
	wf_record_sim_end(rec->sim, -1);
	if (run != NULL) {
		tail.state = run->stopped ? WF_RECORD_INTERRUPTED : WF_RECORD_FINISHED;
		tail.end = run->result.end;
		tail.cpu_s = (double)run->cpu_ns / 1e9;
		tail.wall_s = (double)run->wall_ns / 1e9;
		put_values(rec->run, s, run);
		if (rec->job != NULL && run->job != NULL)
			wf_record_job_end(rec->job, rec->run, run->job, run->job_groups,
			                  rec->opts->more == NULL);
		if (run->train != NULL)
			put_train(rec->run, run->train);
		if (run->n_storage > 0)
			put_all_storage(rec->run, run);
		for (unsigned i = 0; i < run->notes.n; i++)
			wf_record_note(rec->run, "note", run->notes.note[i].rule,
			               run->notes.note[i].text);
		if (rec->opts->more != NULL)
			rec->opts->more(rec->opts->arg, rec->run);
	}
	(void)!wf_record_end(rec->run, &tail, &told_at_close);
	rec->run = NULL;
out:
	wf_record_job_destroy(rec->job);
	rec->job = NULL;
}
