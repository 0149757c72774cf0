/* SPDX-License-Identifier: Apache-2.0 */
/*
 * field.h - attributes of management datagrams as tables: which bits of the wire are which member.
 *
 * An attribute is a struct and a layout, whose rows say of each member where its bits are, counted
 * as IBTA counts them: bit 0 is the most significant one of the first byte. One codec reads and
 * writes them all, and the same table says which components of two records of subnet
 * administration differ. Decoding cannot fail; bits that no row names are not kept, and are zero
 * where the codec writes.
 *
 *	struct wf_sm_info { uint64_t guid; uint64_t sm_key; ... };
 *	WF_LAYOUT_DECLARE(sm_info)    declares wf_sm_info_layout, wf_sm_info_encode(), ..._decode()
 */
#ifndef WF_WIRE_FIELD_H
#define WF_WIRE_FIELD_H

#include <stdbool.h>

#include "base/base.h"

struct wf_layout;

/*
 * A member: a number of at most 64 bits in 1, 2, 4 or 8 bytes; bytes as they are, of more bits than
 * that; or, with a layout of its own, a struct. Or an array of one of these.
 */
struct wf_field {
	const char *name;            /* the member's */
	const struct wf_layout *sub; /* of the struct that it is; NULL: a number or bytes */
	uint16_t at;                 /* offset of the member */
	uint16_t size;               /* bytes of the member, or of one element */
	uint16_t bit;                /* the first in the attribute */
	uint16_t bits;               /* of one element */
	uint16_t count;              /* elements; 1: no array */
	uint16_t every;              /* bits from one element to the next */
	uint16_t component; /* 1 and its (first element's) bit in component masks; 0: none */
};

struct wf_layout {
	const char *name; /* the struct's, without wf_ */
	const struct wf_field *fields;
	uint16_t n_fields;
	uint16_t bytes; /* on the wire */
	uint16_t size;  /* of the struct */
};

#define WF_COMPONENT(number) (UINT64_C(1) << (number))

#define WF_FIELD_ROW(s, member, n, first, len, c)                                                  \
	.name = #member, .at = offsetof(struct wf_##s, member), .bit = (first), .bits = (len),     \
	.count = (n), .component = (c)

/* Rows: of a number or bytes, an array of such, a struct, an array of structs. */
#define WF_FIELD(s, member, first, len)                                                            \
	{                                                                                          \
		WF_FIELD_ROW(s, member, 1, first, len, 0),                                         \
			.size = sizeof(((struct wf_##s *)0)->member)                               \
	}
#define WF_FIELD_ARRAY(s, member, first, len, step)                                                \
	{                                                                                          \
		WF_FIELD_ROW(s, member, WF_ARRAY_SIZE(((struct wf_##s *)0)->member), first, len,   \
		             0),                                                                   \
			.size = sizeof(((struct wf_##s *)0)->member[0]), .every = (step)           \
	}
#define WF_FIELD_SUB(s, member, type, first, len)                                                  \
	{                                                                                          \
		WF_FIELD_ROW(s, member, 1, first, len, 0), .size = sizeof(struct wf_##type),       \
							   .sub = &wf_##type##_layout              \
	}
#define WF_FIELD_SUBS(s, member, type, first, len)                                                 \
	{                                                                                          \
		WF_FIELD_ROW(s, member, WF_ARRAY_SIZE(((struct wf_##s *)0)->member), first, len,   \
		             0),                                                                   \
			.size = sizeof(struct wf_##type), .sub = &wf_##type##_layout,              \
			.every = (len)                                                             \
	}

/* The same with the number of the component in masks, or of the first. */
#define WF_FIELD_C(s, member, first, len, number)                                                  \
	{                                                                                          \
		WF_FIELD_ROW(s, member, 1, first, len, 1 + (number)),                              \
			.size = sizeof(((struct wf_##s *)0)->member)                               \
	}
#define WF_FIELD_ARRAY_C(s, member, first, len, step, number)                                      \
	{                                                                                          \
		WF_FIELD_ROW(s, member, WF_ARRAY_SIZE(((struct wf_##s *)0)->member), first, len,   \
		             1 + (number)),                                                        \
			.size = sizeof(((struct wf_##s *)0)->member[0]), .every = (step)           \
	}
#define WF_FIELD_SUB_C(s, member, type, first, len, number)                                        \
	{                                                                                          \
		WF_FIELD_ROW(s, member, 1, first, len, 1 + (number)),                              \
			.size = sizeof(struct wf_##type), .sub = &wf_##type##_layout               \
	}

#define WF_LAYOUT(s, len)                                                                          \
	const struct wf_layout wf_##s##_layout = {                                                 \
		.name = #s,                                                                        \
		.fields = s##_fields,                                                              \
		.n_fields = WF_ARRAY_SIZE(s##_fields),                                             \
		.bytes = (len),                                                                    \
		.size = sizeof(struct wf_##s),                                                     \
	}

/* Writes all bytes of the attribute. */
void wf_layout_encode(const struct wf_layout *layout, const void *attr, uint8_t *p);

/* Writes all members. */
void wf_layout_decode(const struct wf_layout *layout, const uint8_t *p, void *attr_p);

/* Every component of the mask is the same in both structs; components that no row has are. */
bool wf_layout_matches(const struct wf_layout *layout, const void *a, const void *b, uint64_t mask);

#define WF_LAYOUT_DECLARE(s)                                                                       \
	extern const struct wf_layout wf_##s##_layout;                                             \
	static inline void wf_##s##_encode(const struct wf_##s *attr, uint8_t *p)                  \
	{                                                                                          \
		wf_layout_encode(&wf_##s##_layout, attr, p);                                       \
	}                                                                                          \
	static inline void wf_##s##_decode(const uint8_t *p, struct wf_##s *attr_p)                \
	{                                                                                          \
		wf_layout_decode(&wf_##s##_layout, p, attr_p);                                     \
	}

#endif
