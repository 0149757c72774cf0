// SPDX-License-Identifier: Apache-2.0
// curves.js - distributions of latency and bandwidth by message size.
import { LineChart } from "./chart.js";
import { h, tabs, select } from "./dom.js";
import { size, time, value } from "./format.js";

const QUANTILES = [0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999, 1];

// The smallest x at which the curve has reached q. Beyond what its messages can tell apart it is null.
function quantile(curve, q) {
	const i = curve.y.findIndex((y) => y >= q - 1e-12);
	return i < 0 || (q < 1 && (1 - q) * curve.n < 1) ? null : curve.x[i];
}

// Distributions: data.cdf = [{label, curves: [{f, n, x, y}]}].
export function distributions(data) {
	const sets = (data.cdf ?? []).filter((s) => s.curves.length > 0);
	if (sets.length === 0)
		return null;
	let set = sets[0];
	let tail = false;
	const holder = h("div");
	const head = () => ["share", ...set.curves.map((c) => data.fabrics[c.f].name)];
	const rows = () => [
		["how many", ...set.curves.map((c) => value(c.n, ""))],
		...QUANTILES.map((q) => [q === 1 ? "largest" : `p${(q * 100).toFixed(2).replace(/\.?0+$/, "")}`,
			...set.curves.map((c) => value(quantile(c, q), "ps"))])];
	const build = () => {
		const table = { caption: "Percentiles as a table", head, rows };
		const chart = new LineChart({
			name: "cdf", title: set.label, note: tail ? "share that takes longer, on a log scale" : "share that takes no longer",
			x: { label: "latency", unit: "ps", log: true }, stepped: 1, height: 300, table,
			y: tail ? { label: "share slower", unit: "ratio", log: true, range: (u, min) => [Math.min(min, 0.1), 1] }
				: { label: "share", unit: "ratio", range: () => [0, 1] },
		});
		holder.replaceChildren(chart.element);
		// Where nothing is slower a log scale has no place.
		const part = (c, list) => (tail ? list.filter((_, i) => c.y[i] < 1) : list);
		chart.show(set.curves.map((c) => ({
			label: data.fabrics[c.f].name, style: c.f, x: part(c, c.x), y: part(c, c.y).map((y) => (tail ? 1 - y : y)),
		})).filter((c) => c.x.length > 0));
	};
	build();
	return h("section", { id: "latency" },
		h("h2", {}, "Latency distributions"),
		h("div", { class: "controls" },
			sets.length > 1 ? select("Of", sets.map((s, i) => ({ value: i, label: s.label })), 0, (i) => { set = sets[i]; build(); }) : null,
			tabs("Show", [{ value: "cdf", label: "all" }, { value: "tail", label: "the tail" }], "cdf", (v) => { tail = v === "tail"; build(); })),
		holder);
}

// Bandwidth by size: data.bus = [{label, curves: [{f, size, time, alg, bus}]}].
export function bandwidth(data) {
	const sets = (data.bus ?? []).filter((s) => s.curves.length > 0);
	if (sets.length === 0)
		return null;
	let set = sets[0];
	let what = "bus";
	const WHAT = {
		bus: { label: "bus bandwidth", unit: "B/s" },
		alg: { label: "algorithm bandwidth", unit: "B/s" },
		time: { label: "time", unit: "ps", log: true, range: undefined },
	};
	const sizes = () => [...new Set(set.curves.flatMap((c) => c.size))].sort((a, b) => a - b);
	const holder = h("div");
	const build = () => {
		const y = { ...WHAT[what], choose: !WHAT[what].log };
		if (y.log)
			y.range = (u, min, max) => [10 ** Math.floor(Math.log10(min)), 10 ** Math.ceil(Math.log10(max))];
		const chart = new LineChart({
			name: "bus", title: `${set.label}: ${WHAT[what].label} by message size`, points: true, height: 300,
			x: { label: "message size", unit: "size", log: true }, y,
			table: {
				caption: "As a table, in nccl-tests' columns",
				head: () => ["size", ...set.curves.flatMap((c) => ["time", "algbw", "busbw"].map((col) =>
					`${data.fabrics[c.f].name} ${col}`))],
				rows: () => sizes().map((s) => [size(s), ...set.curves.flatMap((c) => {
					const i = c.size.indexOf(s);
					return i < 0 ? ["–", "–", "–"] : [time(c.time[i]), value(c.alg[i], "B/s"), value(c.bus[i], "B/s")];
				})]),
			},
		});
		holder.replaceChildren(chart.element);
		chart.show(set.curves.map((c) => ({ label: data.fabrics[c.f].name, style: c.f, x: c.size, y: c[what] })));
	};
	build();
	return h("section", { id: "bandwidth" },
		h("h2", {}, "Bandwidth by message size"),
		h("div", { class: "controls" },
			sets.length > 1 ? select("Collective", sets.map((s, i) => ({ value: i, label: s.label })), 0, (i) => { set = sets[i]; build(); }) : null,
			tabs("Show", Object.entries(WHAT).map(([value_, w]) => ({ value: value_, label: w.label })), what, (v) => { what = v; build(); })),
		holder);
}

