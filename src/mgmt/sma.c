/* SPDX-License-Identifier: Apache-2.0 */
/* sma.c - the subnet management agent: what comes in, who may, and which attribute it is for. */
#include "mgmt/sma_priv.h"

#include <errno.h>
#include <string.h>

#include "mgmt/agent_priv.h"

#define CLASS_VERSION 1
#define NODE_VERSION 1
#define GID_PREFIX UINT64_C(0xfe80000000000000)
#define SUBNET_TIMEOUT 18

void wf_sma_cfg_init(struct wf_sma_cfg *cfg, bool is_switch)
{
	*cfg = (struct wf_sma_cfg){
		.is_switch = is_switch,
		.description = is_switch ? "switch" : "adapter",
		.partition_cap = is_switch ? 32 : 128,
		.enforcement_cap = is_switch ? 32 : 0,
		.guid_cap_blocks = is_switch ? 1 : 16,
		.vls = 8,
		.vl_arb_cap = 8,
		.mtu = 4096,
		.widths = WF_WIDTH_4X,
		.speeds = WF_SPEED_SDR | WF_SPEED_DDR | WF_SPEED_QDR | WF_SPEED_FDR | WF_SPEED_EDR,
		.lft_cap = 49152,
		.mft_cap = 16384,
		.resp_time = 16,
	};
}

static uint32_t capabilities(const struct wf_sma_cfg *cfg)
{
	uint32_t mask = cfg->capability_mask | WF_CAP_TRAP | WF_CAP_SL_MAPPING |
	                WF_CAP_SYSTEM_IMAGE_GUID | WF_CAP_LED_INFO | WF_CAP_DR_NOTICE |
	                WF_CAP_CAP_MASK_NOTICE | WF_CAP_OTHER_LOCAL_CHANGES |
	                WF_CAP_CLIENT_REREGISTER;

	if (cfg->is_switch && cfg->enforcement_cap > 0)
		mask |= WF_CAP_PKEY_SWITCH_TRAP;
	if (cfg->is_switch && cfg->mft_cap > 0)
		mask |= WF_CAP_MULTICAST_FDB_TOP;
	return mask;
}

static void init_port(struct wf_sma *sma, const struct wf_sma_cfg *cfg, unsigned p)
{
	struct wf_sma_port *port = &sma->port[p];
	struct wf_port_info *info = &port->info;
	bool is_end = wf_sma_is_end(sma, p);

	port->lease_ends = WF_TIME_NEVER;
	info->gid_prefix = GID_PREFIX;
	info->capability_mask = capabilities(cfg);
	info->capability_mask2 = (cfg->widths & WF_WIDTH_2X) != 0 ? WF_CAP2_WIDTH_2X : 0;
	info->link_width_supported = info->link_width_enabled = (uint8_t)cfg->widths;
	info->link_width_active = WF_WIDTH_4X;
	wf_ib_speed_put(info, cfg->speeds, cfg->speeds, WF_SPEED_SDR);
	info->port_state = p == 0 ? WF_PORT_ACTIVE : WF_PORT_DOWN;
	info->port_physical_state = p == 0 ? WF_PHYS_LINK_UP : WF_PHYS_POLLING;
	info->link_down_default_state = WF_PHYS_POLLING;
	info->mtu_cap = wf_ib_mtu_encode(cfg->mtu);
	info->neighbor_mtu = 1;
	info->vl_cap = wf_ib_vls_encode(cfg->vls);
	info->operational_vls = info->vl_cap;
	info->vl_arb_high_cap = info->vl_arb_low_cap = cfg->vl_arb_cap;
	info->subnet_timeout = SUBNET_TIMEOUT;
	info->resp_time_value = cfg->resp_time;
	info->guid_cap = (uint8_t)wf_min_u64(cfg->guid_cap_blocks * WF_GUIDS_PER_BLOCK, 255);
	info->local_phy_errors = info->overrun_errors = 8;
	if (!is_end) {
		/* these are port 0's */
		info->gid_prefix = 0;
		info->capability_mask = 0;
		info->capability_mask2 = 0;
		info->guid_cap = 0;
		info->subnet_timeout = 0;
	}
}

