/* SPDX-License-Identifier: Apache-2.0 */
/* query.c - what the device, its port and its tables are. */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "compat/verbs/verbs_priv.h"
#include "wire/addr.h"
#include "wire/ib_rate.h"

#define MAX_ANY (1 << 16)
#define ATOMIC_WRITE_CAP (UINT64_C(1) << 40) /* as rdma-core numbers it since 45 */

int ibv_query_gid_type(struct ibv_context *c, uint8_t port, unsigned int index, int *type);

static void device_attr(struct ibv_context *c, struct ibv_device_attr *a)
{
	const struct wf_hca_attr *h = wf_hca_attr(wf_nic_hca(wv_nic(c)));

	memset(a, 0, sizeof(*a));
	snprintf(a->fw_ver, sizeof(a->fw_ver), "%s", WEFT_VERSION);
	a->node_guid = a->sys_image_guid = htobe64(h->guid);
	a->max_mr_size = UINT64_MAX;
	a->page_size_cap = UINT64_C(0xfffffffffffff000);
	a->vendor_id = WF_WIRE_VENDOR;
	a->vendor_part_id = WF_WIRE_PART_ADAPTER;
	a->hw_ver = WF_WIRE_REVISION;
	a->max_qp = (int)h->max_qp;
	a->max_qp_wr = (int)h->max_qp_wr;
	a->device_cap_flags =
		IBV_DEVICE_BAD_PKEY_CNTR | IBV_DEVICE_BAD_QKEY_CNTR | IBV_DEVICE_CURR_QP_STATE_MOD |
		IBV_DEVICE_PORT_ACTIVE_EVENT | IBV_DEVICE_SYS_IMAGE_GUID |
		IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_SRQ_RESIZE | IBV_DEVICE_MEM_WINDOW |
		IBV_DEVICE_MEM_MGT_EXTENSIONS | IBV_DEVICE_MEM_WINDOW_TYPE_2B | IBV_DEVICE_XRC;
	a->max_sge = a->max_sge_rd = (int)h->max_sge;
	a->max_cq = MAX_ANY;
	a->max_cqe = (int)h->max_cqe;
	a->max_mr = a->max_mw = (int)h->max_mr;
	a->max_pd = MAX_ANY;
	a->max_qp_rd_atom = a->max_qp_init_rd_atom = (int)h->max_rd_atomic;
	a->max_res_rd_atom = (int)(h->max_rd_atomic * h->max_qp);
	a->atomic_cap = IBV_ATOMIC_HCA;
	a->max_mcast_grp = (int)h->max_mcast;
	a->max_mcast_qp_attach = a->max_total_mcast_qp_attach = (int)h->max_mcast;
	a->max_ah = MAX_ANY;
	a->max_srq = MAX_ANY;
	a->max_srq_wr = (int)h->max_qp_wr;
	a->max_srq_sge = (int)h->max_sge;
	a->max_pkeys = h->num_pkeys;
	a->local_ca_ack_delay = 15;
	a->phys_port_cnt = 1;
}

int ibv_query_device(struct ibv_context *c, struct ibv_device_attr *attr)
{
	device_attr(c, attr);
	return 0;
}

/* All there is: the memory is the program's own, whenever it is there. */
static void odp_caps(struct ibv_device_attr_ex *a)
{
	uint32_t ud = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_SRQ_RECV;
	uint32_t uc = ud | IBV_ODP_SUPPORT_WRITE;
	uint32_t rc = uc | IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_ATOMIC;

	a->odp_caps.general_caps = IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT;
	a->odp_caps.per_transport_caps.rc_odp_caps = rc;
	a->odp_caps.per_transport_caps.uc_odp_caps = uc;
	a->odp_caps.per_transport_caps.ud_odp_caps = ud;
	a->xrc_odp_caps = rc;
}

int wv_query_device_ex(struct ibv_context *c, const struct ibv_query_device_ex_input *in,
                       struct ibv_device_attr_ex *attr, size_t len)
{
	struct ibv_device_attr_ex a = { .comp_mask = 0 };

	if ((in != NULL && in->comp_mask != 0) || len < sizeof(a.orig_attr))
		return EINVAL;
	device_attr(c, &a.orig_attr);
	a.completion_timestamp_mask = UINT64_MAX;
	a.hca_core_clock = 1000000; /* kHz: nanoseconds */
	a.device_cap_flags_ex = a.orig_attr.device_cap_flags | ATOMIC_WRITE_CAP;
	a.phys_port_cnt_ex = 1;
	odp_caps(&a);
	memset(attr, 0, len);
	memcpy(attr, &a, len < sizeof(a) ? len : sizeof(a));
	return 0;
}

