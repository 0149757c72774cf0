/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_slow_hosts.c - adapters whose receive buffer ends: what drains it, when they pause and when
 * they drop, what that does to others, faults that make them slow and then no longer, and how many
 * messages they can begin.
 */
#include "scen.h"

#define COUNTER(field) offsetof(struct wf_sim_counts, field)

/*
 * A full packet of the windowed sender on RoCE v2: Ethernet 14, IP 20, UDP 8, BTH 12, ICRC 4, FCS
 * 4.
 */
#define FULL (4096 + 62)
/* The same with preamble and gap at 100 Gb/s. */
#define WIRE ((FULL + 20) * 80)
/* 4096 bytes to memory at 20 Gb/s. */
#define DRAIN (4096 * 400)

/* One host of two sends to the other, whose adapter is slow in the ways of extra. */
static void load_pair(struct scen *s, const char *fabric, const char *extra, const char *traffic)
{
	char text[2048];

	snprintf(text, sizeof(text),
	         "topology: {kind: single, hosts: 2, host_rate: 100Gbps}\n"
	         "fabric: {profile: %s, name: f, cc: {algorithm: none}, sender: {window: 64MB}}\n"
	         "%s\n"
	         "traffic: [%s]\n"
	         "run: {until: 1s}\n",
	         fabric, extra, traffic);
	scen_load(s, text);
}

static const char one_flow[] = "{kind: incast, fanin: 1, target: 0, size: 4MiB}";
static const char one_write[] = "{kind: incast, op: write, fanin: 1, target: 0, size: 4MiB}";

/* When the last of 1024 packets came to host 0, set to nic, and was taken in. */
static wf_time last_of(const char *fabric, const char *traffic, const char *nic)
{
	char extra[256];
	struct scen s;
	wf_time last;

	snprintf(extra, sizeof(extra), "devices: {h0: {nic: {rx_full: pause, %s}}}", nic);
	load_pair(&s, fabric, extra, traffic);
	scen_run(&s, "f", 1);
	assert_int_equal(s.result->flows_done, 1);
	assert_int_equal(s.total.drops, 0);
	last = s.result->last_delivery;
	scen_fini(&s);
	return last;
}

/*
 * Packets come at 98 Gb/s of payload and leave one after another, so the last is in memory 1024
 * times what each takes after the first began to leave, to the picosecond, whatever flow control
 * does in between: it never lets the buffer run empty. So two ways to be slow differ by 1024 times
 * what they differ for one packet. 4096 bytes take 1,638,400 ps at 20 Gb/s, twice that at 10 Gb/s;
 * with an MPS of 256 bytes 16 TLPs of 24 bytes more, with 512 bytes 8 (Neugebauer et al., SIGCOMM
 * 2018: 4,480 and 4,288 bytes of PCIe for 4,096); a miss of the MTT takes nic.fetch, 450 ns.
 * 100,000 packets per second are 10 us each.
 */
static void test_drain(void **state)
{
	static const char *const fabrics[] = { "roce-100g", "ib-hdr" };
	static const char *const traffics[] = { one_flow, one_write };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		const char *fabric = fabrics[i / 2], *traffic = traffics[i % 2];
		wf_time base = last_of(fabric, traffic, "rx_rate: 20Gbps");

		assert_int_equal(last_of(fabric, traffic, "rx_rate: 10Gbps") - base, 1024 * DRAIN);
		assert_int_equal(last_of(fabric, traffic, "pcie: 20Gbps"), base);
		assert_int_equal(last_of(fabric, traffic, "rx_rate: 20Gbps, mtt_misses: 100%") -
		                         base,
		                 1024 * 450 * WF_NS);
		assert_int_equal(last_of(fabric, traffic, "rx_rate: 20Gbps, pcie_mps: 256") - base,
		                 1024 * 384 * 400);
		assert_int_equal(last_of(fabric, traffic, "rx_rate: 20Gbps, pcie_mps: 512") - base,
		                 1024 * 192 * 400);
		assert_int_equal(last_of(fabric, traffic, "rx_packets: 100000") - base,
		                 1024 * (10 * WF_US - DRAIN));
	}
}

