// SPDX-License-Identifier: Apache-2.0
// map.js - the topology as a heat map with a time slider.
import { intervalAt, portName } from "./data.js";
import { h, select, tableBehind, tabs } from "./dom.js";
import { exports, SvgContext } from "./export.js";
import { time, value } from "./format.js";
import { Difference, Heat, kindsOf, WHOLE } from "./heat.js";
import { layout, path } from "./layout.js";
import * as theme from "./theme.js";

const PLAY_MS = 12000;

export function map(data, openSeries) {
	const usable = data.fabrics.map((_, f) => f).filter((f) => data.series.some((s) => s.f === f));
	if (usable.length === 0)
		return null;
	const shown = new TopologyMap(data, usable, kindsOf(data), openSeries);
	shown.element.map = shown;
	return shown.element;
}

class TopologyMap {
	constructor(data, usable, kinds, openSeries) {
		Object.assign(this, { data, usable, kinds, openSeries, f: usable[0], other: null, whole: false, kind: kinds[0], node: null, hover: null, playing: 0 });
		this.canvas = h("canvas", {
			tabindex: 0, role: "img",
			onmousemove: (e) => this.over(e), onmouseleave: () => this.point(null), onclick: (e) => this.click(e), onkeydown: (e) => this.key(e),
		});
		this.slider = h("input", { type: "range", min: 0, value: 0, "aria-label": "time", oninput: () => { this.stop(); this.setWhole(false); } });
		this.play = h("button", { type: "button", class: "play", onclick: () => (this.playing ? this.stop() : this.start()) }, "▶ Play");
		this.all = h("button", { type: "button", "aria-pressed": "false", title: "the mean of the whole run; of queues the longest", onclick: () => this.setWhole(!this.whole) }, "Whole run");
		this.clock = h("output", { class: "clock" });
		this.against = h("span");
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
					const before = this.moment();
					this.f = Number(v);
					this.choose();
					this.slider.value = intervalAt(this.series(), before);
					this.fit();
				}) : null,
				tabs("Colour", this.kinds.map((k) => ({ value: k.key, label: k.label })), this.kind.key, (v) => {
					this.kind = this.kinds.find((k) => k.key === v);
					this.choose();
					this.draw();
				}),
				this.against),
			h("div", { class: "controls time" }, this.play, this.slider, this.clock, this.all),
			h("figure", {}, this.scroll, h("div", { class: "under" }, this.tip, this.scale,
				exports("map", () => this.drawing(), () => this.rows()))),
			this.panel, this.table.element);
	}

	drawing() {
		const c = new SvgContext(this.plan.width, this.plan.height);
		this.paint(c);
		return c.element;
	}

	rows() {
		const i = this.index();
		return [["node", "port", "to", ...this.kinds.map((k) => `${k.label} (${k.unit === "ratio" ? "share" : k.unit})`)],
			...this.topo.ports.map((p) => [this.topo.name[p.node], p.port, this.topo.name[p.peer], ...this.kinds.map((k) => this.heats.get(k.key).amount(p.id, i))])];
	}

	setWhole(whole) {
		this.whole = whole;
		this.all.setAttribute("aria-pressed", String(whole));
		if (whole)
			this.stop();
		this.draw();
	}

	// Fabrics on the same topology can be set against each other.
	drawAgainst() {
		const same = this.usable.filter((f) => f !== this.f && this.data.fabrics[f].topo === this.data.fabrics[this.f].topo);
		if (!same.includes(this.other))
			this.other = null;
		this.against.replaceChildren(...(same.length === 0 ? [] : [select("Less", [{ value: "", label: "nothing" }, ...same.map((f) => ({ value: f, label: this.data.fabrics[f].name }))], this.other ?? "", (v) => {
			this.other = v === "" ? null : Number(v);
			this.choose();
			this.setWhole(this.other !== null);
		})]));
	}

	series() {
		return this.data.series.find((s) => s.f === this.f);
	}

	// The sample that the slider stands at.
	at() {
		return Math.min(Number(this.slider.value), this.series().n - 1);
	}

	index() {
		return this.whole ? WHOLE : this.at();
	}

	moment() {
		return this.series().times[this.at() + 1];
	}

	now() {
		return this.whole ? "the whole run" : time(this.moment());
	}

	// After another fabric or kind was chosen.
	choose() {
		this.topo = this.data.topologies[this.data.fabrics[this.f].topo];
		this.drawAgainst();
		this.heats = new Map(this.kinds.map((k) => {
			const heat = new Heat(this.data, this.f, k);
			return [k.key, this.other === null ? heat : new Difference(heat, new Heat(this.data, this.other, k))];
		}));
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
		if (this.at() >= n - 1)
			this.slider.value = 0;
		this.setWhole(false);
		this.play.textContent = "❚❚ Pause";
		this.playing = setInterval(() => {
			if (this.at() >= n - 1)
				return this.stop();
			this.slider.value = this.at() + 1;
			this.draw();
		}, Math.max(40, PLAY_MS / n));
	}

	stop() {
		clearInterval(this.playing);
		this.playing = 0;
		this.play.textContent = "▶ Play";
	}

	// The colour of ports together.
	colour(ports, i) {
		const share = this.heat.share(ports, i);
		return this.other === null ? theme.heat(this.kind.ramp, share) : theme.heat("difference", (share + 1) / 2);
	}

	draw() {
		if (this.plan === undefined)
			return;
		const { kind } = this;
		const c = this.canvas.getContext("2d");
		const ratio = window.devicePixelRatio || 1;
		c.setTransform(ratio, 0, 0, ratio, 0, 0);
		c.clearRect(0, 0, this.plan.width, this.plan.height);
		this.paint(c);
		for (const id of [this.node, this.hover?.node])
			this.frame(c, id);
		this.clock.textContent = time(this.moment());
		this.slider.setAttribute("aria-valuetext", time(this.moment()));
		const less = this.other === null ? "" : ` less ${this.data.fabrics[this.other].name}`;
		this.canvas.setAttribute("aria-label", `Topology of ${this.data.fabrics[this.f].name}${less} coloured by ${kind.label} at ${this.now()}. Arrow keys walk from node to node; the table below has the numbers.`);
		this.drawScale();
		this.drawPanel();
		this.table.update();
		this.say();
	}

	paint(c) {
		const { plan, topo } = this;
		const i = this.index();
		this.drawLinks(c, i);
		topo.name.forEach((_, id) => {
			const b = plan.box[id];
			if (b === undefined)
				return;
			c.fillStyle = this.colour(this.portsAt(id), i);
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
		this.drawLabels(c, i);
	}

	// Both directions of a host's link; the ports that a switch sends from.
	portsAt(id) {
		const own = this.topo.nodePorts[id];
		return this.topo.tier[id] === 0 ? own.flatMap((p) => [p, p ^ 1]) : own;
	}

	drawLinks(c, i) {
		const lines = this.plan.links.map((link) => ({ link, share: this.heat.share(link.ports, i) }));
		lines.sort((p, q) => Math.abs(p.share) - Math.abs(q.share));
		// Parallel links stay apart, however many there are.
		const thin = lines.length > 400 ? 0.5 : lines.length > 100 ? 0.8 : 1.2;
		const more = lines.length > 400 ? 1 : lines.length > 100 ? 1.7 : 2.3;
		for (const { link, share } of lines) {
			if (link.cell) {
				c.fillStyle = this.colour(link.ports, i);
				c.fillRect(link.cell.x, link.cell.y, link.cell.w, link.cell.h);
				continue;
			}
			c.beginPath();
			c.strokeStyle = this.colour(link.ports, i);
			c.lineWidth = thin + (link === this.hover?.link ? 3 : 0) + more * Math.abs(share);
			for (const p of path(link, this.plan))
				c.lineTo(p.x, p.y);
			c.stroke();
		}
	}

	// A switch's name is on it, or where it is too small, above some of its row.
	drawLabels(c, i) {
		const { plan, topo } = this;
		c.font = "11px system-ui, sans-serif";
		c.textAlign = "center";
		for (const row of plan.rows) {
			const wide = row.map((id) => c.measureText(topo.name[id]).width);
			const widest = Math.max(...wide);
			const step = row.length > 1 ? plan.box[row[1]].x - plan.box[row[0]].x : plan.width;
			const inside = row.every((id, k) => wide[k] + 6 <= plan.box[id].w);
			const every = inside ? 1 : Math.ceil((widest + 6) / step);
			if (every > row.length / 2 && row.length > 2)
				continue;
			row.forEach((id, k) => {
				const b = plan.box[id];
				const x = Math.min(Math.max(b.x + b.w / 2, wide[k] / 2 + 1), plan.width - wide[k] / 2 - 1);
				if (k % every !== 0)
					return;
				c.textBaseline = inside ? "middle" : "bottom";
				c.fillStyle = theme.css("--paper");
				if (!inside)
					c.fillRect(x - wide[k] / 2 - 2, b.y - 14, wide[k] + 4, 13);
				c.fillStyle = inside ? theme.inkOn(this.colour(this.portsAt(id), i)) : theme.css("--soft");
				c.fillText(topo.name[id], x, inside ? b.y + b.h / 2 + 0.5 : b.y - 2);
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
		const two = this.other !== null;
		const steps = Array.from({ length: 21 }, (_, i) => theme.heat(two ? "difference" : this.kind.ramp, i / 20));
		const full = value(two ? this.heat.full(this.index()) : this.heat.full, this.kind.unit);
		const name = (f) => this.data.fabrics[f].name;
		this.scale.replaceChildren(h("span", {}, two ? `${name(this.other)} ${full} more` : "0"),
			h("i", { style: `background: linear-gradient(to right, ${steps.join(",")})` }),
			h("span", {}, two ? `${name(this.f)} ${full} more` : full));
	}

	// The ports of the chosen node, in numbers.
	drawPanel() {
		if (this.node === null)
			return this.panel.replaceChildren();
		const i = this.index();
		const name = this.topo.name[this.node];
		this.panel.replaceChildren(
			h("h3", {}, `${name} at ${this.now()}`,
				h("button", { type: "button", onclick: () => this.openSeries(this.f, `n${this.node}`) }, "over time"),
				h("button", { type: "button", onclick: () => { this.node = null; this.draw(); } }, "close")),
			h("div", { class: "scroll" }, h("table", { class: "plain" },
				h("thead", {}, h("tr", {}, ["Port", "To", ...this.kinds.map((k) => k.label)].map((t) => h("th", { scope: "col" }, t)))),
				h("tbody", {}, this.topo.nodePorts[this.node].map((id) => h("tr", {},
					h("th", { scope: "row" }, this.topo.ports[id].port), h("td", {}, this.topo.name[this.topo.ports[id].peer]),
					this.kinds.map((k) => h("td", { class: "number" }, value(this.heats.get(k.key).amount(id, i), k.unit)))))))));
	}

	hot() {
		const i = this.index();
		return this.topo.ports.map((p) => ({ id: p.id, v: this.heat.amount(p.id, i) })).sort((p, q) => Math.abs(q.v) - Math.abs(p.v) || p.id - q.id).slice(0, 20)
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
			const whole = this.other !== null ? " Of the whole run: what a port did in it, over the longer one of both." : " Of the whole run: the mean, or the longest queue.";
			this.tip.textContent = `Point at a node or a link; click a node for its ports.${this.whole ? whole : ""}${this.plan.links.some((l) => l.cell) ? " In the matrix a column is the switch below it and the rows are its links to the tier above." : ""}`;
			return;
		}
		const worst = ports.reduce((p, q) => (Math.abs(this.heat.amount(q, i)) > Math.abs(this.heat.amount(p, i)) ? q : p), ports[0]);
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

