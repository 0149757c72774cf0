/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ibmad.c - attributes that weft writes, read field by field by libibmad, with which
 * infiniband-diags reads them: random values, and all that it knows of weft's attributes.
 *
 * Left out is what libibmad has otherwise than IBTA: fields of flow labels and some masks begin
 * some bits too early in its table, NoticeCount has the toggle in it, and PortCounters' QP1Dropped
 * lies on VL15Dropped. What it has no field for is in test_tshark_mad.c.
 */
#include "attr_test.h"

#include <dlfcn.h>

#if !__has_include(<infiniband/mad.h>)
int main(void)
{
	printf("skipped: there is no libibmad\n");
	return 0;
}
#else
#include <infiniband/mad.h>

/* Members in the order of libibmad's fields from first on; "name[n]" is n fields, of an array. */
static const struct {
	const struct wf_layout *layout;
	int first;
	const char *members;
} rows[] = {
	{ &wf_port_info_layout, IB_PORT_MKEY_F,
	  "mkey gid_prefix lid master_sm_lid capability_mask diag_code mkey_lease_period "
	  "local_port_num link_width_enabled link_width_supported link_width_active "
	  "link_speed_supported port_state port_physical_state link_down_default_state "
	  "mkey_protect_bits lmc link_speed_active link_speed_enabled neighbor_mtu master_sm_sl "
	  "vl_cap init_type vl_high_limit vl_arb_high_cap vl_arb_low_cap init_type_reply mtu_cap "
	  "vl_stall_count hoq_life operational_vls partition_enforcement_inbound "
	  "partition_enforcement_outbound filter_raw_inbound filter_raw_outbound mkey_violations "
	  "pkey_violations qkey_violations guid_cap client_reregister "
	  "multicast_pkey_trap_suppression subnet_timeout resp_time_value local_phy_errors "
	  "overrun_errors max_credit_hint link_round_trip_latency" },
	{ &wf_port_info_layout, IB_PORT_CAPMASK2_F,
	  "capability_mask2 link_speed_ext_active link_speed_ext_supported "
	  "link_speed_ext_enabled" },
	{ &wf_node_info_layout, IB_NODE_BASE_VERS_F,
	  "base_version class_version node_type num_ports system_image_guid node_guid port_guid "
	  "partition_cap device_id revision local_port_num vendor_id" },
	{ &wf_switch_info_layout, IB_SW_LINEAR_FDB_CAP_F,
	  "linear_fdb_cap random_fdb_cap multicast_fdb_cap linear_fdb_top default_port "
	  "default_multicast_primary_port default_multicast_not_primary_port life_time_value "
	  "port_state_change optimized_sl_to_vl lids_per_port partition_enforcement_cap "
	  "inbound_enforcement_cap outbound_enforcement_cap filter_raw_inbound_cap "
	  "filter_raw_outbound_cap enhanced_port0 multicast_fdb_top" },
	{ &wf_linear_ft_layout, IB_LINEAR_FORW_TBL_F, "port" },
	{ &wf_node_description_layout, IB_NODE_DESC_F, "text" },
	{ &wf_notice_layout, IB_NOTICE_IS_GENERIC_F,
	  "is_generic type producer_type trap_number issuer_lid toggle" },
	{ &wf_notice_layout, IB_NOTICE_DATA_DETAILS_F, "details" },
	{ &wf_port_counters_layout, IB_PC_PORT_SELECT_F,
	  "port_select counter_select symbol_errors link_error_recovery link_downed rcv_errors "
	  "rcv_remote_physical_errors rcv_switch_relay_errors xmit_discards xmit_constraint_errors "
	  "rcv_constraint_errors counter_select2 local_link_integrity_errors "
	  "excessive_buffer_overruns vl15_dropped xmit_data rcv_data xmit_pkts rcv_pkts "
	  "xmit_wait" },
	{ &wf_sm_info_layout, IB_SMINFO_GUID_F, "guid sm_key act_count priority sm_state" },
	{ &wf_multi_path_record_layout, IB_SA_MP_NPATH_F, "numb_path sgid_count dgid_count" },
	{ &wf_path_record_layout, IB_SA_PR_DGID_F, "dgid sgid dlid slid numb_path sl" },
	{ &wf_mc_member_record_layout, IB_SA_MCM_MGID_F,
	  "mgid port_gid qkey mlid sl mtu rate tclass pkey" },
	{ &wf_mc_member_record_layout, IB_SA_MCM_JOIN_STATE_F, "join_state proxy_join" },
	{ &wf_service_record_layout, IB_SA_SR_ID_F, "service_id gid pkey lease key name" },
	{ &wf_port_counters_ext_layout, IB_PC_EXT_PORT_SELECT_F,
	  "port_select counter_select xmit_data rcv_data xmit_pkts rcv_pkts unicast_xmit_pkts "
	  "unicast_rcv_pkts multicast_xmit_pkts multicast_rcv_pkts" },
	{ &wf_port_counters_ext_layout, IB_PC_EXT_COUNTER_SELECT2_F,
	  "counter_select2 symbol_errors link_error_recovery link_downed rcv_errors "
	  "rcv_remote_physical_errors rcv_switch_relay_errors xmit_discards xmit_constraint_errors "
	  "rcv_constraint_errors local_link_integrity_errors excessive_buffer_overruns "
	  "vl15_dropped xmit_wait qp1_dropped" },
	{ &wf_class_port_info_layout, IB_CPI_BASEVER_F,
	  "base_version class_version capability_mask capability_mask2 resp_time_value "
	  "redirect_gid redirect_tc redirect_sl" },
	{ &wf_class_port_info_layout, IB_CPI_REDIRECT_LID_F,
	  "redirect_lid redirect_pkey redirect_qp redirect_qkey trap_gid trap_tc trap_sl" },
	{ &wf_class_port_info_layout, IB_CPI_TRAP_LID_F,
	  "trap_lid trap_pkey trap_hl trap_qp trap_qkey" },
	{ &wf_samples_control_layout, IB_PSC_OPCODE_F,
	  "op_code port_select tick counter_width counter_mask0" },
	{ &wf_samples_control_layout, IB_PSC_SAMPLE_MECHS_F,
	  "sample_mechanisms sample_status option_mask vendor_mask sample_start sample_interval "
	  "tag counter_select[15]" },
	{ &wf_samples_control_layout, IB_PSC_SAMPLES_ONLY_OPT_MASK_F, "samples_only_option_mask" },
	{ &wf_samples_result_layout, IB_PSR_TAG_F, "tag sample_status counter[15]" },
	{ &wf_guid_info_layout, IB_GI_GUID0_F, "guid[8]" },
	{ &wf_guid_info_record_layout, IB_SA_GIR_LID_F, "lid block info.guid[8]" },
	{ &wf_ext_speeds_counters_layout, IB_PESC_PORT_SELECT_F,
	  "port_select counter_select sync_header_errors unknown_blocks error_detection[12] "
	  "fec_correctable_blocks[12] fec_uncorrectable_blocks[12]" },
	{ &wf_node_record_layout, IB_SA_NR_LID_F,
	  "lid info.base_version info.class_version info.node_type info.num_ports "
	  "info.system_image_guid info.node_guid info.port_guid info.partition_cap info.device_id "
	  "info.revision info.local_port_num info.vendor_id description.text" },
	{ &wf_cong_info_layout, IB_CC_CONGESTION_INFO_F, "congestion_info control_table_cap" },
	{ &wf_cong_key_info_layout, IB_CC_CONGESTION_KEY_INFO_CC_KEY_F,
	  "cc_key protect lease_period violations" },
	{ &wf_cong_log_switch_layout, IB_CC_CONGESTION_LOG_LOGTYPE_F, "log_type congestion_flags" },
	{ &wf_cong_log_switch_layout, IB_CC_CONGESTION_LOG_SWITCH_LOG_EVENTS_COUNTER_F,
	  "event_counter timestamp port_map" },
	{ &wf_cong_log_switch_entry_layout, IB_CC_CONGESTION_LOG_ENTRY_SWITCH_SLID_F,
	  "slid dlid sl timestamp" },
	{ &wf_cong_log_ca_layout, IB_CC_CONGESTION_LOG_CA_THRESHOLD_EVENT_COUNTER_F,
	  "event_counter event_map timestamp" },
	{ &wf_cong_log_ca_entry_layout, IB_CC_CONGESTION_LOG_ENTRY_CA_LOCAL_QP_CN_ENTRY_F,
	  "local_qp sl service_type remote_qp local_lid remote_lid timestamp" },
	{ &wf_cong_switch_setting_layout, IB_CC_SWITCH_CONGESTION_SETTING_CONTROL_MAP_F,
	  "control_map victim_mask credit_mask threshold packet_size cs_threshold cs_return_delay "
	  "marking_rate" },
	{ &wf_cong_switch_port_layout, IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_VALID_F,
	  "valid control_type threshold packet_size marking_rate" },
	{ &wf_cong_ca_setting_layout, IB_CC_CA_CONGESTION_SETTING_PORT_CONTROL_F,
	  "port_control control_map" },
	{ &wf_cong_ca_entry_layout, IB_CC_CA_CONGESTION_ENTRY_CCTI_TIMER_F,
	  "ccti_timer ccti_increase trigger_threshold ccti_min" },
	{ &wf_cong_table_layout, IB_CC_CONGESTION_CONTROL_TABLE_CCTI_LIMIT_F, "ccti_limit" },
	{ &wf_cong_cct_entry_layout, IB_CC_CONGESTION_CONTROL_TABLE_ENTRY_CCT_SHIFT_F, "shift" },
	{ &wf_cong_timestamp_layout, IB_CC_TIMESTAMP_F, "timestamp" },
};

