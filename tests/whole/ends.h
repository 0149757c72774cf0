/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ends.h - how test_ends.c runs each row of the parameters' tables, and what becomes of it. A new
 * row that does not run to its end as `plain` has it gets a line here.
 */
#ifndef WF_TESTS_ENDS_H
#define WF_TESTS_ENDS_H

#include <stddef.h>
#include <string.h>

#include "base/base.h"

/* What becomes of a run. */
enum outcome {
	DONE,    /* every flow is delivered */
	CUT,     /* it ends before that, because run.until comes */
	LONG,    /* it goes on for longer than a test can wait */
	REFUSED, /* it is refused, with the parameter's name and place */
	ELSE,    /* it is refused, with the place of what does not go together with it */
	BROKEN,  /* none of that */
};

static const char *const outcome_names[] = {
	"done", "cut", "long", "refused", "refused", "broken"
};

/* ---- how rows are run ---- */

/*
 * The first whose name is the row's, or what the row's begins with where it ends with a dot or is
 * empty. What is set is set over `plain`, or `plain_job` or `plain_storage` where it sets something
 * of these. "ops": once with op window, once with op write.
 */
static const struct context {
	const char *row;
	const char *set; /* "fabric.flowctl=none traffic.op=write" */
} contexts[] = {
#define IB "fabric.link_layer=infiniband fabric.flowctl=credit fabric.header=ib fabric.routing=lft "
#define TWO_PORTS "topology.kind=leaf-spine topology.radix=16 topology.ports=2 "
#define CC "traffic.op=write traffic.size=200KB fabric.cc.algorithm="
	{ "name", "" },
	{ "seed", "traffic.kind=random traffic.duration=1us" },
	{ "run.until", "" },
	{ "run.reconverge", "faults=[h1,leaf0]" },
	{ "run.deadlock_check", "ops=1 fabric.buffer.size=600KB fabric.buffer.alpha=1/64" },
	{ "run.stop_at_deadlock", "ops=1 fabric.buffer.size=600KB fabric.buffer.alpha=1/64" },
	{ "matters", "" },
	{ "compare.", "" }, /* read and checked; tests/cli/compare.bats runs them */
	{ "live.", "" },    /* the same; tests/live/model.bats */

	{ "topology.kind", "topology.hosts=8 topology.radix=16" },
	{ "topology.file", "" },
	{ "topology.hosts", "topology.kind=single traffic.kind=shift" },
	{ "topology.ports", "ops=1 " TWO_PORTS },
	{ "topology.homing", "ops=1 " TWO_PORTS },
	{ "topology.radix", "" },
	{ "topology.blocking", "topology.radix=8" },
	{ "topology.host_rate", "ops=1 run.until=10s fabric.sender.timeout=1000s fabric.mtu=1024 "
	                        "fabric.buffer.size=1GB" },
	{ "topology.fabric_rate", "ops=1 run.until=10s fabric.sender.timeout=1000s fabric.mtu=1024 "
	                          "fabric.buffer.size=1GB" },
	{ "topology.cable.", "ops=1 run.until=10s fabric.sender.timeout=1000s "
	                     "fabric.buffer.size=4GB" },
	{ "topology.gpus",
	  "topology.kind=rail topology.hosts=64 topology.radix=0 traffic.kind=shift" },
	{ "topology.leaf_rails", "topology.kind=rail topology.hosts=128 topology.gpus=64 "
	                         "topology.radix=0 traffic.kind=shift" },
	{ "topology.group_switches", "topology.kind=dragonfly topology.radix=0" },
	{ "topology.switch_hosts", "topology.kind=dragonfly topology.radix=0" },
	{ "topology.global_links", "topology.kind=dragonfly topology.radix=0" },

	{ "fabric.sm", IB "traffic.op=write" },
	{ "fabric.sm.sweep_interval", IB "ops=1 fabric.sm=weft faults=[h1,leaf0]" },
	{ "fabric.sm.adaptive", IB "ops=1 fabric.sm=weft fabric.routing=adaptive" },
	{ "fabric.sm.", IB "ops=1 fabric.sm=weft" },
	{ "fabric.convergence", "faults=[h1,leaf0]" },
	{ "fabric.link_layer", "" },
	{ "fabric.flowctl", "" },
	{ "fabric.routing", "" },
	{ "fabric.header", "" },
	{ "fabric.link.rate", "ops=1 run.until=10s fabric.sender.timeout=1000s fabric.mtu=1024 "
	                      "fabric.buffer.size=1GB" },
	{ "fabric.link.fec", "fabric.link.raw_ber=1e-8" },
	{ "fabric.link.burst_ber", "fabric.link.burst_every=10us" },
	{ "fabric.link.burst_", "fabric.link.burst_ber=2.4e-4" },
	{ "fabric.link.retry", "fabric.link.loss=1%" },
	{ "fabric.link.retry_", "fabric.link.loss=1% fabric.link.retry=llr" },
	{ "fabric.link.", "ops=1 fabric.buffer.size=1GB" },
	{ "fabric.port.mtu", "ops=1" },
	{ "fabric.maps.", "ops=1" },
	{ "fabric.hash.", "ops=1" },
	{ "fabric.switch.pint_", "fabric.switch.telemetry=pint " CC "hpcc" },
	{ "fabric.switch.telemetry", CC "hpcc" },
	{ "fabric.switch.reconverge", "faults=[h1,leaf0]" },
	{ "fabric.switch.", "ops=1 fabric.buffer.size=1GB" },
	{ "fabric.nic.qps_per_connection", "job.kind=all-reduce" },
	{ "fabric.nic.bond", "ops=1 " TWO_PORTS "faults=[h1,leaf0]" },
	{ "fabric.nic.bond_path", "ops=1 " TWO_PORTS "faults=[h1,leaf0]" },
	{ "fabric.nic.bond_failover", "ops=1 " TWO_PORTS "faults=[h1,leaf0]" },
	{ "fabric.nic.bond_return", "ops=1 " TWO_PORTS "faults=[h1,leaf0]" },
	{ "fabric.nic.rx_full", "ops=1 run.until=10s fabric.sender.timeout=1000s" },
	{ "fabric.nic.rx_xoff", "ops=1 fabric.nic.rx_full=pause" },
	{ "fabric.nic.rx_xon", "ops=1 fabric.nic.rx_full=pause" },
	{ "fabric.nic.rx_rate",
	  "ops=1 run.until=10s fabric.sender.timeout=1000s fabric.nic.rx_full=pause" },
	{ "fabric.nic.rx_packets",
	  "ops=1 run.until=1000s fabric.sender.timeout=1000s fabric.nic.rx_full=pause" },
	{ "fabric.nic.mtt_misses", "ops=1 fabric.nic.rx_full=pause" },
	{ "fabric.nic.pcie_mps", "ops=1 fabric.nic.rx_full=pause" },
	{ "fabric.nic.", "ops=1 run.until=10s fabric.sender.timeout=1000s" },
	{ "fabric.mtu", "fabric.sender.ack=1" }, /* queue pairs have 256 to 4096, or refuse it */
	{ "fabric.classes.", "" },
	{ "fabric.buffer.size", "ops=1 fabric.flowctl=none fabric.sender.timeout=20us" },
	{ "fabric.buffer.queue_alpha", "ops=1 fabric.flowctl=none" },
	{ "fabric.buffer.trim_alpha", "ops=1 fabric.flowctl=none fabric.classes.trim=6" },
	{ "fabric.buffer.", "ops=1" },
	{ "fabric.ecn.kmin", "fabric.ecn.kmax=1024GiB " CC "dcqcn" },
	{ "fabric.ecn.kmax", "fabric.ecn.kmin=0B " CC "dcqcn" },
	{ "fabric.ecn.", CC "dcqcn" },
	{ "fabric.pfc.reaction", "ops=1 fabric.buffer.size=1GB fabric.buffer.alpha=1/4096" },
	{ "fabric.pfc.", "ops=1 fabric.buffer.size=600KB fabric.buffer.alpha=1/64" },
	{ "fabric.watchdog.adapter", "ops=1 fabric.nic.rx_full=pause" },
	{ "fabric.watchdog.adapter_detect",
	  "ops=1 fabric.nic.rx_full=pause fabric.watchdog.adapter=connectx" },
	{ "fabric.watchdog.speedup", "ops=1 fabric.buffer.size=600KB fabric.buffer.alpha=1/64 "
	                             "fabric.watchdog.rules=sonic" },
	{ "fabric.watchdog.", "ops=1 fabric.buffer.size=600KB fabric.buffer.alpha=1/64 "
	                      "fabric.watchdog.rules=sonic fabric.watchdog.poll=1us" },
	{ "fabric.adaptive.", "ops=1 fabric.routing=adaptive fabric.adaptive.low=1KB "
	                      "fabric.adaptive.medium=4GiB fabric.adaptive.high=4GiB" },
	{ "fabric.vl.buffer", IB "fabric.mtu=128" },
	{ "fabric.vl.", "ops=1 " IB },
	{ "fabric.fecn.", IB "fabric.fecn.threshold=15 " CC "ibcc" },
	{ "fabric.sender.recovery", "traffic.op=write" },
	{ "fabric.sender.ack", "ops=1 fabric.sender.window=4GiB" },
	{ "fabric.sender.", "ops=1" },
	{ "fabric.tcp.", "traffic.op=tcp run.until=100s" },
	{ "fabric.state", "" },
	{ "fabric.cc.algorithm", "traffic.op=write" },
	{ "fabric.cc.ibcc.", IB "fabric.fecn.threshold=15 " CC "ibcc" },
	{ "fabric.cc.dcqcn.",
	  "fabric.ecn.kmin=4KB fabric.ecn.kmax=8KB fabric.ecn.pmax=1 " CC "dcqcn" },
	{ "fabric.cc.dctcp.",
	  "fabric.ecn.kmin=4KB fabric.ecn.kmax=8KB fabric.ecn.pmax=1 " CC "dctcp" },
	{ "fabric.cc.fixed.", CC "fixed" },
	{ "fabric.cc.hpcc.pint_", "fabric.switch.telemetry=pint " CC "hpcc" },
	{ "fabric.cc.hpcc.", CC "hpcc" },
	{ "fabric.cc.hpcc-ns3.", CC "hpcc-ns3" },
	{ "fabric.cc.nscc.",
	  "fabric.ecn.kmin=4KB fabric.ecn.kmax=8KB fabric.ecn.pmax=1 " CC "nscc" },
	{ "fabric.cc.swift.", CC "swift" },
	{ "fabric.cc.timely.", CC "timely" },
	{ "fabric.cc.cnp_802p_prio", "fabric.ecn.kmin=4KB fabric.ecn.kmax=8KB " CC "dcqcn" },
	{ "fabric.cc.reaction_point", "fabric.ecn.kmin=4KB fabric.ecn.kmax=8KB " CC "dcqcn" },
	{ "fabric.cc.notification_point", "fabric.ecn.kmin=4KB fabric.ecn.kmax=8KB " CC "dcqcn" },
	{ "fabric.cc.cnp_per", "fabric.ecn.kmin=4KB fabric.ecn.kmax=8KB " CC "dcqcn" },
	{ "fabric.cc.min_time_between_cnps",
	  "fabric.ecn.kmin=4KB fabric.ecn.kmax=8KB " CC "dcqcn" },

#define SHARP                                                                                      \
	IB "fabric.sharp.enabled=true job.kind=all-reduce job.collnet=true "                       \
	   "job.algorithm=collnet-chain job.gpus_per_server=1 job.launch=0 "
	{ "fabric.sharp.tree_jobs", SHARP "job.bytes=8KB" },
	{ "fabric.sharp.payload", SHARP "job.bytes=8KB" },
	{ "fabric.sharp.operations", SHARP "job.bytes=8KB" },
	{ "fabric.sharp.fragment", SHARP "job.bytes=8KB" },
	{ "fabric.sharp.", SHARP "job.bytes=64KB" },

	{ "fabric.drive.", "storage.depth=8 run.until=1000s" },

	{ "storage.bytes", "storage.kind=checkpoint" },
	{ "storage.in_capsule", "storage.read=0 storage.block=64KiB" },
	{ "storage.maxh2cdata", "storage.transport=tcp storage.read=0 storage.block=64KiB" },
	{ "storage.data_align", "storage.transport=tcp storage.header_digest=true" },
	{ "storage.header_digest", "storage.transport=tcp" },
	{ "storage.data_digest", "storage.transport=tcp" },
	{ "storage.success", "storage.transport=tcp" },
	{ "storage.block", "storage.hosts=h0 storage.depth=1" },
	{ "storage.queues", "storage.depth=1" },
	{ "storage.", "storage.depth=2" },

	{ "traffic.kind", "" },
	{ "traffic.op", "" },
	{ "traffic.distance", "ops=1 traffic.kind=shift" },
	{ "traffic.load", "ops=1 traffic.kind=random traffic.duration=10us" },
	{ "traffic.duration", "traffic.kind=random traffic.size=1GB" },
	{ "traffic.sizes", "" },
	{ "traffic.repeat", "traffic.size=1B traffic.fanin=1" },
	{ "traffic.", "ops=1" },

	{ "job.kind", "job.layers=1 job.micro_batches=1 job.scale=0.001 job.scale_error=1000 "
	              "job.memory_check=false" },
	{ "job.file", "job.kind=all-reduce" },
	{ "job.groups", "job.kind=all-reduce" },
	{ "job.model", "job.kind=all-reduce" },
	{ "job.gpu", "job.kind=all-reduce" },
	{ "job.root", "job.kind=broadcast" },
	{ "job.p2p_chunk", "job.kind=all-to-all" },
#define TRAIN                                                                                      \
	"job.kind=train job.layers=1 job.micro_batches=1 job.scale=0.001 job.scale_error=1000 "    \
	"job.memory_check=false "
	{ "job.sequence", TRAIN },
	{ "job.layers", TRAIN },
	{ "job.tp", TRAIN },
	{ "job.pp", TRAIN },
	{ "job.dp", TRAIN },
	{ "job.ep", TRAIN },
	{ "job.interleave", TRAIN "job.pp=2 job.layers=2" },
	{ "job.micro_batch", TRAIN },
	{ "job.micro_batches", TRAIN },
	{ "job.global_batch", TRAIN },
	{ "job.sequence_parallel", TRAIN "job.tp=2" },
	{ "job.recompute", TRAIN },
	{ "job.sharded", TRAIN },
	{ "job.overlap", TRAIN },
	{ "job.precision", TRAIN },
	{ "job.gradient", TRAIN },
	{ "job.bucket", TRAIN },
	{ "job.optimizer_bytes", TRAIN },
	{ "job.memory_check", TRAIN },
	{ "job.scale", TRAIN },
	{ "job.scale_error", TRAIN },
	{ "job.net.tree.", "job.kind=all-reduce job.algorithm=tree" },
	{ "job.nvlink.tree.", "job.kind=all-reduce job.algorithm=tree" },
	{ "job.bytes", "job.kind=all-reduce job.algorithm=ring job.protocol=simple "
	               "job.buffer=256GiB" },
	{ "job.iterations", "job.kind=all-reduce job.bytes=8B job.ranks=2 job.gpus_per_server=1" },
	{ "job.net.collnet", SHARP "job.bytes=8B" },
	{ "job.net.nvls", "job.kind=all-reduce job.algorithm=nvls-tree" },
	{ "job.nvlink.nvls", "job.kind=all-reduce job.algorithm=nvls job.gpus_per_server=4" },
	{ "job.", "job.kind=all-reduce" },
};

