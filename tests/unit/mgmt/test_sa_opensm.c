/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sa_opensm.c - subnet administration against OpenSM's: the same subnets, the same questions
 * one after the other from the same hosts, and the same answers, record by record.
 *
 * tests/data/opensm/make_sa.py has asked OpenSM 3.3.23 in subnets of ibsim. What the agents of
 * ibsim's make up (capabilities, lanes and MTUs of switches' own ports, tables of ports between
 * switches) is not compared, nor are times. Where OpenSM's answers are others by intent, known()
 * says why.
 */
#include "opensm.h"
#include "sanet.h"

#include <inttypes.h>

#define MAX_RECORDS 8192
#define NO_ANSWER (-1)

struct answer {
	int status; /* NO_ANSWER */
	unsigned attr, n;
	uint8_t (*records)[WF_SA_DATA_LEN];
};

struct replay {
	const char *name;
	struct sanet *s;
	struct answer theirs, ours;
	/* The question. */
	unsigned host, method, attr, mod;
	uint64_t mask, key;
	uint8_t data[WF_SA_DATA_LEN];
	char line[512];
	unsigned asked, compared, records, reports, first_report, differ;
};

static unsigned take_hex(const char *hex, uint8_t *bytes, unsigned max)
{
	unsigned n = 0, byte;

	while (n < max && sscanf(hex + 2 * (size_t)n, "%2x", &byte) == 1 && hex[2 * n] != '-')
		bytes[n++] = (uint8_t)byte;
	return n;
}

/* ---- what is compared ---- */

static void forget(uint8_t *record, unsigned from, unsigned to)
{
	memset(record + from, 0, to - from);
}

static bool is_switch_lid(const struct replay *r, const uint8_t *lid)
{
	uint32_t i = wf_subnet_by_lid(wf_sm_view(r->s->m->sm)->subnet, wf_be16_get(lid));

	return i != WF_SUBNET_NONE &&
	       wf_subnet_is_switch(wf_sm_view(r->s->m->sm)->subnet,
	                           wf_sm_view(r->s->m->sm)->subnet->ports[i].node);
}

/* A port of a switch that leads to none, or to another one. */
static bool is_between(const struct replay *r, const uint8_t *lid, unsigned number)
{
	const struct wf_subnet *subnet = wf_sm_view(r->s->m->sm)->subnet;
	uint32_t i = wf_subnet_by_lid(subnet, wf_be16_get(lid));
	const struct wf_subnet_port *port;

	if (!is_switch_lid(r, lid) || number == 0)
		return false;
	port = wf_subnet_port(subnet, subnet->ports[i].node, number);
	return port->peer == WF_SUBNET_NONE || wf_subnet_is_switch(subnet, port->peer);
}

static void forget_port_info(const struct replay *r, uint8_t *p)
{
	bool own = is_switch_lid(r, p) && p[2] == 0;
	uint8_t *info = p + 4;

	forget(info, 20, 31); /* capabilities, lease, local port, widths supported */
	info[32] &= 0x0f;     /* speeds supported */
	info[33] = 0;
	info[35] &= 0xf0; /* and enabled */
	if (own)
		forget(info, 31, 38);
	forget(info, 37, 44); /* lanes' and MTU's capabilities */
	if (own || is_between(r, p, p[2]))
		forget(info, 44, 46);
	forget(info, 46, 64);
}

/* Zeroes what is the agents' own; false: the record is left out. */
static bool keep(const struct replay *r, unsigned attr, uint8_t *p)
{
	switch (attr) {
	case WF_SA_NODE:
		forget(p, 32, 40);
		forget(p, 41, 44);
		return true;
	case WF_SA_PORT_INFO:
		forget_port_info(r, p);
		return !(is_switch_lid(r, p) && is_between(r, p, p[2]));
	case WF_SA_SWITCH_INFO:
		forget(p, 4, 10);
		forget(p, 12, 24);
		return true;
	case WF_SA_SM_INFO:
		forget(p, 20, 24); /* how much it has done */
		return true;
	case WF_SA_PKEY_TABLE: /* the second blocks are empty, if there are any */
		return wf_be16_get(p + 2) == 0 && !is_between(r, p, p[4]);
	case WF_SA_SERVICE: /* on its way to OpenSM these bytes get lost in libumad2sim */
		forget(p, 168, 176);
		return true;
	case WF_SA_GUID_INFO: /* ibsim's ports have room for fewer */
		return p[2] == 0;
	case WF_SA_PATH:
		/* OpenSM spreads dfsssp's levels over lanes that are left, by rand(). */
		if (wf_sm_view(r->s->m->sm)->tables->sl != NULL)
			p[53] &= 0xf0;
		if (is_switch_lid(r, p + 40) || is_switch_lid(r, p + 42))
			forget(p, 54, 56);
		return true;
	case WF_SA_CLASS_PORT_INFO:
		p[6] &= (uint8_t)~0x04; /* OpenSM gives ports more GUIDs, weft does not */
		return true;
	default:
		return true;
	}
}