typedef void decode_field_fn(uint8_t *buf, enum MAD_FIELDS field, void *val);

static decode_field_fn *decode_field;
static unsigned fields;

static void check_field(const struct wf_layout *layout, const void *attr, uint8_t *bytes, int field,
                        const char *path, unsigned i)
{
	uint8_t theirs[64] = { 0 };
	const struct wf_field *f;
	const uint8_t *ours = attr_member(layout, attr, path, i, &f);
	uint64_t v = 0;

	decode_field(bytes, (enum MAD_FIELDS)field, theirs);
	fields++;
	if (f->bits > 64) {
		if (memcmp(ours, theirs, f->size) != 0)
			fail_msg("%s.%s: libibmad has other bytes", layout->name, path);
		return;
	}
	memcpy(&v, theirs, f->bits > 32 ? 8 : 4);
	if (v != attr_number(layout, attr, path, i))
		fail_msg("%s.%s[%u]: 0x%jx, and libibmad has 0x%jx", layout->name, path, i,
		         (uintmax_t)attr_number(layout, attr, path, i), (uintmax_t)v);
}

static void check_members(const struct wf_layout *layout, int field, const char *members,
                          struct test_rnd *r)
{
	uint8_t bytes[256], attr[ATTR_MAX];
	char text[1024], *save = NULL;

