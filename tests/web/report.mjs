// SPDX-License-Identifier: Apache-2.0
// report.mjs - the page of weft report in a browser: its numbers are those of the results file, its
// controls do something, and it can be read everywhere.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { done, folder, open, openTable, picture, record, sql } from "./lib/common.mjs";

const NAME = "</script><img src=x onerror=alert(1)> & 'incast'";
const SCENARIO = `name: "${NAME}"
seed: 3
topology: {kind: leaf-spine, hosts: 16, radix: 8}
fabric:
  - ib-ndr
  - {profile: roce-400g-nocc, name: small buffer, buffer: {size: 6MB}}
  - {profile: roce-400g-lossy, name: lossy, buffer: {size: 2MB}}
traffic:
  - {kind: incast, fanin: 12, target: 0, size: 1MB} # </script><b>bold</b>
  - {kind: permutation, size: 300KB, class: 0}
run: {until: 20ms}
`;
const close = (a, b, part) => Math.abs(a - b) <= part * Math.max(Math.abs(a), Math.abs(b)) + 1e-9;

let results;
let page;
let complaints;

before(async () => {
	results = record("incast", SCENARIO, "--sample", "2us");
	({ page, complaints } = await open(results.html));
});
after(done);

test("it loads without an error and without a request", async () => {
	await page.waitForTimeout(300);
	assert.deepEqual(complaints, []);
	await picture(page, "report-light");
});

test("what the scenario says is text", async () => {
	assert.equal(await page.locator("h1").textContent(), NAME);
	assert.equal(await page.title(), `${NAME} - weft`);
	assert.equal(await page.locator("img").count(), 0);
	assert.equal(await page.locator("#scenario pre").textContent(), SCENARIO);
});

test("the comparison has the results, and marks best and worst in words", async () => {
	const rows = sql(results.db, "SELECT run, name, value FROM value WHERE value IS NOT NULL ORDER BY name, run");
	const shown = await page.evaluate(() => weft.data.metrics.flatMap((m) => m.values.map((value, f) => ({ run: weft.data.fabrics[f].id, name: m.key, value })).filter((v) => v.value !== null)));
	assert.ok(shown.length > 60);
	for (const { run, name, value } of shown)
		assert.equal(value, rows.find((r) => r.run === run && r.name === name)?.value, name);
	const line = page.locator("#comparison tr", { has: page.locator("th[title=completion]") });
	assert.equal(await line.locator("td").count(), 3);
	assert.match(await line.locator("td.best").first().textContent(), /▲ best/);
	assert.match(await line.locator("td.worst").first().textContent(), /▼ ×|▼ worst/);
	const best = sql(results.db, "SELECT label FROM run JOIN value v ON v.run = run.id WHERE name = 'completion' ORDER BY value LIMIT 1")[0].label;
	const names = await page.locator("#comparison thead th").allTextContents();
	const marked = await line.evaluate((tr) => [...tr.children].map((c, i) => (c.className === "best" ? i : 0)).filter(Boolean));
	assert.ok(marked.map((i) => names[i]).includes(best));
	// What is within 3 % is as good.
	const times = Object.fromEntries(sql(results.db, "SELECT label, value FROM run JOIN value v ON v.run = run.id WHERE name = 'completion'").map((r) => [r.label, r.value]));
	assert.deepEqual(marked.map((i) => names[i]).sort(), Object.keys(times).filter((name) => times[name] <= times[best] / 0.97).sort());
});

test("the distributions are those of the file", async () => {
	const curves = await page.evaluate(() => weft.chart("cdf"));
	const runs = sql(results.db, "SELECT id, label FROM run ORDER BY place");
	assert.deepEqual(curves.map((c) => c.label), runs.map((r) => r.label));
	for (const [i, { id }] of runs.entries()) {
		const cdf = sql(results.db, `SELECT le_ps, share FROM cdf WHERE run = ${id} AND what = 'packet' ORDER BY le_ps`);
		assert.ok(cdf.length > 10);
		assert.deepEqual(curves[i].x, cdf.map((c) => c.le_ps));
		assert.ok(curves[i].y.every((y, k) => close(y, cdf[k].share, 1e-9)));
	}
	await openTable(page, "#latency");
	assert.equal(await page.locator("#latency details tbody tr").count(), 10);
	await page.locator("#latency label", { hasText: "the tail" }).click();
	const tail = await page.evaluate(() => weft.chart("cdf"));
	assert.ok(tail[0].y.every((y) => y > 0 && y < 1));
});

