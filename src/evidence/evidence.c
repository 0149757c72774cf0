/* SPDX-License-Identifier: Apache-2.0 */
/* evidence.c - what was counted, in one form: devices, ports, samples. */
#include "evidence/evidence.h"

#include <errno.h>
#include <string.h>

#include "base/sort.h"

/* A name in the table is a device's, or behind these a port's. */
#define OF_PORT (UINT32_C(1) << 31)
#define MAX_IDS (UINT32_C(1) << 28)

int wf_evidence_create(struct wf_mem *mem, struct wf_evidence **ev_p)
{
	struct wf_evidence *ev = mem->alloc(mem, sizeof(*ev));

	if (ev == NULL)
		return -ENOMEM;
	ev->mem = mem;
	*ev_p = ev;
	return 0;
}

void wf_evidence_destroy(struct wf_evidence *ev)
{
	struct wf_mem *mem;

	if (ev == NULL)
		return;
	mem = ev->mem;
	for (uint32_t i = 0; i < ev->n_devices; i++) {
		mem->free(mem, (void *)(uintptr_t)ev->devices[i].name);
		mem->free(mem, (void *)(uintptr_t)ev->devices[i].title);
	}
	for (uint32_t i = 0; i < ev->n_ports; i++)
		mem->free(mem, (void *)(uintptr_t)ev->ports[i].name);
	for (uint32_t i = 0; i < ev->n_files; i++)
		mem->free(mem, (void *)(uintptr_t)ev->files[i]);
	mem->free(mem, ev->devices);
	mem->free(mem, ev->ports);
	mem->free(mem, ev->samples);
	mem->free(mem, ev->files);
	mem->free(mem, ev->table);
	mem->free(mem, ev);
}

/* Room for one more. */
static int grow(struct wf_mem *mem, void **list, uint32_t n, uint32_t *max, size_t size)
{
	uint32_t more = *max == 0 ? 64 : *max * 2;
	void *to;

	if (n < *max)
		return 0;
	if (more > MAX_IDS)
		return -ENOMEM;
	to = mem->alloc(mem, more * size);
	if (to == NULL)
		return -ENOMEM;
	if (n > 0)
		memcpy(to, *list, n * size);
	mem->free(mem, *list);
	*list = to;
	*max = more;
	return 0;
}

static const char *copy(struct wf_mem *mem, const char *text, size_t len)
{
	char *to = mem->alloc(mem, len + 1);

	if (to == NULL)
		return NULL;
	memcpy(to, text, len);
	for (size_t i = 0; i < len; i++) {
		/* It is printed. */
		if ((unsigned char)to[i] < 0x20 || to[i] == 0x7f)
			to[i] = '?';
	}
	to[len] = '\0';
	return to;
}

/* ---- names ---- */

static uint32_t hash_of(uint32_t parent, const char *name, size_t len)
{
	uint32_t h = UINT32_C(2166136261) ^ parent * UINT32_C(2654435761);

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)name[i];

		h = (h ^ (c < 0x20 || c == 0x7f ? '?' : c)) * UINT32_C(16777619);
	}
	return h;
}

static bool is_called(const char *is, const char *name, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)name[i];

		if (is[i] != (char)(c < 0x20 || c == 0x7f ? '?' : c))
			return false;
	}
	return is[len] == '\0';
}

/* The place of a name in the table, or where it would be; parent WF_EV_NONE: a device. */
static uint32_t *slot_of(const struct wf_evidence *ev, uint32_t parent, const char *name,
                         size_t len)
{
	uint32_t at = hash_of(parent, name, len);

	for (;; at++) {
		uint32_t *slot = &ev->table[at & (ev->table_size - 1)];
		uint32_t id = *slot - 1;

		if (*slot == 0)
			return slot;
		if (parent == WF_EV_NONE && (id & OF_PORT) == 0 &&
		    is_called(ev->devices[id].name, name, len))
			return slot;
		id &= ~OF_PORT;
		if (parent != WF_EV_NONE && ((*slot - 1) & OF_PORT) != 0 &&
		    ev->ports[id].device == parent && is_called(ev->ports[id].name, name, len))
			return slot;
	}
}

