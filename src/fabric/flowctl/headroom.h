/* SPDX-License-Identifier: Apache-2.0 */
/*
 * headroom.h - how long a peer takes to stop, and what arrives until then.
 */
#ifndef WF_FABRIC_FLOWCTL_HEADROOM_H
#define WF_FABRIC_FLOWCTL_HEADROOM_H

#include "fabric/device.h"

/*
 * How long after a pause frame has come in a port of rate may still begin to send, both at the
 * connector: pfc.reaction, or what IEEE 802.3 31B.3.7 allows.
 */
wf_time wf_pfc_response(const struct wf_fabric_cfg *cfg, uint64_t rate);

/*
 * What of that is left when a node has the frame: the frame's way through PHY and
 * pipeline, and the way of what is sent through the PHY, are a part of it.
 */
wf_time wf_pfc_reaction(const struct wf_fabric_cfg *cfg, uint64_t rate,
                        const struct wf_topo_node *node);

/*
 * Bytes of buffer that a port of dev needs beyond XOFF so that nothing is lost, counted in whole
 * cells: what the peer can still send until the pause frame stops it, at the worst.
 */
uint64_t wf_pfc_headroom(const struct wf_device *dev, const struct wf_port *port);

/*
 * The same for a buffer that counts bytes, an adapter's: no less, whatever packets come and
 * whatever they carry.
 */
uint64_t wf_pfc_headroom_bytes(const struct wf_device *dev, const struct wf_port *port);

/* What buffer.headroom, buffer.headroom_by and buffer.headroom_table give a port of dev. */
uint64_t wf_pfc_headroom_given(const struct wf_device *dev, const struct wf_port *port);

/* The input of SONiC's calculation, and what of it is the same on every switch. */
struct wf_sonic_headroom {
	uint64_t rate;         /* bits/s */
	uint64_t cable;        /* ps, one way */
	uint64_t lossless_mtu; /* bytes */
	uint64_t cell;         /* bytes */
	uint64_t small;        /* units of 2^-32: small packets among those in the headroom */
};

/*
 * SONiC's calculation for NVIDIA's switches (sonic-swss, buffer_headroom_mellanox.lua). Returns
 * xoff, what comes in after the threshold; *xon_p: what is in the pipeline then. Their sum is the
 * headroom.
 */
uint64_t wf_sonic_headroom(const struct wf_sonic_headroom *in, uint64_t *xon_p);

#endif
