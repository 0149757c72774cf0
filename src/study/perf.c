/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf.c - builds the two hosts and what is between them, and runs a simulation for each figure.
 */
#include "study/perf.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "scenario/profile.h"
#include "sim/sim.h"

#define UNTIL (1000 * WF_S) /* of virtual time, for one figure */

/* As many iterations as perftest does, or as carry this many bytes, but not fewer than the last. */
static const struct {
	uint32_t most;
	uint64_t bytes;
	uint32_t least;
} default_iters[] = {
	{ 1000, UINT64_C(32) << 20, 10 },  /* latency */
	{ 5000, UINT64_C(256) << 20, 32 }, /* bandwidth */
};

/* ---- what is asked ---- */

enum wf_perf_op wf_perf_op_find(const char *name)
{
	enum wf_perf_op op = 0;

	while (op < WF_PERF_OPS && strcmp(wf_perf_op_name(op), name) != 0)
		op++;
	return op;
}

uint32_t wf_perf_default_iters(uint64_t size, bool bandwidth)
{
	uint64_t n = default_iters[bandwidth].bytes / size;

	n = wf_max_u64(n, default_iters[bandwidth].least);
	return (uint32_t)wf_min_u64(n, default_iters[bandwidth].most);
}

/* A size from *text on, which is moved behind it. */
static int parse_size(const char **text, uint64_t *size_p, struct wf_err *err)
{
	static const char units[] = "KMG";
	const char *start = *text;
	char *end;
	uint64_t v;

	errno = 0;
	v = isdigit((unsigned char)*start) ? strtoull(start, &end, 10) : 0;
	if (v != 0 && errno == 0) {
		const char *unit =
			*end != '\0' ? strchr(units, toupper((unsigned char)*end)) : NULL;
		unsigned shift = unit != NULL ? 10 * (unsigned)(unit - units + 1) : 0;

		*text = end + (unit != NULL);
		if (v <= WF_MSG_MAX >> shift) {
			*size_p = v << shift;
			return 0;
		}
	}
	return wf_err_say(err,
	                  "'%.40s' is no size; write 1 to 1G bytes, e.g. 2, 64, 4K or 8M, a list "
	                  "2,64,4K or a range 2..8M",
	                  start);
}

static int add_size(struct wf_perf_plan *plan, uint64_t size, struct wf_err *err)
{
	if (plan->n_sizes == WF_PERF_MAX_SIZES)
		return wf_err_say(err, "more than %d sizes are too many", WF_PERF_MAX_SIZES);
	plan->sizes[plan->n_sizes++] = size;
	return 0;
}

int wf_perf_sizes_parse(const char *text, struct wf_perf_plan *plan, struct wf_err *err)
{
	plan->n_sizes = 0;
	for (;;) {
		uint64_t first = 0, last;
		int rc = parse_size(&text, &first, err);

		last = first;
		if (rc == 0 && strncmp(text, "..", 2) == 0) {
			text += 2;
			rc = parse_size(&text, &last, err);
			if (rc == 0 && last < first)
				return wf_err_say(err,
				                  "the range ends at %" PRIu64
				                  ", before it begins at %" PRIu64,
				                  last, first);
		}
		for (uint64_t size = first; rc == 0 && size <= last; size *= 2)
			rc = add_size(plan, size, err);
		if (rc != 0)
			return rc;
		if (*text == '\0')
			return 0;
		if (*text++ != ',')
			return wf_err_say(err,
			                  "'%.40s' is not expected after a size; write a "
			                  "list 2,64,4K or a range 2..8M",
			                  text - 1);
	}
}

/* ---- what is between the hosts ---- */

struct builder {
	const struct wf_perf_plan *plan;
	struct wf_arena arena;
	struct wf_topo_cfg topo_cfg;
	struct wf_settings topo_settings;
	struct wf_topo *topo;
	struct wf_err *err;
};

/* Sets the overrides whose names begin with prefix. */
static int override(const struct builder *b, const char *prefix, struct wf_settings *settings)
{
	size_t len = strlen(prefix);

	for (size_t i = 0; i < b->plan->n_overrides; i++) {
		const struct wf_override *o = &b->plan->overrides[i];
		const struct wf_place place = { .file = o->where };
		int rc = 0;

		if (strncmp(o->name, "fabric.", 7) != 0 && strncmp(o->name, "topology.", 9) != 0)
			return wf_place_err(&place, b->err,
			                    "unknown parameter; it begins with "
			                    "fabric. or topology.");
		if (strncmp(o->name, prefix, len) == 0)
			rc = wf_settings_set(settings, o->name + len, o->value, &place, b->err);
		if (rc != 0)
			return rc;
	}
	return 0;
}

