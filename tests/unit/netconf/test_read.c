/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of the readers: netconf/read*.c, netconf.c. What each form says of the model's
 * values.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "netconf/audit.h"
#include "netconf/make.h"
#include "netconf/read.h"

/* Reads one file as the device d; "" of what is right, else the error. */
static const char *read_into(struct wf_netconf *net, const char *text, const char *device)
{
	static struct wf_err err;
	struct wf_conf_look look;
	size_t len = strlen(text);
	char *copy = malloc(len + 1);
	int ret;

	assert_non_null(copy);
	memcpy(copy, text, len);
	err.text[0] = '\0';
	wf_conf_look(copy, len, &look);
	if (look.reader == NULL) {
		free(copy);
		return "no form";
	}
	ret = wf_conf_read(net, &look, "f", copy, len,
	                   look.device[0] != '\0' ? look.device : device, "", &err);
	free(copy);
	assert_int_equal(ret != 0, err.text[0] != '\0');
	return err.text;
}

/* A finished model of one file; its device is d unless the file says another. */
static struct wf_conf_device *model(struct wf_netconf *net, const char *text)
{
	wf_netconf_init(net);
	assert_string_equal(read_into(net, text, "d"), "");
	assert_int_equal(wf_conf_finish(net), 0);
	assert_true(net->n_devices > 0);
	return net->devices[0];
}

static struct wf_conf_port *port(const struct wf_netconf *net, const struct wf_conf_device *d,
                                 const char *name)
{
	struct wf_conf_port *p = wf_conf_find_port(net, d, name);

	assert_non_null(p);
	return p;
}

#define said(value, want, at_line)                                                                 \
	do {                                                                                       \
		assert_int_equal((value).said, WF_CONF_SAID);                                      \
		assert_int_equal((value).v, want);                                                 \
		assert_int_equal((value).at.line, at_line);                                        \
	} while (0)

static const char sonic[] =
	"{\"DEVICE_METADATA\": {\"localhost\": {\"hostname\": \"leaf7\", \"hwsku\": \"X\"}},\n"
	"\"PORT\": {\"Ethernet0\": {\"alias\": \"etp1\", \"speed\": \"400000\", \"mtu\": \"9216\", "
	"\"fec\": \"rs\",\n"
	"  \"lanes\": \"0,1,2,3\", \"admin_status\": \"up\"}},\n"
	"\"CABLE_LENGTH\": {\"AZURE\": {\"Ethernet0\": \"40m\"}},\n"
	"\"DSCP_TO_TC_MAP\": {\"AZURE\": {\"0\": \"0\",\n\"26\": \"3\"}},\n"
	"\"PORT_QOS_MAP\": {\"global\": {\"dscp_to_tc_map\": \"AZURE\"},\n"
	"  \"Ethernet0\": {\"pfc_enable\": \"3,4\", \"pfcwd_sw_enable\": \"3\"}},\n"
	"\"BUFFER_POOL\": {\"p\": {\"type\": \"ingress\", \"mode\": \"dynamic\", \"size\": "
	"\"9000\", \"xoff\": \"5\"}},\n"
	"\"BUFFER_PROFILE\": {\"b\": {\"pool\": \"[BUFFER_POOL|p]\", \"size\": \"10\", \"xon\": "
	"\"4\", \"xoff\": \"6\",\n"
	"  \"dynamic_th\": \"-3\"}},\n"
	"\"BUFFER_PG\": {\"Ethernet0|3-4\": {\"profile\": \"[BUFFER_PROFILE|b]\"}, "
	"\"Ethernet0|0\": {\"profile\": \"NULL\"}},\n"
	"\"SCHEDULER\": {\"s\": {\"type\": \"STRICT\"}},\n"
	"\"WRED_PROFILE\": {\"w\": {\"ecn\": \"ecn_all\", \"green_min_threshold\": \"1000\"}},\n"
	"\"QUEUE\": {\"Ethernet0|3\": {\"scheduler\": \"s\", \"wred_profile\": \"w\"}},\n"
	"\"PFC_WD\": {\"GLOBAL\": {\"POLL_INTERVAL\": \"200\"},\n"
	"  \"Ethernet0\": {\"action\": \"forward\", \"detection_time\": \"400\"}},\n"
	"\"DEVICE_NEIGHBOR\": {\"Ethernet0\": {\"name\": \"gpu\", \"port\": \"eth0\"}}}\n";

