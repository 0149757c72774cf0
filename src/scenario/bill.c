/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bill.c - counts a network's parts and adds up what they take and cost.
 */
#include "scenario/bill.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "scenario/profile.h"
#include "scenario/scenario.h"

#define GBPS UINT64_C(1000000000)
#define METRE INT64_C(1000)

#define SWITCH(f) WF_PARAM_FIELD(struct wf_switch_part, f)
#define CABLE(f) WF_PARAM_FIELD(struct wf_cable_part, f)
#define DOLLARS .kind = WF_PARAM_U32, .max = 100000000, .def = "0"
#define MILLIWATTS .kind = WF_PARAM_U32, .max = 1000000, .def = "0"

const struct wf_param wf_switch_params[] = {
	{ .name = "watts.low",
	  .kind = WF_PARAM_U32,
	  .max = 1000000,
	  .def = "0",
	  SWITCH(watts_low),
	  .help = "usual traffic, without transceivers, at least; 0 = not known" },
	{ .name = "watts.high",
	  .kind = WF_PARAM_U32,
	  .max = 1000000,
	  .def = "0",
	  SWITCH(watts_high),
	  .help = "the same at most; 0 = not known" },
	{ .name = "price.low",
	  DOLLARS,
	  SWITCH(price_low),
	  .help = "US dollars at least; 0 = not known" },
	{ .name = "price.high",
	  DOLLARS,
	  SWITCH(price_high),
	  .help = "US dollars at most; 0 = not known" },
};

const size_t wf_switch_n_params = WF_ARRAY_SIZE(wf_switch_params);

const struct wf_param wf_cable_params[] = {
	{ .name = "copper.reach",
	  .kind = WF_PARAM_LENGTH,
	  CABLE(copper_reach),
	  .max = 1000 * METRE,
	  .def = "0m",
	  .help = "passive copper goes as far from a switch to a host; what is longer is fibre" },
	{ .name = "copper.switch_reach",
	  .kind = WF_PARAM_LENGTH,
	  CABLE(switch_reach),
	  .max = 1000 * METRE,
	  .def = "0m",
	  .help = "the same between switches" },
	{ .name = "copper.milliwatts", MILLIWATTS, CABLE(copper_mw), .help = "of a copper cable" },
	{ .name = "copper.price.low",
	  DOLLARS,
	  CABLE(copper_low),
	  .help = "US dollars of a copper link at least; 0 = not known" },
	{ .name = "copper.price.high",
	  DOLLARS,
	  CABLE(copper_high),
	  .help = "US dollars of a copper link at most; 0 = not known" },
	{ .name = "fibre.price.low",
	  DOLLARS,
	  CABLE(fibre_low),
	  .help = "US dollars of a fibre link with its transceivers at least; 0 = not known" },
	{ .name = "fibre.price.high",
	  DOLLARS,
	  CABLE(fibre_high),
	  .help = "US dollars of a fibre link with its transceivers at most; 0 = not known" },
	{ .name = "transceiver.host",
	  MILLIWATTS,
	  CABLE(host_mw),
	  .help = "milliwatts of a transceiver in an adapter; 0 = not known" },
	{ .name = "transceiver.switch",
	  MILLIWATTS,
	  CABLE(switch_mw),
	  .help = "milliwatts of a transceiver in a switch; 0 = not known" },
	{ .name = "transceiver.ports",
	  .kind = WF_PARAM_U32,
	  CABLE(switch_ports),
	  .min = 1,
	  .max = 16,
	  .def = "1",
	  .help = "ports of a switch that one transceiver serves" },
};

const size_t wf_cable_n_params = WF_ARRAY_SIZE(wf_cable_params);

/* ---- counting ---- */

static bool is_host(const struct wf_topo *topo, uint32_t node)
{
	return topo->nodes[node].kind == WF_TOPO_HOST;
}

static bool is_host_link(const struct wf_topo *topo, const struct wf_topo_link *l)
{
	return is_host(topo, l->a) || is_host(topo, l->b);
}

/* The length of a cable in a network that was built: what its configuration says, mm. */
static uint64_t length_of(const struct wf_scenario_net *net, const struct wf_topo_link *l)
{
	const struct wf_topo *topo = net->topo;
	const struct wf_topo_node *a = &topo->nodes[l->a], *b = &topo->nodes[l->b];

	if (is_host_link(topo, l))
		return net->cfg.host_cable;
	if (a->tier == 3 || b->tier == 3 || topo->ports[a->first_port + l->a_port].global)
		return net->cfg.core_cable;
	return net->cfg.fabric_cable;
}

