/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_sharp.c - reduction in switches: what generations differ in, and what goes with it. The
 * rows are in config.c.
 *
 * Where the numbers are from: NVIDIA's SHARP documentation, of trees (126 on Quantum, 1,023 on
 * Quantum-2, half of each kind), of what a job is given (sharp_am: 20 % of a low-latency tree), and
 * of libsharp's flags (SHARP_COLL_OSTS_PER_GROUP 8, SHARP_COLL_JOB_QUOTA_PAYLOAD_PER_OST 1024 at
 * most, 256 on Switch-IB 2; SHARP_COLL_SAT_THRESHOLD 16384). latency and fragment are the two
 * numbers that fit what the paper of 2016 measured on Switch-IB 2 (docs/validation.md). [A] marks
 * what is assumed.
 */
#include "fabric/config_sharp.h"

#include <errno.h>
#include <string.h>

#include "fabric/config.h"

#define AUTO ((uint64_t)WF_PARAM_AUTO)

static const struct wf_sharp_generation generations[] = {
	{ "switch-ib-2", 63, 256, false, false },
	{ "quantum", 63, 1024, true, false },
	{ "quantum-2", 511, 1024, true, true },
};

const char *const wf_sharp_generations[] = { "switch-ib-2", "quantum", "quantum-2", NULL };

_Static_assert(WF_ARRAY_SIZE(wf_sharp_generations) == WF_ARRAY_SIZE(generations) + 1,
               "a name for each");

const struct wf_sharp_generation *wf_sharp_generation(const struct wf_sharp_cfg *cfg)
{
	for (size_t i = 0; i < WF_ARRAY_SIZE(generations); i++) {
		if (strcmp(cfg->generation, generations[i].name) == 0)
			return &generations[i];
	}
	return NULL;
}

uint64_t wf_sharp_payload(const struct wf_sharp_cfg *cfg)
{
	return cfg->payload != AUTO ? cfg->payload : wf_sharp_generation(cfg)->payload;
}

uint32_t wf_sharp_trees(const struct wf_sharp_cfg *cfg)
{
	return cfg->trees != AUTO ? (uint32_t)cfg->trees : wf_sharp_generation(cfg)->trees;
}

/* Whether packets get lost on links of such a configuration, besides those that go down. */
static const char *loses(const struct wf_fabric_cfg *cfg)
{
	if (strcmp(cfg->link_retry, "none") != 0)
		return NULL;
	return cfg->link_loss != 0      ? "link.loss"
	       : cfg->link_ber != 0     ? "link.ber"
	       : cfg->link_raw_ber != 0 ? "link.raw_ber"
	       : cfg->burst_ber != 0    ? "link.burst_ber"
	                                : NULL;
}

int wf_sharp_check(const struct wf_fabric_cfg *cfg, struct wf_err *err)
{
	const char *lost = loses(cfg);

	if (!cfg->sharp.enabled)
		return 0;
	if (strcmp(cfg->flowctl, "credit") != 0)
		return wf_err_say(err, "sharp.enabled: switches reduce on InfiniBand alone; write "
		                       "false, or take a profile of InfiniBand");
	if (lost != NULL)
		return wf_err_say(err,
		                  "%s: switches that reduce (sharp.enabled) do not send again what "
		                  "a link loses; write 0, or link.retry: llr, or sharp.enabled: "
		                  "false",
		                  lost);
	if (wf_sharp_payload(&cfg->sharp) > cfg->mtu)
		return wf_err_say(err,
		                  "sharp.payload: an operation is one packet of at most mtu, "
		                  "%lluB; write no more",
		                  (unsigned long long)cfg->mtu);
	if (cfg->port_mtu != AUTO && cfg->port_mtu < cfg->mtu)
		return wf_err_say(err, "port.mtu: switches that reduce (sharp.enabled) have "
		                       "packets of mtu; write auto, or sharp.enabled: false");
	return 0;
}
