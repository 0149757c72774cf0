// SPDX-License-Identifier: Apache-2.0
// sweep.js - the points of a sweep: how a result depends on what was varied.
import { LineChart } from "./chart.js";
import { h, select } from "./dom.js";
import { value } from "./format.js";

const UNITS = { B: 1, KB: 1e3, MB: 1e6, GB: 1e9, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, ps: 1, ns: 1e3, us: 1e6, ms: 1e9, s: 1e12, bps: 1, kbps: 1e3, Mbps: 1e6, Gbps: 1e9, Tbps: 1e12, "%": 0.01 };

// "fabric.ecn.kmin=20KB fabric.buffer.alpha=1/8" as [["fabric.ecn.kmin", "20KB"], ...].
function settings(point) {
	return (point ?? "").split(/ (?=[\w.-]+=)/).filter(Boolean).map((part) => {
		const at = part.indexOf("=");
		return [part.slice(0, at), part.slice(at + 1)];
	});
}

// A value as a number, where it is one: sizes, times (ps), rates, ratios.
export function amount(text) {
	const [, number, below, unit] = text.match(/^(-?[\d.]+(?:e-?\d+)?)(?:[/:]([\d.]+))?\s*([A-Za-z%]*)$/) ?? [];
	return number === undefined ? NaN : Number(number) / Number(below ?? 1) * (UNITS[unit] ?? 1);
}

function byAmount(a, b) {
	const [x, y] = [amount(a), amount(b)];
	return Number.isNaN(x) || Number.isNaN(y) ? (a < b ? -1 : a > b ? 1 : 0) : x - y;
}

// Sorts the runs of a sweep, which end in any order, by their points, and names them by what differs.
export function arrange(runs) {
	const several = new Set(runs.map((r) => r.label)).size > 1;
	for (const run of runs) {
		run.point = settings(run.point).filter(([name]) => name !== "seed");
		run.label = [several ? run.label : null, ...run.point.map(([name, v]) => `${short(name)} ${v}`)].filter(Boolean).join(", ");
	}
	runs.sort((a, b) => a.point.reduce((order, [, v], i) => order || byAmount(v, b.point[i]?.[1] ?? ""), 0) || (a.label < b.label ? -1 : 1));
}

function short(name) {
	return name.split(".").slice(-2).join(".");
}

export function sweep(data) {
	const points = data.fabrics.map((f) => Object.fromEntries([["fabric", f.fabric], ...(Array.isArray(f.point) ? f.point : [])]));
	const varied = [...new Set(points.flatMap(Object.keys))].map((name) => ({ name, values: [...new Set(points.map((p) => p[name]))].sort(byAmount) }))
		.filter((v) => v.values.length > 1);
	const results = data.metrics.filter((m) => m.values.some((v) => typeof v === "number" && v !== m.values[0]));
	if (data.study.kind !== "sweep" || varied.length === 0 || results.length === 0)
		return null;
	const state = { x: varied.find((v) => v.name !== "fabric") ?? varied[0], y: results[0] };
	const holder = h("div");
	const draw = () => {
		const { x, y } = state;
		const others = varied.filter((v) => v !== x);
		const lines = new Map();
		points.forEach((p, f) => {
			const label = others.map((o) => (o.name === "fabric" ? p.fabric : `${short(o.name)} ${p[o.name]}`)).join(", ") || y.label;
			lines.set(label, [...(lines.get(label) ?? []), { at: x.values.indexOf(p[x.name]), y: y.values[f] }]);
		});
		const curves = [...lines].map(([label, list], i) => {
			const known = list.filter((v) => typeof v.y === "number").sort((a, b) => a.at - b.at);
			return { label, style: i, x: known.map((v) => v.at), y: known.map((v) => v.y) };
		}).filter((c) => c.x.length > 0);
		const chart = new LineChart({
			name: "sweep", title: `${y.label} by ${x.name}`, points: true, height: 300,
			x: { label: x.name, unit: "", ticks: () => x.values.map((_, i) => i), tick: (i) => x.values[i] ?? "" },
			y: { label: y.label, unit: y.unit },
			table: {
				caption: "As a table", head: () => [x.name, ...curves.map((c) => c.label)],
				rows: () => x.values.map((text, i) => [text, ...curves.map((c) => value(c.y[c.x.indexOf(i)], y.unit))]),
			},
		});
		holder.replaceChildren(chart.element);
		chart.show(curves);
	};
	draw();
	return h("section", { id: "sweep" }, h("h2", {}, "What was varied"),
		h("div", { class: "controls" },
			select("Result", results.map((m) => ({ value: m.key, label: m.label })), state.y.key, (v) => { state.y = results.find((m) => m.key === v); draw(); }),
			varied.length > 1 ? select("By", varied.map((v) => ({ value: v.name, label: v.name })), state.x.name, (v) => { state.x = varied.find((w) => w.name === v); draw(); }) : null),
		holder);
}
