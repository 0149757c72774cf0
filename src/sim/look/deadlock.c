/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deadlock.c - circles among queues that never move: when each was complete, and after what.
 *
 * Of a knot of queues that wait for one another every one reaches every other. Its circle is the
 * one that was complete first: we take the queues in the order in which they stopped, until there
 * is a circle among them, and of those through the last the shortest.
 */
#include "sim/look/deadlock.h"

#include <errno.h>
#include <string.h>

#include "base/sort.h"
#include "sim/look/stuck.h"

#define NOBODY UINT32_MAX
#define SUSPECT (100 * WF_US) /* who has stood still for so long at a run's end is looked at */

const char *wf_sim_change_name(enum wf_sim_change_kind kind)
{
	static const char *const name[] = {
		[WF_SIM_CHANGE_NONE] = "none",
		[WF_SIM_CHANGE_LINK_DOWN] = "link_down",
		[WF_SIM_CHANGE_LINK_UP] = "link_up",
		[WF_SIM_CHANGE_STORM] = "storm",
		[WF_SIM_CHANGE_STORM_OVER] = "storm_over",
		[WF_SIM_CHANGE_NODE] = "device_set",
		[WF_SIM_CHANGE_PORT] = "port_set",
		[WF_SIM_CHANGE_ROUTES] = "routes",
	};

	_Static_assert(WF_ARRAY_SIZE(name) == WF_SIM_CHANGES, "name every kind");
	return (unsigned)kind < WF_SIM_CHANGES ? name[kind] : "?";
}

/* ---- what happened ---- */

void wf_sim_changed(struct wf_sim *sim, enum wf_sim_change_kind kind, uint32_t what, wf_time now)
{
	struct wf_sim_change *c =
		&sim->changes.last[sim->changes.n++ % WF_ARRAY_SIZE(sim->changes.last)];

	*c = (struct wf_sim_change){
		.at = now, .kind = kind, .what = what, .one_behind = WF_TOPO_NONE
	};
	for (uint32_t id = 0; kind == WF_SIM_CHANGE_ROUTES && id < sim->topo->n_nodes; id++) {
		if (sim->topo->nodes[id].kind != WF_TOPO_SWITCH)
			continue;
		if (sim->faults.table_of[id] == sim->faults.newest) {
			c->switches++;
			continue;
		}
		if (c->behind++ == 0)
			c->one_behind = id;
	}
}

/* The last change at or before a time, of routes or of everything else. */
static struct wf_sim_change last_change(const struct wf_sim *sim, wf_time at, bool routes)
{
	const unsigned n = WF_ARRAY_SIZE(sim->changes.last);
	unsigned kept = sim->changes.n < n ? sim->changes.n : n;

	for (unsigned i = 1; i <= kept; i++) {
		const struct wf_sim_change *c = &sim->changes.last[(sim->changes.n - i) % n];

		if (c->at <= at && (c->kind == WF_SIM_CHANGE_ROUTES) == routes)
			return *c;
	}
	return (struct wf_sim_change){ .kind = WF_SIM_CHANGE_NONE };
}

/* ---- circles ---- */

/* A search among the queues of a wf_stuck; arrays are by their places. */
struct search {
	const struct wf_stuck *s;
	bool *out;       /* not looked at: part of a knot that is known */
	bool *in;        /* looked at now */
	uint32_t *order; /* places, by the time of their stop */
	uint32_t *next;  /* on the way to where a walk began */
	uint32_t *list;  /* to do */
	uint32_t *count;
};

static int by_stop(const void *a, const void *b, const void *arg)
{
	const struct wf_stuck *s = arg;
	const struct wf_stuck_queue *x = &s->queue[*(const uint32_t *)a];
	const struct wf_stuck_queue *y = &s->queue[*(const uint32_t *)b];

	return x->since < y->since ? -1 : x->since > y->since;
}

/*
 * Whether there is a circle among those that are in: one by one, who waits for none of them goes.
 */
