/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict.c - weighs the figures of the fabrics and says why.
 */
#include "study/verdict.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define LATENCY_GAP 1.15 /* small messages take this much longer: it counts */
#define STAFF_GAP                                                                                  \
	0.10 /* neglect costs one side so much more of the time than the other: it counts */
#define COST_GAP 0.05 /* one side costs so much less: it counts */
#define CELL 64
#define RANGE 200
#define CURED 0.25      /* of what a fabric is behind: a cure that takes less away cures nothing */
#define NO_SPREAD 0.005 /* of the time: not worth a word */

/* ---- what the rules work on ---- */

struct judge {
	const struct wf_verdict_fabric *fabric;
	unsigned n, matters;
	enum wf_metric decides;
	struct wf_verdict *out;
};

enum side { INFINIBAND, ETHERNET, SIDES, ANY };

static const char *const side_names[] = { "InfiniBand", "Ethernet" };

/* The rows of the question; the last is for fabrics that nobody put into a state. */
static const struct {
	unsigned state;
	const char *name;
} rows[] = {
	{ WF_STATE_BEST, "At their best" },
	{ WF_STATE_DEFAULT, "As they come" },
	{ WF_STATE_NEGLECTED, "Neglected" },
	{ 0, "The fastest of each" },
};

static void because(struct judge *j, const char *fmt, ...) WF_PRINTF(2, 3);

static void because(struct judge *j, const char *fmt, ...)
{
	va_list ap;

	if (j->out->n_reasons == WF_VERDICT_LINES)
		return;
	va_start(ap, fmt);
	vsnprintf(j->out->reason[j->out->n_reasons++], WF_VERDICT_LINE, fmt, ap);
	va_end(ap);
}

static double value(const struct judge *j, int i, enum wf_metric which)
{
	return j->fabric[i].metrics.value[which];
}

/* How many times longer i takes than k. */
static double ratio(const struct judge *j, int i, int k)
{
	return value(j, i, j->decides) / value(j, k, j->decides);
}

static double percent(double ratio)
{
	return (ratio - 1) * 100;
}

static bool has_time(const struct judge *j, unsigned i)
{
	return j->fabric[i].finished && wf_metric_has(&j->fabric[i].metrics, j->decides);
}

static bool loses(const struct judge *j, unsigned i)
{
	return j->fabric[i].high.value[WF_METRIC_LOSSLESS_DROPS] > 0;
}

static bool counts(const struct judge *j, unsigned i)
{
	return has_time(j, i) && !loses(j, i);
}

static enum side side_of(const struct judge *j, unsigned i)
{
	return j->fabric[i].family == WF_FAMILY_INFINIBAND ? INFINIBAND : ETHERNET;
}

/* With every seed a takes longer than b does with any, by what counts. */
static bool always_slower(const struct judge *j, int a, int b)
{
	return j->fabric[a].low.value[j->decides] >
	       j->fabric[b].high.value[j->decides] * (1 + WF_VERDICT_ALIKE);
}

static bool are_close(const struct judge *j, int a, int b)
{
	double r = ratio(j, a, b);

	return r <= 1 + WF_VERDICT_ALIKE && 1 / r <= 1 + WF_VERDICT_ALIKE;
}

static bool are_alike(const struct judge *j, int a, int b)
{
	return !always_slower(j, a, b) && !always_slower(j, b, a);
}

/* The fastest of those that count, on a side and in a state (0: in any); -1: there is none. */
static int fastest(const struct judge *j, enum side side, unsigned state)
{
	int best = -1;

	for (unsigned i = 0; i < j->n; i++) {
		if (counts(j, i) && (side == ANY || side_of(j, i) == side) &&
		    (state == 0 || (j->fabric[i].states & state) != 0) &&
		    (best < 0 || ratio(j, (int)i, best) < 1))
			best = (int)i;
	}
	return best;
}

/* A side's best state, or where that is not there or is out, the fastest of the others. */
static int best_of(const struct judge *j, enum side side)
{
	int best = fastest(j, side, WF_STATE_BEST);

	return best >= 0 ? best : fastest(j, side, 0);
}