static void test_sonic(void **state)
{
	struct wf_netconf net;
	struct wf_conf_device *d = model(&net, sonic);
	struct wf_conf_port *p = port(&net, d, "Ethernet0");

	(void)state;
	assert_string_equal(d->name, "leaf7");
	assert_string_equal(d->sku, "X");
	assert_int_equal(d->n_ports, 1);
	assert_ptr_equal(port(&net, d, "etp1"), p);
	said(p->speed, 400000000000, 2);
	assert_string_equal(p->speed.at.key, "PORT|Ethernet0|speed");
	said(p->mtu, 9216, 2);
	said(p->fec, WF_CONF_FEC_RS, 2);
	said(p->lanes, 4, 3);
	said(p->up, 1, 3);
	said(p->cable, 4000, 4);
	said(p->pfc_rx, 0x18, 8);
	said(p->wd, 8, 8);
	assert_int_equal(p->map_at[WF_CONF_DSCP_TC].line, 7);
	assert_int_equal(p->map[WF_CONF_DSCP_TC]->line[26], 6);
	assert_int_equal(wf_conf_tc_of(p, 26), 3);
	assert_int_equal(wf_conf_tc_of(p, 27), 0);
	assert_ptr_equal(p->pg[3].profile, p->pg[4].profile);
	assert_true(p->pg[0].by_switch);
	said(p->pg[3].profile->dynamic_th, -3, 11);
	assert_true(p->pg[3].profile->is.defined);
	said(p->pg[3].profile->pool->size, 9000, 9);
	said(p->pg[3].profile->pool->dynamic, 1, 9);
	said(p->queue[3].sched->strict, 1, 13);
	said(p->queue[3].wred->ecn, 1, 14);
	said(p->wd_poll, 200000, 16);
	said(p->wd_detect, 400000, 17);
	said(p->wd_action, WF_CONF_ACTION_FORWARD, 17);
	assert_int_equal(p->wd_restore.said, WF_CONF_UNSET);
	assert_int_equal(net.n_links, 1);
	assert_string_equal(net.links[0].end[1].device->name, "gpu");
	assert_ptr_equal(net.links[0].end[0].port, p);
	wf_netconf_fini(&net);
}

static void test_eos(void **state)
{
	static const char text[] =
		"hostname e1\nqos map dscp 26 27 to traffic-class 3\nqos map traffic-class 3 to "
		"tx-queue 5\n"
		"qos profile R\n   qos trust dscp\n   priority-flow-control on\n"
		"   priority-flow-control priority 3 no-drop\n   uc-tx-queue 5\n      no priority\n"
		"      bandwidth percent 40\n      bandwidth guaranteed 100\n"
		"      random-detect ecn minimum-threshold 256 kbytes maximum-threshold 1 mbytes "
		"max-mark-probability 20 weight 0\n   !\n   uc-tx-queue 6\n      priority "
		"strict\n!\n"
		"interface Ethernet1/1\n   mtu 9214\n   speed forced 400gfull\n"
		"   error-correction encoding reed-solomon\n   service-profile R\n!\n"
		"interface Ethernet2/1\n   shutdown\n!\n"
		"interface Port-Channel4\n   service-profile R\n"
		"interface Ethernet3/1\n   channel-group 4 mode active\n"
		"priority-flow-control pause watchdog default timeout 0.25\n"
		"priority-flow-control pause watchdog default polling-interval 0.1\n";
	struct wf_netconf net;
	struct wf_conf_device *d = model(&net, text);
	struct wf_conf_port *p = port(&net, d, "Ethernet1/1");

	(void)state;
	assert_int_equal(d->n_ports, 3);
	said(p->mtu, 9214, 18);
	said(p->speed, 400000000000, 19);
	said(p->fec, WF_CONF_FEC_RS, 20);
	said(p->trust, WF_CONF_TRUST_L3, 5);
	said(p->pfc_mode, 1, 6);
	said(p->pfc_rx, 8, 7);
	assert_int_equal(wf_conf_tc_of(p, 26), 3);
	assert_int_equal(wf_conf_tc_of(p, 0), 1);
	assert_int_equal(wf_conf_tc_of(p, 8), 0);
	assert_int_equal(wf_conf_map_to(p, WF_CONF_TC_QUEUE, 3), 5);
	said(p->queue[5].wred->min, 256000, 12);
	said(p->queue[5].wred->max, 1000000, 12);
	said(p->queue[5].wred->chance, 20, 12);
	said(p->queue[5].guaranteed, 1, 11);
	said(p->queue[5].sched->weight, 40, 10);
	said(p->queue[6].sched->strict, 1, 15);
	said(p->wd_detect, 250000, 30);
	said(p->wd_poll, 100000, 31);
	said(port(&net, d, "Ethernet2/1")->up, 0, 24);
	assert_int_equal(wf_conf_pfc_rx(port(&net, d, "Ethernet2/1")), 0);
	said(port(&net, d, "Ethernet3/1")->pfc_rx, 8, 7);
	assert_int_equal(net.n_notes[WF_CONF_NOTE_ODD], 0);
	/* Who trusts PCP has no class for a DSCP. */
	p->trust.v = WF_CONF_TRUST_L2;
	assert_int_equal(wf_conf_tc_of(p, 26), -1);
	wf_netconf_fini(&net);
}

