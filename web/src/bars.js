// SPDX-License-Identifier: Apache-2.0
// bars.js - the first picture: how long it took on every fabric and where the time went, with the spread
// of the seeds.
import { h, svg, tableBehind } from "./dom.js";
import { exports, FONT, sheet, text } from "./export.js";
import { axisUnit, digits, value } from "./format.js";
import * as theme from "./theme.js";

// What the time of a training step consists of, in the order in which it is stacked. The rest is what
// remains of the step.
const STEP = [
	["step_busy", "compute"], ["exposed_tp", "tensor parallel, exposed"], ["exposed_ep", "expert parallel, exposed"], ["exposed_dp", "data parallel, exposed"],
	["exposed_pp", "pipeline transfers, exposed"], ["step_bubble", "pipeline bubble"], [null, "other waiting"],
];
const JOB = [["job_busy_mean", "compute"], [null, "not computing"]];
const COLOURS = {
	light: ["#6b7785", "#0a78b8", "#a0457e", "#d2640f", "#00866a", "#c9ced4", "#e2d49a"],
	dark: ["#8e9ba8", "#57b0ea", "#e597c4", "#f59447", "#43cfa5", "#4a5560", "#8a7c3c"],
};
const HATCHED = new Set(["pipeline bubble", "other waiting"]);

// Which value is the picture, and its parts: the first that any fabric has.
const PICTURES = [
	{ key: "step_time", title: "Step time", parts: STEP, note: "what a mean rank did during the step" },
	{ key: "job_time", title: "Job time", parts: [], note: "until the last rank was done" },
	{ key: "job_end", title: "Job time", parts: JOB, note: "until the last rank was done" },
	{ key: "completion", title: "Completion time", parts: [], note: "until the last flow was done" },
];

function amount(data, key, f, run) {
	const v = data.metrics.find((m) => m.key === key)?.each[f].get(run);
	return typeof v === "number" ? v : 0;
}

// The bars: of every fabric the run with the median time, or the mean of the two in the middle, so that the
// parts add up to it.
export function barsOf(data) {
	const picture = PICTURES.find((p) => data.metrics.some((m) => m.key === p.key && m.values.some((v) => typeof v === "number")));
	if (picture === undefined || data.study.kind === "sweep")
		return null;
	const metric = data.metrics.find((m) => m.key === picture.key);
	const rows = data.fabrics.map((fabric, f) => {
		const runs = [...metric.each[f]].filter(([, v]) => typeof v === "number");
		if (runs.length === 0)
			return { name: fabric.name, all: [], parts: [] };
		const sorted = runs.slice().sort((p, q) => p[1] - q[1]);
		const middle = sorted.slice((sorted.length - 1) >> 1, (sorted.length >> 1) + 1);
		const mean = (key) => middle.reduce((s, [run]) => s + amount(data, key, f, run), 0) / middle.length;
		const total = metric.values[f];
		const known = picture.parts.map(([key, label]) => ({ label, v: key === null ? 0 : mean(key) }));
		const rest = total - known.reduce((s, p) => s + p.v, 0);
		const parts = known.length === 0 ? [{ label: picture.title.toLowerCase(), v: total }] : known.map((p, i) => (picture.parts[i][0] === null ? { ...p, v: Math.max(rest, 0) } : p));
		return { name: fabric.name, median: metric.values[f], low: metric.low[f], high: metric.high[f], all: runs.map(([, v]) => v), parts, mfu: mfu(data, f) };
	});
	// A part that nobody has is not in the picture; nor is one too small to see on every bar.
	const labels = rows.find((r) => r.parts.length > 0).parts.map((p, i) => ({ label: p.label, i }))
		.filter(({ i }) => rows.some((r) => r.parts.length > 0 && r.parts[i].v > 0.0005 * r.median));
	return { ...picture, unit: "ps", better: "low", metric, rows, labels };
}

function mfu(data, f) {
	const v = data.metrics.find((m) => m.key === "mfu")?.values[f];
	return typeof v === "number" ? v : null;
}

const ROW = 40;
const THICK = 22;

// Ticks of an axis from 0 to max: 1, 2 or 5 times a power of ten apart, about count of them.
export function ticks(max, count) {
	const raw = max / Math.max(count, 1);
	const power = 10 ** Math.floor(Math.log10(raw));
	const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999);
	return Array.from({ length: Math.floor(max / step + 1e-9) + 1 }, (_, i) => i * step);
}

// What stands behind a bar.
function words(row, best, unit) {
	if (row.all.length === 0)
		return "not finished";
	const more = row.median / best - 1;
	return [value(row.median, unit), more < -0.0005 ? `−${digits(Number((-100 * more).toPrecision(3)))} %` : more >= 1 ? `×${digits(Number((1 + more).toPrecision(3)))}` : more > 0.0005 ? `+${digits(Number((100 * more).toPrecision(3)))} %` : null,
		row.mfu === null ? null : `MFU ${value(row.mfu, "ratio")}`].filter(Boolean).join(" · ");
}

