/* SPDX-License-Identifier: Apache-2.0 */
/* rails.c - loads alternate paths anew, and takes queue pairs back to the port they belong to. */
#include "sim/host/rails.h"

#include <assert.h>
#include <errno.h>

#include "rdma/qp.h"

/* A queue pair that has migrated at some time. */
struct wf_rail_qp {
	uint32_t qpn;
	uint8_t home;    /* number of the port that it had first */
	wf_time load_at; /* its alternate path is loaded; WF_TIME_NEVER: it is */
};

int wf_rails_init(struct wf_rails *rails, struct wf_shard *shard, const struct wf_fabric *fabric,
                  const struct wf_fabric_cfg *cfg, uint32_t max_qp)
{
	*rails = (struct wf_rails){
		.n_hosts = fabric->topo->n_hosts,
		.n_ports = fabric->topo->host_ports,
		.load = cfg->nic_apm_load == WF_PARAM_AUTO ? WF_TIME_NEVER : cfg->nic_apm_load,
		.back = cfg->nic_apm_return == WF_PARAM_AUTO ? WF_TIME_NEVER : cfg->nic_apm_return,
		.qps = wf_shard_alloc(shard, max_qp * sizeof(*rails->qps)),
		.room = max_qp,
	};
	for (unsigned i = 0; i < WF_TOPO_HOST_PORTS; i++)
		rails->back_at[i] = WF_TIME_NEVER;
	return rails->qps == NULL ? -ENOMEM : 0;
}

static wf_time later(wf_time now, wf_time by)
{
	return by == WF_TIME_NEVER ? by : now + by;
}

void wf_rails_link(struct wf_rails *rails, unsigned port, bool up, wf_time now)
{
	uint32_t bit = 1u << port;

	rails->down = up ? rails->down & ~bit : rails->down | bit;
	rails->lost = up ? rails->lost & ~bit : rails->lost | bit;
	rails->back_at[port] = up ? later(now, rails->back) : WF_TIME_NEVER;
}

static struct wf_rail_qp *find(struct wf_rails *rails, uint32_t qpn)
{
	for (uint32_t i = 0; i < rails->n; i++) {
		if (rails->qps[i].qpn == qpn)
			return &rails->qps[i];
	}
	return NULL;
}

/* Notes that qp has migrated, to a port that it has by now. */
static void note(struct wf_rails *rails, const struct wf_qp *qp, wf_time now)
{
	struct wf_rail_qp *r = find(rails, wf_qp_num(qp));
	struct wf_qp_attr attr;

	wf_qp_query(qp, &attr, NULL);
	if (r == NULL) {
		assert(rails->n < rails->room);
		r = &rails->qps[rails->n++];
		r->qpn = wf_qp_num(qp);
		/* Of two ports, that which it left when it went for the first time. */
		r->home = (uint8_t)(attr.port_num % rails->n_ports + 1);
	}
	r->load_at = later(now, rails->load);
}

void wf_rails_hear(struct wf_rails *rails, wf_time now)
{
	struct wf_event event;

	while (wf_hca_next_event(rails->hca, &event)) {
		if (event.type == WF_EVENT_PATH_MIG)
			note(rails, event.qp, now);
	}
}

wf_time wf_rails_next(const struct wf_rails *rails)
{
	wf_time next = rails->lost != 0 ? 0 : WF_TIME_NEVER;

	for (unsigned i = 0; i < WF_TOPO_HOST_PORTS; i++)
		next = wf_min_time(next, rails->back_at[i]);
	for (uint32_t i = 0; i < rails->n; i++)
		next = wf_min_time(next, rails->qps[i].load_at);
	return next;
}

/* Loads the path by the other port as the alternate one, once the peer is there. */
static void load(struct wf_rails *rails, struct wf_rail_qp *r, wf_time now)
{
	struct wf_qp *qp = wf_hca_qp(rails->hca, r->qpn);
	struct wf_qp_attr attr, alt;
	uint32_t other;

	r->load_at = WF_TIME_NEVER;
	if (qp == NULL || wf_qp_state(qp) != WF_QPS_RTS)
		return;
	if (!wf_qp_peer_came(qp)) {
		r->load_at = later(now, rails->load);
		return;
	}
	wf_qp_query(qp, &attr, NULL);
	other = attr.port_num % rails->n_ports; /* from 0 */
	alt = (struct wf_qp_attr){ .alt_ah_attr = attr.ah_attr,
		                   .alt_timeout = attr.timeout,
		                   .alt_port_num = (uint8_t)(other + 1),
		                   .path_mig_state = WF_MIG_REARM };
	alt.alt_ah_attr.port_num = alt.alt_port_num;
	alt.alt_ah_attr.dest = attr.ah_attr.dest % rails->n_hosts + other * rails->n_hosts;
	if (wf_qp_modify(qp, &alt, WF_QP_ALT_PATH | WF_QP_PATH_MIG_STATE) != 0)
		assert(false);
}

/* Takes it back to its port. Returns false when it is not armed, and may be later. */
static bool take_back(struct wf_rails *rails, struct wf_rail_qp *r, wf_time now)
{
	struct wf_qp *qp = wf_hca_qp(rails->hca, r->qpn);
	struct wf_qp_attr attr;

	if (qp == NULL || wf_qp_state(qp) != WF_QPS_RTS)
		return true;
	wf_qp_query(qp, &attr, NULL);
	if (attr.port_num == r->home)
		return true;
	if (attr.path_mig_state != WF_MIG_ARMED)
		return rails->load == WF_TIME_NEVER;
	attr.path_mig_state = WF_MIG_MIGRATED;
	if (wf_qp_modify(qp, &attr, WF_QP_PATH_MIG_STATE) != 0)
		assert(false);
	r->load_at = later(now, rails->load);
	return true;
}

void wf_rails_act(struct wf_rails *rails, wf_time now)
{
	for (uint32_t i = 0; i < rails->n; i++) {
		if (rails->qps[i].load_at <= now)
			load(rails, &rails->qps[i], now);
	}
	for (unsigned port = 0; port < rails->n_ports; port++) {
		bool all = true;

		if (rails->back_at[port] > now)
			continue;
		for (uint32_t i = 0; i < rails->n; i++) {
			if (rails->qps[i].home == port + 1)
				all = take_back(rails, &rails->qps[i], now) && all;
		}
		rails->back_at[port] = all ? WF_TIME_NEVER : later(now, rails->back);
	}
}
