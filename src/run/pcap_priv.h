/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcap_priv.h - which ports a capture is of.
 */
#ifndef WF_RUN_PCAP_PRIV_H
#define WF_RUN_PCAP_PRIV_H

#include "base/err.h"
#include "topo/topo.h"

struct wf_pcap_port {
	uint32_t node;
	uint16_t port;
	char name[WF_TOPO_NAME + 8]; /* "h5", "leaf0:3" */
};

/*
 * Reads "leaf0:3,h5": nodes, with a port or all of theirs; NULL is the ports of all hosts. They
 * come in the order of (node, port), each once, in memory that the caller frees with free().
 * Returns 0, -ENOMEM, or -EINVAL with err filled.
 */
int wf_pcap_parse_ports(const struct wf_topo *topo, const char *text, struct wf_pcap_port **ports_p,
                        size_t *n_p, struct wf_err *err) WF_MUST_USE;

#endif
