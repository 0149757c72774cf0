/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz: runs=1/10 */
/*
 * fuzz_live_umad.c - hostile management programs on the hosts of a managed fabric: they register
 * agents and end them, write MADs that are none or nearly, in parts or whole, read what comes or do
 * not, want to be managers, and go. The daemon must not crash, must tell them only what is well
 * formed, and at the end a program that behaves has its answer.
 */
#include <stddef.h>
#include <stdint.h>

#include "../tests/unit/live/rig_model.h"
#include "live/sock.h"
#include "live/umad.h"
#include "live/umad_proto.h"
#include "wire/byte.h"
#include "wire/mad.h"

#define CLIENTS 5 /* the last behaves */
#define TURNS 20000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct program {
	struct wf_dclient client;
	int ask, come;      /* its ends; -1: none */
	uint32_t total, at; /* of what comes in parts */
};

struct fuzz {
	struct rig_model *r;
	struct program program[CLIENTS];
	const uint8_t *data;
	size_t size;
};

static uint8_t next(struct fuzz *f)
{
	if (f->size == 0)
		return 0;
	f->size--;
	return *f->data++;
}

static void leave(struct fuzz *f, struct program *p)
{
	struct wf_daemon *d = &f->r->d;
	struct wf_dclient **at = &d->clients;

	if (p->ask < 0)
		return;
	while (*at != &p->client)
		at = &(*at)->next;
	*at = p->client.next;
	wf_umad_leave(d, &p->client);
	close(p->client.sock);
	close(p->ask);
	if (p->come >= 0)
		close(p->come);
	p->ask = p->come = -1;
}

