// SPDX-License-Identifier: Apache-2.0
// map.js - the topology as a heat map with a time slider.
import { portName, quantity } from "./data.js";
import { h, tableBehind, tabs } from "./dom.js";
import { time, value } from "./format.js";
import { layout, path } from "./layout.js";
import * as theme from "./theme.js";

const KINDS = [
	{ key: "tx", label: "utilisation", ramp: "blue", unit: "ratio" },
	{ key: "stopped", label: "stopped", ramp: "red", unit: "ratio" },
	{ key: "queue", label: "queue", ramp: "green", unit: "B" },
];
const PLAY_MS = 12000;

// The heat of one fabric: of kind, at sample i, for a port; 0 to 1, and as text.
class Heat {
	constructor(data, f, kind) {
		this.topo = data.topologies[data.fabrics[f].topo];
		this.kind = kind;
		this.found = quantity(data, f, kind.key);
		// A queue has no natural full: the longest of any fabric is it, so that fabrics compare.
		this.full = kind.key === "queue" ? Math.max(1, ...data.series.flatMap((s) =>
			s.kinds.filter((k) => k.key === "queue" && k.queue === null).flatMap((k) => k.max))) : 1;
	}

	amount(port, i) {
		if (this.found === undefined)
			return 0;
		const v = this.found.row(port)[i];
		return this.kind.key === "tx" ? v / this.topo.ports[port].rate : v;
	}

	share(ports, i) {
		let most = 0;
		for (const port of ports)
			most = Math.max(most, this.amount(port, i) / this.full);
		return Math.min(most, 1);
	}
}

export function map(data, openSeries) {
	const usable = data.fabrics.map((_, f) => f).filter((f) => data.series.some((s) => s.f === f));
	if (usable.length === 0)
		return null;
	const kinds = KINDS.filter((k) => data.series.some((s) => s.kinds.some((c) => c.key === k.key && c.queue === null)));
	return new TopologyMap(data, usable, kinds, openSeries).element;
}

class TopologyMap {
	constructor(data, usable, kinds, openSeries) {
		Object.assign(this, { data, usable, kinds, openSeries, f: usable[0], kind: kinds[0], node: null, hover: null, playing: 0 });
		this.canvas = h("canvas", {
			tabindex: 0, role: "img",
			onmousemove: (e) => this.over(e), onmouseleave: () => this.point(null), onclick: (e) => this.click(e), onkeydown: (e) => this.key(e),
		});
		this.slider = h("input", { type: "range", min: 0, value: 0, "aria-label": "time", oninput: () => { this.stop(); this.draw(); } });
		this.play = h("button", { type: "button", class: "play", onclick: () => (this.playing ? this.stop() : this.start()) }, "▶ Play");
		this.clock = h("output", { class: "clock" });
		this.tip = h("p", { class: "tip" });
		this.scale = h("div", { class: "scale", "aria-hidden": "true" });
		this.scroll = h("div", { class: "scroll map" }, this.canvas);
		this.panel = h("div", { class: "panel" });
		this.table = tableBehind("The twenty hottest ports at this time", () => ["port", ...this.kinds.map((k) => k.label)], () => this.hot());
		this.element = this.section();
		new ResizeObserver(() => this.fit()).observe(this.scroll);
		theme.onChange(this.element, () => this.fit());
		this.choose();
		this.slider.value = this.busiest();
		this.fit();
	}

	section() {
		return h("section", { id: "map" },
			h("h2", {}, "Topology"),
			h("div", { class: "controls" },
				this.usable.length > 1 ? tabs("Fabric", this.usable.map((f) => ({ value: String(f), label: this.data.fabrics[f].name })), String(this.f), (v) => {
					const before = this.now();
					this.f = Number(v);
					this.choose();
					this.slider.value = Math.round(before / this.series().step) - 1;
					this.fit();
				}) : null,
				tabs("Colour", this.kinds.map((k) => ({ value: k.key, label: k.label })), this.kind.key, (v) => {
					this.kind = this.kinds.find((k) => k.key === v);
					this.choose();
					this.draw();
				})),
			h("div", { class: "controls time" }, this.play, this.slider, this.clock),
			h("figure", {}, this.scroll, h("div", { class: "under" }, this.tip, this.scale)),
			this.panel, this.table.element);
	}

