/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage.c - lays out the queues of all entries over the hosts, and adds up what came of them.
 */
#include "sim/storage/storage.h"

#include <errno.h>
#include <string.h>

#include "base/rng.h"
#include "sim/prog/conn.h"
#include "sim/sim.h"
#include "sim/storage/nvmf.h"

#define RNG_STORAGE 0x53746f72u /* domain of the queues' random numbers */

/* ---- planning ---- */

static uint64_t queues_of(const struct wf_storage_entry *e)
{
	return (uint64_t)e->n_hosts * e->n_targets * e->cfg.queues;
}

static int count(struct wf_storage *s, uint64_t *commands_p, struct wf_err *err)
{
	uint64_t queues = 0, commands = 0;

	for (uint32_t i = 0; i < s->n_entries; i++) {
		const struct wf_storage_entry *e = &s->entry[i];

		queues += queues_of(e);
		commands += wf_storage_commands(e);
	}
	if (commands > WF_STORAGE_MAX_COMMANDS)
		return wf_err_say(err,
		                  "storage: %llu I/O queues with %llu I/Os under way are more than "
		                  "%u; write fewer hosts, targets or queues, or less depth",
		                  (unsigned long long)queues, (unsigned long long)commands,
		                  WF_STORAGE_MAX_COMMANDS);
	s->n_queues = (uint32_t)queues;
	*commands_p = commands;
	return 0;
}

static int allocate(struct wf_storage *s, uint64_t commands)
{
	struct wf_mem *mem = s->mem;

	s->queue = mem->alloc(mem, s->n_queues * sizeof(*s->queue));
	s->host = mem->alloc(mem, s->n_hosts * sizeof(*s->host));
	s->by_host = mem->alloc(mem, s->n_queues * sizeof(struct wf_nvmf_queue *));
	s->command = mem->alloc(mem, commands * sizeof(*s->command));
	s->event = mem->alloc(mem, commands * sizeof(*s->event));
	s->id = mem->alloc(mem, 3 * commands * sizeof(*s->id));
	return s->queue == NULL || s->host == NULL || s->by_host == NULL || s->command == NULL ||
	                       s->event == NULL || s->id == NULL
	               ? -ENOMEM
	               : 0;
}

/* What the queues have is cut off from what all of them have together. */
struct cut {
	struct wf_nvmf_queue *queue;
	struct wf_nvmf_command *command;
	uint16_t *id;
};

static const struct wf_nvmf_transport *const transports[] = {
	[WF_NVMF_RDMA] = &wf_nvmf_rdma,
	[WF_NVMF_TCP] = &wf_nvmf_tcp,
};
_Static_assert(WF_ARRAY_SIZE(transports) == WF_NVMF_TRANSPORTS, "list every transport");

static enum wf_nvmf_kind kind_of(const struct wf_storage *s, const struct wf_storage_entry *e)
{
	return wf_storage_is_tcp(&e->cfg, s->nic_stack) ? WF_NVMF_TCP : WF_NVMF_RDMA;
}

static void make_queue(struct wf_storage *s, const struct wf_storage_entry *e, uint32_t host,
                       uint32_t target, uint64_t seed, struct cut *cut)
{
	struct wf_nvmf_queue *q = cut->queue++;
	enum wf_nvmf_kind kind = kind_of(s, e);

	q->entry = e;
	q->transport = transports[kind];
	q->in_capsule = wf_storage_in_capsule(&e->cfg, kind == WF_NVMF_TCP);
	q->kind = wf_storage_kind_find(e->cfg.kind);
	q->depth = e->cfg.depth;
	q->command = cut->command;
	q->sent.id = cut->id;
	q->answered.id = cut->id + q->depth;
	q->target.wait.id = cut->id + 2 * (size_t)q->depth;
	cut->command += q->depth;
	cut->id += 3 * (size_t)q->depth;
	q->host.at = &s->host[host];
	q->host.key = wf_rand_key(seed, RNG_STORAGE, (uint64_t)(q - s->queue));
	q->target.at = &s->host[target];
	q->host.at->n_queues++;
	q->host.at->depths[0] += q->depth;
	q->host.at->transports |= 1u << kind;
	q->target.at->transports |= 1u << kind;
	q->target.at->n_served++;
	q->target.at->depths[1] += q->depth;
}

