/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pm.h - what ports of a subnet have counted, as a file says: the counters that tell of errors, and
 * how much went through. Each is the larger of its classic and its extended form.
 */
#ifndef WF_SUBNET_PM_H
#define WF_SUBNET_PM_H

#include <stdbool.h>

#include "base/base.h"

enum wf_pm_tells {
	WF_PM_TRAFFIC, /* what went through */
	WF_PM_EVENT,   /* what happens in a healthy fabric, too, as hosts come and go */
	WF_PM_FAULT,   /* what a healthy link does not have */
};

/*
 * ROW(field, name in PM_INFO and in perfquery's output, what it tells of, largest value of the
 * classic form). Whatever else a file has is left out.
 */
#define WF_PM_COUNTERS(ROW)                                                                        \
	ROW(symbol_errors, "SymbolErrorCounter", WF_PM_FAULT, 0xffff)                              \
	ROW(link_recoveries, "LinkErrorRecoveryCounter", WF_PM_FAULT, 0xff)                        \
	ROW(link_downed, "LinkDownedCounter", WF_PM_EVENT, 0xff)                                   \
	ROW(rcv_errors, "PortRcvErrors", WF_PM_FAULT, 0xffff)                                      \
	ROW(rcv_remote_physical, "PortRcvRemotePhysicalErrors", WF_PM_FAULT, 0xffff)               \
	ROW(rcv_switch_relay, "PortRcvSwitchRelayErrors", WF_PM_EVENT, 0xffff)                     \
	ROW(xmit_discards, "PortXmitDiscards", WF_PM_EVENT, 0xffff)                                \
	ROW(xmit_constraint, "PortXmitConstraintErrors", WF_PM_FAULT, 0xff)                        \
	ROW(rcv_constraint, "PortRcvConstraintErrors", WF_PM_FAULT, 0xff)                          \
	ROW(local_integrity, "LocalLinkIntegrityErrors", WF_PM_FAULT, 0xf)                         \
	ROW(buffer_overruns, "ExcessiveBufferOverrunErrors", WF_PM_FAULT, 0xf)                     \
	ROW(vl15_dropped, "VL15Dropped", WF_PM_EVENT, 0xffff)                                      \
	ROW(xmit_wait, "PortXmitWait", WF_PM_TRAFFIC, UINT32_MAX)                                  \
	ROW(xmit_data, "PortXmitData", WF_PM_TRAFFIC, UINT32_MAX)                                  \
	ROW(rcv_data, "PortRcvData", WF_PM_TRAFFIC, UINT32_MAX)                                    \
	ROW(xmit_pkts, "PortXmitPkts", WF_PM_TRAFFIC, UINT32_MAX)                                  \
	ROW(rcv_pkts, "PortRcvPkts", WF_PM_TRAFFIC, UINT32_MAX)

#define WF_PM_ENUM(field, name, tells, max) WF_PM_##field,
enum wf_pm_counter { WF_PM_COUNTERS(WF_PM_ENUM) WF_PM_N };
#undef WF_PM_ENUM

struct wf_pm {
	bool known; /* the file has this port */
	uint64_t count[WF_PM_N];
};

struct wf_pm_row {
	const char *name;
	enum wf_pm_tells tells;
	uint64_t max; /* where the classic counter stops */
};

extern const struct wf_pm_row wf_pm_rows[]; /* by enum wf_pm_counter */

#endif
