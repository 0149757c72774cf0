/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_sim.c - samples of counters and rows of events, within a budget.
 *
 * What recording may cost is counted in rows: a row takes about as long as the simulation of four
 * packet-hops. Most of them are earned as the work is done, so that they are spread over all of it.
 * How much work it is may be guessed wrong, so each doubling of the packet-hops earns as many more,
 * and besides every so many hops earn one. Where events happen there is a second budget, earned by
 * the hops there: what goes wrong late in a long run is seen as closely as if it were all.
 * Everything depends on virtual time and on what was simulated alone, so the rows are the same on
 * any number of threads.
 */
#include "run/record_sim.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/device.h"
#include "fabric/watchdog.h"
#include "run/record_flows.h"
#include "run/record_job.h"
#include "rdma/verbs.h"

#define FIRST_INTERVAL WF_US      /* of samples as often as their cost allows; later */
#define INTERVALS 8192            /* the time since the beginning has so many */
#define DRAIN_EVERY (100 * WF_US) /* events where there are no samples, and jobs */
#define LONG_STILL 8              /* long is that part of the time before */
#define ALERT 32                  /* looks after an event that are close, too */
#define FIRST_HOPS 1000           /* what is doubled */
#define LOOKS_A_ROW 16            /* to look at so many ports costs as much as a row */
#define EVENT_ROWS 2000 /* of a kind, then every second event has as many, every fourth ... */
#define NAME_MAX_LEN 40

/* What is looked at, of a queue or of a port; those that are followed over time come first. */
struct list {
	size_t n, followed;
	struct item {
		const struct wf_port_counter *row;
		double by;                  /* counts of the field to one of the counter */
		uint32_t id[WF_MAX_QUEUES]; /* counter of a queue; [0]: of the port */
	} item[WF_PORT_COUNTERS_N];
};

struct wf_record_sim {
	struct wf_record_run *run;
	struct wf_sim *sim;
	struct wf_record_sim_cfg cfg;
	wf_time due;                   /* the next look */
	wf_time job_due;               /* when to drain the job */
	wf_time last_tick;             /* -1: there was none */
	uint64_t last_rows;            /* of the last sample, and looks in rows */
	uint64_t hops, sample_hops;    /* at the last look, and at the last sample */
	wf_time still_since, still_at; /* from when and until when nothing moves; -1: it does */
	unsigned alert;                /* looks for which it is still near an event */
	struct budget {
		uint64_t hops, rows; /* what has earned it, and what was spent */
		uint64_t rate;       /* rows with each doubling of hops, */
		uint64_t hops_a_row; /* one for so many, */
		uint64_t whole;      /* and so many over the whole of the work, or at once */
	} all, eventful;
	uint64_t seen[WF_INCIDENTS], kept[WF_INCIDENTS]; /* events by kind, and rows of them */
	struct list by_queue, by_port;
	uint32_t host_ids[WF_COUNTERS];
	uint64_t *last; /* values at the last sample: by port, counter, and queue */
	uint64_t *host_last;
	struct wf_record_flows *flows; /* NULL: there are no samples */
	struct wf_incident *notes;
	size_t n_notes, notes_room;
};

/* What one of the fabric's counters is called here; NULL: it has no name there. */
static const struct wf_tool_name *tool_name(const struct wf_record_sim *rs,
                                            const struct wf_port_counter *row)
{
	const struct wf_tool_name *tool = rs->cfg.infiniband ? &row->ib : &row->ether;

	return tool->name != NULL ? tool : NULL;
}

