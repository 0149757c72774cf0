/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.c - what tools call what is counted.
 *
 * Names that weft's own counters have in ethtool -S, hw_counters and node_exporter come from their
 * rows (fabric/counter.h, rdma/counter.h), and InfiniBand's with where they stop from subnet/pm.h.
 * The rest is here: of NVIDIA's adapters (mlx5), Intel's (ice, irdma) and Broadcom's (bnxt) where
 * they count the same; of SONiC's COUNTERS_DB; of node_exporter.
 */
#include <string.h>

#include "evidence/counter.h"
#include "subnet/pm.h"

#define MANY 64 /* a number in a name is below */

#define PORT_ROW(field, ...) { .name = #field, __VA_ARGS__ },
static const struct wf_port_counter ports[] = { WF_PORT_COUNTERS(PORT_ROW, PORT_ROW) };

#define HOST_ROW(id, text, ...) { .name = "hca_" text, __VA_ARGS__ },
static const struct wf_host_counter hosts[] = { WF_HOST_COUNTERS(HOST_ROW) };

#define OTHER_ROW(id, help) { #id, help },
static const struct {
	const char *name, *help;
} others[] = { WF_EV_OTHERS(OTHER_ROW) };

#define N_PORTS ((unsigned)WF_ARRAY_SIZE(ports))
#define N_HOSTS ((unsigned)WF_ARRAY_SIZE(hosts))

_Static_assert(WF_ARRAY_SIZE(ports) == WF_EV_HCA_OUT_OF_SEQUENCE, "hosts' come behind ports'");
_Static_assert(WF_ARRAY_SIZE(ports) + WF_ARRAY_SIZE(hosts) + WF_ARRAY_SIZE(others) == WF_EV_N,
               "others' come last");

/* Of a host's counter, as it is in hw_counters and elsewhere. */
static const char *host_name(unsigned i)
{
	return hosts[i].name + strlen("hca_");
}

const char *wf_ev_counter_name(enum wf_ev_counter counter)
{
	unsigned i = (unsigned)counter;

	assert(i < WF_EV_N);
	if (i < N_PORTS)
		return ports[i].name;
	i -= N_PORTS;
	if (i < N_HOSTS)
		return hosts[i].hw ? host_name(i) : hosts[i].name;
	return others[i - N_HOSTS].name;
}

const char *wf_ev_counter_help(enum wf_ev_counter counter)
{
	unsigned i = (unsigned)counter;

	assert(i < WF_EV_N);
	if (i < N_PORTS)
		return ports[i].help;
	return i < N_PORTS + N_HOSTS ? hosts[i - N_PORTS].help : others[i - N_PORTS - N_HOSTS].help;
}

bool wf_ev_is_gauge(enum wf_ev_counter counter)
{
	static const enum wf_ev_counter gauges[] = {
		WF_EV_queue_watermark, WF_EV_pg_shared_watermark, WF_EV_headroom_watermark,
		WF_EV_wd_stormed,      WF_EV_peak_rate,           WF_EV_wd_tx_last,
		WF_EV_wd_rx_last,      WF_EV_pcie_stalled_rd,     WF_EV_pcie_stalled_wr,
		WF_EV_retry_rate,
	};

	if ((unsigned)counter < N_PORTS)
		return ports[counter].kind != WF_COUNTER;
	for (size_t i = 0; i < WF_ARRAY_SIZE(gauges); i++) {
		if (gauges[i] == counter)
			return true;
	}
	return false;
}

/* ---- tables ---- */

struct alias {
	const char *name; /* with %u, a priority, queue or lane */
	enum wf_ev_counter counter;
	uint64_t by; /* 0: 1 */
};

