/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_names.h - what of a network a name means: devices, ports or a link.
 */
#ifndef WF_SCENARIO_DEVICE_NAMES_H
#define WF_SCENARIO_DEVICE_NAMES_H

#include "base/err.h"
#include "topo/topo.h"

enum wf_named { WF_NAMED_NOTHING, WF_NAMED_DEVICES, WF_NAMED_PORTS, WF_NAMED_LINKS };

/* Told of each: a device (port WF_TOPO_NONE), a port by its number, or a link's two ports. */
typedef void wf_named_fn(void *arg, uint32_t node, uint32_t port);

/*
 * Calls fn for what name means on a network and says what that is. Nothing: err has a text that
 * begins with the name, says why, and what would be right.
 */
enum wf_named wf_named_each(const struct wf_topo *topo, const char *name, wf_named_fn *fn,
                            void *arg, struct wf_err *err);

/* Whether text fits a pattern with * (any text) and ? (any letter). */
bool wf_name_fits(const char *pattern, const char *text);

#endif
