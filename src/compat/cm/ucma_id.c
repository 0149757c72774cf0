/* SPDX-License-Identifier: Apache-2.0 */
/* ucma_id.c - commands about ids, addresses and groups. */
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compat/cm/ucma_priv.h"
#include "compat/verbs/verbs_priv.h"
#include "wire/ib.h"
#include "wire/transport.h"

#define MAX_BACKLOG 1024 /* as Linux has it */

int wv_ucma_create_id(struct wv_ucma_channel *ch, const void *in, size_t out)
{
	const struct rdma_ucm_create_id *cmd = in;
	struct rdma_ucm_create_id_resp resp;
	struct wv_ucma_id *id;
	int ret;

	assert(out >= sizeof(resp));
	switch (cmd->ps) {
	case RDMA_PS_TCP:
	case RDMA_PS_UDP:
	case RDMA_PS_IPOIB:
	case RDMA_PS_IB:
		break;
	default:
		return -EINVAL;
	}
	id = wv_ucma_create(ch, cmd->ps, cmd->qp_type);
	if (id == NULL)
		return -ENOMEM;
	id->uid = cmd->uid;
	resp.id = id->handle;
	ret = wv_ucma_answer(cmd->response, out, &resp, sizeof(resp));
	if (ret != 0)
		wv_ucma_destroy(id);
	return ret;
}

int wv_ucma_destroy_id(struct wv_ucma_channel *ch, const void *in, size_t out)
{
	const struct rdma_ucm_destroy_id *cmd = in;
	struct rdma_ucm_destroy_id_resp resp;
	struct wv_ucma_id *id;
	int ret = wv_ucma_get(ch, cmd->id, &id);

	if (ret != 0)
		return ret;
	/* What waits still is dropped first, and so not counted. */
	resp.events_reported = id->events_reported;
	wv_ucma_destroy(id);
	return wv_ucma_answer(cmd->response, out, &resp, sizeof(resp));
}

static bool is_ip(const struct sockaddr_in6 *sa)
{
	return sa->sin6_family == AF_INET || sa->sin6_family == AF_INET6;
}

/* active: to connect from it. */
static int bind_id(struct wv_ucma_id *id, const struct sockaddr_in6 *sa, bool active)
{
	struct wf_nic *nic = id->channel->nic;
	int ret;

	if (id->state != WV_UCMA_IDLE)
		return -EINVAL;
	ret = wv_ucma_check_own(nic, sa);
	if (ret != 0)
		return ret;
	id->service = wf_cm_service(id->space, wv_ucma_port(sa));
	ret = wf_nic_service(nic, WF_LIVE_SERVICE_BIND, &id->service,
	                     (id->reuse ? WF_LIVE_BIND_REUSE : 0) |
	                             (active ? WF_LIVE_BIND_ACTIVE : 0));
	if (ret != 0) {
		id->service = 0;
		return ret;
	}
	id->src = *sa;
	wv_ucma_set_port(&id->src, (uint16_t)id->service);
	id->device = !wv_ucma_is_any(sa);
	id->sgid = wf_nic_table(nic)->layer == WF_LIVE_IB ? WF_LIVE_GID_LOCAL : WF_LIVE_GID_IPV4;
	id->state = WV_UCMA_BOUND;
	return 0;
}

int wv_ucma_bind_ip(struct wv_ucma_channel *ch, const void *in, size_t out)
{
	const struct rdma_ucm_bind_ip *cmd = in;
	struct wv_ucma_id *id;
	int ret;

	(void)out;
	if (!is_ip(&cmd->addr))
		return -EINVAL;
	ret = wv_ucma_get(ch, cmd->id, &id);
	return ret != 0 ? ret : bind_id(id, &cmd->addr, false);
}

