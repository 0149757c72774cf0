/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of tcp/conn.c, ack.c, recv.c, timer.c and scoreboard.c: a connection does what Linux
 * does.
 *
 * What Linux does was recorded here with Linux 6.18 between two network namespaces joined by veth
 * devices without offloads and by a program that delays each frame by 10 ms and drops those that
 * a test names (MSS 1448, CUBIC, a write of 60,000 or 14,480 bytes on a fresh connection):
 *
 *	nothing lost   10 segments before the first acknowledgement; the first 16 are acknowledged
 *	               one by one, later ones up to several at once
 *	5th of 41      SACK; it is sent again once, a round trip after the others; no timeout
 *	10th of 10     a probe, which is the lost segment, after two round trips and a little more;
 *	               no timeout
 *	10th, probe    the probe, when the timeout would be, 236 ms after the last acknowledgement,
 *	               since one segment is out; the timeout 232 ms later (SRTT 30 ms there);
 *	               2 segments sent again
 *	all, probe     the probe after two round trips, a timeout 232 ms later, 11 segments sent
 *	               again, the first alone, then two and more for each acknowledgement
 *	one segment    (and the program reads) acknowledged when it is read, not after 40 ms
 */
#include "tcp/line.h"

#define MSS 1448

static struct wf_tcp_conn_state state_of(const struct wf_tcp_conn *c)
{
	struct wf_tcp_conn_state s;

	wf_tcp_conn_state(c, &s);
	return s;
}

static void check_done(const struct line *l, unsigned flow)
{
	struct wf_tcp_conn_state s = state_of(l->tx[flow]);

	assert_int_equal(s.una, wf_tcp_conn_written(l->tx[flow]));
	assert_int_equal(s.out + s.sacked + s.lost + s.resent, 0);
	assert_int_equal(state_of(l->rx[flow]).rcv_nxt, s.una);
	assert_int_equal(state_of(l->rx[flow]).early, 0);
}

/*
 * Round by round: 10, 20, 40, 80 segments, doubled as RFC 5681 has it, with 20 ms from one to the
 * next.
 */
static void test_slow_start(void **state)
{
	struct wf_tcp_conn_cfg cfg;
	struct line l;

	(void)state;
	line_defaults(&cfg, "cubic");
	line_init(&l, 1, &cfg);
	line_send(&l, 0, 300 * MSS);
	line_run(&l, WF_S);
	for (unsigned round = 0, n = 10; round < 4; round++, n *= 2)
		assert_int_equal(line_sent(&l, false, round * 20 * WF_MS, (round + 1) * 20 * WF_MS),
		                 n);
	check_done(&l, 0);
	assert_int_equal(l.count[0][WF_TCP_CTR_RETRANS_SEGS], 0);
	line_fini(&l);
}

static void test_acks(void **state)
{
	struct wf_tcp_conn_cfg cfg;
	struct line l;
	unsigned at = 0, acked = 0;

	(void)state;
	line_defaults(&cfg, "cubic");
	line_init(&l, 1, &cfg);
	l.reads = false; /* a program that reads has more said */
	line_send(&l, 0, 60 * MSS);
	line_run(&l, WF_S);
	for (unsigned i = 0; i < l.n_log; i++) {
		if (!l.log[i].ack)
			continue;
		/* One by one, then every second. */
		acked += at++ < 16 ? 1 : 2;
		assert_int_equal(l.log[i].seq, acked * MSS);
	}
	assert_int_equal(acked, 60);
	line_fini(&l);
}

/* RFC 6298 by hand: samples of 20 and 28 ms; RTO = SRTT + max(4 RTTVAR, 200 ms). */
static void test_rtt(void **state)
{
	struct wf_tcp_conn_cfg cfg;
	struct line l;

	(void)state;
	line_defaults(&cfg, "cubic");
	line_init(&l, 1, &cfg);
	line_send(&l, 0, MSS);
	line_run(&l, 100 * WF_MS);
	assert_int_equal(state_of(l.tx[0]).srtt, 20 * WF_MS);
	assert_int_equal(state_of(l.tx[0]).rttvar, 10 * WF_MS);
	l.delay = 14 * WF_MS;
	line_send(&l, 0, MSS);
	line_run(&l, 200 * WF_MS);
	assert_int_equal(state_of(l.tx[0]).srtt, 21 * WF_MS);
	assert_int_equal(state_of(l.tx[0]).rttvar, 9500 * WF_US);
	assert_int_equal(state_of(l.tx[0]).min_rtt, 20 * WF_MS);
	assert_int_equal(state_of(l.tx[0]).rto, 221 * WF_MS);
	line_fini(&l);
}

