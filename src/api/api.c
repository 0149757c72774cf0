/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api.c - the public interface: fabrics, virtual time and calls in it. Verbs are in api_verbs.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_priv.h"

#define TEXT_MAX 1024 /* of a scenario made from a profile's name */
#define MAX_SET 64

/* ---- waiting calls: a heap ---- */

static bool wait_before(const struct wf_api_wait *a, const struct wf_api_wait *b)
{
	return a->at < b->at || (a->at == b->at && a->number < b->number);
}

int wf_api_wait_add(struct weft_adapter *a, const struct wf_api_wait *wait)
{
	struct wf_api_wait w = *wait;
	size_t i;

	if (a->n_waits == a->room) {
		size_t room = a->room == 0 ? 16 : 2 * a->room;
		struct wf_api_wait *more = realloc(a->waits, room * sizeof(*more));

		if (more == NULL)
			return -ENOMEM;
		a->waits = more;
		a->room = room;
	}
	w.number = a->next_number++;
	for (i = a->n_waits++; i > 0 && wait_before(&w, &a->waits[(i - 1) / 2]); i = (i - 1) / 2)
		a->waits[i] = a->waits[(i - 1) / 2];
	a->waits[i] = w;
	wf_adapter_call_at(a->adapter, w.at);
	return 0;
}

static struct wf_api_wait wait_take(struct weft_adapter *a)
{
	struct wf_api_wait first = a->waits[0], last = a->waits[--a->n_waits];
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= a->n_waits)
			break;
		if (child + 1 < a->n_waits && wait_before(&a->waits[child + 1], &a->waits[child]))
			child++;
		if (!wait_before(&a->waits[child], &last))
			break;
		a->waits[i] = a->waits[child];
		i = child;
	}
	if (a->n_waits > 0)
		a->waits[i] = last;
	return first;
}

/* ---- the program on every host ---- */

static void host_run(void *arg, struct wf_adapter *adapter, wf_time now)
{
	struct weft_adapter *a = arg;

	a->now = now;
	while (a->n_waits > 0 && a->waits[0].at <= now) {
		struct wf_api_wait w = wait_take(a);

		if (w.fn != NULL)
			w.fn(w.arg);
		else if (w.cq->fn != NULL)
			w.cq->fn(w.cq->arg, &w.wc);
	}
	if (a->n_waits > 0)
		wf_adapter_call_at(adapter, a->waits[0].at);
}

static void host_complete(void *arg, struct wf_adapter *adapter, struct wf_cq *cq, wf_time now)
{
	struct weft_adapter *a = arg;

	(void)adapter;
	a->now = now;
	wf_api_show(wf_cq_user(cq), now);
}

static const struct wf_program host_program = { .run = host_run, .complete = host_complete };

/* ---- the application of the simulation ---- */

static void app_attr(void *arg, uint32_t host, struct wf_hca_attr *attr)
{
	const struct weft_fabric *f = arg;

	(void)host;
	attr->max_qp = f->max_qp;
	attr->max_mr = f->max_mr;
}

static int app_start(void *arg, const struct wf_fabric *fabric, struct wf_adapter **adapters,
                     struct wf_err *err)
{
	struct weft_fabric *f = arg;
	uint32_t n = fabric->topo->n_hosts;
	int ret = 0;

	(void)err;
	f->fabric = fabric;
	f->adapters = calloc(n, sizeof(*f->adapters));
	if (f->adapters == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < n && ret == 0; i++) {
		struct weft_adapter *a = &f->adapters[i];

		a->fabric = f;
		a->adapter = adapters[i];
		a->host = i;
		wf_adapter_add_program(adapters[i], &host_program, a);
		ret = wf_pd_create(wf_adapter_hca(adapters[i]), &a->pd);
	}
	return ret;
}

static bool app_done(void *arg, wf_time now)
{
	const struct weft_fabric *f = arg;

	(void)now;
	return __atomic_load_n(&f->stop, __ATOMIC_RELAXED) ||
	       __atomic_load_n(&f->no_memory, __ATOMIC_RELAXED);
}

/* ---- fabrics ---- */

/* The changes that attr asks for. Returns how many, or -EINVAL with err filled. */
static int read_set(const char *const *set, struct wf_override *overrides, char (*names)[128],
                    struct wf_err *err)
{
	int n = 0;

	for (; set != NULL && set[n] != NULL; n++) {
		const char *eq = strchr(set[n], '=');

		if (n == MAX_SET)
			return wf_err_say(err, "set: at most %d values are possible", MAX_SET);
		if (eq == NULL || eq == set[n] || eq - set[n] >= (int)sizeof(*names))
			return wf_err_say(err, "set: '%.60s': write parameter=value", set[n]);
		snprintf(names[n], sizeof(*names), "%.*s", (int)(eq - set[n]), set[n]);
		overrides[n] = (struct wf_override){
			.where = set[n],
			.name = names[n],
			.value = eq + 1,
		};
	}
	return n;
}

static int read_scenario(struct weft_fabric *f, const struct weft_fabric_attr *attr,
                         struct wf_err *err)
{
	struct wf_override overrides[MAX_SET];
	char names[MAX_SET][128], made[TEXT_MAX];
	struct wf_scenario_opts opts = {
		.paths = &f->paths,
		.overrides = overrides,
		.programs = true,
	};
	const char *text = attr->scenario;
	int n = read_set(attr->set, overrides, names, err);