// What is spread over the intervals of the page must add up to what the file counts.
test("every port's bytes and stopped time are in its series", async () => {
	const totals = sql(results.db, `SELECT t.run, n.name || ' ' || t.port AS port, c.measure, sum(t.value * c.factor) AS v
		FROM total t JOIN counter c ON c.id = t.counter JOIN node n ON n.run = t.run AND n.id = t.node
		WHERE c.measure IN ('tx_bytes', 'stopped_ps') GROUP BY 1, 2, 3 HAVING v > 0`);
	assert.ok(totals.some((t) => t.measure === "stopped_ps"));
	const sums = await page.evaluate(() => weft.data.series.flatMap((s) => s.kinds.filter((k) => k.queue === null && k.key !== "queue").flatMap((k) => k.ports.map((id) => {
		const { topo: t, id: run } = weft.data.fabrics[s.f];
		const port = weft.data.topologies[t].ports[id];
		const sum = k.row(id).reduce((a, b, i) => a + b * (s.times[i + 1] - s.times[i]), 0);
		return { run, port: `${weft.data.topologies[t].name[port.node]} ${port.port}`, measure: k.key === "tx" ? "tx_bytes" : "stopped_ps", v: k.key === "tx" ? sum / 8e12 : sum };
	}))));
	assert.equal(sums.length, totals.length);
	const found = new Map(sums.map((s) => [`${s.run} ${s.port} ${s.measure}`, s.v]));
	for (const t of totals)
		assert.ok(close(found.get(`${t.run} ${t.port} ${t.measure}`), t.v, 0.002), `${t.run} ${t.port} ${t.measure}: ${t.v}`);
});

test("no port sends more than its link carries", async () => {
	const most = await page.evaluate(() => Math.max(...weft.data.series.flatMap((s) => s.kinds.filter((k) => k.key === "tx" && k.queue === null).flatMap((k) =>
		k.ports.map((id, i) => k.max[i] / weft.data.topologies[weft.data.fabrics[s.f].topo].ports[id].rate)))));
	assert.ok(most > 0.9 && most <= 1, String(most));
});

test("the longest queue of a port is that of its samples", async () => {
	const [most] = sql(results.db, `SELECT n.name, s.port, s.run, max(s.value) AS v FROM sample s JOIN counter c ON c.id = s.counter
		JOIN node n ON n.run = s.run AND n.id = s.node WHERE c.measure = 'queue_bytes'`);
	const shown = await page.evaluate(({ name, port, run }) => {
		const f = weft.data.fabrics.findIndex((x) => x.id === run);
		const topo = weft.data.topologies[weft.data.fabrics[f].topo];
		const id = topo.ports.findIndex((p) => topo.name[p.node] === name && p.port === port);
		return Math.max(...weft.data.series.find((s) => s.f === f).kinds.find((k) => k.key === "queue" && k.queue === null).row(id));
	}, most);
	assert.ok(close(shown, most.v, 1e-4));
});

// Twelve hosts send to h0: what fills first is the queue of its leaf to it, and the pauses come from there.
test("what is shown over time begins where the congestion does", async () => {
	assert.equal(await page.locator("#time select").first().locator("option:checked").textContent(), "leaf0 port 0 → h0");
	const stopped = sql(results.db, `SELECT DISTINCT e.run, e.node, p.peer FROM event e JOIN port p ON p.run = e.run AND p.node = e.node AND p.port = e.port WHERE e.kind = 'pause'`);
	const leaf = sql(results.db, "SELECT id FROM node WHERE run = 1 AND name = 'leaf0'")[0].id;
	assert.ok(stopped.some((e) => e.peer === leaf) && !stopped.some((e) => e.node === leaf));
	// Switches that passed the pauses on were stopped themselves: they are no roots.
	assert.ok(stopped.some((e) => e.peer !== leaf && stopped.some((o) => o.run === e.run && o.node === e.peer)));
	const roots = await page.locator("#time optgroup[label='Roots of the congestion'] option").allTextContents();
	assert.ok(roots.length > 0 && roots.every((name) => name.startsWith("leaf0 ")), roots.join(", "));
});