	test_rnd_fill(r, bytes, sizeof(bytes));
	wf_layout_decode(layout, bytes, attr);
	memset(bytes, 0xff, sizeof(bytes));
	wf_layout_encode(layout, attr, bytes);
	assert_true(strlen(members) < sizeof(text));
	strcpy(text, members);
	for (char *m = strtok_r(text, " ", &save); m != NULL; m = strtok_r(NULL, " ", &save)) {
		char *array = strchr(m, '[');
		unsigned n = array == NULL ? 1 : (unsigned)atoi(array + 1);

		if (array != NULL)
			*array = '\0';
		for (unsigned i = 0; i < n; i++)
			check_field(layout, attr, bytes, field++, m, i);
	}
}

static void test_fields(void **state)
{
	struct test_rnd r = test_rnd_seed(42);

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++)
		for (unsigned n = 0; n < 20; n++)
			check_members(rows[i].layout, rows[i].first, rows[i].members, &r);
	assert_true(fields >= 20 * 300);
}

/* The attributes that are 1 to 16 counters. */
static void test_simple_counters(void **state)
{
	static const struct {
		uint16_t attr_id;
		int first;
		unsigned n;
	} simple[] = {
		{ WF_PERF_RCV_ERROR_DETAILS, IB_PC_RCV_LOCAL_PHY_ERR_F, 6 },
		{ WF_PERF_XMIT_DISCARD_DETAILS, IB_PC_XMT_INACT_DISC_F, 4 },
		{ WF_PERF_OP_RCV_COUNTERS, IB_PC_PORT_OP_RCV_PKTS_F, 2 },
		{ WF_PERF_FLOW_CTL_COUNTERS, IB_PC_PORT_XMIT_FLOW_PKTS_F, 2 },
		{ WF_PERF_VL_OP_PACKETS, IB_PC_PORT_VL_OP_PACKETS0_F, 16 },
		{ WF_PERF_VL_OP_DATA, IB_PC_PORT_VL_OP_DATA0_F, 16 },
		{ WF_PERF_VL_XMIT_FLOW_CTL_ERRORS, IB_PC_PORT_VL_XMIT_FLOW_CTL_UPDATE_ERRORS0_F,
		  16 },
		{ WF_PERF_VL_XMIT_WAIT, IB_PC_PORT_VL_XMIT_WAIT0_F, 16 },
		{ WF_PERF_SW_VL_CONGESTION, IB_PC_SW_PORT_VL_CONGESTION0_F, 16 },
		{ WF_PERF_RCV_CON_CTRL, IB_PC_RCV_CON_CTRL_PKT_RCV_FECN_F, 2 },
		{ WF_PERF_SL_RCV_FECN, IB_PC_SL_RCV_FECN0_F, 16 },
		{ WF_PERF_SL_RCV_BECN, IB_PC_SL_RCV_BECN0_F, 16 },
		{ WF_PERF_XMIT_CON_CTRL, IB_PC_XMIT_CON_CTRL_TIME_CONG_F, 1 },
		{ WF_PERF_VL_XMIT_TIME_CONG, IB_PC_VL_XMIT_TIME_CONG0_F, 15 },
		{ WF_PERF_XMIT_DATA_SL, IB_PC_XMT_DATA_SL0_F, 16 },
		{ WF_PERF_RCV_DATA_SL, IB_PC_RCV_DATA_SL0_F, 16 },
	};
	struct test_rnd r = test_rnd_seed(43);

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(simple); i++) {
		struct wf_perf_simple attr;
		uint8_t bytes[WF_PERF_SIMPLE_LEN];
		uint32_t v;
		unsigned bits;

		test_rnd_fill(&r, bytes, sizeof(bytes));
		wf_perf_simple_decode(simple[i].attr_id, bytes, &attr);
		wf_perf_simple_encode(simple[i].attr_id, &attr, bytes);
		assert_int_equal(wf_perf_simple_shape(simple[i].attr_id, &bits), simple[i].n);
		for (unsigned n = 0; n < simple[i].n; n++) {
			decode_field(bytes, (enum MAD_FIELDS)(simple[i].first + (int)n), &v);
			assert_int_equal(v, attr.counter[n]);
		}
		decode_field(bytes, IB_PC_PORT_SELECT_F, &v);
		assert_int_equal(v, attr.port_select);
		decode_field(bytes, IB_PC_COUNTER_SELECT_F, &v);
		assert_int_equal(v, attr.counter_select);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_simple_counters),
	};
	void *library = dlopen("libibmad.so.5", RTLD_NOW), *symbol;
	int failed;

	if (library == NULL) {
		printf("skipped: %s\n", dlerror());
		return 0;
	}
	symbol = dlsym(library, "mad_decode_field");
	memcpy(&decode_field, &symbol, sizeof(decode_field));
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	dlclose(library);
	return failed;
}
#endif
