/* SPDX-License-Identifier: Apache-2.0 */
/* pcapng.c - writing pcapng into memory. */
#include "wire/pcapng.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "wire/byte.h"

#define BLOCK_SECTION 0x0a0d0d0a
#define BLOCK_INTERFACE 1
#define BLOCK_STATISTICS 5
#define BLOCK_PACKET 6
#define BYTE_ORDER_MAGIC 0x1a2b3c4d

#define OPT_END 0
#define OPT_SECTION_USERAPPL 4
#define OPT_INTERFACE_NAME 2
#define OPT_INTERFACE_TSRESOL 9
#define OPT_PACKET_FLAGS 2
#define OPT_STATISTICS_START 2
#define OPT_STATISTICS_END 3
#define OPT_STATISTICS_RECEIVED 4
#define OPT_STATISTICS_DROPPED 5

#define TSRESOL_NS 9
#define NS_PER_S UINT64_C(1000000000)

/* A block: type, length, body, options, length again. The writer does not look at size. */
struct block {
	uint8_t *start;
	uint8_t *p;
};

static size_t pad4(size_t len)
{
	return (len + 3) & ~(size_t)3;
}

static struct block block_begin(uint8_t *buf, uint32_t type)
{
	wf_le32_put(buf, type);
	return (struct block){ .start = buf, .p = buf + 8 };
}

static void block_put32(struct block *b, uint32_t v)
{
	wf_le32_put(b->p, v);
	b->p += 4;
}

static void block_put(struct block *b, const void *bytes, size_t len)
{
	memcpy(b->p, bytes, len);
	memset(b->p + len, 0, pad4(len) - len);
	b->p += pad4(len);
}

static void block_option(struct block *b, uint16_t code, const void *value, uint16_t len)
{
	wf_le16_put(b->p, code);
	wf_le16_put(b->p + 2, len);
	b->p += 4;
	block_put(b, value, len);
}

/* A time, as pcapng has it: the upper half first. */
static void block_put_time(struct block *b, uint64_t ns)
{
	block_put32(b, (uint32_t)(ns >> 32));
	block_put32(b, (uint32_t)ns);
}

static size_t block_end(struct block *b)
{
	size_t len = (size_t)(b->p - b->start) + 4;

	wf_le32_put(b->start + 4, (uint32_t)len);
	wf_le32_put(b->p, (uint32_t)len);
	return len;
}

static size_t text_len(const char *text)
{
	size_t len = 0;

	while (text != NULL && text[len] != '\0' && len < WF_PCAPNG_TEXT)
		len++;
	return len;
}

int wf_pcapng_put_section(uint8_t *buf, size_t size, const char *application, size_t *len_p)
{
	size_t text = text_len(application);
	struct block b;

	if (size < 28 + 4 + pad4(text) + 4)
		return -ENOSPC;
	b = block_begin(buf, BLOCK_SECTION);
	block_put32(&b, BYTE_ORDER_MAGIC);
	block_put32(&b, 1); /* version 1.0 */
	block_put32(&b, UINT32_MAX);
	block_put32(&b, UINT32_MAX); /* length of the section: not said */
	if (text > 0)
		block_option(&b, OPT_SECTION_USERAPPL, application, (uint16_t)text);
	block_option(&b, OPT_END, "", 0);
	*len_p = block_end(&b);
	assert(*len_p <= WF_PCAPNG_BLOCK_MAX);
	return 0;
}

int wf_pcapng_put_interface(uint8_t *buf, size_t size, const struct wf_pcapng_interface *interface,
                            size_t *len_p)
{
	static const uint8_t tsresol = TSRESOL_NS;
	size_t text = text_len(interface->name);
	struct block b;

	if (size < 20 + 4 + pad4(text) + 8 + 4)
		return -ENOSPC;
	b = block_begin(buf, BLOCK_INTERFACE);
	block_put32(&b, interface->link_type); /* and two reserved bytes */
	block_put32(&b, interface->snaplen != 0 ? interface->snaplen : WF_PCAPNG_SNAPLEN);
	if (text > 0)
		block_option(&b, OPT_INTERFACE_NAME, interface->name, (uint16_t)text);
	block_option(&b, OPT_INTERFACE_TSRESOL, &tsresol, 1);
	block_option(&b, OPT_END, "", 0);
	*len_p = block_end(&b);
	assert(*len_p <= WF_PCAPNG_BLOCK_MAX);
	return 0;
}

