/* SPDX-License-Identifier: Apache-2.0 */
/* kinds.c - the table of what the manager asks and sets: attribute, modifier, and whose it is. */
#include "mgmt/sm/steps_priv.h"

#define KIND_NAMES(X)                                                                              \
	X(WF_SM_GET_NODE_INFO, "Get(NodeInfo)")                                                    \
	X(WF_SM_GET_NODE_DESCRIPTION, "Get(NodeDescription)")                                      \
	X(WF_SM_GET_SWITCH_INFO, "Get(SwitchInfo)")                                                \
	X(WF_SM_GET_PORT_INFO, "Get(PortInfo)")                                                    \
	X(WF_SM_GET_GUID_INFO, "Get(GUIDInfo)")                                                    \
	X(WF_SM_GET_PKEYS, "Get(P_KeyTable)")                                                      \
	X(WF_SM_GET_SM_INFO, "Get(SMInfo)")                                                        \
	X(WF_SM_GET_ADAPTIVE, "Get(AdaptiveInfo)")                                                 \
	X(WF_SM_CLEAR_CHANGE, "Set(SwitchInfo:PortStateChange)")                                   \
	X(WF_SM_SET_PKEYS, "Set(P_KeyTable)")                                                      \
	X(WF_SM_SET_PORT_INFO, "Set(PortInfo)")                                                    \
	X(WF_SM_SET_SWITCH_INFO, "Set(SwitchInfo)")                                                \
	X(WF_SM_SET_LINEAR_FT, "Set(LinearForwardingTable)")                                       \
	X(WF_SM_SET_ADAPTIVE_GROUPS, "Set(AdaptiveGroups)")                                        \
	X(WF_SM_SET_ADAPTIVE_LIDS, "Set(AdaptiveLids)")                                            \
	X(WF_SM_SET_ADAPTIVE, "Set(AdaptiveInfo)")                                                 \
	X(WF_SM_SET_SL_TO_VL, "Set(SLtoVLMappingTable)")                                           \
	X(WF_SM_SET_VL_ARB, "Set(VLArbitrationTable)")                                             \
	X(WF_SM_SET_MULTICAST_FT, "Set(MulticastForwardingTable)")                                 \
	X(WF_SM_SET_SM_INFO, "Set(SMInfo)")

#define NAME(kind, name) [(kind)] = (name),
const char *const wf_sm_kind_names[WF_SM_KINDS] = { KIND_NAMES(NAME) };

const char *const wf_sm_phase_names[WF_SM_PHASES] = {
	[WF_SM_PHASE_IDLE] = "idle",
	[WF_SM_PHASE_LIGHT] = "light",
	[WF_SM_PHASE_DISCOVER] = "discover",
	[WF_SM_PHASE_TABLES] = "tables",
	[WF_SM_PHASE_HANDING_OVER] = "hand over",
	[WF_SM_PHASE_PKEYS] = "P_Keys",
	[WF_SM_PHASE_PORTS] = "ports",
	[WF_SM_PHASE_ROUTES] = "routes",
	[WF_SM_PHASE_ADAPTIVE] = "adaptive",
	[WF_SM_PHASE_LANES] = "lanes",
	[WF_SM_PHASE_MULTICAST] = "multicast",
	[WF_SM_PHASE_ARM] = "arm",
	[WF_SM_PHASE_ACTIVATE] = "activate",
};

static bool of_switch(const struct wf_sm *sm, const struct wf_sm_work *work)
{
	return wf_subnet_is_switch(sm->cur->subnet, work->node);
}

static uint32_t mod_arg(const struct wf_sm *sm, const struct wf_sm_work *work)
{
	(void)sm;
	return work->arg;
}

/* The block; of a switch, the port as well. */
static uint32_t mod_pkeys(const struct wf_sm *sm, const struct wf_sm_work *work)
{
	return (of_switch(sm, work) ? (uint32_t)work->port << 16 : 0) | work->arg;
}

static uint32_t mod_port(const struct wf_sm *sm, const struct wf_sm_work *work)
{
	(void)sm;
	return work->port;
}

/* Of a switch, in by which port and out by which. */
static uint32_t mod_sl_to_vl(const struct wf_sm *sm, const struct wf_sm_work *work)
{
	return of_switch(sm, work) ? (uint32_t)work->arg << 8 | work->port : 0;
}

/* arg is 1 and 2 for the halves of low priority, 3 and 4 for those of high. */
static uint32_t mod_vl_arb(const struct wf_sm *sm, const struct wf_sm_work *work)
{
	return (uint32_t)work->arg << 16 | (of_switch(sm, work) ? work->port : 0u);
}

