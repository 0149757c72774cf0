/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_evidence.c - any bytes as what operators' tools print of counters. What is read is in order,
 * and is found; reading the same again as the later of two snapshots leaves nothing that grew.
 */
#include <stdlib.h>
#include <string.h>

#include "evidence/read.h"

#define MAX_ALLOC (64u << 20)

static void *fuzz_alloc(struct wf_mem *mem, size_t size)
{
	(void)mem;
	return size > MAX_ALLOC ? NULL : calloc(1, size);
}

static void fuzz_free(struct wf_mem *mem, void *ptr)
{
	(void)mem;
	free(ptr);
}

static void hear(void *arg, const char *file, unsigned line, unsigned column, const char *what)
{
	(void)arg;
	if (strcmp(file, "h1/fuzz") != 0 || line == 0 || column == 0 || what[0] == '\0')
		abort();
}

static void ask(const struct wf_evidence *ev)
{
	for (uint32_t i = 0; i < ev->n_samples; i++) {
		const struct wf_ev_sample *s = &ev->samples[i];
		enum wf_ev_counter counter = (enum wf_ev_counter)s->counter;
		uint64_t value = 1, sum;

		if (s->when != ev->later)
			continue;
		if (wf_evidence_get(ev, s->port, s->queue, counter, &value) != s)
			abort();
		if (ev->later && !wf_ev_is_gauge(counter) && value != 0)
			abort();
		if (!wf_evidence_sum(ev, s->port, counter, &sum) ||
		    !wf_evidence_total(ev, ev->ports[s->port].device, counter, &sum))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wf_mem mem = { fuzz_alloc, fuzz_free };
	const struct wf_subnet_ear ear = { hear, NULL };
	struct wf_ev_source source = { "h1/fuzz", "h1", 0 };
	struct wf_evidence *ev = NULL;
	struct wf_err err = { "" };
	int ret;

	if (wf_evidence_create(&mem, &ev) != 0)
		return 0;
	ret = wf_evidence_read(ev, (const char *)data, size, &source, &ear, &err);
	if (ret == 0 && wf_evidence_finish(ev) == 0)
		ask(ev);
	source.when = 1;
	if (ret == 0 && wf_evidence_read(ev, (const char *)data, size, &source, &ear, &err) == 0 &&
	    wf_evidence_finish(ev) == 0)
		ask(ev);
	wf_evidence_destroy(ev);
	return 0;
}
