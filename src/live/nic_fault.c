/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nic_fault.c - faults of links, as the receiver of a packet sees them.
 *
 * A packet crosses two links: that of the host it comes from and that of the host it goes to. Its
 * receiver, who can read the state of both in the table, decides what becomes of it. A packet that
 * is late stays in the ring until it is due, and with it all that comes after it, as on a wire.
 * What is random follows from who sends to whom and how many packets there were: the same packets
 * meet the same fate in every run.
 */
#include "base/rng.h"
#include "live/nic_priv.h"

#define DOMAIN 0x6c6b66 /* of the random numbers */

static uint64_t key_of(const struct wf_nic *nic, const struct wf_nic_peer *p)
{
	uint64_t from = (uint64_t)p->host << 12 | p->slot;
	uint64_t to = (uint64_t)nic->host << 12 | nic->slot;

	return wf_rand_key(0, DOMAIN, from << 32 | to);
}

static enum wf_nic_verdict wait_until(struct wf_nic_peer *p, wf_time at)
{
	p->blocked = at;
	return WF_NIC_WAIT;
}

enum wf_nic_verdict wf_nic_fault(struct wf_nic *nic, struct wf_nic_peer *p, uint32_t stamp,
                                 wf_time now)
{
	/* What comes from outside has only the link of this host in this fabric. */
	unsigned first = wf_nic_is_wire(p) ? 1 : 0;
	const struct wf_live_host *way[2] = { &nic->table->host[first ? nic->host : p->host],
		                              &nic->table->host[nic->host] };
	/* Both clocks are the machine's; the other one may lie, to its own harm only. */
	wf_time age = (wf_time)(int32_t)(wf_nic_stamp(nic, now) - stamp) * WF_NS;
	wf_time delay = way[0]->delay + way[1]->delay;
	uint64_t key = key_of(nic, p);

	if (p->host == nic->host)
		return WF_NIC_PASS; /* it does not leave the adapter */
	if (way[1]->paused != 0)
		return wait_until(p, WF_TIME_NEVER);
	if (age >= 0 && age < delay && first == 0)
		return wait_until(p, now + delay - age);
	p->blocked = 0;
	for (unsigned i = first; i < 2; i++) {
		uint64_t draw = wf_rand64(key, p->draws++);

		/* One half of the bits for each. */
		if (draw >> 32 < way[i]->loss) {
			nic->lost++;
			return WF_NIC_LOSE;
		}
		if ((uint32_t)draw < way[i]->corrupt) {
			nic->icrc_errors++;
			return WF_NIC_SPOIL;
		}
	}
	return WF_NIC_PASS;
}

static bool holds_up(const struct wf_live_table *t, const struct wf_live_host *h)
{
	return h->paused != 0 || !wf_live_is_active(t, (uint32_t)(h - t->host));
}

bool wf_nic_holds_up(const struct wf_nic *nic, const struct wf_nic_peer *p, wf_time timeout)
{
	const struct wf_live_host *own = &nic->table->host[nic->host];
	const struct wf_live_host *other = wf_nic_is_wire(p) ? own : &nic->table->host[p->host];

	/* There and back; by what is late without a fault, a CPU was waited for. */
	return nic->orphan || holds_up(nic->table, own) || holds_up(nic->table, other) ||
	       2 * (own->delay + other->delay) >= timeout;
}

void wf_nic_unblock(struct wf_nic *nic)
{
	for (uint32_t i = 0; i < nic->n_peers; i++)
		nic->peers[i]->blocked = 0;
}

wf_time wf_nic_blocked(const struct wf_nic *nic)
{
	wf_time at = WF_TIME_NEVER;

	for (uint32_t i = 0; i < nic->n_peers; i++) {
		const struct wf_nic_peer *p = nic->peers[i];

		if (p->blocked != 0 && wf_nic_is_linked(p) && wf_ring_ready(&p->pipe.rx))
			at = wf_min_time(at, p->blocked);
	}
	return at;
}
