/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chakra.h - the nodes of one rank's Chakra execution trace, as the file has them.
 *
 * The file is a stream of protobuf messages with their length before each: a GlobalMetadata, then
 * Nodes. Numbers of fields are those of MLCommons' et_def.proto.
 */
#ifndef WF_JOB_CHAKRA_H
#define WF_JOB_CHAKRA_H

#include <stdbool.h>

#include "base/err.h"
#include "base/mem.h"

enum wf_chakra_type {
	WF_CHAKRA_INVALID = 0,
	WF_CHAKRA_METADATA = 1,
	WF_CHAKRA_MEM_LOAD = 2,
	WF_CHAKRA_MEM_STORE = 3,
	WF_CHAKRA_COMP = 4,
	WF_CHAKRA_SEND = 5,
	WF_CHAKRA_RECV = 6,
	WF_CHAKRA_COLL = 7,
	WF_CHAKRA_STORAGE = 8,
	WF_CHAKRA_BATCH = 9,
	WF_CHAKRA_CHECKPOINT = 10,
	WF_CHAKRA_TYPES
};

/* CollectiveCommType */
enum wf_chakra_coll {
	WF_CHAKRA_ALL_REDUCE = 0,
	WF_CHAKRA_ALL_GATHER = 2,
	WF_CHAKRA_BROADCAST = 5,
	WF_CHAKRA_ALL_TO_ALL = 6,
	WF_CHAKRA_REDUCE_SCATTER = 7,
	WF_CHAKRA_REDUCE_SCATTER_BLOCK = 8,
	WF_CHAKRA_BARRIER = 9,
};

/* Which of the attributes below a node has. */
enum {
	WF_CHAKRA_HAS_COMM_TYPE = 1,
	WF_CHAKRA_HAS_COMM_SIZE = 2,
	WF_CHAKRA_HAS_COMM_SRC = 4,
	WF_CHAKRA_HAS_COMM_DST = 8,
};

struct wf_chakra_node {
	uint64_t id;
	size_t offset; /* in the file, for messages */
	uint64_t micros;
	uint64_t num_ops, tensor_size;
	uint64_t comm_type, comm_size, comm_src, comm_dst, comm_tag, root;
	const char *group; /* in the file's memory; NULL: none */
	size_t group_len;
	uint64_t first_dep; /* in the trace's list */
	uint32_t n_deps;
	uint8_t type;
	uint8_t has;
	bool cpu;       /* is_cpu_op */
	bool part_dims; /* involved_dim leaves a dimension out */
};

/* One rank's. Lists are in the arena, texts in the file. */
struct wf_chakra_trace {
	struct wf_chakra_node *nodes;
	size_t n_nodes, room_nodes;
	uint64_t *deps; /* ids, control and data alike */
	size_t n_deps, room_deps;
};

/*
 * Reads a file of len bytes into *trace, zeroed. Returns 0, -ENOMEM, or -EINVAL with err filled.
 */
int wf_chakra_parse(const void *bytes, size_t len, const char *file, struct wf_arena *arena,
                    struct wf_chakra_trace *trace, struct wf_err *err) WF_MUST_USE;

#endif