/* The queues of a host lie one after the other in its entry, and take turns with its blocks. */
static void make_queues(struct wf_storage *s, uint64_t seed)
{
	struct cut cut = { s->queue, s->command, s->id };

	for (uint32_t i = 0; i < s->n_entries; i++) {
		const struct wf_storage_entry *e = &s->entry[i];
		uint32_t all = e->n_targets * e->cfg.queues;

		for (uint32_t h = 0; h < e->n_hosts; h++) {
			for (uint32_t k = 0; k < all; k++) {
				struct wf_nvmf_queue *q = cut.queue;

				make_queue(s, e, e->hosts[h], e->targets[k % e->n_targets], seed,
				           &cut);
				q->host.share = k;
				q->host.all = all;
			}
		}
	}
}

static bool starts_before(const struct wf_storage_entry *a, const struct wf_storage_entry *b)
{
	return a->cfg.start != b->cfg.start ? a->cfg.start < b->cfg.start : a < b;
}

/* Of those that have not been taken, the entry that starts first after last (NULL: of all). */
static const struct wf_storage_entry *next_entry(const struct wf_storage *s,
                                                 const struct wf_storage_entry *last)
{
	const struct wf_storage_entry *best = NULL;

	for (const struct wf_storage_entry *e = s->entry; e < s->entry + s->n_entries; e++) {
		if ((last == NULL || starts_before(last, e)) &&
		    (best == NULL || starts_before(e, best)))
			best = e;
	}
	return best;
}

/* Gives every host a list of the queues that it uses, by their start, and room for its events. */
static void make_hosts(struct wf_storage *s)
{
	struct wf_nvmf_queue **list = s->by_host;
	struct wf_nvmf_event *event = s->event;
	const struct wf_storage_entry *e = NULL;

	for (uint32_t i = 0; i < s->n_hosts; i++) {
		struct wf_nvmf_host *h = &s->host[i];

		h->storage = s;
		h->number = i;
		h->queue = list;
		h->event = event;
		list += h->n_queues;
		event += h->depths[1];
	}
	while ((e = next_entry(s, e)) != NULL) {
		for (uint32_t i = 0; i < s->n_queues; i++) {
			struct wf_nvmf_queue *q = &s->queue[i];

			if (q->entry == e)
				q->host.at->queue[q->host.at->next++] = q;
		}
	}
	for (uint32_t i = 0; i < s->n_hosts; i++)
		s->host[i].next = 0;
}

bool wf_storage_any_tcp(const struct wf_storage_entry *entries, size_t n, const char *nic_stack)
{
	for (size_t i = 0; i < n; i++) {
		if (wf_storage_is_tcp(&entries[i].cfg, nic_stack))
			return true;
	}
	return false;
}

/* Queue pairs are not for every MTU. */
static int check_mtu(const struct wf_storage *s, const struct wf_fabric *fabric, struct wf_err *err)
{
	enum wf_mtu mtu;

	for (uint32_t i = 0; i < s->n_entries; i++) {
		if (kind_of(s, &s->entry[i]) == WF_NVMF_RDMA)
			return wf_conn_mtu(fabric, &mtu, err);
	}
	return 0;
}

int wf_storage_create(const struct wf_fabric *fabric, const struct wf_cc_choice *cc,
                      const struct wf_storage_entry *entries, size_t n,
                      struct wf_storage **storage_p, struct wf_err *err)
{
	struct wf_mem *mem = fabric->mem;
	struct wf_storage *s;
	uint64_t commands = 0;
	int ret;

	s = mem->alloc(mem, sizeof(*s));
	if (s == NULL)
		return -ENOMEM;
	s->mem = mem;
	s->cc = cc;
	s->nic_stack = fabric->cfg.nic_stack;
	s->entry = entries;
	s->n_entries = wf_narrow_u32(n);
	s->n_hosts = fabric->topo->n_hosts;
	ret = check_mtu(s, fabric, err);
	if (ret == 0)
		ret = count(s, &commands, err);
	if (ret == 0)
		ret = allocate(s, commands);
	if (ret != 0) {
		wf_storage_destroy(s);
		return ret;
	}
	make_queues(s, fabric->seed);
	make_hosts(s);
	*storage_p = s;
	return 0;
}

