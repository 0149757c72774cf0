/* SPDX-License-Identifier: Apache-2.0 */
/* cm.c - messages of communication management, byte by byte. */
#include "wire/cm.h"

#include <string.h>

#include "wire/byte.h"

#define AT(offset) (WF_CM_DATA + (offset))
#define PATH AT(52)
#define ALT_PATH AT(96)

unsigned wf_cm_private(uint16_t attr_id, unsigned *length_p)
{
	static const struct {
		uint8_t offset, length;
	} places[] = {
		[0] = { AT(140), 92 }, /* REQ */
		[WF_CM_MRA - WF_CM_REQ] = { AT(10), 222 },
		[WF_CM_REJ - WF_CM_REQ] = { AT(84), 148 },
		[WF_CM_REP - WF_CM_REQ] = { AT(36), 196 },
		[WF_CM_RTU - WF_CM_REQ] = { AT(8), 224 },
		[WF_CM_DREQ - WF_CM_REQ] = { AT(12), 220 },
		[WF_CM_DREP - WF_CM_REQ] = { AT(8), 224 },
		[WF_CM_SIDR_REQ - WF_CM_REQ] = { AT(16), 216 },
		[WF_CM_SIDR_REP - WF_CM_REQ] = { AT(96), 136 },
	};

	if (attr_id < WF_CM_REQ || attr_id > WF_CM_SIDR_REP) {
		*length_p = 0;
		return 0;
	}
	*length_p = places[attr_id - WF_CM_REQ].length;
	return places[attr_id - WF_CM_REQ].offset;
}

uint32_t wf_cm_local_id(const uint8_t *p)
{
	return wf_be32_get(p + AT(0));
}

uint32_t wf_cm_remote_id(const uint8_t *p)
{
	return wf_be32_get(p + AT(4));
}

void wf_cm_header(uint8_t *p, uint16_t attr_id, uint64_t tid)
{
	struct wf_mad mad = {
		.base_version = WF_MAD_BASE_VERSION,
		.mgmt_class = WF_MAD_CLASS_CM,
		.class_version = WF_CM_CLASS_VERSION,
		.method = WF_MAD_METHOD_SEND,
		.tid = tid,
		.attr_id = attr_id,
	};

	wf_mad_encode(&mad, p);
}

/* A number of 24 bits and a byte of smaller fields behind it. */
static void put24(uint8_t *p, uint32_t number, unsigned byte)
{
	wf_be24_put(p, number & 0xffffff);
	p[3] = (uint8_t)byte;
}

static void path_encode(const struct wf_cm_path *path, uint8_t *p)
{
	wf_be16_put(p, path->local_lid);
	wf_be16_put(p + 2, path->remote_lid);
	memcpy(p + 4, path->local_gid, 16);
	memcpy(p + 20, path->remote_gid, 16);
	wf_be32_put(p + 36, path->flow_label << 12 | (path->rate & 0x3fU));
	p[40] = path->traffic_class;
	p[41] = path->hop_limit;
	p[42] = (uint8_t)(path->sl << 4 | (path->subnet_local ? 8 : 0));
	p[43] = (uint8_t)(path->ack_timeout << 3);
}

static void path_decode(const uint8_t *p, struct wf_cm_path *path)
{
	path->local_lid = wf_be16_get(p);
	path->remote_lid = wf_be16_get(p + 2);
	memcpy(path->local_gid, p + 4, 16);
	memcpy(path->remote_gid, p + 20, 16);
	path->flow_label = wf_be32_get(p + 36) >> 12;
	path->rate = (uint8_t)(p[39] & 0x3f);
	path->traffic_class = p[40];
	path->hop_limit = p[41];
	path->sl = (uint8_t)(p[42] >> 4);
	path->subnet_local = (p[42] & 8) != 0;
	path->ack_timeout = (uint8_t)(p[43] >> 3);
}

