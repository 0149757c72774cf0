/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios: times to the picosecond, sameness on threads, marking, sharing, faults, routing. */
/* ctest: tsan=*threads* */
#include "rig.h"

#include <math.h>

#define MTU 4096

/* Picoseconds n bytes take at 400 Gb/s. */
static wf_time bytes400(uint64_t n)
{
	return (wf_time)n * 20;
}

/*
 * One packet over one switch, each part of its way added up. Store and forward: the whole packet is
 * received before the switch acts; cut-through: its first 64 bytes.
 */
static void test_latency_to_the_picosecond(void **state)
{
	static const struct {
		const char *layer;
		const char *cut;
		unsigned header, gap;
	} row[] = {
		{ "pfc", "true", 62, 20 },    { "pfc", "false", 62, 20 },
		{ "none", "true", 62, 20 },   { "credit", "true", 26, 0 },
		{ "credit", "false", 26, 0 },
	};

	(void)state;
	for (unsigned i = 0; i < WF_ARRAY_SIZE(row); i++) {
		uint64_t wire = MTU + row[i].header + row[i].gap;
		bool cut = strcmp(row[i].cut, "true") == 0;
		wf_time want;
		struct rig r;

		rig_init(&r, row[i].layer, "single", 2);
		rig_topo(&r, "cable.host", "2m");
		rig_topo(&r, "cable.delay", "5ns");
		rig_set(&r, "link.phy", "100ns");
		rig_set(&r, "switch.latency", "300ns");
		rig_set(&r, "switch.cut_through", row[i].cut);
		rig_set(&r, "nic.doorbell", "20ns");
		rig_set(&r, "nic.fetch", "30ns");
		rig_set(&r, "nic.tx", "50ns");
		rig_set(&r, "nic.rx", "70ns");
		if (row[i].gap != 0)
			rig_set(&r, "link.gap", "20B");
		rig_flow(&r, 0, 1, MTU, 1 * WF_US, 3);
		rig_run(&r, 1);
		want = bytes400(cut ? 64 + row[i].gap : wire) + 110 * WF_NS + 300 * WF_NS;
		want += bytes400(wire) + 110 * WF_NS + 70 * WF_NS;
		assert_int_equal(r.result->packet_latency.max, want);
		assert_int_equal(r.result->flow_time.max, want + 100 * WF_NS);
		assert_int_equal(wf_sim_flow_end(r.sim, 0), 1 * WF_US + want + 100 * WF_NS);
		rig_fini(&r);
	}
}

/* A flow alone reaches the line rate less headers, when its window covers the round trip. */
static void test_line_rate(void **state)
{
	static const char *const layer[] = { "pfc", "credit", "none" };

	(void)state;
	for (unsigned i = 0; i < WF_ARRAY_SIZE(layer); i++) {
		uint64_t packets = 20000000 / MTU + 1;
		wf_time best;
		struct rig r;

		rig_init(&r, layer[i], "fat-tree", 16);
		rig_set(&r, "sender.window", "1MiB");
		rig_flow(&r, 0, 15, 20000000, 0, 3);
		rig_run(&r, 1);
		best = bytes400(packets * (MTU + r.sim->fabric.header + r.sim->fabric.gap));
		assert_true(r.result->last_delivery >= best);
		assert_true(r.result->last_delivery <= best + best / 100 + 10 * WF_US);
		rig_fini(&r);
	}
}

/* A faster port behind a slower one must not run dry: the switch stores the packet first. */
static void test_no_cut_through_into_a_faster_port(void **state)
{
	uint64_t wire = MTU + 62 + 20;
	struct rig r;

	(void)state;
	rig_init(&r, "pfc", "leaf-spine", 8);
	rig_topo(&r, "host_rate", "100Gbps");
	rig_topo(&r, "fabric_rate", "400Gbps");
	rig_topo(&r, "radix", "8");
	rig_set(&r, "switch.cut_through", "true");
	rig_set(&r, "link.gap", "20B");
	rig_flow(&r, 0, 7, MTU, 0, 3);
	rig_run(&r, 1);
	/* Up: stored at the leaf (100G), cut through at the spine, and at the leaf into 100G. */
	assert_true((wf_time)r.result->packet_latency.max >
	            bytes400(4 * wire) + bytes400(84) + bytes400(84) + bytes400(4 * wire));
	rig_fini(&r);
}

