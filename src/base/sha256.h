/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sha256.h - SHA-256 (FIPS 180-4): what names a file by its contents, as sha256sum prints it.
 */
#ifndef WF_BASE_SHA256_H
#define WF_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define WF_SHA256_BYTES 32
#define WF_SHA256_TEXT 65 /* as text, its NUL included */

struct wf_sha256 {
	uint32_t state[8];
	uint64_t len; /* bytes taken so far */
	uint8_t block[64];
};

void wf_sha256_init(struct wf_sha256 *h);
void wf_sha256_add(struct wf_sha256 *h, const void *data, size_t len);

/* What was added, as 64 hexadecimal digits. h is to be initialised before it is used again. */
void wf_sha256_text(struct wf_sha256 *h, char text[WF_SHA256_TEXT]);

#endif
