/* SPDX-License-Identifier: Apache-2.0 */
/* agent_priv.h - what the agents of all classes do with a header. */
#ifndef WF_MGMT_AGENT_PRIV_H
#define WF_MGMT_AGENT_PRIV_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/byte.h"
#include "wire/mad.h"

#define WF_MAD_AT_METHOD 3
#define WF_MAD_AT_STATUS 4

/* Makes a request its answer. The direction of a directed route begins in the status's top bit. */
static inline void wf_agent_answer(uint8_t *mad, unsigned status)
{
	if (mad[1] == WF_MAD_CLASS_SUBN_DR)
		status |= WF_SMP_DIRECTION;
	mad[WF_MAD_AT_METHOD] = WF_MAD_METHOD_GET_RESP;
	wf_be16_put(mad + WF_MAD_AT_STATUS, (uint16_t)status);
}

/* What is wrong with a request as such: versions and method; WF_MAD_OK when nothing is. */
static inline unsigned wf_agent_check(const struct wf_mad *h, uint8_t class_version)
{
	if (h->base_version != WF_MAD_BASE_VERSION || h->class_version != class_version)
		return WF_MAD_BAD_VERSION;
	if (h->method != WF_MAD_METHOD_GET && h->method != WF_MAD_METHOD_SET)
		return WF_MAD_BAD_METHOD;
	return WF_MAD_OK;
}

#endif
