/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_links.c - links that are bad: raw bit errors and what their FEC leaves, what a link sends
 * again by itself, and links that come up with a part of their lanes.
 *
 * ctest: tsan=*threads*
 */
#include "scen.h"

#include <inttypes.h>
#include <math.h>

#include "fabric/retry.h"

#define COUNTER(field) offsetof(struct wf_sim_counts, field)
#define SEEDS 4

static void load(struct scen *s, uint64_t seed, const char *text)
{
	char whole[4096];

	snprintf(whole, sizeof(whole), "seed: %" PRIu64 "\n%s", seed, text);
	scen_load(s, whole);
}

/* What came in by the ports of a device that lead to a peer, over all queues. */
static struct wf_sim_counts into(const struct scen *s, const char *name, const char *peer)
{
	struct wf_sim_counts c;

	wf_sim_port_total(s->sim, scen_device(s, name)->id, scen_port_to(s, name, peer), &c);
	return c;
}

/* n is what comes of so many tries of a chance, within five standard deviations. */
static void assert_drawn(uint64_t n, double tries, double chance)
{
	double mean = tries * chance, off = 5 * sqrt(mean * (1 - chance));

	if (fabs((double)n - mean) > off)
		fail_msg("%" PRIu64 ", not %g +- %g", n, mean, off);
}

/*
 * What comes to h1 is lost where the FEC gives up, and only there: one way of one link, of a port
 * by its name. The hosts send it again.
 */
static void test_fec_loses(void **state)
{
	static const char text[] =
		"topology: {kind: single, hosts: 3, host_rate: 400Gbps}\n"
		"fabric: {profile: roce-400g, name: f, cc: {algorithm: none}, sender: {recovery: "
		"selective, timeout: 1ms}}\n"
		"devices: {'h1:leaf0': {link: {raw_ber: 1.5e-3}}}\n"
		"traffic: [{kind: shift, op: write, distance: 1, size: 32MB}]\n"
		"run: {until: 50ms}\n";

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct wf_sim_counts h1, tx;
		struct scen s;

		load(&s, seed, text);
		scen_run(&s, "f", 1);
		assert_int_equal(s.result->flows_done, 3);
		h1 = into(&s, "h1", "leaf0");
		tx = into(&s, "leaf0", "h1");
		assert_int_equal(h1.fec_uncorrected, h1.drops_error);
		assert_int_equal(s.total.drops, h1.drops_error);
		assert_true(tx.tx_packets > 8000);
		assert_true(h1.drops_error > 450);
		assert_int_equal(tx.fec_corrected, 0);
		assert_true(h1.fec_corrected > 0);
		scen_fini(&s);
	}
}

/*
 * 32 MB by a link of 400 Gb/s with 1.5e-3 raw bit errors behind RS(544,514), two codewords
 * interleaved. A symbol is wrong with 1 - 0.9985^10 = 1.490e-2, more than 15 of 544 are with
 * 8.72e-3, and one of two such codewords is lost with 0.017367 (tests/data/fec, tails.txt, in exact
 * fractions). Packets have 4096 B and 62 of headers, with the gap 4178 B: they touch 1 + 4177 /
 * 1280 = 4.263 pairs of codewords on average, four or five, and are lost with 0.0720.
 */
static void test_fec_chance(void **state)
{
	static const char text[] =
		"topology: {kind: single, hosts: 2, host_rate: 400Gbps}\n"
		"fabric: {profile: roce-400g, name: f, sender: {timeout: 100us}}\n"
		"devices: {'h1:leaf0': {link: {raw_ber: 1.5e-3}}}\n"
		"traffic: [{kind: incast, fanin: 1, target: 1, size: 32MB}]\n"
		"run: {until: 50ms}\n";
	const double pair = 0.0173671, part = 4177.0 / 1280 - 3;
	const double chance = (1 - part) * (1 - pow(1 - pair, 4)) + part * (1 - pow(1 - pair, 5));

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct wf_sim_counts h1, tx;
		struct scen s;

		load(&s, seed, text);
		scen_run(&s, "f", 1);
		h1 = into(&s, "h1", "leaf0");
		tx = into(&s, "leaf0", "h1");
		assert_true(tx.tx_packets > 8000);
		assert_drawn(h1.drops_error, (double)tx.tx_packets, chance);
		assert_int_equal(s.total.drops, h1.drops_error);
		scen_fini(&s);
	}
}

