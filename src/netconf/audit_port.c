/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit_port.c - one port of a switch: DSCP to class to group to PFC, ECN, and where CNPs go.
 */
#include <stdio.h>
#include <string.h>

#include "netconf/audit.h"

#define CNP_DSCP 48 /* of all vendors' guides, and of adapters unless said */

/* The place of an entry of a map, or of the map, or of where the port refers to it. */
static struct wf_conf_place map_place(const struct wf_conf_port *port, enum wf_conf_map_kind kind,
                                      unsigned from)
{
	const struct wf_conf_map *map = port->map[kind];

	if (map == NULL)
		return port->at;
	if (map->line[from] != 0)
		return (struct wf_conf_place){ map->is.at.key, map->is.at.file, map->line[from] };
	return map->is.at.file != WF_CONF_NONE ? map->is.at : port->map_at[kind];
}

/* "3,4" */
static const char *list_of(unsigned mask, char text[32])
{
	size_t n = 0;

	for (unsigned p = 0; p < WF_CONF_TCS; p++) {
		if ((mask >> p & 1) != 0) {
			text[n++] = (char)('0' + p);
			text[n++] = ',';
		}
	}
	text[n == 0 ? 0 : n - 1] = '\0';
	return text;
}

/* ---- DSCP to class ---- */

static bool is_stock(const struct wf_conf_port *port)
{
	const struct wf_conf_map *map = port->map[WF_CONF_DSCP_TC];

	return port->device->form == WF_CONF_FORM_SONIC && map != NULL && map->to[3] == 3 &&
	       map->to[4] == 4 && map->to[26] <= 1 && map->to[26] == map->to[24] &&
	       map->to[26] == map->to[32];
}

static void check_dscp(struct wf_audit *a, const struct wf_conf_port *port, unsigned dscp)
{
	struct wf_conf_place at = map_place(port, WF_CONF_DSCP_TC, dscp);
	int tc = wf_conf_tc_of(port, dscp);
	char mask[32];

	if (tc < 0 || wf_conf_protects(port, tc))
		return;
	list_of(wf_conf_pfc_tx(port), mask);
	if (is_stock(port))
		wf_audit_say(
			a, WF_AUDIT_STOCK_MAP, port->device, port, at,
			"a map in which RDMA's DSCP leads to a lossless class",
			"DSCP %u is RDMA's, and SONiC's stock map has it in class %d, which is "
			"lossy; PFC is on for %s",
			dscp, tc, mask);
	else
		wf_audit_say(
			a, WF_AUDIT_DSCP_LOSSY, port->device, port, at,
			"the class that PFC protects",
			"DSCP %u is RDMA's, and leads to class %d, which nothing protects; PFC is "
			"on for %s",
			dscp, tc, mask);
}

static void check_trust(struct wf_audit *a, const struct wf_conf_port *port)
{
	bool l3 = port->trust.said != WF_CONF_UNSET && (port->trust.v & WF_CONF_TRUST_L3) != 0;
	bool any = port->map[WF_CONF_DSCP_TC] != NULL || port->map[WF_CONF_PCP_TC] != NULL;

	if (!any)
		wf_audit_say(a, WF_AUDIT_NO_MAP, port->device, port, port->at,
		             "a map from DSCP to class, as the other ports have it",
		             "PFC is on, and no map says which packets are in its class");
	else if (!l3 && a->meant != 0)
		wf_audit_say(a, WF_AUDIT_TRUST, port->device, port,
		             port->trust.said == WF_CONF_SAID ? port->trust.at : port->at,
		             "trust DSCP",
		             "RDMA is marked by DSCP, and the port does not look at it");
}

/* ---- class to group, priority to queue ---- */

/* Classes that lead to the group or queue. */
static unsigned classes_to(const struct wf_conf_port *port, enum wf_conf_map_kind kind, int to)
{
	unsigned mask = 0;

	for (unsigned t = 0; t < WF_CONF_TCS; t++)
		mask |= wf_conf_map_to(port, kind, t) == to ? 1u << t : 0;
	return mask;
}

