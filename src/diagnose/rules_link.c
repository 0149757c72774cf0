/* SPDX-License-Identifier: Apache-2.0 */
/* rules_link.c - links: errors, margins, up and down, MTU; loops; counters that are full. */
#include "diagnose/diagnose_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAMED 6     /* ports with a finding of their own; the rest is counted */
#define OFTEN 10    /* times down, over a time that nobody knows */
#define BER_LIMIT 2 /* times 1e-5: raw errors of a link that is far from good */

static uint64_t of(const struct wf_diag *c, uint32_t p, enum wf_ev_counter counter)
{
	uint64_t v = 0;

	return wf_evidence_sum(c->ev, p, counter, &v) ? v : 0;
}

/* The port that has most of something below a limit, that has not been taken yet. */
static uint32_t next_most(const struct wf_diag *c,
                          uint64_t (*value)(const struct wf_diag *, uint32_t), uint64_t below,
                          uint32_t behind)
{
	uint32_t best = WF_EV_NONE;
	uint64_t most = 0;

	for (uint32_t p = 0; p < c->ev->n_ports; p++) {
		uint64_t v = value(c, p);
		bool left = v < below || (v == below && behind != WF_EV_NONE && p > behind);

		if (!left || v <= most)
			continue;
		most = v;
		best = p;
	}
	return best;
}

static unsigned how_many(const struct wf_diag *c,
                         uint64_t (*value)(const struct wf_diag *, uint32_t))
{
	unsigned n = 0;

	for (uint32_t p = 0; p < c->ev->n_ports; p++)
		n += value(c, p) > 0;
	return n;
}

/* ---- MTU, loops ---- */

static uint64_t too_long(const struct wf_diag *c, uint32_t p)
{
	return of(c, p, WF_EV_drops_mtu);
}

static uint64_t circled(const struct wf_diag *c, uint32_t p)
{
	return of(c, p, WF_EV_drops_hops);
}

static void say_most(struct wf_diag *c, uint64_t (*value)(const struct wf_diag *, uint32_t),
                     enum wf_ev_counter counter, const char *text)
{
	uint32_t p = next_most(c, value, UINT64_MAX, WF_EV_NONE);
	unsigned n = how_many(c, value);
	char where[WF_DIAG_WHERE], count[WF_HUMAN], others[40] = "";
	struct wf_found *f;

	if (p == WF_EV_NONE)
		return;
	wf_diag_where(c, p, where);
	wf_human_count(value(c, p), count, sizeof(count));
	if (n > 1)
		snprintf(others, sizeof(others), ", and %u other ports some", n - 1);
	f = wf_diag_find(c, WF_SEVERITY_ERROR, p, WF_EV_NO_QUEUE, "%s lost %s packets %s%s", where,
	                 count, text, others);
	wf_diag_stand_all(c, f, p, counter);
}

void wf_diag_mtu(struct wf_diag *c)
{
	say_most(c, too_long, WF_EV_drops_mtu, "that are larger than it passes");
}

void wf_diag_loop(struct wf_diag *c)
{
	say_most(c, circled, WF_EV_drops_hops, "that had passed too many switches");
}

/* ---- up and down ---- */

/* A link counts once: what either end says. */
static uint64_t downs(const struct wf_diag *c, uint32_t p)
{
	uint32_t peer = c->ev->ports[p].peer;
	uint64_t mine = of(c, p, WF_EV_link_downed);

	if (peer == WF_EV_NONE)
		return mine;
	return peer > p ? wf_max_u64(mine, of(c, peer, WF_EV_link_downed)) : 0;
}

/* All links of a switch were down. */
static bool is_dead(const struct wf_diag *c, uint32_t device)
{
	const struct wf_ev_device *d = &c->ev->devices[device];
	unsigned n = 0;

	if (d->kind != WF_EV_SWITCH || !c->links)
		return false;
	for (uint32_t p = d->first_port; p != WF_EV_NONE; p = c->ev->ports[p].next) {
		uint32_t peer = c->ev->ports[p].peer;

		if (peer == WF_EV_NONE)
			continue;
		n++;
		if (of(c, p, WF_EV_link_downed) + of(c, peer, WF_EV_link_downed) == 0)
			return false;
	}
	return n > 1;
}

static bool say_dead(struct wf_diag *c)
{
	bool any = false;

	for (uint32_t i = 0; i < c->ev->n_devices; i++) {
		struct wf_found *f;

		if (!is_dead(c, i))
			continue;
		any = true;
		f = wf_diag_find(c, WF_SEVERITY_ERROR, c->ev->devices[i].first_port, WF_EV_NO_QUEUE,
		                 "all %" PRIu32 " links of %s went down: the switch was away",
		                 c->ev->devices[i].n_ports, wf_diag_name(c, i));
		for (uint32_t p = c->ev->devices[i].first_port; p != WF_EV_NONE;
		     p = c->ev->ports[p].next)
			wf_diag_stand(c, f, p, WF_EV_NO_QUEUE, WF_EV_link_downed);
		c->d->hot[i] = true;
	}
	return any;
}

