/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.c - the parameters of a fabric: their names, ranges, defaults and one line of help.
 *
 * The defaults are a 400 Gb/s RoCE fabric of no particular vendor, so that a profile needs to say
 * only what is different; where the numbers of real hardware come from is said in profiles/.
 */
#include "fabric/config.h"

#include <errno.h>
#include <string.h>

#include "base/rate.h"
#include "fabric/watchdog.h"
#include "wire/ib.h"

#define HEADERS 128 /* bytes: no packet has more around its payload */

static const char *const link_layers[] = { "ethernet", "infiniband", NULL };
static const char *const stacks[] = { "rdma", "tcp", NULL };
static const char *const recoveries[] = { "auto", "go-back-n", "selective", NULL };
static const char *const telemetry_names[] = { "auto", "none", "int", "pint", NULL };
static const char *const headers[] = { "rocev2", "rocev1", "roce", "ib", NULL };
static const char *const victims[] = { "none", "hosts", "all", NULL };
static const char *const placements[] = { "in-order", "direct", NULL };
static const char *const fulls[] = { "auto", "endless", "pause", "drop", NULL };
static const char *const headrooms[] = { "exact", "sonic", NULL };
static const char *const trusts[] = { "dscp", "pcp", "port", NULL };
static const char *const ecn_at[] = { "enqueue", "dequeue", NULL };
#define WATCHDOG(id, name) name,
static const char *const watchdogs[] = { "none", WF_WATCHDOG_SWITCHES(WATCHDOG) NULL };
static const char *const adapter_watchdogs[] = { "none", WF_WATCHDOG_ADAPTERS(WATCHDOG) NULL };
static const char *const watchdog_actions[] = { "auto", "drop", "forward", "alert", NULL };
/* Those of wf_fec_codes[]. */
static const char *const fecs[] = { "none",    "firecode", "rs528",   "rs544", "rs544x2",
	                            "rs544x4", "rs272",    "rs272x2", NULL };
static const char *const retries[] = { "none", "llr", NULL };

#define FIELD(field)                                                                               \
	.offset = offsetof(struct wf_fabric_cfg, field),                                           \
	.size = sizeof(((struct wf_fabric_cfg *)0)->field)

