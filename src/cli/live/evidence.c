/* SPDX-License-Identifier: Apache-2.0 */
/* evidence.c - what a live fabric has counted, as evidence. */
#include "cli/diagnose.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/live/live.h"

static int port_called(struct wf_evidence *ev, const char *node, uint32_t number, bool is_switch,
                       uint32_t *id_p)
{
	char name[16];
	uint32_t device;
	int ret = wf_evidence_device(ev, node, strlen(node), &device);

	if (ret != 0)
		return ret;
	ev->devices[device].kind = is_switch ? WF_EV_SWITCH : WF_EV_HOST;
	snprintf(name, sizeof(name), "%u", number);
	return wf_evidence_port(ev, device, name, strlen(name), id_p);
}

static int put(struct wf_evidence *ev, uint32_t port, enum wf_ev_counter counter, uint64_t value)
{
	const struct wf_ev_sample sample = {
		.port = port,
		.queue = WF_EV_NO_QUEUE,
		.counter = (uint16_t)counter,
		.file = 0,
		.value = value,
	};

	return wf_evidence_put(ev, &sample);
}

static int take_port(struct wf_evidence *ev, const struct wf_live_port *port)
{
	uint32_t id;
	int ret = port_called(ev, port->node, port->number, port->is_switch != 0, &id);

	/* Rows of ports' counters are the first of evidence, in the same order. */
	for (size_t i = 0; i < WF_PORT_COUNTERS_N && ret == 0; i++)
		ret = put(ev, id, (enum wf_ev_counter)i,
		          wf_counts_get(&port->counts, &wf_port_counters[i]));
	if (ret == 0)
		ev->ports[id].rate = port->rate;
	return ret;
}

/* Both ends of a link come somewhere in the list. */
static int take_links(struct wf_evidence *ev, const struct wf_live_model *model)
{
	for (uint32_t i = 0; i < model->n_ports; i++) {
		for (uint32_t k = i + 1; k < model->n_ports; k++) {
			const struct wf_live_port *a = &model->port[i], *b = &model->port[k];
			uint32_t pa, pb;
			int ret;

			if (a->link != b->link)
				continue;
			ret = port_called(ev, a->node, a->number, a->is_switch != 0, &pa);
			if (ret == 0)
				ret = port_called(ev, b->node, b->number, b->is_switch != 0, &pb);
			if (ret != 0)
				return ret;
			wf_evidence_link(ev, pa, pb);
		}
	}
	return 0;
}

static int take_host(struct wf_evidence *ev, const char *name, const uint64_t *count)
{
	uint32_t id;
	int ret = port_called(ev, name, 1, false, &id);

	for (unsigned i = 0; i < WF_COUNTERS && ret == 0; i++)
		ret = put(ev, id, (enum wf_ev_counter)(WF_EV_HCA_OUT_OF_SEQUENCE + i), count[i]);
	return ret;
}

int wf_live_evidence(const char *name, struct wf_evidence *ev, struct wf_err *err)
{
	struct wf_live_picture p;
	char path[WF_PATH_MAX];
	uint32_t file;
	int ret = wf_live_path(name, false, path, err);

	if (ret == 0)
		ret = wf_evidence_file(ev, "live", &file);
	if (ret != 0)
		return ret;
	ret = wf_live_look(path, &p, err);
	if (ret != 0)
		return ret;
	for (uint32_t i = 0; p.model != NULL && i < p.model->n_ports && ret == 0; i++)
		ret = take_port(ev, &p.model->port[i]);
	if (p.model != NULL && ret == 0)
		ret = take_links(ev, p.model);
	for (uint32_t h = 0; h < p.table->n_hosts && ret == 0; h++)
		ret = take_host(ev, p.table->host[h].name, p.status[h].count);
	if (p.model != NULL)
		ev->interval = (wf_time)p.model->time_ps;
	wf_live_picture_fini(&p);
	return ret;
}
