// SPDX-License-Identifier: Apache-2.0
// storage.mjs - the page of a run with storage: its figures stand together and have names, and its reads and writes
// are among the distributions.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { done, open, record, sql } from "./lib/common.mjs";

const SCENARIO = `name: storage
topology: {kind: single, hosts: 4}
fabric: [ib-ndr, roce-400g]
storage:
  - {targets: h3, kind: random, block: 4KiB, depth: 4, duration: 200us}
  - {targets: [h2, h3], hosts: h0, kind: checkpoint, bytes: 1MB}
`;
let results;
let page;
let complaints;

before(async () => {
	results = record("storage", SCENARIO);
	({ page, complaints } = await open(results.html));
});
after(done);

test("every figure of storage has a name, and those of all together come first", async () => {
	const shown = await page.evaluate(() => weft.data.metrics.map(({ key, label, group }, i) => ({ key, label, group, i })));
	const inFile = sql(results.db, "SELECT DISTINCT name FROM value WHERE name GLOB 'storage*' AND value IS NOT NULL").map((v) => v.name).sort();
	const storage = shown.filter((m) => m.key.startsWith("storage"));
	assert.deepEqual(storage.map((m) => m.key).sort(), inFile);
	for (const { key, label, group } of storage) {
		assert.equal(group, "Storage", key);
		assert.notEqual(label, key);
	}
	assert.equal(storage.at(-1).i - storage[0].i, storage.length - 1);
	assert.deepEqual(storage.map((m) => m.key.startsWith("storage_")), storage.map((_, i) => i < 18));
	assert.equal(storage.find((m) => m.key === "storage.1.time").label, "entry 1: time to the last byte");
});

test("the figures are those of the file", async () => {
	const line = page.locator("#comparison tr", { has: page.locator("th[title=storage_read_latency_p99]") });
	const wanted = sql(results.db, "SELECT value FROM value JOIN run r ON r.id = run WHERE name = 'storage_read_latency_p99' ORDER BY place").map((v) => v.value);
	const plain = (texts) => texts.map((t) => t.replace(/\s/gu, " "));
	assert.equal(wanted.length, 2);
	assert.deepEqual(plain(await line.locator("td .number").allTextContents()), plain(await page.evaluate((list) => list.map((v) => weft.time(v)), wanted)));
});

test("reads and writes are among the distributions", async () => {
	const labels = await page.evaluate(() => weft.data.cdf.map((c) => c.label));
	assert.ok(labels.includes("Storage reads") && labels.includes("Storage writes"), labels);
});

test("nothing was complained about", () => assert.deepEqual(complaints, []));
