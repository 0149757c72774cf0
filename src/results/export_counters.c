/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_counters.c - what real switches and adapters would print of a run's counters: a folder for
 * each device, in OUT/before and OUT/after for the two times.
 *
 *	switch, Ethernet	show.txt: SONiC's show commands; counters_db.json: COUNTERS_DB
 *	host			ethtool.txt, hw_counters.txt, node.prom
 *	InfiniBand		ibdiagnet2.db_csv of the whole fabric; perfquery.txt of each node
 *
 * Only what such a device counts is there, under its names: nothing that only a simulation knows.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "results/evidence.h"
#include "results/export_priv.h"
#include "text/file.h"

#define PRIORITIES 8
#define PORT_STEP 4 /* lanes of a port: Ethernet0, Ethernet4, ... */
#define NAME_LEN 32

struct writer {
	const struct wf_evidence *ev;
	bool infiniband;
	FILE *file;
	const char *folder;
	struct wf_err *err;
};

static uint64_t value(const struct writer *w, uint32_t port, int queue, enum wf_ev_counter counter)
{
	uint64_t v = 0;

	(void)wf_evidence_get(w->ev, port, queue, counter, &v);
	return v;
}

static uint64_t sum(const struct writer *w, uint32_t port, enum wf_ev_counter counter)
{
	uint64_t v;

	return wf_evidence_sum(w->ev, port, counter, &v) ? v : 0;
}

/* What the device itself calls a port. */
static void port_name(const struct writer *w, uint32_t port, char name[NAME_LEN])
{
	const struct wf_ev_port *p = &w->ev->ports[port];
	unsigned number = (unsigned)strtoul(p->name, NULL, 10);

	if (w->ev->devices[p->device].kind == WF_EV_HOST)
		snprintf(name, NAME_LEN, "eth%u", number);
	else
		snprintf(name, NAME_LEN, "Ethernet%u", number * PORT_STEP);
}

/* ---- SONiC's tables ---- */

static void command(const struct writer *w, uint32_t d, const char *text)
{
	fprintf(w->file, "admin@%s:~$ %s\n", w->ev->devices[d].name, text);
}

/* A head with dashes below: names are separated by '|'. */
static void head(const struct writer *w, const char *names)
{
	for (int line = 0; line < 2; line++) {
		for (const char *at = names; *at != '\0';) {
			size_t n = strcspn(at, "|");
			int width = n > 14 ? (int)n : 14;

			if (line == 0)
				fprintf(w->file, "%s%*.*s", at == names ? "" : "  ", width, (int)n,
				        at);
			else
				fprintf(w->file, "%s%.*s", at == names ? "" : "  ", width,
				        "----------------------------------------");
			at += n + (at[n] == '|');
		}
		fputc('\n', w->file);
	}
}

static void number(const struct writer *w, uint64_t v, int width)
{
	fprintf(w->file, "  %*" PRIu64, width, v);
}

/* A row for each port, a column for each priority. */
static void by_priority(const struct writer *w, uint32_t d, const char *key, const char *prefix,
                        enum wf_ev_counter counter)
{
	char names[160];
	size_t n = (size_t)snprintf(names, sizeof(names), "%s", key);

	for (int q = 0; q < PRIORITIES; q++)
		n += (size_t)snprintf(names + n, sizeof(names) - n, "|%s%d", prefix, q);
	head(w, names);
	for (uint32_t p = w->ev->devices[d].first_port; p != WF_EV_NONE; p = w->ev->ports[p].next) {
		char name[NAME_LEN];

		port_name(w, p, name);
		fprintf(w->file, "%14s", name);
		for (int q = 0; q < PRIORITIES; q++)
			number(w, value(w, p, q, counter), 14);
		fputc('\n', w->file);
	}
	fputc('\n', w->file);
}

