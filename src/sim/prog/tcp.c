/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp.c - opens connections for flows, sends their bytes, and sees them come.
 */
#include "sim/prog/tcp.h"

#include <errno.h>

#include "base/rng.h"
#include "base/sort.h"
#include "sim/prog/tcp_open.h"
#include "sim/sim.h"

/*
 * One flow. What the receiver writes is apart from what the sender does: they may be on two
 * threads.
 */
struct tcp_flow {
	struct wf_flow_spec spec;
	struct host *to;
	struct wf_tcp_sock *tx, *rx;
	uint64_t acked WF_ALIGNED(WF_CACHE_LINE);
	uint64_t read WF_ALIGNED(WF_CACHE_LINE);
	wf_time end;
};

/* What runs on one host. */
struct host {
	struct wf_tcp_flows *all;
	struct wf_adapter *adapter;
	uint32_t *starts; /* flows it sends, by start */
	uint32_t n, next;
};

struct wf_tcp_flows {
	struct wf_mem *mem;
	uint32_t n_flows, n_hosts;
	struct tcp_flow *flows; /* those that do not go over TCP have no sockets */
	uint32_t *starts;
	struct host *hosts;
};

bool wf_tcp_any(const struct wf_flow_spec *flows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (flows[i].op == WF_FLOW_TCP)
			return true;
	}
	return false;
}

static int by_start(const void *a, const void *b, const void *flows)
{
	const struct tcp_flow *x = (const struct tcp_flow *)flows + *(const uint32_t *)a;
	const struct tcp_flow *y = (const struct tcp_flow *)flows + *(const uint32_t *)b;

	if (x->spec.src != y->spec.src)
		return x->spec.src < y->spec.src ? -1 : 1;
	if (x->spec.start != y->spec.start)
		return x->spec.start < y->spec.start ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Shares the flows out over the hosts that send them. room is for as many numbers as there are. */
static void plan_hosts(struct wf_tcp_flows *f, uint32_t *room)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n_flows; i++) {
		if (f->flows[i].spec.op == WF_FLOW_TCP)
			f->starts[n++] = i;
	}
	wf_sort(f->starts, room, n, sizeof(*room), by_start, f->flows);
	for (uint32_t h = 0; h < f->n_hosts; h++)
		f->hosts[h].all = f;
	for (uint32_t k = 0; k < n; k++) {
		struct host *h = &f->hosts[f->flows[f->starts[k]].spec.src];

		if (h->n++ == 0)
			h->starts = f->starts + k;
	}
}

int wf_tcp_flows_create(const struct wf_fabric *fabric, const struct wf_flow_spec *flows, size_t n,
                        struct wf_tcp_flows **flows_p)
{
	struct wf_mem *mem = fabric->mem;
	struct wf_tcp_flows *f = mem->alloc(mem, sizeof(*f));
	uint32_t *room;

	if (f == NULL)
		return -ENOMEM;
	f->mem = mem;
	f->n_flows = (uint32_t)n;
	f->n_hosts = fabric->topo->n_hosts;
	f->flows = mem->alloc(mem, n * sizeof(*f->flows));
	f->starts = mem->alloc(mem, n * sizeof(*f->starts));
	f->hosts = mem->alloc(mem, f->n_hosts * sizeof(*f->hosts));
	room = mem->alloc(mem, n * sizeof(*room));
	if (f->flows == NULL || f->starts == NULL || f->hosts == NULL || room == NULL) {
		mem->free(mem, room);
		wf_tcp_flows_destroy(f);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		f->flows[i].spec = flows[i];
		f->flows[i].end = WF_TIME_NEVER;
	}
	plan_hosts(f, room);
	mem->free(mem, room);
	*flows_p = f;
	return 0;
}

void wf_tcp_flows_destroy(struct wf_tcp_flows *f)
{
	struct wf_mem *mem;

	if (f == NULL)
		return;
	mem = f->mem;
	mem->free(mem, f->flows);
	mem->free(mem, f->starts);
	mem->free(mem, f->hosts);
	mem->free(mem, f);
}

/* ---- the programs ---- */

