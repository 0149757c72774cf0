/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scenarios: NVMe over TCP. What lies on the wire for an I/O byte by byte, what one takes to the
 * picosecond, what bounds many of them, what they cost CPUs, and what becomes of them when packets
 * are lost.
 */
/* ctest: tsan=*threads* */
#include "scen.h"

#include "sim/storage/nvmf.h"

static struct wf_storage_result *result(const struct scen *s, size_t i)
{
	static struct wf_storage_result r;

	wf_sim_storage_result(s->sim, i, &r);
	return &r;
}

/* Runs a scenario of one fabric. */
static void run(struct scen *s, const char *text, unsigned threads)
{
	scen_load(s, text);
	scen_run(s, s->scenario.fabrics[0].label, threads);
}

static uint64_t tcp_of(const struct scen *s, enum wf_tcp_counter id)
{
	return s->result->tcp.counter[id];
}

/* ---- one I/O ---- */

/* Two hosts at a switch; what a drive takes is round. */
#define ONE                                                                                        \
	"topology: {kind: single, hosts: 2, host_rate: 400Gbps}\n"                                 \
	"fabric: {profile: %s, name: f, mtu: 4096B, drive: {read: 80us, write: 15us, read_rate: "  \
	"64Gbps, write_rate: 80Gbps, read_iops: 1000000000, write_iops: 1000000000, software: "    \
	"2us}}\n"                                                                                  \
	"storage: [{transport: tcp, targets: h1, class: 0, depth: 1, duration: %s, %s}]\n"

#define IB_EACH (8 + 12 + 8 + 4 + 20 + 32 + 4 + 2) /* LRH, BTH, DETH, IPoIB, IP, TCP, CRCs */
#define ETH_EACH (14 + 20 + 32 + 4)                /* with timestamps; and the FCS */

/*
 * One I/O: the PDUs of the specification, added up by hand. From the host: CapsuleCmd of 72 bytes
 * and H2CData of 24; to it: C2HData, R2T and CapsuleResp of 24. Digests have 4.
 */
static void test_bytes_on_the_wire(void **state)
{
	static const struct {
		const char *storage;
		uint64_t sent, answered; /* in TCP's payload */
	} rows[] = {
		{ "read: 1, block: 512", 72, 24 + 512 + 24 },
		{ "read: 1, block: 4KiB", 72, 24 + 4096 + 24 },
		{ "read: 1, block: 4KiB, success: true", 72, 24 + 4096 },
		{ "read: 1, block: 1MiB", 72, 24 + 1048576 + 24 },
		/* A write goes with its command, up to four pages; a little more, and R2T asks. */
		{ "read: 0, block: 4KiB", 72 + 4096, 24 },
		{ "read: 0, block: 16KiB", 72 + 16384, 24 },
		{ "read: 0, block: 16388", 72 + 24 + 16388, 24 + 24 },
		{ "read: 0, block: 4KiB, in_capsule: 4095", 72 + 24 + 4096, 24 + 24 },
		{ "read: 0, block: 1MiB, success: true", 72 + 24 + 1048576, 24 + 24 },
		/* MAXH2CDATA: 8 PDUs; two full ones and a rest; 3 that are full. */
		{ "read: 0, block: 1MiB, maxh2cdata: 128KiB", 72 + 8 * 24 + 1048576, 24 + 24 },
		{ "read: 0, block: 10000, in_capsule: 0, maxh2cdata: 4KiB", 72 + 3 * 24 + 10000,
		  24 + 24 },
		{ "read: 0, block: 12KiB, in_capsule: 0, maxh2cdata: 4KiB", 72 + 3 * 24 + 12288,
		  24 + 24 },
		/* A header digest with every PDU, a data digest with those that have data. */
		{ "read: 1, block: 4KiB, header_digest: true", 76, 28 + 4096 + 28 },
		{ "read: 1, block: 4KiB, data_digest: true", 72, 24 + 4096 + 4 + 24 },
		{ "read: 0, block: 4KiB, data_digest: true", 72 + 4096 + 4, 24 },
		{ "read: 0, block: 64KiB, header_digest: true, data_digest: true",
		  76 + 28 + 65536 + 4, 28 + 28 },
		{ "read: 0, block: 12KiB, in_capsule: 0, maxh2cdata: 4KiB, data_digest: true",
		  72 + 3 * (24 + 4096 + 4), 24 + 24 },
		/* Data begins where it is aligned; 24 and 72 are multiples of 8, 28 is not. */
		{ "read: 1, block: 4KiB, data_align: 8", 72, 24 + 4096 + 24 },
		{ "read: 1, block: 4KiB, data_align: 8, header_digest: true", 76, 32 + 4096 + 28 },
		{ "read: 0, block: 512, data_align: 128, header_digest: true", 128 + 512, 28 },
		{ "read: 0, block: 64KiB, data_align: 128", 72 + 128 + 65536, 24 + 24 },
	};
	static const char *const profiles[] = { "roce-400g", "ib-ndr" };

	(void)state;
	for (size_t i = 0; i < 2 * WF_ARRAY_SIZE(rows); i++) {
		const char *storage = rows[i / 2].storage;
		uint64_t each = i % 2 == 0 ? ETH_EACH : IB_EACH, sent, answered;
		const struct wf_nvmf_queue *q;
		struct wf_sim_counts up, down;
		char text[700];
		struct scen s;

		/* One begins at 0, and none at 1 ps. */
		snprintf(text, sizeof(text), ONE, profiles[i % 2], "1ps", storage);
		run(&s, text, 1);
		assert_true(s.result->finished);
		assert_int_equal(result(&s, 0)->ios[0] + result(&s, 0)->ios[1], 1);
		q = s.sim->storage->queue;
		sent = wf_tcp_conn_written(wf_tcp_sock_conn(q->host.sock));
		answered = wf_tcp_conn_written(wf_tcp_sock_conn(q->target.sock));
		if (sent != rows[i / 2].sent || answered != rows[i / 2].answered)
			fail_msg("%s: %u and %u bytes", storage, (unsigned)sent,
			         (unsigned)answered);
		assert_int_equal(tcp_of(&s, WF_TCP_CTR_RETRANS_SEGS), 0);
		up = scen_port(&s, "h0", "leaf0", 0);
		down = scen_port(&s, "h1", "leaf0", 0);
		assert_int_equal(up.tx_bytes, sent + each * up.tx_packets);
		assert_int_equal(down.tx_bytes, answered + each * down.tx_packets);
		scen_fini(&s);
	}
}

