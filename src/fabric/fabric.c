/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fabric.c - from a configuration to what all devices share.
 */
#include "fabric/fabric.h"

#include <errno.h>
#include <string.h>

#include "fabric/telemetry.h"
#include "wire/opcode.h"

#define PACKET_BATCH 64
#define INT_BYTES 42 /* HPCC: 8 for each of five hops, 2 for their number and the path */

enum wf_encap wf_header_encap(const char *name)
{
	if (strcmp(name, "ib") == 0)
		return WF_ENCAP_IB;
	return strcmp(name, "rocev1") == 0 ? WF_ENCAP_ROCE1 : WF_ENCAP_ROCE2_IPV4;
}

/* The bytes around the payload of a packet that has no header behind its BTH. */
static uint32_t header_bytes(const char *name)
{
	enum wf_encap encap = wf_header_encap(name);

	return wf_size_overhead(encap, wf_encap_is_tagged(encap), WF_OP_RC_SEND_ONLY);
}

/* The choices that depend on one another. */
static int check_cfg(const struct wf_fabric_cfg *cfg, const struct wf_flowctl_ops *flowctl,
                     struct wf_err *err)
{
	bool ib = strcmp(cfg->link_layer, "infiniband") == 0;

	if (flowctl->uses_credits != ib)
		return wf_err_say(err,
		                  "flowctl: %s does not go with link_layer %s; "
		                  "infiniband uses credit, ethernet uses pfc or none",
		                  flowctl->name, cfg->link_layer);
	if (cfg->ecn_kmin > cfg->ecn_kmax)
		return wf_err_say(err, "ecn.kmin: larger than ecn.kmax; kmin <= kmax is needed");
	if (cfg->mtu + header_bytes(cfg->header) > UINT16_MAX)
		return wf_err_say(err, "mtu: a packet would be larger than 65535 bytes");
	return 0;
}

static int compile_ecn(struct wf_fabric *fabric, struct wf_err *err)
{
	const struct wf_fabric_cfg *cfg = &fabric->cfg;
	unsigned n;
	int ret = wf_ecn_parse(cfg->ecn_by_rate, fabric->ecn_rates, &n, err);

	if (ret != 0)
		return ret;
	fabric->n_ecn_rates = (uint8_t)n;
	fabric->ecn = (struct wf_ecn){ cfg->ecn_kmin, cfg->ecn_kmax, cfg->ecn_pmax };
	fabric->mark_late = strcmp(cfg->ecn_at, "dequeue") == 0;
	return 0;
}

static int compile_telemetry(struct wf_fabric *fabric, struct wf_err *err)
{
	const struct wf_fabric_cfg *cfg = &fabric->cfg;

	int ret = 0;

	if (strcmp(cfg->switch_int, "int") == 0) {
		fabric->telemetry = WF_TELEMETRY_INT;
		fabric->int_bytes = INT_BYTES;
	} else if (strcmp(cfg->switch_int, "pint") == 0) {
		fabric->telemetry = WF_TELEMETRY_PINT;
		ret = wf_pint_init(&fabric->pint, cfg, fabric->mem, err);
		fabric->int_bytes =
			fabric->pint.codes <= 257 ? 1 : 2; /* the last stands for more */
	}
	fabric->max_wire += fabric->int_bytes;
	fabric->largest += fabric->int_bytes;
	return ret;
}

/*
 * The step in which packets say when they were born. 17.5 s are 2 GB at 1 Gb/s, more than waits
 * anywhere on a packet's way; where links are slower, steps are longer in the same proportion.
 */
static uint8_t born_step(const struct wf_topo *topo)
{
	uint64_t slowest = UINT64_C(1000000000);
	uint8_t step = WF_PACKET_BORN_STEP;

	for (uint32_t i = 0; i < topo->n_links; i++)
		slowest = wf_min_u64(slowest, topo->links[i].rate);
	for (; slowest < UINT64_C(1000000000); slowest *= 2)
		step++;
	return step;
}

static bool has_global_links(const struct wf_topo *topo)
{
	for (uint32_t i = 0; i < topo->n_ports; i++) {
		if (topo->ports[i].global)
			return true;
	}
	return false;
}

int wf_fabric_init(struct wf_fabric *fabric, const struct wf_fabric_cfg *cfg,
                   const struct wf_topo *topo, uint64_t seed, struct wf_mem *mem,
                   struct wf_err *err)
{
	const struct wf_flowctl_ops *flowctl = wf_flowctl_find(cfg->flowctl);
	const struct wf_route_ops *route = wf_route_find(cfg->routing);
	enum wf_encap encap = wf_header_encap(cfg->header);
	enum wf_encap largest = strcmp(cfg->header, "roce") == 0 ? WF_ENCAP_ROCE1 : encap;
	int ret;

