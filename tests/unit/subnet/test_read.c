/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of the readers and writers: subnet/read*.c, scan.c, claims.c, write.c. */
#include "subnet/subnet_test.h"

#include "subnet/pm.h"
#include "subnet/read.h"
#include "subnet/write.h"

/* What the ear was told. */
struct heard {
	unsigned n;
	unsigned line[16];
	char what[16][96];
};

static void hear(void *arg, const char *file, unsigned line, unsigned column, const char *what)
{
	struct heard *h = arg;

	assert_string_equal(file, "file");
	assert_true(column > 0);
	if (h->n < 16) {
		h->line[h->n] = line;
		snprintf(h->what[h->n], sizeof(h->what[0]), "%s", what);
	}
	h->n++;
}

/* Reads a copy of exactly these bytes, so that a sanitizer sees reads beyond them. */
static int read_bytes(const char *text, size_t len, struct wf_mem *mem, struct heard *h,
                      struct wf_subnet **s, struct wf_err *err)
{
	const struct wf_subnet_ear ear = { hear, h };
	char *copy = malloc(len > 0 ? len : 1);
	int ret;

	assert_non_null(copy);
	memcpy(copy, text, len);
	ret = wf_subnet_read(copy, len, "file", h == NULL ? NULL : &ear, mem, s, err);
	free(copy);
	return ret;
}

static struct wf_subnet *read_text(const char *text, struct heard *h)
{
	struct wf_subnet *s = NULL;
	struct wf_err err = { "" };

	if (read_bytes(text, strlen(text), wf_mem_heap(), h, &s, &err) != 0)
		fail_msg("%s", err.text);
	return s;
}

static const char net[] =
	"#\n# Topology file: generated on a day\n#\n"
	"# Initiated from node 0000000000000101 port 0000000000000102\n"
	"\n"
	"vendid=0x2c9\n"
	"devid=0xd2f2\n"
	"sysimgguid=0xaa\n"
	"switchguid=0xaa(ab)\n"
	"Switch\t36 \"S-00000000000000aa\"\t\t# \"leaf \"one\"\" enhanced port 0 lid 5 lmc 0\n"
	"[1]\t\"H-0000000000000101\"[2](103) \t\t# \"n1 HCA-1\" lid 8 4xNDR\n"
	"[3]\t\"S-00000000000000bb\"[36]\t\t# \"spine\" lid 6 4xFDR10\n"
	"[36](1/18/2)\t\"R-0000000000000301\"[1](302) \t\t# \"gate\" lid 9 2xHDR s=4 w=2 v=8\n"
	"\n"
	"switchguid=0xbb\n"
	"Switch  36 \"S-00000000000000bb\"         # \"spine\" base port 0 lid 6 lmc 0\n"
	"[36]    \"S-00000000000000aa\"[3]         # \"leaf\" lid 5 4xFDR10\r\n"
	"[7]     \"H-0000000000000201\"[1](202)    # \"n2 HCA-1\" lid 4 1x???\n"
	"\n"
	"caguid=0x101\n"
	"Ca\t2 \"H-0000000000000101\"\t\t# \"n1 HCA-1\"\n"
	"[2](103) \t\"S-00000000000000aa\"[1]\t\t# lid 8 lmc 1 \"leaf\" lid 5 4xNDR\n"
	"\n"
	"rtguid=0x301\n"
	"Rt\t1 \"R-0000000000000301\"\t\t# \"gate\"\n"
	"[1](302) \t\"S-00000000000000aa\"[36]\t\t# lid 9 lmc 0 \"leaf\" lid 5 2xHDR\n";

