/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sa_component.h - the bits of component masks, by name: WF_COMPONENT(WF_PATH_C_DGID).
 *
 * Reserved fields count, so numbers are missing here. What nobody asks for is not named; the tables
 * of sa.c have it all.
 */
#ifndef WF_WIRE_SA_COMPONENT_H
#define WF_WIRE_SA_COMPONENT_H

enum wf_node_component {
	WF_NODE_C_LID = 0,
	WF_NODE_C_NODE_TYPE = 4,
	WF_NODE_C_SYSTEM_IMAGE_GUID = 6,
	WF_NODE_C_NODE_GUID = 7,
	WF_NODE_C_PORT_GUID = 8,
	WF_NODE_C_DESCRIPTION = 14,
};

enum wf_port_info_component {
	WF_PORT_INFO_C_LID = 0,
	WF_PORT_INFO_C_PORT = 1,
	WF_PORT_INFO_C_OPTIONS = 2,
	WF_PORT_INFO_C_INFO = 3, /* the first of PortInfo's own */
	WF_PORT_INFO_C_BASE_LID = 5,
	WF_PORT_INFO_C_CAPABILITY_MASK = 7,
	WF_PORT_INFO_C_PORT_STATE = 15,
	WF_PORT_INFO_C_CAPABILITY_MASK2 = 53,
};

enum wf_link_component {
	WF_LINK_C_FROM_LID = 0,
	WF_LINK_C_FROM_PORT = 1,
	WF_LINK_C_TO_PORT = 2,
	WF_LINK_C_TO_LID = 3,
};

enum wf_service_component {
	WF_SERVICE_C_ID = 0,
	WF_SERVICE_C_GID = 1,
	WF_SERVICE_C_PKEY = 2,
	WF_SERVICE_C_LEASE = 4,
	WF_SERVICE_C_KEY = 5,
	WF_SERVICE_C_NAME = 6,
	WF_SERVICE_C_DATA = 7, /* to 36 */
};

enum wf_path_component {
	WF_PATH_C_SERVICE_ID = 0, /* and 1 */
	WF_PATH_C_DGID = 2,
	WF_PATH_C_SGID = 3,
	WF_PATH_C_DLID = 4,
	WF_PATH_C_SLID = 5,
	WF_PATH_C_RAW_TRAFFIC = 6,
	WF_PATH_C_FLOW_LABEL = 8,
	WF_PATH_C_HOP_LIMIT = 9,
	WF_PATH_C_TCLASS = 10,
	WF_PATH_C_REVERSIBLE = 11,
	WF_PATH_C_NUMB_PATH = 12,
	WF_PATH_C_PKEY = 13,
	WF_PATH_C_QOS_CLASS = 14,
	WF_PATH_C_SL = 15,
	WF_PATH_C_MTU_SELECTOR = 16,
	WF_PATH_C_MTU = 17,
	WF_PATH_C_RATE_SELECTOR = 18,
	WF_PATH_C_RATE = 19,
	WF_PATH_C_LIFE_SELECTOR = 20,
	WF_PATH_C_LIFE = 21,
};

enum wf_mc_member_component {
	WF_MC_C_MGID = 0,
	WF_MC_C_PORT_GID = 1,
	WF_MC_C_QKEY = 2,
	WF_MC_C_MLID = 3,
	WF_MC_C_MTU_SELECTOR = 4,
	WF_MC_C_MTU = 5,
	WF_MC_C_TCLASS = 6,
	WF_MC_C_PKEY = 7,
	WF_MC_C_RATE_SELECTOR = 8,
	WF_MC_C_RATE = 9,
	WF_MC_C_LIFE_SELECTOR = 10,
	WF_MC_C_LIFE = 11,
	WF_MC_C_SL = 12,
	WF_MC_C_FLOW_LABEL = 13,
	WF_MC_C_HOP_LIMIT = 14,
	WF_MC_C_SCOPE = 15,
	WF_MC_C_JOIN_STATE = 16,
	WF_MC_C_PROXY_JOIN = 17,
};

enum wf_sl_to_vl_component {
	WF_SL_TO_VL_C_LID = 0,
	WF_SL_TO_VL_C_IN_PORT = 1,
	WF_SL_TO_VL_C_OUT_PORT = 2,
};

enum wf_vl_arb_component {
	WF_VL_ARB_C_LID = 0,
	WF_VL_ARB_C_PORT = 1,
	WF_VL_ARB_C_BLOCK = 2,
};

enum wf_pkey_table_component {
	WF_PKEY_TABLE_C_LID = 0,
	WF_PKEY_TABLE_C_BLOCK = 1,
	WF_PKEY_TABLE_C_PORT = 2,
};

enum wf_linear_ft_component {
	WF_LINEAR_FT_C_LID = 0,
	WF_LINEAR_FT_C_BLOCK = 1,
};

enum wf_multicast_ft_component {
	WF_MULTICAST_FT_C_LID = 0,
	WF_MULTICAST_FT_C_POSITION = 1,
	WF_MULTICAST_FT_C_BLOCK = 3,
};

enum wf_sm_info_component {
	WF_SM_INFO_C_LID = 0,
	WF_SM_INFO_C_GUID = 2,
	WF_SM_INFO_C_SM_KEY = 3,
	WF_SM_INFO_C_ACT_COUNT = 4,
	WF_SM_INFO_C_PRIORITY = 5,
	WF_SM_INFO_C_STATE = 6,
};

enum wf_guid_info_component {
	WF_GUID_INFO_C_LID = 0,
	WF_GUID_INFO_C_BLOCK = 1,
	WF_GUID_INFO_C_GUID = 4, /* to 11 */
};

enum wf_multi_path_component {
	WF_MULTI_PATH_C_RAW_TRAFFIC = 0,
	WF_MULTI_PATH_C_FLOW_LABEL = 2,
	WF_MULTI_PATH_C_HOP_LIMIT = 3,
	WF_MULTI_PATH_C_TCLASS = 4,
	WF_MULTI_PATH_C_REVERSIBLE = 5,
	WF_MULTI_PATH_C_NUMB_PATH = 6,
	WF_MULTI_PATH_C_PKEY = 7,
	WF_MULTI_PATH_C_QOS_CLASS = 8,
	WF_MULTI_PATH_C_SL = 9,
	WF_MULTI_PATH_C_MTU_SELECTOR = 10,
	WF_MULTI_PATH_C_MTU = 11,
	WF_MULTI_PATH_C_RATE_SELECTOR = 12,
	WF_MULTI_PATH_C_RATE = 13,
	WF_MULTI_PATH_C_LIFE_SELECTOR = 14,
	WF_MULTI_PATH_C_LIFE = 15,
	WF_MULTI_PATH_C_SERVICE_ID_MSB = 16,
	WF_MULTI_PATH_C_INDEPENDENCE = 17,
	WF_MULTI_PATH_C_SGID_COUNT = 19,
	WF_MULTI_PATH_C_DGID_COUNT = 20,
	WF_MULTI_PATH_C_SERVICE_ID_LSB = 21,
};

enum wf_inform_info_component {
	WF_INFORM_C_SUBSCRIBER_GID = 0,
	WF_INFORM_C_NUMBER = 1,
	WF_INFORM_C_INFO = 3, /* the first of InformInfo's own */
	WF_INFORM_C_LID_RANGE_BEGIN = 4,
	WF_INFORM_C_LID_RANGE_END = 5,
	WF_INFORM_C_TRAP_NUMBER = 10,
	WF_INFORM_C_QPN = 11,
};

#endif
