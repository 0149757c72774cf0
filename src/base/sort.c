/* SPDX-License-Identifier: Apache-2.0 */
/* sort.c - merge sort from the bottom up: no recursion, no memory of its own. */
#include "base/sort.h"

#include <string.h>

struct sort {
	size_t n, size;
	wf_compare_fn *compare;
	const void *arg;
};

/* Merges sorted runs of width items of from into runs of twice that in to. */
static void merge(const struct sort *s, const char *from, char *to, size_t width)
{
	for (size_t run = 0; run < s->n; run += 2 * width) {
		size_t a = run, a_end = wf_min_u64(run + width, s->n);
		size_t b = a_end, b_end = wf_min_u64(run + 2 * width, s->n);

		for (size_t i = run; i < b_end; i++) {
			size_t next;

			if (b == b_end ||
			    (a < a_end &&
			     s->compare(from + a * s->size, from + b * s->size, s->arg) <= 0))
				next = a++;
			else
				next = b++;
			memcpy(to + i * s->size, from + next * s->size, s->size);
		}
	}
}

void wf_sort(void *items, void *room, size_t n, size_t size, wf_compare_fn *compare,
             const void *arg)
{
	struct sort s = { .n = n, .size = size, .compare = compare, .arg = arg };
	char *from = items, *to = room;

	for (size_t width = 1; width < n; width *= 2) {
		char *swap = from;

		merge(&s, from, to, width);
		from = to;
		to = swap;
	}
	if (from != items)
		memcpy(items, from, n * size);
}
