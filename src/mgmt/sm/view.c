/* SPDX-License-Identifier: Apache-2.0 */
/* view.c - the graph of a subnet with what devices said, and the cache of switches' tables. */
#include "mgmt/sm/view.h"

#include <errno.h>
#include <string.h>

#include "mgmt/sm/steps_priv.h"

int wf_sm_view_create(struct wf_mem *mem, struct wf_sm_view **view_p)
{
	struct wf_sm_view *view = mem->alloc(mem, sizeof(*view));
	int ret;

	if (view == NULL)
		return -ENOMEM;
	view->mem = mem;
	view->self = WF_SUBNET_NONE;
	ret = wf_subnet_create(mem, &view->subnet);
	if (ret != 0)
		mem->free(mem, view);
	else
		*view_p = view;
	return ret;
}

void wf_sm_view_destroy(struct wf_sm_view *view)
{
	struct wf_mem *mem;

	if (view == NULL)
		return;
	mem = view->mem;
	for (uint32_t i = 0; i < view->subnet->n_ports; i++) {
		mem->free(mem, view->ports[i].pkeys);
		mem->free(mem, view->ports[i].guids);
	}
	mem->free(mem, view->switches);
	mem->free(mem, view->ports);
	mem->free(mem, view->nodes);
	wf_groups_destroy(view->groups);
	wf_tables_destroy(view->tables);
	wf_subnet_destroy(view->subnet);
	mem->free(mem, view);
}

static int make_room(struct wf_mem *mem, void **items, uint32_t want, uint32_t *max_p, size_t size)
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
	if (*max_p != 0)
		memcpy(room, *items, *max_p * size);
	mem->free(mem, *items);
	*items = room;
	*max_p = max;
	return 0;
}

/* Room beside the graph for one more node. */
static int room_beside(struct wf_sm_view *view, uint32_t n_ports)
{
	struct wf_mem *mem = view->mem;
	void *nodes = view->nodes, *ports = view->ports, *switches = view->switches;
	int ret = make_room(mem, &nodes, view->subnet->n_nodes + 1, &view->max_nodes,
	                    sizeof(*view->nodes));

	view->nodes = nodes;
	if (ret == 0)
		ret = make_room(mem, &ports, view->subnet->n_ports + n_ports + 1, &view->max_ports,
		                sizeof(*view->ports));
	view->ports = ports;
	if (ret == 0)
		ret = make_room(mem, &switches, view->subnet->n_switches + 1, &view->max_switches,
		                sizeof(*view->switches));
	view->switches = switches;
	return ret;
}

int wf_sm_view_add(struct wf_sm_view *view, const struct wf_node_info *info, uint32_t *id_p)
{
	struct wf_subnet_node like = {
		.guid = info->node_guid,
		.system = info->system_image_guid,
		.vendor = info->vendor_id,
		.device = info->device_id,
		.kind = info->node_type, /* both are InfiniBand's numbers */
		.n_ports = info->num_ports,
	};
	int ret = room_beside(view, info->num_ports);

	if (ret == 0)
		ret = wf_subnet_add(view->subnet, &like, id_p);
	if (ret == 0)
		view->nodes[*id_p] = (struct wf_sm_node){ .info = *info, .up = WF_SUBNET_NONE };
	return ret;
}

static uint8_t lanes_of(unsigned width)
{
	switch (width) {
	case 1:
		return 1;
	case 2:
		return 4;
	case 4:
		return 8;
	case 8:
		return 12;
	case 16:
		return 2;
	default:
		return 0;
	}
}

static uint8_t best_lanes(unsigned widths)
{
	uint8_t best = 0;

	for (unsigned bit = 1; bit <= 16; bit <<= 1) {
		if ((widths & bit) != 0 && lanes_of(bit) > best)
			best = lanes_of(bit);
	}
	return best;
}

/* The fastest of the three fields' bits; of an active speed there is one. */
static uint8_t speed_of(unsigned speed, unsigned ext, unsigned ext2)
{
	static const uint8_t exts[] = { WF_SUBNET_FDR, WF_SUBNET_EDR, WF_SUBNET_HDR,
		                        WF_SUBNET_NDR };
	static const uint8_t plain[] = { WF_SUBNET_SDR, WF_SUBNET_DDR, WF_SUBNET_QDR };

	if ((ext2 & 1) != 0)
		return WF_SUBNET_XDR;
	for (unsigned i = WF_ARRAY_SIZE(exts); i-- > 0;) {
		if ((ext >> i & 1) != 0)
			return exts[i];
	}
	for (unsigned i = WF_ARRAY_SIZE(plain); i-- > 0;) {
		if ((speed >> i & 1) != 0)
			return plain[i];
	}
	return WF_SUBNET_SPEED_NONE;
}