/* Has the rows of table counter made for one, which is added to its list. */
static int register_counter(struct wf_record_sim *rs, const struct wf_port_counter *row,
                            const struct wf_tool_name *tool, struct wf_err *err)
{
	const char *at = strchr(tool->name, '%');
	struct list *list = at != NULL ? &rs->by_queue : &rs->by_port;
	struct item *item = &list->item[list->n];
	char text[WF_MAX_QUEUES][NAME_MAX_LEN];
	struct wf_record_counter c[WF_MAX_QUEUES];
	size_t n = 0;

	item->row = row;
	item->by = tool->by;
	for (; n < (at != NULL ? rs->cfg.classes->n : 1); n++) {
		unsigned id = rs->cfg.classes->queue[n].id;

		if (at == NULL)
			snprintf(text[n], sizeof(text[n]), "%s", tool->name);
		else
			snprintf(text[n], sizeof(text[n]), "%.*s%u%s", (int)(at - tool->name),
			         tool->name, id, at + 2);
		c[n] = (struct wf_record_counter){
			.name = text[n],
			.queue = at == NULL ? -1 : (int)id,
			.measure = row->measure != NULL ? row->measure : row->name,
			.factor = tool->by,
			.unit = tool->unit,
			.kind = wf_counter_kind_name(row->kind),
			.source = rs->cfg.infiniband ? "infiniband" : "ethtool",
			.help = row->help,
			.exporter = rs->cfg.infiniband ? row->exporter : NULL,
		};
	}
	list->n++;
	list->followed += row->followed;
	return wf_record_counters(rs->run, c, n, item->id, err);
}

/* Those that are followed come first. */
static int register_counters(struct wf_record_sim *rs, struct wf_err *err)
{
	int ret = 0;

	for (size_t i = 0; i < 2 * WF_PORT_COUNTERS_N && ret == 0; i++) {
		const struct wf_port_counter *row = &wf_port_counters[i % WF_PORT_COUNTERS_N];
		const struct wf_tool_name *tool = tool_name(rs, row);

		if (tool != NULL && row->followed == (i < WF_PORT_COUNTERS_N))
			ret = register_counter(rs, row, tool, err);
	}
	return ret;
}

static int register_host_counters(struct wf_record_sim *rs, struct wf_err *err)
{
	struct wf_record_counter c[WF_COUNTERS];
	char text[WF_COUNTERS][NAME_MAX_LEN];

	for (unsigned i = 0; i < WF_COUNTERS; i++) {
		const struct wf_host_counter *row = &wf_host_counters[i];

		/* Those that are weft's own must not be taken for the port's. */
		snprintf(text[i], sizeof(text[i]), "%s%s", row->hw ? "" : "hca_", row->name);
		c[i] = (struct wf_record_counter){
			.name = text[i],
			.queue = -1,
			.measure = text[i],
			.factor = 1,
			.unit = row->unit != NULL ? row->unit : "",
			.kind = "counter",
			.source = row->hw ? "hw_counters" : "weft",
			.help = row->help,
			.exporter = row->exporter,
		};
	}
	return wf_record_counters(rs->run, c, WF_COUNTERS, rs->host_ids, err);
}

/* Writes value, if it is not what it was. by: counts of it to one of the counter. */
static void put(struct wf_record_sim *rs, wf_time t, uint32_t node, unsigned port, uint32_t id,
                double by, uint64_t value, uint64_t *last)
{
	if (value == *last)
		return;
	*last = value;
	rs->last_rows++;
	if (by == 1)
		wf_record_sample(rs->run, t, node, port, id, value);
	else if (by == 1e6)
		wf_record_sample_real(rs->run, t, node, port, id, (double)value / by);
	else
		wf_record_sample(rs->run, t, node, port, id, value / (uint64_t)by);
}

