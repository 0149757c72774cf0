/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_wire_mad.c - the headers of a management datagram come back as they were.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/mad.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t out[WF_MAD_LEN];
	struct wf_rmpp rmpp;
	struct wf_smp smp;
	struct wf_mad mad;
	struct wf_sa_hdr sa;

	if (size < WF_MAD_LEN)
		return 0;
	memcpy(out, data, WF_MAD_LEN);
	memset(out, 0, WF_SA_DATA);
	wf_mad_decode(data, &mad);
	wf_mad_encode(&mad, out);
	wf_rmpp_decode(data, &rmpp);
	wf_rmpp_encode(&rmpp, out);
	wf_sa_hdr_decode(data, &sa);
	wf_sa_hdr_encode(&sa, out);
	if (memcmp(out, data, WF_MAD_LEN) != 0)
		abort();
	memset(out + WF_MAD_HEADER_LEN, 0, 12);
	wf_smp_decode(data, &smp);
	wf_smp_encode(&smp, out);
	if (memcmp(out, data, WF_MAD_LEN) != 0)
		abort();
	return 0;
}
