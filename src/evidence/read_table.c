/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_table.c - tables as SONiC's show commands print them:
 *
 *	     Port    TxQ    Counter/pkts    Drop/pkts
 *	---------  -----  --------------  -----------
 *	Ethernet0    UC3       1,234,567            0
 *
 * The dashes say where columns are; what a table is, is told by what heads its first column and,
 * where several have the same, the line above it. A table ends with an empty line, or where a row
 * does not begin in its first column.
 */
#include <errno.h>
#include <string.h>

#include "evidence/read_priv.h"

#define MAX_COLUMNS 96

enum cell {
	COUNT,  /* a number */
	PAIR_A, /* 5/7: the first, */
	PAIR_B, /* and the second */
	SPEED,  /* 400G */
	STORM,  /* stormed, operational */
	PASSED, /* known, and tells nothing that is used */
};

struct row {
	const char *key;    /* what heads the first column */
	const char *title;  /* in the line above; NULL: whatever */
	const char *column; /* with %u, a priority */
	enum cell cell;
	enum wf_ev_counter counter;
};

/* clang-format off */
static const struct row rows[] = {
	{ "Port Rx", NULL, "PFC%u", COUNT, WF_EV_pause_rx },
	{ "Port Tx", NULL, "PFC%u", COUNT, WF_EV_pause_tx },
	{ "Port", "dropped packets", "PG%u", COUNT, WF_EV_drops_buffer },
	{ "Port", "headroom", "PG%u", COUNT, WF_EV_headroom_watermark },
	{ "Port", "shared", "PG%u", COUNT, WF_EV_pg_shared_watermark },
	{ "Port", "queue", "UC%u", COUNT, WF_EV_queue_watermark },
	{ "Port", "queue", "MC%u", COUNT, WF_EV_queue_watermark },
	{ "Port", NULL, "Counter/pkts", COUNT, WF_EV_tx_packets },
	{ "Port", NULL, "Counter/bytes", COUNT, WF_EV_tx_bytes },
	{ "Port", NULL, "Drop/pkts", COUNT, WF_EV_queue_drops },
	{ "Port", NULL, "Drop/bytes", COUNT, WF_EV_queue_drop_bytes },
	{ "Port", NULL, "Trim/pkts", COUNT, WF_EV_trimmed },
	{ "Port", NULL, "TrimSent/pkts", PASSED, WF_EV_N },
	{ "Port", NULL, "TrimDrop/pkts", COUNT, WF_EV_trim_drops },
	{ "Port", NULL, "Credit-WD-Del/pkts", COUNT, WF_EV_credit_wd_drops },
	{ "Port", NULL, "WredDrp/pkts", COUNT, WF_EV_wred_drops },
	{ "Port", NULL, "WredDrp/bytes", COUNT, WF_EV_wred_drop_bytes },
	{ "Port", NULL, "EcnMarked/pkts", COUNT, WF_EV_ecn_marked },
	{ "Port", NULL, "EcnMarked/bytes", COUNT, WF_EV_ecn_marked_bytes },
	{ "Port", NULL, "TxQ", PASSED, WF_EV_N },
	{ "Port", NULL, "Voq", PASSED, WF_EV_N },
	{ "QUEUE", NULL, "STATUS", STORM, WF_EV_wd_stormed },
	{ "QUEUE", NULL, "STORM DETECTED/RESTORED", PAIR_A, WF_EV_watchdog_acted },
	{ "QUEUE", NULL, "STORM DETECTED/RESTORED", PAIR_B, WF_EV_watchdog_restored },
	{ "QUEUE", NULL, "TX OK/DROP", PAIR_A, WF_EV_wd_tx_ok },
	{ "QUEUE", NULL, "TX OK/DROP", PAIR_B, WF_EV_tx_watchdog },
	{ "QUEUE", NULL, "RX OK/DROP", PAIR_A, WF_EV_wd_rx_ok },
	{ "QUEUE", NULL, "RX OK/DROP", PAIR_B, WF_EV_rx_watchdog },
	{ "QUEUE", NULL, "TX LAST OK/DROP", PAIR_B, WF_EV_wd_tx_last },
	{ "QUEUE", NULL, "RX LAST OK/DROP", PAIR_B, WF_EV_wd_rx_last },
	{ "IFACE", NULL, "RX_OK", COUNT, WF_EV_unicast_rx },
	{ "IFACE", NULL, "TX_OK", COUNT, WF_EV_unicast_tx },
	{ "IFACE", NULL, "RX_ERR", COUNT, WF_EV_if_in_errors },
	{ "IFACE", NULL, "TX_ERR", COUNT, WF_EV_if_out_errors },
	{ "IFACE", NULL, "RX_DRP", COUNT, WF_EV_if_in_discards },
	{ "IFACE", NULL, "TX_DRP", COUNT, WF_EV_if_out_discards },
	{ "IFACE", NULL, "RX_OVR", COUNT, WF_EV_drops_mtu },
	{ "IFACE", NULL, "FEC_CORR", COUNT, WF_EV_fec_corrected },
	{ "IFACE", NULL, "FEC_UNCORR", COUNT, WF_EV_fec_uncorrected },
	{ "IFACE", NULL, "FEC_SYMBOL_ERR", COUNT, WF_EV_fec_symbols },
	{ "IFACE", NULL, "STATE", PASSED, WF_EV_N },
	{ "IFACE", NULL, "RX_BPS", PASSED, WF_EV_N },
	{ "IFACE", NULL, "RX_UTIL", PASSED, WF_EV_N },
	{ "IFACE", NULL, "TX_BPS", PASSED, WF_EV_N },
	{ "IFACE", NULL, "TX_UTIL", PASSED, WF_EV_N },
	{ "IFACE", NULL, "TX_OVR", PASSED, WF_EV_N },
	{ "IFACE", NULL, "FEC_PRE_BER", PASSED, WF_EV_N },
	{ "IFACE", NULL, "FEC_POST_BER", PASSED, WF_EV_N },
	{ "IFACE", NULL, "TTL_DROPS", COUNT, WF_EV_drops_hops },
	{ "Interface", NULL, "Speed", SPEED, WF_EV_N },
	{ "Interface", NULL, "Flap Count", COUNT, WF_EV_link_downed },
};
/* clang-format on */

