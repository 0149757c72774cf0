/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.c - records of tables: forwarding, P_Keys, and lanes. What the manager has not read or
 * written it does not know: P_Keys of ports between switches have no record, lanes that were left
 * as they are have zeros, as OpenSM has it.
 */
#include <string.h>

#include "mgmt/sa/sa_priv.h"
#include "subnet/tables.h"

/* A switch's own port, if it is one that was asked for and may be told of. */
static bool asked_for(const struct wf_sa *sa, const struct wf_sa_req *req, uint32_t sw,
                      uint16_t lid, uint32_t *index_p)
{
	const struct wf_subnet *subnet = req->view->subnet;
	uint32_t i = subnet->nodes[subnet->switches[sw]].first_port;

	*index_p = i;
	return req->view->ports[i].known && wf_sa_share(sa, i, req->port) &&
	       (!wf_sa_has(req, 0) || wf_sa_lid_is(req->view, i, lid));
}

uint16_t wf_sa_answer_linear_ft(struct wf_sa *sa, struct wf_sa_req *req)
{
	const struct wf_sm_view *view = req->view;
	struct wf_linear_ft_record wanted, has;
	uint32_t index;

	wf_linear_ft_record_decode(req->data, &wanted);
	for (uint32_t sw = 0; view->tables != NULL && sw < view->subnet->n_switches; sw++) {
		unsigned blocks = view->switches[sw].info.linear_fdb_top / WF_LFT_PER_BLOCK + 1u;

		if (!asked_for(sa, req, sw, wanted.lid, &index))
			continue;
		for (unsigned block = 0; block < blocks; block++) {
			if (wf_sa_has(req, WF_LINEAR_FT_C_BLOCK) && block != wanted.block)
				continue;
			has = (struct wf_linear_ft_record){ .lid = wf_sa_lid(view, index),
				                            .block = (uint16_t)block };
			for (unsigned i = 0; i < WF_LFT_PER_BLOCK; i++)
				has.table.port[i] = wf_tables_port(view->tables, sw,
				                                   block * WF_LFT_PER_BLOCK + i);
			wf_sa_add(sa, req, &wf_linear_ft_record_layout, &has);
		}
	}
	return 0;
}

/* Blocks of a switch up to the last in which there is something, as OpenSM counts them. */
static unsigned multicast_blocks(const struct wf_sa *sa, uint32_t sw, unsigned positions)
{
	static const struct wf_multicast_ft none;
	struct wf_multicast_ft table;
	unsigned n = 0;

	for (unsigned i = 0;
	     wf_sm_multicast_block(sa->sm, sw, i / positions, i % positions, &table); i++) {
		if (memcmp(&table, &none, sizeof(none)) != 0)
			n = i / positions + 1;
	}
	return n;
}

uint16_t wf_sa_answer_multicast_ft(struct wf_sa *sa, struct wf_sa_req *req)
{
	const struct wf_subnet *subnet = req->view->subnet;
	uint64_t mask = wf_sa_but(req->sa.comp_mask, WF_MULTICAST_FT_C_LID);
	struct wf_multicast_ft_record wanted, has;
	uint32_t index;

	wf_multicast_ft_record_decode(req->data, &wanted);
	for (uint32_t sw = 0; sw < subnet->n_switches; sw++) {
		unsigned n_ports = subnet->nodes[subnet->switches[sw]].n_ports;
		unsigned positions = n_ports / WF_MFT_PORTS_PER_POSITION + 1, n;

		if (!asked_for(sa, req, sw, wanted.lid, &index))
			continue;
		has = (struct wf_multicast_ft_record){ .lid = wf_sa_lid(req->view, index) };
		n = multicast_blocks(sa, sw, positions) * positions;
		for (unsigned i = 0; i < n; i++) {
			has.block = (uint16_t)(i / positions);
			has.position = (uint8_t)(i % positions);
			if (wf_sm_multicast_block(sa->sm, sw, has.block, has.position,
			                          &has.table) &&
			    wf_layout_matches(&wf_multicast_ft_record_layout, &has, &wanted, mask))
				wf_sa_add(sa, req, &wf_multicast_ft_record_layout, &has);
		}
	}
	return 0;
}

/* A port of any node, if it may be told of, and is one of those with a LID that was asked for. */
static bool is_meant(const struct wf_sa *sa, const struct wf_sa_req *req, uint32_t i, uint16_t lid)
{
	return req->view->ports[i].known && wf_sa_share(sa, i, req->port) &&
	       (!wf_sa_has(req, 0) || wf_sa_lid_is(req->view, i, lid));
}