const struct wf_param wf_fabric_params[] = {
	{ .name = "link_layer",
	  .kind = WF_PARAM_NAME,
	  FIELD(link_layer),
	  .names = link_layers,
	  .def = "ethernet",
	  .help = "what the links speak" },
	{ .name = "flowctl",
	  .kind = WF_PARAM_TEXT,
	  FIELD(flowctl),
	  .def = "pfc",
	  .help = "who keeps packets from being lost (weft list flowctl)" },
	{ .name = "routing",
	  .kind = WF_PARAM_TEXT,
	  FIELD(routing),
	  .def = "ecmp",
	  .help = "how a switch chooses among shortest paths (weft list routing)" },
	{ .name = "header",
	  .kind = WF_PARAM_NAME,
	  FIELD(header),
	  .names = headers,
	  .def = "rocev2",
	  .help = "headers around the payload; rocev1: no IP, so no ECN and no ports for ECMP; "
	          "roce: rocev2, where rocev1 may be, too" },
	{ .name = "link.phy",
	  .kind = WF_PARAM_TIME,
	  FIELD(link_phy),
	  .max = WF_MS,
	  .per = WF_PER_LINK | WF_PER_PORT,
	  .def = "120ns",
	  .help = "PHY and FEC, both ends together, of each link crossing" },
	{ .name = "link.gap",
	  .kind = WF_PARAM_BYTES,
	  FIELD(link_gap),
	  .max = 256,
	  .def = "20B",
	  .help = "preamble and gap between packets" },
	{ .name = "link.rate",
	  .kind = WF_PARAM_RATE,
	  .has_auto = true,
	  FIELD(link_rate),
	  .min = WF_RATE_MIN,
	  .max = WF_RATE_MAX,
	  .per = WF_PER_LINK | WF_PER_TIME,
	  .def = "auto",
	  .help = "a link that came up with less than its rate or width; auto: what the topology "
	          "says" },
	{ .name = "link.ber",
	  .kind = WF_PARAM_BER,
	  FIELD(link_ber),
	  .max = INT64_C(1000000000000000),
	  .per = WF_PER_LINK | WF_PER_PORT | WF_PER_TIME,
	  .def = "0",
	  .help = "bit errors that the FEC leaves; the packet they hit is lost" },
	{ .name = "link.loss",
	  .kind = WF_PARAM_PROB,
	  FIELD(link_loss),
	  .max = WF_PROB_ONE,
	  .per = WF_PER_LINK | WF_PER_PORT | WF_PER_TIME,
	  .def = "0",
	  .help = "chance that a packet is lost on a link, whatever its size, besides link.ber" },
	{ .name = "link.raw_ber",
	  .kind = WF_PARAM_BER,
	  FIELD(link_raw_ber),
	  .max = INT64_C(10000000000000000),
	  .per = WF_PER_LINK | WF_PER_PORT | WF_PER_TIME,
	  .def = "0",
	  .help = "bit errors before the FEC: what link.fec cannot mend is lost, with all frames "
	          "in "
	          "the codeword" },
	{ .name = "link.burst_ber",
	  .kind = WF_PARAM_BER,
	  FIELD(burst_ber),
	  .max = INT64_C(10000000000000000),
	  .per = WF_PER_LINK | WF_PER_PORT | WF_PER_TIME,
	  .def = "0",
	  .help = "in place of link.raw_ber while the link is bad; 0: it never is" },
	{ .name = "link.burst_every",
	  .kind = WF_PARAM_TIME,
	  FIELD(burst_every),
	  .min = WF_US,
	  .max = 1000 * WF_S,
	  .per = WF_PER_LINK | WF_PER_PORT | WF_PER_TIME,
	  .def = "1ms",
	  .help = "mean time for which it is good, exponential" },
	{ .name = "link.burst_for",
	  .kind = WF_PARAM_TIME,
	  FIELD(burst_for),
	  .min = 100 * WF_NS,
	  .max = 1000 * WF_S,
	  .per = WF_PER_LINK | WF_PER_PORT | WF_PER_TIME,
	  .def = "10us",
	  .help = "mean time for which it is bad, exponential" },
	{ .name = "link.fec",
	  .kind = WF_PARAM_NAME,
	  FIELD(link_fec),
	  .names = fecs,
	  .per = WF_PER_LINK | WF_PER_TIME,
	  .def = "rs544x2",
	  .help = "the code that mends link.raw_ber; rs544 is KP4 and rs528 KR4, x2: codewords "
	          "interleaved; what it takes is in link.phy, which this does not change" },
	{ .name = "link.width",
	  .kind = WF_PARAM_RATIO,
	  FIELD(link_width),
	  .min = WF_RATIO_ONE / 16,
	  .max = WF_RATIO_ONE,
	  .per = WF_PER_LINK | WF_PER_TIME,
	  .def = "1",
	  .help = "the part of its lanes, or of its rate, with which a link came up: 1/2 is 2x of "
	          "4x, or 200G of 400G" },
	{ .name = "link.retry",
	  .kind = WF_PARAM_NAME,
	  FIELD(link_retry),
	  .names = retries,
	  .per = WF_PER_LINK | WF_PER_TIME,
	  .def = "none",
	  .help = "llr: what a link loses is sent again by the link, in order (Ultra Ethernet's "
	          "LLR, NVIDIA's PLR)" },
	{ .name = "link.retry_max",
	  .kind = WF_PARAM_U32,
	  FIELD(retry_max),
	  .min = 1,
	  .max = 15,
	  .per = WF_PER_LINK | WF_PER_TIME,
	  .def = "3",
	  .help = "llr: times that a packet is sent again before it is lost (SAI: "
	          "REPLAY_COUNT_MAX)" },
	{ .name = "link.retry_delay",
	  .kind = WF_PARAM_TIME,
	  FIELD(retry_delay),
	  .max = 100 * WF_US,
	  .per = WF_PER_LINK | WF_PER_TIME,
	  .def = "500ns",
	  .help = "llr: what the round trip takes besides cable and link.phy, both ways" },
	{ .name = "link.retry_buffer",
	  .kind = WF_PARAM_BYTES,
	  .has_auto = true,
	  FIELD(retry_buffer),
	  .min = 256,
	  .max = 1 << 20,
	  .per = WF_PER_LINK | WF_PER_TIME,
	  .def = "auto",
	  .help = "llr: what may be unconfirmed (SAI: OUTSTANDING_BYTES_MAX); less than a round "
	          "trip "
	          "holds the link back; auto: as much as that" },
	{ .name = "switch.model",
	  .kind = WF_PARAM_TEXT,
	  FIELD(switch_model),
	  .def = "",
	  .help = "what a switch costs and takes (weft list switches); empty: not known" },
	{ .name = "switch.ports",
	  .kind = WF_PARAM_U32,
	  FIELD(switch_ports),
	  .max = 1024,
	  .def = "0",
	  .help = "ports of one switch at the hosts' rate, for topology.radix: auto; 0 = not "
	          "said" },
	{ .name = "switch.latency",
	  .kind = WF_PARAM_TIME,
	  FIELD(switch_latency),
	  .max = WF_MS,
	  .per = WF_PER_SWITCH,
	  .def = "600ns",
	  .help = "first bit in to first bit out of an idle switch; what a topology's file says "
	          "(htsim) goes before it" },
	{ .name = "switch.reconverge",
	  .kind = WF_PARAM_TIME,
	  .has_auto = true,
	  FIELD(switch_reconverge),
	  .max = 1000000 * WF_S,
	  .per = WF_PER_SWITCH,
	  .def = "auto",
	  .help = "from a link's going down or coming back to new routes in this switch; auto: "
	          "run.reconverge, as in all others" },
	{ .name = "switch.telemetry",
	  .kind = WF_PARAM_NAME,
	  .names = telemetry_names,
	  FIELD(switch_int),
	  .def = "auto",
	  .help = "switches write their load into packets that ask for it: int, every hop; pint, "
	          "one "
	          "code for the busiest; none; auto: int if the congestion control needs it" },
	{ .name = "switch.pint_base",
	  .kind = WF_PARAM_RATIO,
	  FIELD(pint_base),
	  .min = WF_PINT_BASE_MIN,
	  .max = 2 * (int64_t)WF_RATIO_ONE,
	  .def = "1.05",
	  .help = "pint: the ratio of two codes" },
	{ .name = "switch.pint_rtt",
	  .kind = WF_PARAM_TIME,
	  FIELD(pint_rtt),
	  .min = 100 * WF_NS,
	  .max = 100 * WF_MS,
	  .def = "10us",
	  .help = "pint: switches average their load over this; the base RTT" },
	{ .name = "switch.cut_through",
	  .kind = WF_PARAM_BOOL,
	  FIELD(switch_cut),
	  .per = WF_PER_SWITCH,
	  .def = "true",
	  .help = "send on before the packet's end has come in, where the rates allow it" },
	{ .name = "nic.stack",
	  .kind = WF_PARAM_NAME,
	  FIELD(nic_stack),
	  .names = stacks,
	  .def = "rdma",
	  .help = "who moves the data; what the kernel costs is in the times below, not here" },
	{ .name = "nic.doorbell",
	  .kind = WF_PARAM_TIME,
	  FIELD(nic_doorbell),
	  .max = WF_MS,
	  .per = WF_PER_HOST | WF_PER_TIME,
	  .def = "150ns",
	  .help = "work posted by the program to known by the adapter" },
	{ .name = "nic.tx",
	  .kind = WF_PARAM_TIME,
	  FIELD(nic_tx),
	  .max = WF_MS,
	  .per = WF_PER_HOST | WF_PER_TIME,
	  .def = "150ns",
	  .help = "from there to the first bit on the wire, when the data is there" },
	{ .name = "nic.fetch",
	  .kind = WF_PARAM_TIME,
	  FIELD(nic_fetch),
	  .max = WF_MS,
	  .per = WF_PER_HOST | WF_PER_TIME,
	  .def = "450ns",
	  .help = "reading host memory (a PCIe round trip), for data beyond nic.inline" },
	{ .name = "nic.inline",
	  .kind = WF_PARAM_BYTES,
	  FIELD(nic_inline),
	  .max = 4096,
	  .per = WF_PER_HOST | WF_PER_TIME,
	  .def = "220B",
	  .help = "data that comes with the doorbell and need not be fetched" },
	{ .name = "nic.pcie",
	  .kind = WF_PARAM_RATE,
	  FIELD(nic_pcie),
	  .min = WF_RATE_MIN,
	  .max = WF_RATE_MAX,
	  .per = WF_PER_HOST | WF_PER_TIME,
	  .def = "440Gbps",
	  .help = "between adapter and memory, each way, after PCIe's own headers" },
	{ .name = "nic.pcie_mps",
	  .kind = WF_PARAM_BYTES,
	  .has_auto = true,
	  FIELD(nic_pcie_mps),
	  .min = 64,
	  .max = 4096,
	  .per = WF_PER_HOST | WF_PER_TIME,
	  .def = "auto",
	  .help = "PCIe's largest payload of a TLP: nic.pcie then carries the TLPs' headers, too, "
	          "24 bytes with a write, 20 with what was read and 24 to ask for 512 bytes of "
	          "it; auto: it does not" },
	{ .name = "nic.rx",
	  .kind = WF_PARAM_TIME,
	  FIELD(nic_rx),
	  .max = WF_MS,
	  .per = WF_PER_HOST,
	  .def = "300ns",
	  .help = "last bit off the wire to data in memory, and answered" },
	{ .name = "nic.rx_full",
	  .kind = WF_PARAM_NAME,
	  FIELD(nic_rx_full),
	  .names = fulls,
	  .per = WF_PER_HOST | WF_PER_TIME,
	  .def = "auto",
	  .help = "what an adapter does whose receive buffer is full: pause, lossless classes "
	          "send pauses or give no credits, lossy ones drop; drop, all drop; endless, it "
	          "never is; auto: pause where nic.rx_buffer is set, else endless" },
	{ .name = "nic.rx_buffer",
	  .kind = WF_PARAM_BYTES,
	  .has_auto = true,
	  FIELD(nic_rx_buffer),
	  .min = 1024,
	  .max = WF_BUFFER_MAX,
	  .per = WF_PER_HOST,
	  .def = "auto",
	  .help = "Ethernet: receive buffer of an adapter, of each class; auto: 220896B (a "
	          "ConnectX, by mlnx_qos); InfiniBand: vl.buffer of each VL" },
	{ .name = "nic.rx_xoff",
	  .kind = WF_PARAM_BYTES,
	  .has_auto = true,
	  FIELD(nic_rx_xoff),
	  .max = WF_BUFFER_MAX,
	  .per = WF_PER_HOST,
	  .def = "auto",
	  .help = "Ethernet: above so much of nic.rx_buffer a lossless class sends pauses; auto: "
	          "what leaves room for all that comes until they hold" },
	{ .name = "nic.rx_xon",
	  .kind = WF_PARAM_BYTES,
	  .has_auto = true,
	  FIELD(nic_rx_xon),
	  .max = WF_BUFFER_MAX,
	  .per = WF_PER_HOST,
	  .def = "auto",
	  .help = "Ethernet: with so much left the pause ends; auto: a packet less than "
	          "nic.rx_xoff" },
	{ .name = "nic.rx_rate",
	  .kind = WF_PARAM_RATE,
	  .has_auto = true,
	  FIELD(nic_rx_rate),
	  .min = WF_RATE_MIN,
	  .max = WF_RATE_MAX,
	  .per = WF_PER_HOST | WF_PER_TIME,
	  .def = "auto",
	  .help = "what goes from the receive buffer to memory: a host whose memory is busy, or "
	          "whose PCIe is slow one way; auto: nic.pcie" },
	{ .name = "nic.rx_packets",
	  .kind = WF_PARAM_U64,
	  .has_auto = true,
	  FIELD(nic_rx_packets),
	  .min = 1,
	  .max = INT64_C(1000000000000),
	  .per = WF_PER_HOST | WF_PER_TIME,
	  .def = "auto",
	  .help = "packets that an adapter takes in per second; auto: any number" },
	{ .name = "nic.mtt_misses",
	  .kind = WF_PARAM_PROB,
	  FIELD(nic_mtt_misses),
	  .max = WF_PROB_ONE,
	  .per = WF_PER_HOST | WF_PER_TIME,
	  .def = "0",
	  .help = "chance that the address of a received packet has to be fetched from host "
	          "memory first (an MTT miss), which takes nic.fetch and holds up all behind it" },
	{ .name = "nic.messages",
	  .kind = WF_PARAM_U64,
	  .has_auto = true,
	  FIELD(nic_messages),
	  .min = 1,
	  .max = INT64_C(1000000000000),
	  .per = WF_PER_HOST | WF_PER_TIME,
	  .def = "auto",
	  .help = "messages that an adapter can begin to send per second, queue pairs; auto: any "
	          "number" },
	{ .name = "nic.qp_messages",
	  .kind = WF_PARAM_U64,
	  .has_auto = true,
	  FIELD(nic_qp_messages),
	  .min = 1,
	  .max = INT64_C(1000000000000),
	  .per = WF_PER_HOST | WF_PER_TIME,
	  .def = "auto",
	  .help = "the same of one queue pair" },
	{ .name = "nic.rate_min",
	  .kind = WF_PARAM_RATE,
	  FIELD(nic_rate_min),
	  .max = WF_RATE_MAX,
	  .def = "0",
	  .help = "the slowest host link that these settings are made for; slower ones are "
	          "refused" },
	{ .name = "nic.rate_max",
	  .kind = WF_PARAM_RATE,
	  FIELD(nic_rate_max),
	  .max = WF_RATE_MAX,
	  .def = "0",
	  .help = "the fastest host link that these settings are made for; 0: any" },
	{ .name = "mtu",
	  .kind = WF_PARAM_BYTES,
	  FIELD(mtu),
	  .min = 64,
	  .max = 16384,
	  .def = "4096B",
	  .help = "payload of a full packet" },
	{ .name = "port.mtu",
	  .kind = WF_PARAM_BYTES,
	  .has_auto = true,
	  FIELD(port_mtu),
	  .min = 64,
	  .max = 65535,
	  .per = WF_PER_HOST | WF_PER_SWITCH | WF_PER_PORT | WF_PER_TIME,
	  .def = "auto",
	  .help = "larger IP packets (InfiniBand: payloads) are dropped, in and out; auto: none "
	          "is" },
	{ .name = "nic.dscp",
	  .kind = WF_PARAM_TEXT,
	  FIELD(nic_dscp),
	  .per = WF_PER_HOST | WF_PER_TIME,
	  .def = "auto",
	  .help = "Ethernet: what packets of a class are marked with, class:DSCP, e.g. 3:26,6:48 "
	          "(an adapter's traffic class or ToS); auto: 8 times the class, but 3:26" },
	{ .name = "nic.cnp_dscp",
	  .kind = WF_PARAM_U64,
	  .has_auto = true,
	  FIELD(nic_cnp_dscp),
	  .max = 63,
	  .per = WF_PER_HOST | WF_PER_TIME,
	  .def = "auto",
	  .help = "Ethernet: DSCP of CNPs; auto: as their class (cc.cnp_802p_prio)" },
	{ .name = "maps.trust",
	  .kind = WF_PARAM_NAME,
	  FIELD(map_trust),
	  .names = trusts,
	  .per = WF_PER_SWITCH | WF_PER_PORT | WF_PER_TIME,
	  .def = "dscp",
	  .help = "Ethernet: by what a switch tells a packet's traffic class: DSCP, 802.1p (pcp), "
	          "or the port alone" },
	{ .name = "maps.port_tc",
	  .kind = WF_PARAM_U32,
	  FIELD(map_port_tc),
	  .max = 7,
	  .per = WF_PER_SWITCH | WF_PER_PORT | WF_PER_TIME,
	  .def = "0",
	  .help = "Ethernet: traffic class of all that comes in, trust port" },
	{ .name = "maps.dscp_tc",
	  .kind = WF_PARAM_TEXT,
	  FIELD(map_dscp_tc),
	  .per = WF_PER_SWITCH | WF_PER_PORT | WF_PER_TIME,
	  .def = "auto",
	  .help = "Ethernet: DSCP:class, the last that names a DSCP counts, e.g. 0-63:0,26:3,48:6; "
	          "auto: DSCP / 8; sonic: SONiC's stock map, where 26 is class 1" },
	{ .name = "maps.pcp_tc",
	  .kind = WF_PARAM_TEXT,
	  FIELD(map_pcp_tc),
	  .per = WF_PER_SWITCH | WF_PER_PORT | WF_PER_TIME,
	  .def = "auto",
	  .help = "Ethernet: 802.1p priority:class; auto: the same number" },
	{ .name = "maps.tc_queue",
	  .kind = WF_PARAM_TEXT,
	  FIELD(map_tc_queue),
	  .per = WF_PER_SWITCH | WF_PER_PORT | WF_PER_TIME,
	  .def = "auto",
	  .help = "Ethernet: traffic class:queue; auto: the same number" },
	{ .name = "maps.tc_pg",
	  .kind = WF_PARAM_TEXT,
	  FIELD(map_tc_pg),
	  .per = WF_PER_SWITCH | WF_PER_PORT | WF_PER_TIME,
	  .def = "auto",
	  .help = "Ethernet: traffic class:priority group, where it is buffered; auto: the same "
	          "number; sonic: 3, 4 and 7 the same, all others 0" },
	{ .name = "maps.pfc_queue",
	  .kind = WF_PARAM_TEXT,
	  FIELD(map_pfc_queue),
	  .per = WF_PER_HOST | WF_PER_SWITCH | WF_PER_PORT | WF_PER_TIME,
	  .def = "auto",
	  .help = "Ethernet: priority:queue that a pause frame stops; auto: the same number" },
	{ .name = "maps.pfc_pg",
	  .kind = WF_PARAM_TEXT,
	  FIELD(map_pfc_pg),
	  .per = WF_PER_SWITCH | WF_PER_PORT | WF_PER_TIME,
	  .def = "auto",
	  .help = "Ethernet: priority:priority group that sends it when it is full; auto: the same "
	          "number" },
	{ .name = "hash.fields",
	  .kind = WF_PARAM_TEXT,
	  FIELD(hash_fields),
	  .per = WF_PER_SWITCH | WF_PER_TIME,
	  .def = "src,dst,sport",
	  .help = "routing ecmp: what of a packet is hashed: src, dst, sport" },
	{ .name = "hash.seed",
	  .kind = WF_PARAM_U64,
	  .has_auto = true,
	  FIELD(hash_seed),
	  .max = INT64_MAX - 1,
	  .per = WF_PER_SWITCH | WF_PER_TIME,
	  .def = "auto",
	  .help = "routing ecmp: the hash's seed; with the same one in every tier flows polarise; "
	          "auto: each switch has another" },
	{ .name = "classes.lossless",
	  .kind = WF_PARAM_TEXT,
	  FIELD(class_lossless),
	  .per = WF_PER_HOST | WF_PER_SWITCH | WF_PER_PORT,
	  .def = "3",
	  .help = "Ethernet: priorities that PFC protects, e.g. 3,4" },
	{ .name = "classes.strict",
	  .kind = WF_PARAM_TEXT,
	  FIELD(class_strict),
	  .per = WF_PER_HOST | WF_PER_SWITCH | WF_PER_PORT | WF_PER_TIME,
	  .def = "6",
	  .help = "Ethernet: priorities served before all others, the highest first" },
	{ .name = "classes.ecn",
	  .kind = WF_PARAM_TEXT,
	  FIELD(class_ecn),
	  .per = WF_PER_SWITCH | WF_PER_PORT | WF_PER_TIME,
	  .def = "3",
	  .help = "Ethernet: priorities whose packets are marked" },
	{ .name = "classes.weights",
	  .kind = WF_PARAM_TEXT,
	  FIELD(class_weights),
	  .per = WF_PER_HOST | WF_PER_SWITCH | WF_PER_PORT | WF_PER_TIME,
	  .def = "0:50,3:50",
	  .help = "Ethernet: shares of the others (DWRR), priority:weight" },
	{ .name = "classes.trim",
	  .kind = WF_PARAM_TEXT,
	  FIELD(class_trim),
	  .per = WF_PER_SWITCH,
	  .def = "",
	  .help = "Ethernet: lossy packets that do not fit lose their payload, not all; the rest "
	          "goes on in this priority" },
	{ .name = "buffer.size",
	  .kind = WF_PARAM_BYTES,
	  FIELD(buffer_size),
	  .min = 1024,
	  .max = WF_BUFFER_MAX,
	  .per = WF_PER_SWITCH,
	  .def = "64MB",
	  .help = "shared packet memory of a switch (pfc, none)" },
	{ .name = "buffer.cell",
	  .kind = WF_PARAM_BYTES,
	  FIELD(buffer_cell),
	  .min = 1,
	  .max = WF_CELL_MAX,
	  .per = WF_PER_SWITCH,
	  .def = "192B",
	  .help = "the memory is handed out in cells of this size" },
	{ .name = "buffer.reserved",
	  .kind = WF_PARAM_BYTES,
	  FIELD(buffer_reserved),
	  .max = WF_BUFFER_MAX,
	  .per = WF_PER_SWITCH,
	  .def = "9216B",
	  .help = "kept for each port and lossless class" },
	{ .name = "buffer.headroom",
	  .kind = WF_PARAM_BYTES,
	  .has_auto = true,
	  FIELD(buffer_headroom),
	  .max = WF_BUFFER_MAX,
	  .per = WF_PER_SWITCH | WF_PER_PORT,
	  .def = "auto",
	  .help = "kept for what arrives after a pause is sent; auto: what rate and cable need" },
	{ .name = "buffer.headroom_by",
	  .kind = WF_PARAM_NAME,
	  FIELD(buffer_headroom_by),
	  .names = headrooms,
	  .per = WF_PER_SWITCH | WF_PER_PORT,
	  .def = "exact",
	  .help = "headroom auto: what this model needs at the worst, or what SONiC's "
	          "calculation for NVIDIA's switches gives" },
	{ .name = "buffer.headroom_table",
	  .kind = WF_PARAM_TEXT,
	  FIELD(buffer_headroom_table),
	  .per = WF_PER_SWITCH | WF_PER_PORT,
	  .def = "",
	  .help = "headroom auto: from a table, rate:length:bytes, ..., the shortest cable that is "
	          "not too short (SONiC's pg_profile_lookup.ini)" },
	{ .name = "buffer.small_packets",
	  .kind = WF_PARAM_PROB,
	  FIELD(buffer_small),
	  .max = (int64_t)WF_PROB_ONE,
	  .per = WF_PER_SWITCH | WF_PER_PORT,
	  .def = "100%",
	  .help = "headroom auto: share of smallest packets to be ready for, the rest are of the "
	          "MTU" },
	{ .name = "buffer.alpha",
	  .kind = WF_PARAM_RATIO,
	  FIELD(buffer_alpha),
	  .min = 1,
	  .max = WF_ALPHA_MAX,
	  .per = WF_PER_SWITCH | WF_PER_PORT | WF_PER_TIME,
	  .def = "1/8",
	  .help = "part of the free memory that one port and lossless class may take" },
	{ .name = "buffer.queue_alpha",
	  .kind = WF_PARAM_RATIO,
	  FIELD(buffer_queue_alpha),
	  .min = 1,
	  .max = WF_ALPHA_MAX,
	  .per = WF_PER_SWITCH | WF_PER_PORT | WF_PER_TIME,
	  .def = "1",
	  .help = "part of the free memory that one egress queue of a lossy class may take" },
	{ .name = "buffer.trim_alpha",
	  .kind = WF_PARAM_RATIO,
	  .has_auto = true,
	  FIELD(buffer_trim_alpha),
	  .min = 1,
	  .max = WF_ALPHA_MAX,
	  .per = WF_PER_SWITCH,
	  .def = "auto",
	  .help = "the same for the queue of classes.trim, which has a buffer profile of its own "
	          "(SONiC, packet trimming); auto: buffer.queue_alpha" },
	{ .name = "buffer.xon",
	  .kind = WF_PARAM_BYTES,
	  FIELD(buffer_xon),
	  .max = WF_BUFFER_MAX,
	  .per = WF_PER_SWITCH,
	  .def = "18432B",
	  .help = "how far below the pause threshold the sender is let go again" },
	{ .name = "ecn.kmin",
	  .kind = WF_PARAM_BYTES,
	  FIELD(ecn_kmin),
	  .max = INT64_C(1) << 40,
	  .per = WF_PER_SWITCH | WF_PER_PORT | WF_PER_TIME,
	  .def = "150KB",
	  .help = "queue length from which packets are marked",
	  .instead_of = "ecn.by_rate" },
	{ .name = "ecn.kmax",
	  .kind = WF_PARAM_BYTES,
	  FIELD(ecn_kmax),
	  .max = INT64_C(1) << 40,
	  .per = WF_PER_SWITCH | WF_PER_PORT | WF_PER_TIME,
	  .def = "1500KB",
	  .help = "queue length from which every packet is marked",
	  .instead_of = "ecn.by_rate" },
	{ .name = "ecn.pmax",
	  .kind = WF_PARAM_PROB,
	  FIELD(ecn_pmax),
	  .max = (int64_t)WF_PROB_ONE,
	  .per = WF_PER_SWITCH | WF_PER_PORT | WF_PER_TIME,
	  .def = "5%",
	  .help = "marking probability just below kmax",
	  .instead_of = "ecn.by_rate" },
	{ .name = "ecn.at",
	  .kind = WF_PARAM_NAME,
	  FIELD(ecn_at),
	  .names = ecn_at,
	  .per = WF_PER_SWITCH,
	  .def = "enqueue",
	  .help = "when a packet is marked: as it joins the queue, or by what it leaves behind" },
	{ .name = "ecn.by_rate",
	  .kind = WF_PARAM_TEXT,
	  FIELD(ecn_by_rate),
	  .per = WF_PER_SWITCH | WF_PER_PORT,
	  .def = "",
	  .help = "for ports of a rate, in place of the above: rate:kmin:kmax:pmax, ..." },
	{ .name = "ecn.by_class",
	  .kind = WF_PARAM_TEXT,
	  FIELD(ecn_by_class),
	  .per = WF_PER_SWITCH | WF_PER_PORT | WF_PER_TIME,
	  .def = "",
	  .help = "for queues, in place of all of the above: priority:kmin:kmax:pmax, ..." },
	{ .name = "pfc.frame",
	  .kind = WF_PARAM_BYTES,
	  FIELD(pfc_frame),
	  .min = 32,
	  .max = 256,
	  .def = "64B",
	  .help = "size of a pause frame" },
	{ .name = "pfc.quanta",
	  .kind = WF_PARAM_U32,
	  FIELD(pfc_quanta),
	  .min = 1,
	  .max = 65535,
	  .per = WF_PER_HOST | WF_PER_SWITCH | WF_PER_PORT | WF_PER_TIME,
	  .def = "65535",
	  .help = "pause asked for in a frame, 512 bit times each; refreshed while it lasts" },
	{ .name = "pfc.reaction",
	  .kind = WF_PARAM_TIME,
	  .has_auto = true,
	  FIELD(pfc_reaction),
	  .max = WF_MS,
	  .per = WF_PER_HOST | WF_PER_SWITCH | WF_PER_PORT | WF_PER_TIME,
	  .def = "auto",
	  .help = "pause frame in to nothing new out, at the connector, pipeline and PHY included; "
	          "auto: what IEEE 802.3 31B.3.7 allows at the rate (905 quanta at 400G)" },
	{ .name = "pfc.tx",
	  .kind = WF_PARAM_TEXT,
	  FIELD(pfc_tx),
	  .per = WF_PER_HOST | WF_PER_SWITCH | WF_PER_PORT | WF_PER_TIME,
	  .def = "auto",
	  .help = "priorities for which pause frames are sent; auto: classes.lossless" },
	{ .name = "pfc.rx",
	  .kind = WF_PARAM_TEXT,
	  FIELD(pfc_rx),
	  .per = WF_PER_HOST | WF_PER_SWITCH | WF_PER_PORT | WF_PER_TIME,
	  .def = "auto",
	  .help = "priorities whose pause frames are obeyed; auto: classes.lossless" },
	{ .name = "watchdog.rules",
	  .kind = WF_PARAM_NAME,
	  FIELD(watchdog_rules),
	  .names = watchdogs,
	  .per = WF_PER_SWITCH | WF_PER_PORT | WF_PER_TIME,
	  .def = "none",
	  .help = "PFC watchdog of switches: by whose rules a queue that is paused is stuck, and "
	          "what "
	          "is done then (weft list watchdogs)" },
	{ .name = "watchdog.action",
	  .kind = WF_PARAM_NAME,
	  FIELD(watchdog_action),
	  .names = watchdog_actions,
	  .per = WF_PER_SWITCH | WF_PER_PORT | WF_PER_TIME,
	  .def = "auto",
	  .help = "drop what is in the queue and what comes to it; forward: send it in spite of "
	          "pauses; alert: count only; auto: drop, as all of them do unless told" },
	{ .name = "watchdog.poll",
	  .kind = WF_PARAM_TIME,
	  .has_auto = true,
	  FIELD(watchdog_poll),
	  .min = WF_US,
	  .max = 1000 * WF_S,
	  .per = WF_PER_SWITCH | WF_PER_PORT | WF_PER_TIME,
	  .def = "auto",
	  .help = "how often the watchdog looks; auto: as the rules say" },
	{ .name = "watchdog.detect",
	  .kind = WF_PARAM_TIME,
	  .has_auto = true,
	  FIELD(watchdog_detect),
	  .min = 1,
	  .max = 1000 * WF_S,
	  .per = WF_PER_SWITCH | WF_PER_PORT | WF_PER_TIME,
	  .def = "auto",
	  .help = "it acts on a queue that is stuck at polls for so long; auto: as the rules say" },
	{ .name = "watchdog.restore",
	  .kind = WF_PARAM_TIME,
	  .has_auto = true,
	  FIELD(watchdog_restore),
	  .min = 1,
	  .max = 1000 * WF_S,
	  .per = WF_PER_SWITCH | WF_PER_PORT | WF_PER_TIME,
	  .def = "auto",
	  .help = "it is over when no pause frame came for so long; auto: as the rules say" },
	{ .name = "watchdog.phase",
	  .kind = WF_PARAM_TIME,
	  .has_auto = true,
	  FIELD(watchdog_phase),
	  .max = 1000 * WF_S,
	  .per = WF_PER_SWITCH | WF_PER_TIME,
	  .def = "auto",
	  .help = "when the polls are: at this and every watchdog.poll after it, divided as they "
	          "are; "
	          "auto: drawn for each switch" },
	{ .name = "watchdog.adapter",
	  .kind = WF_PARAM_NAME,
	  FIELD(watchdog_adapter),
	  .names = adapter_watchdogs,
	  .per = WF_PER_HOST | WF_PER_TIME,
	  .def = "none",
	  .help = "watchdog of adapters: whoever has sent pauses for too long sends no more (weft "
	          "list "
	          "watchdogs)" },
	{ .name = "watchdog.adapter_detect",
	  .kind = WF_PARAM_TIME,
	  .has_auto = true,
	  FIELD(watchdog_adapter_detect),
	  .min = 1,
	  .max = 1000 * WF_S,
	  .per = WF_PER_HOST | WF_PER_TIME,
	  .def = "auto",
	  .help = "for how long it may; auto: as the rules say" },
	{ .name = "watchdog.speedup",
	  .kind = WF_PARAM_U32,
	  FIELD(watchdog_speedup),
	  .min = 1,
	  .max = 1000000,
	  .def = "1",
	  .help = "all times of watchdogs are divided by this, for runs of milliseconds: with "
	          "1000, "
	          "SONiC's 200ms are 200us" },
	{ .name = "adaptive.low",
	  .kind = WF_PARAM_BYTES,
	  FIELD(adaptive_low),
	  .max = INT64_C(1) << 32,
	  .per = WF_PER_SWITCH,
	  .def = "0B",
	  .help = "routing adaptive: a port has a grade: idle, busy with less than this in its "
	          "buffer, than adaptive.medium, than adaptive.high, or more (NVIDIA's congestion "
	          "thresholds; Cumulus: 100, 1000, 10000 cells); 0: its bytes, no grades" },
	{ .name = "adaptive.medium",
	  .kind = WF_PARAM_BYTES,
	  FIELD(adaptive_medium),
	  .max = INT64_C(1) << 32,
	  .per = WF_PER_SWITCH,
	  .def = "192KB",
	  .help = "the same" },
	{ .name = "adaptive.high",
	  .kind = WF_PARAM_BYTES,
	  FIELD(adaptive_high),
	  .max = INT64_C(1) << 32,
	  .per = WF_PER_SWITCH,
	  .def = "1.92MB",
	  .help = "the same" },
	{ .name = "adaptive.delay",
	  .kind = WF_PARAM_TIME,
	  FIELD(adaptive_delay),
	  .max = WF_S,
	  .per = WF_PER_SWITCH,
	  .def = "0ps",
	  .help = "grades are computed every so often (SAI: sampling interval, 16us); 0: for every "
	          "packet" },
	{ .name = "adaptive.bind",
	  .kind = WF_PARAM_TIME,
	  FIELD(adaptive_bind),
	  .max = WF_S,
	  .per = WF_PER_SWITCH,
	  .def = "0ps",
	  .help = "a flow keeps its port until it has been silent for so long (SAI: idle time of "
	          "flowlets, 16us to 32.767ms); 0: every packet is free" },
	{ .name = "vl.count",
	  .kind = WF_PARAM_U32,
	  FIELD(vl_count),
	  .min = 1,
	  .max = 15,
	  .def = "4",
	  .help = "InfiniBand: data virtual lanes" },
	{ .name = "vl.buffer",
	  .kind = WF_PARAM_BYTES,
	  FIELD(vl_buffer),
	  .min = 256,
	  /* A flow control packet counts blocks modulo 2^12, and half of them may be open. */
	  .max = (WF_FCP_COUNT_MASK + 1) / 2 * WF_IB_BLOCK,
	  .per = WF_PER_HOST | WF_PER_SWITCH | WF_PER_PORT,
	  .def = "128KiB",
	  .help = "InfiniBand: receive buffer of each port and virtual lane" },
	{ .name = "vl.sl2vl",
	  .kind = WF_PARAM_TEXT,
	  FIELD(vl_sl2vl),
	  .per = WF_PER_HOST | WF_PER_SWITCH,
	  .def = "auto",
	  .help = "InfiniBand: VL of each of the 16 service levels; auto: SL modulo vl.count" },
	{ .name = "vl.arb_high",
	  .kind = WF_PARAM_TEXT,
	  FIELD(vl_arb_high),
	  .per = WF_PER_HOST | WF_PER_SWITCH | WF_PER_PORT | WF_PER_TIME,
	  .def = "",
	  .help = "InfiniBand: high-priority arbitration table, VL:weight" },
	{ .name = "vl.arb_low",
	  .kind = WF_PARAM_TEXT,
	  FIELD(vl_arb_low),
	  .per = WF_PER_HOST | WF_PER_SWITCH | WF_PER_PORT | WF_PER_TIME,
	  .def = "auto",
	  .help = "InfiniBand: low-priority table; auto: every VL the same" },
	{ .name = "vl.high_limit",
	  .kind = WF_PARAM_U32,
	  FIELD(vl_high_limit),
	  .max = 255,
	  .per = WF_PER_HOST | WF_PER_SWITCH | WF_PER_PORT | WF_PER_TIME,
	  .def = "0",
	  .help = "InfiniBand: 4 KiB units the high table may send before a low packet; 255: any" },
	{ .name = "vl.hoq_life",
	  .kind = WF_PARAM_TIME,
	  .has_auto = true,
	  FIELD(vl_hoq_life),
	  .min = 1,
	  .max = 1000 * WF_S,
	  .per = WF_PER_SWITCH | WF_PER_PORT | WF_PER_TIME,
	  .def = "auto",
	  .help = "InfiniBand: a packet longer than this at a queue's head is dropped (HOQLife: "
	          "4.096us "
	          "x 2^n); auto: never" },
	{ .name = "vl.leaf_hoq_life",
	  .kind = WF_PARAM_TIME,
	  .has_auto = true,
	  FIELD(vl_leaf_life),
	  .min = 1,
	  .max = 1000 * WF_S,
	  .per = WF_PER_SWITCH | WF_PER_PORT | WF_PER_TIME,
	  .def = "auto",
	  .help = "InfiniBand: the same of ports that lead to hosts (OpenSM's "
	          "leaf_head_of_queue_lifetime); auto: vl.hoq_life" },
	{ .name = "vl.stall_count",
	  .kind = WF_PARAM_U32,
	  FIELD(vl_stall),
	  .max = 7,
	  .per = WF_PER_SWITCH | WF_PER_PORT | WF_PER_TIME,
	  .def = "0",
	  .help = "InfiniBand: after so many packets so dropped one after another a virtual lane "
	          "drops "
	          "all packets for 8 times vl.hoq_life (VLStallCount; OpenSM: 7); 0: never" },
	{ .name = "vl.leaf_stall_count",
	  .kind = WF_PARAM_U64,
	  .has_auto = true,
	  FIELD(vl_leaf_stall),
	  .max = 7,
	  .per = WF_PER_SWITCH | WF_PER_PORT | WF_PER_TIME,
	  .def = "auto",
	  .help = "InfiniBand: the same of ports that lead to hosts; auto: vl.stall_count" },
	{ .name = "fecn.threshold",
	  .kind = WF_PARAM_U32,
	  FIELD(fecn_threshold),
	  .max = 15,
	  .per = WF_PER_SWITCH | WF_PER_TIME,
	  .def = "0",
	  .help = "InfiniBand: a queue above (16 - threshold)/16 of vl.buffer is congested; 0: "
	          "none is" },
	{ .name = "fecn.marking_rate",
	  .kind = WF_PARAM_U32,
	  FIELD(fecn_rate),
	  .max = 65535,
	  .per = WF_PER_SWITCH | WF_PER_TIME,
	  .def = "0",
	  .help = "InfiniBand: packets passed over between two marked ones, on average" },
	{ .name = "fecn.packet_size",
	  .kind = WF_PARAM_U32,
	  FIELD(fecn_size),
	  .max = 255,
	  .per = WF_PER_SWITCH | WF_PER_TIME,
	  .def = "0",
	  .help = "InfiniBand: packets of fewer 64-byte blocks are not marked" },
	{ .name = "fecn.victim_mask",
	  .kind = WF_PARAM_NAME,
	  FIELD(fecn_victim_mask),
	  .names = victims,
	  .per = WF_PER_SWITCH,
	  .def = "hosts",
	  .help = "InfiniBand: ports that mark even where their queue waits for credits" },
	{ .name = "sender.window",
	  .kind = WF_PARAM_BYTES,
	  FIELD(sender_window),
	  .min = 64,
	  .max = INT64_C(1) << 32,
	  .def = "256KiB",
	  .help = "the windowed sender: what a flow may have in flight; queue pairs have no "
	          "window" },
	{ .name = "sender.ack",
	  .kind = WF_PARAM_U32,
	  FIELD(sender_ack),
	  .min = 1,
	  .max = 65535,
	  .per = WF_PER_HOST,
	  .def = "4",
	  .help = "packets to one acknowledgement" },
	{ .name = "sender.timeout",
	  .kind = WF_PARAM_TIME,
	  FIELD(sender_timeout),
	  .min = WF_US,
	  .max = 1000 * WF_S,
	  .per = WF_PER_HOST,
	  .def = "4.194304ms",
	  .help = "without an acknowledgement for so long, the flow sends again" },
	{ .name = "sender.recovery",
	  .kind = WF_PARAM_NAME,
	  FIELD(sender_recovery),
	  .names = recoveries,
	  .def = "auto",
	  .help = "queue pairs: what is sent again after a loss; auto: selective where packets "
	          "are reordered or trimmed" },
	{ .name = "sender.ack_class",
	  .kind = WF_PARAM_U32,
	  FIELD(sender_ack_class),
	  .max = 15,
	  .per = WF_PER_HOST,
	  .def = "0",
	  .help = "queue pairs: priority of acknowledgements; 0: that of the data" },
	{ .name = "sender.spray",
	  .kind = WF_PARAM_BOOL,
	  FIELD(sender_spray),
	  .per = WF_PER_HOST,
	  .def = "false",
	  .help = "queue pairs: every packet has a source port of its own, so that ecmp spreads "
	          "them" },
	{ .name = "sender.placement",
	  .kind = WF_PARAM_NAME,
	  FIELD(sender_placement),
	  .names = placements,
	  .def = "in-order",
	  .help = "queue pairs: packets of WRITEs that come early wait for their turn, or go to "
	          "memory at once" },
};

