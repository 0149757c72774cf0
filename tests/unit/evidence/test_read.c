/* SPDX-License-Identifier: Apache-2.0 */
/* test_read.c - what operators' tools print, read as evidence: a table of small texts. */
#include "evidence/read.h"

#include "check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem_fail.h"

#define ROOM 8192

struct heard {
	char text[2048];
	size_t n;
};

static WF_PRINTF(4, 5) void append(char *to, size_t size, size_t *n, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	*n += (size_t)vsnprintf(to + *n, size - *n, fmt, ap);
	va_end(ap);
	assert_true(*n < size);
}

static void hear(void *arg, const char *file, unsigned line, unsigned column, const char *what)
{
	struct heard *h = arg;

	(void)file;
	append(h->text, sizeof(h->text), &h->n, "%u:%u %s\n", line, column, what);
}

/* All that is there, a line for each: "device port queue counter value". */
static void dump(const struct wf_evidence *ev, char *text, size_t size)
{
	size_t n = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < ev->n_samples; i++) {
		const struct wf_ev_sample *s = &ev->samples[i];
		const struct wf_ev_port *p = &ev->ports[s->port];

		append(text, size, &n, "%s %s ", ev->devices[p->device].name, p->name);
		if (s->queue >= 0)
			append(text, size, &n, "%d ", s->queue);
		append(text, size, &n, "%s %" PRIu64 "%s%s\n",
		       wf_ev_counter_name((enum wf_ev_counter)s->counter), s->value,
		       s->full ? " full" : "", s->when == 1 ? " later" : "");
	}
	for (uint32_t i = 0; i < ev->n_ports; i++) {
		const struct wf_ev_port *p = &ev->ports[i];

		if (p->peer != WF_EV_NONE && p->peer > i)
			append(text, size, &n, "%s %s - %s %s\n", ev->devices[p->device].name,
			       p->name, ev->devices[ev->ports[p->peer].device].name,
			       ev->ports[p->peer].name);
		if (p->rate != 0)
			append(text, size, &n, "%s %s rate %" PRIu64 "\n",
			       ev->devices[p->device].name, p->name, p->rate);
	}
}

struct text {
	const char *file, *text;
	const char *has;   /* what is read; NULL: it is an error, */
	const char *notes; /* what is told of, or what the error is */
};

#define DASHES "---------  ------  ------\n"