static void test_nxos(void **state)
{
	static const char text[] =
		"hostname n1\npriority-flow-control watch-dog-interval on\n"
		"class-map type qos match-any R\n  match dscp 24,26\n"
		"policy-map type qos Q\n  class R\n    set qos-group 3\n"
		"policy-map type network-qos NQ\n  class type network-qos c-8q-nq3\n    pause "
		"pfc-cos 4\n    mtu 9216\n"
		"policy-map type queuing O\n  class type queuing c-out-8q-q3\n    bandwidth "
		"remaining percent 50\n"
		"    random-detect minimum-threshold 950 kbytes maximum-threshold 3000 kbytes "
		"drop-probability 7 weight 0 ecn\n"
		"policy-map type queuing I\n  class type queuing c-in-q3\n"
		"    pause buffer-size 27456 pause-threshold 12480 resume-threshold 12000\n"
		"system qos\n  service-policy type network-qos NQ\n  service-policy type queuing "
		"output O\n"
		"interface Ethernet1/1\n  service-policy type qos input Q\n  service-policy type "
		"queuing input I\n"
		"  priority-flow-control mode on\n  priority-flow-control watch-dog-interval on\n"
		"interface Ethernet1/2\n  no shutdown\n";
	struct wf_netconf net;
	struct wf_conf_device *d = model(&net, text);
	struct wf_conf_port *p = port(&net, d, "Ethernet1/1");

	(void)state;
	said(p->pfc_mode, 1, 25);
	said(p->pfc_rx, 0x10, 10);
	assert_int_equal(wf_conf_map_to(p, WF_CONF_PFC_PG, 4), 3);
	assert_int_equal(wf_conf_map_to(p, WF_CONF_PFC_PG, 3), -1);
	assert_int_equal(wf_conf_tc_of(p, 24), 3);
	assert_int_equal(wf_conf_tc_of(p, 25), 0);
	assert_true(wf_conf_protects(p, 3));
	assert_false(wf_conf_protects(p, 4));
	said(p->queue[3].wred->ecn, 1, 15);
	said(p->queue[3].wred->min, 950000, 15);
	said(p->pg[3].profile->xoff, 27456 - 12480, 18);
	said(p->wd, 0xff, 26);
	p = port(&net, d, "Ethernet1/2");
	assert_int_equal(p->pfc_mode.v, 2);
	assert_int_equal(wf_conf_pfc_rx(p), 0);
	assert_int_equal(wf_conf_tc_of(p, 24), -1);
	wf_netconf_fini(&net);
}

