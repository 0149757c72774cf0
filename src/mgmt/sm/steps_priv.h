/* SPDX-License-Identifier: Apache-2.0 */
/* steps_priv.h - what the files of the subnet manager have for one another. */
#ifndef WF_MGMT_SM_STEPS_PRIV_H
#define WF_MGMT_SM_STEPS_PRIV_H

#include "mgmt/sm/sm_priv.h"

/* ---- sm.c ---- */
void wf_sm_tell(struct wf_sm *sm, enum wf_sm_event_type type);
void wf_sm_tell_error(struct wf_sm *sm, const struct wf_sm_work *work, uint16_t status);
void wf_sm_note(struct wf_sm *sm, const char *text);
void wf_sm_event(struct wf_sm *sm, struct wf_sm_event *event);
int wf_sm_cfg_read(struct wf_sm *sm, struct wf_err *err) WF_MUST_USE;

/* ---- wire.c ---- */
int wf_sm_wire_init(struct wf_sm *sm) WF_MUST_USE;
void wf_sm_wire_fini(struct wf_sm *sm);

/* Queues work of the sweep. Out of memory it is an error of the sweep. */
void wf_sm_push(struct wf_sm *sm, enum wf_sm_kind kind, uint32_t node, unsigned port, unsigned arg);
void wf_sm_push_aside(struct wf_sm *sm, const struct wf_sm_aside *aside);

/* Forgets all that waits or is under way and belongs to the sweep. */
void wf_sm_wire_drop(struct wf_sm *sm);

/* A reply to be sent, zeroed; NULL: too many wait. */
uint8_t *wf_sm_reply(struct wf_sm *sm, const struct wf_sm_addr *to);

/* A response came: true when a request was waiting for it. */
bool wf_sm_answer(struct wf_sm *sm, const struct wf_mad *head, const uint8_t *mad);
void wf_sm_time_out(struct wf_sm *sm);
wf_time wf_sm_wire_deadline(const struct wf_sm *sm);

/* ---- kinds.c: rows ---- */
struct wf_sm_kind_row {
	uint16_t attr;
	uint8_t method;
	bool vital; /* without it the subnet is not as it should be: another heavy sweep */
	/* The attribute modifier; NULL: 0. */
	uint32_t (*mod)(const struct wf_sm *sm, const struct wf_sm_work *work);
	/* The attribute of a Set, WF_SMP_DATA_LEN zeroed bytes; NULL of a Get. */
	void (*fill)(struct wf_sm *sm, const struct wf_sm_work *work, uint8_t *data);
	/*
	 * data is the answer's attribute; NULL: there was none, or with a status. A row without
	 * one does not care.
	 */
	void (*done)(struct wf_sm *sm, const struct wf_sm_work *work, const uint8_t *data);
};

extern const struct wf_sm_kind_row wf_sm_kinds[WF_SM_KINDS];

/* ---- sweep.c ---- */
void wf_sm_sweep_begin(struct wf_sm *sm, bool heavy);
void wf_sm_sweep_multicast(struct wf_sm *sm);
/* Nothing is left of a phase: on to the next. */
void wf_sm_phase_over(struct wf_sm *sm);
void wf_sm_sweep_abort(struct wf_sm *sm);

/* ---- view.c ---- */
int wf_sm_view_create(struct wf_mem *mem, struct wf_sm_view **view_p) WF_MUST_USE;
void wf_sm_view_destroy(struct wf_sm_view *view);
int wf_sm_view_add(struct wf_sm_view *view, const struct wf_node_info *info,
                   uint32_t *id_p) WF_MUST_USE;
/* Takes over what PortInfo says. */
void wf_sm_view_port(struct wf_sm_view *view, uint32_t index, const uint8_t *data);
struct wf_sm_dev *wf_sm_dev_get(struct wf_sm *sm, uint64_t guid);
void wf_sm_devs_free(struct wf_sm *sm, bool unused_only);

static inline uint32_t wf_sm_index(const struct wf_sm_view *view, uint32_t node, unsigned port)
{
	return view->subnet->nodes[node].first_port + port;
}

/* ---- discover.c ---- */
void wf_sm_discover(struct wf_sm *sm);
void wf_sm_ask_tables(struct wf_sm *sm);
void wf_sm_done_node_info(struct wf_sm *, const struct wf_sm_work *, const uint8_t *);
void wf_sm_done_node_description(struct wf_sm *, const struct wf_sm_work *, const uint8_t *);
void wf_sm_done_switch_info(struct wf_sm *, const struct wf_sm_work *, const uint8_t *);
void wf_sm_done_clear(struct wf_sm *, const struct wf_sm_work *, const uint8_t *);
void wf_sm_done_port_info(struct wf_sm *, const struct wf_sm_work *, const uint8_t *);
void wf_sm_done_guid_info(struct wf_sm *, const struct wf_sm_work *, const uint8_t *);
void wf_sm_done_get_pkeys(struct wf_sm *, const struct wf_sm_work *, const uint8_t *);
void wf_sm_drop_halves(struct wf_sm *sm);

/* ---- light.c ---- */
void wf_sm_light(struct wf_sm *sm);
void wf_sm_light_done(struct wf_sm *sm, const struct wf_sm_work *work, const uint8_t *data);

