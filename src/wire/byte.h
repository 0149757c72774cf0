/* SPDX-License-Identifier: Apache-2.0 */
/*
 * byte.h - numbers in the wire's byte order, at any alignment.
 *
 * The network's order is big-endian (be); CRCs and captures are little-endian (le).
 */
#ifndef WF_WIRE_BYTE_H
#define WF_WIRE_BYTE_H

#include <stdint.h>

static inline uint16_t wf_be16_get(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t wf_be24_get(const uint8_t *p)
{
	return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}

static inline uint32_t wf_be32_get(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | wf_be24_get(p + 1);
}

static inline uint64_t wf_be64_get(const uint8_t *p)
{
	return (uint64_t)wf_be32_get(p) << 32 | wf_be32_get(p + 4);
}

static inline void wf_be16_put(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

/* The upper byte of v is not written. */
static inline void wf_be24_put(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 16);
	p[1] = (uint8_t)(v >> 8);
	p[2] = (uint8_t)v;
}

static inline void wf_be32_put(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 24);
	wf_be24_put(p + 1, v);
}

static inline void wf_be64_put(uint8_t *p, uint64_t v)
{
	wf_be32_put(p, (uint32_t)(v >> 32));
	wf_be32_put(p + 4, (uint32_t)v);
}

static inline uint16_t wf_le16_get(const uint8_t *p)
{
	return (uint16_t)(p[1] << 8 | p[0]);
}

static inline uint32_t wf_le32_get(const uint8_t *p)
{
	return (uint32_t)wf_le16_get(p + 2) << 16 | wf_le16_get(p);
}

static inline uint64_t wf_le64_get(const uint8_t *p)
{
	return (uint64_t)wf_le32_get(p + 4) << 32 | wf_le32_get(p);
}

static inline void wf_le16_put(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
}

static inline void wf_le32_put(uint8_t *p, uint32_t v)
{
	wf_le16_put(p, (uint16_t)v);
	wf_le16_put(p + 2, (uint16_t)(v >> 16));
}

static inline void wf_le64_put(uint8_t *p, uint64_t v)
{
	wf_le32_put(p, (uint32_t)v);
	wf_le32_put(p + 4, (uint32_t)(v >> 32));
}

#endif
