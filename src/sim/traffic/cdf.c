/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cdf.c - distributions of flow sizes: read from text, drawn from, averaged.
 */
#include <errno.h>
#include <string.h>

#include "sim/traffic/traffic.h"

#define MAX_WORD 40

typedef unsigned __int128 u128;

/* A line of the text, without comment and line end. */
struct line {
	const char *at;
	const char *end;
	unsigned number;
};

struct point {
	uint64_t size;
	uint64_t prob;
};

static const struct wf_param size_row = {
	.name = "size",
	.kind = WF_PARAM_BYTES,
	.offset = offsetof(struct point, size),
	.size = sizeof(uint64_t),
	.max = INT64_C(1) << 50,
};

static const struct wf_param prob_row = {
	.name = "percent",
	.kind = WF_PARAM_PROB,
	.offset = offsetof(struct point, prob),
	.size = sizeof(uint64_t),
	.max = (int64_t)WF_PROB_ONE,
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == ',';
}

/*
 * Takes the next word of the line into word, and its column into *column. Returns its length, 0 at
 * the line's end; a word too long to be a number is cut and so not one.
 */
static size_t next_word(struct line *line, const char *start, char word[MAX_WORD], unsigned *column)
{
	size_t len = 0;

	while (line->at < line->end && is_blank(*line->at))
		line->at++;
	*column = (unsigned)(line->at - start) + 1;
	for (; line->at < line->end && !is_blank(*line->at); line->at++) {
		if (len < MAX_WORD - 2)
			word[len++] = *line->at == '\0' ? '?' : *line->at;
	}
	word[len] = '\0';
	return len;
}

/* Reads "<bytes> <percent>" from a line. Returns 1, 0 for an empty line, or -EINVAL. */
static int read_point(struct line line, const char *name, struct point *point, struct wf_err *err)
{
	const char *start = line.at;
	struct wf_err why = { "" };
	char word[MAX_WORD];
	unsigned column;
	size_t len = next_word(&line, start, word, &column);

	if (len == 0)
		return 0;
	if (wf_param_set(&size_row, point, word, &why) != 0)
		return wf_err_at(err, name, line.number, column, "%s", why.text);
	len = next_word(&line, start, word, &column);
	if (len == 0)
		return wf_err_at(err, name, line.number, column,
		                 "the per cent are missing; a line is <bytes> <percent>");
	if (word[len - 1] != '%') {
		word[len++] = '%';
		word[len] = '\0';
	}
	if (wf_param_set(&prob_row, point, word, &why) != 0)
		return wf_err_at(err, name, line.number, column, "%s", why.text);
	if (next_word(&line, start, word, &column) != 0)
		return wf_err_at(err, name, line.number, column,
		                 "\"%s\" is too much; a line is <bytes> <percent>", word);
	return 1;
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
	const char *end = text + len;
	struct line line = { .at = text };
	struct wf_cdf c = { 0 };

	while (line.at < end) {
		const char *eol = memchr(line.at, '\n', (size_t)(end - line.at));
		const char *hash;
		struct point point = { 0 };
		int rc;

		if (eol == NULL)
			eol = end;
		hash = memchr(line.at, '#', (size_t)(eol - line.at));
		line.end = hash != NULL ? hash : eol;
		line.number++;
		rc = read_point(line, name, &point, err);
		if (rc == 1)
			rc = add_point(&c, &point, name, line.number, err);
		if (rc != 0)
			return rc;
		line.at = eol + 1;
	}
	if (c.n == 0)
		return wf_err_at(err, name, 0, 0,
		                 "there is no distribution in it; a line is <bytes> <percent>");
	if (c.point[c.n - 1].prob != WF_PROB_ONE)
		return wf_err_at(err, name, line.number, 0,
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
