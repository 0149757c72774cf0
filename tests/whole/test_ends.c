/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every row of every table of parameters at both ends of its range: a small scenario runs to its
 * end and makes sense, or is refused with the place and the name of the parameter; what is one step
 * beyond is refused. The tables themselves are walked, so that a new row is tested as soon as it is
 * there; ends.h says how each row is run, and where that is not "to the end". With
 * WEFT_ENDS_ROW=fabric.ecn in the environment only rows that begin so are run, and each is named.
 */
#include "check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cc/cc.h"
#include "fabric/flowctl/flowctl.h"
#include "fabric/route/route.h"
#include "run/run.h"
#include "scenario/scenario.h"
#include "ends.h"

#define FILE_NAME "e.yaml"
#define MAX_KEYS 64
#define MAX_HOPS 60000 /* after so many, a run that is long is long enough */

enum end { LOW, HIGH, BELOW, ABOVE, ENDS };

/* ---- a scenario of keys and values ---- */

struct key {
	char name[80]; /* "fabric.ecn.kmin" */
	char value[1100];
};

struct doc {
	struct key keys[MAX_KEYS];
	unsigned n;
	char text[8192];
	unsigned line, column; /* of the last key's value */
};

static const char plain[] =
	"name=ends run.until=20ms topology.kind=leaf-spine topology.hosts=4 topology.radix=4 "
	"topology.host_rate=100Gbps fabric.name=f traffic.kind=incast traffic.size=20KB";

static const char plain_job[] =
	"name=ends run.until=1s topology.kind=leaf-spine topology.hosts=4 topology.radix=4 "
	"topology.host_rate=100Gbps fabric.name=f job.kind=all-reduce job.bytes=64KiB "
	"job.gpus_per_server=2";

static const char plain_storage[] =
	"name=ends run.until=20ms topology.kind=leaf-spine topology.hosts=4 topology.radix=4 "
	"topology.host_rate=100Gbps fabric.name=f storage.targets=h3 storage.block=4KiB "
	"storage.duration=1us storage.bytes=8KiB";

/* Sets a key; the last that is set is the last of its section. */
static void set(struct doc *d, const char *name, const char *value)
{
	unsigned i = 0;

	while (i < d->n && strcmp(d->keys[i].name, name) != 0)
		i++;
	if (i < d->n)
		memmove(&d->keys[i], &d->keys[i + 1], (--d->n - i) * sizeof(d->keys[0]));
	assert_true(d->n < MAX_KEYS);
	snprintf(d->keys[d->n].name, sizeof(d->keys[0].name), "%s", name);
	snprintf(d->keys[d->n].value, sizeof(d->keys[0].value), "%s", value);
	d->n++;
}

static void set_all(struct doc *d, const char *text)
{
	while (*text != '\0') {
		size_t len = strcspn(text, " ");
		const char *is = memchr(text, '=', len);
		char name[80], value[128];

		if (is != NULL) {
			snprintf(name, sizeof(name), "%.*s", (int)(is - text), text);
			snprintf(value, sizeof(value), "%.*s", (int)(text + len - is - 1), is + 1);
			set(d, name, value);
		}
		text += len + (text[len] == ' ');
	}
}

static const char *get(const struct doc *d, const char *name)
{
	for (unsigned i = 0; i < d->n; i++) {
		if (strcmp(d->keys[i].name, name) == 0)
			return d->keys[i].value;
	}
	return NULL;
}

/* Writes the keys of a section, each on a line of its own, and notes the place of the last key. */
static void write_section(struct doc *d, const char *section, size_t *at, unsigned *line)
{
	size_t len = strlen(section);
	bool any = false;

	for (unsigned i = 0; i < d->n; i++) {
		const char *name = d->keys[i].name;
		const char *indent =
			len == 0 ? ""
			: strcmp(section, "traffic.") == 0 || strcmp(section, "storage.") == 0
				? "    "
				: "  ";
		bool own = len == 0 ? strncmp(name, "topology.", 9) != 0 &&
		                              strncmp(name, "fabric.", 7) != 0 &&
		                              strncmp(name, "traffic.", 8) != 0 &&
		                              strncmp(name, "storage.", 8) != 0 &&
		                              strncmp(name, "job.", 4) != 0
		                    : strncmp(name, section, len) == 0;

		if (!own || strcmp(name, "faults") == 0 || strcmp(name, "ops") == 0)
			continue;
		if (!any && len > 0) {
			*at += (size_t)snprintf(d->text + *at, sizeof(d->text) - *at, "%.*s:\n",
			                        (int)len - 1, section);
			(*line)++;
		}
		*at += (size_t)snprintf(d->text + *at, sizeof(d->text) - *at, "%s%s: %s\n",
		                        !any && indent[2 * (len != 0)] != '\0' ? "  - " : indent,
		                        name + len, d->keys[i].value);
		any = true;
		if (i == d->n - 1) {
			d->line = *line;
			d->column = (unsigned)(strlen(indent) + strlen(name + len) + 3);
		}
		(*line)++;
	}
}

