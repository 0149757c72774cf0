/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of job/tune.c against NCCL 2.30.7 (commit 5067397c): what its tuning model chooses and
 * estimates, calculated by hand from src/graph/{tuning,search,connect}.cc; and against logs of NCCL
 * runs that were published.
 */
#include <string.h>

#include "check.h"
#include "job/tune.h"

#define GBPS UINT64_C(1000000000)
#define KB(n) (UINT64_C(1024) * (n))
#define MB(n) (UINT64_C(1048576) * (n))
#define RANKS 6

static const uint32_t ranks[RANKS] = { 8, 16, 64, 256, 1024, 4096 };

/*
 * DGX H100: eight GPUs, 18 NVLinks each, eight NDR NICs on PCIe Gen5 (48 GB/s as NCCL counts),
 * Intel.
 */
static struct wf_tune_comm h100(uint32_t n)
{
	return (struct wf_tune_comm){ .ranks = n,
		                      .nodes = n / 8,
		                      .gpus = 8,
		                      .nics = 8,
		                      .nic_rate = 400 * GBPS,
		                      .pcie = 384 * GBPS,
		                      .nvlink = 3600 * GBPS,
		                      .gen = WF_GEN_HOPPER,
		                      .cpu = WF_CPU_INTEL,
		                      .nvls = true };
}

static struct wf_tune_comm b200(uint32_t n)
{
	struct wf_tune_comm c = h100(n);

	c.gen = WF_GEN_BLACKWELL;
	c.nvlink = 7200 * GBPS;
	return c;
}

static struct wf_tune_choice choose(const struct wf_tune *t, uint64_t bytes)
{
	struct wf_tune_choice choice;

	assert_true(
		wf_tune_choose(t, WF_COLL_ALL_REDUCE, WF_ALG_AUTO, WF_PROTO_AUTO, bytes, &choice));
	return choice;
}

/* GB/s as nccl-tests counts them. */
static double busbw(const struct wf_tune *t, uint64_t bytes, wf_time time)
{
	double n = t->comm.ranks;

	return (double)bytes * 1000 / (double)time * 2 * (n - 1) / n;
}

static void near(double value, double expected, double half_digit)
{
	double off = value > expected ? value - expected : expected - value;

	if (off > half_digit * 1.1)
		fail_msg("%f instead of %f", value, expected);
}

enum { RL, TL, T128, R128, RS, TS, NV, NT };

static const struct {
	enum wf_coll_alg alg;
	enum wf_proto proto;
} way[] = {
	[RL] = { WF_ALG_RING, WF_PROTO_LL },      [TL] = { WF_ALG_TREE, WF_PROTO_LL },
	[T128] = { WF_ALG_TREE, WF_PROTO_LL128 }, [R128] = { WF_ALG_RING, WF_PROTO_LL128 },
	[RS] = { WF_ALG_RING, WF_PROTO_SIMPLE },  [TS] = { WF_ALG_TREE, WF_PROTO_SIMPLE },
	[NV] = { WF_ALG_NVLS, WF_PROTO_SIMPLE },  [NT] = { WF_ALG_NVLS_TREE, WF_PROTO_SIMPLE },
};

