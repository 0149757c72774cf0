/* SPDX-License-Identifier: Apache-2.0 */
/*
 * obey.c - what a manager has set of lanes, lifetimes, sizes and links, as the data path has it.
 *
 * Agents begin with what the fabric is configured to, and a manager that sets the same changes
 * nothing: tables are compared as to what they do.
 */
#include <errno.h>
#include <string.h>

#include "fabric/hoq.h"
#include "sim/mgmt/site.h"
#include "sim/sim_priv.h"

#define FOR_EVER 20 /* codes of lifetimes from this one on: no limit (IBTA vol. 1, 18.2.5.4) */

static unsigned data_lanes(const struct wf_site *site)
{
	return site->st.dev->fabric->classes.n - 1;
}

/* ---- what an agent begins with ---- */

static void link_sets(const struct wf_port *port, unsigned *widths_p, unsigned *speeds_p)
{
	unsigned width, speed;

	(void)!wf_ib_rate_link(port->rate, &width, &speed);
	*widths_p = WF_WIDTH_1X | width;
	*speeds_p = 2 * speed - 1; /* and all that are slower; 0x08 is none */
	*speeds_p &= ~8u;
}

void wf_site_sets(const struct wf_device *dev, struct wf_sma_cfg *cfg)
{
	unsigned cap = cfg->vl_arb_cap, widths, speeds;

	cfg->widths = cfg->speeds = 0;
	for (unsigned p = 0; p < dev->n_ports; p++) {
		const struct wf_classes *c = &dev->ports[p].setup->classes;

		link_sets(&dev->ports[p], &widths, &speeds);
		cfg->widths |= widths;
		cfg->speeds |= speeds;
		cap = c->n_low > cap ? c->n_low : cap;
		cap = c->n_high > cap ? c->n_high : cap;
	}
	cfg->vl_arb_cap = wf_narrow_u8(cap > cfg->vls ? cap : cfg->vls);
}

static void copy_table(const struct wf_vlarb_entry *from, unsigned n, struct wf_vl_arb_entry *to)
{
	for (unsigned i = 0; i < n; i++)
		to[i] = (struct wf_vl_arb_entry){ from[i].queue, from[i].weight };
}

int wf_site_preset(struct wf_site *site, unsigned port)
{
	struct wf_device *dev = site->st.dev;
	const struct wf_port *own = &dev->ports[port - 1];
	const struct wf_fabric_cfg *cfg = &own->setup->cfg;
	const struct wf_classes *c = &own->setup->classes;
	struct wf_vl_arb_entry low[WF_VLARB_ENTRIES], high[WF_VLARB_ENTRIES];
	struct wf_sma_preset preset = {
		.mtu = wf_narrow_u32(cfg->mtu),
		.hoq_life = FOR_EVER,
		.vl_high_limit = wf_narrow_u8(c->high_limit),
		.low = low,
		.high = high,
		.n_low = c->n_low,
		.n_high = c->n_high,
	};

	if (cfg->port_mtu != (uint64_t)WF_PARAM_AUTO)
		preset.mtu = wf_narrow_u32(wf_min_u64(cfg->mtu, cfg->port_mtu));
	if (site->is_switch) {
		wf_hoq_set(wf_container_of(dev, struct wf_switch, dev));
		preset.vl_stall_count = wf_narrow_u8(own->hoq_stall);
		if (own->hoq_life != WF_PARAM_AUTO)
			preset.hoq_life = wf_ib_time_encode(own->hoq_life);
	}
	for (unsigned sl = 0; sl < WF_SLS; sl++)
		preset.sl_to_vl[sl] = c->queue[dev->setup->classes.of[sl]].id;
	copy_table(c->low, c->n_low, low);
	copy_table(c->high, c->n_high, high);
	link_sets(own, &preset.widths, &preset.speeds);
	return wf_sma_preset(site->sma, port, &preset);
}

/* ---- what is set ---- */

/* Those entries of a table that do something. */
static unsigned read_table(const struct wf_site *site, unsigned port, bool high,
                           struct wf_vlarb_entry *table)
{
	const struct wf_port_info *info = wf_sma_port(site->sma, port);
	unsigned cap = high ? info->vl_arb_high_cap : info->vl_arb_low_cap, n = 0;
	unsigned vls = wf_ib_vls_decode(info->operational_vls);

	for (unsigned i = 0; i < cap; i++) {
		struct wf_vl_arb_entry e = wf_sma_vl_arb(site->sma, port, high, i);

		if (e.weight != 0 && e.vl < vls && e.vl < data_lanes(site))
			table[n++] = (struct wf_vlarb_entry){ e.vl, e.weight };
	}
	return n;
}

static unsigned only_with_weight(const struct wf_vlarb_entry *from, unsigned n,
                                 struct wf_vlarb_entry *table)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < n; i++) {
		if (from[i].weight != 0)
			table[kept++] = from[i];
	}
	return kept;
}

static bool is_same_table(const struct wf_vlarb_entry *a, unsigned n_a,
                          const struct wf_vlarb_entry *b, unsigned n_b)
{
	struct wf_vlarb_entry table[WF_VLARB_ENTRIES];
	unsigned n = only_with_weight(b, n_b, table);

	return n == n_a && memcmp(a, table, n * sizeof(*a)) == 0;
}

static bool is_same(const struct wf_classes *is, const struct wf_classes *was)
{
	return is->high_limit == was->high_limit && memcmp(is->of, was->of, sizeof(is->of)) == 0 &&
	       is_same_table(is->high, is->n_high, was->high, was->n_high) &&
	       is_same_table(is->low, is->n_low, was->low, was->n_low);
}

