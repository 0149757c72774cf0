/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of job/pb.c, job/chakra.c and job/read_chakra.c, on traces written here byte by byte.
 */
#include "job/plan_dump.h"
#include "job/read.h"

#define RANKS 4
#define LANE_COLL 2 /* of all ranks; behind it those of groups */
#define LANE_P2P 10

/* A message while it is written. */
struct out {
	uint8_t bytes[4000];
	size_t len;
};

static void put_varint(struct out *o, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		o->bytes[o->len++] = (uint8_t)(value | 0x80);
	o->bytes[o->len++] = (uint8_t)value;
}

static void put_number(struct out *o, unsigned field, uint64_t value)
{
	put_varint(o, field << 3);
	put_varint(o, value);
}

static void put_bytes(struct out *o, unsigned field, const void *bytes, size_t len)
{
	put_varint(o, field << 3 | 2);
	put_varint(o, len);
	memcpy(o->bytes + o->len, bytes, len);
	o->len += len;
}

/* A message with its length before it. */
static void put_message(struct out *o, const struct out *message)
{
	put_varint(o, message->len);
	memcpy(o->bytes + o->len, message->bytes, message->len);
	o->len += message->len;
}

static void begin(struct out *file)
{
	struct out meta = { .len = 0 };

	file->len = 0;
	put_bytes(&meta, 1, "0.0.4", 5);
	put_message(file, &meta);
}

static struct out node(uint64_t id, unsigned type, uint64_t micros)
{
	struct out o = { .len = 0 };

	put_number(&o, 1, id);
	put_bytes(&o, 2, "name", 4);
	put_number(&o, 3, type);
	if (micros != 0)
		put_number(&o, 7, micros);
	return o;
}

/*
 * An attribute whose value is the field of that number: 29 a text, 28 two booleans, else a number.
 */
static void attr(struct out *o, const char *name, unsigned field, uint64_t value, const char *text)
{
	struct out a = { .len = 0 }, list = { .len = 0 };

	put_bytes(&a, 1, name, strlen(name));
	put_bytes(&a, 2, "doc", 3);
	if (field == 29) {
		put_bytes(&a, 29, text, strlen(text));
	} else if (field == 28) {
		uint8_t both[2] = { 1, (uint8_t)value };

		put_bytes(&list, 1, both, 2);
		put_bytes(&a, 28, list.bytes, list.len);
	} else {
		put_number(&a, field, value);
	}
	put_bytes(o, 10, a.bytes, a.len);
}

/* Dependencies, packed. */
static void deps(struct out *o, unsigned field, const uint64_t *ids, size_t n)
{
	struct out list = { .len = 0 };

	for (size_t i = 0; i < n; i++)
		put_varint(&list, ids[i]);
	put_bytes(o, field, list.bytes, list.len);
}

static void dep(struct out *o, uint64_t id)
{
	deps(o, 4, &id, 1);
}

static const uint32_t pair[] = { 1, 3 };
static const struct wf_read_group groups[] = { { "pair", pair, 2 } };

static int read_files(const struct out *files, struct wf_plan **plan_p, struct wf_err *err)
{
	static const struct wf_gpu_cfg gpu = { .tflops = 1000,
		                               .efficiency = WF_RATIO_ONE,
		                               .memory = 1000000000000 };
	struct wf_read_file in[RANKS];
	struct wf_chakra_cfg cfg = { .cluster = { .n_ranks = RANKS, .gpus = 2, .nics = 2 },
		                     .files = in,
		                     .groups = groups,
		                     .n_groups = 1,
		                     .gpu = &gpu };

	for (unsigned r = 0; r < RANKS; r++)
		in[r] = (struct wf_read_file){ files[r].bytes, files[r].len, "t.et" };
	memset(err, 0, sizeof(*err));
	*plan_p = NULL;
	return wf_read_chakra(&cfg, wf_mem_heap(), plan_p, err);
}

static struct wf_plan *read_good(const struct out *files)
{
	struct wf_plan *plan;
	struct wf_err err;

	if (read_files(files, &plan, &err) != 0)
		fail_msg("%s", err.text);
	return plan;
}

