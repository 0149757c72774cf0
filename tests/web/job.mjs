// SPDX-License-Identifier: Apache-2.0
// job.mjs - the page of a training step on two fabrics: the step's figures, collectives, timeline, all
// against the results file that weft compare wrote.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { done, folder, open, openTable, picture, report, sql, weft } from "./lib/common.mjs";

// Two stages of a pipeline, each of two servers' halves: every kind of communication but experts'.
const SCENARIO = `name: a step of <b>16</b> GPUs
topology: {kind: leaf-spine, hosts: 16, radix: 8, host_rate: 400Gbps}
fabric: [roce-400g, ib-ndr]
job: {kind: train, model: llama3-8b, gpus_per_server: 4, layers: 8, sequence: 1024, tp: 2, pp: 2, micro_batches: 4, scale: 1/256, scale_error: 100}
compare: {sizes: [8, 64K]}
run: {until: 10s}
`;
const db = `${folder}/job.db`;
const html = `${folder}/job.html`;
const plain = (texts) => texts.map((t) => t.replace(/\s/gu, " "));
let page;
let complaints;
let runs;

before(async () => {
	weft("compare", SCENARIO, "--seeds", "1", "--record", db);
	// Two more seeds of each fabric, whose values alone are kept.
	for (const seed of [12, 13])
		weft("run", SCENARIO, "--seed", String(seed), "--sample", "none", "--events", "none", "--record", db);
	sql(db, "UPDATE run SET study = 1; DELETE FROM study WHERE id > 1;");
	report(db, html);
	({ page, complaints } = await open(html));
	runs = sql(db, "SELECT id, label FROM run WHERE seed = (SELECT min(seed) FROM run) ORDER BY place");
	await picture(page, "job");
});
after(done);

const all = (label, name) => sql(db, `SELECT value FROM value v JOIN run r ON r.id = v.run WHERE label = '${label}' AND name = '${name}' ORDER BY value`).map((v) => v.value);
const median = (list) => (list.length % 2 === 1 ? list[list.length >> 1] : (list[list.length / 2 - 1] + list[list.length / 2]) / 2);
const values = (name) => runs.map((r) => median(all(r.label, name)));
const value = (run, name) => sql(db, `SELECT value FROM value WHERE run = ${run} AND name = '${name}'`)[0].value;

test("the fabrics are in the scenario's order, the verdict is first", async () => {
	assert.deepEqual(runs.map((r) => r.label), ["roce-400g", "ib-ndr"]);
	assert.deepEqual(await page.locator("#comparison thead th").allTextContents(), ["Metric", "roce-400g", "ib-ndr"]);
	assert.deepEqual(await page.locator("main section").evaluateAll((list) => list.slice(0, 2).map((s) => s.id)), ["verdict", "bars"]);
	assert.equal(await page.locator("h1").textContent(), "a step of <b>16</b> GPUs");
});