/* The three forms of NVUE say the same. */
static void test_nvue(void **state)
{
	static const char *const texts[] = {
		"nv set system hostname c1\nnv set qos mapping default-global trust l3\n"
		"nv set qos mapping default-global dscp 26 switch-priority 4\n"
		"nv set qos pfc p switch-priority 4\nnv set qos pfc p tx enable\nnv set qos pfc p "
		"cable-length 30\n"
		"nv set qos congestion-control e traffic-class 4 min-threshold 1000\n"
		"nv set qos congestion-control e traffic-class 4 ecn enable\n"
		"nv set interface swp1-2 link mtu 9216\nnv set interface swp1-2 link speed 400G\n"
		"nv set interface swp1-2 qos pfc profile p\nnv set interface swp1-2 qos "
		"congestion-control profile e\n"
		"nv set interface swp2 qos pfc-watchdog\n",
		"[{\"header\": {}}, {\"set\": {\"system\": {\"hostname\": \"c1\"}, \"qos\": "
		"{\"mapping\": {\"default-global\": "
		"{\"trust\": \"l3\", \"dscp\": {\"26\": {\"switch-priority\": 4}}}}, \"pfc\": "
		"{\"p\": {\"switch-priority\": "
		"{\"4\": {}}, \"tx\": \"enable\", \"cable-length\": 30}}, \"congestion-control\": "
		"{\"e\": {\"traffic-class\": "
		"{\"4\": {\"min-threshold\": 1000, \"ecn\": \"enable\"}}}}}, \"interface\": "
		"{\"swp1,swp2\": {\"link\": {\"mtu\": 9216, "
		"\"speed\": \"400G\"}, \"qos\": {\"pfc\": {\"profile\": \"p\"}, "
		"\"congestion-control\": {\"profile\": \"e\"}}}, "
		"\"swp2\": {\"qos\": {\"pfc-watchdog\": {\"state\": \"enable\"}}}}}}]",
		"- set:\n    system:\n      hostname: c1\n    qos:\n      mapping:\n        "
		"default-global:\n          trust: l3\n"
		"          dscp:\n            '26':\n              switch-priority: 4\n      "
		"pfc:\n        p:\n"
		"          switch-priority:\n            '4': {}\n          tx: enable\n          "
		"cable-length: 30\n"
		"      congestion-control:\n        e:\n          traffic-class:\n            "
		"'4':\n"
		"              min-threshold: 1000\n              ecn: enable\n    interface:\n    "
		"  swp1-2:\n        link:\n"
		"          mtu: 9216\n          speed: 400G\n        qos:\n          pfc:\n        "
		"    profile: p\n"
		"          congestion-control:\n            profile: e\n      swp2:\n        "
		"qos:\n          pfc-watchdog:\n"
		"            state: enable\n",
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(texts); i++) {
		struct wf_netconf net;
		struct wf_conf_device *d = model(&net, texts[i]);
		struct wf_conf_port *p = port(&net, d, "swp1");

		assert_string_equal(d->name, "c1");
		assert_int_equal(d->n_ports, 2);
		assert_int_equal(p->mtu.v, 9216);
		assert_int_equal(p->speed.v, 400000000000);
		assert_int_equal(p->pfc_rx.v, 0x10);
		assert_int_equal(p->cable.v, 3000);
		assert_int_equal(p->trust.v, WF_CONF_TRUST_L3);
		assert_int_equal(wf_conf_tc_of(p, 26), 4);
		assert_int_equal(wf_conf_tc_of(p, 46), 5);
		assert_int_equal(p->queue[4].wred->min.v, 1000);
		assert_int_equal(p->queue[4].wred->ecn.v, 1);
		assert_int_equal(p->wd.said, WF_CONF_UNSET);
		assert_int_equal(port(&net, d, "swp2")->wd.v, 0xff);
		assert_int_equal(p->wd_detect.v, 300000);
		assert_int_equal(net.n_notes[WF_CONF_NOTE_ODD], 0);
		wf_netconf_fini(&net);
	}
}

