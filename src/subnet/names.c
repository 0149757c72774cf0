/* SPDX-License-Identifier: Apache-2.0 */
/* names.c - names of nodes and ports in messages. */
#include "subnet/names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/sort.h"

static int by_desc(const void *a, const void *b, const void *arg)
{
	const struct wf_subnet *subnet = arg;

	return strcmp(subnet->nodes[*(const uint32_t *)a].desc,
	              subnet->nodes[*(const uint32_t *)b].desc);
}

int wf_subnet_names_init(struct wf_subnet_names *names, const struct wf_subnet *subnet)
{
	struct wf_mem *mem = subnet->mem;
	size_t n = (size_t)subnet->n_nodes + 1;
	uint32_t *room = mem->alloc(mem, n * sizeof(*room));

	*names = (struct wf_subnet_names){ .subnet = subnet };
	names->order = mem->alloc(mem, n * sizeof(*names->order));
	names->twin = mem->alloc(mem, n);
	if (room == NULL || names->order == NULL || names->twin == NULL) {
		mem->free(mem, room);
		wf_subnet_names_fini(names);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < subnet->n_nodes; i++)
		names->order[i] = i;
	wf_sort(names->order, room, subnet->n_nodes, sizeof(*room), by_desc, subnet);
	mem->free(mem, room);
	for (uint32_t i = 1; i < subnet->n_nodes; i++) {
		if (by_desc(&names->order[i - 1], &names->order[i], subnet) == 0) {
			names->twin[names->order[i - 1]] = 1;
			names->twin[names->order[i]] = 1;
		}
	}
	return 0;
}

void wf_subnet_names_fini(struct wf_subnet_names *names)
{
	struct wf_mem *mem = names->subnet->mem;

	mem->free(mem, names->twin);
	mem->free(mem, names->order);
}

const char *wf_subnet_name(const struct wf_subnet_names *names, uint32_t id,
                           char buf[WF_SUBNET_NAME])
{
	const struct wf_subnet_node *node = &names->subnet->nodes[id];

	if (node->desc[0] == '\0')
		(void)snprintf(buf, WF_SUBNET_NAME, "0x%" PRIx64, node->guid);
	else if (names->twin[id])
		(void)snprintf(buf, WF_SUBNET_NAME, "%s 0x%" PRIx64, node->desc, node->guid);
	else
		(void)snprintf(buf, WF_SUBNET_NAME, "%s", node->desc);
	return buf;
}

const char *wf_subnet_port_name(const struct wf_subnet_names *names, uint32_t port,
                                char buf[WF_SUBNET_NAME])
{
	const struct wf_subnet_port *p = &names->subnet->ports[port];
	size_t n;

	(void)wf_subnet_name(names, p->node, buf);
	n = strlen(buf);
	(void)snprintf(buf + n, WF_SUBNET_NAME - n, "[%u]", wf_subnet_number(names->subnet, p));
	return buf;
}
