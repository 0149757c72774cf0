/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of fabric/sharp.c: who gets which trees, over which roots they are spread, what is
 * given back when a communicator does not get all of its own; and what cannot have any.
 */
#include "fabric/sharp.h"

#include <string.h>

#include "topo/topo_test.h"

static struct wf_topo *build(const char *kind, const char *text)
{
	struct wf_topo_cfg cfg = test_cfg(text);
	struct wf_topo *topo = NULL;
	struct wf_err err = { "" };

	if (wf_topo_find(kind)->build(&cfg, NULL, 0, "t", wf_mem_heap(), &topo, &err) != 0)
		fail_msg("%s", err.text);
	return topo;
}

/* The defaults with some of sharp.*, "name=value name=value". */
static void set(struct wf_fabric_cfg *cfg, const char *text)
{
	char copy[200], *save = NULL;
	struct wf_err err = { "" };

	assert_int_equal(wf_param_defaults(wf_fabric_params, wf_fabric_n_params, cfg, &err), 0);
	snprintf(cfg->flowctl, sizeof(cfg->flowctl), "credit");
	snprintf(cfg->link_layer, sizeof(cfg->link_layer), "infiniband");
	snprintf(cfg->header, sizeof(cfg->header), "ib");
	snprintf(copy, sizeof(copy), "sharp.enabled=true %s", text);
	for (char *w = strtok_r(copy, " ", &save); w != NULL; w = strtok_r(NULL, " ", &save)) {
		char *value = strchr(w, '=');
		const struct wf_param *row;

		*value++ = '\0';
		row = wf_param_find(wf_fabric_params, wf_fabric_n_params, w);
		assert_non_null(row);
		assert_int_equal(wf_param_set(row, cfg, value, &err), 0);
	}
}

static struct wf_sharp *make(const struct wf_topo *topo, const char *text)
{
	struct wf_fabric_cfg cfg;
	struct wf_sharp *s;
	struct wf_err err = { "" };

	set(&cfg, text);
	assert_int_equal(wf_sharp_create(topo, &cfg, wf_mem_heap(), &s, &err), 0);
	return s;
}

/* n hosts, step apart, in groups as many; what the communicator is told. */
static enum wf_sharp_no join(struct wf_sharp *s, uint32_t first, uint32_t step, uint32_t n,
                             uint32_t groups, uint32_t *number_p)
{
	uint32_t hosts[256];
	enum wf_sharp_no no = WF_SHARP_NOS;

	for (uint32_t g = 0; g < groups; g++) {
		for (uint32_t i = 0; i < n; i++)
			hosts[g * n + i] = first + g + i * step;
	}
	assert_int_equal(wf_sharp_join(s, hosts, n, groups, number_p, &no), 0);
	return no;
}

/* Roots take turns, so that eight rails' trees are over eight spines. */
static void test_roots(void **state)
{
	struct wf_topo *topo = build("leaf-spine", "hosts=128 radix=16");
	struct wf_sharp *s = make(topo, "");
	uint32_t number, spines = 0;
	bool used[512] = { false };

	(void)state;
	assert_int_equal(join(s, 0, 8, 16, 8, &number), WF_SHARP_YES);
	assert_int_equal(number, 0);
	assert_int_equal(s->n_groups, 8);
	for (uint32_t g = 0; g < 8; g++) {
		for (unsigned k = 0; k < WF_SHARP_KINDS; k++) {
			const struct wf_reduce_tree *t = s->group[g].tree[k];

			for (uint32_t i = 0; i < t->n_nodes; i++) {
				if (t->nodes[i].parent == WF_TOPO_NONE)
					used[t->nodes[i].id] = true;
			}
		}
	}
	for (uint32_t i = 0; i < 512; i++)
		spines += used[i];
	assert_int_equal(spines, s->n_roots < 8 ? s->n_roots : 8);
	wf_sharp_destroy(s);
	wf_topo_destroy(topo);
}

