/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pma.h - the performance management agent of a switch or an adapter (IBTA vol. 1, 16.1).
 *
 * It counts nothing: it reads what the fabric counts, in 64 bits, and keeps how much of it was
 * there when somebody last set a counter. Fields that are narrower stop at their greatest value, as
 * PortCounters' do, until they are set; those of 64 bits go on. PortCounters and
 * PortCountersExtended are set apart from one another.
 */
#ifndef WF_MGMT_PMA_H
#define WF_MGMT_PMA_H

#include "base/base.h"
#include "base/mem.h"
#include "wire/perf.h"

struct wf_pma;

/* Counters of a port, in the order of PortCountersExtended. Data are words of 4 bytes. */
enum wf_pma_counter {
	WF_PMA_XMIT_DATA,
	WF_PMA_RCV_DATA,
	WF_PMA_XMIT_PKTS,
	WF_PMA_RCV_PKTS,
	WF_PMA_UNICAST_XMIT_PKTS,
	WF_PMA_UNICAST_RCV_PKTS,
	WF_PMA_MULTICAST_XMIT_PKTS,
	WF_PMA_MULTICAST_RCV_PKTS,
	WF_PMA_SYMBOL_ERRORS,
	WF_PMA_LINK_ERROR_RECOVERY,
	WF_PMA_LINK_DOWNED,
	WF_PMA_RCV_ERRORS,
	WF_PMA_RCV_REMOTE_PHYSICAL_ERRORS,
	WF_PMA_RCV_SWITCH_RELAY_ERRORS,
	WF_PMA_XMIT_DISCARDS,
	WF_PMA_XMIT_CONSTRAINT_ERRORS,
	WF_PMA_RCV_CONSTRAINT_ERRORS,
	WF_PMA_LOCAL_LINK_INTEGRITY_ERRORS,
	WF_PMA_EXCESSIVE_BUFFER_OVERRUNS,
	WF_PMA_VL15_DROPPED,
	WF_PMA_XMIT_WAIT,
	WF_PMA_QP1_DROPPED,
	WF_PMA_COUNTERS
};

struct wf_pma_ops {
	/* All counters of a port as they are now; they never fall. */
	void (*read)(void *arg, unsigned port, uint64_t counter[WF_PMA_COUNTERS]);
	/*
	 * Those of one of the simple attributes (wire/perf.h), in its order. False: the port has
	 * none of them, and the attribute is not supported.
	 */
	bool (*read_simple)(void *arg, unsigned port, uint16_t attr_id,
	                    uint64_t counter[WF_PERF_SIMPLE_MAX]);
};

struct wf_pma_cfg {
	bool is_switch;    /* then port 0 has counters, too */
	uint8_t n_ports;   /* without port 0 */
	uint8_t resp_time; /* RespTimeValue of ClassPortInfo */
	const struct wf_pma_ops *ops;
	void *arg;
};

/* Returns 0 or -ENOMEM. ops and arg are borrowed for as long as the agent lives. */
int wf_pma_create(const struct wf_pma_cfg *cfg, struct wf_mem *mem,
                  struct wf_pma **pma_p) WF_MUST_USE;
void wf_pma_destroy(struct wf_pma *pma); /* NULL is allowed */

/* A MAD of class PERF. True: its answer stands in its place; false: there is none. */
bool wf_pma_rx(struct wf_pma *pma, uint8_t *mad);

#endif
