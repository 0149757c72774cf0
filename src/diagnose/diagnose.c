/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnose.c - brings evidence together for the rules, asks them, and puts what they found in
 * order: what makes the rest first, what follows from it behind it.
 */
#include "diagnose/diagnose_priv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- the rules ---- */

/* In this order: a cause stands before what it makes. */
static const struct {
	struct wf_rule rule;
	wf_diag_fn *fn;
} rules[] = {
	{ { "deadlock", "queues wait for one another in a circle",
	    "which ports are stopped for most of the time, and what is connected; of a simulation, "
	    "what was proved",
	    "routes let packets go down and up again, or otherwise round a circle of buffers",
	    "make routes that cannot close a circle (up, then down); let a watchdog drop what is "
	    "stuck; "
	    "take links and switches out in an order that no valley comes of",
	    "a-failure-a-valley-a-deadlock", false },
	  wf_diag_deadlock },
	{ { "pause-storm", "a host sends pauses without end",
	    "pause frames and the time they stopped a port, at a port to a host, and the link's "
	    "rate",
	    "the receiving side of that adapter, its driver or the host stands still",
	    "take the host out and reset it; a PFC watchdog on ports to hosts, and one in adapters",
	    "a-pause-storm", false },
	  wf_diag_storm },
	{ { "slow-receiver", "a host takes in less than comes",
	    "pauses that a host sends, its drops for want of room, or the time that the port to it "
	    "waits for credits",
	    "PCIe, memory, address translation or the IOMMU of that host is too slow for its link",
	    "look at that host's PCIe link, NUMA and IOMMU; let the adapter drop (nic.rx_full) or "
	    "slow "
	    "its senders down",
	    "a-slow-receiver", false },
	  wf_diag_slow_receiver },
	{ { "global-pause", "pauses for the whole link, in place of PFC",
	    "rx_global_pause, tx_global_pause", "flow control of the link is on (ethtool -A)",
	    "switch it off on both ends, and PFC on for the lossless priority alone", NULL, false },
	  wf_diag_global_pause },
	{ { "mtu", "packets larger than a port passes", "packets too long, by port",
	    "the MTU is smaller on one link than on others",
	    "the same MTU on all ports of the path, above the path MTU of the queue pairs",
	    "an-mtu-in-the-middle", false },
	  wf_diag_mtu },
	{ { "routing-loop", "packets circle until their hop limit ends",
	    "packets out of hops, by port",
	    "switches do not agree on routes: one has not learned yet, or routes are wrong",
	    "shorten convergence; drain links before they are taken down",
	    "a-switch-that-learns-late", false },
	  wf_diag_loop },
	{ { "class-moved", "a switch puts packets into another class than they came in",
	    "bytes by queue at all ports of a switch and at those it is connected to",
	    "its DSCP or priority map differs from the others'",
	    "the same maps on all switches: DSCP to traffic class, class to queue and priority "
	    "group",
	    "dscp-26-on-a-stock-map", false },
	  wf_diag_class_moved },
	{ { "rdma-lossy", "RDMA is in a class that drops",
	    "bytes by priority of hosts, what their RDMA sent, and drops by queue",
	    "a program, or the adapter's traffic class, does not set the priority that is lossless",
	    "set the traffic class for all (cma_roce_tos, tc of the adapter, NCCL_IB_TC), and "
	    "trust dscp "
	    "on ports",
	    "a-job-that-forgets-its-traffic-class", false },
	  wf_diag_lossy_rdma },
	{ { "foreign-traffic", "what is not RDMA is in RDMA's class",
	    "bytes by priority of hosts, and what their RDMA sent",
	    "other traffic (TCP) is marked with RDMA's DSCP",
	    "mark it as something else, at the hosts or where it enters; ECN for it (DCTCP) where "
	    "it has "
	    "to stay",
	    "a-tcp-backup-in-rdmas-class", false },
	  wf_diag_foreign },
	{ { "pause-ignored", "a host goes on sending when it is told to pause",
	    "drops in a lossless class by port, pauses sent there, and what the host stopped for",
	    "that adapter has PFC off, or on for another priority",
	    "mlnx_qos -i DEV --pfc on that host: PFC for the priority that RDMA has",
	    "an-adapter-that-does-not-obey-pauses", false },
	  wf_diag_deaf },
	{ { "headroom", "a lossless class drops, with PFC on",
	    "drops by priority group of queues that PFC acts on",
	    "headroom behind XOFF is too small for the cable and speed, or shared by too many",
	    "headroom by the vendor's formula for that cable (CABLE_LENGTH, profiles by speed and "
	    "cable)",
	    "headroom-for-another-cable", false },
	  wf_diag_headroom },
	{ { "life-drops", "packets dropped that stood too long at the head of a queue",
	    "discards for the lifetime of packets and heads of queues",
	    "congestion, or a host that gives no credits, lasted longer than the lifetime",
	    "find who gives no credits; lifetimes are what sets others free", "a-pause-storm",
	    true },
	  wf_diag_life },
	{ { "link-down", "links went down", "how often each link went down",
	    "cables, optics, power; or somebody took them down",
	    "drain a link that flaps until it is mended; look at both ends' optics",
	    "links-that-flap", false },
	  wf_diag_link_down },
	{ { "fec-margin", "a link mends so many errors that it is near the limit of its FEC",
	    "bits and symbols that the FEC mended, codewords that it could not mend",
	    "an optic or cable that ages, or is dirty", "change it before it drops packets",
	    "a-marginal-link", false },
	  wf_diag_ber },
	{ { "link-errors", "packets are lost to errors on links",
	    "errors of received packets and symbols, by port",
	    "a dirty or bad cable, connector or optic, one way or both",
	    "clean or change it; drain the link meanwhile", "a-fibre-that-loses-one-way", false },
	  wf_diag_link_errors },
	{ { "cc-off", "marks arrive and nobody tells senders",
	    "packets that came marked, and CNPs sent, of hosts",
	    "congestion control is off at receivers (notification point) or at all",
	    "switch DCQCN on for the priority: ecn/roce_np/enable and ecn/roce_rp/enable",
	    "congestion-that-spreads", false },
	  wf_diag_cc_off },
	{ { "cnp-ignored", "a sender does not slow down", "CNPs ignored and handled, by host",
	    "congestion control is off at that sender (reaction point)",
	    "ecn/roce_rp/enable for the priority on that adapter", "dcqcn-off-on-one-adapter",
	    false },
	  wf_diag_cnp_ignored },
	{ { "cnp-class", "CNPs wait behind data", "CNPs sent, and packets by priority, of hosts",
	    "CNPs are in the data's class (cnp_802p_prio, cnp_dscp)",
	    "cnp_dscp 48 and cnp_802p_prio 6 on adapters, and a strict queue for them in switches",
	    "cnps-in-the-datas-class", false },
	  wf_diag_cnp_class },
	{ { "cnp-lost", "CNPs are lost on their way", "CNPs sent and handled, of all hosts",
	    "CNPs are in a class that drops",
	    "a class for CNPs that is strict and not lossy in practice", "cnps-in-the-datas-class",
	    false },
	  wf_diag_cnp_lost },
	{ { "ecn-off", "one switch marks nothing", "marks and pauses of switches",
	    "ECN is off on that switch's queue",
	    "the same WRED/ECN profile on that queue as elsewhere", "ecn-off-on-one-switch",
	    false },
	  wf_diag_ecn_off },
	{ { "ecn-after-pfc", "PFC acts before ECN", "marks and pauses of switches",
	    "ECN's threshold is above the one of PFC, or ECN is off everywhere",
	    "lower the ECN threshold (kmin) below XOFF, or raise the buffer's alpha",
	    "pfc-before-ecn", false },
	  wf_diag_ecn_late },
	{ { "pause-threshold", "a switch pauses although little waits in it",
	    "pauses and the fullest ingress buffer, of several switches",
	    "its dynamic threshold (alpha, dynamic_th) is smaller than that of the others",
	    "the same buffer profile as on the others", "one-leaf-with-another-alpha", false },
	  wf_diag_threshold },
	{ { "polarised", "links that could carry traffic are idle at many switches",
	    "bytes of links between switches, and what is connected",
	    "switches of several tiers hash with the same function and seed",
	    "another hash seed in each tier", "hashes-that-agree", false },
	  wf_diag_polarised },
	{ { "slow-link", "a link is slower than those beside it",
	    "rates of ports, or bytes and queues of links side by side",
	    "it came up with fewer lanes or at a lower speed",
	    "reset the port, change the cable; until then drain it", "links-that-came-up-slow",
	    false },
	  wf_diag_slow_link },
	{ { "slow-host", "a host never sends as fast as the others",
	    "the highest rate of hosts' ports over time",
	    "its PCIe link came up slower or narrower, or its CPU and memory hold it back",
	    "lspci -vv (LnkSta), mlxlink; reseat or exchange", "one-adapter-behind-a-slow-pcie",
	    false },
	  wf_diag_slow_host },
	{ { "watchdog", "a PFC watchdog acted", "what watchdogs counted",
	    "a queue was paused and did not move: a storm, a deadlock, or a receiver that stood "
	    "still",
	    "follow the pauses to who sends them; the watchdog itself did what it is for",
	    "a-pause-storm", true },
	  wf_diag_watchdog },
	{ { "retransmissions", "requests were lost, sent again, or given up",
	    "timeouts, NAKs and retries of adapters",
	    "packets were lost: not a matter of congestion control",
	    "find where they are lost: drops and errors by port", NULL, true },
	  wf_diag_retransmit },
	{ { "receive-queue", "messages found no receive posted", "RNR NAKs and out_of_buffer",
	    "the program posts too few receives", "more receives, or a larger shared receive queue",
	    NULL, false },
	  wf_diag_receive_queue },
	{ { "lossy-drops", "a lossy class dropped packets",
	    "drops by queue of classes that PFC leaves alone",
	    "more came than fits, which is what a lossy class is for",
	    "nothing, unless it is RDMA's", NULL, true },
	  wf_diag_lossy_drops },
	{ { "congestion", "where pauses come from", "pauses by port, and what is connected",
	    "several send to one, faster than its link",
	    "spread the senders in time, or slow them down early", "congestion-that-spreads",
	    true },
	  wf_diag_congestion },
	{ { "credits", "ports that wait for credits",
	    "time, or ticks, with data and without credits", "congestion further on",
	    "follow it to the port that does not wait itself", NULL, true },
	  wf_diag_credits },
	{ { "collision", "flows share a link while others beside it have room",
	    "bytes of links between switches, and what is connected",
	    "hashing puts flows together by chance",
	    "more queue pairs a connection, or routing that looks at load", NULL, true },
	  wf_diag_collision },
	{ { "saturated", "counters that have stopped", "counters at the most that they can say",
	    "nobody reset them", "reset them (perfquery -R), and look again", NULL, false },
	  wf_diag_saturated },
};

