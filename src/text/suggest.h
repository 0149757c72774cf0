/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suggest.h - what somebody probably meant.
 *
 * The names that are known are offered one by one; what comes out is the end of a message: "; did
 * you mean ecn.kmin?", or, when none is near, "; the keys here are a, b and c".
 */
#ifndef WF_TEXT_SUGGEST_H
#define WF_TEXT_SUGGEST_H

#include "base/base.h"

struct wf_suggest {
	const char *wrong;
	const char *best; /* nearest so far; borrowed from the caller */
	unsigned distance;
	size_t at; /* end of list */
	unsigned n;
	char list[192];
	char text[320];
};

/* Begins with the name that is not known, which is borrowed until wf_suggest_text(). */
void wf_suggest_init(struct wf_suggest *s, const char *wrong);

/* Offers a known name, which is borrowed until wf_suggest_text(). */
void wf_suggest_offer(struct wf_suggest *s, const char *name);

/* The end of the message; what says what the names are: "the keys here are". */
const char *wf_suggest_text(struct wf_suggest *s, const char *what);

#endif
