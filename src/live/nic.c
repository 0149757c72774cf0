/* SPDX-License-Identifier: Apache-2.0 */
/* nic.c - an adapter is opened and closed, and set up as its fabric wants it. */
#define _GNU_SOURCE
#include "live/nic.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "live/client.h"
#include "live/cpus.h"
#include "live/nic_priv.h"
#include "live/sock.h"
#include "wire/byte.h"
#include "wire/ether.h"
#include "wire/size.h"

#define CATCH_UP (5 * WF_MS) /* another's turn on the CPU, for which a paced sender may wait */
#define PATIENCE 2           /* on the wire, or in a model: four times the timeout */
#define STACK ((size_t)256 << 10)

wf_time wf_nic_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (wf_time)ts.tv_sec * WF_S + (wf_time)ts.tv_nsec * WF_NS;
}

wf_time wf_nic_now(const struct wf_nic *nic)
{
	return wf_nic_clock() - nic->start;
}

void wf_nic_lock(struct wf_nic *nic)
{
	pthread_mutex_lock(&nic->lock);
	assert(!nic->locked);
	nic->locked = true;
}

void wf_nic_unlock(struct wf_nic *nic)
{
	wf_nic_assert(nic);
	nic->locked = false;
	pthread_mutex_unlock(&nic->lock);
}

bool wf_nic_is_locked(const struct wf_nic *nic)
{
	return nic->locked;
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
	return !nic->orphan && wf_live_is_active(nic->table, nic->host);
}

unsigned wf_nic_port_state(const struct wf_nic *nic)
{
	return nic->orphan ? 1 : wf_live_port_state(nic->table, nic->host);
}

bool wf_nic_forked(const struct wf_nic *nic)
{
	return nic->forked;
}

void wf_nic_bind(struct wf_nic *nic, struct wf_qp *qp, uint32_t host, uint32_t qpn)
{
	struct wf_nic_bound *bound = wf_nic_bound(nic, wf_qp_num(qp));
	bool remote = (host & WF_LIVE_REMOTE) != 0;

	wf_nic_set_bound(nic, bound, wf_nic_peer(nic, host, wf_live_slot(qpn)));
	bound->sent = 0;
	/* Daemons are on the way, which may have to wait for a CPU. */
	wf_qp_set_patience(qp, remote || nic->model != NULL ? PATIENCE : 0);
	/* Who is outside may be slow, and to get everything again would make it slower. */
	wf_qp_set_backoff(qp, remote);
}

