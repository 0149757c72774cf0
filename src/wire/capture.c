/* SPDX-License-Identifier: Apache-2.0 */
/* capture.c - reading pcap and pcapng from memory. */
#include "wire/capture.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "wire/byte.h"

#define PCAP_MAGIC_US 0xa1b2c3d4
#define PCAP_MAGIC_NS 0xa1b23c4d
#define PCAP_HEADER 24
#define PCAP_RECORD 16

#define BLOCK_SECTION 0x0a0d0d0a
#define BLOCK_INTERFACE 1
#define BLOCK_SIMPLE 3
#define BLOCK_PACKET 6
#define BYTE_ORDER_MAGIC 0x1a2b3c4d
#define BLOCK_MIN 12 /* type and both lengths */
#define OPT_TSRESOL 9
#define TSRESOL_DEFAULT 6

/* A block of pcapng without type and lengths. */
struct body {
	const uint8_t *p;
	size_t len;
};

static uint32_t get32(const struct wf_capture *c, const uint8_t *p)
{
	return c->swapped ? wf_be32_get(p) : wf_le32_get(p);
}

static uint16_t get16(const struct wf_capture *c, const uint8_t *p)
{
	return c->swapped ? wf_be16_get(p) : wf_le16_get(p);
}

static size_t left(const struct wf_capture *c)
{
	return c->len - c->at;
}

/* A count of 10^-n s, or 2^-n s, in picoseconds. */
static wf_time to_time(uint64_t count, uint8_t tsresol)
{
	unsigned __int128 ps = count;
	unsigned n = tsresol & 0x7f;

	if ((tsresol & 0x80) != 0) {
		ps = n < 64 ? ps * (uint64_t)WF_S >> n : 0;
	} else {
		for (; n < 12; n++)
			ps *= 10;
		for (; n > 12 && ps > 0; n--)
			ps /= 10;
	}
	return ps > WF_TIME_NEVER ? WF_TIME_NEVER : (wf_time)ps;
}

static int pcap_init(struct wf_capture *c)
{
	uint32_t magic;

	if (c->len < PCAP_HEADER)
		return -EBADMSG;
	magic = wf_le32_get(c->bytes);
	if (magic != PCAP_MAGIC_US && magic != PCAP_MAGIC_NS) {
		c->swapped = true;
		magic = wf_be32_get(c->bytes);
	}
	if (magic != PCAP_MAGIC_US && magic != PCAP_MAGIC_NS)
		return -EBADMSG;
	c->interface[0] = (struct wf_capture_interface){
		/* The upper bits of the word are not the link type. */
		.link_type = (uint16_t)get32(c, c->bytes + 20),
		.tsresol = magic == PCAP_MAGIC_NS ? 9 : 6,
	};
	c->interfaces = 1;
	c->at = PCAP_HEADER;
	return 0;
}

int wf_capture_init(struct wf_capture *capture, const uint8_t *bytes, size_t len)
{
	memset(capture, 0, sizeof(*capture));
	capture->bytes = bytes;
	capture->len = len;
	if (len >= BLOCK_MIN && wf_le32_get(bytes) == BLOCK_SECTION) {
		capture->ng = true;
		return 0;
	}
	return pcap_init(capture);
}

static int pcap_next(struct wf_capture *c, struct wf_capture_packet *packet)
{
	const uint8_t *p = c->bytes + c->at;
	uint8_t tsresol = c->interface[0].tsresol;
	uint64_t count;
	uint32_t len;

	if (left(c) == 0)
		return -ENODATA;
	if (left(c) < PCAP_RECORD)
		return -EBADMSG;
	len = get32(c, p + 8);
	if (len > left(c) - PCAP_RECORD)
		return -EBADMSG;
	count = (uint64_t)get32(c, p) * (tsresol == 9 ? 1000000000 : 1000000) + get32(c, p + 4);
	*packet = (struct wf_capture_packet){
		.link_type = c->interface[0].link_type,
		.at = to_time(count, tsresol),
		.bytes = p + PCAP_RECORD,
		.captured = len,
		.original = get32(c, p + 12),
	};
	c->at += PCAP_RECORD + len;
	return 0;
}

