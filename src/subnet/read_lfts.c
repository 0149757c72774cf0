/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_lfts.c - reads forwarding tables as several tools print them. A switch's begin with one of
 * (OpenSM and ibroute; fdbs of OpenSM and ibdiagnet)
 *
 *	Unicast lids [0-26] of switch Lid 4 guid 0x1111111111111111 ('name'):
 *	dump_ucast_routes: Switch 0x1111111111111111
 *
 * and go on with lines that begin with a LID and a port:
 *
 *	0x0001 002 # Channel Adapter portguid 0x0c42a103006d6175: 'name'	OpenSM
 *	0x0001 002 : (Channel Adapter portguid 0x0c42a103006d6175: 'name')	ibroute
 *	0x0001 : 002  : 02   : yes						fdbs
 *	0x0002 : UNREACHABLE
 *
 * Which port has a LID is said behind it: ports of the graph that have none get it, found by GUID
 * or, if that is nobody's, by a description that only one has.
 */
#include <errno.h>
#include <string.h>

#include "subnet/scan.h"

struct lfts {
	struct wf_scan scan;
	struct wf_subnet *subnet;
	struct wf_tables *tables; /* NULL: LIDs are looked for */
	uint32_t sw;              /* whose lines these are, or WF_SUBNET_NONE */
	uint64_t top;             /* highest LID that comes */
};

/* The first line of a table. Returns whether it is one; *guid_p: the switch's. */
static bool take_head(struct wf_scan *s, uint64_t *guid_p)
{
	struct wf_scan here = *s;

	if ((wf_scan_take(&here, "Unicast lids") && wf_scan_find(&here, "guid ")) ||
	    ((wf_scan_find(&here, "ucast_routes: Switch ")) && here.at < here.stop)) {
		if (!wf_scan_number(&here, 16, UINT64_MAX, guid_p))
			return false;
		*s = here;
		return true;
	}
	return false;
}

/* Which port the remark of a line names, or WF_SUBNET_NONE. */
static uint32_t named_port(const struct lfts *l, struct wf_scan *s)
{
	const struct wf_subnet *subnet = l->subnet;
	uint32_t found = WF_SUBNET_NONE;
	char desc[WF_SUBNET_DESC];
	const char *end = s->stop;
	uint64_t guid;

	if (!wf_scan_find(s, "portguid ") || !wf_scan_number(s, 16, UINT64_MAX, &guid))
		return WF_SUBNET_NONE;
	found = wf_subnet_find_port(subnet, guid);
	if (found != WF_SUBNET_NONE || !wf_scan_find(s, ": '"))
		return found;
	while (end > s->at && end[-1] != '\'')
		end--;
	if (end <= s->at)
		return WF_SUBNET_NONE;
	wf_scan_copy(desc, sizeof(desc), s->at, end - 1);
	for (uint32_t i = 0; i < subnet->n_nodes; i++) {
		const struct wf_subnet_node *node = &subnet->nodes[i];

		if (strcmp(node->desc, desc) != 0)
			continue;
		if (found != WF_SUBNET_NONE ||
		    (node->kind != WF_SUBNET_SWITCH && node->n_ports != 1))
			return WF_SUBNET_NONE;
		found = node->first_port + (node->kind != WF_SUBNET_SWITCH);
	}
	return found;
}

/* The first time: LIDs. */
static int learn(struct lfts *l, unsigned lid)
{
	struct wf_subnet *subnet = l->subnet;
	struct wf_scan *s = &l->scan;
	uint32_t at, has = wf_subnet_by_lid(subnet, lid);
	const struct wf_subnet_port *port;

	at = named_port(l, s);
	s->at = s->start;
	if (lid > l->top)
		l->top = lid;
	if (at == WF_SUBNET_NONE || at == has)
		return 0;
	port = &subnet->ports[at];
	if (has == WF_SUBNET_NONE && port->lid == 0)
		return wf_subnet_set_lid(subnet, port->node, wf_subnet_number(subnet, port),
		                         (uint16_t)lid, 0);
	/* The further LIDs of a port with LMC are told as its own. */
	if (has == WF_SUBNET_NONE && lid > port->lid && lid - port->lid < 1u << WF_SUBNET_MAX_LMC) {
		uint8_t lmc = port->lmc;

		while (lid - port->lid >= 1u << lmc)
			lmc++;
		if (wf_subnet_set_lid(subnet, port->node, wf_subnet_number(subnet, port), port->lid,
		                      lmc) != -EINVAL)
			return 0;
	}
	wf_scan_note(s, "the subnet has this LID at another port");
	return 0;
}