/* Quantum-2: a port is in one streaming tree. Quantum: a switch is. */
static void test_streams(void **state)
{
	struct wf_topo *topo = build("leaf-spine", "hosts=64 radix=32");
	struct wf_sharp *s = make(topo, "");
	uint32_t number;

	(void)state;
	assert_int_equal(join(s, 0, 2, 32, 1, &number), WF_SHARP_YES);
	assert_int_equal(join(s, 1, 2, 32, 1, &number), WF_SHARP_YES);
	assert_int_equal(number, 1);
	assert_int_equal(join(s, 5, 32, 2, 1, &number), WF_SHARP_STREAMS);
	assert_int_equal(s->n_groups, 2);
	assert_int_equal(s->no[WF_SHARP_YES], 2);
	assert_int_equal(s->no[WF_SHARP_STREAMS], 1);
	wf_sharp_destroy(s);

	s = make(topo, "sharp.generation=quantum");
	/* Below leaf 0, below leaf 1; then leaf 0 is taken, and with it every way out of it. */
	assert_int_equal(join(s, 0, 1, 8, 1, &number), WF_SHARP_YES);
	assert_int_equal(join(s, 16, 1, 8, 1, &number), WF_SHARP_YES);
	assert_int_equal(join(s, 8, 1, 8, 1, &number), WF_SHARP_STREAMS);
	assert_int_equal(join(s, 15, 17, 2, 1, &number), WF_SHARP_STREAMS);
	/* Leaves 2 and 3 over a spine: all that is left but a spine. */
	assert_int_equal(join(s, 32, 16, 2, 1, &number), WF_SHARP_YES);
	wf_sharp_destroy(s);

	/* Whoever streams nothing has no such tree, and none is refused one. */
	for (int i = 0; i < 2; i++) {
		s = make(topo, i == 0 ? "sharp.generation=switch-ib-2" : "sharp.streaming=auto");
		for (uint32_t n = 0; n < 20; n++)
			assert_int_equal(join(s, 0, 1, 64, 1, &number), WF_SHARP_YES);
		assert_null(s->group[19].tree[WF_SHARP_STREAM]);
		assert_int_equal(wf_sharp_kind_of(s, &s->group[0], 1 << 30), WF_SHARP_LOW);
		wf_sharp_destroy(s);
	}
	wf_topo_destroy(topo);
}

/* Ways up are fewer than hosts: when they are all taken, hosts that are free find no tree. */
static void test_ways_up(void **state)
{
	struct wf_topo *topo = build("leaf-spine", "hosts=48 radix=32 blocking=3");
	uint32_t leaf = wf_topo_node_by_name(topo, "leaf0"), hosts = 0, ways, number, n = 0;
	struct wf_sharp *s = make(topo, "");

	(void)state;
	for (uint32_t i = 0; i < topo->nodes[leaf].n_ports; i++)
		hosts += topo->nodes[topo->ports[topo->nodes[leaf].first_port + i].peer].kind ==
		         WF_TOPO_HOST;
	ways = topo->nodes[leaf].n_ports - hosts;
	assert_true(ways >= 2 && ways < hosts);
	while (n < hosts && join(s, n, hosts, 2, 1, &number) == WF_SHARP_YES)
		n++;
	assert_int_equal(n, ways);
	/* Below the leaf alone nobody needs them. */
	assert_int_equal(join(s, n, 1, hosts - n, 1, &number), WF_SHARP_YES);
	wf_sharp_destroy(s);
	wf_topo_destroy(topo);
}

/* A communicator whose last group finds nothing gives back what the others had. */
static void test_all_or_none(void **state)
{
	struct wf_topo *topo = build("leaf-spine", "hosts=64 radix=32");
	struct wf_sharp *s = make(topo, "sharp.trees=3");
	uint32_t number;

	(void)state;
	/* Four rails want four streaming trees; three want three. */
	assert_int_equal(join(s, 0, 4, 16, 4, &number), WF_SHARP_STREAMS);
	assert_int_equal(s->n_groups, 0);
	for (uint32_t i = 0; i < topo->n_ports; i++)
		assert_false(s->busy[i]);
	for (uint32_t t = 0; t < 3; t++) {
		assert_false(s->taken[t]);
		for (uint32_t i = 0; s->low_use[t] != NULL && i < topo->n_nodes; i++)
			assert_int_equal(s->low_use[t][i], 0);
	}
	assert_int_equal(join(s, 0, 4, 16, 3, &number), WF_SHARP_YES);
	assert_int_equal(number, 0);
	assert_int_equal(join(s, 3, 4, 16, 1, &number), WF_SHARP_STREAMS);
	wf_sharp_destroy(s);
	wf_topo_destroy(topo);
}

