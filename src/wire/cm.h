/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cm.h - messages of communication management (IBTA vol. 1, 12.6 and 12.11; annex A11 for the
 * header of the RDMA IP CM service).
 *
 * As in mad.h: p is the start of a MAD of WF_MAD_LEN bytes, nothing can fail. Encoders write every
 * byte of the message but the private data and the additional information, whose places
 * wf_cm_private() and the offsets tell; fields that are wider than their place are cut. Load and
 * alternate path messages are not here.
 */
#ifndef WF_WIRE_CM_H
#define WF_WIRE_CM_H

#include "wire/mad.h"

#define WF_CM_CLASS_VERSION 2

/* Which message an MRA or a REJ speaks of. */
enum wf_cm_about { WF_CM_ABOUT_REQ, WF_CM_ABOUT_REP, WF_CM_ABOUT_OTHER };

enum wf_cm_reason {
	WF_CM_REJ_NO_QP = 1,
	WF_CM_REJ_NO_RESOURCES = 3,
	WF_CM_REJ_TIMEOUT = 4,
	WF_CM_REJ_UNSUPPORTED = 5,
	WF_CM_REJ_INVALID_COMM_ID = 6,
	WF_CM_REJ_INVALID_SERVICE_ID = 8,
	WF_CM_REJ_INVALID_TRANSPORT = 9,
	WF_CM_REJ_STALE_CONNECTION = 10,
	WF_CM_REJ_CONSUMER = 28,
	WF_CM_REJ_VENDOR_OPTION = 35,
};

enum wf_cm_sidr_status {
	WF_CM_SIDR_OK,
	WF_CM_SIDR_UNSUPPORTED, /* no such service */
	WF_CM_SIDR_REJECTED,
	WF_CM_SIDR_NO_QP,
};

enum wf_cm_transport { WF_CM_RC, WF_CM_UC, WF_CM_RD, WF_CM_EXTENDED };

struct wf_cm_path {
	uint16_t local_lid, remote_lid; /* of the sender of the REQ, and of its receiver */
	uint8_t local_gid[16], remote_gid[16];
	uint32_t flow_label; /* 20 bits */
	uint8_t rate;        /* 6 bits */
	uint8_t traffic_class;
	uint8_t hop_limit;
	uint8_t sl; /* 4 bits */
	bool subnet_local;
	uint8_t ack_timeout; /* 5 bits: 4.096 us * 2^n */
};

struct wf_cm_req {
	uint32_t local_id;
	uint64_t service;
	uint64_t ca_guid;
	uint32_t qkey;
	uint32_t qpn;
	uint8_t responder_resources;
	uint8_t initiator_depth;
	uint8_t remote_timeout; /* 5 bits: within which the receiver will answer */
	uint8_t transport;      /* enum wf_cm_transport */
	bool flow_control;
	uint32_t psn;          /* with which the receiver of the message shall begin */
	uint8_t local_timeout; /* 5 bits: within which the sender will answer */
	uint8_t retry_count;   /* 3 bits */
	uint16_t pkey;
	uint8_t mtu;         /* 4 bits, as enum wf_mtu */
	uint8_t rnr_retry;   /* 3 bits */
	uint8_t max_retries; /* 4 bits, of messages */
	bool srq;
	uint8_t ext_transport; /* 3 bits; 1: XRC */
	struct wf_cm_path path, alt_path;
};

struct wf_cm_mra {
	uint32_t local_id, remote_id;
	uint8_t about;   /* enum wf_cm_about */
	uint8_t timeout; /* 5 bits: of the service */
};

struct wf_cm_rej {
	uint32_t local_id, remote_id;
	uint8_t about;
	uint8_t info_length; /* 7 bits, bytes of additional information */
	uint16_t reason;     /* enum wf_cm_reason */
};

