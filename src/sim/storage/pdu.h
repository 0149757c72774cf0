/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pdu.h - how long the protocol data units of NVMe/TCP are (NVMe TCP Transport Specification 1.0a).
 *
 *	header, 24 or 72 bytes | header digest, 4 | pad to data_align | data | data digest, 4
 *
 * Digests are there where both ends want them; a pad and a data digest only where there is data.
 * 8 bytes of each header are the same for all: what it is, and how long its parts are.
 */
#ifndef WF_SIM_STORAGE_PDU_H
#define WF_SIM_STORAGE_PDU_H

#include "sim/storage/config.h"

#define WF_PDU_COMMAND 72  /* CapsuleCmd: a submission queue entry */
#define WF_PDU_RESPONSE 24 /* CapsuleResp: a completion queue entry */
#define WF_PDU_R2T 24      /* ready to transfer */
#define WF_PDU_DATA 24     /* H2CData, C2HData */

/* Bytes of a PDU with so many of header and of data. */
static inline uint64_t wf_pdu_bytes(const struct wf_storage_cfg *cfg, uint64_t header,
                                    uint64_t data)
{
	uint64_t bytes = header + (cfg->header_digest ? 4 : 0);

	if (data == 0)
		return bytes;
	bytes = (bytes + cfg->data_align - 1) / cfg->data_align * cfg->data_align;
	return bytes + data + (cfg->data_digest ? 4 : 0);
}

/* Bytes of the PDUs that bring all data of a write that was asked for. */
static inline uint64_t wf_pdu_h2c_bytes(const struct wf_storage_cfg *cfg, uint64_t data)
{
	uint64_t full = data / cfg->maxh2cdata, rest = data % cfg->maxh2cdata;
	uint64_t bytes = full * wf_pdu_bytes(cfg, WF_PDU_DATA, cfg->maxh2cdata);

	return rest == 0 ? bytes : bytes + wf_pdu_bytes(cfg, WF_PDU_DATA, rest);
}

/* Bytes of the data of a read and its response, which may be a flag of the data. */
static inline uint64_t wf_pdu_c2h_bytes(const struct wf_storage_cfg *cfg, uint64_t data)
{
	uint64_t bytes = wf_pdu_bytes(cfg, WF_PDU_DATA, data);

	return cfg->success ? bytes : bytes + wf_pdu_bytes(cfg, WF_PDU_RESPONSE, 0);
}

#endif
