/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drive.h - the drives of a storage target, as far as they take time.
 *
 * A drive takes commands in the order in which they come. Each keeps it busy as long as its bytes
 * take at the drive's rate, or as long as the drive's commands a second allow, whichever is longer;
 * its answer comes a latency after that. So many commands are under way at once, and the rate and
 * the number of commands bound what gets through.
 */
#ifndef WF_SIM_STORAGE_DRIVE_H
#define WF_SIM_STORAGE_DRIVE_H

#include <stdbool.h>

#include "fabric/config_drive.h"

/* Of one target. All zero: nothing has been done yet. */
struct wf_drives {
	wf_time busy[WF_DRIVES_MAX]; /* until */
};

/*
 * Gives the drive that has block (they are striped over the drives) a command for bytes of it, at
 * now or when the drive is no longer busy. Returns when it is done.
 */
wf_time wf_drives_command(struct wf_drives *drives, const struct wf_drive_cfg *cfg, uint64_t block,
                          uint32_t bytes, bool write, wf_time now);

#endif