#define BYTE 20                          /* ps of a byte at 400 Gb/s */
#define PCIE(bytes) ((bytes)*8000 / 440) /* ps of bytes at 440 Gb/s, cut off */
#define COPY(bytes) ((bytes)*8000 / 86)  /* to a program, at 86 Gb/s */
#define CRC(bytes) ((bytes)*8000 / 200)
#define SYSCALL (500 * WF_NS)
#define WAKEUP (1500 * WF_NS)
#define TX(packets) (1500 * WF_NS + (packets)*50 * WF_NS)
#define RX(packets) (2000 * WF_NS + (packets)*450 * WF_NS)
#define ACK (600 * WF_NS)
#define INTERRUPT (8 * WF_US)

/* Doorbell, adapter, data from memory; two cables of 3 m with PHYs, the switch; the adapter. */
#define WAY ((150 + 180 + 450 + 2 * (15 + 120) + 600 + 330) * WF_NS)

/* Preamble and gap have 20 bytes on each link; what is cut through goes on after 64 more. */
#define WIRE(bytes) (WAY + (20 + 64) * BYTE + (20 + ETH_EACH + (bytes)) * BYTE)

/*
 * From what a program sends until the other has read it, in one segment: with the acknowledgement
 * that the receiver's TCP makes of the first ones. Nothing is copied where it is sent.
 */
#define MESSAGE(bytes)                                                                             \
	(SYSCALL + TX(1) + WIRE(bytes) + PCIE(bytes) + INTERRUPT + RX(1) + ACK + WAKEUP +          \
	 SYSCALL + COPY(bytes))

/*
 * The same as the answer to a message of so many bytes, from when that was read: the message's
 * acknowledgement has gone ahead of it, and the interrupt that it asks for is the answer's, too.
 */
#define ANSWER(before, bytes)                                                                      \
	(WIRE(0) + INTERRUPT + 450 * WF_NS + ACK + RX(1) + COPY(bytes) - COPY(before))

