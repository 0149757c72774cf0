/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scenarios: NVMe over Fabrics. What an I/O takes to the picosecond, what a queue of them comes to,
 * what bounds it, and what becomes of it when a link fails.
 */
/* ctest: tsan=*threads* */
#include "scen.h"

#include "rdma/counter.h"
#include "sim/storage/storage.h"

#define BYTE 20                          /* ps of a byte at 400 Gb/s */
#define PCIE(bytes) ((bytes)*8000 / 440) /* ps of bytes at 440 Gb/s, cut off */

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

/* ---- one I/O ---- */

/* Two hosts at a switch of InfiniBand, and drives whose times are round. */
#define ONE(storage)                                                                               \
	"topology: {kind: single, hosts: 2, host_rate: 400Gbps}\n"                                 \
	"fabric: {profile: ib-ndr, name: f, drive: {read: 80us, write: 15us, read_rate: 64Gbps, "  \
	"write_rate: 80Gbps, read_iops: 1000000000, write_iops: 1000000000, software: 2us}}\n"     \
	"storage: [{targets: h1, depth: 1, duration: 1ms, " storage "}]\n"

/* Two links of 3 m at 5 ns and their PHYs, and the switch. */
#define WAY (2 * (15 + 120) * WF_NS + 130 * WF_NS)
#define POST (300 * WF_NS)  /* doorbell, and the adapter: 150 ns each */
#define FETCH (450 * WF_NS) /* data that is not in the doorbell */
#define RX (300 * WF_NS)

/*
 * LRH 8, BTH 12, ICRC 4, VCRC 2 are around each packet; a RETH has 16, an AETH 4. A switch sends on
 * what is longer than 64 bytes when it has so much, and what is shorter when it has all.
 */
#define PACKET(bytes) ((26 + (bytes)) * BYTE)
#define CUT (64 * BYTE)

/* A command or response alone: it goes with the doorbell. */
#define COMMAND (POST + WAY + CUT + PACKET(64) + RX + PCIE(64))
#define RESPONSE (POST + WAY + 2 * PACKET(16) + RX + PCIE(16))
#define SOFTWARE (2 * WF_US)

/* Each of them takes that long, one after the other; so many go through in a second. */
static void check_one(const char *text, unsigned op, wf_time latency)
{
	struct wf_storage_result *r;
	struct scen s;

	run(&s, text, 1);
	r = result(&s, 0);
	assert_true(s.result->finished);
	assert_int_equal(r->failed + r->open, 0);
	assert_int_equal(r->ios[!op], 0);
	assert_int_equal(r->latency[op].min, latency);
	assert_int_equal(r->latency[op].max, latency);
	assert_int_equal(r->begin, 0);
	assert_int_equal(r->ios[op], WF_MS / latency + 1);
	assert_int_equal(r->end, (WF_MS / latency + 1) * latency);
	/* Depth 1: I/Os a second are one over the latency. */
	assert_int_equal(wf_storage_figures[3].get(r), WF_S / latency);
	scen_fini(&s);
}

/*
 * A read: the command; the drive, which takes 4096 bytes at 8 GB/s; then the data, with the
 * response right behind it. The data's PCIe begins when the last bit is there, and ends after the
 * response has come, whose own follows.
 */
static void test_read_adds_up(void **state)
{
	const wf_time drive = 80 * WF_US + 512 * WF_NS;
	const wf_time data = POST + FETCH + WAY + CUT + PACKET(16 + 4096) + RX + PCIE(4096);

	(void)state;
	check_one(ONE("read: 100%, block: 4KiB"), WF_STORAGE_READ,
	          COMMAND + SOFTWARE + drive + data + PCIE(16));
}

/* A write whose data is in the capsule: of 4160 bytes, which are two packets. */
static void test_small_write_adds_up(void **state)
{
	const wf_time drive = 15 * WF_US + 409600;
	/* The second packet's PCIe waits for the first one's. */
	const wf_time capsule =
		POST + FETCH + WAY + CUT + PACKET(4096) + RX + PCIE(4096) + PCIE(64);

	(void)state;
	check_one(ONE("read: 0, block: 4KiB"), WF_STORAGE_WRITE,
	          capsule + SOFTWARE + drive + RESPONSE);
}

