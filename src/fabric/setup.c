/* SPDX-License-Identifier: Apache-2.0 */
/*
 * setup.c - compiles configurations.
 */
#include "fabric/setup.h"

#include <errno.h>
#include <string.h>

#include "wire/addr.h"

static bool is_infiniband(const struct wf_setup *s)
{
	return strcmp(s->cfg.link_layer, "infiniband") == 0;
}

/* The thresholds of each queue; a queue whose packets are not marked never gets so long. */
static int compile_ecn(struct wf_setup *s, struct wf_err *err)
{
	const struct wf_fabric_cfg *cfg = &s->cfg;
	struct wf_ecn own[WF_MAX_CLASSES];
	unsigned n = 0, named = 0;
	int ret = wf_ecn_parse(cfg->ecn_by_rate, s->ecn_rates, &n, err);

	if (ret == 0)
		ret = wf_ecn_parse_classes(cfg->ecn_by_class, own, &named, err);
	if (ret != 0)
		return ret;
	s->n_ecn_rates = (uint8_t)n;
	s->mark_late = strcmp(cfg->ecn_at, "dequeue") == 0;
	for (unsigned q = 0; q < s->classes.n; q++) {
		unsigned id = s->classes.queue[q].id;
		bool has = !is_infiniband(s) && (named >> id & 1) != 0;

		s->ecn[q] = has ? own[id]
		                : (struct wf_ecn){ cfg->ecn_kmin, cfg->ecn_kmax, cfg->ecn_pmax };
		if (has || !s->classes.queue[q].ecn)
			s->ecn_own |= (uint16_t)(1u << q);
		if (!s->classes.queue[q].ecn)
			s->ecn[q].kmin = s->ecn[q].kmax = UINT64_MAX;
	}
	s->fecn = is_infiniband(s) && cfg->fecn_threshold != 0;
	s->fecn_bytes = wf_narrow_u32(cfg->vl_buffer * (16 - cfg->fecn_threshold) / 16);
	return 0;
}

/* What links do about bit errors. Names are those of a row's list. */
static void compile_link(struct wf_setup *s)
{
	const struct wf_fec_code *code = wf_fec_find(s->cfg.link_fec);

	wf_fec_compile(code, s->cfg.link_raw_ber, &s->fec);
	wf_fec_compile(code, s->cfg.burst_ber, &s->burst_fec);
	s->retries = strcmp(s->cfg.link_retry, "llr") == 0;
}

static int compile(struct wf_setup *s, unsigned more, struct wf_err *err)
{
	int ret = wf_classes_parse_with(&s->cfg, more, &s->classes, err);

	if (ret == 0)
		ret = wf_maps_parse(&s->cfg, &s->classes, &s->maps, err);
	/* What a map names has a lane of its own, whether a list of classes names it or not. */
	for (unsigned q = 0; ret == 0 && q < s->classes.n; q++) {
		if (!is_infiniband(s) && (s->maps.used >> s->classes.queue[q].id & 1) != 0)
			s->classes.of[s->classes.queue[q].id] = (uint8_t)q;
	}
	if (ret == 0)
		ret = wf_hash_parse(s->cfg.hash_fields, &s->hash_fields, err);
	wf_watchdog_compile(&s->cfg, &s->watchdog, &s->adapter_watchdog);
	return ret == 0 ? compile_ecn(s, err) : ret;
}

/* The mark of packets with a DSCP, which is made if need be; 0: none is left. */
static unsigned find_mark(uint8_t dscp[WF_MARKS], unsigned *n, unsigned want)
{
	for (unsigned i = 1; i < *n; i++) {
		if (dscp[i] == want)
			return i;
	}
	if (*n == WF_MARKS)
		return 0;
	dscp[*n] = (uint8_t)want;
	return (*n)++;
}

/* The marks that an adapter's packets have. */
static int compile_marks(struct wf_setup *s, uint8_t dscp[WF_MARKS], unsigned *n,
                         struct wf_err *err)
{
	bool full = false;