/* 1, 2 and 4 threads: everything equal, flow by flow; another seed, other results. */
static void test_same_on_threads(void **state)
{
	static const struct {
		const char *layer, *routing;
	} row[] = {
		{ "pfc", "ecmp" },        { "pfc", "spray" }, { "credit", "lft" },
		{ "credit", "adaptive" }, { "none", "ecmp" },
	};

	(void)state;
	for (unsigned i = 0; i < WF_ARRAY_SIZE(row); i++) {
		struct rig r;
		uint64_t hops;

		rig_init(&r, row[i].layer, "fat-tree", 64);
		rig_set(&r, "routing", row[i].routing);
		rig_set(&r, "buffer.size", "8MB");
		rig_set(&r, "link.ber", "1e-9");
		rig_set(&r, "sender.timeout", "200us");
		rig_shift(&r, 64, 21, 200000);
		rig_incast(&r, 20, 40, 100000);
		r.faults[0] = (struct wf_sim_fault){ .at = 5 * WF_US, .what = 70, .on = true };
		r.faults[1] = (struct wf_sim_fault){ .at = 30 * WF_US, .what = 70, .on = false };
		r.n_faults = 2;
		r.reconverge = 3 * WF_US;
		rig_same(&r);
		assert_true(r.result->finished);
		hops = r.result->hops;
		rig_again(&r);
		r.seed = 2;
		rig_run(&r, 1);
		assert_int_not_equal(r.result->hops, hops);
		rig_fini(&r);
	}
}

/* Queues mark above kmin, always above kmax, and only where ECN is on. */
static void test_ecn_marks(void **state)
{
	uint64_t marked[3];

	(void)state;
	for (unsigned k = 0; k < 3; k++) {
		struct rig r;

		rig_init(&r, "pfc", "single", 9);
		rig_set(&r, "ecn.kmin", k == 1 ? "0B" : "100KB");
		rig_set(&r, "ecn.kmax", k == 1 ? "0B" : "400KB");
		rig_set(&r, "ecn.pmax", "20%");
		if (k == 2)
			rig_set(&r, "classes.ecn", "");
		rig_incast(&r, 8, 8, 1000000);
		rig_run(&r, 1);
		marked[k] = rig_queue(&r, 3)->ecn_marked;
		rig_fini(&r);
	}
	assert_true(marked[0] > 0);
	assert_true(marked[1] > marked[0]);
	assert_int_equal(marked[2], 0);
}

/* Two classes on one congested port share it by their weights. */
static void test_classes_share_by_weight(void **state)
{
	struct wf_sim_counts low, high;
	struct rig r;

	(void)state;
	rig_init(&r, "pfc", "single", 9);
	rig_set(&r, "classes.lossless", "3,4");
	rig_set(&r, "classes.weights", "3:25,4:75");
	rig_set(&r, "classes.ecn", "");
	for (unsigned i = 0; i < 8; i++)
		rig_flow(&r, i, 8, 4000000, 0, i % 2 ? 3 : 4);
	r.until = 300 * WF_US;
	rig_run(&r, 1);
	assert_false(r.result->finished);
	assert_true(wf_sim_port_counts(r.sim, 9, 8, 0, &low));
	assert_true(wf_sim_port_counts(r.sim, 9, 8, 1, &high));
	assert_in_range(high.tx_bytes * 100 / (low.tx_bytes + high.tx_bytes), 73, 77);
	rig_fini(&r);
}

/* InfiniBand: the same with VL arbitration; SLs 0 and 1 on VLs 0 and 1, weights 1:3. */
static void test_vls_share_by_weight(void **state)
{
	struct wf_sim_counts low, high;
	struct rig r;

	(void)state;
	rig_init(&r, "credit", "single", 9);
	rig_set(&r, "vl.count", "2");
	rig_set(&r, "vl.arb_low", "0:64,1:192");
	for (unsigned i = 0; i < 8; i++)
		rig_flow(&r, i, 8, 4000000, 0, i % 2 ? 0 : 1);
	r.until = 300 * WF_US;
	rig_run(&r, 1);
	assert_true(wf_sim_port_counts(r.sim, 9, 8, 0, &low));
	assert_true(wf_sim_port_counts(r.sim, 9, 8, 1, &high));
	assert_in_range(high.tx_bytes * 100 / (low.tx_bytes + high.tx_bytes), 73, 77);
	rig_fini(&r);
}

