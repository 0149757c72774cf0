/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.h - what a fabric is made of, as a person writes it in a profile.
 *
 * One flat struct and one table of rows (wf_fabric_params). The classes of traffic are compiled
 * from their text form once (classes.h).
 */
#ifndef WF_FABRIC_CONFIG_H
#define WF_FABRIC_CONFIG_H

#include <stdbool.h>

#include "base/base.h"
#include "base/err.h"
#include "base/param.h"
#include "fabric/config_drive.h"
#include "fabric/config_sharp.h"
#include "fabric/config_tcp.h"

/*
 * What may have a value of its own for a parameter (struct wf_param.per); a row without any is of
 * the whole fabric.
 */
#define WF_PER_HOST 1u   /* a host's adapter */
#define WF_PER_SWITCH 2u /* a switch */
#define WF_PER_PORT 4u   /* a port of the above, where they are named, else of either */
#define WF_PER_LINK 8u   /* a link, the same at both ends */
#define WF_PER_TIME 16u  /* and it may change while the fabric runs */

#define WF_MAX_QUEUES 16  /* queues (traffic classes or virtual lanes) of a port */
#define WF_MAX_CLASSES 16 /* priorities or service levels in packets */
#define WF_NAME 16
#define WF_WATCHDOG_NAME 24
#define WF_ECN_TEXT 512
#define WF_ECN_RATES 8
#define WF_HEADROOM_TEXT 1024
#define WF_HEADROOM_ROWS 32

/*
 * A switch's buffer has fewer than 2^32 bytes, so that what one lane has of it fits the 32 bits of
 * its counters (struct wf_lane), and a cell is small enough for wf_buffer_cost() to be exact.
 */
#define WF_BUFFER_MAX INT64_C(4000000000)
#define WF_CELL_MAX 4096
#define WF_RX_BUFFER UINT64_C(220896) /* nic.rx_buffer: auto */
#define WF_PINT_BASE_MIN 65937        /* units of 2^-16: with closer codes there are too many */
#define WF_ALPHA_MAX (128 * (int64_t)WF_RATIO_ONE)

struct wf_fabric_cfg {
	char link_layer[WF_NAME]; /* "infiniband" or "ethernet" */
	char flowctl[WF_NAME];    /* a name of wf_flowctl_all() */
	char routing[WF_NAME];    /* a name of wf_route_all() */
	char header[WF_NAME];     /* packet headers: wf_header_encap() */

