/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim.h - a fabric in virtual time: topology + configuration + flows in, results out.
 */
#ifndef WF_SIM_SIM_H
#define WF_SIM_SIM_H

#include "base/err.h"
#include "base/hist.h"
#include "base/mem.h"
#include "fabric/config.h"
#include "fabric/setup.h"
#include "rdma/counter.h"
#include "sim/look/counts.h"
#include "sim/prog/cc_choice.h"
#include "sim/traffic/traffic.h"
#include "tcp/counter.h"
#include "topo/topo.h"

struct wf_sim_app;
struct wf_gate_ops;
struct wf_sharp;
struct wf_storage_entry;
struct wf_storage_result;

/* What goes wrong at a time, or is right again. */
enum wf_sim_fault_kind {
	WF_SIM_FAULT_LINK,    /* what: a link of the topology; on: it is down */
	WF_SIM_FAULT_STORM,   /* what: a host; on: it lets nobody send to it */
	WF_SIM_FAULT_SLOW,    /* what: a host; on: its adapter takes in no more than rate */
	WF_SIM_FAULT_NODE,    /* what: a node, which has another setup from then on */
	WF_SIM_FAULT_PORT,    /* what: a port, by its number in the topology; the same */
	WF_SIM_FAULT_NOTHING, /* it was planned, and is not to happen */
};

struct wf_sim_fault {
	wf_time at;
	wf_time every; /* it happens again so much later, and again; 0: once */
	enum wf_sim_fault_kind kind;
	bool on;
	uint16_t setup; /* its number, as in struct wf_devices */
	uint32_t what;
	uint64_t rate; /* bits/s */
};

struct wf_device;
struct wf_sim;
struct wf_store;

/*
 * Who manages a fabric of InfiniBand: gives each device its station (fabric/station.h), which is
 * there before anything runs. Called once for each node of the topology, in the order of their ids.
 * Returns 0, -ENOMEM, or -EINVAL with err filled.
 */
struct wf_sim_manager {
	int (*make)(void *arg, struct wf_sim *sim, struct wf_device *dev, struct wf_store *mads,
	            struct wf_err *err);
	/* After every window, while no node runs; NULL: nothing. Returns 0 or -ENOMEM. */
	int (*window)(void *arg, wf_time now);
	void *arg;
	/* A link is about to come up, while no node runs; NULL: as it was. */
	void (*train)(void *arg, uint32_t link, wf_time now);
	/* The LID that a host has; NULL: nobody is asked. */
	uint16_t (*lid)(void *arg, uint32_t host);
};

struct wf_sim_cfg {
	const struct wf_topo *topo;         /* borrowed for the life of the simulation */
	const struct wf_fabric_cfg *fabric; /* borrowed until wf_sim_create() returns */
	/* Devices that have a configuration of their own; borrowed for its life. NULL: none has. */
	const struct wf_devices *devices;
	const struct wf_cc_choice *cc;    /* borrowed for its life; NULL: no congestion control */
	const struct wf_flow_spec *flows; /* borrowed until wf_sim_create() returns */
	size_t n_flows;
	/*
	 * Programs on the hosts (sim/prog/app.h), alone or beside flows over queue pairs; copied,
	 * what its arg points to must live as long as the simulation. NULL: flows alone.
	 */
	const struct wf_sim_app *app;
	/*
	 * Hosts that use the drives of others (sim/storage/storage.h), beside flows over queue
	 * pairs and programs; borrowed for its life.
	 */
	const struct wf_storage_entry *storage;
	size_t n_storage;
	/*
	 * Hosts whose programs are outside (sim/host/gate.h, sim/host/gated.h), in place of flows
	 * and programs; borrowed for the life of the simulation, as gate_arg is. NULL: they are
	 * not.
	 */
	const struct wf_gate_ops *gate;
	void *gate_arg;
	/* Who reduces in switches (fabric/sharp.h); borrowed for its life. NULL: nobody does. */
	const struct wf_sharp *sharp;
	const struct wf_sim_manager *manager; /* borrowed as faults are; NULL: nobody */
	const struct wf_sim_fault *faults;    /* borrowed until wf_sim_create() returns */
	size_t n_faults;
	wf_time reconverge;     /* a link change to new routes everywhere */
	wf_time deadlock_check; /* looks for deadlocks every so often; 0: not while it runs */
	bool stop_at_deadlock;  /* the run ends with the first that is found then */
	wf_time until;          /* stop at this virtual time even if flows are unfinished */
	uint64_t seed;
	unsigned threads;   /* 1..64 */
	size_t max_memory;  /* bytes of each share of the devices; 0: what the system has */
	struct wf_mem *mem; /* for all but devices; outlives the simulation. NULL: the heap */
};

/* TCP, of all hosts together. */
struct wf_sim_tcp {
	uint32_t hosts; /* that have connections; 0: there is no TCP */
	uint64_t counter[WF_TCP_CTRS];
	uint64_t busy;      /* ps that CPU cores worked for it */
	uint64_t cores;     /* that they have for it */
	uint64_t host_busy; /* the same of the host that worked most, */
	uint32_t host_cores;
	uint64_t core_busy; /* and of the core that did */
};

