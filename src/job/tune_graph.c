/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune_graph.c - NCCL's search for channels, in closed form for GPUs on an NVSwitch.
 *
 * NCCL tries the speeds of a list from the highest down, counts how many channels of a pattern fit
 * the links at that speed, and keeps what has most bandwidth; it stops looking at half the speed of
 * what it has. What a channel takes of a GPU's NVLink, of which all GPUs have the same:
 *
 *	ring, one server        one hop out of every GPU
 *	ring, back to its NIC   the same, the last hop being the way back to the NIC (PXN)
 *	ring, pairs of NICs     one hop less: the last GPU has the NIC by which the ring leaves
 *	tree                    one hop less
 *	NVLS                    a share of every GPU, two of its head's
 */
#include "job/tune_priv.h"

#define COLLNET_DEPTH 2 /* of CollNetDirect: a server's GPUs, and the network */
#define MAX_CHANNELS 64
#define MOST_RINGS (MAX_CHANNELS / 2) /* the search's; all are doubled afterwards */
#define DUPLICATE 25000               /* MB/s from which a channel is made two */
#define DUPLICATE_HOPPER 50000        /* from Hopper on, when there are more than a few */
#define FEW_CHANNELS 4
#define DOUBLE_AGAIN 45000 /* MB/s over which Hopper gets four for each that was found */
#define ENOUGH_CHANNELS 16
#define NVLS_ARITY 32
#define LOOK_ON_PERCENT 49
#define KIB(n) (UINT64_C(1024) * (n))

/* MB/s, the highest first. */
static const uint32_t old_intra[] = { 40000, 30000, 20000, 18000, 15000, 12000, 10000,
	                              9000,  7000,  6000,  5000,  4000,  3000,  0 };
static const uint32_t old_inter[] = { 48000, 30000, 28000, 24000, 20000, 18000, 15000,
	                              12000, 10000, 9000,  7000,  6000,  5000,  4000,
	                              3000,  2400,  1200,  240,   120,   0 };
static const uint32_t hopper_intra[] = { 60000, 50000, 40000, 30000, 24000, 20000,
	                                 15000, 12000, 11000, 6000,  3000,  0 };
static const uint32_t hopper_inter[] = { 48000, 45000, 42000, 40000, 30000, 24000,
	                                 22000, 20000, 17500, 15000, 12000, 6000,
	                                 3000,  2400,  1200,  240,   120,   0 };
static const uint32_t blackwell_intra[] = { 90000, 80000, 70000, 60000, 50000, 45000, 40000,
	                                    30000, 24000, 20000, 19000, 18000, 0 };
static const uint32_t blackwell_inter[] = { 96000, 86000, 80000, 48000, 45100, 42000, 40000,
	                                    30000, 24000, 22000, 20000, 17500, 15000, 12000,
	                                    6000,  3000,  2400,  1200,  240,   120,   0 };

/* By generation: [0] inside a server, [1] between servers. */
static const uint32_t *const speeds[WF_GPU_GENS][2] = {
	[WF_GEN_VOLTA] = { old_intra, old_inter },
	[WF_GEN_AMPERE] = { old_intra, old_inter },
	[WF_GEN_HOPPER] = { hopper_intra, hopper_inter },
	[WF_GEN_BLACKWELL] = { blackwell_intra, blackwell_inter },
};

/* A link of NVLink: Mb/s as the data sheet has it, and MB/s as NCCL counts it. */
static const struct {
	uint32_t mbps, counted;
} link[WF_GPU_GENS] = {
	[WF_GEN_VOLTA] = { 200000, 20000 },
	[WF_GEN_AMPERE] = { 200000, 20000 },
	[WF_GEN_HOPPER] = { 200000, 20600 },
	[WF_GEN_BLACKWELL] = { 400000, 40100 },
};

/* What the links of a server have, in MB/s. */
struct links {
	uint64_t nvlink; /* of a GPU */
	uint64_t net;    /* of the way to a NIC */
	bool inter;
	const uint32_t *speed;
};