void wf_cm_req_encode(const struct wf_cm_req *req, uint8_t *p)
{
	memset(p + AT(0), 0, 140);
	wf_be32_put(p + AT(0), req->local_id);
	wf_be64_put(p + AT(8), req->service);
	wf_be64_put(p + AT(16), req->ca_guid);
	wf_be32_put(p + AT(28), req->qkey);
	put24(p + AT(32), req->qpn, req->responder_resources);
	put24(p + AT(36), 0, req->initiator_depth);
	put24(p + AT(40), 0,
	      (unsigned)(req->remote_timeout << 3 | (req->transport & 3) << 1 | req->flow_control));
	put24(p + AT(44), req->psn, (unsigned)(req->local_timeout << 3 | (req->retry_count & 7)));
	wf_be16_put(p + AT(48), req->pkey);
	p[AT(50)] = (uint8_t)(req->mtu << 4 | (req->rnr_retry & 7));
	p[AT(51)] =
		(uint8_t)(req->max_retries << 4 | (req->srq ? 8 : 0) | (req->ext_transport & 7));
	path_encode(&req->path, p + PATH);
	path_encode(&req->alt_path, p + ALT_PATH);
}

void wf_cm_req_decode(const uint8_t *p, struct wf_cm_req *req_p)
{
	*req_p = (struct wf_cm_req){
		.local_id = wf_be32_get(p + AT(0)),
		.service = wf_be64_get(p + AT(8)),
		.ca_guid = wf_be64_get(p + AT(16)),
		.qkey = wf_be32_get(p + AT(28)),
		.qpn = wf_be24_get(p + AT(32)),
		.responder_resources = p[AT(35)],
		.initiator_depth = p[AT(39)],
		.remote_timeout = p[AT(43)] >> 3,
		.transport = p[AT(43)] >> 1 & 3,
		.flow_control = (p[AT(43)] & 1) != 0,
		.psn = wf_be24_get(p + AT(44)),
		.local_timeout = p[AT(47)] >> 3,
		.retry_count = p[AT(47)] & 7,
		.pkey = wf_be16_get(p + AT(48)),
		.mtu = p[AT(50)] >> 4,
		.rnr_retry = p[AT(50)] & 7,
		.max_retries = p[AT(51)] >> 4,
		.srq = (p[AT(51)] & 8) != 0,
		.ext_transport = p[AT(51)] & 7,
	};
	path_decode(p + PATH, &req_p->path);
	path_decode(p + ALT_PATH, &req_p->alt_path);
}

void wf_cm_mra_encode(const struct wf_cm_mra *mra, uint8_t *p)
{
	wf_be32_put(p + AT(0), mra->local_id);
	wf_be32_put(p + AT(4), mra->remote_id);
	p[AT(8)] = (uint8_t)(mra->about << 6);
	p[AT(9)] = (uint8_t)(mra->timeout << 3);
}

void wf_cm_mra_decode(const uint8_t *p, struct wf_cm_mra *mra_p)
{
	mra_p->local_id = wf_be32_get(p + AT(0));
	mra_p->remote_id = wf_be32_get(p + AT(4));
	mra_p->about = p[AT(8)] >> 6;
	mra_p->timeout = p[AT(9)] >> 3;
}

void wf_cm_rej_encode(const struct wf_cm_rej *rej, uint8_t *p)
{
	wf_be32_put(p + AT(0), rej->local_id);
	wf_be32_put(p + AT(4), rej->remote_id);
	p[AT(8)] = (uint8_t)(rej->about << 6);
	p[AT(9)] = (uint8_t)(rej->info_length << 1);
	wf_be16_put(p + AT(10), rej->reason);
}

void wf_cm_rej_decode(const uint8_t *p, struct wf_cm_rej *rej_p)
{
	rej_p->local_id = wf_be32_get(p + AT(0));
	rej_p->remote_id = wf_be32_get(p + AT(4));
	rej_p->about = p[AT(8)] >> 6;
	rej_p->info_length = p[AT(9)] >> 1;
	rej_p->reason = wf_be16_get(p + AT(10));
}

void wf_cm_rep_encode(const struct wf_cm_rep *rep, uint8_t *p)
{
	wf_be32_put(p + AT(0), rep->local_id);
	wf_be32_put(p + AT(4), rep->remote_id);
	wf_be32_put(p + AT(8), rep->qkey);
	put24(p + AT(12), rep->qpn, 0);
	put24(p + AT(16), 0, 0);
	put24(p + AT(20), rep->psn, 0);
	p[AT(24)] = rep->responder_resources;
	p[AT(25)] = rep->initiator_depth;
	p[AT(26)] = (uint8_t)(rep->ack_delay << 3 | (rep->failover & 3) << 1 | rep->flow_control);
	p[AT(27)] = (uint8_t)(rep->rnr_retry << 5 | (rep->srq ? 0x10 : 0));
	wf_be64_put(p + AT(28), rep->ca_guid);
}

