/* SPDX-License-Identifier: Apache-2.0 */
/* nic.c - attaching to the fabric, the service thread, the calls of the program. */
#define _GNU_SOURCE
#include "live/nic.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "live/nic_priv.h"
#include "live/sock.h"
#include "live/turns.h"
#include "wire/byte.h"
#include "wire/ether.h"
#include "wire/size.h"

#define TAKE_OVER 16           /* polls after which the program is taken to go on polling */
#define WATCH (500 * WF_US)    /* how often the thread looks whether it still does */
#define SPIN (100 * WF_US)     /* how long it waits for the next packet without sleeping */
#define SPIN_GAP (300 * WF_US) /* when that comes sooner than this, on the average */
#define GAP_MAX (10 * WF_MS)
#define NO_WATCH (20 * WF_MS) /* after the program was found not to poll all the time */
#define LINGER (50 * WF_US)   /* longer than the thread takes to be woken */
#define LINGER_VAIN 16        /* times in a row until it is given up */
#define NUDGE_EVERY 32        /* polls */
#define JUDGE (2 * WF_MS)     /* how often it looks whether there is a CPU to spin on */
#define MANY_CPUS 4
#define PATIENCE 2        /* on the wire, or in a model: four times the timeout */
#define VAIN (50 * WF_US) /* of polling, until the daemon of a modelled fabric gets the CPU */
#define NAP (50 * WF_US)
#define STACK ((size_t)256 << 10)

static wf_time clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (wf_time)ts.tv_sec * WF_S + (wf_time)ts.tv_nsec * WF_NS;
}

wf_time wf_nic_now(const struct wf_nic *nic)
{
	return clock_now() - nic->start;
}

void wf_nic_lock(struct wf_nic *nic)
{
	pthread_mutex_lock(&nic->lock);
}

void wf_nic_unlock(struct wf_nic *nic)
{
	pthread_mutex_unlock(&nic->lock);
}

struct wf_hca *wf_nic_hca(struct wf_nic *nic)
{
	return nic->hca;
}

const struct wf_live_table *wf_nic_table(const struct wf_nic *nic)
{
	return nic->table;
}

uint32_t wf_nic_host(const struct wf_nic *nic)
{
	return nic->host;
}

bool wf_nic_is_up(const struct wf_nic *nic)
{
	return !nic->orphan &&
	       atomic_load_explicit(&nic->table->host[nic->host].down, memory_order_relaxed) == 0;
}

bool wf_nic_forked(const struct wf_nic *nic)
{
	return nic->forked;
}

/* Wakes the service thread. */
static void call_thread(struct wf_nic *nic)
{
	uint64_t one = 1;
	ssize_t n = write(nic->wake, &one, sizeof(one));

	(void)n; /* full: it wakes anyway */
}

static void set_asleep(struct wf_nic *nic, bool asleep)
{
	nic->asleep = asleep;
	for (uint32_t i = 0; i < nic->n_peers; i++) {
		if (nic->peers[i]->alive)
			wf_pipe_set_asleep(&nic->peers[i]->pipe, asleep);
	}
}

/* The thread sleeps longer than the transport can wait: it has to think again. */
static void check_deadline(struct wf_nic *nic)
{
	wf_time at = wf_nic_deadline(nic);

	/* Congestion control may keep a packet back for a while. */
	if (wf_unlikely(nic->model != NULL))
		at = wf_min_time(at, wf_hca_tx_time(nic->hca));
	if (wf_unlikely(at < nic->sleep_until)) {
		nic->sleep_until = at;
		call_thread(nic);
	}
}

void wf_nic_wake_self(struct wf_nic *nic)
{
	if (nic->asleep)
		call_thread(nic);
}

static void count_poll(struct wf_nic *nic, uint32_t n)
{
	atomic_store_explicit(&nic->polls, n, memory_order_relaxed);
}

