/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.c - the parameters of storage.
 *
 * Linux' NVMe over RDMA has 128 commands in a queue unless asked for others, 256 at most at its
 * target, whose default for data in a capsule is a page of 4 KiB, 16 KiB at most; an I/O has 1 MiB
 * at most there (nvme-rdma.h and nvmet/rdma.c of Linux 6.4). Others, and other transports, go
 * further, and so do the ranges here.
 */
#include "sim/storage/config.h"

#include <string.h>

#define FIELD(field) WF_PARAM_FIELD(struct wf_storage_cfg, field)

static const char *const kinds[] = {
	[WF_STORAGE_RANDOM] = "random",
	[WF_STORAGE_SEQUENTIAL] = "sequential",
	[WF_STORAGE_CHECKPOINT] = "checkpoint",
	[WF_STORAGE_RESTORE] = "restore",
	NULL,
};
static const char *const transports[] = { "rdma", "tcp", NULL };

_Static_assert(WF_ARRAY_SIZE(kinds) == WF_STORAGE_KINDS + 1, "name every kind");

const struct wf_param wf_storage_params[] = {
	{ .name = "name",
	  .kind = WF_PARAM_TEXT,
	  FIELD(name),
	  .def = "",
	  .help = "heads its figures in the report; else its kind does" },
	{ .name = "kind",
	  .kind = WF_PARAM_NAME,
	  FIELD(kind),
	  .names = kinds,
	  .def = "random",
	  .help = "what hosts do: I/Os at random or one after the other for a time, or write "
	          "(read) so many bytes each" },
	{ .name = "transport",
	  .kind = WF_PARAM_NAME,
	  FIELD(transport),
	  .names = transports,
	  .def = "rdma",
	  .help = "NVMe over Fabrics over RDMA; tcp is not there yet" },
	{ .name = "hosts",
	  .kind = WF_PARAM_TEXT,
	  FIELD(hosts),
	  .def = "",
	  .help = "hosts that use it: names and patterns, as in devices; all that are not its "
	          "targets" },
	{ .name = "targets",
	  .kind = WF_PARAM_TEXT,
	  FIELD(targets),
	  .def = "",
	  .help = "hosts that have the drives (drive.*); every host uses every one of them" },
	{ .name = "read",
	  .kind = WF_PARAM_RATIO,
	  FIELD(read),
	  .max = WF_RATIO_ONE,
	  .def = "70%",
	  .help = "random, sequential: how many of the I/Os are reads" },
	{ .name = "block",
	  .kind = WF_PARAM_BYTES,
	  FIELD(block),
	  .min = 512,
	  .max = 64 << 20,
	  .def = "128KiB",
	  .help = "bytes of an I/O" },
	{ .name = "bytes",
	  .kind = WF_PARAM_BYTES,
	  FIELD(bytes),
	  .min = 1,
	  .max = INT64_C(1) << 50,
	  .def = "1GB",
	  .help = "checkpoint, restore: what each host writes (reads), over all targets" },
	{ .name = "depth",
	  .kind = WF_PARAM_U32,
	  FIELD(depth),
	  .min = 1,
	  .max = 1024,
	  .def = "32",
	  .help = "I/Os that are under way at a time on a queue" },
	{ .name = "queues",
	  .kind = WF_PARAM_U32,
	  FIELD(queues),
	  .min = 1,
	  .max = 128,
	  .def = "1",
	  .help = "I/O queues, each a queue pair, between a host and a target" },
	{ .name = "in_capsule",
	  .kind = WF_PARAM_BYTES,
	  FIELD(in_capsule),
	  .max = 64 << 10,
	  .def = "4KiB",
	  .help = "writes of up to so many bytes go with their command; others the target "
	          "fetches" },
	{ .name = "class",
	  .kind = WF_PARAM_U32,
	  FIELD(cls),
	  .max = 15,
	  .def = "3",
	  .help = "priority (Ethernet, 0 to 7) or service level (InfiniBand, 0 to 15)" },
	{ .name = "start",
	  .kind = WF_PARAM_TIME,
	  FIELD(start),
	  .max = 10000 * WF_S,
	  .def = "0ps",
	  .help = "when the first I/Os begin" },
	{ .name = "duration",
	  .kind = WF_PARAM_TIME,
	  FIELD(duration),
	  .min = 1,
	  .max = 10000 * WF_S,
	  .def = "1ms",
	  .help = "random, sequential: for how long I/Os begin" },
};

const size_t wf_storage_n_params = WF_ARRAY_SIZE(wf_storage_params);

enum wf_storage_kind wf_storage_kind_find(const char *name)
{
	enum wf_storage_kind kind = WF_STORAGE_RANDOM;

	while (kind < WF_STORAGE_KINDS - 1 && strcmp(kinds[kind], name) != 0)
		kind++;
	assert(strcmp(kinds[kind], name) == 0);
	return kind;
}

int wf_storage_check(const struct wf_storage_cfg *cfg, struct wf_err *err)
{
	if (strcmp(cfg->transport, "rdma") != 0)
		return wf_err_say(err, "transport: NVMe over TCP is not there yet; write rdma");
	if (cfg->targets[0] == '\0')
		return wf_err_say(err, "targets: nobody has the drives; write hosts, e.g. "
		                       "targets: [h6, h7]");
	return 0;
}
