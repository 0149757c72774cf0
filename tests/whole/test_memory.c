/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scenarios: memory that ends at any point ends building or running with an error, and no sooner.
 */
#include "rig.h"

#include <errno.h>

#define HOSTS 12

static void make(struct rig *r, const char *layer, enum wf_flow_op op)
{
	rig_init(r, layer, "leaf-spine", HOSTS);
	rig_set(r, "buffer.size", "6MB");
	rig_set(r, "switch.telemetry", "int");
	rig_set(r, "link.ber", "1e-8");
	rig_set(r, "sender.timeout", "100us");
	rig_incast(r, HOSTS - 2, 5, 400000);
	rig_shift(r, HOSTS, 5, 400000);
	for (size_t i = 0; i < r->flows.n; i++)
		r->flows.flow[i].op = (uint8_t)op;
	r->faults[0] = (struct wf_sim_fault){ .at = 3 * WF_US, .what = 14, .on = true };
	r->faults[1] = (struct wf_sim_fault){ .at = 9 * WF_US, .what = 14, .on = false };
	r->n_faults = 2;
	r->reconverge = 2 * WF_US;
}

/* One that has no room for what it needs ends, and says so. *ran_p counts those that ran. */
static int try(struct rig *r, unsigned threads, unsigned *ran_p)
{
	struct wf_err err = { "" };
	int ret = rig_build(r, threads, &err);

	if (ret == 0) {
		++*ran_p;
		ret = wf_sim_run(r->sim, NULL, NULL);
		rig_result(r); /* what there is can be looked at */
		rig_again(r);
	}
	return ret;
}

static void test_memory_ends(void **state)
{
	static const struct {
		const char *layer;
		enum wf_flow_op op;
		unsigned threads;
	} kinds[] = {
		{ "credit", WF_FLOW_WRITE, 1 },
		{ "pfc", WF_FLOW_READ, 1 },
		{ "none", WF_FLOW_WINDOW, 1 },
		{ "pfc", WF_FLOW_SEND, 2 },
	};

	(void)state;
	for (unsigned k = 0; k < WF_ARRAY_SIZE(kinds); k++) {
		unsigned ran = 0, went = 0;
		struct rig r;

		make(&r, kinds[k].layer, kinds[k].op);
		/* Small steps once it is built: then it is the run that needs more. */
		for (size_t limit = 4096; went<3; limit += ran> 0 ? 700 : limit / 32) {
			int ret;

			r.max_memory = limit;
			ret = try(&r, kinds[k].threads, &ran);
			assert_true(ret == 0 || ret == -ENOMEM);
			went = ret == 0 ? went + 1 : 0;
		}
		printf("%s: %u of %u runs ended for want of memory\n", kinds[k].layer, ran - 3,
		       ran);
		assert_true(ran > 10);
		rig_fini(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
