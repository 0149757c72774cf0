/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit.h - weft audit: the configurations below some folders are read as those of one network, and
 * what is wrong with it is told.
 */
#ifndef WF_STUDY_AUDIT_H
#define WF_STUDY_AUDIT_H

#include <stdio.h>

#include "netconf/audit.h"
#include "netconf/read.h"

/* A file that was found. */
struct wf_audit_file {
	const char *path;
	const char *group;  /* the device's name, where the file does not say it */
	const char *device; /* whose it is, in the end */
	const char *error;  /* why it could not be read: "path:line:column: what"; NULL: it could */
	struct wf_conf_look look;
	bool loose; /* it lies beside files of other devices */
};

struct wf_study_audit {
	struct wf_netconf net;
	struct wf_audit audit;
	struct wf_audit_file *files; /* in the order of their names */
	uint32_t n_files, room_files;
	uint32_t n_errors;                       /* files that could not be read */
	uint32_t n_unknown;                      /* files of no form that is known */
	uint32_t n_devices, n_ports, n_adapters; /* with a configuration */
};

/*
 * Reads all that paths name, files and folders, and looks at it. study goes to
 * wf_study_audit_fini() whatever is returned: 0, also where files could not be read; -EINVAL with
 * err filled where a path is not there or there is nothing in all of them; -ENOMEM.
 */
int wf_study_audit_read(struct wf_study_audit *study, char *const *paths, size_t n,
                        struct wf_err *err) WF_MUST_USE;
void wf_study_audit_fini(struct wf_study_audit *study);

/* Print what was found: for people, as weft.audit/1, as SARIF 2.1.0. */
void wf_study_audit_print(const struct wf_study_audit *study, FILE *file);
void wf_study_audit_json(const struct wf_study_audit *study, FILE *file);
void wf_study_audit_sarif(const struct wf_study_audit *study, FILE *file);

#endif