/* clang-format off */
static const struct alias ethtool[] = {
	/* mlx5 */
	{ "rx_prio%u_bytes", WF_EV_rx_prio_bytes, 0 },
	{ "rx_prio%u_packets", WF_EV_rx_prio_packets, 0 },
	{ "rx_prio%u_pause_transition", WF_EV_pause_transitions, 0 },
	{ "rx_prio%u_buf_discard", WF_EV_drops_buffer, 0 },
	{ "rx_prio%u_cong_discard", WF_EV_drops_buffer, 0 },
	{ "rx_prio%u_marked", WF_EV_nic_marked, 0 },
	{ "tx_pause_storm_warning_events", WF_EV_storm_warnings, 0 },
	{ "rx_global_pause", WF_EV_global_pause_rx, 0 },
	{ "tx_global_pause", WF_EV_global_pause_tx, 0 },
	{ "rx_discards_phy", WF_EV_nic_discards, 0 },
	{ "rx_out_of_buffer", WF_EV_HCA_OUT_OF_BUFFER, 0 },
	{ "rx_buffer_passed_thres_phy", WF_EV_nic_nearly_full, 0 },
	{ "rx_symbol_err_phy", WF_EV_symbol_errors, 0 },
	{ "rx_pcs_symbol_err_phy", WF_EV_pcs_symbol_errors, 0 },
	{ "rx_bits_phy", WF_EV_phy_bits, 0 },
	{ "link_down_events_phy", WF_EV_link_downed, 0 },
	{ "module_unplug", WF_EV_module_events, 0 },
	{ "module_high_temp", WF_EV_module_hot, 0 },
	{ "rx_oversize_pkts_phy", WF_EV_drops_mtu, 0 },
	{ "rx_pci_signal_integrity", WF_EV_pcie_integrity, 0 },
	{ "tx_pci_signal_integrity", WF_EV_pcie_integrity, 0 },
	{ "outbound_pci_stalled_rd", WF_EV_pcie_stalled_rd, 0 },
	{ "outbound_pci_stalled_wr", WF_EV_pcie_stalled_wr, 0 },
	{ "rx_vport_rdma_unicast_bytes", WF_EV_rdma_rx_bytes, 0 },
	{ "tx_vport_rdma_unicast_bytes", WF_EV_rdma_tx_bytes, 0 },
	{ "rx_packets_phy", WF_EV_rx_packets, 0 },
	{ "rx_bytes_phy", WF_EV_if_rx_bytes, 0 },
	{ "tx_packets_phy", WF_EV_tx_packets, 0 },
	{ "tx_bytes_phy", WF_EV_tx_bytes, 0 },
	{ "rx_fec_uncorrectable_blocks_phy", WF_EV_fec_uncorrected, 0 },
	{ "rx_errors_phy", WF_EV_if_in_errors, 0 },
	{ "tx_errors_phy", WF_EV_if_out_errors, 0 },
	/* ice; .nic is cut off */
	{ "tx_priority_%u_xoff", WF_EV_pause_tx, 0 },
	{ "rx_priority_%u_xoff", WF_EV_pause_rx, 0 },
	{ "tx_priority_%u_xon", WF_EV_pause_off_tx, 0 },
	{ "rx_priority_%u_xon", WF_EV_pause_off_rx, 0 },
	{ "link_xoff_rx", WF_EV_global_pause_rx, 0 },
	{ "link_xoff_tx", WF_EV_global_pause_tx, 0 },
	{ "rx_crc_errors", WF_EV_drops_error, 0 },
	{ "rx_oversize", WF_EV_drops_mtu, 0 },
	{ "rx_dropped", WF_EV_nic_discards, 0 },
	/* bnxt */
	{ "rx_pfc_ena_frames_pri%u", WF_EV_pause_rx, 0 },
	{ "tx_pfc_ena_frames_pri%u", WF_EV_pause_tx, 0 },
	{ "pfc_pri%u_rx_duration_us", WF_EV_paused_ps, 1000000 },
	{ "pfc_pri%u_tx_duration_us", WF_EV_pausing_ps, 1000000 },
	{ "pfc_pri%u_rx_transitions", WF_EV_pause_transitions, 0 },
	{ "rx_bytes_pri%u", WF_EV_rx_prio_bytes, 0 },
	{ "rx_packets_pri%u", WF_EV_rx_prio_packets, 0 },
	{ "tx_bytes_pri%u", WF_EV_tx_bytes, 0 },
	{ "tx_packets_pri%u", WF_EV_tx_packets, 0 },
	{ "rx_fcs_err_frames", WF_EV_drops_error, 0 },
	{ "rx_fec_corrected_blocks", WF_EV_fec_corrected, 0 },
	{ "rx_fec_uncorrectable_blocks", WF_EV_fec_uncorrected, 0 },
	{ "link_down_events", WF_EV_link_downed, 0 },
};

