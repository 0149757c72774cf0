/* SPDX-License-Identifier: Apache-2.0 */
/* wire.c - packets between programs' rings and UDP sockets. */
#define _GNU_SOURCE
#include "live/wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/rng.h"
#include "wire/byte.h"
#include "wire/icrc_id.h"
#include "wire/opcode.h"
#include "wire/packet_codec.h"

#define TX_PORTS 32      /* source ports of a host */
#define TX_FIRST 0xc000  /* of this range */
#define BATCH 64         /* packets before another's turn */
#define BUFFER (4 << 20) /* bytes of a socket's buffers, if the system allows */
#define HEAD (WF_ETH_LEN + WF_IPV4_LEN + WF_UDP_LEN)
#define DOMAIN 0x77697265 /* of the random numbers */

struct wf_dwire {
	uint32_t host;
	int rx;
	int wake; /* eventfd: programs have sent something */
	struct {
		int fd;
		uint16_t port;
	} tx[TX_PORTS];
	uint64_t draws;
	uint64_t dropped, icrc_errors;
};

static struct wf_dwire *find_wire(struct wf_daemon *d, uint32_t host)
{
	for (uint32_t i = 0; i < d->n_wires; i++) {
		if (d->wires[i].host == host)
			return &d->wires[i];
	}
	return NULL;
}

bool wf_wire_owns(const struct wf_daemon *d, const void *what)
{
	const struct wf_dwire *w = what;

	return d->n_wires != 0 && w >= d->wires && w < d->wires + d->n_wires;
}

static int watch(struct wf_daemon *d, int fd, void *what)
{
	struct epoll_event event = { .events = EPOLLIN, .data = { .ptr = what } };

	return epoll_ctl(d->epoll, EPOLL_CTL_ADD, fd, &event) != 0 ? -errno : 0;
}

static int open_socket(uint32_t ipv4, uint16_t port)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		                  .sin_port = htons(port),
		                  .sin_addr = { htonl(ipv4) } };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int on = 1, discover = IP_PMTUDISC_DO, size = BUFFER;

	if (fd < 0)
		return -errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	if (setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &discover, sizeof(discover)) != 0 ||
	    setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof(on)) != 0 ||
	    setsockopt(fd, IPPROTO_IP, IP_RECVTOS, &on, sizeof(on)) != 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_NO_CHECK, &on, sizeof(on)) != 0 ||
	    bind(fd, (struct sockaddr *)&at, sizeof(at)) != 0) {
		int ret = -errno;

		close(fd);
		return ret;
	}
	return fd;
}

/* The address by which 0.0.0.0 is known: the first that is not loopback; and the interface's MTU. */
static int find_address(uint32_t *ipv4, uint32_t *mtu_p)
{
	struct ifaddrs *list, *one;
	struct ifreq req = { .ifr_mtu = 0 };
	uint32_t found = 0;
	int fd;

	if (getifaddrs(&list) != 0)
		return -errno;
	for (one = list; one != NULL; one = one->ifa_next) {
		const struct sockaddr_in *in = (const void *)one->ifa_addr;

		if (in == NULL || in->sin_family != AF_INET || (one->ifa_flags & IFF_UP) == 0)
			continue;
		if (*ipv4 == 0 ? (one->ifa_flags & IFF_LOOPBACK) != 0
		               : (ntohl(in->sin_addr.s_addr) != *ipv4 &&
		                  (*ipv4 >> 24 != 127 || (one->ifa_flags & IFF_LOOPBACK) == 0)))
			continue;
		found = *ipv4 != 0 ? *ipv4 : ntohl(in->sin_addr.s_addr);
		strncpy(req.ifr_name, one->ifa_name, sizeof(req.ifr_name) - 1);
		break;
	}
	freeifaddrs(list);
	if (found == 0)
		return -EADDRNOTAVAIL;
	*ipv4 = found;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	*mtu_p = fd >= 0 && ioctl(fd, SIOCGIFMTU, &req) == 0 ? (uint32_t)req.ifr_mtu : 1500;
	if (fd >= 0)
		close(fd);
	return 0;
}

/* The largest payload that fits into packets of an interface, with the longest headers. */
static uint32_t path_mtu(uint32_t mtu)
{
	uint32_t size = 4096;

	while (size > 256 && size + WF_IPV4_LEN + WF_UDP_LEN + 60 > mtu)
		size /= 2;
	return size;
}

