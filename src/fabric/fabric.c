/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fabric.c - from a configuration to what all devices share.
 */
#include "fabric/fabric.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "fabric/telemetry.h"
#include "wire/opcode.h"
#include "wire/tcp.h"

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
	if (cfg->mtu + header_bytes(cfg->header) > UINT16_MAX)
		return wf_err_say(err, "mtu: a packet would be larger than 65535 bytes");
	return 0;
}

/* Whether switches go by grades of their ports, not by what waits there at the moment. */
static bool is_graded(const struct wf_fabric_cfg *cfg)
{
	return (cfg->adaptive_low | (uint64_t)cfg->adaptive_delay | (uint64_t)cfg->adaptive_bind) !=
	       0;
}

/* Which setup each device and port has is the fabric's own to change. */
static int copy_numbers(struct wf_fabric *fabric, const struct wf_devices *devices)
{
	struct wf_mem *mem = fabric->mem;
	size_t nodes = fabric->topo->n_nodes * sizeof(uint16_t);
	size_t ports = fabric->topo->n_ports * sizeof(uint16_t);

	fabric->setup_of_node = mem->alloc(mem, nodes);
	fabric->setup_of_port = mem->alloc(mem, ports);
	if (fabric->setup_of_node == NULL || fabric->setup_of_port == NULL)
		return -ENOMEM;
	memcpy(fabric->setup_of_node, devices->of_node, nodes);
	memcpy(fabric->setup_of_port, devices->of_port, ports);
	return 0;
}

/*
 * How long a link that sends again what it loses may hold a packet up, at the most; 0: none does.
 */
static wf_time longest_retries(const struct wf_fabric *fabric)
{
	wf_time most = 0, phy = 0, round = 0;
	uint32_t max = 0;

	for (unsigned i = 0; i < fabric->n_setups; i++) {
		const struct wf_setup *s = &fabric->setups[i];

		phy = wf_max_time(phy, s->cfg.link_phy);
		if (!s->retries)
			continue;
		round = wf_max_time(round, s->cfg.retry_delay);
		max = s->cfg.retry_max > max ? s->cfg.retry_max : max;
	}
	for (uint32_t i = 0; max != 0 && i < fabric->topo->n_links; i++) {
		const struct wf_topo_link *l = &fabric->topo->links[i];

		most = wf_max_time(most, max * (wf_fabric_slowest_packet(fabric, l) +
		                                2 * (l->delay + phy) + round));
	}
	return most;
}

/* Compiles what devices are set to, and what of it the packet path has to look at at all. */
static int compile_setups(struct wf_fabric *fabric, const struct wf_devices *devices,
                          struct wf_err *err)
{
	unsigned n = devices == NULL ? 1 : devices->n + 1;
	int ret;

