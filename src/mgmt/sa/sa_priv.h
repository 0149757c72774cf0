/* SPDX-License-Identifier: Apache-2.0 */
/* sa_priv.h - the inside of subnet administration. */
#ifndef WF_MGMT_SA_SA_PRIV_H
#define WF_MGMT_SA_SA_PRIV_H

#include "mgmt/sa/sa.h"
#include "wire/byte.h"
#include "wire/ib.h"
#include "wire/sa.h"

#define WF_SA_ANSWER_MAX (UINT32_C(1) << 27) /* bytes of an answer; longer ones are refused */
#define WF_SA_ROOM (UINT32_C(1) << 28)       /* of all answers that are on their way */
#define WF_SA_GID_LEN 16

/* Of a port (index into the graph's), what many answers need: made once for each view. */
struct wf_sa_port {
	uint64_t rate; /* bits/s; 0: none */
	uint32_t keys; /* the first of its P_Keys in sa->keys, in OpenSM's order, each once */
	uint16_t n_keys;
	uint8_t mtu;          /* code of MTUCap */
	uint8_t neighbor_mtu; /* code */
};

struct wf_sa_member {
	struct wf_sa_member *next;
	uint64_t guid;
	uint8_t port_gid[WF_SA_GID_LEN];
	uint8_t scope, join_state;
	bool proxy; /* somebody else has joined for it */
};

struct wf_sa_group {
	struct wf_sa_group *next; /* in the order of MGIDs */
	struct wf_mc_member_record record;
	struct wf_sa_member *members; /* in the order of GUIDs */
	uint32_t n_members, full_members;
	bool well_known; /* a partition's: stays without members */
};

struct wf_sa_service {
	struct wf_sa_service *next;
	struct wf_service_record record;
	wf_time until; /* WF_TIME_NEVER: for ever */
};

struct wf_sa_subscription {
	struct wf_sa_subscription *next;
	struct wf_inform_info_record record;
	struct wf_mux_addr addr;
	uint64_t guid; /* the subscriber's */
};

#define WF_SA_MLIDS (WF_LID_PERMISSIVE - WF_LID_MULTICAST)
#define WF_SA_MLID_USED 1u    /* a group has it */
#define WF_SA_MLID_CHANGED 2u /* the manager does not know yet who its members are */

struct wf_sa {
	struct wf_sm *sm;
	struct wf_mem *mem;
	struct wf_mux *mux;
	struct wf_mux_agent *agent;
	wf_time now;

	/* Of the manager's view; made anew after each sweep. */
	bool indexed;
	struct wf_sa_port *ports;
	uint16_t *keys;
	uint32_t *ends; /* ports that are ends of paths, in OpenSM's order of GUIDs */
	uint32_t n_ends;

	struct wf_sa_group *groups;
	uint8_t *mlids;     /* [mlid - first]: WF_SA_MLID_* */
	uint32_t made;      /* MGIDs made up */
	bool groups_wanted; /* those of partitions are to be looked at */
	bool groups_changed;
	struct wf_sa_service *services; /* the latest first */
	struct wf_sa_subscription *subscriptions;
	uint32_t report_tid;
	struct wf_sa_stats stats;
};

/* A request, and the answer that is being put together. */
struct wf_sa_req {
	const struct wf_mux_addr *from;
	struct wf_mad head;
	struct wf_sa_hdr sa;
	bool rmpp; /* it came in segments */
	bool trusted;
	const uint8_t *mad;           /* its headers */
	uint8_t data[WF_SA_DATA_LEN]; /* its attribute, zeros behind it */
	const struct wf_sm_view *view;
	uint32_t port; /* the requester's: index into the graph's */

	uint8_t *bytes; /* records so far, every stride bytes */
	size_t size, used, stride;
	uint32_t n;
	bool full; /* no memory, or too long */
};

/* How one attribute is answered. */
struct wf_sa_row {
	uint16_t attr_id;
	uint8_t methods; /* WF_SA_DOES_*; what is not among them gets status, if that is not 0 */
	uint16_t status;
	/* Adds records, and returns 0 or a status to refuse it with. */
	uint16_t (*answer)(struct wf_sa *sa, struct wf_sa_req *req);
};