/* Segments leave in bursts, but no more than a third of the window waits for one. */
static void test_bursts(void **state)
{
	struct wf_tcp_conn_cfg cfg;
	unsigned n = 0, bursts = 0;
	wf_time last = -1;
	struct line l;

	(void)state;
	line_defaults(&cfg, "cubic");
	cfg.rmem = 100 * MSS; /* 290 ms of the line, which has 20 ms */
	cfg.init_window = 40;
	line_init(&l, 1, &cfg);
	l.rate = UINT64_C(4000000);
	line_send(&l, 0, 3000 * MSS);
	line_run(&l, 8 * WF_S);
	for (unsigned i = 0; i < l.n_log; i++) {
		if (l.log[i].ack || l.log[i].at < WF_S)
			continue;
		n++;
		bursts += l.log[i].at != last;
		last = l.log[i].at;
	}
	/* 4 Mb/s are 329 segments a second, and there are 7 seconds of them in the log. */
	assert_true(n > 7 * 329 * 98 / 100);
	assert_true(bursts > 0 && n < 45 * bursts);
	line_fini(&l);
}

static void lose(struct line *l, const unsigned *losses, uint64_t bytes)
{
	struct wf_tcp_conn_cfg cfg;

	line_defaults(&cfg, "cubic");
	line_init(l, 1, &cfg);
	l->drop = line_drop_listed;
	l->losses = losses;
	line_send(l, 0, bytes);
	line_run(l, 5 * WF_S);
	check_done(l, 0);
}

static const struct line_log *resent(const struct line *l, unsigned n)
{
	uint64_t high = 0;

	for (unsigned i = 0; i < l->n_log; i++) {
		if (l->log[i].ack)
			continue;
		if (l->log[i].seq < high && n-- == 0)
			return &l->log[i];
		high = wf_max_u64(high, l->log[i].seq + l->log[i].len);
	}
	return NULL;
}

static void test_one_lost(void **state)
{
	static const unsigned losses[] = { 5, 0 };
	unsigned blocks = 0;
	struct line l;

	(void)state;
	lose(&l, losses, 60000);
	assert_int_equal(l.count[0][WF_TCP_CTR_RETRANS_SEGS], 1);
	assert_int_equal(l.count[0][WF_TCP_CTR_SACK_RECOVERY], 1);
	assert_int_equal(l.count[0][WF_TCP_CTR_TIMEOUTS] + l.count[0][WF_TCP_CTR_LOSS_PROBES], 0);
	assert_int_equal(resent(&l, 0)->seq, 4 * MSS);
	assert_int_equal(resent(&l, 0)->at, 20 * WF_MS);
	for (unsigned i = 0; i < l.n_log; i++)
		blocks += l.log[i].ack && l.log[i].blocks == 1;
	/* The five behind it, and those of the next round until it has come. */
	assert_true(blocks >= 5 && l.count[1][WF_TCP_CTR_OFO_QUEUE] == blocks);
	/* CUBIC: 7/10 of 10 and what was acknowledged before, four. */
	assert_int_equal(state_of(l.tx[0]).ssthresh, 14 * 7 / 10);
	line_fini(&l);
}

static void test_tail_lost(void **state)
{
	static const unsigned losses[] = { 10, 0 };
	struct line l;

	(void)state;
	lose(&l, losses, 10 * MSS);
	assert_int_equal(l.count[0][WF_TCP_CTR_LOSS_PROBES], 1);
	assert_int_equal(l.count[0][WF_TCP_CTR_RETRANS_SEGS], 1);
	assert_int_equal(l.count[0][WF_TCP_CTR_TIMEOUTS], 0);
	/*
	 * One segment was out: two round trips, and 200 ms for a receiver that waits (RFC 8985,
	 * 7.2); but no later than the timeout, SRTT + 200 ms.
	 */
	assert_int_equal(resent(&l, 0)->at, 20 * WF_MS + 20 * WF_MS + 200 * WF_MS);
	line_fini(&l);
}

