/* SPDX-License-Identifier: Apache-2.0 */
/* scan.c - a text line by line, for the readers of subnet. */
#include "subnet/scan.h"

#include <errno.h>
#include <string.h>

static const char mark[] = "\xef\xbb\xbf"; /* that some editors put before a text */

void wf_scan_init(struct wf_scan *s, const char *text, size_t len, const char *name,
                  const struct wf_subnet_ear *ear, struct wf_err *err)
{
	*s = (struct wf_scan){ .name = name, .next = text, .end = text + len };
	s->start = s->at = s->stop = text;
	s->ear = ear;
	s->err = err;
	if (len >= sizeof(mark) - 1 && memcmp(text, mark, sizeof(mark) - 1) == 0)
		s->next += sizeof(mark) - 1;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

bool wf_scan_line(struct wf_scan *s)
{
	const char *newline;

	if (s->next >= s->end)
		return false;
	newline = memchr(s->next, '\n', (size_t)(s->end - s->next));
	s->start = s->at = s->next;
	s->stop = newline == NULL ? s->end : newline;
	s->next = newline == NULL ? s->end : newline + 1;
	s->line++;
	while (s->stop > s->start && is_blank(s->stop[-1]))
		s->stop--;
	return true;
}

bool wf_scan_blanks(struct wf_scan *s)
{
	while (s->at < s->stop && is_blank(*s->at))
		s->at++;
	return s->at < s->stop;
}

bool wf_scan_take(struct wf_scan *s, const char *what)
{
	size_t n = strlen(what);

	if ((size_t)(s->stop - s->at) < n || memcmp(s->at, what, n) != 0)
		return false;
	s->at += n;
	return true;
}

bool wf_scan_find(struct wf_scan *s, const char *what)
{
	size_t n = strlen(what);

	for (const char *p = s->at; (size_t)(s->stop - p) >= n; p++) {
		if (memcmp(p, what, n) == 0) {
			s->at = p + n;
			return true;
		}
	}
	return false;
}

static unsigned digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned)(c - 'a') + 10;
	if (c >= 'A' && c <= 'F')
		return (unsigned)(c - 'A') + 10;
	return 16;
}

bool wf_scan_number(struct wf_scan *s, unsigned base, uint64_t max, uint64_t *value_p)
{
	const char *p = s->at, *first;
	uint64_t value = 0;

	if (base != 10 && s->stop - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
		p += 2;
		base = 16;
	} else if (base == 0) {
		base = 10;
	}
	first = p;
	for (; p < s->stop && digit_of(*p) < base; p++) {
		uint64_t d = digit_of(*p);

		if (d > max || value > (max - d) / base)
			return false;
		value = value * base + d;
	}
	if (p == first)
		return false;
	s->at = p;
	*value_p = value;
	return true;
}

void wf_scan_copy(char *to, size_t size, const char *from, const char *end)
{
	size_t n = 0;

	while (from < end && is_blank(*from))
		from++;
	while (end > from && is_blank(end[-1]))
		end--;
	for (; from < end && n + 1 < size; from++) {
		unsigned char c = (unsigned char)*from;

		to[n++] = c < 0x20 || c == 0x7f ? '?' : *from;
	}
	to[n] = '\0';
}

int wf_scan_fail(const struct wf_scan *s, const char *what)
{
	return wf_err_at(s->err, s->name, s->line, (unsigned)(s->at - s->start) + 1, "%s", what);
}

void wf_scan_note(const struct wf_scan *s, const char *what)
{
	if (s->ear != NULL)
		s->ear->note(s->ear->arg, s->name, s->line, (unsigned)(s->at - s->start) + 1, what);
}

bool wf_scan_width(struct wf_scan *s, uint8_t *lanes_p)
{
	const char *at = s->at;
	uint64_t lanes;

	if (wf_scan_take(s, "??x") || wf_scan_take(s, "??")) {
		*lanes_p = 0;
		return true;
	}
	if (wf_scan_number(s, 10, 12, &lanes) && (wf_scan_take(s, "x") || wf_scan_take(s, "X")) &&
	    (lanes == 1 || lanes == 2 || lanes == 4 || lanes == 8 || lanes == 12)) {
		*lanes_p = (uint8_t)lanes;
		return true;
	}
	s->at = at;
	return false;
}

bool wf_scan_speed(struct wf_scan *s, uint8_t *speed_p)
{
	/* From the last on: FDR10 begins as FDR does. */
	static const uint8_t order[] = { WF_SUBNET_FDR10, WF_SUBNET_XDR, WF_SUBNET_NDR,
		                         WF_SUBNET_HDR,   WF_SUBNET_EDR, WF_SUBNET_FDR,
		                         WF_SUBNET_QDR,   WF_SUBNET_DDR, WF_SUBNET_SDR };

	wf_scan_blanks(s);
	for (size_t i = 0; i < WF_ARRAY_SIZE(order); i++) {
		if (wf_scan_take(s, wf_subnet_speeds[order[i]].name)) {
			*speed_p = order[i];
			return true;
		}
	}
	*speed_p = WF_SUBNET_SPEED_NONE;
	return wf_scan_take(s, "???");
}
