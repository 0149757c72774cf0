/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - what programs know of their fabric: memory that the daemon writes and they can only
 * read.
 */
#ifndef WF_LIVE_TABLE_H
#define WF_LIVE_TABLE_H

#include <stdatomic.h>
#include <stddef.h>

#include "base/base.h"
#include "rdma/qp.h"

#define WF_LIVE_NAME 32 /* bytes of a name, with its end */

enum wf_live_layer { WF_LIVE_IB, WF_LIVE_ROCE };

/* How packets go from host to host. */
enum wf_live_pace {
	WF_LIVE_DIRECT, /* straight into the other program's ring */
	WF_LIVE_WALL,   /* through the model, whose time is the clock's */
	WF_LIVE_NONE,   /* through the model, as fast as it can be run */
};

#define WF_LIVE_PKEYS 128 /* of a port that is managed; the others have one */

/*
 * What management has set of a host's port, as the agent of a managed InfiniBand port has it
 * (PortInfo, P_KeyTable); codes are PortInfo's. The daemon changes one after the other.
 */
struct wf_live_ib {
	_Atomic uint8_t state, phys;
	_Atomic uint8_t lmc, sm_sl;
	_Atomic uint8_t mtu, width, timeout;
	_Atomic uint16_t speed; /* enum wf_ib_speed */
	_Atomic uint16_t sm_lid;
	_Atomic uint16_t violations; /* packets of other partitions */
	_Atomic uint32_t cap;
	_Atomic uint16_t pkey[WF_LIVE_PKEYS];
};

/* What management has set anew, bit by bit: WF_LIVE_EV_PORT. */
#define WF_LIVE_PORT_STATE 1u
#define WF_LIVE_PORT_LID 2u
#define WF_LIVE_PORT_SM 4u
#define WF_LIVE_PORT_PKEYS 8u
#define WF_LIVE_PORT_GID 16u
#define WF_LIVE_PORT_REREGISTER 32u

/* A host of the fabric, in memory that programs can only read. */
struct wf_live_host {
	char name[WF_LIVE_NAME];
	uint64_t guid;
	uint32_t ipv4;        /* in the order of the machine */
	_Atomic uint16_t lid; /* InfiniBand; 0: none yet */
	uint8_t mac[6];
	uint32_t wire;           /* which of its GIDs are addresses of a real network: bits */
	uint8_t link_local[16];  /* its first GID */
	uint8_t ipv6[16];        /* all 0: none */
	char peer[WF_LIVE_NAME]; /* the switch at the other end of its link */
	_Atomic uint32_t down;   /* its port: nothing goes in or out; WF_LIVE_DOWN_* */
	/* Faults on demand, of its link and in both directions. */
	_Atomic uint32_t paused;  /* its adapter sends pause frames, or gives no credits, forever */
	_Atomic uint64_t loss;    /* chance that a packet is lost, of 2^32 */
	_Atomic uint64_t corrupt; /* or arrives with a wrong checksum */
	_Atomic int64_t delay;    /* that it takes longer */
	struct wf_live_ib ib;     /* where ports are managed; else nothing is there */
};

#define WF_LIVE_DOWN_LINK 1u /* the cable */
#define WF_LIVE_DOWN_DEAD 2u /* the host */

struct wf_live_table {
	uint32_t version;
	uint32_t n_hosts;
	uint32_t layer;          /* enum wf_live_layer */
	uint32_t mtu;            /* bytes: 256 .. 4096 */
	uint64_t rate;           /* of a host's port, bits/s */
	uint64_t prefix;         /* subnet prefix of the GIDs */
	_Atomic uint32_t faulty; /* 0: receivers need not look for loss, corrupt, delay, paused */
	uint32_t pace;           /* enum wf_live_pace */
	uint32_t
		managed; /* modelled: ports are as management has set them, which programs may do */
	uint32_t tx_room; /* modelled: bytes that a program may have wait for its port */
	/* Modelled: how queue pairs are set up; cc and cc_param are these: */
	struct wf_qp_tune tune;
	char cc[16];
	uint64_t cc_param[WF_CC_PARAM_MAX / 8];
	char fabric[WF_LIVE_NAME];
	struct wf_live_host host[];
};