static void queue_tables(const struct writer *w, uint32_t d)
{
	command(w, d, "show queue counters");
	head(w, "Port|TxQ|Counter/pkts|Counter/bytes|Drop/pkts|Drop/bytes");
	for (uint32_t p = w->ev->devices[d].first_port; p != WF_EV_NONE; p = w->ev->ports[p].next) {
		for (int q = 0; q < PRIORITIES; q++) {
			char name[NAME_LEN];

			port_name(w, p, name);
			fprintf(w->file, "%14s  %13s%d", name, "UC", q);
			number(w, value(w, p, q, WF_EV_tx_packets), 14);
			number(w, value(w, p, q, WF_EV_tx_bytes), 14);
			fprintf(w->file, "  %14d  %14d\n", 0, 0);
		}
	}
	fputc('\n', w->file);
	command(w, d, "show queue wredcounters");
	head(w, "Port|TxQ|WredDrp/pkts|WredDrp/bytes|EcnMarked/pkts|EcnMarked/bytes");
	for (uint32_t p = w->ev->devices[d].first_port; p != WF_EV_NONE; p = w->ev->ports[p].next) {
		for (int q = 0; q < PRIORITIES; q++) {
			char name[NAME_LEN];

			port_name(w, p, name);
			fprintf(w->file, "%14s  %13s%d  %14d  %14d  %14" PRIu64 "  %15s\n", name,
			        "UC", q, 0, 0, value(w, p, q, WF_EV_ecn_marked), "N/A");
		}
	}
	fputc('\n', w->file);
}

static void watchdog_table(const struct writer *w, uint32_t d)
{
	command(w, d, "show pfcwd stats");
	head(w, "QUEUE|STATUS|STORM DETECTED/RESTORED|TX OK/DROP|RX OK/DROP|TX LAST OK/DROP|"
	        "RX LAST OK/DROP");
	for (uint32_t p = w->ev->devices[d].first_port; p != WF_EV_NONE; p = w->ev->ports[p].next) {
		for (int q = 0; q < PRIORITIES; q++) {
			uint64_t acted = value(w, p, q, WF_EV_watchdog_acted);
			uint64_t ended = value(w, p, q, WF_EV_watchdog_restored);
			char name[NAME_LEN], queue[NAME_LEN + 16], pair[64];

			if (acted == 0)
				continue;
			port_name(w, p, name);
			snprintf(queue, sizeof(queue), "%s:%d", name, q);
			snprintf(pair, sizeof(pair), "%" PRIu64 "/%" PRIu64, acted, ended);
			fprintf(w->file, "%14s  %14s  %23s", queue,
			        acted > ended ? "stormed" : "operational", pair);
			snprintf(pair, sizeof(pair), "0/%" PRIu64,
			         value(w, p, q, WF_EV_tx_watchdog));
			fprintf(w->file, "  %14s", pair);
			snprintf(pair, sizeof(pair), "0/%" PRIu64,
			         value(w, p, q, WF_EV_rx_watchdog));
			fprintf(w->file, "  %14s  %15s  %15s\n", pair, "0/0", "0/0");
		}
	}
	fputc('\n', w->file);
}

static void interface_tables(const struct writer *w, uint32_t d)
{
	command(w, d, "show interfaces counters");
	head(w, "IFACE|STATE|RX_OK|RX_ERR|RX_DRP|RX_OVR|TX_OK|TX_ERR|TX_DRP");
	for (uint32_t p = w->ev->devices[d].first_port; p != WF_EV_NONE; p = w->ev->ports[p].next) {
		char name[NAME_LEN];

		port_name(w, p, name);
		fprintf(w->file, "%14s  %14s", name, "U");
		number(w, sum(w, p, WF_EV_rx_packets), 14);
		number(w, sum(w, p, WF_EV_drops_error), 14);
		number(w, sum(w, p, WF_EV_drops_buffer), 14);
		number(w, sum(w, p, WF_EV_drops_mtu), 14);
		number(w, sum(w, p, WF_EV_tx_packets), 14);
		number(w, 0, 14);
		number(w, sum(w, p, WF_EV_tx_down), 14);
		fputc('\n', w->file);
	}
	fputc('\n', w->file);
	command(w, d, "show interfaces counters fec-stats");
	head(w, "IFACE|STATE|FEC_CORR|FEC_UNCORR|FEC_SYMBOL_ERR");
	for (uint32_t p = w->ev->devices[d].first_port; p != WF_EV_NONE; p = w->ev->ports[p].next) {
		char name[NAME_LEN];

		port_name(w, p, name);
		fprintf(w->file, "%14s  %14s", name, "U");
		number(w, sum(w, p, WF_EV_fec_corrected), 14);
		number(w, sum(w, p, WF_EV_fec_uncorrected), 14);
		number(w, sum(w, p, WF_EV_fec_symbols), 14);
		fputc('\n', w->file);
	}
	fputc('\n', w->file);
	command(w, d, "show dropcounters counts");
	head(w, "IFACE|STATE|TTL_DROPS");
	for (uint32_t p = w->ev->devices[d].first_port; p != WF_EV_NONE; p = w->ev->ports[p].next) {
		char name[NAME_LEN];

		port_name(w, p, name);
		fprintf(w->file, "%14s  %14s", name, "U");
		number(w, sum(w, p, WF_EV_drops_hops), 14);
		fputc('\n', w->file);
	}
	fputc('\n', w->file);
}

