/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classes.h - the queues of a port, traffic classes or virtual lanes, compiled from their text.
 */
#ifndef WF_FABRIC_CLASSES_H
#define WF_FABRIC_CLASSES_H

#include "fabric/config.h"

/* One queue of a port: a traffic class (Ethernet) or a virtual lane (InfiniBand). */
struct wf_class {
	uint8_t id;    /* priority or VL, as printed */
	bool lossless; /* protected by PFC or credits */
	bool strict;   /* served before all that are not; the higher id first */
	bool ecn;
	bool exempt;     /* VL15: never held back by flow control */
	uint16_t weight; /* DWRR share; 0 for strict */
	uint32_t alpha;  /* units of 2^-16: share of the free buffer that a lossy queue may take */
};

#define WF_VLARB_ENTRIES 64 /* of one table */

struct wf_vlarb_entry {
	uint8_t queue;
	uint8_t weight; /* 64-byte units */
};

/* The classes of a fabric, compiled from its configuration. */
struct wf_classes {
	unsigned n; /* queues of a port */
	struct wf_class queue[WF_MAX_QUEUES];
	uint8_t of[WF_MAX_CLASSES]; /* packet class -> queue */
	bool trims;                 /* packets of lossy classes that do not fit are trimmed */
	uint8_t trim;               /* queue in which they go on */
	unsigned n_high, n_low;     /* VL arbitration tables */
	uint32_t high_limit;        /* 4 KiB units; 255 = no limit */
	struct wf_vlarb_entry high[WF_VLARB_ENTRIES];
	struct wf_vlarb_entry low[WF_VLARB_ENTRIES];
};

/*
 * Compiles the classes of cfg (classes.c). Ethernet: a queue for each priority that any of the
 * lists names, in ascending order; the other priorities use that of priority 0, or else the lowest.
 * InfiniBand: queue i is VL i, lossless; the last one is VL15, exempt from credits and strict. With
 * flowctl none nothing is lossless. Returns 0, or -EINVAL with a message in err that begins with
 * the parameter's name.
 */
int wf_classes_parse(const struct wf_fabric_cfg *cfg, struct wf_classes *classes,
                     struct wf_err *err) WF_MUST_USE;

/*
 * The same with queues for the Ethernet priorities in more (a mask) as well, which no packet uses
 * unless a map says so: devices of a fabric that differ have the same queues all the same.
 */
int wf_classes_parse_with(const struct wf_fabric_cfg *cfg, unsigned more,
                          struct wf_classes *classes, struct wf_err *err) WF_MUST_USE;

/* Reads "3,4", the value of the parameter called name, into a mask. Returns as above. */
int wf_priorities_parse(const char *name, const char *text, unsigned *mask,
                        struct wf_err *err) WF_MUST_USE;

/* Ethernet: the priorities that have a queue, as a mask; 0: it is InfiniBand. */
unsigned wf_classes_priorities(const struct wf_fabric_cfg *cfg, const struct wf_classes *classes);

#endif
