/* SPDX-License-Identifier: Apache-2.0 */
/*
 * errors.c - how likely a packet is lost on a link, and what the FEC mends meanwhile.
 */
#include "fabric/errors.h"

#include <errno.h>

#include "base/rng.h"
#include "fabric/fabric.h"

#define RNG_BURST 5 /* domain of the draws for bursts of errors */
#define BER_ONE UINT64_C(1000000000000000000)

/* ---- bursts ---- */

void wf_burst_turn(struct wf_burst *b)
{
	wf_time mean = b->on ? b->every : b->lasts;
	unsigned __int128 time =
		(unsigned __int128)(uint64_t)mean * wf_rand_exp(wf_rand64(b->key, b->n++));

	b->on = !b->on;
	b->until = wf_time_cap((unsigned __int128)(uint64_t)b->until + 1 + (time >> 32));
}

/* It begins anew at now if the times are others than before. */
static void set_burst(struct wf_burst *b, const struct wf_fabric_cfg *cfg, uint64_t key,
                      wf_time now)
{
	bool any = cfg->burst_ber != 0;

	if (any ? b->every == cfg->burst_every && b->lasts == cfg->burst_for : b->every == 0)
		return;
	*b = (struct wf_burst){ .until = WF_TIME_NEVER };
	if (!any)
		return;
	b->key = wf_mix64(key + (uint64_t)now);
	b->every = cfg->burst_every;
	b->lasts = cfg->burst_for;
	/* As if a burst had just ended. */
	b->on = true;
	b->until = now;
	wf_burst_turn(b);
}

int wf_port_errors_set(struct wf_device *dev, struct wf_port *port, wf_time now)
{
	const struct wf_fabric_cfg *cfg = &port->setup->cfg;

	if (port->fec == NULL) {
		if ((cfg->link_raw_ber | cfg->burst_ber) == 0)
			return 0;
		port->fec = wf_shard_alloc(dev->node.shard, sizeof(*port->fec));
		if (port->fec == NULL)
			return -ENOMEM;
		port->fec->burst.until = WF_TIME_NEVER;
		port->fec->since = now;
	}
	set_burst(&port->fec->burst, cfg,
	          wf_rand_key(dev->fabric->seed, RNG_BURST, (uint64_t)dev->id << 16 | port->number),
	          now);
	return 0;
}

/* ---- chances ---- */

static uint64_t raw_ber(const struct wf_port *port, bool burst)
{
	const struct wf_fabric_cfg *cfg = &port->setup->cfg;

	return burst ? cfg->burst_ber : cfg->link_raw_ber;
}

/*
 * The chance that a packet of size bytes has a bit error, in units of 2^-64: link.ber goes down to
 * 1e-18, far below 2^-32 for a packet. UINT64_MAX stands for certainty.
 */
static uint64_t error_chance(const struct wf_port *port, uint32_t size, bool burst)
{
	const struct wf_setup *s = port->setup;
	uint64_t ber = s->cfg.link_ber;
	unsigned __int128 p;

	if (s->fec.code->symbols == 0)
		ber += raw_ber(port, burst);
	p = (unsigned __int128)ber * size * 8;
	return p < BER_ONE ? (uint64_t)((p << 64) / BER_ONE) : UINT64_MAX;
}

unsigned __int128 wf_port_chance(const struct wf_fabric *fabric, const struct wf_port *port,
                                 uint32_t size, bool burst, uint64_t *fec_p)
{
	const unsigned __int128 one = (unsigned __int128)1 << 64;
	const struct wf_setup *s = port->setup;
	unsigned __int128 sum;

	*fec_p = wf_fec_chance(burst ? &s->burst_fec : &s->fec, size + fabric->gap);
	sum = ((unsigned __int128)port->loss << 32) + error_chance(port, size, burst) + *fec_p;
	return sum < one ? sum : one;
}

bool wf_port_draws(const struct wf_fabric *fabric, struct wf_port *port,
                   const struct wf_packet *pkt, wf_time now)
{
	uint64_t fec, drawn;
	unsigned __int128 chance;
	bool burst = false;

	if (port->retried || pkt->input == WF_PACKET_LOST)
		return pkt->input == WF_PACKET_LOST;
	if (port->fec != NULL) {
		if (port->fec->burst.until <= now)
			wf_port_fec_settle(port, now);
		burst = port->fec->burst.on;
	}
	chance = wf_port_chance(fabric, port, pkt->size, burst, &fec);
	drawn = wf_rand64(port->rng_key, port->rng_count++);
	assert(fec == 0 || port->fec != NULL);
	if (drawn < fec)
		port->fec->uncorrected[pkt->vl]++;
	return drawn < chance;
}

/* ---- what the FEC mends ---- */

/* Keeps the raw bit error rate that is the largest part of what its code copes with. */
static void note_raw_ber(struct wf_port_fec *sums, uint64_t raw, const struct wf_fec_code *code)
{
	if (sums->code != NULL && (unsigned __int128)raw * sums->code->limit <=
	                                  (unsigned __int128)sums->raw_ber * code->limit)
		return;
	sums->raw_ber = raw;
	sums->code = code;
}

/* Up to at the link is as it is. */
static void add_up(const struct wf_port *port, struct wf_port_fec *sums, wf_time at)
{
	const struct wf_setup *s = port->setup;
	const struct wf_fec *fec = sums->burst.on ? &s->burst_fec : &s->fec;
	wf_time span = at - sums->since;
	unsigned __int128 bytes;

	assert(span >= 0);
	sums->since = at;
	if (span == 0 || !port->up)
		return;
	note_raw_ber(sums, raw_ber(port, sums->burst.on), s->fec.code);
	if (fec->bytes == 0)
		return;
	bytes = wf_rate_bytes(port->per_byte, span);
	sums->mended += bytes * fec->mended / fec->code->bytes;
	sums->symbols += bytes * fec->symbols / fec->code->bytes;
	sums->flips += bytes * fec->flips / fec->code->bytes;
}

static void settle(const struct wf_port *port, struct wf_port_fec *sums, wf_time now)
{
	while (sums->burst.until <= now) {
		add_up(port, sums, sums->burst.until);
		wf_burst_turn(&sums->burst);
	}
	add_up(port, sums, now);
}

void wf_port_fec_settle(struct wf_port *port, wf_time now)
{
	if (port->fec != NULL)
		settle(port, port->fec, now);
}

struct wf_fec_sums wf_port_fec(const struct wf_port *port, wf_time now)
{
	const struct wf_fec_sums none = { .code = NULL };
	struct wf_port_fec sums;

	if (port->fec == NULL)
		return none;
	sums = *port->fec;
	settle(port, &sums, now);
	return (struct wf_fec_sums){
		.codewords = (uint64_t)(sums.mended >> 64),
		.symbols = (uint64_t)(sums.symbols >> 56),
		.bits = (uint64_t)(sums.flips >> 56),
		.raw_ber = sums.raw_ber,
		.code = sums.code,
	};
}
