/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs.h - the words of the verbs: work requests, completions, attributes, states, statuses.
 *
 * The numbers are those of libibverbs, so that a shim casts instead of translating. Meanings are
 * those of IBTA vol. 1, chapters 10 and 11.
 */
#ifndef WF_RDMA_VERBS_H
#define WF_RDMA_VERBS_H

#include <stdbool.h>

#include "base/base.h"

struct wf_pd;
struct wf_mr;
struct wf_mw;
struct wf_cq;
struct wf_srq;
struct wf_xrcd;
struct wf_ah;
struct wf_qp;

/* Access rights of regions, windows and queue pairs: bits. */
#define WF_ACCESS_LOCAL_WRITE 0x01
#define WF_ACCESS_REMOTE_WRITE 0x02
#define WF_ACCESS_REMOTE_READ 0x04
#define WF_ACCESS_REMOTE_ATOMIC 0x08
#define WF_ACCESS_MW_BIND 0x10
#define WF_ACCESS_ZERO_BASED 0x20
#define WF_ACCESS_ON_DEMAND 0x40 /* its memory may come and go: wf_hca_copy_fn says what is there */
#define WF_ACCESS_ALL 0x7f
#define WF_ACCESS_REMOTE (WF_ACCESS_REMOTE_WRITE | WF_ACCESS_REMOTE_READ | WF_ACCESS_REMOTE_ATOMIC)

enum wf_qp_type {
	WF_QPT_GSI = 1, /* UD at QPN 1, for management datagrams */
	WF_QPT_RC = 2,
	WF_QPT_UC = 3,
	WF_QPT_UD = 4,
	WF_QPT_XRC_SEND = 9,  /* only sends */
	WF_QPT_XRC_RECV = 10, /* only receives */
};

enum wf_qp_state {
	WF_QPS_RESET,
	WF_QPS_INIT,
	WF_QPS_RTR,
	WF_QPS_RTS,
	WF_QPS_SQD,
	WF_QPS_SQE,
	WF_QPS_ERR,
	WF_QPS_STATES
};

enum wf_mig_state { WF_MIG_MIGRATED, WF_MIG_REARM, WF_MIG_ARMED };

enum wf_mtu { WF_MTU_256 = 1, WF_MTU_512, WF_MTU_1024, WF_MTU_2048, WF_MTU_4096 };

/* The bytes of an enum wf_mtu. */
static inline uint32_t wf_mtu_bytes(enum wf_mtu mtu)
{
	return UINT32_C(128) << mtu;
}

enum wf_mw_type { WF_MW_TYPE_1 = 1, WF_MW_TYPE_2 = 2 };

enum wf_wr_opcode {
	WF_WR_RDMA_WRITE,
	WF_WR_RDMA_WRITE_WITH_IMM,
	WF_WR_SEND,
	WF_WR_SEND_WITH_IMM,
	WF_WR_RDMA_READ,
	WF_WR_ATOMIC_CMP_AND_SWP,
	WF_WR_ATOMIC_FETCH_AND_ADD,
	WF_WR_LOCAL_INV,
	WF_WR_BIND_MW,
	WF_WR_SEND_WITH_INV,
	WF_WR_ATOMIC_WRITE, /* RC; 8 bytes, which are atomic.swap as it lies in memory; no sge */
	WF_WR_OPCODES
};

#define WF_SEND_FENCE 0x01
#define WF_SEND_SIGNALED 0x02
#define WF_SEND_SOLICITED 0x04
#define WF_SEND_INLINE 0x08
#define WF_SEND_FLAGS 0x0f

