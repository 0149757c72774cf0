/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit.c - runs the checks of a network's configurations, and keeps what they find.
 */
#include "netconf/audit.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/sort.h"
#include "netconf/make.h"

#define TEXT 640
#define RECENT 512

const char *const wf_audit_grades[] = { "note", "warning", "error" };

#define ROW(id, name, grade, what, source, incident, cure)                                         \
	{ name, grade, what, source, incident, cure },
const struct wf_audit_row wf_audit_rows[] = { WF_AUDIT_ROWS(ROW) };
#undef ROW

static void *room_for(struct wf_audit *a, void *list, uint32_t n, uint32_t *room, size_t size)
{
	uint32_t more = *room == 0 ? 8 : 2 * *room;
	void *longer;

	if (n < *room)
		return list;
	longer = wf_arena_alloc(&a->net->arena, more * size, _Alignof(void *));
	if (longer == NULL) {
		a->net->no_memory = true;
		return NULL;
	}
	if (n != 0)
		memcpy(longer, list, n * size);
	*room = more;
	return longer;
}

static void add_port(struct wf_audit *a, struct wf_audit_finding *f,
                     const struct wf_conf_port *port)
{
	void *list;

	if (port == NULL || (f->n_ports != 0 && f->ports[f->n_ports - 1] == port))
		return;
	list = room_for(a, f->ports, f->n_ports, &f->room_ports, sizeof(const void *));
	if (list == NULL)
		return;
	f->ports = list;
	f->ports[f->n_ports++] = port;
}

void wf_audit_say(struct wf_audit *a, enum wf_audit_id id, const struct wf_conf_device *device,
                  const struct wf_conf_port *port, struct wf_conf_place at, const char *right,
                  const char *wrong, ...)
{
	char text[TEXT];
	const char *one;
	void *list;
	va_list ap;

	va_start(ap, wrong);
	(void)vsnprintf(text, sizeof(text), wrong, ap);
	va_end(ap);
	one = wf_conf_text(a->net, text, strlen(text));
	right = wf_conf_text(a->net, right, strlen(right));
	/* What is alike stands close together; a network of nothing but mistakes must end, too. */
	for (uint32_t i = a->n > a->first + RECENT ? a->n - RECENT : a->first; i < a->n; i++) {
		struct wf_audit_finding *f = &a->findings[i];

		if (f->id == id && f->device == device && f->wrong == one && f->right == right) {
			add_port(a, f, port);
			return;
		}
	}
	list = room_for(a, a->findings, a->n, &a->room, sizeof(*a->findings));
	if (list == NULL)
		return;
	a->findings = list;
	a->findings[a->n] = (struct wf_audit_finding){
		.id = id, .device = device, .at = at, .wrong = one, .right = right, .order = a->n
	};
	add_port(a, &a->findings[a->n], port);
	a->n++;
}

/* ---- what a port does ---- */

static bool is_on(const struct wf_conf_port *port)
{
	return port->pfc_mode.said == WF_CONF_UNSET || port->pfc_mode.v == 1;
}

unsigned wf_conf_pfc_rx(const struct wf_conf_port *port)
{
	return is_on(port) ? (unsigned)port->pfc_rx.v : 0;
}

unsigned wf_conf_pfc_tx(const struct wf_conf_port *port)
{
	return is_on(port) ? (unsigned)port->pfc_tx.v : 0;
}

bool wf_conf_is_active(const struct wf_conf_port *port)
{
	if (port->up.said == WF_CONF_SAID && port->up.v == 0)
		return false;
	return port->defined || port->device->ports_listed.said == WF_CONF_UNSET;
}

int wf_conf_tc_of(const struct wf_conf_port *port, unsigned dscp)
{
	const struct wf_conf_map *map = port->map[WF_CONF_DSCP_TC];

	assert(dscp < WF_CONF_DSCPS);
	if (port->trust.said == WF_CONF_UNSET || (port->trust.v & WF_CONF_TRUST_L3) == 0)
		return -1;
	if (map == NULL)
		return port->device->adapter ? (int)dscp / 8 : -1;
	if (map->to[dscp] >= 0)
		return map->to[dscp];
	return port->device->adapter ? (int)dscp / 8 : 0;
}

