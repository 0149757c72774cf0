/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notes.c - the rules that speak of one kind of queue or of the whole run; notes_spread.c has the
 * rest.
 */
#include "run/notes_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void wf_note_say(struct wf_note_ctx *c, const char *fmt, ...)
{
	struct wf_notes *notes = &c->run->notes;
	struct wf_note *note;
	va_list ap;

	if (notes->n == WF_NOTES_MAX)
		return;
	note = &notes->note[notes->n++];
	note->rule = c->rule;
	va_start(ap, fmt);
	vsnprintf(note->text, sizeof(note->text), fmt, ap);
	va_end(ap);
}

const struct wf_topo_node *wf_note_peer(const struct wf_note_ctx *c, uint32_t node, unsigned port)
{
	const struct wf_topo *topo = c->run->fabric->net->topo;

	return &topo->nodes[topo->ports[topo->nodes[node].first_port + port].peer];
}

const char *wf_note_name(const struct wf_note_ctx *c, uint32_t node)
{
	return c->run->fabric->net->topo->nodes[node].name;
}

wf_time wf_note_span(const struct wf_note_ctx *c)
{
	const struct wf_run *run = c->run;

	return run->completion > 0 ? run->completion : run->result.end;
}

static bool is_flowctl(const struct wf_note_ctx *c, const char *name)
{
	return strcmp(c->run->fabric->cfg.flowctl, name) == 0;
}

static bool is_host(const struct wf_run *run, uint32_t node)
{
	return run->fabric->net->topo->nodes[node].kind == WF_TOPO_HOST;
}

/*
 * The row for which value is largest, or NULL when it is 0 everywhere; hosts: of all ports, not
 * only those of switches.
 */
static const struct wf_run_port *largest(const struct wf_run *run, unsigned queue, bool hosts,
                                         uint64_t (*value)(const struct wf_sim_counts *))
{
	const struct wf_run_port *best = NULL;

	for (size_t i = 0; i < run->n_ports; i++) {
		const struct wf_run_port *p = &run->ports[i];

		if (p->queue == queue && (hosts || !is_host(run, p->node)) &&
		    value(&p->counts) > (best ? value(&best->counts) : 0))
			best = p;
	}
	return best;
}

static uint64_t pauses_sent(const struct wf_sim_counts *c)
{
	return c->pause_tx;
}

static uint64_t buffer_drops(const struct wf_sim_counts *c)
{
	return c->drops_buffer;
}

static uint64_t credit_wait(const struct wf_sim_counts *c)
{
	return c->credit_wait_ps;
}

static void ecn_above_xoff(struct wf_note_ctx *c)
{
	const struct wf_fabric_cfg *cfg = &c->run->fabric->cfg;
	const struct wf_classes *classes = &c->run->fabric->classes;

	for (unsigned q = 0; is_flowctl(c, "pfc") && q < classes->n; q++) {
		const struct wf_sim_counts *sum = &c->run->result.queue[q];
		const struct wf_run_port *most = largest(c->run, q, false, pauses_sent);
		char kmin[WF_HUMAN], xoff[WF_HUMAN], pauses[WF_HUMAN], marks[WF_HUMAN];
		struct wf_sim_lane_state state;

		if (!classes->queue[q].lossless || !classes->queue[q].ecn || most == NULL ||
		    cfg->ecn_by_rate[0] != '\0' ||
		    !wf_sim_lane_state(c->sim, most->node, most->port, q, &state) ||
		    state.xoff == 0 || /* a host, whose adapter pauses by itself */
		    (cfg->ecn_kmin <= state.xoff && sum->ecn_marked > 0))
			continue;
		wf_human_bytes(cfg->ecn_kmin, kmin, sizeof(kmin));
		wf_human_bytes(state.xoff, xoff, sizeof(xoff));
		wf_human_count(sum->pause_tx, pauses, sizeof(pauses));
		wf_human_count(sum->ecn_marked, marks, sizeof(marks));
		wf_note_say(
			c,
			"class %u: ECN marks begin at a queue of %s, but PFC stops a sender as "
			"soon as "
			"%s of it wait in %s (less when others wait there too): PFC acts first, "
			"congestion control %s the queue (%s pauses, %s marks); lower ecn.kmin, or "
			"raise buffer.alpha or buffer.size",
			classes->queue[q].id, kmin, xoff, wf_note_name(c, most->node),
			sum->ecn_marked == 0 ? "never sees" : "hardly sees", pauses, marks);
	}
}

