/* SPDX-License-Identifier: Apache-2.0 */
/* diagnose_print.c - findings for people, and as JSON. */
#include <inttypes.h>
#include <string.h>

#include "cli/diagnose.h"
#include "text/human.h"

static const char *name_of(const struct wf_evidence *ev, uint32_t device)
{
	const struct wf_ev_device *d = &ev->devices[device];

	return d->title != NULL ? d->title : d->name;
}

/* A value in its unit: times and sizes as people read them. */
static void value_text(enum wf_ev_counter counter, uint64_t value, char *text, size_t size)
{
	const char *name = wf_ev_counter_name(counter);
	size_t n = strlen(name);

	if (n > 3 && strcmp(name + n - 3, "_ps") == 0)
		wf_human_time(value, text, size);
	else if (strstr(name, "bytes") != NULL || strstr(name, "watermark") != NULL)
		wf_human_bytes(value, text, size);
	else
		wf_human_count(value, text, size);
}

static void print_evidence(const struct wf_cli_case *k, const struct wf_found *f, FILE *file)
{
	for (unsigned i = 0; i < f->n_evidence; i++) {
		const struct wf_ev_sample *s = f->evidence[i].sample;
		const struct wf_ev_port *port = &k->ev->ports[s->port];
		enum wf_ev_counter counter = (enum wf_ev_counter)s->counter;
		char value[WF_HUMAN], queue[24] = "";

		value_text(counter, f->evidence[i].value, value, sizeof(value));
		if (s->queue >= 0)
			snprintf(queue, sizeof(queue), ", queue %d", s->queue);
		fprintf(file, "      %-28s %14s%s  %s port %s%s", wf_ev_counter_name(counter),
		        value, s->full ? " or more" : "", name_of(k->ev, port->device), port->name,
		        queue);
		if (s->line != 0)
			fprintf(file, " (%s:%" PRIu32 ")", k->ev->files[s->file], s->line);
		fputc('\n', file);
	}
}

static void print_found(const struct wf_cli_case *k, const struct wf_found *f, FILE *file)
{
	fprintf(file, "  %-11s %s%s\n", wf_severity_name(f->severity), f->rule->name,
	        f->follows >= 0 ? " (a consequence of the first)" : "");
	fprintf(file, "      %s\n", f->what);
	print_evidence(k, f, file);
	if (f->severity == WF_SEVERITY_INFO || f->follows >= 0)
		return;
	fprintf(file, "      cause: %s\n      do: %s\n", f->rule->cause, f->rule->cure);
	if (f->rule->incident != NULL)
		fprintf(file, "      more: docs/incidents.md#%s\n", f->rule->incident);
}

/* How much more than the healthy one's, in hundredths; 0: not known. */
static uint64_t times(wf_time ill, wf_time healthy)
{
	return healthy <= 0 || ill <= 0 ? 0 : (uint64_t)ill * 100 / (uint64_t)healthy;
}

static void print_cost_of(const char *what, wf_time ill, wf_time healthy, FILE *file)
{
	uint64_t n = times(ill, healthy);
	char a[WF_HUMAN], b[WF_HUMAN];

	if (n == 0)
		return;
	wf_human_time((uint64_t)ill, a, sizeof(a));
	wf_human_time((uint64_t)healthy, b, sizeof(b));
	fprintf(file, "      %s %s, %" PRIu64 ".%02" PRIu64 " times the %s there\n", what, a,
	        n / 100, n % 100, b);
}

static void print_cost(const struct wf_cli_case *k, FILE *file)
{
	if (!k->has_healthy || wf_diagnosis_worst(&k->d) == WF_SEVERITY_INFO)
		return;
	fprintf(file, "  what it costs, against run %" PRId64 ", %s, in which nothing is wrong\n",
	        k->healthy.id, k->healthy.label);
	print_cost_of("a step takes", k->run.step, k->healthy.step, file);
	print_cost_of("99 of 100 flows are over in", k->run.flow_p99, k->healthy.flow_p99, file);
	if (k->run.flows_undone > k->healthy.flows_undone)
		fprintf(file, "      %" PRIu64 " flows never ended\n", k->run.flows_undone);
}