static void test_ibnetdiscover(void **state)
{
	struct heard h = { 0 };
	struct wf_subnet *s = read_text(net, &h);
	const struct wf_subnet_node *leaf = &s->nodes[0], *gone;
	const struct wf_subnet_port *port;

	(void)state;
	assert_int_equal(h.n, 0);
	assert_int_equal(s->n_nodes, 5);
	assert_int_equal(s->n_doubts, 0);
	assert_string_equal(leaf->desc, "leaf \"one\"");
	assert_int_equal(leaf->kind, WF_SUBNET_SWITCH);
	assert_true(leaf->enhanced);
	assert_false(s->nodes[1].enhanced);
	assert_int_equal(leaf->vendor, 0x2c9);
	assert_int_equal(leaf->device, 0xd2f2);
	assert_int_equal(leaf->system, 0xaa);
	assert_int_equal(s->nodes[1].system, 0); /* what was said of one is not of the next */
	assert_int_equal(leaf->n_ports, 36);
	assert_int_equal(leaf->line, 10);
	assert_int_equal(wf_subnet_port(s, 0, 0)->lid, 5);
	assert_int_equal(wf_subnet_port(s, 0, 0)->guid, 0xab);
	assert_int_equal(wf_subnet_port(s, 1, 0)->guid, 0xbb);
	port = wf_subnet_port(s, 0, 1);
	assert_int_equal(port->width, 4);
	assert_int_equal(port->speed, WF_SUBNET_NDR);
	assert_int_equal(port->line, 11);
	assert_int_equal(port->peer, 2);
	port = wf_subnet_peer(s, port);
	assert_int_equal(port->guid, 0x103);
	assert_int_equal(port->lid, 8);
	assert_int_equal(port->lmc, 1);
	assert_int_equal(wf_subnet_by_lid(s, 9), wf_subnet_find_port(s, 0x103)); /* not gate's */
	assert_int_equal(wf_subnet_port(s, 0, 3)->speed, WF_SUBNET_FDR10);
	assert_int_equal(wf_subnet_port(s, 0, 36)->width, 2);
	assert_int_equal(s->nodes[3].kind, WF_SUBNET_ROUTER);
	assert_int_equal(wf_subnet_port(s, 3, 1)->guid, 0x302);
	/* n2 has no lines of its own. */
	gone = &s->nodes[4];
	assert_string_equal(gone->desc, "n2 HCA-1");
	assert_int_equal(gone->guid, 0x201);
	assert_int_equal(gone->n_ports, 1);
	assert_int_equal(wf_subnet_port(s, 4, 1)->lid, 4);
	assert_int_equal(wf_subnet_port(s, 4, 1)->guid, 0x202);
	assert_int_equal(wf_subnet_port(s, 4, 1)->width, 1);
	assert_int_equal(wf_subnet_port(s, 4, 1)->speed, WF_SUBNET_SPEED_NONE);
	wf_subnet_destroy(s);
}

/* Grouped output, a prompt before it, a mark of an editor; ibsim's names and masks. */
static void test_dialects(void **state)
{
	static const char grouped[] =
		"\xef\xbb\xbf[root@node]# ibnetdiscover -g\n"
		"src/query_smp.c:195; umad (DR path slid 0) bad status 110\n"
		"# Max of 3 hops discovered\n\nChassis 1 (guid 0xaa)\n\n# Spine Nodes\n"
		"vendid=0x8f1\ndevid=0x5a06\nsysimgguid=0xaa\t\t# Chassis 1\n"
		"switchguid=0xaa(aa)\t# Spine 1 Chip 1\n"
		"Switch 24 \"S-00000000000000aa\" # ISR9288 Voltaire base port 0 lid 6 lmc 0\n"
		"[2][ext 5]\t\"H-00000000000000cc\"[1](cd) # \"h\" lid 7 4xSDR\n"
		"\nNon-Chassis Nodes\n\ncaguid=0xcc\nCa 1 \"H-00000000000000cc\" # \"h\"\n"
		"[1](cd) \"S-00000000000000aa\"[2][ext 5] # lid 7 lmc 0 \"ISR\" lid 6 4xSDR\n";
	static const char ibsim[] =
		"# net\nSwitch\t8 \"Switch1\"\n[1]\t\"Hca1\"[1]\n[4]\t\"Hca2\"\tw=8 s=7\n"
		"[3]\t\"Switch2\"[5]\tw=2 e=2\n\n"
		"Switch 8 \"Switch2\"\n[5] \"Switch1\"[3]\n\n"
		"Hca\t2 \"Hca1\"\n[1] \"Switch1\"[1]\n\nHca 2 \"Hca2\"\n";
	struct heard h = { 0 };
	struct wf_subnet *s = read_text(grouped, &h);

	(void)state;
	assert_int_equal(h.n, 2);
	assert_int_equal(h.line[0], 1);
	assert_int_equal(h.line[1], 2);
	assert_int_equal(s->n_nodes, 2);
	assert_string_equal(s->nodes[0].desc, "ISR9288 Voltaire");
	assert_int_equal(wf_subnet_port(s, 0, 0)->lid, 6);
	assert_int_equal(wf_subnet_port(s, 1, 1)->peer_port, 2);
	wf_subnet_destroy(s);

	h.n = 0;
	s = read_text(ibsim, &h);
	assert_int_equal(h.n, 0);
	assert_int_equal(s->n_nodes, 4);
	/* The GUIDs that ibsim gives: adapters take one more than they have ports. */
	assert_int_equal(s->nodes[0].guid, 0x200000);
	assert_int_equal(s->nodes[1].guid, 0x200001);
	assert_int_equal(s->nodes[2].guid, 0x100000);
	assert_int_equal(s->nodes[3].guid, 0x100003);
	assert_int_equal(wf_subnet_port(s, 2, 1)->guid, 0x100001);
	assert_int_equal(wf_subnet_port(s, 0, 4)->peer, 3);
	assert_int_equal(wf_subnet_port(s, 0, 4)->peer_port, 1);
	assert_int_equal(wf_subnet_port(s, 0, 4)->width, 12);
	assert_int_equal(wf_subnet_port(s, 0, 4)->speed, WF_SUBNET_QDR);
	assert_int_equal(wf_subnet_port(s, 0, 3)->width, 4);
	assert_int_equal(wf_subnet_port(s, 0, 3)->speed, WF_SUBNET_EDR);
	wf_subnet_destroy(s);
}