/* A larger one, which the target fetches: an RDMA READ of two packets, each with an AETH. */
static void test_large_write_adds_up(void **state)
{
	const wf_time drive = 15 * WF_US + 819200;
	const wf_time request = POST + WAY + 2 * PACKET(16) + RX;
	const wf_time data = WAY + CUT + 2 * PACKET(4 + 4096) + RX + PCIE(4096) + FETCH;

	(void)state;
	check_one(ONE("read: 0, block: 8KiB"), WF_STORAGE_WRITE,
	          COMMAND + request + data + SOFTWARE + drive + RESPONSE);
}

/*
 * NVMe over Fabrics was made to add no more than 10 us to a local drive's latency (NVM Express,
 * "NVMe over Fabrics Overview"); adapters and target software of weft's profiles are within that.
 */
static void test_overhead_is_what_was_promised(void **state)
{
	static const char *const profiles[] = { "ib-ndr", "roce-400g", "roce-100g" };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(profiles); i++) {
		bool slow = strcmp(profiles[i], "roce-100g") == 0;
		struct wf_storage_result *r;
		char text[512];
		struct scen s;

		snprintf(
			text, sizeof(text),
			"topology: {kind: leaf-spine, hosts: 8, radix: 8, host_rate: %s}\n"
			"fabric: %s\n"
			"storage: [{targets: h7, hosts: h0, read: 100%%, block: 4KiB, depth: 1}]\n",
			slow ? "100Gbps" : "400Gbps", profiles[i]);
		run(&s, text, 1);
		r = result(&s, 0);
		/* The drive by itself: 60 us, and 3.3 million commands a second. */
		assert_in_range(r->latency[WF_STORAGE_READ].max - 60303030, 2 * WF_US, 10 * WF_US);
		assert_int_equal(r->device, r->ios[WF_STORAGE_READ] * UINT64_C(60303030));
		scen_fini(&s);
	}
}

/* ---- many ---- */

/* Little: what is under way is what goes through times how long it takes. */
static void test_little(void **state)
{
	static const char text[] =
		"topology: {kind: leaf-spine, hosts: 16, radix: 16, host_rate: 400Gbps}\n"
		"fabric: roce-400g\n"
		"storage: [{targets: 'h15, h14', hosts: 'h0, h1, h2', block: 16KiB, depth: 8, "
		"queues: 2, duration: 3ms}]\n";
	const double under_way = 3 * 2 * 2 * 8;
	struct wf_storage_result *r;
	double mean, rate;
	struct scen s;

	(void)state;
	run(&s, text, 1);
	r = result(&s, 0);
	assert_int_equal(r->queues, 12);
	rate = (double)(r->ios[0] + r->ios[1]) / (double)(r->end - r->begin);
	mean = (double)(r->latency[0].sum + r->latency[1].sum) / (double)(r->ios[0] + r->ios[1]);
	/* At the end of the time, no new ones take the place of the last. */
	assert_in_range((uint64_t)(1000 * rate * mean / under_way), 950, 1000);
	/* 70 % are reads: of more than 3,000 within 4 standard deviations. */
	assert_true(r->ios[0] + r->ios[1] > 3000);
	assert_in_range(1000 * r->ios[0] / (r->ios[0] + r->ios[1]), 667, 733);
	scen_fini(&s);
}