static void write_doc(struct doc *d)
{
	static const char *const sections[] = { "",         "topology.", "fabric.",
		                                "traffic.", "storage.",  "job." };
	const char *faults = get(d, "faults");
	unsigned line = 1;
	size_t at = 0;

	for (size_t i = 0; i < WF_ARRAY_SIZE(sections); i++)
		write_section(d, sections[i], &at, &line);
	if (faults != NULL)
		snprintf(d->text + at, sizeof(d->text) - at,
		         "faults: [{link: %s, down: 1us, up: 3us}]\n", faults);
}

/* ---- running it ---- */

static struct wf_paths paths;

struct bound {
	bool hit;
};

static bool go_on(void *arg, wf_time now, uint64_t hops, uint32_t share)
{
	struct bound *bound = arg;

	(void)now;
	(void)share;
	bound->hit |= hops > MAX_HOPS;
	return !bound->hit;
}

/* What must hold of every run, whatever was set. NULL: it does. */
static const char *nonsense(const struct wf_scenario *s, const struct wf_run *run)
{
	const struct wf_sim_result *r = &run->result;
	uint64_t most = 0;

	if (r->packets_sent != r->packets_delivered + r->packets_dropped + r->packets_inside)
		return "packets are not conserved";
	if (r->end < (r->finished ? 1 : 0))
		return "no time has passed";
	if (r->flows_done > 0 && r->last_delivery <= 0)
		return "what is delivered took no time";
	if (r->packets_delivered > 0 && s->flows.n > 0 && r->packet_latency.max <= 0)
		return "packets took no time";
	for (uint32_t i = 0; i < s->n_hosts; i++) {
		const struct wf_topo *topo = s->nets[0].topo;
		const struct wf_topo_node *node = &topo->nodes[topo->host_node[i]];

		for (uint32_t p = 0; p < node->n_ports; p++)
			most += topo->links[topo->ports[node->first_port + p].link].rate;
	}
	if (!s->job.given && run->goodput > most)
		return "more is delivered than the hosts' links carry";
	return NULL;
}

/* Whether a refusal has the place of the last key's value, and its name. */
static bool refers(const char *why, const struct doc *d, const char *name)
{
	char place[64];

	snprintf(place, sizeof(place), FILE_NAME ":%u:%u: ", d->line, d->column);
	return strncmp(why, place, strlen(place)) == 0 && strstr(why, name) != NULL;
}

static enum outcome run_scenario(struct wf_scenario *s, char *why, size_t size)
{
	struct bound bound = { false };
	struct wf_run_opts opts = { .threads = 1, .progress = go_on, .arg = &bound };
	struct wf_err err = { "" };
	struct wf_run run;
	enum outcome outcome;
	const char *wrong;
	int rc = wf_run_fabric(s, 0, &opts, &run, &err);

	if (rc != 0) {
		snprintf(why, size, "%s%s", rc == -EINVAL ? "" : strerror(-rc), err.text);
		return rc == -EINVAL ? REFUSED : BROKEN;
	}
	wrong = nonsense(s, &run);
	snprintf(why, size, "%s", wrong != NULL ? wrong : "");
	if (wrong != NULL)
		outcome = BROKEN;
	else if (bound.hit)
		outcome = LONG;
	else if (run.job != NULL ? run.job->finished : run.result.finished)
		outcome = DONE;
	else
		outcome = CUT;
	wf_run_fini(&run);
	return outcome;
}

/* Reads, builds and runs the text. why: what is wrong, or the refusal. */
static enum outcome run_doc(struct doc *d, char *why, size_t size)
{
	const struct wf_scenario_opts opts = { .paths = &paths };
	struct wf_err err = { "" };
	struct wf_scenario s;
	enum outcome outcome;
	int rc;