#define TWO "Switch 4 \"S-01\"\n%sSwitch 4 \"S-02\"\n%sSwitch 4 \"S-03\"\n%s"

/* Ends that do not say the same. */
static void test_doubts(void **state)
{
	static const struct {
		const char *one, *two, *three;
		unsigned sided, against, joined;
	} row[] = {
		{ "[1] \"S-02\"[1]\n", "[1] \"S-01\"[1]\n", "", 0, 0, 1 },
		{ "[1] \"S-02\"[1]\n", "", "", 1, 0, 1 },
		{ "[1] \"S-02\"[1]\n", "[1] \"S-03\"[1]\n", "", 1, 1, 1 },
		{ "[1] \"S-02\"[1]\n", "[1] \"S-03\"[1]\n", "[1] \"S-02\"[1]\n", 0, 1, 1 },
		{ "[1] \"S-02\"[1]\n[2] \"S-02\"[1]\n", "[1] \"S-01\"[1]\n", "", 0, 1, 1 },
		{ "[1] \"S-02\"[1]\n", "[1] \"S-01\"[2]\n", "", 1, 1, 1 },
		{ "[1] \"S-01\"[2]\n[2] \"S-01\"[1]\n", "", "", 0, 0, 1 },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		char text[512];
		unsigned n[2] = { 0 }, joined = 0;
		struct wf_subnet *s;

		snprintf(text, sizeof(text), TWO, row[i].one, row[i].two, row[i].three);
		s = read_text(text, NULL);
		for (uint32_t k = 0; k < s->n_doubts; k++) {
			n[s->doubts[k].kind]++;
			assert_true(s->doubts[k].line > 0);
		}
		for (uint32_t k = 0; k < s->n_ports; k++)
			joined += s->ports[k].peer != WF_SUBNET_NONE;
		if (n[WF_SUBNET_ONE_SIDED] != row[i].sided ||
		    n[WF_SUBNET_CONTRADICTED] != row[i].against || joined != 2 * row[i].joined)
			fail_msg("row %zu: %u one-sided, %u against, %u ends", i, n[0], n[1],
			         joined);
		wf_subnet_destroy(s);
	}
}

static const char ports[] =
	"CA   134  1 0x00000000000000b1 4x EDR - SW  1719 10 0x00000000000000a1 ( 'o1 HCA-1' - "
	"'leaf 's' )\n"
	"SW  1719 10 0x00000000000000a1 4x EDR - CA   134  1 0x00000000000000b1 ( 'leaf 's' - 'o1 "
	"HCA-1' )\n"
	"SW  1719 37 0x00000000000000a1 4x ???                                    'leaf 's'\n"
	"SW  1719  1 0x00000000000000a1 4x HDR - SW     2  3 0x00000000000000a2 ( 'leaf' - ' spine "
	"' )\n"
	"CA     7  2 0x00000000000000b9 4x SDR                                    Two ports\n";

