/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proto.h - what the daemon and the programs of a fabric say to each other.
 *
 * A program connects to the daemon's socket (SOCK_SEQPACKET) and asks: one struct wf_live_req, one
 * struct wf_live_reply, file descriptors beside them. With the answer to ATTACH it gets a second
 * socket, on which the daemon tells what happens: struct wf_live_event. What an adapter asks while
 * packets wait (CONNECT, SERVICE_FIND) it asks there, and is answered by events: it never waits for
 * the daemon with its lock held. The daemon believes nothing that it is told but what the kernel
 * vouches for (who is at the other end); a message that is not as it should be gets -EINVAL or ends
 * the connection.
 */
#ifndef WF_LIVE_PROTO_H
#define WF_LIVE_PROTO_H

#include <stddef.h>

#include "base/base.h"
#include "live/number.h"
#include "live/stats.h"
#include "live/table.h"
#include "wire/packet.h"

#define WF_LIVE_VERSION 9
#define WF_LIVE_MAX_FDS 4       /* beside a message */
#define WF_LIVE_GROUP_PORTS 256 /* programs in a multicast group */
#define WF_LIVE_CAPTURES 16     /* at a time */
#define WF_LIVE_TEXT 512        /* bytes of a fault in words, and of what is wrong with it */

enum wf_live_op {
	WF_LIVE_ATTACH = 1, /* be a program on a host; fds back: events, wake, table, stats */
	WF_LIVE_CONNECT,    /* a link to another program; fds back: memory, wake */
	WF_LIVE_GROUP_JOIN, /* receive what is sent to a multicast group */
	WF_LIVE_GROUP_LEAVE,
	WF_LIVE_GROUP_SEND, /* want to know who is in the group: WF_LIVE_EV_GROUP, now and later */
	WF_LIVE_STATUS,     /* fd back: a file of struct wf_live_status */
	WF_LIVE_COUNTERS,   /* of a host (attach.host); fds back: uint64_t[WF_LIVE_COUNTS], table */
	WF_LIVE_STOP,       /* end the fabric */
	WF_LIVE_FAULT,      /* something breaks, or is mended */
	WF_LIVE_PORTS,      /* of the model; fd back: struct wf_live_model (model_state.h) */
	/*
	 * Services of communication management. A program binds one of its host, which nobody else
	 * then may, and listens for it; port 0 is any free one. FIND: who listens for it on a host;
	 * SEEK: on any, the asker's own first.
	 */
	WF_LIVE_SERVICE_BIND,
	WF_LIVE_SERVICE_LISTEN,
	WF_LIVE_SERVICE_FREE,
	WF_LIVE_SERVICE_FIND,
	WF_LIVE_SERVICE_SEEK,
	/*
	 * Capture the packets of a host, or of all, from now until the connection ends. It may be
	 * asked for more hosts, and has to ask again while the reply says that there are more
	 * programs. fds back, the first time: events (EV_TAP, EV_GONE), table.
	 */
	WF_LIVE_CAPTURE,
	/* Addresses outside of the fabric: the number of one (remote.gid), and back. */
	WF_LIVE_REMOTE_NUMBER,
	WF_LIVE_REMOTE_GID,
	/* By the socket of events: what came of a link could not be taken (connect). No answer. */
	WF_LIVE_UNLINK,
	/*
	 * In a modelled fabric, a fault in the words of a scenario (text), or with CLEAR what is to
	 * be mended: a name, "" for everything. The answer has a text, too: what is wrong with it.
	 */
	WF_LIVE_WORDS,
	WF_LIVE_WORDS_CLEAR,
	WF_LIVE_WORDS_LIST, /* fd back: a file of struct wf_live_words (model_state.h) */
	/*
	 * Be a file of management programs, on a host of a managed fabric (mads): umad_proto.h has
	 * what follows. ISSM: the connection is IsSM while it lasts, one of a host; if another is,
	 * -EAGAIN, or with mads.waits a reply that says the same, and a struct wf_umad_reply when
	 * it is.
	 */
	WF_LIVE_UMAD_OPEN, /* fd back: a socket of struct wf_umad_part */
	WF_LIVE_ISSM_OPEN,
	/*
	 * In a managed fabric, have the host join a multicast group by its subnet administration
	 * (join): EV_JOINED says what came of it. It leaves with the last of its programs that has
	 * joined.
	 */
	WF_LIVE_JOIN,
	WF_LIVE_JOIN_END, /* join.cookie */
};

