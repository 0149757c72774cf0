/* SPDX-License-Identifier: Apache-2.0 */
/* ib_rate.c - InfiniBand's codes, as tables. */
#include "wire/ib_rate.h"

#define MBPS UINT64_C(1000000)
#define EXT_SHIFT 4
#define EXT2_SHIFT 8

static const struct {
	unsigned width, lanes;
} widths[] = {
	/* in the order in which a rate's width is chosen */
	{ WF_WIDTH_4X, 4 }, { WF_WIDTH_2X, 2 },   { WF_WIDTH_1X, 1 },
	{ WF_WIDTH_8X, 8 }, { WF_WIDTH_12X, 12 },
};

static const struct {
	unsigned speed;
	uint64_t lane; /* Mb/s */
	const char *name;
} speeds[] = {
	{ WF_SPEED_SDR, 2500, "SDR" },   { WF_SPEED_DDR, 5000, "DDR" },
	{ WF_SPEED_QDR, 10000, "QDR" },  { WF_SPEED_FDR, 14000, "FDR" },
	{ WF_SPEED_EDR, 25000, "EDR" },  { WF_SPEED_HDR, 50000, "HDR" },
	{ WF_SPEED_NDR, 100000, "NDR" }, { WF_SPEED_XDR, 200000, "XDR" },
};

uint64_t wf_ib_rate(unsigned width, unsigned speed)
{
	uint64_t lane = 0;

	for (unsigned i = 0; i < WF_ARRAY_SIZE(speeds); i++)
		if (speeds[i].speed == speed)
			lane = speeds[i].lane * MBPS;
	for (unsigned i = 0; i < WF_ARRAY_SIZE(widths); i++)
		if (widths[i].width == width)
			return widths[i].lanes * lane;
	return 0;
}

bool wf_ib_rate_link(uint64_t rate, unsigned *width_p, unsigned *speed_p)
{
	uint64_t best = 0;

	*width_p = WF_WIDTH_1X;
	*speed_p = WF_SPEED_SDR;
	for (unsigned w = 0; w < WF_ARRAY_SIZE(widths); w++)
		for (unsigned s = 0; s < WF_ARRAY_SIZE(speeds); s++) {
			uint64_t r = widths[w].lanes * speeds[s].lane * MBPS;

			if (r > rate || r <= best)
				continue;
			best = r;
			*width_p = widths[w].width;
			*speed_p = speeds[s].speed;
		}
	return best == rate && best != 0;
}

const char *wf_ib_speed_name(unsigned speed)
{
	for (unsigned i = 0; i < WF_ARRAY_SIZE(speeds); i++)
		if (speeds[i].speed == speed)
			return speeds[i].name;
	return "?";
}

void wf_ib_speed_put(struct wf_port_info *info, unsigned supported, unsigned enabled,
                     unsigned active)
{
	uint16_t mask2 =
		info->capability_mask2 &
		(uint16_t) ~(WF_CAP2_HDR | WF_CAP2_NDR | WF_CAP2_EXTENDED_SPEEDS2 | WF_CAP2_XDR);

	info->link_speed_supported = supported & 0xf;
	info->link_speed_enabled = enabled & 0xf;
	info->link_speed_active = active > 0xf ? WF_SPEED_QDR : active & 0xf;
	info->link_speed_ext_supported = supported >> EXT_SHIFT & 0xf;
	info->link_speed_ext_enabled = enabled >> EXT_SHIFT & 0xf;
	info->link_speed_ext_active = active >> EXT_SHIFT & 0xf;
	info->link_speed_ext_supported2 = supported >> EXT2_SHIFT & 3;
	info->link_speed_ext_enabled2 = enabled >> EXT2_SHIFT & 3;
	info->link_speed_ext_active2 = active >> EXT2_SHIFT & 3;
	if ((supported & WF_SPEED_HDR) != 0)
		mask2 |= WF_CAP2_HDR;
	if ((supported & WF_SPEED_NDR) != 0)
		mask2 |= WF_CAP2_NDR;
	if ((supported & WF_SPEED_XDR) != 0)
		mask2 |= WF_CAP2_EXTENDED_SPEEDS2 | WF_CAP2_XDR;
	info->capability_mask2 = mask2;
	if (mask2 != 0)
		info->capability_mask |= WF_CAP_CAP_MASK2;
	if (supported > 0xf)
		info->capability_mask |= WF_CAP_EXTENDED_SPEEDS;
	else
		info->capability_mask &= ~WF_CAP_EXTENDED_SPEEDS;
}

