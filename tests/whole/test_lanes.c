/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios: what a subnet manager sets of lanes, lifetimes, sizes and links is what data meets. */
/* ctest: tsan */
#include "managed.h"

#include <errno.h>

#include "fabric/station.h"
#include "wire/ib_rate.h"

#define DEAF (3 * WF_MS)

static struct wf_device *named(const struct managed *t, const char *name)
{
	uint32_t id = wf_topo_node_by_name(t->r.topo, name);

	assert_true(id != WF_TOPO_NONE);
	return t->r.sim->net.devices[id];
}

static const struct wf_sma *agent(const struct managed *t, const char *name)
{
	return wf_managed_sma(t->m, named(t, name)->id);
}

/* One switch; h1 and h2 send to h0 with service levels 0 and 1. */
static void two_levels(struct managed *t, uint64_t bytes)
{
	managed_init(t, "single", 4);
	managed_topo(t);
	rig_flow(&t->r, 1, 0, bytes, 0, 0);
	rig_flow(&t->r, 2, 0, bytes, 0, 1);
}

/* ---- arbitration ---- */

/*
 * The manager's tables give one level as many packets of 4 KiB as the other gets one: that is what
 * the port to h0 sends, to the packet. With a weight of n packets a turn ends with the nth.
 */
static void test_shares(void **state)
{
	static const struct {
		const char *low, *high, *limit;
		unsigned share;
	} rows[] = {
		{ "0:65,1:65", "", "0", 1 },
		{ "0:195,1:65", "", "0", 3 },
		{ "1:65,0:195", "", "0", 3 },
		{ "0:130,1:65,0:65", "", "0", 3 },
		/* 4 KiB units and a packet that exceeds them: 3 of 4126 bytes, then one of low. */
		{ "1:65", "0:65", "2", 2 },
		{ "1:65", "0:65", "3", 3 },
		/* A weight of 0 is no entry. */
		{ "0:195,2:0,1:65", "1:0", "0", 3 },
	};
	struct managed t;

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++) {
		const struct wf_device *sw;
		uint64_t sent[2];

		two_levels(&t, 100000000);
		managed_set(&t, "qos", "true");
		managed_set(&t, "qos_vlarb_low", rows[i].low);
		managed_set(&t, "qos_vlarb_high", rows[i].high);
		managed_set(&t, "qos_high_limit", rows[i].limit);
		t.r.until = WF_MS;
		managed_build(&t, 1);
		managed_run(&t);
		sw = named(&t, "leaf0");
		for (unsigned q = 0; q < 2; q++)
			sent[q] = wf_device_lane(sw, 0, q)->tx_packets;
		assert_true(sent[1] > 1000);
		/* But for the turn at the beginning and the one at the end. */
		assert_in_range(sent[0], rows[i].share * (sent[1] - 2),
		                rows[i].share * (sent[1] + 2));
		assert_int_equal(t.r.result->packets_dropped, 0);
		managed_fini(&t);
	}
}

/*
 * Tables that leave a lane out turn it off: its packets wait, and go once their lifetime is over.
 */
static void test_lane_left_out(void **state)
{
	struct managed t;

	(void)state;
	for (int life = 0; life <= 1; life++) {
		const struct wf_lane *lane;

		two_levels(&t, 1000000);
		rig_set(&t.r, "sender.timeout", "100us");
		managed_set(&t, "qos", "true");
		managed_set(&t, "qos_vlarb_low", "0:64,2:64");
		managed_set(&t, "qos_vlarb_high", "");
		managed_set(&t, "leaf_head_of_queue_lifetime", life ? "3" : "20");
		t.r.until = 2 * WF_MS;
		managed_build(&t, 1);
		managed_run(&t);
		assert_int_not_equal(wf_sim_flow_end(t.r.sim, 0), WF_TIME_NEVER);
		assert_int_equal(wf_sim_flow_end(t.r.sim, 1), WF_TIME_NEVER);
		/* Hosts' ports have the tables, too: nothing comes as far as the switch. */
		assert_int_equal(wf_device_lane(named(&t, "h2"), 0, 1)->tx_packets, 0);
		managed_fini(&t);

		/* The host's port lets it go, the switch's to h0 does not. */
		two_levels(&t, 1000000);
		rig_set(&t.r, "sender.timeout", "100us");
		managed_set(&t, "leaf_head_of_queue_lifetime", life ? "3" : "20");
		t.r.until = 2 * WF_MS;
		managed_build(&t, 1);
		wf_device_lane(named(&t, "leaf0"), 0, 1)->off = true;
		managed_run(&t);
		lane = wf_device_lane(named(&t, "leaf0"), 0, 1);
		assert_int_equal(lane->tx_packets, 0);
		assert_int_equal(lane->drops[WF_DROP_LIFE] != 0, life);
		managed_fini(&t);
	}
}