/*
 * Of 10,000 packets with a chance of a miss of 1 in 4, 2,500 miss, give or take four standard
 * deviations of 43; the flow is later by 450 ns for each.
 */
static void test_some_misses(void **state)
{
	static const char flow[] = "{kind: incast, fanin: 1, target: 0, size: 40960000B}";
	wf_time base = last_of("roce-100g", flow, "rx_rate: 20Gbps");
	wf_time some = last_of("roce-100g", flow, "rx_rate: 20Gbps, mtt_misses: 25%");

	(void)state;
	assert_int_equal((some - base) % (450 * WF_NS), 0);
	assert_in_range((some - base) / (450 * WF_NS), 2500 - 4 * 43, 2500 + 4 * 43);
}

/*
 * PFC by hand. xoff is 100,000 bytes, xon 90,000. Packet k of a flow comes at (k - 1) x 334,240 ps
 * after the first, packet j has left at j x 1,638,400 ps: k - floor((k - 1) x 0.204) packets are
 * there. 25 of 4,158 bytes are more than xoff, so packet 30 has the pause sent, 9,692,960 ps after
 * the first came. It takes 84 bytes of wire and the way to the switch and its reaction until
 * nothing more begins; then what is on the way comes, and the buffer has its maximum. At 90,000
 * bytes, 21 packets, the sender is let go.
 */
static void test_pause_by_hand(void **state)
{
	struct wf_sim_counts h0, leaf;
	unsigned packets = 0;
	wf_time left, way;
	uint64_t most;
	struct scen s;

	(void)state;
	load_pair(&s, "roce-100g",
	          "devices: {h0: {nic: {rx_full: pause, rx_rate: 20Gbps, rx_xoff: 100000B, rx_xon: "
	          "90000B}}}",
	          one_flow);
	scen_run(&s, "f", 1);
	assert_int_equal(s.result->flows_done, 1);
	h0 = scen_port(&s, "h0", "leaf0", 3);
	leaf = scen_port(&s, "leaf0", "h0", 3);
	/*
	 * From the frame's first bit to the last packet's beginning: the reaction, 394 quanta of
	 * 512 bits at 100 Gb/s, counts from connector to connector; the cable of 3 m is 15 ns each
	 * way. The packet that has begun by then goes on, and comes with the link's PHY and the
	 * adapter's pipeline.
	 */
	way = 84 * 80 + 15 * WF_NS + 394 * 5120 + 15 * WF_NS + (120 + 300) * WF_NS;
	for (unsigned k = 30; (wf_time)(k - 30) * WIRE <= way + WIRE; k++)
		packets = k;
	left = (wf_time)(packets - 1) * WIRE / DRAIN;
	most = (uint64_t)(packets - (unsigned)left) * FULL;
	assert_in_range(h0.max_buffer_bytes, most - FULL, most + FULL);
	assert_true(h0.max_buffer_bytes > 100000 + 5 * FULL);
	/* Each pause is one frame that says stop: 335 us of quanta are never used up. */
	assert_int_equal(h0.pause_tx, leaf.pause_rx);
	assert_int_equal(h0.pausing_ps, leaf.paused_ps);
	assert_int_equal(h0.drops, 0);
	/*
	 * A cycle lets in what leaves in it: from the maximum down to 21 packets, and a way later
	 * back up. The 1024 packets of the flow leave in 1.678 ms, and 98 of 100 Gb/s minus 20 are
	 * too much: four fifths of the time it is paused.
	 */
	assert_in_range(leaf.paused_ps, 1024 * (uint64_t)DRAIN * 75 / 100,
	                1024 * (uint64_t)DRAIN * 82 / 100);
	scen_fini(&s);
}

