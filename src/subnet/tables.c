/* SPDX-License-Identifier: Apache-2.0 */
/* tables.c - forwarding tables, and making them by an engine. */
#include "subnet/tables.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "subnet/route_priv.h"

#define OPS(name) &wf_sm_route_##name,
#define NAME(name) #name,

static const struct wf_sm_route_ops *const all_routes[] = { WF_SM_ROUTES(OPS) NULL };

const char *const wf_sm_route_names[] = { WF_SM_ROUTES(NAME) NULL };

int wf_tables_create(const struct wf_subnet *subnet, struct wf_tables **tables_p)
{
	struct wf_mem *mem = subnet->mem;
	struct wf_tables *tables = mem->alloc(mem, sizeof(*tables));
	size_t cells;

	if (tables == NULL)
		return -ENOMEM;
	tables->mem = mem;
	tables->n_switches = subnet->n_switches;
	tables->n_lids = (uint32_t)subnet->top_lid + 1;
	tables->n_vls = 1;
	tables->engine = "";
	cells = (size_t)tables->n_switches * tables->n_lids;
	tables->lft = mem->alloc(mem, cells + 1);
	if (tables->lft == NULL) {
		mem->free(mem, tables);
		return -ENOMEM;
	}
	memset(tables->lft, WF_LFT_NONE, cells);
	*tables_p = tables;
	return 0;
}

void wf_tables_destroy(struct wf_tables *tables)
{
	if (tables == NULL)
		return;
	tables->mem->free(tables->mem, tables->rank);
	tables->mem->free(tables->mem, tables->sl);
	tables->mem->free(tables->mem, tables->lft);
	tables->mem->free(tables->mem, tables);
}

int wf_tables_want_sl(struct wf_tables *tables)
{
	size_t cells = (size_t)tables->n_switches * tables->n_lids;

	if (tables->sl == NULL)
		tables->sl = tables->mem->alloc(tables->mem, cells + 1);
	return tables->sl == NULL ? -ENOMEM : 0;
}

const struct wf_sm_route_ops *const *wf_sm_route_all(void)
{
	return all_routes;
}

const struct wf_sm_route_ops *wf_sm_route_find(const char *name)
{
	for (size_t i = 0; all_routes[i] != NULL; i++) {
		if (strcmp(all_routes[i]->name, name) == 0)
			return all_routes[i];
	}
	return NULL;
}

static int try_engine(const struct wf_subnet *subnet, const struct wf_sm_route_ops *ops,
                      const struct wf_sm_route_cfg *cfg, struct wf_tables **tables_p,
                      struct wf_err *err)
{
	struct wf_tables *tables;
	int ret = wf_tables_create(subnet, &tables);

	if (ret != 0)
		return ret;
	tables->engine = ops->name;
	tables->no_credit_loop = ops->no_credit_loop;
	ret = ops->route(subnet, cfg, tables, err);
	if (ret != 0)
		wf_tables_destroy(tables);
	else
		*tables_p = tables;
	return ret;
}

int wf_sm_route(const struct wf_subnet *subnet, const struct wf_sm_route_ops *ops,
                const struct wf_sm_route_cfg *cfg, bool strict, struct wf_tables **tables_p,
                struct wf_err *err)
{
	struct wf_err why = { "" };
	int ret = try_engine(subnet, ops, cfg, tables_p, strict ? err : &why);

	if (ret != -EINVAL || strict || ops == &wf_sm_route_minhop)
		return ret;
	ret = try_engine(subnet, &wf_sm_route_minhop, cfg, tables_p, err);
	if (ret == 0)
		(void)snprintf((*tables_p)->note, sizeof((*tables_p)->note), "%.*s",
		               WF_TABLES_NOTE - 1, why.text);
	return ret;
}