/* ---- the same as without ---- */

static const char same_levels[] = "0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,15";

/* Tables that say what the fabric does by itself change nothing, to the picosecond. */
static void test_same_tables(void **state)
{
	static const char *const kinds[] = { "single", "leaf-spine" };
	static const char *const arb[][2] = { { "auto", "0:64,1:64,2:64,3:64" },
		                              { "0:130,1:65,2:1,3:1", "0:130,1:65,2:1,3:1" } };
	struct managed t;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct wf_sim_result first;

		for (int qos = 0; qos <= 2; qos++) {
			managed_init(&t, kinds[i / 2], 16);
			rig_set(&t.r, "vl.arb_low", arb[i % 2][0]);
			managed_set(&t, "qos", qos > 0 ? "true" : "false");
			managed_set(&t, "qos_vlarb_low",
			            qos == 1 ? arb[i % 2][1] : "0:1,1:200,2:1,3:1");
			managed_set(&t, "qos_vlarb_high", "");
			managed_set(&t, "qos_sl2vl", same_levels);
			managed_topo(&t);
			for (uint32_t h = 0; h < 16; h++) {
				rig_flow(&t.r, h, (h + 5) % 16, 400000, 0, h % 4);
				rig_flow(&t.r, h, h < 8 ? 15 : 0, 300000, 0, (h + 1) % 4);
				t.r.flows.flow[2 * h].op = h % 2 != 0 ? WF_FLOW_WRITE : 0;
			}
			for (size_t k = 0; k < t.r.flows.n; k++)
				t.r.flows.flow[k].op = i % 2 ? WF_FLOW_WRITE : WF_FLOW_WINDOW;
			managed_build(&t, 1);
			managed_run(&t);
			assert_true(t.r.result->finished);
			if (qos == 0)
				first = *t.r.result;
			/* Other tables make it another run: the comparison can fail. */
			if (qos == 2)
				assert_int_not_equal(memcmp(&first.packet_latency,
				                            &t.r.result->packet_latency,
				                            sizeof(first.packet_latency)),
				                     0);
			if (qos == 1) {
				assert_int_equal(first.end, t.r.result->end);
				assert_int_equal(first.hops, t.r.result->hops);
				assert_memory_equal(&first.packet_latency,
				                    &t.r.result->packet_latency,
				                    sizeof(first.packet_latency));
			}
			managed_fini(&t);
		}
	}
}

/* ---- lifetimes ---- */

/* h0 takes nothing from 10 us on: its leaf's port holds what is for it. */
static void deaf(struct managed *t)
{
	managed_init(t, "single", 4);
	managed_topo(t);
	rig_set(&t->r, "sender.timeout", "10ms");
	rig_flow(&t->r, 1, 0, 4000000, 0, 0);
	t->r.faults[t->r.n_faults++] = (struct wf_sim_fault){
		.at = 10 * WF_US, .kind = WF_SIM_FAULT_STORM, .on = true, .what = 0
	};
	t->r.faults[t->r.n_faults++] = (struct wf_sim_fault){
		.at = DEAF, .kind = WF_SIM_FAULT_STORM, .on = false, .what = 0
	};
	t->r.until = DEAF + 100 * WF_US;
}

