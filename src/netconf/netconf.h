/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netconf.h - what the configurations of a network say, whoever made the devices.
 *
 * Readers (read.h) fill it, checks (check.h) look at it. Words are those of IEEE 802.1Q and SONiC:
 * a packet's DSCP or PCP gives it a traffic class (TC), the class a priority group (PG) of the
 * buffer where it came in and a queue where it leaves; PFC stops priorities. An adapter is a
 * device with a port for each of its interfaces, whose TCs are its priorities.
 *
 * Every value knows whether it was said, or is what the vendor has where nothing is said, and
 * where. Texts are interned: equal texts are one pointer. All of it is in one arena.
 */
#ifndef WF_NETCONF_NETCONF_H
#define WF_NETCONF_NETCONF_H

#include <stdbool.h>

#include "base/err.h"
#include "base/mem.h"

#define WF_CONF_TCS 8
#define WF_CONF_DSCPS 64
#define WF_CONF_MAX_PORTS 4096 /* of a device */
#define WF_CONF_NONE UINT32_MAX

struct wf_conf_place {
	const char *key; /* "PORT_QOS_MAP|Ethernet0|pfc_enable"; NULL: only the line is known */
	uint32_t file;   /* index into files; WF_CONF_NONE: nowhere */
	uint32_t line;   /* 0: the file as a whole */
};

enum wf_conf_said { WF_CONF_UNSET, WF_CONF_DEFAULT, WF_CONF_SAID };

struct wf_conf_value {
	int64_t v;
	struct wf_conf_place at;
	enum wf_conf_said said;
};

enum wf_conf_fec { WF_CONF_FEC_NONE, WF_CONF_FEC_RS, WF_CONF_FEC_FC, WF_CONF_FEC_AUTO };

/* Bits of struct wf_conf_port's trust. */
enum wf_conf_trust { WF_CONF_TRUST_L2 = 1, WF_CONF_TRUST_L3 = 2 };

enum wf_conf_action {
	WF_CONF_ACTION_DROP,
	WF_CONF_ACTION_FORWARD,
	WF_CONF_ACTION_ALERT,
	WF_CONF_ACTION_ERRDISABLE
};

enum wf_conf_map_kind {
	WF_CONF_DSCP_TC,
	WF_CONF_PCP_TC,
	WF_CONF_TC_PG,
	WF_CONF_TC_QUEUE,
	WF_CONF_PFC_QUEUE, /* PFC's priority to the queue that it stops */
	WF_CONF_PFC_PG,    /* PFC's priority to the group for which it is sent */
	WF_CONF_MAPS
};

/*
 * What has a name and is referred to by it. Where nothing defines it, only the reference is
 * known.
 */
struct wf_conf_named {
	struct wf_conf_named *next; /* of the same device and kind, the last one first */
	const char *name;
	struct wf_conf_place at;
	bool defined, used;
};

struct wf_conf_map {
	struct wf_conf_named is;
	int8_t to[WF_CONF_DSCPS]; /* below 0: not said */
	uint32_t line[WF_CONF_DSCPS];
};

struct wf_conf_pool {
	struct wf_conf_named is;
	struct wf_conf_value egress, dynamic, size, xoff; /* bytes; xoff: shared headroom */
};

struct wf_conf_profile {
	struct wf_conf_named is;
	struct wf_conf_pool *pool;
	struct wf_conf_place pool_at;
	struct wf_conf_value size, xon, xoff, xon_offset; /* bytes */
	struct wf_conf_value dynamic_th, static_th;       /* alpha = 2^dynamic_th; bytes */
	struct wf_conf_value computed; /* the switch sizes it itself: nothing is missing */
};

struct wf_conf_wred {
	struct wf_conf_named is;
	struct wf_conf_value ecn, drop;        /* marks; drops where it does not mark */
	struct wf_conf_value min, max, chance; /* bytes, bytes, per cent */
};

struct wf_conf_sched {
	struct wf_conf_named is;
	struct wf_conf_value strict, weight;
};

struct wf_conf_pg {
	struct wf_conf_profile *profile;
	struct wf_conf_place at;
	bool by_switch; /* the switch computes its profile: SONiC's dynamic model */
};

struct wf_conf_queue {
	struct wf_conf_sched *sched;
	struct wf_conf_wred *wred;
	struct wf_conf_profile *profile;
	struct wf_conf_place sched_at, wred_at, profile_at;
	struct wf_conf_value
		guaranteed; /* 1: it has bandwidth of its own (EOS' watchdog wants it) */
};

