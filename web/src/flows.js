// SPDX-License-Identifier: Apache-2.0
// flows.js - flows one by one, or the messages of a job: how long they took, and how much longer than
// alone.
import { LineChart } from "./chart.js";
import { followed } from "./followed.js";
import { h, sortable, tabs } from "./dom.js";
import { asSimulated, digits, group, size, time, value } from "./format.js";
import { Scatter } from "./scatter.js";
import { amount } from "./sweep.js";

const BUCKETS = 10;
const SHARES = [["p50", 0.5], ["p95", 0.95], ["p99", 0.99]];

// What a flow takes alone: the adapters, every switch and cable of the shortest way, and its bytes at the rate of
// the slower end; an operation of a queue pair is over when its acknowledgement has come back. Returns
// alone(src, dst, bytes) in ps.
function aloneOn(data, f, acknowledged) {
	const topo = data.topologies[data.fabrics[f].topo];
	const parameter = (name) => amount(data.parameters.find((p) => p.name === name)?.values[f] ?? "0") || 0;
	const nic = ["doorbell", "tx", "rx"].reduce((s, name) => s + parameter(`fabric.nic.${name}`), 0);
	const [fetch, inline, perSwitch, phy, rx] = ["nic.fetch", "nic.inline", "switch.latency", "link.phy", "nic.rx"].map((name) => parameter(`fabric.${name}`));
	const known = new Map();
	const from = (src) => {
		const way = new Map([[src, 0]]);
		for (const node of way.keys()) {
			for (const id of topo.nodePorts[node]) {
				const { peer, delay } = topo.ports[id];
				if (!way.has(peer))
					way.set(peer, way.get(node) + delay + phy + (topo.tier[peer] > 0 ? perSwitch : 0));
			}
		}
		return way;
	};
	const rate = (node) => Math.max(...topo.nodePorts[node].map((id) => topo.ports[id].rate));
	return (src, dst, bytes) => {
		if (!known.has(src))
			known.set(src, from(src));
		const way = known.get(src).get(dst) ?? 0;
		return nic + (bytes > inline ? fetch : 0) + way + bytes * 8e12 / Math.min(rate(src), rate(dst)) + (acknowledged ? way + rx : 0);
	};
}

// data.flows: [{f, src, dst, bytes, start, took, even, slowdown}], of the traffic, or of a job its messages.
export function flowsOf(data, rows, of) {
	const op = data.parameters.find((p) => p.name === "traffic.0.op")?.values ?? [];
	const alone = data.fabrics.map((_, f) => aloneOn(data, f, of === "flow" && (op[f] ?? "window") !== "window"));
	return rows.map((r) => ({
		f: r.f, src: r.src, dst: r.dst, bytes: r.bytes, start: r.start_ps, took: r.took_ps, even: r.even === 1,
		slowdown: r.took_ps === null ? null : r.took_ps / alone[r.f](r.src, r.dst, r.bytes),
	}));
}

export function quantile(sorted, share) {
	return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
}

// Sizes in buckets of about as many flows each, or each size where there are few: their upper ends. Sizes that
// are nearly the same are one.
function buckets(flows) {
	const sizes = flows.map((r) => r.bytes).sort((a, b) => a - b);
	const distinct = [...new Set(sizes)].filter((v, i, all) => i === all.length - 1 || all[i + 1] > 1.02 * v);
	return distinct.length <= BUCKETS + 2 ? distinct : [...new Set(Array.from({ length: BUCKETS }, (_, i) => quantile(sizes, (i + 1) / BUCKETS)))];
}

// Slowdown by size, a line for each fabric.
function bySize(data, flows) {
	const ends = buckets(flows);
	if (ends.length < 2)
		return null;
	const holder = h("div");
	const draw = (name, share) => {
		const curves = data.fabrics.map((fabric, f) => {
			const own = flows.filter((r) => r.f === f);
			const lists = ends.map((end, i) => own.filter((r) => r.bytes <= end && (i === 0 || r.bytes > ends[i - 1])).map((r) => r.slowdown).sort((a, b) => a - b));
			const some = ends.map((_, i) => i).filter((i) => lists[i].length > 0);
			return { label: fabric.name, style: f, x: some.map((i) => ends[i]), y: some.map((i) => quantile(lists[i], share)) };
		}).filter((c) => c.x.length > 0);
		const chart = new LineChart({
			name: "slowdown", title: `Slowdown by size, ${name}`, note: "each point: the sizes up to it, from the one before", points: true, height: 320,
			x: { label: "size", unit: ends[ends.length - 1] < 8 * ends[0] ? "B" : "size", log: ends[ends.length - 1] >= 8 * ends[0] }, y: { label: "times what it takes alone", unit: "", log: curves.some((c) => Math.max(...c.y) > 20), range: (u, min, max) => [Math.min(1, min), max * 1.1] },
			table: { caption: "As a table", head: () => ["size", ...curves.map((c) => c.label)], rows: () => ends.map((end) => [size(end), ...curves.map((c) => value(c.y[c.x.indexOf(end)] ?? null, ""))]) },
		});
		chart.show(curves);
		holder.replaceChildren(chart.element);
	};
	draw(...SHARES[1]);
	return h("div", {}, h("div", { class: "controls" }, tabs("Of the flows", SHARES.map(([name]) => ({ value: name, label: name })), SHARES[1][0], (v) => draw(v, SHARES.find(([name]) => name === v)[1]))), holder);
}