/* Why the lossless class of a port lost packets for want of room. */
static void say_headroom(struct wf_note_ctx *c, const struct wf_run_port *p, uint64_t drops)
{
	char n[WF_HUMAN], has[WF_HUMAN], needs[WF_HUMAN], less[WF_HUMAN];
	bool host = is_host(c->run, p->node);
	struct wf_sim_lane_state state;

	if (host && wf_note_drops_at_host(c, p, drops))
		return;
	if (!wf_sim_lane_state(c->sim, p->node, p->port, p->queue, &state))
		return;
	wf_human_count(drops, n, sizeof(n));
	wf_human_bytes(state.capacity, has, sizeof(has));
	wf_human_bytes(state.needed, needs, sizeof(needs));
	if (state.capacity >= state.needed) {
		wf_note_say(
			c,
			"class %u lost %s packets for want of buffer, most at %s from %s, although "
			"its headroom of %s covers the %s that the link needs",
			c->run->result.queue_id[p->queue], n, wf_note_name(c, p->node),
			wf_note_peer(c, p->node, p->port)->name, has, needs);
		return;
	}
	wf_human_bytes(state.needed - state.capacity, less, sizeof(less));
	wf_note_say(
		c,
		"class %u is lossless and lost %s packets, most at %s from %s: after a pause that "
		"link still delivers up to %s, and %s %s: %s too little; write %s: auto",
		c->run->result.queue_id[p->queue], n, wf_note_name(c, p->node),
		wf_note_peer(c, p->node, p->port)->name, needs,
		host ? "nic.rx_xoff leaves" : "buffer.headroom holds", has, less,
		host ? "nic.rx_xoff" : "buffer.headroom");
}

static void lossless_drops(struct wf_note_ctx *c)
{
	const struct wf_classes *classes = &c->run->fabric->classes;

	for (unsigned q = 0; q < classes->n; q++) {
		const struct wf_sim_counts *sum = &c->run->result.queue[q];
		const struct wf_run_port *most = largest(c->run, q, true, buffer_drops);
		char n[WF_HUMAN], stalls[120] = "";

		if (!classes->queue[q].lossless)
			continue;
		if (most != NULL && is_flowctl(c, "pfc"))
			say_headroom(c, most, sum->drops_buffer);
		if (sum->drops_life > 0) {
			wf_human_count(sum->drops_life, n, sizeof(n));
			if (sum->vl_stalls > 0)
				snprintf(stalls, sizeof(stalls),
				         ", or came while it was stalled (vl.stall_count), which "
				         "happened %llu time%s",
				         (unsigned long long)sum->vl_stalls,
				         sum->vl_stalls == 1 ? "" : "s");
			wf_note_say(c,
			            "VL %u lost %s packets that were longer than vl.hoq_life at "
			            "the head "
			            "of a queue: congestion lasted longer than that%s",
			            classes->queue[q].id, n, stalls);
		}
	}
}

/* Go-back-N sends again all that was sent behind a packet that is missing; others, less. */
static void resend_storm(struct wf_note_ctx *c)
{
	const struct wf_sim_result *r = &c->run->result;
	uint64_t missing = r->packets_dropped + c->run->total.trimmed;
	char again[WF_HUMAN], lost[WF_HUMAN];
	bool overtaking;

	if (r->resent * 20 < r->packets_sent || r->resent == 0)
		return;
	overtaking = r->resent > 4 * missing && strcmp(c->run->fabric->cfg.routing, "spray") == 0;
	wf_human_count(r->resent, again, sizeof(again));
	wf_human_count(missing, lost, sizeof(lost));
	wf_note_say(
		c, "%llu %% of all packets were sent again: %s, for %s that were lost%s%s%s",
		(unsigned long long)(r->resent * 100 / r->packets_sent), again, lost,
		c->run->total.trimmed != 0 ? " or trimmed" : "",
		overtaking ? " (sprayed packets overtake each other, which looks like a loss)" : "",
		c->run->total.trimmed == 0 && r->resent > r->tcp.counter[WF_TCP_CTR_RETRANS_SEGS]
			? "; go-back-N repeats everything behind a packet that is missing"
			: "");
}