	series() {
		return this.data.series.find((s) => s.f === this.f);
	}

	index() {
		return Math.min(Number(this.slider.value), this.series().n - 1);
	}

	now() {
		return (this.index() + 1) * this.series().step;
	}

	// After another fabric or kind was chosen.
	choose() {
		this.topo = this.data.topologies[this.data.fabrics[this.f].topo];
		this.heats = new Map(this.kinds.map((k) => [k.key, new Heat(this.data, this.f, k)]));
		this.heat = this.heats.get(this.kind.key);
		this.slider.max = this.series().n - 1;
		if (this.node !== null && this.node >= this.topo.name.length)
			this.node = null;
	}

	// The sample with the most going on: a better first picture than an idle fabric.
	busiest() {
		const { n } = this.series();
		const total = new Float64Array(n);
		for (const port of this.topo.ports)
			for (let i = 0; i < n; i++)
				total[i] += this.heat.amount(port.id, i);
		return total.indexOf(Math.max(...total));
	}

	fit() {
		const width = Math.max(240, this.scroll.clientWidth);
		this.plan = layout(this.topo, width);
		const ratio = window.devicePixelRatio || 1;
		this.canvas.width = this.plan.width * ratio;
		this.canvas.height = this.plan.height * ratio;
		this.canvas.style.width = `${this.plan.width}px`;
		this.canvas.style.height = `${this.plan.height}px`;
		this.draw();
	}

	start() {
		const { n } = this.series();
		if (this.index() >= n - 1)
			this.slider.value = 0;
		this.play.textContent = "❚❚ Pause";
		this.playing = setInterval(() => {
			if (this.index() >= n - 1)
				return this.stop();
			this.slider.value = this.index() + 1;
			this.draw();
		}, Math.max(40, PLAY_MS / n));
	}

	stop() {
		clearInterval(this.playing);
		this.playing = 0;
		this.play.textContent = "▶ Play";
	}

	draw() {
		const { plan, topo, heat, kind } = this;
		const i = this.index();
		const c = this.canvas.getContext("2d");
		const ratio = window.devicePixelRatio || 1;
		c.setTransform(ratio, 0, 0, ratio, 0, 0);
		c.clearRect(0, 0, plan.width, plan.height);
		this.drawLinks(c, i);
		topo.name.forEach((_, id) => {
			const b = plan.box[id];
			if (b === undefined)
				return;
			c.fillStyle = theme.heat(kind.ramp, heat.share(this.portsAt(id), i));
			c.fillRect(b.x, b.y, b.w, b.h);
			if (topo.tier[id] === 0 && b.w >= 24) {
				c.fillStyle = theme.css("--soft");
				c.font = "11px system-ui, sans-serif";
				c.textAlign = "center";
				c.textBaseline = "top";
				c.fillText(topo.name[id], b.x + b.w / 2, b.y + b.h + 3);
			}
			if (topo.tier[id] > 0) {
				c.strokeStyle = theme.css("--soft");
				c.lineWidth = 1;
				c.strokeRect(b.x + 0.5, b.y + 0.5, b.w - 1, b.h - 1);
			}
		});
		this.drawLabels(c);
		for (const id of [this.node, this.hover?.node])
			this.frame(c, id);
		this.clock.textContent = time(this.now());
		this.slider.setAttribute("aria-valuetext", time(this.now()));
		this.canvas.setAttribute("aria-label", `Topology of ${this.data.fabrics[this.f].name} coloured by ${kind.label} at ${time(this.now())}. Arrow keys walk from node to node; the table below has the numbers.`);
		this.drawScale();
		this.drawPanel();
		this.table.update();
		this.say();
	}

