/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.c - answers whoever connects, whatever it asks for. */
#define _GNU_SOURCE
#include "live/metrics.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "live/model.h"

static const struct metric {
	const char *name, *help;
	uint32_t count;
	uint32_t also; /* and this is added, when it is not 0 */
} metrics[] = {
	{ "node_infiniband_port_data_transmitted_bytes_total", "bytes sent, with headers",
	  WF_LIVE_TX_OCTETS, 0 },
	{ "node_infiniband_port_data_received_bytes_total", "bytes received, with headers",
	  WF_LIVE_RX_OCTETS, 0 },
	{ "node_infiniband_port_packets_transmitted_total", "packets sent", WF_CTR_TX_PACKETS, 0 },
	{ "node_infiniband_port_packets_received_total", "packets received", WF_CTR_RX_PACKETS, 0 },
	{ "node_infiniband_port_errors_received_total", "packets with errors on the way in",
	  WF_LIVE_ICRC_ERRORS, WF_LIVE_LOST },
	{ "node_infiniband_symbol_error_total", "errors on the link, one for each such packet",
	  WF_LIVE_ICRC_ERRORS, WF_LIVE_LOST },
	{ "node_infiniband_port_discards_transmitted_total", "packets that could not be sent",
	  WF_LIVE_DROPPED, 0 },
	{ "weft_retransmits_total", "packets sent again", WF_CTR_TX_RETRANSMITS, 0 },
	{ "node_infiniband_link_downed_total", "times the link went down", WF_LIVE_LINK_DOWNED, 0 },
	{ "weft_link_lost_packets_total", "packets lost to errors on links", WF_LIVE_LOST, 0 },
	{ "weft_icrc_errors_total", "packets that came corrupted", WF_LIVE_ICRC_ERRORS, 0 },
	{ "weft_wire_transmitted_packets_total", "packets sent to the wire",
	  WF_LIVE_WIRE_TX_PACKETS, 0 },
	{ "weft_wire_received_packets_total", "packets that came from the wire",
	  WF_LIVE_WIRE_RX_PACKETS, 0 },
	{ "weft_wire_transmit_errors_total", "packets that the wire did not take",
	  WF_LIVE_WIRE_TX_ERRORS, 0 },
	{ "weft_wire_malformed_total", "datagrams that were no RoCE v2", WF_LIVE_WIRE_RX_MALFORMED,
	  0 },
	{ "weft_wire_refused_total", "packets for nobody, or not for that sender",
	  WF_LIVE_WIRE_RX_REFUSED, 0 },
	{ "weft_wire_no_room_total", "packets that the program had no room for",
	  WF_LIVE_WIRE_RX_NO_ROOM, 0 },
	{ "weft_wire_overflow_total", "packets that the socket had no room for",
	  WF_LIVE_WIRE_RX_OVERFLOW, 0 },
};

#define LABELS "{host=\"%s\",device=\"weft0\",port=\"1\"} "

static void write_all(struct wf_daemon *d, FILE *out)
{
	const struct wf_live_table *t = d->table;
	uint64_t count[WF_LIVE_COUNTS];

	for (size_t i = 0; i < WF_ARRAY_SIZE(metrics); i++) {
		const struct metric *m = &metrics[i];

		fprintf(out, "# HELP %s %s\n# TYPE %s counter\n", m->name, m->help, m->name);
		for (uint32_t h = 0; h < t->n_hosts; h++) {
			wf_daemon_counts(d, h, count);
			fprintf(out, "%s" LABELS "%" PRIu64 "\n", m->name, t->host[h].name,
			        count[m->count] + (m->also != 0 ? count[m->also] : 0));
		}
	}
	fprintf(out, "# HELP node_infiniband_state_id 4: active, 1: down\n"
	             "# TYPE node_infiniband_state_id gauge\n");
	for (uint32_t h = 0; h < t->n_hosts; h++)
		fprintf(out, "node_infiniband_state_id" LABELS "%d\n", t->host[h].name,
		        t->host[h].down != 0 ? 1 : 4);
	fprintf(out, "# HELP node_infiniband_rate_bytes_per_second of the port\n"
	             "# TYPE node_infiniband_rate_bytes_per_second gauge\n");
	for (uint32_t h = 0; h < t->n_hosts; h++)
		fprintf(out, "node_infiniband_rate_bytes_per_second" LABELS "%" PRIu64 "\n",
		        t->host[h].name, t->rate / 8);
}

static const struct port_metric {
	const char *name, *help;
	size_t at; /* in struct wf_live_port */
} port_metrics[] = {
	{ "weft_switch_port_transmitted_packets_total", "packets sent",
	  offsetof(struct wf_live_port, tx_packets) },
	{ "weft_switch_port_transmitted_bytes_total", "bytes sent, with headers",
	  offsetof(struct wf_live_port, tx_bytes) },
	{ "weft_switch_port_received_packets_total", "packets received",
	  offsetof(struct wf_live_port, rx_packets) },
	{ "weft_switch_port_buffer_drops_total", "packets for which there was no room",
	  offsetof(struct wf_live_port, drops_buffer) },
	{ "weft_switch_port_lifetime_drops_total", "packets too long at the head of a queue",
	  offsetof(struct wf_live_port, drops_life) },
	{ "weft_switch_port_link_errors_total", "packets lost to errors on the link",
	  offsetof(struct wf_live_port, drops_error) },
	{ "weft_switch_port_link_down_drops_total", "packets lost because a link was down",
	  offsetof(struct wf_live_port, drops_down) },
	{ "weft_switch_port_link_downed_total", "times the link went down",
	  offsetof(struct wf_live_port, link_downed) },
	{ "weft_switch_port_route_drops_total", "packets that had nowhere to go",
	  offsetof(struct wf_live_port, drops_route) },
	{ "weft_switch_port_ecn_marked_total", "packets marked",
	  offsetof(struct wf_live_port, ecn_marked) },
	{ "weft_switch_port_pause_transmitted_total", "PFC frames sent that say stop",
	  offsetof(struct wf_live_port, pause_tx) },
	{ "weft_switch_port_pause_received_total", "PFC frames received that say stop",
	  offsetof(struct wf_live_port, pause_rx) },
	{ "weft_switch_port_credit_waits_total", "times that a packet had to wait for credits",
	  offsetof(struct wf_live_port, credit_waits) },
};

