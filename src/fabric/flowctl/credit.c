/* SPDX-License-Identifier: Apache-2.0 */
/*
 * credit.c - InfiniBand: nothing is sent for which the receiver has not promised buffer.
 *
 * Buffer counts in blocks of 64 bytes per virtual lane. The receiver tells how many blocks the
 * sender may have sent in total (FCCL = blocks received + blocks free); the sender compares that
 * with what it has sent (FCTBS). IBTA vol. 1, 7.9. Totals are modulo 2^32 here and modulo 2^12 on
 * the wire, which is why a lane's buffer is at most 2048 blocks.
 *
 *	 received ------- granted ------- received + free
 *	     |   outstanding   |   news         |
 *
 * The receiver does not speak for every packet. While the sender has plenty, that is more than it
 * can use until news reach it, the receiver keeps them until they are half a buffer; when the
 * sender may run short it speaks at once. An update that waits for the wire carries whatever is
 * newest when it leaves.
 */
#include "fabric/fabric.h"
#include "fabric/flowctl/flowctl.h"
#include "fabric/switch.h"
#include "wire/ib.h"

static void assert_lane(const struct wf_lane *lane)
{
	/* Neither side ever owes: what was promised fits the buffer, what was sent was promised. */
	assert(lane->used <= lane->capacity);
	assert((int32_t)(lane->granted - lane->received) >= 0);
	assert(lane->granted - lane->received <= lane->capacity - lane->used);
	assert((int32_t)(lane->credit.limit - lane->credit.sent) >= 0);
	(void)lane;
}

static uint32_t new_limit(const struct wf_lane *lane)
{
	return lane->received + lane->capacity - lane->used;
}

static void maybe_tell(struct wf_device *dev, struct wf_port *port, unsigned queue, wf_time now)
{
	struct wf_lane *lane = wf_device_lane(dev, port->number, queue);
	uint32_t outstanding = lane->granted - lane->received;
	uint32_t news = new_limit(lane) - lane->granted;

	assert_lane(lane);
	if (news > 0 && (outstanding < lane->low || news >= lane->capacity / 2) &&
	    !(port->control >> queue & 1))
		wf_port_want_control(dev, port, queue, now);
}

/*
 * Blocks the peer can send while news of credits wait for our wire and travel to it, and a packet.
 */
static uint32_t low_mark(const struct wf_fabric *fabric, const struct wf_port *port)
{
	uint32_t largest = fabric->largest + fabric->gap;
	wf_time loop = port->delay + port->in_delay + wf_port_time(port, largest);
	uint64_t bytes = wf_rate_bytes(port->per_byte, loop) + largest;

	/* On a long and fast link that is more than any buffer has. */
	return (uint32_t)wf_min_u64(bytes / WF_IB_BLOCK + 1, UINT32_MAX);
}

static void credit_start(struct wf_device *dev, struct wf_port *port, wf_time now)
{
	const struct wf_fabric *fabric = dev->fabric;
	const struct wf_setup *peer = wf_fabric_peer_setup(fabric, dev->id, port->number);
	uint32_t capacity = wf_narrow_u32(port->setup->cfg.vl_buffer / WF_IB_BLOCK);
	uint32_t granted = wf_narrow_u32(peer->cfg.vl_buffer / WF_IB_BLOCK);

	for (unsigned q = 0; q < fabric->classes.n; q++) {
		struct wf_lane *lane = wf_port_lane(port, q);

		/* VL15 is never held back. */
		if (!fabric->classes.queue[q].exempt)
			port->held |= (uint16_t)(1u << q);
		/* Both ends start from zero with what is free; at first that is all of it. */
		lane->capacity = capacity;
		lane->low = low_mark(fabric, port);
		lane->credit.sent = 0;
		lane->credit.limit = now == 0 ? granted : 0;
		lane->received = 0;
		lane->granted = now == 0 ? capacity : 0;
		if (now != 0)
			maybe_tell(dev, port, q, now);
	}
}

static int credit_divide(struct wf_switch *sw, struct wf_err *err)
{
	(void)sw;
	(void)err;
	return 0;
}

static void credit_down(struct wf_device *dev, struct wf_port *port, wf_time now)
{
	(void)dev;
	(void)port;
	(void)now;
}

