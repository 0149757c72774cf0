/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs_priv.h - libibverbs' objects over a program's adapter.
 *
 * Each object starts with what its user sees, as infiniband/verbs.h lays it out, and goes on with
 * the transport's object. All of it is under the lock of the adapter (wv_lock()).
 */
#ifndef WF_COMPAT_VERBS_PRIV_H
#define WF_COMPAT_VERBS_PRIV_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>

#include "compat/verbs/guard.h"
#include "live/nic.h"
#include "rdma/cq.h"
#include "rdma/mr.h"
#include "rdma/qp.h"
#include "rdma/srq.h"

#define WV_DEVICE "weft0"
#define WV_PORT 1

/* Rights of windows; programs give others as well (local write), which mean nothing there. */
#define WV_MW_ACCESS (WF_ACCESS_REMOTE | WF_ACCESS_ZERO_BASED)

/* An asynchronous event that waits for its reader. */
struct wv_async {
	struct wv_async *next;
	struct ibv_async_event event;
};

struct wv_device {
	struct ibv_device ibv;
	/* providers' own functions look at what is behind, before they know better. */
	char pad[4096];
	uint64_t guid;
};

struct wv_context {
	struct wv_context *next;
	struct wf_nic *nic;
	struct wv_async *async, **async_tail;
	struct verbs_context v; /* its last member is the struct ibv_context */
};

struct wv_channel {
	struct ibv_comp_channel ibv;
	struct ibv_cq **ready; /* a ring of max */
	uint32_t head, n, max;
};

struct wv_pd {
	struct ibv_pd ibv;
	struct wf_pd *pd;
	struct wv_pd *parent; /* of a parent domain, or one that was imported: the real one */
	uint32_t children;    /* those whose parent this is; under the lock of the adapter */
};

struct wv_mr {
	struct ibv_mr ibv;
	struct wf_mr *mr;
	bool imported; /* the region is another's */
};

struct wv_mw {
	struct ibv_mw ibv;
	struct wf_mw *mw;
};

struct wv_cq {
	struct ibv_cq_ex ex; /* begins as a struct ibv_cq does */
	struct wf_cq *cq;
	uint32_t notices; /* completion events given out */
	uint32_t asyncs;
	uint32_t skips;  /* polls that found something without moving the adapter on */
	struct wf_wc wc; /* the extended interface's present completion */
};

struct wv_srq {
	struct ibv_srq ibv;
	struct wf_srq *srq;
	uint32_t asyncs;
};

struct wv_xrcd {
	struct ibv_xrcd ibv;
	struct wv_domain *domain;
};

struct wv_ah {
	struct ibv_ah ibv;
	struct wf_ah *ah;
};

/* Work requests between ibv_wr_start() and ibv_wr_complete(). */
struct wv_build {
	struct wf_send_wr *wr;
	struct wv_build_ref {
		uint32_t sge, n_sge; /* its first, how many */
		size_t bytes;        /* inline: where its data begins */
		bool is_inline;
	} * ref;
	uint32_t n, max;
	struct wf_sge *sge;
	uint32_t n_sge, max_sge;
	char *bytes;
	size_t n_bytes, max_bytes;
	int error;
};

struct wv_qp {
	struct ibv_qp_ex ex;
	struct wf_qp *qp;
	uint32_t asyncs;
	uint32_t *handles; /* how many there are of the queue pair; wv_open_qp() */
	bool extended;
	struct wv_build build;
	struct ibv_qp_init_attr init;
};

/* What a program has is the first member: a pointer to one is a pointer to the other. */
_Static_assert(offsetof(struct wv_device, ibv) == 0, "device");
_Static_assert(offsetof(struct wv_channel, ibv) == 0, "completion channel");
_Static_assert(offsetof(struct wv_pd, ibv) == 0, "protection domain");
_Static_assert(offsetof(struct wv_mr, ibv) == 0, "memory region");
_Static_assert(offsetof(struct wv_mw, ibv) == 0, "memory window");
_Static_assert(offsetof(struct wv_cq, ex) == 0, "completion queue");
_Static_assert(offsetof(struct wv_srq, ibv) == 0, "shared receive queue");
_Static_assert(offsetof(struct wv_xrcd, ibv) == 0, "XRC domain");
_Static_assert(offsetof(struct wv_ah, ibv) == 0, "address handle");
_Static_assert(offsetof(struct wv_qp, ex.qp_base) == 0, "queue pair");

static inline struct wv_context *wv_context(struct ibv_context *c)
{
	return wf_container_of(c, struct wv_context, v.context);
}

static inline struct wv_qp *wv_qp(struct ibv_qp *qp)
{
	return (struct wv_qp *)(void *)qp;
}

static inline struct wv_cq *wv_cq(struct ibv_cq *cq)
{
	return (struct wv_cq *)(void *)cq;
}

static inline struct ibv_cq *wv_ibv_cq(struct wv_cq *cq)
{
	return (struct ibv_cq *)(void *)&cq->ex;
}

/* The protection domain itself, also of a parent domain. */
static inline struct wf_pd *wv_pd(struct ibv_pd *pd)
{
	return ((struct wv_pd *)(void *)pd)->pd;
}

static inline struct wf_nic *wv_nic(struct ibv_context *c)
{
	return wv_context(c)->nic;
}

/*
 * Takes the adapter's lock. Returns false in a child of the process that opened it: the adapter is
 * its parent's.
 */
