/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_priv.h - the inside of the wire: wire.c is its life, wire_addr.c has addresses and sockets,
 * wire_tx.c and wire_rx.c the two directions, wire_room.c what waits for a program, wire_cm.c
 * queue pair 1, wire_conn.c connections, wire_remote.c who is outside and wire_mcast.c multicast
 * groups.
 */
#ifndef WF_LIVE_WIRE_PRIV_H
#define WF_LIVE_WIRE_PRIV_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "live/wire.h"
#include "live/wire_conn.h"
#include "live/wire_remote.h"
#include "mgmt/cm.h"
#include "rdma/hca.h"
#include "wire/packet_codec.h"

#define WF_WIRE_TX_PORTS 32 /* source ports of an address */
#define WF_WIRE_BATCH 64    /* packets to a system call, and before another's turn */
#define WF_WIRE_CONTROL 64  /* bytes beside a packet: its traffic class */

/* A multicast group that programs of a host have joined, at one of its addresses. */
struct wf_dmc {
	struct wf_dmc *next;
	uint32_t number;
	int rx;
	bool keep;
};

/* A network address of a host. */
struct wf_dend {
	bool is_open;
	struct wf_wire_addr addr;
	uint32_t interface;
	int rx;
	struct {
		int fd;
		uint16_t port;
	} tx[WF_WIRE_TX_PORTS];
	struct wf_dmc *groups;
};

/* A host that is on the wire. */
struct wf_dwire {
	struct wf_watch watch; /* of wake and epoll: each round of the loop serves the wire */
	uint32_t host;
	int wake;    /* eventfd: programs have sent something, or taken in what came */
	int epoll;   /* of the sockets that receive */
	bool paused; /* they are not read: too much waits for a program */
	struct wf_dend end[WF_LIVE_GIDS];
	uint64_t draws;
};

/* A packet that found no room in a program's ring. */
struct wf_wire_waiting {
	struct wf_wire_waiting *next;
	struct wf_packet pkt;
	uint32_t bytes;
	uint8_t payload[];
};

/* What the wire keeps of a program. */
struct wf_wire_own {
	struct wf_wire_held held;
	struct wf_wire_conns conns;
	/* What waits for room; stuck: it takes in nothing, and what comes is lost. */
	struct wf_wire_waiting *first, **tail;
	uint32_t waiting; /* bytes, as in the ring */
	uint64_t moved;   /* milliseconds: when it last made room, or first had to */
	bool stuck;
};

/* Ends the connections of a program that is gone. */
struct wf_wire_ghost {
	struct wf_wire_ghost *next;
	uint32_t host, slot;
	struct wf_cm *cm;
	struct wf_wire_held held;
};

struct mmsghdr;

/* Packets of one system call. Those from next on still have to be sent. */
struct wf_wire_io {
	unsigned next, n;
	uint32_t host;
	int fd;
	struct mmsghdr *msg; /* WF_WIRE_BATCH */
	struct iovec iov[WF_WIRE_BATCH];
	struct sockaddr_in6 addr[WF_WIRE_BATCH];
	_Alignas(struct cmsghdr) char control[WF_WIRE_BATCH][WF_WIRE_CONTROL];
	uint8_t bytes[WF_WIRE_BATCH][WF_PACKET_BYTES_MAX];
};

/* A request that nobody listens for yet. */
struct wf_wire_wait {
	uint64_t until; /* milliseconds; 0: the place is free */
	uint32_t host;
	struct wf_packet pkt;
	uint8_t mad[WF_MAD_LEN];
};

#define WF_WIRE_WAITS 64

struct wf_dwires {
	struct wf_dwire *wire;
	uint32_t n;
	bool waits, more; /* packets wait: for room to be sent; to be received */
	int next;     /* milliseconds until a request is refused or a message repeated; -1: never */
	uint64_t now; /* milliseconds, of this round */
	struct wf_wire_io tx, rx;
	struct wf_wire_conf conf[2]; /* IPv4, IPv6 */
	struct wf_cm *nobody;        /* answers messages that are for no program */
	uint32_t gsi_psn;
	struct wf_wire_wait wait[WF_WIRE_WAITS];
	struct wf_wire_ghost *ghosts;
	struct wf_wire_remotes remotes;
};

/* Counts for a host. */
static inline void wf_wire_count(struct wf_daemon *d, uint32_t host, enum wf_live_count what)
{
	d->gone[host].count[what]++;
}

