/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - verbs programs for the model-based test: what one is, how one is drawn, how it reads.
 *
 * A program is a few connections between two to four hosts, the faults of the network, and a list
 * of operations. model_run.h carries it out and knows what must come of it.
 */
#ifndef WF_TESTS_MODEL_H
#define WF_TESTS_MODEL_H

#include "rig_qp.h"

#define MODEL_LINKS 3
#define MODEL_OPS 64
#define MODEL_RW 8192   /* bytes of the area that WRITEs, READs and atomics work on */
#define MODEL_MSG 4000  /* bytes in a message at most */
#define MODEL_SRC 12288 /* bytes that messages are taken from */

enum model_kind {
	MODEL_WRITE,
	MODEL_WRITE_IMM,
	MODEL_SEND,
	MODEL_SEND_IMM,
	MODEL_READ,
	MODEL_CAS,
	MODEL_FAA,
	MODEL_RECV,      /* posts a receive at the other side */
	MODEL_BIND,      /* binds a window over the area of the other side */
	MODEL_WRITE_MW,  /* a WRITE through it */
	MODEL_SEND_INV,  /* a SEND that invalidates it */
	MODEL_LOCAL_INV, /* the other side invalidates it */
	MODEL_REREG,     /* the other side's region gets a new key */
	MODEL_SYNC,      /* everything is carried out before the next operation is posted */
	MODEL_REARM,     /* both sides load the other port's path as the alternate one */
	MODEL_MIGRATE,   /* one side goes over to it, where both are armed */
	MODEL_CUT,       /* the path that they have dies, where both are armed */
	MODEL_KINDS
};

static const char *const model_kind_name[] = {
	"WRITE", "WRITE_IMM", "SEND",  "SEND_IMM", "READ",     "CAS",
	"FAA",   "RECV",      "BIND",  "WRITE_MW", "SEND_INV", "LOCAL_INV",
	"REREG", "SYNC",      "REARM", "MIGRATE",  "CUT",
};

_Static_assert(WF_ARRAY_SIZE(model_kind_name) == MODEL_KINDS, "name every kind");

struct model_op {
	uint8_t kind;
	uint8_t link;
	uint8_t side;   /* who posts it */
	uint8_t flags;  /* WF_SEND_* */
	uint8_t pieces; /* sges, 1 to 4 */
	uint8_t steps;  /* of the network, after it is posted */
	uint16_t size;
	uint16_t off; /* into the area */
	uint16_t src;
};

struct model_link {
	uint8_t type; /* enum wf_qp_type */
	uint8_t host[2];
	uint8_t mtu;
	uint8_t max_rd;
	uint8_t ack_every;
	bool selective, credits, srq, paced, sig_all;
	uint16_t reorder;
	uint32_t window;
	uint32_t psn;
};

struct model_prog {
	uint64_t seed;
	uint32_t hosts, links, ops;
	bool apm; /* hosts have two ports, and reliable links an alternate path */
	struct rig_faults faults;
	struct model_link link[MODEL_LINKS];
	struct model_op op[MODEL_OPS];
};

/* Where the numbers come from: a seed or a fuzzer's bytes. */
struct model_source {
	uint64_t key, count;
	const uint8_t *bytes;
	size_t left;
};

static inline uint32_t model_below(struct model_source *s, uint32_t n)
{
	uint32_t v = 0;

	if (s->bytes == NULL)
		return wf_rand_below(wf_rand64(s->key, s->count++), n);
	for (uint32_t m = n; m > 1 && s->left > 0; m >>= 8) {
		v = v << 8 | *s->bytes++;
		s->left--;
	}
	return v % n;
}

static inline bool model_chance(struct model_source *s, uint32_t percent)
{
	return model_below(s, 100) < percent;
}

static inline void model_draw_link(struct model_source *s, struct model_prog *p,
                                   struct model_link *l)
{
	l->host[0] = (uint8_t)model_below(s, p->hosts);
	l->host[1] = (uint8_t)((l->host[0] + 1 + model_below(s, p->hosts - 1)) % p->hosts);
	l->type = WF_QPT_RC;
	/* Without acknowledgements there is something to predict only where nothing is lost. */
	if (p->faults.drop + p->faults.late + p->faults.twice + p->faults.bad + p->faults.trim == 0)
		l->type = (uint8_t)(WF_QPT_RC + model_below(s, 3));
	l->mtu = (uint8_t)(1 + model_below(s, 5));
	l->max_rd = (uint8_t)(1 + model_below(s, 5));
	l->ack_every = model_chance(s, 30) ? (uint8_t)model_below(s, 6) : 0;
	l->psn = model_chance(s, 50) ? 0xffffff - model_below(s, 40) : model_below(s, 0x1000000);
	l->srq = model_chance(s, 15) && l->type == WF_QPT_RC;
	l->sig_all = model_chance(s, 20);
	l->paced = model_chance(s, 15);
	if (l->type != WF_QPT_RC)
		return;
	l->selective = model_chance(s, 40);
	l->credits = !l->selective && model_chance(s, 25);
	if (l->selective) {
		l->window = 64U << model_below(s, 3);
		l->reorder = (uint16_t)model_below(s, 20);
	} else if (model_chance(s, 20)) {
		l->window = 1 + model_below(s, 20);
	}
}