static void test_probe_lost(void **state)
{
	static const unsigned losses[] = { 10, 11, 0 };
	struct line l;

	(void)state;
	lose(&l, losses, 10 * MSS);
	assert_int_equal(l.count[0][WF_TCP_CTR_LOSS_PROBES], 1);
	assert_int_equal(l.count[0][WF_TCP_CTR_RETRANS_SEGS], 2);
	assert_int_equal(l.count[0][WF_TCP_CTR_TIMEOUTS], 1);
	/* SRTT, and the least timeout beside it. */
	assert_int_equal(resent(&l, 1)->at - resent(&l, 0)->at, 20 * WF_MS + 200 * WF_MS);
	line_fini(&l);
}

static void test_all_lost(void **state)
{
	static const unsigned losses[] = { 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 0 };
	struct wf_tcp_conn_cfg cfg;
	struct line l;
	wf_time again;

	(void)state;
	/* A round before gives it a round trip time, as the SYNs did there. */
	line_defaults(&cfg, "cubic");
	cfg.init_window = 10;
	line_init(&l, 1, &cfg);
	l.drop = line_drop_listed;
	l.losses = losses;
	line_send(&l, 0, 10 * MSS);
	line_send_at(&l, 0, 10 * MSS, 100 * WF_MS);
	line_run(&l, 5 * WF_S);
	check_done(&l, 0);
	assert_int_equal(l.count[0][WF_TCP_CTR_RETRANS_SEGS], 11);
	assert_int_equal(l.count[0][WF_TCP_CTR_TIMEOUTS], 1);
	assert_int_equal(l.count[0][WF_TCP_CTR_LOSS_PROBES], 1);
	/* The probe: the last segment, after two round trips and two of Linux's ticks. */
	assert_int_equal(resent(&l, 0)->seq, 19 * MSS);
	assert_int_equal(resent(&l, 0)->at, 100 * WF_MS + 40 * WF_MS + 2 * WF_MS);
	assert_int_equal(resent(&l, 1)->seq, 10 * MSS);
	again = resent(&l, 1)->at;
	assert_int_equal(again - resent(&l, 0)->at, 220 * WF_MS);
	assert_int_equal(line_sent(&l, false, again, again + 20 * WF_MS), 1);
	assert_int_equal(line_sent(&l, false, again + 20 * WF_MS, again + 40 * WF_MS), 2);
	assert_int_equal(line_sent(&l, false, again + 40 * WF_MS, again + 60 * WF_MS), 4);
	line_fini(&l);
}

/* Each timeout without an answer is twice the one before (RFC 6298, 5.5). */
static void test_backoff(void **state)
{
	static const unsigned losses[] = { 2, 3, 4, 5, 6, 0 };
	struct line l;

	(void)state;
	lose(&l, losses, MSS); /* the first comes: it gives the round trip time */
	line_send(&l, 0, MSS);
	line_run(&l, 30 * WF_S);
	check_done(&l, 0);
	assert_int_equal(l.count[0][WF_TCP_CTR_TIMEOUTS], 4);
	assert_int_equal(resent(&l, 2)->at - resent(&l, 1)->at, 2 * 220 * WF_MS);
	assert_int_equal(resent(&l, 3)->at - resent(&l, 2)->at, 4 * 220 * WF_MS);
	assert_int_equal(resent(&l, 4)->at - resent(&l, 3)->at, 8 * 220 * WF_MS);
	line_fini(&l);
}

static const struct line_log *last_ack(const struct line *l)
{
	const struct line_log *last = NULL;

	for (unsigned i = 0; i < l->n_log; i++)
		last = l->log[i].ack ? &l->log[i] : last;
	return last;
}

/* A lone segment: acknowledged when the program reads it, and else after 40 ms. */
static void test_delayed(void **state)
{
	struct wf_tcp_conn_cfg cfg;
	struct line l;

	(void)state;
	line_defaults(&cfg, "cubic");
	line_init(&l, 1, &cfg);
	line_send(&l, 0, 20 * MSS);
	line_run(&l, 100 * WF_MS);
	line_send(&l, 0, MSS);
	line_run(&l, 200 * WF_MS);
	assert_int_equal(last_ack(&l)->at, 110 * WF_MS);
	l.reads = false;
	line_send(&l, 0, MSS);
	line_run(&l, 300 * WF_MS);
	assert_int_equal(last_ack(&l)->at, 250 * WF_MS);
	assert_int_equal(l.count[1][WF_TCP_CTR_DELAYED_ACKS], 1);
	line_fini(&l);
}