/* What is chosen, µs (0: not given), bus bandwidth in GB/s (0: not given). */
static const struct row {
	uint64_t bytes;
	struct {
		unsigned way, us;
		double bw;
	} at[RANKS];
} table[] = {
	{ 8,
	  { { RL, 15, 0 },
	    { TL, 25, 0 },
	    { TL, 45, 0 },
	    { TL, 65, 0 },
	    { TL, 85, 0 },
	    { TL, 105, 0 } } },
	{ KB(32),
	  { { RL, 15, 3.7 },
	    { TL, 28, 2.2 },
	    { TL, 51, 1.3 },
	    { TL, 71, .9 },
	    { TL, 91, .7 },
	    { TL, 111, .6 } } },
	{ KB(256),
	  { { RL, 18, 25 },
	    { T128, 52, 9.5 },
	    { T128, 87, 5.9 },
	    { T128, 121, 4.3 },
	    { T128, 155, 3.4 },
	    { TL, 181, 2.9 } } },
	{ MB(1),
	  { { RL, 28, 65 },
	    { T128, 63, 31 },
	    { T128, 100, 21 },
	    { T128, 134, 16 },
	    { T128, 168, 12.5 },
	    { T128, 202, 10 } } },
	{ MB(4),
	  { { NV, 40, 182 },
	    { NT, 84, 94 },
	    { T128, 136, 61 },
	    { T128, 170, 49 },
	    { T128, 204, 41 },
	    { T128, 238, 35 } } },
	{ MB(16),
	  { { NV, 87, 339 },
	    { NT, 135, 233 },
	    { NT, 241, 137 },
	    { T128, 306, 109 },
	    { T128, 340, 99 },
	    { T128, 374, 90 } } },
	{ MB(64),
	  { { NV, 272, 432 },
	    { NT, 339, 371 },
	    { NT, 513, 257 },
	    { NT, 601, 222 },
	    { NT, 686, 196 },
	    { NT, 770, 174 } } },
	{ MB(256),
	  { { NV, 1012, 464 },
	    { NT, 1157, 435 },
	    { NT, 1602, 330 },
	    { NT, 1703, 314 },
	    { NT, 1791, 300 },
	    { NT, 1876, 286 } } },
	{ MB(1024),
	  { { NV, 0, 473 },
	    { NT, 0, 455 },
	    { NT, 0, 355 },
	    { NT, 0, 350 },
	    { NT, 0, 345 },
	    { NT, 0, 341 } } },
	{ MB(8192),
	  { { NV, 0, 476 },
	    { NT, 0, 461 },
	    { RS, 0, 377 },
	    { NT, 0, 362 },
	    { NT, 0, 362 },
	    { NT, 0, 361 } } },
};

static void test_choices(void **state)
{
	(void)state;
	for (unsigned i = 0; i < RANKS; i++) {
		struct wf_tune_comm c = h100(ranks[i]);
		struct wf_tune t;

		wf_tune_init(&t, &c);
		for (size_t r = 0; r < WF_ARRAY_SIZE(table); r++) {
			struct wf_tune_choice choice = choose(&t, table[r].bytes);
			double bw = table[r].at[i].bw;
			/* As many digits as are given. */
			bool tenths = bw < 10 || bw == 12.5;

			assert_int_equal(choice.alg, way[table[r].at[i].way].alg);
			assert_int_equal(choice.proto, way[table[r].at[i].way].proto);
			if (table[r].at[i].us != 0)
				near((double)choice.time / 1e6, table[r].at[i].us, .5);
			if (bw != 0)
				near(busbw(&t, table[r].bytes, choice.time), bw, tenths ? .05 : .5);
		}
	}
}

/* The first power of two from which on a way is taken. */
static const struct change {
	uint32_t ranks;
	unsigned way;
	uint64_t from;
} changes[] = {
	{ 8, NV, MB(2) },       { 16, T128, KB(256) },   { 16, NT, MB(2) },
	{ 64, T128, KB(256) },  { 64, NT, MB(16) },      { 64, RS, MB(4096) },
	{ 256, T128, KB(256) }, { 256, NT, MB(32) },     { 1024, T128, KB(256) },
	{ 1024, NT, MB(32) },   { 4096, T128, KB(512) }, { 4096, NT, MB(64) },
};
static const struct change changes_without_nvls[] = {
	{ 64, R128, MB(64) },     { 64, RS, MB(512) },    { 1024, TS, MB(128) },
	{ 1024, R128, MB(4096) }, { 1024, RS, MB(8192) }, { 4096, TS, MB(128) },
};
/*
 * On B200 the same rules give the simple tree as well; only what is taken from it differs from a
 * calculation with balanced trees (4, 16, 32, 32, 64 MiB).
 */
