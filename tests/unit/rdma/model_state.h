/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_state.h - what there is while a program of model.h runs, and the two paths that its links
 * may have: rearming, migrating, and a path that dies.
 */
#ifndef WF_TESTS_MODEL_STATE_H
#define WF_TESTS_MODEL_STATE_H

#include "model.h"

#define MODEL_ARENA (2 * 1024 * 1024)
#define MODEL_WCS (MODEL_OPS + 1)

struct model_msg { /* what a receive must find */
	uint8_t kind;
	uint32_t size, imm;
	const uint8_t *src;
};

struct model_slot { /* what a READ or an atomic must leave behind */
	uint8_t *at;
	uint32_t size;
	uint8_t want[MODEL_MSG];
};

/* One direction of a link: from its sender to its receiver. */
struct model_dir {
	uint8_t *rw, *src;
	uint8_t shadow[MODEL_RW];
	struct wf_mr *rw_mr;
	struct wf_mw *mw;
	uint32_t mw_rkey;
	bool bound, read_pending;
	struct model_msg msg[MODEL_OPS];
	uint32_t msgs, received, recvs;
	struct {
		uint64_t id;
		uint8_t opcode;
	} wc[MODEL_WCS];
	uint32_t wcs, completed;
	struct model_slot *slot[MODEL_OPS];
	uint32_t slots;
};

struct model_run {
	const struct model_prog *prog;
	struct rig rig;
	struct wf_mr *mr[RIG_HOSTS];
	struct wf_srq *srq[RIG_HOSTS];
	uint8_t *arena[RIG_HOSTS];
	uint32_t used[RIG_HOSTS];
	struct wf_qp *qp[MODEL_LINKS][2];
	struct wf_ah *ah[MODEL_LINKS][2];
	struct model_dir dir[MODEL_LINKS][2]; /* by who sends */
	uint64_t next_id;
	uint8_t dead[MODEL_LINKS]; /* number of the port by which its packets are lost; 0: none */
};

static inline struct wf_qp_attr model_query(const struct model_run *r, uint32_t link, uint32_t side)
{
	struct wf_qp_attr attr;

	wf_qp_query(r->qp[link][side], &attr, NULL);
	return attr;
}

static inline bool model_is_armed(const struct model_run *r, uint32_t link)
{
	struct wf_qp_attr a = model_query(r, link, 0), b = model_query(r, link, 1);

	return a.path_mig_state == WF_MIG_ARMED && b.path_mig_state == WF_MIG_ARMED;
}

/* Loses what goes by a dead path. It is whole again when both have left it. */
static inline bool model_filter(struct rig *rig, struct wf_packet *pkt)
{
	struct model_run *r = rig->ctx;
	uint32_t hosts = r->prog->hosts, i = 0;

	while (i < 2 * r->prog->links && (r->prog->link[i / 2].host[i % 2] != pkt->dst % hosts ||
	                                  wf_qp_num(r->qp[i / 2][i % 2]) != pkt->qpn))
		i++;
	rig_must(i < 2 * r->prog->links);
	i /= 2;
	if (r->dead[i] != 0 && model_query(r, i, 0).port_num != r->dead[i] &&
	    model_query(r, i, 1).port_num != r->dead[i])
		r->dead[i] = 0;
	return pkt->dst / hosts + 1 != r->dead[i];
}

/* Both sides load the other port's path, when they have one and the same, and nothing is late. */
static inline void model_rearm(struct model_run *r, uint32_t link)
{
	const struct model_link *l = &r->prog->link[link];
	struct wf_qp_attr a = model_query(r, link, 0), b = model_query(r, link, 1);

	if (l->type != WF_QPT_RC || r->dead[link] != 0 || a.port_num != b.port_num ||
	    a.path_mig_state != WF_MIG_MIGRATED || b.path_mig_state != WF_MIG_MIGRATED)
		return;
	for (uint32_t side = 0; side < 2; side++) {
		uint8_t port = 3 - a.port_num;
		struct wf_qp_attr attr = {
			.alt_ah_attr.dest = l->host[1 - side] + (port - 1u) * r->prog->hosts,
			.alt_port_num = port,
			.alt_timeout = 5,
			.path_mig_state = WF_MIG_REARM,
		};

		rig_must(wf_qp_modify(r->qp[link][side], &attr,
		                      WF_QP_ALT_PATH | WF_QP_PATH_MIG_STATE) == 0);
	}
}

#endif
