/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_priv.h - the inside of the wire: wire.c is its life, wire_addr.c has addresses and sockets,
 * wire_tx.c and wire_rx.c the two directions, wire_cm.c queue pair 1 and wire_mcast.c multicast
 * groups.
 */
#ifndef WF_LIVE_WIRE_PRIV_H
#define WF_LIVE_WIRE_PRIV_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "live/wire.h"
#include "mgmt/cm.h"
#include "rdma/hca.h"
#include "wire/packet_codec.h"

#define WF_WIRE_TX_PORTS 32 /* source ports of an address */
#define WF_WIRE_BATCH 64    /* packets to a system call, and before another's turn */
#define WF_WIRE_CONTROL 64  /* bytes beside a packet: its traffic class */

/* Bytes before the UDP payload, as the codec wants them: Ethernet, IP, UDP. */

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
	uint32_t host;
	int wake; /* eventfd: programs have sent something */
	struct wf_dend end[WF_LIVE_GIDS];
	uint64_t draws;
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
	int next;         /* milliseconds until a request is refused; -1: never */
	struct wf_wire_io tx, rx;
	struct wf_wire_conf conf[2]; /* IPv4, IPv6 */
	struct wf_cm *nobody;        /* answers messages that are for no program */
	uint32_t gsi_psn;
	struct wf_wire_wait wait[WF_WIRE_WAITS];
	/* Addresses outside, by number; hash: 1 + number, 0 where there is none. */
	uint8_t (*remote)[16];
	uint32_t *hash;
	uint32_t n_remotes;
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

/* The number of an address; UINT32_MAX: not known, and with add: no room. */
uint32_t wf_wire_remote(struct wf_dwires *ws, const uint8_t gid[16], bool add);

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
/* Puts a packet into the ring of a program, which is linked to the wire if need be. */
void wf_wire_deliver(struct wf_daemon *d, struct wf_dwire *w, struct wf_dclient *c,
                     const struct wf_packet *pkt, const uint8_t *payload, uint32_t bytes);

/* wire_cm.c */

/* Hands a message to queue pair 1 to the program that it is for; nobody's is answered. */
void wf_wire_mad(struct wf_daemon *d, struct wf_dwire *w, const struct wf_packet *pkt,
                 const uint8_t *mad);
/* Looks again for who listens. Returns in how many milliseconds to come back; -1: never. */
int wf_wire_waits(struct wf_daemon *d);
/* Whether a program may send that message. */
bool wf_wire_may_send_mad(const struct wf_dclient *c, const struct wf_packet *pkt,
                          const void *payload);

/* wire_mcast.c */

void wf_wire_close_groups(struct wf_dend *e);

#endif
