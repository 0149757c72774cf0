/* SPDX-License-Identifier: Apache-2.0 */
/* config.h - what a scenario says of a fabric's management: the parameters sm and sm.*. */
#ifndef WF_SIM_MGMT_CONFIG_H
#define WF_SIM_MGMT_CONFIG_H

#include "base/mem.h"
#include "mgmt/sm/cfg.h"

struct wf_topo;
struct wf_managed_cfg;

enum wf_manage_kind {
	WF_MANAGE_AUTO,  /* whoever asks says what that is */
	WF_MANAGE_IDEAL, /* routes are there, and change by themselves */
	WF_MANAGE_WEFT,  /* weft's subnet manager */
	WF_MANAGE_NONE,  /* nobody, or who attaches to a live fabric */
};

struct wf_manage_cfg {
	char kind[8];   /* a name of wf_manage_kinds */
	char hosts[64]; /* "h0,h1": those that have a manager */
	char start[8];  /* "up" or "cold" */
	char partitions
		[128]; /* partitions.conf: the file, which the caller reads into sm.partitions */
	wf_time switch_time, host_time, manager_time; /* for one MAD */
	struct wf_sm_cfg sm;
};

extern const char *const wf_manage_kinds[]; /* by enum wf_manage_kind; ends with NULL */

/*
 * The rows for a struct wf_manage_cfg, in mem's memory, as fields of a struct at whose offset base
 * it is. Returns 0 or -ENOMEM.
 */
int wf_manage_rows(struct wf_mem *mem, size_t base, struct wf_param **rows_p,
                   size_t *n_p) WF_MUST_USE;

/* Who manages it; a scenario that does not say leaves that to by_itself. */
enum wf_manage_kind wf_manage_kind_of(const struct wf_manage_cfg *cfg,
                                      enum wf_manage_kind by_itself);

/*
 * What a fabric of that topology is to be given that weft manages, or nobody (WF_MANAGE_NONE);
 * *managed borrows from *cfg. Returns 0, or -EINVAL with err filled: a host that is not there.
 */
int wf_manage_resolve(const struct wf_manage_cfg *cfg, enum wf_manage_kind kind,
                      const struct wf_topo *topo, struct wf_managed_cfg *managed,
                      struct wf_err *err) WF_MUST_USE;

/*
 * A manager has the subnet that its port is in. Returns 0, -EINVAL with err filled where hosts have
 * several ports and these are not all in one, or -ENOMEM. mem is for as long as it takes.
 */
int wf_manage_check_topo(const struct wf_topo *topo, struct wf_mem *mem,
                         struct wf_err *err) WF_MUST_USE;

#endif
