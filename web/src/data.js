// SPDX-License-Identifier: Apache-2.0
// data.js - what weft report wrote into the page: a JSON text with the tables of the study, and the
// samples of the ports as 16-bit integers; both deflated, in base64. src/results/page.h describes them.
import { flowsOf } from "./flows.js";
import { median, metrics } from "./metrics.js";
import { arrange } from "./sweep.js";

function block(id) {
	return document.getElementById(id).textContent.trim();
}

async function inflate(base64) {
	const packed = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
	return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate")))
		.arrayBuffer();
}

// The rows of a table as objects.
function rows({ columns, cells }) {
	const out = [];
	for (let i = 0; i < cells.length; i += columns.length)
		out.push(Object.fromEntries(columns.map((name, k) => [name, cells[i + k]])));
	return out;
}

// Rows by key(row), in the order in which the keys come first.
function groupBy(list, key) {
	const groups = new Map();
	for (const row of list) {
		const k = key(row);
		if (!groups.has(k))
			groups.set(k, []);
		groups.get(k).push(row);
	}
	return groups;
}

// Runs of one label differ in their seed alone: they are one fabric, which is a run with all details and
// its runs. One that was begun again has only the run that came to its end.
function fabricsOf(runs) {
	return [...groupBy(runs, (r) => r.label).values()].map((all) => {
		const kept = all.filter((r) => r.state === "finished" || !all.some((o) => o !== r && o.seed === r.seed && (o.state === "finished" || o.id > r.id)))
			.sort((a, b) => a.seed - b.seed || a.id - b.id);
		const lead = kept.find((r) => r.lead) ?? kept[0];
		return { ...lead, name: lead.label, runs: kept };
	});
}

// Returns the study: everything in it names its fabrics by their index, f.
export async function load() {
	const raw = JSON.parse(new TextDecoder().decode(await inflate(block("weft-data"))));
	const samples = new DataView(await inflate(block("weft-samples")));
	const t = Object.fromEntries(Object.entries(raw.tables).map(([key, table]) => [key, rows(table)]));
	if (t.study[0].kind === "sweep")
		arrange(t.run);
	const fabrics = fabricsOf(t.run);
	const index = new Map(fabrics.map((fabric, f) => [fabric.id, f]));
	const everyRun = new Map(fabrics.flatMap((fabric, f) => fabric.runs.map((run) => [run.id, f])));
	for (const [name, list] of Object.entries(t)) {
		for (const row of list)
			row.f = (name === "value" || name === "bandwidth" ? everyRun : index).get(row.run) ?? null;
		t[name] = list.filter((row) => row.f !== null || (row.run ?? null) === null);
	}
	for (const [f, fabric] of fabrics.entries())
		fabric.inputs = t.input.filter((row) => row.f === f);
	// Runs are in the order of the scenario's fabrics, rows so far in that in which the runs began.
	for (const list of [t.latency, t.bandwidth, t.collective, t.span])
		list.sort((a, b) => a.f - b.f);
	const data = {
		file: raw.file, study: t.study[0], fabrics, scenarios: t.scenario, rankStep: raw.rank_step,
		metrics: metrics(t.value, fabrics), notes: t.note, parameters: parameters(t.parameter, fabrics.length),
		cdf: distributions(t.latency), bus: bandwidth(t.bandwidth), collectives: collectives(t.collective, fabrics.length), collectiveCount: t.collective_count[0].n,
		leftOut: t.value.filter((v) => v.name === "events_left_out" && v.value > 0 && index.has(v.run)),
		timelines: timelines(t.span), events: { counts: t.event_count, rows: t.event },
	};
	// What of the job was simulated: 1, or the ratio by which its bytes and times were divided.
	const scale = data.parameters.find((p) => p.name === "job.scale")?.values ?? [];
	data.scale = data.metrics.some((m) => m.key === "step_time") && new Set(scale).size === 1 ? Number(scale[0]) : 1;
	data.topologies = topologies(t, data.fabrics);
	const of = t.flow.length > 0 || t.message.length === 0 ? "flow" : "message";
	data.followed = [...groupBy(t.flow_sample, (s) => `${s.f} ${s.flow}`).values()].map((list) => ({ f: list[0].f, flow: list[0].flow, src: list[0].src, dst: list[0].dst, start: list[0].start_ps, list }));
	data.flows = { of, list: flowsOf(data, t[of], of), counts: t[`${of}_count`].sort((a, b) => a.f - b.f) };
	data.series = raw.series.filter((s) => index.has(s.run)).map((s) => ({ ...s, f: index.get(s.run), times: Float64Array.from(s.times_ps), kinds: s.kinds.map((k) => withRows(k, s, samples)) }))
		.sort((a, b) => a.f - b.f);
	return data;
}

function parameters(list, n) {
	return [...groupBy(list, (p) => p.name)].map(([name, found]) => {
		const out = { name, values: new Array(n).fill(null), given: new Array(n).fill(false) };
		for (const p of found)
			[out.values[p.f], out.given[p.f]] = [p.value, p.given === 1];
		return out;
	});
}

const WHAT = {
	message: "Message latency", storage_read: "Storage reads", storage_write: "Storage writes", packet: "Packet latency", flow: "Flow completion time",
};