static bool has_circle(const struct search *c)
{
	const struct wf_stuck *s = c->s;
	uint32_t n = 0, done = 0, all = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		c->count[i] = 0;
		all += c->in[i];
		for (uint32_t e = s->first[i]; c->in[i] && e < s->first[i + 1]; e++)
			c->count[i] += c->in[s->to[e]];
		if (c->in[i] && c->count[i] == 0)
			c->list[n++] = i;
	}
	for (; done < n; done++) {
		uint32_t b = c->list[done];

		for (uint32_t e = s->first_back[b]; e < s->first_back[b + 1]; e++) {
			uint32_t a = s->back[e];

			if (c->in[a] && --c->count[a] == 0)
				c->list[n++] = a;
		}
	}
	return n < all;
}

/* Takes the first n in the order of their stops, but for those that are out. */
static void take_first(const struct search *c, uint32_t n)
{
	for (uint32_t i = 0; i < c->s->n; i++)
		c->in[c->order[i]] = i < n && !c->out[c->order[i]];
}

/*
 * Walks from queue v against the waits, over those that are in: next[a] is whom a waits for on the
 * shortest way to v. Returns how many come to v, itself not counted unless it does.
 */
static uint32_t walk_back(const struct search *c, uint32_t v)
{
	const struct wf_stuck *s = c->s;
	uint32_t n = 0, done = 0, b = v;

	for (uint32_t i = 0; i < s->n; i++)
		c->next[i] = NOBODY;
	for (;;) {
		for (uint32_t e = s->first_back[b]; e < s->first_back[b + 1]; e++) {
			uint32_t a = s->back[e];

			if (!c->in[a] || c->next[a] != NOBODY)
				continue;
			c->next[a] = b;
			c->list[n++] = a;
		}
		if (done == n)
			return n;
		b = c->list[done++];
	}
}

/* Takes the knot of queue v out: those that v waits for, of those that wait for v. */
static void take_knot_out(const struct search *c, uint32_t v)
{
	const struct wf_stuck *s = c->s;
	uint32_t n = 0;

	memset(c->in, 1, s->n);
	(void)walk_back(c, v);
	/* All of a way from v back to v come to v: no other has to be walked over. */
	if (c->next[v] == NOBODY)
		return;
	c->out[v] = true;
	c->list[n++] = v;
	for (uint32_t done = 0; done < n; done++) {
		uint32_t a = c->list[done];

		for (uint32_t e = s->first[a]; e < s->first[a + 1]; e++) {
			uint32_t b = s->to[e];

			if (c->out[b] || c->next[b] == NOBODY)
				continue;
			c->out[b] = true;
			c->list[n++] = b;
		}
	}
}

/* The queue that closed the first circle of those that are not out; false: there is none. */
static bool find_closing(const struct search *c, uint32_t *v_p)
{
	uint32_t low = 0, high = c->s->n; /* low: no circle yet; high: one */

	take_first(c, high);
	if (!has_circle(c))
		return false;
	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;

		take_first(c, mid);
		*(has_circle(c) ? &high : &low) = mid;
	}
	take_first(c, high);
	*v_p = c->order[high - 1];
	return true;
}

static int begin_search(struct search *c, const struct wf_stuck *s)
{
	struct wf_mem *mem = s->mem;
	size_t n = s->n;

	*c = (struct search){
		.s = s,
		.out = mem->alloc(mem, n),
		.in = mem->alloc(mem, n),
		.order = mem->alloc(mem, 2 * n * sizeof(*c->order)), /* half of it to sort in */
		.next = mem->alloc(mem, n * sizeof(*c->next)),
		.list = mem->alloc(mem, n * sizeof(*c->list)),
		.count = mem->alloc(mem, n * sizeof(*c->count)),
	};
	if (c->out == NULL || c->in == NULL || c->order == NULL || c->next == NULL ||
	    c->list == NULL || c->count == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->n; i++)
		c->order[i] = i;
	wf_sort(c->order, c->order + n, n, sizeof(*c->order), by_stop, s);
	return 0;
}