/* GIDs of a port. RoCE has the second, and the third where a real network's address is IPv6. */
enum wf_live_gid_index { WF_LIVE_GID_LOCAL, WF_LIVE_GID_IPV4, WF_LIVE_GID_IPV6, WF_LIVE_GIDS };

/*
 * RoCE has each GID twice, as Linux does: as RoCE v2, and from this index on, in the same order, as
 * RoCE v1.
 */
#define WF_LIVE_GID_ROCE1 WF_LIVE_GIDS

#define WF_LIVE_GID_TABLE 8 /* places; those behind are empty */

_Static_assert(WF_LIVE_GID_ROCE1 + WF_LIVE_GIDS <= WF_LIVE_GID_TABLE, "both kinds fit");

/* The state of a host's port, as PortInfo and verbs have it: 1 down, 2 init, 3 armed, 4 active. */
unsigned wf_live_port_state(const struct wf_live_table *t, uint32_t host);

#define WF_LIVE_PORT_ACTIVE 4u

/* Whether a host's port carries data. */
static inline int wf_live_is_active(const struct wf_live_table *t, uint32_t host)
{
	if (t->managed == 0)
		return atomic_load_explicit(&t->host[host].down, memory_order_relaxed) == 0;
	return atomic_load_explicit(&t->host[host].ib.state, memory_order_relaxed) ==
	       WF_LIVE_PORT_ACTIVE;
}

/* Its P_Keys, WF_LIVE_PKEYS of them, 0 where there is none. */
void wf_live_pkeys(const struct wf_live_table *t, uint32_t host, uint16_t pkeys[WF_LIVE_PKEYS]);

/* Whether packets with that GID as their source are RoCE v1. */
static inline int wf_live_is_roce1(const struct wf_live_table *t, uint32_t index)
{
	return t->layer == WF_LIVE_ROCE && index >= WF_LIVE_GID_ROCE1;
}

/* GID number index of a host. Returns false when it has none. */
int wf_live_gid(const struct wf_live_table *t, uint32_t host, uint32_t index, uint8_t gid[16]);

/* Whether it is an IPv4 address in a GID's clothes. */
static inline int wf_live_is_ipv4(const uint8_t gid[16])
{
	int same = gid[10] == 0xff && gid[11] == 0xff;

	for (int i = 0; i < 10; i++)
		same &= gid[i] == 0;
	return same;
}

/* Whether a GID is that of a multicast group: IPv6's, or RoCE v2's from an IPv4 address. */
static inline int wf_live_is_group(const uint8_t gid[16])
{
	return gid[0] == 0xff || (wf_live_is_ipv4(gid) && (gid[12] & 0xf0) == 0xe0);
}

/* Which of a host's own GIDs packets to that address have as their source. */
enum wf_live_gid_index wf_live_source(const uint8_t gid[16]);

/*
 * Inbound from the wire, packets have in dst, where they are not for a group, what their IP header
 * said besides the addresses: the traffic class, and by which of the host's GIDs they came.
 */
static inline uint32_t wf_live_ip_info(uint8_t traffic_class, enum wf_live_gid_index to)
{
	return (uint32_t)to << 8 | traffic_class;
}

/*
 * The partition by which two hosts reach each other: the P_Key that host has of it, and its place
 * in *index_p; 0: there is none. Of several both find the same one.
 */
uint16_t wf_live_common_pkey(const struct wf_live_table *t, uint32_t host, uint32_t peer,
                             uint32_t *index_p);

/* The host of a GID or of a LID, one of several that its port may have; -1 for nobody's. */
int wf_live_host_of_gid(const struct wf_live_table *t, const uint8_t gid[16]);
int wf_live_host_of_lid(const struct wf_live_table *t, uint16_t lid);

static inline size_t wf_live_table_bytes(uint32_t n_hosts)
{
	return sizeof(struct wf_live_table) + n_hosts * sizeof(struct wf_live_host);
}

#endif