int wv_ucma_resolve_ip(struct wv_ucma_channel *ch, const void *in, size_t out)
{
	const struct rdma_ucm_resolve_ip *cmd = in;
	struct sockaddr_in6 src = cmd->src_addr;
	struct wv_ucma_id *id;
	int ret;

	(void)out;
	if (!is_ip(&cmd->dst_addr) || (src.sin6_family != 0 && !is_ip(&src)))
		return -EINVAL;
	ret = wv_ucma_get(ch, cmd->id, &id);
	if (ret != 0)
		return ret;
	if (id->state == WV_UCMA_IDLE) {
		if (src.sin6_family == 0)
			src.sin6_family = cmd->dst_addr.sin6_family;
		ret = bind_id(id, &src, true);
	} else if (id->state != WV_UCMA_BOUND) {
		ret = -EINVAL;
	}
	if (ret == 0 && id->src.sin6_family != cmd->dst_addr.sin6_family)
		ret = -EINVAL;
	if (ret != 0)
		return ret;
	id->dst = cmd->dst_addr;
	ret = wv_ucma_resolve(id);
	if (ret != 0)
		return wv_ucma_tell(id, WV_UCMA_ADDR_ERROR, ret);
	if (wv_ucma_is_any(&id->src))
		wv_ucma_own(ch->nic, &id->dst, &id->src);
	id->device = true;
	id->state = WV_UCMA_ADDR;
	return wv_ucma_tell(id, WV_UCMA_ADDR_RESOLVED, 0);
}

int wv_ucma_resolve_route(struct wv_ucma_channel *ch, const void *in, size_t out)
{
	const struct rdma_ucm_resolve_route *cmd = in;
	struct wv_ucma_id *id;
	int ret = wv_ucma_get(ch, cmd->id, &id);

	(void)out;
	if (ret != 0)
		return ret;
	if (id->state != WV_UCMA_ADDR || id->group)
		return -EINVAL;
	id->state = WV_UCMA_ROUTE;
	return wv_ucma_tell(id, WV_UCMA_ROUTE_RESOLVED, 0);
}

int wv_ucma_query_route(struct wv_ucma_channel *ch, const void *in, size_t out)
{
	const struct rdma_ucm_query *cmd = in;
	struct rdma_ucm_query_route_resp resp = { .num_paths = 0 };
	const struct wf_live_table *t = wf_nic_table(ch->nic);
	struct wv_ucma_id *id;
	int ret = wv_ucma_get(ch, cmd->id, &id);

	if (ret != 0)
		return ret;
	resp.src_addr = id->src;
	resp.dst_addr = id->dst;
	if (id->device) {
		resp.node_guid = htobe64(t->host[wf_nic_host(ch->nic)].guid);
		resp.port_num = 1;
		resp.ibdev_index = (uint32_t)ibv_get_device_index(&wv_the_device.ibv);
		wv_ucma_path_rec(id, &resp.ib_route[0]);
		if (id->state == WV_UCMA_ROUTE || id->state == WV_UCMA_CONNECT)
			resp.num_paths = 1;
	}
	return wv_ucma_answer(cmd->response, out, &resp, sizeof(resp));
}

int wv_ucma_listen(struct wv_ucma_channel *ch, const void *in, size_t out)
{
	const struct rdma_ucm_listen *cmd = in;
	struct sockaddr_in6 any = { .sin6_family = AF_INET };
	struct wv_ucma_id *id;
	struct wf_cm *cm;
	int ret = wv_ucma_get(ch, cmd->id, &id);

	(void)out;
	if (ret != 0)
		return ret;
	if (id->state == WV_UCMA_IDLE)
		ret = bind_id(id, &any, false);
	else if (id->state != WV_UCMA_BOUND)
		ret = -EINVAL;
	if (ret == 0)
		ret = wf_nic_cm(ch->nic, &cm);
	if (ret != 0)
		return ret;
	/* Before the daemon hears of it: requests may come before its answer. */
	id->backlog = cmd->backlog > 0 && cmd->backlog < MAX_BACKLOG ? cmd->backlog : MAX_BACKLOG;
	ret = wf_cm_listen(cm, id->service, id);
	if (ret != 0)
		return ret;
	id->state = WV_UCMA_LISTEN;
	ret = wf_nic_service(ch->nic, WF_LIVE_SERVICE_LISTEN, &id->service, 0);
	if (ret != 0) {
		wf_cm_unlisten(cm, id->service);
		id->state = WV_UCMA_BOUND;
	}
	return ret;
}

