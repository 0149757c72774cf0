/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_wire_attr.c - any attribute of management is read, and what was read comes back: the layout
 * is the first byte's.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/am.h"
#include "wire/congestion.h"
#include "wire/ib_rate.h"
#include "wire/sa.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ADDRESS(s) &wf_##s##_layout,

static const struct wf_layout *const layouts[] = { WF_SMP_LAYOUTS(ADDRESS) WF_NOTICE_LAYOUTS(
	ADDRESS) WF_PERF_LAYOUTS(ADDRESS) WF_SA_LAYOUTS(ADDRESS) WF_CONG_LAYOUTS(ADDRESS)
	                                                   WF_AM_LAYOUTS(ADDRESS) };

static void simple(const uint8_t *data)
{
	uint16_t id = data[0];
	struct wf_perf_simple attr, again;
	uint8_t bytes[WF_PERF_SIMPLE_LEN] = { 0 };

	wf_perf_simple_decode(id, data + 1, &attr);
	wf_perf_simple_encode(id, &attr, bytes);
	wf_perf_simple_decode(id, bytes, &again);
	if (memcmp(&attr, &again, sizeof(attr)) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t n = sizeof(layouts) / sizeof(layouts[0]);
	uint8_t attr[2048] = { 0 }, again[2048] = { 0 }, bytes[WF_MAD_LEN];
	const struct wf_layout *layout;
	struct wf_port_info info;
	unsigned width, speed;

	if (size < WF_MAD_LEN)
		return 0;
	simple(data);
	layout = layouts[data[0] % n];
	wf_layout_decode(layout, data + 1, attr);
	wf_layout_encode(layout, attr, bytes);
	wf_layout_decode(layout, bytes, again);
	if (memcmp(attr, again, sizeof(attr)) != 0 ||
	    !wf_layout_matches(layout, attr, again, UINT64_MAX))
		abort();
	wf_port_info_decode(data + 1, &info);
	if (wf_ib_rate_link(wf_ib_port_rate(&info, &info), &width, &speed) !=
	    (wf_ib_port_rate(&info, &info) > 0))
		abort();
	return 0;
}