test("parallel links are lines of their own, in their own colours", async () => {
	await page.locator("#map .tabs label", { hasText: "small buffer" }).click();
	await page.locator("#map button", { hasText: "Whole run" }).click();
	const wanted = sql(results.db, "SELECT count(*) AS n FROM link l JOIN node a ON a.run = l.run AND a.id = l.a JOIN node b ON b.run = l.run AND b.id = l.b WHERE l.run = 1 AND a.kind = 'switch' AND b.kind = 'switch'")[0].n;
	const found = await page.evaluate(() => {
		const { map } = weft;
		const scale = devicePixelRatio;
		const { data, width } = map.canvas.getContext("2d").getImageData(0, 0, map.canvas.width, map.canvas.height);
		return map.plan.links.map((l) => {
			const [lower, upper] = map.plan.box[l.a].y > map.plan.box[l.b].y ? [l.a, l.b] : [l.b, l.a];
			const [low, high] = [map.plan.box[lower].y, map.plan.box[upper].y + map.plan.box[upper].h];
			const x = l.ends[lower] + (l.ends[upper] - l.ends[lower]) * 3 / (low - high);
			// The darkest of the pixels across the line, right above the lower switch.
			const across = [-2, -1, 0, 1, 2].map((d) => 4 * (Math.floor((low - 3) * scale) * width + Math.floor(x * scale) + d));
			const at = across.reduce((a, b) => (data[b + 3] > data[a + 3] ? b : a));
			const pixel = data[at + 3] < 100 ? "nothing" : [...data.slice(at, at + 3)].join(" ");
			return { key: [l.a, l.b].sort().join(" "), nth: l.nth, x: l.ends[lower], share: map.heat.share(l.ports, map.index()), pixel };
		});
	});
	assert.equal(found.length, wanted);
	const beside = found.filter((l) => l.nth > 0).map((l) => [l, found.find((o) => o.key === l.key && o.nth === l.nth - 1)]);
	assert.ok(beside.length >= 8);
	assert.ok(beside.every(([p, q]) => Math.abs(p.x - q.x) > 4));
	assert.deepEqual(found.filter((l) => l.pixel === "nothing"), []);
	const [p, q] = beside.sort((a, b) => Math.abs(b[0].share - b[1].share) - Math.abs(a[0].share - a[1].share))[0];
	assert.ok(Math.abs(p.share - q.share) > 0.02);
	assert.notEqual(p.pixel, q.pixel);
});

test("the difference of two fabrics is that of the bytes that their ports sent", async () => {
	await page.locator("#map select").selectOption({ label: "lossy" });
	const sent = (label) => sql(results.db, `SELECT n.name || ' ' || t.port AS port, sum(t.value * c.factor) AS v, r.end_ps, p.rate FROM total t JOIN counter c ON c.id = t.counter
		JOIN run r ON r.id = t.run JOIN node n ON n.run = t.run AND n.id = t.node JOIN port p ON p.run = t.run AND p.node = t.node AND p.port = t.port
		WHERE c.measure = 'tx_bytes' AND r.label = '${label}' GROUP BY t.run, t.node, t.port`);
	const [a, b] = [sent("small buffer"), sent("lossy")];
	const longer = Math.max(a[0].end_ps, b[0].end_ps);
	const shown = await page.evaluate(() => Object.fromEntries(weft.map.topo.ports.map((p) => [`${weft.map.topo.name[p.node]} ${p.port}`, weft.map.heat.amount(p.id, weft.map.index())])));
	for (const { port, v, rate } of a) {
		const other = b.find((o) => o.port === port)?.v ?? 0;
		assert.ok(Math.abs(shown[port] - (v - other) * 8e12 / rate / longer) < 2e-3, `${port}: ${shown[port]}`);
	}
	assert.match(await page.locator("#map .scale").textContent(), /lossy .* more.*small buffer .* more/);
	await page.locator("#map select").selectOption({ label: "nothing" });
});