static bool has_ext(const struct wf_port_info *caps)
{
	return (caps->capability_mask & WF_CAP_EXTENDED_SPEEDS) != 0;
}

static bool has_ext2(const struct wf_port_info *caps)
{
	return (caps->capability_mask & WF_CAP_CAP_MASK2) != 0 &&
	       (caps->capability_mask2 & WF_CAP2_EXTENDED_SPEEDS2) != 0;
}

static unsigned set_of(const struct wf_port_info *caps, unsigned low, unsigned ext, unsigned ext2)
{
	if (has_ext(caps))
		low |= (ext & 0xf) << EXT_SHIFT;
	if (has_ext2(caps))
		low |= (ext2 & 3) << EXT2_SHIFT;
	return low;
}

unsigned wf_ib_speed_supported(const struct wf_port_info *info, const struct wf_port_info *caps)
{
	return set_of(caps, info->link_speed_supported, info->link_speed_ext_supported,
	              info->link_speed_ext_supported2);
}

unsigned wf_ib_speed_enabled(const struct wf_port_info *info, const struct wf_port_info *caps)
{
	return set_of(caps, info->link_speed_enabled, info->link_speed_ext_enabled,
	              info->link_speed_ext_enabled2);
}

unsigned wf_ib_speed_active(const struct wf_port_info *info, const struct wf_port_info *caps)
{
	if (has_ext2(caps) && info->link_speed_ext_active2 != 0)
		return (unsigned)info->link_speed_ext_active2 << EXT2_SHIFT;
	if (has_ext(caps) && info->link_speed_ext_active != 0)
		return (unsigned)info->link_speed_ext_active << EXT_SHIFT;
	return info->link_speed_active;
}

uint64_t wf_ib_port_rate(const struct wf_port_info *info, const struct wf_port_info *caps)
{
	return wf_ib_rate(info->link_width_active, wf_ib_speed_active(info, caps));
}

/* Mb/s of codes 2 to 25. */
static const uint32_t codes[] = {
	2500,   10000, 30000, 5000,   20000,  40000,  60000,   80000,
	120000, 14000, 56000, 112000, 168000, 25000,  100000,  200000,
	300000, 28000, 50000, 400000, 600000, 800000, 1200000, 1600000,
};

uint8_t wf_ib_rate_encode(uint64_t rate)
{
	unsigned best = 0;

	for (unsigned i = 0; i < WF_ARRAY_SIZE(codes); i++)
		if (codes[i] * MBPS <= rate && codes[i] > codes[best])
			best = i;
	return (uint8_t)(2 + best);
}

uint64_t wf_ib_rate_decode(uint8_t code)
{
	return code >= 2 && code - 2U < WF_ARRAY_SIZE(codes) ? codes[code - 2] * MBPS : 0;
}

uint8_t wf_ib_mtu_encode(uint32_t mtu)
{
	uint8_t code = 1;

	while (code < 5 && wf_ib_mtu_decode(code + 1) <= mtu)
		code++;
	return code;
}

uint32_t wf_ib_mtu_decode(uint8_t code)
{
	return code >= 1 && code <= 5 ? UINT32_C(128) << code : 0;
}

wf_time wf_ib_time_decode(uint8_t code)
{
	return (wf_time)4096 * WF_NS << (code & 31);
}

uint8_t wf_ib_time_encode(wf_time time)
{
	uint8_t code = 0;

	while (code < 31 && wf_ib_time_decode(code) < time)
		code++;
	return code;
}

uint8_t wf_ib_vls_encode(unsigned vls)
{
	uint8_t code = 0;

	while (code < 5 && wf_ib_vls_decode(code + 1) <= vls)
		code++;
	return code;
}

unsigned wf_ib_vls_decode(uint8_t code)
{
	if (code == 5)
		return 15;
	return code >= 1 && code <= 4 ? 1U << (code - 1) : 0;
}