/* Of counters/ and hw_counters/. Those that only pm.h stops have their names there. */
static const struct alias sysfs[] = {
	{ "symbol_error", WF_EV_symbol_errors, 0 },
	{ "link_error_recovery", WF_EV_link_recoveries, 0 },
	{ "link_downed", WF_EV_link_downed, 0 },
	{ "port_rcv_errors", WF_EV_drops_error, 0 },
	{ "port_rcv_remote_physical_errors", WF_EV_rcv_remote_physical, 0 },
	{ "port_rcv_switch_relay_errors", WF_EV_drops_route, 0 },
	{ "port_xmit_discards", WF_EV_tx_discards, 0 },
	{ "port_xmit_constraint_errors", WF_EV_xmit_constraint, 0 },
	{ "port_rcv_constraint_errors", WF_EV_rcv_constraint, 0 },
	{ "local_link_integrity_errors", WF_EV_local_integrity, 0 },
	{ "excessive_buffer_overrun_errors", WF_EV_buffer_overruns, 0 },
	{ "VL15_dropped", WF_EV_vl15_dropped, 0 },
	{ "port_xmit_wait", WF_EV_xmit_wait_ticks, 0 },
	{ "port_xmit_data", WF_EV_tx_bytes, 4 },
	{ "port_rcv_data", WF_EV_if_rx_bytes, 4 },
	{ "port_xmit_packets", WF_EV_tx_packets, 0 },
	{ "port_rcv_packets", WF_EV_rx_packets, 0 },
	{ "unicast_xmit_packets", WF_EV_unicast_tx, 0 },
	{ "unicast_rcv_packets", WF_EV_unicast_rx, 0 },
	{ "multicast_xmit_packets", WF_EV_multicast_tx, 0 },
	{ "multicast_rcv_packets", WF_EV_multicast_rx, 0 },
	/* mlx5 */
	{ "roce_adp_retrans", WF_EV_adp_retrans, 0 },
	{ "roce_adp_retrans_to", WF_EV_adp_retrans_to, 0 },
	{ "roce_slow_restart", WF_EV_slow_restart, 0 },
	{ "roce_slow_restart_cnps", WF_EV_slow_restart_cnps, 0 },
	{ "roce_slow_restart_trans", WF_EV_slow_restart_trans, 0 },
	{ "rx_icrc_encapsulated", WF_EV_icrc_errors, 0 },
	{ "req_transport_retries_exceeded", WF_EV_retries_exceeded, 0 },
	{ "req_rnr_retries_exceeded", WF_EV_rnr_retries_exceeded, 0 },
	{ "cc_rx_ce_pkts", WF_EV_ce_rx, 0 },
	{ "cc_rx_cnp_pkts", WF_EV_cnp_rx, 0 },
	{ "cc_tx_cnp_pkts", WF_EV_cnp_tx, 0 },
	{ "rx_dct_connect", WF_EV_PASSED, 0 },
	{ "lifespan", WF_EV_PASSED, 0 },
	/* irdma */
	{ "cnpHandled", WF_EV_HCA_RP_CNP_HANDLED, 0 },
	{ "cnpIgnored", WF_EV_HCA_RP_CNP_IGNORED, 0 },
	{ "cnpSent", WF_EV_HCA_NP_CNP_SENT, 0 },
	{ "RxECNMrkd", WF_EV_HCA_NP_ECN_MARKED_ROCE_PACKETS, 0 },
	/* bnxt_re */
	{ "rx_cnp_pkts", WF_EV_cnp_rx, 0 },
	{ "tx_cnp_pkts", WF_EV_cnp_tx, 0 },
	{ "rx_ecn_marked_pkts", WF_EV_HCA_NP_ECN_MARKED_ROCE_PACKETS, 0 },
	{ "to_retransmits", WF_EV_HCA_LOCAL_ACK_TIMEOUT_ERR, 0 },
	{ "seq_err_naks_rcvd", WF_EV_HCA_PACKET_SEQ_ERR, 0 },
	{ "max_retry_exceeded", WF_EV_retries_exceeded, 0 },
	{ "rnr_naks_rcvd", WF_EV_HCA_RNR_NAK_RETRY_ERR, 0 },
};