	write_doc(d);
	rc = wf_scenario_parse(&s, d->text, strlen(d->text), FILE_NAME, &opts, &err);
	if (rc == 0)
		rc = wf_scenario_build(&s, &err);
	if (rc == 0) {
		outcome = run_scenario(&s, why, size);
	} else {
		snprintf(why, size, "%s%s", rc == -EINVAL ? "" : strerror(-rc), err.text);
		outcome = rc == -EINVAL ? REFUSED : BROKEN;
	}
	wf_scenario_fini(&s);
	return outcome;
}

/* ---- values ---- */

/* A number of a row's own unit as text, also one beyond its range. */
static void value_text(const struct wf_param *row, enum end end, char *text, size_t size)
{
	static const char *const units[WF_PARAM_KINDS] = {
		[WF_PARAM_BYTES] = "B",   [WF_PARAM_TIME] = "ps",  [WF_PARAM_RATE] = "bps",
		[WF_PARAM_LENGTH] = "mm", [WF_PARAM_BER] = "e-18",
	};
	uint64_t v = (uint64_t)(end == LOW || end == BELOW ? row->min : row->max);
	double one = row->kind == WF_PARAM_PROB ? 4294967296.0 : 65536.0;

	if (end == BELOW && v == 0) {
		snprintf(text, size, "-1%s", units[row->kind] != NULL ? units[row->kind] : "");
		return;
	}
	v += end == ABOVE;
	v -= end == BELOW;
	if (row->kind == WF_PARAM_PROB || row->kind == WF_PARAM_RATIO)
		snprintf(text, size, "%.*f", row->kind == WF_PARAM_PROB ? 11 : 7, (double)v / one);
	else
		snprintf(text, size, "%" PRIu64 "%s", v,
		         units[row->kind] != NULL ? units[row->kind] : "");
}

static bool is_number(const struct wf_param *row)
{
	return row->kind != WF_PARAM_TEXT && row->kind != WF_PARAM_NAME &&
	       row->kind != WF_PARAM_BOOL;
}

/* ---- a row ---- */

struct tally {
	unsigned runs, wrong;
};

static void complain(struct tally *t, const char *row, const char *value, const char *op,
                     const char *got, const char *why)
{
	fprintf(stderr, "%s = %s%s%s: %s: %s\n", row, value, op != NULL ? ", op " : "",
	        op != NULL ? op : "", got, why);
	t->wrong++;
}

/* Starts with what the row needs. */
static void start_doc(struct doc *d, const char *row, const struct context *c)
{
	bool job = strncmp(row, "job.", 4) == 0 || strstr(c->set, "job.") != NULL;
	bool storage = strncmp(row, "storage.", 8) == 0 || strstr(c->set, "storage.") != NULL;

	d->n = 0;
	set_all(d, storage ? plain_storage : job ? plain_job : plain);
	set_all(d, c->set);
}

static void run_value(struct tally *t, const char *row, const struct context *c, const char *value,
                      enum outcome want)
{
	bool ops = strstr(c->set, "ops=1") != NULL;

	for (unsigned i = 0; i < (ops ? 2 : 1); i++) {
		const char *op = !ops ? NULL : i == 0 ? "window" : "write";
		const char *name = strchr(row, '.') != NULL && strncmp(row, "run.", 4) != 0 &&
		                                   strncmp(row, "compare.", 8) != 0 &&
		                                   strncmp(row, "live.", 5) != 0
		                           ? strchr(row, '.') + 1
		                           : row;
		struct doc *d = calloc(1, sizeof(*d));
		char why[WF_ERR_TEXT + 64] = "";
		enum outcome got;

		assert_non_null(d);
		start_doc(d, row, c);
		if (op != NULL)
			set(d, "traffic.op", op);
		set(d, row, value);
		if (getenv("WEFT_ENDS_ROW") != NULL)
			fprintf(stderr, "try %s = %s\n", row, value);
		got = run_doc(d, why, sizeof(why));
		if (got == REFUSED && want == ELSE && strncmp(why, FILE_NAME ":", 7) == 0)
			got = ELSE;
		if (got != want)
			complain(t, row, value, op, outcome_names[got], why);
		else if (got == REFUSED && !refers(why, d, name))
			complain(t, row, value, op, "refused without its name or place", why);
		free(d);
		t->runs++;
	}
}

