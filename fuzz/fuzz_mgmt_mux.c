/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_mgmt_mux.c - a mux with agents with and without RMPP is given anything: MADs, sends, time,
 * agents that go and come. All memory comes back, and time always goes on.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mgmt/mux.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct agent {
	struct wf_mux_agent *agent;
	unsigned left; /* events that are answered with a send */
};

static struct {
	struct wf_mem mem;
	long held;
} memory;

static void *take(struct wf_mem *mem, size_t size)
{
	(void)mem;
	memory.held++;
	return wf_mem_heap()->alloc(wf_mem_heap(), size);
}

static void give(struct wf_mem *mem, void *ptr)
{
	(void)mem;
	memory.held -= ptr != NULL;
	wf_mem_heap()->free(wf_mem_heap(), ptr);
}

/* A request is answered with as much data as it has bytes, doubled. */
static void on_event(void *arg, const struct wf_mux_event *event)
{
	struct agent *a = arg;
	uint8_t answer[4096] = { 0 };
	size_t n = 2 * event->length;

	if (event->type == WF_MUX_FAILED || a->left == 0 || event->length < WF_MAD_HEADER_LEN)
		return;
	a->left--;
	memcpy(answer, event->data, event->length < WF_MAD_LEN ? event->length : WF_MAD_LEN);
	answer[3] |= 0x80;
	(void)!wf_mux_send(a->agent, event->addr, answer, n < sizeof(answer) ? n : sizeof(answer),
	                   WF_S, 1, NULL);
}

static void open_agent(struct wf_mux *mux, struct agent *a, unsigned i)
{
	struct wf_mux_agent_cfg cfg = {
		.qp = i == 2 ? 0 : 1,
		.mgmt_class = i == 2 ? WF_MAD_CLASS_SUBN_LID : WF_MAD_CLASS_SA,
		.class_version = i == 2 ? 1 : 2,
		.methods = { i == 1 ? 0 : UINT64_C(0x7fffffff), 0 },
		.rmpp = i != 2,
		.event = on_event,
		.arg = a,
	};

	a->left = 8;
	if (wf_mux_register(mux, &cfg, &a->agent) != 0)
		abort();
}

/* A MAD whose header is near what is right. */
static void make(uint8_t *mad, const uint8_t *data, size_t n)
{
	memset(mad, 0, WF_MAD_LEN);
	memcpy(mad, data, n);
	mad[0] = 1;
	mad[1] = data[1] % 4 == 0 ? WF_MAD_CLASS_SUBN_LID : WF_MAD_CLASS_SA;
	mad[2] = mad[1] == WF_MAD_CLASS_SA ? 2 : 1;
	memset(mad + 8, 0, 7);
	mad[11] = data[2] % 4; /* an agent, or none */
	mad[15] = data[3] % 4;
	if (data[1] % 32 == 31)
		return;
	mad[3] = data[3] % 2 == 0 ? WF_MAD_METHOD_GET_TABLE : WF_MAD_METHOD_GET_TABLE_RESP;
	if (mad[1] == WF_MAD_CLASS_SA) {
		mad[24] = 1;
		mad[28] = mad[29] = mad[30] = mad[32] = mad[33] = 0;
		mad[25] = 1 + mad[25] % 5;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct agent agents[3];
	struct wf_mux_packet packet;
	uint8_t mad[WF_MAD_LEN];
	struct wf_mux *mux;
	wf_time now = 0;

	memory.mem.alloc = take;
	memory.mem.free = give;
	if (wf_mux_create(&memory.mem, &mux) != 0)
		return 0;
	for (unsigned i = 0; i < 3; i++)
		open_agent(mux, &agents[i], i);
	while (size >= 8) {
		size_t n = size < 48 ? size : 48;
		struct wf_mux_addr addr = { .lid = data[4] % 2 };
		unsigned i = data[5] % 3;

		make(mad, data, n);
		if (data[0] % 8 < 5) {
			wf_mux_rx(mux, mad[1] == WF_MAD_CLASS_SA, &addr, mad, now);
		} else if (data[0] % 8 == 5) {
			(void)!wf_mux_send(agents[i].agent, &addr, mad, WF_MAD_LEN,
			                   (wf_time)data[6] << 32, data[7] % 4, NULL);
		} else if (data[0] % 8 == 6 && data[6] % 4 == 0) {
			wf_mux_unregister(agents[i].agent);
			open_agent(mux, &agents[i], i);
		} else {
			now += (wf_time)data[7] << 34;
		}
		for (unsigned sent = 0; wf_mux_tx(mux, WF_MUX_QPS, now, &packet); sent++)
			if (sent > 10000)
				abort();
		wf_mux_tick(mux, now);
		if (wf_mux_deadline(mux) <= now)
			abort();
		data += n;
		size -= n;
	}
	wf_mux_destroy(mux);
	if (memory.held != 0)
		abort();
	return 0;
}
