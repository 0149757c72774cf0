/* SPDX-License-Identifier: Apache-2.0 */
/* multicast.c - one packet in, as many out as its group has ports. */
#include "fabric/multicast.h"

#include "fabric/hoq.h"
#include "fabric/station.h"

/* Whether a copy leaves by port, and by which queue. If not it is dropped there. */
static bool may_leave(struct wf_switch *sw, struct wf_port *in, unsigned port,
                      const struct wf_packet *copy, unsigned *queue_p, wf_time now)
{
	struct wf_device *dev = &sw->dev;
	struct wf_station *st = dev->station;
	struct wf_port *out = &dev->ports[port];
	unsigned queue = wf_station_queue(st, in->number, port, copy);
	enum wf_station_no no = wf_station_lets(dev, port, copy);

	*queue_p = queue;
	if (dev->setup->classes.queue[queue].exempt) {
		st->port[in->number].vl_errors++;
		wf_device_drop(dev, in, copy->vl, copy, WF_DROP_ROUTE, now);
	} else if (!out->up) {
		wf_device_drop(dev, out, queue, copy, WF_DROP_DOWN, now);
	} else if (no != WF_STATION_YES) {
		wf_station_refuse(dev, port, copy, queue, no, false, now);
	} else if (wf_port_refuses(dev->fabric, out, copy)) {
		wf_device_drop(dev, out, queue, copy, WF_DROP_MTU, now);
	} else if (sw->n_shut != 0 && wf_hoq_is_stalled(sw, wf_port_lane(out, queue), now)) {
		wf_device_drop(dev, out, queue, copy, WF_DROP_LIFE, now);
	} else {
		return true;
	}
	return false;
}

/* A copy waits: it is one more that has the packet's buffer. */
static void share(struct wf_switch *sw, struct wf_lane *lane, struct wf_packet **shared_p,
                  wf_time now)
{
	if (*shared_p == NULL) {
		*shared_p = wf_packet_get(sw->dev.shard);
		if (*shared_p != NULL)
			(*shared_p)->qpn = 0;
	}
	if (*shared_p == NULL || lane->tail == NULL)
		return; /* the run ends */
	(*shared_p)->qpn++;
	wf_packet_timed(lane->tail)->since = now;
	wf_packet_timed(lane->tail)->shared = *shared_p;
}

/* The row of a group; whether it has any port. */
static bool row_of(struct wf_station *st, uint16_t mlid, uint64_t ports[WF_STATION_WORDS])
{
	uint64_t any = 0;

	st->ops->group(st, mlid, ports);
	for (unsigned w = 0; w < WF_STATION_WORDS; w++)
		any |= ports[w];
	return any != 0;
}

void wf_multicast_forward(struct wf_switch *sw, struct wf_port *in, const struct wf_packet *pkt,
                          wf_time now)
{
	struct wf_device *dev = &sw->dev;
	const struct wf_fabric *fabric = dev->fabric;
	uint64_t ports[WF_STATION_WORDS];
	struct wf_packet *shared = NULL;
	unsigned copies = 0, queue;

	if (!row_of(dev->station, pkt->entropy, ports))
		dev->station->port[in->number].relay_errors++;
	for (unsigned p = 0; p < dev->n_ports; p++) {
		struct wf_packet copy = *pkt;

		if (p == in->number || !(ports[(p + 1) / 64] >> (p + 1) % 64 & 1))
			continue;
		if (copies++ > 0) {
			dev->shard->tally[pkt->cls].sent++;
			if (fabric->copied != NULL &&
			    !fabric->copied(fabric->lost_arg, dev->shard, &copy))
				return; /* the run ends */
		}
		if (!may_leave(sw, in, p, &copy, &queue, now))
			continue;
		dev->station->port[p].tx_groups++;
		if (wf_switch_send_copy(sw, p, queue, &copy, now))
			share(sw, wf_device_lane(dev, p, queue), &shared, now);
	}
	if (shared != NULL)
		(void)!fabric->flowctl->admit(sw, in, NULL, pkt, now);
	else
		fabric->flowctl->pass(dev, in, pkt->vl, pkt->size, now);
	if (copies == 0)
		wf_device_drop(dev, in, pkt->vl, pkt, WF_DROP_ROUTE, now);
}
