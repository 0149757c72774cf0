// SPDX-License-Identifier: Apache-2.0
// series.js - throughput, queue and pauses of a port, a node or all of them over time, every fabric.
import { LineChart } from "./chart.js";
import { portName, quantity, queuesOf, times } from "./data.js";
import { h, select } from "./dom.js";
import { asSimulated, time, value } from "./format.js";

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

// The ports with the most of a kind in any fabric: where to look first.
function hottest(data, topo, key, count) {
	const top = new Map();
	for (const series of data.series) {
		const kind = series.kinds.find((k) => k.key === key && k.queue === null);
		kind?.ports.forEach((port, i) => top.set(port, Math.max(top.get(port) ?? 0, kind.max[i])));
	}
	return [...top].filter(([port]) => port < topo.ports.length).sort((p, q) => q[1] - p[1] || p[0] - q[0])
		.slice(0, count).map(([port]) => ({ value: `p${port}`, label: portName(topo, port) }));
}

function choices(data, topo) {
	const nodes = (tier) => topo.name.map((name, id) => ({ value: `n${id}`, label: name }))
		.filter((_, id) => topo.tier[id] === tier);
	const tiers = [...new Set(topo.tier)].sort();
	return [
		{ group: "Together", choices: [{ value: "hosts", label: "all hosts" }, { value: "switches", label: "all switches" }] },
		{ group: "Longest queues", choices: hottest(data, topo, "queue", 5) },
		{ group: "Most stopped", choices: hottest(data, topo, "stopped", 5) },
		...tiers.map((tier) => ({ group: TIERS[tier] ?? `Tier ${tier}`, choices: nodes(tier) })),
	].filter((g) => g.choices.length > 0);
}

// The ids of the ports that a choice is about.
function portsOf(topo, choice) {
	if (choice.startsWith("p"))
		return [Number(choice.slice(1))];
	if (choice.startsWith("n"))
		return topo.nodePorts[Number(choice.slice(1))];
	return topo.ports.filter((p) => (topo.tier[p.node] === 0) === (choice === "hosts")).map((p) => p.id);
}

export function overTime(data) {
	if (data.series.length === 0)
		return null;
	// The choices are those of the first topology; the fabrics of a study share it almost always.
	const topo = data.topologies[data.fabrics[data.series[0].f].topo];
	const queues = queuesOf(data);
	const kinds = KINDS.filter((k) => data.series.some((s) => s.kinds.some((c) => c.key === k.key)));
	const state = { choice: (hottest(data, topo, "stopped", 1)[0] ?? hottest(data, topo, "queue", 1)[0])?.value ?? "hosts", port: "", queue: null };
	const charts = h("div", { class: "stack" });
	const controls = h("div", { class: "controls" });

	const curvesOf = (kind, ports) => data.fabrics.flatMap((fabric, f) => {
		const series = data.series.find((s) => s.f === f);
		if (series === undefined || data.topologies[fabric.topo].ports.length !== topo.ports.length)
			return [];
		const found = quantity(data, f, kind.key, state.queue);
		if (found === null)
			return [];
		// What never was anything was sampled all the same: it is 0.
		const rows = ports.map((port) => found?.row(port) ?? new Float64Array(series.n));
		return [{ label: fabric.name, style: f, x: times(series), y: fromZero(kind.join(rows, series.n)) }];
	});
	const draw = () => {
		const ports = state.port === "" ? portsOf(topo, state.choice) : [Number(state.port)];
		charts.replaceChildren(...kinds.map((kind) => {
			const curves = curvesOf(kind, ports);
			const without = data.fabrics.filter((_, f) => quantity(data, f, kind.key, state.queue) === null).map((f) => f.name);
			const note = [ports.length > 1 ? kind.many : kind.one, without.length > 0 ? `${without.join(", ")}: not counted by queue` : null].filter(Boolean).join("; ");
			const chart = new LineChart({
				name: kind.name, title: kind.title, note, sync: "time", stepped: -1,
				x: { label: "time", unit: "ps" }, y: { label: kind.label, unit: kind.unit, range: kind.unit === "ratio" ? (u, min, max) => [0, max > 0 ? Math.min(1, max * 1.1) : 1] : undefined },
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
		const node = state.choice.startsWith("n") ? Number(state.choice.slice(1)) : null;
		const ports = node === null ? [] : topo.nodePorts[node];
		controls.replaceChildren(
			select("Of", choices(data, topo), state.choice, (v) => { state.choice = v; state.port = ""; rebuild(); }),
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
	element.pick = (choice) => { state.choice = choice; state.port = ""; rebuild(); };
	return element;
}

// times() begins at 0; the first interval's value holds from there.
function fromZero(values) {
	return Float64Array.from({ length: values.length + 1 }, (_, i) => values[Math.max(i - 1, 0)]);
}

// What a point of the charts is.
function intervals(data) {
	const steps = data.series.map((s) => s.step).sort((a, b) => a - b);
	const [least, most] = [time(steps[0]), time(steps[steps.length - 1])];
	return `A step is ${least === most ? least : `${least} to ${most}, by fabric,`} of virtual time; of queues it is the largest sample in it.`;
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