static void check_latency(const char *storage, unsigned op, wf_time latency)
{
	const struct wf_storage_result *r;
	char text[700];
	struct scen s;

	snprintf(text, sizeof(text), ONE, "roce-400g, tcp: {mtu: 9000B}", "1ps", storage);
	run(&s, text, 1);
	r = result(&s, 0);
	assert_int_equal(r->ios[op], 1);
	if (r->latency[op].max != (uint64_t)latency)
		fail_msg("%s: %llu ps, and by hand %llu", storage,
		         (unsigned long long)r->latency[op].max, (unsigned long long)latency);
	scen_fini(&s);
}

/* Reads and writes by hand: messages, the target's software, and the drive at 8 or 10 GB/s. */
static void test_one_adds_up(void **state)
{
	const wf_time software = 2 * WF_US;
	const wf_time reads = 80 * WF_US + 512 * WF_NS, writes = 15 * WF_US + 409600;

	(void)state;
	check_latency("read: 1, block: 4KiB", WF_STORAGE_READ,
	              MESSAGE(72) + software + reads + MESSAGE(24 + 4096 + 24));
	check_latency("read: 1, block: 4KiB, success: true", WF_STORAGE_READ,
	              MESSAGE(72) + software + reads + MESSAGE(24 + 4096));
	check_latency("read: 0, block: 4KiB", WF_STORAGE_WRITE,
	              MESSAGE(72 + 4096) + software + writes + MESSAGE(24));
	/* With R2T a write is a round trip more, on whose two messages the other end waits. */
	check_latency("read: 0, block: 4KiB, in_capsule: 0", WF_STORAGE_WRITE,
	              MESSAGE(72) + ANSWER(72, 24) + ANSWER(24, 24 + 4096) + software + writes +
	                      MESSAGE(24));
	/* A digest takes both cores its time: of all that is sent, and of all that is read. */
	check_latency("read: 1, block: 4KiB, data_digest: true", WF_STORAGE_READ,
	              MESSAGE(72) + 2 * CRC(72) + software + reads + MESSAGE(24 + 4100 + 24) +
	                      2 * CRC(24 + 4100 + 24));
}

/* ---- beside RDMA ---- */

/*
 * The same storage over both: TCP takes CPUs, which RDMA leaves alone, and is later by two
 * interrupts at least. Vendors say 25 to 40 us where RDMA has 10 to 20 (nvme-tcp.com, 2025), which
 * is 5 to 30 us more.
 */
static void test_against_rdma(void **state)
{
	static const char *const profiles[] = { "roce-400g", "roce-400g-lossy", "ib-ndr" };
	uint64_t mean[2], busy[2];

	(void)state;
	for (size_t i = 0; i < 2 * WF_ARRAY_SIZE(profiles); i++) {
		const struct wf_storage_result *r;
		char text[400];
		struct scen s;

		snprintf(text, sizeof(text),
		         "topology: {kind: single, hosts: 3, host_rate: 400Gbps}\n"
		         "fabric: %s\n"
		         "storage: [{targets: h2, transport: %s, read: 100%%, block: 4KiB, depth: "
		         "1}]\n",
		         profiles[i / 2], i % 2 == 0 ? "rdma" : "tcp");
		run(&s, text, 1);
		assert_true(s.result->finished);
		r = result(&s, 0);
		assert_string_equal(r->transport, i % 2 == 0 ? "rdma" : "tcp");
		mean[i % 2] = wf_hist_mean(&r->latency[WF_STORAGE_READ]);
		busy[i % 2] = s.result->tcp.busy;
		scen_fini(&s);
		if (i % 2 == 0)
			continue;
		assert_int_equal(busy[0], 0);
		assert_true(busy[1] > 0);
		assert_in_range(mean[1] - mean[0], 2 * INTERRUPT, 30 * WF_US);
	}
}

/* What is not said follows the adapter: where a job's messages go over sockets, so does this. */
static void test_auto(void **state)
{
	static const char text[] =
		"topology: {kind: single, hosts: 2, host_rate: 400Gbps}\n"
		"fabric: [roce-400g, tcp-sockets-400g]\n"
		"storage: [{targets: h1, read: 0, block: 16KiB, duration: 1ps, depth: 1}]\n";
	struct scen s;

	(void)state;
	scen_load(&s, text);
	scen_run(&s, "roce-400g", 1);
	assert_string_equal(result(&s, 0)->transport, "rdma");
	assert_int_equal(s.result->tcp.hosts, 0);
	assert_int_equal(s.result->adapters[WF_CTR_RX_READ_REQUESTS], 1);
	scen_run(&s, "tcp-sockets-400g", 1);
	assert_string_equal(result(&s, 0)->transport, "tcp");
	assert_int_equal(s.result->tcp.hosts, 2);
	/* 16 KiB go with the command. */
	assert_int_equal(wf_tcp_conn_written(wf_tcp_sock_conn(s.sim->storage->queue[0].host.sock)),
	                 72 + 16384);
	scen_fini(&s);
}

