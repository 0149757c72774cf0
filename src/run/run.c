/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - runs a simulation and adds up what the reports say of it.
 */
#include "run/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "run/run_job.h"
#include "sim/look/state.h"

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static wf_time first_start(const struct wf_flow_list *flows)
{
	wf_time first = WF_TIME_NEVER;

	for (size_t i = 0; i < flows->n; i++)
		first = wf_min_time(first, flows->flow[i].start);
	return flows->n > 0 ? first : 0;
}

static void add_up(const struct wf_scenario *s, struct wf_run *run)
{
	const struct wf_sim_result *r = &run->result;
	wf_time start = first_start(&s->flows);
	wf_time span = r->flows_done == r->flows ? r->last_delivery - start : r->end - start;

	wf_counts_add(&run->total, &r->whole);
	for (unsigned q = 0; q < r->n_queues; q++) {
		wf_counts_add(&run->total, &r->queue[q]);
		if (q < run->fabric->classes.n && run->fabric->classes.queue[q].lossless)
			run->lossless_drops += r->queue[q].drops_congestion;
	}
	run->completion = r->flows_done == r->flows ? span : -1;
	if (span > 0)
		run->goodput = (uint64_t)((unsigned __int128)r->bytes_delivered * 8 * WF_S /
		                          (uint64_t)span);
}

static bool is_quiet(const struct wf_sim_counts *c)
{
	for (size_t i = 0; i < WF_PORT_COUNTERS_N; i++) {
		if (wf_port_counters[i].notable && wf_counts_get(c, &wf_port_counters[i]) != 0)
			return false;
	}
	return true;
}

/* Keeps the queues of ports where something happened. */
static int keep_ports(const struct wf_sim *sim, struct wf_run *run)
{
	const struct wf_topo *topo = run->fabric->net->topo;
	size_t room = 0;

	for (uint32_t node = 0; node < topo->n_nodes; node++) {
		for (uint32_t port = 0; port < topo->nodes[node].n_ports; port++) {
			for (unsigned q = 0; q < run->result.n_queues; q++) {
				struct wf_run_port row = { .node = node, .port = port, .queue = q };

				if (!wf_sim_port_counts(sim, node, port, q, &row.counts) ||
				    is_quiet(&row.counts))
					continue;
				if (run->n_ports == room) {
					struct wf_run_port *more;

					room = room == 0 ? 256 : 2 * room;
					more = realloc(run->ports, room * sizeof(*more));
					if (more == NULL)
						return -ENOMEM;
					run->ports = more;
				}
				run->ports[run->n_ports++] = row;
			}
		}
	}
	return 0;
}

/* The headroom of the switch's port that needs most of it. */
static void find_headroom(const struct wf_sim *sim, struct wf_run *run)
{
	const struct wf_topo *topo = run->fabric->net->topo;
	const struct wf_classes *classes = &run->fabric->classes;
	struct wf_sim_lane_state state;

	if (strcmp(run->fabric->cfg.flowctl, "pfc") != 0)
		return;
	for (uint32_t node = 0; node < topo->n_nodes; node++) {
		if (topo->nodes[node].kind != WF_TOPO_SWITCH)
			continue;
		for (uint32_t port = 0; port < topo->nodes[node].n_ports; port++) {
			for (unsigned q = 0; q < classes->n; q++) {
				if (!classes->queue[q].lossless ||
				    !wf_sim_lane_state(sim, node, port, q, &state) ||
				    state.needed <= run->headroom_needed)
					continue;
				run->headroom_needed = state.needed;
				run->headroom = state.capacity;
			}
		}
	}
}

/* Keeps the deadlocks, the last looks included. */
static int keep_deadlocks(struct wf_sim *sim, struct wf_run *run)
{
	int ret = wf_sim_look_for_deadlocks(sim, !run->result.finished);
	uint32_t n;
	const struct wf_deadlock *list = wf_sim_deadlocks(sim, &n);

	run->deadlocks_found = wf_sim_deadlocks_found(sim);
	if (ret != 0 || n == 0)
		return ret;
	run->deadlocks = calloc(n, sizeof(*run->deadlocks));
	for (uint32_t i = 0; run->deadlocks != NULL && i < n; i++) {
		struct wf_deadlock *d = &run->deadlocks[i];
		size_t size = list[i].n * sizeof(*d->link);

		*d = list[i];
		d->link = malloc(size);
		run->n_deadlocks++;
		if (d->link == NULL)
			return -ENOMEM;
		memcpy(d->link, list[i].link, size);
	}
	return run->deadlocks == NULL ? -ENOMEM : 0;
}

