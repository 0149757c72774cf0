/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict.h - which fabric to take, in words that follow from the figures and from what matters.
 *
 * The rules are few and can be checked by hand:
 *
 * - What decides is the step time (or, without training steps, the job's time). A fabric that did not
 *   finish, or lost packets of a lossless class, is out.
 * - Fabrics within WF_VERDICT_ALIKE of the best are as good as it.
 * - What was said to matter speaks for InfiniBand (staff; latency, where it is measurably lower) or
 *   for Ethernet (cost, ethernet, shared). With more on the other side, up to WF_VERDICT_GIVES of
 *   the time is given away for it.
 */
#ifndef WF_LAB_VERDICT_H
#define WF_LAB_VERDICT_H

#include "base/err.h"
#include "lab/metric.h"

#define WF_VERDICT_ALIKE 0.03
#define WF_VERDICT_GIVES 0.10
#define WF_VERDICT_LINES 24
#define WF_VERDICT_LINE 512

/* What may matter, besides the job's time. */
enum wf_matter {
	WF_MATTER_LATENCY = 1,  /* small messages */
	WF_MATTER_COST = 2,     /* of switches, cables and NICs */
	WF_MATTER_ETHERNET = 4, /* an Ethernet network and its tools are there already */
	WF_MATTER_SHARED = 8,   /* other traffic shares the fabric */
	WF_MATTER_STAFF = 16,   /* nobody has the time to tune and watch it */
};

/* Reads "latency, cost": words separated by commas or blanks. Returns 0 or -EINVAL with err filled. */
int wf_matters_parse(const char *text, unsigned *matters, struct wf_err *err) WF_MUST_USE;

enum wf_family {
	WF_FAMILY_INFINIBAND,
	WF_FAMILY_ROCE,  /* Ethernet with PFC */
	WF_FAMILY_LOSSY, /* RDMA on Ethernet without */
	WF_FAMILY_TCP,
};

struct wf_verdict_fabric {
	const char *label;
	enum wf_family family;
	bool finished;
	struct wf_metrics metrics;
};

struct wf_verdict {
	int choice; /* which fabric; -1: none will do */
	char text[WF_VERDICT_LINE];
	unsigned n_reasons;
	char reason[WF_VERDICT_LINES][WF_VERDICT_LINE];
};

/* Judges n fabrics. */
void wf_verdict(const struct wf_verdict_fabric *fabrics, unsigned n, unsigned matters,
                struct wf_verdict *verdict);

#endif
