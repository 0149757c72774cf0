/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_fabric.c - CPU time per packet-hop of a permutation on a three-tier fat tree.
 *
 *	bench_fabric HOSTS LINK_LAYER [THREADS [BYTES [ROUTING [OP]]]]
 *
 * LINK_LAYER is credit, pfc or none, each with everything on: shared buffer, ECN, ECMP unless
 * another ROUTING is named; OP is window, write, send or read. Prints one line: hosts, layer,
 * threads, hops, CPU and wall seconds of the run, nanoseconds of CPU per hop, seconds to build,
 * bytes per host, and the time of a yardstick (a fixed piece of integer work) in the same run, to
 * compare machines by.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "sim/sim.h"

#define YARDSTICK_ROUNDS 20000000

static double seconds(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void die(const char *what, const struct wf_err *err)
{
	fprintf(stderr, "bench_fabric: %s %s\n", what, err->text);
	exit(1);
}

static void set(const struct wf_param *table, size_t n, void *config, const char *name,
                const char *value)
{
	const struct wf_param *row = wf_param_find(table, n, name);
	struct wf_err err = { "" };

	if (row == NULL || wf_param_set(row, config, value, &err) != 0)
		die(name, &err);
}

static void set_fabric(struct wf_fabric_cfg *cfg, const char *layer, const char *routing)
{
	static const char *const credit[][2] = {
		{ "link_layer", "infiniband" },
		{ "flowctl", "credit" },
		{ "header", "ib" },
		{ "link.gap", "0B" },
	};
	static const char *const ether[][2] = {
		{ "link_layer", "ethernet" },       { "header", "rocev2" },
		{ "classes.lossless", "3" },        { "classes.ecn", "3" },
		{ "classes.weights", "0:50,3:50" }, { "classes.strict", "6" },
	};
	bool ib = strcmp(layer, "credit") == 0;
	struct wf_err err = { "" };

	if (wf_param_defaults(wf_fabric_params, wf_fabric_n_params, cfg, &err) != 0)
		die("defaults", &err);
	for (size_t i = 0; ib && i < WF_ARRAY_SIZE(credit); i++)
		set(wf_fabric_params, wf_fabric_n_params, cfg, credit[i][0], credit[i][1]);
	for (size_t i = 0; !ib && i < WF_ARRAY_SIZE(ether); i++)
		set(wf_fabric_params, wf_fabric_n_params, cfg, ether[i][0], ether[i][1]);
	set(wf_fabric_params, wf_fabric_n_params, cfg, "flowctl", layer);
	set(wf_fabric_params, wf_fabric_n_params, cfg, "routing", routing);
}

static struct wf_topo *make_topo(const char *hosts)
{
	struct wf_topo_cfg cfg;
	struct wf_topo *topo;
	struct wf_err err = { "" };

	if (wf_param_defaults(wf_topo_params, wf_topo_n_params, &cfg, &err) != 0)
		die("topology", &err);
	set(wf_topo_params, wf_topo_n_params, &cfg, "kind", "fat-tree");
	set(wf_topo_params, wf_topo_n_params, &cfg, "hosts", hosts);
	if (wf_topo_find("fat-tree")->build(&cfg, NULL, 0, "bench", wf_mem_heap(), &topo, &err) !=
	    0)
		die("fat tree", &err);
	return topo;
}

static void make_flows(struct wf_flow_list *list, uint32_t n_hosts, const char *bytes,
                       const char *op)
{
	struct wf_traffic_cfg cfg;
	struct wf_err err = { "" };

	if (wf_param_defaults(wf_traffic_params, wf_traffic_n_params, &cfg, &err) != 0)
		die("traffic", &err);
	set(wf_traffic_params, wf_traffic_n_params, &cfg, "kind", "permutation");
	set(wf_traffic_params, wf_traffic_n_params, &cfg, "size", bytes);
	set(wf_traffic_params, wf_traffic_n_params, &cfg, "class", "3");
	set(wf_traffic_params, wf_traffic_n_params, &cfg, "op", op);
	list->mem = wf_mem_heap();
	if (wf_traffic_find("permutation")
	            ->list(&cfg, n_hosts, UINT64_C(400000000000), wf_rand_key(1, 0, 0), list,
	                   &err) != 0)
		die("permutation", &err);
}

/* CPU seconds of a fixed piece of work that misses no cache. */
static double yardstick(void)
{
	double start = seconds(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t x = 1;

	for (int i = 0; i < YARDSTICK_ROUNDS; i++)
		x = wf_mix64(x + (uint64_t)i);
	/* The result is used, so that the work is done. */
	if (x == 0)
		puts("");
	return seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
}

int main(int argc, char **argv)
{
	static struct wf_sim_result r;
	struct wf_flow_list list = { 0 };
	struct wf_fabric_cfg fabric;
	struct wf_err err = { "" };
	struct wf_topo *topo;
	struct wf_sim *sim;
	double start, built, cpu, wall;

	if (argc < 3) {
		fprintf(stderr, "usage: bench_fabric HOSTS credit|pfc|none [THREADS [BYTES "
		                "[ROUTING [OP]]]]\n");
		return 2;
	}
	start = seconds(CLOCK_PROCESS_CPUTIME_ID);
	set_fabric(&fabric, argv[2], argc > 5 ? argv[5] : "ecmp");
	topo = make_topo(argv[1]);
	make_flows(&list, topo->n_hosts, argc > 4 ? argv[4] : "256KB",
	           argc > 6 ? argv[6] : "window");
	if (wf_sim_create(
		    &(struct wf_sim_cfg){ .topo = topo,
	                                  .fabric = &fabric,
	                                  .flows = list.flow,
	                                  .n_flows = list.n,
	                                  .until = WF_S,
	                                  .seed = 1,
	                                  .threads = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10)
	                                                      : 1 },
		    &sim, &err) != 0)
		die("simulation", &err);
	built = seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	wall = seconds(CLOCK_MONOTONIC);
	if (wf_sim_run(sim, NULL, NULL) != 0)
		die("run", &err);
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	wall = seconds(CLOCK_MONOTONIC) - wall;
	wf_sim_result(sim, &r);
	printf("hosts %u layer %s threads %s hops %" PRIu64
	       " cpu %.3f wall %.3f ns/hop %.1f build %.3f "
	       "bytes/host %zu windows %" PRIu64 " inside %" PRIu64 " resent %" PRIu64
	       " done %" PRIu64 " drops %" PRIu64 " end_us %.1f yardstick %.3f\n",
	       topo->n_hosts, argv[2], argc > 3 ? argv[3] : "1", r.hops, cpu, wall,
	       cpu * 1e9 / (double)r.hops, built, r.memory / topo->n_hosts, r.windows,
	       r.packets_inside, r.resent, r.flows_done, r.packets_dropped, (double)r.end * 1e-6,
	       yardstick());
	wf_sim_destroy(sim);
	wf_flow_list_fini(&list);
	wf_topo_destroy(topo);
	return 0;
}
