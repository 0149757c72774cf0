/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcap.c - keeps packets by sending port while a simulation runs, then merges them into a capture.
 *
 *	tapped port --> struct stream --chunks--> nameless file --> struct cursor --merge--> capture
 *
 * A stream is what one port put on its wire. A cursor reads a stream for one interface: as its own
 * port's (out), or as its peer's (in), so a stream between two captured ports has two readers.
 */
#include "run/pcap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text/file.h"
#include "run/pcap_priv.h"
#include "sim/look/wire_check.h"
#include "wire/ib.h"
#include "wire/mad.h"
#include "wire/packet_codec.h"
#include "wire/pcapng.h"
#include "wire/tcp.h"
#include "wire/transport.h"

#define CHUNK 256 /* packets that a stream keeps in memory */

/*
 * A packet of a managed fabric is two records in a stream, or with a MAD five more: itself, with a
 * mark in what has no meaning on a wire; its LIDs; and the MAD's bytes.
 */
#define MANAGED 0xfffd /* its input */
#define MAD_RECORDS (WF_MAD_LEN / sizeof(struct wf_packet))

/* What a port sent, in the order of time; only the port's thread touches it during the run. */
struct stream {
	struct wf_packet *chunk; /* the last ones; their time is in .at */
	uint64_t *spilled;       /* where the full chunks before are in the file */
	size_t n_spilled, room;
	uint32_t n; /* in chunk */
	int error;  /* errno: what could not be kept */
};

/* A reader of a stream. */
struct cursor {
	const struct stream *stream;
	uint32_t interface;
	uint32_t node;
	uint16_t port;
	enum wf_pcapng_dir dir;
	struct wf_packet *chunk;
	size_t next_chunk;    /* spilled ones read, and one for those in memory */
	uint32_t i, n;        /* in chunk: the record that is next */
	struct wf_packet pkt; /* the one that is next, */
	uint16_t slid, dlid;  /* and of a managed fabric its LIDs */
	uint8_t mad[WF_MAD_LEN];
	wf_time at;    /* of it as this interface sees it */
	uint64_t rate; /* in: of the link, bits/s */
	wf_time delay; /* in: of the link */
};

struct wf_pcap {
	struct wf_pcap_cfg cfg;
	struct wf_wire_conf conf;
	struct wf_pcap_port *ports; /* captured, by (node, port) */
	size_t n_ports;
	struct stream **streams; /* by number of the sending port in the topology; NULL: none */
	int fd;                  /* of the nameless file */
	uint64_t end;            /* of that file; claimed with an atomic add */
};

static struct stream *stream_create(void)
{
	struct stream *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->chunk = calloc(CHUNK, sizeof(*s->chunk));
	if (s->chunk == NULL) {
		free(s);
		return NULL;
	}
	return s;
}

static void stream_destroy(struct stream *s)
{
	if (s == NULL)
		return;
	free(s->spilled);
	free(s->chunk);
	free(s);
}

