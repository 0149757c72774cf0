/* SPDX-License-Identifier: Apache-2.0 */
/* audit_report.c - what an audit has found: for people, as JSON, and as SARIF for CI systems. */
#include <inttypes.h>
#include <string.h>

#include "study/audit.h"
#include "text/json.h"

#ifndef WEFT_VERSION
#define WEFT_VERSION "0"
#endif

#define SHOWN_NOTES 10
#define SHOWN_PORTS 6

#define INCIDENTS "docs/incidents.md#"

static const char *const note_names[] = {
#define NAME(id, name, help) name,
	WF_CONF_NOTES(NAME)
#undef NAME
};

/* Texts come from files; terminals obey what stands in them. */
static void put(FILE *file, const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++)
		fputc(*p < 0x20 || *p == 0x7f ? '?' : *p, file);
}

static const char *file_of(const struct wf_study_audit *s, const struct wf_conf_place *at)
{
	return at->file == WF_CONF_NONE || at->file >= s->net.n_files ? NULL
	                                                              : s->net.files[at->file];
}

static void put_place(const struct wf_study_audit *s, FILE *file, const struct wf_conf_place *at)
{
	const char *path = file_of(s, at);

	if (path == NULL)
		return;
	put(file, path);
	if (at->line != 0)
		fprintf(file, ":%" PRIu32, at->line);
	if (at->key != NULL) {
		fputs(" ", file);
		put(file, at->key);
	}
}

static const char *device_name(const struct wf_audit_finding *f)
{
	return f->device == NULL ? "" : f->device->name;
}

/* ---- for people ---- */

static void print_ports(const struct wf_audit_finding *f, FILE *file)
{
	for (uint32_t i = 0; i < f->n_ports && i < SHOWN_PORTS; i++) {
		fputs(i == 0 ? " " : ", ", file);
		put(file, f->ports[i]->name);
	}
	if (f->n_ports > SHOWN_PORTS)
		fprintf(file, " and %" PRIu32 " more ports", f->n_ports - SHOWN_PORTS);
}

static void print_finding(const struct wf_study_audit *s, const struct wf_audit_finding *f,
                          FILE *file)
{
	const struct wf_audit_row *row = &wf_audit_rows[f->id];

	fprintf(file, "%-7s  %s: ", wf_audit_grades[row->grade], row->name);
	put(file, device_name(f));
	print_ports(f, file);
	fputs("\n         ", file);
	put(file, f->wrong);
	fputs("\n         at ", file);
	put_place(s, file, &f->at);
	fputs("\n         right: ", file);
	put(file, f->right);
	if (strcmp(f->right, row->cure) != 0)
		fprintf(file, "; %s", row->cure);
	fputc('\n', file);
	if (row->incident[0] != '\0')
		fprintf(file, "         leads to: " INCIDENTS "%s\n", row->incident);
}

static void print_notes(const struct wf_study_audit *s, FILE *file)
{
	uint32_t n = 0, all = s->net.n_notes[WF_CONF_NOTE_ODD];

	if (all != 0)
		fprintf(file, "not understood: %" PRIu32 " line%s or key%s\n", all,
		        all == 1 ? "" : "s", all == 1 ? "" : "s");
	for (const struct wf_conf_note *note = s->net.notes; note != NULL && n < SHOWN_NOTES;
	     note = note->next) {
		if (note->kind != WF_CONF_NOTE_ODD)
			continue;
		fputs("         ", file);
		put_place(s, file, &note->at);
		fputs(": ", file);
		put(file, note->what);
		fputc('\n', file);
		n++;
	}
	if (all > n)
		fprintf(file, "         and %" PRIu32 " more; --json has all\n", all - n);
	if (s->net.n_notes[WF_CONF_NOTE_OTHER] != 0)
		fprintf(file,
		        "of other subjects: %" PRIu32 " tables, lines or keys; --json has them\n",
		        s->net.n_notes[WF_CONF_NOTE_OTHER]);
}

