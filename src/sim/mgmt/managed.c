/* SPDX-License-Identifier: Apache-2.0 */
/* managed.c - a fabric's sites as a whole: the first sweep, and what is done between windows. */
#include "sim/mgmt/managed.h"

#include <errno.h>
#include <string.h>

#include "sim/mgmt/config.h"
#include "sim/mgmt/site.h"
#include "subnet/subnet.h"
#include "sim/sim_priv.h"

#define START_MAX UINT64_C(1000000000) /* MADs of a first sweep: more than any needs */

/* ---- the first sweep, before time begins ---- */

static bool has_work(const struct wf_site *site)
{
	return wf_site_deadline(site) <= 0;
}

/* Whether a manager is still at it: one that is master has no sweep under way. */
static bool is_settled(const struct wf_managed *m)
{
	for (unsigned i = 0; i < m->cfg.n_managers; i++) {
		const struct wf_sm *sm = wf_managed_sm(m, m->cfg.manager[i]);

		if (wf_sm_phase(sm) != WF_SM_PHASE_IDLE)
			return false;
	}
	return true;
}

/* Hands the MADs on that are between two nodes. */
static uint64_t hand_on(struct wf_managed *m)
{
	uint64_t n = 0;

	while (m->hops != NULL) {
		struct wf_site_hop *h = m->hops;

		m->hops = h->next;
		wf_site_take(h->site, &h->from, h->bytes);
		wf_site_work(h->site, 0);
		h->next = m->free_hops;
		m->free_hops = h;
		n++;
	}
	return n;
}

static void free_hops(struct wf_managed *m, struct wf_site_hop **list)
{
	while (*list != NULL) {
		struct wf_site_hop *h = *list;

		*list = h->next;
		m->mem->free(m->mem, h);
	}
}

/* All LIDs that hosts have now. */
static void take_lids(struct wf_managed *m)
{
	uint32_t n = m->topo->n_hosts;

	for (uint32_t host = 0; host < n; host++) {
		const struct wf_sma *sma = m->site[m->topo->host_node[host]]->sma;

		for (unsigned p = 0; p < m->topo->host_ports; p++)
			m->lid_of[p * n + host] = wf_sma_port(sma, p + 1)->lid;
	}
}

const struct wf_sm_view *wf_managed_view(const struct wf_managed *m)
{
	for (unsigned i = 0; i < m->cfg.n_managers; i++) {
		const struct wf_sm *sm = wf_managed_sm(m, m->cfg.manager[i]);

		if (wf_sm_state(sm) == WF_SM_MASTER && wf_sm_view(sm) != NULL)
			return wf_sm_view(sm);
	}
	return NULL;
}

/* A switch's row of service levels. */
static const uint8_t *row_of(const struct wf_managed *m, const struct wf_sm_view *view, uint32_t id)
{
	uint32_t sw = id == WF_SUBNET_NONE ? WF_SUBNET_NONE : view->subnet->nodes[id].sw;

	return sw == WF_SUBNET_NONE ? NULL : m->path_sl + (size_t)sw * m->n_path_sl;
}

/* Those of a station's ways: a host has them by port, and none for what leads to no switch. */
static void take_rows(struct wf_managed *m, const struct wf_sm_view *view, struct wf_site *site)
{
	uint32_t id = wf_subnet_find(view->subnet, wf_sma_node(site->sma)->node_guid);

	site->st.n_path_sl = m->n_path_sl;
	if (site->is_switch)
		site->st.path_sl = m->path_sl;
	for (unsigned p = 0; p < site->st.dev->n_ports && !site->is_switch; p++) {
		uint32_t peer = id == WF_SUBNET_NONE
		                        ? WF_SUBNET_NONE
		                        : wf_subnet_port(view->subnet, id, p + 1)->peer;

		site->st.port[p].path_sl = row_of(m, view, peer);
	}
}