_Static_assert(WF_ARRAY_SIZE(rules) <= 64, "lacking has a bit for each");

const size_t wf_rules_n = WF_ARRAY_SIZE(rules);

const struct wf_rule *wf_rule_at(size_t i)
{
	assert(i < wf_rules_n);
	return &rules[i].rule;
}

const char *wf_severity_name(enum wf_severity severity)
{
	static const char *const names[] = { "information", "warning", "error" };

	return names[severity];
}

/* ---- what rules say ---- */

struct wf_found *wf_diag_find(struct wf_diag *c, enum wf_severity severity, uint32_t port,
                              int queue, const char *fmt, ...)
{
	struct wf_diagnosis *d = c->d;
	struct wf_found *f;
	va_list ap;

	if (d->n == WF_FOUND_MAX) {
		d->more = true;
		return NULL;
	}
	f = &d->found[d->n++];
	*f = (struct wf_found){
		.rule = c->rule,
		.severity = severity,
		.device = port == WF_EV_NONE ? WF_EV_NONE : c->ev->ports[port].device,
		.port = port,
		.queue = queue == WF_DIAG_WHOLE ? WF_EV_NO_QUEUE : queue,
		.follows = -1,
	};
	va_start(ap, fmt);
	vsnprintf(f->what, sizeof(f->what), fmt, ap);
	va_end(ap);
	return f;
}