/* Arbitration, and of a host which lane a service level has. */
static void take_classes(struct wf_site *site, unsigned port)
{
	const struct wf_port *p = &site->st.dev->ports[port - 1];
	const struct wf_port_info *info = wf_sma_port(site->sma, port);
	unsigned vls = wf_ib_vls_decode(info->operational_vls), none = data_lanes(site);
	struct wf_classes c = p->setup->classes, *own = site->classes[port];

	c.high_limit = info->vl_high_limit;
	c.n_high = read_table(site, port, true, c.high);
	c.n_low = read_table(site, port, false, c.low);
	for (uint8_t sl = 0; sl < WF_SLS && !site->is_switch; sl++) {
		uint8_t vl = wf_sma_vl(site->sma, 0, port, sl);

		c.of[sl] = vl < vls && vl < none ? vl : (uint8_t)none;
	}
	if (is_same(&c, &p->setup->classes)) {
		if (site->st.port[port - 1].classes != NULL)
			wf_station_set_classes(&site->st, port - 1, NULL, site->now);
		return;
	}
	if (own == NULL)
		own = wf_shard_alloc(site->st.dev->node.shard, sizeof(*own));
	if (own == NULL) {
		wf_shard_no_memory(site->st.dev->node.shard);
		return;
	}
	*own = c;
	site->classes[port] = own;
	wf_station_set_classes(&site->st, port - 1, own, site->now);
}

static wf_time life_of(uint8_t code, wf_time any)
{
	return code >= FOR_EVER ? any : wf_ib_time_decode(code);
}

static void take_lives(struct wf_site *site, unsigned port)
{
	const struct wf_port_info *info = wf_sma_port(site->sma, port);

	if (site->is_switch)
		wf_station_set_lives(&site->st, port - 1, life_of(info->hoq_life, WF_PARAM_AUTO),
		                     info->vl_stall_count, site->now);
}

static void take_sizes(struct wf_site *site, unsigned port)
{
	const struct wf_port_info *info = wf_sma_port(site->sma, port);

	site->st.port[port - 1].mtu = wf_ib_mtu_decode(info->neighbor_mtu);
	site->st.port[port - 1].vls = (uint8_t)wf_ib_vls_decode(info->operational_vls);
}

void wf_site_obey(struct wf_site *site, unsigned port, unsigned what)
{
	if ((what & WF_SMA_SWITCH) != 0)
		wf_station_set_life(
			&site->st,
			life_of(wf_sma_switch(site->sma)->life_time_value, WF_TIME_NEVER),
			site->now);
	if (port == 0)
		return;
	if ((what & WF_SMA_MTU_VLS) != 0)
		take_sizes(site, port);
	if ((what & WF_SMA_QOS) != 0)
		take_lives(site, port);
	if ((what & (WF_SMA_QOS | WF_SMA_VL_ARB | WF_SMA_MTU_VLS)) != 0 ||
	    ((what & WF_SMA_SL_TO_VL) != 0 && !site->is_switch))
		take_classes(site, port);
}

/* ---- links that train ---- */

/* What a port lets its link have. False: all that it can. */
static bool is_limited(const struct wf_site *site, unsigned port, unsigned *widths_p,
                       unsigned *speeds_p)
{
	const struct wf_port_info *info = wf_sma_port(site->sma, port);
	const struct wf_port_info *caps = site->is_switch ? wf_sma_port(site->sma, 0) : info;

	*widths_p = info->link_width_enabled;
	*speeds_p = wf_ib_speed_enabled(info, caps);
	return *widths_p != info->link_width_supported ||
	       *speeds_p != wf_ib_speed_supported(info, caps);
}

/* The most of a set of widths; the greatest bit of one of speeds is the fastest. */
static unsigned widest(unsigned set)
{
	static const unsigned order[] = { WF_WIDTH_12X, WF_WIDTH_8X, WF_WIDTH_4X, WF_WIDTH_2X };

	for (unsigned i = 0; i < WF_ARRAY_SIZE(order); i++) {
		if ((set & order[i]) != 0)
			return order[i];
	}
	return WF_WIDTH_1X;
}

bool wf_site_trains(const struct wf_site *site, unsigned port, unsigned *width_p, unsigned *speed_p)
{
	const struct wf_managed *m = site->all;
	const struct wf_topo_node *node = &m->topo->nodes[site->st.dev->id];
	const struct wf_topo_port *tp = &m->topo->ports[node->first_port + port - 1];
	const struct wf_site *peer = m->site[tp->peer];
	unsigned widths, speeds, far_widths, far_speeds;
	bool limited;

	if (peer == NULL || peer->sma == NULL)
		return false;
	limited = is_limited(site, port, &widths, &speeds);
	limited |= is_limited(peer, tp->peer_port + 1u, &far_widths, &far_speeds);
	widths &= far_widths;
	speeds &= far_speeds;
	*width_p = widest(widths);
	*speed_p = WF_SPEED_SDR;
	while (speeds >= 2 * *speed_p)
		*speed_p *= 2;
	return limited;
}

void wf_managed_train(void *arg, uint32_t link, wf_time now)
{
	struct wf_managed *m = arg;
	const struct wf_topo_link *l = &m->topo->links[link];
	unsigned width, speed;
	uint64_t rate = 0;

	if (wf_site_trains(m->site[l->a], l->a_port + 1u, &width, &speed))
		rate = wf_ib_rate(width, speed);
	if (m->trained[link] == rate)
		return;
	m->trained[link] = rate;
	wf_network_changed(&m->sim->net, l->a, now);
	wf_network_changed(&m->sim->net, l->b, now);
}
