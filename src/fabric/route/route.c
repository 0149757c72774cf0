/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route.c - the table of routing algorithms.
 */
#include "fabric/route/route.h"

#include <string.h>

const struct wf_route_ops *const *wf_route_all(void)
{
	static const struct wf_route_ops *const all[] = {
		&wf_route_lft,   &wf_route_ecmp,   &wf_route_adaptive,
		&wf_route_spray, &wf_route_source, NULL,
	};

	return all;
}

const struct wf_route_ops *wf_route_find(const char *name)
{
	for (const struct wf_route_ops *const *ops = wf_route_all(); *ops != NULL; ops++) {
		if (strcmp((*ops)->name, name) == 0)
			return *ops;
	}
	return NULL;
}
