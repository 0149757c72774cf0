/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.c - the parameters of storage.
 *
 * Linux' NVMe over RDMA has 128 commands in a queue unless asked for others, 256 at most at its
 * target, whose default for data in a capsule is a page of 4 KiB, 16 KiB at most; an I/O has 1 MiB
 * at most there (nvme-rdma.h and nvmet/rdma.c of Linux 6.4). Over TCP that default is four pages,
 * and a PDU of a write's data has 4 MiB at most (nvmet/tcp.c: NVMET_TCP_DEF_INLINE_DATA_SIZE,
 * NVMET_TCP_MAXH2CDATA); digests, alignment and SUCCESS are off unless asked for. Others, and other
 * transports, go further, and so do the ranges here.
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
static const char *const transports[] = { "auto", "rdma", "tcp", NULL };

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
	  .def = "auto",
	  .help = "NVMe over RDMA, or over the kernel's TCP (fabric.tcp.*); auto: TCP where "
	          "fabric.nic.stack is sockets" },
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
	  .help = "I/O queues, each a queue pair or a TCP connection, between a host and a "
	          "target" },
	{ .name = "in_capsule",
	  .kind = WF_PARAM_BYTES,
	  .has_auto = true,
	  FIELD(in_capsule),
	  .max = 64 << 10,
	  .def = "auto",
	  .help = "writes of up to so many bytes go with their command; others the target "
	          "fetches; auto: as Linux' targets, 4KiB, and over TCP 16KiB" },
	{ .name = "maxh2cdata",
	  .kind = WF_PARAM_BYTES,
	  FIELD(maxh2cdata),
	  .min = 4096,
	  .max = 64 << 20,
	  .def = "4MiB",
	  .help = "TCP: bytes of a write's data in a PDU at most (MAXH2CDATA)" },
	{ .name = "data_align",
	  .kind = WF_PARAM_BYTES,
	  FIELD(data_align),
	  .min = 4,
	  .max = 128,
	  .def = "4B",
	  .help = "TCP: data begins at a multiple of so many bytes in its PDU (HPDA, CPDA)" },
	{ .name = "header_digest",
	  .kind = WF_PARAM_BOOL,
	  FIELD(header_digest),
	  .def = "false",
	  .help = "TCP: 4 bytes behind the header of every PDU (HDGST)" },
	{ .name = "data_digest",
	  .kind = WF_PARAM_BOOL,
	  FIELD(data_digest),
	  .def = "false",
	  .help = "TCP: 4 bytes behind the data of every PDU that has any (DDGST), and what "
	          "they cost a core (fabric.tcp.digest)" },
	{ .name = "success",
	  .kind = WF_PARAM_BOOL,
	  FIELD(success),
	  .def = "false",
	  .help = "TCP: a read's data says that all is well (SUCCESS), and no response follows" },
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

bool wf_storage_is_tcp(const struct wf_storage_cfg *cfg, const char *nic_stack)
{
	return strcmp(cfg->transport, "tcp") == 0 ||
	       (strcmp(cfg->transport, "auto") == 0 && strcmp(nic_stack, "sockets") == 0);
}

uint64_t wf_storage_in_capsule(const struct wf_storage_cfg *cfg, bool tcp)
{
	if (cfg->in_capsule != (uint64_t)WF_PARAM_AUTO)
		return cfg->in_capsule;
	return tcp ? 16 << 10 : 4 << 10;
}

int wf_storage_check(const struct wf_storage_cfg *cfg, struct wf_err *err)
{
	if (cfg->maxh2cdata % 4 != 0)
		return wf_err_say(err, "maxh2cdata: it is no multiple of 4; write e.g. %lluB",
		                  (unsigned long long)cfg->maxh2cdata / 4 * 4);
	if (cfg->data_align % 4 != 0)
		return wf_err_say(err, "data_align: it is no multiple of 4; write e.g. %lluB",
		                  (unsigned long long)cfg->data_align / 4 * 4);
	if (cfg->targets[0] == '\0')
		return wf_err_say(err, "targets: nobody has the drives; write hosts, e.g. "
		                       "targets: [h6, h7]");
	return 0;
}
