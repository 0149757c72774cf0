/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_opcode.c - the opcode table against the rules that made it: which operations each service
 * has, which headers follow from service and operation, how long a packet may be.
 */
#include "wire_test.h"

#include "wire/transport.h"

/* The rule for one operation, whatever the service. */
struct operation {
	enum wf_op_kind kind;
	enum wf_op_place place;
	bool imm, inv;
};

static const struct operation operations[32] = {
	[WF_OPERATION_SEND_FIRST] = { WF_OP_KIND_SEND, WF_OP_FIRST, false, false },
	[WF_OPERATION_SEND_MIDDLE] = { WF_OP_KIND_SEND, WF_OP_MIDDLE, false, false },
	[WF_OPERATION_SEND_LAST] = { WF_OP_KIND_SEND, WF_OP_LAST, false, false },
	[WF_OPERATION_SEND_LAST_IMM] = { WF_OP_KIND_SEND, WF_OP_LAST, true, false },
	[WF_OPERATION_SEND_ONLY] = { WF_OP_KIND_SEND, WF_OP_ONLY, false, false },
	[WF_OPERATION_SEND_ONLY_IMM] = { WF_OP_KIND_SEND, WF_OP_ONLY, true, false },
	[WF_OPERATION_WRITE_FIRST] = { WF_OP_KIND_WRITE, WF_OP_FIRST, false, false },
	[WF_OPERATION_WRITE_MIDDLE] = { WF_OP_KIND_WRITE, WF_OP_MIDDLE, false, false },
	[WF_OPERATION_WRITE_LAST] = { WF_OP_KIND_WRITE, WF_OP_LAST, false, false },
	[WF_OPERATION_WRITE_LAST_IMM] = { WF_OP_KIND_WRITE, WF_OP_LAST, true, false },
	[WF_OPERATION_WRITE_ONLY] = { WF_OP_KIND_WRITE, WF_OP_ONLY, false, false },
	[WF_OPERATION_WRITE_ONLY_IMM] = { WF_OP_KIND_WRITE, WF_OP_ONLY, true, false },
	[WF_OPERATION_READ_REQ] = { WF_OP_KIND_READ_REQ, WF_OP_ONLY, false, false },
	[WF_OPERATION_READ_RESP_FIRST] = { WF_OP_KIND_READ_RESP, WF_OP_FIRST, false, false },
	[WF_OPERATION_READ_RESP_MIDDLE] = { WF_OP_KIND_READ_RESP, WF_OP_MIDDLE, false, false },
	[WF_OPERATION_READ_RESP_LAST] = { WF_OP_KIND_READ_RESP, WF_OP_LAST, false, false },
	[WF_OPERATION_READ_RESP_ONLY] = { WF_OP_KIND_READ_RESP, WF_OP_ONLY, false, false },
	[WF_OPERATION_ACK] = { WF_OP_KIND_ACK, WF_OP_ONLY, false, false },
	[WF_OPERATION_ATOMIC_ACK] = { WF_OP_KIND_ATOMIC_ACK, WF_OP_ONLY, false, false },
	[WF_OPERATION_CMP_SWAP] = { WF_OP_KIND_ATOMIC, WF_OP_ONLY, false, false },
	[WF_OPERATION_FETCH_ADD] = { WF_OP_KIND_ATOMIC, WF_OP_ONLY, false, false },
	[WF_OPERATION_RESYNC] = { WF_OP_KIND_RESYNC, WF_OP_ONLY, false, false },
	[WF_OPERATION_SEND_LAST_INV] = { WF_OP_KIND_SEND, WF_OP_LAST, false, true },
	[WF_OPERATION_SEND_ONLY_INV] = { WF_OP_KIND_SEND, WF_OP_ONLY, false, true },
	[WF_OPERATION_ATOMIC_WRITE] = { WF_OP_KIND_ATOMIC_WRITE, WF_OP_ONLY, false, false },
};

/*
 * Which operations a service has (IBTA vol. 1, 9.2.1; XRC: annex A14; ATOMIC WRITE: as Linux has
 * it).
 */
