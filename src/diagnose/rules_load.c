/* SPDX-License-Identifier: Apache-2.0 */
/* rules_load.c - how load is spread over links and hosts, and what adapters sent again. */
#include "diagnose/diagnose_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SOME_BYTES (UINT64_C(1) << 20)
#define LONG_QUEUE 300000 /* bytes */

static bool knows(const struct wf_diag *c, uint32_t p)
{
	return c->ports[p].all.knows_bytes || c->ev->whole;
}

/* ---- polarisation ---- */

/* How many of a switch's links to the tier above it carry next to nothing, and how many it has. */
static unsigned idle_up(const struct wf_diag *c, uint32_t d, unsigned *all_p, uint32_t *idle_p)
{
	uint64_t sum = 0;
	unsigned idle = 0;

	*all_p = 0;
	for (uint32_t p = c->ev->devices[d].first_port; p != WF_EV_NONE; p = c->ev->ports[p].next) {
		if (!wf_diag_is_up(c, p) || !knows(c, p))
			continue;
		++*all_p;
		sum += c->ports[p].all.bytes;
	}
	for (uint32_t p = c->ev->devices[d].first_port; p != WF_EV_NONE; p = c->ev->ports[p].next) {
		if (!wf_diag_is_up(c, p) || sum < SOME_BYTES ||
		    c->ports[p].all.bytes * *all_p * 50 >= sum)
			continue;
		/* What was down could carry nothing. */
		if (wf_diag_has(c, "link-down", WF_EV_NONE))
			continue;
		idle++;
		*idle_p = p;
	}
	return idle;
}

void wf_diag_polarised(struct wf_diag *c)
{
	unsigned switches = 0, half = 0, links = 0, idle = 0;
	uint32_t at = WF_EV_NONE;
	struct wf_found *f;

	for (uint32_t d = 0; d < c->ev->n_devices; d++) {
		unsigned all, n;

		if (c->tier[d] < 2)
			continue;
		n = idle_up(c, d, &all, &at);
		if (all < 2)
			continue;
		switches++;
		links += all;
		idle += n;
		half += n * 2 >= all;
	}
	if (!c->links)
		wf_diag_lacks(c);
	if (switches < 2 || half * 4 < switches * 3)
		return;
	f = wf_diag_find(
		c, WF_SEVERITY_ERROR, at, WF_EV_NO_QUEUE,
		"%u of %u links from the second tier up carry next to nothing, at %u of %u "
		"switches: the tiers below chose what their hash would choose again",
		idle, links, half, switches);
	wf_diag_stand(c, f, at, WF_EV_NO_QUEUE, WF_EV_tx_bytes);
	wf_diag_stand_all(c, f, at, WF_EV_tx_bytes);
}

/* ---- links beside one another ---- */

struct beside {
	unsigned n;
	uint64_t bytes, longest, rate; /* sum, the longest queue, the highest rate: of the others */
	uint64_t peak;
};

static void look_beside(const struct wf_diag *c, uint32_t p, struct beside *b)
{
	uint32_t d = c->ev->ports[p].device;

	memset(b, 0, sizeof(*b));
	for (uint32_t k = c->ev->devices[d].first_port; k != WF_EV_NONE; k = c->ev->ports[k].next) {
		if (!wf_diag_is_beside(c, p, k))
			continue;
		b->n++;
		b->bytes += c->ports[k].all.bytes;
		b->rate = wf_max_u64(b->rate, c->ev->ports[k].rate);
		/* Ports to the same switch may have the same fault. */
		if (c->ports[k].peer_device == c->ports[p].peer_device)
			continue;
		b->longest = wf_max_u64(b->longest, c->ports[k].all.longest);
		b->peak = wf_max_u64(b->peak, c->ports[k].all.peak);
	}
}

/* A port that never sent as fast as those beside it although more waits there than anywhere. */
static bool is_slow(const struct wf_diag *c, uint32_t p, const struct beside *b)
{
	const struct wf_diag_queue *is = &c->ports[p].all;
	uint64_t rate = c->ev->ports[p].rate;

	if (b->n == 0 || wf_diag_is_host(c, c->ev->ports[p].device))
		return false;
	if (rate > 0 && b->rate > 0 && rate * 4 <= b->rate * 3)
		return true;
	if (is->longest < LONG_QUEUE || is->longest < 8 * b->longest ||
	    wf_diag_share(c, is->stopped) > 5)
		return false;
	if (is->peak > 0 && rate > 0)
		return is->peak * 2 < rate;
	/* Without its rate over time that is a guess, which nothing else may explain. */
	return c->d->n == 0 && is->bytes * b->n * 2 < b->bytes * 3;
}

