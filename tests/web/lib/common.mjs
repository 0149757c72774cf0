// SPDX-License-Identifier: Apache-2.0
// common.mjs - what the tests of the page share: results that weft recorded, and a browser. It is no test
// itself.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const { WEFT, CHROMIUM, SQLITE3 = "sqlite3", WEFT_TEST_PACKAGES, WEFT_WEB_SHOTS } = process.env;
const { chromium } = createRequire(join(WEFT_TEST_PACKAGES, "x.js"))("playwright-core");

export const folder = mkdtempSync(join(tmpdir(), "weft-web-"));

// Runs a command of weft on a scenario.
export function weft(command, yaml, ...options) {
	const scenario = join(folder, `${command}.yaml`);
	writeFileSync(scenario, yaml);
	execFileSync(WEFT, [command, scenario, ...options], { stdio: "pipe" });
}

export function report(db, html) {
	execFileSync(WEFT, ["report", db, "-o", html], { stdio: "pipe" });
}

// Records a run of a scenario and makes its page. Returns both files.
export function record(name, yaml, ...options) {
	const [db, html] = ["db", "html"].map((ending) => join(folder, `${name}.${ending}`));
	weft("run", yaml, "--record", db, ...options);
	report(db, html);
	return { db, html };
}

// The rows of a query, or what a statement changes.
export function sql(db, query) {
	const text = execFileSync(SQLITE3, ["-json", db], { input: query, encoding: "utf8", maxBuffer: 1 << 28 });
	return text.trim() === "" ? [] : JSON.parse(text);
}

const PATIENCE = 600000; // ms; the machine may have much else to do

let browser;

// Opens a page without a network. complaints gathers what it should not do: errors, and requests.
export async function open(html, { width = 1240, scheme = "light" } = {}) {
	browser ??= await chromium.launch({
		executablePath: CHROMIUM, timeout: PATIENCE, args: process.getuid() === 0 ? ["--no-sandbox"] : [],
	});
	const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme, reducedMotion: "reduce", offline: true });
	context.setDefaultTimeout(PATIENCE);
	const page = await context.newPage();
	const complaints = [];
	page.on("console", (m) => ["error", "warning"].includes(m.type()) && complaints.push(m.text()));
	page.on("pageerror", (e) => complaints.push(String(e)));
	page.on("dialog", (d) => { complaints.push(`dialog: ${d.message()}`); d.dismiss(); });
	page.on("request", (r) => r.url() !== `file://${html}` && !r.url().startsWith("data:") && complaints.push(`request: ${r.url()}`));
	await page.goto(`file://${html}`);
	await page.waitForSelector("#page[data-ready]", { timeout: PATIENCE });
	return { page, complaints };
}

// Opens the table behind a section's chart.
export async function openTable(page, section) {
	await page.locator(`${section} details.behind summary`).click();
	await page.locator(`${section} details.behind tbody tr`).first().waitFor();
}

// Words on the page that lie on other words: of everything that is shown, pairs of texts whose boxes meet; and
// words that a drawing cuts off.
export function overlaps(page) {
	return page.evaluate(() => {
		const boxes = [];
		const walker = document.createTreeWalker(document.getElementById("page"), NodeFilter.SHOW_TEXT);
		for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
			const parent = node.parentElement;
			if (node.textContent.trim() === "" || parent.closest(".unseen, title, option, noscript") || !parent.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
				continue;
			const range = document.createRange();
			range.selectNodeContents(node);
			const clip = parent.closest(".scroll")?.getBoundingClientRect() ?? { left: -1e9, right: 1e9, top: -1e9, bottom: 1e9 };
			for (const r of range.getClientRects()) {
				const box = { left: Math.max(r.left, clip.left), right: Math.min(r.right, clip.right), top: Math.max(r.top, clip.top), bottom: Math.min(r.bottom, clip.bottom), text: node.textContent.trim().slice(0, 40) };
				if (box.right - box.left > 1 && box.bottom - box.top > 1)
					boxes.push(box);
			}
		}
		boxes.sort((a, b) => a.top - b.top);
		const found = [...document.querySelectorAll("#page svg text")].filter((t) => t.checkVisibility() && (t.getBoundingClientRect().right > t.ownerSVGElement.getBoundingClientRect().right + 1
			|| t.getBoundingClientRect().left < t.ownerSVGElement.getBoundingClientRect().left - 1)).map((t) => `cut off: ${t.textContent}`);
		boxes.forEach((a, i) => {
			for (let k = i + 1; k < boxes.length && boxes[k].top < a.bottom - 3; k++) {
				const b = boxes[k];
				if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1.5 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3)
					found.push(`${a.text} | ${b.text}`);
			}
		});
		return found;
	});
}

// A picture for people, when WEFT_WEB_SHOTS names a folder for them.
export async function picture(page, name) {
	if (!WEFT_WEB_SHOTS)
		return;
	mkdirSync(WEFT_WEB_SHOTS, { recursive: true });
	await page.screenshot({ path: join(WEFT_WEB_SHOTS, `${name}.png`), fullPage: true });
}

export async function done() {
	await browser?.close();
	rmSync(folder, { recursive: true, force: true });
}
