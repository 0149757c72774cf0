/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sma_port.c - PortInfo: what a Set may change, and the port's state machine (IBTA vol. 1, 7.2.7
 * and 14.2.5.6).
 *
 * A Set is looked at whole before anything of it counts: set_link() and the others write into a
 * copy, which takes the port's place when nothing was wrong.
 */
#include "mgmt/sma_priv.h"

#include <string.h>

#include "wire/ib.h"

#define MODIFIER_PORT UINT32_C(0xff)
#define MODIFIER_EXTENDED UINT32_C(0x80000000) /* who asks knows of extended speeds */
#define WIDTH_ALL 255
#define SPEED_ALL 15
#define EXT_SPEED_NONE 30
#define EXT_SPEED_ALL 31
#define EXT2_SPEED_ALL 7

/* What is being set on a port: what is there, what was asked for, what will be. */
struct set {
	const struct wf_sma *sma;
	const struct wf_port_info *old, *asked;
	struct wf_port_info *info;
	unsigned what;
	bool bad;
	enum wf_port_phys physical; /* the link goes there; NOP: it stays */
};

#define SET(s, member, bits)                                                                       \
	do {                                                                                       \
		if ((s)->info->member != (s)->asked->member)                                       \
			(s)->what |= (bits);                                                       \
		(s)->info->member = (s)->asked->member;                                            \
	} while (0)

static bool is_unicast(uint16_t lid)
{
	return lid != 0 && lid < WF_LID_MULTICAST;
}

/* What only an end of a subnet has: an adapter's port, or a switch's port 0. */
static void set_end(struct set *s)
{
	const struct wf_port_info *asked = s->asked, *old = s->old;

	if ((asked->lid != old->lid && !is_unicast(asked->lid)) ||
	    (asked->master_sm_lid != old->master_sm_lid && !is_unicast(asked->master_sm_lid)))
		s->bad = true;
	SET(s, mkey, 0);
	SET(s, mkey_lease_period, 0);
	SET(s, mkey_protect_bits, 0);
	SET(s, gid_prefix, WF_SMA_LID);
	SET(s, lid, WF_SMA_LID);
	SET(s, lmc, WF_SMA_LID);
	SET(s, master_sm_lid, WF_SMA_SM);
	SET(s, master_sm_sl, WF_SMA_SM);
	SET(s, subnet_timeout, WF_SMA_SM);
	SET(s, init_type, 0);
	SET(s, multicast_pkey_trap_suppression, 0);
	if (asked->client_reregister)
		s->what |= WF_SMA_REREGISTER;
	/* these count; a Set can only begin anew */
	if (asked->mkey_violations == 0)
		s->info->mkey_violations = 0;
	if (asked->pkey_violations == 0)
		s->info->pkey_violations = 0;
	if (asked->qkey_violations == 0)
		s->info->qkey_violations = 0;
}

/* A set of widths or speeds: none of them stays as it was, all is what is supported. */
static uint8_t set_of(struct set *s, uint8_t asked, uint8_t supported, uint8_t old, uint8_t all)
{
	if (asked == 0)
		return old;
	if (asked == all)
		return supported;
	if ((asked & ~supported) != 0)
		s->bad = true;
	return asked;
}

static void set_link(struct set *s, bool extended)
{
	const struct wf_port_info *asked = s->asked, *old = s->old;
	struct wf_port_info *info = s->info;

	info->link_width_enabled = set_of(s, asked->link_width_enabled, old->link_width_supported,
	                                  old->link_width_enabled, WIDTH_ALL);
	info->link_speed_enabled = set_of(s, asked->link_speed_enabled, old->link_speed_supported,
	                                  old->link_speed_enabled, SPEED_ALL);
	if (extended && asked->link_speed_ext_enabled == EXT_SPEED_NONE) {
		info->link_speed_ext_enabled = 0;
		info->link_speed_ext_enabled2 = 0;
	} else if (extended) {
		info->link_speed_ext_enabled =
			set_of(s, asked->link_speed_ext_enabled, old->link_speed_ext_supported,
		               old->link_speed_ext_enabled, EXT_SPEED_ALL);
		info->link_speed_ext_enabled2 =
			set_of(s, asked->link_speed_ext_enabled2, old->link_speed_ext_supported2,
		               old->link_speed_ext_enabled2, EXT2_SPEED_ALL);
	}
	if (info->link_width_enabled != old->link_width_enabled ||
	    info->link_speed_enabled != old->link_speed_enabled ||
	    info->link_speed_ext_enabled != old->link_speed_ext_enabled ||
	    info->link_speed_ext_enabled2 != old->link_speed_ext_enabled2)
		s->what |= WF_SMA_LINK;
	if (asked->link_down_default_state > WF_PHYS_POLLING)
		s->bad = true;
	if (asked->link_down_default_state != 0)
		info->link_down_default_state = asked->link_down_default_state;
}

