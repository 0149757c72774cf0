/* SPDX-License-Identifier: Apache-2.0 */
/* nodes.c - records of the graph: nodes, their ports, and what is connected to what. */
#include <string.h>

#include "mgmt/sa/sa_priv.h"
#include "wire/ib_rate.h"

#define CAP2_MULTICAST_SERVICES 0x100
#define CAP2_CAP_MASK2_MATCH 0x400
#define CAP2_SEND_ONLY_FULL 0x1000
#define CAP2_WIDTH_2X 0x2000
#define CAP2_HDR 0x8000
#define OPTION_FULL 0x80 /* a PortInfoRecord as it is, without QDR for what is faster */

uint16_t wf_sa_answer_class_port_info(struct wf_sa *sa, struct wf_sa_req *req)
{
	const struct wf_sm_cfg *cfg = wf_sm_cfg(sa->sm);
	struct wf_class_port_info info = {
		.base_version = WF_MAD_BASE_VERSION,
		.class_version = WF_SA_CLASS_VERSION,
		.capability_mask = WF_CLASS_CAP_NOTICES | WF_SA_CAP_MULTI_PATH |
		                   WF_SA_CAP_PORT_INFO_CAP_MASK_MATCH,
		.capability_mask2 = WF_SA_CAP2_FULL_PORT_INFO | WF_SA_CAP2_EXTENDED_SPEEDS |
		                    CAP2_MULTICAST_SERVICES | CAP2_CAP_MASK2_MATCH |
		                    CAP2_SEND_ONLY_FULL | CAP2_WIDTH_2X | CAP2_HDR,
		.resp_time_value = wf_ib_time_encode(cfg->transaction_timeout),
		.redirect_qp = 1,
		.redirect_qkey = WF_QKEY_GMP,
		.trap_qkey = WF_QKEY_GMP,
	};

	if (!cfg->disable_multicast)
		info.capability_mask |= WF_SA_CAP_UD_MULTICAST;
	if (cfg->use_mfttop)
		info.capability_mask2 |= WF_SA_CAP2_MULTICAST_FDB_TOP;
	if (cfg->qos)
		info.capability_mask2 |= WF_SA_CAP2_QOS;
	wf_sa_add(sa, req, &wf_class_port_info_layout, &info);
	return 0;
}

/* The ports of which a node's records are: a switch's own, all of another node's. */
static void node_ports(const struct wf_sm_view *view, uint32_t node, uint32_t *first, uint32_t *end)
{
	const struct wf_subnet_node *n = &view->subnet->nodes[node];

	*first = n->first_port;
	*end = n->first_port + (wf_subnet_is_switch(view->subnet, node) ? 1u : n->n_ports + 1u);
}

/* A port may be told of. */
static bool may_see(const struct wf_sa *sa, const struct wf_sa_req *req, uint32_t index)
{
	return req->view->ports[index].known && wf_sa_share(sa, index, req->port);
}

static bool lid_fits(const struct wf_sa_req *req, unsigned component, uint32_t index, uint16_t lid)
{
	return !wf_sa_has(req, component) || wf_sa_lid_is(req->view, index, lid);
}

/* ---- NodeRecord ---- */

/* Texts are the same to the first NUL. */
static void trim(struct wf_node_description *description)
{
	const uint8_t *end = memchr(description->text, 0, sizeof(description->text));

	if (end != NULL)
		memset(description->text + (end - description->text), 0,
		       (size_t)(description->text + sizeof(description->text) - end));
}

uint16_t wf_sa_answer_node(struct wf_sa *sa, struct wf_sa_req *req)
{
	const struct wf_sm_view *view = req->view;
	uint64_t mask = wf_sa_but(req->sa.comp_mask, WF_NODE_C_LID);
	struct wf_node_record wanted, has;
	uint32_t first, end;

	wf_node_record_decode(req->data, &wanted);
	trim(&wanted.description);
	for (uint32_t node = 0; node < view->subnet->n_nodes; node++) {
		node_ports(view, node, &first, &end);
		for (uint32_t i = first; i < end; i++) {
			if (!may_see(sa, req, i) || !lid_fits(req, WF_NODE_C_LID, i, wanted.lid))
				continue;
			has = (struct wf_node_record){ .lid = wf_sa_lid(view, i),
				                       .info = view->nodes[node].info };
			has.info.port_guid = view->subnet->ports[i].guid;
			has.info.local_port_num = (uint8_t)(i - first);
			memcpy(has.description.text, view->subnet->nodes[node].desc,
			       WF_NODE_DESCRIPTION_LEN);
			trim(&has.description);
			if (wf_layout_matches(&wf_node_record_layout, &has, &wanted, mask))
				wf_sa_add(sa, req, &wf_node_record_layout, &has);
		}
	}
	return 0;
}

