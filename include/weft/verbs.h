/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs.h - memory, completions, queue pairs and work on an adapter; weft.h says how they are used.
 */
#ifndef WEFT_VERBS_H
#define WEFT_VERBS_H

#include "weft/fabric.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- memory ---- */

#define WEFT_LOCAL_WRITE 0x01u
#define WEFT_REMOTE_WRITE 0x02u
#define WEFT_REMOTE_READ 0x04u
#define WEFT_REMOTE_ATOMIC 0x08u
#define WEFT_ALL_ACCESS 0x0fu

/*
 * Registers length bytes at addr, which is also the address that work requests and other hosts use.
 * Remote write and atomic need local write. Returns 0, -EINVAL or -ENOMEM.
 */
int weft_mr_create(struct weft_adapter *adapter, void *addr, size_t length, unsigned access,
                   struct weft_mr **mr_p);

void weft_mr_destroy(struct weft_mr *mr);

/* The key for scatter/gather lists of this host, and for others. */
uint32_t weft_mr_lkey(const struct weft_mr *mr);
uint32_t weft_mr_rkey(const struct weft_mr *mr);

/* ---- completions ---- */

/* The numbers of libibverbs. */
enum weft_status {
	WEFT_SUCCESS = 0,
	WEFT_LOC_LEN_ERR = 1,
	WEFT_LOC_QP_OP_ERR = 2,
	WEFT_LOC_PROT_ERR = 4,
	WEFT_WR_FLUSH_ERR = 5,
	WEFT_BAD_RESP_ERR = 7,
	WEFT_LOC_ACCESS_ERR = 8,
	WEFT_REM_INV_REQ_ERR = 9,
	WEFT_REM_ACCESS_ERR = 10,
	WEFT_REM_OP_ERR = 11,
	WEFT_RETRY_EXC_ERR = 12,
	WEFT_RNR_RETRY_EXC_ERR = 13,
	WEFT_FATAL_ERR = 19,
	WEFT_GENERAL_ERR = 21
};

enum weft_wc_opcode {
	WEFT_WC_SEND = 0,
	WEFT_WC_WRITE = 1,
	WEFT_WC_READ = 2,
	WEFT_WC_CMP_SWAP = 3,
	WEFT_WC_FETCH_ADD = 4,
	WEFT_WC_RECV = 128,
	WEFT_WC_RECV_WRITE_IMM = 129 /* the immediate data of a WRITE */
};

struct weft_wc {
	uint64_t wr_id;
	enum weft_status status;
	enum weft_wc_opcode opcode; /* valid when status is WEFT_SUCCESS */
	uint32_t byte_len;
	uint32_t imm;
	int has_imm;
	uint32_t qp_num;   /* of the queue pair it is from */
	uint32_t src_qp;   /* UD: queue pair of the sender */
	uint32_t src_host; /* UD: its host */
	weft_time time;    /* when the program sees it */
};

/* "success", "remote access error" …; static. */
const char *weft_status_name(enum weft_status status);

/* A queue for entries completions. Returns 0, -EINVAL or -ENOMEM. */
int weft_cq_create(struct weft_adapter *adapter, uint32_t entries, struct weft_cq **cq_p);

/* Returns 0, or -EBUSY while a queue pair uses it. */
int weft_cq_destroy(struct weft_cq *cq);

typedef void weft_wc_fn(void *arg, const struct weft_wc *wc);

/* Calls fn with each completion, at its time, one after the other. NULL: none is called. */
void weft_cq_on_completion(struct weft_cq *cq, weft_wc_fn *fn, void *arg);

/*
 * Takes up to n completions into wc, the oldest first; for queues without a callback. Returns how
 * many, or -EIO when the queue overflowed and completions were lost.
 */
int weft_cq_poll(struct weft_cq *cq, unsigned n, struct weft_wc *wc);

/* ---- queue pairs ---- */

enum weft_qp_type { WEFT_RC = 2, WEFT_UC = 3, WEFT_UD = 4 };

enum weft_qp_state {
	WEFT_QPS_RESET,
	WEFT_QPS_INIT,
	WEFT_QPS_RTR,
	WEFT_QPS_RTS,
	WEFT_QPS_SQD,
	WEFT_QPS_SQE,
	WEFT_QPS_ERR
};

/* Only the queues have to be set: 0 is as many as are usual. */
struct weft_qp_attr {
	enum weft_qp_type type; /* 0: RC */
	struct weft_cq *send_cq, *recv_cq;
	struct weft_srq *srq; /* NULL: its own receive queue */
	uint32_t max_send_wr; /* 0: 128 */
	uint32_t max_recv_wr; /* 0: 128 */
	uint32_t max_sge;     /* of a work request; 0: 4 */
	uint32_t max_inline;  /* bytes */
};