static bool credit_admit(struct wf_switch *sw, struct wf_port *in, const struct wf_lane *out,
                         const struct wf_packet *pkt, wf_time now)
{
	struct wf_lane *lane = wf_device_lane(&sw->dev, in->number, pkt->vl);
	uint32_t n = wf_ib_blocks(pkt->size);

	(void)out;
	if (sw->dev.fabric->classes.queue[pkt->vl].exempt) {
		/* VL15 has no credits, and is dropped when there is no room. */
		if (lane->used + n > lane->capacity)
			return false;
		lane->used += n;
	} else {
		lane->received += n;
		lane->used += n;
		maybe_tell(&sw->dev, in, pkt->vl, now);
	}
	if (lane->used > lane->max_used)
		lane->max_used = lane->used;
	return true;
}

static void credit_release(struct wf_switch *sw, struct wf_port *in, const struct wf_packet *pkt,
                           wf_time now)
{
	struct wf_lane *lane = wf_device_lane(&sw->dev, in->number, pkt->vl);

	assert(lane->used >= wf_ib_blocks(pkt->size));
	lane->used -= wf_ib_blocks(pkt->size);
	if (!sw->dev.fabric->classes.queue[pkt->vl].exempt)
		maybe_tell(&sw->dev, in, pkt->vl, now);
}

static void credit_pass(struct wf_device *dev, struct wf_port *in, unsigned queue, uint32_t size,
                        wf_time now)
{
	if (dev->fabric->classes.queue[queue].exempt)
		return;
	wf_device_lane(dev, in->number, queue)->received += wf_ib_blocks(size);
	maybe_tell(dev, in, queue, now);
}

static void credit_keep(struct wf_device *dev, struct wf_port *in, unsigned queue, uint32_t size,
                        wf_time now)
{
	struct wf_lane *lane = wf_port_lane(in, queue);
	uint32_t n = wf_ib_blocks(size);

	if (dev->fabric->classes.queue[queue].exempt)
		return;
	lane->received += n;
	lane->used += n;
	if (lane->used > lane->max_used)
		lane->max_used = lane->used;
	maybe_tell(dev, in, queue, now);
}

static void credit_give(struct wf_device *dev, struct wf_port *in, unsigned queue, uint32_t size,
                        wf_time now)
{
	struct wf_lane *lane = wf_port_lane(in, queue);

	if (dev->fabric->classes.queue[queue].exempt)
		return;
	assert(lane->used >= wf_ib_blocks(size));
	lane->used -= wf_ib_blocks(size);
	if (in->up)
		maybe_tell(dev, in, queue, now);
}

static wf_time credit_ready(const struct wf_lane *lane, uint32_t size, wf_time now)
{
	return lane->credit.limit - lane->credit.sent >= wf_ib_blocks(size) ? now : WF_TIME_NEVER;
}

static void credit_sent(struct wf_lane *lane, uint32_t size)
{
	lane->credit.sent += wf_ib_blocks(size);
}

static void credit_control(struct wf_device *dev, struct wf_port *port, const struct wf_packet *pkt,
                           wf_time now)
{
	unsigned queue = pkt->u.credit.vl;
	struct wf_lane *lane = wf_port_lane(port, queue);

	assert(queue < dev->fabric->classes.n);
	if ((int32_t)(pkt->u.credit.limit - lane->credit.limit) > 0)
		lane->credit.limit = pkt->u.credit.limit;
	if (port->blocked >> queue & 1)
		wf_port_wake(dev, port, now);
}

static void credit_make_control(struct wf_device *dev, struct wf_port *port, struct wf_packet *pkt,
                                wf_time now)
{
	unsigned queue = (unsigned)__builtin_ctz(port->control);
	struct wf_lane *lane = wf_port_lane(port, queue);

	(void)dev;
	(void)now;
	port->control = (uint16_t)(port->control & (port->control - 1));
	lane->granted = new_limit(lane);
	pkt->type = WF_PACKET_CREDIT;
	pkt->u.credit.vl = queue;
	pkt->u.credit.limit = lane->granted;
	assert_lane(lane);
}

static void credit_timer(struct wf_device *dev, struct wf_port *port, wf_time now)
{
	(void)dev;
	(void)port;
	(void)now;
}

const struct wf_flowctl_ops wf_flowctl_credit = {
	.name = "credit",
	.help = "InfiniBand: credits per virtual lane, nothing sent without buffer",
	.uses_credits = true,
	.start = credit_start,
	.changed = credit_down, /* nothing that may change is flow control's */
	.down = credit_down,
	.divide = credit_divide,
	.admit = credit_admit,
	.release = credit_release,
	.pass = credit_pass,
	.keep = credit_keep,
	.give = credit_give,
	.ready = credit_ready,
	.sent = credit_sent,
	.control = credit_control,
	.make_control = credit_make_control,
	.timer = credit_timer,
};