static void print_victims(const struct wf_cli_case *k, FILE *file)
{
	if (k->n_victims == 0)
		return;
	fputs("  flows that had no part in it and were slow\n", file);
	for (unsigned i = 0; i < k->n_victims; i++) {
		const struct wf_cli_victim *v = &k->victim[i];
		char bytes[WF_HUMAN], took[WF_HUMAN];

		wf_human_bytes(v->bytes, bytes, sizeof(bytes));
		wf_human_time((uint64_t)v->took, took, sizeof(took));
		fprintf(file, "      flow %" PRIu64 ", %s to %s, %s: %s\n", v->id, v->src, v->dst,
		        bytes, took);
	}
}

static void print_lacking(const struct wf_cli_case *k, FILE *file)
{
	for (size_t i = 0; i < wf_rules_n; i++) {
		if ((k->d.lacking & UINT64_C(1) << i) != 0)
			fprintf(file, "  not looked for: %s, for want of evidence: %s\n",
			        wf_rule_at(i)->help, wf_rule_at(i)->needs);
	}
}

void wf_cli_case_print(const struct wf_cli_case *k, FILE *file)
{
	if (k->recorded) {
		char end[WF_HUMAN];

		wf_human_time((uint64_t)k->run.end, end, sizeof(end));
		fprintf(file, "%s, run %" PRId64 ", %s: %s\n", k->name, k->run.id, k->run.label,
		        end);
	} else {
		fprintf(file, "%s: %" PRIu32 " devices, %" PRIu32 " ports, %" PRIu32 " values\n",
		        k->name, k->ev->n_devices, k->ev->n_ports, k->ev->n_samples);
	}
	if (k->d.n == 0)
		fputs("  nothing found\n", file);
	for (unsigned i = 0; i < k->d.n; i++)
		print_found(k, &k->d.found[i], file);
	if (k->d.more)
		fputs("  and more of these\n", file);
	print_cost(k, file);
	print_victims(k, file);
	print_lacking(k, file);
}

/* ---- JSON ---- */

static void json_place(const struct wf_cli_case *k, uint32_t device, uint32_t port, int queue,
                       struct wf_json *json)
{
	if (device == WF_EV_NONE)
		wf_json_null(json, "device");
	else
		wf_json_text(json, "device", name_of(k->ev, device));
	if (port == WF_EV_NONE)
		wf_json_null(json, "port");
	else
		wf_json_text(json, "port", k->ev->ports[port].name);
	if (queue < 0)
		wf_json_null(json, "queue");
	else
		wf_json_u64(json, "queue", (uint64_t)queue);
}

static void json_evidence(const struct wf_cli_case *k, const struct wf_found *f,
                          struct wf_json *json)
{
	wf_json_open(json, "evidence", '[');
	for (unsigned i = 0; i < f->n_evidence; i++) {
		const struct wf_ev_sample *s = f->evidence[i].sample;

		wf_json_open(json, NULL, '{');
		json_place(k, k->ev->ports[s->port].device, s->port, s->queue, json);
		wf_json_text(json, "counter", wf_ev_counter_name((enum wf_ev_counter)s->counter));
		wf_json_u64(json, "value", f->evidence[i].value);
		wf_json_bool(json, "full", s->full);
		wf_json_text(json, "file", k->ev->files[s->file]);
		if (s->line != 0)
			wf_json_u64(json, "line", s->line);
		else
			wf_json_null(json, "line");
		wf_json_close(json, '{');
	}
	wf_json_close(json, '[');
}

