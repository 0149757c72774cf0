/* SPDX-License-Identifier: Apache-2.0 */
/* route_dr.c - directed routes: the pointer, and the paths that it goes along. */
#include "mgmt/route_dr.h"

#include <assert.h>
#include <string.h>

#include "wire/byte.h"
#include "wire/ib.h"

#define STATUS 4
#define POINTER 6
#define COUNT 7
#define DR_SLID 32
#define DR_DLID 34
#define HOPS_MAX 63

static bool is_return(const uint8_t *mad)
{
	return (wf_be16_get(mad + STATUS) & WF_SMP_DIRECTION) != 0;
}

/* A port that the node can send by. */
static enum wf_dr out(const struct wf_dr_node *node, unsigned port, struct wf_dr_next *next_p)
{
	if (port == 0 || port > node->n_ports)
		return WF_DR_DROP;
	next_p->port = port;
	return WF_DR_OUT;
}

/* The directed part has ended: the node is meant, or who has the LID. */
static enum wf_dr end(const struct wf_dr_node *node, uint16_t lid, struct wf_dr_next *next_p)
{
	if (lid == WF_LID_PERMISSIVE || !node->is_switch)
		return WF_DR_MINE;
	next_p->lid = lid;
	return WF_DR_BY_LID;
}

static enum wf_dr rx_outbound(const struct wf_dr_node *node, unsigned in_port, uint8_t *mad,
                              struct wf_dr_next *next_p)
{
	unsigned pointer = mad[POINTER], count = mad[COUNT];

	if (pointer == count + 1)
		return WF_DR_MINE;
	if (pointer == 0 || pointer > count || (pointer < count && !node->is_switch))
		return WF_DR_DROP;
	mad[WF_SMP_RETURN_PATH + pointer] = (uint8_t)in_port;
	mad[POINTER]++;
	if (pointer < count)
		return out(node, mad[WF_SMP_INITIAL_PATH + pointer + 1], next_p);
	return end(node, wf_be16_get(mad + DR_DLID), next_p);
}

static enum wf_dr rx_return(const struct wf_dr_node *node, uint8_t *mad, struct wf_dr_next *next_p)
{
	unsigned pointer = mad[POINTER], count = mad[COUNT];

	if (pointer == 0)
		return WF_DR_MINE;
	if (pointer > count + 1 || (pointer > 1 && !node->is_switch))
		return WF_DR_DROP;
	mad[POINTER]--;
	if (pointer == 1)
		return end(node, wf_be16_get(mad + DR_SLID), next_p);
	return out(node, mad[WF_SMP_RETURN_PATH + pointer - 1], next_p);
}

enum wf_dr wf_dr_rx(const struct wf_dr_node *node, unsigned in_port, uint8_t *mad,
                    struct wf_dr_next *next_p)
{
	if (mad[COUNT] > HOPS_MAX)
		return WF_DR_DROP;
	return is_return(mad) ? rx_return(node, mad, next_p)
	                      : rx_outbound(node, in_port, mad, next_p);
}

enum wf_dr wf_dr_tx(const struct wf_dr_node *node, uint8_t *mad, struct wf_dr_next *next_p)
{
	unsigned pointer = mad[POINTER], count = mad[COUNT];

	if (count > HOPS_MAX)
		return WF_DR_DROP;
	if (is_return(mad)) {
		uint16_t dlid = wf_be16_get(mad + DR_DLID);

		if (pointer != count + 1)
			return WF_DR_DROP;
		if (dlid != WF_LID_PERMISSIVE) {
			/* back as it came: by LID, to where the directed part ended */
			next_p->lid = 0;
			return WF_DR_BY_LID;
		}
		mad[POINTER]--;
		return count == 0 ? WF_DR_MINE : out(node, mad[WF_SMP_RETURN_PATH + count], next_p);
	}
	if (pointer != 0)
		return WF_DR_DROP;
	mad[POINTER]++;
	return count == 0 ? WF_DR_MINE : out(node, mad[WF_SMP_INITIAL_PATH + 1], next_p);
}

void wf_dr_answer(uint8_t *mad)
{
	wf_be16_put(mad + STATUS, wf_be16_get(mad + STATUS) | WF_SMP_DIRECTION);
}

void wf_dr_request(uint8_t *mad, const uint8_t *path, unsigned n_hops)
{
	assert(n_hops <= HOPS_MAX);
	wf_be16_put(mad + STATUS, 0);
	mad[POINTER] = 0;
	mad[COUNT] = (uint8_t)n_hops;
	wf_be16_put(mad + DR_SLID, WF_LID_PERMISSIVE);
	wf_be16_put(mad + DR_DLID, WF_LID_PERMISSIVE);
	memset(mad + WF_SMP_INITIAL_PATH, 0, WF_MAD_LEN - WF_SMP_INITIAL_PATH);
	for (unsigned i = 1; i <= n_hops; i++)
		mad[WF_SMP_INITIAL_PATH + i] = path[i];
}