/* One port: what is counted by queue, then what is counted by port. */
static void sample_port(struct wf_record_sim *rs, wf_time t, uint32_t node, unsigned port,
                        uint64_t *last, bool all)
{
	const struct list *by_queue = &rs->by_queue, *by_port = &rs->by_port;
	const unsigned n = rs->cfg.classes->n;
	uint64_t sum[WF_PORT_COUNTERS_N] = { 0 };
	struct wf_sim_counts c;

	wf_sim_port_whole(rs->sim, node, port, &c);
	for (size_t i = 0; i < (all ? by_port->n : by_port->followed); i++)
		sum[i] = wf_counts_get(&c, by_port->item[i].row);
	for (unsigned q = 0; q < n; q++) {
		if (!wf_sim_queue_used(rs->sim, node, q) ||
		    !wf_sim_port_counts(rs->sim, node, port, q, &c))
			continue;
		for (size_t i = 0; i < (all ? by_queue->n : by_queue->followed); i++)
			put(rs, t, node, port, by_queue->item[i].id[q], by_queue->item[i].by,
			    wf_counts_get(&c, by_queue->item[i].row), &last[i * n + q]);
		for (size_t i = 0; i < (all ? by_port->n : by_port->followed); i++)
			sum[i] = wf_counts_sum(by_port->item[i].row, sum[i],
			                       wf_counts_get(&c, by_port->item[i].row));
	}
	last += by_queue->n * n;
	for (size_t i = 0; i < (all ? by_port->n : by_port->followed); i++)
		put(rs, t, node, port, by_port->item[i].id[0], by_port->item[i].by, sum[i],
		    &last[i]);
}

static void sample_host(struct wf_record_sim *rs, wf_time t, uint32_t host, bool all)
{
	uint32_t node = rs->cfg.topo->host_node[host];

	for (unsigned i = 0; i < WF_COUNTERS; i++) {
		if (all || wf_host_counters[i].followed)
			put(rs, t, node, 0, rs->host_ids[i], 1,
			    wf_sim_host_counter(rs->sim, host, (enum wf_counter)i),
			    &rs->host_last[(size_t)host * WF_COUNTERS + i]);
	}
}

/* Looks at everything; all: also at what is not followed over time. */
static void sample(struct wf_record_sim *rs, wf_time t, bool all)
{
	const struct wf_topo *topo = rs->cfg.topo;
	uint64_t *last = rs->last;

	if (t != rs->last_tick)
		wf_record_tick(rs->run, t);
	rs->last_tick = t;
	rs->last_rows = 1 + topo->n_ports / LOOKS_A_ROW;
	for (uint32_t node = 0; node < topo->n_nodes; node++) {
		for (unsigned p = 0; p < topo->nodes[node].n_ports; p++) {
			sample_port(rs, t, node, p, last, all);
			last += WF_PORT_COUNTERS_N * rs->cfg.classes->n;
		}
	}
	for (uint32_t host = 0; host < topo->n_hosts; host++)
		sample_host(rs, t, host, all);
	if (rs->flows != NULL)
		rs->last_rows += wf_record_flows_sample(rs->flows, t);
}

static void keep_note(void *arg, const struct wf_incident *note)
{
	struct wf_record_sim *rs = arg;

	if (rs->n_notes == rs->notes_room) {
		size_t room = rs->notes_room == 0 ? 1024 : 2 * rs->notes_room;
		struct wf_incident *more = realloc(rs->notes, room * sizeof(*more));

		if (more == NULL) {
			rs->seen[note->kind]++;
			return;
		}
		rs->notes = more;
		rs->notes_room = room;
	}
	rs->notes[rs->n_notes++] = *note;
}

#define COMPARE(f)                                                                                 \
	if (a->f != b->f)                                                                          \
	return a->f < b->f ? -1 : 1

static int note_order(const void *pa, const void *pb)
{
	const struct wf_incident *a = pa, *b = pb;

	COMPARE(at);
	COMPARE(node);
	COMPARE(port);
	COMPARE(queue);
	COMPARE(kind);
	COMPARE(why);
	COMPARE(src);
	COMPARE(dst);
	COMPARE(dur);
	return 0;
}