static void init_switch(struct wf_switch_info *sw, const struct wf_sma_cfg *cfg)
{
	*sw = (struct wf_switch_info){
		.linear_fdb_cap = cfg->lft_cap,
		.multicast_fdb_cap = cfg->mft_cap,
		.default_multicast_primary_port = WF_SMA_LFT_NONE,
		.default_multicast_not_primary_port = WF_SMA_LFT_NONE,
		.optimized_sl_to_vl = 1,
		.partition_enforcement_cap = cfg->enforcement_cap,
		.inbound_enforcement_cap = cfg->enforcement_cap > 0,
		.outbound_enforcement_cap = cfg->enforcement_cap > 0,
		.filter_raw_inbound_cap = true,
		.filter_raw_outbound_cap = true,
		.enhanced_port0 = true,
	};
}

int wf_sma_create(const struct wf_sma_cfg *cfg, struct wf_mem *mem, struct wf_sma **sma_p)
{
	struct wf_sma *sma =
		mem->alloc(mem, sizeof(*sma) + (cfg->n_ports + 1U) * sizeof(sma->port[0]));

	assert(cfg->n_ports >= 1 && cfg->n_ports < 255 && cfg->vl_arb_cap <= 64);
	assert(cfg->guid_cap_blocks >= 1 && cfg->partition_cap >= 1);
	if (sma == NULL)
		return -ENOMEM;
	sma->mem = mem;
	sma->ops = cfg->ops;
	sma->arg = cfg->arg;
	sma->is_switch = cfg->is_switch;
	sma->n_ports = cfg->n_ports;
	sma->vl_arb_cap = cfg->vl_arb_cap;
	sma->guid_blocks = cfg->guid_cap_blocks;
	sma->port_guid = cfg->port_guid;
	sma->guid_step = cfg->guid_step == 0 ? 1 : cfg->guid_step;
	sma->node = (struct wf_node_info){
		.base_version = NODE_VERSION,
		.class_version = NODE_VERSION,
		.node_type = cfg->is_switch ? WF_NODE_SWITCH : WF_NODE_CA,
		.num_ports = cfg->n_ports,
		.system_image_guid = cfg->system_image_guid,
		.node_guid = cfg->node_guid,
		.partition_cap = cfg->partition_cap,
		.device_id = cfg->device_id,
		.revision = cfg->revision,
		.vendor_id = cfg->vendor_id,
	};
	memcpy(sma->description.text, cfg->description,
	       strnlen(cfg->description, WF_NODE_DESCRIPTION_LEN - 1));
	assert(cfg->group_cap <= WF_GROUPS_MAX);
	if (cfg->is_switch) {
		init_switch(&sma->sw, cfg);
		sma->adaptive.group_cap = cfg->group_cap;
	}
	for (unsigned p = wf_sma_first_port(sma); p <= cfg->n_ports; p++)
		init_port(sma, cfg, p);
	*sma_p = sma;
	return 0;
}

void wf_sma_destroy(struct wf_sma *sma)
{
	if (sma == NULL)
		return;
	for (unsigned p = 0; p <= sma->n_ports; p++) {
		sma->mem->free(sma->mem, sma->port[p].pkeys);
		sma->mem->free(sma->mem, sma->port[p].guids);
		sma->mem->free(sma->mem, sma->port[p].vl_arb);
		sma->mem->free(sma->mem, sma->port[p].sl_to_vl_in);
	}
	for (unsigned i = 0;
	     sma->mft != NULL && i < wf_sma_mft_positions(sma) * wf_sma_mft_blocks(sma); i++)
		sma->mem->free(sma->mem, sma->mft[i]);
	sma->mem->free(sma->mem, sma->mft);
	sma->mem->free(sma->mem, sma->lft);
	sma->mem->free(sma->mem, sma->group_of);
	sma->mem->free(sma->mem, sma->groups);
	wf_sma_free_traps(sma);
	sma->mem->free(sma->mem, sma);
}