static void check_class(struct wf_audit *a, const struct wf_conf_port *port, unsigned p, int pg,
                        int queue, unsigned in, unsigned out)
{
	char text[32];

	if (in != 0 && (out == 0 || wf_conf_map_to(port, WF_CONF_TC_PG, p) == pg)) {
		wf_audit_say(
			a, WF_AUDIT_PFC_QUEUE, port->device, port,
			map_place(port, out == 0 ? WF_CONF_TC_QUEUE : WF_CONF_PFC_QUEUE, p),
			"the queue of the class that the priority protects",
			"a pause of priority %u stops queue %d, and what it protects, class %s, "
			"leaves by queue %d",
			p, queue, list_of(in, text),
			wf_conf_map_to(port, WF_CONF_TC_QUEUE, (unsigned)__builtin_ctz(in)));
		return;
	}
	wf_audit_say(a, WF_AUDIT_TC_PG, port->device, port, map_place(port, WF_CONF_TC_PG, p),
	             "the group of the priority",
	             "class %u comes in by group %d, and PFC asks for pauses of priority %u for "
	             "group %d, so nobody is stopped",
	             p, wf_conf_map_to(port, WF_CONF_TC_PG, p), p, pg);
}

static void check_priority(struct wf_audit *a, const struct wf_conf_port *port, unsigned p)
{
	int pg = wf_conf_map_to(port, WF_CONF_PFC_PG, p);
	int queue = wf_conf_map_to(port, WF_CONF_PFC_QUEUE, p);
	unsigned in = classes_to(port, WF_CONF_TC_PG, pg);
	unsigned out = classes_to(port, WF_CONF_TC_QUEUE, queue);
	unsigned odd = (in ^ out) & ~(in & out);
	char text[32];

	if (port->device->form == WF_CONF_FORM_NXOS && pg >= 0 && pg != (int)p)
		wf_audit_say(
			a, WF_AUDIT_PFC_COS, port->device, port, map_place(port, WF_CONF_PFC_PG, p),
			"the number of the qos-group",
			"the class of qos-group %d pauses priority %u: peers stop another class",
			pg, p);
	else if ((in & out) == 0)
		check_class(a, port, p, pg, queue, in, out);
	else if (odd != 0)
		wf_audit_say(a, WF_AUDIT_MIXED_CLASS, port->device, port,
		             map_place(port, (odd & in) != 0 ? WF_CONF_TC_PG : WF_CONF_TC_QUEUE,
		                       (unsigned)__builtin_ctz(odd)),
		             "a queue and a group of its own",
		             "class %s shares %s with the lossless class %u, and not both",
		             list_of(odd, text), (odd & in) != 0 ? "the group" : "the queue", p);
}

/* ---- ECN ---- */

static void check_wred(struct wf_audit *a, const struct wf_conf_port *port, int q,
                       const struct wf_conf_wred *wred)
{
	struct wf_conf_place at =
		wred->ecn.at.file != WF_CONF_NONE && wred->ecn.said == WF_CONF_SAID ? wred->ecn.at
										    : wred->is.at;

	if (!wred->is.defined)
		return;
	if (wred->ecn.v == 0 && wred->drop.said == WF_CONF_SAID && wred->drop.v != 0) {
		wf_audit_say(a, WF_AUDIT_ECN_DROPS, port->device, port, at, "ECN on",
		             "%s of lossless queue %d has WRED without ECN: it drops in place of "
		             "marking",
		             wred->is.name, q);
		return;
	}
	if (wred->ecn.v == 0) {
		wf_audit_say(a, WF_AUDIT_ECN_OFF, port->device, port, at, "ECN on",
		             "%s of lossless queue %d has ECN off", wred->is.name, q);
		return;
	}
	if (wred->min.said == WF_CONF_SAID && wred->max.said == WF_CONF_SAID &&
	    wred->min.v > wred->max.v)
		wf_audit_say(
			a, WF_AUDIT_ECN_RANGE, port->device, port, wred->min.at,
			"a minimum below the maximum",
			"%s of lossless queue %d begins to mark at %lld bytes, and the maximum is "
			"%lld",
			wred->is.name, q, (long long)wred->min.v, (long long)wred->max.v);
	if (wred->chance.said == WF_CONF_SAID && wred->chance.v == 0)
		wf_audit_say(a, WF_AUDIT_ECN_RANGE, port->device, port, wred->chance.at,
		             "a probability above 0",
		             "%s of lossless queue %d marks with probability 0: never",
		             wred->is.name, q);
}

