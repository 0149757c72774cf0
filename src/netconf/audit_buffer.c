/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit_buffer.c - buffers of a switch: groups, profiles, pools, headroom, and ECN against pauses.
 */
#include <stdlib.h>
#include <string.h>

#include "netconf/audit.h"

#define QUANTUM 64 /* bytes of a pause quantum */
#define FRAME 9216 /* where a port has no MTU */
#define MEGA 1000000

/* IEEE 802.3 31B.3.7: quanta until a port stops, by its speed in Mb/s. */
static int64_t response_of(int64_t speed)
{
	static const struct {
		int64_t mbps, quanta;
	} rows[] = { { 10000, 67 },   { 25000, 80 },   { 40000, 118 },  { 50000, 147 },
		     { 100000, 394 }, { 200000, 453 }, { 400000, 905 }, { 800000, 905 } };
	size_t i = 0;

	while (i + 1 < WF_ARRAY_SIZE(rows) && rows[i].mbps * MEGA < speed)
		i++;
	return rows[i].quanta * QUANTUM;
}

static bool is_lossless(const struct wf_conf_profile *p)
{
	return p->xoff.said == WF_CONF_SAID || p->computed.v != 0 ||
	       strstr(p->is.name, "lossless") != NULL;
}

static bool has_lossless_pg(const struct wf_conf_port *port)
{
	for (unsigned g = 0; g < WF_CONF_TCS; g++) {
		if (port->pg[g].by_switch ||
		    (port->pg[g].profile != NULL && is_lossless(port->pg[g].profile)))
			return true;
	}
	return false;
}

static bool any_lossless_pg(const struct wf_conf_device *d)
{
	for (uint32_t i = 0; i < d->n_ports; i++) {
		if (has_lossless_pg(d->ports[i]))
			return true;
	}
	return false;
}

/* ---- headroom ---- */

static int64_t frame_of(const struct wf_conf_port *port)
{
	return port->mtu.said == WF_CONF_SAID ? port->mtu.v : FRAME;
}

/*
 * What comes after the threshold at the least: what is on the cable, a frame that has just begun to
 * leave here and one there; and of the time that 802.3 gives a peer, the 0.4 for which the tables
 * that vendors ship all have room.
 */
static void check_headroom(struct wf_audit *a, const struct wf_conf_port *port, unsigned g,
                           const struct wf_conf_profile *p)
{
	int64_t frames = 2 * frame_of(port), cable, least;

	if (p->xoff.said != WF_CONF_SAID || port->speed.said != WF_CONF_SAID ||
	    port->cable.said != WF_CONF_SAID || port->speed.v <= 0)
		return;
	cable = (int64_t)wf_conf_on_cable(port->cable.v, port->speed.v);
	least = cable + frames + response_of(port->speed.v) * 4 / 10;
	if (p->xoff.v >= least)
		return;
	wf_audit_say(a, WF_AUDIT_HEADROOM, port->device, port, p->xoff.at,
	             "at least what comes in until the peer stops",
	             "%s of group %u has %lld bytes beyond its threshold; %lld m at %lld Gb/s need "
	             "%lld: %lld on the cable, %lld in frames, the rest until the peer stops",
	             p->is.name, g, (long long)p->xoff.v, (long long)port->cable.v / 100,
	             (long long)port->speed.v / 1000000000, (long long)least, (long long)cable,
	             (long long)frames);
}

/* "pg_lossless_400000_40m_profile" */
static bool parse_name(const char *name, int64_t *mbps, int64_t *metres)
{
	static const char stem[] = "pg_lossless_";
	const char *p = name + sizeof(stem) - 1;
	char *end = NULL;

	if (strncmp(name, stem, sizeof(stem) - 1) != 0)
		return false;
	*mbps = strtoll(p, &end, 10);
	if (end == p || *end != '_' || *mbps <= 0 || *mbps > 100000000)
		return false;
	p = end + 1;
	*metres = strtoll(p, &end, 10);
	return end != p && *end == 'm' && *metres >= 0 && *metres < 1000000;
}

