/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter.h - what a port counts: one row for each counter, in which all its names are.
 *
 * From the rows are made the fields in which lanes count (fabric/device.h), the sums that are read
 * off a simulation (struct wf_sim_counts) and the table of struct wf_port_counter by which they are
 * added up, reported, recorded, exported and shown live (sim/look/counts.h). A new counter is a row
 * here, and the place where it is counted: lane->NAME++.
 */
#ifndef WF_FABRIC_COUNTER_H
#define WF_FABRIC_COUNTER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/column.h"

enum wf_counter_kind {
	WF_COUNTER, /* only grows; several are added up */
	WF_GAUGE,   /* as it is now; several are added up */
	WF_MAXIMUM, /* the largest there was, of several, too */
};

/* Fabrics in which a counter means something; elsewhere a result has none. */
enum wf_counter_of { WF_OF_ALL, WF_OF_PFC, WF_OF_CREDIT, WF_OF_ALL_BUT_CREDIT };

/* What a tool calls a counter of real hardware. */
struct wf_tool_name {
	const char *name; /* with %u, the queue's priority or VL: of a queue; else of the port */
	const char *unit;
	double by; /* so many of what is counted are one there */
};

/* Parts of weft run's table in which there are counters: of lines LOSSES + 1, + 2 and so on. */
enum {
	WF_REPORT_LOSSES,
	WF_REPORT_PART = 20, /* lines that a part has room for */
	WF_REPORT_QUEUES = WF_REPORT_PART,
	WF_REPORT_PAUSES = 2 * WF_REPORT_PART,
	WF_REPORT_CREDITS = 3 * WF_REPORT_PART,
	WF_REPORT_LONGEST = 4 * WF_REPORT_PART,
	WF_REPORT_END = 5 * WF_REPORT_PART,
};

/* A name that is NULL: the counter is not shown there. */
struct wf_port_counter {
	const char *name; /* of the field */
	size_t offset;    /* in struct wf_sim_counts */
	enum wf_counter_kind kind;
	enum wf_counter_of of;
	const char *unit, *help;

	/* Results files: table counter (docs/results.md). */
	struct wf_tool_name ether, ib; /* ethtool -S, InfiniBand's PMA; the rest in their style */
	const char *measure;           /* what it is on every fabric; NULL: its own name */
	const char *exporter;          /* of ib, in node_exporter: node_infiniband_… */
	bool followed;                 /* sampled over time; else at the end only */

	const char *run;              /* weft run --json */
	const char *value;            /* results files: table value */
	const char *live;             /* weft status --json */
	struct wf_prom_family metric; /* a live fabric's: weft_switch_port_…_total */
	struct wf_column report;      /* weft run: its line, which has no width */
	bool rare;                    /* and that is empty where there was none */
	struct wf_column ports;       /* weft run --ports */
	struct wf_column status;      /* weft status */
	bool notable;                 /* --ports lists a port that has some */
};

/*
 * LANE: what lanes count in a field of that name. OTHER: what is read from elsewhere, or made of
 * others, in sim/look/counts.c. In the order in which they are shown.
 */