static void end_search(struct search *c)
{
	struct wf_mem *mem = c->s->mem;

	mem->free(mem, c->out);
	mem->free(mem, c->in);
	mem->free(mem, c->order);
	mem->free(mem, c->next);
	mem->free(mem, c->list);
	mem->free(mem, c->count);
}

/* ---- what is kept of them ---- */

static bool same_queue(const struct wf_deadlock_link *l, const struct wf_stuck_queue *q)
{
	return l->node == q->node && l->port == q->port && l->queue == q->queue;
}

/* The place of a link's queue among those that never move; NOBODY: it may. */
static uint32_t place_of(const struct wf_stuck *s, const struct wf_deadlock_link *l)
{
	return s->n == 0 ? NOBODY : s->of_lane[wf_stuck_lane(s, l->node, l->port, l->queue)] - 1;
}

/* Whether packets that come by input and go on by output come from above and go up again. */
static bool is_valley(const struct wf_sim *sim, uint32_t node, unsigned input, unsigned output)
{
	unsigned tier = sim->topo->nodes[node].tier;

	return sim->topo->nodes[wf_stuck_peer(sim, node, input)->peer].tier > tier &&
	       sim->topo->nodes[wf_stuck_peer(sim, node, output)->peer].tier > tier;
}

/* What a queue looks like, of which before is the one that waits for it. */
static void fill_link(const struct wf_sim *sim, struct wf_deadlock_link *l,
                      const struct wf_stuck_queue *q, const struct wf_stuck_queue *before)
{
	const struct wf_topo_port *in = wf_stuck_peer(sim, before->node, before->port);
	const struct wf_packet *p = wf_stuck_lane_at(sim, q->node, q->port, q->queue)->head;
	uint32_t stoppers = wf_stuck_stoppers(sim, before->node, before->port, before->queue);

	assert(p != NULL && in->peer == q->node);
	*l = (struct wf_deadlock_link){
		.node = q->node,
		.port = q->port,
		.queue = q->queue,
		.id = sim->fabric.classes.queue[q->queue].id,
		.since = q->since,
		.src = wf_fabric_host(&sim->fabric, wf_packet_src(p)),
		.dst = wf_fabric_host(&sim->fabric, p->dst),
		.valley = is_valley(sim, q->node, in->peer_port, q->port),
	};
	for (; p != NULL; p = p->next) {
		l->packets++;
		l->bytes += p->size;
		if (p->input != in->peer_port || (stoppers >> p->vl & 1) == 0)
			continue;
		if (l->held++ == 0) {
			l->held_src = wf_fabric_host(&sim->fabric, wf_packet_src(p));
			l->held_dst = wf_fabric_host(&sim->fabric, p->dst);
		}
		l->held_bytes += p->size;
	}
	assert(l->held > 0);
}

/* Whether a host is kept from sending by packets of a group at its switch's port. */
static bool stops_host(const struct wf_sim *sim, uint32_t node, const struct wf_packet *p)
{
	const struct wf_topo_port *tp = wf_stuck_peer(sim, node, p->input);

	if (wf_stuck_is_own(sim, node, p) || sim->topo->nodes[tp->peer].kind != WF_TOPO_HOST)
		return false;
	if (sim->fabric.flowctl->uses_credits)
		return wf_stuck_lane_at(sim, tp->peer, tp->peer_port, p->vl)->wait_since !=
		       WF_TIME_NEVER;
	for (unsigned q = 0; q < sim->fabric.classes.n; q++) {
		if (wf_stuck_stoppers(sim, tp->peer, tp->peer_port, q) >> p->vl & 1)
			return wf_stuck_lane_at(sim, node, p->input, p->vl)->xoff;
	}
	return false;
}

