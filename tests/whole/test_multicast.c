/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios: datagrams to groups, which switches copy by the tables that a manager has set. */
/* ctest: tsan */
#include "managed.h"

#include "fabric/station.h"
#include "sim/prog/mcast.h"
#include "wire/ib.h"

#define GROUP 0xc003
#define MAX_MEMBERS 64

struct cast {
	struct managed t;
	struct wf_mcast_cfg cfg;
	struct wf_mcast *mcast;
	struct wf_sim_app app;
	uint32_t members[MAX_MEMBERS], senders[MAX_MEMBERS];
	uint32_t in_tables[MAX_MEMBERS]; /* members and senders */
	uint32_t n_in_tables;
};

/* Every step-th host from the first is a member. */
static void cast_init(struct cast *c, const char *kind, unsigned hosts, unsigned step)
{
	memset(c, 0, sizeof(*c));
	managed_init(&c->t, kind, hosts);
	c->cfg = (struct wf_mcast_cfg){ .group = GROUP,
		                        .senders = c->senders,
		                        .members = c->members,
		                        .n_senders = 1,
		                        .datagrams = 200,
		                        .size = 2048,
		                        .cls = 1,
		                        .start = 10 * WF_MS };
	for (uint32_t h = 0; h < hosts; h += step)
		c->members[c->cfg.n_members++] = c->in_tables[c->n_in_tables++] = h;
	c->t.r.until = 200 * WF_MS;
}

static void cast_build(struct cast *c, unsigned threads)
{
	if (c->t.r.topo == NULL)
		managed_topo(&c->t);
	assert_int_equal(wf_mcast_create(&c->cfg, c->t.r.topo->n_hosts, &c->mcast), 0);
	wf_mcast_app(c->mcast, &c->app);
	c->t.r.app = &c->app;
	managed_build(&c->t, threads);
	assert_int_equal(
		wf_managed_set_group(c->t.m, c->cfg.group, c->in_tables, c->n_in_tables, 0), 0);
}

static void cast_fini(struct cast *c)
{
	rig_again(&c->t.r);
	wf_mcast_destroy(c->mcast);
	managed_fini(&c->t);
}

/* Each member got each datagram of all senders but itself once, and only those. */
static void check_once(const struct cast *c)
{
	for (uint32_t i = 0; i < c->cfg.n_members; i++) {
		for (uint32_t s = 0; s < c->cfg.n_senders; s++) {
			bool own = c->senders[s] == c->members[i];

			for (uint32_t n = 0; n < c->cfg.datagrams; n++)
				assert_int_equal(wf_mcast_got(c->mcast, i, s, n), !own);
		}
	}
	assert_int_equal(wf_mcast_spoilt(c->mcast), 0);
}

static struct wf_station *station(const struct cast *c, const char *name)
{
	return c->t.r.sim->net.devices[wf_topo_node_by_name(c->t.r.topo, name)]->station;
}

/*
 * On every kind of topology, with contents and without, each member gets one copy. The packets that
 * hosts take in are those of the members, and no more.
 */
static void test_one_copy(void **state)
{
	static const char *const kinds[] = { "single", "leaf-spine", "fat-tree" };
	struct cast c;

	(void)state;
	for (size_t i = 0; i < 2 * WF_ARRAY_SIZE(kinds); i++) {
		uint64_t in = 0;

		cast_init(&c, kinds[i / 2], 32, 3);
		c.cfg.data = i % 2 != 0;
		c.senders[0] = i % 2 != 0 ? 9 : 6; /* both are members */
		cast_build(&c, 1);
		managed_run(&c.t);
		assert_true(c.t.r.result->finished);
		check_once(&c);
		assert_int_equal(c.t.r.result->packets_dropped, 0);
		for (uint32_t h = 0; h < c.t.r.topo->n_hosts; h++)
			in += c.t.r.sim->net.devices[c.t.r.topo->host_node[h]]
			              ->station->port[0]
			              .rx_groups;
		assert_int_equal(in, (c.cfg.n_members - 1) * c.cfg.datagrams);
		assert_int_equal(wf_sim_payload_in_use(c.t.r.sim), 0);
		cast_fini(&c);
	}
}

/*
 * Several senders at full rate, whose sum is more than a port carries, beside other traffic in
 * small buffers: all wait for credits, and nothing is lost.
 */
static void test_overload(void **state)
{
	uint64_t hops = 0;
	wf_time end = 0;
	struct cast c;

	(void)state;
	for (unsigned threads = 1; threads <= 4; threads *= 2) {
		cast_init(&c, "leaf-spine", 16, 1);
		rig_topo(&c.t.r, "radix", "8");
		rig_set(&c.t.r, "vl.buffer", "16KiB");
		c.cfg.n_senders = 5;
		for (uint32_t s = 0; s < 5; s++)
			c.senders[s] = 3 * s;
		c.cfg.size = 4096;
		c.cfg.data = threads == 2;
		cast_build(&c, threads);
		managed_run(&c.t);
		assert_true(c.t.r.result->finished);
		check_once(&c);
		assert_int_equal(c.t.r.result->packets_dropped, 0);
		/* Five times 400 Gb/s for ports of 400: they were stopped. */
		assert_true(c.t.r.result->end >
		            c.cfg.start + 4 * 200 * (wf_time)(4096 * 8) * WF_NS / 400);
		assert_true(hops == 0 || hops == c.t.r.result->hops);
		assert_true(end == 0 || end == c.t.r.result->end);
		hops = c.t.r.result->hops;
		end = c.t.r.result->end;
		cast_fini(&c);
	}
}

