/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_csv.c - reads ibdiagnet2.db_csv: sections of comma-separated rows below a row of their
 * columns' names, which are looked for, because versions differ in them.
 *
 *	START_LINKS
 *	NodeGuid1,PortNum1,NodeGuid2,PortNum2
 *	0xb0cf0e0300e5b940,1,0x5c25730300c06f60,1
 *	END_LINKS
 *
 * NODES, PORTS, LINKS and PM_INFO are read; others are left out, which is noted.
 */
#include <errno.h>
#include <string.h>

#include "subnet/claims.h"
#include "subnet/pm.h"
#include "subnet/scan.h"

#define MAX_COLUMNS 160

struct cell {
	const char *at, *end;
};

struct csv {
	struct wf_scan scan;
	struct wf_subnet *subnet;
	struct wf_claim *claims;
	unsigned n_columns;
	struct cell columns[MAX_COLUMNS];
	struct cell cells[MAX_COLUMNS];
};

struct section {
	const char *name;
	unsigned pass; /* in which it is read: nodes come before all that is said of them */
	int (*row)(struct csv *csv);
};

/* ---- rows and cells ---- */

/* Splits the line; quotes may be around a cell. Returns how many there are. */
static unsigned split(struct wf_scan *s, struct cell cells[MAX_COLUMNS])
{
	unsigned n = 0;

	while (n < MAX_COLUMNS) {
		struct cell *cell = &cells[n++];

		wf_scan_blanks(s);
		if (wf_scan_take(s, "\"")) {
			cell->at = s->at;
			while (s->at < s->stop && *s->at != '"')
				s->at++;
			cell->end = s->at;
			(void)wf_scan_take(s, "\"");
			while (s->at < s->stop && *s->at != ',')
				s->at++;
		} else {
			cell->at = s->at;
			while (s->at < s->stop && *s->at != ',')
				s->at++;
			cell->end = s->at;
		}
		if (!wf_scan_take(s, ","))
			break;
	}
	return n;
}

static bool is_word(const struct cell *cell, const char *word)
{
	const char *end = cell->end;
	size_t n = strlen(word);

	while (end > cell->at && end[-1] == ' ')
		end--;
	if ((size_t)(end - cell->at) != n)
		return false;
	for (size_t i = 0; i < n; i++) {
		char a = cell->at[i], b = word[i];

		/* NodeGUID and NodeGuid are both in use. */
		if (a != b && (a | 0x20) != (b | 0x20))
			return false;
	}
	return true;
}

/* The cell below a column, or NULL. */
static const struct cell *cell_of(const struct csv *csv, const char *column)
{
	for (unsigned i = 0; i < csv->n_columns; i++) {
		if (is_word(&csv->columns[i], column))
			return &csv->cells[i];
	}
	return NULL;
}

static bool cell_number(const struct cell *cell, uint64_t max, uint64_t *value_p)
{
	struct wf_scan s;

	wf_scan_init(&s, cell->at, (size_t)(cell->end - cell->at), "", NULL, NULL);
	return wf_scan_line(&s) && wf_scan_number(&s, 0, max, value_p) && s.at == s.stop;
}

/* A number that has to be there. */
static int need(struct csv *csv, const char *column, uint64_t max, uint64_t *value_p)
{
	const struct cell *cell = cell_of(csv, column);

	if (cell == NULL || cell->at == NULL)
		return wf_err_at(csv->scan.err, csv->scan.name, csv->scan.line, 0,
		                 "there is no %s in this row; it is needed", column);
	if (!cell_number(cell, max, value_p))
		return wf_err_at(csv->scan.err, csv->scan.name, csv->scan.line,
		                 (unsigned)(cell->at - csv->scan.start) + 1,
		                 "%s is no number, or too great", column);
	return 0;
}

/* A number that may be there; "N/A" and the like are none. */
static uint64_t look(const struct csv *csv, const char *column, uint64_t max, uint64_t otherwise)
{
	const struct cell *cell = cell_of(csv, column);
	uint64_t value;

	return cell != NULL && cell->at != NULL && cell_number(cell, max, &value) ? value
	                                                                          : otherwise;
}

/* ---- sections ---- */

