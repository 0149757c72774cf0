/* SPDX-License-Identifier: Apache-2.0 */
/* write.h - a subnet and its tables as other tools write them. */
#ifndef WF_SUBNET_WRITE_H
#define WF_SUBNET_WRITE_H

#include "subnet/tables.h"

/* Takes text piece by piece. */
struct wf_sink {
	void (*put)(void *arg, const char *text, size_t len);
	void *arg;
};

/* As ibnetdiscover prints it, without the time; ibsim reads it. */
void wf_subnet_write(const struct wf_subnet *subnet, const struct wf_sink *sink);

/*
 * As OpenSM's opensm-lfts.dump: switches as OpenSM has them in order, then LIDs. Returns 0 or
 * -ENOMEM.
 */
int wf_tables_write(const struct wf_subnet *subnet, const struct wf_tables *tables,
                    const struct wf_sink *sink) WF_MUST_USE;

#endif
