/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_netconf.c - any bytes as the configurations of a network: files with a byte 0x1e between
 * them, the first two of one device. What can be read is finished and looked at; whatever comes of
 * it has its words and a place that is there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "netconf/audit.h"
#include "netconf/read.h"
#include "netconf/tree.h"

#define FILES 6

static void check_place(const struct wf_netconf *net, const struct wf_conf_place *at)
{
	if (at->file != WF_CONF_NONE && at->file >= net->n_files)
		abort();
}

static void read_one(struct wf_netconf *net, const char *text, size_t len, const char *device)
{
	struct wf_conf_look look;
	struct wf_err err = { "" };
	int ret;

	wf_conf_look(text, len, &look);
	if (strlen(look.device) >= WF_CONF_NAME)
		abort();
	if (look.reader == NULL)
		return;
	ret = wf_conf_read(net, &look, "fuzz", text, len,
	                   look.device[0] != '\0' ? look.device : device, "", &err);
	if (ret != 0 && ret != -EINVAL && ret != -ENOMEM)
		abort();
	if ((ret == -EINVAL) != (err.text[0] != '\0'))
		abort();
}

static void check(struct wf_netconf *net)
{
	struct wf_audit audit;
	uint32_t n = 0;

	if (wf_conf_finish(net) != 0)
		return;
	if (wf_audit_run(&audit, net) != 0)
		return;
	for (uint32_t i = 0; i < audit.n; i++) {
		const struct wf_audit_finding *f = &audit.findings[i];

		if (f->id >= WF_AUDIT_N || f->wrong[0] == '\0' || f->right[0] == '\0' ||
		    f->device == NULL)
			abort();
		for (uint32_t k = 0; k < f->n_ports; k++) {
			if (f->ports[k]->device != f->device)
				abort();
		}
		check_place(net, &f->at);
	}
	for (const struct wf_conf_note *note = net->notes; note != NULL; note = note->next, n++)
		check_place(net, &note->at);
	if (n != net->n_notes[WF_CONF_NOTE_ODD] + net->n_notes[WF_CONF_NOTE_OTHER])
		abort();
}

/* Both readers of trees take anything, too; what the one reads as JSON is in bounds. */
static void read_trees(const char *text, size_t len)
{
	struct wf_arena arena;
	struct wf_tree *root = NULL;
	struct wf_err err = { "" };

	wf_arena_init(&arena);
	if (wf_tree_read_json(text, len, "fuzz", &arena, &root, &err) == 0 && root == NULL)
		abort();
	if (wf_tree_read_yaml(text, len, "fuzz", &arena, &root, &err) == 0 && root == NULL)
		abort();
	wf_arena_fini(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[FILES] = { "one", "one", "two", "three", "four", "five" };
	struct wf_netconf net;
	const char *p = (const char *)data, *end = p + size;

	wf_netconf_init(&net);
	/* A network of nothing but references to others' ports must end, too. */
	net.arena.limit = (size_t)256 << 20;
	for (unsigned i = 0; i < FILES && p < end; i++) {
		const char *stop = memchr(p, 0x1e, (size_t)(end - p));
		size_t len = (size_t)((stop == NULL ? end : stop) - p);
		char *copy = malloc(len + 1); /* so that reading past its end is seen */

		if (copy == NULL)
			break;
		memcpy(copy, p, len);
		copy[len] = '\0';
		read_one(&net, copy, len, names[i]);
		if (i == 0)
			read_trees(copy, len);
		free(copy);
		p = stop == NULL ? end : stop + 1;
	}
	check(&net);
	wf_netconf_fini(&net);
	return 0;
}
