/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ucma_addr.c - which host of the fabric an IP address means, and how the way there is described.
 *
 * Hosts have addresses in 127.77.0.0/16. Any other address of this machine (127.0.0.1, that of an
 * interface) means whatever host has somebody listening at that port, the program's own before
 * others: so programs that find each other by the machine's name do so here, too. Where the host is
 * on the wire, all other addresses are outside.
 */
#include <arpa/inet.h>
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "compat/cm/ucma_priv.h"
#include "rdma/verbs.h"
#include "wire/byte.h"
#include "wire/ib.h"
#include "wire/transport.h"

#define FABRIC_NET 0x7f4d0000 /* 127.77.0.0 */
#define FABRIC_MASK 0xffff0000
#define HOP_LIMIT 64
#define EXACTLY 2 /* selectors in a path record */

static const uint8_t v4_mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

/* Whether it is an IPv4 address, perhaps in IPv6's clothes. */
static bool get_v4(const struct sockaddr_in6 *sa, uint32_t *ip)
{
	if (sa->sin6_family == AF_INET) {
		*ip = ntohl(((const struct sockaddr_in *)(const void *)sa)->sin_addr.s_addr);
		return true;
	}
	if (memcmp(&sa->sin6_addr, v4_mapped, sizeof(v4_mapped)) != 0)
		return false;
	*ip = wf_be32_get((const uint8_t *)&sa->sin6_addr + 12);
	return true;
}

bool wv_ucma_is_any(const struct sockaddr_in6 *sa)
{
	uint32_t ip;

	if (sa->sin6_family == 0)
		return true;
	return get_v4(sa, &ip) ? ip == 0 : IN6_IS_ADDR_UNSPECIFIED(&sa->sin6_addr);
}

_Static_assert(offsetof(struct sockaddr_in, sin_port) == offsetof(struct sockaddr_in6, sin6_port) &&
                       sizeof(struct sockaddr_in) <= sizeof(struct sockaddr_in6),
               "one stands for the other");

/* sockaddr_in has it at the same place. */
uint16_t wv_ucma_port(const struct sockaddr_in6 *sa)
{
	return ntohs(sa->sin6_port);
}

void wv_ucma_set_port(struct sockaddr_in6 *sa, uint16_t port)
{
	sa->sin6_port = htons(port);
}

static void put_v4(struct sockaddr_in6 *sa, uint32_t ip)
{
	struct sockaddr_in *in = (struct sockaddr_in *)(void *)sa;

	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(ip);
}

/* The address as a GID. */
static void to_gid(const struct sockaddr_in6 *sa, uint8_t gid[16])
{
	uint32_t ip;

	memcpy(gid, &sa->sin6_addr, 16);
	if (get_v4(sa, &ip)) {
		memcpy(gid, v4_mapped, sizeof(v4_mapped));
		wf_be32_put(gid + 12, ip);
	}
}

void wv_ucma_own(struct wf_nic *nic, const struct sockaddr_in6 *dst, struct sockaddr_in6 *sa)
{
	const struct wf_live_table *t = wf_nic_table(nic);
	uint32_t host = wf_nic_host(nic);
	in_port_t port = sa->sin6_port;
	uint8_t gid[16];

	memset(sa, 0, sizeof(*sa));
	sa->sin6_port = port;
	if (dst->sin6_family == AF_INET) {
		put_v4(sa, t->host[host].ipv4);
		return;
	}
	sa->sin6_family = AF_INET6;
	to_gid(dst, gid);
	if (!wf_nic_is_outside(nic, gid) ||
	    !wf_live_gid(t, host, wf_live_source(gid), (uint8_t *)&sa->sin6_addr))
		(void)wf_live_gid(t, host, WF_LIVE_GID_LOCAL, (uint8_t *)&sa->sin6_addr);
	else if (wf_live_source(gid) == WF_LIVE_GID_LOCAL)
		sa->sin6_scope_id = dst->sin6_scope_id;
}

