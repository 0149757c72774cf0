/* SPDX-License-Identifier: Apache-2.0 */
/*
 * station.h - what a device of a managed fabric has besides: the way of management packets, and
 * what a subnet manager has set of the way of all others.
 *
 *	             +---------- agents (rx, timer, link) ----------+
 *	             |                                              |
 *	SMP in --> mine? --no--> forwarding table --> VL15 queue --> ahead of data, without credits
 *	GMP in --> mine? --no--> as data                             GMP out: as data
 *
 * A fabric is managed when its driver says so before it makes devices, and gives each device a
 * station before the network starts. Then packets are forwarded by their DLID (wf_packet.entropy)
 * with the table that the station has, and ports pass data only while they are active; VL15 passes
 * whenever the link is up. In other fabrics none of this is there, or costs anything.
 *
 * Of the packets that carry a MAD: src is the source's LID, entropy is the destination's (dst says
 * nothing), cls is the service level, qpn and u.deth say between which queue pairs, and payload is
 * the number of the MAD's bytes in a store. A subnet management packet (WF_PACKET_SMP, queue pair
 * 0) is made and consumed at each end of a link, as link control is. All others (WF_PACKET_GMP,
 * queue pair 1) are data.
 *

 * A packet for a multicast group (a datagram's, queue pair 0xffffff) is one whose host gave the
 * group's LID for its destination; on its way dst is its source, and at each member the LID again.
 * Switches copy it by their multicast table (multicast.h).
 *
 * A switch's own port, 0, has no link: what it sends joins the queues of the other ports as if it
 * had come in by one more, whose number is dev->n_ports.
 */
#ifndef WF_FABRIC_STATION_H
#define WF_FABRIC_STATION_H

#include "engine/store.h"
#include "fabric/fabric.h"
#include "wire/ib.h"
#include "wire/mad.h"
#include "wire/transport.h"

#define WF_STATION_VL15 64 /* MADs that a port has room for on VL15, and a device for its GMPs */

/* Bytes of a packet with a MAD: LRH, BTH, DETH, the MAD, both CRCs. */
#define WF_STATION_MAD_SIZE                                                                        \
	(WF_LRH_LEN + WF_BTH_LEN + WF_DETH_LEN + WF_MAD_LEN + WF_SIZE_ICRC + WF_SIZE_VCRC)

#define WF_STATION_WORDS 4 /* of a mask of ports */

/* A MAD's bytes, in the store. */
struct wf_station_mad {
	uint32_t unused; /* the store's */
	uint8_t bytes[WF_MAD_LEN];
	uint32_t pad;
};

/* What a manager has set of a port, and what it counts besides its lanes. */
struct wf_station_port {
	bool armed;     /* it takes data in: its state is Armed or Active, */
	bool active;    /* and lets data out: Active */
	bool guard_in;  /* packets are dropped whose P_Key is not in its table: coming in, */
	bool guard_out; /* and leaving */
	uint8_t lmc;    /* of a host: it has 2^lmc LIDs, */
	uint16_t lid;   /* from this one on; 0: none yet */
	uint16_t n_pkeys;
	const uint16_t *pkeys;
	uint8_t vls;       /* data lanes in use; 0: all that there are */
	bool lives;        /* a head's life is set: */
	uint8_t hoq_stall; /* so many heads dropped one after another: all are; 0: never */
	wf_time hoq_life;  /* WF_PARAM_AUTO: for ever */
	uint32_t mtu;      /* bytes of payload that pass, either way; 0: any */
	const struct wf_classes *classes; /* arbitration, and a host's lanes; NULL: the fabric's */
	/* Leaving by this port: VL of each service level, 16 for each input; NULL: the fabric's. */
	const uint8_t *sl2vl;

	struct wf_packet *head, *tail; /* wait to leave on VL15 */
	uint32_t waiting;
	uint64_t rx_packets, rx_bytes; /* data that came in */
	uint64_t tx_groups, rx_groups; /* those of them for a multicast LID, out and in */
	uint32_t vl15_sent, vl15_received;
	uint32_t vl15_dropped; /* no room */
	uint32_t relay_errors; /* came in, and no entry leads on, */
	uint32_t vl_errors;    /* or by or to a lane that there is not */
	uint32_t too_long;     /* came in, longer than mtu */
	uint32_t too_old;      /* were in the switch for too long, and were to leave by it */
	uint32_t pkey_in, pkey_out;
	uint32_t inactive; /* came to a port that was not active */

