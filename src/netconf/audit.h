/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit.h - what is wrong with the configurations of a network: checks of its devices, of its links
 * and of all of it, each a row of one table.
 *
 * An error stops RDMA, or loses its packets, as soon as the network is loaded; a warning is a risk,
 * or costs speed; a note is worth knowing. What is the same at several ports of a device is one
 * finding with several ports.
 */
#ifndef WF_NETCONF_AUDIT_H
#define WF_NETCONF_AUDIT_H

#include "netconf/audit_rows.h"
#include "netconf/netconf.h"

enum wf_audit_grade { WF_AUDIT_NOTE, WF_AUDIT_WARNING, WF_AUDIT_ERROR, WF_AUDIT_GRADES };

extern const char *const wf_audit_grades[];

#define WF_AUDIT_ENUM(id, name, grade, what, source, incident, cure) WF_AUDIT_##id,
enum wf_audit_id { WF_AUDIT_ROWS(WF_AUDIT_ENUM) WF_AUDIT_N };
#undef WF_AUDIT_ENUM

struct wf_audit_row {
	const char *name;
	enum wf_audit_grade grade;
	const char *what;   /* is checked */
	const char *source; /* the rule's, or the formula's */
	const char
		*incident; /* where it leads to: a section of docs/incidents.md; "": none of them */
	const char *cure;
};

extern const struct wf_audit_row wf_audit_rows[]; /* by enum wf_audit_id */

struct wf_audit_finding {
	enum wf_audit_id id;
	const struct wf_conf_device *device;
	const struct wf_conf_port **ports; /* in the order of the file */
	uint32_t n_ports, room_ports;
	struct wf_conf_place at; /* of the first of them */
	const char *wrong, *right;
	uint32_t order; /* in which they were found */
};

struct wf_audit {
	struct wf_netconf *net;
	struct wf_audit_finding *findings; /* the graver first, then by device */
	uint32_t n, room;
	uint32_t first; /* of the device that is looked at */
	uint32_t count[WF_AUDIT_GRADES];
	uint64_t marked; /* DSCPs that adapters give RDMA */
	unsigned usual;  /* PFC's priorities, of most ports that have any */
	uint64_t meant;  /* and where no adapter is there, those that switches take for it */
};

/* Looks at all of a network that wf_conf_finish() has finished. Returns 0 or -ENOMEM. */
int wf_audit_run(struct wf_audit *audit, struct wf_netconf *net) WF_MUST_USE;

/* ---- for the checks ---- */

/* What is wrong, and what would be right, in words without the port's name. */
void wf_audit_say(struct wf_audit *audit, enum wf_audit_id id, const struct wf_conf_device *device,
                  const struct wf_conf_port *port, struct wf_conf_place at, const char *right,
                  const char *wrong, ...) WF_PRINTF(7, 8);

void wf_audit_port(struct wf_audit *audit, const struct wf_conf_port *port);
void wf_audit_buffers(struct wf_audit *audit, const struct wf_conf_port *port);
void wf_audit_profiles(struct wf_audit *audit, const struct wf_conf_device *device);
void wf_audit_watchdog(struct wf_audit *audit, const struct wf_conf_device *device);
void wf_audit_nic(struct wf_audit *audit, const struct wf_conf_port *port);
void wf_audit_link(struct wf_audit *audit, const struct wf_conf_link *link);
void wf_audit_network(struct wf_audit *audit);

/* ---- what a port does ---- */

/* Priorities for which it stops when told to, and tells others to: PFC that is in force. */
unsigned wf_conf_pfc_rx(const struct wf_conf_port *port);
unsigned wf_conf_pfc_tx(const struct wf_conf_port *port);

/* It is up as far as is known, and no leftover of another list. */
bool wf_conf_is_active(const struct wf_conf_port *port);

/* The class of a DSCP; below 0: it does not look at it, or has no map. */
int wf_conf_tc_of(const struct wf_conf_port *port, unsigned dscp);

/* To what a class, or a priority of PFC, leads. */
int wf_conf_map_to(const struct wf_conf_port *port, enum wf_conf_map_kind kind, unsigned from);

/* Whether PFC protects a class where it comes in by this port: it has others stop for it. */
bool wf_conf_protects(const struct wf_conf_port *port, int tc);

/* Bytes that are under way on a cable of so many cm and back, at a speed. */
uint64_t wf_conf_on_cable(int64_t cm, int64_t speed);

#endif