/* Of a head, as the manager sets it of ports to hosts: so many drops, and no sooner. */
static void test_head_life(void **state)
{
	struct managed t;

	(void)state;
	for (unsigned code = 2; code <= 6; code += 2) {
		char text[4] = { (char)('0' + code) };
		wf_time life = wf_ib_time_decode((uint8_t)code);
		const struct wf_lane *lane;
		uint32_t drops;

		deaf(&t);
		managed_set(&t, "leaf_head_of_queue_lifetime", text);
		managed_set(&t, "leaf_vl_stall_count", "7");
		managed_build(&t, 1);
		managed_run(&t);
		lane = wf_device_lane(named(&t, "leaf0"), 0, 0);
		drops = lane->drops[WF_DROP_LIFE];
		assert_true(drops > 0);
		assert_int_equal(named(&t, "leaf0")->ports[0].hoq_life, life);
		assert_int_equal(named(&t, "leaf0")->station->port[0].too_old, 0);
		/* Seven heads, one life after the other, and the lane is stalled. */
		assert_true(drops > 7);
		assert_int_equal(lane->hoq.times, 1);
		managed_fini(&t);
	}
	deaf(&t);
	managed_build(&t, 1);
	managed_run(&t);
	assert_int_equal(t.r.result->packets_dropped, 0);
	managed_fini(&t);
}

/* Of a packet in a switch: what has waited for so long is dropped, at the time, and on all threads
 * the same. */
static void test_switch_life(void **state)
{
	wf_time life = wf_ib_time_decode(5); /* 131 us */
	uint64_t dropped = 0;
	struct managed t;

	(void)state;
	for (unsigned threads = 1; threads <= 4; threads *= 2) {
		const struct wf_station *st;
		struct wf_lane *lane;
		wf_time end;

		deaf(&t);
		managed_set(&t, "packet_life_time", "5");
		managed_set(&t, "leaf_head_of_queue_lifetime", "20");
		managed_build(&t, threads);
		st = named(&t, "leaf0")->station;
		lane = wf_device_lane(named(&t, "leaf0"), 0, 0);
		/* It stands still soon after 10 us; the first that waits is old 131 us later. */
		assert_int_equal(wf_sim_run_until(t.r.sim, 10 * WF_US + life, &end), 0);
		assert_int_equal(lane->drops[WF_DROP_LIFE], 0);
		assert_true(lane->bytes > 100000);
		assert_int_equal(wf_sim_run_until(t.r.sim, 30 * WF_US + life, &end), 0);
		assert_true(lane->drops[WF_DROP_LIFE] > 30);
		t.r.sim->until = t.r.until;
		managed_run(&t);
		assert_int_equal(st->port[0].too_old, lane->drops[WF_DROP_LIFE]);
		assert_true(dropped == 0 || dropped == t.r.result->packets_dropped);
		dropped = t.r.result->packets_dropped;
		managed_fini(&t);
	}
	deaf(&t);
	managed_set(&t, "leaf_head_of_queue_lifetime", "20");
	managed_build(&t, 1);
	managed_run(&t);
	assert_int_equal(t.r.result->packets_dropped, 0);
	managed_fini(&t);
}

/* ---- lanes and sizes ---- */

/* A level that leads to a lane which is not in use is dropped and counted; folded, it passes. */
static void test_operational_lanes(void **state)
{
	struct managed t;

	(void)state;
	for (int qos = 0; qos <= 1; qos++) {
		two_levels(&t, 100000);
		rig_set(&t.r, "sender.timeout", "100us");
		managed_set(&t, "max_op_vls", "1");
		managed_set(&t, "qos", qos ? "true" : "false");
		t.r.until = 2 * WF_MS;
		managed_build(&t, 1);
		managed_run(&t);
		assert_int_not_equal(wf_sim_flow_end(t.r.sim, 0), WF_TIME_NEVER);
		assert_int_equal(wf_sim_flow_end(t.r.sim, 1) != WF_TIME_NEVER, qos);
		assert_int_equal(named(&t, "leaf0")->station->port[2].vl_errors,
		                 t.r.result->packets_dropped);
		assert_int_equal(t.r.result->packets_dropped != 0, !qos);
		managed_fini(&t);
	}
}

