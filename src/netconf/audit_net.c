/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit_net.c - the network as a whole: who differs from the others of its kind, hashes that agree,
 * MTUs, and routing that may go down and up again.
 */
#include <stdio.h>
#include <string.h>

#include "netconf/audit.h"

#define ROCE_MTU 4200
#define MIN_PEERS 3 /* that a majority takes */

/* A value of a device that its peers should have, too. */
struct sample {
	const struct wf_conf_device *device;
	const struct wf_conf_port *port; /* NULL: of the device */
	const struct wf_conf_value *value;
};

/*
 * Switches of one kind: hardware and role, and where these are not said, name without its
 * numbers.
 */
static bool is_same_kind(const struct wf_conf_device *a, const struct wf_conf_device *b)
{
	size_t n, m;

	if (a->form != b->form || a->adapter != b->adapter)
		return false;
	if (a->adapter)
		return true;
	if (a->sku != b->sku || a->role != b->role)
		return false;
	if (a->role != NULL)
		return true;
	n = strcspn(a->name, "0123456789");
	m = strcspn(b->name, "0123456789");
	return n == m && n > 0 && strncmp(a->name, b->name, n) == 0;
}

/* ---- what most have ---- */

typedef const struct wf_conf_value *pick_fn(const struct wf_conf_device *d, unsigned which,
                                            const struct wf_conf_port **port_p);

/* Of n samples of one kind: tells of those that differ where two thirds or more agree. */
static void tell_odd(struct wf_audit *a, enum wf_audit_id id, const struct sample *s, uint32_t n,
                     const char *what, const char *unit)
{
	int64_t most = 0;
	uint32_t votes = 0;
	char right[96];

	if (n < MIN_PEERS)
		return;
	/* The majority's value, if there is one, is left over (Boyer and Moore). */
	for (uint32_t i = 0; i < n; i++) {
		if (votes == 0)
			most = s[i].value->v;
		votes = s[i].value->v == most ? votes + 1 : votes - 1;
	}
	votes = 0;
	for (uint32_t i = 0; i < n; i++)
		votes += s[i].value->v == most;
	if (votes == n || 3 * votes < 2 * n)
		return;
	(void)snprintf(right, sizeof(right), "%lld%s, as the others have", (long long)most, unit);
	for (uint32_t i = 0; i < n; i++) {
		if (s[i].value->v != most)
			wf_audit_say(a, id, s[i].device, s[i].port, s[i].value->at, right,
			             "%s is %lld%s, and %lld%s at %u of %u of its kind", what,
			             (long long)s[i].value->v, unit, (long long)most, unit, votes,
			             n);
	}
}

/* For each kind of devices, the samples of one value. */
static void compare(struct wf_audit *a, bool adapters, pick_fn *pick, unsigned which,
                    const char *what, const char *unit)
{
	const struct wf_netconf *net = a->net;
	struct sample *s = wf_arena_alloc(&a->net->arena, (net->n_devices + 1) * sizeof(*s),
	                                  _Alignof(struct sample));
	bool *done = wf_arena_alloc(&a->net->arena, net->n_devices + 1, 1);

	if (s == NULL || done == NULL) {
		a->net->no_memory = true;
		return;
	}
	for (uint32_t i = 0; i < net->n_devices; i++) {
		uint32_t n = 0;

		if (done[i] || net->devices[i]->adapter != adapters ||
		    net->devices[i]->form == WF_CONF_FORM_NONE)
			continue;
		for (uint32_t k = i; k < net->n_devices; k++) {
			const struct wf_conf_port *port = NULL;
			const struct wf_conf_value *v;

			if (done[k] || net->devices[k]->form == WF_CONF_FORM_NONE ||
			    !is_same_kind(net->devices[i], net->devices[k]))
				continue;
			done[k] = true;
			v = pick(net->devices[k], which, &port);
			if (v != NULL && v->said == WF_CONF_SAID)
				s[n++] = (struct sample){ net->devices[k], port, v };
		}
		tell_odd(a, adapters ? WF_AUDIT_NIC_DIFFERS : WF_AUDIT_DIFFERS, s, n, what, unit);
	}
}

