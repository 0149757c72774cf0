/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_subnet.c - any bytes as what other tools say of an InfiniBand subnet. The first byte says
 * what they are: a subnet, in whichever form; tables of one that is there; its counters; its
 * partitions. A subnet that is small is routed, checked, and written; what is written reads back as
 * the same.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "subnet/check.h"
#include "subnet/members.h"
#include "subnet/read.h"
#include "subnet/route.h"
#include "subnet/survey.h"
#include "subnet/write.h"

#define MAX_ALLOC (64u << 20)
#define SMALL 64 /* nodes */
#define PAGE (1u << 20)

static const char net[] =
	"Switch 4 \"S-0a\" # \"a\" base port 0 lid 1 lmc 0\n[1] \"H-01\"[1]\n[2] \"S-0b\"[2]\n"
	"Switch 4 \"S-0b\" # \"b\" base port 0 lid 2 lmc 0\n[1] \"H-02\"[1]\n[2] \"S-0a\"[2]\n"
	"Ca 1 \"H-01\"\n[1] \"S-0a\"[1] # lid 4 lmc 1 \"a\" lid 1 4xEDR\n"
	"Ca 1 \"H-02\"\n[1] \"S-0b\"[1] # lid 3 lmc 0 \"b\" lid 2 4xEDR\n";

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

static void hear(void *arg, const char *file, unsigned line, unsigned column, const char *what)
{
	(void)arg;
	if (strcmp(file, "fuzz") != 0 || line == 0 || column == 0 || what[0] == '\0')
		abort();
}

static void found(void *arg, const struct wf_finding *f)
{
	(void)arg;
	if (f->id >= WF_FINDING_N || f->text[0] == '\0')
		abort();
}

static const struct wf_subnet_ear ear = { hear, NULL };

struct page {
	char text[PAGE];
	size_t n;
};

static void put(void *arg, const char *text, size_t len)
{
	struct page *page = arg;

	if (page->n + len <= PAGE) {
		memcpy(page->text + page->n, text, len);
		page->n += len;
	}
}

static void check_tables(const struct wf_subnet *s, const struct wf_tables *tables)
{
	const struct wf_check_ear told = { found, NULL };
	struct wf_permutation p;
	struct wf_survey v;

	if (wf_tables_check(s, tables, &told) != 0 || wf_survey_all(s, tables, &v) != 0 ||
	    wf_survey_permute(s, tables, 1, 1, &p) != 0)
		abort();
	if (v.reached + v.loops > v.pairs || p.all > v.n_ends)
		abort();
	wf_survey_fini(&v);
}

static bool has_twins(const struct wf_subnet *s)
{
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		if (wf_subnet_find(s, s->nodes[i].guid) != i)
			return true;
	}
	return false;
}

static void use(struct wf_subnet *s)
{
	static struct page page;
	const struct wf_check_ear told = { found, NULL };
	const struct wf_sink sink = { put, &page };
	const struct wf_sm_route_cfg cfg = { .vls = 15 };
	struct wf_subnet *back = NULL;
	struct wf_err err = { "" };

	if (wf_subnet_check(s, &told) != 0)
		abort();
	page.n = 0;
	wf_subnet_write(s, &sink);
	/* Where two have one GUID, a link may lead to the other. */
	if (page.n < PAGE && !has_twins(s) &&
	    (wf_subnet_read(page.text, page.n, "fuzz", &ear, s->mem, &back, &err) != 0 ||
	     back->n_nodes != s->n_nodes))
		abort();
	wf_subnet_destroy(back);
	if (wf_subnet_assign_lids(s, 1, WF_SUBNET_NONE) != 0)
		abort();
	for (size_t i = 0; wf_sm_route_all()[i] != NULL; i++) {
		struct wf_tables *tables = NULL;

		if (wf_sm_route(s, wf_sm_route_all()[i], &cfg, false, &tables, &err) != 0)
			abort();
		check_tables(s, tables);
		wf_tables_destroy(tables);
	}
}

static void fuzz_net(const char *text, size_t size, struct wf_mem *mem)
{
	struct wf_subnet *s = NULL;
	struct wf_err err = { "" };
	int ret = wf_subnet_read(text, size, "fuzz", &ear, mem, &s, &err);

	if (ret != 0 && ret != -EINVAL && ret != -ENOMEM)
		abort();
	if ((ret == -EINVAL) != (err.text[0] != '\0'))
		abort();
	if (ret == 0 && s->n_nodes <= SMALL)
		use(s);
	wf_subnet_destroy(s);
}

static void fuzz_parts(const struct wf_subnet *s, const char *text, size_t size)
{
	const struct wf_check_ear told = { found, NULL };
	struct wf_err err = { "" };
	struct wf_members members;
	struct wf_parts *parts;
	char *copy = malloc(size + 1);

	if (copy == NULL)
		abort();
	memcpy(copy, text, size);
	copy[size] = '\0';
	if (wf_parts_read(s->mem, copy, "fuzz", &parts, &err) == 0) {
		if (wf_members_init(&members, s, 1, parts, "fuzz", &ear) != 0 ||
		    wf_members_check(s, &members, &told) != 0)
			abort();
		wf_members_fini(&members);
		wf_parts_destroy(parts);
	}
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wf_mem mem = { fuzz_alloc, fuzz_free };
	const char *text = (const char *)data + 1;
	struct wf_tables *tables = NULL;
	struct wf_subnet *s = NULL;
	struct wf_err err = { "" };

	if (size < 1)
		return 0;
	if (data[0] % 5 < 2) {
		fuzz_net(text, size - 1, &mem);
		return 0;
	}
	if (wf_subnet_read(net, strlen(net), "net", NULL, &mem, &s, &err) != 0)
		abort();
	if (data[0] % 5 == 2) {
		if (wf_subnet_read_lfts(s, text, size - 1, "fuzz", &ear, &tables, &err) == 0)
			check_tables(s, tables);
		wf_tables_destroy(tables);
	} else if (data[0] % 5 == 4) {
		fuzz_parts(s, text, size - 1);
	} else if (wf_subnet_read_pm(s, text, size - 1, "fuzz", &ear, &err) == 0) {
		use(s);
	}
	wf_subnet_destroy(s);
	return 0;
}