test("the strip gives what happens room, where nothing does for long", async () => {
	const { html } = record("waits", `topology: {kind: leaf-spine, hosts: 16, radix: 8}
fabric: {profile: roce-400g, flowctl: none, buffer: {size: 400KB}}
traffic: [{kind: incast, fanin: 12, size: 4MB, op: write}]
run: {until: 200ms}
`);
	const { page: other, complaints: theirs } = await open(html);
	// The first millisecond of more than a hundred.
	const room = () => other.evaluate(() => (weft.strip.x(1e9) - weft.strip.left) / (weft.strip.width - weft.strip.left));
	assert.ok(await room() > 0.2, String(await room()));
	const { left, width } = await other.evaluate(() => weft.strip);
	await other.locator("#strip canvas").hover({ position: { x: left + 0.1 * (width - left), y: 4 } });
	assert.ok(await other.evaluate(() => weft.strip.series.times[weft.strip.cursor.i + 1] < 1e9));
	await picture(other, "report-waits");
	await other.locator("#strip .tabs label", { hasText: "even" }).click();
	assert.ok(await room() < 0.02);
	assert.deepEqual(theirs, []);
	await other.close();
});

test("the strip has the ports, the worst first, and says and opens what is pointed at", async () => {
	const [worst] = sql(results.db, `SELECT n.name, t.port FROM total t JOIN counter c ON c.id = t.counter JOIN node n ON n.run = t.run AND n.id = t.node
		JOIN port p ON p.run = t.run AND p.node = t.node AND p.port = t.port WHERE c.measure = 'tx_bytes' AND t.run = 1 GROUP BY t.node, t.port ORDER BY sum(t.value * c.factor) / p.rate DESC`);
	const first = await page.evaluate(() => {
		const { strip } = weft;
		const p = strip.topo.ports[strip.ports[0]];
		return { name: strip.topo.name[p.node], port: p.port, left: strip.left, n: strip.series.n, shown: strip.ports.length };
	});
	assert.deepEqual({ name: first.name, port: first.port }, worst);
	const canvas = page.locator("#strip canvas");
	await canvas.hover({ position: { x: first.left + 40, y: 4 } });
	const said = await page.locator("#strip .tip").textContent();
	const is = await page.evaluate((text) => {
		const { strip } = weft;
		return `${strip.cursor.k} ${text.includes(weft.value(strip.heat.amount(strip.ports[0], strip.cursor.i), "ratio"))}`;
	}, said);
	assert.equal(is, "0 true", said);
	assert.ok(said.startsWith(`${worst.name} port ${worst.port} →`));
	await canvas.focus();
	await page.keyboard.press("ArrowDown");
	const second = await page.locator("#strip .tip").textContent();
	await page.keyboard.press("Enter");
	assert.equal(await page.locator("#time select").first().locator("option:checked").textContent(), second.slice(0, second.indexOf(",")));
	await page.locator("#strip .tabs label", { hasText: "between switches" }).click();
	assert.ok(await page.evaluate(() => weft.strip.ports.every((id) => weft.strip.topo.tier[weft.strip.topo.ports[id].peer] > 0)));
	for (const what of ["stopped", "queue"]) {
		const was = await page.evaluate(() => document.querySelector("#strip canvas").toDataURL());
		await page.locator("#strip .tabs label", { hasText: what }).click();
		assert.notEqual(await page.evaluate(() => document.querySelector("#strip canvas").toDataURL()), was);
	}
	await page.locator("#strip .tabs label", { hasText: /^all$/ }).click();
});

