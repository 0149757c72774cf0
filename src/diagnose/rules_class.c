/* SPDX-License-Identifier: Apache-2.0 */
/* rules_class.c - what is in which class, and what a lossless class loses. */
#include "diagnose/diagnose_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SOME_BYTES (UINT64_C(1) << 20)

static uint64_t of(const struct wf_diag *c, uint32_t device, enum wf_ev_counter counter)
{
	return wf_diag_total(c, device, counter);
}

static bool knows(const struct wf_diag *c, bool said)
{
	return said || c->ev->whole;
}

/* ---- classes that change in a switch ---- */

struct flowing {
	uint64_t in[WF_DIAG_QUEUES], out[WF_DIAG_QUEUES], sum;
};

/* By queue, what is sent to a switch and what it sends; false: somebody does not say it. */
static bool look_through(const struct wf_diag *c, uint32_t device, struct flowing *w)
{
	memset(w, 0, sizeof(*w));
	for (uint32_t p = c->ev->devices[device].first_port; p != WF_EV_NONE;
	     p = c->ev->ports[p].next) {
		uint32_t peer = c->ev->ports[p].peer;

		if (peer == WF_EV_NONE)
			return false;
		if (!knows(c, c->ports[p].all.knows_bytes) ||
		    !knows(c, c->ports[peer].all.knows_bytes))
			return false;
		for (unsigned q = 0; q < WF_DIAG_QUEUES; q++) {
			w->in[q] += c->ports[peer].q[q].bytes;
			w->out[q] += c->ports[p].q[q].bytes;
			w->sum += c->ports[p].q[q].bytes;
		}
	}
	return w->sum >= SOME_BYTES;
}

/* Which class grew most, and which shrank most: -1 where none did by a tenth of all. */
static void find_moved(const struct flowing *w, int *to, int *from)
{
	uint64_t least = w->sum / 20, most_to = least, most_from = least;

	*to = *from = -1;
	for (int q = 0; q < WF_DIAG_QUEUES; q++) {
		if (w->out[q] > w->in[q] + most_to) {
			most_to = w->out[q] - w->in[q];
			*to = q;
		}
		if (w->in[q] > w->out[q] + most_from) {
			most_from = w->in[q] - w->out[q];
			*from = q;
		}
	}
}

/* What is moved from where to where, and by whom. */
struct moved {
	int to, from;
	unsigned n, edge, edges; /* switches that do it, those next to hosts of them and of all */
	uint32_t first;          /* that moves most */
	uint64_t most;
	bool looked;
	char names[200];
};

static void look_for_moved(const struct wf_diag *c, struct moved *m)
{
	*m = (struct moved){ .to = -1, .from = -1, .first = WF_EV_NONE };
	for (uint32_t d = 0; d < c->ev->n_devices; d++) {
		struct flowing w;
		int to, from;
		size_t used;

		if (c->ev->devices[d].kind != WF_EV_SWITCH || c->credits || !look_through(c, d, &w))
			continue;
		m->looked = true;
		m->edges += c->tier[d] == 1;
		find_moved(&w, &to, &from);
		if (to < 0 || from < 0)
			continue;
		m->n++;
		m->edge += c->tier[d] == 1;
		used = strlen(m->names);
		if (m->n <= 8)
			snprintf(m->names + used, sizeof(m->names) - used, "%s%.20s",
			         m->n == 1 ? "" : ", ", wf_diag_name(c, d));
		if (w.out[to] - w.in[to] <= m->most)
			continue;
		m->most = w.out[to] - w.in[to];
		m->first = d;
		m->to = to;
		m->from = from;
	}
}

/* What PFC acts on; where it has not acted at all, whatever is not the class of all the rest. */
static bool is_lossless(const struct wf_diag *c, int queue)
{
	bool any = false;

	for (unsigned q = 0; q < WF_DIAG_QUEUES; q++)
		any |= c->paused[q];
	return any ? c->paused[queue] : queue != 0;
}

