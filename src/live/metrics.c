/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.c - the families of metrics, and their lines. */
#include "live/metrics.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "live/model.h"

enum kind { HOST_COUNT, HOST_STATE, HOST_RATE, MODEL_SLIP, SWITCH_PORT };

static const struct family {
	const char *name, *help;
	enum kind kind;
	uint32_t at;   /* HOST_COUNT: which; SWITCH_PORT: where in struct wf_live_port */
	uint32_t also; /* HOST_COUNT: this is added, when it is not 0 */
} families[] = {
	{ "node_infiniband_port_data_transmitted_bytes_total", "bytes sent, with headers",
	  HOST_COUNT, WF_LIVE_TX_OCTETS, 0 },
	{ "node_infiniband_port_data_received_bytes_total", "bytes received, with headers",
	  HOST_COUNT, WF_LIVE_RX_OCTETS, 0 },
	{ "node_infiniband_port_packets_transmitted_total", "packets sent", HOST_COUNT,
	  WF_CTR_TX_PACKETS, 0 },
	{ "node_infiniband_port_packets_received_total", "packets received", HOST_COUNT,
	  WF_CTR_RX_PACKETS, 0 },
	{ "node_infiniband_port_errors_received_total", "packets with errors on the way in",
	  HOST_COUNT, WF_LIVE_ICRC_ERRORS, WF_LIVE_LOST },
	{ "node_infiniband_symbol_error_total", "errors on the link, one for each such packet",
	  HOST_COUNT, WF_LIVE_ICRC_ERRORS, WF_LIVE_LOST },
	{ "node_infiniband_port_discards_transmitted_total", "packets that could not be sent",
	  HOST_COUNT, WF_LIVE_DROPPED, 0 },
	{ "weft_retransmits_total", "packets sent again", HOST_COUNT, WF_CTR_TX_RETRANSMITS, 0 },
	{ "node_infiniband_link_downed_total", "times the link went down", HOST_COUNT,
	  WF_LIVE_LINK_DOWNED, 0 },
	{ "weft_link_lost_packets_total", "packets lost to errors on links", HOST_COUNT,
	  WF_LIVE_LOST, 0 },
	{ "weft_icrc_errors_total", "packets that came corrupted", HOST_COUNT, WF_LIVE_ICRC_ERRORS,
	  0 },
	{ "weft_late_packets_total", "packets of which weft_late_nanoseconds_total is the sum",
	  HOST_COUNT, WF_LIVE_LATE_PACKETS, 0 },
	{ "weft_late_nanoseconds_total", "how long after they were due programs took packets in",
	  HOST_COUNT, WF_LIVE_LATE_NS, 0 },
	{ "weft_wire_transmitted_packets_total", "packets sent to the wire", HOST_COUNT,
	  WF_LIVE_WIRE_TX_PACKETS, 0 },
	{ "weft_wire_received_packets_total", "packets that came from the wire", HOST_COUNT,
	  WF_LIVE_WIRE_RX_PACKETS, 0 },
	{ "weft_wire_transmit_errors_total", "packets that the wire did not take", HOST_COUNT,
	  WF_LIVE_WIRE_TX_ERRORS, 0 },
	{ "weft_wire_malformed_total", "datagrams that were no RoCE v2", HOST_COUNT,
	  WF_LIVE_WIRE_RX_MALFORMED, 0 },
	{ "weft_wire_refused_total", "packets for nobody, or not for that sender", HOST_COUNT,
	  WF_LIVE_WIRE_RX_REFUSED, 0 },
	{ "weft_wire_no_room_total", "packets that the program had no room for", HOST_COUNT,
	  WF_LIVE_WIRE_RX_NO_ROOM, 0 },
	{ "weft_wire_overflow_total", "packets that the socket had no room for", HOST_COUNT,
	  WF_LIVE_WIRE_RX_OVERFLOW, 0 },
	{ "node_infiniband_state_id", "4: active, 1: down", HOST_STATE, 0, 0 },
	{ "node_infiniband_rate_bytes_per_second", "of the port", HOST_RATE, 0, 0 },
	{ "weft_model_slip_seconds_total", "by which virtual time fell behind the clock",
	  MODEL_SLIP, 0, 0 },
#define PORT(name, help, field)                                                                    \
	{                                                                                          \
		"weft_switch_port_" name "_total", help, SWITCH_PORT,                              \
			offsetof(struct wf_live_port, field), 0                                    \
	}
	PORT("transmitted_packets", "packets sent", tx_packets),
	PORT("transmitted_bytes", "bytes sent, with headers", tx_bytes),
	PORT("received_packets", "packets received", rx_packets),
	PORT("buffer_drops", "packets for which there was no room", drops_buffer),
	PORT("lifetime_drops", "packets too long at the head of a queue", drops_life),
	PORT("link_errors", "packets lost to errors on the link", drops_error),
	PORT("link_down_drops", "packets lost because a link was down", drops_down),
	PORT("link_downed", "times the link went down", link_downed),
	PORT("route_drops", "packets that had nowhere to go", drops_route),
	PORT("ecn_marked", "packets marked", ecn_marked),
	PORT("pause_transmitted", "PFC frames sent that say stop", pause_tx),
	PORT("pause_received", "PFC frames received that say stop", pause_rx),
	PORT("credit_waits", "times that a packet had to wait for credits", credit_waits),
#undef PORT
};