static void state_tables(const struct writer *w, uint32_t d)
{
	command(w, d, "show interfaces status");
	head(w, "Interface|Lanes|Speed|MTU|FEC|Oper|Admin");
	for (uint32_t p = w->ev->devices[d].first_port; p != WF_EV_NONE; p = w->ev->ports[p].next) {
		char name[NAME_LEN];

		port_name(w, p, name);
		fprintf(w->file, "%14s  %14s  %13" PRIu64 "G  %14s  %14s  %14s  %14s\n", name,
		        "1,2,3,4", w->ev->ports[p].rate / UINT64_C(1000000000), "9216", "rs", "up",
		        "up");
	}
	fputc('\n', w->file);
	command(w, d, "show interfaces flap");
	head(w, "Interface|Flap Count|Admin|Oper");
	for (uint32_t p = w->ev->devices[d].first_port; p != WF_EV_NONE; p = w->ev->ports[p].next) {
		char name[NAME_LEN];

		port_name(w, p, name);
		fprintf(w->file, "%14s", name);
		number(w, sum(w, p, WF_EV_link_downed), 14);
		fprintf(w->file, "  %14s  %14s\n", "Up", "Up");
	}
	fputc('\n', w->file);
	command(w, d, "show lldp table");
	head(w, "LocalPort|RemoteDevice|RemotePortID|Capability|RemotePortDescr");
	for (uint32_t p = w->ev->devices[d].first_port; p != WF_EV_NONE; p = w->ev->ports[p].next) {
		uint32_t peer = w->ev->ports[p].peer;
		char name[NAME_LEN], there[NAME_LEN];

		if (peer == WF_EV_NONE)
			continue;
		port_name(w, p, name);
		port_name(w, peer, there);
		fprintf(w->file, "%14s  %14s  %14s  %14s  %15s\n", name,
		        w->ev->devices[w->ev->ports[peer].device].name, there, "BR", there);
	}
	fputc('\n', w->file);
}

static void write_show(const struct writer *w, uint32_t d)
{
	command(w, d, "show pfc counters");
	by_priority(w, d, "Port Rx", "PFC", WF_EV_pause_rx);
	by_priority(w, d, "Port Tx", "PFC", WF_EV_pause_tx);
	command(w, d, "show priority-group drop counters");
	fputs("Ingress PG dropped packets:\n", w->file);
	by_priority(w, d, "Port", "PG", WF_EV_drops_buffer);
	command(w, d, "show priority-group watermark shared");
	fputs("Ingress shared pool occupancy per PG:\n", w->file);
	by_priority(w, d, "Port", "PG", WF_EV_max_buffer_bytes);
	command(w, d, "show queue watermark unicast");
	fputs("Egress shared pool occupancy per unicast queue:\n", w->file);
	by_priority(w, d, "Port", "UC", WF_EV_max_queue_bytes);
	queue_tables(w, d);
	watchdog_table(w, d);
	interface_tables(w, d);
	state_tables(w, d);
}

/* ---- its COUNTERS_DB ---- */

enum object { PORT = 0x1, QUEUE = 0x15, GROUP = 0x1a };

static void oid(const struct writer *w, enum object kind, uint32_t port, int queue)
{
	fprintf(w->file, "oid:0x%x%010" PRIx32, (unsigned)kind,
	        port * PRIORITIES + (uint32_t)(queue < 0 ? 0 : queue));
}