	wf_time link_phy;         /* PHY and FEC, per link crossing */
	uint64_t link_gap;        /* bytes: preamble and inter-packet gap */
	uint64_t link_rate;       /* bits/s, at most the topology's; or auto: the topology's */
	uint64_t link_ber;        /* errors per 10^18 bits */
	uint64_t link_loss;       /* units of 2^-32: the same of a packet, whatever its size */
	uint64_t link_raw_ber;    /* errors per 10^18 bits that the FEC has to mend */
	uint64_t burst_ber;       /* the same in bursts; 0: there are none */
	wf_time burst_every;      /* mean time from the end of one to the next */
	wf_time burst_for;        /* and for which one lasts */
	char link_fec[WF_NAME];   /* a name of wf_fec_codes[] */
	uint64_t link_width;      /* units of 2^-16: the part of the topology's rate that came up */
	char link_retry[WF_NAME]; /* "none" or "llr": what is lost on a link is sent again there */
	uint32_t retry_max;       /* times that a packet is, before it is given up */
	wf_time retry_delay;      /* word of it made and taken, besides the way there and back */
	uint64_t retry_buffer;    /* bytes on their way or not yet confirmed; or auto: any number */
	char switch_model[WF_NAME]; /* of profiles/switches; "": not said */
	uint32_t switch_ports;      /* of one switch; 0: not said */
	wf_time switch_latency;     /* first bit in to first bit out, unloaded */
	wf_time switch_reconverge;  /* link change to new routes; auto = as all others */
	char switch_int[WF_NAME]; /* telemetry for packets that ask for it: auto, none, int, pint */
	uint64_t pint_base;       /* units of 2^-16: the ratio of two codes */
	wf_time pint_rtt;         /* what utilisation is averaged over */
	bool switch_cut;          /* cut-through where the rates allow; else store and forward */
	char nic_stack[8];        /* "rdma"; "tcp", a word for reports; "sockets": jobs use TCP */
	wf_time nic_doorbell;     /* work posted by the program to known by the adapter */
	wf_time nic_tx;           /* from there to the first bit out, when the data is there */
	wf_time nic_fetch;        /* reading host memory: a PCIe round trip */
	uint64_t nic_inline;      /* bytes that come with the doorbell and need no fetch */
	uint64_t nic_pcie;        /* bits/s between adapter and memory, each way */
	uint64_t nic_pcie_mps;    /* bytes: the largest payload of a TLP; or auto: TLPs are free */
	wf_time nic_rx;           /* last bit in to data in memory, and answered */
	char nic_rx_full[WF_NAME]; /* "auto", "endless", "pause" or "drop": wf_intake */
	uint64_t nic_rx_buffer;    /* bytes of each class, Ethernet; or auto */
	uint64_t nic_rx_xoff;      /* bytes of it above which a pause is sent; or auto */
	uint64_t nic_rx_xon;       /* bytes at which it ends; or auto */
	uint64_t nic_rx_rate;      /* bits/s that go to memory; or auto: nic_pcie */
	uint64_t nic_rx_packets;   /* per second, taken in; or auto: any number */
	uint64_t nic_mtt_misses;   /* units of 2^-32: packets whose address has to be fetched */
	uint64_t nic_messages;     /* per second, that begin to be sent; or auto: any number */
	uint64_t nic_qp_messages;  /* the same of one queue pair */
	uint64_t nic_rate_min;     /* bits/s of the host links that all this is made for; 0: any */
	uint64_t nic_rate_max;
	char nic_bond[WF_NAME];    /* of several ports: "affinity", "hash" or "active-backup" */
	char nic_bond_path[8];     /* "fixed" or "follow" */
	wf_time nic_bond_failover; /* link down to its queue pairs on another port */
	wf_time nic_bond_return;   /* link up to having them back */
	char nic_qp_port[8];       /* "turns" or "first": the port that a queue pair belongs to */
	char nic_apm[8];           /* "none" or "armed": queue pairs have an alternate path */
	wf_time nic_apm_load;      /* migrated to the next alternate path; or auto: none */
	wf_time nic_apm_return;    /* link up to migrating back; or auto: never */
	uint64_t mtu;              /* payload bytes of a full packet */
	uint64_t port_mtu; /* bytes: no larger IP packet (Ethernet) or payload passes; auto: any */
	char nic_dscp
		[128]; /* DSCP of each class's packets: wf_maps_parse(); auto: wf_wire_dscp() */
	uint64_t nic_cnp_dscp; /* of CNPs; or auto: as their class */

	/* What switches make of a packet, Ethernet: wf_maps_parse(); "auto": nothing is changed */
	char map_trust[8];      /* "dscp", "pcp" or "port" */
	uint32_t map_port_tc;   /* traffic class of all packets, trust port */
	char map_dscp_tc[256];  /* DSCP -> traffic class */
	char map_pcp_tc[64];    /* 802.1p -> traffic class */
	char map_tc_queue[64];  /* traffic class -> queue */
	char map_tc_pg[64];     /* traffic class -> priority group */
	char map_pfc_queue[64]; /* priority in a pause frame -> queue that stops */
	char map_pfc_pg[64];    /* the same -> priority group that sends it when it is full */
	char pfc_tx[64];        /* priorities for which pause frames are sent; auto: the lossless */
	char pfc_rx[64];        /* and obeyed */

	/* routing ecmp */
	char hash_fields[64]; /* "src,dst,sport" */
	uint64_t hash_seed;   /* or auto: another in each switch */

