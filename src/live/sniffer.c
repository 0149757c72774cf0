/* SPDX-License-Identifier: Apache-2.0 */
/* sniffer.c - reads the taps of a fabric's programs, in the order of time. */
#include "live/sniffer.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "live/client.h"
#include "live/sock.h"
#include "live/tap.h"
#include "wire/packet_codec.h"

#define RELEASE_BYTES (WF_TAP_RING_BYTES / 16) /* adapters learn of room at least this often */
#define NS_PER_S INT64_C(1000000000)
#define NONSENSE 1024 /* entries that are no packets, before it does something else */

/* A program's tap. */
struct source {
	struct wf_tap tap;
	uint32_t host, slot, interface;
	bool has; /* head is the oldest of its entries, not taken yet */
	struct wf_tap_entry head;
	bool gone;    /* the program has ended */
	uint64_t end; /* gone: nothing behind this is its own */
};

/* Of an interface. */
struct port {
	uint32_t host;
	uint64_t captured;
	uint64_t missed; /* by those that have gone */
};

struct wf_sniffer {
	const struct wf_live_table *table;
	bool own_table;
	int sock, events;
	uint32_t snaplen;
	int64_t start;  /* of the capture, as wf_sniffer_now() */
	uint64_t epoch; /* the same, since 1970 */
	struct port *ports;
	uint32_t n_ports;
	struct source **sources;
	uint32_t n_sources;
	uint64_t nonsense;
	uint8_t frame[WF_PACKET_BYTES_MAX];
};

static int64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

int64_t wf_sniffer_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

int wf_sniffer_create(const struct wf_sniffer_cfg *cfg, const struct wf_live_table *table,
                      struct wf_sniffer **sniffer_p)
{
	struct wf_sniffer *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return -ENOMEM;
	s->ports = calloc(cfg->n_hosts, sizeof(*s->ports));
	if (s->ports == NULL) {
		free(s);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < cfg->n_hosts; i++)
		s->ports[i].host = cfg->hosts[i];
	s->n_ports = cfg->n_hosts;
	s->snaplen = cfg->snaplen;
	s->table = table;
	s->sock = s->events = -1;
	s->start = wf_sniffer_now();
	s->epoch = (uint64_t)clock_ns(CLOCK_REALTIME);
	*sniffer_p = s;
	return 0;
}

int wf_sniffer_add(struct wf_sniffer *s, uint32_t host, uint32_t slot, int memory_fd)
{
	struct source **more, *src;
	uint32_t i = 0;
	int ret;

	while (i < s->n_ports && s->ports[i].host != host)
		i++;
	if (i == s->n_ports)
		return -EINVAL;
	more = realloc(s->sources, (s->n_sources + 1) * sizeof(*more));
	if (more == NULL)
		return -ENOMEM;
	s->sources = more;
	src = calloc(1, sizeof(*src));
	if (src == NULL)
		return -ENOMEM;
	ret = wf_tap_open(&src->tap, memory_fd);
	if (ret != 0) {
		free(src);
		return ret;
	}
	src->host = host;
	src->slot = slot;
	src->interface = i;
	s->sources[s->n_sources++] = src;
	return 0;
}

static uint64_t missed(const struct source *src)
{
	return atomic_load_explicit(&src->tap.shared->missed, memory_order_relaxed);
}

static void remove_source(struct wf_sniffer *s, uint32_t i)
{
	struct source *src = s->sources[i];

	assert(i < s->n_sources && src->interface < s->n_ports);
	s->ports[src->interface].missed += missed(src);
	wf_tap_close(&src->tap);
	free(src);
	s->sources[i] = s->sources[--s->n_sources];
}

void wf_sniffer_close(struct wf_sniffer *s)
{
	while (s->n_sources > 0)
		remove_source(s, s->n_sources - 1);
	if (s->sock >= 0)
		close(s->sock);
	if (s->events >= 0)
		close(s->events);
	if (s->own_table)
		wf_client_free_table(s->table);
	free(s->sources);
	free(s->ports);
	free(s);
}