static bool is_fibre(const struct wf_scenario_net *net, const struct wf_bill_parts *parts,
                     const struct wf_topo_link *l)
{
	return length_of(net, l) > (is_host_link(net->topo, l) ? parts->host->copper_reach
	                                                       : parts->fabric->switch_reach);
}

/* The transceivers of a switch: those of cables to hosts and of others are not the same ones. */
static uint64_t switch_modules(const struct wf_scenario_net *net, const struct wf_bill_parts *parts,
                               const struct wf_topo_node *sw, uint64_t *mw)
{
	const struct wf_cable_part *part[2] = { parts->fabric, parts->host };
	uint64_t ends[2] = { 0, 0 }, modules = 0;

	for (uint32_t p = 0; p < sw->n_ports; p++) {
		const struct wf_topo_link *l =
			&net->topo->links[net->topo->ports[sw->first_port + p].link];

		if (is_fibre(net, parts, l))
			ends[is_host_link(net->topo, l)]++;
	}
	for (int i = 0; i < 2; i++) {
		uint64_t n = ends[i] == 0 ? 0
		                          : (ends[i] + part[i]->switch_ports - 1) /
		                                    part[i]->switch_ports;

		modules += n;
		*mw += n * part[i]->switch_mw;
	}
	return modules;
}

/* What the sums leave open. */
struct sums {
	struct wf_bill_range mw, dollars;
	bool watts_known, dollars_known;
};

static void add(struct wf_bill_range *sum, bool *known, uint64_t low, uint64_t high)
{
	sum->low += low;
	sum->high += high;
	*known &= high > 0;
}

static void add_cables(const struct wf_scenario_net *net, const struct wf_bill_parts *parts,
                       struct wf_bill *bill, struct sums *sums)
{
	const struct wf_topo *topo = net->topo;
	uint64_t mw = 0;

	for (uint32_t i = 0; i < topo->n_links; i++) {
		const struct wf_topo_link *l = &topo->links[i];
		bool host = is_host_link(topo, l);
		const struct wf_cable_part *part = host ? parts->host : parts->fabric;

		if (!is_fibre(net, parts, l)) {
			bill->copper++;
			add(&sums->dollars, &sums->dollars_known, part->copper_low,
			    part->copper_high);
			add(&sums->mw, &sums->watts_known, part->copper_mw, part->copper_mw);
			continue;
		}
		bill->fibre++;
		add(&sums->dollars, &sums->dollars_known, part->fibre_low, part->fibre_high);
		sums->watts_known &= part->switch_mw > 0 && (!host || part->host_mw > 0);
		bill->transceivers += host;
		mw += host ? part->host_mw : 0;
	}
	for (uint32_t i = 0; i < topo->n_nodes; i++) {
		if (!is_host(topo, i))
			bill->transceivers += switch_modules(net, parts, &topo->nodes[i], &mw);
	}
	sums->mw.low += mw;
	sums->mw.high += mw;
}

static void count(const struct wf_topo *topo, struct wf_bill *bill)
{
	for (uint32_t i = 0; i < topo->n_nodes; i++) {
		const struct wf_topo_node *node = &topo->nodes[i];

		if (node->kind == WF_TOPO_HOST)
			continue;
		bill->switches++;
		bill->ports_used += node->n_ports;
		bill->most_ports =
			node->n_ports > bill->most_ports ? node->n_ports : bill->most_ports;
		bill->tiers = node->tier > bill->tiers ? node->tier : bill->tiers;
	}
	for (uint32_t i = 0; i < topo->n_links; i++) {
		if (is_host_link(topo, &topo->links[i]))
			bill->host_cables++;
		else
			bill->switch_cables++;
	}
}

void wf_bill_count(const struct wf_scenario_net *net, const struct wf_bill_parts *parts,
                   struct wf_bill *bill)
{
	const struct wf_topo_ops *kind = wf_topo_find(net->cfg.kind);
	const struct wf_switch_part *sw = parts->sw;
	struct wf_bill_parts used = *parts;
	struct sums sums = { .watts_known = true, .dollars_known = true };

