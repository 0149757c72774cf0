/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_mgmt_am.c - an aggregation agent is asked anything, and a manager is answered anything. What
 * the agent refuses changes nothing; trees go by ports that there are, and the manager comes to an
 * end whatever it hears.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mgmt/am.h"
#include "mgmt/ana.h"
#include "wire/byte.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PORTS 9
#define TREES 4
#define PIECE 80

static void told(void *arg, const struct wf_ana_tree *tree)
{
	unsigned *calls = arg, n = 0;

	for (unsigned port = 0; port < 256; port++) {
		bool has = (tree->down[port / 8] >> port % 8 & 1) != 0;

		if (has && (port == 0 || port > PORTS))
			abort();
		n += has;
	}
	if (n != tree->n_down || tree->up > PORTS || tree->id >= TREES)
		abort();
	(*calls)++;
}

/* A MAD whose header is near what is right. */
static void make(uint8_t *mad, const uint8_t *data, size_t n)
{
	static const uint16_t attrs[] = { WF_AM_NODE, WF_AM_QUEUE_PAIR, WF_AM_TREE, 1 };

	memset(mad, 0, WF_MAD_LEN);
	mad[0] = 1;
	mad[1] = WF_MAD_CLASS_AM;
	mad[2] = WF_AM_CLASS_VERSION;
	mad[3] = data[0] % 4 == 0 ? WF_MAD_METHOD_GET : WF_MAD_METHOD_SET;
	wf_be16_put(mad + 16, attrs[data[0] / 4 % 4]);
	memcpy(mad + WF_AM_DATA, data + 1, n - 1);
	if (data[0] >= 0xf0) /* anything */
		memcpy(mad, data, n);
}

static void ask(const uint8_t *data, size_t size)
{
	unsigned calls = 0;
	const struct wf_ana_cfg cfg = { .n_ports = PORTS,
		                        .streams = size % 2 == 0,
		                        .trees = TREES,
		                        .tree = told,
		                        .arg = &calls };
	struct wf_ana *ana;
	uint8_t mad[WF_MAD_LEN];

	if (wf_ana_create(&cfg, wf_mem_heap(), &ana) != 0)
		return;
	while (size > 0) {
		size_t n = size < PIECE ? size : PIECE;
		unsigned before = calls;

		make(mad, data, n);
		if (wf_ana_rx(ana, mad) && wf_be16_get(mad + 4) != WF_MAD_OK && calls != before)
			abort();
		data += n;
		size -= n;
	}
	wf_ana_destroy(ana);
}

static void answer(const uint8_t *data, size_t size)
{
	static const struct wf_am_link links[] = { { 2, 1, 2 }, { 3, 2, 1 }, { 1, 2, 1 } };
	struct wf_am_place places[] = {
		{ .tree = 0, .lid = 1, .root = true, .first = 0, .n = 2 },
		{ .tree = 0, .lid = 2, .first = 2, .n = 1 },
	};
	const struct wf_am_cfg cfg = { .max_wire = 2, .timeout = WF_MS, .retries = 1 };
	struct wf_am *am;
	uint8_t mad[WF_MAD_LEN];
	uint16_t lid;
	wf_time now = 0;

	if (wf_am_create(&cfg, wf_mem_heap(), &am) != 0)
		return;
	wf_am_begin(am, places, 2, links);
	for (unsigned steps = 0; !wf_am_is_over(am); steps++) {
		while (wf_am_tx(am, &lid, mad, now)) {
			if (size == 0)
				continue;
			/* The answer is right, or any bytes behind a header that may be. */
			mad[3] = *data % 3 == 0 ? *data : WF_MAD_METHOD_GET_RESP;
			mad[5] = *data % 5 == 0 ? *data : 0;
			mad[15] = (uint8_t)(mad[15] + (*data % 7 == 0));
			data++;
			size--;
			wf_am_rx(am, mad);
		}
		if (steps > 1000)
			abort();
		if (wf_am_deadline(am) != WF_TIME_NEVER) {
			now = wf_am_deadline(am);
			wf_am_tick(am, now);
		}
	}
	wf_am_destroy(am);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ask(data, size);
	answer(data, size);
	return 0;
}
