/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit_link.c - both ends of a link, and an adapter: what one does must be what the other
 * expects.
 */
#include <stdio.h>
#include <string.h>

#include "netconf/audit.h"

#define ROCE_MTU 4200     /* bytes that an MTU of 4096 takes */
#define FACTORY_CABLE 700 /* cm: what adapters have before somebody says it */

static const char *list_of(unsigned mask, char text[32])
{
	size_t n = 0;

	for (unsigned p = 0; p < WF_CONF_TCS; p++) {
		if ((mask >> p & 1) != 0) {
			text[n++] = (char)('0' + p);
			text[n++] = ',';
		}
	}
	if (n == 0)
		return "none";
	text[n - 1] = '\0';
	return text;
}

/* ---- PFC ---- */

/* Whether it is known what the port does: nothing said is PFC off, where all is there. */
static bool knows_pfc(const struct wf_conf_port *port)
{
	const struct wf_conf_device *d = port->device;

	if (port->has_qos || port->pfc_rx.said == WF_CONF_SAID)
		return true;
	if (d->form == WF_CONF_FORM_SONIC)
		return d->ports_listed.said == WF_CONF_SAID; /* else it is a part */
	return !d->adapter && d->form != WF_CONF_FORM_CUMULUS;
}

static struct wf_conf_place pfc_place(const struct wf_conf_port *port)
{
	return port->pfc_rx.said == WF_CONF_SAID ? port->pfc_rx.at : port->at;
}

/* What one sends pauses for, the other must obey. Returns whether they agree. */
static bool check_pfc(struct wf_audit *a, const struct wf_conf_port *x,
                      const struct wf_conf_port *y)
{
	unsigned mx = wf_conf_pfc_tx(x) | wf_conf_pfc_rx(x),
		 my = wf_conf_pfc_tx(y) | wf_conf_pfc_rx(y);
	const struct wf_conf_port *odd, *other;
	char to[32], tt[32];

	if (wf_conf_pfc_tx(x) == wf_conf_pfc_rx(y) && wf_conf_pfc_rx(x) == wf_conf_pfc_tx(y))
		return true;
	/* Who differs from most ports is told of; where that says nothing, who has less of it. */
	odd = (mx == a->usual) != (my == a->usual) ? (mx == a->usual ? y : x)
	      : (mx & ~my) == 0                    ? x
	                                           : y;
	other = odd == x ? y : x;
	wf_audit_say(a, WF_AUDIT_PFC_ONE_SIDED, odd->device, odd, pfc_place(odd),
	             "the same priorities on both ends",
	             "PFC is on for %s here, and for %s at %s %s", list_of(odd == x ? mx : my, to),
	             list_of(odd == x ? my : mx, tt), other->device->name, other->name);
	return false;
}

/* ---- a DSCP's way ---- */

/* Priorities for which r sends pauses when class tc fills its buffer. */
static unsigned paused_by(const struct wf_conf_port *r, int tc)
{
	unsigned mask = 0, tx = wf_conf_pfc_tx(r);

	for (unsigned p = 0; p < WF_CONF_TCS && tc >= 0; p++) {
		if ((tx >> p & 1) != 0 && wf_conf_map_to(r, WF_CONF_PFC_PG, p) ==
		                                  wf_conf_map_to(r, WF_CONF_TC_PG, (unsigned)tc))
			mask |= 1u << p;
	}
	return mask;
}

/* Priorities whose pauses stop class tc where s sends it; an adapter's class is its priority. */
static unsigned stopped_by(const struct wf_conf_port *s, int tc)
{
	unsigned mask = 0, rx = wf_conf_pfc_rx(s);

	if (tc < 0)
		return 0;
	if (s->device->adapter)
		return rx & (1u << tc);
	for (unsigned p = 0; p < WF_CONF_TCS; p++) {
		if ((rx >> p & 1) != 0 && wf_conf_map_to(s, WF_CONF_PFC_QUEUE, p) ==
		                                  wf_conf_map_to(s, WF_CONF_TC_QUEUE, (unsigned)tc))
			mask |= 1u << p;
	}
	return mask;
}

static void check_way(struct wf_audit *a, const struct wf_conf_port *s,
                      const struct wf_conf_port *r)
{
	for (unsigned d = 0; d < WF_CONF_DSCPS; d++) {
		int from = wf_conf_tc_of(s, d), to = wf_conf_tc_of(r, d);
		unsigned sent = paused_by(r, to), heard = stopped_by(s, from);
		char ts[32], th[32];

		if ((a->meant >> d & 1) == 0 || sent == 0 || heard == 0 || (sent & heard) != 0)
			continue;
		wf_audit_say(a, WF_AUDIT_PAUSE_PATH, s->device, s,
		             s->map[WF_CONF_DSCP_TC] != NULL ? s->map[WF_CONF_DSCP_TC]->is.at
		                                             : s->at,
		             "the same priority at both ends",
		             "DSCP %u is stopped by pauses of priority %s here, and %s %s sends "
		             "them for "
		             "%s",
		             d, list_of(heard, th), r->device->name, r->name, list_of(sent, ts));
	}
}

