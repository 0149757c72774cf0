/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of tcp/stack.c, cores.c and txq.c: what things cost, on which core, and what waits
 * for what; and that whatever memory runs out, it is said so.
 */
#include "check.h"

#include <string.h>

#include "mem_fail.h"
#include "tcp/stack_priv.h"

#define MSS 8948 /* of an IP packet of 9000 bytes */

struct side {
	struct wf_tcp_stack *stack;
	struct wf_tcp_sock *sock[4];
	uint64_t came, written, acked;
	wf_time last;
};

/* Two hosts, one each way of a line without limits. */
struct two {
	struct wf_tcp_stack_cfg cfg;
	struct side side[2];
	wf_time now, delay;
	struct {
		wf_time at;
		struct wf_packet pkt;
	} line[2][8192];
	unsigned first[2], last[2];
};

static void on_came(void *arg, struct wf_tcp_sock *sock, uint64_t bytes, wf_time now)
{
	struct side *s = arg;

	(void)sock;
	s->came = bytes;
	s->last = now;
}

static void on_written(void *arg, struct wf_tcp_sock *sock, uint64_t bytes, wf_time now)
{
	(void)sock;
	(void)now;
	((struct side *)arg)->written = bytes;
}

static void on_acked(void *arg, struct wf_tcp_sock *sock, uint64_t bytes, wf_time now)
{
	(void)sock;
	(void)now;
	((struct side *)arg)->acked = bytes;
}

static const struct wf_tcp_user user = {
	.came = on_came,
	.written = on_written,
	.acked = on_acked,
};

static void defaults(struct wf_tcp_stack_cfg *cfg)
{
	*cfg = (struct wf_tcp_stack_cfg){
		.conn = { .cc = &wf_tcp_cubic,
		          .encap = WF_ENCAP_ROCE2_IPV4,
		          .mss = MSS,
		          .init_window = 10,
		          .rmem = 6 << 20,
		          .burst = 65536,
		          .rto_min = 200 * WF_MS,
		          .delack = 40 * WF_MS,
		          .timestamps = true },
		.cost = { .syscall = 500 * WF_NS,
		          .wakeup = 1500 * WF_NS,
		          .tx_burst = 1500 * WF_NS,
		          .tx_packet = 50 * WF_NS,
		          .rx_packet = 450 * WF_NS,
		          .rx_burst = 2 * WF_US,
		          .ack = 600 * WF_NS,
		          .copy_tx = wf_rate_per_byte(UINT64_C(220000000000)),
		          .copy_rx = wf_rate_per_byte(UINT64_C(86000000000)) },
		.cores = 1,
		.ring = 1024,
		.interrupt = 8 * WF_US,
		.wmem = 4 << 20,
		.small_queue = 1 << 20,
		.chunk = 128 << 10,
	};
}

static int open_two(struct two *t, unsigned n, struct wf_mem *mem)
{
	for (unsigned i = 0; i < n; i++) {
		struct wf_tcp_conn_attr a = { .host = 0,
			                      .peer = 1,
			                      .peer_number = i,
			                      .client_port = (uint16_t)(50000 + i),
			                      .server_port = 5001,
			                      .isn = 1,
			                      .peer_isn = 2,
			                      .peer_window = 6 << 20 };

		for (unsigned k = 0; k < 2; k++) {
			int ret = 0;

			a.host = k;
			a.peer = 1 - k;
			a.back = k == 1;
			a.isn = 1 + k;
			a.peer_isn = 2 - k;
			if (t->side[k].stack == NULL)
				ret = wf_tcp_stack_create(&t->cfg, mem, &t->side[k].stack);
			if (ret == 0)
				ret = wf_tcp_open(t->side[k].stack, &a, &user, &t->side[k],
				                  &t->side[k].sock[i]);
			if (ret != 0)
				return ret;
		}
	}
	return 0;
}

static void close_two(struct two *t)
{
	for (unsigned k = 0; k < 2; k++)
		wf_tcp_stack_destroy(t->side[k].stack);
	free(t);
}

static struct two *two(void)
{
	struct two *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	defaults(&t->cfg);
	t->delay = 2 * WF_US;
	return t;
}

static void take_all(struct two *t, unsigned k)
{
	struct wf_packet pkt;

	while (wf_tcp_stack_tx(t->side[k].stack, 0, t->now, &pkt)) {
		unsigned at = t->last[k]++ % 8192;

		assert_true(t->last[k] - t->first[k] <= 8192);
		t->line[k][at].at = t->now + t->delay;
		t->line[k][at].pkt = pkt;
	}
}

