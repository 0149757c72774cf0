/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.c - the families of metrics, and their lines. */
#include "live/metrics.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "live/model.h"

/*
 * Families come in this order: those of hosts' counters, of which each has places for several and
 * one for what node_exporter calls it; what else is told of hosts and of the model; those of ports'
 * counters. A place may be empty.
 */
#define OF_HOST (WF_HOST_METRICS + 1)
#define OF_HOSTS (WF_LIVE_COUNTS * OF_HOST)

enum { HOST_STATE = OF_HOSTS, HOST_RATE, MODEL_SLIP, MODEL_DEADLOCKS, OF_PORTS };

#define PLACES (OF_PORTS + WF_PORT_COUNTERS_N)

struct family {
	uint32_t place;
	char name[96];
	const char *help;                   /* NULL: the place is empty */
	const struct wf_port_counter *port; /* of a port's; NULL */
};

/* Whether that place of a counter is one of several that are added up, under that name. */
static bool is_metric(uint32_t count, uint32_t k, const char *name)
{
	const char *own = k < WF_HOST_METRICS ? wf_live_counter(count)->metrics[k].name : NULL;

	return own != NULL && strcmp(own, name) == 0;
}

/* What a host has counted under a name; *first_p is the place that has it first. */
static uint64_t add_up(const uint64_t count[WF_LIVE_COUNTS], const char *name, uint32_t *first_p)
{
	uint64_t sum = 0;

	*first_p = OF_HOSTS;
	for (uint32_t place = 0; place < OF_HOSTS; place++) {
		if (!is_metric(place / OF_HOST, place % OF_HOST, name))
			continue;
		sum += count != NULL ? count[place / OF_HOST] : 0;
		if (*first_p == OF_HOSTS)
			*first_p = place;
	}
	return sum;
}

static void find_host_family(struct family *f)
{
	const struct wf_host_counter *row = wf_live_counter(f->place / OF_HOST);
	const struct wf_prom_family *metric;
	uint32_t first;

	if (f->place % OF_HOST == WF_HOST_METRICS) {
		if (row->exporter == NULL)
			return;
		snprintf(f->name, sizeof(f->name), "node_infiniband_%s", row->exporter);
		f->help = row->help;
		return;
	}
	metric = &row->metrics[f->place % OF_HOST];
	if (metric->name == NULL)
		return;
	(void)add_up(NULL, metric->name, &first);
	if (first != f->place)
		return;
	snprintf(f->name, sizeof(f->name), "%s", metric->name);
	f->help = metric->help != NULL ? metric->help : row->help;
}

static void find_port_family(struct family *f)
{
	const struct wf_port_counter *row = &wf_port_counters[f->place - OF_PORTS];

	if (row->metric.name == NULL)
		return;
	snprintf(f->name, sizeof(f->name), "weft_switch_port_%s%s", row->metric.name,
	         row->kind == WF_COUNTER ? "_total" : "");
	f->help = row->metric.help != NULL ? row->metric.help : row->help;
	f->port = row;
}

/* The family at a place. */
static struct family family_at(uint32_t place)
{
	static const struct {
		const char *name, *help;
	} others[] = {
		[HOST_STATE - OF_HOSTS] = { "node_infiniband_state_id", "4: active, 1: down" },
		[HOST_RATE - OF_HOSTS] = { "node_infiniband_rate_bytes_per_second", "of the port" },
		[MODEL_SLIP - OF_HOSTS] = { "weft_model_slip_seconds_total",
		                            "by which virtual time fell behind the clock" },
		[MODEL_DEADLOCKS -
			OF_HOSTS] = { "weft_model_deadlocks",
		                      "circles of queues that wait for one another now" },
	};
	struct family f = { .place = place };

	if (place < OF_HOSTS) {
		find_host_family(&f);
	} else if (place >= OF_PORTS) {
		find_port_family(&f);
	} else {
		snprintf(f.name, sizeof(f.name), "%s", others[place - OF_HOSTS].name);
		f.help = others[place - OF_HOSTS].help;
	}
	return f;
}

