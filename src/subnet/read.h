/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read.h - what other tools say of a subnet: their files, as text in memory.
 *
 *	ibnetdiscover	its output, also with -g and -f; ibdiagnet2.ibnetdiscover; files of ibsim
 *	ports		ibnetdiscover -p: a line for each port
 *	db_csv		ibdiagnet2.db_csv: sections NODES, PORTS, LINKS, PM_INFO
 *
 * A line that cannot be right is an error, with its place. What is not understood, and may be
 * somebody's prompt or a note of a tool, is left out, and the listener is told where it is.
 */
#ifndef WF_SUBNET_READ_H
#define WF_SUBNET_READ_H

#include "base/err.h"
#include "subnet/tables.h"

/* Is told what was not understood, or is left out. */
struct wf_subnet_ear {
	void (*note)(void *arg, const char *file, unsigned line, unsigned column, const char *what);
	void *arg;
};

struct wf_subnet_form {
	const char *name; /* "ibnetdiscover" */
	const char *help; /* one line */
	/* Reads text into an empty graph. Returns 0, -EINVAL with err filled, or -ENOMEM. */
	int (*read)(struct wf_subnet *subnet, const char *text, size_t len, const char *name,
	            const struct wf_subnet_ear *ear, struct wf_err *err);
};

/* The table of all forms; ends with NULL. */
const struct wf_subnet_form *const *wf_subnet_forms(void);

/* The form of a text, by what stands in it. */
const struct wf_subnet_form *wf_subnet_form_of(const char *text, size_t len);

/*
 * Reads a text of whichever form into a new graph. name is for messages; ear may be NULL. On
 * success *subnet_p is owned by the caller. Returns 0, -EINVAL with err filled, or -ENOMEM.
 */
int wf_subnet_read(const char *text, size_t len, const char *name, const struct wf_subnet_ear *ear,
                   struct wf_mem *mem, struct wf_subnet **subnet_p, struct wf_err *err) WF_MUST_USE;

/*
 * Reads what ports have counted into the graph: PM_INFO of a db_csv, or perfquery's output, of one
 * port or many. Returns 0, -EINVAL with err filled, or -ENOMEM.
 */
int wf_subnet_read_pm(struct wf_subnet *subnet, const char *text, size_t len, const char *name,
                      const struct wf_subnet_ear *ear, struct wf_err *err) WF_MUST_USE;

/*
 * Reads forwarding tables: opensm-lfts.dump, what dump_lfts.sh, dump_fts and ibroute print, and
 * opensm.fdbs or ibdiagnet2.fdbs. Ports of the graph that have no LID get those that the tables
 * say. On success *tables_p is owned by the caller. Returns 0, -EINVAL with err filled, or -ENOMEM.
 */
int wf_subnet_read_lfts(struct wf_subnet *subnet, const char *text, size_t len, const char *name,
                        const struct wf_subnet_ear *ear, struct wf_tables **tables_p,
                        struct wf_err *err) WF_MUST_USE;

#endif
