/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter.h - what an adapter counts, under the names operators know.
 *
 * The first ones are those of the hw_counters folder of mlx5 devices.
 */
#ifndef WF_RDMA_COUNTER_H
#define WF_RDMA_COUNTER_H

enum wf_counter {
	WF_CTR_OUT_OF_SEQUENCE,       /* request packets that came out of order */
	WF_CTR_OUT_OF_BUFFER,         /* messages that found no receive work request */
	WF_CTR_DUPLICATE_REQUEST,     /* request packets that had been executed before */
	WF_CTR_PACKET_SEQ_ERR,        /* PSN sequence NAKs received */
	WF_CTR_IMPLIED_NAK_SEQ_ERR,   /* responses that showed an earlier one was lost */
	WF_CTR_LOCAL_ACK_TIMEOUT_ERR, /* acknowledgement timeouts */
	WF_CTR_RNR_NAK_RETRY_ERR,     /* RNR NAKs received */
	WF_CTR_REQ_CQE_ERROR,         /* requester completions in error, flushes included */
	WF_CTR_REQ_CQE_FLUSH_ERROR,
	WF_CTR_REQ_REMOTE_ACCESS_ERRORS,
	WF_CTR_REQ_REMOTE_INVALID_REQUEST,
	WF_CTR_RESP_CQE_ERROR, /* responder completions in error, flushes included */
	WF_CTR_RESP_CQE_FLUSH_ERROR,
	WF_CTR_RESP_LOCAL_LENGTH_ERROR,
	WF_CTR_RESP_REMOTE_ACCESS_ERRORS,
	WF_CTR_RX_WRITE_REQUESTS,
	WF_CTR_RX_READ_REQUESTS,
	WF_CTR_RX_ATOMIC_REQUESTS,
	WF_CTR_NP_CNP_SENT,
	WF_CTR_NP_ECN_MARKED_ROCE_PACKETS,
	WF_CTR_RP_CNP_HANDLED,
	WF_CTR_RP_CNP_IGNORED, /* CNPs for no queue pair, or one that cannot slow down */
	/* Those of the InfiniBand port, and weft's own. */
	WF_CTR_PKEY_VIOLATIONS,
	WF_CTR_QKEY_VIOLATIONS,
	WF_CTR_RX_PACKETS,
	WF_CTR_RX_BYTES, /* payload */
	WF_CTR_TX_PACKETS,
	WF_CTR_TX_BYTES,
	WF_CTR_RX_DISCARDS,    /* packets dropped because something in them was wrong */
	WF_CTR_RX_BAD,         /* packets that came corrupted */
	WF_CTR_RX_TRIMMED,     /* packets that came without their payload */
	WF_CTR_TX_ACKS,        /* ACKs and NAKs sent */
	WF_CTR_TX_RETRANSMITS, /* request packets sent again */
	WF_CTR_OOO_PLACED,     /* out-of-order packets kept, selective repeat */
	WF_CTR_RX_WRITES,      /* RDMA WRITE messages that are in memory, all of each */
	WF_CTR_EVENTS_LOST,    /* asynchronous events that found their queue full */
	WF_COUNTERS
};

/* "out_of_sequence" …; static. */
const char *wf_counter_name(enum wf_counter counter);

#endif
