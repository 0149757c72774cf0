/* SPDX-License-Identifier: Apache-2.0 */
/* subnet_test.h - subnets for the tests of subnet, made by code. */
#ifndef WF_TESTS_SUBNET_TEST_H
#define WF_TESTS_SUBNET_TEST_H

#include "check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "mem_fail.h"
#include "subnet/lanes.h"
#include "subnet/route.h"
#include "subnet/subnet.h"

/*
 * GUIDs whose order in OpenSM's tables, which compare the last byte first, is that of n: the number
 * is in the last byte, its multiples of 256 in the one before it.
 */
static inline uint64_t test_guid(uint64_t n)
{
	return UINT64_C(0xa000000000000000) | (n & 0xff) << 8 | (n >> 8 & 0xff);
}

static inline uint32_t test_node(struct wf_subnet *s, uint8_t kind, unsigned ports, uint64_t guid)
{
	struct wf_subnet_node like = { .kind = kind, .n_ports = (uint8_t)ports, .guid = guid };
	uint32_t id = WF_SUBNET_NONE;

	snprintf(like.desc, sizeof(like.desc), "%c%u", kind == WF_SUBNET_SWITCH ? 's' : 'h',
	         s->n_nodes);
	assert_int_equal(wf_subnet_add(s, &like, &id), 0);
	for (unsigned i = 1; kind != WF_SUBNET_SWITCH && i <= ports; i++)
		assert_int_equal(wf_subnet_set_guid(s, id, i, guid + ((uint64_t)i << 32)), 0);
	return id;
}

static inline unsigned test_free_port(const struct wf_subnet *s, uint32_t id)
{
	unsigned i = 1;

	while (wf_subnet_port(s, id, i)->peer != WF_SUBNET_NONE)
		i++;
	return i;
}

/* Connects the lowest free ports of two nodes. */
static inline void test_link(struct wf_subnet *s, uint32_t a, uint32_t b)
{
	unsigned p = test_free_port(s, a);

	wf_subnet_join(s, a, p, b, test_free_port(s, b));
	for (unsigned i = 0; i < 2; i++) {
		struct wf_subnet_port *port = wf_subnet_port(s, a, p);

		port = i == 0 ? port : wf_subnet_peer(s, port);
		port->width = 4;
		port->speed = WF_SUBNET_EDR;
	}
}

static inline struct wf_subnet *test_empty(struct wf_mem *mem)
{
	struct wf_subnet *s = NULL;

	assert_int_equal(wf_subnet_create(mem, &s), 0);
	return s;
}

static inline void test_lids(struct wf_subnet *s, unsigned lmc)
{
	assert_int_equal(wf_subnet_assign_lids(s, lmc, WF_SUBNET_NONE), 0);
}

/* n switches in a circle, hosts at each: switches are nodes 0 to n - 1. */
static inline struct wf_subnet *test_ring(unsigned n, unsigned hosts)
{
	struct wf_subnet *s = test_empty(wf_mem_heap());

	for (unsigned i = 0; i < n; i++)
		(void)test_node(s, WF_SUBNET_SWITCH, hosts + 2, test_guid(i));
	for (unsigned i = 0; i < n; i++) {
		for (unsigned k = 0; k < hosts; k++)
			test_link(s, i,
			          test_node(s, WF_SUBNET_ADAPTER, 1, test_guid(1000 + s->n_nodes)));
	}
	for (unsigned i = 0; i < n; i++)
		test_link(s, i, (i + 1) % n);
	test_lids(s, 0);
	return s;
}

/* Leaves (nodes 0 to leaves - 1) with hosts, each with links to each of the spines. */
static inline struct wf_subnet *test_tree(unsigned leaves, unsigned hosts, unsigned spines,
                                          unsigned links, unsigned lmc)
{
	struct wf_subnet *s = test_empty(wf_mem_heap());

	for (unsigned i = 0; i < leaves + spines; i++)
		(void)test_node(s, WF_SUBNET_SWITCH,
		                i < leaves ? hosts + spines * links + 1 : leaves * links,
		                test_guid(i));
	for (unsigned i = 0; i < leaves; i++) {
		for (unsigned k = 0; k < hosts; k++)
			test_link(s, i,
			          test_node(s, WF_SUBNET_ADAPTER, 1, test_guid(1000 + s->n_nodes)));
	}
	for (unsigned i = 0; i < leaves; i++) {
		for (unsigned k = 0; k < spines * links; k++)
			test_link(s, i, leaves + k / links);
	}
	test_lids(s, lmc);
	return s;
}

/* n by n switches, a torus, one host each. */
static inline struct wf_subnet *test_torus(unsigned n)
{
	struct wf_subnet *s = test_empty(wf_mem_heap());

	for (unsigned i = 0; i < n * n; i++)
		(void)test_node(s, WF_SUBNET_SWITCH, 5, test_guid(i));
	for (unsigned i = 0; i < n * n; i++)
		test_link(s, i, test_node(s, WF_SUBNET_ADAPTER, 1, test_guid(1000 + i)));
	for (unsigned i = 0; i < n * n; i++) {
		test_link(s, i, i / n * n + (i + 1) % n);
		test_link(s, i, (i + n) % (n * n));
	}
	test_lids(s, 0);
	return s;
}

/* Tables by an engine, which has to be able to. */
static inline struct wf_tables *test_route(const struct wf_subnet *s, const char *engine,
                                           const struct wf_sm_route_cfg *cfg)
{
	static const struct wf_sm_route_cfg none;
	struct wf_tables *tables = NULL;
	struct wf_err err = { "" };

	if (wf_sm_route(s, wf_sm_route_find(engine), cfg != NULL ? cfg : &none, true, &tables,
	                &err) != 0)
		fail_msg("%s: %s", engine, err.text);
	assert_string_equal(tables->engine, engine);
	return tables;
}

/* Whether any lane of tables has a circle. */
static inline bool test_has_circle(const struct wf_subnet *s, const struct wf_tables *tables)
{
	struct wf_sm_net net;
	struct wf_cdg cdg;
	uint32_t *circle;
	bool found = false;

	assert_int_equal(wf_sm_net_init(&net, s), 0);
	assert_int_equal(wf_cdg_init(&cdg, &net, tables), 0);
	circle = calloc((size_t)net.first[net.n] + 1, sizeof(*circle));
	assert_non_null(circle);
	for (uint8_t lane = 0; lane < WF_SM_MAX_VLS; lane++) {
		(void)wf_cdg_count(&cdg, tables->sl, lane);
		found |= wf_cdg_circle(&cdg, circle) != 0;
	}
	free(circle);
	wf_cdg_fini(&cdg);
	wf_sm_net_fini(&net);
	return found;
}

#endif