// One fabric's line in the summary.
function summary(data, flows, counts, of) {
	const columns = ["", ...(of === "flow" ? ["done", "Jain's index"] : ["recorded"]), "slowdown p50", "p95", "p99", "largest"];
	const number = (v) => (v === undefined ? "–" : digits(Number(v.toPrecision(3))));
	return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Flows of each fabric" }, h("table", { class: "plain" },
		h("thead", {}, h("tr", {}, columns.map((t, i) => h("th", { scope: "col", class: i > 0 ? "number" : null }, t)))),
		h("tbody", {}, counts.map((c) => {
			const list = flows.filter((r) => r.f === c.f && r.even && r.slowdown !== null).map((r) => r.slowdown).sort((a, b) => a - b);
			const largest = flows.reduce((m, r) => (r.f === c.f && r.slowdown > m ? r.slowdown : m), 0);
			const cells = [...(of === "flow" ? [`${group(c.done)} of ${group(c.n)}`, c.jain === null ? "–" : c.jain.toFixed(3)] : [group(c.n)]), ...SHARES.map(([, share]) => number(quantile(list, share))), number(largest || undefined)];
			return h("tr", {}, h("th", { scope: "row" }, data.fabrics[c.f].name), cells.map((t) => h("td", { class: "number" }, t)));
		}))));
}

function table(data, of) {
	const name = (r, node) => data.topologies[data.fabrics[r.f].topo].name[node];
	const list = sortable(of === "flow" ? "Flows" : "Messages", [
		{ label: "fabric", key: (r) => r.f, show: (r) => data.fabrics[r.f].name },
		{ label: "from", key: (r) => r.src, show: (r) => name(r, r.src) }, { label: "to", key: (r) => r.dst, show: (r) => name(r, r.dst) },
		{ label: "size", number: true, key: (r) => r.bytes, show: (r) => size(r.bytes) },
		{ label: "start", number: true, key: (r) => r.start, show: (r) => time(r.start) },
		{ label: "took", number: true, key: (r) => r.took ?? Infinity, show: (r) => (r.took === null ? "not done" : time(r.took)) },
		{ label: "slowdown", number: true, key: (r) => r.slowdown ?? Infinity, show: (r) => (r.slowdown === null ? "–" : digits(Number(r.slowdown.toPrecision(3)))) },
		{ label: "goodput", number: true, key: (r) => (r.took > 0 ? r.bytes / r.took : null), show: (r) => (r.took > 0 ? value(r.bytes * 8e12 / r.took, "bit/s") : "–") },
	], 6, 20);
	return list;
}

export function flows(data) {
	const { of, list, counts } = data.flows;
	const done = list.filter((r) => r.took > 0);
	if (done.length === 0)
		return null;
	const even = done.filter((r) => r.even);
	const name = (r) => [r.src, r.dst].map((node) => data.topologies[data.fabrics[r.f].topo].name[node]).join(" → ");
	const Y = { slowdown: { label: "slowdown", unit: "" }, took: { label: "time", unit: "ps" } };
	const scatter = new Scatter({
		name: "flows", title: of === "flow" ? "Flows by size" : "Messages by size", note: "a dot each; both scales are logarithmic", x: { label: "size", unit: "size" }, y: Y.slowdown,
		say: ({ r }) => `${name(r)}, ${size(r.bytes)} from ${time(r.start)}: ${time(r.took)}, ${digits(Number(r.slowdown.toPrecision(3)))} times alone`,
		rows: () => [["fabric", "from", "to", "bytes", "start (ps)", "took (ps)", "slowdown"], ...list.map((r) => [data.fabrics[r.f].name, ...name(r).split(" → "), r.bytes, r.start, r.took, r.slowdown])],
	});
	const show = (key) => scatter.show(data.fabrics.map((fabric, f) => ({ label: fabric.name, style: f, points: done.filter((r) => r.f === f).map((r) => ({ x: r.bytes, y: r[key], r })) })).filter((s) => s.points.length > 0), Y[key]);
	show("slowdown");
	const rows = table(data, of);
	rows.update(list);
	const total = counts.reduce((n, c) => n + c.n, 0);
	const hint = [
		"Slowdown is the time against what it takes alone: adapters, the switches and cables of the shortest way, and the bytes at the rate of the slower end.",
		of === "flow" ? "Jain's index of the flows' goodputs is 1 when all have the same." : "These are messages between ranks over the fabric. Their sizes may differ between fabrics (chunks, queue pairs), and a collective waits for its last message: a fabric with the shorter median may have the longer step.",
		total > list.length ? `The page has ${group(list.length)} of ${group(total)}: some of all, evenly, and those that took longest for their size.` : "", of === "flow" ? "" : asSimulated(data),
	].filter(Boolean).join(" ");
	return h("section", { id: "flows" }, h("h2", {}, of === "flow" ? "Flows" : "Messages"), h("p", { class: "hint" }, hint), summary(data, list, counts, of),
		h("div", { class: "pair" }, bySize(data, even),
			h("div", {}, h("div", { class: "controls" }, tabs("Height", [{ value: "slowdown", label: "slowdown" }, { value: "took", label: "time" }], "slowdown", show)), scatter.element)),
		of === "flow" ? followed(data) : null, h("h3", {}, "The worst first"), rows.element);
}
