/* SPDX-License-Identifier: Apache-2.0 */
/* test_late.c - how late a program takes in what comes through a model that goes by the clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rig_nic.h"
#include "wire/opcode.h"

static uint32_t ns(wf_time clock)
{
	return (uint32_t)((uint64_t)clock / WF_NS);
}

/* Makes peer 0 the way to the model, by which packets of host 1, slot 1 come. */
static struct rig *make(enum wf_live_pace pace)
{
	struct rig *r = rig_create();

	r->nic->model = r->nic->peers[0];
	r->nic->model->host = WF_LIVE_MODEL;
	r->nic->table->pace = pace;
	return r;
}

static void come(struct rig *r, uint8_t opcode, uint32_t due)
{
	struct wf_packet pkt = {
		.src = wf_live_program(1, 1),
		.opcode = opcode,
		.qpn = wf_qp_num(r->rc),
		.payload = due,
	};

	rig_send(r, 0, &pkt, NULL, 0);
}

static void test_counted(void **state)
{
	struct rig *r = make(WF_LIVE_WALL);
	wf_time begin = wf_nic_clock();

	(void)state;
	/* Two that were due 7 ms and 5 ms ago, and one that comes too early. */
	come(r, WF_OP_RC_ACK, ns(begin - 7 * WF_MS));
	come(r, WF_OP_RC_ACK, ns(begin - 5 * WF_MS));
	come(r, WF_OP_RC_ACK, ns(begin + WF_S));
	(void)wf_nic_progress(r->nic);
	assert_int_equal(r->nic->late_packets, 3);
	assert_in_range(r->nic->late_ns, 12 * WF_MS / WF_NS,
	                (12 * WF_MS + 2 * (wf_nic_clock() - begin)) / WF_NS + 2);
	/* What has no room for the time does not count. */
	come(r, WF_OP_RC_CMP_SWAP, 0);
	(void)wf_nic_progress(r->nic);
	assert_int_equal(r->nic->late_packets, 3);
	wf_nic_publish(r->nic);
	assert_int_equal(r->nic->stats->count[WF_LIVE_LATE_PACKETS], 3);
	assert_int_equal(r->nic->stats->count[WF_LIVE_LATE_NS], r->nic->late_ns);
	r->nic->model = NULL;
	rig_destroy(r);
}

/* Where the model does not go by the clock, nothing is late. */
static void test_no_clock(void **state)
{
	struct rig *r = make(WF_LIVE_NONE);

	(void)state;
	come(r, WF_OP_RC_ACK, ns(wf_nic_clock() - WF_MS));
	(void)wf_nic_progress(r->nic);
	assert_int_equal(r->nic->late_packets, 0);
	r->nic->model = NULL;
	rig_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counted),
		cmocka_unit_test(test_no_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
