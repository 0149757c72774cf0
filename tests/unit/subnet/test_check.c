/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of subnet/check.c, check_tables.c and survey.c: each mistake is planted and found. */
#include "subnet/subnet_test.h"

#include "subnet/check.h"
#include "subnet/members.h"
#include "subnet/pm.h"
#include "subnet/survey.h"

#define MAX_STEPS 16

/* What was found: how many of each kind, and the last of them. */
struct found {
	unsigned n[WF_FINDING_N];
	char text[WF_FINDING_N][WF_FINDING_TEXT];
	char first[WF_FINDING_N][WF_FINDING_TEXT];
	struct wf_finding_step steps[WF_FINDING_N][MAX_STEPS];
	uint32_t n_steps[WF_FINDING_N];
};

static void take(void *arg, const struct wf_finding *f)
{
	struct found *all = arg;

	if (all->n[f->id]++ == 0)
		snprintf(all->first[f->id], WF_FINDING_TEXT, "%s", f->text);
	snprintf(all->text[f->id], WF_FINDING_TEXT, "%s", f->text);
	assert_true(f->n_steps <= MAX_STEPS);
	if (f->n_steps > 0)
		memcpy(all->steps[f->id], f->steps, f->n_steps * sizeof(*f->steps));
	all->n_steps[f->id] = f->n_steps;
	assert_true(f->port == WF_SUBNET_NONE || f->node != WF_SUBNET_NONE);
}

static struct found check(const struct wf_subnet *s, const struct wf_tables *tables)
{
	struct found all = { .n = { 0 } };
	const struct wf_check_ear ear = { take, &all };

	assert_int_equal(wf_subnet_check(s, &ear), 0);
	if (tables != NULL)
		assert_int_equal(wf_tables_check(s, tables, &ear), 0);
	return all;
}

/* Only what is planted is found. */
static void check_only(const struct found *all, enum wf_finding_id id, unsigned n, const char *text)
{
	for (unsigned i = 0; i < WF_FINDING_N; i++) {
		unsigned want = i == id ? n : 0;

		if (all->n[i] != want)
			fail_msg("%s: %u times, not %u: %s", wf_finding_rows[i].name, all->n[i],
			         want, all->text[i]);
	}
	if (n != 0 && strcmp(all->text[id], text) != 0)
		fail_msg("'%s', not '%s'", all->text[id], text);
}

static void test_clean(void **state)
{
	static const char *const engines[] = { "minhop", "updn", "ftree", "dfsssp" };
	struct wf_subnet *s = test_tree(4, 4, 2, 2, 0);

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(engines); i++) {
		struct wf_tables *tables = test_route(s, engines[i], NULL);
		struct found all = check(s, tables);

		check_only(&all, 0, 0, "");
		wf_tables_destroy(tables);
	}
	wf_subnet_destroy(s);
}

/* ---- the graph ---- */

static void plant_guid(struct wf_subnet *s)
{
	test_link(s, 0, test_node(s, WF_SUBNET_ADAPTER, 1, s->nodes[6].guid));
	test_lids(s, 0);
}

static void plant_lid(struct wf_subnet *s)
{
	uint16_t lid = wf_subnet_port(s, 6, 1)->lid;

	assert_int_equal(wf_subnet_set_lid(s, 7, 1, lid, 0), -EEXIST);
}

static void plant_no_lid(struct wf_subnet *s)
{
	assert_int_equal(wf_subnet_set_lid(s, 8, 1, 0, 0), 0);
	assert_int_equal(wf_subnet_set_lid(s, 9, 1, 0, 0), 0);
}

static void plant_name(struct wf_subnet *s)
{
	memcpy(s->nodes[4].desc, s->nodes[5].desc, sizeof(s->nodes[4].desc));
	memcpy(s->nodes[8].desc, s->nodes[5].desc, sizeof(s->nodes[8].desc));
}

