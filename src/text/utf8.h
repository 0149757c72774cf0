/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.h - characters of UTF-8 (RFC 3629).
 */
#ifndef WF_TEXT_UTF8_H
#define WF_TEXT_UTF8_H

#include <stddef.h>

/*
 * Bytes of the character at p, where left bytes remain of the text; 0 when it is none: a byte that
 * begins nothing, too long a form, a surrogate, above U+10FFFF, or cut off.
 */
static inline size_t wf_utf8_length(const unsigned char *p, size_t left)
{
	size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;

	if (n == 0 || p[0] > 0xf4 || left < n)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	}
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

#endif
