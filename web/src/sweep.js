// SPDX-License-Identifier: Apache-2.0
// sweep.js - the points of a sweep: how a result depends on what was varied.
import { valueBars } from "./bars.js";
import { LineChart } from "./chart.js";
import { h, select, tabs } from "./dom.js";
import { value } from "./format.js";
import { heatMap } from "./plane.js";

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
		run.label = [several || run.point.length === 0 ? run.label : null, ...run.point.map(([name, v]) => `${short(name)} ${v}`)].filter(Boolean).join(", ");
	}
	runs.sort((a, b) => a.point.reduce((order, [, v], i) => order || byAmount(v, b.point[i]?.[1] ?? ""), 0) || (a.label < b.label ? -1 : 1));
}

function short(name) {
	return name.split(".").slice(-2).join(".");
}

// What a sweep is for, most often: the first of these that differs is shown first.
const WANTED = ["step_time", "mfu", "job_time", "job_end", "completion", "goodput", "flow_latency_p99", "flow_latency_p50", "packet_latency_p99"];

function resultsOf(data) {
	const place = (m) => (WANTED.indexOf(m.key) + 99) % 99;
	return data.metrics.filter((m) => m.values.some((v) => typeof v === "number" && v !== m.values[0])).sort((a, b) => place(a) - place(b));
}

class Sweep {
	constructor(data, points, varied, results) {
		Object.assign(this, { data, points, varied, results, y: results[0] });
		const own = varied.filter((v) => v.name !== "fabric");
		this.x = own[0] ?? varied[0];
		// Two parameters make a plane.
		this.other = own[1] ?? null;
		this.as = this.other !== null && this.x.values.length > 1 ? "plane" : "lines";
		this.rest = {};
		this.scale = "even";
		this.controls = h("div", { class: "controls" });
		this.holder = h("div");
		this.element = h("section", { id: "sweep" }, h("h2", {}, "What was varied"), this.controls, this.holder);
		this.draw();
	}

	draw() {
		const { varied, results } = this;
		const name = (v) => ({ value: v.name, label: v.name });
		const pick = (key) => (v) => { this[key] = varied.find((w) => w.name === v); this.draw(); };
		if (this.other === null || this.other === this.x)
			this.other = varied.find((v) => v !== this.x) ?? null;
		const numbers = this.x.values.every((v) => !Number.isNaN(amount(v)));
		const plane = this.as === "plane" && this.other !== null;
		this.controls.replaceChildren(
			select("Result", results.map((m) => ({ value: m.key, label: m.label })), this.y.key, (v) => { this.y = results.find((m) => m.key === v); this.draw(); }),
			varied.length > 1 ? select("By", varied.map(name), this.x.name, pick("x")) : "",
			varied.length > 1 ? tabs("As", [{ value: "lines", label: numbers ? "lines" : "bars" }, { value: "plane", label: "heat map" }], this.as, (v) => { this.as = v; this.draw(); }) : "",
			plane && varied.length > 2 ? select("And", varied.filter((v) => v !== this.x).map(name), this.other.name, pick("other")) : "",
			...(plane ? varied.filter((v) => v !== this.x && v !== this.other) : []).map((v) => {
				this.rest[v.name] = v.values.includes(this.rest[v.name]) ? this.rest[v.name] : v.values[0];
				return select(v.name, v.values.map((t) => ({ value: t, label: t })), this.rest[v.name], (t) => { this.rest[v.name] = t; this.draw(); });
			}),
			!plane && numbers ? tabs("x", ["even", "linear", ...(this.x.values.every((v) => amount(v) > 0) ? ["log"] : [])].map((v) => ({ value: v, label: v })), this.scale, (v) => { this.scale = v; this.draw(); }) : "");
		this.holder.replaceChildren(plane ? this.plane() : numbers ? this.lines() : this.bars());
	}

