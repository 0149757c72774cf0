/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pm.h - what ports of a subnet have counted, as a file says: the counters that tell of errors, and
 * how much went through. Each is the larger of its classic and its extended form.
 */
#ifndef WF_SUBNET_PM_H
#define WF_SUBNET_PM_H

#include <stdbool.h>

#include "base/base.h"

/*
 * ROW(field, column of ibdiagnet's PM_INFO, name in perfquery's output, tells of an error, largest
 * value of the classic form). Whatever else a file has is left out of it.
 */
#define WF_PM_COUNTERS(ROW)                                                                        \
	ROW(symbol_errors, "SymbolErrorCounter", "SymbolErrorCounter", true, 0xffff)               \
	ROW(link_recoveries, "LinkErrorRecoveryCounter", "LinkErrorRecoveryCounter", true, 0xff)   \
	ROW(link_downed, "LinkDownedCounter", "LinkDownedCounter", true, 0xff)                     \
	ROW(rcv_errors, "PortRcvErrors", "PortRcvErrors", true, 0xffff)                            \
	ROW(rcv_remote_physical, "PortRcvRemotePhysicalErrors", "PortRcvRemotePhysicalErrors",     \
	    true, 0xffff)                                                                          \
	ROW(rcv_switch_relay, "PortRcvSwitchRelayErrors", "PortRcvSwitchRelayErrors", false,       \
	    0xffff)                                                                                \
	ROW(xmit_discards, "PortXmitDiscards", "PortXmitDiscards", true, 0xffff)                   \
	ROW(xmit_constraint, "PortXmitConstraintErrors", "PortXmitConstraintErrors", true, 0xff)   \
	ROW(rcv_constraint, "PortRcvConstraintErrors", "PortRcvConstraintErrors", true, 0xff)      \
	ROW(local_integrity, "LocalLinkIntegrityErrors", "LocalLinkIntegrityErrors", true, 0xf)    \
	ROW(buffer_overruns, "ExcessiveBufferOverrunErrors", "ExcessiveBufferOverrunErrors", true, \
	    0xf)                                                                                   \
	ROW(vl15_dropped, "VL15Dropped", "VL15Dropped", true, 0xffff)                              \
	ROW(xmit_wait, "PortXmitWait", "PortXmitWait", false, UINT32_MAX)                          \
	ROW(xmit_data, "PortXmitData", "PortXmitData", false, UINT32_MAX)                          \
	ROW(rcv_data, "PortRcvData", "PortRcvData", false, UINT32_MAX)                             \
	ROW(xmit_pkts, "PortXmitPkts", "PortXmitPkts", false, UINT32_MAX)                          \
	ROW(rcv_pkts, "PortRcvPkts", "PortRcvPkts", false, UINT32_MAX)

#define WF_PM_ENUM(field, column, query, error, max) WF_PM_##field,
enum wf_pm_counter { WF_PM_COUNTERS(WF_PM_ENUM) WF_PM_N };
#undef WF_PM_ENUM

struct wf_pm {
	bool known; /* the file has this port */
	uint64_t count[WF_PM_N];
};

struct wf_pm_row {
	const char *column; /* of PM_INFO */
	const char *query;  /* as perfquery has it */
	bool error;
	uint64_t max; /* where the classic counter stops */
};

extern const struct wf_pm_row wf_pm_rows[]; /* by enum wf_pm_counter */

#endif
