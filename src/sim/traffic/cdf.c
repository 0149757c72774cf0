/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cdf.c - distributions of flow sizes: read from text, drawn from, averaged.
 */
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "sim/traffic/traffic.h"

#define LINE "<bytes> <percent>"
#define SIZE_MAX_BYTES (INT64_C(1) << 50)
#define MAX_PERCENT 30 /* characters */

typedef unsigned __int128 u128;

struct point {
	uint64_t size;
	uint64_t prob;
};

/* The word as per cent, whether it has a sign behind it or not. */
static int read_percent(const struct wf_text *text, const struct wf_word *word, uint64_t *prob_p)
{
	char with_sign[MAX_PERCENT + 1];
	struct wf_word w = *word;

	if (w.len < MAX_PERCENT && w.at[w.len - 1] != '%') {
		memcpy(with_sign, w.at, w.len);
		with_sign[w.len++] = '%';
		w.at = with_sign;
	}
	return wf_text_value(text, &w, "the per cent", WF_PARAM_PROB, 0, (int64_t)WF_PROB_ONE,
	                     prob_p);
}

/* Reads a line that has a word. */
static int read_point(struct wf_text *text, struct point *point)
{
	struct wf_word size, percent;

	if (wf_text_expect(text, "the size", &size) != 0 ||
	    wf_text_value(text, &size, "the size", WF_PARAM_BYTES, 0, SIZE_MAX_BYTES,
	                  &point->size) != 0 ||
	    wf_text_expect(text, "the per cent", &percent) != 0 ||
	    read_percent(text, &percent, &point->prob) != 0)
		return -EINVAL;
	return wf_text_end_line(text, LINE);
}

static int add_point(struct wf_cdf *cdf, const struct point *p, const char *name, unsigned line,
                     struct wf_err *err)
{
	if (cdf->n == WF_CDF_MAX)
		return wf_err_at(err, name, line, 0, "more than %d points; write fewer",
		                 WF_CDF_MAX);
	if (cdf->n == 0 && p->prob != 0)
		return wf_err_at(
			err, name, line, 0,
			"the first point is not at 0 per cent; begin with the smallest size "
			"and 0");
	if (cdf->n > 0 &&
	    (p->size < cdf->point[cdf->n - 1].size || p->prob < cdf->point[cdf->n - 1].prob))
		return wf_err_at(
			err, name, line, 0,
			"the point is below the one before; sizes and per cent must ascend");
	cdf->point[cdf->n].size = p->size;
	cdf->point[cdf->n].prob = p->prob;
	cdf->n++;
	return 0;
}

int wf_cdf_parse(const char *text, size_t len, const char *name, struct wf_cdf *cdf,
                 struct wf_err *err)
{
	struct wf_cdf c = { 0 };
	struct wf_text words;
	unsigned last = 0; /* line with a point */

	wf_text_init(&words, text, len, name, err);
	words.commas = true;
	while (wf_text_seek(&words)) {
		struct point point = { 0 };

		last = words.line;
		if (read_point(&words, &point) != 0 || add_point(&c, &point, name, last, err) != 0)
			return -EINVAL;
	}
	if (c.n == 0)
		return wf_err_at(err, name, 0, 0,
		                 "there is no distribution in it; a line is " LINE);
	if (c.point[c.n - 1].prob != WF_PROB_ONE)
		return wf_err_at(err, name, last, 0,
		                 "the last point is not at 100 per cent; end with the largest size "
		                 "and 100");
	*cdf = c;
	return 0;
}

uint64_t wf_cdf_mean(const struct wf_cdf *cdf)
{
	u128 sum = 0;

	for (unsigned i = 1; i < cdf->n; i++)
		sum += (u128)(cdf->point[i].prob - cdf->point[i - 1].prob) *
		       (cdf->point[i].size + cdf->point[i - 1].size);
	sum >>= 33;
	return sum == 0 ? 1 : (uint64_t)sum;
}

uint64_t wf_cdf_draw(const struct wf_cdf *cdf, uint64_t bits)
{
	uint64_t r = bits >> 32; /* below the last point's probability, which is one */
	unsigned i = 0;
	u128 size;

	while (cdf->point[i].prob <= r)
		i++;
	/* The first point is at 0, so i is not it. */
	size = (u128)(cdf->point[i].size - cdf->point[i - 1].size) * (r - cdf->point[i - 1].prob) /
	       (cdf->point[i].prob - cdf->point[i - 1].prob);
	size += cdf->point[i - 1].size;
	return size == 0 ? 1 : (uint64_t)size;
}
