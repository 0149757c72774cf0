/* SPDX-License-Identifier: Apache-2.0 */
/* Storage: when drives are done, what values go together, PDUs, and the figures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/storage/config.h"
#include "sim/storage/drive.h"
#include "sim/storage/pdu.h"
#include "sim/storage/result.h"

/* 8 GB/s and 4 GB/s; 500,000 and 100,000 commands a second. */
static const struct wf_drive_cfg two = {
	.count = 2,
	.read = 80 * WF_US,
	.write = 15 * WF_US,
	.read_rate = UINT64_C(64000000000),
	.write_rate = UINT64_C(32000000000),
	.read_iops = 500000,
	.write_iops = 100000,
};

/* Each drive takes its commands in order; rate or number of commands says how soon the next. */
static void test_drives(void **state)
{
	static const struct {
		uint64_t block;
		uint32_t bytes;
		bool write;
		wf_time now, done;
	} rows[] = {
		/* 32 KiB at 8 GB/s are 4.096 us, more than 2 us for a command. */
		{ 0, 32768, false, 0, 80 * WF_US + 4096 * WF_NS },
		/* The next of the same drive waits for it, and has 2 us: 4 KiB take less. */
		{ 2, 4096, false, 1 * WF_US, 80 * WF_US + 6096 * WF_NS },
		/* The other drive is free. A write has 10 us at least. */
		{ 1, 4096, true, 1 * WF_US, 26 * WF_US },
		{ 3, 4096, true, 1 * WF_US, 36 * WF_US },
		/* 1 MiB at 4 GB/s. */
		{ 5, 1 << 20, true, 30 * WF_US, 45 * WF_US + 262144 * WF_NS },
		/* Reads and writes share a drive. */
		{ 7, 4096, false, 31 * WF_US, 112 * WF_US + 262144 * WF_NS },
		/* Long after, it is idle again. */
		{ 0, 4096, false, 1 * WF_S, 1 * WF_S + 82 * WF_US },
	};
	struct wf_drives drives = { { 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(wf_drives_command(&drives, &two, rows[i].block, rows[i].bytes,
		                                   rows[i].write, rows[i].now),
		                 rows[i].done);
}

/* A value has the kind that its name says, and defaults are valid but for what has none. */
static void test_config(void **state)
{
	struct wf_storage_cfg cfg;
	struct wf_err err = { "" };

	(void)state;
	assert_int_equal(wf_param_defaults(wf_storage_params, wf_storage_n_params, &cfg, &err), 0);
	assert_int_equal(wf_storage_kind_find(cfg.kind), WF_STORAGE_RANDOM);
	assert_int_equal(wf_storage_kind_find("restore"), WF_STORAGE_RESTORE);
	assert_false(wf_storage_kind_is_bulk(WF_STORAGE_SEQUENTIAL));
	assert_true(wf_storage_kind_is_bulk(WF_STORAGE_RESTORE));
	assert_string_equal(wf_storage_name(&cfg), "random");
	assert_int_equal(wf_storage_check(&cfg, &err), -22);
	assert_non_null(strstr(err.text, "targets: "));
	memcpy(cfg.targets, "h1", 3);
	memcpy(cfg.name, "mine", 5);
	assert_string_equal(wf_storage_name(&cfg), "mine");
	assert_int_equal(wf_storage_check(&cfg, &err), 0);
	cfg.maxh2cdata = 4098;
	err.text[0] = '\0';
	assert_int_equal(wf_storage_check(&cfg, &err), -22);
	assert_string_equal(err.text, "maxh2cdata: it is no multiple of 4; write e.g. 4096B");
	cfg.maxh2cdata = 4100;
	cfg.data_align = 127;
	err.text[0] = '\0';
	assert_int_equal(wf_storage_check(&cfg, &err), -22);
	assert_string_equal(err.text, "data_align: it is no multiple of 4; write e.g. 124B");
}

/* What is not said follows the adapter; Linux' targets take a page with a command, or four. */
static void test_transports(void **state)
{
	static const struct {
		const char *transport, *nic_stack;
		bool tcp;
	} rows[] = {
		{ "auto", "rdma", false },    { "auto", "tcp", false },
		{ "auto", "sockets", true },  { "rdma", "rdma", false },
		{ "rdma", "sockets", false }, { "tcp", "rdma", true },
		{ "tcp", "sockets", true },
	};
	struct wf_storage_cfg cfg;
	struct wf_err err = { "" };

	(void)state;
	assert_int_equal(wf_param_defaults(wf_storage_params, wf_storage_n_params, &cfg, &err), 0);
	assert_false(wf_storage_is_tcp(&cfg, "rdma"));
	assert_int_equal(wf_storage_in_capsule(&cfg, false), 4096);
	assert_int_equal(wf_storage_in_capsule(&cfg, true), 16384);
	cfg.in_capsule = 0;
	assert_int_equal(wf_storage_in_capsule(&cfg, true), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memcpy(cfg.transport, rows[i].transport, strlen(rows[i].transport) + 1);
		assert_int_equal(wf_storage_is_tcp(&cfg, rows[i].nic_stack), rows[i].tcp);
	}
}

/* Headers, digests, pads and data of PDUs; one without data has no pad and no data digest. */
static void test_pdus(void **state)
{
	struct wf_storage_cfg cfg = { .maxh2cdata = 4096, .data_align = 4 };

	(void)state;
	assert_int_equal(wf_pdu_bytes(&cfg, WF_PDU_COMMAND, 0), 72);
	assert_int_equal(wf_pdu_bytes(&cfg, WF_PDU_COMMAND, 512), 584);
	assert_int_equal(wf_pdu_h2c_bytes(&cfg, 4096), 24 + 4096);
	assert_int_equal(wf_pdu_h2c_bytes(&cfg, 4097), 24 + 4096 + 24 + 1);
	assert_int_equal(wf_pdu_h2c_bytes(&cfg, 4095), 24 + 4095);
	assert_int_equal(wf_pdu_c2h_bytes(&cfg, 512), 24 + 512 + 24);
	cfg.success = true;
	assert_int_equal(wf_pdu_c2h_bytes(&cfg, 512), 24 + 512);
	cfg.header_digest = cfg.data_digest = true;
	cfg.data_align = 64;
	assert_int_equal(wf_pdu_bytes(&cfg, WF_PDU_R2T, 0), 28);
	assert_int_equal(wf_pdu_bytes(&cfg, WF_PDU_COMMAND, 512), 128 + 512 + 4);
	assert_int_equal(wf_pdu_h2c_bytes(&cfg, 8192), 2 * (64 + 4096 + 4));
}

static const struct wf_storage_figure *figure(const char *name)
{
	for (size_t i = 0; i < WF_STORAGE_FIGURES; i++) {
		if (strcmp(wf_storage_figures[i].name, name) == 0)
			return &wf_storage_figures[i];
	}
	fail_msg("there is no figure %s", name);
	return NULL;
}

/* No figure of nothing but counts; two reads of 4 KiB and a write, and what both come to. */
static void test_figures(void **state)
{
	static struct wf_storage_result all, a, b;

	(void)state;
	wf_storage_result_init(&all);
	for (size_t i = 0; i < WF_STORAGE_FIGURES; i++)
		assert_int_equal(wf_storage_figures[i].has(&all), i < 3);
	wf_storage_result_init(&a);
	a.queues = 1;
	a.ios[WF_STORAGE_READ] = 2;
	a.bytes[WF_STORAGE_READ] = 8192;
	a.begin = 10 * WF_US;
	a.end = 110 * WF_US;
	a.device = 120 * WF_US;
	wf_hist_add(&a.latency[WF_STORAGE_READ], 80 * WF_US);
	wf_hist_add(&a.latency[WF_STORAGE_READ], 100 * WF_US);
	wf_storage_result_init(&b);
	b.queues = 2;
	b.ios[WF_STORAGE_WRITE] = 1;
	b.bytes[WF_STORAGE_WRITE] = 1000;
	b.failed = 3;
	b.wanted = 1000;
	b.begin = 5 * WF_US;
	b.end = 25 * WF_US;
	b.longest = 20 * WF_US;
	b.device = 15 * WF_US;
	wf_hist_add(&b.latency[WF_STORAGE_WRITE], 20 * WF_US);
	wf_storage_result_add(&all, &a);
	assert_int_equal(figure("iops")->get(&all), 20000);
	assert_int_equal(figure("read_rate")->get(&all), 8192 * 8 * 10000);
	assert_false(figure("write_rate")->has(&all));
	assert_false(figure("time")->has(&all));
	wf_storage_result_add(&all, &b);
	assert_int_equal(all.begin, 5 * WF_US);
	assert_int_equal(all.end, 110 * WF_US);
	assert_int_equal(all.queues, 3);
	assert_int_equal(figure("ios")->get(&all), 3);
	assert_int_equal(figure("failed")->get(&all), 3);
	assert_int_equal(figure("time")->get(&all), 20 * WF_US);
	assert_int_equal(figure("read_latency_mean")->get(&all), 90 * WF_US);
	assert_int_equal(figure("write_latency_max")->get(&all), 20 * WF_US);
	assert_int_equal(figure("device_share")->get(&all), 135 * WF_US);
	assert_int_equal(figure("device_share")->of(&all), 200 * WF_US);
	/* One that did nothing changes nothing. */
	wf_storage_result_init(&b);
	wf_storage_result_add(&all, &b);
	assert_int_equal(all.begin, 5 * WF_US);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drives),     cmocka_unit_test(test_config),
		cmocka_unit_test(test_transports), cmocka_unit_test(test_pdus),
		cmocka_unit_test(test_figures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