static const struct text texts[] = {
	/* name and value */
	{ "h1", "NIC statistics:\n     rx_prio3_pause: 12\n     tx_prio3_pause_duration: 7\n",
	  "h1 1 3 pause_rx 12\nh1 1 3 pausing_ps 7000000\n", "" },
	{ "h1", "# before: ethtool -S eth4 | grep prio\n rx_prio0_bytes: 88034564921216\n",
	  "h1 eth4 0 rx_prio_bytes 88034564921216\n", "" },
	{ "h1", "root@n7:~# ethtool -S ens1\nlink_down_events_phy: 3\nrx_discards_phy: 5\n",
	  "n7 ens1 link_downed 3\nn7 ens1 nic_discards 5\n", "" },
	{ "h1", "tx_priority_3_xoff.nic: 6434\nrx_priority_3_xon.nic: 1\n",
	  "h1 1 3 pause_tx 6434\nh1 1 3 pause_off_rx 1\n", "" },
	{ "h1", "rx_pfc_ena_frames_pri3: 4\npfc_pri3_rx_duration_us: 9\n",
	  "h1 1 3 pause_rx 4\nh1 1 3 paused_ps 9000000\n", "" },
	{ "h1", "rx_prio3_pause: 1\nnobody_knows_it: 4\nnobody_knows_it: 5\n",
	  "h1 1 3 pause_rx 1\n", "2:1 counter 'nobody_knows_it' is not known, and left out\n" },
	{ "h1", "rx_prio3_pause: many\n", "", "1:1 this line is not understood, and left out\n" },
	/* /sys */
	{ "h1",
	  "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent:1333\n"
	  "/sys/class/infiniband/mlx5_1/ports/2/counters/symbol_error:65535\n"
	  "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/lifespan:12\n",
	  "h1 mlx5_0/1 np_cnp_sent 1333\nh1 mlx5_1/2 symbol_errors 65535 full\n", "" },
	{ "h1/infiniband/mlx5_0/ports/1/counters/port_xmit_data", "25\n",
	  "h1 mlx5_0/1 tx_bytes 100\n", "" },
	{ "h1", "np_cnp_sent 5\nout_of_sequence 7\n",
	  "h1 1 out_of_sequence 7\nh1 1 np_cnp_sent 5\n", "" },
	{ "h1", "link mlx5_0/1 rp_cnp_handled 4 rx_icrc_encapsulated 2 \n",
	  "h1 mlx5_0/1 rp_cnp_handled 4\nh1 mlx5_0/1 icrc_errors 2\n", "" },
	/* SONiC */
	{ "s1",
	  "  Port Rx    PFC0    PFC3\n" DASHES "Ethernet0   1,200     203\n\n"
	  "  Port Tx    PFC0    PFC3\n" DASHES "Ethernet0       0      13\n",
	  "s1 Ethernet0 0 pause_tx 0\ns1 Ethernet0 3 pause_tx 13\n"
	  "s1 Ethernet0 0 pause_rx 1200\ns1 Ethernet0 3 pause_rx 203\n",
	  "" },
	{ "s1",
	  "Ingress PG dropped packets:\n     Port     PG0     PG3\n" DASHES
	  "Ethernet0     800     N/A\n",
	  "s1 Ethernet0 0 drops_buffer 800\n", "" },
	{ "s1",
	  "root@leaf3:~# show priority-group watermark headroom\nIngress headroom per PG:\n"
	  "     Port     PG0     PG3\n" DASHES "Ethernet0       0     144\n",
	  "leaf3 Ethernet0 0 headroom_watermark 0\nleaf3 Ethernet0 3 headroom_watermark 144\n",
	  "" },
	{ "s1",
	  "      QUEUE    STATUS    STORM DETECTED/RESTORED    TX OK/DROP    TX LAST OK/DROP\n"
	  "-----------  --------  -------------------------  ------------  -----------------\n"
	  "Ethernet4:3   stormed                        2/1    5/46497254           0/666293\n",
	  "s1 Ethernet4 3 tx_watchdog 46497254\ns1 Ethernet4 3 watchdog_acted 2\n"
	  "s1 Ethernet4 3 watchdog_restored 1\ns1 Ethernet4 3 wd_stormed 1\n"
	  "s1 Ethernet4 3 wd_tx_ok 5\ns1 Ethernet4 3 wd_tx_last 666293\n",
	  "" },
	{ "s1",
	  "For namespace :\n     Port    TxQ    Counter/pkts    Drop/pkts\n"
	  "---------  -----  --------------  -----------\nEthernet0    UC3              52         "
	  "  19\n"
	  "Ethernet0   MC10               3          N/A\nEthernet0  ALL20             N/A         "
	  " N/A\n",
	  "s1 Ethernet0 3 tx_packets 52\ns1 Ethernet0 10 tx_packets 3\n"
	  "s1 Ethernet0 3 queue_drops 19\n",
	  "" },
	{ "s1",
	  "LocalPort    RemoteDevice    RemotePortID    Capability    RemotePortDescr\n"
	  "-----------  --------------  --------------  ------------  -----------------\n"
	  "Ethernet0    spine0          Ethernet4       BR            Ethernet4\n",
	  "s1 Ethernet0 - spine0 Ethernet4\n", "" },
	{ "s1",
	  "  Interface    Lanes    Speed    MTU\n-----------  -------  -------  -----\n"
	  "  Ethernet0  1,2,3,4     400G   9100\n",
	  "s1 Ethernet0 rate 400000000000\n", "" },
	{ "s1", "     Port    Huh\n---------  -----\nEthernet0      3\n", "",
	  "1:14 column 'Huh' is not known, and left out\n" },
	/* its COUNTERS_DB, twice */
	{ "s1",
	  "{\"COUNTERS_PORT_NAME_MAP\": {\"Ethernet0\": \"oid:0x1\"},\n"
	  "\"COUNTERS_QUEUE_NAME_MAP\": {\"Ethernet0:3\": \"oid:0x15\"},\n"
	  "\"COUNTERS:oid:0x1\": {\"SAI_PORT_STAT_PFC_3_RX_PKTS\": \"203\"},\n"
	  "\"COUNTERS:oid:0x15\": {\"SAI_QUEUE_STAT_PACKETS\": 52, \"PFC_WD_STATUS\": "
	  "\"stormed\"},\n"
	  "\"COUNTERS:oid:0x77\": {\"SAI_ROUTER_INTERFACE_STAT_IN_PACKETS\": 2}}\n",
	  "s1 Ethernet0 3 tx_packets 52\ns1 Ethernet0 3 pause_rx 203\ns1 Ethernet0 3 wd_stormed "
	  "1\n",
	  "5:63 this is of no port, queue or priority group, and left out, as others of that kind "
	  "are\n" },
	{ "s1",
	  "{\"COUNTERS_PG_NAME_MAP\": {\"type\": \"hash\", \"value\": {\"Ethernet0:3\": "
	  "\"oid:0x1a\"}},"
	  "\"COUNTERS:oid:0x1a\": {\"type\": \"hash\", \"value\": "
	  "{\"SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS\": \"9\"}}}",
	  "s1 Ethernet0 3 drops_buffer 9\n", "" },
	{ "s1", "{\"Ethernet0\": {\"UC3\": {\"totalpacket\": \"1,052\", \"droppacket\": \"N/A\"}}}",
	  "s1 Ethernet0 3 tx_packets 1052\n", "" },
	{ "s1", "{\"COUNTERS:oid:0x1\": {\"A\": \"1\"", NULL,
	  "s1:1:31: here is a comma, or the end of what is open; is the file complete?" },
	/* Prometheus */
	{ "h1",
	  "# HELP node_infiniband_link_downed_total x\n"
	  "node_infiniband_link_downed_total{device=\"mlx4_0\",port=\"1\"} 3\n"
	  "node_infiniband_port_data_transmitted_bytes_total{device=\"mlx4_0\",port=\"1\"} "
	  "1.8527668e+07\n"
	  "node_ethtool_received_prio3_pause{device=\"eth0\",instance=\"n2:9100\"} 4\n"
	  "rdma_np_cnp_sent_total{device=\"mlx5_0\",port=\"1\"} 6\n",
	  "h1 mlx4_0/1 tx_bytes 18527668\nh1 mlx4_0/1 link_downed 3\nn2 eth0 3 pause_rx 4\n"
	  "h1 mlx5_0/1 np_cnp_sent 6\n",
	  "" },
	{ "h1", "node_infiniband_link_downed_total{device=\"mlx4", NULL,
	  "h1:1:47: labels break off here; is the file complete?" },
	/* InfiniBand */
	{ "p",
	  "# Port extended counters: Lid 133 port 2 (CapMask: 0x5A00)\n"
	  "PortSelect:......................2\nPortXmitData:....................10\n"
	  "SymbolErrorCounter:..............65535\n"
	  "# Port counters: Lid 133 port 3\nLinkDownedCounter:...............255\n",
	  "lid 133 2 tx_bytes 40\nlid 133 2 symbol_errors 65535 full\nlid 133 3 link_downed 255 "
	  "full\n",
	  "" },
	{ "p",
	  "Errors for \"a\"\n   GUID 0x1070fd port ALL: [LinkDownedCounter == 25 (25.000)] "
	  "[PortXmitWait == 14681376621 (13.673G)]\n",
	  "0x1070fd ALL link_downed 25\n0x1070fd ALL xmit_wait_ticks 14681376621\n", "" },
	{ "p",
	  "START_NODES\nNodeDesc,NumPorts,NodeType,NodeGUID\n\"a b\",1,1,0x5\nEND_NODES\n"
	  "START_LINKS\nNodeGuid1,PortNum1,NodeGuid2,PortNum2\n0x5,1,0x6,3\nEND_LINKS\n"
	  "START_PM_INFO\nNodeGUID,PortGUID,PortNumber,SymbolErrorCounter,SymbolErrorCounterExt,"
	  "PortXmitWaitExt,Odd\n"
	  "0x5,0x5,1,65535,70000,9463628588,3\n0x6,0x6,3,65535,0,-1,3\nEND_PM_INFO\n",
	  "0x5 1 symbol_errors 70000\n0x5 1 xmit_wait_ticks 9463628588\n0x6 3 symbol_errors 65535 "
	  "full\n"
	  "0x5 1 - 0x6 3\n",
	  "10:90 column 'Odd' is not known, and left out\n" },
	{ "p", "START_PM_INFO\nNodeGUID,PortNumber,PortXmitPkts\n0x5,1,4\n", NULL,
	  "p:1: the section has no end; is the file complete?" },
	{ "p", "START_PM_INFO\nNodeGUID,PortNumber,PortXmitPkts\n0x5,1\nEND_PM_INFO\n", NULL,
	  "p:3: this row has fewer cells than the section has columns; is the file complete?" },
};