static void check_ecn(struct wf_audit *a, const struct wf_conf_port *port, unsigned p)
{
	int q = wf_conf_map_to(port, WF_CONF_PFC_QUEUE, p);

	if (q < 0)
		return;
	if (port->queue[q].wred != NULL)
		check_wred(a, port, q, port->queue[q].wred);
	else
		wf_audit_say(a, WF_AUDIT_ECN_OFF, port->device, port, port->at,
		             "a profile with ECN for the queue",
		             "lossless queue %d has no ECN profile: nothing is marked", q);
}

/* ---- CNPs ---- */

/* The DSCP of CNPs: as adapters say; where several differ, that is a finding of its own. */
static unsigned cnp_dscp(const struct wf_netconf *net)
{
	for (uint32_t i = 0; i < net->n_devices; i++) {
		const struct wf_conf_device *d = net->devices[i];

		for (uint32_t k = 0; d->adapter && k < d->n_ports; k++) {
			const struct wf_conf_nic *nic = d->ports[k]->nic;

			if (nic != NULL && nic->cnp_dscp.said == WF_CONF_SAID &&
			    nic->cnp_dscp.v >= 0 && nic->cnp_dscp.v < WF_CONF_DSCPS)
				return (unsigned)nic->cnp_dscp.v;
		}
	}
	return CNP_DSCP;
}

static bool has_scheds(const struct wf_conf_port *port)
{
	for (unsigned q = 0; q < WF_CONF_TCS; q++) {
		if (port->queue[q].sched != NULL)
			return true;
	}
	return false;
}

static void check_cnp(struct wf_audit *a, const struct wf_conf_port *port, unsigned dscp)
{
	int tc = wf_conf_tc_of(port, dscp), q;
	const struct wf_conf_sched *sched;
	struct wf_conf_place at;

	if (tc < 0)
		return;
	at = map_place(port, WF_CONF_DSCP_TC, dscp);
	if (wf_conf_protects(port, tc)) {
		wf_audit_say(a, WF_AUDIT_CNP_IN_DATA, port->device, port, at,
		             "a strict class without PFC",
		             "CNPs (DSCP %u) are in class %d with the data", dscp, tc);
		return;
	}
	q = wf_conf_map_to(port, WF_CONF_TC_QUEUE, (unsigned)tc);
	sched = port->queue[q].sched;
	/* EOS's queues are strict unless it says something else. */
	if (sched == NULL ? port->device->form == WF_CONF_FORM_EOS || !has_scheds(port)
	                  : sched->strict.said != WF_CONF_UNSET && sched->strict.v != 0)
		return;
	if (sched != NULL && !sched->is.defined)
		return;
	if (sched != NULL)
		at = port->queue[q].sched_at;
	if (sched == NULL)
		wf_audit_say(a, WF_AUDIT_CNP_NOT_STRICT, port->device, port, at,
		             "strict priority for the queue",
		             "CNPs (DSCP %u) leave by queue %d, which has no scheduler", dscp, q);
	else
		wf_audit_say(a, WF_AUDIT_CNP_NOT_STRICT, port->device, port, at,
		             "strict priority for the queue",
		             "CNPs (DSCP %u) leave by queue %d, whose scheduler %s is not strict",
		             dscp, q, sched->is.name);
}

/* ---- a port ---- */