static void set_lanes(struct set *s)
{
	const struct wf_port_info *asked = s->asked, *old = s->old;

	if (asked->neighbor_mtu == 0 || asked->neighbor_mtu > old->mtu_cap ||
	    asked->operational_vls > old->vl_cap)
		s->bad = true;
	SET(s, neighbor_mtu, WF_SMA_MTU_VLS);
	if (asked->operational_vls != 0)
		SET(s, operational_vls, WF_SMA_MTU_VLS);
	SET(s, vl_high_limit, WF_SMA_QOS);
	SET(s, vl_stall_count, WF_SMA_QOS);
	SET(s, hoq_life, WF_SMA_QOS);
	SET(s, local_phy_errors, 0);
	SET(s, overrun_errors, 0);
}

/* Of a switch's external port. */
static void set_enforcement(struct set *s)
{
	const struct wf_switch_info *sw = wf_sma_switch(s->sma);
	const struct wf_port_info *asked = s->asked;

	if ((asked->partition_enforcement_inbound && !sw->inbound_enforcement_cap) ||
	    (asked->partition_enforcement_outbound && !sw->outbound_enforcement_cap) ||
	    (asked->filter_raw_inbound && !sw->filter_raw_inbound_cap) ||
	    (asked->filter_raw_outbound && !sw->filter_raw_outbound_cap))
		s->bad = true;
	SET(s, partition_enforcement_inbound, WF_SMA_ENFORCE);
	SET(s, partition_enforcement_outbound, WF_SMA_ENFORCE);
	SET(s, filter_raw_inbound, WF_SMA_ENFORCE);
	SET(s, filter_raw_outbound, WF_SMA_ENFORCE);
}

/* The states that a manager may set, and from where. */
static bool may_set_state(uint8_t from, uint8_t to)
{
	switch (to) {
	case WF_PORT_NOP:
	case WF_PORT_DOWN:
		return true;
	case WF_PORT_ARMED:
		return from == WF_PORT_INIT || from == WF_PORT_ARMED;
	case WF_PORT_ACTIVE:
		return from == WF_PORT_ARMED || from == WF_PORT_ACTIVE;
	default:
		return false;
	}
}

static void set_state(struct set *s, unsigned port)
{
	uint8_t state = s->asked->port_state, phys = s->asked->port_physical_state;
	bool takes_down = state == WF_PORT_DOWN || phys != WF_PHYS_NOP;

	if (!may_set_state(s->old->port_state, state) || phys > WF_PHYS_DISABLED ||
	    (phys != WF_PHYS_NOP && state > WF_PORT_DOWN)) {
		s->bad = true;
		return;
	}
	/* a switch's own port has no link that could be taken down */
	if (port == 0) {
		s->bad = s->bad || takes_down;
		return;
	}
	if (takes_down && phys == WF_PHYS_NOP && s->old->port_physical_state == WF_PHYS_LINK_UP) {
		/* The link stays, and both of its ends begin anew: 7.2.7. */
		s->physical = WF_PHYS_LINK_UP;
		s->info->port_state = WF_PORT_INIT;
	} else if (takes_down) {
		s->physical = phys != WF_PHYS_NOP
		                      ? (enum wf_port_phys)phys
		                      : (enum wf_port_phys)s->info->link_down_default_state;
		s->info->port_state = WF_PORT_DOWN;
		s->info->port_physical_state = (uint8_t)s->physical;
	} else if (state != WF_PORT_NOP) {
		s->info->port_state = state;
	}
	if (s->info->port_state != s->old->port_state)
		s->what |= WF_SMA_STATE;
}