static int node_row(struct csv *csv)
{
	struct wf_subnet_node like = { .line = csv->scan.line };
	const struct cell *desc = cell_of(csv, "NodeDesc");
	uint64_t kind = 0, n_ports = 0, guid = 0;
	uint32_t id;
	int ret = need(csv, "NodeGUID", UINT64_MAX, &guid);

	if (ret == 0)
		ret = need(csv, "NodeType", WF_SUBNET_ROUTER, &kind);
	if (ret == 0)
		ret = need(csv, "NumPorts", WF_SUBNET_MAX_PORTS, &n_ports);
	if (ret != 0)
		return ret;
	if (kind == 0 || n_ports == 0)
		return wf_scan_fail(&csv->scan, "NodeType is 1, 2 or 3, and NumPorts not 0");
	like.guid = guid;
	like.kind = (uint8_t)kind;
	like.n_ports = (uint8_t)n_ports;
	like.system = look(csv, "SystemImageGUID", UINT64_MAX, 0);
	like.vendor = (uint32_t)look(csv, "VendorID", UINT32_MAX, 0);
	like.device = (uint16_t)look(csv, "DeviceID", UINT16_MAX, 0);
	if (desc != NULL && desc->at != NULL)
		wf_scan_copy(like.desc, sizeof(like.desc), desc->at, desc->end);
	ret = wf_subnet_add(csv->subnet, &like, &id);
	return ret == -EINVAL ? wf_scan_fail(&csv->scan, "there are too many nodes") : ret;
}

/* The port that two columns name. NULL: the node is not in NODES, or has no such port: noted. */
static struct wf_subnet_port *port_of(struct csv *csv, const char *guid_column,
                                      const char *number_column, int *ret_p)
{
	uint64_t guid, number;
	uint32_t id;

	*ret_p = need(csv, guid_column, UINT64_MAX, &guid);
	if (*ret_p == 0)
		*ret_p = need(csv, number_column, 255, &number);
	if (*ret_p != 0)
		return NULL;
	id = wf_subnet_find(csv->subnet, guid);
	csv->scan.at = csv->scan.start;
	if (id == WF_SUBNET_NONE || number > csv->subnet->nodes[id].n_ports) {
		wf_scan_note(&csv->scan, "no row of NODES has such a node and port; left out");
		return NULL;
	}
	return wf_subnet_port(csv->subnet, id, (unsigned)number);
}

/* The highest of a mask of widths, as LinkWidthSupported has them. */
static uint8_t widest(uint64_t mask)
{
	return mask & 8 ? 12 : mask & 4 ? 8 : mask & 2 ? 4 : mask & 16 ? 2 : mask & 1 ? 1 : 0;
}

/*
 * The highest of a mask of speeds: bits 0 to 2 are LinkSpeed's, from 8 on LinkSpeedExt's, and 16 is
 * FDR10, as ibdiagnet puts them together.
 */
static uint8_t fastest(uint64_t mask)
{
	static const struct {
		unsigned bit;
		uint8_t speed;
	} rows[] = { { 12, WF_SUBNET_XDR }, { 11, WF_SUBNET_NDR }, { 10, WF_SUBNET_HDR },
		     { 9, WF_SUBNET_EDR },  { 8, WF_SUBNET_FDR },  { 16, WF_SUBNET_FDR10 },
		     { 2, WF_SUBNET_QDR },  { 1, WF_SUBNET_DDR },  { 0, WF_SUBNET_SDR } };

	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++) {
		if (mask >> rows[i].bit & 1)
			return rows[i].speed;
	}
	return WF_SUBNET_SPEED_NONE;
}

static int port_row(struct csv *csv)
{
	int ret;
	struct wf_subnet_port *port = port_of(csv, "NodeGuid", "PortNum", &ret);
	uint64_t lid = look(csv, "LID", WF_LID_MAX, 0);
	uint64_t lmc = look(csv, "LMC", WF_SUBNET_MAX_LMC, 0);
	struct wf_subnet_node *node;
	unsigned number;

	if (port == NULL)
		return ret;
	node = &csv->subnet->nodes[port->node];
	number = wf_subnet_number(csv->subnet, port);
	port->line = csv->scan.line;
	port->width = widest(look(csv, "LinkWidthActv", UINT32_MAX, 0));
	port->width_best = widest(look(csv, "LinkWidthSup", UINT32_MAX, 0));
	port->speed = fastest(look(csv, "LinkSpeedActv", UINT32_MAX, 0));
	port->speed_best = fastest(look(csv, "LinkSpeedSup", UINT32_MAX, 0));
	port->state = (uint8_t)look(csv, "PortState", WF_SUBNET_ACTIVE, 0);
	port->phys = (uint8_t)look(csv, "PortPhyState", 7, 0);
	if (node->kind == WF_SUBNET_SWITCH ? number != 0 : number == 0)
		return 0;
	if (number != 0)
		ret = wf_subnet_set_guid(csv->subnet, port->node, number,
		                         look(csv, "PortGuid", UINT64_MAX, 0));
	if (ret == 0 && wf_subnet_set_lid(csv->subnet, port->node, number, (uint16_t)lid,
	                                  (uint8_t)lmc) == -EINVAL)
		wf_scan_note(&csv->scan, "this is no LID of such an LMC; left out");
	return ret;
}