/* All switches next to hosts do it: they agree, and what hosts mark is what is wrong. */
static bool is_marked_so(const struct wf_diag *c, const struct moved *m)
{
	return m->n > 0 && m->edges > 1 && m->edge * 4 >= m->edges * 3 &&
	       is_lossless(c, m->to) != is_lossless(c, m->from);
}

static void stand_on_moved(struct wf_diag *c, struct wf_found *f, const struct moved *m)
{
	if (f == NULL)
		return;
	for (uint32_t p = c->ev->devices[m->first].first_port; p != WF_EV_NONE;
	     p = c->ev->ports[p].next) {
		if (c->ports[p].to_host)
			wf_diag_stand(c, f, c->ev->ports[p].peer, m->from, WF_EV_tx_bytes);
		else
			wf_diag_stand(c, f, p, m->to, WF_EV_tx_bytes);
	}
	f->port = WF_EV_NONE;
}

void wf_diag_class_moved(struct wf_diag *c)
{
	struct wf_found *f;
	struct moved m;

	look_for_moved(c, &m);
	if (!m.looked && !c->credits)
		wf_diag_lacks(c);
	if (m.n == 0 || is_marked_so(c, &m))
		return;
	f = wf_diag_find(c, WF_SEVERITY_ERROR, c->ev->devices[m.first].first_port, m.to,
	                 "what comes in queue %d leaves in queue %d (%" PRIu64 " MB at %s): in %s",
	                 m.from, m.to, m.most / 1000000, wf_diag_name(c, m.first), m.names);
	stand_on_moved(c, f, &m);
}

/* Hosts mark packets as of a class that they did not mean: lossless, or not. */
static bool say_marked(struct wf_diag *c, bool lossless)
{
	struct wf_found *f;
	struct moved m;

	look_for_moved(c, &m);
	if (!is_marked_so(c, &m) || is_lossless(c, m.to) != lossless)
		return false;
	f = wf_diag_find(
		c, WF_SEVERITY_ERROR, c->ev->devices[m.first].first_port, m.to,
		lossless ? "what hosts have in priority %d is in queue %d, which is lossless, "
			   "in the switches beside them: it is marked as RDMA"
			 : "what hosts have in priority %d is in queue %d, which is not "
			   "lossless, in the switches beside them: it is not marked as RDMA",
		m.from, m.to);
	stand_on_moved(c, f, &m);
	return true;
}

/* ---- what hosts send in which class ---- */

struct sender {
	uint64_t q[WF_DIAG_QUEUES], sum, rdma;
	bool knows, knows_rdma, one_only;
	int busiest;
};

static void look_at_host(const struct wf_diag *c, uint32_t device, struct sender *s)
{
	uint64_t adapter = 0, vport = 0;
	unsigned told = 0;

	memset(s, 0, sizeof(*s));
	for (uint32_t p = c->ev->devices[device].first_port; p != WF_EV_NONE;
	     p = c->ev->ports[p].next) {
		for (unsigned q = 0; q < WF_DIAG_QUEUES; q++) {
			s->q[q] += c->ports[p].q[q].bytes;
			s->sum += c->ports[p].q[q].bytes;
			told += c->ports[p].q[q].knows_bytes;
		}
	}
	for (int q = 1; q < WF_DIAG_QUEUES; q++)
		s->busiest = s->q[q] > s->q[s->busiest] ? q : s->busiest;
	s->knows = told > 0;
	s->one_only = told >= 8 && s->q[s->busiest] == s->sum;
	s->knows_rdma = wf_evidence_total(c->ev, device, WF_EV_HCA_TX_BYTES, &adapter);
	s->knows_rdma |= wf_evidence_total(c->ev, device, WF_EV_rdma_tx_bytes, &vport);
	s->rdma = wf_max_u64(adapter, vport);
}

/* Drops for want of room in a class, wherever. */
static uint64_t drops_in(const struct wf_diag *c, unsigned q)
{
	uint64_t n = 0;

	for (uint32_t p = 0; p < c->ev->n_ports; p++) {
		if (!wf_diag_is_host(c, c->ev->ports[p].device))
			n += c->ports[p].q[q].drops + c->ports[p].q[q].tail;
	}
	return n;
}