static void test_roce(void **state)
{
	struct wf_netconf net;
	struct wf_conf_device *d =
		model(&net, "nv set qos roce\nnv set interface swp1 link breakout 2x\n"
	                    "nv set vrf default router bgp neighbor swp9 type unnumbered\n");
	struct wf_conf_port *p = port(&net, d, "swp1s1");

	(void)state;
	assert_int_equal(d->n_ports, 3);
	assert_int_equal(wf_conf_pfc_tx(p), 8);
	assert_int_equal(wf_conf_tc_of(p, 26), 3);
	assert_int_equal(wf_conf_map_to(p, WF_CONF_TC_QUEUE, 5), 0);
	assert_int_equal(p->queue[6].sched->strict.v, 1);
	assert_int_equal(p->queue[3].wred->max.v, 1500000);
	assert_int_equal(p->queue[3].wred->max.said, WF_CONF_DEFAULT);
	assert_true(port(&net, d, "swp9")->fabric);
	wf_netconf_fini(&net);
}

static void test_nic(void **state)
{
	static const char text[] =
		"$ mlnx_qos -i eth4\nDCBX mode: OS controlled\nPriority trust state: "
		"dscp\ndscp2prio mapping:\n"
		"\tprio:4 dscp:26,25,24,\ndefault priority:\nCable len: 7\nPFC configuration:\n"
		"\tpriority    0   1   2   3   4   5   6   7\n\tenabled     0   0   0   0   1   0  "
		" 0   0\n"
		"tc: 6 ratelimit: unlimited, tsa: strict\n\t priority:  6\n$ cma_roce_tos -d "
		"mlx5_0\n106\n"
		"/sys/class/net/eth4/ecn/roce_rp/enable/4:0\n/sys/class/net/eth4/ecn/roce_np/"
		"cnp_dscp = 48\n"
		"Configurations: Next Boot\n ROCE_CC_PRIO_MASK_P1   16\n RPG_AI_RATE_P1  5\n "
		"RPG_AI_RATE_P2  9\n"
		"CLAMP_TGT_RATE_P1 False(0)\n$ cat "
		"/sys/class/infiniband/mlx5_2/tc/1/traffic_class\nGlobal tclass=104\n";
	struct wf_netconf net;
	struct wf_conf_device *d = model(&net, text);
	struct wf_conf_port *p = port(&net, d, "eth4");

	(void)state;
	assert_true(d->adapter);
	assert_int_equal(d->n_ports, 1);
	said(p->trust, WF_CONF_TRUST_L3, 3);
	assert_int_equal(wf_conf_tc_of(p, 26), 4);
	assert_int_equal(wf_conf_tc_of(p, 27), 3);
	said(p->pfc_rx, 0x10, 10);
	said(p->queue[6].sched->strict, 1, 11);
	said(p->nic->tos, 106, 14);
	said(p->nic->rp, 0, 15);
	assert_int_equal(p->nic->rp_seen.v, 0x10);
	said(p->nic->cnp_dscp, 48, 16);
	said(p->nic->cc_mask, 16, 18);
	said(p->nic->dcqcn[WF_CONF_DCQCN_AI_RATE], 5, 19);
	said(p->nic->dcqcn[WF_CONF_DCQCN_CLAMP], 0, 21);
	said(p->nic->tclass, 104, 23);
	assert_int_equal(net.n_notes[WF_CONF_NOTE_ODD], 0);
	wf_netconf_fini(&net);
}

static void test_cumulus(void **state)
{
	static const char text[] =
		"# of ports\ntraffic.packet_priority_source_set = "
		"[dscp]\ntraffic.cos_3.priority_source.dscp = [26]\n"
		"pfc.port_group_list = [g, gone]\npfc.g.cos_list = [3]\npfc.g.port_set = "
		"swp1-swp2,swp50s0-swp50s1\n"
		"ecn_red.port_group_list = [e]\necn_red.e.cos_list = [3]\necn_red.e.port_set = "
		"swp1\n"
		"ecn_red.e.ecn_enable = true\necn_red.e.min_threshold_bytes = 1000  # why\n"
		"priority_group.control.cos_list = [6]\npriority_group.control.weight = 0\n";
	struct wf_netconf net;
	struct wf_conf_device *d = model(&net, text);
	struct wf_conf_port *p = port(&net, d, "swp1");

	(void)state;
	assert_int_equal(d->n_ports, 4);
	assert_int_equal(wf_conf_pfc_rx(port(&net, d, "swp50s1")), 8);
	assert_int_equal(wf_conf_tc_of(p, 26), 3);
	said(p->queue[3].wred->min, 1000, 11);
	said(p->queue[6].sched->strict, 1, 13);
	assert_null(port(&net, d, "swp2")->queue[3].wred);
	assert_non_null(net.faults);
	assert_int_equal(net.faults->kind, WF_CONF_FAULT_GROUP);
	assert_int_equal(net.faults->at.line, 4);
	assert_null(net.faults->next);
	wf_netconf_fini(&net);
}

