/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter.h - what evidence is made of: counters, whoever counted them, each with one meaning and
 * one unit.
 *
 * What simulated ports and adapters count has its rows in fabric/counter.h and rdma/counter.h, with
 * its names in ethtool -S, in InfiniBand's port counters and in hw_counters; all of them are
 * counters here, too, under their fields' names. What real hardware counts besides has its rows
 * below. What else tools call them is in names.c. Times are in picoseconds, data in bytes.
 */
#ifndef WF_EVIDENCE_COUNTER_H
#define WF_EVIDENCE_COUNTER_H

#include "fabric/counter.h"
#include "rdma/counter.h"

/* ROW(id, help): what weft does not count itself. */
#define WF_EV_OTHERS(ROW)                                                                          \
	ROW(queue_drops, "packets dropped for want of room where they were to leave")              \
	ROW(queue_drop_bytes, "the same in bytes")                                                 \
	ROW(wred_drops, "packets that WRED dropped instead of marking")                            \
	ROW(wred_drop_bytes, "the same in bytes")                                                  \
	ROW(ecn_marked_bytes, "bytes of packets marked")                                           \
	ROW(queue_watermark, "the longest that a queue was in the shared buffer")                  \
	ROW(pg_shared_watermark, "the most of the shared buffer that came in here")                \
	ROW(headroom_watermark, "the most of the headroom that was used")                          \
	ROW(pause_on_off, "times that pauses began")                                               \
	ROW(deadlocked, "times that the queue was found in a circle that none can leave")          \
	ROW(peak_rate, "the most that was sent in a while, bit/s")                                 \
	ROW(wd_stormed, "the watchdog holds the queue now")                                        \
	ROW(wd_tx_ok, "packets for the queue while the watchdog held it, and that left")           \
	ROW(wd_rx_ok, "packets that came in while the watchdog held the queue, and were let in")   \
	ROW(wd_tx_last, "packets for the queue that the watchdog dropped in its last storm")       \
	ROW(wd_rx_last, "packets that came in and were dropped in the last storm")                 \
	ROW(trim_drops, "packets that could not even be trimmed")                                  \
	ROW(if_in_errors, "packets that came with errors, of all kinds")                           \
	ROW(if_in_discards, "packets that came and were dropped, of all reasons")                  \
	ROW(if_out_errors, "packets that were not sent, for errors")                               \
	ROW(if_out_discards, "packets that were not sent, of all reasons")                         \
	ROW(if_rx_bytes, "bytes received")                                                         \
	ROW(rx_prio_packets, "packets received in a priority")                                     \
	ROW(rx_prio_bytes, "bytes received in a priority")                                         \
	ROW(pause_off_tx, "pause frames sent that say go on")                                      \
	ROW(pause_off_rx, "pause frames received that say go on")                                  \
	ROW(global_pause_rx, "pause frames for the whole link received, in place of PFC")          \
	ROW(global_pause_tx, "pause frames for the whole link sent, in place of PFC")              \
	ROW(pause_transitions, "times that pauses began and ended")                                \
	ROW(storm_warnings, "times that the adapter sent pauses for long")                         \
	ROW(nic_discards, "packets for which the adapter had no room")                             \
	ROW(nic_nearly_full, "times that the adapter's buffer was nearly full")                    \
	ROW(symbol_errors, "symbols that came wrong")                                              \
	ROW(pcs_symbol_errors, "symbols that came wrong, below the FEC")                           \
	ROW(phy_bits, "bits that came")                                                            \
	ROW(link_recoveries, "times the link trained again without going down")                    \
	ROW(module_events, "times that a module was unplugged")                                    \
	ROW(module_hot, "times that a module was too hot")                                         \
	ROW(nic_marked, "packets that the adapter marked itself, for want of room")                \
	ROW(pcie_stalled_rd, "share of time for which reads of memory waited for PCIe, percent")   \
	ROW(pcie_stalled_wr, "share of time for which writes to memory waited for PCIe, percent")  \
	ROW(pcie_integrity, "errors on PCIe")                                                      \
	ROW(rdma_tx_bytes, "bytes of RDMA sent")                                                   \
	ROW(rdma_rx_bytes, "bytes of RDMA received")                                               \
	ROW(rcv_remote_physical, "packets that came marked as bad by a link further back")         \
	ROW(xmit_constraint, "packets that a partition or filter did not let out")                 \
	ROW(rcv_constraint, "packets that a partition or filter did not let in")                   \
	ROW(local_integrity, "times that a link had too many errors at once")                      \
	ROW(buffer_overruns, "times that a buffer overran although credits are there")             \
	ROW(vl15_dropped, "management packets dropped")                                            \
	ROW(qp1_dropped, "management packets for QP1 dropped")                                     \
	ROW(xmit_wait_ticks, "ticks, of a length that hardware chooses, with data and no credits") \
	ROW(unicast_tx, "unicast packets sent")                                                    \
	ROW(unicast_rx, "unicast packets received")                                                \
	ROW(multicast_tx, "multicast packets sent")                                                \
	ROW(multicast_rx, "multicast packets received")                                            \
	ROW(local_physical, "packets received with physical errors of this link")                  \
	ROW(malformed, "packets received that were malformed")                                     \
	ROW(dlid_mapping, "packets received for which there is no way out")                        \
	ROW(vl_mapping, "packets received on a lane that there is not")                            \
	ROW(looping, "packets received that would leave where they came in")                       \
	ROW(life_discards, "packets that were in a switch for too long")                           \
	ROW(retry_rate, "the largest rate of retransmissions on the link")                         \
	ROW(adp_retrans, "times that adaptive retransmission sent again")                          \
	ROW(adp_retrans_to, "times that adaptive retransmission timed out")                        \
	ROW(slow_restart, "times that sending began again slowly after a loss")                    \
	ROW(slow_restart_cnps, "CNPs made at such a time")                                         \
	ROW(slow_restart_trans, "times that such a state changed")                                 \
	ROW(icrc_errors, "packets with a wrong ICRC, behind links without errors")                 \
	ROW(retries_exceeded, "queue pairs that ran out of retries")                               \
	ROW(rnr_retries_exceeded, "queue pairs that ran out of RNR retries")                       \
	ROW(cnp_tx, "CNPs sent")                                                                   \
	ROW(cnp_rx, "CNPs received")                                                               \
	ROW(ce_rx, "packets that came marked")                                                     \
	ROW(credit_wd_drops, "packets deleted because no credit came")

