/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage.h - hosts that use the drives of others: NVMe over Fabrics.
 *
 * Each host has I/O queues with each of its targets. A command goes as a capsule; the target gives
 * it to one of its drives, moves the data, and answers with a capsule:
 *
 *	read              command -> | drive | data, response ->
 *	write, small      command with data -> | drive | response ->
 *	write, others     command -> fetches the data -> | drive | response ->
 *
 * RDMA or TCP carries that, each entry in its own way: rdma.c, tcp.c.
 *
 * A queue whose connection fails at either end is over, and what was under way on it has failed.
 * Contents do not matter: no bytes are moved.
 */
#ifndef WF_SIM_STORAGE_STORAGE_H
#define WF_SIM_STORAGE_STORAGE_H

#include "sim/prog/app.h"
#include "sim/prog/cc_choice.h"
#include "sim/storage/config.h"
#include "sim/storage/result.h"

#define WF_STORAGE_MAX_COMMANDS (UINT32_C(1) << 22) /* of all queues together */

/* One way of using storage. */
struct wf_storage_entry {
	struct wf_storage_cfg cfg; /* wf_storage_check() has passed it */
	const uint32_t *hosts, *targets;
	uint32_t n_hosts, n_targets; /* host indices, all different */
};

/* The I/Os of an entry that may be under way at a time. */
static inline uint64_t wf_storage_commands(const struct wf_storage_entry *e)
{
	return (uint64_t)e->n_hosts * e->n_targets * e->cfg.queues * e->cfg.depth;
}

/* Whether any of n entries goes over TCP on a fabric that has a nic.stack. */
bool wf_storage_any_tcp(const struct wf_storage_entry *entries, size_t n, const char *nic_stack);

struct wf_storage;

/*
 * Plans n entries (at least one). entries and cc (NULL: none) are borrowed while it lives. Returns
 * 0, -ENOMEM, or -EINVAL with err filled.
 */
int wf_storage_create(const struct wf_fabric *fabric, const struct wf_cc_choice *cc,
                      const struct wf_storage_entry *entries, size_t n,
                      struct wf_storage **storage_p, struct wf_err *err) WF_MUST_USE;

/* It as an application: connects the queues and sets the adapters' programs. */
void wf_storage_app(struct wf_storage *storage, struct wf_sim_app *app);

/* What entry i has come to, while no node runs. */
void wf_storage_result(const struct wf_storage *storage, size_t i,
                       struct wf_storage_result *result);

/* NULL is allowed. */
void wf_storage_destroy(struct wf_storage *storage);

#endif