/* Counts what waits for the circle of d, of which v is a queue. */
static int count_waiters(const struct search *c, struct wf_deadlock *d, uint32_t v)
{
	const struct wf_stuck *s = c->s;
	struct wf_mem *mem = s->mem;
	bool *host = mem->alloc(mem, s->sim->topo->n_nodes);
	uint32_t n;

	if (host == NULL)
		return -ENOMEM;
	memset(c->in, 1, s->n);
	n = walk_back(c, v);
	d->queues = n;
	d->hosts = 0;
	d->packets = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct wf_stuck_queue *q = &s->queue[c->list[i]];
		const struct wf_packet *p =
			wf_stuck_lane_at(s->sim, q->node, q->port, q->queue)->head;

		for (; p != NULL; p = p->next) {
			uint32_t peer;

			d->packets++;
			if (wf_stuck_is_own(s->sim, q->node, p))
				continue;
			peer = wf_stuck_peer(s->sim, q->node, p->input)->peer;
			if (host[peer] || !stops_host(s->sim, q->node, p))
				continue;
			host[peer] = true;
			d->hosts++;
		}
	}
	mem->free(mem, host);
	return 0;
}

/* The deadlock that was in the same circle before; NULL: there was none. */
static struct wf_deadlock *find_again(struct wf_sim *sim, const struct wf_stuck *s,
                                      const uint32_t *ring, uint32_t n)
{
	for (uint32_t i = 0; i < sim->deadlocks.n; i++) {
		struct wf_deadlock *d = &sim->deadlocks.list[i];
		uint32_t same = 0;

		for (uint32_t k = 0; k < d->n; k++) {
			for (uint32_t j = 0; j < n; j++)
				same += same_queue(&d->link[k], &s->queue[ring[j]]);
		}
		if (d->n == n && same == n && d->certain == (s->kind == WF_STUCK_FOR_GOOD))
			return d;
	}
	return NULL;
}

/* Notes a circle of n queues, the last of which closed it. Returns it, or NULL without memory. */
static struct wf_deadlock *keep(struct wf_sim *sim, const struct wf_stuck *s, const uint32_t *ring,
                                uint32_t n)
{
	struct wf_deadlock *d = &sim->deadlocks.list[sim->deadlocks.n];
	wf_time formed = s->queue[ring[n - 1]].since;

	*d = (struct wf_deadlock){
		.certain = s->kind == WF_STUCK_FOR_GOOD,
		.formed = formed,
		.formed_last = formed,
		.found = wf_sim_now(sim),
		.ended = WF_TIME_NEVER,
		.times = 1,
		.n = n,
		.closed = n - 1,
		.link = sim->mem->alloc(sim->mem, n * sizeof(*d->link)),
		.fault = last_change(sim, formed, false),
		.routes = last_change(sim, formed, true),
	};
	if (d->link == NULL)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		fill_link(sim, &d->link[i], &s->queue[ring[i]], &s->queue[ring[(i + n - 1) % n]]);
	sim->deadlocks.n++;
	return d;
}

/* Finds the circles of knots that are not out. Returns 0 or -ENOMEM. */
static int find_new(struct wf_sim *sim, const struct search *c, uint32_t *ring)
{
	uint32_t v;

	while (find_closing(c, &v)) {
		struct wf_deadlock *d;
		uint32_t n = 0;

		(void)walk_back(c, v);
		for (uint32_t at = c->next[v];; at = c->next[at]) {
			ring[n++] = at;
			if (at == v)
				break;
		}
		take_knot_out(c, v);
		sim->deadlocks.found++;
		d = find_again(sim, c->s, ring, n);
		if (d != NULL) {
			sim->deadlocks.found--;
			d->times++;
			d->ended = WF_TIME_NEVER;
			d->formed_last = c->s->queue[v].since;
		} else if (sim->deadlocks.n < WF_DEADLOCKS_MAX) {
			d = keep(sim, c->s, ring, n);
			if (d == NULL)
				return -ENOMEM;
		}
		if (d == NULL)
			continue;
		sim->deadlocks.standing += d->certain;
		if (count_waiters(c, d, v) != 0)
			return -ENOMEM;
	}
	return 0;
}

