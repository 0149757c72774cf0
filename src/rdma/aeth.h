/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aeth.h - the syndromes of acknowledgements.
 */
#ifndef WF_RDMA_AETH_H
#define WF_RDMA_AETH_H

/* AETH syndromes: kind in bits 5 and 6, value in bits 0 to 4 (IBTA 9.7.5.1.4). */
#define WF_AETH_KIND 0x60
#define WF_AETH_VALUE 0x1f
#define WF_AETH_ACK 0x00
#define WF_AETH_RNR 0x20
#define WF_AETH_NAK 0x60
#define WF_AETH_NO_CREDIT 0x1f
#define WF_NAK_SEQ (WF_AETH_NAK | 0)
#define WF_NAK_INV_REQ (WF_AETH_NAK | 1)
#define WF_NAK_REM_ACCESS (WF_AETH_NAK | 2)
#define WF_NAK_REM_OP (WF_AETH_NAK | 3)
#define WF_NAK_INV_RD (WF_AETH_NAK | 4)
#define WF_NAK_TRIMMED (WF_AETH_NAK | 31) /* weft's own: the PSN in the MSN's place was trimmed */
#define WF_AETH_READ 0x40 /* weft's own, a reserved kind: of READ responses, see read_ack.c */
#define WF_READ_CAME (WF_AETH_READ | 0)
#define WF_READ_TRIMMED (WF_AETH_READ | 1)

#endif