/* RDMA runs, as adapters' counters say. */
static bool has_rdma(const struct wf_diag *c)
{
	for (uint32_t i = 0; i < c->ev->n_samples; i++) {
		unsigned counter = c->ev->samples[i].counter;

		if (counter >= WF_EV_HCA_OUT_OF_SEQUENCE && counter < WF_EV_queue_drops &&
		    c->ev->samples[i].value > 0)
			return true;
	}
	return false;
}

/* Everything of a host in one class, which is not said to be lossless by anybody. */
static void one_class(struct wf_diag *c, uint32_t d, const struct sender *s)
{
	struct wf_found *f;
	uint32_t p = c->ev->devices[d].first_port;
	bool rdma = has_rdma(c);

	if (!s->one_only || s->busiest != 0 || s->sum < SOME_BYTES || c->paused[0])
		return;
	f = wf_diag_find(c, rdma ? WF_SEVERITY_WARNING : WF_SEVERITY_INFO, p, 0,
	                 "all that %s sends is in priority 0, and none in any other: %s",
	                 wf_diag_name(c, d),
	                 rdma ? "so is its RDMA, which loses packets there when links are full"
	                      : "RDMA would be, too, in a class that drops");
	wf_diag_stand(c, f, p, 0, WF_EV_tx_bytes);
	wf_diag_stand(c, f, p, 3, WF_EV_tx_bytes);
	wf_diag_stand(c, f, p, 0, WF_EV_rx_prio_bytes);
	wf_diag_stand(c, f, p, 3, WF_EV_rx_prio_bytes);
}

void wf_diag_lossy_rdma(struct wf_diag *c)
{
	struct wf_found *f = NULL;
	uint64_t moved = 0, drops = 0;
	unsigned n = 0;
	int at = -1;
	uint32_t port = WF_EV_NONE;
	char text[WF_HUMAN], lost[WF_HUMAN];
	bool looked = say_marked(c, false);

	for (uint32_t d = 0; d < c->ev->n_devices && !c->credits; d++) {
		struct sender s;

		if (!wf_diag_is_host(c, d))
			continue;
		look_at_host(c, d, &s);
		looked |= s.knows && s.knows_rdma;
		one_class(c, d, &s);
		for (unsigned q = 0; s.knows && q < WF_DIAG_QUEUES; q++) {
			/* As much of it is RDMA as does not fit into the rest. */
			uint64_t rest = s.sum - s.q[q], sure = s.rdma > rest ? s.rdma - rest : 0;

			if (c->paused[q] || drops_in(c, q) == 0 || sure < SOME_BYTES ||
			    sure < s.sum / 10)
				continue;
			at = (int)q;
			moved += sure;
			n++;
			if (port == WF_EV_NONE)
				port = c->ev->devices[d].first_port;
		}
	}
	if (!looked)
		wf_diag_lacks(c);
	if (n == 0)
		return;
	drops = drops_in(c, (unsigned)at);
	wf_human_bytes(moved, text, sizeof(text));
	wf_human_count(drops, lost, sizeof(lost));
	f = wf_diag_find(
		c, WF_SEVERITY_ERROR, port, at,
		"%u host%s sent at least %s of RDMA in priority %d, which is not lossless: "
		"%s packets of it were dropped, and PFC never acted on it",
		n, n == 1 ? "" : "s", text, at, lost);
	wf_diag_stand(c, f, port, at, WF_EV_tx_bytes);
	wf_diag_stand(c, f, port, WF_EV_NO_QUEUE, WF_EV_HCA_TX_BYTES);
	for (uint32_t p = 0; p < c->ev->n_ports; p++) {
		if (c->ports[p].q[at].drops > 0)
			wf_diag_stand(c, f, p, at, WF_EV_drops_buffer);
	}
}

