/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sma.h - the subnet management agent of a switch or an adapter (IBTA vol. 1, chapter 14).
 *
 *   SMP    wf_sma_rx()        ->  +--------+  ->  the answer, in place
 *   time   wf_sma_tick()      ->  | wf_sma |  ->  wf_sma_deadline(), wf_sma_tx(): traps
 *   link   wf_sma_link()      ->  |        |  ->  struct wf_sma_ops: what was set
 *   faults wf_sma_violation() ->  +--------+
 *
 * It owns what a subnet manager sets, and whoever moves packets asks it (wf_sma_port(),
 * wf_sma_lft(), ...) or keeps copies, told by ops->changed() what is not as it was. Without I/O and
 * without a clock. A request that is refused changes nothing.
 *
 *                                                  a port's state (7.2.7)
 *
 *      DOWN --link up--> INIT --Set(Armed)--> ARMED --Set(Active), data came--> ACTIVE
 *        ^                ^                     |                                 |
 *        |                +--- Set(Down) -------+---------------------------------+
 *        +-------------------- link lost, from all
 *
 * Ports are InfiniBand's: an adapter's from 1, a switch's external ones from 1, and its port 0,
 * which is enhanced, has no link and is always active. Memory that nobody sets anything in is not
 * there: tables grow when they are written.
 */
#ifndef WF_MGMT_SMA_H
#define WF_MGMT_SMA_H

#include "base/base.h"
#include "base/mem.h"
#include "wire/ib_rate.h"
#include "wire/notice.h"
#include "wire/smp.h"

struct wf_sma;

/* What a Set has changed. */
enum wf_sma_change {
	WF_SMA_STATE = 0x0001,   /* port_state */
	WF_SMA_LID = 0x0002,     /* lid, lmc, gid_prefix */
	WF_SMA_SM = 0x0004,      /* master_sm_lid, master_sm_sl, subnet_timeout */
	WF_SMA_MTU_VLS = 0x0008, /* neighbor_mtu, operational_vls */
	WF_SMA_QOS = 0x0010,     /* vl_high_limit, vl_stall_count, hoq_life */
	WF_SMA_ENFORCE = 0x0020, /* partition enforcement, raw packets */
	WF_SMA_LINK = 0x0040,    /* widths and speeds enabled; they count when the link trains */
	WF_SMA_PKEYS = 0x0080,
	WF_SMA_SL_TO_VL = 0x0100, /* of this output port */
	WF_SMA_VL_ARB = 0x0200,
	WF_SMA_GUIDS = 0x0400,
	WF_SMA_SWITCH = 0x0800, /* SwitchInfo */
	WF_SMA_LFT = 0x1000,
	WF_SMA_MFT = 0x2000,
	WF_SMA_REREGISTER = 0x4000, /* clients should tell the manager again what they want */
	WF_SMA_LED = 0x8000,
	WF_SMA_ADAPTIVE = 0x10000, /* groups of ports, and of LIDs, and whether they count */
};

struct wf_sma_ops {
	/* That is set now; port is 0 for what is the switch's as a whole. */
	void (*changed)(void *arg, unsigned port, unsigned what);
	/*
	 * Take the link down: to POLLING (and it may come up again), SLEEP or DISABLED. The agent
	 * has the port down already; wf_sma_link_up() is called when it is up. Or LINK_UP: the link
	 * stays, the port is in state INIT again, and so is the other end (wf_sma_link_reset()).
	 */
	void (*physical)(void *arg, unsigned port, enum wf_port_phys to);
};

struct wf_sma_cfg {
	bool is_switch;
	uint8_t n_ports; /* without port 0; 1 to 254 */
	uint64_t node_guid, system_image_guid;
	uint64_t port_guid; /* of an adapter's port 1, or a switch's port 0; */
	uint64_t guid_step; /* those of an adapter's further ports are that much apart; 0: 1 */
	uint32_t vendor_id, revision;
	uint16_t device_id;
	const char *description;  /* borrowed until create returns */
	uint32_t capability_mask; /* beyond what the agent and the speeds bring */
	uint16_t partition_cap;   /* keys of an adapter's port, or a switch's port 0 */
	uint16_t enforcement_cap; /* of a switch's external port; 0: it does not enforce */
	uint16_t guid_cap_blocks; /* blocks of 8 GUIDs; at least 1 */
	uint8_t vls;              /* of a port: 1, 2, 4, 8 or 15 */
	uint8_t vl_arb_cap;       /* entries of each of the two tables, at most 64 */
	uint32_t mtu;
	unsigned widths, speeds; /* supported: enum wf_ib_width, wf_ib_speed */
	uint16_t lft_cap;        /* LIDs, of a switch */
	uint16_t mft_cap;        /* multicast LIDs */
	uint8_t group_cap; /* of a switch: groups of ports for adaptive routing; 0: it has none */
	uint8_t resp_time; /* RespTimeValue */
	const struct wf_sma_ops *ops;
	void *arg;
};

/* Fills *cfg with what a node of today has; ports, GUIDs, speeds and ops are the caller's. */
void wf_sma_cfg_init(struct wf_sma_cfg *cfg, bool is_switch);

/* Returns 0 or -ENOMEM. ops and arg are borrowed for as long as the agent lives. */
int wf_sma_create(const struct wf_sma_cfg *cfg, struct wf_mem *mem,
                  struct wf_sma **sma_p) WF_MUST_USE;
void wf_sma_destroy(struct wf_sma *sma); /* NULL is allowed */

