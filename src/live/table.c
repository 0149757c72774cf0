/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - who has which address. */
#include <string.h>

#include "live/proto.h"
#include "wire/byte.h"

int wf_live_gid(const struct wf_live_table *t, uint32_t host, uint32_t index, uint8_t gid[16])
{
	static const uint8_t v4_mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };
	const struct wf_live_host *h = &t->host[host];

	if (host >= t->n_hosts || index >= (t->layer == WF_LIVE_ROCE ? WF_LIVE_GIDS : 1))
		return 0;
	if (index == 0) {
		wf_be64_put(gid, t->prefix);
		wf_be64_put(gid + 8, h->guid);
	} else {
		memcpy(gid, v4_mapped, sizeof(v4_mapped));
		wf_be32_put(gid + 12, h->ipv4);
	}
	return 1;
}

int wf_live_host_of_gid(const struct wf_live_table *t, const uint8_t gid[16])
{
	uint8_t other[16];

	for (uint32_t h = 0; h < t->n_hosts; h++) {
		for (uint32_t i = 0; wf_live_gid(t, h, i, other); i++) {
			if (memcmp(gid, other, sizeof(other)) == 0)
				return (int)h;
		}
	}
	return -1;
}

int wf_live_host_of_lid(const struct wf_live_table *t, uint16_t lid)
{
	for (uint32_t h = 0; h < t->n_hosts; h++) {
		if (t->host[h].lid == lid && lid != 0)
			return (int)h;
	}
	return -1;
}
