/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict.c - weighs the figures of the fabrics and says why.
 */
#include "lab/verdict.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LATENCY_GAP 1.15 /* small messages take this much longer: it counts */
#define FRAGILE 1.10     /* the same fabric, badly set up, takes this much longer: it counts */
#define CELL 64

static const struct {
	const char *word;
	unsigned bit;
} matter_words[] = {
	{ "latency", WF_MATTER_LATENCY },   { "cost", WF_MATTER_COST },
	{ "ethernet", WF_MATTER_ETHERNET }, { "shared", WF_MATTER_SHARED },
	{ "staff", WF_MATTER_STAFF },
};

int wf_matters_parse(const char *text, unsigned *matters, struct wf_err *err)
{
	const char *p = text + strspn(text, ", []");

	*matters = 0;
	while (*p != '\0') {
		size_t len = strcspn(p, ", []");
		size_t i = 0;

		while (i < sizeof(matter_words) / sizeof(matter_words[0]) &&
		       (strlen(matter_words[i].word) != len ||
		        strncmp(p, matter_words[i].word, len) != 0))
			i++;
		if (i == sizeof(matter_words) / sizeof(matter_words[0]))
			return wf_err_say(err,
			                  "'%.*s' is none of latency, cost, ethernet, shared, "
			                  "staff",
			                  (int)(len < 40 ? len : 40), p);
		*matters |= matter_words[i].bit;
		p += len;
		p += strspn(p, ", []");
	}
	return 0;
}

