// SPDX-License-Identifier: Apache-2.0
// metrics.js - how the single values of a run are called, in which order, and which way is better.

// name in the results file, label, which way is better ("low", "high", ""), and the unit where the file has
// none. What is not here is in the last group, under its own name.
const TRAFFIC = "Traffic";
const PACKETS = "Packets";
const SIMULATED = "The job as it was simulated";
const STORAGE = "Storage";
// Of all storage together ("storage_iops"), and of each entry of the scenario ("storage.0.iops").
const OF_STORAGE = [
	["time", "time to the last byte", "low"], ["iops", "I/Os a second", "high"], ["read_rate", "bytes read", "high"], ["write_rate", "bytes written", "high"],
	...["read", "write"].flatMap((op) => [
		["p50", "p50"], ["p99", "p99"], ["p999", "p99.9"], ["max", "max"], ["mean", "mean"],
	].map(([key, label]) => [`${op}_latency_${key}`, `${op} latency, ${label}`, "low"])),
	["device_share", "share of the drives", "", "ratio"], ["ios", "I/Os", ""], ["failed", "I/Os failed", "low"], ["open", "I/Os under way at the end", "low"],
];
const KNOWN = [
	["Job", [
		["step_time", "step time", "low"], ["mfu", "MFU", "high", "ratio"], ["exposed", "exposed communication", "low"],
		["exposed_tp", "– tensor parallel", "low"], ["exposed_pp", "– pipeline parallel", "low"], ["exposed_ep", "– expert parallel", "low"], ["exposed_dp", "– data parallel", "low"],
		["step_bubble", "pipeline bubble", ""], ["step_busy", "compute, mean of ranks", ""], ["job_time", "job time", "low"],
	]],
	["Network", [
		["switches", "switches of the network", ""], ["switch_ports", "ports of one", ""], ["tiers", "tiers of them", ""], ["optics", "transceivers", ""],
		["power", "power, middle of the range", "low"], ["cost", "public price, middle of the range", "low"],
	]],
	["Small and large", [
		["write_latency", "RDMA write of 8 B, one way", "low"],
		["collective_small", "collective, smallest size", "low"], ["collective_middle", "collective, 32 KiB", "low"],
		["collective_large", "collective, largest size", "low"], ["busbw", "bus bandwidth, largest size", "high"],
	]],
	[SIMULATED, [
		["job_end", "end of the job", "low"], ["job_busy_mean", "compute, mean of ranks", ""],
		["job_exposed_mean", "not computing, mean of ranks", "low"], ["job_exposed_max", "not computing, worst rank", "low"],
		["job_messages", "messages over the fabric", ""], ["job_bytes", "bytes over the fabric", ""],
		["job_messages_nvlink", "messages over NVLink", ""], ["job_bytes_nvlink", "bytes over NVLink", ""],
		["job_connections", "connections", ""], ["job_queue_pairs", "queue pairs", ""], ["job_errors", "errors of queue pairs", "low"],
	]],
	[STORAGE, OF_STORAGE.map(([name, ...rest]) => [`storage_${name}`, ...rest])],
	[TRAFFIC, [
		["flows", "flows", ""], ["flows_done", "flows done", "high"], ["flows_failed", "flows failed", "low"],
		["completion", "completion time", "low"], ["goodput", "goodput, all hosts", "high"],
		["goodput_of_line", "goodput of the receivers' line", "high", "ratio"], ["bytes_delivered", "bytes delivered", ""],
	]],
	["Latency", [
		...["message", "packet", "flow"].flatMap((what) => [
		["p50", "p50"], ["p99", "p99"], ["p999", "p99.9"], ["max", "max"], ["mean", "mean"],
	].map(([key, label]) => [`${what}_latency_${key}`, `${what === "flow" ? "flow completion" : `${what} latency`}, ${label}`, "low"]))]],
	["Congestion", [
		["pause_tx", "PFC pauses sent", "low"], ["paused", "PFC paused, sum of ports", "low"],
		["watchdog_acted", "PFC watchdog acted", "low"], ["watchdog_restored", "PFC watchdog restored", ""], ["vl_stalls", "virtual lanes that stalled", "low"],
		["credit_waits", "credit waits", "low"], ["credit_wait", "credit wait, sum of ports", "low"],
		["ecn_marked", "packets marked (ECN, FECN)", ""], ["np_cnp_sent", "CNPs sent", ""], ["rp_cnp_handled", "CNPs handled", ""],
		["max_queue", "longest egress queue", "low"], ["max_buffer", "fullest ingress buffer", "low"], ["max_switch", "fullest shared buffer", "low"],
	]],
	["Loss", [
		["packets_dropped", "packets lost", "low"], ["lossless_drops", "congestion drops in lossless classes", "low"],
		["drops_congestion", "congestion drops", "low"],
		["drops_buffer", "lost: no room in the buffer (congestion)", "low"], ["drops_life", "lost: too long at a queue's head (congestion)", "low"],
		["drops_error", "lost: errors on links", "low"], ["drops_down", "lost: links that were down", "low"], ["drops_route", "lost: no route", "low"],
		["drops_hops", "lost: circled until their hop limit", "low"], ["drops_mtu", "lost: larger than a port's MTU", "low"],
		["drops_pkey", "lost: of a partition that a port does not let through", "low"],
		["drops_watchdog", "lost: dropped by the PFC watchdog", "low"],
		["fec_corrected", "codewords that the FEC mended", "low"], ["fec_uncorrected", "packets that the FEC could not mend", "low"],
		["link_retries", "packets sent again by links", "low"],
		["packets_resent", "packets sent again", "low"], ["out_of_sequence", "out of sequence at a receiver", "low"],
		["local_ack_timeout_err", "timeouts of a sender", "low"], ["trimmed", "packets cut to their headers", ""],
	]],
	[PACKETS, [
		["packets_sent", "packets sent by hosts", ""], ["packets_delivered", "packets delivered to hosts", ""],
		["packets_inside", "packets inside when it ended", ""], ["hops", "packet-hops", ""],
		["tx_packets", "packets sent, all ports", ""], ["tx_bytes", "bytes sent, all ports", ""], ["pause_rx", "PFC pauses received", ""],
	]],
];
// What somebody may take for something else, of a group that has the value.
export const ABOUT = {
	Latency: { of: "message_latency_p50", words: "Messages are those between ranks, of whatever size, from being posted to being received; a collective waits for its last one, so the median can be shorter while the step is longer." },
};
const REST = "More counters";
// Groups, and single values, that are worth a row only where something was counted.
const QUIET = new Set([REST, SIMULATED, PACKETS, "exposed_tp", "exposed_pp", "exposed_ep", "exposed_dp", "step_bubble", "trimmed", "watchdog_acted", "watchdog_restored", "vl_stalls"]);
// Said elsewhere on the page, or the sum of others.
const LEFT_OUT = new Set(["finished", "job_finished", "drops", "events_left_out", "messages_sampled_1_of"]);
const UNITS = { bytes: "B", "bytes/s": "B/s", share: "ratio", packets: "", frames: "", times: "", rows: "", count: "" };

