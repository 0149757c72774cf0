/* SPDX-License-Identifier: Apache-2.0 */
/* config.c - the table of sm and sm.*, and what it comes to. */
#include "sim/mgmt/config.h"

#include <errno.h>
#include <string.h>

#include "sim/mgmt/managed.h"
#include "topo/topo.h"

#define FIELD(f) WF_PARAM_FIELD(struct wf_manage_cfg, f)

const char *const wf_manage_kinds[] = { "auto", "ideal", "weft", "none", NULL };

static const char *const starts[] = { "up", "cold", NULL };

static const struct wf_param own_rows[] = {
	{ .name = "sm",
	  .kind = WF_PARAM_NAME,
	  FIELD(kind),
	  .names = wf_manage_kinds,
	  .def = "auto",
	  .help = "InfiniBand's subnet manager: ideal (routes are there, and follow a lost link "
	          "after run.reconverge), weft (weft's own, by management packets), none (in a "
	          "live fabric OpenSM may come), auto (ideal in simulations, weft in live "
	          "fabrics)" },
	{ .name = "sm.hosts",
	  .kind = WF_PARAM_TEXT,
	  FIELD(hosts),
	  .def = "",
	  .help = "sm weft: hosts with a manager, separated by commas; the first is master; none: "
	          "the fabric's first host" },
	{ .name = "sm.start",
	  .kind = WF_PARAM_NAME,
	  FIELD(start),
	  .names = starts,
	  .def = "up",
	  .help = "sm weft: the subnet is up when the run begins, or cold: the first sweep is a "
	          "part of "
	          "it" },
	{ .name = "sm.partitions",
	  .kind = WF_PARAM_TEXT,
	  FIELD(partitions),
	  .def = "",
	  .help = "sm weft: file with partitions, as OpenSM's partitions.conf; none: all hosts are "
	          "in "
	          "the default one" },
	{ .name = "sm.switch_time",
	  .kind = WF_PARAM_TIME,
	  FIELD(switch_time),
	  .max = WF_S,
	  .def = "20us",
	  .help = "time that a switch's agent takes for a management packet" },
	{ .name = "sm.host_time",
	  .kind = WF_PARAM_TIME,
	  FIELD(host_time),
	  .max = WF_S,
	  .def = "20us",
	  .help = "time that an adapter's agent takes for a management packet" },
	{ .name = "sm.time",
	  .kind = WF_PARAM_TIME,
	  FIELD(manager_time),
	  .max = WF_S,
	  .def = "5us",
	  .help = "time that the manager takes for a management packet" },
};

static char *append(char *to, const char *text)
{
	while (*text != '\0')
		*to++ = *text++;
	return to;
}

int wf_manage_rows(struct wf_mem *mem, size_t base, struct wf_param **rows_p, size_t *n_p)
{
	size_t own = WF_ARRAY_SIZE(own_rows), n = own + wf_sm_n_params;
	struct wf_param *rows = mem->alloc(mem, n * sizeof(*rows));

	if (rows == NULL)
		return -ENOMEM;
	memcpy(rows, own_rows, sizeof(own_rows));
	memcpy(rows + own, wf_sm_params, wf_sm_n_params * sizeof(*rows));
	for (size_t i = 0; i < n; i++) {
		rows[i].offset += base;
		if (i < own)
			continue;
		rows[i].offset += offsetof(struct wf_manage_cfg, sm);
		rows[i].name = mem->alloc(mem, strlen(wf_sm_params[i - own].name) + sizeof("sm."));
		if (rows[i].name == NULL)
			return -ENOMEM;
		/* What is allocated is zeroed, and so the text ends. */
		append(append((char *)(uintptr_t)rows[i].name, "sm."), wf_sm_params[i - own].name);
	}
	*rows_p = rows;
	*n_p = n;
	return 0;
}

enum wf_manage_kind wf_manage_kind_of(const struct wf_manage_cfg *cfg,
                                      enum wf_manage_kind by_itself)
{
	enum wf_manage_kind kind = WF_MANAGE_AUTO;

