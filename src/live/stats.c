/* SPDX-License-Identifier: Apache-2.0 */
/* stats.c - the table of what is counted of hosts. */
#include "live/stats.h"

#include <assert.h>

const struct wf_host_counter *wf_live_counter(uint32_t i)
{
	static const struct wf_host_counter rows[] = { WF_LIVE_COUNTERS(WF_HOST_ROW) };

	_Static_assert(WF_ARRAY_SIZE(rows) == WF_LIVE_COUNTS - WF_COUNTERS, "a row for each");
	assert(i < WF_LIVE_COUNTS);
	return i < WF_COUNTERS ? &wf_host_counters[i] : &rows[i - WF_COUNTERS];
}
