/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_check.c - whether the values of a fabric fit each other: what no row of config.c can say.
 */
#include "fabric/config.h"

#include <string.h>

#include "fabric/classes.h"
#include "fabric/watchdog.h"

#define HEADERS 128 /* bytes: no packet has more around its payload */

static bool is(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

/* The link layer decides who may do the flow control and what a packet looks like. */
static int check_link_layer(const struct wf_fabric_cfg *cfg, struct wf_err *err)
{
	bool ib = is(cfg->link_layer, "infiniband");

	if (ib && !is(cfg->flowctl, "credit"))
		return wf_err_say(err,
		                  "flowctl: %s cannot be had on InfiniBand; write credit, or set "
		                  "link_layer to ethernet",
		                  cfg->flowctl);
	if (!ib && is(cfg->flowctl, "credit"))
		return wf_err_say(err,
		                  "flowctl: credit cannot be had on Ethernet; write pfc or none, "
		                  "or set link_layer to infiniband");
	if (ib && cfg->tcp.mtu != (uint64_t)WF_PARAM_AUTO && cfg->tcp.mtu + 4 > cfg->mtu)
		return wf_err_say(err,
		                  "tcp.mtu: IP over InfiniBand has packets of at most mtu less 4 "
		                  "bytes; write auto, or at most %lluB",
		                  (unsigned long long)cfg->mtu - 4);
	if (ib != is(cfg->header, "ib"))
		return wf_err_say(err, "header: %s does not go with %s; write %s", cfg->header,
		                  cfg->link_layer, ib ? "ib" : "rocev2");
	return 0;
}

/*
 * What IP and UDP are for in RoCE: marks, ports that tell flows apart, a DSCP for what was trimmed.
 */
static int check_roce1(const struct wf_fabric_cfg *cfg, const struct wf_classes *classes,
                       struct wf_err *err)
{
	if (!is(cfg->header, "rocev1"))
		return 0;
	if (cfg->sender_spray)
		return wf_err_say(err, "sender.spray: rocev1 has no UDP ports to spray by; write "
		                       "false, or header: rocev2");
	if (classes->trims)
		return wf_err_say(err, "classes.trim: rocev1 has no DSCP that would tell trimmed "
		                       "packets; write none, or header: rocev2");
	return 0;
}

/* An adapter's receive buffer, and when it stops its peer. */
static int check_receive(const struct wf_fabric_cfg *cfg, struct wf_err *err)
{
	const uint64_t none = (uint64_t)WF_PARAM_AUTO;
	uint64_t size = cfg->nic_rx_buffer != none ? cfg->nic_rx_buffer : WF_RX_BUFFER;
	uint64_t xoff = cfg->nic_rx_xoff != none ? cfg->nic_rx_xoff : size;

	if (is(cfg->nic_rx_full, "drop") && is(cfg->flowctl, "credit"))
		return wf_err_say(err, "nic.rx_full: with credits nothing comes for which there is "
		                       "no room; write pause, or endless");
	if (is(cfg->nic_rx_full, "endless") && cfg->nic_rx_buffer != none)
		return wf_err_say(err, "nic.rx_buffer: an endless one has no size; write rx_full: "
		                       "pause, or drop");
	if (xoff > size)
		return wf_err_say(err,
		                  "nic.rx_xoff: the buffer has less than that; it may be at most "
		                  "%lluB",
		                  (unsigned long long)size);
	if (cfg->nic_rx_xon != none && cfg->nic_rx_xon > xoff)
		return wf_err_say(err,
		                  "nic.rx_xon: a pause would end before it begins; it may be at "
		                  "most %lluB",
		                  (unsigned long long)xoff);
	return 0;
}

int wf_fabric_check(const struct wf_fabric_cfg *cfg, struct wf_err *err)
{
	struct wf_headroom_row rows[WF_HEADROOM_ROWS];
	struct wf_classes classes;
	unsigned n;
	int rc = check_link_layer(cfg, err);

	if (rc != 0)
		return rc;
	rc = wf_classes_parse(cfg, &classes, err);
	if (rc != 0)
		return rc;
	rc = check_roce1(cfg, &classes, err);
	if (rc != 0)
		return rc;
	rc = wf_headroom_parse(cfg->buffer_headroom_table, rows, &n, err);
	if (rc == 0)
		rc = wf_watchdog_check(cfg, err);
	if (rc == 0)
		rc = check_receive(cfg, err);
	if (rc == 0)
		rc = wf_sharp_check(cfg, err);
	if (rc != 0)
		return rc;
	if (cfg->ecn_kmin > cfg->ecn_kmax)
		return wf_err_say(err, "ecn.kmin: it is above ecn.kmax; it may be at most %lluB",
		                  (unsigned long long)cfg->ecn_kmax);
	if (is(cfg->flowctl, "credit") && cfg->vl_buffer < cfg->mtu + HEADERS)
		return wf_err_say(
			err,
			"vl.buffer: no packet of mtu %lluB and its headers fits; it must be "
			"at least %lluB",
			(unsigned long long)cfg->mtu, (unsigned long long)cfg->mtu + HEADERS);
	if (cfg->retry_buffer < cfg->mtu + HEADERS)
		return wf_err_say(err,
		                  "link.retry_buffer: no packet of mtu %lluB and its headers fits; "
		                  "it must be at least %lluB",
		                  (unsigned long long)cfg->mtu,
		                  (unsigned long long)cfg->mtu + HEADERS);
	if (cfg->adaptive_low != 0 &&
	    (cfg->adaptive_medium < cfg->adaptive_low || cfg->adaptive_high < cfg->adaptive_medium))
		return wf_err_say(err, "adaptive.low: the grades need adaptive.low <= "
		                       "adaptive.medium <= adaptive.high");
	if (cfg->sender_window < cfg->mtu)
		return wf_err_say(err,
		                  "sender.window: it is less than a packet; it must be at least "
		                  "the mtu, %lluB",
		                  (unsigned long long)cfg->mtu);
	if ((uint64_t)cfg->sender_ack * cfg->mtu > cfg->sender_window)
		return wf_err_say(err,
		                  "sender.ack: %u packets are more than sender.window, so that the "
		                  "flow would stop; it may be at most %llu",
		                  (unsigned)cfg->sender_ack,
		                  (unsigned long long)(cfg->sender_window / cfg->mtu));
	return 0;
}

int wf_fabric_check_ports(const struct wf_fabric_cfg *cfg, uint32_t ports, struct wf_err *err)
{
	if (ports <= 1)
		return 0;
	if (is(cfg->link_layer, "infiniband") && cfg->sharp.enabled)
		return wf_err_say(err, "sharp.enabled: hosts that take part in reductions of "
		                       "switches have one port; write false, or "
		                       "topology.ports: 1");
	if (is(cfg->link_layer, "infiniband"))
		return 0; /* each port has an address of its own */
	if (is(cfg->routing, "lft"))
		return wf_err_say(err,
		                  "routing: lft has one port for a destination, and hosts with "
		                  "%u ports are reached by several; write ecmp, adaptive, spray "
		                  "or source",
		                  ports);
	return 0;
}

int wf_fabric_check_rate(const struct wf_fabric_cfg *cfg, uint64_t rate, struct wf_err *err)
{
	const double gbps = 1e9; /* for the message alone */

	if (cfg->nic_rate_max != 0 && rate > cfg->nic_rate_max)
		return wf_err_say(
			err,
			"nic.rate_max: this is made for hosts of at most %g Gb/s, and there "
			"are links of %g; set topology.host_rate, take another profile, or "
			"set nic.rate_max: 0 to use it all the same",
			(double)cfg->nic_rate_max / gbps, (double)rate / gbps);
	if (rate < cfg->nic_rate_min)
		return wf_err_say(
			err,
			"nic.rate_min: this is made for hosts of at least %g Gb/s, and there "
			"are links of %g; set topology.host_rate, take another profile, or "
			"set nic.rate_min: 0 to use it all the same",
			(double)cfg->nic_rate_min / gbps, (double)rate / gbps);
	return 0;
}
