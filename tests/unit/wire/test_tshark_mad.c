/* SPDX-License-Identifier: Apache-2.0 */
/* ctest: tshark */
/*
 * test_tshark_mad.c - attributes of management that weft writes, read by Wireshark's tshark: random
 * values in packets to queue pairs 0 and 1, and every field that it shows of an attribute is what
 * it was. What it does not know is checked against libibmad (test_ibmad.c), and the other way
 * round.
 *
 * Left out is what tshark 4.0 reads otherwise than IBTA: it takes half of a table of multicast
 * LIDs, and calls trap 259 malformed.
 */
#include "attr_test.h"

#include <arpa/inet.h>
#include <unistd.h>

#include "wire/pcapng.h"

#define ROUNDS 8
#define COLUMNS 400
#define LID WF_MAD_CLASS_SUBN_LID
#define DR WF_MAD_CLASS_SUBN_DR
#define PERF WF_MAD_CLASS_PERF
#define SA WF_MAD_CLASS_SA
#define NOTICE WF_MAD_ATTR_NOTICE

/*
 * Attributes in MADs, and the members that tshark shows: "ours=theirs", or "ours" where theirs is
 * the same without underscores; behind prefix. Of a notice with a trap, layout is that of the
 * details. Of an array tshark shows all elements.
 */