static const struct alias sai[] = {
	{ "SAI_PORT_STAT_PFC_%u_RX_PKTS", WF_EV_pause_rx, 0 },
	{ "SAI_PORT_STAT_PFC_%u_TX_PKTS", WF_EV_pause_tx, 0 },
	{ "SAI_PORT_STAT_PFC_%u_ON2OFF_RX_PKTS", WF_EV_pause_on_off, 0 },
	{ "EST_PORT_STAT_PFC_%u_ON2OFF_RX_PKTS", WF_EV_pause_on_off, 0 },
	{ "SAI_PORT_STAT_PFC_%u_RX_PAUSE_DURATION_US", WF_EV_paused_ps, 1000000 },
	{ "EST_PORT_STAT_PFC_%u_RX_PAUSE_DURATION_US", WF_EV_paused_ps, 1000000 },
	{ "SAI_PORT_STAT_PFC_%u_TX_PAUSE_DURATION_US", WF_EV_pausing_ps, 1000000 },
	{ "EST_PORT_STAT_PFC_%u_RECENT_PAUSE_TIMESTAMP", WF_EV_PASSED, 0 },
	{ "EST_PORT_STAT_PFC_%u_RECENT_PAUSE_TIME_US", WF_EV_PASSED, 0 },
	{ "SAI_PORT_STAT_IF_IN_ERRORS", WF_EV_if_in_errors, 0 },
	{ "SAI_PORT_STAT_IF_IN_DISCARDS", WF_EV_if_in_discards, 0 },
	{ "SAI_PORT_STAT_IF_OUT_ERRORS", WF_EV_if_out_errors, 0 },
	{ "SAI_PORT_STAT_IF_OUT_DISCARDS", WF_EV_if_out_discards, 0 },
	{ "SAI_PORT_STAT_IF_IN_OCTETS", WF_EV_if_rx_bytes, 0 },
	{ "SAI_PORT_STAT_IF_OUT_OCTETS", WF_EV_tx_bytes, 0 },
	{ "SAI_PORT_STAT_IF_IN_UCAST_PKTS", WF_EV_unicast_rx, 0 },
	{ "SAI_PORT_STAT_IF_OUT_UCAST_PKTS", WF_EV_unicast_tx, 0 },
	{ "SAI_PORT_STAT_IF_IN_NON_UCAST_PKTS", WF_EV_multicast_rx, 0 },
	{ "SAI_PORT_STAT_IF_OUT_NON_UCAST_PKTS", WF_EV_multicast_tx, 0 },
	{ "SAI_PORT_STAT_ETHER_RX_OVERSIZE_PKTS", WF_EV_drops_mtu, 0 },
	{ "SAI_PORT_STAT_IF_IN_FEC_CORRECTABLE_FRAMES", WF_EV_fec_corrected, 0 },
	{ "SAI_PORT_STAT_IF_IN_FEC_NOT_CORRECTABLE_FRAMES", WF_EV_fec_uncorrected, 0 },
	{ "SAI_PORT_STAT_IF_IN_FEC_SYMBOL_ERRORS", WF_EV_fec_symbols, 0 },
	{ "SAI_PORT_STAT_ETHER_STATS_CRC_ALIGN_ERRORS", WF_EV_drops_error, 0 },
	{ "SAI_QUEUE_STAT_PACKETS", WF_EV_tx_packets, 0 },
	{ "SAI_QUEUE_STAT_BYTES", WF_EV_tx_bytes, 0 },
	{ "SAI_QUEUE_STAT_DROPPED_PACKETS", WF_EV_queue_drops, 0 },
	{ "SAI_QUEUE_STAT_DROPPED_BYTES", WF_EV_queue_drop_bytes, 0 },
	{ "SAI_QUEUE_STAT_WRED_DROPPED_PACKETS", WF_EV_wred_drops, 0 },
	{ "SAI_QUEUE_STAT_WRED_DROPPED_BYTES", WF_EV_wred_drop_bytes, 0 },
	{ "SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS", WF_EV_ecn_marked, 0 },
	{ "SAI_QUEUE_STAT_WRED_ECN_MARKED_BYTES", WF_EV_ecn_marked_bytes, 0 },
	{ "SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES", WF_EV_queue_watermark, 0 },
	{ "SAI_QUEUE_STAT_CURR_OCCUPANCY_BYTES", WF_EV_queue_bytes, 0 },
	{ "SAI_QUEUE_STAT_TRIM_PACKETS", WF_EV_trimmed, 0 },
	{ "SAI_QUEUE_STAT_DROPPED_TRIM_PACKETS", WF_EV_trim_drops, 0 },
	{ "SAI_QUEUE_STAT_TX_TRIM_PACKETS", WF_EV_PASSED, 0 },
	{ "SAI_QUEUE_STAT_CREDIT_WD_DELETED_PACKETS", WF_EV_credit_wd_drops, 0 },
	{ "SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS", WF_EV_drops_buffer, 0 },
	{ "SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_WATERMARK_BYTES", WF_EV_pg_shared_watermark, 0 },
	{ "SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES", WF_EV_headroom_watermark, 0 },
	{ "PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED", WF_EV_watchdog_acted, 0 },
	{ "PFC_WD_QUEUE_STATS_DEADLOCK_RESTORED", WF_EV_watchdog_restored, 0 },
	{ "PFC_WD_QUEUE_STATS_TX_DROPPED_PACKETS", WF_EV_tx_watchdog, 0 },
	{ "PFC_WD_QUEUE_STATS_RX_DROPPED_PACKETS", WF_EV_rx_watchdog, 0 },
	{ "PFC_WD_QUEUE_STATS_TX_PACKETS", WF_EV_wd_tx_ok, 0 },
	{ "PFC_WD_QUEUE_STATS_RX_PACKETS", WF_EV_wd_rx_ok, 0 },
	{ "PFC_WD_QUEUE_STATS_TX_DROPPED_PACKETS_LAST", WF_EV_wd_tx_last, 0 },
	{ "PFC_WD_QUEUE_STATS_RX_DROPPED_PACKETS_LAST", WF_EV_wd_rx_last, 0 },
	{ "PFC_WD_QUEUE_STATS_TX_PACKETS_LAST", WF_EV_PASSED, 0 },
	{ "PFC_WD_QUEUE_STATS_RX_PACKETS_LAST", WF_EV_PASSED, 0 },
	{ "PFC_WD_ACTION", WF_EV_PASSED, 0 },
	{ "PFC_WD_DETECTION_TIME", WF_EV_PASSED, 0 },
	{ "PFC_WD_DETECTION_TIME_LEFT", WF_EV_PASSED, 0 },
	{ "PFC_WD_RESTORATION_TIME", WF_EV_PASSED, 0 },
	{ "PFC_WD_RESTORATION_TIME_LEFT", WF_EV_PASSED, 0 },
};

