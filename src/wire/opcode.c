/* SPDX-License-Identifier: Apache-2.0 */
/* opcode.c - the opcode table, and what is asked of it too seldom to be inline. */
#include "wire/opcode.h"

#include <assert.h>

#include "wire/transport.h"

/* One extended header as a cell of the table: its bit, and its length far above the bits. */
#define XH(x) ((1 << WF_XH_##x) + (WF_##x##_LEN << 16))
#define NONE 0
#define RDETH XH(RDETH)
#define XRCETH XH(XRCETH)
#define DETH XH(DETH)
#define RETH XH(RETH)
#define ATOMICETH XH(ATOMICETH)
#define AETH XH(AETH)
#define ATOMICACKETH XH(ATOMICACKETH)
#define IMMDT XH(IMMDT)
#define IETH XH(IETH)
#define CNP XH(CNP)

/* clang-format off */
/* Bits and lengths are added up in one sum: no header may be named twice in a row. */
#define ROW(svc, op, kind_, place_, headers)                 \
	[WF_OP_##op] = {                                     \
		.name = #op,                                 \
		.xh = (headers) & 0xffff,                    \
		.header_len = WF_BTH_LEN + ((headers) >> 16), \
		.service = WF_SERVICE_##svc,                 \
		.kind = WF_OP_KIND_##kind_,                  \
		.place = WF_OP_##place_,                     \
	}