/* All of a chunk in or out. Returns 0 or an errno. */
static int move_chunk(int fd, struct wf_packet *chunk, uint64_t at, bool out)
{
	const size_t len = CHUNK * sizeof(*chunk);
	size_t done = 0;

	while (done < len) {
		char *p = (char *)chunk + done;
		ssize_t n = out ? pwrite(fd, p, len - done, (off_t)(at + done))
		                : pread(fd, p, len - done, (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : EIO;
		done += (size_t)n;
	}
	return 0;
}

static int stream_spill(struct stream *s, struct wf_pcap *pcap)
{
	if (s->n_spilled == s->room) {
		size_t room = s->room == 0 ? 64 : 2 * s->room;
		uint64_t *more = realloc(s->spilled, room * sizeof(*more));

		if (more == NULL)
			return ENOMEM;
		s->spilled = more;
		s->room = room;
	}
	s->spilled[s->n_spilled] =
		__atomic_fetch_add(&pcap->end, CHUNK * sizeof(*s->chunk), __ATOMIC_RELAXED);
	s->n = 0;
	return move_chunk(pcap->fd, s->chunk, s->spilled[s->n_spilled++], true);
}

/* The next record of a stream. */
static struct wf_packet *stream_next(struct wf_pcap *pcap, struct stream *s)
{
	if (s->n == CHUNK && s->error == 0)
		s->error = stream_spill(s, pcap);
	return s->error != 0 ? NULL : &s->chunk[s->n++];
}

static void put_lids(struct wf_pcap *pcap, struct stream *s, const struct wf_sim_lids *lids)
{
	struct wf_packet *r = stream_next(pcap, s);

	if (r != NULL)
		*r = (struct wf_packet){ .src = lids->slid, .dst = lids->dlid };
	for (unsigned i = 0; i < MAD_RECORDS && lids->mad != NULL; i++) {
		r = stream_next(pcap, s);
		if (r != NULL)
			memcpy(r, lids->mad + i * sizeof(*r), sizeof(*r));
	}
}

/* A wf_sim_tap_fn. */
static void pcap_tap(void *arg, uint32_t node, unsigned port, const struct wf_packet *pkt,
                     const struct wf_sim_lids *lids, wf_time now)
{
	struct wf_pcap *pcap = arg;
	struct stream *s = pcap->streams[pcap->cfg.topo->nodes[node].first_port + port];

	struct wf_packet *r = s != NULL ? stream_next(pcap, s) : NULL;

	if (r == NULL)
		return;
	*r = *pkt;
	r->at = now;
	r->input = lids != NULL ? MANAGED : 0;
	if (lids != NULL)
		put_lids(pcap, s, lids);
}

static const struct wf_topo_port *topo_port(const struct wf_topo *topo, uint32_t node,
                                            unsigned port)
{
	return &topo->ports[topo->nodes[node].first_port + port];
}

static int add_stream(struct wf_pcap *pcap, uint32_t node, unsigned port)
{
	struct stream **s = &pcap->streams[pcap->cfg.topo->nodes[node].first_port + port];

	if (*s == NULL)
		*s = stream_create();
	return *s == NULL ? -ENOMEM : 0;
}

/* A file without a name in the folder of the capture. */
static int open_spill(struct wf_pcap *pcap, struct wf_err *err)
{
	char path[WF_PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s.XXXXXX", pcap->cfg.path);

	errno = ENAMETOOLONG;
	pcap->fd = n < (int)sizeof(path) ? mkstemp(path) : -1;
	if (pcap->fd < 0)
		return wf_file_refused(pcap->cfg.path, errno, err);
	(void)unlink(path);
	return 0;
}

int wf_pcap_create(const struct wf_pcap_cfg *cfg, struct wf_pcap **pcap_p, struct wf_err *err)
{
	struct wf_pcap *pcap = calloc(1, sizeof(*pcap));
	int ret;

	if (pcap == NULL)
		return -ENOMEM;
	pcap->cfg = *cfg;
	pcap->fd = -1;
	wf_wire_check_conf(cfg->fabric, &pcap->conf);
	pcap->streams = calloc(cfg->topo->n_ports, sizeof(struct stream *));
	ret = pcap->streams == NULL ? -ENOMEM
	                            : wf_pcap_parse_ports(cfg->topo, cfg->ports, &pcap->ports,
	                                                  &pcap->n_ports, err);
	for (size_t i = 0; ret == 0 && i < pcap->n_ports; i++) {
		const struct wf_pcap_port *p = &pcap->ports[i];
		const struct wf_topo_port *t = topo_port(cfg->topo, p->node, p->port);

		ret = add_stream(pcap, p->node, p->port);
		if (ret == 0)
			ret = add_stream(pcap, t->peer, t->peer_port);
	}
	if (ret == 0)
		ret = open_spill(pcap, err);
	if (ret != 0) {
		wf_pcap_destroy(pcap);
		return ret;
	}
	*pcap_p = pcap;
	return 0;
}

void wf_pcap_destroy(struct wf_pcap *pcap)
{
	if (pcap == NULL)
		return;
	for (uint32_t i = 0; pcap->streams != NULL && i < pcap->cfg.topo->n_ports; i++)
		stream_destroy(pcap->streams[i]);
	if (pcap->fd >= 0)
		close(pcap->fd);
	free(pcap->streams);
	free(pcap->ports);
	free(pcap);
}

void wf_pcap_listen(struct wf_pcap *pcap, struct wf_sim *sim)
{
	const struct wf_topo *topo = pcap->cfg.topo;

	wf_sim_wire_marks(sim, &pcap->conf);
	wf_sim_set_tap(sim, pcap_tap, pcap);
	for (uint32_t node = 0; node < topo->n_nodes; node++) {
		for (unsigned p = 0; p < topo->nodes[node].n_ports; p++) {
			if (pcap->streams[topo->nodes[node].first_port + p] != NULL)
				/* The topology has it, so the simulation has. */
				(void)!wf_sim_tap_port(sim, node, p);
		}
	}
}

/* ---- merging ---- */

/* When the cursor's packet was at its interface. */
static wf_time seen_at(const struct cursor *c)
{
	const struct wf_packet *pkt = &c->pkt;

	if (c->dir == WF_PCAPNG_DIR_OUT)
		return pkt->at;
	return pkt->at + c->delay + (wf_time)((uint64_t)pkt->size * 8 * (uint64_t)WF_S / c->rate);
}

/* Takes the next record, NULL: there is none. Returns 0 or an errno. */
static int cursor_take(struct cursor *c, int fd, const struct wf_packet **record_p)
{
	const struct stream *s = c->stream;
	int ret = 0;

	if (c->i >= c->n) {
		c->i = 0;
		c->n = 0;
		if (c->next_chunk < s->n_spilled) {
			ret = move_chunk(fd, c->chunk, s->spilled[c->next_chunk], false);
			c->n = CHUNK;
		} else if (c->next_chunk == s->n_spilled) {
			memcpy(c->chunk, s->chunk, s->n * sizeof(*c->chunk));
			c->n = s->n;
		}
		c->next_chunk++;
	}
	*record_p = ret == 0 && c->i < c->n ? &c->chunk[c->i++] : NULL;
	return ret;
}

static bool has_mad(const struct wf_packet *pkt)
{
	return pkt->type == WF_PACKET_SMP || pkt->type == WF_PACKET_GMP;
}

/* Goes to the packet after, if there is one; else c->at is WF_TIME_NEVER. Returns 0 or an errno. */
static int cursor_next(struct cursor *c, int fd)
{
	const struct wf_packet *r;
	int ret = cursor_take(c, fd, &r);

	c->at = WF_TIME_NEVER;
	if (r == NULL)
		return ret;
	c->pkt = *r;
	c->at = seen_at(c);
	if (c->pkt.input != MANAGED)
		return 0;
	ret = cursor_take(c, fd, &r);
	if (r != NULL) {
		c->slid = (uint16_t)r->src;
		c->dlid = (uint16_t)r->dst;
	}
	for (unsigned i = 0; i < MAD_RECORDS && ret == 0 && has_mad(&c->pkt); i++) {
		ret = cursor_take(c, fd, &r);
		if (r != NULL)
			memcpy(c->mad + i * sizeof(*r), r, sizeof(*r));
	}
	return ret;
}

static bool cursor_before(const struct cursor *a, const struct cursor *b)
{
	if (a->at != b->at)
		return a->at < b->at;
	if (a->node != b->node)
		return a->node < b->node;
	if (a->port != b->port)
		return a->port < b->port;
	return a->dir < b->dir;
}

/* Lets the cursor at i sink to its place in the heap. */
static void sift(struct cursor **heap, size_t n, size_t i)
{
	struct cursor *c = heap[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= n)
			break;
		if (child + 1 < n && cursor_before(heap[child + 1], heap[child]))
			child++;
		if (!cursor_before(heap[child], c))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = c;
}

/*
 * A frame of link control comes from the port, which may be a switch's: those have MACs of their
 * own.
 */
static void port_addr(const struct wf_topo *topo, uint32_t node, uint16_t port,
                      struct wf_wire_addr *addr)
{
	const uint8_t mac[WF_MAC_LEN] = {
		0x06,          (uint8_t)(node >> 16), (uint8_t)(node >> 8),
		(uint8_t)node, (uint8_t)(port >> 8),  (uint8_t)port
	};

	if (topo->nodes[node].kind == WF_TOPO_HOST) {
		wf_wire_addr_init(addr, topo->nodes[node].host);
		return;
	}
	memset(addr, 0, sizeof(*addr));
	memcpy(addr->mac, mac, sizeof(mac));
}

/* Flows of the windowed sender are numbered from 0; queue pairs 0 and 1 are management's. */
static struct wf_packet shown(const struct wf_packet *pkt)
{
	struct wf_packet p = *pkt;

	if (p.type == WF_PACKET_DATA || p.type == WF_PACKET_ACK || p.type == WF_PACKET_NAK)
		p.qpn = (p.qpn + 2) & WF_QPN_MASK;
	if (p.type == WF_PACKET_SMP)
		p.vl = WF_VL_MGMT;
	if (has_mad(pkt))
		p.type = WF_PACKET_RDMA; /* a datagram */
	return p;
}

/* Who a packet is from and to: as hosts are called, or by the LIDs that a manager has given. */
static void find_addrs(const struct cursor *c, const struct wf_packet *pkt,
                       struct wf_wire_addr *src, struct wf_wire_addr *dst)
{
	wf_wire_addr_init(src, has_mad(&c->pkt) ? 0 : pkt->src);
	wf_wire_addr_init(dst, has_mad(&c->pkt) ? 0 : pkt->dst);
	if (c->pkt.input != MANAGED)
		return;
	src->lid = c->slid;
	dst->lid = c->dlid;
}

static int write_packet(struct wf_pcap *pcap, const struct cursor *c, FILE *file,
                        struct wf_err *err)
{
	const struct wf_topo_port *peer = topo_port(pcap->cfg.topo, c->node, c->port);
	const struct wf_packet pkt = shown(&c->pkt);
	uint8_t bytes[WF_SEGMENT_BYTES_MAX], block[WF_SEGMENT_BYTES_MAX + WF_PCAPNG_BLOCK_MAX];
	bool control = wf_packet_is_control(pkt.type), out = c->dir == WF_PCAPNG_DIR_OUT;
	struct wf_pcapng_packet p = { .interface = c->interface, .at = c->at, .dir = c->dir };
	struct wf_wire_addr addr, dst;
	size_t len = 0;

	if (control)
		port_addr(pcap->cfg.topo, out ? c->node : peer->peer,
		          out ? c->port : peer->peer_port, &addr);
	else
		find_addrs(c, &pkt, &addr, &dst);
	if (wf_packet_encode(&pkt, &pcap->conf, &addr, control ? NULL : &dst,
	                     has_mad(&c->pkt) ? c->mad : NULL, bytes, sizeof(bytes), &len) != 0) {
		wf_err_at(err, pcap->cfg.path, 0, 0,
		          "a packet of type %u, opcode %u has no form "
		          "in bytes",
		          pkt.type, pkt.opcode);
		return -EIO;
	}
	p.bytes = bytes;
	p.captured = p.original = (uint32_t)len;
	if (pcap->conf.encap == WF_ENCAP_IB)
		p.erf = control ? WF_ERF_INFINIBAND_LINK : WF_ERF_INFINIBAND;
	if (wf_pcapng_put_packet(block, sizeof(block), &p, &len) != 0)
		return -EIO; /* cannot be: there is always room */
	(void)!fwrite(block, 1, len, file);
	return 0;
}

static int write_head(const struct wf_pcap *pcap, FILE *file)
{
	uint8_t block[WF_PCAPNG_BLOCK_MAX];
	size_t len;
	int ret = wf_pcapng_put_section(block, sizeof(block), "weft " WEFT_VERSION, &len);

	for (size_t i = 0; ret == 0; i++) {
		struct wf_pcapng_interface itf = {
			.link_type = pcap->conf.encap == WF_ENCAP_IB ? WF_LINKTYPE_ERF
			                                             : WF_LINKTYPE_ETHERNET,
		};

		(void)!fwrite(block, 1, len, file);
		if (i == pcap->n_ports)
			break;
		itf.name = pcap->ports[i].name;
		ret = wf_pcapng_put_interface(block, sizeof(block), &itf, &len);
	}
	return ret;
}

/* A reader of what interface i sent (out) or what was sent to it. */
static void cursor_init(const struct wf_pcap *pcap, size_t i, bool out, struct wf_packet *chunk,
                        struct cursor *c)
{
	const struct wf_topo *topo = pcap->cfg.topo;
	const struct wf_pcap_port *p = &pcap->ports[i];
	const struct wf_topo_port *t = topo_port(topo, p->node, p->port);
	uint32_t node = out ? p->node : t->peer;
	unsigned port = out ? p->port : t->peer_port;

	*c = (struct cursor){
		.stream = pcap->streams[topo->nodes[node].first_port + port],
		.interface = (uint32_t)i,
		.node = p->node,
		.port = p->port,
		.dir = out ? WF_PCAPNG_DIR_OUT : WF_PCAPNG_DIR_IN,
		.chunk = chunk,
		.rate = topo->links[t->link].rate,
		.delay = topo->links[t->link].delay + pcap->cfg.fabric->link_phy,
	};
}

static int not_kept(const struct wf_pcap *pcap, int error, struct wf_err *err)
{
	if (error == ENOMEM)
		return -ENOMEM;
	wf_err_at(err, pcap->cfg.path, 0, 0, "cannot keep its packets: %s", strerror(error));
	return -EIO;
}

static int merge(struct wf_pcap *pcap, struct cursor **heap, size_t n, FILE *file,
                 struct wf_err *err)
{
	while (n > 0) {
		struct cursor *c = heap[0];
		int ret = 0;

		if (c->at == WF_TIME_NEVER) {
			heap[0] = heap[--n];
		} else {
			ret = write_packet(pcap, c, file, err);
			if (ret != 0)
				return ret;
			ret = cursor_next(c, pcap->fd);
		}
		if (ret != 0)
			return not_kept(pcap, ret, err);
		if (n > 0)
			sift(heap, n, 0);
	}
	return 0;
}

int wf_pcap_write(struct wf_pcap *pcap, FILE *file, struct wf_err *err)
{
	size_t n = 2 * pcap->n_ports;
	struct cursor *cursors = calloc(n, sizeof(*cursors));
	struct cursor **heap = calloc(n, sizeof(struct cursor *));
	struct wf_packet *chunks = calloc(n, CHUNK * sizeof(*chunks));
	int ret = cursors == NULL || heap == NULL || chunks == NULL ? -ENOMEM : 0;

	if (ret == 0)
		ret = write_head(pcap, file);
	for (size_t i = 0; ret == 0 && i < n; i++) {
		int error;

		cursor_init(pcap, i / 2, i % 2 == 0, chunks + i * CHUNK, &cursors[i]);
		heap[i] = &cursors[i];
		error = cursors[i].stream->error;
		if (error == 0)
			error = cursor_next(&cursors[i], pcap->fd);
		if (error != 0)
			ret = not_kept(pcap, error, err);
	}
	for (size_t i = n / 2; ret == 0 && i-- > 0;)
		sift(heap, n, i);
	if (ret == 0)
		ret = merge(pcap, heap, n, file, err);
	free(cursors);
	free(heap);
	free(chunks);
	return ret;
}