static void run(struct two *t, wf_time until)
{
	for (;;) {
		wf_time next = WF_TIME_NEVER;

		for (unsigned k = 0; k < 2; k++) {
			const struct wf_tcp_stack *s = t->side[k].stack;

			if (t->first[k] != t->last[k])
				next = wf_min_time(next, t->line[k][t->first[k] % 8192].at);
			next = wf_min_time(next, wf_tcp_stack_deadline(s));
			next = wf_min_time(next, wf_max_time(wf_tcp_stack_tx_time(s, 0), t->now));
		}
		if (next > until || next == WF_TIME_NEVER)
			return;
		t->now = next;
		for (unsigned k = 0; k < 2; k++) {
			while (t->first[k] != t->last[k] &&
			       t->line[k][t->first[k] % 8192].at <= t->now)
				wf_tcp_stack_rx(t->side[1 - k].stack,
				                &t->line[k][t->first[k]++ % 8192].pkt, t->now);
			wf_tcp_stack_tick(t->side[k].stack, t->now);
			take_all(t, k);
		}
	}
}

/*
 * One message of one segment, by hand: system call and copy; the burst; the line; interrupt,
 * packet, TCP; wake-up, system call and copy.
 */
static void test_one_message(void **state)
{
	struct two *t = two();
	const struct wf_tcp_costs *c = &t->cfg.cost;
	wf_time sent, read;

	(void)state;
	assert_int_equal(open_two(t, 1, wf_mem_heap()), 0);
	wf_tcp_send(t->side[0].sock[0], 1000, 0);
	run(t, WF_S);
	sent = c->syscall + wf_rate_time(c->copy_tx, 1000) + c->tx_burst + c->tx_packet;
	/* Its acknowledgement goes while it is taken in, and is charged with the reading. */
	read = sent + t->delay + t->cfg.interrupt + c->rx_packet + c->rx_burst + c->ack +
	       c->wakeup + c->syscall + wf_rate_time(c->copy_rx, 1000);
	assert_int_equal(t->side[1].came, 1000);
	assert_int_equal(t->side[1].last, read);
	assert_int_equal(t->side[0].written, 1000);
	assert_int_equal(t->side[0].acked, 1000);
	close_two(t);
}

/* Who lends its memory has nothing copied; a digest takes both ends its time. The same by hand. */
static void test_lent_and_digested(void **state)
{
	struct two *t = two();
	const struct wf_tcp_costs *c = &t->cfg.cost;
	wf_time sent, digest;

	(void)state;
	t->cfg.cost.digest = wf_rate_per_byte(UINT64_C(100000000000));
	digest = wf_rate_time(t->cfg.cost.digest, 1000);
	assert_int_equal(digest, 80 * WF_NS);
	assert_int_equal(open_two(t, 1, wf_mem_heap()), 0);
	wf_tcp_sock_set(t->side[0].sock[0], true, true);
	wf_tcp_sock_set(t->side[1].sock[0], true, true);
	wf_tcp_send(t->side[0].sock[0], 1000, 0);
	run(t, WF_S);
	sent = c->syscall + digest + c->tx_burst + c->tx_packet;
	assert_int_equal(t->side[1].came, 1000);
	assert_int_equal(t->side[1].last, sent + t->delay + t->cfg.interrupt + c->rx_packet +
	                                          c->rx_burst + c->ack + c->wakeup + c->syscall +
	                                          wf_rate_time(c->copy_rx, 1000) + digest);
	close_two(t);
}

/*
 * Bytes/s that arrive over flows connections to a host with so many cores, from one with so many.
 */
static double throughput(unsigned flows, uint32_t senders_cores, uint32_t cores, double *tx_load,
                         double *rx_load)
{
	struct two *t = two();
	uint64_t most, bytes = 200 << 20, got = 0;
	double rate;

	t->cfg.cores = senders_cores;
	assert_int_equal(wf_tcp_stack_create(&t->cfg, wf_mem_heap(), &t->side[0].stack), 0);
	t->cfg.cores = cores;
	assert_int_equal(wf_tcp_stack_create(&t->cfg, wf_mem_heap(), &t->side[1].stack), 0);
	assert_int_equal(open_two(t, flows, wf_mem_heap()), 0);
	for (unsigned i = 0; i < flows; i++)
		wf_tcp_send(t->side[0].sock[i], bytes, 0);
	run(t, 20 * WF_MS);
	for (unsigned i = 0; i < flows; i++)
		got += t->side[1].sock[i]->bytes_read;
	*tx_load = (double)wf_tcp_stack_busy(t->side[0].stack, &most) / (double)t->now;
	*rx_load = (double)wf_tcp_stack_busy(t->side[1].stack, &most) / (double)t->now;
	assert_true(most <= (uint64_t)t->now + (uint64_t)WF_MS);
	rate = (double)got * 8 / ((double)t->now / 1e12) / 1e9;
	close_two(t);
	return rate;
}