static void say_down(struct wf_diag *c, uint32_t p)
{
	uint64_t n = downs(c, p);
	bool flaps = c->span > 0 ? n > 1 : n >= OFTEN;
	char where[WF_DIAG_WHERE], count[WF_HUMAN];
	struct wf_found *f;

	wf_diag_where(c, p, where);
	wf_human_count(n, count, sizeof(count));
	f = wf_diag_find(c,
	                 flaps         ? WF_SEVERITY_ERROR
	                 : c->span > 0 ? WF_SEVERITY_WARNING
	                               : WF_SEVERITY_INFO,
	                 p, WF_EV_NO_QUEUE, "the link at %s went down %s time%s%s", where, count,
	                 n == 1 ? "" : "s", flaps ? ": it flaps" : "");
	wf_diag_stand(c, f, p, WF_EV_NO_QUEUE, WF_EV_link_downed);
	if (c->ev->ports[p].peer != WF_EV_NONE)
		wf_diag_stand(c, f, c->ev->ports[p].peer, WF_EV_NO_QUEUE, WF_EV_link_downed);
	wf_diag_stand(c, f, p, WF_EV_NO_QUEUE, WF_EV_tx_down);
	wf_diag_stand(c, f, p, WF_EV_NO_QUEUE, WF_EV_tx_discards);
}

void wf_diag_link_down(struct wf_diag *c)
{
	uint64_t below = UINT64_MAX;
	uint32_t p = WF_EV_NONE;

	if (say_dead(c))
		return;
	for (unsigned n = 0; n < NAMED; n++) {
		p = next_most(c, downs, below, p);
		if (p == WF_EV_NONE)
			return;
		below = downs(c, p);
		say_down(c, p);
	}
}

/* ---- errors ---- */

static uint64_t errors(const struct wf_diag *c, uint32_t p)
{
	static const enum wf_ev_counter counters[] = {
		WF_EV_drops_error,     WF_EV_symbol_errors,   WF_EV_if_in_errors,
		WF_EV_link_recoveries, WF_EV_local_integrity, WF_EV_icrc_errors,
	};
	uint64_t sum = 0;

	for (size_t i = 0; i < WF_ARRAY_SIZE(counters); i++)
		sum += wf_min_u64(of(c, p, counters[i]), UINT64_MAX / 16);
	return sum;
}

static bool has_margin(const struct wf_diag *c, uint32_t p)
{
	return wf_diag_has(c, "fec-margin", c->ev->ports[p].device) &&
	       of(c, p, WF_EV_fec_uncorrected) > 0;
}

static void say_errors(struct wf_diag *c, uint32_t p)
{
	uint32_t peer = c->ev->ports[p].peer;
	uint64_t lost = of(c, p, WF_EV_drops_error), symbols = of(c, p, WF_EV_symbol_errors);
	bool one_way = peer != WF_EV_NONE && errors(c, peer) == 0 &&
	               (c->ev->whole || c->ev->ports[peer].end > c->ev->ports[peer].first);
	char where[WF_DIAG_WHERE], n[WF_HUMAN];
	struct wf_found *f;

	wf_diag_where(c, p, where);
	wf_human_count(lost > 0 ? lost : symbols > 0 ? symbols : errors(c, p), n, sizeof(n));
	f = wf_diag_find(c, lost > 0 ? WF_SEVERITY_ERROR : WF_SEVERITY_WARNING, p, WF_EV_NO_QUEUE,
	                 "%s received %s %s with errors%s", where, n,
	                 lost == 0 && symbols > 0 ? "symbols" : "packets",
	                 one_way ? "; the other direction has none" : "");
	wf_diag_stand(c, f, p, WF_EV_NO_QUEUE, WF_EV_drops_error);
	wf_diag_stand(c, f, p, WF_EV_NO_QUEUE, WF_EV_symbol_errors);
	wf_diag_stand(c, f, p, WF_EV_NO_QUEUE, WF_EV_if_in_errors);
	wf_diag_stand(c, f, p, WF_EV_NO_QUEUE, WF_EV_link_recoveries);
	wf_diag_stand(c, f, p, WF_EV_NO_QUEUE, WF_EV_local_integrity);
	wf_diag_stand(c, f, p, WF_EV_NO_QUEUE, WF_EV_icrc_errors);
}

