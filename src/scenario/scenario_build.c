/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_build.c - from a scenario's values to its networks, flows and faults.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "scenario/scenario.h"
#include "sim/prog/tcp.h"
#include "text/suggest.h"

#define DOMAIN_TRAFFIC 0x74726166u /* of random numbers: "traf" */

/* ---- topology ---- */

static int build_from_file(struct wf_scenario *s, const struct wf_topo_ops *ops,
                           struct wf_scenario_net *net, struct wf_err *err)
{
	const char *path = s->topo_file;
	struct wf_err why = { "" };
	int rc = ops->build(&net->cfg, s->topo_text, s->topo_len, path, wf_mem_heap(), &net->topo,
	                    &why);

	if (rc != -EINVAL)
		return rc;
	if (strncmp(why.text, path, strlen(path)) == 0 || strncmp(why.text, "...", 3) == 0)
		return wf_err_say(err, "%s", why.text);
	return wf_settings_err(&s->topo_settings, &s->topo_place, &why, err);
}

/* Whether it is for the ports of a switch that a network cannot be, as its builder says. */
static bool is_of_radix(const struct wf_err *why)
{
	static const char radix[] = "topology.radix:";

	return strncmp(why->text, radix, strlen(radix)) == 0 ||
	       strstr(why->text, "a larger radix") != NULL;
}

static int build_net(struct wf_scenario *s, const struct wf_scenario_fabric *f,
                     struct wf_scenario_net *net, struct wf_err *err)
{
	const struct wf_topo_ops *ops = wf_topo_find(net->cfg.kind);
	struct wf_err why = { "" };
	int rc;

	if (ops == NULL)
		return wf_place_err(&s->topo_place, err, "kind: there is no topology '%s'",
		                    net->cfg.kind);
	if (ops->reads_file)
		return build_from_file(s, ops, net, err);
	rc = ops->build(&net->cfg, NULL, 0, s->file, wf_mem_heap(), &net->topo, &why);
	if (rc != -EINVAL)
		return rc;
	if (s->topo_cfg.radix == WF_PARAM_AUTO && net->cfg.radix != 0 && is_of_radix(&why)) {
		struct wf_err named = { "" };

		(void)wf_err_say(&named, "%.400s (%s: switch.ports %u)", why.text, f->label,
		                 f->cfg.switch_ports);
		why = named;
	}
	return wf_settings_err(&s->topo_settings, &s->topo_place, &why, err);
}

/* Ports of a switch of a fabric's network; 0: the fewest that do. */
static uint64_t radix_of(const struct wf_scenario *s, const struct wf_scenario_fabric *f)
{
	const struct wf_topo_ops *ops = wf_topo_find(s->topo_cfg.kind);

	if (s->topo_cfg.radix != WF_PARAM_AUTO)
		return s->topo_cfg.radix;
	/* What one switch is to be has no limit, and what a file says has all. */
	if (strcmp(s->topo_cfg.kind, "single") == 0 || (ops != NULL && ops->reads_file))
		return 0;
	return f->cfg.switch_ports;
}

/* The network that a fabric has: one of those there are, or a new one. */
static int find_net(struct wf_scenario *s, struct wf_scenario_fabric *f, struct wf_err *err)
{
	uint64_t radix = radix_of(s, f);
	struct wf_scenario_net *net;

	for (unsigned i = 0; i < s->n_nets; i++) {
		f->net = &s->nets[i];
		if (f->net->cfg.radix == radix)
			return 0;
	}
	net = &s->nets[s->n_nets++];
	f->net = net;
	net->cfg = s->topo_cfg;
	net->cfg.radix = radix;
	return build_net(s, f, net, err);
}

/* The slowest host's links together. */
static uint64_t slowest_host(const struct wf_topo *topo, uint64_t rate)
{
	for (uint32_t i = 0; i < topo->n_hosts; i++) {
		const struct wf_topo_node *node = &topo->nodes[topo->host_node[i]];

		uint64_t sum = 0;

		for (uint32_t p = 0; p < node->n_ports; p++)
			sum += topo->links[topo->ports[node->first_port + p].link].rate;
		rate = wf_min_u64(rate, sum);
	}
	return rate;
}