static bool service_has(uint8_t service, const struct operation *o)
{
	if (o->kind == WF_OP_KIND_ATOMIC_WRITE)
		return service == WF_SERVICE_RC;
	switch (service) {
	case WF_SERVICE_RC:
	case WF_SERVICE_XRC:
		return o->kind != WF_OP_KIND_NONE && o->kind != WF_OP_KIND_RESYNC;
	case WF_SERVICE_RD:
		return o->kind != WF_OP_KIND_NONE && !o->inv;
	case WF_SERVICE_UC:
		return (o->kind == WF_OP_KIND_SEND || o->kind == WF_OP_KIND_WRITE) && !o->inv;
	case WF_SERVICE_UD:
		return o->kind == WF_OP_KIND_SEND && o->place == WF_OP_ONLY && !o->inv;
	default:
		return false;
	}
}

static bool kind_is_response(enum wf_op_kind kind)
{
	return kind == WF_OP_KIND_READ_RESP || kind == WF_OP_KIND_ACK ||
	       kind == WF_OP_KIND_ATOMIC_ACK;
}

static bool rule_has(uint8_t service, const struct operation *o, enum wf_xh xh)
{
	bool response = kind_is_response(o->kind);
	bool starts = o->place == WF_OP_FIRST || o->place == WF_OP_ONLY;

	switch (xh) {
	case WF_XH_RDETH:
		return service == WF_SERVICE_RD;
	case WF_XH_XRCETH:
		return service == WF_SERVICE_XRC && !response;
	case WF_XH_DETH:
		return service == WF_SERVICE_UD || (service == WF_SERVICE_RD && !response);
	case WF_XH_RETH:
		return (o->kind == WF_OP_KIND_WRITE && starts) || o->kind == WF_OP_KIND_READ_REQ ||
		       o->kind == WF_OP_KIND_ATOMIC_WRITE;
	case WF_XH_ATOMICETH:
		return o->kind == WF_OP_KIND_ATOMIC;
	case WF_XH_AETH:
		return response && o->place != WF_OP_MIDDLE;
	case WF_XH_ATOMICACKETH:
		return o->kind == WF_OP_KIND_ATOMIC_ACK;
	case WF_XH_IMMDT:
		return o->imm;
	case WF_XH_IETH:
		return o->inv;
	case WF_XH_CNP:
	case WF_XHS:
		break;
	}
	return false;
}

static void check_row(uint8_t op, const struct operation *o)
{
	static const char *const service[] = { "RC", "UC", "RD", "UD", "CNP", "XRC" };
	unsigned len = WF_BTH_LEN;

	assert_true(wf_op_is_known(op));
	assert_int_equal(wf_op_table[op].service, op >> 5);
	assert_int_equal(wf_op_kind(op), o->kind);
	assert_int_equal(wf_op_place(op), o->place);
	assert_int_equal(wf_op_has_imm(op), o->imm);
	assert_int_equal(wf_op_has_inv(op), o->inv);
	for (enum wf_xh xh = 0; xh < WF_XHS; xh++) {
		assert_int_equal(wf_op_has(op, xh), rule_has(op >> 5, o, xh));
		len += wf_op_has(op, xh) ? wf_xh_len(xh) : 0;
	}
	assert_int_equal(wf_op_header_len(op), len);
	/* The name says the same as the number: service first, then the operation's own name. */
	assert_memory_equal(wf_op_name(op), service[op >> 5], strlen(service[op >> 5]));
	assert_int_equal(strstr(wf_op_name(op), "_IMM") != NULL, o->imm);
	assert_int_equal(strstr(wf_op_name(op), "_INV") != NULL, o->inv);
}

static void test_table_follows_rules(void **state)
{
	unsigned known = 0;

	(void)state;
	for (unsigned op = 0; op < WF_OPCODES; op++) {
		const struct operation *o = &operations[op & 0x1f];

		if (op == WF_OP_CNP || op == WF_OP_CNP_IB)
			continue;
		if (service_has((uint8_t)(op >> 5), o)) {
			check_row((uint8_t)op, o);
			known++;
		} else {
			assert_false(wf_op_is_known((uint8_t)op));
			assert_int_equal(wf_op_header_len((uint8_t)op), 0);
			assert_string_equal(wf_op_name((uint8_t)op), "UNKNOWN");
		}
	}
	assert_int_equal(known, 24 + 12 + 22 + 2 + 23);
}

