/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_metric.c - lines of Prometheus' text format:
 *
 *	node_infiniband_link_downed_total{device="mlx5_0",port="1",instance="h1:9100"} 0
 *
 * An exporter on a host has its adapters in device, and the host is the instance or the file's;
 * what weft writes of a whole fabric has its nodes there.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "evidence/read_priv.h"

struct labels {
	struct wf_slice device, port, instance, node;
	bool run; /* one of weft's results files */
};

static struct wf_slice take_until(struct wf_scan *s, const char *ends)
{
	struct wf_slice word = { s->at, 0 };

	while (s->at < s->stop && (*s->at == '\0' || strchr(ends, *s->at) == NULL))
		s->at++;
	word.len = (size_t)(s->at - word.at);
	return word;
}

/* {name="text",...}; false: it breaks off. */
static bool take_labels(struct wf_scan *s, struct labels *l)
{
	while (!wf_scan_take(s, "}")) {
		struct wf_slice name, text;

		(void)wf_scan_blanks(s);
		name = take_until(s, "=\"");
		if (!wf_scan_take(s, "=\""))
			return false;
		text = take_until(s, "\"");
		if (!wf_scan_take(s, "\""))
			return false;
		if (wf_slice_is(name, "device"))
			l->device = text;
		else if (wf_slice_is(name, "port"))
			l->port = text;
		else if (wf_slice_is(name, "instance") || wf_slice_is(name, "host"))
			l->instance = text;
		else if (wf_slice_is(name, "switch") || wf_slice_is(name, "node"))
			l->node = text;
		else if (wf_slice_is(name, "run"))
			l->run = true;
		(void)wf_scan_take(s, ",");
	}
	return true;
}

static int port_of(struct wf_read *r, const struct labels *l, uint32_t *port_p)
{
	char port[WF_READ_NAME], device[64], number[32];
	struct wf_slice of = l->node.len > 0 ? l->node : l->run ? l->device : l->instance;
	uint32_t id;
	int ret;

	wf_scan_copy(device, sizeof(device), l->device.at, l->device.at + l->device.len);
	wf_scan_copy(number, sizeof(number), l->port.at, l->port.at + l->port.len);
	if (l->run || l->device.len == 0 || l->node.len > 0)
		snprintf(port, sizeof(port), "%s", number[0] != '\0' ? number : "1");
	else
		snprintf(port, sizeof(port), "%s%s%s", device, number[0] != '\0' ? "/" : "",
		         number);
	if (!l->run && of.len > 0) {
		/* The exporter's own port does not name its host. */
		const char *colon = memchr(of.at, ':', of.len);

		of.len = colon != NULL ? (size_t)(colon - of.at) : of.len;
	}
	ret = of.len > 0 ? wf_evidence_device(r->ev, of.at, of.len, &id) : wf_read_device(r, &id);
	return ret != 0 ? ret : wf_evidence_port(r->ev, id, port, strlen(port), port_p);
}

int wf_read_metric(struct wf_read *r)
{
	struct wf_scan s = r->scan;
	struct wf_slice none = { "", 0 }, name = take_until(&s, "{ :/");
	struct labels l = { none, none, none, none, false };
	struct wf_ev_name is;
	uint64_t value;
	uint32_t port;
	int ret;

	if (!wf_scan_take(&s, "{"))
		return -EAGAIN;
	if (!take_labels(&s, &l))
		return wf_scan_fail(&s, "labels break off here; is the file complete?");
	if (!wf_ev_name(WF_EV_EXPORTER, name.at, name.len, &is)) {
		wf_read_unknown(r, "metric", name);
		return 0;
	}
	(void)wf_scan_blanks(&s);
	if (!wf_read_number(take_until(&s, " \t"), &value)) {
		wf_scan_note(&s, "this is no number that a counter can have");
		return 0;
	}
	if (is.counter == WF_EV_PASSED)
		return 0;
	ret = port_of(r, &l, &port);
	return ret != 0 ? ret : wf_read_put(r, port, WF_EV_NO_QUEUE, &is, value);
}