static void json_found(const struct wf_cli_case *k, const struct wf_found *f, struct wf_json *json)
{
	wf_json_open(json, NULL, '{');
	wf_json_text(json, "rule", f->rule->name);
	wf_json_text(json, "severity", wf_severity_name(f->severity));
	json_place(k, f->device, f->port, f->queue, json);
	wf_json_text(json, "what", f->what);
	wf_json_text(json, "cause", f->rule->cause);
	wf_json_text(json, "do", f->rule->cure);
	if (f->rule->incident != NULL)
		wf_json_text(json, "incident", f->rule->incident);
	else
		wf_json_null(json, "incident");
	if (f->follows >= 0)
		wf_json_u64(json, "follows", (uint64_t)f->follows);
	else
		wf_json_null(json, "follows");
	json_evidence(k, f, json);
	wf_json_close(json, '{');
}

static void json_cost(const struct wf_cli_case *k, struct wf_json *json)
{
	if (!k->has_healthy || wf_diagnosis_worst(&k->d) == WF_SEVERITY_INFO) {
		wf_json_null(json, "cost");
		return;
	}
	wf_json_open(json, "cost", '{');
	wf_json_u64(json, "healthy_run", (uint64_t)k->healthy.id);
	if (times(k->run.step, k->healthy.step) > 0)
		wf_json_ratio(json, "step", (uint64_t)k->run.step, (uint64_t)k->healthy.step);
	else
		wf_json_null(json, "step");
	if (times(k->run.flow_p99, k->healthy.flow_p99) > 0)
		wf_json_ratio(json, "flow_p99", (uint64_t)k->run.flow_p99,
		              (uint64_t)k->healthy.flow_p99);
	else
		wf_json_null(json, "flow_p99");
	wf_json_u64(json, "flows_undone", k->run.flows_undone);
	wf_json_close(json, '{');
}

static void json_rest(const struct wf_cli_case *k, struct wf_json *json)
{
	wf_json_open(json, "victims", '[');
	for (unsigned i = 0; i < k->n_victims; i++) {
		wf_json_open(json, NULL, '{');
		wf_json_u64(json, "flow", k->victim[i].id);
		wf_json_text(json, "src", k->victim[i].src);
		wf_json_text(json, "dst", k->victim[i].dst);
		wf_json_u64(json, "bytes", k->victim[i].bytes);
		wf_json_u64(json, "took_ps", (uint64_t)k->victim[i].took);
		wf_json_close(json, '{');
	}
	wf_json_close(json, '[');
	wf_json_open(json, "not_looked_for", '[');
	for (size_t i = 0; i < wf_rules_n; i++) {
		if ((k->d.lacking & UINT64_C(1) << i) == 0)
			continue;
		wf_json_open(json, NULL, '{');
		wf_json_text(json, "rule", wf_rule_at(i)->name);
		wf_json_text(json, "needs", wf_rule_at(i)->needs);
		wf_json_close(json, '{');
	}
	wf_json_close(json, '[');
}

void wf_cli_case_json(const struct wf_cli_case *k, struct wf_json *json)
{
	wf_json_open(json, NULL, '{');
	wf_json_text(json, "name", k->name);
	if (k->recorded) {
		wf_json_u64(json, "run", (uint64_t)k->run.id);
		wf_json_text(json, "label", k->run.label);
	} else {
		wf_json_null(json, "run");
		wf_json_null(json, "label");
	}
	if (k->ev->interval > 0)
		wf_json_u64(json, "interval_ps", (uint64_t)k->ev->interval);
	else
		wf_json_null(json, "interval_ps");
	wf_json_u64(json, "devices", k->ev->n_devices);
	wf_json_u64(json, "ports", k->ev->n_ports);
	wf_json_u64(json, "values", k->ev->n_samples);
	wf_json_text(json, "worst",
	             k->d.n == 0 ? "nothing" : wf_severity_name(wf_diagnosis_worst(&k->d)));
	wf_json_open(json, "findings", '[');
	for (unsigned i = 0; i < k->d.n; i++)
		json_found(k, &k->d.found[i], json);
	wf_json_close(json, '[');
	json_cost(k, json);
	json_rest(k, json);
	wf_json_close(json, '{');
}