/* The record's header. The time is in units of 2^-32 s, and the one little-endian field. */
static void block_erf(struct block *b, const struct wf_pcapng_packet *packet, uint64_t ns,
                      uint32_t captured, uint32_t original)
{
	uint8_t *p = b->p;

	assert(original <= UINT16_MAX - WF_ERF_LEN);
	wf_le64_put(p, ns / NS_PER_S << 32 | (ns % NS_PER_S << 32) / NS_PER_S);
	p[8] = packet->erf;
	p[9] = 0x04; /* records vary in length */
	wf_be16_put(p + 10, (uint16_t)(WF_ERF_LEN + captured));
	wf_be16_put(p + 12, 0); /* packets lost */
	wf_be16_put(p + 14, (uint16_t)original);
	b->p += WF_ERF_LEN;
}

int wf_pcapng_put_packet(uint8_t *buf, size_t size, const struct wf_pcapng_packet *packet,
                         size_t *len_p)
{
	uint64_t ns = packet->epoch + (uint64_t)packet->at / WF_NS;
	uint32_t erf = packet->erf != 0 ? WF_ERF_LEN : 0;
	uint32_t zeros = 0;
	uint8_t flags[4];
	struct block b;

	assert(packet->at >= 0 && packet->captured <= packet->original);
	if (packet->erf == WF_ERF_INFINIBAND_LINK && packet->captured < WF_ERF_LINK_PADDED)
		zeros = WF_ERF_LINK_PADDED - packet->captured;
	if (size < 32 + erf + pad4(packet->captured + zeros) + 8 + 4)
		return -ENOSPC;
	b = block_begin(buf, BLOCK_PACKET);
	block_put32(&b, packet->interface);
	block_put_time(&b, ns);
	block_put32(&b, erf + packet->captured + zeros);
	block_put32(&b, erf + packet->original + zeros);
	if (erf != 0)
		block_erf(&b, packet, ns, packet->captured + zeros, packet->original + zeros);
	memcpy(b.p, packet->bytes, packet->captured);
	memset(b.p + packet->captured, 0, pad4(packet->captured + zeros) - packet->captured);
	b.p += pad4(packet->captured + zeros);
	if (packet->dir != WF_PCAPNG_DIR_NONE) {
		wf_le32_put(flags, packet->dir);
		block_option(&b, OPT_PACKET_FLAGS, flags, sizeof(flags));
		block_option(&b, OPT_END, "", 0);
	}
	*len_p = block_end(&b);
	assert(*len_p <= WF_PCAPNG_BLOCK_MAX + packet->captured);
	return 0;
}

int wf_pcapng_put_statistics(uint8_t *buf, size_t size,
                             const struct wf_pcapng_statistics *statistics, size_t *len_p)
{
	const uint64_t start = statistics->epoch + (uint64_t)statistics->start / WF_NS;
	const uint64_t end = statistics->epoch + (uint64_t)statistics->end / WF_NS;
	uint8_t value[8];
	struct block b;

	assert(statistics->start >= 0 && statistics->end >= statistics->start);
	if (size < 20 + 4 * 12 + 4 + 4)
		return -ENOSPC;
	b = block_begin(buf, BLOCK_STATISTICS);
	block_put32(&b, statistics->interface);
	block_put_time(&b, end);
	for (unsigned i = 0; i < 2; i++) {
		wf_le32_put(value, (uint32_t)((i == 0 ? start : end) >> 32));
		wf_le32_put(value + 4, (uint32_t)(i == 0 ? start : end));
		block_option(&b, i == 0 ? OPT_STATISTICS_START : OPT_STATISTICS_END, value,
		             sizeof(value));
	}
	wf_le64_put(value, statistics->received);
	block_option(&b, OPT_STATISTICS_RECEIVED, value, sizeof(value));
	wf_le64_put(value, statistics->missed);
	block_option(&b, OPT_STATISTICS_DROPPED, value, sizeof(value));
	block_option(&b, OPT_END, "", 0);
	*len_p = block_end(&b);
	assert(*len_p <= WF_PCAPNG_BLOCK_MAX);
	return 0;
}