static void name_map(const struct writer *w, uint32_t d, const char *map, enum object kind)
{
	const char *comma = "";

	fprintf(w->file, "\"%s\": {", map);
	for (uint32_t p = w->ev->devices[d].first_port; p != WF_EV_NONE; p = w->ev->ports[p].next) {
		char name[NAME_LEN];

		port_name(w, p, name);
		for (int q = 0; q < (kind == PORT ? 1 : PRIORITIES); q++) {
			fprintf(w->file, "%s\"%s", comma, name);
			if (kind != PORT)
				fprintf(w->file, ":%d", q);
			fputs("\": \"", w->file);
			oid(w, kind, p, kind == PORT ? -1 : q);
			fputc('"', w->file);
			comma = ", ";
		}
	}
	fputs("},\n", w->file);
}

static void field(const struct writer *w, const char *comma, const char *name, uint64_t v)
{
	fprintf(w->file, "%s\"%s\": \"%" PRIu64 "\"", comma, name, v);
}

static void db_port(const struct writer *w, uint32_t p)
{
	fputs(",\n\"COUNTERS:", w->file);
	oid(w, PORT, p, -1);
	fputs("\": {", w->file);
	field(w, "", "SAI_PORT_STAT_IF_IN_ERRORS", sum(w, p, WF_EV_drops_error));
	field(w, ", ", "SAI_PORT_STAT_IF_IN_DISCARDS", sum(w, p, WF_EV_drops_buffer));
	field(w, ", ", "SAI_PORT_STAT_IF_OUT_DISCARDS", sum(w, p, WF_EV_tx_down));
	for (int q = 0; q < PRIORITIES; q++) {
		fprintf(w->file,
		        ", \"SAI_PORT_STAT_PFC_%d_RX_PKTS\": \"%" PRIu64
		        "\", \"SAI_PORT_STAT_PFC_%d_TX_PKTS\": \"%" PRIu64
		        "\", \"SAI_PORT_STAT_PFC_%d_RX_PAUSE_DURATION_US\": \"%" PRIu64 "\"",
		        q, value(w, p, q, WF_EV_pause_rx), q, value(w, p, q, WF_EV_pause_tx), q,
		        value(w, p, q, WF_EV_paused_ps) / 1000000);
	}
	fputc('}', w->file);
}

static void db_queue(const struct writer *w, uint32_t p, int q)
{
	uint64_t acted = value(w, p, q, WF_EV_watchdog_acted);
	uint64_t ended = value(w, p, q, WF_EV_watchdog_restored);

	fputs(",\n\"COUNTERS:", w->file);
	oid(w, QUEUE, p, q);
	fputs("\": {", w->file);
	field(w, "", "SAI_QUEUE_STAT_PACKETS", value(w, p, q, WF_EV_tx_packets));
	field(w, ", ", "SAI_QUEUE_STAT_BYTES", value(w, p, q, WF_EV_tx_bytes));
	field(w, ", ", "SAI_QUEUE_STAT_DROPPED_PACKETS", 0);
	field(w, ", ", "SAI_QUEUE_STAT_DROPPED_BYTES", 0);
	field(w, ", ", "SAI_QUEUE_STAT_WRED_DROPPED_PACKETS", 0);
	field(w, ", ", "SAI_QUEUE_STAT_WRED_DROPPED_BYTES", 0);
	field(w, ", ", "SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS", value(w, p, q, WF_EV_ecn_marked));
	field(w, ", ", "SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES",
	      value(w, p, q, WF_EV_max_queue_bytes));
	if (acted > 0) {
		field(w, ", ", "PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED", acted);
		field(w, ", ", "PFC_WD_QUEUE_STATS_DEADLOCK_RESTORED", ended);
		field(w, ", ", "PFC_WD_QUEUE_STATS_TX_DROPPED_PACKETS",
		      value(w, p, q, WF_EV_tx_watchdog));
		field(w, ", ", "PFC_WD_QUEUE_STATS_RX_DROPPED_PACKETS",
		      value(w, p, q, WF_EV_rx_watchdog));
		fprintf(w->file, ", \"PFC_WD_STATUS\": \"%s\"",
		        acted > ended ? "stormed" : "operational");
	}
	fputs("},\n\"COUNTERS:", w->file);
	oid(w, GROUP, p, q);
	fputs("\": {", w->file);
	field(w, "", "SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS",
	      value(w, p, q, WF_EV_drops_buffer));
	field(w, ", ", "SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_WATERMARK_BYTES",
	      value(w, p, q, WF_EV_max_buffer_bytes));
	fputc('}', w->file);
}

