/* SPDX-License-Identifier: Apache-2.0 */
/*
 * siphash.h - a hash that who does not know its key cannot aim at: SipHash-2-4 (Aumasson,
 * Bernstein, INDOCRYPT 2012). For tables whose keys strangers choose.
 */
#ifndef WF_BASE_SIPHASH_H
#define WF_BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

#define WF_SIPHASH_KEY 16 /* bytes */

uint64_t wf_siphash(const uint8_t key[WF_SIPHASH_KEY], const void *data, size_t len);

#endif