static unsigned node_description(struct wf_sma *sma, unsigned end, uint32_t modifier, bool set,
                                 uint8_t *data, wf_time now)
{
	(void)end, (void)set, (void)now;
	if (modifier != 0)
		return WF_MAD_INVALID_FIELD;
	wf_node_description_encode(&sma->description, data);
	return WF_MAD_OK;
}

static unsigned led_info(struct wf_sma *sma, unsigned end, uint32_t modifier, bool set,
                         uint8_t *data, wf_time now)
{
	unsigned port = sma->is_switch || modifier != 0 ? modifier : end;
	struct wf_led_info led;

	(void)now;
	if (!wf_sma_has_port(sma, port))
		return WF_MAD_INVALID_FIELD;
	if (set) {
		wf_led_info_decode(data, &led);
		sma->port[port].led = led.led_mask;
		wf_sma_changed(sma, port, WF_SMA_LED);
	}
	led.led_mask = sma->port[port].led;
	wf_led_info_encode(&led, data);
	return WF_MAD_OK;
}

/* NodeInfo's port is the one by which the request came in, also a switch's external one. */
static unsigned node_info(struct wf_sma *sma, unsigned in_port, uint32_t modifier, uint8_t *data)
{
	struct wf_node_info info = sma->node;
	unsigned end = sma->is_switch || in_port != 0 ? in_port : 1;

	if (modifier != 0)
		return WF_MAD_INVALID_FIELD;
	info.local_port_num = (uint8_t)end;
	info.port_guid = wf_sma_guid(sma, sma->is_switch ? 0 : end, 0);
	wf_node_info_encode(&info, data);
	return WF_MAD_OK;
}

static const struct attr {
	uint16_t id;
	bool sets, switches;
	wf_sma_attr_fn *fn;
} attrs[] = {
	{ WF_SMP_NODE_DESCRIPTION, false, false, node_description },
	{ WF_SMP_SWITCH_INFO, true, true, wf_sma_switch_info },
	{ WF_SMP_GUID_INFO, true, false, wf_sma_guid_info },
	{ WF_SMP_PORT_INFO, true, false, wf_sma_port_info },
	{ WF_SMP_PKEY_TABLE, true, false, wf_sma_pkey_table },
	{ WF_SMP_SL_TO_VL, true, false, wf_sma_sl_to_vl_table },
	{ WF_SMP_VL_ARB, true, false, wf_sma_vl_arb_table },
	{ WF_SMP_LINEAR_FT, true, true, wf_sma_linear_ft },
	{ WF_SMP_MULTICAST_FT, true, true, wf_sma_multicast_ft },
	{ WF_SMP_LED_INFO, true, false, led_info },
	{ WF_SMP_ADAPTIVE_INFO, true, true, wf_sma_adaptive_info },
	{ WF_SMP_ADAPTIVE_GROUPS, true, true, wf_sma_adaptive_groups },
	{ WF_SMP_ADAPTIVE_LIDS, true, true, wf_sma_adaptive_lids },
};

static unsigned attribute(struct wf_sma *sma, unsigned in_port, unsigned end,
                          const struct wf_mad *h, uint8_t *data, wf_time now)
{
	bool set = h->method == WF_MAD_METHOD_SET;

	if (!set)
		memset(data, 0, WF_SMP_DATA_LEN);
	if (h->attr_id == WF_SMP_NODE_INFO)
		return set ? WF_MAD_BAD_ATTRIBUTE : node_info(sma, in_port, h->attr_mod, data);
	for (unsigned i = 0; i < WF_ARRAY_SIZE(attrs); i++) {
		const struct attr *a = &attrs[i];

		if (a->id == h->attr_id && (a->sets || !set) && (sma->is_switch || !a->switches))
			return a->fn(sma, end, h->attr_mod, set, data, now);
	}
	return WF_MAD_BAD_ATTRIBUTE;
}