	/* Ethernet classes; the lists name priorities, "3,4" */
	char class_lossless[64];
	char class_strict[64];
	char class_ecn[64];
	char class_weights[128]; /* DWRR: "0:50,3:50" */
	char class_trim[8];      /* priority in which what is left of trimmed packets goes on */

	/* shared buffer (pfc, none) */
	uint64_t buffer_size;     /* bytes of a switch */
	uint64_t buffer_cell;     /* bytes; occupancy is counted in whole cells */
	uint64_t buffer_reserved; /* bytes of each port and lossless class */
	uint64_t buffer_headroom; /* bytes of each port and lossless class; auto = from the cable */
	char buffer_headroom_by[WF_NAME];             /* auto: "exact" or "sonic" */
	char buffer_headroom_table[WF_HEADROOM_TEXT]; /* auto: or a table's: wf_headroom_parse() */
	uint64_t buffer_small;       /* units of 2^-32: small packets that auto is ready for */
	uint64_t buffer_alpha;       /* units of 2^-16: free pool that an ingress class may take */
	uint64_t buffer_queue_alpha; /* the same for an egress queue of a lossy class */
	uint64_t buffer_trim_alpha;  /* the same for the queue of trimmed packets; or auto */
	uint64_t buffer_xon;         /* bytes below the XOFF threshold at which XON is sent */

	uint64_t ecn_kmin;              /* bytes */
	uint64_t ecn_kmax;              /* bytes */
	uint64_t ecn_pmax;              /* units of 2^-32 */
	char ecn_at[WF_NAME];           /* "enqueue" or "dequeue": when the queue is looked at */
	char ecn_by_rate[WF_ECN_TEXT];  /* other values for ports of a rate: wf_ecn_parse() */
	char ecn_by_class[WF_ECN_TEXT]; /* and for queues: wf_ecn_parse_classes() */

	uint64_t pfc_frame;   /* bytes of a pause frame */
	uint32_t pfc_quanta;  /* pause time in a frame, 512 bit times each */
	wf_time pfc_reaction; /* frame at the connector to nothing new there; auto = by the rate */

	/* PFC watchdog: wf_watchdog_compile() */
	char watchdog_rules[WF_WATCHDOG_NAME]; /* of switches: whose; "none" */
	char watchdog_action[8];               /* "auto", "drop", "forward", "alert" */
	wf_time watchdog_poll;                 /* auto = as the rules say, these three */
	wf_time watchdog_detect;               /* stuck for so long: it acts */
	wf_time watchdog_restore;              /* no pause frame for so long: it is over */
	wf_time watchdog_phase;                /* of polls; auto = another in each switch */
	char watchdog_adapter
		[WF_WATCHDOG_NAME]; /* the same of adapters, which stop sending pauses */
	wf_time watchdog_adapter_detect;
	uint32_t watchdog_speedup; /* all these times, and the rules', are divided by it */

	/* routing adaptive */
	uint64_t adaptive_low; /* bytes: where the grades of a port end; 0: bytes, no grades */
	uint64_t adaptive_medium;
	uint64_t adaptive_high;
	wf_time adaptive_delay; /* grades are computed every so often; 0: for every packet */
	wf_time adaptive_bind;  /* a flow keeps its port until it is silent for so long; 0: never */

	/* InfiniBand virtual lanes */
	uint32_t vl_count;     /* data VLs */
	uint64_t vl_buffer;    /* bytes of each port's receive buffer, per VL */
	char vl_sl2vl[64];     /* VL of each service level, OpenSM's qos_sl2vl: "0,1,2,..."; auto */
	char vl_arb_high[160]; /* OpenSM's qos_vlarb_high: "0:4,1:0" (VL:weight in 64 B); none */
	char vl_arb_low[160];  /* auto: every VL, the same weight */
	uint32_t vl_high_limit; /* units of 4 KiB that high may send before low; 255 = no limit */
	uint32_t vl_stall;      /* so many dropped by vl_hoq_life in a row: all are; 0 = never */
	wf_time vl_hoq_life;    /* at the head of a queue for longer: dropped; auto = never */
	wf_time vl_leaf_life;   /* the same of ports to hosts; auto = as vl_hoq_life */
	uint64_t vl_leaf_stall; /* the same of ports to hosts; or auto: as vl_stall */