static struct links look(const struct wf_tune_comm *c)
{
	struct links l = { .inter = c->nodes > 1 };
	uint64_t pcie = c->pcie / 8000000;

	l.nvlink = wf_max_u64(pcie, c->nvlink / 1000000 / link[c->gen].mbps *
	                                    (uint64_t)link[c->gen].counted);
	l.net = wf_min_u64(pcie, c->nic_rate / 8000000);
	l.speed = speeds[c->gen][l.inter];
	return l;
}

/* Most channels of which each takes a hop out of every GPU but one. */
static uint64_t open_channels(const struct links *l, uint64_t gpus, uint64_t speed)
{
	uint64_t hops = l->nvlink / speed, k = gpus == 1 ? MAX_CHANNELS : hops;

	while (gpus > 1 && ((k + 1) * (gpus - 1) + gpus - 1) / gpus <= hops)
		k++;
	return k;
}

static uint64_t most_rings(const struct wf_tune_comm *c, const struct links *l, uint64_t speed,
                           bool *cross_p)
{
	uint64_t closed = wf_min_u64(MOST_RINGS, c->gpus == 1 ? MOST_RINGS : l->nvlink / speed);
	uint64_t nics = c->nics * (l->net / speed), open;

	*cross_p = false;
	if (!l->inter)
		return closed;
	closed = wf_min_u64(closed, nics);
	open = wf_min_u64(wf_min_u64(MOST_RINGS, nics), open_channels(l, c->gpus, speed));
	/* Two GPUs at a NIC: in by one and out by the other. */
	if (c->nics < c->gpus)
		return open;
	*cross_p = open > closed;
	return wf_max_u64(open, closed);
}

static void search_rings(struct wf_tune *t, const struct links *l)
{
	struct wf_tune_graph *best = &t->ring;

	for (const uint32_t *s = l->speed; *s != 0; s++) {
		bool cross;
		uint64_t k;

		if ((l->inter && *s > l->net) || *s > l->nvlink)
			continue;
		if (best->channels > 0 && *s * UINT64_C(100) <= best->inter * LOOK_ON_PERCENT)
			break;
		k = most_rings(&t->comm, l, *s, &cross);
		if (k * *s > best->channels * best->intra) {
			*best = (struct wf_tune_graph){ (uint32_t)k, *s, *s };
			t->cross_nic = cross;
		}
		if (best->channels * best->inter >= l->nvlink)
			break;
	}
	if (best->channels == 0)
		*best = (struct wf_tune_graph){ 1, 100, 100 };
	if (best->intra < DUPLICATE ||
	    (t->comm.gen > WF_GEN_AMPERE && best->intra < DUPLICATE_HOPPER &&
	     best->channels > FEW_CHANNELS))
		return;
	best->channels = (uint32_t)wf_min_u64(UINT64_C(2) * best->channels, MOST_RINGS);
	best->intra /= 2;
	best->inter /= 2;
}

/* As many as there are rings; then faster inside the server, if that can be. */
static struct wf_tune_graph search_trees(const struct wf_tune *t, const struct links *l)
{
	uint64_t k = t->ring.channels, gpus = t->comm.gpus;
	uint64_t per_nic = (k + t->comm.nics - 1) / t->comm.nics;
	struct wf_tune_graph g = { 0 };
	const uint32_t *s = l->speed;

	for (; *s != 0; s++) {
		if ((!l->inter || *s * per_nic <= l->net) && open_channels(l, gpus, *s) >= k)
			break;
	}
	if (*s == 0)
		return (struct wf_tune_graph){ (uint32_t)k, 100, 100 };
	g = (struct wf_tune_graph){ (uint32_t)k, *s, *s };
	while (s > l->speed && g.intra < 2 * g.inter && open_channels(l, gpus, s[-1]) >= k)
		g.intra = *--s;
	return g;
}

