/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fec.h - what a link's forward error correction makes of its raw bit errors.
 *
 * A code mends a codeword with few errors and gives up one with more; all frames that have a part
 * in it are then lost. Bit errors are taken to be independent. How likely that is is computed when
 * a setup is compiled, in integers, so that it is the same on every machine.
 */
#ifndef WF_FABRIC_FEC_H
#define WF_FABRIC_FEC_H

#include "base/base.h"

#define WF_FEC_SPAN 260 /* codewords that the largest packet may touch, and one more */

struct wf_fec_code {
	const char *name;  /* link.fec */
	const char *title; /* for people */
	uint32_t symbols;  /* of a codeword; 0: there is no code */
	uint32_t bits;     /* of a symbol */
	uint32_t mends;    /* symbols; firecode: bits, of one burst */
	uint32_t bytes;    /* of frames in a codeword */
	uint32_t together; /* codewords that are interleaved: if one is given up, all are */
	/*
	 * Raw bit errors per 10^18 up to which frames are lost as rarely as the standard asks for.
	 */
	uint64_t limit;
};

/* All codes; ends with a name that is NULL. */
extern const struct wf_fec_code wf_fec_codes[];

/* The one called name, or NULL. */
const struct wf_fec_code *wf_fec_find(const char *name);

/* What a code makes of a raw bit error rate. Chances are in units of 2^-64. */
struct wf_fec {
	const struct wf_fec_code *code;
	uint32_t bytes;             /* of frames that are lost together; 0: no code, or no errors */
	uint64_t lost[WF_FEC_SPAN]; /* that one of n groups of codewords is given up */
	/* Of a codeword: */
	uint64_t mended;  /* the chance that it has errors and is mended */
	uint64_t symbols; /* mean number of symbols mended, units of 2^-56 */
	uint64_t flips;   /* mean number of bits mended, units of 2^-56 */
};

/* Computes all of it for a raw bit error rate, errors per 10^18 bits. */
void wf_fec_compile(const struct wf_fec_code *code, uint64_t raw_ber, struct wf_fec *fec);

/*
 * The chance, in units of 2^-64, that a packet of bytes, gap included, is in a group of codewords
 * that is given up. Where in a group it begins is chance as well: of n groups it touches one more
 * with the chance that its bytes beyond whole groups have of crossing an end.
 */
static inline uint64_t wf_fec_chance(const struct wf_fec *fec, uint32_t bytes)
{
	uint32_t whole, rest;
	uint64_t low, high;

	if (fec->bytes == 0 || bytes == 0)
		return 0;
	whole = (bytes - 1) / fec->bytes;
	rest = (bytes - 1) % fec->bytes;
	low = fec->lost[whole + 1];
	high = fec->lost[whole + 2];
	return low + (uint64_t)((unsigned __int128)(high - low) * rest / fec->bytes);
}

#endif
