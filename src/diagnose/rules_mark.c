/* SPDX-License-Identifier: Apache-2.0 */
/* rules_mark.c - marks, CNPs, and whether they come before pauses. */
#include "diagnose/diagnose_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MANY 100  /* marks or CNPs that are no accident */
#define PAUSES 50 /* pauses of a switch that are none */

static uint64_t of(const struct wf_diag *c, uint32_t device, enum wf_ev_counter counter)
{
	return wf_diag_total(c, device, counter);
}

static bool says(const struct wf_diag *c, uint32_t device, enum wf_ev_counter counter)
{
	uint64_t v;

	return wf_evidence_total(c->ev, device, counter, &v) || c->ev->whole;
}

/* ---- CNPs ---- */

void wf_diag_cc_off(struct wf_diag *c)
{
	uint64_t marks = 0;
	unsigned silent = 0, hosts = 0;
	uint32_t first = WF_EV_NONE;
	char n[WF_HUMAN];
	struct wf_found *f;

	/* InfiniBand tells senders in other ways. */
	for (uint32_t d = 0; d < c->ev->n_devices && !c->credits; d++) {
		uint64_t m = of(c, d, WF_EV_HCA_NP_ECN_MARKED_ROCE_PACKETS);

		hosts += says(c, d, WF_EV_HCA_NP_ECN_MARKED_ROCE_PACKETS);
		if (m < MANY || !says(c, d, WF_EV_HCA_NP_CNP_SENT) ||
		    of(c, d, WF_EV_HCA_NP_CNP_SENT) > 0)
			continue;
		marks += m;
		silent++;
		if (first == WF_EV_NONE)
			first = c->ev->devices[d].first_port;
	}
	if (hosts == 0 && !c->credits)
		wf_diag_lacks(c);
	if (silent == 0)
		return;
	wf_human_count(marks, n, sizeof(n));
	f = wf_diag_find(
		c, WF_SEVERITY_ERROR, first, WF_EV_NO_QUEUE,
		"%s marked packets came to %u host%s, which sent no CNP: no sender is told "
		"to slow down",
		n, silent, silent == 1 ? "" : "s");
	wf_diag_stand(c, f, first, WF_EV_NO_QUEUE, WF_EV_HCA_NP_ECN_MARKED_ROCE_PACKETS);
	wf_diag_stand(c, f, first, WF_EV_NO_QUEUE, WF_EV_HCA_NP_CNP_SENT);
}

void wf_diag_cnp_ignored(struct wf_diag *c)
{
	for (uint32_t d = 0; d < c->ev->n_devices; d++) {
		uint64_t ignored = of(c, d, WF_EV_HCA_RP_CNP_IGNORED);
		uint32_t p = c->ev->devices[d].first_port;
		char n[WF_HUMAN];
		struct wf_found *f;

		if (ignored < MANY / 10 || ignored <= of(c, d, WF_EV_HCA_RP_CNP_HANDLED))
			continue;
		wf_human_count(ignored, n, sizeof(n));
		f = wf_diag_find(
			c, WF_SEVERITY_ERROR, p, WF_EV_NO_QUEUE,
			"%s was sent CNPs and ignored %s of them: it does not slow down when "
			"others do",
			wf_diag_name(c, d), n);
		for (; p != WF_EV_NONE; p = c->ev->ports[p].next) {
			wf_diag_stand(c, f, p, WF_EV_NO_QUEUE, WF_EV_HCA_RP_CNP_IGNORED);
			wf_diag_stand(c, f, p, WF_EV_NO_QUEUE, WF_EV_HCA_RP_CNP_HANDLED);
		}
	}
}

/* Whether a host's CNPs can only be in its busiest priority; false also where nobody knows. */
static bool is_in_data(const struct wf_diag *c, uint32_t d, int *queue_p)
{
	uint64_t packets[WF_DIAG_QUEUES] = { 0 }, sum = 0;
	int busiest = 0;

	for (uint32_t p = c->ev->devices[d].first_port; p != WF_EV_NONE; p = c->ev->ports[p].next) {
		for (int q = 0; q < WF_DIAG_QUEUES; q++) {
			packets[q] += c->ports[p].q[q].packets;
			sum += c->ports[p].q[q].packets;
		}
	}
	for (int q = 1; q < WF_DIAG_QUEUES; q++)
		busiest = packets[q] > packets[busiest] ? q : busiest;
	*queue_p = busiest;
	return sum > 0 && sum - packets[busiest] < of(c, d, WF_EV_HCA_NP_CNP_SENT) / 2;
}

