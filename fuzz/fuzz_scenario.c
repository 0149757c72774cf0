/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_scenario.c - any bytes as a scenario: values or a message, never a crash, a leak or a hang.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "scenario/scenario.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

/*
 * libfyaml 0.7.12 loses a kilobyte on some long quoted keys; what weft itself loses is still found.
 */
const char *__lsan_default_suppressions(void)
{
	return "leak:libfyaml.so";
}

/* Whether it is small enough to be built thousands of times. */
static bool is_small(const struct wf_scenario *s)
{
	const struct wf_topo_ops *ops = wf_topo_find(s->topo_cfg.kind);

	if (ops == NULL || ops->reads_file || s->topo_cfg.hosts > 64)
		return false;
	for (unsigned i = 0; i < s->n_traffic; i++) {
		const struct wf_traffic_cfg *t = &s->traffic[i].cfg;

		if (t->repeat > 4 || (strcmp(t->kind, "random") == 0 &&
		                      (t->duration > 10 * WF_US || t->size < 1000)))
			return false;
	}
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct wf_paths paths;
	const struct wf_scenario_opts opts = { .paths = &paths };
	struct wf_scenario scenario;
	struct wf_err err = { "" };
	int rc;

	if (paths.n == 0 && wf_paths_init(&paths, NULL, NULL) != 0)
		return 0;
	rc = wf_scenario_parse(&scenario, (const char *)data, size, "fuzz.yaml", &opts, &err);
	if (rc == 0 && is_small(&scenario))
		rc = wf_scenario_build(&scenario, &err);
	/* A refusal says why, in one line. */
	assert(rc == 0 || err.text[0] != '\0');
	assert(strchr(err.text, '\n') == NULL);
	wf_scenario_fini(&scenario);
	return 0;
}