	// What else was varied makes lines: [{label, list: [{at, f}]}], at the index of the value of x.
	groups() {
		const others = this.varied.filter((v) => v !== this.x);
		const lines = new Map();
		this.points.forEach((p, f) => {
			const label = others.map((o) => (o.name === "fabric" ? p.fabric : `${short(o.name)} ${p[o.name]}`)).join(", ") || this.y.label;
			lines.set(label, [...(lines.get(label) ?? []), { at: this.x.values.indexOf(p[this.x.name]), f }]);
		});
		return [...lines].map(([label, list]) => ({ label, list: list.filter(({ f }) => typeof this.y.values[f] === "number").sort((a, b) => a.at - b.at) })).filter((l) => l.list.length > 0);
	}

	seeds(drawn) {
		const most = Math.max(...this.data.fabrics.map((f) => f.runs.length));
		return most > 1 ? `median of ${most} seeds${drawn ? `; ${drawn} from the least to the most` : ""}` : null;
	}

	lines() {
		const { x, y, scale } = this;
		const even = scale === "even" || (scale === "log" && x.values.some((v) => amount(v) <= 0));
		const place = (i) => (even ? i : amount(x.values[i]));
		const curves = this.groups().map(({ label, list }, i) => ({
			label, style: i, x: list.map((v) => place(v.at)), y: list.map((v) => y.values[v.f]),
			low: list.map((v) => y.low[v.f]), high: list.map((v) => y.high[v.f]),
		}));
		const chart = new LineChart({
			name: "sweep", title: `${y.label} by ${x.name}`, note: this.seeds("shaded:"), points: true, height: 320,
			x: {
				label: x.name, unit: "", log: !even && scale === "log", ticks: () => x.values.map((_, i) => place(i)),
				tick: (v) => x.values[even ? v : x.values.findIndex((t) => amount(t) === v)] ?? "",
			},
			y: { label: y.label, unit: y.unit, choose: true },
			table: {
				caption: "As a table", head: () => [x.name, ...curves.map((c) => c.label)],
				rows: () => x.values.map((words, i) => [words, ...curves.map((c) => value(c.y[c.x.indexOf(place(i))], y.unit))]),
			},
		});
		chart.show(curves);
		return chart.element;
	}

	bars() {
		const { x, y } = this;
		const rows = this.groups().flatMap(({ label, list }, style) => list.map(({ at, f }) => ({ at, style, f, name: label === y.label ? x.values[at] : `${x.values[at]}, ${label}` })))
			.sort((a, b) => a.at - b.at || a.style - b.style)
			.map(({ name, style, f }) => ({ name, style, median: y.values[f], low: y.low[f], high: y.high[f], all: [...y.each[f].values()], parts: [{ label: y.label, v: y.values[f] }] }));
		return valueBars("sweep", { title: `${y.label} by ${x.name}`, note: this.seeds("the lines go"), unit: y.unit, better: y.better, rows });
	}

	plane() {
		const { x, other, y, rest } = this;
		const fixed = this.varied.filter((v) => v !== x && v !== other);
		const cells = this.points.flatMap((p, f) => (fixed.every((v) => p[v.name] === rest[v.name]) && typeof y.values[f] === "number"
			? [{ column: x.values.indexOf(p[x.name]), row: other.values.indexOf(p[other.name]), v: y.values[f], low: y.low[f], high: y.high[f] }] : []));
		return heatMap("sweep", { title: `${y.label} by ${x.name} and ${other.name}`, note: this.seeds(), columns: x, rows: other, cells, unit: y.unit, better: y.better });
	}
}

export function sweep(data) {
	const points = data.fabrics.map((f) => Object.fromEntries([["fabric", f.fabric], ...(Array.isArray(f.point) ? f.point : [])]));
	const varied = [...new Set(points.flatMap(Object.keys))].map((name) => ({ name, values: [...new Set(points.map((p) => p[name]))].sort(byAmount) }))
		.filter((v) => v.values.length > 1);
	const results = resultsOf(data);
	if (data.study.kind !== "sweep" || varied.length === 0 || results.length === 0)
		return null;
	return new Sweep(data, points, varied, results).element;
}
