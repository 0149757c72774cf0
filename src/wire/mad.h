/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mad.h - management datagrams: the common header and those of the classes (IBTA vol. 1, 13.4).
 *
 * A MAD is 256 bytes, the payload of a UD packet to queue pair 0 (subnet management: SMP) or 1
 * (everything else: GMP). What a class puts behind its header is for that class to know; the
 * offsets here say where it begins. As in transport.h: the caller has made sure of the bytes,
 * nothing can fail, and every field of a header is kept.
 */
#ifndef WF_WIRE_MAD_H
#define WF_WIRE_MAD_H

#include <stdbool.h>
#include <stdint.h>

#define WF_MAD_LEN 256
#define WF_MAD_HEADER_LEN 24
#define WF_MAD_BASE_VERSION 1

#define WF_QKEY_GMP UINT32_C(0x80010000) /* of queue pair 1 */

enum wf_mad_class {
	WF_MAD_CLASS_SUBN_LID = 0x01, /* subnet management, routed by LID */
	WF_MAD_CLASS_SA = 0x03,       /* subnet administration */
	WF_MAD_CLASS_PERF = 0x04,     /* performance management */
	WF_MAD_CLASS_BM = 0x05,       /* baseboard management */
	WF_MAD_CLASS_CM = 0x07,       /* communication management */
	WF_MAD_CLASS_AM = 0x0e,       /* aggregation management: weft's (wire/am.h) */
	WF_MAD_CLASS_CC = 0x21,       /* congestion control */
	WF_MAD_CLASS_SUBN_DR = 0x81,  /* subnet management, directed route */
};

/* The top bit says that it is a response. */
enum wf_mad_method {
	WF_MAD_METHOD_GET = 0x01,
	WF_MAD_METHOD_SET = 0x02,
	WF_MAD_METHOD_SEND = 0x03,
	WF_MAD_METHOD_TRAP = 0x05,
	WF_MAD_METHOD_REPORT = 0x06,
	WF_MAD_METHOD_TRAP_REPRESS = 0x07,
	WF_MAD_METHOD_GET_TABLE = 0x12, /* these are of subnet administration */
	WF_MAD_METHOD_GET_TRACE_TABLE = 0x13,
	WF_MAD_METHOD_GET_MULTI = 0x14,
	WF_MAD_METHOD_DELETE = 0x15,
	WF_MAD_METHOD_GET_RESP = 0x81,
	WF_MAD_METHOD_REPORT_RESP = 0x86,
	WF_MAD_METHOD_GET_TABLE_RESP = 0x92,
	WF_MAD_METHOD_GET_MULTI_RESP = 0x94,
	WF_MAD_METHOD_DELETE_RESP = 0x95,
};

/* Status of a response (13.4.7), without a directed route's D bit. */
enum wf_mad_status {
	WF_MAD_OK = 0,
	WF_MAD_BUSY = 0x0001,
	WF_MAD_REDIRECT = 0x0002,
	WF_MAD_BAD_VERSION = 0x0004,    /* base or class version, or the class */
	WF_MAD_BAD_METHOD = 0x0008,     /* not supported */
	WF_MAD_BAD_ATTRIBUTE = 0x000c,  /* not supported, or not with this method */
	WF_MAD_INVALID_FIELD = 0x001c,  /* of the attribute or its modifier */
	WF_MAD_INVALID_FIELDS = 0x001c, /* the bits of the five above */
	WF_MAD_CLASS_STATUS_SHIFT = 8,
};

/* Attributes that several classes have. */
#define WF_MAD_ATTR_CLASS_PORT_INFO 0x0001
#define WF_MAD_ATTR_NOTICE 0x0002
#define WF_MAD_ATTR_INFORM_INFO 0x0003