static int open_wire(struct wf_daemon *d, struct wf_dwire *w, uint32_t host, uint32_t address)
{
	uint32_t ipv4 = address, mtu = 0;
	int ret;

	w->host = host;
	w->rx = w->wake = -1;
	for (unsigned i = 0; i < TX_PORTS; i++)
		w->tx[i].fd = -1;
	ret = find_address(&ipv4, &mtu);
	if (ret != 0)
		return ret;
	w->rx = open_socket(address, WF_UDP_PORT_ROCE);
	if (w->rx < 0)
		return w->rx;
	w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->wake < 0)
		return -errno;
	d->table->host[host].ipv4 = ipv4;
	d->table->host[host].wire = 1;
	if (path_mtu(mtu) < d->table->mtu)
		d->table->mtu = path_mtu(mtu);
	ret = watch(d, w->rx, w);
	return ret != 0 ? ret : watch(d, w->wake, w);
}

int wf_wire_open(struct wf_daemon *d, const struct wf_daemon_cfg *cfg)
{
	if (cfg->n_wires == 0)
		return 0;
	d->wires = calloc(cfg->n_wires, sizeof(*d->wires));
	if (d->wires == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < cfg->n_wires; i++) {
		int ret;

		d->n_wires++;
		ret = open_wire(d, &d->wires[i], cfg->wires[i].host, cfg->wires[i].ipv4);
		if (ret != 0)
			return ret;
	}
	return 0;
}

void wf_wire_close(struct wf_daemon *d)
{
	for (uint32_t i = 0; i < d->n_wires; i++) {
		struct wf_dwire *w = &d->wires[i];

		for (unsigned k = 0; k < TX_PORTS; k++) {
			if (w->tx[k].fd >= 0)
				close(w->tx[k].fd);
		}
		if (w->rx >= 0)
			close(w->rx);
		if (w->wake >= 0)
			close(w->wake);
	}
	free(d->wires);
	d->wires = NULL;
	d->n_wires = 0;
}

int wf_wire_connect(struct wf_daemon *d, struct wf_dclient *c, struct wf_live_reply *reply,
                    int fds[WF_LIVE_MAX_FDS])
{
	struct wf_dwire *w = find_wire(d, c->host);
	int memory, wake, ret;

	if (w == NULL || c->on_wire)
		return -ENOENT;
	memory = wf_link_memory();
	if (memory < 0)
		return memory;
	wake = fcntl(c->wake, F_DUPFD_CLOEXEC, 0);
	ret = wake < 0 ? -EMFILE : wf_link_open(&c->wire, memory, 1, wake);
	if (ret != 0) {
		if (wake >= 0)
			close(wake);
		close(memory);
		return ret;
	}
	c->on_wire = true;
	reply->connect.side = 0;
	reply->n_fds = 2;
	fds[0] = memory;
	fds[1] = fcntl(w->wake, F_DUPFD_CLOEXEC, 0);
	return 0;
}

/* ---- out ---- */

/* The socket for packets with that entropy; its port is then their source port. */
static int tx_socket(struct wf_daemon *d, struct wf_dwire *w, uint16_t entropy, uint16_t *port_p)
{
	unsigned i = entropy % TX_PORTS;

	/* Ports may be others' already. */
	for (unsigned n = 0; w->tx[i].fd < 0 && n < 64; n++) {
		uint16_t port = (uint16_t)(TX_FIRST + (entropy & 0x3fff) + n * 257) | TX_FIRST;

		w->tx[i].fd = open_socket(d->table->host[w->host].ipv4, port);
		w->tx[i].port = port;
	}
	*port_p = w->tx[i].port;
	return w->tx[i].fd;
}

/* What faults of the host's link do to a packet that leaves; false: it is lost. */
static bool survives(struct wf_daemon *d, struct wf_dwire *w, struct wf_packet *pkt)
{
	const struct wf_live_host *h = &d->table->host[w->host];
	uint64_t draw = wf_rand64(wf_rand_key(0, DOMAIN, w->host), w->draws++);

	pkt->flags &= (uint8_t)~WF_PACKET_BAD;
	if ((uint32_t)draw < h->corrupt)
		pkt->flags |= WF_PACKET_BAD;
	return h->down == 0 && draw >> 32 >= h->loss;
}

/* What a program may send: its own datagrams, and nothing that has no form. */
static bool may_send(const struct wf_dclient *c, const struct wf_packet *pkt)
{
	if (wf_op_has_payload(pkt->opcode) && pkt->length != pkt->input)
		return false;
	if (!wf_op_has_payload(pkt->opcode) && pkt->input != 0)
		return false;
	return wf_op_service(pkt->opcode) != WF_SERVICE_UD ||
	       wf_live_slot(pkt->u.deth.src_qpn) == c->slot;
}

