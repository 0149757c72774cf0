/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ucma_priv.h - what the kernel keeps for librdmacm, in the program itself.
 *
 * librdmacm opens /dev/infiniband/rdma_cm and writes commands to it (rdma/rdma_user_cm.h, version 4
 * of that interface). A file that it opened (compat/fd) is a *channel*, on which *ids* live and
 * *events* wait; it is signalled while they do, so programs poll it as they are used to. Everything
 * is under the lock of the adapter.
 */
#ifndef WF_COMPAT_UCMA_PRIV_H
#define WF_COMPAT_UCMA_PRIV_H

#include <netinet/in.h>
#include <stdbool.h>
/* After netinet/in.h, which it agrees with. */
#include <rdma/rdma_user_cm.h>

#include "compat/fd/fd.h"
#include "live/nic.h"

/* As rdma/rdma_cma.h numbers them. */
enum wv_ucma_event_type {
	WV_UCMA_ADDR_RESOLVED,
	WV_UCMA_ADDR_ERROR,
	WV_UCMA_ROUTE_RESOLVED,
	WV_UCMA_ROUTE_ERROR,
	WV_UCMA_CONNECT_REQUEST,
	WV_UCMA_CONNECT_RESPONSE,
	WV_UCMA_CONNECT_ERROR,
	WV_UCMA_UNREACHABLE,
	WV_UCMA_REJECTED,
	WV_UCMA_ESTABLISHED,
	WV_UCMA_DISCONNECTED,
	WV_UCMA_DEVICE_REMOVAL,
	WV_UCMA_MULTICAST_JOIN,
	WV_UCMA_MULTICAST_ERROR,
	WV_UCMA_ADDR_CHANGE,
	WV_UCMA_TIMEWAIT_EXIT,
};

_Static_assert(WV_UCMA_CONNECT_REQUEST == 4 && WV_UCMA_DISCONNECTED == 10 &&
                       WV_UCMA_TIMEWAIT_EXIT == 15,
               "as librdmacm numbers them");

struct wv_ucma_event {
	struct wv_ucma_event *next;
	struct wv_ucma_id *id;    /* whose it is; CONNECT_REQUEST: the listener's */
	struct wv_ucma_mc *mc;    /* MULTICAST_*: the membership */
	struct wv_ucma_id *child; /* CONNECT_REQUEST: the new one */
	struct rdma_ucm_event_resp resp;
};

struct wv_ucma_channel {
	struct wx_file *file;
	struct wf_nic *nic;
	struct wv_ucma_event *events, **tail;
};

/* A multicast group that an id has joined. */
struct wv_ucma_mc {
	struct wv_ucma_mc *next;
	struct wv_ucma_id *id;
	uint32_t handle;
	uint64_t uid;
	uint32_t events_reported;
	bool asked;      /* of the subnet administration, by that name: */
	uint32_t cookie; /* 0: not yet */
	uint8_t gid[16];
};

enum wv_ucma_state {
	WV_UCMA_IDLE,
	WV_UCMA_BOUND,
	WV_UCMA_ADDR, /* the other side's address is known */
	WV_UCMA_ROUTE,
	WV_UCMA_CONNECT,
	WV_UCMA_DISCONNECT,
	WV_UCMA_LISTEN,
};

struct wv_ucma_id {
	struct wv_ucma_channel *channel;
	uint32_t handle;
	uint64_t uid; /* librdmacm's name for it; 0 until a connection is accepted */
	uint16_t space;
	uint8_t qp_type;
	enum wv_ucma_state state;
	bool reuse;
	bool device;  /* it belongs to the device, not to all */
	bool group;   /* the other side is a multicast group */
	bool unheard; /* its CONNECT_REQUEST waits: the program does not know of it */
	uint8_t sgid; /* enum wf_live_gid_index: of the GIDs it uses */
	uint8_t tos;
	uint8_t ack_timeout;          /* 0: as always */
	struct sockaddr_in6 src, dst; /* or struct sockaddr_in */
	uint64_t service;             /* that is bound; 0: none */
	uint32_t host;                /* of the other side */
	uint8_t dgid[16];
	uint32_t psn;
	uint32_t backlog;
	uint32_t events_reported;
	struct wf_cm_conn *conn;
	struct wv_ucma_mc *mcs;
};

/* ucma.c */

/* The id of that name, on whatever channel it is; NULL: there is none. */
struct wv_ucma_id *wv_ucma_find(uint32_t handle);
/* The id that a command means. Returns 0, -ENOENT (none) or -EINVAL (on another channel). */
int wv_ucma_get(const struct wv_ucma_channel *ch, uint32_t handle,
                struct wv_ucma_id **id_p) WF_MUST_USE;