/* What a buffer of so many bytes loses that pauses from 100,000 on. */
static uint64_t lost_with(unsigned bytes, uint64_t *most_p)
{
	char extra[256];
	uint64_t lost;
	struct scen s;

	snprintf(extra, sizeof(extra),
	         "devices: {h0: {nic: {rx_full: pause, rx_rate: 20Gbps, rx_buffer: %uB, "
	         "rx_xoff: 100000B}}}",
	         bytes);
	load_pair(&s, "roce-100g", extra, one_flow);
	scen_run(&s, "f", 1);
	lost = scen_port(&s, "h0", "leaf0", 3).drops_buffer;
	*most_p = scen_port(&s, "h0", "leaf0", 3).max_buffer_bytes;
	assert_int_equal(s.lossless_drops, lost);
	assert_int_equal(s.total.drops, lost);
	scen_fini(&s);
	return lost;
}

/*
 * A buffer that holds what comes after the pause loses nothing; with one byte less it does, in a
 * lossless class.
 */
static void test_too_little_room(void **state)
{
	uint64_t most, same;

	(void)state;
	assert_int_equal(lost_with(400000, &most), 0);
	assert_int_equal(lost_with((unsigned)most, &same), 0);
	assert_int_equal(same, most);
	assert_true(lost_with((unsigned)most - 1, &same) > 0);
}

/*
 * What nic.rx_xoff leaves by itself is enough, and not much too much: with packets of all sizes,
 * traffic the other way that pause frames have to wait for, and cables of 3 and 300 m. What was
 * needed is the most that was ever there, less xoff.
 */
static void test_room_by_itself(void **state)
{
	static const char *const size[] = { "4096B", "1000B", "100KB", "5000B" };

	(void)state;
	for (size_t i = 0; i < 16; i++) {
		const struct wf_intake *in;
		uint64_t most;
		char text[1024];
		struct scen s;

		snprintf(text, sizeof(text),
		         "topology: {kind: single, hosts: 3, host_rate: 100Gbps, cable: {host: "
		         "%s}}\n"
		         "fabric: {profile: roce-100g, name: f, cc: {algorithm: none}, mtu: %s,\n"
		         "  nic: {rx_full: pause, rx_rate: 5Gbps, rx_buffer: 400KB}}\n"
		         "traffic: [{kind: all-to-all, op: write, size: %s, repeat: %u}]\n"
		         "run: {until: 20ms}\n",
		         i % 2 == 0 ? "3m" : "300m", i / 2 % 2 == 0 ? "4096" : "1024", size[i / 4],
		         i / 4 == 2 ? 10 : 400);
		scen_load(&s, text);
		scen_run(&s, "f", 1);
		assert_int_equal(s.total.drops, 0);
		in = wf_endpoint_of_device(scen_device(&s, "h0"))->intake;
		most = scen_port(&s, "h0", "leaf0", 3).max_buffer_bytes;
		assert_true(most > in->xoff);
		assert_true(most - in->xoff <= in->needed);
		if (i / 4 == 2)
			assert_true(most - in->xoff + 4 * FULL > in->needed);
		scen_fini(&s);
	}
}

/*
 * An adapter that drops: a burst of 40 packets into 100,000 bytes, which hold 24. At 3.2768 Gb/s
 * each takes 10 us, so that packet 31, which comes 10.03 us after the first, finds one place: 15
 * are lost, no more and no fewer. Drained at 1 Mb/s, 16. The burst is over before anybody is told,
 * so that nothing comes twice.
 */