static void test_ports(void **state)
{
	struct wf_subnet *s = read_text(ports, NULL);

	(void)state;
	assert_string_equal(wf_subnet_form_of(ports, strlen(ports))->name, "ports");
	assert_int_equal(s->n_nodes, 4);
	assert_int_equal(s->n_doubts, 0); /* the spine's own lines are missing */
	assert_string_equal(s->nodes[0].desc, "o1 HCA-1");
	assert_string_equal(s->nodes[1].desc, "leaf 's");
	assert_string_equal(s->nodes[2].desc, "spine");
	assert_string_equal(s->nodes[3].desc, "Two ports");
	assert_int_equal(s->nodes[1].n_ports, 37);
	assert_int_equal(wf_subnet_port(s, 1, 0)->lid, 1719);
	assert_int_equal(wf_subnet_port(s, 0, 1)->peer, 1);
	assert_int_equal(wf_subnet_port(s, 0, 1)->lid, 134);
	assert_int_equal(wf_subnet_port(s, 1, 1)->peer_port, 3);
	assert_int_equal(wf_subnet_port(s, 1, 1)->speed, WF_SUBNET_HDR);
	assert_int_equal(wf_subnet_port(s, 3, 2)->lid, 7);
	assert_int_equal(wf_subnet_port(s, 3, 2)->peer, WF_SUBNET_NONE);
	wf_subnet_destroy(s);
}

#define NODES_HEAD                                                                                 \
	"START_NODES\nNodeDesc,NumPorts,NodeType,SystemImageGUID,NodeGUID,DeviceID,VendorID\n"
#define PORTS_HEAD                                                                                 \
	"START_PORTS\nNodeGuid,PortGuid,PortNum,LID,LinkWidthActv,LinkWidthSup,LinkSpeedActv,"     \
	"LinkSpeedSup,LMC,PortPhyState,PortState\n"

static const char csv[] =
	"# ibdiagnet\nSTART_RUN_INFO\nA,B\n\"x\",\"y\"\nEND_RUN_INFO\n\n" NODES_HEAD
	"\"leaf, one\",3,2,0xaa,0xaa,54002,713\n\"n1 "
	"mlx5_0\",1,1,0xb0,0xb0,4129,713\nEND_NODES\n" PORTS_HEAD "0xaa,0xaa,0,5,2,3,1,1,0,5,4\n"
	"0xaa,0xaa,1,0,2,19,2052,3845,N/A,5,4\n"
	"0xaa,0xaa,2,0,0,0,0,0,0,2,1\n"
	"0xb0,0xb1,1,8,1,19,256,4867,0,5,4\nEND_PORTS\n"
	"START_LINKS\nNodeGuid1,PortNum1,NodeGuid2,PortNum2\n0xaa,1,0xb0,1\n0xaa,9,0xb0,1\nEND_"
	"LINKS\n"
	"START_PM_INFO\nNodeGUID,PortGUID,PortNumber,SymbolErrorCounter,PortXmitData,"
	"SymbolErrorCounterExt,"
	"PortXmitDataExtended\n0xb0,0xb1,1,65535,4294967295,70000,123456789012\n"
	"0xaa,0xaa,1,3,7,18446744073709551576,0xfffffffffffffffe\nEND_PM_INFO\n";

static void test_csv(void **state)
{
	struct heard h = { 0 };
	struct wf_subnet *s = read_text(csv, &h);
	const struct wf_subnet_port *port;

	(void)state;
	assert_int_equal(h.n, 2);
	assert_string_equal(h.what[0], "this section is not read");
	assert_int_equal(h.line[0], 2);
	assert_int_equal(h.line[1], 22); /* port 9 */
	assert_int_equal(s->n_nodes, 2);
	assert_string_equal(s->nodes[0].desc, "leaf, one");
	assert_int_equal(s->nodes[0].device, 54002);
	assert_int_equal(wf_subnet_port(s, 0, 0)->lid, 5);
	port = wf_subnet_port(s, 0, 1);
	assert_int_equal(port->width, 4);
	assert_int_equal(port->width_best, 4);
	assert_int_equal(port->speed, WF_SUBNET_NDR);
	assert_int_equal(port->speed_best, WF_SUBNET_NDR);
	assert_int_equal(port->state, WF_SUBNET_ACTIVE);
	assert_int_equal(port->peer, 1);
	assert_int_equal(wf_subnet_port(s, 0, 2)->state, WF_SUBNET_DOWN);
	port = wf_subnet_port(s, 1, 1);
	assert_int_equal(port->guid, 0xb1);
	assert_int_equal(port->lid, 8);
	assert_int_equal(port->width, 1);
	assert_int_equal(port->speed, WF_SUBNET_FDR);
	assert_int_equal(port->speed_best, WF_SUBNET_XDR);
	assert_non_null(s->pm);
	assert_int_equal(s->pm[port - s->ports].count[WF_PM_symbol_errors], 70000);
	assert_int_equal(s->pm[port - s->ports].count[WF_PM_xmit_data], 123456789012);
	/* Below 0 is no count. */
	assert_int_equal(s->pm[s->nodes[0].first_port + 1].count[WF_PM_symbol_errors], 3);
	assert_false(s->pm[s->nodes[0].first_port + 2].known);
	wf_subnet_destroy(s);
}

