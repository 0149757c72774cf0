/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of job/read_goal.c and, through it, of job/trace.c. */
#include "job/dump.h"
#include "job/read.h"
#include "mem_fail.h"

static int read_text(const char *text, struct wf_schedule **schedule_p, struct wf_err *err)
{
	*schedule_p = NULL;
	memset(err, 0, sizeof(*err));
	return wf_read_goal(text, strlen(text), "file", wf_mem_heap(), schedule_p, err);
}

static struct wf_schedule *read_good(const char *text)
{
	struct wf_schedule *schedule;
	struct wf_err err;

	if (read_text(text, &schedule, &err) != 0)
		fail_msg("%s", err.text);
	return schedule;
}

/* Labels, both kinds of dependencies, attributes, comments, an order that is not the text's. */
static void test_language(void **state)
{
	struct wf_schedule *s = read_good("/* two\n ranks */ num_ranks 2\r\n\n"
	                                  "rank 0 { // one\n"
	                                  "l2: send 10b to 1 tag 7 cpu 3 nic 2\n"
	                                  "l1:calc 100 cpu 1 /* c */\n"
	                                  "\tl2 requires l1\n"
	                                  "l3: recv 0 b from 1\n"
	                                  "l3 irequires l2\n"
	                                  "calc 5\n"
	                                  "}\n"
	                                  "rank 1 {\nrecv 99b from 0 tag 7 nic 2\n"
	                                  "send 0b to 0 }");

	(void)state;
	assert_int_equal(s->n_ranks, 2);
	assert_rank(s, 0,
	            "calc 100 on 1; calc 5 on 0; send 10 to 1 tag 7 via 2 after 0; "
	            "calc 0 after 2s; recv 0 from 1 tag 0; calc 0 after 3 4; ");
	/* A receive has the size of its send. */
	assert_rank(s, 1, "recv 10 from 0 tag 7 via 2; send 0 to 0 tag 0; ");
	wf_schedule_destroy(s);
}

/* A receive is there from the start; what waits for it waits for what it waits for as well. */
static void test_receives(void **state)
{
	struct wf_schedule *s = read_good("num_ranks 2\nrank 0 {\na: calc 1\nr: recv 5b from 1\n"
	                                  "r requires a\nb: calc 2\nb requires r\nc: calc 3\n"
	                                  "c irequires r\n}\nrank 1 {\nsend 5b to 0\n}\n");

	(void)state;
	assert_rank(s, 0,
	            "calc 1 on 0; calc 0 after 0; recv 5 from 1 tag 0; calc 0 after 1 2; "
	            "calc 2 on 0 after 3; calc 3 on 0 after 1; ");
	wf_schedule_destroy(s);
}

/* More dependencies than an operation has room for. */
static void test_joins(void **state)
{
	struct wf_schedule *s = read_good("num_ranks 1\nrank 0 {\n"
	                                  "a: calc 1\nb: calc 2\nc: calc 3\nd: calc 4\ne: calc 5\n"
	                                  "z: calc 6\ny: calc 7\n"
	                                  "z requires a\nz requires b\nz requires c\nz requires d\n"
	                                  "z irequires e\ny requires z\n}\n");

	(void)state;
	assert_rank(s, 0,
	            "calc 1 on 0; calc 2 on 0; calc 3 on 0; calc 4 on 0; calc 5 on 0; "
	            "calc 0 after 0 1 2 3; calc 6 on 0 after 5 4s; calc 7 on 0 after 6; ");
	wf_schedule_destroy(s);
}

static void count_peer(void *arg, uint32_t peer, uint16_t channel)
{
	unsigned *seen = arg;

	assert_in_range(peer, 1, 2);
	*seen |= peer == 1 ? 1u : 2u << channel;
}

static void test_peers(void **state)
{
	struct wf_schedule *s =
		read_good("num_ranks 4\nrank 0 {\nsend 1b to 1\nsend 1b to 2 nic 3\n"
	                  "send 2b to 1\n}\n"
	                  "rank 1 {\nrecv 1b from 0\nrecv 1b from 0\n}\n"
	                  "rank 2 {\nrecv 1b from 0\n}\n");
	unsigned seen = 0;

	(void)state;
	assert_int_equal(s->ops->peers(s, 0, count_peer, &seen), 0);
	assert_int_equal(seen, 1 | 2u << 3);
	seen = 0;
	assert_int_equal(s->ops->peers(s, 1, count_peer, &seen), 0);
	assert_int_equal(s->ops->peers(s, 3, count_peer, &seen), 0);
	assert_int_equal(seen, 0);
	assert_int_equal(s->ops->window(s, 0, 0), WF_WINDOW_ALL);
	assert_rank(s, 1, "recv 1 from 0 tag 0; recv 2 from 0 tag 0; ");
	assert_rank(s, 2, "recv 1 from 0 tag 0 via 3; ");
	assert_rank(s, 3, "");
	wf_schedule_destroy(s);
}

#define R "num_ranks 2\nrank 0 {\n"