const struct wf_op wf_op_table[WF_OPCODES] = {
	ROW(RC, RC_SEND_FIRST,        SEND,       FIRST,  NONE),
	ROW(RC, RC_SEND_MIDDLE,       SEND,       MIDDLE, NONE),
	ROW(RC, RC_SEND_LAST,         SEND,       LAST,   NONE),
	ROW(RC, RC_SEND_LAST_IMM,     SEND,       LAST,   IMMDT),
	ROW(RC, RC_SEND_ONLY,         SEND,       ONLY,   NONE),
	ROW(RC, RC_SEND_ONLY_IMM,     SEND,       ONLY,   IMMDT),
	ROW(RC, RC_WRITE_FIRST,       WRITE,      FIRST,  RETH),
	ROW(RC, RC_WRITE_MIDDLE,      WRITE,      MIDDLE, NONE),
	ROW(RC, RC_WRITE_LAST,        WRITE,      LAST,   NONE),
	ROW(RC, RC_WRITE_LAST_IMM,    WRITE,      LAST,   IMMDT),
	ROW(RC, RC_WRITE_ONLY,        WRITE,      ONLY,   RETH),
	ROW(RC, RC_WRITE_ONLY_IMM,    WRITE,      ONLY,   RETH + IMMDT),
	ROW(RC, RC_READ_REQ,          READ_REQ,   ONLY,   RETH),
	ROW(RC, RC_READ_RESP_FIRST,   READ_RESP,  FIRST,  AETH),
	ROW(RC, RC_READ_RESP_MIDDLE,  READ_RESP,  MIDDLE, NONE),
	ROW(RC, RC_READ_RESP_LAST,    READ_RESP,  LAST,   AETH),
	ROW(RC, RC_READ_RESP_ONLY,    READ_RESP,  ONLY,   AETH),
	ROW(RC, RC_ACK,               ACK,        ONLY,   AETH),
	ROW(RC, RC_ATOMIC_ACK,        ATOMIC_ACK, ONLY,   AETH + ATOMICACKETH),
	ROW(RC, RC_CMP_SWAP,          ATOMIC,     ONLY,   ATOMICETH),
	ROW(RC, RC_FETCH_ADD,         ATOMIC,     ONLY,   ATOMICETH),
	ROW(RC, RC_SEND_LAST_INV,     SEND,       LAST,   IETH),
	ROW(RC, RC_SEND_ONLY_INV,     SEND,       ONLY,   IETH),
	ROW(RC, RC_ATOMIC_WRITE,      ATOMIC_WRITE, ONLY, RETH),

	ROW(UC, UC_SEND_FIRST,        SEND,       FIRST,  NONE),
	ROW(UC, UC_SEND_MIDDLE,       SEND,       MIDDLE, NONE),
	ROW(UC, UC_SEND_LAST,         SEND,       LAST,   NONE),
	ROW(UC, UC_SEND_LAST_IMM,     SEND,       LAST,   IMMDT),
	ROW(UC, UC_SEND_ONLY,         SEND,       ONLY,   NONE),
	ROW(UC, UC_SEND_ONLY_IMM,     SEND,       ONLY,   IMMDT),
	ROW(UC, UC_WRITE_FIRST,       WRITE,      FIRST,  RETH),
	ROW(UC, UC_WRITE_MIDDLE,      WRITE,      MIDDLE, NONE),
	ROW(UC, UC_WRITE_LAST,        WRITE,      LAST,   NONE),
	ROW(UC, UC_WRITE_LAST_IMM,    WRITE,      LAST,   IMMDT),
	ROW(UC, UC_WRITE_ONLY,        WRITE,      ONLY,   RETH),
	ROW(UC, UC_WRITE_ONLY_IMM,    WRITE,      ONLY,   RETH + IMMDT),

	ROW(RD, RD_SEND_FIRST,        SEND,       FIRST,  RDETH + DETH),
	ROW(RD, RD_SEND_MIDDLE,       SEND,       MIDDLE, RDETH + DETH),
	ROW(RD, RD_SEND_LAST,         SEND,       LAST,   RDETH + DETH),
	ROW(RD, RD_SEND_LAST_IMM,     SEND,       LAST,   RDETH + DETH + IMMDT),
	ROW(RD, RD_SEND_ONLY,         SEND,       ONLY,   RDETH + DETH),
	ROW(RD, RD_SEND_ONLY_IMM,     SEND,       ONLY,   RDETH + DETH + IMMDT),
	ROW(RD, RD_WRITE_FIRST,       WRITE,      FIRST,  RDETH + DETH + RETH),
	ROW(RD, RD_WRITE_MIDDLE,      WRITE,      MIDDLE, RDETH + DETH),
	ROW(RD, RD_WRITE_LAST,        WRITE,      LAST,   RDETH + DETH),
	ROW(RD, RD_WRITE_LAST_IMM,    WRITE,      LAST,   RDETH + DETH + IMMDT),
	ROW(RD, RD_WRITE_ONLY,        WRITE,      ONLY,   RDETH + DETH + RETH),
	ROW(RD, RD_WRITE_ONLY_IMM,    WRITE,      ONLY,   RDETH + DETH + RETH + IMMDT),
	ROW(RD, RD_READ_REQ,          READ_REQ,   ONLY,   RDETH + DETH + RETH),
	ROW(RD, RD_READ_RESP_FIRST,   READ_RESP,  FIRST,  RDETH + AETH),
	ROW(RD, RD_READ_RESP_MIDDLE,  READ_RESP,  MIDDLE, RDETH),
	ROW(RD, RD_READ_RESP_LAST,    READ_RESP,  LAST,   RDETH + AETH),
	ROW(RD, RD_READ_RESP_ONLY,    READ_RESP,  ONLY,   RDETH + AETH),
	ROW(RD, RD_ACK,               ACK,        ONLY,   RDETH + AETH),
	ROW(RD, RD_ATOMIC_ACK,        ATOMIC_ACK, ONLY,   RDETH + AETH + ATOMICACKETH),
	ROW(RD, RD_CMP_SWAP,          ATOMIC,     ONLY,   RDETH + DETH + ATOMICETH),
	ROW(RD, RD_FETCH_ADD,         ATOMIC,     ONLY,   RDETH + DETH + ATOMICETH),
	ROW(RD, RD_RESYNC,            RESYNC,     ONLY,   RDETH + DETH),

	ROW(UD, UD_SEND_ONLY,         SEND,       ONLY,   DETH),
	ROW(UD, UD_SEND_ONLY_IMM,     SEND,       ONLY,   DETH + IMMDT),

	ROW(CNP, CNP_IB,              CNP,        ONLY,   CNP),
	ROW(CNP, CNP,                 CNP,        ONLY,   CNP),

	ROW(XRC, XRC_SEND_FIRST,      SEND,       FIRST,  XRCETH),
	ROW(XRC, XRC_SEND_MIDDLE,     SEND,       MIDDLE, XRCETH),
	ROW(XRC, XRC_SEND_LAST,       SEND,       LAST,   XRCETH),
	ROW(XRC, XRC_SEND_LAST_IMM,   SEND,       LAST,   XRCETH + IMMDT),
	ROW(XRC, XRC_SEND_ONLY,       SEND,       ONLY,   XRCETH),
	ROW(XRC, XRC_SEND_ONLY_IMM,   SEND,       ONLY,   XRCETH + IMMDT),
	ROW(XRC, XRC_WRITE_FIRST,     WRITE,      FIRST,  XRCETH + RETH),
	ROW(XRC, XRC_WRITE_MIDDLE,    WRITE,      MIDDLE, XRCETH),
	ROW(XRC, XRC_WRITE_LAST,      WRITE,      LAST,   XRCETH),
	ROW(XRC, XRC_WRITE_LAST_IMM,  WRITE,      LAST,   XRCETH + IMMDT),
	ROW(XRC, XRC_WRITE_ONLY,      WRITE,      ONLY,   XRCETH + RETH),
	ROW(XRC, XRC_WRITE_ONLY_IMM,  WRITE,      ONLY,   XRCETH + RETH + IMMDT),
	ROW(XRC, XRC_READ_REQ,        READ_REQ,   ONLY,   XRCETH + RETH),
	ROW(XRC, XRC_READ_RESP_FIRST, READ_RESP,  FIRST,  AETH),
	ROW(XRC, XRC_READ_RESP_MIDDLE, READ_RESP, MIDDLE, NONE),
	ROW(XRC, XRC_READ_RESP_LAST,  READ_RESP,  LAST,   AETH),
	ROW(XRC, XRC_READ_RESP_ONLY,  READ_RESP,  ONLY,   AETH),
	ROW(XRC, XRC_ACK,             ACK,        ONLY,   AETH),
	ROW(XRC, XRC_ATOMIC_ACK,      ATOMIC_ACK, ONLY,   AETH + ATOMICACKETH),
	ROW(XRC, XRC_CMP_SWAP,        ATOMIC,     ONLY,   XRCETH + ATOMICETH),
	ROW(XRC, XRC_FETCH_ADD,       ATOMIC,     ONLY,   XRCETH + ATOMICETH),
	ROW(XRC, XRC_SEND_LAST_INV,   SEND,       LAST,   XRCETH + IETH),
	ROW(XRC, XRC_SEND_ONLY_INV,   SEND,       ONLY,   XRCETH + IETH),
};
/* clang-format on */