static int take_line(struct lfts *l)
{
	struct wf_scan *s = &l->scan;
	uint64_t lid, port = WF_LFT_NONE;
	const struct wf_subnet_node *node;

	if (!wf_scan_number(s, 16, UINT16_MAX, &lid) || !wf_scan_blanks(s)) {
		wf_scan_note(s, "this line is not understood, and left out");
		return 0;
	}
	(void)wf_scan_take(s, ":");
	wf_scan_blanks(s);
	if (!wf_scan_take(s, "UNREACHABLE") && !wf_scan_number(s, 10, 255, &port))
		return wf_scan_fail(s, "here is the port that leads to the LID, 0 to 255");
	if (lid > WF_LID_MAX)
		return wf_scan_fail(s, "a LID of one port is at most 0xbfff");
	if (l->sw == WF_SUBNET_NONE)
		return 0;
	node = &l->subnet->nodes[l->subnet->switches[l->sw]];
	if (port > node->n_ports && port != WF_LFT_NONE)
		return wf_scan_fail(s, "the switch has no such port");
	if (l->tables == NULL)
		return learn(l, (unsigned)lid);
	/* LIDs of nobody may be beyond the tables. */
	if (lid < l->tables->n_lids)
		wf_tables_row(l->tables, l->sw)[lid] = (uint8_t)port;
	return 0;
}

static int read_lines(struct lfts *l, const char *text, size_t len)
{
	struct wf_scan *s = &l->scan;
	bool begun = false;
	int ret = 0;

	wf_scan_init(s, text, len, s->name, l->tables == NULL ? s->ear : NULL, s->err);
	l->sw = WF_SUBNET_NONE;
	while (ret == 0 && wf_scan_line(s)) {
		uint64_t guid;
		uint32_t id;

		if (!wf_scan_blanks(s) || *s->at == '#')
			continue;
		if (take_head(s, &guid)) {
			begun = true;
			id = wf_subnet_find(l->subnet, guid);
			l->sw = id == WF_SUBNET_NONE ? WF_SUBNET_NONE : l->subnet->nodes[id].sw;
			if (l->sw == WF_SUBNET_NONE)
				wf_scan_note(s, "the subnet has no switch with this GUID; its "
				                "table is left out");
			continue;
		}
		if (begun && s->at[0] == '0' && s->stop - s->at > 2 && s->at[1] == 'x')
			ret = take_line(l);
	}
	if (ret == 0 && !begun)
		ret = wf_err_at(s->err, s->name, 0, 0,
		                "there is no table in it; one begins with 'Unicast lids' or "
		                "'dump_ucast_routes: Switch'");
	return ret;
}

int wf_subnet_read_lfts(struct wf_subnet *subnet, const char *text, size_t len, const char *name,
                        const struct wf_subnet_ear *ear, struct wf_tables **tables_p,
                        struct wf_err *err)
{
	struct lfts l = { .subnet = subnet };
	int ret;

	l.scan = (struct wf_scan){ .name = name, .ear = ear, .err = err };
	ret = read_lines(&l, text, len);
	if (ret == 0)
		ret = wf_tables_create(subnet, &l.tables);
	if (ret == 0)
		ret = read_lines(&l, text, len);
	if (ret != 0)
		wf_tables_destroy(l.tables);
	else
		*tables_p = l.tables;
	return ret;
}