void wf_nic_kick(struct wf_nic *nic)
{
	count_poll(nic, atomic_load_explicit(&nic->polls, memory_order_relaxed) + 1);
	(void)wf_nic_progress(nic);
	check_deadline(nic);
}

/*
 * A packet of the modelled fabric passes through the daemon, which needs a CPU. Where those are
 * few, a program that polls in vain for a while lets it have this one.
 */
static void nap(struct wf_nic *nic, unsigned done)
{
	struct timespec ts = { .tv_nsec = NAP / WF_NS };
	wf_time now;

	if (done != 0 || nic->spin.many_cpus) {
		nic->vain_since = 0;
		return;
	}
	now = wf_nic_now(nic);
	if (nic->vain_since == 0)
		nic->vain_since = now;
	if (now - nic->vain_since < VAIN)
		return;
	pthread_mutex_unlock(&nic->lock);
	(void)nanosleep(&ts, NULL);
	pthread_mutex_lock(&nic->lock);
	if (wf_nic_progress(nic) != 0)
		nic->vain_since = 0;
}

void wf_nic_poll(struct wf_nic *nic)
{
	uint32_t n = atomic_load_explicit(&nic->polls, memory_order_relaxed) + 1;
	unsigned done;

	count_poll(nic, n);
	done = wf_nic_progress(nic);
	if (wf_unlikely(nic->model != NULL))
		nap(nic, done);
	if (wf_unlikely(n % NUDGE_EVERY == 0))
		wf_nic_nudge(nic);
	if (wf_unlikely(nic->asleep && n >= TAKE_OVER && nic->no_watch == 0)) {
		/* From now on peers need not wake anybody; but somebody has to watch. */
		set_asleep(nic, false);
		call_thread(nic);
	}
}

void wf_nic_linger(struct wf_nic *nic)
{
	uint64_t writes;
	wf_time end;

	if (wf_likely(!nic->linger))
		return;
	writes = wf_hca_counter(nic->hca, WF_CTR_RX_WRITES);
	end = wf_nic_now(nic) + LINGER;
	do {
		(void)wf_nic_progress(nic);
		if (wf_hca_counter(nic->hca, WF_CTR_RX_WRITES) != writes) {
			nic->lingered = 0;
			return;
		}
	} while (wf_nic_now(nic) < end);
	if (++nic->lingered < LINGER_VAIN)
		return;
	/* It is something else that it does: the thread has to serve it. */
	nic->linger = false;
	nic->no_watch = wf_nic_now(nic) + NO_WATCH;
	call_thread(nic);
}

void wf_nic_wait(struct wf_nic *nic)
{
	count_poll(nic, 0);
	if (atomic_load_explicit(&nic->watching, memory_order_relaxed)) {
		atomic_store_explicit(&nic->watching, false, memory_order_relaxed);
		call_thread(nic);
	}
}

void wf_nic_bind(struct wf_nic *nic, struct wf_qp *qp, uint32_t host, uint32_t qpn)
{
	struct wf_nic_bound *bound = wf_nic_bound(nic, wf_qp_num(qp));

	bound->peer = wf_nic_peer(nic, host, wf_live_slot(qpn));
	bound->sent = 0;
	/* Daemons are on the way, which may have to wait for a CPU. */
	wf_qp_set_patience(qp, (host & WF_LIVE_REMOTE) != 0 || nic->model != NULL ? PATIENCE : 0);
}

void wf_nic_tune(const struct wf_nic *nic, enum wf_qp_type type, struct wf_qp_tune *tune)
{
	const struct wf_live_table *t = nic->table;
	struct wf_qp_tune own = *tune;

	if (t->pace == WF_LIVE_DIRECT)
		return;
	*tune = t->tune;
	tune->cc = wf_cc_find(t->cc);
	tune->cc_param = t->cc_param;
	if (tune->recovery == WF_RECOVERY_SELECTIVE && type == WF_QPT_RC)
		return;
	tune->read_acks = tune->read_acks && type == WF_QPT_RC;
	tune->recovery = WF_RECOVERY_GO_BACK_N;
	tune->reorder = 0;
	tune->direct = false;
	tune->window = own.window;
	tune->ack_every = own.ack_every;
}