static const struct {
	const char *text;
	const char *want; /* part of the message */
} bad[] = {
	{ "", "file:1:1: the file ends here; num_ranks is needed" },
	{ "rank 0 {}", "file:1:1: \"rank\" is wrong here; num_ranks is needed" },
	{ "num_ranks\n", "file:1:10: the line ends here; the number of ranks is needed" },
	{ "num_ranks 0\n", "at least one rank is needed" },
	{ "num_ranks 99999999999999999999\n", "file:1:11: the number of ranks is 99999" },
	{ "num_ranks 2\nrank 2 {\n}", "file:2:6: the number of the rank is 2; at most 1" },
	{ "num_ranks 2\nrank 0 }", "\"}\" is wrong here; \"{\" is needed" },
	{ R, "file:3:1: the file ends here; send, recv, calc, a label or \"}\" is needed" },
	{ R "}\nrank 0 {\n}\n", "file:4: rank 0 is there a second time" },
	{ R "calc\n}", "file:3:5: the line ends here; the time in ns is needed" },
	{ R "calc 1 tag 3\n}", "file:3:8: \"tag\" is wrong here; cpu or the end of the line" },
	{ R "calc 1 2\n}", "file:3:8: \"2\" is wrong here; the end of the line is needed" },
	{ R "calc 9999999999999999\n}", "the time in ns is 9999999999999999; at most" },
	{ R "calc 1 cpu 256\n}", "the number of the cpu is 256; at most 255" },
	{ R "send 10 to 1\n}", "file:3:9: \"to\" is wrong here; \"b\" for bytes is needed" },
	{ R "send 10b from 1\n}", "\"from\" is wrong here; \"to\" is needed" },
	{ R "recv 10b to 1\n}", "\"to\" is wrong here; \"from\" is needed" },
	{ R "send 1b to 2\n}", "file:3:12: the other rank is 2; at most 1" },
	{ R "send 1b to 0\n}", "rank 0 has a message with itself" },
	{ R "recv 1b from -1\n}", "file:3:14: a receive from any rank is not supported" },
	{ R "recv 1b from 1 tag -1\n}", "file:3:20: a message with any tag is not supported" },
	{ R "l: cal 1\n}", "file:3:4: \"cal\" is wrong here; send, recv or calc is needed" },
	{ R "l calc 1\n}", "\"calc\" is wrong here; \":\", requires or irequires is needed" },
	{ R "l requires 3\n}", "file:3:12: \"3\" is wrong here; a label is needed" },
	{ R "l: calc 1\nl requires m\n}", "file:4:12: no operation of rank 0 is called \"m\"" },
	{ R "l: calc 1\nl: calc 1\n}", "rank 0 has two operations called \"l\"" },
	{ R "l: calc 1\nl requires l\n}", "file:3: this operation of rank 0 waits for one" },
	{ R "x: calc 1\na: calc 1\nb: calc 1\nx requires a\na requires b\nb irequires a\n}",
	  "file:4: this operation of rank 0 waits for one that waits for it" },
	{ R "send 1b to 1 tag 5\n}",
	  "file:3: rank 0 sends to rank 1 with tag 5, which has no such" },
	{ R "send 1b to 1\n}\nrank 1 {\nrecv 1b from 0 tag 1\n}", "each send needs its receive" },
	{ R "recv 1b from 1\n}\nrank 1 {\n}", "file:3: rank 0 receives from rank 1 with tag 0" },
	{ R "%\n}", "\"%\" is wrong here" },
	{ R "/* no end", "the file ends here" },
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

static void test_memory(void **state)
{
	static const char text[] = R "a: send 1b to 1\nb: calc 1\na requires b\n}\n"
				     "rank 1 {\nrecv 1b from 0\n}\n";
	int ret = -1;

	(void)state;
	for (int n = 0; ret != 0; n++) {
		struct mem_fail poor = mem_fail_after(n);
		struct wf_schedule *schedule = NULL;
		struct wf_err err = { { 0 } };

		assert_in_range(n, 0, 100);
		ret = wf_read_goal(text, sizeof(text) - 1, "f", &poor.mem, &schedule, &err);
		assert_true(ret == 0 || ret == -12);
		wf_schedule_destroy(schedule);
		assert_int_equal(poor.held, 0);
	}
}

/* 20,000 operations in a chain, named in a hostile order; a star of as many dependencies. */
static void test_large(void **state)
{
	enum { N = 20000 };
	char *text = malloc(N * 64 + 100);
	struct wf_schedule *s;
	char *at = text;

	(void)state;
	assert_non_null(text);
	at += sprintf(at, "num_ranks 1\nrank 0 {\nall: calc 0\n");
	for (int i = N; i > 0; i--)
		at += sprintf(at, "l%d: calc 1\n", i);
	for (int i = 2; i <= N; i++)
		at += sprintf(at, "l%d requires l%d\nall requires l%d\n", i, i - 1, i);
	(void)sprintf(at, "}\n");
	s = read_good(text);
	wf_schedule_destroy(s);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_language), cmocka_unit_test(test_joins),
		cmocka_unit_test(test_receives), cmocka_unit_test(test_peers),
		cmocka_unit_test(test_bad),      cmocka_unit_test(test_memory),
		cmocka_unit_test(test_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