/* Service levels of paths, where the routing has some, as hosts have them from then on. */
static int take_levels(struct wf_managed *m)
{
	const struct wf_sm_view *view = wf_managed_view(m);
	const struct wf_tables *t = view == NULL ? NULL : view->tables;
	uint8_t *old = m->path_sl;
	size_t bytes;

	if (t == NULL || (t->sl == NULL && m->path_sl == NULL))
		return 0;
	bytes = (size_t)t->n_switches * t->n_lids;
	m->path_sl = m->mem->alloc(m->mem, bytes);
	if (m->path_sl == NULL) {
		m->path_sl = old;
		return -ENOMEM;
	}
	if (t->sl != NULL)
		memcpy(m->path_sl, t->sl, bytes);
	m->n_path_sl = t->n_lids;
	for (uint32_t id = 0; id < m->topo->n_nodes; id++)
		take_rows(m, view, m->site[id]);
	m->mem->free(m->mem, old);
	return 0;
}

/* The managers set the subnet up, one after the other, so that the first is master. */
static int start(struct wf_managed *m, struct wf_err *err)
{
	uint64_t n = 0;

	m->starting = true;
	for (unsigned i = 0; i < m->cfg.n_managers; i++) {
		struct wf_site *site = m->site[m->topo->host_node[m->cfg.manager[i]]];

		do {
			wf_site_work(site, 0);
			n += hand_on(m);
		} while ((has_work(site) || m->hops != NULL) && n < START_MAX);
	}
	m->starting = false;
	free_hops(m, &m->free_hops);
	take_lids(m);
	if (take_levels(m) != 0)
		return -ENOMEM;
	wf_trees_open(m, 0);
	if (n >= START_MAX || !is_settled(m))
		return wf_err_say(err, "sm: the subnet does not come up");
	return 0;
}

/* ---- what the simulation asks for ---- */

/* All switches have their new tables: for what had changed before the sweep began. */
static void note_routed(struct wf_site *site, wf_time now)
{
	struct wf_managed *m = site->all;
	struct wf_site_deeds *d = &site->deeds;

	if (m->changed == WF_TIME_NEVER || m->since > d->begun || d->answered == m->changed)
		return;
	d->answered = m->changed;
	d->reroutes++;
	d->reroute_last = now - m->since;
	d->reroute_max = wf_max_time(d->reroute_max, d->reroute_last);
}

static void note(void *arg, const struct wf_sm_event *event)
{
	struct wf_site *site = arg;

	if (site->sa != NULL)
		wf_sa_event(site->sa, event);
	switch (event->type) {
	case WF_SM_EV_UP:
		site->deeds.up = wf_min_time(site->deeds.up, event->now);
		break;
	case WF_SM_EV_SWEEP_BEGIN:
		site->deeds.begun = event->now;
		break;
	case WF_SM_EV_ROUTED:
		note_routed(site, event->now);
		site->all->shards[site->st.dev->shard->number].routed = true;
		break;
	case WF_SM_EV_SWEEP_END:
		site->deeds.sweeps += event->sweep->heavy;
		site->all->shards[site->st.dev->shard->number].swept |= event->sweep->heavy;
		break;
	case WF_SM_EV_STATE:
	case WF_SM_EV_PORT_FOUND:
	case WF_SM_EV_PORT_LOST:
	case WF_SM_EV_TRAP:
	case WF_SM_EV_ERROR:
	case WF_SM_EV_NOTE:
		break;
	}
}

static int make_managers(struct wf_managed *m, struct wf_err *err)
{
	struct wf_sm_cfg cfg = *m->cfg.sm;
	int ret = 0;

	for (unsigned i = 0; i < m->cfg.n_managers && ret == 0; i++) {
		struct wf_site *site = m->site[m->topo->host_node[m->cfg.manager[i]]];

		site->deeds.up = site->deeds.answered = WF_TIME_NEVER;
		cfg.priority = m->cfg.sm->priority - (i > 0 && m->cfg.sm->priority > 0);
		ret = wf_sm_create(&cfg, note, site, wf_mem_heap(), &site->sm, err);
		if (ret == 0)
			ret = wf_sa_create(site->sm, wf_mem_heap(), &site->sa);
		if (ret == 0)
			wf_sma_set_capability(site->sma, 1, WF_CAP_SM, 0, 0);
		if (ret == 0 && i == 0)
			ret = wf_trees_make_manager(site, err);
	}
	return ret;
}

static int managed_make(void *arg, struct wf_sim *sim, struct wf_device *dev, struct wf_store *mads,
                        struct wf_err *err)
{
	struct wf_managed *m = arg;
	uint32_t last = m->topo->n_nodes - 1;
	int ret;

