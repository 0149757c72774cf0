// SPDX-License-Identifier: Apache-2.0
// main.js - puts the page together from the sections that have data, and says which have none.
import { bars, barsOf } from "./bars.js";
import { chartData, chartOf } from "./chart.js";
import { comparison, verdict } from "./compare.js";
import { bandwidth, distributions } from "./curves.js";
import { collectives } from "./collectives.js";
import { load } from "./data.js";
import { h } from "./dom.js";
import { events } from "./events.js";
import { flows } from "./flows.js";
import { digits, group, time, value } from "./format.js";
import { map } from "./map.js";
import { overTime } from "./series.js";
import { strip } from "./strip.js";
import { sweep } from "./sweep.js";
import * as theme from "./theme.js";
import { timeline } from "./timeline.js";

function header(data) {
	const dark = () => (theme.mode() === "dark" ? "Light" : "Dark");
	const button = h("button", { type: "button", id: "theme", onclick: () => theme.toggle() });
	theme.onChange(button, () => { button.textContent = dark(); button.setAttribute("aria-label", `${dark()} colours`); });
	return h("header", {},
		h("div", { class: "title" },
			h("p", { class: "kind" }, `weft ${data.study.kind}`),
			h("h1", {}, data.study.name)),
		button,
		h("p", { class: "facts" }, facts(data).join(" · ")),
		warnings(data).map((text) => h("p", { class: "warning", role: "note" }, h("strong", {}, "Note: "), text)));
}

function facts(data) {
	const count = (n, one, many) => `${group(n)} ${n === 1 ? one : many}`;
	const hosts = [...new Set(data.topologies.map((t) => t.tier.filter((tier) => tier === 0).length))];
	const seeds = [...new Set(data.fabrics.flatMap((f) => f.runs.map((r) => r.seed)))].sort((a, b) => a - b);
	return [
		count(data.fabrics.length, data.study.kind === "sweep" ? "point" : "fabric", data.study.kind === "sweep" ? "points" : "fabrics"),
		hosts[0] > 0 ? `${hosts.map(group).join(" or ")} hosts` : null,
		`${seeds.length > 1 ? "seeds" : "seed"} ${seeds.join(", ")}`, `weft ${[...new Set(data.fabrics.map((f) => f.weft_version))].join(", ")}`, date(data.study.started_unix),
	].filter(Boolean);
}

function date(seconds) {
	return seconds === null ? null : new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ") + " UTC";
}

function warnings(data) {
	const STATE = {
		running: "had not finished when this page was made, or was killed: what is shown is how far it came",
		interrupted: "was interrupted: what is shown is how far it came", failed: "failed",
	};
	const others = data.study.others;
	return [
		...data.fabrics.flatMap((f) => f.runs.filter((r) => r.state !== "finished").map((r) =>
			`${f.name}${f.runs.length > 1 ? `, seed ${r.seed},` : ""} ${STATE[r.state] ?? r.state} (${time(r.end_ps)} of virtual time).`)),
		...data.leftOut.map(({ f, value }) => `${data.fabrics[f].name}: ${group(value)} events were not recorded, there were too many.`),
		builds(data.fabrics).includes(",") ? `its runs are of several builds of weft (${builds(data.fabrics)}): what differs between them may be of that.` : null,
		others > 0 ? `${data.file} has ${group(others)} more ${others === 1 ? "study" : "studies"}; weft report --study N shows another.` : null,
	].filter(Boolean);
}

function notes(data) {
	const list = data.notes.filter((n) => n.kind !== "verdict" && n.kind !== "reason");
	if (list.length === 0)
		return null;
	return h("section", { id: "notes" }, h("h2", {}, "Notes"),
		h("ul", { class: "reasons" }, list.map((n) => h("li", {},
			n.f === null ? null : h("strong", {}, `${data.fabrics[n.f].name}: `), n.kind === "warning" ? "warning: " : null, n.text))));
}

function scenario(data) {
	return h("section", { id: "scenario" }, h("h2", {}, "Scenario and parameters"),
		data.scenarios.map((s) => h("details", { open: data.scenarios.length === 1 },
			h("summary", {}, s.file),
			h("pre", { tabindex: 0 }, s.text),
			s.overrides === "" ? null : h("p", {}, "Changed on the command line: ", h("code", {}, s.overrides)))),
		parameters(data));
}

// Every parameter of every fabric; those that differ first, since these are what was compared.
function parameters(data) {
	const rows = data.parameters;
	if (rows.length === 0)
		return null;
	const differs = (p) => p.values.some((v) => v !== p.values[0]);
	const table = (list) => h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Parameters" },
		h("table", { class: "plain params" },
			h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Parameter"), data.fabrics.map((f) => h("th", { scope: "col" }, f.name)))),
			h("tbody", {}, list.map((p) => h("tr", {}, h("th", { scope: "row" }, h("code", {}, p.name)),
				p.values.map((v, i) => h("td", { class: p.given[i] ? "set" : "" }, v ?? "–")))))));
	const different = rows.filter(differs);
	const equal = rows.filter((p) => !differs(p));
	return [
		different.length > 0 ? [h("h3", {}, "What differs between the fabrics"), table(different)] : null,
		h("details", {}, h("summary", {}, `${group(equal.length)} parameters that ${data.fabrics.length > 1 ? "are equal everywhere" : "were used"}; bold: set by the scenario or the profile`), table(equal)),
	];
}