static const struct message {
	const struct wf_layout *layout;
	uint8_t class;
	uint8_t at; /* offset of the attribute */
	uint16_t attr_id;
	uint16_t trap; /* its number; 0: no notice, or any */
	const char *prefix, *members;
} messages[] = {
	{ &wf_node_info_layout, DR, 64, WF_SMP_NODE_INFO, 0, "nodeinfo",
	  "base_version class_version node_type num_ports system_image_guid node_guid port_guid "
	  "partition_cap device_id revision local_port_num vendor_id" },
	{ &wf_switch_info_layout, DR, 64, WF_SMP_SWITCH_INFO, 0, "switchinfo",
	  "linear_fdb_cap random_fdb_cap multicast_fdb_cap linear_fdb_top default_port "
	  "default_multicast_primary_port default_multicast_not_primary_port life_time_value "
	  "port_state_change optimized_sl_to_vl=optimizedsltovlmappingprogramming lids_per_port "
	  "partition_enforcement_cap inbound_enforcement_cap outbound_enforcement_cap "
	  "filter_raw_inbound_cap filter_raw_outbound_cap enhanced_port0=enhancedportzero" },
	{ &wf_port_info_layout, LID, 64, WF_SMP_PORT_INFO, 0, "portinfo",
	  "mkey=m_key gid_prefix=guid lid master_sm_lid capability_mask diag_code "
	  "mkey_lease_period=m_keyleaseperiod local_port_num link_width_enabled "
	  "link_width_supported link_width_active link_speed_supported port_state "
	  "port_physical_state link_down_default_state mkey_protect_bits=m_keyprotectbits lmc "
	  "link_speed_active link_speed_enabled neighbor_mtu master_sm_sl vl_cap init_type "
	  "vl_high_limit vl_arb_high_cap=vlarbitrationhighcap vl_arb_low_cap=vlarbitrationlowcap "
	  "init_type_reply mtu_cap vl_stall_count hoq_life operational_vls "
	  "partition_enforcement_inbound partition_enforcement_outbound filter_raw_inbound "
	  "filter_raw_outbound mkey_violations=m_keyviolations pkey_violations=p_keyviolations "
	  "qkey_violations=q_keyviolations guid_cap client_reregister subnet_timeout "
	  "resp_time_value local_phy_errors overrun_errors max_credit_hint "
	  "link_round_trip_latency" },
	{ &wf_linear_ft_layout, LID, 64, WF_SMP_LINEAR_FT, 0, "linearforwardingtable", "port" },
	{ &wf_sm_info_layout, LID, 64, WF_SMP_SM_INFO, 0, "sminfo",
	  "guid sm_key=sm_key act_count priority sm_state" },
	{ &wf_led_info_layout, LID, 64, WF_SMP_LED_INFO, 0, "ledinfo", "led_mask" },
	{ &wf_notice_layout, LID, 64, NOTICE, 0, "notice",
	  "is_generic type producer_type=producertypevendorid trap_number=trapnumberdeviceid "
	  "issuer_lid toggle=noticetoggle count=noticecount" },
	{ &wf_trap_gid_layout, LID, 74, NOTICE, 64, "trap", "gid=gidaddr" },
	{ &wf_trap_lid_layout, LID, 74, NOTICE, 128, "trap", "lid=lidaddr" },
	{ &wf_trap_port_layout, LID, 74, NOTICE, 129, "trap", "lid=lidaddr port=portno" },
	{ &wf_trap_change_layout, LID, 74, NOTICE, 144, "trap",
	  "lid=lidaddr other_local_changes capability_mask" },
	{ &wf_trap_image_layout, LID, 74, NOTICE, 145, "trap", "lid=lidaddr system_image_guid" },
	{ &wf_trap_mkey_layout, LID, 74, NOTICE, 256, "trap",
	  "lid=lidaddr dr_slid method attr_id=attributeid attr_mod=attributemodifier mkey "
	  "dr_notice "
	  "dr_path_truncated dr_hop_count" },
	{ &wf_trap_key_layout, LID, 74, NOTICE, 257, "trap",
	  "lid1=lidaddr1 lid2=lidaddr2 key sl qp1 qp2 gid1=gidaddr1 gid2=gidaddr2" },
	{ &wf_class_port_info_layout, PERF, 64, WF_MAD_ATTR_CLASS_PORT_INFO, 0, "classportinfo",
	  "base_version class_version capability_mask capability_mask2 resp_time_value "
	  "redirect_gid redirect_tc redirect_sl redirect_fl redirect_lid redirect_pkey redirect_qp "
	  "redirect_qkey trap_gid trap_tc trap_sl trap_fl trap_lid trap_pkey trap_qp trap_qkey" },
	{ &wf_port_counters_layout, PERF, 64, WF_PERF_COUNTERS, 0, "portcounters",
	  "port_select counter_select symbol_errors=symbolerrorcounter "
	  "link_error_recovery=linkerrorrecoverycounter link_downed=linkdownedcounter "
	  "rcv_errors=portrcverrors rcv_remote_physical_errors=portrcvremotephysicalerrors "
	  "rcv_switch_relay_errors=portrcvswitchrelayerrors xmit_discards=portxmitdiscards "
	  "xmit_constraint_errors=portxmitconstrainterrors "
	  "rcv_constraint_errors=portrcvconstrainterrors local_link_integrity_errors "
	  "excessive_buffer_overruns=excessivebufferoverrunerrors vl15_dropped "
	  "xmit_data=portxmitdata rcv_data=portrcvdata xmit_pkts=portxmitpkts "
	  "rcv_pkts=portrcvpkts" },
	{ &wf_port_counters_ext_layout, PERF, 64, WF_PERF_COUNTERS_EXT, 0, "portcounters_ext",
	  "port_select counter_select xmit_data=portxmitdata rcv_data=portrcvdata "
	  "xmit_pkts=portxmitpkts rcv_pkts=portrcvpkts unicast_xmit_pkts=portunicastxmitpkts "
	  "unicast_rcv_pkts=portunicastrcvpkts multicast_xmit_pkts=portmulticastxmitpkts "
	  "multicast_rcv_pkts=portmulticastrcvpkts" },
	{ &wf_node_record_layout, SA, 56, WF_SA_NODE, 0, "sa", "lid" },
	{ &wf_node_record_layout, SA, 56, WF_SA_NODE, 0, "nodeinfo",
	  "info.base_version info.node_guid info.local_port_num info.vendor_id" },
	{ &wf_port_info_record_layout, SA, 56, WF_SA_PORT_INFO, 0, "sa",
	  "lid=endportlid port=portnum" },
	{ &wf_port_info_record_layout, SA, 56, WF_SA_PORT_INFO, 0, "portinfo",
	  "info.mkey=m_key info.lid info.link_round_trip_latency" },
	{ &wf_sl_to_vl_record_layout, SA, 56, WF_SA_SL_TO_VL, 0, "sa",
	  "lid in_port=inputportnum out_port=outputportnum" },
	{ &wf_switch_info_record_layout, SA, 56, WF_SA_SWITCH_INFO, 0, "sa", "lid" },
	{ &wf_switch_info_record_layout, SA, 56, WF_SA_SWITCH_INFO, 0, "switchinfo",
	  "info.linear_fdb_cap info.lids_per_port" },
	{ &wf_linear_ft_record_layout, SA, 56, WF_SA_LINEAR_FT, 0, "sa",
	  "lid block=blocknum_sixteenbit" },
	{ &wf_linear_ft_record_layout, SA, 56, WF_SA_LINEAR_FT, 0, "linearforwardingtable",
	  "table.port" },
	{ &wf_multicast_ft_record_layout, SA, 56, WF_SA_MULTICAST_FT, 0, "sa",
	  "lid position block=blocknum_ninebit" },
	{ &wf_sm_info_record_layout, SA, 56, WF_SA_SM_INFO, 0, "sa", "lid" },
	{ &wf_sm_info_record_layout, SA, 56, WF_SA_SM_INFO, 0, "sminfo",
	  "info.guid info.act_count info.priority info.sm_state" },
	{ &wf_link_record_layout, SA, 56, WF_SA_LINK, 0, "linkrecord",
	  "from_lid from_port to_port to_lid" },
	{ &wf_guid_info_record_layout, SA, 56, WF_SA_GUID_INFO, 0, "sa",
	  "lid block=blocknum_eightbit" },
	{ &wf_service_record_layout, SA, 56, WF_SA_SERVICE, 0, "linkrecord",
	  "service_id gid=servicegid pkey=servicep_key lease=servicelease key=servicekey" },
	{ &wf_pkey_table_record_layout, SA, 56, WF_SA_PKEY_TABLE, 0, "sa",
	  "lid block=blocknum_sixteenbit port=portnum" },
	{ &wf_path_record_layout, SA, 56, WF_SA_PATH, 0, "pathrecord",
	  "dgid sgid dlid slid raw_traffic flow_label hop_limit tclass reversible numb_path "
	  "pkey=p_key sl mtu_selector mtu rate_selector rate life_selector=packetlifetimeselector "
	  "life=packetlifetime preference" },
	{ &wf_vl_arb_record_layout, SA, 56, WF_SA_VL_ARB, 0, "sa",
	  "lid port=outputportnum block=blocknum_eightbit" },
	{ &wf_mc_member_record_layout, SA, 56, WF_SA_MC_MEMBER, 0, "mcmemberrecord",
	  "mgid port_gid qkey=q_key mlid mtu_selector mtu tclass pkey=p_key rate_selector rate "
	  "life_selector=packetlifetimeselector life=packetlifetime sl flow_label hop_limit scope "
	  "join_state proxy_join" },
	{ &wf_multi_path_record_layout, SA, 56, WF_SA_MULTI_PATH, 0, "multipathrecord",
	  "raw_traffic flow_label hop_limit tclass reversible numb_path pkey=p_key sl mtu_selector "
	  "mtu rate_selector rate life_selector=packetlifetimeselector life=packetlifetime "
	  "independence_selector sgid_count dgid_count" },
	{ &wf_inform_info_layout, SA, 56, WF_SA_INFORM_INFO, 0, "informinfo",
	  "gid lid_range_begin lid_range_end is_generic subscribe type "
	  "trap_number=trapnumberdeviceid qpn resp_time_value "
	  "producer_type=producertypevendorid" },
	{ &wf_inform_info_record_layout, SA, 56, WF_SA_INFORM_INFO_RECORD, 0, "informinforecord",
	  "subscriber_gid number=enum" },
	{ &wf_inform_info_record_layout, SA, 56, WF_SA_INFORM_INFO_RECORD, 0, "informinfo",
	  "info.gid info.qpn info.producer_type=producertypevendorid" },
};

