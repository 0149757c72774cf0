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

const struct wf_host_counter wf_host_counters[WF_COUNTERS] = { WF_HOST_COUNTERS(WF_HOST_ROW) };

const char *wf_counter_name(enum wf_counter counter)
{
	return (size_t)counter < WF_COUNTERS ? wf_host_counters[counter].name : "?";
}
