/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcap_ports.c - reads the list of ports to capture.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/pcap_priv.h"
#include "text/suggest.h"

#define OPTION "--pcap-port"

static int unknown_node(const struct wf_topo *topo, const char *name, struct wf_err *err)
{
	struct wf_suggest suggest;

	wf_suggest_init(&suggest, name);
	for (uint32_t i = 0; i < topo->n_nodes; i++)
		wf_suggest_offer(&suggest, topo->nodes[i].name);
	return wf_err_say(err, OPTION ": the topology has no node '%s'%s", name,
	                  wf_suggest_text(&suggest, "the nodes are"));
}

/* Marks the ports that one item of the list means; wanted is by number of the port. */
static int mark_item(const struct wf_topo *topo, char *item, bool *wanted, struct wf_err *err)
{
	char *colon = strchr(item, ':');
	const struct wf_topo_node *node;
	unsigned long port = 0;
	uint32_t id;

	if (colon != NULL)
		*colon = '\0';
	id = wf_topo_node_by_name(topo, item);
	if (id == WF_TOPO_NONE)
		return unknown_node(topo, item, err);
	node = &topo->nodes[id];
	if (colon == NULL) {
		memset(wanted + node->first_port, true, node->n_ports);
		return 0;
	}
	if (colon[1] >= '0' && colon[1] <= '9') {
		char *end;

		errno = 0;
		port = strtoul(colon + 1, &end, 10);
		if (errno == 0 && *end == '\0' && port < node->n_ports) {
			wanted[node->first_port + port] = true;
			return 0;
		}
	}
	return wf_err_say(err, OPTION ": %s has no port '%.20s'; it has 0 to %u", node->name,
	                  colon + 1, node->n_ports - 1);
}

static int mark_list(const struct wf_topo *topo, const char *text, bool *wanted, struct wf_err *err)
{
	while (true) {
		size_t len = strcspn(text, ",");
		char item[WF_TOPO_NAME + 24];
		int ret;

		if (len == 0 || len >= sizeof(item))
			return wf_err_say(err,
			                  OPTION ": write NODE or NODE:PORT, with commas between, "
			                         "e.g. leaf0:3,h5");
		memcpy(item, text, len);
		item[len] = '\0';
		ret = mark_item(topo, item, wanted, err);
		if (ret != 0)
			return ret;
		if (text[len] == '\0')
			return 0;
		text += len + 1;
	}
}

static void mark_hosts(const struct wf_topo *topo, bool *wanted)
{
	for (uint32_t i = 0; i < topo->n_hosts; i++)
		memset(wanted + topo->nodes[topo->host_node[i]].first_port, true, topo->host_ports);
}

static void list_ports(const struct wf_topo *topo, const bool *wanted, struct wf_pcap_port *out)
{
	for (uint32_t id = 0; id < topo->n_nodes; id++) {
		const struct wf_topo_node *node = &topo->nodes[id];

		for (uint32_t p = 0; p < node->n_ports; p++) {
			if (!wanted[node->first_port + p])
				continue;
			out->node = id;
			out->port = (uint16_t)p;
			if (node->kind == WF_TOPO_HOST && node->n_ports == 1)
				snprintf(out->name, sizeof(out->name), "%s", node->name);
			else
				snprintf(out->name, sizeof(out->name), "%s:%u", node->name, p);
			out++;
		}
	}
}

int wf_pcap_parse_ports(const struct wf_topo *topo, const char *text, struct wf_pcap_port **ports_p,
                        size_t *n_p, struct wf_err *err)
{
	bool *wanted = calloc(topo->n_ports, sizeof(*wanted));
	struct wf_pcap_port *ports;
	size_t n = 0;
	int ret = 0;

	if (wanted == NULL)
		return -ENOMEM;
	if (text != NULL)
		ret = mark_list(topo, text, wanted, err);
	else
		mark_hosts(topo, wanted);
	for (uint32_t i = 0; i < topo->n_ports; i++)
		n += wanted[i];
	ports = ret == 0 ? calloc(n + 1, sizeof(*ports)) : NULL;
	if (ports != NULL) {
		list_ports(topo, wanted, ports);
		*ports_p = ports;
		*n_p = n;
	} else if (ret == 0) {
		ret = -ENOMEM;
	}
	free(wanted);
	return ret;
}
