/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stats.c - the table of what is counted of hosts, adapters' counters and the daemon's own:
 * each has its row, and only what is meant to be added up has one name.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "live/stats.h"
#include "live/sysfs.h"

static void test_rows(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < WF_LIVE_COUNTS; i++) {
		const struct wf_host_counter *row = wf_live_counter(i);

		assert_true(row->name != NULL && row->name[0] != '\0');
		assert_true(row->help != NULL && row->help[0] != '\0');
		assert_true(row->unit == NULL || row->unit[0] != '\0');
		/* Those of mlx5 are all in node_exporter, too; it knows no others. */
		assert_int_equal(row->hw, row->exporter != NULL);
		assert_true(!row->hw || row->wire_file == NULL);
		if (i < WF_COUNTERS)
			assert_string_equal(row->name, wf_counter_name((enum wf_counter)i));
		for (uint32_t k = 0; k < i; k++) {
			const struct wf_host_counter *other = wf_live_counter(k);

			assert_string_not_equal(row->name, other->name);
			assert_true(row->status == NULL || other->status == NULL ||
			            strcmp(row->status, other->status) != 0);
			assert_true(row->wire == NULL || other->wire == NULL ||
			            strcmp(row->wire, other->wire) != 0);
			assert_true(row->exporter == NULL || other->exporter == NULL ||
			            strcmp(row->exporter, other->exporter) != 0);
		}
	}
	assert_string_equal(wf_counter_name(WF_COUNTERS), "?");
}

/* Those that mlx5 has in hw_counters/ are called as there. */
static void test_hw_counters(void **state)
{
	static const char *const known[] = {
		"out_of_sequence",
		"out_of_buffer",
		"duplicate_request",
		"packet_seq_err",
		"implied_nak_seq_err",
		"local_ack_timeout_err",
		"rnr_nak_retry_err",
		"req_cqe_error",
		"req_cqe_flush_error",
		"req_remote_access_errors",
		"req_remote_invalid_request",
		"resp_cqe_error",
		"resp_cqe_flush_error",
		"resp_local_length_error",
		"resp_remote_access_errors",
		"rx_write_requests",
		"rx_read_requests",
		"rx_atomic_requests",
		"np_cnp_sent",
		"np_ecn_marked_roce_packets",
		"rp_cnp_handled",
		"rp_cnp_ignored",
	};
	size_t n = 0;

	(void)state;
	for (uint32_t i = 0; i < WF_LIVE_COUNTS; i++) {
		size_t k = 0;

		if (!wf_live_counter(i)->hw)
			continue;
		while (k < WF_ARRAY_SIZE(known) && strcmp(known[k], wf_live_counter(i)->name) != 0)
			k++;
		assert_true(k < WF_ARRAY_SIZE(known));
		n++;
	}
	assert_int_equal(n, WF_ARRAY_SIZE(known));
}

/* Errors of a link are of two kinds, and one file has both; data is in words of four bytes. */
static void test_files(void **state)
{
	struct wf_live_table *t = calloc(1, wf_live_table_bytes(1));
	uint64_t count[WF_LIVE_COUNTS];
	char text[WF_SYSFS_MAX_TEXT];

	(void)state;
	assert_non_null(t);
	for (uint32_t i = 0; i < WF_LIVE_COUNTS; i++)
		count[i] = 1000 + i;
	assert_true(wf_sysfs_live("counters/port_xmit_data", t, 0, count, text) > 0);
	assert_int_equal(atoi(text), (1000 + WF_LIVE_TX_OCTETS) / 4);
	assert_true(wf_sysfs_live("counters/symbol_error", t, 0, count, text) > 0);
	assert_int_equal(atoi(text), 2000 + WF_LIVE_LOST + WF_LIVE_ICRC_ERRORS);
	assert_true(wf_sysfs_live("counters/port_rcv_packets", t, 0, count, text) > 0);
	assert_int_equal(atoi(text), 1000 + WF_CTR_RX_PACKETS);
	assert_true(wf_sysfs_live("hw_counters/rp_cnp_ignored", t, 0, count, text) > 0);
	assert_int_equal(atoi(text), 1000 + WF_CTR_RP_CNP_IGNORED);
	assert_true(wf_sysfs_live("hw_counters/rx_icrc_encapsulated", t, 0, count, text) > 0);
	assert_int_equal(atoi(text), 1000 + WF_LIVE_ICRC_ERRORS);
	assert_true(wf_sysfs_live("hw_counters/rx_packets", t, 0, count, text) < 0);
	assert_true(wf_sysfs_live("counters/out_of_buffer", t, 0, count, text) < 0);
	assert_true(wf_sysfs_live("counters", t, 0, count, text) < 0);
	free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_hw_counters),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