/* What pm.h does not have. */
static const struct alias pma[] = {
	{ "QP1Dropped", WF_EV_qp1_dropped, 0 },
	{ "PortUnicastXmitPkts", WF_EV_unicast_tx, 0 },
	{ "PortUnicastRcvPkts", WF_EV_unicast_rx, 0 },
	{ "PortMulticastXmitPkts", WF_EV_multicast_tx, 0 },
	{ "PortMulticastRcvPkts", WF_EV_multicast_rx, 0 },
	{ "PortUniCastXmitPkts", WF_EV_unicast_tx, 0 },
	{ "PortUniCastRcvPkts", WF_EV_unicast_rx, 0 },
	{ "PortMultiCastXmitPkts", WF_EV_multicast_tx, 0 },
	{ "PortMultiCastRcvPkts", WF_EV_multicast_rx, 0 },
	{ "PortLocalPhysicalErrors", WF_EV_local_physical, 0 },
	{ "PortMalformedPktErrors", WF_EV_malformed, 0 },
	{ "PortMalformedPacketErrors", WF_EV_malformed, 0 },
	{ "PortBufferOverrunErrors", WF_EV_drops_buffer, 0 },
	{ "PortDLIDMappingErrors", WF_EV_dlid_mapping, 0 },
	{ "PortVLMappingErrors", WF_EV_vl_mapping, 0 },
	{ "PortLoopingErrors", WF_EV_looping, 0 },
	{ "PortInactiveDiscards", WF_EV_tx_down, 0 },
	{ "PortNeighborMTUDiscards", WF_EV_drops_mtu, 0 },
	{ "PortSwLifetimeLimitDiscards", WF_EV_life_discards, 0 },
	{ "PortSwHOQLifetimeLimitDiscards", WF_EV_drops_life, 0 },
	{ "max_retransmission_rate", WF_EV_retry_rate, 0 },
	{ "retransmission_per_sec", WF_EV_PASSED, 0 },
	{ "PortSelect", WF_EV_PASSED, 0 },
	{ "CounterSelect", WF_EV_PASSED, 0 },
	{ "CounterSelect2", WF_EV_PASSED, 0 },
};