/* A member whose host takes nothing holds its switch up; its lifetime lets the others go on. */
static void test_deaf_member(void **state)
{
	struct cast c;

	(void)state;
	for (int life = 0; life <= 1; life++) {
		uint32_t got = 0;

		cast_init(&c, "single", 6, 1);
		c.cfg.every = 200 * WF_NS;
		managed_set(&c.t, "leaf_head_of_queue_lifetime", life ? "1" : "20");
		c.t.r.faults[c.t.r.n_faults++] = (struct wf_sim_fault){
			.at = 10 * WF_MS, .kind = WF_SIM_FAULT_STORM, .on = true, .what = 3
		};
		c.t.r.faults[c.t.r.n_faults++] = (struct wf_sim_fault){ .at = 30 * WF_MS,
			                                                .kind = WF_SIM_FAULT_STORM,
			                                                .what = 3 };
		c.t.r.until = 32 * WF_MS;
		cast_build(&c, 1);
		managed_run(&c.t);
		for (uint32_t n = 0; n < c.cfg.datagrams; n++) {
			assert_int_equal(wf_mcast_got(c.mcast, 1, 0, n), 1);
			assert_int_equal(wf_mcast_got(c.mcast, 5, 0, n), 1);
			got += wf_mcast_got(c.mcast, 3, 0, n);
		}
		/* Copies that were dropped are those that h3 lacks. */
		assert_int_equal(c.t.r.result->packets_dropped, c.cfg.datagrams - got);
		assert_int_equal(got != c.cfg.datagrams, life);
		cast_fini(&c);
	}
}

/* The link by which a switch's row of the group leads to another switch. */
static uint32_t link_up(const struct cast *c, const char *name)
{
	const struct wf_topo *topo = c->t.r.topo;
	const struct wf_topo_node *node = &topo->nodes[wf_topo_node_by_name(topo, name)];
	uint64_t ports[WF_STATION_WORDS];

	station(c, name)->ops->group(station(c, name), GROUP, ports);
	for (unsigned p = 0; p < node->n_ports; p++) {
		const struct wf_topo_port *tp = &topo->ports[node->first_port + p];

		if ((ports[0] >> (p + 1) & 1) != 0 && topo->nodes[tp->peer].kind == WF_TOPO_SWITCH)
			return tp->link;
	}
	fail_msg("%s has no way out", name);
	return WF_TOPO_NONE;
}

/* A link of the tree is lost: the manager makes another, and then all get all again. */
static void test_tree_lost(void **state)
{
	struct cast c;

	(void)state;
	for (int contents = 0; contents <= 1; contents++) {
		uint32_t lost = 0, late = 0, twice = 0;
		wf_time end;

		cast_init(&c, "leaf-spine", 16, 1);
		rig_topo(&c.t.r, "radix", "8");
		c.cfg.data = contents;
		c.cfg.datagrams = 700;
		c.cfg.every = 100 * WF_US;
		c.cfg.start = WF_MS;
		c.senders[0] = 5;
		managed_topo(&c.t);
		cast_build(&c, 1);
		assert_int_equal(wf_sim_run_until(c.t.r.sim, 4 * WF_MS, &end), 0);
		wf_sim_rest(c.t.r.sim, 4 * WF_MS);
		assert_int_equal(
			wf_sim_link_fault(c.t.r.sim, link_up(&c, "leaf0"), true, 4 * WF_MS), 0);
		c.t.r.sim->until = c.t.r.until;
		managed_run(&c.t);
		for (uint32_t i = 0; i < c.cfg.n_members; i++) {
			for (uint32_t n = 0; n < c.cfg.datagrams && i != 5; n++) {
				uint32_t got = wf_mcast_got(c.mcast, i, 0, n);

				lost += got == 0;
				twice += got > 1;
				/* The new tree is there within 40 ms. */
				late += got == 0 && n > 430;
			}
		}
		assert_true(lost > 0);
		assert_int_equal(twice, 0);
		assert_int_equal(late, 0);
		assert_true(c.t.r.result->packets_dropped > 0);
		assert_int_equal(c.t.result.pending, 0);
		cast_fini(&c);
	}
}

/* A switch that has no row drops, and counts it; one with only the port it came by, too. */
static void test_no_row(void **state)
{
	struct cast c;

	(void)state;
	for (int members = 0; members <= 1; members++) {
		cast_init(&c, "single", 4, 1);
		c.cfg.group = GROUP;
		c.n_in_tables = 0;
		c.senders[0] = 2;
		if (members)
			c.in_tables[c.n_in_tables++] = 2;
		c.t.r.until = 13 * WF_MS;
		cast_build(&c, 1);
		managed_run(&c.t);
		assert_int_equal(c.t.r.result->packets_dropped, c.cfg.datagrams);
		assert_true(station(&c, "leaf0")->port[2].relay_errors <= c.cfg.datagrams);
		for (uint32_t n = 0; n < c.cfg.datagrams; n++)
			assert_int_equal(wf_mcast_got(c.mcast, 1, 0, n), 0);
		cast_fini(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_copy),    cmocka_unit_test(test_overload),
		cmocka_unit_test(test_deaf_member), cmocka_unit_test(test_tree_lost),
		cmocka_unit_test(test_no_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
