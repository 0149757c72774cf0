// SPDX-License-Identifier: Apache-2.0
// strip.js - ports by time: a line of colour for each port, those of a switch together, the worst first.
import { endOf, intervalAt, lengthOf, portName } from "./data.js";
import { h, tableBehind, tabs } from "./dom.js";
import { exports, SvgContext } from "./export.js";
import { time, value } from "./format.js";
import { Heat, kindsOf, WHOLE } from "./heat.js";
import { ticks } from "./bars.js";
import * as theme from "./theme.js";

const FIRST = 64; // ports that are shown at once
const AXIS = 20;
const IDLE = 0.2; // of the time in one interval: what happens has little room on an even axis
const WHICH = [["all", "all"], ["between", "between switches"], ["hosts", "of hosts"]];

export function strip(data, openSeries) {
	const usable = data.series.map((s) => s.f);
	if (usable.length === 0)
		return null;
	const shown = new Strip(data, usable, kindsOf(data), openSeries);
	shown.element.strip = shown;
	return shown.element;
}

class Strip {
	constructor(data, usable, kinds, openSeries) {
		Object.assign(this, { data, usable, kinds, openSeries, f: usable[0], kind: kinds[0], which: "all", count: FIRST, cursor: null });
		// Where nothing happened for long, every interval is as wide as another at first.
		this.uneven = data.series.some((s) => Array.from({ length: s.n }, (_, i) => lengthOf(s, i)).some((t) => t > IDLE * endOf(s)));
		this.even = !this.uneven;
		this.canvas = h("canvas", {
			tabindex: 0, role: "img", onmousemove: (e) => this.point(this.at(e)), onmouseleave: () => this.point(null),
			onclick: (e) => this.open(this.at(e)), onkeydown: (e) => this.key(e),
		});
		this.scroll = h("div", { class: "scroll strip" }, this.canvas);
		this.tip = h("p", { class: "tip" });
		this.scale = h("div", { class: "scale", "aria-hidden": "true" });
		this.more = h("button", { type: "button", onclick: () => { this.count *= 4; this.choose(); } });
		this.table = tableBehind("As a table", () => ["port", "whole run", "most", "at"], () => this.worst());
		this.element = this.section();
		new ResizeObserver(() => this.draw()).observe(this.scroll);
		theme.onChange(this.element, () => this.draw());
		this.choose();
	}

	section() {
		return h("section", { id: "strip" },
			h("h2", {}, "Ports over time"),
			h("div", { class: "controls" },
				this.usable.length > 1 ? tabs("Fabric", this.usable.map((f) => ({ value: String(f), label: this.data.fabrics[f].name })), String(this.f), (v) => { this.f = Number(v); this.choose(); }) : null,
				tabs("Colour", this.kinds.map((k) => ({ value: k.key, label: k.label })), this.kind.key, (v) => { this.kind = this.kinds.find((k) => k.key === v); this.choose(); }),
				tabs("Ports", WHICH.map(([value_, label]) => ({ value: value_, label })), this.which, (v) => { this.which = v; this.count = FIRST; this.choose(); }),
				this.uneven ? tabs("Time", [{ value: "samples", label: "by samples" }, { value: "even", label: "even" }], "samples", (v) => { this.even = v === "even"; this.draw(); }) : null),
			h("figure", {}, this.scroll, h("div", { class: "under" }, this.tip, this.scale, exports("ports", () => this.drawing(), () => this.rows())), this.more),
			this.table.element);
	}

