/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon.h - the process behind a fabric: knows its hosts, lets programs attach to them, makes
 * links between programs, and notices when one of them ends.
 */
#ifndef WF_LIVE_DAEMON_H
#define WF_LIVE_DAEMON_H

#include <sys/socket.h>

#include "base/err.h"
#include "live/proto.h"

struct wf_managed_cfg;
struct wf_sim;
struct wf_sim_cfg;
struct wf_live_words;

/*
 * Who understands faults of a modelled fabric in the words of a scenario: whoever reads scenarios.
 * The model stands. Every function is set.
 */
struct wf_daemon_words {
	/* Has a fault happen. Returns 0 or -errno; -EINVAL with err filled. */
	int (*add)(void *arg, struct wf_sim *sim, const char *text, struct wf_err *err);
	/* Mends what on names, "" everything. Returns the same. */
	int (*clear)(void *arg, struct wf_sim *sim, const char *on, struct wf_err *err);
	/* Fills in the i-th fault that is not over; false: there is none. */
	bool (*line)(void *arg, const struct wf_sim *sim, unsigned i, struct wf_live_words *line);
};

struct wf_daemon_cfg {
	const char *path;   /* of the socket */
	const char *fabric; /* its name */
	enum wf_live_layer layer;
	uint32_t n_hosts;         /* 1 .. WF_LIVE_MAX_HOSTS */
	const char *const *names; /* of the hosts; NULL: h1, h2, … */
	const char *const *peers; /* the switch of each; NULL: s1 */
	const struct wf_daemon_wire {
		uint32_t host;
		uint8_t gid[16]; /* IPv4: mapped; ::ffff:0.0.0.0, ::, fe80::: the first there is */
		uint32_t scope;  /* link-local: the interface; 0: any that has it */
	} * wires;               /* hosts that are at real network addresses, RoCE v2 only */
	uint32_t n_wires;
	struct sockaddr_storage metrics; /* where they are told: metrics.h; AF_UNSPEC: nowhere */
	uint64_t rate;                   /* of a port, bits/s */
	uint32_t mtu;
	enum wf_live_pace pace;
	/*
	 * Modelled: the fabric, of which what is not the daemon's own is set; borrowed for its
	 * life.
	 */
	const struct wf_sim_cfg *model;
	/*
	 * Modelled: what its management is (sim/mgmt/managed.h); borrowed until it is created.
	 * NULL: nobody manages it, and routes are there.
	 */
	const struct wf_managed_cfg *managed;
	struct wf_err *err; /* what is wrong with it is said there */
	const struct wf_daemon_words
		*words; /* modelled; borrowed for its life. NULL: nobody does */
	void *words_arg;
	/* Told what happens to the modelled fabric by itself, a line each; NULL: nobody is. */
	void (*say)(void *arg, const char *line);
	void *say_arg;
	uint8_t cls; /* modelled: the class of packets that have none (service level 0) */
};

struct wf_daemon;

/*
 * Makes the fabric and listens. From then on programs can connect; they are served in
 * wf_daemon_run(). Returns 0 or -errno: -EEXIST when a daemon listens there already; of addresses
 * of the wire -EADDRINUSE, -EADDRNOTAVAIL, -EACCES … A socket that nobody listens at is taken over.
 */
int wf_daemon_create(const struct wf_daemon_cfg *cfg, struct wf_daemon **daemon_p) WF_MUST_USE;

/* Serves until somebody asks it to stop or stop_fd becomes readable. Returns 0 or -errno. */
int wf_daemon_run(struct wf_daemon *daemon, int stop_fd) WF_MUST_USE;

/*
 * Serves until the process ends whose pidfd is given, and after it the last program on the fabric.
 * Returns 0 or -errno.
 */
int wf_daemon_run_for(struct wf_daemon *daemon, int process) WF_MUST_USE;

/*
 * After fork(), in the process that does not serve: lets go of it. The fabric lives on in the
 * other.
 */
void wf_daemon_leave(struct wf_daemon *daemon);

/* Ends the fabric: every program sees its device go. */
void wf_daemon_destroy(struct wf_daemon *daemon);

#endif
