/* SPDX-License-Identifier: Apache-2.0 */
/* subnet.c - the graph of a subnet: nodes, ports, links, and how they are found. */
#include "subnet/subnet.h"

#include <errno.h>
#include <string.h>

#include "subnet/guids.h"
#include "subnet/pm.h"

#define LANE(mbps) ((uint64_t)(mbps)*1000000)

/* 8b/10b up to QDR, 64b/66b from FDR10 on; what vendors call EDR and later is after its code. */
const struct wf_subnet_speed_row wf_subnet_speeds[WF_SUBNET_N_SPEEDS] = {
	[WF_SUBNET_SPEED_NONE] = { "???", 0 },
	[WF_SUBNET_SDR] = { "SDR", LANE(2000) },
	[WF_SUBNET_DDR] = { "DDR", LANE(4000) },
	[WF_SUBNET_QDR] = { "QDR", LANE(8000) },
	[WF_SUBNET_FDR10] = { "FDR10", LANE(10000) },
	[WF_SUBNET_FDR] = { "FDR", UINT64_C(13636363636) },
	[WF_SUBNET_EDR] = { "EDR", LANE(25000) },
	[WF_SUBNET_HDR] = { "HDR", LANE(50000) },
	[WF_SUBNET_NDR] = { "NDR", LANE(100000) },
	[WF_SUBNET_XDR] = { "XDR", LANE(200000) },
};

#define PM_ROW(field, name, tells, max) { name, tells, max },
const struct wf_pm_row wf_pm_rows[] = { WF_PM_COUNTERS(PM_ROW) };
#undef PM_ROW

/* ---- tables from GUIDs to numbers ---- */

static uint32_t hash(uint64_t guid, uint32_t size)
{
	guid ^= guid >> 31;
	guid *= UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(guid >> 32) & (size - 1);
}

/* Where a GUID is, or the free place where it would be. */
static uint32_t guids_at(const struct wf_subnet_guids *t, uint64_t guid)
{
	uint32_t i = hash(guid, t->size);

	while (t->value[i] != WF_SUBNET_NONE && t->guid[i] != guid)
		i = (i + 1) & (t->size - 1);
	return i;
}

uint32_t wf_guids_find(const struct wf_subnet_guids *t, uint64_t guid)
{
	return t->size == 0 ? WF_SUBNET_NONE : t->value[guids_at(t, guid)];
}

static int guids_grow(struct wf_subnet_guids *t, struct wf_mem *mem)
{
	struct wf_subnet_guids old = *t;
	uint32_t size = old.size == 0 ? 64 : 2 * old.size;

	t->guid = mem->alloc(mem, size * sizeof(*t->guid));
	t->value = mem->alloc(mem, size * sizeof(*t->value));
	if (t->guid == NULL || t->value == NULL) {
		mem->free(mem, t->guid);
		mem->free(mem, t->value);
		*t = old;
		return -ENOMEM;
	}
	t->size = size;
	memset(t->value, 0xff, size * sizeof(*t->value));
	for (uint32_t i = 0; i < old.size; i++) {
		uint32_t at;

		if (old.value[i] == WF_SUBNET_NONE)
			continue;
		at = guids_at(t, old.guid[i]);
		t->guid[at] = old.guid[i];
		t->value[at] = old.value[i];
	}
	mem->free(mem, old.guid);
	mem->free(mem, old.value);
	return 0;
}

int wf_guids_add(struct wf_subnet_guids *t, struct wf_mem *mem, uint64_t guid, uint32_t value)
{
	uint32_t at;

	if (guid == 0)
		return 0;
	if (2 * (t->n + 1) > t->size) {
		int ret = guids_grow(t, mem);

		if (ret != 0)
			return ret;
	}
	at = guids_at(t, guid);
	if (t->value[at] == WF_SUBNET_NONE) {
		t->guid[at] = guid;
		t->value[at] = value;
		t->n++;
	}
	return 0;
}

void wf_guids_fini(struct wf_subnet_guids *t, struct wf_mem *mem)
{
	mem->free(mem, t->value);
	mem->free(mem, t->guid);
}

/* ---- the graph ---- */