	/* InfiniBand congestion control: SwitchCongestionSetting of annex A10 */
	uint32_t fecn_threshold;        /* 0: nobody marks; 1 (late) to 15 (early) */
	uint32_t fecn_rate;             /* mean number of packets passed over between two marked */
	uint32_t fecn_size;             /* 64-byte blocks; shorter packets are not marked */
	char fecn_victim_mask[WF_NAME]; /* ports that mark although they lack credits */

	/* the simple windowed sender */
	uint64_t sender_window;         /* bytes in flight per flow */
	uint32_t sender_ack;            /* packets per acknowledgement */
	wf_time sender_timeout;         /* resend what is not acknowledged */
	char sender_recovery[16];       /* queue pairs: "auto", "go-back-n" or "selective" */
	uint32_t sender_ack_class;      /* queue pairs: class of acknowledgements; 0: as the data */
	bool sender_spray;              /* queue pairs: every packet has an entropy of its own */
	char sender_placement[WF_NAME]; /* queue pairs: "in-order" or "direct" */
	struct wf_fabric_tcp tcp;
	/* drives of hosts that are storage targets: their rows are in wf_drive_params */
	struct wf_drive_cfg drive;
	struct wf_sharp_cfg sharp; /* switches that reduce */
};

/* When packets of a queue are marked. */
struct wf_ecn {
	uint64_t kmin, kmax; /* bytes */
	uint64_t pmax;       /* units of 2^-32 */
};

struct wf_ecn_rate {
	uint64_t rate; /* bits/s of the port */
	struct wf_ecn ecn;
};

/*
 * Compiles ecn.by_rate: "rate:kmin:kmax:pmax" with commas between, at most WF_ECN_RATES of them (
 * ecn.c). Returns 0, or -EINVAL with a message in err that begins with the parameter's name.
 */
int wf_ecn_parse(const char *text, struct wf_ecn_rate *rates, unsigned *n_p,
                 struct wf_err *err) WF_MUST_USE;

/*
 * The same for ecn.by_class: "priority:kmin:kmax:pmax". Sets ecn[p] of the priorities that are
 * named, of WF_MAX_CLASSES; their mask in *named_p.
 */
int wf_ecn_parse_classes(const char *text, struct wf_ecn *ecn, unsigned *named_p,
                         struct wf_err *err) WF_MUST_USE;

/* A row of a table of headrooms, as SONiC's pg_profile_lookup.ini has them. */
struct wf_headroom_row {
	uint64_t rate;   /* bits/s of the port */
	uint64_t length; /* of the cable, mm; the row holds up to it */
	uint64_t bytes;
};

/* The same for buffer.headroom_table: "rate:length:bytes", at most WF_HEADROOM_ROWS. */
int wf_headroom_parse(const char *text, struct wf_headroom_row *rows, unsigned *n_p,
                      struct wf_err *err) WF_MUST_USE;

extern const struct wf_param wf_fabric_params[];
extern const size_t wf_fabric_n_params;

/*
 * Checks what no single row can: that the values of cfg fit each other. Returns 0, or -EINVAL with
 * a message in err of the form "<name of the parameter to change>: <what is wrong>; <what is
 * right>".
 */
int wf_fabric_check(const struct wf_fabric_cfg *cfg, struct wf_err *err) WF_MUST_USE;

/*
 * Checks that hosts may have so many ports in a fabric of cfg. Returns as wf_fabric_check(); what
 * is wrong may be topology.ports.
 */
int wf_fabric_check_ports(const struct wf_fabric_cfg *cfg, uint32_t ports,
                          struct wf_err *err) WF_MUST_USE;

/* Checks that cfg is made for hosts with links of rate. Returns as wf_fabric_check(). */
int wf_fabric_check_rate(const struct wf_fabric_cfg *cfg, uint64_t rate,
                         struct wf_err *err) WF_MUST_USE;

#endif
