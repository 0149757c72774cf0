// SPDX-License-Identifier: Apache-2.0
// chart.js - line charts: uPlot in a figure with a title, a legend that switches lines on and off and
// says their values under the cursor, arrow keys for the cursor, and the table behind.
import uPlot from "uplot";
import { h, select, svg, tableBehind } from "./dom.js";
import { exports, sheet, text } from "./export.js";
import { axisUnit, digits, size, value } from "./format.js";
import * as theme from "./theme.js";

const HEIGHTS = [{ value: "zero", label: "from 0" }, { value: "fit", label: "fitted" }, { value: "log", label: "log" }];
const UNITS = { ratio: "share", size: "B" };
const charts = new Map(); // by name: the last one made

// A short piece of the line that style i is drawn with.
export function swatch(i) {
	const line = svg("line", { x1: 1, y1: 5, x2: 27, y2: 5, "stroke-width": 2.5 });
	const draw = () => {
		line.setAttribute("stroke", theme.lineColour(i));
		line.setAttribute("stroke-dasharray", theme.lineDash(i).join(" "));
	};
	draw();
	theme.onChange(line, draw);
	return svg("svg", { class: "swatch", width: 28, height: 10, "aria-hidden": "true" }, line);
}

// Ticks at powers of two for sizes, at 1 for every power of ten otherwise; few enough to be read.
function logTicks(min, max, unit, room) {
	const base = unit === "size" ? 2 : 10;
	const low = Math.ceil(Math.log(min) / Math.log(base) - 1e-9);
	const high = Math.floor(Math.log(max) / Math.log(base) + 1e-9);
	let step = 1;
	while ((high - low) / step + 1 > room)
		step += 1;
	const out = [];
	for (let e = low; e <= high; e += step)
		out.push(base ** e);
	return out;
}

function axis(spec, isX) {
	return {
		label: spec.label,
		labelSize: 18,
		labelFont: "12px system-ui, sans-serif",
		font: "11px system-ui, sans-serif",
		stroke: () => theme.css("--soft"),
		grid: { stroke: () => theme.css("--grid"), width: 1 },
		ticks: { stroke: () => theme.css("--grid"), width: 1, size: 4 },
		gap: 4,
		size: isX ? 32 : (u, labels) => 14 + 6.4 * Math.max(4, ...(labels ?? []).map((t) => t.length)),
		space: isX ? 64 : 28,
		splits: spec.log && !spec.ticks ? (u, i, min, max) =>
			logTicks(min, max, spec.unit, isX ? Math.max(2, u.bbox.width / devicePixelRatio / 62) : 8) : spec.ticks,
		filter: spec.log ? (u, splits) => splits : undefined,
		values: (u, splits) => splits.map((v) => tick(v, spec)),
	};
}

function tick(v, spec) {
	if (spec.tick)
		return spec.tick(v);
	if (spec.unit === "size")
		return size(v);
	if (spec.log)
		return value(v, spec.unit);
	return spec.div ? digits(v / spec.div) : digits(v);
}

// The data that uPlot wants: one x for all lines. Lines with their own x are merged; the holes are null.
function align(curves) {
	if (curves.every((c) => c.x === curves[0].x))
		return [curves[0].x, ...curves.map((c) => c.y)];
	return uPlot.join(curves.map((c) => [c.x, c.y]));
}

// The same with the lines of what is shaded behind: low and high of the curves that have a spread. Returns
// the data and the styles of those.
function banded(curves) {
	const some = curves.filter((c) => c.low?.some((v, i) => v !== c.high[i]));
	const data = align([...curves, ...some.flatMap((c) => [{ x: c.x, y: c.low }, { x: c.x, y: c.high }])]);
	return [[...data], some.map((c) => c.style)];
}