struct wf_cm_rep {
	uint32_t local_id, remote_id;
	uint32_t qkey;
	uint32_t qpn;
	uint32_t psn;
	uint8_t responder_resources;
	uint8_t initiator_depth;
	uint8_t ack_delay; /* 5 bits */
	uint8_t failover;  /* 2 bits; 1: not supported */
	bool flow_control;
	uint8_t rnr_retry; /* 3 bits */
	bool srq;
	uint64_t ca_guid;
};

/* RTU, DREQ and DREP. */
struct wf_cm_pair {
	uint32_t local_id, remote_id;
	uint32_t qpn; /* DREQ: of the receiver's queue pair */
};

struct wf_cm_sidr_req {
	uint32_t request;
	uint16_t pkey;
	uint64_t service;
};

struct wf_cm_sidr_rep {
	uint32_t request;
	uint8_t status; /* enum wf_cm_sidr_status */
	uint8_t info_length;
	uint32_t qpn;
	uint64_t service;
	uint32_t qkey;
};

#define WF_CM_REJ_INFO (WF_CM_DATA + 12) /* offset of the additional information */
#define WF_CM_INFO_LEN 72

/*
 * Where a message's private data begins in the MAD, and how long it is; 0 and 0: no such message.
 */
unsigned wf_cm_private(uint16_t attr_id, unsigned *length_p);

/* The names that stand at the same place in every message; of SIDR messages, the request. */
uint32_t wf_cm_local_id(const uint8_t *p);
/* Of all but REQ and SIDR messages. */
uint32_t wf_cm_remote_id(const uint8_t *p);

/* Writes the common header. */
void wf_cm_header(uint8_t *p, uint16_t attr_id, uint64_t tid);

void wf_cm_req_encode(const struct wf_cm_req *req, uint8_t *p);
void wf_cm_req_decode(const uint8_t *p, struct wf_cm_req *req_p);
void wf_cm_mra_encode(const struct wf_cm_mra *mra, uint8_t *p);
void wf_cm_mra_decode(const uint8_t *p, struct wf_cm_mra *mra_p);
void wf_cm_rej_encode(const struct wf_cm_rej *rej, uint8_t *p);
void wf_cm_rej_decode(const uint8_t *p, struct wf_cm_rej *rej_p);
void wf_cm_rep_encode(const struct wf_cm_rep *rep, uint8_t *p);
void wf_cm_rep_decode(const uint8_t *p, struct wf_cm_rep *rep_p);
void wf_cm_pair_encode(const struct wf_cm_pair *pair, uint8_t *p);
void wf_cm_pair_decode(const uint8_t *p, struct wf_cm_pair *pair_p);
void wf_cm_sidr_req_encode(const struct wf_cm_sidr_req *req, uint8_t *p);
void wf_cm_sidr_req_decode(const uint8_t *p, struct wf_cm_sidr_req *req_p);
void wf_cm_sidr_rep_encode(const struct wf_cm_sidr_rep *rep, uint8_t *p);
void wf_cm_sidr_rep_decode(const uint8_t *p, struct wf_cm_sidr_rep *rep_p);

/* The RDMA IP CM service: what stands before a consumer's private data in a REQ or a SIDR_REQ. */
#define WF_CM_IP_LEN 36

struct wf_cm_ip {
	uint8_t version; /* major and minor, 4 bits each: 0 */
	uint8_t ip;      /* 4 or 6 */
	uint16_t port;   /* of the sender */
	uint8_t src[16]; /* IPv4: in the last four bytes */
	uint8_t dst[16];
};

void wf_cm_ip_encode(const struct wf_cm_ip *ip, uint8_t *p);
void wf_cm_ip_decode(const uint8_t *p, struct wf_cm_ip *ip_p);

/* Its services: a port space of the RDMA CM, and the port in it. */
#define WF_CM_PS_TCP 0x0106
#define WF_CM_PS_UDP 0x0111
#define WF_CM_PS_IB 0x013f
#define WF_CM_PS_IPOIB 0x0002

static inline uint64_t wf_cm_service(uint16_t space, uint16_t port)
{
	return (uint64_t)space << 16 | port;
}

#endif