/* The first port of a switch that has PFC, and its lowest priority. */
static const struct wf_conf_port *lossless_port(const struct wf_conf_device *d, unsigned *prio_p)
{
	for (uint32_t i = 0; i < d->n_ports; i++) {
		unsigned mask = wf_conf_pfc_rx(d->ports[i]);

		if (mask != 0 && wf_conf_is_active(d->ports[i])) {
			*prio_p = (unsigned)__builtin_ctz(mask);
			return d->ports[i];
		}
	}
	return NULL;
}

static const struct wf_conf_value *pick_switch(const struct wf_conf_device *d, unsigned which,
                                               const struct wf_conf_port **port_p)
{
	unsigned prio = 0;
	const struct wf_conf_port *port = lossless_port(d, &prio);
	const struct wf_conf_profile *p;
	const struct wf_conf_wred *w;
	int q, g;

	if (port == NULL)
		return NULL;
	q = wf_conf_map_to(port, WF_CONF_PFC_QUEUE, prio);
	g = wf_conf_map_to(port, WF_CONF_PFC_PG, prio);
	p = g < 0 ? NULL : port->pg[g].profile;
	w = q < 0 ? NULL : port->queue[q].wred;
	(void)port_p;
	switch (which) {
	case 0:
		return p == NULL ? NULL : &p->dynamic_th;
	case 1:
		return w == NULL ? NULL : &w->min;
	case 2:
		return w == NULL ? NULL : &w->max;
	case 3:
		return w == NULL ? NULL : &w->chance;
	default:
		return NULL;
	}
}

static const struct wf_conf_value *pick_adapter(const struct wf_conf_device *d, unsigned which,
                                                const struct wf_conf_port **port_p)
{
	const struct wf_conf_port *port = d->n_ports == 0 ? NULL : d->ports[0];

	if (port == NULL || port->nic == NULL)
		return NULL;
	*port_p = port;
	if (which < WF_CONF_N_DCQCN)
		return &port->nic->dcqcn[which];
	switch (which - WF_CONF_N_DCQCN) {
	case 0:
		return &port->nic->tos;
	case 1:
		return &port->nic->tclass;
	case 2:
		return &port->nic->cnp_dscp;
	case 3:
		return &port->nic->cnp_pcp;
	case 4:
		return &port->mtu;
	default:
		return NULL;
	}
}

static void check_alike(struct wf_audit *a)
{
	static const char *const more[] = { "RDMA-CM's type of service", "the traffic class",
		                            "the DSCP of CNPs", "the priority of CNPs", "the MTU" };

	compare(a, false, pick_switch, 0, "dynamic_th of the lossless group", "");
	compare(a, false, pick_switch, 1, "ECN's lower threshold", " bytes");
	compare(a, false, pick_switch, 2, "ECN's upper threshold", " bytes");
	compare(a, false, pick_switch, 3, "ECN's probability", " %");
	for (unsigned i = 0; i < WF_CONF_N_DCQCN; i++)
		compare(a, true, pick_adapter, i, wf_conf_dcqcn_names[i], "");
	for (unsigned i = 0; i < WF_ARRAY_SIZE(more); i++)
		compare(a, true, pick_adapter, WF_CONF_N_DCQCN + i, more[i], "");
}

/* ---- MTU ---- */

/* A port with PFC that passes no RoCE packet of 4096 bytes, where most ports do. */
static bool is_told_of(const struct wf_audit *a, const struct wf_conf_port *port)
{
	const struct wf_conf_link *link;

	if (port->link == WF_CONF_NONE)
		return false;
	link = &a->net->links[port->link];
	return link->end[0].port != NULL && link->end[1].port != NULL &&
	       link->end[0].port->mtu.said == WF_CONF_SAID &&
	       link->end[1].port->mtu.said == WF_CONF_SAID &&
	       link->end[0].port->mtu.v != link->end[1].port->mtu.v;
}

static void check_mtu(struct wf_audit *a)
{
	const struct wf_netconf *net = a->net;
	uint32_t low = 0, all = 0;

	for (unsigned pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < net->n_devices; i++) {
			const struct wf_conf_device *d = net->devices[i];

			for (uint32_t k = 0; k < d->n_ports && !d->adapter; k++) {
				const struct wf_conf_port *port = d->ports[k];

				if (port->mtu.said != WF_CONF_SAID || wf_conf_pfc_rx(port) == 0 ||
				    !wf_conf_is_active(port))
					continue;
				if (pass == 0) {
					all++;
					low += port->mtu.v < ROCE_MTU;
				} else if (port->mtu.v < ROCE_MTU && !is_told_of(a, port)) {
					wf_audit_say(a, WF_AUDIT_MTU, d, port, port->mtu.at,
					             "the MTU of the other ports",
					             "the MTU is %lld, and other ports pass %d "
					             "bytes and more",
					             (long long)port->mtu.v, ROCE_MTU);
				}
			}
		}
		/* A tie is enough: what is small is what does not work. */
		if (low == 0 || 2 * low > all)
			return;
	}
}

