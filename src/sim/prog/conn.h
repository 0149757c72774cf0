/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conn.h - connecting queue pairs before a run begins, with what the fabric's profile says of them.
 */
#ifndef WF_SIM_PROG_CONN_H
#define WF_SIM_PROG_CONN_H

#include "base/err.h"
#include "fabric/fabric.h"
#include "rdma/qp.h"
#include "sim/prog/cc_choice.h"

/* The path MTU of a fabric. Returns 0, or -EINVAL with err filled (one that verbs do not have). */
int wf_conn_mtu(const struct wf_fabric *fabric, enum wf_mtu *mtu_p, struct wf_err *err) WF_MUST_USE;

/*
 * Hardware settings of a queue pair of a host (WF_TOPO_NONE: of any), from the fabric's or the
 * host's own. cc, the fabric's, is borrowed for the life of the queue pair; NULL: no congestion
 * control. Returns 0, or -EINVAL with err filled.
 */
int wf_conn_tune(const struct wf_fabric *fabric, uint32_t host, const struct wf_cc_choice *cc,
                 struct wf_qp_tune *tune, struct wf_err *err) WF_MUST_USE;

/* A timeout as queue pairs have it: n for 4.096 us * 2^n, the smallest that is not less than at. */
uint8_t wf_conn_timeout(wf_time at);

/*
 * Takes an RC queue pair from RESET to RTS: towards queue pair peer_qpn of peer_host, with packets
 * of class cls, open to access (WF_ACCESS_REMOTE_*). Where ports have addresses, it belongs to one
 * of them by nic.qp_port, and with nic.apm has the path by the others as its alternate one. Returns
 * 0 or -EINVAL.
 */
int wf_conn_up(const struct wf_fabric *fabric, struct wf_qp *qp, uint32_t peer_host,
               uint32_t peer_qpn, uint8_t cls, uint32_t access) WF_MUST_USE;

#endif