/*
 * Which fabric to name for a side whose fastest is best: one that is as it comes, where that is as
 * good as it; nobody tunes for nothing.
 */
static int plainest(const struct judge *j, int best)
{
	int plain = fastest(j, side_of(j, (unsigned)best), WF_STATE_DEFAULT);

	return plain >= 0 && are_close(j, plain, best) ? plain : best;
}

/* ---- words for figures ---- */

/* "150.1 ms (148.0 to 151.2 ms, MFU 41.5 %)" */
static void say_time(const struct judge *j, int i, char *buf, size_t size)
{
	const struct wf_verdict_fabric *f = &j->fabric[i];
	char time[CELL], low[CELL], high[CELL], mfu[CELL];
	bool spread, has_mfu = wf_metric_has(&f->metrics, WF_METRIC_MFU);

	wf_metric_format(j->decides, f->metrics.value[j->decides], time, sizeof(time));
	wf_metric_format(j->decides, f->low.value[j->decides], low, sizeof(low));
	wf_metric_format(j->decides, f->high.value[j->decides], high, sizeof(high));
	wf_metric_format(WF_METRIC_MFU, f->metrics.value[WF_METRIC_MFU], mfu, sizeof(mfu));
	spread = f->high.value[j->decides] > f->low.value[j->decides] * (1 + NO_SPREAD);
	snprintf(buf, size, "%s%s%s%s%s%s%s%s%s", time, spread || has_mfu ? " (" : "",
	         spread ? low : "", spread ? " to " : "", spread ? high : "",
	         spread && has_mfu ? ", " : "", has_mfu ? "MFU " : "", has_mfu ? mfu : "",
	         spread || has_mfu ? ")" : "");
}

/* How b stands to a, which is not slower. */
static void say_gap(const struct judge *j, int a, int b, char *buf, size_t size)
{
	double longer = percent(ratio(j, b, a));

	if (are_close(j, a, b))
		snprintf(buf, size, "%.1f %% apart, which is no difference that counts", longer);
	else if (are_alike(j, a, b))
		snprintf(buf, size,
		         "%s takes %.0f %% longer at the median, but that is within the spread of "
		         "the seeds",
		         j->fabric[b].label, longer);
	else
		snprintf(buf, size, "%s takes %.0f %% longer%s", j->fabric[b].label, longer,
		         j->fabric[b].seeds > 1 ? ", and longer with every seed" : "");
}

/* ---- how the fabrics stand ---- */

/* A row of the question: each side in one state. False: a side has nothing in it. */
static bool say_row(struct judge *j, unsigned state, const char *name)
{
	int ib = fastest(j, INFINIBAND, state), eth = fastest(j, ETHERNET, state);
	char a[RANGE], b[RANGE], gap[RANGE];
	int first, second;

	if (ib < 0 || eth < 0)
		return false;
	first = ratio(j, eth, ib) < 1 ? eth : ib;
	second = first == ib ? eth : ib;
	say_time(j, first, a, sizeof(a));
	say_time(j, second, b, sizeof(b));
	say_gap(j, first, second, gap, sizeof(gap));
	because(j, "%s: %s %s, %s %s: %s.", name, j->fabric[first].label, a,
	        j->fabric[second].label, b, gap);
	return true;
}

static void say_rows(struct judge *j)
{
	bool some = false;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].state != 0 || !some)
			some |= say_row(j, rows[i].state, rows[i].name);
	}
}

/* What changes of a slow fabric came to, with the seed that is its median. */
static void say_cures(const struct judge *j, unsigned i, int best, char *buf, size_t size)
{
	const struct wf_verdict_fabric *f = &j->fabric[i];
	double target = value(j, best, j->decides);
	size_t len = 0;

	buf[0] = '\0';
	for (unsigned k = 0; k < f->n_cures && len < size; k++) {
		char time[CELL];

		wf_metric_format(j->decides, f->cure[k].time, time, sizeof(time));
		if (isnan(f->cure[k].time))
			snprintf(time, sizeof(time), "does not finish");
		len += (size_t)snprintf(buf + len, size - len, "%s %s: %s",
		                        k == 0 ? " Tried with that seed:" : ";", f->cure[k].what,
		                        time);
		if (!isnan(f->cure[k].time) && len < size)
			len += (size_t)snprintf(buf + len, size - len, " (%+.0f %%)",
			                        percent(f->cure[k].time / target));
	}
	if (len > 0 && len < size)
		snprintf(buf + len, size - len, ".");
}

