// SPDX-License-Identifier: Apache-2.0
// compare.js - the verdict and the table of fabrics by metrics.
import { h } from "./dom.js";
import { digits, range, value } from "./format.js";
import { ABOUT, idle } from "./metrics.js";

export function verdict(data) {
	const said = (kind) => data.notes.filter((n) => n.kind === kind);
	if (said("verdict").length === 0)
		return null;
	return h("section", { id: "verdict" },
		h("h2", {}, "Verdict"),
		said("verdict").map((n) => h("p", { class: "verdict" }, n.text)),
		said("reason").length === 0 ? null
			: h("ul", { class: "reasons" }, said("reason").map((n) => h("li", {}, n.text))));
}

// Values so close to each other are equal, to the eye and for any decision.
const EQUAL = 0.03; // as the verdict has it (WF_VERDICT_ALIKE)

// Which of the values are best and worst; none where they are equal or no direction is good. Where the
// seeds of two fabrics overlap, neither is better than the other.
export function marks(metric) {
	const { values, low, high, better } = metric;
	const known = values.map((_, i) => i).filter((i) => typeof values[i] === "number");
	if (better === "" || known.length < 2)
		return values.map(() => "");
	const order = known.sort((a, b) => (better === "low" ? values[a] - values[b] : values[b] - values[a]));
	const [best, worst] = [order[0], order[order.length - 1]];
	const close = (a, b) => Math.abs(a - b) <= EQUAL * Math.max(Math.abs(a), Math.abs(b));
	const equal = (a, b) => close(values[a], values[b]) || (low[a] <= high[b] && low[b] <= high[a]);
	if (equal(best, worst))
		return values.map(() => "");
	return values.map((v, i) => (typeof v !== "number" ? "" : equal(i, best) ? "best" : equal(i, worst) ? "worst" : ""));
}

// How far a value is from the best one, where that can be said as a factor.
function factor(metric, v) {
	const known = metric.values.filter((x) => typeof x === "number");
	if (typeof v !== "number" || known.some((x) => x <= 0))
		return null;
	const ratio = metric.better === "low" ? v / Math.min(...known) : Math.max(...known) / v;
	return ratio < 1.005 || ratio >= 1000 ? null : `×${digits(Number(ratio.toPrecision(3)))}`;
}

function cell(metric, i) {
	const mark = marks(metric)[i];
	const away = mark === "best" || metric.better === "" ? null : factor(metric, metric.values[i]);
	return h("td", { class: mark },
		h("span", { class: "number" }, value(metric.values[i], metric.unit)),
		h("span", { class: "away" }, mark === "best" ? [h("span", { "aria-hidden": "true" }, "▲ "), "best"]
			: mark === "worst" ? [h("span", { "aria-hidden": "true" }, "▼ "), away ?? "worst", away ? h("span", { class: "unseen" }, " worst") : null]
				: away),
		value(metric.low[i], metric.unit) === value(metric.high[i], metric.unit) ? null : h("span", { class: "spread" }, range(metric.low[i], metric.high[i], metric.unit)));
}

// What a fabric has in a row, as it is read; what one cannot have and what is 0 are the same.
function reading(metric, i) {
	const v = metric.values[i];
	return v === null || v === undefined || v === 0 ? "" : `${value(v, metric.unit)} ${range(metric.low[i], metric.high[i], metric.unit)}`;
}

// For each fabric the first one whose column would read the same, or itself.
export function twins(fabrics, shown) {
	const columns = fabrics.map((f, i) => [f.state, ...shown.map((m) => reading(m, i))].join("\n"));
	return columns.map((c) => columns.indexOf(c));
}

// The names of counters that stayed 0: that they did may be what somebody wants to know.
function quiet(list) {
	return list.length === 0 ? null
		: h("p", { class: "hint quiet" }, "0 everywhere: ", list.map((m, i) => [i > 0 ? ", " : "", h("code", {}, m.key)]), ".");
}

function seedsHint(data) {
	const most = Math.max(...data.fabrics.map((f) => f.runs.length));
	return most < 2 ? null : ` A value is the median of ${most} seeds, below it the least and the most; where the seeds of two fabrics overlap, neither is called better.`;
}

// A sweep of many points is read in its charts.
function folded(data, table) {
	return data.study.kind !== "sweep" || data.fabrics.length <= 8 ? table
		: h("details", {}, h("summary", {}, `Every value of all ${data.fabrics.length} points`), table);
}

export function comparison(data) {
	if (data.metrics.length === 0)
		return null;
	const several = data.fabrics.length > 1;
	const shown = data.metrics.filter((m) => !idle(m));
	const groups = [...new Set(shown.map((m) => m.group))];
	const same = data.study.kind === "compare" ? twins(data.fabrics, shown) : data.fabrics.map((_, i) => i);
	const columns = same.map((_, i) => i).filter((i) => same[i] === i);
	const without = same.map((_, i) => i).filter((i) => same[i] !== i);
	return h("section", { id: "comparison" },
		h("h2", {}, several ? "Comparison" : "Results"),
		several ? h("p", { class: "hint" }, `▲ best and ▼ worst of a row, where better has a direction; values within ${EQUAL * 100} % are equal; × is the distance from the best.`, seedsHint(data)) : seedsHint(data),
		folded(data, h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Comparison of the fabrics" },
			h("table", { class: "compare" },
				h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Metric"),
					columns.map((i) => data.fabrics[i]).map((f) => h("th", { scope: "col" }, f.name,
						f.state === "finished" ? null : h("span", { class: "state" }, f.state))))),
				groups.map((name) => h("tbody", {},
					h("tr", { class: "group" }, h("th", { scope: "colgroup", colspan: columns.length + 1 }, h("span", {}, name, shown.some((m) => m.key === ABOUT[name]?.of) ? h("small", {}, ABOUT[name].words) : null))),
					shown.filter((m) => m.group === name).map((m) => h("tr", {},
						h("th", { scope: "row", title: m.key }, m.label),
						columns.map((i) => cell(m, i))))))))),
		without.length === 0 ? null : h("p", { class: "hint twins" }, without.map((i) => `${data.fabrics[i].name}: every figure as ${data.fabrics[same[i]].name}, so it has no column. `)),
		quiet(data.metrics.filter(idle)));
}
