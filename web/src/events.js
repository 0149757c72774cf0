// SPDX-License-Identifier: Apache-2.0
// events.js - what happened when: counts of each kind, and a list that can be filtered.
import { h, select } from "./dom.js";
import { group, time } from "./format.js";

const PAGE = 100;

// Of a kind with very many events the page has the longest, or the first where they have no length.
function left(data) {
	const sum = (key) => data.events.counts.reduce((s, c) => s + c[key], 0);
	const all = sum("n");
	const recorded = sum("recorded");
	if (all === data.events.rows.length)
		return null;
	return h("p", { class: "hint" }, `The list has ${group(data.events.rows.length)} of ${group(all)} events: of each kind the longest, or else the first. The results file has ${recorded === all ? "all of them" : `${group(recorded)} of them; of what is frequent not every one was recorded`}.`);
}

export function events(data) {
	const { counts, rows } = data.events;
	if (counts.length === 0)
		return null;
	const kinds = [...new Set(counts.map((c) => c.kind))];
	const count = (f, kind) => {
		const found = counts.find((c) => c.f === f && c.kind === kind) ?? { n: 0, recorded: 0 };
		return found.recorded === found.n ? group(found.n) : `${group(found.n)} (${group(found.recorded)} recorded)`;
	};
	const state = { f: "", kind: "", text: "", shown: PAGE };
	const body = h("tbody");
	const said = h("p", { class: "hint", role: "status" });
	const more = h("button", { type: "button", onclick: () => { state.shown += PAGE; draw(); } }, "Show more");
	const topoOf = (f) => data.topologies[data.fabrics[f].topo];
	const where = (e) => (e.node === null ? "" : topoOf(e.f).name[e.node] + (e.port === null ? "" : ` port ${e.port}`)
		+ (e.queue === null ? "" : `, queue ${e.queue}`));
	// Who stopped it is at the other end of the port.
	const pauser = (e) => {
		const port = e.kind === "pause" && e.port !== null ? topoOf(e.f).ports.find((p) => p.node === e.node && p.port === e.port) : undefined;
		return port === undefined ? "" : `by ${topoOf(e.f).name[port.peer]}`;
	};
	const ends = (e) => (e.src === null || e.dst === null ? "" : `${topoOf(e.f).name[e.src]} → ${topoOf(e.f).name[e.dst]}`);
	const words = (e) => [where(e), pauser(e), ends(e), e.detail ?? "", e.kind, data.fabrics[e.f].name].join(" ").toLowerCase();
	const draw = () => {
		const found = rows.filter((e) => (state.f === "" || e.f === Number(state.f)) && (state.kind === "" || e.kind === state.kind)
			&& (state.text === "" || words(e).includes(state.text)));
		body.replaceChildren(...found.slice(0, state.shown).map((e) => h("tr", {},
			h("td", { class: "number" }, time(e.t_ps)), h("td", {}, data.fabrics[e.f].name), h("td", {}, e.kind.replaceAll("_", " ")),
			h("td", {}, where(e)), h("td", { class: "number" }, e.dur_ps === null ? "" : time(e.dur_ps)), h("td", {}, [pauser(e), ends(e), e.detail].filter(Boolean).join(", ")))));
		said.textContent = `${group(found.length)} events match; ${group(Math.min(state.shown, found.length))} are shown.`;
		more.hidden = found.length <= state.shown;
	};
	const change = (key) => (v) => { state[key] = v; state.shown = PAGE; draw(); };
	const filter = h("input", { type: "search", placeholder: "node, cause …", oninput: () => change("text")(filter.value.trim().toLowerCase()) });
	draw();
	return h("section", { id: "events" },
		h("h2", {}, "Events"),
		h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Events by kind" },
			h("table", { class: "plain" },
				h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Kind"), data.fabrics.map((f) => h("th", { scope: "col" }, f.name)))),
				h("tbody", {}, kinds.map((kind) => h("tr", {}, h("th", { scope: "row" }, kind.replaceAll("_", " ")),
					data.fabrics.map((_, f) => h("td", { class: "number" }, count(f, kind)))))))),
		left(data),
		h("div", { class: "controls" },
			data.fabrics.length > 1 ? select("Fabric", [{ value: "", label: "all" }, ...data.fabrics.map((f, i) => ({ value: i, label: f.name }))], "", change("f")) : null,
			select("Kind", [{ value: "", label: "all" }, ...kinds.map((k) => ({ value: k, label: k.replaceAll("_", " ") }))], "", change("kind")),
			h("label", { class: "field" }, h("span", {}, "Filter"), filter)),
		said,
		h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "List of events" },
			h("table", { class: "plain", id: "event-list" },
				h("thead", {}, h("tr", {}, ["At", "Fabric", "What", "Where", "For how long", "More"].map((t) => h("th", { scope: "col" }, t)))),
				body)),
		more);
}
