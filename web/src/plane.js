// SPDX-License-Identifier: Apache-2.0
// plane.js - a result by two parameters: a cell for each pair of their values, coloured, with its number.
import { h, svg, tableBehind } from "./dom.js";
import { exports, sheet, text } from "./export.js";
import { value } from "./format.js";
import * as theme from "./theme.js";

const TALL = 34;
const measure = document.createElement("canvas").getContext("2d");

function wide(words, size) {
	measure.font = `${size}px system-ui, sans-serif`;
	return measure.measureText(words).width;
}

// map: {title, note, columns: {name, values}, rows: the same, cells: [{column, row, v, low, high}], unit, better}.
export function heatMap(name, map) {
	const box = h("div", { class: "drawing", role: "img", tabindex: 0, "data-chart": name, "aria-label": `${map.title}. The table below has the numbers.` });
	const draw = () => {
		if (box.clientWidth > 0)
			box.replaceChildren(drawing(map, box.clientWidth));
	};
	let width = 0;
	new ResizeObserver(() => {
		if (box.clientWidth !== width) {
			width = box.clientWidth;
			draw();
		}
	}).observe(box);
	theme.onChange(box, draw);
	const at = (row, column) => map.cells.find((c) => c.row === row && c.column === column);
	const head = [`${map.rows.name} \\ ${map.columns.name}`, ...map.columns.values];
	const cells = (show) => map.rows.values.map((t, row) => [t, ...map.columns.values.map((_, column) => show(at(row, column)))]);
	const table = tableBehind("As a table", () => head, () => cells((c) => (c === undefined ? "–" : value(c.v, map.unit))));
	return h("figure", {}, h("figcaption", {}, h("strong", {}, map.title), map.note ? h("span", {}, map.note) : null, exports(name, () => drawing(map, Math.max(720, box.clientWidth)), () => [head, ...cells((c) => c?.v)])),
		box, table.element);
}

function drawing({ columns, rows, cells, unit, better }, width) {
	const left = Math.max(...rows.values.map((t) => wide(t, 12)), 30) + 34;
	const step = Math.max(26, Math.min(150, (width - left - 4) / columns.values.length));
	const top = 42;
	const out = sheet(Math.max(left + step * columns.values.length + 4, Math.min(width, 320)), top + TALL * rows.values.length + 34);
	const known = cells.map((c) => c.v);
	const [low, high] = [Math.min(...known), Math.max(...known)];
	const best = better === "" ? null : better === "low" ? low : high;
	const soft = theme.css("--soft");
	out.append(text(left, 14, columns.name, { fill: soft }), text(0, 0, rows.name, { fill: soft, "text-anchor": "middle", transform: `translate(12 ${top + TALL * rows.values.length / 2}) rotate(-90)` }));
	const every = Math.ceil((Math.max(...columns.values.map((t) => wide(t, 12))) + 8) / step);
	columns.values.forEach((t, i) => i % every === 0 && out.append(text(left + (i + 0.5) * step, 34, t, { "text-anchor": "middle" })));
	rows.values.forEach((t, i) => out.append(text(left - 8, top + (i + 0.5) * TALL + 4, t, { "text-anchor": "end" })));
	for (const c of cells) {
		const colour = theme.heat("heat", high > low ? (c.v - low) / (high - low) * 0.9 + 0.05 : 0.3);
		const words = value(c.v, unit);
		const spread = c.low === c.high ? "" : `, ${value(c.low, unit)} to ${value(c.high, unit)}`;
		const cell = svg("g", { "data-cell": `${columns.values[c.column]} ${rows.values[c.row]}` }, svg("title", {}, `${columns.name} ${columns.values[c.column]}, ${rows.name} ${rows.values[c.row]}: ${words}${spread}`),
			svg("rect", { x: left + c.column * step, y: top + c.row * TALL, width: step - 1, height: TALL - 1, fill: colour }));
		if (c.v === best)
			cell.append(svg("rect", { x: left + c.column * step + 1.5, y: top + c.row * TALL + 1.5, width: step - 4, height: TALL - 4, fill: "none", stroke: theme.inkOn(colour), "stroke-width": 2 }));
		if (wide(words, 11.5) < step - 6)
			cell.append(text(left + (c.column + 0.5) * step, top + (c.row + 0.5) * TALL + 4, words, { fill: theme.inkOn(colour), "font-size": 11.5, "text-anchor": "middle" }));
		out.append(cell);
	}
	const y = top + TALL * rows.values.length + 14;
	const key = value(low, unit);
	const room = Math.min(160, width - left - wide(key, 12) - wide(value(high, unit), 12) - 24);
	out.append(text(left, y + 10, key, { fill: soft }), ...Array.from({ length: 20 }, (_, i) => svg("rect", { x: left + wide(key, 12) + 8 + i * room / 20, y, width: room / 20 + 0.5, height: 11, fill: theme.heat("heat", i / 19 * 0.9 + 0.05) })),
		text(left + wide(key, 12) + 16 + room, y + 10, `${value(high, unit)}${best === null || width - left - room - wide(key, 12) < 150 ? "" : "; framed: best"}`, { fill: soft }));
	return out;
}
