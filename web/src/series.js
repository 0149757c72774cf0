// SPDX-License-Identifier: Apache-2.0
// series.js - throughput, queue and pauses of a port, a node or all of them over time, every fabric.
import { LineChart } from "./chart.js";
import { lengthOf, portName, quantity, queuesOf } from "./data.js";
import { h, select } from "./dom.js";
import { asSimulated, time, value } from "./format.js";
import { roots } from "./heat.js";

// How the ports of a choice become one line.
const sum = (list, n) => list.reduce((out, row) => row.map((v, i) => v + out[i]), new Float64Array(n));
const largest = (list, n) => list.reduce((out, row) => row.map((v, i) => Math.max(v, out[i])), new Float64Array(n));
const mean = (list, n) => (list.length === 0 ? new Float64Array(n) : sum(list, n).map((v) => v / list.length));

const KINDS = [
	{ key: "tx", name: "throughput", title: "Throughput", one: "sent by the port", many: "sent by all these ports", label: "rate", unit: "bit/s", join: sum, never: "No port sent anything." },
	{ key: "queue", name: "queue", title: "Queue", one: "largest in each interval", many: "the longest of these ports", label: "waiting", unit: "B", join: largest, never: "No sample found a packet waiting." },
	{ key: "stopped", name: "pause", title: "Stopped by the other end", one: "share of the time: paused by PFC, or with something to send and no credits",
		many: "share of the time, mean of these ports: paused by PFC, or with something to send and no credits", label: "share", unit: "ratio", join: mean, never: "No port was ever stopped by the other end." },
];

const TIERS = ["Hosts", "Leaves", "Spines and aggregation", "Cores"];

// The ports with the most of a kind in any fabric of that topology: where to look first.
function hottest(data, topo, key, count) {
	const top = new Map();
	for (const series of data.series.filter((s) => data.fabrics[s.f].topo === topo)) {
		const kind = series.kinds.find((k) => k.key === key && k.queue === null);
		kind?.ports.forEach((port, i) => top.set(port, Math.max(top.get(port) ?? 0, kind.max[i])));
	}
	return [...top].sort((p, q) => q[1] - p[1] || p[0] - q[0]).slice(0, count).map(([port]) => port);
}

// Where congestion began in any fabric of that topology.
function rootsOf(data, topo, count) {
	const found = data.series.filter((s) => data.fabrics[s.f].topo === topo).flatMap((s) => roots(data, s.f)).sort((a, b) => b.queue - a.queue);
	return [...new Set(found.map((r) => r.port))].slice(0, count);
}

function choices(data, at, chosen) {
	const topo = data.topologies[at];
	const nodes = (tier) => topo.name.map((name, id) => ({ value: `n${id}`, label: name }))
		.filter((_, id) => topo.tier[id] === tier);
	const ports = (list) => list.map((port) => ({ value: `p${port}`, label: portName(topo, port) }));
	const tiers = [...new Set(topo.tier)].sort();
	const groups = [
		{ group: "Together", choices: [{ value: "hosts", label: "all hosts" }, { value: "switches", label: "all switches" }] },
		{ group: "Roots of the congestion", choices: ports(rootsOf(data, at, 5)) },
		{ group: "Longest queues", choices: ports(hottest(data, at, "queue", 5)) },
		{ group: "Most stopped", choices: ports(hottest(data, at, "stopped", 5)) },
		...tiers.map((tier) => ({ group: TIERS[tier] ?? `Tier ${tier}`, choices: nodes(tier) })),
	].filter((g) => g.choices.length > 0);
	// A port that was chosen elsewhere on the page.
	if (!groups.some((g) => g.choices.some((c) => c.value === chosen)))
		groups.splice(1, 0, { group: "Chosen", choices: ports([Number(chosen.slice(1))]) });
	return groups;
}

// The ids of the ports that a choice is about.
function portsOf(topo, choice) {
	if (choice.startsWith("p"))
		return [Number(choice.slice(1))];
	if (choice.startsWith("n"))
		return topo.nodePorts[Number(choice.slice(1))];
	return topo.ports.filter((p) => (topo.tier[p.node] === 0) === (choice === "hosts")).map((p) => p.id);
}

// The port of another topology that sends to the same host, or from it; null: it is between switches.
function sameLink(topo, id, other) {
	const { node, peer } = topo.ports[id];
	const host = topo.tier[node] === 0 ? node : topo.tier[peer] === 0 ? peer : null;
	const out = host === null ? undefined : other.nodePorts[other.name.indexOf(topo.name[host])]?.[0];
	return out === undefined ? null : host === node ? out : out ^ 1;
}