uint16_t wf_sa_answer_pkeys(struct wf_sa *sa, struct wf_sa_req *req)
{
	const struct wf_sm_view *view = req->view;
	uint64_t mask = wf_sa_but(req->sa.comp_mask, WF_PKEY_TABLE_C_LID);
	struct wf_pkey_table_record wanted, has;

	if (!req->trusted) /* only they are told of keys */
		return WF_SA_REQ_INVALID;
	wf_pkey_table_record_decode(req->data, &wanted);
	for (uint32_t i = 0; i < view->subnet->n_ports; i++) {
		const struct wf_sm_port *port = &view->ports[i];
		uint64_t m = mask;

		if (!is_meant(sa, req, i, wanted.lid) || port->pkeys == NULL)
			continue;
		/* An adapter's port is known by its LID. */
		if (!wf_subnet_is_switch(view->subnet, view->subnet->ports[i].node))
			m = wf_sa_but(m, WF_PKEY_TABLE_C_PORT);
		for (unsigned at = 0; at < port->n_pkeys; at += WF_PKEYS_PER_BLOCK) {
			unsigned n = port->n_pkeys - at;

			has = (struct wf_pkey_table_record){
				.lid = wf_sa_lid(view, i),
				.block = (uint16_t)(at / WF_PKEYS_PER_BLOCK),
				.port = (uint8_t)wf_subnet_number(view->subnet,
				                                  &view->subnet->ports[i]),
			};
			n = n < WF_PKEYS_PER_BLOCK ? n : WF_PKEYS_PER_BLOCK;
			memcpy(has.table.pkey, port->pkeys + at, n * sizeof(*port->pkeys));
			if (wf_layout_matches(&wf_pkey_table_record_layout, &has, &wanted, m))
				wf_sa_add(sa, req, &wf_pkey_table_record_layout, &has);
		}
	}
	return 0;
}

/* Of packets that come in by any of a node's ports; an adapter's have one. */
static void add_mappings(struct wf_sa *sa, struct wf_sa_req *req, uint32_t i,
                         const struct wf_sl_to_vl_record *wanted)
{
	const struct wf_sm_view *view = req->view;
	const struct wf_subnet_port *port = &view->subnet->ports[i];
	const struct wf_subnet_node *node = &view->subnet->nodes[port->node];
	uint64_t mask = wf_sa_but(req->sa.comp_mask, WF_SL_TO_VL_C_LID);
	bool is_switch = wf_subnet_is_switch(view->subnet, port->node);
	struct wf_sl_to_vl_record has = { .lid = wf_sa_lid(view, i) };

	if (!wf_sm_sl_to_vl(sa->sm, i, &has.table))
		memset(&has.table, 0, sizeof(has.table));
	if (!is_switch) {
		wf_sa_add(sa, req, &wf_sl_to_vl_record_layout, &has);
		return;
	}
	has.out_port = (uint8_t)wf_subnet_number(view->subnet, port);
	for (unsigned in = 0; in <= node->n_ports; in++) {
		has.in_port = (uint8_t)in;
		if (view->ports[node->first_port + in].known &&
		    wf_layout_matches(&wf_sl_to_vl_record_layout, &has, wanted, mask))
			wf_sa_add(sa, req, &wf_sl_to_vl_record_layout, &has);
	}
}

uint16_t wf_sa_answer_sl_to_vl(struct wf_sa *sa, struct wf_sa_req *req)
{
	struct wf_sl_to_vl_record wanted;

	wf_sl_to_vl_record_decode(req->data, &wanted);
	for (uint32_t i = 0; i < req->view->subnet->n_ports && !req->full; i++) {
		if (is_meant(sa, req, i, wanted.lid))
			add_mappings(sa, req, i, &wanted);
	}
	return 0;
}

uint16_t wf_sa_answer_vl_arb(struct wf_sa *sa, struct wf_sa_req *req)
{
	const struct wf_sm_view *view = req->view;
	uint64_t mask = wf_sa_but(req->sa.comp_mask, WF_VL_ARB_C_LID);
	struct wf_vl_arb_record wanted, has;

	wf_vl_arb_record_decode(req->data, &wanted);
	for (uint32_t i = 0; i < view->subnet->n_ports; i++) {
		const struct wf_subnet_port *port = &view->subnet->ports[i];
		uint64_t m = mask;

		if (!is_meant(sa, req, i, wanted.lid))
			continue;
		/* An adapter's port is known by its LID. */
		if (!wf_subnet_is_switch(view->subnet, port->node))
			m = wf_sa_but(m, WF_VL_ARB_C_PORT);
		for (unsigned block = 1; block <= 4; block++) {
			has = (struct wf_vl_arb_record){
				.lid = wf_sa_lid(view, i),
				.port = (uint8_t)wf_subnet_number(view->subnet, port),
				.block = (uint8_t)block,
			};
			if (!wf_sm_vl_arb(sa->sm, i, block, &has.table))
				memset(&has.table, 0, sizeof(has.table));
			if (wf_layout_matches(&wf_vl_arb_record_layout, &has, &wanted, m))
				wf_sa_add(sa, req, &wf_vl_arb_record_layout, &has);
		}
	}
	return 0;
}
