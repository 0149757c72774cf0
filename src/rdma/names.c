/* SPDX-License-Identifier: Apache-2.0 */
/* names.c - the words for statuses and counters. */
#include "rdma/counter.h"
#include "rdma/verbs.h"

/* table[i], or "?" outside of it. */
#define NAME_OF(table, i) ((size_t)(i) < WF_ARRAY_SIZE(table) ? (table)[i] : "?")

const char *wf_wc_status_name(enum wf_wc_status status)
{
	static const char *const name[] = {
		[WF_WC_SUCCESS] = "success",
		[WF_WC_LOC_LEN_ERR] = "local length error",
		[WF_WC_LOC_QP_OP_ERR] = "local QP operation error",
		[WF_WC_LOC_EEC_OP_ERR] = "local EE context operation error",
		[WF_WC_LOC_PROT_ERR] = "local protection error",
		[WF_WC_WR_FLUSH_ERR] = "work request flushed",
		[WF_WC_MW_BIND_ERR] = "memory window bind error",
		[WF_WC_BAD_RESP_ERR] = "bad response",
		[WF_WC_LOC_ACCESS_ERR] = "local access error",
		[WF_WC_REM_INV_REQ_ERR] = "remote invalid request",
		[WF_WC_REM_ACCESS_ERR] = "remote access error",
		[WF_WC_REM_OP_ERR] = "remote operation error",
		[WF_WC_RETRY_EXC_ERR] = "retries exceeded",
		[WF_WC_RNR_RETRY_EXC_ERR] = "RNR retries exceeded",
		[WF_WC_LOC_RDD_VIOL_ERR] = "local RDD violation",
		[WF_WC_REM_INV_RD_REQ_ERR] = "remote invalid RD request",
		[WF_WC_REM_ABORT_ERR] = "remote aborted",
		[WF_WC_INV_EECN_ERR] = "invalid EE context number",
		[WF_WC_INV_EEC_STATE_ERR] = "invalid EE context state",
		[WF_WC_FATAL_ERR] = "fatal error",
		[WF_WC_RESP_TIMEOUT_ERR] = "response timeout",
		[WF_WC_GENERAL_ERR] = "general error",
	};

	_Static_assert(WF_ARRAY_SIZE(name) == WF_WC_STATUSES, "name every status");
	return NAME_OF(name, status);
}

const char *wf_counter_name(enum wf_counter counter)
{
	static const char *const name[] = {
		[WF_CTR_OUT_OF_SEQUENCE] = "out_of_sequence",
		[WF_CTR_OUT_OF_BUFFER] = "out_of_buffer",
		[WF_CTR_DUPLICATE_REQUEST] = "duplicate_request",
		[WF_CTR_PACKET_SEQ_ERR] = "packet_seq_err",
		[WF_CTR_IMPLIED_NAK_SEQ_ERR] = "implied_nak_seq_err",
		[WF_CTR_LOCAL_ACK_TIMEOUT_ERR] = "local_ack_timeout_err",
		[WF_CTR_RNR_NAK_RETRY_ERR] = "rnr_nak_retry_err",
		[WF_CTR_REQ_CQE_ERROR] = "req_cqe_error",
		[WF_CTR_REQ_CQE_FLUSH_ERROR] = "req_cqe_flush_error",
		[WF_CTR_REQ_REMOTE_ACCESS_ERRORS] = "req_remote_access_errors",
		[WF_CTR_REQ_REMOTE_INVALID_REQUEST] = "req_remote_invalid_request",
		[WF_CTR_RESP_CQE_ERROR] = "resp_cqe_error",
		[WF_CTR_RESP_CQE_FLUSH_ERROR] = "resp_cqe_flush_error",
		[WF_CTR_RESP_LOCAL_LENGTH_ERROR] = "resp_local_length_error",
		[WF_CTR_RESP_REMOTE_ACCESS_ERRORS] = "resp_remote_access_errors",
		[WF_CTR_RX_WRITE_REQUESTS] = "rx_write_requests",
		[WF_CTR_RX_READ_REQUESTS] = "rx_read_requests",
		[WF_CTR_RX_ATOMIC_REQUESTS] = "rx_atomic_requests",
		[WF_CTR_NP_CNP_SENT] = "np_cnp_sent",
		[WF_CTR_NP_ECN_MARKED_ROCE_PACKETS] = "np_ecn_marked_roce_packets",
		[WF_CTR_RP_CNP_HANDLED] = "rp_cnp_handled",
		[WF_CTR_RP_CNP_IGNORED] = "rp_cnp_ignored",
		[WF_CTR_PKEY_VIOLATIONS] = "pkey_violations",
		[WF_CTR_QKEY_VIOLATIONS] = "qkey_violations",
		[WF_CTR_RX_PACKETS] = "rx_packets",
		[WF_CTR_RX_BYTES] = "rx_bytes",
		[WF_CTR_TX_PACKETS] = "tx_packets",
		[WF_CTR_TX_BYTES] = "tx_bytes",
		[WF_CTR_RX_DISCARDS] = "rx_discards",
		[WF_CTR_RX_BAD] = "rx_bad",
		[WF_CTR_RX_TRIMMED] = "rx_trimmed",
		[WF_CTR_TX_ACKS] = "tx_acks",
		[WF_CTR_TX_RETRANSMITS] = "tx_retransmits",
		[WF_CTR_OOO_PLACED] = "ooo_placed",
		[WF_CTR_RX_WRITES] = "rx_writes",
		[WF_CTR_EVENTS_LOST] = "events_lost",
	};

	_Static_assert(WF_ARRAY_SIZE(name) == WF_COUNTERS, "name every counter");
	return NAME_OF(name, counter);
}