/* A member that a field of tshark's shows; several attributes' members share one. */
struct column {
	char path[64];
	size_t field;
	const struct message *message;
};

struct columns {
	struct column column[COLUMNS];
	char field[COLUMNS][96]; /* tshark takes no name twice */
	size_t n, n_fields;
};

static size_t field_of(struct columns *c, const char *name)
{
	for (size_t i = 0; i < c->n_fields; i++)
		if (strcmp(c->field[i], name) == 0)
			return i;
	strcpy(c->field[c->n_fields], name);
	return c->n_fields++;
}

static void columns_of(struct columns *c, const struct message *message)
{
	char text[2048], *save = NULL;

	assert_true(strlen(message->members) < sizeof(text));
	strcpy(text, message->members);
	for (char *m = strtok_r(text, " ", &save); m != NULL; m = strtok_r(NULL, " ", &save)) {
		struct column *col = &c->column[c->n++];
		char *theirs = strchr(m, '='), *at, field[96];

		assert_true(c->n <= COLUMNS);
		col->message = message;
		at = field + sprintf(field, "infiniband.%s.", message->prefix);
		if (theirs != NULL) {
			*theirs = '\0';
			strcpy(at, theirs + 1);
		} else {
			for (const char *p = strrchr(m, '.') == NULL ? m : strrchr(m, '.') + 1;
			     *p != '\0'; p++)
				if (*p != '_')
					*at++ = *p;
			*at = '\0';
		}
		strcpy(col->path, m);
		col->field = field_of(c, field);
	}
}

