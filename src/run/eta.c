/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eta.c - speed, percent and time left.
 */
#include "run/eta.h"

#include <inttypes.h>
#include <stdio.h>

#define KNOWN 0.01        /* of the whole, before which the rest is not guessed */
#define SETTLED 500000000 /* ns, likewise */

static size_t put_speed(uint64_t spent, uint64_t hops, char *buf, size_t size)
{
	double speed = spent > 0 ? (double)hops * 1e9 / (double)spent : 0;

	if (speed >= 1e6)
		return (size_t)snprintf(buf, size, "%.1f million packet-hops/s, ", speed / 1e6);
	if (speed >= 1e3)
		return (size_t)snprintf(buf, size, "%.0f,000 packet-hops/s, ", speed / 1e3);
	return 0;
}

static void put_left(double seconds, char *buf, size_t size)
{
	uint64_t s = (uint64_t)(seconds + 0.5);

	if (s < 90)
		snprintf(buf, size, ", %" PRIu64 " s left", s);
	else if (s < 5400)
		snprintf(buf, size, ", %" PRIu64 " min left", (s + 30) / 60);
	else
		snprintf(buf, size, ", %" PRIu64 " h %" PRIu64 " min left", s / 3600,
		         s % 3600 / 60);
}

void wf_eta_text(uint64_t spent, double share, uint64_t hops, char *buf, size_t size)
{
	size_t n = put_speed(spent, hops, buf, size);

	n += (size_t)snprintf(buf + n, size - n, "%u %%", (unsigned)(share * 100));
	if (share >= KNOWN && share < 1 && spent >= SETTLED)
		put_left((double)spent / 1e9 * (1 - share) / share, buf + n, size - n);
}
