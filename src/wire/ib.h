/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ib.h - the InfiniBand link layer: the local route header and flow control packets.
 *
 * The global route header has the format of an IPv6 header (ether.h). As in transport.h: fixed
 * sizes, the caller has made sure of the bytes, nothing can fail.
 */
#ifndef WF_WIRE_IB_H
#define WF_WIRE_IB_H

#include <stdint.h>

#define WF_LRH_LEN 8
#define WF_GRH_LEN 40
#define WF_FCP_LEN 6 /* with its CRC */

#define WF_IB_BLOCK 64 /* bytes: the unit of credits, of arbitration weights and of FECN's sizes */

#define WF_VL_MGMT 15           /* management: no flow control */
#define WF_LID_MULTICAST 0xc000 /* from here to 0xfffe */
#define WF_LID_PERMISSIVE 0xffff

/* LRH: link next header. The other two values are raw packets. */
enum wf_lnh {
	WF_LNH_RAW = 0,    /* an ethertype follows */
	WF_LNH_IPV6 = 1,   /* an IPv6 header follows */
	WF_LNH_LOCAL = 2,  /* a BTH follows */
	WF_LNH_GLOBAL = 3, /* a GRH follows */
};

/* Local route header. */
struct wf_lrh {
	uint8_t vl;        /* 4 bits */
	uint8_t lver;      /* 4 bits; 0 is the only version */
	uint8_t sl;        /* 4 bits */
	uint8_t reserved2; /* 2 bits */
	uint8_t lnh;       /* enum wf_lnh */
	uint16_t dlid;
	uint8_t reserved5; /* 5 bits */
	uint16_t length;   /* 4-byte words from here to the ICRC, both included; 11 bits */
	uint16_t slid;
};

/* Link flow control packet. Blocks are of WF_IB_BLOCK bytes; both counts are modulo 4096. */
struct wf_fcp {
	uint8_t op;     /* 4 bits; 0 normal, 1 initialisation */
	uint16_t fctbs; /* blocks sent on this VL in total */
	uint8_t vl;     /* 4 bits */
	uint16_t fccl;  /* blocks that the peer may have sent in total */
	uint16_t lpcrc; /* as wf_crc16() gives it */
};

#define WF_FCP_OP_NORMAL 0
#define WF_FCP_OP_INIT 1
#define WF_FCP_COUNT_MASK 0xfff

/* The LID of multicast group number. */
static inline uint16_t wf_lid_multicast(uint32_t number)
{
	return (uint16_t)(WF_LID_MULTICAST | (number & (WF_LID_PERMISSIVE - WF_LID_MULTICAST)));
}

/* The blocks that a packet of size bytes takes. */
static inline uint32_t wf_ib_blocks(uint32_t size)
{
	return (size + WF_IB_BLOCK - 1) / WF_IB_BLOCK;
}

void wf_lrh_encode(const struct wf_lrh *lrh, uint8_t *p);
void wf_lrh_decode(const uint8_t *p, struct wf_lrh *lrh_p);

/* The CRC is written as the struct has it; see wf_fcp_lpcrc(). */
void wf_fcp_encode(const struct wf_fcp *fcp, uint8_t *p);
void wf_fcp_decode(const uint8_t *p, struct wf_fcp *fcp_p);

/* The CRC that fcp should have; its lpcrc field does not matter. */
uint16_t wf_fcp_lpcrc(const struct wf_fcp *fcp);

#endif