/* clang-format off */
#define WF_PORT_COUNTERS(LANE, OTHER)                                                              \
	OTHER(tx_packets, .unit = "packets", .help = "sent", .ether = { "tx_prio%u_packets", "packets", 1 }, \
	      .ib = { "port_xmit_packets", "packets", 1 },                                         \
	      .exporter = "port_packets_transmitted_total",                                        \
	      .run = "tx_packets", .value = "tx_packets", .live = "tx_packets",                    \
	      .metric = { "transmitted_packets", "packets sent" }, .status = { 1, 11, "tx packets" }) \
	OTHER(tx_bytes, .unit = "bytes", .help = "sent", .followed = true,                         \
	      .ether = { "tx_prio%u_bytes", "bytes", 1 }, .ib = { "port_xmit_data", "4 bytes", 4 }, \
	      .exporter = "port_data_transmitted_bytes_total",                                     \
	      .run = "tx_bytes", .value = "tx_bytes", .live = "tx_bytes",                          \
	      .metric = { "transmitted_bytes", "bytes sent, with headers" })                       \
	/* Of whole ports: what the peer sent and was not lost on the link. */                     \
	OTHER(rx_packets, .unit = "packets", .help = "packets received", .live = "rx_packets",     \
	      .metric = { "received_packets", NULL }, .status = { 2, 11, "rx packets" })           \
	/* Lost on the link into the port, whatever the reason: a part of what is dropped. */      \
	LANE(rx_lost, .unit = "packets", .help = "packets that the peer sent and that did not come") \
	/* All reasons (enum wf_drop). */                                                          \
	OTHER(drops, .unit = "packets", .help = "packets lost, for whatever reason",               \
	      .run = "drops", .value = "drops", .notable = true)                                   \
	/* The next two together. */                                                               \
	OTHER(drops_congestion, .unit = "packets", .help = "packets lost to congestion",           \
	      .run = "drops_congestion", .value = "drops_congestion", .ports = { 1, 10, "drops" }) \
	OTHER(drops_buffer, .unit = "packets", .help = "packets dropped for want of buffer",       \
	      .followed = true, .ether = { "rx_prio%u_discards", "packets", 1 },                   \
	      .ib = { "port_buffer_overrun_errors", "packets", 1 },                                \
	      .report = { WF_REPORT_LOSSES + 1, 0, "  congestion: no room" }, .rare = true,        \
	      .run = "drops_buffer", .value = "drops_buffer", .live = "drops_buffer",              \
	      .metric = { "buffer_drops", "packets for which there was no room" },                 \
	      .status = { 3, 9, "drops" })                                                         \
	OTHER(drops_life, .unit = "packets", .help = "packets too long at the head of a queue",    \
	      .of = WF_OF_CREDIT, .followed = true,                                                \
	      .ib = { "port_sw_hoq_lifetime_limit_discards", "packets", 1 },                       \
	      .report = { WF_REPORT_LOSSES + 2, 0, "  congestion: head of queue" }, .rare = true,  \
	      .run = "drops_life", .value = "drops_life", .live = "drops_life",                    \
	      .metric = { "lifetime_drops", NULL }, .status = { 3, 9, "drops" })                   \
	OTHER(drops_error, .unit = "packets",                                                      \
	      .help = "packets corrupted or lost on the link into the port", .followed = true,     \
	      .ether = { "rx_crc_errors_phy", "packets", 1 },                                      \
	      .ib = { "port_rcv_errors", "packets", 1 }, .exporter = "port_errors_received_total", \
	      .report = { WF_REPORT_LOSSES + 3, 0, "  errors on links" }, .rare = true,            \
	      .run = "drops_error", .value = "drops_error", .live = "drops_error",                 \
	      .metric = { "link_errors", "packets lost to errors on the link" },                   \
	      .ports = { 2, 10, "errors" }, .status = { 4, 9, "errors" })                          \
	OTHER(drops_down, .unit = "packets",                                                       \
	      .help = "packets on the link or queued for it when it went down, or with no way round", \
	      .report = { WF_REPORT_LOSSES + 4, 0, "  links that were down" }, .rare = true,       \
	      .run = "drops_down", .value = "drops_down", .live = "drops_down",                    \
	      .metric = { "link_down_drops", "packets lost because a link was down" },             \
	      .ports = { 3, 10, "link down" }, .status = { 5, 9, "link down" })                    \
	/* The next two are its parts: real ports know only of the first. */                       \
	OTHER(tx_down, .unit = "packets",                                                          \
	      .help = "packets queued for the link when it went down, or with no way but it",      \
	      .measure = "drops_down", .followed = true,                                           \
	      .ether = { "tx_discards_phy", "packets", 1 },                                        \
	      .ib = { "port_inactive_discards", "packets", 1 })                                    \
	LANE(rx_down, .unit = "packets",                                                           \
	     .help = "packets on the link into the port when it went down, or with no way on",     \
	     .measure = "drops_down", .followed = true,                                            \
	     .ether = { "rx_link_down_discards", "packets", 1 },                                   \
	     .ib = { "port_rcv_link_down_discards", "packets", 1 })                                \
	/* drops_life and tx_down, which InfiniBand's tools know together, too. */                 \
	OTHER(tx_discards, .unit = "packets", .of = WF_OF_CREDIT,                                  \
	      .help = "packets that did not leave: too long at the head of a queue, or the link was down", \
	      .followed = true, .ib = { "port_xmit_discards", "packets", 1 },                      \
	      .exporter = "port_discards_transmitted_total")                                       \
	OTHER(drops_route, .unit = "packets", .help = "packets that had nowhere to go",            \
	      .followed = true, .ether = { "rx_no_route_discards", "packets", 1 },                 \
	      .ib = { "port_rcv_switch_relay_errors", "packets", 1 },                              \
	      .exporter = "port_receive_switch_relay_errors_total",                                \
	      .report = { WF_REPORT_LOSSES + 5, 0, "  no route" }, .rare = true,                   \
	      .run = "drops_route", .value = "drops_route", .live = "drops_route",                 \
	      .metric = { "route_drops", NULL },                                                   \
	      .ports = { 1, 10, "drops" }, .status = { 3, 9, "drops" })                            \
	OTHER(drops_hops, .unit = "packets", .of = WF_OF_ALL_BUT_CREDIT,                           \
	      .help = "packets that passed too many switches", .followed = true,                   \
	      .ether = { "rx_hop_limit_discards", "packets", 1 },                                  \
	      .report = { WF_REPORT_LOSSES + 8, 0, "  hop limit" }, .rare = true,                  \
	      .run = "drops_hops", .value = "drops_hops", .live = "drops_hops",                    \
	      .metric = { "hop_limit_drops", NULL },                                               \
	      .ports = { 1, 10, "drops" }, .status = { 3, 9, "drops" })                            \
	OTHER(drops_mtu, .unit = "packets", .help = "packets larger than the port passes",         \
	      .followed = true, .ether = { "rx_out_of_range_len_phy", "packets", 1 },              \
	      .ib = { "port_neighbor_mtu_discards", "packets", 1 },                                \
	      .report = { WF_REPORT_LOSSES + 6, 0, "  larger than port.mtu" }, .rare = true,       \
	      .run = "drops_mtu", .value = "drops_mtu", .live = "drops_mtu",                       \
	      .metric = { "mtu_drops", NULL },                                                     \
	      .ports = { 1, 10, "drops" }, .status = { 3, 9, "drops" })                            \
	OTHER(drops_pkey, .unit = "packets", .help = "packets of a partition that the port does not let through", \
	      .of = WF_OF_CREDIT, .report = { WF_REPORT_LOSSES + 9, 0, "  other partitions" }, .rare = true, \
	      .run = "drops_pkey", .value = "drops_pkey", .live = "drops_pkey",                    \
	      .metric = { "partition_drops", NULL }, .ports = { 1, 10, "drops" }, .status = { 3, 9, "drops" }) \
	/* No congestion. Its two parts follow. */                                                 \
	OTHER(drops_watchdog, .unit = "packets", .of = WF_OF_PFC,                                  \
	      .help = "packets dropped by the PFC watchdog",                                       \
	      .report = { WF_REPORT_LOSSES + 7, 0, "  PFC watchdog" }, .rare = true,               \
	      .run = "drops_watchdog", .value = "drops_watchdog", .live = "drops_watchdog",        \
	      .metric = { "watchdog_drops", NULL },                                                \
	      .ports = { 11, 10, "watchdog" }, .status = { 3, 9, "drops" })                        \
	OTHER(tx_watchdog, .unit = "packets", .of = WF_OF_PFC,                                     \
	      .help = "packets for a queue that the PFC watchdog had stopped", .followed = true,   \
	      .measure = "drops_watchdog", .ether = { "tx_prio%u_watchdog_discards", "packets", 1 }) \
	OTHER(rx_watchdog, .unit = "packets", .of = WF_OF_PFC,                                     \
	      .help = "packets that came in by a port whose queue the PFC watchdog had stopped",   \
	      .followed = true, .measure = "drops_watchdog",                                       \
	      .ether = { "rx_prio%u_watchdog_discards", "packets", 1 })                            \
	/* Of whole ports, and mean numbers: idle links carry codewords, too. */                   \
	OTHER(fec_corrected, .unit = "codewords", .help = "codewords with errors that the FEC mended", \
	      .ether = { "rx_fec_corrected_blocks_phy", "codewords", 1 }, .followed = true, .rare = true, \
	      .ib = { "port_fec_correctable_blocks", "codewords", 1 },                             \
	      .report = { WF_REPORT_QUEUES + 2, 0, "FEC, codewords mended" },                      \
	      .run = "fec_corrected", .value = "fec_corrected", .live = "fec_corrected",           \
	      .metric = { "fec_corrected_codewords", NULL })                                       \
	OTHER(fec_symbols, .unit = "symbols", .help = "symbols that the FEC mended",               \
	      .ether = { "rx_fec_corrected_symbols_phy", "symbols", 1 },                           \
	      .ib = { "port_fec_corrected_symbols", "symbols", 1 })                                \
	OTHER(fec_bits, .unit = "bits", .help = "bits that the FEC mended",                        \
	      .ether = { "rx_corrected_bits_phy", "bits", 1 }, .ib = { "phy_corrected_bits", "bits", 1 }) \
	OTHER(fec_uncorrected, .unit = "packets", .followed = true, .rare = true, .notable = true, \
	      .help = "packets in codewords that the FEC could not mend",                          \
	      .ether = { "rx_fec_uncorrectable_blocks_phy", "packets", 1 },                        \
	      .ib = { "port_fec_uncorrectable_blocks", "packets", 1 },                             \
	      .report = { WF_REPORT_QUEUES + 3, 0, "FEC, packets not mended" },                    \
	      .run = "fec_uncorrected", .value = "fec_uncorrected", .live = "fec_uncorrected",     \
	      .metric = { "fec_uncorrected", NULL })                                               \
	OTHER(link_retries, .unit = "times", .help = "times that a link sent a packet again",      \
	      .ether = { "tx_llr_replays", "times", 1 }, .ib = { "plr_xmit_retry_events", "times", 1 }, \
	      .report = { WF_REPORT_QUEUES + 4, 0, "sent again by links" }, .rare = true,          \
	      .run = "link_retries", .value = "link_retries", .live = "link_retries",              \
	      .metric = { "link_retries", NULL }, .followed = true, .notable = true)               \
	/* Of whole ports. */                                                                      \
	OTHER(link_downed, .unit = "times", .help = "times the link went down",                    \
	      .live = "link_downed", .metric = { "link_downed", NULL })                            \
	LANE(ecn_marked, .unit = "packets", .help = "packets marked", .followed = true,            \
	     .ether = { "tx_ecn_marked_tc_%u", "packets", 1 },                                     \
	     .ib = { "vl%u_mark_fecn", "packets", 1 },                                             \
	     .report = { WF_REPORT_CREDITS + 3, 0, "ECN marks" },                                  \
	     .run = "ecn_marks", .value = "ecn_marked", .live = "ecn_marked",                      \
	     .metric = { "ecn_marked", NULL }, .notable = true,                                    \
	     .ports = { 9, 10, "marks" }, .status = { 6, 9, "ecn" })                               \
	LANE(trimmed, .unit = "packets",                                                           \
	     .help = "packets that did not fit and went on without their payload",                 \
	     .of = WF_OF_ALL_BUT_CREDIT, .followed = true,                                         \
	     .ether = { "tx_trimmed_tc_%u", "packets", 1 },                                        \
	     .report = { WF_REPORT_QUEUES + 1, 0, "packets trimmed" }, .rare = true,               \
	     .run = "trimmed", .value = "trimmed", .live = "trimmed", .notable = true)             \
	LANE(pause_tx, .unit = "frames", .help = "pause frames sent that say stop",                \
	     .of = WF_OF_PFC, .followed = true, .ether = { "tx_prio%u_pause", "frames", 1 },       \
	     .report = { WF_REPORT_PAUSES + 1, 0, "PFC pauses sent" },                             \
	     .run = "pauses_sent", .value = "pause_tx", .live = "pause_tx",                        \
	     .metric = { "pause_transmitted", "PFC frames sent that say stop" }, .notable = true,  \
	     .ports = { 4, 10, "pauses out" }, .status = { 7, 9, "pause tx" })                     \
	LANE(pause_rx, .unit = "frames", .help = "pause frames received that say stop",            \
	     .of = WF_OF_PFC, .followed = true, .ether = { "rx_prio%u_pause", "frames", 1 },       \
	     .run = "pauses_received", .value = "pause_rx", .live = "pause_rx",                    \
	     .metric = { "pause_received", "PFC frames received that say stop" }, .notable = true, \
	     .ports = { 5, 10, "pauses in" }, .status = { 8, 9, "pause rx" })                      \
	OTHER(paused_ps, .unit = "ps", .help = "time for which pause frames stopped the queue",    \
	      .of = WF_OF_PFC, .followed = true, .measure = "stopped_ps",                          \
	      .ether = { "rx_prio%u_pause_duration", "us", 1e6 },                                  \
	      .report = { WF_REPORT_PAUSES + 2, 0, "PFC paused, sum of ports" },                   \
	      .run = "paused_ps", .value = "paused", .live = "paused_ps", .notable = true,         \
	      .ports = { 6, 10, "paused" })                                                        \
	/* After SONiC's PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED and _RESTORED. Of hosts, too. */     \
	OTHER(watchdog_acted, .unit = "times", .of = WF_OF_PFC,                                    \
	      .help = "times that the PFC watchdog acted on the queue", .followed = true,          \
	      .ether = { "pfc_wd_prio%u_deadlock_detected", "times", 1 },                          \
	      .report = { WF_REPORT_PAUSES + 3, 0, "PFC watchdog acted" }, .rare = true,           \
	      .run = "watchdog_acted", .value = "watchdog_acted", .live = "watchdog_acted",        \
	      .metric = { "watchdog_acted", NULL }, .notable = true)                               \
	OTHER(watchdog_restored, .unit = "times", .of = WF_OF_PFC,                                 \
	      .help = "times that the PFC watchdog ended what it had done", .followed = true,      \
	      .ether = { "pfc_wd_prio%u_deadlock_restored", "times", 1 },                          \
	      .report = { WF_REPORT_PAUSES + 4, 0, "PFC watchdog restored" }, .rare = true,        \
	      .run = "watchdog_restored", .value = "watchdog_restored", .live = "watchdog_restored", \
	      .metric = { "watchdog_restored", NULL })                                             \
	/* mlx5 has it of the whole port. */                                                       \
	OTHER(storm_errors, .unit = "times", .of = WF_OF_PFC,                                      \
	      .help = "times that an adapter was made to send no more pauses",                     \
	      .ether = { "tx_pause_storm_error_events", "events", 1 })                             \
	OTHER(pausing_ps, .unit = "ps", .help = "time for which the port's pause frames stopped its peer", \
	      .of = WF_OF_PFC, .ether = { "tx_prio%u_pause_duration", "us", 1e6 })                 \
	/* The head of a queue had to wait. */                                                     \
	OTHER(credit_waits, .unit = "times", .help = "times that a packet had to wait for credits", \
	      .of = WF_OF_CREDIT, .report = { WF_REPORT_CREDITS + 1, 0, "credit waits" },          \
	      .run = "credit_waits", .value = "credit_waits", .live = "credit_waits",              \
	      .metric = { "credit_waits", NULL }, .notable = true,                                 \
	      .ports = { 7, 10, "waits" }, .status = { 9, 9, "no credit" })                        \
	OTHER(credit_wait_ps, .unit = "ps", .help = "time for which there was data to send and no credit", \
	      .of = WF_OF_CREDIT, .followed = true, .measure = "stopped_ps",                       \
	      .ib = { "port_xmit_wait", "ns", 1e3 }, .exporter = "port_transmit_wait_total",       \
	      .report = { WF_REPORT_CREDITS + 2, 0, "credit wait, sum of ports" },                 \
	      .run = "credit_wait_ps", .value = "credit_wait", .live = "credit_wait_ps",           \
	      .ports = { 8, 10, "waited" })                                                        \
	OTHER(vl_stalls, .unit = "times", .of = WF_OF_CREDIT,                                      \
	      .help = "times that heads were dropped until the VL dropped all", .followed = true,  \
	      .ib = { "vl%u_stalls", "times", 1 },                                                 \
	      .report = { WF_REPORT_CREDITS + 4, 0, "VL stalls" }, .rare = true,                   \
	      .run = "vl_stalls", .value = "vl_stalls", .live = "vl_stalls",                       \
	      .metric = { "vl_stalls", NULL }, .notable = true)                                    \
	OTHER(queue_bytes, .kind = WF_GAUGE, .unit = "bytes",                                      \
	      .help = "waiting to leave by the queue", .followed = true,                           \
	      .ether = { "tc_transmit_queue_tc_%u", "bytes", 1 },                                  \
	      .ib = { "vl%u_queue_bytes", "bytes", 1 }, .live = "queue_bytes")                     \
	OTHER(buffer_bytes, .kind = WF_GAUGE, .unit = "bytes",                                     \
	      .help = "of the buffer of the switch or adapter, taken by what came in here", .followed = true,      \
	      .ether = { "rx_prio%u_buffer_bytes", "bytes", 1 },                                   \
	      .ib = { "vl%u_buffer_bytes", "bytes", 1 })                                           \
	OTHER(max_queue_bytes, .kind = WF_MAXIMUM, .unit = "bytes", .help = "largest queue",       \
	      .ether = { "tc_transmit_queue_max_tc_%u", "bytes", 1 },                              \
	      .ib = { "vl%u_max_queue_bytes", "bytes", 1 },                                        \
	      .report = { WF_REPORT_LONGEST + 1, 0, "longest egress queue" },                      \
	      .run = "max_queue_bytes", .value = "max_queue", .live = "max_queue_bytes",           \
	      .ports = { 10, 10, "max queue" })                                                    \
	OTHER(max_buffer_bytes, .kind = WF_MAXIMUM, .unit = "bytes",                               \
	      .help = "largest part of the buffer of the switch or adapter",                                       \
	      .ether = { "rx_prio%u_max_buffer_bytes", "bytes", 1 },                               \
	      .ib = { "vl%u_max_buffer_bytes", "bytes", 1 },                                       \
	      .report = { WF_REPORT_LONGEST + 2, 0, "fullest ingress buffer" }, .run = "max_buffer_bytes", .value = "max_buffer")
/* clang-format on */

/* The fields of a lane. */
#define WF_LANE_COUNTER(field, ...) uint32_t field;
#define WF_LANE_HAS_NONE(field, ...)
#define WF_LANE_COUNTERS WF_PORT_COUNTERS(WF_LANE_COUNTER, WF_LANE_HAS_NONE)

#endif