/*
 * Of the time that a fabric is behind the best, with its median seed, the part that the best cure
 * takes away.
 */
static double cured(const struct judge *j, const struct wf_verdict_fabric *f, int best)
{
	double behind = f->time - value(j, best, j->decides), gain = 0;

	for (unsigned k = 0; k < f->n_cures && behind > 0; k++) {
		if (f->time - f->cure[k].time > gain * behind)
			gain = (f->time - f->cure[k].time) / behind;
	}
	return gain;
}

/* What a run says of itself is the cause only if curing it helps. */
static void say_why(const struct judge *j, unsigned i, int best, char *buf, size_t size)
{
	const struct wf_verdict_fabric *f = &j->fabric[i];
	double latency = value(j, (int)i, WF_METRIC_LATENCY) / value(j, best, WF_METRIC_LATENCY);
	bool is_cause = f->n_cures == 0 || cured(j, f, best) >= CURED;
	char seed[CELL] = "", cell[2][CELL];
	size_t len = 0;

	buf[0] = '\0';
	if (f->seeds > 1)
		snprintf(seed, sizeof(seed), " with seed %llu", (unsigned long long)f->seed);
	if (f->why != NULL && is_cause)
		len = (size_t)snprintf(buf, size, ". Why%s%s: %s", f->seeds > 1 ? "," : "", seed,
		                       f->why);
	else if (f->why != NULL)
		len = (size_t)snprintf(buf, size,
		                       ". What is seen%s is not why, for curing it changes "
		                       "little: %s",
		                       seed, f->why);
	if ((f->why == NULL || !is_cause) && latency >= LATENCY_GAP && len < size) {
		wf_metric_format(WF_METRIC_LATENCY, value(j, (int)i, WF_METRIC_LATENCY), cell[0],
		                 CELL);
		wf_metric_format(WF_METRIC_LATENCY, value(j, best, WF_METRIC_LATENCY), cell[1],
		                 CELL);
		snprintf(buf + len, size - len,
		         ". Its delays are longer: a write of 8 B takes %s, there %s", cell[0],
		         cell[1]);
	}
}

/* What is to be said of one that is not alike to the best. */
static void say_slow(struct judge *j, unsigned i, int best)
{
	const struct wf_verdict_fabric *f = &j->fabric[i];
	char cures[WF_VERDICT_LINE / 2], why[WF_VERDICT_LINE / 2] = "", lost[CELL] = "";
	char spread[CELL] = "";

	if (!has_time(j, i)) {
		because(j, "%s did not finish%s%s%s.", f->label,
		        f->seeds > 1 ? " with every seed" : "", f->why != NULL ? ": " : "",
		        f->why != NULL ? f->why : "");
		return;
	}
	if (loses(j, i))
		snprintf(lost, sizeof(lost), " and loses packets that it promises to keep");
	if (!loses(j, i) && are_close(j, (int)i, best))
		return;
	if (are_alike(j, (int)i, best))
		snprintf(spread, sizeof(spread), " at the median, within the spread of the seeds");
	say_cures(j, i, best, cures, sizeof(cures));
	say_why(j, i, best, why, sizeof(why));
	because(j, "%s takes %.0f %% longer than %s%s%s%s.%s", f->label,
	        percent(ratio(j, (int)i, best)), j->fabric[best].label, spread, lost, why, cures);
}

static void say_standing(struct judge *j, int best)
{
	say_rows(j);
	for (unsigned i = 0; i < j->n; i++) {
		if ((int)i != best && !j->fabric[i].folded)
			say_slow(j, i, best);
	}
	if (j->fabric[best].seeds == 1)
		because(j, "This is one seed: what chance does to it is not known; --seeds 5 shows "
		           "it.");
}