/* DCQCN of an adapter: X(id, "name of the firmware, without _P1"). */
#define WF_CONF_DCQCN(X)                                                                           \
	X(TIME_RESET, "RPG_TIME_RESET")                                                            \
	X(BYTE_RESET, "RPG_BYTE_RESET")                                                            \
	X(THRESHOLD, "RPG_THRESHOLD")                                                              \
	X(MAX_RATE, "RPG_MAX_RATE")                                                                \
	X(AI_RATE, "RPG_AI_RATE")                                                                  \
	X(HAI_RATE, "RPG_HAI_RATE")                                                                \
	X(GD, "RPG_GD")                                                                            \
	X(MIN_DEC_FAC, "RPG_MIN_DEC_FAC")                                                          \
	X(MIN_RATE, "RPG_MIN_RATE")                                                                \
	X(FIRST_RATE, "RATE_TO_SET_ON_FIRST_CNP")                                                  \
	X(TCP_G, "DCE_TCP_G")                                                                      \
	X(TCP_RTT, "DCE_TCP_RTT")                                                                  \
	X(MONITOR, "RATE_REDUCE_MONITOR_PERIOD")                                                   \
	X(ALPHA, "INITIAL_ALPHA_VALUE")                                                            \
	X(CNP_GAP, "MIN_TIME_BETWEEN_CNPS")                                                        \
	X(CLAMP, "CLAMP_TGT_RATE")                                                                 \
	X(CLAMP_TIME, "CLAMP_TGT_RATE_AFTER_TIME_INC")

#define WF_CONF_DCQCN_ENUM(id, name) WF_CONF_DCQCN_##id,
enum wf_conf_dcqcn { WF_CONF_DCQCN(WF_CONF_DCQCN_ENUM) WF_CONF_N_DCQCN };
#undef WF_CONF_DCQCN_ENUM

extern const char *const wf_conf_dcqcn_names[];

/* What an adapter has beyond a port. */
struct wf_conf_nic {
	struct wf_conf_value tos;               /* of RDMA-CM: cma_roce_tos */
	struct wf_conf_value tclass;            /* of all: sysfs tc/1/traffic_class */
	struct wf_conf_value np, np_seen;       /* priorities with DCQCN: they send CNPs */
	struct wf_conf_value rp, rp_seen;       /* and slow down; seen: of which it is known */
	struct wf_conf_value cc_mask;           /* of the firmware: ROCE_CC_PRIO_MASK */
	struct wf_conf_value cnp_dscp, cnp_pcp; /* how CNPs are marked */
	struct wf_conf_value dcqcn[WF_CONF_N_DCQCN];
};

struct wf_conf_device;

struct wf_conf_port {
	const char *name, *alias; /* alias NULL: none */
	struct wf_conf_device *device;
	struct wf_conf_place at;
	struct wf_conf_value speed; /* bits/s */
	struct wf_conf_value
		mtu; /* bytes: of the whole frame or of its payload, as the vendor has it */
	struct wf_conf_value fec, up, lanes;
	struct wf_conf_value cable; /* cm */
	struct wf_conf_value trust;
	struct wf_conf_map *map[WF_CONF_MAPS];
	struct wf_conf_place map_at[WF_CONF_MAPS];
	struct wf_conf_value pfc_rx, pfc_tx; /* masks of priorities */
	struct wf_conf_value pfc_mode;       /* 1 on, 0 off, 2: as the peer says by DCBX */
	struct wf_conf_value wd;             /* a mask: what the watchdog watches */
	struct wf_conf_value wd_detect, wd_restore, wd_poll; /* us */
	struct wf_conf_value wd_action;                      /* enum wf_conf_action */
	struct wf_conf_pg pg[WF_CONF_TCS];
	struct wf_conf_queue queue[WF_CONF_TCS];
	const char *bundle;    /* the port-channel that it is a member of */
	bool is_bundle;        /* it is one; gone when all is read */
	const char *policy[3]; /* that apply to it: of a reader's own, until all is read */
	struct wf_conf_place policy_at[3];
	struct wf_conf_nic *nic; /* NULL: a switch's port */
	uint32_t link;           /* index into links; WF_CONF_NONE */
	bool defined;            /* where ports are listed it is among them */
	bool has_qos;            /* something is said of its maps or PFC */
	bool fabric;             /* between switches, as routing or a description says */
};