static void plant_apart(struct wf_subnet *s)
{
	wf_subnet_part(s, 3, 3);
	wf_subnet_part(s, 3, 4);
	wf_subnet_part(s, 3, 5);
	wf_subnet_part(s, 3, 6);
}

static void plant_sided(struct wf_subnet *s)
{
	const struct wf_subnet_doubt doubt = { WF_SUBNET_ONE_SIDED, 7, 0, 6, 1, 1 };

	assert_int_equal(wf_subnet_doubt(s, &doubt), 0);
}

static void plant_against(struct wf_subnet *s)
{
	const struct wf_subnet_doubt doubt = { WF_SUBNET_CONTRADICTED, 7, 0, 10, 2, 1 };

	assert_int_equal(wf_subnet_doubt(s, &doubt), 0);
}

static void plant_uneven(struct wf_subnet *s)
{
	wf_subnet_port(s, 0, 1)->width = 1;
}

static void plant_slow(struct wf_subnet *s)
{
	struct wf_subnet_port *port = wf_subnet_port(s, 0, 3), *peer = wf_subnet_peer(s, port);

	port->width = peer->width = 1;
	port->speed_best = peer->speed_best = WF_SUBNET_EDR;
	port->width_best = peer->width_best = 4;
}

static void plant_slower(struct wf_subnet *s)
{
	struct wf_subnet_port *port = wf_subnet_port(s, 0, 3);

	port->speed = wf_subnet_peer(s, port)->speed = WF_SUBNET_SDR;
}

static void plant_armed(struct wf_subnet *s)
{
	wf_subnet_port(s, 0, 3)->state = WF_SUBNET_ACTIVE;
	wf_subnet_peer(s, wf_subnet_port(s, 0, 3))->state = WF_SUBNET_ARMED;
}

static void plant_errors(struct wf_subnet *s)
{
	assert_int_equal(wf_subnet_want_pm(s), 0);
	s->pm[s->nodes[6].first_port + 1].count[WF_PM_symbol_errors] = 9;
	s->pm[s->nodes[0].first_port + 3].count[WF_PM_symbol_errors] = 65535;
	s->pm[s->nodes[0].first_port + 3].count[WF_PM_rcv_errors] = 2;
	s->pm[s->nodes[0].first_port + 3].count[WF_PM_xmit_data] = 77;
}

static void plant_events(struct wf_subnet *s)
{
	assert_int_equal(wf_subnet_want_pm(s), 0);
	s->pm[s->nodes[6].first_port + 1].count[WF_PM_link_downed] = 9;
	s->pm[s->nodes[0].first_port + 3].count[WF_PM_link_downed] = 255;
}

