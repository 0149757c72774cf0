// SPDX-License-Identifier: Apache-2.0
// followed.js - some flows over time: what they achieved, and the rate or window that congestion control
// allowed them.
import { LineChart } from "./chart.js";
import { h, select, tabs } from "./dom.js";
import { time, value } from "./format.js";

const LINES = 8; // at once

// Bytes between samples become a rate, which holds up to its sample.
function goodput({ start, list }) {
	const x = [start, ...list.map((s) => s.t_ps)];
	const acked = [0, ...list.map((s) => s.acked)];
	const y = x.map((t, i) => (i === 0 || t === x[i - 1] ? null : (acked[i] - acked[i - 1]) * 8e12 / (t - x[i - 1])));
	return { x, y: [y[1] ?? 0, ...y.slice(1)] };
}

const SHOWN = [
	{ key: "goodput", label: "goodput", unit: "bit/s", stepped: -1, of: goodput },
	{ key: "rate", label: "rate allowed", unit: "bit/s", stepped: 1, of: ({ list }) => ({ x: list.map((s) => s.t_ps), y: list.map((s) => s.rate) }) },
	{ key: "window", label: "window", unit: "B", stepped: 1, of: ({ list }) => ({ x: list.map((s) => s.t_ps), y: list.map((s) => s.window) }) },
];

// null: nothing was followed.
export function followed(data) {
	const fabrics = [...new Set(data.followed.map((r) => r.f))];
	if (fabrics.length === 0)
		return null;
	const state = { f: fabrics[0], shown: SHOWN[0], from: 0 };
	const controls = h("div", { class: "controls" });
	const holder = h("div");
	const draw = () => {
		const own = data.followed.filter((r) => r.f === state.f);
		const { name } = data.topologies[data.fabrics[state.f].topo];
		const has = SHOWN.filter((s) => s.key === "goodput" || own.some((r) => r.list.some((p) => p[s.key] !== null)));
		if (!has.includes(state.shown))
			state.shown = SHOWN[0];
		state.from = state.from < own.length ? state.from : 0;
		const parts = Array.from({ length: Math.ceil(own.length / LINES) }, (_, i) => ({ value: i * LINES, label: `${i * LINES + 1} to ${Math.min((i + 1) * LINES, own.length)} of ${own.length}` }));
		controls.replaceChildren(
			fabrics.length > 1 ? tabs("Fabric", fabrics.map((f) => ({ value: String(f), label: data.fabrics[f].name })), String(state.f), (v) => { state.f = Number(v); draw(); }) : "",
			has.length > 1 ? tabs("Show", has.map((s) => ({ value: s.key, label: s.label })), state.shown.key, (v) => { state.shown = SHOWN.find((s) => s.key === v); draw(); }) : "",
			parts.length > 1 ? select("Flows", parts, state.from, (v) => { state.from = Number(v); draw(); }) : "");
		const curves = own.slice(state.from, state.from + LINES).map((r, i) => ({ label: `${name[r.src]} → ${name[r.dst]} (flow ${r.flow})`, style: i, ...state.shown.of(r) }));
		const chart = new LineChart({
			name: "followed", title: `Flows over time: ${state.shown.label}`, note: state.shown.key === "goodput" ? "acknowledged between two samples" : "as congestion control has set it",
			stepped: state.shown.stepped, height: 300, x: { label: "time", unit: "ps" }, y: { label: state.shown.label, unit: state.shown.unit, choose: true },
			table: {
				caption: "As a table", head: () => ["flow", "samples", "least", "most", "last at"],
				rows: () => curves.map((c) => [c.label, c.x.length, value(Math.min(...c.y), state.shown.unit), value(Math.max(...c.y), state.shown.unit), time(c.x[c.x.length - 1])]),
			},
		});
		chart.show(curves);
		holder.replaceChildren(chart.element);
	};
	draw();
	return h("div", { id: "followed" }, h("h3", {}, "Some of them over time"), controls, holder);
}