// For a linear axis, the unit that fits its largest value goes into the label.
function withUnit(spec, values) {
	if (spec.log || spec.unit === "" || spec.unit === undefined)
		return { ...spec };
	let max = 0;
	for (const list of values)
		for (const v of list)
			max = v > max ? v : max;
	const { label, scale } = axisUnit(max, spec.unit);
	return { ...spec, label: `${spec.label} (${label})`, div: scale };
}

export class LineChart {
	// spec: {title, note, x: {label, unit, log}, y: {label, unit, log, min, max}, height, table: {caption,
	// head(), rows()}, stepped: 1 or -1 (a value holds up to its x), sync, name}. Lines are set with show().
	constructor(spec) {
		this.spec = spec;
		this.hidden = new Set();
		this.plot = null;
		this.curves = [];
		this.legend = h("ul", { class: "legend" });
		this.status = h("p", { class: "unseen", role: "status" });
		this.heights = spec.y.log ? "log" : "zero";
		this.box = h("div", {
			class: "plot", tabindex: 0, role: "img", "data-chart": spec.name,
			"aria-label": `${spec.title}. Arrow keys move along the chart; the table below has the numbers.`,
			onkeydown: (event) => this.key(event),
		});
		this.table = spec.table ? tableBehind(spec.table.caption, spec.table.head, spec.table.rows) : null;
		this.element = h("figure", {},
			h("figcaption", {}, h("strong", {}, spec.title), spec.note ? h("span", {}, spec.note) : null,
				spec.y.choose ? select("y", HEIGHTS, this.heights, (v) => { this.heights = v; this.draw(); }) : null,
				exports(spec.name, () => this.drawing(), () => this.rows())),
			this.box, this.legend, this.status, this.table?.element);
		new ResizeObserver(() => this.fit()).observe(this.box);
		theme.onChange(this.element, () => this.draw());
		charts.set(spec.name, this);
	}

	// curves: [{label, style, x, y}].
	show(curves) {
		this.curves = curves;
		this.draw();
		this.table?.update();
	}

	shown() {
		return this.curves.filter((c) => !this.hidden.has(c.label));
	}

	// How high the y axis goes, as it was chosen; a chart that does not offer it has its own.
	yScale(y) {
		if (!this.spec.y.choose)
			return y.range ?? ((u, min, max) => [0, max > 0 ? max * 1.05 : 1]);
		if (this.heights === "zero")
			return (u, min, max) => [0, max > 0 ? max * 1.05 : 1];
		if (this.heights === "log")
			return (u, min, max) => [min / 1.15, max * 1.15];
		return (u, min, max) => [min - 0.08 * (max - min || Math.abs(max) || 1), max + 0.08 * (max - min || Math.abs(max) || 1)];
	}

	draw() {
		this.plot?.destroy();
		this.plot = null;
		this.values = [];
		const curves = this.shown();
		this.legend.replaceChildren(...this.curves.map((c) => this.entry(c)));
		if (curves.length === 0) {
			this.box.replaceChildren(h("p", { class: "empty" }, this.curves.length > 0 ? "No line is switched on." : "There is nothing to draw."));
			return;
		}
		this.box.replaceChildren();
		const x = withUnit(this.spec.x, curves.map((c) => c.x));
		const y = withUnit({ ...this.spec.y, log: this.spec.y.choose ? this.heights === "log" : this.spec.y.log }, curves.map((c) => c.y));
		const [data, bands] = banded(curves);
		if (y.log)
			data.slice(1).forEach((list, i) => { data[i + 1] = Array.from(list, (v) => (v > 0 ? v : null)); });
		this.plot = new uPlot({
			width: Math.max(200, this.box.clientWidth),
			height: this.spec.height ?? 260,
			legend: { show: false },
			cursor: { sync: this.spec.sync ? { key: this.spec.sync, setSeries: false } : undefined, drag: { x: true, y: false }, points: { size: 7 } },
			scales: {
				x: { time: false, distr: x.log ? 3 : 1, log: x.unit === "size" ? 2 : 10 },
				y: { distr: y.log ? 3 : 1, range: this.yScale(y) },
			},
			axes: [axis(x, true), axis(y, false)],
			series: [{}, ...curves.map((c) => ({
				label: c.label,
				stroke: theme.lineColour(c.style),
				dash: theme.lineDash(c.style),
				width: 2,
				spanGaps: true,
				points: { show: this.spec.points === true, size: 5, fill: theme.lineColour(c.style) },
				paths: this.spec.stepped ? uPlot.paths.stepped({ align: this.spec.stepped }) : undefined,
			})), ...bands.flatMap(() => [{ width: 0, points: { show: false } }, { width: 0, points: { show: false } }])],
			bands: bands.map((style, i) => ({ series: [curves.length + 2 + 2 * i, curves.length + 1 + 2 * i], fill: `${theme.lineColour(style)}33` })),
			hooks: { setCursor: [(u) => this.readout(u.cursor.idx)] },
		}, data, this.box);
	}