#define WF_SA_DOES_GET 1u
#define WF_SA_DOES_TABLE 2u
#define WF_SA_DOES_SET 4u
#define WF_SA_DOES_DELETE 8u
#define WF_SA_DOES_MULTI 16u
#define WF_SA_QUERY (WF_SA_DOES_GET | WF_SA_DOES_TABLE)

static inline bool wf_sa_has(const struct wf_sa_req *req, unsigned component)
{
	return (req->sa.comp_mask >> component & 1) != 0;
}

/* The rest of a mask when LIDs, which may be any of a port's, have been looked at. */
static inline uint64_t wf_sa_but(uint64_t mask, unsigned component)
{
	return mask & ~WF_COMPONENT(component);
}

/* ---- sa.c ---- */
/* A record of the answer. */
void wf_sa_add(struct wf_sa *sa, struct wf_sa_req *req, const struct wf_layout *layout,
               const void *record);

/* ---- index.c ---- */
/* Makes ports, keys and ends, where they are not there. Returns 0 or -ENOMEM. */
int wf_sa_index(struct wf_sa *sa) WF_MUST_USE;
void wf_sa_index_drop(struct wf_sa *sa);

/* The first P_Key that both have, one of them as a full member, as a has it; 0: there is none. */
uint16_t wf_sa_common_key(const struct wf_sa *sa, uint32_t a, uint32_t b);
/* They may know of each other: the same port, or a key in common; a table that is empty has all. */
bool wf_sa_share(const struct wf_sa *sa, uint32_t a, uint32_t b);
/* Both have that key, one of them as a full member. */
bool wf_sa_share_key(const struct wf_sa *sa, uint32_t a, uint32_t b, uint16_t key);
/* A port has a key, as whatever member; the key 0 is everybody's. */
bool wf_sa_has_key(const struct wf_sa *sa, uint32_t port, uint16_t key);

/* The end of paths with that GUID or LID: index into the graph's ports, or WF_SUBNET_NONE. */
uint32_t wf_sa_by_guid(const struct wf_sm_view *view, uint64_t guid);
uint32_t wf_sa_by_lid(const struct wf_sm_view *view, unsigned lid);

void wf_sa_gid(const struct wf_sa *sa, uint64_t guid, uint8_t gid[WF_SA_GID_LEN]);

static inline uint64_t wf_sa_gid_guid(const uint8_t *gid)
{
	return wf_be64_get(gid + 8);
}

static inline uint64_t wf_sa_gid_prefix(const uint8_t *gid)
{
	return wf_be64_get(gid);
}

/* The LID that a port (index) is found by: of a switch's, that of its port 0. */
uint16_t wf_sa_lid(const struct wf_sm_view *view, uint32_t index);
/* One of the LIDs that it is found by. */
bool wf_sa_lid_is(const struct wf_sm_view *view, uint32_t index, unsigned lid);

/* A value that has to be greater, less or the same as another; orders are the caller's. */
bool wf_sa_selects(unsigned selector, uint64_t has, uint64_t wanted);

/* The code of the next rate below a code's; 0: there is none. */
uint8_t wf_sa_slower(uint8_t code);

/* ---- path.c ---- */
struct wf_sa_path {
	uint8_t mtu, rate, life; /* codes */
	uint16_t pkey;
	uint8_t sl;
	uint8_t hops; /* switches */
	bool reversible;
};

/* What is asked of a path: PathRecord's components, and MultiPathRecord's under their numbers. */
struct wf_sa_wish {
	const struct wf_path_record *record;
	uint64_t mask;
};

/*
 * The path from a port and LID to another, if there is one that is as it is wished. The ports are
 * ends of paths. False: there is none.
 */
bool wf_sa_path(const struct wf_sa *sa, const struct wf_sa_wish *wish, uint32_t from, uint32_t to,
                uint16_t dlid, struct wf_sa_path *path);