void wf_storage_destroy(struct wf_storage *s)
{
	struct wf_mem *mem;

	if (s == NULL)
		return;
	mem = s->mem;
	for (unsigned i = 0; i < s->n_shards; i++) {
		if (s->shard[i] != NULL)
			mem->free(mem, s->shard[i]->entry);
		mem->free(mem, s->shard[i]);
	}
	mem->free(mem, s->shard);
	mem->free(mem, s->id);
	mem->free(mem, s->event);
	mem->free(mem, s->command);
	mem->free(mem, s->by_host);
	mem->free(mem, s->host);
	mem->free(mem, s->queue);
	mem->free(mem, s);
}

/* ---- as an application ---- */

static bool has_part(const struct wf_nvmf_host *h)
{
	return h->n_queues + h->n_served > 0;
}

static void storage_attr(void *arg, uint32_t host, struct wf_hca_attr *attr)
{
	const struct wf_storage *s = arg;

	attr->max_qp = 1;
	attr->max_mr = 1;
	attr->max_events = 4;
	for (enum wf_nvmf_kind i = 0; i < WF_NVMF_TRANSPORTS; i++) {
		if ((s->host[host].transports & 1u << i) != 0)
			transports[i]->attr(&s->host[host], attr);
	}
}

/* Makes room for the numbers of shards up to n - 1. */
static int grow(struct wf_storage *s, unsigned n)
{
	struct wf_mem *mem = s->mem;
	struct wf_nvmf_shard **more;

	if (n <= s->n_shards)
		return 0;
	more = mem->alloc(mem, n * sizeof(struct wf_nvmf_shard *));
	if (more == NULL)
		return -ENOMEM;
	if (s->n_shards > 0)
		memcpy(more, s->shard, s->n_shards * sizeof(struct wf_nvmf_shard *));
	mem->free(mem, s->shard);
	s->shard = more;
	s->n_shards = n;
	return 0;
}

/* What the host's thread counts in. */
static int take_shard(struct wf_storage *s, struct wf_nvmf_host *h)
{
	struct wf_mem *mem = s->mem;
	unsigned number = wf_adapter_device(h->adapter)->shard->number;
	int ret = grow(s, number + 1);

	if (ret == 0 && s->shard[number] == NULL) {
		struct wf_nvmf_shard *shard = mem->alloc(mem, sizeof(*shard));

		s->shard[number] = shard;
		if (shard != NULL)
			shard->entry = mem->alloc(mem, s->n_entries * sizeof(*shard->entry));
		if (shard == NULL || shard->entry == NULL)
			return -ENOMEM;
		for (uint32_t i = 0; i < s->n_entries; i++)
			wf_storage_result_init(&shard->entry[i]);
	}
	if (ret == 0)
		h->shard = s->shard[number];
	return ret;
}

static int storage_start(void *arg, const struct wf_fabric *fabric, struct wf_adapter **adapters,
                         struct wf_err *err)
{
	struct wf_storage *s = arg;
	int ret = 0;

	for (uint32_t i = 0; i < s->n_hosts && ret == 0; i++) {
		struct wf_nvmf_host *h = &s->host[i];

		if (!has_part(h))
			continue;
		h->adapter = adapters[i];
		ret = take_shard(s, h);
		for (enum wf_nvmf_kind k = 0; k < WF_NVMF_TRANSPORTS && ret == 0; k++) {
			if ((h->transports & 1u << k) != 0)
				ret = transports[k]->open(h);
		}
	}
	for (uint32_t i = 0; i < s->n_queues && ret == 0; i++)
		ret = s->queue[i].transport->connect(&s->queue[i], fabric, err);
	if (ret == -EINVAL && err->text[0] == '\0')
		return wf_err_say(err, "storage: a queue pair cannot be set up so (too many of "
		                       "them, or of their commands)");
	return ret;
}

/*
 * All queues are over, or can do no more because their target's end has failed; then the host waits
 * for a response that nobody sends.
 */