	// The worst ports of all; those of a node stand together, the node with the worst first.
	choose() {
		this.series = this.data.series.find((s) => s.f === this.f);
		this.topo = this.data.topologies[this.data.fabrics[this.f].topo];
		this.heat = new Heat(this.data, this.f, this.kind);
		const host = (id) => this.topo.tier[id] === 0;
		const wanted = ({ node, peer }) => this.which === "all" || (this.which === "hosts" ? host(node) : !host(node) && !host(peer));
		const known = (this.heat.found?.ports ?? []).filter((id) => wanted(this.topo.ports[id])).map((id) => ({ id, v: this.heat.amount(id, WHOLE) })).sort((p, q) => q.v - p.v || p.id - q.id);
		const nodes = new Map();
		for (const { id } of known.slice(0, this.count)) {
			const { node } = this.topo.ports[id];
			nodes.set(node, [...(nodes.get(node) ?? []), id]);
		}
		this.ports = [...nodes.values()].flat();
		this.known = known.length;
		this.cursor = null;
		this.more.hidden = known.length <= this.count;
		this.more.textContent = `Show more: ${this.ports.length} of ${known.length} ports are here`;
		this.draw();
		this.table.update();
	}

	draw() {
		if (this.ports === undefined || this.scroll.clientWidth === 0)
			return;
		const ratio = window.devicePixelRatio || 1;
		this.plan(Math.max(260, this.scroll.clientWidth));
		this.canvas.width = this.width * ratio;
		this.canvas.height = this.height * ratio;
		this.canvas.style.width = `${this.width}px`;
		this.canvas.style.height = `${this.height}px`;
		this.canvas.setAttribute("aria-label", `${this.kind.label} of ${this.ports.length} ports of ${this.data.fabrics[this.f].name} over time, the worst first. Arrow keys walk over it, Enter shows the port over time; the table below has the numbers.`);
		const c = this.canvas.getContext("2d");
		c.setTransform(ratio, 0, 0, ratio, 0, 0);
		c.clearRect(0, 0, this.width, this.height);
		this.paint(c);
		this.drawScale();
		this.say();
	}

	plan(width) {
		this.width = width;
		this.left = Math.min(150, Math.round(width * 0.34));
		this.row = this.ports.length <= 24 ? 16 : this.ports.length <= 96 ? 11 : this.ports.length <= 400 ? 5 : 3;
		this.height = this.ports.length * this.row + AXIS + 4;
	}

	drawing() {
		this.plan(Math.max(900, this.width));
		const c = new SvgContext(this.width, this.height);
		this.paint(c);
		this.draw();
		return c.element;
	}

	x(t) {
		const i = intervalAt(this.series, t);
		const part = this.even ? t / endOf(this.series) : (i + (t - this.series.times[i]) / lengthOf(this.series, i)) / this.series.n;
		return this.left + part * (this.width - this.left - 4);
	}

	// Times to write below, so many at most.
	marks(most) {
		const { n, times } = this.series;
		const step = Math.max(1, Math.ceil(n / most));
		return this.even ? ticks(times[n], most) : Array.from(times).filter((_, i) => i % step === 0);
	}

	paint(c) {
		this.ports.forEach((id, k) => this.paintRow(c, id, k * this.row));
		this.paintNames(c);
		this.paintAxis(c);
		if (this.cursor !== null) {
			c.strokeStyle = theme.css("--ink");
			c.lineWidth = 1.5;
			c.strokeRect(this.left - 1, this.cursor.k * this.row - 0.5, this.width - this.left - 2, this.row);
		}
	}

	// Neighbours of one colour are one rectangle.
	paintRow(c, id, y) {
		const { n, times } = this.series;
		const colour = (i) => theme.heat(this.kind.ramp, Math.round(24 * this.heat.share([id], i)) / 24);
		let begin = 0;
		let last = colour(0);
		for (let i = 1; i <= n; i++) {
			const now = i < n ? colour(i) : null;
			if (now === last)
				continue;
			c.fillStyle = last;
			c.fillRect(this.x(times[begin]), y, this.x(times[i]) - this.x(times[begin]) + 0.3, this.row - (this.row > 8 ? 1 : 0));
			[begin, last] = [i, now];
		}
	}