/* Attributes of communication management. */
enum wf_cm_attr {
	WF_CM_REQ = 0x0010,
	WF_CM_MRA = 0x0011,
	WF_CM_REJ = 0x0012,
	WF_CM_REP = 0x0013,
	WF_CM_RTU = 0x0014,
	WF_CM_DREQ = 0x0015,
	WF_CM_DREP = 0x0016,
	WF_CM_SIDR_REQ = 0x0017,
	WF_CM_SIDR_REP = 0x0018,
	WF_CM_LAP = 0x0019,
	WF_CM_APR = 0x001a,
};

#define WF_CM_DATA 24   /* offset of the message in the MAD */
#define WF_PERF_DATA 64 /* offset of the attribute */

struct wf_mad {
	uint8_t base_version;
	uint8_t mgmt_class;
	uint8_t class_version;
	uint8_t method;
	uint16_t status;         /* of a directed-route SMP: D bit and status */
	uint16_t class_specific; /* of a directed-route SMP: hop pointer and hop count */
	uint64_t tid;
	uint16_t attr_id;
	uint16_t reserved;
	uint32_t attr_mod;
};

/* What follows the common header of a subnet management packet. */
struct wf_smp {
	uint64_t mkey;
	uint16_t dr_slid; /* directed route only, as are the paths */
	uint16_t dr_dlid;
};

#define WF_SMP_DATA 64 /* offset of the attribute */
#define WF_SMP_DATA_LEN 64
#define WF_SMP_INITIAL_PATH 128 /* offset of 64 ports, the first unused */
#define WF_SMP_RETURN_PATH 192

/* In a directed-route SMP's status: it is on its way back. */
#define WF_SMP_DIRECTION 0x8000

static inline uint8_t wf_smp_hop_pointer(const struct wf_mad *mad)
{
	return (uint8_t)(mad->class_specific >> 8);
}

static inline uint8_t wf_smp_hop_count(const struct wf_mad *mad)
{
	return (uint8_t)mad->class_specific;
}

/* Reliable multi-packet protocol: follows the common header in SA and vendor classes. */
struct wf_rmpp {
	uint8_t version;
	uint8_t type;
	uint8_t resp_time; /* 5 bits */
	uint8_t flags;     /* 3 bits */
	uint8_t status;
	uint32_t data1; /* segment number */
	uint32_t data2; /* payload length, or new window */
};

#define WF_RMPP_LEN 12

/* Subnet administration: follows the RMPP header. */
struct wf_sa_hdr {
	uint64_t sm_key;
	uint16_t attr_offset; /* 8-byte words from one attribute to the next */
	uint16_t reserved;
	uint64_t comp_mask;
};

#define WF_SA_HEADER 36 /* offset of struct wf_sa_hdr in the MAD */
#define WF_SA_DATA 56   /* offset of the attribute */
#define WF_SA_DATA_LEN 200

static inline bool wf_mad_is_response(uint8_t method)
{
	return (method & 0x80) != 0 || method == WF_MAD_METHOD_TRAP_REPRESS;
}

/* The common header: WF_MAD_HEADER_LEN bytes at p. */
void wf_mad_encode(const struct wf_mad *mad, uint8_t *p);
void wf_mad_decode(const uint8_t *p, struct wf_mad *mad_p);

/* p is the start of the MAD, of WF_MAD_LEN bytes; the paths and the attribute are not touched. */
void wf_smp_encode(const struct wf_smp *smp, uint8_t *p);
void wf_smp_decode(const uint8_t *p, struct wf_smp *smp_p);

/* p is the start of the MAD. */
void wf_rmpp_encode(const struct wf_rmpp *rmpp, uint8_t *p);
void wf_rmpp_decode(const uint8_t *p, struct wf_rmpp *rmpp_p);

/* p is the start of the MAD. */
void wf_sa_hdr_encode(const struct wf_sa_hdr *sa, uint8_t *p);
void wf_sa_hdr_decode(const uint8_t *p, struct wf_sa_hdr *sa_p);

#endif