enum wf_conf_form {
	WF_CONF_FORM_NONE, /* only heard of from others */
	WF_CONF_FORM_SONIC,
	WF_CONF_FORM_NVUE,
	WF_CONF_FORM_CUMULUS, /* datapath.conf, traffic.conf, qos_features.conf */
	WF_CONF_FORM_EOS,
	WF_CONF_FORM_NXOS,
	WF_CONF_FORM_NIC,
	WF_CONF_FORMS
};

extern const char *const wf_conf_form_names[];

struct wf_conf_device {
	const char *name;
	struct wf_conf_place at;
	enum wf_conf_form form;
	const char *sku, *platform, *role; /* NULL: not said */
	struct wf_conf_port **ports;       /* in the order of the files */
	uint32_t n_ports, room_ports;
	struct wf_conf_named *maps[WF_CONF_MAPS], *pools, *profiles, *wreds, *scheds;
	struct wf_conf_named *classes, *policies; /* of a reader's own, until all is read */
	struct wf_conf_value dynamic_buffers;     /* SONiC computes profiles */
	struct wf_conf_value oversubscribe; /* in thousandths; from 1000 on headroom is shared */
	struct wf_conf_value wd_on, wd_poll, wd_default, wd_detect, wd_restore, wd_action;
	struct wf_conf_value hash_seed;
	struct wf_conf_value asn;
	const char *hash; /* its algorithm, as it is written */
	struct wf_conf_value buffers_said;
	struct wf_conf_value ports_listed; /* there is a list of ports, so others are none */
	struct wf_conf_value pfc_off;      /* PFC is off for all of it */
	bool adapter;
};

struct wf_conf_end {
	struct wf_conf_device *device;
	const char *name; /* of the port, as whoever tells of the link has it */
	struct wf_conf_port
		*port; /* NULL: the device's configuration is not there, or has no such */
};

struct wf_conf_link {
	struct wf_conf_end end[2];
	struct wf_conf_place at;
	struct wf_conf_value length; /* cm, of a topology */
};

/* X(id, "name", what it is): a line or a key that no value of the model came from. */
#define WF_CONF_NOTES(X)                                                                           \
	X(ODD, "not-understood", "it may matter, and what it means is not known here")             \
	X(OTHER, "other-subject", "it is of another subject: addresses, routing, users")

#define WF_CONF_NOTE_ENUM(id, name, help) WF_CONF_NOTE_##id,
enum wf_conf_note_kind { WF_CONF_NOTES(WF_CONF_NOTE_ENUM) WF_CONF_NOTE_KINDS };
#undef WF_CONF_NOTE_ENUM

struct wf_conf_note {
	struct wf_conf_note *next;
	enum wf_conf_note_kind kind;
	struct wf_conf_place at;
	const char *what;
};

/* A mistake that only the reader sees, for the checks to tell: X(id). */
enum wf_conf_fault_kind {
	WF_CONF_FAULT_GROUP,   /* a group of ports is listed and not defined */
	WF_CONF_FAULT_COMMAND, /* a line about lossless classes that the system has not */
	WF_CONF_FAULT_VALUE,   /* a value out of what is allowed */
	WF_CONF_FAULT_PORT,    /* something is said of a port that is not there */
	WF_CONF_FAULT_RED,     /* SONiC's BIG_RED_SWITCH is on */
	WF_CONF_FAULT_AGAIN    /* it is said twice, and differently */
};

struct wf_conf_fault {
	struct wf_conf_fault *next;
	enum wf_conf_fault_kind kind;
	struct wf_conf_device *device;
	struct wf_conf_port *port; /* NULL: none */
	struct wf_conf_place at;
	const char *wrong, *right;
};

struct wf_netconf {
	struct wf_arena arena;
	struct wf_conf_index {
		struct wf_conf_slot *slots;
		size_t size, used;
	} texts, things;
	uint8_t secret[16];
	const char **files; /* their paths */
	uint32_t n_files, room_files;
	struct wf_conf_device **devices;
	uint32_t n_devices, room_devices;
	struct wf_conf_link *links;
	uint32_t n_links, room_links;
	struct wf_conf_note *notes, **last_note;
	uint32_t n_notes[WF_CONF_NOTE_KINDS];
	struct wf_conf_fault *faults, **last_fault;
	bool no_memory; /* something was lost for it: whoever fills the model asks at the end */
};

/* An empty model in the caller's memory. */
void wf_netconf_init(struct wf_netconf *net);
void wf_netconf_fini(struct wf_netconf *net);

#endif
