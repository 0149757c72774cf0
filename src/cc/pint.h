/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pint.h - a utilisation in a byte.
 *
 * Ben Basat et al., "PINT: Probabilistic In-band Network Telemetry", SIGCOMM 2020: a switch puts the
 * logarithm of its port's utilisation into the packet, if it is more than what the packet already
 * carries, rounded up or down at random so that its mean is right. 16 codes an octave (4.4 % apart)
 * cover 1/256 to 256.
 */
#ifndef WF_CC_PINT_H
#define WF_CC_PINT_H

#include <stdint.h>

/* The code of u (Q32), with 64 random bits: the one below or the one above it. */
uint8_t wf_pint_encode(uint64_t u, uint64_t random);

/* The utilisation that a code stands for, Q32. */
uint64_t wf_pint_decode(uint8_t code);

#endif
