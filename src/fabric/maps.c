/* SPDX-License-Identifier: Apache-2.0 */
/*
 * maps.c - the maps of an Ethernet device, from their text.
 */
#include "fabric/maps.h"

#include <errno.h>
#include <string.h>

#include "base/param.h"
#include "wire/addr.h"

/* What a map is from and to. */
struct map {
	const char *name;
	const char *from, *to; /* words for messages */
	unsigned n_from, n_to;
	const char *example;
};

static int bad_map(const struct map *m, const char *part, struct wf_err *err)
{
	return wf_err_say(
		err,
		"%s: \"%.40s\" is not %s:%s; write a list with commas between, %s 0 to %u "
		"(or a range) and %s 0 to %u, e.g. %s",
		m->name, part, m->from, m->to, m->from, m->n_from - 1, m->to, m->n_to - 1,
		m->example);
}

/* Digits at *p, a number below limit. */
static bool number(const char **p, unsigned limit, unsigned *value_p)
{
	unsigned value = 0, n = 0;

	for (; **p >= '0' && **p <= '9' && n < 3; (*p)++, n++)
		value = value * 10 + (unsigned)(**p - '0');
	*value_p = value;
	return n > 0 && value < limit;
}

static const char *skip_blanks(const char *p)
{
	while (*p == ' ')
		p++;
	return p;
}

/* "0-63:0,26:3" over what is in to; a later entry counts more. */
static int parse_map(const struct map *m, const char *text, uint8_t *to, struct wf_err *err)
{
	const char *p = skip_blanks(text);

	if (strcmp(text, "auto") == 0 || *p == '\0')
		return 0;
	for (;;) {
		const char *part = p;
		unsigned first, last, value;

		if (!number(&p, m->n_from, &first))
			return bad_map(m, part, err);
		last = first;
		if (*p == '-') {
			p++;
			if (!number(&p, m->n_from, &last) || last < first)
				return bad_map(m, part, err);
		}
		if (*p++ != ':')
			return bad_map(m, part, err);
		p = skip_blanks(p);
		if (!number(&p, m->n_to, &value))
			return bad_map(m, part, err);
		for (unsigned i = first; i <= last; i++)
			to[i] = (uint8_t)value;
		p = skip_blanks(p);
		if (*p == '\0')
			return 0;
		if (*p++ != ',')
			return bad_map(m, part, err);
		p = skip_blanks(p);
	}
}

/* SONiC's stock map of DSCP to traffic class (qos_config.j2, "AZURE"). */
static void stock_dscp(uint8_t *to)
{
	static const uint8_t rows[][2] = { { 3, 3 }, { 4, 4 },  { 5, 2 },
		                           { 8, 0 }, { 46, 5 }, { 48, 6 } };

	memset(to, 1, WF_DSCPS);
	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++)
		to[rows[i][0]] = rows[i][1];
}

/* And of traffic class to priority group. */
static void stock_pg(uint8_t *to)
{
	memset(to, 0, WF_PRIORITIES);
	to[3] = 3;
	to[4] = 4;
	to[7] = 7;
}

static int parse_classes(const struct wf_fabric_cfg *cfg, struct wf_maps *m, struct wf_err *err)
{
	static const struct map dscp_tc = { "maps.dscp_tc", "DSCP",
		                            "class",        WF_DSCPS,
		                            WF_PRIORITIES,  "0-63:0,26:3,48:6; or auto, or sonic" };
	static const struct map pcp_tc = { "maps.pcp_tc", "priority",    "class",
		                           WF_PRIORITIES, WF_PRIORITIES, "0-7:0,3:3" };
	static const struct map tc_queue = { "maps.tc_queue", "class",       "queue",
		                             WF_PRIORITIES,   WF_PRIORITIES, "0-7:0,3:3" };
	static const struct map tc_pg = { "maps.tc_pg",  "class",
		                          "group",       WF_PRIORITIES,
		                          WF_PRIORITIES, "0-7:0,3:3; or auto, or sonic" };
	const char *dscp = cfg->map_dscp_tc, *pg = cfg->map_tc_pg;

	m->trust = strcmp(cfg->map_trust, "pcp") == 0    ? WF_TRUST_PCP
	           : strcmp(cfg->map_trust, "port") == 0 ? WF_TRUST_PORT
	                                                 : WF_TRUST_DSCP;
	m->port_tc = wf_narrow_u8(cfg->map_port_tc);
	for (unsigned i = 0; i < WF_DSCPS; i++)
		m->dscp_tc[i] = (uint8_t)(i / 8);
	for (uint8_t i = 0; i < WF_PRIORITIES; i++)
		m->pcp_tc[i] = m->tc_queue[i] = m->tc_pg[i] = i;
	if (strcmp(dscp, "sonic") == 0) {
		stock_dscp(m->dscp_tc);
		dscp = "";
	}
	if (strcmp(pg, "sonic") == 0) {
		stock_pg(m->tc_pg);
		pg = "";
	}
	if (parse_map(&dscp_tc, dscp, m->dscp_tc, err) != 0 ||
	    parse_map(&pcp_tc, cfg->map_pcp_tc, m->pcp_tc, err) != 0 ||
	    parse_map(&tc_queue, cfg->map_tc_queue, m->tc_queue, err) != 0)
		return -EINVAL;
	return parse_map(&tc_pg, pg, m->tc_pg, err);
}