static void test_graph(void **state)
{
	static const struct {
		void (*plant)(struct wf_subnet *s);
		enum wf_finding_id id;
		unsigned n;
		const char *text; /* of the last */
	} row[] = {
		{ plant_guid, WF_FIND_SAME_GUID, 1,
		  "'h14' has the GUID 0xa00000000000ee03 of 'h6'; no two nodes may" },
		{ plant_lid, WF_FIND_SAME_LID, 1,
		  "h6[1] and h7[1] both have LID 7; no two ports may" },
		{ plant_no_lid, WF_FIND_NO_LID, 1,
		  "2 of 14 ports that are connected have no LID, h8[1] the first; a subnet manager "
		  "gives each one" },
		{ plant_name, WF_FIND_SAME_NAME, 1,
		  "3 nodes are called 's5', 2 of them switches; only GUIDs tell them apart" },
		{ plant_apart, WF_FIND_APART, 1,
		  "3 nodes, 's3' the first, have no way to the other 11" },
		{ plant_sided, WF_FIND_ONE_SIDED, 1,
		  "s0[1] leads to h6[1], which says nothing of it" },
		{ plant_against, WF_FIND_CONTRADICTION, 1,
		  "s0[2] leads to h10[1], which leads to s2[1]" },
		{ plant_uneven, WF_FIND_UNEVEN, 1,
		  "s0[1] says it runs at 1x EDR, the other end, h6[1], 4x EDR" },
		{ plant_slow, WF_FIND_SLOW, 1,
		  "s0[3] to s4[1] runs at 1x EDR; both ends can do 4x EDR" },
		{ plant_slower, WF_FIND_SLOW, 1,
		  "s0[3] to s4[1] runs at 4x SDR, 8 Gb/s; most links of the subnet at 100" },
		{ plant_armed, WF_FIND_NOT_ACTIVE, 1,
		  "s0[3] to s4[1] is connected, but not active at both ends" },
		{ plant_errors, WF_FIND_PORT_ERRORS, 2,
		  "h6[1], connected to s0[1], has counted SymbolErrorCounter 9" },
		{ plant_events, WF_FIND_PORT_EVENTS, 1,
		  "LinkDownedCounter: 2 ports, s0[3] most, 255 (full)" },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		struct wf_subnet *s = test_tree(4, 2, 2, 2, 0);
		struct found all;

		row[i].plant(s);
		all = check(s, NULL);
		check_only(&all, row[i].id, row[i].n, row[i].text);
		if (row[i].id == WF_FIND_PORT_ERRORS)
			assert_string_equal(
				all.first[row[i].id],
				"s0[3], connected to s4[1], has counted SymbolErrorCounter "
				"65535 (full), PortRcvErrors 2");
		wf_subnet_destroy(s);
	}
}

/* ---- tables ---- */

/* The entry of a switch for a host, wherever that is. */
static uint8_t *entry(const struct wf_subnet *s, struct wf_tables *tables, uint32_t sw,
                      uint32_t host)
{
	return &wf_tables_row(tables, sw)[wf_subnet_port(s, host, 1)->lid];
}

static void test_unreachable(void **state)
{
	struct wf_subnet *s = test_ring(4, 2);
	struct wf_tables *tables = test_route(s, "minhop", NULL);
	struct wf_survey v;
	struct found all;

	(void)state;
	/* Host 4 is at port 1 of switch 0; switch 2 asks 1 or 3 for it. */
	*entry(s, tables, 0, 4) = 2; /* its neighbour's port */
	*entry(s, tables, 0, 6) = WF_LFT_NONE;
	all = check(s, tables);
	assert_int_equal(all.n[WF_FIND_UNREACHABLE], 2);
	assert_string_equal(
		all.first[WF_FIND_UNREACHABLE],
		"h4[1], LID 5, is not reached by 7 others, such as h4[1]: 's0' sends it "
		"by port 2, which does not lead there");
	assert_non_null(strstr(all.text[WF_FIND_UNREACHABLE], "'s0' has no entry for it"));
	assert_int_equal(wf_survey_all(s, tables, &v), 0);
	assert_int_equal(v.pairs, 56);
	assert_true(v.reached <= 56 - 7 - 2);
	assert_int_equal(v.loops, 0);
	wf_survey_fini(&v);
	wf_tables_destroy(tables);
	wf_subnet_destroy(s);
}

static void test_loop(void **state)
{
	struct wf_subnet *s = test_ring(4, 1);
	struct wf_tables *tables = test_route(s, "minhop", NULL);
	struct wf_survey v;
	struct found all;

	(void)state;
	/* To host 4 at switch 0: 2 sends to 3, and 3 back to 2. */
	*entry(s, tables, 2, 4) = 3;
	*entry(s, tables, 3, 4) = 2;
	assert_int_equal(wf_subnet_port(s, 2, 3)->peer, 3);
	assert_int_equal(wf_subnet_port(s, 3, 2)->peer, 2);
	all = check(s, tables);
	assert_int_equal(all.n[WF_FIND_TABLE_LOOP], 1);
	assert_int_equal(all.n_steps[WF_FIND_TABLE_LOOP], 2);
	assert_string_equal(
		all.text[WF_FIND_TABLE_LOOP],
		"packets to h4[1], LID 5, from 2 others, such as h6[1], go in a circle of 2 "
		"switches, by 's2'");
	assert_int_equal(wf_survey_all(s, tables, &v), 0);
	assert_int_equal(v.loops, 2);
	assert_int_equal(v.reached, 10);
	wf_survey_fini(&v);
	wf_tables_destroy(tables);
	wf_subnet_destroy(s);
}