/* The host of an address; -1: nobody's, -2: not one of the fabric's. */
static int host_of(struct wf_nic *nic, const struct sockaddr_in6 *sa)
{
	const struct wf_live_table *t = wf_nic_table(nic);
	bool on_wire = (t->host[wf_nic_host(nic)].wire & 1u << WF_LIVE_GID_LOCAL) != 0;
	uint32_t ip;
	int host;

	if (get_v4(sa, &ip)) {
		for (uint32_t h = 0; h < t->n_hosts; h++) {
			if (t->host[h].ipv4 == ip)
				return (int)h;
		}
		return (ip & FABRIC_MASK) == FABRIC_NET ? -1 : -2;
	}
	host = wf_live_host_of_gid(t, (const uint8_t *)&sa->sin6_addr);
	return host < 0 && (!IN6_IS_ADDR_LINKLOCAL(&sa->sin6_addr) || on_wire) ? -2 : host;
}

int wv_ucma_check_own(struct wf_nic *nic, const struct sockaddr_in6 *sa)
{
	int host;

	if (sa->sin6_family != AF_INET && sa->sin6_family != AF_INET6)
		return -EAFNOSUPPORT;
	host = wv_ucma_is_any(sa) ? -2 : host_of(nic, sa);
	return host == -2 || host == (int)wf_nic_host(nic) ? 0 : -EADDRNOTAVAIL;
}

static bool is_group(const struct sockaddr_in6 *sa)
{
	uint32_t ip;

	return get_v4(sa, &ip) ? IN_MULTICAST(ip) : IN6_IS_ADDR_MULTICAST(&sa->sin6_addr);
}