/* A list of priorities that may be auto or none. */
static int parse_pfc(const char *name, const char *text, unsigned lossless, uint8_t *mask_p,
                     struct wf_err *err)
{
	unsigned mask = 0;
	int rc = 0;

	if (strcmp(text, "auto") == 0)
		mask = lossless;
	else if (strcmp(text, "none") != 0)
		rc = wf_priorities_parse(name, text, &mask, err);
	*mask_p = (uint8_t)mask;
	return rc;
}

static int parse_pauses(const struct wf_fabric_cfg *cfg, const struct wf_classes *classes,
                        struct wf_maps *m, struct wf_err *err)
{
	static const struct map queue = { "maps.pfc_queue", "priority",    "queue",
		                          WF_PRIORITIES,    WF_PRIORITIES, "3:3,4:4" };
	static const struct map pg = { "maps.pfc_pg", "priority",    "group",
		                       WF_PRIORITIES, WF_PRIORITIES, "3:3,4:4" };
	unsigned lossless = 0;

	for (unsigned q = 0; q < classes->n; q++)
		lossless |= classes->queue[q].lossless ? 1u << classes->queue[q].id : 0;
	for (uint8_t i = 0; i < WF_PRIORITIES; i++)
		m->pfc_queue[i] = m->pfc_pg[i] = i;
	if (parse_map(&queue, cfg->map_pfc_queue, m->pfc_queue, err) != 0 ||
	    parse_map(&pg, cfg->map_pfc_pg, m->pfc_pg, err) != 0 ||
	    parse_pfc("pfc.tx", cfg->pfc_tx, lossless, &m->pfc_tx, err) != 0)
		return -EINVAL;
	return parse_pfc("pfc.rx", cfg->pfc_rx, lossless, &m->pfc_rx, err);
}

static int parse_marks(const struct wf_fabric_cfg *cfg, struct wf_maps *m, struct wf_err *err)
{
	static const struct map dscp = { "nic.dscp",    "class",  "DSCP",
		                         WF_PRIORITIES, WF_DSCPS, "3:26,6:48" };

	for (unsigned i = 0; i < WF_PRIORITIES; i++)
		m->dscp[i] = wf_wire_dscp(i);
	m->cnp_dscp = cfg->nic_cnp_dscp == (uint64_t)WF_PARAM_AUTO
	                      ? WF_DSCPS
	                      : wf_narrow_u8(cfg->nic_cnp_dscp);
	if (parse_map(&dscp, cfg->nic_dscp, m->dscp, err) != 0)
		return -EINVAL;
	m->marks = m->cnp_dscp != WF_DSCPS;
	for (unsigned i = 0; i < WF_PRIORITIES; i++)
		m->marks |= m->dscp[i] != wf_wire_dscp(i);
	return 0;
}

/* Whether nothing is moved, and which lanes there have to be. */
static void look(struct wf_maps *m)
{
	m->same = m->trust != WF_TRUST_PORT;
	for (unsigned i = 0; i < WF_DSCPS; i++)
		m->same &= m->dscp_tc[i] == i / 8;
	for (unsigned i = 0; i < WF_PRIORITIES; i++) {
		m->same &= m->pcp_tc[i] == i && m->tc_queue[i] == i && m->tc_pg[i] == i;
		m->used |= m->tc_queue[i] != i ? 1u << m->tc_queue[i] : 0;
		m->used |= m->tc_pg[i] != i ? 1u << m->tc_pg[i] : 0;
		m->used |= m->pfc_queue[i] != i ? 1u << m->pfc_queue[i] : 0;
		m->used |= m->pfc_pg[i] != i ? 1u << m->pfc_pg[i] : 0;
	}
}

int wf_maps_parse(const struct wf_fabric_cfg *cfg, const struct wf_classes *classes,
                  struct wf_maps *maps, struct wf_err *err)
{
	struct wf_maps m = { .same = true };

	if (strcmp(cfg->link_layer, "infiniband") != 0 &&
	    (parse_classes(cfg, &m, err) != 0 || parse_pauses(cfg, classes, &m, err) != 0 ||
	     parse_marks(cfg, &m, err) != 0))
		return -EINVAL;
	if (strcmp(cfg->link_layer, "infiniband") != 0)
		look(&m);
	*maps = m;
	return 0;
}

int wf_hash_parse(const char *text, unsigned *fields_p, struct wf_err *err)
{
	static const char *const names[] = { "src", "dst", "sport" };
	const char *p = text;

	*fields_p = 0;
	while (*(p = p + strspn(p, ", ")) != '\0') {
		size_t len = strcspn(p, ", "), i = 0;

		while (i < WF_ARRAY_SIZE(names) &&
		       (strlen(names[i]) != len || strncmp(names[i], p, len) != 0))
			i++;
		if (i == WF_ARRAY_SIZE(names))
			return wf_err_say(err,
			                  "hash.fields: there is no field \"%.*s\"; write some of "
			                  "src, dst and sport with commas between",
			                  (int)wf_min_u64(len, 40), p);
		*fields_p |= 1u << i;
		p += len;
	}
	return 0;
}
