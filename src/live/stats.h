/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats.h - what is counted of programs and hosts, and how it is told.
 */
#ifndef WF_LIVE_STATS_H
#define WF_LIVE_STATS_H

#include <stdatomic.h>
#include <stdint.h>

#include "live/table.h"
#include "rdma/counter.h"

/* clang-format off */
/*
 * What is counted of a program or a host besides an adapter's counters: rows as in rdma/counter.h.
 */
#define WF_LIVE_COUNTERS(ROW)                                                                      \
	ROW(TX_OCTETS, "tx_octets", .unit = "bytes", .help = "bytes sent, with headers",           \
	    .files = { "port_xmit_data" }, .file_unit = 4,                                         \
	    .metrics = { { "node_infiniband_port_data_transmitted_bytes_total", NULL } })          \
	ROW(RX_OCTETS, "rx_octets", .unit = "bytes", .help = "bytes received, with headers",       \
	    .files = { "port_rcv_data" }, .file_unit = 4,                                          \
	    .metrics = { { "node_infiniband_port_data_received_bytes_total", NULL } })             \
	/* … or could not be let in. */                                                            \
	ROW(DROPPED, "dropped", .help = "packets that could not be sent",                          \
	    .files = { "port_xmit_discards" },                                                     \
	    .metrics = { { "node_infiniband_port_discards_transmitted_total", NULL } },            \
	    .status = "dropped")                                                                   \
	/*                                                                                         \
	 * On the way here, by a link that loses some. Of such a link a port sees errors; each is  \
	 * taken for one symbol.                                                                   \
	 */                                                                                        \
	ROW(LOST, "lost", .help = "packets lost to errors on links",                               \
	    .files = { "port_rcv_errors", "symbol_error" },                                        \
	    .metrics = { { "node_infiniband_port_errors_received_total",                           \
	                   "packets with errors on the way in" },                                  \
	                 { "node_infiniband_symbol_error_total",                                   \
	                   "errors on the link, one for each such packet" },                       \
	                 { "weft_link_lost_packets_total", NULL } }, .status = "lost")             \
	/* They were discarded. The file is as mlx5 has it. */                                     \
	ROW(ICRC_ERRORS, "icrc_errors", .help = "packets that came corrupted",                     \
	    .files = { "port_rcv_errors", "symbol_error" }, .wire_file = "rx_icrc_encapsulated",   \
	    .metrics = { { "node_infiniband_port_errors_received_total", NULL },                   \
	                 { "node_infiniband_symbol_error_total", NULL },                           \
	                 { "weft_icrc_errors_total", NULL } },                                     \
	    .status = "icrc_errors", .wire = "rx_icrc_errors")                                     \
	ROW(LINK_DOWNED, "link_downed", .help = "times the link went down",                        \
	    .files = { "link_downed" },                                                            \
	    .metrics = { { "node_infiniband_link_downed_total", NULL } })                          \
	/* Of a model that goes by the clock: packets by which was counted, … */                   \
	ROW(LATE_PACKETS, "late_packets",                                                          \
	    .help = "packets of which weft_late_nanoseconds_total is the sum",                     \
	    .metrics = { { "weft_late_packets_total", NULL } }, .status = "late_packets")          \
	/* … and how late they were, their sum. */                                                 \
	ROW(LATE_NS, "late_ns", .unit = "ns",                                                      \
	    .help = "how long after they were due programs took packets in",                       \
	    .metrics = { { "weft_late_nanoseconds_total", NULL } }, .status = "late_ns")           \
	/* Of a host on the wire. */                                                               \
	ROW(WIRE_TX_PACKETS, "wire_tx_packets", .help = "packets sent to the wire",                \
	    .metrics = { { "weft_wire_transmitted_packets_total", NULL } },                        \
	    .wire_file = "wire_tx_packets", .wire = "tx_packets")                                  \
	/* … or were not allowed. */                                                               \
	ROW(WIRE_TX_ERRORS, "wire_tx_errors", .help = "packets that the wire did not take",        \
	    .metrics = { { "weft_wire_transmit_errors_total", NULL } },                            \
	    .wire_file = "wire_tx_errors", .wire = "tx_errors")                                    \
	ROW(WIRE_RX_PACKETS, "wire_rx_packets", .help = "packets that came from the wire",         \
	    .metrics = { { "weft_wire_received_packets_total", NULL } },                           \
	    .wire_file = "wire_rx_packets", .wire = "rx_packets")                                  \
	ROW(WIRE_RX_MALFORMED, "wire_rx_malformed", .help = "datagrams that were no RoCE v2",      \
	    .metrics = { { "weft_wire_malformed_total", NULL } },                                  \
	    .wire_file = "wire_rx_malformed", .wire = "rx_malformed")                              \
	/* Nobody has that queue pair, or not for that sender. */                                  \
	ROW(WIRE_RX_REFUSED, "wire_rx_refused",                                                    \
	    .help = "packets for nobody, or not for that sender",                                  \
	    .metrics = { { "weft_wire_refused_total", NULL } },                                    \
	    .wire_file = "wire_rx_refused", .wire = "rx_refused")                                  \
	/* The program has not taken in what came before. */                                       \
	ROW(WIRE_RX_NO_ROOM, "wire_rx_no_room",                                                    \
	    .help = "packets that the program had no room for",                                    \
	    .metrics = { { "weft_wire_no_room_total", NULL } },                                    \
	    .wire_file = "wire_rx_no_room", .wire = "rx_no_room")                                  \
	/* The daemon has not: the socket's buffer was full. */                                    \
	ROW(WIRE_RX_OVERFLOW, "wire_rx_overflow",                                                  \
	    .help = "packets that the socket had no room for",                                     \
	    .metrics = { { "weft_wire_overflow_total", NULL } },                                   \
	    .wire_file = "wire_rx_overflow", .wire = "rx_overflow")
/* clang-format on */

/* All that is counted of a host: those of its adapter, and these. */
#define WF_LIVE_ID(id, ...) WF_LIVE_##id,
enum wf_live_count {
	WF_LIVE_BEFORE = WF_COUNTERS - 1, /* the last of the adapter's */
	WF_LIVE_COUNTERS(WF_LIVE_ID) WF_LIVE_COUNTS
};

/* The row of each of them, i < WF_LIVE_COUNTS. */
const struct wf_host_counter *wf_live_counter(uint32_t i);

/*
 * One program, in the file that answers WF_LIVE_STATUS. Slot 0 is a host: all its programs, those
 * that have ended included. Hosts come first, in their order.
 */
struct wf_live_status {
	uint32_t host, slot;
	int32_t pid;
	uint32_t qps;
	uint32_t listens; /* services of communication management that it listens for */
	char program[WF_LIVE_NAME];
	uint64_t count[WF_LIVE_COUNTS];
};

/* What a program tells of itself: memory that it writes and the daemon reads. */
struct wf_live_stats {
	_Atomic uint32_t qps;
	_Atomic uint64_t count[WF_LIVE_COUNTS];
};

#endif
