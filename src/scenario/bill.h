/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bill.h - what a fabric's network is made of: switches, cables, transceivers, watts and dollars.
 *
 * What is counted follows from the topology. What a part costs and takes is in files with their
 * sources, profiles/switches (named by the fabric's switch.model) and profiles/cables (named by the
 * rate, "400g"), which anybody can replace; a figure that no source has is 0 there and not known
 * here. Adapters and servers are not part of it: they are the same for every fabric.
 */
#ifndef WF_SCENARIO_BILL_H
#define WF_SCENARIO_BILL_H

#include <stdbool.h>

#include "base/err.h"
#include "base/param.h"
#include "scenario/paths.h"

struct wf_scenario;
struct wf_scenario_fabric;
struct wf_scenario_net;

/* A switch, as its file says. 0: not known. */
struct wf_switch_part {
	uint32_t watts_low, watts_high; /* usual traffic, without transceivers */
	uint32_t price_low, price_high; /* US dollars */
};

/* The cables of a rate. Prices are of a whole link, in US dollars; 0: not known. */
struct wf_cable_part {
	uint64_t copper_reach; /* mm, from a switch to a host: what is longer is fibre */
	uint64_t switch_reach; /* the same between switches */
	uint32_t copper_mw;    /* of a whole cable */
	uint32_t copper_low, copper_high;
	uint32_t fibre_low, fibre_high; /* with the transceivers of both ends */
	uint32_t host_mw;               /* of a transceiver in an adapter */
	uint32_t switch_mw;             /* of one in a switch */
	uint32_t switch_ports;          /* of one in a switch */
};

extern const struct wf_param wf_switch_params[];
extern const size_t wf_switch_n_params;
extern const struct wf_param wf_cable_params[];
extern const size_t wf_cable_n_params;

/* The parts of a network; NULL: not known. */
struct wf_bill_parts {
	const struct wf_switch_part *sw;
	const struct wf_cable_part *host;   /* cables from host to switch */
	const struct wf_cable_part *fabric; /* between switches */
	uint32_t ports;                     /* that such a switch has; 0: not said */
};

/* The same, as they are read. */
struct wf_bill_files {
	struct wf_switch_part sw;
	struct wf_cable_part host, fabric;
	bool has_sw, has_host, has_fabric;
};

/* At least and at most; high 0: not known. */
struct wf_bill_range {
	uint64_t low, high;
};

struct wf_bill {
	uint32_t switches;
	uint32_t tiers;
	uint32_t ports;      /* of one switch; 0: not said */
	uint32_t most_ports; /* that one of them uses */
	uint64_t ports_used; /* by all of them */
	uint64_t host_cables;
	uint64_t switch_cables;
	/*
	 * Of all cables, by their lengths; not known where these or the cables of the rate are not.
	 */
	bool media_known;
	uint64_t copper, fibre;
	uint64_t transceivers;
	struct wf_bill_range watts;   /* switches, cables and transceivers */
	struct wf_bill_range dollars; /* the same */
};

/* Counts what net is made of. */
void wf_bill_count(const struct wf_scenario_net *net, const struct wf_bill_parts *parts,
                   struct wf_bill *bill);

/*
 * Fills fabric->parts from the files of its parts. Returns 0, -ENOMEM, or -EINVAL with err filled
 * when switch.model names none or a file is wrong.
 */
int wf_bill_read(struct wf_scenario *scenario, struct wf_scenario_fabric *fabric,
                 const struct wf_paths *paths, struct wf_err *err) WF_MUST_USE;

/* Fills fabric->bill from these and its network, which is built. */
void wf_bill_make(struct wf_scenario_fabric *fabric);

#endif
