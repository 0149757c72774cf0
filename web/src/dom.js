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