static const struct change changes_b200[] = {
	{ 16, NT, MB(2) },    { 64, NT, MB(8) },    { 256, NT, MB(16) },
	{ 1024, NT, MB(32) }, { 4096, NT, MB(32) },
};
static const struct change changes_sharp[] = {
	{ 16, NV, KB(256) }, { 16, NT, MB(32) }, { 64, NV, 8 }, { 1024, NV, 8 }, { 4096, NV, 8 },
};

static void see_changes(const struct change *list, size_t n,
                        struct wf_tune_comm (*machine)(uint32_t), bool nvls, bool collnet)
{
	for (size_t i = 0; i < n; i++) {
		struct wf_tune_comm c = machine(list[i].ranks);
		struct wf_tune_choice choice;
		struct wf_tune t;

		c.nvls = nvls;
		c.collnet = collnet;
		wf_tune_init(&t, &c);
		choice = choose(&t, list[i].from);
		assert_int_equal(choice.alg, way[list[i].way].alg);
		assert_int_equal(choice.proto, way[list[i].way].proto);
		if (list[i].from == 8)
			continue;
		choice = choose(&t, list[i].from / 2);
		assert_false(choice.alg == way[list[i].way].alg &&
		             choice.proto == way[list[i].way].proto);
	}
}

static void test_switch_points(void **state)
{
	(void)state;
	see_changes(changes, WF_ARRAY_SIZE(changes), h100, true, false);
	see_changes(changes_without_nvls, WF_ARRAY_SIZE(changes_without_nvls), h100, false, false);
	see_changes(changes_b200, WF_ARRAY_SIZE(changes_b200), b200, true, false);
	see_changes(changes_sharp, WF_ARRAY_SIZE(changes_sharp), h100, true, true);
}

static void test_without_nvls(void **state)
{
	static const double bw[RANKS] = { 360, 382, 377, 357, 295, 244 };

	(void)state;
	for (unsigned i = 0; i < RANKS; i++) {
		struct wf_tune_comm c = h100(ranks[i]);
		struct wf_tune t;

		c.nvls = false;
		wf_tune_init(&t, &c);
		near(busbw(&t, MB(8192), choose(&t, MB(8192)).time), bw[i], .5);
	}
}

/*
 * The search raises the speed between servers to 90 GB/s at most, which NCCL's estimate then takes
 * for one server, too: 720 GB/s; without that limit it would be 828.
 */
static void test_b200(void **state)
{
	static const double at_64m[RANKS] = { 0, 328, 228, 200, 178, 160 };
	static const double at_8g[RANKS] = { 719, 496, 383, 382, 381, 381 };

	(void)state;
	for (unsigned i = 0; i < RANKS; i++) {
		struct wf_tune_comm c = b200(ranks[i]);
		struct wf_tune t;

		wf_tune_init(&t, &c);
		if (at_64m[i] != 0)
			near(busbw(&t, MB(64), choose(&t, MB(64)).time), at_64m[i], .5);
		near(busbw(&t, MB(8192), choose(&t, MB(8192)).time), at_8g[i], .5);
	}
}

/* NVLS with SHARP: 43 µs at any number of servers, and the NIC's rate. */
static void test_sharp(void **state)
{
	static const struct {
		uint64_t bytes;
		double bw;
	} rows[] = { { MB(1), 43 },
		     { MB(16), 257 },
		     { MB(64), 342 },
		     { MB(1024), 381 },
		     { MB(8192), 384 } };
	struct wf_tune_comm c = h100(1024);
	struct wf_tune t;

	(void)state;
	c.collnet = true;
	wf_tune_init(&t, &c);
	near((double)choose(&t, 8).time / 1e6, 43, .01);
	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++)
		near(busbw(&t, rows[i].bytes, choose(&t, rows[i].bytes).time), rows[i].bw, .5);
}