static unsigned set_port(struct wf_sma *sma, unsigned port, bool extended,
                         const struct wf_port_info *asked)
{
	struct wf_port_info info = sma->port[port].info;
	struct set s = {
		.sma = sma,
		.old = &sma->port[port].info,
		.asked = asked,
		.info = &info,
		.physical = WF_PHYS_NOP,
	};
	if (wf_sma_is_end(sma, port))
		set_end(&s);
	else
		set_enforcement(&s);
	if (port != 0)
		set_link(&s, extended);
	set_lanes(&s);
	set_state(&s, port);
	if (s.bad)
		return WF_MAD_INVALID_FIELD;
	sma->port[port].info = info;
	if (s.physical != WF_PHYS_NOP)
		wf_sma_forget_traps(sma, port);
	wf_sma_changed(sma, port, s.what);
	if (s.physical != WF_PHYS_NOP)
		sma->ops->physical(sma->arg, port, s.physical);
	return WF_MAD_OK;
}

unsigned wf_sma_port_info(struct wf_sma *sma, unsigned end, uint32_t modifier, bool set,
                          uint8_t *data, wf_time now)
{
	unsigned port = modifier & MODIFIER_PORT, status = WF_MAD_OK;
	struct wf_port_info info;
	bool reregister = false;

	(void)now;
	if (port == 0)
		port = end;
	if ((modifier & ~(MODIFIER_PORT | MODIFIER_EXTENDED)) != 0 || !wf_sma_has_port(sma, port))
		return WF_MAD_INVALID_FIELD;
	if (set) {
		wf_port_info_decode(data, &info);
		reregister = info.client_reregister && wf_sma_is_end(sma, port);
		status = set_port(sma, port, (modifier & MODIFIER_EXTENDED) != 0, &info);
	}
	info = sma->port[port].info;
	/* o14-12.2.1: who set it sees it in the answer, and nobody later */
	info.client_reregister = reregister && status == WF_MAD_OK;
	info.local_port_num = (uint8_t)(sma->is_switch ? sma->in_port : end);
	wf_port_info_encode(&info, data);
	return status;
}

/* A switch's port has come up or gone down by itself: PortStateChange, and trap 128. */
static void state_changed(struct wf_sma *sma, unsigned port, wf_time now)
{
	wf_sma_changed(sma, port, WF_SMA_STATE);
	if (!sma->is_switch)
		return;
	sma->sw.port_state_change = true;
	wf_sma_raise(sma,
	             &(struct wf_sma_event){
			     WF_TRAP_LINK_STATE, 0, WF_NOTICE_URGENT, &wf_trap_lid_layout,
			     &(struct wf_trap_lid){ .lid = sma->port[0].info.lid } },
	             now);
}

void wf_sma_link_up(struct wf_sma *sma, unsigned port, unsigned width, unsigned speed, wf_time now)
{
	struct wf_port_info *info = &sma->port[port].info;
	struct wf_port_info active = { .mkey = 0 };

	assert(port >= 1 && port <= sma->n_ports);
	if (info->port_physical_state == WF_PHYS_LINK_UP)
		return;
	wf_ib_speed_put(&active, 0, 0, speed);
	info->link_width_active = (uint8_t)width;
	info->link_speed_active = active.link_speed_active;
	info->link_speed_ext_active = active.link_speed_ext_active;
	info->link_speed_ext_active2 = active.link_speed_ext_active2;
	info->port_physical_state = WF_PHYS_LINK_UP;
	info->port_state = WF_PORT_INIT;
	state_changed(sma, port, now);
}

void wf_sma_link_down(struct wf_sma *sma, unsigned port, wf_time now)
{
	struct wf_port_info *info = &sma->port[port].info;

	assert(port >= 1 && port <= sma->n_ports);
	if (info->port_physical_state != WF_PHYS_LINK_UP)
		return;
	info->port_physical_state = info->link_down_default_state;
	info->port_state = WF_PORT_DOWN;
	if (wf_sma_is_end(sma, port))
		wf_sma_forget_traps(sma, port);
	state_changed(sma, port, now);
}

void wf_sma_link_reset(struct wf_sma *sma, unsigned port, wf_time now)
{
	struct wf_port_info *info = &sma->port[port].info;

	assert(port >= 1 && port <= sma->n_ports);
	if (info->port_state <= WF_PORT_INIT)
		return;
	info->port_state = WF_PORT_INIT;
	if (wf_sma_is_end(sma, port))
		wf_sma_forget_traps(sma, port);
	state_changed(sma, port, now);
}

void wf_sma_data(struct wf_sma *sma, unsigned port)
{
	if (port == 0 || sma->port[port].info.port_state != WF_PORT_ARMED)
		return;
	sma->port[port].info.port_state = WF_PORT_ACTIVE;
	wf_sma_changed(sma, port, WF_SMA_STATE);
}