bool wv_lock(struct ibv_context *c);
void wv_unlock(struct ibv_context *c);

/* Handles that are alive: so that one that is not (any more) is an error, not a crash. */
enum wv_kind { WV_PD = 1, WV_MR, WV_MW, WV_CQ, WV_QP, WV_SRQ, WV_AH, WV_CHANNEL, WV_XRCD };
int wv_handle_add(const void *handle, enum wv_kind kind);
bool wv_handle_is(const void *handle, enum wv_kind kind);
void wv_handle_remove(const void *handle);
/*
 * Memory of an object, zeroed, whose handle is alive before the transport knows of it: nothing can
 * fail for that afterwards. NULL: there is no memory, as errno says.
 */
void *wv_handle_make(size_t size, enum wv_kind kind);
void wv_handle_free(void *handle);
/* Around fork(): nobody is in the middle of a change. The last of locks. */
void wv_handle_lock(void);
void wv_handle_unlock(void);
/* The one of that kind for which is() returns true; NULL: none. */
const void *wv_handle_find(enum wv_kind kind, bool (*is)(const void *handle, const void *arg),
                           const void *arg);

/* Sets errno and returns NULL; for functions that return a pointer. */
static inline void *wv_fail(int error)
{
	errno = error;
	return NULL;
}

/* device.c */
extern struct wv_device wv_the_device;
/* The process's adapter, attached if it was not yet. Returns 0 or -errno. */
int wv_nic_get(struct wf_nic **nic_p);
/* A context with that descriptor, which it takes over. NULL: errno says why. */
struct ibv_context *wv_open(struct ibv_device *device, int cmd_fd);
/* Whether fd is the descriptor of a context that is open here. */
bool wv_is_context_fd(int fd);
void wv_nic_put(struct wf_nic *nic);

/* compat/cm: what happened to a connection. */
wf_cm_event_fn wv_on_cm_event;
/* And of a multicast group, where the subnet administration is asked. */
void wv_on_joined(void *arg, const struct wf_live_joined *joined);

/* event.c */
int wv_async_open(struct wv_context *c);
void wv_async_close(struct wv_context *c);
/* The adapter's callbacks. */
void wv_on_completion(void *arg, struct wf_cq *cq);
void wv_on_event(void *arg, const struct wf_event *event);
/* Forgets what waits about an object that goes; its user has asked for what it got. */
void wv_async_purge(struct wv_context *c, const void *object);
void wv_channel_purge(struct wv_channel *ch, const struct ibv_cq *cq);
/* All open contexts. Under the lock of the adapter. */
struct wv_context *wv_contexts(void);

/* cq.c */
int wv_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc);
int wv_req_notify_cq(struct ibv_cq *cq, int solicited_only);
struct ibv_cq_ex *wv_create_cq_ex(struct ibv_context *c, struct ibv_cq_init_attr_ex *attr);
int wv_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);

/* qp.c */
struct ibv_qp *wv_create_qp_ex(struct ibv_context *c, struct ibv_qp_init_attr_ex *attr);
/* The transport's address from libibverbs'; sets where it leads. Returns 0 or an errno. */
int wv_ah_attr(struct ibv_context *c, const struct ibv_ah_attr *from, struct wf_ah_attr *to);
void wv_ah_attr_back(const struct wf_ah_attr *from, struct ibv_ah_attr *to);

/* post.c */
int wv_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int wv_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int wv_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int wv_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);

/* qp_ex.c */
void wv_qp_ex_init(struct wv_qp *qp);
void wv_qp_ex_fini(struct wv_qp *qp);

/* mr.c */
/* Another domain over one that is there. NULL: errno says why. */
struct ibv_pd *wv_pd_over(struct ibv_context *c, struct wv_pd *parent);
struct ibv_mw *wv_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int wv_dealloc_mw(struct ibv_mw *mw);
struct ibv_pd *wv_alloc_parent_domain(struct ibv_context *c,
                                      struct ibv_parent_domain_init_attr *attr);
struct ibv_td *wv_alloc_td(struct ibv_context *c, struct ibv_td_init_attr *attr);
int wv_dealloc_td(struct ibv_td *td);
int wv_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
                 struct ibv_sge *sge, uint32_t n);

/* srq.c */
struct ibv_srq *wv_create_srq_ex(struct ibv_context *c, struct ibv_srq_init_attr_ex *attr);
int wv_get_srq_num(struct ibv_srq *srq, uint32_t *num);

/* xrc.c */
struct ibv_xrcd *wv_open_xrcd(struct ibv_context *c, struct ibv_xrcd_init_attr *attr);
int wv_close_xrcd(struct ibv_xrcd *xrcd);
struct ibv_qp *wv_open_qp(struct ibv_context *c, struct ibv_qp_open_attr *attr);
/* The adapter is gone, and all domains with it. */
void wv_xrc_forget(void);
/* Under the lock of the adapter. */
struct wf_xrcd *wv_xrcd(const struct ibv_xrcd *xrcd);

/* query.c */
int wv_query_port(struct ibv_context *c, uint8_t port, struct ibv_port_attr *attr, size_t len);
int wv_query_device_ex(struct ibv_context *c, const struct ibv_query_device_ex_input *in,
                       struct ibv_device_attr_ex *attr, size_t len);
int wv_query_rt_values(struct ibv_context *c, struct ibv_values_ex *values);

/* context.c: what is not there */
void wv_fill_ops(struct verbs_context *v);

#endif
