/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scenarios: the headroom that PFC needs is just enough. With it nothing is lost in the worst case;
 * with one cell less something is.
 *
 * The worst case: 64 senders at full rate to one receiver, so that a sender's share of the buffer
 * is not emptied at all while it stops; and to each of the senders another host sends in another
 * class, so that a pause frame finds the wire taken. When a pause falls in relation to those
 * packets is a matter of chance; many senders and starts that are moved against each other try all
 * of it. The cable is as long as it can be before one more packet fits on it, so that no more than
 * that has to be hit.
 */
#include "fabric/flowctl/headroom.h"
#include "rig.h"

#include <stdlib.h>

#define SENDERS 64
#define PHASES 5

struct link {
	const char *rate;
	unsigned cable; /* mm, at least */
	const char *mtu, *cell, *reaction;
};

static const struct link links[] = {
	{ "400Gbps", 30000, "4096B", "192B", "1158.4ns" },
	{ "400Gbps", 3000, "4096B", "192B", "1158.4ns" },
	{ "100Gbps", 100000, "1024B", "96B", "2017.28ns" },
};

static void set_up(struct rig *r, const struct link *l, const char *headroom, unsigned phase)
{
	char cable[16];

	snprintf(cable, sizeof(cable), "%umm", l->cable);
	rig_init(r, "pfc", "single", 2 * SENDERS + 1);
	rig_topo(r, "host_rate", l->rate);
	rig_topo(r, "cable.host", cable);
	rig_set(r, "switch.cut_through", "no");
	rig_set(r, "mtu", l->mtu);
	rig_set(r, "buffer.cell", l->cell);
	rig_set(r, "pfc.reaction", l->reaction);
	rig_set(r, "buffer.headroom", headroom);
	rig_set(r, "buffer.small_packets", "0");
	rig_set(r, "buffer.size", "100MB");
	rig_set(r, "buffer.alpha", "1/64");
	rig_set(r, "sender.window", "4MiB");
	rig_set(r, "sender.ack", "256");
	for (unsigned i = 0; i < SENDERS; i++) {
		/*
		 * A host's own flow first, then what comes to it; spread over about one packet's
		 * time.
		 */
		wf_time at = (wf_time)(i * 7919 % SENDERS) * 7 * WF_NS / 2 + phase * 3 * WF_NS / 10;

		rig_flow(r, i, 2 * SENDERS, 1500000, at, 3);
		rig_flow(r, SENDERS + i, i, 3000000, phase * 11 * WF_NS, 0);
	}
}

/* What the fabric says the port of a host needs, in bytes. */
static uint64_t needed(const struct link *l)
{
	struct wf_err err = { "" };
	uint64_t bytes;
	struct rig r;

	set_up(&r, l, "auto", 0);
	if (rig_build(&r, 1, &err) != 0)
		fail_msg("%s", err.text);
	bytes = wf_pfc_headroom(r.sim->net.devices[r.topo->n_hosts],
	                        &r.sim->net.devices[r.topo->n_hosts]->ports[0]);
	rig_fini(&r);
	return bytes;
}

/* Drops in the lossless class, over all phases. */
static uint64_t drops_with(const struct link *l, uint64_t headroom)
{
	uint64_t drops = 0;

	for (unsigned phase = 0; phase < PHASES; phase++) {
		struct wf_err err = { "" };
		char text[32];
		struct rig r;
		wf_time end;

		snprintf(text, sizeof(text), "%lluB", (unsigned long long)headroom);
		set_up(&r, l, text, phase);
		if (rig_build(&r, 1, &err) != 0)
			fail_msg("%s", err.text);
		assert_int_equal(wf_sim_run_until(r.sim, 300 * WF_US, &end), 0);
		rig_result(&r);
		assert_true(rig_queue(&r, 3)->pause_tx > SENDERS);
		drops += rig_queue(&r, 3)->drops;
		rig_fini(&r);
	}
	return drops;
}

/* The longest cable, to 10 cm, that needs no more than this one. */
static void stretch(struct link *l)
{
	uint64_t bytes = needed(l);

	for (struct link longer = *l; needed(&longer) == bytes; longer.cable += 100)
		l->cable = longer.cable;
}

static void test_just_enough(void **state)
{
	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(links); i++) {
		struct link l = links[i];
		uint64_t bytes, cell = strtoull(l.cell, NULL, 10), less;

		stretch(&l);
		bytes = needed(&l);
		less = drops_with(&l, bytes - cell);
		print_message("%s over %u mm: %llu bytes, %llu drops with a cell less\n", l.rate,
		              l.cable, (unsigned long long)bytes, (unsigned long long)less);
		assert_int_equal(drops_with(&l, bytes), 0);
		assert_true(less > 0);
	}
}