static void write_db(const struct writer *w, uint32_t d)
{
	fputs("{\n", w->file);
	name_map(w, d, "COUNTERS_PORT_NAME_MAP", PORT);
	name_map(w, d, "COUNTERS_QUEUE_NAME_MAP", QUEUE);
	name_map(w, d, "COUNTERS_PG_NAME_MAP", GROUP);
	fputs("\"COUNTERS_SYSTEM_PORT_NAME_MAP\": {}", w->file);
	for (uint32_t p = w->ev->devices[d].first_port; p != WF_EV_NONE; p = w->ev->ports[p].next) {
		db_port(w, p);
		for (int q = 0; q < PRIORITIES; q++)
			db_queue(w, p, q);
	}
	fputs("\n}\n", w->file);
}

/* ---- hosts ---- */

static void write_ethtool(const struct writer *w, uint32_t d)
{
	static const struct {
		const char *name;
		enum wf_ev_counter counter;
		uint64_t by;
	} queues[] = {
		{ "tx_prio%d_bytes", WF_EV_tx_bytes, 1 },
		{ "tx_prio%d_packets", WF_EV_tx_packets, 1 },
		{ "rx_prio%d_pause", WF_EV_pause_rx, 1 },
		{ "rx_prio%d_pause_duration", WF_EV_paused_ps, 1000000 },
		{ "tx_prio%d_pause", WF_EV_pause_tx, 1 },
		{ "tx_prio%d_pause_duration", WF_EV_pausing_ps, 1000000 },
		{ "rx_prio%d_discards", WF_EV_drops_buffer, 1 },
	}, port[] = {
		{ "rx_crc_errors_phy", WF_EV_drops_error, 1 },
		{ "rx_corrected_bits_phy", WF_EV_fec_bits, 1 },
		{ "link_down_events_phy", WF_EV_link_downed, 1 },
		{ "rx_out_of_range_len_phy", WF_EV_drops_mtu, 1 },
		{ "tx_discards_phy", WF_EV_tx_down, 1 },
		{ "tx_pause_storm_error_events", WF_EV_storm_errors, 1 },
		{ "tx_vport_rdma_unicast_bytes", WF_EV_HCA_TX_BYTES, 1 },
		{ "rx_vport_rdma_unicast_bytes", WF_EV_HCA_RX_BYTES, 1 },
	};

	for (uint32_t p = w->ev->devices[d].first_port; p != WF_EV_NONE; p = w->ev->ports[p].next) {
		char name[NAME_LEN];

		port_name(w, p, name);
		fprintf(w->file, "root@%s:~# ethtool -S %s\nNIC statistics:\n",
		        w->ev->devices[d].name, name);
		for (int q = 0; q < PRIORITIES; q++) {
			for (size_t i = 0; i < WF_ARRAY_SIZE(queues); i++) {
				/* The names are those of this table. */
				const char *at = strchr(queues[i].name, '%');

				fprintf(w->file, "     %.*s%d%s: %" PRIu64 "\n",
				        (int)(at - queues[i].name), queues[i].name, q, at + 2,
				        value(w, p, q, queues[i].counter) / queues[i].by);
			}
		}
		for (size_t i = 0; i < WF_ARRAY_SIZE(port); i++)
			fprintf(w->file, "     %s: %" PRIu64 "\n", port[i].name,
			        sum(w, p, port[i].counter));
	}
}

#define FIRST_HOST WF_EV_HCA_OUT_OF_SEQUENCE
#define LAST_HW WF_EV_HCA_RP_CNP_IGNORED

static void write_hw_counters(const struct writer *w, uint32_t d)
{
	for (unsigned i = FIRST_HOST; i <= LAST_HW; i++)
		fprintf(w->file,
		        "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/%s:%" PRIu64 "\n",
		        wf_ev_counter_name((enum wf_ev_counter)i),
		        sum(w, w->ev->devices[d].first_port, (enum wf_ev_counter)i));
}