/* What goes through is what the narrowest lets through. */
static void test_ceilings(void **state)
{
	static const struct {
		const char *drive, *storage;
		unsigned op;
		uint64_t bits; /* a second */
	} rows[] = {
		/* The target's link: 4096 of 4138 bytes of a packet's wire, but for responses. */
		{ "count: 16", "read: 100%, block: 1MiB, depth: 16", WF_STORAGE_READ,
		  UINT64_C(400000000000) / 4122 * 4096 },
		/* Its link again, the other way: what it fetches. */
		{ "count: 16", "read: 0, block: 1MiB, depth: 16", WF_STORAGE_WRITE,
		  UINT64_C(400000000000) / 4122 * 4096 },
		/* One drive that reads 7 GB/s, two that write 4.3 GB/s. */
		{ "count: 1, read_rate: 56Gbps", "read: 100%, block: 128KiB, depth: 8",
		  WF_STORAGE_READ, UINT64_C(56000000000) },
		{ "count: 2, write_rate: 34.4Gbps",
		  "read: 0, kind: sequential, block: 128KiB, depth: 8", WF_STORAGE_WRITE,
		  UINT64_C(68800000000) },
		/* Its commands: 130,000 a second. */
		{ "count: 1, write_iops: 130000", "read: 0, block: 4KiB, depth: 32",
		  WF_STORAGE_WRITE, UINT64_C(130000) * 4096 * 8 },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++) {
		const struct wf_storage_result *r;
		char text[512];
		struct scen s;
		uint64_t bits;

		snprintf(text, sizeof(text),
		         "topology: {kind: single, hosts: 3, host_rate: 400Gbps}\n"
		         "fabric: {profile: ib-ndr, drive: {%s}}\n"
		         "storage: [{targets: h2, duration: 3ms, %s}]\n",
		         rows[i].drive, rows[i].storage);
		run(&s, text, 1);
		r = result(&s, 0);
		bits = wf_storage_figures[rows[i].op == WF_STORAGE_READ ? 4 : 5].get(r);
		if (bits < rows[i].bits * 95 / 100 || bits > rows[i].bits)
			fail_msg("%s: %llu, not %llu bit/s", rows[i].storage,
			         (unsigned long long)bits, (unsigned long long)rows[i].bits);
		scen_fini(&s);
	}
}

/* Every kind, over every link layer: nothing is lost, everything comes, nothing stays. */
static void test_every_kind(void **state)
{
	static const char text[] =
		"topology: {kind: leaf-spine, hosts: 16, radix: 8, host_rate: 400Gbps}\n"
		"fabric:\n"
		"  - ib-ndr\n"
		"  - roce-400g\n"
		"  - {profile: roce-400g, name: lossy, flowctl: none, sender: {timeout: 100us}}\n"
		"  - {profile: roce-400g-spray, name: spray}\n"
		"storage:\n"
		"  - {targets: h15, kind: random, block: 4KiB, depth: 4, duration: 200us}\n"
		"  - {targets: [h15, h14], kind: sequential, block: 64KiB, depth: 4, duration: "
		"200us}\n"
		"  - {targets: [h3, h15], hosts: h12, kind: checkpoint, bytes: 1000001, block: "
		"96KiB}\n"
		"  - {targets: [h0, h1, h2], hosts: 'h4, h5', kind: restore, bytes: 2MB, queues: "
		"2}\n"
		"run: {until: 100ms}\n";
	struct scen s;

	(void)state;
	scen_load(&s, text);
	for (unsigned f = 0; f < s.scenario.n_fabrics; f++) {
		scen_run(&s, s.scenario.fabrics[f].label, 1);
		assert_true(s.result->finished);
		assert_int_equal(s.lossless_drops, 0);
		for (size_t i = 0; i < 4; i++) {
			const struct wf_storage_result *r = result(&s, i);

			assert_int_equal(r->failed + r->open, 0);
			assert_true(r->ios[0] + r->ios[1] > 0);
			assert_int_equal(r->latency[0].n, r->ios[0]);
			assert_int_equal(r->latency[1].n, r->ios[1]);
			if (i == 2) {
				/* Ten blocks, and one that is shorter, over two targets. */
				assert_int_equal(r->bytes[WF_STORAGE_WRITE], 1000001);
				assert_int_equal(r->ios[WF_STORAGE_WRITE], 11);
				assert_int_equal(r->longest, r->end - r->begin);
			}
			if (i == 3) {
				assert_int_equal(r->bytes[WF_STORAGE_READ], 4000000);
				assert_int_equal(r->ios[WF_STORAGE_READ], 2 * 16);
				assert_int_equal(r->ios[WF_STORAGE_WRITE], 0);
			}
		}
	}
	scen_fini(&s);
}

