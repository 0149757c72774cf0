/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcap.h - what passes ports of a simulated fabric, as a capture file for Wireshark.
 *
 * Each port is an interface of the file and has two directions: packets it sends, at the time at
 * which their first bit leaves, and packets sent to it, at the time at which their last bit arrives
 * (also those that are lost on that link). They are in the order of (time, node, port), so the file
 * is the same on any number of threads. Payload is zeros: a simulation does not carry it.
 *
 * While the simulation runs, each sending port writes to a list of its own, kept in a nameless file
 * beside the capture: memory is 16 KiB for each port, however long the run.
 */
#ifndef WF_RUN_PCAP_H
#define WF_RUN_PCAP_H

#include <stdio.h>

#include "base/err.h"
#include "fabric/config.h"
#include "sim/sim.h"

struct wf_pcap_cfg {
	const struct wf_topo *topo;         /* borrowed while the capture lives */
	const struct wf_fabric_cfg *fabric; /* borrowed while the capture lives */
	const char *ports; /* "leaf0:3,h5"; a name alone is all its ports; NULL: all hosts */
	const char *path;  /* of the capture; what has to be kept meanwhile is kept beside it */
};

struct wf_pcap;

/*
 * A capture of the ports. Returns 0, -ENOMEM, -EINVAL with err filled (no such node or port), or
 * -EIO with err filled (no file can be made there). On success the caller owns *pcap_p.
 */
int wf_pcap_create(const struct wf_pcap_cfg *cfg, struct wf_pcap **pcap_p,
                   struct wf_err *err) WF_MUST_USE;

/* Frees it. NULL is allowed. */
void wf_pcap_destroy(struct wf_pcap *pcap);

/* Listens to its ports of sim, as the only one who does; before the run. */
void wf_pcap_listen(struct wf_pcap *pcap, struct wf_sim *sim);

/*
 * Writes the whole capture after the run. What goes wrong with file itself is for its owner to find
 * (wf_out_commit()). Returns 0, -ENOMEM, or -EIO with err filled when packets could not be kept.
 */
int wf_pcap_write(struct wf_pcap *pcap, FILE *file, struct wf_err *err) WF_MUST_USE;

#endif
