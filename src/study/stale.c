/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stale.c - counts the runs of a results file that something else went into.
 */
#include "study/stale.h"

#include <string.h>

#include "results/record_find.h"

int64_t wf_stale_find(struct wf_stale *stale, struct wf_record *record,
                      const struct wf_record_head *head)
{
	int64_t id = wf_record_find(record, head);
	char what[WF_STALE_TEXT];
	unsigned i = 0;

	if (id >= 0 || !wf_record_stale(record, head, what, sizeof(what)))
		return id;
	while (i < stale->n && i < WF_STALE_MAX - 1 && strcmp(stale->of[i].what, what) != 0)
		i++;
	if (i == stale->n) {
		memcpy(stale->of[i].what, what, sizeof(what));
		stale->n++;
	}
	stale->of[i].runs++;
	return -1;
}