void wf_diag_cnp_class(struct wf_diag *c)
{
	unsigned hosts = 0, with_data = 0;
	uint64_t cnps = 0;
	uint32_t first = WF_EV_NONE;
	int queue = 0, q;
	char n[WF_HUMAN];
	struct wf_found *f;

	for (uint32_t d = 0; d < c->ev->n_devices; d++) {
		uint64_t sent = of(c, d, WF_EV_HCA_NP_CNP_SENT);

		/* Those with few of them are no proof. */
		if (sent < MANY)
			continue;
		hosts++;
		if (!is_in_data(c, d, &q))
			continue;
		queue = q;
		with_data++;
		cnps += sent;
		if (first == WF_EV_NONE)
			first = c->ev->devices[d].first_port;
	}
	if (hosts == 0)
		wf_diag_lacks(c);
	if (with_data == 0 || with_data * 2 < hosts)
		return;
	wf_human_count(cnps, n, sizeof(n));
	f = wf_diag_find(c, WF_SEVERITY_ERROR, first, queue,
	                 "%u host%s sent %s CNPs in priority %d with their data: no other priority "
	                 "has that many packets",
	                 with_data, with_data == 1 ? "" : "s", n, queue);
	wf_diag_stand(c, f, first, WF_EV_NO_QUEUE, WF_EV_HCA_NP_CNP_SENT);
	wf_diag_stand_all(c, f, first, WF_EV_tx_packets);
}

void wf_diag_cnp_lost(struct wf_diag *c)
{
	uint64_t sent = 0, came = 0;
	unsigned np = 0, rp = 0;
	char a[WF_HUMAN], b[WF_HUMAN];

	for (uint32_t d = 0; d < c->ev->n_devices; d++) {
		if (!says(c, d, WF_EV_HCA_NP_CNP_SENT))
			continue;
		np += of(c, d, WF_EV_HCA_NP_CNP_SENT) > 0;
		rp += wf_diag_is_host(c, d);
		sent += of(c, d, WF_EV_HCA_NP_CNP_SENT);
		came += of(c, d, WF_EV_HCA_RP_CNP_HANDLED) + of(c, d, WF_EV_HCA_RP_CNP_IGNORED);
	}
	/* Of some hosts only it says nothing: the senders may be others. */
	if (np == 0 || rp < 4 || sent < MANY || came == 0 || sent <= came + came / 4 + MANY)
		return;
	wf_human_count(sent, a, sizeof(a));
	wf_human_count(came, b, sizeof(b));
	(void)wf_diag_find(c, WF_SEVERITY_WARNING, WF_EV_NONE, WF_EV_NO_QUEUE,
	                   "%s CNPs were sent and %s came, if these are all hosts", a, b);
}

/* ---- marks and pauses ---- */

struct marker {
	uint64_t marks, pause_tx, pause_rx, fill, sum;
	uint32_t port; /* that pauses most */
	int queue;
	bool knows_marks;
};

static void look_at_switch(const struct wf_diag *c, uint32_t d, struct marker *m)
{
	uint64_t most = 0;

	memset(m, 0, sizeof(*m));
	m->port = c->ev->devices[d].first_port;
	for (uint32_t p = c->ev->devices[d].first_port; p != WF_EV_NONE; p = c->ev->ports[p].next) {
		for (int q = 0; q < WF_DIAG_QUEUES; q++) {
			const struct wf_diag_queue *is = &c->ports[p].q[q];

			m->marks += is->marks;
			m->pause_tx += is->pause_tx;
			m->pause_rx += is->pause_rx;
			m->fill = wf_max_u64(m->fill, is->fill);
			m->sum += is->fill;
			m->knows_marks |= is->knows_marks || c->ev->whole;
			if (is->pause_tx <= most)
				continue;
			most = is->pause_tx;
			m->port = p;
			m->queue = q;
		}
	}
}