void wf_diag_stand(struct wf_diag *c, struct wf_found *f, uint32_t port, int queue,
                   enum wf_ev_counter counter)
{
	const struct wf_ev_sample *sample;
	uint64_t value;

	if (f == NULL || f->n_evidence == WF_FOUND_EVIDENCE || port == WF_EV_NONE)
		return;
	if (queue == WF_DIAG_WHOLE)
		queue = WF_EV_NO_QUEUE;
	sample = wf_evidence_get(c->ev, port, queue, counter, &value);
	if (sample == NULL && queue != WF_EV_NO_QUEUE)
		sample = wf_evidence_get(c->ev, port, WF_EV_NO_QUEUE, counter, &value);
	if (sample == NULL)
		return;
	f->evidence[f->n_evidence++] = (struct wf_found_evidence){ sample, value };
}

void wf_diag_stand_all(struct wf_diag *c, struct wf_found *f, uint32_t port,
                       enum wf_ev_counter counter)
{
	uint64_t value;

	if (port == WF_EV_NONE)
		return;
	for (int q = WF_EV_NO_QUEUE; q < WF_DIAG_WHOLE; q++) {
		if (wf_evidence_get(c->ev, port, q, counter, &value) != NULL && value > 0)
			wf_diag_stand(c, f, port, q, counter);
	}
}

