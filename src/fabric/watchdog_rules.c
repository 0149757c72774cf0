/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watchdog_rules.c - whose PFC watchdog does what: one row for each set of rules.
 *
 * Where the rules come from:
 *	sonic              sonic-swss, pfc_detect_broadcom.lua and pfc_restore.lua; times and their
 *	                   growth are those of "pfcwd start_default"
 *	sonic-nvidia       the same, pfc_detect_mellanox.lua since pull request 3036 of May 2024
 *	sonic-nvidia-2023  the same, before
 *	cumulus            Cumulus Linux user guide, Quality of Service, PFC Watchdog
 *	arista             EOS has none unless told; times are those that its guides show, the rule
 *	                   is "stuck for timeout". Its default action, errdisable, is not there
 *	cisco              NX-OS quality of service guide for the Nexus 9000; interval and
 *	                   multipliers as in published configurations (1 and 10)
 *	juniper            Junos OS, PFC Watchdog: what is restored is so after a time
 *	connectx           mlx5: "device stalled", after which pauses are not sent; 8 s, or with
 *	                   pfc-prevention-tout auto 100 ms
 *	microsoft          Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, 4.3: the
 *	                   adapter's part; the server is repaired
 */
#include "fabric/watchdog.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define SONIC_PORTS 32 /* times are those of a switch of so many */
#define SONIC_POLL_MAX (1000 * WF_MS)
#define POLL_MIN (100 * WF_NS) /* of what is simulated: shorter ones would be all that happens */

#define UNSENT WF_WATCHDOG_UNSENT
#define FRAMES WF_WATCHDOG_FRAMES
#define PAUSED WF_WATCHDOG_PAUSED
#define HELD WF_WATCHDOG_HELD
#define SHARE WF_WATCHDOG_SHARE

static const struct wf_watchdog_rules table[WF_WATCHDOG_IDS] = {
	[WF_WATCHDOG_SONIC] = {
		.name = "sonic",
		.help = "SONiC on Broadcom: pauses came and nothing left, or the queue is empty and paused throughout",
		.poll = 200 * WF_MS,
		.detect = 200 * WF_MS,
		.restore = 200 * WF_MS,
		.waiting = UNSENT | FRAMES,
		.empty = FRAMES | HELD,
		.flags = WF_WATCHDOG_BOTH | WF_WATCHDOG_GROWS,
	},
	[WF_WATCHDOG_SONIC_NVIDIA] = {
		.name = "sonic-nvidia",
		.help = "SONiC on NVIDIA since 2024: nothing left, and the queue was paused for 99 % of the time",
		.poll = 200 * WF_MS,
		.detect = 200 * WF_MS,
		.restore = 200 * WF_MS,
		.waiting = UNSENT | FRAMES | SHARE,
		.share = 99,
		.flags = WF_WATCHDOG_BOTH | WF_WATCHDOG_GROWS,
	},
	[WF_WATCHDOG_SONIC_NVIDIA_2023] = {
		.name = "sonic-nvidia-2023",
		.help = "SONiC on NVIDIA before: pauses came and nothing left, or it is empty and was paused for 80 %",
		.poll = 200 * WF_MS,
		.detect = 200 * WF_MS,
		.restore = 200 * WF_MS,
		.waiting = UNSENT | FRAMES,
		.empty = UNSENT | SHARE,
		.share = 80,
		.flags = WF_WATCHDOG_BOTH | WF_WATCHDOG_GROWS,
	},
	[WF_WATCHDOG_CUMULUS] = {
		.name = "cumulus",
		.help = "Cumulus Linux: paused for 3 polls; pauses are ignored then, and what comes is dropped",
		.poll = 100 * WF_MS,
		.polls = 3,
		.waiting = HELD,
		.empty = HELD,
		.flags = WF_WATCHDOG_KEEP,
	},
	[WF_WATCHDOG_ARISTA] = {
		.name = "arista",
		.help = "Arista EOS as in its guides: paused, and nothing left",
		.poll = 100 * WF_MS,
		.detect = 200 * WF_MS,
		.restore = 200 * WF_MS,
		.waiting = UNSENT | HELD,
	},
	[WF_WATCHDOG_CISCO] = {
		.name = "cisco",
		.help = "Cisco NX-OS: pauses came, and nothing left in the interval",
		.poll = 100 * WF_MS,
		.polls = 1,
		.restore = 1000 * WF_MS,
		.waiting = UNSENT | FRAMES,
		.flags = WF_WATCHDOG_BOTH,
	},
	[WF_WATCHDOG_JUNIPER] = {
		.name = "juniper",
		.help = "Junos: paused, and nothing left, at 2 polls; restored whether or not pauses have ended",
		.poll = 100 * WF_MS,
		.polls = 2,
		.restore = 200 * WF_MS,
		.waiting = UNSENT | PAUSED,
		.flags = WF_WATCHDOG_ANYWAY,
	},
	[WF_WATCHDOG_CONNECTX] = {
		.name = "connectx",
		.help = "ConnectX as it comes: sends no more pauses after 8 s of them, until there is no reason for them",
		.detect = 8000 * WF_MS,
	},
	[WF_WATCHDOG_CONNECTX_AUTO] = {
		.name = "connectx-auto",
		.help = "ConnectX with pfc-prevention-tout auto: the same after 100 ms",
		.detect = 100 * WF_MS,
	},
	[WF_WATCHDOG_MICROSOFT] = {
		.name = "microsoft",
		.help = "Microsoft's (SIGCOMM 2016): after 100 ms, for good",
		.detect = 100 * WF_MS,
		.flags = WF_WATCHDOG_NEVER,
	},
};