	assert(n <= WF_MAX_SETUPS);
	fabric->n_setups = n;
	fabric->setups = fabric->mem->alloc(fabric->mem, n * sizeof(*fabric->setups));
	if (fabric->setups == NULL)
		return -ENOMEM;
	ret = wf_setups_compile(&fabric->cfg, devices, fabric->setups, fabric->dscp, err);
	if (ret != 0)
		return ret;
	fabric->classes = fabric->setups[0].classes;
	fabric->departs = fabric->telemetry != WF_TELEMETRY_NONE;
	fabric->slowest = (uint64_t)WF_PARAM_AUTO;
	fabric->narrowest = WF_RATIO_ONE;
	for (unsigned i = 0; i < n; i++) {
		const struct wf_setup *s = &fabric->setups[i];

		fabric->departs |= s->mark_late || s->fecn;
		fabric->watchdogs |= s->watchdog.rules != NULL || s->adapter_watchdog.rules != NULL;
		fabric->slowest = wf_min_u64(fabric->slowest, s->cfg.link_rate);
		fabric->narrowest = wf_min_u64(fabric->narrowest, s->cfg.link_width);
		/* InfiniBand's local packets have no hop limit: there they circle for ever. */
		fabric->hops_count |=
			s->cfg.switch_reconverge != WF_PARAM_AUTO && !fabric->flowctl->uses_credits;
		if (fabric->route == &wf_route_ecmp && s->hash_fields != WF_HASH_ALL)
			fabric->route = &wf_route_hashed;
		if (fabric->route == &wf_route_adaptive && is_graded(&s->cfg))
			fabric->route = &wf_route_graded;
		fabric->maps |=
			!s->maps.same || s->maps.marks ||
			memcmp(s->classes.of, fabric->classes.of, sizeof(s->classes.of)) != 0;
	}
	fabric->retry_time = longest_retries(fabric);
	fabric->careful = fabric->departs || fabric->flowctl->uses_credits;
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
                   const struct wf_devices *devices, const struct wf_topo *topo, uint64_t seed,
                   struct wf_mem *mem, struct wf_err *err)
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
	if (ret == 0)
		ret = wf_fabric_check_ports(cfg, topo->host_ports, err);
	if (ret != 0)
		return ret;

	memset(fabric, 0, sizeof(*fabric));
	fabric->cfg = *cfg;
	fabric->mem = mem;
	fabric->born_step = born_step(topo);
	fabric->flowctl = flowctl;
	fabric->route = route;
	fabric->sched = flowctl->uses_credits ? &wf_sched_vlarb : &wf_sched_ets;
	fabric->topo = topo;
	fabric->seed = seed;
	fabric->gap = wf_narrow_u32(cfg->link_gap);
	fabric->header = header_bytes(cfg->header);
	fabric->max_wire =
		wf_narrow_u32(cfg->mtu) +
		wf_size_overhead(largest, wf_encap_is_tagged(largest), WF_OP_RC_SEND_ONLY);
	fabric->by_port = topo->host_ports > 1 && flowctl->uses_credits;
	fabric->roce1 = encap == WF_ENCAP_ROCE1;
	fabric->largest = wf_narrow_u32(cfg->mtu) +
	                  wf_size_overhead_max(largest, wf_encap_is_tagged(largest));
	if (cfg->tcp.mtu != (uint64_t)WF_PARAM_AUTO) {
		uint32_t segment = wf_tcp_largest(wf_narrow_u32(cfg->tcp.mtu), encap);

		fabric->max_wire = segment > fabric->max_wire ? segment : fabric->max_wire;
		fabric->largest = segment > fabric->largest ? segment : fabric->largest;
	}
	fabric->control_size =
		flowctl->uses_credits ? WF_SIZE_FCP_ON_LINK : wf_narrow_u32(cfg->pfc_frame);
	ret = compile_telemetry(fabric, err);
	if (ret == 0 && devices != NULL)
		ret = copy_numbers(fabric, devices);
	if (ret == 0)
		ret = compile_setups(fabric, devices, err);
	if (ret != 0)
		return ret;
	if (flowctl->uses_credits && has_global_links(topo))
		fabric->vl_shift = wf_narrow_u8(cfg->vl_count / 2);
	return wf_fabric_find_routes(fabric, NULL, &fabric->routes);
}

int wf_fabric_find_routes(const struct wf_fabric *fabric, const uint8_t *down,
                          struct wf_routes **routes_p)
{
	struct wf_routes *routes;
	int ret = fabric->by_port
	                  ? wf_routes_create_by_port(fabric->topo, down, fabric->mem, &routes)
	                  : wf_routes_create(fabric->topo, down, fabric->mem, &routes);

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

/* What devices have queues and state for cannot change while they are there. */
static int check_running(const struct wf_fabric *is, const struct wf_fabric *next,
                         struct wf_err *err)
{
	if (next->classes.n != is->classes.n)
		return wf_err_say(err,
		                  "maps: a map or a list of classes names a priority for which "
		                  "the fabric has no queues; its profile has to name it "
		                  "before it runs");
	if (next->slowest < is->slowest)
		return wf_err_say(err,
		                  "link.rate: while the fabric runs, no link can be slower than "
		                  "%" PRIu64 " kb/s",
		                  is->slowest / 1000);
	if (next->narrowest < is->narrowest)
		return wf_err_say(err,
		                  "link.width: while the fabric runs, no link can be narrower than "
		                  "%" PRIu64 "/65536",
		                  is->narrowest);
	if (next->route != is->route && next->route == &wf_route_graded)
		return wf_err_say(err, "adaptive: thresholds cannot be set while the fabric runs");
	if (next->watchdogs != is->watchdogs)
		return wf_err_say(err, "watchdog: none can be set while the fabric runs");
	return 0;
}

int wf_fabric_more_setups(struct wf_fabric *fabric, const struct wf_devices *devices,
                          struct wf_setup **old_p, struct wf_err *err)
{
	struct wf_mem *mem = fabric->mem;
	struct wf_fabric next = *fabric;
	int ret = 0;

