// SPDX-License-Identifier: Apache-2.0
// screens.mjs - pages on wide screens, laptops and phones, light and dark: no word lies on another, nothing
// scrolls sideways, the room is used; and 1,024 hosts are shown.
import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { after, before, test } from "node:test";
import { done, folder, open, overlaps, picture, record, report, sql, weft } from "./lib/common.mjs";

const STEP = `name: a step of 16 GPUs on two fabrics
topology: {kind: leaf-spine, hosts: 16, radix: 8, host_rate: 400Gbps}
fabric: [ib-ndr, {profile: roce-400g, name: roce with a rather long name}]
job: {kind: train, model: llama3-8b, gpus_per_server: 4, layers: 8, sequence: 1024, tp: 2, pp: 2, micro_batches: 4, scale: 1/256, scale_error: 100}
compare: {sizes: [8, 64K]}
run: {until: 10s}
`;
const LARGE = `name: 1,024 hosts
topology: {kind: leaf-spine, hosts: 1024, radix: 64, host_rate: 400Gbps}
fabric: [ib-ndr, roce-400g]
traffic:
  - {kind: permutation, size: 40KB}
  - {kind: incast, fanin: 24, target: 5, size: 100KB}
run: {until: 2ms}
`;
const step = { db: `${folder}/step.db`, html: `${folder}/step.html` };
let large;

before(() => {
	weft("compare", STEP, "--seeds", "3", "--record", step.db);
	report(step.db, step.html);
	large = record("large", LARGE, "--sample", "2us");
});
after(done);

for (const name of ["step", "large"]) {
	test(`${name}: on every screen words do not overlap, and nothing is too wide`, async () => {
		const { page, complaints } = await open({ step, large }[name].html, { width: 2560 });
		for (const [width, scheme] of [[2560, "light"], [2560, "dark"], [1400, "light"], [1400, "dark"], [390, "light"], [390, "dark"]]) {
			await page.setViewportSize({ width, height: 900 });
			await page.emulateMedia({ colorScheme: scheme });
			await page.waitForTimeout(200);
			await picture(page, `${name}-${width}-${scheme}`);
			assert.deepEqual(await overlaps(page), [], `${width} ${scheme}`);
			assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
			// Sections use the room that there is: two columns on a wide screen.
			const boxes = await page.locator("main section").evaluateAll((list) => list.map((f) => f.getBoundingClientRect()).map((b) => ({ left: b.left, right: b.right })));
			assert.ok(Math.max(...boxes.map((b) => b.right)) > 0.93 * width && Math.min(...boxes.map((b) => b.left)) < 0.1 * width + 20);
			assert.equal(new Set(boxes.map((b) => Math.round(b.left / width))).size, width > 1900 ? 2 : 1);
		}
		assert.deepEqual(complaints, []);
		await page.close();
	});
}

test("hot is hot in the dark: the colours of heat end in reds and yellows, not in white", async () => {
	for (const scheme of ["light", "dark"]) {
		const { page } = await open(step.html, { width: 1400, scheme });
		const ramp = await page.evaluate(() => ["heat", "stop", "queue"].map((name) => Array.from({ length: 11 }, (_, i) => weft.heat(name, i / 10).match(/\d+/g).map(Number))));
		const light = ([r, g, b]) => 0.3 * r + 0.59 * g + 0.11 * b;
		for (const colours of ramp) {
			const steps = colours.slice(1).map((c, i) => light(c) - light(colours[i]));
			assert.ok(steps.every((d) => (scheme === "dark" ? d > 0 : d < 0)), scheme);
			assert.ok(Math.max(...colours[10]) - Math.min(...colours[10]) > 50);
		}
		assert.ok(ramp[0][10][0] > 1.3 * ramp[0][10][2], "the end of utilisation is warm");
		await page.close();
	}
});

test("of 1,024 hosts the worst ports come first, and more can be had", async () => {
	const { page } = await open(large.html, { width: 1400 });
	assert.ok(statSync(large.html).size < 1.5e6);
	const links = sql(large.db, "SELECT count(*) AS n FROM link WHERE run = 1")[0].n;
	assert.ok(links > 2000);
	assert.equal(await page.evaluate(() => weft.data.topologies[0].links.length), links);
	assert.equal(await page.evaluate(() => weft.strip.ports.length), 64);
	await page.locator("#strip button", { hasText: "Show more" }).click();
	assert.equal(await page.evaluate(() => weft.strip.ports.length), 256);
	// Twenty-four send to h5.
	assert.match(await page.locator("#time select").first().locator("option:checked").textContent(), /^leaf0 port 5 → h5$/);
	await page.locator("#strip .tabs label", { hasText: "queue" }).click();
	assert.match(await page.evaluate(() => { const p = weft.strip.topo.ports[weft.strip.ports[0]]; return weft.strip.topo.name[p.peer]; }), /^h5$/);
	const n = await page.evaluate(() => weft.data.flows.counts[0].n);
	assert.equal(n, sql(large.db, "SELECT count(*) AS n FROM flow WHERE run = 1")[0].n);
	// Every link between switches has a cell or a line of its own.
	const between = await page.evaluate(() => weft.map.plan.links.length);
	assert.equal(between, links - 1024);
	await page.close();
});

test("fabrics on networks of their own: the link of a host is compared, and no difference is drawn", async () => {
	const two = record("two", `name: two networks
topology: {kind: leaf-spine, hosts: 16}
fabric: [{profile: roce-400g, name: small switches, switch: {ports: 8}}, {profile: roce-400g, name: large switches, switch: {ports: 16}}]
traffic:
  - {kind: incast, fanin: 12, target: 2, size: 500KB}
run: {until: 2ms}
`, "--sample", "2us");
	assert.equal(sql(two.db, "SELECT count(DISTINCT n) AS n FROM (SELECT count(*) AS n FROM node GROUP BY run)")[0].n, 2);
	const { page, complaints } = await open(two.html, { width: 1400 });
	assert.match(await page.locator("#time select").nth(1).locator("option:checked").textContent(), /→ h2$/);
	const curves = await page.evaluate(() => weft.chart("throughput"));
	assert.deepEqual(curves.map((c) => c.label), ["small switches", "large switches"]);
	for (const [i, run] of [1, 2].entries()) {
		const [{ bytes }] = sql(two.db, `SELECT sum(t.value * c.factor) AS bytes FROM total t JOIN counter c ON c.id = t.counter JOIN port p ON p.run = t.run AND p.node = t.node AND p.port = t.port
			JOIN node n ON n.run = t.run AND n.id = p.peer WHERE c.measure = 'tx_bytes' AND n.name = 'h2' AND t.run = ${run}`);
		const sent = curves[i].x.slice(1).reduce((s, x, k) => s + curves[i].y[k + 1] * (x - curves[i].x[k]) / 8e12, 0);
		assert.ok(bytes > 6e6 && Math.abs(sent / bytes - 1) < 1e-3, `${sent} of ${bytes}`);
	}
	assert.equal(await page.locator("#map select").count(), 0);
	assert.deepEqual(await overlaps(page), []);
	assert.deepEqual(complaints, []);
	await page.close();
});
