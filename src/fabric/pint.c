/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pint.c - the utilisation of a port, and its code.
 *
 * A port's utilisation is an average over a round trip T, brought up to date when a packet with
 * telemetry leaves: with dt since the packet before, of which the port sent the bytes in that time,
 *
 *	u = u * (1 - dt / T) + bytes / (rate * T) + queue * dt / (rate * T^2)
 *
 * Code k stands for base^k / 512. A utilisation between two codes becomes one of them at random, so
 * that its mean is right.
 */
#include <errno.h>

#include "base/mem.h"
#include "fabric/telemetry.h"

#define ONE 512         /* 1 / the utilisation of code 0 */
#define MAX_CODES 2048  /* base 1.0061 and up */
#define TOP (ONE * ONE) /* the largest utilisation, in 1 / ONE */

int wf_pint_init(struct wf_pint *pint, const struct wf_fabric_cfg *cfg, struct wf_mem *mem,
                 struct wf_err *err)
{
	uint64_t v = UINT64_C(1) << 32;
	uint32_t n = 0;

	pint->rtt = (uint64_t)cfg->pint_rtt;
	pint->value = mem->alloc(mem, MAX_CODES * sizeof(*pint->value));
	if (pint->value == NULL)
		return -ENOMEM;
	while (n < MAX_CODES) {
		pint->value[n++] = v;
		if (v >> 32 > TOP)
			break;
		v = (uint64_t)((unsigned __int128)v * cfg->pint_base >> 16);
	}
	pint->codes = n;
	if (pint->value[n - 1] >> 32 <= TOP)
		return wf_err_say(err,
		                  "switch.pint_base: too small; more than %d codes would be "
		                  "needed",
		                  MAX_CODES);
	return 0;
}

void wf_pint_fini(struct wf_pint *pint, struct wf_mem *mem)
{
	if (pint->value == NULL)
		return;
	mem->free(mem, pint->value);
	pint->value = NULL;
}

uint64_t wf_pint_decode(const struct wf_pint *pint, uint32_t code)
{
	return pint->value[wf_min_u64(code, pint->codes - 1)] / ONE;
}

uint32_t wf_pint_encode(const struct wf_pint *pint, uint64_t u, uint64_t random)
{
	/* In whole 1 / 512, rounded up, so that the least is code 0. */
	uint64_t x = (uint64_t)(((unsigned __int128)u * ONE + UINT32_MAX) >> 32);
	uint32_t low = 0, high = pint->codes - 1;
	uint64_t up;

	x = wf_min_u64(wf_max_u64(x, 1), TOP) << 32;
	while (high - low > 1) {
		uint32_t middle = (low + high) / 2;

		if (pint->value[middle] <= x)
			low = middle;
		else
			high = middle;
	}
	up = (uint64_t)(((unsigned __int128)(x - pint->value[low]) << 32) /
	                (pint->value[high] - pint->value[low]));
	return random >> 32 < up ? high : low;
}

uint64_t wf_pint_use(const struct wf_pint *pint, struct wf_port *out, uint64_t queued, wf_time at)
{
	uint64_t rtt = pint->rtt;
	uint64_t dt = wf_min_u64((uint64_t)(at - out->last_left), rtt);
	unsigned __int128 sent = (unsigned __int128)out->last_bytes * out->per_byte
	                         << (32 - WF_RATE_SHIFT);
	unsigned __int128 waits = (unsigned __int128)queued * out->per_byte << (32 - WF_RATE_SHIFT);
	unsigned __int128 u = (unsigned __int128)out->use * (rtt - dt) / rtt + sent / rtt;

	u += waits / rtt * dt / rtt;
	out->use = wf_min_u64(u >> 63 != 0 ? UINT64_MAX : (uint64_t)u, UINT64_C(1) << 42);
	return out->use;
}