function distributions(list) {
	const place = ([what]) => (Object.keys(WHAT).indexOf(what) + 99) % 99; // those without a name last
	return [...groupBy(list, (r) => r.what)].sort((a, b) => place(a) - place(b)).map(([what, found]) => ({
		label: WHAT[what] ?? what,
		curves: [...groupBy(found, (r) => r.f)].map(([f, buckets]) => {
			const n = buckets.reduce((s, b) => s + b.n, 0);
			let seen = 0;
			return { f, n, x: buckets.map((b) => Math.max(b.le_ps, 1)), y: buckets.map((b) => (seen += b.n) / n) };
		}),
	})).filter((set) => set.curves.length > 0);
}

function bandwidth(list) {
	return [...groupBy(list, (r) => `${r.collective}, ${r.algorithm}, ${r.ranks} ranks`)].map(([label, found]) => ({
		label,
		curves: [...groupBy(found, (r) => r.f)].map(([f, points]) => {
			const sizes = [...groupBy(points, (p) => p.bytes)];
			const of = (column) => sizes.map(([, seeds]) => median(seeds.map((p) => p[column])));
			return { f, size: sizes.map(([bytes]) => bytes), time: of("time_ps"), alg: of("algbw"), bus: of("busbw") };
		}),
	}));
}

// The same collective on every fabric in one row.
function collectives(list, n) {
	return [...groupBy(list, (c) => `${c.id} ${c.name} ${c.kind} ${c.algorithm} ${c.bytes}`).values()].map((found) => {
		const out = { ...found[0], runs: new Array(n).fill(null) };
		for (const c of found)
			out.runs[c.f] = c;
		return out;
	}).sort((a, b) => a.id - b.id);
}

const KINDS = { compute: 0, communication: 1, exposed: 2 };

function timelines(list) {
	return [...groupBy(list.filter((s) => s.kind in KINDS), (s) => s.f)].map(([f, spans]) => ({
		f, rank: spans.map((s) => s.rank), kind: spans.map((s) => KINDS[s.kind]),
		begin: spans.map((s) => s.begin_ps), length: spans.map((s) => s.length_ps), name: spans.map((s) => s.name),
	}));
}

// Most often all runs have the same topology; each that differs is there once. Sets fabrics[].topo.
function topologies(t, fabrics) {
	const found = new Map();
	const nodes = groupBy(t.node, (r) => r.f);
	const links = groupBy(t.link, (r) => r.f);
	for (const [f, fabric] of fabrics.entries()) {
		const own = nodes.get(f) ?? [];
		const cables = links.get(f) ?? [];
		const key = JSON.stringify([own.map((n) => [n.name, n.tier, n.pod]), cables.map((l) => [l.a, l.a_port, l.b, l.b_port, l.rate])]);
		if (!found.has(key))
			found.set(key, connect(own, cables));
		fabric.topo = [...found.keys()].indexOf(key);
	}
	return [...found.values()];
}

// Link i has two ports, one for each direction: 2i sends from a to b, and 2i + 1 from b to a.
function connect(nodes, links) {
	const topo = {
		name: nodes.map((n) => n.name), tier: nodes.map((n) => n.tier), pod: nodes.map((n) => n.pod),
		links, ports: [], nodePorts: nodes.map(() => []),
	};
	links.forEach((l, i) => {
		topo.ports.push({ id: 2 * i, node: l.a, port: l.a_port, peer: l.b, rate: l.rate, delay: l.delay_ps }, { id: 2 * i + 1, node: l.b, port: l.b_port, peer: l.a, rate: l.rate, delay: l.delay_ps });
		topo.nodePorts[l.a].push(2 * i);
		topo.nodePorts[l.b].push(2 * i + 1);
	});
	for (const list of topo.nodePorts)
		list.sort((p, q) => topo.ports[p].port - topo.ports[q].port);
	return topo;
}

// Gives a quantity of a series row(port), the port's values over time; a port that never had any has 0.
function withRows(kind, series, samples) {
	const place = new Map(kind.ports.map((port, i) => [port, i]));
	const known = new Map();
	const unpack = (i) => Float64Array.from({ length: series.n }, (_, k) => (i === undefined ? 0
		: samples.getUint16(2 * (kind.offset + i * series.n + k), true) * kind.max[i] / 65535));
	const row = (port) => {
		if (!known.has(port))
			known.set(port, unpack(place.get(port)));
		return known.get(port);
	};
	return { ...kind, row };
}

// A quantity of a fabric, of whole ports or of one queue; undefined where it was always 0. null: it was
// counted, but not by queue.
export function quantity(data, f, key, queue = null) {
	const kinds = data.series.find((s) => s.f === f)?.kinds.filter((k) => k.key === key) ?? [];
	const whole = kinds.find((k) => k.queue === null);
	if (queue === null || whole === undefined || whole.only === queue)
		return whole;
	return kinds.length === 1 && whole.only === null ? null : kinds.find((k) => k.queue === queue);
}

// The queues that something is known of.
export function queuesOf(data) {
	const all = data.series.flatMap((s) => s.kinds.flatMap((k) => [k.queue, k.only])).filter((q) => q !== null);
	return [...new Set(all)].sort((a, b) => a - b);
}

// Intervals are short where something happens. series.times has where they begin and end: n + 1 times.
// The number of the interval that ends at t, or within which t is; the last one after the end.
export function intervalAt(series, t) {
	const i = series.times.findIndex((x, k) => k > 0 && x >= t - 1e-6);
	return i < 0 ? series.n - 1 : i - 1;
}

// How long interval i is, and all of them.
export const lengthOf = (series, i) => series.times[i + 1] - series.times[i];
export const endOf = (series) => series.times[series.n];

export function portName(topo, id) {
	const port = topo.ports[id];
	return `${topo.name[port.node]} port ${port.port} → ${topo.name[port.peer]}`;
}