export function overTime(data) {
	if (data.series.length === 0)
		return null;
	const queues = queuesOf(data);
	const kinds = KINDS.filter((k) => data.series.some((s) => s.kinds.some((c) => c.key === k.key)));
	const topos = [...new Set(data.series.map((s) => data.fabrics[s.f].topo))];
	const first = (topo) => [...rootsOf(data, topo, 1), ...hottest(data, topo, "queue", 1)].map((port) => `p${port}`)[0] ?? "hosts";
	const state = { topo: topos.find((t) => rootsOf(data, t, 1).length > 0) ?? topos[0], port: "", queue: null };
	state.choice = first(state.topo);
	const charts = h("div", { class: "stack" });
	const controls = h("div", { class: "controls" });

	// Of fabrics on another topology what all have can be shown beside: hosts and switches together, and the
	// link of the same host.
	const portsIn = (topo) => {
		const own = state.port === "" ? portsOf(data.topologies[state.topo], state.choice) : [Number(state.port)];
		if (topo === state.topo)
			return own;
		if (state.choice === "hosts" || state.choice === "switches")
			return portsOf(data.topologies[topo], state.choice);
		const there = own.map((id) => sameLink(data.topologies[state.topo], id, data.topologies[topo]));
		return there.includes(null) ? null : there;
	};
	const curvesOf = (kind) => data.fabrics.flatMap((fabric, f) => {
		const series = data.series.find((s) => s.f === f);
		const ports = series === undefined ? null : portsIn(fabric.topo);
		const found = quantity(data, f, kind.key, state.queue);
		if (ports === null || found === null)
			return [];
		// What never was anything was sampled all the same: it is 0.
		const rows = ports.map((port) => found?.row(port) ?? new Float64Array(series.n));
		return [{ label: fabric.name, style: f, x: series.times, y: fromZero(kind.join(rows, series.n)) }];
	});
	const draw = () => {
		const ports = portsIn(state.topo);
		charts.replaceChildren(...kinds.map((kind) => {
			const curves = curvesOf(kind);
			const without = data.fabrics.filter((_, f) => quantity(data, f, kind.key, state.queue) === null).map((f) => f.name);
			const note = [ports.length > 1 ? kind.many : kind.one, without.length > 0 ? `${without.join(", ")}: not counted by queue` : null,
				topos.length > 1 && !["hosts", "switches"].includes(state.choice) ? (curves.length === data.series.length ? "on other topologies the link of the same host" : "other topologies have no such port") : null].filter(Boolean).join("; ");
			const chart = new LineChart({
				name: kind.name, title: kind.title, note, sync: "time", stepped: -1,
				x: { label: "time", unit: "ps" }, y: { label: kind.label, unit: kind.unit, choose: kind.unit !== "ratio", range: kind.unit === "ratio" ? (u, min, max) => [0, max > 0 ? Math.min(1, max * 1.1) : 1] : undefined },
				height: 210,
				table: {
					caption: `${kind.title} as a table`,
					head: () => ["at", ...curves.map((c) => c.label)],
					rows: () => sampled(curves).map(([t, ...row]) => [time(t), ...row.map((v) => value(v, kind.unit))]),
				},
			});
			chart.show(curves);
			return chart.element;
		}));
	};
	const rebuild = () => {
		const topo = data.topologies[state.topo];
		const node = state.choice.startsWith("n") ? Number(state.choice.slice(1)) : null;
		const ports = node === null ? [] : topo.nodePorts[node];
		const names = (t) => data.series.filter((s) => data.fabrics[s.f].topo === t).map((s) => data.fabrics[s.f].name).join(", ");
		controls.replaceChildren(
			topos.length > 1 ? select("Topology of", topos.map((t) => ({ value: t, label: names(t) })), state.topo, (v) => {
				Object.assign(state, { topo: Number(v), port: "", choice: first(Number(v)) });
				rebuild();
			}) : "",
			select("Of", choices(data, state.topo, state.choice), state.choice, (v) => { state.choice = v; state.port = ""; rebuild(); }),
			ports.length > 1 ? select("Port", [{ value: "", label: "all its ports" },
				...ports.map((id) => ({ value: id, label: `${topo.ports[id].port} → ${topo.name[topo.ports[id].peer]}` }))],
			state.port, (v) => { state.port = v; draw(); }) : "",
			queues.length > 1 ? select("Queue", [{ value: "", label: "all" }, ...queues.map((q) => ({ value: q, label: `priority or VL ${q}` }))],
				state.queue ?? "", (v) => { state.queue = v === "" ? null : Number(v); draw(); }) : "");
		draw();
	};
	rebuild();
	const element = h("section", { id: "time" },
		h("h2", {}, "Over time"),
		h("p", { class: "hint" }, [intervals(data), asSimulated(data), ...KINDS.filter((k) => !kinds.includes(k)).map((k) => k.never)].filter(Boolean).join(" ")),
		controls, charts);
	element.pick = (f, choice) => { Object.assign(state, { topo: data.fabrics[f].topo, choice, port: "" }); rebuild(); };
	return element;
}

// Times begin at 0; the first interval's value holds from there.
function fromZero(values) {
	return Float64Array.from({ length: values.length + 1 }, (_, i) => values[Math.max(i - 1, 0)]);
}

// What a point of the charts is.
function intervals(data) {
	const steps = data.series.flatMap((s) => Array.from({ length: s.n }, (_, i) => lengthOf(s, i))).sort((a, b) => a - b);
	const [least, most] = [time(steps[0]), time(steps[steps.length - 1])];
	return `A step is ${least === most ? least : `${least} to ${most}`} of virtual time, the shorter the more happens; of queues it is the largest sample in it.`;
}

// At most 24 rows of the curves, at the times of the first one.
function sampled(curves) {
	if (curves.length === 0)
		return [];
	const n = curves[0].x.length - 1;
	const count = Math.min(24, n);
	return Array.from({ length: count }, (_, k) => {
		const i = Math.round((k + 1) * n / count);
		const t = curves[0].x[i];
		return [t, ...curves.map((c) => {
			const j = c.x.findIndex((x) => x >= t - 1e-6);
			return j < 0 ? null : c.y[j];
		})];
	});
}
