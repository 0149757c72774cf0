/* SPDX-License-Identifier: Apache-2.0 */
/*
 * human.c - numbers with a unit, rounded to what people read.
 */
#include "text/human.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct step {
	uint64_t size;
	const char *unit;
};

/* v in the largest unit that leaves at least 1, with four digits; smallest step first. */
static void format(uint64_t v, const struct step *steps, size_t n, char *buf, size_t size)
{
	const struct step *s = &steps[0];
	unsigned __int128 scaled;
	unsigned decimals = 0;
	uint64_t ten = 1;

	for (size_t i = 1; i < n; i++) {
		/* 999.96 us is 1 ms when rounded. */
		if ((unsigned __int128)v * 100000 >= (unsigned __int128)steps[i].size * 99995)
			s = &steps[i];
	}
	for (uint64_t whole = v / s->size; whole * ten < 1000 && ten < 1000 && s->size > 1;) {
		ten *= 10;
		decimals++;
		if (whole == 0)
			whole = 1;
	}
	scaled = ((unsigned __int128)v * ten + s->size / 2) / s->size;
	if (decimals == 0)
		snprintf(buf, size, "%" PRIu64 "%s", (uint64_t)scaled, s->unit);
	else
		snprintf(buf, size, "%" PRIu64 ".%0*" PRIu64 "%s", (uint64_t)(scaled / ten),
		         (int)decimals, (uint64_t)(scaled % ten), s->unit);
}

void wf_human_time(uint64_t ps, char *buf, size_t size)
{
	static const struct step steps[] = {
		{ 1, " ps" },          { 1000, " ns" },         { 1000000, " us" },
		{ 1000000000, " ms" }, { 1000000000000, " s" },
	};

	format(ps, steps, WF_ARRAY_SIZE(steps), buf, size);
}

void wf_human_bytes(uint64_t bytes, char *buf, size_t size)
{
	static const struct step steps[] = {
		{ 1, " B" },           { 1000, " KB" },          { 1000000, " MB" },
		{ 1000000000, " GB" }, { 1000000000000, " TB" },
	};

	format(bytes, steps, WF_ARRAY_SIZE(steps), buf, size);
}

void wf_human_count(uint64_t n, char *buf, size_t size)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, n);
	size_t at = 0;

	for (int i = 0; i < len && at + 2 < size; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			buf[at++] = ',';
		buf[at++] = digits[i];
	}
	buf[at < size ? at : size - 1] = '\0';
}

void wf_human_real(double v, char buf[WF_HUMAN_REAL])
{
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(buf, WF_HUMAN_REAL, "%.*g", digits, v);
		if (strtod(buf, NULL) == v)
			return;
	}
}
