/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_mgmt_agents.c - the agents of performance and of congestion control are asked anything. What
 * is not answered with success has changed nothing, and counters never exceed their fields.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mgmt/cca.h"
#include "mgmt/pma.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PORTS 3

static void read_all(void *arg, unsigned port, uint64_t counter[WF_PMA_COUNTERS])
{
	uint64_t *base = arg;

	if (port > PORTS)
		abort();
	for (unsigned c = 0; c < WF_PMA_COUNTERS; c++)
		counter[c] = *base * (c + 1) * (port + 1);
}

static bool read_simple(void *arg, unsigned port, uint16_t attr_id,
                        uint64_t counter[WF_PERF_SIMPLE_MAX])
{
	uint64_t *base = arg;

	if (port > PORTS)
		abort();
	for (unsigned c = 0; c < WF_PERF_SIMPLE_MAX; c++)
		counter[c] = *base * (c + 1);
	return attr_id % 5 != 0;
}

static void changed(void *arg, unsigned what)
{
	unsigned *calls = arg;

	if (what == 0)
		abort();
	(*calls)++;
}

/* A MAD whose header is near what is right. */
static void make(uint8_t *mad, uint8_t class, const uint8_t *data, size_t n)
{
	memset(mad, 0, WF_MAD_LEN);
	memcpy(mad, data, n);
	mad[0] = 1;
	mad[1] = class;
	if (data[1] % 16 == 15)
		return;
	mad[2] = class == WF_MAD_CLASS_PERF ? 1 : WF_CONG_CLASS_VERSION;
	mad[3] = data[0] % 2 == 0 ? WF_MAD_METHOD_GET : WF_MAD_METHOD_SET;
	mad[16] = 0;
	mad[17] %= 0x38;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct wf_pma_ops ops = { read_all, read_simple };
	uint64_t base = 0;
	unsigned calls = 0, before;
	struct wf_pma_cfg pma_cfg = { .n_ports = PORTS, .ops = &ops, .arg = &base };
	struct wf_cca_cfg cca_cfg = { .n_ports = PORTS, .table_blocks = 2, .changed = changed };
	uint8_t mad[WF_MAD_LEN];
	struct wf_pma *pma;
	struct wf_cca *cca;
	wf_time now = 0;

	if (size < 1)
		return 0;
	pma_cfg.is_switch = cca_cfg.is_switch = data[0] % 2 == 0;
	cca_cfg.arg = &calls;
	if (wf_pma_create(&pma_cfg, wf_mem_heap(), &pma) != 0)
		return 0;
	if (wf_cca_create(&cca_cfg, wf_mem_heap(), &cca) != 0)
		abort();
	for (data++, size--; size >= 32;) {
		size_t n = size < WF_MAD_LEN ? size : WF_MAD_LEN;
		bool answered;

		make(mad, WF_MAD_CLASS_PERF, data, n);
		(void)wf_pma_rx(pma, mad);
		make(mad, WF_MAD_CLASS_CC, data, n);
		before = calls;
		answered = wf_cca_rx(cca, mad, now);
		if (calls != before && (!answered || (mad[5] & 0x1f) != 0))
			abort();
		base += (uint64_t)data[4] << data[5] % 40;
		now += (wf_time)data[6] << 32;
		data += n;
		size -= n;
	}
	(void)wf_cca_port(cca, 200);
	(void)wf_cca_cct(cca, 1000);
	wf_pma_destroy(pma);
	wf_cca_destroy(cca);
	return 0;
}
