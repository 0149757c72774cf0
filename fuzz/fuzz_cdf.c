/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_cdf.c - any bytes as a distribution of sizes; what is accepted can be drawn from.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "sim/traffic/traffic.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wf_err err = { "" };
	struct wf_cdf cdf;

	if (wf_cdf_parse((const char *)data, size, "fuzz.txt", &cdf, &err) != 0) {
		assert(err.text[0] != '\0');
		return 0;
	}
	assert(wf_cdf_mean(&cdf) >= 1);
	for (uint64_t i = 0; i < 64; i++) {
		uint64_t drawn = wf_cdf_draw(&cdf, wf_rand64(1, i));

		assert(drawn >= 1);
		assert(drawn == 1 || drawn <= cdf.point[cdf.n - 1].size);
	}
	return 0;
}