static bool drop_window_update(struct line *l, uint64_t n)
{
	(void)n;
	/* Word that the window is open again, the first time. */
	return l->reads && l->period++ == 0;
}

/*
 * A program that does not read closes the window; word that it reads again is lost, and asked
 * for.
 */
static void test_window(void **state)
{
	struct wf_tcp_conn_cfg cfg;
	struct line l;
	uint64_t probes;

	(void)state;
	line_defaults(&cfg, "cubic");
	cfg.rmem = 65536;
	line_init(&l, 1, &cfg);
	l.reads = false;
	l.drop_ack = drop_window_update;
	line_send(&l, 0, 1000000);
	line_run(&l, WF_S);
	assert_int_equal(state_of(l.tx[0]).nxt, 65536);
	assert_int_equal(state_of(l.tx[0]).window, 0);
	assert_int_equal(state_of(l.tx[0]).out, 0);
	assert_true(l.count[0][WF_TCP_CTR_WINDOW_PROBES] > 0);
	l.reads = true;
	wf_tcp_conn_read(l.rx[0], wf_tcp_conn_readable(l.rx[0]));
	line_acks(&l, 0);
	line_run(&l, 10 * WF_S);
	check_done(&l, 0);
	assert_true(l.period > 1);
	assert_int_equal(l.count[0][WF_TCP_CTR_RETRANS_SEGS], 0);
	/* Where word is not lost nobody has to ask. */
	probes = l.count[0][WF_TCP_CTR_WINDOW_PROBES];
	l.reads = false;
	line_send(&l, 0, 500000);
	line_run(&l, l.now + 150 * WF_MS);
	assert_int_equal(state_of(l.tx[0]).window, 0);
	l.reads = true;
	wf_tcp_conn_read(l.rx[0], wf_tcp_conn_readable(l.rx[0]));
	line_acks(&l, 0);
	line_run(&l, l.now + 30 * WF_MS);
	assert_true(state_of(l.rx[0]).rcv_nxt > 1000000 + 65536);
	assert_int_equal(l.count[0][WF_TCP_CTR_WINDOW_PROBES], probes);
	line_fini(&l);
}

/*
 * What comes again is told of (RFC 2883), and so a probe that was for nothing takes nothing away.
 */
static void test_came_again(void **state)
{
	struct wf_tcp_conn_cfg cfg;
	struct wf_packet ack;
	struct line l;
	struct wf_packet pkt = { .type = WF_PACKET_TCP, .length = MSS };

	(void)state;
	line_defaults(&cfg, "cubic");
	line_init(&l, 1, &cfg);
	line_send(&l, 0, 20 * MSS);
	line_run(&l, WF_S);
	pkt.psn = l.tx[0]->attr.isn + 1 + 3 * MSS;
	pkt.imm = l.tx[0]->attr.peer_isn + 1;
	wf_tcp_conn_rx(l.rx[0], &pkt, MSS, l.now);
	assert_true(wf_tcp_conn_ack(l.rx[0], l.now, &ack));
	assert_int_equal(ack.imm - (l.tx[0]->attr.isn + 1), 20 * MSS);
	assert_true((ack.flags & WF_PACKET_DSACK) != 0);
	assert_int_equal(wf_tcp_blocks(&ack), 1);
	assert_int_equal(wf_tcp_sack(&ack, 0).from - (l.tx[0]->attr.isn + 1), 3 * MSS);
	assert_int_equal(wf_tcp_sack(&ack, 0).to - (l.tx[0]->attr.isn + 1), 4 * MSS);
	assert_false(wf_tcp_conn_ack(l.rx[0], l.now, &ack));
	assert_int_equal(l.count[1][WF_TCP_CTR_DSACKS], 1);
	line_fini(&l);
}