static int build_nets(struct wf_scenario *s, struct wf_err *err)
{
	s->host_rate = UINT64_MAX;
	for (unsigned i = 0; i < s->n_fabrics; i++) {
		int rc = find_net(s, &s->fabrics[i], err);

		if (rc != 0)
			return rc;
		wf_bill_make(&s->fabrics[i]);
		s->host_rate = slowest_host(s->fabrics[i].net->topo, s->host_rate);
	}
	s->n_hosts = s->nets[0].topo->n_hosts;
	return 0;
}

/* The fabrics that have a net: "ib-ndr, ib-ndr-static". */
static void name_fabrics(const struct wf_scenario *s, const struct wf_scenario_net *net, char *text,
                         size_t size)
{
	text[0] = '\0';
	for (unsigned i = 0; i < s->n_fabrics; i++) {
		size_t used = strlen(text);

		if (s->fabrics[i].net == net)
			snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "",
			         s->fabrics[i].label);
	}
}

void wf_scenario_net_text(const struct wf_scenario *s, bool links, char *text, size_t size)
{
	size_t used = 0;

	for (unsigned i = 0; i < s->n_nets && used < size; i++) {
		const struct wf_topo *topo = s->nets[i].topo;
		char fabrics[160];

		used += (size_t)snprintf(text + used, size - used, "%s%u", i == 0 ? "" : " or ",
		                         (unsigned)(topo->n_nodes - topo->n_hosts));
		name_fabrics(s, &s->nets[i], fabrics, sizeof(fabrics));
		if (s->n_nets > 1 && used < size)
			used += (size_t)snprintf(text + used, size - used, " (%s)", fabrics);
	}
	if (used < size)
		used += (size_t)snprintf(text + used, size - used, " switches");
	for (unsigned i = 0; links && i < s->n_nets && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%u", i == 0 ? ", " : " or ",
		                         (unsigned)s->nets[i].topo->n_links);
	if (links && used < size)
		snprintf(text + used, size - used, " links");
}

/* ---- traffic ---- */

static int list_flows(struct wf_scenario *s, struct wf_err *err)
{
	s->flows = (struct wf_flow_list){ .mem = wf_mem_heap() };
	for (unsigned i = 0; i < s->n_traffic; i++) {
		struct wf_scenario_traffic *t = &s->traffic[i];
		uint64_t key = wf_rand_key(s->cfg.seed, DOMAIN_TRAFFIC, i);
		struct wf_err why = { "" };
		int rc;

		rc = wf_traffic_find(t->cfg.kind)
		             ->list(&t->cfg, s->n_hosts, s->host_rate, key, &s->flows, &why);
		if (rc == -EINVAL)
			return wf_settings_err(&t->settings, &t->place, &why, err);
		if (rc != 0)
			return rc;
	}
	return 0;
}

static int count_receivers(struct wf_scenario *s)
{
	struct wf_mem *heap = wf_mem_heap();
	uint8_t *seen = heap->alloc(heap, s->n_hosts);

	if (seen == NULL)
		return -ENOMEM;
	s->receivers = 0;
	for (size_t i = 0; i < s->flows.n; i++) {
		s->receivers += !seen[s->flows.flow[i].dst];
		seen[s->flows.flow[i].dst] = 1;
	}
	heap->free(heap, seen);
	return 0;
}

static bool uses_tcp(const struct wf_scenario *s, const struct wf_scenario_fabric *f)
{
	if (wf_tcp_any(s->flows.flow, s->flows.n) ||
	    (s->job.given && strcmp(f->cfg.nic_stack, "sockets") == 0))
		return true;
	for (unsigned i = 0; i < s->n_storage; i++) {
		if (wf_storage_is_tcp(&s->storage[i].cfg, f->cfg.nic_stack))
			return true;
	}
	return false;
}

/*
 * On InfiniBand a host's ports are not one: what is there for hosts alone has none of them. Returns
 * 0, -EINVAL with why filled, or -ENOMEM.
 */