void wf_nic_tune(const struct wf_nic *nic, enum wf_qp_type type, struct wf_qp_tune *tune)
{
	const struct wf_live_table *t = nic->table;
	struct wf_qp_tune own = *tune;

	if (t->pace == WF_LIVE_DIRECT) {
		/*
		 * Nothing within the fabric marks packets; outside there may be switches that do.
		 */
		if (t->host[nic->host].wire != 0 && (type == WF_QPT_RC || type == WF_QPT_UC)) {
			tune->cc = wf_cc_find("dcqcn");
			tune->free = true;
			tune->catch_up = CATCH_UP;
		}
		return;
	}
	*tune = t->tune;
	tune->spray = tune->spray && t->managed == 0; /* one LID, one path */
	tune->free = true; /* the host's port sees to that rate, and does not sleep */
	tune->catch_up = CATCH_UP;
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
	wf_nic_set_bound(nic, wf_nic_bound(nic, wf_qp_num(qp)), NULL);
	atomic_fetch_sub_explicit(&nic->stats->qps, 1, memory_order_relaxed);
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
	ret = pthread_create(&nic->thread, &attr, wf_drive_main, nic);
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
	at = mmap(NULL, size, prot, MAP_SHARED, fd, 0);
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
	const struct wf_live_table *table = NULL;
	void *stats = NULL;
	int ret;

	nic->sock = wf_client_connect(nic->cfg.path, WF_CLIENT_FOR_EVER);
	if (nic->sock < 0)
		return nic->sock;
	snprintf(req.attach.host, sizeof(req.attach.host), "%s", nic->cfg.host);
	snprintf(req.attach.program, sizeof(req.attach.program), "%s",
	         program_invocation_short_name);
	ret = wf_client_ask(nic->sock, &req, &reply, fds, WF_CLIENT_FOR_EVER);
	if (ret != 0)
		return ret == -ENOENT ? -ENXIO : ret;
	if (reply.n_fds != 4)
		return -EPROTO;
	nic->events = fds[0];
	nic->wake = fds[1];
	ret = wf_client_table(fds[2], &table);
	if (ret == 0)
		ret = map_file(fds[3], sizeof(*nic->stats), PROT_READ | PROT_WRITE, &stats);
	close(fds[3]);
	if (ret == 0 && reply.attach.host >= table->n_hosts)
		ret = -EPROTO;
	nic->table = (struct wf_live_table *)(uintptr_t)table;
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

/*
 * RoCE v2: the IP header that came with a datagram, where the GRH would be. RoCE v1 has a GRH, here
 * always between the link-local addresses.
 */
static bool write_grh(void *arg, const struct wf_packet *pkt, uint8_t grh[WF_GRH_LEN])
{
	struct wf_nic *nic = arg;
	bool wire = (pkt->src & WF_LIVE_REMOTE) != 0, group = (pkt->dst & WF_LIVE_GROUP) != 0;
	bool roce = nic->table->layer == WF_LIVE_ROCE;
	bool roce1 = roce && !wire && wf_packet_is_roce1(pkt);
	enum wf_live_gid_index own = roce1 ? WF_LIVE_GID_LOCAL : WF_LIVE_GID_IPV4;
	uint16_t length = (uint16_t)(pkt->length + 28);
	uint8_t src[16] = { 0 }, dst[16] = { 0 };

	memset(grh, 0, WF_GRH_LEN);
	if (!roce && !group)
		return false;
	for (uint32_t i = 0; i < nic->n_groups && group; i++) {
		if (nic->groups[i]->number == pkt->dst)
			memcpy(dst, nic->groups[i]->gid, 16);
	}
	(void)wf_nic_gid_known(nic, pkt->src, group ? WF_LIVE_GID_LOCAL : own, src);
	if (!group)
		(void)wf_live_gid(nic->table, nic->host, wire ? nic->ip_info >> 8 : own, dst);
	if (wf_live_is_ipv4(src) && wf_live_is_ipv4(dst)) {
		write_ipv4(grh + 20, length, wire ? (uint8_t)nic->ip_info : 0, src, dst);
		return true;
	}
	wf_be32_put(grh, UINT32_C(6) << 28 | (wire ? (nic->ip_info & 0xff) << 20 : 0));
	wf_be16_put(grh + 4, wire ? length : (uint16_t)(length + WF_IPV4_LEN));
	grh[6] = roce && !roce1 ? WF_IP_PROTO_UDP : WF_IP_PROTO_IBA;
	grh[7] = wire ? 64 : 1;
	memcpy(grh + 8, src, 16);
	memcpy(grh + 24, dst, 16);
	return true;
}

static int make_hca(struct wf_nic *nic)
{
	uint16_t pkeys[WF_LIVE_PKEYS];
	struct wf_hca_attr attr;

	wf_hca_attr_defaults(&attr);
	wf_live_pkeys(nic->table, nic->host, pkeys);
	attr.pkeys = pkeys;
	if (nic->table->managed != 0)
		attr.num_pkeys = WF_LIVE_PKEYS;
	attr.guid = nic->table->host[nic->host].guid;
	attr.line_rate = nic->table->rate;
	attr.host = nic->host;
	attr.max_qp = WF_NIC_QPS;
	attr.max_mr = 1 << 16;
	attr.max_cqe = 1 << 22;
	attr.max_mcast = 1024;
	attr.max_events = 1 << 14;
	attr.max_rd_atomic = 128; /* as Linux's rxe has, so that what either offers is taken */
	attr.qpn_base = nic->slot << WF_LIVE_QPN_BITS;
	attr.qpn_bits = WF_LIVE_QPN_BITS;
	attr.srqn_base = nic->slot << WF_LIVE_SRQN_BITS;
	attr.srqn_bits = WF_LIVE_SRQN_BITS;
	attr.roce = nic->table->layer == WF_LIVE_ROCE;
	if (!attr.roce)
		attr.overhead = wf_size_around(WF_ENCAP_IB, false);
	attr.grh = write_grh;
	attr.grh_ctx = nic;
	attr.place = wf_nic_place;
	attr.place_ctx = nic;
	attr.fetch = wf_cpus_share_cache() ? nic->cfg.fetch_near : nic->cfg.fetch_far;
	attr.store = nic->cfg.store;
	attr.forward = wf_nic_forward;
	attr.forward_ctx = nic;
	attr.underway = wf_nic_underway;
	attr.underway_ctx = nic;
	return wf_hca_create(&attr, wf_mem_heap(), &nic->hca);
}

static void release(struct wf_nic *nic)
{
	nic->model = NULL;
	for (uint32_t i = 0; nic->bound != NULL && i < 1u << WF_LIVE_QPN_BITS; i++)
		wf_nic_set_bound(nic, &nic->bound[i], NULL);
	for (uint32_t i = 0; i < nic->n_peers; i++)
		wf_nic_peer_break(nic, nic->peers[i]);
	wf_nic_reap(nic);
	assert(nic->gone == NULL);
	free(nic->peers);
	for (uint32_t i = 0; i < nic->n_groups; i++)
		free(nic->groups[i]);
	free(nic->groups);
	free(nic->bound);
	free(nic->remotes);
	wf_nic_gsi_close(nic);
	wf_nic_tap_remove(nic, WF_LIVE_ALL);
	wf_hca_destroy(nic->hca);
	wf_client_free_table(nic->table);
	if (nic->stats != NULL)
		munmap(nic->stats, sizeof(*nic->stats));
	if (nic->sock >= 0)
		close(nic->sock);
	if (nic->events >= 0)
		close(nic->events);
	if (nic->wake >= 0)
		close(nic->wake);
	pthread_mutex_destroy(&nic->asking);
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
	if (cfg->store == NULL) {
		nic->cfg.fetch_near = wf_nic_copy_near;
		nic->cfg.fetch_far = wf_nic_copy_far;
	}
	nic->sock = nic->events = nic->wake = -1;
	/* Time 0 is long ago, so that what was never done was done then. */
	nic->start = wf_nic_clock() - WF_S;
	pthread_mutex_init(&nic->lock, NULL);
	pthread_mutex_init(&nic->asking, NULL);
	nic->bound = calloc((size_t)1 << WF_LIVE_QPN_BITS, sizeof(struct wf_nic_bound));
	ret = nic->bound == NULL ? -ENOMEM : attach(nic);
	if (ret == 0)
		ret = make_hca(nic);
	if (ret == 0 && nic->table->pace != WF_LIVE_DIRECT) {
		wf_nic_lock(nic);
		ret = wf_nic_open_model(nic);
		wf_nic_unlock(nic);
	}
	if (ret == 0) {
		nic->active = wf_nic_is_up(nic);
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
	wf_drive_call_thread(nic);
	wf_nic_unlock(nic);
	pthread_join(nic->thread, NULL);
	wf_nic_publish(nic);
	release(nic);
}

void wf_nic_ends(struct wf_nic *nic)
{
	if (nic->forked)
		return; /* it is the parent's */
	atomic_store(&nic->ending, true);
	wf_nic_publish(nic);
}

void wf_nic_fork_child(struct wf_nic *nic)
{
	nic->forked = true;
	close(nic->sock);
	close(nic->events);
	close(nic->wake);
	nic->sock = nic->events = nic->wake = -1;
}