/* Tables that are known as a whole, and say nothing of counters. */
static const char *const settings[] = { "PORT", "Interface" };

struct column {
	size_t from, to; /* in the line */
	char name[40];   /* what heads it */
	unsigned place;  /* where that stands, for messages */
	const struct row *is[2];
	int queue;
};

struct table {
	unsigned n;
	struct column column[MAX_COLUMNS];
	bool link; /* show lldp table */
	bool setting;
};

static struct wf_slice cell_of(const struct wf_scan *s, const struct column *c, bool last)
{
	size_t len = (size_t)(s->stop - s->start), to = last ? len : c->to;
	struct wf_slice cell = { s->start, 0 };

	if (c->from >= len)
		return cell;
	cell.at += c->from;
	cell.len = (to < len ? to : len) - c->from;
	while (cell.len > 0 && cell.at[0] == ' ') {
		cell.at++;
		cell.len--;
	}
	while (cell.len > 0 && cell.at[cell.len - 1] == ' ')
		cell.len--;
	return cell;
}

/* Columns from a line of dashes. Returns how many, 0: it is no such line. */
static unsigned take_dashes(const struct wf_scan *s, struct table *t)
{
	const char *p = s->start;

	t->n = 0;
	while (p < s->stop) {
		const char *from;

		while (p < s->stop && *p == ' ')
			p++;
		from = p;
		while (p < s->stop && *p == '-')
			p++;
		if (p - from < 2 || (p < s->stop && *p != ' ') || t->n == MAX_COLUMNS)
			return 0;
		t->column[t->n++] = (struct column){ .from = (size_t)(from - s->start),
			                             .to = (size_t)(p - s->start),
			                             .queue = WF_EV_NO_QUEUE };
	}
	return t->n;
}

static bool is_in(const char *text, const char *part)
{
	for (; *text != '\0'; text++) {
		size_t i = 0;

		while (part[i] != '\0' && (text[i] | 0x20) == (part[i] | 0x20))
			i++;
		if (part[i] == '\0')
			return true;
	}
	return false;
}

