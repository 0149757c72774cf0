/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_csv.c - the counters of ibdiagnet2.db_csv: sections of comma-separated rows below a row of
 * their columns' names (subnet/read_csv.c reads the subnet itself).
 *
 *	START_PM_INFO
 *	NodeGUID,PortGUID,PortNumber,LinkDownedCounter,...
 *	0xb0cf0e0300d33fc0,0xb0cf0e0300d33fc0,1,0,...
 *	END_PM_INFO
 *
 * PM_DELTA has what counters grew by while ibdiagnet waited: where a file has it, it is taken in
 * place of PM_INFO. NODES has names, LINKS what is connected.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "evidence/read_priv.h"

#define MAX_CELLS 160

struct csv {
	struct wf_read *r;
	unsigned n_columns;
	struct wf_slice columns[MAX_CELLS], cells[MAX_CELLS];
	struct wf_ev_name names[MAX_CELLS]; /* counter WF_EV_PASSED: none */
	int guid, number, desc, type;       /* columns; -1: not there */
	int guid2, number2;
};

struct section {
	const char *name;
	int (*row)(struct csv *csv);
	bool counters;
};

static unsigned split(struct wf_scan *s, struct wf_slice cells[MAX_CELLS])
{
	unsigned n = 0;

	while (n < MAX_CELLS) {
		struct wf_slice *cell = &cells[n++];
		const char *end;
		bool quoted;

		(void)wf_scan_blanks(s);
		quoted = wf_scan_take(s, "\"");
		cell->at = s->at;
		while (s->at < s->stop && *s->at != (quoted ? '"' : ','))
			s->at++;
		end = s->at;
		while (end > cell->at && end[-1] == ' ')
			end--;
		cell->len = (size_t)(end - cell->at);
		while (s->at < s->stop && *s->at != ',')
			s->at++;
		if (!wf_scan_take(s, ","))
			break;
	}
	return n;
}

/* By its GUID, with a name where NODES has told of one before. */
static int device_of(const struct csv *csv, int column, uint32_t *id_p)
{
	const struct wf_slice *guid = &csv->cells[column];

	return wf_evidence_device(csv->r->ev, guid->at, guid->len, id_p);
}

static int need(struct csv *csv, int column, const char *what)
{
	if (column >= 0 && csv->cells[column].len > 0)
		return 0;
	return wf_err_at(csv->r->scan.err, csv->r->scan.name, csv->r->scan.line, 0,
	                 "there is no %s in this row; it is needed", what);
}

static int pm_row(struct csv *csv)
{
	struct wf_read *r = csv->r;
	uint32_t device, port;
	int ret = need(csv, csv->guid, "NodeGUID");

	if (ret == 0)
		ret = need(csv, csv->number, "PortNumber");
	if (ret == 0)
		ret = device_of(csv, csv->guid, &device);
	if (ret == 0)
		ret = wf_evidence_port(r->ev, device, csv->cells[csv->number].at,
		                       csv->cells[csv->number].len, &port);
	for (unsigned i = 0; i < csv->n_columns && ret == 0; i++) {
		struct wf_scan s;
		uint64_t value;

		if (csv->names[i].counter == WF_EV_PASSED || csv->cells[i].len == 0)
			continue;
		wf_scan_init(&s, csv->cells[i].at, csv->cells[i].len, "", NULL, NULL);
		/* -1 and N/A: the device does not count it. */
		if (wf_scan_line(&s) && wf_scan_number(&s, 0, UINT64_MAX, &value) && s.at == s.stop)
			ret = wf_read_put(r, port, WF_EV_NO_QUEUE, &csv->names[i], value);
	}
	return ret;
}

static int link_row(struct csv *csv)
{
	struct wf_evidence *ev = csv->r->ev;
	const int guids[] = { csv->guid, csv->guid2 }, numbers[] = { csv->number, csv->number2 };
	uint32_t port[2];

	for (int i = 0; i < 2; i++) {
		uint32_t device;
		int ret = need(csv, guids[i], "NodeGuid");

		if (ret == 0)
			ret = need(csv, numbers[i], "PortNum");
		if (ret == 0)
			ret = device_of(csv, guids[i], &device);
		if (ret == 0)
			ret = wf_evidence_port(ev, device, csv->cells[numbers[i]].at,
			                       csv->cells[numbers[i]].len, &port[i]);
		if (ret != 0)
			return ret;
	}
	wf_evidence_link(ev, port[0], port[1]);
	return 0;
}

static int node_row(struct csv *csv)
{
	uint32_t device;
	int ret = need(csv, csv->guid, "NodeGUID");

	if (ret == 0)
		ret = device_of(csv, csv->guid, &device);
	if (ret == 0 && csv->type >= 0 && csv->cells[csv->type].len == 1)
		csv->r->ev->devices[device].kind =
			*csv->cells[csv->type].at == '2' ? WF_EV_SWITCH : WF_EV_HOST;
	if (ret == 0 && csv->desc >= 0)
		ret = wf_evidence_title(csv->r->ev, device, csv->cells[csv->desc].at,
		                        csv->cells[csv->desc].len);
	return ret;
}