/* The modelled fabric, if there is one: its clock, and the ports of its switches. */
static void write_model(struct wf_daemon *d, FILE *out)
{
	struct wf_live_model model;
	struct wf_live_port port;

	if (d->model == NULL)
		return;
	wf_model_look(d, &model);
	fprintf(out,
	        "# HELP weft_model_slip_seconds_total by which virtual time fell behind the clock\n"
	        "# TYPE weft_model_slip_seconds_total counter\n"
	        "weft_model_slip_seconds_total %.9f\n",
	        (double)model.slip_ps / (double)WF_S);
	for (size_t k = 0; k < WF_ARRAY_SIZE(port_metrics); k++) {
		const struct port_metric *m = &port_metrics[k];

		fprintf(out, "# HELP %s %s\n# TYPE %s counter\n", m->name, m->help, m->name);
		for (uint32_t i = 0; i < model.n_ports; i++) {
			wf_model_port(d, i, &port);
			if (port.is_switch == 0)
				break; /* hosts come last */
			fprintf(out, "%s{switch=\"%s\",port=\"%u\",peer=\"%s\"} %" PRIu64 "\n",
			        m->name, port.node, port.number, port.peer,
			        *(const uint64_t *)(const void *)((const char *)&port + m->at));
		}
	}
}

static int watch(struct wf_daemon *d, int fd, void *what)
{
	struct epoll_event event = { .events = EPOLLIN, .data = { .ptr = what } };

	return epoll_ctl(d->epoll, EPOLL_CTL_ADD, fd, &event) != 0 ? -errno : 0;
}

static void answer(struct wf_daemon *d, int fd)
{
	char *text = NULL, asked[4096];
	struct timeval limit = { .tv_usec = 200000 };
	size_t size = 0, done = 0;
	FILE *out = open_memstream(&text, &size);
	ssize_t n = recv(fd, asked, sizeof(asked), MSG_DONTWAIT);

	if (out == NULL)
		return;
	write_all(d, out);
	write_model(d, out);
	/* Nobody may keep the daemon waiting. */
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (fclose(out) == 0 && n > 0) {
		int head = snprintf(asked, sizeof(asked),
		                    "HTTP/1.0 200 OK\r\n"
		                    "Content-Type: text/plain; version=0.0.4\r\n"
		                    "Content-Length: %zu\r\nConnection: close\r\n\r\n",
		                    size);

		n = send(fd, asked, (size_t)head, MSG_NOSIGNAL);
		while (n > 0 && done < size) {
			n = send(fd, text + done, size - done, MSG_NOSIGNAL);
			done += n > 0 ? (size_t)n : 0;
		}
	}
	free(text);
}

/* A slot for one more that asks; when all are taken, the first is let go. */
static void let_in(struct wf_daemon *d)
{
	int fd = accept4(d->metrics[0], NULL, NULL, SOCK_CLOEXEC);
	unsigned i = 1;

	if (fd < 0)
		return;
	while (i < WF_DAEMON_METRICS - 1 && d->metrics[i] >= 0)
		i++;
	if (d->metrics[i] >= 0)
		close(d->metrics[i]);
	d->metrics[i] = fd;
	if (watch(d, fd, &d->metrics[i]) != 0) {
		close(fd);
		d->metrics[i] = -1;
	}
}

bool wf_metrics_serve(struct wf_daemon *d, const void *what)
{
	const int *at = what;

	if (at < d->metrics || at >= d->metrics + WF_DAEMON_METRICS)
		return false;
	if (at == d->metrics) {
		let_in(d);
	} else if (*at >= 0) {
		answer(d, *at);
		close(*at);
		d->metrics[at - d->metrics] = -1;
	}
	return true;
}

int wf_metrics_open(struct wf_daemon *d, uint32_t ipv4, uint16_t port)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		                  .sin_port = htons(port),
		                  .sin_addr = { htonl(ipv4) } };
	int on = 1;

	d->metrics[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (d->metrics[0] < 0)
		return -errno;
	(void)setsockopt(d->metrics[0], SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(d->metrics[0], (struct sockaddr *)&at, sizeof(at)) != 0 ||
	    listen(d->metrics[0], WF_DAEMON_METRICS) != 0)
		return -errno;
	return watch(d, d->metrics[0], &d->metrics[0]);
}

void wf_metrics_close(struct wf_daemon *d)
{
	for (unsigned i = 0; i < WF_DAEMON_METRICS; i++) {
		if (d->metrics[i] >= 0)
			close(d->metrics[i]);
		d->metrics[i] = -1;
	}
}