/* Reads a copy of exactly these bytes, so that a sanitizer sees reads beyond them. */
static int read_copy(struct wf_evidence *ev, const char *text, const char *file, unsigned when,
                     struct heard *h, struct wf_err *err)
{
	const char *slash = strchr(file, '/');
	const struct wf_ev_source source = { file, slash != NULL ? "h1" : file, when };
	const struct wf_subnet_ear ear = { hear, h };
	size_t len = strlen(text);
	char *copy = malloc(len + (len == 0));
	int ret;

	assert_non_null(copy);
	memcpy(copy, text, len);
	ret = wf_evidence_read(ev, copy, len, &source, h == NULL ? NULL : &ear, err);
	free(copy);
	return ret;
}

static void test_texts(void **state)
{
	char has[ROOM];

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(texts); i++) {
		const struct text *t = &texts[i];
		struct heard heard = { "", 0 };
		struct wf_err err = { "" };
		struct wf_evidence *ev = NULL;
		int ret;

		assert_int_equal(wf_evidence_create(wf_mem_heap(), &ev), 0);
		ret = read_copy(ev, t->text, t->file, 0, &heard, &err);
		if (t->has == NULL) {
			assert_int_equal(ret, -EINVAL);
			assert_string_equal(err.text, t->notes);
		} else {
			assert_string_equal(err.text, "");
			assert_int_equal(ret, 0);
			assert_int_equal(wf_evidence_finish(ev), 0);
			dump(ev, has, sizeof(has));
			assert_string_equal(has, t->has);
			assert_string_equal(heard.text, t->notes);
		}
		wf_evidence_destroy(ev);
	}
}