static bool is_gauge(const struct family *f)
{
	if (f->port != NULL)
		return f->port->kind != WF_COUNTER;
	return f->place == HOST_STATE || f->place == HOST_RATE || f->place == MODEL_DEADLOCKS;
}

/* How many ports of switches there are; those of hosts come behind them. */
static uint32_t count_ports(struct wf_daemon *d)
{
	struct wf_live_model model;
	struct wf_live_port port;
	uint32_t n = 0;

	wf_model_look(d, &model);
	for (; n < model.n_ports; n++) {
		wf_model_port(d, n, &port);
		if (port.is_switch == 0)
			break;
	}
	return n;
}

/* How many things the family has a line about. */
static uint32_t count_items(struct wf_daemon *d, const struct family *f, struct wf_metrics_at *at)
{
	if (f->help == NULL)
		return 0;
	if (f->place < MODEL_SLIP)
		return d->table->n_hosts;
	if (d->model == NULL)
		return 0;
	if (f->place == MODEL_SLIP || f->place == MODEL_DEADLOCKS)
		return 1;
	if (at->ports == 0)
		at->ports = count_ports(d);
	return at->ports;
}

static int write_host(struct wf_daemon *d, const struct family *f, uint32_t host, char *text,
                      size_t size)
{
	const struct wf_live_host *h = &d->table->host[host];
	uint64_t count[WF_LIVE_COUNTS], value;
	uint32_t first;

	if (f->place < OF_HOSTS) {
		wf_daemon_counts(d, host, count);
		value = f->place % OF_HOST == WF_HOST_METRICS ? count[f->place / OF_HOST]
		                                              : add_up(count, f->name, &first);
	} else if (f->place == HOST_STATE) {
		value = wf_live_port_state(d->table, host);
	} else {
		value = d->table->rate / 8;
	}
	return snprintf(text, size, "%s{host=\"%s\",device=\"weft0\",port=\"1\"} %" PRIu64 "\n",
	                f->name, h->name, value);
}

static int write_model(struct wf_daemon *d, const struct family *f, uint32_t i, char *text,
                       size_t size)
{
	struct wf_live_model model;
	struct wf_live_port port;

	if (f->place == MODEL_DEADLOCKS) {
		wf_model_look(d, &model);
		return snprintf(text, size, "%s %u\n", f->name, model.standing);
	}
	if (f->place == MODEL_SLIP) {
		wf_model_look(d, &model);
		return snprintf(text, size, "%s %.9f\n", f->name,
		                (double)model.slip_ps / (double)WF_S);
	}
	wf_model_port(d, i, &port);
	return snprintf(text, size, "%s{switch=\"%s\",port=\"%u\",peer=\"%s\"} %" PRIu64 "\n",
	                f->name, port.node, port.number, port.peer,
	                wf_counts_get(&port.counts, f->port));
}

/* The line at *at. Returns its bytes, of which no more than fit are there. */
static size_t write_line(struct wf_daemon *d, const struct family *f,
                         const struct wf_metrics_at *at, char *text, size_t size)
{
	int n;

	if (at->line == 0)
		n = snprintf(text, size, "# HELP %s %s\n# TYPE %s %s\n", f->name, f->help, f->name,
		             is_gauge(f) ? "gauge" : "counter");
	else if (f->place < MODEL_SLIP)
		n = write_host(d, f, at->line - 1, text, size);
	else
		n = write_model(d, f, at->line - 1, text, size);
	assert(n > 0);
	return (size_t)n;
}

size_t wf_metrics_write(struct wf_daemon *d, struct wf_metrics_at *at, char *text, size_t size)
{
	size_t have = 0, n;

	while (at->family < PLACES) {
		struct family f = family_at(at->family);
		uint32_t items = count_items(d, &f, at);

		if (items == 0 || at->line > items) {
			at->family++;
			at->line = 0;
			continue;
		}
		n = write_line(d, &f, at, text + have, size - have);
		if (n >= size - have)
			break;
		have += n;
		at->line++;
	}
	assert(have != 0 || at->family == PLACES);
	return have;
}
