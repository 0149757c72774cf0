/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traffic_random.c - flows between random hosts that start as a Poisson process.
 *
 * All arithmetic is on integers, so that a scenario has the same flows on every machine.
 */
#include <assert.h>
#include <errno.h>

#include "base/rng.h"
#include "sim/traffic/traffic.h"

#define GAP_BITS 20 /* fraction bits of a time, below a picosecond */

typedef unsigned __int128 u128;

/*
 * The mean time between two flows of the whole cluster, with GAP_BITS fraction bits: every host
 * offers load * host_rate, and a flow has mean bytes. Divided in two steps, so that nothing is lost
 * and nothing overflows.
 */
static uint64_t mean_gap(const struct wf_traffic_cfg *cfg, uint32_t n_hosts, uint64_t host_rate,
                         uint64_t mean)
{
	u128 bits_per_s = (u128)host_rate * cfg->load * n_hosts; /* units of 2^-16 */
	u128 bits = (u128)mean * 8 * WF_S;
	u128 whole = bits / bits_per_s;
	u128 rest = bits % bits_per_s;

	if (whole >> (63 - 16 - GAP_BITS) != 0)
		return INT64_MAX;
	return (uint64_t)((whole << (16 + GAP_BITS)) + (rest << (16 + GAP_BITS)) / bits_per_s);
}

static int list_random(const struct wf_traffic_cfg *cfg, uint32_t n_hosts, uint64_t host_rate,
                       uint64_t key, struct wf_flow_list *list, struct wf_err *err)
{
	uint64_t mean = cfg->cdf.n == 0 ? cfg->size : wf_cdf_mean(&cfg->cdf);
	struct wf_flow_spec spec = { .bytes = cfg->size,
		                     .cls = wf_narrow_u8(cfg->cls),
		                     .op = (uint8_t)wf_flow_op_find(cfg->op) };
	u128 t = 0, end = (u128)cfg->duration << GAP_BITS;
	uint64_t counter = 0, gap;
	int rc = 0;

	if (n_hosts < 2)
		return wf_err_say(err, "kind: it takes two hosts to talk; the topology has %u",
		                  (unsigned)n_hosts);
	assert(host_rate > 0 && cfg->load > 0);
	gap = mean_gap(cfg, n_hosts, host_rate, mean);
	if (gap == 0 || end / gap > WF_TRAFFIC_MAX_FLOWS)
		return wf_err_say(err,
		                  "duration: that would be more than %d flows; write a shorter one",
		                  WF_TRAFFIC_MAX_FLOWS);
	for (;;) {
		t += ((u128)gap * wf_rand_exp(wf_rand64(key, counter++))) >> 32;
		if (t >= end)
			return 0;
		spec.start = cfg->start + (wf_time)(t >> GAP_BITS);
		spec.src = wf_rand_below(wf_rand64(key, counter++), n_hosts);
		spec.dst = wf_rand_below(wf_rand64(key, counter++), n_hosts - 1);
		if (spec.dst >= spec.src)
			spec.dst++;
		if (cfg->cdf.n != 0)
			spec.bytes = wf_cdf_draw(&cfg->cdf, wf_rand64(key, counter++));
		rc = wf_flow_list_add(list, &spec);
		if (rc != 0)
			return rc;
	}
}

const struct wf_traffic_ops wf_traffic_random = {
	.name = "random",
	.help = "flows between random hosts start at random times (Poisson), sizes from a "
		"distribution",
	.list = list_random,
};