int wf_nic_add_qp(struct wf_nic *nic, struct wf_qp *qp)
{
	(void)qp;
	atomic_fetch_add_explicit(&nic->stats->qps, 1, memory_order_relaxed);
	return 0;
}

void wf_nic_remove_qp(struct wf_nic *nic, struct wf_qp *qp)
{
	wf_nic_bound(nic, wf_qp_num(qp))->peer = NULL;
	atomic_fetch_sub_explicit(&nic->stats->qps, 1, memory_order_relaxed);
}

/* The thread's way to the lock: a program that holds it shall not have to wake anybody. */
static void lock_politely(struct wf_nic *nic)
{
	for (int i = 0; i < 256; i++) {
		if (pthread_mutex_trylock(&nic->lock) == 0)
			return;
		for (int j = 0; j < 32; j++)
			__builtin_ia32_pause();
	}
	pthread_mutex_lock(&nic->lock);
}

static wf_time cpu_time(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (wf_time)ts.tv_sec * WF_S + (wf_time)ts.tv_nsec * WF_NS;
}

/* On few CPUs, spinning is no good while the program itself computes: it would wait for us. */
static void judge(struct wf_nic_spin *s, wf_time now)
{
	wf_time cpu, own, passed = now - s->judged;

	if (s->many_cpus || passed < JUDGE)
		return;
	cpu = cpu_time(CLOCK_PROCESS_CPUTIME_ID);
	own = cpu_time(CLOCK_THREAD_CPUTIME_ID);
	s->may = (cpu - s->cpu) - (own - s->own) < passed / 2;
	s->judged = now;
	s->cpu = cpu;
	s->own = own;
}

/* Whether to look again at once instead of sleeping. */
static bool go_on(struct wf_nic_spin *s, unsigned done, wf_time now)
{
	if (done != 0) {
		if (s->idle_since != 0)
			s->gap += (wf_min_time(now - s->idle_since, GAP_MAX) - s->gap) / 8;
		s->idle_since = 0;
		return true;
	}
	if (s->idle_since == 0) {
		s->idle_since = now;
		judge(s, now);
	}
	return s->may && s->gap < SPIN_GAP && now - s->idle_since < SPIN;
}

/* Sleeps until until, a peer, the daemon or the program. Called and left with the lock taken. */
static void rest(struct wf_nic *nic, wf_time until)
{
	struct pollfd fds[2] = {
		{ .fd = nic->wake, .events = POLLIN },
		{ .fd = nic->orphan ? -1 : nic->events, .events = POLLIN },
	};
	wf_time left = until == WF_TIME_NEVER ? 0 : wf_max_time(until - wf_nic_now(nic), 0);
	struct timespec ts = { .tv_sec = left / WF_S, .tv_nsec = left % WF_S / WF_NS };
	uint64_t count;
	ssize_t n;

	pthread_mutex_unlock(&nic->lock);
	(void)ppoll(fds, 2, until == WF_TIME_NEVER ? NULL : &ts, NULL);
	if ((fds[0].revents & POLLIN) != 0) {
		n = read(nic->wake, &count, sizeof(count));
		(void)n;
	}
	lock_politely(nic);
	if (fds[1].revents != 0)
		wf_nic_events(nic);
}