#define WF_LIVE_ALL UINT32_MAX /* in place of a host: every one */

/* What can be wrong with a host or its link; see struct wf_live_host. */
enum wf_live_fault {
	WF_LIVE_FAULT_DOWN = 1, /* value: 1 or 0 */
	WF_LIVE_FAULT_LOSS,     /* value: of 2^32 */
	WF_LIVE_FAULT_CORRUPT,  /* value: of 2^32 */
	WF_LIVE_FAULT_DELAY,    /* value: picoseconds */
	WF_LIVE_FAULT_PAUSE,    /* value: 1 or 0 */
	WF_LIVE_FAULT_KILL,     /* its programs are killed, and it stays dead */
	WF_LIVE_FAULT_CLEAR,    /* all is well again */
};

#define WF_LIVE_DELAY_MAX (2 * WF_S)

/* How a service is bound. */
#define WF_LIVE_BIND_REUSE 1u  /* others may, too */
#define WF_LIVE_BIND_ACTIVE 2u /* to connect from it: nobody will listen there */

struct wf_live_req {
	uint32_t op; /* enum wf_live_op */
	uint32_t version;
	union {
		struct {
			char host[WF_LIVE_NAME]; /* "" for the first */
			char program[WF_LIVE_NAME];
		} attach;
		struct {
			uint32_t host, slot;
		} connect;
		struct {
			uint8_t gid[16];
		} group;
		struct {
			uint32_t host; /* or WF_LIVE_ALL, or WF_LIVE_MODEL: a link of it */
			uint32_t what; /* enum wf_live_fault */
			uint64_t value;
			uint32_t link; /* WF_LIVE_MODEL: which */
		} fault;
		struct {
			uint64_t id;
			uint32_t host; /* FIND */
			uint32_t flag; /* BIND: WF_LIVE_BIND_*; FREE: 1: the one that listens */
		} service;
		struct {
			uint32_t host;    /* or WF_LIVE_ALL */
			uint32_t snaplen; /* most bytes of payload with a packet; the first time */
		} capture;
		struct {
			uint32_t number; /* with WF_LIVE_REMOTE */
			uint8_t gid[16]; /* IPv4 addresses mapped */
		} remote;
		struct {
			char host[WF_LIVE_NAME];
			uint32_t waits; /* ISSM: for its turn */
		} mads;
		struct {
			uint8_t gid[16];
			uint32_t cookie; /* the program's name for it */
			uint32_t ipoib;  /* 1: a group of IPoIB's, like its broadcast group */
		} join;
		char text[WF_LIVE_TEXT]; /* WORDS, WORDS_CLEAR; it ends within */
	};
};

#define WF_LIVE_REQ_SHORT 72 /* bytes of all but those with words */

struct wf_live_reply {
	int32_t error; /* 0 or -errno */
	uint32_t n_fds;
	union {
		struct {
			uint32_t host, slot;
		} attach;
		struct {
			uint32_t side; /* ours, of the link */
		} connect;
		struct {
			uint32_t group;
		} group;
		struct {
			uint64_t id;
			uint32_t host, slot;
		} service;
		struct {
			uint32_t n; /* how many struct wf_live_status are in the file */
		} status;
		struct {
			uint32_t more; /* programs have still to be tapped: ask again */
		} capture;
		struct {
			uint32_t number;
			uint8_t gid[16];
		} remote;
		struct {
			uint32_t waits;
		} mads;
		char text[WF_LIVE_TEXT]; /* of words; with an error */
	};
};

#define WF_LIVE_REPLY_SHORT 32

/* Whether a question and its answer have a text. */
static inline int wf_live_has_text(uint32_t op)
{
	return op == WF_LIVE_WORDS || op == WF_LIVE_WORDS_CLEAR;
}