static void pause_frame(struct rig *r, uint16_t quanta, wf_time at)
{
	struct wf_device *dev = r->sim->net.devices[0];
	struct wf_packet pkt = { .type = WF_PACKET_PAUSE };

	pkt.u.pause.mask = 1 << 3;
	pkt.u.pause.quanta[0] = quanta;
	wf_flowctl_pfc.control(dev, &dev->ports[0], &pkt, at);
}

/* Whether host 0 may send in priority 3 at a time. */
static bool open_at(const struct rig *r, wf_time at)
{
	const struct wf_device *dev = r->sim->net.devices[0];

	return wf_flowctl_pfc.ready(wf_port_lane(&dev->ports[0], 1), 100, at) <= at;
}

/*
 * A frame takes effect a reaction time after it came in, and only then, whatever other frames come
 * in that time: IEEE 802.1Qbb leaves no state in between. Here 1000 ns, of which PHY and adapter
 * take 400.
 */
static void test_frames_in_the_reaction_time(void **state)
{
	static const struct {
		unsigned from, to; /* ns */
	} spans[] = { { 0, 1599 }, { 2600, 2899 }, { 4600, 4800 } };
	static const struct {
		unsigned at;
		uint16_t quanta;
	} frames[] = { { 1000, 65535 }, { 2000, 0 }, { 2300, 65535 }, { 4000, 0 } };
	struct wf_err err = { "" };
	struct rig r;

	(void)state;
	rig_init(&r, "pfc", "single", 2);
	rig_set(&r, "pfc.reaction", "1000ns");
	rig_set(&r, "link.phy", "100ns");
	rig_set(&r, "nic.rx", "300ns");
	assert_int_equal(rig_build(&r, 1, &err), 0);
	for (unsigned at = 0; at < 4800; at++) {
		bool expect = false;

		for (size_t i = 0; i < WF_ARRAY_SIZE(frames); i++) {
			if (frames[i].at == at)
				pause_frame(&r, frames[i].quanta, at * WF_NS);
		}
		for (size_t i = 0; i < WF_ARRAY_SIZE(spans); i++)
			expect |= at >= spans[i].from && at <= spans[i].to;
		if (open_at(&r, at * WF_NS) != expect)
			fail_msg("at %u ns it is %s", at, expect ? "stopped" : "open");
	}
	rig_fini(&r);
}

/* The smallest cell is a byte: packets are still counted, pauses come, nothing is lost. */
static void test_cells_of_any_size(void **state)
{
	static const char *const cells[] = { "1B", "4096B" };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(cells); i++) {
		struct rig r;

		rig_init(&r, "pfc", "single", 9);
		rig_set(&r, "buffer.cell", cells[i]);
		rig_set(&r, "buffer.small_packets", "0");
		rig_set(&r, "buffer.alpha", "1/1024");
		rig_incast(&r, 8, 0, 1000000);
		rig_run(&r, 1);
		assert_true(r.result->finished);
		assert_int_equal(r.result->packets_dropped, 0);
		assert_true(rig_queue(&r, 3)->pause_tx > 0);
		assert_true(rig_queue(&r, 3)->max_buffer_bytes > 50000);
		rig_fini(&r);
	}
}

/* Short pause times are said again and again; nothing is lost, and resume needs no timeout. */
static void test_pause_refresh(void **state)
{
	uint64_t pauses[2];

	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		struct rig r;

		rig_init(&r, "pfc", "single", 17);
		rig_set(&r, "buffer.size", "7MB");
		rig_set(&r, "pfc.quanta", k == 0 ? "65535" : "100");
		rig_incast(&r, 16, 16, 1000000);
		rig_run(&r, 1);
		assert_true(r.result->finished);
		assert_int_equal(r.result->packets_dropped, 0);
		pauses[k] = rig_queue(&r, 3)->pause_tx;
		assert_int_equal(rig_queue(&r, 3)->pause_rx, pauses[k]);
		assert_true(rig_queue(&r, 3)->paused_ps > 0);
		/* The bottleneck never idles: 16 MB at 400 Gb/s, and a little. */
		assert_in_range(r.result->last_delivery, 320 * WF_US, 345 * WF_US);
		rig_fini(&r);
	}
	assert_true(pauses[1] > 2 * pauses[0]);
}