/* As few hosts as have the first and the last one as far apart as the topology allows. */
static int set_hosts(struct builder *b)
{
	static const struct {
		const char *kind;
		uint32_t hosts;
	} sizes[] = {
		{ "single", 2 },
		{ "leaf-spine", 4 },
		{ "fat-tree", 16 },
	};

	for (size_t i = 0; i < WF_ARRAY_SIZE(sizes); i++) {
		if (strcmp(sizes[i].kind, b->plan->topology) == 0) {
			b->topo_cfg.hosts = sizes[i].hosts;
			return 0;
		}
	}
	return wf_err_say(b->err,
	                  "--topology: there is no '%.40s' here; there are single, leaf-spine "
	                  "and fat-tree",
	                  b->plan->topology);
}

static int build_topology(struct builder *b)
{
	const struct wf_place place = { .file = "--topology" };
	struct wf_err why = { "" };
	int rc = wf_settings_init(&b->topo_settings, "topology", wf_topo_params, wf_topo_n_params,
	                          &b->topo_cfg, &b->arena, b->err);

	if (rc == 0)
		rc = set_hosts(b);
	if (rc == 0)
		rc = wf_settings_set(&b->topo_settings, "kind", b->plan->topology, &place, b->err);
	if (rc == 0)
		rc = override(b, "topology.", &b->topo_settings);
	if (rc != 0)
		return rc;
	if (wf_topo_find(b->topo_cfg.kind)->reads_file)
		return wf_err_say(b->err,
		                  "topology.kind: %s is read from a file, which weft perf "
		                  "does not do; there are single, leaf-spine and fat-tree",
		                  b->topo_cfg.kind);
	rc = wf_topo_find(b->topo_cfg.kind)
	             ->build(&b->topo_cfg, NULL, 0, "weft perf", wf_mem_heap(), &b->topo, &why);
	if (rc != -EINVAL)
		return rc;
	return wf_settings_err(&b->topo_settings, &place, &why, b->err);
}

/* Switches on a shortest path between two nodes, searched in breadth. Returns 0 or -ENOMEM. */
static int count_switches(const struct wf_topo *topo, uint32_t from, uint32_t to, unsigned *n_p)
{
	struct wf_mem *mem = wf_mem_heap();
	uint32_t *queue = mem->alloc(mem, topo->n_nodes * sizeof(*queue));
	uint32_t *steps = mem->alloc(mem, topo->n_nodes * sizeof(*steps)); /* 0: not seen */
	uint32_t head = 0, tail = 0;
	int rc = queue == NULL || steps == NULL ? -ENOMEM : 0;

	if (rc == 0) {
		queue[head++] = from;
		steps[from] = 1;
	}
	while (rc == 0 && tail != head && steps[to] == 0) {
		const struct wf_topo_node *node = &topo->nodes[queue[tail]];

		for (uint32_t p = 0; p < node->n_ports; p++) {
			uint32_t peer = topo->ports[node->first_port + p].peer;

			if (steps[peer] != 0)
				continue;
			steps[peer] = steps[queue[tail]] + 1;
			queue[head++] = peer;
		}
		tail++;
	}
	/* The nodes on the way, less the two hosts. */
	if (rc == 0)
		*n_p = steps[to] - 2;
	mem->free(mem, queue);
	mem->free(mem, steps);
	return rc;
}

/* ---- measuring ---- */

int wf_perf_one(const struct wf_topo *topo, const struct wf_fabric_cfg *fabric, uint64_t seed,
                const struct wf_perf_cfg *cfg, struct wf_perf_row *row, struct wf_err *err)
{
	struct wf_sim_app app;
	const struct wf_sim_cfg sim_cfg = {
		.topo = topo,
		.fabric = fabric,
		.cc = cfg->cc,
		.app = &app,
		.until = UNTIL,
		.seed = seed,
		.threads = 1,
	};
	struct wf_perf *perf = NULL;
	struct wf_sim *sim = NULL;
	int rc;

	if (strcmp(fabric->nic_stack, "sockets") == 0)
		return wf_err_say(err, "nic.stack: this measures RDMA, and messages go over "
		                       "sockets there; take tcp-400g, or write rdma");
	rc = wf_perf_create(cfg, &perf, err);
	if (rc != 0)
		return rc;
	wf_perf_app(perf, &app);
	rc = wf_sim_create(&sim_cfg, &sim, err);
	if (rc == 0)
		rc = wf_sim_run(sim, NULL, NULL);
	if (rc == 0)
		rc = cfg->bandwidth ? wf_perf_bandwidth(perf, &row->bandwidth, err)
		                    : wf_perf_latency(perf, &row->latency, err);
	wf_sim_destroy(sim);
	wf_perf_destroy(perf);
	return rc;
}

static int measure_row(const struct builder *b, const struct wf_perf_block *block,
                       struct wf_perf_row *row, struct wf_err *err)
{
	const struct wf_perf_plan *plan = b->plan;
	struct wf_perf_cfg cfg = {
		.op = plan->op,
		.both_ways = plan->both_ways,
		.client = 0,
		.server = b->topo->n_hosts - 1,
		.size = (uint32_t)row->size,
		.qps = plan->qps,
		.depth = plan->depth,
		.cls = (uint8_t)plan->cls,
		.cc = &block->values.cc,
	};
	int rc = 0;