/* PFC3 of "PFC%u": *queue_p is the number. */
static bool is_column(const char *pattern, const char *name, int *queue_p)
{
	size_t n = strcspn(pattern, "%");
	uint64_t number;

	if (pattern[n] == '\0')
		return strcmp(pattern, name) == 0;
	if (strncmp(pattern, name, n) != 0 ||
	    !wf_read_number((struct wf_slice){ name + n, strlen(name + n) }, &number) ||
	    number >= 64)
		return false;
	*queue_p = (int)number;
	return true;
}

static bool is_setting(const char *key)
{
	for (size_t i = 0; i < WF_ARRAY_SIZE(settings); i++) {
		if (strcmp(settings[i], key) == 0)
			return true;
	}
	return false;
}

/* What each column is. */
static void find_columns(struct wf_read *r, const struct wf_scan *head, struct table *t)
{
	for (unsigned i = 0; i < t->n; i++) {
		struct wf_slice name = cell_of(head, &t->column[i], i + 1 == t->n);

		wf_scan_copy(t->column[i].name, sizeof(t->column[i].name), name.at,
		             name.at + name.len);
		t->column[i].place = (unsigned)(name.at - head->start) + 1;
	}
	t->setting = is_setting(t->column[0].name);
	t->link = strcmp(t->column[0].name, "LocalPort") == 0;
	for (unsigned i = 1; i < t->n; i++) {
		struct column *c = &t->column[i];
		unsigned n = 0;

		for (size_t k = 0; k < WF_ARRAY_SIZE(rows) && n < 2; k++) {
			if (strcmp(rows[k].key, t->column[0].name) == 0 &&
			    (rows[k].title == NULL || is_in(r->title, rows[k].title)) &&
			    is_column(rows[k].column, c->name, &c->queue))
				c->is[n++] = &rows[k];
		}
		r->scan.at = r->scan.start + (c->place - 1);
		if (n == 0 && !t->setting && !t->link)
			wf_read_unknown(r, "column", (struct wf_slice){ c->name, strlen(c->name) });
	}
}

/* "Ethernet0:3", of which the queue is behind the colon. */
static void split_queue(struct wf_slice *port, int *queue_p)
{
	for (size_t i = port->len; i-- > 0;) {
		struct wf_slice rest = { port->at + i + 1, port->len - i - 1 };
		uint64_t number;

		if (port->at[i] != ':')
			continue;
		if (wf_read_number(rest, &number) && number < 64) {
			*queue_p = (int)number;
			port->len = i;
		}
		return;
	}
}

/* UC3, MC10, VOQ4, ALL20. */
static int queue_of(struct wf_slice word)
{
	uint64_t number;
	size_t n = 0;

	while (n < word.len && (word.at[n] < '0' || word.at[n] > '9'))
		n++;
	word.at += n;
	word.len -= n;
	return wf_read_number(word, &number) && number < 64 ? (int)number : WF_EV_NO_QUEUE;
}

static bool is_absent(struct wf_slice cell)
{
	return cell.len == 0 || wf_slice_is(cell, "N/A") || wf_slice_is(cell, "-");
}

/* One half of 5/7, or all of it. */
static bool cell_value(enum cell kind, struct wf_slice cell, uint64_t *value_p)
{
	const char *slash = memchr(cell.at, '/', cell.len);

	if (kind == STORM) {
		*value_p = wf_slice_is(cell, "stormed");
		return true;
	}
	if (kind == COUNT)
		return wf_read_number(cell, value_p);
	if (slash == NULL)
		return false;
	if (kind == PAIR_A)
		cell.len = (size_t)(slash - cell.at);
	else
		cell = (struct wf_slice){ slash + 1, cell.len - (size_t)(slash + 1 - cell.at) };
	return wf_read_number(cell, value_p);
}

/* 400G, 25000M: bit/s. */
static void take_speed(struct wf_read *r, uint32_t port, struct wf_slice cell)
{
	uint64_t number, by;

	if (cell.len < 2)
		return;
	by = cell.at[cell.len - 1] == 'G'   ? UINT64_C(1000000000)
	     : cell.at[cell.len - 1] == 'M' ? UINT64_C(1000000)
	                                    : 0;
	cell.len--;
	if (by != 0 && wf_read_number(cell, &number))
		r->ev->ports[port].rate = wf_read_times(number, by);
}