static void test_drop(void **state)
{
	static const struct {
		const char *rate;
		unsigned lost;
	} cases[] = { { "3276800000bps", 15 }, { "1Mbps", 16 } };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(cases); i++) {
		struct wf_sim_counts h0;
		char extra[256];
		struct scen s;
		wf_time end;

		snprintf(extra, sizeof(extra),
		         "devices: {h0: {nic: {rx_full: drop, rx_rate: %s, rx_buffer: 100000B}}}",
		         cases[i].rate);
		load_pair(&s, "roce-100g", extra,
		          "{kind: incast, fanin: 1, target: 0, size: 163840B}");
		scen_build(&s, "f", 1);
		assert_int_equal(wf_sim_run_until(s.sim, 18 * WF_US, &end), 0);
		scen_add_up(&s);
		h0 = scen_port(&s, "h0", "leaf0", 3);
		assert_int_equal(h0.drops_buffer, cases[i].lost);
		assert_int_equal(h0.max_buffer_bytes, 24 * FULL);
		assert_int_equal(h0.pause_tx, 0);
		assert_int_equal(s.lossless_drops, cases[i].lost);
		scen_fini(&s);
	}
}

/* A lossy class is dropped where a lossless one pauses, and each has a buffer of its own. */
static void test_lossy_class(void **state)
{
	struct wf_sim_counts lossy, lossless;
	struct scen s;

	(void)state;
	load_pair(&s, "roce-100g", "devices: {h0: {nic: {rx_full: pause, rx_rate: 20Gbps}}}",
	          "{kind: incast, fanin: 1, target: 0, size: 4MiB}, {kind: incast, fanin: 1, "
	          "target: 0, size: 4MiB, class: 0}");
	scen_run(&s, "f", 1);
	lossy = scen_port(&s, "h0", "leaf0", 0);
	lossless = scen_port(&s, "h0", "leaf0", 3);
	assert_int_equal(s.result->flows_done, 2);
	assert_true(lossy.drops_buffer > 0);
	assert_int_equal(lossy.pause_tx, 0);
	assert_true(lossy.max_buffer_bytes > WF_RX_BUFFER - FULL);
	assert_int_equal(lossless.drops, 0);
	assert_true(lossless.pause_tx > 0);
	assert_int_equal(s.lossless_drops, 0);
	scen_fini(&s);
}

/*
 * With credits the buffer of a VL is 64 KiB, and no more is ever there: nothing is lost. It is
 * nearly full while the adapter is slow, and empty in the end (scen_run() checks that all credits
 * are home).
 */
static void test_credits(void **state)
{
	struct wf_sim_counts h0;
	struct scen s;

	(void)state;
	load_pair(&s, "ib-hdr", "devices: {h0: {nic: {rx_full: pause, rx_rate: 20Gbps}}}",
	          one_write);
	scen_run(&s, "f", 1);
	assert_int_equal(s.result->flows_done, 1);
	assert_int_equal(s.total.drops, 0);
	h0 = scen_port(&s, "h0", "leaf0", 3);
	assert_in_range(h0.max_buffer_bytes, 65536 - 2 * 4200, 65536);
	assert_true(scen_port(&s, "leaf0", "h0", 3).credit_wait_ps > 1200 * (uint64_t)WF_US);
	scen_fini(&s);
}

/* Writes of 16 MiB to h0, or from it, and PCIe that has 10 Gb/s for 200 us. */
static wf_time last_with(const char *fabric, bool to, const char *fault)
{
	char extra[512], traffic[128];
	struct scen s;
	wf_time last;

	snprintf(extra, sizeof(extra), "devices: {h0: {nic: {rx_full: pause}}}\n%s", fault);
	snprintf(traffic, sizeof(traffic),
	         "{kind: incast, op: write, fanin: 1, target: %u, size: 16MiB}", to ? 0 : 1);
	load_pair(&s, fabric, extra, traffic);
	scen_run(&s, "f", 1);
	assert_int_equal(s.result->flows_done, 1);
	assert_int_equal(s.total.drops, 0);
	last = s.result->last_delivery;
	scen_fini(&s);
	return last;
}