int wf_subnet_create(struct wf_mem *mem, struct wf_subnet **subnet_p)
{
	struct wf_subnet *subnet = mem->alloc(mem, sizeof(*subnet));
	size_t lids = (size_t)WF_LID_MAX + 1;

	if (subnet == NULL)
		return -ENOMEM;
	subnet->mem = mem;
	subnet->port_of = mem->alloc(mem, lids * sizeof(*subnet->port_of));
	if (subnet->port_of == NULL) {
		mem->free(mem, subnet);
		return -ENOMEM;
	}
	memset(subnet->port_of, 0xff, lids * sizeof(*subnet->port_of));
	*subnet_p = subnet;
	return 0;
}

void wf_subnet_destroy(struct wf_subnet *subnet)
{
	struct wf_mem *mem;

	if (subnet == NULL)
		return;
	mem = subnet->mem;
	wf_guids_fini(&subnet->port_guids, mem);
	wf_guids_fini(&subnet->node_guids, mem);
	mem->free(mem, subnet->pm);
	mem->free(mem, subnet->doubts);
	mem->free(mem, subnet->port_of);
	mem->free(mem, subnet->switches);
	mem->free(mem, subnet->ports);
	mem->free(mem, subnet->nodes);
	mem->free(mem, subnet);
}

int wf_make_room(struct wf_mem *mem, void **items, uint32_t n, uint32_t want, uint32_t *max_p,
                 size_t size)
{
	uint32_t max = *max_p == 0 ? 64 : *max_p;
	void *room;

	if (want <= *max_p)
		return 0;
	while (max < want)
		max *= 2;
	room = mem->alloc(mem, max * size);
	if (room == NULL)
		return -ENOMEM;
	if (n != 0)
		memcpy(room, *items, n * size);
	mem->free(mem, *items);
	*items = room;
	*max_p = max;
	return 0;
}

static int room_for(struct wf_subnet *subnet, const struct wf_subnet_node *like)
{
	struct wf_mem *mem = subnet->mem;
	void *nodes = subnet->nodes, *ports = subnet->ports, *switches = subnet->switches;
	uint32_t more = (uint32_t)like->n_ports + 1;
	int ret;

	ret = wf_make_room(mem, &nodes, subnet->n_nodes, subnet->n_nodes + 1, &subnet->max_nodes,
	                   sizeof(*subnet->nodes));
	subnet->nodes = nodes;
	if (ret == 0)
		ret = wf_make_room(mem, &ports, subnet->n_ports, subnet->n_ports + more,
		                   &subnet->max_ports, sizeof(*subnet->ports));
	subnet->ports = ports;
	if (ret == 0 && like->kind == WF_SUBNET_SWITCH)
		ret = wf_make_room(mem, &switches, subnet->n_switches, subnet->n_switches + 1,
		                   &subnet->max_switches, sizeof(*subnet->switches));
	subnet->switches = switches;
	return ret;
}

int wf_subnet_add(struct wf_subnet *subnet, const struct wf_subnet_node *like, uint32_t *id_p)
{
	uint32_t id = subnet->n_nodes;
	struct wf_subnet_node *node;
	int ret;

	assert(subnet->pm == NULL);
	if (id >= WF_SUBNET_MAX_NODES || like->n_ports > WF_SUBNET_MAX_PORTS)
		return -EINVAL;
	ret = room_for(subnet, like);
	if (ret == 0)
		ret = wf_guids_add(&subnet->node_guids, subnet->mem, like->guid, id);
	if (ret == 0 && like->kind == WF_SUBNET_SWITCH)
		ret = wf_guids_add(&subnet->port_guids, subnet->mem, like->guid, subnet->n_ports);
	if (ret != 0)
		return ret;

	node = &subnet->nodes[id];
	*node = *like;
	node->desc[WF_SUBNET_DESC - 1] = '\0';
	node->first_port = subnet->n_ports;
	node->sw = WF_SUBNET_NONE;
	for (uint32_t i = 0; i <= like->n_ports; i++)
		subnet->ports[subnet->n_ports++] =
			(struct wf_subnet_port){ .node = id, .peer = WF_SUBNET_NONE };
	subnet->n_nodes++;
	if (like->kind == WF_SUBNET_SWITCH) {
		node->sw = subnet->n_switches;
		subnet->switches[subnet->n_switches++] = id;
		subnet->ports[node->first_port].guid = like->guid;
	}
	*id_p = id;
	return 0;
}