#define WF_EV_PORT_ID(field, ...) WF_EV_##field,
#define WF_EV_HOST_ID(id, ...) WF_EV_HCA_##id,
#define WF_EV_OTHER_ID(id, help) WF_EV_##id,
enum wf_ev_counter {
	WF_PORT_COUNTERS(WF_EV_PORT_ID, WF_EV_PORT_ID) WF_HOST_COUNTERS(WF_EV_HOST_ID)
		WF_EV_OTHERS(WF_EV_OTHER_ID) WF_EV_N,
	WF_EV_PASSED = WF_EV_N, /* a name that is known, and tells nothing that is used */
};

/* Its name here, and what it is; both static. */
const char *wf_ev_counter_name(enum wf_ev_counter counter);
const char *wf_ev_counter_help(enum wf_ev_counter counter);

/* As it is now, or the largest there was: of two snapshots the later says it all. */
bool wf_ev_is_gauge(enum wf_ev_counter counter);

/* What a tool's name for a counter says. */
struct wf_ev_name {
	enum wf_ev_counter counter;
	int queue;    /* priority, queue or lane in the name; -1: none */
	uint64_t by;  /* counts of the counter to one of the tool */
	uint64_t max; /* where the tool's counter stops and says no more; 0: never */
};

/* What speaks: names are looked for among its own first. */
enum wf_ev_tongue {
	WF_EV_ETHTOOL,  /* ethtool -S */
	WF_EV_SYSFS,    /* counters/ and hw_counters/ below /sys, rdma statistic */
	WF_EV_SAI,      /* COUNTERS_DB */
	WF_EV_PMA,      /* perfquery, ibqueryerrors, ibdiagnet */
	WF_EV_EXPORTER, /* Prometheus */
	WF_EV_WEFT,     /* a results file */
};

/* Looks a name up; false: nobody knows it. */
bool wf_ev_name(enum wf_ev_tongue tongue, const char *name, size_t len, struct wf_ev_name *name_p);

#endif