/*
 * What NVIDIA's tables give for a Spectrum-4 (sonic-buildimage, pg_profile_lookup.ini, size: xon +
 * xoff): Mellanox-SN5610N-C256S2, which reckons with large packets, and ACS-SN5600, with small
 * ones.
 */
static const struct {
	const char *rate;
	unsigned metres;
	uint64_t large, small;
} tables[] = {
	{ "100Gbps", 5, 63488, 133120 },    { "100Gbps", 40, 68608, 146432 },
	{ "100Gbps", 300, 103424, 244736 }, { "200Gbps", 5, 69632, 150528 },
	{ "200Gbps", 40, 79872, 177152 },   { "200Gbps", 300, 149504, 374784 },
	{ "400Gbps", 5, 105472, 250880 },   { "400Gbps", 40, 123904, 303104 },
	{ "400Gbps", 300, 263168, 697344 },
};

static uint64_t headroom_of(const char *rate, unsigned metres, const char *by, const char *small)
{
	struct link l = { rate, metres * 1000, "4096B", "192B", "auto" };
	struct wf_err err = { "" };
	uint64_t bytes;
	struct rig r;

	set_up(&r, &l, "auto", 0);
	rig_set(&r, "buffer.headroom_by", by);
	rig_set(&r, "buffer.small_packets", small);
	rig_set(&r, "buffer.size", "1GB");
	if (rig_build(&r, 1, &err) != 0)
		fail_msg("%s", err.text);
	bytes = r.sim->net.devices[r.topo->n_hosts]->ports[0].lanes[1].capacity;
	rig_fini(&r);
	return bytes;
}

/* At most per cent of the other, each. */
static void compare(uint64_t bytes, uint64_t table, uint64_t percent)
{
	assert_true(bytes * 100 <= table * percent);
	assert_true(table * 100 <= bytes * percent);
}

/*
 * By SONiC's calculation a port has what NVIDIA's tables give it, within a factor of 1.3; and what
 * this model needs at the worst is that at 400 Gb/s within 6 % (with small packets, of 78 B here
 * and 64 B there, within 20 %). At lower rates it is less: the tables keep a pipeline of 19 KB and
 * a frame of 9100 B at all of them.
 */
static void test_vendors_tables(void **state)
{
	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(tables); i++) {
		const char *rate = tables[i].rate;
		unsigned m = tables[i].metres;
		uint64_t got[4] = { headroom_of(rate, m, "exact", "0"),
			            headroom_of(rate, m, "sonic", "0"),
			            headroom_of(rate, m, "exact", "100%"),
			            headroom_of(rate, m, "sonic", "100%") };

		print_message("%s %3u m: large %llu (sonic %llu) of %llu, small %llu (%llu) of "
		              "%llu\n",
		              rate, m, (unsigned long long)got[0], (unsigned long long)got[1],
		              (unsigned long long)tables[i].large, (unsigned long long)got[2],
		              (unsigned long long)got[3], (unsigned long long)tables[i].small);
		for (size_t k = 0; k < WF_ARRAY_SIZE(got); k++)
			compare(got[k], k < 2 ? tables[i].large : tables[i].small,
			        k % 2 == 1                     ? 130
			        : strcmp(rate, "400Gbps") != 0 ? 140
			        : k == 0                       ? 106
			                                       : 120);
	}
}

/*
 * A row of a table holds up to its cable; beyond the longest, that one; other rates are calculated.
 */
static void test_table(void **state)
{
	static const struct {
		const char *rate;
		unsigned metres;
		uint64_t bytes;
	} cases[] = {
		{ "400Gbps", 4, 105472 },
		{ "400Gbps", 5, 123904 },
		{ "400Gbps", 100, 123904 },
		{ "100Gbps", 3, 63488 },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(cases); i++) {
		struct link l = { cases[i].rate, cases[i].metres * 1000, "4096B", "192B", "auto" };
		struct wf_err err = { "" };
		struct rig r;

		set_up(&r, &l, "auto", 0);
		rig_set(&r, "buffer.headroom_table",
		        "400Gbps:40m:123904B, 400Gbps:4.9m:105472B, 100Gbps:5m:63488B");
		assert_int_equal(rig_build(&r, 1, &err), 0);
		assert_int_equal(r.sim->net.devices[r.topo->n_hosts]->ports[0].lanes[1].capacity,
		                 cases[i].bytes);
		rig_fini(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_just_enough),
		cmocka_unit_test(test_vendors_tables),
		cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