/* Of the collector infiniband, behind node_infiniband_; the rest is in counters' rows. */
static const struct alias exporter[] = {
	{ "port_data_received_bytes_total", WF_EV_if_rx_bytes, 0 },
	{ "port_packets_received_total", WF_EV_rx_packets, 0 },
	{ "port_transmit_wait_total", WF_EV_xmit_wait_ticks, 0 },
	{ "port_constraint_errors_received_total", WF_EV_rcv_constraint, 0 },
	{ "port_constraint_errors_transmitted_total", WF_EV_xmit_constraint, 0 },
	{ "port_discards_received_total", WF_EV_PASSED, 0 },
	{ "link_downed_total", WF_EV_link_downed, 0 },
	{ "link_error_recovery_total", WF_EV_link_recoveries, 0 },
	{ "symbol_error_total", WF_EV_symbol_errors, 0 },
	{ "local_link_integrity_errors_total", WF_EV_local_integrity, 0 },
	{ "excessive_buffer_overrun_errors_total", WF_EV_buffer_overruns, 0 },
	{ "vl15_dropped_total", WF_EV_vl15_dropped, 0 },
	{ "port_receive_remote_physical_errors_total", WF_EV_rcv_remote_physical, 0 },
	{ "unicast_packets_received_total", WF_EV_unicast_rx, 0 },
	{ "unicast_packets_transmitted_total", WF_EV_unicast_tx, 0 },
	{ "multicast_packets_received_total", WF_EV_multicast_rx, 0 },
	{ "multicast_packets_transmitted_total", WF_EV_multicast_tx, 0 },
	{ "rx_icrc_encapsulated_errors_total", WF_EV_icrc_errors, 0 },
	{ "roce_adp_retrans_total", WF_EV_adp_retrans, 0 },
	{ "roce_adp_retrans_to_total", WF_EV_adp_retrans_to, 0 },
	{ "roce_slow_restart_used_total", WF_EV_slow_restart, 0 },
	{ "roce_slow_restart_cnps_total", WF_EV_slow_restart_cnps, 0 },
	{ "roce_slow_restart_total", WF_EV_slow_restart_trans, 0 },
	{ "info", WF_EV_PASSED, 0 },
	{ "state_id", WF_EV_PASSED, 0 },
	{ "physical_state_id", WF_EV_PASSED, 0 },
	{ "rate_bytes_per_second", WF_EV_PASSED, 0 },
};
/* clang-format on */

/* What subnet/pm.h has, in its order, and which counters they are. */

static const struct alias pm[WF_PM_N] = {
	[WF_PM_symbol_errors] = { NULL, WF_EV_symbol_errors, 0 },
	[WF_PM_link_recoveries] = { NULL, WF_EV_link_recoveries, 0 },
	[WF_PM_link_downed] = { NULL, WF_EV_link_downed, 0 },
	[WF_PM_rcv_errors] = { NULL, WF_EV_drops_error, 0 },
	[WF_PM_rcv_remote_physical] = { NULL, WF_EV_rcv_remote_physical, 0 },
	[WF_PM_rcv_switch_relay] = { NULL, WF_EV_drops_route, 0 },
	[WF_PM_xmit_discards] = { NULL, WF_EV_tx_discards, 0 },
	[WF_PM_xmit_constraint] = { NULL, WF_EV_xmit_constraint, 0 },
	[WF_PM_rcv_constraint] = { NULL, WF_EV_rcv_constraint, 0 },
	[WF_PM_local_integrity] = { NULL, WF_EV_local_integrity, 0 },
	[WF_PM_buffer_overruns] = { NULL, WF_EV_buffer_overruns, 0 },
	[WF_PM_vl15_dropped] = { NULL, WF_EV_vl15_dropped, 0 },
	[WF_PM_xmit_wait] = { NULL, WF_EV_xmit_wait_ticks, 0 },
	[WF_PM_xmit_data] = { NULL, WF_EV_tx_bytes, 4 },
	[WF_PM_rcv_data] = { NULL, WF_EV_if_rx_bytes, 4 },
	[WF_PM_xmit_pkts] = { NULL, WF_EV_tx_packets, 0 },
	[WF_PM_rcv_pkts] = { NULL, WF_EV_rx_packets, 0 },
};

