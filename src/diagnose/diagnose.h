/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnose.h - what is wrong, from what was counted: rules that look at evidence, whatever its
 * source, and findings in order, the root causes first.
 *
 * A rule is a row of one table: what it is called, what it looks at, what the cause is and what
 * cures it. Nothing is guessed: each finding names the counters and values that it stands on.
 */
#ifndef WF_DIAGNOSE_DIAGNOSE_H
#define WF_DIAGNOSE_DIAGNOSE_H

#include "evidence/evidence.h"

#define WF_FOUND_TEXT 400
#define WF_FOUND_EVIDENCE 6
#define WF_FOUND_MAX 64

enum wf_severity { WF_SEVERITY_INFO, WF_SEVERITY_WARNING, WF_SEVERITY_ERROR };

/* "information", "warning", "error" */
const char *wf_severity_name(enum wf_severity severity);

struct wf_rule {
	const char *name;     /* "pause-storm" */
	const char *help;     /* what it finds, in a few words */
	const char *needs;    /* which evidence it looks at */
	const char *cause;    /* what makes it */
	const char *cure;     /* what to change */
	const char *incident; /* the section of docs/incidents.md; NULL: none */
	bool effect;          /* follows from something, where anything else was found */
};

struct wf_found_evidence {
	const struct wf_ev_sample *sample;
	uint64_t value; /* of one snapshot, or what it grew by between two */
};

struct wf_found {
	const struct wf_rule *rule;
	enum wf_severity severity;
	uint32_t device, port; /* WF_EV_NONE: of no single one */
	int queue;
	char what[WF_FOUND_TEXT];
	struct wf_found_evidence evidence[WF_FOUND_EVIDENCE];
	unsigned n_evidence;
	int follows; /* the finding that it is a consequence of; -1: of none */
};

struct wf_diagnosis {
	struct wf_found found[WF_FOUND_MAX];
	unsigned n;
	bool more; /* than there is room for */
	/* Rules that could not look, for want of evidence: bits by number. */
	uint64_t lacking;
	/* Where congestion is, and not the fault of one who only waits: by device; private mem. */
	bool *hot;
	struct wf_mem *mem;
};

/* All rules, in the order in which they are asked; wf_rules_n of them. */
extern const size_t wf_rules_n;
const struct wf_rule *wf_rule_at(size_t i);

/*
 * Asks all rules about evidence that is finished. On success wf_diagnosis_fini() undoes d. Returns
 * 0 or -ENOMEM.
 */
int wf_diagnose(const struct wf_evidence *ev, struct wf_mem *mem,
                struct wf_diagnosis *d) WF_MUST_USE;
void wf_diagnosis_fini(struct wf_diagnosis *d);

/* The gravest of a diagnosis; WF_SEVERITY_INFO where there is nothing. */
enum wf_severity wf_diagnosis_worst(const struct wf_diagnosis *d);

#endif