	for (int bandwidth = 0; bandwidth < 2 && rc == 0; bandwidth++) {
		if (!(bandwidth ? plan->bandwidth : plan->latency))
			continue;
		cfg.bandwidth = bandwidth != 0;
		cfg.iters = plan->iters != 0 ? plan->iters
		                             : wf_perf_default_iters(row->size, bandwidth != 0);
		rc = wf_perf_one(b->topo, &block->cfg, plan->seed, &cfg, row, err);
	}
	return rc;
}

/* Reads the profile called name and puts the overrides over it. */
static int read_fabric(struct builder *b, const char *name, struct wf_perf_block *block,
                       struct wf_settings *settings)
{
	const struct wf_place place = { .file = "--fabric" };
	const struct wf_param *rows;
	struct wf_err why = { "" };
	size_t n;
	int rc = wf_fabric_table(&b->arena, &rows, &n);

	if (rc == 0)
		rc = wf_settings_init(settings, "fabric", rows, n, &block->values, &b->arena,
		                      b->err);
	if (rc == 0)
		rc = wf_profile_apply(b->plan->paths, WF_PROFILE_FABRIC, name, "", &place, NULL,
		                      &b->arena, settings, b->err);
	if (rc == 0)
		rc = override(b, "fabric.", settings);
	if (rc == 0 && wf_fabric_check(&block->cfg, &why) != 0)
		rc = wf_settings_err(settings, &place, &why, b->err);
	if (rc == 0 && b->plan->cls > 7 && strcmp(block->cfg.link_layer, "ethernet") == 0)
		rc = wf_err_say(b->err, "--class: Ethernet (%s) has no priority %u; write 0 to 7",
		                name, b->plan->cls);
	return rc;
}

static uint64_t client_rate(const struct builder *b)
{
	const struct wf_topo_node *client = &b->topo->nodes[b->topo->host_node[0]];

	return b->topo->links[b->topo->ports[client->first_port].link].rate;
}

static int measure_fabric(struct builder *b, const char *name, struct wf_perf_block *block)
{
	const struct wf_place place = { .file = "--fabric" };
	struct wf_settings settings;
	struct wf_err why = { "" };
	int rc = read_fabric(b, name, block, &settings);

	if (rc == 0 && wf_fabric_check_rate(&block->cfg, client_rate(b), &why) != 0)
		rc = wf_settings_err(&settings, &place, &why, b->err);
	snprintf(block->label, sizeof(block->label), "%s", name);
	for (unsigned i = 0; rc == 0 && i < b->plan->n_sizes; i++) {
		block->row[i].size = b->plan->sizes[i];
		if (b->plan->progress != NULL)
			b->plan->progress(b->plan->arg, block->label, i);
		rc = measure_row(b, block, &block->row[i], &why);
		if (rc == -EINVAL)
			return wf_settings_err(&settings, &place, &why, b->err);
		if (rc == -EIO)
			(void)wf_err_say(b->err, "%s, %" PRIu64 " bytes: %s", block->label,
			                 block->row[i].size, why.text);
	}
	return rc;
}

static int measure_fabrics(struct builder *b, struct wf_perf_report *report)
{
	const char *at = b->plan->fabrics;
	int rc = 0;

	while (rc == 0) {
		size_t len = strcspn(at, ",");
		char *name = wf_arena_strdup(&b->arena, at, len);

		if (name == NULL)
			return -ENOMEM;
		if (len >= sizeof(report->block[0].label))
			return wf_err_say(b->err, "--fabric: the name '%.40s...' is too long",
			                  name);
		if (report->n == WF_PERF_MAX_FABRICS)
			return wf_err_say(b->err, "--fabric: more than %d fabrics are too many",
			                  WF_PERF_MAX_FABRICS);
		rc = measure_fabric(b, name, &report->block[report->n++]);
		if (at[len] == '\0')
			break;
		at += len + 1;
	}
	return rc;
}

int wf_perf_measure(const struct wf_perf_plan *plan, struct wf_perf_report *report,
                    struct wf_err *err)
{
	struct builder b = { .plan = plan, .err = err };
	int rc;

	memset(report, 0, sizeof(*report));
	report->plan = plan;
	wf_arena_init(&b.arena);
	rc = build_topology(&b);
	if (rc == 0 && b.topo->n_hosts < 2)
		rc = wf_err_say(err, "topology.hosts: two hosts are needed; it has %u",
		                b.topo->n_hosts);
	if (rc == 0) {
		const struct wf_topo_node *client = &b.topo->nodes[b.topo->host_node[0]];

		report->rate = b.topo->links[b.topo->ports[client->first_port].link].rate;
		rc = count_switches(b.topo, b.topo->host_node[0],
		                    b.topo->host_node[b.topo->n_hosts - 1], &report->switches);
	}
	if (rc == 0)
		rc = measure_fabrics(&b, report);
	wf_topo_destroy(b.topo);
	wf_arena_fini(&b.arena);
	return rc;
}
