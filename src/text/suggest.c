/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suggest.c - the nearest of a few names, by the number of letters to change.
 */
#include "text/suggest.h"

#include <stdio.h>
#include <string.h>

#define MAX_LEN 64
#define FAR 1000

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;

	return m < c ? m : c;
}

/* Letters to insert, delete, replace or swap with their neighbour to make a into b. */
static unsigned edit_distance(const char *a, const char *b)
{
	unsigned row[3][MAX_LEN + 1]; /* the last two rows and this one */
	size_t la = strlen(a), lb = strlen(b);

	if (la > MAX_LEN || lb > MAX_LEN)
		return FAR;
	for (size_t k = 0; k <= lb; k++)
		row[0][k] = (unsigned)k;
	for (size_t i = 1; i <= la; i++) {
		unsigned *now = row[i % 3], *last = row[(i - 1) % 3];
		const unsigned *before = row[(i + 1) % 3];

		now[0] = (unsigned)i;
		for (size_t k = 1; k <= lb; k++) {
			now[k] = min3(last[k] + 1, now[k - 1] + 1,
			              last[k - 1] + (a[i - 1] != b[k - 1]));
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] &&
			    before[k - 2] + 1 < now[k])
				now[k] = before[k - 2] + 1;
		}
	}
	return row[la % 3][lb];
}

/* "kmin" for "ecn.kmin" */
static const char *last_part(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot != NULL ? dot + 1 : name;
}

void wf_suggest_init(struct wf_suggest *s, const char *wrong)
{
	memset(s, 0, sizeof(*s));
	s->wrong = wrong;
	s->distance = FAR;
}

void wf_suggest_offer(struct wf_suggest *s, const char *name)
{
	unsigned d = edit_distance(s->wrong, name);

	/* Somebody may have left the first part away: "kmin" for "ecn.kmin". */
	if (strchr(s->wrong, '.') == NULL && strcmp(s->wrong, last_part(name)) == 0)
		d = 1;
	if (d < s->distance) {
		s->distance = d;
		s->best = name;
	}
	if (s->at < sizeof(s->list))
		s->at += (size_t)snprintf(s->list + s->at, sizeof(s->list) - s->at, "%s%s",
		                          s->n > 0 ? ", " : "", name);
	s->n++;
}

const char *wf_suggest_text(struct wf_suggest *s, const char *what)
{
	size_t len = strlen(s->wrong);
	const char *cut = strrchr(s->list, ',');

	s->text[0] = '\0';
	if (s->best != NULL && s->distance <= (len < 6 ? 2 : len / 3) && s->distance < len)
		snprintf(s->text, sizeof(s->text), "; did you mean %s?", s->best);
	else if (s->n > 0 && s->at < sizeof(s->list))
		snprintf(s->text, sizeof(s->text), "; %s %s", what, s->list);
	else if (cut != NULL)
		snprintf(s->text, sizeof(s->text), "; %s %.*s ...", what, (int)(cut - s->list) + 1,
		         s->list);
	return s->text;
}