static void check_name(struct wf_audit *a, const struct wf_conf_port *port, unsigned g,
                       const struct wf_conf_profile *p)
{
	int64_t mbps = 0, metres = 0;

	if (!parse_name(p->is.name, &mbps, &metres))
		return;
	if (port->cable.said == WF_CONF_SAID && metres * 100 < port->cable.v)
		wf_audit_say(a, WF_AUDIT_PROFILE_CABLE, port->device, port, port->pg[g].at,
		             "the profile of the port's own cable",
		             "%s is for %lld m, and the cable has %lld m", p->is.name,
		             (long long)metres, (long long)port->cable.v / 100);
	if (port->speed.said == WF_CONF_SAID && mbps * MEGA != port->speed.v)
		wf_audit_say(a, WF_AUDIT_PROFILE_CABLE, port->device, port, port->pg[g].at,
		             "the profile of the port's own speed",
		             "%s is for %lld Gb/s, and the port has %lld Gb/s", p->is.name,
		             (long long)mbps / 1000, (long long)port->speed.v / 1000000000);
}

/* A profile that has no more than it needs for what it lets in has no headroom of its own. */
static void check_shared(struct wf_audit *a, const struct wf_conf_port *port, unsigned g,
                         const struct wf_conf_profile *p)
{
	const struct wf_conf_device *d = port->device;
	bool own = p->size.v > p->xon.v && p->size.v >= p->xoff.v;

	if (p->xoff.said != WF_CONF_SAID || p->xoff.v == 0 || p->size.said != WF_CONF_SAID || own)
		return;
	if (p->pool == NULL || !p->pool->is.defined ||
	    (p->pool->xoff.said == WF_CONF_SAID && p->pool->xoff.v > 0) ||
	    (d->oversubscribe.said == WF_CONF_SAID && d->oversubscribe.v >= 1000))
		return;
	wf_audit_say(
		a, WF_AUDIT_SHARED_HEADROOM, d, port,
		p->pool->xoff.said == WF_CONF_SAID ? p->pool->xoff.at : p->pool->is.at,
		"xoff of the pool: the headroom that ports share",
		"%s of group %u has a size of %lld and needs %lld bytes of headroom, and %s has "
		"none to share",
		p->is.name, g, (long long)p->size.v, (long long)p->xoff.v, p->pool->is.name);
}

/* ---- ECN against pauses ---- */

/* From how many bytes on a group alone in its pool pauses; below 0: not known. */
static int64_t pause_from(const struct wf_conf_profile *p)
{
	int64_t size;

	if (p->static_th.said == WF_CONF_SAID)
		return p->static_th.v;
	if (p->dynamic_th.said != WF_CONF_SAID || p->pool == NULL ||
	    p->pool->size.said != WF_CONF_SAID || p->dynamic_th.v < -8 || p->dynamic_th.v > 8)
		return -1;
	size = p->pool->size.v;
	if (size < 0 || size > INT64_C(1) << 50)
		return -1;
	/* alpha / (1 + alpha), alpha = 2^th. */
	return p->dynamic_th.v >= 0
	               ? (size << p->dynamic_th.v) / ((INT64_C(1) << p->dynamic_th.v) + 1)
	               : size / ((INT64_C(1) << -p->dynamic_th.v) + 1);
}

static void check_late(struct wf_audit *a, const struct wf_conf_port *port, unsigned prio,
                       const struct wf_conf_profile *p)
{
	int q = wf_conf_map_to(port, WF_CONF_PFC_QUEUE, prio);
	const struct wf_conf_wred *wred = q < 0 ? NULL : port->queue[q].wred;
	int64_t from = pause_from(p);

	if (wred == NULL || from < 0 || wred->ecn.v == 0 || wred->min.said != WF_CONF_SAID ||
	    wred->min.v < from)
		return;
	wf_audit_say(a, WF_AUDIT_ECN_LATE, port->device, port, wred->min.at,
	             "a threshold of ECN well below the one of pauses",
	             "%s marks from %lld bytes on, and %s pauses from %lld on at the latest: PFC "
	             "comes first",
	             wred->is.name, (long long)wred->min.v, p->is.name, (long long)from);
}

/* ---- a port ---- */