	if (n < 0)
		return n;
	opts.n_overrides = (size_t)n;
	if (text == NULL) {
		if (attr->profile == NULL || attr->hosts == 0)
			return wf_err_say(err, "a fabric needs a profile and hosts, or a scenario");
		n = snprintf(made, sizeof(made),
		             "seed: %llu\ntopology: {kind: %s, hosts: %u}\nfabric: %s\n",
		             (unsigned long long)attr->seed,
		             attr->topology != NULL ? attr->topology : "single", attr->hosts,
		             attr->profile);
		if (n >= (int)sizeof(made))
			return wf_err_say(err, "the profile's name is too long");
		text = made;
	}
	n = wf_scenario_parse(&f->scenario, text, strlen(text), "fabric", &opts, err);
	return n == 0 ? wf_scenario_build(&f->scenario, err) : n;
}

static int build(struct weft_fabric *f, const struct weft_fabric_attr *attr, struct wf_err *err)
{
	const struct wf_scenario *s = &f->scenario;
	const struct wf_sim_app app = {
		.arg = f,
		.data = true,
		.attr = app_attr,
		.start = app_start,
		.done = app_done,
	};
	struct wf_sim_cfg cfg = { .app = &app, .until = WF_TIME_NEVER };
	int ret = wf_paths_init(&f->paths, attr->profiles, err);

	if (ret != 0)
		return ret;
	f->max_qp = attr->max_qp != 0 ? attr->max_qp : 1024;
	f->max_mr = attr->max_mr != 0 ? attr->max_mr : 1024;
	ret = read_scenario(f, attr, err);
	if (ret != 0)
		return ret;
	cfg.topo = s->fabrics[0].net->topo;
	cfg.fabric = &s->fabrics[0].values.cfg;
	cfg.cc = &s->fabrics[0].values.cc;
	cfg.devices = wf_devices_of(&s->fabrics[0].devices);
	cfg.faults = s->fabrics[0].events;
	cfg.n_faults = s->fabrics[0].n_events;
	cfg.reconverge = s->cfg.reconverge;
	cfg.seed = s->cfg.seed;
	cfg.threads = attr->threads != 0 ? attr->threads : 1;
	if (cfg.threads > 64)
		return wf_err_say(err, "threads: 1 to 64 are possible");
	return wf_sim_create(&cfg, &f->sim, err);
}

int weft_fabric_create(const struct weft_fabric_attr *attr, char *error, size_t size,
                       struct weft_fabric **fabric_p)
{
	struct weft_fabric *f = calloc(1, sizeof(*f));
	struct wf_err err = { "" };
	int ret = f == NULL ? -ENOMEM : build(f, attr, &err);

	if (ret == 0) {
		*fabric_p = f;
		return 0;
	}
	if (size > 0)
		snprintf(error, size, "%s", err.text[0] != '\0' ? err.text : strerror(-ret));
	weft_fabric_destroy(f);
	return ret;
}

void weft_fabric_destroy(struct weft_fabric *f)
{
	if (f == NULL)
		return;
	for (uint32_t i = 0; f->adapters != NULL && i < f->scenario.n_hosts; i++) {
		struct weft_adapter *a = &f->adapters[i];

		while (a->cqs != NULL) {
			struct weft_cq *cq = a->cqs;

			a->cqs = cq->next;
			free(cq);
		}
		free(a->waits);
		free(a->ahs);
	}
	wf_sim_destroy(f->sim);
	wf_scenario_fini(&f->scenario);
	free(f->adapters);
	free(f);
}

uint32_t weft_fabric_hosts(const struct weft_fabric *f)
{
	return f->scenario.n_hosts;
}

int weft_run(struct weft_fabric *f, weft_time until)
{
	wf_time end;
	int ret;

	if (f->running)
		return -EBUSY;
	if (until <= weft_fabric_now(f))
		return 0;
	f->stop = false;
	f->running = true;
	ret = wf_sim_run_until(f->sim, until, &end);
	f->running = false;
	if (!f->stop && ret == 0 && until != WF_TIME_NEVER)
		wf_sim_rest(f->sim, until);
	return ret == 0 && f->no_memory ? -ENOMEM : ret;
}

void weft_stop(struct weft_fabric *f)
{
	__atomic_store_n(&f->stop, true, __ATOMIC_RELAXED);
}

weft_time weft_fabric_now(const struct weft_fabric *f)
{
	return wf_sim_now(f->sim);
}

void weft_fabric_stats(const struct weft_fabric *f, struct weft_stats *stats)
{
	struct wf_sim_result result;

	wf_sim_result(f->sim, &result);
	*stats = (struct weft_stats){
		.packets_sent = result.packets_sent,
		.packets_delivered = result.packets_delivered,
		.packets_dropped = result.packets_dropped,
		.payload_held = wf_sim_payload_in_use(f->sim),
	};
	for (unsigned q = 0; q < result.n_queues; q++) {
		stats->drops_congestion += result.queue[q].drops_congestion;
		stats->drops_error += result.queue[q].drops_error;
		stats->drops_down += result.queue[q].drops_down;
	}
}

/* ---- adapters ---- */

struct weft_adapter *weft_adapter_open(struct weft_fabric *f, uint32_t host)
{
	return host < f->scenario.n_hosts ? &f->adapters[host] : NULL;
}

wf_time wf_api_time(const struct weft_adapter *a)
{
	return a->fabric->running ? a->now : weft_fabric_now(a->fabric);
}

weft_time weft_adapter_now(const struct weft_adapter *a)
{
	return wf_api_time(a);
}

void wf_api_touch(struct weft_adapter *a)
{
	if (!a->fabric->running)
		wf_adapter_call_at(a->adapter, weft_fabric_now(a->fabric));
}

int weft_call_at(struct weft_adapter *a, weft_time at, weft_call_fn *fn, void *arg)
{
	const struct wf_api_wait wait = { .at = at, .fn = fn, .arg = arg };

	if (at < wf_api_time(a) || at == WF_TIME_NEVER || fn == NULL)
		return -EINVAL;
	return wf_api_wait_add(a, &wait);
}
