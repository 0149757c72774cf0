/* SPDX-License-Identifier: Apache-2.0 */
/* smnet_run.h - of smnet.h: time, managers, and what fails. */
#ifndef WF_TESTS_SMNET_RUN_H
#define WF_TESTS_SMNET_RUN_H

#include "smnet_packets.h"

/* ---- time ---- */

static inline void net_step(struct net *net)
{
	uint32_t i = net_pop(net);
	struct net_packet p = net->packets[i];

	net->packets[i].next = net->free;
	net->free = i;
	net->now = p.at;
	if (p.is_timer)
		net_timer(net, p.node);
	else
		net_arrive(net, p.node, p.port, p.dlid, p.slid, p.mad);
	for (unsigned m = 0; m < net->n_sms; m++) {
		if (net->sms[m].sm != NULL)
			net_pump(net, &net->sms[m]);
	}
}

static inline wf_time net_next(const struct net *net)
{
	wf_time at = net->n_heap == 0 ? WF_TIME_NEVER : net->packets[net->heap[0]].at;

	for (unsigned m = 0; m < net->n_sms; m++) {
		if (net->sms[m].sm != NULL && !net->nodes[net->sms[m].node].dead)
			at = wf_min_time(at, wf_sm_deadline(net->sms[m].sm));
	}
	return at;
}

/* One thing happens; false: nothing will before end. */
static inline bool net_go(struct net *net, wf_time end)
{
	wf_time at = net_next(net);

	if (at > end)
		return false;
	if (net->n_heap > 0 && net->packets[net->heap[0]].at <= at) {
		net_step(net);
		return true;
	}
	net->now = wf_max_time(at, net->now);
	for (unsigned m = 0; m < net->n_sms; m++) {
		struct net_manager *manager = &net->sms[m];
		double begin = net->clock != NULL ? net->clock() : 0;

		if (manager->sm == NULL || net->nodes[manager->node].dead)
			continue;
		if (wf_sm_deadline(manager->sm) <= net->now)
			wf_sm_tick(manager->sm, net->now);
		if (net->clock != NULL)
			net->cpu += net->clock() - begin;
		net_pump(net, manager);
	}
	return true;
}

static inline void net_run(struct net *net, wf_time end)
{
	while (net_go(net, end))
		;
	net->now = wf_max_time(net->now, end);
}

/* Until a manager has had the subnet up once more; false: not within the time. */
static inline bool net_run_up(struct net *net, struct net_manager *m, wf_time limit)
{
	unsigned ups = m->ups;
	wf_time end = net->now + limit;

	while (m->ups == ups) {
		if (!net_go(net, end)) {
			net->now = end;
			return false;
		}
	}
	return true;
}

/* ---- managers ---- */

static inline void net_event(void *arg, const struct wf_sm_event *event)
{
	struct net_manager *m = arg;

	if (m->also != NULL)
		m->also(m->also_arg, event);
	switch (event->type) {
	case WF_SM_EV_STATE:
		assert_true(m->n_states < NET_LOG);
		m->states[m->n_states++] = event->state;
		m->state_at = event->now;
		break;
	case WF_SM_EV_UP:
		m->ups++;
		m->up_at = event->now;
		break;
	case WF_SM_EV_ROUTED:
		m->routed++;
		m->routed_at = event->now;
		break;
	case WF_SM_EV_PORT_FOUND:
		m->found++;
		break;
	case WF_SM_EV_PORT_LOST:
		m->lost++;
		m->last_lost = event->guid;
		break;
	case WF_SM_EV_TRAP:
		m->traps++;
		m->last_trap = event->notice->trap_number;
		break;
	case WF_SM_EV_ERROR:
		m->errors++;
		break;
	case WF_SM_EV_SWEEP_END:
		m->sweeps++;
		break;
	case WF_SM_EV_NOTE:
		m->notes++;
		(void)snprintf(m->note, sizeof(m->note), "%s", event->text);
		break;
	case WF_SM_EV_SWEEP_BEGIN:
		break;
	}
}

static inline struct wf_sm_cfg net_cfg(void)
{
	struct wf_err err = { "" };
	struct wf_sm_cfg cfg;

	assert_int_equal(wf_sm_cfg_init(&cfg, &err), 0);
	return cfg;
}

/* A manager on a node: at its port (a switch: 0). */
static inline struct net_manager *net_manage_in(struct net *net, uint32_t node,
                                                const struct wf_sm_cfg *cfg, struct wf_mem *mem)
{
	struct net_manager *m = &net->sms[net->n_sms++];
	struct wf_err err = { "" };

	*m = (struct net_manager){ .node = node,
		                   .port = wf_subnet_is_switch(net->topo, node) ? 0 : 1 };
	assert_int_equal(wf_sm_create(cfg, net_event, m, mem, &m->sm, &err), 0);
	net->nodes[node].sm = m->sm;
	wf_sma_set_capability(net->nodes[node].sma, m->port, WF_CAP_SM, 0, net->now);
	if (net->now > 0) { /* not in the past */
		wf_sm_resweep(m->sm, true, net->now);
		net_pump(net, m);
	}
	return m;
}

static inline struct net_manager *net_manage(struct net *net, uint32_t node,
                                             const struct wf_sm_cfg *cfg)
{
	return net_manage_in(net, node, cfg, wf_mem_heap());
}

/* ---- what fails ---- */

static inline void net_update_link(struct net *net, uint32_t index, bool was_up)
{
	const struct wf_subnet_port *port = &net->topo->ports[index];
	unsigned number = wf_subnet_number(net->topo, port);

	if (net_link_is_up(net, index))
		net_train(net, index);
	else if (was_up && !net->nodes[port->node].dead)
		wf_sma_link_down(net->nodes[port->node].sma, number, net->now);
	if (!net->nodes[port->node].dead)
		net_note_due(net, port->node);
}

static inline void net_cut(struct net *net, uint32_t node, unsigned number, bool cut)
{
	const struct wf_subnet_port *port = wf_subnet_port(net->topo, node, number);
	uint32_t index = (uint32_t)(port - net->topo->ports);
	uint32_t far = (uint32_t)(wf_subnet_peer(net->topo, port) - net->topo->ports);
	bool was_up = net_link_is_up(net, index);

	net->cut[index] = cut;
	net_update_link(net, index, was_up);
	net_update_link(net, far, was_up);
}

/* A node is gone with all its links; when it comes back, it remembers nothing. */
static inline void net_kill(struct net *net, uint32_t id, bool dead)
{
	const struct wf_subnet_node *node = &net->topo->nodes[id];
	bool was[WF_SUBNET_MAX_PORTS + 1] = { false };

	for (unsigned i = 1; i <= node->n_ports; i++)
		was[i] = net_link_is_up(net, node->first_port + i);
	net->nodes[id].dead = dead;
	if (!dead) {
		wf_sma_destroy(net->nodes[id].sma);
		net_agent(net, id);
	}
	for (unsigned i = 1; i <= node->n_ports; i++) {
		const struct wf_subnet_port *peer =
			wf_subnet_peer(net->topo, wf_subnet_port(net->topo, id, i));

		if (peer == NULL)
			continue;
		net_update_link(net, node->first_port + i, was[i]);
		net_update_link(net, (uint32_t)(peer - net->topo->ports), was[i]);
	}
}

#endif
