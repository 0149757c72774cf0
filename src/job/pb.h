/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pb.h - the fields of a protobuf message in memory, one after the other.
 *
 * This is the wire format alone (varint, 64 bits, length-delimited, 32 bits); what a field means is
 * the caller's. Groups, which proto3 does not have, are errors. Any bytes are allowed.
 */
#ifndef WF_JOB_PB_H
#define WF_JOB_PB_H

#include <stdbool.h>

#include "base/base.h"
#include "base/err.h"

enum wf_pb_type { WF_PB_VARINT = 0, WF_PB_I64 = 1, WF_PB_LEN = 2, WF_PB_I32 = 5 };

struct wf_pb {
	const char *name;    /* of the file, for messages */
	const uint8_t *base; /* where the file begins: places are offsets from here */
	const uint8_t *at;
	const uint8_t *end;
	struct wf_err *err;
};

struct wf_pb_field {
	uint32_t number; /* from 1 */
	enum wf_pb_type type;
	uint64_t value;       /* all types but WF_PB_LEN */
	const uint8_t *bytes; /* WF_PB_LEN: in the file's memory */
	size_t len;
};

/* A whole file. Borrows everything. */
void wf_pb_init(struct wf_pb *pb, const void *bytes, size_t len, const char *name,
                struct wf_err *err);

/* Whether anything is left. */
bool wf_pb_more(const struct wf_pb *pb);

/*
 * The next message of a stream in which each has its length before it, as a reader of its own.
 * Returns 0, or -EINVAL with err filled.
 */
int wf_pb_message(struct wf_pb *pb, struct wf_pb *message) WF_MUST_USE;

/* The next field; there must be more. Returns 0, or -EINVAL with err filled. */
int wf_pb_field(struct wf_pb *pb, struct wf_pb_field *field) WF_MUST_USE;

/* The next varint of a packed list; there must be more. Returns 0, or -EINVAL with err filled. */
int wf_pb_varint(struct wf_pb *pb, uint64_t *value_p) WF_MUST_USE;

/* The message or packed list that a field holds, as a reader of its own. */
struct wf_pb wf_pb_inside(const struct wf_pb *pb, const struct wf_pb_field *field);

/* Whether the bytes of a field are text. */
bool wf_pb_is(const struct wf_pb_field *field, const char *text);

/* An error at where the reader is. Always returns -EINVAL. */
#define wf_pb_err(pb, ...)                                                                         \
	wf_err_byte((pb)->err, (pb)->name, (size_t)((pb)->at - (pb)->base), __VA_ARGS__)

#endif
