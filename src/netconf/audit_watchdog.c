/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit_watchdog.c - the PFC watchdog of a switch: that there is one, what it watches, its
 * times.
 */
#include <string.h>

#include "netconf/audit.h"

static unsigned mask_of(const struct wf_conf_port *port)
{
	return wf_conf_is_active(port) ? wf_conf_pfc_rx(port) | wf_conf_pfc_tx(port) : 0;
}

/* Somebody has said that this port is to be watched. */
static bool is_watched(const struct wf_conf_port *port)
{
	if (port->device->form == WF_CONF_FORM_SONIC)
		return port->wd_detect.said == WF_CONF_SAID ||
		       port->wd_restore.said == WF_CONF_SAID ||
		       port->wd_action.said == WF_CONF_SAID;
	return port->wd.said == WF_CONF_SAID && port->wd.v != 0;
}

static void check_times(struct wf_audit *a, const struct wf_conf_port *port)
{
	const struct wf_conf_device *d = port->device;
	const struct wf_conf_value *poll = &port->wd_poll, *detect = &port->wd_detect,
				   *restore = &port->wd_restore;
	/* EOS wants two polls in each. */
	int64_t times = d->form == WF_CONF_FORM_EOS ? 2 : 1;

	if (poll->said == WF_CONF_UNSET)
		return;
	if (detect->said == WF_CONF_SAID && detect->v < times * poll->v)
		wf_audit_say(a, WF_AUDIT_WD_TIMES, d, port, detect->at,
		             times == 2 ? "at least two polls" : "at least as long as a poll",
		             "the watchdog detects after %lld ms, and polls every %lld ms",
		             (long long)detect->v / 1000, (long long)poll->v / 1000);
	if (restore->said == WF_CONF_SAID && restore->v < times * poll->v)
		wf_audit_say(a, WF_AUDIT_WD_TIMES, d, port, restore->at,
		             times == 2 ? "at least two polls" : "at least as long as a poll",
		             "the watchdog restores after %lld ms, and polls every %lld ms",
		             (long long)restore->v / 1000, (long long)poll->v / 1000);
	if (d->form == WF_CONF_FORM_SONIC && detect->said == WF_CONF_SAID &&
	    restore->said == WF_CONF_UNSET)
		wf_audit_say(a, WF_AUDIT_WD_RESTORE, d, port, detect->at,
		             "restoration_time, twice detection_time or more",
		             "the watchdog has no time of restoration");
}

static void check_action(struct wf_audit *a, const struct wf_conf_port *port)
{
	if (port->wd_action.said != WF_CONF_SAID)
		return;
	if (port->wd_action.v == WF_CONF_ACTION_FORWARD)
		wf_audit_say(a, WF_AUDIT_WD_ACTION, port->device, port, port->wd_action.at, "drop",
		             "in a storm the watchdog goes on forwarding against pauses: what is "
		             "promised to be lossless is lost at the peer");
	else if (port->wd_action.v == WF_CONF_ACTION_ALERT)
		wf_audit_say(a, WF_AUDIT_WD_ACTION, port->device, port, port->wd_action.at, "drop",
		             "in a storm the watchdog only tells of it");
}

static void check_blind(struct wf_audit *a, const struct wf_conf_port *port, unsigned mask)
{
	const struct wf_conf_device *d = port->device;

	if (d->form == WF_CONF_FORM_SONIC) {
		if (port->wd.said != WF_CONF_SAID)
			wf_audit_say(
				a, WF_AUDIT_WD_BLIND, d, port, port->at,
				"pfcwd_sw_enable with the priorities of pfc_enable",
				"the watchdog is on, and pfcwd_sw_enable is missing: it watches "
				"nothing");
		else if ((mask & ~(unsigned)port->wd.v) != 0)
			wf_audit_say(a, WF_AUDIT_WD_BLIND, d, port, port->wd.at,
			             "the priorities of pfc_enable",
			             "pfcwd_sw_enable leaves out a priority that has PFC");
		return;
	}
	for (unsigned p = 0; d->form == WF_CONF_FORM_EOS && p < WF_CONF_TCS; p++) {
		int q = wf_conf_map_to(port, WF_CONF_PFC_QUEUE, p);

		if ((mask >> p & 1) != 0 && q >= 0 &&
		    port->queue[q].guaranteed.said != WF_CONF_SAID)
			wf_audit_say(a, WF_AUDIT_WD_BLIND, d, port, port->at,
			             "bandwidth guaranteed for the queue",
			             "the watchdog watches queues with guaranteed bandwidth, and "
			             "lossless queue %d has none",
			             q);
	}
}

void wf_audit_watchdog(struct wf_audit *a, const struct wf_conf_device *d)
{
	const struct wf_conf_port *first = NULL;
	bool any = false;

	for (uint32_t i = 0; i < d->n_ports; i++) {
		if (mask_of(d->ports[i]) == 0)
			continue;
		first = first == NULL ? d->ports[i] : first;
		any |= is_watched(d->ports[i]);
	}
	if (first == NULL)
		return;
	if (!any) {
		wf_audit_say(a, WF_AUDIT_WD_MISSING, d, NULL,
		             d->wd_on.said == WF_CONF_SAID ? d->wd_on.at : d->at,
		             d->form == WF_CONF_FORM_SONIC
		                     ? "PFC_WD with the ports that have PFC"
		                     : "the watchdog on the ports that have PFC",
		             "PFC is on, and no port has a watchdog");
		return;
	}
	for (uint32_t i = 0; i < d->n_ports; i++) {
		const struct wf_conf_port *port = d->ports[i];
		unsigned mask = mask_of(port);

		if (mask == 0)
			continue;
		if (!is_watched(port)) {
			wf_audit_say(a, WF_AUDIT_WD_PORT, d, port, port->at,
			             "the watchdog, as other ports have it",
			             port->fabric ? "PFC is on, and the watchdog is not, on a port "
			                            "between switches"
			                          : "PFC is on, and the watchdog is not");
			continue;
		}
		check_blind(a, port, mask);
		check_times(a, port);
		check_action(a, port);
	}
}