	if (m->shards == NULL) {
		m->sim = sim;
		sim->fabric.trained = m->trained;
		m->shards = m->mem->alloc(m->mem, sim->n_shards * sizeof(*m->shards));
		if (m->shards == NULL)
			return -ENOMEM;
	}
	ret = wf_site_create(m, dev, mads, err);
	if (ret != 0 || dev->id != last)
		return ret;
	if (m->cfg.n_managers > 0)
		ret = make_managers(m, err);
	if (ret == 0 && m->cfg.n_managers > 0 && !m->cfg.cold)
		ret = start(m, err);
	for (uint32_t id = 0; id <= last && ret == 0; id++) {
		struct wf_site *site = m->site[id];
		wf_time at = wf_site_deadline(site);

		if (at != WF_TIME_NEVER)
			wf_station_call_at(&site->st, wf_max_time(at, 0));
	}
	return ret;
}

/* A manager has had one end of a link begin anew: the other does, too. */
static void reset_link(struct wf_managed *m, const struct wf_topo_link *l, uint8_t *const ends[2],
                       wf_time now)
{
	bool reset[2] = { (*ends[0] & WF_MANAGED_RESET) != 0, (*ends[1] & WF_MANAGED_RESET) != 0 };

	*ends[0] &= (uint8_t)~WF_MANAGED_RESET;
	*ends[1] &= (uint8_t)~WF_MANAGED_RESET;
	if (reset[0])
		wf_site_reset(m->site[l->b], l->b_port + 1, now);
	if (reset[1])
		wf_site_reset(m->site[l->a], l->a_port + 1, now);
}

/* A manager wants a port disabled, or its link down for a moment. */
static int change_links(struct wf_managed *m, wf_time now)
{
	int ret = 0;

	for (uint32_t i = 0; i < m->topo->n_links && ret == 0; i++) {
		const struct wf_topo_link *l = &m->topo->links[i];
		uint8_t *ends[2] = {
			&m->disabled[m->topo->nodes[l->a].first_port + l->a_port],
			&m->disabled[m->topo->nodes[l->b].first_port + l->b_port],
		};
		bool was = ((*ends[0] | *ends[1]) & WF_MANAGED_DOWN) != 0;
		bool bounce = ((*ends[0] | *ends[1]) & WF_MANAGED_BOUNCE) != 0;
		bool is = false;

		reset_link(m, l, ends, now);
		for (int e = 0; e < 2; e++) {
			if (*ends[e] & WF_MANAGED_BOUNCE)
				*ends[e] &= (uint8_t) ~(WF_MANAGED_DISABLED | WF_MANAGED_BOUNCE);
			is |= (*ends[e] & WF_MANAGED_DISABLED) != 0;
			*ends[e] &= (uint8_t)~WF_MANAGED_DOWN;
			*ends[e] |= is ? WF_MANAGED_DOWN : 0;
		}
		if ((bounce || is) && !was)
			ret = wf_sim_link_fault(m->sim, i, true, now);
		if (ret == 0 && !is && (was || bounce))
			ret = wf_sim_link_fault(m->sim, i, false, now);
	}
	return ret;
}

static int managed_window(void *arg, wf_time now)
{
	struct wf_managed *m = arg;
	bool lids = false, links = false, routed = false, swept = false, trees = false;
	int ret = 0;

	for (unsigned i = 0; i < m->sim->n_shards; i++) {
		lids |= m->shards[i].lids_changed;
		links |= m->shards[i].links_changed;
		routed |= m->shards[i].routed;
		m->shards[i].lids_changed = m->shards[i].links_changed = false;
		swept |= m->shards[i].swept;
		trees |= m->shards[i].trees;
		m->shards[i].routed = m->shards[i].swept = m->shards[i].trees = false;
	}
	if (lids)
		take_lids(m);
	if (routed)
		ret = take_levels(m);
	if (trees)
		wf_trees_open(m, now);
	if (swept)
		wf_trees_check(m, now);
	return links && ret == 0 ? change_links(m, now) : ret;
}

