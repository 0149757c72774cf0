/* SPDX-License-Identifier: Apache-2.0 */
/* subnet.c - a topology as an InfiniBand subnet. */
#include "topo/subnet.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define VENDOR 0x02c0de /* the numbers of what weft models, as agents and verbs say them */
#define DEVICE_ADAPTER 1
#define DEVICE_SWITCH 2

/* Four lanes, as cables have them, where they do. */
static void set_rate(struct wf_subnet_port *port, uint64_t rate)
{
	static const uint8_t widths[] = { 4, 8, 12 };
	uint64_t best = 0;

	for (size_t w = 0; w < WF_ARRAY_SIZE(widths) && best == 0; w++) {
		for (uint8_t speed = WF_SUBNET_SDR; speed < WF_SUBNET_N_SPEEDS && best == 0;
		     speed++) {
			if (wf_subnet_rate(widths[w], speed) < rate)
				continue;
			best = wf_subnet_rate(widths[w], speed);
			port->width = widths[w];
			port->speed = speed;
		}
	}
	if (best == 0) {
		port->width = 12;
		port->speed = WF_SUBNET_XDR;
	}
	port->state = WF_SUBNET_ACTIVE;
	port->phys = 5; /* link up */
}

/* "h12 weft0" */
static void name_host(char desc[WF_SUBNET_DESC], const char *name)
{
	static const char device[] = " weft0";
	size_t n = 0;

	assert(strlen(name) + sizeof(device) <= WF_SUBNET_DESC);
	for (; *name != '\0'; name++)
		desc[n++] = *name;
	for (size_t i = 0; i < sizeof(device); i++)
		desc[n + i] = device[i];
}

static int add_node(struct wf_subnet *subnet, const struct wf_topo_node *node, uint32_t i)
{
	bool host = node->kind == WF_TOPO_HOST;
	struct wf_subnet_node like = {
		.kind = host ? WF_SUBNET_ADAPTER : WF_SUBNET_SWITCH,
		.guid = host ? WF_SUBNET_HOST_GUID(node->host) : WF_SUBNET_SWITCH_GUID(i),
		.vendor = VENDOR,
		.device = host ? DEVICE_ADAPTER : DEVICE_SWITCH,
		.n_ports = (uint8_t)node->n_ports,
	};
	uint32_t id;
	int ret;

	like.system = like.guid;
	if (host)
		name_host(like.desc, node->name);
	else
		memcpy(like.desc, node->name, strlen(node->name) + 1);
	ret = wf_subnet_add(subnet, &like, &id);
	for (unsigned p = 1; host && ret == 0 && p <= node->n_ports; p++)
		ret = wf_subnet_set_guid(subnet, id, p, WF_SUBNET_PORT_GUID(node->host, p));
	return ret;
}

static int fill(struct wf_subnet *subnet, const struct wf_topo *topo, const char *name,
                struct wf_err *err)
{
	for (uint32_t i = 0; i < topo->n_nodes; i++) {
		const struct wf_topo_node *node = &topo->nodes[i];
		int ret;

		if (node->n_ports > WF_SUBNET_MAX_PORTS)
			return wf_err_at(err, name, 0, 0,
			                 "%s has %" PRIu32
			                 " ports; a switch of an InfiniBand subnet has at most %d",
			                 node->name, node->n_ports, WF_SUBNET_MAX_PORTS);
		ret = add_node(subnet, node, i);
		if (ret != 0)
			return ret;
	}
	for (uint32_t i = 0; i < topo->n_links; i++) {
		const struct wf_topo_link *link = &topo->links[i];

		wf_subnet_join(subnet, link->a, link->a_port + 1u, link->b, link->b_port + 1u);
		set_rate(wf_subnet_port(subnet, link->a, link->a_port + 1u), link->rate);
		set_rate(wf_subnet_port(subnet, link->b, link->b_port + 1u), link->rate);
	}
	return 0;
}

int wf_topo_to_subnet(const struct wf_topo *topo, const char *name, struct wf_mem *mem,
                      struct wf_subnet **subnet_p, struct wf_err *err)
{
	struct wf_subnet *subnet;
	int ret = wf_subnet_create(mem, &subnet);

	if (ret != 0)
		return ret;
	ret = fill(subnet, topo, name, err);
	if (ret != 0)
		wf_subnet_destroy(subnet);
	else
		*subnet_p = subnet;
	return ret;
}
