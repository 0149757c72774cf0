/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crc.h - the two cyclic redundancy checks of the wire.
 *
 * Both work on the bytes in the order sent, lowest bit first, start from all ones and end inverted.
 * Their value is sent lowest byte first (wf_le32_put, wf_le16_put).
 *
 *	CRC-32, polynomial 0x04c11db7: ICRC, and Ethernet's FCS
 *	CRC-16, polynomial 0x100b: VCRC, and LPCRC of InfiniBand's link packets
 */
#ifndef WF_WIRE_CRC_H
#define WF_WIRE_CRC_H

#include <stddef.h>
#include <stdint.h>

#define WF_CRC32_START UINT32_C(0xffffffff)
#define WF_CRC16_START 0xffff

/*
 * Takes the next len bytes into a running CRC, which begins as WF_CRC32_START; the value to send is
 * the complement of the last one.
 */
uint32_t wf_crc32_update(uint32_t crc, const void *data, size_t len);

/* The same for CRC-16. */
uint16_t wf_crc16_update(uint16_t crc, const void *data, size_t len);

/* The CRC of len bytes, to send. */
static inline uint32_t wf_crc32(const void *data, size_t len)
{
	return ~wf_crc32_update(WF_CRC32_START, data, len);
}

static inline uint16_t wf_crc16(const void *data, size_t len)
{
	return (uint16_t)~wf_crc16_update(WF_CRC16_START, data, len);
}

/* The frame check sequence of an Ethernet frame, from its first address on. */
static inline uint32_t wf_crc_fcs(const void *frame, size_t len)
{
	return wf_crc32(frame, len);
}

/* The variant CRC of an InfiniBand packet, from its LRH to the end of its ICRC. */
static inline uint16_t wf_crc_vcrc(const void *packet, size_t len)
{
	return wf_crc16(packet, len);
}

#endif