	memset(bill, 0, sizeof(*bill));
	bill->ports = parts->ports;
	count(net->topo, bill);
	if (bill->switch_cables == 0)
		used.fabric = used.host;
	/* A file has delays, not lengths. */
	bill->media_known =
		kind != NULL && !kind->reads_file && used.host != NULL && used.fabric != NULL;
	/* There is no price for a switch of more ports than it has. */
	if (!bill->media_known || sw == NULL || (bill->ports > 0 && bill->most_ports > bill->ports))
		sums.watts_known = sums.dollars_known = false;
	if (bill->media_known)
		add_cables(net, &used, bill, &sums);
	for (uint32_t i = 0; i < bill->switches && sw != NULL; i++) {
		add(&sums.dollars, &sums.dollars_known, sw->price_low, sw->price_high);
		add(&sums.mw, &sums.watts_known, UINT64_C(1000) * sw->watts_low,
		    UINT64_C(1000) * sw->watts_high);
	}
	if (sums.dollars_known)
		bill->dollars = sums.dollars;
	if (sums.watts_known)
		bill->watts = (struct wf_bill_range){ (sums.mw.low + 500) / 1000,
			                              (sums.mw.high + 500) / 1000 };
}

/* ---- the files of parts ---- */

static int read_switch(struct wf_scenario *s, const struct wf_scenario_fabric *f,
                       const struct wf_paths *paths, struct wf_switch_part *part,
                       struct wf_err *err)
{
	struct wf_place at = wf_settings_place(&f->settings, "switch.model", &f->place);
	struct wf_settings settings;
	int rc = wf_settings_init(&settings, "switch", wf_switch_params, wf_switch_n_params, part,
	                          &s->arena, err);

	return rc != 0 ? rc
	               : wf_profile_apply(paths, WF_PROFILE_SWITCH, f->cfg.switch_model,
	                                  at.line != 0 ? at.file : "", &at, s->inputs, &s->arena,
	                                  &settings, err);
}

/* The cables of a rate; *found says whether there is a file of them. */
static int read_cable(struct wf_scenario *s, uint64_t rate, const struct wf_paths *paths,
                      struct wf_cable_part *part, bool *found, struct wf_err *err)
{
	const char *folder = wf_profile_folder(WF_PROFILE_CABLE);
	const struct wf_place nowhere = { .file = NULL };
	struct wf_settings settings;
	char name[32], path[WF_PATH_MAX];
	int rc;

	snprintf(name, sizeof(name), "%llug", (unsigned long long)(rate / GBPS));
	*found = rate % GBPS == 0 && wf_paths_find(paths, folder, name, ".yaml", path) == 0;
	if (!*found)
		return 0;
	rc = wf_settings_init(&settings, "cable", wf_cable_params, wf_cable_n_params, part,
	                      &s->arena, err);
	return rc != 0 ? rc
	               : wf_profile_apply(paths, WF_PROFILE_CABLE, name, "", &nowhere, s->inputs,
	                                  &s->arena, &settings, err);
}

int wf_bill_read(struct wf_scenario *s, struct wf_scenario_fabric *f, const struct wf_paths *paths,
                 struct wf_err *err)
{
	const struct wf_topo_cfg *cfg = &s->topo_cfg;
	uint64_t fabric_rate =
		cfg->fabric_rate == WF_PARAM_AUTO ? cfg->host_rate : cfg->fabric_rate;
	struct wf_bill_files *parts = &f->parts;
	int rc = 0;

	parts->has_sw = f->cfg.switch_model[0] != '\0';
	if (parts->has_sw)
		rc = read_switch(s, f, paths, &parts->sw, err);
	if (rc == 0)
		rc = read_cable(s, cfg->host_rate, paths, &parts->host, &parts->has_host, err);
	if (rc == 0)
		rc = read_cable(s, fabric_rate, paths, &parts->fabric, &parts->has_fabric, err);
	return rc;
}

void wf_bill_make(struct wf_scenario_fabric *f)
{
	const struct wf_bill_files *files = &f->parts;
	const struct wf_bill_parts parts = {
		.sw = files->has_sw ? &files->sw : NULL,
		.host = files->has_host ? &files->host : NULL,
		.fabric = files->has_fabric ? &files->fabric : NULL,
		.ports = f->cfg.switch_ports,
	};

	wf_bill_count(f->net, &parts, &f->bill);
}
