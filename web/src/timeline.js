// SPDX-License-Identifier: Apache-2.0
// timeline.js - what every rank did when: compute above, communication below, and above hatched when it
// did not compute because of the communication (exposed).
import { h, tableBehind, tabs } from "./dom.js";
import { exports, SvgContext } from "./export.js";
import { asSimulated, time } from "./format.js";
import * as theme from "./theme.js";

const LEFT = 62;
const AXIS = 22;
const COLOURS = {
	light: { compute: "#6b7785", communication: "#3f8ac4", exposed: "#c04f00" },
	dark: { compute: "#7d8a98", communication: "#4d9ad8", exposed: "#ff9a52" },
};
const KINDS = ["compute", "communication", "exposed"];

export function timeline(data) {
	const usable = data.timelines.filter((t) => t.begin.length > 0);
	return usable.length === 0 ? null : new Timeline(data, usable).element;
}

// Distance between ticks so that about count fit into span: 1, 2 or 5 times a power of ten.
function tickStep(span, count) {
	const raw = span / count;
	const power = 10 ** Math.floor(Math.log10(raw));
	return [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw);
}

class Timeline {
	constructor(data, usable) {
		this.data = data;
		this.lines = usable;
		// One scale for all, so that a slower fabric looks slower.
		this.from = Math.min(...usable.map((t) => t.begin.reduce((a, b) => Math.min(a, b))));
		this.to = Math.max(...usable.map((t) => t.begin.reduce((a, b, i) => Math.max(a, b + t.length[i]), 0)));
		this.view = [this.from, this.to];
		this.canvas = h("canvas", {
			tabindex: 0, role: "img", onkeydown: (e) => this.key(e), onwheel: (e) => this.wheel(e),
			onpointerdown: (e) => this.grab(e), onpointermove: (e) => this.move(e), onpointerleave: () => this.say(null), onpointerup: () => { this.grabbed = null; },
		});
		this.scroll = h("div", { class: "scroll tall" }, this.canvas);
		this.tip = h("p", { class: "tip" });
		this.table = tableBehind("Totals of the ranks as a table", () => ["rank", ...KINDS, "end"], () => this.totals());
		this.element = this.section();
		new ResizeObserver(() => this.draw()).observe(this.scroll);
		theme.onChange(this.element, () => this.draw());
		this.choose(0);
	}