/* Bit errors lose packets, each counted at the port that received it, and all comes across. */
static void test_bit_errors(void **state)
{
	static const char *const layer[] = { "pfc", "credit", "none" };

	(void)state;
	for (unsigned i = 0; i < WF_ARRAY_SIZE(layer); i++) {
		struct rig r;

		rig_init(&r, layer[i], "leaf-spine", 16);
		rig_set(&r, "link.ber", "2e-8"); /* one packet in 1,500 a hop */
		rig_set(&r, "sender.timeout", "50us");
		rig_shift(&r, 16, 9, 2000000);
		rig_run(&r, 1);
		assert_true(r.result->finished);
		assert_int_equal(r.result->bytes_delivered, 32000000);
		assert_in_range(r.result->packets_dropped, 10, 100);
		assert_int_equal(rig_queue(&r, 3)->drops_error, r.result->packets_dropped);
		assert_int_equal(rig_queue(&r, 3)->drops_congestion, 0);
		assert_int_equal(rig_queue(&r, 3)->drops_down, 0);
		rig_drain(&r);
		rig_fini(&r);
	}
}

/*
 * By hand: each of n bits on links is wrong with probability BER by itself, so the packets that are
 * lost are binomial, with mean BER n and a variance a little below: within 5 sigma with every seed.
 * Eight hosts send 8 MB each over two links, 8e6 / 4096 packets of 4096 + 62 bytes (Ethernet 14 +
 * 4, IPv4 20, UDP 8, BTH 12, ICRC 4); the rest of n are acknowledgements and what is sent again.
 */
static void test_bit_errors_by_hand(void **state)
{
	const double ber = 1e-7;
	const double data = 2 * 8 * (8e6 / 4096) * (4096 + 62);

	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		const struct wf_sim_counts *c;
		double mean, off;
		struct rig r;

		rig_init(&r, "pfc", "single", 8);
		rig_set(&r, "link.ber", "1e-7");
		rig_set(&r, "sender.timeout", "50us");
		rig_set(&r, "sender.window", "64KiB");
		rig_shift(&r, 8, 1, 8000000);
		r.seed = seed;
		rig_run(&r, 1);
		c = rig_queue(&r, 3);
		assert_true(r.result->finished);
		assert_true((double)c->tx_bytes > data && (double)c->tx_bytes < 1.3 * data);
		mean = ber * 8 * (double)c->tx_bytes;
		off = ((double)c->drops_error - mean) / sqrt(mean);
		print_message("seed %u: %u errors, %.1f expected, %.1f sigma off\n", (unsigned)seed,
		              (unsigned)c->drops_error, mean, off);
		assert_true(off > -5 && off < 5);
		assert_int_equal(c->drops_error, c->rx_lost);
		rig_fini(&r);
	}
}

/* A link fails and comes back: what was on it is lost and sent again, and nothing stays stuck. */
static void test_link_failure(void **state)
{
	static const char *const layer[] = { "pfc", "credit", "none" };

	(void)state;
	for (unsigned i = 0; i < WF_ARRAY_SIZE(layer); i++) {
		struct rig r;

		rig_init(&r, layer[i], "leaf-spine", 32);
		rig_topo(&r, "radix", "8");
		rig_set(&r, "sender.timeout", "100us");
		rig_shift(&r, 32, 13, 2000000);
		/* Links 0..31 lead to hosts, those after to spines. */
		r.faults[0] = (struct wf_sim_fault){ .at = 10 * WF_US, .what = 33, .on = true };
		r.faults[1] = (struct wf_sim_fault){ .at = 60 * WF_US, .what = 33, .on = false };
		r.faults[2] = (struct wf_sim_fault){ .at = 20 * WF_US, .what = 3, .on = true };
		r.faults[3] = (struct wf_sim_fault){ .at = 40 * WF_US, .what = 3, .on = false };
		r.n_faults = 4;
		r.reconverge = 10 * WF_US;
		rig_run(&r, 1);
		assert_true(r.result->finished);
		assert_int_equal(r.result->bytes_delivered, 64000000);
		/* What had no way is lost to the link, too; congestion is where nobody stops. */
		assert_true(rig_queue(&r, 3)->drops_down > 0);
		assert_int_equal(r.result->packets_dropped,
		                 rig_queue(&r, 3)->drops_down + rig_queue(&r, 3)->drops_congestion);
		if (i < 2)
			assert_int_equal(rig_queue(&r, 3)->drops_congestion, 0);
		/* Some were on a link, others waited for it. */
		assert_true(rig_queue(&r, 3)->rx_down > 0 && rig_queue(&r, 3)->tx_down > 0);
		assert_int_equal(rig_queue(&r, 3)->rx_down + rig_queue(&r, 3)->tx_down,
		                 rig_queue(&r, 3)->drops_down);
		assert_int_equal(rig_queue(&r, 3)->tx_discards, rig_queue(&r, 3)->tx_down);
		rig_drain(&r);
		rig_fini(&r);
	}
}

