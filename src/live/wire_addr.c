/* SPDX-License-Identifier: Apache-2.0 */
/* wire_addr.c - addresses of the machine, sockets at them, and numbers for addresses outside. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "live/wire_priv.h"
#include "wire/byte.h"

#define BUFFER (8 << 20) /* bytes of a socket's buffers, if the system allows */
#define HEADERS_MAX 60   /* BTH and what may follow, pad and ICRC */

static void map_ipv4(uint32_t ipv4, uint8_t gid[16])
{
	memset(gid, 0, 10);
	gid[10] = gid[11] = 0xff;
	wf_be32_put(gid + 12, ipv4);
}

socklen_t wf_wire_sockaddr(const struct wf_dend *e, const uint8_t gid[16], uint16_t port,
                           struct sockaddr_in6 *to)
{
	struct sockaddr_in *in = (struct sockaddr_in *)(void *)to;

	memset(to, 0, sizeof(*to));
	if (wf_live_is_ipv4(gid)) {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		memcpy(&in->sin_addr, gid + 12, 4);
		return sizeof(*in);
	}
	to->sin6_family = AF_INET6;
	to->sin6_port = htons(port);
	memcpy(&to->sin6_addr, gid, 16);
	if (wf_live_source(gid) == WF_LIVE_GID_LOCAL || gid[0] == 0xff)
		to->sin6_scope_id = e->interface;
	return sizeof(*to);
}

static int set(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value)) != 0 ? -errno : 0;
}

/* Don't Fragment, no checksum (the ICRC is better), tell the traffic class. */
static int set_options(int fd, const struct wf_dend *e)
{
	struct in_addr from = { htonl(e->addr.ipv4) };
	int ret;

	if (wf_dend_is_v6(e)) {
		ret = set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
		if (ret == 0)
			ret = set(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO);
		if (ret == 0)
			ret = set(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
		if (ret == 0)
			ret = set(fd, IPPROTO_UDP, UDP_NO_CHECK6_TX, 1);
		if (ret == 0)
			ret = set(fd, IPPROTO_UDP, UDP_NO_CHECK6_RX, 1);
		(void)set(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, (int)e->interface);
		return ret;
	}
	ret = set(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO);
	if (ret == 0)
		ret = set(fd, IPPROTO_IP, IP_RECVTOS, 1);
	if (ret == 0)
		ret = set(fd, SOL_SOCKET, SO_NO_CHECK, 1);
	(void)setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &from, sizeof(from));
	return ret;
}

