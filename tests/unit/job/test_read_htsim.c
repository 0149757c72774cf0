/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of job/read_htsim.c. */
#include "job/dump.h"
#include "job/read.h"

static int read_text(const char *text, struct wf_schedule **schedule_p, struct wf_err *err)
{
	*schedule_p = NULL;
	memset(err, 0, sizeof(*err));
	return wf_read_htsim(text, strlen(text), "file", wf_mem_heap(), schedule_p, err);
}

static struct wf_schedule *read_good(const char *text)
{
	struct wf_schedule *schedule;
	struct wf_err err;

	if (read_text(text, &schedule, &err) != 0)
		fail_msg("%s", err.text);
	return schedule;
}

static void test_flows(void **state)
{
	struct wf_schedule *s = read_good("Nodes 3\nConnections 3 # as many\n"
	                                  "0->1 start 0 size 1000\n"
	                                  "0->2 id 7 start 2500000.25 size 5 prio 3\n"
	                                  "0->1 size 77 start 1000\n");

	(void)state;
	assert_int_equal(s->n_ranks, 3);
	assert_rank(s, 0,
	            "send 1000 to 1 tag 0; calc 2500; calc 1; send 5 to 2 tag 1 after 1; "
	            "send 77 to 1 tag 2 via 1 after 2; ");
	assert_rank(s, 1, "recv 1000 from 0 tag 0; recv 77 from 0 tag 2 via 1; ");
	assert_rank(s, 2, "recv 5 from 0 tag 1; ");
	wf_schedule_destroy(s);
}

/* What ends on the node that waits costs nothing; what ends elsewhere is told by a message. */
static void test_triggers(void **state)
{
	struct wf_schedule *s = read_good("Nodes 4\nConnections 3\nTriggers 2\n"
	                                  "0->1 id 1 start 0 size 10 recv_done_trigger 5\n"
	                                  "1->2 id 2 trigger 5 size 20 send_done_trigger 9\n"
	                                  "3->0 id 3 trigger 9 size 30\n"
	                                  "trigger id 9 multishot\ntrigger id 5 oneshot\n");

	(void)state;
	assert_rank(s, 0, "send 10 to 1 tag 0; recv 30 from 3 tag 2; ");
	assert_rank(s, 1,
	            "recv 10 from 0 tag 0; calc 0 after 0; send 20 to 2 tag 1 after 1; "
	            "send 0 to 3 tag 5 after 2; ");
	assert_rank(s, 3, "recv 0 from 1 tag 5; calc 0 after 0; send 30 to 0 tag 2 after 1; ");
	wf_schedule_destroy(s);
}

static void test_barrier(void **state)
{
	struct wf_schedule *s = read_good("Nodes 3\nConnections 4\nTriggers 1\n"
	                                  "0->1 id 1 start 0 size 1 send_done_trigger 1\n"
	                                  "1->2 id 2 start 0 size 2 send_done_trigger 1\n"
	                                  "0->2 id 3 trigger 1 size 3\n"
	                                  "1->0 id 4 trigger 1 size 4\n"
	                                  "trigger id 1 barrier count 2\n");

	(void)state;
	assert_rank(s, 0,
	            "send 1 to 1 tag 0; recv 4 from 1 tag 3; recv 0 from 1 tag 5; "
	            "calc 0 after 0 2; send 3 to 2 tag 2 after 3; send 0 to 1 tag 7 after 3; ");
	assert_rank(s, 1,
	            "recv 1 from 0 tag 0; send 2 to 2 tag 1; recv 0 from 0 tag 7; "
	            "send 0 to 0 tag 5 after 1; send 4 to 0 tag 3 after 2; ");
	wf_schedule_destroy(s);
}

#define N "Nodes 4\nConnections 1\n"
#define T "Nodes 4\nConnections 2\nTriggers 1\n"

static const struct {
	const char *text;
	const char *want;
} bad[] = {
	{ "", "file:1: Nodes is missing" },
	{ "Nodes 0\n", "the number of nodes is \"0\"" },
	{ "Connections 1\n0->1 start 0 size 1\n", "Nodes is missing" },
	{ "Nodes 4\nConnections 100000000\n", "Connections is \"100000000\"" },
	{ N, "the file ends after 0 of 1 connections and 0 of 0 triggers" },
	{ N "0->4 start 0 size 1\n", "file:3:4: the destination is \"4\"" },
	{ N "x->1 start 0 size 1\n", "file:3:1: the source is \"x\"" },
	{ N "1-> start 0 size 1\n", "file:3:4: the destination is \"\"" },
	{ N "1->1 start 0 size 1\n", "file:3:1: the connection goes from node 1 to itself" },
	{ N "0->1 start 0\n", "file:3: the connection has no size" },
	{ N "0->1 size 5\n", "neither a start nor a trigger" },
	{ N "0->1 size 5 start 1 trigger 2\n", "a start and a trigger" },
	{ N "0->1 size 0 start 1\n", "file:3:11: the size is \"0\"" },
	{ N "0->1 size 1 start -1\n", "the start in ps is \"-1\"" },
	{ N "0->1 weight 1\n", "file:3:6: \"weight\" is unknown; start, size" },
	{ N "0->1 start 0 size 1\n0->2 start 0 size 1\n", "more connections than the 1" },
	{ N "0->1 start 0 size 1\ntrigger id 1 oneshot\n", "more triggers than the 0" },
	{ N "arrow 0 1\n", "\"arrow\" is neither a connection (1->2) nor a trigger" },
	{ N "0->1 size 1 trigger 3\n", "file:3: there is no trigger with the id 3" },
	{ "Nodes 4\nFailures 1\n", "failures are not read from here" },
	{ T "0->1 size 1 trigger 3\n0->1 size 1 start 0\ntrigger id 3 oneshot\n",
	  "file:6: nothing fires the trigger" },
	{ T "0->1 size 1 trigger 3\n0->1 size 1 start 0 send_done_trigger 3 recv_done_trigger 3\n"
	    "trigger id 3 oneshot\n",
	  "2 connections fire the trigger" },
	{ T "0->1 size 1 trigger 3\n0->1 size 1 start 0 send_done_trigger 3\n"
	    "trigger id 3 barrier count 2\n",
	  "the barrier counts to 2 but 1 connections fire it" },
	{ T
	  "0->1 size 1 trigger 3 send_done_trigger 3\n0->1 size 1 start 0\ntrigger id 3 oneshot\n",
	  "waits for one that waits for it" },
	{ T "0->1 size 1 start 0\n0->1 size 1 start 0\ntrigger id 3\n", "the trigger has no kind" },
	{ T "0->1 size 1 start 0\n0->1 size 1 start 0\ntrigger oneshot\n",
	  "the trigger has no id" },
	{ T "0->1 size 1 start 0\ntrigger id 3 twoshot\n", "file:5:14: \"twoshot\" is unknown" },
	{ "Nodes 2\nTriggers 2\ntrigger id 3 oneshot\ntrigger id 3 oneshot\n",
	  "trigger 3 is there a second time" },
};

static void test_bad(void **state)
{
	struct wf_schedule *schedule;
	struct wf_err err;

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(bad); i++) {
		assert_int_equal(read_text(bad[i].text, &schedule, &err), -22);
		if (strstr(err.text, bad[i].want) == NULL)
			fail_msg("%s\nhas the message\n%s\nnot\n%s", bad[i].text, err.text,
			         bad[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flows),
		cmocka_unit_test(test_triggers),
		cmocka_unit_test(test_barrier),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