/* The program does the work. Looks now and then, without the lock, whether it still polls. */
static void watch(struct wf_nic *nic)
{
	struct pollfd fds[2] = {
		{ .fd = nic->wake, .events = POLLIN },
		{ .fd = nic->orphan ? -1 : nic->events, .events = POLLIN },
	};
	struct timespec ts = { .tv_nsec = WATCH / WF_NS };
	uint32_t seen = 0;
	int n = 0;

	atomic_store_explicit(&nic->watching, true, memory_order_relaxed);
	pthread_mutex_unlock(&nic->lock);
	while (n == 0 && seen != atomic_load_explicit(&nic->polls, memory_order_relaxed)) {
		seen = atomic_load_explicit(&nic->polls, memory_order_relaxed);
		n = ppoll(fds, 2, &ts, NULL);
	}
	lock_politely(nic);
	atomic_store_explicit(&nic->watching, false, memory_order_relaxed);
	if (n == 0)
		count_poll(nic, 0); /* it has stopped */
	else
		rest(nic, 0);
	/* What waits here waits for us: between its polls the program does something else. */
	if (wf_nic_pending(nic)) {
		nic->linger = true;
		nic->lingered = 0;
		(void)wf_nic_progress(nic);
	}
}

/* Sleeps until there is something to do. */
static void doze(struct wf_nic *nic)
{
	wf_time at;

	wf_nic_publish(nic);
	set_asleep(nic, true);
	wf_pipe_fence();
	at = wf_min_time(wf_nic_deadline(nic), wf_hca_tx_time(nic->hca));
	at = wf_min_time(at, wf_nic_blocked(nic));
	if (!wf_nic_pending(nic) && at > wf_nic_now(nic) && !nic->stop) {
		nic->sleep_until = at;
		rest(nic, at);
		nic->sleep_until = 0;
	}
	if (nic->asleep)
		set_asleep(nic, false);
}

/* One round of the thread. */
static void serve(struct wf_nic *nic)
{
	wf_time now = wf_nic_now(nic);
	unsigned done;

	if (now >= nic->no_watch) {
		nic->no_watch = 0;
		if (atomic_load_explicit(&nic->polls, memory_order_relaxed) >= TAKE_OVER) {
			watch(nic);
			return;
		}
	}
	done = wf_nic_progress(nic);
	if (!go_on(&nic->spin, done, now)) {
		doze(nic);
		return;
	}
	pthread_mutex_unlock(&nic->lock);
	for (int i = 0; i < 8 && done == 0; i++)
		__builtin_ia32_pause();
	lock_politely(nic);
}

static void *thread_main(void *arg)
{
	struct wf_nic *nic = arg;
	cpu_set_t set;

	wf_ask_for_short_turns();
	pthread_mutex_lock(&nic->lock);
	nic->spin.may = true;
	nic->spin.many_cpus =
		sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) >= MANY_CPUS;
	while (!nic->stop)
		serve(nic);
	pthread_mutex_unlock(&nic->lock);
	return NULL;
}

/* Starts the thread with all signals blocked: they are the program's. */
static int start_thread(struct wf_nic *nic)
{
	pthread_attr_t attr;
	sigset_t all, old;
	int ret;

	ret = pthread_attr_init(&attr);
	if (ret != 0)
		return -ret;
	pthread_attr_setstacksize(&attr, STACK);
	/*
	 * The program's signals are for its own threads; a fault is this one's, and may be handled
	 * (fetch, store).
	 */
	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(&nic->thread, &attr, thread_main, nic);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	if (ret == 0)
		pthread_setname_np(nic->thread, "weft");
	return -ret;
}

