/* SPDX-License-Identifier: Apache-2.0 */
/* notes_sm.c - the rules that speak of what a subnet manager does not do. */
#include "run/notes_priv.h"

#include "sim/mgmt/managed.h"

/* It keeps to tables where groups of ports would not be free of credit loops. */
void wf_note_no_groups(struct wf_note_ctx *c)
{
	const struct wf_managed_result *m = c->run->managed;

	if (m != NULL && m->no_groups[0] != '\0')
		wf_note_say(c, "packets go by tables alone: %s (sm.routing_engine)", m->no_groups);
}
