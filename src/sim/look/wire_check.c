/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_check.c - packets to bytes and back, and what differs.
 */
#include "sim/look/wire_check.h"

#include <errno.h>
#include <string.h>

#include "sim/sim_priv.h"
#include "wire/opcode.h"
#include "wire/packet_codec.h"
#include "wire/tcp.h"

/* What one shard found. */
struct finding {
	uint64_t count;
	wf_time at;
	uint32_t node;
	int ret; /* 0: the two differ; else there are no two: the codec's error */
	bool bad;
	bool encoded; /* ret is from reading back */
	enum wf_reason reason;
	struct wf_packet sent, got;
} WF_ALIGNED(WF_CACHE_LINE);

struct wf_wire_check {
	const struct wf_fabric *fabric;
	struct wf_wire_conf conf;
	unsigned n_shards;
	struct finding *finding; /* of each shard */
};

void wf_wire_check_conf(const struct wf_fabric_cfg *cfg, struct wf_wire_conf *conf)
{
	wf_wire_conf_init(conf, wf_header_encap(cfg->header));
	conf->vlan = wf_encap_is_tagged(conf->encap);
}

void wf_sim_wire_marks(const struct wf_sim *sim, struct wf_wire_conf *conf)
{
	_Static_assert(sizeof(conf->dscp_mark) == WF_MARKS, "a DSCP for every mark");
	memcpy(conf->dscp_mark, sim->fabric.dscp, WF_MARKS);
}

int wf_wire_check_create(const struct wf_fabric *fabric, unsigned n_shards,
                         struct wf_wire_check **check_p)
{
	struct wf_mem *mem = fabric->mem;
	struct wf_wire_check *c = mem->alloc(mem, sizeof(*c));

	if (c == NULL)
		return -ENOMEM;
	c->finding = mem->alloc(mem, n_shards * sizeof(*c->finding));
	if (c->finding == NULL) {
		mem->free(mem, c);
		return -ENOMEM;
	}
	c->fabric = fabric;
	c->n_shards = n_shards;
	wf_wire_check_conf(&fabric->cfg, &c->conf);
	*check_p = c;
	return 0;
}

void wf_wire_check_destroy(struct wf_wire_check *c)
{
	struct wf_mem *mem;

	if (c == NULL)
		return;
	mem = c->fabric->mem;
	mem->free(mem, c->finding);
	mem->free(mem, c);
}

/* The size counts for what the transport sends; others have one by configuration. */
static bool is_same(const struct wf_wire_check *c, const struct wf_packet *sent,
                    const struct wf_packet *got)
{
	bool sized = sent->type == WF_PACKET_RDMA || sent->type == WF_PACKET_TRIMMED ||
	             sent->type == WF_PACKET_TCP;

	if (sized && sent->size != got->size)
		return false;
	return wf_packet_is_same(sent, got, &c->conf);
}

void wf_wire_check_packet(struct wf_wire_check *c, const struct wf_device *dev,
                          const struct wf_packet *pkt, wf_time now)
{
	struct finding *f = &c->finding[dev->shard->number];
	struct wf_packet plain = *pkt;
	uint8_t bytes[WF_SEGMENT_BYTES_MAX];
	struct wf_headers headers;
	size_t len;

	if (f->bad)
		return;
	plain.mark = 0; /* from a DSCP of one's own no class can be told */
	f->count++;
	f->encoded = false;
	f->ret = wf_packet_encode(&plain, &c->conf, NULL, NULL, NULL, bytes, sizeof(bytes), &len);
	if (f->ret == 0) {
		f->encoded = true;
		f->ret = wf_packet_decode(bytes, len, &c->conf, &f->got, &headers, &f->reason);
	}
	if (f->ret == 0 && is_same(c, &plain, &f->got))
		return;
	f->bad = true;
	f->at = now;
	f->node = dev->id;
	f->sent = *pkt;
}

uint64_t wf_wire_check_count(const struct wf_wire_check *c)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < c->n_shards; i++)
		n += c->finding[i].count;
	return n;
}

static const struct finding *first_finding(const struct wf_wire_check *c)
{
	const struct finding *first = NULL;

	for (unsigned i = 0; i < c->n_shards; i++) {
		const struct finding *f = &c->finding[i];

		if (f->bad && (first == NULL || f->at < first->at ||
		               (f->at == first->at && f->node < first->node)))
			first = f;
	}
	return first;
}

/* A packet in words. */
static struct wf_err packet_text(const struct wf_packet *p)
{
	struct wf_err text = { "" };
	uint64_t u[2];

	memcpy(u, &p->u, sizeof(u));
	wf_err_say(&text,
	           "{type %u %s, %u to %u, %u bytes, class %u, vl %u, flags %02x, entropy %04x, "
	           "pkey %04x, length %08x, qpn %06x, psn %06x, imm %08x, rest %016llx %016llx}",
	           p->type, wf_op_name(p->opcode), p->src, p->dst, p->size, p->cls, p->vl, p->flags,
	           p->entropy, p->pkey, p->atomic_rkey, p->qpn, p->psn, p->imm,
	           (unsigned long long)u[0], (unsigned long long)u[1]);
	return text;
}

int wf_wire_check_result(const struct wf_wire_check *c, struct wf_err *err)
{
	const struct finding *f = first_finding(c);
	struct wf_err sent, got;

	if (f == NULL)
		return 0;
	sent = packet_text(&f->sent);
	got = packet_text(&f->got);
	if (f->ret != 0 && !f->encoded)
		wf_err_say(err, "wire check: %s at %lld ps: it has no form in bytes: %s",
		           c->fabric->topo->nodes[f->node].name, (long long)f->at, sent.text);
	else if (f->ret != 0)
		wf_err_say(err, "wire check: %s at %lld ps: its bytes are no packet (%s): %s",
		           c->fabric->topo->nodes[f->node].name, (long long)f->at,
		           wf_reason_text(f->reason), sent.text);
	else
		wf_err_say(err, "wire check: %s at %lld ps: %.190s came back as %.190s",
		           c->fabric->topo->nodes[f->node].name, (long long)f->at, sent.text,
		           got.text);
	return -EBADMSG;
}