static const struct section sections[] = {
	{ "NODES", node_row, false },
	{ "LINKS", link_row, false },
	{ "PM_INFO", pm_row, true },
	{ "PM_DELTA", pm_row, true },
};

static bool same_word(struct wf_slice a, const char *b)
{
	if (a.len != strlen(b))
		return false;
	for (size_t i = 0; i < a.len; i++) {
		if ((a.at[i] | 0x20) != (b[i] | 0x20))
			return false;
	}
	return true;
}

static int column_called(const struct csv *csv, const char *name, const char *other)
{
	for (unsigned i = 0; i < csv->n_columns; i++) {
		if (same_word(csv->columns[i], name) || same_word(csv->columns[i], other))
			return (int)i;
	}
	return -1;
}

static void take_head(struct csv *csv, const struct section *section)
{
	static const char *const known[] = { "NodeGUID", "PortGUID", "PortNumber", "LID" };

	csv->n_columns = split(&csv->r->scan, csv->columns);
	csv->guid = column_called(csv, "NodeGUID", "NodeGuid1");
	csv->number = column_called(csv, "PortNumber", "PortNum1");
	csv->guid2 = column_called(csv, "NodeGuid2", "NodeGuid2");
	csv->number2 = column_called(csv, "PortNum2", "PortNum2");
	csv->type = column_called(csv, "NodeType", "NodeType");
	csv->desc = column_called(csv, "NodeDesc", "NodeDescription");
	for (unsigned i = 0; i < csv->n_columns; i++) {
		bool is_known = false;

		csv->names[i].counter = WF_EV_PASSED;
		for (size_t k = 0; k < WF_ARRAY_SIZE(known); k++)
			is_known |= same_word(csv->columns[i], known[k]);
		if (section->counters && !is_known &&
		    !wf_ev_name(WF_EV_PMA, csv->columns[i].at, csv->columns[i].len,
		                &csv->names[i])) {
			csv->names[i].counter = WF_EV_PASSED;
			wf_read_unknown(csv->r, "column", csv->columns[i]);
		}
	}
}

/* Up to its END_; section NULL: goes over it. */
static int read_section(struct csv *csv, const struct section *section)
{
	struct wf_scan *s = &csv->r->scan;
	unsigned begun = s->line;
	int ret = 0;

	csv->n_columns = 0;
	while (ret == 0 && wf_scan_line(s)) {
		if (wf_scan_take(s, "END_"))
			return 0;
		if (section == NULL || !wf_scan_blanks(s))
			continue;
		if (csv->n_columns == 0) {
			take_head(csv, section);
			continue;
		}
		if (split(s, csv->cells) < csv->n_columns)
			return wf_err_at(s->err, s->name, s->line, 0,
			                 "this row has fewer cells than the section has columns; "
			                 "is the file complete?");
		ret = section->row(csv);
	}
	return ret != 0 ? ret
	                : wf_err_at(s->err, s->name, begun, 0,
	                            "the section has no end; is the file complete?");
}

static bool has_delta(const struct wf_scan *from)
{
	struct wf_scan s = *from;

	s.ear = NULL;
	while (wf_scan_line(&s)) {
		if (wf_scan_take(&s, "START_PM_DELTA"))
			return true;
	}
	return false;
}

int wf_read_csv(struct wf_read *r)
{
	struct wf_scan *s = &r->scan;
	struct csv *csv = r->ev->mem->alloc(r->ev->mem, sizeof(*csv));
	bool delta = has_delta(s);
	int ret = 0;

	if (csv == NULL)
		return -ENOMEM;
	csv->r = r;
	while (ret == 0 && wf_scan_line(s)) {
		const struct section *section = NULL;

		if (!wf_scan_blanks(s) || *s->at == '#')
			continue;
		if (!wf_scan_take(s, "START_")) {
			wf_scan_note(s, "this line is in no section, and left out");
			continue;
		}
		for (size_t i = 0; i < WF_ARRAY_SIZE(sections); i++) {
			if (same_word((struct wf_slice){ s->at, (size_t)(s->stop - s->at) },
			              sections[i].name))
				section = &sections[i];
		}
		if (section == NULL)
			wf_scan_note(s, "this section is not read");
		/* Of the two that of what has happened lately says more. */
		if (delta && section != NULL && strcmp(section->name, "PM_INFO") == 0)
			section = NULL;
		ret = read_section(csv, section);
	}
	r->ev->mem->free(r->ev->mem, csv);
	return ret;
}