static void print_files(const struct wf_study_audit *s, FILE *file)
{
	for (uint32_t i = 0; i < s->n_files; i++) {
		const struct wf_audit_file *f = &s->files[i];

		if (f->error != NULL) {
			fputs("unread   ", file);
			put(file, f->error);
			fputc('\n', file);
		} else if (f->look.reader == NULL) {
			fputs("unknown  ", file);
			put(file, f->path);
			fputs(": it is of no form that is known here\n", file);
		}
	}
}

static void print_count(FILE *file, const char *end, uint32_t n, const char *what)
{
	bool hiss = what[strlen(what) - 1] == 'h';

	fprintf(file, "%" PRIu32 " %s%s%s", n, what, n == 1 ? "" : hiss ? "es" : "s", end);
}

void wf_study_audit_print(const struct wf_study_audit *s, FILE *file)
{
	print_count(file, ", ", s->n_devices - s->n_adapters, "switch");
	print_count(file, ", ", s->n_adapters, "host");
	print_count(file, ", ", s->n_ports, "port");
	print_count(file, ", ", s->net.n_links, "link");
	print_count(file, "\n", s->n_files, "file");
	print_files(s, file);
	for (uint32_t i = 0; i < s->audit.n; i++)
		print_finding(s, &s->audit.findings[i], file);
	print_notes(s, file);
	print_count(file, ", ", s->audit.count[WF_AUDIT_ERROR], "error");
	print_count(file, ", ", s->audit.count[WF_AUDIT_WARNING], "warning");
	print_count(file, "\n", s->audit.count[WF_AUDIT_NOTE], "note");
}

/* ---- JSON ---- */

static void text_or_null(struct wf_json *j, const char *key, const char *text)
{
	if (text == NULL || text[0] == '\0')
		wf_json_null(j, key);
	else
		wf_json_text(j, key, text);
}

static void json_place(const struct wf_study_audit *s, struct wf_json *j,
                       const struct wf_conf_place *at)
{
	text_or_null(j, "file", file_of(s, at));
	if (at->line == 0 || file_of(s, at) == NULL)
		wf_json_null(j, "line");
	else
		wf_json_u64(j, "line", at->line);
	text_or_null(j, "key", at->key);
}

static void json_finding(const struct wf_study_audit *s, const struct wf_audit_finding *f,
                         struct wf_json *j)
{
	const struct wf_audit_row *row = &wf_audit_rows[f->id];

	wf_json_open(j, NULL, '{');
	wf_json_text(j, "check", row->name);
	wf_json_text(j, "severity", wf_audit_grades[row->grade]);
	text_or_null(j, "device", device_name(f));
	wf_json_open(j, "ports", '[');
	for (uint32_t i = 0; i < f->n_ports; i++)
		wf_json_text(j, NULL, f->ports[i]->name);
	wf_json_close(j, '[');
	json_place(s, j, &f->at);
	wf_json_text(j, "wrong", f->wrong);
	wf_json_text(j, "right", f->right);
	wf_json_text(j, "checked", row->what);
	wf_json_text(j, "source", row->source);
	wf_json_text(j, "cure", row->cure);
	text_or_null(j, "incident", row->incident);
	wf_json_close(j, '{');
}

static void json_files(const struct wf_study_audit *s, struct wf_json *j)
{
	wf_json_open(j, "files", '[');
	for (uint32_t i = 0; i < s->n_files; i++) {
		const struct wf_audit_file *f = &s->files[i];

		wf_json_open(j, NULL, '{');
		wf_json_text(j, "file", f->path);
		text_or_null(j, "form",
		             f->look.reader == NULL ? NULL : wf_conf_reader_name(f->look.reader));
		text_or_null(j, "device", f->look.reader == NULL ? NULL : f->device);
		text_or_null(j, "error", f->error);
		wf_json_close(j, '{');
	}
	wf_json_close(j, '[');
}