int wf_conf_map_to(const struct wf_conf_port *port, enum wf_conf_map_kind kind, unsigned from)
{
	const struct wf_conf_map *map = port->map[kind];

	if (map == NULL || !map->is.defined)
		return (int)from;
	/* A map that says something of others has this one nowhere, which is 0. */
	return map->to[from] >= 0                                    ? map->to[from]
	       : kind == WF_CONF_PFC_PG || kind == WF_CONF_PFC_QUEUE ? -1
	                                                             : 0;
}

bool wf_conf_protects(const struct wf_conf_port *port, int tc)
{
	unsigned mask = wf_conf_pfc_tx(port);

	if (tc < 0)
		return false;
	for (unsigned p = 0; p < WF_CONF_TCS; p++) {
		if ((mask >> p & 1) != 0 &&
		    wf_conf_map_to(port, WF_CONF_PFC_PG, p) ==
		            wf_conf_map_to(port, WF_CONF_TC_PG, (unsigned)tc))
			return true;
	}
	return false;
}

uint64_t wf_conf_on_cable(int64_t cm, int64_t speed)
{
	if (cm <= 0 || speed <= 0)
		return 0;
	/* 198 m/us: light in fibre, as SONiC has it. */
	return (uint64_t)((unsigned __int128)2 * (uint64_t)cm * (uint64_t)speed / 8 / 19800000000u);
}

/* ---- the run ---- */

/* Faults that readers have seen. */
static void tell_faults(struct wf_audit *a)
{
	static const enum wf_audit_id ids[] = {
		[WF_CONF_FAULT_GROUP] = WF_AUDIT_GROUP,
		[WF_CONF_FAULT_COMMAND] = WF_AUDIT_COMMAND,
		[WF_CONF_FAULT_VALUE] = WF_AUDIT_VALUE,
		[WF_CONF_FAULT_PORT] = WF_AUDIT_UNKNOWN_PORT,
		[WF_CONF_FAULT_RED] = WF_AUDIT_WD_ACTION,
		[WF_CONF_FAULT_AGAIN] = WF_AUDIT_AGAIN,
	};

	for (const struct wf_conf_fault *f = a->net->faults; f != NULL; f = f->next)
		wf_audit_say(a, ids[f->kind], f->device, f->port, f->at, f->right, "%s", f->wrong);
}

/* The DSCPs of RDMA: as adapters mark it. */
static uint64_t marked_by(const struct wf_netconf *net)
{
	uint64_t mask = 0;

	for (uint32_t i = 0; i < net->n_devices; i++) {
		const struct wf_conf_device *d = net->devices[i];

		for (uint32_t k = 0; d->adapter && k < d->n_ports; k++) {
			const struct wf_conf_nic *nic = d->ports[k]->nic;

			if (nic == NULL)
				continue;
			if (nic->tos.said == WF_CONF_SAID && nic->tos.v >= 4 && nic->tos.v < 256)
				mask |= UINT64_C(1) << (nic->tos.v >> 2);
			if (nic->tclass.said == WF_CONF_SAID && nic->tclass.v >= 4 &&
			    nic->tclass.v < 256)
				mask |= UINT64_C(1) << (nic->tclass.v >> 2);
		}
	}
	return mask;
}

/*
 * DSCPs 24 and 26 are RDMA's by custom; they are meant where a map puts them apart from the
 * rest.
 */
static bool is_apart(const struct wf_conf_port *port, unsigned dscp)
{
	const struct wf_conf_map *map = port->map[WF_CONF_DSCP_TC];
	unsigned same = 0;
	int tc = wf_conf_tc_of(port, dscp);

	if (map == NULL || tc < 0 || tc == wf_conf_tc_of(port, 0) || map->line[dscp] == 0)
		return false;
	for (unsigned i = 0; i < WF_CONF_DSCPS; i++)
		same += wf_conf_tc_of(port, i) == tc;
	return same <= 8;
}