/* Low-latency trees: five to a tree in a switch; adapters: as many as are let. */
static void test_low(void **state)
{
	struct wf_topo *topo = build("leaf-spine", "hosts=64 radix=32");
	struct wf_sharp *s = make(topo, "sharp.streaming=auto sharp.trees=2");
	uint32_t number;

	(void)state;
	for (uint32_t n = 0; n < 10; n++)
		assert_int_equal(join(s, 0, 1, 64, 1, &number), WF_SHARP_YES);
	assert_int_equal(join(s, 0, 1, 64, 1, &number), WF_SHARP_TREES);
	assert_int_equal(join(s, 0, 1, 2, 1, &number), WF_SHARP_TREES);
	wf_sharp_destroy(s);

	s = make(topo, "sharp.streaming=auto sharp.jobs=2");
	assert_int_equal(join(s, 0, 1, 32, 1, &number), WF_SHARP_YES);
	assert_int_equal(join(s, 0, 1, 64, 1, &number), WF_SHARP_YES);
	assert_int_equal(join(s, 31, 1, 2, 1, &number), WF_SHARP_ADAPTER);
	assert_int_equal(join(s, 32, 1, 32, 1, &number), WF_SHARP_YES);
	wf_sharp_destroy(s);
	wf_topo_destroy(topo);
}

/* What a fabric must be. */
static void test_check(void **state)
{
	static const struct {
		const char *set, *want; /* want: how the message begins; NULL: it may be so */
	} rows[] = {
		{ "", NULL },
		{ "flowctl=pfc", "sharp.enabled:" },
		{ "flowctl=pfc sharp.enabled=false", NULL },
		{ "link.loss=1e-6", "link.loss:" },
		{ "link.ber=1e-15", "link.ber:" },
		{ "link.raw_ber=1e-9", "link.raw_ber:" },
		{ "link.burst_ber=1e-9", "link.burst_ber:" },
		{ "link.ber=1e-15 link.retry=llr", NULL },
		{ "link.ber=1e-15 sharp.enabled=false", NULL },
		{ "mtu=1024B sharp.payload=2KiB", "sharp.payload:" },
		{ "mtu=1024B", NULL },
		{ "port.mtu=2048B mtu=4096B", "port.mtu:" },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++) {
		struct wf_fabric_cfg cfg;
		struct wf_err err = { "" };
		int ret;

		set(&cfg, rows[i].set);
		ret = wf_sharp_check(&cfg, &err);
		assert_int_equal(ret, rows[i].want == NULL ? 0 : -EINVAL);
		if (rows[i].want != NULL)
			assert_memory_equal(err.text, rows[i].want, strlen(rows[i].want));
	}
}

/* A topology's own links may lose packets as well. */
static void test_lossy_topology(void **state)
{
	struct wf_topo *topo = build("leaf-spine", "hosts=64 radix=32");
	struct wf_fabric_cfg cfg;
	struct wf_err err = { "" };
	struct wf_sharp *s;

	(void)state;
	topo->links[70].loss = 1;
	set(&cfg, "");
	assert_int_equal(wf_sharp_create(topo, &cfg, wf_mem_heap(), &s, &err), -EINVAL);
	assert_non_null(strstr(err.text, "spine"));
	set(&cfg, "link.retry=llr");
	assert_int_equal(wf_sharp_create(topo, &cfg, wf_mem_heap(), &s, &err), 0);
	wf_sharp_destroy(s);
	wf_topo_destroy(topo);
}

static void test_memory(void **state)
{
	struct wf_topo *topo = build("leaf-spine", "hosts=64 radix=32");
	struct wf_fabric_cfg cfg;
	int ret = -ENOMEM;

	(void)state;
	set(&cfg, "");
	for (long fail_at = 0; ret == -ENOMEM; fail_at++) {
		struct test_mem mem = test_mem_make(fail_at);
		struct wf_sharp *s = NULL;
		struct wf_err err = { "" };
		enum wf_sharp_no no;
		uint32_t hosts[64], number;

		for (uint32_t i = 0; i < 64; i++)
			hosts[i] = i;
		ret = wf_sharp_create(topo, &cfg, &mem.mem, &s, &err);
		for (unsigned i = 0; i < 2 && ret == 0; i++)
			ret = wf_sharp_join(s, hosts, 4, 16, &number, &no);
		wf_sharp_destroy(s);
		assert_int_equal(mem.live, 0);
		assert_true(ret == 0 || ret == -ENOMEM);
	}
	wf_topo_destroy(topo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_roots),
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_all_or_none),
		cmocka_unit_test(test_ways_up),
		cmocka_unit_test(test_low),
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_lossy_topology),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
