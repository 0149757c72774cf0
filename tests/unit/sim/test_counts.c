/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_counts.c - the table of what ports count: each field has its row, each row is whole, and no
 * tool is told of two counters under one name.
 */
#include <string.h>

#include "check.h"
#include "sim/look/counts.h"

#define N WF_PORT_COUNTERS_N

/* A name of a row: where the pointer to it is in the row. */
struct place {
	const char *what;
	size_t offset;
};

static const char *name_in(const struct wf_port_counter *row, size_t offset)
{
	const char *name;

	memcpy(&name, (const char *)row + offset, sizeof(name));
	return name;
}

static void test_fields(void **state)
{
	(void)state;
	assert_int_equal(sizeof(struct wf_sim_counts), N * sizeof(uint64_t));
	for (size_t i = 0; i < N; i++) {
		const struct wf_port_counter *row = &wf_port_counters[i];

		assert_int_equal(row->offset, i * sizeof(uint64_t));
		assert_non_null(row->name);
		assert_true(row->unit != NULL && row->unit[0] != '\0');
		assert_true(row->help != NULL && row->help[0] != '\0');
		assert_non_null(wf_counter_kind_name(row->kind));
	}
}

static void test_names_are_unique(void **state)
{
	static const struct place places[] = {
		{ "field", offsetof(struct wf_port_counter, name) },
		{ "ethtool", offsetof(struct wf_port_counter, ether.name) },
		{ "InfiniBand", offsetof(struct wf_port_counter, ib.name) },
		{ "node_exporter", offsetof(struct wf_port_counter, exporter) },
		{ "run --json", offsetof(struct wf_port_counter, run) },
		{ "value", offsetof(struct wf_port_counter, value) },
		{ "status --json", offsetof(struct wf_port_counter, live) },
		{ "metric", offsetof(struct wf_port_counter, metric.name) },
	};

	(void)state;
	for (size_t p = 0; p < WF_ARRAY_SIZE(places); p++) {
		for (size_t i = 0; i < N; i++) {
			const char *a = name_in(&wf_port_counters[i], places[p].offset);

			for (size_t k = 0; a != NULL && k < i; k++) {
				const char *b = name_in(&wf_port_counters[k], places[p].offset);

				if (b != NULL && strcmp(a, b) == 0)
					fail_msg("%s: two are called %s", places[p].what, a);
			}
		}
	}
}

static void check_tool(const struct wf_tool_name *tool)
{
	const char *at = tool->name != NULL ? strchr(tool->name, '%') : NULL;

	if (tool->name == NULL)
		return;
	assert_non_null(tool->unit);
	assert_true(tool->by >= 1);
	assert_true(strlen(tool->name) < 36);
	/* The queue's number, and once. */
	assert_true(at == NULL || (at[1] == 'u' && strchr(at + 1, '%') == NULL));
}

/* A counter of that name, of which tools are told the parts only. */
static bool is_shown_in_parts(const char *name)
{
	for (size_t i = 0; i < N; i++) {
		const struct wf_port_counter *row = &wf_port_counters[i];

		if (strcmp(row->name, name) == 0)
			return row->ether.name == NULL && row->ib.name == NULL;
	}
	return false;
}

static void test_tools(void **state)
{
	(void)state;
	for (size_t i = 0; i < N; i++) {
		const struct wf_port_counter *row = &wf_port_counters[i];

		check_tool(&row->ether);
		check_tool(&row->ib);
		/* node_exporter has it of what InfiniBand has. */
		assert_true(row->exporter == NULL || row->ib.name != NULL);
		/* Two that are one measure are of different fabrics, or parts of a third. */
		for (size_t k = 0; k < i && row->measure != NULL; k++) {
			const struct wf_port_counter *other = &wf_port_counters[k];

			if (other->measure == NULL || strcmp(other->measure, row->measure) != 0 ||
			    is_shown_in_parts(row->measure))
				continue;
			assert_true(row->ether.name == NULL || other->ether.name == NULL);
			assert_true(row->ib.name == NULL || other->ib.name == NULL);
		}
	}
}

/* What `ethtool -S` of an mlx5 port and InfiniBand's port counters have, they call so. */
static void test_tools_names(void **state)
{
	static const struct {
		const char *field, *ether, *ib, *exporter;
		double ether_by, ib_by;
	} known[] = {
		{ "tx_bytes", "tx_prio%u_bytes", "port_xmit_data",
		  "port_data_transmitted_bytes_total", 1, 4 },
		{ "tx_packets", "tx_prio%u_packets", "port_xmit_packets",
		  "port_packets_transmitted_total", 1, 1 },
		{ "drops_buffer", "rx_prio%u_discards", "port_buffer_overrun_errors", NULL, 1, 1 },
		{ "drops_life", NULL, "port_sw_hoq_lifetime_limit_discards", NULL, 0, 1 },
		{ "tx_discards", NULL, "port_xmit_discards", "port_discards_transmitted_total", 0,
		  1 },
		{ "drops_error", "rx_crc_errors_phy", "port_rcv_errors",
		  "port_errors_received_total", 1, 1 },
		{ "tx_down", "tx_discards_phy", "port_inactive_discards", NULL, 1, 1 },
		{ "pause_rx", "rx_prio%u_pause", NULL, NULL, 1, 0 },
		{ "pause_tx", "tx_prio%u_pause", NULL, NULL, 1, 0 },
		{ "paused_ps", "rx_prio%u_pause_duration", NULL, NULL, 1e6, 0 },
		{ "credit_wait_ps", NULL, "port_xmit_wait", "port_transmit_wait_total", 0, 1e3 },
	};

	(void)state;
	for (size_t k = 0; k < WF_ARRAY_SIZE(known); k++) {
		const struct wf_port_counter *row = NULL;

		for (size_t i = 0; i < N; i++) {
			if (strcmp(wf_port_counters[i].name, known[k].field) == 0)
				row = &wf_port_counters[i];
		}
		assert_non_null(row);
		assert_string_equal(row->ether.name != NULL ? row->ether.name : "",
		                    known[k].ether != NULL ? known[k].ether : "");
		assert_string_equal(row->ib.name != NULL ? row->ib.name : "",
		                    known[k].ib != NULL ? known[k].ib : "");
		assert_string_equal(row->exporter != NULL ? row->exporter : "",
		                    known[k].exporter != NULL ? known[k].exporter : "");
		assert_true(row->ether.by >= known[k].ether_by &&
		            row->ether.by <= known[k].ether_by);
		assert_true(row->ib.by >= known[k].ib_by && row->ib.by <= known[k].ib_by);
	}
}