/* Every rank: compute, all-reduce; ranks 1 and 3 an all-gather among themselves. */
static void test_collectives(void **state)
{
	struct out files[RANKS];
	struct wf_plan *plan;

	(void)state;
	for (unsigned r = 0; r < RANKS; r++) {
		struct out n;

		begin(&files[r]);
		n = node(7, 7, 0); /* before what it waits for */
		attr(&n, "comm_type", 9, 0, NULL);
		attr(&n, "comm_size", 9, 1048576, NULL);
		attr(&n, "involved_dim", 28, 1, NULL);
		dep(&n, 3);
		put_message(&files[r], &n);
		n = node(3, 4, 250);
		attr(&n, "is_cpu_op", 27, 0, NULL);
		attr(&n, "num_ops", 9, 999, NULL);
		put_message(&files[r], &n);
		if (r % 2 == 1) {
			n = node(8, 7, 0);
			attr(&n, "comm_type", 7, 2, NULL);
			attr(&n, "comm_size", 13, 100, NULL);
			attr(&n, "pg_name", 29, 0, "pair");
			dep(&n, 7);
			put_message(&files[r], &n);
		}
		n = node(9, 7, 0);
		attr(&n, "comm_type", 11, 5, NULL);
		attr(&n, "comm_size", 17, 14, NULL); /* zigzag: 7 */
		attr(&n, "root", 7, 2, NULL);
		put_message(&files[r], &n);
	}
	plan = read_good(files);
	assert_lane(plan, 0, 0, "calc 250000; ");
	assert_lane(plan, 0, LANE_COLL,
	            "all-reduce 1048576 of 0+1*4 after 0:0; broadcast 7 of 0+1*4 root 2; ");
	assert_lane(plan, 0, LANE_COLL + 1, "");
	/* Chakra's size of an all-gather is what each rank gives. */
	assert_lane(plan, 3, LANE_COLL + 1, "all-gather 200 of 1,3 after 2:0; ");
	plan->ops->destroy(plan);
}

/* Both sides send first: each rank's sends have a lane of their own. */
static void test_messages(void **state)
{
	struct out files[RANKS];
	struct wf_plan *plan;

	(void)state;
	for (unsigned r = 0; r < RANKS; r++) {
		begin(&files[r]);
		for (unsigned k = 0; r < 2 && k < 2; k++) {
			struct out n = node(k, k == 0 ? 5 : 6, 0);

			attr(&n, k == 0 ? "comm_dst" : "comm_src", 7, 1 - r, NULL);
			attr(&n, "comm_size", 9, 4096 + (k == 0 ? r : 1 - r), NULL);
			attr(&n, "comm_tag", 7, 9, NULL);
			if (k == 1)
				dep(&n, 0); /* which does not keep the receive from being there */
			put_message(&files[r], &n);
		}
	}
	{
		struct out n = node(5, 4, 3);

		dep(&n, 1);
		put_message(&files[0], &n);
	}
	plan = read_good(files);
	assert_lane(plan, 0, 0, "calc 3000 after 10:0 11:0; ");
	assert_lane(plan, 0, LANE_P2P, "send 4096 to 1 tag 9; ");
	assert_lane(plan, 0, LANE_P2P + 1, "recv 4097 from 1 tag 9; ");
	assert_lane(plan, 1, LANE_P2P, "recv 4096 from 0 tag 9; ");
	assert_lane(plan, 1, LANE_P2P + 1, "send 4097 to 0 tag 9; ");
	plan->ops->destroy(plan);
}

/*
 * What takes no time passes on what it waits for; operations become time; the CPU has its own lane.
 */
static void test_work(void **state)
{
	static const uint64_t all[] = { 1, 2, 3 };
	struct out files[RANKS], n;
	struct wf_plan *plan;

	(void)state;
	for (unsigned r = 0; r < RANKS; r++)
		begin(&files[r]);
	n = node(1, 4, 0);
	attr(&n, "num_ops", 9, 5000000, NULL);  /* 1000 a ps: 5 ns */
	attr(&n, "tensor_size", 9, 3000, NULL); /* 1 byte a ps: 3 ns */
	put_message(&files[0], &n);
	n = node(2, 4, 2);
	attr(&n, "is_cpu_op", 27, 1, NULL);
	put_message(&files[0], &n);
	n = node(3, 2, 1); /* a load from memory */
	put_message(&files[0], &n);
	n = node(4, 1, 0); /* metadata */
	deps(&n, 5, all, 3);
	put_message(&files[0], &n);
	n = node(5, 4, 1);
	put_number(&n, 5, 4); /* not packed */
	put_message(&files[0], &n);
	plan = read_good(files);
	assert_lane(plan, 0, 0, "calc 5; calc 1000 after 1:1; ");
	assert_lane(plan, 0, 1, "wait 2000; wait 1000; ");
	plan->ops->destroy(plan);
}