/* The newest block first, and those before it behind (RFC 2018, 4). */
static void test_blocks(void **state)
{
	struct wf_tcp_conn_cfg cfg;
	struct wf_packet pkt = { .type = WF_PACKET_TCP, .length = MSS }, ack;
	static const unsigned order[] = { 2, 6, 4, 5 };
	static const unsigned from[] = { 2, 6, 4, 4 }, to[] = { 3, 7, 5, 7 };
	struct line l;

	(void)state;
	line_defaults(&cfg, "cubic");
	line_init(&l, 1, &cfg);
	pkt.imm = l.tx[0]->attr.peer_isn + 1;
	for (unsigned i = 0; i < 4; i++) {
		uint32_t base = l.tx[0]->attr.isn + 1;

		pkt.psn = base + order[i] * MSS;
		wf_tcp_conn_rx(l.rx[0], &pkt, MSS, l.now);
		assert_true(wf_tcp_conn_ack(l.rx[0], l.now, &ack));
		assert_int_equal(ack.imm, base);
		assert_int_equal(wf_tcp_sack(&ack, 0).from, base + from[i] * MSS);
		assert_int_equal(wf_tcp_sack(&ack, 0).to, base + to[i] * MSS);
		if (i == 1)
			assert_int_equal(wf_tcp_sack(&ack, 1).from, base + 2 * MSS);
	}
	/* What meets is one. */
	assert_int_equal(state_of(l.rx[0]).early, 2);
	line_fini(&l);
}

/* Packets that overtake each other by less than a quarter of the round trip are not sent again. */
static void test_reordered(void **state)
{
	struct wf_tcp_conn_cfg cfg;
	struct line l;

	(void)state;
	line_defaults(&cfg, "cubic");
	line_init(&l, 1, &cfg);
	l.late_every = 7;
	l.late = 4 * WF_MS;
	line_send(&l, 0, 1000 * MSS);
	line_run(&l, 10 * WF_S);
	check_done(&l, 0);
	/* The first time it is taken for a loss, since nobody could know (RFC 8985, 6.2). */
	assert_true(l.count[0][WF_TCP_CTR_RETRANS_SEGS] <= 4);
	assert_true(l.count[1][WF_TCP_CTR_OFO_QUEUE] > 40);
	line_fini(&l);
}

/* RFC 3168: marks are echoed until the sender has heard, who reduces once a window. */
static void test_ecn(void **state)
{
	struct wf_tcp_conn_cfg cfg;
	struct wf_packet pkt = { .type = WF_PACKET_TCP, .length = MSS }, ack;
	struct line l;

	(void)state;
	line_defaults(&cfg, "reno");
	cfg.ecn = true;
	line_init(&l, 1, &cfg);
	pkt.imm = l.tx[0]->attr.peer_isn + 1;
	for (unsigned i = 0; i < 4; i++) {
		pkt.psn = l.tx[0]->attr.isn + 1 + i * MSS;
		pkt.flags = i == 0 ? WF_PACKET_CE : 0;
		pkt.opcode = i == 3 ? WF_SEG_CWR : 0;
		wf_tcp_conn_rx(l.rx[0], &pkt, MSS, l.now);
		assert_true(wf_tcp_conn_ack(l.rx[0], l.now, &ack));
		assert_int_equal((ack.opcode & WF_SEG_ECE) != 0, i < 3);
	}
	line_fini(&l);

	line_init(&l, 1, &cfg);
	l.rate = UINT64_C(1000000000);
	l.marking = 30000;
	line_send(&l, 0, 3000 * MSS);
	line_run(&l, 10 * WF_S);
	check_done(&l, 0);
	assert_int_equal(l.count[0][WF_TCP_CTR_RETRANS_SEGS], 0);
	assert_true(l.count[0][WF_TCP_CTR_ECE] > 0);
	line_fini(&l);
}

