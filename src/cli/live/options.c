/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.c - the options that several commands of live fabrics have.
 */
#include "cli/live/options.h"

#include <dirent.h>
#include <string.h>

#include "cli/live/live.h"
#include "live/sock.h"

/* Fabrics are known by their sockets: NAME.sock. */
static void each_fabric(wf_values_fn *fn, void *arg)
{
	char path[WF_PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	if (wf_sock_dir(false, path, sizeof(path)) != 0)
		return;
	dir = opendir(path);
	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		char *dot = strrchr(entry->d_name, '.');

		if (dot == NULL || dot == entry->d_name || strcmp(dot, ".sock") != 0)
			continue;
		*dot = '\0';
		fn(arg, entry->d_name, "a live fabric");
	}
	if (dir != NULL)
		closedir(dir);
}

static void each_host(wf_values_fn *fn, void *arg)
{
	struct wf_live_picture p = { .n = 0 };
	char path[WF_PATH_MAX];
	struct wf_err err = { "" };

	if (wf_live_path(NULL, false, path, &err) != 0 || wf_live_look(path, &p, &err) != 0)
		return;
	for (uint32_t i = 0; i < p.table->n_hosts; i++)
		fn(arg, p.table->host[i].name, "a host");
	wf_live_picture_fini(&p);
}

static const struct wf_values fabrics = { .each = each_fabric };
const struct wf_values wf_values_hosts = { .each = each_host };

const struct wf_opt wf_opt_name = {
	.name = "name",
	.letter = 'n',
	.arg = "NAME",
	.help = "What the live fabric is called, where several run side by side; `default` if not "
		"given.",
	.values = &fabrics,
};

const struct wf_opt wf_opt_host = {
	.name = "host",
	.letter = 'H',
	.arg = "HOST",
	.help = "Which host of the live fabric.",
	.values = &wf_values_hosts,
};