/*
 * A link that is idle carries codewords, too. In 1 ms at 400 Gb/s there are 78,125 of 640 B. At
 * 1e-4 one has errors with 1 - 0.9999^5440 = 0.41960, and as good as all of them are mended; a
 * codeword has 0.544 wrong bits on average. From 250 us on for 500 us: half of them. While the link
 * is down there are none.
 */
static void test_fec_counts(void **state)
{
	static const char text[] =
		"topology: {kind: single, hosts: 2, host_rate: 400Gbps}\n"
		"fabric: {profile: roce-400g, name: f}\n"
		"devices: {'h1:leaf0': {link: {raw_ber: 1e-4}}}\n"
		"faults:\n"
		"  - {on: 'leaf0:h1', at: 250us, until: 750us, set: {link: {raw_ber: 1e-4}}}\n"
		"  - {on: h0-leaf0, at: 400us, until: 600us, fault: down}\n"
		"  - {on: 'leaf0:h0', at: 200us, set: {link: {raw_ber: 1e-4}}}\n"
		"traffic: [{kind: incast, fanin: 1, target: 1, size: 1KB, start: 999us}]\n"
		"run: {until: 1ms}\n";
	const double errors = 1 - pow(0.9999, 5440);
	struct scen s;
	wf_time end;

	(void)state;
	load(&s, 1, text);
	scen_build(&s, "f", 1);
	assert_int_equal(wf_sim_run_until(s.sim, WF_MS, &end), 0);
	assert_int_equal(wf_sim_now(s.sim), WF_MS);
	assert_in_range(into(&s, "h1", "leaf0").fec_corrected, (uint64_t)(78125 * errors) - 1,
	                (uint64_t)(78125 * errors) + 1);
	assert_in_range(into(&s, "h1", "leaf0").fec_bits, 42499, 42500); /* 78125 x 0.544 */
	assert_in_range(into(&s, "h1", "leaf0").fec_symbols, 42480, 42499);
	assert_in_range(into(&s, "leaf0", "h1").fec_corrected, (uint64_t)(39062 * errors) - 1,
	                (uint64_t)(39063 * errors) + 1);
	/* From 200 us on, but for 200 us of them when the link is down. */
	assert_in_range(into(&s, "leaf0", "h0").fec_corrected, (uint64_t)(46875 * errors) - 2,
	                (uint64_t)(46875 * errors) + 1);
	assert_int_equal(into(&s, "h0", "leaf0").fec_corrected, 0);
	scen_fini(&s);
}

/* Without FEC raw errors are what link.ber is: the same draws. */
static void test_no_fec(void **state)
{
	static const char text[] =
		"topology: {kind: single, hosts: 4, host_rate: 400Gbps}\n"
		"fabric:\n"
		"  - {profile: roce-400g, name: raw, link: {fec: none, raw_ber: 1e-7}, sender: "
		"{timeout: 1ms}}\n"
		"  - {profile: roce-400g, name: ber, link: {ber: 1e-7}, sender: {timeout: 1ms}}\n"
		"traffic: [{kind: shift, op: write, distance: 1, size: 4MB}]\n"
		"run: {until: 50ms}\n";
	struct wf_sim_counts raw;
	struct scen s;

	(void)state;
	load(&s, 1, text);
	scen_run(&s, "raw", 1);
	raw = s.total;
	assert_true(raw.drops_error > 0);
	scen_run(&s, "ber", 1);
	assert_memory_equal(&raw, &s.total, sizeof(raw));
	scen_fini(&s);
}