/* The simulation has run: what it came to, and the last that is recorded of it. */
static int settle(const struct wf_scenario *scenario, struct wf_sim *sim, struct wf_recording *rec,
                  struct wf_run *run)
{
	int ret;

	wf_sim_result(sim, &run->result);
	ret = keep_deadlocks(sim, run);
	if (ret == 0)
		wf_recording_settle(rec, scenario, sim, run->result.end);
	return ret;
}

static int sum_up(const struct wf_scenario *scenario, const struct wf_sim *sim, struct wf_run *run)
{
	add_up(scenario, run);
	run->wire_checked = wf_sim_wire_checked(sim);
	find_headroom(sim, run);
	return keep_ports(sim, run);
}

/* What storage came to: of each entry, and behind them of all. */
static int keep_storage(const struct wf_sim *sim, struct wf_run *run, size_t n)
{
	if (n == 0)
		return 0;
	run->storage = calloc(n + 1, sizeof(*run->storage));
	if (run->storage == NULL)
		return -ENOMEM;
	run->n_storage = n;
	wf_storage_result_init(&run->storage[n]);
	for (size_t i = 0; i < n; i++) {
		wf_sim_storage_result(sim, i, &run->storage[i]);
		wf_storage_result_add(&run->storage[n], &run->storage[i]);
	}
	return 0;
}

/* Sets up what looks at packets. */
static int watch(struct wf_sim *sim, const struct wf_run_opts *opts)
{
	if (opts->pcap != NULL)
		wf_pcap_listen(opts->pcap, sim);
	return opts->wire_check ? wf_sim_check_wire(sim) : 0;
}

/* Passes progress on, and remembers that it ended the run. */
struct stop {
	const struct wf_run_opts *opts;
	bool stopped;
};

static bool progress(void *arg, wf_time now, uint64_t hops, uint32_t share)
{
	struct stop *stop = arg;

	if (stop->opts->progress == NULL)
		return true;
	stop->stopped = !stop->opts->progress(stop->opts->arg, now, hops, share);
	return !stop->stopped;
}

/* Who manages the fabric, where somebody does. */
static int make_managed(const struct wf_scenario_fabric *fabric, struct wf_managed **m_p,
                        struct wf_err *err)
{
	const struct wf_manage_cfg *cfg = &fabric->values.manage;
	enum wf_manage_kind kind = wf_manage_kind_of(cfg, WF_MANAGE_IDEAL);
	struct wf_managed_cfg managed;
	struct wf_err why = { "" };
	int rc;

	if (kind == WF_MANAGE_IDEAL)
		return 0;
	if (kind == WF_MANAGE_NONE)
		rc = wf_err_say(&why,
		                "sm: none: no port becomes active, and nothing is sent; write "
		                "weft, or ideal (in a live fabric OpenSM may manage it)");
	else
		rc = wf_manage_resolve(cfg, kind, fabric->net->topo, &managed, &why);
	if (rc == 0)
		rc = wf_managed_create(&managed, fabric->net->topo, wf_mem_heap(), m_p, &why);
	return rc == -EINVAL ? wf_settings_err(&fabric->settings, &fabric->place, &why, err) : rc;
}

static int keep_managed(const struct wf_managed *m, struct wf_run *run)
{
	if (m == NULL)
		return 0;
	run->managed = malloc(sizeof(*run->managed));
	if (run->managed == NULL)
		return -ENOMEM;
	wf_managed_result(m, run->managed);
	return 0;
}

/* The simulation has the job's programs, and switches that reduce for it. */
static void use_job(const struct wf_run_job *job, struct wf_sim_app *app, struct wf_sim_cfg *cfg)
{
	if (job->app == NULL)
		return;
	wf_job_app_init(job->app, app);
	cfg->app = app;
	if (job->sharp != NULL && job->sharp->n_groups > 0)
		cfg->sharp = job->sharp;
}