/* ---- looking names up ---- */

/* Whether name is as the pattern says; *queue_p is the number in it. */
static bool is_like(const char *pattern, const char *name, size_t len, int *queue_p)
{
	const char *end = name + len;
	int number = -1;

	for (; *pattern != '\0'; pattern++) {
		if (pattern[0] == '%' && pattern[1] == 'u') {
			const char *first = name;

			number = 0;
			for (; name < end && *name >= '0' && *name <= '9' && number < MANY; name++)
				number = number * 10 + (*name - '0');
			if (name == first || number >= MANY)
				return false;
			pattern++;
			continue;
		}
		if (name == end || *name++ != *pattern)
			return false;
	}
	*queue_p = number;
	return name == end;
}

static bool found(struct wf_ev_name *name_p, enum wf_ev_counter counter, uint64_t by)
{
	name_p->counter = counter;
	name_p->by = by == 0 ? 1 : by;
	return true;
}

static bool in_aliases(const struct alias *alias, size_t n, const char *name, size_t len,
                       struct wf_ev_name *name_p)
{
	for (size_t i = 0; i < n; i++) {
		if (is_like(alias[i].name, name, len, &name_p->queue))
			return found(name_p, alias[i].counter, alias[i].by);
	}
	return false;
}

/* Among the names that weft's ports have in one family of tools. */
static bool in_ports(bool infiniband, const char *name, size_t len, struct wf_ev_name *name_p)
{
	for (unsigned i = 0; i < N_PORTS; i++) {
		const struct wf_tool_name *tool = infiniband ? &ports[i].ib : &ports[i].ether;

		if (tool->name != NULL && is_like(tool->name, name, len, &name_p->queue))
			return found(name_p, (enum wf_ev_counter)i, (uint64_t)tool->by);
	}
	return false;
}

static bool in_hosts(bool own, const char *name, size_t len, struct wf_ev_name *name_p)
{
	for (unsigned i = 0; i < N_HOSTS; i++) {
		const char *is = hosts[i].hw ? host_name(i) : hosts[i].name;

		if ((hosts[i].hw || own) && is_like(is, name, len, &name_p->queue))
			return found(name_p, (enum wf_ev_counter)(N_PORTS + i), 1);
	}
	return false;
}

static bool cut(const char *name, size_t *len, const char *end)
{
	size_t n = strlen(end);

	if (*len <= n || memcmp(name + *len - n, end, n) != 0)
		return false;
	*len -= n;
	return true;
}

static bool in_pma(const char *name, size_t len, struct wf_ev_name *name_p)
{
	/* Extended counters do not stop within anybody's time. */
	bool wide = cut(name, &len, "Extended") || cut(name, &len, "Ext");

	for (unsigned i = 0; i < WF_PM_N; i++) {
		if (!is_like(wf_pm_rows[i].name, name, len, &name_p->queue))
			continue;
		name_p->max = wide ? 0 : wf_pm_rows[i].max;
		return found(name_p, pm[i].counter, pm[i].by);
	}
	return in_aliases(pma, WF_ARRAY_SIZE(pma), name, len, name_p);
}

static bool in_ethtool(const char *name, size_t len, struct wf_ev_name *name_p)
{
	(void)cut(name, &len, ".nic");
	return in_ports(false, name, len, name_p) ||
	       in_aliases(ethtool, WF_ARRAY_SIZE(ethtool), name, len, name_p);
}

/* The kernel's files of InfiniBand stop where the classic counters behind them do. */
static bool in_sysfs(const char *name, size_t len, struct wf_ev_name *name_p)
{
	if (!in_hosts(false, name, len, name_p) &&
	    !in_aliases(sysfs, WF_ARRAY_SIZE(sysfs), name, len, name_p))
		return false;
	for (unsigned i = 0; i < WF_PM_xmit_wait; i++) {
		if (pm[i].counter == name_p->counter)
			name_p->max = wf_pm_rows[i].max;
	}
	return true;
}

static bool starts(const char *name, size_t len, const char *with, size_t *n_p)
{
	*n_p = strlen(with);
	return len > *n_p && memcmp(name, with, *n_p) == 0;
}

