// SPDX-License-Identifier: Apache-2.0
// collectives.js - the collective operations of a job, every fabric's time and bus bandwidth: those of a
// kind together, and one by one.
import { h, sortable } from "./dom.js";
import { asSimulated, group, size, time, value } from "./format.js";

const FEW = 12; // so many are listed at once

// Those of one name and algorithm: [{name, kind, list}] in the order of their first.
function kinds(list) {
	const found = new Map();
	for (const c of list) {
		const key = `${c.name.replace(/[,:]? *(bucket |layer |step )?\d+$/, "")}, ${c.algorithm}`;
		found.set(key, [...(found.get(key) ?? []), c]);
	}
	return [...found].map(([name, of]) => ({ name, of }));
}

// Of each kind how many there are, and the sum of their times on every fabric.
function sums(data, list) {
	const cell = (of, f) => {
		const own = of.map((c) => c.runs[f]).filter((c) => c !== null && c.end_ps !== null);
		const took = own.reduce((s, c) => s + c.took_ps, 0);
		const bytes = own.reduce((s, c) => s + c.bytes, 0);
		const bus = own.reduce((s, c) => s + (c.busbw ?? 0) * c.took_ps, 0);
		return own.length === 0 ? h("td", { class: "number" }, "–") : h("td", { class: "number" }, time(took),
			own.length < of.length ? h("small", {}, `${own.length} of ${of.length} were over`) : bytes > 0 && bus > 0 ? h("small", {}, value(bus / took, "B/s")) : null);
	};
	return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Collectives of a kind" }, h("table", { class: "plain", id: "collective-sums" },
		h("thead", {}, h("tr", {}, ["What", "How many", "Bytes"].map((t, i) => h("th", { scope: "col", class: i > 0 ? "number" : null }, t)), data.fabrics.map((f) => h("th", { scope: "col", class: "number" }, f.name)))),
		h("tbody", {}, kinds(list).map(({ name, of }) => h("tr", {}, h("th", { scope: "row" }, name), h("td", { class: "number" }, group(of.length)),
			h("td", { class: "number" }, value(of.reduce((s, c) => s + c.bytes, 0), "B")), data.fabrics.map((_, f) => cell(of, f)))))));
}

function each(data, list) {
	const rows = sortable("Collectives", [
		{ label: "What", key: (c) => c.name, show: (c) => c.name },
		{ label: "Kind", key: (c) => c.kind, show: (c) => (c.kind === c.name ? c.algorithm : `${c.kind}, ${c.algorithm}`) },
		{ label: "Size", number: true, key: (c) => c.bytes, show: (c) => size(c.bytes) },
		{ label: "Begins", number: true, key: (c) => c.begin_ps, show: (c) => time(c.begin_ps) },
		...data.fabrics.map((fabric, f) => ({
			label: fabric.name, number: true, key: (c) => (c.runs[f] === null ? null : c.runs[f].end_ps === null ? Infinity : c.runs[f].took_ps),
			show: (c) => (c.runs[f] === null ? "–" : c.runs[f].end_ps === null ? "not over" : [time(c.runs[f].took_ps), c.runs[f].busbw === null ? null : h("small", {}, value(c.runs[f].busbw, "B/s"))]),
		})),
	], 4, 30);
	rows.update(list);
	return rows.element;
}

export function collectives(data) {
	const list = data.collectives;
	if (list.length === 0)
		return null;
	const cut = data.collectiveCount > list.length;
	return h("section", { id: "collectives" },
		h("h2", {}, "Collectives"),
		h("p", { class: "hint" }, ["Time from the first rank's begin to the last rank's end, or where several groups of ranks did the same, of the rank that took longest; of a kind, the sum of these, though they may overlap. Below it the bus bandwidth as nccl-tests computes it.",
			asSimulated(data), cut ? `The first ${list.length} of ${data.collectiveCount} are here; the results file has all of them.` : ""].filter(Boolean).join(" ")),
		list.length > kinds(list).length ? sums(data, list) : null,
		h("details", { open: list.length <= FEW }, h("summary", {}, cut ? `The first ${list.length} one by one` : `All ${list.length} one by one`), each(data, list)));
}
