/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - who has which address. */
#include <assert.h>
#include <string.h>

#include "live/proto.h"
#include "wire/byte.h"

int wf_live_gid(const struct wf_live_table *t, uint32_t host, uint32_t index, uint8_t gid[16])
{
	static const uint8_t v4_mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };
	static const uint8_t none[16];
	const struct wf_live_host *h = &t->host[host];

	if (host >= t->n_hosts || (t->layer != WF_LIVE_ROCE && index != WF_LIVE_GID_LOCAL))
		return 0;
	switch (index >= WF_LIVE_GID_ROCE1 ? index - WF_LIVE_GID_ROCE1 : index) {
	case WF_LIVE_GID_LOCAL:
		memcpy(gid, h->link_local, sizeof(h->link_local));
		return 1;
	case WF_LIVE_GID_IPV4:
		memcpy(gid, v4_mapped, sizeof(v4_mapped));
		wf_be32_put(gid + 12, h->ipv4);
		return 1;
	case WF_LIVE_GID_IPV6:
		memcpy(gid, h->ipv6, sizeof(h->ipv6));
		return memcmp(gid, none, sizeof(none)) != 0;
	default:
		return 0;
	}
}

enum wf_live_gid_index wf_live_source(const uint8_t gid[16])
{
	if (wf_live_is_ipv4(gid))
		return WF_LIVE_GID_IPV4;
	/* fe80::/10, and groups of the link. */
	if ((gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80) || (gid[0] == 0xff && (gid[1] & 0xf) <= 2))
		return WF_LIVE_GID_LOCAL;
	return WF_LIVE_GID_IPV6;
}

int wf_live_host_of_gid(const struct wf_live_table *t, const uint8_t gid[16])
{
	uint8_t other[16];

	assert(t->n_hosts <= WF_LIVE_MAX_HOSTS);
	for (uint32_t h = 0; h < t->n_hosts; h++) {
		for (uint32_t i = 0; i < WF_LIVE_GIDS; i++) {
			if (wf_live_gid(t, h, i, other) && memcmp(gid, other, sizeof(other)) == 0)
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