	if (flowctl == NULL)
		return wf_err_say(err, "flowctl: there is no \"%s\"; see weft list flowctl",
		                  cfg->flowctl);
	if (route == NULL)
		return wf_err_say(err, "routing: there is no \"%s\"; see weft list routing",
		                  cfg->routing);
	ret = check_cfg(cfg, flowctl, err);
	if (ret != 0)
		return ret;

	memset(fabric, 0, sizeof(*fabric));
	fabric->cfg = *cfg;
	fabric->mem = mem;
	fabric->born_step = born_step(topo);
	ret = wf_classes_parse(cfg, &fabric->classes, err);
	if (ret != 0)
		return ret;
	fabric->flowctl = flowctl;
	fabric->route = route;
	if (route == &wf_route_adaptive &&
	    (cfg->adaptive_low | (uint64_t)cfg->adaptive_delay | (uint64_t)cfg->adaptive_bind) != 0)
		fabric->route = &wf_route_graded;
	fabric->sched = flowctl->uses_credits ? &wf_sched_vlarb : &wf_sched_ets;
	fabric->topo = topo;
	fabric->classes.high_limit = cfg->vl_high_limit;
	fabric->seed = seed;
	fabric->gap = wf_narrow_u32(cfg->link_gap);
	fabric->header = header_bytes(cfg->header);
	fabric->max_wire =
		wf_narrow_u32(cfg->mtu) +
		wf_size_overhead(largest, wf_encap_is_tagged(largest), WF_OP_RC_SEND_ONLY);
	fabric->roce1 = encap == WF_ENCAP_ROCE1;
	fabric->largest = wf_narrow_u32(cfg->mtu) +
	                  wf_size_overhead_max(largest, wf_encap_is_tagged(largest));
	fabric->control_size =
		flowctl->uses_credits ? WF_SIZE_FCP_ON_LINK : wf_narrow_u32(cfg->pfc_frame);
	ret = compile_ecn(fabric, err);
	if (ret != 0)
		return ret;
	fabric->fecn = flowctl->uses_credits && cfg->fecn_threshold != 0;
	fabric->fecn_bytes = wf_narrow_u32(cfg->vl_buffer * (16 - cfg->fecn_threshold) / 16);
	ret = compile_telemetry(fabric, err);
	if (ret != 0)
		return ret;
	fabric->departs =
		fabric->telemetry != WF_TELEMETRY_NONE || fabric->mark_late || fabric->fecn;
	fabric->careful = fabric->departs || flowctl->uses_credits;
	if (flowctl->uses_credits && has_global_links(topo))
		fabric->vl_shift = wf_narrow_u8(cfg->vl_count / 2);
	return wf_fabric_find_routes(fabric, NULL, &fabric->routes);
}

int wf_fabric_find_routes(const struct wf_fabric *fabric, const uint8_t *down,
                          struct wf_routes **routes_p)
{
	struct wf_routes *routes;
	int ret = wf_routes_create(fabric->topo, down, fabric->mem, &routes);

	if (ret != 0)
		return ret;
	if (fabric->route == &wf_route_lft)
		ret = wf_routes_fill_lft(routes, fabric->topo);
	if (ret != 0) {
		wf_routes_destroy(routes);
		return ret;
	}
	*routes_p = routes;
	return 0;
}

void wf_fabric_fini(struct wf_fabric *fabric)
{
	wf_pint_fini(&fabric->pint, fabric->mem);
	wf_routes_destroy(fabric->routes);
	fabric->routes = NULL;
}

wf_time wf_fabric_pipeline(const struct wf_fabric_cfg *cfg, const struct wf_topo_node *node)
{
	if (node->kind == WF_TOPO_HOST)
		return cfg->nic_rx;
	return node->has_latency ? node->latency : cfg->switch_latency;
}

wf_time wf_fabric_delay(const struct wf_fabric *fabric, const struct wf_topo_link *link,
                        const struct wf_topo_node *node)
{
	const struct wf_fabric_cfg *cfg = &fabric->cfg;

	return link->delay + cfg->link_phy + wf_fabric_pipeline(cfg, node);
}

static bool refill(struct wf_fabric_shard *shard)
{
	struct wf_packet *batch = wf_shard_alloc(shard->shard, PACKET_BATCH * sizeof(*batch));

	if (batch == NULL) {
		wf_shard_no_memory(shard->shard);
		return false;
	}
	for (int i = PACKET_BATCH - 1; i >= 0; i--)
		wf_packet_put(shard, &batch[i]);
	return true;
}

struct wf_packet *wf_packet_get(struct wf_fabric_shard *shard)
{
	struct wf_packet *pkt;

	if (wf_unlikely(shard->free == NULL) && !refill(shard))
		return NULL;
	pkt = shard->free;
	shard->free = pkt->next;
	return pkt;
}
