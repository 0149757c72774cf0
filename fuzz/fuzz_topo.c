/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_topo.c - any bytes as a topology file, for all readers. What is read must close; when it is
 * small its routes and parts are computed too. Memory is limited, so that a few bytes that ask for
 * a million nodes take the path for a lack of memory and not all the fuzzer's time.
 */
#include <errno.h>
#include <stdlib.h>

#include "topo/routes.h"
#include "topo/topo.h"

#define MAX_ALLOC (4u << 20)
#define SMALL 500 /* nodes */

static void *fuzz_alloc(struct wf_mem *mem, size_t size)
{
	(void)mem;
	return size > MAX_ALLOC ? NULL : calloc(1, size);
}

static void fuzz_free(struct wf_mem *mem, void *ptr)
{
	(void)mem;
	free(ptr);
}

static void use(const struct wf_topo *topo, struct wf_mem *mem)
{
	static uint32_t order[SMALL], part[SMALL];
	struct wf_err err = { { 0 } };
	struct wf_routes *routes = NULL;

	if (wf_topo_check(topo, "fuzz", &err) != 0)
		abort();
	if (wf_routes_create(topo, NULL, mem, &routes) != 0)
		abort();
	for (uint32_t i = 0; i < topo->n_nodes; i++) {
		const struct wf_route_switch *rs = &routes->switches[i];

		if (topo->nodes[i].kind == WF_TOPO_HOST)
			continue;
		for (uint32_t leaf = 0; leaf < routes->n_leaves; leaf++) {
			/* The topology closes, so every leaf but one's own has a port. */
			if ((rs->sets[rs->set_of_leaf[leaf]].n == 0) != (rs->leaf == leaf))
				abort();
		}
	}
	if (wf_topo_partition(topo, 3, order, part) != 0)
		abort();
	wf_routes_destroy(routes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const kinds[] = { "hpcc", "htsim", "ibnetdiscover" };
	struct wf_mem mem = { fuzz_alloc, fuzz_free };
	struct wf_topo_cfg cfg;

	if (wf_param_defaults(wf_topo_params, wf_topo_n_params, &cfg, NULL) != 0)
		abort();
	for (size_t i = 0; i < WF_ARRAY_SIZE(kinds); i++) {
		struct wf_err err = { { 0 } };
		struct wf_topo *topo = NULL;
		int ret = wf_topo_find(kinds[i])->build(&cfg, (const char *)data, size, "fuzz",
		                                        &mem, &topo, &err);

		if (ret != 0 && ret != -EINVAL && ret != -ENOMEM)
			abort();
		if ((ret == -EINVAL) != (err.text[0] != '\0'))
			abort();
		if (ret == 0 && topo->n_nodes <= SMALL)
			use(topo, &mem);
		wf_topo_destroy(topo);
	}
	return 0;
}