/* A program on h0 sets something of a port of a node, by its LID. */
static void set_port(struct managed *t, const char *name, unsigned port,
                     const struct wf_port_info *info, wf_time now)
{
	const struct wf_sma *sma = agent(t, name);
	bool is_switch = wf_sma_node(sma)->node_type == WF_NODE_SWITCH;
	struct wf_managed_mad mad = { .lid = wf_sma_port(sma, is_switch ? 0 : 1)->lid };
	struct wf_mad head = {
		.base_version = 1,
		.mgmt_class = WF_MAD_CLASS_SUBN_LID,
		.class_version = 1,
		.method = WF_MAD_METHOD_SET,
		.tid = UINT64_C(1) << 32,
		.attr_id = WF_SMP_PORT_INFO,
		.attr_mod = port | 0x80000000u,
	};

	wf_mad_encode(&head, mad.bytes);
	wf_port_info_encode(info, mad.bytes + WF_SMP_DATA);
	wf_managed_send(t->m, 0, &mad, now);
}

static struct wf_port_info port_info(const struct managed *t, const char *name, unsigned port)
{
	struct wf_port_info info = *wf_sma_port(agent(t, name), port);

	info.port_state = WF_PORT_NOP;
	info.port_physical_state = WF_PHYS_NOP;
	return info;
}

/* Packets that are longer than the neighbour's MTU are dropped, and counted where they come. */
static void test_neighbor_mtu(void **state)
{
	struct wf_port_info info;
	struct managed t;
	wf_time end;

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		bool far = i % 2 != 0; /* of the port to h0, or of that from h1 */
		const struct wf_device *sw;
		const struct wf_lane *lane;

		managed_init(&t, "single", 4);
		managed_topo(&t);
		rig_set(&t.r, "sender.timeout", "100us");
		rig_flow(&t.r, 1, 0, 100000, 200 * WF_US, 0);
		rig_flow(&t.r, 2, 3, 100000, 200 * WF_US, 0);
		for (size_t k = 0; k < 2; k++)
			t.r.flows.flow[k].op = i / 2 ? WF_FLOW_WRITE : WF_FLOW_WINDOW;
		t.r.until = 2 * WF_MS;
		managed_build(&t, 1);
		assert_int_equal(wf_sim_run_until(t.r.sim, WF_US, &end), 0);
		wf_sim_rest(t.r.sim, WF_US);
		info = port_info(&t, "leaf0", far ? 1 : 2);
		info.neighbor_mtu = wf_ib_mtu_encode(2048);
		set_port(&t, "leaf0", far ? 1 : 2, &info, wf_sim_now(t.r.sim));
		t.r.sim->until = t.r.until;
		managed_run(&t);
		sw = named(&t, "leaf0");
		assert_int_equal(wf_sma_port(agent(&t, "leaf0"), far ? 1 : 2)->neighbor_mtu,
		                 wf_ib_mtu_encode(2048));
		assert_int_equal(wf_sim_flow_end(t.r.sim, 0), WF_TIME_NEVER);
		assert_int_not_equal(wf_sim_flow_end(t.r.sim, 1), WF_TIME_NEVER);
		lane = wf_device_lane(sw, far ? 0 : 1, 0);
		assert_true(lane->drops[WF_DROP_MTU] > 10);
		assert_int_equal(lane->drops[WF_DROP_MTU], t.r.result->packets_dropped);
		assert_int_equal(sw->station->port[far ? 0 : 1].too_long,
		                 far ? 0 : lane->drops[WF_DROP_MTU]);
		managed_fini(&t);
	}
}

/* ---- links ---- */

