/* SPDX-License-Identifier: Apache-2.0 */
/* field.c - the codec of all attributes that are tables. */
#include "wire/field.h"

#include <string.h>

/* At most 64 bits; they do not lie in more than 8 bytes. */
static uint64_t bits_get(const uint8_t *p, unsigned bit, unsigned bits)
{
	unsigned last = (bit + bits - 1) / 8;
	uint64_t v = p[bit / 8] & (0xffU >> bit % 8);

	for (unsigned i = bit / 8 + 1; i <= last; i++)
		v = v << 8 | p[i];
	return v >> (7 - (bit + bits - 1) % 8);
}

/* The bits are zero before; what of v is above them is not written. */
static void bits_put(uint8_t *p, unsigned bit, unsigned bits, uint64_t v)
{
	unsigned first = bit / 8, shift = 7 - (bit + bits - 1) % 8;

	if (bits < 64)
		v &= (UINT64_C(1) << bits) - 1;
	v <<= shift;
	for (unsigned i = (bit + bits - 1) / 8 + 1; i-- > first; v >>= 8)
		p[i] |= (uint8_t)v;
}

static uint64_t member_get(const uint8_t *at, unsigned size)
{
	uint16_t v16;
	uint32_t v32;
	uint64_t v64;

	switch (size) {
	case 1:
		return *at;
	case 2:
		memcpy(&v16, at, sizeof(v16));
		return v16;
	case 4:
		memcpy(&v32, at, sizeof(v32));
		return v32;
	default:
		assert(size == 8);
		memcpy(&v64, at, sizeof(v64));
		return v64;
	}
}

static void member_put(uint8_t *at, unsigned size, uint64_t v)
{
	uint16_t v16 = (uint16_t)v;
	uint32_t v32 = (uint32_t)v;

	switch (size) {
	case 1:
		*at = (uint8_t)v;
		break;
	case 2:
		memcpy(at, &v16, sizeof(v16));
		break;
	case 4:
		memcpy(at, &v32, sizeof(v32));
		break;
	default:
		assert(size == 8);
		memcpy(at, &v, sizeof(v));
		break;
	}
}

static bool is_bytes(const struct wf_field *field)
{
	return field->bits > 64;
}

static void encode(const struct wf_layout *layout, const uint8_t *attr, uint8_t *p)
{
	for (const struct wf_field *f = layout->fields; f < layout->fields + layout->n_fields;
	     f++) {
		const uint8_t *at = attr + f->at;

		for (unsigned i = 0; i < f->count; i++, at += f->size) {
			unsigned bit = f->bit + i * f->every;

			if (f->sub != NULL)
				encode(f->sub, at, p + bit / 8);
			else if (is_bytes(f))
				memcpy(p + bit / 8, at, f->size);
			else
				bits_put(p, bit, f->bits, member_get(at, f->size));
		}
	}
}

void wf_layout_encode(const struct wf_layout *layout, const void *attr, uint8_t *p)
{
	memset(p, 0, layout->bytes);
	encode(layout, attr, p);
}

void wf_layout_decode(const struct wf_layout *layout, const uint8_t *p, void *attr_p)
{
	for (const struct wf_field *f = layout->fields; f < layout->fields + layout->n_fields;
	     f++) {
		uint8_t *at = (uint8_t *)attr_p + f->at;

		for (unsigned i = 0; i < f->count; i++, at += f->size) {
			unsigned bit = f->bit + i * f->every;

			if (f->sub != NULL)
				wf_layout_decode(f->sub, p + bit / 8, at);
			else if (is_bytes(f))
				memcpy(at, p + bit / 8, f->size);
			else
				member_put(at, f->size, bits_get(p, bit, f->bits));
		}
	}
}

bool wf_layout_matches(const struct wf_layout *layout, const void *a, const void *b, uint64_t mask)
{
	for (const struct wf_field *f = layout->fields; f < layout->fields + layout->n_fields;
	     f++) {
		const uint8_t *at = (const uint8_t *)a + f->at, *bt = (const uint8_t *)b + f->at;

		if (f->component == 0)
			continue;
		if (f->sub != NULL) {
			if (!wf_layout_matches(f->sub, at, bt, mask >> (f->component - 1)))
				return false;
			continue;
		}
		for (unsigned i = 0; i < f->count; i++, at += f->size, bt += f->size)
			if ((mask >> (f->component - 1 + i) & 1) != 0 &&
			    memcmp(at, bt, f->size) != 0)
				return false;
	}
	return true;
}