test("the step's figures are the first of the table, in the times of the whole job", async () => {
	const line = async (key) => plain(await page.locator("#comparison tr", { has: page.locator(`th[title=${key}]`) }).locator("td .number").allTextContents());
	const rows = await page.locator("#comparison tbody th[scope=row]").evaluateAll((list) => list.slice(0, 3).map((th) => th.title));
	assert.deepEqual(rows, ["step_time", "mfu", "exposed"]);
	assert.deepEqual(await line("mfu"), values("mfu").map((v) => `${(100 * v).toFixed(v < 0.1 ? 2 : 1).replace(/\.?0+$/, "")} %`));
	assert.deepEqual(await line("step_time"), await page.evaluate((list) => list.map((v) => weft.time(v).replace(/\s/gu, " ")), values("step_time")));
	// What is simulated is 1/256 of it.
	runs.forEach(({ id }) => assert.ok(Math.abs(value(id, "step_time") / value(id, "job_end") - 256) < 1e-6));
	for (const id of ["timeline", "collectives"])
		assert.match(await page.locator(`#${id} .hint`).first().textContent(), /at 1\/256 of the job's size/);
});

test("the first picture is the step of the median seed, split in its parts, with the seeds' spread", async () => {
	await page.locator("#bars svg [data-total]").first().waitFor();
	const shown = await page.evaluate(() => [...document.querySelectorAll("#bars svg [data-total]")].map((t) => ({ name: t.dataset.total, text: t.textContent })));
	assert.deepEqual(shown.map((b) => b.name), runs.map((r) => r.label));
	for (const [i, { label }] of runs.entries()) {
		assert.ok(plain([shown[i].text])[0].startsWith(await page.evaluate((v) => weft.time(v).replace(/\s/gu, " "), values("step_time")[i])), shown[i].text);
		const row = (await page.evaluate(() => weft.bars.rows))[i];
		const steps = all(label, "step_time");
		assert.ok(steps.length >= 3);
		assert.deepEqual([row.low, row.high, row.all.slice().sort((a, b) => a - b)], [steps[0], steps[steps.length - 1], steps]);
		// The parts are those of one run, and together its step.
		const [{ run }] = sql(db, `SELECT run FROM value v JOIN run r ON r.id = v.run WHERE label = '${label}' AND name = 'step_time' ORDER BY abs(value - ${values("step_time")[i]}) LIMIT 1`);
		const part = (name) => row.parts.find((p) => p.label.startsWith(name)).v;
		for (const [name, key] of [["compute", "step_busy"], ["tensor", "exposed_tp"], ["data", "exposed_dp"], ["pipeline transfers", "exposed_pp"], ["pipeline bubble", "step_bubble"]])
			assert.equal(part(name), value(run, key), name);
		assert.ok(Math.abs(row.parts.reduce((s, p) => s + p.v, 0) - value(run, "step_time")) < 1e-6 * value(run, "step_time"));
		// Drawn as long as it is, beside the others.
		const box = await page.locator("#bars g[data-part=compute] rect").nth(i).boundingBox();
		const whole = await page.locator("#bars g[data-part=compute] rect").first().boundingBox();
		assert.ok(Math.abs(box.width / whole.width - part("compute") / value(runs[0].id, "step_busy")) < 0.01);
	}
	const spread = await page.locator("#comparison tr", { has: page.locator("th[title=step_time]") }).locator(".spread").count();
	assert.ok(spread > 0);
});

test("every value has a name on the page, but for the adapters' counters", async () => {
	const raw = await page.evaluate(() => weft.data.metrics.filter((m) => m.label === m.key).map((m) => m.key));
	const adapters = sql(db, "SELECT name FROM counter WHERE source = 'hw_counters'").map((c) => c.name);
	assert.deepEqual(raw.filter((key) => !adapters.includes(key)), []);
});

test("collectives are those of the file, with the algorithm that was used", async () => {
	const [first] = sql(db, `SELECT name, kind, algorithm, count(*) OVER () AS n FROM collective WHERE run = ${runs[0].id} ORDER BY id LIMIT 1`);
	assert.equal(sql(db, "SELECT count(*) AS n FROM collective WHERE algorithm NOT IN ('ring', 'tree')")[0].n, 0);
	await page.locator("#collectives summary").click();
	const rows = page.locator("#collectives .sorted tbody tr");
	assert.equal(await rows.count(), Math.min(30, first.n));
	while (await page.locator("#collectives button", { hasText: "Show more" }).isVisible())
		await page.locator("#collectives button", { hasText: "Show more" }).click();
	assert.equal(await rows.count(), first.n);
	// The slowest of the first fabric is the first, until another order is asked for.
	const [slowest] = sql(db, `SELECT took_ps FROM collective WHERE run = ${runs[0].id} ORDER BY took_ps DESC LIMIT 1`);
	assert.ok((await rows.first().locator("td").nth(3).textContent()).startsWith(await page.evaluate((v) => weft.time(v), slowest.took_ps)));
	await page.locator("#collectives .sort", { hasText: "Begins" }).click();
	await page.locator("#collectives .sort", { hasText: "Begins" }).click();
	assert.ok((await rows.first().textContent()).startsWith(`${first.name}${first.kind}, ${first.algorithm}`));
});

test("collectives of a kind are added up", async () => {
	const wanted = sql(db, `SELECT name, algorithm, count(*) AS n, sum(took_ps) AS ps FROM collective WHERE run = ${runs[1].id} GROUP BY 1, 2 ORDER BY min(id)`);
	const shown = await page.locator("#collective-sums tbody tr").evaluateAll((list) => list.map((tr) => [tr.children[0].textContent, tr.children[1].textContent, tr.children[4].firstChild.textContent]));
	assert.deepEqual(shown, await page.evaluate((list) => list.map((c) => [`${c.name}, ${c.algorithm}`, String(c.n), weft.time(c.ps)]), wanted));
});

// Servers' groups do the same at different times; that is no time of the collective.
test("a collective takes no longer than on the rank that took longest", async () => {
	const [{ wrong, many }] = sql(db, `SELECT sum(c.took_ps <> k.longest) AS wrong, count(*) AS many FROM collective c JOIN
		(SELECT run, collective, max(end_ps - begin_ps) AS longest, count(*) AS n FROM collective_rank GROUP BY 1, 2) k
		ON k.run = c.run AND k.collective = c.id WHERE k.n > c.ranks`);
	assert.ok(many > 0);
	assert.equal(wrong, 0);
});

test("the timeline's totals are the spans', with the pipeline's messages", async () => {
	const names = sql(db, "SELECT DISTINCT name FROM span WHERE kind = 'communication'").map((s) => s.name);
	for (const name of ["tp all-gather", "dp reduce-scatter", "activations", "gradients"])
		assert.ok(names.includes(name), `${name} in ${names}`);
	await openTable(page, "#timeline");
	const table = async () => plain(await page.locator("#timeline tbody tr").first().locator("td").allTextContents());
	const totals = async (run) => {
		const sums = ["compute", "communication", "exposed"].map((kind) => sql(db, `SELECT coalesce(sum(end_ps - begin_ps), 0) AS ps FROM span WHERE run = ${run} AND rank = 0 AND kind = '${kind}'`)[0].ps);
		const [{ end }] = sql(db, `SELECT max(end_ps) AS end FROM span WHERE run = ${run} AND rank = 0`);
		return page.evaluate((list) => list.map((v) => weft.time(v).replace(/\s/gu, " ")), [...sums, end]);
	};
	assert.equal(await page.locator("#timeline tbody tr").count(), 16);
	assert.deepEqual(await table(), await totals(runs[0].id));
	await page.locator("#timeline .tabs label", { hasText: "ib-ndr" }).click();
	assert.deepEqual(await table(), await totals(runs[1].id));
});

test("a rank does one of three: it computes, it waits for communication, it does neither", async () => {
	const [{ both }] = sql(db, `SELECT count(*) AS both FROM span a JOIN span b ON a.run = b.run AND a.rank = b.rank
		AND a.kind = 'compute' AND b.kind = 'exposed' AND a.begin_ps < b.end_ps AND b.begin_ps < a.end_ps`);
	assert.equal(both, 0);
});

test("the timeline zooms, moves and says what is under the mouse", async () => {
	const canvas = page.locator("#timeline canvas");
	const look = () => page.evaluate(() => document.querySelector("#timeline canvas").toDataURL());
	const whole = await look();
	await page.locator("#timeline button[aria-label='zoom in']").click();
	const near = await look();
	assert.notEqual(near, whole);
	await canvas.focus();
	await page.keyboard.press("ArrowRight");
	assert.notEqual(await look(), near);
	await page.keyboard.press("0");
	assert.equal(await look(), whole);
	let said = "";
	for (let x = 70; x < 500 && !said.startsWith("rank 0"); x += 10) {
		await canvas.hover({ position: { x, y: 28 } });
		said = await page.locator("#timeline .tip").textContent();
	}
	assert.match(said, /^rank 0, .*: (compute|communication) “(forward|backward|[a-z -]+)”/);
});

test("nothing was complained about, on a phone neither", async () => {
	assert.deepEqual(complaints, []);
	const phone = await open(html, { width: 390, scheme: "dark" });
	await picture(phone.page, "job-phone");
	assert.equal(await phone.page.evaluate(() => document.documentElement.scrollWidth), 390);
	assert.deepEqual(phone.complaints, []);
});
