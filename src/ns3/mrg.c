/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mrg.c - MRG32k3a.
 *
 * A step is a product of a matrix and the state, so many steps are one product with a power of that
 * matrix, which repeated squaring gives.
 */
#include "ns3/mrg.h"

#include <assert.h>
#include <string.h>

#define STREAM_BITS 127
#define SUBSTREAM_BITS 76

#define A12 UINT64_C(1403580)
#define A13_NEG UINT64_C(810728)
#define A21 UINT64_C(527612)
#define A23_NEG UINT64_C(1370589)

static const struct wf_mrg_matrix step1 = {
	{ { 0, 1, 0 }, { 0, 0, 1 }, { WF_MRG_M1 - A13_NEG, A12, 0 } },
};
static const struct wf_mrg_matrix step2 = {
	{ { 0, 1, 0 }, { 0, 0, 1 }, { WF_MRG_M2 - A23_NEG, 0, A21 } },
};

static struct wf_mrg_matrix square(const struct wf_mrg_matrix *a, uint64_t m)
{
	struct wf_mrg_matrix b;

	for (unsigned i = 0; i < 3; i++) {
		for (unsigned k = 0; k < 3; k++) {
			unsigned __int128 sum = 0;

			for (unsigned j = 0; j < 3; j++)
				sum += a->at[i][j] * a->at[j][k];
			b.at[i][k] = (uint64_t)(sum % m);
		}
	}
	return b;
}

static void apply(const struct wf_mrg_matrix *a, uint64_t v[3], uint64_t m)
{
	uint64_t w[3];

	for (unsigned i = 0; i < 3; i++) {
		unsigned __int128 sum = 0;

		for (unsigned j = 0; j < 3; j++)
			sum += a->at[i][j] * v[j];
		w[i] = (uint64_t)(sum % m);
	}
	memcpy(v, w, sizeof(w));
}

/* a^(2^bits) */
static struct wf_mrg_matrix power(struct wf_mrg_matrix a, uint64_t m, unsigned bits)
{
	for (unsigned i = 0; i < bits; i++)
		a = square(&a, m);
	return a;
}

/* Takes v, whose step is a, n times 2^bits steps on. */
static void jump(struct wf_mrg_matrix a, uint64_t v[3], uint64_t m, uint64_t n, unsigned bits)
{
	for (a = power(a, m, bits); n != 0; n >>= 1) {
		if (n & 1)
			apply(&a, v, m);
		a = square(&a, m);
	}
}

void wf_mrg_init(struct wf_mrg *mrg, uint32_t seed, uint64_t stream, uint64_t substream)
{
	assert(seed != 0);
	for (unsigned i = 0; i < 3; i++) {
		mrg->x[i] = seed % WF_MRG_M1;
		mrg->y[i] = seed % WF_MRG_M2;
	}
	jump(step1, mrg->x, WF_MRG_M1, stream, STREAM_BITS);
	jump(step1, mrg->x, WF_MRG_M1, substream, SUBSTREAM_BITS);
	jump(step2, mrg->y, WF_MRG_M2, stream, STREAM_BITS);
	jump(step2, mrg->y, WF_MRG_M2, substream, SUBSTREAM_BITS);
}

void wf_mrg_row_init(struct wf_mrg_row *row, uint32_t seed, uint64_t stream, uint64_t substream)
{
	wf_mrg_init(&row->start, seed, stream, substream);
	row->next_x = power(step1, WF_MRG_M1, STREAM_BITS);
	row->next_y = power(step2, WF_MRG_M2, STREAM_BITS);
}

uint32_t wf_mrg_row_next(struct wf_mrg_row *row)
{
	struct wf_mrg stream = row->start;

	apply(&row->next_x, row->start.x, WF_MRG_M1);
	apply(&row->next_y, row->start.y, WF_MRG_M2);
	return wf_mrg_next(&stream);
}

uint32_t wf_mrg_next(struct wf_mrg *mrg)
{
	uint64_t x = (A12 * mrg->x[1] + A13_NEG * (WF_MRG_M1 - mrg->x[0])) % WF_MRG_M1;
	uint64_t y = (A21 * mrg->y[2] + A23_NEG * (WF_MRG_M2 - mrg->y[0])) % WF_MRG_M2;

	assert(x < WF_MRG_M1 && y < WF_MRG_M2);
	mrg->x[0] = mrg->x[1];
	mrg->x[1] = mrg->x[2];
	mrg->x[2] = x;
	mrg->y[0] = mrg->y[1];
	mrg->y[1] = mrg->y[2];
	mrg->y[2] = y;
	return (uint32_t)(x > y ? x - y : x + WF_MRG_M1 - y);
}
