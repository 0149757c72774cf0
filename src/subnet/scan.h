/* SPDX-License-Identifier: Apache-2.0 */
/* scan.h - a text line by line, and what stands in a line: for the readers of subnet. */
#ifndef WF_SUBNET_SCAN_H
#define WF_SUBNET_SCAN_H

#include "subnet/read.h"

struct wf_scan {
	const char *name;  /* of the file */
	const char *next;  /* the next line */
	const char *end;   /* of the text */
	const char *start; /* of this line */
	const char *at;
	const char *stop; /* behind this line, without its end */
	unsigned line;
	const struct wf_subnet_ear *ear;
	struct wf_err *err;
};

/* Starts before the first line. Borrows all. */
void wf_scan_init(struct wf_scan *s, const char *text, size_t len, const char *name,
                  const struct wf_subnet_ear *ear, struct wf_err *err);

/* Goes to the next line; false at the end. Blanks at its end are cut off. */
bool wf_scan_line(struct wf_scan *s);

/* Goes over blanks; returns whether anything follows. */
bool wf_scan_blanks(struct wf_scan *s);

/* Goes over what, if it stands here. */
bool wf_scan_take(struct wf_scan *s, const char *what);

/* Whether what stands anywhere in the rest of the line; goes behind it. */
bool wf_scan_find(struct wf_scan *s, const char *what);

/*
 * Goes over digits of a base (10 or 16, there with or without 0x; 0: 16 after 0x, else 10); false
 * where there are none, or they say more than max.
 */
bool wf_scan_number(struct wf_scan *s, unsigned base, uint64_t max, uint64_t *value_p);

/* Copies a text, cut to fit, without what terminals must not see. */
void wf_scan_copy(char *to, size_t size, const char *from, const char *end);

/* Says what is wrong here: -EINVAL. */
int wf_scan_fail(const struct wf_scan *s, const char *what);

/* Tells the ear of something here. */
void wf_scan_note(const struct wf_scan *s, const char *what);

/* The forms; read.c lists them. */
extern const struct wf_subnet_form wf_subnet_ibnetdiscover, wf_subnet_ports, wf_subnet_db_csv;

/* "4x", of 1, 2, 4, 8, 12, and "EDR" behind it, perhaps after a blank; "???" is not known. */
bool wf_scan_width(struct wf_scan *s, uint8_t *lanes_p);
bool wf_scan_speed(struct wf_scan *s, uint8_t *speed_p);

#endif