/* Speeds and widths that are enabled count when the link trains, not before. */
static void test_training(void **state)
{
	static const struct {
		const char *option, *value;
		uint64_t gbps;
		unsigned width, speed;
	} rows[] = {
		{ "force_link_speed_ext", "2", 100, WF_WIDTH_4X, WF_SPEED_EDR },
		{ "force_link_speed_ext", "4", 200, WF_WIDTH_4X, WF_SPEED_HDR },
		{ "force_link_width", "1", 100, WF_WIDTH_1X, WF_SPEED_NDR },
		{ "force_link_speed_ext", "31", 400, WF_WIDTH_4X, WF_SPEED_NDR },
		{ "force_link_speed_ext", "30", 40, WF_WIDTH_4X, WF_SPEED_QDR },
	};
	struct managed t;

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++) {
		const struct wf_port_info *info;
		const uint64_t bytes = 4000000;
		wf_time took[2];

		managed_init(&t, "single", 4);
		managed_set(&t, rows[i].option, rows[i].value);
		managed_topo(&t);
		fault(&t, "h1", "leaf0", WF_MS, true);
		fault(&t, "h1", "leaf0", 2 * WF_MS, false);
		rig_flow(&t.r, 1, 0, bytes, 0, 0);
		rig_flow(&t.r, 1, 0, bytes, 4 * WF_S, 0);
		t.r.until = 5 * WF_S;
		managed_build(&t, 1);
		managed_run(&t);
		assert_true(t.r.result->finished);
		assert_int_equal(t.r.result->packets_dropped, 0);
		took[0] = wf_sim_flow_end(t.r.sim, 0);
		took[1] = wf_sim_flow_end(t.r.sim, 1) - 4 * WF_S;
		/* 4 MB at 400 Gb/s are 80 us; headers and the way there come on top. */
		assert_in_range(took[0], 80 * WF_US, 84 * WF_US);
		assert_in_range(took[1], 32000 * WF_US / (wf_time)rows[i].gbps,
		                34000 * WF_US / (wf_time)rows[i].gbps);
		assert_int_equal(named(&t, "h1")->ports[0].rate, rows[i].gbps * 1000000000);
		assert_int_equal(named(&t, "leaf0")->ports[1].rate, rows[i].gbps * 1000000000);
		assert_int_equal(named(&t, "leaf0")->ports[0].rate, UINT64_C(400000000000));
		info = wf_sma_port(agent(&t, "h1"), 1);
		assert_int_equal(info->link_width_active, rows[i].width);
		assert_int_equal(wf_ib_speed_active(info, info), rows[i].speed);
		managed_fini(&t);
	}
}

/* Ports of InfiniBand have 1, 2, 4, 8 or 15 lanes: no other number can be said in PortInfo. */
static void test_lane_numbers(void **state)
{
	struct managed t;

	(void)state;
	for (unsigned n = 1; n <= 15; n++) {
		bool can = n == 1 || n == 2 || n == 4 || n == 8 || n == 15;
		struct wf_err err = { "" };
		char text[4];

		snprintf(text, sizeof(text), "%u", n);
		managed_init(&t, "single", 2);
		rig_set(&t.r, "vl.count", text);
		managed_topo(&t);
		assert_int_equal(wf_managed_create(&t.cfg, t.r.topo, wf_mem_heap(), &t.m, &err), 0);
		t.r.manager = wf_managed_manager(t.m);
		assert_int_equal(rig_build(&t.r, 1, &err), can ? 0 : -EINVAL);
		assert_int_equal(strstr(err.text, "vl.count") != NULL, !can);
		managed_fini(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares),       cmocka_unit_test(test_lane_left_out),
		cmocka_unit_test(test_same_tables),  cmocka_unit_test(test_head_life),
		cmocka_unit_test(test_switch_life),  cmocka_unit_test(test_operational_lanes),
		cmocka_unit_test(test_neighbor_mtu), cmocka_unit_test(test_training),
		cmocka_unit_test(test_lane_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
