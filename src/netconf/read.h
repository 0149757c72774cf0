/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read.h - configurations of switches and adapters, and who is connected to whom, into the model.
 *
 * Which form a file has is seen from what stands in it. Reading is in two steps, because which
 * device a file belongs to may depend on what other files beside it say: wf_conf_look() says what
 * it is and whose, wf_conf_read() reads it for a device that the caller chooses.
 */
#ifndef WF_NETCONF_READ_H
#define WF_NETCONF_READ_H

#include "netconf/netconf.h"

#define WF_CONF_NAME 128

struct wf_conf_look {
	const struct wf_conf_reader *reader; /* NULL: it is none of the forms */
	char device[WF_CONF_NAME];           /* as the file says itself; "": it does not */
};

/* What a reader is: its name for people ("SONiC config_db.json"). */
const char *wf_conf_reader_name(const struct wf_conf_reader *reader);

/* Tells fn of all forms. */
void wf_conf_each_reader(void (*fn)(void *arg, const char *name, const char *help), void *arg);

/* Says what a file is. Never fails. */
void wf_conf_look(const char *text, size_t len, struct wf_conf_look *look);

/*
 * Reads a file that wf_conf_look() has looked at: path for messages, device for what the file says
 * of its own device, port for adapters' files that do not say which interface they are of ("": not
 * known). Returns 0, -EINVAL with err filled (nothing was lost but this file), or -ENOMEM.
 */
int wf_conf_read(struct wf_netconf *net, const struct wf_conf_look *look, const char *path,
                 const char *text, size_t len, const char *device, const char *port,
                 struct wf_err *err) WF_MUST_USE;

/*
 * When all files are read: what is said for a whole device goes to its ports, and links find
 * theirs. Returns 0, or -ENOMEM where anything was lost for lack of memory.
 */
int wf_conf_finish(struct wf_netconf *net) WF_MUST_USE;

#endif
