// SPDX-License-Identifier: Apache-2.0
// dom.js - makes elements. Text always goes in as text, never as markup, so nothing that a scenario
// says can become part of the page's code.

// h("p", {class: "x", onclick: f}, "text", child, [more children]): an element. An attribute that is
// null or false is left out; a function becomes an event listener.
export function h(name, attributes, ...children) {
	return fill(document.createElement(name), attributes, children);
}

// The same for SVG.
export function svg(name, attributes, ...children) {
	return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function fill(element, attributes, children) {
	for (const [key, value] of Object.entries(attributes ?? {})) {
		if (typeof value === "function")
			element.addEventListener(key.slice(2), value);
		else if (value === true)
			element.setAttribute(key, "");
		else if (value !== null && value !== undefined && value !== false)
			element.setAttribute(key, value);
	}
	element.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
	return element;
}

// A group of radio buttons that looks like a row of tabs. choices: [{value, label}]; pick(value).
export function tabs(label, choices, chosen, pick) {
	const name = `tabs-${++tabs.count}`;
	return h("fieldset", { class: "tabs" },
		h("legend", {}, label),
		choices.map(({ value, label: text, swatch }) => h("label", {},
			h("input", {
				type: "radio", name, value, checked: value === chosen,
				onchange: () => pick(value),
			}),
			h("span", {}, swatch ?? null, text))));
}
tabs.count = 0;

// A select with its label. choices: [{value, label}] or [{group, choices}].
export function select(label, choices, chosen, pick) {
	const option = ({ value, label: text }) =>
		h("option", { value, selected: String(value) === String(chosen) }, text);
	const element = h("select", { onchange: () => pick(element.value) },
		choices.map((c) => (c.group === undefined ? option(c)
			: h("optgroup", { label: c.group }, c.choices.map(option)))));
	return h("label", { class: "field" }, h("span", {}, label), element);
}

// A table that can be opened below a chart: what the chart shows, in numbers. rows() is called when it
// is opened first, and again by update().
export function tableBehind(caption, head, rows) {
	const body = h("tbody");
	const details = h("details", { class: "behind" },
		h("summary", {}, caption),
		h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
			h("table", {},
				h("thead", {}, h("tr", {}, head().map((text) => h("th", { scope: "col" }, text)))),
				body)));
	const update = () => {
		if (!details.open)
			return;
		details.querySelector("thead tr").replaceChildren(
			...head().map((text) => h("th", { scope: "col" }, text)));
		body.replaceChildren(...rows().map((row) => h("tr", {}, row.map((cell, i) =>
			h(i === 0 ? "th" : "td", i === 0 ? { scope: "row" } : {}, cell)))));
	};
	details.addEventListener("toggle", update);
	details.update = update;
	return { element: details, update };
}

// A table whose rows can be sorted by any of its columns. columns: [{label, key(row), show(row), number}];
// first: the column that it is sorted by at the beginning, the largest on top. A page of rows is shown, more on
// demand. Returns {element, update(rows)}.
export function sortable(label, columns, first, page = 50) {
	const state = { by: first, down: true, rows: [], shown: page };
	const body = h("tbody");
	const more = h("button", { type: "button", onclick: () => { state.shown += 4 * page; draw(); } });
	const heads = columns.map((c, i) => h("th", { scope: "col", class: c.number ? "number" : null }, h("button", {
		type: "button", class: "sort", title: "sort by this", onclick: () => {
			state.down = state.by === i ? !state.down : c.number === true;
			state.by = i;
			draw();
		},
	}, c.label, h("i", { "aria-hidden": "true" }))));
	const draw = () => {
		const { key } = columns[state.by];
		const sign = state.down ? -1 : 1;
		const order = (a, b) => (a === null || b === null ? (a === null) - (b === null) : sign * (a < b ? -1 : a > b ? 1 : 0));
		const rows = state.rows.map((row, i) => ({ row, i, k: key(row) ?? null })).sort((a, b) => order(a.k, b.k) || a.i - b.i).slice(0, state.shown);
		body.replaceChildren(...rows.map(({ row }) => h("tr", {}, columns.map((c, i) => h(i === 0 ? "th" : "td", { scope: i === 0 ? "row" : null, class: c.number ? "number" : null }, c.show(row))))));
		heads.forEach((th, i) => {
			th.setAttribute("aria-sort", i !== state.by ? "none" : state.down ? "descending" : "ascending");
			th.querySelector("i").textContent = i !== state.by ? "" : state.down ? " ▼" : " ▲";
		});
		more.hidden = state.rows.length <= state.shown;
		more.textContent = `Show more: ${rows.length} of ${state.rows.length} are here`;
	};
	const element = h("div", {}, h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label },
		h("table", { class: "plain sorted" }, h("thead", {}, h("tr", {}, heads)), body)), more);
	return { element, update: (rows) => { state.rows = rows; state.shown = page; draw(); } };
}