/* Whether an address is one of this machine's: only then can a socket have it. */
static bool is_local(const struct sockaddr_in6 *sa)
{
	struct sockaddr_in6 at = *sa;
	int fd = socket(sa->sin6_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool yes;

	at.sin6_port = 0;
	yes = fd >= 0 &&
	      bind(fd, (struct sockaddr *)&at,
	           sa->sin6_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(at)) == 0;
	if (fd >= 0)
		close(fd);
	return yes;
}

/* "This machine", whatever its addresses are. */
static bool is_loopback(const struct sockaddr_in6 *sa)
{
	uint32_t ip;

	return get_v4(sa, &ip) ? ip == INADDR_LOOPBACK : IN6_IS_ADDR_LOOPBACK(&sa->sin6_addr);
}

/*
 * An address that is no host's. One of the machine's, where somebody within the fabric listens,
 * means that one; the rest is on the wire, if there is one; or else the program's own host.
 */
static int resolve_other(struct wv_ucma_id *id)
{
	struct wf_nic *nic = id->channel->nic;
	uint64_t service = wf_cm_service(id->space, wv_ucma_port(&id->dst));
	struct wf_ah_attr to = { .is_global = true };
	int ret;

	to_gid(&id->dst, to.dgid);
	id->host = wf_nic_host(nic);
	if (!wf_nic_is_outside(nic, to.dgid) || is_loopback(&id->dst) || wv_ucma_is_any(&id->dst) ||
	    (is_local(&id->dst) && wf_nic_find_service(nic, service, &id->host) == 0)) {
		(void)!wf_nic_find_service(nic, service, &id->host);
		/* Such addresses have no GID of their own. */
		id->sgid = wf_nic_table(nic)->layer == WF_LIVE_IB ? WF_LIVE_GID_LOCAL
		                                                  : WF_LIVE_GID_IPV4;
		return 0;
	}
	ret = wf_nic_resolve(nic, &to);
	id->host = to.dest;
	id->sgid = (uint8_t)wf_live_source(to.dgid);
	return ret;
}

/* Which of its GIDs an id uses within the fabric. */
static uint8_t inner_sgid(const struct wf_live_table *t, const struct sockaddr_in6 *sa)
{
	uint32_t ip;

	return t->layer == WF_LIVE_IB || !get_v4(sa, &ip) ? WF_LIVE_GID_LOCAL : WF_LIVE_GID_IPV4;
}

int wv_ucma_resolve(struct wv_ucma_id *id)
{
	struct wf_nic *nic = id->channel->nic;
	const struct wf_live_table *t = wf_nic_table(nic);
	int host, ret = 0;

	id->sgid = inner_sgid(t, &id->dst);
	id->group = is_group(&id->dst);
	if (id->group)
		return wv_ucma_group_gid(id, &id->dst, id->dgid);
	host = wv_ucma_is_any(&id->dst) ? -2 : host_of(nic, &id->dst);
	if (host >= 0)
		id->host = (uint32_t)host;
	else if (host == -2)
		ret = resolve_other(id);
	else
		ret = -EHOSTUNREACH;
	assert(ret != 0 || id->host < t->n_hosts || (id->host & WF_LIVE_REMOTE) != 0);
	if (ret == 0 && !wf_nic_gid(nic, id->host, id->sgid, id->dgid))
		ret = -EHOSTUNREACH;
	return ret;
}

/*
 * RoCE v2: the address itself. InfiniBand: as IPoIB makes it from the partition and the address
 * (RFC 4391), with the RDMA CM's signature for datagrams that are not IPoIB's.
 */
int wv_ucma_group_gid(const struct wv_ucma_id *id, const struct sockaddr_in6 *sa, uint8_t gid[16])
{
	bool roce = wf_nic_table(id->channel->nic)->layer == WF_LIVE_ROCE;
	const uint8_t *v6 = (const uint8_t *)&sa->sin6_addr;
	uint32_t ip = 0;
	bool v4 = get_v4(sa, &ip);

	if (!is_group(sa))
		return -EINVAL;
	memset(gid, 0, 16);
	if (roce && v4) {
		memcpy(gid, v4_mapped, sizeof(v4_mapped));
		wf_be32_put(gid + 12, ip);
		return 0;
	}
	if (roce || (!v4 && wf_be32_get(v6) == 0xff10a01b)) {
		memcpy(gid, v6, 16);
		return 0;
	}
	gid[0] = 0xff;
	gid[1] = 0x12;
	wf_be16_put(gid + 2, v4 ? 0x401b : 0x601b);
	if (id->space == WF_CM_PS_UDP)
		gid[3] = 0x01;
	wf_be16_put(gid + 4, WF_PKEY_DEFAULT);
	if (v4)
		wf_be32_put(gid + 12, ip & 0x0fffffff);
	else
		memcpy(gid + 6, v6 + 6, 10);
	return 0;
}

void wv_ucma_sgid(const struct wv_ucma_id *id, uint8_t gid[16])
{
	struct wf_nic *nic = id->channel->nic;

	(void)wf_live_gid(wf_nic_table(nic), wf_nic_host(nic), id->sgid, gid);
}

uint16_t wv_ucma_dlid(const struct wv_ucma_id *id)
{
	const struct wf_live_table *t = wf_nic_table(id->channel->nic);

	return id->host < t->n_hosts ? t->host[id->host].lid : 0;
}

uint8_t wv_ucma_mtu(const struct wf_nic *nic)
{
	uint8_t code = WF_MTU_256;

	while (code < WF_MTU_4096 &&
	       wf_mtu_bytes((enum wf_mtu)(code + 1)) <= wf_nic_table(nic)->mtu)
		code++;
	return code;
}

static uint8_t rate_code(const struct wf_live_table *t)
{
	return (uint8_t)mbps_to_ibv_rate((int)(t->rate / 1000000));
}

void wv_ucma_path(const struct wv_ucma_id *id, struct wf_cm_path *path)
{
	struct wf_nic *nic = id->channel->nic;
	const struct wf_live_table *t = wf_nic_table(nic);
	bool roce = t->layer == WF_LIVE_ROCE;

	*path = (struct wf_cm_path){
		/* RoCE has no LIDs: permissive ones. */
		.local_lid = roce ? WF_LID_PERMISSIVE : t->host[wf_nic_host(nic)].lid,
		.remote_lid = roce ? WF_LID_PERMISSIVE : wv_ucma_dlid(id),
		.rate = rate_code(t),
		.traffic_class = id->tos,
		.hop_limit = roce ? HOP_LIMIT : 0,
		.subnet_local = !roce,
		.ack_timeout = id->ack_timeout != 0 ? id->ack_timeout : WV_UCMA_ACK_TIMEOUT,
	};
	wv_ucma_sgid(id, path->local_gid);
	memcpy(path->remote_gid, id->dgid, sizeof(id->dgid));
}

void wv_ucma_path_rec(const struct wv_ucma_id *id, struct ib_user_path_rec *rec)
{
	struct wf_nic *nic = id->channel->nic;
	const struct wf_live_table *t = wf_nic_table(nic);
	uint32_t index;

	memset(rec, 0, sizeof(*rec));
	wv_ucma_sgid(id, rec->sgid);
	memcpy(rec->dgid, id->dgid, sizeof(rec->dgid));
	rec->slid = htobe16(t->host[wf_nic_host(nic)].lid);
	rec->dlid = id->group ? 0 : htobe16(wv_ucma_dlid(id));
	rec->hop_limit = t->layer == WF_LIVE_ROCE ? HOP_LIMIT : 0;
	rec->traffic_class = id->tos;
	rec->reversible = 1;
	rec->numb_path = 1;
	rec->pkey = htobe16(wv_ucma_pkey(id, &index));
	rec->mtu_selector = EXACTLY;
	rec->mtu = wv_ucma_mtu(nic);
	rec->rate_selector = EXACTLY;
	rec->rate = rate_code(t);
	rec->packet_life_time_selector = EXACTLY;
	rec->packet_life_time = WV_UCMA_ACK_TIMEOUT - 1;
}

void wv_ucma_ah(const struct wv_ucma_id *id, const uint8_t dgid[16], uint16_t dlid,
                struct ib_uverbs_ah_attr *ah)
{
	bool roce = wf_nic_table(id->channel->nic)->layer == WF_LIVE_ROCE;

	memset(ah, 0, sizeof(*ah));
	ah->is_global = roce || wf_live_is_group(dgid);
	if (ah->is_global) {
		memcpy(ah->grh.dgid, dgid, 16);
		ah->grh.sgid_index = id->sgid;
		ah->grh.hop_limit = HOP_LIMIT;
		ah->grh.traffic_class = id->tos;
	}
	ah->dlid = roce ? 0 : dlid;
	ah->port_num = 1;
}

uint16_t wv_ucma_pkey(const struct wv_ucma_id *id, uint32_t *index_p)
{
	struct wf_nic *nic = id->channel->nic;
	uint16_t pkey = wf_live_common_pkey(wf_nic_table(nic), wf_nic_host(nic), id->host, index_p);

	/* Where they have none in common: as the system's would, which does not know. */
	return pkey != 0 ? pkey : WF_PKEY_DEFAULT;
}

static void from_bytes(struct sockaddr_in6 *sa, unsigned version, const uint8_t bytes[16],
                       uint16_t port)
{
	memset(sa, 0, sizeof(*sa));
	if (version == 4) {
		put_v4(sa, wf_be32_get(bytes + 12));
	} else {
		sa->sin6_family = AF_INET6;
		memcpy(&sa->sin6_addr, bytes, 16);
	}
	wv_ucma_set_port(sa, port);
}

void wv_ucma_from_ip(const struct wf_cm_ip *ip, const struct wv_ucma_id *listener,
                     struct wv_ucma_id *id)
{
	struct wf_nic *nic = id->channel->nic;

	from_bytes(&id->src, ip->ip, ip->dst, (uint16_t)listener->service);
	from_bytes(&id->dst, ip->ip, ip->src, ip->port);
	id->sgid = inner_sgid(wf_nic_table(nic), &id->dst);
	/* A packet of it is in hand: it is known. */
	if (wf_nic_gid_known(nic, id->host, id->sgid, id->dgid) && (id->host & WF_LIVE_REMOTE) != 0)
		id->sgid = (uint8_t)wf_live_source(id->dgid);
}

static void to_bytes(const struct sockaddr_in6 *sa, uint8_t bytes[16])
{
	if (sa->sin6_family == AF_INET)
		memcpy(bytes + 12, &((const struct sockaddr_in *)(const void *)sa)->sin_addr, 4);
	else
		memcpy(bytes, &sa->sin6_addr, 16);
}

int wv_ucma_to_ip(const struct wv_ucma_id *id, struct wf_cm_ip *ip)
{
	*ip = (struct wf_cm_ip){
		.ip = id->dst.sin6_family == AF_INET ? 4 : 6,
		.port = wv_ucma_port(&id->src),
	};
	if (id->src.sin6_family != id->dst.sin6_family)
		return -EINVAL;
	to_bytes(&id->src, ip->src);
	to_bytes(&id->dst, ip->dst);
	return 0;
}