/* A section says the byte order of all that follows; its interfaces begin at 0 again. */
static int ng_section(struct wf_capture *c)
{
	const uint8_t *p = c->bytes + c->at;

	if (left(c) < BLOCK_MIN + 16)
		return -EBADMSG;
	c->swapped = wf_be32_get(p + 8) == BYTE_ORDER_MAGIC;
	if (get32(c, p + 8) != BYTE_ORDER_MAGIC || get16(c, p + 12) != 1)
		return -EBADMSG;
	c->interfaces = 0;
	return 0;
}

static int ng_interface(struct wf_capture *c, struct body body)
{
	struct wf_capture_interface *itf;
	size_t at = 8;

	if (body.len < 8 || c->interfaces == WF_CAPTURE_INTERFACES)
		return -EBADMSG;
	itf = &c->interface[c->interfaces++];
	itf->link_type = get16(c, body.p);
	itf->tsresol = TSRESOL_DEFAULT;
	while (body.len - at >= 4) {
		uint16_t code = get16(c, body.p + at);
		size_t len = get16(c, body.p + at + 2);

		at += 4;
		if (code == 0)
			break;
		if (((len + 3) & ~(size_t)3) > body.len - at)
			return -EBADMSG;
		if (code == OPT_TSRESOL && len == 1)
			itf->tsresol = body.p[at];
		at += (len + 3) & ~(size_t)3;
	}
	return 0;
}

static int ng_packet(struct wf_capture *c, struct body body, struct wf_capture_packet *packet)
{
	uint64_t count;

	if (body.len < 20)
		return -EBADMSG;
	packet->interface = get32(c, body.p);
	packet->captured = get32(c, body.p + 12);
	packet->original = get32(c, body.p + 16);
	if (packet->interface >= c->interfaces || packet->captured > body.len - 20)
		return -EBADMSG;
	count = (uint64_t)get32(c, body.p + 4) << 32 | get32(c, body.p + 8);
	packet->at = to_time(count, c->interface[packet->interface].tsresol);
	packet->link_type = c->interface[packet->interface].link_type;
	packet->bytes = body.p + 20;
	return 0;
}

/* A packet of the first interface, without a time, as long as the block leaves it. */
static int ng_simple(struct wf_capture *c, struct body body, struct wf_capture_packet *packet)
{
	if (body.len < 4 || c->interfaces == 0)
		return -EBADMSG;
	packet->original = get32(c, body.p);
	packet->captured = (size_t)wf_min_u64(packet->original, body.len - 4);
	packet->link_type = c->interface[0].link_type;
	packet->bytes = body.p + 4;
	return 0;
}

/* Takes one block; *found_p says whether it was a packet. */
static int ng_block(struct wf_capture *c, struct wf_capture_packet *packet, bool *found_p)
{
	const uint8_t *p = c->bytes + c->at;
	struct body body;
	uint32_t len;
	int ret = 0;

	if (left(c) < BLOCK_MIN)
		return -EBADMSG;
	if (wf_le32_get(p) == BLOCK_SECTION)
		ret = ng_section(c);
	if (ret != 0)
		return ret;
	len = get32(c, p + 4);
	if (len < BLOCK_MIN || len % 4 != 0 || len > left(c))
		return -EBADMSG;
	if (get32(c, p + len - 4) != len)
		return -EBADMSG;
	body = (struct body){ .p = p + 8, .len = len - BLOCK_MIN };
	*found_p = false;
	switch (get32(c, p)) {
	case BLOCK_INTERFACE:
		ret = ng_interface(c, body);
		break;
	case BLOCK_PACKET:
		*found_p = true;
		ret = ng_packet(c, body, packet);
		break;
	case BLOCK_SIMPLE:
		*found_p = true;
		ret = ng_simple(c, body, packet);
		break;
	default: /* a section, or a block without packets */
		break;
	}
	c->at += len;
	return ret;
}

int wf_capture_next(struct wf_capture *capture, struct wf_capture_packet *packet_p)
{
	bool found = false;
	int ret = 0;

	assert(capture->at <= capture->len);
	memset(packet_p, 0, sizeof(*packet_p));
	if (!capture->ng)
		return pcap_next(capture, packet_p);
	while (ret == 0 && !found) {
		if (left(capture) == 0)
			return -ENODATA;
		ret = ng_block(capture, packet_p, &found);
	}
	return ret;
}