static bool is_gauge(const struct family *f)
{
	return f->kind == HOST_STATE || f->kind == HOST_RATE;
}

/* How many ports of switches there are; those of hosts come behind them. */
static uint32_t count_ports(struct wf_daemon *d)
{
	struct wf_live_model model;
	struct wf_live_port port;
	uint32_t n = 0;

	wf_model_look(d, &model);
	for (; n < model.n_ports; n++) {
		wf_model_port(d, n, &port);
		if (port.is_switch == 0)
			break;
	}
	return n;
}

/* How many things the family has a line about. */
static uint32_t count_items(struct wf_daemon *d, const struct family *f, struct wf_metrics_at *at)
{
	if (f->kind <= HOST_RATE)
		return d->table->n_hosts;
	if (d->model == NULL)
		return 0;
	if (f->kind == MODEL_SLIP)
		return 1;
	if (at->ports == 0)
		at->ports = count_ports(d);
	return at->ports;
}

static int write_host(struct wf_daemon *d, const struct family *f, uint32_t host, char *text,
                      size_t size)
{
	const struct wf_live_host *h = &d->table->host[host];
	uint64_t count[WF_LIVE_COUNTS], value;

	if (f->kind == HOST_COUNT) {
		wf_daemon_counts(d, host, count);
		value = count[f->at] + (f->also != 0 ? count[f->also] : 0);
	} else if (f->kind == HOST_STATE) {
		value = h->down != 0 ? 1 : 4;
	} else {
		value = d->table->rate / 8;
	}
	return snprintf(text, size, "%s{host=\"%s\",device=\"weft0\",port=\"1\"} %" PRIu64 "\n",
	                f->name, h->name, value);
}

static int write_model(struct wf_daemon *d, const struct family *f, uint32_t i, char *text,
                       size_t size)
{
	struct wf_live_model model;
	struct wf_live_port port;

	if (f->kind == MODEL_SLIP) {
		wf_model_look(d, &model);
		return snprintf(text, size, "%s %.9f\n", f->name,
		                (double)model.slip_ps / (double)WF_S);
	}
	wf_model_port(d, i, &port);
	return snprintf(text, size, "%s{switch=\"%s\",port=\"%u\",peer=\"%s\"} %" PRIu64 "\n",
	                f->name, port.node, port.number, port.peer,
	                *(const uint64_t *)(const void *)((const char *)&port + f->at));
}

/* The line at *at. Returns its bytes, of which no more than fit are there. */
static size_t write_line(struct wf_daemon *d, const struct family *f,
                         const struct wf_metrics_at *at, char *text, size_t size)
{
	int n;

	if (at->line == 0)
		n = snprintf(text, size, "# HELP %s %s\n# TYPE %s %s\n", f->name, f->help, f->name,
		             is_gauge(f) ? "gauge" : "counter");
	else if (f->kind <= HOST_RATE)
		n = write_host(d, f, at->line - 1, text, size);
	else
		n = write_model(d, f, at->line - 1, text, size);
	assert(n > 0);
	return (size_t)n;
}

size_t wf_metrics_write(struct wf_daemon *d, struct wf_metrics_at *at, char *text, size_t size)
{
	size_t have = 0, n;

	while (at->family < WF_ARRAY_SIZE(families)) {
		const struct family *f = &families[at->family];
		uint32_t items = count_items(d, f, at);

		if (items == 0 || at->line > items) {
			at->family++;
			at->line = 0;
			continue;
		}
		n = write_line(d, f, at, text + have, size - have);
		if (n >= size - have)
			break;
		have += n;
		at->line++;
	}
	assert(have != 0 || at->family == WF_ARRAY_SIZE(families));
	return have;
}
