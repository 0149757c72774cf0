/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit.c - finds the configurations below folders, says whose each is, and reads them.
 *
 * A folder that is named has one device for each file, but for files that are called after what is
 * in them (config_db.json, lldp.json), which are of the folder's device. A folder in it is one
 * device, whatever lies below. A file that says its device's name itself is believed.
 */
#include "study/audit.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/sort.h"
#include "netconf/make.h"
#include "text/file.h"

#define MAX_FILES 100000
#define MAX_DEPTH 12

/* ---- which files there are ---- */

struct walk {
	struct wf_study_audit *study;
	struct wf_err *err;
	int ret;
};

static void *get(struct wf_study_audit *s, size_t size)
{
	void *p = wf_arena_alloc(&s->net.arena, size, _Alignof(max_align_t));

	if (p == NULL)
		s->net.no_memory = true;
	return p;
}

static void add_file(struct walk *w, const char *path, const char *group, bool loose)
{
	struct wf_study_audit *s = w->study;

	if (s->n_files == MAX_FILES) {
		w->ret = wf_err_at(w->err, path, 0, 0, "there are more than %d files", MAX_FILES);
		return;
	}
	if (s->n_files == s->room_files) {
		uint32_t room = s->room_files == 0 ? 64 : 2 * s->room_files;
		struct wf_audit_file *longer = get(s, room * sizeof(*longer));

		if (longer == NULL) {
			w->ret = -ENOMEM;
			return;
		}
		if (s->n_files != 0)
			memcpy(longer, s->files, s->n_files * sizeof(*longer));
		s->files = longer;
		s->room_files = room;
	}
	s->files[s->n_files++] = (struct wf_audit_file){
		.path = wf_conf_text(&s->net, path, strlen(path)), .group = group, .loose = loose
	};
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

/* A name that says what is in a file, and not whose it is. */
static bool is_generic(const char *stem)
{
	static const char *const names[] = {
		"config_db",      "config",         "lldp",
		"lldpctl",        "lldp_neighbors", "qos",
		"buffer",         "buffers",        "ports",
		"mlnx_qos",       "mlxconfig",      "sysfs",
		"running",        "running-config", "startup",
		"startup-config", "nvue",           "commands",
		"datapath",       "traffic",        "qos_features",
		"links",          "topology",       "cabling",
		"show-run",       "cma_roce_tos",   "pfcwd",
	};

	for (size_t i = 0; i < WF_ARRAY_SIZE(names); i++) {
		if (strcmp(stem, names[i]) == 0)
			return true;
	}
	return false;
}

/* "leaf01.json", "gpu-1.eth0.mlnx_qos.txt": what stands before the first dot. */
static const char *stem_of(struct wf_study_audit *s, const char *path)
{
	const char *base = base_of(path);

	return wf_conf_text(&s->net, base, base[0] == '.' ? strlen(base) : strcspn(base, "."));
}

static int by_name(const void *a, const void *b, const void *arg)
{
	(void)arg;
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names in a folder, in order; hidden ones are not looked at. */
static const char **names_in(struct walk *w, const char *path, size_t *n_p)
{
	DIR *dir = opendir(path);
	const char **names = NULL, **room = NULL;
	size_t n = 0, max = 0;
	struct dirent *e;

	if (dir == NULL) {
		w->ret = wf_err_at(w->err, path, 0, 0, "cannot open it: %s", strerror(errno));
		return NULL;
	}
	while ((e = readdir(dir)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		if (n == max) {
			const char **longer;

			max = max == 0 ? 64 : 2 * max;
			longer = get(w->study, 2 * max * sizeof(*names));
			if (longer == NULL) {
				w->ret = -ENOMEM;
				break;
			}
			if (n != 0)
				memcpy(longer, names, n * sizeof(*names));
			names = longer;
			room = longer + max;
		}
		names[n++] = wf_conf_text(&w->study->net, e->d_name, strlen(e->d_name));
	}
	closedir(dir);
	if (n != 0)
		wf_sort(names, room, n, sizeof(*names), by_name, NULL);
	*n_p = n;
	return names;
}

/* All below a folder; group NULL: it was named, and each thing in it is a device. */
static void walk_folder(struct walk *w, const char *path, const char *group, unsigned depth)
{
	size_t n = 0;
	const char **names = names_in(w, path, &n);
	const char *own = base_of(path);

	for (size_t i = 0; i < n && w->ret == 0; i++) {
		const char *full, *stem;
		struct stat st;

		full = wf_conf_textf(&w->study->net, "%s%s%s", path,
		                     path[strlen(path) - 1] == '/' ? "" : "/", names[i]);
		if (stat(full, &st) != 0) {
			add_file(w, full, names[i],
			         false); /* what is wrong is said when it is read */
			continue;
		}
		if (S_ISDIR(st.st_mode)) {
			if (depth < MAX_DEPTH)
				walk_folder(w, full, group != NULL ? group : names[i], depth + 1);
			continue;
		}
		if (!S_ISREG(st.st_mode))
			continue;
		stem = stem_of(w->study, full);
		if (group != NULL)
			add_file(w, full, group, false);
		else
			add_file(w, full,
			         is_generic(stem) ? wf_conf_text(&w->study->net, own, strlen(own))
			                          : stem,
			         !is_generic(stem));
	}
}

static void walk_path(struct walk *w, const char *path)
{
	char copy[WF_PATH_MAX];
	size_t len = strlen(path);
	struct stat st;

	while (len > 1 && path[len - 1] == '/')
		len--;
	if (len == 0 || len >= sizeof(copy)) {
		w->ret = wf_err_say(w->err, "'%.60s' is no path", path);
		return;
	}
	memcpy(copy, path, len);
	copy[len] = '\0';
	if (stat(copy, &st) != 0) {
		w->ret = wf_err_at(w->err, copy, 0, 0, "cannot look at it: %s", strerror(errno));
		return;
	}
	if (S_ISDIR(st.st_mode))
		walk_folder(w, copy, NULL, 0);
	else
		add_file(w, copy, stem_of(w->study, copy), true);
}

/* ---- what stands in them ---- */

/* A value below /sys is a file of its own, of which only the path says what it is. */
static bool is_sys(const char *path)
{
	return strstr(path, "/ecn/roce_") != NULL || strstr(path, "/default_roce_tos") != NULL ||
	       (strstr(path, "/tc/") != NULL && strcmp(base_of(path), "traffic_class") == 0);
}

static int read_text(struct wf_audit_file *f, char **text_p, size_t *len_p, struct wf_err *err)
{
	struct wf_mem *heap = wf_mem_heap();
	size_t n = strlen(f->path);
	char *text = NULL, *both;
	size_t len = 0;
	int ret = wf_file_read(f->path, WF_FILE_MAX, heap, &text, &len, err);

	if (ret != 0)
		return ret;
	if (is_sys(f->path) && len < 1024) {
		both = heap->alloc(heap, n + len + 3);
		if (both == NULL) {
			heap->free(heap, text);
			return -ENOMEM;
		}
		memcpy(both, f->path, n);
		both[n] = ':';
		memcpy(both + n + 1, text, len);
		heap->free(heap, text);
		text = both;
		len += n + 1;
	}
	*text_p = text;
	*len_p = len;
	return 0;
}

/* First all are looked at; the text is read again later, so that one is in memory at a time. */
static int look(struct wf_study_audit *s, struct wf_audit_file *f)
{
	struct wf_err err = { "" };
	char *text = NULL;
	size_t len = 0;
	int ret = read_text(f, &text, &len, &err);

	if (ret == -ENOMEM)
		return ret;
	if (ret != 0) {
		f->error = wf_conf_text(&s->net, err.text, strlen(err.text));
		return 0;
	}
	wf_conf_look(text, len, &f->look);
	wf_mem_heap()->free(wf_mem_heap(), text);
	return 0;
}

/* Whose each file is: as it says, or as another file of its group does; else the group's name. */
static void name_devices(struct wf_study_audit *s)
{
	for (uint32_t i = 0; i < s->n_files; i++) {
		struct wf_audit_file *f = &s->files[i];
		const char *one = NULL;
		bool several = false;

		f->device = f->look.device[0] == '\0'
		                    ? NULL
		                    : wf_conf_text(&s->net, f->look.device, strlen(f->look.device));
		for (uint32_t k = 0; f->device == NULL && k < s->n_files; k++) {
			const struct wf_audit_file *g = &s->files[k];
			const char *name;

			if (g->group != f->group || g->look.device[0] == '\0')
				continue;
			name = wf_conf_text(&s->net, g->look.device, strlen(g->look.device));
			several |= one != NULL && one != name;
			one = name;
		}
		if (f->device == NULL)
			f->device = one != NULL && !several ? one : f->group;
	}
	/* Whole configurations of one name that lie beside each other are of several devices. */
	for (uint32_t i = 0; i < s->n_files; i++) {
		for (uint32_t k = i + 1; k < s->n_files && s->files[i].loose; k++) {
			struct wf_audit_file *f = &s->files[i], *g = &s->files[k];
			const char *kind;

			if (!g->loose || g->device != f->device ||
			    g->look.reader != f->look.reader || f->look.reader == NULL ||
			    f->group == g->group)
				continue;
			kind = wf_conf_reader_name(f->look.reader);
			if (strcmp(kind, "SONiC") == 0 || strncmp(kind, "NVUE", 4) == 0) {
				g->device = g->group;
				f->device = f->group;
			}
		}
	}
}

/* "host.eth0.txt": eth0. */
static const char *interface_of(struct wf_study_audit *s, const char *path)
{
	const char *p = base_of(path);

	while (*p != '\0') {
		size_t n = strcspn(p, ".");

		if (n > 3 && n < 16 &&
		    ((strncmp(p, "eth", 3) == 0 && p[3] >= '0' && p[3] <= '9') ||
		     strncmp(p, "enp", 3) == 0 || strncmp(p, "ens", 3) == 0))
			return wf_conf_text(&s->net, p, n);
		p += n + (p[n] == '.');
	}
	return "";
}

static int read_file(struct wf_study_audit *s, struct wf_audit_file *f)
{
	struct wf_err err = { "" };
	char *text = NULL;
	size_t len = 0;
	int ret;

	if (f->error != NULL)
		return 0;
	if (f->look.reader == NULL) {
		s->n_unknown++;
		return 0;
	}
	ret = read_text(f, &text, &len, &err);
	if (ret == 0) {
		ret = wf_conf_read(&s->net, &f->look, f->path, text, len, f->device,
		                   interface_of(s, f->path), &err);
		wf_mem_heap()->free(wf_mem_heap(), text);
	}
	if (ret == -ENOMEM)
		return ret;
	if (ret != 0)
		f->error = wf_conf_text(&s->net, err.text, strlen(err.text));
	return 0;
}

static void count(struct wf_study_audit *s)
{
	for (uint32_t i = 0; i < s->n_files; i++)
		s->n_errors += s->files[i].error != NULL;
	for (uint32_t i = 0; i < s->net.n_devices; i++) {
		const struct wf_conf_device *d = s->net.devices[i];

		if (d->form == WF_CONF_FORM_NONE)
			continue;
		s->n_devices++;
		s->n_adapters += d->adapter;
		s->n_ports += d->n_ports;
	}
}

int wf_study_audit_read(struct wf_study_audit *s, char *const *paths, size_t n, struct wf_err *err)
{
	struct walk w = { .study = s, .err = err };
	int ret = 0;

	*s = (struct wf_study_audit){ .n_files = 0 };
	wf_netconf_init(&s->net);
	for (size_t i = 0; i < n && w.ret == 0; i++)
		walk_path(&w, paths[i]);
	if (w.ret != 0 || s->net.no_memory)
		return w.ret != 0 ? w.ret : -ENOMEM;
	if (s->n_files == 0)
		return wf_err_at(err, paths[0], 0, 0, "there is no file in it");
	for (uint32_t i = 0; i < s->n_files && ret == 0; i++)
		ret = look(s, &s->files[i]);
	if (ret == 0)
		name_devices(s);
	for (uint32_t i = 0; i < s->n_files && ret == 0; i++)
		ret = read_file(s, &s->files[i]);
	if (ret == 0)
		ret = wf_conf_finish(&s->net);
	if (ret == 0)
		ret = wf_audit_run(&s->audit, &s->net);
	count(s);
	return ret;
}

void wf_study_audit_fini(struct wf_study_audit *s)
{
	wf_netconf_fini(&s->net);
}