/* The bytes of a question as it is sent, and of its answer. */
static inline size_t wf_live_req_bytes(const struct wf_live_req *req)
{
	return wf_live_has_text(req->op) ? sizeof(*req) : WF_LIVE_REQ_SHORT;
}

static inline size_t wf_live_reply_bytes(uint32_t op)
{
	return wf_live_has_text(op) ? sizeof(struct wf_live_reply) : WF_LIVE_REPLY_SHORT;
}

enum wf_live_ev {
	WF_LIVE_EV_LINK = 1, /* a link, whoever asked for it; fds: memory, wake */
	WF_LIVE_EV_GONE,     /* a program this one has a link to has ended */
	WF_LIVE_EV_GROUP,    /* who is in a multicast group */
	WF_LIVE_EV_PORT,     /* a fault came or went, or management set something of this port */
	WF_LIVE_EV_TAP,     /* to a program: a capture begins; to a capture: a program; fd: tap.h */
	WF_LIVE_EV_TAP_END, /* to a program: that capture has ended */
	WF_LIVE_EV_NO_LINK, /* the program that one was asked to is not there */
	WF_LIVE_EV_UNLINK,  /* the other program could not take the link: there is none */
	WF_LIVE_EV_SERVICE, /* who listens for it on the host; slot 0: nobody, or WF_LIVE_BOUND */
	WF_LIVE_EV_JOINED,  /* what came of WF_LIVE_JOIN */
};

/* In place of a slot: nobody listens for a service, but who has bound it may come to. */
#define WF_LIVE_BOUND UINT32_MAX

/* What came of WF_LIVE_JOIN. */
struct wf_live_joined {
	uint32_t cookie;
	int16_t status; /* 0 or -errno; the rest is what the group has, as in its record */
	uint16_t mlid;
	uint32_t qkey, flow_label;
	uint8_t sl, mtu, rate, tclass, hop_limit;
};

struct wf_live_event {
	uint32_t type; /* enum wf_live_ev */
	uint32_t n_fds;
	union {
		struct {
			uint32_t host, slot, side; /* side: ours */
		} link;                            /* NO_LINK, too */
		struct {
			uint64_t id;
			uint32_t host, slot;
		} service;
		struct {
			uint32_t host, slot;
		} gone;
		struct {
			uint32_t state; /* of the port, then; the table says what it is now */
			uint32_t what;  /* WF_LIVE_PORT_*: what is not as it was */
		} port;
		struct {
			uint32_t host, slot; /* of the program */
			uint32_t capture;    /* number of the capture */
			uint32_t snaplen;
		} tap;
		struct wf_live_joined joined;
		struct {
			uint32_t group, n;
			struct {
				uint32_t host, slot;
			} port[WF_LIVE_GROUP_PORTS];
		} group;
	};
};

#define WF_LIVE_EVENT_SHORT 32 /* bytes of all but those about groups */

_Static_assert(offsetof(struct wf_live_event, joined) +
                               sizeof(((struct wf_live_event *)0)->joined) <=
                       WF_LIVE_EVENT_SHORT,
               "it fits");

/* The bytes of an event as it is sent. */
static inline size_t wf_live_event_bytes(const struct wf_live_event *event)
{
	return event->type == WF_LIVE_EV_GROUP ? sizeof(*event) : WF_LIVE_EVENT_SHORT;
}

/*
 * Daemons and programs may be of two builds: who changes one of these changes WF_LIVE_VERSION, too.
 */
_Static_assert(8 + sizeof(((struct wf_live_req *)0)->attach) == WF_LIVE_REQ_SHORT, "without words");
_Static_assert(8 + sizeof(((struct wf_live_reply *)0)->remote) <= WF_LIVE_REPLY_SHORT, "the same");
_Static_assert(sizeof(struct wf_live_req) == 8 + WF_LIVE_TEXT, "a question");
_Static_assert(sizeof(struct wf_live_reply) == 8 + WF_LIVE_TEXT, "an answer");
_Static_assert(sizeof(struct wf_live_event) == 8 + 8 + 8 * WF_LIVE_GROUP_PORTS, "an event");

#endif
