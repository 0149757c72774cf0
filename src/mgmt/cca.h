/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cca.h - the congestion control agent of a switch or an adapter: class 0x21 (IBTA vol. 1, A10).
 *
 * It keeps what a congestion manager sets, says so to the hardware, and gives out the log of what
 * the hardware tells. A wrong CC_Key gets no answer to a Set, is counted, and begins the lease.
 */
#ifndef WF_MGMT_CCA_H
#define WF_MGMT_CCA_H

#include "base/base.h"
#include "base/mem.h"
#include "wire/congestion.h"

struct wf_cca;

enum wf_cca_change {
	WF_CCA_SWITCH = 1, /* what the switch as a whole is set to */
	WF_CCA_PORTS = 2,  /* what single ports of it are */
	WF_CCA_CA = 4,     /* how service levels react */
	WF_CCA_TABLE = 8,  /* the control table */
};

struct wf_cca_cfg {
	bool is_switch;
	uint8_t n_ports;        /* without port 0 */
	uint8_t table_blocks;   /* of an adapter's control table, at most 4 */
	bool credit_starvation; /* the switch can tell ports that wait for credits */
	/* That is set now. */
	void (*changed)(void *arg, unsigned what);
	void *arg;
};

/* Returns 0 or -ENOMEM. arg is borrowed for as long as the agent lives. */
int wf_cca_create(const struct wf_cca_cfg *cfg, struct wf_mem *mem,
                  struct wf_cca **cca_p) WF_MUST_USE;
void wf_cca_destroy(struct wf_cca *cca); /* NULL is allowed */

/* A MAD of class CC. True: its answer stands in its place; false: there is none. */
bool wf_cca_rx(struct wf_cca *cca, uint8_t *mad, wf_time now);

/* The log: a switch's port began to mark; an adapter's queue pair was throttled for a level. */
void wf_cca_log_switch(struct wf_cca *cca, unsigned port,
                       const struct wf_cong_log_switch_entry *entry, wf_time now);
void wf_cca_log_ca(struct wf_cca *cca, const struct wf_cong_log_ca_entry *entry, wf_time now);

/* What is set. Borrowed, good until the agent is called again. */
const struct wf_cong_switch_setting *wf_cca_switch(const struct wf_cca *cca);
struct wf_cong_switch_port wf_cca_port(const struct wf_cca *cca, unsigned port);
const struct wf_cong_ca_setting *wf_cca_ca(const struct wf_cca *cca);

/* An entry of the control table, and the last one that counts. */
struct wf_cong_cct_entry wf_cca_cct(const struct wf_cca *cca, unsigned index);
uint16_t wf_cca_cct_limit(const struct wf_cca *cca);

#endif