static void test_pm(void **state)
{
	static const char query[] =
		"# Port extended counters: Lid 5 port 3 (CapMask: 0x5300)\n"
		"PortSelect:......................3\n"
		"SymbolErrorCounter:..............12\n"
		"PortXmitWait:....................0x10\n"
		"\n# Port counters: Lid 8 port 2\nPortRcvErrors:...................4\n"
		"# Port counters: Lid 77 port 1\nPortRcvErrors:...................9\n";
	struct heard h = { 0 };
	struct wf_subnet_ear told = { hear, &h };
	struct wf_subnet *s = read_text(net, NULL);
	struct wf_err err = { "" };

	(void)state;
	assert_int_equal(wf_subnet_read_pm(s, query, strlen(query), "file", &told, &err), 0);
	assert_int_equal(h.n, 1);
	assert_int_equal(h.line[0], 8);
	assert_int_equal(s->pm[s->nodes[0].first_port + 3].count[WF_PM_symbol_errors], 12);
	assert_int_equal(s->pm[s->nodes[0].first_port + 3].count[WF_PM_xmit_wait], 16);
	assert_int_equal(s->pm[s->nodes[2].first_port + 2].count[WF_PM_rcv_errors], 4);
	wf_subnet_destroy(s);
	s = read_text(csv, NULL);
	memset(s->pm, 0, s->n_ports * sizeof(*s->pm));
	assert_int_equal(wf_subnet_read_pm(s, csv, strlen(csv), "file", NULL, &err), 0);
	assert_int_equal(s->pm[s->nodes[1].first_port + 1].count[WF_PM_symbol_errors], 70000);
	wf_subnet_destroy(s);
}

/* The three forms of tables say the same. */
static void test_lfts(void **state)
{
	static const char *const text[] = {
		"Unicast lids [0-8] of switch Lid 5 guid 0x00000000000000aa ('leaf'):\n"
		"0x0005 000 # Switch portguid 0x00000000000000ab: 'leaf'\n"
		"0x0006 003 # Switch portguid 0x00000000000000bb: 'spine'\n"
		"0x0008 001 # Channel Adapter portguid 0x0000000000000103: 'n1 HCA-1'\n8 lids "
		"dumped\n"
		"Unicast lids [0-8] of switch Lid 6 guid 0x00000000000000bb ('spine'):\n"
		"0x0008 036 # Channel Adapter portguid 0x0000000000000103: 'n1 HCA-1'\n8 lids "
		"dumped\n",
		"Unicast lids [0x0-0x8] of switch Lid 5 guid 0x00000000000000aa (leaf):\n"
		"  Lid  Out   Destination\n       Port     Info \n"
		"0x0005 000 : (Switch portguid 0x00000000000000ab: 'leaf')\n"
		"0x0006 003 : (Switch portguid 0x00000000000000bb: 'spine')\n"
		"0x0008 001 : (Channel Adapter portguid 0x0000000000000103: 'n1 HCA-1')\n"
		"3 valid lids dumped \n"
		"Unicast lids [0x0-0x8] of switch DR path slid 0; dlid 0; 0,3 guid "
		"0x00000000000000bb (s):\n"
		"0x0008 036 \n",
		"dump_ucast_routes: Switch 0x00000000000000aa\nLID    : Port : Hops : Optimal\n"
		"0x0001 : UNREACHABLE\n0x0005 : 000  : 00   : yes\n0x0006 : 003  : 01   : yes\n"
		"0x0008 : 001  : 01   : yes\n"
		"osm_ucast_mgr_dump_ucast_routes: Switch 0x00000000000000bb\n0x0008 : 036  : 02   "
		": yes\n",
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(text); i++) {
		struct wf_subnet *s = read_text(net, NULL);
		struct wf_tables *tables = NULL;
		struct wf_err err = { "" };

		if (wf_subnet_read_lfts(s, text[i], strlen(text[i]), "file", NULL, &tables, &err) !=
		    0)
			fail_msg("%zu: %s", i, err.text);
		assert_int_equal(wf_tables_port(tables, 0, 5), 0);
		assert_int_equal(wf_tables_port(tables, 0, 6), 3);
		assert_int_equal(wf_tables_port(tables, 0, 8), 1);
		assert_int_equal(wf_tables_port(tables, 1, 8), 36);
		assert_int_equal(wf_tables_port(tables, 1, 5), WF_LFT_NONE);
		assert_int_equal(wf_tables_port(tables, 1, 40000), WF_LFT_NONE);
		wf_tables_destroy(tables);
		wf_subnet_destroy(s);
	}
}