static void check_mode(struct wf_audit *a, const struct wf_conf_port *port)
{
	unsigned mask = (unsigned)(port->pfc_rx.v | port->pfc_tx.v);
	bool eos = port->device->form == WF_CONF_FORM_EOS;
	char text[32];

	if (port->pfc_mode.said == WF_CONF_UNSET)
		return;
	if (mask != 0 && port->pfc_mode.v != 1 && (eos || port->policy[0] != NULL))
		wf_audit_say(a, WF_AUDIT_PFC_NOT_ON, port->device, port,
		             port->pfc_mode.said == WF_CONF_SAID ? port->pfc_mode.at : port->at,
		             eos ? "priority-flow-control on" : "priority-flow-control mode on",
		             "class %s is no-drop, and PFC is %s at the port", list_of(mask, text),
		             port->pfc_mode.v == 0 ? "off"
		             : port->pfc_mode.said == WF_CONF_SAID
		                     ? "left to DCBX (auto)"
		                     : "not turned on (auto: as the peer says by DCBX)");
	if (mask == 0 && port->pfc_mode.v == 1)
		wf_audit_say(a, WF_AUDIT_PFC_NOTHING, port->device, port, port->pfc_mode.at,
		             eos ? "priority-flow-control priority N no-drop"
		                 : "pause pfc-cos in the network-qos policy",
		             "PFC is on, and no priority is no-drop");
}

static void undefined(struct wf_audit *a, const struct wf_conf_port *port,
                      const struct wf_conf_named *thing, struct wf_conf_place at, const char *what)
{
	if (thing != NULL && !thing->defined)
		wf_audit_say(a, WF_AUDIT_UNDEFINED, port->device, port, at, "a name that is there",
		             "the %s %s is not defined", what, thing->name);
}

static void check_refs(struct wf_audit *a, const struct wf_conf_port *port)
{
	static const char *const maps[] = { "map DSCP_TO_TC_MAP",
		                            "map DOT1P_TO_TC_MAP",
		                            "map TC_TO_PRIORITY_GROUP_MAP",
		                            "map TC_TO_QUEUE_MAP",
		                            "map MAP_PFC_PRIORITY_TO_QUEUE",
		                            "map PFC_PRIORITY_TO_PRIORITY_GROUP_MAP" };

	for (unsigned k = 0; k < WF_CONF_MAPS; k++) {
		if (port->map[k] != NULL)
			undefined(a, port, &port->map[k]->is, port->map_at[k], maps[k]);
	}
	for (unsigned i = 0; i < WF_CONF_TCS; i++) {
		const struct wf_conf_queue *q = &port->queue[i];

		if (q->sched != NULL)
			undefined(a, port, &q->sched->is, q->sched_at, "scheduler");
		if (q->wred != NULL)
			undefined(a, port, &q->wred->is, q->wred_at, "WRED profile");
		if (q->profile != NULL)
			undefined(a, port, &q->profile->is, q->profile_at, "buffer profile");
		if (port->pg[i].profile != NULL)
			undefined(a, port, &port->pg[i].profile->is, port->pg[i].at,
			          "buffer profile");
	}
}

void wf_audit_port(struct wf_audit *a, const struct wf_conf_port *port)
{
	unsigned mask = wf_conf_pfc_rx(port) | wf_conf_pfc_tx(port);

	check_refs(a, port);
	if (!port->defined && port->device->ports_listed.said == WF_CONF_SAID &&
	    (port->has_qos || port->wd_detect.said == WF_CONF_SAID))
		wf_audit_say(a, WF_AUDIT_UNKNOWN_PORT, port->device, port, port->at,
		             "a port that is in PORT", "there is QoS for a port that PORT has not");
	if (!wf_conf_is_active(port))
		return;
	check_mode(a, port);
	if (mask == 0)
		return;
	check_trust(a, port);
	for (unsigned d = 0; d < WF_CONF_DSCPS; d++) {
		if ((a->meant >> d & 1) != 0)
			check_dscp(a, port, d);
	}
	for (unsigned p = 0; p < WF_CONF_TCS; p++) {
		if ((mask >> p & 1) == 0)
			continue;
		check_priority(a, port, p);
		check_ecn(a, port, p);
	}
	/* Stock templates have CNPs among the rest; it matters where RDMA is meant. */
	if (a->meant != 0)
		check_cnp(a, port, cnp_dscp(a->net));
}
