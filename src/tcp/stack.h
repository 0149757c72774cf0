/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.h - the TCP of a host: its connections, the CPU cores that do their work, and what waits
 * for the adapter. Without I/O: packets and the time go in; packets and a deadline come out.
 *
 *	program --send--> write: system call, copy --> bursts --> queue by class --tx--> adapter
 *	program <--came-- read: wake-up, copy <-- GRO <-- poll <--interrupt-- ring <--rx-- adapter
 *
 * Every connection has a core, on which its interrupts, its program and its timers run (as with
 * aRFS). A core does one thing after the other, in the order in which they became due, and
 * everything takes the time that it costs: so a core that is busy is what bounds a connection.
 * What was done is counted.
 */
#ifndef WF_TCP_STACK_H
#define WF_TCP_STACK_H

#include "base/rate.h"
#include "tcp/conn.h"

#define WF_TCP_CORES_MAX 256

struct wf_tcp_stack;
struct wf_tcp_sock;

/* What takes a core how long. */
struct wf_tcp_costs {
	wf_time syscall;        /* into the kernel and out again, and what it does with a socket */
	wf_time wakeup;         /* of a program that waits, until it runs */
	wf_time tx_burst;       /* a burst through TCP, IP, queueing and driver */
	wf_time tx_packet;      /* and each packet of it */
	wf_time rx_packet;      /* descriptor, buffer, GRO */
	wf_time rx_burst;       /* packets that were merged, through IP and TCP to the socket */
	wf_time ack;            /* an acknowledgement, made or taken */
	wf_ps_per_byte copy_tx; /* from the program */
	wf_ps_per_byte copy_rx; /* to the program */
	wf_ps_per_byte digest;  /* CRC32C, of programs that have one */
};

struct wf_tcp_stack_cfg {
	struct wf_tcp_conn_cfg conn;
	struct wf_tcp_costs cost;
	uint32_t cores;       /* 1 to WF_TCP_CORES_MAX */
	uint32_t ring;        /* receive descriptors of a core: packets that may wait for it */
	wf_time interrupt;    /* packet in memory to a core that looks, when none did */
	wf_time tx_delay;     /* handed to the adapter to the first bit on the wire */
	uint64_t wmem;        /* bytes that a connection may have written and not acknowledged */
	uint64_t small_queue; /* and of those that the adapter has not sent (TCP small queues) */
	uint64_t chunk;       /* bytes that a program reads or writes at once */
};

/* Who owns a connection. Every function is set; each may call wf_tcp_send(). */
struct wf_tcp_user {
	/* The program has read so many bytes so far. */
	void (*came)(void *arg, struct wf_tcp_sock *sock, uint64_t bytes, wf_time now);
	/* So many have been copied from the program, which may use their memory again. */
	void (*written)(void *arg, struct wf_tcp_sock *sock, uint64_t bytes, wf_time now);
	/* The peer's TCP has so many. */
	void (*acked)(void *arg, struct wf_tcp_sock *sock, uint64_t bytes, wf_time now);
};

/*
 * Creates the TCP of a host without connections. cfg is copied; mem must outlive the stack. On
 * success *stack_p is owned by the caller. Returns 0 or -ENOMEM.
 */
int wf_tcp_stack_create(const struct wf_tcp_stack_cfg *cfg, struct wf_mem *mem,
                        struct wf_tcp_stack **stack_p) WF_MUST_USE;

/* Frees it with all its connections. NULL is allowed. */
void wf_tcp_stack_destroy(struct wf_tcp_stack *stack);

/* Has things cost other times from now on. */
void wf_tcp_stack_set_costs(struct wf_tcp_stack *stack, const struct wf_tcp_costs *cost);

/* The number that the next connection will have. */
uint32_t wf_tcp_stack_next(const struct wf_tcp_stack *stack);

/*
 * An established connection, which belongs to the stack. user and arg are borrowed while it is
 * there. Returns 0 or -ENOMEM.
 */
int wf_tcp_open(struct wf_tcp_stack *stack, const struct wf_tcp_conn_attr *attr,
                const struct wf_tcp_user *user, void *arg, struct wf_tcp_sock **sock_p) WF_MUST_USE;

struct wf_tcp_conn *wf_tcp_sock_conn(const struct wf_tcp_sock *sock);

/*
 * What the program of a connection does with its bytes from now on. lends: what it sends lies in
 * its memory until it is acknowledged, and is not copied (a kernel's own programs do so, with
 * MSG_SPLICE_PAGES). digests: it makes and checks a digest of all that it sends and reads.
 */
void wf_tcp_sock_set(struct wf_tcp_sock *sock, bool lends, bool digests);

/* The program sends bytes more. */
void wf_tcp_send(struct wf_tcp_sock *sock, uint64_t bytes, wf_time now);

/* A packet has come to the adapter, and is in memory at seen. It is borrowed. */
void wf_tcp_stack_rx(struct wf_tcp_stack *stack, const struct wf_packet *pkt, wf_time seen);

/* The next packet for the wire that is of no class in held. Returns false when there is none. */
bool wf_tcp_stack_tx(struct wf_tcp_stack *stack, uint32_t held, wf_time now,
                     struct wf_packet *pkt) WF_MUST_USE;

/* When it will have one; WF_TIME_NEVER: nobody knows. */
wf_time wf_tcp_stack_tx_time(const struct wf_tcp_stack *stack, uint32_t held);

/* Bit per class of packets that wait for the wire. */
uint32_t wf_tcp_stack_classes(const struct wf_tcp_stack *stack);

/* When wf_tcp_stack_tick() has work; WF_TIME_NEVER: never. It does all that is due at now. */
wf_time wf_tcp_stack_deadline(const struct wf_tcp_stack *stack);
void wf_tcp_stack_tick(struct wf_tcp_stack *stack, wf_time now);

/* Told of segments that a connection with host peer sends again. It changes nothing. */
typedef void wf_tcp_watch_fn(void *ctx, uint32_t peer, uint32_t segs, wf_time now);

/* Has fn called from now on; NULL: nobody. */
void wf_tcp_stack_watch(struct wf_tcp_stack *stack, wf_tcp_watch_fn *fn, void *ctx);

/* Whether it ran out of memory: its results are not to be used. */
bool wf_tcp_stack_failed(const struct wf_tcp_stack *stack);

uint64_t wf_tcp_stack_counter(const struct wf_tcp_stack *stack, enum wf_tcp_counter id);

/* ps that its cores have been at work, all together; and the one that worked most. */
uint64_t wf_tcp_stack_busy(const struct wf_tcp_stack *stack, uint64_t *most_p);

#endif