static void test_cnp(void **state)
{
	static const uint8_t cnp[] = { WF_OP_CNP, WF_OP_CNP_IB };

	(void)state;
	assert_int_equal(WF_OP_CNP, 0x81);
	for (size_t i = 0; i < WF_ARRAY_SIZE(cnp); i++) {
		assert_true(wf_op_is_cnp(cnp[i]));
		assert_true(wf_op_is_only(cnp[i]));
		assert_false(wf_op_is_request(cnp[i]));
		assert_false(wf_op_is_response(cnp[i]));
		assert_int_equal(wf_op_header_len(cnp[i]), WF_BTH_LEN + WF_CNP_LEN);
	}
}

/* The lengths of the headers' own file and of the table are one. */
static void test_header_lengths(void **state)
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

	(void)state;
	for (enum wf_xh xh = 0; xh < WF_XHS; xh++)
		assert_int_equal(wf_xh_len(xh), len[xh]);
}

static void test_unknown_is_nothing(void **state)
{
	(void)state;
	for (unsigned op = 0; op < WF_OPCODES; op++) {
		uint8_t o = (uint8_t)op;

		if (wf_op_is_known(o))
			continue;
		assert_false(wf_op_is_first(o) || wf_op_is_middle(o) || wf_op_is_last(o) ||
		             wf_op_is_only(o) || wf_op_starts(o) || wf_op_ends(o));
		assert_false(wf_op_is_request(o) || wf_op_is_response(o) || wf_op_has_payload(o));
		assert_false(wf_op_takes_recv(o) || wf_op_completes_recv(o));
		assert_false(wf_op_length_ok(o, 0, 1024));
	}
}

/* Each known opcode has one place and one kind, and is a request, a response or a CNP. */
static void test_predicates_partition(void **state)
{
	(void)state;
	for (unsigned op = 0; op < WF_OPCODES; op++) {
		uint8_t o = (uint8_t)op;

		if (!wf_op_is_known(o))
			continue;
		assert_int_equal(wf_op_is_first(o) + wf_op_is_middle(o) + wf_op_is_last(o) +
		                         wf_op_is_only(o),
		                 1);
		assert_int_equal(wf_op_is_request(o) + wf_op_is_response(o) + wf_op_is_cnp(o), 1);
		assert_int_equal(wf_op_starts(o), wf_op_is_first(o) || wf_op_is_only(o));
		assert_int_equal(wf_op_ends(o), wf_op_is_last(o) || wf_op_is_only(o));
		assert_int_equal(wf_op_is_cmp_swap(o) + wf_op_is_fetch_add(o), wf_op_is_atomic(o));
	}
}

static void test_receive_queue(void **state)
{
	static const struct {
		uint8_t op;
		bool takes, completes;
	} row[] = {
		{ WF_OP_RC_SEND_FIRST, true, false },
		{ WF_OP_RC_SEND_MIDDLE, false, false },
		{ WF_OP_RC_SEND_LAST, false, true },
		{ WF_OP_RC_SEND_LAST_INV, false, true },
		{ WF_OP_RC_SEND_ONLY, true, true },
		{ WF_OP_RC_SEND_ONLY_IMM, true, true },
		{ WF_OP_RC_WRITE_FIRST, false, false },
		{ WF_OP_RC_WRITE_LAST, false, false },
		{ WF_OP_RC_WRITE_LAST_IMM, true, true },
		{ WF_OP_RC_WRITE_ONLY, false, false },
		{ WF_OP_UC_WRITE_ONLY_IMM, true, true },
		{ WF_OP_RC_READ_REQ, false, false },
		{ WF_OP_RC_READ_RESP_ONLY, false, false },
		{ WF_OP_UD_SEND_ONLY, true, true },
		{ WF_OP_RC_ACK, false, false },
		{ WF_OP_RC_FETCH_ADD, false, false },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		assert_int_equal(wf_op_takes_recv(row[i].op), row[i].takes);
		assert_int_equal(wf_op_completes_recv(row[i].op), row[i].completes);
	}
}