void wf_diag_foreign(struct wf_diag *c)
{
	uint64_t more = 0;
	unsigned n = 0;
	int at = -1;
	uint32_t port = WF_EV_NONE;
	bool looked = say_marked(c, true);
	char text[WF_HUMAN];
	struct wf_found *f;

	for (uint32_t d = 0; d < c->ev->n_devices && !c->credits; d++) {
		struct sender s;
		uint64_t takes;

		if (!wf_diag_is_host(c, d))
			continue;
		look_at_host(c, d, &s);
		looked |= s.knows && s.knows_rdma;
		/* Acknowledgements of what comes, and headers, are RDMA, too. */
		takes = wf_max_u64(of(c, d, WF_EV_HCA_RX_BYTES), of(c, d, WF_EV_rdma_rx_bytes));
		for (unsigned q = 0;
		     s.knows && (s.knows_rdma || c->ev->whole) && q < WF_DIAG_QUEUES; q++) {
			uint64_t rdma = s.rdma + s.rdma / 4 + takes / 10 +
			                of(c, d, WF_EV_HCA_TX_RETRANSMITS) * 4200;

			if (!c->paused[q] || s.q[q] < rdma + 4 * SOME_BYTES)
				continue;
			more += s.q[q] - s.rdma;
			at = (int)q;
			n++;
			if (port == WF_EV_NONE)
				port = c->ev->devices[d].first_port;
		}
	}
	if (!looked)
		wf_diag_lacks(c);
	if (n == 0)
		return;
	wf_human_bytes(more, text, sizeof(text));
	f = wf_diag_find(c, WF_SEVERITY_ERROR, port, at,
	                 "%u host%s sent %s in priority %d that is no RDMA", n, n == 1 ? "" : "s",
	                 text, at);
	wf_diag_stand(c, f, port, at, WF_EV_tx_bytes);
	wf_diag_stand(c, f, port, WF_EV_NO_QUEUE, WF_EV_HCA_TX_BYTES);
	wf_diag_stand(c, f, port, WF_EV_NO_QUEUE, WF_EV_rdma_tx_bytes);
}

/* ---- a lossless class that drops ---- */

/* Where nobody tells of pauses, 3 and 4 are what is lossless nearly everywhere. */
static bool is_taken_for_lossless(const struct wf_diag *c, unsigned q)
{
	return c->paused[q] || (!c->ethernet && !c->ev->whole && (q == 3 || q == 4));
}

static uint64_t drops_at(const struct wf_diag *c, uint32_t p, unsigned q)
{
	return wf_max_u64(c->ports[p].q[q].drops, c->ports[p].q[q].tail);
}

static bool is_lossless_drop(const struct wf_diag *c, uint32_t p, unsigned q)
{
	return is_taken_for_lossless(c, q) && drops_at(c, p, q) > 0 &&
	       !wf_diag_is_host(c, c->ev->ports[p].device);
}

/* A host was told to pause at this port and never stopped. */
static bool is_deaf(const struct wf_diag *c, uint32_t p, unsigned q)
{
	uint32_t peer = c->ev->ports[p].peer;

	if (!c->ports[p].to_host || c->ports[p].q[q].pause_tx == 0)
		return false;
	return knows(c, c->ports[peer].q[q].knows_stopped) && c->ports[peer].q[q].stopped == 0;
}

void wf_diag_deaf(struct wf_diag *c)
{
	for (uint32_t p = 0; p < c->ev->n_ports; p++) {
		for (unsigned q = 0; q < WF_DIAG_QUEUES; q++) {
			char where[WF_DIAG_WHERE], n[WF_HUMAN], sent[WF_HUMAN];
			char class[WF_DIAG_CLASS];
			struct wf_found *f;

			if (!is_lossless_drop(c, p, q) || !is_deaf(c, p, q))
				continue;
			wf_diag_where(c, p, where);
			wf_human_count(c->ports[p].q[q].drops, n, sizeof(n));
			wf_human_count(c->ports[p].q[q].pause_tx, sent, sizeof(sent));
			f = wf_diag_find(c, WF_SEVERITY_ERROR, p, (int)q,
			                 "%s sent %s pauses of %s, the host never stopped, "
			                 "and %s packets were dropped",
			                 where, sent, wf_diag_class(q, class), n);
			wf_diag_stand(c, f, p, (int)q, WF_EV_drops_buffer);
			wf_diag_stand(c, f, p, (int)q, WF_EV_pause_tx);
			wf_diag_stand(c, f, c->ev->ports[p].peer, (int)q, WF_EV_paused_ps);
			c->d->hot[c->ports[p].peer_device] = true;
		}
	}
}

