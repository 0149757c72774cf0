/* SPDX-License-Identifier: Apache-2.0 */
/* chakra.c - the nodes of one rank's Chakra execution trace. */
#include "job/chakra.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "job/pb.h"

/* Fields of messages. */
enum {
	NODE_ID = 1,
	NODE_TYPE = 3,
	NODE_CTRL_DEPS = 4,
	NODE_DATA_DEPS = 5,
	NODE_MICROS = 7,
	NODE_ATTR = 10
};
enum {
	ATTR_NAME = 1,
	ATTR_INT32 = 7,
	ATTR_INT64 = 9,
	ATTR_UINT32 = 11,
	ATTR_UINT64 = 13,
	ATTR_SINT32 = 15,
	ATTR_SINT64 = 17,
	ATTR_FIXED32 = 19,
	ATTR_FIXED64 = 21,
	ATTR_SFIXED32 = 23,
	ATTR_SFIXED64 = 25,
	ATTR_BOOL = 27,
	ATTR_BOOL_LIST = 28,
	ATTR_STRING = 29,
};
#define LIST_VALUES 1

/* An attribute's name and the one value it has. */
struct attr {
	struct wf_pb_field name, value;
	bool has_name, has_value;
};

/* Makes room for one more; what was there before stays in the arena. */
static int make_room(struct wf_arena *arena, void **array, size_t size, size_t n, size_t *room)
{
	size_t more = *room == 0 ? 64 : 2 * *room;
	void *larger;

	if (n < *room)
		return 0;
	larger = wf_arena_alloc(arena, more * size, sizeof(uint64_t));
	if (larger == NULL)
		return -ENOMEM;
	if (n > 0)
		memcpy(larger, *array, n * size);
	*array = larger;
	*room = more;
	return 0;
}

static int add_dep(struct wf_chakra_trace *trace, struct wf_arena *arena, uint64_t id)
{
	void *array = trace->deps;
	int ret = make_room(arena, &array, sizeof(*trace->deps), trace->n_deps, &trace->room_deps);

	if (ret != 0)
		return ret;
	trace->deps = array;
	trace->deps[trace->n_deps++] = id;
	return 0;
}

/* Repeated numbers are packed or one by one. */
static int read_deps(struct wf_pb *node, const struct wf_pb_field *field,
                     struct wf_chakra_trace *trace, struct wf_arena *arena)
{
	struct wf_pb list;
	uint64_t id = 0;
	int ret = 0;

	if (field->type == WF_PB_VARINT)
		return add_dep(trace, arena, field->value);
	if (field->type != WF_PB_LEN)
		return wf_pb_err(node, "the dependencies of a node are no list of numbers");
	list = wf_pb_inside(node, field);
	while (ret == 0 && wf_pb_more(&list)) {
		ret = wf_pb_varint(&list, &id);
		if (ret == 0)
			ret = add_dep(trace, arena, id);
	}
	return ret;
}

/* Whole numbers come in ten kinds. */
static int attr_number(const struct wf_pb *at, const struct attr *attr, const char *name,
                       uint64_t *value_p)
{
	uint64_t value = attr->value.value;
	bool negative = false;

	switch (attr->has_value ? attr->value.number : 0) {
	case ATTR_INT32:
	case ATTR_INT64:
	case ATTR_SFIXED64:
		negative = value > INT64_MAX;
		break;
	case ATTR_SFIXED32:
		negative = value > INT32_MAX;
		break;
	case ATTR_SINT32:
	case ATTR_SINT64:
		negative = (value & 1) != 0;
		value >>= 1;
		break;
	case ATTR_UINT32:
	case ATTR_UINT64:
	case ATTR_FIXED32:
	case ATTR_FIXED64:
	case ATTR_BOOL:
		break;
	default:
		return wf_pb_err(at, "the attribute %s has no whole number", name);
	}
	if (attr->value.type == WF_PB_LEN || negative)
		return wf_pb_err(at, "the attribute %s is %s", name,
		                 negative ? "negative" : "no number");
	*value_p = value;
	return 0;
}

/* Whether one of a list of booleans is false. */
static int attr_has_false(const struct wf_pb *at, const struct attr *attr, bool *false_p)
{
	struct wf_pb list;
	struct wf_pb_field field;
	uint64_t value = 0;
	int ret = 0;

	if (!attr->has_value || attr->value.number != ATTR_BOOL_LIST ||
	    attr->value.type != WF_PB_LEN)
		return wf_pb_err(at, "the attribute involved_dim is no list of booleans");
	list = wf_pb_inside(at, &attr->value);
	while (ret == 0 && wf_pb_more(&list)) {
		ret = wf_pb_field(&list, &field);
		if (ret != 0 || field.number != LIST_VALUES)
			continue;
		if (field.type == WF_PB_LEN) {
			struct wf_pb packed = wf_pb_inside(&list, &field);

			while (ret == 0 && wf_pb_more(&packed)) {
				ret = wf_pb_varint(&packed, &value);
				*false_p |= ret == 0 && value == 0;
			}
		} else {
			*false_p |= field.value == 0;
		}
	}
	return ret;
}

/* Attributes that are whole numbers. */
static const struct number_attr {
	const char *name;
	size_t offset;
	uint8_t has;
} number_attrs[] = {
	{ "num_ops", offsetof(struct wf_chakra_node, num_ops), 0 },
	{ "tensor_size", offsetof(struct wf_chakra_node, tensor_size), 0 },
	{ "comm_type", offsetof(struct wf_chakra_node, comm_type), WF_CHAKRA_HAS_COMM_TYPE },
	{ "comm_size", offsetof(struct wf_chakra_node, comm_size), WF_CHAKRA_HAS_COMM_SIZE },
	{ "comm_src", offsetof(struct wf_chakra_node, comm_src), WF_CHAKRA_HAS_COMM_SRC },
	{ "comm_dst", offsetof(struct wf_chakra_node, comm_dst), WF_CHAKRA_HAS_COMM_DST },
	{ "comm_tag", offsetof(struct wf_chakra_node, comm_tag), 0 },
	{ "root", offsetof(struct wf_chakra_node, root), 0 },
};