/* ---- the wire ---- */

static void check_mtu(struct wf_audit *a, const struct wf_conf_port *x,
                      const struct wf_conf_port *y)
{
	const struct wf_conf_port *low = x->mtu.v < y->mtu.v ? x : y, *high = low == x ? y : x;
	bool switches = !x->device->adapter && !y->device->adapter;

	if (x->mtu.said != WF_CONF_SAID || y->mtu.said != WF_CONF_SAID || x->mtu.v == y->mtu.v)
		return;
	/* An adapter may send less than its switch takes; and vendors count different headers. */
	if (!(low->mtu.v < ROCE_MTU && high->mtu.v >= ROCE_MTU &&
	      (switches || !low->device->adapter)) &&
	    !(switches && x->device->form == y->device->form))
		return;
	wf_audit_say(a, WF_AUDIT_MTU, low->device, low, low->mtu.at, "the MTU of the other end",
	             "the MTU is %lld here, and %lld at the other end of the link, %s %s",
	             (long long)low->mtu.v, (long long)high->mtu.v, high->device->name, high->name);
}

static void check_wire(struct wf_audit *a, const struct wf_conf_port *x,
                       const struct wf_conf_port *y)
{
	static const char *const fecs[] = { "none", "rs", "fc", "auto" };

	if (x->speed.said == WF_CONF_SAID && y->speed.said == WF_CONF_SAID &&
	    x->speed.v != y->speed.v) {
		const struct wf_conf_port *low = x->speed.v < y->speed.v ? x : y;
		const struct wf_conf_port *high = low == x ? y : x;

		wf_audit_say(a, WF_AUDIT_SPEED, low->device, low, low->speed.at,
		             "the same speed at both ends",
		             "the speed is %lld Gb/s here, and %lld Gb/s at %s %s",
		             (long long)low->speed.v / 1000000000,
		             (long long)high->speed.v / 1000000000, high->device->name, high->name);
	}
	if (x->fec.said == WF_CONF_SAID && y->fec.said == WF_CONF_SAID && x->fec.v != y->fec.v &&
	    x->fec.v != WF_CONF_FEC_AUTO && y->fec.v != WF_CONF_FEC_AUTO) {
		/* Without FEC, or with the weaker one, is who is told of. */
		const struct wf_conf_port *odd = x->fec.v == WF_CONF_FEC_RS ? y : x;
		const struct wf_conf_port *other = odd == x ? y : x;

		wf_audit_say(a, WF_AUDIT_FEC, odd->device, odd, odd->fec.at,
		             "the same FEC at both ends", "FEC is %s here, and %s at %s %s",
		             fecs[odd->fec.v], fecs[other->fec.v], other->device->name,
		             other->name);
	}
}

static void check_cable(struct wf_audit *a, const struct wf_conf_link *link,
                        const struct wf_conf_port *x, const struct wf_conf_port *y)
{
	const struct wf_conf_port *ends[2] = { x, y };
	const struct wf_conf_port *low = x->cable.v < y->cable.v ? x : y, *high = low == x ? y : x;

	for (unsigned i = 0; i < 2 && link->length.said == WF_CONF_SAID; i++) {
		const struct wf_conf_port *p = ends[i];

		if (p->cable.said == WF_CONF_SAID && p->cable.v < link->length.v)
			wf_audit_say(
				a, WF_AUDIT_CABLE_DIFFERS, p->device, p, p->cable.at,
				"the cable's true length",
				"the cable is said to be %lld m long, and the topology has %lld m",
				(long long)p->cable.v / 100, (long long)link->length.v / 100);
	}
	if (x->cable.said != WF_CONF_SAID || y->cable.said != WF_CONF_SAID ||
	    x->cable.v == y->cable.v || low->cable.v == 0 || link->length.said == WF_CONF_SAID)
		return;
	/*
	 * What adapters have before somebody says it is no statement, and more does no harm
	 * there.
	 */
	if (x->device->adapter || y->device->adapter)
		if (!low->device->adapter || low->cable.v == FACTORY_CABLE)
			return;
	wf_audit_say(a, WF_AUDIT_CABLE_DIFFERS, low->device, low, low->cable.at,
	             "the cable's true length",
	             "the cable is said to be %lld m long here, and %lld m at %s %s",
	             (long long)low->cable.v / 100, (long long)high->cable.v / 100,
	             high->device->name, high->name);
}

void wf_audit_link(struct wf_audit *a, const struct wf_conf_link *link)
{
	const struct wf_conf_port *x = link->end[0].port, *y = link->end[1].port;

	if (x == NULL || y == NULL || x == y || !wf_conf_is_active(x) || !wf_conf_is_active(y) ||
	    x->device->form == WF_CONF_FORM_NONE || y->device->form == WF_CONF_FORM_NONE)
		return;
	if (knows_pfc(x) && knows_pfc(y) && check_pfc(a, x, y)) {
		check_way(a, x, y);
		check_way(a, y, x);
	}
	check_mtu(a, x, y);
	check_wire(a, x, y);
	check_cable(a, link, x, y);
}

