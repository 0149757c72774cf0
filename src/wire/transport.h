/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport.h - the InfiniBand transport headers: the BTH and what may follow it.
 *
 * The same on InfiniBand and RoCE. Every header has a fixed size, WF_<HEADER>_LEN; the functions
 * read or write exactly that many bytes at p, which the caller has made sure of, and cannot fail.
 * Reserved fields are kept, so that what was decoded encodes to the same bytes; senders leave them
 * 0. A field that is narrower than its type must fit: the encoders write no other field's bits.
 */
#ifndef WF_WIRE_TRANSPORT_H
#define WF_WIRE_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>

#define WF_BTH_LEN 12
#define WF_RDETH_LEN 4
#define WF_XRCETH_LEN 4
#define WF_DETH_LEN 8
#define WF_RETH_LEN 16
#define WF_ATOMICETH_LEN 28
#define WF_AETH_LEN 4
#define WF_ATOMICACKETH_LEN 8
#define WF_IMMDT_LEN 4
#define WF_IETH_LEN 4
#define WF_CNP_LEN 16

#define WF_QPN_MASK UINT32_C(0xffffff)
#define WF_PSN_MASK UINT32_C(0xffffff)
#define WF_MSN_MASK UINT32_C(0xffffff)
#define WF_QPN_SMI UINT32_C(0) /* subnet management */
#define WF_QPN_GSI UINT32_C(1) /* general services: all other management */
#define WF_QPN_MULTICAST UINT32_C(0xffffff)
#define WF_PKEY_DEFAULT 0xffff

/* Base transport header. */
struct wf_bth {
	uint8_t opcode;
	bool solicited; /* SE */
	bool migrated;  /* M */
	uint8_t pad;    /* bytes of pad after the payload, 0..3 */
	uint8_t tver;   /* 4 bits; 0 is the only version */
	uint16_t pkey;
	bool fecn;
	bool becn;
	uint8_t reserved6; /* below FECN and BECN */
	uint32_t qpn;      /* destination, 24 bits */
	bool ack_req;      /* A */
	uint8_t reserved7; /* below A */
	uint32_t psn;      /* 24 bits */
};

/* Reliable datagram. */
struct wf_rdeth {
	uint8_t reserved;
	uint32_t eecn; /* end-to-end context, 24 bits */
};

/* Extended reliable connected. */
struct wf_xrceth {
	uint8_t reserved;
	uint32_t srqn; /* shared receive queue, 24 bits */
};

/* Datagram. */
struct wf_deth {
	uint32_t qkey;
	uint8_t reserved;
	uint32_t src_qpn; /* 24 bits */
};

/* RDMA. */
struct wf_reth {
	uint64_t va;
	uint32_t rkey;
	uint32_t dma_len; /* bytes */
};

struct wf_atomiceth {
	uint64_t va;
	uint32_t rkey;
	uint64_t swap_add;
	uint64_t compare;
};

/* Acknowledge. */
struct wf_aeth {
	uint8_t syndrome; /* see wire/aeth.h */
	uint32_t msn;     /* 24 bits */
};

void wf_bth_encode(const struct wf_bth *bth, uint8_t *p);
void wf_bth_decode(const uint8_t *p, struct wf_bth *bth_p);

void wf_rdeth_encode(const struct wf_rdeth *rdeth, uint8_t *p);
void wf_rdeth_decode(const uint8_t *p, struct wf_rdeth *rdeth_p);

void wf_xrceth_encode(const struct wf_xrceth *xrceth, uint8_t *p);
void wf_xrceth_decode(const uint8_t *p, struct wf_xrceth *xrceth_p);

void wf_deth_encode(const struct wf_deth *deth, uint8_t *p);
void wf_deth_decode(const uint8_t *p, struct wf_deth *deth_p);

void wf_reth_encode(const struct wf_reth *reth, uint8_t *p);
void wf_reth_decode(const uint8_t *p, struct wf_reth *reth_p);

void wf_atomiceth_encode(const struct wf_atomiceth *atomiceth, uint8_t *p);
void wf_atomiceth_decode(const uint8_t *p, struct wf_atomiceth *atomiceth_p);

void wf_aeth_encode(const struct wf_aeth *aeth, uint8_t *p);
void wf_aeth_decode(const uint8_t *p, struct wf_aeth *aeth_p);

/* The value before the operation. */
void wf_atomicacketh_encode(uint64_t orig, uint8_t *p);
uint64_t wf_atomicacketh_decode(const uint8_t *p);

/* Immediate data, as a number of the sender's making. */
void wf_immdt_encode(uint32_t imm, uint8_t *p);
uint32_t wf_immdt_decode(const uint8_t *p);

/* The rkey to invalidate. */
void wf_ieth_encode(uint32_t rkey, uint8_t *p);
uint32_t wf_ieth_decode(const uint8_t *p);

#endif
