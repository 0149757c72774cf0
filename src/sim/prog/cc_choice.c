/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cc_choice.c - the rows of all congestion control parameters, and what a queue pair makes of them.
 */
#include "sim/prog/cc_choice.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "cc/algs.h"
#include "fabric/config.h"

static const char *const cnp_per[] = {
	[WF_CNP_PER_QP] = "qp", [WF_CNP_PER_HOST] = "ip", [WF_CNP_PER_PORT] = "port", NULL
};

static const struct wf_param own_rows[] = {
	{ .name = "cc.algorithm",
	  .kind = WF_PARAM_TEXT,
	  WF_PARAM_FIELD(struct wf_cc_choice, algorithm),
	  .def = "none",
	  .help = "congestion control of queue pairs (weft list cc)" },
	{ .name = "cc.min_time_between_cnps",
	  .kind = WF_PARAM_TIME,
	  WF_PARAM_FIELD(struct wf_cc_choice, cnp_gap),
	  .has_auto = true,
	  .max = WF_S,
	  .def = "auto",
	  .help = "notification point: least time between two CNPs (cc.cnp_per); auto: 50us with "
	          "dcqcn, as in its paper, else 4us" },
	{ .name = "cc.cnp_per",
	  .kind = WF_PARAM_NAME,
	  WF_PARAM_FIELD(struct wf_cc_choice, cnp_per),
	  .names = cnp_per,
	  .def = "qp",
	  .help = "what that time is kept for: each queue pair (the paper), each address CNPs go "
	          "to, or "
	          "the port (NVIDIA's ROCE_CC_CNP_MODERATION)" },
	{ .name = "cc.reaction_point",
	  .kind = WF_PARAM_BOOL,
	  WF_PARAM_FIELD(struct wf_cc_choice, reacts),
	  .def = "true",
	  .help = "an adapter slows down when it is told of marks (RP; ecn/roce_rp/enable)" },
	{ .name = "cc.notification_point",
	  .kind = WF_PARAM_BOOL,
	  WF_PARAM_FIELD(struct wf_cc_choice, notifies),
	  .def = "true",
	  .help = "an adapter tells senders of marks (NP; ecn/roce_np/enable)" },
	{ .name = "cc.cnp_802p_prio",
	  .kind = WF_PARAM_U32,
	  WF_PARAM_FIELD(struct wf_cc_choice, cnp_class),
	  .max = 15,
	  .def = "0",
	  .help = "priority of CNPs; 0: that of the data" },
};

size_t wf_cc_choice_n_rows(void)
{
	const struct wf_cc_ops *ops;
	size_t n = WF_ARRAY_SIZE(own_rows);

	for (size_t i = 0; (ops = wf_cc_at(i)) != NULL; i++)
		n += ops->n_params;
	return n;
}

static char *append(char *to, const char *text)
{
	while (*text != '\0')
		*to++ = *text++;
	return to;
}

/* "cc." algorithm "." name, in mem's memory; NULL: no more. */
static char *full_name(struct wf_mem *mem, const char *algorithm, const char *name)
{
	char *text = mem->alloc(mem, strlen("cc..") + strlen(algorithm) + strlen(name) + 1);

	if (text != NULL) /* zeroed, and so ended */
		append(append(append(append(text, "cc."), algorithm), "."), name);
	return text;
}

int wf_cc_choice_rows(struct wf_mem *mem, size_t base, struct wf_param **rows_p, size_t *n_p)
{
	size_t n = wf_cc_choice_n_rows(), k = WF_ARRAY_SIZE(own_rows);
	struct wf_param *rows = mem->alloc(mem, n * sizeof(*rows));
	const struct wf_cc_ops *ops;

	if (rows == NULL)
		return -ENOMEM;
	memcpy(rows, own_rows, sizeof(own_rows));
	for (size_t i = 0; (ops = wf_cc_at(i)) != NULL; i++) {
		assert(i < WF_CC_MAX_ALGORITHMS && ops->param_size <= WF_CC_PARAM_MAX);
		for (size_t p = 0; p < ops->n_params; p++, k++) {
			rows[k] = ops->params[p];
			rows[k].offset += offsetof(struct wf_cc_choice, param) +
			                  i * sizeof(((struct wf_cc_choice *)0)->param[0]);
			rows[k].name = full_name(mem, ops->name, ops->params[p].name);
			if (rows[k].name == NULL)
				return -ENOMEM;
		}
	}
	assert(k == n);
	for (size_t i = 0; i < n; i++) {
		rows[i].offset += base;
		rows[i].per = WF_PER_HOST;
	}
	*rows_p = rows;
	*n_p = n;
	return 0;
}

/*
 * Whether marks come back as CNPs of their own. DCQCN wants them so; InfiniBand has both ways, and
 * all others read the acknowledgements.
 */
static bool wants_cnps(const struct wf_cc_ops *ops, const void *param)
{
	const struct wf_cc_ibcc_param *ibcc = param;

	return ops == &wf_cc_dcqcn || (ops == &wf_cc_ibcc && !ibcc->becn_on_ack);
}

/* The other defaults of dcqcn are its paper's: with CNPs in 4 us they would stop every flow. */
static wf_time cnp_gap(const struct wf_cc_choice *choice)
{
	if (choice->cnp_gap != WF_PARAM_AUTO)
		return wf_max_time(choice->cnp_gap, 1);
	return strcmp(choice->algorithm, "dcqcn") == 0 ? 50 * WF_US : 4 * WF_US;
}

int wf_cc_choice_tune(const struct wf_cc_choice *choice, struct wf_qp_tune *tune,
                      struct wf_err *err)
{
	const struct wf_cc_ops *ops;
	bool by_cnp;

	for (size_t i = 0; (ops = wf_cc_at(i)) != NULL; i++) {
		if (strcmp(ops->name, choice->algorithm) != 0)
			continue;
		by_cnp = wants_cnps(ops, choice->param[i].bytes);
		tune->cc = ops;
		tune->cc_param = ops->param_size > 0 ? choice->param[i].bytes : NULL;
		tune->cnp_interval = by_cnp && choice->notifies ? cnp_gap(choice) : 0;
		tune->cnp_cls = wf_narrow_u8(choice->cnp_class);
		tune->cnp_per = WF_CNP_PER_QP;
		while (cnp_per[tune->cnp_per] != NULL &&
		       strcmp(cnp_per[tune->cnp_per], choice->cnp_per) != 0)
			tune->cnp_per++;
		/* Those that do not wait for CNPs see the marks in the acknowledgements. */
		tune->ecn_echo = !by_cnp && choice->notifies;
		/* They need them for READ responses, too: of CNPs the responder hears anyway. */
		tune->read_acks = !by_cnp && ops != &wf_cc_none;
		if (!choice->reacts) {
			tune->cc = &wf_cc_none;
			tune->cc_param = NULL;
		}
		return 0;
	}
	return wf_err_say(err, "cc.algorithm: there is no \"%s\"; weft list cc names them",
	                  choice->algorithm);
}
