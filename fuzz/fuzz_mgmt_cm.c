/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_mgmt_cm.c - communication management is told anything: messages, time and calls, a byte of
 * what before each.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mgmt/cm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SERVICE 0x01060001

static int on_event(void *arg, const struct wf_cm_event *event)
{
	struct wf_cm_conn **conn = arg;

	if (event->type != WF_CM_EV_REQ && event->type != WF_CM_EV_SIDR_REQ)
		return 0;
	if (*conn != NULL)
		return -1;
	*conn = event->conn;
	return 0;
}

static void act(struct wf_cm_conn *conn, unsigned what, wf_time now)
{
	struct wf_cm_rep rep = { .qpn = what };

	if (what % 5 == 0)
		(void)!wf_cm_accept(conn, &rep, NULL, 0, now);
	else if (what % 5 == 1)
		(void)!wf_cm_establish(conn);
	else if (what % 5 == 2)
		(void)!wf_cm_reject(conn, WF_CM_REJ_CONSUMER, NULL, 0);
	else if (what % 5 == 3)
		(void)!wf_cm_disconnect(conn, now);
	else
		(void)!wf_cm_resolved(conn, WF_CM_SIDR_OK, 1, 2, NULL, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wf_cm_conn *passive = NULL, *active = NULL;
	struct wf_cm_cfg cfg = { .event = on_event, .arg = &passive };
	struct wf_cm_req req = { .service = SERVICE, .qpn = 2, .max_retries = 2 };
	uint8_t mad[WF_MAD_LEN];
	struct wf_cm *cm;
	wf_time now = 0;
	uint32_t host;

	if (wf_cm_create(&cfg, wf_mem_heap(), &cm) != 0)
		return 0;
	if (wf_cm_listen(cm, SERVICE, NULL) != 0 ||
	    wf_cm_connect(cm, 1, &req, NULL, 0, NULL, now, &active) != 0)
		abort();
	while (size >= 4) {
		size_t n = size - 4 < WF_MAD_LEN - WF_MAD_HEADER_LEN
		                   ? size - 4
		                   : WF_MAD_LEN - WF_MAD_HEADER_LEN;

		memset(mad, 0, sizeof(mad));
		wf_cm_header(mad, (uint16_t)(WF_CM_REQ + data[0] % 9), 0);
		memcpy(mad + WF_CM_DATA, data + 4, n);
		wf_cm_rx(cm, data[1] & 1, mad, now);
		act(active, data[2], now);
		if (passive != NULL)
			act(passive, data[2] / 5, now);
		now += (wf_time)data[3] << 30;
		wf_cm_tick(cm, now);
		data += 4 + n;
		size -= 4 + n;
	}
	wf_cm_release(active, now);
	if (passive != NULL)
		wf_cm_release(passive, now);
	while (wf_cm_tx(cm, &host, mad))
		;
	wf_cm_destroy(cm);
	return 0;
}
