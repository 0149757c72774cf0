/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flowctl.c - the table of link layers.
 */
#include "fabric/flowctl/flowctl.h"

#include <string.h>

const struct wf_flowctl_ops *const *wf_flowctl_all(void)
{
	static const struct wf_flowctl_ops *const all[] = {
		&wf_flowctl_credit,
		&wf_flowctl_pfc,
		&wf_flowctl_none,
		NULL,
	};

	return all;
}

const struct wf_flowctl_ops *wf_flowctl_find(const char *name)
{
	for (const struct wf_flowctl_ops *const *ops = wf_flowctl_all(); *ops != NULL; ops++) {
		if (strcmp((*ops)->name, name) == 0)
			return *ops;
	}
	return NULL;
}