static uint16_t managed_lid(void *arg, uint32_t host)
{
	return ((const struct wf_managed *)arg)->lid_of[host];
}

int wf_managed_create(const struct wf_managed_cfg *cfg, const struct wf_topo *topo,
                      struct wf_mem *mem, struct wf_managed **m_p, struct wf_err *err)
{
	struct wf_managed *m;
	int ret = wf_manage_check_topo(topo, mem, err);

	assert(cfg->n_managers <= WF_MANAGERS);
	if (ret != 0)
		return ret;
	m = mem->alloc(mem, sizeof(*m));
	if (m == NULL)
		return -ENOMEM;
	m->cfg = *cfg;
	m->mem = mem;
	m->topo = topo;
	m->manager = (struct wf_sim_manager){ managed_make, managed_window, m, wf_managed_train,
		                              managed_lid };
	m->changed = m->since = WF_TIME_NEVER;
	m->site = mem->alloc(mem, topo->n_nodes * sizeof(struct wf_site *));
	m->lid_of = mem->alloc(mem, topo->n_hosts * topo->host_ports * sizeof(*m->lid_of));
	m->disabled = mem->alloc(mem, topo->n_ports);
	m->trained = mem->alloc(mem, topo->n_links * sizeof(*m->trained));
	if (m->site == NULL || m->lid_of == NULL || m->disabled == NULL || m->trained == NULL) {
		wf_managed_destroy(m);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < cfg->n_managers; i++) {
		if (cfg->manager[i] >= topo->n_hosts) {
			wf_managed_destroy(m);
			return wf_err_say(err, "sm.host: there is no host %u; the last is h%u",
			                  cfg->manager[i], topo->n_hosts - 1);
		}
	}
	*m_p = m;
	return 0;
}

void wf_managed_destroy(struct wf_managed *m)
{
	if (m == NULL)
		return;
	for (uint32_t id = 0; m->site != NULL && id < m->topo->n_nodes; id++)
		wf_site_destroy(m->site[id]);
	free_hops(m, &m->hops);
	free_hops(m, &m->free_hops);
	wf_trees_destroy(m);
	m->mem->free(m->mem, m->shards);
	m->mem->free(m->mem, m->path_sl);
	m->mem->free(m->mem, m->disabled);
	m->mem->free(m->mem, m->trained);
	m->mem->free(m->mem, m->lid_of);
	m->mem->free(m->mem, m->site);
	m->mem->free(m->mem, m);
}

const struct wf_sim_manager *wf_managed_manager(struct wf_managed *m)
{
	return &m->manager;
}

void wf_managed_set_users(struct wf_managed *m, const struct wf_managed_users *users)
{
	m->users = users;
}

unsigned wf_managed_room(const struct wf_managed *m, uint32_t host, bool gmp)
{
	const struct wf_site *site = m->site[m->topo->host_node[host]];
	const struct wf_station_port *port = &site->st.port[0];
	unsigned room = site->agent.room - site->agent.waiting; /* what it sends to itself */
	unsigned queued = gmp ? port->n_gmps : port->waiting;

	if (gmp && !port->active)
		return room;
	queued = queued < WF_STATION_VL15 ? WF_STATION_VL15 - queued : 0;
	return queued < room ? queued : room;
}

void wf_managed_send(struct wf_managed *m, uint32_t host, const struct wf_managed_mad *mad,
                     wf_time now)
{
	wf_site_send(m->site[m->topo->host_node[host]], mad, now);
}

void wf_managed_set_is_sm(struct wf_managed *m, uint32_t host, bool on, wf_time now)
{
	struct wf_site *site = m->site[m->topo->host_node[host]];

	wf_sma_set_capability(site->sma, 1, on ? WF_CAP_SM : 0, on ? 0 : WF_CAP_SM, now);
	wf_site_note(site, WF_SMA_SM);
	wf_station_call_at(&site->st, now);
}