test("every chart can be saved, as SVG, PNG and CSV that open", async () => {
	// What a button makes, without the browser's own handling of many downloads.
	await page.evaluate(() => {
		const make = URL.createObjectURL;
		window.saving = new AbortController();
		document.addEventListener("click", (e) => e.target.matches("a[download]") && e.preventDefault(), { capture: true, signal: window.saving.signal });
		URL.createObjectURL = (blob) => {
			blob.arrayBuffer().then((b) => window.saved([...new Uint8Array(b)].map((v) => String.fromCharCode(v)).join("")));
			return make(blob);
		};
	});
	const press = (i) => page.evaluate(async (at) => {
		const button = document.querySelectorAll(".exports button")[at];
		const text = new Promise((done) => { window.saved = done; });
		button.click();
		return { kind: button.dataset.export, name: button.ariaLabel, base64: btoa(await text) };
	}, i);
	const charts = await page.locator(".exports").count();
	assert.ok(charts >= 7);
	for (let i = 0; i < 3 * charts; i++) {
		const { kind, name, base64 } = await press(i);
		const text = Buffer.from(base64, "base64").toString();
		if (kind === "svg") {
			const marks = await page.evaluate((t) => {
				const doc = new DOMParser().parseFromString(t, "image/svg+xml");
				return doc.querySelector("parsererror") === null && doc.documentElement.localName === "svg" ? doc.querySelectorAll("path, rect, text").length : -1;
			}, text);
			assert.ok(marks > 8, `${name}: ${marks}`);
			// Every link is a line, every port of the strip has colours, every curve is there.
			const count = (what) => text.split(what).length - 1;
			if (name.includes(" map "))
				assert.equal(count("<path"), await page.evaluate(() => weft.map.plan.links.length));
			if (name.includes(" ports "))
				assert.ok(count("<rect") > await page.evaluate(() => weft.strip.ports.length));
			if (name.includes(" throughput "))
				assert.equal(count("data-line="), 3);
		} else if (kind === "png") {
			const size = await page.evaluate(async (data) => { const img = new Image(); img.src = data; await img.decode(); return [img.width, img.height]; }, `data:image/png;base64,${base64}`);
			assert.ok(size[0] > 500 && size[1] > 100 && base64.length > 2000, `${name}: ${size}`);
		} else {
			const cells = text.trimEnd().split("\r\n").map((line) => line.replace(/"([^"]|"")*"/g, "").split(",").length);
			assert.ok(cells.length > 1 && cells.every((n) => n === cells[0]), name);
		}
	}
	await page.evaluate(() => { window.saving.abort(); });
	const [file] = await Promise.all([page.waitForEvent("download"), page.locator("#bars [data-export=csv]").click()]);
	const lines = readFileSync(await file.path(), "utf8").trim().split("\r\n").map((l) => l.split(","));
	assert.deepEqual(lines, [["fabric", "median (ps)"], ...sql(results.db, "SELECT label, value FROM value JOIN run ON run.id = value.run WHERE name = 'completion' ORDER BY place").map((r) => [r.label, String(r.value)])]);
});

test("a single queue can be looked at", async () => {
	const queue = page.locator("#time .field", { has: page.locator("option", { hasText: "priority or VL 0" }) }).locator("select");
	const sum = (c) => c.y.slice(1).reduce((a, b) => a + b, 0);
	await page.locator("#time select").first().selectOption({ label: "all hosts" });
	const all = await page.evaluate(() => weft.chart("throughput"));
	const single = [];
	for (const q of ["0", "3"]) {
		await queue.selectOption(q);
		single.push(await page.evaluate(() => weft.chart("throughput")));
	}
	// Ethernet counts bytes by priority; InfiniBand does not by VL, which is not the same as 0.
	const ethernet = single.map((lines) => lines.find((c) => c.label === "small buffer"));
	assert.ok(ethernet.every((c) => sum(c) > 0));
	assert.ok(close(sum(ethernet[0]) + sum(ethernet[1]), sum(all[1]), 0.01));
	assert.ok(single[0].every((c) => c.label !== "ib-ndr"));
	assert.match(await page.locator("#time figcaption").first().textContent(), /ib-ndr: not counted by queue/);
	await queue.selectOption("");
});

test("the charts over time follow what is chosen", async () => {
	await page.locator("#time select").first().selectOption({ label: "h0" });
	const one = await page.evaluate(() => weft.chart("throughput"));
	assert.equal(one.length, 3);
	await page.locator("#time select").first().selectOption({ label: "all hosts" });
	const all = await page.evaluate(() => weft.chart("throughput"));
	const total = (c) => c.y.reduce((a, b) => a + b, 0);
	assert.ok(total(all[0]) > 2 * total(one[0]));
	await page.locator("#time select").first().selectOption({ label: "leaf0" });
	await page.locator("#time select").nth(1).selectOption({ index: 1 });
	assert.notDeepEqual(await page.evaluate(() => weft.chart("throughput")), all);
});

