/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.c - fills configuration structs from mappings and remembers places.
 */
#include "scenario/settings.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "text/suggest.h"

#define MAX_NAME 128  /* of a dotted name */
#define MAX_VALUE 512 /* of a list written as one text */

struct wf_place wf_place_of(const struct wf_ynode *node)
{
	return (struct wf_place){ .file = node->file, .line = node->line, .column = node->column };
}

int wf_place_err(const struct wf_place *place, struct wf_err *err, const char *fmt, ...)
{
	char text[WF_ERR_TEXT];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (place->file == NULL)
		return wf_err_say(err, "%s", text);
	return wf_err_at(err, place->file, place->line, place->column, "%s", text);
}

int wf_settings_init(struct wf_settings *s, const char *what, const struct wf_param *table,
                     size_t n, void *config, struct wf_arena *arena, struct wf_err *err)
{
	*s = (struct wf_settings){ .table = table, .n = n, .config = config, .what = what };
	s->place = wf_arena_alloc(arena, n * sizeof(*s->place), _Alignof(struct wf_place));
	if (s->place == NULL)
		return -ENOMEM;
	return wf_param_defaults(table, n, config, err);
}

/* Whether rows begin with "name.". */
static bool is_group(const struct wf_settings *s, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < s->n; i++) {
		if (strncmp(s->table[i].name, name, len) == 0 && s->table[i].name[len] == '.')
			return true;
	}
	return false;
}

static int unknown(const struct wf_settings *s, const char *name, const struct wf_place *place,
                   const char *const *others, struct wf_err *err)
{
	struct wf_suggest suggest;

	wf_suggest_init(&suggest, name);
	for (; others != NULL && *others != NULL; others++)
		wf_suggest_offer(&suggest, *others);
	for (size_t i = 0; i < s->n; i++)
		wf_suggest_offer(&suggest, s->table[i].name);
	return wf_place_err(place, err, "unknown key '%.60s'%s", name,
	                    wf_suggest_text(&suggest, "the keys here are"));
}

/* Takes back what an earlier file says in place of row: who sets row means row to count. */
static int take_back(struct wf_settings *s, const struct wf_param *row,
                     const struct wf_place *place, struct wf_err *err)
{
	const struct wf_param *other = wf_param_find(s->table, s->n, row->instead_of);
	const char *file = s->place[other - s->table].file;

	if (file == NULL || (place->file != NULL && strcmp(file, place->file) == 0))
		return 0;
	return wf_param_set(other, s->config, other->def, err);
}

int wf_settings_set(struct wf_settings *s, const char *name, const char *text,
                    const struct wf_place *place, struct wf_err *err)
{
	const struct wf_param *row = wf_param_find(s->table, s->n, name);
	struct wf_err why = { "" };

	if (row == NULL)
		return unknown(s, name, place, NULL, err);
	if (wf_param_set(row, s->config, text, &why) != 0)
		return wf_place_err(place, err, "%s: %s", name, why.text);
	s->place[row - s->table] = *place;
	s->place[row - s->table].order = ++s->order;
	return row->instead_of != NULL ? take_back(s, row, place, err) : 0;
}

/* A list or mapping of scalars as one text: "3,4", "0:50,3:50". False: not that, or too long. */
static bool join(const struct wf_ynode *node, char out[MAX_VALUE])
{
	size_t at = 0;

	out[0] = '\0';
	for (const struct wf_ynode *v = node->child; v != NULL; v = v->next) {
		int n;

		if (v->kind != WF_YNODE_SCALAR)
			return false;
		n = snprintf(out + at, MAX_VALUE - at, "%s%s%s%s", at > 0 ? "," : "",
		             v->key != NULL ? v->key->text : "", v->key != NULL ? ":" : "",
		             v->text);
		at += n > 0 ? (size_t)n : 0;
		if (at >= MAX_VALUE)
			return false;
	}
	return true;
}

static int apply_value(struct wf_settings *s, const struct wf_param *row,
                       const struct wf_ynode *value, unsigned before, struct wf_err *err)
{
	struct wf_place place = wf_place_of(value);
	char text[MAX_VALUE];

	if (s->place[row - s->table].order > before)
		return wf_ynode_err(value, err, "%s is there twice in this file; keep one of them",
		                    row->name);
	if (value->kind == WF_YNODE_SCALAR)
		return wf_settings_set(s, row->name, value->text, &place, err);
	if (row->kind == WF_PARAM_TEXT && join(value, text))
		return wf_settings_set(s, row->name, text, &place, err);
	return wf_ynode_err(value, err, "%s is %s; write a single value", row->name,
	                    wf_ynode_kind_name(value->kind));
}