/* Sends one packet. Returns false when it has to wait for room. */
static bool send_one(struct wf_daemon *d, struct wf_dwire *w, const struct wf_packet *pkt,
                     const void *payload)
{
	struct wf_packet p = *pkt;
	struct wf_wire_addr src = { .ipv4 = d->table->host[w->host].ipv4 };
	struct wf_wire_addr dst = { .ipv4 = pkt->dst };
	struct sockaddr_in to = { .sin_family = AF_INET,
		                  .sin_port = htons(WF_UDP_PORT_ROCE),
		                  .sin_addr = { htonl(pkt->dst) } };
	struct wf_wire_conf conf;
	uint8_t bytes[WF_PACKET_BYTES_MAX];
	size_t len, udp;
	int fd;

	if (!survives(d, w, &p))
		return true;
	p.type = WF_PACKET_RDMA;
	fd = tx_socket(d, w, p.entropy, &p.entropy);
	wf_wire_conf_init(&conf, WF_ENCAP_ROCE2_IPV4);
	if (fd < 0 ||
	    wf_packet_encode(&p, &conf, &src, &dst, payload, bytes, sizeof(bytes), &len) != 0) {
		w->dropped++;
		return true;
	}
	/* The frame may end with Ethernet's padding, which is not UDP's. */
	udp = wf_be16_get(bytes + WF_ETH_LEN + WF_IPV4_LEN + 4) - (size_t)WF_UDP_LEN;
	if (sendto(fd, bytes + HEAD, udp, MSG_NOSIGNAL, (struct sockaddr *)&to, sizeof(to)) >= 0)
		return true;
	if (errno == EAGAIN || errno == ENOBUFS)
		return false;
	w->dropped++;
	return true;
}

/* Sends what a program has for the wire. Returns whether some of it has to wait. */
static bool send_all(struct wf_daemon *d, struct wf_dwire *w, struct wf_dclient *c)
{
	struct wf_ring *rx = &c->wire.rx;
	struct wf_packet pkt;
	const void *payload;
	bool wait = false;

	for (unsigned n = 0; n < BATCH && wf_ring_peek(rx, &pkt, &payload); n++) {
		if (!may_send(c, &pkt))
			w->dropped++;
		else if (!send_one(d, w, &pkt, payload)) {
			wait = true;
			break;
		}
		wf_ring_consume(rx);
	}
	if (wf_ring_release(rx))
		(void)wf_link_wake(&c->wire);
	if (rx->broken)
		c->doomed = true;
	return wait;
}

void wf_wire_leave(struct wf_daemon *d, struct wf_dclient *c)
{
	struct wf_dwire *w = find_wire(d, c->host);

	/* No more than fits: whoever still holds the memory might go on writing. */
	for (unsigned i = 0; i < WF_RING_BYTES / WF_CACHE_LINE / BATCH; i++) {
		if (w == NULL || c->wire.rx.broken || !wf_ring_ready(&c->wire.rx) ||
		    send_all(d, w, c))
			break;
	}
	c->on_wire = false;
	wf_link_close(&c->wire);
}

/* ---- in ---- */

/* The program whose queue pair it is. */
static struct wf_dclient *receiver(struct wf_daemon *d, uint32_t host, uint32_t qpn)
{
	struct wf_dclient *c = d->clients;

	while (c != NULL &&
	       (!c->on_wire || c->doomed || c->host != host || c->slot != wf_live_slot(qpn)))
		c = c->next;
	return c;
}

/* Puts the headers before it that the kernel took away. */
static void dress(uint8_t *bytes, size_t udp, const struct sockaddr_in *from, uint32_t to,
                  uint8_t tos)
{
	struct wf_eth eth = { .type = WF_ETHERTYPE_IPV4 };
	struct wf_ipv4 ip = {
		.version = 4,
		.ihl = WF_IPV4_LEN / 4,
		.ecn = tos & 3,
		.length = (uint16_t)(WF_IPV4_LEN + WF_UDP_LEN + udp),
		.frag = WF_IPV4_DF,
		.ttl = 64,
		.proto = WF_IP_PROTO_UDP,
		.src = ntohl(from->sin_addr.s_addr),
		.dst = to,
	};
	struct wf_udp head = { .src = ntohs(from->sin_port),
		               .dst = WF_UDP_PORT_ROCE,
		               .length = (uint16_t)(WF_UDP_LEN + udp) };

	ip.checksum = wf_ipv4_checksum(&ip);
	wf_eth_encode(&eth, bytes);
	wf_ipv4_encode(&ip, bytes + WF_ETH_LEN);
	wf_udp_encode(&head, bytes + WF_ETH_LEN + WF_IPV4_LEN);
}