/*
 * What of that is the network's, and what a server does were it not for its NICs: of the H100, 40
 * GB/s of each of 8 heads at 85 % less an eighth, twice: 476 GB/s as bus bandwidth, which is what
 * was measured with SHARP (nccl issue 1219: 480) where the model has the NICs' 384.
 */
static void test_collnet_parts(void **state)
{
	struct wf_tune_comm c = h100(64);
	struct wf_tune_choice choice;
	struct wf_tune t;

	(void)state;
	c.collnet = true;
	wf_tune_init(&t, &c);
	choice = choose(&t, MB(1024));
	assert_int_equal(choice.alg, WF_ALG_NVLS);
	assert_int_equal(choice.latency - choice.net, 25 * WF_US);
	assert_int_equal(choice.net, 18 * WF_US);
	near((double)choice.inside * 2 * 63 / 64 / 1e9, 476, .01);
	near((double)choice.bandwidth * 2 * 63 / 64 / 1e9, 384, .01);

	/* Direct: chunks of 512 KiB are halved until there are enough of them. */
	assert_true(wf_tune_choose(&t, WF_COLL_ALL_REDUCE, WF_ALG_COLLNET, WF_PROTO_AUTO, MB(8192),
	                           &choice));
	assert_int_equal(choice.net, 31 * WF_US);
	assert_int_equal(choice.inside, choice.bandwidth);
	assert_int_equal(choice.chunk, 512 << 10);
	assert_true(wf_tune_choose(&t, WF_COLL_ALL_REDUCE, WF_ALG_COLLNET, WF_PROTO_AUTO, MB(256),
	                           &choice));
	assert_int_equal(choice.chunk, 128 << 10);
	assert_true(wf_tune_choose(&t, WF_COLL_ALL_REDUCE, WF_ALG_COLLNET_CHAIN, WF_PROTO_AUTO, 8,
	                           &choice));
	assert_int_equal(choice.net, 30 * WF_US);
	assert_int_equal(choice.latency, 30 * WF_US + 2 * 7 * WF_US * 28 / 10);
	assert_int_equal(choice.chunk, 32 << 10);

	/* One server has no network. */
	c = h100(8);
	c.collnet = true;
	wf_tune_init(&t, &c);
	choice = choose(&t, MB(1024));
	assert_int_equal(choice.alg, WF_ALG_NVLS);
	assert_int_equal(choice.net, 0);
}