static inline bool wf_dend_is_v6(const struct wf_dend *e)
{
	return !wf_live_is_ipv4(e->addr.gid);
}

struct wf_dwire *wf_wire_find(struct wf_daemon *d, uint32_t host);

/* Links the program to the wire, and tells it. Returns 0 or -errno. */
int wf_wire_link(struct wf_daemon *d, struct wf_dclient *c) WF_MUST_USE;

/* wire_addr.c */

/* Opens what cfg says for a host; sets its addresses and lowers the MTU in the table. */
int wf_wire_open_end(struct wf_daemon *d, struct wf_dwire *w,
                     const struct wf_daemon_wire *cfg) WF_MUST_USE;

/* A socket at an address of the end, or at that of a group with its GID. Returns it or -errno. */
int wf_wire_socket(const struct wf_dend *e, const uint8_t gid[16], uint16_t port) WF_MUST_USE;

/* Where packets go: fills *to and returns its length. */
socklen_t wf_wire_sockaddr(const struct wf_dend *e, const uint8_t gid[16], uint16_t port,
                           struct sockaddr_in6 *to);

/* wire_tx.c */

/* Sends what programs have for the wire. */
void wf_wire_send(struct wf_daemon *d, struct wf_dclient *c);
/* One packet of the host itself; pkt as in a program's ring. */
void wf_wire_send_own(struct wf_daemon *d, struct wf_dwire *w, const struct wf_packet *pkt,
                      const void *payload);
void wf_wire_flush(struct wf_daemon *d);

/* wire_rx.c */

/* A packet that came. */
struct wf_wire_arrival {
	uint8_t from[16];
	uint16_t port;
	uint8_t traffic_class;
	uint8_t *bytes; /* from the Ethernet header on */
	size_t len;
	const uint8_t *payload;
};

/* Puts the headers before it that the kernel took away; of what the ICRC does not cover, any. */
void wf_wire_dress(struct wf_wire_arrival *a, const struct wf_dend *e, const uint8_t *to,
                   size_t udp);
/* Gives it to whom it is for, if it may come. */
void wf_wire_take(struct wf_daemon *d, struct wf_dwire *w, const struct wf_dend *e,
                  const struct wf_dmc *group, struct wf_wire_arrival *a);

/* Receives from one socket; group: whose, NULL for packets to the address itself. */
void wf_wire_receive(struct wf_daemon *d, struct wf_dwire *w, struct wf_dend *e,
                     const struct wf_dmc *group);

/* wire_room.c */

/*
 * Puts a packet into the ring of a program, which is linked to the wire if need be, or has it wait.
 */
void wf_wire_deliver(struct wf_daemon *d, struct wf_dwire *w, struct wf_dclient *c,
                     const struct wf_packet *pkt, const uint8_t *payload, uint32_t bytes);
/* Moves what waits into the ring, as far as there is room. */
void wf_wire_drain(struct wf_daemon *d, struct wf_dclient *c);
/* Reads the host's sockets or not, by what waits for its programs. */
void wf_wire_pause(struct wf_daemon *d, struct wf_dwire *w);
/* Before the daemon sleeps: whether there is room by now after all. */
bool wf_wire_has_room(struct wf_dclient *c);
/* In how many milliseconds a program that keeps its host's sockets from being read is stuck. */
int wf_wire_patience(const struct wf_daemon *d);
void wf_wire_drop_waiting(struct wf_wire_own *own);

/* wire_cm.c */

/* Hands a message to queue pair 1 to the program that it is for; nobody's is answered. */
void wf_wire_mad(struct wf_daemon *d, struct wf_dwire *w, const struct wf_packet *pkt,
                 const uint8_t *mad);
/* Looks again for who listens. Returns in how many milliseconds to come back; -1: never. */
int wf_wire_waits(struct wf_daemon *d);
/* Whether a program may send that message. */
bool wf_wire_may_send_mad(const struct wf_dclient *c, const struct wf_packet *pkt,
                          const uint8_t *mad);
/* Has the connections of a program ended, which is gone. Takes over what it held. */
void wf_wire_bury(struct wf_daemon *d, struct wf_dclient *c);
/* Sends what is to be repeated. Returns in how many milliseconds to come back; -1: never. */
int wf_wire_haunt(struct wf_daemon *d);
void wf_wire_drop_ghosts(struct wf_dwires *ws);

/* wire_mcast.c */

void wf_wire_close_groups(struct wf_dend *e);

#endif