static void search_nvls(struct wf_tune *t, const struct links *l)
{
	uint64_t gpus = t->comm.gpus, most = wf_min_u64(NVLS_ARITY, gpus);
	uint64_t heads = l->inter ? wf_min_u64(most, t->comm.nics) : most;
	struct wf_tune_graph *best = &t->nvls;
	const uint32_t *s;

	for (s = l->speed; *s != 0; s++) {
		uint64_t shares = l->nvlink / *s,
			 k = wf_min_u64(heads, shares == 0 ? 0 : shares - 1);

		if ((l->inter && *s > l->net) || (!l->inter && k < most))
			continue;
		if (best->channels > 0 && *s * UINT64_C(100) <= best->inter * LOOK_ON_PERCENT)
			break;
		if (k > best->channels || k * *s > best->channels * best->inter)
			*best = (struct wf_tune_graph){ (uint32_t)k, *s, *s };
		if (best->channels == most || best->channels * best->inter >= l->nvlink)
			break;
	}
	for (s = l->speed; *s > best->inter; s++)
		;
	while (best->channels > 0 && s > l->speed && best->inter < 2 * best->intra &&
	       (!l->inter || s[-1] <= l->net))
		best->inter = *--s;
}

static void search_direct(struct wf_tune *t, const struct links *l)
{
	const uint32_t *s = l->speed;

	while (*s != 0 && (*s > l->net || 2 * (uint64_t)*s > l->nvlink))
		s++;
	t->direct =
		(struct wf_tune_graph){ (uint32_t)wf_min_u64(t->comm.gpus, t->comm.nics), *s, *s };
	while (s > l->speed && t->direct.intra < 2 * t->direct.inter &&
	       2 * (uint64_t)s[-1] <= l->nvlink)
		t->direct.intra = *--s;
}

static uint32_t count_nvls_channels(const struct wf_tune *t)
{
	const struct wf_tune_comm *c = &t->comm;

	if (c->gen < WF_GEN_BLACKWELL)
		return 16;
	if (c->nodes == 1)
		return 24;
	if (c->nodes == 2 || c->nic_rate < UINT64_C(384000000000))
		return 32;
	return c->nic_rate < UINT64_C(768000000000) || c->gpus <= 8 ? 24 : 32;
}

void wf_tune_search(struct wf_tune *t)
{
	struct links l = look(&t->comm);
	uint32_t channels;

	search_rings(t, &l);
	t->tree = search_trees(t, &l);
	/*
	 * A balanced tree has its parent at one GPU and its children at the next, both with the
	 * same NIC near. From Hopper on, if each GPU has its own, the simpler one is found before
	 * ways over PXN.
	 */
	t->simple_tree = l.inter && (t->comm.gpus == 1 || (t->comm.gen >= WF_GEN_HOPPER &&
	                                                   t->comm.nics == t->comm.gpus));
	if (t->comm.nvls) {
		search_nvls(t, &l);
		t->nvls_channels = count_nvls_channels(t);
	}
	channels = (uint32_t)wf_min_u64(MAX_CHANNELS, UINT64_C(2) * t->ring.channels);
	if (t->comm.collnet && l.inter) {
		t->chain = t->tree;
		search_direct(t, &l);
		if (t->chain.intra > t->chain.inter && t->comm.ranks > t->comm.nodes)
			channels = (uint32_t)wf_min_u64(MAX_CHANNELS, channels + channels / 2);
	}
	if (t->comm.gen >= WF_GEN_HOPPER && l.inter && t->ring.intra > DOUBLE_AGAIN &&
	    channels < ENOUGH_CHANNELS)
		channels *= 2;
	t->channels = channels;
}

/* ---- chunks ---- */

