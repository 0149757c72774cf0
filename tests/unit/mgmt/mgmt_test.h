/* SPDX-License-Identifier: Apache-2.0 */
/* mgmt_test.h - what the tests of agents share: requests, and what the hardware was told. */
#ifndef WF_TESTS_MGMT_TEST_H
#define WF_TESTS_MGMT_TEST_H

#include "check.h"

#include <string.h>

#include "base/rng.h"
#include "mem_fail.h"
#include "mgmt/sma.h"
#include "wire/byte.h"

/* The hardware below an agent: it only remembers. */
struct test_hw {
	unsigned port, what; /* of the last calls, all bits together */
	unsigned calls;
	unsigned physical_port; /* 0: it was not called */
	enum wf_port_phys physical;
};

static inline void test_hw_changed(void *arg, unsigned port, unsigned what)
{
	struct test_hw *hw = arg;

	hw->port = port;
	hw->what |= what;
	hw->calls++;
}

static inline void test_hw_physical(void *arg, unsigned port, enum wf_port_phys to)
{
	struct test_hw *hw = arg;

	hw->physical_port = port;
	hw->physical = to;
}

static const struct wf_sma_ops test_hw_ops = {
	.changed = test_hw_changed,
	.physical = test_hw_physical,
};

static inline void test_sma_cfg(struct wf_sma_cfg *cfg, struct test_hw *hw, bool is_switch,
                                unsigned n_ports)
{
	wf_sma_cfg_init(cfg, is_switch);
	cfg->n_ports = (uint8_t)n_ports;
	cfg->node_guid = cfg->system_image_guid = 0x1000;
	cfg->port_guid = is_switch ? 0x1000 : 0x1001;
	cfg->vendor_id = 0x2c9;
	cfg->device_id = 0x1234;
	cfg->description = is_switch ? "leaf1" : "h1 weft0";
	cfg->ops = &test_hw_ops;
	cfg->arg = hw;
	memset(hw, 0, sizeof(*hw));
}

/* A switch or an adapter, in memory that may fail. */
static inline struct wf_sma *test_sma(struct test_hw *hw, bool is_switch, unsigned n_ports,
                                      struct wf_mem *mem)
{
	struct wf_sma_cfg cfg;
	struct wf_sma *sma;

	test_sma_cfg(&cfg, hw, is_switch, n_ports);
	return wf_sma_create(&cfg, mem, &sma) == 0 ? sma : NULL;
}

/* A request of a class: the rest of the MAD is 0. */
static inline void test_request(uint8_t *mad, uint8_t class, uint8_t version, uint8_t method,
                                uint16_t attr_id, uint32_t modifier)
{
	struct wf_mad h = {
		.base_version = 1,
		.mgmt_class = class,
		.class_version = version,
		.method = method,
		.tid = 0x1122,
		.attr_id = attr_id,
		.attr_mod = modifier,
	};

	memset(mad, 0, WF_MAD_LEN);
	wf_mad_encode(&h, mad);
}

/* The status of an answer, without the direction. */
static inline unsigned test_status(const uint8_t *mad)
{
	assert_int_equal(mad[3], WF_MAD_METHOD_GET_RESP);
	return wf_be16_get(mad + 4) & 0x7fffU;
}

/* An SMP in, and its answer's status. */
static inline unsigned test_smp(struct wf_sma *sma, unsigned in_port, uint8_t *mad, uint8_t method,
                                uint16_t attr_id, uint32_t modifier)
{
	uint8_t data[WF_SMP_DATA_LEN];
	uint64_t mkey = wf_be64_get(mad + 24);

	memcpy(data, mad + WF_SMP_DATA, sizeof(data));
	test_request(mad, WF_MAD_CLASS_SUBN_LID, 1, method, attr_id, modifier);
	wf_be64_put(mad + 24, mkey);
	memcpy(mad + WF_SMP_DATA, data, sizeof(data));
	assert_int_equal(wf_sma_rx(sma, in_port, mad, 0), WF_SMA_ANSWER);
	return test_status(mad);
}

#endif