void wf_cm_rep_decode(const uint8_t *p, struct wf_cm_rep *rep_p)
{
	*rep_p = (struct wf_cm_rep){
		.local_id = wf_be32_get(p + AT(0)),
		.remote_id = wf_be32_get(p + AT(4)),
		.qkey = wf_be32_get(p + AT(8)),
		.qpn = wf_be24_get(p + AT(12)),
		.psn = wf_be24_get(p + AT(20)),
		.responder_resources = p[AT(24)],
		.initiator_depth = p[AT(25)],
		.ack_delay = p[AT(26)] >> 3,
		.failover = p[AT(26)] >> 1 & 3,
		.flow_control = (p[AT(26)] & 1) != 0,
		.rnr_retry = p[AT(27)] >> 5,
		.srq = (p[AT(27)] & 0x10) != 0,
		.ca_guid = wf_be64_get(p + AT(28)),
	};
}

void wf_cm_pair_encode(const struct wf_cm_pair *pair, uint8_t *p)
{
	wf_be32_put(p + AT(0), pair->local_id);
	wf_be32_put(p + AT(4), pair->remote_id);
	if (wf_be16_get(p + 16) == WF_CM_DREQ)
		put24(p + AT(8), pair->qpn, 0);
}

void wf_cm_pair_decode(const uint8_t *p, struct wf_cm_pair *pair_p)
{
	pair_p->local_id = wf_be32_get(p + AT(0));
	pair_p->remote_id = wf_be32_get(p + AT(4));
	pair_p->qpn = wf_be16_get(p + 16) == WF_CM_DREQ ? wf_be24_get(p + AT(8)) : 0;
}

void wf_cm_sidr_req_encode(const struct wf_cm_sidr_req *req, uint8_t *p)
{
	wf_be32_put(p + AT(0), req->request);
	wf_be16_put(p + AT(4), req->pkey);
	wf_be16_put(p + AT(6), 0);
	wf_be64_put(p + AT(8), req->service);
}

void wf_cm_sidr_req_decode(const uint8_t *p, struct wf_cm_sidr_req *req_p)
{
	req_p->request = wf_be32_get(p + AT(0));
	req_p->pkey = wf_be16_get(p + AT(4));
	req_p->service = wf_be64_get(p + AT(8));
}

void wf_cm_sidr_rep_encode(const struct wf_cm_sidr_rep *rep, uint8_t *p)
{
	wf_be32_put(p + AT(0), rep->request);
	p[AT(4)] = rep->status;
	p[AT(5)] = rep->info_length;
	wf_be16_put(p + AT(6), 0);
	put24(p + AT(8), rep->qpn, 0);
	wf_be64_put(p + AT(12), rep->service);
	wf_be32_put(p + AT(20), rep->qkey);
}

void wf_cm_sidr_rep_decode(const uint8_t *p, struct wf_cm_sidr_rep *rep_p)
{
	rep_p->request = wf_be32_get(p + AT(0));
	rep_p->status = p[AT(4)];
	rep_p->info_length = p[AT(5)];
	rep_p->qpn = wf_be24_get(p + AT(8));
	rep_p->service = wf_be64_get(p + AT(12));
	rep_p->qkey = wf_be32_get(p + AT(20));
}

void wf_cm_ip_encode(const struct wf_cm_ip *ip, uint8_t *p)
{
	p[0] = ip->version;
	p[1] = (uint8_t)(ip->ip << 4);
	wf_be16_put(p + 2, ip->port);
	memcpy(p + 4, ip->src, 16);
	memcpy(p + 20, ip->dst, 16);
}

void wf_cm_ip_decode(const uint8_t *p, struct wf_cm_ip *ip_p)
{
	ip_p->version = p[0];
	ip_p->ip = (uint8_t)(p[1] >> 4);
	ip_p->port = wf_be16_get(p + 2);
	memcpy(ip_p->src, p + 4, 16);
	memcpy(ip_p->dst, p + 20, 16);
}
