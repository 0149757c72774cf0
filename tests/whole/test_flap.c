/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scenarios: links go down and come back, for less time than a packet takes and for more. Credits
 * are neither lost nor doubled, buffers hold, and nobody stays stopped.
 */
/* ctest: tsan=*threads* */
#include "rig.h"

#include "base/rng.h"

static void flap(struct rig *r, uint32_t link, wf_time down, wf_time up)
{
	assert_true(r->n_faults + 2 <= RIG_FAULTS && down < up);
	r->faults[r->n_faults++] = (struct wf_sim_fault){ .at = down, .what = link, .on = true };
	r->faults[r->n_faults++] = (struct wf_sim_fault){ .at = up, .what = link, .on = false };
}

/*
 * A packet of 4 KiB takes 3.3 us at 10 Gb/s, and the link is down for 0.2 us of it, again and
 * again. The packet was sent before and arrives after: it is lost, and the receiver's buffer, which
 * was promised anew, never holds more than it has room for.
 */
static void test_flaps_within_a_packet(void **state)
{
	static const char *const buffer[] = { "16KiB", "32KiB", "128KiB" };

	(void)state;
	for (unsigned i = 0; i < WF_ARRAY_SIZE(buffer); i++) {
		struct rig r;

		rig_init(&r, "credit", "single", 3);
		rig_topo(&r, "host_rate", "10Gbps");
		rig_set(&r, "vl.buffer", buffer[i]);
		rig_set(&r, "switch.cut_through", "false");
		rig_set(&r, "sender.timeout", "50us");
		rig_incast(&r, 2, 0, 2000000);
		for (unsigned k = 0; k < 60; k++)
			flap(&r, 1, 500 * WF_US + k * 37300 * WF_NS,
			     500200 * WF_NS + k * 37300 * WF_NS);
		r.reconverge = WF_US;
		rig_run(&r, 1); /* checks that no buffer ever held more than its size */
		assert_true(r.result->finished);
		assert_in_range(rig_queue(&r, 3)->max_buffer_bytes, 4096, r.fabric.vl_buffer);
		/* What was on the wire, which is one packet or an acknowledgement, or nothing. */
		assert_in_range(rig_queue(&r, 3)->drops_down, 10, 120);
		rig_drain(&r);
		rig_fini(&r);
	}
}

/* From 10 ns to 20 us, each length of time as often as its double. */
static wf_time some_time(uint64_t key, uint32_t *n)
{
	wf_time base = (wf_time)(10 * WF_NS) << wf_rand_below(wf_rand64(key, (*n)++), 11);

	return base + (wf_time)wf_rand_below(wf_rand64(key, (*n)++), (uint32_t)base);
}

/* Flaps of any link, at any time in the first 300 us, of any length, until there are enough. */
static void flap_at_random(struct rig *r, uint64_t seed, uint32_t n_links)
{
	uint64_t key = wf_rand_key(seed, 77, 0);
	uint32_t n = 0;

	for (uint32_t link = 0; link < n_links; link++) {
		wf_time at = 2 * WF_US + some_time(key, &n);

		while (at < 300 * WF_US && r->n_faults + 2 * (n_links - link) <= RIG_FAULTS) {
			wf_time up = at + some_time(key, &n);

			flap(r, link, at, up);
			at = up + 2 * some_time(key, &n);
		}
	}
}

/* Runs it; what it came to is in same. */
static void run_at_random(const char *layer, bool cut, const char *kind, unsigned hosts,
                          uint64_t seed, unsigned threads, struct same *same)
{
	struct rig r;

	rig_init(&r, layer, kind, hosts);
	rig_topo(&r, "host_rate", "100Gbps");
	if (strcmp(kind, "single") != 0)
		rig_topo(&r, "radix", "4");
	rig_set(&r, "switch.cut_through", cut ? "true" : "false");
	rig_set(&r, "sender.timeout", "60us");
	if (strcmp(layer, "credit") == 0) {
		rig_set(&r, "vl.buffer", "16KiB");
	} else {
		rig_set(&r, "buffer.size", "2MB");
		rig_set(&r, "buffer.alpha", "1/16");
	}
	r.reconverge = 3 * WF_US;
	r.seed = seed;
	rig_incast(&r, hosts - 1, 0, 300000);
	rig_shift(&r, hosts, 1, 300000);
	flap_at_random(&r, seed, strcmp(kind, "single") == 0 ? hosts : 2 * hosts);
	rig_run(&r, threads);
	assert_true(r.result->finished);
	assert_int_equal(r.result->bytes_delivered, (2 * hosts - 1) * UINT64_C(300000));
	/* Routes that are missing are those of links that are down, or were a moment ago. */
	assert_true(rig_queue(&r, 3)->drops_down > 0);
	assert_int_equal(rig_queue(&r, 3)->drops_down, rig_queue(&r, 3)->drops);
	same_take(r.sim, 0, same);
	rig_drain(&r); /* and that credits are home, buffers empty and nobody stopped */
	rig_fini(&r);
}

static void test_flaps_at_random(void **state)
{
	static const char *const layer[] = { "credit", "pfc" };
	static struct same same;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		for (unsigned cut = 0; cut < 2; cut++) {
			for (uint64_t seed = 1; seed <= 5; seed++) {
				run_at_random(layer[i], cut, "single", 4, seed, 1, &same);
				run_at_random(layer[i], cut, "leaf-spine", 8, seed, 1, &same);
			}
		}
	}
}

static void test_flaps_on_threads(void **state)
{
	static const char *const layer[] = { "credit", "pfc" };
	static struct same one, three;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		run_at_random(layer[i], true, "leaf-spine", 8, 7, 1, &one);
		run_at_random(layer[i], true, "leaf-spine", 8, 7, 3, &three);
		same_check(&one, &three);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flaps_within_a_packet),
		cmocka_unit_test(test_flaps_at_random),
		cmocka_unit_test(test_flaps_on_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
