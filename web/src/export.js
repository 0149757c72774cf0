// SPDX-License-Identifier: Apache-2.0
// export.js - charts as files: SVG that is drawn anew, PNG of that, and CSV of the numbers behind. What is
// drawn on a canvas is drawn once more, on something that writes SVG instead.
import { h, svg } from "./dom.js";
import * as theme from "./theme.js";

export const FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif";

// A drawing to begin with: paper of that size.
export function sheet(width, height) {
	return svg("svg", { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}`, "font-family": FONT, "font-size": 12 },
		svg("rect", { width, height, fill: theme.css("--paper") }));
}

// Text at a place; more: further attributes.
export function text(x, y, words, more = {}) {
	return svg("text", { x, y, fill: theme.css("--ink"), ...more }, words);
}

export function svgText(element) {
	return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(element)}\n`;
}

function field(cell) {
	const words = cell === null || cell === undefined ? "" : String(cell).replace(/[\u00a0\u202f]/g, " ");
	// What a spreadsheet would take for a formula is a text.
	const safe = typeof cell === "string" && /^[=+@\t\r-]/.test(words) ? `'${words}` : words;
	return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

// rows: lists of cells, the first is the head.
export function csvText(rows) {
	return rows.map((row) => `${[...row].map(field).join(",")}\r\n`).join("");
}

async function png(element) {
	const [width, height] = ["width", "height"].map((name) => Number(element.getAttribute(name)));
	const image = new Image();
	image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(element))}`;
	await image.decode();
	const canvas = h("canvas", { width: 2 * width, height: 2 * height });
	canvas.getContext("2d").drawImage(image, 0, 0, 2 * width, 2 * height);
	return new Promise((done) => canvas.toBlob(done, "image/png"));
}

function download(blob, name) {
	const link = h("a", { href: URL.createObjectURL(blob), download: name });
	document.body.append(link);
	link.click();
	link.remove();
	setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// The buttons of a chart called name. draw() returns the SVG element, rows() the lists for CSV.
export function exports(name, draw, rows) {
	const file = (ending) => `${document.title.replace(/ - weft$/, "").replace(/[^\w-]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 60)}-${name}.${ending}`;
	const button = (label, act) => h("button", { type: "button", title: `save this chart as ${label}`, "aria-label": `save ${name} as ${label}`, "data-export": label.toLowerCase(), onclick: act }, label);
	return h("div", { class: "exports" },
		button("SVG", () => download(new Blob([svgText(draw())], { type: "image/svg+xml" }), file("svg"))),
		button("PNG", async () => download(await png(draw()), file("png"))),
		button("CSV", () => download(new Blob([csvText(rows())], { type: "text/csv" }), file("csv"))));
}

// The part of a canvas' 2D context that this page uses, as SVG.
export class SvgContext {
	constructor(width, height) {
		Object.assign(this, { fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, globalAlpha: 1, font: "11px sans-serif", textAlign: "left", textBaseline: "alphabetic" });
		this.element = sheet(width, height);
		this.into = this.element;
		this.saved = [];
		this.points = [];
		this.measure = document.createElement("canvas").getContext("2d");
		this.clips = 0;
	}

	setTransform() {}

	clearRect() {}

	save() {
		this.saved.push({ into: this.into, fillStyle: this.fillStyle, strokeStyle: this.strokeStyle, lineWidth: this.lineWidth, globalAlpha: this.globalAlpha });
	}

	restore() {
		Object.assign(this, this.saved.pop());
	}

	put(name, attributes, ...children) {
		this.into.append(svg(name, { ...attributes, opacity: this.globalAlpha === 1 ? null : this.globalAlpha }, ...children));
	}

	fillRect(x, y, width, height) {
		this.put("rect", { x: round(x), y: round(y), width: round(width), height: round(height), fill: this.fillStyle });
	}

	strokeRect(x, y, width, height) {
		this.put("rect", { x: round(x), y: round(y), width: round(width), height: round(height), fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth });
	}

	beginPath() {
		this.points = [];
		this.box = null;
	}

	moveTo(x, y) {
		this.points.push(`M${round(x)} ${round(y)}`);
	}

	lineTo(x, y) {
		this.points.push(`${this.points.length === 0 ? "M" : "L"}${round(x)} ${round(y)}`);
	}

	arc(x, y, r) {
		this.points.push(`M${round(x - r)} ${round(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`);
	}

	rect(x, y, width, height) {
		this.box = { x, y, width, height };
	}

	stroke() {
		this.put("path", { d: this.points.join(""), fill: "none", stroke: this.strokeStyle, "stroke-width": round(this.lineWidth) });
	}

	fill() {
		this.put("path", { d: this.points.join(""), fill: this.fillStyle });
	}

	clip() {
		const id = `clip${++this.clips}`;
		this.into.append(svg("clipPath", { id }, svg("rect", this.box)));
		const inside = svg("g", { "clip-path": `url(#${id})` });
		this.into.append(inside);
		this.into = inside;
	}

	measureText(words) {
		this.measure.font = this.font;
		return this.measure.measureText(words);
	}

	fillText(words, x, y) {
		const down = { top: 0.8, middle: 0.35, bottom: -0.2, alphabetic: 0 }[this.textBaseline];
		const size = parseFloat(this.font);
		this.put("text", { x: round(x), y: round(y + down * size), fill: this.fillStyle, "font-size": size, "text-anchor": { left: "start", center: "middle", right: "end" }[this.textAlign] }, words);
	}
}

function round(v) {
	return Math.round(v * 100) / 100;
}