int wf_run_fabric(const struct wf_scenario *scenario, unsigned index,
                  const struct wf_run_opts *opts, struct wf_run *run, struct wf_err *err)
{
	const struct wf_scenario_fabric *fabric = &scenario->fabrics[index];
	struct wf_sim_app app;
	struct wf_sim_cfg cfg = {
		.topo = fabric->net->topo,
		.fabric = &fabric->cfg,
		.cc = &fabric->values.cc,
		.devices = wf_devices_of(&fabric->devices),
		.flows = scenario->flows.flow,
		.n_flows = scenario->flows.n,
		.storage = scenario->storage_entries,
		.n_storage = scenario->n_storage,
		.faults = fabric->events,
		.n_faults = scenario->n_faults == 0 ? 0 : fabric->n_events,
		.reconverge = wf_fabric_convergence(&fabric->values, scenario->cfg.reconverge),
		.deadlock_check = scenario->cfg.deadlock_check,
		.stop_at_deadlock = scenario->cfg.stop_at_deadlock,
		.until = scenario->cfg.until,
		.seed = scenario->cfg.seed,
		.threads = opts->threads,
	};
	struct stop stop = { .opts = opts };
	struct wf_recording rec = { .run = NULL };
	struct wf_err why = { "" };
	struct wf_run_job job = { .app = NULL };
	struct wf_managed *managed = NULL;
	struct wf_sim *sim = NULL;
	int rc = 0;

	memset(run, 0, sizeof(*run));
	run->fabric = fabric;
	if (scenario->job.given)
		rc = wf_run_job_make(scenario, opts, &rec, run, &job, err);
	if (rc != 0)
		goto out;
	use_job(&job, &app, &cfg);
	rc = make_managed(fabric, &managed, err);
	if (rc != 0)
		goto out;
	if (managed != NULL)
		cfg.manager = wf_managed_manager(managed);
	run->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	run->wall_ns = clock_ns(CLOCK_MONOTONIC);
	rc = wf_sim_create(&cfg, &sim, &why);
	if (rc == -EINVAL)
		wf_devices_err(scenario, fabric, &why, err);
	if (rc != 0)
		goto out;
	rc = watch(sim, opts);
	if (rc == 0)
		rc = wf_recording_begin(&rec, &opts->record, scenario, index, sim);
	if (rc == 0)
		rc = wf_sim_run(sim, progress, &stop);
	run->stopped = stop.stopped;
	if (rc == 0)
		rc = settle(scenario, sim, &rec, run);
	run->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - run->cpu_ns;
	run->wall_ns = clock_ns(CLOCK_MONOTONIC) - run->wall_ns;
	if (rc == 0) {
		rc = sum_up(scenario, sim, run);
		if (rc == 0)
			rc = keep_storage(sim, run, scenario->n_storage);
		if (rc == 0)
			rc = keep_managed(managed, run);
		if (rc == 0)
			rc = wf_run_job_keep(scenario, &job, run, err);
		if (rc == 0)
			wf_notes_make(scenario, sim, run);
	} else if (rc == -EBADMSG) {
		rc = wf_sim_wire_result(sim, err);
	}
out:
	wf_recording_end(&rec, scenario, rc == 0 ? run : NULL);
	wf_sim_destroy(sim);
	wf_managed_destroy(managed);
	wf_run_job_fini(&job);
	if (rc != 0)
		wf_run_fini(run);
	return rc;
}

void wf_run_fini(struct wf_run *run)
{
	for (uint32_t i = 0; i < run->n_deadlocks; i++)
		free(run->deadlocks[i].link);
	free(run->deadlocks);
	free(run->ports);
	free(run->job);
	free(run->job_groups);
	free(run->train);
	free(run->storage);
	free(run->managed);
	wf_schedule_destroy(run->schedule);
	run->deadlocks = NULL;
	run->n_deadlocks = 0;
	run->ports = NULL;
	run->job = NULL;
	run->job_groups = NULL;
	run->train = NULL;
	run->storage = NULL;
	run->managed = NULL;
	run->schedule = NULL;
	run->n_ports = 0;
}