/* ---- groups.c ---- */
/* Groups of partitions that are not there yet. */
void wf_sa_groups_of_partitions(struct wf_sa *sa);
struct wf_sa_group *wf_sa_group_find(const struct wf_sa *sa, const uint8_t *mgid);
struct wf_sa_member *wf_sa_member_find(const struct wf_sa_group *group, uint64_t guid);
/* A group like *record, which gets a LID that is free. Returns 0 or a status. */
uint16_t wf_sa_group_create(struct wf_sa *sa, const struct wf_mc_member_record *record,
                            struct wf_sa_group **group_p);
/* Without members: it goes, unless it is a partition's. */
void wf_sa_group_cleanup(struct wf_sa *sa, struct wf_sa_group *group);
/* Adds to what a port is; record->join_state is all of it then. Returns 0 or a status. */
uint16_t wf_sa_group_join(struct wf_sa *sa, struct wf_sa_group *group, uint64_t guid, bool proxy,
                          struct wf_mc_member_record *record);
/* Takes join_state from a member; returns what is left of it. The group may go. */
uint8_t wf_sa_group_leave(struct wf_sa *sa, struct wf_sa_group *group, struct wf_sa_member *member,
                          uint8_t join_state);
void wf_sa_groups_lose(struct wf_sa *sa, uint64_t guid);
void wf_sa_groups_drop(struct wf_sa *sa);
/* Tells the manager of trees that changed. */
void wf_sa_groups_tell(struct wf_sa *sa);

/* ---- member.c ---- */
/* o15-0.2.2: what an MGID has to be. */
bool wf_sa_mgid_is_valid(const uint8_t *mgid);

/* ---- service.c ---- */
void wf_sa_services_tick(struct wf_sa *sa);
wf_time wf_sa_services_deadline(const struct wf_sa *sa);
void wf_sa_services_lose(struct wf_sa *sa, uint64_t guid);
void wf_sa_services_drop(struct wf_sa *sa);

/* ---- inform.c ---- */
void wf_sa_informs_lose(struct wf_sa *sa, uint64_t guid);
void wf_sa_informs_drop(struct wf_sa *sa);
/* Reports a notice of the manager's own: a trap number with a GID. */
void wf_sa_report_gid(struct wf_sa *sa, uint16_t trap, const uint8_t *gid);
/* Reports the notice of a port (its LID). */
void wf_sa_report_trap(struct wf_sa *sa, uint16_t lid, const struct wf_notice *trap);

/* ---- answers ---- */
uint16_t wf_sa_answer_class_port_info(struct wf_sa *sa, struct wf_sa_req *req);
uint16_t wf_sa_answer_node(struct wf_sa *sa, struct wf_sa_req *req);
uint16_t wf_sa_answer_port_info(struct wf_sa *sa, struct wf_sa_req *req);
uint16_t wf_sa_answer_switch_info(struct wf_sa *sa, struct wf_sa_req *req);
uint16_t wf_sa_answer_guid_info(struct wf_sa *sa, struct wf_sa_req *req);
uint16_t wf_sa_answer_link(struct wf_sa *sa, struct wf_sa_req *req);
uint16_t wf_sa_answer_sm_info(struct wf_sa *sa, struct wf_sa_req *req);
uint16_t wf_sa_answer_linear_ft(struct wf_sa *sa, struct wf_sa_req *req);
uint16_t wf_sa_answer_multicast_ft(struct wf_sa *sa, struct wf_sa_req *req);
uint16_t wf_sa_answer_pkeys(struct wf_sa *sa, struct wf_sa_req *req);
uint16_t wf_sa_answer_sl_to_vl(struct wf_sa *sa, struct wf_sa_req *req);
uint16_t wf_sa_answer_vl_arb(struct wf_sa *sa, struct wf_sa_req *req);
uint16_t wf_sa_answer_path(struct wf_sa *sa, struct wf_sa_req *req);
uint16_t wf_sa_answer_multi_path(struct wf_sa *sa, struct wf_sa_req *req);
uint16_t wf_sa_answer_mc_member(struct wf_sa *sa, struct wf_sa_req *req);
uint16_t wf_sa_answer_service(struct wf_sa *sa, struct wf_sa_req *req);
uint16_t wf_sa_answer_inform(struct wf_sa *sa, struct wf_sa_req *req);
uint16_t wf_sa_answer_inform_record(struct wf_sa *sa, struct wf_sa_req *req);

#endif
