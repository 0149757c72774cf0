/* SPDX-License-Identifier: Apache-2.0 */
/* read_priv.h - what the readers of configurations share. */
#ifndef WF_NETCONF_READ_PRIV_H
#define WF_NETCONF_READ_PRIV_H

#include <stddef.h>

#include "netconf/make.h"
#include "netconf/read.h"
#include "netconf/tree.h"

struct wf_conf_reading {
	struct wf_netconf *net;
	struct wf_conf_device *device;
	uint32_t file;
	const char *path, *port;
	struct wf_arena *arena; /* for this file */
	struct wf_err *err;
};

struct wf_conf_reader {
	const char *name, *help;
	enum wf_conf_form form; /* of the devices; none: it tells of links only */
	/* Whether a file is of this form; name: room for the device's own name, "" as it comes. */
	bool (*is)(const char *text, size_t len, char name[WF_CONF_NAME]);
	int (*read)(struct wf_conf_reading *r, const char *text, size_t len);
	/* When all files of a device are read; may do nothing. */
	void (*finish)(struct wf_netconf *net, struct wf_conf_device *device);
};

/* The forms; read.c lists them in the order in which they are looked for. */
extern const struct wf_conf_reader wf_conf_sonic, wf_conf_lldp, wf_conf_nvue_json,
	wf_conf_nvue_yaml, wf_conf_nvue_set, wf_conf_cumulus, wf_conf_eos, wf_conf_nxos,
	wf_conf_nic, wf_conf_links;

void wf_conf_finish_none(struct wf_netconf *net, struct wf_conf_device *device);

/* Whether SONiC has a table of that name, or kind, of which its reader takes nothing. */
bool wf_conf_sonic_is_other(const char *table);

/* ---- what stands in a text, for is() ---- */

/* Whether a line begins with what, blanks before it aside; *at_p: behind it, if not NULL. */
bool wf_conf_has_line(const char *text, size_t len, const char *what, const char **at_p);

/* Whether what stands anywhere; *at_p: behind it, if not NULL. */
bool wf_conf_has(const char *text, size_t len, const char *what, const char **at_p);

/* Copies a word, or what stands in quotes, from at on. */
void wf_conf_copy_word(char name[WF_CONF_NAME], const char *at, const char *end);

/* The first character that is no blank; '\0' of an empty text. */
char wf_conf_first(const char *text, size_t len);

/* ---- values ---- */

struct wf_conf_place wf_conf_at(const struct wf_conf_reading *r, uint32_t line, const char *key);
struct wf_conf_value wf_conf_say(int64_t v, struct wf_conf_place at);

/* Of the vendor: where nothing is said yet. */
void wf_conf_default(struct wf_conf_value *value, int64_t v);

/* A whole number, perhaps below 0; false where text is none. */
bool wf_conf_number(const char *text, int64_t *v_p);

/* A number with up to 6 decimals, in millionths: "0.25" is 250000. */
bool wf_conf_micro(const char *text, int64_t *v_p);

/* "3,4", "0-2,5": as a mask of 0 to 7; "" is 0. */
bool wf_conf_mask(const char *text, int64_t *mask_p);

/* "5m" in cm. */
bool wf_conf_metres(const char *text, int64_t *cm_p);

/* true, enable, on, yes, up, 1 and their opposites. */
bool wf_conf_flag(const char *text, int64_t *v_p);

/* "rs", "fc", "none", "auto" and what vendors call them. */
bool wf_conf_fec_of(const char *text, int64_t *v_p);

/* A value that does not fit: a fault of the file. */
void wf_conf_bad(struct wf_conf_reading *r, struct wf_conf_port *port, struct wf_conf_place at,
                 const char *value, const char *right);

/* A port of the device of this file, where that is among those that there may be; else an error. */
struct wf_conf_port *wf_conf_port_here(struct wf_conf_reading *r, const char *name, uint32_t line,
                                       int *ret_p);

/* ---- lines ---- */

#define WF_LINE_WORDS 512
#define WF_LINE_ROOM 16384

struct wf_lines {
	const char *next, *end;
	uint32_t line, indent;
	unsigned n;                      /* words of this line */
	const char *word[WF_LINE_WORDS]; /* each ends with NUL; behind the last comes "" */
	const char *raw;                 /* the line as it stands, without its indentation */
	size_t raw_len;
	bool cut; /* it is longer than can be read */
	char room[WF_LINE_ROOM];
};

void wf_lines_init(struct wf_lines *l, const char *text, size_t len);

/* Goes to the next line that has a word; false at the end. */
bool wf_lines_next(struct wf_lines *l);

/* "Ethernet1/1" and the like: what RDMA passes; not Vlan1, Loopback0, Management1. */
bool wf_conf_is_ethernet(const char *name);

/*
 * Calls fn for each port of "swp1-4,swp8", "swp50s0-swp50s3"; no more than there may be of a
 * device.
 */
void wf_conf_each_port(struct wf_conf_reading *r, const char *list,
                       void (*fn)(void *arg, const char *name), void *arg);

/*
 * Tells of a line that nothing came from: as of another subject where none of its words is about
 * lossless classes, and then of each such beginning once. seen: room for WF_SEEN, all 0 at first.
 */
#define WF_SEEN 64
void wf_conf_skip_line(struct wf_conf_reading *r, const struct wf_lines *l,
                       const char *seen[WF_SEEN]);

/* "port-channel50", "Port-Channel3". */
bool wf_conf_is_bundle(const char *name);

/* Members inherit from their port-channels, which are then no ports any more. */
void wf_conf_dissolve(struct wf_netconf *net, struct wf_conf_device *d, const char *stem);

/* A profile or policy of the device, made where there is none; its size is that of a policy. */
struct wf_conf_wred *wf_conf_wred_of(struct wf_conf_reading *r, const char *name,
                                     struct wf_conf_place at);
struct wf_conf_sched *wf_conf_sched_of(struct wf_conf_reading *r, const char *name,
                                       struct wf_conf_place at);

/*
 * What is said of queues in a policy goes to a port: all that the port does not say itself. PFC's
 * switch, trust, watchdog and maps, too.
 */
void wf_conf_inherit(struct wf_conf_port *port, const struct wf_conf_port *from);

/* Whether the line's words begin with these, with blanks between them; "*" is any one. */
bool wf_lines_are(const struct wf_lines *l, const char *words);

#endif