/* ---- many ---- */

static uint16_t port_of(const struct scen *s, unsigned queue)
{
	return wf_tcp_conn_attr(wf_tcp_sock_conn(s->sim->storage->queue[queue].host.sock))
	        ->client_port;
}

/* Little: what is under way is what goes through times how long it takes. */
static void test_little(void **state)
{
	static const char text[] =
		"topology: {kind: leaf-spine, hosts: 16, radix: 16, host_rate: 400Gbps}\n"
		"fabric: tcp-sockets-400g\n"
		"storage: [{targets: 'h15, h14', hosts: 'h0, h1, h2', block: 32KiB, depth: 8, "
		"queues: 2, duration: 3ms}]\n";
	const double under_way = 3 * 2 * 2 * 8;
	struct wf_storage_result *r;
	double mean, rate;
	struct scen s;

	(void)state;
	run(&s, text, 1);
	r = result(&s, 0);
	assert_int_equal(r->queues, 12);
	/* Each queue has a connection of its own, which the fabric tells from the others. */
	for (unsigned i = 0; i < 11; i++)
		assert_int_not_equal(port_of(&s, i), port_of(&s, i + 1));
	assert_int_equal(r->failed + r->open, 0);
	rate = (double)(r->ios[0] + r->ios[1]) / (double)(r->end - r->begin);
	mean = (double)(r->latency[0].sum + r->latency[1].sum) / (double)(r->ios[0] + r->ios[1]);
	assert_in_range((uint64_t)(1000 * rate * mean / under_way), 940, 1000);
	assert_in_range(1000 * r->ios[0] / (r->ios[0] + r->ios[1]), 640, 760);
	scen_fini(&s);
}

/*
 * What goes through is what the narrowest lets through. A core that reads: 93 ps a byte for the
 * copy (86 Gb/s), 50 for 450 ns a packet of 8948 bytes, 31 for 2 us a burst of 64 KiB, and 4 or
 * more for a system call of 500 ns and 128 KiB at most; acknowledgements and wake-ups besides: at
 * most 45 Gb/s. With a digest 40 ps more: 37. That one reads what is written for as much, and the
 * writer, which copies nothing, is not half as busy.
 */