	// Both directions of a host's link; the ports that a switch sends from.
	portsAt(id) {
		const own = this.topo.nodePorts[id];
		return this.topo.tier[id] === 0 ? own.flatMap((p) => [p, p ^ 1]) : own;
	}

	drawLinks(c, i) {
		const lines = this.plan.links.map((link) => ({ link, share: this.heat.share(link.ports, i) }));
		lines.sort((p, q) => p.share - q.share);
		const thin = lines.length > 400 ? 0.5 : 1;
		for (const { link, share } of lines) {
			if (link.cell) {
				c.fillStyle = theme.heat(this.kind.ramp, share);
				c.fillRect(link.cell.x, link.cell.y, link.cell.w, link.cell.h);
				continue;
			}
			c.beginPath();
			c.strokeStyle = theme.heat(this.kind.ramp, share);
			c.lineWidth = thin + (link === this.hover?.link ? 3 : 0) + 2.5 * share;
			for (const p of path(link, this.plan))
				c.lineTo(p.x, p.y);
			c.stroke();
		}
	}

	drawLabels(c) {
		const { plan, topo } = this;
		c.font = "11px system-ui, sans-serif";
		c.textAlign = "center";
		c.textBaseline = "bottom";
		c.fillStyle = theme.css("--soft");
		for (const row of plan.rows) {
			const widest = Math.max(...row.map((id) => c.measureText(topo.name[id]).width));
			const step = row.length > 1 ? plan.box[row[1]].x - plan.box[row[0]].x : plan.width;
			const every = Math.ceil((widest + 6) / step);
			if (every > row.length / 2 && row.length > 2)
				continue;
			row.forEach((id, i) => {
				if (i % every !== 0)
					return;
				const b = plan.box[id];
				const w = c.measureText(topo.name[id]).width;
				const x = Math.min(Math.max(b.x + b.w / 2, w / 2 + 1), plan.width - w / 2 - 1);
				c.fillStyle = theme.css("--paper");
				c.fillRect(x - w / 2 - 2, b.y - 14, w + 4, 13);
				c.fillStyle = theme.css("--soft");
				c.fillText(topo.name[id], x, b.y - 2);
			});
		}
	}

	frame(c, id) {
		const b = id === null || id === undefined ? undefined : this.plan.box[id];
		if (b === undefined)
			return;
		c.strokeStyle = theme.css("--ink");
		c.lineWidth = 2;
		c.strokeRect(b.x - 2, b.y - 2, b.w + 4, b.h + 4);
	}

	drawScale() {
		const steps = Array.from({ length: 21 }, (_, i) => theme.heat(this.kind.ramp, i / 20));
		this.scale.replaceChildren(h("span", {}, "0"),
			h("i", { style: `background: linear-gradient(to right, ${steps.join(",")})` }),
			h("span", {}, value(this.heat.full, this.kind.unit)));
	}

	// The ports of the chosen node, in numbers.
	drawPanel() {
		if (this.node === null)
			return this.panel.replaceChildren();
		const i = this.index();
		const name = this.topo.name[this.node];
		this.panel.replaceChildren(
			h("h3", {}, `${name} at ${time(this.now())}`,
				h("button", { type: "button", onclick: () => this.openSeries(`n${this.node}`) }, "over time"),
				h("button", { type: "button", onclick: () => { this.node = null; this.draw(); } }, "close")),
			h("div", { class: "scroll" }, h("table", { class: "plain" },
				h("thead", {}, h("tr", {}, ["Port", "To", ...this.kinds.map((k) => k.label)].map((t) => h("th", { scope: "col" }, t)))),
				h("tbody", {}, this.topo.nodePorts[this.node].map((id) => h("tr", {},
					h("th", { scope: "row" }, this.topo.ports[id].port), h("td", {}, this.topo.name[this.topo.ports[id].peer]),
					this.kinds.map((k) => h("td", { class: "number" }, value(this.heats.get(k.key).amount(id, i), k.unit)))))))));
	}