/*
 * A link that is bad for 10 us on average and then good for 90: a tenth of the time. Over 1 s and
 * 10,000 bursts their sum has a standard deviation of sqrt(2 x 10,000) x 0.9 x 10 us, 1.3 %, so
 * five are 6.4 %. While it is bad each codeword is mended (1e-4: 0.41960 have errors), as in
 * test_fec_counts(): 78,125 x 1000 x 0.1 x 0.41960. Each seed has other bursts.
 */
static void test_burst_time(void **state)
{
	static const char text[] =
		"topology: {kind: single, hosts: 2, host_rate: 400Gbps}\n"
		"fabric: {profile: roce-400g, name: f}\n"
		"devices: {'h1:leaf0': {link: {burst_ber: 1e-4, burst_every: 90us, burst_for: "
		"10us}}}\n"
		"traffic: [{kind: incast, fanin: 1, target: 1, size: 1KB, start: 990ms}]\n"
		"run: {until: 1s}\n";
	const double want = 7812500 * (1 - pow(0.9999, 5440));
	uint64_t before = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct wf_sim_counts h1;
		struct scen s;
		wf_time end;

		load(&s, seed, text);
		scen_build(&s, "f", 1);
		assert_int_equal(wf_sim_run_until(s.sim, WF_S, &end), 0);
		h1 = into(&s, "h1", "leaf0");
		if (fabs((double)h1.fec_corrected - want) > 0.064 * want)
			fail_msg("%" PRIu64 " mended, not %g", h1.fec_corrected, want);
		assert_int_not_equal(h1.fec_corrected, before);
		before = h1.fec_corrected;
		assert_int_equal(into(&s, "leaf0", "h1").fec_corrected, 0);
		scen_fini(&s);
	}
}

/*
 * In a burst all is lost (1e-2: a codeword has 52 wrong symbols on average), else nothing is. 100
 * Gb/s for 20 ms, bursts of 100 us every 1 ms, and so a part of 1/11, within a factor of two. Where
 * the link sends again, each packet of a burst is lost after four tries, but for those that are
 * still tried when it ends: three at most for each of some 20 bursts. That the sender of the link
 * sees the bursts that its receiver does is told by what is counted: each try is one, at the
 * sender.
 */
static void test_burst_runs(void **state)
{
	static const char text[] = "topology: {kind: single, hosts: 2, host_rate: 100Gbps}\n"
				   "fabric:\n"
				   "  - {profile: roce-100g, name: plain, flowctl: none, sender: "
				   "{window: 64MiB, timeout: 100ms}}\n"
				   "  - {profile: roce-100g, name: llr, flowctl: none, sender: "
				   "{window: 64MiB, timeout: 100ms}, "
				   "link: {retry: llr}}\n"
				   "devices: {'h1:leaf0': {link: {burst_ber: 1e-2, burst_every: "
				   "1ms, burst_for: 100us}}}\n"
				   "traffic: [{kind: incast, fanin: 1, target: 1, size: 1GB}]\n"
				   "run: {until: 20ms}\n";
	struct wf_sim_counts h1, tx;
	struct scen s;

	(void)state;
	load(&s, 1, text);
	scen_run(&s, "plain", 1);
	h1 = into(&s, "h1", "leaf0");
	tx = into(&s, "leaf0", "h1");
	assert_in_range(h1.drops_error, tx.tx_packets / 22, tx.tx_packets * 2 / 11);
	assert_int_equal(h1.drops_error, h1.fec_uncorrected);
	scen_run(&s, "llr", 1);
	h1 = into(&s, "h1", "leaf0");
	tx = into(&s, "leaf0", "h1");
	assert_int_equal(tx.link_retries + h1.drops_error, h1.fec_uncorrected);
	assert_true(h1.drops_error > 100);
	assert_in_range(tx.link_retries, 3 * h1.drops_error, 3 * h1.drops_error + 100);
	scen_fini(&s);
}

