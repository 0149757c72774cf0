/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netconf.c - the model of a network's configurations: its texts, devices, ports and links.
 */
#include "netconf/netconf.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/siphash.h"
#include "netconf/make.h"

#define FIRST_SLOTS 1024
#define TEXT 1024 /* of wf_conf_textf() */

/* Texts by what they say (owner NULL); things by whose they are and their name's one copy. */
struct wf_conf_slot {
	const void *owner;
	const char *name; /* NULL: empty */
	void *thing;
};

const char *const wf_conf_form_names[] = { "unknown", "sonic", "nvue",   "cumulus",
	                                   "eos",     "nxos",  "adapter" };
_Static_assert(WF_ARRAY_SIZE(wf_conf_form_names) == WF_CONF_FORMS, "a name for each form");

#define NAME(id, name) name,
const char *const wf_conf_dcqcn_names[] = { WF_CONF_DCQCN(NAME) };
#undef NAME

void wf_netconf_init(struct wf_netconf *net)
{
	*net = (struct wf_netconf){ .secret = "configurations." };
	wf_arena_init(&net->arena);
	net->last_note = &net->notes;
	net->last_fault = &net->faults;
}

void wf_netconf_fini(struct wf_netconf *net)
{
	wf_arena_fini(&net->arena);
}

static void *get(struct wf_netconf *net, size_t size)
{
	void *p = wf_arena_alloc(&net->arena, size, _Alignof(void *));

	if (p == NULL)
		net->no_memory = true;
	return p;
}

/* ---- tables ---- */

static size_t hash_of(const struct wf_netconf *net, const void *owner, const void *key, size_t len)
{
	uintptr_t both[2] = { (uintptr_t)owner, (uintptr_t)key };

	return (size_t)(owner == NULL ? wf_siphash(net->secret, key, len)
	                              : wf_siphash(net->secret, both, sizeof(both)));
}

/* Makes room for one more. */
static bool grow(struct wf_netconf *net, struct wf_conf_index *index)
{
	struct wf_conf_slot *old = index->slots;
	size_t n = index->size;

	if (3 * (index->used + 1) <= 2 * n)
		return true;
	n = n == 0 ? FIRST_SLOTS : 2 * n;
	index->slots = get(net, n * sizeof(*index->slots));
	if (index->slots == NULL) {
		index->slots = old;
		return false;
	}
	for (size_t i = 0; i < index->size; i++) {
		size_t at;

		if (old[i].name == NULL)
			continue;
		at = hash_of(net, old[i].owner, old[i].name,
		             old[i].owner == NULL ? strlen(old[i].name) : 0);
		while (index->slots[at & (n - 1)].name != NULL)
			at++;
		index->slots[at & (n - 1)] = old[i];
	}
	index->size = n;
	return true;
}

const char *wf_conf_text(struct wf_netconf *net, const char *text, size_t len)
{
	struct wf_conf_slot *slot;
	char *copy;
	size_t at;

	if (!grow(net, &net->texts))
		return "";
	at = hash_of(net, NULL, text, len);
	for (;; at++) {
		slot = &net->texts.slots[at & (net->texts.size - 1)];
		if (slot->name == NULL)
			break;
		if (strncmp(slot->name, text, len) == 0 && slot->name[len] == '\0')
			return slot->name;
	}
	copy = wf_arena_alloc(&net->arena, len + 1, 1);
	if (copy == NULL) {
		net->no_memory = true;
		return "";
	}
	if (len != 0)
		memcpy(copy, text, len);
	slot->name = copy;
	net->texts.used++;
	return copy;
}

const char *wf_conf_textf(struct wf_netconf *net, const char *fmt, ...)
{
	char text[TEXT];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return wf_conf_text(net, text, strlen(text));
}

/* Where the thing of this name is, or would be put; name is the one copy of it. */
static struct wf_conf_slot *slot_of(struct wf_netconf *net, const void *owner, const char *name)
{
	size_t at = hash_of(net, owner, name, 0);

	for (;; at++) {
		struct wf_conf_slot *slot = &net->things.slots[at & (net->things.size - 1)];

		if (slot->name == NULL || (slot->owner == owner && slot->name == name))
			return slot;
	}
}

static void put(struct wf_netconf *net, struct wf_conf_slot *slot, const void *owner,
                const char *name, void *thing)
{
	*slot = (struct wf_conf_slot){ owner, name, thing };
	net->things.used++;
}

/* Room for one more in a list of pointers or structs. */
static bool more(struct wf_netconf *net, void **list, uint32_t n, uint32_t *room, size_t size)
{
	void *longer;

	if (n < *room)
		return true;
	longer = get(net, (*room == 0 ? 8 : 2 * (size_t)*room) * size);
	if (longer == NULL)
		return false;
	if (n != 0)
		memcpy(longer, *list, n * size);
	*list = longer;
	*room = *room == 0 ? 8 : 2 * *room;
	return true;
}