static int use_attr(const struct wf_pb *at, const struct attr *attr, struct wf_chakra_node *node)
{
	uint64_t value = 0;
	int ret;

	if (wf_pb_is(&attr->name, "is_cpu_op")) {
		ret = attr_number(at, attr, "is_cpu_op", &value);
		node->cpu = value != 0;
		return ret;
	}
	if (wf_pb_is(&attr->name, "involved_dim"))
		return attr_has_false(at, attr, &node->part_dims);
	if (wf_pb_is(&attr->name, "comm_group") || wf_pb_is(&attr->name, "pg_name")) {
		if (!attr->has_value || attr->value.number != ATTR_STRING ||
		    attr->value.type != WF_PB_LEN)
			return wf_pb_err(at, "the name of a group is no text");
		node->group = attr->value.len == 0 ? NULL : (const char *)attr->value.bytes;
		node->group_len = attr->value.len;
		return 0;
	}
	for (size_t i = 0; i < WF_ARRAY_SIZE(number_attrs); i++) {
		if (!wf_pb_is(&attr->name, number_attrs[i].name))
			continue;
		ret = attr_number(at, attr, number_attrs[i].name, &value);
		memcpy((char *)node + number_attrs[i].offset, &value, sizeof(value));
		node->has |= number_attrs[i].has;
		return ret;
	}
	return 0; /* something that does not matter here */
}

static int read_attr(struct wf_pb *node_pb, const struct wf_pb_field *field,
                     struct wf_chakra_node *node)
{
	struct attr attr = { .has_name = false };
	struct wf_pb_field part;
	struct wf_pb pb;
	int ret = 0;

	if (field->type != WF_PB_LEN)
		return wf_pb_err(node_pb, "an attribute of a node is no message");
	pb = wf_pb_inside(node_pb, field);
	while (ret == 0 && wf_pb_more(&pb)) {
		ret = wf_pb_field(&pb, &part);
		if (ret != 0)
			break;
		if (part.number == ATTR_NAME) {
			attr.name = part;
			attr.has_name = true;
		} else if (part.number > 2) {
			attr.value = part;
			attr.has_value = true;
		}
	}
	return ret != 0 || !attr.has_name ? ret : use_attr(&pb, &attr, node);
}

static int read_node(struct wf_pb *pb, struct wf_chakra_trace *trace, struct wf_arena *arena)
{
	struct wf_chakra_node node = { .offset = (size_t)(pb->at - pb->base),
		                       .first_dep = trace->n_deps };
	struct wf_pb_field field;
	void *array = trace->nodes;
	int ret = 0;

	while (ret == 0 && wf_pb_more(pb)) {
		struct wf_pb start = *pb;

		ret = wf_pb_field(pb, &field);
		if (ret != 0)
			break;
		if (field.number == NODE_CTRL_DEPS || field.number == NODE_DATA_DEPS) {
			ret = read_deps(pb, &field, trace, arena);
		} else if (field.number == NODE_ATTR) {
			ret = read_attr(pb, &field, &node);
		} else if (field.number == NODE_ID || field.number == NODE_TYPE ||
		           field.number == NODE_MICROS) {
			if (field.type != WF_PB_VARINT)
				return wf_pb_err(&start, "the %s of a node is no whole number",
				                 field.number == NODE_ID     ? "id"
				                 : field.number == NODE_TYPE ? "type"
				                                             : "duration");
			if (field.number == NODE_ID)
				node.id = field.value;
			else if (field.number == NODE_MICROS)
				node.micros = field.value;
			else if (field.value >= WF_CHAKRA_TYPES)
				return wf_pb_err(&start,
				                 "a node has the type %" PRIu64
				                 "; 0 to 10 are known",
				                 field.value);
			else
				node.type = (uint8_t)field.value;
		}
	}
	if (ret == 0 && trace->n_deps - node.first_dep > UINT32_MAX)
		return wf_pb_err(pb, "a node has too many dependencies");
	if (ret == 0)
		ret = make_room(arena, &array, sizeof(node), trace->n_nodes, &trace->room_nodes);
	if (ret != 0)
		return ret;
	node.n_deps = (uint32_t)(trace->n_deps - node.first_dep);
	trace->nodes = array;
	trace->nodes[trace->n_nodes++] = node;
	return 0;
}

int wf_chakra_parse(const void *bytes, size_t len, const char *file, struct wf_arena *arena,
                    struct wf_chakra_trace *trace, struct wf_err *err)
{
	struct wf_pb pb, message;
	struct wf_pb_field field;
	int ret;

	wf_pb_init(&pb, bytes, len, file, err);
	if (!wf_pb_more(&pb))
		return wf_err_byte(err, file, 0,
		                   "the file is empty; a Chakra trace begins with its "
		                   "GlobalMetadata");
	ret = wf_pb_message(&pb, &message);
	/* The version of the format is a text nobody agrees on; that it is a message is seen. */
	while (ret == 0 && wf_pb_more(&message))
		ret = wf_pb_field(&message, &field);
	while (ret == 0 && wf_pb_more(&pb)) {
		ret = wf_pb_message(&pb, &message);
		if (ret == 0)
			ret = read_node(&message, trace, arena);
	}
	return ret;
}
