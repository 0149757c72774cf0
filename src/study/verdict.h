/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict.h - which fabric to take, in words that follow from the figures and from what matters.
 *
 * The rules are few and can be checked by hand:
 *
 * - What decides is the step time (or, without training steps, the job's time): the median over the
 *   seeds. A fabric that did not finish on a seed, or lost packets of a lossless class on one, is
 *   out.
 * - A fabric is slower than another only if with every seed it takes longer than the other does
 *   with any, by more than WF_VERDICT_ALIKE. Otherwise they are alike. Nobody wins by less.
 * - Like is compared with like: the best state of InfiniBand with the best state of Ethernet, the
 *   default with the default, the neglected with the neglected. The verdict is about the first of
 *   these rows; a side that has nothing in it is there with the fastest that it has.
 * - Where the two sides are alike, what was said to matter decides, and nothing else does. Where
 *   they are not, up to WF_VERDICT_GIVES of the time is given away for it.
 * - What matters is counted from figures where there are any: latency and the loss of the neglected
 *   state are measured, cost is the bill's. Where a figure is missing, nobody gets a point.
 */
#ifndef WF_STUDY_VERDICT_H
#define WF_STUDY_VERDICT_H

#include "base/err.h"
#include "scenario/words.h"
#include "study/metric.h"

#define WF_VERDICT_ALIKE 0.03
#define WF_VERDICT_GIVES 0.10
#define WF_VERDICT_LINES 40
#define WF_VERDICT_LINE 1024

enum wf_family {
	WF_FAMILY_INFINIBAND,
	WF_FAMILY_ROCE,  /* Ethernet with PFC */
	WF_FAMILY_LOSSY, /* RDMA on Ethernet without */
	WF_FAMILY_TCP,
};

#define WF_VERDICT_CURES 4

/* What a change of a slow fabric does to it, seen by running it. */
struct wf_verdict_cure {
	const char *what;
	double time; /* of what decides; NAN: it did not finish */
};

struct wf_verdict_fabric {
	const char *label;
	enum wf_family family;
	unsigned states;           /* bits of enum wf_state */
	bool finished;             /* with every seed */
	bool folded;               /* another fabric's figures are the same */
	unsigned seeds;            /* that the figures are of */
	struct wf_metrics metrics; /* medians */
	struct wf_metrics low, high;
	/* Of the run that is the median: what holds it up, and what would cure that. */
	const char *why; /* NULL: nothing was seen */
	uint64_t seed;
	double time; /* of what decides, with that seed */
	unsigned n_cures;
	struct wf_verdict_cure cure[WF_VERDICT_CURES];
};

enum wf_outcome {
	WF_OUTCOME_NONE,   /* none will do */
	WF_OUTCOME_EITHER, /* no difference that counts, and nothing that matters decides */
	WF_OUTCOME_TAKE,
};

struct wf_verdict {
	enum wf_outcome outcome;
	int choice; /* which fabric; -1: none, or either */
	char text[WF_VERDICT_LINE];
	unsigned n_reasons;
	char reason[WF_VERDICT_LINES][WF_VERDICT_LINE];
};

/* What decides among n fabrics: the step time, or the job's. */
enum wf_metric wf_verdict_decides(const struct wf_verdict_fabric *fabrics, unsigned n);

/* Judges n fabrics. */
void wf_verdict(const struct wf_verdict_fabric *fabrics, unsigned n, unsigned matters,
                struct wf_verdict *verdict);

#endif