/*
 * By hand: a ring of 4 in which everybody sends clockwise. All four links wait for one another,
 * each for the next: of the 12 paths those of two hops (4) and three (4) go on; each place is
 * passed by one of the former and two of the latter.
 */
static void test_credit_loop(void **state)
{
	struct wf_subnet *s = test_ring(4, 1);
	struct wf_tables *tables = test_route(s, "minhop", NULL);
	struct found all;
	uint8_t clockwise[4];

	(void)state;
	for (uint32_t sw = 0; sw < 4; sw++) {
		for (unsigned p = 2; p <= 3; p++) {
			if (wf_subnet_port(s, sw, p)->peer == (sw + 1) % 4)
				clockwise[sw] = (uint8_t)p;
		}
	}
	for (uint32_t sw = 0; sw < 4; sw++) {
		for (uint32_t host = 4; host < 8; host++) {
			if (host - 4 != sw)
				*entry(s, tables, sw, host) = clockwise[sw];
		}
	}
	all = check(s, tables);
	assert_int_equal(all.n[WF_FIND_CREDIT_LOOP], 1);
	assert_int_equal(all.n_steps[WF_FIND_CREDIT_LOOP], 4);
	for (unsigned i = 0; i < 4; i++) {
		const struct wf_finding_step *step = &all.steps[WF_FIND_CREDIT_LOOP][i];
		const struct wf_finding_step *next = &all.steps[WF_FIND_CREDIT_LOOP][(i + 1) % 4];

		assert_int_equal(step->paths, 3);
		/* Where one link leads the next begins, and the pair takes both. */
		assert_int_equal(s->ports[step->port].peer, s->ports[next->port].node);
		assert_int_not_equal(step->from, step->to);
		assert_int_not_equal(s->ports[step->to].peer, s->ports[step->port].peer);
		assert_int_not_equal(s->ports[step->to].peer, s->ports[step->port].node);
	}
	/* Paths that go from 3 by 0 to 1 have a lane of their own: no circle on either. */
	assert_int_equal(wf_tables_want_sl(tables), 0);
	for (uint32_t sw = 2; sw < 4; sw++) {
		for (uint32_t to = 1; to < sw; to++)
			tables->sl[sw * tables->n_lids + wf_subnet_port(s, 4 + to, 1)->lid] = 1;
	}
	all = check(s, tables);
	assert_int_equal(all.n[WF_FIND_CREDIT_LOOP], 0);
	wf_tables_destroy(tables);
	wf_subnet_destroy(s);
}

/*
 * By hand: 4 hosts, 2 leaves, one spine. A permutation that is one circle has hosts of both leaves
 * send across: 2, 3 or 4 of them do, and at least one link has half of them.
 */
static void test_permutations(void **state)
{
	struct wf_subnet *s = test_tree(2, 2, 1, 1, 0);
	struct wf_tables *tables = test_route(s, "minhop", NULL);
	struct wf_permutation one[20], two[5];

	(void)state;
	assert_int_equal(wf_survey_permute(s, tables, 1, 20, one), 0);
	for (unsigned i = 0; i < 20; i++) {
		assert_int_equal(one[i].all, 4);
		assert_in_range(one[i].flows, 2, 4);
		assert_int_equal(one[i].most, one[i].flows / 2);
		assert_int_equal(one[i].share_min, (UINT64_C(1) << 32) / one[i].most);
	}
	/* A seed is the same permutation, whichever it begins with. */
	assert_int_equal(wf_survey_permute(s, tables, 6, 5, two), 0);
	assert_memory_equal(&one[5], two, sizeof(two));
	wf_tables_destroy(tables);
	wf_subnet_destroy(s);
}