/* READs of a run: what targets fetch. */
static uint64_t fetches(const char *storage)
{
	char text[512];
	struct scen s;
	uint64_t n;

	snprintf(text, sizeof(text),
	         "topology: {kind: single, hosts: 2, host_rate: 400Gbps}\nfabric: roce-400g\n"
	         "storage: [{targets: h1, kind: checkpoint, bytes: 40960, %s}]\n",
	         storage);
	run(&s, text, 1);
	assert_true(s.result->finished);
	assert_int_equal(result(&s, 0)->bytes[WF_STORAGE_WRITE], 40960);
	n = s.result->adapters[WF_CTR_RX_READ_REQUESTS];
	scen_fini(&s);
	return n;
}

/* Data goes in the capsule up to in_capsule, and not a byte beyond; depths at both ends. */
static void test_in_capsule(void **state)
{
	(void)state;
	assert_int_equal(fetches("block: 4096, in_capsule: 4096"), 0);
	assert_int_equal(fetches("block: 4096, in_capsule: 4095"), 10);
	assert_int_equal(fetches("block: 4096, in_capsule: 0"), 10);
	/* Ten of 4095 bytes, and the ten that are left over. */
	assert_int_equal(fetches("block: 4095, in_capsule: 4095"), 0);
	assert_int_equal(fetches("block: 4095, in_capsule: 4094"), 10);
	assert_int_equal(fetches("block: 64KiB, in_capsule: 64KiB"), 0);
	assert_int_equal(fetches("block: 512, in_capsule: 0, depth: 1"), 80);
	assert_int_equal(fetches("block: 512, in_capsule: 0, depth: 1024"), 80);
	assert_int_equal(fetches("block: 512, in_capsule: 0, depth: 16, queues: 128"), 80);
}

/* ---- beside others ---- */

static const char beside[] =
	"topology: {kind: rail, hosts: 16, gpus: 4, host_rate: 400Gbps}\n"
	"fabric: [roce-400g, ib-ndr]\n"
	"job: {kind: all-reduce, algorithm: ring, bytes: 4MB, gpus_per_server: 4, ranks: 12}\n"
	"traffic: [{kind: shift, op: write, size: 200KB}]\n"
	"storage:\n"
	"  - {targets: 'h12, h13', hosts: 'h?', kind: checkpoint, bytes: 1MB, block: 128KiB, "
	"start: "
	"5us}\n"
	"  - {targets: 'h14', kind: random, duration: 50us, block: 8KiB, depth: 4}\n"
	"run: {until: 100ms}\n";

/* A job, traffic and storage come to their ends side by side, the same on any number of threads. */
static void test_same_on_threads(void **state)
{
	struct scen s;

	(void)state;
	scen_load(&s, beside);
	for (unsigned f = 0; f < 2; f++) {
		scen_same(&s, s.scenario.fabrics[f].label);
		assert_true(s.result->finished);
		for (size_t i = 0; i < 2; i++)
			assert_true(result(&s, i)->ios[WF_STORAGE_WRITE] > 0);
	}
	scen_fini(&s);
}

/* Other seeds, other I/Os; the same seed, the same. */
static void test_seeds(void **state)
{
	uint64_t reads[3];
	struct scen s;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		char text[300];

		snprintf(text, sizeof(text),
		         "seed: %u\ntopology: {kind: single, hosts: 3}\nfabric: ib-ndr\n"
		         "storage: [{targets: h2, block: 4KiB, depth: 8}]\n",
		         i == 2 ? 1 : i + 1);
		run(&s, text, 1);
		reads[i] = result(&s, 0)->latency[WF_STORAGE_READ].sum;
		scen_fini(&s);
	}
	assert_int_not_equal(reads[0], reads[1]);
	assert_int_equal(reads[0], reads[2]);
}

/*
 * Acknowledgements in a class that is full come late, after the response and the next command: the
 * places in the send queues are taken until then, at both ends, and commands wait for them.
 */