/* ---- what links send again ---- */

#define ONE_LINK(more)                                                                             \
	"topology: {kind: single, hosts: 2, host_rate: 400Gbps, cable: {host: 20m}}\n"             \
	"fabric:\n"                                                                                \
	"  - {profile: ib-ndr, name: ib}\n"                                                        \
	"  - {profile: roce-400g, name: roce, cc: {algorithm: none}}\n"                            \
	"devices:\n"                                                                               \
	"  leaf0-h0: {link: {retry: llr, retry_max: 15" more "}}\n"

/*
 * One flow; the way from h0 to the leaf loses 30 % of packets, and sends them again. Each time that
 * takes the wire for the packet and a round trip: 2 x 20 m x 5 ns, 2 x 120 ns of PHY, 500 ns, 940
 * ns in all. The rest of the way is as fast, so the last byte is late by just that, as often as it
 * happened. Packets have 4122 B on InfiniBand, and 4178 on Ethernet with the gap; the first has 16
 * more (RETH), 320 ps each time that it is lost. Nothing is lost in the end, and nothing sent again
 * by the host.
 */
static void test_retry_time(void **state)
{
	static const char text[] =
		ONE_LINK("") "traffic: [{kind: incast, op: write, fanin: 1, target: 1, size: "
			     "1MiB}]\nrun: {until: 10ms}\n";
	static const struct {
		const char *fabric;
		uint32_t bytes;
	} row[] = { { "ib", 4096 + 8 + 12 + 4 + 2 },
		    { "roce", 4096 + 14 + 20 + 8 + 12 + 4 + 4 + 20 } };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		wf_time clean = 0;

		for (uint64_t seed = 0; seed <= SEEDS; seed++) {
			uint64_t again, most = 0;
			char whole[2048];
			wf_time late, each = (wf_time)row[i].bytes * 20 + 940 * WF_NS;
			struct scen s;

			snprintf(whole, sizeof(whole), "%s%s", text,
			         seed == 0
			                 ? ""
			                 : "faults: [{on: 'leaf0:h0', at: 0ps, set: {link: {loss: "
			                   "30%}}}]\n");
			load(&s, seed, whole);
			scen_run(&s, row[i].fabric, 1);
			assert_int_equal(s.result->flows_done, 1);
			assert_int_equal(s.total.drops, 0);
			assert_int_equal(s.result->resent, 0);
			again = into(&s, "h0", "leaf0").link_retries;
			assert_int_equal(s.total.link_retries, again);
			if (seed == 0) {
				assert_int_equal(again, 0);
				clean = s.result->last_delivery;
				scen_fini(&s);
				continue;
			}
			/* 256 packets and 0.3 / 0.7 of that again. */
			assert_in_range(again, 60, 170);
			late = s.result->last_delivery - clean;
			/* The first one is 16 B longer, 320 ps, each time that it is lost. */
			while (most < again && late > (wf_time)again * each + (wf_time)most * 320)
				most++;
			assert_int_equal(late, (wf_time)again * each + (wf_time)most * 320);
			assert_true(most < 5);
			scen_fini(&s);
		}
	}
}

/* One in five is lost, and sent again once: one in 25 is lost for good. */
static void test_retry_gives_up(void **state)
{
	static const char text[] =
		"topology: {kind: single, hosts: 2, host_rate: 400Gbps}\n"
		"fabric: {profile: ib-ndr, name: f, sender: {recovery: selective, timeout: 1ms}}\n"
		"devices: {'h1:leaf0': {link: {loss: 20%}}, h1-leaf0: {link: {retry: llr, "
		"retry_max: 1}}, h0-leaf0: {link: {retry: llr, retry_max: 9}}}\n"
		"traffic: [{kind: incast, op: write, fanin: 1, target: 1, size: 16MB}]\n"
		"run: {until: 100ms}\n";

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct wf_sim_counts h1, tx;
		struct scen s;

		load(&s, seed, text);
		scen_run(&s, "f", 1);
		assert_int_equal(s.result->flows_done, 1);
		h1 = into(&s, "h1", "leaf0");
		tx = into(&s, "leaf0", "h1");
		/* Lost twice: 4 %; sent again: 20 %. */
		assert_drawn(h1.drops_error, (double)tx.tx_packets, 0.04);
		assert_drawn(tx.link_retries, (double)tx.tx_packets, 0.2);
		assert_int_equal(s.total.drops, h1.drops_error);
		scen_fini(&s);
	}
}