enum wf_wc_status {
	WF_WC_SUCCESS,
	WF_WC_LOC_LEN_ERR,
	WF_WC_LOC_QP_OP_ERR,
	WF_WC_LOC_EEC_OP_ERR,
	WF_WC_LOC_PROT_ERR,
	WF_WC_WR_FLUSH_ERR,
	WF_WC_MW_BIND_ERR,
	WF_WC_BAD_RESP_ERR,
	WF_WC_LOC_ACCESS_ERR,
	WF_WC_REM_INV_REQ_ERR,
	WF_WC_REM_ACCESS_ERR,
	WF_WC_REM_OP_ERR,
	WF_WC_RETRY_EXC_ERR,
	WF_WC_RNR_RETRY_EXC_ERR,
	WF_WC_LOC_RDD_VIOL_ERR,
	WF_WC_REM_INV_RD_REQ_ERR,
	WF_WC_REM_ABORT_ERR,
	WF_WC_INV_EECN_ERR,
	WF_WC_INV_EEC_STATE_ERR,
	WF_WC_FATAL_ERR,
	WF_WC_RESP_TIMEOUT_ERR,
	WF_WC_GENERAL_ERR,
	WF_WC_STATUSES
};

enum wf_wc_opcode {
	WF_WC_SEND,
	WF_WC_RDMA_WRITE,
	WF_WC_RDMA_READ,
	WF_WC_COMP_SWAP,
	WF_WC_FETCH_ADD,
	WF_WC_BIND_MW,
	WF_WC_LOCAL_INV,
	WF_WC_ATOMIC_WRITE = 9,
	WF_WC_RECV = 128,
	WF_WC_RECV_RDMA_WITH_IMM,
};

#define WF_WC_GRH 0x01
#define WF_WC_WITH_IMM 0x02
#define WF_WC_WITH_INV 0x08

struct wf_sge {
	uint64_t addr;
	uint32_t length;
	uint32_t lkey;
};

struct wf_mw_bind {
	struct wf_mr *mr;
	uint64_t addr;
	uint64_t length;
	uint32_t access; /* WF_ACCESS_REMOTE_*, WF_ACCESS_ZERO_BASED */
};

struct wf_send_wr {
	uint64_t wr_id;
	const struct wf_send_wr *next;
	const struct wf_sge *sge; /* WF_SEND_INLINE: addr is a pointer; NULL memory is not copied */
	uint32_t num_sge;
	enum wf_wr_opcode opcode;
	uint32_t flags; /* WF_SEND_* */
	uint32_t imm;   /* immediate data, or the rkey to invalidate */
	uint32_t srqn;  /* XRC: the peer's receive queue, wf_srq_num() */
	union {
		struct {
			uint64_t addr;
			uint32_t rkey;
		} rdma;
		struct {
			uint64_t addr;
			uint64_t compare_add;
			uint64_t swap;
			uint32_t rkey;
		} atomic;
		struct {
			const struct wf_ah *ah; /* its content is copied when the work is posted */
			uint32_t qpn;
			uint32_t qkey;
		} ud;
		struct {
			struct wf_mw *mw;
			uint32_t rkey; /* type 2: the new key */
			struct wf_mw_bind bind;
		} mw;
	};
};

struct wf_recv_wr {
	uint64_t wr_id;
	const struct wf_recv_wr *next;
	const struct wf_sge *sge;
	uint32_t num_sge;
};

struct wf_wc {
	uint64_t wr_id;
	enum wf_wc_status status;
	enum wf_wc_opcode opcode; /* valid when status is success */
	uint32_t vendor_err;      /* the AETH syndrome that caused it, where one did */
	uint32_t byte_len;
	uint32_t imm; /* or the rkey that was invalidated */
	uint32_t qp_num;
	uint32_t src_qp; /* UD */
	uint32_t flags;  /* WF_WC_* */
	uint32_t src;    /* UD: host number of the sender */
	uint16_t pkey_index;
	uint8_t sl;
	wf_time time; /* when it was made */
};

/* Where packets go. The driver resolves a GID or a LID to a host number before it asks. */
struct wf_ah_attr {
	uint32_t dest; /* host number: struct wf_packet.dst */
	uint8_t dgid[16];
	uint32_t flow_label; /* 20 bits; with it comes the UDP source port */
	uint16_t dlid;
	uint8_t sgid_index;
	uint8_t hop_limit;
	uint8_t traffic_class; /* IP: DSCP and ECN */
	uint8_t sl;            /* class of the packets, 0..15 */
	uint8_t src_path_bits;
	uint8_t static_rate;
	bool is_global;
	bool roce1;  /* RoCE v1: no UDP source port, no ECN */
	bool by_lid; /* packets have the DLID where others have their entropy */
	uint8_t port_num;
};