const seconds = (v) => (v === null ? null : `${digits(v)} s`);
const builds = (fabrics) => [...new Set(fabrics.flatMap((f) => f.runs.map((r) => r.build?.slice(0, 12) ?? "unknown")))].join(", ");
const inputs = (f) => (f.inputs.length === 0 ? null : h("details", {}, h("summary", {}, f.digest.slice(0, 12)),
	h("ul", { class: "reasons" }, f.inputs.map((i) => h("li", {}, `${i.kind} ${i.file} `, h("code", {}, i.hash.slice(0, 12)), `, ${group(i.size)} bytes`)))));
const MADE = [
	["state", (f) => f.state], ["scenario", (f) => f.scenario_file], ["seed", (f) => f.runs.map((r) => r.seed).join(", ") + (f.runs.length > 1 ? `; what follows, and details on this page, of ${f.seed}` : "")], ["weft", (f) => `${f.weft_version}, build ${builds([f])}`], ["what went in", (f) => inputs(f)],
	["virtual time", (f) => time(f.end_ps)], ["at most", (f) => time(f.until_ps)],
	["samples", (f) => (f.ticks > 1 ? `${group(f.ticks)}, every ${time(f.end_ps / f.ticks)} on average` : "at the end only")],
	["CPU time", (f) => seconds(f.cpu_s)], ["time on the wall", (f) => seconds(f.wall_s)], ["begun", (f) => date(f.started_unix)],
];

function made(data) {
	return h("section", { id: "made" }, h("h2", {}, "How this was made"),
		h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "How this was made" },
			h("table", { class: "plain" },
				h("thead", {}, h("tr", {}, h("th", { scope: "col" }, ""), data.fabrics.map((f) => h("th", { scope: "col" }, f.name)))),
				h("tbody", {}, MADE.map(([label, cell]) => h("tr", {}, h("th", { scope: "row" }, label), data.fabrics.map((f) => h("td", {}, cell(f) ?? "–"))))))),
		h("p", { class: "hint" }, `Made from ${data.file}, study ${data.study.id}. The same scenario and seed give the same numbers on any number of threads. Charts: uPlot (MIT licence; its text is in this file).`));
}

function missing(reasons) {
	return reasons.length === 0 ? null
		: h("section", { id: "missing" }, h("h2", {}, "Not in this report"), h("ul", { class: "reasons" }, reasons.map((text) => h("li", {}, text))));
}

function contents(sections) {
	return h("nav", { "aria-label": "Sections" }, h("ul", {}, sections.map((s) =>
		h("li", {}, h("a", { href: `#${s.id}` }, s.querySelector("h2").textContent)))));
}

// On paper every table is open; afterwards those that were closed are closed again.
function printing() {
	let opened = [];
	return [
		() => {
			opened = [...document.querySelectorAll("details:not([open])")];
			for (const d of opened) {
				d.open = true;
				d.update?.();
			}
			document.documentElement.classList.add("paper");
		},
		() => {
			for (const d of opened)
				d.open = false;
			document.documentElement.classList.remove("paper");
		},
	];
}

async function start() {
	const root = document.getElementById("page");
	const data = await load();
	const series = overTime(data);
	const open = (f, choice) => { series.pick(f, choice); series.scrollIntoView(); };
	const [topology, ports] = [map(data, open), strip(data, open)];
	// Each with why it may be missing; null: then there is nothing to say.
	const parts = [
		[verdict(data), data.study.kind === "compare" ? "A verdict: the comparison did not come to its end." : null],
		[bars(data), null],
		[sweep(data), null],
		[comparison(data), "Results: no run came to its end."],
		[notes(data), null],
		[distributions(data), "Latency distributions: they are recorded when a run ends."],
		[flows(data), null],
		[bandwidth(data), "Bandwidth by message size: no run measured collectives over sizes."],
		[collectives(data), "Collectives: no run has any; they come with a job."],
		[timeline(data), "A timeline of ranks: no run has a job with ranks."],
		[topology, "The topology's heat map: no samples over time were recorded (--sample)."],
		[ports, null],
		[series, "Queues and pauses over time: no samples over time were recorded (--sample)."],
		[events(data), "Events: none happened, or none were recorded (--events)."],
		[scenario(data), null],
		[made(data), null],
	];
	const sections = [...parts.map(([section]) => section), missing(parts.filter(([s, why]) => s === null && why !== null).map(([, why]) => why))]
		.filter((s) => s !== null);
	root.replaceChildren(header(data), contents(sections), h("main", {}, sections));
	theme.start(...printing());
	// For tests, and for whoever wants the numbers: weft.data, weft.chart("cdf").
	window.weft = { data, chart: chartData, plot: (name) => chartOf(name)?.plot, curves: (name) => chartOf(name)?.curves, bars: barsOf(data), map: topology?.map, strip: ports?.strip, heat: theme.heat, time, value };
	root.dataset.ready = "yes";
}

start().catch((error) => {
	document.getElementById("page").replaceChildren(h("p", { class: "warning" },
		`This page could not be shown: ${error.message}. It needs a browser of 2023 or later.`));
	throw error;
});