/*
 * At a raw bit error rate a link that sends again carries less, and loses nothing: of its time a
 * packet of w takes w (1 + c / (1 - c)) and c / (1 - c) round trips. 1.5e-3 behind RS(544,514) x 2,
 * as above, InfiniBand: 4122 B (82.44 ns), 1 + 4121 / 1280 pairs.
 */
static void test_retry_rate(void **state)
{
	static const char text[] =
		"topology: {kind: single, hosts: 2, host_rate: 400Gbps, cable: {host: 20m}}\n"
		"fabric: {profile: ib-ndr, name: f}\n"
		"devices: {'leaf0:h0': {link: {raw_ber: 1.5e-3}}, leaf0-h0: {link: {retry: llr, "
		"retry_max: 15}}}\n"
		"traffic: [{kind: incast, op: write, fanin: 1, target: 1, size: 32MiB}]\n"
		"run: {until: 100ms}\n";
	const double pair = 0.0173671, part = 4121.0 / 1280 - 3;
	const double c = (1 - part) * (1 - pow(1 - pair, 4)) + part * (1 - pow(1 - pair, 5));
	const double again = 8192 * c / (1 - c), spread = 5 * sqrt(8192 * c) / (1 - c);

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct wf_sim_counts rx, tx;
		double took;
		struct scen s;

		load(&s, seed, text);
		scen_run(&s, "f", 1);
		assert_int_equal(s.result->flows_done, 1);
		assert_int_equal(s.total.drops, 0);
		rx = into(&s, "leaf0", "h0");
		tx = into(&s, "h0", "leaf0");
		assert_int_equal(rx.fec_uncorrected, tx.link_retries);
		if (fabs((double)tx.link_retries - again) > spread)
			fail_msg("%" PRIu64 " again, not %g +- %g", tx.link_retries, again, spread);
		took = 8192 * 82.44e3 + (82.44e3 + 940e3) * again;
		/* Besides, about 3 us until the first packet is there. */
		if (fabs((double)s.result->last_delivery - took - 3e6) >
		    (82.44e3 + 940e3) * spread + 1e6)
			fail_msg("%g ps, not %g", (double)s.result->last_delivery, took);
		scen_fini(&s);
	}
}

/*
 * A buffer for one packet: the next leaves when the one before is confirmed, a round trip of 940 ns
 * after its end. With 54,000 B, more than the 47,000 B of that round trip and a packet (4.1 KB) on
 * each side, the link is as fast as without.
 */
static void test_retry_buffer(void **state)
{
	static const char *const more[] = { "", ", retry_buffer: 5000B", ", retry_buffer: 60KB" };
	static const char text[] =
		ONE_LINK("%s") "traffic: [{kind: incast, op: write, fanin: 1, target: 1, size: "
			       "1MiB}]\nrun: {until: 10ms}\n";
	wf_time end[3];

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(more); i++) {
		char whole[2048];
		struct scen s;

		snprintf(whole, sizeof(whole), text, more[i]);
		load(&s, 1, whole);
		scen_run(&s, "ib", 1);
		assert_int_equal(s.result->flows_done, 1);
		assert_int_equal(s.total.link_retries, 0);
		end[i] = s.result->last_delivery;
		scen_fini(&s);
	}
	/* Before each of 256 packets but the first. */
	assert_int_equal(end[1] - end[0], 255 * 940 * WF_NS);
	assert_int_equal(end[2], end[0]);
}