/* The graphs: what DGX H100 and B200 have, and logs of other machines. */
static void test_graphs(void **state)
{
	struct wf_tune_comm c = h100(16);
	struct wf_tune t;

	(void)state;
	wf_tune_init(&t, &c);
	assert_int_equal(t.ring.channels, 8);
	assert_int_equal(t.ring.inter, 48000);
	assert_true(t.cross_nic && t.simple_tree);
	assert_int_equal(t.channels, 16);
	assert_int_equal(t.nvls.intra, 40000);
	assert_int_equal(t.nvls.inter, 48000);
	c = h100(8);
	wf_tune_init(&t, &c);
	assert_int_equal(t.ring.channels, 12);
	assert_int_equal(t.ring.intra, 30000);
	assert_int_equal(t.channels, 24);
	/* H800, eight NVLinks: the tuning log of nccl issue 1154 has 68.8 GB/s for Tree/Simple. */
	c = h100(16);
	c.nvlink = 1600 * GBPS;
	wf_tune_init(&t, &c);
	assert_int_equal(t.tree.inter, 22000);
	near((double)t.cell[WF_COLL_ALL_REDUCE][WF_ALG_TREE][WF_PROTO_SIMPLE].bandwidth / 1e9, 68.8,
	     .05);
	/*
	 * Two H100 servers with four NICs each: 16 channels and four heads in the log of issue
	 * 1357.
	 */
	c = h100(16);
	c.nics = 4;
	wf_tune_init(&t, &c);
	assert_int_equal(t.channels, 16);
	assert_int_equal(t.nvls.channels, 4);
	/* One GPU of each server, as in a data-parallel group beside eight tensor-parallel ones. */
	c = h100(16);
	c.nodes = 16;
	c.gpus = c.nics = 1;
	wf_tune_init(&t, &c);
	assert_int_equal(t.ring.channels, 2);
	assert_int_equal(t.ring.inter, 24000);
	assert_int_equal(t.channels, 4);
	assert_int_equal(wf_tune_time(&t, WF_COLL_ALL_REDUCE, WF_ALG_NVLS_TREE, WF_PROTO_SIMPLE, 8),
	                 WF_TIME_NEVER);
	/* A100 with eight HDR NICs on PCIe Gen4. */
	c = h100(16);
	c.gen = WF_GEN_AMPERE;
	c.nvlink = 2400 * GBPS;
	c.pcie = 192 * GBPS;
	c.nic_rate = 200 * GBPS;
	wf_tune_init(&t, &c);
	assert_int_equal(t.ring.channels, 8);
	assert_int_equal(t.ring.inter, 24000);
	assert_int_equal(t.channels, 16);
	assert_int_equal(choose(&t, MB(1024)).alg, WF_ALG_RING);
}

/* Small collectives take fewer channels; wishes are kept; what NCCL does not have is refused. */
static void test_wishes(void **state)
{
	struct wf_tune_comm c = h100(64);
	struct wf_tune_choice choice;
	struct wf_tune t;

	(void)state;
	wf_tune_init(&t, &c);
	assert_int_equal(choose(&t, 8).channels, 1);
	assert_int_equal(choose(&t, KB(32)).channels, 8);
	assert_int_equal(choose(&t, KB(256)).channels, 16);
	assert_true(wf_tune_choose(&t, WF_COLL_ALL_REDUCE, WF_ALG_RING, WF_PROTO_AUTO, MB(64),
	                           &choice));
	assert_int_equal(choice.alg, WF_ALG_RING);
	assert_int_equal(choice.proto, WF_PROTO_LL128);
	assert_true(
		wf_tune_choose(&t, WF_COLL_ALL_REDUCE, WF_ALG_AUTO, WF_PROTO_SIMPLE, 8, &choice));
	assert_int_equal(choice.alg, WF_ALG_TREE);
	assert_int_equal(choice.proto, WF_PROTO_SIMPLE);
	assert_true(wf_tune_choose(&t, WF_COLL_ALL_REDUCE, WF_ALG_RING, WF_PROTO_SIMPLE, MB(1024),
	                           &choice));
	assert_int_equal(choice.chunk, MB(2));
	assert_false(
		wf_tune_choose(&t, WF_COLL_ALL_REDUCE, WF_ALG_NVLS, WF_PROTO_AUTO, 8, &choice));
	assert_false(
		wf_tune_choose(&t, WF_COLL_ALL_REDUCE, WF_ALG_HALVING, WF_PROTO_AUTO, 8, &choice));
	assert_false(
		wf_tune_choose(&t, WF_COLL_ALL_GATHER, WF_ALG_TREE, WF_PROTO_AUTO, 8, &choice));
	assert_true(wf_tune_choose(&t, WF_COLL_ALL_GATHER, WF_ALG_AUTO, WF_PROTO_AUTO, MB(1024),
	                           &choice));
	assert_int_equal(choice.alg, WF_ALG_RING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choices),      cmocka_unit_test(test_switch_points),
		cmocka_unit_test(test_without_nvls), cmocka_unit_test(test_b200),
		cmocka_unit_test(test_sharp),        cmocka_unit_test(test_graphs),
		cmocka_unit_test(test_wishes),       cmocka_unit_test(test_collnet_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