	while (strcmp(wf_manage_kinds[kind], cfg->kind) != 0)
		kind++;
	return kind == WF_MANAGE_AUTO ? by_itself : kind;
}

/* Notes the switches that are reached from those of queue[0 ... n), once each. */
static void find_switches(const struct wf_topo *topo, uint32_t *queue, uint32_t n, uint8_t *found)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct wf_topo_node *node = &topo->nodes[queue[i]];

		for (uint32_t p = 0; p < node->n_ports; p++) {
			uint32_t peer = topo->ports[node->first_port + p].peer;

			if (found[peer] || topo->nodes[peer].kind != WF_TOPO_SWITCH)
				continue;
			found[peer] = 1;
			queue[n++] = peer;
		}
	}
}

int wf_manage_check_topo(const struct wf_topo *topo, struct wf_mem *mem, struct wf_err *err)
{
	uint32_t *queue = mem->alloc(mem, topo->n_nodes * sizeof(*queue));
	uint8_t *found = mem->alloc(mem, topo->n_nodes);
	int ret = queue == NULL || found == NULL ? -ENOMEM : 0;

	for (uint32_t h = 0; h < topo->n_hosts && topo->host_ports > 1 && ret == 0; h++) {
		const struct wf_topo_node *node = &topo->nodes[topo->host_node[h]];

		for (uint32_t p = 0; p < node->n_ports && ret == 0; p++) {
			uint32_t peer = topo->ports[node->first_port + p].peer;

			if (h == 0 && p == 0) {
				found[peer] = 1;
				queue[0] = peer;
				find_switches(topo, queue, 1, found);
			}
			if (!found[peer])
				ret = wf_err_say(err,
				                 "topology.homing: port %u of %s is in a subnet of "
				                 "its own, and a subnet manager has one; write "
				                 "homing: same or pair, or sm: ideal",
				                 p + 1, node->name);
		}
	}
	mem->free(mem, queue);
	mem->free(mem, found);
	return ret;
}

/* The hosts that are named. */
static int find_hosts(const struct wf_manage_cfg *cfg, const struct wf_topo *topo,
                      struct wf_managed_cfg *managed, struct wf_err *err)
{
	const char *at = cfg->hosts;

	while (*at != '\0') {
		size_t len = strcspn(at, ",");
		char name[WF_TOPO_NAME] = "";
		uint32_t node = WF_TOPO_NONE;

		if (len < sizeof(name)) {
			memcpy(name, at, len);
			node = wf_topo_node_by_name(topo, name);
		}
		if (node == WF_TOPO_NONE || topo->nodes[node].kind != WF_TOPO_HOST)
			return wf_err_say(err,
			                  "sm.hosts: there is no host \"%.*s\"; write names of "
			                  "hosts, as h0, with commas between",
			                  (int)len, at);
		if (managed->n_managers == WF_MANAGERS)
			return wf_err_say(err, "sm.hosts: there may be %d managers at the most",
			                  WF_MANAGERS);
		managed->manager[managed->n_managers++] = topo->nodes[node].host;
		at += len + (at[len] == ',');
	}
	/* The first host, where none is named. */
	managed->n_managers = managed->n_managers == 0 ? 1 : managed->n_managers;
	return 0;
}

int wf_manage_resolve(const struct wf_manage_cfg *cfg, enum wf_manage_kind kind,
                      const struct wf_topo *topo, struct wf_managed_cfg *managed,
                      struct wf_err *err)
{
	*managed = (struct wf_managed_cfg){
		.sm = &cfg->sm,
		.switch_time = cfg->switch_time,
		.host_time = cfg->host_time,
		.manager_time = cfg->manager_time,
		.cold = strcmp(cfg->start, "cold") == 0,
	};
	assert(kind == WF_MANAGE_WEFT || kind == WF_MANAGE_NONE);
	return kind == WF_MANAGE_WEFT ? find_hosts(cfg, topo, managed, err) : 0;
}