/* What a program has written is still its own, which may be all that fits. */
static void let_go(struct source *src)
{
	if (src->gone)
		return;
	src->gone = true;
	src->end = src->tap.ring.pos + WF_TAP_RING_BYTES;
}

void wf_sniffer_stop(struct wf_sniffer *s)
{
	for (uint32_t i = 0; i < s->n_sources; i++)
		let_go(s->sources[i]);
}

static void take_news(struct wf_sniffer *s, const struct wf_live_event *event, const int *fds,
                      unsigned n_fds)
{
	/* Without memory for it, its packets are not captured. */
	if (event->type == WF_LIVE_EV_TAP && n_fds == 1)
		(void)!wf_sniffer_add(s, event->tap.host, event->tap.slot, fds[0]);
	for (uint32_t i = 0; event->type == WF_LIVE_EV_GONE && i < s->n_sources; i++) {
		struct source *src = s->sources[i];

		if (src->host == event->gone.host && src->slot == event->gone.slot)
			let_go(src);
	}
	while (n_fds > 0)
		close(fds[--n_fds]);
}

int wf_sniffer_news(struct wf_sniffer *s)
{
	int fds[WF_LIVE_MAX_FDS];
	struct wf_live_event event;
	unsigned n;

	for (;;) {
		int ret = wf_sock_recv(s->events, &event, sizeof(event), fds, &n, false);

		if (ret == -EAGAIN)
			return 0;
		if (ret <= 0 || (size_t)ret != wf_live_event_bytes(&event)) {
			while (n > 0)
				close(fds[--n]);
			return -ECONNRESET;
		}
		take_news(s, &event, fds, n);
	}
}

/* One question of the capture: a host, or again while there are more programs. */
static int ask(struct wf_sniffer *s, uint32_t host, struct wf_live_reply *reply)
{
	struct wf_live_req req = { .op = WF_LIVE_CAPTURE };
	int fds[WF_LIVE_MAX_FDS];
	int ret;

	req.capture.host = host;
	req.capture.snaplen = s->snaplen;
	ret = wf_client_ask(s->sock, &req, reply, fds, WF_CLIENT_PATIENCE);
	if (ret != 0 || reply->n_fds == 0)
		return ret;
	if (reply->n_fds != 2 || s->events >= 0) {
		for (uint32_t i = 0; i < reply->n_fds; i++)
			close(fds[i]);
		return -EPROTO;
	}
	s->events = fds[0];
	ret = wf_client_table(fds[1], &s->table);
	s->own_table = ret == 0;
	return ret;
}

int wf_sniffer_open(const struct wf_sniffer_cfg *cfg, struct wf_sniffer **sniffer_p)
{
	struct wf_live_reply reply = { .error = 0 };
	struct wf_sniffer *s;
	int ret = wf_sniffer_create(cfg, NULL, &s);

	if (ret != 0)
		return ret;
	s->sock = wf_client_connect(cfg->path, WF_CLIENT_PATIENCE);
	if (s->sock < 0)
		ret = s->sock;
	for (uint32_t i = 0; ret == 0 && i < cfg->n_hosts; i++) {
		do {
			ret = ask(s, cfg->hosts[i], &reply);
			if (ret == 0)
				ret = wf_sniffer_news(s);
		} while (ret == 0 && reply.capture.more != 0);
	}
	if (ret != 0) {
		wf_sniffer_close(s);
		return ret;
	}
	*sniffer_p = s;
	return 0;
}

bool wf_sniffer_ready(const struct wf_sniffer *s)
{
	for (uint32_t i = 0; i < s->n_sources; i++) {
		const struct source *src = s->sources[i];

		if (!src->gone &&
		    atomic_load_explicit(&src->tap.shared->ready, memory_order_acquire) == 0)
			return false;
	}
	return true;
}

int wf_sniffer_fd(const struct wf_sniffer *s)
{
	return s->events;
}