/* Of two snapshots what counts is the difference, of gauges the later; a reset begins anew. */
static void test_snapshots(void **state)
{
	static const char before[] = "rx_prio3_pause: 100\ntx_prio3_pause: 50\nrx_prio4_pause: 1\n"
				     "tc_transmit_queue_max_tc_3: 9\n";
	static const char after[] = "rx_prio3_pause: 130\ntx_prio3_pause: 20\nrx_prio5_pause: 7\n"
				    "tc_transmit_queue_max_tc_3: 5\nrx_prio3_pause: 120\n";
	struct wf_evidence *ev = NULL;
	struct wf_err err = { "" };
	uint32_t device, port;
	uint64_t v;

	(void)state;
	assert_int_equal(wf_evidence_create(wf_mem_heap(), &ev), 0);
	assert_int_equal(read_copy(ev, after, "h1", 1, NULL, &err), 0);
	assert_int_equal(read_copy(ev, before, "h1", 0, NULL, &err), 0);
	assert_int_equal(wf_evidence_finish(ev), 0);
	device = wf_evidence_find_device(ev, "h1", 2);
	port = wf_evidence_find_port(ev, device, "1", 1);
	assert_non_null(wf_evidence_get(ev, port, 3, WF_EV_pause_rx, &v));
	assert_int_equal(v, 30); /* of what came twice the largest */
	assert_non_null(wf_evidence_get(ev, port, 3, WF_EV_pause_tx, &v));
	assert_int_equal(v, 20);
	assert_non_null(wf_evidence_get(ev, port, 3, WF_EV_max_queue_bytes, &v));
	assert_int_equal(v, 5);
	assert_null(wf_evidence_get(ev, port, 4, WF_EV_pause_rx, &v)); /* nobody says it later */
	assert_null(wf_evidence_get(ev, port, WF_EV_NO_QUEUE, WF_EV_pause_rx, &v));
	assert_true(wf_evidence_sum(ev, port, WF_EV_pause_rx, &v));
	assert_int_equal(v, 37);
	assert_true(wf_evidence_total(ev, device, WF_EV_max_queue_bytes, &v));
	assert_int_equal(v, 5);
	assert_false(wf_evidence_total(ev, device, WF_EV_drops_life, &v));
	assert_int_equal(wf_evidence_find_device(ev, "h2", 2), WF_EV_NONE);
	assert_int_equal(ev->devices[device].kind, WF_EV_HOST);
	wf_evidence_destroy(ev);
}

