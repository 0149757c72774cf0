/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml.c - builds the tree from libfyaml's events.
 *
 * Events rather than libfyaml's documents: nothing is built of a file before its depth, size and
 * keys are checked, and an alias is an error before it can multiply anything.
 */
#include "scenario/yaml.h"

#include <errno.h>
#include <libfyaml.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "text/file.h"
#include "text/utf8.h"

struct builder {
	struct wf_arena *arena;
	const char *file;
	struct fy_parser *parser;
	struct fy_diag *diag;
	struct wf_ynode *root;
	struct wf_ynode *open[WF_YAML_MAX_DEPTH]; /* the mappings and sequences around */
	struct wf_ynode *key;                     /* key that waits for its value */
	unsigned depth;
	unsigned nodes;
	unsigned documents;
	struct wf_err *err;
};

char *wf_arena_strdup(struct wf_arena *arena, const char *text, size_t len)
{
	char *copy = wf_arena_alloc(arena, len + 1, 1);

	if (copy == NULL)
		return NULL;
	memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

int wf_ynode_err(const struct wf_ynode *node, struct wf_err *err, const char *fmt, ...)
{
	char text[WF_ERR_TEXT];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return wf_err_at(err, node->file, node->line, node->column, "%s", text);
}

const char *wf_ynode_kind_name(enum wf_ynode_kind kind)
{
	static const char *const name[] = {
		[WF_YNODE_SCALAR] = "a value",
		[WF_YNODE_SEQUENCE] = "a list",
		[WF_YNODE_MAPPING] = "a mapping",
	};

	return name[kind];
}

struct wf_ynode *wf_ynode_get(const struct wf_ynode *mapping, const char *key)
{
	for (struct wf_ynode *v = mapping->child; v != NULL; v = v->next) {
		if (v->key != NULL && strcmp(v->key->text, key) == 0)
			return v;
	}
	return NULL;
}

/* A new node at the token's place. */
static int add_node(struct builder *b, enum wf_ynode_kind kind, struct fy_token *token,
                    struct wf_ynode **node_p)
{
	const struct fy_mark *mark = token != NULL ? fy_token_start_mark(token) : NULL;
	struct wf_ynode *node;

	if (++b->nodes > WF_YAML_MAX_NODES)
		return wf_err_at(b->err, b->file, 0, 0, "it has more than %d values; write fewer",
		                 WF_YAML_MAX_NODES);
	node = wf_arena_alloc(b->arena, sizeof(*node), _Alignof(struct wf_ynode));
	if (node == NULL)
		return -ENOMEM;
	node->kind = kind;
	node->file = b->file;
	if (mark != NULL) {
		node->line = (unsigned)mark->line + 1;
		node->column = (unsigned)mark->column + 1;
	}
	*node_p = node;
	return 0;
}

/* Takes a key of a mapping, to wait for its value. */
static int take_key(struct builder *b, const struct wf_ynode *mapping, struct wf_ynode *key)
{
	const struct wf_ynode *first;

	if (key->kind != WF_YNODE_SCALAR)
		return wf_ynode_err(key, b->err, "a key is %s; a key must be a plain word",
		                    wf_ynode_kind_name(key->kind));
	if (mapping->n == WF_YAML_MAX_KEYS)
		return wf_ynode_err(key, b->err, "the mapping has more than %d keys; write fewer",
		                    WF_YAML_MAX_KEYS);
	first = wf_ynode_get(mapping, key->text);
	if (first != NULL)
		return wf_ynode_err(key, b->err,
		                    "the key '%.60s' is there twice, first on line %u; keep one of "
		                    "them",
		                    key->text, first->key->line);
	b->key = key;
	return 0;
}

/* Hangs a complete or opening node into the mapping or sequence around it. */
static int attach(struct builder *b, struct wf_ynode *node)
{
	struct wf_ynode *parent = b->depth > 0 ? b->open[b->depth - 1] : NULL;

	if (parent == NULL) {
		b->root = node;
		return 0;
	}
	if (parent->kind == WF_YNODE_MAPPING) {
		if (b->key == NULL)
			return take_key(b, parent, node);
		node->key = b->key;
		b->key = NULL;
		if (node->line == 0) { /* nothing was written: point at the key */
			node->line = node->key->line;
			node->column = node->key->column;
		}
	}
	if (parent->last != NULL)
		parent->last->next = node;
	else
		parent->child = node;
	parent->last = node;
	parent->n++;
	return 0;
}

static int open_node(struct builder *b, enum wf_ynode_kind kind, struct fy_token *token)
{
	struct wf_ynode *node = NULL;
	int rc = add_node(b, kind, token, &node);

	if (rc != 0)
		return rc;
	rc = attach(b, node);
	if (rc != 0)
		return rc;
	if (b->depth == WF_YAML_MAX_DEPTH)
		return wf_ynode_err(node, b->err,
		                    "it is nested more than %d deep; write it flatter",
		                    WF_YAML_MAX_DEPTH);
	b->open[b->depth++] = node;
	return 0;
}

static int add_scalar(struct builder *b, struct fy_event *event)
{
	struct fy_token *token = event->scalar.value;
	struct wf_ynode *node = NULL;
	size_t len = 0;
	const char *text = token != NULL ? fy_token_get_text(token, &len) : "";
	int rc;

	rc = add_node(b, WF_YNODE_SCALAR, token, &node);
	if (rc != 0)
		return rc;
	if (text == NULL || memchr(text, '\0', len) != NULL)
		return wf_ynode_err(node, b->err, "there is a NUL in it; write text");
	node->text = wf_arena_strdup(b->arena, text, len);
	return node->text == NULL ? -ENOMEM : attach(b, node);
}

static int refuse(struct builder *b, struct fy_token *token, const char *what)
{
	const struct fy_mark *mark = fy_token_start_mark(token);

	return wf_err_at(b->err, b->file, mark != NULL ? (unsigned)mark->line + 1 : 0,
	                 mark != NULL ? (unsigned)mark->column + 1 : 0,
	                 "%s cannot be used here; write the value itself", what);
}

static int check_decorations(struct builder *b, struct fy_token *anchor, struct fy_token *tag)
{
	if (anchor != NULL)
		return refuse(b, anchor, "an anchor");
	if (tag != NULL)
		return refuse(b, tag, "a tag");
	return 0;
}

static int start_document(struct builder *b)
{
	if (++b->documents > 1)
		return wf_err_at(b->err, b->file, 0, 0,
		                 "it holds more than one document (---); keep one");
	return 0;
}

static int handle(struct builder *b, struct fy_event *event)
{
	int rc = 0;

	switch (event->type) {
	case FYET_DOCUMENT_START:
		return start_document(b);
	case FYET_MAPPING_START:
		rc = check_decorations(b, event->mapping_start.anchor, event->mapping_start.tag);
		return rc != 0 ? rc
		               : open_node(b, WF_YNODE_MAPPING, event->mapping_start.mapping_start);
	case FYET_SEQUENCE_START:
		rc = check_decorations(b, event->sequence_start.anchor, event->sequence_start.tag);
		return rc != 0 ? rc
		               : open_node(b, WF_YNODE_SEQUENCE,
		                           event->sequence_start.sequence_start);
	case FYET_MAPPING_END:
	case FYET_SEQUENCE_END:
		b->depth--;
		return 0;
	case FYET_ALIAS:
		return refuse(b, event->alias.anchor, "an alias");
	case FYET_SCALAR:
		rc = check_decorations(b, event->scalar.anchor, event->scalar.tag);
		return rc != 0 ? rc : add_scalar(b, event);
	case FYET_NONE:
	case FYET_STREAM_START:
	case FYET_STREAM_END:
	case FYET_DOCUMENT_END:
		break;
	}
	return rc;
}

/* What libfyaml has against the text, with its place. */
static int syntax_error(struct builder *b)
{
	void *iter = NULL;
	struct fy_diag_error *e;

	while ((e = fy_diag_errors_iterate(b->diag, &iter)) != NULL) {
		if (e->type == FYET_ERROR && e->msg != NULL)
			return wf_err_at(b->err, b->file, e->line > 0 ? (unsigned)e->line : 0,
			                 e->column > 0 ? (unsigned)e->column : 0,
			                 "this is not YAML: %s", e->msg);
	}
	return wf_err_at(b->err, b->file, 0, 0,
	                 "this is not YAML; is it the right file, and of YAML version 1.2?");
}

static int parse_events(struct builder *b)
{
	struct fy_event *event;
	int rc = 0;

	while (rc == 0 && (event = fy_parser_parse(b->parser)) != NULL) {
		rc = handle(b, event);
		fy_parser_event_free(b->parser, event);
	}
	if (rc == 0 && fy_parser_get_stream_error(b->parser))
		rc = syntax_error(b);
	if (rc == 0 && b->root == NULL)
		rc = wf_err_at(b->err, b->file, 0, 0, "it is empty; see docs/scenario.md");
	return rc;
}

/* That it is text at all; libfyaml would end at the first byte that is not. */
static int check_text(const char *text, size_t len, const char *name, struct wf_err *err)
{
	const unsigned char *p = (const unsigned char *)text, *end = p + len;
	unsigned line = 1, column = 1;

	while (p < end) {
		size_t n = wf_utf8_length(p, (size_t)(end - p));

		if (n == 0 || *p == 0x7f || (*p < 0x20 && strchr("\t\n\r", *p) == NULL) || *p == 0)
			return wf_err_at(
				err, name, line, column,
				"the byte 0x%02x is no text; is this a YAML file in UTF-8?", *p);
		column++;
		if (*p == '\n') {
			line++;
			column = 1;
		}
		p += n;
	}
	return 0;
}

int wf_yaml_parse(const char *text, size_t len, const char *name, struct wf_arena *arena,
                  struct wf_ynode **root_p, struct wf_err *err)
{
	const struct fy_diag_cfg diag_cfg = { .level = FYET_ERROR, .module_mask = ~0u };
	struct fy_parse_cfg cfg = {
		.flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG | FYPCF_JSON_NONE |
		         FYPCF_DISABLE_MMAP_OPT | FYPCF_DEFAULT_VERSION_1_2,
	};
	struct builder b = { .arena = arena, .err = err };
	int rc = check_text(text, len, name, err);

	if (rc != 0)
		return rc;
	b.file = wf_arena_strdup(arena, name, strlen(name));
	if (b.file == NULL)
		return -ENOMEM;
	b.diag = fy_diag_create(&diag_cfg);
	if (b.diag == NULL)
		return -ENOMEM;
	fy_diag_set_collect_errors(b.diag, true);
	cfg.diag = b.diag;
	rc = -ENOMEM;
	b.parser = fy_parser_create(&cfg);
	if (b.parser == NULL)
		goto destroy_diag;
	if (fy_parser_set_string(b.parser, text, len) != 0)
		goto destroy_parser;
	rc = parse_events(&b);
	if (rc == 0)
		*root_p = b.root;
destroy_parser:
	fy_parser_destroy(b.parser);
destroy_diag:
	fy_diag_destroy(b.diag);
	return rc;
}