static bool stands(const struct wf_deadlock *d)
{
	return d->ended == WF_TIME_NEVER;
}

/* Those that stand: takes their knots out, and has another look at what waits for them. */
static int look_at_known(struct wf_sim *sim, const struct search *c)
{
	for (uint32_t i = 0; i < sim->deadlocks.n; i++) {
		struct wf_deadlock *d = &sim->deadlocks.list[i];
		uint32_t v = place_of(c->s, &d->link[0]);

		if (!stands(d) || v == NOBODY)
			continue;
		take_knot_out(c, v);
		if (count_waiters(c, d, v) != 0)
			return -ENOMEM;
	}
	return 0;
}

static int look_at_circles(struct wf_sim *sim, const struct wf_stuck *s)
{
	uint32_t *ring = s->mem->alloc(s->mem, s->n * sizeof(*ring));
	struct search c = { .s = s };
	int ret = ring == NULL ? -ENOMEM : begin_search(&c, s);

	if (ret == 0)
		ret = look_at_known(sim, &c);
	if (ret == 0)
		ret = find_new(sim, &c, ring);
	s->mem->free(s->mem, ring);
	end_search(&c);
	return ret;
}

/* ---- as time passes ---- */

/* Notes for each queue of the circle how long it was in it. */
static void note_end(const struct wf_sim *sim, const struct wf_deadlock *d, wf_time end)
{
	for (uint32_t i = 0; i < d->n && d->certain; i++) {
		const struct wf_deadlock_link *l = &d->link[i];
		const struct wf_incident note = {
			.at = d->formed_last,
			.dur = end - d->formed_last,
			.node = l->node,
			.src = l->src,
			.dst = l->dst,
			.port = l->port,
			.queue = l->queue,
			.kind = WF_INCIDENT_DEADLOCK,
			.why = (uint8_t)((i == d->closed ? WF_INCIDENT_CLOSED : 0) |
			                 (l->valley ? WF_INCIDENT_VALLEY : 0)),
		};

		wf_incident_add(&sim->fabric, sim->net.devices[l->node]->shard, &note);
	}
}

void wf_sim_end_deadlocks(const struct wf_sim *sim)
{
	for (uint32_t i = 0; i < sim->deadlocks.n; i++) {
		if (stands(&sim->deadlocks.list[i]))
			note_end(sim, &sim->deadlocks.list[i], wf_sim_now(sim));
	}
}

/* Those with a queue that may move again are over. Returns whether there are any. */
static bool end_those_over(struct wf_sim *sim, const struct wf_stuck *s)
{
	bool any = false;

	for (uint32_t i = 0; i < sim->deadlocks.n; i++) {
		struct wf_deadlock *d = &sim->deadlocks.list[i];
		bool all = true;

		for (uint32_t k = 0; k < d->n; k++)
			all &= place_of(s, &d->link[k]) != NOBODY;
		if (!stands(d) || !d->certain || all)
			continue;
		d->ended = wf_sim_now(sim);
		note_end(sim, d, d->ended);
		sim->deadlocks.standing--;
		any = true;
	}
	return any;
}

static void look(struct wf_sim *sim, wf_time wait, bool always)
{
	struct wf_stuck s;
	bool changed;
	int ret = wf_stuck_find(&s, sim, WF_STUCK_FOR_GOOD, wait);

	if (ret == 0) {
		changed = end_those_over(sim, &s) || s.n != sim->deadlocks.stuck;
		sim->deadlocks.stuck = s.n;
		if (s.n != 0 && (changed || always))
			ret = look_at_circles(sim, &s);
	}
	wf_stuck_fini(&s);
	sim->failed |= ret != 0;
}

void wf_sim_watch_deadlocks(struct wf_sim *sim, wf_time every, bool stop)
{
	sim->deadlocks.every = every;
	sim->deadlocks.due = every > 0 ? every : WF_TIME_NEVER;
	sim->deadlocks.stop = stop;
}