static void test_late_acknowledgements(void **state)
{
	static const char text[] =
		"topology: {kind: single, hosts: 4, host_rate: 400Gbps}\n"
		"fabric: {profile: roce-400g, classes: {lossless: [3, 4], ecn: [], weights: {3: "
		"50, 4: 50}}, "
		"cc: {algorithm: none}, sender: {ack_class: 4}, drive: {read: 0, write: 0, "
		"software: 0, count: 64}}\n"
		"traffic:\n"
		"  - {kind: incast, fanin: 2, target: 2, op: write, class: 4, size: 10MB}\n"
		"  - {kind: incast, fanin: 2, target: 1, op: write, class: 4, size: 10MB}\n"
		"storage:\n"
		"  - {targets: h2, hosts: h1, read: 100%, block: 4KiB, depth: 1, duration: 300us}\n"
		"  - {targets: h2, hosts: h1, read: 50%, block: 8KiB, depth: 2, duration: 300us}\n"
		"run: {until: 10ms}\n";
	const struct wf_storage_result *r;
	struct scen s;

	(void)state;
	run(&s, text, 1);
	assert_true(s.result->finished);
	for (size_t i = 0; i < 2; i++) {
		r = result(&s, i);
		assert_int_equal(r->failed + r->open, 0);
		assert_true(r->ios[WF_STORAGE_READ] > 0);
		/* It waits for an acknowledgement behind 10 MB, or a part of them. */
		assert_true(r->latency[WF_STORAGE_READ].max > 20 * WF_US);
	}
	scen_fini(&s);
}

/* ---- what goes wrong ---- */

/*
 * A link that fails for good: what is under way on queues over it has failed, whichever end
 * notices, and the run ends when all others are done. After 7 retries of 20 us or more a queue pair
 * gives up.
 */
static void test_link_fails(void **state)
{
	static const struct {
		const char *link, *storage;
	} rows[] = {
		{ "h2", "read: 100%" },                     /* the target's: responses are lost */
		{ "h0", "read: 0, block: 1MiB, depth: 2" }, /* what it fetches is */
		{ "h2", "read: 0, block: 4KiB" },           /* commands are */
		{ "h0", "read: 100%, block: 1MiB, depth: 1" }, /* the host only waits */
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++) {
		const struct wf_storage_result *r;
		char text[600];
		struct scen s;

		snprintf(text, sizeof(text),
		         "topology: {kind: single, hosts: 4, host_rate: 400Gbps}\n"
		         "fabric: {profile: roce-400g, sender: {timeout: 20us}}\n"
		         "storage:\n"
		         "  - {targets: [h2], hosts: [h0, h1], duration: 1ms, %s}\n"
		         "  - {targets: [h3], hosts: [h1], duration: 1ms}\n"
		         "faults: [{on: %s, at: 300us, fault: down}]\n"
		         "run: {until: 1s}\n",
		         rows[i].storage, rows[i].link);
		run(&s, text, 1);
		assert_true(s.result->finished);
		assert_true(s.result->end < 10 * WF_MS);
		r = result(&s, 0);
		assert_int_equal(r->open, 0);
		assert_true(r->failed > 0);
		assert_true(r->ios[0] + r->ios[1] > 0);
		/* h1 has another target, and if that is the one that is cut off, a way to it. */
		r = result(&s, 1);
		assert_int_equal(r->failed + r->open, 0);
		assert_true(r->end > WF_MS);
		scen_fini(&s);
	}
}

/* One that comes back in time costs no I/O; what was lost is sent again. */
static void test_link_comes_back(void **state)
{
	static const char text[] =
		"topology: {kind: single, hosts: 3, host_rate: 400Gbps}\n"
		"fabric: {profile: roce-400g, sender: {timeout: 20us}}\n"
		"storage: [{targets: h2, kind: checkpoint, bytes: 10MB, block: 128KiB}]\n"
		"faults: [{on: h2, at: 100us, until: 150us, fault: down}]\n"
		"run: {until: 1s}\n";
	const struct wf_storage_result *r;
	struct scen s;

	(void)state;
	run(&s, text, 1);
	r = result(&s, 0);
	assert_true(s.result->finished);
	assert_int_equal(r->failed + r->open, 0);
	assert_int_equal(r->bytes[WF_STORAGE_WRITE], 20000000);
	assert_true(s.total.drops_down > 0);
	assert_true(s.result->resent > 0);
	scen_fini(&s);
}