struct wf_sim_result {
	wf_time end;   /* virtual time at which the run ended */
	bool finished; /* every flow was delivered and acknowledged, and the programs are done */
	uint64_t flows, flows_done;
	uint64_t flows_failed; /* their queue pair went into error */
	uint64_t packets_sent, packets_delivered, packets_dropped,
		packets_inside;         /* data and ACKs */
	uint64_t bytes_delivered;       /* payload, without repeats */
	uint64_t resent;                /* data packets sent again */
	uint64_t hops;                  /* packet transmissions on links, control included */
	uint64_t windows;               /* engine windows run */
	uint64_t adapters[WF_COUNTERS]; /* what adapters count, all added up; 0 where none is */
	struct wf_sim_tcp tcp;
	uint64_t max_switch_bytes; /* largest occupancy of any switch's shared buffer */
	unsigned n_queues;
	struct wf_sim_counts queue[WF_MAX_QUEUES]; /* sums over all ports; maxima for max_* */
	struct wf_sim_counts whole;                /* the same of what is of whole ports */
	uint8_t queue_id[WF_MAX_QUEUES];           /* priority or VL, as printed */
	struct wf_hist packet_latency; /* ps: first bit out of the sender to delivered; data only */
	struct wf_hist flow_time;      /* ps: flow start to last byte delivered */
	wf_time last_delivery;         /* when the last byte arrived */
	size_t memory;                 /* bytes the simulation took */
};

struct wf_sim;
struct wf_packet;

/*
 * Builds the simulation. On success *sim_p is owned by the caller. Returns 0, -EINVAL with err
 * filled (a configuration that cannot be), or -ENOMEM.
 */
int wf_sim_create(const struct wf_sim_cfg *cfg, struct wf_sim **sim_p,
                  struct wf_err *err) WF_MUST_USE;

#define WF_SIM_ALL 65536

/*
 * How much of what is to be done has been done, of WF_SIM_ALL: by the packets that flows have
 * delivered of those that they need, and by the application's word. At a guess, as packets may be
 * sent again, but the same on any number of threads. 0 where nobody knows.
 */
uint32_t wf_sim_share(const struct wf_sim *sim);

/*
 * Called between windows on the calling thread now and then; share as wf_sim_share() has it.
 * Returning false ends the run.
 */
typedef bool wf_sim_progress_fn(void *arg, wf_time now, uint64_t hops, uint32_t share);

/* What a packet of a managed fabric is on its wire besides. */
struct wf_sim_lids {
	uint16_t slid, dlid;
	const uint8_t
		*mad; /* of a management packet, WF_MAD_LEN bytes; NULL: it has its own form */
};

/*
 * Told of every packet that a tapped port puts on its wire, link control too: when its first bit
 * leaves, on the thread that runs the port. Calls for one port come in the order of time.
 */
typedef void wf_sim_tap_fn(void *arg, uint32_t node, unsigned port, const struct wf_packet *pkt,
                           const struct wf_sim_lids *lids, wf_time now);

/* Who is told; before the run. */
void wf_sim_set_tap(struct wf_sim *sim, wf_sim_tap_fn *fn, void *arg);

/* Taps a port; before the run. Returns 0, or -EINVAL when there is no such port. */
int wf_sim_tap_port(struct wf_sim *sim, uint32_t node, unsigned port) WF_MUST_USE;

/*
 * Has every packet that a host sends or receives written as bytes, read back and compared; before
 * the run, which a difference ends with -EBADMSG. Returns 0 or -ENOMEM.
 */
int wf_sim_check_wire(struct wf_sim *sim) WF_MUST_USE;

/* How many were. */
uint64_t wf_sim_wire_checked(const struct wf_sim *sim);

/* 0, or -EBADMSG with both packets of the first difference in err. */
int wf_sim_wire_result(const struct wf_sim *sim, struct wf_err *err) WF_MUST_USE;

/*
 * Runs to the end. progress may be NULL. Returns 0, -ENOMEM, -EAGAIN when threads cannot be
 * started, or -EBADMSG when the check of the packets' bytes found a difference.
 */
int wf_sim_run(struct wf_sim *sim, wf_sim_progress_fn *progress, void *arg) WF_MUST_USE;

/*
 * The same up to another time than the configuration's; it can be called again, with a later one.
 * *end_p is wf_sim_now().
 */
int wf_sim_run_until(struct wf_sim *sim, wf_time until, wf_time *end_p) WF_MUST_USE;

/* While it stands: the time up to which everything has run; it never goes back. */
wf_time wf_sim_now(const struct wf_sim *sim);

/* While it stands: lets time pass without events, up to until or to when something is due. */
void wf_sim_rest(struct wf_sim *sim, wf_time until);

/* Payloads of packets that have neither arrived nor been dropped; 0 where data is not carried. */
uint64_t wf_sim_payload_in_use(const struct wf_sim *sim);

/* What happened. */
void wf_sim_result(const struct wf_sim *sim, struct wf_sim_result *result);

/* What entry i of the storage has come to. */
void wf_sim_storage_result(const struct wf_sim *sim, size_t i, struct wf_storage_result *result);

/* When flow i (in the order given) started: as it was given, or, of a turn, when it was. */
wf_time wf_sim_flow_start(const struct wf_sim *sim, size_t i);

/* When flow i was delivered; WF_TIME_NEVER if it was not. */
wf_time wf_sim_flow_end(const struct wf_sim *sim, size_t i);

/* How far a flow has come, and what limits it. */
struct wf_sim_flow_state {
	uint64_t acked;  /* bytes that its sender knows to have arrived, in whole packets */
	uint64_t rate;   /* bits/s at which congestion control lets it send; 0: it has none */
	uint64_t window; /* bytes that may be unacknowledged; 0: any number */
};

/* Of flow i, between windows of the engine. */
void wf_sim_flow_state(const struct wf_sim *sim, size_t i, struct wf_sim_flow_state *state);

/* How many flows there are. */
size_t wf_sim_flows(const struct wf_sim *sim);

/* Frees a simulation. NULL is allowed. */
void wf_sim_destroy(struct wf_sim *sim);

#endif