	struct wf_packet *gmps, *gmps_tail; /* of a host: they wait for their class's turn */
	uint32_t n_gmps;
	const uint8_t *path_sl; /* of a host, by DLID: the paths' service levels; NULL: none */
};

struct wf_station;

struct wf_station_ops {
	/*
	 * A MAD came in by port, n_ports of a switch's own, for this device, or as a directed SMP.
	 * Its bytes are borrowed.
	 */
	void (*rx)(struct wf_station *st, unsigned port, const struct wf_packet *pkt, uint8_t *mad,
	           wf_time now);
	/* The time of wf_station_call_at() has come. */
	void (*timer)(struct wf_station *st, wf_time now);
	/* The link at port went down or came up; while no node runs. */
	void (*link)(struct wf_station *st, unsigned port, bool up, wf_time now);
	/* Of a switch: by which ports packets for a multicast LID leave; bit 0 is its own. */
	void (*group)(struct wf_station *st, uint16_t mlid, uint64_t ports[WF_STATION_WORDS]);
	/* A packet was refused for its P_Key at port. */
	void (*pkey)(struct wf_station *st, unsigned port, const struct wf_packet *pkt,
	             wf_time now);
};

struct wf_station {
	const struct wf_station_ops *ops;
	struct wf_device *dev;
	struct wf_store *mads;
	uint32_t slot; /* of its timer, among the node's */

	const uint8_t *lft; /* of a switch: port of each LID, 0 its own, 255 none; others from 1 */
	uint32_t n_lft;
	struct wf_station_port *port;  /* of all, and one more */
	struct wf_port_groups *groups; /* of a switch that routes adaptively (groups.h); NULL */
	uint32_t way;                  /* of the packet that has just come to a switch */
	wf_time life;                  /* that a packet may be in a switch; WF_TIME_NEVER: any */

	wf_time call_at;       /* ops->timer() is due; private */
	uint32_t gmps_dropped; /* no room */
	/* Of a host: whom it asks for all other packets; NULL: it is not asked for any. */
	const struct wf_pull_ops *pull;
	/*
	 * Of a host: the DLID of each address that it sends to (hosts, or where these have several
	 * ports what topo/routes.h calls that); what it does not know has none. NULL: whoever is
	 * pulled has put it into the packet.
	 */
	const uint16_t *dlid_of;
	/*
	 * Where paths have service levels of their own: of a switch, anything but NULL; hosts have
	 * them by port. A packet has its path's in wf_packet.mark, and lanes follow from that one.
	 */
	const uint8_t *path_sl;
	uint32_t n_path_sl;
};

/* ---- the fabric as a whole ---- */

/* The link layer of a managed fabric: the fabric's own with VL15. Before devices are made. */
void wf_station_manage(struct wf_fabric *fabric, struct wf_flowctl_ops *ops);

/* A store for the MADs of an engine. Returns 0 or -ENOMEM. */
int wf_station_make_store(struct wf_engine *engine, struct wf_store **mads_p) WF_MUST_USE;

/* Gives dev its station, which is zeroed and of the device's shard. Returns 0 or -ENOMEM. */
int wf_station_init(struct wf_station *st, struct wf_device *dev, struct wf_store *mads,
                    const struct wf_station_ops *ops) WF_MUST_USE;

/* ---- sending ---- */

/* Where a MAD goes. */
struct wf_station_to {
	uint16_t dlid, slid;
	uint8_t sl;
	uint16_t pkey;
	uint32_t dst_qpn, src_qpn, qkey;
};

/* Sends an SMP by a port whose link is up. False: it is not, or there is no room. */
bool wf_station_send_smp(struct wf_station *st, unsigned port, const struct wf_station_to *to,
                         const uint8_t mad[WF_MAD_LEN], wf_time now);

/* An SMP with the LID to->dlid, by the forwarding table; of a host by port. As above. */
bool wf_station_route_smp(struct wf_station *st, unsigned port, const struct wf_station_to *to,
                          const uint8_t mad[WF_MAD_LEN], wf_time now);

/*
 * Sends a GMP, by the forwarding table or a host's port. False: no way, or no room, or a host that
 * is not asked for packets (the windowed sender's), which sends no GMPs.
 */
bool wf_station_send_gmp(struct wf_station *st, unsigned port, const struct wf_station_to *to,
                         const uint8_t mad[WF_MAD_LEN], wf_time now);

/* The state of a port is another one now. */
void wf_station_set_state(struct wf_station *st, unsigned port, bool armed, bool active,
                          wf_time now);

