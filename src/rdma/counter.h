/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter.h - what an adapter counts: one row for each counter, in which all its names are.
 *
 * From the rows are made enum wf_counter and wf_host_counters, the table by which hosts' counters
 * are recorded, exported and shown. A new counter is a row here, and the place where it is counted:
 * hca->counter[WF_CTR_…]++. What a live fabric counts of a host besides has rows of the same kind
 * in live/stats.h.
 */
#ifndef WF_RDMA_COUNTER_H
#define WF_RDMA_COUNTER_H

#include <stdbool.h>

#include "base/column.h"

#define WF_HOST_FILES 2
#define WF_HOST_METRICS 3

/* A name that is NULL: the counter is not shown there. */
struct wf_host_counter {
	const char *name; /* "out_of_sequence" … */
	const char *unit; /* "bytes"; NULL: of what help says */
	const char *help;
	bool hw;       /* a file of hw_counters/ below /sys under its name; else weft's own */
	bool followed; /* recorded over time; else at the end only */
	const char *exporter; /* in node_exporter, recorded and live: node_infiniband_… */

	/*
	 * Of hosts of a live fabric. What several have in one file, or one metric, is added up.
	 */
	const char *files[WF_HOST_FILES]; /* of counters/ below /sys, … */
	uint32_t file_unit;               /* in which so many are one; 0: each is */
	const char *wire_file;            /* of hw_counters/, when the host is on the wire */
	struct wf_prom_family metrics[WF_HOST_METRICS];
	const char *status;      /* weft status --json, */
	const char *wire;        /* and there of a host on the wire */
	struct wf_column column; /* weft status */
};