	// The node where its ports begin, and if there is room each port's number and where it leads to.
	paintNames(c) {
		const { ports, names } = { ports: this.topo.ports, names: this.topo.name };
		c.font = `${this.row >= 14 ? 11 : 9.5}px system-ui, sans-serif`;
		c.textBaseline = "middle";
		let free = -1;
		this.ports.forEach((id, k) => {
			const { node, port, peer } = ports[id];
			const y = k * this.row + this.row / 2;
			const begins = k === 0 || ports[this.ports[k - 1]].node !== node;
			c.fillStyle = theme.css(begins ? "--ink" : "--soft");
			c.textAlign = "right";
			const words = this.row > 8 ? `${names[node]}:${port} → ${names[peer]}` : names[node];
			if ((this.row > 8 || begins) && y - 5 >= free) {
				c.fillText(words, this.left - 6, y);
				free = this.row > 8 ? -1 : y + 5;
			}
		});
	}

	paintAxis(c) {
		const y = this.ports.length * this.row + 10;
		c.font = "11px system-ui, sans-serif";
		c.fillStyle = theme.css("--soft");
		c.textBaseline = "middle";
		for (const t of this.marks((this.width - this.left) / 110)) {
			const half = c.measureText(time(t)).width / 2;
			c.textAlign = "center";
			c.fillText(time(t), Math.min(this.x(t), this.width - half - 2), y);
		}
	}

	drawScale() {
		const steps = Array.from({ length: 21 }, (_, i) => theme.heat(this.kind.ramp, i / 20));
		this.scale.replaceChildren(h("span", {}, "0"), h("i", { style: `background: linear-gradient(to right, ${steps.join(",")})` }), h("span", {}, value(this.heat.full, this.kind.unit)));
	}

	at(event) {
		const box = this.canvas.getBoundingClientRect();
		const k = Math.floor((event.clientY - box.top) / this.row);
		const part = Math.max((event.clientX - box.left - this.left) / (this.width - this.left - 4), 0);
		const i = this.even ? intervalAt(this.series, part * endOf(this.series)) : Math.min(Math.floor(part * this.series.n), this.series.n - 1);
		return k >= 0 && k < this.ports.length && part <= 1 ? { k, i } : null;
	}

	point(cursor) {
		if (cursor?.k === this.cursor?.k && cursor?.i === this.cursor?.i)
			return;
		const moved = cursor?.k !== this.cursor?.k;
		this.cursor = cursor;
		if (moved)
			this.draw();
		else
			this.say();
	}

	open(cursor) {
		if (cursor !== null)
			this.openSeries(this.f, `p${this.ports[cursor.k]}`);
	}

	key(event) {
		const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], PageUp: [-10, 0], PageDown: [10, 0] };
		if (event.key === "Enter")
			return this.open(this.cursor);
		if (event.key === "Escape")
			return this.point(null);
		if (!(event.key in moves))
			return;
		event.preventDefault();
		const [dk, di] = this.cursor === null ? [0, 0] : moves[event.key];
		const inside = (v, n) => Math.min(Math.max(v, 0), n - 1);
		this.point({ k: inside((this.cursor?.k ?? 0) + dk, this.ports.length), i: inside((this.cursor?.i ?? 0) + di, this.series.n) });
	}

	say() {
		const { cursor } = this;
		this.tip.textContent = cursor === null ? "A line is a port, its colour how it went. Point at it; a click shows the port below, over time."
			: `${portName(this.topo, this.ports[cursor.k])}, ${time(this.series.times[cursor.i + 1])}: ${this.kind.label} ${value(this.heat.amount(this.ports[cursor.k], cursor.i), this.kind.unit)}`;
	}

	worst() {
		return this.ports.slice(0, 200).map((id) => {
			const row = Array.from({ length: this.series.n }, (_, i) => this.heat.amount(id, i));
			const most = Math.max(...row);
			return [portName(this.topo, id), value(this.heat.amount(id, WHOLE), this.kind.unit), value(most, this.kind.unit), time(this.series.times[row.indexOf(most) + 1])];
		});
	}

	rows() {
		const { n, times } = this.series;
		return [["port", ...Array.from({ length: n }, (_, i) => Math.round(times[i + 1]))],
			...this.ports.map((id) => [portName(this.topo, id), ...Array.from({ length: n }, (_, i) => Number(this.heat.amount(id, i).toPrecision(5)))])];
	}
}