/* ---- hashes and routes ---- */

static void check_hash(struct wf_audit *a)
{
	for (uint32_t i = 0; i < a->net->n_links; i++) {
		const struct wf_conf_device *x = a->net->links[i].end[0].device;
		const struct wf_conf_device *y = a->net->links[i].end[1].device;

		if (x->adapter || y->adapter || x == y || x->hash_seed.said != WF_CONF_SAID ||
		    y->hash_seed.said != WF_CONF_SAID || x->hash_seed.v != y->hash_seed.v ||
		    x->form != y->form ||
		    (x->hash != NULL && y->hash != NULL && x->hash != y->hash))
			continue;
		/* Told of at the one whose name comes later: a spine, mostly. */
		if (strcmp(x->name, y->name) < 0)
			x = y;
		wf_audit_say(
			a, WF_AUDIT_HASH, x, NULL, x->hash_seed.at, "a seed of each tier's own",
			"the hash of ECMP has seed %lld, as the switches have that it is linked to",
			(long long)x->hash_seed.v);
	}
}

/* Two switches that share two neighbours or more, and have AS numbers of their own. */
static void check_valley(struct wf_audit *a)
{
	const struct wf_netconf *net = a->net;
	const struct wf_conf_device *first = NULL;

	for (uint32_t i = 0; i < net->n_devices; i++) {
		const struct wf_conf_device *d = net->devices[i];

		if (d->role == NULL || strstr(d->role, "Spine") == NULL ||
		    d->asn.said != WF_CONF_SAID)
			continue;
		if (first == NULL || !is_same_kind(first, d)) {
			first = first == NULL ? d : first;
			continue;
		}
		if (d->asn.v != first->asn.v)
			wf_audit_say(a, WF_AUDIT_VALLEY, d, NULL, d->asn.at,
			             "one AS number for the tier, or filters",
			             "spines have AS numbers of their own (%lld and %lld): after a "
			             "failure a way down and up again is allowed, which PFC can "
			             "turn into "
			             "a deadlock",
			             (long long)first->asn.v, (long long)d->asn.v);
	}
}

/* ---- one map for all ---- */

static void check_dscps(struct wf_audit *a)
{
	const struct wf_netconf *net = a->net;

	/* Where RDMA's DSCP is known each port is asked for it already. */
	if (a->meant != 0)
		return;
	for (unsigned dscp = 0; dscp < WF_CONF_DSCPS; dscp++) {
		uint32_t safe = 0, all = 0;

		for (unsigned pass = 0; pass < 2; pass++) {
			for (uint32_t i = 0; i < net->n_devices; i++) {
				const struct wf_conf_device *d = net->devices[i];
				unsigned prio = 0;
				const struct wf_conf_port *port =
					d->adapter ? NULL : lossless_port(d, &prio);
				int tc = port == NULL ? -1 : wf_conf_tc_of(port, dscp);
				const struct wf_conf_map *map;

				if (tc < 0)
					continue;
				map = port->map[WF_CONF_DSCP_TC];
				if (pass == 0) {
					all++;
					safe += wf_conf_protects(port, tc);
				} else if (!wf_conf_protects(port, tc) && map != NULL) {
					struct wf_conf_place at = map->is.at;

					at.line = map->line[dscp] != 0 ? map->line[dscp] : at.line;
					wf_audit_say(
						a, WF_AUDIT_DSCP_DIFFERS, d, NULL, at,
						"the same map on all switches",
						"DSCP %u is lossless at %u of %u switches, and "
						"in class %d, which is lossy, here",
						dscp, safe, all, tc);
				}
			}
			if (all < MIN_PEERS || safe == all || 3 * safe < 2 * all)
				break;
		}
	}
}

void wf_audit_network(struct wf_audit *a)
{
	check_alike(a);
	check_mtu(a);
	check_hash(a);
	check_valley(a);
	check_dscps(a);
}