/* ---- an adapter ---- */

static const struct wf_conf_port *peer_of(const struct wf_audit *a, const struct wf_conf_port *port)
{
	const struct wf_conf_link *link;

	if (port->link == WF_CONF_NONE)
		return NULL;
	link = &a->net->links[port->link];
	return link->end[0].port == port ? link->end[1].port : link->end[0].port;
}

static void check_mark(struct wf_audit *a, const struct wf_conf_port *port,
                       const struct wf_conf_value *mark, const char *what)
{
	unsigned dscp = (unsigned)(mark->v >> 2 & 63);
	int prio = wf_conf_tc_of(port, dscp);
	unsigned mask = wf_conf_pfc_rx(port);
	char text[32];

	if (mark->said != WF_CONF_SAID || mask == 0)
		return;
	if (mark->v < 0 || mark->v > 255) {
		wf_audit_say(a, WF_AUDIT_VALUE, port->device, port, mark->at, "from 0 to 255",
		             "%s is %lld", what, (long long)mark->v);
		return;
	}
	if (dscp == 0)
		wf_audit_say(a, WF_AUDIT_NIC_CLASS, port->device, port, mark->at,
		             "four times RDMA's DSCP, such as 104 or 106",
		             "%s is %lld: RDMA has DSCP 0, which is nobody's class", what,
		             (long long)mark->v);
	else if (prio >= 0 && (mask >> prio & 1) == 0)
		wf_audit_say(a, WF_AUDIT_NIC_PRIORITY, port->device, port, pfc_place(port),
		             "PFC on the priority of RDMA's DSCP",
		             "%s marks DSCP %u, which is priority %d here, and PFC is on for %s",
		             what, dscp, prio, list_of(mask, text));
}

static void check_trust(struct wf_audit *a, const struct wf_conf_port *port)
{
	const struct wf_conf_port *peer = peer_of(a, port);
	bool l3 = port->trust.said != WF_CONF_UNSET && (port->trust.v & WF_CONF_TRUST_L3) != 0;

	if (l3 || wf_conf_pfc_rx(port) == 0)
		return;
	if (a->marked == 0 && (peer == NULL || peer->trust.said == WF_CONF_UNSET ||
	                       (peer->trust.v & WF_CONF_TRUST_L3) == 0))
		return;
	wf_audit_say(a, WF_AUDIT_NIC_TRUST, port->device, port,
	             port->trust.said == WF_CONF_SAID ? port->trust.at : port->at, "trust dscp",
	             "the adapter trusts PCP, and RDMA is marked by DSCP: what comes in is in "
	             "priority 0, and PFC does not protect it");
}

static void check_dcqcn(struct wf_audit *a, const struct wf_conf_port *port, unsigned p)
{
	const struct wf_conf_nic *nic = port->nic;

	if ((nic->np_seen.v >> p & 1) != 0 && (nic->np.v >> p & 1) == 0)
		wf_audit_say(a, WF_AUDIT_NIC_DCQCN, port->device, port, nic->np.at, "1",
		             "roce_np is off for priority %u: no CNP is sent for what was marked",
		             p);
	if ((nic->rp_seen.v >> p & 1) != 0 && (nic->rp.v >> p & 1) == 0)
		wf_audit_say(a, WF_AUDIT_NIC_DCQCN, port->device, port, nic->rp.at, "1",
		             "roce_rp is off for priority %u: CNPs slow nobody down", p);
	if (nic->cc_mask.said == WF_CONF_SAID && (nic->cc_mask.v >> p & 1) == 0)
		wf_audit_say(a, WF_AUDIT_NIC_DCQCN, port->device, port, nic->cc_mask.at,
		             "a mask with RDMA's priority, such as 255",
		             "ROCE_CC_PRIO_MASK leaves out priority %u", p);
}

void wf_audit_nic(struct wf_audit *a, const struct wf_conf_port *port)
{
	unsigned rdma = 0;

	if (port->nic == NULL)
		return;
	check_trust(a, port);
	check_mark(a, port, &port->nic->tos, "RDMA-CM's type of service");
	check_mark(a, port, &port->nic->tclass, "the traffic class");
	/* Priorities of RDMA: of its DSCPs, and where those are not known, those with PFC. */
	for (unsigned d = 0; d < WF_CONF_DSCPS; d++) {
		if ((a->meant >> d & 1) != 0)
			rdma |= 1u
			        << (wf_conf_tc_of(port, d) < 0 ? d / 8
			                                       : (unsigned)wf_conf_tc_of(port, d));
	}
	if (rdma == 0)
		rdma = wf_conf_pfc_rx(port);
	for (unsigned p = 0; p < WF_CONF_TCS; p++) {
		if ((rdma >> p & 1) != 0)
			check_dcqcn(a, port, p);
	}
}
