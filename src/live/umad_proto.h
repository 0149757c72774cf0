/* SPDX-License-Identifier: Apache-2.0 */
/*
 * umad_proto.h - what a program that has /dev/infiniband/umad0 open and the daemon say to each
 * other. The daemon is what a kernel is: it knows all agents of a host.
 *
 *	program                                     daemon
 *	  WF_LIVE_UMAD_OPEN, a host       -->
 *	                                  <--         fd: the socket of what comes
 *	  struct wf_umad_ask              -->                   from here on only these,
 *	                                  <--         struct wf_umad_reply   one at a time
 *	                                  <==         struct wf_umad_part    by the other socket
 *
 * MADs are as programs write and read them: struct ib_user_mad_hdr with pkey_index, and the MAD.
 * One that is longer than a part comes in several, in order: of a SEND all but the last say that
 * there is more, and have no answer; what comes says how long it is. The file is open as long as
 * the connection is.
 *
 * /dev/infiniband/issm0 is a connection, too (WF_LIVE_ISSM_OPEN), on which nothing more is said.
 */
#ifndef WF_LIVE_UMAD_PROTO_H
#define WF_LIVE_UMAD_PROTO_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define WF_UMAD_AGENTS 32      /* of a file, as Linux has it */
#define WF_UMAD_HDR 64         /* bytes of the header, */
#define WF_UMAD_HDR_OLD 56     /* and of programs that know no P_Key index */
#define WF_UMAD_PART 16384     /* bytes in a part */
#define WF_UMAD_MAX (8u << 20) /* bytes of a MAD with its header: a longer one is refused */
#define WF_UMAD_LEAST 36       /* bytes of a MAD that is sent: its header and RMPP's */
#define WF_UMAD_AT_ID 0        /* offsets in the header: of the machine's order */
#define WF_UMAD_AT_STATUS 4
#define WF_UMAD_AT_TIMEOUT 8
#define WF_UMAD_AT_RETRIES 12
#define WF_UMAD_AT_LENGTH 16
#define WF_UMAD_AT_QPN 20 /* from here on the network's */
#define WF_UMAD_AT_QKEY 24
#define WF_UMAD_AT_LID 28
#define WF_UMAD_AT_SL 30
#define WF_UMAD_AT_PATH_BITS 31
#define WF_UMAD_AT_GRH 32
#define WF_UMAD_AT_PKEY_INDEX 56 /* the machine's again */

enum wf_umad_op {
	WF_UMAD_REGISTER = 1,
	WF_UMAD_UNREGISTER, /* agent.id */
	WF_UMAD_SEND,
	WF_UMAD_SEND_MORE, /* a part that is not the last; no answer */
	WF_UMAD_CANCEL,    /* the parts that have come are of nothing */
};

struct wf_umad_ask {
	uint32_t op;     /* enum wf_umad_op */
	uint32_t length; /* of data */
	struct {
		uint32_t id;
		uint32_t oui;
		uint64_t methods[2];
		uint8_t qpn, mgmt_class, class_version, rmpp;
		uint8_t unused[4];
	} agent;
	uint8_t data[WF_UMAD_PART]; /* SEND, SEND_MORE: so many bytes are sent */
};

struct wf_umad_reply {
	int32_t error; /* 0 or -errno */
	uint32_t id;   /* REGISTER: the agent's, in this file */
};

struct wf_umad_part {
	uint32_t total; /* bytes of header and MAD */
	uint32_t at;    /* those of this part begin there */
	uint8_t data[WF_UMAD_PART];
};

#define WF_UMAD_ASK_BYTES offsetof(struct wf_umad_ask, data) /* of one without data */
#define WF_UMAD_PART_BYTES offsetof(struct wf_umad_part, data)

static_assert(WF_UMAD_ASK_BYTES == 40, "as it is sent");
static_assert(WF_UMAD_PART % 4 == 0 && WF_UMAD_PART > WF_UMAD_HDR + 256, "a whole MAD fits");

#endif