class Bars {
	constructor(data, picture) {
		Object.assign(this, { data, picture });
		const known = picture.rows.filter((r) => r.all.length > 0).map((r) => r.median);
		// What the others are set against; nothing where no direction is good.
		this.best = picture.better === "" ? NaN : picture.better === "high" ? Math.max(...known) : Math.min(...known);
		this.measure = document.createElement("canvas").getContext("2d");
		this.box = h("div", { class: "drawing", role: "img", tabindex: 0, "data-chart": picture.name ?? "bars", "aria-label": `${picture.title} of ${picture.rows.map((r) => `${r.name}: ${words(r, this.best, picture.unit)}`).join("; ")}. The table below has the parts.` });
		new ResizeObserver(() => this.fit()).observe(this.box);
		theme.onChange(this.box, () => this.draw());
	}

	fit() {
		if (this.box.clientWidth > 0 && this.box.clientWidth !== this.width)
			this.draw();
	}

	draw() {
		this.width = Math.max(260, this.box.clientWidth);
		this.box.replaceChildren(this.drawing(this.width));
	}

	wide(words_, size = 12, weight = 400) {
		this.measure.font = `${weight} ${size}px ${FONT}`;
		return this.measure.measureText(words_).width;
	}

	// Names stand left of their bars where there is room, and above them elsewhere.
	drawing(width) {
		const { rows, labels } = this.picture;
		const names = Math.max(...rows.map((r) => this.wide(r.name, 13))) + 14;
		const behind = Math.max(...rows.map((r) => this.wide(words(r, this.best, this.picture.unit), 12.5, 600))) + 18;
		const above = names > width * 0.28 || names + behind > width * 0.7;
		const left = above ? 4 : names;
		const max = Math.max(...rows.map((r) => r.high ?? 0)) || 1;
		const under = above && behind > width * 0.45;
		const room = Math.max(80, width - left - (under ? 12 : behind));
		// A name and what is said of it have a line each where one is too short for both.
		const two = under && names + behind > width;
		const step = ROW + (above ? 18 : 0) + (two ? 16 : 0);
		const key = this.key(labels, width);
		const height = key.height + rows.length * step + 44;
		const out = sheet(width, height);
		const plot = { left, top: key.height + 6, room, max, above, step, under, two, bottom: height - 38 };
		out.append(...key.parts, ...this.axis(plot), ...rows.flatMap((row, i) => this.bar(row, i, plot)));
		return out;
	}

	key(labels, width) {
		const parts = [];
		let x = 0;
		let y = 0;
		if (labels.length < 2)
			return { parts, height: 4 };
		for (const { label, i } of labels) {
			const wide = this.wide(label) + 34;
			if (x > 0 && x + wide > width) {
				x = 0;
				y += 18;
			}
			parts.push(...this.block(x, y + 2, 16, 11, i, label), text(x + 21, y + 12, label, { "font-size": 12 }));
			x += wide;
		}
		return { parts, height: y + 24 };
	}

	// A part of a bar: filled, and what is waiting hatched.
	block(x, y, w, height, i, label, style) {
		const colour = style === undefined ? COLOURS[theme.mode()][i] : theme.lineColour(style);
		const out = [svg("rect", { x, y, width: w, height, fill: colour })];
		for (let at = x + 4; HATCHED.has(label) && at < x + w + height; at += 6) {
			const [low, high] = [Math.max(at - height, x), Math.min(at, x + w)];
			out.push(svg("path", { d: `M${low} ${y + (at - low)}L${high} ${y + (at - high)}`, stroke: theme.css("--soft"), "stroke-width": 1 }));
		}
		return out;
	}

	axis({ left, room, max, top, bottom }) {
		const { label, scale } = axisUnit(max, this.picture.unit);
		const list = ticks(max / scale, room / 90);
		return [
			...list.flatMap((v) => {
				const x = left + v * scale / max * room;
				return [svg("path", { d: `M${x} ${top - 4}V${bottom}`, stroke: theme.css("--grid") }),
					text(x, bottom + 14, digits(v), { fill: theme.css("--soft"), "font-size": 11, "text-anchor": v === 0 && left < 8 ? "start" : "middle" })];
			}),
			text(left + room / 2, bottom + 31, `${this.picture.what ?? this.picture.title.toLowerCase()}${label === "" ? "" : ` (${label})`}`, { fill: theme.css("--soft"), "text-anchor": "middle" }),
		];
	}

