/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rig_model.h - a modelled fabric without a process around it: three hosts on a switch, a program
 * on each, whose side of the rings is the test's.
 */
#ifndef WF_TESTS_LIVE_RIG_MODEL_H
#define WF_TESTS_LIVE_RIG_MODEL_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "live/umad.h"
#include "live/model.h"
#include "live/model_packet.h"
#include "live/umad.h"
#include "sim/mgmt/config.h"
#include "sim/mgmt/managed.h"
#include "sim/sim.h"
#include "wire/opcode.h"

#define RIG_HOSTS 3
#define RIG_SLOT 1

struct rig_model {
	struct wf_daemon d;
	struct wf_topo *topo;
	struct wf_dclient client[RIG_HOSTS];
	struct wf_pipe far[RIG_HOSTS]; /* the programs' side */
};

#define RIG_MUST(x)                                                                                \
	do {                                                                                       \
		if (!(x))                                                                          \
			abort();                                                                   \
	} while (0)

static inline void rig_model_set(const struct wf_param *rows, size_t n, void *cfg, const char *name,
                                 const char *value)
{
	struct wf_err err = { "" };
	const struct wf_param *row = wf_param_find(rows, n, name);

	RIG_MUST(row != NULL && wf_param_set(row, cfg, value, &err) == 0);
}

static inline void rig_model_fabric(struct wf_fabric_cfg *cfg, bool ib)
{
	static const char *const values[][3] = {
		{ "link_layer", "ethernet", "infiniband" },
		{ "flowctl", "pfc", "credit" },
		{ "header", "roce", "ib" },
		{ "routing", "ecmp", "lft" },
		{ "classes.lossless", "3", "" },
	};
	struct wf_err err = { "" };

	RIG_MUST(wf_param_defaults(wf_fabric_params, wf_fabric_n_params, cfg, &err) == 0);
	for (size_t i = 0; i < WF_ARRAY_SIZE(values) - (ib ? 1 : 0); i++)
		rig_model_set(wf_fabric_params, wf_fabric_n_params, cfg, values[i][0],
		              values[i][1 + ib]);
}

static inline void rig_model_attach(struct rig_model *r, uint32_t host)
{
	struct wf_live_reply reply = { .error = 0 };
	struct wf_dclient *c = &r->client[host];
	int fds[WF_LIVE_MAX_FDS];

	c->host = host;
	c->slot = RIG_SLOT;
	c->attached = true;
	c->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	RIG_MUST(c->wake >= 0 && wf_model_connect(&r->d, c, &reply, fds) == 0);
	RIG_MUST(wf_pipe_open(&r->far[host], fds[0], reply.connect.side, fds[1]) == 0);
	close(fds[0]);
}

/* Three hosts on a switch: the topology, which the caller owns, and the fabric. */
static inline struct wf_topo *rig_model_describe(struct wf_fabric_cfg *fabric, bool ib,
                                                 const char *mtu)
{
	struct wf_topo_cfg cfg;
	struct wf_err err = { "" };
	struct wf_topo *topo;

	RIG_MUST(wf_param_defaults(wf_topo_params, wf_topo_n_params, &cfg, &err) == 0);
	rig_model_set(wf_topo_params, wf_topo_n_params, &cfg, "kind", "single");
	rig_model_set(wf_topo_params, wf_topo_n_params, &cfg, "hosts", "3");
	rig_model_set(wf_topo_params, wf_topo_n_params, &cfg, "host_rate", "10Gbps");
	rig_model_fabric(fabric, ib);
	rig_model_set(wf_fabric_params, wf_fabric_n_params, fabric, "mtu", mtu);
	RIG_MUST(wf_topo_find("single")->build(&cfg, NULL, 0, "rig", wf_mem_heap(), &topo, &err) ==
	         0);
	return topo;
}

/* What weft's manager is given, or nobody; *manage is borrowed. */
static inline void rig_model_manage(enum wf_manage_kind kind, const struct wf_topo *topo,
                                    struct wf_manage_cfg *manage, struct wf_managed_cfg *managed)
{
	struct wf_mem *mem = wf_mem_heap();
	struct wf_err err = { "" };
	struct wf_param *rows;
	size_t n;