/*
 * A queue pair in RESET, set up as the fabric's profile says (windows, acknowledgements, congestion
 * control). Returns 0, -EINVAL or -ENOMEM.
 */
int weft_qp_create(struct weft_adapter *adapter, const struct weft_qp_attr *attr,
                   struct weft_qp **qp_p);

void weft_qp_destroy(struct weft_qp *qp);

uint32_t weft_qp_num(const struct weft_qp *qp);
enum weft_qp_state weft_qp_state(const struct weft_qp *qp);

struct weft_conn {
	uint8_t cls;         /* priority (Ethernet) or service level (InfiniBand) */
	uint8_t retry_count; /* resends before giving up, 0 to 7 */
	uint8_t rnr_retry;   /* the same while no receive is posted; 7: no limit */
	weft_time timeout;   /* for an acknowledgement; 0: none */
	unsigned access;     /* what the other side may do: WEFT_REMOTE_* */
};

/* Class 3, the profile's timeout, 7 resends, no limit to waiting for receives, all access. */
void weft_conn_defaults(const struct weft_fabric *fabric, struct weft_conn *conn);

/*
 * Connects two RC or two UC queue pairs of one fabric in RESET and makes both ready to send. conn
 * may be NULL for the defaults. Between runs. Returns 0 or -EINVAL.
 */
int weft_qp_connect(struct weft_qp *a, struct weft_qp *b, const struct weft_conn *conn);

/* Makes a UD queue pair ready to send to any other with that key. Returns 0 or -EINVAL. */
int weft_qp_activate(struct weft_qp *qp, uint32_t qkey);

/* Back to RESET, from where it can be connected again; its work is forgotten. Returns 0. */
int weft_qp_reset(struct weft_qp *qp);

/* To the error state: all its work completes with WEFT_WR_FLUSH_ERR. Returns 0. */
int weft_qp_fail(struct weft_qp *qp);

/* ---- work ---- */

struct weft_sge {
	uint64_t addr; /* a pointer into a region, or (inline) to any memory, as a number */
	uint32_t length;
	uint32_t lkey;
};

enum weft_opcode {
	WEFT_WRITE = 0,
	WEFT_WRITE_IMM = 1,
	WEFT_SEND = 2,
	WEFT_SEND_IMM = 3,
	WEFT_READ = 4,
	WEFT_CMP_SWAP = 5,
	WEFT_FETCH_ADD = 6
};

#define WEFT_FENCE 0x01u      /* not before earlier READs and atomics are done */
#define WEFT_UNSIGNALED 0x02u /* no completion, unless it fails */
#define WEFT_INLINE 0x08u     /* the data is copied when it is posted */

struct weft_send {
	uint64_t wr_id;
	enum weft_opcode opcode;
	unsigned flags;
	const struct weft_sge *sge; /* borrowed until the call returns */
	uint32_t n_sge;
	uint32_t imm;
	uint64_t remote_addr; /* WRITE, READ, atomics; a pointer on the other host, as a number */
	uint32_t rkey;
	uint64_t compare_add; /* CMP_SWAP: what must be there; FETCH_ADD: what is added */
	uint64_t swap;
	uint32_t dest_host; /* UD, as are the next two */
	uint32_t dest_qp;
	uint32_t qkey;
};

struct weft_recv {
	uint64_t wr_id;
	const struct weft_sge *sge; /* borrowed until the call returns */
	uint32_t n_sge;
};

/*
 * Posts one work request. A UD receive buffer begins with 40 bytes for the global route header.
 * Return 0, -EINVAL (state, operation not of this service, too many sges, too much inline data) or
 * -ENOMEM (the queue is full).
 */
int weft_post_send(struct weft_qp *qp, const struct weft_send *send);
int weft_post_recv(struct weft_qp *qp, const struct weft_recv *recv);

/* A receive queue that many queue pairs of an adapter share. Returns 0, -EINVAL or -ENOMEM. */
int weft_srq_create(struct weft_adapter *adapter, uint32_t max_wr, uint32_t max_sge,
                    struct weft_srq **srq_p);

/* Returns 0, or -EBUSY while a queue pair uses it. */
int weft_srq_destroy(struct weft_srq *srq);

int weft_srq_post_recv(struct weft_srq *srq, const struct weft_recv *recv);

#ifdef __cplusplus
}
#endif

#endif