static int make_table(struct wf_evidence *ev)
{
	uint32_t size = ev->table_size == 0 ? 256 : ev->table_size * 2;
	uint32_t *old = ev->table;

	if ((ev->n_devices + ev->n_ports + 1) * 2 <= ev->table_size)
		return 0;
	ev->table = ev->mem->alloc(ev->mem, size * sizeof(*ev->table));
	if (ev->table == NULL) {
		ev->table = old;
		return -ENOMEM;
	}
	ev->mem->free(ev->mem, old);
	ev->table_size = size;
	memset(ev->table, 0, size * sizeof(*ev->table));
	for (uint32_t i = 0; i < ev->n_devices; i++)
		*slot_of(ev, WF_EV_NONE, ev->devices[i].name, strlen(ev->devices[i].name)) = i + 1;
	for (uint32_t i = 0; i < ev->n_ports; i++)
		*slot_of(ev, ev->ports[i].device, ev->ports[i].name, strlen(ev->ports[i].name)) =
			(i | OF_PORT) + 1;
	return 0;
}

uint32_t wf_evidence_find_device(const struct wf_evidence *ev, const char *name, size_t len)
{
	return ev->table_size == 0 ? WF_EV_NONE : *slot_of(ev, WF_EV_NONE, name, len) - 1;
}

uint32_t wf_evidence_find_port(const struct wf_evidence *ev, uint32_t device, const char *name,
                               size_t len)
{
	uint32_t id;

	assert(device < ev->n_devices);
	id = *slot_of(ev, device, name, len);
	return id == 0 ? WF_EV_NONE : (id - 1) & ~OF_PORT;
}

int wf_evidence_file(struct wf_evidence *ev, const char *name, uint32_t *id_p)
{
	/* Files come one after the other. */
	if (ev->n_files == 0 || strcmp(ev->files[ev->n_files - 1], name) != 0) {
		const char *text;
		int ret = grow(ev->mem, (void **)&ev->files, ev->n_files, &ev->max_files,
		               sizeof(*ev->files));

		if (ret != 0)
			return ret;
		text = copy(ev->mem, name, strlen(name));
		if (text == NULL)
			return -ENOMEM;
		ev->files[ev->n_files++] = text;
	}
	*id_p = ev->n_files - 1;
	return 0;
}

int wf_evidence_device(struct wf_evidence *ev, const char *name, size_t len, uint32_t *id_p)
{
	uint32_t id = wf_evidence_find_device(ev, name, len);
	const char *text;
	int ret;

	if (id != WF_EV_NONE) {
		*id_p = id;
		return 0;
	}
	ret = grow(ev->mem, (void **)&ev->devices, ev->n_devices, &ev->max_devices,
	           sizeof(*ev->devices));
	if (ret == 0)
		ret = make_table(ev);
	if (ret != 0)
		return ret;
	text = copy(ev->mem, name, len);
	if (text == NULL)
		return -ENOMEM;
	id = ev->n_devices++;
	ev->devices[id] = (struct wf_ev_device){ .name = text,
		                                 .first_port = WF_EV_NONE,
		                                 .last_port = WF_EV_NONE };
	*slot_of(ev, WF_EV_NONE, name, len) = id + 1;
	*id_p = id;
	return 0;
}

int wf_evidence_title(struct wf_evidence *ev, uint32_t device, const char *title, size_t len)
{
	if (ev->devices[device].title == NULL)
		ev->devices[device].title = copy(ev->mem, title, len);
	return ev->devices[device].title == NULL ? -ENOMEM : 0;
}

