/* SPDX-License-Identifier: Apache-2.0 */
/* drive.c - when a drive is done with a command. */
#include "sim/storage/drive.h"

#include "base/rate.h"

wf_time wf_drives_command(struct wf_drives *drives, const struct wf_drive_cfg *cfg, uint64_t block,
                          uint32_t bytes, bool write, wf_time now)
{
	wf_time *busy = &drives->busy[block % cfg->count];
	uint64_t rate = write ? cfg->write_rate : cfg->read_rate;
	wf_time each = WF_S / (write ? cfg->write_iops : cfg->read_iops);
	wf_time took = wf_max_time(each, wf_rate_time_long(wf_rate_per_byte(rate), bytes));

	assert(cfg->count >= 1 && cfg->count <= WF_DRIVES_MAX);
	*busy = wf_max_time(*busy, now) + took;
	return *busy + (write ? cfg->write : cfg->read);
}
