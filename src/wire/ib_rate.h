/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ib_rate.h - InfiniBand's codes for rates, widths, MTUs and times.
 *
 * A link has a width (lanes) and a speed (of a lane), each a bit of PortInfo's sets. Rates are what
 * the generations are called by: 4x EDR is 100 Gb/s, FDR 56, QDR 40; not what is left of QDR's 40
 * when its coding is taken off.
 */
#ifndef WF_WIRE_IB_RATE_H
#define WF_WIRE_IB_RATE_H

#include "base/base.h"
#include "wire/smp.h"

/* Bits of the sets of widths. */
enum wf_ib_width {
	WF_WIDTH_1X = 0x01,
	WF_WIDTH_4X = 0x02,
	WF_WIDTH_8X = 0x04,
	WF_WIDTH_12X = 0x08,
	WF_WIDTH_2X = 0x10,
};

/*
 * A bit of a set of speeds, over the three fields that PortInfo has: LinkSpeed in bits 0 to 3,
 * LinkSpeedExt in 4 to 7, LinkSpeedExt2 from 8 on.
 */
enum wf_ib_speed {
	WF_SPEED_SDR = 0x001,
	WF_SPEED_DDR = 0x002,
	WF_SPEED_QDR = 0x004,
	WF_SPEED_FDR = 0x010,
	WF_SPEED_EDR = 0x020,
	WF_SPEED_HDR = 0x040,
	WF_SPEED_NDR = 0x080,
	WF_SPEED_XDR = 0x100,
};

/* Bits per second; 0 when one of them is none, or several. */
uint64_t wf_ib_rate(unsigned width, unsigned speed);

/*
 * The width and the speed of a link of that rate: 4x where that goes, else 2x, 1x, 8x or 12x.
 * Returns false when no link has that rate, and gives the fastest that is slower, or 1x SDR.
 */
bool wf_ib_rate_link(uint64_t rate, unsigned *width_p, unsigned *speed_p);

/* "EDR"; "?" of what is no speed. */
const char *wf_ib_speed_name(unsigned speed);

/*
 * Into *info: the speeds supported, enabled and active (0: the link is down), and the bits of the
 * capability masks that belong to them. An active speed of an extended field leaves 4 (QDR) in
 * LinkSpeedActive, as hardware does.
 */
void wf_ib_speed_put(struct wf_port_info *info, unsigned supported, unsigned enabled,
                     unsigned active);

/*
 * From PortInfo: a set, 0, and a bit or 0. The capability masks of caps say which fields count: of
 * an adapter's port it is info itself, of a switch's port that of port 0.
 */
unsigned wf_ib_speed_supported(const struct wf_port_info *info, const struct wf_port_info *caps);
unsigned wf_ib_speed_enabled(const struct wf_port_info *info, const struct wf_port_info *caps);
unsigned wf_ib_speed_active(const struct wf_port_info *info, const struct wf_port_info *caps);

/* The rate of a link as its PortInfo says; 0 where it says none. */
uint64_t wf_ib_port_rate(const struct wf_port_info *info, const struct wf_port_info *caps);

/*
 * Codes of static rates and of records: the one of exactly that rate, or of the next below; 2 for
 * all under 2.5 Gb/s. Decoding returns 0 where there is none.
 */
uint8_t wf_ib_rate_encode(uint64_t rate);
uint64_t wf_ib_rate_decode(uint8_t code);

/* 256 to 4096 bytes are 1 to 5; encoding takes the next below, at least 1; decoding returns 0. */
uint8_t wf_ib_mtu_encode(uint32_t mtu);
uint32_t wf_ib_mtu_decode(uint8_t code);

/* 4.096 us * 2^code. The code of a time is the least that is not shorter, at most 31. */
wf_time wf_ib_time_decode(uint8_t code);
uint8_t wf_ib_time_encode(wf_time time);

/* Codes of VLCap and OperationalVLs: 1, 2, 4, 8 or 15 lanes; the next below; 0 where none. */
uint8_t wf_ib_vls_encode(unsigned vls);
unsigned wf_ib_vls_decode(uint8_t code);

#endif