/*
 * Links of a whole fabric lose 2 % of packets and send them again, while hosts send to one: nothing
 * is lost, by nobody, and credits and pauses are as they must be (scen_run() checks). PFC's
 * headroom has room for a frame that waits for a replay.
 */
static void test_retry_lossless(void **state)
{
	static const char text[] =
		"topology: {kind: leaf-spine, hosts: 16, radix: 8, host_rate: 100Gbps}\n"
		"fabric:\n"
		"  - {profile: roce-100g, name: roce, link: {loss: 2%, retry: llr, retry_max: 15}, "
		"buffer: {size: 6MB}}\n"
		"  - {profile: ib-hdr, name: ib, link: {loss: 2%, retry: llr, retry_max: 15}}\n"
		"traffic:\n"
		"  - {kind: incast, op: write, fanin: 12, target: 5, size: 1MB}\n"
		"  - {kind: permutation, op: write, size: 1MB}\n"
		"run: {until: 50ms}\n";
	static const char *const fabrics[] = { "roce", "ib" };

	(void)state;
	for (uint64_t seed = 1; seed <= 2; seed++) {
		struct scen s;

		load(&s, seed, text);
		for (size_t f = 0; f < WF_ARRAY_SIZE(fabrics); f++) {
			scen_run(&s, fabrics[f], 1);
			assert_int_equal(s.result->flows_done, 28);
			assert_int_equal(s.total.drops, 0);
			assert_int_equal(s.result->resent, 0);
			assert_true(s.total.link_retries > 100);
			if (f == 0)
				assert_true(s.total.pause_tx > 0);
		}
		scen_fini(&s);
	}
}

/* A frame that says stop may wait for a packet that is sent again: so much more headroom. */
static void test_retry_headroom(void **state)
{
	static const char text[] =
		"topology: {kind: single, hosts: 2, host_rate: 400Gbps, cable: {host: 20m}}\n"
		"fabric: {profile: roce-400g, name: f}\n"
		"devices: {leaf0-h1: {link: {retry: llr}}}\n"
		"traffic: [{kind: incast, op: write, fanin: 1, target: 1, size: 1MiB}]\n"
		"run: {until: 10ms}\n";
	const struct wf_device *leaf;
	struct scen s;

	(void)state;
	load(&s, 1, text);
	scen_build(&s, "f", 1);
	leaf = scen_device(&s, "leaf0");
	for (unsigned q = 0; q < leaf->n_queues; q++) {
		uint32_t without = wf_device_lane(leaf, 0, q)->capacity;
		uint32_t with = wf_device_lane(leaf, 1, q)->capacity;

		/*
		 * 940 ns and a packet of 4174 B: 51.2 KB at 400 Gb/s; small packets take a cell
		 * each.
		 */
		if (without != 0)
			assert_in_range(with - without, 51200, 51200 * 3);
	}
	scen_fini(&s);
}

/* ---- width ---- */

/*
 * Half of the lanes is half of the rate, whatever rate the topology says, and may be so for a time.
 */
