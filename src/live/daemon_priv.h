/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon_priv.h - the inside of the daemon.
 */
#ifndef WF_LIVE_DAEMON_PRIV_H
#define WF_LIVE_DAEMON_PRIV_H

#include <stdbool.h>
#include <sys/types.h>

#include "live/daemon.h"
#include "live/pipe.h"
#include "live/watch.h"

/* Somebody at the socket; attached: a program on a host. */
struct wf_dclient {
	struct wf_dclient *next;
	struct wf_watch asks, murmurs; /* at sock and at events */
	int sock;
	int events; /* our end; -1 while it is not attached */
	int wake;
	bool attached;
	bool doomed; /* its connection is to be ended */
	uint32_t host, slot;
	pid_t pid;
	int pidfd; /* of it; -1: the system has none */
	char program[WF_LIVE_NAME];
	struct wf_live_stats *stats; /* it writes, we read */
	struct wf_dlink *links;
	struct wf_dcapture *capture; /* it captures; NULL */
	uint32_t taps;               /* captures that it feeds, by their number's bit */
	struct wf_pipe wire;         /* on_wire: to the host's network address */
	bool on_wire, wire_touched;
	struct wf_wire_own *own; /* what the wire keeps of it; NULL: nothing yet */
	struct wf_pipe model;    /* on_model: to the modelled fabric */
	bool on_model, model_touched;
	uint64_t model_woken; /* the packet at this place in its ring is known to the gate */
	uint64_t model_end;   /* doomed: it has sent no more than up to here */
	struct wf_dclient *host_next; /* on_model: of the host, in the order of their turns */
	uint32_t under_way;           /* packets of it that are in the model */
	struct wf_dcarried *backlog, **backlog_tail; /* packets for which its ring had no room */
	struct wf_dumad *umad; /* it is a file of management programs of host; NULL */
	bool is_sm, awaits_sm; /* it is the manager of host, or waits to be */
	wf_time full_since; /* backlog: since when; stuck: it takes in nothing, and gets nothing */
	bool stuck;
};

/* A link between two programs; listed by both. */
struct wf_dlink {
	struct wf_dlink *next;
	struct wf_dclient *other;
};

struct wf_dgroup {
	struct wf_dgroup *next;
	uint8_t gid[16];
	uint32_t number;
	struct wf_dport {
		struct wf_dport *next;
		struct wf_dclient *client;
		bool member, sender;
	} * ports;
};

/* A service that a program has bound. */
struct wf_dservice {
	struct wf_dservice *next;
	struct wf_dclient *client;
	uint64_t id;
	bool reuse, listens;
	bool active; /* its program connects from there, and does not listen */
};

/* A capture: whose packets it wants. */
struct wf_dcapture {
	uint32_t number, snaplen;
	bool host[]; /* of all hosts of the fabric */
};

struct wf_daemon {
	struct wf_watch knocks, ends; /* at the listener, and at what ends the daemon */
	int listener;
	int claim; /* on the path: claim.h */
	int spare; /* a descriptor for when there are no more */
	int epoll;
	int table_fd;
	bool stop;
	bool tied;  /* what ends it only says that nobody new comes: the last program ends it */
	bool bound; /* the socket at path is ours */
	char path[128];
	struct wf_live_table *table;
	uint32_t *next_slot; /* per host */
	struct wf_dgone {
		uint64_t count[WF_LIVE_COUNTS];
	} * gone; /* per host: what programs that have ended counted */
	struct wf_dclient *clients;
	struct wf_dgroup *groups;
	uint32_t n_groups;
	struct wf_http *http;                     /* tells metrics; NULL: nobody */
	struct wf_dwires *wires;                  /* hosts at real addresses: wire.h; NULL: none */
	void (*say)(void *arg, const char *line); /* NULL: nobody listens */
	void *say_arg;
	struct wf_dmodel *model;                       /* NULL: packets go directly; model.h */
	struct wf_dclient *captures[WF_LIVE_CAPTURES]; /* by number; NULL: nobody's */
	struct wf_djoins *joins;                       /* join.h; NULL: nobody has joined */
	struct wf_dumads *umads;                       /* umad.h; NULL: nobody manages here */
	struct wf_dservice *services;
	uint32_t n_services;
	uint32_t next_port; /* of those that are given to who wants any */
};

