/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_fec.c - codes: their tails beside exact fractions, and beside what IEEE 802.3 says of
 * frames.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fabric/config.h"
#include "fabric/fec.h"

#define TAILS WEFT_SOURCE_DIR "/tests/data/fec/tails.txt"

static void compile(const char *name, uint64_t raw, struct wf_fec *fec)
{
	const struct wf_fec_code *code = wf_fec_find(name);

	assert_non_null(code);
	wf_fec_compile(code, raw, fec);
}

/* Right to 2^-50 of itself, or to the last two units. */
static void assert_near(const char *name, uint64_t raw, uint64_t got, uint64_t want)
{
	uint64_t off = got > want ? got - want : want - got;

	if (off > 2 + (want >> 50))
		fail_msg("%s, %" PRIu64 ": %" PRIu64 ", not %" PRIu64, name, raw, got, want);
}

static void test_tails(void **state)
{
	FILE *file = fopen(TAILS, "r");
	char line[512];
	unsigned n = 0;

	(void)state;
	assert_non_null(file);
	while (fgets(line, sizeof(line), file) != NULL) {
		uint64_t raw, v[6];
		struct wf_fec fec;
		char name[16];

		if (line[0] == '#')
			continue;
		assert_int_equal(sscanf(line,
		                        "%15s %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		                        " %" SCNu64 " %" SCNu64 " %" SCNu64,
		                        name, &raw, &v[0], &v[1], &v[2], &v[3], &v[4], &v[5]),
		                 8);
		compile(name, raw, &fec);
		assert_near(name, raw, fec.lost[1], v[0]);
		assert_near(name, raw, fec.lost[2], v[1]);
		assert_near(name, raw, fec.lost[7], v[2]);
		assert_near(name, raw, fec.mended, v[3]);
		assert_near(name, raw, fec.symbols, v[4]);
		assert_near(name, raw, fec.flips, v[5]);
		n++;
	}
	fclose(file);
	assert_true(n > 15);
}

/*
 * What IEEE 802.3 says of frames of 64 octets that follow one another as closely as they may (84
 * octets with preamble and gap), at the bit error rate that it allows: with RS(544,514) and 2.4e-4
 * a frame loss ratio of 9.2e-13 where codewords follow one another (clause 91) and 1.7e-12 where
 * two are interleaved (clause 119); with RS(528,514) and 5e-5 no more than a bit error rate of
 * 1e-12 would lose: 512e-12.
 */
static void test_frame_loss(void **state)
{
	static const struct {
		const char *code;
		uint64_t raw;
		double least, most;
	} row[] = {
		{ "rs544", UINT64_C(240000000000000), 9.15e-13, 9.25e-13 },
		{ "rs544x2", UINT64_C(240000000000000), 1.65e-12, 1.75e-12 },
		{ "rs528", UINT64_C(50000000000000), 4.9e-10, 5.12e-10 },
		/* At its limit in our table it loses no more than RS(544,514) at its own. */
		{ "rs272", UINT64_C(43000000000000), 8.8e-13, 9.2e-13 },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		struct wf_fec fec;
		double loss;

		compile(row[i].code, row[i].raw, &fec);
		assert_int_equal(fec.code->limit, row[i].raw);
		loss = (double)wf_fec_chance(&fec, 84) / 18446744073709551616.0;
		if (loss < row[i].least || loss >= row[i].most)
			fail_msg("%s: %g", row[i].code, loss);
	}
}

/*
 * A packet as long as two groups touches three of them, but for one place in 640 where it may
 * begin.
 */
static void test_groups(void **state)
{
	struct wf_fec fec;

	(void)state;
	compile("rs544", UINT64_C(1000000000000000), &fec);
	assert_int_equal(fec.bytes, 640);
	assert_int_equal(wf_fec_chance(&fec, 1), fec.lost[1]);
	assert_int_equal(wf_fec_chance(&fec, 641), fec.lost[2]);
	assert_int_equal(wf_fec_chance(&fec, 1280),
	                 fec.lost[2] + (uint64_t)((unsigned __int128)(fec.lost[3] - fec.lost[2]) *
	                                          639 / 640));
	/* The largest that there is, of the shortest codewords. */
	compile("firecode", UINT64_C(1000000000000000), &fec);
	assert_true(wf_fec_chance(&fec, UINT16_MAX + 256) > 0);
}

/* More errors, more losses, up to certainty; none, none; and no code mends nothing. */
static void test_order(void **state)
{
	(void)state;
	for (const struct wf_fec_code *code = wf_fec_codes; code->name != NULL; code++) {
		uint64_t before = 0;
		struct wf_fec fec;

		wf_fec_compile(code, 0, &fec);
		assert_int_equal(wf_fec_chance(&fec, 4096), 0);
		for (uint64_t raw = 1; raw <= UINT64_C(10000000000000000); raw *= 10) {
			wf_fec_compile(code, raw, &fec);
			assert_true(wf_fec_chance(&fec, 4096) >= before);
			before = wf_fec_chance(&fec, 4096);
			for (unsigned k = 1; k + 1 < WF_FEC_SPAN; k++)
				assert_true(fec.lost[k + 1] >= fec.lost[k]);
		}
		if (code->symbols == 0)
			assert_int_equal(before, 0);
		else
			assert_true(before > UINT64_MAX / 10 * 9);
	}
}

/* The words of link.fec are the codes' names, in the same order. */
static void test_names(void **state)
{
	const struct wf_param *row =
		wf_param_find(wf_fabric_params, wf_fabric_n_params, "link.fec");
	size_t i = 0;

	(void)state;
	assert_non_null(row);
	for (; row->names[i] != NULL; i++)
		assert_string_equal(row->names[i], wf_fec_codes[i].name);
	assert_null(wf_fec_codes[i].name);
	assert_null(wf_fec_find("rs"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tails),  cmocka_unit_test(test_frame_loss),
		cmocka_unit_test(test_groups), cmocka_unit_test(test_order),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
