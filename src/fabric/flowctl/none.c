/* SPDX-License-Identifier: Apache-2.0 */
/*
 * none.c - lossy Ethernet: nobody is told to stop, and a queue that is too long drops at its tail.
 *
 * How long is too long is a dynamic threshold: alpha times what is free of the switch's buffer.
 */
#include "fabric/flowctl/flowctl.h"
#include "fabric/switch.h"

static void none_start(struct wf_device *dev, struct wf_port *port, wf_time now)
{
	(void)now;
	for (unsigned q = 0; q < dev->n_queues; q++)
		wf_port_lane(port, q)->out_alpha = port->setup->classes.queue[q].alpha;
}

static int none_divide(struct wf_switch *sw, struct wf_err *err)
{
	const struct wf_fabric *fabric = sw->dev.fabric;

	return wf_buffer_init(&sw->buffer, &sw->dev.setup->cfg,
	                      fabric->topo->nodes[sw->dev.id].name, 0, 0, err);
}

static void none_down(struct wf_device *dev, struct wf_port *port, wf_time now)
{
	(void)dev;
	(void)port;
	(void)now;
}

static bool none_admit(struct wf_switch *sw, struct wf_port *in, const struct wf_lane *out,
                       const struct wf_packet *pkt, wf_time now)
{
	(void)now;
	return wf_buffer_take_lossy(&sw->buffer, wf_device_lane(&sw->dev, in->number, pkt->vl), out,
	                            pkt->size);
}

static void none_release(struct wf_switch *sw, struct wf_port *in, const struct wf_packet *pkt,
                         wf_time now)
{
	(void)now;
	wf_buffer_give_lossy(&sw->buffer, wf_device_lane(&sw->dev, in->number, pkt->vl), pkt->size);
}

static void none_pass(struct wf_device *dev, struct wf_port *in, unsigned queue, uint32_t size,
                      wf_time now)
{
	(void)dev;
	(void)in;
	(void)queue;
	(void)size;
	(void)now;
}

static wf_time none_ready(const struct wf_lane *lane, uint32_t size, wf_time now)
{
	(void)lane;
	(void)size;
	return now;
}

static void none_sent(struct wf_lane *lane, uint32_t size)
{
	(void)lane;
	(void)size;
}

static void none_control(struct wf_device *dev, struct wf_port *port, const struct wf_packet *pkt,
                         wf_time now)
{
	(void)dev;
	(void)port;
	(void)pkt;
	(void)now;
}

static void none_make_control(struct wf_device *dev, struct wf_port *port, struct wf_packet *pkt,
                              wf_time now)
{
	(void)dev;
	(void)pkt;
	(void)now;
	port->control = 0;
}

static void none_timer(struct wf_device *dev, struct wf_port *port, wf_time now)
{
	(void)dev;
	(void)port;
	(void)now;
}

const struct wf_flowctl_ops wf_flowctl_none = {
	.name = "none",
	.help = "lossy Ethernet: queues drop at their tail",
	.uses_credits = false,
	.start = none_start,
	.changed = none_start,
	.down = none_down,
	.divide = none_divide,
	.admit = none_admit,
	.release = none_release,
	.pass = none_pass,
	.keep = none_pass,
	.give = none_pass,
	.ready = none_ready,
	.sent = none_sent,
	.control = none_control,
	.make_control = none_make_control,
	.timer = none_timer,
};