bool wf_sim_deadlocks_due(struct wf_sim *sim, wf_time now)
{
	sim->deadlocks.due = (now / sim->deadlocks.every + 1) * sim->deadlocks.every;
	look(sim, sim->deadlocks.every, false);
	return sim->deadlocks.stop && sim->deadlocks.standing > 0;
}

int wf_sim_look_for_deadlocks(struct wf_sim *sim, bool last)
{
	struct wf_stuck s;
	int ret;

	look(sim, 0, true);
	if (sim->failed)
		return -ENOMEM;
	if (!last || sim->deadlocks.standing > 0)
		return 0;
	ret = wf_stuck_find(&s, sim, WF_STUCK_NOW, SUSPECT);
	if (ret == 0 && s.n != 0)
		ret = look_at_circles(sim, &s);
	wf_stuck_fini(&s);
	sim->failed |= ret != 0;
	return ret;
}

const struct wf_deadlock *wf_sim_deadlocks(const struct wf_sim *sim, uint32_t *n_p)
{
	*n_p = sim->deadlocks.n;
	return sim->deadlocks.list;
}

uint32_t wf_sim_deadlocks_found(const struct wf_sim *sim)
{
	return sim->deadlocks.found;
}

uint32_t wf_sim_deadlocks_standing(const struct wf_sim *sim)
{
	return sim->deadlocks.standing;
}

void wf_sim_free_deadlocks(struct wf_sim *sim)
{
	for (uint32_t i = 0; i < WF_DEADLOCKS_MAX; i++)
		sim->mem->free(sim->mem, sim->deadlocks.list[i].link);
}

/* ---- what hangs on hosts ---- */

static int most_first(const void *a, const void *b, const void *arg)
{
	const struct wf_standstill *x = a, *y = b;

	(void)arg;
	return x->queues > y->queues ? -1 : x->queues < y->queues;
}

/* Adds queue v, which leads to a host, to the list. */
static void add_tree(const struct search *c, uint32_t v, struct wf_standstill *t)
{
	const struct wf_stuck *s = c->s;
	const struct wf_stuck_queue *root = &s->queue[v];
	uint32_t n;

	memset(c->in, 1, s->n);
	n = walk_back(c, v);
	*t = (struct wf_standstill){
		.host = s->sim->topo->nodes[wf_stuck_peer(s->sim, root->node, root->port)->peer]
		                .host,
		.queues = n + (c->next[v] == NOBODY),
		.since = root->since,
	};
	for (uint32_t i = 0; i < s->n; i++) {
		const struct wf_stuck_queue *q = &s->queue[i];
		const struct wf_packet *p =
			wf_stuck_lane_at(s->sim, q->node, q->port, q->queue)->head;

		for (; (i == v || c->next[i] != NOBODY) && p != NULL; p = p->next)
			t->packets++;
	}
}

uint32_t wf_sim_standstills(const struct wf_sim *sim, wf_time wait, struct wf_standstill *list,
                            uint32_t max)
{
	struct wf_mem *mem = sim->mem;
	struct wf_standstill *all = NULL;
	struct wf_stuck s;
	struct search c = { .s = &s };
	uint32_t n = 0;

	if (wf_stuck_find(&s, sim, WF_STUCK_NOW, wait) != 0 || s.n == 0) {
		wf_stuck_fini(&s);
		return 0;
	}
	all = mem->alloc(mem, 2 * (size_t)s.n * sizeof(*all));
	if (all != NULL && begin_search(&c, &s) == 0) {
		for (uint32_t v = 0; v < s.n; v++) {
			uint32_t peer = wf_stuck_peer(sim, s.queue[v].node, s.queue[v].port)->peer;

			if (sim->topo->nodes[peer].kind == WF_TOPO_HOST)
				add_tree(&c, v, &all[n++]);
		}
		wf_sort(all, all + s.n, n, sizeof(*all), most_first, NULL);
		memcpy(list, all, (n < max ? n : max) * sizeof(*all));
	}
	mem->free(mem, all);
	end_search(&c);
	wf_stuck_fini(&s);
	return n;
}
