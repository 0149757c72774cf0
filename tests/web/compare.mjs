// SPDX-License-Identifier: Apache-2.0
// compare.mjs - the page of a comparison as weft compare records it: verdict, curves, collectives, what
// the ranks did, all against the results file.
import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { after, before, test } from "node:test";
import { done, folder, open, openTable, picture, report, sql, weft } from "./lib/common.mjs";

const SCENARIO = `name: all-reduce of 16 GPUs
topology: {kind: rail, hosts: 16, gpus: 4, host_rate: 400Gbps, radix: 0}
job: {kind: all-reduce, algorithm: ring, bytes: 4MB, gpus_per_server: 4}
compare: {sizes: [8, 32K, 4M]}
`;
const db = `${folder}/compare.db`;
const html = `${folder}/compare.html`;
let page;
let complaints;
let runs;

before(async () => {
	weft("compare", SCENARIO, "--seeds", "1", "--fabric", "ib-ndr,roce-400g,roce-400g-lossy,roce-400g-qps,uec-400g", "--record", db);
	report(db, html);
	({ page, complaints } = await open(html));
	runs = sql(db, "SELECT id, label FROM run WHERE seed = (SELECT min(seed) FROM run) ORDER BY place");
	await picture(page, "compare");
});
after(done);

test("every fabric has its column, unless every figure is another's", async () => {
	assert.ok(runs.length >= 5);
	const folded = [...(await page.locator(".twins").allTextContents()).join(" ").matchAll(/(\S+): every figure as (\S+), so it has no column/g)].map((m) => [m[1], m[2]]);
	const columns = await page.locator("#comparison thead th").allTextContents();
	assert.deepEqual(columns, ["Metric", ...runs.map((r) => r.label).filter((l) => !folded.some(([twin]) => twin === l))]);
	const values = (label) => sql(db, `SELECT v.name, v.value FROM value v JOIN run r ON r.id = v.run WHERE r.label = '${label}' AND v.name NOT GLOB 'compare.*' AND v.value <> 0 ORDER BY 1`);
	for (const [twin, other] of folded)
		assert.deepEqual(values(twin), values(other));
	// Lossy RoCE that loses nothing is RoCE.
	assert.deepEqual(folded.filter(([twin]) => twin === "roce-400g-lossy"), [["roce-400g-lossy", "roce-400g"]]);
	assert.deepEqual(complaints, []);
	assert.ok(statSync(html).size < 1e6);
});

test("the verdict and its reasons are those of the comparison", async () => {
	assert.deepEqual(await page.locator(".verdict").allTextContents(), sql(db, "SELECT text FROM note WHERE kind = 'verdict'").map((n) => n.text));
	const reasons = sql(db, "SELECT text FROM note WHERE kind = 'reason' ORDER BY rowid").map((n) => n.text);
	assert.ok(reasons.length > 1);
	assert.deepEqual(await page.locator("#verdict li").allTextContents(), reasons);
});

test("the curves are those of the file", async () => {
	const sets = await page.evaluate(() => weft.data.bus.flatMap((s) => s.curves.flatMap((c) => c.size.map((size, i) => ({ run: weft.data.fabrics[c.f].id, bytes: size, time_ps: c.time[i], algbw: c.alg[i], busbw: c.bus[i] })))));
	const order = (a, b) => a.run - b.run || a.bytes - b.bytes || a.time_ps - b.time_ps;
	const rows = sql(db, "SELECT run, bytes, time_ps, algbw, busbw FROM bandwidth");
	assert.ok(rows.length >= 3 * runs.length);
	assert.deepEqual(sets.sort(order), rows.sort(order));
});

test("the ranks' totals are those of their spans", async () => {
	const totals = sql(db, `SELECT rank, kind, sum(end_ps - begin_ps) AS ps FROM span WHERE run = ${runs[0].id} GROUP BY 1, 2`);
	assert.ok(totals.length > 0);
	const shown = await page.evaluate(() => {
		const [t] = weft.data.timelines;
		const sums = {};
		t.rank.forEach((rank, i) => {
			const key = `${rank} ${["compute", "communication", "exposed"][t.kind[i]]}`;
			sums[key] = (sums[key] ?? 0) + t.length[i];
		});
		return sums;
	});
	assert.deepEqual(shown, Object.fromEntries(totals.map((t) => [`${t.rank} ${t.kind}`, t.ps])));
	await openTable(page, "#timeline");
	assert.equal(await page.locator("#timeline tbody tr").count(), new Set(totals.map((t) => t.rank)).size);
});

test("the collectives and the distribution of messages are there", async () => {
	const [{ n }] = sql(db, "SELECT count(DISTINCT id) AS n FROM collective");
	assert.equal(await page.locator("#collectives .sorted tbody tr").count(), n);
	const [first] = await page.evaluate(() => weft.chart("cdf"));
	const cdf = sql(db, `SELECT le_ps, share FROM cdf WHERE run = ${runs[0].id} AND what = 'message' ORDER BY le_ps`);
	assert.deepEqual(first.x, cdf.map((c) => c.le_ps));
});

test("a phone shows it without scrolling sideways", async () => {
	const phone = await open(html, { width: 390, scheme: "dark" });
	assert.equal(await phone.page.evaluate(() => document.documentElement.scrollWidth), 390);
	assert.deepEqual(phone.complaints, []);
	const cut = await phone.page.evaluate(() => [...document.querySelectorAll("svg text")].filter((t) => {
		const [inner, outer] = [t.getBoundingClientRect(), t.ownerSVGElement.getBoundingClientRect()];
		return inner.width > 0 && (inner.right > outer.right + 1 || inner.left < outer.left - 1);
	}).map((t) => t.textContent));
	assert.deepEqual(cut, []);
	await picture(phone.page, "compare-phone");
});

test("what was lost is told by its kind", async () => {
	const lost = `${folder}/lost.db`;

	weft("run", `topology: {kind: leaf-spine, hosts: 8, radix: 8, host_rate: 100Gbps}
fabric: {profile: ib-ndr, link: {ber: 1e-7}, sender: {timeout: 200us}}
traffic: [{kind: permutation, size: 4MB, op: write}]
faults: [{link: [leaf0, spine0], down: 50us, up: 90us}]
`, "--record", lost);
	report(lost, `${folder}/lost.html`);
	const { page: other, complaints: others } = await open(`${folder}/lost.html`);
	const shown = await other.evaluate(() => weft.data.metrics.filter((m) => m.label.startsWith("lost: ")).map((m) => ({ name: m.key, value: m.values[0], label: m.label })));
	assert.deepEqual(shown.map((m) => m.label), ["lost: errors on links", "lost: links that were down"]);
	assert.deepEqual(shown.map(({ name, value }) => ({ name, value })), sql(lost, "SELECT name, value FROM value WHERE name IN ('drops_error', 'drops_down') ORDER BY name DESC"));
	assert.ok(shown.every((m) => m.value > 0));
	assert.match(await other.locator("body").textContent(), /the link from leaf0 \(port \d+\) to spine0 \(port \d+\) was down for 40\.00 us/);
	assert.deepEqual(others, []);
});
