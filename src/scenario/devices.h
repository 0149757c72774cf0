/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devices.h - settings of single devices: a scenario's `devices:`.
 *
 *	devices:
 *	  leaf3: {ecn: {kmin: 1MB}}         # a switch or a host
 *	  spine*: {pfc: {tx: none}}         # all whose names fit; also hosts, switches, tier1 ...
 *	  leaf0:5: {port: {mtu: 1500}}      # a port by its number, or by what it leads to: leaf0:h5
 *	  leaf0-spine1: {link: {ber: 1e-9}} # a link, at both ends; leaf0-spine1/2: the second one
 *
 * Each entry is a rule. What a device has is its fabric's profile with all rules over it that fit
 * its name, in the order of the file, those of the fabric after those of the scenario; what a port
 * has is what its device has, with the rules for ports and links over it. Devices for which the
 * same rules hold share one set of values.
 */
#ifndef WF_SCENARIO_DEVICES_H
#define WF_SCENARIO_DEVICES_H

#include "fabric/setup.h"
#include "scenario/fabric_table.h"
#include "scenario/settings.h"

#define WF_SCENARIO_MAX_RULES 256

struct wf_scenario;
struct wf_scenario_fabric;
struct wf_scenario_net;

struct wf_device_rule {
	const char *name; /* as it is written, with * and ? */
	int fabric;       /* the only one it is for; -1: for all */
	bool timed;       /* a fault: it holds from at to until (WF_PARAM_AUTO: for good) */
	wf_time at, until;
	struct wf_place place;
	struct wf_settings settings; /* what it sets has a place */
	struct wf_fabric_values values;
};

/* Rules of a scenario that hold for something: a bit each. */
struct wf_rule_set {
	uint64_t bit[WF_SCENARIO_MAX_RULES / 64];
};

/* Values that some devices or ports share, and by which rules they came about. */
struct wf_device_variant {
	struct wf_fabric_values values;
	struct wf_rule_set device, port,
		link; /* rules for its device; for it; for the link's values */
	bool is_host;
};

/* What the devices of a fabric have. */
struct wf_device_table {
	struct wf_devices devices;          /* n 0: all have the fabric's own */
	struct wf_device_variant **variant; /* devices.n of them */
};

/* For struct wf_sim_cfg: NULL where all devices are alike. */
static inline const struct wf_devices *wf_devices_of(const struct wf_device_table *t)
{
	return t->devices.n != 0 ? &t->devices : NULL;
}

/*
 * Reads a mapping of rules, for a fabric or for all (-1). Returns 0, -ENOMEM, or -EINVAL with err.
 */
int wf_devices_read(struct wf_scenario *s, const struct wf_ynode *mapping, int fabric,
                    struct wf_err *err) WF_MUST_USE;

/* The same of the settings of a fault, of which all but its rule is known. */
struct wf_scenario_fault;
int wf_devices_read_fault(struct wf_scenario *s, const struct wf_ynode *mapping,
                          const struct wf_scenario_fault *fault, struct wf_err *err) WF_MUST_USE;

/*
 * Finds what each device and port of a fabric has, on its network, and checks it; faults that
 * change it become events of the fabric. Returns the same.
 */
int wf_devices_build(struct wf_scenario *s, struct wf_scenario_fabric *f,
                     struct wf_err *err) WF_MUST_USE;

/*
 * As wf_settings_err() for what a fabric says: with the place of the last rule that sets what the
 * message names, if one does. Always returns -EINVAL.
 */
int wf_devices_err(const struct wf_scenario *s, const struct wf_scenario_fabric *f,
                   const struct wf_err *why, struct wf_err *err);

/*
 * Where the value of a row comes from in what a device (port WF_TOPO_NONE) or one of its ports has:
 * its rule's place, or the fabric's. *values_p: what it has.
 */
struct wf_place wf_devices_place(const struct wf_scenario *s, const struct wf_scenario_fabric *f,
                                 uint32_t node, uint32_t port, size_t row,
                                 const struct wf_fabric_values **values_p);

/*
 * Finds the one device, or its port (else *port_p is WF_TOPO_NONE), that name means on a network.
 * Returns 0 or -EINVAL with err filled.
 */
int wf_devices_find(const struct wf_scenario_net *net, const char *name, uint32_t *node_p,
                    uint32_t *port_p, struct wf_err *err) WF_MUST_USE;

#endif