	bar(row, i, { left, top, room, max, above, step, under, two }) {
		const y = top + i * step + (above ? 20 : 0) + (two ? 16 : 0);
		const middle = y + THICK / 2;
		const out = [above ? text(left, y - (two ? 22 : 6), row.name, { "font-size": 13 }) : text(left - 10, middle + 4.5, row.name, { "font-size": 13, "text-anchor": "end" })];
		let x = left;
		for (const { label, i: part } of row.all.length > 0 ? this.picture.labels : []) {
			const { v } = row.parts[part];
			const w = v / max * room;
			const block = svg("g", { "data-part": label }, svg("title", {}, `${row.name}: ${label} ${value(v, this.picture.unit)}${row.parts.length > 1 ? `, ${value(v / row.median, "ratio")}` : ""}`), ...this.block(x, y, w, THICK, part, label, row.style));
			const inside = value(v, this.picture.unit);
			if (w > this.wide(inside, 11) + 10 && !HATCHED.has(label) && row.parts.length > 1)
				block.append(text(x + w / 2, middle + 4, inside, { "font-size": 11, fill: theme.css("--paper"), "text-anchor": "middle" }));
			out.push(block);
			x += w;
		}
		const said = words(row, this.best, this.picture.unit);
		const end = left + (row.high ?? 0) / max * room;
		if ((row.high - row.low) / max * room > 2)
			out.push(...this.whisker(row, left, room / max, middle));
		out.push(under ? text(two ? left : left + room, y - 6, said, { "font-size": 12.5, "font-weight": 600, "text-anchor": two ? "start" : "end", "data-total": row.name })
			: text(end + 10, middle + 4.5, said, { "font-size": 12.5, "font-weight": 600, "data-total": row.name }));
		return out;
	}

	// From the fastest seed to the slowest, with a dot for each.
	whisker(row, left, scale, y) {
		const ink = theme.css("--ink");
		const at = (v) => left + v * scale;
		return [
			svg("path", { "data-whisker": row.name, d: `M${at(row.low)} ${y - 7}v14M${at(row.low)} ${y}H${at(row.high)}M${at(row.high)} ${y - 7}v14`, stroke: theme.css("--paper"), "stroke-width": 4, fill: "none" }),
			svg("path", { d: `M${at(row.low)} ${y - 7}v14M${at(row.low)} ${y}H${at(row.high)}M${at(row.high)} ${y - 7}v14`, stroke: ink, "stroke-width": 1.5, fill: "none" }),
			...row.all.map((v) => svg("circle", { cx: at(v), cy: y, r: 2.6, fill: ink, stroke: theme.css("--paper"), "stroke-width": 0.8 })),
		];
	}
}

export function bars(data) {
	const picture = barsOf(data);
	if (picture === null)
		return null;
	const chart = new Bars(data, picture);
	const seeds = Math.max(...picture.rows.map((r) => r.all.length));
	const head = ["fabric", "median", ...(seeds > 1 ? ["least", "most", "seeds"] : []), ...(picture.labels.length > 1 ? picture.labels.map((l) => l.label) : [])];
	const cells = (show) => picture.rows.map((r) => [r.name, show(r.median), ...(seeds > 1 ? [show(r.low), show(r.high), r.all.length] : []),
		...(picture.labels.length > 1 ? picture.labels.map(({ i }) => show(r.parts[i]?.v)) : [])]);
	const table = tableBehind("As a table", () => head, () => cells((v) => value(v, "ps")));
	const note = [picture.note, seeds > 1 ? `the bar is the run of the median seed${seeds % 2 === 0 ? ", here the mean of the two in the middle" : ""}; the line goes from the fastest of ${seeds} seeds to the slowest, a dot each` : null].filter(Boolean).join("; ");
	return h("section", { id: "bars" },
		h("h2", {}, picture.title),
		h("figure", {},
			h("figcaption", {}, h("span", {}, `${note[0].toUpperCase()}${note.slice(1)}.`), exports("bars", () => chart.drawing(900), () => [head.map((t, i) => (i === 0 || t === "seeds" ? t : `${t} (ps)`)), ...cells((v) => v)])),
			chart.box, table.element));
}

// Bars of any result. picture: {title, note, unit, better, rows as in barsOf()}.
export function valueBars(name, picture) {
	const chart = new Bars(null, { ...picture, name, what: picture.rows[0].parts[0].label, labels: [{ label: picture.rows[0].parts[0].label, i: 0 }] });
	const head = ["", "median", "least", "most"];
	const cells = (show) => picture.rows.map((r) => [r.name, show(r.median), show(r.low), show(r.high)]);
	const table = tableBehind("As a table", () => head, () => cells((v) => value(v, picture.unit)));
	return h("figure", {}, h("figcaption", {}, h("strong", {}, picture.title), picture.note ? h("span", {}, picture.note) : null, exports(name, () => chart.drawing(900), () => [head, ...cells((v) => v)])),
		chart.box, table.element);
}
