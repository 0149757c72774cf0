/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nic.h - a program's adapter on a host of a fabric: the transport of src/rdma, driven by the
 * system's clock and by packets from other processes.
 *
 *	program's calls --lock--> hca <--lock-- service thread
 *	                           | ^
 *	                       tx  v |  rx
 *	                      rings of shared memory, one pair for each program it talks to
 *
 * The adapter lives in the program's process. Whoever calls moves it on: a program that polls does
 * all the work itself, and the service thread only looks now and then whether it still does; a
 * program that sleeps or computes is served by the thread, which spins as long as that pays and
 * then sleeps until a peer wakes it or a timer is due.
 *
 * Everything below is called with the lock held, unless it says otherwise. *Asks* says that a call
 * may have to ask the daemon: then it lets go of the lock while it waits for its turn and for the
 * answer, so that packets move on meanwhile, and other threads' calls. Whoever calls it looks again
 * at what the lock protects. Nothing that is called back under the lock may ask.
 */
#ifndef WF_LIVE_NIC_H
#define WF_LIVE_NIC_H

#include "live/proto.h"
#include "mgmt/cm.h"
#include "rdma/hca.h"
#include "rdma/qp.h"

struct wf_nic;

struct wf_nic_cfg {
	const char *path; /* of the daemon's socket */
	const char *host; /* "" for the first */
	/* A completion queue that was armed has got a completion; under the lock. */
	void (*completion)(void *arg, struct wf_cq *cq);
	/* An asynchronous event; under the lock. */
	void (*event)(void *arg, const struct wf_event *event);
	/* Communication management, once wf_nic_cm() was called; under the lock. */
	wf_cm_event_fn *cm_event;
	/* What came of wf_nic_join_host(); under the lock. NULL: nobody calls that. */
	void (*joined)(void *arg, const struct wf_live_joined *joined);
	void *arg;
	/*
	 * See struct wf_hca_attr; where store is NULL: wf_nic_copy_near(), wf_nic_copy_far() and
	 * wf_place(), whatever is there or not.
	 */
	wf_hca_copy_fn *fetch_near, *fetch_far, *store;
};

/*
 * Copy payload into a ring. Near: all CPUs of this program share a cache, in which its reader finds
 * it. Far: past the caches, as its reader may be on a CPU that has none in common. Always true.
 */
bool wf_nic_copy_near(void *to, const void *from, size_t n);
bool wf_nic_copy_far(void *to, const void *from, size_t n);

/*
 * Attaches to the fabric and starts the thread. Not under the lock. Returns 0 or -errno: -ENOENT,
 * -ECONNREFUSED (no daemon), -ENXIO (no such host), -EPROTO (a daemon of another version).
 */
int wf_nic_open(const struct wf_nic_cfg *cfg, struct wf_nic **nic_p) WF_MUST_USE;

/* Detaches; everything on it is gone. Not under the lock. */
void wf_nic_close(struct wf_nic *nic);

/*
 * The process ends, and the adapter was not closed: what it has counted is known to the daemon, and
 * so is what its thread does until the end. Takes no lock, which who called exit() may have.
 */
void wf_nic_ends(struct wf_nic *nic);

/*
 * In a child after fork(): the child lets go of what only the parent may use. Afterwards only
 * wf_nic_forked() may be called. Not under the lock.
 */
void wf_nic_fork_child(struct wf_nic *nic);
bool wf_nic_forked(const struct wf_nic *nic);

void wf_nic_lock(struct wf_nic *nic);
void wf_nic_unlock(struct wf_nic *nic);
/* Whether somebody has the lock: for those who assert that they do. */
bool wf_nic_is_locked(const struct wf_nic *nic);

struct wf_hca *wf_nic_hca(struct wf_nic *nic);
const struct wf_live_table *wf_nic_table(const struct wf_nic *nic);
uint32_t wf_nic_host(const struct wf_nic *nic);

/* Whether the port carries packets: it is active, and the daemon is there. */
bool wf_nic_is_up(const struct wf_nic *nic);

/* The state of the port, as verbs have it: down for one whose daemon is gone. */
unsigned wf_nic_port_state(const struct wf_nic *nic);

/* The time of this adapter, now. */
wf_time wf_nic_now(const struct wf_nic *nic);

/*
 * After work was posted: sends what can be sent. It may let go of the lock for a moment and take it
 * again.
 */
void wf_nic_kick(struct wf_nic *nic);

/* The program polls: receives, sends, runs timers. */
void wf_nic_poll(struct wf_nic *nic);

