/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handle.c - which objects are alive. Programs destroy things twice, or things of another library;
 * that must be an error.
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "compat/verbs/verbs_priv.h"

/* A hash table with open addressing; an entry that was removed keeps its place with kind 0. */
struct entry {
	const void *handle;
	enum wv_kind kind;
};

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *table;
static size_t table_size, table_used;

static size_t place_of(const void *handle, size_t size)
{
	return (size_t)(((uintptr_t)handle >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (size - 1);
}

static struct entry *find(struct entry *t, size_t size, const void *handle)
{
	size_t i = place_of(handle, size);

	assert(size != 0 && (size & (size - 1)) == 0 && i < size);
	while (t[i].handle != NULL && t[i].handle != handle)
		i = (i + 1) & (size - 1);
	return &t[i];
}

/* Doubles the table, or only clears it of what was removed. */
static int grow(void)
{
	size_t live = 0, size = 1024;
	struct entry *t;

	for (size_t i = 0; i < table_size; i++)
		live += table[i].kind != 0;
	while (size < 4 * (live + 1))
		size *= 2;
	t = calloc(size, sizeof(*t));
	if (t == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < table_size; i++) {
		if (table[i].kind != 0)
			*find(t, size, table[i].handle) = table[i];
	}
	free(table);
	table = t;
	table_size = size;
	table_used = live;
	assert(4 * table_used <= table_size);
	return 0;
}

int wv_handle_add(const void *handle, enum wv_kind kind)
{
	struct entry *e;
	int ret = 0;

	assert(handle != NULL && kind != 0);
	pthread_mutex_lock(&table_lock);
	if (2 * (table_used + 1) > table_size)
		ret = grow();
	if (ret == 0) {
		e = find(table, table_size, handle);
		if (e->handle == NULL)
			table_used++;
		/* There is an end to every search. */
		assert(table_used < table_size);
		assert(e->kind == 0); /* two objects are not at one address */
		e->handle = handle;
		e->kind = kind;
	}
	pthread_mutex_unlock(&table_lock);
	return ret;
}

bool wv_handle_is(const void *handle, enum wv_kind kind)
{
	bool is;

	pthread_mutex_lock(&table_lock);
	is = handle != NULL && table_size != 0 && find(table, table_size, handle)->kind == kind;
	pthread_mutex_unlock(&table_lock);
	return is;
}

void wv_handle_remove(const void *handle)
{
	pthread_mutex_lock(&table_lock);
	assert(table_size != 0);
	find(table, table_size, handle)->kind = 0;
	pthread_mutex_unlock(&table_lock);
}

void *wv_handle_make(size_t size, enum wv_kind kind)
{
	void *handle = calloc(1, size);

	if (handle != NULL && wv_handle_add(handle, kind) == 0)
		return handle;
	free(handle);
	errno = ENOMEM;
	return NULL;
}

void wv_handle_free(void *handle)
{
	wv_handle_remove(handle);
	free(handle);
}

void wv_handle_lock(void)
{
	pthread_mutex_lock(&table_lock);
}

void wv_handle_unlock(void)
{
	pthread_mutex_unlock(&table_lock);
}

const void *wv_handle_find(enum wv_kind kind, bool (*is)(const void *handle, const void *arg),
                           const void *arg)
{
	const void *found = NULL;

	pthread_mutex_lock(&table_lock);
	for (size_t i = 0; i < table_size && found == NULL; i++) {
		if (table[i].kind == kind && is(table[i].handle, arg))
			found = table[i].handle;
	}
	pthread_mutex_unlock(&table_lock);
	return found;
}
