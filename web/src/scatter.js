// SPDX-License-Identifier: Apache-2.0
// scatter.js - points on two log scales: one for each flow, every fabric in its colour.
import { h, svg } from "./dom.js";
import { exports, SvgContext } from "./export.js";
import { value } from "./format.js";
import * as theme from "./theme.js";

const MARGIN = { left: 66, right: 14, top: 8, bottom: 40 };

// Powers of base between min and max, few enough for room of them.
function powers(min, max, base, room) {
	const low = Math.ceil(Math.log(min) / Math.log(base) - 1e-9);
	const high = Math.floor(Math.log(max) / Math.log(base) + 1e-9);
	const step = Math.max(1, Math.ceil((high - low + 1) / room));
	return Array.from({ length: Math.max(0, Math.floor((high - low) / step) + 1) }, (_, i) => base ** (low + i * step));
}

// A point of the style, for the legend.
function dot(style) {
	const circle = svg("circle", { cx: 6, cy: 6, r: 4.5, fill: theme.lineColour(style) });
	theme.onChange(circle, () => circle.setAttribute("fill", theme.lineColour(style)));
	return svg("svg", { class: "swatch", width: 12, height: 12, "aria-hidden": "true" }, circle);
}

export class Scatter {
	// spec: {name, title, note, x: {label, unit}, y: {label, unit}, height, say(point), rows()}.
	constructor(spec) {
		this.spec = spec;
		this.sets = [];
		this.hidden = new Set();
		this.near = null;
		this.canvas = h("canvas", { role: "img", "aria-label": `${spec.title}. The table below has the flows.`, "data-chart": spec.name, onmousemove: (e) => this.point(e), onmouseleave: () => this.say(null) });
		this.box = h("div", { class: "plot" }, this.canvas);
		this.legend = h("ul", { class: "legend" });
		this.tip = h("p", { class: "tip" });
		this.title = h("strong", {}, spec.title);
		this.element = h("figure", {}, h("figcaption", {}, this.title, spec.note ? h("span", {}, spec.note) : null, exports(spec.name, () => this.drawing(), spec.rows)),
			this.box, this.legend, this.tip);
		new ResizeObserver(() => this.draw()).observe(this.box);
		theme.onChange(this.element, () => this.draw());
	}

	// sets: [{label, style, points: [{x, y, ...}]}]; y: another one from now on.
	show(sets, y = this.spec.y) {
		this.sets = sets;
		this.spec.y = y;
		this.legend.replaceChildren(...sets.map((s) => h("li", {}, h("button", {
			type: "button", "aria-pressed": String(!this.hidden.has(s.label)), title: "show or hide these points",
			onclick: (e) => {
				if (!this.hidden.delete(s.label))
					this.hidden.add(s.label);
				e.currentTarget.setAttribute("aria-pressed", String(!this.hidden.has(s.label)));
				this.draw();
			},
		}, dot(s.style), h("span", {}, s.label)))));
		this.draw();
	}

	shown() {
		return this.sets.filter((s) => !this.hidden.has(s.label));
	}

	draw() {
		const width = this.box.clientWidth;
		if (width === 0)
			return;
		const ratio = window.devicePixelRatio || 1;
		const height = this.spec.height ?? 320;
		Object.assign(this.canvas, { width: width * ratio, height: height * ratio });
		Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` });
		const c = this.canvas.getContext("2d");
		c.setTransform(ratio, 0, 0, ratio, 0, 0);
		this.paint(c, width, height);
		this.say(null);
	}

	drawing() {
		const c = new SvgContext(900, 420);
		this.paint(c, 900, 420);
		this.draw();
		return c.element;
	}

	// Where a point is; the scales span all that is shown.
	place(width, height) {
		const all = this.shown().flatMap((s) => s.points);
		const span = (key) => {
			const [low, high] = all.reduce(([a, b], p) => [Math.min(a, p[key]), Math.max(b, p[key])], [Infinity, 0]);
			return low === Infinity ? [1, 10] : low === high ? [low / 2, high * 2] : [low / 1.15, high * 1.15];
		};
		const [x, y] = [span("x"), span("y")];
		const { left, right, top, bottom } = MARGIN;
		this.at = {
			x, y, px: (v) => left + Math.log(v / x[0]) / Math.log(x[1] / x[0]) * (width - left - right),
			py: (v) => height - bottom - Math.log(v / y[0]) / Math.log(y[1] / y[0]) * (height - top - bottom),
		};
	}

	paint(c, width, height) {
		this.place(width, height);
		this.paintAxes(c, width, height);
		const count = this.shown().reduce((n, s) => n + s.points.length, 0);
		const r = count > 4000 ? 1.2 : count > 600 ? 1.8 : 2.6;
		for (const set of this.shown()) {
			c.fillStyle = theme.lineColour(set.style);
			c.globalAlpha = count > 600 ? 0.55 : 0.8;
			c.beginPath();
			for (const p of set.points) {
				c.moveTo(this.at.px(p.x) + r, this.at.py(p.y));
				c.arc(this.at.px(p.x), this.at.py(p.y), r, 0, 2 * Math.PI);
			}
			c.fill();
			c.globalAlpha = 1;
		}
	}

	paintAxes(c, width, height) {
		const { x, y, px, py } = this.at;
		const { left, right, top, bottom } = MARGIN;
		c.font = "11px system-ui, sans-serif";
		c.lineWidth = 1;
		const line = (a, b, d, e) => {
			c.strokeStyle = theme.css("--grid");
			c.beginPath();
			c.moveTo(a, b);
			c.lineTo(d, e);
			c.stroke();
			c.fillStyle = theme.css("--soft");
		};
		c.textAlign = "center";
		c.textBaseline = "top";
		const even = Array.from({ length: 4 }, (_, i) => Number((x[0] + (i + 0.5) / 4 * (x[1] - x[0])).toPrecision(2)));
		const list = powers(...x, this.spec.x.unit === "size" ? 2 : 10, (width - left - right) / 64);
		for (const v of list.length > 2 ? list : even) {
			line(px(v), top, px(v), height - bottom);
			c.fillText(value(v, this.spec.x.unit), Math.min(px(v), width - 26), height - bottom + 5);
		}
		c.textAlign = "right";
		c.textBaseline = "middle";
		// Within a power of ten, 2 and 5 are ticks as well.
		const ticks = y[1] / y[0] > 30 ? powers(...y, 10, 8) : powers(y[0] / 10, y[1], 10, 9).flatMap((v) => [v, 2 * v, 5 * v]).filter((v) => v >= y[0] && v <= y[1]);
		for (const v of ticks) {
			line(left, py(v), width - right, py(v));
			c.fillText(value(v, this.spec.y.unit), left - 6, py(v));
		}
		c.textAlign = "center";
		c.textBaseline = "bottom";
		c.fillText(this.spec.x.label, left + (width - left - right) / 2, height - 2);
	}

	point(event) {
		const box = this.canvas.getBoundingClientRect();
		const [x, y] = [event.clientX - box.left, event.clientY - box.top];
		let best = null;
		let near = 12;
		for (const set of this.shown()) {
			for (const p of set.points) {
				const away = Math.hypot(this.at.px(p.x) - x, this.at.py(p.y) - y);
				if (away < near)
					[near, best] = [away, { set, p }];
			}
		}
		this.say(best);
	}

	say(best) {
		this.tip.textContent = best === null ? "Point at a dot to see which it is." : `${best.set.label}: ${this.spec.say(best.p)}`;
	}
}