void wf_sm_view_port(struct wf_sm_view *view, uint32_t index, const uint8_t *data)
{
	struct wf_subnet_port *port = &view->subnet->ports[index];
	struct wf_port_info info;

	memcpy(view->ports[index].info, data, WF_SMP_DATA_LEN);
	view->ports[index].known = true;
	wf_port_info_decode(data, &info);
	port->state = info.port_state <= WF_PORT_ACTIVE ? info.port_state : 0;
	port->phys = info.port_physical_state;
	port->width = lanes_of(info.link_width_active);
	port->speed = speed_of(info.link_speed_active, info.link_speed_ext_active,
	                       info.link_speed_ext_active2);
	port->width_best = best_lanes(info.link_width_supported);
	port->speed_best = speed_of(info.link_speed_supported, info.link_speed_ext_supported,
	                            info.link_speed_ext_supported2);
}

bool wf_sm_is_end_port(const struct wf_sm_view *view, uint32_t index)
{
	const struct wf_subnet_port *port = &view->subnet->ports[index];
	unsigned number = wf_subnet_number(view->subnet, port);

	if (!view->ports[index].known)
		return false;
	if (wf_subnet_is_switch(view->subnet, port->node))
		return number == 0;
	if (view->self != WF_SUBNET_NONE && index == wf_sm_self(view))
		return true;
	return number != 0 && port->peer != WF_SUBNET_NONE && port->state != WF_SUBNET_DOWN;
}

int wf_sm_route_to(const struct wf_sm_view *view, uint32_t node, unsigned port,
                   uint8_t path[WF_SM_PATH])
{
	bool is_switch = wf_subnet_is_switch(view->subnet, node);
	uint8_t back[WF_SM_PATH];
	uint32_t at = node;
	int hops = 0;

	if (node == view->self && (is_switch || port == view->self_port))
		return 0;
	if (!is_switch && port != 0) { /* by what is at the other end of that port */
		const struct wf_subnet_port *peer =
			wf_subnet_peer(view->subnet, wf_subnet_port(view->subnet, node, port));

		if (peer == NULL)
			return -1;
		at = peer->node;
		back[hops++] = (uint8_t)wf_subnet_number(view->subnet, peer);
	}
	while (at != view->self) {
		const struct wf_sm_node *via = &view->nodes[at];

		if (hops == WF_SM_PATH - 1 || via->up == WF_SUBNET_NONE ||
		    (at != node && !wf_subnet_is_switch(view->subnet, at)))
			return -1;
		back[hops++] = via->up_port;
		at = via->up;
	}
	for (int i = 0; i < hops; i++)
		path[1 + i] = back[hops - 1 - i];
	return hops;
}

/* ---- what switches' tables hold ---- */

struct wf_sm_dev *wf_sm_dev_get(struct wf_sm *sm, uint64_t guid)
{
	struct wf_sm_view *old = sm->view;
	struct wf_sm_dev *dev;

	if (old != NULL) {
		uint32_t id = wf_subnet_find(old->subnet, guid);

		if (id != WF_SUBNET_NONE && wf_subnet_is_switch(old->subnet, id)) {
			dev = old->switches[old->subnet->nodes[id].sw].dev;
			if (dev != NULL && dev->guid == guid) {
				dev->used = true;
				return dev;
			}
		}
	}
	dev = sm->mem->alloc(sm->mem, sizeof(*dev));
	if (dev == NULL)
		return NULL;
	dev->guid = guid;
	dev->used = true;
	dev->next = sm->devs;
	sm->devs = dev;
	return dev;
}

void wf_sm_devs_free(struct wf_sm *sm, bool unused_only)
{
	struct wf_sm_dev **at = &sm->devs;

	while (*at != NULL) {
		struct wf_sm_dev *dev = *at;

		if (unused_only && dev->used) {
			dev->used = false;
			at = &dev->next;
			continue;
		}
		*at = dev->next;
		wf_sm_free_spread(sm, dev);
		sm->mem->free(sm->mem, dev->mft_known);
		sm->mem->free(sm->mem, dev->mft);
		sm->mem->free(sm->mem, dev->lft);
		sm->mem->free(sm->mem, dev);
	}
}
