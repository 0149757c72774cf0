/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario.h - one YAML file that says what to simulate: topology, fabrics, traffic, faults.
 *
 * docs/scenario.md is the manual. Reading and building are two steps: after wf_scenario_read()
 * every file has been read (infiles.h knows which), every value is set and checked by itself and
 * against its neighbours; wf_scenario_build() reads nothing: it makes the topology and lists the
 * flows, and checks what only then can be checked. Several fabrics are
 * several runs of the same traffic between the same hosts; fabrics whose topology comes to the same
 * share one network.
 */
#ifndef WF_SCENARIO_SCENARIO_H
#define WF_SCENARIO_SCENARIO_H

#include "fabric/config.h"
#include "scenario/bill.h"
#include "scenario/devices.h"
#include "scenario/paths.h"
#include "scenario/fabric_table.h"
#include "scenario/faults.h"
#include "scenario/infiles.h"
#include "scenario/job.h"
#include "scenario/settings.h"
#include "scenario/storage.h"
#include "sim/sim.h"
#include "sim/traffic/traffic.h"
#include "topo/topo.h"

#define WF_SCENARIO_MAX_FABRICS 16
#define WF_SCENARIO_MAX_TRAFFIC 64
#define WF_SCENARIO_LABEL 40
#define WF_SCENARIO_MAX_WIRES 64
#define WF_SCENARIO_MAX_SEEDS 100

/* The values of the scenario itself. */
struct wf_scenario_cfg {
	char name[128];
	uint64_t seed;
	wf_time until;
	wf_time reconverge;
	wf_time deadlock_check;
	bool stop_at_deadlock;
	char matters[128]; /* weft compare: scenario/words.h */
	char compare_collective[24];
	char compare_sizes[256];
	uint32_t compare_seeds;
	char live_pace[8];   /* weft up: "wall", "none" or "direct" */
	uint64_t live_class; /* of packets with service level 0; WF_PARAM_AUTO: the lossless one */
};

extern const struct wf_param wf_scenario_params[];
extern const size_t wf_scenario_n_params;

/* A network that one fabric has, or several have. */
struct wf_scenario_net {
	struct wf_topo_cfg cfg; /* what it was built from */
	struct wf_topo *topo;
};

struct wf_scenario_fabric {
	char label[WF_SCENARIO_LABEL]; /* heads its column; each is different */
	union {
		struct wf_fabric_values values;
		struct wf_fabric_cfg cfg; /* its first member */
	};
	struct wf_classes classes;
	unsigned states; /* bits of enum wf_state (scenario/words.h) */
	struct wf_settings settings;
	struct wf_place place;

	struct wf_bill_files parts; /* that its network would be made of */

	/* made by wf_scenario_build() */
	const struct wf_scenario_net *net; /* one of the scenario's, which owns it */
	struct wf_bill bill;               /* what that is made of */
	struct wf_device_table devices;    /* what each device is set to */
	struct wf_sim_fault *events;       /* the scenario's faults, on its network */
	size_t n_events, events_room;
};

struct wf_scenario_traffic {
	struct wf_traffic_cfg cfg;
	struct wf_settings settings;
	struct wf_place place;
};

struct wf_scenario_job {
	bool given;
	struct wf_job_cfg cfg;
	struct wf_settings settings;
	struct wf_place place;
};

struct wf_scenario {
	struct wf_arena arena; /* everything below that is read */
	const char *file;
	const char *text;      /* as it was read */
	const char *overrides; /* what changed it on the command line, a line each; "" */
	struct wf_scenario_cfg cfg;
	struct wf_settings settings;
	struct wf_infiles *inputs; /* the files that went into all that is here */
	struct wf_topo_cfg topo_cfg;
	const char *topo_file; /* its path and text, where the topology is read from one */
	const char *topo_text;
	size_t topo_len;
	struct wf_settings topo_settings;
	struct wf_place topo_place;
	struct wf_scenario_fabric *fabrics;
	unsigned n_fabrics;
	struct wf_device_rule **rules;
	unsigned n_rules;
	struct wf_scenario_traffic *traffic;
	unsigned n_traffic;
	struct wf_scenario_storage *storage;
	unsigned n_storage;
	struct wf_scenario_fault *faults;
	unsigned n_faults;
	bool endless; /* programs run on it, and run.until does not end it */
	struct wf_scenario_job job;
	const char *wires[WF_SCENARIO_MAX_WIRES]; /* live: "h1=192.0.2.1:4791" */
	unsigned n_wires;

	/* made by wf_scenario_build() */
	struct wf_scenario_net *nets; /* all different */
	unsigned n_nets;
	struct wf_flow_list flows;
	uint32_t n_hosts;   /* of every net */
	uint64_t host_rate; /* bits/s, the slowest host's of every net */
	uint32_t receivers; /* hosts that at least one flow goes to */

	struct wf_storage_entry *storage_entries; /* n_storage of them */
};

/* A value given on the command line: "--set fabric.ecn.kmin=50KB". */
struct wf_override {
	const char *where; /* as it was written */
	const char *name;
	const char *value;
};

struct wf_scenario_opts {
	const struct wf_paths *paths;
	const char *fabrics;         /* "a,b": profiles to use instead of the scenario's; NULL */
	const char *default_fabrics; /* the same where the scenario names none; NULL: it must */
	const struct wf_override *overrides;
	size_t n_overrides;
	bool programs; /* programs will run on the hosts: no traffic is needed */
};

/*
 * Reads the scenario in the file at path. scenario may be handed to wf_scenario_fini() whatever is
 * returned: 0, -ENOMEM, or -EINVAL with err filled.
 */
int wf_scenario_read(struct wf_scenario *scenario, const char *path,
                     const struct wf_scenario_opts *opts, struct wf_err *err) WF_MUST_USE;

/* The same from text in memory, called name in messages. */
int wf_scenario_parse(struct wf_scenario *scenario, const char *text, size_t len, const char *name,
                      const struct wf_scenario_opts *opts, struct wf_err *err) WF_MUST_USE;

/* Builds networks, flows and faults. Returns 0, -ENOMEM, or -EINVAL with err filled. */
int wf_scenario_build(struct wf_scenario *scenario, struct wf_err *err) WF_MUST_USE;

/*
 * Says in a few words what lies between the hosts: "12 switches, 512 links", or where the networks
 * differ, "12 (ib-ndr) or 6 (roce-400g) switches"; the links are left out unless asked for.
 */
void wf_scenario_net_text(const struct wf_scenario *scenario, bool links, char *text, size_t size);

/*
 * The same with another seed: *copy borrows all that is in scenario, which is built, but its own
 * flows. Returns as wf_scenario_build(); copy goes to wf_scenario_reseed_fini() when it is 0.
 */
int wf_scenario_reseed(const struct wf_scenario *scenario, uint64_t seed, struct wf_scenario *copy,
                       struct wf_err *err) WF_MUST_USE;

void wf_scenario_reseed_fini(struct wf_scenario *copy);

/* Frees everything in it. */
void wf_scenario_fini(struct wf_scenario *scenario);

#endif
