/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scenario: bytes that go one way between two hosts of different shards for long take the memory of
 * those that are under way, not of all that were sent.
 *
 * usage: test_scenario_payload [MiB]
 */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "weft/weft.h"

#define MESSAGE (8u << 20)
#define BUFFER (2 * MESSAGE)
#define QUARTERS 4

static unsigned long amount; /* MiB; 0: as much as the build is quick enough for */

/* MiB of this process that are in memory now. */
static double resident(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%*u %lu", &pages), 1);
	fclose(f);
	return (double)pages * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

static unsigned char *buffer;
static struct weft_fabric *fabric;
static struct weft_cq *cqs[2];
static struct weft_mr *mrs[2];
static struct weft_qp *qps[2];

static void begin(void)
{
	const struct weft_fabric_attr attr = { .profile = "ib-ndr", .hosts = 16, .threads = 2 };
	char error[512] = "";

	buffer = calloc(1, BUFFER);
	assert_non_null(buffer);
	if (weft_fabric_create(&attr, error, sizeof(error), &fabric) != 0)
		fail_msg("%s", error);
	for (unsigned i = 0; i < 2; i++) {
		struct weft_adapter *a = weft_adapter_open(fabric, i * 15);
		struct weft_qp_attr qp_attr = { .type = WEFT_RC };

		assert_int_equal(weft_mr_create(a, buffer, BUFFER, WEFT_ALL_ACCESS, &mrs[i]), 0);
		assert_int_equal(weft_cq_create(a, 64, &cqs[i]), 0);
		qp_attr.send_cq = qp_attr.recv_cq = cqs[i];
		assert_int_equal(weft_qp_create(a, &qp_attr, &qps[i]), 0);
	}
	assert_int_equal(weft_qp_connect(qps[0], qps[1], NULL), 0);
}

/* One message, of which a few bytes are changed to see that it comes. */
static void send(unsigned long n)
{
	struct weft_sge sge = { (uintptr_t)buffer, MESSAGE, weft_mr_lkey(mrs[0]) };
	struct weft_send wr = {
		.opcode = WEFT_WRITE,
		.sge = &sge,
		.n_sge = 1,
		.remote_addr = (uintptr_t)buffer + MESSAGE,
		.rkey = weft_mr_rkey(mrs[1]),
	};
	struct weft_wc wc;

	memcpy(buffer + (n * 4093) % (MESSAGE - sizeof(n)), &n, sizeof(n));
	assert_int_equal(weft_post_send(qps[0], &wr), 0);
	assert_int_equal(weft_run(fabric, WEFT_FOREVER), 0);
	assert_int_equal(weft_cq_poll(cqs[0], 1, &wc), 1);
	assert_int_equal(wc.status, WEFT_SUCCESS);
	assert_memory_equal(buffer + (n * 4093) % (MESSAGE - sizeof(n)),
	                    buffer + MESSAGE + (n * 4093) % (MESSAGE - sizeof(n)), sizeof(n));
}

static void test_one_way(void **state)
{
	unsigned long mib = amount != 0 ? amount : 1024 / check_step(8);
	unsigned long messages = mib * 1024 * 1024 / MESSAGE;
	double first = 0, last;
	struct weft_stats stats;

	(void)state;
	begin();
	for (unsigned long n = 0; n < messages; n++) {
		send(n);
		if (n == messages / QUARTERS - 1)
			first = resident();
	}
	last = resident();
	printf("%lu MiB sent: %.1f MiB resident after a quarter, %.1f at the end\n", mib, first,
	       last);
	assert_true(last < first + 8);
	weft_fabric_stats(fabric, &stats);
	assert_int_equal(stats.payload_held, 0);
	assert_int_equal(stats.packets_dropped, 0);
	weft_fabric_destroy(fabric);
	free(buffer);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_way),
	};

	if (argc > 1)
		amount = strtoul(argv[1], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
