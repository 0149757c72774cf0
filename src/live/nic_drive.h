/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nic_drive.h - who moves a program's adapter on.
 *
 * Somebody has to: the program, whose calls do it under the lock anyway, or the service thread.
 * The state says who sees to it that nothing is left lying.
 *
 *	        the thread begins                     the thread ends
 *	NOBODY -------------------> THREAD ------------------------------> NOBODY
 *	                            ^ ^  | |
 *	      woken: by a peer, the | |  | | the program polls all the time:
 *	      daemon, the clock or  | |  | | the thread sees it
 *	      the program, or there | |  | |
 *	      was something to do   | |  | +-----------------+
 *	                            | |  |                   |
 *	                            | |  | nothing to do:    |
 *	                            | |  | arm()             v
 *	                          WAITS<-+ +---------------> PROGRAM
 *	                            |  |   |                 |
 *	                            |  +---+                 |
 *	                            |  the program polls all |
 *	                            |  the time: it says so  |
 *	                            |                        |
 *	                            +--- THREAD <------------+
 *	                                 the program stopped polling, is going to wait, or somebody
 *	                                 else wants the thread: a peer's nudge, the daemon
 *
 * THREAD   the thread looks again and again, or is just about to.
 * WAITS    the thread sleeps, and every wake-up is armed: peers and daemons were told to write to
 *          its eventfd, where packets are staged room was asked for, and its sleep ends when the
 *          first timer, paced packet or delayed packet is due. The program may call all the same;
 *          a call that leaves something due earlier than that wakes the thread.
 * PROGRAM  the program polls, and peers wake nobody. The thread only looks now and then whether it
 *          still does.
 * NOBODY   there is no thread: not yet, not any more, or not in this process (after a fork).
 */
#ifndef WF_LIVE_NIC_DRIVE_H
#define WF_LIVE_NIC_DRIVE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/base.h"

struct wf_nic;
struct wf_nic_peer;

enum wf_drive_state {
	WF_DRIVE_NOBODY,
	WF_DRIVE_THREAD,
	WF_DRIVE_WAITS,
	WF_DRIVE_PROGRAM,
	WF_DRIVE_STATES
};

/* Whether somebody else wants the CPU that a thread waits on without sleeping. */
struct wf_crowd {
	pthread_t who; /* of which thread this is known */
	wf_time since; /* when its wait began; 0: it does not wait */
	wf_time at;    /* when it was last looked at, and its CPU time then */
	wf_time cpu;
	long preempted, slept; /* times that it lost its CPU, and that it gave it away, then */
	wf_time until;         /* it is crowded, as far as is known */
};

/* Times are the system's clock, but for until, which is the adapter's. */
struct wf_drive {
	enum wf_drive_state state;
	_Atomic uint32_t polls; /* of the program, since it last said that it will wait */
	wf_time until;          /* WAITS: when the thread wakes by itself */
	wf_time distrust;       /* before that, the thread does not rely on the program's polling */
	uint32_t linger;        /* times that wf_nic_linger() may wait in vain; 0: it does not */
	bool many_cpus;         /* the thread takes none from the program */
	struct wf_crowd program;
	/* The thread, as long as there is work. */
	struct wf_crowd thread;
	wf_time gap;      /* between the end of work and the next, on the average */
	wf_time judged;   /* when it was last found out whether the program computes */
	wf_time cpu, own; /* CPU time of the process and of the thread, then */
	bool computes;
};

/* What the thread does until nic->stop; arg is the adapter. */
void *wf_drive_main(void *arg);

/* Wakes the service thread. */
void wf_drive_call_thread(struct wf_nic *nic);

/* Packets to this program itself wait in its ring: the service thread takes them, if it sleeps. */
void wf_drive_wake_self(struct wf_nic *nic);

/* A new peer learns whether it has to wake anybody. */
void wf_drive_new_peer(struct wf_nic *nic, struct wf_nic_peer *peer);

/*
 * Goes to WAITS if there is nothing to do: arms every wake-up, and then looks. Returns false when
 * there is something: the state is THREAD as before.
 */
bool wf_drive_arm(struct wf_nic *nic) WF_MUST_USE;

/* What holds between any two things that happen to an adapter. Does nothing without asserts. */
void wf_nic_assert(const struct wf_nic *nic);

#endif
