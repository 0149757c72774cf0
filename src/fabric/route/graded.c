/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graded.c - adaptive routing with what switches know of their ports: grades, some time old.
 *
 * Where adaptive.c compares bytes, as they are this moment, a switch has a grade for each port. As
 * in NVIDIA's SDK (sx_api_adaptive_routing.h, "port grade"): 0 idle, 1 busy with less than
 * adaptive.low in its buffer, 2 below adaptive.medium, 3 below adaptive.high, 4 above. It takes one
 * of the ports with the lowest grade, at random. Without adaptive.low the bytes are the grade.
 * Grades are computed anew every adaptive.delay (0: for every packet). With adaptive.bind a flow
 * keeps its port until it has been silent for that long.
 */
#include <errno.h>

#include "base/rng.h"
#include "fabric/route/route.h"
#include "fabric/switch.h"

#define FLOWS 4096 /* a power of two; the two that meet in a place share their port */

struct flowlet {
	wf_time last; /* when its newest packet came */
	uint32_t port;
};

struct wf_grades {
	wf_time next; /* when grades are computed anew */
	uint32_t *grade;
	struct flowlet *flow; /* NULL: adaptive.bind is off */
};

int wf_grades_create(struct wf_switch *sw, struct wf_shard *shard)
{
	struct wf_grades *g = wf_shard_alloc(shard, sizeof(*g));

	if (g == NULL)
		return -ENOMEM;
	g->grade = wf_shard_alloc(shard, sw->dev.n_ports * sizeof(*g->grade));
	if (sw->dev.setup->cfg.adaptive_bind != 0)
		g->flow = wf_shard_alloc(shard, FLOWS * sizeof(*g->flow));
	if (g->grade == NULL || (sw->dev.setup->cfg.adaptive_bind != 0 && g->flow == NULL))
		return -ENOMEM;
	sw->grades = g;
	return 0;
}

static uint32_t grade_of(const struct wf_switch *sw, unsigned port, wf_time now)
{
	const struct wf_fabric_cfg *cfg = &sw->dev.setup->cfg;
	uint32_t load = sw->load[port];

	if (load == 0 && sw->dev.ports[port].free_at <= now)
		return 0;
	if (cfg->adaptive_low == 0)
		return load == 0 ? 1 : load;
	if (load < cfg->adaptive_low)
		return 1;
	if (load < cfg->adaptive_medium)
		return 2;
	return load < cfg->adaptive_high ? 3 : 4;
}

/* The grade of a port as the switch knows it. */
static uint32_t known_grade(struct wf_switch *sw, unsigned port, wf_time now)
{
	struct wf_grades *g = sw->grades;
	wf_time delay = sw->dev.setup->cfg.adaptive_delay;

	if (delay == 0)
		return grade_of(sw, port, now);
	if (now >= g->next) {
		for (unsigned i = 0; i < sw->dev.n_ports; i++)
			g->grade[i] = grade_of(sw, i, now);
		g->next = (now / delay + 1) * delay;
	}
	return g->grade[port];
}

/* One of the ports of the lowest grade: the first from a random one on. */
static unsigned best_port(struct wf_switch *sw, const uint16_t *ports, unsigned n, wf_time now)
{
	unsigned start = wf_rand_below(wf_rand64(sw->rng_key, sw->rng_count++), n);
	unsigned best = ports[start];
	uint32_t least = UINT32_MAX;

	for (unsigned i = 0, k = start; i < n && least != 0; i++, k = k + 1 == n ? 0 : k + 1) {
		uint32_t grade = known_grade(sw, ports[k], now);

		if (grade >= least)
			continue;
		least = grade;
		best = ports[k];
	}
	return best;
}

static bool is_one_of(const uint16_t *ports, unsigned n, uint32_t port)
{
	for (unsigned i = 0; i < n; i++) {
		if (ports[i] == port)
			return true;
	}
	return false;
}

static unsigned graded_pick(struct wf_switch *sw, const uint16_t *ports, unsigned n,
                            const struct wf_packet *pkt, wf_time now)
{
	wf_time bind = sw->dev.setup->cfg.adaptive_bind;
	struct flowlet *f;
	uint64_t flow;

	if (bind == 0)
		return best_port(sw, ports, n, now);
	flow = ((uint64_t)wf_packet_src(pkt) << 32 | pkt->dst) ^ (uint64_t)pkt->entropy << 16;
	f = &sw->grades->flow[wf_mix64(flow) & (FLOWS - 1)];
	if (now - f->last >= bind || f->last == 0 || !is_one_of(ports, n, f->port))
		f->port = best_port(sw, ports, n, now);
	f->last = now;
	return f->port;
}

const struct wf_route_ops wf_route_graded = {
	.name = "adaptive",
	.help = "every packet takes the least loaded minimal path",
	.reorders = true,
	.any_ports = true,
	.pick = graded_pick,
};