/* The position in the uppermost bits, the block in the lowest. */
static uint32_t mod_multicast(const struct wf_sm *sm, const struct wf_sm_work *work)
{
	(void)sm;
	return (uint32_t)work->port << 28 | work->arg;
}

#define GET WF_MAD_METHOD_GET
#define SET WF_MAD_METHOD_SET

const struct wf_sm_kind_row wf_sm_kinds[WF_SM_KINDS] = {
	[WF_SM_GET_NODE_INFO] = { WF_SMP_NODE_INFO, GET, false, NULL, NULL, wf_sm_done_node_info },
	[WF_SM_GET_NODE_DESCRIPTION] = { WF_SMP_NODE_DESCRIPTION, GET, false, NULL, NULL,
	                                 wf_sm_done_node_description },
	[WF_SM_GET_SWITCH_INFO] = { WF_SMP_SWITCH_INFO, GET, true, NULL, NULL,
	                            wf_sm_done_switch_info },
	[WF_SM_GET_PORT_INFO] = { WF_SMP_PORT_INFO, GET, true, mod_port, NULL,
	                          wf_sm_done_port_info },
	[WF_SM_GET_GUID_INFO] = { WF_SMP_GUID_INFO, GET, false, NULL, NULL, wf_sm_done_guid_info },
	[WF_SM_GET_PKEYS] = { WF_SMP_PKEY_TABLE, GET, true, mod_pkeys, NULL, wf_sm_done_get_pkeys },
	[WF_SM_GET_SM_INFO] = { WF_SMP_SM_INFO, GET, false, NULL, NULL, wf_sm_done_sm_info },
	[WF_SM_CLEAR_CHANGE] = { WF_SMP_SWITCH_INFO, SET, true, NULL, wf_sm_fill_clear,
	                         wf_sm_done_clear },
	[WF_SM_SET_PKEYS] = { WF_SMP_PKEY_TABLE, SET, true, mod_pkeys, wf_sm_fill_pkeys,
	                      wf_sm_done_set_pkeys },
	[WF_SM_SET_PORT_INFO] = { WF_SMP_PORT_INFO, SET, true, wf_sm_port_modifier,
	                          wf_sm_fill_port_info, wf_sm_done_set_port_info },
	[WF_SM_SET_SWITCH_INFO] = { WF_SMP_SWITCH_INFO, SET, true, NULL, wf_sm_fill_switch_info,
	                            wf_sm_done_set_switch_info },
	[WF_SM_SET_LINEAR_FT] = { WF_SMP_LINEAR_FT, SET, true, mod_arg, wf_sm_fill_linear_ft,
	                          wf_sm_done_linear_ft },
	[WF_SM_GET_ADAPTIVE] = { WF_SMP_ADAPTIVE_INFO, GET, false, NULL, NULL,
	                         wf_sm_done_adaptive },
	[WF_SM_SET_ADAPTIVE_GROUPS] = { WF_SMP_ADAPTIVE_GROUPS, SET, true, mod_arg,
	                                wf_sm_fill_adaptive_groups, wf_sm_done_adaptive_groups },
	[WF_SM_SET_ADAPTIVE_LIDS] = { WF_SMP_ADAPTIVE_LIDS, SET, true, mod_arg,
	                              wf_sm_fill_adaptive_lids, wf_sm_done_adaptive_lids },
	[WF_SM_SET_ADAPTIVE] = { WF_SMP_ADAPTIVE_INFO, SET, true, NULL, wf_sm_fill_adaptive,
	                         wf_sm_done_adaptive },
	[WF_SM_SET_SL_TO_VL] = { WF_SMP_SL_TO_VL, SET, true, mod_sl_to_vl, wf_sm_fill_sl_to_vl,
	                         NULL },
	[WF_SM_SET_VL_ARB] = { WF_SMP_VL_ARB, SET, true, mod_vl_arb, wf_sm_fill_vl_arb, NULL },
	[WF_SM_SET_MULTICAST_FT] = { WF_SMP_MULTICAST_FT, SET, true, mod_multicast,
	                             wf_sm_fill_multicast_ft, wf_sm_done_multicast_ft },
	[WF_SM_SET_SM_INFO] = { WF_SMP_SM_INFO, SET, true, mod_arg, wf_sm_fill_sm_info,
	                        wf_sm_done_set_sm_info },
};