/* A packet too long at the head of its queue is dropped, counted, and sent again. */
static void test_head_of_queue_lifetime(void **state)
{
	struct rig r;

	(void)state;
	rig_init(&r, "credit", "leaf-spine", 32);
	rig_set(&r, "vl.hoq_life", "2us");
	rig_set(&r, "sender.timeout", "500us");
	rig_incast(&r, 24, 0, 300000);
	rig_run(&r, 1);
	assert_true(r.result->finished);
	assert_true(rig_queue(&r, 3)->drops_life > 0);
	assert_int_equal(rig_queue(&r, 3)->drops, rig_queue(&r, 3)->drops_life);
	assert_int_equal(rig_queue(&r, 3)->drops, rig_queue(&r, 3)->drops_congestion);
	assert_int_equal(rig_queue(&r, 3)->tx_discards, rig_queue(&r, 3)->drops_life);
	rig_drain(&r);
	rig_fini(&r);
}

/* Completion of a permutation: adaptive and spraying beat hashing, which collides. */
static void test_routing_matters(void **state)
{
	static const char *const routing[] = { "ecmp", "spray", "adaptive" };
	wf_time end[3];

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct rig r;

		rig_init(&r, "pfc", "fat-tree", 128);
		rig_set(&r, "routing", routing[i]);
		rig_set(&r, "sender.window", "512KiB");
		rig_shift(&r, 128, 33, 2000000);
		rig_run(&r, 1);
		assert_true(r.result->finished);
		end[i] = r.result->last_delivery;
		rig_fini(&r);
	}
	assert_true(end[1] < end[0]);
	assert_true(end[2] < end[0]);
	/* 2 MB at 400 Gb/s less headers take 41 us: spraying comes close, hashing does not. */
	assert_true(end[2] < 65 * WF_US);
	assert_true(end[0] > 80 * WF_US);
}

/* A shift permutation on the linear forwarding table of a full fat tree meets no one on its way. */
static void test_lft_shift_has_no_collision(void **state)
{
	struct rig r;

	(void)state;
	rig_init(&r, "credit", "fat-tree", 128);
	rig_set(&r, "sender.window", "512KiB");
	rig_shift(&r, 128, 64, 2000000);
	rig_run(&r, 1);
	assert_true(r.result->last_delivery < 50 * WF_US);
	rig_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_latency_to_the_picosecond),
		cmocka_unit_test(test_line_rate),
		cmocka_unit_test(test_no_cut_through_into_a_faster_port),
		cmocka_unit_test(test_same_on_threads),
		cmocka_unit_test(test_ecn_marks),
		cmocka_unit_test(test_classes_share_by_weight),
		cmocka_unit_test(test_vls_share_by_weight),
		cmocka_unit_test(test_frames_in_the_reaction_time),
		cmocka_unit_test(test_cells_of_any_size),
		cmocka_unit_test(test_pause_refresh),
		cmocka_unit_test(test_bit_errors),
		cmocka_unit_test(test_bit_errors_by_hand),
		cmocka_unit_test(test_link_failure),
		cmocka_unit_test(test_head_of_queue_lifetime),
		cmocka_unit_test(test_routing_matters),
		cmocka_unit_test(test_lft_shift_has_no_collision),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