static int check_addresses(const struct wf_scenario *s, const struct wf_scenario_fabric *f,
                           struct wf_err *why)
{
	for (size_t i = 0; i < s->flows.n; i++) {
		if (s->flows.flow[i].op == WF_FLOW_WINDOW) {
			return wf_err_say(why,
			                  "topology.ports: on InfiniBand a queue pair belongs to a "
			                  "port, and traffic with op window has none; write op: "
			                  "write, send or read");
		}
	}
	if (wf_manage_kind_of(&f->values.manage, WF_MANAGE_IDEAL) != WF_MANAGE_IDEAL)
		return wf_manage_check_topo(f->net->topo, wf_mem_heap(), why);
	return 0;
}

/* Hosts with several ports are not for every fabric, or all traffic. */
static int check_ports(const struct wf_scenario *s, struct wf_err *err)
{
	for (unsigned i = 0; i < s->n_fabrics; i++) {
		const struct wf_scenario_fabric *f = &s->fabrics[i];
		struct wf_err why = { "" };
		int rc = 0;

		if (f->net->topo->host_ports > 1 && uses_tcp(s, f))
			(void)wf_err_say(&why, "topology.ports: the kernel's TCP has one port "
			                       "here; write ports: 1, or leave TCP out");
		else if (f->net->topo->host_ports > 1 &&
		         strcmp(f->cfg.link_layer, "infiniband") == 0)
			rc = check_addresses(s, f, &why);
		if (rc == -ENOMEM)
			return rc;
		if (why.text[0] == '\0' &&
		    wf_fabric_check_ports(&f->cfg, f->net->topo->host_ports, &why) == 0)
			continue;
		if (strncmp(why.text, "topology.", strlen("topology.")) == 0)
			return wf_settings_err(&s->topo_settings, &s->topo_place, &why, err);
		return wf_settings_err(&f->settings, &f->place, &why, err);
	}
	return 0;
}

/* Every fabric is made for the rates of all hosts' links. */
static int check_rates(const struct wf_scenario *s, struct wf_err *err)
{
	for (unsigned f = 0; f < s->n_fabrics; f++) {
		const struct wf_scenario_fabric *fabric = &s->fabrics[f];
		const struct wf_topo *topo = fabric->net->topo;

		for (uint32_t i = 0; i < topo->n_hosts; i++) {
			const struct wf_topo_node *node = &topo->nodes[topo->host_node[i]];
			uint64_t rate = topo->links[topo->ports[node->first_port].link].rate;
			struct wf_err why = { "" };

			if (wf_fabric_check_rate(&fabric->cfg, rate, &why) != 0)
				return wf_settings_err(&fabric->settings, &fabric->place, &why,
				                       err);
		}
	}
	return 0;
}

int wf_scenario_build(struct wf_scenario *scenario, struct wf_err *err)
{
	int rc = build_nets(scenario, err);

	for (unsigned i = 0; rc == 0 && i < scenario->n_fabrics; i++)
		rc = wf_devices_build(scenario, &scenario->fabrics[i], err);
	if (rc == 0)
		rc = check_rates(scenario, err);
	if (rc == 0)
		rc = list_flows(scenario, err);
	if (rc == 0)
		rc = check_ports(scenario, err);
	if (rc == 0)
		rc = count_receivers(scenario);
	if (rc == 0)
		rc = wf_scenario_storage_build(scenario, err);
	for (unsigned i = 0; i < scenario->n_fabrics && rc == 0; i++)
		rc = wf_faults_build(scenario, &scenario->fabrics[i], err);
	return rc;
}

int wf_scenario_reseed(const struct wf_scenario *scenario, uint64_t seed, struct wf_scenario *copy,
                       struct wf_err *err)
{
	int rc;

	*copy = *scenario;
	copy->cfg.seed = seed;
	rc = list_flows(copy, err);
	if (rc == 0)
		rc = count_receivers(copy);
	if (rc != 0)
		wf_flow_list_fini(&copy->flows);
	return rc;
}

void wf_scenario_reseed_fini(struct wf_scenario *copy)
{
	wf_flow_list_fini(&copy->flows);
}
