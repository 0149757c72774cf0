/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft.h - verbs programs on the hosts of a simulated fabric.
 *
 * A program builds a fabric, opens the adapters of its hosts, registers memory, creates completion
 * queues and queue pairs, connects them, posts work, and runs virtual time. The bytes it sends are
 * real; the time they take is the fabric's. docs/c-api.md has a tour, examples/c/ping_pong.c is a
 * whole program.
 *
 *	fabric --open--> adapter --create--> cq, qp, srq, mr      before the run, or in a callback
 *	post_send, post_recv --weft_run()--> completion callbacks, or weft_cq_poll() afterwards
 *
 * Time is in picoseconds since the fabric was created. Callbacks run at the exact virtual time at
 * which a program that polls on that host would see the completion; what they post leaves then.
 *
 * Functions return 0 or a negative errno; results come through the last argument and are set only
 * on success. Every object belongs to its fabric and goes with it; memory that is registered, and
 * what callbacks get as arg, stays the caller's and must outlive its use.
 *
 * A callback touches only objects of its own host: what it would do on another one has no time
 * there. Posting to one is refused with -EINVAL, where it is noticed.
 *
 * Threads: a fabric is used by one thread at a time. With more than one thread (struct
 * weft_fabric_attr), callbacks of different hosts run at the same time, so what they share the
 * program itself protects. Two fabrics share nothing.
 */
#ifndef WEFT_WEFT_H
#define WEFT_WEFT_H

#include "weft/fabric.h"
#include "weft/verbs.h"

#endif