	// The chart as SVG: as it is shown, with its title and legend.
	drawing() {
		const [top, ratio, soft] = [30, devicePixelRatio, theme.css("--soft")];
		const width = this.plot?.width ?? 800;
		const height = (this.spec.height ?? 260) + top + 22 * this.curves.length + 6;
		const out = sheet(width, height);
		out.append(text(8, 19, this.spec.title, { "font-size": 14, "font-weight": 600 }));
		const u = this.plot;
		if (u === null)
			return out;
		const [left, up, w, tall] = ["left", "top", "width", "height"].map((k) => u.bbox[k] / ratio);
		const at = (v, scale) => (scale === "x" ? left : up + top) + u.valToPos(v, scale);
		const label = { fill: soft, "font-size": 11 };
		u.axes[0]._splits.forEach((v, i) => out.append(
			svg("path", { d: `M${at(v, "x")} ${up + top}v${tall}`, stroke: theme.css("--grid") }),
			text(at(v, "x"), up + top + tall + 15, u.axes[0]._values[i] ?? "", { ...label, "text-anchor": "middle" })));
		u.axes[1]._splits.forEach((v, i) => out.append(
			svg("path", { d: `M${left} ${at(v, "y")}h${w}`, stroke: theme.css("--grid") }),
			text(left - 6, at(v, "y") + 4, u.axes[1]._values[i] ?? "", { ...label, "text-anchor": "end" })));
		out.append(text(left + w / 2, up + top + tall + 34, u.axes[0].label, { fill: soft, "text-anchor": "middle" }),
			text(0, 0, u.axes[1].label, { fill: soft, "text-anchor": "middle", transform: `translate(12 ${up + top + tall / 2}) rotate(-90)` }),
			svg("clipPath", { id: "plot" }, svg("rect", { x: left, y: up + top, width: w, height: tall })));
		this.shown().forEach((curve, i) => {
			const y = (this.spec.height ?? 260) + top + 22 * i + 12;
			const line = { stroke: theme.lineColour(curve.style), "stroke-width": 2, "stroke-dasharray": theme.lineDash(curve.style).join(" ") || null, fill: "none" };
			if (curve.low?.some((v, k) => v !== curve.high[k])) {
				const edge = (list) => list.map((v, k) => `${at(curve.x[k], "x").toFixed(1)} ${at(v, "y").toFixed(1)}`);
				out.append(svg("path", { "clip-path": "url(#plot)", fill: theme.lineColour(curve.style), "fill-opacity": 0.2, d: `M${[...edge(curve.low), ...edge(curve.high).reverse()].join("L")}Z` }));
			}
			out.append(svg("path", { ...line, "clip-path": "url(#plot)", "data-line": curve.label, d: this.outline(curve, at) }),
				svg("path", { ...line, d: `M${left} ${y}h28` }), text(left + 36, y + 4, curve.label));
		});
		return out;
	}