/* Beyond the range: refused, with the place of the value and the name. */
static void refuse_value(struct tally *t, const char *row, const struct context *c,
                         const char *value)
{
	struct doc *d = calloc(1, sizeof(*d));
	char why[WF_ERR_TEXT + 64] = "", want[128];

	assert_non_null(d);
	start_doc(d, row, c);
	set(d, row, value);
	if (run_doc(d, why, sizeof(why)) != REFUSED)
		complain(t, row, value, NULL, "not refused", why);
	snprintf(want, sizeof(want), FILE_NAME ":%u:%u: ", d->line, d->column);
	if (strncmp(why, want, strlen(want)) != 0)
		complain(t, row, value, NULL, want, why);
	free(d);
	t->runs++;
}

static void run_text(struct tally *t, const struct wf_param *row, const char *name,
                     const struct context *c)
{
	char text[1100];

	if (row->size > sizeof(text) - 2)
		return;
	memset(text, 'x', row->size);
	text[row->size] = '\0';
	refuse_value(t, name, c, text);
	if (row->def[0] != '\0')
		run_value(t, name, c, row->def, outcome_of(name, row->def));
	/* Names that other tables have. */
	if (strcmp(name, "fabric.flowctl") == 0) {
		for (size_t i = 0; wf_flowctl_all()[i] != NULL; i++)
			run_value(t, name, c, wf_flowctl_all()[i]->name,
			          outcome_of(name, wf_flowctl_all()[i]->name));
	} else if (strcmp(name, "fabric.routing") == 0) {
		for (size_t i = 0; wf_route_all()[i] != NULL; i++)
			run_value(t, name, c, wf_route_all()[i]->name,
			          outcome_of(name, wf_route_all()[i]->name));
	} else if (strcmp(name, "fabric.cc.algorithm") == 0) {
		for (size_t i = 0; wf_cc_at(i) != NULL; i++)
			run_value(t, name, c, wf_cc_at(i)->name,
			          outcome_of(name, wf_cc_at(i)->name));
	} else if (strcmp(name, "traffic.kind") == 0) {
		for (size_t i = 0; wf_traffic_kinds()[i] != NULL; i++)
			run_value(t, name, c, wf_traffic_kinds()[i]->name,
			          outcome_of(name, wf_traffic_kinds()[i]->name));
	}
}

static void run_row(struct tally *t, const char *prefix, const struct wf_param *row)
{
	const struct context *c;
	const char *only = getenv("WEFT_ENDS_ROW");
	char name[96], value[64];

	snprintf(name, sizeof(name), "%s%s", prefix, row->name);
	if (only != NULL && strncmp(name, only, strlen(only)) != 0)
		return;
	c = context_of(name);
	if (c == NULL) {
		complain(t, name, "", NULL, "no context", "say how to run it");
		return;
	}
	if (row->kind == WF_PARAM_TEXT) {
		run_text(t, row, name, c);
		return;
	}
	if (row->kind == WF_PARAM_NAME) {
		for (const char *const *word = row->names; *word != NULL; word++)
			run_value(t, name, c, *word, outcome_of(name, *word));
		refuse_value(t, name, c, "nothing-of-that-name");
		return;
	}
	if (row->kind == WF_PARAM_BOOL) {
		run_value(t, name, c, "false", outcome_of(name, "false"));
		run_value(t, name, c, "true", outcome_of(name, "true"));
		refuse_value(t, name, c, "2");
		return;
	}
	assert_true(is_number(row));
	for (enum end end = LOW; end < ENDS; end++) {
		value_text(row, end, value, sizeof(value));
#ifndef NDEBUG
		/* A million collectives are counted before they are run: seconds with asserts. */
		if (end == HIGH && strcmp(name, "job.iterations") == 0)
			continue;
#endif
		if (end == BELOW || end == ABOVE)
			refuse_value(t, name, c, value);
		else
			run_value(t, name, c, value, outcome_of(name, end == LOW ? "min" : "max"));
	}
	if (row->has_auto)
		run_value(t, name, c, "auto", DONE);
}