/* The packet of a MAD, as bytes of the file. */
static size_t packet_of(const struct message *message, const uint8_t *mad, uint8_t *bytes)
{
	bool smp = message->class == LID || message->class == DR;
	struct wf_headers h = {
		.encap = WF_ENCAP_IB,
		.lrh = { .vl = smp ? WF_VL_MGMT : 0, .slid = 1, .dlid = 2 },
		.bth = { .opcode = WF_OP_UD_SEND_ONLY,
		         .pkey = WF_PKEY_DEFAULT,
		         .qpn = smp ? 0 : WF_QPN_GSI },
		.deth = { .src_qpn = smp ? 0 : WF_QPN_GSI },
	};
	size_t len;

	assert_int_equal(wf_headers_complete(&h, WF_MAD_LEN), 0);
	assert_int_equal(wf_headers_encode(&h, mad, bytes, TEST_PACKET_MAX, &len), 0);
	wf_headers_sign(&h, bytes, len);
	return len;
}

static void mad_of(const struct message *message, const uint8_t *attr, uint8_t *mad)
{
	struct wf_notice notice = { .is_generic = true, .trap_number = message->trap };
	struct wf_mad header = {
		.base_version = WF_MAD_BASE_VERSION,
		.mgmt_class = message->class,
		.class_version = message->class == SA ? WF_SA_CLASS_VERSION : 1,
		.method = message->attr_id == NOTICE ? WF_MAD_METHOD_TRAP : WF_MAD_METHOD_GET_RESP,
		.attr_id = message->attr_id,
	};

	memset(mad, 0, WF_MAD_LEN);
	wf_mad_encode(&header, mad);
	if (message->trap != 0)
		wf_notice_encode(&notice, mad + WF_SMP_DATA);
	wf_layout_encode(message->layout, attr, mad + message->at);
}