	// The line of a curve, stepped if the chart is; its points without a line between them as circles.
	outline({ x, y }, at) {
		let d = "";
		for (let i = 0; i < x.length; i++) {
			if (y[i] === null || y[i] === undefined)
				continue;
			const [px, py] = [at(x[i], "x").toFixed(1), at(y[i], "y").toFixed(1)];
			if (this.spec.scatter)
				d += `M${px - 1.5} ${py}a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0 -3 0`;
			else
				d += d === "" ? `M${px} ${py}` : this.spec.stepped === 1 ? `H${px}V${py}` : this.spec.stepped === -1 ? `V${py}H${px}` : `L${px} ${py}`;
		}
		return d;
	}

	// What the chart shows, in the units of the results file.
	rows() {
		const { x, y } = this.spec;
		const name = ({ label, unit }, more) => `${more ?? label}${unit ? ` (${UNITS[unit] ?? unit})` : ""}`;
		const spread = this.curves.filter((c) => c.low?.some((v, i) => v !== c.high[i]));
		const [xs, ...ys] = align([...this.curves, ...spread.flatMap((c) => [{ x: c.x, y: c.low }, { x: c.x, y: c.high }])]);
		return [[name(x), ...this.curves.map((c) => name(y, c.label)), ...spread.flatMap((c) => [name(y, `${c.label} least`), name(y, `${c.label} most`)])], ...Array.from(xs, (v, i) => [x.tick ? x.tick(v) : v, ...ys.map((list) => list[i])])];
	}

	entry(curve) {
		const reading = h("output", { class: "reading" });
		this.values.push({ curve, reading });
		return h("li", {}, h("button", {
			type: "button", "aria-pressed": String(!this.hidden.has(curve.label)),
			title: "show or hide this line",
			onclick: () => {
				if (!this.hidden.delete(curve.label))
					this.hidden.add(curve.label);
				this.draw();
				[...this.legend.querySelectorAll("button")].find((b) => b.dataset.line === curve.label)?.focus();
			},
			"data-line": curve.label,
		}, swatch(curve.style), h("span", {}, curve.label), reading));
	}

	readout(i) {
		if (i === null || i === undefined) {
			for (const { reading } of this.values)
				reading.textContent = "";
			return;
		}
		const at = this.plot.data[0][i];
		for (const { curve, reading } of this.values) {
			const line = this.shown().indexOf(curve);
			if (line < 0)
				continue;
			const v = near(this.plot.data[line + 1], i);
			reading.textContent = v === null ? "" : this.spec.y.read ? this.spec.y.read(v)
				: value(v, this.spec.y.unit);
		}
		this.reading = `${this.spec.x.tick ? this.spec.x.tick(at) : value(at, this.spec.x.unit)}: ${this.values.map(({ curve, reading }) =>
			`${curve.label} ${reading.textContent}`).join(", ")}`;
	}

	key(event) {
		const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[event.key];
		if (event.key === "Escape")
			this.draw();
		if (step === undefined || this.plot === null)
			return;
		event.preventDefault();
		const xs = this.plot.data[0];
		const i = Math.min(Math.max((this.plot.cursor.idx ?? (step > 0 ? -1 : xs.length)) + step, 0), xs.length - 1);
		this.plot.setCursor({ left: this.plot.valToPos(xs[i], "x"), top: 10 });
		this.readout(i);
		this.status.textContent = this.reading;
	}

	fit() {
		const width = this.box.clientWidth;
		if (this.plot !== null && width > 0 && width !== this.plot.width)
			this.plot.setSize({ width, height: this.spec.height ?? 260 });
	}
}

// The value at i, or the last one before it where a merged line has a hole.
function near(list, i) {
	for (let k = i; k >= 0; k--) {
		if (list[k] !== null && list[k] !== undefined)
			return list[k];
	}
	return null;
}

export function chartOf(name) {
	return charts.get(name);
}

// For tests and for the curious: what a chart shows, by its name.
export function chartData(name) {
	return charts.get(name)?.curves.map((c) => ({ label: c.label, x: [...c.x], y: [...c.y] })) ?? null;
}
