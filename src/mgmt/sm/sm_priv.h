/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sm_priv.h - the inside of the subnet manager.
 *
 * Work is a queue of small items: whom to ask what. wire.c takes the next when there is room for
 * one more packet, writes the packet from what the manager knows (so what is sent again is
 * written again), and hands the answer to the item's row of the table. A phase queues its work
 * when it begins and ends when nothing is left: sweep.c. Whatever does not belong to a sweep
 * (looking at the master, a changed description) is an aside: it has its own route, and goes
 * first.
 */
#ifndef WF_MGMT_SM_PRIV_H
#define WF_MGMT_SM_PRIV_H

#include "mgmt/sm/sm.h"
#include "wire/byte.h"
#include "wire/ib.h"

#define WF_SM_ASIDES 16  /* that wait */
#define WF_SM_REPLIES 64 /* that wait to be sent */
#define WF_SM_OTHERS 64  /* managers that are known of */
#define WF_SM_ENGINES 8
#define WF_SM_ROOTS 64
#define WF_SM_TRACKED 256 /* traps that are remembered */
#define WF_SM_VLS 16
#define WF_SM_NO_SLOT UINT16_MAX
#define WF_SM_LFT_BLOCKS ((WF_LID_MAX + 1) / WF_LFT_PER_BLOCK)
#define WF_SM_PATH 64    /* bytes of a directed route, the first unused */
#define WF_SM_RESTARTS 3 /* of a discovery during which something changed */

/* Groups of a switch, and of its LIDs, as far as they are known. */
struct wf_sm_spread {
	uint64_t ports[WF_GROUPS_MAX][WF_GROUP_WORDS]; /* of number i + 1 */
	uint8_t known[WF_GROUPS_MAX / WF_GROUPS_PER_BLOCK];
	uint8_t number[WF_GROUPS_MAX + 1]; /* by group that is wanted: its number in the switch */
	uint64_t want[WF_GROUPS_MAX][WF_GROUP_WORDS];
	uint8_t *of; /* by LID, n_blocks blocks */
	uint32_t n_blocks;
	uint64_t of_known[(WF_SM_LFT_BLOCKS + 63) / 64];
};

/* What a switch's tables hold, as far as it was written by this manager. */
struct wf_sm_dev {
	struct wf_sm_dev *next;
	uint64_t guid;
	bool used;    /* by the view that is being built */
	uint8_t *lft; /* n_blocks blocks */
	uint32_t n_blocks;
	uint64_t lft_known[(WF_SM_LFT_BLOCKS + 63) / 64];
	/* The same of adaptive.c's. */
	struct wf_adaptive_info adaptive; /* as it said in this sweep; zeros: it cannot */
	struct wf_sm_spread *spread;      /* NULL: never had any */
	uint16_t *mft;                    /* [(block * positions + position) * 32 + lid] */
	uint8_t *mft_known;               /* [block * positions + position] */
	uint32_t mft_blocks;
	uint8_t mft_positions;
};

/* Of a request: whom, and what. */
struct wf_sm_work {
	uint32_t node; /* of sm->cur; WF_SUBNET_NONE: the manager's own, not yet known */
	uint16_t arg;
	uint8_t port;
	uint8_t kind; /* enum wf_sm_kind */
};

/* What arg is in the work of Set(PortInfo). */
enum wf_sm_stage { WF_SM_STAGE_CONFIG, WF_SM_STAGE_ARM, WF_SM_STAGE_ACTIVE };

struct wf_sm_aside {
	struct wf_sm_work work;
	uint64_t guid; /* of the port that is asked */
	uint32_t mod;  /* with data: the attribute modifier */
	bool has_data; /* instead of what the row would fill in */
	uint8_t hops;
	uint8_t path[WF_SM_PATH];
	uint8_t data[WF_SMP_DATA_LEN];
};

struct wf_sm_queue {
	struct wf_sm_work *at;
	uint32_t size, head, n;
};

