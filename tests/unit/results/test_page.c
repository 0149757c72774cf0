/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_page.c - the numbers that a page carries: samples as recorded become intervals.
 */
#include "check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "results/page.h"
#include "results/page_template.h"
#include "results/record.h"
#include "topo/topo.h"

#define TICKS 10 /* one each microsecond */

static const struct wf_record_counter counters[] = {
	{ "tx_prio0_bytes", 0, "tx_bytes", 1, "bytes", "counter", "ethtool", "", NULL },
	{ "tx_prio3_bytes", 3, "tx_bytes", 1, "bytes", "counter", "ethtool", "", NULL },
	{ "tc_transmit_queue_tc_3", 3, "queue_bytes", 1, "bytes", "gauge", "ethtool", "", NULL },
	{ "rx_prio3_pause_duration", 3, "stopped_ps", 1e6, "us", "counter", "ethtool", "", NULL },
};

/* What host 0 counted: only changes, as the recorder writes them. */
static const struct {
	int at; /* us */
	unsigned counter;
	uint64_t value;
} samples[] = {
	{ 1, 0, 500 },  { 1, 1, 1000 }, { 2, 2, 800 },
	{ 3, 1, 3000 }, { 4, 2, 200 },  { 5, 3, 3 }, /* a pause of 3 us ended */
};

static void must(int rc, const struct wf_err *err)
{
	if (rc != 0)
		fail_msg("%d: %s", rc, err->text);
}

static void add_topology(struct wf_record_run *run)
{
	struct wf_topo_cfg cfg = { .hosts = 2, .radix = 8, .blocking = 1 << 16 };
	struct wf_err err = { "" };
	struct wf_topo *topo;

	cfg.host_rate = cfg.fabric_rate = 400000000000;
	must(wf_topo_find("single")->build(&cfg, NULL, 0, "test", wf_mem_heap(), &topo, &err),
	     &err);
	wf_record_topo(run, topo);
	wf_topo_destroy(topo);
}

static void record(const char *path)
{
	const struct wf_record_head head = {
		.label = "one",
		.fabric = "roce",
		.scenario_file = "s.yaml",
		.scenario = "name: </script>\n",
		.overrides = "",
		.until = WF_MS,
	};
	const struct wf_record_tail tail = { .state = WF_RECORD_FINISHED, .end = TICKS * WF_US };
	struct wf_record *rec;
	struct wf_record_run *run;
	struct wf_err err = { "" };
	uint32_t id[4];
	size_t next = 0;

	must(wf_record_open(path, "run", "<test>", &rec, &err), &err);
	must(wf_record_begin(rec, &head, &run, &err), &err);
	add_topology(run);
	must(wf_record_counters(run, counters, 4, id, &err), &err);
	for (int t = 1; t <= TICKS; t++) {
		wf_record_tick(run, t * WF_US);
		for (; next < sizeof(samples) / sizeof(samples[0]) && samples[next].at == t; next++)
			wf_record_sample(run, t * WF_US, 0, 0, id[samples[next].counter],
			                 samples[next].value);
	}
	must(wf_record_end(run, &tail, &err), &err);
	must(wf_record_close(rec, &err), &err);
}

static unsigned digit(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	return (unsigned)(strchr(digits, c) - digits);
}

/* What is in the element called id: from base64, inflated. Returns its length. */
static size_t unpack(const char *html, const char *id, unsigned char *out, size_t room)
{
	static unsigned char packed[1 << 20];
	char mark[64];
	const char *p;
	size_t n = 0;
	uLongf len = room;

	snprintf(mark, sizeof(mark), "id=\"%s\">", id);
	p = strstr(html, mark);
	assert_non_null(p);
	for (p += strlen(mark); *p != '<'; p += 4) {
		uint32_t v = digit(p[0]) << 18 | digit(p[1]) << 12;

		v |= p[2] == '=' ? 0 : digit(p[2]) << 6;
		v |= p[3] == '=' ? 0 : digit(p[3]);
		assert_true(n + 3 <= sizeof(packed));
		packed[n++] = (unsigned char)(v >> 16);
		packed[n++] = (unsigned char)(v >> 8);
		packed[n++] = (unsigned char)v;
		n -= (p[2] == '=') + (p[3] == '=');
	}
	assert_int_equal(uncompress(out, &len, packed, n), Z_OK);
	return len;
}

/* The page of path; the caller frees it. */
static char *page_of(const char *path)
{
	const struct wf_page_request request = { .file = path, .out = "test_page.html" };
	struct wf_err err = { "" };
	char *html = calloc(1, 1 << 21);
	FILE *file;

	must(wf_page_write(&request, &err), &err);
	file = fopen(request.out, "r");
	assert_non_null(file);
	assert_non_null(html);
	assert_true(fread(html, 1, (1 << 21) - 1, file) > 1000);
	fclose(file);
	unlink(request.out);
	return html;
}

/* Rows in the page's order: tx of the port, of queue 0, of queue 3; queue; stopped. */
static const unsigned wanted[5][TICKS] = {
	{ 49151, 0, 65535 },                                                  /* 12 and 16 Gb/s */
	{ 65535 },                                                            /* 4 Gb/s */
	{ 32768, 0, 65535 },                                                  /* 8 and 16 Gb/s */
	{ 0, 65535, 65535, 16384, 16384, 16384, 16384, 16384, 16384, 16384 }, /* 800, 200 bytes */
	{ 0, 0, 65535, 65535, 65535 }, /* it stood still before it was counted */
};

static void test_intervals(void **state)
{
	static unsigned char bytes[1 << 20], json[1 << 20];
	char path[] = "/tmp/weft-page-XXXXXX";
	char *html;

	(void)state;
	if (wf_page_missing != NULL)
		skip();
	assert_true(close(mkstemp(path)) == 0);
	record(path);
	html = page_of(path);
	assert_int_equal(unpack(html, "weft-samples", bytes, sizeof(bytes)), 5 * TICKS * 2);
	for (size_t row = 0; row < 5; row++) {
		for (size_t i = 0; i < TICKS; i++) {
			const unsigned char *p = &bytes[2 * (row * TICKS + i)];

			if ((p[0] | p[1] << 8) != (int)wanted[row][i])
				fail_msg("row %zu, interval %zu: %d, not %u", row, i,
				         p[0] | p[1] << 8, wanted[row][i]);
		}
	}
	json[unpack(html, "weft-data", json, sizeof(json) - 1)] = '\0';
	assert_non_null(strstr((char *)json, "16000000000"));
	assert_non_null(strstr((char *)json, "\"name: </script>\\u000a\""));
	assert_non_null(strstr(html, "<title>&#60;test&#62; - weft</title>"));
	free(html);
	unlink(path);
}

static void test_not_results(void **state)
{
	struct wf_page_request request = { .file = "/dev/null", .out = "test_page.html" };
	struct wf_err err = { "" };

	(void)state;
	assert_int_equal(wf_page_write(&request, &err),
	                 wf_page_missing != NULL ? -ENOTSUP : -EINVAL);
	assert_non_null(strstr(err.text, wf_page_missing != NULL ? wf_page_missing
	                                                         : "it is not a results file"));
	assert_int_not_equal(access(request.out, F_OK), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_intervals),
		cmocka_unit_test(test_not_results),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