/*
 * Cai et al., SIGCOMM 2021: with TSO, GRO, packets of 9000 bytes and aRFS one connection gets about
 * 42 Gb/s, for which the receiver's core is busy all the time and the sender's about half of it.
 */
static void test_one_core(void **state)
{
	double tx, rx, rate = throughput(1, 1, 1, &tx, &rx);

	(void)state;
	if (rate < 40 || rate > 44)
		fail_msg("%g Gb/s", rate);
	assert_true(rx > 0.97);
	assert_true(tx > 0.4 && tx < 0.6);
}

/*
 * Cores work side by side; and one that sends for several receives what it can send: up to 89
 * Gb/s.
 */
static void test_more_cores(void **state)
{
	double tx, rx, one = throughput(1, 1, 1, &tx, &rx);
	double rate = throughput(4, 4, 4, &tx, &rx);

	(void)state;
	if (rate < 3.9 * one || rate > 4.1 * one)
		fail_msg("%g Gb/s on four cores, %g on one", rate, one);
	rate = throughput(4, 1, 4, &tx, &rx);
	if (rate < 83 || rate > 95)
		fail_msg("%g Gb/s sent by one core", rate);
	assert_true(tx > 0.97);
}

/* A core that is too slow: packets find no descriptor, and the connection goes on all the same. */
static void test_ring(void **state)
{
	struct two *t = two();

	(void)state;
	t->cfg.ring = 16;
	t->cfg.cost.rx_packet = 20 * WF_US;
	t->cfg.conn.rto_min = WF_MS;
	assert_int_equal(open_two(t, 2, wf_mem_heap()), 0);
	for (unsigned i = 0; i < 2; i++)
		wf_tcp_send(t->side[0].sock[i], 2000000, 0);
	run(t, 10 * WF_S);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(t->side[1].sock[i]->bytes_read, 2000000);
	assert_true(wf_tcp_stack_counter(t->side[1].stack, WF_TCP_CTR_RING_DROPS) > 0);
	close_two(t);
}

/* No more is in the adapter than TCP small queues allow, and a class that is held stays there. */
static void test_queue(void **state)
{
	struct two *t = two();
	struct wf_packet pkt;

	(void)state;
	t->cfg.small_queue = 65536;
	t->cfg.conn.init_window = 1000;
	assert_int_equal(open_two(t, 1, wf_mem_heap()), 0);
	wf_tcp_send(t->side[0].sock[0], 10 << 20, 0);
	for (t->now = 0; t->now < WF_MS; t->now += WF_US)
		wf_tcp_stack_tick(t->side[0].stack, t->now);
	assert_true(t->side[0].sock[0]->in_adapter <= 2 * 65536);
	assert_int_equal(wf_tcp_stack_classes(t->side[0].stack), 1);
	assert_true(wf_tcp_stack_tx_time(t->side[0].stack, 1) == WF_TIME_NEVER);
	assert_false(wf_tcp_stack_tx(t->side[0].stack, 1, t->now, &pkt));
	assert_true(wf_tcp_stack_tx(t->side[0].stack, 0, t->now, &pkt));
	assert_int_equal(pkt.length, MSS);
	run(t, WF_S);
	assert_int_equal(t->side[1].came, 10 << 20);
	close_two(t);
}

/* Every allocation fails in turn: creation says so, or the stack does. */
static void test_no_memory(void **state)
{
	unsigned failed = 0;

	(void)state;
	for (unsigned n = 1; n < 200; n++) {
		struct mem_fail mem = mem_fail_after(n);
		struct two *t = two();
		int ret;

		ret = open_two(t, 2, &mem.mem);
		if (ret == 0) {
			wf_tcp_send(t->side[0].sock[0], 3000000, 0);
			run(t, WF_S);
		}
		if (ret == 0 && !wf_tcp_stack_failed(t->side[0].stack) &&
		    !wf_tcp_stack_failed(t->side[1].stack)) {
			assert_int_equal(t->side[1].came, 3000000);
			close_two(t);
			assert_int_equal(mem.held, 0);
			break;
		}
		failed++;
		close_two(t);
		assert_int_equal(mem.held, 0);
	}
	assert_true(failed > 10 && failed < 190);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_message), cmocka_unit_test(test_lent_and_digested),
		cmocka_unit_test(test_one_core),    cmocka_unit_test(test_more_cores),
		cmocka_unit_test(test_ring),        cmocka_unit_test(test_queue),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
