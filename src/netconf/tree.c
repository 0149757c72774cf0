/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.c - nodes of keys and values, and how they are found again.
 */
#include "netconf/tree.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/siphash.h"

#define FIRST_SLOTS 256

struct wf_tree *wf_tree_get(const struct wf_tree *map, const char *key)
{
	if (map == NULL || map->kind != WF_TREE_MAP)
		return NULL;
	for (struct wf_tree *node = map->child; node != NULL; node = node->next) {
		if (strcmp(node->key, key) == 0)
			return node;
	}
	return NULL;
}

const char *wf_tree_text(const struct wf_tree *map, const char *key)
{
	const struct wf_tree *node = wf_tree_get(map, key);

	return node == NULL || node->kind != WF_TREE_VALUE ? NULL : node->text;
}

char *wf_tree_copy(struct wf_arena *arena, const char *text, size_t len)
{
	char *copy = wf_arena_alloc(arena, len + 1, 1);

	if (copy != NULL && len != 0)
		memcpy(copy, text, len);
	return copy;
}

/*
 * Files come from strangers, but a file lives for one reading: the parent's address is key
 * enough.
 */
static size_t slot_of(const struct wf_tree_maker *maker, const struct wf_tree *parent,
                      const char *key, size_t key_len)
{
	uint8_t secret[WF_SIPHASH_KEY] = { 0 };
	uintptr_t where = (uintptr_t)parent;

	memcpy(secret, &where, sizeof(where));
	return (size_t)wf_siphash(secret, key, key_len) & (maker->size - 1);
}

struct wf_tree *wf_tree_find(const struct wf_tree_maker *maker, const struct wf_tree *parent,
                             const char *key, size_t key_len)
{
	if (maker->size == 0)
		return NULL;
	for (size_t at = slot_of(maker, parent, key, key_len); maker->slots[at] != NULL;
	     at = (at + 1) & (maker->size - 1)) {
		struct wf_tree *node = maker->slots[at];

		if (node->parent == parent && strncmp(node->key, key, key_len) == 0 &&
		    node->key[key_len] == '\0')
			return node;
	}
	return NULL;
}

static void put(struct wf_tree_maker *maker, struct wf_tree *node)
{
	size_t at = slot_of(maker, node->parent, node->key, strlen(node->key));

	while (maker->slots[at] != NULL)
		at = (at + 1) & (maker->size - 1);
	maker->slots[at] = node;
	maker->used++;
}

static int grow(struct wf_tree_maker *maker)
{
	struct wf_tree **old = maker->slots;
	size_t n = maker->size;

	if (2 * (maker->used + 1) <= n)
		return 0;
	maker->size = n == 0 ? FIRST_SLOTS : 4 * n;
	maker->slots =
		wf_arena_alloc(maker->arena, maker->size * sizeof(*maker->slots), _Alignof(void *));
	if (maker->slots == NULL)
		return -ENOMEM;
	maker->used = 0;
	for (size_t i = 0; i < n; i++) {
		if (old[i] != NULL)
			put(maker, old[i]);
	}
	return 0;
}

int wf_tree_add(struct wf_tree_maker *maker, struct wf_tree *parent, enum wf_tree_kind kind,
                const char *key, size_t key_len, uint32_t line, struct wf_tree **node_p)
{
	struct wf_tree *node = NULL, *twin = NULL;

	assert(parent == NULL || (parent->kind == WF_TREE_MAP) == (key != NULL));
	if (++maker->n > WF_TREE_MAX_NODES)
		return wf_err_at(maker->err, maker->name, line, 0,
		                 "it has more than %d values; no more are read", WF_TREE_MAX_NODES);
	twin = key == NULL ? NULL : wf_tree_find(maker, parent, key, key_len);
	if (twin != NULL)
		return wf_err_at(maker->err, maker->name, line, 0,
		                 "the key \"%.80s\" is there twice, first in line %u", twin->key,
		                 (unsigned)twin->line);
	node = wf_arena_alloc(maker->arena, sizeof(*node), _Alignof(struct wf_tree));
	if (node == NULL)
		return -ENOMEM;
	node->kind = kind;
	node->line = line;
	node->parent = parent;
	if (key != NULL) {
		node->key = wf_tree_copy(maker->arena, key, key_len);
		if (node->key == NULL || grow(maker) != 0)
			return -ENOMEM;
		put(maker, node);
	}
	if (parent != NULL && parent->last != NULL)
		parent->last->next = node;
	else if (parent != NULL)
		parent->child = node;
	if (parent != NULL)
		parent->last = node;
	*node_p = node;
	return 0;
}
