/* SPDX-License-Identifier: Apache-2.0 */
/* claims.c - links from what is said of their ends. */
#include "subnet/claims.h"

#include <errno.h>

static int join(struct wf_subnet *subnet, const struct wf_claim *claims, const uint8_t *told,
                uint32_t index)
{
	const struct wf_claim *claim = &claims[index];
	struct wf_subnet_port *port = &subnet->ports[index];
	struct wf_subnet_port *peer = wf_subnet_port(subnet, claim->node, claim->port);
	const struct wf_claim *back = &claims[peer - subnet->ports];
	unsigned number = wf_subnet_number(subnet, port);
	struct wf_subnet_doubt doubt = {
		.line = claim->line,
		.a = port->node,
		.b = claim->node,
		.a_port = (uint8_t)number,
		.b_port = claim->port,
	};
	bool agree = back->line != 0 && back->node == port->node && back->port == number;

	if (agree && port->peer != WF_SUBNET_NONE)
		return 0; /* done from the other end */
	if ((back->line != 0 && !agree) || port->peer != WF_SUBNET_NONE ||
	    peer->peer != WF_SUBNET_NONE) {
		doubt.kind = WF_SUBNET_CONTRADICTED;
		return wf_subnet_doubt(subnet, &doubt);
	}
	wf_subnet_join(subnet, port->node, number, claim->node, claim->port);
	if (agree || !told[claim->node])
		return 0;
	doubt.kind = WF_SUBNET_ONE_SIDED;
	return wf_subnet_doubt(subnet, &doubt);
}

int wf_claims_join(struct wf_subnet *subnet, const struct wf_claim *claims, const uint8_t *told)
{
	int ret = 0;

	for (uint32_t i = 0; i < subnet->n_ports && ret == 0; i++) {
		if (claims[i].line != 0)
			ret = join(subnet, claims, told, i);
	}
	return ret;
}