int wf_evidence_port(struct wf_evidence *ev, uint32_t device, const char *name, size_t len,
                     uint32_t *id_p)
{
	uint32_t id = wf_evidence_find_port(ev, device, name, len);
	struct wf_ev_device *d;
	const char *text;
	int ret;

	if (id != WF_EV_NONE) {
		*id_p = id;
		return 0;
	}
	ret = grow(ev->mem, (void **)&ev->ports, ev->n_ports, &ev->max_ports, sizeof(*ev->ports));
	if (ret == 0)
		ret = make_table(ev);
	if (ret != 0)
		return ret;
	text = copy(ev->mem, name, len);
	if (text == NULL)
		return -ENOMEM;
	id = ev->n_ports++;
	ev->ports[id] = (struct wf_ev_port){ device, WF_EV_NONE, WF_EV_NONE, 0, 0, text, 0 };
	d = &ev->devices[device];
	if (d->first_port == WF_EV_NONE)
		d->first_port = id;
	else
		ev->ports[d->last_port].next = id;
	d->last_port = id;
	d->n_ports++;
	*slot_of(ev, device, name, len) = (id | OF_PORT) + 1;
	*id_p = id;
	return 0;
}

int wf_evidence_put(struct wf_evidence *ev, const struct wf_ev_sample *sample)
{
	int ret = grow(ev->mem, (void **)&ev->samples, ev->n_samples, &ev->max_samples,
	               sizeof(*ev->samples));

	assert(sample->port < ev->n_ports && sample->counter < WF_EV_N && sample->when < 2);
	if (ret != 0)
		return ret;
	ev->samples[ev->n_samples++] = *sample;
	ev->later |= sample->when == 1;
	return 0;
}

void wf_evidence_link(struct wf_evidence *ev, uint32_t a, uint32_t b)
{
	assert(a < ev->n_ports && b < ev->n_ports);
	if (a == b || ev->ports[a].peer != WF_EV_NONE || ev->ports[b].peer != WF_EV_NONE)
		return;
	ev->ports[a].peer = b;
	ev->ports[b].peer = a;
}

/* ---- in order ---- */

static int same_counter(const struct wf_ev_sample *a, const struct wf_ev_sample *b)
{
	if (a->port != b->port)
		return a->port < b->port ? -1 : 1;
	if (a->counter != b->counter)
		return a->counter < b->counter ? -1 : 1;
	if (a->queue != b->queue)
		return a->queue < b->queue ? -1 : 1;
	return 0;
}

/* Of one counter in one snapshot the largest comes first, and of these one that is not full. */
static int order(const void *pa, const void *pb, const void *arg)
{
	const struct wf_ev_sample *a = pa, *b = pb;
	int c = same_counter(a, b);

	(void)arg;
	if (c != 0)
		return c;
	if (a->when != b->when)
		return a->when < b->when ? -1 : 1;
	if (a->value != b->value)
		return a->value > b->value ? -1 : 1;
	if (a->full != b->full)
		return a->full ? 1 : -1;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

/* Switches have several ports that are connected, or counters of queues and watchdogs. */
static enum wf_ev_kind kind_of(const struct wf_evidence *ev, const struct wf_ev_device *d)
{
	uint32_t linked = 0;

	for (uint32_t p = d->first_port; p != WF_EV_NONE; p = ev->ports[p].next) {
		linked += ev->ports[p].peer != WF_EV_NONE;
		for (uint32_t i = ev->ports[p].first; i < ev->ports[p].end; i++) {
			unsigned c = ev->samples[i].counter;

			if (c >= WF_EV_HCA_OUT_OF_SEQUENCE && c < WF_EV_queue_drops)
				return WF_EV_HOST;
			if (c == WF_EV_queue_drops || c == WF_EV_wd_stormed)
				return WF_EV_SWITCH;
		}
	}
	return linked > 1 ? WF_EV_SWITCH : WF_EV_ANY;
}

/* Leaves one of each counter in each snapshot, and tells ports which are theirs. */
static void thin_out(struct wf_evidence *ev)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < ev->n_samples; i++) {
		const struct wf_ev_sample *s = &ev->samples[i];
		struct wf_ev_port *port = &ev->ports[s->port];

		if (n > 0 && same_counter(&ev->samples[n - 1], s) == 0 &&
		    ev->samples[n - 1].when == s->when)
			continue;
		if (n == 0 || ev->samples[n - 1].port != s->port)
			port->first = n;
		port->end = n + 1;
		ev->samples[n++] = *s;
	}
	ev->n_samples = n;
}

