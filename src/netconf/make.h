/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make.h - puts things into the model of a network's configurations: for its readers.
 *
 * Without memory each sets no_memory and returns what may be written to and is of no use (things),
 * or "" (texts), so that readers need not look after each.
 */
#ifndef WF_NETCONF_MAKE_H
#define WF_NETCONF_MAKE_H

#include "netconf/netconf.h"

/* The one copy of a text. */
const char *wf_conf_text(struct wf_netconf *net, const char *text, size_t len);
const char *wf_conf_textf(struct wf_netconf *net, const char *fmt, ...) WF_PRINTF(2, 3);

/* A file that is read: its index. */
uint32_t wf_conf_add_file(struct wf_netconf *net, const char *path);

/* The device of this name, made where there is none. */
struct wf_conf_device *wf_conf_device_of(struct wf_netconf *net, const char *name);

/*
 * The port of this name, made where there is none. One more than WF_CONF_MAX_PORTS: NULL.
 */
struct wf_conf_port *wf_conf_port_of(struct wf_netconf *net, struct wf_conf_device *device,
                                     const char *name);

/* The port that has this name or alias, or NULL. */
struct wf_conf_port *wf_conf_find_port(const struct wf_netconf *net,
                                       const struct wf_conf_device *device, const char *name);

/* The named thing of size bytes in *list, made where there is none. */
void *wf_conf_named_of(struct wf_netconf *net, struct wf_conf_named **list, size_t size,
                       const char *name);

/* A map of this kind, with nothing in it where it is new. */
struct wf_conf_map *wf_conf_map_of(struct wf_netconf *net, struct wf_conf_device *device,
                                   enum wf_conf_map_kind kind, const char *name);

struct wf_conf_nic *wf_conf_nic_of(struct wf_netconf *net, struct wf_conf_port *port);

/* A link between two ports, unless it is there already: it may be told of from both ends. */
void wf_conf_add_link(struct wf_netconf *net, const struct wf_conf_end end[2],
                      struct wf_conf_place at, int64_t length);

/* Ends of links find their ports; called once, when all is read. */
void wf_conf_connect(struct wf_netconf *net);

void wf_conf_add_note(struct wf_netconf *net, enum wf_conf_note_kind kind, struct wf_conf_place at,
                      const char *fmt, ...) WF_PRINTF(4, 5);
void wf_conf_add_fault(struct wf_netconf *net, enum wf_conf_fault_kind kind,
                       struct wf_conf_device *device, struct wf_conf_port *port,
                       struct wf_conf_place at, const char *wrong, const char *right);

#endif
