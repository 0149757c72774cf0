/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cubic.c - CUBIC (RFC 9438), with fast convergence and the Reno-friendly region; without HyStart.
 *
 *	W(t) = C (t - K)^3 + W_max,  K = cbrt((W_max - cwnd) / C),  C = 0.4 segments/s^3, beta = 0.7
 *
 * Times are microseconds, windows 65536ths of a segment, and nothing is rounded to less.
 */
#include "tcp/cc.h"

#define BETA_NUM 7 /* beta = 7/10 */
#define BETA_DEN 10
#define C_NUM 2 /* C = 2/5 */
#define C_DEN 5
/* alpha_cubic = 3 (1 - beta) / (1 + beta) = 9/17 */
#define ALPHA_NUM 9
#define ALPHA_DEN 17

__extension__ typedef unsigned __int128 u128;

/* us^3 in a s^3. */
#define CUBE_S ((u128)1000000000 * 1000000000)

/* The largest r whose cube is not above v. */
static uint64_t cube_root(u128 v)
{
	uint64_t r = 0;

	for (int bit = 41; bit >= 0; bit--) {
		u128 next = r | UINT64_C(1) << bit;

		if (next * next * next <= v)
			r = (uint64_t)next;
	}
	return r;
}

uint64_t wf_tcp_cubic_k(uint64_t below)
{
	return cube_root((u128)below * CUBE_S / WF_TCP_CC_ONE * C_DEN / C_NUM);
}

uint64_t wf_tcp_cubic_offset(uint64_t us)
{
	u128 x = wf_min_u64(us, UINT64_C(1000000000)); /* a quarter of an hour is enough */

	return (uint64_t)(x * x * x * WF_TCP_CC_ONE * C_NUM / (CUBE_S * C_DEN));
}

/* W(t), t us after the epoch. */
static uint64_t cubic_at(const struct wf_tcp_cc *cc, uint64_t us)
{
	uint64_t k = cc->cubic.k;
	uint64_t off = wf_tcp_cubic_offset(us < k ? k - us : us - k);

	if (us >= k)
		return cc->cubic.origin + off;
	return cc->cubic.origin > off ? cc->cubic.origin - off : 0;
}

static void cubic_init(struct wf_tcp_cc *cc)
{
	cc->cubic.epoch = WF_TIME_NEVER;
	cc->cubic.w_max = 0;
	cc->cubic.prior = 0;
}

/* Congestion avoidance begins. */
static void begin(struct wf_tcp_cc *cc, wf_time now)
{
	cc->cubic.epoch = now;
	cc->cubic.w_est = cc->cwnd;
	cc->cubic.k = 0;
	cc->cubic.origin = cc->cwnd;
	if (cc->cwnd < cc->cubic.w_max) {
		cc->cubic.k = wf_tcp_cubic_k(cc->cubic.w_max - cc->cwnd);
		cc->cubic.origin = cc->cubic.w_max;
	}
}

static void cubic_avoid(struct wf_tcp_cc *cc, const struct wf_tcp_cc_ack *ack, uint32_t segs)
{
	uint64_t each = (uint64_t)segs * WF_TCP_CC_ONE, t, now, target;

	if (cc->cubic.epoch == WF_TIME_NEVER)
		begin(cc, ack->now);
	/* Once it is where it was, the part of Reno grows as Reno does. */
	if (cc->cubic.w_est < cc->cubic.prior)
		each = each * ALPHA_NUM / ALPHA_DEN;
	cc->cubic.w_est += each * WF_TCP_CC_ONE / cc->cwnd;
	t = (uint64_t)(ack->now - cc->cubic.epoch) / WF_US;
	now = cubic_at(cc, t);
	if (now < cc->cubic.w_est) {
		if (cc->cwnd < cc->cubic.w_est)
			cc->cwnd = cc->cubic.w_est;
		return;
	}
	target = cubic_at(cc, t + (uint64_t)ack->srtt / WF_US);
	target = wf_min_u64(target, cc->cwnd + cc->cwnd / 2);
	if (target > cc->cwnd)
		cc->cwnd += (uint64_t)((u128)(target - cc->cwnd) * segs * WF_TCP_CC_ONE / cc->cwnd);
}

static uint32_t cubic_reduce(struct wf_tcp_cc *cc, bool loss)
{
	uint32_t less = (uint32_t)(cc->cwnd * BETA_NUM / BETA_DEN / WF_TCP_CC_ONE);

	(void)loss;
	cc->cubic.epoch = WF_TIME_NEVER;
	cc->cubic.prior = cc->cwnd;
	/* Fast convergence: who has less than before leaves room for those who come. */
	if (cc->cwnd < cc->cubic.w_max)
		cc->cubic.w_max = cc->cwnd * (BETA_DEN + BETA_NUM) / (2 * (uint64_t)BETA_DEN);
	else
		cc->cubic.w_max = cc->cwnd;
	return less > 2 ? less : 2;
}

static void cubic_restart(struct wf_tcp_cc *cc)
{
	cc->cubic.epoch = WF_TIME_NEVER;
}

const struct wf_tcp_cc_ops wf_tcp_cubic = {
	.name = "cubic",
	.init = cubic_init,
	.came = wf_tcp_cc_no_came,
	.avoid = cubic_avoid,
	.reduce = cubic_reduce,
	.restart = cubic_restart,
};