static int read_cell(struct wf_read *r, uint32_t port, int queue, const struct column *c,
                     struct wf_slice cell)
{
	int ret = 0;

	for (unsigned i = 0; i < 2 && c->is[i] != NULL && ret == 0; i++) {
		const struct row *row = c->is[i];
		const struct wf_ev_name is = { .counter = row->counter,
			                       .queue = c->queue,
			                       .by = 1 };
		uint64_t value;

		if (row->cell == SPEED)
			take_speed(r, port, cell);
		if (row->cell == SPEED || row->cell == PASSED || is_absent(cell))
			continue;
		if (!cell_value(row->cell, cell, &value)) {
			r->scan.at = cell.at;
			wf_scan_note(&r->scan, "this is no number that a counter can have");
			break;
		}
		ret = wf_read_put(r, port, queue, &is, value);
	}
	return ret;
}

/* LocalPort, RemoteDevice, RemotePortID */
static int read_neighbour(struct wf_read *r, const struct table *t)
{
	struct wf_slice cell[3] = { { "", 0 }, { "", 0 }, { "", 0 } };
	uint32_t here, there, port;
	int ret;

	for (unsigned i = 0; i < 3 && i < t->n; i++)
		cell[i] = cell_of(&r->scan, &t->column[i], i + 1 == t->n);
	if (cell[0].len == 0 || cell[1].len == 0 || cell[2].len == 0)
		return 0;
	ret = wf_read_port(r, cell[0], &here);
	if (ret == 0)
		ret = wf_evidence_device(r->ev, cell[1].at, cell[1].len, &there);
	if (ret == 0)
		ret = wf_evidence_port(r->ev, there, cell[2].at, cell[2].len, &port);
	if (ret == 0) {
		wf_evidence_link(r->ev, here, port);
		/* Who answers to show lldp table is a switch. */
		r->ev->devices[r->ev->ports[here].device].kind = WF_EV_SWITCH;
	}
	return ret;
}

static int read_row(struct wf_read *r, const struct table *t)
{
	struct wf_slice name = cell_of(&r->scan, &t->column[0], t->n == 1);
	int queue = WF_EV_NO_QUEUE, ret;
	uint32_t port;

	if (t->link)
		return read_neighbour(r, t);
	if (strcmp(t->column[0].name, "QUEUE") == 0)
		split_queue(&name, &queue);
	if (t->n > 1 &&
	    (strcmp(t->column[1].name, "TxQ") == 0 || strcmp(t->column[1].name, "Voq") == 0))
		queue = queue_of(cell_of(&r->scan, &t->column[1], t->n == 2));
	ret = wf_read_port(r, name, &port);
	if (ret == 0 && r->ev->devices[r->device].kind == WF_EV_ANY)
		r->ev->devices[r->device].kind = WF_EV_SWITCH;
	for (unsigned i = 1; i < t->n && ret == 0; i++)
		ret = read_cell(r, port, queue, &t->column[i],
		                cell_of(&r->scan, &t->column[i], i + 1 == t->n));
	return ret;
}

int wf_read_table(struct wf_read *r)
{
	struct wf_scan *s = &r->scan, head = r->scan, dashes = r->scan;
	bool setting;
	struct table t = { .n = 0 };
	int ret = 0;

	/* The line below is of dashes. */
	if (!wf_scan_line(&dashes) || take_dashes(&dashes, &t) == 0)
		return -EAGAIN;
	find_columns(r, &head, &t);
	*s = dashes;
	setting = t.setting;
	while (ret == 0) {
		struct wf_scan before = *s;

		if (!wf_scan_line(s) || !wf_scan_blanks(s))
			break;
		/* Another command without an empty line before it. */
		if (wf_read_is_prompt(*s)) {
			*s = before;
			break;
		}
		if (!setting || t.column[0].name[0] == 'I')
			ret = read_row(r, &t);
	}
	r->title[0] = '\0';
	return ret;
}