static int set_id_option(struct wv_ucma_id *id, const struct rdma_ucm_set_option *cmd)
{
	const void *value = (const void *)(uintptr_t)cmd->optval;
	uint8_t byte = 0;
	int number = 0;

	switch (cmd->optname) {
	case RDMA_OPTION_ID_TOS:
	case RDMA_OPTION_ID_ACK_TIMEOUT:
		if (cmd->optlen != 1)
			return -EINVAL;
		if (!wv_guard_store(&byte, value, 1))
			return -EFAULT;
		if (cmd->optname == RDMA_OPTION_ID_TOS)
			id->tos = byte;
		else
			id->ack_timeout = byte & 31;
		return 0;
	case RDMA_OPTION_ID_REUSEADDR:
	case RDMA_OPTION_ID_AFONLY:
		if (cmd->optlen != sizeof(number))
			return -EINVAL;
		if (!wv_guard_store(&number, value, sizeof(number)))
			return -EFAULT;
		if (cmd->optname == RDMA_OPTION_ID_REUSEADDR)
			id->reuse = number != 0;
		return 0;
	default:
		return -ENOSYS;
	}
}

int wv_ucma_set_option(struct wv_ucma_channel *ch, const void *in, size_t out)
{
	const struct rdma_ucm_set_option *cmd = in;
	struct wv_ucma_id *id;
	int ret = wv_ucma_get(ch, cmd->id, &id);

	(void)out;
	if (ret != 0)
		return ret;
	return cmd->level == RDMA_OPTION_ID ? set_id_option(id, cmd) : -ENOSYS;
}

/* A name for a membership that no other has, on any channel: ids go from one to another. */
static uint32_t mc_handle(void)
{
	uint32_t handle = 0;

	for (uint32_t h = 0; h <= UINT16_MAX; h++) {
		const struct wv_ucma_id *id = wv_ucma_find(h);

		for (const struct wv_ucma_mc *mc = id == NULL ? NULL : id->mcs; mc != NULL;
		     mc = mc->next)
			handle = mc->handle >= handle ? mc->handle + 1 : handle;
	}
	return handle;
}

/* Tells where datagrams for the group go; librdmacm has the queue pair join it itself. */
static int tell_joined(struct wv_ucma_id *id, struct wv_ucma_mc *mc, const uint8_t gid[16],
                       uint32_t group)
{
	struct wv_ucma_event *event = wv_ucma_event(id, WV_UCMA_MULTICAST_JOIN, 0);

	if (event == NULL)
		return -ENOMEM;
	event->mc = mc;
	event->resp.uid = mc->uid;
	event->resp.param.ud.qp_num = WF_QPN_MULTICAST;
	event->resp.param.ud.qkey = WV_UCMA_QKEY;
	wv_ucma_ah(id, gid, wf_lid_multicast(group), &event->resp.param.ud.ah_attr);
	wv_ucma_post(event);
	return 0;
}

/* The membership of that name; NULL: it is left by now. */
static struct wv_ucma_mc *find_mc(uint32_t cookie)
{
	for (uint32_t h = 0; h <= UINT16_MAX; h++) {
		const struct wv_ucma_id *id = wv_ucma_find(h);

		for (struct wv_ucma_mc *mc = id == NULL ? NULL : id->mcs; mc != NULL;
		     mc = mc->next) {
			if (mc->asked && mc->cookie == cookie)
				return mc;
		}
	}
	return NULL;
}

void wv_on_joined(void *arg, const struct wf_live_joined *j)
{
	struct wv_ucma_mc *mc = find_mc(j->cookie);
	struct ib_uverbs_ah_attr *ah;
	struct wv_ucma_event *event;

	(void)arg;
	if (mc == NULL)
		return;
	event = wv_ucma_event(mc->id,
	                      j->status == 0 ? WV_UCMA_MULTICAST_JOIN : WV_UCMA_MULTICAST_ERROR,
	                      j->status);
	if (event == NULL)
		return;
	event->mc = mc;
	event->resp.uid = mc->uid;
	if (j->status == 0) {
		ah = &event->resp.param.ud.ah_attr;
		event->resp.param.ud.qp_num = WF_QPN_MULTICAST;
		event->resp.param.ud.qkey = j->qkey;
		wv_ucma_ah(mc->id, mc->gid, j->mlid, ah);
		ah->sl = j->sl;
		ah->static_rate = j->rate;
		ah->grh.flow_label = j->flow_label;
		ah->grh.hop_limit = j->hop_limit;
		ah->grh.traffic_class = j->tclass;
	}
	wv_ucma_post(event);
}

