/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_template.h - the pieces of the report's HTML, between which its title, its data and its
 * samples go. web/build.mjs makes them, or scripts/page says why there are none.
 */
#ifndef WF_RESULTS_PAGE_TEMPLATE_H
#define WF_RESULTS_PAGE_TEMPLATE_H

#include <stddef.h>

#define WF_PAGE_PIECES 4

struct wf_page_piece {
	const unsigned char *text;
	size_t len;
};

/* NULL; of a weft that was built without the page: why, for people. The pieces are empty then. */
extern const char *const wf_page_missing;

extern const struct wf_page_piece wf_page_template[WF_PAGE_PIECES];

#endif