/* ---- what matters: points for InfiniBand, less points for Ethernet ---- */

static int weigh_latency(struct judge *j, int ib, int eth)
{
	enum wf_metric which = WF_METRIC_COLL_SMALL;
	char a[CELL], b[CELL];
	double gap;

	if (!wf_metric_has(&j->fabric[ib].metrics, which) ||
	    !wf_metric_has(&j->fabric[eth].metrics, which))
		which = WF_METRIC_LATENCY;
	if (!wf_metric_has(&j->fabric[ib].metrics, which) ||
	    !wf_metric_has(&j->fabric[eth].metrics, which)) {
		because(j, "Latency matters: it was not measured.");
		return 0;
	}
	gap = value(j, eth, which) / value(j, ib, which);
	wf_metric_format(which, value(j, ib, which), a, sizeof(a));
	wf_metric_format(which, value(j, eth, which), b, sizeof(b));
	because(j, "Latency matters: small messages take %s on %s and %s on %s (%.2f times).", a,
	        j->fabric[ib].label, b, j->fabric[eth].label, gap);
	return gap >= LATENCY_GAP ? 1 : gap <= 1 / LATENCY_GAP ? -1 : 0;
}

/*
 * How many times longer than its best the neglected state of a side takes; 0: it was not compared.
 */
static double neglect(const struct judge *j, enum side side, int *which_p)
{
	int best = fastest(j, side, 0);
	double worst = 0;

	*which_p = -1;
	for (unsigned i = 0; best >= 0 && i < j->n; i++) {
		double by;

		if (side_of(j, i) != side || (j->fabric[i].states & WF_STATE_NEGLECTED) == 0)
			continue;
		by = counts(j, i) ? ratio(j, (int)i, best) : (double)INFINITY;
		if (*which_p < 0 || by > worst) {
			worst = by;
			*which_p = (int)i;
		}
	}
	return worst;
}

static void say_neglect(const struct judge *j, double by, int which, char *buf, size_t size)
{
	if (isinf(by))
		snprintf(buf, size, "%s fails", j->fabric[which].label);
	else
		snprintf(buf, size, "%s takes %.0f %% longer than the best of its side",
		         j->fabric[which].label, percent(by));
}

static int weigh_staff(struct judge *j)
{
	double by[SIDES];
	char text[SIDES][RANGE];
	int which[SIDES], points;

	for (enum side s = 0; s < SIDES; s++) {
		by[s] = neglect(j, s, &which[s]);
		if (which[s] < 0) {
			because(j,
			        "Nobody to tune it matters: no neglected %s was compared, so this "
			        "speaks for nobody.",
			        side_names[s]);
			return 0;
		}
		say_neglect(j, by[s], which[s], text[s], sizeof(text[s]));
	}
	points = by[ETHERNET] > by[INFINIBAND] + STAFF_GAP   ? 1
	         : by[INFINIBAND] > by[ETHERNET] + STAFF_GAP ? -1
	                                                     : 0;
	because(j, "Nobody to tune it matters: neglected, %s; %s: this speaks for %s.",
	        text[INFINIBAND], text[ETHERNET],
	        points > 0   ? side_names[INFINIBAND]
	        : points < 0 ? side_names[ETHERNET]
	                     : "nobody");
	return points;
}

/* "12 switches, 432 to 600 k$" */
static void say_cost(const struct judge *j, int i, char *buf, size_t size)
{
	const struct wf_verdict_fabric *f = &j->fabric[i];
	char n[CELL], low[CELL], high[CELL];

	wf_metric_format(WF_METRIC_SWITCHES, f->metrics.value[WF_METRIC_SWITCHES], n, sizeof(n));
	wf_metric_format(WF_METRIC_COST, f->low.value[WF_METRIC_COST], low, sizeof(low));
	wf_metric_format(WF_METRIC_COST, f->high.value[WF_METRIC_COST], high, sizeof(high));
	snprintf(buf, size, "%s (switches: %s) %s to %s", f->label, n, low, high);
}

