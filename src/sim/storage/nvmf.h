/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvmf.h - NVMe over Fabrics from the inside: queues, their two ends, and what carries them.
 *
 *	host                               transport                    target
 *	wf_nvmf_host_fill()        ops->command() ~~~~~~~~~~~~>  wf_nvmf_command_came()
 *	                                  <~~~ data of a write ~~~  ops->fetch()
 *	                                                            wf_nvmf_data_came()
 *	                           data of a read, response <~~~~~  ops->reply()
 *	wf_nvmf_sent(), wf_nvmf_response_came()
 *
 * What a capsule says lies in memory that both ends have: its sender writes it before the capsule
 * leaves, and its receiver reads it when the capsule has come, which is a window of the engine
 * later at least. So each field has one end that writes it at a time, and no other order than that
 * of the messages matters.
 */
#ifndef WF_SIM_STORAGE_NVMF_H
#define WF_SIM_STORAGE_NVMF_H

#include "sim/storage/drive.h"
#include "sim/storage/storage.h"

#define WF_NVMF_COMMAND 64  /* bytes of a command capsule, without data */
#define WF_NVMF_RESPONSE 16 /* bytes of a response capsule */

struct wf_nvmf_queue;
struct wf_nvmf_host;

/* What a target has done with a command last. */
enum wf_nvmf_stage { WF_NVMF_NOTHING, WF_NVMF_FETCH, WF_NVMF_REPLY };

/* A command that may be under way. The first fields are the host's, the last the target's. */
struct wf_nvmf_command {
	wf_time begin;
	uint64_t block; /* which of the volume it is about */
	uint32_t bytes;
	bool write;
	uint8_t waits; /* for so many more: struct wf_nvmf_transport */
	bool asked;    /* TCP: the target has, for its data */

	uint8_t stage;  /* enum wf_nvmf_stage */
	wf_time device; /* time at the drive, waiting for it included */
};

/*
 * What carries the messages of a queue. Where a function posts, it is called on the thread of that
 * end's adapter.
 */
struct wf_nvmf_transport {
	const char *name;
	uint8_t waits; /* what a command waits for: its response, and 2: its capsule's delivery */
	/* What the adapter of a host needs for its queues. */
	void (*attr)(const struct wf_nvmf_host *h, struct wf_hca_attr *attr);
	/* Before the run: sets a host up, and adds its program. Returns 0, -EINVAL or -ENOMEM. */
	int (*open)(struct wf_nvmf_host *h);
	/* Connects both ends. Returns 0, -ENOMEM, or -EINVAL, perhaps with err filled. */
	int (*connect)(struct wf_nvmf_queue *q, const struct wf_fabric *fabric, struct wf_err *err);
	/* Of the host: sends the command at place id. */
	void (*command)(struct wf_nvmf_queue *q, uint32_t id, wf_time now);
	/* Of the target: fetches the data of a write that did not come with its command. */
	void (*fetch)(struct wf_nvmf_queue *q, uint32_t id, wf_time now);
	/* Of the target: sends the data of a read, then the response. */
	void (*reply)(struct wf_nvmf_queue *q, uint32_t id, wf_time now);
};

enum wf_nvmf_kind { WF_NVMF_RDMA, WF_NVMF_TCP, WF_NVMF_TRANSPORTS };
extern const struct wf_nvmf_transport wf_nvmf_rdma, wf_nvmf_tcp;

/* A first-in first-out list of places in the table of commands, with room for all of them. */
struct wf_nvmf_ring {
	uint16_t *id;
	uint64_t head, tail; /* next to put, next to take; they count on */
};

/* An I/O queue. What is in host is touched by the host's thread alone, and target likewise. */
struct wf_nvmf_queue {
	const struct wf_storage_entry *entry;
	const struct wf_nvmf_transport *transport;
	enum wf_storage_kind kind;
	uint32_t depth;
	uint64_t in_capsule;             /* bytes of a write that go with its command */
	struct wf_nvmf_command *command; /* depth */
	struct wf_nvmf_ring sent;        /* what goes from host to target, in its order */
	struct wf_nvmf_ring answered;    /* and back; each command is at most once in either */

	struct {
		struct wf_nvmf_host *at;
		struct wf_qp *qp;
		struct wf_tcp_sock *sock;
		uint64_t read;       /* TCP: bytes of what has come whole */
		uint64_t key;        /* of its random numbers */
		uint64_t next;       /* I/Os begun */
		uint32_t share, all; /* bulk: every so manieth block of the host's, from this one */
		uint32_t out;        /* commands under way */
		bool failed;
		bool over; /* nothing is under way, and nothing will be */
	} host;