static const char *detail(const struct wf_incident *note)
{
	static const char *const drop[] = {
		[WF_DROP_BUFFER] = "buffer", [WF_DROP_LIFE] = "life",
		[WF_DROP_ERROR] = "error",   [WF_DROP_DOWN] = "down",
		[WF_DROP_ROUTE] = "route",   [WF_DROP_HOPS] = "hops",
		[WF_DROP_MTU] = "mtu",       [WF_DROP_WATCHDOG] = "watchdog",
		[WF_DROP_PKEY] = "pkey",
	};

	static const char *const deadlock[] = {
		[WF_INCIDENT_CLOSED] = "closes the circle",
		[WF_INCIDENT_VALLEY] = "valley",
		[WF_INCIDENT_CLOSED | WF_INCIDENT_VALLEY] = "closes the circle, valley",
	};

	_Static_assert(WF_ARRAY_SIZE(drop) == WF_DROPS, "name every reason");
	if (note->kind == WF_INCIDENT_DEADLOCK)
		return deadlock[note->why];
	if (note->kind == WF_INCIDENT_DROP)
		return drop[note->why];
	if (note->kind == WF_INCIDENT_WATCHDOG || note->kind == WF_INCIDENT_RESTORED)
		return note->why == WF_INCIDENT_MUTE
		               ? "mute"
		               : wf_watchdog_action_name((enum wf_watchdog_action)note->why);
	if (note->kind == WF_INCIDENT_QP_ERROR && note->why != WF_WC_SUCCESS)
		return wf_wc_status_name((enum wf_wc_status)note->why);
	return NULL;
}

static void put_note(struct wf_record_sim *rs, const struct wf_incident *note)
{
	const struct wf_topo *topo = rs->cfg.topo;
	const struct wf_record_event event = {
		.at = note->at,
		.kind = wf_incident_name((enum wf_incident_kind)note->kind),
		.node = note->node,
		.port = note->port,
		.queue = note->queue == WF_INCIDENT_NO_QUEUE
		                 ? WF_RECORD_NONE
		                 : rs->cfg.classes->queue[note->queue].id,
		.dur = note->kind == WF_INCIDENT_PAUSE || note->kind == WF_INCIDENT_RESTORED ||
		                       note->kind == WF_INCIDENT_DEADLOCK
		               ? note->dur
		               : -1,
		.src = note->src == WF_INCIDENT_NONE ? WF_RECORD_NONE : topo->host_node[note->src],
		.dst = note->dst == WF_INCIDENT_NONE ? WF_RECORD_NONE : topo->host_node[note->dst],
		.detail = detail(note),
	};

	wf_record_event(rs->run, &event);
}

/*
 * Counts the events since the last time, and writes them in the order of time. Each kind is thinned
 * out by itself, so that what is rare is never crowded out by what is frequent: the first
 * EVENT_ROWS are all there, then as many rows of every second, of every fourth and so on to the end
 * of the run.
 */
static void drain(struct wf_record_sim *rs)
{
	if (rs->cfg.events == 0)
		return;
	rs->n_notes = 0;
	wf_sim_take_incidents(rs->sim, keep_note, rs);
	if (rs->n_notes > 0)
		qsort(rs->notes, rs->n_notes, sizeof(*rs->notes), note_order);
	for (size_t i = 0; i < rs->n_notes; i++) {
		unsigned kind = rs->notes[i].kind;

		if (rs->seen[kind]++ % (UINT64_C(1) << rs->kept[kind] / EVENT_ROWS) != 0)
			continue;
		put_note(rs, &rs->notes[i]);
		rs->kept[kind]++;
	}
}

/* How many there were of each kind that was looked for. */
static void put_event_counts(struct wf_record_sim *rs)
{
	uint64_t left_out = 0;

	for (unsigned kind = 0; kind < WF_INCIDENTS; kind++) {
		if ((rs->cfg.events >> kind & 1) == 0)
			continue;
		wf_record_event_count(rs->run, wf_incident_name((enum wf_incident_kind)kind),
		                      rs->seen[kind], rs->kept[kind]);
		left_out += rs->seen[kind] - rs->kept[kind];
	}
	wf_record_value(rs->run, "events_left_out", left_out, "rows");
}