static int link_row(struct csv *csv)
{
	int ret, ret2;
	const struct wf_subnet_port *a = port_of(csv, "NodeGuid1", "PortNum1", &ret);
	const struct wf_subnet_port *b = port_of(csv, "NodeGuid2", "PortNum2", &ret2);
	struct wf_subnet *subnet = csv->subnet;
	const struct wf_subnet_port *ends[2] = { a, b };

	if (a == NULL || b == NULL)
		return ret != 0 ? ret : ret2;
	/* A port that has a link already leads elsewhere, too: the ends will not agree. */
	for (unsigned i = 0; i < 2; i++) {
		struct wf_claim *claim = &csv->claims[ends[i] - subnet->ports];

		if (wf_subnet_number(subnet, ends[i]) == 0)
			return wf_scan_fail(&csv->scan, "a link has no end at a port 0");
		if (claim->line == 0)
			*claim =
				(struct wf_claim){ csv->scan.line, ends[1 - i]->node,
				                   (uint8_t)wf_subnet_number(subnet, ends[1 - i]) };
	}
	return 0;
}

static int pm_row(struct csv *csv)
{
	int ret = wf_subnet_want_pm(csv->subnet);
	struct wf_subnet_port *port;
	struct wf_pm *pm;

	if (ret != 0)
		return ret;
	port = port_of(csv, "NodeGUID", "PortNumber", &ret);
	if (port == NULL)
		return ret;
	pm = &csv->subnet->pm[port - csv->subnet->ports];
	pm->known = true;
	for (unsigned i = 0; i < WF_PM_N; i++) {
		/* SymbolErrorCounterExt, but PortXmitDataExtended. */
		static const char *const more[] = { "", "Ext", "Extended" };

		for (size_t k = 0; k < WF_ARRAY_SIZE(more); k++) {
			char column[64];
			size_t n = strlen(wf_pm_rows[i].name), m = strlen(more[k]) + 1;
			uint64_t value;

			assert(n + m <= sizeof(column));
			memcpy(column, wf_pm_rows[i].name, n);
			memcpy(column + n, more[k], m);
			/* Some devices count below 0. */
			value = look(csv, column, INT64_MAX, 0);
			pm->count[i] = wf_max_u64(pm->count[i], value);
		}
	}
	return 0;
}

static const struct section sections[] = {
	{ "NODES", 0, node_row },
	{ "PORTS", 1, port_row },
	{ "LINKS", 1, link_row },
	{ "PM_INFO", 1, pm_row },
};

/* ---- the file ---- */

static const struct section *section_called(const struct wf_scan *s)
{
	for (size_t i = 0; i < WF_ARRAY_SIZE(sections); i++) {
		size_t n = strlen(sections[i].name);

		if ((size_t)(s->stop - s->at) == n && memcmp(s->at, sections[i].name, n) == 0)
			return &sections[i];
	}
	return NULL;
}

/* The rows of a section, up to its END. section NULL: they are gone over. */
static int read_section(struct csv *csv, const struct section *section)
{
	struct wf_scan *s = &csv->scan;
	unsigned begun = s->line;
	int ret = 0;

	csv->n_columns = 0;
	while (ret == 0 && wf_scan_line(s)) {
		if (wf_scan_take(s, "END_"))
			return 0;
		if (section == NULL || !wf_scan_blanks(s))
			continue;
		if (csv->n_columns == 0) {
			csv->n_columns = split(s, csv->columns);
			continue;
		}
		memset(csv->cells, 0, sizeof(csv->cells));
		(void)split(s, csv->cells);
		ret = section->row(csv);
	}
	if (ret == 0)
		ret = wf_err_at(s->err, s->name, begun, 0,
		                "the section has no end; is the file complete?");
	return ret;
}

/* Goes through the text once; only: nothing but that section is read. */
static int read_pass(struct csv *csv, const char *text, size_t len, unsigned pass, const char *only)
{
	struct wf_scan *s = &csv->scan;
	const struct wf_subnet_ear *ear = s->ear;
	int ret = 0;

	wf_scan_init(s, text, len, s->name, ear, s->err);
	while (ret == 0 && wf_scan_line(s)) {
		const struct section *section;

		if (!wf_scan_blanks(s) || *s->at == '#')
			continue;
		if (!wf_scan_take(s, "START_")) {
			if (pass == 0)
				wf_scan_note(s, "this line is in no section, and left out");
			continue;
		}
		section = section_called(s);
		if (section == NULL && pass == 0)
			wf_scan_note(s, "this section is not read");
		if (section != NULL &&
		    (only != NULL ? strcmp(only, section->name) != 0 : section->pass != pass))
			section = NULL;
		ret = read_section(csv, section);
	}
	return ret;
}

