/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lag.h - an adapter with several ports that are one to the outside: RoCE over a link aggregation.
 *
 * Whatever comes in by any port is for the one adapter. What goes out leaves by the port that its
 * queue pair has. Adapters give out ports in three ways (mlx5's lag_port_select_mode, and Linux'
 * bonding modes 4 or 2, and 1):
 *
 *	affinity    queue pairs take turns when they are created
 *	hash        a hash of addresses and UDP source port decides, of a sprayed packet by itself
 *	backup      all have the first port that is in use
 *
 * And where the ports are not one, as on InfiniBand:
 *
 *	own         that of the attributes, port_num
 *
 * The driver says which ports are in use. A queue pair whose port is not has another one meanwhile;
 * what it had sent by the old one may be lost, and is sent again as after any loss.
 *
 * The driver of such an adapter asks about one port at a time, and says which: between wf_hca_ask()
 * and wf_hca_asked() the functions of hca.h that have to do with sending are about that port. With
 * one port there is nothing to say.
 */
#ifndef WF_RDMA_LAG_H
#define WF_RDMA_LAG_H

#include "base/base.h"

#define WF_HCA_PORTS 2

struct wf_hca;

enum wf_lag { WF_LAG_AFFINITY, WF_LAG_HASH, WF_LAG_BACKUP, WF_LAG_OWN };

/* The port that number has while those in the mask used are in use (0: all are). */
uint32_t wf_lag_port(uint32_t number, uint32_t used);

/* The number of the port, of ports, that a flow has by its hash. */
uint32_t wf_lag_hash(uint64_t key, uint32_t src, uint32_t dst, uint16_t entropy, uint32_t ports);

/*
 * From now on wf_hca_tx(), wf_hca_tx_time() and wf_hca_hold() are about port; nothing else may be
 * called before wf_hca_asked().
 */
void wf_hca_ask(struct wf_hca *hca, uint32_t port, wf_time now);

/* It is done. */
void wf_hca_asked(struct wf_hca *hca);

/* What wf_hca_tx_time() would be, asked about port. */
wf_time wf_hca_tx_time_by(struct wf_hca *hca, uint32_t port);

/* The ports of the mask used are in use from now on: queue pairs move. 0: nothing happens. */
void wf_hca_use_ports(struct wf_hca *hca, uint32_t used);

/*
 * A request came to queue pair qpn by port. Where queue pairs look for a path (attr.lag_follow), it
 * answers by that port from now on.
 */
void wf_hca_came(struct wf_hca *hca, uint32_t qpn, uint32_t port);

#endif
