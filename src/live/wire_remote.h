/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_remote.h - the addresses outside of a fabric, and their numbers.
 *
 * Anybody may send datagrams, from any source he likes to claim; each source has to have a number
 * for as long as somebody may want to answer it, and none of that may keep those out who are
 * wanted. So there are three kinds, each with its own share of the places:
 *
 *	          a datagram comes            a program answers
 *	 FREE ----------------------> STRANGER ----------------> ANSWERED
 *	  |                                |                      |   ^
 *	  | a program asks for the number  |                      |   | the last program
 *	  +------------------------------->+---------> FIRM <-----+   | that held it ends
 *	                                                |             |
 *	                                                +-------------+
 *
 * Of strangers and answered ones the one that was not heard of for longest makes room for a new
 * one of its kind (it is FREE then, for a moment); firm ones stay while a program that asked for
 * them lives. A number says how often its place was used before, so that one that is out of date
 * names nobody. The hash has a random key: sources cannot be made to collide.
 */
#ifndef WF_LIVE_WIRE_REMOTE_H
#define WF_LIVE_WIRE_REMOTE_H

#include <stdbool.h>

#include "base/siphash.h"
#include "live/proto.h"
#include "wire/icrc_id.h"

#define WF_WIRE_NOBODY UINT32_MAX
#define WF_WIRE_STRANGERS 1024
#define WF_WIRE_ANSWERED 8192
#define WF_WIRE_FIRM (WF_LIVE_REMOTES - WF_WIRE_STRANGERS - WF_WIRE_ANSWERED)

enum wf_wire_kind {
	WF_WIRE_IS_FREE,
	WF_WIRE_IS_STRANGER,
	WF_WIRE_IS_ANSWERED,
	WF_WIRE_IS_FIRM,
	WF_WIRE_KINDS
};

/* One address. Places are named by 1 + index; 0: none. */
struct wf_wire_remote {
	uint8_t gid[16];
	struct wf_icrc_sender sender;
	uint32_t chain;        /* the next with that hash; free: the next free one */
	uint32_t older, newer; /* among strangers or answered ones */
	uint32_t holders;      /* firm: programs */
	uint16_t turn;         /* how often the place was used, in WF_LIVE_TURN_BITS */
	uint8_t kind;          /* enum wf_wire_kind */
};

struct wf_wire_remotes {
	uint8_t key[WF_SIPHASH_KEY];
	struct wf_wire_remote *at; /* WF_LIVE_REMOTES */
	uint32_t *bucket;          /* WF_LIVE_REMOTES */
	uint32_t free;             /* a list of places that were used */
	uint32_t used;             /* places from here on never were */
	uint32_t n[WF_WIRE_KINDS];
	struct {
		uint32_t oldest, newest;
	} order[WF_WIRE_KINDS];
};

/* Which ones a program holds. */
struct wf_wire_held {
	uint32_t n;
	uint64_t bits[WF_LIVE_REMOTES / 64];
};

/* Returns 0 or -ENOMEM; wf_wire_remotes_fini() in any case. */
int wf_wire_remotes_init(struct wf_wire_remotes *t, const uint8_t key[WF_SIPHASH_KEY]) WF_MUST_USE;
void wf_wire_remotes_fini(struct wf_wire_remotes *t);

/* The number of an address, with WF_LIVE_REMOTE; WF_WIRE_NOBODY: it has none. */
uint32_t wf_wire_remotes_find(const struct wf_wire_remotes *t, const uint8_t gid[16]);

/* A packet came from it: it is the newest of its kind, and a stranger where it was nobody. */
uint32_t wf_wire_remotes_meet(struct wf_wire_remotes *t, const uint8_t gid[16]);

/* A program sends something to a number. */
void wf_wire_remotes_answer(struct wf_wire_remotes *t, uint32_t number);

/* A program asks for an address, and holds it from now on. Returns 0 or -ENOMEM. */
int wf_wire_remotes_hold(struct wf_wire_remotes *t, struct wf_wire_held *held,
                         const uint8_t gid[16], uint32_t *number_p) WF_MUST_USE;

/* It lets go of all. */
void wf_wire_remotes_release(struct wf_wire_remotes *t, struct wf_wire_held *held);

/* The one with a number; NULL: nobody has it, or nobody any more. */
struct wf_wire_remote *wf_wire_remotes_get(const struct wf_wire_remotes *t, uint32_t number);

/* Walks all of it and asserts what holds. */
void wf_wire_remotes_check(const struct wf_wire_remotes *t);

#endif