	memset(manage, 0, sizeof(*manage));
	RIG_MUST(wf_manage_rows(mem, 0, &rows, &n) == 0);
	RIG_MUST(wf_param_defaults(rows, n, manage, &err) == 0);
	RIG_MUST(wf_manage_resolve(manage, kind, topo, managed, &err) == 0);
	for (size_t i = n - wf_sm_n_params; i < n; i++)
		mem->free(mem, (void *)(uintptr_t)rows[i].name);
	mem->free(mem, rows);
}

static inline struct rig_model *rig_model_create_with(enum wf_live_pace pace, bool ib,
                                                      const char *mtu, enum wf_manage_kind kind)
{
	struct wf_managed_cfg managed;
	struct wf_manage_cfg manage;
	struct rig_model *r = calloc(1, sizeof(*r));
	struct wf_fabric_cfg fabric;
	struct wf_err err = { "" };
	struct wf_sim_cfg sim = { .fabric = &fabric, .seed = 1 };
	struct wf_daemon_cfg cfg = { .n_hosts = RIG_HOSTS,
		                     .pace = pace,
		                     .model = &sim,
		                     .rate = UINT64_C(10000000000),
		                     .cls = 3,
		                     .err = &err };

	RIG_MUST(r != NULL);
	r->topo = rig_model_describe(&fabric, ib, mtu);
	sim.topo = r->topo;
	if (kind != WF_MANAGE_IDEAL) {
		rig_model_manage(kind, r->topo, &manage, &managed);
		cfg.managed = &managed;
	}
	r->d.epoll = epoll_create1(EPOLL_CLOEXEC);
	r->d.table = calloc(1, wf_live_table_bytes(RIG_HOSTS));
	r->d.gone = calloc(RIG_HOSTS, sizeof(*r->d.gone));
	RIG_MUST(r->d.table != NULL && r->d.gone != NULL && r->d.epoll >= 0);
	r->d.table->n_hosts = RIG_HOSTS;
	r->d.table->mtu = (uint32_t)fabric.mtu;
	r->d.table->layer = ib ? WF_LIVE_IB : WF_LIVE_ROCE;
	r->d.table->managed = kind != WF_MANAGE_IDEAL;
	RIG_MUST(wf_model_open(&r->d, &cfg) == 0);
	for (uint32_t i = 0; i < RIG_HOSTS; i++)
		rig_model_attach(r, i);
	return r;
}

static inline struct rig_model *rig_model_create_mtu(enum wf_live_pace pace, bool ib,
                                                     const char *mtu)
{
	return rig_model_create_with(pace, ib, mtu, WF_MANAGE_IDEAL);
}

static inline struct rig_model *rig_model_create(enum wf_live_pace pace, bool ib)
{
	return rig_model_create_mtu(pace, ib, "4096B");
}

/* InfiniBand that is managed. */
static inline struct rig_model *rig_model_create_managed(enum wf_live_pace pace,
                                                         enum wf_manage_kind kind)
{
	return rig_model_create_with(pace, true, "4096B", kind);
}

static inline void rig_model_destroy(struct rig_model *r)
{
	for (uint32_t i = 0; i < RIG_HOSTS; i++) {
		if (r->client[i].on_model)
			wf_model_leave(&r->d, &r->client[i]);
		close(r->client[i].wake);
		wf_pipe_close(&r->far[i]);
	}
	wf_model_close(&r->d);
	wf_umad_close(&r->d);
	close(r->d.epoll);
	wf_topo_destroy(r->topo);
	free(r->d.gone);
	free(r->d.table);
	free(r);
}

/* A packet that a program of a host may send to one of another. */
static inline struct wf_packet rig_model_packet(uint32_t to, uint16_t length)
{
	return (struct wf_packet){
		.dst = to,
		.opcode = WF_OP_RC_SEND_ONLY,
		.length = length,
		.entropy = 0xc000,
		.qpn = RIG_SLOT << WF_LIVE_QPN_BITS | 5,
	};
}

/* Writes it into the program's ring; false: there is no room. */
static inline bool rig_model_send(struct rig_model *r, uint32_t from, const struct wf_packet *pkt,
                                  uint32_t bytes)
{
	char *at = wf_ring_reserve(&r->far[from].tx, bytes);

	if (at == NULL)
		return false;
	memset(at, 0x5a, bytes);
	wf_ring_commit(&r->far[from].tx, pkt, bytes);
	return true;
}

#endif
