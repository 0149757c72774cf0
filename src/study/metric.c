/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metric.c - the table of figures.
 */
#include "study/metric.h"

#include <stdint.h>
#include <stdio.h>

#include "text/human.h"

const struct wf_metric_row wf_metric_rows[WF_METRICS] = {
	[WF_METRIC_SWITCHES] = { "switches", "switches", WF_UNIT_COUNT, 0 },
	[WF_METRIC_SWITCH_PORTS] = { "switch_ports", "  ports of one", WF_UNIT_COUNT, 0 },
	[WF_METRIC_TIERS] = { "tiers", "  tiers", WF_UNIT_COUNT, 0 },
	[WF_METRIC_OPTICS] = { "optics", "  transceivers", WF_UNIT_COUNT, 0 },
	[WF_METRIC_POWER] = { "power", "  power", WF_UNIT_WATTS, -1 },
	[WF_METRIC_COST] = { "cost", "  price, middle", WF_UNIT_DOLLARS, -1 },
	[WF_METRIC_LATENCY] = { "write_latency", "RDMA write of 8 B, one way", WF_UNIT_TIME, -1 },
	[WF_METRIC_COLL_SMALL] = { "collective_small", "collective, smallest", WF_UNIT_TIME, -1 },
	[WF_METRIC_COLL_MIDDLE] = { "collective_middle", "collective, 32 KiB", WF_UNIT_TIME, -1 },
	[WF_METRIC_COLL_LARGE] = { "collective_large", "collective, largest", WF_UNIT_TIME, -1 },
	[WF_METRIC_BUSBW_LARGE] = { "busbw", "  bus bandwidth", WF_UNIT_BYTES_S, 1 },
	[WF_METRIC_JOB_TIME] = { "job_time", "job", WF_UNIT_TIME, -1 },
	[WF_METRIC_STEP_TIME] = { "step_time", "step time", WF_UNIT_TIME, -1 },
	[WF_METRIC_EXPOSED] = { "exposed", "  exposed communication", WF_UNIT_TIME, -1 },
	[WF_METRIC_MFU] = { "mfu", "MFU", WF_UNIT_SHARE, 1 },
	[WF_METRIC_MSG_P50] = { "message_p50", "message latency, p50", WF_UNIT_TIME, -1 },
	[WF_METRIC_MSG_P99] = { "message_p99", "  p99", WF_UNIT_TIME, -1 },
	[WF_METRIC_MSG_P999] = { "message_p999", "  p99.9", WF_UNIT_TIME, -1 },
	[WF_METRIC_STORAGE_TIME] = { "storage_time", "storage, to the last byte", WF_UNIT_TIME,
	                             -1 },
	[WF_METRIC_STORAGE_READ_P99] = { "storage_read_p99", "storage read latency, p99",
	                                 WF_UNIT_TIME, -1 },
	[WF_METRIC_STORAGE_WRITE_P99] = { "storage_write_p99", "storage write latency, p99",
	                                  WF_UNIT_TIME, -1 },
	[WF_METRIC_STORAGE_FAILED] = { "storage_failed", "storage I/Os failed", WF_UNIT_COUNT, -1 },
	[WF_METRIC_PAUSES] = { "pfc_pauses", "PFC pauses", WF_UNIT_COUNT, 0 },
	[WF_METRIC_PAUSED_TIME] = { "pfc_paused_time", "PFC paused, sum of ports", WF_UNIT_TIME,
	                            0 },
	[WF_METRIC_ECN_MARKS] = { "ecn_marks", "ECN marks", WF_UNIT_COUNT, 0 },
	[WF_METRIC_CNPS] = { "np_cnp_sent", "CNPs sent", WF_UNIT_COUNT, 0 },
	[WF_METRIC_CREDIT_WAITS] = { "credit_waits", "credit waits", WF_UNIT_COUNT, 0 },
	[WF_METRIC_CREDIT_TIME] = { "credit_wait_time", "credit wait, sum of ports", WF_UNIT_TIME,
	                            0 },
	[WF_METRIC_LOSSLESS_DROPS] = { "lossless_drops", "drops in lossless classes", WF_UNIT_COUNT,
	                               -1 },
	[WF_METRIC_DROPS] = { "drops_congestion", "congestion drops", WF_UNIT_COUNT, 0 },
	[WF_METRIC_LINK_ERRORS] = { "drops_error", "lost to link errors", WF_UNIT_COUNT, 0 },
	[WF_METRIC_LINK_DOWN] = { "drops_down", "lost to links down", WF_UNIT_COUNT, 0 },
	[WF_METRIC_RESENT] = { "resent", "packets sent again", WF_UNIT_COUNT, 0 },
};

void wf_metrics_init(struct wf_metrics *m)
{
	for (unsigned i = 0; i < WF_METRICS; i++)
		m->value[i] = (double)NAN;
}

const char *wf_metric_unit_name(enum wf_metric_unit unit)
{
	static const char *const names[] = { "ps", "bytes/s", "", "", "W", "USD" };

	return names[unit];
}

void wf_metric_format(enum wf_metric which, double value, char *buf, size_t size)
{
	if (isnan(value)) {
		snprintf(buf, size, "-");
		return;
	}
	switch (wf_metric_rows[which].unit) {
	case WF_UNIT_TIME:
		wf_human_time((uint64_t)value, buf, size);
		break;
	case WF_UNIT_BYTES_S:
		snprintf(buf, size, value < 100e9 ? "%.2f GB/s" : "%.1f GB/s", value / 1e9);
		break;
	case WF_UNIT_SHARE:
		snprintf(buf, size, "%.1f %%", value * 100);
		break;
	case WF_UNIT_WATTS:
		snprintf(buf, size, "%.1f kW", value / 1e3);
		break;
	case WF_UNIT_DOLLARS:
		snprintf(buf, size, "%.0f k$", value / 1e3);
		break;
	case WF_UNIT_COUNT:
		wf_human_count((uint64_t)value, buf, size);
		break;
	}
}