static void credits_stalled(struct wf_note_ctx *c)
{
	wf_time span = wf_note_span(c);

	if (span <= 0 || !is_flowctl(c, "credit"))
		return;
	for (unsigned q = 0; q < c->run->result.n_queues; q++) {
		const struct wf_run_port *worst = largest(c->run, q, true, credit_wait);
		struct wf_sim_lane_state state;
		unsigned n = 0;
		char has[WF_HUMAN], needs[WF_HUMAN], why[160] = "";

		if (worst == NULL || worst->counts.credit_wait_ps * 2 < (uint64_t)span)
			continue;
		for (size_t i = 0; i < c->run->n_ports; i++)
			n += c->run->ports[i].queue == q &&
			     c->run->ports[i].counts.credit_wait_ps * 2 >= (uint64_t)span;
		if (wf_sim_lane_state(c->sim, worst->node, worst->port, q, &state) &&
		    state.capacity < state.needed) {
			wf_human_bytes(state.capacity, has, sizeof(has));
			wf_human_bytes(state.needed, needs, sizeof(needs));
			snprintf(why, sizeof(why),
			         ": vl.buffer is %s and credits for %s are on their way on this "
			         "cable; "
			         "raise it",
			         has, needs);
		}
		wf_note_say(
			c,
			"VL %u: %u port%s waited for credits for more than half of the time, most "
			"%s to "
			"%s (%llu %%)%s",
			c->run->result.queue_id[q], n, n == 1 ? "" : "s",
			wf_note_name(c, worst->node),
			wf_note_peer(c, worst->node, worst->port)->name,
			(unsigned long long)(worst->counts.credit_wait_ps * 100 / (uint64_t)span),
			why);
	}
}

/* Congestion control's times are not scaled with a job's: it has less time to come to rest. */
static void scaled_congestion(struct wf_note_ctx *c)
{
	const struct wf_run *run = c->run;
	char marks[WF_HUMAN];

	if (run->train == NULL || run->train->scale >= 1 || run->total.ecn_marked == 0 ||
	    strcmp(run->fabric->values.cc.algorithm, "none") == 0)
		return;
	wf_human_count(run->total.ecn_marked, marks, sizeof(marks));
	wf_note_say(
		c,
		"the job is scaled and congestion control acts (%s marks): its timers are not "
		"scaled, so that it takes more of the step than it would, and scale_error does not "
		"bound by how much; run it with scale: 1, or with cc: none to see what it costs "
		"here",
		marks);
}

typedef void rule_fn(struct wf_note_ctx *c);

static const struct {
	struct wf_note_rule rule;
	rule_fn *fn;
} rules[] = {
	{ { "deadlock",
	    "queues wait for one another in a circle that none can leave; since when, and after "
	    "what" },
	  wf_note_deadlock },
	{ { "standstill", "queues stand still behind a host that lets nobody send to it" },
	  wf_note_standstill },
	{ { "lossless-drops",
	    "a lossless class lost packets to congestion; by how much the headroom is too small" },
	  lossless_drops },
	{ { "link-errors", "packets were lost to errors on links; which, and its error rate" },
	  wf_note_link_errors },
	{ { "fec-margin", "a link's raw bit errors are near the limit of its FEC, or beyond" },
	  wf_note_fec_margin },
	{ { "link-retries", "links sent packets again; how many, and what that took" },
	  wf_note_link_retries },
	{ { "link-down", "links were down; which, for how long, and how many packets that took" },
	  wf_note_link_down },
	{ { "pfc-watchdog", "PFC watchdogs acted: on which queues, and what they dropped; or their "
	                    "times are not the "
	                    "real ones" },
	  wf_note_watchdog },
	{ { "slow-receiver", "a host took in less than came, and stopped others or lost packets" },
	  wf_note_slow_receiver },
	{ { "ecn-above-xoff", "PFC stops senders before the queue is long enough for marks" },
	  ecn_above_xoff },
	{ { "pauses-spread", "PFC pauses reached switches and hosts beside the congestion" },
	  wf_note_pauses_spread },
	{ { "resend-storm", "a twentieth of the packets or more were sent again" }, resend_storm },
	{ { "path-collision", "flows share links, up or down, while there is room beside them" },
	  wf_note_path_collision },
	{ { "credits-stalled", "ports waited for credits for more than half of the time" },
	  credits_stalled },
	{ { "scaled-congestion", "congestion control acts in a job that is scaled" },
	  scaled_congestion },
	{ { "sharp-fallback",
	    "communicators for which no switch reduces, because trees or adapters are taken" },
	  wf_note_sharp_fallback },
	{ { "no-groups", "a subnet manager could not set adaptive routing up" },
	  wf_note_no_groups },
	{ { "sharp-lost", "a tree of switches that reduce lost a link, which ends the job" },
	  wf_note_sharp_lost },
	{ { "cc-collapse", "congestion control holds senders back while no link is busy" },
	  wf_note_cc_collapse },
};

bool wf_notes_rule(size_t i, struct wf_note_rule *rule)
{
	if (i >= WF_ARRAY_SIZE(rules))
		return false;
	*rule = rules[i].rule;
	return true;
}

void wf_notes_make(const struct wf_scenario *scenario, const struct wf_sim *sim, struct wf_run *run)
{
	run->notes.n = 0;
	for (size_t i = 0; i < WF_ARRAY_SIZE(rules); i++) {
		struct wf_note_ctx c = {
			.scenario = scenario, .sim = sim, .run = run, .rule = rules[i].rule.name
		};

		rules[i].fn(&c);
	}
}
