/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfg.h - what can be set of a subnet manager: OpenSM's options under their names, with its
 * defaults.
 *
 * One is weft's own: adaptive, since what OpenSM has for it is a plugin of a vendor's.
 *
 * Times that are codes ("subnet_timeout") are 4.096 us * 2^n. Keys are hexadecimal numbers, as
 * text. What OpenSM has in files besides is text here: the roots of up/down and fat-tree routing,
 * and partitions.conf (subnet/part.h).
 */
#ifndef WF_MGMT_SM_CFG_H
#define WF_MGMT_SM_CFG_H

#include "base/err.h"
#include "base/param.h"

#define WF_SM_MAX_WIRE_SMPS 4096 /* under way at a time */
#define WF_SM_TEXT 512           /* bytes of a list */
#define WF_SM_KEY 24             /* bytes of a key as text */

struct wf_sm_cfg {
	/* Who is master. */
	uint32_t priority;       /* sm_priority: 0 to 15, highest wins, then the lowest GUID */
	char sm_key[WF_SM_KEY];  /* other managers are only believed with the same */
	wf_time polling_timeout; /* sminfo_polling_timeout: from one look at the master on */
	uint32_t polling_retry_number; /* looks in vain before it is given up */
	bool inactive;                 /* sm_inactive: starts in NOTACTIVE */
	bool ignore_other_sm;

	/* Sweeps, and how their packets are sent. */
	wf_time sweep_interval; /* from one to the next; 0: only when something happens */
	bool force_heavy_sweep; /* no sweep is light */
	bool sweep_on_trap;
	wf_time transaction_timeout;
	uint32_t transaction_retries;
	uint32_t max_wire_smps;
	uint32_t max_wire_smps2;  /* so many while they take long: one more each max_smps_timeout */
	wf_time max_smps_timeout; /* ... without an answer */
	bool babbling_port_policy; /* a port that keeps sending traps 129 to 131 is disabled */

	/* LIDs and keys. */
	uint32_t lmc;
	bool lmc_esp0;      /* also for enhanced ports 0 of switches */
	bool reassign_lids; /* LIDs that ports have when it becomes master do not count */
	char subnet_prefix[WF_SM_KEY];
	char m_key[WF_SM_KEY];
	uint32_t m_key_lease_period;     /* seconds; 0: for ever */
	uint32_t m_key_protection_level; /* 0 to 3 */

	/* Ports. */
	uint32_t sm_sl;
	uint32_t subnet_timeout;                                                        /* code */
	uint32_t packet_life_time, head_of_queue_lifetime, leaf_head_of_queue_lifetime; /* codes */
	uint32_t vl_stall_count, leaf_vl_stall_count;
	uint32_t max_op_vls; /* code: 1 to 5 for 1, 2, 4, 8, 15 */
	uint32_t force_link_width, force_link_speed, force_link_speed_ext; /* 0: as they are */
	uint32_t local_phy_errors_threshold, overrun_errors_threshold;
	bool no_clients_rereg;
	char part_enforce[8]; /* by switches: both, in, out, off */

	/* Routing. */
	char routing_engine[WF_SM_TEXT]; /* engines to try, in order; then minhop */
	char root_guids[WF_SM_TEXT];     /* of updn and ftree */
	uint32_t vls;                    /* dfsssp's virtual lanes */
	bool adaptive;                   /* groups of ports as well: not OpenSM's */
	bool disable_multicast;
	bool use_mfttop;

	/* Virtual lanes. */
	bool qos;
	uint32_t qos_max_vls;
	uint32_t qos_high_limit;
	char qos_vlarb_high[WF_SM_TEXT], qos_vlarb_low[WF_SM_TEXT]; /* "0:4,1:0": lane and weight */
	char qos_sl2vl[64]; /* sixteen lanes, one for each service level */

	/* Not of the table. */
	const char *partitions;      /* partitions.conf; NULL: there is none; borrowed by create */
	const char *partitions_name; /* of that file, for messages */
};

extern const struct wf_param wf_sm_params[];
extern const size_t wf_sm_n_params;

/* Sets every field to its default. Returns 0, or -EINVAL (a mistake in the table). */
int wf_sm_cfg_init(struct wf_sm_cfg *cfg, struct wf_err *err) WF_MUST_USE;

#endif