/* ---- PortInfoRecord ---- */

/* As tools of old want it: a link that is faster than QDR is QDR, too. */
static void say_qdr(const struct wf_sm_view *view, uint32_t index, struct wf_port_info *info)
{
	uint32_t node = view->subnet->ports[index].node;
	struct wf_port_info caps = *info;

	if (wf_subnet_is_switch(view->subnet, node))
		wf_sm_port_info(view, view->subnet->nodes[node].first_port, &caps);
	if ((caps.capability_mask & WF_CAP_EXTENDED_SPEEDS) == 0 ||
	    info->link_speed_ext_active == 0)
		return;
	info->link_speed_supported |= WF_SPEED_QDR;
	info->link_speed_enabled |= WF_SPEED_QDR;
	info->link_speed_active |= WF_SPEED_QDR;
}

static bool port_info_fits(const struct wf_sa_req *req, const struct wf_port_info_record *wanted,
                           const struct wf_port_info_record *has)
{
	uint64_t mask = wf_sa_but(req->sa.comp_mask, WF_PORT_INFO_C_LID);

	mask = wf_sa_but(mask, WF_PORT_INFO_C_OPTIONS);
	if ((req->head.attr_mod & WF_PORT_INFO_MATCH_CAP_MASK) != 0) {
		uint32_t caps = wanted->info.capability_mask;
		uint16_t caps2 = wanted->info.capability_mask2;

		if ((wf_sa_has(req, WF_PORT_INFO_C_CAPABILITY_MASK) &&
		     (has->info.capability_mask & caps) != caps) ||
		    (wf_sa_has(req, WF_PORT_INFO_C_CAPABILITY_MASK2) &&
		     (has->info.capability_mask2 & caps2) != caps2))
			return false;
		mask = wf_sa_but(mask, WF_PORT_INFO_C_CAPABILITY_MASK);
		mask = wf_sa_but(mask, WF_PORT_INFO_C_CAPABILITY_MASK2);
	}
	return wf_layout_matches(&wf_port_info_record_layout, has, wanted, mask);
}

uint16_t wf_sa_answer_port_info(struct wf_sa *sa, struct wf_sa_req *req)
{
	const struct wf_sm_view *view = req->view;
	struct wf_port_info_record wanted, has;
	bool full;

	wf_port_info_record_decode(req->data, &wanted);
	full = wf_sa_has(req, WF_PORT_INFO_C_OPTIONS) && (wanted.options & OPTION_FULL) != 0;
	for (uint32_t i = 0; i < view->subnet->n_ports; i++) {
		if (!may_see(sa, req, i) || !lid_fits(req, WF_PORT_INFO_C_LID, i, wanted.lid))
			continue;
		has = (struct wf_port_info_record){ .lid = wf_sa_lid(view, i) };
		has.port = (uint8_t)wf_subnet_number(view->subnet, &view->subnet->ports[i]);
		if (wf_sa_has(req, WF_PORT_INFO_C_OPTIONS))
			has.options = wanted.options;
		wf_sm_port_info(view, i, &has.info);
		if (!req->trusted)
			has.info.mkey = 0;
		if (!port_info_fits(req, &wanted, &has))
			continue;
		if (!full)
			say_qdr(view, i, &has.info);
		wf_sa_add(sa, req, &wf_port_info_record_layout, &has);
	}
	return 0;
}

/* ---- SwitchInfoRecord ---- */

uint16_t wf_sa_answer_switch_info(struct wf_sa *sa, struct wf_sa_req *req)
{
	const struct wf_sm_view *view = req->view;
	uint64_t mask = wf_sa_but(req->sa.comp_mask, 0);
	struct wf_switch_info_record wanted, has;

	wf_switch_info_record_decode(req->data, &wanted);
	for (uint32_t sw = 0; sw < view->subnet->n_switches; sw++) {
		uint32_t i = view->subnet->nodes[view->subnet->switches[sw]].first_port;

		if (!may_see(sa, req, i) || !lid_fits(req, 0, i, wanted.lid))
			continue;
		has = (struct wf_switch_info_record){ .lid = wf_sa_lid(view, i),
			                              .info = view->switches[sw].info };
		if (wf_layout_matches(&wf_switch_info_record_layout, &has, &wanted, mask))
			wf_sa_add(sa, req, &wf_switch_info_record_layout, &has);
	}
	return 0;
}

/* ---- GUIDInfoRecord ---- */