/* What a port comes up with, before any manager has set something. */
struct wf_sma_preset {
	uint32_t mtu;            /* that it can have */
	unsigned widths, speeds; /* that its link can have, all of them enabled */
	uint8_t hoq_life, vl_stall_count, vl_high_limit;
	uint8_t sl_to_vl[WF_SLS];                 /* from any port */
	const struct wf_vl_arb_entry *low, *high; /* borrowed */
	unsigned n_low, n_high;                   /* those beyond vl_arb_cap are cut off */
};

/*
 * Before the port's link is up; ops->changed() is not called: who asks knows. Returns 0 or -ENOMEM.
 */
int wf_sma_preset(struct wf_sma *sma, unsigned port,
                  const struct wf_sma_preset *preset) WF_MUST_USE;

enum wf_sma_verdict {
	WF_SMA_DROP,   /* no answer */
	WF_SMA_ANSWER, /* in place of the request; a directed route's goes out by wf_dr_tx() */
	WF_SMA_FOR_SM, /* SMInfo, traps, answers: for a manager on this node, untouched */
};

/*
 * An SMP (class SUBN_LID, or a directed route that has ended here) came in by a port. What a node
 * sends to itself comes by the port that it would leave by, which is 0 at a switch.
 */
enum wf_sma_verdict wf_sma_rx(struct wf_sma *sma, unsigned in_port, uint8_t *mad, wf_time now);

/*
 * What the hardware tells. A link comes up with a width and a speed of those enabled; the port is
 * in state INIT then. It goes down for whatever reason. Or the other end has begun anew, and so
 * does this one, if it was further than INIT.
 */
void wf_sma_link_up(struct wf_sma *sma, unsigned port, unsigned width, unsigned speed, wf_time now);
void wf_sma_link_down(struct wf_sma *sma, unsigned port, wf_time now);
void wf_sma_link_reset(struct wf_sma *sma, unsigned port, wf_time now);

/* A data packet came by a port that is armed: the peer is active, so it is, too. */
void wf_sma_data(struct wf_sma *sma, unsigned port);

/*
 * A packet was refused: trap is 257 (P_Key), 258 (Q_Key) or, at a switch's port, 259; key says who.
 * Counted in PortInfo, and trapped. Thresholds that were passed: 129 to 131.
 */
void wf_sma_violation(struct wf_sma *sma, unsigned port, uint16_t trap,
                      const struct wf_trap_key *key, wf_time now);
void wf_sma_threshold(struct wf_sma *sma, unsigned port, uint16_t trap, wf_time now);

/* What the node itself changes, with trap 144. Texts longer than 63 bytes are cut. */
void wf_sma_set_description(struct wf_sma *sma, const char *text, wf_time now);
void wf_sma_set_capability(struct wf_sma *sma, unsigned port, uint32_t set, uint32_t clear,
                           wf_time now);

/* A trap to send: to dlid with sl, from port (0: a switch's own). False: nothing is due. */
struct wf_sma_packet {
	unsigned port;
	uint16_t dlid;
	uint8_t sl;
};

bool wf_sma_tx(struct wf_sma *sma, wf_time now, struct wf_sma_packet *packet_p, uint8_t *mad_p);

/* When wf_sma_tx() has something, or a lease of an M_Key ends; WF_TIME_NEVER: not by itself. */
wf_time wf_sma_deadline(const struct wf_sma *sma);
void wf_sma_tick(struct wf_sma *sma, wf_time now);

/* What is set. Borrowed; good until the agent is called again. */
const struct wf_port_info *wf_sma_port(const struct wf_sma *sma, unsigned port);
const struct wf_switch_info *wf_sma_switch(const struct wf_sma *sma);
const struct wf_node_info *wf_sma_node(const struct wf_sma *sma);
uint64_t wf_sma_guid(const struct wf_sma *sma, unsigned port, unsigned index);
uint16_t wf_sma_pkey(const struct wf_sma *sma, unsigned port, unsigned index);

/* Both are in that partition, at least one of them as a full member. */
bool wf_sma_pkey_ok(const struct wf_sma *sma, unsigned port, uint16_t pkey);

/* A switch's table as a whole: of the LIDs below *n_p; those from there on have no port. */
const uint8_t *wf_sma_lft_table(const struct wf_sma *sma, uint32_t *n_p);

/* A switch's port for a unicast LID, 255: none; whether a multicast LID's leave by a port. */
uint8_t wf_sma_lft(const struct wf_sma *sma, uint16_t lid);
bool wf_sma_mft(const struct wf_sma *sma, uint16_t mlid, unsigned port);

/* All ports of a multicast LID, 64 in a word, port 0 first. */
void wf_sma_mft_ports(const struct wf_sma *sma, uint16_t mlid, uint64_t ports[4]);

/*
 * Adaptive routing of a switch (smp.h): LIDs from n_lids on have no group; the ports of group i are
 * ports[i - 1], of those above n_groups none.
 */
struct wf_sma_adaptive {
	bool enabled;
	const uint8_t *group_of;
	uint32_t n_lids;
	const uint64_t (*ports)[WF_GROUP_WORDS];
	unsigned n_groups;
};

void wf_sma_adaptive(const struct wf_sma *sma, struct wf_sma_adaptive *adaptive);

/* The lane of a packet that came in by a port (0: its own) and leaves by another; 15: none. */
uint8_t wf_sma_vl(const struct wf_sma *sma, unsigned in_port, unsigned out_port, uint8_t sl);

/* An entry of the low or the high priority table; zeros above the capability. */
struct wf_vl_arb_entry wf_sma_vl_arb(const struct wf_sma *sma, unsigned port, bool high,
                                     unsigned index);

#endif