	struct {
		struct wf_nvmf_host *at;
		struct wf_qp *qp;
		struct wf_tcp_sock *sock;
		uint64_t read;            /* as the host's */
		struct wf_nvmf_ring wait; /* RDMA: commands that wait for room */
		uint32_t room;            /* of the send queue */
		uint32_t rkey;            /* of the host's memory */
		bool failed;
	} target WF_ALIGNED(WF_CACHE_LINE);
};

/* A drive is done with a command, or its data is there. */
struct wf_nvmf_event {
	wf_time at;
	uint64_t order; /* of equal times */
	struct wf_nvmf_queue *q;
	uint16_t id;
	bool data; /* it is there; else the drive is done */
};

/* What the hosts of one shard count. */
struct wf_nvmf_shard {
	uint64_t over, failed_targets;   /* queues */
	struct wf_storage_result *entry; /* of each: as far as it happens on the way */
} WF_ALIGNED(WF_CACHE_LINE);

/* A host, with the queues that it uses and those of which it is the target. */
struct wf_nvmf_host {
	struct wf_storage *storage;
	struct wf_adapter *adapter;
	struct wf_nvmf_shard *shard;
	struct wf_pd *pd; /* these are RDMA's, and NULL without it */
	struct wf_cq *cq;
	struct wf_mr *mr;
	uint32_t number;
	unsigned transports;          /* bit per enum wf_nvmf_kind of its queues */
	uint32_t n_queues;            /* it uses */
	uint32_t next;                /* that has not begun: of queue */
	struct wf_nvmf_queue **queue; /* by their start */
	uint32_t n_served;            /* queues it is the target of */
	uint32_t depths[2];           /* of all of those together: [0] used, [1] served */
	uint32_t n_events;
	uint64_t order;
	struct wf_nvmf_event *event; /* a heap: depths[1] at most */
	struct wf_drives drives;
};

struct wf_storage {
	struct wf_mem *mem;
	const struct wf_cc_choice *cc; /* NULL: none */
	const char *nic_stack;
	const struct wf_storage_entry *entry;
	uint32_t n_entries, n_hosts, n_queues;
	struct wf_nvmf_queue *queue;
	struct wf_nvmf_host *host; /* by host index */
	struct wf_nvmf_queue **by_host;
	struct wf_nvmf_shard **shard;
	unsigned n_shards;
	struct wf_nvmf_command *command; /* of all queues */
	struct wf_nvmf_event *event;     /* of all targets */
	uint16_t *id;                    /* of all rings */
	wf_time now;                     /* of the last window */
};

static inline void wf_nvmf_put(struct wf_nvmf_queue *q, struct wf_nvmf_ring *ring, uint32_t id)
{
	ring->id[ring->head++ % q->depth] = (uint16_t)id;
}

static inline uint32_t wf_nvmf_first(const struct wf_nvmf_queue *q, const struct wf_nvmf_ring *ring)
{
	return ring->id[ring->tail % q->depth];
}

static inline uint32_t wf_nvmf_take(struct wf_nvmf_queue *q, struct wf_nvmf_ring *ring)
{
	uint32_t id = wf_nvmf_first(q, ring);

	ring->tail++;
	return id;
}

/* Whether a write's data goes with its command. */
static inline bool wf_nvmf_in_capsule(const struct wf_nvmf_queue *q,
                                      const struct wf_nvmf_command *c)
{
	return c->write && c->bytes <= q->in_capsule;
}

/* Of the host. The capsule was delivered: its place in the send queue is free. */
void wf_nvmf_sent(struct wf_nvmf_queue *q, uint32_t id, wf_time now);

/* Of the host. */
void wf_nvmf_response_came(struct wf_nvmf_queue *q, uint32_t id, wf_time now);

/* Of the target. */
void wf_nvmf_command_came(struct wf_nvmf_queue *q, uint32_t id, wf_time now);

/* Of the target: the data that it fetched is there at at. */
void wf_nvmf_data_came(struct wf_nvmf_queue *q, uint32_t id, wf_time at);

/* The connection failed at the host's end (the target's). Once is enough, and more is allowed. */
void wf_nvmf_host_failed(struct wf_nvmf_queue *q);
void wf_nvmf_target_failed(struct wf_nvmf_queue *q);

/* What is due on a host by now, and when it wants to be called next. */
void wf_nvmf_host_run(struct wf_nvmf_host *h, wf_time now);

#endif