static void json_devices(const struct wf_study_audit *s, struct wf_json *j)
{
	wf_json_open(j, "devices", '[');
	for (uint32_t i = 0; i < s->net.n_devices; i++) {
		const struct wf_conf_device *d = s->net.devices[i];

		if (d->form == WF_CONF_FORM_NONE)
			continue;
		wf_json_open(j, NULL, '{');
		wf_json_text(j, "name", d->name);
		wf_json_text(j, "form", wf_conf_form_names[d->form]);
		wf_json_bool(j, "adapter", d->adapter);
		wf_json_u64(j, "ports", d->n_ports);
		wf_json_close(j, '{');
	}
	wf_json_close(j, '[');
}

void wf_study_audit_json(const struct wf_study_audit *s, FILE *file)
{
	struct wf_json j;

	wf_json_init(&j, file);
	wf_json_document(&j, "weft.audit", 1);
	json_files(s, &j);
	json_devices(s, &j);
	wf_json_u64(&j, "links", s->net.n_links);
	wf_json_open(&j, "counts", '{');
	wf_json_u64(&j, "errors", s->audit.count[WF_AUDIT_ERROR]);
	wf_json_u64(&j, "warnings", s->audit.count[WF_AUDIT_WARNING]);
	wf_json_u64(&j, "notes", s->audit.count[WF_AUDIT_NOTE]);
	wf_json_close(&j, '{');
	wf_json_open(&j, "findings", '[');
	for (uint32_t i = 0; i < s->audit.n; i++)
		json_finding(s, &s->audit.findings[i], &j);
	wf_json_close(&j, '[');
	wf_json_open(&j, "not_read", '[');
	for (const struct wf_conf_note *n = s->net.notes; n != NULL; n = n->next) {
		wf_json_open(&j, NULL, '{');
		wf_json_text(&j, "kind", note_names[n->kind]);
		json_place(s, &j, &n->at);
		wf_json_text(&j, "what", n->what);
		wf_json_close(&j, '{');
	}
	wf_json_close(&j, '[');
	wf_json_close(&j, '{');
}

/* ---- SARIF ---- */

/*
 * A path as a URI reference (RFC 3986): what is not unreserved, nor a slash, is a percent sign
 * and two digits.
 */
static void sarif_uri(struct wf_json *j, const char *path)
{
	static const char hex[] = "0123456789ABCDEF";
	char uri[3 * 1024];
	size_t n = 0;

	for (const unsigned char *p = (const unsigned char *)path;
	     *p != '\0' && n + 4 < sizeof(uri); p++) {
		bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
		             (*p >= '0' && *p <= '9') || strchr("-._~/", *p) != NULL;

		if (plain) {
			uri[n++] = (char)*p;
		} else {
			uri[n++] = '%';
			uri[n++] = hex[*p >> 4];
			uri[n++] = hex[*p & 15];
		}
	}
	uri[n] = '\0';
	wf_json_open(j, "artifactLocation", '{');
	wf_json_text(j, "uri", uri);
	wf_json_close(j, '{');
}

static void sarif_message(struct wf_json *j, const char *key, const char *text)
{
	wf_json_open(j, key, '{');
	wf_json_text(j, "text", text);
	wf_json_close(j, '{');
}

static void sarif_rules(struct wf_json *j)
{
	char text[512];

	wf_json_open(j, "rules", '[');
	for (unsigned i = 0; i < WF_AUDIT_N; i++) {
		const struct wf_audit_row *row = &wf_audit_rows[i];

		wf_json_open(j, NULL, '{');
		wf_json_text(j, "id", row->name);
		sarif_message(j, "shortDescription", row->what);
		sarif_message(j, "fullDescription", row->source);
		(void)snprintf(text, sizeof(text), "%s%s%s%s", row->cure,
		               row->incident[0] == '\0' ? "" : "; it leads to ",
		               row->incident[0] == '\0' ? "" : INCIDENTS, row->incident);
		sarif_message(j, "help", text);
		wf_json_open(j, "defaultConfiguration", '{');
		wf_json_text(j, "level", wf_audit_grades[row->grade]);
		wf_json_close(j, '{');
		wf_json_close(j, '{');
	}
	wf_json_close(j, '[');
}

static void sarif_location(const struct wf_study_audit *s, const struct wf_audit_finding *f,
                           struct wf_json *j)
{
	const char *path = file_of(s, &f->at);