/* Ports without a LID get it from the tables: by GUID, or by a name that only one has; and LMC. */
static void test_lfts_lids(void **state)
{
	static const char bare[] =
		"Switch 4 \"S-00000000000000aa\" # \"sw\" base port 0 lid 0 lmc 0\n"
		"[1] \"H-0000000000000101\"[1](102) # \"one\" lid 0 4xEDR\n"
		"[2] \"H-0000000000000201\"[1](202) # \"two\" lid 0 4xEDR\n"
		"[3] \"H-0000000000000301\"[1](302) # \"two\" lid 0 4xEDR\n";
	static const char lfts[] =
		"Unicast lids [0-8] of switch Lid 1 guid 0x00000000000000aa ('sw'):\n"
		"0x0001 000 # Switch portguid 0x00000000000000aa: 'sw'\n"
		"0x0004 001 # Channel Adapter portguid 0x0000000000000102: 'x'\n"
		"0x0005 001 # Channel Adapter portguid 0x0000000000000102: 'x'\n"
		"0x0006 002 # Channel Adapter portguid 0x00000000000009ff: 'two'\n"
		"0x0008 003 # Channel Adapter portguid 0x0000000000000302: 'two'\n"
		"Unicast lids [0-8] of switch Lid 9 guid 0x00000000000000ff ('gone'):\n"
		"0x0004 001 # \n";
	struct heard h = { 0 };
	struct wf_subnet_ear ear = { hear, &h };
	struct wf_subnet *s = read_text(bare, NULL);
	struct wf_tables *tables = NULL;
	struct wf_err err = { "" };

	(void)state;
	assert_int_equal(wf_subnet_read_lfts(s, lfts, strlen(lfts), "file", &ear, &tables, &err),
	                 0);
	assert_int_equal(wf_subnet_port(s, 0, 0)->lid, 1);
	assert_int_equal(wf_subnet_port(s, 1, 1)->lid, 4);
	assert_int_equal(wf_subnet_port(s, 1, 1)->lmc, 1);
	assert_int_equal(wf_subnet_port(s, 2, 1)->lid, 0); /* two are called so */
	assert_int_equal(wf_subnet_port(s, 3, 1)->lid, 8);
	assert_int_equal(wf_tables_port(tables, 0, 5), 1);
	assert_int_equal(h.n, 1);
	assert_int_equal(h.line[0], 7);
	wf_tables_destroy(tables);
	wf_subnet_destroy(s);
}

/* ---- writing ---- */

struct page {
	char text[8192];
	size_t n;
};

static void put(void *arg, const char *text, size_t len)
{
	struct page *page = arg;

	assert_true(page->n + len < sizeof(page->text));
	memcpy(page->text + page->n, text, len);
	page->n += len;
	page->text[page->n] = '\0';
}