static int weigh_cost(struct judge *j, int ib, int eth)
{
	const struct wf_verdict_fabric *a = &j->fabric[ib], *b = &j->fabric[eth];
	char cell[2][RANGE];
	int points;

	if (isnan(value(j, ib, WF_METRIC_COST)) || isnan(value(j, eth, WF_METRIC_COST))) {
		because(j, "Cost matters: no price is known of %s; use your own offers.",
		        isnan(value(j, ib, WF_METRIC_COST)) ? a->label : b->label);
		return 0;
	}
	say_cost(j, ib, cell[0], sizeof(cell[0]));
	say_cost(j, eth, cell[1], sizeof(cell[1]));
	points = b->high.value[WF_METRIC_COST] < a->low.value[WF_METRIC_COST]   ? -1
	         : a->high.value[WF_METRIC_COST] < b->low.value[WF_METRIC_COST] ? 1
	                                                                        : 0;
	because(j,
	        "Cost matters: public prices of switches, cables and optics: %s; %s. This speaks "
	        "for "
	        "%s; "
	        "your own offers count more.",
	        cell[0], cell[1],
	        points > 0   ? side_names[INFINIBAND]
	        : points < 0 ? side_names[ETHERNET]
	                     : "nobody, for the ranges meet");
	return points;
}

static int weigh(struct judge *j, int ib, int eth)
{
	int points = 0;

	if ((j->matters & WF_MATTER_LATENCY) != 0)
		points += weigh_latency(j, ib, eth);
	if ((j->matters & WF_MATTER_STAFF) != 0)
		points += weigh_staff(j);
	if ((j->matters & WF_MATTER_COST) != 0)
		points += weigh_cost(j, ib, eth);
	if ((j->matters & WF_MATTER_ETHERNET) != 0) {
		because(j,
		        "Existing Ethernet matters: InfiniBand would be a second network with its "
		        "own tools. This speaks for Ethernet.");
		points--;
	}
	if ((j->matters & WF_MATTER_SHARED) != 0) {
		because(j,
		        "Sharing matters: storage and other IP traffic run beside RoCE in classes "
		        "of their own; on InfiniBand they need gateways or IPoIB. This speaks for "
		        "Ethernet.");
		points--;
	}
	return points;
}

/* ---- the choice ---- */

static void take(struct judge *j, int choice, const char *fmt, ...) WF_PRINTF(3, 4);

static void take(struct judge *j, int choice, const char *fmt, ...)
{
	va_list ap;

	j->out->choice = choice;
	j->out->outcome = choice < 0 ? WF_OUTCOME_EITHER : WF_OUTCOME_TAKE;
	va_start(ap, fmt);
	vsnprintf(j->out->text, sizeof(j->out->text), fmt, ap);
	va_end(ap);
}

/* Neither side is faster: what matters decides. */
static void choose_alike(struct judge *j, int ib, int eth, int points)
{
	char gap[CELL];
	int wanted = points > 0 ? ib : eth, other = wanted == ib ? eth : ib;
	double apart = ratio(j, ib, eth) > 1 ? ratio(j, ib, eth) : ratio(j, eth, ib);

	snprintf(gap, sizeof(gap), are_close(j, ib, eth) ? "%.1f %% apart" : "within the spread",
	         percent(apart));
	if (points != 0)
		take(j, wanted, "Take %s: %s is no faster (%s), and what matters speaks for it.",
		     j->fabric[wanted].label, j->fabric[other].label, gap);
	else
		take(j, -1, "No difference that counts: %s and %s are %s. %s.", j->fabric[ib].label,
		     j->fabric[eth].label, gap,
		     j->matters == 0 ? "Decide by what they cost, what is there already and what "
		                       "your people know (--matters weighs it)"
		                     : "What was said to matter speaks for neither");
}

/* The first cure with which a fabric is as fast as the best; NULL: none is. */
static const char *cure_of(const struct judge *j, int i, int best)
{
	const struct wf_verdict_fabric *f = &j->fabric[i];

	for (unsigned k = 0; k < f->n_cures; k++) {
		if (f->cure[k].time <= value(j, best, j->decides) * (1 + WF_VERDICT_ALIKE))
			return f->cure[k].what;
	}
	return NULL;
}

