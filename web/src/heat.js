// SPDX-License-Identifier: Apache-2.0
// heat.js - how hot a port is: how much it was used, stopped, or had waiting, of one fabric or as the
// difference of two. And where congestion began.
import { endOf, intervalAt, lengthOf, quantity } from "./data.js";

export const KINDS = [
	{ key: "tx", label: "utilisation", ramp: "heat", unit: "ratio" },
	{ key: "stopped", label: "stopped", ramp: "stop", unit: "ratio" },
	{ key: "queue", label: "queue", ramp: "queue", unit: "B" },
];
export const WHOLE = -1; // instead of a sample: the whole run, the mean of it or its longest queue

// The heat of one fabric: of kind, at sample i, for a port; 0 to 1, and as text.
export class Heat {
	constructor(data, f, kind) {
		this.topo = data.topologies[data.fabrics[f].topo];
		this.kind = kind;
		this.found = quantity(data, f, kind.key);
		this.series = data.series.find((s) => s.f === f);
		this.known = new Map();
		// A queue has no natural full: the longest of any fabric is it, so that fabrics compare.
		this.full = kind.key === "queue" ? Math.max(1, ...data.series.flatMap((s) =>
			s.kinds.filter((k) => k.key === "queue" && k.queue === null).flatMap((k) => k.max))) : 1;
	}

	amount(port, i) {
		if (this.found === undefined)
			return 0;
		const v = i === WHOLE ? this.overall(port) : this.found.row(port)[i];
		return this.kind.key === "tx" ? v / this.topo.ports[port].rate : v;
	}

	overall(port) {
		if (!this.known.has(port)) {
			const row = this.found.row(port);
			this.known.set(port, this.kind.key === "queue" ? row.reduce((a, b) => Math.max(a, b)) : row.reduce((a, b, i) => a + b * lengthOf(this.series, i), 0) / endOf(this.series));
		}
		return this.known.get(port);
	}

	// Of the ports, the one that is hottest, 0 to 1.
	share(ports, i) {
		let most = 0;
		for (const port of ports)
			most = Math.max(most, this.amount(port, i) / this.full);
		return Math.min(most, 1);
	}
}

// How much hotter one fabric is than another on the same topology at the same time: -1 to 1.
export class Difference {
	constructor(heat, other) {
		Object.assign(this, { heat, other, topo: heat.topo, kind: heat.kind });
		// What was done in a whole run is compared over the longer one: less in more time is no difference.
		const [own, others] = [heat, other].map((h) => endOf(h.series));
		const shares = heat.kind.key === "queue" ? [1, 1] : [own, others].map((t) => t / Math.max(own, others));
		this.part = (i) => (i === WHOLE ? shares : [1, 1]);
		// Of the whole run the largest difference is the end of the scale.
		this.most = Math.max(1e-9, ...this.topo.ports.map((p) => Math.abs(this.amount(p.id, WHOLE))));
	}

	amount(port, i) {
		const there = i === WHOLE ? WHOLE : intervalAt(this.other.series, this.heat.series.times[i + 1]);
		const [own, others] = this.part(i);
		return this.heat.amount(port, i) * own - this.other.amount(port, there) * others;
	}

	full(i) {
		return i === WHOLE ? this.most : this.heat.full;
	}

	share(ports, i) {
		let most = 0;
		for (const port of ports) {
			const v = this.amount(port, i) / this.full(i);
			most = Math.abs(v) > Math.abs(most) ? v : most;
		}
		return Math.min(Math.max(most, -1), 1);
	}
}

// The kinds of heat that a study has anything of.
export function kindsOf(data) {
	return KINDS.filter((k) => data.series.some((s) => s.kinds.some((c) => c.key === k.key && c.queue === null)));
}

// Where congestion began on a fabric: at switches that stopped others and were not stopped themselves. Their
// ports with a queue, the longest first: [{port, queue}].
export function roots(data, f) {
	const topo = data.topologies[data.fabrics[f].topo];
	const stopped = quantity(data, f, "stopped")?.ports ?? [];
	const queue = quantity(data, f, "queue");
	const victims = new Set(stopped.map((port) => topo.ports[port].node));
	const stoppers = new Set(stopped.map((port) => topo.ports[port].peer).filter((node) => topo.tier[node] > 0 && !victims.has(node)));
	return (queue?.ports ?? []).map((port, i) => ({ port, queue: queue.max[i] })).filter(({ port }) => stoppers.has(topo.ports[port].node))
		.sort((a, b) => b.queue - a.queue || a.port - b.port);
}
