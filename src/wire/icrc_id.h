/* SPDX-License-Identifier: Apache-2.0 */
/*
 * icrc_id.h - checks the ICRC of a packet whose IPv4 identification is not known.
 *
 * The ICRC covers that field, and an ordinary UDP socket does not tell it. A CRC is linear: what
 * the two unknown bytes add to it is a function of them alone, which can be turned round. So from
 * the difference between the ICRC that came and the one with identification 0 follows the one
 * identification that would fit, if there is one at all. What is left of the check is 16 bits.
 */
#ifndef WF_WIRE_ICRC_ID_H
#define WF_WIRE_ICRC_ID_H

#include <stdbool.h>

#include "wire/headers.h"

/*
 * h and bytes are a RoCE v2 packet over IPv4, decoded, with identification 0 in bytes. Returns
 * whether there is an identification with which its ICRC is right, and which, in *id_p.
 */
bool wf_icrc_find_id(const struct wf_headers *h, const uint8_t *bytes, uint16_t *id_p);

#endif