/* RFC 8257, 3.2: where the mark changes, what came before is acknowledged with the one before. */
static void test_dctcp_echo(void **state)
{
	struct wf_tcp_conn_cfg cfg;
	struct wf_packet pkt = { .type = WF_PACKET_TCP, .length = MSS }, ack;
	struct line l;

	(void)state;
	line_defaults(&cfg, "dctcp");
	line_init(&l, 1, &cfg);
	line_send(&l, 0, 30 * MSS); /* the first 16 are acknowledged one by one */
	line_run(&l, WF_S);
	l.reads = false;
	pkt.imm = l.tx[0]->attr.peer_isn + 1;
	pkt.psn = l.tx[0]->attr.isn + 1 + 30 * MSS;
	wf_tcp_conn_rx(l.rx[0], &pkt, MSS, l.now);
	while (wf_tcp_conn_ack(l.rx[0], l.now, &ack))
		;
	/* One that waits, then a marked one. */
	l.rx[0]->quick = 0;
	pkt.psn += MSS;
	wf_tcp_conn_rx(l.rx[0], &pkt, MSS, l.now);
	assert_false(wf_tcp_conn_ack(l.rx[0], l.now, &ack));
	pkt.psn += MSS;
	pkt.flags = WF_PACKET_CE;
	wf_tcp_conn_rx(l.rx[0], &pkt, MSS, l.now);
	assert_true(wf_tcp_conn_ack(l.rx[0], l.now, &ack));
	assert_int_equal(ack.imm, pkt.psn);
	assert_int_equal(ack.opcode & WF_SEG_ECE, 0);
	assert_true(wf_tcp_conn_ack(l.rx[0], l.now, &ack));
	assert_int_equal(ack.imm, pkt.psn + MSS);
	assert_true((ack.opcode & WF_SEG_ECE) != 0);
	assert_false(wf_tcp_conn_ack(l.rx[0], l.now, &ack));
	line_fini(&l);
}

/* A window that was not used for some timeouts is halved for each (RFC 2861). */
static void test_idle(void **state)
{
	struct wf_tcp_conn_cfg cfg;
	struct line l;

	(void)state;
	line_defaults(&cfg, "cubic");
	cfg.idle_restart = true;
	line_init(&l, 1, &cfg);
	line_send(&l, 0, 150 * MSS);
	line_run(&l, WF_S);
	assert_true(state_of(l.tx[0]).cwnd >= 150);
	line_send_at(&l, 0, 150 * MSS, 10 * WF_S);
	line_run(&l, 10 * WF_S + WF_MS);
	assert_int_equal(line_sent(&l, false, 10 * WF_S, 11 * WF_S), 10);
	assert_int_equal(l.count[0][WF_TCP_CTR_IDLE_RESTARTS], 1);
	line_fini(&l);
}

/* Whatever is lost, everything comes, once. */
static bool drop_at_random(struct line *l, uint64_t n)
{
	return (n * UINT64_C(0x9e3779b97f4a7c15) >> 40) % l->period == 0;
}

static void test_storm(void **state)
{
	static const char *const names[] = { "cubic", "dctcp", "reno" };

	(void)state;
	for (unsigned k = 0; k < 9; k++) {
		struct wf_tcp_conn_cfg cfg;
		struct line l;

		line_defaults(&cfg, names[k % 3]);
		cfg.rto_min = 5 * WF_MS;
		cfg.rmem = k % 2 != 0 ? 100000 : 6 << 20;
		line_init(&l, 3, &cfg);
		l.rate = UINT64_C(100000000);
		l.room = 100000;
		l.marking = 30000;
		l.delay = WF_MS;
		l.period = 3 + 17 * k;
		l.drop = drop_at_random;
		l.drop_ack = drop_at_random;
		for (unsigned i = 0; i < 3; i++)
			line_send_at(&l, i, 1000000 + 77 * i, i * WF_MS);
		line_run(&l, 2000 * WF_S);
		for (unsigned i = 0; i < 3; i++)
			check_done(&l, i);
		line_fini(&l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slow_start), cmocka_unit_test(test_acks),
		cmocka_unit_test(test_rtt),        cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_one_lost),   cmocka_unit_test(test_tail_lost),
		cmocka_unit_test(test_probe_lost), cmocka_unit_test(test_all_lost),
		cmocka_unit_test(test_backoff),    cmocka_unit_test(test_delayed),
		cmocka_unit_test(test_window),     cmocka_unit_test(test_came_again),
		cmocka_unit_test(test_blocks),     cmocka_unit_test(test_reordered),
		cmocka_unit_test(test_ecn),        cmocka_unit_test(test_dctcp_echo),
		cmocka_unit_test(test_idle),       cmocka_unit_test(test_storm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
