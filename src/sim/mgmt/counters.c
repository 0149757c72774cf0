/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.c - what ports of a managed fabric have counted, as performance management names it.
 *
 * Read by the node itself while it runs, so nothing of its neighbours is looked at: what came in is
 * counted at the station.
 */
#include "sim/mgmt/site.h"

#include <string.h>

#define WAIT_TICK (1 * WF_NS) /* of PortXmitWait */

static void add_lane(const struct wf_site *site, const struct wf_lane *lane,
                     uint64_t counter[WF_PMA_COUNTERS], uint64_t *wait_ps)
{
	const uint32_t *drops = lane->drops;

	counter[WF_PMA_XMIT_PKTS] += lane->tx_packets;
	counter[WF_PMA_XMIT_DATA] += lane->tx_bytes;
	counter[WF_PMA_RCV_ERRORS] += drops[WF_DROP_ERROR];
	counter[WF_PMA_RCV_SWITCH_RELAY_ERRORS] += drops[WF_DROP_ROUTE];
	counter[WF_PMA_XMIT_DISCARDS] +=
		drops[WF_DROP_LIFE] + drops[WF_DROP_DOWN] - lane->rx_down + drops[WF_DROP_MTU];
	counter[WF_PMA_EXCESSIVE_BUFFER_OVERRUNS] += drops[WF_DROP_BUFFER];
	*wait_ps += lane->stopped_ps;
	if (lane->wait_since < site->now)
		*wait_ps += (uint64_t)(site->now - lane->wait_since);
}

static void add_port(const struct wf_site *site, unsigned port, uint64_t counter[WF_PMA_COUNTERS])
{
	const struct wf_station_port *p = &site->st.port[port];
	const struct wf_device *dev = site->st.dev;
	uint64_t wait_ps = 0;

	for (unsigned q = 0; q < dev->n_queues; q++)
		add_lane(site, wf_device_lane(dev, port, q), counter, &wait_ps);
	counter[WF_PMA_XMIT_DATA] /= 4;
	counter[WF_PMA_RCV_PKTS] += p->rx_packets + p->vl15_received;
	counter[WF_PMA_RCV_DATA] += (p->rx_bytes + p->vl15_received * WF_STATION_MAD_SIZE) / 4;
	counter[WF_PMA_XMIT_DISCARDS] -= p->too_long;
	counter[WF_PMA_RCV_ERRORS] += p->too_long;
	counter[WF_PMA_XMIT_CONSTRAINT_ERRORS] += p->pkey_out;
	counter[WF_PMA_RCV_CONSTRAINT_ERRORS] += p->pkey_in;
	counter[WF_PMA_VL15_DROPPED] += p->vl15_dropped;
	counter[WF_PMA_LINK_DOWNED] += site->downs[port];
	counter[WF_PMA_XMIT_WAIT] += wait_ps / WAIT_TICK;
}

static void read_port(void *arg, unsigned port, uint64_t counter[WF_PMA_COUNTERS])
{
	const struct wf_site *site = arg;

	memset(counter, 0, WF_PMA_COUNTERS * sizeof(*counter));
	if (port == 0) {
		counter[WF_PMA_QP1_DROPPED] = site->st.gmps_dropped;
		counter[WF_PMA_VL15_DROPPED] = site->agent.dropped;
		return;
	}
	add_port(site, port - 1, counter);
	if (!site->is_switch) {
		counter[WF_PMA_QP1_DROPPED] += site->st.gmps_dropped;
		counter[WF_PMA_VL15_DROPPED] += site->agent.dropped;
	}
	/* What waits counts as sent to its group. */
	counter[WF_PMA_MULTICAST_XMIT_PKTS] =
		wf_min_u64(site->st.port[port - 1].tx_groups, counter[WF_PMA_XMIT_PKTS]);
	counter[WF_PMA_MULTICAST_RCV_PKTS] = site->st.port[port - 1].rx_groups;
	counter[WF_PMA_UNICAST_XMIT_PKTS] =
		counter[WF_PMA_XMIT_PKTS] - counter[WF_PMA_MULTICAST_XMIT_PKTS];
	counter[WF_PMA_UNICAST_RCV_PKTS] =
		counter[WF_PMA_RCV_PKTS] - counter[WF_PMA_MULTICAST_RCV_PKTS];
}

/* By virtual lane: those that a lane has by itself. */
static bool read_simple(void *arg, unsigned port, uint16_t attr_id,
                        uint64_t counter[WF_PERF_SIMPLE_MAX])
{
	const struct wf_site *site = arg;
	const struct wf_device *dev = site->st.dev;
	const struct wf_station_port *p;

	memset(counter, 0, WF_PERF_SIMPLE_MAX * sizeof(*counter));
	if (port == 0)
		return false;
	p = &site->st.port[port - 1];
	for (unsigned q = 0; q + 1 < dev->n_queues && q < WF_PERF_SIMPLE_MAX; q++) {
		const struct wf_lane *lane = wf_device_lane(dev, port - 1, q);

		switch (attr_id) {
		case WF_PERF_VL_XMIT_WAIT:
			counter[q] = lane->stopped_ps / WAIT_TICK;
			break;
		case WF_PERF_XMIT_DISCARD_DETAILS:
			/* PortInactiveDiscards, NeighborMTUDiscards, SwLifetime, SwHOQLifetime. */
			counter[0] += lane->drops[WF_DROP_DOWN] - lane->rx_down;
			counter[1] += lane->drops[WF_DROP_MTU];
			counter[3] += lane->drops[WF_DROP_LIFE];
			break;
		case WF_PERF_RCV_ERROR_DETAILS:
			/* PortLocalPhysicalErrors, malformed packets, PortBufferOverrunErrors. */
			counter[0] += lane->drops[WF_DROP_ERROR];
			counter[2] += lane->drops[WF_DROP_BUFFER];
			break;
		default:
			return false;
		}
	}
	if (attr_id == WF_PERF_XMIT_DISCARD_DETAILS) {
		counter[1] -= p->too_long; /* those came in */
		counter[2] = p->too_old;
		counter[3] -= p->too_old;
	} else if (attr_id == WF_PERF_RCV_ERROR_DETAILS) {
		/* PortMalformedPacketErrors, PortDLIDMappingErrors, PortVLMappingErrors. */
		counter[1] = p->too_long;
		counter[3] = p->relay_errors;
		counter[4] = p->vl_errors;
	}
	return true;
}

const struct wf_pma_ops wf_site_counters = {
	.read = read_port,
	.read_simple = read_simple,
};