static void write_prom(const struct writer *w, uint32_t d)
{
	for (unsigned i = FIRST_HOST; i <= LAST_HW; i++)
		fprintf(w->file, "rdma_%s_total{device=\"mlx5_0\",port=\"1\"} %" PRIu64 "\n",
		        wf_ev_counter_name((enum wf_ev_counter)i),
		        sum(w, w->ev->devices[d].first_port, (enum wf_ev_counter)i));
}

/* ---- InfiniBand ---- */

static const struct {
	const char *name;
	enum wf_ev_counter counter;
	uint64_t by;
} pma[] = {
	{ "PortXmitData", WF_EV_tx_bytes, 4 },
	{ "PortXmitPkts", WF_EV_tx_packets, 1 },
	{ "LinkDownedCounter", WF_EV_link_downed, 1 },
	{ "PortRcvErrors", WF_EV_drops_error, 1 },
	{ "PortRcvSwitchRelayErrors", WF_EV_drops_route, 1 },
	{ "PortXmitDiscards", WF_EV_tx_discards, 1 },
	{ "PortXmitWait", WF_EV_credit_wait_ps, 1000 },
	{ "PortNeighborMTUDiscards", WF_EV_drops_mtu, 1 },
	{ "PortSwHOQLifetimeLimitDiscards", WF_EV_drops_life, 1 },
};

static unsigned ib_port(const struct writer *w, uint32_t p)
{
	return (unsigned)strtoul(w->ev->ports[p].name, NULL, 10) + 1;
}

static void write_perfquery(const struct writer *w, uint32_t d)
{
	for (uint32_t p = w->ev->devices[d].first_port; p != WF_EV_NONE; p = w->ev->ports[p].next) {
		fprintf(w->file, "# Port extended counters: Lid %" PRIu32 " port %u (%s)\n", d + 1,
		        ib_port(w, p), w->ev->devices[d].name);
		for (size_t i = 0; i < WF_ARRAY_SIZE(pma); i++)
			fprintf(w->file, "%s:%.*s%" PRIu64 "\n", pma[i].name,
			        32 - (int)strlen(pma[i].name), "................................",
			        sum(w, p, pma[i].counter) / pma[i].by);
	}
}

static void write_csv(const struct writer *w)
{
	fputs("START_NODES\nNodeDesc,NodeType,NodeGUID\n", w->file);
	for (uint32_t d = 0; d < w->ev->n_devices; d++)
		fprintf(w->file, "\"%s\",%d,0x57%08" PRIx32 "\n", w->ev->devices[d].name,
		        w->ev->devices[d].kind == WF_EV_SWITCH ? 2 : 1, d + 1);
	fputs("END_NODES\n\nSTART_LINKS\nNodeGuid1,PortNum1,NodeGuid2,PortNum2\n", w->file);
	for (uint32_t p = 0; p < w->ev->n_ports; p++) {
		uint32_t peer = w->ev->ports[p].peer;

		if (peer != WF_EV_NONE && peer > p)
			fprintf(w->file, "0x57%08" PRIx32 ",%u,0x57%08" PRIx32 ",%u\n",
			        w->ev->ports[p].device + 1, ib_port(w, p),
			        w->ev->ports[peer].device + 1, ib_port(w, peer));
	}
	fputs("END_LINKS\n\nSTART_PM_INFO\nNodeGUID,PortGUID,PortNumber", w->file);
	for (size_t i = 0; i < WF_ARRAY_SIZE(pma); i++)
		fprintf(w->file, ",%s%s", pma[i].name, i < 7 ? "Ext" : "");
	fputc('\n', w->file);
	for (uint32_t p = 0; p < w->ev->n_ports; p++) {
		uint32_t d = w->ev->ports[p].device + 1;

		fprintf(w->file, "0x57%08" PRIx32 ",0x57%08" PRIx32 ",%u", d, d, ib_port(w, p));
		for (size_t i = 0; i < WF_ARRAY_SIZE(pma); i++)
			fprintf(w->file, ",%" PRIu64, sum(w, p, pma[i].counter) / pma[i].by);
		fputc('\n', w->file);
	}
	fputs("END_PM_INFO\n", w->file);
}