void wf_diag_slow_link(struct wf_diag *c)
{
	for (uint32_t p = 0; p < c->ev->n_ports; p++) {
		char where[WF_DIAG_WHERE], queue[WF_HUMAN], rate[60] = "";
		struct beside b;
		struct wf_found *f;

		look_beside(c, p, &b);
		if (!is_slow(c, p, &b))
			continue;
		wf_diag_where(c, p, where);
		wf_human_bytes(c->ports[p].all.longest, queue, sizeof(queue));
		if (c->ev->ports[p].rate > 0 && c->ev->ports[p].rate < b.rate)
			snprintf(rate, sizeof(rate), ": %" PRIu64 " Gb/s in place of %" PRIu64,
			         c->ev->ports[p].rate / 1000000000, b.rate / 1000000000);
		else if (c->ports[p].all.peak > 0)
			snprintf(rate, sizeof(rate), ": never more than %" PRIu64 " Gb/s",
			         c->ports[p].all.peak / 1000000000);
		f = wf_diag_find(c, WF_SEVERITY_ERROR, p, WF_EV_NO_QUEUE,
		                 "%s is slower than the links beside it%s; up to %s waited for it",
		                 where, rate, queue);
		wf_diag_stand_all(c, f, p, WF_EV_peak_rate);
		wf_diag_stand_all(c, f, p, WF_EV_max_queue_bytes);
		wf_diag_stand_all(c, f, p, WF_EV_queue_watermark);
	}
}

void wf_diag_collision(struct wf_diag *c)
{
	uint32_t worst = WF_EV_NONE;
	uint64_t most = 0;
	unsigned n = 0;
	char where[WF_DIAG_WHERE];
	struct beside b;
	struct wf_found *f;

	for (uint32_t p = 0; p < c->ev->n_ports; p++) {
		uint64_t times;

		if (!knows(c, p) || wf_diag_is_host(c, c->ev->ports[p].device))
			continue;
		look_beside(c, p, &b);
		if (b.n == 0 || c->ports[p].all.bytes < SOME_BYTES || b.bytes == 0 ||
		    c->ports[p].all.longest < 65536)
			continue;
		times = c->ports[p].all.bytes * 10 / (b.bytes / b.n + 1);
		if (times < 15)
			continue;
		n++;
		if (times <= most)
			continue;
		most = times;
		worst = p;
	}
	if (worst == WF_EV_NONE)
		return;
	wf_diag_where(c, worst, where);
	f = wf_diag_find(
		c, WF_SEVERITY_INFO, worst, WF_EV_NO_QUEUE,
		"%u link%s carry half as much again as those beside them, or more; %s %" PRIu64
		".%" PRIu64 " times as much",
		n, n == 1 ? "" : "s", where, most / 10, most % 10);
	wf_diag_stand_all(c, f, worst, WF_EV_tx_bytes);
}

/* ---- hosts ---- */

/* What a host's port had in its best while, and what half of all hosts had. */
static uint64_t median_peak(const struct wf_diag *c, uint64_t *bytes_p)
{
	uint64_t best = 0;

	/* Few hosts are slow: as many have more as have less of the middle one. */
	*bytes_p = 0;
	for (uint32_t p = 0; p < c->ev->n_ports; p++) {
		unsigned more = 0, less = 0;

		if (!wf_diag_is_host(c, c->ev->ports[p].device) || c->ports[p].all.peak == 0)
			continue;
		for (uint32_t k = 0; k < c->ev->n_ports; k++) {
			if (!wf_diag_is_host(c, c->ev->ports[k].device))
				continue;
			more += c->ports[k].all.peak > c->ports[p].all.peak;
			less += c->ports[k].all.peak < c->ports[p].all.peak;
		}
		if (more <= less + 1 && c->ports[p].all.peak > best) {
			best = c->ports[p].all.peak;
			*bytes_p = c->ports[p].all.bytes;
		}
	}
	return best;
}

void wf_diag_slow_host(struct wf_diag *c)
{
	uint64_t bytes, peak = median_peak(c, &bytes);

	if (peak == 0) {
		wf_diag_lacks(c);
		return;
	}
	for (uint32_t p = 0; p < c->ev->n_ports; p++) {
		const struct wf_diag_queue *is = &c->ports[p].all;
		char where[WF_DIAG_WHERE];
		struct wf_found *f;

		/* As much as others, but never as fast, and nobody told it to stop. */
		if (!wf_diag_is_host(c, c->ev->ports[p].device) || is->peak == 0 ||
		    is->peak * 3 > peak || is->bytes * 10 < bytes * 8 || is->stopped > 0 ||
		    is->bytes < SOME_BYTES)
			continue;
		wf_diag_where(c, p, where);
		f = wf_diag_find(c, WF_SEVERITY_WARNING, p, WF_EV_NO_QUEUE,
		                 "%s never sent more than %" PRIu64 " Gb/s, hosts beside it that "
		                 "send as much come to %" PRIu64 "; nobody stopped it",
		                 where, is->peak / 1000000000, peak / 1000000000);
		wf_diag_stand_all(c, f, p, WF_EV_peak_rate);
	}
}

