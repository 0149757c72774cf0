/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coll_params.c - the table of what may be tuned about collectives; docs/jobs.md has the sources.
 */
#include "job/coll.h"

#define FIELD(field)                                                                               \
	.offset = offsetof(struct wf_coll_cfg, field),                                             \
	.size = sizeof(((struct wf_coll_cfg *)0)->field)
#define TIME(called, field, value, text)                                                           \
	{                                                                                          \
		.name = (called), .kind = WF_PARAM_TIME, FIELD(field), .max = WF_S,                \
		.def = (value), .help = (text)                                                     \
	}
#define BYTES(called, field, least, value, text)                                                   \
	{                                                                                          \
		.name = (called), .kind = WF_PARAM_BYTES, FIELD(field), .min = (least),            \
		.max = INT64_C(1) << 40, .def = (value), .help = (text)                            \
	}

const struct wf_param wf_coll_params[] = {
	{ .name = "channels",
	  .kind = WF_PARAM_U32,
	  FIELD(channels),
	  .max = 64,
	  .def = "0",
	  .help = "channels (rings, trees) side by side; 0: as many as a server has NICs" },
	BYTES("channel_min", channel_min, 1, "32KiB",
	      "bytes below which a collective is not worth another channel"),
	BYTES("buffer", buffer, 1024, "4MiB", "buffer of a connection, Simple (NCCL_BUFFSIZE)"),
	{ .name = "steps",
	  .kind = WF_PARAM_U32,
	  FIELD(steps),
	  .min = 1,
	  .max = 32,
	  .def = "8",
	  .help = "slots of a connection's buffer (NCCL_STEPS)" },
	{ .name = "chunk_steps",
	  .kind = WF_PARAM_U32,
	  FIELD(chunk_steps),
	  .min = 1,
	  .max = 32,
	  .def = "4",
	  .help = "slots that a chunk of a ring takes, Simple" },
	{ .name = "slice_steps",
	  .kind = WF_PARAM_U32,
	  FIELD(slice_steps),
	  .min = 1,
	  .max = 32,
	  .def = "2",
	  .help = "slots that a message takes, Simple" },
	BYTES("p2p_chunk", p2p_chunk, 1, "128KiB",
	      "largest message of a point-to-point transfer or all-to-all "
	      "(NCCL_P2P_NET_CHUNKSIZE)"),
	TIME("launch", launch, "6.6us", "from a collective's turn on a GPU to its first step"),
	TIME("nvlink.ll", nvlink_ll, "0", "delay of a step over NVLink, LL, besides the link"),
	TIME("nvlink.ll128", nvlink_ll128, "1.3us", "the same, LL128"),
	TIME("nvlink.simple", nvlink_simple, "2.8us", "the same, Simple"),
	TIME("net.ll", net_ll, "0.7us",
	     "delay of a step over the network, LL, besides the network"),
	TIME("net.ll128", net_ll128, "2us", "the same, LL128"),
	TIME("net.simple", net_simple, "7us", "the same, Simple"),
	{ .name = "reduce",
	  .kind = WF_PARAM_RATE,
	  FIELD(reduce),
	  .min = 1000000,
	  .max = INT64_C(1) << 60,
	  .def = "8.9Tbps",
	  .help = "rate at which a GPU reduces or copies, all channels together" },
	BYTES("ll_max", ll_max, 0, "8KiB",
	      "bytes of a rank's block on a channel up to which auto takes LL"),
	BYTES("ll128_max", ll128_max, 0, "64KiB", "the same for LL128"),
	BYTES("tree_max", tree_max, 0, "16MiB",
	      "bytes up to which auto takes trees for an all-reduce"),
	{ .name = "pxn",
	  .kind = WF_PARAM_BOOL,
	  FIELD(pxn),
	  .def = "true",
	  .help = "messages leave by the NIC of the rail on which they arrive (NVLink first)" },
};

const size_t wf_coll_n_params = WF_ARRAY_SIZE(wf_coll_params);