/* Looks for the next entry of a source. Its time is no later than now, whatever it says. */
static bool fetch(const struct wf_sniffer *s, struct source *src)
{
	int64_t now;

	assert(!src->has);
	if (src->gone && src->tap.ring.pos >= src->end)
		return false;
	src->has = wf_tap_peek(&src->tap, &src->head);
	if (!src->has)
		return false;
	now = wf_sniffer_now();
	if (src->head.note.at > now)
		src->head.note.at = now;
	if (src->head.note.at < s->start)
		src->head.note.at = s->start;
	return true;
}

/*
 * The source of the oldest entry; NULL: there is none. What one program sends because of what it
 * has received from another is in its tap only after that is in the other's: so those that have
 * nothing are looked at again until nothing new has come.
 */
static struct source *oldest(struct wf_sniffer *s)
{
	struct source *best;
	bool found;

	do {
		best = NULL;
		found = false;
		for (uint32_t i = 0; i < s->n_sources; i++) {
			struct source *src = s->sources[i];

			found = (!src->has && fetch(s, src)) || found;
			if (src->has && (best == NULL || src->head.note.at < best->head.note.at))
				best = src;
		}
	} while (found);
	return best;
}

/* The entry is taken; its payload is not needed any more. */
static void consume(struct source *src)
{
	struct wf_ring *ring = &src->tap.ring;

	assert(src->has);
	wf_ring_consume(ring);
	src->has = false;
	if (ring->pos - ring->tail >= RELEASE_BYTES)
		(void)wf_ring_release(ring);
}

/* For now there is nothing more: programs get their room back, and those that are gone, go. */
static void rest(struct wf_sniffer *s)
{
	for (uint32_t i = 0; i < s->n_sources;) {
		struct source *src = s->sources[i];

		(void)wf_ring_release(&src->tap.ring);
		if (src->tap.ring.broken)
			s->nonsense++;
		if (!src->has && (src->gone || src->tap.ring.broken))
			remove_source(s, i);
		else
			i++;
	}
}

bool wf_sniffer_next(struct wf_sniffer *s, int64_t until, struct wf_pcapng_packet *packet_p)
{
	uint64_t before = s->nonsense;
	struct source *src;
	size_t have, len;

	while (s->nonsense - before < NONSENSE && (src = oldest(s)) != NULL &&
	       src->head.note.at <= until) {
		int ret = wf_tap_encode(s->table, src->host, &src->head, s->frame, &have, &len);
		const struct wf_tap_note note = src->head.note;

		consume(src);
		if (ret != 0) {
			s->nonsense++;
			continue;
		}
		s->ports[src->interface].captured++;
		*packet_p = (struct wf_pcapng_packet){
			.interface = src->interface,
			.epoch = s->epoch,
			.at = (note.at - s->start) * WF_NS,
			.dir = note.sent ? WF_PCAPNG_DIR_OUT : WF_PCAPNG_DIR_IN,
			.erf = s->table->layer == WF_LIVE_IB ? WF_ERF_INFINIBAND : 0,
			.bytes = s->frame,
			.captured = (uint32_t)wf_min_u64(have, s->snaplen),
			.original = (uint32_t)len,
		};
		return true;
	}
	rest(s);
	return false;
}

void wf_sniffer_statistics(const struct wf_sniffer *s, uint32_t interface, int64_t until,
                           struct wf_pcapng_statistics *st)
{
	const struct port *port = &s->ports[interface];

	*st = (struct wf_pcapng_statistics){
		.interface = interface,
		.epoch = s->epoch,
		.end = (until - s->start) * WF_NS,
		.missed = port->missed,
	};
	for (uint32_t i = 0; i < s->n_sources; i++) {
		if (s->sources[i]->interface == interface)
			st->missed += missed(s->sources[i]);
	}
	st->received = port->captured + st->missed;
}

uint64_t wf_sniffer_nonsense(const struct wf_sniffer *s)
{
	return s->nonsense;
}