/* One side is faster: up to WF_VERDICT_GIVES is given away for what matters. */
static void choose_faster(struct judge *j, int ib, int eth, int points)
{
	int best = ratio(j, eth, ib) < 1 ? eth : ib, other = best == ib ? eth : ib;
	bool against = points != 0 && (points > 0) != (best == ib);
	double longer = percent(ratio(j, other, best));
	const char *cure = cure_of(j, other, best);
	char otherwise[RANGE] = "";

	if (cure != NULL)
		snprintf(otherwise, sizeof(otherwise),
		         " Set up otherwise (%s) %s would be no slower: compare that.", cure,
		         j->fabric[other].label);
	if (!against)
		take(j, best, "Take %s: %s takes %.0f %% longer%s%s.%s", j->fabric[best].label,
		     j->fabric[other].label, longer,
		     j->fabric[other].seeds > 1 ? " (with every seed it takes longer)" : "",
		     points != 0 ? ", and what matters speaks for it, too" : "", otherwise);
	else if (ratio(j, other, best) <= 1 + WF_VERDICT_GIVES)
		take(j, other,
		     "Take %s: it takes %.0f %% longer than %s, and what matters speaks for it.",
		     j->fabric[other].label, longer, j->fabric[best].label);
	else
		take(j, best,
		     "Take %s: what matters speaks for %s, but that takes %.0f %% longer, more "
		     "than the %.0f %% that are given away for it.%s",
		     j->fabric[best].label, j->fabric[other].label, longer, WF_VERDICT_GIVES * 100,
		     otherwise);
}

/* Fabrics of one side only. */
static void choose_one_side(struct judge *j, int best)
{
	char others[WF_VERDICT_LINE / 2] = "";
	size_t len = 0;
	int plain = plainest(j, best);

	for (unsigned i = 0; i < j->n; i++) {
		if ((int)i != plain && counts(j, i) && are_alike(j, (int)i, best) &&
		    len < sizeof(others))
			len += (size_t)snprintf(others + len, sizeof(others) - len, "%s%s",
			                        len > 0 ? ", " : "", j->fabric[i].label);
	}
	if (len > 0)
		take(j, plain,
		     "Take %s: no other is faster by a difference that counts; as good: %s.",
		     j->fabric[plain].label, others);
	else
		take(j, best, "Take %s: it is the fastest.", j->fabric[best].label);
}

static void choose(struct judge *j, int best)
{
	int ib = best_of(j, INFINIBAND), eth = best_of(j, ETHERNET), points;

	if (ib < 0 || eth < 0) {
		choose_one_side(j, best);
		return;
	}
	points = weigh(j, ib, eth);
	if (are_alike(j, ib, eth))
		choose_alike(j, plainest(j, ib), plainest(j, eth), points);
	else
		choose_faster(j, ib, eth, points);
}

enum wf_metric wf_verdict_decides(const struct wf_verdict_fabric *fabrics, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (fabrics[i].finished && !wf_metric_has(&fabrics[i].metrics, WF_METRIC_STEP_TIME))
			return WF_METRIC_JOB_TIME;
	}
	return WF_METRIC_STEP_TIME;
}

void wf_verdict(const struct wf_verdict_fabric *fabrics, unsigned n, unsigned matters,
                struct wf_verdict *verdict)
{
	struct judge j = { .fabric = fabrics, .n = n, .matters = matters, .out = verdict };
	int best;

	memset(verdict, 0, sizeof(*verdict));
	verdict->choice = -1;
	j.decides = wf_verdict_decides(fabrics, n);
	best = fastest(&j, ANY, 0);
	if (best < 0) {
		snprintf(
			verdict->text, sizeof(verdict->text),
			"None of these will do: each either did not finish or lost packets that it "
			"promises to keep.");
		return;
	}
	say_standing(&j, plainest(&j, best));
	choose(&j, best);
}
