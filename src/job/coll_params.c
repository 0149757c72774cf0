/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coll_params.c - the table of what may be tuned about collectives; docs/jobs.md has the sources.
 */
#include "job/coll.h"

#include "job/nvlink.h"

#define FIELD(field) WF_PARAM_FIELD(struct wf_coll_cfg, field)
#define TIME(called, field, value, text)                                                           \
	{                                                                                          \
		.name = (called), .kind = WF_PARAM_TIME, FIELD(field), .max = WF_S,                \
		.def = (value), .help = (text)                                                     \
	}
#define BYTES(called, field, least, value, text)                                                   \
	{                                                                                          \
		.name = (called), .kind = WF_PARAM_BYTES, FIELD(field), .min = (least),            \
		.max = INT64_C(1) << 38, .def = (value), .help = (text)                            \
	}

static const char *const generations[] = { "volta", "ampere", "hopper", "blackwell", NULL };
static const char *const cpus[] = { "intel", "amd", "other", NULL };

const struct wf_param wf_coll_params[] = {
	{ .name = "channels",
	  .kind = WF_PARAM_U32,
	  FIELD(channels),
	  .max = 64,
	  .def = "0",
	  .help = "channels (rings, trees) side by side at most; 0: as many as NCCL finds" },
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
	TIME("nvlink.ll", nvlink_ll, "0",
	     "delay of a ring's step over NVLink, LL, besides the link"),
	TIME("nvlink.ll128", nvlink_ll128, "1.3us", "the same, LL128"),
	TIME("nvlink.simple", nvlink_simple, "2.8us", "the same, Simple"),
	TIME("net.ll", net_ll, "0.7us",
	     "delay of a ring's step over the network, LL, besides the network"),
	TIME("net.ll128", net_ll128, "2us", "the same, LL128"),
	TIME("net.simple", net_simple, "12us", "the same, Simple"),
	TIME("nvlink.tree.ll", tree_nvlink_ll, "0", "delay of a tree's step over NVLink, LL"),
	TIME("nvlink.tree.ll128", tree_nvlink_ll128, "0.65us", "the same, LL128"),
	TIME("nvlink.tree.simple", tree_nvlink_simple, "3.4us", "the same, Simple"),
	TIME("net.tree.ll", tree_net_ll, "3us", "delay of a tree's step over the network, LL"),
	TIME("net.tree.ll128", tree_net_ll128, "6.5us", "the same, LL128"),
	TIME("net.tree.simple", tree_net_simple, "12us", "the same, Simple"),
	TIME("nvlink.nvls", nvls, "25us", "what NVLS takes inside a server, besides its bytes"),
	TIME("net.nvls", nvls_net, "9us", "delay of a step of NVLSTree over the network"),
	{ .name = "net.collnet",
	  .kind = WF_PARAM_TIME,
	  .has_auto = true,
	  FIELD(collnet_net),
	  .max = WF_S,
	  .def = "auto",
	  .help = "delay of a reduction in switches, where packets go through them, besides the "
	          "network; auto: of NCCL's model" },
	{ .name = "reduce",
	  .kind = WF_PARAM_RATE,
	  FIELD(reduce),
	  .min = WF_NV_RATE_MIN,
	  .max = WF_NV_RATE_MAX,
	  .def = "8.9Tbps",
	  .help = "rate at which a GPU reduces or copies, all channels together" },
	{ .name = "pxn",
	  .kind = WF_PARAM_BOOL,
	  FIELD(pxn),
	  .def = "true",
	  .help = "messages leave by the NIC of the rail on which they arrive (NVLink first)" },
	{ .name = "nvls",
	  .kind = WF_PARAM_BOOL,
	  FIELD(nvls_on),
	  .def = "true",
	  .help = "NVSwitches multicast and reduce, from Hopper on (NCCL_NVLS_ENABLE)" },
	{ .name = "collnet",
	  .kind = WF_PARAM_BOOL,
	  FIELD(collnet),
	  .def = "false",
	  .help = "the network's switches reduce: SHARP (NCCL_COLLNET_ENABLE)" },
	{ .name = "nic_rate",
	  .kind = WF_PARAM_RATE,
	  FIELD(nic_rate),
	  .max = WF_NV_RATE_MAX,
	  .def = "0bps",
	  .help = "rate of a NIC for NCCL's choice; 0: that of the topology's hosts" },
	{ .name = "pcie_rate",
	  .kind = WF_PARAM_RATE,
	  FIELD(pcie_rate),
	  .min = WF_NV_RATE_MIN,
	  .max = WF_NV_RATE_MAX,
	  .def = "384Gbps",
	  .help = "PCIe between GPU and NIC as NCCL counts it: Gen4 192, Gen5 384 Gb/s" },
	{ .name = "generation",
	  .kind = WF_PARAM_NAME,
	  FIELD(generation),
	  .def = "hopper",
	  .names = generations,
	  .help = "the GPU's, for NCCL's choice; unless given, that of gpu" },
	{ .name = "cpu",
	  .kind = WF_PARAM_NAME,
	  FIELD(cpu),
	  .def = "intel",
	  .names = cpus,
	  .help = "the servers', for NCCL's choice" },
};

const size_t wf_coll_n_params = WF_ARRAY_SIZE(wf_coll_params);