static int csv_read(struct wf_subnet *subnet, const char *text, size_t len, const char *name,
                    const struct wf_subnet_ear *ear, struct wf_err *err)
{
	struct wf_mem *mem = subnet->mem;
	struct csv *csv = mem->alloc(mem, sizeof(*csv));
	uint8_t *told = NULL;
	int ret;

	if (csv == NULL)
		return -ENOMEM;
	csv->scan = (struct wf_scan){ .name = name, .ear = ear, .err = err };
	csv->subnet = subnet;
	ret = read_pass(csv, text, len, 0, NULL);
	if (ret == 0 && subnet->n_nodes == 0)
		ret = wf_err_at(err, name, 0, 0, "there is no node in it; section NODES has them");
	if (ret == 0) {
		csv->claims = mem->alloc(mem, ((size_t)subnet->n_ports + 1) * sizeof(*csv->claims));
		told = mem->alloc(mem, (size_t)subnet->n_nodes + 1);
		ret = csv->claims == NULL || told == NULL ? -ENOMEM : 0;
	}
	if (ret == 0)
		ret = read_pass(csv, text, len, 1, NULL);
	if (ret == 0)
		ret = wf_claims_join(subnet, csv->claims, told);
	mem->free(mem, told);
	mem->free(mem, csv->claims);
	mem->free(mem, csv);
	return ret;
}

const struct wf_subnet_form wf_subnet_db_csv = {
	.name = "db_csv",
	.help = "ibdiagnet2.db_csv: nodes, ports, links and counters",
	.read = csv_read,
};

/* ---- counters alone ---- */

/*
 * perfquery's output: blocks that begin with "# Port counters: Lid 5 port 1" or the like, of lines
 * "SymbolErrorCounter:..............0".
 */
static int read_query(struct wf_subnet *subnet, struct wf_scan *s)
{
	struct wf_pm *pm = NULL;

	while (wf_scan_line(s)) {
		unsigned i = 0;

		if (!wf_scan_blanks(s))
			continue;
		if (*s->at == '#') {
			uint64_t lid, number;
			uint32_t at;

			pm = NULL;
			if (!wf_scan_find(s, "Lid ") || !wf_scan_number(s, 10, WF_LID_MAX, &lid) ||
			    !wf_scan_find(s, "port ") || !wf_scan_number(s, 10, 254, &number))
				continue;
			at = wf_subnet_by_lid(subnet, (unsigned)lid);
			if (at == WF_SUBNET_NONE ||
			    number > subnet->nodes[subnet->ports[at].node].n_ports) {
				wf_scan_note(s, "no port of the subnet has this LID and number");
				continue;
			}
			pm = &subnet->pm[wf_subnet_port(subnet, subnet->ports[at].node,
			                                (unsigned)number) -
			                 subnet->ports];
			pm->known = true;
			continue;
		}
		while (i < WF_PM_N) {
			uint64_t value;
			const char *at = s->at;

			if (wf_scan_take(s, wf_pm_rows[i].name) && wf_scan_take(s, ":")) {
				while (wf_scan_take(s, "."))
					;
				if (!wf_scan_number(s, 0, UINT64_MAX, &value))
					return wf_scan_fail(s, "here is the counter's value");
				if (pm != NULL)
					pm->count[i] = wf_max_u64(pm->count[i], value);
				break;
			}
			s->at = at;
			i++;
		}
	}
	return 0;
}

int wf_subnet_read_pm(struct wf_subnet *subnet, const char *text, size_t len, const char *name,
                      const struct wf_subnet_ear *ear, struct wf_err *err)
{
	struct wf_mem *mem = subnet->mem;
	struct csv *csv;
	int ret = wf_subnet_want_pm(subnet);

	if (ret != 0)
		return ret;
	csv = mem->alloc(mem, sizeof(*csv));
	if (csv == NULL)
		return -ENOMEM;
	csv->scan = (struct wf_scan){ .name = name, .ear = ear, .err = err };
	csv->subnet = subnet;
	if (wf_subnet_form_of(text, len) == &wf_subnet_db_csv) {
		ret = read_pass(csv, text, len, 1, "PM_INFO");
	} else {
		wf_scan_init(&csv->scan, text, len, name, ear, err);
		ret = read_query(subnet, &csv->scan);
	}
	mem->free(mem, csv);
	return ret;
}