static int map_file(int fd, size_t size, int prot, void **at_p)
{
	struct stat st;
	void *at;

	if (fstat(fd, &st) != 0 || (size_t)st.st_size < size)
		return -EPROTO;
	at = mmap(NULL, size == 0 ? (size_t)st.st_size : size, prot, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		return -errno;
	*at_p = at;
	return 0;
}

static int attach(struct wf_nic *nic)
{
	struct wf_live_req req = { .op = WF_LIVE_ATTACH };
	struct wf_live_reply reply;
	int fds[WF_LIVE_MAX_FDS];
	void *table = NULL, *stats = NULL;
	int ret;

	nic->sock = wf_sock_connect(nic->cfg.path);
	if (nic->sock < 0)
		return nic->sock;
	snprintf(req.attach.host, sizeof(req.attach.host), "%s", nic->cfg.host);
	snprintf(req.attach.program, sizeof(req.attach.program), "%s",
	         program_invocation_short_name);
	ret = wf_nic_ask(nic, &req, &reply, fds);
	if (ret != 0)
		return ret == -ENOENT ? -ENXIO : ret;
	if (reply.n_fds != 4)
		return -EPROTO;
	nic->events = fds[0];
	nic->wake = fds[1];
	ret = map_file(fds[2], 0, PROT_READ, &table);
	if (ret == 0)
		ret = map_file(fds[3], sizeof(*nic->stats), PROT_READ | PROT_WRITE, &stats);
	close(fds[2]);
	close(fds[3]);
	if (ret == 0 && (table == NULL || stats == NULL))
		ret = -EPROTO;
	nic->table = table;
	nic->stats = stats;
	nic->host = reply.attach.host;
	nic->slot = reply.attach.slot;
	return ret;
}

/* The IPv4 header of a datagram, in the second half of the GRH's place. */
static void write_ipv4(uint8_t *ip, uint16_t length, uint8_t traffic_class, const uint8_t src[16],
                       const uint8_t dst[16])
{
	ip[0] = 0x45;
	ip[1] = traffic_class;
	wf_be16_put(ip + 2, (uint16_t)(length + WF_IPV4_LEN));
	ip[8] = 64;
	ip[9] = WF_IP_PROTO_UDP;
	memcpy(ip + 12, src + 12, 4);
	memcpy(ip + 16, dst + 12, 4);
}

/* RoCE: the IP header that came with a datagram, where the GRH would be. */
static bool write_grh(void *arg, const struct wf_packet *pkt, uint8_t grh[WF_GRH_LEN])
{
	struct wf_nic *nic = arg;
	bool wire = (pkt->src & WF_LIVE_REMOTE) != 0, group = (pkt->dst & WF_LIVE_GROUP) != 0;
	uint16_t length = (uint16_t)(pkt->length + 28);
	uint8_t src[16] = { 0 }, dst[16] = { 0 };

	memset(grh, 0, WF_GRH_LEN);
	if (nic->table->layer != WF_LIVE_ROCE && !group)
		return false;
	for (uint32_t i = 0; i < nic->n_groups && group; i++) {
		if (nic->groups[i]->number == pkt->dst)
			memcpy(dst, nic->groups[i]->gid, 16);
	}
	(void)wf_nic_gid(nic, pkt->src, group ? WF_LIVE_GID_LOCAL : WF_LIVE_GID_IPV4, src);
	if (!group)
		(void)wf_live_gid(nic->table, nic->host,
		                  wire ? nic->ip_info >> 8 : WF_LIVE_GID_IPV4, dst);
	if (wf_live_is_ipv4(src) && wf_live_is_ipv4(dst)) {
		write_ipv4(grh + 20, length, wire ? (uint8_t)nic->ip_info : 0, src, dst);
		return true;
	}
	wf_be32_put(grh, UINT32_C(6) << 28 | (wire ? (nic->ip_info & 0xff) << 20 : 0));
	wf_be16_put(grh + 4, wire ? length : (uint16_t)(length + WF_IPV4_LEN));
	grh[6] = wire ? WF_IP_PROTO_UDP : 0x1b;
	grh[7] = wire ? 64 : 1;
	memcpy(grh + 8, src, 16);
	memcpy(grh + 24, dst, 16);
	return true;
}

static int make_hca(struct wf_nic *nic)
{
	struct wf_hca_attr attr;

	wf_hca_attr_defaults(&attr);
	attr.guid = nic->table->host[nic->host].guid;
	attr.line_rate = nic->table->rate;
	attr.host = nic->host;
	attr.max_qp = WF_NIC_QPS;
	attr.max_mr = 1 << 16;
	attr.max_cqe = 1 << 22;
	attr.max_mcast = 1024;
	attr.max_events = 1 << 14;
	attr.qpn_base = nic->slot << WF_LIVE_QPN_BITS;
	attr.qpn_bits = WF_LIVE_QPN_BITS;
	attr.roce = nic->table->layer == WF_LIVE_ROCE;
	if (!attr.roce)
		attr.overhead = wf_size_around(WF_ENCAP_IB, false);
	attr.grh = write_grh;
	attr.grh_ctx = nic;
	attr.place = wf_nic_place;
	attr.place_ctx = nic;
	attr.fetch = nic->cfg.fetch != NULL ? nic->cfg.fetch : wf_nic_copy;
	attr.store = nic->cfg.store;
	attr.underway = wf_nic_underway;
	attr.underway_ctx = nic;
	return wf_hca_create(&attr, wf_mem_heap(), &nic->hca);
}

static void release(struct wf_nic *nic)
{
	for (uint32_t i = 0; i < nic->n_peers; i++) {
		wf_nic_peer_break(nic, nic->peers[i]);
		nic->peers[i]->gone = true;
	}
	wf_nic_reap(nic);
	while (nic->graves != NULL) {
		struct wf_nic_peer *p = nic->graves;

		nic->graves = p->next;
		free(p->held);
		free(p);
	}
	free(nic->peers);
	for (uint32_t i = 0; i < nic->n_groups; i++)
		free(nic->groups[i]);
	free(nic->groups);
	free(nic->bound);
	free(nic->remotes);
	wf_nic_gsi_close(nic);
	wf_nic_tap_remove(nic, WF_LIVE_ALL);
	wf_hca_destroy(nic->hca);
	if (nic->table != NULL)
		munmap(nic->table, wf_live_table_bytes(nic->table->n_hosts));
	if (nic->stats != NULL)
		munmap(nic->stats, sizeof(*nic->stats));
	if (nic->sock >= 0)
		close(nic->sock);
	if (nic->events >= 0)
		close(nic->events);
	if (nic->wake >= 0)
		close(nic->wake);
	pthread_mutex_destroy(&nic->lock);
	free(nic);
}

int wf_nic_open(const struct wf_nic_cfg *cfg, struct wf_nic **nic_p)
{
	struct wf_nic *nic = calloc(1, sizeof(*nic));
	int ret;

	if (nic == NULL)
		return -ENOMEM;
	nic->cfg = *cfg;
	nic->sock = nic->events = nic->wake = -1;
	/* Time 0 is long ago, so that what was never done was done then. */
	nic->start = clock_now() - WF_S;
	pthread_mutex_init(&nic->lock, NULL);
	nic->bound = calloc((size_t)1 << WF_LIVE_QPN_BITS, sizeof(struct wf_nic_bound));
	ret = nic->bound == NULL ? -ENOMEM : attach(nic);
	if (ret == 0)
		ret = make_hca(nic);
	if (ret == 0 && nic->table->pace != WF_LIVE_DIRECT)
		ret = wf_nic_open_model(nic);
	if (ret == 0) {
		nic->down = !wf_nic_is_up(nic);
		wf_nic_events(nic); /* captures see the first packet, too */
		ret = start_thread(nic);
	}
	if (ret != 0) {
		release(nic);
		return ret;
	}
	nic->cfg.path = nic->cfg.host = NULL;
	*nic_p = nic;
	return 0;
}

void wf_nic_close(struct wf_nic *nic)
{
	if (nic->forked)
		return; /* the thread and the links are the parent's */
	wf_nic_lock(nic);
	nic->stop = true;
	call_thread(nic);
	wf_nic_unlock(nic);
	pthread_join(nic->thread, NULL);
	wf_nic_publish(nic);
	release(nic);
}

void wf_nic_fork_child(struct wf_nic *nic)
{
	nic->forked = true;
	close(nic->sock);
	close(nic->events);
	close(nic->wake);
	nic->sock = nic->events = nic->wake = -1;
}
