// SPDX-License-Identifier: Apache-2.0
// sweep.mjs - the page of a sweep: its points in order, and a result by what was varied.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { done, folder, open, openTable, picture, report, sql, weft } from "./lib/common.mjs";

const SCENARIO = `name: sizes
topology: {kind: single, hosts: 4, radix: 8}
fabric: [ib-ndr, roce-400g]
traffic:
  - {kind: incast, size: 100KB}
run: {until: 10ms}
`;
const db = `${folder}/sizes.db`;
const html = `${folder}/sizes.html`;
let page;
let complaints;

before(async () => {
	weft("sweep", SCENARIO, "--vary", "traffic.size=1KB,2KB,100KB,1MB", "--record", db);
	report(db, html);
	({ page, complaints } = await open(html));
	await picture(page, "sweep");
});
after(done);

test("the points are in the order of their values, whenever they ended", async () => {
	const names = await page.locator("#comparison thead th").allTextContents();
	assert.deepEqual(names.slice(1), ["1KB", "2KB", "100KB", "1MB"].flatMap((v) => ["ib-ndr", "roce-400g"].map((f) => `${f}, traffic.size ${v}`)));
});

test("a result by what was varied is that of the file", async () => {
	await page.locator("#sweep select").first().selectOption("completion");
	const curves = await page.evaluate(() => weft.chart("sweep"));
	assert.deepEqual(curves.map((c) => c.label), ["ib-ndr", "roce-400g"]);
	for (const c of curves) {
		const wanted = sql(db, `SELECT v.value FROM value v JOIN run r ON r.id = v.run WHERE v.name = 'completion' AND r.fabric = '${c.label}' ORDER BY v.value`);
		assert.deepEqual(c.y, wanted.map((w) => w.value));
		assert.deepEqual(c.x, [0, 1, 2, 3]);
	}
	await openTable(page, "#sweep");
	assert.deepEqual(await page.locator("#sweep tbody th").allTextContents(), ["1KB", "2KB", "100KB", "1MB"]);
	await page.locator("#sweep select").nth(1).selectOption("fabric");
	// Fabrics are names: bars, not lines.
	await page.locator("#sweep svg [data-total]").first().waitFor();
	assert.equal(await page.locator("#sweep svg [data-total]").count(), 8);
});

test("the first chart is what was measured, and its axes can be fitted and logarithmic", async () => {
	const fresh = await open(html);
	assert.equal(await fresh.page.locator("#sweep select").first().inputValue(), "completion");
	const range = () => fresh.page.evaluate(() => document.querySelector("#sweep .u-over") && [weft.plot("sweep").scales.y.min, weft.plot("sweep").scales.y.max, weft.plot("sweep").scales.y.distr]);
	const [low, high] = await fresh.page.evaluate(() => { const all = weft.chart("sweep").flatMap((c) => c.y); return [Math.min(...all), Math.max(...all)]; });
	assert.equal((await range())[0], 0);
	await fresh.page.locator("#sweep figcaption select").selectOption("fit");
	const fitted = await range();
	assert.ok(fitted[0] < low && fitted[0] > low - (high - low) && fitted[1] > high);
	await fresh.page.locator("#sweep figcaption select").selectOption("log");
	const log = await range();
	assert.ok(log[2] === 3 && log[0] > 0 && log[0] < low);
	await fresh.page.locator("#sweep .tabs label", { hasText: /^log$/ }).click();
	assert.deepEqual((await fresh.page.evaluate(() => weft.chart("sweep")))[0].x, [1e3, 2e3, 1e5, 1e6]);
	assert.deepEqual(fresh.complaints, []);
	await fresh.page.close();
});

test("two parameters are a heat map, seeds are a spread, names are bars", async () => {
	const two = `${folder}/two.db`;
	weft("sweep", SCENARIO.replace("[ib-ndr, roce-400g]", "[roce-400g]").replace("single, hosts: 4", "leaf-spine, hosts: 16").replace("incast", "permutation"), "--vary", "traffic.size=1KB,100KB", "--vary", "fabric.routing=ecmp,spray", "--vary", "seed=1,2,7", "--record", two);
	report(two, two.replace("db", "html"));
	const { page: plane, complaints: said } = await open(two.replace("db", "html"));
	await picture(plane, "sweep-two");
	const of = (size, routing) => sql(two, `SELECT value FROM value v JOIN run r ON r.id = v.run WHERE name = 'completion' AND point LIKE '%size=${size} %' AND point LIKE '%routing=${routing} %' ORDER BY 1`).map((v) => v.value);
	assert.equal(of("1KB", "ecmp").length, 3);
	await plane.locator("#sweep [data-cell]").first().waitFor();
	assert.deepEqual(await plane.locator("#sweep [data-cell]").evaluateAll((list) => list.map((g) => [g.dataset.cell, g.querySelector("text").textContent])),
		await plane.evaluate((list) => list.map(([cell, v]) => [cell, weft.value(v, "ps")]), ["1KB", "100KB"].flatMap((size) => ["ecmp", "spray"].map((routing) => [`${size} ${routing}`, of(size, routing)[1]]))));
	await plane.locator("#sweep .tabs label", { hasText: "lines" }).click();
	const [ecmp] = await plane.evaluate(() => weft.curves("sweep").filter((c) => c.label.endsWith("ecmp")));
	assert.deepEqual([ecmp.low[1], ecmp.y[1], ecmp.high[1]], of("100KB", "ecmp"));
	assert.equal(new Set(of("100KB", "ecmp")).size, 3);
	// Names are not joined by lines.
	await plane.locator("#sweep select").nth(1).selectOption("fabric.routing");
	await plane.locator("#sweep svg [data-total]").first().waitFor();
	assert.deepEqual(await plane.locator("#sweep svg [data-total]").evaluateAll((list) => list.map((t) => t.dataset.total)), ["ecmp, traffic.size 1KB", "ecmp, traffic.size 100KB", "spray, traffic.size 1KB", "spray, traffic.size 100KB"]);
	assert.equal(await plane.locator("#sweep .u-over").count(), 0);
	assert.deepEqual(said, []);
	await plane.close();
});

test("what a sweep does not record is said to be missing", async () => {
	assert.equal(await page.locator("#map").count(), 0);
	assert.match(await page.locator("#missing").textContent(), /heat map: no samples/);
	assert.deepEqual(complaints, []);
});