static int order(const void *a, const void *b)
{
	return memcmp(a, b, WF_SA_DATA_LEN);
}

static void settle(const struct replay *r, struct answer *a)
{
	unsigned n = 0;

	for (unsigned i = 0; i < a->n; i++) {
		if (keep(r, a->attr, a->records[i]))
			memcpy(a->records[n++], a->records[i], WF_SA_DATA_LEN);
	}
	a->n = n;
	qsort(a->records, n, WF_SA_DATA_LEN, order);
}

/* ---- the two ---- */

static void print_record(const uint8_t *record)
{
	for (unsigned i = 0; i < WF_SA_DATA_LEN; i++)
		printf("%02x", record[i]);
	printf("\n");
}

static bool is_apm(const struct replay *r)
{
	struct wf_multi_path_record m;

	wf_multi_path_record_decode(r->data, &m);
	return m.sgid_count == 2 && m.dgid_count == 2 && m.numb_path == 2 &&
	       wf_sm_parts(r->s->m->sm)->n > 1;
}

static bool known(const struct replay *r)
{
	/*
	 * What changes something has a thread of its own in OpenSM, which drops attributes that it
	 * does not know. IBTA wants an answer (13.4.5).
	 */
	if ((r->method == WF_MAD_METHOD_SET || r->method == WF_MAD_METHOD_DELETE) &&
	    r->theirs.status == NO_ANSWER &&
	    (r->ours.status == WF_MAD_BAD_ATTRIBUTE || r->ours.status == WF_SA_REQ_INVALID))
		return true;
	/* ... and a level that was asked for is that of the path, or is not. */
	if (r->attr == WF_SA_PATH && (r->mask & WF_COMPONENT(WF_PATH_C_SL)) != 0 &&
	    wf_sm_view(r->s->m->sm)->tables->sl != NULL)
		return true;
	/* OpenSM looks for a switch's LID as if it had an LMC. */
	if (r->attr == WF_SA_LINK && wf_sm_cfg(r->s->m->sm)->lmc != 0 && r->theirs.n == 0 &&
	    r->mask != 0)
		return true;
	/* Two paths for two ports each: OpenSM does not ask whether the requester may see them. */
	if (r->attr == WF_SA_MULTI_PATH && r->ours.n < r->theirs.n && is_apm(r))
		return true;
	return false;
}

static void differ(struct replay *r, const char *what)
{
	if (known(r))
		return;
	if (r->differ++ < 12) {
		printf("%s: %s: %.250s\n\tstatus %x, ours %x; records %u, ours %u\n", r->name, what,
		       r->line, (unsigned)r->theirs.status, (unsigned)r->ours.status, r->theirs.n,
		       r->ours.n);
		for (unsigned i = 0, shown = 0; i < r->theirs.n && i < r->ours.n && shown < 2;
		     i++) {
			if (memcmp(r->theirs.records[i], r->ours.records[i], WF_SA_DATA_LEN) == 0)
				continue;
			print_record(r->theirs.records[i]);
			print_record(r->ours.records[i]);
			shown++;
		}
	}
}

static void compare(struct replay *r)
{
	settle(r, &r->theirs);
	settle(r, &r->ours);
	r->compared++;
	r->records += r->theirs.n;
	if (r->theirs.status != r->ours.status)
		differ(r, "status");
	else if (r->theirs.n != r->ours.n)
		differ(r, "how many");
	else if (memcmp(r->theirs.records, r->ours.records, (size_t)r->theirs.n * WF_SA_DATA_LEN) !=
	         0)
		differ(r, "records");
}