void wf_diag_lacks(struct wf_diag *c)
{
	/* What counts nothing there has not happened. */
	for (size_t i = 0; i < wf_rules_n && !c->ev->whole; i++) {
		if (&rules[i].rule == c->rule)
			c->d->lacking |= UINT64_C(1) << i;
	}
}

const char *wf_diag_name(const struct wf_diag *c, uint32_t device)
{
	const struct wf_ev_device *d = &c->ev->devices[device];

	return d->title != NULL ? d->title : d->name;
}

void wf_diag_where(const struct wf_diag *c, uint32_t port, char text[WF_DIAG_WHERE])
{
	uint32_t peer = c->ports[port].peer_device;

	snprintf(text, WF_DIAG_WHERE, "%.60s port %.24s%s%.60s",
	         wf_diag_name(c, c->ev->ports[port].device), c->ev->ports[port].name,
	         peer != WF_EV_NONE ? " to " : "", peer != WF_EV_NONE ? wf_diag_name(c, peer) : "");
}

const char *wf_diag_class(unsigned q, char text[WF_DIAG_CLASS])
{
	if (q == WF_DIAG_WHOLE)
		snprintf(text, WF_DIAG_CLASS, "all priorities");
	else
		snprintf(text, WF_DIAG_CLASS, "priority %u", q);
	return text;
}

bool wf_diag_has(const struct wf_diag *c, const char *rule, uint32_t device)
{
	for (unsigned i = 0; i < c->d->n; i++) {
		if (strcmp(c->d->found[i].rule->name, rule) == 0 &&
		    (device == WF_EV_NONE || c->d->found[i].device == device))
			return true;
	}
	return false;
}

unsigned wf_diag_share(const struct wf_diag *c, uint64_t ps)
{
	if (c->span <= 0)
		return 0;
	return (unsigned)(wf_min_u64(ps, (uint64_t)c->span) / ((uint64_t)c->span / 1000 + 1));
}

uint64_t wf_diag_total(const struct wf_diag *c, uint32_t device, enum wf_ev_counter counter)
{
	uint64_t v;

	return wf_evidence_total(c->ev, device, counter, &v) ? v : 0;
}

/* ---- evidence by port and queue ---- */

/* One sample into its place; of the whole port where it has no queue. */
static void take(struct wf_diag_queue *q, enum wf_ev_counter counter, uint64_t v)
{
	/* Not a switch: few of all counters are wanted here. */
	if (counter == WF_EV_pause_tx || counter == WF_EV_pause_rx) {
		*(counter == WF_EV_pause_tx ? &q->pause_tx : &q->pause_rx) += v;
	} else if (counter == WF_EV_paused_ps || counter == WF_EV_credit_wait_ps) {
		q->stopped += v;
		q->knows_stopped = true;
	} else if (counter == WF_EV_pausing_ps) {
		q->pausing += v;
	} else if (counter == WF_EV_tx_bytes) {
		q->bytes += v;
		q->knows_bytes = true;
	} else if (counter == WF_EV_tx_packets) {
		q->packets += v;
	} else if (counter == WF_EV_ecn_marked) {
		q->marks += v;
		q->knows_marks = true;
	} else if (counter == WF_EV_drops_buffer) {
		q->drops += v;
	} else if (counter == WF_EV_queue_drops) {
		q->tail += v;
	} else if (counter == WF_EV_max_queue_bytes || counter == WF_EV_queue_watermark) {
		q->longest = wf_max_u64(q->longest, v);
	} else if (counter == WF_EV_max_buffer_bytes || counter == WF_EV_pg_shared_watermark) {
		q->fill = wf_max_u64(q->fill, v);
	} else if (counter == WF_EV_peak_rate) {
		q->peak = wf_max_u64(q->peak, v);
	}
}