/* A request that is under way. */
struct wf_sm_slot {
	struct wf_sm_work work;
	uint32_t tid;        /* 0: free */
	uint16_t prev, next; /* in the order of deadlines; free slots: next */
	uint16_t tries;
	bool is_aside, resend;
	wf_time deadline;
};

struct wf_sm_other {
	struct wf_sm_info info;
	uint64_t guid;
	uint16_t lid;
	uint32_t node; /* of sm->cur */
	uint8_t port;
};

struct wf_sm_reply {
	struct wf_sm_addr to;
	uint8_t mad[WF_MAD_LEN];
};

struct wf_sm_tracked {
	uint64_t key;
	wf_time until;
	uint32_t n;
};

struct wf_sm_group {
	struct wf_sm_group *next;
	uint64_t *guids;
	uint32_t n;
	uint16_t mlid;
};

/* A GUID's LID, also while its port is not there. */
struct wf_sm_lid_of {
	uint64_t guid; /* 0: free */
	uint16_t lid;
	uint8_t lmc;
};

struct wf_sm_lids {
	struct wf_sm_lid_of *at;
	uint32_t n, size;
};

struct wf_sm {
	struct wf_mem *mem;
	struct wf_sm_cfg cfg;
	wf_sm_event_fn *event;
	void *arg;
	wf_time now;

	/* The configuration's lists, read. */
	uint64_t m_key, sm_key, prefix;
	const struct wf_sm_route_ops *engines[WF_SM_ENGINES];
	uint32_t n_engines, n_roots;
	uint64_t roots[WF_SM_ROOTS];
	uint8_t sl2vl[WF_SLS];
	struct wf_vl_arb_entry vlarb_high[64], vlarb_low[64];
	struct wf_parts *parts;

	/* Who is master. */
	enum wf_sm_state state;
	uint64_t guid; /* own port's; 0: not yet known */
	uint16_t lid;
	struct wf_sm_aside polled; /* whom it looks at; guid 0: nobody */
	wf_time next_poll;         /* WF_TIME_NEVER: does not look */
	uint32_t polls_in_vain;
	struct wf_sm_other others[WF_SM_OTHERS];
	uint32_t n_others;
	uint16_t polled_lid;

	/* Sweeps. */
	enum wf_sm_phase phase;
	struct wf_sm_sweep sweep;
	wf_time next_sweep;
	bool heavy_wanted, light_wanted; /* as soon as this one is over */
	bool first;                      /* has just become master: all is to be told again */
	bool erred;                      /* the last heavy sweep did not set all: another one */
	bool mcast_wanted;
	bool rerouted; /* blocks have been written in this sweep */
	uint8_t restarts;
	uint8_t adaptive_stage;  /* adaptive.c's */
	struct wf_sm_view *view; /* as it was set up last */
	struct wf_sm_view *next; /* that is being built */
	struct wf_sm_view *cur;  /* the one of the two that work belongs to */
	struct wf_sm_dev *devs;
	struct wf_sm_lids lids;
	struct wf_sm_group *groups;
	uint64_t *mft; /* wanted: [(mlid - first) * switches + sw][4]; of cur */
	uint32_t n_mlids;

	/* The wire. */
	struct wf_sm_queue queue;
	struct wf_sm_slot *slots;
	struct wf_sm_aside *slot_asides; /* [slot] */
	uint32_t n_slots;
	uint16_t free, first_due, last_due;
	uint32_t under_way, asides_way; /* requests of the sweep, and asides */
	uint32_t n_resend;
	wf_time last_room; /* when there was room for another packet */
	uint16_t round;    /* of transaction IDs */
	struct wf_sm_aside asides[WF_SM_ASIDES];
	uint32_t n_asides;
	struct wf_sm_reply replies[WF_SM_REPLIES];
	uint32_t first_reply, n_replies;

	struct wf_sm_tracked tracked[WF_SM_TRACKED];
	uint32_t traps_sent;
	uint32_t act_count;
	struct wf_sm_stats stats;
};

#endif