/*
 * The M_Key of the port that the SMP came to (14.2.4): it may be what a manager knows, or nobody
 * has set one. Of what is protected a wrong one gets no answer, is counted and trapped, and begins
 * the lease, after which anybody may read the key.
 */
static bool check_mkey(struct wf_sma *sma, unsigned end, const struct wf_mad *h, const uint8_t *mad,
                       wf_time now)
{
	struct wf_sma_port *port = &sma->port[end];
	struct wf_port_info *info = &port->info;
	struct wf_smp smp;

	wf_smp_decode(mad, &smp);
	if (info->mkey == 0 || smp.mkey == info->mkey) {
		port->lease_ends = WF_TIME_NEVER;
		return true;
	}
	if (h->method == WF_MAD_METHOD_GET && info->mkey_protect_bits < 2)
		return true;
	if (info->mkey_violations < UINT16_MAX)
		info->mkey_violations++;
	if (port->lease_ends == WF_TIME_NEVER && info->mkey_lease_period != 0)
		port->lease_ends = now + info->mkey_lease_period * WF_S;
	wf_sma_bad_mkey(sma, end, mad, now);
	return false;
}

/* At protection level 1, who does not know the key does not read it either. */
static void hide_mkey(struct wf_sma *sma, unsigned end, const struct wf_mad *h, uint8_t *mad)
{
	const struct wf_port_info *info = &sma->port[end].info;
	struct wf_smp smp;

	wf_smp_decode(mad, &smp);
	if (h->attr_id == WF_SMP_PORT_INFO && h->method == WF_MAD_METHOD_GET &&
	    info->mkey_protect_bits == 1 && info->mkey != smp.mkey)
		memset(mad + WF_SMP_DATA, 0, sizeof(info->mkey));
}

/* SMInfo, and what agents do not get. */
static bool is_for_sm(const struct wf_mad *h)
{
	if (h->method == WF_MAD_METHOD_TRAP_REPRESS)
		return false;
	return wf_mad_is_response(h->method) || h->method == WF_MAD_METHOD_TRAP ||
	       (h->attr_id == WF_SMP_SM_INFO &&
	        (h->method == WF_MAD_METHOD_GET || h->method == WF_MAD_METHOD_SET));
}

enum wf_sma_verdict wf_sma_rx(struct wf_sma *sma, unsigned in_port, uint8_t *mad, wf_time now)
{
	unsigned end = sma->is_switch ? 0 : in_port == 0 ? 1 : in_port, status;
	struct wf_mad h;

	wf_mad_decode(mad, &h);
	if (in_port > sma->n_ports ||
	    (h.mgmt_class != WF_MAD_CLASS_SUBN_LID && h.mgmt_class != WF_MAD_CLASS_SUBN_DR))
		return WF_SMA_DROP;
	if (is_for_sm(&h))
		return WF_SMA_FOR_SM;
	sma->in_port = in_port;
	wf_sma_tick(sma, now);
	if (h.method == WF_MAD_METHOD_TRAP_REPRESS) {
		if (check_mkey(sma, end, &h, mad, now))
			wf_sma_repress(sma, h.tid);
		return WF_SMA_DROP;
	}
	status = wf_agent_check(&h, CLASS_VERSION);
	if (status == WF_MAD_OK && !check_mkey(sma, end, &h, mad, now))
		return WF_SMA_DROP;
	if (status == WF_MAD_OK)
		status = attribute(sma, in_port, end, &h, mad + WF_SMP_DATA, now);
	if (status == WF_MAD_OK)
		hide_mkey(sma, end, &h, mad);
	wf_agent_answer(mad, status);
	return WF_SMA_ANSWER;
}

static void count16(uint16_t *counter)
{
	if (*counter < UINT16_MAX)
		(*counter)++;
}

