/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture.h - the capture files of a command, one for each fabric it runs.
 */
#ifndef WF_CLI_CAPTURE_H
#define WF_CLI_CAPTURE_H

#include "text/file.h"
#include "run/pcap.h"
#include "scenario/scenario.h"

struct wf_cli_capture {
	struct wf_out out;
	struct wf_pcap *pcap; /* NULL: nothing is captured */
};

/*
 * Begins the capture of one fabric of a built scenario, of the ports that ports lists (NULL: all
 * hosts). It goes to the file path; where the scenario has several fabrics, their labels come
 * before the ending: run.pcapng becomes run.ib-ndr.pcapng and run.roce-400g.pcapng. Returns 0, or a
 * negative error with err filled where there is more to say; c may be given to
 * wf_cli_capture_abort() anyway.
 */
int wf_cli_capture_open(struct wf_cli_capture *c, const struct wf_scenario *scenario,
                        unsigned index, const char *path, const char *ports,
                        struct wf_err *err) WF_MUST_USE;

/* Writes the file after the run; it has no name yet. Without a capture, does nothing. */
int wf_cli_capture_write(struct wf_cli_capture *c, struct wf_err *err) WF_MUST_USE;

/* Gives it its name. Without a capture, does nothing. */
int wf_cli_capture_commit(struct wf_cli_capture *c, struct wf_err *err) WF_MUST_USE;

/* Ends it; what was not committed is gone. */
void wf_cli_capture_abort(struct wf_cli_capture *c);

#endif