static void test_ceilings(void **state)
{
	static const struct {
		const char *host_rate, *fabric, *devices, *storage;
		unsigned op;
		uint64_t mbits, least; /* a second: at most, and at least */
		unsigned core;         /* per cent that the busiest core is at least at work */
	} rows[] = {
		/* The line of a target: 8948 bytes in 9038 of it; the PDUs' headers are little. */
		{ "25Gbps", "", "", "read: 1, block: 1MiB, depth: 8", WF_STORAGE_READ, 24751, 23500,
		  0 },
		{ "25Gbps", "", "", "read: 0, block: 1MiB, depth: 8", WF_STORAGE_WRITE, 24751,
		  23000, 0 },
		/* A drive of 8 Gb/s, and one of 20,000 commands a second. */
		{ "400Gbps", "drive: {count: 1, read_rate: 8Gbps}, ", "",
		  "read: 1, block: 128KiB, depth: 8", WF_STORAGE_READ, 8000, 7600, 0 },
		{ "400Gbps", "drive: {count: 1, write_iops: 20000}, ", "",
		  "read: 0, block: 4KiB, depth: 16", WF_STORAGE_WRITE, 656, 620, 0 },
		/* One core of the host that reads; the other has no queue. */
		{ "400Gbps", "drive: {count: 16}, ", "devices: {h0: {tcp: {cores: 1}}}\n",
		  "hosts: h0, read: 1, block: 1MiB, depth: 8", WF_STORAGE_READ, 45000, 38000, 95 },
		{ "400Gbps", "drive: {count: 16}, ", "devices: {h0: {tcp: {cores: 1}}}\n",
		  "hosts: h0, read: 1, block: 1MiB, depth: 8, data_digest: true", WF_STORAGE_READ,
		  36700, 32000, 95 },
		/* One core of the target, which has to read what is written. */
		{ "400Gbps", "drive: {count: 16}, ", "devices: {h2: {tcp: {cores: 1}}}\n",
		  "read: 0, block: 1MiB, depth: 8", WF_STORAGE_WRITE, 45000, 36000, 95 },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++) {
		const struct wf_storage_result *r;
		char text[700];
		struct scen s;
		uint64_t mbits, core;

		snprintf(text, sizeof(text),
		         "topology: {kind: single, hosts: 3, host_rate: %s}\n"
		         "fabric: {profile: roce-400g-lossy, nic: {rate_min: 0}, %stcp: {mtu: "
		         "9000B, rto_min: 1ms}}\n%s"
		         "storage: [{transport: tcp, targets: h2, class: 0, duration: 10ms, %s}]\n",
		         rows[i].host_rate, rows[i].fabric, rows[i].devices, rows[i].storage);
		run(&s, text, 1);
		assert_true(s.result->finished);
		r = result(&s, 0);
		mbits = wf_storage_figures[rows[i].op == WF_STORAGE_READ ? 4 : 5].get(r) / 1000000;
		core = s.result->tcp.core_busy * 100 / (uint64_t)s.result->end;
		if (mbits < rows[i].least || mbits > rows[i].mbits || core < rows[i].core)
			fail_msg("%s %s: %u Mbit/s, busiest core %u %%", rows[i].host_rate,
			         rows[i].storage, (unsigned)mbits, (unsigned)core);
		scen_fini(&s);
	}
}

/* Who sends from its own memory works less than who reads, which copies. */
static void test_nothing_is_copied_to_send(void **state)
{
	static const char text[] =
		"topology: {kind: single, hosts: 2, host_rate: 400Gbps}\n"
		"fabric: {profile: roce-400g-lossy, tcp: {mtu: 9000B, copy_tx: %s, copy_rx: "
		"1Tbps}}\n"
		"storage: [{transport: tcp, targets: h1, class: 0, kind: checkpoint, bytes: 20MB, "
		"block: 1MiB, depth: 4}]\n";
	uint64_t busy[2];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char scenario[600];
		struct scen s;

		snprintf(scenario, sizeof(scenario), text, i == 0 ? "1Gbps" : "1Tbps");
		run(&s, scenario, 1);
		assert_int_equal(result(&s, 0)->bytes[WF_STORAGE_WRITE], 20000000);
		busy[i] = s.result->tcp.busy;
		scen_fini(&s);
	}
	assert_int_equal(busy[0], busy[1]);
}

/* ---- every kind, beside others, on threads ---- */

static const char kinds[] =
	"topology: {kind: leaf-spine, hosts: 16, radix: 8, host_rate: 400Gbps}\n"
	"fabric:\n"
	"  - {profile: roce-400g, name: pfc, tcp: {rto_min: 1ms}}\n"
	"  - {profile: roce-400g-lossy, name: lossy, buffer: {size: 200KB}, tcp: {rto_min: 1ms}}\n"
	"  - {profile: ib-ndr, name: ib, tcp: {rto_min: 1ms}}\n"
	"  - {profile: tcp-sockets-400g, name: sockets, tcp: {rto_min: 1ms}}\n"
	"traffic:\n"
	"  - {kind: shift, op: write, size: 100KB}\n"
	"  - {kind: shift, op: tcp, size: 100KB, class: 0}\n"
	"storage:\n"
	"  - {targets: h15, transport: tcp, kind: random, block: 4KiB, depth: 4, duration: 200us}\n"
	"  - {targets: [h15, h14], transport: tcp, kind: sequential, block: 64KiB, depth: 4, "
	"duration: 200us, class: 0, header_digest: true, data_digest: true}\n"
	"  - {targets: [h3, h15], transport: rdma, hosts: h12, kind: checkpoint, bytes: 1000001, "
	"block: 96KiB}\n"
	"  - {targets: [h0, h1, h2], transport: tcp, hosts: 'h4, h12', kind: restore, bytes: 2MB, "
	"queues: 2, success: true}\n"
	"  - {targets: [h15], transport: tcp, hosts: 'h?', kind: checkpoint, bytes: 1000001, "
	"block: 96KiB, maxh2cdata: 32KiB}\n"
	"run: {until: 1s}\n";

