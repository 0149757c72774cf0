/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_ports.c - reads what ibnetdiscover -p prints, a line for each port:
 *
 *	CA   134  1 0x7cfe9003003b4bde 4x EDR - SW  1719 10 0x7cfe9003009ce5b0 ( 'a HCA-1' - 'b' )
 *	SW  1719 37 0x7cfe9003009ce5b0 4x ???                                    'b'
 *
 * It has the GUIDs of ports, not of nodes, so that each port of an adapter that has two is an
 * adapter of its own; and no node's number of ports, of which the highest that comes is taken.
 */
#include <errno.h>
#include <string.h>

#include "subnet/claims.h"
#include "subnet/guids.h"
#include "subnet/scan.h"

struct end {
	uint8_t kind;
	uint16_t lid;
	uint8_t number;
	uint64_t guid;
};

struct row {
	struct end a, b;
	bool linked;
	uint8_t width, speed;
	const char *a_desc, *a_desc_end, *b_desc, *b_desc_end;
};

struct ports {
	struct wf_scan scan;
	struct wf_subnet *subnet;
	struct wf_subnet_guids nodes; /* by port GUID: index into seen */
	struct seen {
		struct end end; /* number: the highest */
		uint32_t node;
		uint32_t line;
		bool told;
		char desc[WF_SUBNET_DESC];
	} * seen;
	uint32_t n_seen, max_seen;
	struct wf_claim *claims;
	uint8_t *told;
};

static int take_end(struct wf_scan *s, struct end *end)
{
	uint64_t lid, number;

	wf_scan_blanks(s);
	end->kind = wf_scan_take(s, "CA")   ? WF_SUBNET_ADAPTER
	            : wf_scan_take(s, "SW") ? WF_SUBNET_SWITCH
	            : wf_scan_take(s, "RT") ? WF_SUBNET_ROUTER
	                                    : 0;
	if (end->kind == 0)
		return wf_scan_fail(s, "here is CA, SW or RT");
	wf_scan_blanks(s);
	if (!wf_scan_number(s, 10, WF_LID_MAX, &lid))
		return wf_scan_fail(s, "here is a LID, 0 to 49151");
	wf_scan_blanks(s);
	if (!wf_scan_number(s, 10, WF_SUBNET_MAX_PORTS, &number))
		return wf_scan_fail(s, "here is a port's number, 0 to 254");
	wf_scan_blanks(s);
	if (!wf_scan_number(s, 16, UINT64_MAX, &end->guid) || end->guid == 0)
		return wf_scan_fail(s, "here is a port's GUID");
	end->lid = (uint16_t)lid;
	end->number = (uint8_t)number;
	return 0;
}

/* The descriptions: "( 'a' - 'b' )", or that of an unconnected port, with or without quotes. */
static void take_descs(struct wf_scan *s, struct row *row)
{
	const char *stop = s->stop, *quote;
	struct wf_scan rest;

	wf_scan_blanks(s);
	if (!row->linked) {
		(void)wf_scan_take(s, "'");
		row->a_desc = s->at;
		row->a_desc_end = stop > s->at && stop[-1] == '\'' ? stop - 1 : stop;
		return;
	}
	if (!wf_scan_take(s, "(") || !wf_scan_find(s, "'"))
		return;
	rest = *s;
	if (!wf_scan_find(&rest, "' - '"))
		return;
	row->a_desc = s->at;
	row->a_desc_end = rest.at - strlen("' - '");
	row->b_desc = row->b_desc_end = rest.at;
	for (quote = rest.at; quote < stop; quote++) {
		if (*quote == '\'')
			row->b_desc_end = quote;
	}
}

static int take_row(struct wf_scan *s, struct row *row)
{
	int ret = take_end(s, &row->a);

	if (ret != 0)
		return ret;
	wf_scan_blanks(s);
	if (!wf_scan_width(s, &row->width) || !wf_scan_speed(s, &row->speed))
		return wf_scan_fail(s, "here are width and speed, as 4x EDR");
	wf_scan_blanks(s);
	row->linked = wf_scan_take(s, "- ");
	if (row->linked)
		ret = take_end(s, &row->b);
	if (ret == 0)
		take_descs(s, row);
	return ret;
}

static int see(struct ports *p, const struct end *end, bool told, const char *desc,
               const char *desc_end)
{
	struct wf_mem *mem = p->subnet->mem;
	uint32_t i = wf_guids_find(&p->nodes, end->guid);
	struct seen *seen;

	if (i == WF_SUBNET_NONE) {
		if (p->n_seen == p->max_seen) {
			uint32_t max = p->max_seen == 0 ? 64 : 2 * p->max_seen;

			seen = mem->alloc(mem, max * sizeof(*seen));
			if (seen == NULL)
				return -ENOMEM;
			if (p->n_seen != 0)
				memcpy(seen, p->seen, p->n_seen * sizeof(*seen));
			mem->free(mem, p->seen);
			p->seen = seen;
			p->max_seen = max;
		}
		i = p->n_seen;
		if (wf_guids_add(&p->nodes, mem, end->guid, i) != 0)
			return -ENOMEM;
		p->n_seen++;
		p->seen[i] = (struct seen){ .end = *end, .line = p->scan.line };
	}
	seen = &p->seen[i];
	if (end->number > seen->end.number)
		seen->end.number = end->number;
	seen->told |= told;
	if (desc != NULL && seen->desc[0] == '\0')
		wf_scan_copy(seen->desc, sizeof(seen->desc), desc, desc_end);
	return 0;
}

