/* SPDX-License-Identifier: Apache-2.0 */
/* nic_tap.c - hands copies of packets to those who capture. */
#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

#include "live/nic_priv.h"
#include "live/tap.h"

struct wf_nic_tap {
	struct wf_tap tap;
	uint32_t capture; /* its number with the daemon */
	uint32_t snaplen;
};

/* Whom the packet is from or to, as the other process can understand it. */
static void name_ends(struct wf_nic *nic, struct wf_packet *pkt, struct wf_tap_note *note)
{
	uint32_t *other = note->sent ? &pkt->dst : &pkt->src;
	const struct wf_nic_group *g;

	if (note->sent)
		pkt->src = nic->host;
	if ((pkt->dst & WF_LIVE_GROUP) != 0) {
		g = wf_nic_group(nic, pkt->dst);
		note->multicast = 1;
		if (g != NULL)
			memcpy(note->group, g->gid, sizeof(note->group));
	} else if ((*other & WF_LIVE_REMOTE) != 0) {
		note->outside = wf_nic_gid_known(nic, *other, 0, note->group);
	}
}

void wf_nic_tap(struct wf_nic *nic, const struct wf_packet *pkt, const void *payload,
                uint32_t bytes, bool sent)
{
	/* Its own time, not the round's: what one sent is taken in later. */
	struct wf_tap_note note = { .at = (wf_nic_now(nic) + nic->start) / WF_NS, .sent = sent };
	struct wf_packet copy = *pkt;

	assert(nic->locked && nic->n_taps <= WF_LIVE_CAPTURES);
	name_ends(nic, &copy, &note);
	for (uint32_t i = 0; i < nic->n_taps; i++) {
		struct wf_nic_tap *t = nic->taps[i];

		wf_tap_put(&t->tap, &copy, &note, payload, (uint32_t)wf_min_u64(bytes, t->snaplen));
	}
}

void wf_nic_tap_add(struct wf_nic *nic, uint32_t capture, uint32_t snaplen, int fd)
{
	struct wf_nic_tap *t = nic->n_taps < WF_LIVE_CAPTURES ? calloc(1, sizeof(*t)) : NULL;

	if (t == NULL || wf_tap_open(&t->tap, fd) != 0) {
		free(t);
	} else {
		t->capture = capture;
		t->snaplen = snaplen;
		nic->taps[nic->n_taps++] = t;
		atomic_store_explicit(&t->tap.shared->ready, 1, memory_order_release);
	}
	close(fd);
}

void wf_nic_tap_remove(struct wf_nic *nic, uint32_t capture)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < nic->n_taps; i++) {
		struct wf_nic_tap *t = nic->taps[i];

		if (t->capture != capture && capture != WF_LIVE_ALL) {
			nic->taps[kept++] = t;
			continue;
		}
		wf_tap_close(&t->tap);
		free(t);
	}
	assert(kept <= nic->n_taps && (capture != WF_LIVE_ALL || kept == 0));
	nic->n_taps = kept;
}