/* Over every fabric everything comes, whatever is lost; hosts have several at a time, and both. */
static void test_every_kind(void **state)
{
	struct scen s;

	(void)state;
	scen_load(&s, kinds);
	for (unsigned f = 0; f < s.scenario.n_fabrics; f++) {
		scen_run(&s, s.scenario.fabrics[f].label, 1);
		assert_true(s.result->finished);
		assert_int_equal(s.lossless_drops, 0);
		assert_int_equal(s.result->flows_done, 32);
		for (size_t i = 0; i < 5; i++) {
			const struct wf_storage_result *r = result(&s, i);

			assert_int_equal(r->failed + r->open, 0);
			assert_true(r->ios[0] + r->ios[1] > 0);
			assert_int_equal(r->latency[0].n, r->ios[0]);
			assert_int_equal(r->latency[1].n, r->ios[1]);
			if (i == 3)
				assert_int_equal(r->bytes[WF_STORAGE_READ], 4000000);
			if (i == 4) {
				assert_int_equal(r->bytes[WF_STORAGE_WRITE], 10 * 1000001);
				assert_int_equal(r->ios[WF_STORAGE_WRITE], 10 * 11);
				assert_int_equal(r->longest, r->end - r->begin);
			}
		}
		if (strcmp(s.fabric->label, "lossy") == 0)
			assert_true(tcp_of(&s, WF_TCP_CTR_RETRANS_SEGS) > 0);
	}
	scen_fini(&s);
}

/* The same on any number of threads. */
static void test_same_on_threads(void **state)
{
	static struct wf_sim_result first;
	static struct wf_storage_result storage[5];
	struct scen s;

	(void)state;
	scen_load(&s, kinds);
	for (unsigned f = 0; f < s.scenario.n_fabrics; f++) {
		for (unsigned threads = 1; threads <= 4; threads *= 2) {
			scen_run(&s, s.scenario.fabrics[f].label, threads);
			s.result->memory = 0;
			if (threads == 1)
				first = *s.result;
			assert_memory_equal(s.result, &first, sizeof(first));
			for (size_t i = 0; i < 5; i++) {
				if (threads == 1)
					storage[i] = *result(&s, i);
				assert_memory_equal(result(&s, i), &storage[i], sizeof(storage[i]));
			}
		}
	}
	scen_fini(&s);
}

/* ---- what goes wrong ---- */

/* A link that comes back costs time and no I/O. For good, TCP goes on trying: I/Os stay open. */
static void test_link_fails(void **state)
{
	static const char text[] =
		"topology: {kind: single, hosts: 3, host_rate: 400Gbps}\n"
		"fabric: {profile: roce-400g-lossy, tcp: {rto_min: 1ms}}\n"
		"storage: [{targets: h2, transport: tcp, class: 0, kind: checkpoint, bytes: 10MB, "
		"block: 128KiB, depth: 8}]\n"
		"faults: [{on: h2, at: 1ms, %s fault: down}]\n"
		"run: {until: 100ms}\n";

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const struct wf_storage_result *r;
		char scenario[600];
		struct scen s;

		snprintf(scenario, sizeof(scenario), text, i == 0 ? "until: 4ms," : "");
		run(&s, scenario, 1);
		r = result(&s, 0);
		assert_int_equal(s.result->finished, i == 0);
		assert_int_equal(r->failed, 0);
		if (i == 0) {
			assert_int_equal(r->open, 0);
			assert_int_equal(r->bytes[WF_STORAGE_WRITE], 20000000);
			assert_true(tcp_of(&s, WF_TCP_CTR_RETRANS_SEGS) > 0);
		} else {
			assert_int_equal(r->open, 2 * 8);
			assert_true(r->bytes[WF_STORAGE_WRITE] < 20000000);
		}
		scen_fini(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes_on_the_wire),
		cmocka_unit_test(test_one_adds_up),
		cmocka_unit_test(test_against_rdma),
		cmocka_unit_test(test_auto),
		cmocka_unit_test(test_little),
		cmocka_unit_test(test_ceilings),
		cmocka_unit_test(test_nothing_is_copied_to_send),
		cmocka_unit_test(test_every_kind),
		cmocka_unit_test(test_same_on_threads),
		cmocka_unit_test(test_link_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
