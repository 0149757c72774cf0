/* SPDX-License-Identifier: Apache-2.0 */
/* flows.c - a list of flows as a trace. */
#include "job/flows.h"

#include <errno.h>

#include "base/sort.h"

#define CHANNELS 256

static int by_pair(const void *a, const void *b, const void *arg)
{
	const struct wf_job_flow *flows = arg;
	const struct wf_job_flow *x = &flows[*(const uint32_t *)a];
	const struct wf_job_flow *y = &flows[*(const uint32_t *)b];

	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	return x->dst < y->dst ? -1 : x->dst > y->dst;
}

/* Numbers the flows of each pair in their order; until then recv is nobody's. */
static int number_channels(struct wf_job_flow *flows, uint32_t n, struct wf_mem *mem)
{
	uint32_t *order = mem->alloc(mem, (n + (size_t)1) * sizeof(*order));
	uint32_t *room = mem->alloc(mem, (n + (size_t)1) * sizeof(*room));

	for (uint32_t i = 0; order != NULL && room != NULL && i < n; i++)
		order[i] = i;
	if (order != NULL && room != NULL) {
		wf_sort(order, room, n, sizeof(*order), by_pair, flows);
		for (uint32_t i = 0; i < n; i++) {
			bool same = i > 0 && by_pair(&order[i - 1], &order[i], flows) == 0;

			flows[order[i]].recv = same ? (flows[order[i - 1]].recv + 1) % CHANNELS : 0;
		}
	}
	mem->free(mem, room);
	mem->free(mem, order);
	return order != NULL && room != NULL ? 0 : -ENOMEM;
}

static int add_flow(struct wf_trace *trace, struct wf_job_flow *flow, uint32_t tag)
{
	struct wf_op op = { .unit = WF_UNIT_NONE, .kind = WF_OP_CALC, .time = flow->start };
	uint32_t delay = 0;
	int ret = 0;

	if (flow->start > 0)
		ret = wf_trace_op(trace, flow->src, &op, flow->line, &delay);
	if (ret != 0)
		return ret;
	op = (struct wf_op){ .unit = WF_UNIT_NONE,
		             .kind = WF_OP_SEND,
		             .bytes = flow->bytes,
		             .peer = flow->dst,
		             .tag = tag,
		             .channel = (uint16_t)flow->recv };
	ret = wf_trace_op(trace, flow->src, &op, flow->line, &flow->send);
	if (ret == 0 && flow->start > 0)
		ret = wf_trace_after(trace, flow->send, delay, false);
	op.kind = WF_OP_RECV;
	op.peer = flow->src;
	return ret != 0 ? ret : wf_trace_op(trace, flow->dst, &op, flow->line, &flow->recv);
}

int wf_flows_add(struct wf_trace *trace, struct wf_job_flow *flows, uint32_t n, struct wf_mem *mem)
{
	int ret = number_channels(flows, n, mem);

	for (uint32_t i = 0; ret == 0 && i < n; i++)
		ret = add_flow(trace, &flows[i], i);
	return ret;
}