static const char *const actions[] = {
	[WF_WATCHDOG_DROP] = "drop",
	[WF_WATCHDOG_FORWARD] = "forward",
	[WF_WATCHDOG_ALERT] = "alert",
};

const struct wf_watchdog_rules *wf_watchdog_at(enum wf_watchdog_id id)
{
	assert(id < WF_WATCHDOG_IDS);
	return &table[id];
}

const char *wf_watchdog_action_name(enum wf_watchdog_action action)
{
	assert(action < WF_ARRAY_SIZE(actions));
	return actions[action];
}

/* The rules called name, of switches or of adapters; NULL: "none". */
static const struct wf_watchdog_rules *find(const char *name, bool of_adapter)
{
	for (unsigned i = 0; i < WF_WATCHDOG_IDS; i++) {
		if (wf_watchdog_is_adapters((enum wf_watchdog_id)i) == of_adapter &&
		    strcmp(table[i].name, name) == 0)
			return &table[i];
	}
	return NULL;
}

void wf_watchdog_compile(const struct wf_fabric_cfg *cfg, struct wf_watchdog_set *of_switch,
                         struct wf_watchdog_set *of_adapter)
{
	unsigned action = 0;

	while (action < WF_ARRAY_SIZE(actions) &&
	       strcmp(actions[action], cfg->watchdog_action) != 0)
		action++;
	if (action == WF_ARRAY_SIZE(actions)) /* auto: what all of them do unless told */
		action = WF_WATCHDOG_DROP;
	*of_switch = (struct wf_watchdog_set){
		.rules = find(cfg->watchdog_rules, false),
		.action = (enum wf_watchdog_action)action,
		.poll = cfg->watchdog_poll,
		.detect = cfg->watchdog_detect,
		.restore = cfg->watchdog_restore,
		.phase = cfg->watchdog_phase,
		.speedup = cfg->watchdog_speedup,
		.ports = cfg->switch_ports,
	};
	*of_adapter = (struct wf_watchdog_set){
		.rules = find(cfg->watchdog_adapter, true),
		.poll = WF_PARAM_AUTO,
		.detect = cfg->watchdog_adapter_detect,
		.restore = WF_PARAM_AUTO,
		.speedup = cfg->watchdog_speedup,
	};
}

static wf_time choose(wf_time said, wf_time of_rules)
{
	return said != WF_PARAM_AUTO ? said : of_rules;
}

static wf_time divide(wf_time t, uint32_t by)
{
	return wf_max_time(t / by, 1);
}

struct wf_watchdog_times wf_watchdog_times(const struct wf_watchdog_set *set, uint32_t n_ports)
{
	const struct wf_watchdog_rules *r = set->rules;
	uint32_t ports = set->ports != 0 ? set->ports : n_ports;
	bool grows = (r->flags & WF_WATCHDOG_GROWS) != 0 && ports > SONIC_PORTS;
	wf_time by = grows ? (ports + SONIC_PORTS - 1) / SONIC_PORTS : 1;
	wf_time poll =
		choose(set->poll, grows ? wf_min_time(r->poll * by, SONIC_POLL_MAX) : r->poll);
	wf_time detect = choose(set->detect, r->detect != 0 ? r->detect * by : r->polls * poll);
	wf_time restore = choose(set->restore, r->restore != 0 ? r->restore * by : poll);

	return (struct wf_watchdog_times){
		.poll = divide(poll, set->speedup),
		.detect = divide(detect, set->speedup),
		.restore = divide(restore, set->speedup),
	};
}

int wf_watchdog_check(const struct wf_fabric_cfg *cfg, struct wf_err *err)
{
	struct wf_watchdog_set of_switch, of_adapter;

	wf_watchdog_compile(cfg, &of_switch, &of_adapter);
	if ((of_switch.rules != NULL || of_adapter.rules != NULL) &&
	    strcmp(cfg->flowctl, "pfc") != 0)
		return wf_err_say(
			err,
			"watchdog.%s: flowctl is %s, and the watchdog is one of PFC; write "
			"none, or flowctl: pfc%s",
			of_switch.rules != NULL ? "rules" : "adapter", cfg->flowctl,
			strcmp(cfg->flowctl, "credit") == 0 ? " (InfiniBand has vl.hoq_life)" : "");
	if (of_switch.rules != NULL && wf_watchdog_times(&of_switch, 1).poll < POLL_MIN)
		return wf_err_say(
			err,
			"watchdog.speedup: polls would be less than 100ns apart; write at "
			"most %lld, or a longer watchdog.poll",
			(long long)(wf_max_time(
				choose(of_switch.poll, of_switch.rules->poll) / POLL_MIN, 1)));
	return 0;
}
