/* SPDX-License-Identifier: Apache-2.0 */
/* show_devices.h - weft show devices: what one device, or one of its ports, has. */
#ifndef WF_CLI_SHOW_DEVICES_H
#define WF_CLI_SHOW_DEVICES_H

#include <stdbool.h>

#include "scenario/paths.h"

/*
 * Prints every setting of the device or port called name in the scenario of a file, in each of its
 * fabrics, and where it is set. Returns an exit status.
 */
int wf_show_devices(const struct wf_paths *paths, const char *scenario, const char *name,
                    bool as_json);

#endif
