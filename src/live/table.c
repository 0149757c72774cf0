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
		unsigned lmc = t->managed != 0 ? t->host[h].ib.lmc : 0;

		if (t->host[h].lid != 0 && t->host[h].lid >> lmc == lid >> lmc)
			return (int)h;
	}
	return -1;
}

/* The place of a key's partition among keys, where they let each other in; -1: there is none. */
static int find_partition(const uint16_t pkeys[WF_LIVE_PKEYS], uint16_t pkey)
{
	for (int i = 0; i < WF_LIVE_PKEYS; i++) {
		if (((pkeys[i] ^ pkey) & 0x7fff) == 0 && ((pkeys[i] | pkey) & 0x8000) != 0)
			return i;
	}
	return -1;
}

uint16_t wf_live_common_pkey(const struct wf_live_table *t, uint32_t host, uint32_t peer,
                             uint32_t *index_p)
{
	uint16_t pkeys[2][WF_LIVE_PKEYS];
	bool mine = host < peer;

	*index_p = 0;
	if (t->managed == 0 || peer >= t->n_hosts)
		return WF_PKEY_DEFAULT;
	wf_live_pkeys(t, mine ? host : peer, pkeys[0]);
	wf_live_pkeys(t, mine ? peer : host, pkeys[1]);
	for (int i = 0; i < WF_LIVE_PKEYS; i++) {
		int k = (pkeys[0][i] & 0x7fff) == 0 ? -1 : find_partition(pkeys[1], pkeys[0][i]);

		if (k < 0)
			continue;
		*index_p = (uint32_t)(mine ? i : k);
		return pkeys[mine ? 0 : 1][*index_p];
	}
	return 0;
}

unsigned wf_live_port_state(const struct wf_live_table *t, uint32_t host)
{
	if (t->managed != 0)
		return t->host[host].ib.state;
	return t->host[host].down != 0 ? 1 : WF_LIVE_PORT_ACTIVE;
}

void wf_live_pkeys(const struct wf_live_table *t, uint32_t host, uint16_t pkeys[WF_LIVE_PKEYS])
{
	for (unsigned i = 0; i < WF_LIVE_PKEYS; i++)
		pkeys[i] = t->managed != 0 ? t->host[host].ib.pkey[i] : 0;
	if (t->managed == 0)
		pkeys[0] = WF_PKEY_DEFAULT;
}