test("a line can be switched off, and the arrow keys read the chart", async () => {
	const chart = page.locator("#latency figure").first();
	await chart.locator(".legend button").first().click();
	assert.equal(await chart.locator(".legend button").first().getAttribute("aria-pressed"), "false");
	await chart.locator(".plot").focus();
	await page.keyboard.press("ArrowRight");
	assert.match(await chart.locator("[role=status]").textContent(), /(s|ps): .*%/);
	await chart.locator(".legend button").first().click();
});

test("the slider moves the map", async () => {
	const look = () => page.evaluate(() => document.querySelector("#map canvas").toDataURL());
	const slider = page.locator("#map input[type=range]");
	const move = (v) => slider.evaluate((e, to) => { e.value = to; e.dispatchEvent(new Event("input")); }, v);
	await move(0);
	const [first, clock] = [await look(), await page.locator("#map .clock").textContent()];
	await slider.focus();
	await page.keyboard.press("End");
	assert.notEqual(await look(), first);
	assert.notEqual(await page.locator("#map .clock").textContent(), clock);
	await move(0);
	assert.equal(await look(), first);
	// The table below it says what the map shows.
	await openTable(page, "#map");
	const row = await page.locator("#map details tbody tr").first().textContent();
	await move(5);
	assert.notEqual(await page.locator("#map details tbody tr").first().textContent(), row);
	for (const what of ["stopped", "queue"]) {
		const was = await look();
		await page.locator("#map .tabs label", { hasText: what }).click();
		assert.notEqual(await look(), was);
	}
	await page.locator("#map .tabs label", { hasText: "utilisation" }).click();
});

test("the map plays and stops", async () => {
	const slider = page.locator("#map input[type=range]");
	await slider.evaluate((e) => { e.value = 0; e.dispatchEvent(new Event("input")); });
	await page.locator("#map .play").click();
	// Stopped in the page itself: from here it might come after the end, and start it again.
	const stopped = await page.waitForFunction(() => {
		const { value } = document.querySelector("#map input[type=range]");
		const play = document.querySelector("#map .play");
		const playing = play.textContent.includes("Pause");
		if (playing && Number(value) <= 1)
			return false;
		play.click(); // stops it, or starts it again when it came to its end meanwhile
		return playing && value;
	}, null, { polling: 20 }).then((found) => found.jsonValue());
	assert.match(await page.locator("#map .play").textContent(), /Play/);
	await page.waitForTimeout(300);
	assert.equal(await slider.inputValue(), stopped);
});

test("a node of the map can be chosen by mouse and by keyboard", async () => {
	const canvas = page.locator("#map canvas");
	await canvas.focus();
	await page.keyboard.press("ArrowRight");
	assert.match(await page.locator("#map .panel h3").textContent(), /^h0 at/);
	await page.keyboard.press("ArrowUp");
	assert.match(await page.locator("#map .panel h3").textContent(), /^leaf0 at/);
	const name = await page.locator("#map .panel h3").textContent();
	assert.equal(await page.locator("#map .panel tbody tr").count(), await page.evaluate(() => {
		const t = weft.data.topologies[0];
		return t.nodePorts[t.name.indexOf("leaf0")].length;
	}));
	await page.locator("#map .panel button", { hasText: "over time" }).click();
	assert.equal(await page.locator("#time select").first().locator("option:checked").textContent(), name.split(" ")[0]);
	await canvas.focus();
	await page.keyboard.press("Escape");
	assert.equal(await page.locator("#map .panel h3").count(), 0);
});

