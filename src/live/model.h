/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - the modelled fabric between programs: the simulator (src/sim), run in the daemon by the
 * clock.
 *
 *	program A --ring--> gate of A's host ==> switches ==> gate of B's host --ring--> program B
 *
 * A program has one link to the daemon for all packets that leave its host. The gate of the host
 * (sim/host/gate.h) takes a packet out of it when its port can send: what a paused or busy port
 * does not take stays in the ring, and the program's queue pairs are held. The daemon keeps headers
 * and payload; what crosses the model is what switches look at, and a number. When that comes out,
 * the packet goes into the ring of who it is for, with the marks that it got on the way.
 *
 * Virtual time is the clock's (pace wall): what is due is done when it is due, a packet counts as
 * sent when its program sent it, and when the machine cannot keep up, virtual time falls behind and
 * the slip is counted. Or it goes on as fast as it can while packets are under way (pace none).
 */
#ifndef WF_LIVE_MODEL_H
#define WF_LIVE_MODEL_H

#include "live/daemon_priv.h"
#include "live/model_state.h"

/* Makes it, if cfg asks for one. Returns 0 or -errno, -EINVAL with cfg->err filled. */
int wf_model_open(struct wf_daemon *d, const struct wf_daemon_cfg *cfg) WF_MUST_USE;
void wf_model_close(struct wf_daemon *d);

/* Makes the link between client c and the model. Returns 0 or -errno. */
int wf_model_connect(struct wf_daemon *d, struct wf_dclient *c, struct wf_live_reply *reply,
                     int fds[WF_LIVE_MAX_FDS]) WF_MUST_USE;

/* Whether all that a client has sent, whose program is gone, has left the model. */
bool wf_model_is_done(const struct wf_daemon *d, struct wf_dclient *c);

/* A client ends. */
void wf_model_leave(struct wf_daemon *d, struct wf_dclient *c);

/* Moves packets, and time. */
void wf_model_serve(struct wf_daemon *d);

/* Before the daemon waits: how many milliseconds at most, -1: for ever. It may be woken sooner. */
int wf_model_rest(struct wf_daemon *d);

/* Something happens to a link of the model. Returns 0, -EINVAL, -ENOENT, -ERANGE or -ENOMEM. */
int wf_model_fault(struct wf_daemon *d, uint32_t link, enum wf_live_fault what,
                   uint64_t value) WF_MUST_USE;

/* The link of a host; the host at an end of a link, or WF_LIVE_ALL; the number of links. */
uint32_t wf_model_host_link(const struct wf_daemon *d, uint32_t host);
uint32_t wf_model_link_host(const struct wf_daemon *d, uint32_t link);
uint32_t wf_model_links(const struct wf_daemon *d);

/* Packets that were lost to errors on the link into a host. */
uint64_t wf_model_host_errors(const struct wf_daemon *d, uint32_t host);

/*
 * A fault in words, or with clear the name of what is mended. Returns 0 or -errno; with -EINVAL err
 * is filled.
 */
int wf_model_words(struct wf_daemon *d, const char *text, bool clear,
                   struct wf_err *err) WF_MUST_USE;

/* Those that are not over: a file of struct wf_live_words. Returns its descriptor or -errno. */
int wf_model_words_list(const struct wf_daemon *d) WF_MUST_USE;

/* Takes over into a host what is wrong with its link and its adapter. */
void wf_model_host_state(const struct wf_daemon *d, uint32_t host, struct wf_live_host *h);

/*
 * The same of what management has set of its port; returns what is not as it was: WF_LIVE_PORT_*.
 * Nothing where nobody can manage it.
 */
uint32_t wf_model_host_port(const struct wf_daemon *d, uint32_t host, struct wf_live_host *h);

/* The adapter of a host lets nobody send to it, or does again. */
void wf_model_storm(struct wf_daemon *d, uint32_t host, bool on);

/* The state of everything: a file with a struct wf_live_model. Returns its descriptor or -errno. */
int wf_model_ports(const struct wf_daemon *d) WF_MUST_USE;

/*
 * The same for one thing after the other: the model without ports, and the ports, 0 .. n_ports-1.
 */
void wf_model_look(const struct wf_daemon *d, struct wf_live_model *model);
void wf_model_port(const struct wf_daemon *d, uint32_t i, struct wf_live_port *port);
void wf_model_deadlock(const struct wf_daemon *d, uint32_t i, struct wf_live_deadlock *deadlock);

#endif