/* ---- files ---- */

static int make_folder(const char *path, struct wf_err *err)
{
	return mkdir(path, 0777) != 0 && errno != EEXIST ? wf_file_refused(path, errno, err) : 0;
}

/* One file of a device, or of all where d is WF_EV_NONE. */
static int write_file(struct writer *w, uint32_t d, const char *name,
                      void (*fn)(const struct writer *w, uint32_t d))
{
	char path[WF_PATH_MAX];
	struct wf_out out;
	int rc;

	if (d == WF_EV_NONE)
		rc = snprintf(path, sizeof(path), "%s/%s", w->folder, name);
	else
		rc = snprintf(path, sizeof(path), "%s/%s/%s", w->folder, w->ev->devices[d].name,
		              name);
	if (rc < 0 || (size_t)rc >= sizeof(path))
		return wf_err_say(w->err, "%s: the name is too long", w->folder);
	rc = wf_out_open(&out, path, w->err);
	if (rc != 0)
		return rc;
	w->file = out.file;
	if (d == WF_EV_NONE)
		write_csv(w);
	else
		fn(w, d);
	rc = wf_out_commit(&out, w->err);
	wf_out_abort(&out);
	return rc;
}

static int write_device(struct writer *w, uint32_t d)
{
	bool host = w->ev->devices[d].kind == WF_EV_HOST;
	char path[WF_PATH_MAX];
	int rc;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", w->folder, w->ev->devices[d].name) >=
	    sizeof(path))
		return wf_err_say(w->err, "%s: the name is too long", w->folder);
	rc = make_folder(path, w->err);
	if (rc == 0 && w->infiniband)
		rc = write_file(w, d, "perfquery.txt", write_perfquery);
	if (rc == 0 && !w->infiniband)
		rc = host ? write_file(w, d, "ethtool.txt", write_ethtool)
		          : write_file(w, d, "show.txt", write_show);
	if (rc == 0 && !w->infiniband && !host)
		rc = write_file(w, d, "counters_db.json", write_db);
	if (rc == 0 && host)
		rc = write_file(w, d, "hw_counters.txt", write_hw_counters);
	if (rc == 0 && host)
		rc = write_file(w, d, "node.prom", write_prom);
	return rc;
}

/* What all devices say at a time. */
static int write_at(struct wf_export *ex, wf_time at, const char *folder, struct wf_err *err)
{
	struct writer w = { .folder = folder, .err = err };
	struct wf_results_run run;
	struct wf_evidence *ev;
	int rc = wf_evidence_create(wf_mem_heap(), &ev);

	if (rc == 0)
		rc = make_folder(folder, err);
	if (rc == 0)
		rc = wf_results_evidence(ex, 0, at, ev, &run, err);
	if (rc == 0)
		rc = wf_evidence_finish(ev);
	w.ev = ev;
	w.infiniband = rc == 0 && run.infiniband;
	for (uint32_t d = 0; rc == 0 && d < ev->n_devices; d++)
		rc = write_device(&w, d);
	if (rc == 0 && w.infiniband)
		rc = write_file(&w, WF_EV_NONE, "ibdiagnet2.db_csv", NULL);
	wf_evidence_destroy(ev);
	return rc;
}

static int counters_write(struct wf_export *ex, const char *folder, FILE *file, struct wf_err *err)
{
	char path[WF_PATH_MAX];
	int rc = make_folder(folder, err);

	(void)file;
	if (rc == 0 && strlen(folder) + sizeof("/before") > sizeof(path))
		rc = wf_err_say(err, "%s: the name is too long", folder);
	if (rc != 0)
		return rc;
	if (ex->run == 0)
		ex->run = 1;
	/* Before the first packet: 1 ps. */
	snprintf(path, sizeof(path), "%s/before", folder);
	rc = write_at(ex, ex->from > 0 ? ex->from : 1, path, err);
	snprintf(path, sizeof(path), "%s/after", folder);
	return rc != 0 ? rc : write_at(ex, ex->until, path, err);
}

const struct wf_export_ops wf_export_counters = {
	.name = "counters",
	.help = "what real switches and adapters would print, at two times, in a folder",
	.folder = true,
	.one_run = true,
	.write = counters_write,
};