static bool is_one_of(const char *name, const char *const *names)
{
	for (; names != NULL && *names != NULL; names++) {
		if (strcmp(*names, name) == 0)
			return true;
	}
	return false;
}

/* The values of a mapping whose names begin with prefix ("ecn."). Groups nest as deep as names. */
static int apply(struct wf_settings *s, const struct wf_ynode *mapping, const char *prefix,
                 const char *const *others, unsigned before, struct wf_err *err)
{
	int rc = 0;

	for (const struct wf_ynode *v = mapping->child; rc == 0 && v != NULL; v = v->next) {
		struct wf_place place = wf_place_of(v->key);
		const struct wf_param *row;
		char name[MAX_NAME];
		int n = snprintf(name, sizeof(name), "%s%s", prefix, v->key->text);

		if (is_one_of(name, others))
			continue;
		row = wf_param_find(s->table, s->n, name);
		if (row != NULL) {
			rc = apply_value(s, row, v, before, err);
		} else if (n < 0 || n >= (int)sizeof(name) - 1 || !is_group(s, name)) {
			rc = unknown(s, name, &place, others, err);
		} else if (v->kind != WF_YNODE_MAPPING) {
			rc = wf_ynode_err(v, err, "%s is %s; write a mapping, e.g. {%s: ...}", name,
			                  wf_ynode_kind_name(v->kind), "key");
		} else {
			name[n] = '.';
			name[n + 1] = '\0';
			rc = apply(s, v, name, NULL, before, err);
		}
	}
	return rc;
}

int wf_settings_apply(struct wf_settings *s, const struct wf_ynode *mapping,
                      const char *const *others, struct wf_err *err)
{
	if (mapping->kind != WF_YNODE_MAPPING)
		return wf_ynode_err(mapping, err, "%s%sthis is %s; write a mapping, e.g. {%s: ...}",
		                    s->what, s->what[0] != '\0' ? ": " : "",
		                    wf_ynode_kind_name(mapping->kind), s->table[0].name);
	return apply(s, mapping, "", others, s->order, err);
}

struct wf_place wf_settings_place(const struct wf_settings *s, const char *name,
                                  const struct wf_place *fallback)
{
	const struct wf_param *row = wf_param_find(s->table, s->n, name);

	if (row == NULL || s->place[row - s->table].file == NULL)
		return *fallback;
	return s->place[row - s->table];
}

/* Whether text says name, as a word of its own. */
static bool says(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = strstr(text, name); p != NULL; p = strstr(p + 1, name)) {
		bool starts = p == text || (!isalnum((unsigned char)p[-1]) && p[-1] != '_');
		bool ends = !isalnum((unsigned char)p[len]) && p[len] != '_';

		if (starts && ends)
			return true;
	}
	return false;
}

/*
 * The place of the last row that text names, after place. plain: names that are ordinary words
 * count, too.
 */
static struct wf_place last_named(const struct wf_settings *s, const char *text,
                                  struct wf_place place, bool plain)
{
	for (size_t i = 0; i < s->n; i++) {
		const char *name = s->table[i].name;

		if (s->place[i].order > place.order && (plain || strpbrk(name, "._") != NULL) &&
		    says(text, name))
			place = s->place[i];
	}
	return place;
}

int wf_settings_err(const struct wf_settings *s, const struct wf_place *fallback,
                    const struct wf_err *why, struct wf_err *err)
{
	const char *text = why->text;
	struct wf_place place = *fallback;
	size_t len = strlen(s->what);
	char name[MAX_NAME];

	if (len > 0 && strncmp(text, s->what, len) == 0 && text[len] == '.')
		text += len + 1;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, ": "), text);
	place = last_named(s, text, wf_settings_place(s, name, fallback), false);
	if (place.order == fallback->order) {
		/* Nobody set what the text is about: the first half says what is wrong. */
		char wrong[WF_ERR_TEXT];

		snprintf(wrong, sizeof(wrong), "%.*s", (int)strcspn(text, ";"), text);
		place = last_named(s, wrong, place, true);
	}
	return wf_place_err(&place, err, "%s", text);
}