const ENTRY = /^storage\.(\d+)\.(.+)$/u;

// What a value is: named above, of an entry of the storage, or nothing that is known.
function described(known, name) {
	const [, entry, figure] = ENTRY.exec(name) ?? [];
	const row = OF_STORAGE.find(([key]) => key === figure);
	if (row !== undefined)
		return { label: `entry ${entry}: ${row[1]}`, better: row[2], group: STORAGE, unit: row[3] };
	return known.get(name) ?? { label: name, better: "", group: REST };
}

// The middle one of the values, or the mean of the two middle ones.
export function median(values) {
	const sorted = values.slice().sort((a, b) => a - b);
	const at = sorted.length >> 1;
	return sorted.length % 2 === 1 ? sorted[at] : (sorted[at - 1] + sorted[at]) / 2;
}

// The rows of the comparison: of each fabric the median of its seeds (values), the least and the most (low,
// high), and what every run has (each: by run id). A value that no fabric has is left out, and so is a reason of losses that
// did not occur.
export function metrics(values, fabrics) {
	const known = new Map(KNOWN.flatMap(([group, list]) => list.map(([name, label, better, unit]) => [name, { label, better, group, unit }])));
	const order = [...known.keys()];
	const behind = order.indexOf(`storage_${OF_STORAGE.at(-1)[0]}`) + 0.5; // entries follow all of it together
	const place = (name) => (known.has(name) ? order.indexOf(name) : ENTRY.test(name) ? behind : order.length);
	const several = values.some((v) => v.name.startsWith("storage.1."));
	const found = new Map();
	for (const v of values) {
		const row = described(known, v.name);
		if (!found.has(v.name))
			found.set(v.name, { ...row, key: v.name, unit: row.unit ?? UNITS[v.unit] ?? v.unit, each: fabrics.map(() => new Map()) });
		found.get(v.name).each[v.f].set(v.run, v.value);
	}
	for (const m of found.values())
		Object.assign(m, spread(m.each));
	// A job has no flows, and what flows achieved is nothing then.
	const flows = found.get("flows")?.values.some((v) => v > 0) ?? false;
	return [...found.values()]
		.filter((m) => several || !ENTRY.test(m.key)) // one entry is all of it
		.filter((m) => flows || m.group !== TRAFFIC)
		.filter((m) => !LEFT_OUT.has(m.key) && m.values.some((v) => v !== null) && !(m.label.startsWith("lost:") && m.values.every((v) => !v)))
		.sort((a, b) => place(a.key) - place(b.key) || (a.key < b.key ? -1 : 1));
}

function spread(each) {
	const known = each.map((runs) => [...runs.values()].filter((v) => typeof v === "number"));
	const text = (f) => [...each[f].values()].find((v) => v !== null) ?? null;
	const take = (how) => known.map((list, f) => (list.length > 0 ? how(list) : text(f)));
	return { values: take(median), low: take((list) => Math.min(...list)), high: take((list) => Math.max(...list)) };
}

// A counter that nobody asked for and that counted nothing anywhere.
export function idle(metric) {
	return (QUIET.has(metric.group) || QUIET.has(metric.key)) && metric.values.every((v) => v === 0 || v === null);
}