int wv_query_rt_values(struct ibv_context *c, struct ibv_values_ex *values)
{
	uint64_t ns;

	if (values->comp_mask != IBV_VALUES_MASK_RAW_CLOCK)
		return EINVAL;
	ns = (uint64_t)(wf_nic_now(wv_nic(c)) / WF_NS);
	values->raw_clock.tv_sec = (time_t)(ns / 1000000000);
	values->raw_clock.tv_nsec = (long)(ns % 1000000000);
	return 0;
}

/* Width and speed as PortInfo codes them: four lanes of the speed that is closest from above. */
static uint8_t speed_code(uint64_t rate)
{
	static const struct {
		uint64_t rate;
		uint8_t code;
	} speeds[] = {
		{ UINT64_C(10000000000), 1 },   { UINT64_C(40000000000), 8 },
		{ UINT64_C(56000000000), 16 },  { UINT64_C(100000000000), 32 },
		{ UINT64_C(200000000000), 64 }, { UINT64_C(400000000000), 128 },
	};

	for (size_t i = 0; i < WF_ARRAY_SIZE(speeds); i++) {
		if (rate <= speeds[i].rate)
			return speeds[i].code;
	}
	return 128;
}

/* The largest that packets of the fabric can have. */
static uint8_t mtu_code(uint32_t bytes)
{
	uint8_t code = IBV_MTU_256;

	while (code < IBV_MTU_4096 && wf_mtu_bytes((enum wf_mtu)(code + 1)) <= bytes)
		code++;
	return code;
}

/* As its agent has it. */
static void fill_managed(const struct wf_live_host *h, struct ibv_port_attr *a)
{
	const struct wf_live_ib *ib = &h->ib;

	a->active_mtu = ib->mtu != 0 ? (enum ibv_mtu)ib->mtu : a->active_mtu;
	a->port_cap_flags = ib->cap;
	a->bad_pkey_cntr = ib->violations;
	a->sm_lid = ib->sm_lid;
	a->sm_sl = ib->sm_sl;
	a->lmc = ib->lmc;
	a->subnet_timeout = ib->timeout;
	a->active_width = ib->width;
	a->active_speed = (uint8_t)wf_min_u64(ib->speed, WF_SPEED_NDR);
	a->phys_state = ib->phys;
}

int wv_query_port(struct ibv_context *c, uint8_t port, struct ibv_port_attr *attr, size_t len)
{
	struct wf_nic *nic = wv_nic(c);
	const struct wf_live_table *t = wf_nic_table(nic);
	struct wf_hca *hca = wf_nic_hca(nic);
	const struct wf_live_host *h = &t->host[wf_nic_host(nic)];
	bool up = wf_nic_is_up(nic), roce = t->layer == WF_LIVE_ROCE;
	struct ibv_port_attr a = {
		.state = (enum ibv_port_state)wf_nic_port_state(nic),
		.max_mtu = IBV_MTU_4096,
		.active_mtu = (enum ibv_mtu)mtu_code(t->mtu),
		.gid_tbl_len = WF_LIVE_GID_TABLE,
		.port_cap_flags = IBV_PORT_CM_SUP | (roce ? IBV_PORT_IP_BASED_GIDS : 0),
		.max_msg_sz = WF_MSG_MAX,
		.bad_pkey_cntr = (uint32_t)wf_hca_counter(hca, WF_CTR_PKEY_VIOLATIONS),
		.qkey_viol_cntr = (uint32_t)wf_hca_counter(hca, WF_CTR_QKEY_VIOLATIONS),
		.pkey_tbl_len = wf_hca_attr(hca)->num_pkeys,
		.lid = h->lid,
		.sm_lid = roce ? 0 : 1,
		.max_vl_num = roce ? 1 : 4,
		.subnet_timeout = roce ? 0 : 18,
		.active_width = 2, /* 4x */
		.active_speed = speed_code(t->rate),
		.phys_state = up ? 5 : 3,
		.link_layer = roce ? IBV_LINK_LAYER_ETHERNET : IBV_LINK_LAYER_INFINIBAND,
		.flags = roce ? IBV_QPF_GRH_REQUIRED : 0,
	};

	if (port != WV_PORT)
		return EINVAL;
	if (t->managed != 0)
		fill_managed(h, &a);
	memset(attr, 0, len);
	memcpy(attr, &a, len < sizeof(a) ? len : sizeof(a));
	return 0;
}

