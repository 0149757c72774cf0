/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opcode.h - what every BTH opcode means: one table, asked by predicates.
 *
 * A message is one packet ("only") or several ("first", any number of "middle", "last"). Two
 * questions about that place are easily confused, so they have different names here:
 *
 *	wf_op_starts(op)    first or only      wf_op_is_first(op)  first of several
 *	wf_op_ends(op)      last or only       wf_op_is_last(op)   last of several
 */
#ifndef WF_WIRE_OPCODE_H
#define WF_WIRE_OPCODE_H

#include <stdbool.h>

#include "base/base.h"
#include "wire/opnum.h"

#define WF_OPCODES 256

/* What a packet is for. */
enum wf_op_kind {
	WF_OP_KIND_NONE, /* of an opcode that does not exist */
	WF_OP_KIND_SEND,
	WF_OP_KIND_WRITE,
	WF_OP_KIND_READ_REQ,
	WF_OP_KIND_READ_RESP,
	WF_OP_KIND_ACK,
	WF_OP_KIND_ATOMIC,
	WF_OP_KIND_ATOMIC_WRITE, /* answered as an empty READ is */
	WF_OP_KIND_ATOMIC_ACK,
	WF_OP_KIND_RESYNC,
	WF_OP_KIND_CNP,
	WF_OP_KINDS
};

/* Its place in its message. */
enum wf_op_place { WF_OP_FIRST, WF_OP_MIDDLE, WF_OP_LAST, WF_OP_ONLY, WF_OP_PLACES };

/* What follows the BTH, in this order. */
enum wf_xh {
	WF_XH_RDETH,
	WF_XH_XRCETH,
	WF_XH_DETH,
	WF_XH_RETH,
	WF_XH_ATOMICETH,
	WF_XH_AETH,
	WF_XH_ATOMICACKETH,
	WF_XH_IMMDT,
	WF_XH_IETH,
	WF_XH_CNP, /* 16 reserved bytes */
	WF_XHS
};

struct wf_op {
	const char *name;   /* "RC_SEND_FIRST"; NULL: no such opcode */
	uint16_t xh;        /* bit n: extended header n of enum wf_xh is there */
	uint8_t header_len; /* BTH and extended headers, bytes */
	uint8_t service;    /* enum wf_service */
	uint8_t kind;       /* enum wf_op_kind */
	uint8_t place;      /* enum wf_op_place */
};

/* A row for every opcode. Ask it through the functions below. */
extern const struct wf_op wf_op_table[WF_OPCODES];

/* The opcode's name ("RC_WRITE_ONLY_IMM"), or "UNKNOWN"; static. */
const char *wf_op_name(uint8_t op);

/* The size of an extended header in bytes. */
uint8_t wf_xh_len(enum wf_xh xh);

/*
 * Whether a packet of this opcode may carry len payload bytes (without pad) under a path MTU of mtu
 * bytes: a first or middle packet fills the MTU, a last one has 1 byte or more, an only one may be
 * empty (C9-92), an ATOMIC WRITE has 8 bytes, and what is no SEND, WRITE or READ response carries
 * none. False for an unknown opcode.
 */
bool wf_op_length_ok(uint8_t op, uint32_t len, uint32_t mtu);

static inline bool wf_op_is_known(uint8_t op)
{
	return wf_op_table[op].kind != WF_OP_KIND_NONE;
}

/* The service the opcode's number says, known or not: may be 6 or 7, which are the vendor's. */
static inline uint8_t wf_op_service(uint8_t op)
{
	return (uint8_t)(op >> WF_OPERATION_BITS);
}

static inline uint8_t wf_op_operation(uint8_t op)
{
	return op & WF_OPERATION_MASK;
}

static inline enum wf_op_kind wf_op_kind(uint8_t op)
{
	return (enum wf_op_kind)wf_op_table[op].kind;
}

static inline enum wf_op_place wf_op_place(uint8_t op)
{
	return (enum wf_op_place)wf_op_table[op].place;
}

/* The bytes of the BTH and the extended headers; 0 for an unknown opcode. */
static inline uint8_t wf_op_header_len(uint8_t op)
{
	return wf_op_table[op].header_len;
}

static inline bool wf_op_is_rd(uint8_t op)
{
	return wf_op_service(op) == WF_SERVICE_RD;
}

static inline bool wf_op_is_ud(uint8_t op)
{
	return wf_op_service(op) == WF_SERVICE_UD;
}

static inline bool wf_op_is_xrc(uint8_t op)
{
	return wf_op_service(op) == WF_SERVICE_XRC;
}

/* The places and kinds below are all false for an unknown opcode. */

static inline bool wf_op_is_first(uint8_t op)
{
	return wf_op_place(op) == WF_OP_FIRST && wf_op_is_known(op);
}

static inline bool wf_op_is_middle(uint8_t op)
{
	return wf_op_place(op) == WF_OP_MIDDLE;
}