void wf_diag_link_errors(struct wf_diag *c)
{
	unsigned all = how_many(c, errors), said = 0;
	uint64_t below = UINT64_MAX;
	uint32_t p = WF_EV_NONE;

	for (unsigned n = 0; n < NAMED && n < all; n++) {
		p = next_most(c, errors, below, p);
		if (p == WF_EV_NONE)
			return;
		below = errors(c, p);
		if (has_margin(c, p))
			continue;
		say_errors(c, p);
		said++;
	}
	if (said > 0 && all > NAMED)
		(void)wf_diag_find(c, WF_SEVERITY_WARNING, WF_EV_NONE, WF_EV_NO_QUEUE,
		                   "%u more ports have errors, fewer than these", all - NAMED);
}

/* Bits that were mended, per 10^5 * 10^5 that came; 0: not known. */
static uint64_t raw_ber(const struct wf_diag *c, uint32_t p)
{
	uint64_t bits = of(c, p, WF_EV_fec_bits), all = of(c, p, WF_EV_phy_bits);
	unsigned __int128 came = all;

	if (bits == 0)
		bits = of(c, p, WF_EV_fec_symbols);
	if (came == 0 && c->span > 0)
		came = (unsigned __int128)c->ev->ports[p].rate * (uint64_t)c->span / WF_S;
	return came == 0 ? 0 : (uint64_t)((unsigned __int128)bits * 10000000000u / came);
}

static uint64_t unmended(const struct wf_diag *c, uint32_t p)
{
	return of(c, p, WF_EV_fec_uncorrected);
}

static void say_margin(struct wf_diag *c, uint32_t p, bool lost)
{
	char where[WF_DIAG_WHERE], n[WF_HUMAN], rate[60] = "";
	uint64_t ber = raw_ber(c, p);
	struct wf_found *f;

	wf_diag_where(c, p, where);
	wf_human_count(unmended(c, p), n, sizeof(n));
	if (ber > 0)
		snprintf(rate, sizeof(rate), ", of 10^10 bits %" PRIu64 " came wrong", ber);
	if (lost)
		f = wf_diag_find(c, WF_SEVERITY_ERROR, p, WF_EV_NO_QUEUE,
		                 "%s has more errors than its FEC can mend: %s blocks were lost%s",
		                 where, n, rate);
	else
		f = wf_diag_find(c, WF_SEVERITY_WARNING, p, WF_EV_NO_QUEUE,
		                 "%s is near the limit of its FEC%s; nothing is lost yet", where,
		                 rate);
	wf_diag_stand(c, f, p, WF_EV_NO_QUEUE, WF_EV_fec_uncorrected);
	wf_diag_stand(c, f, p, WF_EV_NO_QUEUE, WF_EV_fec_corrected);
	wf_diag_stand(c, f, p, WF_EV_NO_QUEUE, WF_EV_fec_symbols);
	wf_diag_stand(c, f, p, WF_EV_NO_QUEUE, WF_EV_fec_bits);
}

void wf_diag_ber(struct wf_diag *c)
{
	uint64_t below = UINT64_MAX;
	uint32_t p = WF_EV_NONE;

	for (unsigned n = 0; n < NAMED; n++) {
		p = next_most(c, unmended, below, p);
		if (p == WF_EV_NONE)
			break;
		below = unmended(c, p);
		say_margin(c, p, true);
	}
	below = UINT64_MAX;
	p = WF_EV_NONE;
	for (unsigned n = 0; n < NAMED; n++) {
		p = next_most(c, raw_ber, below, p);
		if (p == WF_EV_NONE || raw_ber(c, p) < BER_LIMIT * 100000)
			return;
		below = raw_ber(c, p);
		if (unmended(c, p) == 0)
			say_margin(c, p, false);
	}
}

/* ---- counters that have stopped ---- */

void wf_diag_saturated(struct wf_diag *c)
{
	const struct wf_ev_sample *first = NULL;
	unsigned n = 0, ports = 0;
	uint32_t last = WF_EV_NONE;
	struct wf_found *f;

	for (uint32_t i = 0; i < c->ev->n_samples; i++) {
		const struct wf_ev_sample *s = &c->ev->samples[i];

		if (!s->full || s->when != c->ev->later)
			continue;
		if (first == NULL)
			first = s;
		n++;
		ports += s->port != last;
		last = s->port;
	}
	if (first == NULL)
		return;
	f = wf_diag_find(c, WF_SEVERITY_WARNING, first->port, first->queue,
	                 "%u counter%s of %u port%s stand%s at the most that can be counted: the "
	                 "truth is that, or more",
	                 n, n == 1 ? "" : "s", ports, ports == 1 ? "" : "s", n == 1 ? "s" : "");
	for (uint32_t i = 0; i < c->ev->n_samples; i++) {
		const struct wf_ev_sample *s = &c->ev->samples[i];

		if (s->full && s->when == c->ev->later)
			wf_diag_stand(c, f, s->port, s->queue, (enum wf_ev_counter)s->counter);
	}
}