/* ---- files, devices, ports ---- */

uint32_t wf_conf_add_file(struct wf_netconf *net, const char *path)
{
	void *list = net->files;

	if (!more(net, &list, net->n_files, &net->room_files, sizeof(*net->files)))
		return WF_CONF_NONE;
	net->files = list;
	net->files[net->n_files] = wf_conf_text(net, path, strlen(path));
	return net->n_files++;
}

static void init_port(struct wf_conf_port *port, struct wf_conf_device *device, const char *name)
{
	port->name = name;
	port->device = device;
	port->at.file = WF_CONF_NONE;
	port->link = WF_CONF_NONE;
	for (unsigned i = 0; i < WF_CONF_MAPS; i++)
		port->map_at[i].file = WF_CONF_NONE;
	for (unsigned i = 0; i < WF_CONF_TCS; i++) {
		port->pg[i].at.file = WF_CONF_NONE;
		port->queue[i].sched_at.file = WF_CONF_NONE;
		port->queue[i].wred_at.file = WF_CONF_NONE;
		port->queue[i].profile_at.file = WF_CONF_NONE;
	}
}

struct wf_conf_device *wf_conf_device_of(struct wf_netconf *net, const char *name)
{
	const char *one = wf_conf_text(net, name, strlen(name));
	void *list = net->devices;
	struct wf_conf_slot *slot;
	struct wf_conf_device *device;

	if (grow(net, &net->things)) {
		slot = slot_of(net, net, one);
		if (slot->name != NULL)
			return slot->thing;
		device = get(net, sizeof(*device));
		if (device != NULL &&
		    more(net, &list, net->n_devices, &net->room_devices, sizeof(*net->devices))) {
			net->devices = list;
			net->devices[net->n_devices++] = device;
			device->name = one;
			device->at.file = WF_CONF_NONE;
			put(net, slot, net, one, device);
			return device;
		}
	}
	return NULL;
}

struct wf_conf_port *wf_conf_port_of(struct wf_netconf *net, struct wf_conf_device *device,
                                     const char *name)
{
	const char *one = wf_conf_text(net, name, strlen(name));
	void *list = device->ports;
	struct wf_conf_slot *slot;
	struct wf_conf_port *port;

	if (!grow(net, &net->things))
		return NULL;
	slot = slot_of(net, device, one);
	if (slot->name != NULL)
		return slot->thing;
	if (device->n_ports == WF_CONF_MAX_PORTS)
		return NULL;
	port = get(net, sizeof(*port));
	if (port == NULL ||
	    !more(net, &list, device->n_ports, &device->room_ports, sizeof(*device->ports)))
		return NULL;
	device->ports = list;
	device->ports[device->n_ports++] = port;
	init_port(port, device, one);
	put(net, slot, device, one, port);
	return port;
}

struct wf_conf_port *wf_conf_find_port(const struct wf_netconf *net,
                                       const struct wf_conf_device *device, const char *name)
{
	(void)net;
	for (uint32_t i = 0; i < device->n_ports; i++) {
		if (strcmp(device->ports[i]->name, name) == 0)
			return device->ports[i];
	}
	for (uint32_t i = 0; i < device->n_ports; i++) {
		if (device->ports[i]->alias != NULL && strcmp(device->ports[i]->alias, name) == 0)
			return device->ports[i];
	}
	return NULL;
}

void *wf_conf_named_of(struct wf_netconf *net, struct wf_conf_named **list, size_t size,
                       const char *name)
{
	const char *one = wf_conf_text(net, name, strlen(name));
	struct wf_conf_slot *slot;
	struct wf_conf_named *thing;

	assert(size >= sizeof(*thing));
	if (!grow(net, &net->things))
		return NULL;
	slot = slot_of(net, list, one);
	if (slot->name != NULL)
		return slot->thing;
	thing = get(net, size);
	if (thing == NULL)
		return NULL;
	thing->name = one;
	thing->at.file = WF_CONF_NONE;
	thing->next = *list;
	*list = thing;
	put(net, slot, list, one, thing);
	return thing;
}

struct wf_conf_map *wf_conf_map_of(struct wf_netconf *net, struct wf_conf_device *device,
                                   enum wf_conf_map_kind kind, const char *name)
{
	struct wf_conf_map *map =
		wf_conf_named_of(net, &device->maps[kind], sizeof(struct wf_conf_map), name);