	for (unsigned c = 0; c < WF_PRIORITIES; c++) {
		if (s->maps.dscp[c] == wf_wire_dscp(c))
			continue;
		s->mark_of[c] = (uint8_t)find_mark(dscp, n, s->maps.dscp[c]);
		full |= s->mark_of[c] == 0;
	}
	if (s->maps.cnp_dscp != WF_DSCPS) {
		s->cnp_mark = (uint8_t)find_mark(dscp, n, s->maps.cnp_dscp);
		full |= s->cnp_mark == 0;
	}
	if (!full)
		return 0;
	return wf_err_say(
		err,
		"nic.dscp: the adapters of a fabric use more than %d DSCPs that are not 8 "
		"times the class; write fewer",
		WF_MARKS - 1);
}

/* Where a packet with a key goes. */
static void compile_key(struct wf_setup *s, const uint8_t dscp[WF_MARKS], unsigned key)
{
	const struct wf_maps *m = &s->maps;
	unsigned cls = key & 15, mark = key >> 4;
	unsigned field = mark != 0 ? dscp[mark] : wf_wire_dscp(cls & 7), tc;

	if (is_infiniband(s)) {
		s->queue_of[key] = s->group_of[key] = s->classes.of[cls];
		return;
	}
	tc = m->trust == WF_TRUST_DSCP  ? m->dscp_tc[field]
	     : m->trust == WF_TRUST_PCP ? m->pcp_tc[cls & 7]
	                                : m->port_tc;
	s->queue_of[key] = s->classes.of[m->tc_queue[tc]];
	s->group_of[key] = s->classes.of[m->tc_pg[tc]];
}

static void compile_maps(struct wf_setup *s, const uint8_t dscp[WF_MARKS])
{
	const struct wf_maps *m = &s->maps;

	for (unsigned key = 0; key < WF_ARRAY_SIZE(s->queue_of); key++)
		compile_key(s, dscp, key);
	for (unsigned p = 0; p < WF_PRIORITIES && !is_infiniband(s); p++) {
		s->pause_queue[p] =
			m->pfc_rx >> p & 1 ? s->classes.of[m->pfc_queue[p]] : WF_NO_LANE;
		if (m->pfc_tx >> p & 1)
			s->pause_of[s->classes.of[m->pfc_pg[p]]] |= (uint8_t)(1u << p);
	}
}

int wf_setups_priorities(const struct wf_fabric_cfg *cfg, const struct wf_devices *devices,
                         unsigned *mask_p, struct wf_err *err)
{
	unsigned n = devices == NULL ? 1 : devices->n + 1;

	*mask_p = 0;
	for (unsigned i = 0; i < n; i++) {
		const struct wf_fabric_cfg *c = i == 0 ? cfg : devices->cfg[i - 1];
		struct wf_classes classes;
		struct wf_maps maps;

		if (wf_classes_parse(c, &classes, err) != 0 ||
		    wf_maps_parse(c, &classes, &maps, err) != 0)
			return -EINVAL;
		*mask_p |= wf_classes_priorities(c, &classes) | maps.used;
	}
	return 0;
}

int wf_setups_compile(const struct wf_fabric_cfg *cfg, const struct wf_devices *devices,
                      struct wf_setup *setups, uint8_t dscp[WF_MARKS], struct wf_err *err)
{
	unsigned n = devices == NULL ? 1 : devices->n + 1, n_marks = 1, all;
	int ret = wf_setups_priorities(cfg, devices, &all, err);

	for (unsigned i = 0; i < n && ret == 0; i++) {
		struct wf_setup *s = &setups[i];

		s->cfg = i == 0 ? *cfg : *devices->cfg[i - 1];
		s->user = i > 0 && devices->user != NULL ? devices->user[i - 1] : NULL;
		compile_link(s);
		ret = compile(s, all, err);
		if (ret == 0)
			ret = compile_marks(s, dscp, &n_marks, err);
	}
	for (unsigned i = 0; i < n && ret == 0; i++)
		compile_maps(&setups[i], dscp);
	return ret;
}