static void test_links(void **state)
{
	static const char *const texts[] = {
		"{\"lldp\": {\"interface\": [{\"e1\": {\"chassis\": {\"b\": {}}, \"port\": "
		"{\"id\": {\"type\": \"ifname\", \"value\": \"e2\"}}}}]}}",
		"{\"lldp\": {\"interface\": {\"e1\": {\"chassis\": {\"b\": {}}, \"port\": {\"id\": "
		"{\"type\": \"mac\", \"value\": \"00:01\"}, "
		"\"descr\": \"e2\"}}}}}",
		"{\"lldp\": [{\"interface\": [{\"name\": \"e1\", \"chassis\": [{\"name\": "
		"[{\"value\": \"b\"}]}], "
		"\"port\": [{\"id\": [{\"type\": \"ifname\", \"value\": \"e2\"}]}]}]}]}",
		"links:\n  - \"d:e1 b:e2 12m\"\n",
		"topology:\n  links:\n    - endpoints: [\"d:e1\", \"b:e2\"]\n",
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(texts); i++) {
		struct wf_netconf net;

		(void)model(&net, texts[i]);
		assert_int_equal(net.n_links, 1);
		assert_string_equal(net.links[0].end[0].device->name, "d");
		assert_string_equal(net.links[0].end[0].name, "e1");
		assert_string_equal(net.links[0].end[1].device->name, "b");
		assert_string_equal(net.links[0].end[1].name, "e2");
		if (i == 3)
			said(net.links[0].length, 1200, 2);
		/* The other end tells of the same link. */
		assert_string_equal(read_into(&net, "links:\n  - b:e2 d:e1\n  - b:e3 d:e1\n", "b"),
		                    "");
		assert_int_equal(net.n_links, 2);
		wf_netconf_fini(&net);
	}
}

static void test_bad(void **state)
{
	struct wf_netconf net;

	(void)state;
	wf_netconf_init(&net);
	assert_string_equal(read_into(&net, "once upon a time\n", "d"), "no form");
	assert_string_equal(read_into(&net, "", "d"), "no form");
	assert_string_equal(read_into(&net, "links:\n  - a b\n", "d"),
	                    "f:2: a link has two ends, each a device, a colon and a port: "
	                    "\"leaf01:Ethernet0 spine01:Ethernet4 40m\"");
	assert_string_equal(read_into(&net, "{\"PORT\": {}}", "x"), "");
	assert_string_equal(
		read_into(&net, "nv set qos roce\n", "x"),
		"f: it is of x, of which another file is that of another system (sonic)");
	wf_netconf_fini(&net);
}

/* Without memory nothing is lost but what is asked for. */
static void test_memory(void **state)
{
	size_t limit = 1000;
	int ret = -1;

	(void)state;
	for (; ret != 0; limit += limit / 8) {
		struct wf_conf_look look;
		struct wf_netconf net;
		struct wf_audit audit;
		struct wf_err err = { "" };

		wf_netconf_init(&net);
		net.arena.limit = limit;
		wf_conf_look(sonic, sizeof(sonic) - 1, &look);
		ret = wf_conf_read(&net, &look, "f", sonic, sizeof(sonic) - 1, look.device, "",
		                   &err);
		if (ret == 0)
			ret = wf_conf_finish(&net);
		if (ret == 0)
			ret = wf_audit_run(&audit, &net);
		assert_true(ret == 0 || ret == -12);
		assert_true(limit < 100000000);
		wf_netconf_fini(&net);
	}
	assert_true(limit > 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sonic),   cmocka_unit_test(test_eos),
		cmocka_unit_test(test_nxos),    cmocka_unit_test(test_nvue),
		cmocka_unit_test(test_roce),    cmocka_unit_test(test_nic),
		cmocka_unit_test(test_cumulus), cmocka_unit_test(test_links),
		cmocka_unit_test(test_bad),     cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