static void deliver(struct wf_daemon *d, struct wf_dwire *w, const uint8_t *bytes, size_t len,
                    uint32_t from)
{
	struct wf_wire_conf conf;
	struct wf_headers h;
	struct wf_packet pkt;
	struct wf_dclient *c;
	enum wf_reason reason;
	uint16_t id;
	void *at;

	wf_wire_conf_init(&conf, WF_ENCAP_ROCE2_IPV4);
	if (wf_packet_decode(bytes, len, &conf, &pkt, &h, &reason) != 0) {
		w->dropped++;
		return;
	}
	if ((pkt.flags & WF_PACKET_BAD) != 0) {
		if (!wf_icrc_find_id(&h, bytes, &id)) {
			w->icrc_errors++;
			return;
		}
		pkt.flags &= (uint8_t)~WF_PACKET_BAD;
	}
	c = receiver(d, w->host, pkt.qpn);
	at = c == NULL ? NULL : wf_ring_reserve(&c->wire.tx, h.payload_len);
	if (at == NULL) {
		w->dropped++;
		return;
	}
	pkt.src = from;
	pkt.dst = w->host;
	memcpy(at, bytes + h.payload_at, h.payload_len);
	wf_ring_commit(&c->wire.tx, &pkt, h.payload_len);
	c->wire_touched = true;
}

/* One datagram. Returns false when there is none. */
static bool receive_one(struct wf_daemon *d, struct wf_dwire *w)
{
	uint8_t bytes[WF_PACKET_BYTES_MAX];
	char control[256];
	struct sockaddr_in from;
	struct iovec iov = { .iov_base = bytes + HEAD, .iov_len = sizeof(bytes) - HEAD };
	struct msghdr msg = { .msg_name = &from,
		              .msg_namelen = sizeof(from),
		              .msg_iov = &iov,
		              .msg_iovlen = 1,
		              .msg_control = control,
		              .msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(w->rx, &msg, 0);
	uint32_t to = d->table->host[w->host].ipv4;
	uint8_t tos = 0;

	if (n < 0)
		return false;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c != NULL; c = CMSG_NXTHDR(&msg, c)) {
		struct in_pktinfo info;

		if (c->cmsg_level != IPPROTO_IP)
			continue;
		if (c->cmsg_type == IP_TOS) {
			tos = *CMSG_DATA(c);
		} else if (c->cmsg_type == IP_PKTINFO) {
			memcpy(&info, CMSG_DATA(c), sizeof(info));
			to = ntohl(info.ipi_addr.s_addr);
		}
	}
	if ((msg.msg_flags & MSG_TRUNC) != 0 || d->table->host[w->host].down != 0) {
		w->dropped++;
		return true;
	}
	dress(bytes, (size_t)n, &from, to, tos);
	deliver(d, w, bytes, HEAD + (size_t)n, ntohl(from.sin_addr.s_addr));
	return true;
}

void wf_wire_serve(struct wf_daemon *d)
{
	uint64_t count;

	d->wire_waits = d->wire_more = false;
	for (struct wf_dclient *c = d->clients; c != NULL && d->n_wires != 0; c = c->next) {
		if (c->on_wire)
			wf_link_set_asleep(&c->wire, false);
	}
	for (uint32_t i = 0; i < d->n_wires; i++) {
		struct wf_dwire *w = &d->wires[i];
		ssize_t got = read(w->wake, &count, sizeof(count));
		unsigned n = 0;

		(void)got; /* none: nobody wrote */
		while (n < BATCH && receive_one(d, w))
			n++;
		d->wire_more = d->wire_more || n == BATCH;
	}
	for (struct wf_dclient *c = d->clients; c != NULL && d->n_wires != 0; c = c->next) {
		if (!c->on_wire || c->doomed)
			continue;
		if (send_all(d, find_wire(d, c->host), c))
			d->wire_waits = true;
		if (!c->wire_touched)
			continue;
		c->wire_touched = false;
		wf_link_fence();
		(void)wf_link_wake(&c->wire);
	}
}

int wf_wire_rest(struct wf_daemon *d)
{
	bool ready = d->wire_more;

	if (d->n_wires == 0)
		return -1;
	for (struct wf_dclient *c = d->clients; c != NULL; c = c->next) {
		if (c->on_wire)
			wf_link_set_asleep(&c->wire, true);
	}
	wf_link_fence();
	for (const struct wf_dclient *c = d->clients; c != NULL; c = c->next)
		ready = ready || (c->on_wire && !c->doomed && wf_ring_ready(&c->wire.rx));
	if (!ready)
		return -1;
	return d->wire_waits ? 1 : 0;
}
