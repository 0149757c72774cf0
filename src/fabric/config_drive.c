/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_drive.c - the parameters of drives.
 *
 * The defaults are those of one data sheet, Micron's 9550 MAX (PCIe 5.0 x4, TLC, 12.8 TB; as given
 * in storagereview.com's review of it, 2025): reads 14,000 MB/s and 3.3 million/s, writes 10,000
 * MB/s and 820,000/s, typical latency 60 us and 15 us. A drive of the generation before (Intel's
 * D7-P5500, PCIe 4.0) has 7,000 and 4,300 MB/s, 1 million and 130,000/s. [A] marks what is assumed.
 */
#include "fabric/config_drive.h"

#include "base/rate.h"
#include "fabric/config.h"

#define FIELD(field) WF_PARAM_FIELD(struct wf_drive_cfg, field), .per = WF_PER_HOST | WF_PER_TIME

const struct wf_param wf_drive_params[] = {
	{ .name = "drive.count",
	  .kind = WF_PARAM_U32,
	  FIELD(count),
	  .min = 1,
	  .max = WF_DRIVES_MAX,
	  .def = "4",
	  .help = "drives of a storage target, over which blocks are striped [A]" },
	{ .name = "drive.read",
	  .kind = WF_PARAM_TIME,
	  FIELD(read),
	  .max = 10 * WF_S,
	  .def = "60us",
	  .help = "latency of a read at an idle drive, besides its bytes' time" },
	{ .name = "drive.write",
	  .kind = WF_PARAM_TIME,
	  FIELD(write),
	  .max = 10 * WF_S,
	  .def = "15us",
	  .help = "latency of a write at an idle drive, besides its bytes' time (into its cache)" },
	{ .name = "drive.read_rate",
	  .kind = WF_PARAM_RATE,
	  FIELD(read_rate),
	  .min = WF_RATE_MIN,
	  .max = WF_RATE_MAX,
	  .def = "112Gbps",
	  .help = "rate at which a drive reads; 112Gbps is 14 GB/s" },
	{ .name = "drive.write_rate",
	  .kind = WF_PARAM_RATE,
	  FIELD(write_rate),
	  .min = WF_RATE_MIN,
	  .max = WF_RATE_MAX,
	  .def = "80Gbps",
	  .help = "rate at which a drive writes; 80Gbps is 10 GB/s" },
	{ .name = "drive.read_iops",
	  .kind = WF_PARAM_U32,
	  FIELD(read_iops),
	  .min = 1,
	  .max = 1000000000,
	  .def = "3300000",
	  .help = "reads that a drive begins in a second at most" },
	{ .name = "drive.write_iops",
	  .kind = WF_PARAM_U32,
	  FIELD(write_iops),
	  .min = 1,
	  .max = 1000000000,
	  .def = "820000",
	  .help = "writes that a drive begins in a second at most" },
	{ .name = "drive.software",
	  .kind = WF_PARAM_TIME,
	  FIELD(software),
	  .max = WF_S,
	  .def = "2us",
	  .help = "software of a storage target, from a command's arrival to its drive [A]" },
};

const size_t wf_drive_n_params = WF_ARRAY_SIZE(wf_drive_params);
