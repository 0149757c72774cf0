/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter.h - what a host's TCP counts: one row for each counter.
 *
 * From the rows are made enum wf_tcp_counter and wf_tcp_counters, the table by which they are
 * added up, reported and recorded. A new counter is a row here, and the place where it is
 * counted. Where Linux counts the same, the row has its name in nstat(8).
 */
#ifndef WF_TCP_COUNTER_H
#define WF_TCP_COUNTER_H

#include "base/base.h"

struct wf_tcp_counter_row {
	const char *name;  /* in weft run --json, and of a value in results */
	const char *nstat; /* NULL: Linux has none */
	const char *help;
	const char *title; /* of the row in weft run's table; NULL: not there */
};

/* clang-format off */
#define WF_TCP_COUNTERS(ROW)                                                                       \
	ROW(OUT_SEGS, "tcp_out_segs", "TcpOutSegs", "segments sent, those without payload too",    \
	    "TCP segments")                                                                        \
	ROW(IN_SEGS, "tcp_in_segs", "TcpInSegs", "segments received", NULL)                        \
	ROW(RETRANS_SEGS, "tcp_retrans_segs", "TcpRetransSegs", "segments sent again",             \
	    "TCP segments sent again")                                                             \
	ROW(TIMEOUTS, "tcp_timeouts", "TcpExtTCPTimeouts", "retransmission timeouts",              \
	    "TCP timeouts")                                                                        \
	ROW(SACK_RECOVERY, "tcp_sack_recovery", "TcpExtTCPSackRecovery",                           \
	    "losses that SACK showed, each of a window", "TCP recoveries by SACK")                 \
	ROW(LOSS_PROBES, "tcp_loss_probes", "TcpExtTCPLossProbes", "tail loss probes sent", NULL)  \
	ROW(ECE, "tcp_ece", NULL, "acknowledgements that echoed a mark", "TCP marks echoed")       \
	ROW(CE, "tcp_ce", NULL, "segments that came marked", NULL)                                 \
	ROW(ACKS, "tcp_acks", NULL, "segments sent without payload", NULL)                         \
	ROW(DELAYED_ACKS, "tcp_delayed_acks", "TcpExtDelayedACKs",                                 \
	    "acknowledgements that waited until their timer ended", NULL)                          \
	ROW(OFO_QUEUE, "tcp_ofo_queue", "TcpExtTCPOFOQueue", "segments that came out of order",    \
	    NULL)                                                                                  \
	ROW(DSACKS, "tcp_dsacks", "TcpExtTCPDSACKOldSent", "segments that had come before", NULL)  \
	ROW(WINDOW_PROBES, "tcp_window_probes", "TcpExtTCPWinProbe", "probes of a closed window",  \
	    NULL)                                                                                  \
	ROW(IDLE_RESTARTS, "tcp_idle_restarts", NULL,                       \
	    "windows begun anew after a pause", NULL)                                              \
	ROW(BAD, "tcp_in_errs", "TcpInErrs", "segments that came corrupted", NULL)                 \
	ROW(RING_DROPS, "tcp_ring_drops", NULL,                                                    \
	    "segments for which the adapter had no receive descriptor left", "TCP ring drops")
/* clang-format on */

#define WF_TCP_CTR_ID(id, ...) WF_TCP_CTR_##id,
enum wf_tcp_counter { WF_TCP_COUNTERS(WF_TCP_CTR_ID) WF_TCP_CTRS };

/* A row for each. */
extern const struct wf_tcp_counter_row wf_tcp_counters[WF_TCP_CTRS];

#endif