/* The subnet administration is asked, which answers by an event: wv_on_joined(). */
static int ask_to_join(struct wv_ucma_id *id, struct wv_ucma_mc *mc)
{
	struct wf_nic *nic = id->channel->nic;
	int ret;

	mc->asked = true;
	mc->next = id->mcs;
	id->mcs = mc;
	ret = wf_nic_join_host(nic, mc->gid, id->space == RDMA_PS_IPOIB, &mc->cookie);
	if (ret != 0)
		id->mcs = mc->next; /* no other command has come between */
	return ret;
}

int wv_ucma_join_ip_mcast(struct wv_ucma_channel *ch, const void *in, size_t out)
{
	const struct rdma_ucm_join_ip_mcast *cmd = in;
	struct rdma_ucm_create_id_resp resp;
	struct wf_ah_attr to = { .is_global = true };
	struct wv_ucma_id *id;
	struct wv_ucma_mc *mc;
	bool managed = wf_nic_table(ch->nic)->managed != 0;
	int ret = wv_ucma_get(ch, cmd->id, &id);

	if (ret != 0)
		return ret;
	if (!id->device)
		return -EINVAL;
	ret = wv_ucma_group_gid(id, &cmd->addr, to.dgid);
	if (ret == 0 && !managed)
		ret = wf_nic_resolve(ch->nic, &to);
	if (ret != 0)
		return ret;
	mc = calloc(1, sizeof(*mc));
	if (mc == NULL)
		return -ENOMEM;
	mc->id = id;
	mc->uid = cmd->uid;
	mc->handle = mc_handle();
	resp.id = mc->handle;
	ret = wv_ucma_answer(cmd->response, out, &resp, sizeof(resp));
	memcpy(mc->gid, to.dgid, sizeof(mc->gid));
	if (ret == 0 && managed)
		ret = ask_to_join(id, mc);
	else if (ret == 0)
		ret = tell_joined(id, mc, to.dgid, to.dest);
	if (ret != 0)
		free(mc);
	if (ret != 0 || managed)
		return ret;
	mc->next = id->mcs;
	id->mcs = mc;
	return 0;
}

/* Drops the events of one membership. */
static void purge_mc(struct wv_ucma_channel *ch, const struct wv_ucma_mc *mc)
{
	for (struct wv_ucma_event *e = ch->events; e != NULL; e = e->next) {
		if (e->mc == mc) {
			wv_ucma_drop(ch, e);
			return; /* there is but one */
		}
	}
}

int wv_ucma_leave_mcast(struct wv_ucma_channel *ch, const void *in, size_t out)
{
	const struct rdma_ucm_destroy_id *cmd = in;
	struct rdma_ucm_destroy_id_resp resp;

	for (uint32_t h = 0; h <= UINT16_MAX; h++) {
		struct wv_ucma_id *id = wv_ucma_find(h);
		struct wv_ucma_mc **at = id == NULL ? NULL : &id->mcs;

		while (at != NULL && *at != NULL && (*at)->handle != cmd->id)
			at = &(*at)->next;
		if (at != NULL && *at != NULL) {
			struct wv_ucma_mc *mc = *at;

			if (id->channel != ch)
				return -EINVAL;
			*at = mc->next;
			purge_mc(ch, mc);
			resp.events_reported = mc->events_reported;
			mc->next = NULL;
			wv_ucma_leave(ch->nic, mc);
			return wv_ucma_answer(cmd->response, out, &resp, sizeof(resp));
		}
	}
	return -ENOENT;
}
