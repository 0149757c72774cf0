/* SPDX-License-Identifier: Apache-2.0 */
/*
 * setup.h - what a device, or one of its ports, is set to.
 *
 * A setup is a configuration that was compiled: all devices and ports with the same one share it.
 * Setup 0 is the fabric's own. Which device has which is decided before the fabric is built
 * (struct wf_devices), so the packet path reads a device's values as it would read the fabric's;
 * what it needs of a port by itself lies in the port's lanes.
 */
#ifndef WF_FABRIC_SETUP_H
#define WF_FABRIC_SETUP_H

#include "base/mem.h"
#include "fabric/classes.h"
#include "fabric/fec.h"
#include "fabric/maps.h"
#include "fabric/watchdog.h"
#include "topo/topo.h"

#define WF_MAX_SETUPS 4096

struct wf_setup {
	struct wf_fabric_cfg cfg;
	struct wf_classes classes;        /* the same number of queues in every setup of a fabric */
	struct wf_ecn ecn[WF_MAX_QUEUES]; /* by queue; none of ports whose rate is in the table */
	uint8_t n_ecn_rates;              /* 0: there is no such table */
	struct wf_ecn_rate ecn_rates[WF_ECN_RATES];
	uint16_t ecn_own;             /* mask of queues that have values in spite of it */
	bool mark_late;               /* ecn.at dequeue */
	bool fecn;                    /* InfiniBand: it marks */
	uint32_t fecn_bytes;          /* longer queues are congested */
	bool retries;                 /* link.retry is llr */
	struct wf_fec fec, burst_fec; /* what it makes of link.raw_ber, and of link.burst_ber */
	unsigned hash_fields;
	struct wf_maps maps;
	/* Lanes, by what the maps say; WF_NO_LANE: none. A packet's key is wf_packet_key(). */
	uint8_t queue_of[256], group_of[256];
	uint8_t pause_queue[WF_PRIORITIES]; /* of a pause frame's priorities */
	uint8_t pause_of[WF_MAX_QUEUES];    /* mask of the priorities that a full group tells of */
	uint8_t mark_of[WF_PRIORITIES], cnp_mark; /* an adapter's */
	struct wf_watchdog_set watchdog, adapter_watchdog;
	const void *user; /* the driver's */
};

/*
 * Which configuration each device and port of a fabric has: cfg[i - 1] for the number i, and the
 * fabric's own for 0.
 */
struct wf_devices {
	unsigned n;
	const struct wf_fabric_cfg *const *cfg;
	const void *const *user; /* setup.user, in the same order; NULL: nobody's */
	const uint16_t *of_node; /* by node of the topology */
	const uint16_t *of_port; /* by its ports */
};

/*
 * Ethernet: the priorities that have a queue on some device, as a mask. Returns 0, or -EINVAL with
 * err filled.
 */
int wf_setups_priorities(const struct wf_fabric_cfg *cfg, const struct wf_devices *devices,
                         unsigned *mask_p, struct wf_err *err) WF_MUST_USE;

/*
 * Compiles cfg and those of devices (NULL: there are none) into setups[0 .. devices->n], which are
 * zeroed. dscp becomes the DSCP of each mark. Returns 0, or -EINVAL with err filled.
 */
int wf_setups_compile(const struct wf_fabric_cfg *cfg, const struct wf_devices *devices,
                      struct wf_setup *setups, uint8_t dscp[WF_MARKS],
                      struct wf_err *err) WF_MUST_USE;

#endif