/* ---- partitions ---- */

static void hear(void *arg, const char *file, unsigned line, unsigned column, const char *what)
{
	(void)file;
	(void)column;
	(void)what;
	*(unsigned *)arg = *(unsigned *)arg * 100 + line;
}

struct read {
	struct wf_parts *parts;
	struct wf_members members;
};

static void read_parts(const struct wf_subnet *s, uint32_t sm, const char *text, unsigned *heard,
                       struct read *r)
{
	const struct wf_subnet_ear ear = { hear, heard };
	struct wf_err err = { "" };

	if (wf_parts_read(s->mem, text, "file", &r->parts, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(wf_members_init(&r->members, s, sm, r->parts, "file", &ear), 0);
}

static void free_parts(struct read *r)
{
	wf_members_fini(&r->members);
	wf_parts_destroy(r->parts);
}

static uint32_t host_port(const struct wf_subnet *s, uint32_t id)
{
	return s->nodes[id].first_port + 1;
}

static void test_partitions(void **state)
{
	struct wf_subnet *s = test_tree(2, 3, 1, 1, 0); /* hosts 3 to 8 */
	struct found all = { .n = { 0 } };
	const struct wf_check_ear told = { take, &all };
	struct read r;
	unsigned heard = 0;
	char text[512];
	/* Limited members do not talk to each other: by hand, of 6 ports 3 and 4 share red, 5 and 6
	   are limited in blue with 7, who is full, there and in Default, in which the rest, and 8,
	   who is in no other, are limited. */
	static const uint8_t meets[6][6] = {
		{ 1, 1, 0, 0, 1, 0 }, { 1, 1, 0, 0, 1, 0 }, { 0, 0, 0, 0, 1, 0 },
		{ 0, 0, 0, 0, 1, 0 }, { 1, 1, 1, 1, 1, 1 }, { 0, 0, 0, 0, 1, 0 },
	};

	(void)state;
	snprintf(text, sizeof(text),
	         "# who is who\nred=0x8001,ipoib,mtu=4,defmember=full :\n"
	         "\tmgid=ff12:401b::0707,sl=1 # a group\n\t0x%llx, 0x%llx ;\n"
	         "blue = 0x0002 : 0x%llx=limited, 0x%llx , 0xdead ;\nblue=0x8002: SELF=full;\n"
	         "red : 0x%llx=both;",
	         (unsigned long long)s->ports[host_port(s, 3)].guid,
	         (unsigned long long)s->ports[host_port(s, 4)].guid,
	         (unsigned long long)s->ports[host_port(s, 5)].guid,
	         (unsigned long long)s->ports[host_port(s, 6)].guid,
	         (unsigned long long)s->ports[host_port(s, 7)].guid);
	read_parts(s, host_port(s, 7), text, &heard, &r);
	assert_int_equal(heard, 5); /* 0xdead in line 5 */
	for (uint32_t a = 0; a < 6; a++) {
		for (uint32_t b = 0; b < 6; b++)
			assert_int_equal(wf_members_meet(&r.members, host_port(s, 3 + a),
			                                 host_port(s, 3 + b)),
			                 meets[a][b]);
	}
	assert_int_equal(wf_members_check(s, &r.members, &told), 0);
	assert_int_equal(all.n[WF_FIND_PARTITIONS], 3);
	assert_string_equal(all.text[WF_FIND_PARTITIONS],
	                    "1 port in Default (limited), h8[1] the first, may not talk to 4 of 5 "
	                    "others, such as h3[1]");
	free_parts(&r);
	/* Whose port the manager's is is not known, and the default partition has only limited. */
	memset(&all, 0, sizeof(all));
	heard = 0;
	read_parts(s, WF_SUBNET_NONE, "\nDefault=0x7fff : ALL, SELF=full ;", &heard, &r);
	assert_int_equal(heard, 2);
	assert_int_equal(wf_members_check(s, &r.members, &told), 0);
	check_only(&all, WF_FIND_PARTITIONS, 1,
	           "6 ports in Default (limited), h3[1] the first, may not talk to 5 of 5 others, "
	           "such as h4[1]");
	free_parts(&r);
	/* All are full: nothing is kept apart. */
	memset(&all, 0, sizeof(all));
	read_parts(s, WF_SUBNET_NONE, "Default=0x7fff : ALL=full ;", &heard, &r);
	assert_int_equal(r.members.n_keys, 9);
	assert_int_equal(wf_members_check(s, &r.members, &told), 0);
	check_only(&all, 0, 0, "");
	free_parts(&r);
	wf_subnet_destroy(s);
}

static void count_step(void *arg, uint32_t port)
{
	(void)port;
	++*(unsigned *)arg;
}

static void test_path(void **state)
{
	struct wf_subnet *s = test_ring(6, 1);
	struct wf_tables *tables = test_route(s, "minhop", NULL);
	uint32_t from = s->nodes[6].first_port + 1, to = s->nodes[9].first_port + 1;
	unsigned lid = s->ports[to].lid, steps = 0;

	(void)state;
	assert_int_equal(wf_survey_path(s, tables, from, lid, count_step, &steps), 4);
	assert_int_equal(steps, 5);
	assert_int_equal(wf_survey_path(s, tables, s->nodes[3].first_port, lid, count_step, &steps),
	                 1);
	assert_int_equal(wf_survey_path(s, tables, to, lid, count_step, &steps), 0);
	assert_int_equal(wf_survey_path(s, tables, from, 0xbfff, count_step, &steps), -1);
	assert_int_equal(
		wf_survey_path(s, tables, from, wf_subnet_port(s, 3, 0)->lid, count_step, &steps),
		4);
	wf_tables_row(tables, 3)[lid] = 9;
	assert_int_equal(wf_survey_path(s, tables, from, lid, count_step, &steps), -1);
	wf_tables_row(tables, 3)[lid] = 2;
	wf_tables_row(tables, 2)[lid] = 3;
	assert_int_equal(wf_survey_path(s, tables, s->nodes[3].first_port, lid, count_step, &steps),
	                 -2);
	wf_tables_destroy(tables);
	wf_subnet_destroy(s);
}

static void test_out_of_memory(void **state)
{
	struct wf_subnet *s = test_ring(4, 2);
	struct wf_tables *tables = test_route(s, "minhop", NULL);
	struct wf_mem *heap = s->mem;
	int ret = -ENOMEM;

	(void)state;
	assert_int_equal(wf_subnet_want_pm(s), 0);
	for (long n = 0; ret != 0; n++) {
		struct mem_fail mem = mem_fail_after(n);
		struct found all = { .n = { 0 } };
		const struct wf_check_ear ear = { take, &all };
		struct wf_permutation p;
		struct wf_survey v;

		s->mem = &mem.mem;
		ret = wf_subnet_check(s, &ear);
		if (ret == 0)
			ret = wf_tables_check(s, tables, &ear);
		if (ret == 0)
			ret = wf_survey_permute(s, tables, 1, 1, &p);
		if (ret == 0) {
			ret = wf_survey_all(s, tables, &v);
			if (ret == 0)
				wf_survey_fini(&v);
		}
		assert_true(ret == 0 || ret == -ENOMEM);
		assert_int_equal(mem.held, 0);
		assert_true(n < 200);
	}
	s->mem = heap;
	wf_tables_destroy(tables);
	wf_subnet_destroy(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clean),       cmocka_unit_test(test_graph),
		cmocka_unit_test(test_unreachable), cmocka_unit_test(test_loop),
		cmocka_unit_test(test_credit_loop), cmocka_unit_test(test_permutations),
		cmocka_unit_test(test_path),        cmocka_unit_test(test_out_of_memory),
		cmocka_unit_test(test_partitions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
