/* SPDX-License-Identifier: Apache-2.0 */
/* notice.c - where the members of notices are. */
#include "wire/notice.h"

#define F WF_FIELD

static const struct wf_field notice_fields[] = {
	F(notice, is_generic, 0, 1),     F(notice, type, 1, 7),
	F(notice, producer_type, 8, 24), F(notice, trap_number, 32, 16),
	F(notice, issuer_lid, 48, 16),   F(notice, toggle, 64, 1),
	F(notice, count, 65, 15),        F(notice, details, 80, 432),
};

static const struct wf_field notice_gid_fields[] = {
	WF_FIELD_SUB(notice_gid, notice, notice, 0, 512),
	F(notice_gid, issuer_gid, 512, 128),
};

static const struct wf_field trap_gid_fields[] = {
	F(trap_gid, gid, 48, 128),
};

static const struct wf_field trap_lid_fields[] = {
	F(trap_lid, lid, 0, 16),
};

static const struct wf_field trap_port_fields[] = {
	F(trap_port, lid, 16, 16),
	F(trap_port, port, 32, 8),
};

static const struct wf_field trap_change_fields[] = {
	F(trap_change, lid, 16, 16),
	F(trap_change, other_local_changes, 47, 1),
	F(trap_change, capability_mask, 48, 32),
	F(trap_change, change_flags, 80, 16),
	F(trap_change, capability_mask2, 96, 16),
};

static const struct wf_field trap_image_fields[] = {
	F(trap_image, lid, 16, 16),
	F(trap_image, system_image_guid, 48, 64),
};

static const struct wf_field trap_mkey_fields[] = {
	F(trap_mkey, lid, 16, 16),          F(trap_mkey, dr_slid, 32, 16),
	F(trap_mkey, method, 48, 8),        F(trap_mkey, attr_id, 64, 16),
	F(trap_mkey, attr_mod, 80, 32),     F(trap_mkey, mkey, 112, 64),
	F(trap_mkey, dr_notice, 184, 1),    F(trap_mkey, dr_path_truncated, 185, 1),
	F(trap_mkey, dr_hop_count, 186, 6), F(trap_mkey, dr_return_path, 192, 240),
};

static const struct wf_field trap_key_fields[] = {
	F(trap_key, lid1, 16, 16),   F(trap_key, lid2, 32, 16),   F(trap_key, key, 48, 32),
	F(trap_key, sl, 80, 4),      F(trap_key, qp1, 88, 24),    F(trap_key, qp2, 120, 24),
	F(trap_key, gid1, 144, 128), F(trap_key, gid2, 272, 128),
};

static const struct wf_field trap_switch_key_fields[] = {
	F(trap_switch_key, data_valid, 0, 16), F(trap_switch_key, lid1, 16, 16),
	F(trap_switch_key, lid2, 32, 16),      F(trap_switch_key, pkey, 48, 16),
	F(trap_switch_key, sl, 64, 4),         F(trap_switch_key, qp1, 72, 24),
	F(trap_switch_key, qp2, 104, 24),      F(trap_switch_key, gid1, 128, 128),
	F(trap_switch_key, gid2, 256, 128),    F(trap_switch_key, switch_lid, 384, 16),
	F(trap_switch_key, port, 400, 8),
};

WF_LAYOUT(notice, 64);
WF_LAYOUT(notice_gid, 80);
WF_LAYOUT(trap_gid, WF_NOTICE_DETAILS_LEN);
WF_LAYOUT(trap_lid, WF_NOTICE_DETAILS_LEN);
WF_LAYOUT(trap_port, WF_NOTICE_DETAILS_LEN);
WF_LAYOUT(trap_change, WF_NOTICE_DETAILS_LEN);
WF_LAYOUT(trap_image, WF_NOTICE_DETAILS_LEN);
WF_LAYOUT(trap_mkey, WF_NOTICE_DETAILS_LEN);
WF_LAYOUT(trap_key, WF_NOTICE_DETAILS_LEN);
WF_LAYOUT(trap_switch_key, WF_NOTICE_DETAILS_LEN);