/* What of them RDMA uses where no adapter says it: the one that most switches put apart. */
static uint64_t meant_by(const struct wf_netconf *net)
{
	uint32_t apart[2] = { 0, 0 }, safe[2] = { 0, 0 };

	for (uint32_t i = 0; i < net->n_devices; i++) {
		const struct wf_conf_device *d = net->devices[i];

		for (uint32_t k = 0; !d->adapter && k < d->n_ports; k++) {
			const struct wf_conf_port *port = d->ports[k];

			if (wf_conf_pfc_tx(port) == 0)
				continue;
			for (unsigned n = 0; n < 2; n++) {
				apart[n] += is_apart(port, 24 + 2 * n);
				safe[n] += wf_conf_protects(port, wf_conf_tc_of(port, 24 + 2 * n));
			}
			break;
		}
	}
	if (apart[0] + apart[1] != 0)
		return UINT64_C(1) << (apart[0] > apart[1] ? 24 : 26);
	if (safe[0] + safe[1] != 0)
		return UINT64_C(1) << (safe[0] > safe[1] ? 24 : 26);
	return 0;
}

/* Priorities that most ports with PFC have. */
static unsigned usual_of(const struct wf_netconf *net)
{
	uint32_t votes[256] = { 0 };
	unsigned best = 0;

	for (uint32_t i = 0; i < net->n_devices; i++) {
		for (uint32_t k = 0; k < net->devices[i]->n_ports; k++)
			votes[wf_conf_pfc_rx(net->devices[i]->ports[k]) & 255]++;
	}
	for (unsigned m = 1; m < 256; m++)
		best = votes[m] > (best == 0 ? 0 : votes[best]) ? m : best;
	return best;
}

static int by_grade(const void *x, const void *y, const void *arg)
{
	const struct wf_audit_finding *a = x, *b = y;
	enum wf_audit_grade ga = wf_audit_rows[a->id].grade, gb = wf_audit_rows[b->id].grade;
	int c;

	(void)arg;
	if (ga != gb)
		return ga > gb ? -1 : 1;
	c = strcmp(a->device == NULL ? "" : a->device->name,
	           b->device == NULL ? "" : b->device->name);
	if (c != 0)
		return c;
	return a->order < b->order ? -1 : 1;
}

static int order(struct wf_audit *a)
{
	void *room;

	if (a->n == 0)
		return 0;
	room = wf_arena_alloc(&a->net->arena, a->n * sizeof(*a->findings), _Alignof(void *));
	if (room == NULL)
		return -ENOMEM;
	wf_sort(a->findings, room, a->n, sizeof(*a->findings), by_grade, NULL);
	for (uint32_t i = 0; i < a->n; i++)
		a->count[wf_audit_rows[a->findings[i].id].grade]++;
	return 0;
}

static void audit_device(struct wf_audit *a, const struct wf_conf_device *d)
{
	a->first = a->n;
	for (uint32_t k = 0; k < d->n_ports; k++) {
		if (d->adapter) {
			wf_audit_nic(a, d->ports[k]);
			continue;
		}
		wf_audit_port(a, d->ports[k]);
		wf_audit_buffers(a, d->ports[k]);
	}
	if (d->adapter || d->form == WF_CONF_FORM_NONE)
		return;
	wf_audit_profiles(a, d);
	wf_audit_watchdog(a, d);
}

int wf_audit_run(struct wf_audit *a, struct wf_netconf *net)
{
	*a = (struct wf_audit){ .net = net };
	a->marked = marked_by(net);
	a->meant = a->marked != 0 ? a->marked : meant_by(net);
	a->usual = usual_of(net);
	tell_faults(a);
	for (uint32_t i = 0; i < net->n_devices; i++)
		audit_device(a, net->devices[i]);
	a->first = a->n;
	for (uint32_t i = 0; i < net->n_links; i++)
		wf_audit_link(a, &net->links[i]);
	a->first = a->n;
	wf_audit_network(a);
	return order(a) != 0 || net->no_memory ? -ENOMEM : 0;
}