/* A port's GUIDs are its own one: nobody gives it others. */
static void add_guids(struct wf_sa *sa, struct wf_sa_req *req, uint32_t i,
                      const struct wf_guid_info_record *wanted)
{
	const struct wf_sm_view *view = req->view;
	uint64_t mask = wf_sa_but(req->sa.comp_mask, WF_GUID_INFO_C_LID);
	struct wf_guid_info_record has;
	struct wf_port_info info;

	wf_sm_port_info(view, i, &info);
	for (unsigned block = 0; block < (info.guid_cap + 7u) / WF_GUIDS_PER_BLOCK; block++) {
		has = (struct wf_guid_info_record){ .lid = wf_sa_lid(view, i),
			                            .block = (uint8_t)block };
		if (block == 0 && view->ports[i].guids != NULL)
			memcpy(has.info.guid, view->ports[i].guids, sizeof(has.info.guid));
		if (block == 0)
			has.info.guid[0] = view->subnet->ports[i].guid;
		if (wf_layout_matches(&wf_guid_info_record_layout, &has, wanted, mask))
			wf_sa_add(sa, req, &wf_guid_info_record_layout, &has);
	}
}

uint16_t wf_sa_answer_guid_info(struct wf_sa *sa, struct wf_sa_req *req)
{
	struct wf_guid_info_record wanted;
	uint32_t first, end;

	wf_guid_info_record_decode(req->data, &wanted);
	for (uint32_t node = 0; node < req->view->subnet->n_nodes; node++) {
		node_ports(req->view, node, &first, &end);
		for (uint32_t i = first; i < end; i++) {
			if (may_see(sa, req, i) && lid_fits(req, WF_GUID_INFO_C_LID, i, wanted.lid))
				add_guids(sa, req, i, &wanted);
		}
	}
	return 0;
}

/* ---- LinkRecord ---- */

uint16_t wf_sa_answer_link(struct wf_sa *sa, struct wf_sa_req *req)
{
	const struct wf_subnet *subnet = req->view->subnet;
	uint64_t mask = wf_sa_but(req->sa.comp_mask, WF_LINK_C_FROM_LID);
	struct wf_link_record wanted, has;

	mask = wf_sa_but(mask, WF_LINK_C_TO_LID);
	wf_link_record_decode(req->data, &wanted);
	for (uint32_t i = 0; i < subnet->n_ports; i++) {
		const struct wf_subnet_port *peer = wf_subnet_peer(subnet, &subnet->ports[i]);
		uint32_t far = peer == NULL ? 0 : (uint32_t)(peer - subnet->ports);

		if (peer == NULL || !wf_sa_share(sa, i, far) || !may_see(sa, req, i) ||
		    !may_see(sa, req, far) ||
		    !lid_fits(req, WF_LINK_C_FROM_LID, i, wanted.from_lid) ||
		    !lid_fits(req, WF_LINK_C_TO_LID, far, wanted.to_lid))
			continue;
		has = (struct wf_link_record){
			.from_lid = wf_sa_lid(req->view, i),
			.from_port = (uint8_t)wf_subnet_number(subnet, &subnet->ports[i]),
			.to_lid = wf_sa_lid(req->view, far),
			.to_port = (uint8_t)wf_subnet_number(subnet, peer),
		};
		if (wf_layout_matches(&wf_link_record_layout, &has, &wanted, mask))
			wf_sa_add(sa, req, &wf_link_record_layout, &has);
	}
	return 0;
}

/* ---- SMInfoRecord ---- */

static void add_manager(struct wf_sa *sa, struct wf_sa_req *req, const struct wf_sm_info *info,
                        const struct wf_sm_info_record *wanted)
{
	uint64_t mask = wf_sa_but(req->sa.comp_mask, WF_SM_INFO_C_LID);
	uint32_t i = wf_sa_by_guid(req->view, info->guid);
	struct wf_sm_info_record has = { .info = *info };

	if (i == WF_SUBNET_NONE || !may_see(sa, req, i) ||
	    !lid_fits(req, WF_SM_INFO_C_LID, i, wanted->lid))
		return;
	has.lid = wf_sa_lid(req->view, i);
	has.info.sm_key = 0; /* nobody is told */
	if (wf_layout_matches(&wf_sm_info_record_layout, &has, wanted, mask))
		wf_sa_add(sa, req, &wf_sm_info_record_layout, &has);
}

uint16_t wf_sa_answer_sm_info(struct wf_sa *sa, struct wf_sa_req *req)
{
	struct wf_sm_info_record wanted;
	struct wf_sm_info info;

	wf_sm_info_record_decode(req->data, &wanted);
	wf_sm_info(sa->sm, &info);
	add_manager(sa, req, &info, &wanted);
	for (uint32_t i = 0; wf_sm_other(sa->sm, i, &info); i++)
		add_manager(sa, req, &info, &wanted);
	return 0;
}
