/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aeth.h - what the syndrome of an acknowledgement says (IBTA vol. 1, 9.7.5.1.4).
 *
 * The upper three bits are its kind, the lower five its value. Kinds that are not named here are
 * reserved. Two things that only weft's adapters say to one another have numbers that the standard
 * leaves free.
 */
#ifndef WF_WIRE_AETH_H
#define WF_WIRE_AETH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

/* The kinds. */
enum wf_syndrome {
	WF_SYNDROME_ACK = 0x00,  /* value: a code for credits, or WF_CREDITS_INVALID */
	WF_SYNDROME_RNR = 0x20,  /* value: a code for the time to wait */
	WF_SYNDROME_READ = 0x40, /* weft's own: of READ responses, to their sender */
	WF_SYNDROME_NAK = 0x60,  /* value: why, see enum wf_nak */
};

/* The syndromes of kind NAK. */
enum wf_nak {
	WF_NAK_PSN_SEQUENCE = WF_SYNDROME_NAK | 0,
	WF_NAK_INVALID_REQUEST = WF_SYNDROME_NAK | 1,
	WF_NAK_REMOTE_ACCESS = WF_SYNDROME_NAK | 2,
	WF_NAK_REMOTE_OPERATION = WF_SYNDROME_NAK | 3,
	WF_NAK_INVALID_RD_REQUEST = WF_SYNDROME_NAK | 4,
	WF_NAK_TRIMMED = WF_SYNDROME_NAK | 31, /* weft's own: the MSN is the PSN that was trimmed */
};

/* The syndromes of kind READ. */
enum wf_read_syndrome {
	WF_READ_CAME = WF_SYNDROME_READ | 0,
	WF_READ_TRIMMED = WF_SYNDROME_READ | 1,
};

#define WF_CREDITS_INVALID 0x1f /* the responder does not count them */

static inline uint8_t wf_syndrome_kind(uint8_t syndrome)
{
	return syndrome & 0xe0;
}

static inline bool wf_syndrome_is_ack(uint8_t syndrome)
{
	return wf_syndrome_kind(syndrome) == WF_SYNDROME_ACK;
}

static inline bool wf_syndrome_is_rnr(uint8_t syndrome)
{
	return wf_syndrome_kind(syndrome) == WF_SYNDROME_RNR;
}

static inline bool wf_syndrome_is_read(uint8_t syndrome)
{
	return wf_syndrome_kind(syndrome) == WF_SYNDROME_READ;
}

static inline bool wf_syndrome_is_nak(uint8_t syndrome)
{
	return wf_syndrome_kind(syndrome) == WF_SYNDROME_NAK;
}

static inline uint8_t wf_syndrome_value(uint8_t syndrome)
{
	return syndrome & 0x1f;
}

static inline uint8_t wf_syndrome_make(enum wf_syndrome kind, uint8_t value)
{
	return (uint8_t)((unsigned)kind | (value & 0x1f));
}

/* How many requests the credits of an ACK allow; code is its value, not WF_CREDITS_INVALID. */
uint32_t wf_credits_count(uint8_t code);

/* The code for n credits, rounded down. */
uint8_t wf_credits_code(uint32_t n);

/* How long the value of an RNR NAK asks the requester to wait. */
wf_time wf_rnr_wait(uint8_t value);

#endif
