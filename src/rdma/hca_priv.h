/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hca_priv.h - the inside of the adapter, for src/rdma only.
 */
#ifndef WF_RDMA_HCA_PRIV_H
#define WF_RDMA_HCA_PRIV_H

#include "rdma/hca.h"
#include "rdma/lag.h"
#include "rdma/xrc.h"

/* One entry of the key table: a memory region, a memory window or nothing. */
enum wf_region_kind { WF_REGION_FREE, WF_REGION_MR, WF_REGION_MW1, WF_REGION_MW2 };

struct wf_region {
	uint64_t iova;
	uint64_t length;
	char *host; /* of iova; NULL: no contents */
	struct wf_pd *pd;
	struct wf_region *parent; /* window: the region it is bound to; free: next free */
	uint32_t key;             /* index << 8 | key part */
	uint32_t next_key;        /* type 1 window: what posted binds will make it */
	uint32_t qpn;             /* type 2 window: the queue pair it is bound on */
	uint32_t windows;         /* region: how many windows are bound to it */
	uint16_t access;          /* WF_ACCESS_* */
	uint8_t kind;             /* enum wf_region_kind */
	bool valid;               /* packets may use it: not invalidated; a window: bound */
	bool invalidate;          /* region: an invalidate operation may end it */
};

struct wf_mr {
	struct wf_region region;
};

struct wf_mw {
	struct wf_region region;
};

/* Membership in one of the adapter's lists of things to free with it. */
struct wf_list {
	struct wf_list *next;
	struct wf_list *prev;
};

struct wf_pd {
	struct wf_list link;
	struct wf_hca *hca;
	uint32_t refs; /* objects that belong to it */
};

struct wf_xrcd {
	struct wf_list link;
	struct wf_pd *pd; /* of its queue pairs, until a packet says which */
	uint32_t srqs;
	struct wf_xrc_id id;
};

struct wf_ah {
	struct wf_list link;
	struct wf_pd *pd;
	struct wf_ah_attr attr;
};

/* Queue pairs by time. Each knows its place (struct wf_qp.heap_pos), so it can be moved. */
enum wf_heap_id { WF_HEAP_TIMER, WF_HEAP_PACE, WF_HEAPS };

#define WF_HEAP_NONE UINT32_MAX

struct wf_heap_item {
	wf_time at;
	struct wf_qp *qp;
};

struct wf_heap {
	struct wf_heap_item *item;
	uint32_t n;
};

/* A UD queue pair in a multicast group. */
struct wf_mcast {
	uint32_t group;
	struct wf_qp *qp;
};

/* Blocks for what is kept of packets in flight (room.c). */
enum wf_room { WF_ROOM_SENT, WF_ROOM_HELD, WF_ROOM_DATA, WF_ROOM_PSN, WF_ROOMS };

#define WF_ROOM_ORDERS 17
#define WF_ROOM_LEAST UINT32_C(16)
#define WF_ROOM_MOST (UINT32_C(1) << (WF_ROOM_ORDERS - 1))

/* The next time at which a host may get a CNP. */
struct wf_cnp_host {
	uint32_t host;
	bool used;
	wf_time next;
};

struct wf_hca {
	struct wf_heap heap[WF_HEAPS];
	struct wf_list ack_ring; /* queue pairs that have an ACK, a NAK or a CNP to send */
	struct wf_list tx_ring;  /* queue pairs that may have a packet to send */
	struct wf_list held_acks, held_ring; /* those of them whose class may not send now */
	uint32_t classes;                    /* bit per class that some queue pair has used */
	uint32_t data_classes; /* those of them used for requests and READ responses */
	uint32_t held;         /* bit per class that may not send: wf_hca_hold() */
	bool limits_messages;  /* wf_hca_set_messages() */
	wf_time now;
	wf_time seen;         /* completions are seen at this time or later: wf_hca_set_seen() */
	struct wf_qp *sender; /* of the last packet */
	struct wf_qp **qps;   /* by the lower bits of the QPN */
	uint32_t qp_mask;
	uint32_t region_mask;
	struct wf_region *regions;
	struct wf_region *free_region;
	struct wf_region **free_region_tail; /* freed keys go last, so they rest before reuse */
	uint64_t counter[WF_COUNTERS];
	struct wf_hca_attr attr;
	uint16_t pkey[WF_HCA_PKEYS];
	struct wf_event *event; /* ring of attr.max_events */
	uint32_t event_head;
	uint32_t events;
	struct wf_mcast *mcast; /* the first mcasts of attr.max_mcast */
	uint32_t mcasts;
	uint32_t next_qp; /* where the search for a free QPN goes on */
	uint32_t num_qps;
	wf_time message_gap, qp_message_gap; /* wf_hca_set_messages(); 0: there is none */
	wf_time message_at;                  /* the next message begins then, or later */
	wf_time cnp_next;                    /* WF_CNP_PER_PORT: no CNP before */
	struct wf_cnp_host *cnp_hosts; /* WF_CNP_PER_HOST: a hash table as large as qps; or NULL */
	struct wf_mem *mem;
	void *room[WF_ROOMS][WF_ROOM_ORDERS]; /* free blocks of 2^order units */
	wf_hca_watch_fn *watch;               /* NULL: nobody looks */
	void *watch_ctx;
	struct wf_list comps; /* completion queues whose notice came true */
	struct wf_list pds, cqs, srqs, ahs, xrcds;
	struct wf_srq *
		*xsrqs; /* those of XRC domains by their numbers; NULL before the first domain */
	struct wf_list inlets; /* queue pairs that take in what others' queue pairs received */
	struct {
		struct wf_txq {
			struct wf_list ack_ring, tx_ring, held_acks, held_ring;
			uint32_t held;
		} port[WF_HCA_PORTS]; /* the rings above, of each port that is not asked now */
		uint32_t used;        /* bit per port that is in use; 0: all are */
		uint32_t next;        /* whose turn it is to get a queue pair */
		uint32_t asked;       /* the port that the rings above are of, + 1; 0: of none */
		uint64_t sent;        /* packets, when it was asked */
	} lag;                        /* several ports: lag.c */
};