	/* A map that refers to nothing is new; what is in it may be nothing, too. */
	if (map != NULL && !map->is.defined && map->is.at.line == 0)
		memset(map->to, -1, sizeof(map->to));
	return map;
}

struct wf_conf_nic *wf_conf_nic_of(struct wf_netconf *net, struct wf_conf_port *port)
{
	if (port->nic == NULL)
		port->nic = get(net, sizeof(*port->nic));
	return port->nic;
}

/* ---- links ---- */

static bool is_same_end(const struct wf_conf_end *a, const struct wf_conf_end *b)
{
	return a->device == b->device && a->name == b->name;
}

/*
 * Links are found again by one of their ends: in a device's table of things, under its name with a
 * byte before it that names of ports have not.
 */
static struct wf_conf_slot *link_slot(struct wf_netconf *net, const struct wf_conf_end *end)
{
	const char *key = wf_conf_textf(net, "\001%.500s", end->name);
	struct wf_conf_slot *slot;

	if (!grow(net, &net->things))
		return NULL;
	slot = slot_of(net, end->device, key);
	if (slot->name == NULL) {
		put(net, slot, end->device, key, NULL);
	}
	return slot;
}

void wf_conf_add_link(struct wf_netconf *net, const struct wf_conf_end end[2],
                      struct wf_conf_place at, int64_t length)
{
	void *list = net->links;

	if (end[0].device == NULL || end[1].device == NULL)
		return;
	for (unsigned i = 0; i < 2; i++) {
		struct wf_conf_slot *slot = link_slot(net, &end[i]);
		uint32_t number =
			slot == NULL || slot->thing == NULL ? 0 : (uint32_t)(uintptr_t)slot->thing;
		struct wf_conf_link *link;

		if (slot == NULL)
			return;
		if (number == 0)
			continue;
		link = &net->links[number - 1];
		if ((is_same_end(&link->end[0], &end[0]) && is_same_end(&link->end[1], &end[1])) ||
		    (is_same_end(&link->end[0], &end[1]) && is_same_end(&link->end[1], &end[0]))) {
			if (length >= 0 && link->length.said == WF_CONF_UNSET)
				link->length = (struct wf_conf_value){ length, at, WF_CONF_SAID };
			return;
		}
	}
	if (!more(net, &list, net->n_links, &net->room_links, sizeof(*net->links)))
		return;
	net->links = list;
	net->links[net->n_links] = (struct wf_conf_link){ .end = { end[0], end[1] }, .at = at };
	if (length >= 0)
		net->links[net->n_links].length =
			(struct wf_conf_value){ length, at, WF_CONF_SAID };
	net->n_links++;
	for (unsigned i = 0; i < 2; i++) {
		struct wf_conf_slot *slot = link_slot(net, &end[i]);

		if (slot != NULL && slot->thing == NULL)
			slot->thing = (void *)(uintptr_t)net->n_links;
	}
}

/* An adapter of one interface is meant, whatever others call that. */
static struct wf_conf_port *port_of_end(const struct wf_netconf *net, const struct wf_conf_end *end)
{
	struct wf_conf_port *port = wf_conf_find_port(net, end->device, end->name);

	if (port == NULL && end->device->adapter && end->device->n_ports == 1)
		port = end->device->ports[0];
	return port;
}

void wf_conf_connect(struct wf_netconf *net)
{
	for (uint32_t i = 0; i < net->n_links; i++) {
		for (unsigned k = 0; k < 2; k++) {
			struct wf_conf_end *end = &net->links[i].end[k];

			end->port = port_of_end(net, end);
			if (end->port != NULL && end->port->link == WF_CONF_NONE)
				end->port->link = i;
		}
	}
}

/* ---- what readers have to say ---- */

void wf_conf_add_note(struct wf_netconf *net, enum wf_conf_note_kind kind, struct wf_conf_place at,
                      const char *fmt, ...)
{
	struct wf_conf_note *note = get(net, sizeof(*note));
	char text[TEXT];
	va_list ap;

	net->n_notes[kind]++;
	if (note == NULL)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	note->kind = kind;
	note->at = at;
	note->what = wf_conf_text(net, text, strlen(text));
	*net->last_note = note;
	net->last_note = &note->next;
}

void wf_conf_add_fault(struct wf_netconf *net, enum wf_conf_fault_kind kind,
                       struct wf_conf_device *device, struct wf_conf_port *port,
                       struct wf_conf_place at, const char *wrong, const char *right)
{
	struct wf_conf_fault *fault = get(net, sizeof(*fault));

	if (fault == NULL)
		return;
	*fault = (struct wf_conf_fault){ NULL, kind, device, port, at, wrong, right };
	*net->last_fault = fault;
	net->last_fault = &fault->next;
}