/* What is written reads back, and is written the same again. */
static void test_write(void **state)
{
	static struct page one, two;
	struct wf_sink sink = { put, &one };
	struct wf_subnet *s = read_text(net, NULL), *again;
	struct wf_tables *tables = test_route(s, "minhop", NULL), *back = NULL;
	struct wf_err err = { "" };

	(void)state;
	wf_subnet_write(s, &sink);
	again = read_text(one.text, NULL);
	sink.arg = &two;
	wf_subnet_write(again, &sink);
	assert_string_equal(one.text, two.text);
	assert_int_equal(again->n_nodes, s->n_nodes);
	assert_int_equal(again->n_doubts, 0);
	assert_non_null(strstr(
		one.text, "[36]\t\"R-0000000000000301\"[1](302) \t\t# \"gate\" lid 9 2xHDR\n"));
	assert_non_null(strstr(
		one.text, "[2](103) \t\"S-00000000000000aa\"[1]\t\t# lid 8 lmc 1 \"leaf \"one\"\" "
			  "lid 5 4xNDR\n"));
	wf_subnet_destroy(again);

	two.n = 0;
	assert_int_equal(wf_tables_write(s, tables, &sink), 0);
	assert_int_equal(wf_subnet_read_lfts(s, two.text, two.n, "file", NULL, &back, &err), 0);
	assert_memory_equal(back->lft, tables->lft, (size_t)tables->n_switches * tables->n_lids);
	assert_non_null(strstr(
		two.text,
		"Unicast lids [0-9] of switch Lid 5 guid 0x00000000000000aa ('leaf \"one\"'):\n"
		"0x0004 003 # Channel Adapter portguid 0x0000000000000202: 'n2 HCA-1'\n"));
	wf_tables_destroy(back);
	wf_tables_destroy(tables);
	wf_subnet_destroy(s);
}

/* ---- what is wrong ---- */

static const struct {
	const char *text, *want;
} bad[] = {
	{ "", "file: there is no node in it" },
	{ "vendid=0x2c9\n", "file: there is no node" },
	{ "vendid=red\n", "file:1:8: this is no number" },
	{ "vendid=0x100000000\n", "file:1:8: this is no number" },
	{ "Switch x \"S-01\"\n", "file:1:8: here is the number of its ports, 1 to 254" },
	{ "Switch 255 \"S-01\"\n", "file:1:8: here is the number" },
	{ "Ca 0 \"H-01\"\n", "file:1:5: here is the number" },
	{ "Switch 4 S-01\n", "file:1:10: here is a node's name in quotes" },
	{ "Switch 4 \"S-01\n", "file:1:11: the node's name has no end" },
	{ "Switch 4 \"S-01\" # \"a\" base port 0 lid 49152 lmc 0\n",
	  "file:1:39: the number is not one" },
	{ "Switch 4 \"S-01\" # \"a\" base port 0 lid 4 lmc 8\n",
	  "file:1:45: the number is not one" },
	{ "Switch 4 \"S-01\"\n[5] \"S-01\"[1]\n", "file:2:2: the node has no such port" },
	{ "Switch 4 \"S-01\"\n[0] \"S-01\"[1]\n", "file:2:3: here is a port's number" },
	{ "Switch 4 \"S-01\"\n[1 \"S-01\"[1]\n", "file:2:3: here is a port's number" },
	{ "Switch 4 \"S-01\"\n[1] S-01[1]\n", "file:2:5: here is a node's name in quotes" },
	{ "Switch 4 \"S-01\"\n[1] \"S-01\"[x]\n", "file:2:12: here is a port's number" },
	{ "Switch 4 \"S-01\"\n[1] \"S-01\"[5]\n",
	  "file:1: 'S-01' has 4 ports here, but a link leads to its port 5" },
	{ "Switch 4 \"S-01\"\n[1] \"S-01\"[2]\n[1] \"S-01\"[2]\n",
	  "file:3:2: the port is there twice" },
	{ "CA 1 1 0xb1 4x EDR - XX 2 2 0xa1\n", "file:1:22: here is CA, SW or RT" },
	{ "CA 49152 1 0xb1 4x EDR\n", "file:1:4: here is a LID" },
	{ "CA 1 255 0xb1 4x EDR\n", "file:1:6: here is a port's number" },
	{ "CA 1 1 0x0 4x EDR\n", "file:1:11: here is a port's GUID" },
	{ "CA 1 1 0xb1 5x EDR\n", "file:1:13: here are width and speed" },
	{ "SW 1 0 0xb1 4x EDR - CA 2 2 0xa1\n", "file:1:1: a link has no end at a port 0" },
	{ "SW 1 1 0xb1 4x EDR - CA 2 2 0xa1\nSW 1 1 0xb1 4x EDR - CA 2 2 0xa1\n",
	  "file:2:1: the port is there twice" },
	{ "START_NODES\nA\n", "file:1: the section has no end" },
	{ NODES_HEAD "END_NODES\n", "file: there is no node in it; section NODES" },
	{ NODES_HEAD "a,3,2,0,x,0,0\nEND_NODES\n", "file:3:9: NodeGUID is no number" },
	{ NODES_HEAD "a,255,2,0,1,0,0\nEND_NODES\n",
	  "file:3:3: NumPorts is no number, or too great" },
	{ NODES_HEAD "a,3,4,0,1,0,0\nEND_NODES\n",
	  "file:3:5: NodeType is no number, or too great" },
	{ NODES_HEAD "a\nEND_NODES\n", "file:3: there is no NodeGUID in this row" },
	{ "START_NODES\nNodeDesc,NumPorts,NodeType\na,3,2\nEND_NODES\n",
	  "file:3: there is no NodeGUID" },
	{ NODES_HEAD
	  "a,3,2,0,1,0,0\nEND_NODES\nSTART_LINKS\nNodeGuid1,PortNum1,NodeGuid2,PortNum2\n1,0,1,1\n"
	  "END_LINKS\n",
	  "a link has no end at a port 0" },
};