static uint64_t nvls_tree_chunk(const struct wf_tune *t, uint64_t at_once, uint64_t bytes)
{
	const struct wf_tune_comm *c = &t->comm;
	uint64_t chunk = c->nodes >= 4 ? KIB(64) : KIB(128);

	if (c->gen >= WF_GEN_BLACKWELL) {
		bool fast = c->nic_rate >= UINT64_C(768000000000);

		if (c->nodes == 2)
			chunk = c->gpus <= 4               ? KIB(256)
			        : (c->gpus >= 16 || !fast) ? KIB(64)
			                                   : KIB(128);
		else if (fast)
			chunk = c->gpus <= 8 ? KIB(256) : c->gpus < 32 ? KIB(128) : KIB(64);
		else
			chunk = KIB(64);
	}
	if (bytes < 16 * at_once * chunk && chunk > KIB(128))
		chunk = KIB(128);
	if (bytes < 4 * at_once * chunk && chunk > KIB(64))
		chunk = KIB(64);
	if (bytes < at_once * chunk && chunk > KIB(32))
		chunk = KIB(32);
	return chunk;
}

static uint64_t nvls_chunk(uint64_t at_once, uint64_t bytes)
{
	uint64_t chunk = KIB(128);

	if (bytes < 64 * at_once * chunk)
		chunk = KIB(64);
	if (bytes < 8 * at_once * chunk)
		chunk = KIB(32);
	if (bytes < 2 * at_once * chunk)
		chunk = KIB(16);
	return chunk;
}

/* Halved until there are enough for the pipeline, which is so many GPUs deep. */
static uint64_t collnet_chunk(uint64_t chunk, uint64_t depth, uint64_t at_once, uint64_t bytes)
{
	while (chunk > KIB(128) && bytes / (at_once * chunk) < depth * 64)
		chunk /= 2;
	while (chunk > KIB(64) && bytes / (at_once * chunk) < depth * 8)
		chunk /= 2;
	while (chunk > KIB(32) && bytes / (at_once * chunk) < depth)
		chunk /= 2;
	return chunk;
}

/* Halved until the pipeline over the tree's depth fills; tenths of steps, as NCCL counts them. */
static uint64_t tree_ll128_chunk(const struct wf_tune *t, uint32_t channels, uint64_t chunk,
                                 uint64_t bytes)
{
	uint32_t nodes = t->comm.nodes, deep = 31 - (uint32_t)__builtin_clz(nodes);
	/* steps = 1 + deep + gpus / 10; compared with steps * 64 / gpus and steps * 16 / gpus. */
	uint64_t steps = 10 + UINT64_C(10) * deep + t->comm.gpus, gpus = t->comm.gpus;

	while (chunk > KIB(128) && bytes / (channels * chunk) * 10 * gpus < steps * 64)
		chunk /= 2;
	while (chunk > KIB(32) && bytes / (channels * chunk) * 10 * gpus < steps * 16)
		chunk /= 2;
	return chunk;
}

uint64_t wf_tune_chunk(const struct wf_tune *t, enum wf_coll_kind kind,
                       const struct wf_tune_choice *choice, uint64_t bytes)
{
	uint64_t at_once = (uint64_t)choice->channels * wf_max_u64(1, t->nvls.channels);
	uint64_t chunk = KIB(512);

	if (choice->alg == WF_ALG_NVLS)
		return nvls_chunk(at_once, bytes);
	if (choice->alg == WF_ALG_NVLS_TREE)
		return nvls_tree_chunk(t, at_once, bytes);
	if (choice->proto == WF_PROTO_LL)
		return KIB(32);
	if (choice->proto == WF_PROTO_LL128)
		chunk = UINT64_C(4915200) / 8 / 128 * 120;
	else if (choice->alg == WF_ALG_RING && kind != WF_COLL_BROADCAST)
		chunk = KIB(2048);
	if (choice->alg == WF_ALG_TREE && choice->proto == WF_PROTO_LL128)
		chunk = tree_ll128_chunk(t, choice->channels, chunk, bytes);
	if (choice->alg == WF_ALG_COLLNET)
		chunk = collnet_chunk(chunk, COLLNET_DEPTH,
		                      (uint64_t)choice->channels * t->direct.channels, bytes);
	if (choice->alg == WF_ALG_COLLNET_CHAIN)
		chunk = collnet_chunk(KIB(256), t->comm.gpus, choice->channels, bytes);
	return chunk;
}
