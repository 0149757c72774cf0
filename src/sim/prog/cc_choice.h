/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cc_choice.h - which congestion control the queue pairs of a fabric use, and its parameters.
 *
 * Every algorithm's parameters have a place here, so that one table of rows can describe them all:
 * "cc.algorithm", "cc.min_time_between_cnps", and "cc.<algorithm>.<parameter>" for each.
 */
#ifndef WF_SIM_PROG_CC_CHOICE_H
#define WF_SIM_PROG_CC_CHOICE_H

#include "base/err.h"
#include "base/mem.h"
#include "base/param.h"
#include "cc/cc.h"
#include "rdma/qp.h"

#define WF_CC_MAX_ALGORITHMS 16

struct wf_cc_choice {
	char algorithm[16]; /* a name of src/cc */
	wf_time cnp_gap;    /* least time between two CNPs for one queue pair */
	char cnp_per[8];    /* what that holds for: "qp", "ip" or "port" */
	uint32_t cnp_class; /* priority of CNPs; 0: as the data */
	bool reacts;        /* as a sender */
	bool notifies;      /* as a receiver */
	struct {
		uint64_t align[0];
		unsigned char bytes[WF_CC_PARAM_MAX];
	} param[WF_CC_MAX_ALGORITHMS]; /* in the order of wf_cc_at() */
};

/*
 * The rows for a struct wf_cc_choice at offset base of some larger struct, in mem's memory. Returns
 * 0 or -ENOMEM.
 */
int wf_cc_choice_rows(struct wf_mem *mem, size_t base, struct wf_param **rows_p,
                      size_t *n_p) WF_MUST_USE;

/* How many rows there are. */
size_t wf_cc_choice_n_rows(void);

/*
 * Sets up a queue pair's congestion control as choice says. choice is borrowed for the life of the
 * queue pair. Returns 0, or -EINVAL with err filled for an algorithm that is not there or that
 * needs what this fabric does not give.
 */
int wf_cc_choice_tune(const struct wf_cc_choice *choice, struct wf_qp_tune *tune,
                      struct wf_err *err) WF_MUST_USE;

#endif