	section() {
		const button = (text, label, act) => h("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
		this.key_ = h("ul", { class: "legend key" });
		return h("section", { id: "timeline" },
			h("h2", {}, "Timeline of the ranks"),
			this.data.scale === 1 ? null : h("p", { class: "hint" }, asSimulated(this.data)),
			h("div", { class: "controls" },
				this.lines.length > 1 ? tabs("Fabric", this.lines.map((t, i) => ({ value: String(i), label: this.data.fabrics[t.f].name })), "0", (v) => this.choose(Number(v))) : null,
				h("div", { class: "buttons" }, button("−", "zoom out", () => this.zoom(2)), button("+", "zoom in", () => this.zoom(0.5)),
					button("‹", "earlier", () => this.shift(-0.25)), button("›", "later", () => this.shift(0.25)), button("all", "show all of it", () => this.whole()))),
			h("figure", {}, this.scroll, h("div", { class: "under" }, this.tip, this.key_, exports("timeline", () => this.drawing(), () => this.rows()))),
			this.table.element);
	}

	choose(i) {
		const line = this.lines[i];
		this.line = line;
		this.ranks = [...new Set(line.rank)].sort((a, b) => a - b);
		this.byRank = new Map(this.ranks.map((r) => [r, []]));
		line.rank.forEach((r, k) => this.byRank.get(r).push(k));
		this.draw();
		this.table.update();
		this.say(null);
	}

	totals() {
		const { line } = this;
		return this.ranks.map((r) => {
			const of = (kind) => this.byRank.get(r).filter((k) => line.kind[k] === kind).reduce((s, k) => s + line.length[k], 0);
			const end = this.byRank.get(r).reduce((m, k) => Math.max(m, line.begin[k] + line.length[k]), 0);
			return [`rank ${r}`, ...KINDS.map((_, kind) => time(of(kind))), time(end)];
		});
	}

	x(t) {
		return LEFT + (t - this.view[0]) / (this.view[1] - this.view[0]) * (this.width - LEFT - 8);
	}

	draw() {
		if (this.line === undefined || this.scroll.clientWidth === 0)
			return;
		const ratio = window.devicePixelRatio || 1;
		const { ranks } = this;
		this.width = this.scroll.clientWidth;
		this.row = ranks.length <= 8 ? 34 : ranks.length <= 24 ? 24 : 14;
		this.height = AXIS + ranks.length * this.row + 4;
		this.canvas.width = this.width * ratio;
		this.canvas.height = this.height * ratio;
		this.canvas.style.width = `${this.width}px`;
		this.canvas.style.height = `${this.height}px`;
		this.canvas.setAttribute("aria-label", `What ${ranks.length} ranks of ${this.data.fabrics[this.line.f].name} did from ${time(this.view[0])} to ${time(this.view[1])}. Plus and minus zoom, arrow keys move; the table below has the totals.`);
		const c = this.canvas.getContext("2d");
		c.setTransform(ratio, 0, 0, ratio, 0, 0);
		c.clearRect(0, 0, this.width, this.height);
		this.paint(c);
		this.drawKey();
	}

	paint(c) {
		this.drawAxis(c);
		this.ranks.forEach((r, i) => this.drawRank(c, r, AXIS + i * this.row));
	}

	drawing() {
		const c = new SvgContext(this.width, this.height);
		this.paint(c);
		return c.element;
	}

	rows() {
		const { line } = this;
		return [["rank", "kind", "name", "begin (ps)", "length (ps)"], ...line.rank.map((r, k) => [r, KINDS[line.kind[k]], line.name[k], line.begin[k], line.length[k]])];
	}

	drawAxis(c) {
		const [from, to] = this.view;
		const step = tickStep(to - from, Math.max(2, (this.width - LEFT) / 110));
		c.font = "11px system-ui, sans-serif";
		c.textBaseline = "middle";
		c.textAlign = "center";
		c.lineWidth = 1;
		for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
			const x = Math.round(this.x(t)) + 0.5;
			c.strokeStyle = theme.css("--grid");
			c.beginPath();
			c.moveTo(x, AXIS - 5);
			c.lineTo(x, this.height);
			c.stroke();
			c.fillStyle = theme.css("--soft");
			const label = time(Math.round(t / step) * step);
			const half = c.measureText(label).width / 2;
			c.fillText(label, Math.min(x, this.width - half - 1), 8);
		}
	}

	drawRank(c, r, top) {
		const { line, row } = this;
		const half = Math.floor((row - 4) / 2);
		const colours = COLOURS[theme.mode()];
		c.save();
		c.beginPath();
		c.rect(LEFT, top, this.width - LEFT - 8, row);
		c.clip();
		for (const pass of [0, 1, 2]) {
			for (const k of this.byRank.get(r)) {
				if (line.kind[k] !== pass)
					continue;
				const x = this.x(line.begin[k]);
				const w = Math.max(this.x(line.begin[k] + line.length[k]) - x, 0.6);
				if (x > this.width || x + w < LEFT)
					continue;
				c.fillStyle = colours[KINDS[pass]];
				if (pass === 2)
					this.hatch(c, x, top + 2, w, half - 1);
				else
					c.fillRect(x, top + 2 + pass * half, w > 3 ? w - 0.5 : w, half - 1);
			}
		}
		c.restore();
		const every = Math.ceil(12 / row);
		if (this.ranks.indexOf(r) % every === 0) {
			c.fillStyle = theme.css("--soft");
			c.textAlign = "right";
			c.textBaseline = "middle";
			c.fillText(`rank ${r}`, LEFT - 8, top + row / 2);
		}
	}

