/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_record_sim.c - which events of a simulation are recorded.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run/record_sim.h"

static void test_events(void **state)
{
	struct wf_err err = { "" };
	uint32_t events = 0;

	(void)state;
	assert_int_equal(wf_record_events_parse("all", &events, &err), 0);
	assert_int_equal(events, (1u << WF_INCIDENTS) - 1);
	assert_int_equal(wf_record_events_parse("none", &events, &err), 0);
	assert_int_equal(events, 0);
	assert_int_equal(wf_record_events_parse("drop,link_up", &events, &err), 0);
	assert_int_equal(events, 1u << WF_INCIDENT_DROP | 1u << WF_INCIDENT_LINK_UP);
	assert_int_equal(wf_record_events_parse("drop,", &events, &err), -EINVAL);
	assert_int_equal(wf_record_events_parse("", &events, &err), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