int wf_managed_set_group(struct wf_managed *m, uint16_t mlid, const uint32_t *hosts, uint32_t n,
                         wf_time now)
{
	uint64_t *guids = m->mem->alloc(m->mem, (n + 1) * sizeof(*guids));
	int ret = guids == NULL ? -ENOMEM : 0;

	for (uint32_t i = 0; i < n && ret == 0; i++)
		guids[i] = wf_sma_guid(m->site[m->topo->host_node[hosts[i]]]->sma, 1, 0);
	for (unsigned i = 0; i < m->cfg.n_managers && ret == 0; i++) {
		struct wf_site *site = m->site[m->topo->host_node[m->cfg.manager[i]]];

		ret = wf_sm_set_group(site->sm, mlid, guids, n);
		if (ret != 0 || wf_sm_state(site->sm) != WF_SM_MASTER)
			continue;
		wf_sm_multicast(site->sm, now);
		wf_station_call_at(&site->st, now);
	}
	m->mem->free(m->mem, guids);
	return ret;
}

bool wf_managed_is_busy(const struct wf_managed *m)
{
	bool busy = !is_settled(m);

	for (unsigned i = 0; i < m->sim->n_shards && !busy; i++)
		busy = m->shards[i].waiting != 0;
	return busy;
}

uint32_t wf_managed_changes(const struct wf_managed *m)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < m->sim->n_shards; i++)
		n += m->shards[i].changes;
	return n;
}

unsigned wf_managed_take_changes(struct wf_managed *m, uint32_t host)
{
	struct wf_site *site = m->site[m->topo->host_node[host]];
	unsigned changed = site->changed;

	site->changed = 0;
	return changed;
}

const struct wf_sma *wf_managed_sma(const struct wf_managed *m, uint32_t node)
{
	return m->site[node]->sma;
}

const struct wf_sm *wf_managed_sm(const struct wf_managed *m, uint32_t host)
{
	return m->site[m->topo->host_node[host]]->sm;
}

const struct wf_sa *wf_managed_sa(const struct wf_managed *m, uint32_t host)
{
	return m->site[m->topo->host_node[host]]->sa;
}

/* Of one manager. */
static void add_deeds(const struct wf_managed *m, const struct wf_site *site,
                      struct wf_managed_result *result)
{
	const struct wf_site_deeds *d = &site->deeds;

	result->up = wf_min_time(result->up, d->up);
	result->sweeps += d->sweeps;
	result->reroutes += d->reroutes;
	result->reroute_max = wf_max_time(result->reroute_max, d->reroute_max);
	if (d->reroutes > 0 && d->answered == m->changed) {
		result->reroute_last = d->reroute_last;
		result->pending = false;
	}
}

/* Nodes that a manager knows of, if it is master. One whose link is down is nobody's. */
static uint32_t known_nodes(const struct wf_site *site)
{
	const struct wf_sm *sm = site->sm;

	if (wf_sm_state(sm) != WF_SM_MASTER || wf_sma_port(site->sma, 1)->port_state < WF_PORT_INIT)
		return 0;
	return wf_sm_view(sm) == NULL ? 1 : wf_sm_view(sm)->subnet->n_nodes;
}

void wf_managed_result(const struct wf_managed *m, struct wf_managed_result *result)
{
	const struct wf_sm_view *view = wf_managed_view(m);
	uint32_t known = 0;

	*result = (struct wf_managed_result){
		.master = WF_TOPO_NONE,
		.up = WF_TIME_NEVER,
		.pending = m->changed != WF_TIME_NEVER,
	};
	for (unsigned i = 0; i < m->cfg.n_managers; i++) {
		const struct wf_site *site = m->site[m->topo->host_node[m->cfg.manager[i]]];

		add_deeds(m, site, result);
		if (i == 0 || known_nodes(site) > known)
			wf_sm_stats(site->sm, &result->stats);
		if (known_nodes(site) > known)
			result->master = m->cfg.manager[i];
		known = known_nodes(site) > known ? known_nodes(site) : known;
	}
	for (uint32_t id = 0; id < m->topo->n_nodes; id++) {
		const struct wf_site *site = m->site[id];

		result->lost += site->agent.dropped + site->manager.dropped;
		for (unsigned p = 0; p < site->st.dev->n_ports; p++) {
			result->smps += site->st.port[p].vl15_sent;
			result->lost += site->st.port[p].vl15_dropped;
		}
	}
	if (view != NULL && view->groups != NULL)
		memcpy(result->no_groups, view->groups->note, sizeof(result->no_groups));
	wf_trees_result(m, result);
}
