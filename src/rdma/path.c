/* SPDX-License-Identifier: Apache-2.0 */
/* path.c - entropy and marks. */
#include "rdma/path_priv.h"

#include "rdma/qp_priv.h"
#include "wire/ether.h"
#include "wire/packet.h"

uint16_t wf_path_entropy(const struct wf_ah_attr *ah, uint32_t a, uint32_t b)
{
	uint64_t v = (uint64_t)a * b;
	uint32_t flow_label = ah->flow_label;

	if (ah->roce1)
		return 0;
	if (ah->by_lid)
		return ah->dlid;
	if (flow_label == 0) {
		v ^= v >> 20;
		v ^= v >> 40;
		flow_label = (uint32_t)v & 0xfffff;
	}
	return wf_udp_source(flow_label ^ (flow_label >> 14));
}

uint8_t wf_path_ect(const struct wf_qp *qp, const struct wf_ah_attr *ah)
{
	bool ect = qp->init.tune.ect || (ah->traffic_class & 3) != 0;

	return ect && !ah->roce1 ? WF_PACKET_ECT : 0;
}