void wf_sma_violation(struct wf_sma *sma, unsigned port, uint16_t trap,
                      const struct wf_trap_key *key, wf_time now)
{
	unsigned end = sma->is_switch ? 0 : port;
	struct wf_port_info *info = &sma->port[port].info;
	struct wf_sma_event event = { trap, (uint8_t)end, WF_NOTICE_SECURITY, &wf_trap_key_layout,
		                      key };
	struct wf_trap_switch_key d = {
		.data_valid = WF_TRAP_VALID_LID1 | WF_TRAP_VALID_LID2 | WF_TRAP_VALID_PKEY |
		              WF_TRAP_VALID_SL,
		.lid1 = key->lid1,
		.lid2 = key->lid2,
		.pkey = (uint16_t)key->key,
		.sl = key->sl,
		.qp1 = key->qp1,
		.qp2 = key->qp2,
		.switch_lid = sma->port[end].info.lid,
		.port = (uint8_t)port,
	};

	assert(trap == WF_TRAP_BAD_PKEY || trap == WF_TRAP_BAD_QKEY ||
	       trap == WF_TRAP_BAD_SWITCH_PKEY);
	count16(trap == WF_TRAP_BAD_QKEY ? &info->qkey_violations : &info->pkey_violations);
	if (trap == WF_TRAP_BAD_SWITCH_PKEY) {
		memcpy(d.gid1, key->gid1, sizeof(d.gid1));
		memcpy(d.gid2, key->gid2, sizeof(d.gid2));
		event.layout = &wf_trap_switch_key_layout;
		event.details = &d;
	}
	wf_sma_raise(sma, &event, now);
}

void wf_sma_threshold(struct wf_sma *sma, unsigned port, uint16_t trap, wf_time now)
{
	unsigned end = sma->is_switch ? 0 : port;
	struct wf_trap_port d = { .lid = sma->port[end].info.lid, .port = (uint8_t)port };

	assert(trap >= WF_TRAP_LINK_INTEGRITY && trap <= WF_TRAP_FLOW_WATCHDOG);
	wf_sma_raise(sma,
	             &(struct wf_sma_event){ trap, (uint8_t)end, WF_NOTICE_URGENT,
	                                     &wf_trap_port_layout, &d },
	             now);
}

/* Trap 144 of a port. */
static void local_change(struct wf_sma *sma, unsigned end, uint16_t flags, wf_time now)
{
	const struct wf_port_info *info = &sma->port[end].info;
	struct wf_trap_change d = {
		.lid = info->lid,
		.other_local_changes = flags != 0,
		.capability_mask = info->capability_mask,
		.change_flags = flags,
		.capability_mask2 = info->capability_mask2,
	};

	wf_sma_raise(sma,
	             &(struct wf_sma_event){ WF_TRAP_LOCAL_CHANGE, (uint8_t)end, WF_NOTICE_INFO,
	                                     &wf_trap_change_layout, &d },
	             now);
}

void wf_sma_set_description(struct wf_sma *sma, const char *text, wf_time now)
{
	memset(sma->description.text, 0, WF_NODE_DESCRIPTION_LEN);
	memcpy(sma->description.text, text, strnlen(text, WF_NODE_DESCRIPTION_LEN - 1));
	for (unsigned p = wf_sma_first_port(sma); p <= (sma->is_switch ? 0 : sma->n_ports); p++)
		local_change(sma, p, WF_CHANGE_NODE_DESCRIPTION, now);
}

void wf_sma_set_capability(struct wf_sma *sma, unsigned port, uint32_t set, uint32_t clear,
                           wf_time now)
{
	struct wf_port_info *info = &sma->port[port].info;
	uint32_t mask = (info->capability_mask & ~clear) | set;

	assert(wf_sma_is_end(sma, port) && wf_sma_has_port(sma, port));
	if (mask == info->capability_mask)
		return;
	info->capability_mask = mask;
	local_change(sma, port, 0, now);
}

const struct wf_port_info *wf_sma_port(const struct wf_sma *sma, unsigned port)
{
	assert(wf_sma_has_port(sma, port));
	return &sma->port[port].info;
}

const struct wf_switch_info *wf_sma_switch(const struct wf_sma *sma)
{
	return &sma->sw;
}

const struct wf_node_info *wf_sma_node(const struct wf_sma *sma)
{
	return &sma->node;
}