	hot() {
		const i = this.index();
		return this.topo.ports.map((p) => ({ id: p.id, v: this.heat.amount(p.id, i) })).sort((p, q) => q.v - p.v || p.id - q.id).slice(0, 20)
			.map(({ id }) => [portName(this.topo, id), ...this.kinds.map((k) => value(this.heats.get(k.key).amount(id, i), k.unit))]);
	}

	find(event) {
		const box = this.canvas.getBoundingClientRect();
		const at = { x: event.clientX - box.left, y: event.clientY - box.top };
		const inside = (b, room) => b && at.x >= b.x - room && at.x <= b.x + b.w + room && at.y >= b.y - room && at.y <= b.y + b.h + room;
		const node = this.plan.box.findIndex((b) => inside(b, 1));
		if (node >= 0)
			return { node };
		let best = null;
		let near = 5;
		for (const link of this.plan.links) {
			const points = link.cell ? [] : path(link, this.plan);
			const away = link.cell ? (inside(link.cell, 0) ? 0 : Infinity) : Math.min(...points.slice(1).map((q, i) => distance(at, points[i], q)));
			if (away < near)
				[near, best] = [away, link];
		}
		return best === null ? null : { link: best };
	}

	over(event) {
		this.point(this.find(event));
	}

	point(hover) {
		if (hover?.node === this.hover?.node && hover?.link === this.hover?.link)
			return;
		this.hover = hover;
		this.draw();
	}

	click(event) {
		const found = this.find(event);
		if (found?.node !== undefined) {
			this.node = found.node;
			this.draw();
		}
	}

	say() {
		const i = this.index();
		const ports = this.hover?.link?.ports ?? (this.hover ? this.portsAt(this.hover.node) : null);
		if (ports === null) {
			this.tip.textContent = `Point at a node or a link; click a node for its ports.${this.plan.links.some((l) => l.cell) ? " In the matrix a column is the switch below it and the rows are its links to the tier above." : ""}`;
			return;
		}
		const worst = ports.reduce((p, q) => (this.heat.amount(q, i) > this.heat.amount(p, i) ? q : p), ports[0]);
		this.tip.textContent = worst === undefined ? "" : `${portName(this.topo, worst)}: ${this.kinds.map((k) => `${k.label} ${value(this.heats.get(k.key).amount(worst, i), k.unit)}`).join(", ")}`;
	}

	key(event) {
		const { box, rows } = this.plan;
		const hosts = this.topo.name.map((_, id) => id).filter((id) => this.topo.tier[id] === 0);
		const lines = [hosts, ...rows].filter((r) => r.length > 0);
		const line = Math.max(0, lines.findIndex((r) => r.includes(this.node)));
		const i = lines[line].indexOf(this.node);
		const nearest = (row) => row.reduce((p, q) => (Math.abs(box[q].x - box[this.node].x) < Math.abs(box[p].x - box[this.node].x) ? q : p));
		let next = null;
		if (event.key === "ArrowRight" || event.key === "ArrowLeft")
			next = lines[line][(i + (event.key === "ArrowRight" ? 1 : lines[line].length - 1)) % lines[line].length];
		else if (event.key === "ArrowUp" && this.node !== null && line + 1 < lines.length)
			next = nearest(lines[line + 1]);
		else if (event.key === "ArrowDown" && this.node !== null && line > 0)
			next = nearest(lines[line - 1]);
		else if (event.key !== "Escape")
			return;
		event.preventDefault();
		this.node = next;
		this.draw();
	}
}

function distance(at, p, q) {
	const dx = q.x - p.x;
	const dy = q.y - p.y;
	const t = Math.min(Math.max(((at.x - p.x) * dx + (at.y - p.y) * dy) / (dx * dx + dy * dy), 0), 1);
	return Math.hypot(at.x - p.x - t * dx, at.y - p.y - t * dy);
}