	hatch(c, x, y, w, height) {
		c.save();
		c.beginPath();
		c.rect(x, y, w, height);
		c.clip();
		c.globalAlpha = 0.25;
		c.fillRect(x, y, w, height);
		c.globalAlpha = 1;
		c.strokeStyle = c.fillStyle;
		c.lineWidth = 1.5;
		c.beginPath();
		for (let at = Math.floor(Math.max(x, LEFT) / 5) * 5 - height; at < Math.min(x + w, this.width); at += 5) {
			c.moveTo(at, y + height);
			c.lineTo(at + height, y);
		}
		c.stroke();
		c.restore();
	}

	drawKey() {
		const text = ["compute", "communication", "exposed: waiting for communication"];
		this.key_.replaceChildren(...KINDS.map((kind, i) => h("li", {},
			h("i", { class: `chip ${kind}`, style: `--chip: ${COLOURS[theme.mode()][kind]}` }), text[i])));
	}

	zoom(factor, at = (this.view[0] + this.view[1]) / 2) {
		const least = (this.to - this.from) / 1e6;
		const span = Math.min(Math.max((this.view[1] - this.view[0]) * factor, least), this.to - this.from);
		const share = (at - this.view[0]) / (this.view[1] - this.view[0]);
		this.set(at - share * span, span);
	}

	shift(part) {
		const span = this.view[1] - this.view[0];
		this.set(this.view[0] + part * span, span);
	}

	set(start, span) {
		const from = Math.min(Math.max(start, this.from), this.to - span);
		this.view = [from, from + span];
		this.draw();
	}

	whole() {
		this.view = [this.from, this.to];
		this.draw();
	}

	key(event) {
		const act = {
			"+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2), 0: () => this.whole(),
			ArrowLeft: () => this.shift(-0.1), ArrowRight: () => this.shift(0.1),
		}[event.key];
		if (act === undefined || event.ctrlKey || event.metaKey)
			return;
		event.preventDefault();
		act();
	}

	wheel(event) {
		if (!event.ctrlKey && !event.shiftKey)
			return;
		event.preventDefault();
		const delta = event.deltaY || event.deltaX;
		this.zoom(delta > 0 ? 1.25 : 0.8, this.at(event).t);
	}

	at(event) {
		const box = this.canvas.getBoundingClientRect();
		const t = this.view[0] + (event.clientX - box.left - LEFT) / (this.width - LEFT - 8) * (this.view[1] - this.view[0]);
		return { t, row: Math.floor((event.clientY - box.top - AXIS) / this.row) };
	}

	grab(event) {
		if (event.pointerType === "mouse")
			this.grabbed = { x: event.clientX, start: this.view[0] };
	}

	move(event) {
		if (this.grabbed && event.buttons === 1) {
			const span = this.view[1] - this.view[0];
			this.set(this.grabbed.start - (event.clientX - this.grabbed.x) / (this.width - LEFT - 8) * span, span);
			return;
		}
		this.say(this.at(event));
	}

	say(at) {
		const rank = at === null ? undefined : this.ranks[at.row];
		const { line } = this;
		const found = rank === undefined ? [] : this.byRank.get(rank).filter((k) => line.begin[k] <= at.t && at.t < line.begin[k] + line.length[k]);
		this.tip.textContent = found.length > 0 ? `rank ${rank}, ${time(at.t)}: ${found.slice(0, 4).map((k) => `${KINDS[line.kind[k]]} “${line.name[k]}” ${time(line.length[k])}`).join("; ")}`
			: [this.data.rankStep > 1 ? `Ranks 0, ${this.data.rankStep}, ${2 * this.data.rankStep} … are shown.` : "", "Drag to move, Ctrl and the wheel or + and − to zoom."].filter(Boolean).join(" ");
	}
}

