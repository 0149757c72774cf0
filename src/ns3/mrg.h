/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mrg.h - MRG32k3a, a random generator with streams (L'Ecuyer, Operations Research 47(1), 1999).
 *
 * Its period of 2^191 is cut into streams of 2^127 numbers, and these into substreams of 2^76. It
 * draws in sequence, which weft's own draws (rng.h) do not: it is for what has to draw the very
 * numbers that ns-3 draws, where stream is ns-3's and the substream is its RngRun.
 */
#ifndef WF_NS3_MRG_H
#define WF_NS3_MRG_H

#include <stdint.h>

#define WF_MRG_M1 UINT64_C(4294967087)
#define WF_MRG_M2 UINT64_C(4294944443)

struct wf_mrg {
	uint64_t x[3], y[3]; /* the last three of each of two sequences, modulo M1 and M2 */
};

struct wf_mrg_matrix {
	uint64_t at[3][3];
};

/* The first numbers of streams that follow one another. */
struct wf_mrg_row {
	struct wf_mrg start; /* of the stream whose turn it is */
	struct wf_mrg_matrix next_x, next_y;
};

/* Sets mrg to the start of a substream of a stream of the sequence in which all six are seed. */
void wf_mrg_init(struct wf_mrg *mrg, uint32_t seed, uint64_t stream, uint64_t substream);

/* The next number, from 1 to M1, all of them as likely. */
uint32_t wf_mrg_next(struct wf_mrg *mrg);

/* The same for a row that begins with a stream. */
void wf_mrg_row_init(struct wf_mrg_row *row, uint32_t seed, uint64_t stream, uint64_t substream);

/* The first number of the stream whose turn it is; then it is the next one's. */
uint32_t wf_mrg_row_next(struct wf_mrg_row *row);

#endif