	wf_json_open(j, "locations", '[');
	wf_json_open(j, NULL, '{');
	if (path != NULL) {
		wf_json_open(j, "physicalLocation", '{');
		sarif_uri(j, path);
		if (f->at.line != 0) {
			wf_json_open(j, "region", '{');
			wf_json_u64(j, "startLine", f->at.line);
			wf_json_close(j, '{');
		}
		wf_json_close(j, '{');
	}
	wf_json_open(j, "logicalLocations", '[');
	for (uint32_t i = 0; i < f->n_ports || i == 0; i++) {
		char name[400];

		(void)snprintf(name, sizeof(name), "%.180s%s%.180s", device_name(f),
		               f->n_ports == 0 ? "" : "/",
		               f->n_ports == 0 ? "" : f->ports[i]->name);
		wf_json_open(j, NULL, '{');
		wf_json_text(j, "fullyQualifiedName", name);
		wf_json_close(j, '{');
	}
	wf_json_close(j, '[');
	wf_json_close(j, '{');
	wf_json_close(j, '[');
}

static void sarif_result(const struct wf_study_audit *s, const struct wf_audit_finding *f,
                         struct wf_json *j)
{
	const struct wf_audit_row *row = &wf_audit_rows[f->id];
	char text[2048];

	wf_json_open(j, NULL, '{');
	wf_json_text(j, "ruleId", row->name);
	wf_json_u64(j, "ruleIndex", f->id);
	wf_json_text(j, "level", wf_audit_grades[row->grade]);
	(void)snprintf(text, sizeof(text), "%.200s: %.1000s. Right: %.500s.", device_name(f),
	               f->wrong, f->right);
	sarif_message(j, "message", text);
	sarif_location(s, f, j);
	wf_json_close(j, '{');
}

static void sarif_invocation(const struct wf_study_audit *s, struct wf_json *j)
{
	wf_json_open(j, "invocations", '[');
	wf_json_open(j, NULL, '{');
	wf_json_bool(j, "executionSuccessful", s->n_errors == 0);
	wf_json_open(j, "toolExecutionNotifications", '[');
	for (uint32_t i = 0; i < s->n_files; i++) {
		if (s->files[i].error == NULL && s->files[i].look.reader != NULL)
			continue;
		wf_json_open(j, NULL, '{');
		wf_json_text(j, "level", s->files[i].error != NULL ? "error" : "warning");
		sarif_message(j, "message",
		              s->files[i].error != NULL ? s->files[i].error
		                                        : "it is of no form that is known here");
		wf_json_open(j, "locations", '[');
		wf_json_open(j, NULL, '{');
		wf_json_open(j, "physicalLocation", '{');
		sarif_uri(j, s->files[i].path);
		wf_json_close(j, '{');
		wf_json_close(j, '{');
		wf_json_close(j, '[');
		wf_json_close(j, '{');
	}
	wf_json_close(j, '[');
	wf_json_close(j, '{');
	wf_json_close(j, '[');
}

void wf_study_audit_sarif(const struct wf_study_audit *s, FILE *file)
{
	struct wf_json j;

	wf_json_init(&j, file);
	wf_json_open(&j, NULL, '{');
	wf_json_text(&j, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
	wf_json_text(&j, "version", "2.1.0");
	wf_json_open(&j, "runs", '[');
	wf_json_open(&j, NULL, '{');
	wf_json_open(&j, "tool", '{');
	wf_json_open(&j, "driver", '{');
	wf_json_text(&j, "name", "weft audit");
	wf_json_text(&j, "version", WEFT_VERSION);
	sarif_rules(&j);
	wf_json_close(&j, '{');
	wf_json_close(&j, '{');
	sarif_invocation(s, &j);
	wf_json_open(&j, "results", '[');
	for (uint32_t i = 0; i < s->audit.n; i++)
		sarif_result(s, &s->audit.findings[i], &j);
	wf_json_close(&j, '[');
	wf_json_close(&j, '{');
	wf_json_close(&j, '[');
	wf_json_close(&j, '{');
}
