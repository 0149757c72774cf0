/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opensm.h - what OpenSM did in subnets of ibsim, as files of tests/data/opensm, for the tests that
 * hold weft against it.
 */
#ifndef WF_TESTS_OPENSM_H
#define WF_TESTS_OPENSM_H

#include "smnet.h"

#include "subnet/read.h"

/* The build says where the sources are. */
#ifndef WEFT_SOURCE_DIR
#define WEFT_SOURCE_DIR "."
#endif
#define OPENSM_DATA WEFT_SOURCE_DIR "/tests/data/opensm/"
#define OPENSM_TEXT (1 << 23) /* bytes of the longest file, and more */

/* A file, with a NUL behind it; the caller's to free. */
static inline char *read_text(const char *name, const char *more, size_t *len_p)
{
	char path[512];
	FILE *f;
	char *text = malloc(OPENSM_TEXT);

	(void)snprintf(path, sizeof(path), "%s%s%s", OPENSM_DATA, name, more);
	f = fopen(path, "rb");
	assert_non_null(f);
	assert_non_null(text);
	*len_p = fread(text, 1, OPENSM_TEXT - 1, f);
	text[*len_p] = '\0';
	(void)fclose(f);
	return text;
}

/* The subnet of a file of ibsim's. */
static inline struct wf_subnet *read_net(const char *name)
{
	struct wf_err err = { "" };
	struct wf_subnet *topo;
	size_t len;
	char *text = read_text(name, ".net", &len);

	if (wf_subnet_read(text, len, name, NULL, wf_mem_heap(), &topo, &err) != 0)
		fail_msg("%s", err.text);
	free(text);
	return topo;
}

static inline uint32_t node_called(const struct net *net, const char *desc)
{
	for (uint32_t i = 0; i < net->topo->n_nodes; i++) {
		if (strcmp(net->topo->nodes[i].desc, desc) == 0)
			return i;
	}
	fail_msg("no node %s", desc);
	return 0;
}

static inline struct wf_sm_cfg with_engine(const char *engine)
{
	struct wf_sm_cfg cfg = net_cfg();

	(void)snprintf(cfg.routing_engine, sizeof(cfg.routing_engine), "%s", engine);
	return cfg;
}

#endif
