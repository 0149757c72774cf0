/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flowctl.h - who keeps packets from being lost: the difference between the fabrics.
 *
 * A link layer is one const struct wf_flowctl_ops in its own file. The receiving side decides
 * whether a packet gets buffer and tells the peer when to stop or how much it may send; the sending
 * side asks before each packet. Every op is set.
 */
#ifndef WF_FABRIC_FLOWCTL_FLOWCTL_H
#define WF_FABRIC_FLOWCTL_FLOWCTL_H

#include "fabric/device.h"

struct wf_switch;

struct wf_flowctl_ops {
	const char *name;  /* "pfc" */
	const char *help;  /* one line */
	bool uses_credits; /* counts packets: pass and sent do something */

	/*
	 * Sets up the lanes of a port of a device, when the fabric is built and when a link comes
	 * up.
	 */
	void (*start)(struct wf_device *dev, struct wf_port *port, wf_time now);

	/* The port is set to something else, while no node runs. */
	void (*changed)(struct wf_device *dev, struct wf_port *port, wf_time now);

	/* The link of a port goes down: what the peer asked for ends, and is accounted for. */
	void (*down)(struct wf_device *dev, struct wf_port *port, wf_time now);

	/*
	 * Divides the buffer of a switch up, when all its ports have started. Returns 0, or -EINVAL
	 * with err filled.
	 */
	int (*divide)(struct wf_switch *sw, struct wf_err *err);

	/* A packet came in by queue pkt->vl of in and has to wait in a switch for out: may it? */
	bool (*admit)(struct wf_switch *sw, struct wf_port *in, const struct wf_lane *out,
	              const struct wf_packet *pkt, wf_time now);

	/* It leaves the switch's buffer. */
	void (*release)(struct wf_switch *sw, struct wf_port *in, const struct wf_packet *pkt,
	                wf_time now);

	/*
	 * A packet came in and needs no buffer: it goes straight through, or is consumed at once.
	 */
	void (*pass)(struct wf_device *dev, struct wf_port *in, unsigned queue, uint32_t size,
	             wf_time now);

	/*
	 * A packet came in by a host's port and waits in the adapter's receive buffer: with
	 * credits it has those of its queue until it is given back (fabric/intake.h).
	 */
	void (*keep)(struct wf_device *dev, struct wf_port *in, unsigned queue, uint32_t size,
	             wf_time now);
	void (*give)(struct wf_device *dev, struct wf_port *in, unsigned queue, uint32_t size,
	             wf_time now);

	/*
	 * When a packet of size bytes may leave by a queue whose bit in port->held is set: a time
	 * not after now for yes, a later one to ask again then, WF_TIME_NEVER to wait for word from
	 * the peer.
	 */
	wf_time (*ready)(const struct wf_lane *lane, uint32_t size, wf_time now);

	/* It was sent. */
	void (*sent)(struct wf_lane *lane, uint32_t size);

	/* A link control packet came in by port. */
	void (*control)(struct wf_device *dev, struct wf_port *port, const struct wf_packet *pkt,
	                wf_time now);

	/*
	 * Fills in the control packet for the queues in port->control and clears those it covers.
	 */
	void (*make_control)(struct wf_device *dev, struct wf_port *port, struct wf_packet *pkt,
	                     wf_time now);

	/* The port's flow control timer is due. */
	void (*timer)(struct wf_device *dev, struct wf_port *port, wf_time now);
};

/* When a packet of size bytes may leave by queue: as the op ready says, or at once. */
static inline wf_time wf_flowctl_ready(const struct wf_flowctl_ops *ops, const struct wf_port *port,
                                       const struct wf_lane *lane, unsigned queue, uint32_t size,
                                       wf_time now)
{
	return port->held >> queue & 1 ? ops->ready(lane, size, now) : now;
}

/* The table of all link layers; ends with NULL. */
const struct wf_flowctl_ops *const *wf_flowctl_all(void);

/* The one called name, or NULL. */
const struct wf_flowctl_ops *wf_flowctl_find(const char *name);

extern const struct wf_flowctl_ops wf_flowctl_credit;
extern const struct wf_flowctl_ops wf_flowctl_pfc;
extern const struct wf_flowctl_ops wf_flowctl_none;

/*
 * PFC: whether queue of port is stopped now, and for how long it has been so far, in all. What is
 * over is accounted for.
 */
bool wf_pfc_paused(struct wf_device *dev, const struct wf_port *port, unsigned queue, wf_time now,
                   uint64_t *ps_p);

/* PFC: ends the pause of a queue now, whatever the peer asked for. */
void wf_pfc_go(struct wf_device *dev, struct wf_port *port, unsigned queue, wf_time now);

/* PFC: notes the pause of a queue that lasted from from to end. */
void wf_pfc_incident(struct wf_device *dev, const struct wf_port *port, unsigned queue,
                     wf_time from, wf_time end);

#endif
