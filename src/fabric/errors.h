/* SPDX-License-Identifier: Apache-2.0 */
/*
 * errors.h - what a link does to the packets that come in by a port: bit errors before and behind
 * its FEC, in bursts or all the time, and losses at random.
 */
#ifndef WF_FABRIC_ERRORS_H
#define WF_FABRIC_ERRORS_H

#include "fabric/device.h"

struct wf_fabric;
struct wf_fec_code;

/*
 * A link that is good and bad by turns, for random times (Gilbert and Elliott's model). Whoever has
 * the same key sees the same turns: both ends of a link do.
 */
struct wf_burst {
	uint64_t key, n; /* of the draws, and how many there were */
	wf_time every, lasts;
	wf_time until; /* it is as it is; WF_TIME_NEVER: it never changes */
	bool on;
};

/* Its turn is over. */
void wf_burst_turn(struct wf_burst *burst);

/* Whether it is bad at now, which never goes back. */
static inline bool wf_burst_at(struct wf_burst *burst, wf_time now)
{
	while (wf_unlikely(burst->until <= now))
		wf_burst_turn(burst);
	return burst->on;
}

/* What the FEC did with what came in by a port. */
struct wf_port_fec {
	struct wf_burst burst;
	wf_time since; /* what is before is in the sums: bytes times struct wf_fec's units */
	unsigned __int128 mended, symbols, flips;
	uint32_t uncorrected[WF_MAX_QUEUES]; /* packets that it gave up, by queue */
	/* The raw bit error rate that was nearest to the limit of its code, or furthest beyond. */
	uint64_t raw_ber;
	const struct wf_fec_code *code;
};

/*
 * The chance, in units of 2^-64 and not above 2^64, that a packet of size bytes is lost on the link
 * into port, in a burst or not: at random, by bit errors, and because the FEC gave up; *fec_p: by
 * the last alone.
 */
unsigned __int128 wf_port_chance(const struct wf_fabric *fabric, const struct wf_port *port,
                                 uint32_t size, bool burst, uint64_t *fec_p);

/* Whether a packet that comes in by port now is lost at random, or to bit errors. */
bool wf_port_draws(const struct wf_fabric *fabric, struct wf_port *port,
                   const struct wf_packet *pkt, wf_time now);

/*
 * What the FEC has mended up to now in what comes in by port, idle time included, when codewords
 * are sent as well: mean numbers, so that they are the same in every run. Zero where no link has
 * raw bit errors.
 */
struct wf_fec_sums {
	uint64_t codewords; /* that had errors, and were mended */
	uint64_t symbols, bits;
	uint64_t
		raw_ber; /* when it was nearest to the limit of its code; 0: there were no errors */
	const struct wf_fec_code *code;
};
struct wf_fec_sums wf_port_fec(const struct wf_port *port, wf_time now);

/* Adds up what wf_port_fec() has to know, before the port's setup, rate or link changes. */
void wf_port_fec_settle(struct wf_port *port, wf_time now);

/*
 * The setup of a port of dev is another one, or is for the first time, while no node runs: makes
 * what its errors need. Returns 0 or -ENOMEM.
 */
int wf_port_errors_set(struct wf_device *dev, struct wf_port *port, wf_time now) WF_MUST_USE;

#endif