int wf_evidence_finish(struct wf_evidence *ev)
{
	if (ev->n_samples > 0) {
		void *room = ev->mem->alloc(ev->mem, ev->n_samples * sizeof(*ev->samples));

		if (room == NULL)
			return -ENOMEM;
		wf_sort(ev->samples, room, ev->n_samples, sizeof(*ev->samples), order, NULL);
		ev->mem->free(ev->mem, room);
	}
	thin_out(ev);
	for (uint32_t i = 0; i < ev->n_devices; i++) {
		if (ev->devices[i].kind == WF_EV_ANY)
			ev->devices[i].kind = kind_of(ev, &ev->devices[i]);
	}
	/* Beside a switch that nobody asked stands what has one link, which is a host. */
	for (uint32_t i = 0; i < ev->n_ports; i++) {
		uint32_t peer = ev->ports[i].peer;

		if (peer != WF_EV_NONE && ev->devices[ev->ports[i].device].kind == WF_EV_ANY &&
		    ev->devices[ev->ports[peer].device].kind == WF_EV_SWITCH)
			ev->devices[ev->ports[i].device].kind = WF_EV_HOST;
	}
	return 0;
}

/* ---- questions ---- */

uint64_t wf_evidence_growth(const struct wf_evidence *ev, const struct wf_ev_sample *sample)
{
	const struct wf_ev_sample *before = sample - 1;

	/* Counters that were set to 0 in between have counted since. */
	if (!ev->later || wf_ev_is_gauge((enum wf_ev_counter)sample->counter) ||
	    sample == ev->samples || same_counter(before, sample) != 0 ||
	    before->value > sample->value)
		return sample->value;
	return sample->value - before->value;
}

const struct wf_ev_sample *wf_evidence_get(const struct wf_evidence *ev, uint32_t port, int queue,
                                           enum wf_ev_counter counter, uint64_t *value_p)
{
	const struct wf_ev_port *p = &ev->ports[port];
	uint32_t low = p->first, high = p->end;
	const struct wf_ev_sample want = { .port = port,
		                           .queue = (int16_t)queue,
		                           .counter = (uint16_t)counter };

	/* The last of this counter: with two snapshots the later's, or nothing was said later. */
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (same_counter(&ev->samples[mid], &want) <= 0)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == p->first || same_counter(&ev->samples[low - 1], &want) != 0)
		return NULL;
	if (ev->later && ev->samples[low - 1].when == 0)
		return NULL;
	if (value_p != NULL)
		*value_p = wf_evidence_growth(ev, &ev->samples[low - 1]);
	return &ev->samples[low - 1];
}

bool wf_evidence_sum(const struct wf_evidence *ev, uint32_t port, enum wf_ev_counter counter,
                     uint64_t *value_p)
{
	const struct wf_ev_port *p = &ev->ports[port];
	bool known = false;

	*value_p = 0;
	if (wf_evidence_get(ev, port, WF_EV_NO_QUEUE, counter, value_p) != NULL)
		return true;
	for (uint32_t i = p->first; i < p->end; i++) {
		const struct wf_ev_sample *s = &ev->samples[i];
		uint64_t v;

		if (s->counter != (uint16_t)counter || s->when != ev->later)
			continue;
		v = wf_evidence_growth(ev, s);
		known = true;
		if (wf_ev_is_gauge(counter))
			*value_p = wf_max_u64(*value_p, v);
		else
			*value_p = *value_p > UINT64_MAX - v ? UINT64_MAX : *value_p + v;
	}
	return known;
}

bool wf_evidence_total(const struct wf_evidence *ev, uint32_t device, enum wf_ev_counter counter,
                       uint64_t *value_p)
{
	bool known = false;

	*value_p = 0;
	for (uint32_t p = ev->devices[device].first_port; p != WF_EV_NONE; p = ev->ports[p].next) {
		uint64_t v;

		if (!wf_evidence_sum(ev, p, counter, &v))
			continue;
		known = true;
		if (wf_ev_is_gauge(counter))
			*value_p = wf_max_u64(*value_p, v);
		else
			*value_p = *value_p > UINT64_MAX - v ? UINT64_MAX : *value_p + v;
	}
	return known;
}