struct wf_qp_cap {
	uint32_t max_send_wr, max_recv_wr;
	uint32_t max_send_sge, max_recv_sge;
	uint32_t max_inline_data;
};

/* Attributes of wf_qp_modify(): bits. */
#define WF_QP_STATE 0x000001
#define WF_QP_CUR_STATE 0x000002
#define WF_QP_EN_SQD_ASYNC_NOTIFY 0x000004
#define WF_QP_ACCESS_FLAGS 0x000008
#define WF_QP_PKEY_INDEX 0x000010
#define WF_QP_PORT 0x000020
#define WF_QP_QKEY 0x000040
#define WF_QP_AV 0x000080
#define WF_QP_PATH_MTU 0x000100
#define WF_QP_TIMEOUT 0x000200
#define WF_QP_RETRY_CNT 0x000400
#define WF_QP_RNR_RETRY 0x000800
#define WF_QP_RQ_PSN 0x001000
#define WF_QP_MAX_QP_RD_ATOMIC 0x002000
#define WF_QP_ALT_PATH 0x004000
#define WF_QP_MIN_RNR_TIMER 0x008000
#define WF_QP_SQ_PSN 0x010000
#define WF_QP_MAX_DEST_RD_ATOMIC 0x020000
#define WF_QP_PATH_MIG_STATE 0x040000
#define WF_QP_CAP 0x080000
#define WF_QP_DEST_QPN 0x100000
#define WF_QP_RATE_LIMIT 0x2000000

struct wf_qp_attr {
	enum wf_qp_state qp_state, cur_qp_state;
	enum wf_mtu path_mtu;
	enum wf_mig_state path_mig_state;
	uint32_t qkey;
	uint32_t rq_psn, sq_psn;
	uint32_t dest_qp_num;
	uint32_t qp_access_flags;
	struct wf_qp_cap cap;
	struct wf_ah_attr ah_attr, alt_ah_attr;
	uint16_t pkey_index, alt_pkey_index;
	bool en_sqd_async_notify, sq_draining;
	uint8_t max_rd_atomic, max_dest_rd_atomic;
	uint8_t min_rnr_timer;
	uint8_t port_num;
	uint8_t timeout; /* 4.096 us * 2^timeout; 0: none */
	uint8_t retry_cnt;
	uint8_t rnr_retry; /* 7: no limit */
	uint8_t alt_port_num, alt_timeout;
	uint32_t rate_limit; /* kb/s; 0: none */
};

enum wf_event_type {
	WF_EVENT_CQ_ERR,
	WF_EVENT_QP_FATAL,
	WF_EVENT_QP_REQ_ERR,
	WF_EVENT_QP_ACCESS_ERR,
	WF_EVENT_COMM_EST,
	WF_EVENT_SQ_DRAINED,
	WF_EVENT_PATH_MIG,
	WF_EVENT_PATH_MIG_ERR,
	WF_EVENT_DEVICE_FATAL,
	WF_EVENT_PORT_ACTIVE,
	WF_EVENT_PORT_ERR,
	WF_EVENT_LID_CHANGE,
	WF_EVENT_PKEY_CHANGE,
	WF_EVENT_SM_CHANGE,
	WF_EVENT_SRQ_ERR,
	WF_EVENT_SRQ_LIMIT_REACHED,
	WF_EVENT_QP_LAST_WQE_REACHED,
	WF_EVENT_CLIENT_REREGISTER,
	WF_EVENT_GID_CHANGE,
	WF_EVENTS
};

/* "work request flushed", "retries exceeded" …; "?" for a number that is none. Static. */
const char *wf_wc_status_name(enum wf_wc_status status);

#endif