static inline bool wf_op_is_last(uint8_t op)
{
	return wf_op_place(op) == WF_OP_LAST;
}

static inline bool wf_op_is_only(uint8_t op)
{
	return wf_op_place(op) == WF_OP_ONLY;
}

/* First or only. */
static inline bool wf_op_starts(uint8_t op)
{
	return wf_op_is_first(op) || wf_op_is_only(op);
}

/* Last or only. */
static inline bool wf_op_ends(uint8_t op)
{
	return wf_op_is_last(op) || wf_op_is_only(op);
}

static inline bool wf_op_is_send(uint8_t op)
{
	return wf_op_kind(op) == WF_OP_KIND_SEND;
}

static inline bool wf_op_is_write(uint8_t op)
{
	return wf_op_kind(op) == WF_OP_KIND_WRITE;
}

static inline bool wf_op_is_read_req(uint8_t op)
{
	return wf_op_kind(op) == WF_OP_KIND_READ_REQ;
}

static inline bool wf_op_is_read_resp(uint8_t op)
{
	return wf_op_kind(op) == WF_OP_KIND_READ_RESP;
}

/* An acknowledge, positive or negative (the AETH says which), of anything but an atomic. */
static inline bool wf_op_is_ack(uint8_t op)
{
	return wf_op_kind(op) == WF_OP_KIND_ACK;
}

/* A request for an atomic operation. */
static inline bool wf_op_is_atomic(uint8_t op)
{
	return wf_op_kind(op) == WF_OP_KIND_ATOMIC;
}

static inline bool wf_op_is_cmp_swap(uint8_t op)
{
	return wf_op_is_atomic(op) && wf_op_operation(op) == WF_OPERATION_CMP_SWAP;
}

static inline bool wf_op_is_fetch_add(uint8_t op)
{
	return wf_op_is_atomic(op) && wf_op_operation(op) == WF_OPERATION_FETCH_ADD;
}

static inline bool wf_op_is_atomic_write(uint8_t op)
{
	return wf_op_kind(op) == WF_OP_KIND_ATOMIC_WRITE;
}

static inline bool wf_op_is_atomic_ack(uint8_t op)
{
	return wf_op_kind(op) == WF_OP_KIND_ATOMIC_ACK;
}

static inline bool wf_op_is_cnp(uint8_t op)
{
	return wf_op_kind(op) == WF_OP_KIND_CNP;
}

/* From the responder to the requester: ACK, READ response, ATOMIC acknowledge. */
static inline bool wf_op_is_response(uint8_t op)
{
	return wf_op_is_read_resp(op) || wf_op_is_ack(op) || wf_op_is_atomic_ack(op);
}

/* From the requester; a CNP is neither. */
static inline bool wf_op_is_request(uint8_t op)
{
	return wf_op_is_known(op) && !wf_op_is_response(op) && !wf_op_is_cnp(op);
}

static inline bool wf_op_has(uint8_t op, enum wf_xh xh)
{
	return (wf_op_table[op].xh >> xh & 1) != 0;
}

static inline bool wf_op_has_imm(uint8_t op)
{
	return wf_op_has(op, WF_XH_IMMDT);
}

/* Asks the responder to invalidate an rkey. */
static inline bool wf_op_has_inv(uint8_t op)
{
	return wf_op_has(op, WF_XH_IETH);
}

static inline bool wf_op_has_reth(uint8_t op)
{
	return wf_op_has(op, WF_XH_RETH);
}

static inline bool wf_op_has_aeth(uint8_t op)
{
	return wf_op_has(op, WF_XH_AETH);
}

static inline bool wf_op_has_deth(uint8_t op)
{
	return wf_op_has(op, WF_XH_DETH);
}

/* May carry payload bytes: SEND, WRITE, ATOMIC WRITE and READ responses. */
static inline bool wf_op_has_payload(uint8_t op)
{
	return wf_op_is_send(op) || wf_op_is_write(op) || wf_op_is_read_resp(op) ||
	       wf_op_is_atomic_write(op);
}

/* A request that a response other than an acknowledge answers. */
static inline bool wf_op_is_answered(uint8_t op)
{
	return wf_op_is_read_req(op) || wf_op_is_atomic(op) || wf_op_is_atomic_write(op);
}

/* This packet takes a receive work request: the start of a SEND, a WRITE's immediate data. */
static inline bool wf_op_takes_recv(uint8_t op)
{
	return (wf_op_is_send(op) && wf_op_starts(op)) || (wf_op_is_write(op) && wf_op_has_imm(op));
}

/* This packet completes a receive work request: the end of a SEND, a WRITE's immediate data. */
static inline bool wf_op_completes_recv(uint8_t op)
{
	return (wf_op_is_send(op) && wf_op_ends(op)) || (wf_op_is_write(op) && wf_op_has_imm(op));
}

#endif
