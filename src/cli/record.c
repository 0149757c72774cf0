/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.c - recording, as asked for on the command line.
 */
#include "cli/record.h"

#include <string.h>

#include "base/param.h"
#include "cli/cli.h"

int wf_cli_record_check(struct wf_cli_record *rec, const char *cmd)
{
	static const struct wf_param row = {
		.name = "sample",
		.kind = WF_PARAM_TIME,
		.size = sizeof(wf_time),
		.min = WF_NS,
		.max = 1000 * WF_S,
	};
	struct wf_err why = { "" };

	rec->opts.sample = WF_RECORD_AUTO;
	rec->opts.events = WF_RECORD_EVENTS;
	if (rec->path == NULL && (rec->sample_text != NULL || rec->events_text != NULL))
		return wf_cli_usage(cmd, "%s goes with --record FILE",
		                    rec->sample_text != NULL ? "--sample" : "--events");
	if (rec->path != NULL && strcmp(rec->path, "-") == 0)
		return wf_cli_usage(cmd, "--record: a database cannot be standard output");
	if (rec->sample_text != NULL && strcmp(rec->sample_text, "none") == 0)
		rec->opts.sample = WF_RECORD_NEVER;
	else if (rec->sample_text != NULL &&
	         wf_param_set(&row, &rec->opts.sample, rec->sample_text, &why) != 0)
		return wf_cli_usage(cmd, "--sample: %s", why.text);
	if (rec->events_text != NULL &&
	    wf_record_events_parse(rec->events_text, &rec->opts.events, &why) != 0)
		return wf_cli_usage(cmd, "--events: %s", why.text);
	return 0;
}

int wf_cli_record_open(struct wf_cli_record *rec, const char *kind, const char *name,
                       struct wf_err *err)
{
	if (rec->path == NULL)
		return 0;
	return wf_record_open(rec->path, kind, name, &rec->opts.record, err);
}

int wf_cli_record_close(struct wf_cli_record *rec, struct wf_err *err)
{
	struct wf_record *record = rec->opts.record;

	rec->opts.record = NULL;
	return wf_record_close(record, err);
}

void wf_cli_record_stale(const struct wf_cli_record *rec, const char *cmd,
                         const struct wf_stale *stale)
{
	for (unsigned i = 0; i < stale->n; i++) {
		bool more = i == WF_STALE_MAX - 1;
		size_t n = stale->of[i].runs;

		fprintf(stderr, "weft %s: %zu %s in %s %s of %s%s: done anew\n", cmd, n,
		        n == 1 ? "run" : "runs", rec->path, n == 1 ? "is" : "are",
		        stale->of[i].what, more ? " or other files" : "");
	}
}