static void test_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(bad); i++) {
		struct mem_fail mem = mem_fail_after(1000000);
		struct wf_subnet *s = NULL;
		struct wf_err err = { "" };

		assert_int_equal(
			read_bytes(bad[i].text, strlen(bad[i].text), &mem.mem, NULL, &s, &err),
			-EINVAL);
		if (strstr(err.text, bad[i].want) == NULL)
			fail_msg("case %zu: %s", i, err.text);
		assert_null(s);
		assert_int_equal(mem.held, 0);
	}
}

static void test_bad_lfts(void **state)
{
	static const struct {
		const char *text, *want;
	} row[] = {
		{ "", "file: there is no table in it" },
		{ "Unicast lids of switch guid 0xaa\n0x0001 x\n", "file:2:8: here is the port" },
		{ "Unicast lids of switch guid 0xaa\n0x0001 256\n", "file:2:8: here is the port" },
		{ "Unicast lids of switch guid 0xaa\n0x0001 37\n",
		  "file:2:10: the switch has no such port" },
		{ "Unicast lids of switch guid 0xaa\n0xc000 1\n",
		  "file:2:9: a LID of one port is at most" },
	};
	struct wf_subnet *s = read_text(net, NULL);

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		struct wf_tables *tables = NULL;
		struct wf_err err = { "" };

		assert_int_equal(wf_subnet_read_lfts(s, row[i].text, strlen(row[i].text), "file",
		                                     NULL, &tables, &err),
		                 -EINVAL);
		if (strstr(err.text, row[i].want) == NULL)
			fail_msg("case %zu: %s", i, err.text);
		assert_null(tables);
	}
	wf_subnet_destroy(s);
}

/* A file that is cut off anywhere is read or refused, never worse; nor where memory runs out. */
static void test_cut(void **state)
{
	static const char *const texts[] = { net, ports, csv };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(texts); i++) {
		size_t len = strlen(texts[i]);
		int ret = -ENOMEM;

		for (size_t n = 0; n <= len; n += check_step(3)) {
			struct mem_fail mem = mem_fail_after(1000000);
			struct wf_subnet *s = NULL;
			struct wf_err err = { "" };

			ret = read_bytes(texts[i], n, &mem.mem, NULL, &s, &err);
			assert_true(ret == 0 || ret == -EINVAL);
			assert_int_equal(ret == 0, err.text[0] == '\0');
			wf_subnet_destroy(s);
			assert_int_equal(mem.held, 0);
		}
		ret = -ENOMEM;
		for (long n = 0; ret != 0; n++) {
			struct mem_fail mem = mem_fail_after(n);
			struct wf_subnet *s = NULL;
			struct wf_err err = { "" };

			ret = read_bytes(texts[i], len, &mem.mem, NULL, &s, &err);
			assert_true(ret == 0 || ret == -ENOMEM);
			wf_subnet_destroy(s);
			assert_int_equal(mem.held, 0);
			assert_true(n < 100);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ibnetdiscover), cmocka_unit_test(test_dialects),
		cmocka_unit_test(test_doubts),        cmocka_unit_test(test_ports),
		cmocka_unit_test(test_csv),           cmocka_unit_test(test_pm),
		cmocka_unit_test(test_lfts),          cmocka_unit_test(test_lfts_lids),
		cmocka_unit_test(test_write),         cmocka_unit_test(test_bad),
		cmocka_unit_test(test_bad_lfts),      cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