/* What does not run to the end, and why that is right. The value: "min", "max", or a word. */
static const struct other {
	const char *row, *value;
	enum outcome outcome;
} other[] = {
	/* Too short for what is sent, or beyond the end. */
	{ "run.until", "min", CUT },
	{ "traffic.start", "max", CUT },
	{ "traffic.duration", "max", CUT },
	{ "storage.start", "max", CUT },
	{ "storage.duration", "max", CUT },
	{ "traffic.load", "min", CUT },     /* no flow begins within the duration */
	{ "traffic.duration", "min", CUT }, /* the same */
	/* Everything is lost. */
	{ "fabric.link.ber", "max", CUT },
	{ "fabric.link.loss", "max", CUT },
	{ "fabric.link.raw_ber", "max", CUT },
	{ "fabric.link.burst_ber", "max", CUT },
	{ "fabric.port.mtu", "min", CUT },
	{ "fabric.sharp.rate", "min", CUT },
	/* A step takes longer than the run. */
	{ "job.launch", "max", CUT },
	{ "job.nvlink.ll", "max", CUT },
	{ "job.net.ll", "max", CUT },
	{ "job.nvlink.tree.ll128", "max", CUT },
	{ "job.net.tree.ll128", "max", CUT },
	{ "job.nvlink.nvls", "max", CUT },
	{ "job.net.nvls", "max", CUT },
	{ "job.net.collnet", "max", CUT },
	{ "job.micro_batch", "max", CUT },
	{ "job.micro_batches", "max", CUT },
	{ "job.sequence", "max", CUT },
	/* More is sent than a test can wait for. */
	{ "traffic.size", "max", LONG },
	{ "storage.bytes", "max", LONG },
	{ "storage.block", "max", LONG },
	{ "traffic.repeat", "max", LONG },
	{ "job.bytes", "max", LONG },
	{ "job.iterations", "max", LONG },
	{ "job.p2p_chunk", "min", LONG },
	{ "job.layers", "min", LONG }, /* the model's own */
	{ "job.layers", "max", LONG },
	{ "job.sharded", "false", LONG },
	{ "job.scale", "max", LONG },
	/* They do not go together with the rest, or there is no such thing in this network. */
	{ "topology.kind", "hpcc", REFUSED }, /* it needs a file */
	{ "topology.kind", "htsim", REFUSED },
	{ "topology.kind", "ibnetdiscover", REFUSED },
	{ "topology.hosts", "min", ELSE },
	{ "topology.hosts", "max", REFUSED },
	{ "topology.fabric_rate", "min", REFUSED },
	{ "topology.group_switches", "max", REFUSED },
	{ "topology.switch_hosts", "max", REFUSED },
	{ "topology.global_links", "max", REFUSED },
	{ "fabric.link_layer", "infiniband", REFUSED },
	{ "fabric.header", "ib", REFUSED },
	{ "fabric.flowctl", "credit", REFUSED },
	{ "fabric.switch.telemetry", "none", REFUSED },
	{ "fabric.nic.rate_min", "max", REFUSED },
	{ "fabric.nic.rx_buffer", "min", REFUSED }, /* nothing comes after a pause that fits */
	{ "fabric.nic.rx_xoff", "max", REFUSED },
	{ "fabric.nic.rx_xon", "max", REFUSED },
	{ "fabric.buffer.reserved", "max", REFUSED },
	{ "fabric.sm", "none", REFUSED },
	/* Without sm.qos nobody folds service levels onto the one lane that is left. */
	{ "fabric.sm.max_op_vls", "min", CUT },
	{ "fabric.sm.sm_inactive", "true", CUT }, /* nobody wakes it, and no port is active */
	{ "fabric.buffer.headroom", "max", REFUSED },
	{ "fabric.adaptive.medium", "min", REFUSED },
	{ "fabric.adaptive.high", "min", REFUSED },
	{ "fabric.sender.window", "min", REFUSED },
	{ "fabric.link.retry_buffer", "min", REFUSED },
	{ "traffic.class", "max", REFUSED },
	{ "storage.class", "max", REFUSED },
	{ "traffic.fanin", "max", REFUSED },
	{ "traffic.target", "max", REFUSED },
	{ "traffic.distance", "max", REFUSED },
	{ "job.kind", "goal", REFUSED }, /* it needs a file */
	{ "job.kind", "htsim", REFUSED },
	{ "job.kind", "chakra", REFUSED },
	{ "job.kind", "simai", REFUSED },
	{ "job.kind", "hpcc", REFUSED },
	{ "job.algorithm", "pairwise", REFUSED },
	{ "job.algorithm", "nvls", REFUSED },
	{ "job.algorithm", "collnet-direct", REFUSED },
	{ "job.algorithm", "collnet-chain", REFUSED },
	{ "job.chunk_steps", "min", REFUSED },
	{ "job.chunk_steps", "max", REFUSED },
	{ "job.steps", "min", REFUSED },
	{ "job.slice_steps", "max", REFUSED },
	{ "job.class", "max", REFUSED },
	{ "job.dp", "max", REFUSED },
	{ "job.ep", "max", REFUSED },
	{ "job.tp", "max", REFUSED },
	{ "job.pp", "max", REFUSED },
	{ "job.global_batch", "max", REFUSED },
	{ "job.interleave", "max", REFUSED },
	{ "job.gpus_per_server", "max", REFUSED },
	{ "job.nics_per_server", "max", REFUSED },
	{ "job.ranks", "max", REFUSED },
	{ "job.root", "max", REFUSED },
	{ "job.scale_error", "min", REFUSED },
};

static inline const struct context *context_of(const char *row)
{
	for (size_t i = 0; i < WF_ARRAY_SIZE(contexts); i++) {
		size_t len = strlen(contexts[i].row);
		char last = contexts[i].row[len - 1];

		if (strcmp(contexts[i].row, row) == 0 ||
		    ((last == '.' || last == '_') && strncmp(contexts[i].row, row, len) == 0))
			return &contexts[i];
	}
	return NULL;
}

static inline enum outcome outcome_of(const char *row, const char *value)
{
	for (size_t i = 0; i < WF_ARRAY_SIZE(other); i++) {
		if (strcmp(other[i].row, row) == 0 && strcmp(other[i].value, value) == 0)
			return other[i].outcome;
	}
	return DONE;
}

#endif
