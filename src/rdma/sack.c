/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sack.c - selective repeat at whoever sends: what is known of each packet that is not
 * acknowledged.
 *
 *	          sent               reported received
 *	(none) ---------> in flight ------------------> received --+
 *	                   |   ^ sent again               ^        | una passes it
 *	    trimmed, a gap,|   |                          |        v
 *	    or too long    +-> lost ----------------------+      (none)
 *
 * Only packets in flight count against the congestion window. A packet that was sent again because
 * the first copy is known not to have come (trimmed, or a gap on a path that keeps the order) has a
 * time like any other: the answer is to the second. After a timeout nobody can say which of the two
 * copies an answer is to, and it has none (Karn's rule).
 *
 * The ring holds the packets from una on, and grows with them; what it does not reach is not known.
 */
#include <assert.h>
#include <string.h>

#include "rdma/psn.h"
#include "rdma/sack_priv.h"

static struct wf_sent *find(const struct wf_flight *f, uint32_t psn)
{
	if (f->ring == NULL || (uint32_t)wf_psn_diff(psn, f->una) > f->mask)
		return NULL;
	return &f->ring[psn & f->mask];
}

bool wf_sack_reach(struct wf_hca *hca, struct wf_flight *f, uint32_t psn)
{
	uint32_t ahead = (uint32_t)wf_psn_diff(psn, f->una), n = WF_ROOM_LEAST;
	struct wf_sent *ring;

	if (wf_likely(f->ring != NULL && ahead <= f->mask))
		return true;
	if (ahead >= WF_ROOM_MOST)
		return false;
	while (n <= ahead)
		n *= 2;
	ring = wf_room_get(hca, WF_ROOM_SENT, n);
	if (ring == NULL)
		return false;
	for (uint32_t i = 0; f->ring != NULL && i <= f->mask; i++) {
		uint32_t p = wf_psn_add(f->una, i);

		ring[p & (n - 1)] = f->ring[p & f->mask];
	}
	wf_sack_clear(hca, f);
	f->ring = ring;
	f->mask = n - 1;
	return true;
}

void wf_sack_clear(struct wf_hca *hca, struct wf_flight *f)
{
	if (f->ring == NULL)
		return;
	memset(f->ring, 0, ((size_t)f->mask + 1) * sizeof(*f->ring));
	wf_room_put(hca, WF_ROOM_SENT, f->ring, f->mask + 1);
	f->ring = NULL;
	f->mask = 0;
}

void wf_sack_rest(struct wf_hca *hca, struct wf_flight *f)
{
	if (f->ring == NULL || f->una != f->next)
		return;
	assert((f->inflight | f->n_lost) == 0);
	/* Every place was emptied as una passed it. */
	wf_room_put(hca, WF_ROOM_SENT, f->ring, f->mask + 1);
	f->ring = NULL;
	f->mask = 0;
}

void wf_sack_start(struct wf_flight *f, uint32_t psn)
{
	assert(f->ring == NULL);
	f->una = f->next = f->high = f->mark = f->doubt = f->rtx = psn;
	f->inflight = 0;
	f->n_lost = f->untold = 0;
}

static void land(struct wf_flight *f, const struct wf_sent *s)
{
	if ((s->flags & WF_SENT_OUT) == 0)
		return;
	assert(f->inflight >= s->bytes);
	f->inflight -= s->bytes;
}

static void unlose(struct wf_flight *f, struct wf_sent *s)
{
	if ((s->flags & WF_SENT_LOST) == 0)
		return;
	assert(f->n_lost > 0);
	f->n_lost--;
	s->flags &= (uint8_t)~WF_SENT_LOST;
}

bool wf_sack_received(const struct wf_flight *f, uint32_t psn)
{
	const struct wf_sent *s = find(f, psn);

	return s != NULL && (s->flags & WF_SENT_GOT) != 0;
}

bool wf_sack_is_out(const struct wf_flight *f, uint32_t psn)
{
	const struct wf_sent *s = find(f, psn);

	return s != NULL && (s->flags & WF_SENT_OUT) != 0;
}

void wf_sack_sent(struct wf_flight *f, uint32_t psn, uint32_t bytes, bool again, wf_time now)
{
	struct wf_sent *s = find(f, psn);

	assert(s != NULL);
	unlose(f, s);
	land(f, s);
	s->bytes = (uint16_t)bytes;
	s->at = wf_psn_diff(psn, f->doubt) < 0 ? WF_TIME_NEVER : now;
	s->flags &= (uint8_t)~WF_SENT_GOT;
	s->flags |= WF_SENT_OUT | (again ? WF_SENT_AGAIN : 0);
	f->inflight += bytes;
}

void wf_sack_unlose(struct wf_flight *f, uint32_t from, uint32_t last)
{
	struct wf_sent *s;

	while (f->n_lost != 0 && wf_psn_diff(last, from) >= 0 && (s = find(f, from)) != NULL) {
		unlose(f, s);
		from = wf_psn_add(from, 1);
	}
}

void wf_sack_recall(struct wf_flight *f, uint32_t from, uint32_t last)
{
	struct wf_sent *s;

	if (wf_psn_diff(f->una, from) > 0)
		from = f->una;
	while (wf_psn_diff(last, from) >= 0 && (s = find(f, from)) != NULL) {
		unlose(f, s);
		land(f, s);
		s->flags &= (uint8_t)~WF_SENT_OUT;
		from = wf_psn_add(from, 1);
	}
}

void wf_sack_note(struct wf_flight *f, uint32_t psn, uint8_t flag)
{
	struct wf_sent *s = find(f, psn);

	assert(s != NULL);
	if ((s->flags & (WF_SENT_TELL | WF_SENT_CUT)) == 0 &&
	    (f->untold++ == 0 || wf_psn_diff(psn, f->tell) < 0))
		f->tell = psn;
	s->flags = (uint8_t)((s->flags & ~(WF_SENT_TELL | WF_SENT_CUT)) | flag);
}

bool wf_sack_told(struct wf_flight *f, uint32_t *psn_p, uint8_t *flag_p)
{
	if (wf_psn_diff(f->una, f->tell) > 0)
		f->tell = f->una;
	for (; f->untold != 0; f->tell = wf_psn_add(f->tell, 1)) {
		struct wf_sent *s = find(f, f->tell);

		*flag_p = s->flags & (WF_SENT_TELL | WF_SENT_CUT);
		if (*flag_p == 0)
			continue;
		*psn_p = f->tell;
		s->flags &= (uint8_t) ~(WF_SENT_TELL | WF_SENT_CUT);
		f->untold--;
		return true;
	}
	return false;
}

uint32_t wf_sack_take(struct wf_flight *f, uint32_t psn)
{
	struct wf_sent *s = find(f, psn);

	if (s == NULL || (s->flags & WF_SENT_GOT) != 0)
		return 0;
	/* Of a READ only the request's own PSN was ever sent. */
	if ((s->flags & (WF_SENT_OUT | WF_SENT_LOST)) != 0)
		f->newest_at = s->at;
	unlose(f, s);
	land(f, s);
	s->flags = (uint8_t)((s->flags & ~WF_SENT_OUT) | WF_SENT_GOT);
	return s->bytes;
}

uint32_t wf_sack_pass(struct wf_flight *f)
{
	struct wf_sent *s = &f->ring[f->una & f->mask];
	uint32_t bytes = wf_sack_take(f, f->una);

	/* una tells that it came. */
	if ((s->flags & (WF_SENT_TELL | WF_SENT_CUT)) != 0)
		f->untold--;
	memset(s, 0, sizeof(*s));
	f->una = wf_psn_add(f->una, 1);
	return bytes;
}

void wf_sack_forget(struct wf_flight *f, uint32_t psn)
{
	struct wf_sent *s = find(f, psn);

	if (s == NULL || (s->flags & WF_SENT_GOT) == 0)
		return;
	s->flags = (uint8_t)((s->flags & ~WF_SENT_GOT) | WF_SENT_OUT);
	f->inflight += s->bytes;
}

bool wf_sack_lose(struct wf_flight *f, uint32_t psn)
{
	struct wf_sent *s = find(f, psn);

	if (s == NULL || (s->flags & (WF_SENT_GOT | WF_SENT_LOST)) != 0)
		return false;
	if ((s->flags & WF_SENT_OUT) == 0)
		s->at = WF_TIME_NEVER;
	land(f, s);
	s->flags = (uint8_t)((s->flags & ~WF_SENT_OUT) | WF_SENT_LOST);
	if (f->n_lost++ == 0 || wf_psn_diff(psn, f->rtx) < 0)
		f->rtx = psn;
	return true;
}

bool wf_sack_was_repeated(const struct wf_flight *f, uint32_t psn)
{
	const struct wf_sent *s = find(f, psn);

	return s != NULL && (s->flags & WF_SENT_AGAIN) != 0;
}

bool wf_sack_next(struct wf_flight *f, uint32_t *psn_p)
{
	if (wf_psn_diff(f->una, f->rtx) > 0)
		f->rtx = f->una;
	for (; f->n_lost != 0; f->rtx = wf_psn_add(f->rtx, 1)) {
		assert(wf_psn_diff(f->next, f->rtx) > 0);
		if ((find(f, f->rtx)->flags & WF_SENT_LOST) == 0)
			continue;
		*psn_p = f->rtx;
		return true;
	}
	return false;
}