static void test_every_row(void **state)
{
	struct tally t = { 0 };
	const struct wf_param *rows;
	struct wf_arena arena;
	size_t n;

	(void)state;
	wf_arena_init(&arena);
	assert_int_equal(wf_paths_init(&paths, NULL, NULL), 0);
	for (size_t i = 0; i < wf_scenario_n_params; i++)
		run_row(&t, "", &wf_scenario_params[i]);
	for (size_t i = 0; i < wf_topo_n_params; i++)
		run_row(&t, "topology.", &wf_topo_params[i]);
	assert_int_equal(wf_fabric_table(&arena, &rows, &n), 0);
	for (size_t i = 0; i < n; i++)
		run_row(&t, "fabric.", &rows[i]);
	for (size_t i = 0; i < wf_traffic_n_params; i++)
		run_row(&t, "traffic.", &wf_traffic_params[i]);
	for (size_t i = 0; i < wf_storage_n_params; i++)
		run_row(&t, "storage.", &wf_storage_params[i]);
	assert_int_equal(wf_job_table(&arena, &rows, &n), 0);
	for (size_t i = 0; i < n; i++)
		run_row(&t, "job.", &rows[i]);
	wf_arena_fini(&arena);
	fprintf(stderr, "%u runs, %u wrong\n", t.runs, t.wrong);
	assert_int_equal(t.wrong, 0);
}

/* Ends that are further apart together than each is by itself. The last is what a refusal names. */
static void test_together(void **state)
{
	static const struct {
		const char *set;
		enum outcome outcome;
	} rows[] = {
		/* No delay at all, and the shortest and the longest there is. */
		{ "topology.cable.fabric=0m fabric.link.phy=0 fabric.switch.latency=0", REFUSED },
		{ "topology.cable.fabric=0m fabric.link.phy=0 fabric.switch.latency=1ps", DONE },
		{ "topology.cable.fabric=0m fabric.flowctl=none topology.cable.host=100km "
		  "fabric.link.phy=0 fabric.switch.latency=1ps",
		  REFUSED },
		{ "topology.cable.fabric=100km topology.cable.host=100km topology.cable.delay=1us "
		  "fabric.flowctl=none fabric.sender.timeout=1000s run.until=1000000s "
		  "fabric.nic.rx=1ms fabric.link.phy=1ms fabric.switch.latency=1ms",
		  DONE },
		/* The slowest links with the largest packets, the fastest with the smallest. */
		{ "fabric.flowctl=none fabric.sender.ack=1 fabric.sender.timeout=1000s "
		  "run.until=1000000s fabric.mtu=16384B topology.host_rate=1Mbps",
		  DONE },
		{ "fabric.flowctl=none fabric.sender.ack=1 fabric.link.gap=0B fabric.mtu=64B "
		  "topology.host_rate=10Tbps",
		  DONE },
		/* The furthest times. */
		{ "run.until=1000000s fabric.sender.timeout=1000s traffic.start=10000s", DONE },
		{ "traffic.size=1024GiB topology.host_rate=1Mbps fabric.flowctl=none "
		  "traffic.start=10000s traffic.repeat=3",
		  REFUSED },
		/* A buffer that is all headroom, and one that is all there can be. */
		{ "fabric.buffer.size=4GB fabric.buffer.reserved=0B fabric.buffer.headroom=1GB",
		  REFUSED },
		{ "fabric.buffer.alpha=128 fabric.buffer.reserved=0B fabric.buffer.headroom=999MB "
		  "fabric.buffer.size=4GB",
		  DONE },
		/* The largest messages on the slowest links inside a server, and networks. */
		{ "job.algorithm=ring job.protocol=simple job.bytes=16384GiB job.buffer=256GiB "
		  "job.reduce=1Gbps job.nvlink_rate=1Gbps job.nvlink_efficiency=0.01",
		  CUT },
		{ "job.algorithm=tree job.protocol=simple job.bytes=256GiB job.buffer=256GiB "
		  "job.channels=1 job.pcie_rate=1Gbps fabric.flowctl=none job.inside=execute "
		  "topology.host_rate=1Mbps",
		  CUT },
	};
	struct tally t = { 0 };

	(void)state;
	assert_int_equal(wf_paths_init(&paths, NULL, NULL), 0);
	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++) {
		const char *last = strrchr(rows[i].set, ' ') + 1;
		struct doc *d = calloc(1, sizeof(*d));
		char why[WF_ERR_TEXT + 64] = "", name[80];
		enum outcome got;

		assert_non_null(d);
		set_all(d, strstr(rows[i].set, "job.") != NULL ? plain_job : plain);
		set_all(d, rows[i].set);
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(last, "="), last);
		got = run_doc(d, why, sizeof(why));
		if (got != rows[i].outcome ||
		    (got == REFUSED && !refers(why, d, strchr(name, '.') + 1)))
			complain(&t, rows[i].set, "", NULL, outcome_names[got], why);
		free(d);
	}
	assert_int_equal(t.wrong, 0);
}