/* The rows that a budget has earned. */
static uint64_t earned(const struct budget *b, uint64_t share)
{
	uint64_t times = 1 + b->hops / FIRST_HOPS;
	unsigned doublings = 63 - (unsigned)__builtin_clzll(times);
	uint64_t rest = times - (UINT64_C(1) << doublings);

	return b->rate * doublings + (b->rate * rest >> doublings) + b->hops / b->hops_a_row +
	       b->whole * share / WF_SIM_ALL;
}

/* Samples, as of then, at the cost of a budget. */
static void spend(struct wf_record_sim *rs, struct budget *b, wf_time then)
{
	sample(rs, then, false);
	b->rows += rs->last_rows;
	rs->sample_hops = rs->hops;
}

static bool can_afford(const struct wf_record_sim *rs, const struct budget *b, uint64_t share)
{
	return b->rows + rs->last_rows <= earned(b, share);
}

/* Keeps account of when traffic stands still; nothing happens between now and next. */
static void watch_still(struct wf_record_sim *rs, uint64_t moved, wf_time now, wf_time next)
{
	bool gap = next > rs->due && next != WF_TIME_NEVER;

	/* It went on: a tick says when. What was sampled when it stopped was still so. */
	if (moved != 0 && rs->still_at > rs->last_tick && rs->sample_hops == rs->hops) {
		wf_record_tick(rs->run, rs->still_at);
		rs->last_tick = rs->still_at;
		rs->all.rows++;
	}
	if (moved != 0)
		rs->still_since = -1;
	if (rs->still_since < 0 && (moved == 0 || gap))
		rs->still_since = now;
	rs->still_at = rs->still_since < 0 ? -1 : gap ? next : now;
}

/*
 * Samples if something has moved and a sample can be afforded. Whoever reads it wants to see when
 * traffic stops and goes on: if it stands still for long there is a sample of that, in any case.
 */
static void look(struct wf_record_sim *rs, wf_time now, wf_time next)
{
	uint64_t hops = wf_sim_hops(rs->sim), moved = hops - rs->hops;

	watch_still(rs, moved, now, next);
	if (rs->n_notes > 0)
		rs->alert = ALERT;
	else if (rs->alert > 0)
		rs->alert--;
	rs->hops = rs->all.hops = hops;
	rs->eventful.hops += rs->alert > 0 ? moved : 0;
	if (hops == rs->sample_hops)
		return;
	if (rs->still_at - rs->still_since > rs->still_since / LONG_STILL + FIRST_INTERVAL)
		spend(rs, &rs->all, rs->still_since);
	else if (can_afford(rs, &rs->all, wf_sim_share(rs->sim)))
		spend(rs, &rs->all, now);
	else if (rs->alert > 0 && can_afford(rs, &rs->eventful, WF_SIM_ALL))
		spend(rs, &rs->eventful, now);
}

static wf_time tick(void *arg, wf_time now, wf_time next)
{
	struct wf_record_sim *rs = arg;
	bool given = rs->cfg.sample != WF_RECORD_AUTO, never = rs->cfg.sample == WF_RECORD_NEVER;
	wf_time interval = never   ? DRAIN_EVERY
	                   : given ? rs->cfg.sample
	                           : wf_max_time(FIRST_INTERVAL, now / INTERVALS);

	if (given && now < rs->due)
		return rs->due;
	rs->due = (now / interval + 1) * interval;
	drain(rs);
	if (!given)
		look(rs, now, next);
	else if (!never)
		sample(rs, now, false);
	if (rs->cfg.job != NULL && now >= rs->job_due) {
		wf_record_job_drain(rs->cfg.job, rs->run);
		rs->job_due = now + DRAIN_EVERY;
	}
	wf_record_flush(rs->run, now);
	return rs->due;
}

static void destroy(struct wf_record_sim *rs)
{
	free(rs->last);
	free(rs->host_last);
	free(rs->notes);
	wf_record_flows_destroy(rs->flows);
	free(rs);
}

int wf_record_sim_begin(struct wf_record_run *run, struct wf_sim *sim,
                        const struct wf_record_sim_cfg *cfg, struct wf_record_sim **rs_p,
                        struct wf_err *err)
{
	struct wf_record_sim *rs = calloc(1, sizeof(*rs));
	int ret = 0;