void wf_subnet_join(struct wf_subnet *subnet, uint32_t a, unsigned a_port, uint32_t b,
                    unsigned b_port)
{
	struct wf_subnet_port *one = wf_subnet_port(subnet, a, a_port);
	struct wf_subnet_port *two = wf_subnet_port(subnet, b, b_port);

	assert(one->peer == WF_SUBNET_NONE && two->peer == WF_SUBNET_NONE);
	one->peer = b;
	one->peer_port = wf_narrow_u8(b_port);
	two->peer = a;
	two->peer_port = wf_narrow_u8(a_port);
}

void wf_subnet_part(struct wf_subnet *subnet, uint32_t id, unsigned number)
{
	struct wf_subnet_port *port = wf_subnet_port(subnet, id, number);
	struct wf_subnet_port *peer = wf_subnet_peer(subnet, port);

	if (peer == NULL)
		return;
	peer->peer = WF_SUBNET_NONE;
	peer->peer_port = 0;
	port->peer = WF_SUBNET_NONE;
	port->peer_port = 0;
}

/* Takes back the LIDs by which a port is found. */
static void forget_lids(struct wf_subnet *subnet, const struct wf_subnet_port *port)
{
	uint32_t index = (uint32_t)(port - subnet->ports);
	unsigned last = port->lid + (1u << port->lmc);

	for (unsigned lid = port->lid; port->lid != 0 && lid < last; lid++) {
		if (lid <= WF_LID_MAX && subnet->port_of[lid] == index)
			subnet->port_of[lid] = WF_SUBNET_NONE;
	}
	while (subnet->top_lid > 0 && subnet->port_of[subnet->top_lid] == WF_SUBNET_NONE)
		subnet->top_lid--;
}

int wf_subnet_set_lid(struct wf_subnet *subnet, uint32_t id, unsigned number, uint16_t lid,
                      uint8_t lmc)
{
	struct wf_subnet_port *port = wf_subnet_port(subnet, id, number);
	uint32_t index = (uint32_t)(port - subnet->ports);
	unsigned n = lmc <= WF_SUBNET_MAX_LMC ? 1u << lmc : 0;
	int ret = 0;

	if (n == 0 || lid + n - 1 > WF_LID_MAX || lid % n != 0)
		return -EINVAL;
	forget_lids(subnet, port);
	port->lid = lid;
	port->lmc = lmc;
	if (lid == 0)
		return 0;
	for (unsigned i = lid; i < lid + n; i++) {
		if (subnet->port_of[i] != WF_SUBNET_NONE)
			ret = -EEXIST;
		else
			subnet->port_of[i] = index;
	}
	if (lid + n - 1 > subnet->top_lid)
		subnet->top_lid = (uint16_t)(lid + n - 1);
	return ret;
}

int wf_subnet_set_guid(struct wf_subnet *subnet, uint32_t id, unsigned number, uint64_t guid)
{
	struct wf_subnet_port *port = wf_subnet_port(subnet, id, number);
	int ret = wf_guids_add(&subnet->port_guids, subnet->mem, guid,
	                       (uint32_t)(port - subnet->ports));

	if (ret == 0)
		port->guid = guid;
	return ret;
}

uint32_t wf_subnet_find(const struct wf_subnet *subnet, uint64_t guid)
{
	return wf_guids_find(&subnet->node_guids, guid);
}

uint32_t wf_subnet_find_port(const struct wf_subnet *subnet, uint64_t guid)
{
	return wf_guids_find(&subnet->port_guids, guid);
}

int wf_subnet_doubt(struct wf_subnet *subnet, const struct wf_subnet_doubt *doubt)
{
	void *doubts = subnet->doubts;
	int ret = wf_make_room(subnet->mem, &doubts, subnet->n_doubts, subnet->n_doubts + 1,
	                       &subnet->max_doubts, sizeof(*doubt));

	subnet->doubts = doubts;
	if (ret == 0)
		subnet->doubts[subnet->n_doubts++] = *doubt;
	return ret;
}

int wf_subnet_want_pm(struct wf_subnet *subnet)
{
	if (subnet->pm == NULL)
		subnet->pm = subnet->mem->alloc(subnet->mem, ((size_t)subnet->n_ports + 1) *
		                                                     sizeof(*subnet->pm));
	return subnet->pm == NULL ? -ENOMEM : 0;
}

uint64_t wf_subnet_rate(unsigned width, unsigned speed)
{
	return speed >= WF_SUBNET_N_SPEEDS ? 0 : width * wf_subnet_speeds[speed].rate;
}