/*
 * PCIe degrades and is well again. In 200 us at 10 Gb/s it brings 250 KB in place of 2.45 MB: what
 * is missing takes the line 179.6 us. Sending is late by that, but for the packet that was being
 * read, 3.3 us at 10 Gb/s. Receiving is late by less, as the line fills the buffer meanwhile: 164
 * to 221 KB on RoCE, 13 to 18 us, less the 2.5 us that it takes to let the sender go; 64 KiB on
 * InfiniBand, 5 us.
 */
static void test_for_a_while(void **state)
{
	static const char fault[] = "faults: [{on: h0, at: 100us, until: 300us, set: {nic: {pcie: "
				    "10Gbps}}}]";

	(void)state;
	assert_in_range(last_with("roce-100g", false, fault) - last_with("roce-100g", false, ""),
	                178 * WF_US, 184 * WF_US);
	assert_in_range(last_with("roce-100g", true, fault) - last_with("roce-100g", true, ""),
	                (180 - 18) * WF_US, (180 - 13 + 2) * WF_US);
	assert_in_range(last_with("ib-hdr", false, fault) - last_with("ib-hdr", false, ""),
	                178 * WF_US, 184 * WF_US);
	assert_in_range(last_with("ib-hdr", true, fault) - last_with("ib-hdr", true, ""),
	                (180 - 7) * WF_US, (180 - 3) * WF_US);
}

/*
 * A packet that is on its way to memory goes on at the new rate: at 1 Mb/s it would take 32.8 ms.
 */
static void test_head_is_rescaled(void **state)
{
	static const char fault[] = "faults: [{on: h0, at: 100us, until: 300us, set: {nic: {pcie: "
				    "1Mbps}}}]";

	(void)state;
	assert_in_range(last_with("roce-100g", true, fault) - last_with("roce-100g", true, ""),
	                (200 - 18) * WF_US, (200 - 12) * WF_US);
}

/* Hosts that send to h5 besides a permutation; extra is what goes wrong. */
static void load_victims(struct scen *s, const char *extra)
{
	char text[2048];

	snprintf(text, sizeof(text),
	         "topology: {kind: leaf-spine, hosts: 32, radix: 16, host_rate: 100Gbps}\n"
	         "fabric:\n"
	         "  - {profile: roce-100g, name: roce, cc: {algorithm: none}}\n"
	         "  - {profile: ib-hdr, name: ib, cc: {algorithm: none}}\n"
	         "  - {profile: roce-100g, name: drops, cc: {algorithm: none},\n"
	         "     devices: {h5: {nic: {rx_full: drop, rx_rate: 10Gbps}}}}\n"
	         "traffic:\n"
	         "  - {kind: shift, op: write, distance: 8, size: 4MB}\n"
	         "  - {kind: incast, op: write, fanin: 12, target: 5, size: 2MB}\n"
	         "%s\n"
	         "run: {until: 30ms}\n",
	         extra);
	scen_load(s, text);
}

/* The mean completion of the 31 flows that h5 has nothing to do with, us. */
static uint64_t others(const struct scen *s)
{
	const struct wf_flow_list *flows = &s->scenario.flows;
	uint64_t sum = 0, n = 0;

	for (size_t i = 0; i < flows->n; i++) {
		if (flows->flow[i].dst == 5 || flows->flow[i].src == 5)
			continue;
		assert_true(wf_sim_flow_end(s->sim, i) != WF_TIME_NEVER);
		sum += (uint64_t)(wf_sim_flow_end(s->sim, i) - wf_sim_flow_start(s->sim, i));
		n++;
	}
	return sum / n / (uint64_t)WF_US;
}

/*
 * Victims: h5 takes in 10 Gb/s, and flows that it has nothing to do with take more than three times
 * as long, on RoCE (four times) and on InfiniBand (nine times). With an adapter that drops they
 * take 1.4 times as long, because what is sent again crowds them.
 */