/* A run that ends before: what is under way is open, and the checkpoint has no time. */
static void test_cut_off(void **state)
{
	static const char text[] =
		"topology: {kind: single, hosts: 2, host_rate: 400Gbps}\nfabric: ib-ndr\n"
		"storage: [{targets: h1, kind: checkpoint, bytes: 1GB, depth: 8}]\n"
		"run: {until: 1ms}\n";
	const struct wf_storage_result *r;
	struct scen s;

	(void)state;
	run(&s, text, 1);
	r = result(&s, 0);
	assert_false(s.result->finished);
	assert_int_equal(r->open, 8);
	assert_int_equal(r->failed, 0);
	assert_int_equal(r->longest, 0);
	/* As much as has been done of all: 1 ms at about 40 GB/s of 1 GB. */
	assert_in_range(wf_sim_share(s.sim), WF_SIM_ALL / 100, WF_SIM_ALL / 20);
	scen_fini(&s);
}

/* A drive that grows slow, and a target that has other drives than the others. */
static void test_drives_differ(void **state)
{
	static const char text[] =
		"topology: {kind: single, hosts: 6, host_rate: 400Gbps}\nfabric: ib-ndr\n"
		"storage:\n"
		"  - {targets: h1, hosts: h4, read: 100%, block: 4KiB, depth: 1}\n"
		"  - {targets: h2, hosts: h5, read: 100%, block: 4KiB, depth: 1}\n"
		"  - {targets: h3, hosts: h0, read: 100%, block: 4KiB, depth: 1}\n"
		"devices: {h2: {drive: {read: 10us}}}\n"
		"faults: [{on: h3, at: 500us, set: {drive: {read: 200us}}}]\n";
	uint64_t usual;
	struct scen s;

	(void)state;
	run(&s, text, 1);
	usual = result(&s, 0)->latency[WF_STORAGE_READ].max;
	assert_int_equal(result(&s, 0)->latency[WF_STORAGE_READ].min, usual);
	assert_int_equal(result(&s, 1)->latency[WF_STORAGE_READ].max, usual - 50 * WF_US);
	assert_int_equal(result(&s, 2)->latency[WF_STORAGE_READ].min, usual);
	assert_int_equal(result(&s, 2)->latency[WF_STORAGE_READ].max, usual + 140 * WF_US);
	scen_fini(&s);
}

/* A checkpoint in the job's class holds its steps up; in a class of its own with its share less. */
static void test_classes(void **state)
{
	static const char *const classes[] = { "3", "4" };
	uint64_t paused[2];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char text[900];
		struct scen s;

		snprintf(text, sizeof(text),
		         "topology: {kind: leaf-spine, hosts: 16, radix: 16, host_rate: 400Gbps}\n"
		         "fabric: {profile: roce-400g, classes: {lossless: [3, 4], ecn: [], "
		         "weights: "
		         "{0: 1, 3: 80, 4: 20}}, cc: {algorithm: none}, buffer: {size: 16MB}}\n"
		         "traffic: [{kind: shift, distance: 4, op: write, size: 4MB}]\n"
		         "storage: [{targets: h15, hosts: 'h0,h1,h2,h3,h4,h5,h6,h7', kind: "
		         "checkpoint, bytes: 4MB, block: 1MB, class: %s}]\n",
		         classes[i]);
		run(&s, text, 1);
		assert_true(s.result->finished);
		assert_int_equal(s.lossless_drops, 0);
		paused[i] = (uint64_t)s.result->flow_time.max;
		assert_true((scen_queue(&s, 4).tx_packets > 0) == (i == 1));
		scen_fini(&s);
	}
	/* The incast's pauses stop the flows that share its class. */
	assert_true(paused[0] > paused[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_adds_up),
		cmocka_unit_test(test_small_write_adds_up),
		cmocka_unit_test(test_large_write_adds_up),
		cmocka_unit_test(test_overhead_is_what_was_promised),
		cmocka_unit_test(test_little),
		cmocka_unit_test(test_ceilings),
		cmocka_unit_test(test_every_kind),
		cmocka_unit_test(test_in_capsule),
		cmocka_unit_test(test_same_on_threads),
		cmocka_unit_test(test_seeds),
		cmocka_unit_test(test_late_acknowledgements),
		cmocka_unit_test(test_link_fails),
		cmocka_unit_test(test_link_comes_back),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_drives_differ),
		cmocka_unit_test(test_classes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