static int see_row(struct ports *p, const struct row *row)
{
	int ret = see(p, &row->a, true, row->a_desc, row->a_desc_end);

	if (ret == 0 && row->linked)
		ret = see(p, &row->b, false, row->b_desc, row->b_desc_end);
	return ret;
}

static int add_nodes(struct ports *p)
{
	struct wf_subnet *subnet = p->subnet;

	for (uint32_t i = 0; i < p->n_seen; i++) {
		struct seen *seen = &p->seen[i];
		bool own = seen->end.kind == WF_SUBNET_SWITCH;
		struct wf_subnet_node like = {
			.guid = seen->end.guid,
			.kind = seen->end.kind,
			.n_ports = seen->end.number == 0 ? 1 : seen->end.number,
			.line = seen->line,
		};
		int ret;

		memcpy(like.desc, seen->desc, sizeof(like.desc));
		ret = wf_subnet_add(subnet, &like, &seen->node);
		if (ret == 0 && !own)
			ret = wf_subnet_set_guid(subnet, seen->node, like.n_ports, like.guid);
		if (ret == 0) {
			(void)wf_subnet_set_lid(subnet, seen->node, own ? 0 : like.n_ports,
			                        seen->end.lid, 0);
		}
		if (ret != 0)
			return ret;
	}
	return 0;
}

static int claim_row(struct ports *p, const struct row *row)
{
	struct wf_subnet *subnet = p->subnet;
	uint32_t a = p->seen[wf_guids_find(&p->nodes, row->a.guid)].node;
	struct wf_subnet_port *port = wf_subnet_port(subnet, a, row->a.number);
	struct wf_claim *claim = &p->claims[port - subnet->ports];

	port->line = p->scan.line;
	port->width = row->width;
	port->speed = row->speed;
	if (!row->linked)
		return 0;
	p->scan.at = p->scan.start;
	if (row->a.number == 0 || row->b.number == 0)
		return wf_scan_fail(&p->scan, "a link has no end at a port 0");
	if (claim->line != 0)
		return wf_scan_fail(&p->scan, "the port is there twice; each comes once");
	*claim = (struct wf_claim){ p->scan.line,
		                    p->seen[wf_guids_find(&p->nodes, row->b.guid)].node,
		                    row->b.number };
	return 0;
}

static int read_rows(struct ports *p, const char *text, size_t len, bool second)
{
	struct wf_scan *s = &p->scan;
	int ret = 0;

	wf_scan_init(s, text, len, s->name, second ? NULL : s->ear, s->err);
	while (ret == 0 && wf_scan_line(s)) {
		struct row row = { .linked = false };
		struct wf_scan here;

		if (!wf_scan_blanks(s) || *s->at == '#')
			continue;
		here = *s;
		if (!wf_scan_take(&here, "CA ") && !wf_scan_take(&here, "SW ") &&
		    !wf_scan_take(&here, "RT ")) {
			wf_scan_note(s, "this line is not understood, and left out");
			continue;
		}
		ret = take_row(s, &row);
		if (ret == 0)
			ret = second ? claim_row(p, &row) : see_row(p, &row);
	}
	return ret;
}

static int ports_read(struct wf_subnet *subnet, const char *text, size_t len, const char *name,
                      const struct wf_subnet_ear *ear, struct wf_err *err)
{
	struct wf_mem *mem = subnet->mem;
	struct ports p = { .subnet = subnet };
	int ret;

	p.scan = (struct wf_scan){ .name = name, .ear = ear, .err = err };
	ret = read_rows(&p, text, len, false);
	if (ret == 0)
		ret = add_nodes(&p);
	if (ret == 0) {
		p.claims = mem->alloc(mem, ((size_t)subnet->n_ports + 1) * sizeof(*p.claims));
		p.told = mem->alloc(mem, (size_t)subnet->n_nodes + 1);
		ret = p.claims == NULL || p.told == NULL ? -ENOMEM : 0;
	}
	if (ret == 0)
		ret = read_rows(&p, text, len, true);
	if (ret == 0) {
		for (uint32_t i = 0; i < p.n_seen; i++)
			p.told[p.seen[i].node] = p.seen[i].told;
		ret = wf_claims_join(subnet, p.claims, p.told);
	}
	mem->free(mem, p.told);
	mem->free(mem, p.claims);
	mem->free(mem, p.seen);
	wf_guids_fini(&p.nodes, mem);
	return ret;
}

const struct wf_subnet_form wf_subnet_ports = {
	.name = "ports",
	.help = "output of ibnetdiscover -p: a line for each port",
	.read = ports_read,
};
