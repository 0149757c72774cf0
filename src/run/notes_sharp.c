/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notes_sharp.c - the rules that speak of communicators for which no switch reduces.
 */
#include <stdio.h>

#include "run/notes_priv.h"

/* Adds a reason to what is said, if it was one. */
static void add(char *text, size_t size, uint32_t n, const char *why)
{
	size_t used = 0;

	while (text[used] != '\0')
		used++;
	if (n > 0)
		snprintf(text + used, size - used, "%s%u %s", used > 0 ? "; " : "", n, why);
}

void wf_note_sharp_fallback(struct wf_note_ctx *c)
{
	const uint32_t *no = c->run->sharp;
	bool by_port = wf_sharp_generation(&c->run->fabric->cfg.sharp)->by_port;
	uint32_t refused = 0;
	char why[400] = "";

	for (unsigned i = WF_SHARP_YES + 1; i < WF_SHARP_NOS; i++)
		refused += no[i];
	if (refused == 0)
		return;
	add(why, sizeof(why), no[WF_SHARP_ADAPTER],
	    "have an adapter that serves as many others as sharp.jobs allows");
	add(why, sizeof(why), no[WF_SHARP_TREES],
	    "found every low-latency tree full (sharp.trees, sharp.tree_jobs)");
	add(why, sizeof(why), no[WF_SHARP_STREAMS],
	    by_port ? "found no streaming tree whose ports are all free: each port is in one, and "
	              "whoever came first has it to the end"
	            : "found no streaming tree whose switches are all free: each switch is in "
	              "one, and whoever came first has it to the end");
	add(why, sizeof(why), no[WF_SHARP_FAR], "cannot be reached from one root");
	wf_note_say(c,
	            "%u of %u communicators do not reduce in the fabric's switches, and NCCL does "
	            "without: %s",
	            refused, refused + no[WF_SHARP_YES], why);
}

/* With a manager: it has found out. Without one the groups stand still, and nobody is told. */
void wf_note_sharp_lost(struct wf_note_ctx *c)
{
	const struct wf_managed_result *m = c->run->managed;
	char at[32];

	if (m == NULL || m->trees_lost == 0)
		return;
	wf_human_time((uint64_t)m->trees_lost_at, at, sizeof(at));
	wf_note_say(
		c,
		"the trees of %u group%s of adapters lack%s a link: the manager saw it at %s and "
		"stopped the job, as NVIDIA's does, and NCCL ends with an error; a new job "
		"would get trees without the link",
		m->trees_lost, m->trees_lost == 1 ? "" : "s", m->trees_lost == 1 ? "s" : "", at);
}
