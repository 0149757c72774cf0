/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sniffer.h - captures the packets of a live fabric: reads the taps of its programs, those that
 * attach later included, and gives packets in the order of time, as bytes of the wire.
 *
 * It disturbs nobody: programs hand over copies and never wait, and it looks by itself whether
 * there are any. Nothing that comes from a program is trusted.
 */
#ifndef WF_LIVE_SNIFFER_H
#define WF_LIVE_SNIFFER_H

#include <stdbool.h>

#include "live/proto.h"
#include "wire/pcapng.h"

/*
 * How far behind it stays, in ns: an adapter takes the time first and hands the copy over then.
 * What takes longer comes behind packets that are younger.
 */
#define WF_SNIFFER_LAG INT64_C(2000000)

#define WF_SNIFFER_SNAPLEN 65535 /* bytes of a packet: all */

struct wf_sniffer;

struct wf_sniffer_cfg {
	const char *path;      /* of the daemon's socket */
	const uint32_t *hosts; /* each is an interface, in this order */
	uint32_t n_hosts;
	uint32_t snaplen; /* bytes of a packet that are wanted, at least 1 */
};

/*
 * Begins a capture. Returns 0 or -errno: -ENOENT, -ECONNREFUSED (no daemon), -EUSERS (too many
 * captures). On success the caller owns *sniffer_p.
 */
int wf_sniffer_open(const struct wf_sniffer_cfg *cfg, struct wf_sniffer **sniffer_p) WF_MUST_USE;
void wf_sniffer_close(struct wf_sniffer *sniffer);

/* Whether all programs that are there know of it, so that no packet of theirs is passed over. */
bool wf_sniffer_ready(const struct wf_sniffer *sniffer);

/* What becomes readable when there is news, but not with every packet. */
int wf_sniffer_fd(const struct wf_sniffer *sniffer);

/*
 * Takes in news of programs that come and go. Returns 0, or -ECONNRESET when the fabric has ended.
 */
int wf_sniffer_news(struct wf_sniffer *sniffer) WF_MUST_USE;

/* Now, in the time of wf_sniffer_next(): ns since the system's start. */
int64_t wf_sniffer_now(void);

/*
 * The oldest packet of those that were sent or received until then. Its bytes stay until the next
 * call. Returns false when there is none.
 */
bool wf_sniffer_next(struct wf_sniffer *sniffer, int64_t until, struct wf_pcapng_packet *packet_p);

/*
 * The end: what programs hand over from now on need not be captured, and the packets come to an
 * end.
 */
void wf_sniffer_stop(struct wf_sniffer *sniffer);

/* Of an interface so far; the end is until. */
void wf_sniffer_statistics(const struct wf_sniffer *sniffer, uint32_t interface, int64_t until,
                           struct wf_pcapng_statistics *statistics_p);

/* Entries of taps that were no packets: a program does not play by the rules. */
uint64_t wf_sniffer_nonsense(const struct wf_sniffer *sniffer);

/*
 * The same without a daemon: packets of the hosts of a table, which is borrowed; taps are added by
 * hand. wf_sniffer_add() borrows the memory. Return 0 or -errno.
 */
int wf_sniffer_create(const struct wf_sniffer_cfg *cfg, const struct wf_live_table *table,
                      struct wf_sniffer **sniffer_p) WF_MUST_USE;
int wf_sniffer_add(struct wf_sniffer *sniffer, uint32_t host, uint32_t slot,
                   int memory_fd) WF_MUST_USE;

#endif