/* What the rules work on. */
struct judge {
	const struct wf_verdict_fabric *fabric;
	unsigned n, matters;
	enum wf_metric decides;
	int best; /* least time of those that count; -1: none counts */
	struct wf_verdict *out;
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

static double value(const struct judge *j, unsigned i, enum wf_metric which)
{
	return j->fabric[i].metrics.value[which];
}

static double positive(const struct judge *j, unsigned i, enum wf_metric which)
{
	double v = value(j, i, which);

	return isnan(v) ? 0 : v;
}

/* How many times the best's time a fabric takes. */
static double ratio(const struct judge *j, unsigned i)
{
	return value(j, i, j->decides) / value(j, (unsigned)j->best, j->decides);
}

static bool counts(const struct judge *j, unsigned i)
{
	return j->fabric[i].finished && wf_metric_has(&j->fabric[i].metrics, j->decides) &&
	       positive(j, i, WF_METRIC_LOSSLESS_DROPS) == 0;
}

static void find_best(struct judge *j)
{
	j->decides = WF_METRIC_STEP_TIME;
	for (unsigned i = 0; i < j->n; i++) {
		if (j->fabric[i].finished && !wf_metric_has(&j->fabric[i].metrics, j->decides))
			j->decides = WF_METRIC_JOB_TIME;
	}
	j->best = -1;
	for (unsigned i = 0; i < j->n; i++) {
		if (counts(j, i) && (j->best < 0 || ratio(j, i) < 1))
			j->best = (int)i;
	}
}

static bool is_ethernet(enum wf_family family)
{
	return family != WF_FAMILY_INFINIBAND;
}

/* The best of those that count and are, or are not, Ethernet; -1: there is none. */
static int best_of(const struct judge *j, bool ethernet)
{
	int best = -1;

	for (unsigned i = 0; i < j->n; i++) {
		if (counts(j, i) && is_ethernet(j->fabric[i].family) == ethernet &&
		    (best < 0 || ratio(j, i) < ratio(j, (unsigned)best)))
			best = (int)i;
	}
	return best;
}

/* ---- how the fabrics stand ---- */

/* What in the counters goes with a fabric's being slow. */
static void symptoms(const struct judge *j, unsigned i, char *buf, size_t size)
{
	static const struct {
		enum wf_metric which;
		const char *text;
	} signs[] = {
		{ WF_METRIC_LOSSLESS_DROPS, "packets lost in a lossless class" },
		{ WF_METRIC_RESENT, "packets sent again" },
		{ WF_METRIC_PAUSES, "PFC pauses" },
		{ WF_METRIC_CNPS, "CNPs" },
	};
	size_t len = 0;

	buf[0] = '\0';
	for (size_t k = 0; k < sizeof(signs) / sizeof(signs[0]); k++) {
		char cell[CELL];

		if (positive(j, i, signs[k].which) == 0 || len >= size)
			continue;
		wf_metric_format(signs[k].which, value(j, i, signs[k].which), cell, sizeof(cell));
		len += (size_t)snprintf(buf + len, size - len, "%s%s %s", len == 0 ? " (" : ", ",
		                        cell, signs[k].text);
	}
	if (len > 0 && len < size)
		snprintf(buf + len, size - len, ")");
}

static void say_one(struct judge *j, unsigned i)
{
	char signs[256], mfu[CELL] = "", share[CELL];

	symptoms(j, i, signs, sizeof(signs));
	if (!j->fabric[i].finished || !wf_metric_has(&j->fabric[i].metrics, j->decides)) {
		because(j, "%s did not finish%s.", j->fabric[i].label, signs);
		return;
	}
	if (wf_metric_has(&j->fabric[i].metrics, WF_METRIC_MFU)) {
		wf_metric_format(WF_METRIC_MFU, value(j, i, WF_METRIC_MFU), share, sizeof(share));
		snprintf(mfu, sizeof(mfu), ", MFU %s", share);
	}
	if (positive(j, i, WF_METRIC_LOSSLESS_DROPS) > 0)
		because(j,
		        "%s takes %.1f %% longer than the best%s and loses packets that it "
		        "promises to keep%s.",
		        j->fabric[i].label, (ratio(j, i) - 1) * 100, mfu, signs);
	else if (ratio(j, i) <= 1 + WF_VERDICT_ALIKE)
		because(j, "%s takes %.1f %% longer%s: as good.", j->fabric[i].label,
		        (ratio(j, i) - 1) * 100, mfu);
	else
		because(j, "%s takes %.1f %% longer%s%s.", j->fabric[i].label,
		        (ratio(j, i) - 1) * 100, mfu, signs);
}

static void say_standing(struct judge *j)
{
	const struct wf_verdict_fabric *best = &j->fabric[j->best];
	char time[CELL], mfu[CELL];

	wf_metric_format(j->decides, best->metrics.value[j->decides], time, sizeof(time));
	wf_metric_format(WF_METRIC_MFU, best->metrics.value[WF_METRIC_MFU], mfu, sizeof(mfu));
	if (wf_metric_has(&best->metrics, WF_METRIC_MFU))
		because(j, "%s has the shortest step: %s, MFU %s.", best->label, time, mfu);
	else
		because(j, "%s is the fastest: the job takes %s.", best->label, time);
	for (unsigned i = 0; i < j->n; i++) {
		if ((int)i != j->best)
			say_one(j, i);
	}
}

/* ---- what matters ---- */

/* Small messages: which side is better, and by how much. Positive speaks for InfiniBand. */
static int weigh_latency(struct judge *j, int ib, int eth)
{
	enum wf_metric which = WF_METRIC_COLL_SMALL;
	char a[CELL], b[CELL];
	double gap;

	if (!wf_metric_has(&j->fabric[ib].metrics, which) ||
	    !wf_metric_has(&j->fabric[eth].metrics, which))
		which = WF_METRIC_LATENCY;
	if (!wf_metric_has(&j->fabric[ib].metrics, which) ||
	    !wf_metric_has(&j->fabric[eth].metrics, which))
		return 0;
	gap = value(j, (unsigned)eth, which) / value(j, (unsigned)ib, which);
	wf_metric_format(which, value(j, (unsigned)ib, which), a, sizeof(a));
	wf_metric_format(which, value(j, (unsigned)eth, which), b, sizeof(b));
	because(j, "Latency matters: small messages take %s on %s and %s on %s (%.2f times).", a,
	        j->fabric[ib].label, b, j->fabric[eth].label, gap);
	return gap >= LATENCY_GAP ? 1 : gap <= 1 / LATENCY_GAP ? -1 : 0;
}

/* How much the worst Ethernet with PFC is behind the best. */
static double fragility(const struct judge *j, int *worst_p)
{
	int best = -1, worst = -1;

	for (unsigned i = 0; i < j->n; i++) {
		const struct wf_verdict_fabric *f = &j->fabric[i];

		if (f->family != WF_FAMILY_ROCE || !f->finished ||
		    !wf_metric_has(&f->metrics, j->decides))
			continue;
		if (best < 0 || ratio(j, i) < ratio(j, (unsigned)best))
			best = (int)i;
		if (worst < 0 || ratio(j, i) > ratio(j, (unsigned)worst))
			worst = (int)i;
	}
	*worst_p = worst;
	return best < 0 || best == worst ? 1 : ratio(j, (unsigned)worst) / ratio(j, (unsigned)best);
}

static int weigh_staff(struct judge *j)
{
	int worst;
	double by = fragility(j, &worst);

	if (by < FRAGILE) {
		because(j, "Nobody to tune it matters: no badly tuned Ethernet was compared, or it "
		           "was "
		           "as good; credits need no tuning in any case.");
		return 1;
	}
	because(j,
	        "Nobody to tune it matters: with the settings of %s the same Ethernet takes %.0f "
	        "%% "
	        "longer; InfiniBand's credits need no settings.",
	        j->fabric[worst].label, (by - 1) * 100);
	return 1;
}

/* Points for InfiniBand less points for Ethernet, of what was said to matter. */
static int weigh(struct judge *j, int ib, int eth)
{
	int points = 0;

	if (ib < 0 || eth < 0)
		return 0;
	if ((j->matters & WF_MATTER_LATENCY) != 0)
		points += weigh_latency(j, ib, eth);
	if ((j->matters & WF_MATTER_STAFF) != 0)
		points += weigh_staff(j);
	if ((j->matters & WF_MATTER_COST) != 0) {
		because(j,
		        "Cost matters: Ethernet has several vendors and is quoted at 30 to 50 %% "
		        "less; that is not from this run, use your own offers.");
		points--;
	}
	if ((j->matters & WF_MATTER_ETHERNET) != 0) {
		because(j,
		        "Existing Ethernet matters: InfiniBand would be a second network with its "
		        "own tools.");
		points--;
	}
	if ((j->matters & WF_MATTER_SHARED) != 0) {
		because(j,
		        "Sharing matters: storage and other IP traffic run beside RoCE in classes "
		        "of their own; on InfiniBand they need gateways or IPoIB.");
		points--;
	}
	return points;
}

static void warn(struct judge *j, int choice)
{
	int worst;
	double by = fragility(j, &worst);

	if (j->fabric[choice].family == WF_FAMILY_ROCE && by >= FRAGILE &&
	    (j->matters & WF_MATTER_STAFF) == 0)
		because(j,
		        "It has to be kept tuned: with the settings of %s the same Ethernet takes "
		        "%.0f %% longer.",
		        j->fabric[worst].label, (by - 1) * 100);
}

static void choose(struct judge *j)
{
	int ib = best_of(j, false), eth = best_of(j, true);
	int points = weigh(j, ib, eth);
	int wanted = points > 0 ? ib : points < 0 ? eth : j->best;
	double limit = 1 + WF_VERDICT_GIVES;
	int choice = j->best;

	if (wanted >= 0 && ratio(j, (unsigned)wanted) <= limit)
		choice = wanted;
	else if (wanted >= 0)
		because(j,
		        "What matters speaks for %s, but %.0f %% of the time is more than the "
		        "%.0f %% that are worth giving away.",
		        j->fabric[wanted].label, (ratio(j, (unsigned)wanted) - 1) * 100,
		        WF_VERDICT_GIVES * 100);
	warn(j, choice);
	j->out->choice = choice;
	if (choice == j->best && (points == 0 || wanted == choice))
		snprintf(j->out->text, sizeof(j->out->text),
		         "Take %s: it is the fastest here, and %s.", j->fabric[choice].label,
		         points != 0       ? "what matters speaks for it"
		         : j->matters == 0 ? "nothing else was said to matter"
		                           : "what matters does not speak against it");
	else if (choice == j->best)
		snprintf(j->out->text, sizeof(j->out->text),
		         "Take %s: what speaks for the other side costs too much time.",
		         j->fabric[choice].label);
	else
		snprintf(
			j->out->text, sizeof(j->out->text),
			"Take %s: it takes %.1f %% longer than %s, and what matters speaks for it.",
			j->fabric[choice].label, (ratio(j, (unsigned)choice) - 1) * 100,
			j->fabric[j->best].label);
}

void wf_verdict(const struct wf_verdict_fabric *fabrics, unsigned n, unsigned matters,
                struct wf_verdict *verdict)
{
	struct judge j = { .fabric = fabrics, .n = n, .matters = matters, .out = verdict };

	memset(verdict, 0, sizeof(*verdict));
	verdict->choice = -1;
	find_best(&j);
	if (j.best < 0) {
		snprintf(
			verdict->text, sizeof(verdict->text),
			"None of these will do: each either did not finish or lost packets that it "
			"promises to keep.");
		return;
	}
	say_standing(&j);
	choose(&j);
}