static void ask(struct replay *r)
{
	struct sanet *s = r->s;
	char name[32];

	(void)snprintf(name, sizeof(name), "host %u", r->host);
	s->lid = net_lid(s->net, node_called(s->net, name));
	s->key = r->key;
	s->mod = r->mod;
	r->ours.status = sanet_ask_bytes(s, (uint8_t)r->method, (uint16_t)r->attr, r->mask, r->data,
	                                 sizeof(r->data));
	r->ours.attr = s->attr;
	r->ours.n = s->n;
	assert_true(s->n <= MAX_RECORDS);
	for (unsigned i = 0; i < s->n; i++) {
		unsigned size = s->n == 1 && s->stride == 0 ? 0 : s->stride;

		memset(r->ours.records[i], 0, WF_SA_DATA_LEN);
		memcpy(r->ours.records[i], s->bytes + WF_SA_DATA + (size_t)i * size, size);
	}
	r->asked++;
	sanet_run(s, s->net->now + 100 * WF_MS);
}

/* The next question: the last one has all of its answer. */
static void next(struct replay *r, const char *line)
{
	char data[512] = "";

	if (r->asked > 0)
		compare(r);
	r->theirs.status = NO_ANSWER;
	r->theirs.n = 0;
	(void)snprintf(r->line, sizeof(r->line), "%s", line);
	memset(r->data, 0, sizeof(r->data));
	assert_int_equal(sscanf(line, "ask %u %x %x %x %" SCNx64 " %" SCNx64 " %500s", &r->host,
	                        &r->method, &r->attr, &r->mod, &r->mask, &r->key, data),
	                 7);
	(void)take_hex(data, r->data, sizeof(r->data));
	ask(r);
}

static void take_line(struct replay *r, const char *line)
{
	unsigned method, attr, status, size;

	if (strncmp(line, "ask ", 4) == 0) {
		next(r, line);
	} else if (strncmp(line, "got ", 4) == 0) {
		assert_int_equal(sscanf(line, "got %x %x %x %u", &method, &attr, &status, &size),
		                 4);
		r->theirs.status = (int)status;
		r->theirs.attr = attr;
		if (r->ours.status >= 0)
			assert_int_equal(r->s->method, method);
	} else if (strncmp(line, "rec ", 4) == 0) {
		assert_true(r->theirs.n < MAX_RECORDS);
		memset(r->theirs.records[r->theirs.n], 0, WF_SA_DATA_LEN);
		(void)take_hex(line + 4, r->theirs.records[r->theirs.n++], WF_SA_DATA_LEN);
	} else {
		assert_int_equal(strncmp(line, "report ", 7), 0);
		r->reports++;
	}
}

static void check(const char *name, const char *net_name, struct wf_sm_cfg cfg)
{
	struct replay r = { .name = name };
	struct net *net = net_new_speed(read_net(net_name), WF_SPEED_SDR);
	size_t len;
	char *text = read_text(name, ".txt", &len), *line, *rest = text;

	cfg.sweep_interval = 0;
	r.s = sanet_new(net, node_called(net, "host 0"), &cfg, wf_mem_heap());
	assert_true(net_run_up(net, r.s->m, WF_S));
	r.theirs.records = malloc(MAX_RECORDS * WF_SA_DATA_LEN);
	r.ours.records = malloc(MAX_RECORDS * WF_SA_DATA_LEN);
	for (line = strtok_r(rest, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
		take_line(&r, line);
	compare(&r);
	printf("%s: %u questions, %u records, %u reports, ours %u; %u differ\n", name, r.compared,
	       r.records, r.reports, r.s->n_reports, r.differ);
	assert_int_equal(r.differ, 0);
	assert_int_equal(r.reports, r.s->n_reports);
	free(r.theirs.records);
	free(r.ours.records);
	free(text);
	sanet_free(r.s);
}

static void test_single(void **state)
{
	(void)state;
	check("single-sa", "single", with_engine("minhop"));
}

static void test_lmc(void **state)
{
	struct wf_sm_cfg cfg = with_engine("minhop");

	(void)state;
	cfg.lmc = 1;
	check("fat-lmc-sa", "fat", cfg);
}

static void test_partitions(void **state)
{
	struct wf_sm_cfg cfg = with_engine("minhop");
	size_t len;
	char *text = read_text("partitions-sa", ".conf", &len);

	(void)state;
	cfg.partitions = text;
	cfg.partitions_name = "partitions-sa.conf";
	check("fat-partitions-sa", "fat", cfg);
	free(text);
}

static void test_dfsssp(void **state)
{
	struct wf_sm_cfg cfg = with_engine("dfsssp");

	(void)state;
	cfg.qos = true;
	check("ring-dfsssp-sa", "ring", cfg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_single),
		cmocka_unit_test(test_lmc),
		cmocka_unit_test(test_partitions),
		cmocka_unit_test(test_dfsssp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