/* clang-format off */
#define WF_HOST_COUNTERS(ROW)                                                                      \
	/* Those of the hw_counters folder of mlx5 devices. */                                     \
	ROW(OUT_OF_SEQUENCE, "out_of_sequence", .help = "request packets that came out of order",  \
	    .hw = true, .followed = true, .exporter = "out_of_sequence_packets_received_total")    \
	ROW(OUT_OF_BUFFER, "out_of_buffer", .help = "messages that found no receive work request", \
	    .hw = true, .followed = true, .exporter = "out_of_buffer_drops_total")                 \
	ROW(DUPLICATE_REQUEST, "duplicate_request",                                                \
	    .help = "request packets that had been executed before", .hw = true, .followed = true, \
	    .exporter = "duplicate_requests_packets_total")                                        \
	ROW(PACKET_SEQ_ERR, "packet_seq_err", .help = "PSN sequence NAKs received",                \
	    .hw = true, .followed = true, .exporter = "packet_sequence_errors_total")              \
	ROW(IMPLIED_NAK_SEQ_ERR, "implied_nak_seq_err",                                            \
	    .help = "responses that showed an earlier one was lost", .hw = true, .followed = true, \
	    .exporter = "implied_nak_seq_errors_total")                                            \
	ROW(LOCAL_ACK_TIMEOUT_ERR, "local_ack_timeout_err", .help = "acknowledgement timeouts",    \
	    .hw = true, .followed = true, .exporter = "local_ack_timeout_errors_total")            \
	ROW(RNR_NAK_RETRY_ERR, "rnr_nak_retry_err", .help = "RNR NAKs received",                   \
	    .hw = true, .followed = true, .exporter = "rnr_nak_retry_packets_received_total")      \
	ROW(REQ_CQE_ERROR, "req_cqe_error",                                                        \
	    .help = "requester completions in error, flushes included",                            \
	    .hw = true, .followed = true, .exporter = "req_cqes_errors_total")                     \
	ROW(REQ_CQE_FLUSH_ERROR, "req_cqe_flush_error", .help = "requester completions flushed",   \
	    .hw = true, .followed = true, .exporter = "req_cqes_flush_errors_total")               \
	ROW(REQ_REMOTE_ACCESS_ERRORS, "req_remote_access_errors",                                  \
	    .help = "requests that the responder refused for want of access",                      \
	    .hw = true, .followed = true, .exporter = "req_remote_access_errors_total")            \
	ROW(REQ_REMOTE_INVALID_REQUEST, "req_remote_invalid_request",                              \
	    .help = "requests that the responder found invalid",                                   \
	    .hw = true, .followed = true, .exporter = "req_remote_invalid_request_errors_total")   \
	ROW(RESP_CQE_ERROR, "resp_cqe_error",                                                      \
	    .help = "responder completions in error, flushes included",                            \
	    .hw = true, .followed = true, .exporter = "resp_cqes_errors_total")                    \
	ROW(RESP_CQE_FLUSH_ERROR, "resp_cqe_flush_error", .help = "responder completions flushed", \
	    .hw = true, .followed = true, .exporter = "resp_cqes_flush_errors_total")              \
	ROW(RESP_LOCAL_LENGTH_ERROR, "resp_local_length_error",                                    \
	    .help = "messages longer than their receive work request",                             \
	    .hw = true, .followed = true, .exporter = "resp_local_length_errors_total")            \
	ROW(RESP_REMOTE_ACCESS_ERRORS, "resp_remote_access_errors",                                \
	    .help = "requests refused for want of access",                                         \
	    .hw = true, .followed = true, .exporter = "resp_remote_access_errors_total")           \
	ROW(RX_WRITE_REQUESTS, "rx_write_requests", .help = "RDMA WRITE requests received",        \
	    .hw = true, .exporter = "rx_write_requests_total")                                     \
	ROW(RX_READ_REQUESTS, "rx_read_requests", .help = "RDMA READ requests received",           \
	    .hw = true, .exporter = "rx_read_requests_total")                                      \
	ROW(RX_ATOMIC_REQUESTS, "rx_atomic_requests", .help = "atomic requests received",          \
	    .hw = true, .exporter = "rx_atomic_requests_total")                                    \
	ROW(NP_CNP_SENT, "np_cnp_sent", .help = "CNPs sent",                                       \
	    .hw = true, .followed = true, .exporter = "np_cnp_packets_sent_total")                 \
	ROW(NP_ECN_MARKED_ROCE_PACKETS, "np_ecn_marked_roce_packets",                              \
	    .help = "packets that came marked", .hw = true, .followed = true,                      \
	    .exporter = "np_ecn_marked_roce_packets_received_total")                               \
	ROW(RP_CNP_HANDLED, "rp_cnp_handled", .help = "CNPs that slowed a queue pair down",        \
	    .hw = true, .followed = true, .exporter = "rp_cnp_packets_handled_total")              \
	ROW(RP_CNP_IGNORED, "rp_cnp_ignored",                                                      \
	    .help = "CNPs for no queue pair, or one that cannot slow down",                        \
	    .hw = true, .followed = true, .exporter = "rp_cnp_ignored_packets_received_total")     \
	/* Those of the InfiniBand port, and weft's own. */                                        \
	ROW(PKEY_VIOLATIONS, "pkey_violations", .help = "packets with a wrong P_Key")              \
	ROW(QKEY_VIOLATIONS, "qkey_violations", .help = "packets with a wrong Q_Key")              \
	ROW(RX_PACKETS, "rx_packets", .help = "packets received",                                  \
	    .files = { "port_rcv_packets" },                                                       \
	    .metrics = { { "node_infiniband_port_packets_received_total", NULL } },                \
	    .status = "rx_packets", .column = { 3, 13, "rx packets" })                             \
	ROW(RX_BYTES, "rx_bytes", .unit = "bytes", .help = "payload received",                     \
	    .status = "rx_bytes", .column = { 4, 13, "rx bytes" })                                 \
	ROW(TX_PACKETS, "tx_packets", .help = "packets sent", .files = { "port_xmit_packets" },    \
	    .metrics = { { "node_infiniband_port_packets_transmitted_total", NULL } },             \
	    .status = "tx_packets", .column = { 1, 13, "tx packets" })                             \
	ROW(TX_BYTES, "tx_bytes", .unit = "bytes", .help = "payload sent",                         \
	    .status = "tx_bytes", .column = { 2, 13, "tx bytes" })                                 \
	ROW(RX_DISCARDS, "rx_discards",                                                            \
	    .help = "packets dropped because something in them was wrong")                         \
	ROW(RX_BAD, "rx_bad", .help = "packets that came corrupted")                               \
	ROW(RX_TRIMMED, "rx_trimmed", .help = "packets that came without their payload")           \
	ROW(TX_ACKS, "tx_acks", .help = "ACKs and NAKs sent")                                      \
	ROW(TX_RETRANSMITS, "tx_retransmits", .help = "request packets sent again",                \
	    .followed = true, .metrics = { { "weft_retransmits_total", "packets sent again" } },   \
	    .status = "retransmits")                                                               \
	ROW(PATH_MIGRATIONS, "path_migrations",                                                    \
	    .help = "queue pairs that went over to their alternate path", .followed = true)        \
	ROW(OOO_PLACED, "ooo_placed", .help = "out-of-order packets kept, selective repeat")       \
	ROW(RX_WRITES, "rx_writes", .help = "RDMA WRITE messages that are in memory, all of each") \
	ROW(EVENTS_LOST, "events_lost", .help = "asynchronous events that found their queue full")
/* clang-format on */

#define WF_CTR_ID(id, ...) WF_CTR_##id,
enum wf_counter { WF_HOST_COUNTERS(WF_CTR_ID) WF_COUNTERS };

/* A row for each. */
extern const struct wf_host_counter wf_host_counters[WF_COUNTERS];

/* Makes a row of a table of struct wf_host_counter. */
#define WF_HOST_ROW(id, text, ...) { .name = (text), __VA_ARGS__ },

/* "out_of_sequence" …; static. */
const char *wf_counter_name(enum wf_counter counter);

#endif