static void add_queue(struct wf_diag_queue *all, const struct wf_diag_queue *q)
{
	all->pause_tx += q->pause_tx;
	all->pause_rx += q->pause_rx;
	all->stopped += q->stopped;
	all->pausing += q->pausing;
	all->bytes += q->bytes;
	all->packets += q->packets;
	all->marks += q->marks;
	all->drops += q->drops;
	all->tail += q->tail;
	all->longest = wf_max_u64(all->longest, q->longest);
	all->fill = wf_max_u64(all->fill, q->fill);
	all->peak = wf_max_u64(all->peak, q->peak);
	all->knows_marks |= q->knows_marks;
	all->knows_bytes |= q->knows_bytes;
	all->knows_stopped |= q->knows_stopped;
}

/* Pauses that a source does not tell apart by priority. */
static void take_whole(struct wf_diag_port *p, const struct wf_diag_queue *whole)
{
	struct wf_diag_queue *q = &p->q[WF_DIAG_WHOLE];

	for (unsigned i = 0; i < WF_DIAG_WHOLE; i++) {
		if (p->q[i].pause_tx + p->q[i].pause_rx > 0)
			return;
	}
	if (whole->pause_tx + whole->pause_rx == 0)
		return;
	*q = *whole;
	/* These are known of ports anyway. */
	q->bytes = q->packets = q->peak = 0;
	q->knows_bytes = false;
}

static void take_port(struct wf_diag *c, uint32_t id)
{
	const struct wf_ev_port *port = &c->ev->ports[id];
	struct wf_diag_port *p = &c->ports[id];
	struct wf_diag_queue whole = { 0 };

	p->peer_device = port->peer == WF_EV_NONE ? WF_EV_NONE : c->ev->ports[port->peer].device;
	p->to_host = wf_diag_is_host(c, p->peer_device);
	c->links |= port->peer != WF_EV_NONE;
	for (uint32_t i = port->first; i < port->end; i++) {
		const struct wf_ev_sample *s = &c->ev->samples[i];
		enum wf_ev_counter counter = (enum wf_ev_counter)s->counter;
		uint64_t v = wf_evidence_growth(c->ev, s);

		if (s->when != c->ev->later || s->queue >= WF_DIAG_WHOLE)
			continue;
		c->credits |= counter == WF_EV_credit_wait_ps || counter == WF_EV_xmit_wait_ticks;
		c->ethernet |= counter == WF_EV_pause_rx || counter == WF_EV_pause_tx;
		take(s->queue >= 0 ? &p->q[s->queue] : &whole, counter, v);
		if (s->queue >= 0 && v > 0)
			c->queues = (uint32_t)wf_max_u64(c->queues, (uint64_t)s->queue + 1);
	}
	take_whole(p, &whole);
	for (unsigned q = 0; q < WF_DIAG_QUEUES; q++) {
		c->paused[q] |= p->q[q].pause_tx + p->q[q].pause_rx > 0;
		add_queue(&p->all, &p->q[q]);
	}
	/* What is of the whole port counts where its queues do not say it. */
	if (!p->all.knows_bytes) {
		p->all.bytes = whole.bytes;
		p->all.packets = whole.packets;
		p->all.knows_bytes = whole.knows_bytes;
	}
	if (!p->all.knows_stopped) {
		p->all.stopped = whole.stopped;
		p->all.knows_stopped = whole.knows_stopped;
	}
	p->all.drops = wf_max_u64(p->all.drops, whole.drops);
	p->all.peak = wf_max_u64(p->all.peak, whole.peak);
}

