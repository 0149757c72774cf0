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
	assert.deepEqual((await page.evaluate(() => weft.chart("sweep"))).map((c) => c.y.length), [2, 2, 2, 2]);
});

test("what a sweep does not record is said to be missing", async () => {
	assert.equal(await page.locator("#map").count(), 0);
	assert.match(await page.locator("#missing").textContent(), /heat map: no samples/);
	assert.deepEqual(complaints, []);
});