/* node_exporter writes received for rx and transmitted for tx in ethtool's names. */
static bool in_node_ethtool(const char *name, size_t len, struct wf_ev_name *name_p)
{
	static const struct {
		const char *long_word, *word;
	} words[] = { { "received", "rx" }, { "transmitted", "tx" } };
	char text[96];
	size_t n = 0;

	while (len > 0 && n + 3 < sizeof(text)) {
		const char *bar = memchr(name, '_', len);
		size_t m = bar == NULL ? len : (size_t)(bar - name), k = m;
		const char *is = name;

		for (size_t i = 0; i < WF_ARRAY_SIZE(words); i++) {
			if (m == strlen(words[i].long_word) &&
			    memcmp(name, words[i].long_word, m) == 0) {
				is = words[i].word;
				k = strlen(is);
			}
		}
		if (n + k + 1 >= sizeof(text))
			return false;
		memcpy(text + n, is, k);
		n += k;
		name += m;
		len -= m;
		if (len > 0) {
			text[n++] = '_';
			name++;
			len--;
		}
	}
	return len == 0 && in_ethtool(text, n, name_p);
}

static bool in_exporter_rows(const char *name, size_t len, struct wf_ev_name *name_p)
{
	for (unsigned i = 0; i < N_PORTS; i++) {
		if (ports[i].exporter != NULL && strcmp(ports[i].name, "credit_wait_ps") != 0 &&
		    is_like(ports[i].exporter, name, len, &name_p->queue))
			return found(name_p, (enum wf_ev_counter)i, 1);
	}
	for (unsigned i = 0; i < N_HOSTS; i++) {
		if (hosts[i].exporter != NULL &&
		    is_like(hosts[i].exporter, name, len, &name_p->queue))
			return found(name_p, (enum wf_ev_counter)(N_PORTS + i), 1);
	}
	return false;
}

/* What a live fabric of weft tells. */
static bool in_weft_metrics(const char *name, size_t len, struct wf_ev_name *name_p)
{
	(void)cut(name, &len, "_total");
	for (unsigned i = 0; i < N_PORTS; i++) {
		if (ports[i].metric.name != NULL &&
		    is_like(ports[i].metric.name, name, len, &name_p->queue))
			return found(name_p, (enum wf_ev_counter)i, 1);
	}
	return false;
}

static bool in_exporter(const char *name, size_t len, struct wf_ev_name *name_p)
{
	size_t n;

	if (starts(name, len, "node_infiniband_legacy_", &n))
		return found(name_p, WF_EV_PASSED, 1);
	if (starts(name, len, "node_infiniband_", &n))
		return in_exporter_rows(name + n, len - n, name_p) ||
		       in_aliases(exporter, WF_ARRAY_SIZE(exporter), name + n, len - n, name_p);
	if (starts(name, len, "node_ethtool_", &n))
		return in_node_ethtool(name + n, len - n, name_p);
	if (starts(name, len, "weft_switch_port_", &n))
		return in_weft_metrics(name + n, len - n, name_p);
	if (starts(name, len, "weft_run_", &n) || starts(name, len, "node_scrape_", &n))
		return found(name_p, WF_EV_PASSED, 1);
	if (starts(name, len, "rdma_", &n) || starts(name, len, "weft_", &n)) {
		(void)cut(name, &len, "_total");
		return in_hosts(true, name + n, len - n, name_p) ||
		       in_sysfs(name + n, len - n, name_p) ||
		       in_ports(true, name + n, len - n, name_p);
	}
	return false;
}

bool wf_ev_name(enum wf_ev_tongue tongue, const char *name, size_t len, struct wf_ev_name *name_p)
{
	*name_p = (struct wf_ev_name){ .queue = -1 };
	switch (tongue) {
	case WF_EV_ETHTOOL:
		return in_ethtool(name, len, name_p) || in_sysfs(name, len, name_p);
	case WF_EV_SYSFS:
		return in_sysfs(name, len, name_p) || in_ethtool(name, len, name_p);
	case WF_EV_SAI:
		return in_aliases(sai, WF_ARRAY_SIZE(sai), name, len, name_p);
	case WF_EV_PMA:
		return in_pma(name, len, name_p);
	case WF_EV_EXPORTER:
		return in_exporter(name, len, name_p);
	case WF_EV_WEFT:
		return in_ports(true, name, len, name_p) || in_hosts(true, name, len, name_p) ||
		       in_ports(false, name, len, name_p);
	}
	return false;
}