/* Columns follow one another without a gap, and what is in one of them is of one kind. */
static void check_columns(size_t table)
{
	unsigned columns = 0;

	for (size_t i = 0; i < N; i++) {
		const struct wf_port_counter *row = &wf_port_counters[i];
		struct wf_counts_cell cell;
		struct wf_column column;

		memcpy(&column, (const char *)row + table, sizeof(column));
		if (column.at == 0)
			continue;
		columns = column.at > columns ? column.at : columns;
		assert_true(wf_counts_cell(NULL, table, column.at, &cell));
		assert_string_equal(column.title, cell.title);
		assert_int_equal(column.width, cell.width);
		assert_string_equal(row->unit, cell.unit);
		assert_true(strlen(column.title) <= column.width);
	}
	assert_true(columns > 5);
	for (unsigned at = 1; at <= columns + 1; at++) {
		struct wf_counts_cell cell;

		assert_int_equal(wf_counts_cell(NULL, table, at, &cell), at <= columns);
	}
}

static void test_columns(void **state)
{
	struct wf_sim_counts c = { .drops_buffer = 2, .drops_life = 30, .drops_route = 400 };
	struct wf_counts_cell cell;

	(void)state;
	check_columns(WF_COUNTS_PORTS);
	check_columns(WF_COUNTS_STATUS);
	/* What has one column is added up there. */
	c.drops_congestion = c.drops_buffer + c.drops_life;
	assert_true(wf_counts_cell(&c, WF_COUNTS_PORTS, 1, &cell));
	assert_string_equal(cell.title, "drops");
	assert_int_equal(cell.value, 432);
	assert_true(wf_counts_cell(&c, WF_COUNTS_STATUS, 3, &cell));
	assert_string_equal(cell.title, "drops");
	assert_int_equal(cell.value, 432);
}

/* Lines of weft run's table: each in a part, and one counter in each. */
static void test_report(void **state)
{
	(void)state;
	for (size_t i = 0; i < N; i++) {
		const struct wf_column *line = &wf_port_counters[i].report;

		if (line->at == 0)
			continue;
		assert_non_null(line->title);
		assert_int_not_equal(line->at % WF_REPORT_PART, 0);
		assert_true(line->at < WF_REPORT_END);
		for (size_t k = 0; k < i; k++)
			assert_int_not_equal(line->at, wf_port_counters[k].report.at);
	}
	assert_true(WF_REPORT_END <= UINT8_MAX);
	assert_true(wf_counter_is_of(WF_OF_ALL, "none"));
	assert_true(wf_counter_is_of(WF_OF_PFC, "pfc"));
	assert_false(wf_counter_is_of(WF_OF_PFC, "none"));
	assert_true(wf_counter_is_of(WF_OF_CREDIT, "credit"));
	assert_true(wf_counter_is_of(WF_OF_ALL_BUT_CREDIT, "none"));
	assert_false(wf_counter_is_of(WF_OF_ALL_BUT_CREDIT, "credit"));
}

static void test_add(void **state)
{
	struct wf_sim_counts sum, c;

	(void)state;
	for (size_t i = 0; i < N; i++) {
		const uint64_t a = 1000 + i, b = 10 * i;

		memcpy((char *)&sum + i * sizeof(a), &a, sizeof(a));
		memcpy((char *)&c + i * sizeof(b), &b, sizeof(b));
	}
	wf_counts_add(&sum, &c);
	for (size_t i = 0; i < N; i++) {
		const struct wf_port_counter *row = &wf_port_counters[i];
		const uint64_t a = 1000 + i, b = 10 * i;

		assert_int_equal(wf_counts_get(&sum, row), row->kind == WF_MAXIMUM ? a : a + b);
	}
	assert_int_equal(sum.max_queue_bytes, wf_max_u64(sum.max_queue_bytes, 1000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),  cmocka_unit_test(test_names_are_unique),
		cmocka_unit_test(test_tools),   cmocka_unit_test(test_tools_names),
		cmocka_unit_test(test_columns), cmocka_unit_test(test_report),
		cmocka_unit_test(test_add),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
