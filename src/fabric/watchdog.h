/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watchdog.h - the PFC watchdog: who is stopped for too long is not stopped any more.
 *
 * In a switch it looks at every lossless queue that is told to stop, at fixed times, as the polling
 * loop of a switch's software does:
 *
 *	           what the rules call stuck, for detect          acted: drop, forward or alert
 *	watched ----------------------------------------> acted --+
 *	   ^  ^                                             |     | a pause frame came
 *	   |  +---------------------------------------------+    <+
 *	   |             no pause frame for restore
 *	a pause frame came                       (nobody looks at a queue that is told nothing)
 *
 * In an adapter it looks at the other side: one that has sent pauses for detect sends no more.
 *
 * What is stuck, what is done about it and when it ends differs between vendors: a row of the table
 * in watchdog_rules.c for each. A queue is polled from the first pause frame on until a poll finds
 * it neither paused nor told to pause: with no pauses there is no timer and nothing to do.
 */
#ifndef WF_FABRIC_WATCHDOG_H
#define WF_FABRIC_WATCHDOG_H

#include "fabric/config.h"

struct wf_device;
struct wf_packet;
struct wf_port;

/* The rules of switches and of adapters: X(id, name). */
#define WF_WATCHDOG_SWITCHES(X)                                                                    \
	X(SONIC, "sonic")                                                                          \
	X(SONIC_NVIDIA, "sonic-nvidia")                                                            \
	X(SONIC_NVIDIA_2023, "sonic-nvidia-2023")                                                  \
	X(CUMULUS, "cumulus")                                                                      \
	X(ARISTA, "arista")                                                                        \
	X(CISCO, "cisco")                                                                          \
	X(JUNIPER, "juniper")
#define WF_WATCHDOG_ADAPTERS(X)                                                                    \
	X(CONNECTX, "connectx")                                                                    \
	X(CONNECTX_AUTO, "connectx-auto")                                                          \
	X(MICROSOFT, "microsoft")

#define WF_WATCHDOG_ID(id, name) WF_WATCHDOG_##id,
enum wf_watchdog_id {
	WF_WATCHDOG_SWITCHES(WF_WATCHDOG_ID) WF_WATCHDOG_ADAPTERS(WF_WATCHDOG_ID) WF_WATCHDOG_IDS
};

/* What may be so of a queue at a poll, since the last one. */
enum {
	WF_WATCHDOG_UNSENT = 1, /* nothing was sent */
	WF_WATCHDOG_FRAMES = 2, /* pause frames came */
	WF_WATCHDOG_PAUSED = 4, /* it is paused now */
	WF_WATCHDOG_HELD = 8,   /* it was paused then, is now, and was all the time */
	WF_WATCHDOG_SHARE = 16, /* it was paused for share of the time */
};

/* What is special about a vendor's rules. */
enum {
	WF_WATCHDOG_BOTH = 1,   /* drop: of that priority, also what comes in by the port */
	WF_WATCHDOG_KEEP = 2,   /* drop: what waits already goes out, in spite of pauses */
	WF_WATCHDOG_ANYWAY = 4, /* it ends after restore, whether or not pauses have */
	WF_WATCHDOG_GROWS = 8,  /* times grow with the ports of the switch */
	WF_WATCHDOG_NEVER = 16, /* adapter: it never sends pauses again */
};

enum wf_watchdog_action { WF_WATCHDOG_DROP, WF_WATCHDOG_FORWARD, WF_WATCHDOG_ALERT };

struct wf_watchdog_rules {
	const char *name;
	const char *help; /* one line: whose rules they are */
	wf_time poll;
	wf_time detect;  /* 0: polls times poll */
	wf_time restore; /* 0: one poll */
	uint8_t polls;
	uint8_t waiting,
		empty; /* what is stuck of a queue with packets; and of one without, or 0 */
	uint8_t share; /* per cent */
	uint8_t flags;
};

/* A row of the table. */
const struct wf_watchdog_rules *wf_watchdog_at(enum wf_watchdog_id id);

/* Whether it is for adapters. */
static inline bool wf_watchdog_is_adapters(enum wf_watchdog_id id)
{
	return id >= WF_WATCHDOG_CONNECTX;
}

/* "drop", "forward", "alert". */
const char *wf_watchdog_action_name(enum wf_watchdog_action action);