	if (rs == NULL)
		return -ENOMEM;
	rs->run = run;
	rs->sim = sim;
	rs->cfg = *cfg;
	rs->last_tick = rs->still_since = rs->still_at = -1;
	/* Of a large fabric some samples at least; of a very large one they would be too much. */
	rs->all = (struct budget){
		.rate = 1000,
		.hops_a_row = 300,
		.whole = 30000 + 40 * wf_min_u64(cfg->topo->n_ports, 5000),
	};
	rs->eventful = (struct budget){
		.rate = 2000,
		.hops_a_row = 600,
		.whole = 4000 + 4 * wf_min_u64(cfg->topo->n_ports, 5000),
	};
	rs->due = cfg->sample == WF_RECORD_NEVER  ? DRAIN_EVERY
	          : cfg->sample == WF_RECORD_AUTO ? FIRST_INTERVAL
	                                          : cfg->sample;
	rs->last = calloc((size_t)cfg->topo->n_ports * WF_PORT_COUNTERS_N * cfg->classes->n,
	                  sizeof(*rs->last));
	rs->host_last = calloc((size_t)cfg->topo->n_hosts * WF_COUNTERS, sizeof(*rs->host_last));
	if (cfg->sample != WF_RECORD_NEVER)
		rs->flows = wf_record_flows_create(run, sim);
	if (rs->last == NULL || rs->host_last == NULL ||
	    (rs->flows == NULL && cfg->sample != WF_RECORD_NEVER))
		ret = -ENOMEM;
	if (ret == 0)
		ret = register_counters(rs, err);
	if (ret == 0)
		ret = register_host_counters(rs, err);
	if (ret != 0) {
		destroy(rs);
		return ret;
	}
	wf_sim_keep_incidents(sim, cfg->events);
	wf_sim_set_tick(sim, rs->due, tick, rs);
	*rs_p = rs;
	return 0;
}

/* The adapters' counters, all hosts together, among the results. */
static void put_host_sums(struct wf_record_sim *rs)
{
	for (unsigned i = 0; i < WF_COUNTERS; i++) {
		uint64_t sum = 0;

		if (!wf_host_counters[i].hw)
			continue;
		for (uint32_t host = 0; host < rs->cfg.topo->n_hosts; host++)
			sum += wf_sim_host_counter(rs->sim, host, (enum wf_counter)i);
		wf_record_value(rs->run, wf_host_counters[i].name, sum, "");
	}
}

void wf_record_sim_end(struct wf_record_sim *rs, wf_time end)
{
	if (rs == NULL)
		return;
	if (end >= 0) {
		wf_sim_end_incidents(rs->sim);
		drain(rs);
		sample(rs, end, true);
		put_host_sums(rs);
		put_event_counts(rs);
	}
	destroy(rs);
}

int wf_record_events_parse(const char *text, uint32_t *events_p, struct wf_err *err)
{
	uint32_t events = 0;

	if (strcmp(text, "all") == 0 || strcmp(text, "none") == 0) {
		*events_p = text[0] == 'a' ? WF_RECORD_EVENTS : 0;
		return 0;
	}
	for (const char *p = text; p != NULL;
	     p = strchr(p, ',') == NULL ? NULL : strchr(p, ',') + 1) {
		size_t len = strcspn(p, ",");
		unsigned kind = 0;

		for (; kind < WF_INCIDENTS; kind++) {
			const char *name = wf_incident_name((enum wf_incident_kind)kind);

			if (strlen(name) == len && memcmp(name, p, len) == 0)
				break;
		}
		if (kind == WF_INCIDENTS)
			return wf_err_say(
				err,
				"there is no kind of event \"%.*s\"; all, none, or some of "
				"pause, drop, retransmit, qp_error, link_down, link_up, watchdog, "
				"watchdog_restored, deadlock",
				(int)len, p);
		events |= 1u << kind;
	}
	*events_p = events;
	return 0;
}
