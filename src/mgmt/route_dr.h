/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route_dr.h - directed routes: what a node does with an SMP whose path is in it (IBTA vol. 1,
 * 14.2.2).
 *
 *   D  hop pointer      where it is                    what happens
 *   0  0                who asks                       1, out by initial[1]
 *   0  1 .. count - 1   a switch on the way            return[p] = in, p + 1, out by initial[p]
 *   0  count            the last node                  return[p] = in, p + 1, mine
 *   0  count + 1        behind a part by LID           mine
 *   1  count + 1        who answers                    p - 1, out by return[p]
 *   1  2 .. count       a switch on the way            p - 1, out by return[p]
 *   1  1                who asked                      0, mine
 *   1  0                behind a part by LID           mine
 *
 * Where the last node is not the one that is meant (DrDLID) or the first not the one that asks
 * (DrSLID), a part by LID follows. Everything else is dropped.
 */
#ifndef WF_MGMT_ROUTE_DR_H
#define WF_MGMT_ROUTE_DR_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/mad.h"

enum wf_dr {
	WF_DR_DROP,
	WF_DR_MINE,   /* of the node itself: its agent's, or its manager's */
	WF_DR_OUT,    /* by next->port */
	WF_DR_BY_LID, /* to next->lid, as a packet with that DLID; 0: to who sent the request */
};

struct wf_dr_node {
	bool is_switch;
	unsigned n_ports; /* without port 0 */
};

struct wf_dr_next {
	unsigned port;
	uint16_t lid;
};

/* A directed-route SMP came in by a port of the node; its pointer and paths are changed. */
enum wf_dr wf_dr_rx(const struct wf_dr_node *node, unsigned in_port, uint8_t *mad,
                    struct wf_dr_next *next_p);

/* The node itself sends one: a request (D is 0), or an answer (wf_dr_answer() was called). */
enum wf_dr wf_dr_tx(const struct wf_dr_node *node, uint8_t *mad, struct wf_dr_next *next_p);

/* Makes a request an answer: it goes back. The rest of the header is not touched. */
void wf_dr_answer(uint8_t *mad);

/* A request of class SUBN_DR with this path: path[1] to path[n_hops], at most 63. */
void wf_dr_request(uint8_t *mad, const uint8_t *path, unsigned n_hops);

#endif