static void enter(struct fuzz *f, struct program *p, uint32_t host, bool issm, bool waits)
{
	struct wf_live_reply reply = { .error = 0 };
	int fds[WF_LIVE_MAX_FDS], pair[2], ret;

	leave(f, p);
	RIG_MUST(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	p->client = (struct wf_dclient){ .sock = pair[0], .events = -1, .wake = -1, .pidfd = -1 };
	p->client.next = f->r->d.clients;
	f->r->d.clients = &p->client;
	p->ask = pair[1];
	p->total = 0;
	ret = issm ? wf_umad_open_issm(&f->r->d, &p->client, host, waits, &reply)
	           : wf_umad_open(&f->r->d, &p->client, host, &reply, fds);
	RIG_MUST(ret == 0 || (issm && ret == -EAGAIN));
	p->come = issm || ret != 0 ? -1 : fds[0];
	p->client.doomed = ret != 0;
}

/* What has come is as it should be. Returns whether there was something. */
static bool hear(struct program *p, struct wf_umad_part *part)
{
	int fds[WF_LIVE_MAX_FDS];
	unsigned n;
	int len = p->come < 0 ? 0 : wf_sock_recv(p->come, part, sizeof(*part), fds, &n, false);
	uint32_t id;

	if (len <= 0)
		return false;
	RIG_MUST(n == 0 && len > (int)WF_UMAD_PART_BYTES && part->total > WF_UMAD_HDR);
	if (part->at == 0) {
		memcpy(&id, part->data + WF_UMAD_AT_ID, sizeof(id));
		RIG_MUST(p->total == 0 && id < WF_UMAD_AGENTS);
	} else {
		RIG_MUST(part->total == p->total && part->at == p->at);
	}
	p->total = part->total;
	p->at = part->at + (uint32_t)len - (uint32_t)WF_UMAD_PART_BYTES;
	RIG_MUST(p->at <= p->total);
	if (p->at == p->total)
		p->total = p->at = 0;
	return true;
}

static void ask(struct fuzz *f, struct program *p, const void *message, size_t size)
{
	struct wf_umad_reply reply;

	if (p->ask < 0 || p->client.doomed)
		return;
	(void)!send(p->ask, message, size, MSG_DONTWAIT | MSG_NOSIGNAL);
	p->client.asks.ready(&f->r->d, &p->client.asks, EPOLLIN);
	while (recv(p->ask, &reply, sizeof(reply), MSG_DONTWAIT) > 0)
		;
}

/* A MAD that may be one: its class, method, attribute and way are of those that there are. */
static size_t shape(struct fuzz *f, uint8_t *out)
{
	static const uint8_t classes[] = { 0x81, 0x01, 0x03, 0x04, 0x21, 0x07, 0x32, 0x81 };
	static const uint8_t methods[] = { 0x01, 0x02, 0x81, 0x12, 0x92, 0x05, 0x07, 0x03 };
	static const uint16_t lids[] = { 0xffff, 1, 2, 3, 4, 5, 0, 0xc000 };
	uint8_t *mad = out + WF_UMAD_HDR, byte = next(f);
	uint32_t id = next(f) % 4, timeout = next(f);
	uint16_t attr = next(f);

	memset(out, 0, WF_UMAD_HDR + 2 * WF_MAD_LEN);
	memcpy(out + WF_UMAD_AT_ID, &id, sizeof(id));
	memcpy(out + WF_UMAD_AT_TIMEOUT, &timeout, sizeof(timeout));
	out[WF_UMAD_AT_RETRIES] = next(f) % 4;
	wf_be16_put(out + WF_UMAD_AT_LID, lids[byte & 7]);
	wf_be32_put(out + WF_UMAD_AT_QPN, byte >> 7);
	mad[0] = 1;
	mad[1] = classes[byte >> 3 & 7];
	mad[2] = mad[1] == 0x03 || mad[1] == 0x21 ? 2 : 1;
	mad[3] = methods[next(f) & 7];
	mad[7] = next(f) % 5; /* hops, of a directed route */
	mad[15] = next(f);
	wf_be16_put(mad + 16, attr < 0x40 ? attr : 0xff00 | attr);
	mad[23] = next(f) % 8;
	mad[24] = 1;
	mad[25] = next(f) % 6;
	mad[26] = next(f) % 8;
	mad[31] = next(f) % 4;
	for (unsigned i = 129; i < 133; i++)
		mad[i] = next(f) % 5;
	for (unsigned n = next(f) % 16; n > 0; n--)
		mad[next(f)] = next(f);
	return WF_UMAD_HDR + (next(f) % 8 == 0 ? next(f) * 2u : WF_MAD_LEN);
}

static void act(struct fuzz *f)
{
	struct program *p = &f->program[next(f) % (CLIENTS - 1)];
	struct wf_umad_ask question = { .op = WF_UMAD_SEND };
	struct wf_umad_part part;
	uint8_t what = next(f);

	switch (what % 10) {
	case 0:
		enter(f, p, next(f) % RIG_HOSTS, what > 200, what > 230);
		break;
	case 1:
		if (what > 128)
			leave(f, p);
		break;
	case 2:
	case 3:
		question.op = WF_UMAD_REGISTER;
		question.agent.qpn = next(f) % 3;
		question.agent.mgmt_class = (uint8_t[]){ 0x81, 1, 3, 4, 0x32, 0 }[next(f) % 6];
		question.agent.class_version = 1 + next(f) % 2;
		question.agent.rmpp = next(f) % 3;
		memcpy(&question.agent.methods[0], "\x2f\x00\x2e", 3);
		ask(f, p, &question, WF_UMAD_ASK_BYTES);
		break;
	case 4:
		question.op = next(f) % 7;
		question.agent.id = next(f);
		question.length = what > 200 ? next(f) : 0;
		ask(f, p, &question, WF_UMAD_ASK_BYTES + (what > 128 ? question.length : 0));
		break;
	case 5:
		question.op = WF_UMAD_SEND_MORE;
		question.length = what < 128 ? WF_UMAD_PART : (uint32_t)shape(f, question.data);
		ask(f, p, &question, WF_UMAD_ASK_BYTES + question.length);
		break;
	case 6:
		while (hear(p, &part))
			;
		break;
	default:
		question.length = (uint32_t)shape(f, question.data);
		ask(f, p, &question, WF_UMAD_ASK_BYTES + question.length);
		break;
	}
	if (next(f) % 4 == 0)
		wf_model_serve(&f->r->d);
}

/* A program that behaves asks its own host what that is. */
static void behave(struct fuzz *f)
{
	struct program *p = &f->program[CLIENTS - 1];
	struct wf_umad_ask question = { .op = WF_UMAD_REGISTER };
	uint8_t *mad = question.data + WF_UMAD_HDR;
	uint32_t timeout = 1000;
	struct wf_umad_part part;
	unsigned turns = 0;

	enter(f, p, 1, false, false);
	question.agent.mgmt_class = 0x81;
	question.agent.class_version = 1;
	ask(f, p, &question, WF_UMAD_ASK_BYTES);
	question.op = WF_UMAD_SEND;
	question.length = WF_UMAD_HDR + WF_MAD_LEN;
	memcpy(question.data + WF_UMAD_AT_TIMEOUT, &timeout, sizeof(timeout));
	question.data[WF_UMAD_AT_RETRIES] = 20;
	wf_be16_put(question.data + WF_UMAD_AT_LID, 0xffff);
	mad[0] = 1;
	mad[1] = 0x81;
	mad[2] = 1;
	mad[3] = WF_MAD_METHOD_GET;
	mad[17] = 0x11;
	memset(mad + 32, 0xff, 4);
	ask(f, p, &question, WF_UMAD_ASK_BYTES + question.length);
	while (!hear(p, &part)) {
		RIG_MUST(turns++ < TURNS);
		wf_model_serve(&f->r->d);
	}
	memcpy(&timeout, part.data + WF_UMAD_AT_STATUS, sizeof(timeout));
	RIG_MUST(timeout == 0 && part.data[WF_UMAD_HDR + 3] == WF_MAD_METHOD_GET_RESP);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz f = { .data = data, .size = size };
	bool weft = next(&f) % 4 != 0;

	f.r = rig_model_create_managed(WF_LIVE_NONE, weft ? WF_MANAGE_WEFT : WF_MANAGE_NONE);
	for (unsigned i = 0; i < CLIENTS; i++)
		f.program[i].ask = f.program[i].come = -1;
	while (f.size > 0)
		act(&f);
	behave(&f);
	for (unsigned i = 0; i < CLIENTS; i++)
		leave(&f, &f.program[i]);
	rig_model_destroy(f.r);
	return 0;
}
