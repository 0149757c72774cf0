/* SPDX-License-Identifier: Apache-2.0 */
/* check_priv.h - what the checks of graph and tables share. */
#ifndef WF_SUBNET_CHECK_PRIV_H
#define WF_SUBNET_CHECK_PRIV_H

#include <stdarg.h>

#include "subnet/check.h"
#include "subnet/names.h"

struct wf_check {
	const struct wf_subnet *subnet;
	const struct wf_check_ear *ear;
	struct wf_subnet_names names;
};

/* Fills in the text, and the node of its port, and tells the ear. */
void wf_check_tell(const struct wf_check *c, struct wf_finding *finding, const char *fmt, ...)
	WF_PRINTF(3, 4);

#endif