/* The same text, with memory that runs out at every point. */
static void test_no_memory(void **state)
{
	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(texts); i += 3) {
		bool done = false;

		for (long n = 0; !done; n++) {
			struct mem_fail mem = mem_fail_after(n);
			struct wf_evidence *ev = NULL;
			struct wf_err err = { "" };
			int ret = wf_evidence_create(&mem.mem, &ev);

			if (ret == 0)
				ret = read_copy(ev, texts[i].text, texts[i].file, 0, NULL, &err);
			if (ret == 0)
				ret = wf_evidence_finish(ev);
			wf_evidence_destroy(ev);
			assert_int_equal(mem.held, 0);
			done = ret != -ENOMEM;
			assert_true(ret == 0 || done == (err.text[0] != '\0'));
		}
	}
}

/* Many ports keep their names apart, and many samples their ports. */
static void test_many(void **state)
{
	struct wf_evidence *ev = NULL;
	uint64_t v;

	(void)state;
	assert_int_equal(wf_evidence_create(wf_mem_heap(), &ev), 0);
	for (unsigned i = 0; i < 4000; i++) {
		struct wf_ev_sample s = { .queue = 3, .counter = WF_EV_pause_rx, .value = i };
		char name[16];
		uint32_t device;

		snprintf(name, sizeof(name), "s%u", i % 50);
		assert_int_equal(wf_evidence_device(ev, name, strlen(name), &device), 0);
		snprintf(name, sizeof(name), "Ethernet%u", i / 50);
		assert_int_equal(wf_evidence_port(ev, device, name, strlen(name), &s.port), 0);
		assert_int_equal(s.port, i);
		assert_int_equal(wf_evidence_put(ev, &s), 0);
	}
	assert_int_equal(wf_evidence_finish(ev), 0);
	assert_int_equal(ev->n_devices, 50);
	for (uint32_t i = 0; i < 4000; i++) {
		assert_non_null(wf_evidence_get(ev, i, 3, WF_EV_pause_rx, &v));
		assert_int_equal(v, i);
	}
	wf_evidence_link(ev, 0, 1);
	wf_evidence_link(ev, 0, 2); /* is connected already */
	assert_int_equal(ev->ports[0].peer, 1);
	assert_int_equal(ev->ports[2].peer, WF_EV_NONE);
	wf_evidence_destroy(ev);
}

/* Every counter has a name of its own, and what weft calls it in a results file leads to it. */
static void test_names(void **state)
{
	(void)state;
	for (unsigned i = 0; i < WF_EV_N; i++) {
		const char *name = wf_ev_counter_name((enum wf_ev_counter)i);

		assert_non_null(wf_ev_counter_help((enum wf_ev_counter)i));
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(name, wf_ev_counter_name((enum wf_ev_counter)k));
	}
}

static void test_weft_names(void **state)
{
	static const struct {
		const char *name;
		enum wf_ev_counter counter;
		int queue;
		uint64_t by;
	} rows[] = {
		{ "rx_prio3_pause_duration", WF_EV_paused_ps, 3, 1000000 },
		{ "port_xmit_wait", WF_EV_credit_wait_ps, -1, 1000 },
		{ "port_xmit_data", WF_EV_tx_bytes, -1, 4 },
		{ "np_cnp_sent", WF_EV_HCA_NP_CNP_SENT, -1, 1 },
		{ "hca_tx_bytes", WF_EV_HCA_TX_BYTES, -1, 1 },
		{ "vl2_queue_bytes", WF_EV_queue_bytes, 2, 1 },
	};
	struct wf_ev_name is;

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++) {
		assert_true(wf_ev_name(WF_EV_WEFT, rows[i].name, strlen(rows[i].name), &is));
		assert_int_equal(is.counter, rows[i].counter);
		assert_int_equal(is.queue, rows[i].queue);
		assert_int_equal(is.by, rows[i].by);
	}
	assert_false(wf_ev_name(WF_EV_WEFT, "rx_prio64_pause", 15, &is));
	assert_false(wf_ev_name(WF_EV_WEFT, "rx_prio_pause", 13, &is));
	/* Adapters' ticks are of no known length. */
	assert_true(wf_ev_name(WF_EV_SYSFS, "port_xmit_wait", 14, &is));
	assert_int_equal(is.counter, WF_EV_xmit_wait_ticks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),     cmocka_unit_test(test_snapshots),
		cmocka_unit_test(test_no_memory), cmocka_unit_test(test_many),
		cmocka_unit_test(test_names),     cmocka_unit_test(test_weft_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
