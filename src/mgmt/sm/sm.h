/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sm.h - the subnet manager: finds out what there is, gives LIDs, routes, and opens the links.
 *
 *   MAD    wf_sm_rx()    ->  +-------+  ->  wf_sm_tx()        MAD
 *   time   wf_sm_tick()  ->  | wf_sm |  ->  wf_sm_deadline()  time
 *                            +-------+  ->  wf_sm_event_fn    what happened
 *
 * Without I/O. MADs are subnet management packets of queue pair 0: requests by directed route,
 * and what others ask (SMInfo) or report (traps). The driver gives it all responses whose
 * transaction ID has an upper half that the driver chose, or left 0: here only the lower half
 * counts.
 *
 * A heavy sweep, step by step; each has as many packets under way as max_wire_smps says, and ends
 * when all have been answered or given up:
 *
 *   DISCOVER   breadth first: NodeInfo, NodeDescription, SwitchInfo, PortInfo, GUIDInfo, SMInfo
 *   TABLES     P_Key tables of ends, and of switches' ports to them
 *     who is master?  --another-->  STANDBY, or HANDOVER to it
 *   PKEYS      P_Key tables that differ
 *   PORTS      PortInfo: LIDs and all that is not the port's state
 *   ROUTES     SwitchInfo, blocks of linear forwarding tables that differ
 *   ADAPTIVE   groups of ports that differ, of switches which have them: with adaptive
 *   LANES      SL to VL and arbitration: with qos, or where the routing needs lanes
 *   MULTICAST  blocks of multicast forwarding tables that differ
 *   ARM, ACTIVATE   the ports' state
 *
 * A light sweep (LIGHT) asks switches whether a port of theirs has changed, and for all whom it
 * knows of; what it does not like makes a heavy sweep follow at once. A port or node that does
 * not answer is left out, and tried again with each sweep.
 *
 *                     +-- found a master, or a higher manager --+
 *                     |                                         v
 *   NOTACTIVE    DISCOVERING <-- master does not answer -- STANDBY --DISABLE--> NOTACTIVE
 *       |             |       <-- DISCOVER ------------     |   ^                   |
 *       |             +---- found none ----> MASTER <-HANDOVER  +----- STANDBY -----+
 *       |                                      +--- higher one found: HANDOVER -> STANDBY
 */
#ifndef WF_MGMT_SM_SM_H
#define WF_MGMT_SM_SM_H

#include "base/mem.h"
#include "mgmt/sm/cfg.h"
#include "subnet/part.h"
#include "mgmt/sm/view.h"
#include "wire/notice.h"

struct wf_sm;

/* Where a MAD goes to, or came from. */
struct wf_sm_addr {
	uint16_t lid; /* WF_LID_PERMISSIVE: by the directed route that is in it */
	uint8_t sl;
};

/* What it sends, by purpose: the rows of wf_sm_kinds (sm_priv.h). */
enum wf_sm_kind {
	WF_SM_GET_NODE_INFO,
	WF_SM_GET_NODE_DESCRIPTION,
	WF_SM_GET_SWITCH_INFO,
	WF_SM_GET_PORT_INFO,
	WF_SM_GET_GUID_INFO,
	WF_SM_GET_PKEYS,
	WF_SM_GET_SM_INFO,
	WF_SM_GET_ADAPTIVE,
	WF_SM_CLEAR_CHANGE, /* SwitchInfo: PortStateChange */
	WF_SM_SET_PKEYS,
	WF_SM_SET_PORT_INFO,
	WF_SM_SET_SWITCH_INFO,
	WF_SM_SET_LINEAR_FT,
	WF_SM_SET_ADAPTIVE_GROUPS,
	WF_SM_SET_ADAPTIVE_LIDS,
	WF_SM_SET_ADAPTIVE,
	WF_SM_SET_SL_TO_VL,
	WF_SM_SET_VL_ARB,
	WF_SM_SET_MULTICAST_FT,
	WF_SM_SET_SM_INFO,
	WF_SM_KINDS
};