static void test_victims(void **state)
{
	static const char slow[] =
		"faults: [{on: h5, at: 0us, fault: slow-receiver, rate: 10Gbps}]";
	static const char *const fabrics[] = { "roce", "ib" };
	struct scen well, ill;

	(void)state;
	load_victims(&well, "");
	load_victims(&ill, slow);
	for (size_t i = 0; i < 2; i++) {
		scen_run(&well, fabrics[i], 1);
		scen_run(&ill, fabrics[i], 1);
		assert_int_equal(ill.total.drops, 0);
		assert_int_equal(ill.result->flows_done, 44);
		assert_true(others(&ill) > others(&well) * 3);
	}
	/* The flows to h5 go back again and again; nobody waits for them here. */
	scen_run(&well, "roce", 1);
	scen_run(&ill, "drops", 1);
	assert_true(ill.lossless_drops > 1000);
	assert_int_equal(scen_port(&ill, "h5", "leaf0", 3).drops_buffer, ill.total.drops);
	assert_true(others(&ill) * 2 < others(&well) * 3);
	scen_fini(&ill);
	scen_fini(&well);
}

static void same(const struct scen *a, const struct scen *b)
{
	assert_memory_equal(a->result->queue, b->result->queue, sizeof(a->result->queue));
	assert_int_equal(a->result->end, b->result->end);
	assert_int_equal(a->result->last_delivery, b->result->last_delivery);
	assert_int_equal(a->result->hops, b->result->hops);
	assert_int_equal(a->result->packets_sent, b->result->packets_sent);
}

/*
 * The word for it is the settings that it stands for, and of two that overlap the slower counts.
 * With PFC a device whose link is set to something else says its pauses again, so that there are
 * more frames; to the picosecond it is the same with credits.
 */
static void test_words(void **state)
{
	static const char *const pairs[][2] = {
		{ "faults: [{on: h5, at: 50us, until: 400us, fault: slow-receiver, rate: 10Gbps}]",
		  "faults: [{on: h5, at: 50us, until: 400us, set: {nic: {rx_full: pause, rx_rate: "
		  "10Gbps}}}]" },
		{ "faults: [{on: h5, at: 50us, until: 400us, fault: slow-receiver, rate: 20Gbps},\n"
		  "  {on: h5, at: 100us, until: 200us, fault: slow-receiver, rate: 10Gbps},\n"
		  "  {on: h5, at: 150us, until: 300us, fault: slow-receiver, rate: 10Gbps}]",
		  "faults: [{on: h5, at: 50us, until: 400us, set: {nic: {rx_full: pause, rx_rate: "
		  "20Gbps}}},\n"
		  "  {on: h5, at: 100us, until: 300us, set: {nic: {rx_rate: 10Gbps}}}]" },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(pairs); i++) {
		struct wf_sim_counts a, b;
		struct scen word, set;

		load_victims(&word, pairs[i][0]);
		load_victims(&set, pairs[i][1]);
		scen_run(&word, "ib", 1);
		scen_run(&set, "ib", 1);
		same(&word, &set);
		assert_true(scen_port(&word, "h5", "leaf0", 3).max_buffer_bytes > 50000);
		scen_run(&word, "roce", 1);
		scen_run(&set, "roce", 1);
		a = scen_port(&word, "h5", "leaf0", 3);
		b = scen_port(&set, "h5", "leaf0", 3);
		assert_true(a.pause_tx > 5);
		assert_in_range(b.pause_tx, a.pause_tx, a.pause_tx + 4);
		assert_in_range(b.pausing_ps, a.pausing_ps - WF_US, a.pausing_ps + WF_US);
		scen_fini(&word);
		scen_fini(&set);
	}
}

/*
 * The same bytes on 1, 2 and 4 threads: slow, dropping, with misses, with a storm and a link that
 * goes down in between.
 */