test("the events are counted and can be filtered", async () => {
	const counts = sql(results.db, "SELECT kind, sum(n) AS n FROM (SELECT run, kind, min(count(*), 400) AS n FROM event GROUP BY 1, 2) GROUP BY 1");
	assert.ok(counts.length > 0);
	for (const { kind, n } of counts) {
		await page.locator("#events select").nth(1).selectOption(kind);
		assert.equal(Number((await page.locator("#events [role=status]").textContent()).replace(/\D*(\d[\d\s]*) events.*/u, "$1").replace(/\s/gu, "")), n, kind);
		assert.equal(await page.locator("#event-list tbody tr").count(), Math.min(n, 100));
	}
	// The table has the true numbers, and a pause says who paused.
	const all = sql(results.db, "SELECT place, kind, n, recorded FROM event_count JOIN run ON run.id = run WHERE n > 0");
	assert.ok(all.length > 2);
	for (const { place, kind, n, recorded } of all) {
		const cell = await page.locator("#events table").first().locator("tbody tr", { hasText: kind.replaceAll("_", " ") }).locator("td").nth(place).textContent();
		assert.equal(Number(cell.replace(/\(.*/u, "").replace(/\D/gu, "")), n, kind);
		assert.equal(/recorded/u.test(cell), recorded < n, cell);
	}
	await page.locator("#events select").nth(1).selectOption("pause");
	assert.match(await page.locator("#event-list tbody tr").first().locator("td").last().textContent(), /^by \w+/u);
	await page.locator("#events input[type=search]").fill("no such thing");
	assert.equal(await page.locator("#event-list tbody tr").count(), 0);
});

test("what there is no data for is left out, and said", async () => {
	for (const id of ["verdict", "bandwidth", "timeline", "collectives"])
		assert.equal(await page.locator(`#${id}`).count(), 0, id);
	assert.match(await page.locator("#missing").textContent(), /Bandwidth by message size.*Collectives.*timeline/s);
});

test("everything has a name for those who do not see it", async () => {
	const nameless = await page.evaluate(() => [...document.querySelectorAll("button, select, input, canvas[role], [role=img], [role=region]")].filter((e) =>
		!(e.getAttribute("aria-label") || e.textContent.trim() || e.closest("label")?.textContent.trim())).map((e) => e.outerHTML.slice(0, 80)));
	assert.deepEqual(nameless, []);
	assert.equal(await page.locator("section:not(:has(h2))").count(), 0);
	assert.equal(await page.locator("th:not([scope])").count(), 0);
});

test("it is dark when the system is, and the button changes it", async () => {
	const light = ({ page: p }) => p.evaluate(() => {
		const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number);
		return r + g + b > 384;
	});
	const dark = await open(results.html, { scheme: "dark" });
	assert.equal(await light(dark), false);
	await picture(dark.page, "report-dark");
	await dark.page.locator("#theme").click();
	assert.equal(await light(dark), true);
	assert.equal(await light({ page }), true);
	assert.deepEqual(dark.complaints, []);
	await dark.page.close();
});