static void test_width(void **state)
{
	static const char text[] =
		"topology: {kind: leaf-spine, hosts: 8, radix: 8, host_rate: 200Gbps, fabric_rate: "
		"400Gbps}\n"
		"fabric:\n"
		"  - {profile: ib-ndr, name: width, devices: {h0-leaf0: {link: {width: 1/2}}, "
		"leaf0-spine0: {link: {width: 1/4}}}}\n"
		"  - {profile: ib-ndr, name: rate, devices: {h0-leaf0: {link: {rate: 100Gbps}}, "
		"leaf0-spine0: {link: {rate: 100Gbps}}}}\n"
		"  - {profile: ib-ndr, name: whole}\n"
		"traffic: [{kind: permutation, op: write, size: 4MB}]\n"
		"faults: [{on: leaf1-spine0, at: 50us, until: 100us, set: {link: {width: 1/16}}}]\n"
		"run: {until: 50ms}\n";
	const struct wf_port *port;
	struct wf_sim_counts width;
	wf_time end;
	struct scen s;

	(void)state;
	load(&s, 1, text);
	scen_run(&s, "width", 1);
	width = s.total;
	end = s.result->last_delivery;
	scen_run(&s, "rate", 1);
	assert_memory_equal(&width, &s.total, sizeof(width));
	assert_int_equal(s.result->last_delivery, end);
	scen_build(&s, "whole", 1);
	port = &scen_device(&s, "leaf1")->ports[scen_port_to(&s, "leaf1", "spine0")];
	assert_int_equal(port->rate, UINT64_C(400000000000));
	assert_int_equal(wf_sim_run_until(s.sim, 75 * WF_US, &end), 0);
	assert_int_equal(port->rate, UINT64_C(25000000000));
	assert_int_equal(wf_sim_run_until(s.sim, 125 * WF_US, &end), 0);
	assert_int_equal(port->rate, UINT64_C(400000000000));
	scen_fini(&s);
}

/* ---- all of it ---- */

/* On 1, 2 and 4 threads, with settings that change. */
static void test_same_on_threads(void **state)
{
	static const char text[] =
		"topology: {kind: leaf-spine, hosts: 32, radix: 16, host_rate: 100Gbps}\n"
		"fabric:\n"
		"  - {profile: roce-100g, name: roce, sender: {timeout: 100us}}\n"
		"  - {profile: ib-hdr, name: ib, sender: {timeout: 100us}}\n"
		"devices:\n"
		"  leaf0-spine*: {link: {fec: rs544x2, raw_ber: 1e-3}}\n"
		"  leaf1-spine*: {link: {fec: rs272, raw_ber: 1e-3, retry: llr, burst_ber: 3e-3, "
		"burst_every: 20us, burst_for: 5us}}\n"
		"  h9-leaf*: {link: {burst_ber: 1e-2, burst_every: 50us, burst_for: 2us}}\n"
		"  leaf2-spine*: {link: {fec: firecode, raw_ber: 1e-5, retry: llr, retry_max: 1, "
		"retry_buffer: 20KB}}\n"
		"traffic:\n"
		"  - {kind: permutation, op: write, size: 1MB}\n"
		"  - {kind: incast, op: write, fanin: 20, target: 3, size: 200KB}\n"
		"faults:\n"
		"  - {on: leaf1-spine0, at: 20us, until: 200us, fault: flap, every: 50us, for: "
		"10us}\n"
		"  - {on: leaf3-spine*, at: 30us, until: 300us, set: {link: {raw_ber: 2e-3, retry: "
		"llr}}}\n"
		"  - {on: leaf2-spine0, at: 40us, until: 80us, set: {link: {retry: none, width: "
		"1/4}}}\n"
		"run: {until: 3ms, reconverge: 10us}\n";
	static const char *const fabrics[] = { "roce", "ib" };
	struct scen s;

	(void)state;
	load(&s, 1, text);
	for (size_t f = 0; f < WF_ARRAY_SIZE(fabrics); f++) {
		scen_same(&s, fabrics[f]);
		assert_true(s.total.drops_error > 0 && s.total.link_retries > 100);
		assert_true(s.total.fec_uncorrected > 100);
		assert_true(s.total.fec_corrected > 1000);
	}
	scen_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fec_loses),      cmocka_unit_test(test_fec_chance),
		cmocka_unit_test(test_fec_counts),     cmocka_unit_test(test_no_fec),
		cmocka_unit_test(test_burst_time),     cmocka_unit_test(test_burst_runs),
		cmocka_unit_test(test_retry_time),     cmocka_unit_test(test_retry_gives_up),
		cmocka_unit_test(test_retry_rate),     cmocka_unit_test(test_retry_buffer),
		cmocka_unit_test(test_retry_lossless), cmocka_unit_test(test_retry_headroom),
		cmocka_unit_test(test_width),          cmocka_unit_test(test_same_on_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