/* Marks of all switches, and at hosts. */
static uint64_t all_marks(const struct wf_diag *c)
{
	uint64_t n = 0;

	for (uint32_t d = 0; d < c->ev->n_devices; d++)
		n += of(c, d, WF_EV_ecn_marked) + of(c, d, WF_EV_HCA_NP_ECN_MARKED_ROCE_PACKETS);
	return n;
}

/* Switches where pauses begin that mark nothing; late: nobody does. */
static void markless(struct wf_diag *c, bool late)
{
	uint64_t marks = all_marks(c);

	for (uint32_t d = 0; d < c->ev->n_devices; d++) {
		char n[WF_HUMAN];
		struct marker m;
		struct wf_found *f;

		if (c->ev->devices[d].kind == WF_EV_HOST || c->ev->devices[d].n_ports == 0)
			continue;
		look_at_switch(c, d, &m);
		if (m.pause_tx < PAUSES || m.pause_rx > 0)
			continue;
		if (!m.knows_marks) {
			wf_diag_lacks(c);
			continue;
		}
		if (m.marks > 0 || (marks == 0) != late)
			continue;
		/* One that stands before a host which stops it is not to blame. */
		if (wf_diag_has(c, "pause-storm", WF_EV_NONE) ||
		    wf_diag_has(c, "slow-receiver", WF_EV_NONE))
			continue;
		wf_human_count(m.pause_tx, n, sizeof(n));
		f = wf_diag_find(
			c, late ? WF_SEVERITY_WARNING : WF_SEVERITY_ERROR, m.port, m.queue,
			late ? "%s sent %s pauses and marked nothing, as no switch did: PFC "
			       "acts before ECN"
			     : "%s sent %s pauses and marked nothing, while others mark",
			wf_diag_name(c, d), n);
		wf_diag_stand(c, f, m.port, m.queue, WF_EV_pause_tx);
		wf_diag_stand(c, f, m.port, m.queue, WF_EV_ecn_marked);
		wf_diag_stand(c, f, m.port, m.queue, WF_EV_max_buffer_bytes);
	}
}

void wf_diag_ecn_off(struct wf_diag *c)
{
	markless(c, false);
}

void wf_diag_ecn_late(struct wf_diag *c)
{
	markless(c, true);
}

/* A switch that pauses with less in it than another holds that does not. */
void wf_diag_threshold(struct wf_diag *c)
{
	for (uint32_t d = 0; d < c->ev->n_devices; d++) {
		struct marker m;

		if (c->ev->devices[d].kind != WF_EV_SWITCH)
			continue;
		look_at_switch(c, d, &m);
		if (m.pause_tx < PAUSES || m.fill == 0 || m.pause_rx > 0)
			continue;
		for (uint32_t e = 0; e < c->ev->n_devices; e++) {
			char a[WF_HUMAN], b[WF_HUMAN], n[WF_HUMAN];
			struct marker o;
			struct wf_found *f;

			if (e == d || c->ev->devices[e].kind != WF_EV_SWITCH)
				continue;
			look_at_switch(c, e, &o);
			if (o.pause_tx > 0 || o.fill < 2 * m.fill || o.sum < m.sum / 4 * 3)
				continue;
			wf_human_count(m.pause_tx, n, sizeof(n));
			wf_human_bytes(m.fill, a, sizeof(a));
			wf_human_bytes(o.fill, b, sizeof(b));
			f = wf_diag_find(
				c, WF_SEVERITY_ERROR, m.port, m.queue,
				"%s sent %s pauses with at most %s waiting from one port; %s "
				"held %s and sent none",
				wf_diag_name(c, d), n, a, wf_diag_name(c, e), b);
			wf_diag_stand(c, f, m.port, m.queue, WF_EV_pause_tx);
			wf_diag_stand(c, f, m.port, m.queue, WF_EV_max_buffer_bytes);
			wf_diag_stand(c, f, m.port, m.queue, WF_EV_pg_shared_watermark);
			break;
		}
	}
}