static bool storage_done(void *arg, wf_time now)
{
	struct wf_storage *s = arg;
	uint64_t over = 0, failed = 0;

	s->now = now;
	for (unsigned i = 0; i < s->n_shards; i++) {
		over += s->shard[i] != NULL ? s->shard[i]->over : 0;
		failed += s->shard[i] != NULL ? s->shard[i]->failed_targets : 0;
	}
	if (over == s->n_queues)
		return true;
	if (over + failed < s->n_queues)
		return false;
	for (uint32_t i = 0; i < s->n_queues; i++) {
		if (!s->queue[i].host.over && !s->queue[i].target.failed)
			return false;
	}
	return true;
}

static uint64_t bulk_bytes(const struct wf_storage_entry *e)
{
	return wf_storage_kind_is_bulk(wf_storage_kind_find(e->cfg.kind))
	               ? e->cfg.bytes * e->n_hosts
	               : 0;
}

/* How much an entry has done, of WF_SIM_ALL. */
static uint64_t entry_share(const struct wf_storage *s, uint32_t i)
{
	const struct wf_storage_entry *e = &s->entry[i];
	wf_time went = wf_min_time(s->now - e->cfg.start, e->cfg.duration);
	uint64_t wanted = bulk_bytes(e), bytes = 0;

	if (wanted == 0)
		return went <= 0 ? 0
		                 : (uint64_t)((unsigned __int128)(uint64_t)went * WF_SIM_ALL /
		                              (uint64_t)e->cfg.duration);
	for (unsigned k = 0; k < s->n_shards; k++) {
		if (s->shard[k] != NULL)
			bytes += s->shard[k]->entry[i].bytes[WF_STORAGE_READ] +
			         s->shard[k]->entry[i].bytes[WF_STORAGE_WRITE];
	}
	return (uint64_t)((unsigned __int128)bytes * WF_SIM_ALL / wanted);
}

/* As much as the entry that has done least. */
static uint32_t storage_share(void *arg)
{
	const struct wf_storage *s = arg;
	uint64_t least = WF_SIM_ALL;

	for (uint32_t i = 0; i < s->n_entries; i++)
		least = wf_min_u64(least, entry_share(s, i));
	return (uint32_t)least;
}

void wf_storage_app(struct wf_storage *storage, struct wf_sim_app *app)
{
	*app = (struct wf_sim_app){
		.arg = storage,
		.tcp = wf_storage_any_tcp(storage->entry, storage->n_entries, storage->nic_stack),
		.attr = storage_attr,
		.start = storage_start,
		.done = storage_done,
		.share = storage_share,
	};
}

/* ---- what came of it ---- */

/* I/Os that the host still waits for. */
static void add_open(const struct wf_storage *s, const struct wf_storage_entry *e,
                     struct wf_storage_result *r)
{
	for (uint32_t i = 0; i < s->n_queues; i++) {
		const struct wf_nvmf_queue *q = &s->queue[i];

		if (q->entry != e)
			continue;
		if (q->target.failed)
			r->failed += q->host.out;
		else
			r->open += q->host.out;
	}
}

void wf_storage_result(const struct wf_storage *s, size_t i, struct wf_storage_result *r)
{
	const struct wf_storage_entry *e = &s->entry[i];
	const char *name = wf_storage_name(&e->cfg);
	const char *transport = transports[kind_of(s, e)]->name;

	wf_storage_result_init(r);
	for (unsigned k = 0; k < s->n_shards; k++) {
		if (s->shard[k] != NULL)
			wf_storage_result_add(r, &s->shard[k]->entry[i]);
	}
	memcpy(r->name, name, strlen(name));
	memcpy(r->kind, e->cfg.kind, sizeof(r->kind));
	memcpy(r->transport, transport, strlen(transport));
	r->hosts = e->n_hosts;
	r->targets = e->n_targets;
	r->queues = (uint32_t)queues_of(e);
	r->wanted = bulk_bytes(e);
	if (r->wanted > 0 && r->bytes[WF_STORAGE_READ] + r->bytes[WF_STORAGE_WRITE] == r->wanted)
		r->longest = r->end - r->begin;
	add_open(s, e, r);
}
