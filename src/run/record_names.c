/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_names.c - the names of values: those of record_run.c, record_job.c and record_sim.c. Those
 * of storage are made of its figures: "storage_iops" of all of it, "storage.0.iops" of an entry.
 */
#include "run/record_names.h"

#include <stdio.h>
#include <string.h>

#include "text/suggest.h"
#include "rdma/counter.h"
#include "sim/look/counts.h"
#include "sim/storage/result.h"
#include "tcp/counter.h"

static const char *const names[] = {
	/* of a run */
	"completion",
	"goodput",
	"goodput_of_line",
	"finished",
	"flows",
	"flows_done",
	"flows_failed",
	"bytes_delivered",
	"packets_sent",
	"packets_delivered",
	"packets_dropped",
	"packets_inside",
	"packets_resent",
	"hops",
	"lossless_drops",
	"max_switch",
	"events_left_out",
	/* distributions */
	"packet_latency_p50",
	"packet_latency_p99",
	"packet_latency_p999",
	"packet_latency_mean",
	"packet_latency_max",
	"flow_latency_p50",
	"flow_latency_p99",
	"flow_latency_p999",
	"flow_latency_mean",
	"flow_latency_max",
	/* of TCP */
	"tcp_cores_mean",
	"tcp_cores_max",
	"tcp_load_mean",
	"tcp_load_max",
	"tcp_core_max",
	/* of a job */
	"job_finished",
	"job_end",
	"job_messages",
	"job_messages_nvlink",
	"job_bytes",
	"job_bytes_nvlink",
	"job_busy_mean",
	"job_exposed_mean",
	"job_exposed_max",
	"job_errors",
	"job_connections",
	"job_queue_pairs",
	"message_latency_p50",
	"message_latency_p99",
	"message_latency_p999",
	"message_latency_max",
	"messages_sampled_1_of",
	/* of a training step */
	"step_time",
	"step_busy",
	"step_bubble",
	"exposed",
	"exposed_tp",
	"exposed_pp",
	"exposed_ep",
	"exposed_dp",
	"mfu",
};

/* The name at place i of those of runs, ports' counters and adapters' together; NULL: none. */
static const char *name_at(size_t i)
{
	if (i < WF_ARRAY_SIZE(names))
		return names[i];
	i -= WF_ARRAY_SIZE(names);
	if (i < WF_PORT_COUNTERS_N)
		return wf_port_counters[i].value;
	i -= WF_PORT_COUNTERS_N;
	if (i < WF_TCP_CTRS)
		return wf_tcp_counters[i].name;
	i -= WF_TCP_CTRS;
	return wf_host_counters[i].hw ? wf_host_counters[i].name : NULL;
}

/* Behind "storage_" or "storage.0.": whether it is a figure of storage. */
static bool is_of_storage(const char *name)
{
	size_t digits;

	if (strncmp(name, "storage.", 8) != 0 && strncmp(name, "storage_", 8) != 0)
		return false;
	digits = name[7] == '.' ? strspn(name + 8, "0123456789") : 0;
	if (name[7] == '.' && (digits == 0 || name[8 + digits] != '.'))
		return false;
	name += name[7] == '.' ? 8 + digits + 1 : 8;
	for (size_t i = 0; i < WF_STORAGE_FIGURES; i++) {
		if (strcmp(wf_storage_figures[i].name, name) == 0)
			return true;
	}
	return false;
}

int wf_record_name_check(const char *name, struct wf_err *err)
{
	char of_storage[WF_STORAGE_FIGURES][64];
	struct wf_suggest suggest;

	if (is_of_storage(name))
		return 0;
	wf_suggest_init(&suggest, name);
	for (size_t i = 0;
	     i < WF_ARRAY_SIZE(names) + WF_PORT_COUNTERS_N + WF_TCP_CTRS + WF_COUNTERS; i++) {
		const char *known = name_at(i);

		if (known == NULL)
			continue;
		if (strcmp(known, name) == 0)
			return 0;
		wf_suggest_offer(&suggest, known);
	}
	for (size_t i = 0; i < WF_STORAGE_FIGURES; i++) {
		snprintf(of_storage[i], sizeof(of_storage[i]), "storage_%s",
		         wf_storage_figures[i].name);
		wf_suggest_offer(&suggest, of_storage[i]);
	}
	return wf_err_say(err, "no run has a value '%.64s'%.300s", name,
	                  wf_suggest_text(&suggest, "there are"));
}
