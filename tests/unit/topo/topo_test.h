/* SPDX-License-Identifier: Apache-2.0 */
/* topo_test.h - what the tests of topo share. */
#ifndef WF_TESTS_TOPO_TEST_H
#define WF_TESTS_TOPO_TEST_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "topo/routes.h"
#include "topo/topo.h"

#ifndef WEFT_SOURCE_DIR
#define WEFT_SOURCE_DIR "."
#endif

/* Memory that fails on call number fail_at (from 0) and counts what is live. */
struct test_mem {
	struct wf_mem mem;
	long fail_at; /* -1: never */
	long calls;
	long live;
	size_t bytes; /* handed out in all */
};

static inline void *test_mem_alloc(struct wf_mem *mem, size_t size)
{
	struct test_mem *t = wf_container_of(mem, struct test_mem, mem);
	void *ptr;

	if (t->calls++ == t->fail_at)
		return NULL;
	t->bytes += size;
	ptr = calloc(1, size);
	t->live += ptr != NULL;
	return ptr;
}

static inline void test_mem_free(struct wf_mem *mem, void *ptr)
{
	struct test_mem *t = wf_container_of(mem, struct test_mem, mem);

	t->live -= ptr != NULL;
	free(ptr);
}

static inline struct test_mem test_mem_make(long fail_at)
{
	return (struct test_mem){ .mem = { test_mem_alloc, test_mem_free }, .fail_at = fail_at };
}

/* The defaults, with the settings in text, "name=value name=value ...", made. */
static inline struct wf_topo_cfg test_cfg(const char *text)
{
	struct wf_topo_cfg cfg;
	struct wf_err err = { { 0 } };
	char copy[512];
	char *save = NULL;

	memset(&cfg, 0, sizeof(cfg));
	assert_int_equal(wf_param_defaults(wf_topo_params, wf_topo_n_params, &cfg, &err), 0);
	assert_true(strlen(text) < sizeof(copy));
	memcpy(copy, text, strlen(text) + 1);
	for (char *word = strtok_r(copy, " ", &save); word != NULL;
	     word = strtok_r(NULL, " ", &save)) {
		char *value = strchr(word, '=');
		const struct wf_param *row;

		assert_non_null(value);
		*value++ = '\0';
		row = wf_param_find(wf_topo_params, wf_topo_n_params, word);
		assert_non_null(row);
		if (wf_param_set(row, &cfg, value, &err) != 0)
			fail_msg("%s: %s", word, err.text);
	}
	return cfg;
}

/* Builds what text asks for. */
static inline int test_build(const char *text, struct wf_mem *mem, struct wf_topo **topo_p,
                             struct wf_err *err)
{
	struct wf_topo_cfg cfg = test_cfg(text);
	const struct wf_topo_ops *ops = wf_topo_find(cfg.kind);

	assert_non_null(ops);
	return ops->build(&cfg, NULL, 0, NULL, mem, topo_p, err);
}

/* The same, and it must work. */
static inline struct wf_topo *test_topo(const char *text)
{
	struct wf_err err = { { 0 } };
	struct wf_topo *topo = NULL;

	if (test_build(text, wf_mem_heap(), &topo, &err) != 0)
		fail_msg("%s: %s", text, err.text);
	return topo;
}

/* Reads len bytes with the reader called kind. The bytes are copied, so that a sanitizer sees reads
 * beyond them. */
static inline int test_read(const char *kind, const char *bytes, size_t len, struct wf_mem *mem,
                            struct wf_topo **topo_p, struct wf_err *err)
{
	struct wf_topo_cfg cfg = test_cfg("");
	char *copy = malloc(len + 1);
	int ret;

	assert_non_null(copy);
	memcpy(copy, bytes, len);
	copy = realloc(copy, len > 0 ? len : 1);
	assert_non_null(copy);
	ret = wf_topo_find(kind)->build(&cfg, copy, len, "file", mem, topo_p, err);
	free(copy);
	return ret;
}

/* All of a file below tests/data, ending with a NUL that does not count; the caller frees it. */
static inline char *test_file(const char *name, size_t *len_p)
{
	char path[512];
	char *bytes;
	FILE *file;
	long len;

	snprintf(path, sizeof(path), "%s/tests/data/%s", WEFT_SOURCE_DIR, name);
	file = fopen(path, "rb");
	if (file == NULL)
		fail_msg("cannot open %s", path);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	len = ftell(file);
	assert_true(len >= 0);
	rewind(file);
	bytes = malloc((size_t)len + 1);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, (size_t)len, file), len);
	bytes[len] = '\0';
	fclose(file);
	*len_p = (size_t)len;
	return bytes;
}

/* How many nodes are of that tier. */
static inline uint32_t test_count(const struct wf_topo *topo, uint8_t tier)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < topo->n_nodes; i++)
		n += topo->nodes[i].tier == tier;
	return n;
}

static inline const struct wf_topo_port *test_port(const struct wf_topo *topo, uint32_t node,
                                                   uint32_t port)
{
	return &topo->ports[topo->nodes[node].first_port + port];
}

static inline bool test_is_switch(const struct wf_topo *topo, uint32_t node)
{
	return topo->nodes[node].kind == WF_TOPO_SWITCH;
}

#endif
