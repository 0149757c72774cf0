/* SPDX-License-Identifier: Apache-2.0 */
/* sma_priv.h - the agent's state, and what its files know of one another. */
#ifndef WF_MGMT_SMA_PRIV_H
#define WF_MGMT_SMA_PRIV_H

#include "mgmt/sma.h"

#define WF_SMA_LFT_NONE 255
#define WF_SMA_SL_BYTES (WF_SLS / 2)

/*
 * A trap that was raised once. What happens again before it is sent replaces what happened before.
 * It stays when it was repressed, so that the next one waits until its time.
 */
struct wf_sma_trap {
	struct wf_sma_trap *next;
	uint16_t number;
	uint8_t port; /* by which it goes out: an adapter's, or 0 */
	uint8_t type; /* enum wf_notice_type */
	bool pending; /* to be sent at that time, and again until it is repressed */
	wf_time at;   /* of the next sending, which is never sooner */
	uint64_t tid; /* 0: what happened last was not sent yet */
	uint8_t details[WF_NOTICE_DETAILS_LEN];
};

struct wf_sma_port {
	struct wf_port_info info;
	wf_time lease_ends; /* WF_TIME_NEVER: it does not run */
	uint16_t *pkeys;    /* of its capability; NULL: the default key alone, or none */
	uint64_t *guids;    /* NULL: the port's own alone */
	uint8_t *vl_arb;    /* low and high table, lane and weight of each entry; NULL: zeros */
	/*
	 * Lanes of service levels as in the attribute: for packets from any port, or, once inputs
	 * differ, n_ports + 1 of them one after the other.
	 */
	uint8_t sl_to_vl[WF_SMA_SL_BYTES];
	uint8_t *sl_to_vl_in;
	bool led;
};

struct wf_sma {
	struct wf_mem *mem;
	const struct wf_sma_ops *ops;
	void *arg;
	bool is_switch;
	unsigned in_port; /* by which the SMP that is answered came in */
	uint8_t n_ports, vl_arb_cap;
	uint16_t guid_blocks;
	uint64_t port_guid, guid_step;
	struct wf_node_info node;
	struct wf_node_description description;
	struct wf_switch_info sw;
	uint8_t *lft; /* of lft_size LIDs; above it there are none */
	uint32_t lft_size;
	struct wf_adaptive_info adaptive;
	uint64_t (*groups)[WF_GROUP_WORDS]; /* of group_cap groups; NULL: none has a port */
	uint8_t *group_of;                  /* of group_lids LIDs */
	uint32_t group_lids;
	uint16_t **mft; /* blocks of 32 LIDs, position by position; NULL: no port */
	struct wf_sma_trap *traps;
	uint64_t next_tid;
	struct wf_sma_port port[]; /* port 0 of an adapter is not used */
};

static inline unsigned wf_sma_first_port(const struct wf_sma *sma)
{
	return sma->is_switch ? 0 : 1;
}

/* That number is one of the node's ports. */
static inline bool wf_sma_has_port(const struct wf_sma *sma, unsigned port)
{
	return port >= wf_sma_first_port(sma) && port <= sma->n_ports;
}

/* It has a LID, an M_Key and a manager: not a switch's external port. */
static inline bool wf_sma_is_end(const struct wf_sma *sma, unsigned port)
{
	return !sma->is_switch || port == 0;
}

/* The keys that a port has room for. */
static inline unsigned wf_sma_pkey_cap(const struct wf_sma *sma, unsigned port)
{
	return wf_sma_is_end(sma, port) ? sma->node.partition_cap
	                                : sma->sw.partition_enforcement_cap;
}

/* The blocks of a switch's table of multicast LIDs. */
static inline unsigned wf_sma_mft_blocks(const struct wf_sma *sma)
{
	return (sma->sw.multicast_fdb_cap + WF_MFT_PER_BLOCK - 1U) / WF_MFT_PER_BLOCK;
}

/* The positions of that table: 16 ports each, from port 0. */
static inline unsigned wf_sma_mft_positions(const struct wf_sma *sma)
{
	return sma->n_ports / WF_MFT_PORTS_PER_POSITION + 1U;
}

/*
 * An attribute's Get or Set: end is the port that it came to, modifier its header's. data is the
 * attribute in the MAD, all zeros for a Get, and becomes what is to be answered. Return a status.
 */
typedef unsigned wf_sma_attr_fn(struct wf_sma *sma, unsigned end, uint32_t modifier, bool set,
                                uint8_t *data, wf_time now);

wf_sma_attr_fn wf_sma_port_info;
wf_sma_attr_fn wf_sma_switch_info;
wf_sma_attr_fn wf_sma_linear_ft;
wf_sma_attr_fn wf_sma_multicast_ft;
wf_sma_attr_fn wf_sma_pkey_table;
wf_sma_attr_fn wf_sma_sl_to_vl_table;
wf_sma_attr_fn wf_sma_vl_arb_table;
wf_sma_attr_fn wf_sma_guid_info;
wf_sma_attr_fn wf_sma_adaptive_info;
wf_sma_attr_fn wf_sma_adaptive_groups;
wf_sma_attr_fn wf_sma_adaptive_lids;

/* Something was set. */
static inline void wf_sma_changed(struct wf_sma *sma, unsigned port, unsigned what)
{
	if (what != 0)
		sma->ops->changed(sma->arg, port, what);
}

/* A trap about something that happened at a port, to that port's manager; as often as it may. */
struct wf_sma_event {
	uint16_t number;
	uint8_t port, type;
	const struct wf_layout *layout; /* of details */
	const void *details;
};

void wf_sma_raise(struct wf_sma *sma, const struct wf_sma_event *event, wf_time now);
void wf_sma_repress(struct wf_sma *sma, uint64_t tid);
void wf_sma_forget_traps(struct wf_sma *sma, unsigned port); /* they are not pending any more */
void wf_sma_free_traps(struct wf_sma *sma);

/* A wrong M_Key came with that SMP (trap 256). */
void wf_sma_bad_mkey(struct wf_sma *sma, unsigned end, const uint8_t *mad, wf_time now);

#endif