	next.setups = NULL;
	if (fabric->setup_of_node == NULL)
		ret = copy_numbers(&next, devices);
	if (ret == 0)
		ret = compile_setups(&next, devices, err);
	if (ret == 0)
		ret = check_running(fabric, &next, err);
	if (ret != 0) {
		mem->free(mem, next.setups);
		if (fabric->setup_of_node == NULL) {
			mem->free(mem, next.setup_of_node);
			mem->free(mem, next.setup_of_port);
		}
		return ret;
	}
	next.slowest = fabric->slowest;
	next.narrowest = fabric->narrowest;
	next.retry_time = fabric->retry_time;
	*old_p = fabric->setups;
	*fabric = next;
	return 0;
}

void wf_fabric_fini(struct wf_fabric *fabric)
{
	wf_pint_fini(&fabric->pint, fabric->mem);
	wf_routes_destroy(fabric->routes);
	fabric->routes = NULL;
	if (fabric->mem != NULL) {
		fabric->mem->free(fabric->mem, fabric->setups);
		fabric->mem->free(fabric->mem, fabric->setup_of_node);
		fabric->mem->free(fabric->mem, fabric->setup_of_port);
	}
	fabric->setups = NULL;
	fabric->setup_of_node = fabric->setup_of_port = NULL;
}

wf_time wf_fabric_pipeline(const struct wf_fabric_cfg *cfg, const struct wf_topo_node *node)
{
	if (node->kind == WF_TOPO_HOST)
		return cfg->nic_rx;
	return node->has_latency ? node->latency : cfg->switch_latency;
}

wf_time wf_fabric_delay(const struct wf_fabric *fabric, const struct wf_topo_link *link, bool to_a)
{
	uint32_t node = to_a ? link->a : link->b;
	const struct wf_setup *port =
		wf_fabric_port_setup(fabric, node, to_a ? link->a_port : link->b_port);

	return link->delay + port->cfg.link_phy +
	       wf_fabric_pipeline(&port->cfg, &fabric->topo->nodes[node]);
}

uint64_t wf_fabric_rate(const struct wf_fabric *fabric, const struct wf_topo_link *link)
{
	const struct wf_fabric_cfg *cfg = &wf_fabric_port_setup(fabric, link->a, link->a_port)->cfg;

	uint64_t rate = wf_min_u64(wf_fabric_part(link->rate, cfg->link_width), cfg->link_rate);
	uint64_t trained = 0;

	if (fabric->trained != NULL)
		trained = fabric->trained[link - fabric->topo->links];
	return trained != 0 ? wf_min_u64(rate, trained) : rate;
}

void wf_fabric_slow(struct wf_fabric *fabric, uint64_t rate)
{
	fabric->slowest = wf_min_u64(fabric->slowest, rate);
	fabric->retry_time = longest_retries(fabric);
}

wf_time wf_fabric_slowest_packet(const struct wf_fabric *fabric, const struct wf_topo_link *link)
{
	uint64_t rate = wf_min_u64(wf_fabric_part(link->rate, fabric->narrowest), fabric->slowest);

	return wf_rate_time(wf_rate_per_byte(rate), fabric->largest + fabric->gap) + 1;
}

static WF_SELDOM bool refill(struct wf_fabric_shard *shard)
{
	size_t size = shard->timed ? sizeof(struct wf_packet_timed) : sizeof(struct wf_packet);
	char *batch = wf_shard_alloc(shard->shard, PACKET_BATCH * size);

	if (batch == NULL) {
		wf_shard_no_memory(shard->shard);
		return false;
	}
	for (int i = PACKET_BATCH - 1; i >= 0; i--)
		wf_packet_put(shard, (struct wf_packet *)(void *)(batch + (size_t)i * size));
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
