// SPDX-License-Identifier: Apache-2.0
// collectives.js - the collective operations of a job, every fabric's time and bus bandwidth.
import { h } from "./dom.js";
import { asSimulated, size, time, value } from "./format.js";

const SHOWN = 30;

export function collectives(data) {
	const list = data.collectives;
	if (list.length === 0)
		return null;
	const body = h("tbody");
	const cell = (c) => (c === null || c.end_ps === null ? h("td", { class: "number" }, c === null ? "–" : "not over")
		: h("td", { class: "number" }, time(c.took_ps), c.busbw === null ? null : h("small", {}, value(c.busbw, "B/s"))));
	const draw = (n) => body.replaceChildren(...list.slice(0, n).map((c) => h("tr", {},
		h("th", { scope: "row" }, c.name), h("td", {}, c.kind === c.name ? c.algorithm : `${c.kind}, ${c.algorithm}`), h("td", { class: "number" }, size(c.bytes)), c.runs.map(cell))));
	const more = h("button", { type: "button", onclick: () => { draw(list.length); more.hidden = true; } }, data.collectiveCount > list.length ? `Show ${list.length}` : `Show all ${list.length}`);
	more.hidden = list.length <= SHOWN;
	draw(SHOWN);
	return h("section", { id: "collectives" },
		h("h2", {}, "Collectives"),
		h("p", { class: "hint" }, ["Time from the first rank's begin to the last rank's end, or where several groups of ranks did the same, of the rank that took longest; below it the bus bandwidth as nccl-tests computes it.",
			asSimulated(data), data.collectiveCount > list.length ? `The first ${list.length} of ${data.collectiveCount} are here; the results file has all of them.` : ""].filter(Boolean).join(" ")),
		h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Collectives" },
			h("table", { class: "plain" },
				h("thead", {}, h("tr", {}, ["What", "Kind", "Size"].map((t) => h("th", { scope: "col" }, t)), data.fabrics.map((f) => h("th", { scope: "col", class: "number" }, f.name)))),
				body)),
		more);
}
