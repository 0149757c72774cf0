/* SPDX-License-Identifier: Apache-2.0 */
/* pb.c - the fields of a protobuf message in memory. */
#include "job/pb.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#define MAX_FIELD ((UINT32_C(1) << 29) - 1)
#define VARINT_BYTES 10

void wf_pb_init(struct wf_pb *pb, const void *bytes, size_t len, const char *name,
                struct wf_err *err)
{
	const uint8_t *base = bytes;

	*pb = (struct wf_pb){
		.name = name, .base = base, .at = base, .end = base + len, .err = err
	};
}

bool wf_pb_more(const struct wf_pb *pb)
{
	assert(pb->at <= pb->end);
	return pb->at < pb->end;
}

int wf_pb_varint(struct wf_pb *pb, uint64_t *value_p)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < VARINT_BYTES && pb->at + i < pb->end; i++) {
		uint8_t byte = pb->at[i];

		/* The tenth byte holds the last bit; what lies beyond it is lost, as everywhere. */
		value |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (byte < 0x80) {
			pb->at += i + 1;
			*value_p = value;
			return 0;
		}
	}
	return wf_pb_err(pb, "a number that does not end; the file is cut off or no protobuf");
}

/* Takes len bytes. */
static int take(struct wf_pb *pb, uint64_t len, const uint8_t **bytes_p)
{
	if (len > (size_t)(pb->end - pb->at))
		return wf_pb_err(pb,
		                 "%" PRIu64 " bytes should follow but %zu do; the file is cut off "
		                 "or no protobuf",
		                 len, (size_t)(pb->end - pb->at));
	*bytes_p = pb->at;
	pb->at += len;
	return 0;
}

int wf_pb_message(struct wf_pb *pb, struct wf_pb *message)
{
	const uint8_t *bytes = NULL;
	uint64_t len = 0;
	int ret = wf_pb_varint(pb, &len);

	if (ret == 0)
		ret = take(pb, len, &bytes);
	if (ret != 0)
		return ret;
	*message = *pb;
	message->at = bytes;
	message->end = bytes + len;
	return 0;
}

/* Little-endian, n bytes. */
static int take_fixed(struct wf_pb *pb, unsigned n, uint64_t *value_p)
{
	const uint8_t *bytes = NULL;
	int ret = take(pb, n, &bytes);

	if (ret != 0)
		return ret;
	*value_p = 0;
	for (unsigned i = 0; i < n; i++)
		*value_p |= (uint64_t)bytes[i] << (8 * i);
	return 0;
}

int wf_pb_field(struct wf_pb *pb, struct wf_pb_field *field)
{
	struct wf_pb start = *pb;
	uint64_t key = 0;
	int ret = wf_pb_varint(pb, &key);

	if (ret != 0)
		return ret;
	if (key >> 3 == 0 || key >> 3 > MAX_FIELD)
		return wf_pb_err(&start, "no field has the number %" PRIu64, key >> 3);
	*field = (struct wf_pb_field){ .number = (uint32_t)(key >> 3) };
	switch (key & 7) {
	case WF_PB_VARINT:
		field->type = WF_PB_VARINT;
		return wf_pb_varint(pb, &field->value);
	case WF_PB_I64:
		field->type = WF_PB_I64;
		return take_fixed(pb, 8, &field->value);
	case WF_PB_I32:
		field->type = WF_PB_I32;
		return take_fixed(pb, 4, &field->value);
	case WF_PB_LEN:
		field->type = WF_PB_LEN;
		ret = wf_pb_varint(pb, &field->value);
		if (ret == 0)
			ret = take(pb, field->value, &field->bytes);
		field->len = (size_t)field->value;
		return ret;
	default:
		return wf_pb_err(&start, "a field of wire type %u; only 0, 1, 2 and 5 are known",
		                 (unsigned)(key & 7));
	}
}

struct wf_pb wf_pb_inside(const struct wf_pb *pb, const struct wf_pb_field *field)
{
	struct wf_pb inside = *pb;

	assert(field->type == WF_PB_LEN);
	inside.at = field->bytes;
	inside.end = field->bytes + field->len;
	return inside;
}

bool wf_pb_is(const struct wf_pb_field *field, const char *text)
{
	return field->type == WF_PB_LEN && field->len == strlen(text) &&
	       memcmp(field->bytes, text, field->len) == 0;
}