/* ---- rows of files that a scenario names ---- */

/* Writes a file with one row of a model or GPU, and runs a training step with it. */
static enum outcome run_file(const char *path, const char *key, const struct wf_param *row,
                             const char *value, char *why, size_t size)
{
	struct doc *d = calloc(1, sizeof(*d));
	FILE *f = fopen(path, "w");
	enum outcome outcome;

	assert_non_null(d);
	assert_non_null(f);
	fprintf(f, "description: a test\n%s: %s\n", row->name, value);
	assert_int_equal(fclose(f), 0);
	set_all(d, plain_job);
	set_all(d, TRAIN);
	set(d, "job.layers", strcmp(row->name, "layers") == 0 ? "0" : "1");
	set(d, key, path);
	outcome = run_doc(d, why, size);
	free(d);
	return outcome;
}

/* Runs, for as long as it may, or is refused with the name of the row. */
static void file_rows(struct tally *t, const char *path, const char *key,
                      const struct wf_param *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (enum end end = LOW; end < ENDS && is_number(&rows[i]); end++) {
			bool beyond = end == BELOW || end == ABOVE;
			char value[64], why[WF_ERR_TEXT + 64] = "";
			enum outcome got;

			value_text(&rows[i], end, value, sizeof(value));
			got = run_file(path, key, &rows[i], value, why, sizeof(why));
			if (got == BROKEN || (beyond && got != REFUSED) ||
			    (got == REFUSED && strstr(why, rows[i].name) == NULL))
				complain(t, rows[i].name, value, key, outcome_names[got], why);
			t->runs++;
		}
	}
}

static void test_files(void **state)
{
	struct tally t = { 0 };
	char path[] = "/tmp/weft-ends-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(wf_paths_init(&paths, NULL, NULL), 0);
	file_rows(&t, path, "job.gpu", wf_gpu_params, wf_gpu_n_params);
	file_rows(&t, path, "job.model", wf_model_params, wf_model_n_params);
	unlink(path);
	assert_true(t.runs > 50);
	assert_int_equal(t.wrong, 0);
}

/* The rows of faults, which are no table that others see. */
static void test_faults(void **state)
{
	static const struct {
		const char *times;
		enum outcome outcome;
		const char *says;
	} rows[] = {
		{ "down: 0ps, up: 1ps", DONE, "" },
		{ "down: 1us, up: 1000000s", DONE, "" },
		{ "down: 1000000s", DONE, "" },
		{ "down: -1ps", REFUSED, "e.yaml:5:40: down: " },
		{ "down: 1000000000001us", REFUSED, "e.yaml:5:40: down: " },
		{ "down: 0ps, up: 1000000000001us", REFUSED, "e.yaml:5:49: up: " },
		{ "down: 1us, up: 1us", REFUSED, "e.yaml:5:49: up: " },
	};

	(void)state;
	assert_int_equal(wf_paths_init(&paths, NULL, NULL), 0);
	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++) {
		const struct wf_scenario_opts opts = { .paths = &paths };
		char text[512], why[WF_ERR_TEXT + 64] = "";
		struct wf_err err = { "" };
		enum outcome got = REFUSED;
		struct wf_scenario s;

		snprintf(text, sizeof(text),
		         "run: {until: 1000000s, reconverge: 1000s}\n"
		         "topology: {kind: leaf-spine, hosts: 4, radix: 4}\n"
		         "fabric: {name: f, routing: spray}\n"
		         "traffic: [{kind: shift, size: 20KB, start: 10us}]\n"
		         "faults: [{link: [leaf0, spine0], %s}]\n",
		         rows[i].times);
		if (wf_scenario_parse(&s, text, strlen(text), FILE_NAME, &opts, &err) != 0 ||
		    wf_scenario_build(&s, &err) != 0)
			snprintf(why, sizeof(why), "%s", err.text);
		else
			got = run_scenario(&s, why, sizeof(why));
		if (got != rows[i].outcome || strncmp(why, rows[i].says, strlen(rows[i].says)) != 0)
			fail_msg("%s: %s: %s", rows[i].times, outcome_names[got], why);
		wf_scenario_fini(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_row),
		cmocka_unit_test(test_together),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