static unsigned nibble(char c)
{
	return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* A cell with bytes: an IPv6 address, or hexadecimal digits. */
static bool same_bytes(const char *cell, const uint8_t *bytes, unsigned n)
{
	uint8_t address[16];

	if (n == sizeof(address) && inet_pton(AF_INET6, cell, address) == 1)
		return memcmp(address, bytes, n) == 0;
	for (unsigned i = 0; i < n; i++, cell += cell[2] == ':' ? 3 : 2)
		if (strlen(cell) < 2 || nibble(cell[0]) * 16 + nibble(cell[1]) != bytes[i])
			return false;
	return true;
}

static uint64_t number_of(const char *cell)
{
	if (strcmp(cell, "True") == 0)
		return 1;
	if (strcmp(cell, "False") == 0)
		return 0;
	return strtoull(cell, NULL, 0);
}

static void check_cell(const struct column *col, const char *field, const uint8_t *attr, char *cell)
{
	const struct wf_field *f;
	const uint8_t *at = attr_member(col->message->layout, attr, col->path, 0, &f);
	char *save = NULL, *part = strtok_r(cell, ",", &save);
	/* a table of bytes is as an array to tshark */
	bool bytes = f->bits > 64 && f->size == 16;
	unsigned n = f->bits > 64 && !bytes ? f->size : f->count;

	for (unsigned i = 0; i < n; i++, part = strtok_r(NULL, ",", &save)) {
		uint64_t v = 0;

		if (part == NULL)
			fail_msg("%s: %u elements, not %u", field, i, n);
		memcpy(&v, at + i * (n == f->count ? f->size : 1),
		       bytes           ? 0
		       : n == f->count ? f->size
		                       : 1);
		if (bytes ? !same_bytes(part, at, f->size) : number_of(part) != v)
			fail_msg("%s.%s[%u] is 0x%jx; tshark has %s for %s",
			         col->message->layout->name, col->path, i, (uintmax_t)v, part,
			         field);
	}
}

static void write_block(FILE *file, const uint8_t *block, size_t len)
{
	assert_int_equal(fwrite(block, 1, len, file), len);
}

/* Writes ROUNDS packets of each message; attrs gets what is in them. */
static void write_capture(FILE *file, uint8_t (*attrs)[ATTR_MAX])
{
	static const struct wf_pcapng_interface interface = { .link_type = WF_LINKTYPE_ERF };
	static uint8_t bytes[TEST_PACKET_MAX], block[2 * TEST_PACKET_MAX];
	struct test_rnd r = test_rnd_seed(44);
	uint8_t mad[WF_MAD_LEN];
	size_t len;

	assert_int_equal(wf_pcapng_put_section(block, sizeof(block), "weft", &len), 0);
	write_block(file, block, len);
	assert_int_equal(wf_pcapng_put_interface(block, sizeof(block), &interface, &len), 0);
	write_block(file, block, len);
	for (size_t i = 0; i < WF_ARRAY_SIZE(messages) * ROUNDS; i++) {
		const struct message *message = &messages[i / ROUNDS];
		struct wf_pcapng_packet packet = {
			.at = (wf_time)i * WF_US,
			.bytes = bytes,
			.erf = WF_ERF_INFINIBAND,
		};

		test_rnd_fill(&r, mad, sizeof(mad));
		wf_layout_decode(message->layout, mad, attrs[i]);
		mad_of(message, attrs[i], mad);
		packet.captured = packet.original = (uint32_t)packet_of(message, mad, bytes);
		assert_int_equal(wf_pcapng_put_packet(block, sizeof(block), &packet, &len), 0);
		write_block(file, block, len);
	}
}

static FILE *read_capture(const char *path, const struct columns *c)
{
	static char command[32768];
	int len = snprintf(command, sizeof(command),
	                   "tshark -n -r %s -T fields -E separator=/t -E occurrence=a", path);
	FILE *pipe;

	for (size_t i = 0; i < c->n_fields; i++)
		len += snprintf(command + len, sizeof(command) - (size_t)len, " -e %s",
		                c->field[i]);
	len += snprintf(command + len, sizeof(command) - (size_t)len, " 2>/dev/null");
	assert_true(len < (int)sizeof(command));
	pipe = popen(command, "r");
	assert_non_null(pipe);
	return pipe;
}

static void test_attributes(void **state)
{
	static uint8_t attrs[WF_ARRAY_SIZE(messages) * ROUNDS][ATTR_MAX];
	static struct columns c;
	static char line[65536];
	char path[] = "/tmp/weft-tshark-XXXXXX";
	int fd = mkstemp(path);
	FILE *file = fdopen(fd, "wb");
	size_t n = 0;

	(void)state;
	assert_non_null(file);
	for (size_t i = 0; i < WF_ARRAY_SIZE(messages); i++)
		columns_of(&c, &messages[i]);
	write_capture(file, attrs);
	assert_int_equal(fclose(file), 0);
	file = read_capture(path, &c);
	for (; fgets(line, sizeof(line), file) != NULL && n < WF_ARRAY_SIZE(attrs); n++) {
		char *rest = line, *cells[COLUMNS];

		for (size_t i = 0; i < c.n_fields; i++) {
			cells[i] = strsep(&rest, "\t\n");
			assert_non_null(cells[i]);
		}
		for (size_t i = 0; i < c.n; i++)
			if (c.column[i].message == &messages[n / ROUNDS])
				check_cell(&c.column[i], c.field[c.column[i].field], attrs[n],
				           cells[c.column[i].field]);
	}
	assert_int_equal(pclose(file), 0);
	assert_int_equal(n, WF_ARRAY_SIZE(attrs));
	unlink(path);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_attributes),
	};

	if (system("command -v tshark >/dev/null 2>&1") != 0) {
		printf("skipped: there is no tshark\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