int wf_wire_socket(const struct wf_dend *e, const uint8_t gid[16], uint16_t port)
{
	struct sockaddr_in6 at;
	socklen_t len = wf_wire_sockaddr(e, gid, port, &at);
	int fd = socket(at.sin6_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int ret;

	if (fd < 0)
		return -errno;
	/* Beyond the system's limit where we may, else up to it. */
	if (set(fd, SOL_SOCKET, SO_RCVBUFFORCE, BUFFER) != 0)
		(void)set(fd, SOL_SOCKET, SO_RCVBUF, BUFFER);
	if (set(fd, SOL_SOCKET, SO_SNDBUFFORCE, BUFFER) != 0)
		(void)set(fd, SOL_SOCKET, SO_SNDBUF, BUFFER);
	ret = set_options(fd, e);
	/* Several fabrics of a machine may be in a group. */
	if (ret == 0 && wf_live_is_group(gid))
		ret = set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (ret == 0 && bind(fd, (struct sockaddr *)&at, len) != 0)
		ret = -errno;
	if (ret != 0) {
		close(fd);
		return ret;
	}
	return fd;
}

static bool get_gid(const struct ifaddrs *one, uint8_t gid[16])
{
	const struct sockaddr_in *in = (const void *)one->ifa_addr;
	const struct sockaddr_in6 *in6 = (const void *)one->ifa_addr;

	if (one->ifa_addr == NULL || (one->ifa_flags & IFF_UP) == 0)
		return false;
	if (one->ifa_addr->sa_family == AF_INET)
		map_ipv4(ntohl(in->sin_addr.s_addr), gid);
	else if (one->ifa_addr->sa_family == AF_INET6)
		memcpy(gid, &in6->sin6_addr, 16);
	else
		return false;
	return true;
}

/*
 * Whether an address of an interface is what was asked for: that one, or for "any" one of its kind.
 */
static bool fits(const struct wf_daemon_wire *cfg, const struct ifaddrs *one, const uint8_t gid[16])
{
	static const uint8_t any[16], any_local[16] = { 0xfe, 0x80 };
	uint8_t any_ipv4[16];

	map_ipv4(0, any_ipv4);
	if (cfg->scope != 0 && cfg->scope != if_nametoindex(one->ifa_name))
		return false;
	if (memcmp(cfg->gid, any_ipv4, 16) == 0 || memcmp(cfg->gid, any, 16) == 0 ||
	    memcmp(cfg->gid, any_local, 16) == 0) {
		enum wf_live_gid_index kind = memcmp(cfg->gid, any, 16) == 0
		                                      ? WF_LIVE_GID_IPV6
		                                      : wf_live_source(cfg->gid);

		return (one->ifa_flags & IFF_LOOPBACK) == 0 && wf_live_source(gid) == kind;
	}
	/* All of 127.0.0.0/8 is loopback's. */
	if (wf_live_is_ipv4(cfg->gid) && cfg->gid[12] == 127)
		return wf_live_is_ipv4(gid) && (one->ifa_flags & IFF_LOOPBACK) != 0;
	return memcmp(cfg->gid, gid, 16) == 0;
}

/* The interface that has the address, which "any" becomes; and its MTU. */
static int find_address(const struct wf_daemon_wire *cfg, struct wf_dend *e, uint32_t *mtu_p)
{
	struct ifaddrs *list, *one;
	struct ifreq req = { .ifr_mtu = 0 };
	uint8_t gid[16];
	int fd;

	if (getifaddrs(&list) != 0)
		return -errno;
	one = list;
	while (one != NULL && (!get_gid(one, gid) || !fits(cfg, one, gid)))
		one = one->ifa_next;
	if (one != NULL) {
		e->interface = if_nametoindex(one->ifa_name);
		strncpy(req.ifr_name, one->ifa_name, sizeof(req.ifr_name) - 1);
		memcpy(e->addr.gid,
		       wf_live_is_ipv4(cfg->gid) && cfg->gid[12] == 127 ? cfg->gid : gid, 16);
		e->addr.ipv4 = wf_be32_get(e->addr.gid + 12);
	}
	freeifaddrs(list);
	if (one == NULL)
		return -EADDRNOTAVAIL;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	*mtu_p = fd >= 0 && ioctl(fd, SIOCGIFMTU, &req) == 0 ? (uint32_t)req.ifr_mtu : 1500;
	if (fd >= 0)
		close(fd);
	return 0;
}

/* The largest payload that fits into packets of an interface, with the longest headers. */
static uint32_t path_mtu(uint32_t mtu, bool v6)
{
	uint32_t size = 4096, ip = v6 ? WF_IPV6_LEN : WF_IPV4_LEN;

	while (size > 256 && size + ip + WF_UDP_LEN + HEADERS_MAX > mtu)
		size /= 2;
	return size;
}

int wf_wire_open_end(struct wf_daemon *d, struct wf_dwire *w, const struct wf_daemon_wire *cfg)
{
	static const uint8_t any[16];
	enum wf_live_gid_index index =
		memcmp(cfg->gid, any, 16) == 0 ? WF_LIVE_GID_IPV6 : wf_live_source(cfg->gid);
	struct epoll_event event = { .events = EPOLLIN, .data = { .ptr = w } };
	struct wf_live_host *h = &d->table->host[w->host];
	struct wf_dend *e = &w->end[index];
	uint32_t mtu = 0;
	int ret;

	if (e->is_open)
		return -EEXIST;
	ret = find_address(cfg, e, &mtu);
	if (ret != 0)
		return ret;
	e->rx = wf_wire_socket(e, e->addr.gid, WF_UDP_PORT_ROCE);
	if (e->rx < 0)
		return e->rx;
	e->is_open = true;
	for (unsigned i = 0; i < WF_WIRE_TX_PORTS; i++)
		e->tx[i].fd = -1;
	h->wire |= 1u << index;
	if (index == WF_LIVE_GID_IPV4)
		h->ipv4 = e->addr.ipv4;
	else
		memcpy(index == WF_LIVE_GID_LOCAL ? h->link_local : h->ipv6, e->addr.gid, 16);
	if (path_mtu(mtu, wf_dend_is_v6(e)) < d->table->mtu)
		d->table->mtu = path_mtu(mtu, wf_dend_is_v6(e));
	return epoll_ctl(w->epoll, EPOLL_CTL_ADD, e->rx, &event) != 0 ? -errno : 0;
}