static inline void wf_list_init(struct wf_list *l)
{
	l->next = l->prev = l;
}

static inline bool wf_list_empty(const struct wf_list *l)
{
	return l->next == l;
}

static inline void wf_list_append(struct wf_list *list, struct wf_list *l)
{
	l->next = list;
	l->prev = list->prev;
	list->prev->next = l;
	list->prev = l;
}

/* Takes l out of its list; it is then a list of its own, and taking it out again does nothing. */
static inline void wf_list_remove(struct wf_list *l)
{
	l->prev->next = l->next;
	l->next->prev = l->prev;
	wf_list_init(l);
}

static inline void wf_hca_count(struct wf_hca *hca, enum wf_counter counter)
{
	hca->counter[counter]++;
}

/* Puts qp at time at, wherever it was; WF_TIME_NEVER takes it out. */
void wf_heap_set(struct wf_hca *hca, enum wf_heap_id id, struct wf_qp *qp, wf_time at);

/* Lists those that are paced and may send by now. */
void wf_hca_wake(struct wf_hca *hca, wf_time now);

/* Adds an asynchronous event; counted as lost when the queue is full. */
void wf_event_add(struct wf_hca *hca, const struct wf_event *event);

/* Takes qp out of all multicast groups. */
void wf_mcast_purge(struct wf_hca *hca, const struct wf_qp *qp);

/* Forgets the events about an object that goes away. */
void wf_event_purge(struct wf_hca *hca, const void *object);

/*
 * The region or window of key if a packet or a work request of qp's protection domain may do
 * access on all of [addr, addr + length); NULL otherwise. Windows are found only with remote rights
 * (remote true). An empty range is allowed anywhere within.
 */
static inline struct wf_region *wf_region_check(const struct wf_hca *hca, const struct wf_pd *pd,
                                                uint32_t qpn, uint32_t key, uint64_t addr,
                                                uint64_t length, uint32_t access, bool remote)
{
	uint32_t index = key >> 8;
	struct wf_region *r;

	if (wf_unlikely(index > hca->region_mask))
		return NULL;
	r = &hca->regions[index];
	if (wf_unlikely(r->key != key || !r->valid || r->pd != pd || (access & ~r->access) != 0))
		return NULL;
	if (wf_unlikely(r->kind != WF_REGION_MR)) {
		if (!remote || (r->kind == WF_REGION_MW2 && r->qpn != qpn))
			return NULL;
	}
	if (wf_unlikely(addr < r->iova || length > r->length ||
	                addr - r->iova > r->length - length))
		return NULL;
	return r;
}

/* The memory behind addr, or NULL where there are no contents. */
static inline char *wf_region_host(const struct wf_region *r, uint64_t addr)
{
	return r->host == NULL ? NULL : r->host + (addr - r->iova);
}

/*
 * Carries out a posted bind; key becomes the window's. Returns 0, or -EINVAL with nothing changed.
 */
int wf_mw_do_bind(struct wf_region *mw, uint32_t key, struct wf_region *mr, uint64_t addr,
                  uint64_t length, uint32_t access, const struct wf_pd *pd,
                  uint32_t qpn) WF_MUST_USE;

/*
 * Invalidates the region or window of key for queue pair qpn of pd. Returns 0 or -EINVAL when it
 * may not be (a type 1 window, somebody else's, not marked for it, windows bound).
 */
int wf_region_invalidate(struct wf_hca *hca, const struct wf_pd *pd, uint32_t qpn,
                         uint32_t key) WF_MUST_USE;

#endif
