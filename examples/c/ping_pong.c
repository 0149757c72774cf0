/* SPDX-License-Identifier: Apache-2.0 */
/* ping_pong.c - SEND there and back between two hosts: half a round trip, by fabric and size. */
#include <stdio.h>
#include <string.h>
#include <weft/weft.h>

enum { MAX_SIZE = 1048576, ROUNDS = 20 };

static struct side {
	struct weft_mr *mr;
	struct weft_qp_attr attr;
	struct weft_qp *qp;
	unsigned char in[MAX_SIZE], out[MAX_SIZE];
	unsigned size, rounds, wrong;
	weft_time start, end;
} sides[2];

static void post(struct side *s, int is_send)
{
	unsigned char *data = is_send ? memset(s->out, s->rounds + 1, s->size) : s->in;
	struct weft_sge sge = { (uintptr_t)data, s->size, weft_mr_lkey(s->mr) };
	struct weft_send send = { .opcode = WEFT_SEND, .sge = &sge, .n_sge = 1 };
	struct weft_recv recv = { .sge = &sge, .n_sge = 1 };

	s->wrong += (is_send ? weft_post_send(s->qp, &send) : weft_post_recv(s->qp, &recv)) != 0;
}

/* A message came: compare it with what was sent, make room for the next one, answer. */
static void on_receive(void *arg, const struct weft_wc *wc)
{
	struct side *s = arg, *other = s == &sides[0] ? &sides[1] : &sides[0];

	s->wrong += wc->status != WEFT_SUCCESS || memcmp(s->in, other->out, s->size) != 0;
	s->end = wc->time;
	if (++s->rounds % ROUNDS != 0)
		post(s, 0);
	if (s->rounds % ROUNDS != 0 || s == &sides[1])
		post(s, 1);
}

static int open_side(struct side *s, struct weft_adapter *a)
{
	if (weft_mr_create(a, s, sizeof(*s), WEFT_LOCAL_WRITE, &s->mr) != 0 ||
	    weft_cq_create(a, 1024, &s->attr.send_cq) != 0 ||
	    weft_cq_create(a, 64, &s->attr.recv_cq) != 0)
		return 1;
	weft_cq_on_completion(s->attr.recv_cq, on_receive, s);
	return weft_qp_create(a, &s->attr, &s->qp);
}

static unsigned ping_pong(const char *profile)
{
	struct weft_fabric_attr attr = { .profile = profile, .hosts = 2 };
	struct weft_fabric *fabric;
	char error[512];
	unsigned bad, done = sides[0].rounds;

	if (weft_fabric_create(&attr, error, sizeof(error), &fabric) != 0)
		return fprintf(stderr, "%s: %s\n", profile, error) > 0;
	bad = open_side(&sides[0], weft_adapter_open(fabric, 0)) != 0 ||
	      open_side(&sides[1], weft_adapter_open(fabric, 1)) != 0 ||
	      weft_qp_connect(sides[0].qp, sides[1].qp, NULL) != 0;
	for (unsigned size = 2; size <= MAX_SIZE && !bad; size *= 8) {
		sides[0].start = weft_fabric_now(fabric);
		sides[0].size = sides[1].size = size;
		for (int i = 0; i < 3; i++)
			post(&sides[i % 2], i == 2); /* room at both, then the first message */
		bad = weft_run(fabric, WEFT_FOREVER) != 0 || sides[0].rounds != (done += ROUNDS);
		printf("%-10s %7u bytes %8.3f us\n", profile, size,
		       (double)(sides[0].end - sides[0].start) / (2.0 * ROUNDS * WEFT_US));
	}
	weft_fabric_destroy(fabric);
	return bad + sides[0].wrong + sides[1].wrong;
}

int main(void)
{
	return ping_pong("ib-ndr") != 0 || ping_pong("roce-400g") != 0;
}
