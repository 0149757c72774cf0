/* SPDX-License-Identifier: Apache-2.0 */
/* opcode.c - the opcode table, and what is asked of it too seldom to be inline. */
#include "wire/opcode.h"

#include <assert.h>
#include <errno.h>

#define BTH_LEN 12

#define RDETH_LEN 4
#define XRCETH_LEN 4
#define DETH_LEN 8
#define RETH_LEN 16
#define ATOMICETH_LEN 28
#define AETH_LEN 4
#define ATOMICACKETH_LEN 8
#define IMMDT_LEN 4
#define IETH_LEN 4
#define CNP_LEN 16

/* One extended header as a cell of the table: its bit, and its length far above the bits. */
#define XH(x) ((1 << WF_XH_##x) + (x##_LEN << 16))
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
		.header_len = BTH_LEN + ((headers) >> 16),   \
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

const char *wf_service_name(uint8_t service)
{
	static const char *const name[] = {
		[WF_SERVICE_RC] = "RC", [WF_SERVICE_UC] = "UC",   [WF_SERVICE_RD] = "RD",
		[WF_SERVICE_UD] = "UD", [WF_SERVICE_CNP] = "CNP", [WF_SERVICE_XRC] = "XRC",
	};

	_Static_assert(WF_ARRAY_SIZE(name) == WF_SERVICES, "name every service");
	return service < WF_SERVICES ? name[service] : "?";
}

uint8_t wf_xh_len(enum wf_xh xh)
{
	static const uint8_t len[] = {
		[WF_XH_RDETH] = RDETH_LEN,
		[WF_XH_XRCETH] = XRCETH_LEN,
		[WF_XH_DETH] = DETH_LEN,
		[WF_XH_RETH] = RETH_LEN,
		[WF_XH_ATOMICETH] = ATOMICETH_LEN,
		[WF_XH_AETH] = AETH_LEN,
		[WF_XH_ATOMICACKETH] = ATOMICACKETH_LEN,
		[WF_XH_IMMDT] = IMMDT_LEN,
		[WF_XH_IETH] = IETH_LEN,
		[WF_XH_CNP] = CNP_LEN,
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

/* The opcode of an operation, if the service has it. */
static int op_make(enum wf_service service, int operation)
{
	int op = (int)service << 5 | operation;

	if (operation < 0 || service >= WF_SERVICES || service == WF_SERVICE_CNP)
		return -EINVAL;
	return wf_op_is_known((uint8_t)op) ? op : -EINVAL;
}

int wf_op_make_send(enum wf_service service, enum wf_op_place place, bool imm, bool inv)
{
	static const int8_t operation[WF_OP_PLACES][3] = {
		[WF_OP_FIRST] = { WF_OPERATION_SEND_FIRST, -1, -1 },
		[WF_OP_MIDDLE] = { WF_OPERATION_SEND_MIDDLE, -1, -1 },
		[WF_OP_LAST] = { WF_OPERATION_SEND_LAST, WF_OPERATION_SEND_LAST_IMM,
		                 WF_OPERATION_SEND_LAST_INV },
		[WF_OP_ONLY] = { WF_OPERATION_SEND_ONLY, WF_OPERATION_SEND_ONLY_IMM,
		                 WF_OPERATION_SEND_ONLY_INV },
	};

	if (place >= WF_OP_PLACES || (imm && inv))
		return -EINVAL;
	return op_make(service, operation[place][imm ? 1 : inv ? 2 : 0]);
}

int wf_op_make_write(enum wf_service service, enum wf_op_place place, bool imm)
{
	static const int8_t operation[WF_OP_PLACES][2] = {
		[WF_OP_FIRST] = { WF_OPERATION_WRITE_FIRST, -1 },
		[WF_OP_MIDDLE] = { WF_OPERATION_WRITE_MIDDLE, -1 },
		[WF_OP_LAST] = { WF_OPERATION_WRITE_LAST, WF_OPERATION_WRITE_LAST_IMM },
		[WF_OP_ONLY] = { WF_OPERATION_WRITE_ONLY, WF_OPERATION_WRITE_ONLY_IMM },
	};

	if (place >= WF_OP_PLACES)
		return -EINVAL;
	return op_make(service, operation[place][imm]);
}

int wf_op_make_read_resp(enum wf_service service, enum wf_op_place place)
{
	static const int8_t operation[WF_OP_PLACES] = {
		[WF_OP_FIRST] = WF_OPERATION_READ_RESP_FIRST,
		[WF_OP_MIDDLE] = WF_OPERATION_READ_RESP_MIDDLE,
		[WF_OP_LAST] = WF_OPERATION_READ_RESP_LAST,
		[WF_OP_ONLY] = WF_OPERATION_READ_RESP_ONLY,
	};

	if (place >= WF_OP_PLACES)
		return -EINVAL;
	return op_make(service, operation[place]);
}
