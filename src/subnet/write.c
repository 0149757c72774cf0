/* SPDX-License-Identifier: Apache-2.0 */
/* write.c - a subnet as ibnetdiscover prints it, tables as OpenSM dumps them. */
#include "subnet/write.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "subnet/route_priv.h"

#define LINE 512 /* bytes that hold any of the lines */

static void put(const struct wf_sink *sink, const char *fmt, ...) WF_PRINTF(2, 3);

static void put(const struct wf_sink *sink, const char *fmt, ...)
{
	char line[LINE];
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	assert(n >= 0 && (size_t)n < sizeof(line));
	sink->put(sink->arg, line, (size_t)n);
}

/* ---- ibnetdiscover ---- */

static const struct kind {
	const char *head, *guid;
	char letter;
} kinds[] = {
	[WF_SUBNET_ADAPTER] = { "Ca", "caguid", 'H' },
	[WF_SUBNET_SWITCH] = { "Switch", "switchguid", 'S' },
	[WF_SUBNET_ROUTER] = { "Rt", "rtguid", 'R' },
};

static void put_rate(const struct wf_sink *sink, const struct wf_subnet_port *port)
{
	if (port->width == 0)
		put(sink, " ??%s\n", wf_subnet_speeds[port->speed].name);
	else
		put(sink, " %ux%s\n", port->width, wf_subnet_speeds[port->speed].name);
}

static void put_port(const struct wf_subnet *subnet, const struct wf_sink *sink,
                     const struct wf_subnet_port *port)
{
	const struct wf_subnet_port *peer = wf_subnet_peer(subnet, port);
	const struct wf_subnet_node *node = &subnet->nodes[port->node];
	const struct wf_subnet_node *other;
	bool own;

	if (peer == NULL)
		return;
	other = &subnet->nodes[peer->node];
	own = other->kind == WF_SUBNET_SWITCH;
	put(sink, "[%u]", wf_subnet_number(subnet, port));
	if (node->kind != WF_SUBNET_SWITCH)
		put(sink, "(%" PRIx64 ") ", port->guid);
	put(sink, "\t\"%c-%016" PRIx64 "\"[%u]", kinds[other->kind].letter, other->guid,
	    port->peer_port);
	if (!own)
		put(sink, "(%" PRIx64 ") ", peer->guid);
	put(sink, "\t\t# ");
	if (node->kind != WF_SUBNET_SWITCH)
		put(sink, "lid %u lmc %u ", port->lid, port->lmc);
	put(sink, "\"%s\" lid %u", other->desc,
	    own ? wf_subnet_port(subnet, peer->node, 0)->lid : peer->lid);
	put_rate(sink, port);
}

static void put_node(const struct wf_subnet *subnet, const struct wf_sink *sink, uint32_t id)
{
	const struct wf_subnet_node *node = &subnet->nodes[id];
	const struct wf_subnet_port *zero = wf_subnet_port(subnet, id, 0);
	const struct kind *kind = &kinds[node->kind];

	put(sink, "\nvendid=0x%" PRIx32 "\ndevid=0x%x\n", node->vendor, node->device);
	if (node->system != 0)
		put(sink, "sysimgguid=0x%" PRIx64 "\n", node->system);
	put(sink, "%s=0x%" PRIx64, kind->guid, node->guid);
	if (node->kind == WF_SUBNET_SWITCH)
		put(sink, "(%" PRIx64 ")", zero->guid);
	put(sink, "\n%s\t%u \"%c-%016" PRIx64 "\"\t\t# \"%s\"", kind->head, node->n_ports,
	    kind->letter, node->guid, node->desc);
	if (node->kind == WF_SUBNET_SWITCH)
		put(sink, " %s port 0 lid %u lmc %u", node->enhanced ? "enhanced" : "base",
		    zero->lid, zero->lmc);
	put(sink, "\n");
	for (unsigned i = 1; i <= node->n_ports; i++)
		put_port(subnet, sink, wf_subnet_port(subnet, id, i));
}

void wf_subnet_write(const struct wf_subnet *subnet, const struct wf_sink *sink)
{
	static const uint8_t order[] = { WF_SUBNET_SWITCH, WF_SUBNET_ADAPTER, WF_SUBNET_ROUTER };

	put(sink, "#\n# Topology file: written by weft\n#\n");
	for (size_t k = 0; k < WF_ARRAY_SIZE(order); k++) {
		for (uint32_t id = 0; id < subnet->n_nodes; id++) {
			if (subnet->nodes[id].kind == order[k])
				put_node(subnet, sink, id);
		}
	}
}

/* ---- tables ---- */

static const char *const type_names[] = {
	[WF_SUBNET_ADAPTER] = "Channel Adapter",
	[WF_SUBNET_SWITCH] = "Switch",
	[WF_SUBNET_ROUTER] = "Router",
};

int wf_tables_write(const struct wf_subnet *subnet, const struct wf_tables *tables,
                    const struct wf_sink *sink)
{
	struct wf_sm_net net;
	int ret = wf_sm_net_init(&net, subnet);

	if (ret != 0)
		return ret;
	for (uint32_t i = 0; i < net.n; i++) {
		uint32_t sw = net.order[i], id = subnet->switches[sw];
		const struct wf_subnet_node *node = &subnet->nodes[id];

		put(sink,
		    "Unicast lids [0-%" PRIu32 "] of switch Lid %u guid 0x%016" PRIx64 " ('%s'):\n",
		    tables->n_lids - 1, wf_subnet_port(subnet, id, 0)->lid, node->guid, node->desc);
		for (unsigned lid = 1; lid < tables->n_lids; lid++) {
			uint8_t port = wf_tables_port(tables, sw, lid);
			uint32_t at = wf_subnet_by_lid(subnet, lid);
			const struct wf_subnet_node *other;

			if (port == WF_LFT_NONE)
				continue;
			put(sink, "0x%04x %03u # ", lid, port);
			if (at == WF_SUBNET_NONE) {
				put(sink, "unknown node and type\n");
				continue;
			}
			other = &subnet->nodes[subnet->ports[at].node];
			put(sink, "%s portguid 0x%016" PRIx64 ": '%s'\n", type_names[other->kind],
			    subnet->ports[at].guid, other->desc);
		}
		put(sink, "%" PRIu32 " lids dumped\n", tables->n_lids - 1);
	}
	wf_sm_net_fini(&net);
	return 0;
}
