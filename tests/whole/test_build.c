/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios: building a simulation when memory runs out, at each place where it can. */
#include "rig.h"

#include <errno.h>

#include "mem_fail.h"

/* Nobody is outside: nothing comes, nothing is kept. */
static bool nobody_next(void *arg, uint32_t host, uint32_t held, wf_time now, struct wf_packet *pkt,
                        wf_time *again_p)
{
	(void)arg;
	(void)host;
	(void)held;
	(void)now;
	(void)pkt;
	(void)again_p;
	return false;
}

static void nobody_deliver(void *arg, uint32_t host, const struct wf_packet *pkt, wf_time now)
{
	(void)arg;
	(void)host;
	(void)pkt;
	(void)now;
}

static void nobody_lost(void *arg, const struct wf_packet *pkt)
{
	(void)arg;
	(void)pkt;
}

static bool nobody_goes_on(void *arg, wf_time now)
{
	(void)arg;
	(void)now;
	return true;
}

static const struct wf_gate_ops nobody = {
	.next = nobody_next,
	.deliver = nobody_deliver,
	.lost = nobody_lost,
	.go_on = nobody_goes_on,
};

/* Every kind of host, on both link layers, with routes, telemetry and faults. */
static void init_kind(struct rig *r, unsigned kind)
{
	rig_init(r, kind % 2 == 0 ? "pfc" : "credit", "leaf-spine", 8);
	rig_topo(r, "radix", "8");
	r->faults[r->n_faults++] = (struct wf_sim_fault){ .at = WF_US, .on = true, .what = 0 };
	if (kind / 2 == 2) {
		r->gate = &nobody;
		return;
	}
	if (kind == 0)
		rig_set(r, "switch.telemetry", "pint");
	rig_shift(r, 8, 3, 20000);
	for (size_t i = 0; i < r->flows.n; i++)
		r->flows.flow[i].op = kind / 2 == 0 ? WF_FLOW_WINDOW : WF_FLOW_WRITE;
}

static void test_each_allocation_fails_once(void **state)
{
	(void)state;
	for (unsigned kind = 0; kind < 6; kind++) {
		struct wf_err err = { "" };
		int ret = -ENOMEM;
		struct rig r;
		long n;

		init_kind(&r, kind);
		for (n = 0; ret == -ENOMEM && n < 1000; n++) {
			struct mem_fail mem = mem_fail_after(n);

			r.mem = &mem.mem;
			ret = rig_build(&r, 1, &err);
			if (ret == 0)
				rig_again(&r);
			assert_null(r.sim);
			assert_int_equal(mem.held, 0);
		}
		if (ret != 0)
			fail_msg("kind %u: %d, %s", kind, ret, err.text);
		/* There are some: else nothing was tested. */
		assert_true(n > 8);
		rig_fini(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_allocation_fails_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