/* The receiver has read more. */
static void flow_came(void *arg, struct wf_tcp_sock *sock, uint64_t bytes, wf_time now)
{
	struct tcp_flow *f = arg;
	struct wf_host_counts *c = wf_adapter_counts(f->to->adapter);

	(void)sock;
	c->bytes_delivered += bytes - f->read;
	c->last_delivery = wf_max_time(c->last_delivery, now);
	f->read = bytes;
	if (bytes < f->spec.bytes)
		return;
	f->end = now;
	c->flows_done++;
	wf_hist_add(&c->flow_time, (uint64_t)(now - f->spec.start));
}

static void flow_written(void *arg, struct wf_tcp_sock *sock, uint64_t bytes, wf_time now)
{
	(void)arg;
	(void)sock;
	(void)bytes;
	(void)now;
}

/* The sender knows that more has come. */
static void flow_acked(void *arg, struct wf_tcp_sock *sock, uint64_t bytes, wf_time now)
{
	struct tcp_flow *f = arg;

	(void)sock;
	(void)now;
	f->acked = bytes;
}

static const struct wf_tcp_user flow_user = {
	.came = flow_came,
	.written = flow_written,
	.acked = flow_acked,
};

static void host_run(void *arg, struct wf_adapter *adapter, wf_time now)
{
	struct host *h = arg;

	while (h->next < h->n) {
		struct tcp_flow *f = &h->all->flows[h->starts[h->next]];

		if (f->spec.start > now) {
			wf_adapter_call_at(adapter, f->spec.start);
			return;
		}
		h->next++;
		wf_tcp_send(f->tx, f->spec.bytes, now);
	}
}

static void host_complete(void *arg, struct wf_adapter *adapter, struct wf_cq *cq, wf_time now)
{
	(void)arg;
	(void)adapter;
	(void)cq;
	(void)now;
}

static bool host_owns(void *arg, const struct wf_cq *cq)
{
	(void)arg;
	(void)cq;
	return false;
}

static const struct wf_program host_program = {
	.run = host_run,
	.complete = host_complete,
	.owns = host_owns,
};

int wf_tcp_flows_start(struct wf_tcp_flows *f, const struct wf_fabric *fabric,
                       struct wf_adapter **adapters)
{
	for (uint32_t h = 0; h < f->n_hosts; h++) {
		f->hosts[h].adapter = adapters[h];
		if (f->hosts[h].n > 0)
			wf_adapter_add_program(adapters[h], &host_program, &f->hosts[h]);
	}
	for (uint32_t i = 0; i < f->n_flows; i++) {
		struct tcp_flow *flow = &f->flows[i];
		struct wf_tcp_pair pair = {
			.from = adapters[flow->spec.src],
			.to = adapters[flow->spec.dst],
			.cls = flow->spec.cls,
			.key = i,
			.user = &flow_user,
			.from_arg = flow,
			.to_arg = flow,
		};
		int ret;

		if (flow->spec.op != WF_FLOW_TCP)
			continue;
		flow->to = &f->hosts[flow->spec.dst];
		ret = wf_tcp_pair_open(fabric, &pair, &flow->tx, &flow->rx);
		if (ret != 0)
			return ret;
	}
	return 0;
}

/* ---- looking at them ---- */

bool wf_tcp_flows_has(const struct wf_tcp_flows *f, size_t i)
{
	return f->flows[i].spec.op == WF_FLOW_TCP;
}

wf_time wf_tcp_flow_start(const struct wf_tcp_flows *f, size_t i)
{
	return f->flows[i].spec.start;
}

wf_time wf_tcp_flow_end(const struct wf_tcp_flows *f, size_t i)
{
	return f->flows[i].end;
}

struct wf_tcp_conn *wf_tcp_flow_conn(const struct wf_tcp_flows *f, size_t i, bool receiver)
{
	return wf_tcp_sock_conn(receiver ? f->flows[i].rx : f->flows[i].tx);
}

void wf_tcp_flow_state(const struct wf_tcp_flows *f, size_t i, struct wf_sim_flow_state *state)
{
	struct wf_tcp_conn_state s;
	uint16_t mss;

	wf_tcp_conn_state(wf_tcp_flow_conn(f, i, false), &s);
	mss = wf_tcp_conn_mss(wf_tcp_flow_conn(f, i, false));
	*state = (struct wf_sim_flow_state){
		.acked = f->flows[i].acked,
		.window = (uint64_t)s.cwnd * mss,
	};
}