static inline void model_draw_op(struct model_source *s, const struct model_prog *p,
                                 struct model_op *op)
{
	static const uint8_t kinds[] = {
		MODEL_WRITE,    MODEL_WRITE,     MODEL_WRITE, MODEL_WRITE_IMM, MODEL_SEND,
		MODEL_SEND,     MODEL_SEND_IMM,  MODEL_READ,  MODEL_READ,      MODEL_READ,
		MODEL_CAS,      MODEL_FAA,       MODEL_FAA,   MODEL_RECV,      MODEL_RECV,
		MODEL_RECV,     MODEL_RECV,      MODEL_BIND,  MODEL_WRITE_MW,  MODEL_WRITE_MW,
		MODEL_SEND_INV, MODEL_LOCAL_INV, MODEL_SYNC,  MODEL_REREG,
	};
	uint32_t small = model_below(s, 3);

	op->kind = kinds[model_below(s, WF_ARRAY_SIZE(kinds))];
	op->link = (uint8_t)model_below(s, p->links);
	op->side = (uint8_t)model_below(s, 2);
	op->flags = model_chance(s, 60) ? WF_SEND_SIGNALED : 0;
	op->flags |= model_chance(s, 10) ? WF_SEND_FENCE : 0;
	op->flags |= model_chance(s, 10) ? WF_SEND_SOLICITED : 0;
	op->flags |= model_chance(s, 10) ? WF_SEND_INLINE : 0;
	op->pieces = (uint8_t)(1 + model_below(s, 4));
	op->steps = model_chance(s, 50) ? (uint8_t)model_below(s, 40) : 0;
	op->size = (uint16_t)model_below(s, small == 0 ? 3 : small == 1 ? 600 : MODEL_MSG + 1);
	op->off = (uint16_t)model_below(s, MODEL_RW - MODEL_MSG);
	op->src = (uint16_t)model_below(s, MODEL_SRC - MODEL_MSG);
}

static inline void model_draw(struct model_source *s, struct model_prog *p)
{
	memset(p, 0, sizeof(*p));
	p->hosts = 2 + model_below(s, RIG_HOSTS - 1);
	p->links = 1 + model_below(s, MODEL_LINKS);
	if (model_chance(s, 75)) {
		p->faults.drop = model_below(s, 6) * 42949672;
		p->faults.twice = model_below(s, 8) * 42949672;
		p->faults.late = model_below(s, 12) * 42949672;
		p->faults.bad = model_below(s, 3) * 42949672;
		p->faults.trim = model_below(s, 10) * 42949672;
	}
	p->faults.mark = model_below(s, 3) * 200000000;
	for (uint32_t i = 0; i < p->links; i++)
		model_draw_link(s, p, &p->link[i]);
	p->ops = 1 + model_below(s, MODEL_OPS);
	for (uint32_t i = 0; i < p->ops; i++)
		model_draw_op(s, p, &p->op[i]);
	p->apm = model_chance(s, 40);
	for (uint32_t i = 0; p->apm && i < p->ops; i++) {
		if (p->op[i].kind == MODEL_RECV || p->op[i].kind == MODEL_REREG)
			p->op[i].kind = (uint8_t)(MODEL_REARM + p->op[i].src % 3);
	}
}

static inline void model_print(const struct model_prog *p, FILE *to)
{
	fprintf(to,
	        "program %llu: %u hosts, drop %.0f%% twice %.0f%% late %.0f%% bad %.0f%% "
	        "trim %.0f%%%s\n",
	        (unsigned long long)p->seed, p->hosts, p->faults.drop / 42949672.96,
	        p->faults.twice / 42949672.96, p->faults.late / 42949672.96,
	        p->faults.bad / 42949672.96, p->faults.trim / 42949672.96,
	        p->apm ? ", two paths" : "");
	for (uint32_t i = 0; i < p->links; i++) {
		const struct model_link *l = &p->link[i];

		fprintf(to,
		        "  link %u: %s host %u - host %u, mtu %u, psn 0x%x, max_rd %u, window "
		        "%u%s%s%s%s%s"
		        ", reorder %u\n",
		        i,
		        l->type == WF_QPT_RC   ? "RC"
		        : l->type == WF_QPT_UC ? "UC"
		                               : "UD",
		        l->host[0], l->host[1], 128 << l->mtu, l->psn, l->max_rd, l->window,
		        l->selective ? ", selective" : "", l->credits ? ", credits" : "",
		        l->srq ? ", srq" : "", l->paced ? ", paced" : "",
		        l->sig_all ? ", sig_all" : "", l->reorder);
	}
	for (uint32_t i = 0; i < p->ops; i++) {
		const struct model_op *op = &p->op[i];

		fprintf(to,
		        "  %2u: link %u side %u %-9s size %u off %u pieces %u flags %x, then %u "
		        "steps\n",
		        i, op->link, op->side, model_kind_name[op->kind], op->size, op->off,
		        op->pieces, op->flags, op->steps);
	}
}

#endif