/*
 * A round of wf_daemon_run(): waits for timeout ms at most (-1: for ever), and serves whoever asks.
 * Returns how many there were, or -errno.
 */
int wf_daemon_step(struct wf_daemon *d, int timeout) WF_MUST_USE;

/* Asserts what holds of the daemon between two rounds. */
void wf_daemon_assert(const struct wf_daemon *d);

/* Does what req asks. fds are borrowed. Fills *reply and the descriptors to send with it. */
void wf_daemon_serve(struct wf_daemon *d, struct wf_dclient *c, const struct wf_live_req *req,
                     struct wf_live_reply *reply, int fds[WF_LIVE_MAX_FDS]);

/*
 * The same for what a program asks without waiting, by the socket of its events: a link, or who
 * listens for a service. The answer is an event.
 */
void wf_daemon_hear(struct wf_daemon *d, struct wf_dclient *c, const struct wf_live_req *req);

/* There is no descriptor for who waits at a listener: he is let in to be told so, and out. */
void wf_daemon_turn_away(struct wf_daemon *d, int listener);

/* Milliseconds of the system's clock. */
uint64_t wf_daemon_now(void);

/* daemon_service.c: the same for services. Returns 0 or -errno. */
int wf_daemon_service(struct wf_daemon *d, struct wf_dclient *c, const struct wf_live_req *req,
                      struct wf_live_reply *reply);
/* Frees all services of a program, or of everybody with NULL. */
void wf_daemon_free_services(struct wf_daemon *d, const struct wf_dclient *c);

/* Whether somebody on the host has bound a service to listen for it, now or later. */
bool wf_daemon_may_listen(const struct wf_daemon *d, uint32_t host, uint64_t id);
/* Who listens for a service on a host; NULL: nobody. */
struct wf_dclient *wf_daemon_listener(struct wf_daemon *d, uint32_t host, uint64_t id);

/* How many a program listens for. */
uint32_t wf_daemon_count_services(const struct wf_daemon *d, const struct wf_dclient *c);

/* Tells an attached client; one that does not listen is doomed. */
void wf_daemon_tell(struct wf_dclient *c, const struct wf_live_event *event, const int *fds);

/* What the programs of a host have counted, those that have ended included. */
void wf_daemon_counts(const struct wf_daemon *d, uint32_t host, uint64_t count[WF_LIVE_COUNTS]);

/* daemon_capture.c: client c wants to capture. Returns 0 or -errno. */
int wf_daemon_capture(struct wf_daemon *d, struct wf_dclient *c, const struct wf_live_req *req,
                      struct wf_live_reply *reply, int fds[WF_LIVE_MAX_FDS]) WF_MUST_USE;
/* A program has attached: those who capture its host get a tap of it. */
void wf_daemon_tap(struct wf_daemon *d, struct wf_dclient *c);
/* A client is gone: a program, as gone tells, or one that captured. */
void wf_daemon_untap(struct wf_daemon *d, struct wf_dclient *c, const struct wf_live_event *gone);

/* daemon_fault.c: something breaks, or is mended. Returns 0 or -errno. */
int wf_daemon_fault(struct wf_daemon *d, const struct wf_live_req *req) WF_MUST_USE;

/* The same in words; those that there are. */
int wf_daemon_words(struct wf_daemon *d, const struct wf_live_req *req, struct wf_live_reply *reply,
                    int fds[WF_LIVE_MAX_FDS]) WF_MUST_USE;

/*
 * Links or adapters of the model have changed: the table of hosts follows, and programs are told.
 */
void wf_daemon_links_changed(struct wf_daemon *d);

/* Tells the others that c is gone, and frees what it had. */
void wf_daemon_forget(struct wf_daemon *d, struct wf_dclient *c);

#endif