test("a phone does not scroll sideways, whatever is open", async () => {
	const phone = await open(results.html, { width: 390 });
	await picture(phone.page, "report-phone");
	await phone.page.evaluate(() => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
	await phone.page.waitForTimeout(200);
	assert.equal(await phone.page.evaluate(() => document.documentElement.scrollWidth), 390);
	assert.deepEqual(phone.complaints, []);
	await phone.page.close();
});

test("it prints, with everything open, and is as before afterwards", async () => {
	const closed = () => page.locator("details:not([open])").count();
	const before_ = await closed();
	assert.ok(before_ > 0);
	await page.evaluate(() => addEventListener("beforeprint", () => { window.printed = document.querySelectorAll("details:not([open])").length; }));
	const pdf = await page.pdf({ format: "A4", path: `${folder}/page.pdf` });
	assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
	assert.ok(pdf.length > 50000);
	assert.equal(await page.evaluate(() => window.printed), 0);
	assert.equal(await closed(), before_);
	assert.deepEqual(complaints, []);
});

// A flow alone takes what its adapters, switches, cables and bytes do: the sum that the page compares with.
test("flows are those of the file; one alone has no slowdown", async () => {
	const rows = sql(results.db, "SELECT src, dst, bytes, start_ps AS start, end_ps - start_ps AS took FROM flow WHERE run = 1 ORDER BY 4, 1, 2");
	const shown = await page.evaluate(() => weft.data.flows.list.filter((r) => weft.data.fabrics[r.f].id === 1).map(({ src, dst, bytes, start, took }) => ({ src, dst, bytes, start, took })));
	assert.deepEqual(shown, rows);
	const [jain] = sql(results.db, "SELECT sum(x) * sum(x) / (count(*) * sum(x * x)) AS v FROM (SELECT 1.0 * bytes / (end_ps - start_ps) AS x FROM flow WHERE run = 1)");
	assert.ok(close(await page.evaluate(() => weft.data.flows.counts[0].jain), jain.v, 1e-9));
	const alone = record("alone", `name: alone
topology: {kind: leaf-spine, hosts: 16, radix: 8}
fabric: [ib-ndr, roce-400g]
traffic:
${["64B", "1KB", "64KB", "1MB"].flatMap((size, i) => [0, 3].map((target, k) => `  - {kind: incast, fanin: 1, target: ${target}, size: ${size}, start: ${100 * (2 * i + k)}us}`)).join("\n")}
`);
	const other = await open(alone.html);
	const slow = await other.page.evaluate(() => weft.data.flows.list.map((r) => r.slowdown));
	assert.equal(slow.length, 16);
	assert.ok(slow.every((s) => s > 0.995 && s < 1.025), slow.join(" "));
	// By hand, 64 bytes to a neighbour on ib-ndr: doorbell 150, adapter 150 and 300, switch 130, two cables of 15 and 120 each: 1,000 ns, and 2 for the bits.
	assert.ok(Math.abs(sql(alone.db, "SELECT end_ps - start_ps AS ps FROM flow WHERE run = 1 ORDER BY id LIMIT 1")[0].ps - 1002e3) < 3e3);
	await other.page.close();
});

test("the table of flows is sorted, the worst first, and can be sorted otherwise", async () => {
	const column = async (i) => (await page.locator(`#flows .sorted tbody tr > :nth-child(${i})`).allTextContents());
	const worst = await page.evaluate(() => weft.data.flows.list.map((r) => r.slowdown).sort((a, b) => b - a)[0]);
	assert.ok(close(Number((await column(7))[0]), worst, 0.01));
	await page.locator("#flows .sort", { hasText: "took" }).click();
	assert.equal(await page.locator("#flows th[aria-sort=descending]").textContent(), "took ▼");
	const [slowest] = sql(results.db, "SELECT max(end_ps - start_ps) AS ps FROM flow");
	assert.equal((await column(6))[0], await page.evaluate((v) => weft.time(v), slowest.ps));
	await page.locator("#flows .sort", { hasText: "took" }).click();
	const [quickest] = sql(results.db, "SELECT min(end_ps - start_ps) AS ps FROM flow");
	assert.equal((await column(6))[0], await page.evaluate((v) => weft.time(v), quickest.ps));
	// Percentiles by size are those of the flows.
	const curves = await page.evaluate(() => weft.chart("slowdown"));
	const of = await page.evaluate(() => weft.data.flows.list.filter((r) => r.f === 1 && r.bytes === 1e6).map((r) => r.slowdown).sort((a, b) => a - b));
	assert.equal(curves[1].y[curves[1].x.indexOf(1e6)], of[Math.ceil(0.95 * of.length) - 1]);
});

test("flows over time are those of the file, and add up to their bytes", async () => {
	const curves = await page.evaluate(() => weft.curves("followed"));
	const flows = sql(results.db, "SELECT f.id, f.bytes, f.start_ps AS start, max(s.acked) AS acked, max(s.t_ps) AS last FROM flow f JOIN flow_sample s ON s.run = f.run AND s.flow = f.id WHERE f.run = 1 GROUP BY 1");
	assert.equal(flows.length, 28);
	assert.ok(flows.every((f) => f.acked === f.bytes));
	assert.equal(curves.length, 8);
	for (const c of curves) {
		const flow = flows.find((f) => c.label.endsWith(`(flow ${f.id})`));
		const sum = c.y.slice(1).reduce((s, y, i) => s + y * (c.x[i + 1] - c.x[i]) / 8e12, 0);
		assert.ok(close(sum, flow.bytes, 1e-6), c.label);
		assert.deepEqual([c.x[0], c.x[c.x.length - 1]], [flow.start, flow.last]);
	}
});