/* Tiers of switches: what a source says, or how far hosts are. */
static void find_tiers(struct wf_diag *c)
{
	bool more = true;

	for (uint32_t i = 0; i < c->ev->n_devices; i++)
		c->tier[i] = c->ev->devices[i].tier;
	while (more) {
		more = false;
		for (uint32_t p = 0; p < c->ev->n_ports; p++) {
			uint32_t peer = c->ports[p].peer_device;
			uint32_t *tier = &c->tier[c->ev->ports[p].device];
			uint32_t next;

			if (peer == WF_EV_NONE ||
			    c->ev->devices[c->ev->ports[p].device].kind == WF_EV_HOST ||
			    (!c->ports[p].to_host && c->tier[peer] == 0))
				continue;
			next = c->ports[p].to_host ? 1 : c->tier[peer] + 1;
			if (*tier == 0 || *tier > next) {
				*tier = next;
				more = true;
			}
		}
	}
}

bool wf_diag_is_beside(const struct wf_diag *c, uint32_t a, uint32_t b)
{
	uint32_t pa = c->ports[a].peer_device, pb = c->ports[b].peer_device;

	return a != b && c->ev->ports[a].device == c->ev->ports[b].device && pa != WF_EV_NONE &&
	       pb != WF_EV_NONE && !c->ports[a].to_host && !c->ports[b].to_host &&
	       c->tier[pa] == c->tier[pb];
}

/* ---- order ---- */

/* Causes before effects, errors before warnings; else as the rules were asked. */
static bool is_before(const struct wf_found *a, const struct wf_found *b)
{
	bool info_a = a->severity == WF_SEVERITY_INFO, info_b = b->severity == WF_SEVERITY_INFO;

	if (info_a != info_b)
		return info_b;
	if (a->rule->effect != b->rule->effect)
		return b->rule->effect;
	return false;
}

static void put_in_order(struct wf_diagnosis *d)
{
	/* Few: an insertion keeps equals as they are. */
	for (unsigned i = 1; i < d->n; i++) {
		struct wf_found f = d->found[i];
		unsigned k = i;

		for (; k > 0 && is_before(&f, &d->found[k - 1]); k--)
			d->found[k] = d->found[k - 1];
		d->found[k] = f;
	}
	for (unsigned i = 1; i < d->n; i++) {
		const struct wf_found *first = &d->found[0];

		if (first->severity != WF_SEVERITY_INFO && !first->rule->effect &&
		    d->found[i].rule->effect)
			d->found[i].follows = 0;
	}
}

int wf_diagnose(const struct wf_evidence *ev, struct wf_mem *mem, struct wf_diagnosis *d)
{
	struct wf_diag c = { .ev = ev, .d = d, .span = ev->interval };

	memset(d, 0, sizeof(*d));
	d->mem = mem;
	d->hot = mem->alloc(mem, ev->n_devices + 1);
	c.ports = mem->alloc(mem, (ev->n_ports + 1) * sizeof(*c.ports));
	c.tier = mem->alloc(mem, (ev->n_devices + 1) * sizeof(*c.tier));
	if (d->hot == NULL || c.ports == NULL || c.tier == NULL) {
		mem->free(mem, c.ports);
		mem->free(mem, c.tier);
		wf_diagnosis_fini(d);
		return -ENOMEM;
	}
	for (uint32_t p = 0; p < ev->n_ports; p++)
		take_port(&c, p);
	find_tiers(&c);
	for (size_t i = 0; i < wf_rules_n; i++) {
		c.rule = &rules[i].rule;
		rules[i].fn(&c);
	}
	put_in_order(d);
	mem->free(mem, c.ports);
	mem->free(mem, c.tier);
	return 0;
}

void wf_diagnosis_fini(struct wf_diagnosis *d)
{
	d->mem->free(d->mem, d->hot);
	d->hot = NULL;
}

enum wf_severity wf_diagnosis_worst(const struct wf_diagnosis *d)
{
	enum wf_severity worst = WF_SEVERITY_INFO;

	for (unsigned i = 0; i < d->n; i++) {
		if (d->found[i].severity > worst)
			worst = d->found[i].severity;
	}
	return worst;
}
