/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - the options that several commands of live fabrics have.
 */
#ifndef WF_CLI_LIVE_OPTIONS_H
#define WF_CLI_LIVE_OPTIONS_H

#include "cli/common.h"

extern const struct wf_opt wf_opt_name;
extern const struct wf_opt wf_opt_host;

/* The hosts of the fabric that is meant without --name. */
extern const struct wf_values wf_values_hosts;

/* A part of a page, which begins with its title: where a fabric is looked for. */
#define WF_LIVE_ENVIRONMENT                                                                        \
	{                                                                                          \
		"Environment", ":WEFT_RUNTIME_DIR\tThe folder of the daemons' sockets; otherwise " \
			       "`$XDG_RUNTIME_DIR/weft` or `/tmp/weft-UID`.\n"                     \
			       ":WEFT_FABRIC\tThe name of the fabric where --name is not given.\n" \
	}

#endif