void wf_diag_headroom(struct wf_diag *c)
{
	uint64_t sum[WF_DIAG_QUEUES] = { 0 };
	uint32_t worst[WF_DIAG_QUEUES];
	unsigned n[WF_DIAG_QUEUES] = { 0 };

	for (uint32_t p = 0; p < c->ev->n_ports; p++) {
		for (unsigned q = 0; q < WF_DIAG_QUEUES; q++) {
			if (!is_lossless_drop(c, p, q) || is_deaf(c, p, q))
				continue;
			if (n[q]++ == 0 || drops_at(c, p, q) > drops_at(c, worst[q], q))
				worst[q] = p;
			sum[q] += drops_at(c, p, q);
		}
	}
	for (unsigned q = 0; q < WF_DIAG_QUEUES; q++) {
		char where[WF_DIAG_WHERE], lost[WF_HUMAN];
		char class[WF_DIAG_CLASS];
		struct wf_found *f;

		if (n[q] == 0)
			continue;
		wf_diag_where(c, worst[q], where);
		wf_human_count(sum[q], lost, sizeof(lost));
		f = wf_diag_find(
			c, c->paused[q] ? WF_SEVERITY_ERROR : WF_SEVERITY_WARNING, worst[q], (int)q,
			"%s, %s, dropped %s packets at %u port%s, most at %s: what "
			"came after a pause did not fit",
			wf_diag_class(q, class),
			c->paused[q] ? "which PFC acts on" : "which is lossless nearly everywhere",
			lost, n[q], n[q] == 1 ? "" : "s", where);
		wf_diag_stand(c, f, worst[q], (int)q, WF_EV_drops_buffer);
		wf_diag_stand(c, f, worst[q], (int)q, WF_EV_queue_drops);
		wf_diag_stand(c, f, worst[q], (int)q, WF_EV_pause_tx);
		wf_diag_stand(c, f, worst[q], (int)q, WF_EV_headroom_watermark);
	}
}

/* Drops of a lossy class at a port of a switch. */
static uint64_t lossy_at(const struct wf_diag *c, uint32_t p, unsigned q)
{
	return is_taken_for_lossless(c, q) || wf_diag_is_host(c, c->ev->ports[p].device)
	               ? 0
	               : drops_at(c, p, q);
}

void wf_diag_lossy_drops(struct wf_diag *c)
{
	uint64_t sum = 0, most = 0;
	uint32_t worst = WF_EV_NONE;
	unsigned at = 0, queues = 0;
	char where[WF_DIAG_WHERE], lost[WF_HUMAN], others[48] = "";
	struct wf_found *f;

	for (unsigned q = 0; q < WF_DIAG_QUEUES; q++) {
		uint64_t of_queue = 0;

		for (uint32_t p = 0; p < c->ev->n_ports; p++) {
			uint64_t v = lossy_at(c, p, q);

			of_queue += v;
			if (v <= most)
				continue;
			most = v;
			worst = p;
			at = q;
		}
		sum += of_queue;
		queues += of_queue > 0;
	}
	if (worst == WF_EV_NONE)
		return;
	wf_diag_where(c, worst, where);
	wf_human_count(sum, lost, sizeof(lost));
	if (queues > 1)
		snprintf(others, sizeof(others), "; %u other queues did, too", queues - 1);
	f = wf_diag_find(
		c, WF_SEVERITY_INFO, worst, (int)at,
		"%s packets were dropped in queues on which PFC has not acted, most in queue "
		"%u at %s%s",
		lost, at, where, others);
	wf_diag_stand(c, f, worst, (int)at, WF_EV_queue_drops);
	wf_diag_stand(c, f, worst, (int)at, WF_EV_drops_buffer);
	wf_diag_stand(c, f, worst, (int)at, WF_EV_tx_packets);
}
