/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - what is wrong with a subnet and its forwarding tables. */
#ifndef WF_SUBNET_CHECK_H
#define WF_SUBNET_CHECK_H

#include "subnet/tables.h"

enum wf_finding_grade { WF_FINDING_NOTE, WF_FINDING_WARNING, WF_FINDING_ERROR };

/* X(id, "name", grade, what it is). */
#define WF_FINDINGS(X)                                                                             \
	X(SAME_GUID, "same-guid", WF_FINDING_ERROR, "two nodes or ports have one GUID")            \
	X(SAME_LID, "same-lid", WF_FINDING_ERROR, "two ports have one LID")                        \
	X(NO_LID, "no-lid", WF_FINDING_WARNING, "a connected port has no LID")                     \
	X(SAME_NAME, "same-name", WF_FINDING_NOTE, "several nodes have one description")           \
	X(APART, "apart", WF_FINDING_WARNING, "a part of the subnet has no way to the rest")       \
	X(ONE_SIDED, "one-sided-link", WF_FINDING_WARNING, "only one end of a link tells of it")   \
	X(CONTRADICTION, "contradiction", WF_FINDING_ERROR, "the ends of a link do not agree")     \
	X(UNEVEN, "uneven-link", WF_FINDING_WARNING, "the ends of a link differ in rate")          \
	X(SLOW, "slow-link", WF_FINDING_WARNING, "a link is slower than it could be")              \
	X(NOT_ACTIVE, "not-active", WF_FINDING_WARNING, "a link is up, and passes no data")        \
	X(PORT_ERRORS, "port-errors", WF_FINDING_WARNING, "a port has counted errors")             \
	X(PORT_EVENTS, "port-events", WF_FINDING_NOTE, "ports have counted events")                \
	X(PARTITIONS, "partitions", WF_FINDING_NOTE, "partitions keep ports from one another")     \
	X(UNREACHABLE, "unreachable", WF_FINDING_ERROR, "tables do not lead to a port")            \
	X(TABLE_LOOP, "table-loop", WF_FINDING_ERROR, "tables lead in a circle")                   \
	X(CREDIT_LOOP, "credit-loop", WF_FINDING_ERROR, "links wait for one another in a circle")

#define WF_FINDING_ENUM(id, name, grade, help) WF_FIND_##id,
enum wf_finding_id { WF_FINDINGS(WF_FINDING_ENUM) WF_FINDING_N };
#undef WF_FINDING_ENUM

struct wf_finding_row {
	const char *name;
	enum wf_finding_grade grade;
	const char *help;
};

extern const struct wf_finding_row wf_finding_rows[]; /* by enum wf_finding_id */
extern const char *const wf_finding_grades[];         /* "note", "warning", "error" */

#define WF_FINDING_TEXT 640

/* A link of a circle: packets on it, of this lane, wait for the next one. */
struct wf_finding_step {
	uint32_t port;     /* by which they leave: index into ports */
	uint64_t paths;    /* that go on by the next link */
	uint32_t from, to; /* one of them: adapters' ports */
};

struct wf_finding {
	enum wf_finding_id id;
	uint32_t line;                       /* of the file that was read; 0: none */
	uint32_t port;                       /* where: index into ports; WF_SUBNET_NONE: see node */
	uint32_t node;                       /* WF_SUBNET_NONE: the whole subnet */
	uint8_t lane;                        /* credit-loop: virtual lane */
	const struct wf_finding_step *steps; /* credit-loop, table-loop: link by link */
	uint32_t n_steps;
	const char *text; /* what it is, in words */
};

struct wf_check_ear {
	void (*found)(void *arg, const struct wf_finding *finding);
	void *arg;
};

/* What is wrong with the graph, and what its ports have counted. Returns 0 or -ENOMEM. */
int wf_subnet_check(const struct wf_subnet *subnet, const struct wf_check_ear *ear) WF_MUST_USE;

/*
 * What is wrong with the tables: between adapters' ports. Of credit loops one is told for each
 * virtual lane, the shortest through the first link that is in any. Returns 0 or -ENOMEM.
 */
int wf_tables_check(const struct wf_subnet *subnet, const struct wf_tables *tables,
                    const struct wf_check_ear *ear) WF_MUST_USE;

#endif