/*
 * Takes in all that has come, and answers it, as an adapter in hardware has by now. To call before
 * a queue pair leaves its state or goes: its program may have heard by another way that its peer is
 * done, while the peer's last acknowledgement, or the packet that it wants acknowledged, still
 * waits here. Does nothing for one that is not ready to receive: what has come for it too early
 * waits, and would be lost.
 */
void wf_nic_catch_up(struct wf_nic *nic, const struct wf_qp *qp);

/*
 * The program has got the completions it polled for. One that now looks at its memory for what its
 * peer writes, as RDMA programs do, would wait for the service thread, which on few CPUs waits for
 * the program. If it was seen to do so, this waits a little for that write in its place.
 */
void wf_nic_linger(struct wf_nic *nic);

/* The program is going to wait for a completion event: the thread takes over. */
void wf_nic_wait(struct wf_nic *nic);

/*
 * Where ah leads: sets attr->dest from its GID or LID. *Asks*, for groups and what is outside of
 * the fabric. Returns 0, -EHOSTUNREACH when nobody has that address, or -errno.
 */
int wf_nic_resolve(struct wf_nic *nic, struct wf_ah_attr *attr) WF_MUST_USE;

/*
 * Whether an address is no host's of the fabric, and this host has an address of its kind on the
 * wire.
 */
bool wf_nic_is_outside(const struct wf_nic *nic, const uint8_t gid[16]);

/*
 * The GID by which a host is reached: of one of the fabric, its GID number index; of one outside,
 * its address. *Asks*, for those. Returns false when it has none.
 */
bool wf_nic_gid(struct wf_nic *nic, uint32_t host, uint32_t index, uint8_t gid[16]);

/*
 * The same of what is known: all of the fabric's, and those of which something came or that were
 * asked for.
 */
bool wf_nic_gid_known(const struct wf_nic *nic, uint32_t host, uint32_t index, uint8_t gid[16]);

/*
 * Before a queue pair goes to RTR: only packets of queue pair qpn on host will be taken for it.
 * A peer that is not there is no error: packets to it are lost.
 */
void wf_nic_bind(struct wf_nic *nic, struct wf_qp *qp, uint32_t host, uint32_t qpn);

/*
 * How the queue pairs of this fabric are set up, with its congestion control: changes *tune, which
 * is how they are where packets go directly. What it points to lives as long as the adapter.
 */
void wf_nic_tune(const struct wf_nic *nic, enum wf_qp_type type, struct wf_qp_tune *tune);

/* To call with every queue pair after it was created and before it is destroyed. */
int wf_nic_add_qp(struct wf_nic *nic, struct wf_qp *qp) WF_MUST_USE;
void wf_nic_remove_qp(struct wf_nic *nic, struct wf_qp *qp);

/*
 * The communication management of this program, over queue pair 1; made with the first call. After
 * a call of it: wf_nic_kick(). Returns 0 or -errno.
 */
int wf_nic_cm(struct wf_nic *nic, struct wf_cm **cm_p) WF_MUST_USE;

/*
 * Services of this host: WF_LIVE_SERVICE_BIND (a port of 0: sets one that is free; flag:
 * WF_LIVE_BIND_*), _LISTEN, _FREE (flag: 1: the one that listens). *Asks*. Requests come from when
 * the daemon has heard of _LISTEN, which may be before the call returns. Returns 0, -EADDRINUSE or
 * another -errno.
 */
int wf_nic_service(struct wf_nic *nic, enum wf_live_op op, uint64_t *service,
                   uint32_t flag) WF_MUST_USE;

/*
 * A host where somebody listens for it, this one before others. *Asks*. Returns 0 or
 * -ECONNREFUSED.
 */
int wf_nic_find_service(struct wf_nic *nic, uint64_t service, uint32_t *host_p) WF_MUST_USE;

/*
 * Joins a multicast group for a queue pair, or leaves it. *Asks*. Returns 0 or -errno; -EINVAL: the
 * queue pair was destroyed meanwhile.
 */
int wf_nic_join(struct wf_nic *nic, struct wf_qp *qp, const uint8_t gid[16]) WF_MUST_USE;
int wf_nic_leave(struct wf_nic *nic, struct wf_qp *qp, const uint8_t gid[16]) WF_MUST_USE;

/*
 * Where ports are managed: has the host join a multicast group for this program by the subnet
 * administration, whatever its queue pairs are in; cfg.joined hears of it. ipoib: one of IPoIB's.
 * *cookie_p is its name, set before the daemon is asked. *Asks*. Returns 0 or -errno.
 */
int wf_nic_join_host(struct wf_nic *nic, const uint8_t gid[16], bool ipoib,
                     uint32_t *cookie_p) WF_MUST_USE;
/* No more. *Asks*. */
void wf_nic_leave_host(struct wf_nic *nic, uint32_t cookie);

#endif