/* ---- what was sent again ---- */

struct again {
	uint64_t timeouts, naks, given_up, resent, out_of_order;
	uint32_t port;
};

static void look_at_retries(const struct wf_diag *c, struct again *a)
{
	uint64_t most = 0;

	memset(a, 0, sizeof(*a));
	a->port = WF_EV_NONE;
	for (uint32_t p = 0; p < c->ev->n_ports; p++) {
		uint64_t timeouts = 0, v = 0;

		(void)wf_evidence_sum(c->ev, p, WF_EV_HCA_LOCAL_ACK_TIMEOUT_ERR, &timeouts);
		a->timeouts += timeouts;
		if (wf_evidence_sum(c->ev, p, WF_EV_HCA_PACKET_SEQ_ERR, &v))
			a->naks += v;
		if (wf_evidence_sum(c->ev, p, WF_EV_HCA_OUT_OF_SEQUENCE, &v))
			a->out_of_order += v;
		if (wf_evidence_sum(c->ev, p, WF_EV_HCA_TX_RETRANSMITS, &v))
			a->resent += v;
		if (wf_evidence_sum(c->ev, p, WF_EV_retries_exceeded, &v))
			a->given_up += v;
		if (wf_evidence_sum(c->ev, p, WF_EV_HCA_REQ_CQE_ERROR, &v))
			a->given_up += v;
		if (timeouts <= most)
			continue;
		most = timeouts;
		a->port = p;
	}
}

void wf_diag_retransmit(struct wf_diag *c)
{
	char t[WF_HUMAN], n[WF_HUMAN], g[WF_HUMAN];
	struct wf_found *f;
	struct again a;

	look_at_retries(c, &a);
	if (a.timeouts + a.given_up == 0)
		return;
	wf_human_count(a.timeouts, t, sizeof(t));
	wf_human_count(a.naks, n, sizeof(n));
	wf_human_count(a.given_up, g, sizeof(g));
	f = wf_diag_find(c, a.given_up > 0 ? WF_SEVERITY_ERROR : WF_SEVERITY_WARNING, a.port,
	                 WF_EV_NO_QUEUE,
	                 "%s requests were not acknowledged in time and %s NAKs came: packets were "
	                 "lost, which congestion control does not make up for%s%s%s",
	                 t, n, a.given_up > 0 ? "; " : "", a.given_up > 0 ? g : "",
	                 a.given_up > 0 ? " requests were given up" : "");
	wf_diag_stand(c, f, a.port, WF_EV_NO_QUEUE, WF_EV_HCA_LOCAL_ACK_TIMEOUT_ERR);
	wf_diag_stand(c, f, a.port, WF_EV_NO_QUEUE, WF_EV_HCA_PACKET_SEQ_ERR);
	wf_diag_stand(c, f, a.port, WF_EV_NO_QUEUE, WF_EV_HCA_TX_RETRANSMITS);
	wf_diag_stand(c, f, a.port, WF_EV_NO_QUEUE, WF_EV_retries_exceeded);
	wf_diag_stand(c, f, a.port, WF_EV_NO_QUEUE, WF_EV_HCA_NP_ECN_MARKED_ROCE_PACKETS);
}

void wf_diag_receive_queue(struct wf_diag *c)
{
	for (uint32_t p = 0; p < c->ev->n_ports; p++) {
		uint64_t rnr = 0, none = 0;
		char where[WF_DIAG_WHERE], n[WF_HUMAN];
		struct wf_found *f;

		(void)wf_evidence_sum(c->ev, p, WF_EV_HCA_RNR_NAK_RETRY_ERR, &rnr);
		(void)wf_evidence_sum(c->ev, p, WF_EV_HCA_OUT_OF_BUFFER, &none);
		if (rnr + none == 0)
			continue;
		wf_diag_where(c, p, where);
		wf_human_count(none > 0 ? none : rnr, n, sizeof(n));
		f = wf_diag_find(c, WF_SEVERITY_WARNING, p, WF_EV_NO_QUEUE,
		                 none > 0 ? "%s messages came to %s and found no receive posted"
		                          : "%s times somebody told %s that no receive was posted",
		                 n, where);
		wf_diag_stand(c, f, p, WF_EV_NO_QUEUE, WF_EV_HCA_OUT_OF_BUFFER);
		wf_diag_stand(c, f, p, WF_EV_NO_QUEUE, WF_EV_HCA_RNR_NAK_RETRY_ERR);
	}
}
