// SPDX-License-Identifier: Apache-2.0
// format.js - numbers with their units, as a person writes them. Times come in ps, sizes in bytes,
// rates in bits/s.

const TIMES = [["ps", 1], ["ns", 1e3], ["µs", 1e6], ["ms", 1e9], ["s", 1e12]];
const DECIMAL = ["", "k", "M", "G", "T", "P"];

// Three or four digits that mean something, without an exponent.
export function digits(v) {
	if (v === 0)
		return "0";
	const magnitude = Math.abs(v);
	if (magnitude >= 1000)
		return group(Math.round(v));
	if (magnitude >= 100)
		return trim(v.toFixed(1));
	if (magnitude >= 10)
		return trim(v.toFixed(2));
	if (magnitude >= 0.001)
		return trim(v.toFixed(3));
	return v.toExponential(1);
}

function trim(text) {
	return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

// A whole number with its thousands set apart.
export function group(v) {
	return String(v).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
}

export function time(ps) {
	const magnitude = Math.abs(ps);
	let [unit, size] = TIMES[0];
	for (const [name, scale] of TIMES) {
		if (magnitude >= scale)
			[unit, size] = [name, scale];
	}
	return ps === 0 ? "0" : `${digits(ps / size)}\u00a0${unit}`;
}

function decimal(v, unit) {
	let i = 0;
	while (Math.abs(v) >= 1000 && i < DECIMAL.length - 1) {
		v /= 1000;
		i++;
	}
	return `${digits(v)}\u00a0${DECIMAL[i]}${unit}`;
}

// Message sizes are powers of two more often than not.
export function size(bytes) {
	if (bytes >= 1024 && Number.isInteger(bytes)) {
		for (const [unit, scale] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]]) {
			if (bytes % scale === 0)
				return `${digits(bytes / scale)}\u00a0${unit}`;
		}
	}
	return decimal(bytes, "B");
}

// The value v in unit, one of those that the data use.
export function value(v, unit) {
	if (v === null || v === undefined)
		return "\u2013";
	if (typeof v === "string")
		return v;
	switch (unit) {
	case "ps": return time(v);
	case "B": return decimal(v, "B");
	case "size": return size(v);
	case "bit/s": return decimal(v, "b/s");
	case "B/s": return decimal(v, "B/s");
	case "ratio": return v > 0 && v < 0.0005 ? `${digits(v * 100)}\u00a0%`
		: `${trim((v * 100).toFixed(Math.abs(v) < 0.1 ? 2 : 1))}\u00a0%`;
	case "": return Number.isInteger(v) ? group(v) : digits(v);
	default: return `${Number.isInteger(v) ? group(v) : digits(v)}\u00a0${unit}`;
	}
}

// From low to high, with the unit once where it is the same.
export function range(low, high, unit) {
	const [a, b] = [value(low, unit), value(high, unit)];
	const end = b.slice(b.indexOf("\u00a0"));
	return b.includes("\u00a0") && a.endsWith(end) ? `${a.slice(0, -end.length)} to ${b}` : `${a} to ${b}`;
}

// The unit in which an axis up to max is labelled, and what it divides by: all ticks share it.
export function axisUnit(max, unit) {
	if (unit === "ps") {
		const row = TIMES.filter(([, scale]) => max >= scale).pop() ?? TIMES[0];
		return { label: row[0], scale: row[1] };
	}
	if (unit === "ratio")
		return { label: "%", scale: 0.01 };
	let i = 0;
	let scale = 1;
	while (max / scale >= 1000 && i < DECIMAL.length - 1) {
		scale *= 1000;
		i++;
	}
	return { label: `${DECIMAL[i]}${unit === "bit/s" ? "b/s" : unit}`, scale };
}

// What to say beside times of a job that was simulated smaller than it is.
export function asSimulated(data) {
	const share = 1 / data.scale;
	// The file has four digits of the scale.
	const whole = Math.abs(share - Math.round(share)) < share / 1000 ? Math.round(share) : Number(share.toPrecision(3));
	return data.scale === 1 ? "" : `Times are those of the simulation, at 1/${digits(whole)} of the job's size.`;
}