const size_t wf_fabric_n_params = WF_ARRAY_SIZE(wf_fabric_params);

static bool is(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

/* The link layer decides who may do the flow control and what a packet looks like. */
static int check_link_layer(const struct wf_fabric_cfg *cfg, struct wf_err *err)
{
	bool ib = is(cfg->link_layer, "infiniband");

	if (ib && !is(cfg->flowctl, "credit"))
		return wf_err_say(err,
		                  "flowctl: %s cannot be had on InfiniBand; write credit, or set "
		                  "link_layer to ethernet",
		                  cfg->flowctl);
	if (!ib && is(cfg->flowctl, "credit"))
		return wf_err_say(err,
		                  "flowctl: credit cannot be had on Ethernet; write pfc or none, "
		                  "or set link_layer to infiniband");
	if (ib != is(cfg->header, "ib"))
		return wf_err_say(err, "header: %s does not go with %s; write %s", cfg->header,
		                  cfg->link_layer, ib ? "ib" : "rocev2");
	return 0;
}

/*
 * What IP and UDP are for in RoCE: marks, ports that tell flows apart, a DSCP for what was trimmed.
 */
static int check_roce1(const struct wf_fabric_cfg *cfg, const struct wf_classes *classes,
                       struct wf_err *err)
{
	if (!is(cfg->header, "rocev1"))
		return 0;
	if (cfg->sender_spray)
		return wf_err_say(err, "sender.spray: rocev1 has no UDP ports to spray by; write "
		                       "false, or header: rocev2");
	if (classes->trims)
		return wf_err_say(err, "classes.trim: rocev1 has no DSCP that would tell trimmed "
		                       "packets; write none, or header: rocev2");
	return 0;
}

/* An adapter's receive buffer, and when it stops its peer. */
static int check_receive(const struct wf_fabric_cfg *cfg, struct wf_err *err)
{
	const uint64_t none = (uint64_t)WF_PARAM_AUTO;
	uint64_t size = cfg->nic_rx_buffer != none ? cfg->nic_rx_buffer : WF_RX_BUFFER;
	uint64_t xoff = cfg->nic_rx_xoff != none ? cfg->nic_rx_xoff : size;

	if (is(cfg->nic_rx_full, "drop") && is(cfg->flowctl, "credit"))
		return wf_err_say(err, "nic.rx_full: with credits nothing comes for which there is "
		                       "no room; write pause, or endless");
	if (is(cfg->nic_rx_full, "endless") && cfg->nic_rx_buffer != none)
		return wf_err_say(err, "nic.rx_buffer: an endless one has no size; write rx_full: "
		                       "pause, or drop");
	if (xoff > size)
		return wf_err_say(err,
		                  "nic.rx_xoff: the buffer has less than that; it may be at most "
		                  "%lluB",
		                  (unsigned long long)size);
	if (cfg->nic_rx_xon != none && cfg->nic_rx_xon > xoff)
		return wf_err_say(err,
		                  "nic.rx_xon: a pause would end before it begins; it may be at "
		                  "most %lluB",
		                  (unsigned long long)xoff);
	return 0;
}

int wf_fabric_check(const struct wf_fabric_cfg *cfg, struct wf_err *err)
{
	struct wf_headroom_row rows[WF_HEADROOM_ROWS];
	struct wf_classes classes;
	unsigned n;
	int rc = check_link_layer(cfg, err);

	if (rc != 0)
		return rc;
	rc = wf_classes_parse(cfg, &classes, err);
	if (rc != 0)
		return rc;
	rc = check_roce1(cfg, &classes, err);
	if (rc != 0)
		return rc;
	rc = wf_headroom_parse(cfg->buffer_headroom_table, rows, &n, err);
	if (rc == 0)
		rc = wf_watchdog_check(cfg, err);
	if (rc == 0)
		rc = check_receive(cfg, err);
	if (rc != 0)
		return rc;
	if (cfg->ecn_kmin > cfg->ecn_kmax)
		return wf_err_say(err, "ecn.kmin: it is above ecn.kmax; it may be at most %lluB",
		                  (unsigned long long)cfg->ecn_kmax);
	if (is(cfg->flowctl, "credit") && cfg->vl_buffer < cfg->mtu + HEADERS)
		return wf_err_say(
			err,
			"vl.buffer: no packet of mtu %lluB and its headers fits; it must be "
			"at least %lluB",
			(unsigned long long)cfg->mtu, (unsigned long long)cfg->mtu + HEADERS);
	if (cfg->retry_buffer < cfg->mtu + HEADERS)
		return wf_err_say(err,
		                  "link.retry_buffer: no packet of mtu %lluB and its headers fits; "
		                  "it must be at least %lluB",
		                  (unsigned long long)cfg->mtu,
		                  (unsigned long long)cfg->mtu + HEADERS);
	if (cfg->adaptive_low != 0 &&
	    (cfg->adaptive_medium < cfg->adaptive_low || cfg->adaptive_high < cfg->adaptive_medium))
		return wf_err_say(err, "adaptive.low: the grades need adaptive.low <= "
		                       "adaptive.medium <= adaptive.high");
	if (cfg->sender_window < cfg->mtu)
		return wf_err_say(err,
		                  "sender.window: it is less than a packet; it must be at least "
		                  "the mtu, %lluB",
		                  (unsigned long long)cfg->mtu);
	if ((uint64_t)cfg->sender_ack * cfg->mtu > cfg->sender_window)
		return wf_err_say(err,
		                  "sender.ack: %u packets are more than sender.window, so that the "
		                  "flow would stop; it may be at most %llu",
		                  (unsigned)cfg->sender_ack,
		                  (unsigned long long)(cfg->sender_window / cfg->mtu));
	return 0;
}

int wf_fabric_check_rate(const struct wf_fabric_cfg *cfg, uint64_t rate, struct wf_err *err)
{
	const double gbps = 1e9; /* for the message alone */

	if (cfg->nic_rate_max != 0 && rate > cfg->nic_rate_max)
		return wf_err_say(
			err,
			"nic.rate_max: this is made for hosts of at most %g Gb/s, and there "
			"are links of %g; set topology.host_rate, take another profile, or "
			"set nic.rate_max: 0 to use it all the same",
			(double)cfg->nic_rate_max / gbps, (double)rate / gbps);
	if (rate < cfg->nic_rate_min)
		return wf_err_say(
			err,
			"nic.rate_min: this is made for hosts of at least %g Gb/s, and there "
			"are links of %g; set topology.host_rate, take another profile, or "
			"set nic.rate_min: 0 to use it all the same",
			(double)cfg->nic_rate_min / gbps, (double)rate / gbps);
	return 0;
}
