// SPDX-License-Identifier: Apache-2.0
// layout.js - where the nodes of a topology are drawn: tiers of switches above each other, the hosts of
// a leaf as a block of cells below it. Works from two hosts to thousands.

const PAD = 14;
const TIER = 84; // from one tier of switches to the next
const MANY = 1000; // more links than this between two tiers are a matrix instead of lines
const MATRIX = 220; // about how high it may be
const ARC = 90; // the highest arc between switches of one tier
const SWITCH = 16; // height of a switch
const APART = 12; // of the ends of links at a switch, where there is room for it

// Returns {width, height, box: [{x, y, w, h}] by node, links: [{a, b, ports, ends, nth, cell}], rows}; width is
// at least the given one, and more where the leaves need it. Every link is drawn, parallel ones side by side:
// ends has the x of both ends by node, and nth counts those between the same two. cell is the place of a link in a matrix: between
// the tiers, a column for each switch of the lower one, right above it, with its links from top to bottom.
export function layout(topo, width) {
	const n = topo.name.length;
	const leaf = leaves(topo);
	const slots = [...new Set(leaf.filter((l) => l >= 0))].sort((a, b) => topo.pod[a] - topo.pod[b] || a - b);
	const rows = tiers(topo, slots);
	const box = new Array(n);
	const inner = Math.max(width - 2 * PAD, slots.length * 7);
	const slot = inner / Math.max(slots.length, 1);
	const links = cables(topo, leaf);
	const atSwitch = new Map();
	for (const link of links)
		for (const id of [link.a, link.b])
			atSwitch.set(id, (atSwitch.get(id) ?? 0) + 1);
	const gaps = rows.slice(1).map((row, i) => gap(links, rows[i], row));
	const arcs = links.some((l) => rows.some((row) => row.includes(l.a) && row.includes(l.b)));
	const level = (i) => PAD + 12 + (arcs ? ARC : 0) + gaps.slice(i).reduce((sum, g) => sum + g.height, 0);
	const leafY = level(0);

	rows.forEach((row, i) => {
		const y = level(i);
		const step = i === 0 ? slot : inner / row.length;
		row.forEach((id, k) => {
			const w = Math.max(3, Math.min(step - 3, step * 0.8, Math.max(96, APART * (atSwitch.get(id) ?? 0))));
			box[id] = { x: PAD + (k + 0.5) * step - w / 2, y, w, h: SWITCH };
		});
	});
	placeEnds(links, box);
	gaps.forEach((g, i) => g.cell > 0 && placeCells(g, rows[i], level(i + 1) + SWITCH + 8, box));
	const bottom = placeHosts(leaf, slots, box, { slot, y: leafY + SWITCH + 10 });
	return { width: inner + 2 * PAD, height: Math.ceil(bottom + PAD), box, links, rows };
}

// What lies between two tiers: lines, or a matrix with rows of cell pixels.
function gap(links, lower, upper) {
	const up = new Set(upper);
	const down = new Set(lower);
	const between = links.filter((l) => (up.has(l.a) && down.has(l.b)) || (up.has(l.b) && down.has(l.a)));
	if (between.length <= MANY)
		return { height: between.some((l) => l.nth > 0) ? 2 * TIER : TIER, cell: 0 };
	const columns = new Map(lower.map((id) => [id, []]));
	for (const link of between)
		columns.get(up.has(link.a) ? link.b : link.a).push(link);
	const most = Math.max(...[...columns.values()].map((list) => list.length));
	const cell = Math.max(1, Math.min(8, Math.floor(MATRIX / most)));
	return { height: SWITCH + most * cell + 34, cell, columns };
}

function placeCells({ columns, cell }, lower, top, box) {
	const width = lower.length > 1 ? box[lower[1]].x - box[lower[0]].x : box[lower[0]].w;
	for (const [id, links] of columns) {
		links.forEach((link, i) => {
			link.cell = { x: box[id].x + box[id].w / 2 - width / 2, y: top + i * cell, w: width - 0.5, h: cell - (cell > 4 ? 0.5 : 0) };
		});
	}
}