/* What a configuration says of a switch's watchdog, or of an adapter's. */
struct wf_watchdog_set {
	const struct wf_watchdog_rules *rules; /* NULL: there is none */
	enum wf_watchdog_action action;
	wf_time poll, detect, restore; /* not yet divided; WF_PARAM_AUTO: the rules' */
	wf_time phase;                 /* of polls; WF_PARAM_AUTO: the device's own */
	uint32_t speedup;              /* all times are divided by this */
	uint32_t ports;                /* of the switch; 0: not said */
};

/* Compiles a configuration. */
void wf_watchdog_compile(const struct wf_fabric_cfg *cfg, struct wf_watchdog_set *of_switch,
                         struct wf_watchdog_set *of_adapter);

/* What the times come to in a switch of n_ports. */
struct wf_watchdog_times {
	wf_time poll, detect, restore;
};

struct wf_watchdog_times wf_watchdog_times(const struct wf_watchdog_set *set, uint32_t n_ports);

/*
 * Checks what a configuration says of watchdogs. Returns 0, or -EINVAL with a message in err, as
 * wf_fabric_check().
 */
int wf_watchdog_check(const struct wf_fabric_cfg *cfg, struct wf_err *err) WF_MUST_USE;

/* ---- while it runs ---- */

/* A queue of a port, as the watchdog sees it. */
struct wf_watchdog_queue {
	wf_time due;             /* when it is looked at; WF_TIME_NEVER: it is not */
	wf_time stuck, quiet;    /* for how long it has been, at polls */
	uint64_t tx_packets;     /* of the lane, at the last poll */
	uint64_t paused_ps;      /* the same */
	uint32_t pause_rx;       /* the same */
	uint32_t stops;          /* the same */
	bool paused;             /* the same */
	bool acted;              /* and has not restored it yet */
	bool drops_out;          /* what is to leave by the queue is dropped */
	bool drops_in;           /* what comes in by the port in that group is dropped */
	bool ignores;            /* pause frames are not obeyed */
	uint8_t action;          /* what it did: enum wf_watchdog_action, or WF_INCIDENT_MUTE */
	uint32_t times, ends;    /* how often it acted, and restored */
	uint32_t rx_drops;       /* packets dropped that came in by the port */
	wf_time since, acted_ps; /* it has acted from when on; and for how long before that */
};

struct wf_watchdog {
	uint64_t phase;                /* where nothing says: any number */
	struct wf_watchdog_queue of[]; /* port * n_queues + queue */
};

/* Gives a device its watchdog's state, if its fabric has any. Returns 0 or -ENOMEM. */
int wf_watchdog_init(struct wf_device *dev) WF_MUST_USE;

/* The state of a queue; NULL: the fabric has no watchdogs. */
const struct wf_watchdog_queue *wf_watchdog_look(const struct wf_device *dev, unsigned port,
                                                 unsigned queue);

/* For how long it has acted, up to end. */
wf_time wf_watchdog_acted(const struct wf_watchdog_queue *w, wf_time end);

/* The timer of a switch for polls; a host has none. */
static inline unsigned wf_watchdog_slot(uint32_t n_ports)
{
	return 2 * n_ports;
}

/*
 * A pause frame for queue of port came in; it is not counted yet. True: it must not be obeyed.
 */
bool wf_watchdog_frame(struct wf_device *dev, struct wf_port *port, unsigned queue, wf_time now);

/* The timer of a switch is due. */
void wf_watchdog_poll(struct wf_device *dev, wf_time now);

/* Whether a packet that came in by port in, in that group, for queue of out is dropped. */
bool wf_watchdog_refuses(const struct wf_device *dev, unsigned in, unsigned group, unsigned out,
                         unsigned queue);

/* Drops it. */
void wf_watchdog_drop(struct wf_device *dev, struct wf_port *in, struct wf_port *out,
                      unsigned queue, const struct wf_packet *pkt, wf_time now);

/* Device or port is set to something else, while no node runs. */
void wf_watchdog_changed(struct wf_device *dev, wf_time now);

/* ---- of an adapter ---- */

/* It sends a frame that stops queue now; until when it may. WF_TIME_NEVER: for ever. */
wf_time wf_watchdog_stops(struct wf_device *dev, const struct wf_port *port, unsigned queue,
                          wf_time now);

/* It has no reason any more to stop queue. */
void wf_watchdog_goes(struct wf_device *dev, const struct wf_port *port, unsigned queue,
                      wf_time now);

/* Who has sent pauses for too long sends no more. */
void wf_watchdog_mute(struct wf_device *dev, struct wf_port *port, wf_time now);

/* Whether frames about queue are not sent. */
bool wf_watchdog_is_mute(const struct wf_device *dev, const struct wf_port *port, unsigned queue);

#endif