#undef ibv_query_port
int ibv_query_port(struct ibv_context *c, uint8_t port, struct _compat_ibv_port_attr *attr)
{
	/* Programs of before the last two fields were added. */
	return wv_query_port(c, port, (struct ibv_port_attr *)(void *)attr,
	                     offsetof(struct ibv_port_attr, port_cap_flags2));
}

int ibv_query_gid(struct ibv_context *c, uint8_t port, int index, union ibv_gid *gid)
{
	struct wf_nic *nic = wv_nic(c);

	if (port != WV_PORT || index < 0 || index >= WF_LIVE_GID_TABLE) {
		errno = EINVAL;
		return -1;
	}
	if (!wf_live_gid(wf_nic_table(nic), wf_nic_host(nic), (uint32_t)index, gid->raw))
		memset(gid, 0, sizeof(*gid));
	return 0;
}

static enum ibv_gid_type gid_type(const struct wf_live_table *t, uint32_t index)
{
	if (t->layer != WF_LIVE_ROCE)
		return IBV_GID_TYPE_IB;
	return wf_live_is_roce1(t, index) ? IBV_GID_TYPE_ROCE_V1 : IBV_GID_TYPE_ROCE_V2;
}

/* 0: InfiniBand or RoCE v1; 1: RoCE v2. What ibv_devinfo asks. */
int ibv_query_gid_type(struct ibv_context *c, uint8_t port, unsigned int index, int *type)
{
	union ibv_gid gid;

	if (ibv_query_gid(c, port, (int)index, &gid) != 0)
		return -1;
	*type = gid_type(wf_nic_table(wv_nic(c)), index) == IBV_GID_TYPE_ROCE_V2;
	return 0;
}

static bool fill_gid_entry(struct ibv_context *c, uint32_t index, struct ibv_gid_entry *e)
{
	struct wf_nic *nic = wv_nic(c);
	const struct wf_live_table *t = wf_nic_table(nic);

	memset(e, 0, sizeof(*e));
	if (!wf_live_gid(t, wf_nic_host(nic), index, e->gid.raw))
		return false;
	e->gid_index = index;
	e->port_num = WV_PORT;
	e->gid_type = gid_type(t, index);
	e->ndev_ifindex = t->layer == WF_LIVE_ROCE ? 1 : 0;
	return true;
}

int _ibv_query_gid_ex(struct ibv_context *c, uint32_t port, uint32_t index,
                      struct ibv_gid_entry *entry, uint32_t flags, size_t size)
{
	struct ibv_gid_entry e;

	if (flags != 0 || size < sizeof(e))
		return EOPNOTSUPP;
	if (port != WV_PORT || index >= WF_LIVE_GID_TABLE)
		return EINVAL;
	if (!fill_gid_entry(c, index, &e))
		return ENODATA;
	*entry = e;
	return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *c, struct ibv_gid_entry *entries, size_t max,
                             uint32_t flags, size_t size)
{
	struct ibv_gid_entry e;
	size_t n = 0;

	if (flags != 0 || size < sizeof(*entries))
		return -EOPNOTSUPP;
	for (uint32_t i = 0; i < WF_LIVE_GID_TABLE; i++) {
		if (!fill_gid_entry(c, i, &e))
			continue;
		if (n == max)
			return -EINVAL;
		memcpy((char *)entries + n++ * size, &e, sizeof(e));
	}
	return (ssize_t)n;
}

int ibv_query_pkey(struct ibv_context *c, uint8_t port, int index, __be16 *pkey)
{
	struct wf_hca *hca = wf_nic_hca(wv_nic(c));

	if (port != WV_PORT || index < 0 || index >= wf_hca_attr(hca)->num_pkeys) {
		errno = EINVAL;
		return -1;
	}
	*pkey = htobe16(wf_hca_pkey(hca, (uint32_t)index));
	return 0;
}

int ibv_get_pkey_index(struct ibv_context *c, uint8_t port, __be16 pkey)
{
	__be16 other;

	for (int i = 0; ibv_query_pkey(c, port, i, &other) == 0; i++) {
		if (other == pkey)
			return i;
	}
	errno = EINVAL;
	return -1;
}