/* Makes rank 1's file (others have only metadata) and sees what is said. */
static void check_bad(const struct out *nodes, size_t n, const char *want)
{
	struct out files[RANKS];
	struct wf_plan *plan;
	struct wf_err err;

	for (unsigned r = 0; r < RANKS; r++)
		begin(&files[r]);
	for (size_t i = 0; i < n; i++)
		put_message(&files[1], &nodes[i]);
	assert_int_equal(read_files(files, &plan, &err), -22);
	if (strstr(err.text, want) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", err.text, want);
}

static void test_bad_nodes(void **state)
{
	struct out n[2];

	(void)state;
	n[0] = node(1, 11, 0);
	check_bad(n, 1, "t.et: byte 17: a node has the type 11; 0 to 10 are known");
	n[0] = node(1, 7, 0);
	check_bad(n, 1, "t.et: byte 9: node 1 is a collective without comm_type");
	attr(&n[0], "comm_type", 9, 1, NULL);
	check_bad(n, 1, "of a kind (comm_type) that is not supported");
	n[0] = node(1, 7, 0);
	attr(&n[0], "comm_type", 9, 0, NULL);
	attr(&n[0], "comm_size", 9, 8, NULL);
	check_bad(n, 1, "rank 1 has other collectives of all ranks than rank 0");
	n[1] = n[0];
	attr(&n[1], "involved_dim", 28, 0, NULL);
	check_bad(&n[1], 1, "leaves dimensions out with involved_dim");
	n[1] = n[0];
	attr(&n[1], "comm_group", 29, 0, "other");
	check_bad(&n[1], 1, "is for a group that is not in the list of groups");
	n[1] = n[0];
	attr(&n[1], "comm_group", 29, 0, "pair");
	check_bad(&n[1], 1, "rank 3 has other collectives of group pair than rank 1");
	attr(&n[0], "comm_size", 9, UINT64_MAX, NULL);
	check_bad(n, 1, "the attribute comm_size is negative");
	n[0] = node(1, 7, 0);
	attr(&n[0], "comm_size", 29, 0, "8");
	check_bad(n, 1, "the attribute comm_size has no whole number");
	n[0] = node(1, 5, 0);
	check_bad(n, 1, "node 1 sends but has no comm_dst");
	attr(&n[0], "comm_dst", 7, 1, NULL);
	check_bad(n, 1, "with a rank that is not there, or with its own");
	n[0] = node(1, 5, 0);
	attr(&n[0], "comm_dst", 7, 2, NULL);
	check_bad(n, 1, "without comm_size");
	attr(&n[0], "comm_size", 7, 2, NULL);
	check_bad(n, 1, "rank 1 sends to rank 2 with tag 0 1 times more than that receives");
	n[0] = node(1, 4, 1);
	dep(&n[0], 2);
	check_bad(n, 1, "node 1 waits for a node that is not in the file");
	n[1] = node(2, 4, 1);
	dep(&n[1], 1);
	check_bad(n, 2, "waits for one that waits for it");
	n[1] = node(1, 4, 1);
	n[0] = n[1];
	check_bad(n, 2, "node 1 is there a second time");
	n[0] = node(1, 4, UINT64_MAX);
	check_bad(n, 1, "lasts over 11 days");
}

/* Every file that is cut off is an error, or a shorter trace; never more. */
static void test_cut_off(void **state)
{
	struct out files[RANKS], n = node(1, 4, 5);
	struct wf_plan *plan;
	struct wf_err err;
	size_t whole, good = 0;

	(void)state;
	for (unsigned r = 0; r < RANKS; r++)
		begin(&files[r]);
	attr(&n, "num_ops", 9, 5, NULL);
	put_message(&files[2], &n);
	whole = files[2].len;
	for (size_t len = 0; len < whole; len++) {
		files[2].len = len;
		if (read_files(files, &plan, &err) == 0) {
			good++;
			plan->ops->destroy(plan);
		} else {
			assert_non_null(strstr(err.text, "t.et: byte "));
		}
	}
	assert_int_equal(good, 1); /* the metadata alone */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_collectives), cmocka_unit_test(test_messages),
		cmocka_unit_test(test_work),        cmocka_unit_test(test_bad_nodes),
		cmocka_unit_test(test_cut_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