/*
 * By which a port arbitrates from now on, and a host's classes choose their lanes; borrowed. NULL:
 * the fabric's. A lane that no table gives a weight is off: its packets wait.
 */
void wf_station_set_classes(struct wf_station *st, unsigned port, const struct wf_classes *classes,
                            wf_time now);

/* How long the head of a queue of a port may wait for credits, and hoq_stall. */
void wf_station_set_lives(struct wf_station *st, unsigned port, wf_time life, uint8_t stall,
                          wf_time now);

/* How long a packet may be in a switch. */
void wf_station_set_life(struct wf_station *st, wf_time life, wf_time now);

/* Has ops->timer called at at; an earlier time replaces a later one. */
void wf_station_call_at(struct wf_station *st, wf_time at);

/* ---- of the fabric's other parts ---- */

/* The device has another setup: what a manager has set counts all the same. */
void wf_station_changed(struct wf_device *dev);

/* A port of a switch gets the lives that a manager has set, if it has. */
void wf_station_lives(const struct wf_station *st, unsigned port);

/*
 * What waits in a switch for port and has been there for too long is dropped, before the port looks
 * for what to send; after that the port is woken when it has come to that with the next.
 */
void wf_station_drop_old(struct wf_device *dev, struct wf_port *port, wf_time now);
void wf_station_wait_old(struct wf_device *dev, struct wf_port *port);

/* The timer of a switch's station is due. */
void wf_station_timer(struct wf_device *dev, wf_time now);

/*
 * A timer of a host's node is due: whether it was its station's, or that of the wire of a port that
 * is up and not active, by which only management leaves.
 */
bool wf_station_takes_timer(struct wf_device *dev, unsigned slot, wf_time now);

/*
 * After a host's node has dealt with any other timer: GMPs that wait behind what was sent just now
 * are looked for when the wire is free, whether the host itself has more to send or not.
 */
void wf_station_look_again(struct wf_device *dev, wf_time now);

/* A GMP came to its host, or to its switch, whose it is now. */
void wf_station_gmp(struct wf_device *dev, unsigned port, const struct wf_packet *pkt, wf_time now);

/* What was to be a MAD's way is not there: its bytes are given back. */
void wf_station_forget(struct wf_device *dev, const struct wf_packet *pkt);

/* Why a managed device does not take a packet, or lets it out. */
enum wf_station_no {
	WF_STATION_YES,
	WF_STATION_INACTIVE,
	WF_STATION_LANE, /* it came by a lane that data does not have */
	WF_STATION_LID,  /* it is not for this host */
	WF_STATION_MTU,
	WF_STATION_PKEY,
};

/* Whether data may come in by a port, and leave by one. */
enum wf_station_no wf_station_takes(const struct wf_device *dev, unsigned port,
                                    const struct wf_packet *pkt);
enum wf_station_no wf_station_lets(const struct wf_device *dev, unsigned port,
                                   const struct wf_packet *pkt);

/* It may not: it is counted, and dropped. */
void wf_station_refuse(struct wf_device *dev, unsigned port, const struct wf_packet *pkt,
                       unsigned queue, enum wf_station_no no, bool in, wf_time now);

/* Whether a destination is a multicast group. */
static inline bool wf_station_is_group(uint32_t dlid)
{
	return dlid >= WF_LID_MULTICAST && dlid < WF_LID_PERMISSIVE;
}

/* By which port a switch forwards a packet; one of its own, or of these. */
#define WF_STATION_MINE UINT32_MAX
#define WF_STATION_NOWHERE (UINT32_MAX - 1)
static inline uint32_t wf_station_way(const struct wf_station *st, uint16_t dlid)
{
	uint32_t port = dlid < st->n_lft ? st->lft[dlid] : UINT8_MAX;

	if (port == 0)
		return WF_STATION_MINE;
	return port <= st->dev->n_ports ? port - 1 : WF_STATION_NOWHERE;
}

/* The queue by which a packet that came in by a switch's port, or n_ports, leaves it. */
unsigned wf_station_queue(const struct wf_station *st, unsigned in, unsigned out,
                          const struct wf_packet *pkt);

/* A packet that leaves by a host's port gets its DLID. */
void wf_station_address(const struct wf_station *st, unsigned port, struct wf_packet *pkt);

/* How a managed host is asked for packets: its station, and behind it st->pull. */
extern const struct wf_pull_ops wf_station_pull;

static inline struct wf_station_mad *wf_station_mad(const struct wf_station *st,
                                                    const struct wf_packet *pkt)
{
	return wf_store_at(st->mads, pkt->payload);
}

#endif
