/* SPDX-License-Identifier: Apache-2.0 */
/*
 * icrc_id.h - checks the ICRC of a packet whose IPv4 identification is not known.
 *
 * The ICRC covers that field, and an ordinary UDP socket does not tell it. A CRC is linear: what
 * the two unknown bytes add to it is a function of them alone, which can be turned round. So from
 * the difference between the ICRC that came and the one with identification 0 follows the one
 * identification that would fit, if there is one at all. What is left of the check is 16 bits.
 *
 * The other 16 come from what the sender does with that field: an identification that was solved
 * for has to be one that it could have chosen. Senders put 0 there (weft, and others with Don't
 * Fragment), or they count, as Linux's rxe does, which also leaps by up to a jiffy's worth for each
 * jiffy without a packet. So a sender is watched:
 *
 *	LEARNING --8 packets in a row follow each other--> CONSTANT, where all were the same, or
 *	   ^                                               COUNTING
 *	   +---4 packets in a row that do not follow, refused--+
 *
 * CONSTANT leaves all 32 bits of the check, COUNTING 23 and a half while packets come (one in
 * 2^32 / 321), fewer after a pause, and LEARNING, where senders stay that do neither, 16.
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

enum wf_icrc_id_state { WF_ICRC_ID_LEARNING, WF_ICRC_ID_CONSTANT, WF_ICRC_ID_COUNTING };

/* What is known of a sender's identifications; all 0: nothing. */
struct wf_icrc_sender {
	uint64_t at; /* milliseconds: when the last one that was believed came */
	uint16_t last;
	uint8_t state;   /* enum wf_icrc_id_state */
	uint8_t follow;  /* LEARNING: so many have followed each other, the first included */
	uint8_t same;    /* LEARNING: so many of them were the same */
	uint8_t refused; /* not LEARNING: so many in a row */
};

/* Whether a packet of the sender, at that time, may have that identification. */
bool wf_icrc_may_send(struct wf_icrc_sender *sender, uint16_t id, uint64_t ms);

#endif