/* ---- lids.c ---- */
int wf_sm_give_lids(struct wf_sm *sm) WF_MUST_USE;
void wf_sm_find_fresh(struct wf_sm *sm);
void wf_sm_lids_clear(struct wf_sm *sm);
/* Tells of ports that came and went. */
void wf_sm_tell_lost(struct wf_sm *sm);
void wf_sm_tell_found(struct wf_sm *sm);

/* ---- pkeys.c ---- */
unsigned wf_sm_pkey_blocks(const struct wf_sm_view *view, uint32_t node, unsigned port);
int wf_sm_want_pkeys(struct wf_sm *sm) WF_MUST_USE;
void wf_sm_fill_pkeys(struct wf_sm *, const struct wf_sm_work *, uint8_t *);
void wf_sm_done_set_pkeys(struct wf_sm *, const struct wf_sm_work *, const uint8_t *);

/* ---- ports.c ---- */
void wf_sm_want_ports(struct wf_sm *sm, enum wf_sm_stage stage);
void wf_sm_fill_port_info(struct wf_sm *, const struct wf_sm_work *, uint8_t *);
void wf_sm_done_set_port_info(struct wf_sm *, const struct wf_sm_work *, const uint8_t *);
uint32_t wf_sm_port_modifier(const struct wf_sm *sm, const struct wf_sm_work *work);

/* ---- routes.c ---- */
int wf_sm_want_routes(struct wf_sm *sm) WF_MUST_USE;
void wf_sm_fill_switch_info(struct wf_sm *, const struct wf_sm_work *, uint8_t *);
void wf_sm_fill_clear(struct wf_sm *, const struct wf_sm_work *, uint8_t *);
void wf_sm_done_set_switch_info(struct wf_sm *, const struct wf_sm_work *, const uint8_t *);
void wf_sm_fill_linear_ft(struct wf_sm *, const struct wf_sm_work *, uint8_t *);
void wf_sm_done_linear_ft(struct wf_sm *, const struct wf_sm_work *, const uint8_t *);

/* Queues SwitchInfo where it differs. */
void wf_sm_push_switch_info(struct wf_sm *sm, uint32_t node);

/* ---- adaptive.c ---- */
int wf_sm_want_adaptive(struct wf_sm *sm) WF_MUST_USE;
/* A stage of the phase is over: begins the next. False: there is none. */
bool wf_sm_next_adaptive(struct wf_sm *sm);
void wf_sm_forget_spread(struct wf_sm_dev *dev);
void wf_sm_free_spread(struct wf_sm *sm, struct wf_sm_dev *dev);
void wf_sm_fill_adaptive(struct wf_sm *, const struct wf_sm_work *, uint8_t *);
void wf_sm_fill_adaptive_groups(struct wf_sm *, const struct wf_sm_work *, uint8_t *);
void wf_sm_fill_adaptive_lids(struct wf_sm *, const struct wf_sm_work *, uint8_t *);
void wf_sm_done_adaptive(struct wf_sm *, const struct wf_sm_work *, const uint8_t *);
void wf_sm_done_adaptive_groups(struct wf_sm *, const struct wf_sm_work *, const uint8_t *);
void wf_sm_done_adaptive_lids(struct wf_sm *, const struct wf_sm_work *, const uint8_t *);

/* ---- mcast.c ---- */
/* The highest LID of a group; the one below them all where there is none. */
uint16_t wf_sm_top_group(const struct wf_sm *sm);
int wf_sm_want_groups(struct wf_sm *sm) WF_MUST_USE;
void wf_sm_groups_free(struct wf_sm *sm);
void wf_sm_fill_multicast_ft(struct wf_sm *, const struct wf_sm_work *, uint8_t *);
void wf_sm_done_multicast_ft(struct wf_sm *, const struct wf_sm_work *, const uint8_t *);

/* ---- lanes.c ---- */
void wf_sm_want_lanes(struct wf_sm *sm);
void wf_sm_fill_sl_to_vl(struct wf_sm *, const struct wf_sm_work *, uint8_t *);
void wf_sm_fill_vl_arb(struct wf_sm *, const struct wf_sm_work *, uint8_t *);

/* ---- master.c ---- */
enum wf_sm_verdict { WF_SM_GO_ON, WF_SM_STOP, WF_SM_HAND_OVER };
/* Discovery is over: may the sweep go on? */
enum wf_sm_verdict wf_sm_judge(struct wf_sm *sm);
void wf_sm_become(struct wf_sm *sm, enum wf_sm_state state);
void wf_sm_poll(struct wf_sm *sm);
void wf_sm_fill_sm_info(struct wf_sm *, const struct wf_sm_work *, uint8_t *);
void wf_sm_done_sm_info(struct wf_sm *, const struct wf_sm_work *, const uint8_t *);
void wf_sm_done_set_sm_info(struct wf_sm *, const struct wf_sm_work *, const uint8_t *);
void wf_sm_polled(struct wf_sm *sm, const struct wf_sm_aside *aside, const uint8_t *data);
void wf_sm_rx_sm_info(struct wf_sm *sm, const struct wf_sm_addr *from, const struct wf_mad *head,
                      const uint8_t *mad);

/* ---- traps.c ---- */
void wf_sm_rx_trap(struct wf_sm *sm, const struct wf_sm_addr *from, const struct wf_mad *head,
                   const uint8_t *mad);
/* Tells the master (its LID) that there is another manager, or one of higher priority. */
void wf_sm_send_trap(struct wf_sm *sm, uint16_t lid, bool priority);
void wf_sm_described(struct wf_sm *sm, const struct wf_sm_aside *aside, const uint8_t *data);

#endif