static void test_length_rules(void **state)
{
	static const struct {
		uint8_t op;
		uint32_t len;
		bool ok;
	} row[] = {
		{ WF_OP_RC_SEND_FIRST, 1024, true },
		{ WF_OP_RC_SEND_FIRST, 1023, false },
		{ WF_OP_RC_SEND_FIRST, 1025, false },
		{ WF_OP_RC_WRITE_MIDDLE, 1024, true },
		{ WF_OP_RC_WRITE_MIDDLE, 0, false },
		{ WF_OP_RC_WRITE_LAST, 0, false },
		{ WF_OP_RC_WRITE_LAST, 1, true },
		{ WF_OP_RC_WRITE_LAST, 1024, true },
		{ WF_OP_RC_WRITE_LAST, 1025, false },
		{ WF_OP_RC_SEND_ONLY, 0, true },
		{ WF_OP_RC_SEND_ONLY, 1024, true },
		{ WF_OP_RC_SEND_ONLY, 1025, false },
		{ WF_OP_RC_READ_REQ, 0, true },
		{ WF_OP_RC_READ_REQ, 4, false },
		{ WF_OP_RC_READ_RESP_ONLY, 0, true },
		{ WF_OP_RC_READ_RESP_LAST, 0, false },
		{ WF_OP_RC_READ_RESP_MIDDLE, 1024, true },
		{ WF_OP_RC_ACK, 0, true },
		{ WF_OP_RC_ACK, 4, false },
		{ WF_OP_RC_CMP_SWAP, 0, true },
		{ WF_OP_RC_CMP_SWAP, 8, false },
		{ WF_OP_RC_ATOMIC_WRITE, 8, true },
		{ WF_OP_RC_ATOMIC_WRITE, 0, false },
		{ WF_OP_RC_ATOMIC_WRITE, 7, false },
		{ WF_OP_RC_ATOMIC_WRITE, 12, false },
		{ WF_OP_UD_SEND_ONLY_IMM, 1024, true },
		{ WF_OP_CNP, 0, true },
		{ WF_OP_CNP, 16, false },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++)
		assert_int_equal(wf_op_length_ok(row[i].op, row[i].len, 1024), row[i].ok);
}

/* Making an opcode and taking it apart again are inverse, for everything that exists. */
static void test_make(void **state)
{
	static const enum wf_op_place place[2][2] = { { WF_OP_MIDDLE, WF_OP_LAST },
		                                      { WF_OP_FIRST, WF_OP_ONLY } };
	bool made[WF_OPCODES] = { false };
	unsigned n_made = 0;

	(void)state;
	for (unsigned i = 0; i < WF_SERVICES * 4 * WF_OP_EXTRAS; i++) {
		uint8_t service = (uint8_t)(i / (4 * WF_OP_EXTRAS));
		bool first = i / (2 * WF_OP_EXTRAS) % 2, last = i / WF_OP_EXTRAS % 2;
		enum wf_op_extra extra = i % WF_OP_EXTRAS;
		uint8_t send = wf_opcode(service, wf_operation_send(first, last, extra));
		uint8_t write =
			wf_opcode(service, wf_operation_write(first, last, extra == WF_OP_IMM));
		uint8_t resp = wf_opcode(service, wf_operation_read_resp(first, last));

		assert_int_equal(wf_op_service(send), service);
		if (service != WF_SERVICE_CNP && wf_op_is_known(send)) {
			assert_true(wf_op_is_send(send));
			assert_int_equal(wf_op_place(send), place[first][last]);
			assert_int_equal(wf_op_has_imm(send), last && extra == WF_OP_IMM);
			assert_int_equal(wf_op_has_inv(send), last && extra == WF_OP_INV);
			made[send] = true;
		}
		if (service != WF_SERVICE_CNP && wf_op_is_known(write)) {
			assert_true(wf_op_is_write(write));
			assert_int_equal(wf_op_place(write), place[first][last]);
			assert_int_equal(wf_op_has_imm(write), last && extra == WF_OP_IMM);
			made[write] = true;
		}
		if (service != WF_SERVICE_CNP && wf_op_is_known(resp)) {
			assert_true(wf_op_is_read_resp(resp));
			assert_int_equal(wf_op_place(resp), place[first][last]);
			made[resp] = true;
		}
	}
	for (unsigned op = 0; op < WF_OPCODES; op++)
		n_made += made[op];
	/*
	 * RC and XRC 8 SENDs, 6 WRITEs, 4 responses; RD without the 2 invalidates; UC 6 + 6; UD 2.
	 */
	assert_int_equal(n_made, 18 + 18 + 16 + 12 + 2);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_follows_rules),
		cmocka_unit_test(test_cnp),
		cmocka_unit_test(test_header_lengths),
		cmocka_unit_test(test_unknown_is_nothing),
		cmocka_unit_test(test_predicates_partition),
		cmocka_unit_test(test_receive_queue),
		cmocka_unit_test(test_length_rules),
		cmocka_unit_test(test_make),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