enum wf_sm_phase {
	WF_SM_PHASE_IDLE,
	WF_SM_PHASE_LIGHT,
	WF_SM_PHASE_DISCOVER,
	WF_SM_PHASE_TABLES,
	WF_SM_PHASE_HANDING_OVER,
	WF_SM_PHASE_PKEYS,
	WF_SM_PHASE_PORTS,
	WF_SM_PHASE_ROUTES,
	WF_SM_PHASE_ADAPTIVE,
	WF_SM_PHASE_LANES,
	WF_SM_PHASE_MULTICAST,
	WF_SM_PHASE_ARM,
	WF_SM_PHASE_ACTIVATE,
	WF_SM_PHASES
};

/* A sweep. */
struct wf_sm_sweep {
	bool heavy;
	bool handed_over; /* it ended with another as master */
	wf_time begin, end;
	wf_time phase_end[WF_SM_PHASES]; /* 0: had none */
	uint64_t smps;                   /* sent, those sent again among them */
	uint32_t nodes, switches, ports; /* that there are; ports: ends of paths with a LID */
	uint32_t links;
	uint32_t errors; /* what is not as it should be: the next sweep is a heavy one */
	uint32_t silent; /* links behind which nobody answers */
	uint32_t lids, lft_blocks, links_up; /* given, written, and ports made active */
	uint32_t adaptive;                   /* switches that have groups of ports, */
	uint32_t group_blocks; /* and blocks written: of groups, and of LIDs' groups */
	uint32_t duplicates;   /* GUIDs that came twice: their links are left out */
};

enum wf_sm_event_type {
	WF_SM_EV_STATE,       /* of the manager */
	WF_SM_EV_SWEEP_BEGIN, /* sweep: what is known of it so far */
	WF_SM_EV_SWEEP_END,
	WF_SM_EV_ROUTED,     /* all switches have their new tables: traffic can flow as they say */
	WF_SM_EV_UP,         /* subnet up: a heavy sweep has ended without an error */
	WF_SM_EV_PORT_FOUND, /* an end of paths is there and can be used */
	WF_SM_EV_PORT_LOST,  /* it is not there any more; guid, node_guid, lid: as it was */
	WF_SM_EV_TRAP,       /* for subscribers: notice and lid, whose it is */
	WF_SM_EV_ERROR,      /* a request was given up, or refused: kind, node_guid, port, status */
	WF_SM_EV_NOTE,       /* text: what else is to be said */
};

struct wf_sm_event {
	enum wf_sm_event_type type;
	wf_time now;
	enum wf_sm_state state;
	const struct wf_sm_sweep *sweep;
	uint64_t guid, node_guid;
	uint16_t lid;
	uint8_t port;
	enum wf_sm_kind kind;
	uint16_t status; /* of the MAD; 0: no answer */
	const struct wf_notice *notice;
	const char *text;
};

/* Told within wf_sm_rx() and wf_sm_tick(). It may look at the manager, and calls nothing else. */
typedef void wf_sm_event_fn(void *arg, const struct wf_sm_event *event);

/* A transaction, by kind. */
struct wf_sm_count {
	uint64_t sent, again, answered, refused, lost; /* refused: with a status; lost: given up */
};

#define WF_SM_TRAPS 12 /* rows of wf_sm_trap_numbers */

struct wf_sm_stats {
	struct wf_sm_count count[WF_SM_KINDS];
	uint64_t stray;         /* responses that nobody waits for, or that fit no request */
	uint64_t ignored;       /* MADs that are not for a subnet manager, or not allowed */
	uint64_t sm_info_asked; /* Get(SMInfo) and Set(SMInfo) of others */
	uint64_t heavy, light;  /* sweeps */
	uint64_t reroutes;      /* sweeps that wrote forwarding tables */
	uint64_t traps[WF_SM_TRAPS + 1]; /* by wf_sm_trap_numbers; the last: any other */
	uint64_t traps_suppressed;       /* that came too often to be looked at */
	struct wf_sm_sweep last_heavy, last_light;
};

extern const uint16_t wf_sm_trap_numbers[WF_SM_TRAPS];
extern const char *const wf_sm_kind_names[WF_SM_KINDS];
extern const char *const wf_sm_phase_names[WF_SM_PHASES];

