/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resp_priv.h - the responder's half of a queue pair, for src/rdma only.
 */
#ifndef WF_RDMA_RESP_PRIV_H
#define WF_RDMA_RESP_PRIV_H

#include "rdma/sack_priv.h"
#include "rdma/srq.h"
#include "wire/packet.h"

struct wf_rwqe;

/* A response that is to be sent: of a READ, packet by packet, or of an atomic. */
struct wf_job {
	uint64_t va; /* READ: next address; atomic: value before */
	uint32_t rkey;
	uint32_t left; /* READ: bytes still to send */
	uint32_t psn;  /* of the next packet */
	uint32_t last_psn;
	uint32_t msn;
	bool atomic;
	bool started; /* READ: the first packet is out */
	bool replay;
};

/* A READ or an atomic that was executed, in case it is asked for again. */
struct wf_res {
	uint64_t value; /* atomic: value before; READ: address */
	uint32_t first_psn, last_psn;
	uint32_t rkey;
	uint32_t length;
	bool atomic;
};

/* Selective repeat: a request packet that came out of order. */
struct wf_held {
	struct wf_packet pkt;
	bool used;
	bool told;   /* the requester was told that it is here */
	bool placed; /* its payload is in memory */
};

#define WF_HELD_BYTES 4096 /* room for the payload of one */
#define WF_EARLY_WRITES 8

/* Direct placement: the packets still to come of a WRITE whose first packet came early. */
struct wf_early {
	uint64_t va; /* of first_psn */
	uint32_t rkey;
	uint32_t first_psn, last_psn;
	uint32_t length; /* from va on */
};

enum wf_in_msg {
	WF_IN_NONE,
	WF_IN_SEND,
	WF_IN_WRITE,
	WF_IN_FORWARD, /* a SEND for another adapter's queue: resp->srqn */
};

/* The responder. */
struct wf_resp {
	uint32_t epsn; /* expected */
	uint32_t msn;
	uint64_t va;   /* WRITE in progress: next address */
	uint32_t echo; /* for the next ACK, see struct wf_hca_rx_extra */
	uint32_t rkey;
	uint32_t resid;  /* WRITE in progress: bytes still to come */
	uint32_t offset; /* bytes received of the message */
	uint8_t in_msg;  /* enum wf_in_msg */
	bool ack;        /* an answer waits: syndrome */
	uint8_t syndrome;
	bool nak_sent;  /* the gap was reported; no second NAK until the expected one comes */
	bool have_wqe;  /* *wqe is taken */
	bool comm_est;  /* COMM_EST was raised */
	bool ce;        /* a mark came since the last ACK */
	bool cnp;       /* a CNP waits */
	bool refused;   /* a NAK ended it: what waits to be sent goes out although it is in ERR */
	uint8_t max_rd; /* READs and atomics the peer may have in flight */
	uint16_t srqn;  /* XRC: of the message that is handed on */
	wf_time cnp_next;
	struct wf_rwqe *wqe; /* receive work request in progress, copied */
	/* One line: asked with every packet, the requester's too, and nearly always 0. */
	uint32_t jobs;
	uint32_t n_trims;
	uint32_t helds;  /* how many of held are used */
	uint32_t untold; /* how many of them the requester was not told of */
	uint32_t held_mask;
	uint32_t job_head, replays;
	uint32_t rd_mask, res_next;
	uint32_t since;    /* packets of out since one that asked for an acknowledgement */
	uint32_t tell_psn; /* where to look for the next one to tell */
	uint32_t trim_slots;
	struct wf_flight out; /* responses of READs, where the requester acknowledges them */
	struct wf_job *job;   /* ring of 2 * (rd_mask + 1) */
	struct wf_res *res;   /* ring of rd_mask + 1, the newest at res_next - 1 */
	struct wf_held *held; /* selective repeat: packets from epsn on; NULL: none is held */
	char *held_data;      /* their payload, where contents matter */
	uint32_t *trims;      /* ring of trim_slots: PSNs that came trimmed, to be told */
	uint32_t trim_head;
	uint32_t n_early;                       /* early WRITEs so far */
	struct wf_early early[WF_EARLY_WRITES]; /* a ring; the oldest is forgotten */
};

#endif
