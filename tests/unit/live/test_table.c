/* SPDX-License-Identifier: Apache-2.0 */
/* test_table.c - what the table of hosts says of ports: states, LIDs, partitions, files. */
#include "check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "live/proto.h"
#include "live/sysfs.h"
#include "wire/ib_rate.h"

#define HOSTS 3

static struct wf_live_table *table(bool managed)
{
	struct wf_live_table *t = calloc(1, wf_live_table_bytes(HOSTS));

	assert_non_null(t);
	t->n_hosts = HOSTS;
	t->layer = WF_LIVE_IB;
	t->managed = managed;
	t->rate = UINT64_C(400000000000);
	for (uint32_t i = 0; i < HOSTS; i++)
		t->host[i].lid = (uint16_t)(8 * (i + 1));
	return t;
}

static void test_states(void **state)
{
	struct wf_live_table *t = table(false);

	(void)state;
	assert_int_equal(wf_live_port_state(t, 0), WF_LIVE_PORT_ACTIVE);
	t->host[0].down = WF_LIVE_DOWN_LINK;
	assert_int_equal(wf_live_port_state(t, 0), 1);
	assert_false(wf_live_is_active(t, 0));
	/* Where ports are managed, the agent's word counts. */
	t->managed = 1;
	t->host[0].down = 0;
	t->host[0].ib.state = 2;
	assert_int_equal(wf_live_port_state(t, 0), 2);
	assert_false(wf_live_is_active(t, 0));
	t->host[0].ib.state = WF_LIVE_PORT_ACTIVE;
	assert_true(wf_live_is_active(t, 0));
	free(t);
}

static void test_lids(void **state)
{
	struct wf_live_table *t = table(true);

	(void)state;
	t->host[1].ib.lmc = 2;
	t->host[2].lid = 0;
	assert_int_equal(wf_live_host_of_lid(t, 8), 0);
	assert_int_equal(wf_live_host_of_lid(t, 9), -1);
	for (uint16_t lid = 16; lid < 20; lid++)
		assert_int_equal(wf_live_host_of_lid(t, lid), 1);
	assert_int_equal(wf_live_host_of_lid(t, 20), -1);
	assert_int_equal(wf_live_host_of_lid(t, 0), -1);
	free(t);
}

static void test_partitions(void **state)
{
	static const uint16_t keys[HOSTS][3] = {
		{ 0x7fff, 0x8001, 0x8002 },
		{ 0x7fff, 0x8002, 0x0001 },
		{ 0x7fff, 0x0001, 0x8003 },
	};
	static const struct {
		uint32_t host, peer, index;
		uint16_t pkey;
	} cases[] = {
		/* The first in the lower host's table that both are in, one of them fully. */
		{ 0, 1, 1, 0x8001 }, { 1, 0, 2, 0x0001 }, { 0, 2, 1, 0x8001 }, { 2, 0, 1, 0x0001 },
		{ 1, 2, 0, 0 },      { 2, 1, 0, 0 },      { 0, 0, 1, 0x8001 },
	};
	struct wf_live_table *t = table(true);
	uint32_t index;

	(void)state;
	for (uint32_t h = 0; h < HOSTS; h++) {
		for (unsigned i = 0; i < 3; i++)
			t->host[h].ib.pkey[i] = keys[h][i];
	}
	for (size_t i = 0; i < WF_ARRAY_SIZE(cases); i++) {
		assert_int_equal(wf_live_common_pkey(t, cases[i].host, cases[i].peer, &index),
		                 cases[i].pkey);
		assert_int_equal(index, cases[i].index);
	}
	t->managed = 0;
	assert_int_equal(wf_live_common_pkey(t, 1, 2, &index), 0xffff);
	free(t);
}

/* A file of the port says text. */
static void says(const struct wf_live_table *t, const char *file, const char *text)
{
	static const uint64_t none[WF_LIVE_COUNTS];
	char buf[WF_SYSFS_MAX_TEXT];

	assert_true(wf_sysfs_is_live(file));
	assert_int_equal(wf_sysfs_live(file, t, 1, none, buf), strlen(text));
	assert_string_equal(buf, text);
}

static void test_files(void **state)
{
	static const struct {
		uint8_t width;
		uint16_t speed;
		const char *text;
	} rates[] = {
		{ WF_WIDTH_1X, WF_SPEED_SDR, "2.5 Gb/sec (1X SDR)\n" },
		{ WF_WIDTH_4X, WF_SPEED_HDR, "200 Gb/sec (4X HDR)\n" },
		{ WF_WIDTH_2X, WF_SPEED_NDR, "200 Gb/sec (2X NDR)\n" },
		{ WF_WIDTH_12X, WF_SPEED_EDR, "300 Gb/sec (12X EDR)\n" },
		{ WF_WIDTH_4X, WF_SPEED_XDR, "800 Gb/sec (4X XDR)\n" },
	};
	static const uint64_t none[WF_LIVE_COUNTS];
	struct wf_live_table *t = table(true);
	struct wf_live_ib *ib = &t->host[1].ib;
	char buf[WF_SYSFS_MAX_TEXT];

	(void)state;
	ib->state = 3;
	ib->phys = 4;
	ib->lmc = 1;
	ib->sm_lid = 0x1f;
	ib->sm_sl = 5;
	ib->cap = 0x2650;
	ib->pkey[127] = 0x8123;
	says(t, "state", "3: ARMED\n");
	says(t, "phys_state", "4: PortConfigurationTraining\n");
	says(t, "lid", "0x10\n");
	says(t, "lid_mask_count", "1\n");
	says(t, "sm_lid", "0x1f\n");
	says(t, "sm_sl", "5\n");
	says(t, "cap_mask", "0x00002650\n");
	says(t, "pkeys/127", "0x8123\n");
	says(t, "pkeys/126", "0x0000\n");
	says(t, "gids/7", "0000:0000:0000:0000:0000:0000:0000:0000\n");
	for (size_t i = 0; i < WF_ARRAY_SIZE(rates); i++) {
		ib->width = rates[i].width;
		ib->speed = rates[i].speed;
		says(t, "rate", rates[i].text);
	}
	assert_int_equal(wf_sysfs_live("pkeys/128", t, 1, none, buf), -ENOENT);
	assert_int_equal(wf_sysfs_live("gids/", t, 1, none, buf), -ENOENT);
	assert_int_equal(wf_sysfs_live("pkeys/-1", t, 1, none, buf), -ENOENT);
	assert_false(wf_sysfs_is_live("link_layer"));
	free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_lids),
		cmocka_unit_test(test_partitions),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