static void check_group(struct wf_audit *a, const struct wf_conf_port *port, unsigned prio)
{
	const struct wf_conf_device *d = port->device;
	int g = wf_conf_map_to(port, WF_CONF_PFC_PG, prio);
	const struct wf_conf_profile *p;

	if (g < 0)
		return;
	p = port->pg[g].profile;
	if (p != NULL && p->is.defined && is_lossless(p)) {
		check_headroom(a, port, (unsigned)g, p);
		check_name(a, port, (unsigned)g, p);
		check_shared(a, port, (unsigned)g, p);
		check_late(a, port, prio, p);
		return;
	}
	if (port->pg[g].by_switch || d->buffers_said.said == WF_CONF_UNSET ||
	    (p != NULL && !p->is.defined))
		return;
	if (p != NULL) {
		wf_audit_say(a, WF_AUDIT_NO_PG, d, port, port->pg[g].at, "a lossless profile",
		             "PFC is on for %u, and group %d has the lossy profile %s", prio, g,
		             p->is.name);
		return;
	}
	if (!any_lossless_pg(d) && d->dynamic_buffers.v == 0)
		wf_audit_say(a, WF_AUDIT_PG_AT_RUN_TIME, d, port, d->buffers_said.at,
		             "the running configuration, in which they are",
		             "PFC is on, and no port has a lossless group in this file: the buffer "
		             "manager of the traditional model makes them at run time");
	else
		wf_audit_say(
			a, WF_AUDIT_NO_PG, d, port, port->at, "a lossless profile for the group",
			"PFC is on for %u, and group %d has no profile: nobody is asked to stop",
			prio, g);
}

static void check_cable(struct wf_audit *a, const struct wf_conf_port *port)
{
	bool stat = false;

	for (unsigned g = 0; g < WF_CONF_TCS; g++)
		stat |= port->pg[g].profile != NULL && is_lossless(port->pg[g].profile);
	if (port->cable.said == WF_CONF_SAID && port->cable.v == 0 && stat)
		wf_audit_say(
			a, WF_AUDIT_NO_CABLE, port->device, port, port->cable.at,
			"the length of the cable",
			"the cable is 0 m long, which is what stands there before somebody says "
			"it, and the group has a profile for a length");
}

static void check_queue(struct wf_audit *a, const struct wf_conf_port *port, unsigned prio)
{
	int q = wf_conf_map_to(port, WF_CONF_PFC_QUEUE, prio);
	const struct wf_conf_profile *p = q < 0 ? NULL : port->queue[q].profile;

	if (p == NULL || !p->is.defined ||
	    (strstr(p->is.name, "lossy") == NULL &&
	     (p->pool == NULL || strstr(p->pool->is.name, "lossy") == NULL)))
		return;
	wf_audit_say(a, WF_AUDIT_QUEUE_LOSSY, port->device, port, port->queue[q].profile_at,
	             "the lossless egress profile",
	             "lossless queue %d has %s, which drops where packets leave", q, p->is.name);
}

static bool any_qos(const struct wf_conf_device *d)
{
	for (uint32_t i = 0; i < d->n_ports; i++) {
		if (wf_conf_pfc_rx(d->ports[i]) != 0)
			return true;
	}
	return false;
}

void wf_audit_buffers(struct wf_audit *a, const struct wf_conf_port *port)
{
	unsigned mask = wf_conf_pfc_tx(port) | wf_conf_pfc_rx(port);

	if (!wf_conf_is_active(port))
		return;
	if (mask == 0 && has_lossless_pg(port) && !port->has_qos && any_qos(port->device))
		wf_audit_say(
			a, WF_AUDIT_UNUSED_PG, port->device, port, port->at,
			"no lossless groups, or maps and PFC",
			"there are lossless groups, and no map and no PFC that would use them");
	if (mask == 0)
		return;
	check_cable(a, port);
	for (unsigned p = 0; p < WF_CONF_TCS; p++) {
		if ((mask >> p & 1) == 0)
			continue;
		check_group(a, port, p);
		check_queue(a, port, p);
	}
}

void wf_audit_profiles(struct wf_audit *a, const struct wf_conf_device *d)
{
	for (const struct wf_conf_named *n = d->profiles; n != NULL; n = n->next) {
		const struct wf_conf_profile *p = (const struct wf_conf_profile *)n;

		if (p->pool != NULL && !p->pool->is.defined)
			wf_audit_say(a, WF_AUDIT_UNDEFINED, d, NULL, p->pool_at,
			             "a pool that is there", "the pool %s of %s is not defined",
			             p->pool->is.name, n->name);
		else if (p->pool != NULL && p->dynamic_th.said == WF_CONF_SAID &&
		         p->pool->dynamic.said == WF_CONF_SAID && p->pool->dynamic.v == 0)
			wf_audit_say(a, WF_AUDIT_THRESHOLD_MODE, d, NULL, p->dynamic_th.at,
			             "static_th, or a pool with mode dynamic",
			             "%s has dynamic_th, and its pool %s is static", n->name,
			             p->pool->is.name);
	}
}