static void test_threads(void **state)
{
	static const char extra[] =
		"devices: {h5: {nic: {rx_full: pause, rx_rate: 10Gbps, mtt_misses: 10%}}, "
		"h9: {nic: {pcie_mps: 128B}}, h2: {nic: {qp_messages: 1000}}}\n"
		"faults:\n"
		"  - {on: h5, at: 100us, until: 200us, fault: pause-storm}\n"
		"  - {on: h5-leaf0, at: 150us, until: 180us, fault: down}\n"
		"  - {on: h9, at: 50us, until: 300us, fault: slow-receiver, rate: 20Gbps}\n"
		"  - {on: h9, at: 250us, until: 400us, fault: pause-storm}\n";
	static const char *const fabrics[] = { "roce", "ib" };
	struct scen s;

	(void)state;
	load_victims(&s, extra);
	for (size_t i = 0; i < 2; i++) {
		scen_same(&s, fabrics[i]);
		assert_int_equal(s.total.drops, s.total.drops_down);
	}
	scen_fini(&s);
}

/*
 * InfiniBand's congestion control and a slow host. Its leaf's queue waits for credits, so that it
 * is a victim of the host, and does not mark; with the hosts' ports in the victim mask it does, as
 * annex A10 has it for adapters that run out of buffer.
 */
static void test_victim_mask(void **state)
{
	static const char text[] =
		"topology: {kind: single, hosts: 4, host_rate: 100Gbps}\n"
		"fabric:\n"
		"  - {profile: ib-hdr, name: none, fecn: {threshold: 8, victim_mask: none}}\n"
		"  - {profile: ib-hdr, name: hosts, fecn: {threshold: 8, victim_mask: hosts}}\n"
		"devices: {h0: {nic: {rx_full: pause, rx_rate: 20Gbps}}}\n"
		"traffic: [{kind: incast, op: write, fanin: 3, target: 0, size: 2MB}]\n"
		"run: {until: 20ms}\n";
	struct scen s;

	(void)state;
	scen_load(&s, text);
	scen_run(&s, "none", 1);
	assert_int_equal(s.total.drops, 0);
	assert_true(s.total.ecn_marked < 100);
	scen_run(&s, "hosts", 1);
	assert_true(s.total.ecn_marked > 500);
	scen_fini(&s);
}

/*
 * An adapter's own watchdog sees pauses that do not end. At 20 Gb/s each ends within a microsecond
 * or two, which is no storm. At 100 Mb/s a packet leaves in 328 us: after 100 us (100 ms at 1/1000)
 * the adapter pauses nobody any more, and what finds no room is dropped in the lossless class.
 */
static void test_own_watchdog(void **state)
{
	static const char *const rate[] = { "20Gbps", "100Mbps" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct wf_sim_counts h0;
		char extra[256];
		struct scen s;
		wf_time end;

		snprintf(
			extra, sizeof(extra),
			"devices: {h0: {watchdog: {adapter: connectx-auto, adapter_detect: 100us}, "
			"nic: {rx_full: pause, rx_rate: %s}}}",
			rate[i]);
		load_pair(&s, "roce-100g", extra, one_flow);
		scen_build(&s, "f", 1);
		assert_int_equal(wf_sim_run_until(s.sim, 3 * WF_MS, &end), 0);
		scen_add_up(&s);
		h0 = scen_port(&s, "h0", "leaf0", 3);
		assert_int_equal(h0.storm_errors > 0, i == 1);
		assert_int_equal(h0.drops_buffer > 100, i == 1);
		assert_int_equal(s.lossless_drops, h0.drops_buffer);
		scen_fini(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drain),          cmocka_unit_test(test_some_misses),
		cmocka_unit_test(test_pause_by_hand),  cmocka_unit_test(test_too_little_room),
		cmocka_unit_test(test_room_by_itself), cmocka_unit_test(test_drop),
		cmocka_unit_test(test_lossy_class),    cmocka_unit_test(test_credits),
		cmocka_unit_test(test_for_a_while),    cmocka_unit_test(test_head_is_rescaled),
		cmocka_unit_test(test_victims),        cmocka_unit_test(test_words),
		cmocka_unit_test(test_threads),        cmocka_unit_test(test_victim_mask),
		cmocka_unit_test(test_own_watchdog),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
