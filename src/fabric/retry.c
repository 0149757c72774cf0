/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retry.c - which packets a link sends again, and what may be on it unconfirmed.
 */
#include "fabric/retry.h"

#include <errno.h>

#include "base/rng.h"
#include "fabric/receive.h"

#define RNG_RETRY 4    /* domain of the draws for losses on links that send again */
#define LEAST_BYTES 24 /* no packet has fewer */

/* Room for what is not confirmed: made once, for the least packets. */
static int make_room(struct wf_device *dev, struct wf_retry *r, uint64_t room)
{
	uint32_t length = (uint32_t)(room / LEAST_BYTES) + 2;

	r->room = room;
	r->largest = dev->fabric->largest + dev->fabric->gap;
	r->used = 0;
	r->first = r->n = 0;
	if (length <= r->length)
		return 0;
	r->sent = wf_shard_alloc(dev->node.shard, length * sizeof(*r->sent));
	r->length = r->sent != NULL ? length : 0;
	return r->sent != NULL ? 0 : -ENOMEM;
}

int wf_retry_set(struct wf_device *dev, struct wf_port *out, struct wf_port *in)
{
	const struct wf_fabric *fabric = dev->fabric;
	const struct wf_fabric_cfg *cfg = &out->setup->cfg;
	uint64_t room = cfg->retry_buffer == (uint64_t)WF_PARAM_AUTO ? 0 : cfg->retry_buffer;
	const struct wf_topo *topo = fabric->topo;
	uint32_t link = topo->ports[topo->nodes[dev->id].first_port + out->number].link;
	struct wf_retry *r = out->retry;

	in->retried = out->setup->retries;
	if (!out->setup->retries) {
		out->hooked &= (uint8_t)~WF_HOOK_RETRY;
		return 0;
	}
	if (r == NULL)
		r = wf_shard_alloc(dev->node.shard, sizeof(*r));
	if (r == NULL)
		return -ENOMEM;
	if (out->retry == NULL)
		r->rng_key =
			wf_rand_key(fabric->seed, RNG_RETRY, (uint64_t)dev->id << 16 | out->number);
	out->retry = r;
	out->hooked |= WF_HOOK_RETRY;
	r->in = in;
	r->burst = in->fec != NULL ? in->fec->burst : (struct wf_burst){ .until = WF_TIME_NEVER };
	r->max = cfg->retry_max;
	r->round = 2 * topo->links[link].delay + cfg->link_phy + in->setup->cfg.link_phy +
	           cfg->retry_delay;
	return room != r->room ? make_room(dev, r, room) : 0;
}

/* Whether a packet that is sent at at is lost. */
static bool is_lost(const struct wf_fabric *fabric, struct wf_retry *r, const struct wf_packet *pkt,
                    wf_time at)
{
	uint64_t fec, drawn;
	unsigned __int128 chance =
		wf_port_chance(fabric, r->in, pkt->size, wf_burst_at(&r->burst, at), &fec);

	if (chance == 0)
		return false;
	drawn = wf_rand64(r->rng_key, r->rng_count++);
	r->uncorrected[pkt->vl] += drawn < fec;
	return drawn < chance;
}

wf_time wf_retry_send(struct wf_device *dev, struct wf_port *port, const struct wf_packet *pkt,
                      wf_time time, wf_time now)
{
	struct wf_retry *r = port->retry;
	wf_time again = 0;

	/* Errors spare link control packets (docs/limits.md). */
	if (wf_packet_is_control(pkt->type) || !r->in->lossy)
		return 0;
	for (uint32_t n = 0; is_lost(dev->fabric, r, pkt, now + again); n++) {
		if (n == r->max || again + time + r->round > dev->fabric->retry_time)
			goto lost;
		r->again[pkt->vl]++;
		again += time + r->round;
		r->taken += time + r->round;
	}
	return again;

lost:
	wf_packet_of(wf_link_slot(&port->link, dev->node.shard))->input = WF_PACKET_LOST;
	return again;
}

/* Forgets the oldest that is not confirmed; returns when it is. */
static wf_time take_oldest(struct wf_retry *r)
{
	const struct wf_retry_sent *s = &r->sent[r->first];

	assert(r->n > 0 && r->used >= s->bytes);
	r->first = r->first + 1 == r->length ? 0 : r->first + 1;
	r->n--;
	r->used -= s->bytes;
	return s->until;
}

wf_time wf_retry_wait(struct wf_retry *r, const struct wf_packet *pkt, uint32_t bytes, wf_time end)
{
	uint32_t at;

	if (r->room == 0 || wf_packet_is_control(pkt->type))
		return end;
	while (r->n > 0 && (r->n == r->length || r->sent[r->first].until <= end))
		(void)take_oldest(r);
	at = r->first + r->n < r->length ? r->first + r->n : r->first + r->n - r->length;
	r->sent[at] = (struct wf_retry_sent){ .until = end + r->round, .bytes = bytes };
	r->n++;
	r->used += bytes;
	while (r->n > 0 && r->used + r->largest > r->room)
		end = wf_max_time(end, take_oldest(r));
	return end;
}