_Static_assert(WF_XHS <= 16, "the extended headers fit struct wf_op's bits");

const char *wf_op_name(uint8_t op)
{
	return wf_op_is_known(op) ? wf_op_table[op].name : "UNKNOWN";
}

uint8_t wf_xh_len(enum wf_xh xh)
{
	static const uint8_t len[] = {
		[WF_XH_RDETH] = WF_RDETH_LEN,
		[WF_XH_XRCETH] = WF_XRCETH_LEN,
		[WF_XH_DETH] = WF_DETH_LEN,
		[WF_XH_RETH] = WF_RETH_LEN,
		[WF_XH_ATOMICETH] = WF_ATOMICETH_LEN,
		[WF_XH_AETH] = WF_AETH_LEN,
		[WF_XH_ATOMICACKETH] = WF_ATOMICACKETH_LEN,
		[WF_XH_IMMDT] = WF_IMMDT_LEN,
		[WF_XH_IETH] = WF_IETH_LEN,
		[WF_XH_CNP] = WF_CNP_LEN,
	};

	_Static_assert(WF_ARRAY_SIZE(len) == WF_XHS, "every extended header has a length");
	assert(xh < WF_XHS);
	return len[xh];
}

bool wf_op_length_ok(uint8_t op, uint32_t len, uint32_t mtu)
{
	if (!wf_op_is_known(op))
		return false;
	if (!wf_op_has_payload(op))
		return len == 0;
	if (wf_op_is_atomic_write(op))
		return len == 8;
	switch (wf_op_place(op)) {
	case WF_OP_FIRST:
	case WF_OP_MIDDLE:
		return len == mtu;
	case WF_OP_LAST:
		return len >= 1 && len <= mtu;
	case WF_OP_ONLY:
		return len <= mtu;
	case WF_OP_PLACES:
		break;
	}
	return false;
}