/*
 * Makes a manager that first sweeps when it is ticked first. event may be NULL. On success *sm_p is
 * owned by the caller. Returns 0, -EINVAL with err filled (a list, a key or the partitions), or
 * -ENOMEM.
 */
int wf_sm_create(const struct wf_sm_cfg *cfg, wf_sm_event_fn *event, void *arg, struct wf_mem *mem,
                 struct wf_sm **sm_p, struct wf_err *err) WF_MUST_USE;

/* Frees it, without a word to anybody. NULL is allowed. */
void wf_sm_destroy(struct wf_sm *sm);

/* A MAD of WF_MAD_LEN bytes came; any bytes are allowed. from: the LID that sent it. */
void wf_sm_rx(struct wf_sm *sm, const struct wf_sm_addr *from, const uint8_t *mad, wf_time now);

/* The next MAD to be sent, at the time of the last call. Call until it returns false. */
bool wf_sm_tx(struct wf_sm *sm, struct wf_sm_addr *to, uint8_t *mad);

/* When wf_sm_tick() is due. */
wf_time wf_sm_deadline(const struct wf_sm *sm);
void wf_sm_tick(struct wf_sm *sm, wf_time now);

/* Sweeps as soon as it can: heavily, or lightly first. */
void wf_sm_resweep(struct wf_sm *sm, bool heavy, wf_time now);

/* ---- what subnet administration needs ---- */

enum wf_sm_state wf_sm_state(const struct wf_sm *sm);

/* It is master, and has set the subnet up since it is: there is a view. */
bool wf_sm_serves(const struct wf_sm *sm);
enum wf_sm_phase wf_sm_phase(const struct wf_sm *sm);
const struct wf_sm_cfg *wf_sm_cfg(const struct wf_sm *sm);

/* The subnet as the last sweep has set it up; NULL: there is none. Another one after each sweep. */
const struct wf_sm_view *wf_sm_view(const struct wf_sm *sm);

/* The manager's own port: GUID and LID; 0: not yet known. */
uint64_t wf_sm_guid(const struct wf_sm *sm);
uint16_t wf_sm_lid(const struct wf_sm *sm);
uint64_t wf_sm_prefix(const struct wf_sm *sm);
uint64_t wf_sm_key(const struct wf_sm *sm);

/* What it says of itself: the SMInfo that it answers with. */
void wf_sm_info(const struct wf_sm *sm, struct wf_sm_info *info);

/* The same of another manager that the last sweep has found, number i; false: there are no more. */
bool wf_sm_other(const struct wf_sm *sm, uint32_t i, struct wf_sm_info *info);

const struct wf_parts *wf_sm_parts(const struct wf_sm *sm);

/* Other partitions from the next heavy sweep on. Returns 0, -EINVAL with err filled, or -ENOMEM. */
int wf_sm_set_parts(struct wf_sm *sm, const char *text, const char *name,
                    struct wf_err *err) WF_MUST_USE;

/*
 * The ports (GUIDs) that get the packets of multicast group mlid, from now on and after each sweep;
 * none: it is gone. With wf_sm_multicast() the tables are written as soon as no sweep goes on.
 * Returns 0, -EINVAL when mlid is none, or -ENOMEM.
 */
int wf_sm_set_group(struct wf_sm *sm, uint16_t mlid, const uint64_t *guids, uint32_t n) WF_MUST_USE;
void wf_sm_multicast(struct wf_sm *sm, wf_time now);

/*
 * A block of a switch's multicast table, 16 ports from 16 * position on, as it was written; false:
 * there is none. sw: by the view's graph.
 */
bool wf_sm_multicast_block(const struct wf_sm *sm, uint32_t sw, uint32_t block, unsigned position,
                           struct wf_multicast_ft *table);

/*
 * What the lanes of a port (index into the view's) were set to: of packets that come in by any, and
 * a block of arbitration, 1 to 4. False: lanes were left as they are.
 */
bool wf_sm_sl_to_vl(const struct wf_sm *sm, uint32_t index, struct wf_sl_to_vl *table);
bool wf_sm_vl_arb(const struct wf_sm *sm, uint32_t index, unsigned block, struct wf_vl_arb *table);

void wf_sm_stats(const struct wf_sm *sm, struct wf_sm_stats *stats_p);

#endif