// The ends of a switch's links are spread over it, in the order of where they lead to.
function placeEnds(links, box) {
	const ends = new Map();
	const x = (id) => (box[id] === undefined ? 0 : box[id].x + box[id].w / 2);
	for (const link of links) {
		link.ends = {};
		for (const [at, to] of [[link.a, link.b], [link.b, link.a]]) {
			if (box[at] === undefined)
				continue;
			const side = `${at} ${Math.sign(box[to].y - box[at].y)}`;
			ends.set(side, [...(ends.get(side) ?? []), { link, at, to }]);
		}
	}
	for (const list of ends.values()) {
		list.sort((p, q) => x(p.to) - x(q.to) || p.link.nth - q.link.nth);
		list.forEach(({ link, at }, i) => { link.ends[at] = box[at].x + (i + 0.5) / list.length * box[at].w; });
	}
}

// The points of the line that a link is drawn as: bottom of the upper switch to top of the lower one, or
// an arc between two of the same tier.
export function path({ a, b, ends, nth }, { box, width }) {
	const [up, down] = box[a].y <= box[b].y ? [a, b] : [b, a];
	const [p, q] = [box[up], box[down]];
	const [from, to] = [ends[up], ends[down]];
	if (p.y !== q.y)
		return [{ x: from, y: p.y + p.h }, { x: to, y: q.y }];
	const high = Math.min(ARC, 14 + 3 * nth + (ARC - 14) * Math.abs(to - from) / width);
	return Array.from({ length: 13 }, (_, i) => ({ x: from + (to - from) * i / 12, y: p.y - high * Math.sin(Math.PI * i / 12) }));
}

// For each host, the switch that it hangs on, or itself when there is none; -1 for switches.
function leaves(topo) {
	return topo.name.map((_, id) => {
		if (topo.tier[id] !== 0)
			return -1;
		const port = topo.nodePorts[id][0];
		const peer = port === undefined ? id : topo.ports[port].peer;
		return topo.tier[peer] === 0 ? id : peer;
	});
}

// The rows of switches from the leaves up.
function tiers(topo, slots) {
	const found = [...new Set(topo.tier)].filter((t) => t > 0).sort((a, b) => a - b);
	const placed = new Set(slots);
	const rows = [slots.filter((id) => topo.tier[id] > 0)];
	for (const tier of found) {
		const row = topo.name.map((_, id) => id).filter((id) => topo.tier[id] === tier && !placed.has(id))
			.sort((a, b) => topo.pod[a] - topo.pod[b] || a - b);
		if (row.length > 0)
			rows.push(row);
	}
	return rows[0].length === 0 && rows.length > 1 ? rows.slice(1) : rows;
}

// Hosts as cells in columns below their leaf. Returns the lowest y.
function placeHosts(leaf, slots, box, { slot, y }) {
	const below = new Map(slots.map((id) => [id, []]));
	leaf.forEach((l, id) => l >= 0 && below.get(l).push(id));
	const most = Math.max(1, ...[...below.values()].map((list) => list.length));
	const room = Math.max(4, slot - 4);
	// The largest cell with which the block is not much taller than wide, within reason.
	const few = leaf.length <= 40;
	let cell = Math.max(4, Math.min(few ? 44 : 16, Math.floor(few ? room / most : room)));
	while (cell > 5 && Math.ceil(most / Math.max(1, Math.floor(room / cell))) * cell > 130)
		cell--;
	const columns = Math.max(1, Math.min(most, Math.floor(room / cell)));
	let bottom = y;
	slots.forEach((id, s) => {
		const hosts = below.get(id);
		const left = PAD + (s + 0.5) * slot - Math.min(columns, hosts.length) * cell / 2;
		hosts.forEach((host, i) => {
			const at = { x: left + (i % columns) * cell, y: y + Math.floor(i / columns) * cell };
			box[host] = { ...at, w: cell - 1, h: cell - 1 };
			bottom = Math.max(bottom, at.y + cell);
		});
	});
	return bottom + (cell > 24 ? 16 : 0); // room for names
}

// Links between switches, with the ports of both directions.
function cables(topo, leaf) {
	const seen = new Map();
	return topo.links.map(({ a, b }, i) => ({ a, b, ports: [2 * i, 2 * i + 1] })).filter(({ a, b }) => leaf[a] !== b && leaf[b] !== a).map((link) => {
		const key = `${Math.min(link.a, link.b)} ${Math.max(link.a, link.b)}`;
		const nth = seen.get(key) ?? 0;
		seen.set(key, nth + 1);
		return { ...link, nth };
	});
}