/* NULL: no memory. */
struct wv_ucma_id *wv_ucma_create(struct wv_ucma_channel *ch, uint16_t space, uint8_t qp_type);
void wv_ucma_destroy(struct wv_ucma_id *id);
/* Frees memberships, which are no id's any more, and has the host leave. Asks. */
void wv_ucma_leave(struct wf_nic *nic, struct wv_ucma_mc *mcs);

/* Copies an answer, or what there is room for, to where a command wants it: 0 or -EFAULT. */
int wv_ucma_answer(uint64_t to, size_t room, const void *answer, size_t size);

/* Asserts what holds of an id between commands. */
void wv_ucma_check_id(const struct wv_ucma_id *id);

/* ucma_event.c */

/* An event for id, to be filled and given to wv_ucma_post(). NULL: no memory. */
struct wv_ucma_event *wv_ucma_event(struct wv_ucma_id *id, enum wv_ucma_event_type type,
                                    int status);
void wv_ucma_post(struct wv_ucma_event *event);
/* Both at once, for an event without more to say. Returns 0 or -ENOMEM. */
int wv_ucma_tell(struct wv_ucma_id *id, enum wv_ucma_event_type type, int status);
/* Takes the first, of which there is one. The caller owns it. */
struct wv_ucma_event *wv_ucma_take(struct wv_ucma_channel *ch);
/* Asserts what holds of a channel between commands. */
void wv_ucma_check(const struct wv_ucma_channel *ch);
/* Drops one that waits. */
void wv_ucma_drop(struct wv_ucma_channel *ch, const struct wv_ucma_event *event);
/* Drops what waits about an id. */
void wv_ucma_purge(struct wv_ucma_id *id);
void wv_ucma_move_events(struct wv_ucma_id *id, struct wv_ucma_channel *to);

/* ucma_addr.c */

bool wv_ucma_is_any(const struct sockaddr_in6 *sa);
uint16_t wv_ucma_port(const struct sockaddr_in6 *sa);
void wv_ucma_set_port(struct sockaddr_in6 *sa, uint16_t port);
/* This host's own address for what goes to dst. */
void wv_ucma_own(struct wf_nic *nic, const struct sockaddr_in6 *dst, struct sockaddr_in6 *sa);
/* Whether this host may bind it. Returns 0 or -errno. */
int wv_ucma_check_own(struct wf_nic *nic, const struct sockaddr_in6 *sa);
/* Who has id->dst: sets host, dgid, group, sgid. Returns 0 or -errno. */
int wv_ucma_resolve(struct wv_ucma_id *id);
/* The GID of a group, as the fabric has it. Returns 0 or -EINVAL. */
int wv_ucma_group_gid(const struct wv_ucma_id *id, const struct sockaddr_in6 *sa, uint8_t gid[16]);
void wv_ucma_sgid(const struct wv_ucma_id *id, uint8_t gid[16]);
/* The path as a REQ tells it, and back: as librdmacm wants to see it. */
void wv_ucma_path(const struct wv_ucma_id *id, struct wf_cm_path *path);
void wv_ucma_path_rec(const struct wv_ucma_id *id, struct ib_user_path_rec *rec);
void wv_ucma_ah(const struct wv_ucma_id *id, const uint8_t dgid[16], uint16_t dlid,
                struct ib_uverbs_ah_attr *ah);
void wv_ucma_from_ip(const struct wf_cm_ip *ip, const struct wv_ucma_id *listener,
                     struct wv_ucma_id *id);
int wv_ucma_to_ip(const struct wv_ucma_id *id, struct wf_cm_ip *ip);
uint8_t wv_ucma_mtu(const struct wf_nic *nic);
/* The LID of the other side; RoCE: 0. */
uint16_t wv_ucma_dlid(const struct wv_ucma_id *id);

/* The P_Key by which the other side is reached, and its place in the port's table. */
uint16_t wv_ucma_pkey(const struct wv_ucma_id *id, uint32_t *index_p);

/* ucma_id.c, ucma_conn.c: the commands, each with room for its answer: 0 or -errno. */
typedef int wv_ucma_fn(struct wv_ucma_channel *ch, const void *in, size_t out);
wv_ucma_fn wv_ucma_create_id, wv_ucma_destroy_id, wv_ucma_bind_ip, wv_ucma_resolve_ip,
	wv_ucma_resolve_route, wv_ucma_query_route, wv_ucma_listen, wv_ucma_set_option,
	wv_ucma_join_ip_mcast, wv_ucma_leave_mcast;
wv_ucma_fn wv_ucma_connect, wv_ucma_accept, wv_ucma_reject, wv_ucma_disconnect,
	wv_ucma_init_qp_attr, wv_ucma_notify;

#define WV_UCMA_QKEY 0x01234567 /* of datagrams in the port space UDP */
#define WV_UCMA_ACK_TIMEOUT 17  /* twice a packet's life of 2^16 * 4.096 us */

#endif
